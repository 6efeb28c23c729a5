//! `metier install` and `metier add`

use std::collections::BTreeSet;

use metier::{
    agent::Cancel,
    distribution::{
        InstallAction, InstallCard, InstallDecision, InstallObstacle, InstallOptions, InstallPlan,
        InstallReport, InstallScope, SkillOffer, SourceRequest, card_text, check_permissions,
    },
    text::shell_word,
};
use metier_wire::InstallDocument;

use crate::{
    approver::{Terminal, asked_choice, asked_line, asked_yes},
    cli_run::CliRun,
    failure::{Exit, Failure},
    interrupt,
    output::{Output, Tone, count, one_line},
};

/// Install skills for yourself, in every project
///
/// SRC is a folder (./my-skill), an archive (.skill, .zip, .tar.gz), a git repository (owner/repo, owner/repo/folder@branch,
/// git+https://…), a URL or the name of a skill in a registry. Names after it choose among the skills of a source.
/// Without SRC, installs the versions in the lock file.
///
/// A skill is fetched into quarantine and scanned. You see where it comes from, what it asks for and what the scanner found, and
/// decide. Then it is placed in ~/.agents/skills and pinned in the lock file. A skill with a critical finding is refused, unless you have accepted
/// those bytes with `metier scan --accept`.
#[derive(clap::Args)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    flags: InstallFlags,
}

/// Add skills to the project
///
/// The same as `metier install`, but for everyone who works on the project: the skill is placed in .agents/skills and pinned in
/// metier.lock, both of which belong in version control.
///
/// You can use a skill that you added in exactly these bytes without trusting the whole project. When a later pull
/// changes it, it is blocked like the project's other skills until you run `metier trust` or add it again.
#[derive(clap::Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    flags: InstallFlags,
}

#[derive(clap::Args)]
pub(crate) struct InstallFlags {
    /// The source, then names of skills in it; without one, the versions in the lock file
    #[arg(value_name = "SRC")]
    words: Vec<String>,
    /// Install every skill of the source
    #[arg(long)]
    all: bool,
    /// Show what would be installed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask for confirmation (for scripts); a critical finding is refused unless it was accepted
    #[arg(long, short)]
    yes: bool,
    /// Approve this permission for exactly these bytes, such as `shell:exec(git *)`
    #[arg(long, value_name = "P")]
    approve: Vec<String>,
    /// Replace or shadow a skill that came from elsewhere or was edited
    #[arg(long)]
    replace: bool,
    /// Also put the skills into the folders of these agents, as `metier sync` does
    #[arg(long, value_name = "AGENT,…", value_delimiter = ',')]
    to: Vec<String>,
    /// Install exactly the versions in the lock file; fail if a skill was changed
    #[arg(long, conflicts_with_all = ["words", "all", "replace", "approve", "to"])]
    frozen: bool,
}

pub(crate) fn run(run: &CliRun, args: &InstallArgs) -> Result<Exit, Failure> {
    install(run, &args.flags, InstallScope::User)
}

pub(crate) fn run_add(run: &CliRun, args: &AddArgs) -> Result<Exit, Failure> {
    install(run, &args.flags, InstallScope::Project)
}

fn install(run: &CliRun, flags: &InstallFlags, scope: InstallScope) -> Result<Exit, Failure> {
    check_permissions(&flags.approve)?;
    let options = InstallOptions { scope };
    let cancel = interrupt::listen_with(run.stop())?;
    let mut plan = match flags.words.is_empty() {
        true => run.prepare_locked(options, flags.frozen)?,
        false => {
            let choose = |source: &str, offers: &[SkillOffer]| choose(run, &cancel, source, offers);
            let prepared = run.prepare_install(&requests(flags), options, &choose);
            if cancel.is_cancelled() {
                return Err(Failure::interrupted("stopped; nothing was changed"));
            }
            prepared?
        }
    };
    plan.for_agents(&flags.to)?;
    let output = &run.output;
    plan.left_out()
        .iter()
        .for_each(|line| output.warn(&one_line(line)));
    if flags.dry_run {
        return dry_run(output, scope, &plan);
    }
    if plan.skills().is_empty() {
        return nothing(run, flags, scope, &plan);
    }
    let mut decisions = Vec::new();
    for skill in plan.skills() {
        decisions.extend(decide(run, flags, &cancel, &plan, &skill.card)?);
    }
    let (left_out, is_partial) = (plan.left_out().to_vec(), plan.is_partial());
    let report = plan.apply(&decisions)?;
    let exit = done(output, scope, &report, left_out)?;
    Ok(match exit {
        Exit::Ok => Exit::unmet_if(is_partial),
        exit => exit,
    })
}

