//! `metier why`

use std::{process::ExitCode, sync::Arc};

use metier_runtime::{
    Inventory,
    selecting::{Account, Candidates},
};
use metier_select::rules::Coding;
use metier_wire::{AccountRow, CodingRow, LackRow, WhyDocument};

use crate::{
    commands::{
        find,
        select::{Around, Project, Ruled, line, note_incomplete, note_unknown, reading, signals},
    },
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Explain why skills were picked for a task, and others not
///
/// What speaks for a skill is a signal, what keeps it out is a gate: it lacks a program, is blocked, switched off, shadowed or
/// invalid, or the task is too risky to pick it unasked. Without a name, skills for which something speaks are shown, and what speaks
/// for and against coding; with one, also what that skill waits for.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done, in quotes
    #[arg(value_name = "TASK")]
    task: String,
    /// A skill: its name, `source:name` for a shadowed one, or its folder
    name: Option<String>,
    #[command(flatten)]
    around: Around,
    #[command(flatten)]
    ruled: Ruled,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.inventory()?);
    note_unknown(&inventory, &session.output);
    let name = args.name.as_deref();
    let only = name
        .map(|name| find(session, &inventory, name))
        .transpose()?;
    let mut reading = reading(session, true);
    reading.powers = args.ruled.asks_about_powers();
    let candidates = Candidates::read(&inventory, reading).with_text();
    let project = Project::look(session, &args.around, &candidates);
    let rules = args.ruled.rules(&args.task, &args.around);
    let (mut accounts, incomplete) = project.with(&args.task, |situation| {
        candidates.accounts(situation, &rules)
    });
    if let Some(only) = only {
        accounts.retain(|account| account.skill.entry == only.entry);
    }
    if session.output.is_json() {
        session.output.document(&WhyDocument {
            skills: accounts
                .iter()
                .map(|account| AccountRow::new(&inventory, account))
                .collect(),
            considered: candidates.considered(),
            coding: rules.coding.is,
            coding_evidence: CodingRow::from(&rules.coding),
            risk: rules.risk.as_str(),
            errors: incomplete.iter().map(LackRow::from).collect(),
            project: project.row(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = &session.output;
    if only.is_some() {
        for account in &accounts {
            output.report(&alone(&inventory, account, output))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    output.report(&coding(&rules.coding, output))?;
    let told =
        |account: &&Account<'_>| account.score > 0.0 || !account.considered.problems.is_empty();
    for account in accounts.iter().filter(told) {
        output.report(&page(&inventory, account, output))?;
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
        note_incomplete(incomplete, &rules.coding, output);
    }
    Ok(ExitCode::SUCCESS)
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

/// A skill with what speaks for it and what stands in its way.
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

/// The same, with what the skill waits for.
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
