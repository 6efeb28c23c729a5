//! The fixture for skills with code: the one of `skill_project.rs`, and a session inside the test itself.
//!
//! A session consists of the same parts as in the program. Its workers and children are real: the Starlark interpreter and the sandbox of
//! programs are in the built `metier`.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use metier_catalog::{
    DiscoveryLimits, DiscoveryOptions, MachineFacts, MemoryBudget, Root, discover,
};
use metier_config::{Config, HookEngine, HookSettings};
use metier_host::execution::HostEnvironment;
use metier_model::{Source, Strictness};
use metier_policy::{ActTarget, Approver, Headless};
use metier_runtime::{
    AdmittedSnapshot, Inventory,
    approvals::Approvals,
    granted_skill::DelegateError,
    live::{CallTimeouts, Model, Runtime, SkillLine},
    skill_environment::SkillEnvironment,
    survey,
};
use metier_store::{Receipt, ReceiptOutcome, ReceiptPart, Store};
use metier_testkit::{NotRun, ProgramOutput, needs::not_run, patience::PATIENCE};
use serde_json::Value;

use crate::session_parts::{approvals, host_environment, terms};
use crate::skill_project::{SkillProject, deno_is_hidden};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_metier");

/// The files that a skill in Python needs next to it.
pub(crate) const PYTHON: &str = include_str!("../../../../sdk/python/metier.py");

/// The time limit on a machine that is busy with other work.
pub(crate) const HANG: Duration = PATIENCE;

/// A fixture, and the folder of its skills.
pub(crate) struct Live {
    pub(crate) stage: SkillProject,
    pub(crate) patience: CallTimeouts,
    /// The folders of skills, below the working folder; the last one has precedence.
    pub(crate) roots: Vec<(Source, &'static str)>,
    pub(crate) variables: BTreeMap<String, OsString>,
    /// The engine for hooks in JavaScript.
    pub(crate) hooks: HookSettings,
    /// Answers questions of sessions in this test.
    pub(crate) approver: Arc<dyn Approver>,
    /// The limits for one turn: commands, fetched pages, and model requests.
    pub(crate) rate: u64,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self {
            stage: SkillProject::new(),
            patience: CallTimeouts {
                start: HANG,
                end: HANG,
                tool: HANG,
                hook: HANG,
            },
            roots: vec![(Source::Project, "skills")],
            variables: BTreeMap::new(),
            hooks: HookSettings {
                engine: HookEngine::Embedded,
                deno: None,
            },
            approver: Arc::new(Headless),
            rate: 1_000,
        }
    }

    /// A skill with code below `skills/`. The extension of the file determines its language.
    pub(crate) fn skill(&self, name: &str, front: &str, permissions: &[&str], code: (&str, &str)) {
        self.skill_in("skills", name, front, permissions, code);
    }

    pub(crate) fn skill_in(
        &self,
        folder: &str,
        name: &str,
        front: &str,
        permissions: &[&str],
        (file, code): (&str, &str),
    ) {
        let backend = match file.rsplit_once('.') {
            Some((_, "star")) => "starlark",
            Some((_, "so")) => "native",
            _ => "process",
        };
        let asks = match permissions {
            [] => String::new(),
            all => format!("permissions: {}\n", serde_json::to_string(all).unwrap()),
        };
        let front =
            format!("{front}implementation: {{backend: {backend}, entrypoint: {file}}}\n{asks}");
        let stage = &self.stage;
        stage.skill_in(folder, name, &front, "Text.\n");
        stage
            .context
            .write(&format!("{folder}/{name}/{file}"), code);
        if file.ends_with(".py") {
            stage
                .context
                .write(&format!("{folder}/{name}/metier.py"), PYTHON);
        }
    }

    /// A text skill with hooks: its files, by path.
    pub(crate) fn hooked(&self, name: &str, permissions: &[&str], files: &[(&str, &str)]) {
        let asks = match permissions {
            [] => String::new(),
            all => format!("permissions: {}\n", serde_json::to_string(all).unwrap()),
        };
        self.stage.skill_in("skills", name, &asks, "Text.\n");
        for (path, text) in files {
            let path = format!("skills/{name}/{path}");
            self.stage.context.write(&path, text);
        }
    }

