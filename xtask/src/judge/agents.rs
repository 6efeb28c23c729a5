//! Third-party agents with metier as their MCP server. The model is the scripted one of the test kit, so each follows the script.

use super::machine::JudgedMachine;
use super::scripted::script;
use super::tools::JudgeTools;
use super::verdict::JudgeCheck;
use crate::Result;

/// The steps of every agent.
const AGENT: &[&str] = &[
    "the tools reach the model",
    "the instructions reach the model",
    "a skill is found",
    "a skill is activated",
    "a tool of the skill is called",
    "what is not approved is refused with what to type",
    "a dangerous skill is withheld",
    "the script was played to its end",
];

/// Codex can also be driven by a program, which gets the questions for the user.
const CODEX: &[&str] = &[
    "only the tools that act ask Codex for consent",
    "an approval is asked for and given",
    "an approval is asked for and refused",
];

pub(crate) fn codex(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    let table: Vec<&str> = AGENT.iter().chain(CODEX).copied().collect();
    script(tools, machine, "codex.py", &[], &table)
}

pub(crate) fn opencode(tools: &JudgeTools, machine: &JudgedMachine) -> Result<Vec<JudgeCheck>> {
    script(tools, machine, "opencode.py", &[], AGENT)
}
