//! The two streams: data on stdout, messages on stderr; colour and width only on a terminal.

use std::{
    borrow::Cow,
    cell::RefCell,
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    os::fd::AsFd,
    path::Path,
    sync::Arc,
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use metier::{Machine, NoticeLevel, Notices, ProgressWatcher, TaskProgress, text::is_hidden};
use metier_wire::{NoticeDocument, ProgressDocument};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{
    cli::{Color, Global},
    event_printer::MarkdownStyle,
    failure::{Failure, output_closed},
    talk::{draw_progress, erase_progress, talk},
    wrap::wrapped,
};

pub(crate) use metier::text::{Tone, count, one_line};

/// How often a progress line and progress events are renewed.
const GLANCE: Duration = Duration::from_millis(200);
const EVENTS: Duration = Duration::from_millis(250);

/// The fewest columns that text is wrapped at.
const NARROWEST: usize = 20;

/// How this run prints.
#[derive(Clone)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    data_colors: bool,
    talk_colors: bool,
    /// Columns of the terminal behind stdout, if there is one.
    width: Option<usize>,
    /// Columns of the terminal behind stderr, if there is one.
    talk_width: Option<usize>,
    /// Folders whose paths people write shorter, each with what they write: the working directory, the project around it,
    /// the home directory.
    folders: Vec<(String, String)>,
    attended: bool,
    /// Whether progress and notices are lines of JSON on stderr.
    events: bool,
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
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose > 0,
            data_colors,
            talk_colors,
            width: columns_of(io::stdout()),
            talk_width: columns_of(io::stderr()),
            folders: Vec::new(),
            attended: true,
            events: global.events,
        }
    }

    /// This output for a run that knows where it is: paths are then shown as the user would type them.
    pub(crate) fn at(mut self, machine: &Machine) -> Self {
        let inside = |folder: &&Path| folder.starts_with(&machine.project);
        let above = machine.work.ancestors().take_while(inside).enumerate();
        let above = above.map(|(levels, folder)| (folder, "../".repeat(levels)));
        let home = machine.home.as_deref().map(|home| (home, "~/".to_owned()));
        let mut add = |folder: &Path, typed: &str| {
            let shown = folder.to_string_lossy().into_owned();
            if shown.len() > 1 && !self.folders.iter().any(|(known, _)| *known == shown) {
                self.folders.push((shown, typed.to_owned()));
            }
        };
        for (folder, typed) in above.chain(home) {
            add(folder, &typed);
            if let Ok(real) = folder.canonicalize() {
                add(&real, &typed);
            }
        }
        self
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
            talk_width: None,
            folders: Vec::new(),
            attended: true,
            events: false,
        }
    }

    /// For a server: stdout belongs to the protocol, and there is no user to watch or to ask.
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

    /// Whether a user can be asked: stdin and stderr are a terminal.
    pub(crate) fn is_attended(&self) -> bool {
        self.attended
    }

    /// Whether progress is shown on stderr.
    pub(crate) fn shows_progress(&self) -> bool {
        self.attended && !self.quiet && !self.json && io::stderr().is_terminal()
    }

    /// How the model's Markdown is shown on stdout; none if that is not a terminal, which gets it unchanged.
    pub(crate) fn markdown(&self) -> Option<MarkdownStyle> {
        let width = self.width?;
        Some(MarkdownStyle {
            width: columns_of(io::stdout()).unwrap_or(width),
            colors: self.data_colors,
        })
    }

    /// The one JSON document of a run.
    pub(crate) fn document(&self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
        let written = serde_json::to_writer(&mut out, document).map_err(io::Error::from);
        let written = written.and_then(|()| out.write_all(b"\n"));
        written
            .and_then(|()| out.flush())
            .map_err(|error| unwritten(&error))
    }

    /// Writes the one JSON document of a run directly to the file behind stdout. The buffer of stdout would search every byte
    /// for the end of a line.
    pub(crate) fn stream(
        &self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let stdout = io::stdout().lock();
        let file = stdout.as_fd().try_clone_to_owned().map(File::from);
        let written = file.and_then(|mut file| write(&mut file));
        written.map_err(|error| unwritten(&error))
    }

    /// A human-readable report on stdout: paths as the user would type them, lines wrapped at the width of the terminal.
    pub(crate) fn report(&self, text: &str) -> Result<(), Failure> {
        self.text(&wrapped(&self.as_typed(text), self.width))
    }

    /// Text for stdout, exactly as it is: a value that a script may use.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// Text of a skill or a file. A program gets it as it is; on a terminal it can't do more than
    /// be read.
    pub(crate) fn content(&self, text: &str) -> Result<(), Failure> {
        if io::stdout().is_terminal() {
            self.text(&inert(text))
        } else {
            self.text(text)
        }
    }

    /// [`Self::content`] for stderr.
    pub(crate) fn content_of_error(&self, text: &str) {
        let shown = if io::stderr().is_terminal() {
            inert(text)
        } else {
            Cow::Borrowed(text)
        };
        self.murmur(&shown);
    }

    /// Bytes of a program that still runs. On a terminal they can't do more than be read; `begun` keeps the first bytes of a character until the
    /// rest arrives.
    pub(crate) fn passed<S: Write + IsTerminal>(
        &self,
        mut to: S,
        begun: &RefCell<Vec<u8>>,
        bytes: &[u8],
    ) -> io::Result<()> {
        if to.is_terminal() {
            let mut all = begun.take();
            all.extend(bytes);
            let whole = match std::str::from_utf8(&all) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => all.len(),
            };
            begun.replace(all.split_off(whole));
            to.write_all(inert(&String::from_utf8_lossy(&all)).as_bytes())?;
        } else {
            to.write_all(bytes)?;
        }
        to.flush()
    }

    /// A page for stdout; in JSON, a document with that page.
    pub(crate) fn page(&self, key: &str, page: &[u8]) -> Result<(), Failure> {
        if !self.json {
            return self.bytes(page);
        }
        let text = String::from_utf8_lossy(page);
        self.document(&serde_json::json!({ key: text }))
    }

    /// Bytes for stdout.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        erase_progress();
        let mut out = io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        written.map_err(|error| unwritten(&error))
    }

    /// A line for stderr.
    pub(crate) fn say(&self, line: &str) {
        let line = self.as_typed(line);
        // A closed stderr is the reader's choice.
        writeln!(talk(), "{}", wrapped(&line, self.talk_width)).ok();
    }

    /// Lines for stderr, wrapped at the width of its terminal.
    pub(crate) fn wrapped_talk(&self, text: &str) -> String {
        wrapped(text, self.talk_width)
    }

    /// Words for stderr that are not a line yet, or take one back.
    pub(crate) fn murmur(&self, words: &str) {
        murmur(words);
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

    /// A path as the user would type it here: relative to the working directory, or below `~`.
    pub(crate) fn path(&self, path: &Path) -> String {
        let shown = one_line(&path.to_string_lossy());
        self.as_typed(&shown)
    }

    /// The text with every path in it as the user would type it here. A path in single quotes stays as it is: a shell would not
    /// read `~` there.
    pub(crate) fn as_typed(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for (folder, typed) in &self.folders {
            if shown.contains(folder.as_str()) {
                shown = shorter(&shown, folder, typed);
            }
        }
        shown
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

/// Writing to stdout failed.
fn unwritten(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return output_closed();
    }
    let message = format!("the output can't be written: {error}");
    Failure::broken("output", message)
}

/// The columns of the terminal behind a stream, if there is one.
fn columns_of(stream: impl AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(width.0).max(NARROWEST))
}

