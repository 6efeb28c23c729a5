//! The rules, one by one; the labelled tasks are in `tests/coding.rs`.

use metier_model::{FileText, Files, Strictness, parse};

use super::*;

#[track_caller]
fn check(task: &str, is: bool, because: &str) {
    let found = coding(task, NamedBesideTask::default());
    let told: Vec<&str> = found.evidence.iter().map(|found| &*found.detail).collect();
    assert_eq!(found.is, is, "{task}: {told:?}");
    assert!(
        told.iter().any(|told| told.contains(because)),
        "{task}: {told:?}"
    );
}

#[test]
fn a_verb_and_what_it_acts_on_decide() {
    check("refactor the API", true, "`api` is code");
    check(
        "Refatorar API e melhorar performance",
        true,
        "`refatorar` requests a change",
    );
    check(
        "refactor our hiring process",
        false,
        "`process`, which is not code",
    );
    check("write unit tests", true, "`unit tests` is code");
    check("write a test plan", false, "`test plan`, which is not code");
    check(
        "escrever um plano de testes",
        false,
        "`plano de testes`, which is not code",
    );
    check(
        "explain what this function does",
        false,
        "`explain` leaves code as it is",
    );
    check(
        "write a script for a short video",
        false,
        "`script`, which is not code",
    );
    check(
        "write a Python script for a short video",
        true,
        "`python script` is code",
    );
    check("Den Parser umschreiben", true, "`parser` is code");
    check("rename my photos", false, "`photos`, which is not code");
}

#[test]
fn what_a_thing_is_about_does_not_count() {
    check("write a blog post about Rust", false, "`blog post`");
    check("write three tweets announcing the SDK", false, "`tweets`");
    check(
        "translate this letter about Python into German",
        false,
        "names no programming language",
    );
    check(
        "translate this function from Python to Go",
        true,
        "`python` is code",
    );
}

#[test]
fn the_best_request_decides_and_a_denial_ends_it() {
    check(
        "explain the parser, then fix the bug in `next()`",
        true,
        "`bug` is code",
    );
    check(
        "don't write code, fix my letter",
        false,
        "no code should be changed",
    );
    check(
        "Do not change any code. Fix the bug in your head.",
        false,
        "no code should be changed",
    );
    check(
        "Ändere keinen Code, sag mir den Fehler",
        false,
        "no code should be changed",
    );
    check(
        "No cambies nada, dime dónde está el error",
        false,
        "no code should be changed",
    );
    check(
        "sem mexer no código, diga onde está o bug",
        false,
        "no code should be changed",
    );
    check(
        "don't touch the docs, just fix the bug",
        true,
        "this is not requested",
    );
    check(
        "fix the crash but don't change the code of the parser",
        true,
        "`crash` is code",
    );
}

#[test]
fn the_text_before_a_block_decides_its_kind() {
    check(
        "The button flickers. Can you fix it?",
        true,
        "`button` is code",
    );
    check(
        "The tap drips. Can you fix it?",
        false,
        "`fix` refers to no code",
    );
    check(
        "main.rs has a problem, fix it",
        true,
        "`main.rs` is a source file",
    );
    check(
        "notes.md has a problem, fix it",
        false,
        "`fix` refers to no code",
    );
    check(
        "`next` must not skip lines",
        true,
        "states the expected behaviour",
    );
    check(
        "As a user I want to reset my password",
        true,
        "it is a user story",
    );
    check(
        "Fix \"the bug in the API\" as a title",
        false,
        "`fix` refers to no code",
    );
}

#[test]
fn values_beside_the_task_are_named_in_the_reasons() {
    let files = |files| NamedBesideTask {
        files,
        languages: &[],
    };
    assert!(!coding("clean it up", NamedBesideTask::default()).is);
    assert!(coding("clean it up", files(&["src/a.rs"])).is);
    assert!(!coding("clean it up", files(&["notes.txt", "README.md"])).is);
    assert!(!coding("explain it", files(&["src/a.rs"])).is);
    let languages = NamedBesideTask {
        files: &[],
        languages: &["go"],
    };
    assert!(coding("clean it up", languages).is);
}

#[test]
fn a_task_that_is_too_long_is_reported() {
    let long = format!("fix the bug {}", "x ".repeat(20_000));
    check(&long, true, "only the first 20000 characters were read");
    check("fix the ` bug", true, "`bug` is code");
}

#[test]
fn a_flag_is_believed() {
    for is in [true, false] {
        let told = Coding::told(is);
        assert_eq!((told.is, told.score), (is, f64::from(u8::from(is))));
        assert_eq!(told.evidence[0].sign, Sign::Told);
    }
}

fn rules(coding: bool) -> TaskFacts<'static> {
    TaskFacts {
        coding: Coding::told(coding),
        ..TaskFacts::default()
    }
}

fn named(name: &str) -> RuleSubject<'_> {
    RuleSubject {
        name,
        ..RuleSubject::default()
    }
}

