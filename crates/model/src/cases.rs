//! A skill's tests: `tests/*.yaml`, a list of cases.
//!
//! ```yaml
//! - name: greets by name
//!   files: {greeting.txt: Hello}       # the files of the project
//!   tool: greet
//!   input: {who: Ada}
//!   expect: Hello, Ada                 # or `contains`, `error`, `cancelled`
//! - trigger: say hello to the new colleagues
//!   activates: true
//! ```

use metier_sdk::HookPhase;

use crate::{
    Json,
    yaml::{
        self,
        node::{Node, NodeValue},
    },
};

/// One test of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of the case.
    pub name: String,
    /// The line where it starts.
    pub line: u32,
    /// Files of the project, by path.
    pub files: Vec<(String, String)>,
    /// The action that is tested.
    pub what: CaseAction,
    /// The expected results; all of them must hold.
    pub expect: Vec<CaseExpectation>,
}

/// The action of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseAction {
    /// Call a tool with this input.
    Tool(String, Json),
    /// Run a workflow with this input.
    Workflow(String, Json),
    /// Send an event to a hook.
    Hook(HookPhase, Json),
    /// Run a scanner on the files of the case.
    Scanner(String),
    /// Render what it adds to the system prompt.
    Prompt,
    /// Check whether a task activates it.
    Trigger(String),
}

/// An expected result.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseExpectation {
    /// Exactly this value.
    Is(Json),
    /// Contains this text.
    Contains(String),
    /// An error that contains this text.
    Error(String),
    /// The call was cancelled, with a reason that contains this text.
    Cancelled(String),
    /// Whether the task activates it.
    Activates(bool),
}

/// A mistake in a file of cases, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseMistake {
    /// The line, from 1.
    pub line: u32,
    /// A description of the mistake.
    pub message: String,
}

const KINDS: &[&str] = &["tool", "workflow", "hook", "scanner", "prompt", "trigger"];
const FIELDS: &[&str] = &[
    "name",
    "files",
    "input",
    "event",
    "expect",
    "contains",
    "error",
    "cancelled",
    "activates",
];

/// The cases of a YAML file.
///
/// # Errors
/// The first mistake: a file with a mistake has no cases, because a skipped case would look like a passed one.
pub fn cases_in_file(text: &str) -> Result<Vec<Case>, CaseMistake> {
    let line = |at: u32| yaml::line(text, at);
    let mistake = |(line, message)| CaseMistake { line, message };
    let node = yaml::read_file(text).map_err(mistake)?;
    match &node.value {
        NodeValue::List(items) => items.iter().map(|item| case(item, &line)).collect(),
        NodeValue::Null => Ok(Vec::new()),
        _ => Err(CaseMistake {
            line: 1,
            message: format!("a file of test cases must be a list, not {}", node.kind()),
        }),
    }
}

