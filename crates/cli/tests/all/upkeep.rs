//! Commands that maintain installed skills: each is undone byte for byte, and a repository that moves is followed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use metier_testkit::{TestContext, needed, needs};

use crate::agent_terminal::{ENTER, Person};

/// More checkpoints than any change has.
const MAX_CHECKPOINTS: usize = 200;

fn context() -> TestContext {
    TestContext::new(env!("CARGO_BIN_EXE_metier"))
}

fn skill(version: &str, body: &str) -> String {
    format!(
        "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  version: \"{version}\"\n---\n{body}\n"
    )
}

#[track_caller]
fn run(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.run(arguments);
    assert_eq!(output.code, 0, "{arguments:?}: {}", output.snapshot());
    output.stdout
}

/// The content of every path below a folder: the bytes and the mode of a file, the target of a link. The records of changes are not part of
/// it.
fn state(folder: &Path) -> BTreeMap<PathBuf, String> {
    use std::os::unix::fs::MetadataExt;
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let own = [
                ".local/share/metier/changes",
                ".local/share/metier/objects",
                ".cache",
            ];
            let is_record = own.iter().any(|own| path.ends_with(own))
                || path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("metier.db"));
            let kind = fs::symlink_metadata(&path).unwrap();
            if is_record {
            } else if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(path, format!("link to {}", target.display()));
            } else if kind.is_dir() {
                waiting.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                found.insert(path, format!("{:o} {text}", kind.mode() & 0o777));
            }
        }
    }
    found
}

#[test]
fn every_change_is_undone_byte_for_byte() {
    let context = context();
    context.dir("repo/.git");
    context.write("source/pdf/SKILL.md", skill("1.0.0", "Read."));
    context.write("source/pdf/tips.md", "Zoom in.\n");
    fs::create_dir_all(context.home().join(".config/metier")).unwrap();
    fs::write(
        context.home().join(".config/metier/config.toml"),
        "# mine\n[skills]\nvalidation = \"lenient\" # x\n",
    )
    .unwrap();
    run(&context, &["install", "./source/pdf", "--yes"]);
    run(&context, &["-C", "repo", "add", "../source/pdf", "--yes"]);
    run(&context, &["profile", "save", "writing", "pdf"]);
    run(&context, &["sync", "--to", "claude-code"]);
    context.write("source/pdf/SKILL.md", skill("1.1.0", "Read slowly."));
    run(&context, &["update", "--yes"]);
    context.write("source/pdf/SKILL.md", skill("1.2.0", "Read again."));
    let commands: &[&[&str]] = &[
        &["disable", "pdf"],
        &["-C", "repo", "disable", "pdf", "--project"],
        &["profile", "use", "writing"],
        &["profile", "save", "other", "git"],
        &["profile", "remove", "writing"],
        &["sync", "--to", "cursor"],
        &["sync", "--to", "cursor,goose", "--copy"],
        &["sync", "--to", "claude-code", "--copy"],
        &["sync", "--remove"],
        &[
            "-C",
            "repo",
            "sync",
            "--project",
            "--to",
            "claude-code,windsurf",
        ],
        &["update", "--yes"],
        &["-C", "repo", "update", "--project", "--yes"],
        &["rollback", "pdf"],
        &["remove", "pdf"],
    ];
    let places = [context.home(), context.work()];
    for command in commands {
        let before = places.clone().map(|place| state(&place));
        run(&context, command);
        let during = places.clone().map(|place| state(&place));
        assert_ne!(before, during, "{command:?} changed nothing");
        run(&context, &["undo"]);
        let after = places.clone().map(|place| state(&place));
        assert_eq!(before, after, "{command:?}");
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let context = context();
    context.write("source/pdf/SKILL.md", skill("1.0.0", "Read."));
    run(&context, &["install", "./source/pdf", "--yes"]);
    context.write("source/pdf/SKILL.md", skill("1.1.0", "Read slowly."));
    run(&context, &["update", "--yes"]);
    context.write("source/pdf/SKILL.md", skill("1.2.0", "Read again."));
    let commands: &[&[&str]] = &[
        &["disable", "pdf", "--dry-run"],
        &["disable", "pdf", "--project", "--dry-run"],
        &["profile", "save", "writing", "pdf", "--dry-run"],
        &["sync", "--to", "claude-code", "--dry-run"],
        &["update", "--dry-run"],
        &["rollback", "pdf", "--dry-run"],
    ];
    let places = [context.home(), context.work()];
    for command in commands {
        let before = places.clone().map(|place| state(&place));
        run(&context, command);
        let after = places.clone().map(|place| state(&place));
        assert_eq!(before, after, "{command:?}");
    }
}

/// A repository with one skill, and a function that commits a new state of it.
struct Repository<'c> {
    context: &'c TestContext,
    git: PathBuf,
}

impl Repository<'_> {
    fn run(&self, arguments: &[&str]) {
        let done = Command::new(&self.git)
            .args([
                "-C",
                "origin",
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
            ])
            .args(arguments)
            .current_dir(self.context.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.context.home())
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn commit(&self, text: &str) {
        self.context.write("origin/skills/pdf/SKILL.md", text);
        let notes = "---\nname: notes\ndescription: Writes notes.\n---\nWrite.\n";
        self.context.write("origin/skills/notes/SKILL.md", notes);
        self.run(&["add", "."]);
        self.run(&["commit", "--quiet", "--message", "a change"]);
    }
}

