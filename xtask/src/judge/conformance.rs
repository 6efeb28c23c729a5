//! The official conformance suite, for both roles.
//!
//! It tests servers only over HTTP, and most of its scenarios call tools of a test server. So the server is an example of `crates/server`:
//! the real one, with those tools added. To test a client, it starts the client once for each scenario, with the address of a separate
//! server.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::machine::JudgedMachine;
use super::tools::JudgeTools;
use super::verdict::{JudgeCheck, complete};
use crate::Result;

/// The revisions for which the suite has requirements.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Scenarios of the Skills extension, which are in no list of requirements.
const SKILLS_SERVER: [&str; 3] = [
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
];
const SKILLS_CLIENT: [&str; 4] = [
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
];

/// Follows the name of a scenario that the suite runs without scoring it.
const NOT_SCORED: &str = " (not scored)";

/// The time limit for all scenarios of a revision.
const SECONDS: u32 = 600;

/// One role, under the suite's name for it, and the argument with which the suite finds its subject.
struct JudgedRole<'a> {
    role: &'a str,
    /// The option that names it.
    target: [String; 2],
    skills: &'a [&'a str],
}

pub(crate) fn server(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    let server = FixtureServer::start(tools, machine)?;
    let role = JudgedRole {
        role: "server",
        target: ["--url".to_owned(), server.url.clone()],
        skills: &SKILLS_SERVER,
    };
    role.checks(tools, machine)
}

pub(crate) fn client(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    let client = tools.example("conformance_client");
    let client = client.to_str().ok_or("the folder's name is not UTF-8")?;
    let role = JudgedRole {
        role: "client",
        target: ["--command".to_owned(), client.to_owned()],
        skills: &SKILLS_CLIENT,
    };
    role.checks(tools, machine)
}

impl JudgedRole<'_> {
    fn checks(&self, tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
        let mut checks = Vec::new();
        for revision in REVISIONS {
            let listed = machine
                .limited(SECONDS, tools.npm("conformance"))
                .args(["list", "--requirements", revision])
                .output()?;
            let required = scenarios(&String::from_utf8_lossy(&listed.stdout), self.role);
            if required.is_empty() {
                return Err(format!(
                    "the suite requires nothing of a {} in {revision}",
                    self.role
                )
                .into());
            }
            let seen = self.run(tools, machine, &["--requirements", revision])?;
            checks.extend(named(revision, &required, seen));
        }
        let mut seen = BTreeMap::new();
        for scenario in self.skills {
            seen.extend(self.run(tools, machine, &["--scenario", scenario])?);
        }
        let skills = self.skills.iter().map(ToString::to_string);
        checks.extend(named("skills", &skills.collect::<Vec<_>>(), seen));
        Ok(checks)
    }

    /// Runs scenarios; the result of each by its name.
    fn run(
        &self,
        tools: &JudgeTools,
        machine: &JudgedMachine,
        which: &[&str],
    ) -> Result<BTreeMap<String, JudgeCheck>> {
        let results = machine.folder(&format!("results-{}", which.join("")))?;
        // Its exit code only shows whether a scenario failed; the results show which.
        machine
            .limited(SECONDS, tools.npm("conformance"))
            .arg(self.role)
            .args(&self.target)
            .args(which)
            .arg("--output-dir")
            .arg(&results)
            .output()?;
        let mut seen = BTreeMap::new();
        collect(&results, &results, &format!("{}-", self.role), &mut seen)?;
        Ok(seen)
    }
}

/// Adds the revision to each name, and adds those that were not run.
fn named(group: &str, required: &[String], seen: BTreeMap<String, JudgeCheck>) -> Vec<JudgeCheck> {
    let names = required.iter().map(|name| format!("{group}: {name}"));
    let names: Vec<String> = names.collect();
    let checks = seen.into_values().map(|mut check| {
        let unscored = format!("{}{NOT_SCORED}", check.name);
        let is_scored = !required.contains(&unscored);
        let name = if is_scored { &check.name } else { &unscored };
        check.name = format!("{group}: {name}");
        check
    });
    complete(checks.collect(), &names)
}

/// The scenarios of a role in the output of `conformance list`. Those that are run and not scored are marked.
fn scenarios(list: &str, role: &str) -> Vec<String> {
    let heading = format!("{role} scenarios");
    let mark = format!("[{role}]");
    let mut is_ours = false;
    let mut names = Vec::new();
    for line in list.lines() {
        let Some(item) = line.trim_start().strip_prefix("- ") else {
            if !line.starts_with(' ') && !line.is_empty() {
                is_ours = line.to_lowercase().starts_with(&heading);
            }
            continue;
        };
        match item.split_once(' ') {
            Some((name, rest)) if rest == mark => names.push(format!("{name}{NOT_SCORED}")),
            None if is_ours => names.push(item.to_owned()),
            _ => {}
        }
    }
    names
}

