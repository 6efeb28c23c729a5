//! The interface from the host's side, with a well-behaved library: lent memory is returned, and only the called thread may send requests.
//! Libraries that misbehave are tested from outside, in `crates/cli`: here they would end the test as well.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use metier_native::NativeLibrary;
use metier_sdk::{
    guest::{HostError, Transport},
    wire::{HostRequest, code},
};
use serde_json::{Value, json};

/// A host that knows one variable, and counts the requests.
#[derive(Default)]
struct Desk(Vec<String>);

impl Transport for Desk {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        let HostRequest::Env { name } = request else {
            return Ok(json!({}));
        };
        self.0.push(name.clone());
        Ok(json!({"value": "Hello"}))
    }
}

/// The library, built once.
fn ledger() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let here = env!("CARGO_MANIFEST_DIR");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ledger.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"])
            .args(["-D_GNU_SOURCE", "-pthread"])
            .arg(format!("-I{here}/../../sdk/include"))
            .args([format!("{here}/tests/ledger.c"), "-o".to_owned()])
            .arg(&library)
            .status();
        let built = built.unwrap_or_else(|error| panic!("this test needs a C compiler: {error}"));
        assert!(built.success());
        library
    })
}

fn ask(room: &mut NativeLibrary, desk: &mut Desk, method: &str) -> Result<Value, HostError> {
    room.answer(method, &json!({}), desk)
}

#[test]
fn nothing_is_answered_before_initialize() {
    let mut room = NativeLibrary::new(ledger().to_owned());
    let error = ask(&mut room, &mut Desk::default(), "tool/execute").unwrap_err();
    assert_eq!(error.message, "`initialize` must be called first");
}

#[test]
fn a_library_that_is_not_there_is_an_answer() {
    let mut room = NativeLibrary::new("/nowhere/skill.so".into());
    let error = ask(&mut room, &mut Desk::default(), "initialize").unwrap_err();
    assert_eq!(error.code, code::FAILED);
    let expected = "`/nowhere/skill.so` can't be read: ";
    assert!(error.message.starts_with(expected), "{}", error.message);
}

/// In a separate process, like a skill's: nothing else changes the counters of the library.
#[test]
fn every_answer_is_given_back_once_and_the_skill_at_the_end() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ledger.txt");
    let _from_last_time = std::fs::remove_file(&place);
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_life", "--ignored"])
        .env("METIER_TEST_LEDGER", &place)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let ledger = std::fs::read_to_string(place).unwrap();
    assert_eq!(ledger, "made 4, released 4");
}

#[test]
#[ignore = "run by the test above"]
fn a_life() {
    let (mut room, mut desk) = (NativeLibrary::new(ledger().to_owned()), Desk::default());
    let counted = |made: u32, released: u32| Ok(json!({"made": made, "released": released}));
    assert_eq!(ask(&mut room, &mut desk, "initialize"), counted(0, 0));
    assert_eq!(ask(&mut room, &mut desk, "tool/execute"), counted(1, 1));
    // Where there is no answer, there is nothing to give back.
    let error = ask(&mut room, &mut desk, "fails").unwrap_err();
    assert_eq!(
        error.message,
        "its library returned no answer: `answer` returned 9"
    );
    assert_eq!(ask(&mut room, &mut desk, "tool/execute"), counted(2, 2));
    // A second `initialize` is one more request, not one more library.
    assert_eq!(ask(&mut room, &mut desk, "initialize"), counted(3, 3));
}

#[test]
fn every_question_has_an_answer_however_wrong_it_is() {
    let (mut room, mut desk) = (NativeLibrary::new(ledger().to_owned()), Desk::default());
    ask(&mut room, &mut desk, "initialize").unwrap();
    let heard = ask(&mut room, &mut desk, "questions").unwrap();
    let codes: Vec<&Value> = (0..5).map(|one| &heard[one]["error"]["code"]).collect();
    assert_eq!(codes, [code::PARAMS; 5], "{heard}");
    assert_eq!(heard[5], json!({"result": {"value": "Hello"}}));
    assert_eq!(desk.0, ["GREETING"]);
}

#[test]
fn a_request_from_another_thread_is_an_error() {
    let (mut room, mut desk) = (NativeLibrary::new(ledger().to_owned()), Desk::default());
    ask(&mut room, &mut desk, "initialize").unwrap();
    let error = ask(&mut room, &mut desk, "late").unwrap_err();
    assert_eq!(
        error.message,
        "only the thread that was called can ask the host, and only until it returns"
    );
    assert_eq!(desk.0, [""; 0]);
}
