//! Permissions that are revoked or denied while a skill is active, here or by another process.

use std::{path::PathBuf, sync::Arc};

use metier_policy::{ActTarget, Approver, Reply};
use metier_runtime::{
    granted_skill::DelegateError,
    live::{CallError, Model, PlannedCall, Runtime, ServedTool},
    render::FramedText,
};
use metier_sdk::wire::{ScannedFile, ToolOutput};
use metier_store::{Approval, ApprovalDecision, Store};
use serde_json::json;

use crate::{
    live_session::{Live, left_running, lines, python, tool},
    standing::Answering,
};

const TOOL: &str = "types: [tool]\n";
const RULE: &str = "types: [security-rule]\n";

/// A skill `a` with a tool that does nothing, and a rule `guard` that reads a file before each call.
fn guarded(file: &str, code: &str) -> Live {
    let live = Live::new();
    live.stage.context.write("rules.txt", "none\n");
    live.skill("a", TOOL, &[], ("main.star", &tool("return \"done\"")));
    live.skill("guard", RULE, &["file:read(./rules.txt)"], (file, code));
    live
}

fn permissions(live: &Live, skill: &str, change: &[&str]) {
    let words = [&["permissions", skill], change].concat();
    let output = live.run(&words);
    assert_eq!(output.code, 0, "{}", output.snapshot());
}

fn calls(runtime: &Runtime) -> Result<(), String> {
    let called = runtime.call("a", "t", &json!({}));
    called.map(drop).map_err(|error| error.to_string())
}

// case 215
#[test]
fn a_rule_that_lost_its_permission_refuses_until_it_is_approved_again() {
    let starlark = "def before(event):\n    read_file(\"rules.txt\")\nregister_hook(\"before_tool_call\", before, fail_closed = True)\n";
    let python = python(
        "@skill.hook('before_tool_call', fail_closed=True)\ndef before(host, event):\n    open('rules.txt').read()\n",
    );
    for (file, code) in [("main.star", starlark), ("main.py", &python)] {
        let live = guarded(file, code);
        permissions(&live, "guard", &["--approve"]);
        let runtime = live.open(&[], "s");
        runtime.activate("guard").unwrap();
        runtime.activate("a").unwrap();
        assert_eq!(calls(&runtime), Ok(()), "{file}");
        for change in ["--revoke", "--deny"] {
            permissions(&live, "guard", &[change]);
            for _ in 0..2 {
                let refused = calls(&runtime).unwrap_err();
                assert!(
                    refused.contains("cancelled by skill `guard`: its check failed"),
                    "{file}: {refused}"
                );
            }
            assert!(runtime.activate("guard").is_err(), "{file}");
            assert!(calls(&runtime).is_err(), "{file}");
            // A denial is lifted by its name. The next call starts the rule again.
            let names = ["file:read(./rules.txt)", "shell:exec(main.py *)"];
            permissions(&live, "guard", &[&["--approve"], &names[..]].concat());
            assert_eq!(calls(&runtime), Ok(()), "{file}");
        }
        runtime.end().unwrap();
        assert_eq!(left_running(&live), [""; 0], "{file}");
    }
}

/// A model during whose answer the user revokes a permission of skill `a`.
struct Revoking(PathBuf);

impl Model for Revoking {
    fn target(&self, model: Option<&str>) -> ActTarget {
        model.unwrap_or("default").into()
    }

    fn answer(
        &self,
        prompt: &str,
        _: Option<&str>,
        _: Option<&str>,
    ) -> Result<String, DelegateError> {
        let store = Store::open(&self.0).unwrap();
        store.revoke_approvals("a", None, None).unwrap();
        Ok(prompt.to_owned())
    }
}

/// Acts of a skill for another one end with the permissions of either.
// case 215
#[test]
fn a_skill_that_was_invoked_does_nothing_more_for_one_whose_permission_is_revoked() {
    let live = Live::new();
    let asks = ["skill:invoke(b)", "llm:call", "file:write(./out.txt)"];
    let invokes = tool("return invoke_skill(\"b\", \"t\")");
    live.skill("a", TOOL, &asks, ("main.star", &invokes));
    let works = tool("llm(\"x\")\nwrite_file(\"out.txt\", \"x\")\nreturn \"done\"");
    live.skill("b", TOOL, &asks[1..], ("main.star", &works));
    permissions(&live, "a", &["--approve"]);
    permissions(&live, "b", &["--approve"]);
    let runtime = live.open(&[], "s");
    let runtime = runtime.with_model(Arc::new(Revoking(live.database())));
    runtime.activate("a").unwrap();
    let called = runtime.call("a", "t", &json!({})).unwrap();
    let receipts = lines(&called.receipts);
    assert!(called.is_error, "{:?}", called.output);
    assert!(!live.stage.has("out.txt"));
    let refused = |line: &String| line.starts_with("b file:write") && line.contains("refused");
    assert!(receipts.iter().any(refused), "{receipts:?}");
    // By itself it is allowed.
    runtime.activate("b").unwrap();
    let called = runtime.call("b", "t", &json!({})).unwrap();
    assert_eq!(called.output, "done");
    runtime.end().unwrap();
}

