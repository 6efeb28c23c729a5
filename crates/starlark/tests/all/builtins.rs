//! Each built-in: its requests to the host, its use of the answer, and its error after a refusal.

use std::collections::BTreeSet;

use metier_sdk::wire::{HostRequest, code};
use metier_starlark::reference;
use serde_json::{Value, json};

use crate::session::{Session, body, value};

/// A call, its request, the host's answer, and the resulting value.
type Case = (&'static str, &'static str, Value, Value, Value);

fn cases() -> Vec<Case> {
    let mut all = few_cases();
    all.extend(more_cases());
    all
}

fn few_cases() -> Vec<Case> {
    let ended = json!({"exit": 1, "stdout": "a", "stderr": "b", "truncated": true});
    vec![
        (
            "read_file(\"a.txt\")",
            "host/read_file",
            json!({"path": "a.txt"}),
            json!({"content": "hello"}),
            json!("hello"),
        ),
        (
            "write_file(\"a\", \"b\")",
            "host/write_file",
            json!({"path": "a", "content": "b"}),
            json!({}),
            json!(null),
        ),
        (
            "glob(\"*.rs\")",
            "host/glob",
            json!({"pattern": "*.rs"}),
            json!({"paths": ["a.rs", "b.rs"]}),
            json!(["a.rs", "b.rs"]),
        ),
        (
            "grep(\"x\", path = \"src\", glob = \"*.rs\")",
            "host/grep",
            json!({"pattern": "x", "path": "src", "glob": "*.rs"}),
            json!({"matches": [{"path": "src/a.rs", "line": 3, "text": "x"}]}),
            json!([{"path": "src/a.rs", "line": 3, "text": "x"}]),
        ),
        (
            "exec(\"ls\")",
            "host/exec",
            json!({"command": "ls"}),
            ended.clone(),
            ended,
        ),
        (
            "fetch(\"http://h/\", method = \"POST\", headers = {\"a\": \"b\"}, body = \"c\")",
            "host/fetch",
            json!({"url": "http://h/", "method": "POST", "headers": {"a": "b"}, "body": "c"}),
            json!({"status": 404, "headers": {"x": "y"}, "body": "d"}),
            json!({"status": 404, "headers": {"x": "y"}, "body": "d"}),
        ),
        (
            "env(\"HOME\")",
            "host/env",
            json!({"name": "HOME"}),
            json!({"value": "/home"}),
            json!("/home"),
        ),
        (
            "set_env(\"A\", \"b\")",
            "host/set_env",
            json!({"name": "A", "value": "b"}),
            json!({}),
            json!(null),
        ),
    ]
}

