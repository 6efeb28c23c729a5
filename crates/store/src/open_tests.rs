//! Opening real files: permissions, files of other programs, damaged files.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::thread;

use rusqlite::Connection;
use tempfile::TempDir;

#[cfg(unix)]
use crate::rerun;
use crate::{Store, StoreError, schema};

const NOW: &str = "2026-01-31T09:00:00Z";

fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("data/metier/metier.db");
    (folder, path)
}

/// A database with rows in it and all of them in the main file.
fn filled(path: &Path) -> Vec<u8> {
    let store = Store::open(path).expect("a new store");
    for number in 0..500 {
        store
            .trust(
                Path::new(&format!("/src/{number}/{}", "x".repeat(100))),
                NOW,
            )
            .expect("a row");
    }
    drop(store);
    fs::read(path).expect("the file")
}

/// Opening must fail with an error that names the file and has a hint, and leave every byte unchanged.
fn check_refused(path: &Path) -> StoreError {
    let listing = || {
        let entries = fs::read_dir(path.parent().expect("a folder")).expect("a listing");
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        files
            .into_iter()
            .map(|file| (fs::read(&file).unwrap_or_default(), file))
            .collect::<Vec<_>>()
    };
    let before = listing();
    let error = Store::open(path)
        .map(drop)
        .expect_err("opening should be refused");
    Store::open_existing(path).map(drop).expect_err("refused");
    assert_eq!(listing(), before, "{error}");
    let name = path.display().to_string();
    assert!(
        error.to_string().contains(&name) && error.hint().contains(&name),
        "{error} / {}",
        error.hint()
    );
    error
}

#[test]
fn readers_create_nothing() {
    let (folder, path) = place();
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(
        Store::open_existing(&folder.path().join("file/metier.db"))
            .unwrap()
            .is_none()
    );
    assert!(
        Store::open_existing(&folder.path().join("file"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let (_folder, path) = place();
    let store = Store::open(&path).unwrap();
    store.trust(Path::new("/src/app"), NOW).unwrap();
    assert_eq!(store.path(), path);
    drop(store);
    let store = Store::open_existing(&path).unwrap().expect("it exists");
    assert!(store.trusted_by(Path::new("/src/app")).unwrap().is_some());
    let pragma = |name| {
        store
            .connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(pragma("user_version"), schema::newest());
    assert_eq!(pragma("application_id"), i64::from(schema::APPLICATION_ID));
    assert_eq!(
        (
            pragma("foreign_keys"),
            pragma("busy_timeout"),
            pragma("synchronous")
        ),
        (1, 5000, 2)
    );
    let mode: String = store
        .connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}

#[cfg(unix)]
// case 106
#[test]
fn only_the_owner_can_look() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = place();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let store = Store::open(&path).unwrap();
    store.trust(Path::new("/src/app"), NOW).unwrap();
    assert_eq!(
        (
            mode(&folder.path().join("data")),
            mode(path.parent().unwrap())
        ),
        (0o700, 0o700)
    );
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(
            mode(Path::new(&format!("{}{suffix}", path.display()))),
            0o600,
            "{suffix}"
        );
    }
    drop(store);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = Store::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600, "a file from elsewhere is made private");
}

/// Without a umask, anything that is not restricted explicitly would be open to all.
#[cfg(unix)]
// case 106
#[test]
fn only_the_owner_can_look_even_without_a_mask() {
    use std::os::unix::fs::PermissionsExt;

    if let Some((path, _)) = rerun::role() {
        let store = Store::open(&path).unwrap();
        store.trust(Path::new("/src/app"), NOW).unwrap();
        // Without closing SQLite, so that its log stays.
        std::process::exit(42);
    }
    let (folder, path) = place();
    let child = rerun::process(
        "open_tests::only_the_owner_can_look_even_without_a_mask",
        &path,
        "",
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "umask 000 && exec \"$0\" \"$@\""])
        .arg(child.get_program())
        .args(child.get_args())
        .envs(
            child
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
    assert_eq!(shell.status().unwrap().code(), Some(42));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("data")), 0o700);
    let files: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        let expected = if file.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&file), expected, "{}", file.display());
    }
}

