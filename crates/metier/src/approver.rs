//! The person at the terminal, asked in a way that no skill can talk into.

use std::{
    io::{self, BufRead, IsTerminal, StdinLock, Write},
    sync::Arc,
};

use metier_agent::Cancel;
use metier_model::text::with_blanks_shown;
use metier_policy::{Approver, Asked, Changes, Danger, Question, Reply, Why, plain};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    termios::QueueSelector,
};
use sha2::{Digest as _, Sha256};

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
        loop {
            talk.write_all(CHOICES.as_bytes())?;
            talk.flush()?;
            if let Some((cancel, _)) = &self.within
                && !is_answered(&keyboard, cancel)?
            {
                talk.write_all(b"\n")?;
                return Ok(Reply::Deny);
            }
            let mut line = String::new();
            keyboard.read_line(&mut line)?;
            if !matches!(line.trim(), "l" | "list") {
                return Ok(reply(&line));
            }
            talk.write_all(all_wants(question.asked).as_bytes())?;
        }
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
/// How many permissions are in a question, and how much of each, in characters. All of it is a letter away.
const MAX_WANTS: usize = 20;
const MAX_SHOWN: usize = 400;
const SHOWN_END: usize = 100;

const CHOICES: &str = "\n[o]nce, [a]lways for exactly these bytes, or [d]eny? (deny) ";

/// The question. Texts of the skill stand on lines of their own, behind our words, with everything that a terminal
/// would obey spelled out.
fn text(question: &Question<'_>) -> String {
    let identity = question.identity;
    let mut out = format!(
        "\nThe skill {} asks for permission.\n  source  {}\n  place   {}\n  digest  {}\n\nIt wants to\n",
        one_line(&identity.skill),
        identity.source.as_str(),
        with_blanks_shown(question.place),
        identity.digest,
    );
    let wants = by_danger(question.asked);
    for asked in wants.iter().take(MAX_WANTS) {
        out.push_str(&format!("  - {}\n", cut(want(asked))));
    }
    if let [.., last, next] = &wants[..wants.len().min(MAX_WANTS + 1)]
        && wants.len() > MAX_WANTS
    {
        let alike = Danger::of(&last.want) == Danger::of(&next.want);
        let compared = if alike {
            "some of them as dangerous as these"
        } else {
            "less dangerous than these"
        };
        out.push_str(&format!(
            "  and {} more, {compared}: type `l` to list all {}\n",
            wants.len() - MAX_WANTS,
            wants.len()
        ));
    }
    if let Some(changes) = question.changes {
        out.push_str(&format!(
            "\nIt is not what you approved on {}:\n",
            one_line(&changes.since)
        ));
        out.push_str(&difference(changes));
    }
    out
}

/// The worst first, and of what is alike the widest.
fn by_danger(asked: &[Asked]) -> Vec<&Asked> {
    let mut wants: Vec<&Asked> = asked.iter().collect();
    wants.sort_by_key(|asked| Danger::rank(&asked.want));
    wants
}

/// What is asked for, in full.
fn want(asked: &Asked) -> String {
    let why = match asked.why {
        Why::Declared => "",
        Why::Inferred => "  (from what it runs: it declares nothing)",
        Why::Configured => "  (from your configuration)",
        Why::Hooks => "  (for its hooks, which also run without it)",
    };
    format!("{}{why}", plain(&asked.want))
}

/// Everything that is asked for, in full.
fn all_wants(asked: &[Asked]) -> String {
    let lines = by_danger(asked).into_iter().enumerate();
    let lines = lines.map(|(at, asked)| format!("  {}. {}\n", at + 1, want(asked)));
    format!("\nIt wants to\n{}", lines.collect::<String>())
}

/// The beginning and the end of a long text, with how much is missing and a hash of the whole, so that two that differ in the
/// middle differ here too.
fn cut(text: String) -> String {
    let letters = text.chars().count();
    if letters <= MAX_SHOWN {
        return text;
    }
    let start: String = text.chars().take(MAX_SHOWN - SHOWN_END).collect();
    let end: String = text.chars().skip(letters - SHOWN_END).collect();
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{start} […{} more characters, type `l` to see them; sha256 {hash}…] {end}",
        letters - MAX_SHOWN
    )
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
            out.push_str(&format!("  {kind}: {}\n", cut(with_blanks_shown(thing))));
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
        assert!(CHOICES.ends_with("(deny) "), "{text}");
    }

    // case 127
    #[test]
    fn what_is_dangerous_is_not_behind_what_is_harmless() {
        let identity = Identity {
            skill: "x".into(),
            source: Source::User,
            digest: Digest([1; 32]),
        };
        let asked = |text: &str| Asked {
            want: text.parse().expect("a permission"),
            why: Why::Declared,
        };
        let mut wants: Vec<Asked> = (0..398)
            .map(|at| asked(&format!("file:read(./docs/{at}.md)")))
            .collect();
        wants.push(asked("file:read(~/**)"));
        let long = format!("shell:exec(echo {}; rm -r x)", "y".repeat(2_000));
        wants.push(asked(&long));
        let question = Question {
            identity: &identity,
            place: "/p",
            asked: &wants,
            changes: None,
        };
        let shown = text(&question);
        let lines: Vec<&str> = shown
            .lines()
            .filter(|line| line.starts_with("  - "))
            .collect();
        assert_eq!(lines.len(), MAX_WANTS);
        assert_eq!(lines[0], "  - read files: ~/**");
        assert!(lines[1].starts_with("  - run: echo yyy") && lines[1].ends_with("; rm -r x"));
        assert!(lines[1].contains("more characters, type `l` to see them; sha256 "));
        assert!(shown.contains(
            "  and 380 more, some of them as dangerous as these: type `l` to list all 400\n"
        ));
        let all = all_wants(&wants);
        assert_eq!(all.lines().count(), 402);
        assert!(all.contains(&"y".repeat(2_000)));
    }

    // case 127
    #[test]
    fn what_is_alike_is_not_called_less_dangerous() {
        let identity = Identity {
            skill: "x".into(),
            source: Source::User,
            digest: Digest([1; 32]),
        };
        let asked = |text: String| Asked {
            want: text.parse().expect("a permission"),
            why: Why::Declared,
        };
        let shown = |wants: &[Asked]| {
            text(&Question {
                identity: &identity,
                place: "/p",
                asked: wants,
                changes: None,
            })
        };
        let files = (0..MAX_WANTS).map(|at| format!("file:read(~/{at})"));
        let wide = ["file:read(./**)".to_owned(), "file:read(~/**)".to_owned()];
        let mut wants: Vec<Asked> = files.chain(wide).map(asked).collect();
        let question = shown(&wants);
        let first = question.lines().find(|line| line.starts_with("  - "));
        assert_eq!(first, Some("  - read files: ~/**"));
        assert!(
            question.contains("  and 2 more, some of them as dangerous as these"),
            "{question}"
        );
        wants.remove(0);
        let question = shown(&wants);
        assert!(
            question.contains("  and 1 more, less dangerous than these"),
            "{question}"
        );
    }
}