fn more_cases() -> Vec<Case> {
    let ended = json!({"exit": 1, "stdout": "a", "stderr": "b", "truncated": true});
    let git = |arguments: &[&str]| json!({ "arguments": arguments });
    vec![
        (
            "git(\"blame\", \"a\")",
            "host/git",
            git(&["blame", "a"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_status()",
            "host/git",
            git(&["status", "--porcelain"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_diff(\"--stat\")",
            "host/git",
            git(&["diff", "--stat"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_log(\"-1\")",
            "host/git",
            git(&["log", "-1"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_show(\"HEAD\")",
            "host/git",
            git(&["show", "HEAD"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_add(\"a\", \"-b\")",
            "host/git",
            git(&["add", "--", "a", "-b"]),
            ended.clone(),
            ended.clone(),
        ),
        (
            "git_commit(\"why\")",
            "host/git",
            git(&["commit", "-m", "why"]),
            ended.clone(),
            ended,
        ),
        (
            "llm(\"hi\", system = \"be brief\")",
            "host/llm",
            json!({"prompt": "hi", "system": "be brief", "model": null}),
            json!({"text": "hello"}),
            json!("hello"),
        ),
        (
            "llm_complete(\"hi\")",
            "host/llm",
            json!({"prompt": "hi", "system": null, "model": null}),
            json!({"text": "hello"}),
            json!("hello"),
        ),
        (
            "invoke_skill(\"other\", tool = \"t\", input = {\"n\": 12345678901234567890123})",
            "host/invoke_skill",
            serde_json::from_str(
                r#"{"name": "other", "tool": "t", "input": {"n": 12345678901234567890123}}"#,
            )
            .unwrap(),
            json!({"output": {"a": [1]}}),
            json!({"a": [1]}),
        ),
    ]
}

#[test]
fn each_function_asks_its_host_and_returns_the_answer() {
    for (call, method, params, answer, expected) in cases() {
        let transcript = body(&format!("return {call}"))
            .host(move |_, _| Ok(answer.clone()))
            .run();
        assert_eq!(transcript.asked, [(method.to_owned(), params)], "{call}");
        assert_eq!(*transcript.output(), expected, "{call}");
    }
}

#[test]
fn a_refusal_ends_the_handler_at_that_line() {
    for (call, method, ..) in cases() {
        let name = call.split('(').next().unwrap();
        let or_none = if call.ends_with("()") {
            "or_none = True)"
        } else {
            ", or_none = True)"
        };
        let mut calls = vec![call.to_owned()];
        if !["write_file", "env", "set_env"].contains(&name) {
            calls.push(format!("{}{or_none}", &call[..call.len() - 1]));
        }
        for call in calls {
            let transcript = body(&format!("x = {call}\nlog(\"still here\")"))
                .host(|_, _| Err((code::REFUSED, "`greeter` was not granted that")))
                .run();
            let expected =
                format!("skill.star:2:9: {name}: refused: `greeter` was not granted that");
            assert!(
                transcript.complaint().starts_with(&expected),
                "{}",
                transcript.complaint()
            );
            let asked: Vec<&str> = transcript
                .asked
                .iter()
                .map(|(method, _)| method.as_str())
                .collect();
            assert_eq!(asked, [method], "{call}");
        }
    }
}

#[test]
fn a_failure_ends_the_handler_unless_it_can_go_on() {
    for (call, ..) in cases() {
        let name = call.split('(').next().unwrap();
        let fails = |call: &str| {
            body(&format!("x = {call}\nreturn [x]"))
                .host(|_, _| Err((code::FAILED, "no such thing")))
                .run()
        };
        let expected = format!("skill.star:2:9: {name}: no such thing");
        assert!(
            fails(call).complaint().starts_with(&expected),
            "{}",
            fails(call).complaint()
        );
        if ["write_file", "env", "set_env"].contains(&name) {
            continue;
        }
        let comma = if call.ends_with("()") { "" } else { ", " };
        let soft = format!("{}{comma}or_none = True)", &call[..call.len() - 1]);
        assert_eq!(*fails(&soft).output(), json!([null]), "{soft}");
    }
}

#[test]
fn every_built_in_that_asks_is_tested() {
    let tested: BTreeSet<&str> = cases()
        .iter()
        .map(|(call, ..)| call.split('(').next().unwrap())
        .collect();
    let asking: BTreeSet<&str> = reference()
        .iter()
        .filter(|builtin| builtin.permission.is_some())
        .map(|builtin| builtin.name)
        .collect();
    assert_eq!(tested, asking);
    for builtin in reference() {
        assert!(builtin.signature.starts_with(builtin.name) && builtin.doc.ends_with('.'));
        assert!(value(&format!("type({})", builtin.name)).is_string());
        assert_eq!(
            builtin.permission.is_some(),
            builtin.request.is_some_and(|name| name != "host/log")
        );
    }
}

#[test]
fn every_request_of_the_protocol_has_a_built_in() {
    let schema = serde_json::to_value(schemars::schema_for!(HostRequest)).unwrap();
    let requests: BTreeSet<&str> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| request["properties"]["method"]["const"].as_str().unwrap())
        .collect();
    assert!(requests.contains("host/read_file"));
    let known: BTreeSet<&str> = reference()
        .iter()
        .filter_map(|builtin| builtin.request)
        .collect();
    assert_eq!(requests, known);
}

#[test]
fn wrong_arguments_are_named() {
    let cases = [
        ("read_file(1)", "read_file: path must be a string, got int"),
        (
            "read_file(\"a\", or_none = 1)",
            "read_file: or_none must be True or False, got int",
        ),
        (
            "write_file(\"a\", None)",
            "write_file: content must be a string, got NoneType",
        ),
        (
            "grep(\"a\", glob = 1)",
            "grep: glob must be a string or None, got int",
        ),
        (
            "fetch(\"u\", headers = [])",
            "fetch: headers must be a dict of strings, got list",
        ),
        (
            "fetch(\"u\", headers = {\"a\": 1})",
            "fetch: headers must be a dict of strings, got int for key \"a\"",
        ),
        (
            "git(\"log\", 1)",
            "git: each argument must be a string, got int",
        ),
        (
            "git_commit(1)",
            "git_commit: message must be a string, got int",
        ),
        (
            "invoke_skill(\"a\", input = {1: 2})",
            "invoke_skill: a key must be a string to become JSON, got int `1`",
        ),
        (
            "log(\"a\", level = \"loud\")",
            "log: level must be one of debug, info, warn, error, got `loud`",
        ),
        (
            "json.decode(\"{\")",
            "json.decode: EOF while parsing an object at line 1 column 1",
        ),
        (
            "json.encode(len)",
            "json.encode: a value of type function can't be turned into JSON",
        ),
        (
            "cancel(\"no\")",
            "cancel: only the handler of a hook can cancel; use fail() to end with an error",
        ),
    ];
    for (call, expected) in cases {
        let transcript = body(&format!("x = {call}")).run();
        assert!(
            transcript
                .complaint()
                .starts_with(&format!("skill.star:2:9: {expected}")),
            "{}",
            transcript.complaint()
        );
        assert!(transcript.asked.is_empty());
    }
}

#[test]
fn an_answer_that_makes_no_sense_is_an_error() {
    let said = body("x = read_file(\"a\")")
        .host(|_, _| Ok(json!({"text": "b"})))
        .run();
    assert!(said.complaint().starts_with(
        "skill.star:2:9: read_file: the host's answer was not understood: missing field"
    ));
}

#[test]
fn a_skill_that_fails_another_fails_too() {
    let answer = |_: &str, _: &Value| Ok(json!({"output": "no such branch", "is_error": true}));
    let hard = body("x = invoke_skill(\"other\")").host(answer).run();
    assert!(
        hard.complaint()
            .starts_with("skill.star:2:9: invoke_skill: no such branch")
    );
    let soft = body("return [invoke_skill(\"other\", or_none = True)]")
        .host(answer)
        .run();
    assert_eq!(*soft.output(), json!([null]));
    assert_eq!(
        soft.asked[0].1,
        json!({"name": "other", "tool": null, "input": {}})
    );
}

#[test]
fn an_unset_variable_is_its_default() {
    let unset = |_: &str, _: &Value| Ok(json!({"value": null}));
    let transcript = body("return [env(\"A\"), env(\"A\", \"b\"), env(\"A\", default = 3)]")
        .host(unset)
        .run();
    assert_eq!(*transcript.output(), json!([null, "b", 3]));
}

#[test]
fn logging_never_waits() {
    let transcript =
        body("log(\"a\")\nlog(\"b\", level = \"warn\")\nprint(\"c\", 1, [None])\nreturn 1").run();
    let lines: Vec<(&str, &str)> = transcript
        .asked
        .iter()
        .map(|(_, line)| {
            (
                line["level"].as_str().unwrap(),
                line["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [("info", "a"), ("warn", "b"), ("info", "c 1 [None]")]
    );
    assert_eq!(*transcript.output(), 1);
}

#[test]
fn a_skill_knows_itself() {
    let transcript = body("return [skill.name, skill.directory, skill.config, skill.permissions]")
        .config(json!({"depth": 3}), &["file:read"])
        .run();
    assert_eq!(
        *transcript.output(),
        json!(["greeter", "/skills/greeter", {"depth": 3}, ["file:read"]])
    );
}

#[test]
fn json_is_exact() {
    let big = "12345678901234567890123456789";
    assert_eq!(value(&format!("json.decode(\"{big}\") - {big}")), 0);
    assert_eq!(
        value(&format!(
            "json.encode([{big}, -{big}, 1.0, 1e300, \"ü\\n\"])"
        )),
        format!("[{big},-{big},1.0,1e+300,\"ü\\n\"]")
    );
    assert_eq!(
        value("json.decode(\"[1, 1.5, null, true, {\\\"a\\\": []}]\")"),
        json!([1, 1.5, null, true, {"a": []}])
    );
    assert_eq!(
        value("[json.decode(\"1e999\", or_none = True), json.decode(\"nope\", or_none = True)]"),
        json!([null, null])
    );
    assert_eq!(
        value("json.decode(json.encode(struct(a = (1, 2))))"),
        json!({"a": [1, 2]})
    );
}

#[test]
fn host_functions_work_while_the_skill_is_loaded() {
    let transcript =
        Session::new("text = read_file(\"a\")\nregister_tool(\"t\", text, lambda input: text)")
            .host(|_, _| Ok(json!({"content": "from a file"})))
            .run();
    assert_eq!(
        transcript.result()["tools"][0]["description"],
        "from a file"
    );
}
