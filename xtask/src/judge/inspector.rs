//! The command line of the MCP Inspector: each call starts `metier mcp` as an agent does, in each era of the protocol.

use serde_json::Value;

use super::machine::JudgedMachine;
use super::tools::JudgeTools;
use super::verdict::JudgeCheck;
use crate::Result;

const ERAS: [&str; 3] = ["legacy", "auto", "modern"];

/// The tools of `metier mcp`, in their order.
const TOOLS: [&str; 8] = [
    "search_skills",
    "list_skills",
    "activate_skill",
    "read_skill_resource",
    "skill-execute",
    "list_skill_tools",
    "call_skill_tool",
    "scan_skill",
];

/// The exit code of the Inspector when a tool answers with an error.
const TOOL_ERROR: i32 = 5;

/// One call.
struct InspectorCall {
    name: &'static str,
    method: &'static str,
    /// The tool and its arguments, or more options.
    arguments: &'static [&'static str],
    code: i32,
    /// Texts that the output contains, and those that it does not.
    says: &'static [&'static str],
    never: &'static [&'static str],
}

/// A call of a tool.
const fn tool(
    name: &'static str,
    arguments: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
) -> InspectorCall {
    InspectorCall {
        name,
        method: "tools/call",
        arguments,
        code,
        says,
        never: &["root:x:0", "Run scripts/sync.sh"],
    }
}

/// Another method.
const fn method(
    name: &'static str,
    method: &'static str,
    arguments: &'static [&'static str],
    says: &'static [&'static str],
) -> InspectorCall {
    InspectorCall {
        name,
        method,
        arguments,
        code: 0,
        says,
        never: &["skill://sync"],
    }
}

