//! Precedence, blocking and dependencies never depend on the order of discovery.

use std::collections::BTreeMap;

use metier_catalog::CatalogEntry;
use metier_config::Config;
use metier_model::DiagnosticCode;
use metier_policy::ReasonKind;
use metier_runtime::{Inventory, InventorySkill, Status};
use proptest::prelude::*;

use crate::{
    EXTRA, INLINE, PROJECT, UNTRUSTED, USER, USER_LATER, builtin, config, invalid, skill, stock,
    stock_with,
};

fn path(inventory: &Inventory, skill: &InventorySkill) -> String {
    inventory
        .entry(skill)
        .place
        .path()
        .to_string_lossy()
        .into_owned()
}

/// Path, status and the shadowing skill, sorted by path.
fn standing(inventory: &Inventory) -> BTreeMap<String, (Status, Option<String>)> {
    let by = |skill: &InventorySkill| {
        skill.shadowed_by.map(|winner| {
            inventory.catalog.entries[winner]
                .place
                .path()
                .to_string_lossy()
                .into_owned()
        })
    };
    inventory
        .skills
        .iter()
        .map(|skill| (path(inventory, skill), (skill.status, by(skill))))
        .collect()
}

/// Of these skills, all with one name, exactly this one is ready and shadows the others.
#[track_caller]
fn wins(entries: Vec<CatalogEntry>, config: &Config, winner: &str) {
    let inventory = stock_with(entries, config, &[]);
    for (path, (status, by)) in standing(&inventory) {
        if path == winner {
            assert_eq!((status, by), (Status::Ready, None), "{path}");
        } else {
            assert_eq!(
                (status, by.as_deref()),
                (Status::Shadowed, Some(winner)),
                "{path}"
            );
        }
    }
    let shadows = inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == DiagnosticCode::Shadowed)
        .count();
    assert_eq!(
        shadows,
        inventory.skills.len() - 1,
        "every shadow is mentioned"
    );
}

