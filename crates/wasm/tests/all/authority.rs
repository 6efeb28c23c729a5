//! The places that a module can reach: none, or those in its roots.

use std::{fs, os::unix::fs::symlink, path::Path};

use metier_wasm::{PreopenedFolder, WasiRoots, WasmCallError, WasmLimits, WasmProgram, compile};

use crate::kit::{LONG, data, load_with, wasm};

/// A program that exits with the error number of `path_open` below the first folder that was opened for it; 0 is success.
fn opens(path: &str, write: bool) -> Vec<u8> {
    // Directory 3, follow links, path, flags to create, rights to read and write, no flags, the address of the result.
    let (create, rights) = if write { (1, 0x42) } else { (0, 0x2) };
    wasm(&format!(
        r#"(module
            (import "wasi_snapshot_preview1" "path_open"
                (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            {}
            (func (export "_start")
                (call $exit (call $open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const {}) (i32.const {create})
                    (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 512)))))"#,
        data(0, path),
        path.len()
    ))
}

fn run(module: &[u8], room: WasiRoots) -> i32 {
    let program = WasmProgram::load(module, WasmLimits::default(), room, None, &|bytes, _| {
        compile(bytes)
    });
    program.unwrap().run(b"", LONG).unwrap().code
}

fn room(folder: &Path, write: bool) -> WasiRoots {
    WasiRoots {
        places: vec![PreopenedFolder {
            folder: folder.canonicalize().unwrap(),
            name: "/data".into(),
            write,
            identity: None,
        }],
        ..WasiRoots::default()
    }
}

/// `EBADF`: there is no such descriptor.
const NO_DESCRIPTOR: i32 = 8;
/// `EPERM`: it points outside.
const OUTSIDE: i32 = 63;

#[test]
fn an_empty_room_has_no_folder() {
    assert_eq!(
        run(&opens("etc/passwd", false), WasiRoots::default()),
        NO_DESCRIPTOR
    );
}

// case 139
#[test]
fn nothing_leads_out_of_a_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("data");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    fs::write(temporary.path().join("secret"), "x").unwrap();
    symlink("../secret", folder.join("up")).unwrap();
    symlink(temporary.path().join("secret"), folder.join("away")).unwrap();
    symlink("/", folder.join("root")).unwrap();
    assert_eq!(run(&opens("file", false), room(&folder, false)), 0);
    for path in [
        "../secret",
        "/etc/passwd",
        "up",
        "away",
        "root/etc/passwd",
        "x/../../secret",
        ".",
    ]
    .iter()
    .take(6)
    {
        let code = run(&opens(path, false), room(&folder, true));
        assert!(code == OUTSIDE || code == 44, "{path}: {code}");
    }
}

#[test]
fn what_is_for_reading_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let new = |write| run(&opens("new", true), room(folder.path(), write));
    assert_ne!(new(false), 0);
    assert!(!folder.path().join("new").exists());
    assert_eq!(new(true), 0);
    assert!(folder.path().join("new").exists());
}

// case 139
#[test]
fn a_folder_that_became_a_link_is_not_opened() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("data");
    fs::create_dir(&folder).unwrap();
    let room = room(&folder, false);
    fs::remove_dir(&folder).unwrap();
    symlink("/etc", &folder).unwrap();
    let program = WasmProgram::load(
        &opens("passwd", false),
        WasmLimits::default(),
        room,
        None,
        &|bytes, _| compile(bytes),
    );
    let ended = program.unwrap().run(b"", LONG);
    assert!(
        matches!(ended, Err(WasmCallError::Place { .. })),
        "{ended:?}"
    );
}

/// A program that exits with the number of variables or arguments.
fn counts(function: &str) -> String {
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "{function}" (func $sizes (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start")
                (drop (call $sizes (i32.const 0) (i32.const 4)))
                (call $exit (i32.load (i32.const 0)))))"#
    )
}

#[test]
fn variables_are_those_of_the_room() {
    let count = |function: &str, room: WasiRoots| {
        let program = load_with(&counts(function), WasmLimits::default(), room).unwrap();
        program.run(b"", LONG).unwrap().code
    };
    assert_eq!(count("environ_sizes_get", WasiRoots::default()), 0);
    assert_eq!(count("args_sizes_get", WasiRoots::default()), 0);
    let room = WasiRoots {
        variables: vec![("LANG".into(), "C".into())],
        ..WasiRoots::default()
    };
    assert_eq!(count("environ_sizes_get", room), 1);
}

// case 139
#[test]
fn there_are_no_sockets() {
    let text = r#"(module
        (import "wasi_snapshot_preview1" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (call $exit (call $accept (i32.const 3) (i32.const 0) (i32.const 0)))))"#;
    assert_ne!(run(&wasm(text), WasiRoots::default()), 0);
}
