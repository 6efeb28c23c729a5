//! Acts that are asked about on use: which lines a pattern covers, and which answers are offered.

use std::time::Duration;

use metier_model::{Digest, Source, Want, shell};

use crate::{
    Act, ActMeter, ApprovalOffer, ApprovalQuestion, CommandLine, Danger, Decision, Grant,
    GrantTerms, Identity, PendingAct, PermissionAnswer, PermissionRequest, Rates, Reply,
    RequestReason, RequestedPermission, Ruling, SessionAnswers, Unpermitted, rule,
};

fn identity(source: Source) -> Identity {
    Identity {
        skill: "core-tools".into(),
        source,
        digest: Digest([0; 32]),
    }
}

fn terms(project: &str) -> GrantTerms {
    GrantTerms {
        rates: Rates {
            shell_exec: 20,
            net_fetch: 1,
            llm_call: 1,
        },
        shell_timeout: Duration::ZERO,
        fetch_timeout: Duration::ZERO,
        prefixes: None,
        project: project.into(),
        home: Some("/home/ada".into()),
    }
}

fn declared() -> PermissionRequest {
    let wants = ["file:read", "file:write", "shell:exec"];
    PermissionRequest::new(wants.map(|want| RequestedPermission {
        want: want.parse().unwrap(),
        why: RequestReason::Declared,
    }))
}

fn ruled(source: Source, project: &str, answers: &[PermissionAnswer]) -> Ruling {
    let request = declared().as_asked_of(&identity(source), &terms(project));
    rule(identity(source), &request, answers, terms(project))
}

fn grant(answers: &[(&str, Decision)]) -> Grant {
    let answers = answers.iter().map(|(want, decision)| PermissionAnswer {
        want: want.parse().unwrap(),
        decision: *decision,
    });
    match ruled(Source::Builtin, "/home/ada/p", &answers.collect::<Vec<_>>()) {
        Ruling::Granted(grant) => *grant,
        other => panic!("{other:?}"),
    }
}

fn line(text: &str) -> Act {
    let understood = shell::parse(text).ok();
    Act::Line(CommandLine::new(text, understood.as_ref(), text, Vec::new()).in_project())
}

fn write(path: &str) -> Act {
    Act::WriteFile {
        path: path.into(),
        content: b"x\n".to_vec(),
    }
}

/// The result for an act: allowed, refused, or asked about.
fn asked(grant: &Grant, answers: &SessionAnswers, act: Act) -> Option<PendingAct> {
    match grant.permit_or_ask(act, answers, &ActMeter::default()) {
        Ok(_) => None,
        Err(Unpermitted::Pending(pending)) => Some(*pending),
        Err(Unpermitted::Refused(refusal)) => panic!("{refusal}"),
    }
}

fn patterns(act: Act) -> Vec<String> {
    let pending = asked(&grant(&[]), &SessionAnswers::default(), act).unwrap();
    let shown = |want: &Want| want.to_string();
    let offers = pending.offers().into_iter().map(|offer| match offer {
        ApprovalOffer::Once => "once".to_owned(),
        ApprovalOffer::Session(want) => format!("session {want}"),
        ApprovalOffer::Always(wants) => {
            let wants: Vec<String> = wants.iter().map(shown).collect();
            format!("always {}", wants.join(" "))
        }
    });
    offers.collect()
}

#[test]
fn reading_in_the_project_needs_nothing_and_the_rest_is_asked_when_it_happens() {
    let (grant, answers) = (grant(&[]), SessionAnswers::default());
    let read = |path: &str| {
        grant.permit_or_ask(Act::ReadFile(path.into()), &answers, &ActMeter::default())
    };
    assert!(read("/home/ada/p/src/x.rs").is_ok());
    assert!(matches!(read("/etc/hosts"), Err(Unpermitted::Refused(_))));
    assert!(asked(&grant, &answers, write("/home/ada/p/x")).is_some());
    assert!(asked(&grant, &answers, line("git log")).is_some());
    let elsewhere = grant.permit_or_ask(write("/home/ada/x"), &answers, &ActMeter::default());
    assert!(matches!(elsewhere, Err(Unpermitted::Refused(_))));
}

