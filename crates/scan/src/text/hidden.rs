//! Characters that a reader cannot see or mistakes for others.
//!
//! Half of the work is to accept legitimate uses. Invisible characters join emoji (👩‍💻), choose their
//! form (❤️), write flags (🏴󠁧󠁢󠁥󠁮󠁧󠁿), shape Persian and Hindi, and set a Latin name in a Hebrew sentence right.
//! So each class defines its legitimate contexts, in which it is never listed. Other characters are
//! merged into runs, because a smuggled sentence is one finding and not two hundred; a run can be interrupted by
//! single visible letters, which is how a payload is spread over an innocent word. Its content is decoded.

use std::ops::Range;

use super::chars::{self, InvisibleClass};
use super::smuggle;

/// The maximum number of listed characters; further ones are counted.
pub(crate) const MOST_LISTED: usize = 256;

/// The kinds of hidden or confusable characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum HiddenKind {
    /// Tag characters outside a flag: ASCII that only a model reads.
    Tag,
    /// Variation selectors that select nothing.
    Selector,
    /// Characters of no width outside emoji and the scripts that need them.
    ZeroWidth,
    /// Overrides of the direction, and embeddings that are not closed on their line or have nothing to embed.
    Bidi,
    /// Soft hyphens, invisible operators, fillers, blank characters.
    Invisible,
    /// An escape sequence that a terminal obeys.
    Escape,
    /// Another control character, or a carriage return that overwrites its line.
    Control,
    /// A word with letters of another alphabet that look Latin.
    Confusable,
}

/// A run of hidden or confusable characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    /// The kind of hidden characters.
    pub kind: HiddenKind,
    /// Where it is, in bytes.
    pub at: Range<usize>,
    /// How many characters are hidden; of a [`HiddenKind::Confusable`] word, how many are foreign.
    pub count: usize,
    /// Its decoded content; for [`HiddenKind::Confusable`], the word that it imitates.
    pub decoded: Option<String>,
}

/// The result of [`hidden`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sightings {
    /// In the order of the text, at most [`MOST_LISTED`].
    pub list: Vec<Hidden>,
    /// The total number.
    pub total: usize,
}

/// Lists the characters of `text` that a reader cannot see or mistakes for others.
#[must_use]
pub(crate) fn hidden(text: &str) -> Sightings {
    let mut search = HiddenSearch::new(text);
    if !search.plain {
        search.run();
    }
    search.found.list.sort_by_key(|hidden| hidden.at.start);
    search.found
}

struct OpenRun {
    kind: HiddenKind,
    at: Range<usize>,
    carried: Vec<char>,
}

struct HiddenSearch<'a> {
    text: &'a str,
    plain: bool,
    found: Sightings,
    open: Option<OpenRun>,
    /// The last visible character, or the one before a legitimate joiner or selector.
    before: Option<char>,
    /// The end of the line for which `rtl` and `balanced` are valid.
    line_end: usize,
    rtl: bool,
    balanced: bool,
    braille: bool,
}

impl<'a> HiddenSearch<'a> {
    fn new(text: &'a str) -> Self {
        let plain = text.chars().all(|c| match u8::try_from(c) {
            Ok(byte) if byte.is_ascii() => is_plain(byte),
            // Only these are listed, or make a word confusable.
            _ => chars::class(c).is_none() && !chars::is_lookalike_script(c),
        });
        let braille = !plain && text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
        let (rtl, balanced) = (false, true);
        Self {
            text,
            plain,
            found: Sightings::default(),
            open: None,
            before: None,
            line_end: 0,
            rtl,
            balanced,
            braille,
        }
    }

    fn run(&mut self) {
        let mut at = if self.text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let mut word_end = 0;
        while let Some(c) = self.text.get(at..).and_then(|rest| rest.chars().next()) {
            let end = at + c.len_utf8();
            if at >= self.line_end {
                self.measure_line(at);
            }
            let plain = self.plain_words(at);
            if let Some(last) = plain.last() {
                self.before = Some(char::from(*last));
                at += plain.len();
                continue;
            }
            if let Some(class) = chars::class(c) {
                at = self.invisible(class, c, at);
                continue;
            }
            if c == '\r' && self.overwrites(end) {
                self.add(HiddenKind::Control, at..end, &[]);
            }
            if at >= word_end && chars::in_word(c) {
                let (word, poses) = chars::word(self.text, at);
                word_end = word.end;
                if poses {
                    self.confusable(word);
                }
            }
            self.before = Some(c);
            at = end;
        }
        self.close();
    }

