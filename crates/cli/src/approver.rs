//! Requests for permission at the terminal, in a form that no skill can influence.

use std::{
    io::{self, BufRead, IsTerminal, StdinLock, Write},
    sync::Arc,
};

use metier::{ApprovalQuestion, ApprovalSubject, Approver, Reply, agent::Cancel, approval_text};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    termios::QueueSelector,
};

use crate::{
    event_printer::TerminalScreen,
    failure::Failure,
    output::{Output, Tone, one_line},
    talk::talk,
};

/// How often a question is repeated after an answer that is not offered.
const MAX_TRIES: usize = 3;

/// Asks at the terminal, if there is one.
pub(crate) struct Terminal {
    output: Output,
    /// Whether there is a terminal to ask on.
    pub(crate) present: bool,
    /// The conversation in which it is asked.
    within: Option<Within>,
}

/// The conversation in which a question is asked.
struct Within {
    cancel: Cancel,
    screen: Arc<TerminalScreen>,
}

impl Terminal {
    /// Questions and answers need a terminal on both sides.
    pub(crate) fn new(output: &Output) -> Self {
        Self {
            output: output.clone(),
            present: !output.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal(),
            within: None,
        }
    }

    /// This terminal within a conversation: nothing else is written while a question is open, and Ctrl-C is a no.
    pub(crate) fn within(self, cancel: Cancel, screen: Arc<TerminalScreen>) -> Self {
        Self {
            within: Some(Within { cancel, screen }),
            ..self
        }
    }

    fn put(&self, question: &ApprovalQuestion) -> io::Result<Reply> {
        let mut keyboard = keyboard()?;
        let mut talk = talk();
        let by_subagent = self
            .within
            .as_ref()
            .is_some_and(|within| within.screen.is_subagent(&question.session));
        let paint = |text: &str, tone: Tone| self.output.paint_talk(text, tone);
        let text = approval_text::question(question, by_subagent, &paint);
        talk.write_all(self.output.wrapped_talk(&text).as_bytes())?;
        let mut tries = 0;
        loop {
            let choices = approval_text::choices(question);
            talk.write_all(self.output.wrapped_talk(&choices).as_bytes())?;
            talk.flush()?;
            if let Some(within) = &self.within
                && !is_answered(&keyboard, &within.cancel)?
            {
                talk.write_all(b"\n")?;
                return Ok(Reply::Deny);
            }
            let mut line = String::new();
            // The end of the input is not an answer either.
            if keyboard.read_line(&mut line)? == 0 {
                return Ok(Reply::Deny);
            }
            match (read_answer(&line), &question.subject) {
                (LineAnswer::Reply(reply), _)
                    if reply == Reply::Deny || question.taken(reply).is_some() =>
                {
                    return Ok(reply);
                }
                (LineAnswer::List, ApprovalSubject::Permissions { asked, .. }) => {
                    talk.write_all(approval_text::all_wants(asked).as_bytes())?;
                }
                _ if tries + 1 == MAX_TRIES => {
                    talk.write_all(b"\nnot a valid answer: treated as no\n")?;
                    return Ok(Reply::Deny);
                }
                _ => {
                    tries += 1;
                    // Text that was typed before the question is shown again does not answer it.
                    rustix::termios::tcflush(&keyboard, QueueSelector::IFlush)?;
                    talk.write_all(b"\nchoose one of these answers:\n")?;
                }
            }
        }
    }
}

/// A parsed answer.
#[derive(Debug, PartialEq, Eq)]
enum LineAnswer {
    Reply(Reply),
    /// Show everything that is asked for.
    List,
    Unknown,
}

/// Reads an answer: its letter or its word, in upper or lower case. An empty line means no.
fn read_answer(line: &str) -> LineAnswer {
    LineAnswer::Reply(match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" | "o" | "once" => Reply::Once,
        "s" | "session" => Reply::Session,
        "a" | "always" => Reply::Always,
        "" | "n" | "no" | "d" | "deny" => Reply::Deny,
        "l" | "list" => return LineAnswer::List,
        _ => return LineAnswer::Unknown,
    })
}

