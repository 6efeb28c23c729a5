//! # metier-testkit — the real program, in an isolated environment
//!
//! **Problem.** A test that runs the program in the developer's own home tests that home. A test that calls a library
//! function freezes the function. We want tests that run the built `metier`, see what a user sees, and give the
//! same answer on every machine; and we want the most important of them to be documents that people read.
//!
//! **Goals.**
//! * one way to start the program: own home, own working folder, own `PATH`, own clock, a timeout;
//! * its output can be compared as text: temporary paths are replaced by `[WORK]`, `[HOME]`, `[BIN]`;
//! * a specification in Markdown is a test, and one that checks nothing is a failure.
//!
//! **Worked example.**
//! ```no_run
//! let context = metier_testkit::TestContext::new("target/debug/metier");
//! context.write("skills/hello/SKILL.md", "---\nname: hello\ndescription: Says hello.\n---\nHello!\n");
//! context.bin("gh", "#!/bin/sh\necho fake gh\n");
//! let output = context.run(&["--root", "skills", "list", "--json"]);
//! assert_eq!(output.code, 0, "{}", output.snapshot());
//! assert!(output.filtered().stdout.contains("[WORK]/skills/hello"));
//! ```
//! A whole folder of specifications is one test: `metier_testkit::spec::run_dir(program, folder)`; the format is
//! described in [`spec`]. A model with scripted answers is a [`model_server::ModelServer`].
//!
//! **In → out.** `program + files + env + arguments → Output { stdout, stderr, code }`; `folder of *.md → Report`.
//!
//! **Invariants.** Nothing of the caller's environment reaches the program · a hanging child is killed with its
//! whole process group · paths in tests cannot leave the temporary folder · the runner never passes without having
//! run a command · a test that is not run is reported ([`needs`]), and waits for conditions, not for time ([`patience`]).
//!
//! Unix only, like the tests it serves: they need symbolic links, FIFOs and modes.
//!
//! **Start reading at** `context.rs`, then `spec.rs`, then `spec/document.rs`.

mod context;
mod manifest;
pub mod model_server;
pub mod needs;
mod output;
pub mod patience;
mod process;
mod programs;
pub mod spec;
mod test_folders;

pub use context::{NOW, TestContext};
pub use manifest::skill_yaml;
pub use needs::NotRun;
pub use output::ProgramOutput;
pub use process::{RunError, make_executable};
