//! `deny.toml` compared with cargo's metadata about every package: licences, bans and sources, without a network.
//!
//! `cargo deny` is the tool for this file, but not every machine has it. This test reads the same file and the same metadata. A key of
//! `deny.toml` that it does not know is an error, so the two can't diverge unnoticed. Checks that need a network, for yanked versions and
//! new advisories, are left to `cargo deny check advisories`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::{Result, workspace};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Everything that `deny.toml` can contain: table, key, and the one value that is understood, if only one is.
const KEYS: &[(&str, &str, Option<&str>)] = &[
    ("graph", "all-features", Some("true")),
    ("advisories", "yanked", Some("deny")),
    ("advisories", "ignore", None),
    ("licenses", "confidence-threshold", None),
    ("licenses", "unused-allowed-license", Some("allow")),
    ("licenses", "allow", None),
    ("bans", "multiple-versions", Some("warn")),
    ("bans", "wildcards", Some("deny")),
    ("bans", "allow-wildcard-paths", Some("true")),
    ("sources", "unknown-registry", Some("deny")),
    ("sources", "unknown-git", Some("deny")),
];

/// The policy of `deny.toml`.
#[derive(Debug)]
struct DependencyPolicy {
    licences: BTreeSet<String>,
    /// (advisory, reason) of each one that is ignored.
    ignored: Vec<(String, String)>,
}

fn read_policy(text: &str) -> Result<DependencyPolicy> {
    let document: DocumentMut = text.parse()?;
    for (table, item) in document.iter() {
        let entries = item
            .as_table_like()
            .ok_or(format!("`{table}` is no table"))?;
        check_keys(table, entries)?;
    }
    for (table, key, _) in KEYS.iter().filter(|(_, _, value)| value.is_some()) {
        if document.get(table).and_then(|item| item.get(key)).is_none() {
            return Err(format!("deny.toml does not set `{table}.{key}`").into());
        }
    }
    let list = |table: &str, key: &str| {
        let item = document.get(table).and_then(|item| item.get(key));
        item.and_then(Item::as_array).cloned().unwrap_or_default()
    };
    let allowed = list("licenses", "allow");
    let mut ignored = Vec::new();
    for entry in &list("advisories", "ignore") {
        let field = |name: &str| {
            let table = entry.as_inline_table()?;
            Some(table.get(name)?.as_str()?.to_owned())
        };
        let (Some(id), Some(reason)) = (field("id"), field("reason")) else {
            return Err(
                format!("`advisories.ignore`: {entry} needs an `id` and a `reason`").into(),
            );
        };
        ignored.push((id, reason));
    }
    Ok(DependencyPolicy {
        licences: allowed
            .iter()
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect(),
        ignored,
    })
}

fn check_keys(table: &str, entries: &dyn TableLike) -> Result<()> {
    for (key, item) in entries.iter() {
        let Some((_, _, expected)) = KEYS.iter().find(|(t, k, _)| *t == table && *k == key) else {
            return Err(format!(
                "this test does not know `{table}.{key}`; teach it in xtask/src/deny.rs"
            )
            .into());
        };
        let shown = item
            .as_str()
            .map(str::to_owned)
            .or(item.as_bool().map(|b| b.to_string()));
        if expected.is_some() && shown.as_deref() != *expected {
            return Err(format!(
                "`{table}.{key}` is expected to be `{}`",
                expected.unwrap_or_default()
            )
            .into());
        }
    }
    Ok(())
}

/// Everything in the metadata that the policy does not accept.
fn problems(metadata: &Value, policy: &DependencyPolicy, root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    for package in packages {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let shown = format!("{} {}", text("name"), text("version"));
        problems.extend(licence(
            &shown,
            package["license"].as_str(),
            &policy.licences,
        ));
        problems.extend(source(
            &shown,
            package["source"].as_str(),
            Path::new(text("manifest_path")),
            root,
        ));
        problems.extend(wildcards(&shown, package));
    }
    problems
}

/// Advisories that are ignored for packages which are no longer locked. A reason begins with the package, so that the entry is removed with
/// it.
fn outlived(policy: &DependencyPolicy, lock: &str) -> Vec<String> {
    let locked: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    let package = |reason: &str| reason.split(':').next().unwrap_or_default().to_owned();
    let ignored = policy
        .ignored
        .iter()
        .map(|(id, reason)| (id, package(reason)));
    ignored
        .filter(|(_, name)| !locked.contains(name.as_str()))
        .map(|(id, name)| format!("deny.toml ignores {id} for `{name}`, which nothing needs"))
        .collect()
}

