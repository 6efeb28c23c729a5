//! The world of a grant: children that exchange messages, variables that persist, and searches for files.

use std::cell::RefCell;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use metier_host::backend::{
    ChildProcess, ProcessEvent, SkillProcess, SkillProcessError, StartedChild,
};
use metier_host::execution::{
    ActExecutor, ActResult, Deno, ExecutingSkill, ExecutionError, HostEnvironment, RecordedAct,
};
use metier_host::net::ProxyConnection;
use metier_model::{Digest, Source, Want};
use metier_policy::{
    Act, ActMeter, Decision, Grant, GrantTerms, Identity, PermissionAnswer, PermissionRequest,
    Permit, Rates, RequestReason, RequestedPermission, Ruling, rule,
};
use metier_sdk::wire::method;
use metier_testkit::patience::{in_time, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::session::{Desk, PATIENCE, hello, lives, script};
use crate::test_home::shim;

/// A skill, a project, a home, and the granted permissions.
pub(crate) struct Place {
    folder: TempDir,
    grant: Arc<Grant>,
    pub(crate) named: Vec<(String, OsString)>,
    pub(crate) programs: &'static str,
    pub(crate) unsandboxed: bool,
    /// Happens when the skill's files are copied: after the grant was read, and before the child starts.
    pub(crate) meanwhile: Arc<dyn Fn() + Send + Sync>,
    /// Finished connections.
    connections: (
        mpsc::Sender<ProxyConnection>,
        mpsc::Receiver<ProxyConnection>,
    ),
}

fn want(text: &str) -> Want {
    text.parse().unwrap()
}

impl Place {
    pub(crate) fn new(allowed: &[&str], denied: &[&str]) -> Self {
        Self::within(tempfile::tempdir().unwrap(), allowed, denied)
    }

    pub(crate) fn within(folder: TempDir, allowed: &[&str], denied: &[&str]) -> Self {
        let root = folder.path().canonicalize().unwrap();
        for name in ["skill/scripts", "project", "home", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        // A place that is neither in the project nor in the home.
        let outside = root.join("outside").display().to_string();
        let want = |text: &str| want(&text.replace("OUTSIDE", &outside));
        let terms = GrantTerms {
            rates: Rates {
                shell_exec: 1_000,
                net_fetch: 1_000,
                llm_call: 1_000,
            },
            shell_timeout: PATIENCE,
            fetch_timeout: PATIENCE,
            prefixes: None,
            project: root.join("project"),
            home: Some(root.join("home")),
        };
        let identity = Identity {
            skill: "x".into(),
            source: Source::User,
            digest: Digest([7; 32]),
        };
        let request = PermissionRequest::new(allowed.iter().map(|text| RequestedPermission {
            want: want(text),
            why: RequestReason::Declared,
        }));
        let say = |decision, texts: &[&str]| -> Vec<PermissionAnswer> {
            let answers = texts.iter().map(|text| PermissionAnswer {
                want: want(text),
                decision,
            });
            answers.collect()
        };
        let mut answers = say(Decision::Allow, allowed);
        answers.extend(say(Decision::Deny, denied));
        let Ruling::Granted(grant) = rule(identity, &request, &answers, terms) else {
            panic!("not granted");
        };
        Self {
            folder,
            grant: Arc::from(grant),
            named: Vec::new(),
            programs: "/usr/bin:/bin",
            unsandboxed: false,
            meanwhile: Arc::new(|| {}),
            connections: mpsc::channel(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Does an act in this world.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&ActExecutor) -> T) -> T {
        let host = HostEnvironment {
            shim: shim().to_owned(),
            work: self.path("project"),
            home: Some(self.path("home")),
            path: Some(self.programs.into()),
            common: Vec::new(),
            own: Vec::new(),
            obeyed: Vec::new(),
            temporary: self.path("tmp"),
            unsandboxed: self.unsandboxed,
            stop: None,
        };
        let folder = self.path("skill");
        let meanwhile = Arc::clone(&self.meanwhile);
        let skill = ExecutingSkill {
            folder: Some(folder.clone()),
            write_files: Arc::new(move |to| {
                meanwhile();
                // The handle's own name: this copy is for tests, where no other process changes the path.
                let to = format!("/proc/self/fd/{}", to.as_raw_fd());
                let copied = copy(&folder, Path::new(&to));
                copied.map_err(|error| ExecutionError::NoCopy(error.to_string()))
            }),
            named: self.named.clone(),
        };
        let connections = Arc::new(self.connections.0.clone());
        let world = ActExecutor::new(Arc::clone(&self.grant), Arc::new(host), skill, connections);
        act(&world.unwrap())
    }

    fn permit(&self, act: Act) -> Permit {
        self.grant.permit(act, &ActMeter::default()).unwrap()
    }

    pub(crate) fn try_permit(&self, act: Act) -> Result<Permit, metier_policy::PermitRefusal> {
        self.grant.permit(act, &ActMeter::default())
    }

    pub(crate) fn act(&self, act: Act) -> Result<ActResult, ExecutionError> {
        let permit = self.permit(act);
        self.with(|world| world.act(&begun(&permit)))
    }

    fn find(&self, folder: &str, pattern: &str) -> (Vec<String>, bool) {
        let found = self.act(Act::FindFiles {
            folder: self.path(folder),
            pattern: pattern.into(),
        });
        let ActResult::Found {
            paths, truncated, ..
        } = found.unwrap()
        else {
            panic!("nothing of that kind");
        };
        let root = self.path(folder);
        let name = |path: PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
        (paths.into_iter().map(name).collect(), truncated)
    }

    fn search(&self, folder: &str, pattern: &str, glob: Option<&str>) -> (Vec<String>, bool) {
        let found = self.act(Act::SearchFiles {
            folder: self.path(folder),
            pattern: pattern.into(),
            glob: glob.map(Into::into),
        });
        let ActResult::Matches {
            matches, truncated, ..
        } = found.unwrap()
        else {
            panic!("nothing of that kind");
        };
        let root = self.path("project");
        let line = |found: metier_host::execution::SearchMatch| {
            let path = found
                .path
                .strip_prefix(&root)
                .unwrap()
                .display()
                .to_string();
            format!("{path}:{}:{}", found.line, found.text)
        };
        (matches.into_iter().map(line).collect(), truncated)
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Counts as recorded.
pub(crate) fn begun(permit: &Permit) -> RecordedAct<'_, Permit, ()> {
    RecordedAct::write(permit, |_| Ok::<_, Infallible>(())).unwrap()
}

/// Opens a script of the skill in its world, and runs a function with it.
fn talk(
    place: &Place,
    text: &str,
    with: impl FnOnce(&mut ChildProcess<'_>, &ActExecutor),
) -> Vec<ProcessEvent> {
    place.file("skill/scripts/skill.py", &script(text));
    let permit = place.permit(Act::Script {
        path: "scripts/skill.py".into(),
        arguments: Vec::new(),
    });
    place.with(|world| {
        let starter = || world.start(&begun(&permit)).map(StartedChild::from);
        let desk = Desk::default();
        let mut session = ChildProcess::open(starter, &hello(), &desk, PATIENCE).unwrap();
        with(&mut session, world);
        Box::new(session).close(&desk, Duration::from_secs(10))
    })
}

fn call(session: &mut ChildProcess<'_>, timeout: Duration) -> Result<Value, SkillProcessError> {
    session.call(method::TOOL, json!({}), &Desk::default(), timeout)
}

#[test]
fn a_file_of_the_skill_is_talked_to_behind_the_fence() {
    let place = Place::new(&["shell:exec(scripts/*)", "file:read(./given)"], &[]);
    place.file("project/given", "given");
    place.file("project/kept", "kept");
    let text = "
begin(tools=[{'name': 'look'}])
def read(path):
    try: return open(path).read()
    except OSError as error: return type(error).__name__
def reach():
    import socket
    try: return str(socket.create_connection(('127.0.0.1', 1)))
    except OSError as error: return type(error).__name__
while True:
    id = hear()['id']
    send(id=id, result=[os.getcwd(), read('given'), read('kept'), reach(), sorted(os.environ)])
";
    let events = talk(&place, text, |session, _| {
        assert_eq!(session.contributions().tools[0].name, "look");
        for _ in 0..2 {
            let seen = call(session, PATIENCE).unwrap();
            assert_eq!(seen[0], place.path("project").to_str().unwrap());
            assert_eq!(seen[1], "given");
            assert!(["PermissionError", "FileNotFoundError"].contains(&seen[2].as_str().unwrap()));
            assert_eq!(seen[3], "PermissionError");
            let variables = seen[4].as_array().unwrap();
            assert!(
                variables.contains(&json!("METIER_SKILL_DIR"))
                    && !variables.contains(&json!("USER"))
            );
        }
    });
    let [
        ProcessEvent::Started { confinement, .. },
        ProcessEvent::Ended,
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert!(
        ["namespaces", "landlock"].contains(confinement),
        "{confinement}"
    );
}

#[test]
fn daemons_and_those_who_hear_nothing_are_gone_with_the_session() {
    let place = Place::new(&["shell:exec(scripts/*)"], &[]);
    let marker = format!("778.{}", std::process::id());
    let text = format!(
        "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
begin()
id = hear()['id']
import subprocess
for _ in range(3):
    subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; sleep {marker}; sleep {marker}', '{marker}'], start_new_session=True)
send(id=id, result='started')
hear()
time.sleep(1000)
"
    );
    talk(&place, &text, |session, _| {
        assert_eq!(call(session, PATIENCE).unwrap(), "started");
        assert!(lives(&marker));
        let late = call(session, Duration::from_millis(300));
        assert!(
            matches!(late, Err(SkillProcessError::TimedOut(_))),
            "{late:?}"
        );
        assert!(!lives(&marker), "with the call that failed");
        assert_eq!(call(session, PATIENCE).unwrap(), "started");
    });
    assert!(!lives(&marker), "with the session");
}

#[test]
fn one_that_can_not_be_started_reports_why() {
    let place = Place::new(&["shell:exec(scripts/*)"], &[]);
    place.file("skill/scripts/tool", "#!/no/such/python\n");
    let start = |path: &str| {
        let permit = place.permit(Act::Script {
            path: path.into(),
            arguments: Vec::new(),
        });
        place.with(|world| {
            let starter = || world.start(&begun(&permit)).map(StartedChild::from);
            let opened = ChildProcess::open(starter, &hello(), &Desk::default(), PATIENCE);
            opened.err().map(|error| error.to_string()).unwrap()
        })
    };
    let why = start("scripts/tool");
    assert!(
        why.starts_with("ended before it answered `initialize`: ") && why.contains("was not found"),
        "{why}"
    );
    let why = start("scripts/missing.py");
    assert!(
        why.contains("missing.py") && why.contains("No such file"),
        "{why}"
    );
    let not_a_script = place.with(|world| {
        let read = Place::new(&["file:read(./a)"], &[]);
        let permit = read.permit(Act::ReadFile(read.path("project/a")));
        let started = world.start(&begun(&permit));
        started.err().unwrap().to_string()
    });
    assert_eq!(not_a_script, "`file:read` is not supported here");
}

#[test]
fn what_a_talking_child_reaches_for_is_seen() {
    let place = Place::new(&["shell:exec(scripts/*)", "net:fetch(a.invalid)"], &[]);
    let text = "
begin()
import urllib.request
id = hear()['id']
for url in ['http://b.invalid/', 'http://a.invalid/']:
    try: urllib.request.urlopen(url, timeout=30)
    except Exception as error: pass
send(id=id, result='tried')
hear()
";
    let seen = RefCell::new(Vec::new());
    talk(&place, text, |session, _| {
        assert_eq!(call(session, PATIENCE).unwrap(), "tried");
        wait_until("both connections", || {
            seen.borrow_mut().extend(place.connections.1.try_iter());
            seen.borrow().len() >= 2
        });
        assert!(place.connections.1.try_recv().is_err(), "told once");
    });
    let mut hosts: Vec<String> = seen
        .into_inner()
        .into_iter()
        .map(|seen| seen.host)
        .collect();
    hosts.sort();
    assert_eq!(hosts, ["a.invalid", "b.invalid"]);
}

#[test]
fn a_variable_is_set_for_later_children_and_no_others() {
    let mut place = Place::new(
        &["env:write", "env:read(COLOR)", "shell:exec(scripts/*)"],
        &[],
    );
    place.named.push(("COLOR".into(), "red".into()));
    place.file("skill/scripts/show.sh", "echo \"$COLOR $SHAPE\"\n");
    let show = || Act::Script {
        path: "scripts/show.sh".into(),
        arguments: Vec::new(),
    };
    let set = |name: &str, value: &str| Act::SetVariable {
        name: name.into(),
        value: value.into(),
    };
    place.with(|world| {
        let act = |act: Act| world.act(&begun(&place.permit(act)));
        let shown = || match act(show()) {
            Ok(ActResult::Child(outcome, _)) => crate::test_home::out(&outcome),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown(), "red");
        act(set("COLOR", "green = yellow")).unwrap();
        act(set("SHAPE", "round")).unwrap();
        assert_eq!(shown(), "green = yellow round");
        let Ok(ActResult::Value(Some(value))) = act(Act::ReadVariable("COLOR".into())) else {
            panic!("it was set");
        };
        assert_eq!(value, "green = yellow");
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\nB", "x"), ("A", "x\0y")] {
            assert!(act(set(name, value)).is_err(), "{name:?}");
        }
        assert!(act(set("LONG", &"x".repeat(40_000))).is_err());
        for number in 0..62 {
            act(set(&format!("N{number}"), "x")).unwrap();
        }
        let many = act(set("N62", "x")).unwrap_err();
        assert!(
            matches!(many, ExecutionError::TooManyVariables(_)),
            "{many}"
        );
        assert_eq!(shown(), "green = yellow round", "and children still start");
    });
    let refused = place
        .grant
        .permit(set("PATH", "/tmp"), &ActMeter::default());
    assert_eq!(refused.unwrap_err().code, "forbidden-variable");
}

#[test]
fn files_are_found_where_they_may_be_read() {
    let place = Place::new(
        &[
            "file:read(./src/**)",
            "file:read(./*.md)",
            "file:read(~/**)",
        ],
        &["file:read(./src/private/**)"],
    );
    for name in [
        "project/src/main.rs",
        "project/src/deep/lib.rs",
        "project/src/deep/notes.txt",
        "project/src/private/key.rs",
        "project/src/.hidden.rs",
        "project/src/target/made.rs",
        "project/tests/test.rs",
        "project/README.md",
        "project/docs/more.md",
        "home/.ssh/id_ed25519",
        "home/notes.md",
        "outside.rs",
    ] {
        place.file(name, "needle: one\nnothing\nneedle: two\r\n");
    }
    place.file("project/.gitignore", "target/\n");
    std::os::unix::fs::symlink(place.path("project/tests"), place.path("project/src/link"))
        .unwrap();
    std::os::unix::fs::symlink(place.path("outside.rs"), place.path("project/src/link.rs"))
        .unwrap();
    let found = |folder: &str, pattern: &str| place.find(folder, pattern).0;
    assert_eq!(
        found("project", "**/*.rs"),
        ["src/deep/lib.rs", "src/main.rs"]
    );
    assert_eq!(found("project", "./src/*.rs"), ["src/main.rs"]);
    assert_eq!(found("project", "**/*.md"), ["README.md"]);
    assert_eq!(found("project/src", "**/.*.rs"), [".hidden.rs"]);
    assert_eq!(found("project", "*"), ["README.md"]);
    assert_eq!(found("home", "**/{.ssh/*,*.md}"), ["notes.md"]);
    assert_eq!(found(".", "../**"), [""; 0]);
    let (lines, truncated) = place.search("project", "needle: t", None);
    assert_eq!(
        lines,
        [
            "README.md:3:needle: two",
            "src/deep/lib.rs:3:needle: two",
            "src/deep/notes.txt:3:needle: two",
            "src/main.rs:3:needle: two"
        ]
    );
    assert!(!truncated);
    assert_eq!(
        place.search("project", "^needle.*two$", Some("*.txt")).0,
        ["src/deep/notes.txt:3:needle: two"]
    );
    assert_eq!(
        place.search("project/src/main.rs", "one", None).0,
        ["src/main.rs:1:needle: one"]
    );
    assert_eq!(
        place.search("project", "one", Some("src/*.rs")).0,
        ["src/main.rs:1:needle: one"]
    );
    let refused = |folder: &str| {
        let act = Act::FindFiles {
            folder: place.path(folder),
            pattern: "**".into(),
        };
        place.grant.permit(act, &ActMeter::default()).is_err()
    };
    assert_eq!(found("project/tests", "**"), [""; 0]);
    assert!(refused("outside.rs") && refused("project/src/private"));
    let keys = place.act(Act::FindFiles {
        folder: place.path("home/.ssh"),
        pattern: "**".into(),
    });
    assert!(
        matches!(keys, Err(ExecutionError::Never { .. })),
        "{keys:?}"
    );
    let link = place.act(Act::FindFiles {
        folder: place.path("project/src/link"),
        pattern: "**".into(),
    });
    assert!(matches!(link, Err(ExecutionError::File { .. })), "{link:?}");
}

// case 164, 16
#[test]
fn special_ignore_files_ignore_nothing_and_do_not_block() {
    use std::os::unix::fs::symlink;

    let place = Place::new(&["file:read(./**)"], &[]);
    for name in [
        "a.log", "b/b.log", "c/c.log", "d/d.log", "e/e.log", "f/x.md",
    ] {
        place.file(&format!("project/{name}"), "needle\n");
    }
    let fifo = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(place.path(name))
            .status();
        assert!(made.unwrap().success());
    };
    symlink("/dev/zero", place.path("project/.ignore")).unwrap();
    fifo("project/.gitignore");
    symlink("/dev/zero", place.path("project/b/.gitignore")).unwrap();
    place.file("outside.txt", "*.log\n");
    symlink(
        place.path("outside.txt"),
        place.path("project/c/.gitignore"),
    )
    .unwrap();
    place.file("project/d/.gitignore", &"*.log\n".repeat(100_000));
    fs::create_dir_all(place.path("project/.git/info")).unwrap();
    fifo("project/.git/info/exclude");
    place.file(
        "project/e/.ignore",
        &"**/*{a,b,c}*[a-z]*?*x\n".repeat(1_900),
    );
    place.file("project/f/.gitignore", "*.md\n");
    let logs = ["a.log", "b/b.log", "c/c.log", "d/d.log", "e/e.log"];
    assert_eq!(
        place.find("project", "**/*.{log,md}"),
        (logs.map(String::from).into(), false)
    );
    assert_eq!(place.search("project", "needle", None).0.len(), 5);
}

#[test]
fn ignore_files_count_as_they_do_for_others() {
    let place = Place::new(&["file:read(./**)"], &[]);
    for name in [
        "keep.md",
        "x.log",
        "y.tmp",
        "z.bak",
        "sub/x.log",
        "sub/y.tmp",
        "sub/keep.log",
        "out/x.md",
        "other/x.log",
        "other/y.tmp",
        "other/z.bak",
    ] {
        place.file(&format!("project/{name}"), "");
    }
    place.file(".gitignore", "*.md\n");
    place.file("project/.git/info/exclude", "*.bak\n");
    place.file("project/.gitignore", "*.log\n/out/\n");
    place.file("project/.ignore", "*.tmp\n");
    place.file("project/sub/.gitignore", "!keep.log\n!y.tmp\n");
    // Another repository inside this one: outer ignore rules don't apply to it.
    place.file("project/other/.git/HEAD", "");
    assert_eq!(
        place.find("project", "**").0,
        ["keep.md", "other/x.log", "other/z.bak", "sub/keep.log"]
    );
    assert_eq!(place.find("project/sub", "**").0, ["keep.log"]);
}

// case 164
#[test]
fn ignore_files_above_the_project_or_the_repository_belong_to_others() {
    let place = Place::new(&["file:read(OUTSIDE/**)", "file:read(./**)"], &[]);
    place.file(".gitignore", "*.md\n");
    place.file(".ignore", "*.md\n");
    for folder in ["project", "outside", "outside/repository"] {
        place.file(&format!("{folder}/sub/x.md"), "");
        assert_eq!(place.find(&format!("{folder}/sub"), "*").0, ["x.md"]);
    }
    place.file("outside/repository/.git/HEAD", "");
    place.file("outside/repository/.gitignore", "*.md\n");
    place.file("project/.gitignore", "*.md\n");
    for folder in ["project", "outside/repository"] {
        assert_eq!(place.find(&format!("{folder}/sub"), "*").0, [""; 0]);
    }
}

// case 22, 164
#[test]
fn a_million_names_and_endless_folders_are_omitted_in_time() {
    let place = Place::new(&["file:read(./**)"], &[]);
    fs::create_dir_all(place.path("project/wide")).unwrap();
    // More than the limit. Links cost the least.
    for number in 0..101_000 {
        std::os::unix::fs::symlink("x", place.path(&format!("project/wide/{number}"))).unwrap();
    }
    let mut deep = rustix::fs::open(
        place.path("project"),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    for _ in 0..2_500 {
        rustix::fs::mkdirat(&deep, "dd", rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
        deep = rustix::fs::openat(
            &deep,
            "dd",
            rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    place.file("project/a.txt", "needle\n");
    let (paths, truncated) = in_time("the search", || place.find("project", "**/*.txt"));
    assert_eq!((paths, truncated), (vec!["a.txt".to_owned()], true));
    // The standard library can't remove files whose paths are too long.
    let removed = std::process::Command::new("rm")
        .arg("-rf")
        .arg(place.path("project"))
        .status();
    assert!(removed.unwrap().success());
}

// case 149
#[test]
fn what_git_keeps_in_the_skill_is_opened_by_no_permission() {
    for kind in ["folder", "file", "link"] {
        let place = Place::new(&["file:read(/**)"], &[]);
        let git = place.path("skill/.git");
        let file = match kind {
            "folder" => place.file("skill/.git/config", "canary\n"),
            "file" => place.file("skill/.git", "canary\n"),
            _ => {
                let target = place.file("elsewhere/config", "canary\n");
                std::os::unix::fs::symlink(place.path("elsewhere"), &git).unwrap();
                target
            }
        };
        let read = place.act(Act::ReadFile(file));
        assert!(
            matches!(read, Err(ExecutionError::Never { .. })),
            "{kind}: {read:?}"
        );
        assert_eq!(place.find("skill", "**/.git{,/**}").0, [""; 0], "{kind}");
        let found = place.search("skill", "canary", Some(".git"));
        assert_eq!(found.0, [""; 0], "{kind}");
        place.with(|world| {
            let deno = Deno {
                program: "/usr/bin/deno".into(),
                folder: "/nonexistent".into(),
                runner: "/nonexistent/deno.ts".into(),
                import_map: "/nonexistent/map.json".into(),
            };
            let arguments = world.deno_arguments(&deno).unwrap();
            let denied = arguments.iter().map(|word| word.to_string_lossy());
            let mut denied = denied.filter(|word| word.starts_with("--deny-read="));
            let flag = denied.next().unwrap();
            assert!(flag.contains(&*git.to_string_lossy()), "{flag}");
            let wasi = world.wasi().unwrap();
            assert!(
                wasi.room.places.is_empty(),
                "{kind}: {:?}",
                wasi.room.places
            );
        });
    }
}

#[test]
fn what_is_found_is_bounded() {
    let place = Place::new(&["file:read(./**)"], &[]);
    for number in 0..1_100 {
        place.file(&format!("project/many/{number:04}.txt"), "x\n");
    }
    place.file("project/long.txt", &"x".repeat(10_000));
    place.file("project/lines.txt", &"yes\n".repeat(10_000));
    place.file("project/binary.txt", "x\0x\n");
    place.file("project/large.txt", &"large\n".repeat(400_000));
    let (paths, truncated) = place.find("project", "many/*");
    assert_eq!((paths.len(), truncated), (1_000, true));
    assert_eq!(paths[999], "many/0999.txt");
    assert_eq!(place.search("project", "yes", None).0.len(), 500);
    assert!(place.search("project", "yes", None).1);
    assert_eq!(place.search("project", "large", None), (Vec::new(), false));
    assert_eq!(
        place.search("project", "x", Some("binary.txt")),
        (Vec::new(), false)
    );
    let (lines, _) = place.search("project", "x", Some("long.txt"));
    assert_eq!(lines[0].len(), "long.txt:1:".len() + 400);
    // Patterns for which other engines never return, or use all memory.
    assert_eq!(
        place.search("project", "(x+x+)+y", None),
        (Vec::new(), false)
    );
    for (pattern, glob) in [
        ("(", None),
        ("x{1000}{1000}{1000}", None),
        ("", None),
        ("x", Some("[")),
        (&*"x".repeat(3_000), None),
    ] {
        let refused = place.act(Act::SearchFiles {
            folder: place.path("project"),
            pattern: pattern.into(),
            glob: glob.map(Into::into),
        });
        assert!(
            matches!(refused, Err(ExecutionError::Pattern { .. })),
            "{pattern}: {refused:?}"
        );
    }
}
