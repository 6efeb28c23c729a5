//! `metier why`

use metier::{
    Skills,
    selection::{Account, Coding, TaskMatches},
    skill::Inventory,
};
use metier_wire::{CollisionsDocument, WhyDocument};

use crate::{
    cli_run::CliRun,
    commands::{
        eval::queries,
        select::{
            ProjectArgs, Ruled, line, note_incomplete, note_unknown, note_unscanned, signals,
        },
    },
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Explain why skills were picked for a task and others were not
///
/// A signal is a reason to pick a skill, a gate keeps it out: it is not ready, blocked, disabled, shadowed or
/// invalid, or the risk is too high to pick it unless the task names it. Without a name, skills with a signal are shown, and the evidence
/// for and against coding; with a name, the triggers of that skill that don't match are shown too. `--collisions` lists pairs of skills
/// that compete: a query that one of them ships in `evals/`, or quotes in its description, finds the other first.
#[derive(clap::Args)]
pub(crate) struct WhyArgs {
    /// The task, in quotes
    #[arg(value_name = "TASK", required_unless_present = "collisions")]
    task: Option<String>,
    /// List pairs of skills whose own queries find the other first
    #[arg(long, conflicts_with_all = ["task", "name"])]
    collisions: bool,
    /// A skill: its name, `source:name` for a shadowed one, or its folder
    name: Option<String>,
    #[command(flatten)]
    around: ProjectArgs,
    #[command(flatten)]
    ruled: Ruled,
}

/// How many words of a skill are shown.
const MAX_SHARES: usize = 12;

pub(crate) fn run(run: &CliRun, args: &WhyArgs) -> Result<Exit, Failure> {
    let skills = run.skills()?;
    let Some(task) = &args.task else {
        return collisions(run, &skills);
    };
    let inventory = skills.inventory();
    note_unknown(inventory, &run.output);
    let task = args.ruled.task(task, &args.around);
    let matches = run.why(&skills, task, args.name.as_deref())?;
    let (accounts, incomplete) = matches.accounts();
    if run.output.is_json() {
        let about_one = args.name.is_some();
        let why = WhyDocument::new(
            &matches,
            &accounts,
            incomplete.as_ref(),
            about_one,
            args.ruled.risk(),
        );
        run.output.document(&why)?;
        return Ok(Exit::Ok);
    }
    let output = &run.output;
    if args.name.is_some() {
        for account in &accounts {
            let mut page = alone(inventory, account, output);
            words(&matches, account, output, &mut page);
            let sessions = matches.sessions_of(account);
            if sessions > 0.0 {
                let text = format!(
                    "in {sessions:.1} recent sessions, older ones count less; used only with `skills.usage`"
                );
                line("used", &text, output, &mut page);
            }
            output.report(&page)?;
        }
        return Ok(Exit::Ok);
    }
    output.report(&coding(matches.coding(), output))?;
    let told =
        |account: &&Account<'_>| account.score > 0.0 || !account.considered.problems.is_empty();
    for account in accounts.iter().filter(told) {
        output.report(&page(inventory, account, output))?;
    }
    let near = matches.near_misses();
    if !near.is_empty() {
        let mut page = format!("{}\n", output.paint("near misses", Tone::Strong));
        for miss in &near {
            let text = format!("{}: {}", miss.name, miss.why);
            line(&format!("{:.2}", miss.score), &text, output, &mut page);
        }
        output.report(&page)?;
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
    note_unscanned(&matches, output);
    if let Some(incomplete) = &incomplete {
        note_incomplete(incomplete, matches.coding(), output);
    }
    Ok(Exit::Ok)
}

/// Pairs of skills that compete.
fn collisions(run: &CliRun, skills: &Skills) -> Result<Exit, Failure> {
    let pairs = run.collisions(skills);
    let output = &run.output;
    if output.is_json() {
        output.document(&CollisionsDocument::of(&pairs))?;
        return Ok(Exit::Ok);
    }
    for pair in &pairs {
        let [a, b] = pair.skills.each_ref().map(|one| one_line(&one.name));
        let [first, second] = [&a, &b].map(|name| output.paint(name, Tone::Strong));
        let mut page = format!("{first} and {second}\n");
        for (skill, other) in [(&pair.skills[0], &b), (&pair.skills[1], &a)] {
            let Some(example) = skill.example.as_ref().filter(|_| skill.lost > 0) else {
                continue;
            };
            let text = format!(
                "{} of {} of `{}` find `{other}` first: \"{}\"",
                skill.lost,
                queries(skill.queries),
                skill.name,
                shortened(example)
            );
            line("lost", &text, output, &mut page);
        }
        output.report(&page)?;
    }
    let mutual = pairs.iter().filter(|pair| pair.is_mutual()).count();
    output.note(&match pairs.len() {
        0 => "no skill's own queries find another one first".to_owned(),
        number => format!(
            "{}, {mutual} of them in both directions",
            count(number, "pair")
        ),
    });
    Ok(Exit::Ok)
}

/// The beginning of a query.
fn shortened(query: &str) -> String {
    const LONGEST: usize = 100;
    match query.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &query[..end]),
        None => query.to_owned(),
    }
}

/// Whether the task is coding, and the evidence for it.
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

/// A skill with its signals and gates, and with the triggers that don't match.
fn alone(inventory: &Inventory, account: &Account<'_>, output: &Output) -> String {
    let mut page = page(inventory, account, output);
    for miss in &account.considered.misses {
        line("-", &miss.detail, output, &mut page);
    }
    let entry = inventory.entry(account.skill);
    if !account.has_triggers() && entry.card.is_some() {
        line(
            "-",
            "it has no triggers: its name, description and body are searched for the words of the task",
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

/// The place of a skill in the search, and its points for each word.
fn words(matches: &TaskMatches, account: &Account<'_>, output: &Output, page: &mut String) {
    let Some((rank, shares)) = matches.search_shares(account) else {
        return;
    };
    let sum: f32 = shares.iter().map(|share| share.points).sum();
    let text = format!(
        "{rank} of {} by the words of the task, {sum:.2} points",
        matches.matching()
    );
    line("rank", &text, output, page);
    if account.considered.matches.is_empty() {
        let text = "it scores less than half of the best skill, so the words alone don't select it";
        line("text", text, output, page);
    }
    for share in shares.iter().take(MAX_SHARES) {
        let text = format!("`{}` {}", share.words, share.place.as_str());
        line(&format!("+{:.2}", share.points), &text, output, page);
    }
    if let Some(rest) = shares.get(MAX_SHARES..).filter(|rest| !rest.is_empty()) {
        let points: f32 = rest.iter().map(|share| share.points).sum();
        line(
            &format!("+{points:.2}"),
            &format!("{} more", rest.len()),
            output,
            page,
        );
    }
    let missing = matches.missing_words(account);
    if !missing.is_empty() {
        let named = missing.iter().take(MAX_SHARES);
        let named: Vec<String> = named.map(|word| format!("`{}`", word.text)).collect();
        let more = missing.len().saturating_sub(MAX_SHARES);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let text = format!("{}{more}: nowhere in the skill", named.join(", "));
        line("missing", &text, output, page);
    }
}

fn hinted(hint: &str, output: &Output, page: &mut String) {
    let word = output.paint("hint:", Tone::Note);
    page.push_str(&format!("  {word} {}\n", one_line(hint)));
}
