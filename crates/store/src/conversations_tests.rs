//! Conversations are kept as written, and lines of different writers are never mixed.

use std::path::Path;
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use crate::{
    ConversationLine, ConversationRecord, LONGEST_LINE, NewConversation, Store, StoreError,
};

const NOW: &str = "2026-01-31T09:00:00Z";
const LATER: &str = "2026-01-31T09:00:01Z";

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

fn new(id: &str) -> NewConversation<'_> {
    NewConversation {
        id,
        at: NOW,
        folder: "/src/app",
        model: "small",
        title: "the release",
        parent: None,
    }
}

fn begin(store: &Store, ids: &[&str]) {
    for id in ids {
        store.begin_conversation(&new(id)).expect("begun");
    }
}

fn bodies(store: &Store, id: &str) -> Vec<String> {
    let lines = store.conversation_lines(id).expect("lines");
    lines.into_iter().map(|line| line.body).collect()
}

fn ids(conversations: Vec<ConversationRecord>) -> Vec<String> {
    conversations.into_iter().map(|found| found.id).collect()
}

/// The number of rows in a table.
fn rows(store: &Store, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    let count = store.connection.query_row(&sql, [], |row| row.get(0));
    count.expect("a count")
}

/// The error has this message and this hint.
fn check_refused<T: std::fmt::Debug>(
    result: Result<T, StoreError>,
    message: &str,
    hint: &str,
) -> StoreError {
    let error = result.expect_err("refused");
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hint(), hint);
    error
}

#[test]
fn lines_come_back_in_their_order_after_reopening() {
    let (folder, store) = store();
    begin(&store, &["7c9e6679"]);
    let before = store
        .conversation("7c9e6679")
        .unwrap()
        .expect("it is there");
    assert_eq!((before.lines, before.last_at.as_str()), (0, NOW));
    assert_eq!(store.conversation_lines("7c9e6679").unwrap(), []);

    let count = store.append_lines("7c9e6679", 0, NOW, &["a", "b"]).unwrap();
    assert_eq!(count, 2);
    let count = store.append_lines("7c9e6679", 2, LATER, &["c"]).unwrap();
    assert_eq!(count, 3);
    drop(store);

    let store = Store::open(&folder.path().join("metier.db")).unwrap();
    let line = |number, at: &str, body: &str| ConversationLine {
        number,
        at: at.to_owned(),
        body: body.to_owned(),
    };
    assert_eq!(
        store.conversation_lines("7c9e6679").unwrap(),
        [line(1, NOW, "a"), line(2, NOW, "b"), line(3, LATER, "c")]
    );
    assert_eq!(
        store.conversation("7c9e6679").unwrap(),
        Some(ConversationRecord {
            id: "7c9e6679".to_owned(),
            started_at: NOW.to_owned(),
            folder: "/src/app".to_owned(),
            model: "small".to_owned(),
            title: "the release".to_owned(),
            parent: None,
            lines: 3,
            last_at: LATER.to_owned(),
        })
    );
}

#[test]
fn no_lines_change_nothing_but_are_compared() {
    let (_folder, store) = store();
    begin(&store, &["talk"]);
    store.append_lines("talk", 0, NOW, &["a"]).unwrap();
    assert_eq!(store.append_lines("talk", 1, LATER, &[]).unwrap(), 1);
    let found = store.conversation("talk").unwrap().expect("it is there");
    assert_eq!((found.lines, found.last_at.as_str()), (1, NOW));
    let late = store.append_lines("talk", 0, LATER, &[]);
    assert!(matches!(late, Err(StoreError::WentOn { .. })), "{late:?}");
}

#[test]
fn an_id_is_given_once() {
    let (_folder, store) = store();
    begin(&store, &["talk"]);
    store.append_lines("talk", 0, NOW, &["a"]).unwrap();
    let again = NewConversation {
        title: "another",
        at: LATER,
        ..new("talk")
    };
    check_refused(
        store.begin_conversation(&again),
        "conversation `talk` already exists",
        "this is a bug in metier; the conversation is unchanged",
    );
    let found = store.conversation("talk").unwrap().expect("it is there");
    assert_eq!((found.title.as_str(), found.lines), ("the release", 1));
}

#[test]
fn a_conversation_that_is_not_there_is_not_an_empty_one() {
    let (_folder, store) = store();
    let message = "there is no conversation `no\\nne`";
    let hint = "start a new one with `metier chat`";
    check_refused(store.append_lines("no\nne", 0, NOW, &["a"]), message, hint);
    check_refused(store.conversation_lines("no\nne"), message, hint);
    let orphan = NewConversation {
        parent: Some("no\nne"),
        ..new("fork")
    };
    check_refused(store.begin_conversation(&orphan), message, hint);
    let itself = NewConversation {
        parent: Some("fork"),
        ..new("fork")
    };
    assert!(store.begin_conversation(&itself).is_err());
    assert_eq!(store.conversation("fork").unwrap(), None);
    assert_eq!(rows(&store, "conversation_lines"), 0);
}