impl Approver for Terminal {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        if !self.present {
            return Reply::Unavailable;
        }
        let asked = match &self.within {
            Some(within) => within.screen.hold(|| self.put(question)),
            None => self.put(question),
        };
        // A question that could not be shown was not answered.
        asked.unwrap_or(Reply::Deny)
    }
}

/// The keyboard, for a question that is about to be asked: what was typed or pasted before does not answer it.
fn keyboard() -> io::Result<StdinLock<'static>> {
    let keyboard = io::stdin().lock();
    rustix::termios::tcflush(&keyboard, QueueSelector::IFlush)?;
    Ok(keyboard)
}

/// Asks a question that is answered with yes or no. Anything but a yes is a no.
pub(crate) fn confirmed(question: &str) -> io::Result<bool> {
    let mut keyboard = keyboard()?;
    let mut talk = talk();
    write!(talk, "{question} [y/N] ")?;
    talk.flush()?;
    let mut line = String::new();
    keyboard.read_line(&mut line)?;
    Ok(matches!(
        line.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

/// Asks a question that is answered with one line, and returns it in lower case without spaces around it. Ctrl-C is no answer.
pub(crate) fn asked_line(question: &str, cancel: &Cancel) -> Result<String, Failure> {
    let mut keyboard = keyboard()?;
    let mut talk = talk();
    write!(talk, "{question}")?;
    talk.flush()?;
    if !is_answered(&keyboard, cancel)? {
        talk.write_all(b"\n")?;
        return Err(Failure::interrupted("stopped; nothing was changed"));
    }
    let mut line = String::new();
    keyboard.read_line(&mut line)?;
    Ok(line.trim().to_lowercase())
}

/// Asks until the answer is one of the words of a choice. There is no answer after the third line that is none of them.
pub(crate) fn asked_choice<T: Copy>(
    question: &str,
    choices: &[(&[&str], T)],
    cancel: &Cancel,
) -> Result<Option<T>, Failure> {
    for _ in 0..MAX_TRIES {
        let line = asked_line(question, cancel)?;
        let chosen = choices.iter().find(|(words, _)| words.contains(&&*line));
        if let Some((_, chosen)) = chosen {
            return Ok(Some(*chosen));
        }
        writeln!(talk(), "`{}` is not a valid answer", one_line(&line))?;
    }
    Ok(None)
}

/// Asks a question that ends with `[y/N]`.
pub(crate) fn asked_yes(question: &str, cancel: &Cancel) -> Result<bool, Failure> {
    let choices: &[(&[&str], bool)] = &[(&["y", "yes"], true), (&["", "n", "no"], false)];
    Ok(asked_choice(question, choices, cancel)?.unwrap_or(false))
}

/// Waits for a line; returns false if the user pressed Ctrl-C instead.
fn is_answered(keyboard: &StdinLock<'_>, cancel: &Cancel) -> io::Result<bool> {
    let glance = Timespec {
        tv_sec: 0,
        tv_nsec: Cancel::GLANCE.subsec_nanos().into(),
    };
    while !cancel.is_cancelled() {
        let mut polled = [PollFd::new(keyboard, PollFlags::IN)];
        match poll(&mut polled, Some(&glance)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 127
    #[test]
    fn only_listed_words_are_answers() {
        for (lines, expected) in [
            (
                ["y", "yes", "Y", "YES", "o", " once "].as_slice(),
                Reply::Once,
            ),
            (&["s", "Session"], Reply::Session),
            (&["a", "A", "always"], Reply::Always),
            (&["", "n", "No", "d", "deny"], Reply::Deny),
        ] {
            for line in lines {
                assert_eq!(
                    read_answer(&format!("{line}\n")),
                    LineAnswer::Reply(expected),
                    "{line:?}"
                );
            }
        }
        assert_eq!(read_answer("l\n"), LineAnswer::List);
        for line in ["ok", "once more", "always!", "\u{1b}[A", "yy", "ye s"] {
            assert_eq!(read_answer(line), LineAnswer::Unknown, "{line:?}");
        }
    }
}
