//! Detects the language of a text without a declared one.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    flow::{EvaluatedLanguage, urls_in},
    prose,
};

/// The language of a piece of code in a document.
pub(crate) fn language_of(code: &prose::CodeSpan) -> Option<EvaluatedLanguage> {
    if code.inline {
        return command_in(&code.text).filter(|at| *at < 3).map(|_| {
            if is_powershell(&code.text) {
                EvaluatedLanguage::PowerShell
            } else {
                EvaluatedLanguage::Shell
            }
        });
    }
    match code.language.as_str() {
        "sh" | "bash" | "shell" | "zsh" | "console" | "terminal" | "shell-session"
        | "shellscript" => Some(EvaluatedLanguage::Shell),
        "python" | "py" | "python3" => Some(EvaluatedLanguage::Python),
        "js" | "javascript" | "ts" | "typescript" | "jsx" | "tsx" | "mjs" | "node" => {
            Some(EvaluatedLanguage::JavaScript)
        }
        "powershell" | "ps1" | "pwsh" | "ps" => Some(EvaluatedLanguage::PowerShell),
        "bat" | "batch" | "cmd" | "dos" => Some(EvaluatedLanguage::Batch),
        "" | "text" | "txt" | "plaintext" => guess(&code.text),
        _ => None,
    }
}

/// Whether a piece of code is in a language that is analysed only by its words.
pub(crate) fn is_unparsed(language: &str) -> bool {
    matches!(
        language,
        "ruby"
            | "rb"
            | "perl"
            | "pl"
            | "php"
            | "go"
            | "golang"
            | "lua"
            | "r"
            | "java"
            | "kotlin"
            | "swift"
            | "csharp"
            | "cs"
            | "c#"
            | "rust"
            | "c"
            | "cpp"
            | "c++"
            | "vb"
            | "vbs"
            | "vbscript"
            | "applescript"
            | "tcl"
            | "elixir"
            | "scala"
            | "groovy"
            | "dart"
    )
}

/// The language of a text without a declared one.
pub(crate) fn guess(text: &str) -> Option<EvaluatedLanguage> {
    let head = text.trim_start();
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    if head.starts_with("#!") {
        let line = head.lines().next().unwrap_or_default();
        return Some(match line {
            line if line.contains("python") => EvaluatedLanguage::Python,
            line if line.contains("node") || line.contains("deno") || line.contains("bun") => {
                EvaluatedLanguage::JavaScript
            }
            _ => EvaluatedLanguage::Shell,
        });
    }
    if is_powershell(text) {
        return Some(EvaluatedLanguage::PowerShell);
    }
    const PYTHON: &[&str] = &[
        "import os",
        "import requests",
        "import subprocess",
        "import base64",
        "import socket",
        "import urllib",
        "exec(",
        "__import__(",
    ];
    const JAVASCRIPT: &[&str] = &[
        "require(",
        "const ",
        "=> {",
        "process.env",
        "eval(",
        "new Function",
    ];
    static FINDERS: LazyLock<[Option<AhoCorasick>; 2]> = LazyLock::new(|| {
        [PYTHON, JAVASCRIPT].map(|signs| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(signs)
                .ok()
        })
    });
    let speaks =
        |finder: &Option<AhoCorasick>| finder.as_ref().is_some_and(|finder| finder.is_match(text));
    if speaks(&FINDERS[0]) && !has(&["const ", "let ", "require("]) {
        return Some(EvaluatedLanguage::Python);
    }
    if speaks(&FINDERS[1]) && has(&["(", ";"]) {
        return Some(EvaluatedLanguage::JavaScript);
    }
    text.lines()
        .any(|line| command_in(line).is_some_and(|at| line[..at].trim().is_empty()))
        .then_some(EvaluatedLanguage::Shell)
}

fn caseless(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .ok()
}

fn is_powershell(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "invoke-expression",
        "invoke-webrequest",
        "new-object net.webclient",
        "iex (",
        "iex(",
        "downloadstring(",
        "start-process ",
        "set-mppreference",
        "| iex",
    ];
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| caseless(SIGNS));
    FINDER.as_ref().is_some_and(|finder| finder.is_match(text))
        && !text.to_ascii_lowercase().contains("powershell ")
}

/// The start of the value that a line assigns to a name: `ExecStart=/bin/sh -c …`, `cmd = …`.
fn after_equals(lower: &str, start: usize, first: usize) -> usize {
    match lower[start..first].rfind('=') {
        Some(equals) if !lower[start..first].contains("--") => {
            let after = &lower[start + equals + 1..first];
            start + equals + 1 + (after.len() - after.trim_start().len())
        }
        _ => start,
    }
}

