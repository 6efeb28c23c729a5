//! Text folded for comparison: without case and encoding differences; and word boundaries.
//!
//! A keyword matches where no letter or digit is adjacent to it: `go` is in "go, then stop" and not in "ago"; `c++`,
//! `.net` and `node.js` need no special case. Scripts without spaces have no word boundaries, so there it is enough
//! that the characters occur.

use metier_model::text;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The text in the form for comparison: compatibility forms, case and invisible characters are removed, and all white space
/// between two words becomes one space.
///
/// Case is folded by converting to lower, upper and lower case again, which maps `ẞ`, `ß` and `SS` to `ss` and all
/// sigmas to one. The four letters I of Turkish are one letter here: an author can't know by which rules a keyword
/// will be compared.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return one_blank(text.to_ascii_lowercase().chars());
    }
    let visible = text
        .nfkc()
        .filter(|c| c.is_whitespace() || !(text::is_invisible(*c) || *c == '\u{fe0f}'));
    let folded = visible
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    let mut last = ' ';
    let without_dot = folded.collect::<String>();
    let without_dot = without_dot.nfkc().filter(|c| {
        let dot_on_i = *c == '\u{307}' && last == 'i';
        if !dot_on_i {
            last = *c;
        }
        !dot_on_i
    });
    one_blank(without_dot)
}

fn one_blank(chars: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    let mut blank = false;
    for c in chars {
        if c.is_whitespace() {
            blank = !out.is_empty();
            continue;
        }
        if blank {
            out.push(' ');
            blank = false;
        }
        out.push(c);
    }
    out
}

/// Whether a part of a folded text is a separate word.
pub(crate) fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let part = text.get(start..end).unwrap_or_default();
    let before = text.get(..start).and_then(|text| text.chars().next_back());
    let after = text.get(end..).and_then(|text| text.chars().next());
    !touches(before, part.chars().next()) && !touches(after, part.chars().next_back())
}

/// Whether a character outside belongs to the same word as the one inside.
fn touches(outside: Option<char>, inside: Option<char>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let (Some(outside), Some(inside)) = (outside, inside) else {
        return false;
    };
    is_word(outside) && !runs_on(outside) && !runs_on(inside)
}

/// Characters of scripts without spaces between words, or, as Korean, with endings attached to words.
pub(crate) fn runs_on(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{0f00}'..='\u{0fff}' // Tibetan
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul, letter by letter
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{2e80}'..='\u{312f}' // radicals, kana, Bopomofo
        | '\u{3130}'..='\u{318f}' // Hangul
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' // Hangul, by syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}' // more kana
        | '\u{20000}'..='\u{3ffff}') // more Han
}

/// Whether a folded keyword occurs as a word in a folded text.
pub(crate) fn contains(text: &str, keyword: &str) -> bool {
    if keyword.is_empty() {
        return false;
    }
    let step = keyword.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(keyword)) {
        let start = from + at;
        if stands_alone(text, start, start + keyword.len()) {
            return true;
        }
        from = start + step;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_stand_where_no_letter_or_digit_touches_them() {
        let table: &[(&str, &str, bool)] = &[
            ("go", "Go, then stop", true),
            ("go", "ago", false),
            ("go", "gopher", false),
            ("go", "go2", false),
            ("go", "let's (go)!", true),
            ("c++", "port it to C++", true),
            ("c++", "c++?", true),
            ("c++", "libc++", false),
            ("c", "c++ and c#", true),
            (".net", "a .NET service", true),
            (".net", "the network", false),
            ("k8s", "the k8s cluster", true),
            ("k8s", "k8ssandra", false),
            ("node.js", "Node.js 22", true),
            ("node.js", "nodexjs", false),
            ("c#", "in C#", true),
            ("f#", "f# major", true),
            ("code review", "a code\n   review", true),
            ("code review", "code\u{a0}review", true),
            ("code review", "code reviews", false),
            ("code  review", "code review", true),
            ("code review", "codereview", false),
            ("snake", "a_snake_case", true),
            ("", "anything", false),
            ("strasse", "die Straße", true),
            ("straße", "DIE STRASSE", true),
            ("STRAẞE", "strasse", true),
            ("οδός", "Η ΟΔΌΣ", true),
            ("οδοσ", "Η ΟΔΟΣ", true),
            ("οδοσ", "οδός", false), // an accented letter is a different letter
            ("istanbul", "İSTANBUL", true),
            ("istanbul", "İstanbul'da", true),
            ("DIŞ", "dış kapı", true),
            ("ışık", "IŞIK", true),
            ("café", "cafe\u{301}", true),
            ("cafe", "café", false),
            ("x", "x\u{301}", false),
            ("file", "the ﬁle", true),
            ("docker", "ＤＯＣＫＥＲ", true),
            ("docker", "doc\u{ad}ker", true),
            ("docker", "doc\u{200b}ker", true),
            ("部署", "请部署到集群", true),
            ("部署", "请部属到集群", false),
            ("k8s", "部署k8s集群", true),
            ("デプロイ", "今日デプロイする", true),
            ("デプロイ", "ﾃﾞﾌﾟﾛｲ", true),
            ("쿠버네티스", "쿠버네티스를 배포", true),
            ("รัน", "ช่วยรันสคริปต์", true),
            ("развернуть", "РАЗВЕРНУТЬ всё", true),
            ("развернуть", "развернутый", false),
            ("نشر", "يرجى نشر التطبيق", true),
            ("🚀", "ship it 🚀now", false),
            ("🚀", "ship it 🚀 now", true),
            ("❤️", "with ❤", true),
        ];
        for (keyword, task, expected) in table {
            let found = contains(&fold(task), &fold(keyword));
            assert_eq!(found, *expected, "`{keyword}` in `{task}`");
        }
    }

    #[test]
    fn folding_forgets_the_case_of_every_character_and_folds_once() {
        // Ideographs, syllables and private characters have no case, and there are a million of them.
        let ranges = (0..0x3400).chain(0xa000..0xac00).chain(0xf900..0x1_8000);
        for c in ranges.chain(0x1_b000..0x2_0000).filter_map(char::from_u32) {
            let once = fold(&c.to_string());
            assert_eq!(fold(&once), once, "{c:?} U+{:04x}", u32::from(c));
            assert_eq!(fold(&c.to_uppercase().to_string()), once, "{c:?} up");
            assert_eq!(fold(&c.to_lowercase().to_string()), once, "{c:?} down");
        }
    }

    #[test]
    fn white_space_is_one_blank() {
        assert_eq!(fold("  a \t\r\n b\u{3000}\u{2028}c "), "a b c");
        assert_eq!(fold("\u{3000}Ä\u{2003} "), "ä");
        assert_eq!(fold(""), "");
    }
}