fn status(inventory: &Inventory, wanted: &str) -> Status {
    inventory
        .find(wanted)
        .map(|skill| skill.status)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

fn said(inventory: &Inventory, code: DiagnosticCode) -> Vec<String> {
    let mut found: Vec<String> = inventory
        .diagnostics
        .iter()
        .filter(|d| d.code == code)
        .map(|d| d.message.to_string())
        .collect();
    found.sort();
    found
}

// ---- Precedence ----

// case 66
#[test]
fn the_greater_source_wins() {
    let mut entries = vec![skill(EXTRA, "s", "")];
    let mut winner = String::from("/extra/s");
    for (entry, path) in [
        (builtin("s", ""), "/builtin/s"),
        (skill(USER, "s", ""), "/user/s"),
        (skill(PROJECT, "s", ""), "/project/s"),
        (skill(INLINE, "s", ""), "/inline/s"),
    ] {
        wins(entries.clone(), &Config::default(), &winner);
        entries.push(entry);
        winner = path.into();
    }
    wins(entries.clone(), &Config::default(), &winner);
    entries.reverse();
    wins(entries, &Config::default(), &winner);
}

#[test]
fn the_later_root_wins_within_a_source() {
    wins(
        vec![skill(USER_LATER, "s", ""), skill(USER, "s", "")],
        &Config::default(),
        "/user-later/s",
    );
}

#[test]
fn within_a_root_the_first_path_wins() {
    let at = |path: &str| CatalogEntry {
        place: metier_catalog::SkillLocation::Folder(path.into()),
        ..skill(USER, "s", "")
    };
    wins(
        vec![at("/user/b/s"), at("/user/a/s"), at("/user/c/s")],
        &Config::default(),
        "/user/a/s",
    );
}

#[test]
fn names_that_differ_in_anything_do_not_shadow() {
    let inventory = stock(vec![
        skill(USER, "pay", ""),
        skill(PROJECT, "Pay", ""),
        skill(EXTRA, "p\u{430}y", ""),
    ]);
    assert_eq!(inventory.counts().ready, 3);
}

#[test]
fn a_shadowed_skill_is_found_by_its_source() {
    let inventory = stock(vec![
        skill(USER, "s", ""),
        skill(PROJECT, "s", ""),
        builtin("s", ""),
    ]);
    for (wanted, path, status) in [
        ("s", "/project/s", Status::Ready),
        ("project:s", "/project/s", Status::Ready),
        ("user:s", "/user/s", Status::Shadowed),
        ("builtin:s", "/builtin/s", Status::Shadowed),
        ("/user/s", "/user/s", Status::Shadowed),
    ] {
        let found = inventory.find(wanted).unwrap();
        assert_eq!(
            (self::path(&inventory, found).as_str(), found.status),
            (path, status),
            "{wanted}"
        );
    }
    assert!(inventory.find("extra:s").is_err());
}

#[test]
fn a_name_that_is_not_there_has_neighbours() {
    let inventory = stock(vec![
        skill(USER, "review-pr", ""),
        skill(PROJECT, "review-pr", ""),
    ]);
    assert_eq!(inventory.find("reveiw-pr").unwrap_err().near, ["review-pr"]);
    assert!(inventory.find("zzz").unwrap_err().near.is_empty());
    assert!(inventory.find("").is_err());
}

// ---- Trust ----

// case 66
#[test]
fn an_untrusted_skill_is_blocked_and_shadows_nothing() {
    for other in [
        skill(EXTRA, "s", ""),
        builtin("s", ""),
        skill(USER, "s", ""),
        skill(PROJECT, "s", ""),
    ] {
        let place = other.place.path().to_string_lossy().into_owned();
        for entries in [
            vec![skill(UNTRUSTED, "s", ""), other.clone()],
            vec![other.clone(), skill(UNTRUSTED, "s", "")],
        ] {
            let inventory = stock(entries);
            let standing = standing(&inventory);
            assert_eq!(standing["/untrusted/s"], (Status::Blocked, None));
            assert_eq!(standing[&place], (Status::Ready, None));
            assert_eq!(path(&inventory, inventory.find("s").unwrap()), place);
            assert!(said(&inventory, DiagnosticCode::Shadowed).is_empty());
        }
    }
}

#[test]
fn an_untrusted_skill_shows_why_it_is_blocked() {
    let inventory = stock(vec![skill(UNTRUSTED, "s", "")]);
    let skill = inventory.find("s").unwrap();
    assert_eq!(
        skill
            .reasons
            .iter()
            .map(|reason| reason.kind)
            .collect::<Vec<_>>(),
        [ReasonKind::Untrusted]
    );
    assert_eq!(skill.reasons[0].hint.as_deref(), Some("metier trust"));
}

#[test]
fn a_pinned_version_grants_no_trust() {
    let pinned = config("[skills.entries.s]\nversion = \"9.0.0\"\n");
    let inventory = stock_with(
        vec![
            skill(UNTRUSTED, "s", "version: 9.0.0\n"),
            skill(USER, "s", ""),
        ],
        &pinned,
        &[],
    );
    assert_eq!(standing(&inventory)["/untrusted/s"].0, Status::Blocked);
    assert_eq!(standing(&inventory)["/user/s"].0, Status::Ready);
}

#[test]
fn always_does_not_skip_trust() {
    let inventory = stock(vec![skill(UNTRUSTED, "s", "always: true\n")]);
    assert_eq!(status(&inventory, "s"), Status::Blocked);
}

#[test]
fn a_selection_grants_no_trust() {
    let inventory = stock_with(vec![skill(UNTRUSTED, "s", "")], &Config::default(), &["s"]);
    let skill = inventory.find("s").unwrap();
    assert_eq!((skill.status, skill.selected), (Status::Blocked, true));
}

// ---- Invalid ones ----

// case 66
#[test]
fn an_invalid_skill_is_listed_and_shadows_nothing() {
    let inventory = stock(vec![
        invalid(INLINE, "s"),
        invalid(PROJECT, "s"),
        skill(EXTRA, "s", ""),
    ]);
    let standing = standing(&inventory);
    assert_eq!(standing["/inline/s"], (Status::Invalid, None));
    assert_eq!(standing["/project/s"], (Status::Invalid, None));
    assert_eq!(standing["/extra/s"], (Status::Ready, None));
    assert_eq!(path(&inventory, inventory.find("s").unwrap()), "/extra/s");
    assert!(
        inventory
            .skills
            .iter()
            .all(|skill| skill.status != Status::Invalid || inventory.entry(skill).card.is_none())
    );
}

// ---- Pins and switches ----

#[test]
fn a_pinned_version_wins_over_every_source() {
    let pinned = config("[skills.entries.s]\nversion = \"1.2.0\"\n");
    let entries = vec![
        skill(EXTRA, "s", "version: 1.2.0\n"),
        skill(USER, "s", "version: 2.0.0\n"),
        skill(INLINE, "s", "version: 3.0.0\n"),
    ];
    wins(entries.clone(), &pinned, "/extra/s");
    wins(
        entries,
        &config("[skills.entries.s]\nversion = \"7.0.0\"\n"),
        "/inline/s",
    );
}

#[test]
fn among_several_of_the_pinned_version_the_greater_source_wins() {
    let pinned = config("[skills.entries.s]\nversion = \"1.2.0\"\n");
    let entries = vec![
        skill(PROJECT, "s", "version: 1.2.0\n"),
        skill(EXTRA, "s", "version: 1.2.0\n"),
        skill(INLINE, "s", "version: 3.0.0\n"),
    ];
    wins(entries, &pinned, "/project/s");
}

/// A skill chooses its own key; it must not pin itself with it.
#[test]
fn a_pin_for_one_skill_lifts_no_other() {
    let pinned = config("[skills.entries.trusted-tool]\nversion = \"1.0.0\"\n");
    let entries = vec![
        skill(EXTRA, "s", "skillKey: trusted-tool\n"),
        skill(USER, "s", "version: 2.0.0\n"),
    ];
    wins(entries, &pinned, "/user/s");
}

#[test]
fn a_disabled_skill_is_disabled_wherever_it_lies() {
    let off = config("[skills.entries.s]\nenabled = false\n");
    let inventory = stock_with(
        vec![
            skill(USER, "s", ""),
            skill(UNTRUSTED, "t", ""),
            skill(USER, "u", ""),
        ],
        &off,
        &[],
    );
    assert_eq!(status(&inventory, "s"), Status::Disabled);
    assert_eq!(status(&inventory, "u"), Status::Ready);
    let off = config("[skills]\nenabled = false\n");
    assert_eq!(
        stock_with(vec![skill(USER, "s", "")], &off, &[])
            .counts()
            .disabled,
        1
    );
}

#[test]
fn the_list_of_built_in_skills_binds_only_them() {
    let some = config("[skills]\nallow_bundled = [\"a\"]\n");
    let inventory = stock_with(
        vec![builtin("a", ""), builtin("b", ""), skill(USER, "c", "")],
        &some,
        &[],
    );
    assert_eq!(
        ["a", "b", "c"].map(|name| status(&inventory, name)),
        [Status::Ready, Status::Disabled, Status::Ready]
    );
}

// ---- Dependencies ----

fn needs(root: u16, name: &str, dependencies: &str) -> CatalogEntry {
    skill(root, name, &format!("dependencies: [{dependencies}]\n"))
}

#[test]
fn a_missing_dependency_is_a_reason() {
    let inventory = stock(vec![needs(USER, "a", "{name: b}")]);
    let skill = inventory.find("a").unwrap();
    assert_eq!(skill.status, Status::NotReady);
    assert_eq!(skill.reasons.len(), 1);
    assert_eq!(
        (skill.reasons[0].kind, &*skill.reasons[0].name),
        (ReasonKind::Dependency, "b")
    );
    assert!(skill.reasons[0].line.is_some() && skill.reasons[0].hint.is_some());
}

#[test]
fn a_dependency_in_the_wrong_version_is_a_reason() {
    for (range, status) in [
        ("^1.0", Status::Ready),
        ("^2", Status::NotReady),
        (">=1, <2", Status::Ready),
        ("=1.0.1", Status::NotReady),
    ] {
        let inventory = stock(vec![
            needs(USER, "a", &format!("{{name: b, version: \"{range}\"}}")),
            skill(USER, "b", ""),
        ]);
        assert_eq!(self::status(&inventory, "a"), status, "{range}");
    }
}

#[test]
fn a_missing_optional_dependency_is_a_warning() {
    let inventory = stock(vec![needs(USER, "a", "{name: b, optional: true}")]);
    assert_eq!(status(&inventory, "a"), Status::Ready);
    assert_eq!(said(&inventory, DiagnosticCode::DependencyMissing).len(), 1);
}

#[test]
fn an_unusable_skill_satisfies_no_dependency() {
    let off = config("[skills.entries.b]\nenabled = false\n");
    for (there, config) in [
        (skill(UNTRUSTED, "b", ""), Config::default()),
        (invalid(USER, "b"), Config::default()),
        (skill(USER, "b", ""), off),
    ] {
        let inventory = stock_with(vec![needs(USER, "a", "{name: b}"), there], &config, &[]);
        assert_eq!(status(&inventory, "a"), Status::NotReady);
    }
}

#[test]
fn a_blocked_or_disabled_skill_stays_what_it_is_when_a_dependency_is_missing() {
    let inventory = stock(vec![needs(UNTRUSTED, "a", "{name: b}")]);
    assert_eq!(status(&inventory, "a"), Status::Blocked);
}

#[test]
fn circles_are_reported_once_and_block_no_skill() {
    let inventory = stock(vec![
        needs(USER, "a", "{name: b}"),
        needs(USER, "b", "{name: c}"),
        needs(USER, "c", "{name: a}"),
        needs(USER, "d", "{name: d}"),
    ]);
    assert_eq!(said(&inventory, DiagnosticCode::DependencyCycle).len(), 2);
    assert_eq!(inventory.counts().ready, 4);
}

#[test]
fn a_circle_is_described_alike_in_any_order() {
    let entries = vec![
        needs(USER, "a", "{name: b}"),
        needs(USER, "b", "{name: c}"),
        needs(USER, "c", "{name: a}"),
    ];
    let expected = said(&stock(entries.clone()), DiagnosticCode::DependencyCycle);
    for turn in 1..3 {
        let mut turned = entries.clone();
        turned.rotate_left(turn);
        assert_eq!(
            said(&stock(turned), DiagnosticCode::DependencyCycle),
            expected
        );
    }
}

#[test]
fn a_thousand_skills_in_a_circle_are_listed() {
    let entries = (0..1000)
        .map(|number| {
            needs(
                USER,
                &format!("s{number}"),
                &format!("{{name: s{}}}", (number + 1) % 1000),
            )
        })
        .collect();
    assert_eq!(
        said(&stock(entries), DiagnosticCode::DependencyCycle).len(),
        1
    );
}

// ---- Selection ----

#[test]
fn a_selection_marks_what_it_names() {
    let entries = vec![
        skill(USER, "a", ""),
        skill(PROJECT, "a", ""),
        skill(USER, "b", ""),
    ];
    let inventory = stock_with(entries, &Config::default(), &["a", "nothing\u{1b}[31m"]);
    let selected: Vec<String> = inventory
        .skills
        .iter()
        .filter(|skill| skill.selected)
        .map(|skill| path(&inventory, skill))
        .collect();
    assert_eq!(selected, ["/project/a"]);
    let said = said(&inventory, DiagnosticCode::SelectionUnknown);
    assert_eq!(said.len(), 1);
    assert!(!said[0].contains('\u{1b}'));
}

#[test]
fn a_selection_with_a_source_reaches_a_shadowed_skill() {
    let inventory = stock_with(
        vec![skill(USER, "a", ""), skill(PROJECT, "a", "")],
        &Config::default(),
        &["user:a"],
    );
    assert!(said(&inventory, DiagnosticCode::SelectionUnknown).is_empty());
    assert!(inventory.find("user:a").unwrap().selected);
}

// ---- In any order ----

fn any_entry() -> impl Strategy<Value = (u16, usize, &'static str, &'static str, bool)> {
    let name = 0..4usize;
    let version = prop_oneof![Just("version: 1.0.0\n"), Just("version: 2.0.0\n")];
    let dependency = prop_oneof![
        3 => Just(""),
        1 => Just("dependencies: [{name: n0}]\n"),
        1 => Just("dependencies: [{name: n1, version: ^2}]\n"),
        1 => Just("dependencies: [{name: n2, optional: true}, {name: gone, optional: true}]\n"),
        1 => Just("requires: {bins: [nothing]}\n"),
    ];
    (
        0..6u16,
        name,
        version,
        dependency,
        prop::bool::weighted(0.85),
    )
}

fn made(parts: &[(u16, usize, &'static str, &'static str, bool)]) -> Vec<CatalogEntry> {
    let mut entries: Vec<CatalogEntry> = Vec::new();
    for (number, (root, name, version, more, valid)) in parts.iter().enumerate() {
        let name = format!("n{name}");
        let mut entry = skill(*root, &name, &format!("{version}{more}"));
        entry.place =
            metier_catalog::SkillLocation::Folder(format!("/{root}/{number}/{name}").into());
        if !valid {
            entry.card = None;
        }
        entries.push(entry);
    }
    entries
}

/// Everything that a user sees, without positions in the catalog.
fn seen(inventory: &Inventory) -> Vec<(String, Status, Option<String>, Vec<String>)> {
    let standing = standing(inventory);
    let row = |skill: &InventorySkill| {
        let mut reasons: Vec<String> = skill
            .reasons
            .iter()
            .map(|reason| reason.message.to_string())
            .collect();
        reasons.sort();
        let path = path(inventory, skill);
        let by = standing[&path].1.clone();
        (path, skill.status, by, reasons)
    };
    inventory.skills.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn the_order_of_entries_decides_nothing(
        (parts, shuffled) in prop::collection::vec(any_entry(), 0..10).prop_flat_map(|parts| (Just(made(&parts)), Just(made(&parts)).prop_shuffle()))
    ) {
        let pinned = config("[skills.entries.n1]\nversion = \"1.0.0\"\n");
        let (one, other) = (stock_with(parts, &pinned, &["n0"]), stock_with(shuffled, &pinned, &["n0"]));
        prop_assert_eq!(seen(&one), seen(&other));
        prop_assert_eq!(one.counts(), other.counts());
        for code in [DiagnosticCode::Shadowed, DiagnosticCode::DependencyMissing, DiagnosticCode::SelectionUnknown] {
            prop_assert_eq!(said(&one, code), said(&other, code));
        }
    }

    // case 66
    #[test]
    fn each_name_has_at_most_one_usable_skill(parts in prop::collection::vec(any_entry(), 0..12)) {
        let inventory = stock(made(&parts));
        let mut names: Vec<_> = inventory.skills.iter()
            .filter(|skill| matches!(skill.status, Status::Ready | Status::NotReady | Status::Disabled))
            .map(|skill| inventory.entry(skill).name().into_owned())
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), count);
        for skill in &inventory.skills {
            let winner = skill.shadowed_by.map(|winner| &inventory.catalog.entries[winner]);
            prop_assert_eq!(winner.is_some(), skill.status == Status::Shadowed);
            prop_assert!(winner.is_none_or(|winner| winner.root != Some(UNTRUSTED) && winner.card.is_some()));
        }
    }
}
