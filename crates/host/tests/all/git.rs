//! Git in repositories with differences, and in repositories that try to run something.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use metier_host::child::Exit;
use metier_host::execution::{ActResult, ExecutionError, git_commands, only_reads};
use metier_policy::{Act, GitAct};
use metier_testkit::make_executable;

use crate::world::Place;

/// Folders of programs that find different versions of git, where a machine has several.
const VERSIONS: &[&str] = &["/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin"];

/// The names of all git hooks.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
];

/// Git as its user runs it, in a folder.
fn plain_git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Place {
    /// Runs git for the skill: the exit code, and all output.
    fn git(&self, arguments: &[&str]) -> Result<(Option<i32>, String), ExecutionError> {
        self.git_in("project", arguments)
    }

    fn git_in(
        &self,
        folder: &str,
        arguments: &[&str],
    ) -> Result<(Option<i32>, String), ExecutionError> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let reads = only_reads(&arguments);
        let git = GitAct {
            repository: self.path(folder),
            arguments,
        };
        let act = match reads {
            true => Act::ReadRepository(git),
            false => Act::WriteRepository(git),
        };
        let ActResult::Child(ended, _) = self.act(act)? else {
            panic!("no child");
        };
        let code = match ended.exit {
            Exit::Code(code) => Some(code),
            _ => None,
        };
        let text = [ended.stdout, ended.stderr].concat();
        Ok((code, String::from_utf8_lossy(&text).into_owned()))
    }

    /// The output of a command that must succeed.
    fn git_says(&self, arguments: &[&str]) -> String {
        let (code, text) = self.git(arguments).unwrap();
        assert_eq!(code, Some(0), "git {arguments:?}: {text}");
        text
    }
}

