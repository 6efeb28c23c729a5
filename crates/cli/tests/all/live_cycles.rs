//! Repeated activation and deactivation: nothing grows, and nothing is left.
//!
//! Resources are measured in a process that does nothing else: this test runs itself again, as a child.

use std::{collections::BTreeMap, env, time::Instant};

use metier_runtime::live::{ActivateError, CallError, LifecycleState, Runtime};
use serde_json::json;

use crate::live_session::{Live, alone_in_a_process, holds, left_running, shell, tool};

const TOOL: &str = "types: [tool]\n";
const MARK: &str = "METIER_TEST_CYCLES";

/// A program that prints as little as a skill can.
fn trivial() -> String {
    shell(&[
        (
            "initialize",
            "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}]}'",
        ),
        ("tool/execute", "answer '{\"output\":1}'"),
        ("shutdown", "answer '{}'; exit 0"),
    ])
}

/// Activates, calls and deactivates a skill this many times; returns the resources of the process after the first tenth and at the end.
fn cycle(runtime: &Runtime, name: &str, times: usize) -> String {
    let begin = Instant::now();
    let mut early = BTreeMap::new();
    for number in 0..times {
        runtime.activate(name).unwrap();
        assert_eq!(runtime.call(name, "t", &json!({})).unwrap().output, 1);
        runtime.deactivate(name).unwrap();
        if number == times / 10 {
            early = holds();
        }
    }
    let late = holds();
    let took = begin.elapsed();
    for what in ["threads", "files", "children"] {
        assert_eq!(late[what], early[what], "{name}: {what}");
    }
    // Each activation would have to leak less than four kilobytes to stay below this.
    let grown = late["memory"].saturating_sub(early["memory"]);
    assert!(grown < 512 + times, "{name}: {grown} kB more");
    format!(
        "{name}: {times} times in {took:.1?}; after {}: {early:?}; at the end: {late:?}",
        times / 10 + 1
    )
}

/// The child. It does nothing when all ignored tests are run.
#[test]
#[ignore = "run by the test of this file"]
fn alone() {
    let Ok(times) = env::var(MARK) else { return };
    let times: Vec<usize> = times.split(' ').map(|word| word.parse().unwrap()).collect();
    let live = Live::new();
    live.skill("starlark", TOOL, &[], ("main.star", &tool("return 1")));
    live.skill("program", TOOL, &[], ("main.sh", &trivial()));
    live.session(&["program"], |runtime| {
        println!("{}", cycle(runtime, "starlark", times[0]));
        println!("{}", cycle(runtime, "program", times[1]));
        assert_eq!(runtime.state("starlark"), LifecycleState::Inactive);
    });
    assert_eq!(left_running(&live), [""; 0]);
}

#[test]
fn a_thousand_activations_leave_nothing_behind() {
    // Without optimisation a worker takes ten times as long to start.
    let times = if cfg!(debug_assertions) {
        "200 300"
    } else {
        "1000 1000"
    };
    println!("{}", alone_in_a_process("live_cycles::alone", MARK, times));
}

#[test]
fn a_session_keeps_to_the_bytes_that_it_saw_first() {
    let live = Live::new();
    live.skill("changes", TOOL, &[], ("main.star", &tool("return 1")));
    live.session(&[], |runtime| {
        runtime.activate("changes").unwrap();
        runtime.deactivate("changes").unwrap();
        let file = "skills/changes/main.star";
        live.stage.context.write(file, tool("return 2"));
        let refused = runtime.activate("changes").unwrap_err();
        assert!(matches!(refused, ActivateError::Changed), "{refused}");
        assert_eq!(runtime.state("changes"), LifecycleState::Error);
        live.stage.context.write(file, tool("return 1"));
        runtime.activate("changes").unwrap();
        assert_eq!(runtime.call("changes", "t", &json!({})).unwrap().output, 1);
    });
    live.stage
        .context
        .write("skills/changes/main.star", tool("return 2"));
    live.session(&[], |runtime| {
        runtime.activate("changes").unwrap();
        assert_eq!(runtime.call("changes", "t", &json!({})).unwrap().output, 2);
    });
}

