//! Databases of every earlier version are migrated, and keep their content.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::chain::{self, BEGINNING};
use crate::open_databases::OpenDatabase;
use crate::{
    Accepted, Approval, ApprovalDecision, NewConversation, NewReceipt, ReceiptDecision, SkillState,
    Store, Verified, schema,
};

const NOW: &str = "2026-01-31T09:00:00Z";

fn accepted(digest: &str) -> Accepted {
    Accepted {
        digest: digest.to_owned(),
        skill: "deploy".to_owned(),
        verdict: "critical".to_owned(),
        reason: None,
        at: NOW.to_owned(),
    }
}

fn approval() -> Approval {
    Approval {
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        permission: "shell:exec(git *)".to_owned(),
        digest: "sha256:aa".to_owned(),
        decision: ApprovalDecision::Allowed,
        at: NOW.to_owned(),
        by: "terminal".to_owned(),
    }
}

fn receipt() -> NewReceipt {
    NewReceipt {
        at: NOW.to_owned(),
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        digest: "sha256:aa".to_owned(),
        act: "shell:exec".to_owned(),
        detail: "git push".to_owned(),
        decision: ReceiptDecision::Refused,
        reason: None,
        outcome: None,
        ms: 0,
        sandbox: None,
        session: None,
        count: 1,
    }
}

fn state() -> SkillState {
    SkillState {
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        state: "active".to_owned(),
        since: NOW.to_owned(),
        detail: None,
    }
}

fn conversation() -> NewConversation<'static> {
    NewConversation {
        id: "7c9e6679",
        at: NOW,
        folder: "/src/app",
        model: "small",
        title: "the release",
        parent: None,
    }
}

/// A database as the program of that version left it, with rows in the tables that it had.
fn old(folder: &TempDir, version: i64) -> PathBuf {
    let path = folder.path().join(format!("{version}.db"));
    let mut connection = Connection::open(&path).expect("a file");
    schema::migrate_to(&mut connection, version).expect("an old schema");
    connection
        .pragma_update(None, "journal_mode", "wal")
        .expect("a log");
    let held = OpenDatabase::take(&path, || Ok(())).expect("held");
    let store = Store::of(connection, &path, held);
    store.trust(Path::new("/src/app"), NOW).expect("a row");
    if version >= 2 {
        store.accept(&accepted("sha256:aa")).expect("a row");
    }
    if version >= 3 {
        store.approve(&[approval()]).expect("a row");
    }
    if version >= 4 {
        append_as_then(&store.connection);
    }
    if version >= 5 {
        store.set_state(&state()).expect("a row");
    }
    if (5..=8).contains(&version) {
        let sql = "INSERT INTO registry_cache VALUES ('key', x'00', NULL, 1, 60)";
        store.connection.execute(sql, []).expect("a row");
    }
    path
}

/// Two receipts, written as before acts had two entries.
fn append_as_then(connection: &Connection) {
    let mut previous = BEGINNING;
    for id in 1..=2 {
        let entry = receipt();
        let hash = chain::hash(id, &entry, None, &previous);
        let sql = "INSERT INTO receipts (id, at, skill, source, digest, act, detail, decision, ms, previous, hash)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'refused', 0, ?8, ?9)";
        let row = rusqlite::params![
            id,
            entry.at,
            entry.skill,
            entry.source,
            entry.digest,
            entry.act,
            entry.detail,
            previous,
            hash
        ];
        connection.execute(sql, row).expect("a row");
        let sql = "UPDATE receipts_head SET count = ?1, hash = ?2";
        let row = rusqlite::params![id, hash];
        connection.execute(sql, row).expect("an end");
        previous = hash;
    }
}

fn tables(store: &Store) -> Vec<(String, String)> {
    let sql = "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name";
    let mut statement = store.connection.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("rows").collect::<Result<_, _>>().expect("rows")
}

