//! The Rust skills that `metier new` writes are built as their READMEs describe, and pass their tests. The languages that need no build are
//! in `spec/new.md`.

use std::fs;

use metier_testkit::make_executable;

use crate::{
    live_session::{Live, left_running},
    live_word_count::{build, example},
};

const TYPES: &[&str] = &["tool", "prompt", "workflow", "security-rule", "transform"];

#[test]
fn a_new_library_of_every_type_is_built_and_passes_its_tests() {
    let live = Live::new();
    let context = &live.stage.context;
    // The SDK is the one that was written next to the skills; all other versions are those of the example.
    let lock = fs::read_to_string(example().join("Cargo.lock")).unwrap();
    for kind in TYPES {
        let name = format!("new-{kind}");
        let made = context.run(&["new", &name, "--type", kind, "--backend", "native"]);
        assert_eq!(made.code, 0, "{kind}: {}", made.snapshot());
        context.write(&format!("{name}/Cargo.lock"), &lock);
        let target = build(&context.path(&name), &["--offline"]);
        let library = format!("debug/lib{}.so", name.replace('-', "_"));
        fs::create_dir(context.path(&format!("{name}/lib"))).unwrap();
        let place = context.path(&format!("{name}/lib/skill.so"));
        fs::copy(target.join(library), place).unwrap();
        let tested = context.run(&["test", &name]);
        assert_eq!(tested.code, 0, "{kind}: {}", tested.snapshot());
        assert!(tested.stdout.contains("✓"), "{kind}: {}", tested.snapshot());
    }
    assert_eq!(left_running(&live), [""; 0]);
}

#[test]
fn a_new_program_is_built_beside_the_sdk_that_came_with_it() {
    let live = Live::new();
    let context = &live.stage.context;
    let lock = fs::read_to_string(example().join("Cargo.lock")).unwrap();
    let new = [
        "new",
        "new-program",
        "--backend",
        "process",
        "--language",
        "rust",
    ];
    let made = context.run(&new);
    assert_eq!(made.code, 0, "{}", made.snapshot());
    context.write("new-program/Cargo.lock", &lock);
    let target = build(&context.path("new-program"), &["--offline"]);
    fs::create_dir(context.path("new-program/bin")).unwrap();
    let place = context.path("new-program/bin/program");
    fs::copy(target.join("debug/new-program"), &place).unwrap();
    make_executable(&place);
    let tested = context.run(&["test", "new-program"]);
    assert_eq!(tested.code, 0, "{}", tested.snapshot());
    // Files next to a skill are neither a skill nor part of one.
    let listed = context.run(&["--root", ".", "list", "--all"]);
    assert!(listed.stderr.contains("1 skill"), "{}", listed.snapshot());
}
