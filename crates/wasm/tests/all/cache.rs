//! Cached compiled code: it is found again, and rejected when it isn't exactly the written code.

use std::{
    cell::Cell,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use metier_wasm::{Cache, WasiRoots, WasmLimits, WasmProgram, compile};
use serde_json::json;

use crate::kit::{call, data, reactor, told, wasm};

/// Loads a module that answers with this digit; returns whether it was compiled for that.
fn compiled(cache: &Cache, digit: u8) -> bool {
    let text = format!(r#"{{"result":{digit}}}"#);
    let module = wasm(&reactor(&data(0, &text), &told(0, text.len())));
    let asked = Cell::new(false);
    let compiler = |bytes: &[u8], _| {
        asked.set(true);
        compile(bytes)
    };
    let program = WasmProgram::load(
        &module,
        WasmLimits::default(),
        WasiRoots::default(),
        Some(cache),
        &compiler,
    );
    let answer = call(&program.unwrap(), "x", &json!({})).result.unwrap();
    assert_eq!(answer, digit);
    asked.get()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn it_is_compiled_once() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("below/wasm");
    let cache = Cache::new(folder.clone());
    assert!(compiled(&cache, 1) && !compiled(&cache, 1) && compiled(&cache, 2));
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for file in files(&folder) {
        assert_eq!(
            fs::metadata(file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}

#[test]
fn touched_pages_are_reset() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("wasm");
    let cache = Cache::new(folder.clone());
    assert!(compiled(&cache, 1));
    let file = files(&folder).remove(0);
    let good = fs::read(&file).unwrap();
    let again = |what: &str| {
        assert!(compiled(&cache, 1), "{what} was believed");
        assert!(!compiled(&cache, 1), "{what} was not repaired");
    };
    let mut bent = good.clone();
    let last = bent.len() - 1;
    bent[last] ^= 1;
    fs::write(&file, bent).unwrap();
    again("a changed byte");
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    again("half of it");
    fs::write(&file, b"").unwrap();
    again("nothing");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    again("a file that others can write");
    fs::rename(&file, temporary.path().join("elsewhere")).unwrap();
    symlink(temporary.path().join("elsewhere"), &file).unwrap();
    again("a link");
    // The code of another module, under this one's name.
    assert!(compiled(&cache, 2));
    let other = files(&folder)
        .into_iter()
        .find(|other| *other != file)
        .unwrap();
    fs::copy(other, &file).unwrap();
    again("the code of another");
}

#[test]
fn a_folder_of_others_is_not_used() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("wasm");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let cache = Cache::new(folder.clone());
    assert!(compiled(&cache, 1) && compiled(&cache, 1));
    assert!(files(&folder).is_empty());
    let link = temporary.path().join("link");
    let real = temporary.path().join("real");
    fs::create_dir(&real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&real, &link).unwrap();
    assert!(compiled(&Cache::new(link.clone()), 1) && compiled(&Cache::new(link), 1));
}

/// Whatever happens to the file later, the checked code runs.
#[test]
fn what_was_loaded_does_not_change_with_its_file() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("wasm");
    let cache = Cache::new(folder.clone());
    let module = wasm(&reactor(
        &data(0, r#"{"result":7}"#),
        &told(0, r#"{"result":7}"#.len()),
    ));
    let load = || {
        let compiler = |bytes: &[u8], _| compile(bytes);
        let limits = WasmLimits::default();
        WasmProgram::load(
            &module,
            limits,
            WasiRoots::default(),
            Some(&cache),
            &compiler,
        )
        .unwrap()
    };
    load();
    let kept = load();
    for file in files(&folder) {
        // In place: a process that has mapped it would see it.
        let length = fs::metadata(&file).unwrap().len();
        let zeros = vec![0; usize::try_from(length).unwrap()];
        fs::write(&file, zeros).unwrap();
    }
    for _ in 0..2 {
        let answer = call(&kept, "x", &json!({})).result.unwrap();
        assert_eq!(answer, 7);
    }
}
