//! The eight rules, one by one, and all of them as a table.

use metier_model::{FileText, Files, Strictness, parse};

use super::*;

struct Machine {
    programs: &'static [&'static str],
    variables: &'static [&'static str],
    settings: &'static [&'static str],
    tools: Option<Vec<String>>,
}

const BARE: Machine = Machine {
    programs: &[],
    variables: &[],
    settings: &[],
    tools: None,
};

impl Facts for Machine {
    fn os(&self) -> Option<Os> {
        Some(Os::Linux)
    }
    fn has_program(&self, name: &str) -> bool {
        self.programs.contains(&name)
    }
    fn has_variable(&self, name: &str) -> bool {
        self.variables.contains(&name)
    }
    fn has_setting(&self, path: &str) -> bool {
        self.settings.contains(&path)
    }
    fn tools(&self) -> Option<&[String]> {
        self.tools.as_deref()
    }
}

/// The card of a skill with these lines below `metadata.metier`.
fn card(block: &str) -> Card {
    let text = format!("---\nname: x\ndescription: y\n{block}\n---\n");
    let files = Files {
        folder: Some("x"),
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: &text,
        }),
        ..Files::default()
    };
    parse(&files, Strictness::Lenient)
        .manifest
        .expect("a manifest")
        .card
}

fn check(
    block: &str,
    standing: &UserDecisions<'_>,
    machine: &Machine,
) -> Vec<(&'static str, String, u32)> {
    match admit(&card(block), standing, machine) {
        Admission::Admitted => Vec::new(),
        Admission::Refused(reasons) => {
            assert!(!reasons.is_empty(), "a refusal has a reason");
            reasons
                .iter()
                .map(|reason| {
                    (
                        reason.kind.as_str(),
                        reason.name.to_string(),
                        reason.line.unwrap_or(0),
                    )
                })
                .collect()
        }
    }
}

const ALL: &str = "tools: [Bash]\nmetadata:\n  metier:\n    requires:\n      bins: [gh]\n      anyBins: [claude, codex]\n      env: [TOKEN]\n      config: [github.enabled]\n    os: [linux]";

#[test]
fn everything_there_is_admitted() {
    let full = Machine {
        programs: &["gh", "codex"],
        variables: &["TOKEN"],
        settings: &["github.enabled"],
        tools: Some(vec!["Bash".into()]),
    };
    assert_eq!(check(ALL, &UserDecisions::fine(Source::User), &full), []);
    assert_eq!(check("", &UserDecisions::fine(Source::User), &BARE), []);
}

#[test]
fn everything_missing_is_named_with_its_line() {
    assert_eq!(
        check(ALL, &UserDecisions::fine(Source::User), &BARE),
        [
            ("bin", "gh".into(), 8),
            ("any_bin", "claude, codex".into(), 9),
            ("env", "TOKEN".into(), 10),
            ("config", "github.enabled".into(), 11),
        ]
    );
}

#[test]
fn the_configuration_can_provide_variables() {
    let block =
        "metadata: {\"metier\":{\"requires\":{\"env\":[\"A\",\"B\"]},\"primaryEnv\":\"A\"}}";
    let standing = UserDecisions {
        has_api_key: true,
        configured_env: &["B"],
        ..UserDecisions::fine(Source::User)
    };
    assert_eq!(check(block, &standing, &BARE), []);
    let standing = UserDecisions {
        has_api_key: true,
        ..UserDecisions::fine(Source::User)
    };
    assert_eq!(check(block, &standing, &BARE), [("env", "B".into(), 4)]);
}

#[test]
fn always_skips_programs_but_not_the_system_trust_or_scan() {
    let block =
        "metadata:\n  metier:\n    always: true\n    os: [darwin]\n    requires: {bins: [gh]}";
    let standing = UserDecisions {
        trusted: false,
        scan: ScanState::Critical(EVIDENCE),
        ..UserDecisions::fine(Source::Project)
    };
    let kinds: Vec<_> = check(block, &standing, &BARE)
        .into_iter()
        .map(|(kind, ..)| kind)
        .collect();
    assert_eq!(kinds, ["untrusted", "scan", "os"]);
}