#[test]
fn a_skill_that_calls_itself_core_tools_is_asked_about_as_any_other() {
    for source in [Source::User, Source::Project, Source::Extra, Source::Inline] {
        assert!(matches!(ruled(source, "/home/ada/p", &[]), Ruling::Ask(_)));
    }
}

#[test]
fn the_whole_home_is_not_a_project() {
    for project in ["/home/ada", "/home", "/"] {
        let Ruling::Granted(grant) = ruled(Source::Builtin, project, &[]) else {
            panic!("{project}");
        };
        assert!(grant.allowed().is_empty(), "{project}");
        let path = std::path::Path::new(project).join("notes.txt");
        assert!(asked(&grant, &SessionAnswers::default(), Act::ReadFile(path)).is_some());
    }
}

#[test]
fn a_no_that_was_kept_is_a_refusal_of_the_act_alone() {
    let grant = grant(&[
        ("shell:exec(rm *)", Decision::Deny),
        ("file:read", Decision::Deny),
    ]);
    let answers = SessionAnswers::default();
    let permit = |act: Act| grant.permit_or_ask(act, &answers, &ActMeter::default());
    assert!(matches!(permit(line("rm x")), Err(Unpermitted::Refused(_))));
    assert!(matches!(
        permit(line("ls; rm x")),
        Err(Unpermitted::Refused(_))
    ));
    let read = permit(Act::ReadFile("/home/ada/p/x".into()));
    assert!(matches!(read, Err(Unpermitted::Refused(_))));
    assert!(matches!(permit(line("ls")), Err(Unpermitted::Pending(_))));
}

/// Everything that is more than one plain command, or that runs its arguments.
const NOT_PLAIN: &[&str] = &[
    "git log; rm -rf src",
    "git log && git status",
    "git log | head",
    "git log || true",
    "git log &",
    "git log > src/main.rs",
    "git log 2>&1",
    "git log < x",
    "git log <<< x",
    "git log $(id)",
    "git log `id`",
    "git log $X",
    "git log \"$X\"",
    "git log ${X}",
    "git log {--exec=id,x}",
    "git log *",
    "git log --*",
    "GIT_PAGER=id git log",
    "git -c alias.x='!id' x",
    "git -c core.pager=id log",
    "git --exec-path=. log",
    "git submodule foreach id",
    "git bisect run id",
    "git difftool -x id",
    "env git log",
    "(git log)",
    "{ git log; }",
    "! git log",
    "if git log; then id; fi",
    "git log\nid",
    "f() { id; }; f",
    "$X log",
    "git log 'unclosed",
];

// case 127
#[test]
fn a_pattern_covers_one_plain_command_and_nothing_else() {
    let kept = grant(&[
        ("shell:exec(git *)", Decision::Allow),
        ("shell:exec(env *)", Decision::Allow),
    ]);
    let session = SessionAnswers::default();
    let want: Want = "shell:exec(git *)".parse().unwrap();
    session.keep(&identity(Source::Builtin), &ApprovalOffer::Session(want));
    let fresh = grant(&[]);
    let nothing = SessionAnswers::default();
    for (grant, answers) in [(&kept, &nothing), (&fresh, &session)] {
        for text in [
            "git log",
            "git log -3 --oneline",
            "git add src/*.rs",
            "git commit -m 'a; b'",
        ] {
            assert!(asked(grant, answers, line(text)).is_none(), "{text}");
        }
        for text in NOT_PLAIN {
            assert!(asked(grant, answers, line(text)).is_some(), "{text}");
        }
        assert!(asked(grant, answers, line("gitk")).is_some());
    }
}

