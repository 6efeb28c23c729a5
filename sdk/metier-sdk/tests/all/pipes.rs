//! A skill on pipes in memory, and without pipes: cases that the three programs can't show.

use metier_sdk::{
    HookPhase,
    guest::{HostError, Skill, Transport},
    wire::{HookAnswer, HookSpec, HostRequest, code},
};
use serde_json::{Value, json};

/// The output of a skill that reads these lines.
fn served(skill: Skill, lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut output = Vec::new();
    skill.serve_on(input.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let lines = output.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// A host inside the process, which knows one file.
struct OneFile;

impl Transport for OneFile {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        match request {
            HostRequest::ReadFile { path } if path == "greeting.txt" => {
                Ok(json!({"content": "Hello"}))
            }
            _ => Err(HostError {
                code: code::REFUSED,
                message: "only greeting.txt".into(),
                data: None,
            }),
        }
    }
}

#[test]
fn handlers_do_not_know_how_their_questions_travel() {
    let mut skill = Skill::new()
        .tool("read", "", |host, path: Value| {
            Ok(host.read_file(path["path"].as_str().unwrap_or_default())?)
        })
        .workflow("refused", "", |host, _: Value| Ok(host.exec("ls")?.stdout));
    let mut call = |method, params| skill.answer(method, params, &mut OneFile);
    let read = |path| json!({"name": "read", "input": {"path": path}});
    assert_eq!(
        call("tool/execute", read("greeting.txt")),
        Ok(json!({"output": "Hello"}))
    );
    assert_eq!(
        call("tool/execute", read("secret.txt")),
        Ok(json!({"output": "only greeting.txt", "is_error": true}))
    );
    // The skill failed; it can't send a refusal of its own.
    let error = call("workflow/run", json!({"name": "refused"})).unwrap_err();
    assert_eq!(error.code, code::INTERNAL);
    assert_eq!(error.message, "only greeting.txt");
}

#[test]
fn hooks_of_one_phase_go_on_where_the_one_before_stopped() {
    let add = |what: &'static str| {
        move |_: &metier_sdk::guest::Host<'_>, mut event: Value| {
            let seen = event["seen"].as_array_mut().ok_or("nothing was seen")?;
            seen.push(what.into());
            Ok(HookAnswer::changed(event))
        }
    };
    let closed = HookSpec::Full {
        phase: HookPhase::Activate,
        fail_closed: true,
    };
    let skill = Skill::new()
        .hook(HookPhase::Activate, add("one"))
        .hook(HookPhase::Deactivate, |_, _| Ok(HookAnswer::unchanged()))
        .hook(closed, add("two"))
        .hook(HookPhase::Activate, |_, event| {
            Ok(match event["seen"][0] == "end" {
                true => HookAnswer::cancelled("the end"),
                false => HookAnswer::unchanged(),
            })
        })
        .hook(HookPhase::Activate, add("three"));
    let hooks = skill.contributions().hooks;
    assert_eq!(hooks, [closed, HookPhase::Deactivate.into()]);
    let handle = |seen| json!({"id": 1, "method": "hook/handle", "params": {"phase": "activate", "event": {"seen": seen}}});
    let answers = served(
        skill,
        &[handle(json!([])), handle(json!(["end"])), handle(json!(0))],
    );
    assert_eq!(
        answers[0]["result"]["event"]["seen"],
        json!(["one", "two", "three"])
    );
    assert_eq!(
        answers[1]["result"],
        json!({"cancel": {"reason": "the end"}})
    );
    assert_eq!(answers[2]["error"]["message"], "nothing was seen");
}

#[test]
fn of_two_with_one_name_the_later_counts() {
    let skill = Skill::new()
        .tool("a", "first", |_, _: Value| Ok(1))
        .tool("b", "", |_, _: Value| Ok(2))
        .tool("a", "second", |_, _: Value| Ok(3));
    let tools = skill.contributions().tools;
    let names: Vec<_> = tools
        .iter()
        .map(|tool| (&*tool.name, &*tool.description))
        .collect();
    assert_eq!(names, [("a", "second"), ("b", "")]);
}

#[test]
fn a_schema_has_nothing_in_it_that_only_rust_understands() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Input {
        /// The duration, in seconds
        seconds: Option<u32>,
        ways: Vec<Way>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        Up,
        Down,
    }
    let skill = Skill::new().tool("go", "", |_, _: Input| Ok(()));
    let expected = json!({
        "type": "object",
        "properties": {
            "seconds": {"type": ["integer", "null"], "minimum": 0, "description": "The duration, in seconds"},
            "ways": {"type": "array", "items": {"type": "string", "enum": ["up", "down"]}},
        },
        "required": ["ways"],
    });
    assert_eq!(skill.contributions().tools[0].input_schema, expected);
}

#[test]
fn a_question_that_is_too_long_is_not_asked() {
    let skill = Skill::new().tool("write", "", |host, _: Value| {
        Ok(host.write_file("big.txt", &"x".repeat(5 << 20))?)
    });
    let answers = served(
        skill,
        &[json!({"id": 1, "method": "tool/execute", "params": {"name": "write"}})],
    );
    assert_eq!(answers.len(), 1);
    let result = &answers[0]["result"];
    assert_eq!(result["is_error"], true);
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("the request is 52429"), "{output}");
    assert!(
        output.ends_with("; the limit for a message is 4194304"),
        "{output}"
    );
}

#[test]
fn an_answer_of_the_host_that_does_not_fit_is_an_error_of_the_call() {
    let skill = Skill::new().tool("read", "", |host, _: Value| Ok(host.read_file("a")?));
    let call = json!({"id": 1, "method": "tool/execute", "params": {"name": "read"}});
    let answers = served(
        skill,
        &[call, json!({"id": 1, "result": {"text": "Hello"}})],
    );
    let output = "the host's answer is invalid: missing field `content`";
    assert_eq!(
        answers[1]["result"],
        json!({"output": output, "is_error": true})
    );
}
