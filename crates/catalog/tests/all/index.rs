//! The index is only a cache: with it, without it and with a damaged one, the result is the same.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use metier_catalog::{
    Catalog, CatalogEntry, DiscoveryLimits, DiscoveryOptions, IndexHome, Root, discover,
};
use metier_model::{Digest, Source, Strictness};
use proptest::prelude::*;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::{LIMITS, World, look, only, options, place, skill_md, with_index};

fn home(world: &World) -> IndexHome {
    IndexHome {
        folder: world.at("cache"),
        stamp: 7,
    }
}

/// The entries in an order that does not depend on the disk.
fn sorted(catalog: Catalog) -> Vec<CatalogEntry> {
    let mut entries = catalog.entries;
    entries.sort_by(|a, b| a.place.path().cmp(&b.place.path()));
    entries
}

#[track_caller]
fn same(warm: Catalog, cold: Catalog) {
    let mut warm_said: Vec<_> = warm
        .diagnostics
        .iter()
        .map(|d| (d.code, d.file.clone()))
        .collect();
    let mut cold_said: Vec<_> = cold
        .diagnostics
        .iter()
        .map(|d| (d.code, d.file.clone()))
        .collect();
    warm_said.sort();
    cold_said.sort();
    assert_eq!(warm_said, cold_said);
    let (warm, cold) = (sorted(warm), sorted(cold));
    for (warm, cold) in warm.iter().zip(&cold) {
        assert_eq!(warm, cold);
    }
    assert_eq!(warm.len(), cold.len());
}

/// The index returns the content of the disk, immediately and again.
#[track_caller]
fn check(world: &World) {
    for mode in [Strictness::Lenient, Strictness::Strict] {
        for _ in 0..2 {
            let warm = look(&world.root(), &with_index(&home(world), mode));
            same(warm, look(&world.root(), &options(mode)));
        }
    }
}

