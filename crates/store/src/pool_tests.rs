//! A pool keeps a few connections, and none to a file that is not the database any more.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{NewReceipt, PooledStore, Store, StorePool, pool::MAX_IDLE, receipts_tests};

const NOW: &str = "2026-01-31T09:00:00Z";

fn pool() -> (TempDir, StorePool) {
    let home = TempDir::new().expect("a folder");
    let pool = StorePool::new(home.path().join("metier.db"));
    (home, pool)
}

#[test]
fn a_connection_is_used_again() {
    let (_home, pool) = pool();
    drop(pool.store().expect("a store"));
    assert_eq!(pool.waiting(), 1);
    let first = pool.existing().expect("a store").expect("the database");
    assert_eq!(pool.waiting(), 0, "it is in use");
    let second = pool.store().expect("another store");
    drop((first, second));
    assert_eq!(pool.waiting(), 2);
}

#[test]
fn few_connections_wait() {
    let (_home, pool) = pool();
    let stores: Vec<PooledStore> = (0..MAX_IDLE + 3)
        .map(|_| pool.store().expect("a store"))
        .collect();
    drop(stores);
    assert_eq!(pool.waiting(), MAX_IDLE);
}

#[test]
fn a_removed_or_replaced_database_is_opened_again() {
    let (home, pool) = pool();
    let store = pool.store().expect("a store");
    store.trust(Path::new("/before"), NOW).expect("trust");
    drop(store);
    for name in ["metier.db", "metier.db-wal", "metier.db-shm"] {
        fs::remove_file(home.path().join(name)).ok();
    }
    assert!(pool.existing().expect("no store").is_none());
    let database = home.path().join("metier.db");
    drop(Store::open(&database).expect("a new database"));
    let store = pool.existing().expect("a store").expect("the database");
    assert!(store.trusted().expect("folders").is_empty());
}

#[test]
fn a_store_that_began_an_act_is_not_kept() {
    let (_home, pool) = pool();
    let store = pool.store().expect("a store");
    let begun = store.begin(&NewReceipt {
        at: NOW.to_owned(),
        outcome: None,
        ..receipts_tests::act("deploy", "git push")
    });
    let begun = begun.expect("an act");
    drop((begun, store));
    assert_eq!(pool.waiting(), 0);
}
