//! Folders: nested, strange, huge, unreadable.

use std::{
    fs::{self, File},
    os::unix::{ffi::OsStringExt, fs::PermissionsExt},
    path::Path,
    process::Command,
};

use metier_model::{DiagnosticSeverity, Strictness};
use metier_testkit::{needed, needs, patience::in_time};

use crate::{LIMITS, World, codes, errors, found, look, named, options, skill_md};

#[test]
fn skills_lie_in_categories_and_a_skill_ends_the_descent() {
    let world = World::new();
    for name in ["a", "cat/b", "cat/sub/c", ".hidden/d"] {
        world.skill(&format!("root/{name}"));
    }
    world.write("root/a/examples/inner/SKILL.md", skill_md("inner"));
    world.write("root/cat/README.md", "x");
    let catalog = world.look();
    assert_eq!(
        found(&catalog, &world.root()),
        [".hidden/d", "a", "cat/b", "cat/sub/c"]
    );
    assert!(catalog.diagnostics.is_empty());
}

#[test]
fn packages_and_git_are_skipped() {
    let world = World::new();
    world.skill("root/.git/a");
    world.skill("root/node_modules/b");
    world.skill("root/cat/node_modules/c");
    assert!(world.look().entries.is_empty());
}

// case 59
#[test]
fn strange_folder_names_are_found_without_a_panic() {
    let world = World::new();
    let names = [
        b"\xff\xfe".to_vec(),
        b"a\nb".to_vec(),
        b"\x1b[31mred".to_vec(),
        b" ".to_vec(),
        b"-rf".to_vec(),
        "é".into(),
    ];
    for name in &names {
        let folder = world
            .root()
            .join(std::ffi::OsString::from_vec(name.clone()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), skill_md("x")).unwrap();
    }
    let catalog = world.look();
    assert_eq!(catalog.entries.len(), names.len());
    for entry in &catalog.entries {
        assert!(
            entry
                .load(Strictness::Lenient, LIMITS.max_skill_bytes)
                .is_ok()
        );
        for diagnostic in &entry.diagnostics {
            let said = format!(
                "{}{}",
                diagnostic.message,
                diagnostic.hint.clone().unwrap_or_default()
            );
            assert!(!said.contains(char::is_control), "{said:?}");
        }
    }
}

// case 22
#[test]
fn a_folder_of_a_hundred_thousand_files_takes_bounded_time() {
    let world = World::in_memory();
    let big = world.folder("root/big");
    for number in 0..100_000 {
        File::create(big.join(number.to_string())).unwrap();
    }
    world.skill("root/big/a");
    world.skill("root/b");
    let catalog = in_time("the look at it", || world.look());
    assert_eq!(found(&catalog, &world.root()), ["b", "big/a"]);
    assert!(catalog.diagnostics.is_empty());
}

// case 22
#[test]
fn very_deep_folders_are_cut_off_with_a_word() {
    let world = World::new();
    world.skill("root/good");
    world.folder(&format!("root/{}", vec!["d"; 400].join("/")));
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["good"]);
    assert_eq!(codes(&catalog.diagnostics), ["limit-reached"]);
}

// case 22
#[test]
fn other_file_systems_are_not_entered() {
    let device = |path: &str| rustix::fs::stat(path).map(|stat| stat.st_dev).ok();
    let (outer, inner) = (device("/dev"), device("/dev/shm"));
    let is_separate = inner.is_some() && outer != inner && !Path::new("/dev/shm").is_symlink();
    needed!(needs::condition(
        is_separate,
        "case 22: /dev/shm is not a separate file system"
    ));
    let catalog = look(Path::new("/dev"), &options(Strictness::Lenient));
    let about = |diagnostic: &&metier_model::Diagnostic| &*diagnostic.file == "/dev/shm";
    assert_eq!(
        catalog
            .diagnostics
            .iter()
            .filter(about)
            .map(|d| d.code.as_str())
            .collect::<Vec<_>>(),
        ["limit-reached"]
    );
}

/// Root can read everything, so this runs as the user `nobody`.
#[test]
fn what_can_not_be_read_is_reported_and_hides_nothing_else() {
    const NAME: &str =
        "discovery::folders::what_can_not_be_read_is_reported_and_hides_nothing_else";
    if !rustix::process::geteuid().is_root() {
        return unreadable_things_are_reported();
    }
    let exe = std::env::current_exe().unwrap();
    let output = Command::new(needed!(needs::program("setpriv")))
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(exe)
        .args(["--exact", NAME, "--include-ignored"])
        .env("TMPDIR", "/tmp")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(said.contains("1 passed"), "{said}");
}

fn unreadable_things_are_reported() {
    let world = World::new();
    let chmod = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    world.skill("root/good");
    world.skill("root/file");
    world.skill("root/closed");
    world.folder("root/unlisted/inner");
    world.folder("root/unsearchable");
    chmod(&world.at("root/file/SKILL.md"), 0);
    for (name, mode) in [("closed", 0), ("unlisted", 0o311), ("unsearchable", 0o644)] {
        chmod(&world.at(&format!("root/{name}")), mode);
    }
    let catalog = world.look();
    for name in ["closed", "unlisted", "unsearchable"] {
        chmod(&world.at(&format!("root/{name}")), 0o755);
    }
    assert!(named(&catalog, "good").card.is_some());
    assert_eq!(errors(named(&catalog, "file")), ["file-unreadable"]);
    for name in ["closed", "unlisted", "unsearchable"] {
        let listed = catalog
            .entries
            .iter()
            .any(|entry| entry.name() == name && errors(entry) == ["file-unreadable"]);
        let path = world
            .at(&format!("root/{name}"))
            .to_string_lossy()
            .into_owned();
        let reported = catalog
            .diagnostics
            .iter()
            .any(|d| *d.file == path && d.code.as_str() == "folder-unreadable");
        assert!(listed || reported, "{name} was passed over: {catalog:?}");
    }
    chmod(&world.root(), 0o311);
    let catalog = world.look();
    chmod(&world.root(), 0o755);
    assert_eq!(codes(&catalog.diagnostics), ["root-unreadable"]);
    assert_eq!(catalog.diagnostics[0].severity, DiagnosticSeverity::Error);
}
