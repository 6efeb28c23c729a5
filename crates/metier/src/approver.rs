//! The person at the terminal, asked in a way that no skill can talk into.

use std::{
    io::{self, BufRead, IsTerminal, StdinLock, Write},
    sync::Arc,
};

use metier_agent::Cancel;
use metier_policy::{Approver, Changes, Question, Reply, Why, plain};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    termios::QueueSelector,
};

use crate::{output::one_line, talk::Screen};

/// Asks at the terminal, if there is one.
pub(crate) struct Terminal {
    /// Whether somebody is there to answer.
    pub(crate) present: bool,
    /// The session in which it is asked.
    within: Option<(Cancel, Arc<Screen>)>,
}

impl Terminal {
    /// Questions and answers need a terminal on both sides.
    pub(crate) fn new(json: bool) -> Self {
        Self {
            present: !json && io::stdin().is_terminal() && io::stderr().is_terminal(),
            within: None,
        }
    }

    /// The same within a session: nobody else writes while a question stands, and Ctrl-C is a no.
    pub(crate) fn within(self, cancel: Cancel, screen: Arc<Screen>) -> Self {
        Self {
            within: Some((cancel, screen)),
            ..self
        }
    }

    fn put(&self, question: &Question<'_>) -> io::Result<Reply> {
        let mut keyboard = keyboard()?;
        let mut talk = io::stderr().lock();
        talk.write_all(text(question).as_bytes())?;
        talk.flush()?;
        if let Some((cancel, _)) = &self.within
            && !is_answered(&keyboard, cancel)?
        {
            talk.write_all(b"\n")?;
            return Ok(Reply::Deny);
        }
        let mut line = String::new();
        keyboard.read_line(&mut line)?;
        Ok(reply(&line))
    }
}

impl Approver for Terminal {
    fn ask(&self, question: &Question<'_>) -> Reply {
        if !self.present {
            return Reply::Nobody;
        }
        let asked = match &self.within {
            Some((_, screen)) => screen.hold(|| self.put(question)),
            None => self.put(question),
        };
        // Whoever can't see the question hasn't answered it.
        asked.unwrap_or(Reply::Deny)
    }
}

/// The keyboard, for a question that is about to be asked: what was typed or pasted before is no answer to it.
pub(crate) fn keyboard() -> io::Result<StdinLock<'static>> {
    let keyboard = io::stdin().lock();
    rustix::termios::tcflush(&keyboard, QueueSelector::IFlush)?;
    Ok(keyboard)
}

/// Waits for a line; whether there is one, and nobody pressed Ctrl-C instead.
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

/// Anything but a clear yes is a no.
fn reply(line: &str) -> Reply {
    match line.trim() {
        "o" | "once" => Reply::Once,
        "a" | "always" => Reply::Always,
        _ => Reply::Deny,
    }
}

/// How many files of a kind are named in a question.
const MAX_NAMED: usize = 10;

/// The question. Texts of the skill stand on lines of their own, behind our words, with everything that a terminal
/// would obey spelled out.
fn text(question: &Question<'_>) -> String {
    let identity = question.identity;
    let mut out = format!(
        "\nThe skill {} asks for permission.\n  source  {}\n  place   {}\n  digest  {}\n\nIt wants to\n",
        one_line(&identity.skill),
        identity.source.as_str(),
        one_line(question.place),
        identity.digest,
    );
    for asked in question.asked {
        let why = match asked.why {
            Why::Declared => "",
            Why::Inferred => "  (from what it runs: it declares nothing)",
            Why::Configured => "  (from your configuration)",
            Why::Hooks => "  (for its hooks, which also run without it)",
        };
        out.push_str(&format!("  - {}{why}\n", plain(&asked.want)));
    }
    if let Some(changes) = question.changes {
        out.push_str(&format!(
            "\nIt is not what you approved on {}:\n",
            one_line(&changes.since)
        ));
        out.push_str(&difference(changes));
    }
    out.push_str("\n[o]nce, [a]lways for exactly these bytes, or [d]eny? (deny) ");
    out
}

/// What is different, a line each.
pub(crate) fn difference(changes: &Changes) -> String {
    let kinds = [
        ("new permission", &changes.new_permissions),
        (
            "permission not asked for any more",
            &changes.gone_permissions,
        ),
        ("new file", &changes.added),
        ("file gone", &changes.removed),
        ("file changed", &changes.changed),
    ];
    let mut out = String::new();
    for (kind, things) in kinds {
        for thing in things.iter().take(MAX_NAMED) {
            out.push_str(&format!("  {kind}: {}\n", one_line(thing)));
        }
        if things.len() > MAX_NAMED {
            out.push_str(&format!(
                "  {kind}: and {} more\n",
                things.len() - MAX_NAMED
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::{Digest, Source};
    use metier_policy::{Asked, Identity};

    // case 127
    #[test]
    fn only_a_clear_yes_is_a_yes() {
        assert_eq!(reply("o\n"), Reply::Once);
        assert_eq!(reply("always\n"), Reply::Always);
        for line in [
            "",
            "\n",
            "y\n",
            "yes\n",
            "d\n",
            "A\n",
            "once more\n",
            "\u{1b}[A\n",
        ] {
            assert_eq!(reply(line), Reply::Deny, "{line:?}");
        }
    }

    // case 61, 127
    #[test]
    fn a_question_cannot_be_spoofed() {
        let identity = Identity {
            skill: "x\u{1b}[2Jy\nIt wants nothing".into(),
            source: Source::Project,
            digest: Digest([1; 32]),
        };
        let asked = [Asked {
            want: "shell:exec(echo a\\n\u{202e}rm -rf ~)"
                .parse()
                .expect("a permission"),
            why: Why::Inferred,
        }];
        let changes = Changes {
            since: "2026-01-02T03:04:05Z".into(),
            changed: vec!["a\u{7}.sh".into()],
            ..Changes::default()
        };
        let question = Question {
            identity: &identity,
            place: "/p\r/q",
            asked: &asked,
            changes: Some(&changes),
        };
        let text = text(&question);
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']),
            "{text:?}"
        );
        assert!(
            text.contains("  - run: echo a\\n\\u{202e}rm -rf ~  (from"),
            "{text}"
        );
        assert!(
            text.contains("The skill x\\u{1b}[2Jy It wants nothing asks"),
            "{text}"
        );
        assert!(text.ends_with("(deny) "), "{text}");
    }
}