/// A model with a bug: before its permission is checked, or after.
struct Panicking {
    early: bool,
}

impl Model for Panicking {
    fn target(&self, _: Option<&str>) -> ActTarget {
        assert!(!self.early, "a bug");
        "default".into()
    }

    fn answer(&self, _: &str, _: Option<&str>, _: Option<&str>) -> Result<String, DelegateError> {
        panic!("a bug")
    }
}

// case 238
#[test]
fn a_bug_of_the_host_completes_the_receipts_and_leaves_the_skill_ready() {
    for early in [true, false] {
        let live = Live::new();
        let asks = tool("return llm(\"x\") if input[\"ask\"] else \"done\"");
        live.skill("a", TOOL, &["llm:call"], ("main.star", &asks));
        permissions(&live, "a", &["--approve"]);
        let runtime = live.open(&[], "s");
        let runtime = runtime.with_model(Arc::new(Panicking { early }));
        runtime.activate("a").unwrap();
        let called = runtime.call("a", "t", &json!({"ask": true})).unwrap();
        let output = called.output.to_string();
        assert!(output.contains("a bug in metier"), "{output}");
        let receipts = lines(&called.receipts);
        let begun = |line: &String| line.contains("begun");
        assert!(!receipts.iter().any(begun), "{receipts:?}");
        let failed = |act: &str| {
            let failed = |line: &&String| line.contains(act) && line.contains("error");
            receipts.iter().filter(failed).count()
        };
        let expected = (1, usize::from(!early));
        assert_eq!(
            (failed("tool:call"), failed("llm:call")),
            expected,
            "{receipts:?}"
        );
        let called = runtime.call("a", "t", &json!({"ask": false})).unwrap();
        assert_eq!(called.output, "done");
        runtime.end().unwrap();
    }
}

/// A skill that writes a file, in a session in which it was approved and started.
fn writing(live: &Live) -> Runtime {
    let writes = tool("write_file(\"out.txt\", \"x\")\nreturn \"done\"");
    live.skill(
        "a",
        TOOL,
        &["file:write(./out.txt)"],
        ("main.star", &writes),
    );
    permissions(live, "a", &["--approve"]);
    let runtime = live.open(&[], "s");
    runtime.activate("a").unwrap();
    runtime
}

// case 215
#[test]
fn a_skill_that_is_not_started_again_says_why_and_can_be_deactivated() {
    let live = Live::new();
    let runtime = writing(&live);
    permissions(&live, "a", &["--revoke"]);
    for _ in 0..2 {
        let refused = runtime.call("a", "t", &json!({})).unwrap_err();
        assert!(
            matches!(refused, CallError::NotStartedAgain { .. }),
            "{refused}"
        );
        let expected = "was not started again: `file:write(./out.txt)` is not approved";
        assert!(refused.to_string().ends_with(expected), "{refused}");
    }
    permissions(&live, "a", &["--approve"]);
    // An agent then offers the tools that are left.
    assert!(runtime.take_restarted() && !runtime.take_restarted());
    assert_eq!(calls(&runtime), Ok(()));
    permissions(&live, "a", &["--revoke"]);
    calls(&runtime).unwrap_err();
    runtime.deactivate("a").unwrap();
    assert!(runtime.names().is_empty());
    runtime.end().unwrap();
}

/// What the author wrote reaches the ledger only in its frame, also when the skill is started again.
// case 222
#[test]
fn a_skill_that_is_started_again_keeps_its_framed_text() {
    let live = Live::new();
    let runtime = writing(&live);
    assert_eq!(runtime.attached_texts(), [], "the body without a frame");
    let text = "<skill_content name=\"a\">\nText.\n</skill_content>\n";
    let framed = FramedText::from_conversation("a", text).unwrap();
    runtime.keep_text("a", framed);
    permissions(&live, "a", &["--revoke"]);
    permissions(&live, "a", &["--approve"]);
    assert_eq!(calls(&runtime), Ok(()));
    let attached = runtime.attached_texts();
    assert_eq!(attached.len(), 1);
    assert_eq!(attached[0].text, text);
    runtime.end().unwrap();
}

