//! Protected places that settings, variables and start-up files of the user name.

use std::fs;

use serde_json::json;

use crate::{
    conditions::under_every_condition,
    places::WRITES,
    protected::{call, starlark},
    skill_project::SkillProject,
};

const PROJECT: &[&str] = &["shell:exec(scripts/*)", "file:write(./**)"];
const WRITE_FILE: &str = "write_file(input[\"path\"], \"evil\")\nreturn \"written\"";

/// Places that the settings of a repository name.
const SETTINGS: &str = "[core]\n\thooksPath = tools/hooks\n\tfsmonitor = tools/watch.sh --quick\n[include]\n\tpath = ../extra.inc\n\
    [includeIf \"gitdir:~/x/\"]\n\tpath = ../../proj-other.inc\n[filter \"f\"]\n\tclean = \"python3 'tools/clean.py' %f\"\n[alias]\n\tgo = !tools/go.sh\n";

// case 180
#[test]
fn what_a_repository_s_settings_name_is_not_written() {
    under_every_condition(|stage| {
        for (place, content) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", SETTINGS),
            ("lib/inner/.git/HEAD", "ref: refs/heads/main\n"),
            ("lib/inner/.git/config", "[core]\n\thooksPath = ../hooks\n"),
            ("lib/hooks/pre-commit", "mine\n"),
            ("tools/hooks/pre-commit", "mine\n"),
            ("tools/watch.sh", "mine\n"),
            ("tools/clean.py", "mine\n"),
            ("tools/go.sh", "mine\n"),
            ("tools/other.sh", "mine\n"),
            (
                "~/.gitconfig",
                "[core]\n\thooksPath = global-hooks\n[include]\n\tpath = dots/git.inc\n",
            ),
            ("~/dots/notes", "mine\n"),
        ] {
            stage.context.write(place, content);
        }
        let there = [
            "tools/hooks/pre-commit",
            "tools/watch.sh",
            "tools/clean.py",
            "tools/go.sh",
            "lib/hooks/pre-commit",
        ];
        let missing = [
            "extra.inc",
            "tools/hooks/post-commit",
            "lib/hooks/post-commit",
            "global-hooks/pre-commit",
            "~/dots/git.inc",
        ];
        let paths: Vec<_> = there
            .iter()
            .chain(&missing)
            .map(|place| {
                let work = stage.context.work().canonicalize().unwrap();
                match place.strip_prefix("~/") {
                    Some(rest) => stage.context.home().canonicalize().unwrap().join(rest),
                    None => work.join(place),
                }
            })
            .collect();
        let words: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        stage.scripted("w", &[PROJECT, &["file:write(~/**)"]].concat(), WRITES);
        let output = stage.exec("w", &words);
        starlark(
            stage,
            "s",
            &["file:write(./**)", "file:write(~/**)"],
            WRITE_FILE,
        );
        for path in &paths {
            let said = call(stage, "s", &json!({ "path": path }));
            assert!(said.contains("never written"), "{}: {said}", path.display());
            let text = fs::read_to_string(path).unwrap_or_default();
            assert!(
                !text.contains("evil"),
                "{}: {}",
                path.display(),
                output.snapshot()
            );
        }
        for place in there {
            assert_eq!(
                stage.context.read(place),
                "mine\n",
                "{place}: {}",
                output.snapshot()
            );
        }
        let other = stage
            .context
            .work()
            .canonicalize()
            .unwrap()
            .join("tools/other.sh");
        let said = call(stage, "s", &json!({ "path": other }));
        assert!(!said.contains("never"), "{said}");
    });
}

// case 181
#[test]
fn what_runs_by_itself_in_the_home_is_not_written() {
    under_every_condition(|stage| {
        let places = [
            ".bashrc.d/x",
            ".nvm/nvm.sh",
            ".fzf.bash",
            ".lessfilter",
            ".config/openbox/autostart",
            ".local/share/gnome-shell/extensions/x/extension.js",
            ".julia/config/startup.jl",
            ".vscode-server/extensions/x/package.json",
            ".config/Claude/claude_desktop_config.json",
            ".zcompdump",
            "go/bin/git",
            "node_modules/left-pad/index.js",
        ];
        check_home(stage, &places);
    });
}