/// Changes during a run have no effect: neither on the running skill, nor when its program is restarted.
#[test]
fn a_skill_that_runs_does_not_become_another_one() {
    let live = Live::new();
    let dies = shell(&[
        (
            "initialize",
            "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}]}'",
        ),
        ("tool/execute", "exit 1"),
    ]);
    live.skill("changes", TOOL, &[], ("main.sh", &dies));
    live.session(&["changes"], |runtime| {
        runtime.activate("changes").unwrap();
        live.stage
            .context
            .write("skills/changes/main.sh", trivial());
        let call = || {
            runtime
                .call("changes", "t", &json!({}))
                .unwrap_err()
                .to_string()
        };
        assert!(call().contains("ended before it answered"));
        let again = call();
        assert!(again.contains("changed"), "{again}");
    });
}

#[test]
fn what_a_skill_contributed_is_gone_when_it_is() {
    let live = Live::new();
    let code = format!(
        "def before(event):\n    cancel(\"no\")\nregister_hook(\"before_tool_call\", before)\n{}",
        tool("return 1")
    );
    live.skill("no", TOOL, &[], ("main.star", &code));
    live.skill("yes", TOOL, &[], ("main.star", &tool("return 1")));
    live.session(&[], |runtime| {
        for name in ["no", "yes"] {
            runtime.activate(name).unwrap();
        }
        let names = || runtime.tools().into_iter().map(|tool| tool.name);
        assert_eq!(names().collect::<Vec<_>>(), ["no__t", "yes__t"]);
        let cancelled = runtime.call("yes", "t", &json!({}));
        assert!(matches!(cancelled, Err(CallError::Cancelled { .. })));
        runtime.deactivate("no").unwrap();
        assert_eq!(names().collect::<Vec<_>>(), ["yes__t"]);
        assert_eq!(runtime.call("yes", "t", &json!({})).unwrap().output, 1);
        let gone = runtime.call("no", "t", &json!({})).unwrap_err();
        assert_eq!(gone.to_string(), "skill `no` is not active");
        let steps = runtime.transitions();
        let steps = steps.iter().filter(|step| step.skill == "no");
        let steps: Vec<&str> = steps.map(|step| step.to.as_str()).collect();
        assert_eq!(steps, ["activating", "active", "inactive"]);
    });
    assert_eq!(left_running(&live), [""; 0]);
}

/// A skill that is activated again, or through another skill, behaves as before.
// case 131
#[test]
fn how_often_something_was_done_in_a_turn_is_not_forgotten_by_a_new_activation() {
    let mut live = Live::new();
    live.rate = 2;
    let asks = ["llm:call(small)"];
    let code = tool("return llm(\"Hello?\", model = \"small\")");
    live.skill("asks", TOOL, &asks, ("main.star", &code));
    let through = tool("return invoke_skill(\"asks\", \"t\")");
    let asks = ["llm:call(small)", "skill:invoke(asks)"];
    live.skill("through", TOOL, &asks, ("main.star", &through));
    live.session(&["asks", "through"], |runtime| {
        let call = |name: &str| {
            runtime.activate(name).unwrap();
            let called = runtime.call(name, "t", &json!({})).unwrap();
            runtime.deactivate(name).unwrap();
            called.output.as_str().unwrap().to_owned()
        };
        assert_eq!(call("asks"), "Hello?");
        assert_eq!(call("through"), "Hello?");
        let refused = "`llm:call`: the limit of 2 in one turn is reached";
        for name in ["asks", "through"] {
            let said = call(name);
            assert!(said.contains(refused), "{name}: {said}");
        }
        runtime.next_turn();
        assert_eq!(call("asks"), "Hello?");
    });
}