/// Sources and the names after each. A word without `/` and `:` after a repository, a folder or an archive is a name in it.
fn requests(flags: &InstallFlags) -> Vec<SourceRequest> {
    let mut all: Vec<SourceRequest> = Vec::new();
    let is_source = |word: &str| word.contains(['/', ':']) || matches!(word, "." | ".." | "~");
    for word in &flags.words {
        match all.last_mut() {
            Some(last) if !is_source(word) && is_source(&last.source) => {
                last.names.push(word.clone());
            }
            _ => all.push(SourceRequest {
                source: word.clone(),
                names: Vec::new(),
                all: flags.all,
            }),
        }
    }
    all
}

fn dry_run(output: &Output, scope: InstallScope, plan: &InstallPlan) -> Result<Exit, Failure> {
    let is_refused = plan.skills().iter().any(|skill| skill.card.is_refused());
    if output.is_json() {
        output.document(&InstallDocument::planned(scope.as_str(), plan))?;
    } else {
        for skill in plan.skills() {
            let card = card_text(&skill.card, &|text, tone| output.paint(text, tone));
            output.report(&card)?;
        }
        output.note("nothing was changed (--dry-run)");
    }
    Ok(Exit::unmet_if(is_refused || plan.is_partial()))
}

/// Reports that nothing was installed: everything is as the lock states, nothing was chosen, or nothing can be installed.
fn nothing(
    run: &CliRun,
    flags: &InstallFlags,
    scope: InstallScope,
    plan: &InstallPlan,
) -> Result<Exit, Failure> {
    let output = &run.output;
    if output.is_json() {
        let mut document = InstallDocument::planned(scope.as_str(), plan);
        document.dry_run = false;
        output.document(&document)?;
        return Ok(Exit::unmet_if(plan.is_partial()));
    }
    // Nothing was selected in the checklist, or the skills can't be installed.
    if plan.is_partial() || !flags.words.is_empty() {
        output.note("nothing was installed");
        return Ok(Exit::unmet_if(plan.is_partial()));
    }
    let locked = run.lock(scope)?.skills.len();
    let line = match locked {
        0 => format!("no skill is installed in {}", scope_words(scope)),
        1 => "1 skill matches the lock".to_owned(),
        some => format!("{} match the lock", count(some, "skill")),
    };
    output.note(&line);
    if locked == 0 {
        output.note(&format!("install one: metier {} ./my-skill", scope.verb()));
    }
    Ok(Exit::Ok)
}

const fn scope_words(scope: InstallScope) -> &'static str {
    match scope {
        InstallScope::User => "your lock",
        InstallScope::Project => "the project's metier.lock",
    }
}

/// Shows the card, and asks or follows the flags. `None` leaves the skill out.
fn decide(
    run: &CliRun,
    flags: &InstallFlags,
    cancel: &Cancel,
    plan: &InstallPlan,
    card: &InstallCard,
) -> Result<Option<InstallDecision>, Failure> {
    let output = &run.output;
    let mut decision = InstallDecision {
        name: card.name.clone(),
        approve: flags.approve.clone(),
        replace: flags.replace,
    };
    if card.is_refused() && flags.all {
        output.warn(&format!(
            "`{}` is not installed: {}",
            one_line(&card.name),
            why(card)
        ));
        return Ok(None);
    }
    if card.is_refused() || flags.frozen {
        // Refused with the reason, or already decided by the lock.
        return Ok(Some(decision));
    }
    let open = still_open(card, &flags.approve);
    let needs_replace = !card.obstacles.is_empty() && !flags.replace;
    let from_lock = flags.words.is_empty();
    let is_asked = !flags.yes || needs_replace || (!open.is_empty() && !from_lock);
    if card.action == InstallAction::Keep && open.is_empty() && !needs_replace || !is_asked {
        return Ok(Some(decision));
    }
    let text = card_text(card, &|text, tone| output.paint_talk(text, tone));
    text.lines().for_each(|line| output.note(line));
    if !Terminal::new(output).present || !output.is_attended() {
        if flags.yes && needs_replace {
            return Ok(Some(decision)); // The library refuses with the reason.
        }
        return Err(unanswered(flags, plan, card, &open));
    }
    let question = match (card.obstacles.is_empty(), card.action) {
        (false, _) => "Install it anyway?",
        (true, InstallAction::Replace) => "Replace it?",
        _ => "Install it?",
    };
    if open.is_empty() || from_lock {
        decision.replace |= needs_replace;
        let question = format!("{question} [y/N] ");
        return Ok(asked_yes(&question, cancel)?.then_some(decision));
    }
    match asked_permissions(question, cancel)? {
        PermissionsAnswer::Approve => decision.approve.extend(open),
        PermissionsAnswer::Later => {}
        PermissionsAnswer::No => return Ok(None),
    }
    decision.replace |= needs_replace;
    Ok(Some(decision))
}