/// A child and a host function try to write places in the home; none of them exists afterwards.
fn check_home(stage: &SkillProject, places: &[&str]) {
    let home = stage.context.home().canonicalize().unwrap();
    let paths: Vec<_> = places.iter().map(|place| home.join(place)).collect();
    let words: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let grants = ["shell:exec(scripts/*)", "file:write(~/**)"];
    stage.scripted("w", &grants, WRITES);
    let output = stage.exec("w", &words);
    starlark(stage, "s", &grants[1..], WRITE_FILE);
    for path in &paths {
        assert!(!path.exists(), "{}: {}", path.display(), output.snapshot());
        let said = call(stage, "s", &json!({ "path": path }));
        assert!(said.contains("never written"), "{}: {said}", path.display());
    }
}

// case 181
#[test]
fn where_programs_are_looked_for_is_not_written() {
    let mut stage = SkillProject::new();
    let home = stage.context.home().canonicalize().unwrap();
    let mut path = std::ffi::OsString::from(home.join("tools/here"));
    for folder in [home.join(".volta/bin"), "/usr/bin".into(), "/bin".into()] {
        path.push(":");
        path.push(folder);
    }
    stage
        .context
        .env("PATH", path)
        .env("BASH_ENV", home.join("start.sh"))
        .env("XDG_DATA_HOME", home.join("moved"))
        .env("EDITOR", format!("{}/ed.sh --wait", home.display()));
    stage.context.dir("~/tools/here");
    stage.context.dir("~/moved/applications");
    check_home(
        &stage,
        &[
            "tools/here/git",
            ".volta/bin/git",
            "start.sh",
            "ed.sh",
            "moved/applications/x.desktop",
            "moved/gnome-shell/extensions/x",
        ],
    );
}

// case 181
#[test]
fn keys_are_not_read_where_variables_keep_them() {
    let mut stage = SkillProject::new();
    let home = stage.context.home().canonicalize().unwrap();
    stage
        .context
        .env("GNUPGHOME", home.join("ring"))
        .env("XDG_CONFIG_HOME", home.join("moved"));
    for place in ["~/ring/secret", "~/moved/gh/hosts.yml"] {
        stage.context.write(place, "canary-3381\n");
    }
    let script = format!("cat {0}/ring/* {0}/moved/gh/*; echo ran\n", home.display());
    stage.scripted("r", &["shell:exec(scripts/*)", "file:read(~/**)"], &script);
    let output = stage.exec("r", &[]);
    assert_eq!(output.stdout, "ran\n", "{}", output.snapshot());
    starlark(
        &stage,
        "s",
        &["file:read(~/**)"],
        "return read_file(input[\"path\"])",
    );
    let said = call(&stage, "s", &json!({ "path": home.join("ring/secret") }));
    assert!(said.contains("never read"), "{said}");
}

// case 181
#[test]
fn no_skill_writes_the_projects_of_tests() {
    under_every_condition(|stage| {
        stage.context.dir("~/.cache/metier/tests");
        stage.context.dir("~/elsewhere");
        check_home(stage, &[".cache/metier/tests/x/a.txt"]);
        stage.skill("t", "", "Text.\n");
        stage
            .context
            .write("skills/t/tests/cases.yaml", "- prompt:\n  contains: Text\n");
        let tests = stage.context.path("~/.cache/metier/tests");
        fs::remove_dir_all(&tests).unwrap();
        stage
            .context
            .symlink("../../elsewhere", "~/.cache/metier/tests");
        let output = stage.run(&["test", "t"]);
        assert!(output.stderr.contains("is a link"), "{}", output.snapshot());
    });
}
