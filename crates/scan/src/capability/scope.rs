//! Paths in the form of permissions: `./…` in the working folder, `~/…`, or absolute.

use std::collections::BTreeSet;

use crate::flow::UNKNOWN;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathScope {
    /// A file of the skill itself.
    Own(String),
    /// A file or folder, in the form of permissions.
    Path(String),
    /// An unknown path outside the working folder.
    Anywhere,
    /// Not a file: standard streams, addresses.
    Nothing,
}

/// The target of a path in a program. `folder` if everything below it is included.
///
/// The first part that is only known at run time includes everything from there on: `out/` with a computed name is
/// `./out/**`. An unknown path is the working folder, where skills work; a skill can ask for more.
pub(super) fn scope(path: &str, folder: bool, own: &BTreeSet<String>) -> PathScope {
    let path = path.trim().trim_matches(['"', '\'', '`']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty()
        || path == "-"
        || path.contains("://")
        || path.contains('@')
        || path.len() > 160
        || ["/dev/", "/proc/self"]
            .iter()
            .any(|start| path.starts_with(start))
    {
        return PathScope::Nothing;
    }
    let slashed = path.replace('\\', "/");
    let is_folder = folder || slashed.ends_with('/');
    let mut start = "./";
    let mut rest = slashed.as_str();
    if let Some(inner) = rest.strip_prefix('~') {
        (start, rest) = ("~/", inner);
    } else if rest.starts_with('/') {
        (start, rest) = ("/", rest);
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut above = 0_usize;
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    above += 1;
                }
            }
            part => parts.push(part),
        }
    }
    if let Some(name) = owned(&parts, start, own) {
        return PathScope::Own(name);
    }
    if start == "./" && above > 0 {
        return PathScope::Anywhere;
    }
    // `path/to/x`, `/path/to/x`: placeholders in manuals.
    if parts.first() == Some(&"path") && parts.get(1) == Some(&"to") {
        return PathScope::Path("./**".to_owned());
    }
    let known = parts.iter().take_while(|part| is_known(part)).count();
    let cut = known < parts.len();
    if cut && known == 0 {
        start = "./";
    }
    let mut scope = format!("{start}{}", parts[..known].join("/"));
    if cut || is_folder || known == 0 {
        if !scope.ends_with('/') {
            scope.push('/');
        }
        scope.push_str("**");
    }
    match scope.as_str() {
        // The whole disk is a mistake and never proposed.
        "/**" => PathScope::Anywhere,
        // Text with a space, a quote or a comma is not a path.
        text if text.contains([' ', ',', ';', '(', ')', '=', ':', '\n', '"', '\'', '|']) => {
            PathScope::Nothing
        }
        _ => PathScope::Path(scope),
    }
}

/// Whether a part of a path is literal.
fn is_known(part: &str) -> bool {
    !part.contains([UNKNOWN, '*', '?', '[', ']', '{', '}', '<', '>', '$', '%'])
        && !part.starts_with("__")
}

/// The file of the skill that a path names, relative to its folder or after an unknown prefix.
fn owned(parts: &[&str], start: &str, own: &BTreeSet<String>) -> Option<String> {
    let unknown = parts.iter().take_while(|part| !is_known(part)).count();
    let tail = parts[unknown..].join("/");
    if tail.is_empty() {
        return None;
    }
    if own.contains(&tail) && (start == "./" || unknown > 0) {
        return Some(tail);
    }
    if start == "./" && unknown == 0 {
        return None;
    }
    // `~/.claude/skills/name/scripts/x.py`
    let below = own.iter().find(|name| {
        name.contains('/')
            && tail
                .strip_suffix(name.as_str())
                .is_some_and(|before| before.ends_with('/'))
    });
    below.cloned()
}

/// Whether one scope includes the other.
pub(super) fn covers(wide: &str, narrow: &str) -> bool {
    wide != narrow
        && wide.strip_suffix("**").is_some_and(|folder| {
            narrow.starts_with(folder) || narrow == folder.trim_end_matches('/')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_scopes() {
        let own: BTreeSet<String> = ["scripts/x.py", "assets/page.html", "data.json"]
            .map(str::to_owned)
            .into();
        let check = |path: &str, expected: &str| {
            let shown = match scope(path, false, &own) {
                PathScope::Own(name) => format!("own {name}"),
                PathScope::Path(scope) => scope,
                PathScope::Anywhere => "anywhere".to_owned(),
                PathScope::Nothing => "nothing".to_owned(),
            };
            assert_eq!(shown, expected, "{path:?}");
        };
        check("README.md", "./README.md");
        check("./src/", "./src/**");
        check(".", "./**");
        check("\0", "./**");
        check("out/\0.json", "./out/**");
        check("src/**/*.ts", "./src/**");
        check("/srv/\0/log", "/srv/**");
        check("~/.config/tool/x.toml", "~/.config/tool/x.toml");
        check("~", "~/**");
        check("../secret", "anywhere");
        check("a/../b", "./b");
        check("/", "anywhere");
        check("/dev/null", "nothing");
        check("https://example.com/x", "nothing");
        check("scripts/x.py", "own scripts/x.py");
        check("\0/../assets/page.html", "own assets/page.html");
        check("${SKILL_DIR}/scripts/x.py", "own scripts/x.py");
        check("~/.claude/skills/n/scripts/x.py", "own scripts/x.py");
        check("\0/data.json", "own data.json");
        check("~/data.json", "~/data.json");
        check("<file>", "./**");
        check("path/to/file.csv", "./**");
    }

    #[test]
    fn a_folder_covers_what_is_in_it() {
        assert!(covers("./**", "./a/b"));
        assert!(covers("./a/**", "./a/b"));
        assert!(covers("./a/**", "./a"));
        assert!(!covers("./a/**", "./ab"));
        assert!(!covers("./**", "~/a"));
        assert!(!covers("./a", "./a"));
    }
}
