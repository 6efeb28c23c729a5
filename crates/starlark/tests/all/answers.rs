//! The host's requests, and the answers to them.

use metier_sdk::wire::MAX_FRAME;
use metier_starlark::{StarlarkLimits, WorkerServeError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::session::{Session, body, value};

const HOOK: &str = r#"
def before(event):
    if event["tool"] == "rm":
        cancel("not that")
        log("never")
    if event["tool"] == "ls":
        return {"tool": "ls", "input": {"path": "."}}
    if event["tool"] == "odd":
        return 3
    if event["tool"] == "bad":
        return event["nothing"]

register_hook("before_tool_call", before)
"#;

fn hook(tool: &str) -> crate::session::Transcript {
    let params = json!({"phase": "before_tool_call", "event": {"tool": tool}});
    Session::new(HOOK).call("hook/handle", params).run()
}

#[test]
fn a_hook_changes_leaves_or_cancels() {
    assert_eq!(*hook("cat").result(), json!({}));
    assert_eq!(
        *hook("ls").result(),
        json!({"event": {"tool": "ls", "input": {"path": "."}}})
    );
    let cancelled = hook("rm");
    assert_eq!(
        *cancelled.result(),
        json!({"cancel": {"reason": "not that"}})
    );
    assert!(cancelled.asked.is_empty());
}

#[test]
fn a_hook_that_goes_wrong_is_an_error() {
    let odd = hook("odd");
    assert_eq!(odd.code(), -32603);
    assert_eq!(
        odd.complaint(),
        "hook `before_tool_call`: must return None, or a dict that is the new event, got int"
    );
    assert!(
        hook("bad")
            .complaint()
            .starts_with("skill.star:11:16: Key `\"nothing\"` was not found"),
        "{}",
        hook("bad").complaint()
    );
}

#[test]
fn a_workflow_runs() {
    let transcript =
        Session::new("register_workflow(\"w\", lambda input: input[\"arguments\"][0])")
            .call(
                "workflow/run",
                json!({"name": "w", "input": {"arguments": ["v1"]}}),
            )
            .run();
    assert_eq!(*transcript.result(), json!({"output": "v1"}));
}

fn scanner(result: &str) -> crate::session::Transcript {
    let source = format!("def scan(files):\n    return {result}\nregister_scanner(\"s\", scan)\n");
    Session::new(&source)
        .call(
            "scanner/run",
            json!({"name": "s", "files": [{"path": "a.sh", "content": "rm -rf /"}]}),
        )
        .run()
}

#[test]
fn a_scanner_finds_something() {
    let found = scanner(
        "[{\"rule\": \"rm\", \"severity\": \"critical\", \"file\": f.path, \"line\": 1, \"message\": f.content} for f in files]",
    );
    assert_eq!(
        *found.result(),
        json!({"findings": [{"rule": "rm", "severity": "critical", "file": "a.sh", "line": 1, "message": "rm -rf /"}]})
    );
    assert_eq!(*scanner("None").result(), json!({"findings": []}));
    assert_eq!(*scanner("[]").result(), json!({"findings": []}));
    for wrong in [
        "3",
        "[3]",
        "[{\"message\": \"x\"}]",
        "[{\"severity\": \"bad\", \"message\": \"x\"}]",
    ] {
        let said = scanner(wrong);
        assert!(
            said.complaint().starts_with("scanner `s`: must return a list of dicts with rule, severity, file, line and message: "),
            "{}",
            said.complaint()
        );
    }
}

#[test]
fn unregistered_names_do_not_exist() {
    for (method, params, expected) in [
        (
            "tool/execute",
            json!({"name": "x"}),
            "this skill has no tool `x`",
        ),
        (
            "workflow/run",
            json!({"name": "x"}),
            "this skill has no workflow `x`",
        ),
        (
            "scanner/run",
            json!({"name": "x", "files": []}),
            "this skill has no scanner `x`",
        ),
        (
            "hook/handle",
            json!({"phase": "activate"}),
            "this skill has no hook `activate`",
        ),
    ] {
        let transcript = Session::new("").call(method, params).run();
        assert_eq!(
            (transcript.code(), transcript.complaint()),
            (-32602, expected)
        );
    }
}

#[test]
fn an_invalid_request_is_answered() {
    let first = Session::new("").tool("t", json!({})).run_as_is();
    assert_eq!(
        (first.code(), first.complaint()),
        (
            -32600,
            "no skill is loaded; `initialize` must be called first"
        )
    );
    let unknown = Session::new("").call("tool/destroy", json!({})).run();
    assert_eq!(
        (unknown.code(), unknown.complaint()),
        (-32601, "there is no method `tool/destroy`")
    );
    assert_eq!(
        Session::new("")
            .call("tool/execute", json!({"input": 1}))
            .run()
            .code(),
        -32602
    );
    for (line, code) in [
        ("{", -32700),
        ("nonsense", -32700),
        ("[1]", -32600),
        ("7", -32600),
        ("{}", -32600),
    ] {
        let transcript = Session::new("")
            .line(line)
            .call("shutdown", json!({}))
            .run();
        assert_eq!(transcript.answers[1]["error"]["code"], code, "{line}");
        assert_eq!(transcript.answers[1]["id"], Value::Null);
        assert_eq!(*transcript.result(), json!({}), "it goes on");
    }
    let deep = format!(
        r#"{{"id":1,"method":"x","params":{}}}"#,
        "[".repeat(100_000)
    );
    assert_eq!(Session::new("").line(deep).run().code(), -32700);
    let silent = Session::new("")
        .line("")
        .line(r#"{"method":"cancel","params":{"id":1}}"#)
        .line(r#"{"id":5,"result":{}}"#)
        .run();
    assert_eq!(silent.answers.len(), 1);
    assert!(silent.end.is_ok());
}

#[test]
fn shutdown_is_the_end() {
    let transcript = Session::new("")
        .call("shutdown", json!({}))
        .call("shutdown", json!({}))
        .run();
    assert_eq!(transcript.answers.len(), 2);
    assert!(transcript.end.is_ok());
}

#[test]
fn an_endless_line_ends_the_session() {
    let transcript = Session::new("").line("x".repeat(MAX_FRAME + 1)).run();
    assert!(matches!(
        transcript.end,
        Err(WorkerServeError::FrameTooLong(_))
    ));
    let fits = Session::new("").line("x".repeat(MAX_FRAME)).run();
    assert_eq!(fits.code(), -32700);
    assert!(fits.end.is_ok());
}

#[test]
fn a_message_that_is_too_long_is_not_sent() {
    let transcript = body("x = write_file(\"a\", \"x\" * 5000000)").run();
    assert!(
        transcript
            .complaint()
            .starts_with("skill.star:2:9: write_file: the request is 5000"),
        "{}",
        transcript.complaint()
    );
    assert!(transcript.asked.is_empty());
}

#[test]
fn while_a_call_waits_the_host_may_say_something_else() {
    let waiting =
        || body("x = read_file(\"a\")\nreturn x").host(|_, _| Ok(json!({"content": "b"})));
    // Another call has to wait; it gets an error, and the first continues.
    let busy = waiting().tool("t", json!({})).line("answer").run();
    assert_eq!(
        busy.answers[1]["error"]["message"],
        "this skill is busy: it handles one call at a time"
    );
    assert_eq!(*busy.output(), "b");
    // Cancellations and answers of other requests are ignored.
    let others = waiting()
        .line(r#"{"method":"cancel","params":{"id":77}}"#)
        .line(r#"{"id":99,"result":{"content":"c"}}"#)
        .line("answer")
        .run();
    assert_eq!(*others.output(), "b");
    let cancelled = waiting()
        .line(r#"{"method":"cancel","params":{"id":1}}"#)
        .line("answer")
        .run();
    assert!(
        cancelled
            .complaint()
            .starts_with("skill.star:2:9: read_file: the host cancelled this call")
    );
    let over = waiting().call("shutdown", json!({})).line("answer").run();
    assert!(
        over.answers[1]["result"]["output"]
            .as_str()
            .unwrap()
            .contains("the host is stopping this skill")
    );
    assert_eq!(*over.result(), json!({}));
}

#[test]
fn a_host_that_goes_away_in_the_middle_is_an_error() {
    let transcript = body("x = read_file(\"a\")").silent().run();
    assert!(matches!(transcript.end, Err(WorkerServeError::Closed)));
}

#[test]
fn what_has_no_counterpart_in_json_is_named() {
    let cases = [
        (
            "{\"a\": [1, len]}",
            "a value of type function can't be turned into JSON, at `a[1]`",
        ),
        (
            "{\"a\": {2: 1}}",
            "a key must be a string to become JSON, got int `2`, at `a`",
        ),
        (
            "[float(\"nan\")]",
            "`NaN` can't be turned into JSON, at `[0]`",
        ),
        (
            "1 << 100000",
            "an integer of more than 4300 digits can't be turned into JSON or from it",
        ),
        (
            "range(3)",
            "a value of type range can't be turned into JSON",
        ),
    ];
    for (expression, expected) in cases {
        let said = body(&format!("return {expression}")).run();
        assert_eq!(
            said.complaint(),
            format!("tool `t`: returned value: {expected}")
        );
    }
    let big = "9".repeat(5_000);
    let line = format!(
        r#"{{"id":1,"method":"tool/execute","params":{{"name":"t","input":{{"n":{big}}}}}}}"#
    );
    let said = body("return 1").line(line).run();
    assert!(
        said.complaint().contains("more than 4300 digits"),
        "{}",
        said.complaint()
    );
}

#[test]
fn an_answer_has_a_size() {
    let small = StarlarkLimits {
        output: 100,
        ..StarlarkLimits::default()
    };
    let said = body("return \"x\" * 200").limits(small).run();
    assert_eq!(
        said.complaint(),
        "tool `t`: returned value: the value makes more than 100 bytes of JSON, which is the limit"
    );
    // The same list ten times, ten levels deep: small inside, ten gigabytes outside.
    let bomb = body("x = [0]\nfor i in range(10):\n    x = [x] * 10\nreturn x").run();
    assert!(bomb.complaint().contains("more than 1048576 bytes of JSON"));
}

fn json_value() -> impl Strategy<Value = Value> {
    let integer = "-?[1-9][0-9]{0,40}".prop_map(|text| serde_json::from_str(&text).unwrap());
    let float = prop::num::f64::NORMAL.prop_map(|float| json!(float));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        integer,
        float,
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn json_comes_back_as_it_went_in(input in json_value()) {
        let transcript = Session::new("register_tool(\"t\", \"\", lambda input: [input, json.decode(json.encode(input))])")
            .tool("t", input.clone())
            .run();
        prop_assert_eq!(transcript.output(), &json!([input.clone(), input]));
    }

    #[test]
    fn no_line_brings_it_down(line in "[ -~]{0,80}") {
        let transcript = Session::new("").line(line).call("shutdown", json!({})).run();
        prop_assert!(transcript.end.is_ok());
        prop_assert_eq!(transcript.result(), &json!({}));
    }

    #[test]
    fn no_source_brings_it_down(source in "([a-z]{1,3}|[0-9]|[ \\n():=\\[\\]{}+*.,\"'-]){0,60}") {
        let transcript = Session::new(&source).call("shutdown", json!({})).run();
        prop_assert_eq!(transcript.result(), &json!({}));
    }
}

#[test]
fn exact_at_the_edges() {
    for text in [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551616",
        "2147483648",
        "-2147483649",
        "0",
    ] {
        assert_eq!(value(text).to_string(), text);
    }
    assert_eq!(
        value("[0.1, -0.0, 1e-300, 123456789.0]").to_string(),
        "[0.1,-0.0,1e-300,123456789.0]"
    );
}
