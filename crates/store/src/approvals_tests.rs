//! An approval covers exactly its permission, and a single-use grant works once.

use std::process::Stdio;
use std::thread;

use tempfile::TempDir;

use crate::approvals::files_of;
use crate::{Approval, ApprovalDecision, ApprovedFile, SingleUse, Store, StoreError, rerun};

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

/// A decision about `skill source digest permission`.
fn answer(question: &str, decision: ApprovalDecision) -> Approval {
    let mut words = question.splitn(4, ' ').map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    Approval {
        skill: next(),
        source: next(),
        digest: next(),
        permission: next(),
        decision,
        at: "2026-01-31T09:00:00Z".to_owned(),
        by: "terminal".to_owned(),
    }
}

fn allowed(question: &str) -> Approval {
    answer(question, ApprovalDecision::Allowed)
}

fn file(path: &str, digest: &str) -> ApprovedFile {
    ApprovedFile {
        path: path.to_owned(),
        digest: digest.to_owned(),
        size: 7,
    }
}

fn remembered(store: &Store, skill: &str, digest: &str) -> Vec<ApprovedFile> {
    files_of(&store.connection, skill, "user", digest).unwrap()
}

fn grant() -> SingleUse {
    SingleUse {
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        permission: "shell:exec(git *)".to_owned(),
        digest: "sha256:aa".to_owned(),
    }
}

// case 123, 124
#[test]
fn an_answer_holds_for_its_skill_source_and_bytes() {
    let (_folder, store) = store();
    let rows = [
        allowed("deploy user sha256:aa net:fetch(x)"),
        allowed("deploy user sha256:aa shell:exec(git *)"),
    ];
    store.approve(&rows).unwrap();
    assert_eq!(
        store.approvals("deploy", "user", "sha256:aa").unwrap(),
        rows
    );
    for (skill, source, digest) in [
        ("deploy", "user", "sha256:ab"),
        ("deploy", "project", "sha256:aa"),
        ("Deploy", "user", "sha256:aa"),
        ("deplo_", "user", "sha256:aa"),
        ("deploy\0", "user", "sha256:aa"),
        ("deploy", "user", ""),
        ("deploy", "user", "%"),
    ] {
        let found = store.approvals(skill, source, digest).unwrap();
        assert_eq!(found, [], "{skill} {source} {digest}");
    }
}

/// The author of a skill decides about its bytes, and so must not decide about the user's denials.
// case 213
#[test]
fn a_denial_holds_for_all_bytes_until_the_user_changes_it() {
    let (_folder, store) = store();
    let push = "shell:exec(git push *)";
    let of = |digest: &str, decision| answer(&format!("deploy user {digest} {push}"), decision);
    let found = |source: &str, digest: &str| store.approvals("deploy", source, digest).unwrap();
    let denied = of("sha256:aa", ApprovalDecision::Denied);
    store.approve(std::slice::from_ref(&denied)).unwrap();
    assert_eq!(found("user", "sha256:bb"), std::slice::from_ref(&denied));
    assert_eq!(found("project", "sha256:aa"), []);
    let other = allowed("deploy user sha256:bb shell:exec(git *)");
    store.approve(std::slice::from_ref(&other)).unwrap();
    assert_eq!(found("user", "sha256:bb"), [other.clone(), denied]);

    let allowed = of("sha256:bb", ApprovalDecision::Allowed);
    store.approve(std::slice::from_ref(&allowed)).unwrap();
    assert_eq!(found("user", "sha256:bb"), [other, allowed]);
    assert_eq!(found("user", "sha256:aa"), []);
    assert_eq!(found("user", "sha256:cc"), []);
}

#[test]
fn a_nul_does_not_end_a_text() {
    let (_folder, store) = store();
    let row = allowed("deploy user sha256:aa shell:exec(a\0b)");
    store.approve(std::slice::from_ref(&row)).unwrap();
    assert_eq!(
        store.approvals("deploy", "user", "sha256:aa").unwrap(),
        [row]
    );
    let revoked = store.revoke_approvals("deploy", None, Some("shell:exec(a"));
    assert_eq!(revoked.unwrap(), 0);
}

#[test]
fn the_last_answer_counts() {
    let (_folder, store) = store();
    let question = "deploy user sha256:aa shell:exec";
    for decision in [ApprovalDecision::Allowed, ApprovalDecision::Denied] {
        store.approve(&[answer(question, decision)]).unwrap();
    }
    let found = store.approvals("deploy", "user", "sha256:aa").unwrap();
    assert_eq!(found, [answer(question, ApprovalDecision::Denied)]);
}

