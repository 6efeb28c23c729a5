//! `metier chat`

use metier::{
    agent::{StoredConversation, StoredConversations},
    text::ago,
};
use metier_wire::{ConversationRow, ConversationsDocument};

use super::agent::{How, InMode};
use crate::{
    chat,
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{count, one_line},
};

/// Chat with a model that has skills
///
/// Each line that you type goes to the model; a line that ends with `\` continues on the next, and pasted text may have several lines. `/name`
/// and `$name` load a skill immediately, the Tab key completes their names, and /help lists what else you can type. Ctrl-C stops the answer, Ctrl-D
/// leaves. The conversation is kept: --resume continues it. The model and its key are those of `metier agent`. On a terminal the model's
/// Markdown is rendered. Without a terminal each line of the input is one turn, and the exit code shows whether the last one was answered.
#[derive(clap::Args)]
pub(crate) struct ChatArgs {
    /// Continue an earlier conversation: the newest of this project, or the one whose id begins with ID
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "list")]
    resume: Option<Option<String>>,
    /// List the conversations of this project
    #[arg(long)]
    list: bool,
    /// Only orchestrate: the agent gives every part of a task to a sub-agent with skills
    #[arg(long)]
    orchestrate: bool,
    #[command(flatten)]
    situation: InMode,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(run: &CliRun, args: &ChatArgs) -> Result<Exit, Failure> {
    let kept = run.conversations()?;
    if args.list {
        return list(run, &kept);
    }
    if run.output.is_json() {
        let message = "`chat` does not support --json";
        return Err(Failure::broken("usage", message)
            .hint("metier chat --format jsonl prints each event as a line of JSON"));
    }
    let resumed = match &args.resume {
        None => None,
        Some(None) => Some(kept.newest()?),
        Some(Some(id)) => Some(kept.find(id)?),
    };
    let mode = args.situation.mode(run);
    chat::hold(run, &kept, resumed, (args.orchestrate, mode), &args.how)
}

fn list(run: &CliRun, kept: &StoredConversations) -> Result<Exit, Failure> {
    let all = kept.list()?;
    if run.output.is_json() {
        run.output.document(&ConversationsDocument {
            conversations: all.iter().map(ConversationRow::from).collect(),
        })?;
        return Ok(Exit::Ok);
    }
    let lines = all.iter().map(|one| line(run, one));
    run.output.report(&lines.collect::<String>())?;
    if all.is_empty() {
        run.output.note("no conversations in this project yet");
    }
    Ok(Exit::Ok)
}

/// A conversation in one line.
fn line(run: &CliRun, one: &StoredConversation) -> String {
    let lines = usize::try_from(one.lines).unwrap_or(usize::MAX);
    let head = format!(
        "{}  {:<11}  {:>9}  ",
        one.id,
        ago(run.machine().now, &one.last_at),
        count(lines, "line")
    );
    let title = run.output.fitted(&one_line(&one.title), head.len());
    format!("{head}{title}\n")
}
