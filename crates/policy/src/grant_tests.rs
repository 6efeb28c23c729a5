//! Acts that a grant covers, acts that it doesn't, and acts that no grant can cover.

use std::{path::PathBuf, time::Duration};

use metier_model::{
    Digest, Source, Want,
    scope::{PossibleCommand, PossibleWord},
};

use crate::{
    Act, ActMeter, CommandLine, Decision, FetchAct, GitAct, Grant, GrantTerms, Identity,
    PermissionAnswer, PermissionRequest, PermitRefusal, Rates, RequestReason, RequestedPermission,
    Ruling, rule,
};

pub(crate) fn terms() -> GrantTerms {
    GrantTerms {
        rates: Rates {
            shell_exec: 2,
            net_fetch: 1,
            llm_call: 1,
        },
        shell_timeout: Duration::from_secs(30),
        fetch_timeout: Duration::from_secs(15),
        prefixes: None,
        project: PathBuf::from("/src/app"),
        home: Some(PathBuf::from("/home/ada")),
    }
}

fn identity() -> Identity {
    Identity {
        skill: "x".into(),
        source: Source::User,
        digest: Digest([7; 32]),
    }
}

fn want(text: &str) -> Want {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn request(wants: &[&str]) -> PermissionRequest {
    PermissionRequest::new(wants.iter().map(|text| RequestedPermission {
        want: want(text),
        why: RequestReason::Declared,
    }))
}

fn say(decision: Decision, wants: &[&str]) -> Vec<PermissionAnswer> {
    let answers = wants.iter().map(|text| PermissionAnswer {
        want: want(text),
        decision,
    });
    answers.collect()
}

/// The grant for what is allowed and not denied; `None` if a denial covers all of it.
pub(crate) fn ruled(wants: &[&str], denied: &[&str], terms: GrantTerms) -> Option<Grant> {
    let mut answers = say(Decision::Allow, wants);
    answers.extend(say(Decision::Deny, denied));
    match rule(identity(), &request(wants), &answers, terms) {
        Ruling::Granted(grant) => Some(*grant),
        Ruling::Denied(_) => None,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn granted(wants: &[&str], denied: &[&str], terms: GrantTerms) -> Grant {
    ruled(wants, denied, terms).unwrap()
}

fn line(text: &str, commands: &[&[&str]]) -> Act {
    let word = |word: &&str| (*word != "?").then(|| Box::from(*word));
    let possible = |word: &&str| match *word {
        "?" => PossibleWord::Any,
        word => PossibleWord::Known(word.into()),
    };
    let all = commands.iter();
    let all = all.map(|words| PossibleCommand::new(words.iter().map(possible).collect()));
    Act::Line(CommandLine {
        text: text.into(),
        commands: Some(
            commands
                .iter()
                .map(|words| words.iter().map(word).collect())
                .collect(),
        ),
        exact: None,
        could_run: Some(all.collect()),
        writes: Vec::new(),
        is_plain: false,
        script: text.into(),
        parameters: Vec::new(),
        within: crate::LineContext::Skill,
        stdin: Vec::new(),
        timeout: None,
    })
}

fn unclear(text: &str) -> Act {
    Act::Line(CommandLine {
        text: text.into(),
        commands: None,
        exact: None,
        could_run: None,
        writes: Vec::new(),
        is_plain: false,
        script: text.into(),
        parameters: Vec::new(),
        within: crate::LineContext::Skill,
        stdin: Vec::new(),
        timeout: None,
    })
}

fn fetch(host: &str, port: u16) -> Act {
    Act::Fetch(FetchAct {
        method: "GET".into(),
        url: format!("https://{host}:{port}/").into(),
        host: host.into(),
        port,
        headers: Vec::new(),
        body: Vec::new(),
    })
}

fn write(path: &str) -> Act {
    Act::WriteFile {
        path: path.into(),
        content: Vec::new(),
    }
}

fn set(name: &str) -> Act {
    Act::SetVariable {
        name: name.into(),
        value: "secret".into(),
    }
}

fn find(folder: &str) -> Act {
    Act::FindFiles {
        folder: folder.into(),
        pattern: "**/*.rs".into(),
    }
}

fn search(folder: &str) -> Act {
    Act::SearchFiles {
        folder: folder.into(),
        pattern: "needle".into(),
        glob: None,
    }
}

fn git(repository: &str) -> GitAct {
    GitAct {
        repository: repository.into(),
        arguments: vec!["log".into()],
    }
}

fn all_acts() -> Vec<(Act, &'static str)> {
    vec![
        (Act::ReadFile("/src/app/a".into()), "file:read(./a)"),
        (find("/src/app/lib"), "file:read(./lib/**)"),
        (search("/src/app/docs"), "file:read(./docs/*.md)"),
        (write("/home/ada/b"), "file:write(~/b)"),
        (line("git log", &[&["git", "log"]]), "shell:exec(git *)"),
        (
            Act::Script {
                path: "scripts/x.sh".into(),
                arguments: Vec::new(),
            },
            "shell:exec(scripts/*)",
        ),
        (fetch("a.io", 443), "net:fetch(a.io)"),
        (Act::ReadVariable("LANG".into()), "env:read(LANG)"),
        (set("COLOR"), "env:write(COLOR)"),
        (Act::ReadRepository(git("/src/app")), "git:read(.)"),
        (Act::WriteRepository(git("/src/app")), "git:write(.)"),
        (
            Act::CallModel("anthropic/x".into()),
            "llm:call(anthropic/*)",
        ),
        (
            Act::InvokeSkill("review-pr".into()),
            "skill:invoke(review-*)",
        ),
    ]
}

// case 119
#[test]
fn every_act_needs_its_permission() {
    let nothing = granted(&[], &[], terms());
    for (act, _) in all_acts() {
        let refusal = nothing
            .permit(act.clone(), &ActMeter::default())
            .expect_err("refused");
        assert_eq!(refusal.code, "not-permitted", "{act:?}");
        assert!(
            refusal
                .needed
                .is_some_and(|needed| needed.parse::<Want>().is_ok()),
            "{act:?}"
        );
    }
}

#[test]
fn every_act_is_permitted_by_its_own_permission_and_by_no_other() {
    for (act, _) in all_acts() {
        for (other, permission) in all_acts() {
            let grant = granted(&[permission], &[], terms());
            let permitted = grant.permit(act.clone(), &ActMeter::default()).is_ok();
            assert_eq!(permitted, act == other, "{act:?} with {permission}");
        }
    }
}

fn refused(grant: &Grant, act: Act) -> PermitRefusal {
    grant
        .permit(act, &ActMeter::default())
        .expect_err("refused")
}

// case 80
#[test]
fn a_line_is_as_allowed_as_its_every_command() {
    let grant = granted(&["shell:exec(git *)", "shell:exec(head *)"], &[], terms());
    let permit = |act| grant.permit(act, &ActMeter::default()).is_ok();
    assert!(permit(line(
        "git log | head",
        &[&["git", "log"], &["head"]]
    )));
    assert!(permit(line("git show $x", &[&["git", "show", "?"]])));
    assert!(!permit(line(
        "git log; rm x",
        &[&["git", "log"], &["rm", "x"]]
    )));
    assert!(!permit(line("$x log", &[&["?", "log"]])));
    assert!(!permit(line("./git log", &[&["./git", "log"]])));
    assert!(!permit(unclear("f() { git; }")));
    assert!(!permit(line("", &[])));
    let exact = granted(&["shell:exec(git log | head)"], &[], terms());
    assert!(
        exact
            .permit(
                line("git log | head", &[&["git", "log"], &["head"]]),
                &ActMeter::default()
            )
            .is_ok()
    );
    assert!(
        exact
            .permit(line("git log", &[&["git", "log"]]), &ActMeter::default())
            .is_err()
    );
}

#[test]
fn prefixes_are_words_and_not_letters() {
    let prefixes = Some(vec![vec!["git".into(), "log".into()]]);
    let grant = granted(
        &["shell:exec"],
        &[],
        GrantTerms {
            prefixes,
            ..terms()
        },
    );
    assert!(
        grant
            .permit(
                line("git log -p", &[&["git", "log", "-p"]]),
                &ActMeter::default()
            )
            .is_ok()
    );
    for act in [
        line("git logs", &[&["git", "logs"]]),
        line("git", &[&["git"]]),
        line("git log; curl x", &[&["git", "log"], &["curl", "x"]]),
        line("env git log", &[&["env", "git", "log"]]),
        unclear("git log $("),
    ] {
        assert_eq!(refused(&grant, act).code, "prefix");
    }
}

#[test]
fn a_denial_inside_an_approval_stays_a_denial() {
    let grant = granted(
        &["shell:exec", "net:fetch", "file:read(./**)"],
        &["shell:exec(rm *)", "net:fetch(b.io)", "file:read(./k/**)"],
        terms(),
    );
    let permit = |act| grant.permit(act, &ActMeter::default()).is_ok();
    assert!(permit(line("ls", &[&["ls"]])) && !permit(line("ls; rm x", &[&["ls"], &["rm", "x"]])));
    assert!(
        !permit(line("$x y", &[&["?", "y"]])),
        "what only the shell knows could be it"
    );
    assert!(!permit(fetch("b.io", 443)) && permit(fetch("a.io", 443)));
    assert!(
        !permit(Act::ReadFile("/src/app/k/x".into())) && permit(Act::ReadFile("/src/app/x".into()))
    );
}

// case 101, 102
#[test]
fn these_are_never_allowed() {
    let grant = granted(
        &["env:write", "env:read", "file:read", "file:write(./**)"],
        &[],
        terms(),
    );
    for name in [
        "LD_PRELOAD",
        "PATH",
        "BASH_ENV",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "GIT_SSH_COMMAND",
        "http_proxy",
    ] {
        assert_eq!(refused(&grant, set(name)).code, "forbidden-variable");
    }
    for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY"] {
        assert_eq!(
            refused(&grant, Act::ReadVariable(name.into())).code,
            "not-permitted",
            "a secret is named"
        );
    }
    for path in ["a", "/src/app/../x", ""] {
        assert_eq!(
            refused(&grant, Act::ReadFile(path.into())).code,
            "path",
            "{path}"
        );
    }
    assert_eq!(refused(&grant, write("/src/apple")).code, "not-permitted");
}

// case 131
#[test]
fn rates_are_counted_by_bytes_and_turn() {
    let meter = ActMeter::default();
    let act = || line("ls", &[&["ls"]]);
    let first = granted(&["shell:exec"], &[], terms());
    assert!(first.permit(act(), &meter).is_ok());
    let again = granted(&["shell:exec"], &[], terms());
    assert!(again.permit(act(), &meter).is_ok());
    assert_eq!(
        again.permit(act(), &meter).expect_err("one too many").code,
        "rate-limit"
    );
    meter.next_turn();
    assert!(again.permit(act(), &meter).is_ok());
}

#[test]
fn a_ruling_is_the_strictest_answer() {
    let asked = ["net:fetch(a.io)", "shell:exec(git *)"];
    let ruling =
        |answers: &[PermissionAnswer]| match rule(identity(), &request(&asked), answers, terms()) {
            Ruling::Granted(_) => "granted".to_owned(),
            Ruling::Ask(open) => format!("ask {}", open.len()),
            Ruling::Denied(denied) => format!("denied {}", denied.len()),
        };
    let (yes, no) = (
        say(Decision::Allow, &asked),
        say(Decision::Deny, &asked[..1]),
    );
    assert_eq!(ruling(&[]), "ask 2");
    assert_eq!(ruling(&yes[..1]), "ask 1");
    assert_eq!(ruling(&yes), "granted");
    assert_eq!(ruling(&[yes.clone(), no.clone()].concat()), "denied 1");
    assert_eq!(ruling(&[no, yes].concat()), "denied 1");
    assert_eq!(
        ruling(&say(Decision::Allow, &["net:fetch", "shell:exec"])),
        "granted",
        "wider answers hold it"
    );
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let grant = granted(
        &["shell:exec(git *)", "shell:exec(head *)"],
        &[],
        GrantTerms {
            rates: Rates {
                shell_exec: 100,
                net_fetch: 1,
                llm_call: 1,
            },
            ..terms()
        },
    );
    let permit = |text: &str| {
        let understood = metier_model::shell::parse(text).ok();
        let act = Act::Line(CommandLine::new(
            text,
            understood.as_ref(),
            text,
            Vec::new(),
        ));
        grant.permit(act, &ActMeter::default()).is_ok()
    };
    for text in [
        "git log",
        "git log -3 | head -1",
        "git show \"$x\" && git status",
        "LANG=C git log",
        "'git' log",
    ] {
        assert!(permit(text), "{text}");
    }
    for text in [
        "git; rm x",
        "git;rm x",
        "git$(id) x",
        "git `id`",
        "git $(id)",
        "env git log",
        "./git log",
        "GIT log",
        "git log | sh",
        "X=1 git log",
        "PATH=. git log",
        "LD_PRELOAD=x git log",
        "export PATH=.; git log",
        "git() { id; }; git",
        "$GIT log",
        "g*t log",
        "git log & id",
        "git log\nid",
        "git <(id)",
        "alias git=id; git",
        "gi\\\nt; id",
        "",
        "# git",
    ] {
        assert!(!permit(text), "{text}");
    }
}

#[test]
fn a_folder_may_be_looked_through_if_something_in_it_may_be_read() {
    let grant = granted(
        &["file:read(./src/**)", "file:read(~/notes/*.md)"],
        &["file:read(./src/private/**)"],
        terms(),
    );
    let may = |folder: &str| {
        let permit = |act| grant.permit(act, &ActMeter::default()).is_ok();
        assert_eq!(permit(find(folder)), permit(search(folder)), "{folder}");
        permit(find(folder))
    };
    for folder in [
        "/",
        "/src/app",
        "/src/app/src",
        "/src/app/src/deep",
        "/home/ada",
        "/home/ada/notes",
    ] {
        assert!(may(folder), "{folder}");
    }
    for folder in [
        "/src/app/srcs",
        "/src/app/docs",
        "/src/app/src/private",
        "/etc",
        "/src/app/src/..",
    ] {
        assert!(!may(folder), "{folder}");
    }
    let read = |path: &str| grant.may_read(path.as_ref());
    assert!(read("/src/app/src/main.rs") && read("/home/ada/notes/a.md"));
    for path in [
        "/src/app/Cargo.toml",
        "/src/app/src/private/key",
        "/home/ada/notes/deep/a.md",
        "/src/app/src/../x",
        "src/x",
    ] {
        assert!(!read(path), "{path}");
    }
}

// case 103
#[test]
fn a_value_is_in_no_receipt() {
    assert_eq!(set("COLOR").detail(), "COLOR");
    assert_eq!(find("/src/app").detail(), "/src/app/**/*.rs");
    assert_eq!(search("/src/app").detail(), "`needle` in /src/app");
}

/// A line as a skill would run it.
fn written(text: &str) -> Act {
    let understood = metier_model::shell::parse(text).ok();
    Act::Line(CommandLine::new(
        text,
        understood.as_ref(),
        text,
        Vec::new(),
    ))
}

// case 168
#[test]
fn a_variable_in_front_of_a_command_is_not_covered_by_the_command() {
    let wants = [
        "shell:exec(git *)",
        "shell:exec(tar *)",
        "shell:exec(env *)",
        "shell:exec(export *)",
        "shell:exec(declare *)",
        "shell:exec(read *)",
        "shell:exec(printf *)",
        "shell:exec(command *)",
    ];
    let grant = granted(&wants, &[], terms());
    for text in [
        "XDG_CONFIG_HOME=x git status",
        "TAR_OPTIONS='--checkpoint=1' tar cf x y",
        "KUBECONFIG=x git status",
        "FOO=1 git status",
        "foo=1 git status",
        "TZ=:/tmp/x git status",
        "TZ=../x git status",
        "LANG=$x git status",
        "LANG=/tmp/x git status",
        "PAGER=id git log",
        "GIT_DIR=x; git status",
        "GIT_DIR=x && git status",
        "export GIT_DIR=x; git status",
        "export GIT_DIR; git status",
        "declare -x GIT_DIR=x; git status",
        "command export GIT_DIR=x; git status",
        "env GIT_DIR=x git status",
        "env -i GIT_DIR=x git status",
        "read GIT_DIR; git status",
        "printf -v GIT_DIR x; git status",
        "for GIT_DIR in a b; do git status; done",
        "http_proxy=x; git status",
        "npm_config_x=y; git status",
        "git log \"$(XDG_CONFIG_HOME=x git status)\"",
    ] {
        let refusal = grant
            .permit(written(text), &ActMeter::default())
            .map(|_| ())
            .expect_err(text);
        assert_eq!(refusal.code, "not-permitted", "{text}");
        assert!(
            refusal.message.contains("this exact command"),
            "{text}: {refusal}"
        );
        // The permission that it suggests covers it.
        let needed = refusal.needed.expect(text);
        let grant = granted(&[needed.as_str()], &[], terms());
        assert!(
            grant.permit(written(text), &ActMeter::default()).is_ok(),
            "{text}: {needed}"
        );
    }
    for text in [
        "LANG=C git status",
        "LC_ALL=C.UTF-8 TZ=Europe/Berlin NO_COLOR=1 git log",
        "GIT_PAGER=cat git log",
        "PAGER= git log",
        "n=3; git log",
        "for file in a b; do git log \"$file\"; done",
        "base=$(git merge-base HEAD main); git diff \"$base\"",
        "env LANG=C git status",
        "export LANG=C; git status",
        "read line; git status",
    ] {
        assert!(
            grant.permit(written(text), &ActMeter::default()).is_ok(),
            "{text}"
        );
    }
    let all = granted(&["shell:exec"], &[], terms());
    assert!(
        all.permit(written("FOO=1 git status"), &ActMeter::default())
            .is_ok()
    );
}

// case 182
#[test]
fn a_redirect_writes_only_what_file_write_covers() {
    let wants = [
        "shell:exec(echo *)",
        "shell:exec(git *)",
        "file:write(./out/**)",
    ];
    let grant = granted(&wants, &["file:write(./out/no/**)"], terms());
    let check = |text: &str, project: bool| {
        let Act::Line(line) = written(text) else {
            panic!("a line");
        };
        let line = if project { line.in_project() } else { line };
        grant.permit(Act::Line(line), &ActMeter::default())
    };
    let inside = terms().project.join("out/a.txt");
    let inside = inside.to_str().unwrap();
    for text in [
        "echo x > ~/.gitconfig; git diff",
        "echo x >> $HOME/.gitconfig; git diff",
        "echo x >| ~/.gitconfig",
        "echo x &> ~/.gitconfig",
        "echo x >& file",
        "git diff <> file",
        "{ echo x; git diff; } > ~/.gitconfig",
        "git log \"$(echo x > ~/.gitconfig)\"",
        "echo x > out/../.envrc",
        "echo x > out/no/a",
        "echo x > elsewhere",
        "exec > ~/.gitconfig; echo x",
        "echo x > \"$(git log)\"",
    ] {
        let refusal = check(text, true).map(|_| ()).expect_err(text);
        assert!(refusal.message.contains("shell:exec"), "{text}: {refusal}");
        let needed = refusal.needed.expect(text);
        let exact = granted(&[needed.as_str()], &[], terms());
        assert!(
            exact.permit(written(text), &ActMeter::default()).is_ok(),
            "{text}"
        );
    }
    for text in [
        "echo x > /dev/null; git diff 2>&1",
        "git log 2>/dev/null >&2",
        "git diff < a.txt 2>&-",
        "echo x > out/a.txt",
        &format!("echo x > {inside}"),
    ] {
        assert!(check(text, true).is_ok(), "{text}");
    }
    // A body's lines run in the skill's folder: `out` is not the project's.
    assert!(check("echo x > out/a.txt", false).is_err());
    assert!(check(&format!("echo x > {inside}"), false).is_ok());
    let all = granted(&["shell:exec"], &[], terms());
    let anywhere = written("echo x > ~/.gitconfig");
    assert!(all.permit(anywhere, &ActMeter::default()).is_ok());
}

// case 168
#[test]
fn a_value_that_may_run_is_covered_by_its_line_alone() {
    let text = "sqlite3 x $ARGUMENTS";
    let act = || {
        let Act::Line(line) = written(text) else {
            panic!("a line");
        };
        Act::Line(line.with_value("$ARGUMENTS", "sqlite3"))
    };
    for wide in ["shell:exec", "shell:exec(sqlite3 *)"] {
        let refusal = granted(&[wide], &[], terms())
            .permit(act(), &ActMeter::default())
            .map(|_| ())
            .expect_err(wide);
        assert_eq!(
            refusal.needed.as_deref(),
            Some("shell:exec(sqlite3 x $ARGUMENTS)")
        );
        assert!(
            refusal.message.contains("it contains `$ARGUMENTS`"),
            "{refusal}"
        );
    }
    let exact = granted(&["shell:exec(sqlite3 x $ARGUMENTS)"], &[], terms());
    assert!(exact.permit(act(), &ActMeter::default()).is_ok());
}

// case 167
#[test]
fn a_denied_host_is_denied_in_every_form() {
    let grant = granted(
        &["net:fetch", "net:fetch(localhost)"],
        &["net:fetch(127.0.0.1:81)", "net:fetch(evil.io)"],
        terms(),
    );
    let permit = |host: &str, port| {
        grant
            .permit(fetch(host, port), &ActMeter::default())
            .is_ok()
    };
    for host in [
        "localhost",
        "127.0.0.1",
        "127.0.0.2",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "LOCALHOST.",
    ] {
        assert!(!permit(host, 81), "{host}");
    }
    assert!(permit("localhost", 82) && permit("127.0.0.2", 82));
    assert!(!permit("evil.io", 443) && !permit("evil.io", 8443) && !permit("EVIL.io.", 443));
    assert!(permit("good.io", 443));
}
