//! `metier why`

use metier::{
    selection::{Account, Coding},
    skill::Inventory,
};
use metier_wire::{AccountRow, CodingRow, LackRow, ProjectRow, WhyDocument};

use crate::{
    cli_run::CliRun,
    commands::select::{ProjectArgs, Ruled, line, note_incomplete, note_unknown, signals},
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Explain why skills were picked for a task, and others not
///
/// A signal is a reason to pick a skill, a gate keeps it out: it is not ready, blocked, disabled, shadowed or
/// invalid, or the risk is too high to pick it unless the task names it. Without a name, skills with a signal are shown, and the evidence
/// for and against coding; with one, also the triggers of that skill that don't match.
#[derive(clap::Args)]
pub(crate) struct WhyArgs {
    /// The task, in quotes
    #[arg(value_name = "TASK")]
    task: String,
    /// A skill: its name, `source:name` for a shadowed one, or its folder
    name: Option<String>,
    #[command(flatten)]
    around: ProjectArgs,
    #[command(flatten)]
    ruled: Ruled,
}

pub(crate) fn run(session: &CliRun, args: &WhyArgs) -> Result<Exit, Failure> {
    let skills = session.skills()?;
    let inventory = skills.inventory();
    note_unknown(inventory, &session.output);
    let task = args.ruled.task(&args.task, &args.around);
    let matches = session.why(&skills, task, args.name.as_deref())?;
    let (accounts, incomplete) = matches.accounts();
    if session.output.is_json() {
        session.output.document(&WhyDocument {
            skills: accounts
                .iter()
                .map(|account| AccountRow::new(inventory, account))
                .collect(),
            considered: matches.considered(),
            coding: matches.coding().is,
            coding_evidence: CodingRow::from(matches.coding()),
            risk: args.ruled.risk(),
            errors: incomplete.iter().map(LackRow::from).collect(),
            project: ProjectRow::of(&matches),
        })?;
        return Ok(Exit::Ok);
    }
    let output = &session.output;
    if args.name.is_some() {
        for account in &accounts {
            output.report(&alone(inventory, account, output))?;
        }
        return Ok(Exit::Ok);
    }
    output.report(&coding(matches.coding(), output))?;
    let told =
        |account: &&Account<'_>| account.score > 0.0 || !account.considered.problems.is_empty();
    for account in accounts.iter().filter(told) {
        output.report(&page(inventory, account, output))?;
    }
    let rest: Vec<&Account<'_>> = accounts.iter().filter(|account| !told(account)).collect();
    if !rest.is_empty() {
        let waiting = rest.iter().filter(|account| account.has_triggers());
        output.note(&format!(
            "nothing matches for {}, {} of them with triggers; name one to see its triggers",
            count(rest.len(), "skill"),
            waiting.count()
        ));
    }
    if let Some(incomplete) = &incomplete {
        note_incomplete(incomplete, matches.coding(), output);
    }
    Ok(Exit::Ok)
}

/// Whether the task is coding, and how we know.
fn coding(coding: &Coding, output: &Output) -> String {
    let head = match coding.is {
        true => "a coding task",
        false => "not a coding task",
    };
    let mut page = format!(
        "{} ({:.2})\n",
        output.paint(head, Tone::Strong),
        coding.score
    );
    for found in &coding.evidence {
        line(found.sign.as_str(), &found.detail, output, &mut page);
    }
    page
}

/// A skill with its signals and gates.
fn page(inventory: &Inventory, account: &Account<'_>, output: &Output) -> String {
    let entry = inventory.entry(account.skill);
    let name = output.paint(&one_line(&entry.name()), Tone::Strong);
    let mut page = if account.picked {
        let sign = output.paint("✓", Tone::Good);
        format!("{sign} {:.2} {name}\n", account.score)
    } else {
        let sign = output.paint("✗", Tone::Bad);
        format!("{sign} {:.2} {name}, not picked\n", account.score)
    };
    signals(&account.considered.matches, output, &mut page);
    if let (Some(consent), true) = (&account.consent, account.picked) {
        line("consent", consent, output, &mut page);
    }
    for gate in &account.gates {
        line(gate.kind, &gate.message, output, &mut page);
        if let Some(hint) = &gate.hint {
            hinted(hint, output, &mut page);
        }
    }
    for problem in &account.considered.problems {
        let word = output.paint("warning:", Tone::Warn);
        page.push_str(&format!("  {word} {}\n", one_line(&problem.message)));
    }
    page
}

/// The same, with the triggers that don't match.
fn alone(inventory: &Inventory, account: &Account<'_>, output: &Output) -> String {
    let mut page = page(inventory, account, output);
    for miss in &account.considered.misses {
        line("-", &miss.detail, output, &mut page);
    }
    let entry = inventory.entry(account.skill);
    if !account.has_triggers() && entry.card.is_some() {
        line(
            "-",
            "it has no triggers: its name and description are compared with the task",
            output,
            &mut page,
        );
        if account.score == 0.0 && account.gates.is_empty() {
            let hint = format!("name it in the task: /{}", entry.name());
            hinted(&hint, output, &mut page);
        }
    }
    page
}

fn hinted(hint: &str, output: &Output, page: &mut String) {
    let word = output.paint("hint:", Tone::Note);
    page.push_str(&format!("  {word} {}\n", one_line(hint)));
}
