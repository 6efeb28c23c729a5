//! Picks and the reasons for them, over skills on disk.

use std::{fs, path::Path, time::SystemTime};

use metier_catalog::{DiscoveryLimits, DiscoveryOptions, MachineFacts, Root, discover};
use metier_config::load;
use metier_model::Source;
use metier_select::rules::{Coding, Risk};
use proptest::prelude::*;

use super::*;
use crate::survey;

const READING: ManifestReading = ManifestReading {
    mode: Strictness::Lenient,
    max_bytes: 1 << 20,
    threads: 2,
    everything: false,
    powers: true,
};

fn skill(root: &Path, name: &str, front: &str) {
    let folder = root.join(name);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: Does.\n{front}\n---\n");
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn inventory(root: &Path, selection: &[&str]) -> Arc<Inventory> {
    let options = DiscoveryOptions {
        mode: Strictness::Lenient,
        limits: DiscoveryLimits {
            max_skills: 1000,
            max_entries: 1000,
            max_skill_bytes: 1 << 20,
            max_depth: 8,
            max_root_time: std::time::Duration::from_secs(60),
        },
        threads: 1,
        index: None,
        now: SystemTime::UNIX_EPOCH,
        builtins: false,
        progress: None,
    };
    let roots = vec![Root::explicit(Source::User, root.to_owned())];
    let setting = |_: &str| false;
    let host = MachineFacts::new(None, Default::default(), &setting, None);
    let selection: Vec<String> = selection.iter().map(|name| (*name).to_owned()).collect();
    let config = load(Vec::new()).config;
    let catalog = discover(roots, &options);
    Arc::new(survey(
        catalog,
        &config,
        &host,
        Strictness::Lenient,
        &selection,
        Vec::new(),
    ))
}

fn situation(task: &str) -> Situation<'_> {
    Situation {
        task,
        files: &[],
        languages: &[],
        mode: metier_select::UsageMode::Interactive,
        explicit: &[],
    }
}

fn names(inventory: &Arc<Inventory>, task: &str) -> Vec<String> {
    let candidates = Candidates::read(inventory, READING);
    let picks = candidates
        .select(&situation(task), &TaskFacts::default())
        .picks;
    let name = |pick: &Pick<'_>| inventory.entry(pick.skill).name().into_owned();
    picks.iter().map(name).collect()
}

#[test]
fn picks_come_by_score_and_then_by_name() {
    let root = tempfile::tempdir().unwrap();
    skill(root.path(), "b", "triggers: {keywords: [one]}");
    skill(root.path(), "a", "triggers: {keywords: [one]}");
    skill(root.path(), "c", "triggers: {keywords: [one, two]}");
    skill(root.path(), "d", "");
    let plain = inventory(root.path(), &[]);
    assert_eq!(names(&plain, "one and two"), ["c", "a", "b"]);
    assert_eq!(names(&plain, "none"), [""; 0]);
    let selected = inventory(root.path(), &["d", "user:b"]);
    assert_eq!(names(&selected, "one"), ["b", "d", "a", "c"]);
}

#[test]
fn a_skill_that_changed_under_our_hands_is_not_picked() {
    let root = tempfile::tempdir().unwrap();
    skill(root.path(), "a", "triggers: {keywords: [one]}");
    let before = inventory(root.path(), &[]);
    let other = "---\nname: other\ndescription: Is another.\ntriggers: {keywords: [one]}\n---\n";
    fs::write(root.path().join("a/SKILL.md"), other).unwrap();
    assert_eq!(names(&before, "one /a"), [""; 0]);
    let candidates = Candidates::read(&before, READING);
    let refused = candidates
        .select(&situation("/a"), &TaskFacts::default())
        .refused;
    assert_eq!(refused[0].gates[0].kind, "changed");
}

