//! The requirements of a test on the machine, and how a test is reported where the machine lacks them.
//!
//! **Problem.** A test that returns because something is missing is green, and the harness hides its output. **Decision.** A test returns
//! early only through [`needed!`](crate::needed), which takes a [`NotRun`], and only this module creates one: it has then reported the test
//! past the harness. `cargo xtask test` sets [`REPORT`]. A missing program fails the test there, with the package to install; a limitation
//! that no package can change (the kernel, the user who runs the tests) is collected, and printed at the end.
//!
//! ```no_run
//! # fn make_terminal() -> Result<(), metier_testkit::NotRun> {
//! metier_testkit::needs::program("script")?;
//! # Ok(())
//! # }
//! # fn a_test() {
//! let terminal = metier_testkit::needed!(make_terminal());
//! # }
//! ```

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io, thread};

use crate::programs::{PROGRAMS, Program};

/// Names the file that collects the tests that were not run. Set by `cargo xtask test` and `cargo xtask attack`.
pub const REPORT: &str = "METIER_TEST_NOT_RUN";

/// A test, or a part of it, that was reported as not run.
#[derive(Debug)]
pub struct NotRun(());

/// The value; otherwise the end of a test that was reported as not run.
#[macro_export]
macro_rules! needed {
    ($value:expr) => {
        match $value {
            Ok(value) => value,
            Err($crate::NotRun { .. }) => return,
        }
    };
}

/// The file of a program that a test starts.
///
/// # Errors
/// If this machine lacks it. Under `cargo xtask test` that is a panic.
#[track_caller]
pub fn program(name: &str) -> Result<PathBuf, NotRun> {
    let Some(known) = PROGRAMS.iter().find(|program| program.name == name) else {
        panic!(
            "`{name}` is not in the list of crates/testkit/src/programs.rs, from which it is installed: add a line"
        );
    };
    let path = env::var_os("PATH").unwrap_or_default();
    found(known, &path, env::var_os(REPORT).is_some()).map_err(not_run)
}

#[track_caller]
fn found(program: &Program, path: &std::ffi::OsStr, required: bool) -> Result<PathBuf, String> {
    let Program { name, package } = program;
    let mut files = env::split_paths(path).map(|folder| folder.join(name));
    if let Some(file) = files.find(|file| file.is_file()) {
        return Ok(file);
    }
    let missing = format!("there is no program `{name}` on this machine: install {package}");
    assert!(!required, "{missing}");
    Err(missing)
}

/// A property of the machine that no package changes; `else_not_run` names it. `case 22: …` is about one attack case only.
///
/// # Errors
/// If the condition does not hold. The test was then reported as not run.
pub fn condition(holds: bool, else_not_run: &str) -> Result<(), NotRun> {
    match holds {
        true => Ok(()),
        false => Err(not_run(else_not_run)),
    }
}

/// Reports a part that this machine can't run for a reason that no installation changes.
pub fn not_run(why: impl Display) -> NotRun {
    report(
        &why.to_string(),
        env::var_os(REPORT).as_deref().map(Path::new),
    );
    NotRun(())
}

#[expect(clippy::print_stdout, reason = "`cargo xtask attack` reads it there")]
fn report(why: &str, list: Option<&Path>) {
    println!("not run: {why}");
    let this = thread::current();
    let line = format!("not run: {}: {why}\n", this.name().unwrap_or("a test"));
    // Written past the harness, which hides the output of a green test.
    let _closed = io::stderr().write_all(line.as_bytes());
    let list = list.and_then(|list| {
        fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(list)
            .ok()
    });
    if let Some(mut list) = list {
        let _full = list.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::{found, program, report};
    use crate::programs::Program;

    const NONE: Program = Program {
        name: "no-such-program-anywhere",
        package: "none",
    };

    #[test]
    fn a_program_is_found_by_its_name_and_by_its_file() {
        for name in ["sh", "/bin/sh"] {
            let shell = Program {
                name,
                package: "dash",
            };
            let file = found(&shell, OsStr::new("/nowhere:/bin"), true);
            assert_eq!(file.unwrap().to_str(), Some("/bin/sh"));
        }
    }

    #[test]
    #[should_panic(expected = "`no-such-program-anywhere` on this machine: install none")]
    fn a_missing_program_fails_where_programs_are_required() {
        let _never = found(&NONE, OsStr::new("/bin"), true);
    }

    #[test]
    fn elsewhere_a_missing_program_is_named() {
        let missing = found(&NONE, OsStr::new("/bin"), false).unwrap_err();
        assert!(missing.ends_with("install none"), "{missing}");
    }

    #[test]
    #[should_panic(expected = "add a line")]
    fn a_program_that_is_never_installed_can_not_be_asked_for() {
        let _never = program("no-such-program-anywhere");
    }

    #[test]
    fn what_was_not_run_is_collected() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        report("case 1: no kernel", Some(&list));
        report("no disk", Some(&list));
        let test = "needs::tests::what_was_not_run_is_collected";
        assert_eq!(
            std::fs::read_to_string(list).unwrap(),
            format!("not run: {test}: case 1: no kernel\nnot run: {test}: no disk\n")
        );
    }
}
