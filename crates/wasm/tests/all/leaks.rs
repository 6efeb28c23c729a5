//! A thousand instances, and nothing left of them.

use std::fs;

use serde_json::json;

use crate::kit::{call, data, load, reactor, told};

/// Resident memory, in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_instances_leave_nothing() {
    let text = r#"{"result":1}"#;
    // Each writes four megabytes.
    let body = format!(
        "(drop (memory.grow (i32.const 64)))
         (memory.fill (i32.const 131072) (i32.const 7) (i32.const 4194304))
         {}",
        told(0, text.len())
    );
    let good = load(&reactor(&data(0, text), &body)).unwrap();
    let bad = load(&reactor("", &format!("{body} (drop) (unreachable)"))).unwrap();
    let both = || {
        assert_eq!(call(&good, "x", &json!({})).result.unwrap(), 1);
        assert!(call(&bad, "x", &json!({})).result.is_err());
    };
    (0..20).for_each(|_| both());
    let before = resident();
    (0..500).for_each(|_| both());
    let after = resident();
    // Other tests run beside this one; two gigabytes were written.
    assert!(
        after < before + 200 * 1024,
        "{before} KiB, then {after} KiB"
    );
}
