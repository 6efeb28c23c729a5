//! Sessions and threads: a session is not bound to a thread, and concurrent sessions produce a single intact chain of receipts.
//!
//! Leftovers are counted in a process that does nothing else: each test runs itself again, as a child.

use std::{collections::BTreeMap, env, thread};

use metier_runtime::live::Runtime;
use metier_store::{Receipt, ReceiptFilter, Store, Verified};
use serde_json::json;

use crate::live_session::{Live, alone_in_a_process, holds, left_running, lines, shell, tool};

const TOOL: &str = "types: [tool]\n";
const MARK: &str = "METIER_TEST_THREADS";
const THREADS: usize = 8;
const ROUNDS: usize = 10;

/// A skill in Starlark that writes a file, and a program that counts its calls.
fn two_skills() -> Live {
    let live = Live::new();
    let writes = tool("write_file(\"written.txt\", \"x\")\nreturn 1");
    let asks = ["file:write(./written.txt)"];
    live.skill("starlark", TOOL, &asks, ("main.star", &writes));
    let counts = shell(&[
        (
            "initialize",
            "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}]}'",
        ),
        (
            "tool/execute",
            "count=$((count + 1)); answer \"{\\\"output\\\":$count}\"",
        ),
        ("shutdown", "answer '{}'; exit 0"),
    ]);
    live.skill("program", TOOL, &[], ("main.sh", &counts));
    live
}

/// A session of this name in which both skills are active.
fn open(live: &Live, session: &str) -> Runtime {
    let runtime = live.open(&["starlark", "program"], session);
    runtime.activate("starlark").unwrap();
    runtime.activate("program").unwrap();
    runtime
}

/// Calls both skills; the program returns how many times it was called since its start.
fn call(runtime: &Runtime, times: usize) {
    let output = |skill| runtime.call(skill, "t", &json!({})).unwrap().output;
    assert_eq!(output("starlark"), 1);
    assert_eq!(output("program"), times);
}

/// All receipts of an intact chain, by session.
fn receipts(live: &Live) -> BTreeMap<String, Vec<Receipt>> {
    let store = Store::open(&live.database()).unwrap();
    let verified = store.verify().unwrap();
    assert!(matches!(verified, Verified::Whole { .. }), "{verified:?}");
    let mut by_session: BTreeMap<String, Vec<Receipt>> = BTreeMap::new();
    for receipt in store.receipts(ReceiptFilter::default()).unwrap() {
        let session = receipt.entry.session.clone().unwrap();
        by_session.entry(session).or_default().push(receipt);
    }
    by_session
}

/// The receipts of a session in which both skills were called this many times: every act is complete, and nothing was restarted.
fn of_one_session(live: &Live, calls: usize) -> Vec<String> {
    let file = live.stage.context.path("written.txt");
    let written = format!("starlark file:write {}: ok", file.display());
    let call = [
        "starlark tool:call starlark__t: ok",
        &written,
        "program tool:call program__t: ok",
    ];
    let mut all = vec![
        "starlark skill:activate: ok",
        "program skill:activate: ok",
        "program skill:run main.sh: ok",
        "program skill:deactivate: ok",
        "starlark skill:deactivate: ok",
    ];
    all.extend(call.repeat(calls));
    sorted(all.into_iter().map(str::to_owned).collect())
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn nothing_is_left(live: &Live) {
    assert_eq!(holds()["children"], 0);
    assert_eq!(left_running(live), [""; 0]);
}

#[test]
#[ignore = "run by the test below"]
fn moved() {
    if env::var_os(MARK).is_none() {
        return;
    }
    let live = two_skills();
    let runtime = thread::scope(|scope| {
        let opened = scope.spawn(|| {
            let runtime = open(&live, "moved");
            call(&runtime, 1);
            runtime
        });
        opened.join().unwrap()
    });
    let used = thread::spawn(move || {
        call(&runtime, 2);
        call(&runtime, 3);
        drop(runtime);
    });
    used.join().unwrap();
    nothing_is_left(&live);
    let all = receipts(&live);
    assert_eq!(sorted(lines(&all["moved"])), of_one_session(&live, 3));
    assert_eq!(all.len(), 1);
}

#[test]
fn a_session_continues_in_another_thread_and_ends_when_it_is_dropped_there() {
    alone_in_a_process("live_threads::moved", MARK, "1");
}

#[test]
#[ignore = "run by the test below"]
fn at_once() {
    if env::var_os(MARK).is_none() {
        return;
    }
    let live = two_skills();
    let work = |number: usize| {
        for round in 0..ROUNDS {
            let runtime = open(&live, &format!("{number}-{round}"));
            call(&runtime, 1);
            runtime.end().unwrap();
        }
    };
    thread::scope(|scope| {
        for number in 0..THREADS {
            let work = &work;
            scope.spawn(move || work(number));
        }
    });
    nothing_is_left(&live);
    let all = receipts(&live);
    assert_eq!(all.len(), THREADS * ROUNDS);
    for (session, receipts) in all {
        assert_eq!(
            sorted(lines(&receipts)),
            of_one_session(&live, 1),
            "{session}"
        );
    }
    // The program itself reports the same about the chain.
    live.stage.receipts();
}

#[test]
fn sessions_of_several_threads_leave_one_whole_chain_of_receipts() {
    alone_in_a_process("live_threads::at_once", MARK, "1");
}