const CALLS: &[InspectorCall] = &[
    method(
        "initialize",
        "initialize",
        &[],
        &["\"name\":\"metier\"", "counter"],
    ),
    method("tools/list --strict", "tools/list", &["--strict"], &TOOLS),
    tool(
        "search finds a skill",
        &["search_skills", r#"{"query": "how long is a text"}"#],
        0,
        &["counter"],
    ),
    tool(
        "a list has pages",
        &["list_skills", r#"{"limit": 2}"#],
        0,
        &["\"next_cursor\":\""],
    ),
    tool(
        "activate",
        &["activate_skill", r#"{"name": "ddd-expert"}"#],
        0,
        &["Collect the words", "references/smells.md"],
    ),
    tool(
        "read a file of a skill",
        &[
            "read_skill_resource",
            r#"{"name": "ddd-expert", "path": "references/smells.md"}"#,
        ],
        0,
        &["Anaemic"],
    ),
    tool(
        "a traversal is denied",
        &[
            "read_skill_resource",
            r#"{"name": "ddd-expert", "path": "../../../../../../../etc/passwd"}"#,
        ],
        TOOL_ERROR,
        &["path-refused"],
    ),
    tool(
        "execute",
        &["skill-execute", r#"{"name": "ddd-expert"}"#],
        0,
        &["Collect the words"],
    ),
    tool(
        "the tools of a skill",
        &["list_skill_tools", r#"{"skill": "counter"}"#],
        0,
        &["count", "The file, from the project's folder"],
    ),
    tool(
        "call a tool of a skill",
        &[
            "call_skill_tool",
            r#"{"skill": "counter", "tool": "count", "input": {"path": "notes.txt"}}"#,
        ],
        0,
        &["\"words\":3"],
    ),
    tool(
        "arguments that do not fit the tool's schema",
        &[
            "call_skill_tool",
            r#"{"skill": "counter", "tool": "count", "input": {"file": "notes.txt"}}"#,
        ],
        TOOL_ERROR,
        &["path"],
    ),
    tool(
        "what is not approved is refused with what to type",
        &[
            "call_skill_tool",
            r#"{"skill": "tally", "tool": "count", "input": {"path": "notes.txt"}}"#,
        ],
        TOOL_ERROR,
        &["not-approved", "metier permissions tally --approve"],
    ),
    tool(
        "a dangerous skill is withheld",
        &["activate_skill", r#"{"name": "sync"}"#],
        TOOL_ERROR,
        &["\"code\":\"blocked\""],
    ),
    tool(
        "scan",
        &["scan_skill", r#"{"name": "sync"}"#],
        0,
        &["\"critical\""],
    ),
    method("prompts/list", "prompts/list", &[], &["ddd-expert"]),
    method(
        "prompts/get",
        "prompts/get",
        &["--prompt-name", "ddd-expert"],
        &["Collect the words"],
    ),
    method("resources/list", "resources/list", &[], &["skill://"]),
    method(
        "resources/templates/list",
        "resources/templates/list",
        &[],
        &["skill://"],
    ),
    method(
        "skills/list --verify",
        "skills/list",
        &["--verify"],
        &["skill://report/SKILL.md", "\"outcome\":\"verified\""],
    ),
    method(
        "a skill with a SKILL.yaml is published",
        "skills/get",
        &["--verify", "--uri", "skill://ddd-expert/SKILL.md"],
        &["\"outcome\":\"verified\""],
    ),
];

pub(crate) fn run(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    let mut checks = Vec::new();
    for era in ERAS {
        for call in CALLS {
            checks.push(call.check(era, tools, machine)?);
        }
    }
    Ok(checks)
}

impl InspectorCall {
    fn check(&self, era: &str, tools: &JudgeTools, machine: &JudgedMachine) -> Result<JudgeCheck> {
        let mut command = machine.limited(60, tools.npm("mcp-inspector"));
        command
            .args([
                "--cli",
                "--format",
                "json",
                "--quiet",
                "--protocol-era",
                era,
            ])
            .args(["--method", self.method]);
        match (self.method, self.arguments) {
            ("tools/call", [tool, arguments]) => {
                command.args(["--tool-name", tool, "--tool-args-json", arguments]);
            }
            (_, options) => {
                command.args(options);
            }
        }
        let output = command.arg(&tools.metier).arg("mcp").output()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let name = format!("{era}: {}", self.name);
        Ok(match self.wrong(output.status.code(), &said) {
            None => JudgeCheck::passed(name),
            Some(wrong) => JudgeCheck::failed(name, wrong),
        })
    }

    fn wrong(&self, code: Option<i32>, said: &str) -> Option<String> {
        let shown: String = said.chars().take(300).collect();
        if code != Some(self.code) {
            return Some(format!(
                "ended with {code:?} instead of {}: {shown}",
                self.code
            ));
        }
        // Quotes inside JSON text are escaped.
        let plain = said.replace("\\\"", "\"").replace("\": ", "\":");
        let missing = self.says.iter().find(|text| !plain.contains(*text));
        if let Some(text) = missing {
            return Some(format!("does not contain `{text}`: {shown}"));
        }
        let leak = self.never.iter().find(|text| plain.contains(*text));
        if let Some(text) = leak {
            return Some(format!("contains `{text}`"));
        }
        match self.method {
            "tools/list" => tool_list(said),
            _ => None,
        }
    }
}

/// Every tool has both schemas and states whether it only reads.
fn tool_list(said: &str) -> Option<String> {
    let document = serde_json::from_str::<Value>(said.lines().next()?);
    let Ok(document) = document else {
        return Some("not JSON".to_owned());
    };
    let tools = document["result"]["tools"].as_array()?;
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    let mut names: Vec<&str> = names.collect();
    let mut expected = TOOLS;
    names.sort_unstable();
    expected.sort_unstable();
    if names != expected {
        return Some(format!("the tools are {names:?}"));
    }
    let is_whole = |tool: &&Value| {
        tool["inputSchema"].is_object()
            && tool["outputSchema"].is_object()
            && tool["annotations"]["readOnlyHint"].is_boolean()
    };
    let part = tools.iter().find(|tool| !is_whole(tool));
    part.map(|tool| format!("{} lacks a schema or annotations", tool["name"]))
}