    /// Runs the program on the skills of this fixture.
    pub(crate) fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let roots = self.roots.iter();
        let roots = roots.flat_map(|(source, folder)| {
            ["--root".to_owned(), format!("{}={folder}", source.as_str())]
        });
        let all: Vec<String> = roots
            .chain(arguments.iter().map(|word| (*word).to_owned()))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        self.stage.context.run(&all)
    }

    /// [`Self::run`]; returns the single document that it prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", output.snapshot()))
    }

    /// A session in this test, in which these skills are approved.
    pub(crate) fn session<T>(&self, approved: &[&str], work: impl FnOnce(&Runtime) -> T) -> T {
        let runtime = self.open(approved, "s");
        let done = work(&runtime);
        runtime.end().unwrap();
        done
    }

    /// A session of this name, in which these skills are approved and nothing is active yet.
    pub(crate) fn open(&self, approved: &[&str], session: &str) -> Runtime {
        let context = &self.stage.context;
        let project = context.work().canonicalize().unwrap();
        let home = context.home().canonicalize().unwrap();
        let mut config = metier_config::load([]).config;
        config.hooks = self.hooks.clone();
        let inventory = self.inventory(&config, &project);
        let store = Store::open(&self.database()).unwrap();
        let terms = terms(self.rate, &project, Some(&home));
        let approvals = Approvals {
            session: session.into(),
            approver: Arc::clone(&self.approver),
            ..approvals(store, approved, terms)
        };
        let host = HostEnvironment {
            home: Some(home),
            path: Some(self.path()),
            own: vec![self.database()],
            ..host_environment(Path::new(PROGRAM), &project, &context.dir("~/runs"))
        };
        let variables = self.variables.clone();
        let environment = SkillEnvironment {
            approvals: Arc::new(approvals),
            config: Arc::new(config),
            variable: Arc::new(move |name| variables.get(name).cloned()),
            host: Arc::new(host),
            compiled: context.dir("~/wasm"),
        };
        let room = MemoryBudget {
            file: 1 << 20,
            total: 16 << 20,
        };
        // These skills are the test's own: it disables scans, as a user can.
        let mut unscanned = metier_config::load([]).config;
        unscanned.security.scan_on_load = false;
        let judge = move |entry: &metier_catalog::CatalogEntry| {
            let held = entry.place.snapshot(room);
            let held = held.map_err(|error| error.to_string())?;
            let admitted = AdmittedSnapshot::without_scan(held, &unscanned);
            admitted.map_err(|_| "scans are enabled".to_owned())
        };
        let runtime = Runtime::new(
            environment,
            Arc::new(inventory),
            Arc::new(judge),
            self.patience,
        );
        runtime.with_model(Arc::new(Parrot))
    }

    /// The path where the program keeps its receipts too.
    pub(crate) fn database(&self) -> PathBuf {
        let folder = self.stage.context.dir("~/.local/share/metier");
        folder.canonicalize().unwrap().join("metier.db")
    }

    fn path(&self) -> OsString {
        let mut path = OsString::from(self.stage.context.path("$BIN/x").parent().unwrap());
        path.push(":/usr/local/bin:/usr/bin:/bin");
        path
    }

    fn inventory(&self, config: &Config, project: &Path) -> Inventory {
        let roots = self.roots.iter();
        let roots = roots.map(|(source, folder)| Root::explicit(*source, project.join(folder)));
        let options = DiscoveryOptions {
            mode: Strictness::Lenient,
            limits: DiscoveryLimits {
                max_skills: 100,
                max_entries: 10_000,
                max_skill_bytes: 1_000_000,
                max_depth: 6,
                max_root_time: HANG,
            },
            threads: 1,
            index: None,
            now: SystemTime::UNIX_EPOCH,
            builtins: false,
            progress: None,
        };
        let catalog = discover(roots.collect(), &options);
        let path = self.path();
        let host = MachineFacts::new(Some(OsStr::new(&path)), BTreeSet::new(), &|_| false, None);
        survey(catalog, config, &host, Strictness::Lenient, &[], Vec::new())
    }
}

/// A language model that returns its prompt.
struct Parrot;

impl Model for Parrot {
    fn target(&self, model: Option<&str>) -> ActTarget {
        model.unwrap_or("default").into()
    }

    fn answer(
        &self,
        prompt: &str,
        _: Option<&str>,
        _: Option<&str>,
    ) -> Result<String, DelegateError> {
        Ok(prompt.to_owned())
    }
}

/// Starlark with one tool `t` that has this body.
pub(crate) fn tool(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "def t(input):\n{}register_tool(\"t\", \"A tool\", t)\n",
        lines.concat()
    )
}

/// Everything that a skill of this fixture left running. The search is repeated until nothing is found, or the time is up.
pub(crate) fn left_running(live: &Live) -> Vec<String> {
    let home = live.stage.context.home();
    left_in(&home.parent().unwrap().to_string_lossy())
}

