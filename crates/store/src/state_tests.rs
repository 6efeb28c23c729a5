//! A new state replaces the one before.

use tempfile::TempDir;

use crate::{SkillState, Store};

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

fn state(source: &str, state: &str) -> SkillState {
    SkillState {
        skill: "deploy".to_owned(),
        source: source.to_owned(),
        state: state.to_owned(),
        since: "2026-01-31T09:00:00Z".to_owned(),
        detail: (state == "error").then(|| "no `skill.star`".to_owned()),
    }
}

#[test]
fn a_skill_is_in_one_state() {
    let (_folder, store) = store();
    assert_eq!(store.state("deploy", "user").unwrap(), None);
    for row in [
        state("user", "active"),
        state("user", "error"),
        state("project", "active"),
    ] {
        store.set_state(&row).unwrap();
    }
    let found = store.state("deploy", "user").unwrap();
    assert_eq!(found, Some(state("user", "error")));
    let elsewhere = || store.state("deploy", "project").unwrap();
    assert_eq!(elsewhere(), Some(state("project", "active")));
    assert!(store.forget_state("deploy", "user").unwrap());
    assert!(!store.forget_state("deploy", "user").unwrap());
    assert_eq!(store.state("deploy", "user").unwrap(), None);
    assert_eq!(elsewhere(), Some(state("project", "active")));
}