#[test]
fn who_does_not_know_the_last_line_writes_nothing() {
    let (folder, one) = store();
    let two = Store::open(&folder.path().join("metier.db")).unwrap();
    begin(&one, &["my talk"]);
    one.append_lines("my talk", 0, NOW, &["question", "answer"])
        .unwrap();
    for after in [0, 1, 3, u64::MAX] {
        check_refused(
            two.append_lines("my talk", after, LATER, &["lost", "lost too"]),
            &format!(
                "another process continued conversation `my talk`: it has 2 lines, expected {after}"
            ),
            "stop the other metier process, then continue with `metier chat --resume 'my talk'`",
        );
    }
    assert_eq!(bodies(&two, "my talk"), ["question", "answer"]);
    let found = two.conversation("my talk").unwrap().expect("it is there");
    assert_eq!(found.last_at, NOW);
    assert_eq!(two.append_lines("my talk", 2, LATER, &["c"]).unwrap(), 3);
}

/// Four writers at the same time, each with its own handle, continue from what they see until each has written its part.
#[test]
fn of_many_who_go_on_from_the_same_line_one_does() {
    const BATCHES: usize = 25;
    let (folder, store) = store();
    let path = folder.path().join("metier.db");
    begin(&store, &["talk"]);
    let lost: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                scope.spawn({
                    let path = &path;
                    move || insist(path, writer, BATCHES)
                })
            })
            .collect();
        let lost = writers.into_iter().map(|writer| writer.join().unwrap());
        lost.sum()
    });
    assert!(lost > 0, "no two writers collided");
    let said = bodies(&store, "talk");
    assert_eq!(said.len(), 4 * BATCHES * 3);
    let mut next = [0; 4];
    for batch in said.chunks(3) {
        let writer: usize = batch[0].split('/').next().unwrap().parse().unwrap();
        assert_eq!(batch, triple(writer, next[writer]), "mixed");
        next[writer] += 1;
    }
    assert_eq!(next, [BATCHES; 4]);
}

fn triple(writer: usize, batch: usize) -> [String; 3] {
    ["a", "b", "c"].map(|part| format!("{writer}/{batch}/{part}"))
}

