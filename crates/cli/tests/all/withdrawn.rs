//! Permissions that are revoked or denied while a skill is active, here or by another process.

use std::{path::PathBuf, sync::Arc};

use metier_runtime::{
    granted_skill::DelegateError,
    live::{Model, Runtime},
};
use metier_store::Store;
use serde_json::json;

use crate::live_session::{Live, left_running, lines, python, tool};

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

// case 228
#[test]
fn a_rule_that_lost_its_permission_refuses_until_it_is_started_again() {
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
                    refused.contains("cancelled by skill `guard`: its check failed")
                        && refused.contains("was revoked or denied"),
                    "{file}: {refused}"
                );
            }
            assert!(runtime.activate("guard").is_err(), "{file}");
            assert!(calls(&runtime).is_err(), "{file}");
            permissions(&live, "guard", &["--approve"]);
            runtime.activate("guard").unwrap();
            assert_eq!(calls(&runtime), Ok(()), "{file}");
        }
        runtime.end().unwrap();
        assert_eq!(left_running(&live), [""; 0], "{file}");
    }
}

/// A model during whose answer the user revokes a permission of skill `a`.
struct Revoking(PathBuf);

impl Model for Revoking {
    fn answer(
        &self,
        prompt: &str,
        _: Option<&str>,
        _: Option<&str>,
    ) -> Result<String, DelegateError> {
        let store = Store::open(&self.0).unwrap();
        store.revoke_approvals("a", None).unwrap();
        Ok(prompt.to_owned())
    }
}

/// Acts of a skill for another one end with the permissions of either.
// case 228
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