#[test]
fn a_repository_is_followed() {
    let git = needed!(needs::program("git"));
    let mut context = context();
    context.env("PATH", git.parent().unwrap());
    context.dir("origin");
    let repository = Repository {
        context: &context,
        git,
    };
    repository.run(&["init", "--quiet", "--initial-branch=main"]);
    repository.commit(&skill("1.0.0", "Read."));
    let source = format!("git+file://{}", context.path("origin").display());
    run(&context, &["install", &source, "--all", "--yes"]);
    let current = run(&context, &["outdated", "--json"]);
    assert!(
        current.contains("notes") && !current.contains("\"outdated\":true"),
        "{current}"
    );
    repository.commit(&skill("1.1.0", "Read slowly."));
    let changed = run(&context, &["update", "--yes"]);
    assert!(changed.contains("pdf 1.0.0 → 1.1.0"), "{changed}");
    assert!(changed.contains("+Read slowly."), "{changed}");
    let lock = fs::read_to_string(context.home().join(".local/share/metier/metier.lock")).unwrap();
    assert!(
        lock.contains("version = \"1.1.0\"") && lock.contains("commit = "),
        "{lock}"
    );
    run(&context, &["rollback", "pdf"]);
    assert!(run(&context, &["show", "pdf", "--raw"]).contains("Read."));
}

/// The state of a home directory without the paths of this run.
fn portable(context: &TestContext) -> BTreeMap<String, String> {
    let found = state(&context.home());
    let text = |path: &Path| context.filter(&path.to_string_lossy());
    found
        .iter()
        .map(|(path, content)| (text(path), context.filter(content)))
        .collect()
}

/// A skill with a link and a copy, and a newer version in its source.
fn with_agents(context: &TestContext) {
    context.write("source/pdf/SKILL.md", skill("1.0.0", "Read."));
    context.write("source/pdf/tips.md", "Zoom in.\n");
    run(
        context,
        &["install", "./source/pdf", "--yes", "--to", "cursor"],
    );
    run(context, &["sync", "--to", "claude-code", "--copy"]);
    context.write("source/pdf/SKILL.md", skill("1.1.0", "Read slowly."));
}

/// Kills a command at each of its checkpoints. The next command finds every place old or every place new.
fn killed_everywhere(arguments: &[&str]) {
    let reference = context();
    with_agents(&reference);
    let before = portable(&reference);
    run(&reference, arguments);
    let after = portable(&reference);
    assert_ne!(before, after, "{arguments:?}");
    let (mut was_old, mut was_new) = (0, 0);
    for number in 1..MAX_CHECKPOINTS {
        let mut context = context();
        with_agents(&context);
        context.env("ABORT_METIER_AT", number.to_string());
        let output = context.run(arguments);
        context.unset("ABORT_METIER_AT");
        // Any command completes the change, or removes what is left of it.
        run(&context, &["list"]);
        match portable(&context) == after {
            true => was_new += 1,
            false => {
                assert_eq!(portable(&context), before, "{arguments:?} at {number}");
                was_old += 1;
            }
        }
        if output.code == 0 {
            assert!(was_old > 3 && was_new > 3, "{was_old} old, {was_new} new");
            return;
        }
    }
    panic!("{arguments:?} never ended by itself");
}

// case 39
#[test]
fn an_update_that_is_killed_changes_all_places_or_none() {
    killed_everywhere(&["update", "--yes"]);
}

// case 39
#[test]
fn a_synchronization_that_is_killed_changes_all_places_or_none() {
    killed_everywhere(&["sync", "--to", "goose,cursor,claude-code"]);
}

// case 39
#[test]
fn a_removal_that_is_killed_removes_all_links_or_none() {
    killed_everywhere(&["remove", "pdf"]);
}

/// Types an answer to the only question of a command.
fn answered(context: &TestContext, arguments: &str, answer: &str) -> (i32, String) {
    let command = context.command();
    let program = command.get_program().to_str().unwrap();
    let mut person = Person::typing(context, &format!("'{program}' {arguments}"));
    person.sees("[y/N] ");
    person.types(&format!("{answer}{ENTER}"));
    person.leaves()
}

// case 189
#[test]
fn a_person_decides_about_new_permissions() {
    let script = needed!(needs::program("script"));
    let mut context = context();
    context.env("PATH", script.parent().unwrap());
    let manifest = |version: &str, permissions: &str| {
        format!(
            "name: count\nversion: {version}\ndescription: Counts words.\ntypes: [prompt]\npermissions: [{permissions}]\n"
        )
    };
    context.write("source/count/SKILL.yaml", manifest("1.0.0", ""));
    run(&context, &["install", "./source/count", "--yes"]);
    context.write(
        "source/count/SKILL.yaml",
        manifest("2.0.0", "'net:fetch(api.example.com)'"),
    );
    let (code, screen) = answered(&context, "update", "n");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("+ net:fetch(api.example.com)"), "{screen}");
    assert!(screen.contains("approve 1 new permission?"), "{screen}");
    let outdated = run(&context, &["outdated", "--json"]);
    assert!(outdated.contains("\"outdated\":true"), "{outdated}");
    let (code, screen) = answered(&context, "update", "y");
    assert_eq!(code, 0, "{screen}");
    let permissions = run(&context, &["permissions", "count", "--json"]);
    assert!(
        permissions.contains("\"state\":\"allowed\""),
        "{permissions}"
    );
}

#[test]
fn a_person_is_offered_the_agents_of_this_machine() {
    let script = needed!(needs::program("script"));
    let mut context = context();
    context.env("PATH", script.parent().unwrap());
    context.write("source/pdf/SKILL.md", skill("1.0.0", "Read."));
    run(&context, &["install", "./source/pdf", "--yes"]);
    fs::create_dir_all(context.home().join(".codex")).unwrap();
    let (code, screen) = answered(&context, "sync", "y");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("into the folders of codex?"), "{screen}");
    assert!(context.home().join(".codex/skills/pdf/SKILL.md").exists());
}
