//! Stored data about registries survives, and data that protects the user is never replaced.

use crate::{RegistryAnswer, Store};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a store");
    (folder, store)
}

#[test]
fn the_last_answer_of_an_address_is_kept() {
    let (_folder, store) = store();
    let answer = |body: &str, fetched_at| RegistryAnswer {
        body: body.as_bytes().to_vec(),
        etag: Some("\"e\"".to_owned()),
        fetched_at,
    };
    assert_eq!(store.registry_answer("u").expect("read"), None);
    store
        .set_registry_answer("u", &answer("1", 1))
        .expect("written");
    store
        .set_registry_answer("u", &answer("2", 2))
        .expect("written");
    let kept = store.registry_answer("u").expect("read");
    assert_eq!(kept, Some(answer("2", 2)));
}

#[test]
fn the_oldest_answers_are_forgotten() {
    let (_folder, store) = store();
    for number in 0..2_010_u64 {
        let answer = RegistryAnswer {
            body: Vec::new(),
            etag: None,
            fetched_at: number,
        };
        let url = format!("https://x.example/{number}");
        store.set_registry_answer(&url, &answer).expect("written");
    }
    let is_kept = |number: u64| {
        let url = format!("https://x.example/{number}");
        store.registry_answer(&url).expect("read").is_some()
    };
    assert!(!is_kept(0) && !is_kept(9) && is_kept(10) && is_kept(2_009));
}

// case 146
#[test]
fn the_end_of_a_log_never_moves_back() {
    let (_folder, store) = store();
    store.set_registry_log("r", 5, "five").expect("written");
    store.set_registry_log("r", 4, "four").expect("written");
    store.set_registry_log("r", 5, "other").expect("written");
    let end = store.registry_log("r").expect("read");
    assert_eq!(end, Some((5, "five".to_owned())));
    store.set_registry_log("r", 6, "six").expect("written");
    let end = store.registry_log("r").expect("read");
    assert_eq!(end, Some((6, "six".to_owned())));
    assert_eq!(store.registry_log("s").expect("read"), None);
}

// case 146
#[test]
fn the_digest_of_a_version_is_the_one_that_was_seen_first() {
    let (_folder, store) = store();
    let seen = |registry: &str| {
        store
            .registry_version(registry, "pdf", "1.0.0")
            .expect("read")
    };
    store
        .set_registry_version("r", "pdf", "1.0.0", "a")
        .expect("written");
    store
        .set_registry_version("r", "pdf", "1.0.0", "b")
        .expect("written");
    assert_eq!(seen("r").as_deref(), Some("a"));
    assert_eq!(seen("s"), None, "registries don't share what they state");
}
