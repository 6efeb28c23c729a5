//! The text of a `console` block → commands with their expected output.

use std::ops::Range;

use super::document::SpecBlock;
use super::words::{self, CommandWord};

/// One `$` line and its expected result.
#[derive(Debug)]
pub(super) struct TranscriptCommand {
    /// The line in the document.
    pub(super) line: usize,
    /// As written, without the `$ `.
    pub(super) text: String,
    /// Variables for this command alone.
    pub(super) env: Vec<(String, String)>,
    /// The program and its arguments.
    pub(super) words: Vec<CommandWord>,
    /// The file after `<`.
    pub(super) stdin: Option<String>,
    pub(super) expected: Vec<String>,
    pub(super) code: i32,
    /// The range of the expectation and the code in the document; `None` if they can't be rewritten there.
    pub(super) source: Option<Range<usize>>,
}

/// Parses a whole transcript.
pub(super) fn parse(block: &SpecBlock) -> Result<Vec<TranscriptCommand>, String> {
    let mut commands: Vec<TranscriptCommand> = Vec::new();
    let mut offset = block.source.as_ref().map(|source| source.start);
    for (index, raw) in block.text.split_inclusive('\n').enumerate() {
        let end = offset.map(|offset| offset + raw.len());
        let line = raw.trim_end_matches(['\n', '\r']);
        if let Some(text) = line.strip_prefix("$ ") {
            let source = end.map(|end| end..end);
            commands.push(command(text, block.line + 1 + index, source)?);
        } else if let Some(command) = commands.last_mut() {
            command.expected.push(line.to_owned());
            // Blank lines before the next command belong to the layout; a rewrite keeps them.
            if let (Some(source), Some(end), false) = (&mut command.source, end, line.is_empty()) {
                source.end = end;
            }
        } else if !line.trim().is_empty() {
            return Err(format!(
                "a transcript starts with `$ COMMAND`, not with `{line}`"
            ));
        }
        offset = end;
    }
    if commands.is_empty() {
        return Err("the transcript runs nothing".to_owned());
    }
    commands.iter_mut().try_for_each(take_code)?;
    Ok(commands)
}

fn command(
    text: &str,
    line: usize,
    source: Option<Range<usize>>,
) -> Result<TranscriptCommand, String> {
    let mut words = words::split(text)?;
    let is_assignment = |word: &CommandWord| match word.text.split_once('=') {
        Some((name, _)) => words::is_variable(name),
        None => false,
    };
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    let pair = |word: CommandWord| {
        word.text
            .split_once('=')
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
    };
    let env = words.drain(..count).filter_map(pair).collect();
    let bare = |word: &CommandWord, text: &str| !word.quoted && word.text == text;
    if let Some(word) = words.iter().find(|word| {
        ["|", ">", ">>", "&&", ";", "&"]
            .iter()
            .any(|s| bare(word, s))
    }) {
        return Err(format!(
            "`{}` needs a shell, and there is none here",
            word.text
        ));
    }
    let stdin = match words.iter().position(|word| bare(word, "<")) {
        None => None,
        Some(at) if at + 2 == words.len() => words.drain(at..).nth(1).map(|word| word.text),
        Some(_) => return Err("`< FILE` must be at the end".to_owned()),
    };
    if words.is_empty() {
        return Err("a `$` line without a program".to_owned());
    }
    let text = text.to_owned();
    Ok(TranscriptCommand {
        line,
        text,
        env,
        words,
        stdin,
        expected: Vec::new(),
        code: 0,
        source,
    })
}

/// Removes blank lines and a `? N` from the end of the expectation.
fn take_code(command: &mut TranscriptCommand) -> Result<(), String> {
    let expected = &mut command.expected;
    drop_blank_end(expected);
    if let Some(code) = expected.last().and_then(|line| line.strip_prefix("? ")) {
        let wrong = || format!("`? {code}` is not an exit code");
        command.code = code.trim().parse().map_err(|_| wrong())?;
        expected.pop();
        drop_blank_end(expected);
    }
    match expected.iter().find(|line| line.starts_with("? ")) {
        Some(line) => Err(format!(
            "`{line}` is not at the end of the output; write `\\{line}` if it is output"
        )),
        None => Ok(()),
    }
}

pub(super) fn drop_blank_end(lines: &mut Vec<String>) {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
}