// case 127
#[test]
fn a_pattern_is_offered_only_where_it_is_safe() {
    assert_eq!(
        patterns(line("git log -3")),
        [
            "once",
            "session shell:exec(git *)",
            "always shell:exec(git *)"
        ]
    );
    assert_eq!(
        patterns(write("/home/ada/p/src/x.rs")),
        [
            "once",
            "session file:write(./**)",
            "always file:write(./**)"
        ]
    );
    let exact = [
        "rm -rf src",
        "python3 x.py",
        "bash x.sh",
        "make",
        "npx y",
        "./gradlew build",
        "sudo id",
        "node x.js",
        "xargs rm",
    ];
    for text in NOT_PLAIN.iter().chain(&exact) {
        let offers = patterns(line(text));
        assert_eq!(offers.len(), 2, "{text}: {offers:?}");
        assert!(offers[1].starts_with("session shell:exec("), "{offers:?}");
    }
}

#[test]
fn an_answer_for_a_very_line_covers_that_line_alone() {
    let (grant, answers) = (grant(&[]), SessionAnswers::default());
    let text = "git log; rm -rf src";
    let pending = asked(&grant, &answers, line(text)).unwrap();
    assert_eq!(
        (pending.shown(), pending.danger()),
        (text, Danger::RunAnything)
    );
    let question =
        ApprovalQuestion::about_act(identity(Source::Builtin), "/x".into(), "s".into(), pending);
    assert_eq!(question.taken(Reply::Always), None, "it was not offered");
    assert_eq!(question.taken(Reply::Deny), None);
    assert_eq!(question.taken(Reply::Unavailable), None);
    answers.keep(&question.identity, question.taken(Reply::Session).unwrap());
    assert!(asked(&grant, &answers, line(text)).is_none());
    for other in [
        "git log; rm -rf src ",
        "git log; rm -rf .",
        "rm -rf src",
        "git log",
    ] {
        assert!(asked(&grant, &answers, line(other)).is_some(), "{other}");
    }
    // Approving one line of a script does not approve it with any arguments.
    let script = asked(&grant, &answers, line("./x.sh")).unwrap();
    let offers = script.offers();
    answers.keep(&question.identity, &offers[1]);
    assert!(asked(&grant, &answers, line("./x.sh")).is_none());
    assert!(asked(&grant, &answers, line("./x.sh --all")).is_some());
}

#[test]
fn questions_are_counted_like_acts() {
    let (grant, meter) = (grant(&[]), ActMeter::default());
    let answers = SessionAnswers::default();
    for _ in 0..20 {
        let pending = grant.permit_or_ask(line("rm x"), &answers, &meter);
        assert!(matches!(pending, Err(Unpermitted::Pending(_))));
    }
    let refused = grant.permit_or_ask(line("rm x"), &answers, &meter);
    assert!(matches!(refused, Err(Unpermitted::Refused(refusal)) if refusal.code == "rate-limit"));
}

#[test]
fn a_skill_that_invokes_the_tools_is_asked_for_no_more_than_it_may_do() {
    let own = grant(&[]);
    let caller_request =
        PermissionRequest::new(["shell:exec(git *)", "file:read(./docs/**)"].map(|want| {
            RequestedPermission {
                want: want.parse().unwrap(),
                why: RequestReason::Declared,
            }
        }));
    let said = |want: &str| PermissionAnswer {
        want: want.parse().unwrap(),
        decision: Decision::Allow,
    };
    let answers = [said("shell:exec(git *)"), said("file:read(./docs/**)")];
    let Ruling::Granted(caller) = rule(
        identity(Source::User),
        &caller_request,
        &answers,
        terms("/home/ada/p"),
    ) else {
        panic!("not granted");
    };
    let narrowed = own.narrowed(&caller);
    let shown = |wants: &[Want]| wants.iter().map(Want::to_string).collect::<Vec<_>>();
    assert_eq!(shown(narrowed.allowed()), ["file:read(./docs/**)"]);
    assert_eq!(shown(narrowed.on_use()), ["shell:exec(git *)"]);
    let answers = SessionAnswers::default();
    assert!(asked(&narrowed, &answers, line("git log")).is_some());
    let other = narrowed.permit_or_ask(line("rm x"), &answers, &ActMeter::default());
    assert!(matches!(other, Err(Unpermitted::Refused(_))));
}