#[test]
fn an_incomplete_answer_is_refused_with_all_that_came_with_it() {
    let (_folder, store) = store();
    let whole = allowed("deploy user sha256:aa shell:exec");
    for field in ["skill", "source", "permission", "digest"] {
        let mut row = whole.clone();
        match field {
            "skill" => row.skill.clear(),
            "source" => row.source.clear(),
            "permission" => row.permission.clear(),
            _ => row.digest.clear(),
        }
        let error = store.approve(&[whole.clone(), row]).unwrap_err();
        assert!(matches!(error, StoreError::Incomplete { field: found } if found == field));
    }
    assert_eq!(store.all_approvals().unwrap(), []);
}

#[test]
fn the_bytes_that_were_allowed_last_can_be_compared() {
    let (_folder, store) = store();
    let old = [file("SKILL.md", "sha256:1"), file("run.sh", "sha256:2")];
    let first = [
        allowed("deploy user sha256:v1 net:fetch"),
        allowed("deploy user sha256:v1 shell:exec"),
    ];
    store.approve_with_files(&first, &old).unwrap();
    let denied = answer("deploy user sha256:v2 env:read", ApprovalDecision::Denied);
    let new = [file("SKILL.md", "sha256:3")];
    store
        .approve_with_files(std::slice::from_ref(&denied), &new)
        .unwrap();
    let other = allowed("deploy project sha256:v9 env:read");
    store.approve(std::slice::from_ref(&other)).unwrap();

    let earlier = |digest| store.earlier_approval("deploy", "user", digest).unwrap();
    let found = earlier("sha256:v3").expect("what was allowed");
    assert_eq!(found.digest, "sha256:v1");
    assert_eq!(found.approvals, first);
    assert_eq!(found.files, old);
    assert_eq!(earlier("sha256:v1"), None, "nothing earlier was allowed");
    assert_eq!(remembered(&store, "deploy", "sha256:v2"), new);

    let [one, two] = first;
    let all = store.all_approvals().unwrap();
    assert_eq!(all, [other, denied, two, one]);
}

#[test]
fn the_order_is_that_of_the_answers_and_not_of_the_clocks() {
    let (_folder, store) = store();
    for (digest, at) in [("v1", "2030"), ("v2", "2020"), ("v1", "2010")] {
        let mut row = allowed(&format!("deploy user {digest} shell:exec"));
        row.at = at.to_owned();
        store.approve(&[row]).unwrap();
    }
    let found = store.earlier_approval("deploy", "user", "v3").unwrap();
    assert_eq!(found.unwrap().digest, "v1");
}

#[test]
fn revoking_takes_back_one_permission_or_all() {
    let (_folder, store) = store();
    let rows = [
        allowed("deploy user v1 shell:exec(git *)"),
        allowed("deploy user v1 shell:exec"),
        allowed("deploy user v2 shell:exec"),
        allowed("deploy project v1 shell:exec"),
        allowed("deployer user v1 shell:exec"),
    ];
    let files = [file("SKILL.md", "sha256:1")];
    store.approve_with_files(&rows, &files).unwrap();
    store.grant_once(&grant(), "n1", 100).unwrap();
    let left = |digest| remembered(&store, "deploy", digest);
    assert_eq!((left("v1").len(), left("v2").len()), (1, 1));

    let revoke = |permission| store.revoke_approvals("deploy", None, permission).unwrap();
    assert_eq!(revoke(Some("shell")), 0);
    assert_eq!(revoke(Some("shell:exec")), 3);
    assert_eq!((left("v1").len(), left("v2").len()), (1, 0));
    assert_eq!(revoke(None), 2, "one answer, and what was not used");
    assert_eq!(revoke(None), 0);
    assert!(!store.consume_once("n1", 1).unwrap());
    assert_eq!(left("v1"), []);
    let [.., deployer] = rows;
    assert_eq!(store.all_approvals().unwrap(), [deployer]);
    assert_eq!(remembered(&store, "deployer", "v1").len(), 1);
}

// case 213
#[test]
fn a_revocation_for_one_source_leaves_the_others() {
    let (_folder, store) = store();
    let of = |source: &str| {
        let question = format!("deploy {source} v1 shell:exec");
        answer(&question, ApprovalDecision::Denied)
    };
    store.approve(&[of("user"), of("project")]).unwrap();
    store.grant_once(&grant(), "n1", 100).unwrap();
    let revoke = |source| store.revoke_approvals("deploy", source, None).unwrap();
    assert_eq!(revoke(Some("project")), 1);
    assert_eq!(store.all_approvals().unwrap(), [of("user")]);
    assert_eq!(revoke(Some("extra")), 0);
    assert_eq!(revoke(None), 2, "the answer, and what was not used");
}