fn licence(package: &str, expression: Option<&str>, allowed: &BTreeSet<String>) -> Option<String> {
    let Some(expression) = expression else {
        return Some(format!("{package} names no licence"));
    };
    match is_allowed(expression, allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{package}: deny.toml does not allow the licence `{expression}`"
        )),
        Err(what) => Some(format!(
            "{package}: the licence `{expression}` can't be read: {what}"
        )),
    }
}

/// Whether an SPDX expression, or one in the old form with slashes, can be met by what is allowed.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> std::result::Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Licences {
        words: &words,
        allowed,
    };
    let answer = reader.either()?;
    match reader.words.first() {
        None => Ok(answer),
        Some(word) => Err(format!("`{word}` is not expected there")),
    }
}

/// The unread rest of an expression.
struct Licences<'e> {
    words: &'e [&'e str],
    allowed: &'e BTreeSet<String>,
}

impl<'e> Licences<'e> {
    fn next(&mut self) -> Option<&'e str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        if is_next {
            self.words = &self.words[1..];
        }
        is_next
    }

    fn either(&mut self) -> std::result::Result<bool, String> {
        let mut answer = self.both()?;
        while self.takes("OR") {
            answer |= self.both()?;
        }
        Ok(answer)
    }

    fn both(&mut self) -> std::result::Result<bool, String> {
        let mut answer = self.one()?;
        while self.takes("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> std::result::Result<bool, String> {
        if self.takes("(") {
            let answer = self.either()?;
            return if self.takes(")") {
                Ok(answer)
            } else {
                Err("a bracket is not closed".to_owned())
            };
        }
        let name = self.next().ok_or("it ends too early")?;
        if ["AND", "OR", "WITH", ")"].contains(&name) {
            return Err(format!("`{name}` is not expected there"));
        }
        let full = match self.takes("WITH") {
            true => format!("{name} WITH {}", self.next().ok_or("it ends too early")?),
            false => name.to_owned(),
        };
        Ok(self.allowed.contains(&full))
    }
}

fn source(package: &str, source: Option<&str>, manifest: &Path, root: &Path) -> Option<String> {
    match source {
        Some(CRATES_IO) => None,
        None if manifest.starts_with(root) => None,
        None => Some(format!(
            "{package} comes from {}, which is outside",
            manifest.display()
        )),
        Some(other) => Some(format!(
            "{package} comes from {other}, and not from crates.io"
        )),
    }
}

/// `*` is a version only where one of our own packages, which is published nowhere, names another by path.
fn wildcards(package: &str, metadata: &Value) -> Vec<String> {
    let is_private = metadata["publish"].as_array().is_some_and(Vec::is_empty);
    let dependencies = metadata["dependencies"].as_array().into_iter().flatten();
    let any = dependencies.filter(|dependency| dependency["req"] == "*");
    any.filter(|dependency| !(is_private && dependency["path"].is_string()))
        .map(|dependency| format!("{package} takes any version of {}", dependency["name"]))
        .collect()
}

