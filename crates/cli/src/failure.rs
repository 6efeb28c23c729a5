//! How an error is printed, and how a run ends. Exit codes are chosen here and nowhere else.

use std::process::ExitCode;

use metier_wire::ErrorDocument;

use crate::output::{Output, Tone, one_line};

pub(crate) use metier::{Error as Failure, ErrorKind};

/// How a run of the program ended. Nothing else becomes an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The request was met.
    Ok,
    /// It could not be met, or the answer is a list of problems.
    Unmet,
    /// Wrong usage, or a broken environment.
    Broken,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The code of a script that ran.
    Script(u8),
}

impl Exit {
    /// `Unmet` if it is so.
    pub(crate) fn unmet_if(is_unmet: bool) -> Self {
        match is_unmet {
            true => Self::Unmet,
            false => Self::Ok,
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Unmet => 1,
            Self::Broken => 2,
            // The exit code that shells report for a program that Ctrl-C ended: 128 and the number of the signal.
            Self::Interrupted => 130,
            Self::Script(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Ends the program immediately, from a place that can't return to `main`.
#[expect(
    clippy::exit,
    reason = "the one place besides `main` where the program ends"
)]
pub(crate) fn end(exit: Exit) -> ! {
    std::process::exit(i32::from(exit.code()));
}

/// The code of [`output_closed`].
const OUTPUT_CLOSED: &str = "output-closed";

/// The reader of stdout has closed it. That is its choice: the work stops, and the run has ended well.
pub(crate) fn output_closed() -> Failure {
    Failure::unmet(OUTPUT_CLOSED, "the reader of the output closed it")
}

/// For output of work that would continue: if the reader of stdout has closed it, the program ends.
pub(crate) fn end_if_closed(written: Result<(), Failure>) {
    // Anything else that is wrong with stdout is reported by the last write, which is the result.
    if written.is_err_and(|failure| failure.code() == OUTPUT_CLOSED) {
        end(Exit::Ok);
    }
}

/// Prints it; with how the run ended.
pub(crate) fn report(failure: &Failure, output: &Output) -> Exit {
    if failure.code() == OUTPUT_CLOSED {
        return Exit::Ok;
    }
    if output.is_json() {
        // The exit code is right even when stdout is closed.
        output.document(&ErrorDocument::from(failure)).ok();
    } else {
        let lines = lines(failure, |word, tone| output.paint_talk(word, tone));
        lines.iter().for_each(|line| output.say(line));
    }
    match failure.kind() {
        ErrorKind::Unmet => Exit::Unmet,
        ErrorKind::Broken => Exit::Broken,
        ErrorKind::Interrupted => Exit::Interrupted,
    }
}

/// For people and models; `paint` colours the first word of a line.
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