// case 98, 125
#[test]
fn once_is_once_and_only_in_time() {
    let (_folder, store) = store();
    store.grant_once(&grant(), "n1", 100).unwrap();
    store.grant_once(&grant(), "n2", 200).unwrap();
    assert!(!store.consume_once("n0", 1).unwrap());
    assert!(store.consume_once("n1", 99).unwrap());
    assert!(!store.consume_once("n1", 99).unwrap(), "a second time");
    assert!(
        !store.consume_once("n1", 1).unwrap(),
        "with a clock set back"
    );
    let error = store.grant_once(&grant(), "n1", 1000).unwrap_err();
    assert!(matches!(error, StoreError::NonceUsed));
    assert!(!store.consume_once("n1", 99).unwrap());
    assert!(!store.consume_once("n2", 200).unwrap(), "too late");
    assert!(!store.consume_once("n2", 199).unwrap(), "it is gone");
    let approvals = store.approvals("deploy", "user", "sha256:aa").unwrap();
    assert_eq!(approvals, [], "once never becomes always");
}

#[test]
fn expired_grants_are_removed() {
    let (_folder, store) = store();
    let left = || {
        let sql = "SELECT group_concat(nonce, ' ') FROM single_use_grants ORDER BY nonce";
        let read = |row: &rusqlite::Row<'_>| row.get::<_, Option<String>>(0);
        store.connection.query_row(sql, [], read).unwrap()
    };
    for (nonce, expires_at) in [("used", 100), ("unused", 100), ("later", 200)] {
        store.grant_once(&grant(), nonce, expires_at).unwrap();
    }
    assert!(store.consume_once("used", 99).unwrap());
    assert_eq!(left().as_deref(), Some("later unused used"));
    assert!(store.consume_once("later", 100).unwrap());
    assert_eq!(left().as_deref(), Some("later"));
    assert!(!store.consume_once("none", 200).unwrap());
    assert_eq!(left(), None);
}

#[test]
fn what_is_granted_once_is_granted_for_something() {
    let (_folder, store) = store();
    let nothing = SingleUse {
        digest: String::new(),
        ..grant()
    };
    let error = store.grant_once(&nothing, "n1", 100).unwrap_err();
    assert!(matches!(error, StoreError::Incomplete { field: "digest" }));
    let error = store.grant_once(&grant(), "", 100).unwrap_err();
    assert!(matches!(error, StoreError::Incomplete { field: "nonce" }));
}

// case 125
#[test]
fn one_of_many_threads_wins() {
    let (_folder, store) = store();
    for number in 0..25 {
        let nonce = format!("n{number}");
        store.grant_once(&grant(), &nonce, 100).unwrap();
    }
    let path = store.path();
    let wins = |store: &Store| {
        (0..25)
            .filter(|number| store.consume_once(&format!("n{number}"), 1).unwrap())
            .count()
    };
    let won: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| wins(&Store::open(path).unwrap())))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(won, 25);
}

/// The work of each process.
fn take_all(store: &Store) {
    for number in 0..25 {
        if store.consume_once(&format!("n{number}"), 1).unwrap() {
            println!("\nwon n{number}");
        }
    }
}

// case 125
#[test]
fn one_of_many_processes_wins() {
    if let Some((path, _)) = rerun::role() {
        return take_all(&Store::open(&path).unwrap());
    }
    let (_folder, store) = store();
    for number in 0..25 {
        let nonce = format!("n{number}");
        store.grant_once(&grant(), &nonce, 100).unwrap();
    }
    let name = "approvals_tests::one_of_many_processes_wins";
    let children: Vec<_> = (0..4)
        .map(|_| {
            rerun::process(name, store.path(), "")
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut won = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stdout).unwrap();
        let wins = said.lines().filter_map(|line| line.strip_prefix("won "));
        won.extend(wins.map(str::to_owned));
    }
    assert_eq!(won.len(), 25, "{won:?}");
    won.sort();
    won.dedup();
    assert_eq!(won.len(), 25);
}

#[test]
fn a_word_that_is_not_ours_is_damage_and_never_permission() {
    let (_folder, store) = store();
    store
        .approve(&[allowed("deploy user v1 env:read")])
        .unwrap();
    store
        .connection
        .execute_batch(
            "PRAGMA ignore_check_constraints = ON; UPDATE permission_approvals SET answer = 'Allowed'",
        )
        .unwrap();
    let error = store.approvals("deploy", "user", "v1").unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn an_answer_is_found_without_reading_all_answers() {
    let (_folder, store) = store();
    let sql = "EXPLAIN QUERY PLAN SELECT * FROM permission_approvals
               WHERE skill = 'a' AND source = 'b' AND digest = 'c' ORDER BY permission";
    let plan: String = store
        .connection
        .query_row(sql, [], |row| row.get(3))
        .unwrap();
    assert!(
        plan.ends_with("(skill=? AND source=? AND digest=?)"),
        "{plan}"
    );
}
