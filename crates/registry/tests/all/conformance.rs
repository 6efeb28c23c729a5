//! The properties of every database and every store of packages. Each test gets a new, empty implementation from its constructor.

use metier_package::registry_api::{
    LoggedAction, RegistryFile, RegistryLogHead, RegistryRequirement, RegistryVersion,
};
use metier_registry::{
    BlobStore, FolderBlobs, RegistryDatabase, SqliteDatabase, StoredToken, StoredVersion,
    VersionState,
};

use crate::test_registry::NOW;

/// Creates an empty database in a folder. Creating it again there opens the same one.
type MakeDatabase = fn(&std::path::Path) -> Box<dyn RegistryDatabase>;
type MakeBlobs = fn(&std::path::Path) -> Box<dyn BlobStore>;

const DATABASES: &[MakeDatabase] =
    &[|folder| Box::new(SqliteDatabase::open(&folder.join("registry.db")).unwrap())];
const BLOBS: &[MakeBlobs] = &[|folder| Box::new(FolderBlobs::open(&folder.join("blobs")).unwrap())];

fn each_database(check: impl Fn(&dyn RegistryDatabase)) {
    for make in DATABASES {
        let folder = tempfile::tempdir().unwrap();
        check(&*make(folder.path()));
    }
}

fn version(name: &str, number: &str) -> StoredVersion {
    let digest = |letter: &str| format!("sha256:{}", letter.repeat(64));
    StoredVersion {
        public: RegistryVersion {
            name: name.to_owned(),
            version: number.to_owned(),
            description: format!("Describes {name} with words."),
            license: None,
            tags: vec!["office".to_owned()],
            archive: digest("a"),
            size: 1,
            flat_archive: digest("b"),
            tree: digest("c"),
            files: vec![RegistryFile {
                path: "SKILL.md".to_owned(),
                size: 1,
                digest: digest("d"),
            }],
            requires: vec![RegistryRequirement {
                name: "other".to_owned(),
                versions: "^1".to_owned(),
            }],
            permissions: vec!["file:read".to_owned()],
            verdict: "clean".to_owned(),
            signer: None,
            published_at: NOW.to_owned(),
            yanked: None,
        },
        state: VersionState::Served,
        signature: Some("signature\n".to_owned()),
        findings: Vec::new(),
    }
}

fn found(database: &dyn RegistryDatabase, words: &[&str]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let (found, total) = database.search(&words, 0, 100).unwrap();
    assert_eq!(found.len() as u64, total);
    let shown = |(_, version): &(String, StoredVersion)| {
        format!("{} {}", version.public.name, version.public.version)
    };
    found.iter().map(shown).collect()
}

#[test]
fn a_version_that_was_added_is_read_as_it_was() {
    each_database(|database| {
        assert_eq!(database.skill("pdf").unwrap(), None);
        assert!(database.add(&version("pdf", "1.0.0"), "ada").unwrap());
        assert!(database.add(&version("pdf", "1.1.0"), "bob").unwrap());
        let skill = database.skill("pdf").unwrap().unwrap();
        assert_eq!(skill.owner, "ada", "the first one owns the name");
        assert_eq!(
            skill.versions,
            [version("pdf", "1.0.0"), version("pdf", "1.1.0")]
        );
        assert_eq!(
            database.names().unwrap(),
            [("pdf".to_owned(), "ada".to_owned())]
        );
    });
}

// case 146
#[test]
fn a_version_is_never_added_twice() {
    each_database(|database| {
        assert!(database.add(&version("pdf", "1.0.0"), "ada").unwrap());
        let mut other = version("pdf", "1.0.0");
        other.public.archive = format!("sha256:{}", "f".repeat(64));
        assert!(!database.add(&other, "ada").unwrap());
        let skill = database.skill("pdf").unwrap().unwrap();
        assert_eq!(skill.versions, [version("pdf", "1.0.0")]);
        assert_eq!(database.head().unwrap().position, 1, "nothing happened");
    });
}