/// A project with a history, a submodule, and changes of every kind.
fn changed(programs: &'static str) -> Place {
    let mut place = Place::new(&["git:read(./**)", "git:write(./**)"], &[]);
    place.programs = programs;
    let upstream = place.path("upstream");
    let project = place.path("project");
    fs::create_dir_all(&upstream).unwrap();
    plain_git(&upstream, &["init", "-q", "-b", "main"]);
    fs::write(upstream.join("s.txt"), "s\n").unwrap();
    plain_git(&upstream, &["add", "."]);
    plain_git(&upstream, &["commit", "-qm", "upstream"]);
    plain_git(&project, &["init", "-q", "-b", "main"]);
    fs::write(project.join("text.txt"), "one\ntwo\n").unwrap();
    fs::write(project.join("picture.bin"), [0, 1, 2]).unwrap();
    fs::write(project.join("old.txt"), "a file that moves\n".repeat(20)).unwrap();
    plain_git(&project, &["add", "."]);
    plain_git(&project, &["commit", "-qm", "first"]);
    let url = upstream.to_str().unwrap();
    plain_git(&project, &["submodule", "--quiet", "add", url, "sub"]);
    plain_git(&project, &["commit", "-qm", "submodule"]);
    plain_git(&project, &["config", "user.name", "a"]);
    plain_git(&project, &["config", "user.email", "a@example.com"]);
    fs::write(project.join("text.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(project.join("picture.bin"), [0, 1, 3]).unwrap();
    fs::write(project.join("sub/s.txt"), "changed\n").unwrap();
    plain_git(&project, &["mv", "old.txt", "new.txt"]);
    place
}

#[test]
fn differences_are_shown() {
    for programs in VERSIONS {
        let place = changed(programs);
        let says = |arguments: &[&str]| place.git_says(arguments);
        let diff = says(&["diff"]);
        assert!(diff.contains("+three"), "{diff}");
        assert!(
            diff.contains("Binary files a/picture.bin and b/picture.bin differ"),
            "{diff}"
        );
        let staged = says(&["diff", "--staged", "-M"]);
        assert!(
            staged.contains("rename from old.txt\nrename to new.txt"),
            "{staged}"
        );
        assert_eq!(
            says(&["diff", "--stat", "--", "text.txt"]).lines().count(),
            2
        );
        let log = says(&["log", "-p", "--format=%s"]);
        assert!(
            log.contains("+Subproject commit") && log.contains("+two"),
            "{log}"
        );
        assert!(says(&["show", "--stat", "HEAD"]).contains("sub"));
        let blame = says(&["blame", "text.txt"]);
        assert!(
            blame.contains("Not Committed Yet") && blame.contains("three"),
            "{blame}"
        );
        let status = says(&["status", "--porcelain", "--branch"]);
        let expected = "## main\nR  old.txt -> new.txt\n M picture.bin\n M text.txt\n";
        assert_eq!(status, expected);
        assert_eq!(says(&["branch", "--show-current"]), "main\n");
        assert_eq!(says(&["rev-list", "--count", "HEAD"]), "2\n");
        let moved = place.path("project/sub");
        fs::write(moved.join("more.txt"), "more\n").unwrap();
        plain_git(&moved, &["add", "more.txt"]);
        plain_git(&moved, &["commit", "-qm", "more"]);
        let diff = says(&["diff", "sub"]);
        assert!(
            diff.contains("-Subproject") && diff.contains("+Subproject"),
            "{diff}"
        );
    }
}

#[test]
fn changes_reach_the_repository() {
    for programs in VERSIONS {
        let place = changed(programs);
        let project = place.path("project");
        let says = |arguments: &[&str]| place.git_says(arguments);
        says(&["add", "--", "text.txt"]);
        says(&["commit", "-m", "- a message that begins with a dash"]);
        says(&["switch", "--create", "topic"]);
        fs::write(project.join("topic.txt"), "topic\n").unwrap();
        says(&["add", "-A"]);
        says(&["commit", "-qm", "topic"]);
        says(&["tag", "-a", "-m", "one", "v1"]);
        says(&["switch", "main"]);
        says(&["merge", "--no-ff", "topic"]);
        says(&["revert", "--no-edit", "-m", "1", "HEAD"]);
        says(&["branch", "-D", "topic"]);
        fs::write(project.join("text.txt"), "other\n").unwrap();
        says(&["stash"]);
        says(&["stash", "pop"]);
        says(&["restore", "text.txt"]);
        let log = plain_git(&project, &["log", "--topo-order", "--format=%s"]);
        let expected = "Revert \"Merge branch 'topic'\"\nMerge branch 'topic'\ntopic\n\
                        - a message that begins with a dash\nsubmodule\nfirst\n";
        assert_eq!(log, expected);
        assert_eq!(
            plain_git(&project, &["status", "--porcelain", "--ignore-submodules"]),
            ""
        );
        plain_git(&project, &["fsck", "--strict"]);
        assert_eq!(plain_git(&project, &["tag"]), "v1\n");
    }
}

#[test]
fn repositories_of_every_shape_are_found() {
    let place = Place::new(&["git:read(./**)", "git:write(./**)"], &[]);
    let project = place.path("project");
    let main = project.join("main");
    fs::create_dir_all(&main).unwrap();
    assert_eq!(
        place.git_in("project/main", &["init", "-q"]).unwrap().0,
        Some(0)
    );
    plain_git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    plain_git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
    plain_git(&project, &["clone", "-q", "--bare", "main", "bare"]);
    plain_git(&main, &["pack-refs", "--all"]);
    fs::create_dir(project.join("main/inner")).unwrap();
    fs::write(project.join("main/inner/new.txt"), "new\n").unwrap();
    for folder in ["main", "side", "bare", "main/inner"] {
        let folder = format!("project/{folder}");
        let log = place.git_in(&folder, &["log", "--format=%s"]);
        assert_eq!(log.unwrap(), (Some(0), "first\n".to_owned()), "{folder}");
    }
    let status = |folder: &str| {
        place
            .git_in(folder, &["status", "--short", "-b"])
            .unwrap()
            .1
    };
    assert_eq!(status("project/side"), "## side\n");
    assert!(status("project/main/inner").ends_with("?? ./\n"));
    let here = place.git_in("project/side", &["rev-parse", "--show-toplevel"]);
    assert_eq!(
        here.unwrap().1,
        format!("{}\n", project.join("side").display())
    );
    let none = place.git_in("project", &["status"]).unwrap();
    assert_eq!(none.0, Some(128));
    assert!(none.1.contains("not a git repository"), "{}", none.1);
    // A branch that another worktree has checked out stays there.
    let taken = place.git_in("project/side", &["switch", "main"]).unwrap();
    let name = plain_git(&main, &["branch", "--show-current"]);
    let other = place
        .git_in("project/side", &["switch", name.trim()])
        .unwrap();
    assert!(taken.0 != Some(0) && other.0 != Some(0), "{other:?}");
}

// case 169
#[test]
fn options_are_taken_in_full_and_only_from_the_list() {
    let place = changed(VERSIONS[0]);
    let refused: &[&[&str]] = &[
        &["diff", "--ext-diff"],
        &["diff", "--ext"],
        &["diff", "--textconv"],
        &["diff", "--output=x"],
        &["diff", "--outp=x"],
        &["diff", "--no-index", "a", "b"],
        &["diff", "-O/etc/passwd"],
        &["diff", "-pO/etc/passwd"],
        &["diff", "--submodule=diff"],
        &["diff", "--submodule"],
        &["diff", "--ignore-submodules=none"],
        &["status", "--ignore-submodules=none"],
        &["log", "--show-signature"],
        &["log", "--format=%G?"],
        &["log", "--format", "%GS"],
        &["log", "--pretty=tformat:%GK"],
        &["log", "--format", "--output=x"],
        &["log", "--remerge-diff"],
        &["log", "--stdin"],
        &["for-each-ref", "--format=%(signature)"],
        &["cat-file", "--textc", "HEAD:text.txt"],
        &["cat-file", "--filters", "HEAD:text.txt"],
        &["blame", "--contents=x", "text.txt"],
        &["blame", "-S", "file", "text.txt"],
        &["describe", "--dirty"],
        &["ls-files", "--recurse-submodules"],
        &["merge", "-s", "other", "main"],
        &["merge", "--strategy=other", "main"],
        &["merge", "--verify-signatures", "main"],
        &["commit", "-S", "-m", "x"],
        &["commit", "-e"],
        &["commit", "--gpg-sign", "-m", "x"],
        &["commit", "-p"],
        &["add", "-i"],
        &["add", "-e"],
        &["add", "-p"],
        &["tag", "-s", "-m", "x", "v"],
        &["tag", "-v", "v"],
        &["checkout", "--recurse-submodules", "main"],
        &["branch", "--edit-description"],
        &["branch", "-u", "origin/main"],
        &["init", "--template=/tmp"],
        &["init", "--separate-git-dir=/tmp/x"],
        &["rev-parse", "--show-superproject-working-tree"],
        &["stash", "-p"],
        &["revert", "--edit", "HEAD"],
        &["-c", "core.pager=id", "log"],
        &["-C", "/", "log"],
        &["--git-dir=/", "log"],
        &["grep", "--open-files-in-pager=id", "x"],
        &["push"],
        &["fetch"],
        &["config", "--list"],
        &["submodule", "foreach", "id"],
        &["bisect", "run", "id"],
        &["rebase", "--exec", "id"],
        &["difftool"],
        &["gc"],
        &["maintenance", "run"],
        &["alias"],
        &[],
    ];
    for arguments in refused {
        let answer = place.git(arguments);
        let is_refused = matches!(&answer, Err(error) if error.is_refusal());
        assert!(is_refused, "{arguments:?}: {answer:?}");
    }
    assert!(!place.path("project/x").exists());
}

/// A value for an option of the list, chosen so that git does not stop early.
fn spelt(option: &str) -> Vec<String> {
    let value = |name: &str| match name {
        "--format=" | "--pretty[=]" => "%H",
        "--encoding=" => "UTF-8",
        "--diff-algorithm=" => "myers",
        "--contains=" | "--no-contains=" | "--merged=" | "--no-merged=" | "--points-at="
        | "--source=" | "--reuse-message=" | "--fixup=" | "--squash=" | "--ignore-rev="
        | "--find-object=" | "-C:VALUE" | "-s:VALUE" => "HEAD",
        "-L:VALUE" => "1,1",
        "--conflict=" => "merge",
        "--cleanup=" => "strip",
        "--chmod=" => "+x",
        "--author=" => "a <a@example.com>",
        "--since=" | "--until=" | "--after=" | "--before=" => "2020-01-01",
        "--date=" => "iso",
        _ => "1",
    };
    if let Some(name) = option.strip_suffix("[=]") {
        vec![name.to_owned(), format!("{name}={}", value(option))]
    } else if option.ends_with('=') {
        vec![format!("{option}{}", value(option))]
    } else if let Some(name) = option.strip_suffix("[VALUE]") {
        vec![name.to_owned(), format!("{name}1")]
    } else if let Some((name, _)) = option.split_once(':') {
        vec![format!("{name}{}", value(option))]
    } else {
        vec![option.to_owned()]
    }
}

/// The arguments of a command, chosen so that it has an effect.
fn operand(command: &str) -> &'static [&'static str] {
    match command {
        "blame" => &["text.txt"],
        "cat-file" => &["HEAD:text.txt"],
        "describe" => &["--always"],
        "ls-tree" | "rev-list" | "rev-parse" | "shortlog" | "log" | "show" => &["HEAD"],
        "merge-base" => &["HEAD", "HEAD~1"],
        "add" | "restore" => &["text.txt"],
        "checkout" | "switch" => &["topic"],
        "merge" => &["topic"],
        "mv" => &["text.txt", "moved.txt"],
        "revert" => &["HEAD"],
        "rm" => &["picture.bin"],
        "commit" => &["-m", "x"],
        "tag" | "branch" => &["made"],
        _ => &[],
    }
}

/// A repository in which every setting that git documents, every hook and every driver is a program that writes a file.
struct Trap {
    place: Place,
    out: PathBuf,
}

impl Trap {
    fn new(programs: &'static str) -> Self {
        let mut place = changed(programs);
        let granted = ["git:read(./**)", "git:write(./**)", "file:write(./out/**)"];
        let other = Place::new(&granted, &[]);
        // The same folder, with more permissions.
        fs::remove_dir_all(other.path("project")).unwrap();
        fs::rename(place.path("project"), other.path("project")).unwrap();
        fs::rename(place.path("upstream"), other.path("upstream")).unwrap();
        place = other;
        place.programs = programs;
        let project = place.path("project");
        let out = project.join("out");
        fs::create_dir_all(&out).unwrap();
        plain_git(&project, &["branch", "topic"]);
        let trap = Self { place, out };
        let keys = trap.keys();
        assert!(keys.len() > 500, "{keys:?}");
        let mut config = fs::read_to_string(project.join(".git/config")).unwrap();
        for key in &keys {
            config.push_str(&trap.setting(key));
        }
        let included = trap.setting("core.fsmonitor") + &trap.setting("filter.x.clean");
        fs::write(project.join(".git/included"), included).unwrap();
        config.push_str("[include]\n\tpath = included\n");
        fs::write(project.join(".git/config"), config).unwrap();
        let attributes = "* filter=x diff=x merge=x\n";
        fs::create_dir_all(project.join(".git/info")).unwrap();
        fs::write(project.join(".git/info/attributes"), attributes).unwrap();
        fs::write(project.join(".gitattributes"), attributes).unwrap();
        for hook in HOOKS {
            let canary = trap.canary(&format!("hook.{hook}"));
            let at = project.join(".git/hooks").join(hook);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::copy(canary, &at).unwrap();
            make_executable(&at);
        }
        trap
    }

    /// Every key that git documents, with a name in place of each variable part.
    fn keys(&self) -> BTreeSet<String> {
        let listed = plain_git(&self.place.path("home"), &["help", "-c"]);
        let more = [
            "alias.status",
            "alias.diff",
            "alias.log",
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "filter.x.required",
            "diff.x.textconv",
            "diff.x.command",
            "diff.x.cachetextconv",
            "merge.x.driver",
            "merge.default",
            "merge.x.recursive",
            "core.alternateRefsCommand",
            "uploadpack.packObjectsHook",
            "gpg.ssh.defaultKeyCommand",
            "trailer.x.command",
            "trailer.x.cmd",
            "interactive.diffFilter",
            "pager.log",
            "pager.diff",
            "pager.status",
            "pager.show",
            "difftool.x.cmd",
            "mergetool.x.cmd",
            "submodule.sub.update",
            "submodule.sub.ignore",
            "remote.origin.uploadpack",
            "hook.x.command",
            "credential.helper",
            "sequence.editor",
            "core.editor",
        ];
        let keys = listed.lines().map(str::trim).chain(more);
        let keys = keys.filter(|key| key.contains('.') && !key.starts_with("include"));
        let mut all = BTreeSet::new();
        for key in keys {
            let mut name = String::new();
            let mut inside = false;
            for letter in key.chars() {
                match letter {
                    '<' => inside = true,
                    '>' => {
                        inside = false;
                        name.push('x');
                    }
                    '*' => name.push('x'),
                    _ if inside => {}
                    other => name.push(other),
                }
            }
            if !name.starts_with("core.repository") && !name.starts_with("extensions.") {
                all.insert(name);
            }
        }
        all
    }

    fn setting(&self, key: &str) -> String {
        let (section, rest) = key.split_once('.').unwrap();
        let value = self.canary(key).display().to_string();
        match rest.rsplit_once('.') {
            Some((name, key)) => format!("[{section} \"{name}\"]\n\t{key} = {value}\n"),
            None => format!("[{section}]\n\t{rest} = {value}\n"),
        }
    }

    /// A program that writes a file of this name.
    fn canary(&self, name: &str) -> PathBuf {
        let folder = self.place.path("project/.git/canaries");
        fs::create_dir_all(&folder).unwrap();
        let at = folder.join(name);
        let text = format!("#!/bin/sh\n: >'{}'\ncat\n", self.out.join(name).display());
        fs::write(&at, text).unwrap();
        make_executable(&at);
        at
    }

    fn sprung(&self) -> Vec<String> {
        let names = fs::read_dir(&self.out).unwrap().flatten();
        let mut names: Vec<String> = names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs every command, on request with every option, a few at a time.
    fn run_all(&self, with_options: bool) -> usize {
        let mut runs = 0;
        for (command, permission, options) in git_commands() {
            let mut lines: Vec<Vec<String>> = vec![Vec::new()];
            // Its `-n` sorts.
            let options = options
                .iter()
                .filter(|option| !(command == "shortlog" && **option == "-n:VALUE"));
            let words: Vec<String> = options.flat_map(|option| spelt(option)).collect();
            if with_options {
                lines.extend(words.chunks(4).map(<[String]>::to_vec));
            }
            for options in lines {
                let words = std::iter::once(command)
                    .chain(options.iter().map(String::as_str))
                    .chain(operand(command).iter().copied());
                let words: Vec<String> = words.map(str::to_owned).collect();
                let git = GitAct {
                    repository: self.place.path("project"),
                    arguments: words.clone(),
                };
                let act = match permission {
                    "git:read" => Act::ReadRepository(git),
                    _ => Act::WriteRepository(git),
                };
                let done = self.place.act(act);
                let refused = matches!(&done, Err(error) if error.is_refusal());
                // Names make `branch` and `tag` write.
                let by_name = ["branch", "tag"].contains(&command) && permission == "git:read";
                assert!(done.is_ok() || (refused && by_name), "{words:?}: {done:?}");
                assert_eq!(self.sprung(), Vec::<String>::new(), "git {words:?}");
                runs += 1;
            }
            self.reset();
        }
        runs
    }

    /// Switches back to a branch with changes, without using any of the settings.
    fn reset(&self) {
        let project = self.place.path("project");
        for name in ["index.lock", "MERGE_HEAD", "REVERT_HEAD"] {
            fs::remove_file(project.join(".git").join(name)).ok();
        }
        fs::write(project.join("text.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(project.join("picture.bin"), [0, 1, 3]).unwrap();
    }
}

// case 169
#[test]
fn a_trap_springs_for_git_itself() {
    let trap = Trap::new(VERSIONS[0]);
    let project = trap.place.path("project");
    // Only settings that name programs; otherwise git stops at invalid numbers.
    let config: String = [
        "core.fsmonitor",
        "filter.x.clean",
        "diff.x.textconv",
        "diff.external",
    ]
    .iter()
    .map(|key| trap.setting(key))
    .collect();
    fs::write(
        project.join(".git/config"),
        format!("[core]\n\trepositoryformatversion = 0\n{config}"),
    )
    .unwrap();
    for command in ["status", "diff", "log"] {
        let mut git = Command::new("git");
        git.current_dir(&project).args([command, "-p"]);
        git.env("HOME", &project).output().unwrap();
    }
    let sprung = trap.sprung();
    assert!(sprung.contains(&"core.fsmonitor".to_owned()), "{sprung:?}");
    assert!(sprung.contains(&"diff.external".to_owned()), "{sprung:?}");
    assert!(sprung.contains(&"filter.x.clean".to_owned()), "{sprung:?}");
}

// case 169
#[test]
fn nothing_in_a_repository_runs_even_without_a_fence() {
    let mut trap = Trap::new(VERSIONS[0]);
    trap.place.unsandboxed = true;
    let runs = trap.run_all(true);
    assert!(runs > 150, "{runs}");
}

// case 169
#[test]
fn nothing_in_a_repository_runs_behind_the_fence() {
    for programs in VERSIONS {
        Trap::new(programs).run_all(false);
    }
}

// case 169
#[test]
fn nothing_in_a_submodule_runs() {
    for unsandboxed in [false, true] {
        let mut trap = Trap::new(VERSIONS[0]);
        trap.place.unsandboxed = unsandboxed;
        let project = trap.place.path("project");
        let inner = project.join(".git/modules/sub/config");
        let mut config = fs::read_to_string(&inner).unwrap();
        for key in [
            "core.fsmonitor",
            "filter.x.clean",
            "filter.x.process",
            "core.hooksPath",
        ] {
            config.push_str(&trap.setting(key));
        }
        fs::write(&inner, config).unwrap();
        fs::write(project.join("sub/.gitattributes"), "* filter=x\n").unwrap();
        let modules = fs::read_to_string(project.join(".gitmodules")).unwrap();
        fs::write(
            project.join(".gitmodules"),
            format!("{modules}\tignore = none\n"),
        )
        .unwrap();
        for arguments in [
            &["status"][..],
            &["diff"],
            &["diff", "HEAD"],
            &["add", "-A"],
            &["commit", "-a", "-m", "x"],
            &["stash"],
            &["reset", "--hard"],
            &["checkout", "topic"],
        ] {
            trap.place.git(arguments).unwrap();
            assert_eq!(trap.sprung(), Vec::<String>::new(), "git {arguments:?}");
        }
    }
}

// case 169
#[test]
fn a_missing_object_is_not_fetched() {
    let mut trap = Trap::new(VERSIONS[0]);
    trap.place.unsandboxed = true;
    let project = trap.place.path("project");
    let blob = plain_git(&trap.place.path("upstream"), &["rev-parse", "HEAD:s.txt"]);
    assert_eq!(blob.trim().len(), 40);
    let git_dir = project.join(".git");
    let canary = trap.canary("remote.helper").display().to_string();
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n\
         [remote \"origin\"]\n\tpromisor = true\n\turl = ext::{canary}\n[protocol]\n\tallow = always\n"
    );
    fs::write(git_dir.join("config"), config).unwrap();
    let id = {
        let listed = trap.place.git(&["rev-parse", "HEAD:text.txt"]).unwrap().1;
        listed.trim().to_owned()
    };
    let (folder, name) = id.split_at(2);
    fs::remove_file(git_dir.join("objects").join(folder).join(name)).unwrap();
    let (code, said) = trap.place.git(&["show", "HEAD:text.txt"]).unwrap();
    assert_ne!(code, Some(0), "{said}");
    assert_eq!(trap.sprung(), Vec::<String>::new());
}

/// The list in the form that people review.
#[test]
fn the_list_of_git_commands() {
    let mut table = String::new();
    for (command, permission, options) in git_commands() {
        table.push_str(&format!("{permission:<9} git {command}\n"));
        for options in options.chunks(6) {
            table.push_str(&format!("          {}\n", options.join("  ")));
        }
    }
    let kept = include_str!("git_commands.txt");
    if kept != table {
        let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/git_commands.txt");
        if std::env::var_os("METIER_BLESS").is_some() {
            fs::write(at, &table).unwrap();
        } else {
            panic!("the list changed; METIER_BLESS=1 writes {}", at.display());
        }
    }
}