/// Reads every `checks.json`; the name of the folder is that of the scenario, between a prefix and the time.
fn collect(
    results: &Path,
    folder: &Path,
    prefix: &str,
    seen: &mut BTreeMap<String, JudgeCheck>,
) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(results, &path, prefix, seen)?;
        } else if path.ends_with("checks.json") {
            let place = folder.strip_prefix(results)?.to_string_lossy();
            let name = scenario_name(&place, prefix);
            let checks: Vec<Value> = serde_json::from_slice(&fs::read(&path)?)?;
            seen.insert(name.clone(), scenario(name, &checks));
        }
    }
    Ok(())
}

/// `server-tools-list-2026-01-02T03-04-05-678Z` is `tools-list`.
fn scenario_name(folder: &str, prefix: &str) -> String {
    const TIME: usize = "-2026-01-02T03-04-05-678Z".len();
    let name = folder
        .get(..folder.len().saturating_sub(TIME))
        .unwrap_or(folder);
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

/// A scenario passes when one of its checks does and none fails or warns.
fn scenario(name: String, checks: &[Value]) -> JudgeCheck {
    let count = |status: &str| {
        checks
            .iter()
            .filter(|check| check["status"] == status)
            .count()
    };
    let bad = checks
        .iter()
        .filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
    let bad: Vec<String> = bad
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            format!("{}: {}", text("id"), text("errorMessage"))
        })
        .collect();
    match (bad.is_empty(), count("SUCCESS")) {
        (true, 0) => JudgeCheck::failed(name, "no check ran"),
        (true, _) => JudgeCheck::passed(name),
        (false, passed) => {
            JudgeCheck::failed(name, format!("{passed} checks pass; {}", bad.join("; ")))
        }
    }
}

/// Our server with the tools of the suite; it ends with this value.
struct FixtureServer {
    child: Child,
    url: String,
}

impl FixtureServer {
    fn start(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Self> {
        let mut child = machine
            .command(tools.example("conformance_fixture"))
            .arg("0")
            .arg(machine.skills())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let url = url.map(str::to_owned);
        let server = Self {
            child,
            url: url.clone().unwrap_or_default(),
        };
        match url {
            Some(_) => Ok(server),
            None => Err(format!("the fixture server does not print its address: {line}").into()),
        }
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIST: &str = "Required for X (2 scenarios):\n\nServer scenarios (test against a server):\n  - a\n  - b-c\n\nClient scenarios (test against a client):\n  - auth/d\n\nRun and reported, but never scored:\n  extension (1):\n    - e [server]\n    - f [client]\n";

    #[test]
    fn the_scenarios_of_each_role_are_read() {
        assert_eq!(scenarios(LIST, "server"), ["a", "b-c", "e (not scored)"]);
        assert_eq!(scenarios(LIST, "client"), ["auth/d", "f (not scored)"]);
        let seen = ["a", "b-c", "e"].map(|name| (name.to_owned(), JudgeCheck::passed(name)));
        let checks = named("X", &scenarios(LIST, "server"), seen.into());
        let names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["X: a", "X: b-c", "X: e (not scored)"]);
        assert!(checks.iter().all(|check| check.result.is_ok()));
    }

    #[test]
    fn a_scenario_that_checked_nothing_fails() {
        let check = |status: &str| json!({ "id": "i", "status": status, "errorMessage": "why" });
        for (statuses, passes) in [
            (&["SUCCESS", "INFO", "SKIPPED"][..], true),
            (&["SUCCESS", "FAILURE"], false),
            (&["SUCCESS", "WARNING"], false),
            (&["SKIPPED"], false),
            (&[], false),
        ] {
            let checks: Vec<Value> = statuses.iter().map(|status| check(status)).collect();
            assert_eq!(
                scenario("s".to_owned(), &checks).result.is_ok(),
                passes,
                "{statuses:?}"
            );
        }
    }

    #[test]
    fn the_folder_names_the_scenario() {
        let name = scenario_name(
            "server-server-initialize-2026-11-17T03-37-49-322Z",
            "server-",
        );
        assert_eq!(name, "server-initialize");
        assert_eq!(
            scenario_name("auth/a-2026-11-17T03-37-49-322Z", "client-"),
            "auth/a"
        );
    }
}
