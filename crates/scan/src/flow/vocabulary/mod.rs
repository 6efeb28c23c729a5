//! The effects of the functions of Python and JavaScript, as a table.
//!
//! The table contains only the functions that matter for security: an unknown function passes on the sources of its arguments.

mod apply;
mod given;
mod javascript;
mod python;

pub(crate) use apply::IN_SHELL;
pub(super) use apply::{KnownCall, apply};

use super::{EvaluatedLanguage, SourceKind};
use crate::text::codec;

/// The effect of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionRole {
    /// Returns data that is worth protecting.
    Source(SourceKind),
    /// Reads the environment variable that its argument names.
    Variable,
    /// Opens the file that its first argument names.
    Open,
    /// Reads the file that its first argument or its receiver names.
    Read,
    /// Writes its second argument to the file of its first; or its first to its receiver.
    Write,
    /// Writes to its receiver, a handle.
    WriteHandle,
    /// Writes its first argument to the handle that is its second.
    Dump,
    /// Copies one file to another.
    Copy,
    /// Deletes.
    Delete,
    /// Lists many files.
    Walk,
    /// Makes a request; the name or an argument determines the method.
    Request,
    /// Sends its arguments over its receiver, a connection.
    Send,
    /// Connects to a host.
    Connect,
    /// Waits for connections.
    Listen,
    /// Decodes.
    Decode(CodecKind),
    /// Combines or splits strings.
    Fold(Fold),
    /// Runs a command line in a shell.
    Shell,
    /// Runs a program with arguments.
    Spawn,
    /// Runs a string as code of the same language.
    Eval,
    /// Runs the file that its argument names.
    RunFile,
    /// Unpacks its receiver, an archive, or the one that its first argument names.
    Unpack,
    /// Calls the function in its first argument, with its other arguments.
    Apply,
    /// Runs a template as a command line, if it is one: `$` has other meanings too.
    Tagged,
    /// Writes its receiver, or its first argument, to the file of the last one.
    Pipe,
    /// Deserializes objects, and runs code in them.
    Unpickle,
    /// Changes the permissions of a file.
    Permit,
    /// Prints a text.
    Show,
    /// Opens a shell for the connected host, together with the rest of such a program.
    Duplicate,
}

/// Encodings that are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodecKind {
    /// Base 64, both alphabets.
    Base64,
    /// Base 32.
    Base32,
    /// Base 85, both kinds.
    Base85,
    /// Pairs of hex digits.
    Hex,
    /// `%41`.
    Url,
    /// ROT13.
    Rot13,
    /// Named by an argument.
    Named,
    /// Compression.
    Compressed,
    /// Encryption.
    Encrypted,
}

/// How strings are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Path components.
    Path,
    /// The user's home.
    Home,
    /// A list, with the receiver as the separator.
    Join,
    /// Character codes.
    Chars,
    /// Reversed.
    Reverse,
    /// A replacement in a string.
    Replace,
    /// Unchanged.
    Same,
    /// A template and its values.
    Format,
    /// A path that the machine chooses.
    Made,
}

/// Whether a value that this produced is a path.
pub(crate) fn is_path(maker: &str) -> bool {
    maker.starts_with("pathlib.")
}

/// Whether a function is listed by its full name.
pub(super) fn has_row(language: EvaluatedLanguage, callee: &str) -> bool {
    match language {
        EvaluatedLanguage::Python => python::PYTHON.iter().any(|(name, _)| *name == callee),
        EvaluatedLanguage::JavaScript => javascript::JAVASCRIPT
            .iter()
            .any(|(name, _)| *name == callee),
        _ => false,
    }
}

/// The effect of a function, if it is known.
pub(crate) fn role(language: EvaluatedLanguage, callee: &str) -> Option<FunctionRole> {
    use std::{collections::HashMap, sync::LazyLock};
    static PYTHON_ROLES: LazyLock<HashMap<&str, FunctionRole>> =
        LazyLock::new(|| python::PYTHON.iter().copied().collect());
    static JAVASCRIPT_ROLES: LazyLock<HashMap<&str, FunctionRole>> =
        LazyLock::new(|| javascript::JAVASCRIPT.iter().copied().collect());
    let roles = match language {
        EvaluatedLanguage::Python => &*PYTHON_ROLES,
        EvaluatedLanguage::JavaScript => &*JAVASCRIPT_ROLES,
        EvaluatedLanguage::Shell | EvaluatedLanguage::PowerShell | EvaluatedLanguage::Batch => {
            return None;
        }
    };
    roles.get(callee).copied().or_else(|| {
        let dot = callee.rfind('.')?;
        roles.get(&callee[dot..]).copied()
    })
}

/// Names that are sources by themselves.
pub(crate) fn source_of_name(language: EvaluatedLanguage, name: &str) -> Option<SourceKind> {
    match (language, name) {
        (EvaluatedLanguage::Python, "os.environ" | "os.environb")
        | (EvaluatedLanguage::JavaScript, "process.env" | "Bun.env" | "Deno.env") => {
            Some(SourceKind::Environment)
        }
        (EvaluatedLanguage::JavaScript, "document.cookie") => Some(SourceKind::Browser),
        (EvaluatedLanguage::JavaScript, "process.argv")
        | (EvaluatedLanguage::Python, "sys.argv" | "sys.stdin") => Some(SourceKind::Input),
        _ => None,
    }
}

/// Whether a variable has a secret-looking name.
pub(crate) fn is_secret_name(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "PRIVATE",
        "MNEMONIC",
        "SEED",
        "COOKIE",
        "SESSION",
        "AUTH",
    ];
    let upper = name.to_ascii_uppercase();
    WORDS.iter().any(|word| upper.contains(word))
        && !upper.contains("KEYBOARD")
        && !upper.ends_with("_PATH")
        && !upper.contains("AUTHOR")
}

/// In place of the function of a request whose host had to be decoded first.
pub(crate) const HIDDEN_HOST: &str = "hidden host";

/// The decoded form of a known string.
pub(super) fn undo(encoding: CodecKind, text: &str) -> Option<String> {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match encoding {
        CodecKind::Base64 => codec::base64(text).map(lossy),
        CodecKind::Base32 => codec::base32(text).map(lossy),
        CodecKind::Base85 => codec::base85(text).map(lossy),
        CodecKind::Hex => codec::hex(text).map(lossy),
        CodecKind::Url => codec::url(text).map(lossy),
        CodecKind::Rot13 => Some(rot13(text)),
        CodecKind::Named | CodecKind::Compressed | CodecKind::Encrypted => None,
    }
}

/// Rotates each letter by thirteen places.
pub(super) fn rot13(text: &str) -> String {
    let turn = |c: char, base: u8| char::from((c as u8 - base + 13) % 26 + base);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}
