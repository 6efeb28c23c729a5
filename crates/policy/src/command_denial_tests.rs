//! Denials and approvals of commands, in every spelling of the command.

use crate::{
    Act, ActMeter, CommandLine,
    grant_tests::{granted, terms},
    plain_script,
};

// case 211
#[test]
fn a_denied_command_is_denied_in_every_form() {
    let grant = granted(
        &["shell:exec"],
        &["shell:exec(echo secret *)", "shell:exec(git push *)"],
        terms(),
    );
    let permit = |text: &str| {
        let parsed = metier_model::shell::parse(text).ok();
        let act = CommandLine::new(text, parsed.as_ref(), text, Vec::new());
        grant.permit(Act::Line(act), &ActMeter::default()).is_ok()
    };
    for text in [
        "echo secret a",
        "/bin/echo secret a",
        "echo -- secret a",
        "echo -n secret",
        "x=secret; echo $x a",
        "echo $'secret' b",
        "echo {secret,c}",
        "echo ${Z:-secret} f",
        "echo sec\"ret\" f",
        "for w in secret; do echo $w g; done",
        "env nice echo secret a",
        "timeout 5 /usr/bin/echo secret",
        "command echo secret a",
        "git push origin",
        "git -C . push origin",
        "git --no-pager -c a.b=c push",
        "git $verb origin",
        "true && git push",
        "env -S 'git push origin'",
        "env -S git push",
        "env --split-string='git push'",
        "env - git push",
        "env --ignore-signal=INT git push",
        "env -S $x",
        "x='git push'; $x",
        "git -c alias.x=push x",
        "git submodule foreach git push",
        "git rebase -x 'git push'",
        "setsid --wait git push",
        "stdbuf --output=0 git push",
        "ionice --class 3 git push",
        "xargs -a /dev/null git push",
        "flock /dev/null git push",
        "find . -exec true \\; -exec git push \\;",
        "setpriv --reuid 0 git push",
        "taskset -c 0 git push",
        "chrt -o 0 git push",
        "setarch x86_64 git push",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push",
        "start-stop-daemon --start --exec /usr/bin/git push",
        "script -c 'git push' /dev/null",
        "sh -c 'cd x; git push'",
        "unknown-runner --with=x git push",
    ] {
        assert!(!permit(text), "{text}");
    }
    for text in [
        "echo public a",
        "echo public $x",
        "git log push",
        "git log $x",
        "git -C . log push",
        "cat secret",
        "nice echo public",
        "echo git push is denied",
        "grep -n 'git push' README.md",
        "python3 build.py",
        "python3 $file",
        "cargo test",
        "env LANG=C git log",
    ] {
        assert!(permit(text), "{text}");
    }
}

/// A permission for a skill's own files does not permit other programs.
// case 80
#[test]
fn an_approval_of_scripts_covers_no_path_that_leads_out() {
    let grant = granted(
        &["shell:exec(scripts/*)", "shell:exec(/opt/x/*)"],
        &[],
        terms(),
    );
    let permit = |text: &str| {
        let parsed = metier_model::shell::parse(text).ok();
        let act = CommandLine::new(text, parsed.as_ref(), text, Vec::new());
        grant.permit(Act::Line(act), &ActMeter::default()).is_ok()
    };
    for text in [
        "scripts/../../bin/bash -c id",
        "scripts/a/../../x",
        "scripts/./x.sh",
        "scripts//x.sh",
        "scripts/",
        "./scripts/../x",
        "/opt/x/../../bin/sh -c id",
        "/opt/x//sh",
        "//opt/x/sh",
    ] {
        assert!(!permit(text), "{text}");
    }
    assert!(permit("scripts/x.sh a ../b"));
    assert!(permit("/opt/x/y"));
}

/// An option that makes git run a program is recognised in every spelling.
// case 168
#[test]
fn a_pattern_covers_no_option_that_runs_a_program() {
    for text in [
        "git ls-remote --upload-pack='touch x;' .",
        "git ls-remote --upl='touch x;' .",
        "git grep --open='touch x' a",
        "git grep -nO'touch x' a",
        "git clone -u 'touch x' . y",
        "tar --to-comm=x -xf a.tar",
        "sort --comp=x a",
        "split --fil=x a",
        "rsync -avze 'sh -c x' a b",
    ] {
        let parsed = metier_model::shell::parse(text).unwrap();
        let line = CommandLine::new(text, Some(&parsed), text, Vec::new());
        assert!(!line.is_plain, "{text}");
    }
    for text in [
        "git log --exclude=x -n 5",
        "git push -u origin x",
        "tar -xzf a.tar",
    ] {
        let parsed = metier_model::shell::parse(text).unwrap();
        let line = CommandLine::new(text, Some(&parsed), text, Vec::new());
        assert!(line.is_plain, "{text}");
    }
}

/// A path of a denied program names the program, wherever it is installed.
// case 211
#[test]
fn a_denied_path_denies_the_program() {
    let grant = granted(&["shell:exec"], &["shell:exec(/usr/bin/wget *)"], terms());
    let permit = |text: &str| {
        let parsed = metier_model::shell::parse(text).ok();
        let act = CommandLine::new(text, parsed.as_ref(), text, Vec::new());
        grant.permit(Act::Line(act), &ActMeter::default()).is_ok()
    };
    for text in ["/usr/bin/wget x", "wget x", "/bin/wget x", "/opt/x/wget"] {
        assert!(!permit(text), "{text}");
    }
    assert!(permit("curl wget"));
}

/// A file of a skill has one path in scopes; each interface converts typed paths to this form.
// case 211
#[test]
fn a_script_is_named_in_one_way() {
    let grant = granted(&["shell:exec"], &["shell:exec(scripts/x.sh)"], terms());
    let permit = |path: &str| {
        let arguments = Vec::new();
        let path = path.into();
        grant.permit(Act::Script { path, arguments }, &ActMeter::default())
    };
    for path in [
        "scripts/x.sh",
        "scripts//x.sh",
        "scripts/./x.sh",
        "./scripts/x.sh",
        "scripts/../scripts/x.sh",
        "/scripts/x.sh",
    ] {
        assert!(permit(path).is_err(), "{path}");
    }
    assert!(permit("scripts/y.sh").is_ok());
    for typed in ["scripts//x.sh", "./scripts/./x.sh", "scripts/x.sh"] {
        assert_eq!(plain_script(typed), "scripts/x.sh");
    }
    assert_eq!(plain_script("../x"), "../x");
    assert_eq!(plain_script("/etc/x"), "/etc/x");
}