fn why(card: &InstallCard) -> String {
    let found = card.obstacles.iter().find_map(|one| match one {
        InstallObstacle::Blocked(why)
        | InstallObstacle::Invalid(why)
        | InstallObstacle::Signature(why) => Some(one_line(why)),
        _ => None,
    });
    found.unwrap_or_default()
}

/// The permissions without an answer that the flags don't approve.
fn still_open(card: &InstallCard, approve: &[String]) -> Vec<String> {
    card.open_with(approve)
        .map(|one| one.permission.clone())
        .collect()
}

#[derive(Clone, Copy)]
enum PermissionsAnswer {
    Approve,
    Later,
    No,
}

fn asked_permissions(question: &str, cancel: &Cancel) -> Result<PermissionsAnswer, Failure> {
    let choices = format!(
        "{question}\n  [a]pprove  install it, and approve what it asks for (exactly these files)\n  \
         [y]es      install it; it asks again when it is used\n  [n]o       leave it out\nYour answer? (no) "
    );
    let words: &[(&[&str], PermissionsAnswer)] = &[
        (&["a", "approve"], PermissionsAnswer::Approve),
        (&["y", "yes"], PermissionsAnswer::Later),
        (&["", "n", "no"], PermissionsAnswer::No),
    ];
    Ok(asked_choice(&choices, words, cancel)?.unwrap_or(PermissionsAnswer::No))
}

/// The error when there is no terminal to ask on, with the command that contains all decisions.
fn unanswered(
    flags: &InstallFlags,
    plan: &InstallPlan,
    card: &InstallCard,
    open: &[String],
) -> Failure {
    let name = one_line(&card.name);
    let words: Vec<String> = flags
        .words
        .iter()
        .map(|word| shell_word(word).into_owned())
        .collect();
    let mut command = format!("metier {}", card.scope.verb());
    words
        .iter()
        .for_each(|word| command.push_str(&format!(" {word}")));
    command.push_str(" --yes");
    if flags.all {
        command.push_str(" --all");
    }
    let cards = plan.skills().iter().map(|skill| &skill.card);
    let cards: Vec<&InstallCard> = cards.filter(|card| !card.is_refused()).collect();
    let all: BTreeSet<String> = cards
        .iter()
        .flat_map(|card| still_open(card, &flags.approve))
        .collect();
    for permission in flags.approve.iter().chain(&all) {
        command.push_str(&format!(" --approve {}", shell_word(permission)));
    }
    if cards.iter().any(|card| !card.obstacles.is_empty()) {
        command.push_str(" --replace");
    }
    let message = match (flags.yes, open) {
        (true, [_, ..]) if flags.approve.is_empty() => {
            format!(
                "skill `{name}` asks for permissions, and --yes approves none; nothing was installed"
            )
        }
        (true, [_, ..]) => {
            format!("skill `{name}` asks for more than --approve approves; nothing was installed")
        }
        _ => format!("installing skill `{name}` needs confirmation, but there is no terminal"),
    };
    let error = Failure::unmet("not-agreed", message).skill(&card.name);
    let error = open
        .iter()
        .fold(error, |error, one| error.detail(one_line(one)));
    error.hint(format!("review it with --dry-run, then: {command}"))
}

fn done(
    output: &Output,
    scope: InstallScope,
    report: &InstallReport,
    left_out: Vec<String>,
) -> Result<Exit, Failure> {
    let refused = report
        .skills
        .iter()
        .any(|skill| !skill.is_installed && skill.card.is_refused());
    if output.is_json() {
        output.document(&InstallDocument::done(scope.as_str(), report, left_out))?;
        return Ok(Exit::unmet_if(refused));
    }
    let mut text = String::new();
    for skill in report.skills.iter().filter(|skill| skill.is_installed) {
        let card = &skill.card;
        let version = card
            .version
            .as_deref()
            .map(|version| format!(" {}", one_line(version)));
        let what = match card.action {
            InstallAction::Install => "is installed",
            InstallAction::Replace => "is replaced",
            InstallAction::Keep => "was installed already",
        };
        text.push_str(&format!(
            "{} {}{} {what} in {}\n",
            output.paint("✓", Tone::Good),
            one_line(&card.name),
            version.unwrap_or_default(),
            card.place.display()
        ));
    }
    output.report(&text)?;
    if report.change.is_some() {
        output.note("undo with `metier undo`");
    } else if text.is_empty() {
        output.note("nothing was installed");
    }
    Ok(Exit::unmet_if(refused))
}

