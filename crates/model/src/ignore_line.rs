//! One line of an ignore file, and which paths it matches.
//!
//! **Problem.** A compiled pattern remembers what it has seen: patterns such as `*a????????b`, one in each of 200 folders, took 1.7 GB while
//! files were compared with them.
//!
//! **Decision.** Lines are compared as text, and as git does: nothing is compiled or remembered, and braces have no meaning. The work is
//! at most the product of the lengths of the line and the path.

/// A pattern of an ignore file.
#[derive(Debug)]
pub(crate) struct IgnoreLine {
    /// Whether it ends the effect of earlier lines.
    pub(crate) includes: bool,
    only_folders: bool,
    /// Whether it is compared with the whole path, and not only with the name.
    anchored: bool,
    pattern: Box<str>,
    /// The length of the text before the first wildcard.
    literal: usize,
}

impl IgnoreLine {
    /// `None` for an empty line and a comment.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let trimmed = line.trim_end();
        let line = match trimmed.ends_with('\\') && trimmed.len() < line.len() {
            true => line.get(..=trimmed.len())?,
            false => trimmed,
        };
        if line.starts_with('#') {
            return None;
        }
        let (includes, line) = match line.strip_prefix('!') {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (only_folders, line) = match line.strip_suffix('/') {
            Some(line) => (true, line),
            None => (false, line),
        };
        let pattern = line.strip_prefix('/').unwrap_or(line);
        // `**/name` is a name in any folder.
        let name = pattern
            .strip_prefix("**/")
            .filter(|name| !name.contains('/'));
        let (anchored, pattern) = match name {
            Some(name) => (false, name),
            None => (line.contains('/'), pattern),
        };
        let literal = pattern.find(['*', '?', '[', '\\']);
        (!pattern.is_empty()).then(|| Self {
            includes,
            only_folders,
            anchored,
            pattern: pattern.into(),
            literal: literal.unwrap_or(pattern.len()),
        })
    }

    /// Whether it matches a path below the folder of its file.
    pub(crate) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let (text, pattern) = (
            if self.anchored { path } else { name },
            self.pattern.as_bytes(),
        );
        // Most lines end here. A letter at the end of a pattern is itself, also after a backslash.
        let ends = pattern.last().filter(|byte| byte.is_ascii_alphanumeric());
        let ends_alike = ends.is_none_or(|byte| text.last() == Some(byte));
        let (literal, rest) = pattern.split_at(self.literal);
        if !ends_alike || !text.starts_with(literal) {
            return false;
        }
        match self.anchored {
            _ if rest.is_empty() => text.len() == literal.len(),
            true => path_matches(&self.pattern, path),
            false => name_matches(pattern, name),
        }
    }
}

/// Whether all names of a path match. `**` stands for any number of names, but at the end for at least one.
fn path_matches(pattern: &str, path: &[u8]) -> bool {
    let parts: Vec<&[u8]> = pattern.split('/').map(str::as_bytes).collect();
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let last = parts.len() - 1;
    let (mut part, mut name) = (0, 0);
    // After the last `**`, and the names that it covered so far.
    let mut retry = None;
    while let Some(current) = names.get(name) {
        match parts.get(part) {
            Some(&b"**") if part == last => return true,
            Some(&b"**") => {
                part += 1;
                retry = Some((part, name));
            }
            Some(wanted) if name_matches(wanted, current) => {
                part += 1;
                name += 1;
            }
            _ => match &mut retry {
                Some((after, covered)) => {
                    *covered += 1;
                    (part, name) = (*after, *covered);
                }
                None => return false,
            },
        }
    }
    part > last
}

/// Whether a name matches: `*`, `?`, classes, and `\` before a character that is meant.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut retry = None;
    while let Some(byte) = name.get(seen) {
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            retry = Some((at, seen));
            continue;
        }
        let one = pattern.get(at..).and_then(|rest| one_matches(rest, *byte));
        match (one, &mut retry) {
            (Some(length), _) => {
                at += length;
                seen += 1;
            }
            (None, Some((after, covered))) => {
                *covered += 1;
                (at, seen) = (*after, *covered);
            }
            (None, None) => return false,
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

/// The length of the first element of a pattern, if it matches a byte.
fn one_matches(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => class_matches(class, byte).map(|length| length + 1),
        [b'\\', meant, ..] => (*meant == byte).then_some(2),
        [meant, ..] => (*meant == byte).then_some(1),
        [] => None,
    }
}

/// The length of a class after its bracket, if it matches a byte. A class without an end matches nothing.
fn class_matches(class: &[u8], byte: u8) -> Option<usize> {
    let negated = matches!(class, [b'!' | b'^', ..]);
    let start = usize::from(negated);
    let mut at = start;
    let mut found = false;
    let element = |at: usize| match class.get(at..)? {
        [b'\\', meant, ..] => Some((*meant, at + 2)),
        [meant, ..] => Some((*meant, at + 1)),
        [] => None,
    };
    while at == start || class.get(at) != Some(&b']') {
        if let Some((name, length)) = class.get(at..).and_then(named_class) {
            found |= is_of_class(name, byte)?;
            at += length;
            continue;
        }
        let (low, next) = element(at)?;
        at = next;
        let mut high = low;
        if class.get(at) == Some(&b'-') && class.get(at + 1) != Some(&b']') {
            (high, at) = element(at + 1)?;
        }
        found |= (low..=high).contains(&byte);
    }
    (found != negated).then_some(at + 1)
}

/// The name and the length of a class such as `[:alpha:]`.
fn named_class(class: &[u8]) -> Option<(&[u8], usize)> {
    let rest = class.strip_prefix(b"[:")?;
    let end = rest.windows(2).position(|two| two == b":]")?;
    Some((&rest[..end], end + 4))
}

/// `None` for a class that does not exist: its line matches nothing.
fn is_of_class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte == b' ' || byte.is_ascii_graphic(),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_as_in_git() {
        for (line, path, expected) in [
            ("*.log", "a/b.log", true),
            ("*.log", "a.log/b", false),
            ("a b.txt  ", "a b.txt", true),
            ("a\\ ", "a ", true),
            ("/a", "a", true),
            ("/a", "b/a", false),
            ("a/b", "a/b", true),
            ("a/b", "c/a/b", false),
            ("a/*", "a/b", true),
            ("a/*", "a/b/c", false),
            ("**/a", "a", true),
            ("**/a/b", "c/d/a/b", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/c/d/b", true),
            ("a/**/b/*/c", "a/b/b/x/c", true),
            ("a**c", "abc", true),
            ("?", "é", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[]-]", "-", true),
            ("[a", "[a", false),
            ("[z-a]", "b", false),
            ("[[:alpha:]]", "b", true),
            ("[[:alpha:]]", "1", false),
            ("[![:digit:]_]x", "bx", true),
            ("[![:digit:]_]x", "_x", false),
            ("[[:none:]b]", "b", false),
            ("[[:]", ":", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("\\!a", "!a", true),
            ("\\#a", "#a", true),
            ("a\\", "a", false),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
        ] {
            let read = IgnoreLine::read(line).unwrap();
            assert_eq!(
                read.matches(path.as_bytes(), false),
                expected,
                "`{line}` on {path}"
            );
        }
        for line in ["", " ", "#a", "/", "!"] {
            assert!(IgnoreLine::read(line).is_none(), "`{line}`");
        }
        let folder = IgnoreLine::read("!a/").unwrap();
        assert!(folder.includes && folder.matches(b"b/a", true) && !folder.matches(b"a", false));
    }
}
