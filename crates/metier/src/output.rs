//! The two streams: data on stdout, talk on stderr; colour and width only on a terminal.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    os::fd::AsFd,
};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cli::{Color, Global};

/// What a colour stands for; the words beside it always say the same.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Warn,
    Note,
    Strong,
    Faint,
}

/// How this run talks.
#[derive(Clone)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    data_colors: bool,
    talk_colors: bool,
    width: Option<usize>,
    attended: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let colors = |choice: anstream::ColorChoice| choice != anstream::ColorChoice::Never;
        let (data_colors, talk_colors) = match global.color {
            Color::Always => (true, true),
            Color::Never => (false, false),
            Color::Auto => (
                colors(anstream::AutoStream::choice(&io::stdout())),
                colors(anstream::AutoStream::choice(&io::stderr())),
            ),
        };
        let width = if io::stdout().is_terminal() {
            terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
        } else {
            None
        };
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose > 0,
            data_colors,
            talk_colors,
            width,
            attended: true,
        }
    }

    /// Nothing but a JSON document.
    pub(crate) fn json() -> Self {
        Self {
            json: true,
            quiet: true,
            verbose: false,
            data_colors: false,
            talk_colors: false,
            width: None,
            attended: true,
        }
    }

    /// For a program that is served: stdout is not ours, nobody watches, and nobody can be asked.
    pub(crate) fn unattended(global: &Global) -> Self {
        Self {
            json: false,
            quiet: global.quiet,
            verbose: global.verbose > 0,
            attended: false,
            ..Self::json()
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether stdin and stderr belong to somebody who can be asked.
    pub(crate) fn is_attended(&self) -> bool {
        self.attended
    }

    /// Whether somebody watches stderr and wants to see progress.
    pub(crate) fn shows_progress(&self) -> bool {
        self.attended && !self.quiet && !self.json && io::stderr().is_terminal()
    }

    /// The one JSON document of a run.
    pub(crate) fn document(&self, document: &impl Serialize) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
        serde_json::to_writer(&mut out, document)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// The one JSON document of a run, when it writes itself, in large pieces: straight to the file
    /// behind stdout, which would look through every byte for the end of a line.
    pub(crate) fn stream(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let stdout = io::stdout().lock();
        write(&mut File::from(stdout.as_fd().try_clone_to_owned()?))
    }

    /// Text for stdout.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Text that somebody else wrote. A program gets it as it is; on a terminal it can't do more than
    /// be read.
    pub(crate) fn content(&self, text: &str) -> io::Result<()> {
        if io::stdout().is_terminal() {
            self.text(&inert(text))
        } else {
            self.text(text)
        }
    }

    /// A page for stdout; in JSON, a document with that page.
    pub(crate) fn page(&self, key: &str, page: &[u8]) -> io::Result<()> {
        if !self.json {
            return self.bytes(page);
        }
        let text = String::from_utf8_lossy(page);
        self.document(&serde_json::json!({ key: text }))
    }

    /// Bytes for stdout.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// A line for stderr.
    #[expect(clippy::print_stderr, reason = "this is the one place that talks")]
    pub(crate) fn say(&self, line: &str) {
        eprintln!("{line}");
    }

    /// Words for stderr that are not a line yet, or take one back.
    #[expect(clippy::print_stderr, reason = "this is the one place that talks")]
    pub(crate) fn murmur(&self, words: &str) {
        eprint!("{words}");
    }

    /// A line for stderr that a quiet or JSON run leaves out.
    pub(crate) fn note(&self, line: &str) {
        if !self.quiet && !self.json {
            self.say(line);
        }
    }

    /// A warning for stderr, which a quiet run shows too.
    pub(crate) fn warn(&self, line: &str) {
        if !self.json {
            let word = self.paint_talk("warning:", Tone::Warn);
            self.say(&format!("{word} {line}"));
        }
    }

    pub(crate) fn paint(&self, text: &str, tone: Tone) -> String {
        paint(text, tone, self.data_colors)
    }

    pub(crate) fn paint_talk(&self, text: &str, tone: Tone) -> String {
        paint(text, tone, self.talk_colors)
    }

    /// The text on one line; on a terminal cut to what is left of its width.
    pub(crate) fn fitted(&self, text: &str, used: usize) -> String {
        let flat = one_line(text);
        let Some(width) = self.width else { return flat };
        let room = width.saturating_sub(used).max(16);
        if flat.width() <= room {
            return flat;
        }
        let mut cut = String::new();
        let mut taken = 1;
        for c in flat.chars() {
            taken += c.width().unwrap_or(0);
            if taken > room {
                break;
            }
            cut.push(c);
        }
        format!("{}…", cut.trim_end())
    }
}

/// Text that can't do more than be read: what a terminal would obey is spelled out. Each character for itself, so that nothing comes of
/// a sequence that arrives in pieces.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Visible characters on one line: no text of a skill can move the cursor or hide itself.
pub(crate) fn one_line(text: &str) -> String {
    let visible = metier_model::text::visible(text);
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn paint(text: &str, tone: Tone, colors: bool) -> String {
    if !colors {
        return text.to_owned();
    }
    let style = match tone {
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Warn => AnsiColor::Yellow.on_default(),
        Tone::Note => AnsiColor::Cyan.on_default(),
        Tone::Strong => Style::new().bold(),
        Tone::Faint => Style::new().dimmed(),
    };
    format!("{style}{text}{style:#}")
}

/// `1 skill`, `2 skills`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