#[test]
fn coding_requires_the_pipeline_and_reports_it() {
    for name in CODING_PIPELINE {
        let found = rules(true).matches(&named(name));
        assert_eq!(found[0].signal, Signal::Rule);
        assert!(
            found[0].detail.contains("a coding task requires it"),
            "{found:?}"
        );
        assert!(rules(false).matches(&named(name)).is_empty());
    }
    assert!(rules(true).matches(&named("other")).is_empty());
}

#[test]
fn an_incomplete_pipeline_reports_what_is_missing_and_what_to_do() {
    assert_eq!(Incomplete::check(|_| None), None);
    let lack = |name: &'static str| Lack {
        name,
        why: "it is off".to_owned(),
        hint: Some("switch it on".to_owned()),
    };
    let half = Incomplete::check(|name| (name == CODING_PIPELINE[0]).then(|| lack(name))).unwrap();
    assert_eq!(
        half.to_string(),
        "a coding task requires `specification-engine` and `opencode-implementer`, and `specification-engine` can't be used: it is off"
    );
    assert_eq!(half.hint(), Some("switch it on"));
    assert_eq!(
        Incomplete::check(|name| Some(lack(name)))
            .unwrap()
            .lacks
            .len(),
        2
    );
}

fn powers_of(front: &str, commands: &[&str], scripts: bool) -> Vec<String> {
    let text = format!("---\nname: x\ndescription: y\n{front}---\nbody\n");
    let files = Files {
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: &text,
        }),
        ..Files::default()
    };
    let manifest = parse(&files, Strictness::Lenient)
        .manifest
        .expect("a manifest");
    let runs = SkillPrograms {
        commands,
        scripts,
        ..SkillPrograms::default()
    };
    powers(&manifest, runs)
}

#[test]
fn powers_are_what_changes_something_or_runs() {
    assert_eq!(powers_of("", &[], false), [""; 0]);
    let harmless = "permissions: ['file:read', 'net:fetch(a.io)', 'env:read(X)', 'llm:call', 'git:read', 'skill:invoke(a)']\n";
    assert_eq!(powers_of(harmless, &[], false), [""; 0]);
    let all = "permissions: ['file:write', 'shell:exec(git *)', 'git:write', 'env:write(X)']\n";
    assert_eq!(powers_of(all, &[], false).len(), 4);
    assert_eq!(
        powers_of("", &["git log"], false),
        ["`shell:exec(git log)`"]
    );
    assert_eq!(powers_of("", &[], true), ["`shell:exec(scripts/*)`"]);
    assert_eq!(powers_of("allowed-tools: Read Grep\n", &[], false), [""; 0]);
    assert_eq!(
        powers_of("allowed-tools: Read Bash(git:*) write_file\n", &[], false),
        ["the tool `Bash(git:*)`", "the tool `write_file`"]
    );
    assert_eq!(
        powers_of("allowed_tools: ['*']\n", &[], false),
        ["the tool `*`"]
    );
    assert_eq!(powers_of("forbidden_tools: [Write]\n", &[], false), [""; 0]);
}

#[test]
fn the_whole_matrix_of_risk() {
    let powers = vec!["`shell:exec`".to_owned()];
    let strong = RuleSubject {
        powers: &powers,
        ..named("x")
    };
    let held = |risk, subject: &RuleSubject<'_>, named| {
        let rules = TaskFacts {
            risk,
            ..TaskFacts::default()
        };
        rules.consent(subject, named).map(|consent| consent.held)
    };
    for risk in Risk::ALL {
        assert_eq!(risk.as_str().parse(), Ok(risk));
        for named_by_user in [true, false] {
            assert_eq!(held(risk, &named("x"), named_by_user), None, "{risk}");
        }
    }
    assert!("enormous".parse::<Risk>().is_err());
    assert_eq!(held(Risk::Low, &strong, false), None);
    assert_eq!(held(Risk::Medium, &strong, false), Some(false));
    assert_eq!(held(Risk::Medium, &strong, true), Some(false));
    assert_eq!(held(Risk::High, &strong, true), Some(false));
    assert_eq!(held(Risk::High, &strong, false), Some(true));
}

#[test]
fn a_domain_is_a_word_of_the_skill() {
    let domains = vec![
        ("tags", "Data Engineering".to_owned()),
        ("category", "ops".to_owned()),
    ];
    let subject = RuleSubject {
        domains: &domains,
        ..named("x")
    };
    let found = |domain| {
        let rules = TaskFacts {
            domain: Some(domain),
            ..TaskFacts::default()
        };
        let found = rules.matches(&subject);
        found.first().map(|found| (found.signal, found.weight))
    };
    assert_eq!(found("data"), Some((Signal::Domain, 0.3)));
    assert_eq!(found("OPS"), Some((Signal::Domain, 0.3)));
    assert_eq!(found("database"), None);
    assert_eq!(found("eng"), None);
    assert_eq!(found(""), None);
}
