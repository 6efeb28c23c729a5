//! The bytes that run are the bytes that were judged, whatever the files of a skill are called: odd names, long paths, links, and git's own
//! files.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use metier_testkit::needed;
use serde_json::Value;

use crate::{
    conditions::under_every_condition,
    skill_project::{SkillProject, field},
};

const SCRIPTS: &[&str] = &["shell:exec(scripts/*)"];

fn odd(stage: &SkillProject, folder: &str, name: &[u8]) -> PathBuf {
    stage.context.path(folder).join(OsStr::from_bytes(name))
}

/// Creates nested folders, one system call at a time: their path is longer than a system call accepts.
fn nested(below: &Path, name: &str, times: usize) {
    let script = "import os, sys\nfor _ in range(int(sys.argv[2])):\n    os.mkdir(sys.argv[1]); os.chdir(sys.argv[1])\nopen('x', 'w').write('x')\n";
    let made = std::process::Command::new("/usr/bin/python3")
        .args(["-c", script, name, &times.to_string()])
        .current_dir(below)
        .status();
    assert!(made.unwrap().success());
}

// case 149
#[test]
fn nothing_runs_or_reads_what_git_keeps_at_the_top() {
    under_every_condition(|stage| {
        let script = "\
            . \"$METIER_SKILL_DIR/.git/description\"\n\
            cat \"$METIER_SKILL_DIR/.git/description\" \"$METIER_SKILL_DIR/scripts/link\"\n\
            echo \"the script ran\"\n";
        stage.scripted(
            "kept",
            SCRIPTS,
            &format!("(\n{script}) 2>/dev/null\nexit 0\n"),
        );
        stage.scripted(
            "read",
            &["shell:exec(scripts/*)", "file:read(./**)"],
            &format!("(\n{script}) 2>/dev/null\nexit 0\n"),
        );
        for name in ["kept", "read"] {
            let canary = "echo canary-1771\n";
            stage
                .context
                .write(&format!("skills/{name}/.git/description"), canary);
            stage.context.symlink(
                "../.git/description",
                &format!("skills/{name}/scripts/link"),
            );
            let output = stage.exec(name, &[]);
            assert!(!output.stdout.contains("canary"), "{}", output.snapshot());
            // The same with a name that once made the copy fail.
            fs::write(odd(stage, &format!("skills/{name}"), b"n\xff.txt"), "x").unwrap();
            let output = stage.exec(name, &[]);
            assert!(!output.stdout.contains("canary"), "{}", output.snapshot());
            assert_eq!(output.code, 0, "{}", output.snapshot());
        }
    });
}

// case 149
#[test]
fn git_that_is_a_file_or_a_link_is_not_read_either() {
    under_every_condition(|stage| {
        stage.scripted(
            "file",
            SCRIPTS,
            "cat \"$METIER_SKILL_DIR/.git\" 2>/dev/null\necho ran\n",
        );
        stage.context.write("skills/file/.git", "canary-1771\n");
        stage.scripted(
            "link",
            SCRIPTS,
            "cat \"$METIER_SKILL_DIR/.git\" 2>/dev/null\necho ran\n",
        );
        stage.context.write("elsewhere", "canary-1771\n");
        stage.context.symlink("../../elsewhere", "skills/link/.git");
        for name in ["file", "link"] {
            let output = stage.exec(name, &[]);
            assert_eq!(output.stdout, "ran\n", "{}", output.snapshot());
        }
    });
}

// case 149
#[test]
fn without_a_sandbox_a_skill_with_a_repository_is_refused() {
    let stage = SkillProject::new();
    stage.scripted("kept", SCRIPTS, "echo ran\n");
    let exec = || {
        stage.run(&[
            "--approve-skills",
            "kept",
            "--unsandboxed",
            "exec",
            "kept",
            "scripts/do.sh",
        ])
    };
    assert!(exec().stdout.contains("ran"));
    stage.context.write("skills/kept/.git/config", "x");
    let output = exec();
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains(".git was not scanned"),
        "{}",
        output.snapshot()
    );
    assert!(
        output.stderr.contains("hint: run it without --unsandboxed"),
        "{}",
        output.snapshot()
    );
    assert!(!output.stdout.contains("ran"), "{}", output.snapshot());
}

