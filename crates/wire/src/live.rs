//! Tools of active skills, and the results of calls.

use metier::TestResult;
use metier_runtime::live::{Called, Tool};
use serde::Serialize;
use serde_json::Value;

use crate::permission::{ReceiptRow, is_none_left_out};

/// `tools --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolsDocument {
    /// Tools that skills contribute.
    pub tools: Vec<ToolRow>,
}

/// A tool of a skill.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolRow {
    /// Its name for a model.
    pub name: String,
    /// Name of the skill.
    pub skill: String,
    /// Its name in the skill: the TOOL of `metier call SKILL TOOL`.
    pub tool: String,
    /// Description of the tool.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

impl From<Tool> for ToolRow {
    fn from(tool: Tool) -> Self {
        Self {
            name: tool.name,
            skill: tool.skill,
            tool: tool.spec.name,
            description: tool.spec.description,
            input_schema: tool.spec.input_schema,
        }
    }
}

/// `call --json`, and `run --json` of a workflow.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallDocument {
    /// The output of the tool.
    pub output: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// The receipts of its acts and refusals; only the newest if there are many.
    pub receipts: Vec<ReceiptRow>,
    /// The number of receipts that are not shown; `metier log` prints them.
    #[serde(skip_serializing_if = "is_none_left_out")]
    pub receipts_left_out: u64,
}

impl From<&Called> for CallDocument {
    fn from(called: &Called) -> Self {
        Self {
            output: called.output.clone(),
            is_error: called.is_error,
            receipts: called.receipts.iter().map(ReceiptRow::from).collect(),
            receipts_left_out: called.receipts_left_out,
        }
    }
}

/// `test --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestDocument {
    /// Every test, in order.
    pub tests: Vec<TestRow>,
    /// Number of tests that passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
}

/// A test of a skill.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestRow {
    /// Name of the skill.
    pub skill: String,
    /// The file, below its folder.
    pub file: String,
    /// The line of the case; `null` for a function.
    pub line: Option<u32>,
    /// Name of the test.
    pub name: String,
    /// Whether the test passed.
    pub passed: bool,
    /// Why the test failed.
    pub message: Option<String>,
}

impl From<TestResult> for TestRow {
    fn from(result: TestResult) -> Self {
        Self {
            skill: result.skill,
            file: result.file,
            line: result.line,
            name: result.name,
            passed: result.failure.is_none(),
            message: result.failure,
        }
    }
}