/// [`left_running`] for one folder.
pub(crate) fn left_in(place: &str) -> Vec<String> {
    let until = Instant::now() + HANG;
    loop {
        let left = running(place);
        if left.is_empty() || Instant::now() > until {
            return left;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes that have a folder in their arguments or as their working directory, and workers without a parent.
fn running(place: &str) -> Vec<String> {
    processes(|folder, words| {
        let cwd = fs::read_link(folder.join("cwd")).unwrap_or_default();
        let is_here = words.contains(place) || cwd.to_string_lossy().contains(place);
        let is_worker = words.starts_with(PROGRAM)
            && [" __starlark", " __js", " __wasm-compile"]
                .iter()
                .any(|word| words.contains(word));
        is_here || (is_worker && !has_parent(folder))
    })
}

/// Processes other than this one, by their folder in `/proc` and their command line.
pub(crate) fn processes(is_meant: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let folder = entry.path();
        let name = folder.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let words = fs::read(folder.join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        if pid != std::process::id() && is_meant(&folder, &words) {
            found.push(format!("{pid}: {words}"));
        }
    }
    found
}

/// Whether the parent of a process is one of our processes.
fn has_parent(folder: &Path) -> bool {
    let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    // It ended in the meantime, so it left nothing.
    let Some(parent) = parent else { return true };
    let program = fs::read_link(format!("/proc/{}/exe", parent.trim())).unwrap_or_default();
    program == Path::new(PROGRAM) || Some(program) == env::current_exe().ok()
}

/// Lines of skills, each with its skill.
pub(crate) fn said(lines: &[SkillLine]) -> Vec<String> {
    lines.iter().map(SkillLine::to_string).collect()
}

/// Receipts as lines: skill, act, outcome, reason.
pub(crate) fn lines(receipts: &[Receipt]) -> Vec<String> {
    let line = |receipt: &Receipt| {
        let entry = &receipt.entry;
        let went = match receipt.part {
            ReceiptPart::Begun => "begun",
            _ => entry.outcome.map_or("refused", ReceiptOutcome::as_str),
        };
        let what = format!("{} {} {}", entry.skill, entry.act, entry.detail);
        let reason = entry.reason.as_deref();
        let reason = reason.map(|reason| format!(": {reason}"));
        format!("{}: {went}{}", what.trim_end(), reason.unwrap_or_default())
    };
    receipts.iter().map(line).collect()
}

/// A skill in Python; the body registers its contributions with `skill`.
pub(crate) fn python(body: &str) -> String {
    format!(
        "import os, time\nfrom metier import Skill, cancel\nskill = Skill()\n{body}\nskill.serve()\n"
    )
}

/// A skill as a shell script, which answers each method with a fixed text, and never stops answering unknown ones.
pub(crate) fn shell(answers: &[(&str, &str)]) -> String {
    let cases: String = answers
        .iter()
        .map(|(method, code)| format!("  *'\"{method}\"'*) {code};;\n"))
        .collect();
    format!(
        "answer() {{ printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" \"$1\"; }}\n\
         while read -r line; do\n  id=${{line#*'\"id\":'}}; id=${{id%%,*}}\n  case $line in\n{cases}  esac\ndone\n"
    )
}

/// The resources of this process, by name: its own memory and the peak of all in kB, threads, open files, children. Pages of the program
/// itself are loaded on first use, and do not count as its own memory.
pub(crate) fn holds() -> BTreeMap<&'static str, usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let word = line.and_then(|line| line.split_whitespace().next());
        word.and_then(|word| word.parse().ok()).unwrap()
    };
    let files = fs::read_dir("/proc/self/fd").unwrap().count();
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = tasks.map(|task| {
        let children = fs::read_to_string(task.path().join("children"));
        children.unwrap_or_default().split_whitespace().count()
    });
    BTreeMap::from([
        ("memory", number("RssAnon:")),
        ("peak", number("VmHWM:")),
        ("threads", number("Threads:")),
        ("files", files),
        ("children", children.sum()),
    ])
}

/// The Deno of the tests, unless it is hidden from them.
pub(crate) fn deno() -> Result<PathBuf, NotRun> {
    if deno_is_hidden() {
        return Err(not_run("in Deno, which METIER_TEST_WITHOUT_DENO hides"));
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let deno = target.unwrap().join("python/bin/deno");
    assert!(
        deno.exists(),
        "there is no Deno at {}: `cargo xtask test` installs it (it needs Python); METIER_TEST_WITHOUT_DENO=1 does without",
        deno.display()
    );
    Ok(deno.canonicalize().unwrap())
}

/// This process uses the same resources after some work as before it. No answer is longer than a line, which has at most four megabytes.
pub(crate) fn keeps_nothing_of(work: impl FnOnce()) {
    let before = holds();
    work();
    let after = holds();
    for what in ["files", "children"] {
        assert_eq!(after[what], before[what], "{what}: {before:?} → {after:?}");
    }
    // Threads that were just ending before the work began don't count as leftovers of it.
    let (more, most) = (after["threads"], before["threads"]);
    assert!(more <= most, "threads: {before:?} → {after:?}");
    let grown = after["peak"] - before["peak"];
    assert!(grown < 16 * 1024, "{grown} kB: {before:?} → {after:?}");
}

/// Runs an ignored test of this program in a process that does nothing else; returns its output.
pub(crate) fn alone_in_a_process(test: &str, mark: &str, value: &str) -> String {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(mark, value)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaints}");
    assert!(said.contains("1 passed"), "{said}");
    said
}
