//! Changes that are complete, whenever the process dies.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, abort},
    sync::atomic::{AtomicUsize, Ordering},
};

use metier_hub::{Change, ChangeError, NewContent, TransactionChanges};
use metier_package::{PackageFile, PackagePath, PackageTree};
use metier_testkit::patience::wait_for;

fn tree(files: &[(&str, &str)]) -> PackageTree {
    let files = files.iter().map(|(path, content)| PackageFile {
        path: PackagePath::new(path.as_bytes()).unwrap(),
        bytes: content.as_bytes().to_vec(),
    });
    PackageTree::new(files.collect()).unwrap()
}

fn skill(version: &str) -> NewContent {
    NewContent::Tree(tree(&[
        ("SKILL.md", &format!("version {version}")),
        ("scripts/run.sh", version),
    ]))
}

/// All files below a folder, with their content; links with their targets.
fn listing(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let shown = path.strip_prefix(folder).unwrap().display().to_string();
            let kind = path.symlink_metadata().unwrap().file_type();
            if kind.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                lines.push(format!("{shown} -> {}", target.display()));
            } else if kind.is_dir() {
                todo.push(path);
            } else {
                lines.push(format!("{shown}: {}", fs::read_to_string(&path).unwrap()));
            }
        }
    }
    lines.sort();
    lines
}

/// A home with skills, and the folder of changes.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("skills")).unwrap();
        Self { folder }
    }

    fn skills(&self) -> PathBuf {
        self.folder.path().join("skills")
    }

    fn changes(&self) -> TransactionChanges {
        opened(self.folder.path())
    }

    fn listing(&self) -> Vec<String> {
        listing(&self.skills())
    }
}

/// Installs `pdf` in a new version, removes `old`, writes the lock and a link: all kinds of steps.
/// A child that another test starts holds the lock for the moment between fork and exec.
fn opened(folder: &Path) -> TransactionChanges {
    let folder = folder.join("changes");
    wait_for("the lock", || match TransactionChanges::open(&folder) {
        Err(ChangeError::Busy) => None,
        opened => Some(opened.unwrap()),
    })
}

fn update(
    changes: &TransactionChanges,
    skills: &Path,
    version: &str,
) -> Result<Change, ChangeError> {
    let mut transaction = changes.begin(&format!("update to {version}"), "now")?;
    transaction.set(&skills.join("pdf"), skill(version))?;
    transaction.set(&skills.join("old"), NewContent::Absent)?;
    transaction.set(&skills.join("added"), skill(version))?;
    let lock = NewContent::File(version.as_bytes().to_vec());
    transaction.set(&skills.join("metier.lock"), lock)?;
    transaction.set(&skills.join("link"), NewContent::Link("pdf".into()))?;
    transaction.commit()
}

/// The state before the interrupted update.
fn before(home: &Home) {
    let changes = home.changes();
    let mut first = changes.begin("install", "then").unwrap();
    first.set(&home.skills().join("pdf"), skill("1")).unwrap();
    first.set(&home.skills().join("old"), skill("1")).unwrap();
    let lock = NewContent::File(b"1".to_vec());
    first.set(&home.skills().join("metier.lock"), lock).unwrap();
    first.commit().unwrap();
}

#[test]
fn a_change_happens_and_is_undone_byte_for_byte() {
    let home = Home::new();
    before(&home);
    let old = home.listing();
    let changes = home.changes();
    let change = update(&changes, &home.skills(), "2").unwrap();
    assert_eq!(
        home.listing(),
        [
            "added/SKILL.md: version 2",
            "added/scripts/run.sh: 2",
            "link -> pdf",
            "metier.lock: 2",
            "pdf/SKILL.md: version 2",
            "pdf/scripts/run.sh: 2",
        ]
    );
    assert_eq!(changes.list().unwrap()[0], change);
    changes.undo(&change, "later").unwrap();
    assert_eq!(home.listing(), old);
    let left: Vec<String> = changes
        .list()
        .unwrap()
        .into_iter()
        .map(|change| change.title)
        .collect();
    assert_eq!(left, ["install"]);
    let first = changes.list().unwrap().remove(0);
    changes.undo(&first, "later").unwrap();
    assert!(home.listing().is_empty());
    assert!(changes.list().unwrap().is_empty());
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let home = Home::new();
    before(&home);
    let changes = home.changes();
    let first = changes.list().unwrap().remove(0);
    update(&changes, &home.skills(), "2").unwrap();
    let error = changes.undo(&first, "later").unwrap_err();
    assert!(matches!(error, ChangeError::ChangedSince(_)), "{error}");
}