#[test]
fn a_search_finds_all_words_in_latest_versions() {
    each_database(|database| {
        for (name, number) in [
            ("pdf", "1.0.0"),
            ("pdf", "2.0.0-rc.1"),
            ("pdf", "1.1.0"),
            ("pdf-forms", "0.1.0"),
            ("sheets", "3.0.0"),
        ] {
            database.add(&version(name, number), "ada").unwrap();
        }
        let all = ["pdf 1.1.0", "pdf-forms 0.1.0", "sheets 3.0.0"];
        assert_eq!(found(database, &[]), all, "by name");
        assert_eq!(found(database, &["sheets"]), ["sheets 3.0.0"]);
        assert_eq!(
            found(database, &["form"]),
            ["pdf-forms 0.1.0"],
            "a beginning"
        );
        assert_eq!(found(database, &["pdf", "forms"]), ["pdf-forms 0.1.0"]);
        assert_eq!(found(database, &["pdf", "sheets"]), [""; 0]);
        assert_eq!(found(database, &["office"]).len(), 3, "tags");
        assert_eq!(
            found(database, &["pdf"])[0],
            "pdf 1.1.0",
            "the name counts most"
        );
    });
}

#[test]
fn pages_cover_all_results_once() {
    each_database(|database| {
        for number in 0..25 {
            let name = format!("skill-{number:02}");
            database.add(&version(&name, "1.0.0"), "ada").unwrap();
        }
        for words in [vec![], vec!["words".to_owned()]] {
            let mut seen = Vec::new();
            for offset in [0, 10, 20, 30] {
                let (page, total) = database.search(&words, offset, 10).unwrap();
                assert_eq!(total, 25);
                seen.extend(page.into_iter().map(|(_, version)| version.public.name));
            }
            assert_eq!(seen.len(), 25);
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), 25);
        }
    });
}

#[test]
fn what_is_yanked_or_quarantined_is_not_found() {
    each_database(|database| {
        database.add(&version("pdf", "1.0.0"), "ada").unwrap();
        database.add(&version("pdf", "1.1.0"), "ada").unwrap();
        let mut bad = version("pdf", "1.2.0");
        bad.state = VersionState::Quarantined;
        database.add(&bad, "ada").unwrap();
        assert_eq!(found(database, &["pdf"]), ["pdf 1.1.0"]);
        let yank = |number, reason| {
            database
                .set_yanked("pdf", number, reason, "ada", NOW)
                .unwrap()
        };
        assert!(yank("1.1.0", Some("broken")));
        assert!(!yank("1.1.0", Some("again")));
        assert!(!yank("9.9.9", Some("no such version")));
        assert_eq!(found(database, &["pdf"]), ["pdf 1.0.0"]);
        assert!(yank("1.0.0", Some("broken too")));
        assert_eq!(found(database, &[]), [""; 0]);
        let skill = database.skill("pdf").unwrap().unwrap();
        assert_eq!(skill.versions[1].public.yanked.as_deref(), Some("broken"));
        assert!(yank("1.1.0", None));
        assert_eq!(found(database, &["pdf"]), ["pdf 1.1.0"]);
    });
}