/// Returns how many times another writer was faster.
fn insist(path: &Path, writer: usize, batches: usize) -> usize {
    let store = Store::open(path).expect("opened");
    let (mut after, mut lost) = (0, 0);
    for batch in 0..batches {
        let lines = triple(writer, batch);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        loop {
            match store.append_lines("talk", after, NOW, &lines) {
                Ok(count) => {
                    assert_eq!(count, after + 3);
                    after = count;
                    break;
                }
                Err(StoreError::WentOn { found, .. }) => {
                    assert!(found > after, "no other writer continued");
                    after = found;
                    lost += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    lost
}

#[test]
fn a_line_has_a_longest_length() {
    let (_folder, store) = store();
    begin(&store, &["talk"]);
    let longest = "x".repeat(LONGEST_LINE);
    assert_eq!(store.append_lines("talk", 0, NOW, &[&longest]).unwrap(), 1);
    let longer = format!("{longest}x");
    check_refused(
        store.append_lines("talk", 1, NOW, &["short", &longer]),
        "a line of 33554433 bytes exceeds the limit of 33554432 bytes for a line of conversation `talk`",
        "give the model a smaller file or less output",
    );
    let found = bodies(&store, "talk");
    assert!(found == [longest], "{} lines", found.len());
}

#[test]
fn any_text_is_data() {
    let (_folder, store) = store();
    let odd = [
        "",
        "\0",
        "a\0b\0",
        "line\nline\r\n",
        "'; DROP TABLE conversations; --",
        "ünï \u{202e}\u{1F600}\u{10FFFF}\u{FEFF}",
        "{not json",
    ];
    for text in odd {
        let begun = NewConversation {
            at: text,
            folder: text,
            model: text,
            title: text,
            ..new(text)
        };
        store.begin_conversation(&begun).unwrap();
        store.append_lines(text, 0, text, &odd).unwrap();
    }
    for text in odd {
        assert_eq!(bodies(&store, text), odd);
        let found = store.conversation(text).unwrap().expect("it is there");
        assert_eq!(found.id, text);
        assert_eq!([found.title, found.model, found.last_at], [text; 3]);
        assert_eq!(ids(store.conversations(Some(text), 9).unwrap()), [text]);
    }
}

#[test]
fn the_newest_come_first_and_forks_are_not_listed() {
    let (_folder, store) = store();
    begin(&store, &["first", "second", "third", "fourth"]);
    let fork = NewConversation {
        parent: Some("first"),
        at: LATER,
        ..new("fork")
    };
    store.begin_conversation(&fork).unwrap();
    let listed = |limit| ids(store.conversations(None, limit).unwrap());
    assert_eq!(listed(9), ["fourth", "third", "second", "first"]);

    // In Vienna it is an hour later, so as a string the time is the greatest; half a second is later than none.
    let append = |id, at| store.append_lines(id, 0, at, &["a"]).unwrap();
    append("second", "2026-01-31T09:59:59+01:00");
    append("first", "2026-01-31T09:00:00.5Z");
    append("fourth", "not a time");
    assert_eq!(listed(9), ["first", "third", "second", "fourth"]);
    assert_eq!(listed(2), ["first", "third"]);
    assert_eq!(listed(0), [""; 0]);
    assert_eq!(listed(u32::MAX).len(), 4);
}

#[test]
fn a_project_has_its_own_list() {
    let (_folder, store) = store();
    for (id, folder) in [
        ("a", "/src/app"),
        ("b", "/src/application"),
        ("c", "/src/app"),
    ] {
        store
            .begin_conversation(&NewConversation { folder, ..new(id) })
            .unwrap();
    }
    let of = |folder, limit| ids(store.conversations(Some(folder), limit).unwrap());
    assert_eq!(of("/src/app", 9), ["c", "a"]);
    assert_eq!(of("/src/app", 1), ["c"]);
    assert_eq!(of("/src/application", 9), ["b"]);
    assert_eq!(of("/src", 9), [""; 0]);
    assert_eq!(of("/SRC/APP", 9), [""; 0]);
}

#[test]
fn the_beginning_of_an_id_finds_it() {
    let (_folder, store) = store();
    begin(
        &store,
        &[
            "abcd-1",
            "abcd-2",
            "abcd-2x",
            "abce",
            "ab%d",
            "xyz",
            "éééé-1",
        ],
    );
    let found = |prefix: &str| ids(store.find_conversation(prefix).unwrap());
    assert_eq!(found("abcd"), ["abcd-1", "abcd-2", "abcd-2x"]);
    assert_eq!(found("abcd-1"), ["abcd-1"]);
    assert_eq!(found("abcd-2"), ["abcd-2"], "all of it is not a beginning");
    assert_eq!(found("éééé"), ["éééé-1"]);
    assert_eq!(found("xyz"), ["xyz"], "all of it, however short");
    for none in [
        "", "abc", "xy", "abcd-3", "ABCD", "ab_d", "%%%%", "zzzz", "ééé",
    ] {
        assert_eq!(found(none), [""; 0], "{none}");
    }
    assert_eq!(found("ab%d"), ["ab%d"]);
    assert_eq!(store.conversation("abcd").unwrap(), None);
}

#[test]
fn lines_that_went_missing_are_missed() {
    let damages = [
        "DELETE FROM conversation_lines WHERE number = 1",
        "DELETE FROM conversation_lines WHERE number = 3",
        "UPDATE conversation_lines SET number = 7 WHERE number = 2",
        "UPDATE conversations SET lines = 2",
        "UPDATE conversations SET lines = 9223372036854775807",
    ];
    for damage in damages {
        let (_folder, store) = store();
        begin(&store, &["talk"]);
        store
            .append_lines("talk", 0, NOW, &["a", "b", "c"])
            .unwrap();
        assert_eq!(store.connection.execute(damage, []).unwrap(), 1);
        let read = store.conversation_lines("talk");
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{damage}");
    }
}

#[test]
fn a_count_without_room_for_more_is_damage() {
    let (_folder, store) = store();
    begin(&store, &["talk"]);
    let sql = "UPDATE conversations SET lines = ?1";
    store.connection.execute(sql, [i64::MAX]).unwrap();
    let late = store.append_lines("talk", i64::MAX.unsigned_abs(), NOW, &["a"]);
    assert!(matches!(late, Err(StoreError::Damaged { .. })), "{late:?}");
}

/// Decisions of users wait for the disk, even after lines that did not.
#[test]
fn the_disk_is_waited_for_again_after_lines() {
    let (_folder, store) = store();
    begin(&store, &["talk"]);
    store.append_lines("talk", 0, NOW, &["a"]).unwrap();
    store.append_lines("talk", 0, NOW, &["late"]).unwrap_err();
    store.append_lines("none", 0, NOW, &["a"]).unwrap_err();
    let how = || -> i64 {
        let mode = store
            .connection
            .pragma_query_value(None, "synchronous", |row| row.get(0));
        mode.unwrap()
    };
    let (normal, full) = (1, 2);
    assert_eq!(how(), normal);
    let folder = Path::new("/src/app");
    store.trust(folder, NOW).unwrap();
    assert_eq!(how(), full);
    store.append_lines("talk", 1, NOW, &["b"]).unwrap();
    assert_eq!(how(), normal);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_went_in_comes_out(
        batches in proptest::collection::vec((0..3_usize, proptest::collection::vec(any::<String>(), 0..5)), 0..12),
    ) {
        let names = ["one", "two", "three"];
        let (_folder, store) = store();
        begin(&store, &names);
        let mut expected = [Vec::new(), Vec::new(), Vec::new()];
        for (which, batch) in &batches {
            let known = &mut expected[*which];
            let lines: Vec<&str> = batch.iter().map(String::as_str).collect();
            let after = known.len() as u64;
            let count = store.append_lines(names[*which], after, NOW, &lines).unwrap();
            known.extend(batch.iter().cloned());
            prop_assert_eq!(count, known.len() as u64);
        }
        for (name, known) in names.iter().zip(expected) {
            prop_assert_eq!(bodies(&store, name), known);
        }
    }
}
