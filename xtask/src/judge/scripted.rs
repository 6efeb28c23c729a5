//! Python clients. Each script has a conversation and prints its checks, one line of JSON each; the tables here list the required checks.

use serde_json::Value;

use super::machine::JudgedMachine;
use super::tools::JudgeTools;
use super::verdict::{JudgeCheck, complete};
use crate::{Result, test};

/// The conversation of an MCP client in each era.
const MCP: &[&str] = &[
    "the server introduces itself",
    "the instructions name skills",
    "the list of tools",
    "search finds a skill",
    "a list has pages",
    "activate",
    "read a file of a skill",
    "a traversal is denied",
    "execute",
    "the tools of a skill",
    "call a tool of a skill",
    "arguments that do not fit the tool's schema",
    "a dangerous skill is withheld",
    "a client that can't ask gets what to type",
    "an approval is asked for and given once",
    "given once is not given twice",
    "an approval is asked for and refused",
    "an approval for this session holds",
    "always is not offered",
    "the prompts",
    "a prompt",
    "completion of an argument",
    "the resources",
    "a resource",
    "a resource outside is denied",
    "every skill with digests that hold",
    "a skill with a SKILL.yaml is published",
    "a change on disk is announced",
    "200 calls at once",
];

/// The versions that the two Python clients are asked to negotiate, and the result.
const ERAS: [&str; 2] = ["legacy", "auto"];

const WEBSOCKET: &[&str] = &[
    "without a token nothing is answered",
    "a wrong token is refused",
    "a foreign origin is refused",
    "a token in the header",
    "a token in the first frame",
    "list_skills",
    "execute_skill",
    "scan_skill by name",
    "what is not approved is refused with what to type",
    "a dangerous skill is withheld",
    "an unknown type is an error and the socket stays open",
    "what is not JSON is an error and the socket stays open",
    "a skill that appears is announced",
    "a skill that breaks is announced, and the last good version stays",
    "a skill that is fixed is announced",
    "a skill that is removed is announced",
    "MCP over HTTP with the token",
    "MCP over HTTP without a token is refused",
];

/// The behaviour of the page in Chromium. Each view is also judged by axe-core, in both themes.
const PAGE: &[&str] = &[
    "the link works once",
    "every view with the mouse",
    "every view with the keyboard",
    "a tool is tried with the form of its schema",
    "a tool that is tried asks below its form",
    "a permission is allowed and revoked",
    "a question is answered while a program waits",
    "two tabs answer one question once",
    "a task is explained",
    "a set is composed",
    "the chain of receipts is whole",
    "a chat with a scripted model",
    "lists and forms work without script",
    "one skill of a source is chosen and installed from its card",
    "a skill is removed, and both changes are undone",
    "no view scrolls sideways on a phone",
    "axe-core has no serious finding in the light theme",
    "axe-core has no serious finding in the dark theme",
    "axe-core finds a button without a name",
    "a search follows what is typed",
    "a search finds what select finds",
    "a skill that appears is shown",
    "an invalid skill is counted and not ready",
    "a skill of the user shadows a built-in one",
    "a file outside a skill is refused",
    "refresh",
    "nothing of a hostile skill runs, is loaded or looks like ours",
    "hidden characters, hosts and cut text of a skill are shown",
    "another origin can't read or frame the page, or open its sockets",
    "another origin can't send a form",
    "a name that resolves to this machine is refused",
    "a daemon that is killed under an open page answers nothing twice",
    "the page connects again when the daemon was started again",
    "every view is below 200 KB with 52 skills",
    "every view is below 200 KB with 10,000 skills",
    "every view is below 200 KB with 10,000 skills that can not be read",
    "nothing is reported in the console",
];

pub(crate) fn page(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    test::prepare_programs(&["chromium", "chromedriver"])?;
    let pictures = tools.root.join("docs/page");
    let axe = tools.module("axe-core/axe.min.js");
    let arguments = [&pictures, &axe].map(|path| path.to_string_lossy().into_owned());
    let [pictures, axe] = &arguments;
    script(tools, machine, "page_client.py", &[pictures, axe], PAGE)
}

pub(crate) fn python_mcp(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    conversations(tools, machine, "mcp")
}

pub(crate) fn python_fastmcp(
    tools: &JudgeTools,
    machine: &JudgedMachine,
) -> Result<Vec<JudgeCheck>> {
    conversations(tools, machine, "fastmcp")
}

fn conversations(
    tools: &JudgeTools,
    machine: &JudgedMachine,
    client: &str,
) -> Result<Vec<JudgeCheck>> {
    let mut checks = Vec::new();
    for era in ERAS {
        let spoken = script(tools, machine, "mcp_client.py", &[client, era], MCP)?;
        checks.extend(spoken.into_iter().map(|mut check| {
            check.name = format!("{era}: {}", check.name);
            check
        }));
    }
    Ok(checks)
}

pub(crate) fn websocket(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    script(tools, machine, "websocket_client.py", &[], WEBSOCKET)
}

/// Runs a script; every check of the table must be in the result.
pub(crate) fn script(
    tools: &JudgeTools,
    machine: &JudgedMachine,
    name: &str,
    arguments: &[&str],
    table: &[&str],
) -> Result<Vec<JudgeCheck>> {
    let output = machine
        .limited(900, &tools.python)
        .arg(tools.script(name))
        .args(arguments)
        .env("METIER", &tools.metier)
        .env("SKILLS", machine.skills())
        .env("SCRIPTED_MODEL", tools.example("scripted_model"))
        .env("CODEX", tools.npm("codex"))
        .env("OPENCODE", tools.opencode()?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut checks = Vec::new();
    for line in said.lines() {
        let line: Value =
            serde_json::from_str(line).map_err(|error| format!("{name}: {error}: {line}"))?;
        let seen = line["saw"].as_str().unwrap_or_default();
        let name = line["check"].as_str().unwrap_or_default();
        checks.push(match line["ok"] == true {
            true => JudgeCheck::passed(name),
            false => JudgeCheck::failed(name, seen),
        });
    }
    // For people: figures, or the reason why a script stopped early and left out checks.
    if !output.stderr.is_empty() {
        eprintln!("{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let table: Vec<String> = table.iter().map(ToString::to_string).collect();
    Ok(complete(checks, &table))
}
