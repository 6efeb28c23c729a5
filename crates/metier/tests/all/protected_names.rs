//! Protected places that settings, variables and start-up files of the user name.

use std::fs;

use serde_json::json;

use crate::{
    conditions::under_every_condition,
    places::WRITES,
    protected::{call, starlark},
};

const PROJECT: &[&str] = &["shell:exec(scripts/*)", "file:write(./**)"];
const WRITE_FILE: &str = "write_file(input[\"path\"], \"evil\")\nreturn \"written\"";

/// What a repository's settings name.
const SETTINGS: &str = "[core]\n\thooksPath = tools/hooks\n\tfsmonitor = tools/watch.sh --quick\n[include]\n\tpath = ../shared.inc\n\
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
            "shared.inc",
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
