//! Installing skills when something fails: the process dies, the disk is full, two processes install, the user presses Ctrl-C.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use metier_testkit::{ProgramOutput, TestContext, needed, needs, patience};
use serde_json::Value;

/// More checkpoints than any change has.
const MAX_CHECKPOINTS: usize = 200;

fn context() -> TestContext {
    TestContext::new(env!("CARGO_BIN_EXE_metier"))
}

fn write_skill(context: &TestContext, folder: &str, name: &str, text: &str) {
    context.write(
        &format!("{folder}/SKILL.md"),
        format!("---\nname: {name}\ndescription: Does {name}.\n---\n{text}\n"),
    );
    context.write(&format!("{folder}/references/a.md"), format!("{text} a\n"));
    context.write(&format!("{folder}/references/b.md"), format!("{text} b\n"));
}

fn succeed(context: &TestContext, arguments: &[&str]) -> ProgramOutput {
    let output = context.run(arguments);
    assert_eq!(output.code, 0, "{arguments:?}: {}", output.snapshot());
    output
}

/// Every file below a folder with its content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => todo.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

/// The installed skills and the lock.
fn installed(context: &TestContext) -> (BTreeMap<String, Vec<u8>>, Option<Vec<u8>>) {
    let lock = context.home().join(".local/share/metier/metier.lock");
    let skills = files(&context.home().join(".agents/skills"));
    (skills, fs::read(lock).ok())
}

fn quarantined(context: &TestContext) -> BTreeMap<String, Vec<u8>> {
    files(&context.home().join(".cache/metier/quarantine"))
}

/// Kills a command at each of its checkpoints. After each, the next command finds either the complete old state or the complete new one.
fn killed_everywhere(prepare: &dyn Fn(&TestContext), arguments: &[&str]) {
    let reference = context();
    prepare(&reference);
    let before = installed(&reference);
    succeed(&reference, arguments);
    let after = installed(&reference);
    assert_ne!(before, after, "{arguments:?} changes something");
    let (mut was_old, mut was_new) = (0, 0);
    for number in 1..MAX_CHECKPOINTS {
        let mut context = context();
        prepare(&context);
        context.env("ABORT_METIER_AT", number.to_string());
        let output = context.run(arguments);
        context.unset("ABORT_METIER_AT");
        let is_killed = output.code != 0;
        // Any command completes the change or removes its leftovers.
        succeed(&context, &["list"]);
        let (skills, lock) = installed(&context);
        let staged = skills.keys().find(|name| name.contains(".metier-"));
        assert_eq!(staged, None, "at checkpoint {number}");
        let found = (
            filtered(&context, skills),
            lock.map(|lock| text(&context, &lock)),
        );
        let as_in = |state: &(BTreeMap<String, Vec<u8>>, Option<Vec<u8>>)| {
            let lock = state.1.as_ref().map(|lock| text(&reference, lock));
            (filtered(&reference, state.0.clone()), lock)
        };
        match found == as_in(&after) {
            true => was_new += 1,
            false => {
                assert_eq!(found, as_in(&before), "at checkpoint {number}");
                was_old += 1;
            }
        }
        let verified = context.run(&["verify", "--json"]);
        assert_eq!(verified.code, 0, "{}", verified.snapshot());
        if !is_killed {
            assert!(was_old > 3 && was_new > 3, "{was_old} old, {was_new} new");
            return;
        }
        // The next installation succeeds, and removes what the killed one left in quarantine.
        succeed(&context, arguments_again(arguments));
        assert_eq!(quarantined(&context), BTreeMap::new());
    }
    panic!("{arguments:?} never ended by itself");
}

