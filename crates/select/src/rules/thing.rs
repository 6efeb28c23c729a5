//! Classifies a word by its form: the name of a file, an identifier, a command-line option.

use crate::languages::of_file;

/// A word form that is not a word of a natural language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThingShape {
    /// Text in backticks.
    Code,
    /// A quotation.
    Quote,
    /// A file that programs read.
    Source,
    /// A file that people read.
    Prose,
    /// An identifier: `snake_case`, `camelCase`, `call()`, `a::b`.
    Identifier,
    /// A command-line option such as `--verbose`.
    Option,
    /// A version such as `0.38.31`.
    Version,
}

impl ThingShape {
    /// Whether it refers to code.
    pub(super) fn is_code(self) -> bool {
        !matches!(self, Self::Quote | Self::Prose)
    }

    /// A predicate for a sentence about the word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "is in backticks",
            Self::Quote => "is a quotation",
            Self::Source => "is a source file",
            Self::Prose => "is a text file",
            Self::Identifier => "is written like an identifier",
            Self::Option => "is a command-line option",
            Self::Version => "is a version",
        }
    }
}

/// Markup languages for prose.
const PROSE: &[&str] = &["markdown", "mdx", "restructuredtext", "latex", "typst"];

/// Extensions of files that contain neither code nor prose about it.
const MATTER: &[&str] = &[
    "txt", "pdf", "doc", "docx", "odt", "csv", "tsv", "xls", "xlsx", "ppt", "pptx", "png", "jpg",
    "jpeg", "gif", "svg", "mp3", "mp4", "log", "eml",
];

/// Extensions of configuration files that are not in a programming language.
const SETTINGS: &[&str] = &[
    "conf",
    "cfg",
    "ini",
    "env",
    "properties",
    "lock",
    "service",
    "editorconfig",
    "gitignore",
];

/// The form of a word, if it has a special one.
pub(super) fn shape(text: &str) -> Option<ThingShape> {
    let is_option = text.starts_with("--") && text.chars().nth(2).is_some_and(char::is_alphabetic);
    if is_option {
        return Some(ThingShape::Option);
    }
    if text.contains("://") || text.contains('@') && !text.starts_with('@') {
        return Some(ThingShape::Quote);
    }
    if is_version(text) {
        return Some(ThingShape::Version);
    }
    file(text).or_else(|| is_identifier(text).then_some(ThingShape::Identifier))
}

/// Whether a name is a file name, and its kind.
pub(super) fn file(text: &str) -> Option<ThingShape> {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    if let Some((stem, ending)) = name.rsplit_once('.') {
        let ending = ending.to_ascii_lowercase();
        if SETTINGS.contains(&ending.as_str()) {
            return Some(ThingShape::Source);
        }
        if !stem.is_empty() && MATTER.contains(&ending.as_str()) {
            return Some(ThingShape::Prose);
        }
        // `Next.js` and `Node.js` are names that look like files.
        let capital = stem.starts_with(char::is_uppercase) && ending == "js" && !text.contains('/');
        let short = ending.len() < 2 && !["c", "h", "r"].contains(&ending.as_str());
        if stem.is_empty() || capital || short {
            return None;
        }
    } else if !name.ends_with("file") {
        return None;
    }
    let language = of_file(name)?;
    Some(if PROSE.contains(&language) {
        ThingShape::Prose
    } else {
        ThingShape::Source
    })
}

/// Three numbers, or two after a `v`: fewer can be a price.
fn is_version(text: &str) -> bool {
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let mut parts = numbers.split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let least = if numbers.len() < text.len() { 2 } else { 3 };
    parts.clone().count() >= least && parts.all(is_number)
}

fn is_identifier(text: &str) -> bool {
    let letters =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '(' | ')' | '<' | '>' | '$');
    if text.len() < 3 || !text.chars().all(letters) || !text.contains(char::is_alphabetic) {
        return false;
    }
    let call = text.ends_with("()") || text.contains("::");
    let snake = text.trim_matches('_').contains('_');
    let mut pairs = text.chars().zip(text.chars().skip(1));
    let hump = pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    call || snake || hump && !BRANDS.contains(&text)
}

/// Names that are written like `getUser` but are not code.
const BRANDS: &[&str] = &[
    "GitHub",
    "GitLab",
    "YouTube",
    "LinkedIn",
    "JavaScript",
    "TypeScript",
    "PostgreSQL",
    "MySQL",
    "OpenAI",
    "iPhone",
    "PayPal",
    "WhatsApp",
    "MacBook",
    "WordPress",
    "GraphQL",
    "MongoDB",
    "PowerPoint",
    "OneDrive",
    "DeepMind",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_are_not_words_have_a_shape() {
        let table: &[(&str, Option<ThingShape>)] = &[
            ("src/main.rs", Some(ThingShape::Source)),
            ("nginx.conf", Some(ThingShape::Source)),
            (".env", Some(ThingShape::Source)),
            ("Dockerfile", Some(ThingShape::Source)),
            ("a.c", Some(ThingShape::Source)),
            ("README.md", Some(ThingShape::Prose)),
            ("sales.csv", Some(ThingShape::Prose)),
            ("Next.js", None),
            ("e.g", None),
            ("profile", None),
            ("--verbose", Some(ThingShape::Option)),
            ("--", None),
            ("0.38.31", Some(ThingShape::Version)),
            ("v1.2", Some(ThingShape::Version)),
            ("9.99", None),
            ("getUser", Some(ThingShape::Identifier)),
            ("list_users()", Some(ThingShape::Identifier)),
            ("std::fs", Some(ThingShape::Identifier)),
            ("GitHub", None),
            ("word", None),
            ("https://example.com/a.rs", Some(ThingShape::Quote)),
            ("me@example.com", Some(ThingShape::Quote)),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(shape(text), *expected, "{text}");
        }
    }
}