#[test]
fn what_is_not_committed_never_happened() {
    let home = Home::new();
    before(&home);
    let old = home.listing();
    let changes = home.changes();
    let mut transaction = changes.begin("update", "now").unwrap();
    transaction
        .set(&home.skills().join("pdf"), skill("2"))
        .unwrap();
    let twice = transaction.set(&home.skills().join("pdf"), skill("3"));
    assert!(matches!(twice, Err(ChangeError::Twice(_))));
    drop(transaction);
    assert_eq!(home.listing(), old);
    assert_eq!(changes.list().unwrap().len(), 1);
}

#[test]
fn a_place_that_can_not_be_written_changes_nothing() {
    let home = Home::new();
    before(&home);
    let old = home.listing();
    let changes = home.changes();
    let mut transaction = changes.begin("update", "now").unwrap();
    transaction
        .set(&home.skills().join("pdf"), skill("2"))
        .unwrap();
    let missing = transaction.set(&home.skills().join("no/such/folder"), skill("2"));
    assert!(matches!(missing, Err(ChangeError::Os { .. })));
    drop(transaction);
    assert_eq!(home.listing(), old);
}

#[test]
fn only_one_process_changes_skills() {
    let home = Home::new();
    let _first = home.changes();
    let second = TransactionChanges::open(&home.folder.path().join("changes"));
    assert!(matches!(second, Err(ChangeError::Busy)));
}

/// Undoing is a change too, and does not use up the history.
#[test]
fn what_was_undone_leaves_room_for_what_can_be() {
    let home = Home::new();
    before(&home);
    let changes = home.changes();
    for number in 2..=15 {
        let change = update(&changes, &home.skills(), &number.to_string()).unwrap();
        changes.undo(&change, "later").unwrap();
    }
    let left = changes.list().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    changes.undo(&left[0], "later").unwrap();
    assert!(home.listing().is_empty());
}

#[test]
fn the_oldest_changes_are_forgotten() {
    let home = Home::new();
    let changes = home.changes();
    for version in 0..30 {
        let mut transaction = changes.begin(&version.to_string(), "now").unwrap();
        transaction
            .set(&home.skills().join("pdf"), skill(&version.to_string()))
            .unwrap();
        transaction.commit().unwrap();
    }
    assert_eq!(changes.list().unwrap().len(), 20);
    let kept = fs::read_dir(home.folder.path().join("changes/kept")).unwrap();
    assert_eq!(kept.count(), 20);
}

/// Where the child must die, and how.
const DIE_AT: &str = "METIER_HUB_DIE_AT";
const FOLDER: &str = "METIER_HUB_FOLDER";

static PASSED: AtomicUsize = AtomicUsize::new(0);

fn die_there(_: &'static str) {
    let at: usize = env::var(DIE_AT).unwrap().parse().unwrap();
    if PASSED.fetch_add(1, Ordering::Relaxed) == at {
        abort();
    }
}

/// The update in a process that dies at a checkpoint; returns whether it did.
fn dies(home: &Home, at: usize, simple: bool) -> bool {
    let child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "changes::an_update_that_dies",
            "--ignored",
            "--nocapture",
        ])
        .env(DIE_AT, at.to_string())
        .env(FOLDER, home.folder.path())
        .env("METIER_HUB_SIMPLE", if simple { "1" } else { "" })
        .output()
        .unwrap();
    !child.status.success()
}

#[test]
#[ignore = "run by the test below"]
fn an_update_that_dies() {
    let folder = env::var_os(FOLDER).map(PathBuf::from).unwrap();
    let mut changes =
        TransactionChanges::with_checkpoint(&folder.join("changes"), die_there).unwrap();
    if env::var("METIER_HUB_SIMPLE").unwrap() == "1" {
        changes = changes.without_exchange();
    }
    update(&changes, &folder.join("skills"), "2").unwrap();
}