#[test]
fn every_earlier_version_keeps_its_rows() {
    let folder = TempDir::new().expect("a folder");
    let new = Store::open(&folder.path().join("new.db")).expect("a new store");
    for version in 1..schema::newest() {
        let path = old(&folder, version);
        for _ in 0..2 {
            let store = Store::open(&path).expect("migrated");
            let reached = schema::version(&store.connection).expect("a version");
            assert_eq!(reached, schema::newest(), "from {version}");
            assert_eq!(tables(&store), tables(&new), "from {version}");
            assert!(
                store
                    .trusted_by(Path::new("/src/app"))
                    .expect("kept")
                    .is_some()
            );
            let trusts = |root: &str| {
                let root = Path::new(root);
                store.trusts_root(root, root, &["skills"]).expect("a table")
            };
            assert!(trusts("/src/app/skills"), "from {version}");
            assert!(!trusts("/src/app/sub/skills"), "from {version}");
            let found = store.accepted("sha256:aa").expect("a table");
            assert_eq!(found.is_some(), version >= 2, "from {version}");
            let found = store.all_approvals().expect("a table");
            assert_eq!(found.len(), usize::from(version >= 3), "from {version}");
            let count = if version >= 4 { 2 } else { 0 };
            let whole = Verified::Whole { count };
            assert_eq!(store.verify().expect("a chain"), whole, "from {version}");
            let expected = (version >= 5).then(state);
            let found = store.state("deploy", "user").expect("a table");
            assert_eq!(found, expected, "from {version}");
            assert_eq!(store.conversations(None, 9).expect("a table"), []);
        }
    }
}

/// Up to version 11 a denial was about its own bytes, and a later approval of other bytes left it in the database.
#[test]
fn a_denial_that_was_replaced_by_an_approval_does_not_return() {
    let folder = TempDir::new().expect("a folder");
    let path = old(&folder, 11);
    let connection = Connection::open(&path).expect("the file");
    for (source, permission, digest, answer) in [
        ("user", "net:fetch(a.io)", "v1", "denied"),
        ("user", "net:fetch(a.io)", "v2", "allowed"),
        // The later answer is no.
        ("user", "net:fetch(b.io)", "v1", "allowed"),
        ("user", "net:fetch(b.io)", "v2", "denied"),
        // The approval is about a skill of another source.
        ("user", "net:fetch(c.io)", "v1", "denied"),
        ("project", "net:fetch(c.io)", "v2", "allowed"),
    ] {
        let sql = "INSERT INTO permission_approvals (skill, source, permission, digest, answer, decided_at, decided_by)
                   VALUES ('fetch', ?1, ?2, ?3, ?4, ?5, 'terminal')";
        let row = rusqlite::params![source, permission, digest, answer, NOW];
        connection.execute(sql, row).expect("a row");
    }
    drop(connection);
    let store = Store::open(&path).expect("migrated");
    let found = store.approvals("fetch", "user", "v2").expect("a table");
    let found: Vec<(&str, ApprovalDecision)> = found
        .iter()
        .map(|one| (one.permission.as_str(), one.decision))
        .collect();
    let expected = [
        ("net:fetch(a.io)", ApprovalDecision::Allowed),
        ("net:fetch(b.io)", ApprovalDecision::Denied),
        ("net:fetch(c.io)", ApprovalDecision::Denied),
    ];
    assert_eq!(found, expected);
}

#[test]
fn tables_that_came_later_can_be_used() {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&old(&folder, 1)).expect("migrated");
    store
        .accept(&accepted("sha256:bb"))
        .expect("a table of version 2");
    store.approve(&[approval()]).expect("a table of version 3");
    store.append(&[receipt()]).expect("tables of version 4");
    let found = store.state("deploy", "user");
    assert_eq!(found.expect("a table of version 5"), None);
    store
        .begin_conversation(&conversation())
        .expect("tables of version 6");
    let count = store.append_lines("7c9e6679", 0, NOW, &["{}"]);
    assert_eq!(count.expect("tables of version 6"), 1);
}

#[test]
fn many_migrate_one_database_at_once() {
    let folder = TempDir::new().expect("a folder");
    let path = old(&folder, 2);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::open(&path).map(drop).expect("migrated"));
        }
    });
    let store = Store::open(&path).expect("opened");
    assert!(store.accepted("sha256:aa").expect("a row").is_some());
}

#[test]
fn a_migration_that_fails_leaves_the_old_version() {
    let folder = TempDir::new().expect("a folder");
    let path = old(&folder, 2);
    let connection = Connection::open(&path).expect("the file");
    // Conflicts with the second table of version 3.
    connection
        .execute_batch("CREATE TABLE approved_files (x)")
        .expect("a table");
    drop(connection);
    Store::open(&path).map(drop).expect_err("can't migrate");
    let connection = Connection::open(&path).expect("the file");
    assert_eq!(schema::version(&connection).expect("a version"), 2);
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'permission_approvals'";
    let count: i64 = connection
        .query_row(sql, [], |row| row.get(0))
        .expect("a count");
    assert_eq!(count, 0, "half a version");
}
