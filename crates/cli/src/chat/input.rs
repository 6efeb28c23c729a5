//! The meaning of a line in a chat: a command of the program, or a message to the model.

use metier::agent::mentions;
use metier::skill::Inventory;

use crate::{failure::Failure, output::one_line};

/// The commands of the program itself, with their effects.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("help", "show this"),
    ("skills", "list the skills, those that are active first"),
    ("unload", "NAME removes a skill from the conversation"),
    ("compact", "shorten the conversation now"),
    ("quit", "leave; the conversation is kept"),
];

/// A line, understood.
#[derive(Debug)]
pub(super) enum ChatInput<'l> {
    Nothing,
    Help,
    Skills,
    Unload(&'l str),
    Compact,
    Quit,
    /// For the model.
    Turn(&'l str),
    /// For neither: the user gets an error.
    Wrong(Failure),
}

/// The meaning of a line. A skill with the name of a command is called with `$`, so that commands always work.
pub(super) fn read<'l>(line: &'l str, inventory: &Inventory) -> ChatInput<'l> {
    let line = line.trim();
    if line.is_empty() {
        return ChatInput::Nothing;
    }
    let Some(typed) = line.strip_prefix('/') else {
        return ChatInput::Turn(line);
    };
    let (word, rest) = typed
        .split_once(char::is_whitespace)
        .map_or((typed, ""), |(word, rest)| (word, rest.trim()));
    match (word, rest) {
        ("help", "") => ChatInput::Help,
        ("skills", "") => ChatInput::Skills,
        ("compact", "") => ChatInput::Compact,
        ("quit", "") => ChatInput::Quit,
        ("unload", name) if !name.is_empty() => ChatInput::Unload(name),
        ("unload", _) => ChatInput::Wrong(
            Failure::unmet("usage", "/unload needs the name of a skill")
                .hint("/skills shows which are active"),
        ),
        (known, _) if COMMANDS.iter().any(|(name, _)| *name == known) => ChatInput::Wrong(
            Failure::unmet("usage", format!("/{known} takes no arguments"))
                .hint(format!("for a skill with that name, type ${known}")),
        ),
        _ => skill_or_text(line, inventory),
    }
}

/// A line that begins with `/` names a skill, unless it can't be a name at all, such as a path.
fn skill_or_text<'l>(line: &'l str, inventory: &Inventory) -> ChatInput<'l> {
    let first = mentions(line).into_iter().next();
    let Some(name) = first.filter(|first| line.starts_with(first.text)) else {
        return ChatInput::Turn(line);
    };
    let Err(missing) = inventory.find(name.name) else {
        return ChatInput::Turn(line);
    };
    let commands = COMMANDS.iter().map(|(command, _)| *command);
    let near = commands.filter(|command| strsim::jaro_winkler(name.name, command) > 0.82);
    let near = near.map(str::to_owned).chain(missing.near);
    let near: Vec<String> = near.map(|name| format!("/{name}")).collect();
    let shown = one_line(name.text);
    let failure = Failure::unmet(
        "unknown-skill",
        format!("there is no skill or command `{shown}`"),
    );
    ChatInput::Wrong(match near.as_slice() {
        [] => failure.hint("/skills lists the skills; nothing was sent to the model"),
        near => failure.hint(format!(
            "did you mean {}? nothing was sent to the model",
            near.join(" or ")
        )),
    })
}
