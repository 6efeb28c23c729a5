//! Typed text, and its meaning.

use metier_hub::SkillSource;
use proptest::prelude::*;

fn shown(text: &str) -> String {
    format!("{:?}", SkillSource::parse(text).unwrap())
}

/// A source that is read, and written as it can be typed again.
fn check(text: &str, expected: &str, again: &str) {
    let source = SkillSource::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let parts = match &source {
        SkillSource::Git(git) => format!(
            "git {} {} {}",
            git.url,
            git.folder,
            git.reference.as_deref().unwrap_or("-")
        ),
        SkillSource::Registry { name, versions } => format!("registry {name} {versions}"),
        SkillSource::Path(path) => format!("path {}", path.display()),
        SkillSource::Download(url) => format!("download {url}"),
        SkillSource::Site(url) => format!("site {url}"),
        SkillSource::ClawHub { slug, version } => {
            format!("clawhub {slug} {}", version.as_deref().unwrap_or("-"))
        }
    };
    assert_eq!(parts, expected, "{text}");
    assert_eq!(source.to_string(), again, "{text}");
    assert_eq!(SkillSource::parse(again).unwrap(), source, "{text}");
}

#[test]
fn every_form_is_read() {
    let github = "https://github.com/anthropics/skills.git";
    for (text, expected, again) in [
        ("pdf", "registry pdf *", "pdf"),
        ("pdf@^1.2", "registry pdf ^1.2", "pdf@^1.2"),
        ("pdf@1.0.0", "registry pdf =1.0.0", "pdf@=1.0.0"),
        ("pdf@1.0", "registry pdf ^1.0", "pdf@^1.0"),
        (
            "anthropics/skills",
            &format!("git {github}  -"),
            "anthropics/skills",
        ),
        (
            "anthropics/skills/skills/pdf@main",
            &format!("git {github} skills/pdf main"),
            "anthropics/skills/skills/pdf@main",
        ),
        (
            "github.com/anthropics/skills/skills/pdf",
            &format!("git {github} skills/pdf -"),
            "anthropics/skills/skills/pdf",
        ),
        (
            "https://github.com/anthropics/skills/tree/main/skills/pdf",
            &format!("git {github} skills/pdf main"),
            "anthropics/skills/skills/pdf@main",
        ),
        (
            "https://github.com/anthropics/skills/blob/main/skills/pdf/SKILL.md",
            &format!("git {github} skills/pdf main"),
            "anthropics/skills/skills/pdf@main",
        ),
        (
            "https://github.com/anthropics/skills.git#v1",
            &format!("git {github}  v1"),
            "anthropics/skills@v1",
        ),
        (
            "git:anthropics/skills@v1.0",
            &format!("git {github}  v1.0"),
            "anthropics/skills@v1.0",
        ),
        (
            "git@example.org:team/skills.git#v2",
            "git git@example.org:team/skills.git  v2",
            "git@example.org:team/skills.git#v2",
        ),
        (
            "ssh://git@example.org/team/skills",
            "git ssh://git@example.org/team/skills  -",
            "git+ssh://git@example.org/team/skills",
        ),
        (
            "git+https://example.org/x",
            "git https://example.org/x  -",
            "git+https://example.org/x",
        ),
        (
            "git+https://example.org/x.git//a/b#main",
            "git https://example.org/x.git a/b main",
            "git+https://example.org/x.git//a/b#main",
        ),
        ("./pdf", "path ./pdf", "./pdf"),
        ("/tmp/x.skill", "path /tmp/x.skill", "/tmp/x.skill"),
        ("~/pdf", "path ~/pdf", "~/pdf"),
        ("file:///tmp/pdf", "path /tmp/pdf", "/tmp/pdf"),
        (
            "https://example.org/pdf.skill",
            "download https://example.org/pdf.skill",
            "https://example.org/pdf.skill",
        ),
        (
            "https://example.org/a/SKILL.md",
            "download https://example.org/a/SKILL.md",
            "https://example.org/a/SKILL.md",
        ),
        (
            "https://example.org",
            "site https://example.org/",
            "https://example.org/",
        ),
        (
            "http://127.0.0.1:8080/docs",
            "site http://127.0.0.1:8080/docs",
            "http://127.0.0.1:8080/docs",
        ),
        (
            "clawhub:weather@1.2.0",
            "clawhub weather 1.2.0",
            "clawhub:weather@1.2.0",
        ),
        (
            "clawhub:@owner/weather",
            "clawhub @owner/weather -",
            "clawhub:@owner/weather",
        ),
    ] {
        check(text, expected, again);
    }
}

// case 40
#[test]
fn what_git_or_a_shell_could_take_for_something_else_is_refused() {
    for text in [
        "",
        "-x",
        "--upload-pack=evil",
        "ext::sh -c touch% /tmp/x",
        "fd::3",
        "git+ext::sh",
        "http://example.org/x.git",
        "git://example.org/x",
        "ftp://example.org/x.zip",
        "javascript:alert(1)",
        "https://user:secret@example.org/x.git",
        "https://token@example.org/x.git",
        "ssh://-oProxyCommand=evil/x",
        "ssh://-oProxyCommand=evil@example.org/x",
        "-oProxyCommand=x@host:path",
        "user@-host:path",
        "user@host:-path",
        "user@host:a b",
        "owner/repo@--upload-pack=x",
        "owner/repo@a..b",
        "owner/repo@a b",
        "owner/repo@main@{1}",
        "owner/../repo",
        "owner/repo/../..",
        "-owner/repo",
        "owner/-repo",
        "owner/repo/-x",
        "Upper Case",
        "UPPER",
        "a_b",
        "name@not a range",
        "a\u{202e}b/c",
        "a\nb",
    ] {
        assert!(
            SkillSource::parse(text).is_err(),
            "{text:?}: {}",
            shown(text)
        );
    }
}

proptest! {
    #[test]
    fn whatever_is_read_is_read_again(text in "[a-z@:/.#~+-]{0,30}|\\PC{0,20}") {
        if let Ok(source) = SkillSource::parse(&text) {
            let again = SkillSource::parse(&source.to_string());
            prop_assert_eq!(again, Ok(source));
        }
    }

    /// For any text, git never gets an option or a helper.
    #[test]
    fn git_never_gets_an_option(text in "[a-z@:/.#~+-]{0,12}(--upload-pack=x|-o|ext::sh|\\.\\./|-)[a-z@:/.#]{0,12}") {
        if let Ok(SkillSource::Git(git)) = SkillSource::parse(&text) {
            prop_assert!(!git.url.starts_with('-') && !git.url.contains("::"), "{:?}", git);
            prop_assert!(!git.folder.starts_with('-') && !git.folder.contains(".."), "{:?}", git);
            prop_assert!(git.reference.is_none_or(|reference| !reference.starts_with('-')));
        }
    }
}
