//! The conditions under which an attack must fail: as root and as an unprivileged user, with namespaces and with Landlock alone.

use std::{fmt, os::unix::fs::MetadataExt, path::Path, process::Command};

use metier_testkit::{NotRun, needs, needs::not_run};

use crate::skill_project::{SkillProject, field};

/// The user `nobody` on every Linux.
const NOBODY: u32 = 65534;

/// A system-call filter that denies namespaces and, on request, Landlock. Python installs it, and then executes the program.
const FILTER: &str = r#"
import ctypes, os, struct, sys
unshare, clone, landlock = map(int, sys.argv.pop(1).split())
LOAD, EQUAL, ANY, ANSWER = 0x20, 0x15, 0x45, 0x06
lines = [(LOAD, 0, 0, 0), (EQUAL, 6, 0, landlock), (EQUAL, 5, 0, unshare), (EQUAL, 4, 0, 435), (EQUAL, 0, 2, clone),
         (LOAD, 0, 0, 16), (ANY, 1, 0, 0x7E020000), (ANSWER, 0, 0, 0x7FFF0000), (ANSWER, 0, 0, 0x00050026)]
code = b"".join(struct.pack("HBBI", *line) for line in lines)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(lines), code)), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// The mechanisms that are left for a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Neither namespaces nor Landlock.
    Nothing,
    /// No namespaces.
    Landlock,
}

/// The command that runs a program with only these mechanisms.
pub(crate) fn without(left: Left) -> Result<[&'static str; 4], NotRun> {
    const PYTHON: &str = "/usr/bin/python3";
    needs::program(PYTHON)?;
    // No system call has the number 9999: this denies nothing.
    let numbers = match (std::env::consts::ARCH, left) {
        ("x86_64", Left::Nothing) => "272 56 444",
        ("x86_64", Left::Landlock) => "272 56 9999",
        ("aarch64", Left::Nothing) => "97 220 444",
        ("aarch64", Left::Landlock) => "97 220 9999",
        (other, _) => {
            return Err(not_run(format!(
                "with only {left:?} left: there is no filter of system calls for {other}"
            )));
        }
    };
    Ok([PYTHON, "-c", FILTER, numbers])
}

/// A user and a mechanism.
#[derive(Clone, Copy, Debug)]
struct Condition {
    as_root: bool,
    mechanism: &'static str,
}

const CONDITIONS: [Condition; 4] = [
    Condition {
        as_root: true,
        mechanism: "namespaces",
    },
    Condition {
        as_root: true,
        mechanism: "landlock",
    },
    Condition {
        as_root: false,
        mechanism: "namespaces",
    },
    Condition {
        as_root: false,
        mechanism: "landlock",
    },
];

/// Tries an attack under each condition that this machine can produce, each time in a new fixture, and reports the others as not run.
///
/// The fixture runs the program under the condition; the test itself keeps its user.
pub(crate) fn under_every_condition(attack: impl Fn(&SkillProject)) {
    try_under(&CONDITIONS, attack);
}

/// [`under_every_condition`] for attacks that need a mechanism, such as a private network for the child.
pub(crate) fn behind_namespaces(attack: impl Fn(&SkillProject)) {
    let able: Vec<Condition> = CONDITIONS
        .into_iter()
        .filter(|condition| condition.mechanism == "namespaces")
        .collect();
    try_under(&able, attack);
}

#[expect(
    clippy::print_stdout,
    reason = "what an attack prints belongs to a condition"
)]
fn try_under(conditions: &[Condition], attack: impl Fn(&SkillProject)) {
    let mut tried = 0;
    for condition in conditions {
        if let Ok(stage) = condition.stage() {
            println!("{condition}");
            attack(&stage);
            tried += 1;
        }
    }
    assert!(tried > 0, "no condition could be produced on this machine");
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.as_root { "root" } else { "nobody" };
        write!(f, "as {user} behind {}", self.mechanism)
    }
}

impl Condition {
    /// A fixture under this condition, if the machine can produce it.
    fn stage(self) -> Result<SkillProject, NotRun> {
        let not_run = |why: &str| not_run(format!("{self}: {why}"));
        let mut stage = SkillProject::new();
        let tests_are_root = stage
            .context
            .home()
            .metadata()
            .is_ok_and(|home| home.uid() == 0);
        match (self.as_root, tests_are_root) {
            (true, false) => return Err(not_run("the tests don't run as root")),
            (false, true) => {
                stage.context.run_as(NOBODY);
            }
            _ => {}
        }
        if self.mechanism == "landlock" {
            stage.context.wrap(&without(Left::Landlock)?);
        }
        match self.check(&stage) {
            Ok(()) => Ok(stage),
            Err(why) => Err(not_run(&why)),
        }
    }

    /// Whether a child in this fixture is really confined by the mechanism.
    fn check(self, stage: &SkillProject) -> Result<(), String> {
        let mut version = stage.context.command();
        match version.arg("--version").output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => return Err(format!("the program can't be started: {error}")),
        }
        stage.scripted("probe", &["shell:exec(scripts/*)"], "echo probed\n");
        let output = stage.exec("probe", &[]);
        let receipts = stage.receipts();
        let found = receipts.first().map(|receipt| field(receipt, "sandbox"));
        if output.code != 0 || found != Some(self.mechanism) {
            return Err(format!("{} {}", found.unwrap_or("none"), output.stderr));
        }
        // Leftovers of the probe are not part of the attack.
        let stage_files = [stage.context.work(), stage.context.home()];
        for folder in stage_files {
            empty(&folder).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Removes everything below a folder.
fn empty(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

#[test]
fn the_program_runs_as_the_user_of_the_condition() {
    under_every_condition(|stage| {
        let mut command: Command = stage.context.command();
        command.args(["list", "--json"]);
        assert!(command.output().unwrap().status.success());
        stage.scripted("who", &["shell:exec(scripts/*)"], "id -u\n");
        let output = stage.exec("who", &[]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        let owner = stage.context.home().metadata().unwrap().uid();
        let state = stage.context.path("~/.local/share/metier/metier.db");
        assert_eq!(state.metadata().unwrap().uid(), owner);
    });
}

#[test]
fn a_network_of_the_child_s_own_needs_namespaces() {
    let asked = ["shell:exec(scripts/*)", "net:fetch(127.0.0.1)"];
    behind_namespaces(|stage| {
        stage.scripted("net", &asked, "echo ran\n");
        assert_eq!(stage.exec("net", &[]).stdout, "ran\n");
    });
}