// case 148
#[test]
fn a_child_sees_names_that_are_not_text_byte_by_byte() {
    under_every_condition(|stage| {
        let script = "cat \"$METIER_SKILL_DIR/$(printf 'n\\376')\" \"$METIER_SKILL_DIR/$(printf 'n\\377')\"\n";
        stage.scripted("odd", SCRIPTS, script);
        fs::write(odd(stage, "skills/odd", b"n\xfe"), "one,").unwrap();
        fs::write(odd(stage, "skills/odd", b"n\xff"), "two").unwrap();
        let output = stage.exec("odd", &[]);
        assert_eq!(output.stdout, "one,two", "{}", output.snapshot());
    });
}

// case 150
#[test]
fn the_copy_is_not_written_through_a_link() {
    under_every_condition(|stage| {
        stage.scripted("through", SCRIPTS, "echo ran\n");
        let target = stage.context.home().join("PWNED");
        symlink(&target, odd(stage, "skills/through", b"\xfe")).unwrap();
        fs::write(odd(stage, "skills/through", b"\xff"), "owned").unwrap();
        let output = stage.exec("through", &[]);
        assert!(target.symlink_metadata().is_err(), "{}", output.snapshot());
        assert_eq!(output.stdout, "ran\n", "{}", output.snapshot());
    });
}