#[test]
fn half_of_a_pipeline_is_never_picked() {
    let [first, second] = CODING_PIPELINE;
    let coding = |task: &str, here: &[(&str, &str)], risk| {
        let root = tempfile::tempdir().unwrap();
        for (name, front) in here {
            skill(root.path(), name, front);
        }
        let inventory = inventory(root.path(), &[]);
        let rules = TaskFacts {
            coding: Coding::told(true),
            risk,
            domain: None,
        };
        let candidates = Candidates::read(&inventory, READING);
        let selection = candidates.select(&situation(task), &rules);
        let name = |pick: &Pick<'_>| inventory.entry(pick.skill).name().into_owned();
        let lacks = selection.incomplete.map(|incomplete| incomplete.lacks);
        let lacks: Vec<&str> = lacks.iter().flatten().map(|lack| lack.name).collect();
        let picks: Vec<String> = selection.picks.iter().map(name).collect();
        (picks.join(" "), lacks.join(" "))
    };
    let both = format!("{first} {second}");
    let said = |picks: &str, lacks: &str| (picks.to_owned(), lacks.to_owned());
    let plain = [(second, ""), (first, "")];
    assert_eq!(coding("x", &plain, Risk::Low), said(&both, ""));
    assert_eq!(coding("x", &[], Risk::Low), said("", &both));
    assert_eq!(coding("x", &plain[..1], Risk::Low), said("", first));
    assert_eq!(
        coding(&format!("/{second}"), &plain[..1], Risk::Low),
        said("", first)
    );
    let absent = "metadata: {openclaw: {requires: {bins: [absent]}}}";
    let ill = [(first, ""), (second, absent)];
    assert_eq!(coding("x", &ill, Risk::Low), said("", second));
    let strong = [
        (first, ""),
        (second, "permissions: ['shell:exec(opencode *)']"),
    ];
    assert_eq!(coding("x", &strong, Risk::Medium), said(&both, ""));
    assert_eq!(coding("x", &strong, Risk::High), said("", second));
    assert_eq!(
        coding(&format!("/{second}"), &strong, Risk::High),
        said(&both, "")
    );
}

#[test]
fn a_match_for_half_of_the_pipeline_selects_all_of_it() {
    let [first, second] = CODING_PIPELINE;
    let root = tempfile::tempdir().unwrap();
    skill(
        root.path(),
        first,
        "category: development\ntriggers: {keywords: [plan]}",
    );
    skill(
        root.path(),
        second,
        "permissions: ['shell:exec(opencode *)']",
    );
    let inventory = inventory(root.path(), &[]);
    let picks = |task: &str, risk, domain| {
        let rules = TaskFacts {
            coding: Coding::told(false),
            risk,
            domain,
        };
        let candidates = Candidates::read(&inventory, READING);
        let selection = candidates.select(&situation(task), &rules);
        assert!(selection.incomplete.is_none());
        selection.picks.len()
    };
    assert_eq!(picks("make a plan", Risk::Low, None), 2);
    assert_eq!(picks("look", Risk::Low, Some("development")), 2);
    assert_eq!(picks(&format!("/{first}"), Risk::Low, None), 2);
    assert_eq!(picks("look", Risk::Low, None), 0);
    assert_eq!(picks("look", Risk::High, Some("development")), 0);
    assert_eq!(picks(&format!("/{first}"), Risk::High, None), 0);
    assert_eq!(picks(&format!("/{first} /{second}"), Risk::High, None), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// The picks are those that `why` reports as picked, in the same order, and all of them are ready.
    #[test]
    fn why_agrees_with_select(task in "(one|two|three|/s[0-9]| ){0,5}", coding: bool, high: bool) {
        let root = tempfile::tempdir().unwrap();
        for (number, word) in ["one", "two", "three"].iter().cycle().take(9).enumerate() {
            let hidden = ["", "disable-model-invocation: true\n"][usize::from(number > 6)];
            let needs = ["", "metadata: {openclaw: {requires: {bins: [absent]}}}\n"][number % 2];
            let power = ["", "permissions: ['shell:exec(ls)']\n"][usize::from(number % 4 == 0)];
            let front = format!("{hidden}{needs}{power}triggers: {{keywords: [{word}]}}");
            skill(root.path(), &format!("s{number}"), &front);
        }
        let inventory = inventory(root.path(), &[]);
        let rules = TaskFacts {
            coding: Coding::told(coding),
            risk: if high { Risk::High } else { Risk::Low },
            domain: None,
        };
        let candidates = Candidates::read(&inventory, READING);
        let selection = candidates.select(&situation(&task), &rules);
        let picks = selection.picks;
        let all = Candidates::read(&inventory, ManifestReading { everything: true, ..READING });
        let (accounts, incomplete) = all.accounts(&situation(&task), &rules);
        prop_assert_eq!(incomplete.is_some(), coding);
        prop_assert_eq!(&incomplete, &selection.incomplete);
        prop_assert!(high || selection.held.is_empty());
        prop_assert_eq!(accounts.len(), 9);
        let told: Vec<usize> = accounts.iter().filter(|account| account.picked).map(|account| account.skill.entry).collect();
        let picked: Vec<usize> = picks.iter().map(|pick| pick.skill.entry).collect();
        prop_assert_eq!(told, picked);
        prop_assert!(picks.iter().all(|pick| pick.skill.status == Status::Ready && pick.score > 0.0));
    }
}
