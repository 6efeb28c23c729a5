//! `metier update`

use std::collections::BTreeMap;

use metier::{
    agent::Cancel,
    distribution::{
        FileChange, InstallScope, LocalEdits, SetDifference, SkillUpdate, UpdateDecision,
        UpdateOptions, UpdatePlan, UpdateReport, UpdateState,
    },
    text::shell_word,
};
use metier_wire::{ProblemRow, UpdateDocument, UpdateRow};

use super::outdated::note_project;
use crate::{
    approver::{Terminal, asked_yes},
    cli_run::CliRun,
    failure::{self, Exit, Failure},
    interrupt,
    output::{Output, Tone, count, one_line},
};

/// Lines of differences that are printed of one skill.
const MAX_LINES: usize = 200;

/// Update installed skills from where they were installed
///
/// Each skill is fetched again, scanned, and compared with the one here: text, permissions and hosts. You see the differences, and are asked. A new
/// permission is approved by your answer, or without a terminal by --approve. Files that you edited stop the update of their skill: --keep-local keeps
/// them and updates the others, --discard-local replaces them.
#[derive(clap::Args)]
pub(crate) struct UpdateArgs {
    /// The skills [default: all installed ones]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All installed skills
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// The project's skills instead of yours
    #[arg(long)]
    project: bool,
    #[command(flatten)]
    how: UpdateHow,
    /// Accept a skill that is signed with a different key than before
    #[arg(long)]
    accept_signer: bool,
}

/// Options of every command that replaces a skill by another state of it.
#[derive(clap::Args)]
pub(crate) struct UpdateHow {
    /// Don't ask for confirmation (for scripts); new permissions need --approve
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Approve a new permission, such as 'net:fetch(api.github.com)'
    #[arg(long, value_name = "PERMISSION")]
    pub(crate) approve: Vec<String>,
    /// Keep files that were edited here
    #[arg(long, conflicts_with = "discard_local")]
    pub(crate) keep_local: bool,
    /// Replace files that were edited here
    #[arg(long)]
    pub(crate) discard_local: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl UpdateHow {
    pub(crate) fn edits(&self) -> LocalEdits {
        match (self.keep_local, self.discard_local) {
            (true, _) => LocalEdits::Keep,
            (_, true) => LocalEdits::Discard,
            _ => LocalEdits::Refuse,
        }
    }
}

pub(crate) fn run(run: &CliRun, args: &UpdateArgs) -> Result<Exit, Failure> {
    let options = UpdateOptions {
        scope: InstallScope::of_project(args.project),
        names: args.names.clone(),
        edits: args.how.edits(),
    };
    let cancel = interrupt::listen_with(run.stop())?;
    let plan = run.prepare_update(&options)?;
    let carrying = Carrying {
        how: &args.how,
        cancel: &cancel,
        accept_signer: args.accept_signer,
        asks: !args.how.yes,
        done: "updated",
    };
    let exit = carry_out(run, plan, &carrying)?;
    if !run.output.is_json() {
        note_project(run, &args.names, options.scope, "update")?;
    }
    Ok(exit)
}

/// How a plan is carried out.
pub(crate) struct Carrying<'a> {
    pub(crate) how: &'a UpdateHow,
    /// Set by Ctrl-C.
    pub(crate) cancel: &'a Cancel,
    pub(crate) accept_signer: bool,
    /// Whether the user is asked about each skill.
    pub(crate) asks: bool,
    /// The word for a skill after the change: updated, or rolled back.
    pub(crate) done: &'static str,
}

/// Shows a plan, asks, and changes what was agreed to. A skill that can't be changed does not stop the others.
pub(crate) fn carry_out(
    run: &CliRun,
    plan: UpdatePlan,
    carrying: &Carrying<'_>,
) -> Result<Exit, Failure> {
    let output = &run.output;
    if !output.is_json() {
        output.report(&shown(output, &plan))?;
    }
    let mut failures: BTreeMap<String, Failure> = plan
        .updates()
        .iter()
        .filter(|update| is_stopped(update))
        .map(|update| (update.name.clone(), update.refusal()))
        .collect();
    let mut decisions = Vec::new();
    if !carrying.how.dry_run {
        for decision in agreed_to(run, &plan, carrying)? {
            match plan.objection(&decision) {
                Some(failure) => drop(failures.insert(decision.name, failure)),
                None => decisions.push(decision),
            }
        }
    }
    let mut rows = UpdateRow::all(&plan);
    for row in &mut rows {
        row.error = failures.get(&row.name).map(ProblemRow::from);
    }
    let report = match carrying.how.dry_run {
        true => UpdateReport::default(),
        false => plan.apply(&decisions)?,
    };
    answer(run, rows, report, carrying)?;
    if !output.is_json() {
        failures.values().for_each(|failure| {
            failure::report(failure, output);
        });
    }
    Ok(Exit::unmet_if(!failures.is_empty()))
}

fn is_stopped(update: &SkillUpdate) -> bool {
    let state = &update.state;
    matches!(state, UpdateState::Edited { .. } | UpdateState::Failed(_))
}