/// Runs a skill with this many nested folders, which is refused.
fn is_refused(stage: &SkillProject, skill: &str, name: &str, times: usize, why: &str) {
    let script = "cat \"$METIER_SKILL_DIR/.git/description\"\necho ran\n";
    stage.scripted(skill, SCRIPTS, script);
    let git = format!("skills/{skill}/.git/description");
    stage.context.write(&git, "canary-1771");
    nested(&stage.context.path(&format!("skills/{skill}")), name, times);
    let output = stage.exec(skill, &[]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(output.stderr.contains(why), "{}", output.snapshot());
    assert!(output.stdout.is_empty(), "{}", output.snapshot());
}

// case 148
#[test]
fn a_skill_that_is_too_deep_is_refused() {
    under_every_condition(|stage| {
        is_refused(stage, "deep", "d", 70, "is more than 64 folders deep");
    });
}

// case 148
#[test]
fn a_skill_with_a_path_that_is_too_long_is_refused() {
    // As the user who runs the tests: giving such a path to another user takes as many steps as creating it.
    let (stage, name) = (SkillProject::new(), "x".repeat(100));
    is_refused(&stage, "long", &name, 42, "is longer than 2048 bytes");
}

// case 148
#[test]
fn a_name_that_is_not_text_makes_a_scan_incomplete() {
    let mut stage = SkillProject::new();
    stage.scripted("odd", SCRIPTS, "echo ran\n");
    let clean = stage.run(&["scan", "skills/odd", "--json"]);
    assert!(clean.stdout.contains("\"clean\""), "{}", clean.snapshot());
    fs::write(odd(&stage, "skills/odd", b"r\xe9sum\xe9.txt"), "x").unwrap();
    let output = stage.run(&["scan", "skills/odd", "--json"]);
    let scan: Value = serde_json::from_str(&output.stdout).unwrap();
    assert!(output.stdout.contains("\"incomplete\""), "{scan}");
    assert!(output.stdout.contains("r\\\\xe9sum\\\\xe9.txt"), "{scan}");
    stage
        .context
        .env("METIER_SKILLS_SECURITY_SCAN_ON_LOAD", "true");
    let output = stage.exec("odd", &[]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(output.stderr.contains("blocked"), "{}", output.snapshot());
}

#[test]
fn a_large_file_is_copied_too() {
    let stage = SkillProject::new();
    stage.scripted(
        "large",
        SCRIPTS,
        "wc -c < \"$METIER_SKILL_DIR/data\"\nrm -f \"$METIER_SKILL_DIR/data\" 2>/dev/null\n",
    );
    stage
        .context
        .write("skills/large/data", vec![b'x'; 12 << 20]);
    stage.context.write("skills/large/.git/config", "x");
    let output = stage.exec("large", &[]);
    assert!(output.stdout.contains("12582912"), "{}", output.snapshot());
    assert!(stage.has("skills/large/data"));
}

/// The row of a skill in `list --json`.
fn row(stage: &SkillProject, name: &str) -> Value {
    let output = stage.context.run(&["list", "--all", "--json"]);
    let list: Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = list["skills"].as_array().unwrap();
    let row = rows.iter().find(|row| field(row, "name") == name);
    row.unwrap_or_else(|| panic!("{list}")).clone()
}

// case 151
#[test]
fn a_list_never_shows_the_digest_or_the_verdict_of_other_bytes() {
    let stage = SkillProject::new();
    stage.skill_in("~/.claude/skills", "a", "", "Reads.\n");
    stage
        .context
        .write("~/.claude/skills/a/scripts/x.sh", "echo 1\n");
    std::thread::sleep(Duration::from_millis(2_200));
    let scanned = stage.context.run(&["scan", "a", "--json"]);
    assert_eq!(scanned.code, 0, "{}", scanned.snapshot());
    let before = row(&stage, "a");
    assert_eq!(before["scan"], "clean", "{before}");
    stage
        .context
        .write("~/.claude/skills/a/scripts/x.sh", "echo 2\n");
    let after = row(&stage, "a");
    assert_eq!(after["scan"], "unknown", "{after}");
    assert_ne!(after["digest"], before["digest"]);
}

// case 170
#[test]
fn deep_folders_of_an_untrusted_clone_do_not_slow_a_list() {
    let stage = needed!(SkillProject::measured());
    stage.skill_in("~/.claude/skills", "mine", "", "Reads.\n");
    assert_eq!(stage.context.run(&["scan", "mine"]).code, 0);
    for number in 0..10 {
        let name = format!("deep-{number}");
        stage.skill_in("skills", &name, "", "Reads.\n");
        nested(&stage.context.path(&format!("skills/{name}")), "d", 1_950);
    }
    stage.context.run(&["list"]);
    let output = stage.context.run(&["list", "--all"]);
    assert!(output.stdout.contains("deep-9"), "{}", output.snapshot());
    let used = stage.used().processor_time;
    assert!(used.as_millis() < 1_000, "{used:?}");
}

/// A user's own skill, and a project's skill with the same name.
fn two_of_one_name() -> SkillProject {
    let stage = SkillProject::new();
    let front = "permissions: [\"shell:exec(echo *)\"]\n";
    stage.skill_in("~/.claude/skills", "deploy", front, "!`echo the-users`\n");
    stage.context.write(
        "~/.config/metier/config.toml",
        "skills.approved = [\"deploy\"]\n",
    );
    stage
}

// case 152
#[test]
fn a_bare_name_approves_no_skill_of_a_project() {
    let stage = two_of_one_name();
    let output = stage.context.run(&["show", "deploy", "--raw"]);
    assert!(output.stdout.contains("the-users"), "{}", output.snapshot());
    let front = "permissions: [\"shell:exec(echo *)\"]\n";
    stage.skill_in("skills", "deploy", front, "!`echo the-projects`\n");
    assert_eq!(stage.context.run(&["trust", "--yes"]).code, 0);
    let output = stage.context.run(&["show", "deploy", "--raw"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        !output.stdout.contains("the-projects"),
        "{}",
        output.snapshot()
    );
    assert!(
        output.stderr.contains("this one has the source project"),
        "{}",
        output.snapshot()
    );
    let doctor = stage.context.run(&["doctor"]);
    assert!(
        doctor.stdout.contains("use `project:deploy`"),
        "{}",
        doctor.snapshot()
    );
    stage.context.write(
        "~/.config/metier/config.toml",
        "skills.approved = [\"project:deploy\"]\n",
    );
    let output = stage.context.run(&["show", "deploy", "--raw"]);
    assert!(
        output.stdout.contains("the-projects"),
        "{}",
        output.snapshot()
    );
}

// case 152
#[test]
fn a_place_for_skills_that_appears_later_is_not_trusted() {
    let stage = SkillProject::new();
    stage.skill_in("skills", "first", "", "One.\n");
    assert_eq!(stage.context.run(&["trust", "--yes"]).code, 0);
    assert_eq!(row(&stage, "first")["status"], "ready");
    stage.skill_in(".claude/skills", "second", "", "Two.\n");
    stage.skill_in("planted", "git", "", "Not git.\n");
    stage
        .context
        .write("AGENT.md", "---\nskills:\n  - ./planted/git\n---\n");
    assert_eq!(row(&stage, "second")["status"], "blocked");
    let git = stage.context.run(&["info", "git", "--json"]);
    let git: Value = serde_json::from_str(&git.stdout).unwrap();
    assert_eq!(git["source"], "builtin", "{git}");
    assert_eq!(row(&stage, "first")["status"], "ready");
    assert_eq!(stage.context.run(&["trust", "--yes"]).code, 0);
    assert_eq!(row(&stage, "second")["status"], "ready");
    let git = stage.context.run(&["info", "git", "--json"]);
    let git: Value = serde_json::from_str(&git.stdout).unwrap();
    assert_eq!(git["source"], "inline", "{git}");
}

// case 152
#[test]
fn a_trusted_place_that_became_a_link_is_not_trusted() {
    let stage = SkillProject::new();
    stage.skill_in("skills", "first", "", "One.\n");
    stage.skill_in("elsewhere", "first", "", "Another.\n");
    assert_eq!(stage.context.run(&["trust", "--yes"]).code, 0);
    fs::rename(stage.context.path("skills"), stage.context.path("before")).unwrap();
    stage.context.symlink("elsewhere", "skills");
    assert_eq!(row(&stage, "first")["status"], "blocked");
}

// case 153
#[test]
fn a_skill_is_disabled_by_its_name_and_by_its_key() {
    let stage = SkillProject::new();
    let front = "metadata: {openclaw: {skillKey: something-else}}\n";
    stage.skill_in("~/.claude/skills", "pest", front, "Stays.\n");
    assert_eq!(row(&stage, "pest")["status"], "ready");
    for key in ["pest", "something-else"] {
        let key = format!("skills.entries.{key}.enabled");
        assert_eq!(stage.context.run(&["config", &key, "false"]).code, 0);
        let pest = row(&stage, "pest");
        assert_eq!(pest["status"], "disabled", "{key}: {pest}");
        assert_eq!(pest["reasons"][0]["hint"], "metier enable pest", "{key}");
        assert!(!stage.context.run(&["prompt"]).stdout.contains("pest"));
        assert_eq!(stage.context.run(&["enable", "pest"]).code, 0, "{key}");
        assert_eq!(row(&stage, "pest")["status"], "ready", "{key}");
    }
}

// case 153
#[test]
fn a_key_that_gives_a_skill_no_settings_disables_it() {
    let stage = SkillProject::new();
    let key = |name: &str| format!("metadata: {{openclaw: {{skillKey: {name}}}}}\n");
    stage.skill_in("~/.claude/skills", "github", "", "Named.\n");
    stage.skill_in("~/.claude/skills", "of-another", &key("github"), "Stays.\n");
    stage.skill("of-a-project", &key("chosen"), "Stays.\n");
    assert_eq!(stage.context.run(&["trust", "--yes"]).code, 0);
    for (name, key) in [("of-another", "github"), ("of-a-project", "chosen")] {
        assert_eq!(row(&stage, name)["status"], "ready");
        let key = format!("skills.entries.{key}.enabled");
        assert_eq!(stage.context.run(&["config", &key, "false"]).code, 0);
        assert_eq!(row(&stage, name)["status"], "disabled", "{key}");
    }
}

/// The parts of a skill in the property test below.
#[derive(Clone, Debug)]
enum Piece {
    File(Vec<u8>, bool),
    Link(&'static str),
}

/// Numbers from a seed, so that a failure can be reproduced.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }
}

/// A random path and its content.
fn piece(dice: &mut Dice) -> (Vec<u8>, Piece) {
    const NAMES: [&[u8]; 14] = [
        b"a",
        b"b",
        b"a-b",
        b".git",
        b".git",
        b".hidden",
        b"n\xfe",
        b"n\xff",
        "\u{fffd}".as_bytes(),
        b"x\ny",
        b"with blank",
        b"-rf",
        "\u{202e}gpj.exe".as_bytes(),
        b"\\xff",
    ];
    const TARGETS: [&str; 5] = [
        "../a",
        "/etc/hostname",
        ".git/config",
        "b",
        "../.git/config",
    ];
    let depth = if dice.roll(25) == 0 {
        66
    } else {
        1 + dice.roll(3)
    };
    let names: Vec<&[u8]> = (0..depth).map(|_| NAMES[dice.roll(NAMES.len())]).collect();
    let size = if dice.roll(30) == 0 {
        11 << 20
    } else {
        dice.roll(200)
    };
    let letter = b'a' + u8::try_from(dice.roll(26)).unwrap_or(0);
    let what = match dice.roll(5) {
        0 => Piece::Link(TARGETS[dice.roll(TARGETS.len())]),
        kind => Piece::File(vec![letter; size], kind == 1),
    };
    (names.join(&b'/'), what)
}

/// Puts a piece into a folder, unless its path is already taken.
fn put(folder: &Path, path: &[u8], piece: &Piece) -> bool {
    let at = folder.join(OsStr::from_bytes(path));
    let Some(parent) = at.parent() else {
        return false;
    };
    // Not through a link that was put there before.
    let is_link = |above: &Path| {
        above
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    let mut above = parent
        .ancestors()
        .take_while(|above| above.starts_with(folder));
    if above.any(is_link) || fs::create_dir_all(parent).is_err() || at.symlink_metadata().is_ok() {
        return false;
    }
    match piece {
        Piece::Link(target) => symlink(target, &at).is_ok(),
        Piece::File(bytes, executable) => {
            let mode = if *executable { 0o755 } else { 0o644 };
            fs::write(&at, bytes).is_ok()
                && fs::set_permissions(&at, PermissionsExt::from_mode(mode)).is_ok()
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The output of a child that reads everything below its folder: the names of all files and links, the sizes of the files, and their bytes
/// with each run of one letter reduced to one.
const LOOK: &str = "cd \"$METIER_SKILL_DIR\" || exit 9\nexport LC_ALL=C\n\
    find . ! -type d -print0 | sort -z | od -An -v -tx1 | tr -d ' \\n'; echo\n\
    find . -type f -print0 | sort -z | xargs -0 cat -- | wc -c\n\
    find . -type f -print0 | sort -z | xargs -0 cat -- | tr -s a-z | od -An -v -tx1 | tr -d ' \\n'; echo\n";

/// The bytes with each run of one letter as one.
fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let mut short: Vec<u8> = Vec::new();
    for byte in bytes {
        if !(byte.is_ascii_lowercase() && short.last() == Some(byte)) {
            short.push(*byte);
        }
    }
    short
}

// case 148, 149
#[test]
fn what_a_child_can_read_of_random_skills_is_what_was_judged() {
    let (mut seen, mut refused) = (0, 0);
    for seed in 0..24 {
        let mut dice = Dice(seed);
        let stage = SkillProject::new();
        stage.scripted("random", SCRIPTS, LOOK);
        let folder = stage.context.path("skills/random");
        let mut files = std::collections::BTreeMap::new();
        files.insert(
            b"SKILL.md".to_vec(),
            Some(fs::read(folder.join("SKILL.md")).unwrap()),
        );
        files.insert(
            b"scripts/do.sh".to_vec(),
            Some(fs::read(folder.join("scripts/do.sh")).unwrap()),
        );
        let mut is_deep = false;
        for _ in 0..dice.roll(12) {
            let (path, piece) = piece(&mut dice);
            let is_judged = path != b".git" && !path.starts_with(b".git/");
            if put(&folder, &path, &piece) && is_judged {
                is_deep |= path.iter().filter(|byte| **byte == b'/').count() > 64;
                files.insert(
                    path,
                    match piece {
                        Piece::File(bytes, _) => Some(bytes),
                        Piece::Link(_) => None,
                    },
                );
            }
        }
        let output = stage.exec("random", &[]);
        if is_deep {
            refused += 1;
            assert_eq!(
                (output.code, &*output.stdout),
                (1, ""),
                "seed {seed}: {}",
                output.snapshot()
            );
            continue;
        }
        seen += 1;
        let mut names: Vec<Vec<u8>> = files
            .keys()
            .map(|path| [b"./", &path[..]].concat())
            .collect();
        names.sort();
        let names: Vec<u8> = names
            .iter()
            .flat_map(|name| [&name[..], b"\0"].concat())
            .collect();
        let bytes: Vec<u8> = files.values().flatten().flatten().copied().collect();
        let content = hex(&squeezed(&bytes));
        let expected = format!("{}\n{}\n{content}\n", hex(&names), bytes.len());
        assert_eq!(output.stdout, expected, "seed {seed}: {}", output.stderr);
    }
    assert!(seen > 8, "{refused} were refused");
}