#[test]
fn other_files_are_not_ours() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let cases: [&[u8]; 5] = [&noise, b"hello", b"SQLite format 3\0", b"\0", b"SQLite format 3\0 and then something else entirely, long enough to be a header of a database, or so it seems"];
    for content in cases {
        fs::write(&path, content).unwrap();
        assert!(matches!(check_refused(&path), StoreError::NotOurs { .. }));
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

#[test]
fn the_database_of_another_program_is_not_ours() {
    for sql in [
        "CREATE TABLE t (x)",
        "CREATE TABLE t (x); PRAGMA application_id = 7",
        "PRAGMA journal_mode = wal; CREATE TABLE t (x)",
    ] {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert!(
            matches!(check_refused(&path), StoreError::NotOurs { .. }),
            "{sql}"
        );
    }
}

#[test]
fn a_truncated_database_is_an_error_and_stays_as_it_is() {
    let (_folder, path) = place();
    let whole = filled(&path);
    assert!(whole.len() > 3 * 4096);
    for length in [
        1,
        50,
        99,
        100,
        4095,
        4096,
        8192,
        whole.len() - 4096,
        whole.len() - 1,
    ] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = check_refused(&path);
        assert!(
            matches!(
                error,
                StoreError::NotOurs { .. } | StoreError::Damaged { .. }
            ),
            "{length}: {error:?}"
        );
        assert_eq!(fs::read(&path).unwrap(), &whole[..length], "{length}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(Store::open(&path).unwrap().trusted().unwrap().len(), 500);
}

// case 146
#[test]
fn damage_inside_is_found_when_it_is_read() {
    let (_folder, path) = place();
    drop(Store::open(&path).unwrap());
    let tables = fs::read(&path).unwrap().len();
    let mut whole = filled(&path);
    whole[tables..].fill(0xA5);
    fs::write(&path, &whole).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(matches!(
        store.trusted().unwrap_err(),
        StoreError::Damaged { .. }
    ));
    assert!(matches!(
        store.trusted_by(Path::new("/src/1")).unwrap_err(),
        StoreError::Damaged { .. }
    ));
    assert!(store.trust(Path::new("/src/new"), NOW).is_err());
}

#[test]
fn damage_of_the_tables_is_found_when_it_is_opened() {
    let (_folder, path) = place();
    let mut whole = filled(&path);
    whole[4096..].fill(0xA5);
    fs::write(&path, &whole).unwrap();
    assert!(matches!(check_refused(&path), StoreError::Damaged { .. }));
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_newer_database_is_an_error() {
    let (_folder, path) = place();
    filled(&path);
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", schema::newest() + 1)
        .unwrap();
    let error = check_refused(&path);
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    assert!(error.hint().starts_with("update metier"));
}

#[test]
fn a_folder_in_its_place_is_an_error() {
    let (_folder, path) = place();
    fs::create_dir_all(&path).unwrap();
    assert!(matches!(
        check_refused(&path),
        StoreError::Unreachable { .. }
    ));
}

#[test]
fn an_empty_file_is_a_new_database() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    Store::open(&path)
        .unwrap()
        .trust(Path::new("/src"), NOW)
        .unwrap();
}

#[test]
fn two_at_once_see_each_other() {
    let (_folder, path) = place();
    let (one, two) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
    one.trust(Path::new("/a"), NOW).unwrap();
    assert!(two.trusted_by(Path::new("/a")).unwrap().is_some());
    two.revoke(Path::new("/a")).unwrap();
    assert!(one.trusted_by(Path::new("/a")).unwrap().is_none());
}

#[test]
fn many_create_and_write_at_once() {
    let (_folder, path) = place();
    thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let store = Store::open(path).expect("opened");
                for number in 0..25 {
                    store
                        .trust(Path::new(&format!("/src/{writer}/{number}")), NOW)
                        .expect("written");
                }
            });
        }
    });
    assert_eq!(Store::open(&path).unwrap().trusted().unwrap().len(), 200);
}

#[test]
fn the_way_out_can_be_pasted_into_a_shell() {
    let hint = |path: &str| StoreError::NotOurs { path: path.into() }.hint();
    assert_eq!(
        hint("/d/metier.db"),
        "move it away, `mkdir /d/old && mv /d/metier.db* /d/old`, or set METIER_HOME to another folder"
    );
    assert!(hint("/my d/it's.db").contains(r"mv '/my d/it'\''s.db'* '/my d/old'"));
}