/// The start of a command in a line, if there is one.
pub(crate) fn command_in(line: &str) -> Option<usize> {
    const PROGRAMS: &[&str] = &[
        "curl ",
        "wget ",
        "bash ",
        "sh -c",
        "/bin/bash",
        "/bin/sh",
        "echo ",
        "powershell",
        "pwsh ",
        "iex ",
        "invoke-",
        "python ",
        "python3 ",
        "node ",
        "npx ",
        "npm ",
        "pip ",
        "pip3 ",
        "eval ",
        "base64 ",
        "printf ",
        "sudo ",
        "nc ",
        "ncat ",
        "crontab ",
        "rm -",
        "chmod ",
        "cat ~",
        "cat /",
        "cat $",
        "env |",
        "printenv",
        "openssl ",
        "certutil ",
        "bitsadmin ",
        "mshta ",
        "osascript ",
        "perl -e",
        "ruby -e",
        "tar ",
        "zip ",
        "scp ",
        "rsync ",
        "git clone",
        "dd if",
        "xattr ",
        "security find",
        "find ~",
        "find /",
        "$ ",
        "(curl",
        "$(curl",
        "export ",
    ];
    let trimmed = line.trim_start();
    let offset = line.len() - trimmed.len();
    let head = trimmed.as_bytes();
    let begins = |program: &str| {
        head.get(..program.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(program.as_bytes()))
    };
    if PROGRAMS.iter().any(|program| begins(program)) {
        return Some(offset);
    }
    // Within a line of data or prose: only unambiguous commands.
    const SURE: &[&str] = &[
        "curl -",
        "curl http",
        "wget -",
        "wget http",
        "bash -c",
        "sh -c",
        "powershell -",
        "| bash",
        "| sh",
        "|bash",
        "|sh",
    ];
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| caseless(SURE));
    let first = FINDER.as_ref()?.find(trimmed)?.start();
    let lower = trimmed.to_ascii_lowercase();
    let start = lower[..first]
        .rfind(['"', '\'', '`', '('])
        .map_or(0, |at| at + 1);
    let start = if lower[start..first].contains(": ") {
        start + lower[start..first].rfind(": ").unwrap_or(0) + 2
    } else {
        start
    };
    let start = after_equals(&lower, start, first);
    line.is_char_boundary(offset + start)
        .then_some(offset + start)
}

/// The URL of text that a program in a language without a parser downloads and runs, and its offset: the words for both are
/// adjacent to it.
pub(crate) fn fetched_and_run(text: &str) -> Option<(usize, &str)> {
    const RUNNERS: &[&str] = &[
        "eval(",
        "eval ",
        "eval\"",
        "instance_eval",
        "class_eval",
        "loadstring(",
        "load(",
        "executeglobal",
        "execute ",
        "assembly.load",
        "create_function(",
        "assert(",
        "include(",
        "include_once(",
        "require_once(",
    ];
    const FETCHERS: &[&str] = &[
        "uri.open(",
        "open-uri",
        "net::http",
        "httparty",
        "file_get_contents(",
        "curl_exec",
        "lwp::",
        "http::tiny",
        "socket.http",
        "http.get(",
        "httpclient",
        "openstream(",
        "xmlhttp",
        "winhttp",
        "webclient",
        "httpwebrequest",
        "get(",
        "curl ",
        "wget ",
        "invoke-webrequest",
    ];
    const BESIDE: usize = 300;
    urls_in(text).find(|(at, _)| {
        let from = text.floor_char_boundary(at.saturating_sub(BESIDE));
        let to = text.ceil_char_boundary((at + BESIDE).min(text.len()));
        let near = text[from..to].to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| near.contains(word));
        has(RUNNERS) && has(FETCHERS)
    })
}

/// A command line without unmatched closing marks at its end.
pub(crate) fn without_closers(command: &str) -> &str {
    let mut rest = command.trim_end();
    while let Some(last) = rest.chars().next_back() {
        let count = |c: char| rest.matches(c).count();
        let closes = match last {
            ',' => true,
            '"' | '\'' | '`' => count(last) % 2 == 1,
            '}' => count('}') > count('{'),
            ']' => count(']') > count('['),
            _ => false,
        };
        if !closes {
            break;
        }
        rest = rest[..rest.len() - last.len_utf8()].trim_end();
    }
    rest
}

/// The part of a command before the quote that closes the one directly before it: `exec("curl … | sh");`.
pub(crate) fn within_quotes<'t>(before: &str, command: &'t str) -> &'t str {
    let Some(quote) = before
        .chars()
        .next_back()
        .filter(|c| matches!(c, '"' | '\'' | '`'))
    else {
        return command;
    };
    let mut escaped = false;
    for (at, c) in command.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return &command[..at],
            _ => {}
        }
    }
    command
}