    /// The plain ASCII at `at` on its line, which hides and imitates nothing: most of nearly every text. A word that continues
    /// with another character is left out, because it has to be seen whole.
    fn plain_words(&self, at: usize) -> &'a [u8] {
        let line = &self.text.as_bytes()[at..self.line_end];
        let Some(end) = line.iter().position(|byte| !is_plain(*byte)) else {
            return line;
        };
        let after_word = |byte: &u8| !chars::in_word(char::from(*byte));
        let last = line[..end].iter().rposition(after_word);
        &line[..last.map_or(0, |last| last + 1)]
    }

    /// A lone carriage return, in a text with other line ends.
    fn overwrites(&self, next: usize) -> bool {
        let after = self.text.as_bytes().get(next);
        !matches!(after, None | Some(b'\n' | b'\r'))
            && self.text.as_bytes().get(self.line_end.wrapping_sub(1)) == Some(&b'\n')
    }

    fn measure_line(&mut self, start: usize) {
        let rest = self.text.get(start..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let line = &rest[..length];
        self.line_end = start + length;
        self.rtl = false;
        self.balanced = true;
        if line.is_ascii() {
            return;
        }
        self.rtl = line.chars().any(chars::is_rtl);
        let mut depth = (0_i32, 0_i32);
        for c in line.chars() {
            match c {
                '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' => depth.0 += 1,
                '\u{202c}' => depth.0 -= 1,
                '\u{2066}'..='\u{2068}' => depth.1 += 1,
                '\u{2069}' => depth.1 -= 1,
                _ => {}
            }
            self.balanced &= depth.0 >= 0 && depth.1 >= 0;
        }
        self.balanced &= depth == (0, 0);
    }

    /// Handles the run of invisible characters at `at`, and returns its end.
    fn invisible(&mut self, class: InvisibleClass, first: char, at: usize) -> usize {
        if let Some(end) = chars::terminal_escape(self.text.as_bytes(), at)
            .filter(|&end| self.text.is_char_boundary(end))
        {
            self.add(HiddenKind::Escape, at..end, &[]);
            return end;
        }
        let rest = self.text.get(at..).unwrap_or_default();
        let mut end = at;
        let mut run = Vec::new();
        for c in rest.chars().take_while(|&c| chars::class(c) == Some(class)) {
            if c == '\u{1b}' && end > at {
                break;
            }
            end += c.len_utf8();
            run.push(c);
        }
        let after = self.text.get(end..).and_then(|rest| rest.chars().next());
        let honest = match class {
            InvisibleClass::Tag => self.before == Some('\u{1f3f4}') && is_flag(&run),
            InvisibleClass::Selector => self.selects(&run),
            InvisibleClass::ZeroWidth => run.len() <= 2 && self.joins(first, &run, after),
            InvisibleClass::Bidi => self.embeds(&run),
            InvisibleClass::Invisible => self.fills(&run, after),
            InvisibleClass::Control => false,
        };
        if !honest {
            self.add(kind(class), at..end, &run);
        }
        end
    }

    fn selects(&self, run: &[char]) -> bool {
        let Some(before) = self.before else {
            return false;
        };
        match run {
            ['\u{fe0e}' | '\u{fe0f}'] => {
                chars::is_symbol(before)
                    || matches!(before, '0'..='9' | '#' | '*')
                    || chars::in_word(before) && !before.is_ascii()
            }
            ['\u{fe0f}', '\u{fe0f}'] => chars::is_symbol(before),
            // Chinese characters have variants by the hundred; so have Mongolian letters and operators.
            [_] => !before.is_ascii(),
            _ => false,
        }
    }

    fn joins(&self, first: char, run: &[char], after: Option<char>) -> bool {
        let before = self.before;
        let joined = |c: Option<char>| c.is_some_and(chars::is_joining);
        match first {
            '\u{200e}' | '\u{200f}' | '\u{61c}' => self.rtl && run.len() == 1,
            '\u{200d}' if run.len() == 1 && before.is_some_and(chars::is_symbol) => {
                after.is_some_and(chars::is_symbol)
            }
            '\u{200c}' | '\u{200d}' => joined(before) || joined(after),
            '\u{200b}' | '\u{2060}' => joined(before) && joined(after),
            _ => false,
        }
    }

    fn embeds(&self, run: &[char]) -> bool {
        let overrides = run.iter().any(|c| matches!(c, '\u{202d}' | '\u{202e}'));
        let turns = run.iter().any(|c| matches!(c, '\u{202b}' | '\u{2067}'));
        self.balanced && !overrides && (self.rtl || !turns)
    }

    fn fills(&self, run: &[char], after: Option<char>) -> bool {
        let jamo = |c: Option<char>| c.is_some_and(|c| ('\u{1100}'..='\u{11ff}').contains(&c));
        if run.iter().all(|&c| c == '\u{2800}') {
            return self.braille;
        }
        run.iter().all(|c| matches!(c, '\u{115f}' | '\u{1160}'))
            && (jamo(self.before) || jamo(after))
    }

    fn confusable(&mut self, word: Range<usize>) {
        let shown = self.text.get(word.clone()).unwrap_or_default();
        let visible = || shown.chars().filter(|&c| chars::class(c).is_none());
        let latin: String = visible()
            .map(|c| chars::ascii_twin(c).unwrap_or(c))
            .collect();
        let count = visible()
            .filter(|&c| chars::ascii_twin(c).is_some())
            .count();
        self.list(|| Hidden {
            kind: HiddenKind::Confusable,
            at: word,
            count,
            decoded: Some(latin),
        });
    }

    /// Adds to the open run if it is of the same kind and at most one visible character away.
    fn add(&mut self, kind: HiddenKind, at: Range<usize>, carried: &[char]) {
        if let Some(open) = &mut self.open
            && open.kind == kind
        {
            let gap = self.text.get(open.at.end..at.start).unwrap_or_default();
            if gap.chars().nth(1).is_none() {
                open.at.end = at.end;
                open.carried.extend(carried);
                return;
            }
        }
        self.close();
        self.open = Some(OpenRun {
            kind,
            at,
            carried: carried.to_vec(),
        });
    }

    fn close(&mut self) {
        let Some(OpenRun { kind, at, carried }) = self.open.take() else {
            return;
        };
        self.list(|| {
            let decoded = match kind {
                HiddenKind::Tag => smuggle::tags(&carried),
                HiddenKind::Selector => smuggle::selectors(&carried),
                HiddenKind::ZeroWidth | HiddenKind::Invisible => smuggle::bits(&carried),
                _ => None,
            };
            Hidden {
                kind,
                at,
                count: carried.len().max(1),
                decoded,
            }
        });
    }

    fn list(&mut self, hidden: impl FnOnce() -> Hidden) {
        self.found.total += 1;
        if self.found.list.len() < MOST_LISTED {
            self.found.list.push(hidden());
        }
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | 0xc)
}

fn kind(class: InvisibleClass) -> HiddenKind {
    match class {
        InvisibleClass::Tag => HiddenKind::Tag,
        InvisibleClass::Selector => HiddenKind::Selector,
        InvisibleClass::ZeroWidth => HiddenKind::ZeroWidth,
        InvisibleClass::Bidi => HiddenKind::Bidi,
        InvisibleClass::Invisible => HiddenKind::Invisible,
        InvisibleClass::Control => HiddenKind::Control,
    }
}

/// England, Scotland, Wales, and whatever region follows: letters and digits, closed by the cancel tag.
fn is_flag(run: &[char]) -> bool {
    let Some((&'\u{e007f}', region)) = run.split_last() else {
        return false;
    };
    let named = |&c: &char| matches!(u32::from(c), 0xe_0030..=0xe_0039 | 0xe_0061..=0xe_007a);
    (3..=6).contains(&region.len()) && region.iter().all(named)
}