#[test]
fn the_users_word_counts() {
    let standing = UserDecisions {
        switched_off: Some("metier config skills.enabled true"),
        bundled_allowed: false,
        ..UserDecisions::fine(Source::Builtin)
    };
    let kinds: Vec<_> = check("", &standing, &BARE)
        .into_iter()
        .map(|(kind, ..)| kind)
        .collect();
    assert_eq!(kinds, ["disabled", "not_allowed"]);
    let standing = UserDecisions {
        bundled_allowed: false,
        ..UserDecisions::fine(Source::User)
    };
    assert_eq!(
        check("", &standing, &BARE),
        [],
        "the list is about built-in skills only"
    );
}

#[test]
fn tools_are_checked_only_against_a_known_list() {
    assert_eq!(
        check("tools: [Bash]", &UserDecisions::fine(Source::User), &BARE),
        []
    );
    let machine = Machine {
        tools: Some(vec!["Read".into()]),
        ..BARE
    };
    assert_eq!(
        check(
            "tools: [Bash]",
            &UserDecisions::fine(Source::User),
            &machine
        ),
        [("tool", "Bash".into(), 4)]
    );
}

const EVIDENCE: ScanEvidence<'_> = ScanEvidence {
    rule: "exfiltration/credentials",
    file: "scripts/sync.sh",
    line: 3,
    message: "a key leaves",
};

#[test]
fn an_incomplete_scan_refuses() {
    let standing = UserDecisions {
        scan: ScanState::Incomplete(EVIDENCE),
        ..UserDecisions::fine(Source::User)
    };
    assert_eq!(check("", &standing, &BARE), [("scan", "x".into(), 0)]);
}

#[test]
fn a_scan_refuses_with_its_evidence() {
    let message = |scan| scan_reason("x y", scan).map(|reason| reason.message.to_string());
    assert_eq!(message(ScanState::Unknown), None);
    assert_eq!(message(ScanState::Passed), None);
    assert_eq!(
        message(ScanState::Critical(EVIDENCE)).as_deref(),
        Some(
            "the scanner found a threat: scripts/sync.sh:3: a key leaves [exfiltration/credentials]"
        )
    );
    let whole = ScanEvidence {
        file: "",
        line: 0,
        ..EVIDENCE
    };
    assert_eq!(
        message(ScanState::Incomplete(whole)).as_deref(),
        Some("the scan is incomplete: a key leaves")
    );
    let hint = scan_reason("x y", ScanState::Critical(EVIDENCE)).and_then(|reason| reason.hint);
    assert_eq!(hint.as_deref(), Some("metier scan 'x y'"));
}

#[test]
fn an_unknown_system_is_not_any_system() {
    assert_eq!(
        check("os: [plan9]", &UserDecisions::fine(Source::User), &BARE),
        [("os", String::new(), 4)]
    );
}

#[test]
fn the_hint_is_a_command_that_fits_the_machine() {
    let hint_with = |block: &str, programs: &'static [&'static str]| {
        let machine = Machine { programs, ..BARE };
        match admit(&card(block), &UserDecisions::fine(Source::User), &machine) {
            Admission::Refused(reasons) => {
                reasons[0].hint.as_deref().unwrap_or_default().to_owned()
            }
            Admission::Admitted => String::new(),
        }
    };
    let hint = |block: &str| hint_with(block, &["apt", "brew"]);
    let both = r#"metadata: {"openclaw":{"requires":{"bins":["gh"]},"install":[{"kind":"brew","formula":"gh","bins":["gh"]},{"kind":"apt","package":"gh","bins":["gh"]}]}}"#;
    assert_eq!(hint(both), "sudo apt install gh");
    assert_eq!(hint_with(both, &["brew", "sudo"]), "brew install gh");
    assert_eq!(hint_with(both, &[]), "with apt: sudo apt install gh");
    let brew = r#"metadata: {"openclaw":{"requires":{"bins":["gh"]},"install":[{"kind":"brew","formula":"gh","bins":["gh"]}]}}"#;
    assert_eq!(hint_with(brew, &["apt"]), "with Homebrew: brew install gh");
    let evil = r#"metadata: {"openclaw":{"requires":{"bins":["gh"]},"install":[{"kind":"brew","formula":"gh; rm -rf ~","bins":["gh"]}]}}"#;
    assert_eq!(
        hint(evil),
        "install `gh` and put it on PATH",
        "a manifest does not write commands"
    );
}
