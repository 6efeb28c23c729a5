//! The fixture for misbehaving skills: an isolated machine with only the system's programs, and no scanner.
//!
//! The scanner is tested elsewhere. Here it is disabled, so that only permissions and the sandbox are between a skill and the machine.

use std::{env, ffi::OsString, fs, path::Path, time::Duration};

use metier_testkit::{NotRun, ProgramOutput, TestContext, needs};
use serde_json::Value;

/// A skill that runs `scripts/do.sh`, and nothing else.
pub(crate) const RUNS: &str = "Run scripts/do.sh.\n";

const PYTHON: &str = "/usr/bin/python3";

/// Runs a program and records the resources of it and its children: the peak memory in kilobytes, and processor time in milliseconds.
const MEASURE: &str = "import resource, subprocess, sys
place = sys.argv.pop(1)
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(place, 'w') as file:
    file.write('%d %d' % (used.ru_maxrss, (used.ru_utime + used.ru_stime) * 1000))
sys.exit(code if code >= 0 else 128 - code)
";

/// The resources of a run.
pub(crate) struct UsedByRun {
    pub(crate) kilobytes: u64,
    pub(crate) processor_time: Duration,
}

/// A project on a machine with nothing but the system's programs.
pub(crate) struct SkillProject {
    pub(crate) context: TestContext,
}

impl SkillProject {
    pub(crate) fn new() -> Self {
        let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
        let mut path = OsString::from(context.path("$BIN/x").parent().unwrap());
        for folder in ["/usr/local/bin", "/usr/bin", "/bin"] {
            if !(deno_is_hidden() && Path::new(folder).join("deno").exists()) {
                path.push(":");
                path.push(folder);
            }
        }
        context
            .env("PATH", path)
            .env("METIER_SKILLS_SECURITY_SCAN_ON_LOAD", "false");
        Self { context }
    }

    /// A fixture in which each run is measured.
    pub(crate) fn measured() -> Result<Self, NotRun> {
        needs::program(PYTHON)?;
        let mut stage = Self::new();
        let place = stage.context.home().join("used").display().to_string();
        stage.context.wrap(&[PYTHON, "-c", MEASURE, &place]);
        Ok(stage)
    }

    /// The resources of the last run in a measured fixture.
    pub(crate) fn used(&self) -> UsedByRun {
        let used = self.context.read("~/used");
        let (kilobytes, milliseconds) = used.split_once(' ').unwrap();
        UsedByRun {
            kilobytes: kilobytes.parse().unwrap(),
            processor_time: Duration::from_millis(milliseconds.parse().unwrap()),
        }
    }

    /// Writes a skill below `skills/`; `front` is its manifest apart from its name.
    pub(crate) fn skill(&self, name: &str, front: &str, body: &str) {
        self.skill_in("skills", name, front, body);
    }

    pub(crate) fn skill_in(&self, folder: &str, name: &str, front: &str, body: &str) {
        self.context.write(
            &format!("{folder}/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does {name}.\n{front}---\n{body}"),
        );
    }

    /// A skill with a script that requests these permissions.
    pub(crate) fn scripted(&self, name: &str, permissions: &[&str], script: &str) {
        let list = serde_json::to_string(permissions).unwrap();
        self.skill(name, &format!("permissions: {list}\n"), RUNS);
        self.context.write(
            &format!("skills/{name}/scripts/do.sh"),
            format!("#!/bin/sh\n{script}"),
        );
    }

    /// Runs the program on the skills of this fixture.
    pub(crate) fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let all: Vec<&str> = ["--root", "skills"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        self.context.run(&all)
    }

    /// Runs the script of a skill that was approved for this run.
    pub(crate) fn exec(&self, name: &str, arguments: &[&str]) -> ProgramOutput {
        let head = ["--approve-skills", name, "exec", name, "scripts/do.sh"];
        let all: Vec<&str> = head.iter().chain(arguments).copied().collect();
        self.run(&all)
    }

    /// Renders a skill that was approved for this run.
    pub(crate) fn show(&self, name: &str, arguments: &[&str]) -> ProgramOutput {
        let head = ["--approve-skills", name, "show", name, "--raw", "--"];
        let all: Vec<&str> = head.iter().chain(arguments).copied().collect();
        self.run(&all)
    }

    /// The receipts, the newest first. The chain must be intact.
    pub(crate) fn receipts(&self) -> Vec<Value> {
        let output = self
            .context
            .run(&["log", "--json", "--verify", "--limit", "0"]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        let log: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(log["whole"], true, "{log}");
        log["receipts"].as_array().unwrap().clone()
    }

    /// Whether a file or folder exists below the working folder.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.context.path(name).symlink_metadata().is_ok()
    }
}

/// The field of a receipt.
pub(crate) fn field<'a>(receipt: &'a Value, name: &str) -> &'a str {
    receipt[name].as_str().unwrap_or_default()
}

/// Every byte below a folder, with the names of the files: all that someone who steals the disk would find.
pub(crate) fn bytes_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries.flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(bytes_below(&path));
        } else if kind.is_file() {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

/// Whether bytes contain a text.
pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Whether the tests should pass as on a machine without Deno: `METIER_TEST_WITHOUT_DENO=1 cargo test -p metier`.
pub(crate) fn deno_is_hidden() -> bool {
    env::var_os("METIER_TEST_WITHOUT_DENO").is_some_and(|value| value == "1")
}