/// Waits until a change now would have a later time than every change before.
fn tick(world: &World) {
    let now = |path: &Path| {
        fs::write(path, "x").unwrap();
        let metadata = fs::metadata(path).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let probe = world.at("probe");
    let before = now(&probe);
    while now(&probe) == before {
        std::thread::yield_now();
    }
}

fn index_file(world: &World) -> PathBuf {
    let files: Vec<PathBuf> = fs::read_dir(world.at("cache"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    match files.as_slice() {
        [file] => file.clone(),
        files => panic!("{files:?}"),
    }
}

/// A small root with various content, and its index.
fn indexed() -> World {
    let world = World::in_memory();
    world.write("root/a/SKILL.md", "---\nname: a\ndescription: first text\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"gh\"], \"anyBins\": [\"x\", \"y\"]}, \"os\": [\"linux\"], \"install\": [{\"id\": \"b\", \"kind\": \"brew\", \"formula\": \"gh\", \"bins\": [\"gh\"]}]}}\n---\n");
    world.write("root/cat/b/SKILL.yaml", "name: b\nversion: 1.2.3\ndescription: second text\ntypes: [tool]\ndependencies: [{name: a, version: ^1, optional: true}]\nimplementation: {backend: starlark}\n");
    world.write(
        "root/c/SKILL.md",
        "---\nname: C\ndescription: odd: one\n---\n",
    );
    look(
        &world.root(),
        &with_index(&home(&world), Strictness::Lenient),
    );
    world
}

/// Replaces `from` by `to` in the index and fixes its checksum.
fn forge(world: &World, from: &str, to: &str) {
    let file = index_file(world);
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes
        .windows(from.len())
        .position(|window| window == from.as_bytes())
        .expect("the text is in the index");
    bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    seal(&mut bytes);
    fs::write(file, bytes).unwrap();
}

fn seal(bytes: &mut [u8]) {
    let (head, body) = bytes.split_at_mut(12);
    head[8..].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
}

fn describes(catalog: &Catalog, text: &str) -> bool {
    catalog.entries.iter().any(|entry| {
        entry
            .card
            .as_ref()
            .is_some_and(|card| &*card.description == text)
    })
}

#[test]
fn a_warm_look_is_a_cold_look() {
    let world = indexed();
    check(&world);
}

/// A forged index proves that it is really used, and that another program's is not.
#[test]
fn an_index_is_believed_only_with_its_stamp() {
    let world = indexed();
    forge(&world, "first text", "forged one");
    let with = |stamp| {
        look(
            &world.root(),
            &with_index(
                &IndexHome {
                    stamp,
                    ..home(&world)
                },
                Strictness::Lenient,
            ),
        )
    };
    assert!(
        describes(&with(7), "forged one"),
        "the index is not used at all"
    );
    let other = with(8);
    assert!(describes(&other, "first text") && !describes(&other, "forged one"));
}

#[test]
fn an_index_is_believed_only_for_its_root() {
    let world = indexed();
    forge(&world, "first text", "forged one");
    fs::rename(world.root(), world.at("moved")).unwrap();
    let moved = look(
        &world.at("moved"),
        &with_index(&home(&world), Strictness::Lenient),
    );
    assert!(!describes(&moved, "forged one"));
}

#[test]
fn an_index_is_believed_only_in_its_mode() {
    let world = indexed();
    let strict = look(
        &world.root(),
        &with_index(&home(&world), Strictness::Strict),
    );
    same(strict, look(&world.root(), &options(Strictness::Strict)));
}

#[test]
fn the_source_is_not_remembered() {
    let world = indexed();
    let roots = vec![Root {
        trusted: false,
        ..Root::explicit(Source::Project, world.root())
    }];
    let catalog = discover(roots, &with_index(&home(&world), Strictness::Lenient));
    assert!(
        catalog
            .entries
            .iter()
            .all(|entry| entry.source == Source::Project && entry.root == Some(0))
    );
}

#[test]
fn a_limit_that_was_lowered_holds_for_what_is_remembered() {
    let world = indexed();
    let limits = DiscoveryLimits {
        max_skill_bytes: 50,
        ..LIMITS
    };
    let cold = look(
        &world.root(),
        &DiscoveryOptions {
            limits,
            ..options(Strictness::Lenient)
        },
    );
    assert!(cold.entries.iter().any(|entry| entry.card.is_none()));
    let warm = look(
        &world.root(),
        &DiscoveryOptions {
            limits,
            ..with_index(&home(&world), Strictness::Lenient)
        },
    );
    same(warm, cold);
}

// case 146
#[test]
fn no_damaged_byte_is_believed_or_panics() {
    let world = indexed();
    let file = index_file(&world);
    let whole = fs::read(&file).unwrap();
    let cold = sorted(look(&world.root(), &options(Strictness::Lenient)));
    for at in 0..whole.len() {
        for flip in [1 << (at % 8), 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            fs::write(&file, damaged).unwrap();
            let warm = sorted(look(
                &world.root(),
                &with_index(&home(&world), Strictness::Lenient),
            ));
            assert!(warm == cold, "byte {at} flipped by {flip:#x}");
        }
    }
}

#[test]
fn no_cut_or_longer_index_is_believed_or_panics() {
    let world = indexed();
    let file = index_file(&world);
    let whole = fs::read(&file).unwrap();
    let cold = sorted(look(&world.root(), &options(Strictness::Lenient)));
    let check = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        assert!(
            sorted(look(
                &world.root(),
                &with_index(&home(&world), Strictness::Lenient)
            )) == cold,
            "{} bytes",
            bytes.len()
        );
    };
    (0..whole.len()).for_each(|end| check(&whole[..end]));
    check(&[whole.as_slice(), b"more"].concat());
    check(&whole.repeat(2));
}

/// A checksum does not prove who wrote it: even a well-formed forgery must not end the process.
#[test]
fn a_damaged_index_with_a_right_checksum_never_panics() {
    let world = indexed();
    let file = index_file(&world);
    let whole = fs::read(&file).unwrap();
    for at in 12..whole.len() {
        for value in [0, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            seal(&mut damaged);
            fs::write(&file, damaged).unwrap();
            let warm = look(
                &world.root(),
                &with_index(&home(&world), Strictness::Lenient),
            );
            assert_eq!(warm.entries.len(), 3, "byte {at} set to {value:#x}");
        }
    }
}

#[test]
fn a_cache_folder_that_can_not_be_written_costs_only_time() {
    let world = indexed();
    world.write("file", "x");
    let home = IndexHome {
        folder: world.at("file/below"),
        stamp: 7,
    };
    same(
        look(&world.root(), &with_index(&home, Strictness::Lenient)),
        look(&world.root(), &options(Strictness::Lenient)),
    );
    let file = index_file(&world);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    check(&world);
}

// case 106
#[test]
fn the_cache_is_for_its_owner_only() {
    let world = indexed();
    assert_eq!(
        fs::metadata(world.at("cache")).unwrap().mode() & 0o777,
        0o700
    );
}

/// A recently changed file can change again within the same time, so it is not stored.
#[test]
fn what_was_changed_just_now_is_not_remembered() {
    let world = World::new();
    world.write("root/s/SKILL.md", "---\nname: s\ndescription: aaaa\n---\n");
    let now = SystemTime::now();
    let look_now = || {
        look(
            &world.root(),
            &DiscoveryOptions {
                now,
                ..with_index(&home(&world), Strictness::Lenient)
            },
        )
    };
    assert!(describes(&look_now(), "aaaa"));
    world.write("root/s/SKILL.md", "---\nname: s\ndescription: bbbb\n---\n");
    assert!(describes(&look_now(), "bbbb"));
}

/// Restores the time of the last change of content.
fn with_old_time(path: &Path, change: impl FnOnce()) {
    let before = fs::metadata(path).unwrap();
    change();
    let time = Timespec {
        tv_sec: before.mtime(),
        tv_nsec: before.mtime_nsec(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::empty()).unwrap();
}

// case 146
#[test]
fn a_change_that_hides_its_time_and_size_is_seen() {
    let world = indexed();
    tick(&world);
    let file = world.at("root/a/SKILL.md");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("first text", "other text");
    with_old_time(&file, || fs::write(&file, text).unwrap());
    assert!(describes(
        &look(
            &world.root(),
            &with_index(&home(&world), Strictness::Lenient)
        ),
        "other text"
    ));
    check(&world);
}

#[test]
fn a_changed_skill_is_read_again_and_the_others_are_kept() {
    let world = indexed();
    tick(&world);
    world.write("root/a/SKILL.md", skill_md("a"));
    check(&world);
    fs::remove_dir_all(world.at("root/c")).unwrap();
    check(&world);
    assert_eq!(
        look(
            &world.root(),
            &with_index(&home(&world), Strictness::Lenient)
        )
        .entries
        .len(),
        2
    );
}

/// Searches with the index, and returns the digest that it shows for a skill.
fn shown(world: &World, name: &str) -> Option<Digest> {
    let catalog = look(
        &world.root(),
        &with_index(&home(world), Strictness::Lenient),
    );
    let entry = catalog.entries.iter().find(|entry| entry.name() == name);
    entry.unwrap().digest
}

/// Hashes a skill and updates the index; returns whether the index shows the digest afterwards.
fn remembers(world: &World, name: &str) -> bool {
    shown(world, name);
    let folder = world.at(&format!("root/{name}"));
    let (digest, state) = place(&folder).digest_within(1 << 20, 1000).unwrap();
    let now = SystemTime::now() + Duration::from_secs(60);
    let known = [(folder.as_path(), digest, state)];
    home(world).remember_digests(&world.root(), Strictness::Lenient, now, &known);
    shown(world, name) == Some(digest)
}

// case 151
#[test]
fn a_digest_is_shown_only_for_the_files_that_have_it() {
    type Change = fn(&World);
    let changes: [(&str, Change); 7] = [
        ("a file below", |world| {
            world.write("root/s/scripts/x.sh", "other");
        }),
        ("a file below, of the same size and time", |world| {
            let file = world.at("root/s/scripts/x.sh");
            with_old_time(&file, || fs::write(&file, "ECHO").unwrap());
        }),
        ("a new file below", |world| {
            world.write("root/s/scripts/y.sh", "x");
        }),
        ("a new file in a folder that was empty", |world| {
            world.write("root/s/empty/y.sh", "x");
        }),
        ("a new hidden file", |world| {
            world.write("root/s/scripts/.y", "x");
        }),
        ("a file that is gone", |world| {
            fs::remove_file(world.at("root/s/scripts/x.sh")).unwrap();
        }),
        ("SKILL.md", |world| {
            world.write("root/s/SKILL.md", skill_md("s") + "More.\n");
        }),
    ];
    for (what, change) in changes {
        let world = World::new();
        world.skill("root/s");
        world.write("root/s/scripts/x.sh", "echo");
        world.folder("root/s/empty");
        tick(&world);
        assert!(remembers(&world, "s"), "{what}");
        assert!(shown(&world, "s").is_some(), "{what}");
        tick(&world);
        change(&world);
        assert_eq!(shown(&world, "s"), None, "{what}");
        assert!(remembers(&world, "s"), "{what}, hashed again");
    }
}

// case 151
#[test]
fn a_skill_of_one_file_keeps_its_digest_until_something_is_beside_it() {
    for beside in ["x.sh", "scripts/x.sh", ".hidden"] {
        let world = World::new();
        world.skill("root/s");
        tick(&world);
        assert!(remembers(&world, "s"));
        tick(&world);
        world.write(&format!("root/s/{beside}"), "x");
        assert_eq!(shown(&world, "s"), None, "{beside}");
    }
    let world = World::new();
    world.skill("root/s");
    world.folder("root/s/empty");
    tick(&world);
    assert!(remembers(&world, "s"));
    tick(&world);
    world.write("root/s/empty/x", "x");
    assert_eq!(shown(&world, "s"), None, "in a folder that was empty");
}

// case 151
#[test]
fn the_digest_of_files_that_were_changed_just_now_is_not_remembered() {
    let world = World::new();
    world.skill("root/s");
    world.write("root/s/scripts/x.sh", "echo");
    shown(&world, "s");
    let folder = world.at("root/s");
    let (digest, state) = place(&folder).digest_within(1 << 20, 1000).unwrap();
    let known = [(folder.as_path(), digest, state)];
    home(&world).remember_digests(
        &world.root(),
        Strictness::Lenient,
        SystemTime::now(),
        &known,
    );
    assert_eq!(shown(&world, "s"), None);
}

// case 151
#[test]
fn a_digest_of_an_older_state_is_not_remembered_for_a_newer_one() {
    for file in ["SKILL.md", "scripts/x.sh"] {
        let world = World::new();
        world.skill("root/s");
        let folder = world.at("root/s");
        world.write(&format!("root/s/{file}"), skill_md("s"));
        let (digest, state) = place(&folder).digest_within(1 << 20, 1000).unwrap();
        tick(&world);
        world.write(&format!("root/s/{file}"), skill_md("s") + "x");
        shown(&world, "s");
        let now = SystemTime::now() + Duration::from_secs(60);
        let known = [(folder.as_path(), digest, state)];
        home(&world).remember_digests(&world.root(), Strictness::Lenient, now, &known);
        assert_eq!(shown(&world, "s"), None, "{file}");
    }
}

#[test]
fn a_sidecar_that_appears_changes_or_goes_is_seen() {
    let world = World::new();
    world.skill("root/s");
    world.folder("root/s/agents");
    world.folder("root/s/references");
    check(&world);
    let invocable = || {
        only(&look(
            &world.root(),
            &with_index(&home(&world), Strictness::Lenient),
        ))
        .card
        .as_ref()
        .unwrap()
        .model_invocable
    };
    assert!(invocable());
    for (text, expected) in [
        ("policy: {allow_implicit_invocation: false}\n", false),
        ("policy: {allow_implicit_invocation: true }\n", true),
    ] {
        tick(&world);
        world.write("root/s/agents/openai.yaml", text);
        assert_eq!(invocable(), expected);
        check(&world);
    }
    tick(&world);
    fs::remove_dir_all(world.at("root/s/agents")).unwrap();
    check(&world);
}

/// In any order of its names, and even if a skill in it is never stored.
#[test]
fn an_unchanged_root_leaves_its_index_alone() {
    let world = World::new();
    for name in ["-a", ".a", "a", "a-b", "a.b", "c/a", "c/a-b", "c-a", "d"] {
        world.skill(&format!("root/{name}"));
    }
    world.write("root/d/skill.md", skill_md("d"));
    let inode = || {
        let warm = look(
            &world.root(),
            &with_index(&home(&world), Strictness::Lenient),
        );
        same(warm, look(&world.root(), &options(Strictness::Lenient)));
        fs::metadata(index_file(&world)).unwrap().ino()
    };
    let before = inode();
    assert_eq!(inode(), before);
    tick(&world);
    world.skill("root/b");
    assert_ne!(inode(), before);
}

#[test]
fn a_limit_counts_the_names_that_the_index_knows() {
    let world = indexed();
    let limits = DiscoveryLimits {
        max_entries: 2,
        ..LIMITS
    };
    let home = home(&world);
    let warm = DiscoveryOptions {
        limits,
        ..with_index(&home, Strictness::Lenient)
    };
    let cold = DiscoveryOptions {
        limits,
        ..options(Strictness::Lenient)
    };
    same(look(&world.root(), &warm), look(&world.root(), &cold));
}

/// One change of a root between two searches.
#[derive(Clone, Debug)]
enum Edit {
    Markdown(usize, &'static str),
    Manifest(usize, &'static str),
    Sidecar(usize, bool),
    Quietly(usize),
    Remove(usize, &'static str),
    RemoveFolder(usize),
    Rename(usize, usize),
    Swap(usize, usize),
    IntoCategory(usize),
    LinkFile(usize, bool),
    LinkFolder(usize),
    Lower(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let skill = 0..4usize;
    let text = prop_oneof![Just("aaaa"), Just("bbbb"), Just("a: b"), Just("")];
    let file = prop_oneof![
        Just("SKILL.md"),
        Just("SKILL.yaml"),
        Just("agents/openai.yaml"),
        Just("skill.md")
    ];
    prop_oneof![
        4 => (skill.clone(), text.clone()).prop_map(|(skill, text)| Edit::Markdown(skill, text)),
        2 => (skill.clone(), text).prop_map(|(skill, text)| Edit::Manifest(skill, text)),
        2 => (skill.clone(), any::<bool>()).prop_map(|(skill, allow)| Edit::Sidecar(skill, allow)),
        2 => skill.clone().prop_map(Edit::Quietly),
        2 => (skill.clone(), file).prop_map(|(skill, file)| Edit::Remove(skill, file)),
        1 => skill.clone().prop_map(Edit::RemoveFolder),
        1 => (skill.clone(), skill.clone()).prop_map(|(a, b)| Edit::Rename(a, b)),
        1 => (skill.clone(), skill.clone()).prop_map(|(a, b)| Edit::Swap(a, b)),
        1 => skill.clone().prop_map(Edit::IntoCategory),
        1 => (skill.clone(), any::<bool>()).prop_map(|(skill, inside)| Edit::LinkFile(skill, inside)),
        1 => skill.clone().prop_map(Edit::LinkFolder),
        1 => skill.prop_map(Edit::Lower),
    ]
}

/// Applies the change if possible: a missing file can't be removed.
fn apply(world: &World, edit: &Edit) {
    let at = |skill: usize| world.at(&format!("root/s{skill}"));
    let write = |skill: usize, name: &str, text: String| {
        let path = at(skill).join(name);
        fs::create_dir_all(path.parent().unwrap()).ok();
        fs::remove_file(&path).ok();
        fs::write(path, text).ok();
    };
    let markdown =
        |skill: usize, text: &str| format!("---\nname: s{skill}\ndescription: {text}\n---\nbody\n");
    match *edit {
        Edit::Markdown(skill, text) => write(skill, "SKILL.md", markdown(skill, text)),
        Edit::Manifest(skill, text) => write(
            skill,
            "SKILL.yaml",
            format!("name: s{skill}\nversion: 1.0.0\ntypes: [tool]\ndescription: {text}\n"),
        ),
        Edit::Sidecar(skill, allow) => write(
            skill,
            "agents/openai.yaml",
            format!("policy: {{allow_implicit_invocation: {allow}}}\n"),
        ),
        Edit::Quietly(skill) => {
            let file = at(skill).join("SKILL.md");
            if let Ok(text) = fs::read_to_string(&file) {
                let text = text.replace("aaaa", "cccc").replace("bbbb", "aaaa");
                with_old_time(&file, || fs::write(&file, text).unwrap());
            }
        }
        Edit::Remove(skill, name) => drop(fs::remove_file(at(skill).join(name))),
        Edit::RemoveFolder(skill) => {
            drop(fs::remove_file(at(skill)).or_else(|_| fs::remove_dir_all(at(skill))));
        }
        Edit::Rename(from, to) => drop(fs::rename(at(from), at(to))),
        Edit::Swap(a, b) => drop(rustix::fs::renameat_with(
            CWD,
            at(a),
            CWD,
            at(b),
            rustix::fs::RenameFlags::EXCHANGE,
        )),
        Edit::IntoCategory(skill) => {
            fs::create_dir_all(world.at("root/cat")).unwrap();
            fs::rename(at(skill), world.at(&format!("root/cat/s{skill}"))).ok();
        }
        Edit::LinkFile(skill, inside) => {
            let target = if inside {
                "real.md".into()
            } else {
                world.at("outside/real.md")
            };
            fs::create_dir_all(at(skill)).ok();
            fs::write(at(skill).join("real.md"), markdown(skill, "inside")).ok();
            fs::remove_file(at(skill).join("SKILL.md")).ok();
            std::os::unix::fs::symlink(target, at(skill).join("SKILL.md")).ok();
        }
        Edit::LinkFolder(skill) => drop(std::os::unix::fs::symlink(
            world.at("outside/linked"),
            at(skill),
        )),
        Edit::Lower(skill) => write(skill, "skill.md", markdown(skill, "lower")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn after_any_edits_a_warm_look_is_a_cold_look(batches in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..7)) {
        let world = World::new();
        world.write("outside/real.md", skill_md("s0"));
        world.skill("outside/linked");
        for skill in 0..4 {
            apply(&world, &Edit::Markdown(skill, "aaaa"));
        }
        check(&world);
        for batch in &batches {
            tick(&world);
            batch.iter().for_each(|edit| apply(&world, edit));
            check(&world);
        }
    }
}
