//! Resolves the specifier of an `import` or `require`: a file of the skill, a module of `compat/`, or an error.
//!
//! Nothing else can be imported. A skill has no packages, and remote code would not be scanned.

use std::collections::BTreeMap;

use crate::{absent, shims};

/// Extensions that are tried, in this order.
const ENDINGS: &[&str] = &[".ts", ".mts", ".js", ".mjs", ".cjs", ".cts", ".json"];
/// Why a specifier can't be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnresolvedImport {
    #[error("`{0}` is not in the skill's folder")]
    Missing(String),
    #[error("`{0}` is outside the skill's folder: only files of the skill can be imported")]
    Outside(String),
    #[error(
        "`{0}` is a remote module: only files of the skill can be imported; copy it into the skill's folder"
    )]
    Remote(String),
    #[error("the Node module `{name}` is not available: {why}")]
    Refused { name: String, why: &'static str },
    #[error(
        "there is no package `{0}`: skills have no node_modules; copy what it needs into the skill's folder"
    )]
    Package(String),
}

/// The name of the module that a specifier means in a file.
pub(crate) fn resolve(
    files: &BTreeMap<String, String>,
    directory: &str,
    base: &str,
    word: &str,
) -> Result<String, UnresolvedImport> {
    // Internals of our modules. A file that imports one can send requests to the host, as it can anyway.
    if word == "metier:native" {
        return Ok(word.to_owned());
    }
    let plain = word.strip_prefix("node:").unwrap_or(word);
    if let Some(shim) = shims::find(plain) {
        return Ok(shim.name.to_owned());
    }
    if let Some(module) = absent::meant(word) {
        return Ok(format!("node:{module}"));
    }
    let absolute = word.strip_prefix("file://").unwrap_or(word);
    let wanted = if matches!(word, "." | "..") || word.starts_with("./") || word.starts_with("../")
    {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        join(folder, word)
    } else if absolute.starts_with('/') {
        let inside = absolute.strip_prefix(directory.trim_end_matches('/'));
        let inside = inside.filter(|rest| rest.starts_with('/'));
        inside.and_then(|rest| join("", rest))
    } else if word.starts_with("node:") {
        let why = "metier has no replacement for it";
        let name = plain.to_owned();
        return Err(UnresolvedImport::Refused { name, why });
    } else if word.contains(':') {
        return Err(UnresolvedImport::Remote(word.to_owned()));
    } else {
        return Err(UnresolvedImport::Package(word.to_owned()));
    };
    let wanted = wanted.ok_or_else(|| UnresolvedImport::Outside(word.to_owned()))?;
    find(files, &wanted).ok_or(UnresolvedImport::Missing(wanted))
}

/// A path below the skill's folder; `None` if it is outside.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn find(files: &BTreeMap<String, String>, wanted: &str) -> Option<String> {
    let known = |path: String| files.contains_key(&path).then_some(path);
    let with_ending = |stem: &str| {
        let mut paths = ENDINGS.iter().map(|ending| format!("{stem}{ending}"));
        paths.find_map(known)
    };
    // In TypeScript `./x.js` can mean `x.ts`.
    let meant = || {
        let (stem, ending) = wanted.rsplit_once('.')?;
        let source = match ending {
            "js" => "ts",
            "mjs" => "mts",
            "cjs" => "cts",
            _ => return None,
        };
        known(format!("{stem}.{source}"))
    };
    let index = match wanted {
        "" => "index".to_owned(),
        folder => format!("{folder}/index"),
    };
    let found = known(wanted.to_owned())
        .or_else(|| with_ending(wanted))
        .or_else(meant);
    let found = found.or_else(|| with_ending(&index))?;
    // A copy of the SDK uses pipes; the engine replaces it.
    let is_guest = found.rsplit('/').next() == Some("metier.ts")
        && files
            .get(&found)
            .is_some_and(|text| text.contains("export class Skill"));
    Some(if is_guest { "metier".to_owned() } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, word: &str, expected: Result<&str, UnresolvedImport>) {
        let names = [
            "a.ts",
            "lib/b.js",
            "lib/index.ts",
            "lib/deep/c.mjs",
            "data.json",
            "sdk/metier.ts",
        ];
        let mut files: BTreeMap<String, String> = names
            .iter()
            .map(|name| ((*name).to_owned(), String::new()))
            .collect();
        files.insert(
            "sdk/metier.ts".to_owned(),
            "export class Skill {}".to_owned(),
        );
        let found = resolve(&files, "/skills/x", base, word);
        assert_eq!(found, expected.map(str::to_owned), "{word} in {base}");
    }

    #[test]
    fn a_word_means_a_file_of_the_skill_or_a_module_of_ours() {
        for (base, word, expected) in [
            ("a.ts", "./lib/b.js", "lib/b.js"),
            ("a.ts", "./lib/b", "lib/b.js"),
            ("a.ts", "./lib", "lib/index.ts"),
            ("lib/b.js", "../a.js", "a.ts"),
            ("lib/deep/c.mjs", "..", "lib/index.ts"),
            ("lib/b.js", "./../data.json", "data.json"),
            ("a.ts", "/skills/x/lib/b.js", "lib/b.js"),
            ("a.ts", "file:///skills/x/lib/b.js", "lib/b.js"),
            ("a.ts", "fs", "node:fs"),
            ("a.ts", "node:fs/promises", "node:fs/promises"),
            ("a.ts", "child_process", "node:child_process"),
            ("a.ts", "node:https", "node:https"),
            ("a.ts", "openclaw/hooks", "openclaw/hooks"),
            ("a.ts", "openclaw/plugin-sdk/core", "openclaw/hooks"),
            ("a.ts", "clawdbot/hooks", "openclaw/hooks"),
            ("a.ts", "openclaw", "openclaw/hooks"),
            ("a.ts", "./sdk/metier.ts", "metier"),
        ] {
            check(base, word, Ok(expected));
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let owned = str::to_owned;
        check(
            "a.ts",
            "./nothing",
            Err(UnresolvedImport::Missing(owned("nothing"))),
        );
        for word in [
            "../a.ts",
            "./lib/../../x",
            "/etc/passwd",
            "file:///etc/passwd",
            "/skills/xy/a.ts",
        ] {
            check("a.ts", word, Err(UnresolvedImport::Outside(owned(word))));
        }
        for word in [
            "https://example.com/x.ts",
            "npm:chalk",
            "jsr:@std/fs",
            "data:text/javascript,1",
        ] {
            check("a.ts", word, Err(UnresolvedImport::Remote(owned(word))));
        }
        check(
            "a.ts",
            "lodash",
            Err(UnresolvedImport::Package(owned("lodash"))),
        );
        let found = resolve(&BTreeMap::new(), "/x", "a.ts", "node:nonsense");
        assert!(
            matches!(&found, Err(UnresolvedImport::Refused { name, .. }) if name == "nonsense"),
            "{found:?}"
        );
    }
}
