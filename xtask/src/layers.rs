//! Dependencies between our crates point down, and the pure crates stay pure.
//!
//! A crate's layer states how much of the system it knows. A dependency on the same or a higher layer is how one crate ends up
//! knowing all others, so it is an error, as is a crate that has no layer. A dependency that no code uses is one too: the map would show an edge that
//! is not there. Dev-dependencies are free: tests may use any crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Findings, Result, packages, workspace};

/// Package → layer; an edge must go to a smaller number.
const LAYERS: &[(&str, u8)] = &[
    ("metier-sdk", 0),
    ("metier-model", 1),
    ("metier-starlark", 1),
    ("metier-wasm", 1),
    ("metier-native", 1),
    ("metier-js", 1),
    ("metier-schema", 1),
    ("metier-config", 2),
    ("metier-scan", 2),
    ("metier-package", 2),
    ("metier-policy", 3),
    ("metier-select", 4),
    ("metier-store", 5),
    ("metier-catalog", 5),
    ("metier-host", 5),
    ("metier-hub", 6),
    ("metier-mcp", 6),
    ("metier-registry", 6),
    ("metier-runtime", 7),
    ("metier-agent", 8),
    ("metier", 9),
    ("metier-wire", 10),
    ("metier-server", 11),
    ("metier-cli", 12),
];

/// The only packages of ours that an interface may use: for anything else it calls a function of the library.
const DOORS: &[(&str, &[&str])] = &[
    ("metier-server", &["metier", "metier-wire"]),
    ("metier-cli", &["metier", "metier-wire", "metier-server"]),
];

/// For tests and chores: no shipped package may need them.
const DEV: &[&str] = &["metier-testkit", "xtask"];

/// No files, no clock, no environment, no processes: `clippy.toml` bans them where this lint is enabled.
const PURE: &[&str] = &[
    "metier-sdk",
    "metier-model",
    "metier-config",
    "metier-scan",
    "metier-package",
    "metier-policy",
    "metier-select",
    "metier-wire",
];

/// One of our packages.
#[derive(Debug)]
struct Package {
    name: String,
    /// Normal and build dependencies on other packages of the workspace.
    needs: Vec<String>,
    /// Those of them that its code names.
    uses: Vec<String>,
    /// The text of `lib.rs`, if it is a library.
    library: Option<String>,
}

/// Checks the workspace in its current state.
pub(crate) fn check(root: &Path) -> Result<Findings> {
    let packages = packages(&workspace::metadata()?)?;
    let edges: usize = packages.iter().map(|package| package.needs.len()).sum();
    let mut problems = problems(&packages);
    problems.extend(packages::problems()?);
    if packages.len() < 10 || edges < 10 {
        problems.push(format!(
            "too little was seen in {} to believe it",
            root.display()
        ));
    }
    let looked_at = format!("{} packages, {edges} edges", packages.len());
    Ok(Findings {
        looked_at,
        problems,
    })
}

fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let list = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata lists no packages")?;
    let names: Vec<&str> = list
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    list.iter()
        .map(|package| read_package(package, &names))
        .collect()
}

fn read_package(package: &Value, names: &[&str]) -> Result<Package> {
    let name = package["name"].as_str().ok_or("a package without a name")?;
    let dependencies = package["dependencies"]
        .as_array()
        .ok_or("a package without dependencies")?;
    // (package, name in code) of each.
    let needs: Vec<(&str, &str)> = dependencies
        .iter()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| {
            let package = dependency["name"].as_str()?;
            Some((package, dependency["rename"].as_str().unwrap_or(package)))
        })
        .filter(|(package, _)| names.contains(package))
        .collect();
    let manifest = package["manifest_path"].as_str().map(Path::new);
    let folder = manifest
        .and_then(Path::parent)
        .ok_or("a package without a manifest")?;
    let code = workspace::texts(&folder.join("src"))?;
    let uses = needs
        .iter()
        .filter(|(_, name)| code.iter().any(|(path, text)| is_named(path, text, name)));
    let targets = package["targets"].as_array().into_iter().flatten();
    let library = targets
        .filter(|target| target["kind"][0] == "lib")
        .find_map(|target| target["src_path"].as_str());
    Ok(Package {
        name: name.to_owned(),
        uses: uses.map(|(package, _)| (*package).to_owned()).collect(),
        needs: needs
            .iter()
            .map(|(package, _)| (*package).to_owned())
            .collect(),
        library: library.map(fs::read_to_string).transpose()?,
    })
}

/// Whether a file of a package uses the crate with this name. What `metier new` writes belongs to another package.
fn is_named(path: &str, text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let name = format!("{}::", name.replace('-', "_"));
    let mut lines = text.lines().map(str::trim_start);
    let is_code = path.ends_with(".rs") && !path.starts_with("templates/");
    is_code
        && lines.any(|line| {
            let mut places = line.match_indices(&name);
            !line.starts_with("//") && places.any(|(at, _)| !line[..at].ends_with(part))
        })
}

fn problems(packages: &[Package]) -> Vec<String> {
    let layers: BTreeMap<&str, u8> = LAYERS.iter().copied().collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let own = if DEV.contains(&name) {
            Some(u8::MAX)
        } else {
            layers.get(name).copied()
        };
        let Some(own) = own else {
            problems.push(format!(
                "`{name}` has no layer; give it one in xtask/src/layers.rs and ARCHITECTURE.md"
            ));
            continue;
        };
        for need in &package.needs {
            problems.extend(edge(name, own, need, &layers));
            if !package.uses.contains(need) {
                problems.push(format!(
                    "no code of `{name}` uses `{need}`: remove the dependency"
                ));
            }
        }
        let door = DOORS.iter().find(|(door, _)| *door == name);
        for known in door.iter().flat_map(|(_, known)| known.iter()) {
            if !package.needs.iter().any(|need| need == known) {
                problems.push(format!(
                    "`{name}` does not need `{known}`: remove it from `DOORS` in xtask/src/layers.rs and from ARCHITECTURE.md"
                ));
            }
        }
        if PURE.contains(&name) && !package.library.as_deref().is_some_and(bans_the_world) {
            problems.push(format!(
                "`{name}` is pure: its lib.rs needs `#![warn(clippy::disallowed_methods)]`"
            ));
        }
    }
    problems
}

fn edge(from: &str, own: u8, to: &str, layers: &BTreeMap<&str, u8>) -> Option<String> {
    if DEV.contains(&to) {
        return Some(format!(
            "`{from}` needs `{to}`, which is for tests: make it a dev-dependency"
        ));
    }
    let other = *layers.get(to)?; // an unknown package is reported where it is listed
    let door = DOORS.iter().find(|(door, _)| *door == from);
    if door.is_some_and(|(_, known)| !known.contains(&to)) {
        return Some(format!(
            "`{from}` must not know `{to}`: an interface calls the library; add a method or a type to `crates/metier`"
        ));
    }
    (other >= own).then(|| {
        format!("`{from}` (layer {own}) must not know `{to}` (layer {other}): edges point down")
    })
}

/// Whether an inner attribute, plain or in a `cfg_attr`, enables the bans.
fn bans_the_world(library: &str) -> bool {
    let code: String = library
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.chars().filter(|c| !c.is_whitespace()))
        .collect();
    let is_ban = |attribute: &str| {
        let attribute = attribute.split(")]").next().unwrap_or_default();
        let strict = attribute.contains("warn(") || attribute.contains("deny(");
        strict && attribute.contains("clippy::disallowed_methods")
    };
    code.split("#![").skip(1).any(is_ban)
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