/// The text with paths below a folder shortened.
fn shorter(text: &str, folder: &str, typed: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(folder) {
        shown.push_str(before);
        let begins = begins_word(if before.is_empty() { &shown } else { before });
        match after.strip_prefix('/') {
            Some(below) if begins && below.starts_with(|c: char| !c.is_whitespace()) => {
                // A word that starts with a hyphen would be read as an option.
                let dot = typed.is_empty() && below.starts_with('-');
                shown.push_str(if dot { "./" } else { typed });
                rest = below;
            }
            _ => {
                shown.push_str(folder);
                rest = after;
            }
        }
    }
    shown.push_str(rest);
    shown
}

/// Whether a path could start after this text, colours aside.
fn begins_word(before: &str) -> bool {
    let plain = match before.rfind('\u{1b}') {
        Some(escape)
            if before[escape..].find(|c: char| c.is_ascii_alphabetic())
                == Some(before.len() - escape - 1) =>
        {
            &before[..escape]
        }
        _ => before,
    };
    let last = plain.chars().next_back();
    last.is_none_or(|c| c.is_whitespace() || matches!(c, '`' | '(' | '"'))
}

/// Text that can't do more than be read: what a terminal would obey is spelled out, and what changes the order of letters or hides
/// some, by the definition that applies to text for a model. Each character for itself, so that nothing comes of a sequence that
/// arrives in pieces.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c == '\r' || is_hidden(c);
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