/// A checklist of the skills of a source, on a terminal.
fn choose(
    run: &CliRun,
    cancel: &Cancel,
    source: &str,
    offers: &[SkillOffer],
) -> Option<Vec<usize>> {
    let output = &run.output;
    if !Terminal::new(output).present || !output.is_attended() {
        return None;
    }
    output.say(&format!(
        "{} has {}:",
        one_line(source),
        count(offers.len(), "skill")
    ));
    for (number, offer) in offers.iter().enumerate() {
        let start = format!("  {:>3}  {} - ", number + 1, one_line(&offer.name));
        let about = output.fitted(&one_line(&offer.description), start.chars().count());
        output.say(&format!("{start}{about}"));
    }
    let question =
        "Which ones? Numbers (1 3 5-7), names, or all; Enter for none\nYour answer? (no) ";
    loop {
        let line = asked_line(question, cancel).ok()?;
        match picked(&line, offers) {
            Ok(picked) => return Some(picked),
            Err(word) => output.say(&format!("`{}` is not in the list", one_line(word))),
        }
    }
}

/// The offers that a line names: numbers, ranges, names, `all`, or none at all. The error is a word that is none of these.
fn picked<'a>(line: &'a str, offers: &[SkillOffer]) -> Result<Vec<usize>, &'a str> {
    let number = |word: &str| {
        let number = word.parse::<usize>().ok()?;
        (1..=offers.len()).contains(&number).then(|| number - 1)
    };
    let mut picked = Vec::new();
    for word in line.split([' ', ',']).filter(|word| !word.is_empty()) {
        let by_name = offers
            .iter()
            .position(|offer| offer.name.eq_ignore_ascii_case(word));
        let range = word.split_once('-');
        let range = range.and_then(|(first, last)| number(first).zip(number(last)));
        match (word, by_name.or_else(|| number(word)), range) {
            (_, Some(at), _) => picked.push(at),
            (.., Some((first, last))) if first <= last => picked.extend(first..=last),
            ("all", ..) => picked.extend(0..offers.len()),
            ("n" | "no" | "none", ..) => return Ok(Vec::new()),
            _ => return Err(word),
        }
    }
    picked.sort_unstable();
    picked.dedup();
    Ok(picked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(words: &[&str]) -> InstallFlags {
        InstallFlags {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            all: false,
            dry_run: false,
            yes: false,
            approve: Vec::new(),
            replace: false,
            to: Vec::new(),
            frozen: false,
        }
    }

    #[test]
    fn a_word_after_a_repository_is_a_name_in_it() {
        let check = |words: &[&str], expected: &[(&str, &[&str])]| {
            let found = requests(&flags(words));
            let found: Vec<(&str, Vec<&str>)> = found
                .iter()
                .map(|one| (&*one.source, one.names.iter().map(String::as_str).collect()))
                .collect();
            let expected: Vec<(&str, Vec<&str>)> = expected
                .iter()
                .map(|(source, names)| (*source, names.to_vec()))
                .collect();
            assert_eq!(found, expected, "{words:?}");
        };
        check(&["./a"], &[("./a", &[])]);
        check(&["./a", "./b"], &[("./a", &[]), ("./b", &[])]);
        check(
            &["owner/repo", "pdf", "docx"],
            &[("owner/repo", &["pdf", "docx"])],
        );
        check(&["kubernetes", "git"], &[("kubernetes", &[]), ("git", &[])]);
        check(
            &["owner/repo", "pdf", "./c"],
            &[("owner/repo", &["pdf"]), ("./c", &[])],
        );
    }

    #[test]
    fn a_checklist_is_answered_with_numbers_ranges_and_names() {
        let offer = |name: &str| SkillOffer {
            name: name.to_owned(),
            folder: String::new(),
            description: String::new(),
            version: None,
            plugin: None,
            kind: metier::distribution::OfferKind::Skill,
            problem: None,
        };
        let offers: Vec<SkillOffer> = ["a", "b", "c", "d"].map(offer).into();
        for (line, expected) in [
            ("", [].as_slice()),
            ("all", &[0, 1, 2, 3]),
            ("1 3", &[0, 2]),
            ("2-3,a", &[0, 1, 2]),
            ("C, d", &[2, 3]),
            ("no", &[]),
        ] {
            assert_eq!(picked(line, &offers), Ok(expected.to_vec()), "{line}");
        }
        for (line, unknown) in [
            ("9", "9"),
            ("1 0", "0"),
            ("a, x", "x"),
            ("3-99", "3-99"),
            ("1 3-2", "3-2"),
        ] {
            assert_eq!(picked(line, &offers), Err(unknown), "{line}");
        }
    }
}