/// Everything that the workspace could be built from; only what this machine builds from, if the rest was never downloaded.
fn metadata() -> Result<Value> {
    let ask = |more: &[&str]| {
        workspace::cargo()
            .args([
                "metadata",
                "--format-version",
                "1",
                "--locked",
                "--offline",
                "--all-features",
            ])
            .args(more)
            .output()
    };
    let mut output = ask(&[])?;
    if !output.status.success() {
        println!(
            "not run: packages of other systems: this machine has not downloaded them; `cargo fetch --locked` does"
        );
        let rustc = Command::new("rustc").arg("-vV").output()?.stdout;
        let rustc = String::from_utf8(rustc)?;
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
        output = ask(&["--filter-platform", host.ok_or("rustc names no host")?])?;
    }
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {error}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[test]
fn every_package_is_one_that_deny_toml_accepts() {
    let root = workspace::root();
    let policy = read_policy(&fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let metadata = metadata().unwrap();
    let count = metadata["packages"].as_array().map_or(0, Vec::len);
    assert!(count > 200, "only {count} packages: that can't be all");
    assert_eq!(problems(&metadata, &policy, &root), Vec::<String>::new());
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    assert_eq!(outlived(&policy, &lock), Vec::<String>::new());
}

fn allowing(licences: &[&str]) -> DependencyPolicy {
    DependencyPolicy {
        licences: licences.iter().map(|name| (*name).to_owned()).collect(),
        ignored: Vec::new(),
    }
}

#[test]
fn expressions_are_met_or_not() {
    let allowed =
        allowing(&["MIT", "Apache-2.0", "ISC", "Apache-2.0 WITH LLVM-exception"]).licences;
    let check = |expression: &str, expected: bool| {
        assert_eq!(
            is_allowed(expression, &allowed),
            Ok(expected),
            "{expression}"
        );
    };
    check("MIT", true);
    check("GPL-3.0-only", false);
    check("MIT OR GPL-3.0-only", true);
    check("MIT AND GPL-3.0-only", false);
    check("MIT AND (ISC OR GPL-3.0-only)", true);
    check("(MIT OR Apache-2.0) AND Unicode-DFS-2016", false);
    check("GPL-3.0-only OR MIT AND ISC", true);
    check("MIT AND GPL-3.0-only OR ISC", true);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("MIT WITH LLVM-exception", false);
    check("Unlicense/MIT", true);
    check("Apache-2.0 / MIT", true);
    check("GPL-2.0/GPL-3.0", false);
    for broken in [
        "", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT ISC", "MIT WITH",
    ] {
        assert!(is_allowed(broken, &allowed).is_err(), "{broken}");
    }
}

/// A valid package, except for the change of a test.
fn package(change: &str, value: Value) -> Value {
    let mut package = serde_json::json!({
        "name": "good", "version": "1.0.0", "license": "MIT", "source": CRATES_IO,
        "manifest_path": "/registry/good/Cargo.toml", "publish": null, "dependencies": [{"name": "other", "req": "^1"}],
    });
    package[change] = value;
    serde_json::json!({ "packages": [package] })
}

#[test]
fn sabotage_what_is_not_accepted_is_noticed() {
    let root = Path::new("/project");
    let policy = allowing(&["MIT"]);
    let check = |change: &str, value: Value, expected: &str| {
        let found = problems(&package(change, value), &policy, root).join("\n");
        assert!(found.contains(expected), "{change}: {found:?}");
    };
    assert_eq!(
        problems(&package("name", "good".into()), &policy, root),
        Vec::<String>::new()
    );
    check(
        "license",
        "GPL-3.0-only".into(),
        "does not allow the licence `GPL-3.0-only`",
    );
    check("license", Value::Null, "names no licence");
    check("license", "MIT OR".into(), "can't be read");
    check(
        "source",
        "git+https://example.com/x#abc".into(),
        "comes from git+https",
    );
    check(
        "source",
        concat!("sparse+", "https://mirror.example/").into(),
        "not from crates.io",
    );
    check("source", Value::Null, "which is outside");
    let wild = serde_json::json!([{"name": "other", "req": "*"}]);
    check("dependencies", wild, "takes any version");
    // A path dependency does not excuse a `*` in a published package.
    let wild = serde_json::json!([{"name": "other", "req": "*", "path": "/project/other"}]);
    check("dependencies", wild, "takes any version");
}

#[test]
fn our_own_packages_name_each_other_by_path() {
    let mut metadata = package("publish", serde_json::json!([]));
    metadata["packages"][0]["source"] = Value::Null;
    metadata["packages"][0]["manifest_path"] = "/project/crates/good/Cargo.toml".into();
    metadata["packages"][0]["dependencies"] =
        serde_json::json!([{"name": "other", "req": "*", "path": "/project/crates/other"}]);
    let found = problems(&metadata, &allowing(&["MIT"]), Path::new("/project"));
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn sabotage_a_policy_that_this_test_does_not_understand_is_refused() {
    let real = fs::read_to_string(workspace::root().join("deny.toml")).unwrap();
    let check = |text: &str, expected: &str| {
        let error = read_policy(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(
        &real.replace("[bans]", "[bans]\ndeny = [\"openssl\"]"),
        "does not know `bans.deny`",
    );
    check(
        &real.replace("wildcards = \"deny\"", "wildcards = \"allow\""),
        "expected to be `deny`",
    );
    check(
        &real.replace("unknown-git = \"deny\"", ""),
        "does not set `sources.unknown-git`",
    );
    check(
        "[advisories]\nignore = [\"RUSTSEC-2024-0001\"]\n",
        "does not set",
    );
    check(
        &real.replace("ignore = [", "ignore = [\"RUSTSEC-2024-0001\","),
        "needs an `id` and a `reason`",
    );
    let mut policy = allowing(&["MIT"]);
    policy
        .ignored
        .push(("RUSTSEC-2024-0001".to_owned(), "gone: until x".to_owned()));
    let locked = "[[package]]\nname = \"gone-too\"\n";
    assert_eq!(
        outlived(&policy, locked),
        ["deny.toml ignores RUSTSEC-2024-0001 for `gone`, which nothing needs"]
    );
}
