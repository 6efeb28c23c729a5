//! `metier improve`

use metier::improving::{HelpfulWord, Improvement, LostQuery};
use metier_wire::ImproveDocument;

use crate::{
    cli_run::CliRun,
    commands::{eval::queries, select::line},
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// How many words are named.
const MAX_WORDS: usize = 12;

/// List queries that should find a skill, and missing words
///
/// The queries are those that the skill ships in `evals/`, otherwise the quoted phrases in its description, otherwise the description itself; `--query` adds
/// one. Each is compared with all skills. For a query that finds another skill first, the words that the name and description lack are
/// listed, and the words and pairs of words that only the other skill's body has. Points are an estimate for one occurrence in the description.
#[derive(clap::Args)]
pub(crate) struct ImproveArgs {
    /// A skill: its name, `source:name` for a shadowed one, or its folder
    name: String,
    /// A query that should find the skill
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
}

pub(crate) fn run(run: &CliRun, args: &ImproveArgs) -> Result<Exit, Failure> {
    let skills = run.skills()?;
    let improvement = run.improve(&skills, &args.name, &args.query)?;
    let output = &run.output;
    if output.is_json() {
        output.document(&ImproveDocument::of(&improvement))?;
        return Ok(Exit::Ok);
    }
    for lost in &improvement.lost {
        output.report(&page(lost, output))?;
    }
    let mut page = String::new();
    words(&improvement.words, output, &mut page);
    output.report(&page)?;
    remark(&improvement, output);
    Ok(Exit::Ok)
}

fn page(lost: &LostQuery, output: &Output) -> String {
    let query = output.paint(&format!("\"{}\"", one_line(&lost.query.text)), Tone::Strong);
    let mut page = format!("{} {query}\n", output.paint("✗", Tone::Bad));
    let (winner, score) = &lost.winner;
    let rank = match lost.place {
        Some(place) => format!("rank {} with {:.2}", place + 1, lost.score),
        None => "not found".to_owned(),
    };
    let text = format!("{rank}; `{winner}` is first with {score:.2}");
    line("place", &text, output, &mut page);
    let quoted = |words: &mut dyn Iterator<Item = &str>| {
        let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        let more = words.len().saturating_sub(MAX_WORDS);
        words.truncate(MAX_WORDS);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{}{more}", words.join(", "))
    };
    if !lost.missing.is_empty() {
        let missing = quoted(&mut lost.missing.iter().map(|word| word.text.as_str()));
        let enough = match lost.is_enough {
            true => "in the description they would be enough",
            false => "in the description they would not be enough",
        };
        let text = format!("{missing}; {enough}");
        line("missing", &text, output, &mut page);
    }
    if !lost.body_lacks.is_empty() {
        let words = quoted(&mut lost.body_lacks.iter().map(String::as_str));
        let text = format!("{words}: only the body of `{winner}` has that");
        line("body", &text, output, &mut page);
    }
    if lost.by_trigger {
        let text = format!("its words match at least as well: a trigger puts `{winner}` first");
        line("trigger", &text, output, &mut page);
    } else if lost.missing.is_empty() && lost.body_lacks.is_empty() {
        let text = format!(
            "nothing: `{winner}` has the same words; describe what makes this skill different"
        );
        line("missing", &text, output, &mut page);
    }
    page
}

/// The words that help most.
fn words(words: &[HelpfulWord], output: &Output, page: &mut String) {
    if words.is_empty() {
        return;
    }
    page.push_str(&format!(
        "{}\n",
        output.paint("add to the description", Tone::Strong)
    ));
    for word in words.iter().take(MAX_WORDS) {
        let place = if word.in_body {
            ", now only in the body"
        } else {
            ""
        };
        let text = format!("`{}`: {}{place}", word.text, queries(word.queries));
        line(&format!("+{:.2}", word.gain), &text, output, page);
    }
}

fn remark(improvement: &Improvement, output: &Output) {
    for problem in &improvement.problems {
        let line = format!("{}: {}", problem.file, problem.message);
        output.warn(&one_line(&line));
    }
    let won = improvement.queries - improvement.lost.len();
    let name = one_line(&improvement.name);
    let skills = count(improvement.searched, "skill");
    if improvement.queries == 0 {
        let word = output.paint_talk("hint:", Tone::Note);
        output.note(&format!(
            "`{name}` has no trigger queries and no description"
        ));
        output.note(&format!(
            "{word} metier improve {name} --query 'what a user would type'"
        ));
        return;
    }
    output.note(&format!(
        "`{name}` is first for {won} of {} among {skills}",
        queries(improvement.queries)
    ));
    if improvement.only_description {
        let word = output.paint_talk("hint:", Tone::Note);
        output.note("it has no queries of its own, so its description was used as the query");
        output.note(&format!(
            "{word} metier improve {name} --query 'what a user would type', or put queries into evals/triggers.json (docs/selection.md)"
        ));
    }
}
