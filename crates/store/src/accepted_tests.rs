//! An acceptance is kept, for exactly these bytes.

use tempfile::TempDir;

use crate::{Accepted, Store};

fn row(digest: &str, reason: Option<&str>) -> Accepted {
    Accepted {
        digest: digest.to_owned(),
        skill: "deploy".to_owned(),
        verdict: "critical".to_owned(),
        reason: reason.map(str::to_owned),
        at: "2026-01-31T09:00:00Z".to_owned(),
    }
}

#[test]
fn what_was_accepted_is_found_by_its_bytes_only() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("metier.db");
    let store = Store::open(&path).expect("a store");
    store.accept(&row("sha256:aa", None)).expect("accepted");
    store
        .accept(&row("sha256:aa", Some("our own host")))
        .expect("again, with a reason");
    drop(store);
    let store = Store::open(&path).expect("the same store");
    assert_eq!(
        store.accepted("sha256:aa").expect("a row"),
        Some(row("sha256:aa", Some("our own host")))
    );
    assert_eq!(store.accepted("sha256:ab").expect("no row"), None);
    assert_eq!(store.all_accepted().expect("rows").len(), 1);
    assert!(store.take_back("sha256:aa").expect("taken back"));
    assert!(!store.take_back("sha256:aa").expect("nothing left"));
    assert_eq!(store.all_accepted().expect("no rows"), []);
}
