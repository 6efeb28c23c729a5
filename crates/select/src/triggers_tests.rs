//! One skill, one situation: the explanations.

use super::*;
use crate::languages::{ProgrammingLanguage, detect};

fn triggers(files: &[&str], keywords: &[&str], languages: &[&str], modes: &[&str]) -> Triggers {
    let own = |words: &[&str]| words.iter().map(|word| (*word).into()).collect();
    Triggers {
        files: own(files),
        keywords: own(keywords),
        languages: own(languages),
        modes: own(modes),
    }
}

fn situation<'a>(
    task: &'a str,
    files: &'a [&'a str],
    languages: &'a [SituationLanguage],
) -> Situation<'a> {
    Situation {
        task,
        files,
        languages,
        mode: UsageMode::Interactive,
        explicit: &[],
    }
}

fn offer<'a>(name: &'a str, triggers: &'a Triggers) -> TriggerCandidate<'a> {
    TriggerCandidate {
        name,
        source: Source::User,
        triggers,
        paths: &[],
    }
}

fn told(considered: &Considered) -> Vec<String> {
    let matches = considered.matches.iter();
    matches
        .map(|found| {
            format!(
                "{} {} {}",
                found.signal.as_str(),
                found.weight,
                found.detail
            )
        })
        .collect()
}

#[test]
fn each_match_explains_itself() {
    let triggers = triggers(
        &["*.tf", "Dockerfile", "*.tfvars"],
        &["Terraform", "plan", "bucket"],
        &["COBOL", "Golang"],
        &["wiki", "Interactive"],
    );
    let files = ["a.tf", "infra/b.tf", "infra/x.tfvars", "main.go"];
    let seen = detect(files).seen();
    let situation = situation("Plan it with terraform", &files, &seen);
    let considered = consider(&offer("terraform", &triggers), &situation);
    assert_eq!(
        told(&considered),
        [
            "file 0.3 `*.tf` matches a.tf (and 1 more)",
            "file 0.15 `*.tfvars` matches infra/x.tfvars",
            "keyword 0.4 `Terraform` is in the task",
            "keyword 0.2 `plan` is in the task",
            "language 0.2 `Golang` is a language here: main.go",
            "mode 0.1 the mode is interactive",
        ]
    );
    let misses = considered.misses.iter().map(|miss| miss.detail.as_str());
    assert_eq!(
        misses.collect::<Vec<_>>(),
        [
            "no file matches `Dockerfile`",
            "`bucket` is not in the task",
            "`COBOL` is not a language here",
            "the mode is interactive, not wiki",
        ]
    );
    assert_eq!(considered.problems, []);
}

#[test]
fn a_skill_that_is_named_needs_no_trigger() {
    let none = Triggers::default();
    let check = |name: &str, task: &str, explicit: &[&str]| {
        let situation = Situation {
            explicit,
            ..situation(task, &[], &[])
        };
        told(&consider(&offer(name, &none), &situation))
    };
    assert_eq!(
        check("deploy", "now /deploy it", &[]),
        ["explicit 1 `/deploy` is in the task"]
    );
    assert_eq!(
        check("deploy", "$user:deploy", &[]),
        ["explicit 1 `$user:deploy` is in the task"]
    );
    assert_eq!(
        check("deploy", "", &["deploy"]),
        ["explicit 1 it was requested by name"]
    );
    assert_eq!(
        check("deploy", "$project:deploy /deployer deploy", &["deployer"]),
        [""; 0]
    );
}

#[test]
fn a_trigger_that_never_matches_is_reported() {
    let triggers = triggers(&["[a", "*.rs"], &["", " "], &[""], &["batch"]);
    let paths = ["../x".into(), "*.rs".into()];
    let offer = TriggerCandidate {
        paths: &paths,
        ..offer("broken", &triggers)
    };
    let files = ["a.rs"];
    let considered = consider(&offer, &situation("x", &files, &[]));
    assert_eq!(told(&considered), ["file 0.3 `*.rs` matches a.rs"]);
    let problems = considered.problems.iter();
    assert_eq!(
        problems
            .map(|problem| problem.message.as_str())
            .collect::<Vec<_>>(),
        [
            "`[a` in `triggers.files` never matches: unclosed character class; missing ']'",
            "`../x` in `paths` never matches: it points outside the project",
            "`` in `triggers.keywords` never matches: it is empty",
            "`` in `triggers.keywords` never matches: it is empty",
            "`` in `triggers.languages` never matches: it is empty",
            "`batch` in `triggers.modes` never matches: it is not one of interactive, headless, wiki",
        ]
    );
}

#[test]
fn scores_stay_between_nothing_and_one() {
    let one = |signal: Signal| TriggerMatch {
        signal,
        subject: String::new(),
        detail: String::new(),
        weight: signal.weight(),
    };
    assert_eq!(score(&[]), 0.0);
    assert_eq!(score(&[one(Signal::Keyword)]), 0.4);
    assert_eq!(score(&[one(Signal::File), one(Signal::Keyword)]), 0.58);
    assert_eq!(score(&[one(Signal::Explicit), one(Signal::Mode)]), 1.0);
}

#[test]
fn a_language_that_was_named_counts() {
    let triggers = triggers(&[], &[], &["c#"], &[]);
    let seen = [SituationLanguage {
        language: ProgrammingLanguage::new("CSharp"),
        because: "it was named".to_owned(),
    }];
    let considered = consider(&offer("dotnet", &triggers), &situation("", &[], &seen));
    assert_eq!(
        told(&considered),
        ["language 0.2 `c#` is a language here: it was named"]
    );
}