/// Commands that work whether the killed command took effect or not.
fn arguments_again<'a>(arguments: &'a [&'a str]) -> &'a [&'a str] {
    match arguments[0] {
        "remove" => &["install", "./old/pdf", "--yes"],
        _ => arguments,
    }
}

fn text(context: &TestContext, bytes: &[u8]) -> String {
    context.filter(&String::from_utf8_lossy(bytes))
}

fn filtered(context: &TestContext, skills: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let skills = skills.into_iter();
    skills
        .map(|(name, bytes)| (name, text(context, &bytes)))
        .collect()
}

fn two_versions(context: &TestContext) {
    write_skill(context, "old/pdf", "pdf", "old");
    write_skill(context, "new/pdf", "pdf", "new");
}

// case 39
#[test]
fn an_installation_that_is_killed_leaves_nothing_or_the_skill() {
    killed_everywhere(&two_versions, &["install", "./new/pdf", "--yes"]);
}

// case 39
#[test]
fn a_replacement_that_is_killed_leaves_the_old_skill_or_the_new_one() {
    let prepare = |context: &TestContext| {
        two_versions(context);
        succeed(context, &["install", "./old/pdf", "--yes"]);
    };
    killed_everywhere(&prepare, &["install", "./new/pdf", "--yes", "--replace"]);
}

// case 39
#[test]
fn a_removal_that_is_killed_leaves_the_skill_or_nothing() {
    let prepare = |context: &TestContext| {
        two_versions(context);
        succeed(context, &["install", "./old/pdf", "--yes"]);
    };
    killed_everywhere(&prepare, &["remove", "pdf"]);
}

// case 39
#[test]
fn skills_that_are_installed_at_once_are_all_installed() {
    let context = context();
    let names: Vec<String> = (0..6).map(|number| format!("skill-{number}")).collect();
    for name in &names {
        write_skill(&context, &format!("src/{name}"), name, name);
    }
    let start = |name: &String| {
        let mut command = context.command();
        command.args(["install", &format!("./src/{name}"), "--yes"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let started: Vec<_> = names.iter().map(start).collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{told}");
    }
    let verified: Value =
        serde_json::from_str(&succeed(&context, &["verify", "--json"]).stdout).unwrap();
    let skills = verified["skills"].as_array().unwrap();
    let found: Vec<&str> = skills
        .iter()
        .map(|skill| skill["name"].as_str().unwrap())
        .collect();
    assert_eq!(found, names);
    assert_eq!(verified["unchanged"], true);
}

/// A small disk for home and work, which is full while a skill is installed.
const SMALL_DISK: &str = r#"
set -e
mount -t tmpfs -o size=12m none "$DISK"
cp -a "$HOME" "$DISK/home"; cp -a "$PWD" "$DISK/work"
cd "$DISK/work"; export HOME="$DISK/home"
"$METIER" install ./old/pdf --yes 2>&1
set +e
for left in 0 64 256 512 1024 2048 4096; do
    cat /dev/zero > "$DISK/fill" 2>/dev/null
    truncate -s "-${left}K" "$DISK/fill"
    "$METIER" install ./new/pdf --yes --replace > told 2>&1
    code=$?
    rm -f "$DISK/fill"
    echo "with $left: $code $(cat "$HOME/.agents/skills/pdf/references/a.md") $("$METIER" verify 2>&1 | head -c 5)"
    cat told
    ls -a "$HOME/.agents/skills"
done
"#;

// case 38
#[test]
fn a_full_disk_leaves_the_old_skill() {
    let unshare = needed!(needs::program("unshare"));
    let can_mount = Command::new(&unshare)
        .args(["-m", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    needed!(needs::condition(
        can_mount,
        "case 38: this user can make no namespace of mounts for a small disk"
    ));
    let context = context();
    two_versions(&context);
    let large = "0123456789abcdef".repeat(1 << 16);
    context.write("new/pdf/references/large.md", large);
    let disk = TestContext::new("/bin/sh");
    let folder = disk.dir("disk");
    let program = context.command();
    let output = Command::new(&unshare)
        .args(["-m", "/bin/sh", "-c", SMALL_DISK])
        .env_clear()
        .envs(
            program
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("METIER", program.get_program())
        .env("DISK", &folder)
        .current_dir(context.work())
        .output()
        .unwrap();
    let told = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let results: Vec<&str> = told
        .lines()
        .filter(|line| line.starts_with("with "))
        .collect();
    assert_eq!(results.len(), 7, "{told}");
    let mut refused = 0;
    for result in results {
        let is_new = result.contains(": 0 new a ✓");
        let is_old = result.contains(" old a ✓") && !result.contains(": 0 ");
        assert!(is_new || is_old, "{result}\n{told}");
        refused += usize::from(is_old);
    }
    assert!(refused > 1, "{told}");
    assert!(told.contains("error: "), "{told}");
    assert!(!told.contains(".metier-"), "{told}");
}

#[test]
fn a_folder_that_can_t_be_written_is_named() {
    let context = context();
    write_skill(&context, "pdf", "pdf", "text");
    context.write("~/.agents", "a file");
    let output = context.run(&["install", "./pdf", "--yes"]);
    assert_eq!(output.code, 2, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("error: can't create the folder for skills"),
        "{}",
        output.snapshot()
    );
    assert!(
        output.stderr.contains("[HOME]/.agents") || output.stderr.contains("~/.agents"),
        "{}",
        output.snapshot()
    );
    let (skills, lock) = installed(&context);
    assert_eq!((skills.len(), lock), (0, None));
    assert_eq!(quarantined(&context), BTreeMap::new());
}

// case 39
#[test]
fn ctrl_c_leaves_nothing_behind() {
    let context = context();
    write_skill(&context, "pdf", "pdf", "text");
    // Another process is changing skills, so this one waits.
    let changes = context.home().join(".local/share/metier/changes");
    fs::create_dir_all(&changes).unwrap();
    let lock = fs::File::create(changes.join("lock")).unwrap();
    lock.lock().unwrap();
    let mut command = context.command();
    command.args(["install", "./pdf", "--yes"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let quarantine = context.home().join(".cache/metier/quarantine");
    patience::wait_until("the skill is in quarantine", || {
        fs::read_dir(&quarantine).is_ok_and(|entries| entries.count() > 0)
    });
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(130));
    assert_eq!(quarantined(&context), BTreeMap::new());
    assert_eq!(installed(&context), (BTreeMap::new(), None));
    drop(lock);
    succeed(&context, &["install", "./pdf", "--yes"]);
}

#[test]
fn an_undone_change_is_undone_byte_for_byte() {
    let context = context();
    two_versions(&context);
    let check = |arguments: &[&str]| {
        let before = installed(&context);
        succeed(&context, arguments);
        assert_ne!(installed(&context), before, "{arguments:?}");
        succeed(&context, &["undo"]);
        assert_eq!(installed(&context), before, "{arguments:?}");
    };
    check(&["install", "./old/pdf", "--yes"]);
    succeed(&context, &["install", "./old/pdf", "--yes"]);
    check(&["install", "./new/pdf", "--yes", "--replace"]);
    check(&["remove", "pdf"]);
    context.write("~/.agents/skills/pdf/references/a.md", "edited");
    check(&["verify", "pdf", "--accept"]);
    check(&["install", "--yes", "--replace"]);
    succeed(&context, &["remove", "pdf"]);
    check(&["remove", "--restore", "pdf"]);
}

// case 146
#[test]
fn a_skill_that_changes_after_it_was_installed_is_not_run() {
    let context = context();
    context.write(
        "tool/SKILL.md",
        "---\nname: tool\ndescription: Runs.\n---\nRun scripts/do.sh.\n",
    );
    context.write("tool/scripts/do.sh", "#!/bin/sh\necho first\n");
    let install = [
        "install",
        "./tool",
        "--yes",
        "--approve",
        "shell:exec(scripts/*)",
    ];
    succeed(&context, &install);
    let exec = ["exec", "tool", "scripts/do.sh"];
    let mut context = context;
    context.env("PATH", "/usr/bin:/bin");
    let output = succeed(&context, &exec);
    assert_eq!(
        output.stdout,
        "first\n",
        "approved when it was installed: {}",
        output.snapshot()
    );
    context.write(
        "~/.agents/skills/tool/scripts/do.sh",
        "#!/bin/sh\necho second\n",
    );
    let output = context.run(&exec);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("its files differ from metier.lock"),
        "{}",
        output.snapshot()
    );
    // Accepting the edit keeps the file, but not the approval of the previous bytes.
    succeed(&context, &["verify", "tool", "--accept"]);
    let output = context.run(&exec);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("not approved"),
        "{}",
        output.snapshot()
    );
}

// case 188
#[test]
fn what_a_pull_changes_in_a_project_is_not_trusted() {
    let context = context();
    context.dir("repo/.git");
    write_skill(&context, "pdf", "pdf", "text");
    succeed(&context, &["-C", "repo", "add", "../pdf", "--yes"]);
    succeed(&context, &["-C", "repo", "show", "pdf"]);
    // A commit that changes the skill and its lock together.
    let hostile = context.path("hostile");
    fs::create_dir_all(hostile.join(".git")).unwrap();
    write_skill(&context, "other/pdf", "pdf", "other");
    succeed(&context, &["-C", "hostile", "add", "../other/pdf", "--yes"]);
    for file in [
        "metier.lock",
        ".agents/skills/pdf/SKILL.md",
        ".agents/skills/pdf/references/a.md",
        ".agents/skills/pdf/references/b.md",
    ] {
        fs::copy(hostile.join(file), context.path("repo").join(file)).unwrap();
    }
    succeed(&context, &["-C", "repo", "verify"]);
    let output = context.run(&["-C", "repo", "show", "pdf"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("its folder is not trusted"),
        "{}",
        output.snapshot()
    );
}

// case 235
#[test]
fn a_lock_of_a_clone_makes_a_list_hash_little() {
    let context = context();
    context.dir("repo/.git");
    write_skill(&context, "pdf", "pdf", "text");
    for number in 0..8 {
        let text = "A line of text.\n".repeat(50_000);
        context.write(&format!("pdf/references/c{number}.md"), text);
    }
    succeed(&context, &["-C", "repo", "add", "../pdf", "--yes"]);
    for (path, bytes) in files(&context.path("repo")) {
        context.write(&format!("clone/{path}"), bytes);
    }
    context.dir("clone/.git");
    let digest = |folder: &str| {
        let output = succeed(&context, &["-C", folder, "list", "--all", "--json"]);
        let list: Value = serde_json::from_str(&output.stdout).unwrap();
        let skills = list["skills"].as_array().unwrap();
        let skill = skills.iter().find(|skill| skill["name"] == "pdf").unwrap();
        skill["digest"].clone()
    };
    let known = digest("repo");
    assert!(known.is_string());
    assert!(digest("clone").is_null(), "it has 6 MB and is not trusted");
    succeed(&context, &["-C", "clone", "trust", "--yes"]);
    assert_eq!(digest("clone"), known);
}

/// Runs git without the user's configuration.
fn git(context: &TestContext, folder: &str, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(context.path(folder))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

// case 40
#[test]
fn a_repository_is_pinned_to_its_commit() {
    needed!(needs::program("git"));
    let mut context = context();
    context.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    context.dir("upstream");
    git(&context, "upstream", &["init", "-q"]);
    write_skill(&context, "upstream/skills/pdf", "pdf", "first");
    write_skill(&context, "upstream/skills/docx", "docx", "first");
    git(&context, "upstream", &["add", "."]);
    git(&context, "upstream", &["commit", "-qm", "first"]);
    let source = format!("git+file://{}", context.path("upstream").display());
    let listed = context.run(&["install", &source, "--yes"]);
    assert_eq!(listed.code, 1, "{}", listed.snapshot());
    assert!(
        listed.stderr.contains("has 2 skills"),
        "{}",
        listed.snapshot()
    );
    succeed(&context, &["install", &source, "pdf", "--yes"]);
    let lock = context.read("~/.local/share/metier/metier.lock");
    assert!(lock.contains("commit = \""), "{lock}");
    // The branch moves on, and the skill is lost with everything that was kept: the lock still fetches the original bytes.
    write_skill(&context, "upstream/skills/pdf", "pdf", "second");
    git(&context, "upstream", &["commit", "-qam", "second"]);
    fs::remove_dir_all(context.home().join(".agents/skills/pdf")).unwrap();
    fs::remove_dir_all(context.home().join(".local/share/metier/objects")).unwrap();
    succeed(&context, &["install", "--frozen"]);
    assert_eq!(
        context.read("~/.agents/skills/pdf/references/a.md"),
        "first a\n"
    );
    assert_eq!(context.read("~/.local/share/metier/metier.lock"), lock);
    // A new installation from the same repository replaces it without another question.
    succeed(&context, &["install", &source, "pdf", "--yes"]);
    assert_eq!(
        context.read("~/.agents/skills/pdf/references/a.md"),
        "second a\n"
    );
}

/// The single document is alone on stdout, and every line of stderr is an event.
#[test]
fn events_are_lines_of_json_beside_the_document() {
    let context = context();
    for name in ["one", "two"] {
        write_skill(&context, &format!("repo/{name}"), name, "first");
    }
    let arguments = ["install", "./repo", "--all", "--yes", "--json", "--events"];
    let output = succeed(&context, &arguments);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["skills"].as_array().unwrap().len(), 2);
    let lines = output.stderr.lines();
    let events: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let last = |work: &str| {
        let mut events = events.iter().filter(|event| event["work"] == work);
        let last = events.rfind(|event| event["ended"] == true);
        last.unwrap_or_else(|| panic!("no end of {work}: {events:?}"))["done"].clone()
    };
    assert_eq!((last("fetch"), last("scan")), (2.into(), 2.into()));
    // Without the flag there is nothing on stderr.
    let output = succeed(&context, &["install", "./repo", "--all", "--yes", "--json"]);
    assert_eq!(output.stderr, "");
}