// case 39
#[test]
fn a_process_that_dies_anywhere_leaves_the_old_or_the_new() {
    for simple in [false, true] {
        let mut at = 0;
        let mut seen = [0, 0];
        loop {
            let home = Home::new();
            before(&home);
            let old = home.listing();
            let died = dies(&home, at, simple);
            let changes = home.changes();
            let now = home.listing();
            let is_new = now.iter().any(|line| line == "metier.lock: 2");
            seen[usize::from(is_new)] += 1;
            if is_new {
                assert_eq!(now.len(), 6, "{at}: {now:#?}");
                assert!(now.iter().all(|line| !line.contains(".metier-")), "{now:?}");
                let last = changes.list().unwrap().remove(0);
                changes.undo(&last, "later").unwrap();
                assert_eq!(home.listing(), old, "{at}");
            } else {
                assert_eq!(now, old, "{at}");
            }
            if !died {
                break;
            }
            at += 1;
        }
        assert!(seen[0] > 5 && seen[1] > 5, "{seen:?}");
    }
}

/// At the second place of a change, its new content is gone: the place can't be exchanged.
fn lose_the_second(step: &'static str) {
    static EXCHANGES: AtomicUsize = AtomicUsize::new(0);
    if step == "exchange" && EXCHANGES.fetch_add(1, Ordering::Relaxed) == 2 {
        let skills = env::var_os(FOLDER).map(PathBuf::from).unwrap();
        fs::remove_dir_all(skills.join("skills/.metier-2-2")).unwrap();
    }
}

#[test]
#[ignore = "run by the test below"]
fn an_update_that_can_not_be_completed() {
    let folder = env::var_os(FOLDER).map(PathBuf::from).unwrap();
    let changes =
        TransactionChanges::with_checkpoint(&folder.join("changes"), lose_the_second).unwrap();
    let error = update(&changes, &folder.join("skills"), "2").unwrap_err();
    assert!(matches!(error, ChangeError::Os { .. }), "{error:?}");
}

// case 39
#[test]
fn a_change_that_fails_half_way_is_put_back() {
    let home = Home::new();
    before(&home);
    let old = home.listing();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "changes::an_update_that_can_not_be_completed"]);
    child.args(["--ignored", "--nocapture"]);
    let output = child.env(FOLDER, home.folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.listing(), old);
    // It does not happen later either.
    assert_eq!(home.changes().list().unwrap().len(), 1);
    assert_eq!(home.listing(), old);
}

#[test]
#[ignore = "run by the test below"]
fn updates_until_killed() {
    let folder = env::var_os(FOLDER).map(PathBuf::from).unwrap();
    let changes = opened(&folder);
    for version in 2.. {
        update(&changes, &folder.join("skills"), &version.to_string()).unwrap();
    }
}

// case 39
#[test]
fn a_process_that_is_killed_at_any_time_leaves_nothing_staged() {
    for round in 0..40 {
        let home = Home::new();
        before(&home);
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "changes::updates_until_killed", "--ignored"]);
        child
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let mut child = child.env(FOLDER, home.folder.path()).spawn().unwrap();
        wait_for("the first update", || {
            let now = fs::read_to_string(home.skills().join("metier.lock"));
            now.is_ok_and(|now| now != "1").then_some(())
        });
        std::thread::sleep(std::time::Duration::from_micros(round * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(home.changes());
        let now = home.listing();
        let lock = now
            .iter()
            .find_map(|line| line.strip_prefix("metier.lock: "));
        let version = lock.unwrap();
        assert_eq!(
            now,
            [
                format!("added/SKILL.md: version {version}"),
                format!("added/scripts/run.sh: {version}"),
                "link -> pdf".to_owned(),
                format!("metier.lock: {version}"),
                format!("pdf/SKILL.md: version {version}"),
                format!("pdf/scripts/run.sh: {version}"),
            ],
            "round {round}"
        );
    }
}

/// A record of a begun change is synced later than it is written: after a power loss it can be empty.
// case 39
#[test]
fn a_begun_record_that_is_cut_off_means_that_nothing_happened() {
    for text in ["", "{\"id\": 2,"] {
        let home = Home::new();
        before(&home);
        let old = home.listing();
        let begun = home.folder.path().join("changes/begun/2.json");
        fs::write(&begun, text).unwrap();
        let staged = home.skills().join(".metier-2-0");
        fs::create_dir(&staged).unwrap();
        let changes = home.changes();
        assert!(!begun.exists());
        // The next change has the same number, and removes the remaining files.
        let change = update(&changes, &home.skills(), "2").unwrap();
        assert!(!staged.exists());
        changes.undo(&change, "now").unwrap();
        assert_eq!(home.listing(), old);
    }
}