// case 146
#[test]
fn the_log_is_a_chain_of_all_changes() {
    each_database(|database| {
        assert_eq!(database.head().unwrap(), RegistryLogHead::default());
        database.add(&version("pdf", "1.0.0"), "ada").unwrap();
        let mut bad = version("pdf", "1.1.0");
        bad.state = VersionState::Quarantined;
        database.add(&bad, "bob").unwrap();
        database
            .set_yanked("pdf", "1.0.0", Some("broken"), "ada", NOW)
            .unwrap();
        database
            .set_yanked("pdf", "1.0.0", None, "ada", NOW)
            .unwrap();
        let log = database.log(0, 100).unwrap();
        let mut head = RegistryLogHead::default();
        for entry in &log {
            assert!(entry.continues(&head), "{entry:?}");
            head = entry.head();
        }
        assert_eq!(database.head().unwrap(), head);
        let actions: Vec<LoggedAction> = log.iter().map(|entry| entry.action).collect();
        use LoggedAction::{Publish, Quarantine, Unyank, Yank};
        assert_eq!(actions, [Publish, Quarantine, Yank, Unyank]);
        assert_eq!(database.log(1, 2).unwrap(), log[1..3]);
        assert_eq!(database.log(u64::MAX, 2).unwrap(), []);
    });
}

#[test]
fn a_token_is_found_by_its_hash_until_it_is_removed() {
    each_database(|database| {
        let token = |id: &str| StoredToken {
            id: id.to_owned(),
            hash: format!("hash of {id}"),
            owner: "ada".to_owned(),
            scope: "admin".to_owned(),
            created_at: NOW.to_owned(),
        };
        database.add_token(&token("one")).unwrap();
        database.add_token(&token("two")).unwrap();
        assert_eq!(database.token("hash of one").unwrap(), Some(token("one")));
        assert_eq!(database.token("one").unwrap(), None);
        assert_eq!(database.tokens().unwrap(), [token("one"), token("two")]);
        assert!(database.remove_token("one").unwrap());
        assert!(!database.remove_token("one").unwrap());
        assert_eq!(database.token("hash of one").unwrap(), None);
    });
}

#[test]
fn what_was_written_is_there_after_it_was_opened_again() {
    for make in DATABASES {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path())
            .add(&version("pdf", "1.0.0"), "ada")
            .unwrap();
        let again = make(folder.path());
        assert_eq!(again.skill("pdf").unwrap().unwrap().versions.len(), 1);
        assert_eq!(again.head().unwrap().position, 1);
    }
}

#[test]
fn many_writers_make_one_chain() {
    each_database(|database| {
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    for number in 0..10 {
                        let name = format!("skill-{writer}-{number}");
                        assert!(database.add(&version(&name, "1.0.0"), "ada").unwrap());
                    }
                });
            }
        });
        let mut head = RegistryLogHead::default();
        for entry in database.log(0, 100).unwrap() {
            assert!(entry.continues(&head));
            head = entry.head();
        }
        assert_eq!(head.position, 40);
    });
}

#[test]
fn bytes_are_found_by_their_digest() {
    for make in BLOBS {
        let folder = tempfile::tempdir().unwrap();
        let blobs = make(folder.path());
        let digest = blobs.put(b"abc").unwrap();
        assert_eq!(
            digest.to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(blobs.put(b"abc").unwrap(), digest);
        assert_eq!(blobs.get(&digest).unwrap().as_deref(), Some(&b"abc"[..]));
        let empty = blobs.put(b"").unwrap();
        assert_eq!(blobs.get(&empty).unwrap().as_deref(), Some(&b""[..]));
        let absent = metier_model::Digest([7; 32]);
        assert!(blobs.get(&absent).unwrap().is_none());
        let again = make(folder.path());
        assert!(again.get(&digest).unwrap().is_some());
    }
}

// case 146
#[test]
fn bytes_that_were_changed_on_the_disk_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(folder.path()).unwrap();
    let digest = blobs.put(b"abc").unwrap();
    let hex = digest.to_string().replace("sha256:", "");
    let file = folder.path().join(&hex[..2]).join(format!("{hex}.blob"));
    std::fs::write(file, b"abd").unwrap();
    assert!(blobs.get(&digest).is_err());
}

// case 146
#[test]
fn the_file_of_another_program_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    std::fs::write(
        &path,
        b"not a database, and long enough to have a header of one hundred bytes: \
        ............................................................",
    )
    .unwrap();
    assert!(SqliteDatabase::open(&path).is_err());
}
