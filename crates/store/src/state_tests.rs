//! States are replaced, and old answers are given only to those who ask for them.

use tempfile::TempDir;

use crate::{Cached, SkillState, Store};

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
    assert_eq!(
        store.states().unwrap(),
        [state("project", "active"), state("user", "error")]
    );
    assert!(store.forget_state("deploy", "user").unwrap());
    assert!(!store.forget_state("deploy", "user").unwrap());
    assert_eq!(store.states().unwrap(), [state("project", "active")]);
}

fn said(key: &str, fetched_at: i64, ttl: i64) -> Cached {
    Cached {
        key: key.to_owned(),
        body: vec![0, 0xFF, b'{'],
        etag: Some("\"1\"".to_owned()),
        fetched_at,
        ttl,
    }
}

#[test]
fn an_answer_counts_while_it_is_fresh() {
    let (_folder, store) = store();
    let answer = said("https://registry/a", 1000, 60);
    store.cache(&answer).unwrap();
    for (now, is_fresh) in [(999, false), (1000, true), (1059, true), (1060, false)] {
        let found = store.cached(&answer.key, now).unwrap();
        assert_eq!(found.is_some(), is_fresh, "{now}");
    }
    let old = store.cached_or_stale(&answer.key).unwrap();
    assert_eq!(old, Some(answer));
    let elsewhere = store.cached_or_stale("https://other/a").unwrap();
    assert_eq!(elsewhere, None);
}

#[test]
fn odd_times_to_live_are_no_trouble() {
    for (ttl, is_fresh) in [(i64::MAX, true), (1, true), (0, false), (i64::MIN, false)] {
        assert_eq!(said("key", 1000, ttl).is_fresh(1000), is_fresh, "{ttl}");
    }
}

#[test]
fn old_answers_are_replaced_or_pruned() {
    let (_folder, store) = store();
    for row in [said("a", 10, 60), said("a", 30, 60), said("b", 20, 1)] {
        store.cache(&row).unwrap();
    }
    assert_eq!(store.prune_cache(20).unwrap(), 0);
    assert_eq!(store.prune_cache(21).unwrap(), 1);
    assert_eq!(store.cached_or_stale("b").unwrap(), None);
    let kept = store.cached("a", 31).unwrap();
    assert_eq!(kept, Some(said("a", 30, 60)));
}
