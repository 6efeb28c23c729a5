//! The places that a grant opens for WebAssembly, and those that it does not.

use std::os::unix::fs::symlink;

use metier_host::execution::ExecutionError;

use crate::world::Place;

/// The opened folders, such as `project/docs r`, and the others.
fn opened(place: &Place) -> (Vec<String>, Vec<String>) {
    let root = place.path("");
    let root = root.to_string_lossy().trim_end_matches('/').to_owned() + "/";
    let short = |text: &str| text.replace(&root, "");
    let wasi = place.with(|world| world.wasi()).unwrap();
    let places = wasi.room.places.iter().map(|place| {
        let way = if place.write { "rw" } else { "r" };
        let folder = short(&place.folder.to_string_lossy());
        match short(&place.name) == folder {
            true => format!("{folder} {way}"),
            false => format!("{folder} {way} as {}", place.name),
        }
    });
    let closed = wasi.closed.iter().map(|closed| short(closed));
    (places.collect(), closed.collect())
}

#[track_caller]
fn check(place: &Place, expected: &[&str], closed: usize) {
    let (places, why) = opened(place);
    assert_eq!(places, expected, "{why:?}");
    assert_eq!(why.len(), closed, "{why:?}");
}

#[test]
fn nothing_is_opened_for_nothing() {
    let place = Place::new(&[], &[]);
    check(&place, &[], 0);
    let wasi = place.with(|world| world.wasi()).unwrap();
    assert!(wasi.room.variables.is_empty() && wasi.room.arguments.is_empty());
}

#[test]
fn folders_are_opened_and_files_are_not() {
    let place = Place::new(
        &[
            "file:read(./docs/**)",
            "file:read(./one.txt)",
            "file:read(./src/*.rs)",
            "file:write(./out/**)",
        ],
        &[],
    );
    place.file("project/docs/a.md", "");
    place.file("project/one.txt", "");
    place.file("project/src/main.rs", "");
    // Each also under the name that a program in the project would use.
    let places = [
        "project/out rw",
        "project/out rw as out",
        "project/docs r",
        "project/docs r as docs",
    ];
    check(&place, &places, 0);
    let place = Place::new(&["file:read(./**)"], &[]);
    check(&place, &["project r", "project r as ."], 0);
}

#[test]
fn no_folder_is_opened_with_a_secret_in_it() {
    let place = Place::new(&["file:read(~/**)"], &[]);
    check(&place, &[], 1);
    let place = Place::new(&["file:read(~/.ssh/**)"], &[]);
    place.file("home/.ssh/id_ed25519", "");
    check(&place, &[], 1);
    let place = Place::new(&["file:read(./**)"], &["file:read(./private/**)"]);
    check(&place, &[], 1);
}

#[test]
fn no_folder_is_written_that_others_obey() {
    let place = Place::new(&["file:write(./**)", "file:read(./**)"], &[]);
    check(&place, &["project rw", "project rw as ."], 0);
    place.file("project/.git/hooks/pre-commit", "");
    check(&place, &["project r", "project r as ."], 1);
    let place = Place::new(&["file:write(./.git/hooks/**)"], &[]);
    place.file("project/.git/hooks/pre-commit", "");
    let never = place.with(|world| world.wasi()).err();
    assert!(
        matches!(never, Some(ExecutionError::Never { .. })),
        "{never:?}"
    );
}

#[test]
fn a_name_that_is_a_link_is_not_opened() {
    let place = Place::new(&["file:read(./docs/**)"], &[]);
    symlink("/etc", place.path("project/docs")).unwrap();
    let link = place.with(|world| world.wasi()).err();
    assert!(matches!(link, Some(ExecutionError::Link(_))), "{link:?}");
}

#[test]
fn variables_are_those_that_are_named() {
    let variables = |allowed: &[&str], denied: &[&str]| {
        let mut place = Place::new(allowed, denied);
        place.named = vec![("REGION".into(), "eu".into()), ("TOKEN".into(), "x".into())];
        let wasi = place.with(|world| world.wasi()).unwrap();
        wasi.room.variables
    };
    let region = [("REGION".to_owned(), "eu".to_owned())];
    assert_eq!(variables(&["env:read(REGION)"], &[]), region);
    assert!(variables(&["env:read"], &[]).is_empty());
    assert!(variables(&[], &[]).is_empty());
}
