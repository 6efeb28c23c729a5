//! Instances leave nothing: neither in this process, nor for the next instance.

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

// case 140
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
    // Other tests run in parallel; two gigabytes were written.
    assert!(
        after < before + 200 * 1024,
        "{before} KiB, then {after} KiB"
    );
}

/// Slots of the pool are reused by the next instance, and pages stay mapped: their content must not stay.
#[test]
fn an_instance_finds_memory_as_its_module_has_it() {
    let text = r#"{"result":1}"#;
    // The host's data is at 65536; everything from here on is zero, except for one byte that the module has there.
    let (start, end, own) = (70_000, 4_300_000, 70_001);
    let body = format!(
        "(local $at i32)
         (drop (memory.grow (i32.const 64)))
         (if (i32.ne (i32.load8_u (i32.const {own})) (i32.const 65)) (then (unreachable)))
         (i32.store8 (i32.const {own}) (i32.const 0))
         (local.set $at (i32.const {start}))
         (loop $look
            (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (unreachable)))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br_if $look (i32.lt_u (local.get $at) (i32.const {end}))))
         (memory.fill (i32.const {start}) (i32.const 7) (i32.const FILLED))
         {}",
        told(0, text.len())
    );
    // Few pages are kept and cleared, many are returned.
    let programs = [16 * 1024, end - start].map(|bytes| {
        let body = body.replace("FILLED", &bytes.to_string());
        let definitions = data(0, text) + &data(own, "A");
        load(&reactor(&definitions, &body)).unwrap()
    });
    for _ in 0..10 {
        for program in &programs {
            assert_eq!(call(program, "x", &json!({})).result.unwrap(), 1);
        }
    }
}