/// The skills that can be updated and that the user agrees to.
fn agreed_to(
    run: &CliRun,
    plan: &UpdatePlan,
    carrying: &Carrying<'_>,
) -> Result<Vec<UpdateDecision>, Failure> {
    let how = carrying.how;
    let mut decisions = Vec::new();
    for update in plan.updates() {
        let (UpdateState::Ready, Some(skill)) = (&update.state, plan.planned(&update.name)) else {
            continue;
        };
        let open = update.unapproved(skill, &how.approve)?;
        let mut approve = how.approve.clone();
        if carrying.asks {
            match agreed(run, carrying, update, &open)? {
                true => approve.extend(open),
                false => continue,
            }
        }
        decisions.push(UpdateDecision {
            name: update.name.clone(),
            approve,
            accept_signer: carrying.accept_signer,
        });
    }
    Ok(decisions)
}

/// Asks about one skill. Without a terminal that is an error that names what is missing.
fn agreed(
    run: &CliRun,
    carrying: &Carrying<'_>,
    update: &SkillUpdate,
    open: &[String],
) -> Result<bool, Failure> {
    let output = &run.output;
    let name = one_line(&update.name);
    if !Terminal::new(output).present || !output.is_attended() {
        let message = format!("updating `{name}` needs confirmation, but there is no terminal");
        let approvals = carrying.how.approve.iter().chain(open);
        let approvals = approvals.map(|one| format!(" --approve {}", shell_word(one)));
        let approvals = approvals.collect::<String>();
        let error = Failure::unmet("not-agreed", message).skill(&update.name);
        let error = open
            .iter()
            .fold(error, |error, one| error.detail(format!("+ {one}")));
        return Err(error.hint(format!(
            "review it, then: {} {name} --yes{approvals}",
            update.scope.command("update")
        )));
    }
    let what = match open.len() {
        0 => String::new(),
        number => format!(" and approve {}", count(number, "new permission")),
    };
    asked_yes(&format!("Update {name}{what}? [y/N] "), carrying.cancel)
}

fn answer(
    run: &CliRun,
    rows: Vec<UpdateRow>,
    report: UpdateReport,
    carrying: &Carrying<'_>,
) -> Result<(), Failure> {
    let (output, dry_run) = (&run.output, carrying.how.dry_run);
    let change = report.change.as_ref().map(|change| change.id.to_string());
    if output.is_json() {
        return output.document(&UpdateDocument {
            skills: rows,
            updated: report.updated,
            dry_run,
            change,
        });
    }
    let sign = output.paint("✓", Tone::Good);
    let lines = report
        .updated
        .iter()
        .map(|name| format!("{sign} {} is {}\n", one_line(name), carrying.done));
    output.report(&lines.collect::<String>())?;
    if dry_run {
        output.note("nothing was changed");
    } else if change.is_some() {
        output.note("undo with `metier undo`");
    }
    Ok(())
}

/// The changes of an update, skill by skill.
fn shown(output: &Output, plan: &UpdatePlan) -> String {
    let mut text = String::new();
    let mut current = 0;
    for update in plan.updates() {
        match update.state {
            UpdateState::Current => current += 1,
            _ if update.files.is_empty() => {}
            _ => text.push_str(&differences(output, update)),
        }
    }
    if current > 0 {
        text.push_str(&format!("{} up to date\n", is_or_are(current)));
    }
    if plan.updates().is_empty() {
        text.push_str("nothing is installed\n");
    }
    text
}

fn is_or_are(number: usize) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", count(number, "skill"))
}

/// One skill: versions, permissions, hosts, then the text of files.
fn differences(output: &Output, update: &SkillUpdate) -> String {
    let newest = update.newest.as_ref();
    let newest = newest.map_or_else(String::new, |newest| newest.label());
    let here = update.here.label();
    let name = output.paint(&one_line(&update.name), Tone::Strong);
    let mut text = format!(
        "{name} {here} → {newest}  from {}\n",
        one_line(&update.source)
    );
    for (title, set) in [
        ("permissions", &update.permissions),
        ("hosts", &update.hosts),
    ] {
        text.push_str(&set_lines(output, title, set));
    }
    let mut left = MAX_LINES;
    for file in &update.files {
        let path = one_line(&file.path);
        let what = match file.change {
            FileChange::Added => "new file".to_owned(),
            FileChange::Removed => "removed".to_owned(),
            FileChange::Binary => "other bytes".to_owned(),
            FileChange::Changed { added, removed } => format!("+{added} -{removed}"),
        };
        text.push_str(&format!("  {path}  {what}\n"));
        let lines = file.text();
        let lines: Vec<&str> = lines.lines().collect();
        let fitting = lines.len().min(left);
        left -= fitting;
        for line in &lines[..fitting] {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Good,
                Some(b'-') => Tone::Bad,
                _ => Tone::Faint,
            };
            text.push_str(&format!("    {}\n", output.paint(line, tone)));
        }
        let more = file.more + lines.len() - fitting;
        if more > 0 {
            text.push_str(&format!("    … {}\n", count(more, "more line")));
        }
    }
    text
}

fn set_lines(output: &Output, title: &str, set: &SetDifference) -> String {
    if set.is_empty() {
        return String::new();
    }
    let line = |sign: &str, tone, one: &String| {
        format!(
            "    {}\n",
            output.paint(&format!("{sign} {}", one_line(one)), tone)
        )
    };
    let added = set.added.iter().map(|one| line("+", Tone::Warn, one));
    let removed = set.removed.iter().map(|one| line("-", Tone::Faint, one));
    format!("  {title}\n{}", added.chain(removed).collect::<String>())
}
