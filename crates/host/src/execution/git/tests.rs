//! Tests of the arguments that git gets, and of those that are refused.

use super::config::{self, Setting};
use super::options::{self, Needs};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn names(text: &str) -> Vec<String> {
    let name = |setting: &Setting| {
        let sub = setting.subsection.as_deref();
        let sub = sub.map_or_else(String::new, |sub| format!("{sub}."));
        let value = setting.value.as_deref().unwrap_or("(true)");
        format!("{}.{sub}{}={value}", setting.section, setting.key)
    };
    config::read(text).iter().map(name).collect()
}

#[test]
fn settings_are_read_as_git_reads_them() {
    let text = "\u{feff}; comment\n[Core]\n\tBare = false # no\n\tsymlinks\n[branch \"a\\\"b\"] remote = \"or ig\" in \n\
                merge = refs/\\\n  heads/x\n[old.sub]\nkey=\"a;b\"\n[broken\nkey = lost\n[user]\nname = \"open\nemail = a@b\r\n";
    assert_eq!(
        names(text),
        [
            "core.bare=false",
            "core.symlinks=(true)",
            "branch.a\"b.remote=or ig in",
            "branch.a\"b.merge=refs/  heads/x",
            "old.sub.key=a;b",
            "user.email=a@b",
        ]
    );
}

// case 169
#[test]
fn only_known_settings_are_written() {
    let text = "[core]\n\tfsmonitor = id\n\tautocrlf = input\n\tpager = id\n[include]\n\tpath = x\n\
                [filter \"x\"]\n\tclean = id\n[remote \"o\"]\n\tfetch = +a:b\n\tuploadpack = id\n\
                [user]\n\tname = \"a\\n[core]\\n\\tfsmonitor = id\"\n[extensions]\n\tpartialclone = o\n\
                [branch \"x\\\"]\\n[core]\"]\n\tremote = o\n";
    let written = config::write(&config::read(text), &[]);
    let read = names(&written);
    let theirs: Vec<&String> = read.iter().take(read.len() - config::OURS.len()).collect();
    assert_eq!(
        theirs,
        [
            "core.autocrlf=input",
            "remote.o.fetch=+a:b",
            "user.name=a\n[core]\n\tfsmonitor = id",
            "branch.x\"]n[core].remote=o",
        ]
    );
    assert!(read.contains(&"core.fsmonitor=false".to_owned()));
}

#[test]
fn options_are_read_letter_by_letter() {
    let reads = |line: &str| options::check(&words(line), Needs::Read).is_ok();
    let writes = |line: &str| options::check(&words(line), Needs::Write).is_ok();
    for line in [
        "log -5 --oneline",
        "log -n 5",
        "log -n5",
        "status -sb",
        "diff -U10 -w HEAD~1 -- --output=x",
        "branch --merged",
        "branch --contains HEAD",
        "branch --list x*",
        "branch -vv",
        "tag -l v*",
        "tag",
        "log --since=yesterday --format=%h",
        "log --max-count 3",
        "rev-parse --abbrev-ref HEAD",
    ] {
        assert!(reads(line), "{line}");
    }
    for line in [
        "commit -am --amend",
        "tag -am x v1",
        "branch -D x",
        "commit -m --",
    ] {
        assert!(writes(line), "{line}");
    }
    for line in [
        "log --max-count --output=x",
        "log --form=x",
        "status -sbO",
        "branch x",
        "tag x",
        "diff -",
        "log --oneline=x",
        "log -é",
    ] {
        assert!(!reads(line), "{line}");
    }
}
