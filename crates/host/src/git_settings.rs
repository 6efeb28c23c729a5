//! Files of git's settings, read without git: reading them never applies them.

/// One setting. `key` is in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) section: String,
    pub(crate) subsection: Option<String>,
    pub(crate) key: String,
    /// `None` for a key without `=`, which means true.
    pub(crate) value: Option<String>,
}

/// Reads a settings file. Text that can't be parsed is skipped up to the end of its line; included files are not read.
pub(crate) fn read(text: &str) -> Vec<Setting> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n");
    let mut settings = Vec::new();
    let mut within: Option<(String, Option<String>)> = None;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let line = rest.trim_start_matches([' ', '\t']);
        match line.chars().next() {
            Some('[') => {
                let (header, behind) = header(line)
                    .map_or((None, after_line(line)), |(header, behind)| {
                        (Some(header), behind)
                    });
                within = header;
                rest = behind;
            }
            Some(letter) if letter.is_ascii_alphabetic() => {
                let end = line
                    .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
                    .unwrap_or(line.len());
                let (key, behind) = line.split_at(end);
                let (value, behind) = value(behind);
                rest = behind;
                if let (Some((section, subsection)), Some(value)) = (&within, value) {
                    settings.push(Setting {
                        section: section.clone(),
                        subsection: subsection.clone(),
                        key: key.to_ascii_lowercase(),
                        value,
                    });
                }
            }
            _ => rest = after_line(line),
        }
    }
    settings
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

type Header = (String, Option<String>);

/// `[section]` or `[section "subsection"]`, and the rest of the line.
fn header(line: &str) -> Option<(Header, &str)> {
    let inner = line.strip_prefix('[')?;
    let end =
        inner.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-.".contains(letter))?;
    let (name, rest) = inner.split_at(end);
    let name = name.to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix(']') {
        // The old syntax for a subsection.
        let header = match name.split_once('.') {
            Some((section, sub)) => (section.to_owned(), Some(sub.to_owned())),
            None => (name, None),
        };
        return Some((header, rest));
    }
    let quoted = rest.trim_start_matches([' ', '\t']).strip_prefix('"')?;
    let mut subsection = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                let rest = quoted.get(at + 1..)?.strip_prefix(']')?;
                return Some(((name, Some(subsection)), rest));
            }
            '\n' => return None,
            '\\' => subsection.push(letters.next()?.1),
            other => subsection.push(other),
        }
    }
    None
}

/// The value after a key, if it can be read, and the rest of the file. The inner `None` is a key without `=`.
fn value(text: &str) -> (Option<Option<String>>, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    let Some(text) = text.strip_prefix('=') else {
        let bare = text.is_empty() || text.starts_with(['\n', '#', ';']);
        return (bare.then_some(None), after_line(text));
    };
    let mut value = String::new();
    // Trailing spaces count only if they were quoted.
    let mut kept = 0;
    let mut quoted = false;
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' if quoted => return (None, &text[at + 1..]),
            '\n' => {
                value.truncate(kept);
                return (Some(Some(value)), &text[at + 1..]);
            }
            '#' | ';' if !quoted => {
                value.truncate(kept);
                return (Some(Some(value)), after_line(&text[at..]));
            }
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some((_, '\n')) => continue,
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'b')) => value.push('\u{8}'),
                Some((_, same @ ('\\' | '"'))) => value.push(same),
                Some((at, _)) => return (None, after_line(&text[at..])),
                None => return (None, ""),
            },
            ' ' | '\t' if !quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
                continue;
            }
            other => value.push(other),
        }
        kept = value.len();
    }
    value.truncate(kept);
    ((!quoted).then_some(Some(value)), "")
}
