//! How an error is shown, and which exit code it has. Exit codes are chosen here and nowhere else.

use std::{borrow::Cow, process::ExitCode};

use metier_wire::{ErrorBody, ErrorDocument};

use crate::output::{Output, Tone, one_line};

pub(crate) use metier::{Error as Failure, ErrorKind};

/// What shells say of a program that ended by Ctrl-C: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Says it and gives the exit code.
pub(crate) fn report(failure: &Failure, output: &Output) -> ExitCode {
    if output.is_json() {
        // The exit code still tells when stdout is gone.
        output.document(&document(failure)).ok();
    } else {
        let lines = lines(failure, |word, tone| output.paint_talk(word, tone));
        lines.iter().for_each(|line| output.say(line));
    }
    ExitCode::from(match failure.kind() {
        ErrorKind::Unmet => 1,
        ErrorKind::Broken => 2,
        ErrorKind::Interrupted => INTERRUPTED,
    })
}

/// For programs.
pub(crate) fn document(failure: &Failure) -> ErrorDocument<'_> {
    let mut message = failure.message().to_owned();
    for detail in failure.details() {
        message.push_str("; ");
        message.push_str(detail);
    }
    let place = failure.place();
    let error = ErrorBody {
        code: failure.code(),
        message: Cow::Owned(message),
        hint: failure.advice(),
        skill: failure.about_skill(),
        path: place.map(|(path, _)| path),
        line: place.and_then(|(_, line)| line),
    };
    ErrorDocument { error }
}

/// For people and models; `paint` colours the words that begin a line.
pub(crate) fn lines(failure: &Failure, paint: impl Fn(&str, Tone) -> String) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {}",
        paint("error:", Tone::Bad),
        one_line(failure.message())
    )];
    let place = failure.place().map(|(path, line)| match line {
        Some(line) => format!("in {path}:{line}"),
        None => format!("in {path}"),
    });
    for detail in failure.details().iter().cloned().chain(place) {
        lines.push(format!("  {}", one_line(&detail)));
    }
    if let Some(hint) = failure.advice() {
        let word = paint("hint:", Tone::Note);
        lines.push(format!("{word} {}", one_line(hint)));
    }
    lines
}
