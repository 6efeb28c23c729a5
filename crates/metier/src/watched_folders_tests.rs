//! What is watched: the records, what the digest of a skill covers, under every name, and no more than the limit.

use metier_store::{ReceiptFilter, Store};

use super::*;

/// A daemon reads the records whenever they change: if reading were a change, it would never rest.
#[test]
fn reading_the_records_is_not_a_change_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("metier.db");
    let kept = Store::open(&path).unwrap();
    kept.trust(folder.path(), "2026-01-01T00:00:00Z").unwrap();
    let mut watched = WatchedFolders::new().unwrap();
    let log = path.with_extension("db-wal");
    let places = WatchedPlaces {
        records: [path.clone(), log.clone()].into(),
        ..WatchedPlaces::default()
    };
    watched.follow(places).unwrap();
    // The calls that SQLite makes to read.
    let file = fs::File::options().write(true).open(&log).unwrap();
    std::os::unix::fs::fchown(&file, None, None).unwrap();
    drop(file);
    let again = Store::open(&path).unwrap();
    again.receipts(ReceiptFilter::default()).unwrap();
    drop(again);
    assert_eq!(watched.look().0, WatchedChanges::none());
    kept.trust(&path, "2026-01-01T00:00:00Z").unwrap();
    assert!(watched.look().0.records);
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

// case 236, 151
#[test]
fn what_the_digest_of_a_skill_covers_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |path: &str| root.join(path);
    let deep = format!("skills/a/{}/x", vec!["d"; MAX_DEPTH].join("/"));
    let covered = [
        "skills/a/x",
        "skills/a/node_modules/x/index.js",
        "skills/a/vendor/.git/hooks/x",
        "skills/a/vendor/node_modules/x",
        "skills/a/inner/SKILL.md",
        "skills/a/inner/.git/x",
        "skills/a/shared",
        &deep,
    ];
    let ignored = ["skills/a/.git/x", "skills/node_modules/a/x"];
    let look = |watched: &mut WatchedFolders| {
        let (changes, done) = watched.look();
        done.unwrap();
        changes.any
    };
    // Watched as it is found, and as it appears; its manifest last.
    for is_late in [false, true] {
        let mut watched = WatchedFolders::new().unwrap();
        let places = WatchedPlaces {
            whole: [at("skills")].into(),
            ..WatchedPlaces::default()
        };
        if is_late {
            fs::remove_dir_all(at("skills")).unwrap();
            fs::create_dir(at("skills")).unwrap();
            watched.follow(places.clone()).unwrap();
        }
        for file in covered.iter().chain(&ignored) {
            write(&at(file), "1");
            if is_late {
                look(&mut watched);
            }
        }
        let other = root.join(format!("other-{is_late}"));
        fs::hard_link(at("skills/a/shared"), &other).unwrap();
        write(&at("skills/a/SKILL.md"), "1");
        match is_late {
            true => assert!(look(&mut watched)),
            false => watched.follow(places).unwrap(),
        }
        assert!(!look(&mut watched));
        for file in covered {
            write(&at(file), "2");
            assert!(look(&mut watched), "{file}, {is_late}");
            assert!(!look(&mut watched), "{file}, {is_late}");
        }
        write(&other, "3");
        assert!(look(&mut watched), "{is_late}");
        for file in ignored {
            write(&at(file), "2");
            assert!(!look(&mut watched), "{file}, {is_late}");
        }
    }
}

/// The list is kept before the file gets its other name: only the file itself reports that, and what is written through it.
// case 236
#[test]
fn a_name_that_a_file_gets_later_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |path: &str| root.join(path);
    let (manifest, script) = (at("skills/a/SKILL.md"), at("skills/a/scripts/x"));
    write(&manifest, "1");
    write(&script, "1");
    let mut watched = WatchedFolders::new().unwrap();
    let places = WatchedPlaces {
        whole: [at("skills")].into(),
        ..WatchedPlaces::default()
    };
    watched.follow(places).unwrap();
    let mut look = || {
        let (changes, done) = watched.look();
        done.unwrap();
        changes
    };
    for (file, other) in [(&manifest, at("other.md")), (&script, at("other"))] {
        fs::hard_link(file, &other).unwrap();
        look();
        assert_eq!(look(), WatchedChanges::none());
        write(&other, "2");
        assert!(look().any, "{}", file.display());
        // Linked and written at once.
        let another = other.with_extension("another");
        fs::hard_link(file, &another).unwrap();
        write(&another, "3");
        fs::remove_file(&another).unwrap();
        assert!(look().any, "{}", file.display());
        fs::remove_file(&other).unwrap();
        look();
    }
    // Moved away, a file belongs to no skill; what replaces it does.
    fs::rename(&script, at("gone")).unwrap();
    assert!(look().any);
    write(&at("gone"), "4");
    look();
    write(&at("gone"), "5");
    assert_eq!(look(), WatchedChanges::none());
    write(&script, "6");
    look();
    fs::hard_link(&script, at("late")).unwrap();
    look();
    write(&at("late"), "7");
    assert!(look().any);
}

#[test]
fn the_number_of_watches_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root.join("a/SKILL.md"), "1");
    let mut watched = WatchedFolders::new().unwrap();
    watched.max_watches = 4;
    let places = WatchedPlaces {
        whole: [root.clone()].into(),
        ..WatchedPlaces::default()
    };
    watched.follow(places).unwrap();
    write(&root.join("a/x"), "1");
    watched.look().1.unwrap();
    write(&root.join("a/y"), "1");
    assert_eq!(watched.look().1, Err(Unwatched::TooMany));
}

/// Where each event that is read causes another one, reading ends nevertheless, and the rest is there the next time.
#[test]
fn a_program_that_never_stops_writing_does_not_hold_the_reader() {
    let folder = tempfile::tempdir().unwrap();
    let file = |number: usize| folder.path().join(number.to_string());
    let queue = inotify::init(CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&queue, folder.path(), WatchFlags::CREATE).unwrap();
    let mut written = 0;
    let mut write = || {
        fs::write(file(written), "").unwrap();
        written += 1;
    };
    (0..100).for_each(|_| write());
    let mut read = 0;
    for_each_waiting(queue.as_fd(), |_| {
        read += 1;
        assert!(read < 10_000, "it reads for as long as there are events");
        write();
    });
    assert!(read >= 100, "{read}");
    for_each_waiting(queue.as_fd(), |_| read += 1);
    assert_eq!(read, written);
}