impl Notices for Output {
    fn notice(&self, level: NoticeLevel, line: &str) {
        if self.events {
            event(&NoticeDocument::new(level, line));
        }
        match level {
            NoticeLevel::Alert => self.warn(line),
            NoticeLevel::Warning => {
                let word = self.paint_talk("warning:", Tone::Warn);
                self.note(&format!("{word} {line}"));
            }
            NoticeLevel::Note => self.note(line),
        }
    }

    fn progress(&self, work: &Arc<TaskProgress>) -> Option<Box<dyn Send>> {
        let watcher = match self.events {
            true => progress_events(work),
            false if self.shows_progress() => progress_line(work, self.talk_width),
            false => None,
        };
        Some(Box::new(watcher?))
    }

    fn explains(&self) -> bool {
        self.is_verbose()
    }
}

/// A progress line for work that takes longer than a moment. It disappears at the end.
fn progress_line(work: &Arc<TaskProgress>, columns: Option<usize>) -> Option<ProgressWatcher> {
    ProgressWatcher::start(work, GLANCE, move |work, ended| match ended {
        false => draw_progress(&format!("{} {}", work.label, so_far(work)), columns),
        true => erase_progress(),
    })
}

/// [`progress_line`] as lines of JSON.
fn progress_events(work: &Arc<TaskProgress>) -> Option<ProgressWatcher> {
    ProgressWatcher::start(work, EVENTS, |work, ended| {
        event(&ProgressDocument::new(work, None, ended));
    })
}

/// One event, as a line of JSON on stderr.
fn event(document: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(document) {
        murmur(&format!("{text}\n"));
    }
}

/// How far work is: `3`, `3 of 12`, `1.2 MB`, `3 of 12, 1.2 of 4.0 MB`.
fn so_far(work: &TaskProgress) -> String {
    let far = work.so_far();
    let megabytes = |bytes: u64| {
        let tenths = bytes / 100_000;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    let skills = match (far.total, far.done) {
        (Some(total), done) => Some(format!("{done} of {total}")),
        (None, 0) if far.bytes > 0 => None,
        (None, done) => Some(done.to_string()),
    };
    let bytes = match (far.bytes, far.total_bytes) {
        (0, _) => None,
        (bytes, None) => Some(format!("{} MB", megabytes(bytes))),
        (bytes, Some(total)) => Some(format!("{} of {} MB", megabytes(bytes), megabytes(total))),
    };
    [skills, bytes]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn murmur(words: &str) {
    let mut stderr = talk();
    let written = stderr.write_all(words.as_bytes());
    written.and_then(|()| stderr.flush()).ok();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use metier::WorkKind;

    use super::*;

    // case 232, 59
    #[test]
    fn text_that_is_inert_looks_like_what_it_is() {
        for (text, expected) in [
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
            ("\u{61c}a", "\\u{61c}a"),
            ("a\u{200b}b\u{ad}c\u{feff}", "a\\u{200b}b\\u{ad}c\\u{feff}"),
            ("a\u{e0041}", "a\\u{e0041}"),
            ("a\u{2028}b", "a\\u{2028}b"),
            ("a\rb\u{1b}[2J\u{9b}", "a\\u{d}b\\u{1b}[2J\\u{9b}"),
            ("a\n\tb 👩\u{200d}💻 שלום", "a\n\tb 👩\u{200d}💻 שלום"),
        ] {
            assert_eq!(inert(text), expected);
        }
    }

    #[test]
    fn progress_names_the_skills_and_bytes_that_are_known() {
        let check = |work: TaskProgress, done, bytes, announced, expected: &str| {
            work.done.store(done, Ordering::Relaxed);
            work.receive(bytes);
            work.expect(announced);
            assert_eq!(so_far(&work), expected);
        };
        let work = || TaskProgress::new(WorkKind::Fetch, "Fetching…");
        check(work(), 3, 0, 0, "3");
        check(work().of(12), 3, 0, 0, "3 of 12");
        check(work(), 0, 1_250_000, 0, "1.2 MB");
        check(
            work().of(1),
            0,
            1_250_000,
            4_000_000,
            "0 of 1, 1.2 of 4.0 MB",
        );
        // The announced size of one of two files is not the size of both.
        check(work(), 0, 5_000_000, 4_000_000, "5.0 MB");
    }
}