/// A hook whose skill can't be started again asks once, not at each event; a call that is started early asks nothing.
// case 215
#[test]
fn an_event_asks_once_and_an_early_call_never() {
    let mut live = guarded(
        "main.star",
        "def before(event):\n    read_file(\"rules.txt\")\nregister_hook(\"before_tool_call\", before)\n",
    );
    let user = Answering::new(&[], || ());
    live.approver = Arc::clone(&user) as Arc<dyn Approver>;
    permissions(&live, "guard", &["--approve"]);
    let runtime = live.open(&[], "s");
    runtime.activate("guard").unwrap();
    runtime.activate("a").unwrap();
    assert_eq!(calls(&runtime), Ok(()));
    permissions(&live, "guard", &["--revoke"]);
    // The hook is no check: the call goes on.
    for _ in 0..3 {
        assert_eq!(calls(&runtime), Ok(()));
        assert_eq!(user.asked(), 1);
    }
    permissions(&live, "guard", &["--approve"]);
    assert_eq!(calls(&runtime), Ok(()));
    assert_eq!(user.asked(), 1);
    runtime.end().unwrap();

    let mut live = Live::new();
    let user = Answering::new(&[], || ());
    live.approver = Arc::clone(&user) as Arc<dyn Approver>;
    let runtime = writing(&live);
    live.skill("b", TOOL, &[], ("main.star", &tool("return \"done\"")));
    permissions(&live, "a", &["--revoke"]);
    let input = json!({});
    let call = |skill| PlannedCall {
        skill,
        tool: "t",
        input: &input,
    };
    assert_eq!(
        runtime.begin_together(&[call("b"), call("a")]),
        [false, false]
    );
    assert_eq!(user.asked(), 0);
    runtime.end().unwrap();
}

// case 215
#[test]
fn a_scanner_that_was_approved_again_runs_again() {
    let live = Live::new();
    live.stage.context.write("rules.txt", "none\n");
    let code = "def look(files):\n    read_file(\"rules.txt\")\n    return []\nregister_scanner(\"s\", look)\n";
    live.skill(
        "guard",
        RULE,
        &["file:read(./rules.txt)"],
        ("main.star", code),
    );
    permissions(&live, "guard", &["--approve"]);
    let runtime = live.open(&[], "s");
    runtime.activate("guard").unwrap();
    let file = ScannedFile {
        path: "a.txt".into(),
        content: "x".into(),
    };
    let runs = || {
        let found = runtime.scan(std::slice::from_ref(&file)).unwrap();
        assert_eq!(found.len(), 1);
        found[0].found.is_ok()
    };
    assert!(runs());
    permissions(&live, "guard", &["--revoke"]);
    assert!(!runs());
    permissions(&live, "guard", &["--approve"]);
    assert!(runs());
    runtime.end().unwrap();
}

/// A tool of a server is asked about like metier's own tools.
// case 223
#[test]
fn an_always_for_a_servers_tool_ends_when_it_is_revoked() {
    let mut live = Live::new();
    let user = Answering::new(&[Reply::Always], || ());
    live.approver = Arc::clone(&user) as Arc<dyn Approver>;
    let runtime = live.open(&[], "s");
    let schema = json!({ "type": "object" });
    let called = |is_allowed: bool| {
        let tool = ServedTool::new("docs", "search", "Finds", schema.clone(), is_allowed).unwrap();
        let deed = |_: &serde_json::Value| {
            Ok(ToolOutput {
                output: json!("found"),
                is_error: false,
            })
        };
        let done = runtime.call_served(&tool, &json!({}), &|_| Ok(()), &deed);
        done.is_ok()
    };
    assert!(called(false) && called(false));
    assert_eq!(user.asked(), 1);
    let store = Store::open(&live.database()).unwrap();
    let stored = store.all_approvals().unwrap();
    assert_eq!(store.revoke_approvals("mcp:docs", None, None).unwrap(), 1);
    assert!(!called(false));
    assert_eq!(user.asked(), 2);
    // A denial counts also where the configuration allows it.
    assert!(called(true));
    let denied = Approval {
        decision: ApprovalDecision::Denied,
        ..stored[0].clone()
    };
    store.approve(&[denied]).unwrap();
    assert!(!called(true));
    runtime.end().unwrap();
}

/// A skill is invoked by its name, with its source, or by its folder; a denial covers all of them.
// case 224
#[test]
fn a_denied_skill_is_not_invoked_by_another_name() {
    let live = Live::new();
    live.skill("b", TOOL, &[], ("main.star", &tool("return \"done\"")));
    let folder = live.stage.context.work().canonicalize().unwrap();
    let folder = folder.join("skills/b").display().to_string();
    let invokes = tool("return invoke_skill(input[\"name\"], \"t\")");
    live.skill("a", TOOL, &["skill:invoke"], ("main.star", &invokes));
    let names = ["b", "project:b", folder.as_str()];
    let invoked = |runtime: &Runtime| -> Vec<bool> {
        let input = |name: &str| json!({ "name": name });
        let call = |name: &&str| !runtime.call("a", "t", &input(name)).unwrap().is_error;
        names.iter().map(call).collect()
    };
    let open = || {
        let runtime = live.open(&[], "s");
        runtime.activate("a").unwrap();
        runtime
    };
    permissions(&live, "a", &["--approve"]);
    assert_eq!(invoked(&open()), [true; 3]);
    for name in names {
        permissions(&live, "a", &["--deny", &format!("skill:invoke({name})")]);
        let runtime = open();
        assert_eq!(invoked(&runtime), [false; 3], "{name}");
        drop(runtime);
        permissions(&live, "a", &["--revoke", &format!("skill:invoke({name})")]);
    }
    assert_eq!(invoked(&open()), [true; 3]);
}