fn case(node: &Node<'_>, line: &dyn Fn(u32) -> u32) -> Result<Case, CaseMistake> {
    let wrong = |at: u32, message: String| CaseMistake {
        line: line(at),
        message,
    };
    let Some(pairs) = node.as_map() else {
        let message = format!("a test case must be a map, not {}", node.kind());
        return Err(wrong(node.at, message));
    };
    let known = |key: &str| KINDS.contains(&key) || FIELDS.contains(&key);
    if let Some(pair) = pairs.iter().find(|pair| !known(&pair.key)) {
        let message = format!(
            "unknown field `{}` in a test case; it has one of {}, and {}",
            crate::text::visible(&pair.key),
            KINDS.join(", "),
            FIELDS.join(", ")
        );
        return Err(wrong(pair.key_at, message));
    }
    let kinds: Vec<_> = pairs
        .iter()
        .filter(|pair| KINDS.contains(&pair.key.as_ref()))
        .collect();
    let [kind] = kinds.as_slice() else {
        let message = format!("a test case must have exactly one of {}", KINDS.join(", "));
        return Err(wrong(node.at, message));
    };
    let json = |key: &str| node.get(key).map(Node::to_json);
    let text = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    let word = kind.node.as_text().unwrap_or_default().to_owned();
    let empty = || Json::Object(serde_json::Map::new());
    let what = match kind.key.as_ref() {
        "tool" => CaseAction::Tool(word, json("input").unwrap_or_else(empty)),
        "workflow" => CaseAction::Workflow(word, json("input").unwrap_or_else(empty)),
        "scanner" => CaseAction::Scanner(word),
        "prompt" => CaseAction::Prompt,
        "trigger" => CaseAction::Trigger(word),
        _ => {
            let phase = word.parse();
            let phase = phase
                .map_err(|error: metier_sdk::UnknownPhase| wrong(kind.key_at, error.to_string()))?;
            CaseAction::Hook(phase, json("event").unwrap_or_else(empty))
        }
    };
    let activates = match node.get("activates") {
        None => None,
        Some(value) => Some(
            value
                .as_bool()
                .ok_or_else(|| wrong(value.at, "`activates` must be true or false".to_owned()))?,
        ),
    };
    let expect: Vec<CaseExpectation> = [
        json("expect").map(CaseExpectation::Is),
        text("contains").map(CaseExpectation::Contains),
        text("error").map(CaseExpectation::Error),
        text("cancelled").map(CaseExpectation::Cancelled),
        activates.map(CaseExpectation::Activates),
    ]
    .into_iter()
    .flatten()
    .collect();
    if expect.is_empty() {
        let message = "this test case expects nothing: add `expect`, `contains`, `error`, `cancelled` or `activates`";
        return Err(wrong(node.at, message.to_owned()));
    }
    let name = text("name").unwrap_or_else(|| {
        let word = kind.node.as_text().unwrap_or_default();
        format!("{} {word}", kind.key).trim_end().to_owned()
    });
    let files = match node.get("files").map(|files| (&files.value, files.at)) {
        None => Vec::new(),
        Some((NodeValue::Map(pairs), _)) => pairs
            .iter()
            .map(|pair| {
                let content = pair.node.as_text().unwrap_or_default();
                (pair.key.to_string(), content.to_owned())
            })
            .collect(),
        Some((_, at)) => {
            return Err(wrong(
                at,
                "`files` must be a map from paths to text".to_owned(),
            ));
        }
    };
    Ok(Case {
        name,
        line: line(node.at),
        files,
        what,
        expect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_case_does_one_thing_and_expects_something() {
        let text = "- name: greets\n  tool: greet\n  input: {who: Ada}\n  files: {a.txt: x}\n  expect: Hello\n- trigger: hello\n  activates: false\n- hook: before_tool_call\n  event: {tool: x}\n  cancelled: no\n- prompt:\n  contains: y\n";
        let cases = cases_in_file(text).unwrap();
        assert_eq!(cases.len(), 4);
        assert_eq!(
            cases[0].what,
            CaseAction::Tool("greet".into(), json!({"who": "Ada"}))
        );
        assert_eq!(cases[0].files, [("a.txt".into(), "x".into())]);
        assert_eq!(
            (cases[1].line, cases[1].name.as_str()),
            (6, "trigger hello")
        );
        assert_eq!(cases[1].expect, [CaseExpectation::Activates(false)]);
        assert_eq!(cases[2].expect, [CaseExpectation::Cancelled("no".into())]);
        assert_eq!(cases_in_file("").unwrap(), []);
    }

    #[test]
    fn a_mistake_is_reported_with_place_and_cause() {
        let check = |text: &str, line: u32, part: &str| {
            let mistake = cases_in_file(text).unwrap_err();
            assert_eq!(mistake.line, line, "{mistake:?}");
            assert!(mistake.message.contains(part), "{mistake:?}");
        };
        check("tool: x\n", 1, "must be a list");
        check("- tool: x\n", 1, "expects nothing");
        check("- tool: x\n  expects: y\n", 2, "unknown field `expects`");
        check("- expect: y\n", 1, "must have exactly one of");
        check(
            "- tool: x\n  hook: activate\n  expect: y\n",
            1,
            "must have exactly one of",
        );
        check("- hook: before_lunch\n  expect: y\n", 1, "is not a phase");
        check("- trigger: x\n  activates: maybe\n", 2, "true or false");
        check("- [\n", 1, "bracket");
    }
}
