//! Standard error, which a progress line shares with notices and questions.
//!
//! **Problem.** A progress line has no end, so text that is written after it continues it. **Decision.** All text for standard error is written through
//! [`talk`], which removes the line first; the line is drawn again when the work has come further. A question keeps the lock until it is answered, so
//! that no progress is drawn into the answer.

use std::{
    io::{self, StderrLock, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use unicode_width::UnicodeWidthChar;

/// Whether the terminal's last line is a progress line. It changes only while standard error is locked.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

const ERASE: &str = "\r\x1b[2K";

/// Standard error at the start of a line.
pub(crate) fn talk() -> StderrLock<'static> {
    let mut stderr = io::stderr().lock();
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        // A closed stderr is the reader's choice.
        stderr.write_all(ERASE.as_bytes()).ok();
    }
    stderr
}

/// Replaces the progress line. It takes one row of the terminal, or it could not be erased.
pub(crate) fn draw_progress(line: &str, columns: Option<usize>) {
    let mut stderr = talk();
    let line = in_one_row(line, columns.unwrap_or(80));
    let drawn = write!(stderr, "{line}").and_then(|()| stderr.flush());
    IS_SHOWN.store(drawn.is_ok(), Ordering::Relaxed);
}

/// Removes the progress line.
pub(crate) fn erase_progress() {
    talk().flush().ok();
}

/// The end of a progress line is what changes, so it is the middle that is left out.
fn in_one_row(line: &str, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    let width = |letter: &char| letter.width().unwrap_or(0);
    if line.chars().map(|letter| width(&letter)).sum::<usize>() <= room {
        return line.to_owned();
    }
    let (front, back) = (room / 2, room.saturating_sub(room / 2 + 1));
    let fitting = |letters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = |letter: &char| {
            used += width(letter);
            used <= room
        };
        letters.take_while(fits).collect::<Vec<char>>()
    };
    let start = fitting(&mut line.chars(), front);
    let end = fitting(&mut line.chars().rev(), back);
    let all = start.into_iter().chain(['…']).chain(end.into_iter().rev());
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_keeps_its_start_and_its_end() {
        let line = "Fetching git+file:///srv/repositories/skills… 3 of 12, 1.2 MB";
        assert_eq!(in_one_row(line, 80), line);
        assert_eq!(in_one_row(line, 32), "Fetching git+fi…3 of 12, 1.2 MB");
        assert_eq!(in_one_row("漢字漢字漢字漢字", 9), "漢字…字");
        for columns in 0..70 {
            let shown = in_one_row(line, columns);
            assert!(shown.chars().count() < columns.max(2), "{columns}: {shown}");
        }
    }
}
