//! A requested path leads to a regular file inside the skill, or nowhere.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::net::UnixListener,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use metier_catalog::{BUILTINS, ReadError, Resource, SkillLocation};
use metier_testkit::patience::ends;
use proptest::{prelude::*, test_runner::TestRunner};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::{World, only, place};

const LIMIT: u64 = 1000;

/// How a path is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    BadPath,
    NotFound,
    NotAFile,
    HardLink,
    TooLarge,
    Os,
}

fn refusal(error: &ReadError) -> Refusal {
    match error {
        ReadError::BadPath { .. } => Refusal::BadPath,
        ReadError::NotFound(_) => Refusal::NotFound,
        ReadError::NotAFile { .. } => Refusal::NotAFile,
        ReadError::HardLink(_) => Refusal::HardLink,
        ReadError::TooLarge { .. } => Refusal::TooLarge,
        ReadError::Os { .. }
        | ReadError::Remote { .. }
        | ReadError::Unverified { .. }
        | ReadError::TooManyFiles { .. }
        | ReadError::TooDeep { .. }
        | ReadError::PathTooLong { .. } => Refusal::Os,
    }
}

#[track_caller]
fn check(place: &SkillLocation, path: &str, expected: Refusal) {
    let shown: String = path.chars().take(80).collect();
    match place.read(path, LIMIT) {
        Ok(content) => panic!(
            "{shown:?} was read: {:?}",
            String::from_utf8_lossy(&content)
        ),
        Err(error) => assert_eq!(refusal(&error), expected, "{shown:?}: {error}"),
    }
}

/// The folder does not exist: opening anything would give another error.
#[track_caller]
fn check_unopened(path: &str, expected: Refusal) {
    check(&place("/nonexistent/skill"), path, expected);
    check(&SkillLocation::Builtin(&BUILTINS[0]), path, expected);
}

// case 1, 2
#[test]
fn a_path_that_leads_upwards_is_refused_before_any_open() {
    for path in [
        "..",
        "../",
        "../../etc/passwd",
        "references/../../other-skill/secret.md",
        "references/../SKILL.md",
        "./../x",
        "a/b/..",
        "a/../../../../../../etc/passwd",
    ] {
        check_unopened(path, Refusal::BadPath);
    }
}

// case 3
#[test]
fn an_absolute_path_or_an_address_is_refused_before_any_open() {
    for path in [
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "~/.ssh/id_rsa",
        "~root/x",
        "file:///etc/passwd",
        "http://example.com/x",
        "data:text/plain,x",
    ] {
        check_unopened(path, Refusal::BadPath);
    }
}

// case 4, 8
#[test]
fn a_path_of_another_system_is_refused_on_this_one_too() {
    for path in [
        "..\\..\\windows\\win.ini",
        "references\\x.md",
        "C:\\x",
        "C:x",
        "C:/x",
        "\\\\server\\share",
        "\\\\?\\C:\\x",
        "x.md::$DATA",
        "x.md:stream",
    ] {
        check_unopened(path, Refusal::BadPath);
    }
}

// case 8
#[test]
fn names_that_mean_something_else_elsewhere_are_refused() {
    for path in [
        "CON",
        "con",
        "NUL",
        "nul.txt",
        "aux.md",
        "PRN.tar.gz",
        "COM1",
        "com9.txt",
        "LPT1.md",
        "references/aux.md",
        "aux/x.md",
        "x.md.",
        "x.md ",
        "a./x.md",
        "a /x.md",
        "...",
        ". ",
        "x...",
    ] {
        check_unopened(path, Refusal::BadPath);
    }
}

// case 7
#[test]
fn a_nul_character_is_refused() {
    for path in ["a.md\0.png", "\0", "a\0/../x"] {
        check_unopened(path, Refusal::BadPath);
    }
}

// case 5, 6
#[test]
fn nothing_is_decoded_or_normalised() {
    let world = World::new();
    world.write("root/s/SKILL.md", "x");
    world.write("root/secret.md", "secret");
    let strange = [
        "%2e%2e%2fsecret.md",
        "%252e%252e%252fsecret.md",
        "..%2fsecret.md",
        "．．／secret.md",
        "‥",
        "‥∕secret.md",
        "\u{2215}etc\u{2215}passwd",
        "a\u{202e}b.md",
        "..;",
    ];
    let skill = place(world.at("root/s"));
    for name in strange {
        check(&skill, name, Refusal::NotFound);
    }
    for name in strange {
        world.write(&format!("root/s/{name}"), name);
        assert_eq!(skill.read(name, LIMIT), Ok(name.as_bytes().to_vec()));
    }
}

// case 9
#[test]
fn a_path_without_a_file_is_reported() {
    let world = World::new();
    world.write("root/s/references/x.md", "x");
    let skill = place(world.at("root/s"));
    check_unopened("", Refusal::BadPath);
    for path in [
        ".",
        "./",
        "./.",
        "references/",
        "references/.",
        "references",
        "references//",
    ] {
        check(&skill, path, Refusal::NotAFile);
    }
    for path in ["x.md", "references/y.md", "nothing/x.md"] {
        check(&skill, path, Refusal::NotFound);
    }
    check(&skill, "references/x.md/y", Refusal::NotAFile);
}

#[test]
fn harmless_detours_are_fine() {
    let world = World::new();
    world.write("root/s/references/x.md", "x");
    world.write("root/s/.hidden", "h");
    let skill = place(world.at("root/s"));
    for path in [
        "references/x.md",
        "./references/x.md",
        "references//x.md",
        "references/./x.md",
    ] {
        assert_eq!(skill.read(path, LIMIT), Ok(b"x".to_vec()), "{path}");
    }
    assert_eq!(skill.read(".hidden", LIMIT), Ok(b"h".to_vec()));
}

// case 10
#[test]
fn paths_beyond_the_limits_are_refused_before_any_open() {
    for path in [
        "a".repeat(4097),
        "a/".repeat(2049),
        "a/".repeat(10_000) + "x",
        "a".repeat(256),
        format!("x/{}/y", "é".repeat(128)),
        "a/".repeat(65) + "x",
    ] {
        check_unopened(&path, Refusal::BadPath);
    }
    let world = World::new();
    let name = "a".repeat(255);
    world.write(&format!("root/s/{name}"), "x");
    assert_eq!(
        place(world.at("root/s")).read(&name, LIMIT),
        Ok(b"x".to_vec())
    );
}

// case 59
#[test]
fn an_error_shows_a_short_and_visible_path() {
    let evil = format!("../\u{1b}]0;x\u{7}\u{202e}{}", "long".repeat(500));
    let error = place("/nonexistent")
        .read(&evil, LIMIT)
        .unwrap_err()
        .to_string();
    assert!(error.len() < 400, "{error}");
    assert!(
        !error.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{error:?}"
    );
}

// case 2, 11, 12, 13
#[test]
fn a_link_is_never_followed() {
    let world = World::new();
    world.skill("root/s");
    world.write("outside/secret.md", "secret");
    world.write("root/s/inside.md", "inside");
    world.write("root/other/secret.md", "another skill's");
    world.link(world.at("outside/secret.md"), "root/s/absolute.md");
    world.link("../../outside/secret.md", "root/s/relative.md");
    world.link("inside.md", "root/s/sibling.md");
    world.link("sibling.md", "root/s/chain.md");
    world.link("loop.md", "root/s/loop.md");
    world.link("nowhere", "root/s/broken.md");
    world.link(world.at("outside"), "root/s/folder");
    world.link(".", "root/s/here");
    world.link("..", "root/s/up");
    world.link("/proc/self/environ", "root/s/environ");
    let skill = place(world.at("root/s"));
    for path in [
        "absolute.md",
        "relative.md",
        "sibling.md",
        "chain.md",
        "loop.md",
        "broken.md",
        "folder",
        "folder/secret.md",
        "here/inside.md",
        "up/other/secret.md",
        "environ",
    ] {
        check(&skill, path, Refusal::NotAFile);
    }
}

// case 15
#[test]
fn a_hard_link_is_refused() {
    let world = World::new();
    world.skill("root/s");
    let secret = world.write("outside/secret.md", "secret");
    fs::hard_link(secret, world.at("root/s/notes.md")).unwrap();
    check(&place(world.at("root/s")), "notes.md", Refusal::HardLink);
}

// case 16
#[test]
fn only_regular_files_are_read_without_blocking() {
    let world = World::new();
    world.skill("root/s");
    world.fifo("root/s/fifo");
    let _listener = UnixListener::bind(world.at("root/s/socket")).unwrap();
    let skill = place(world.at("root/s"));
    ends("reading it", move || {
        check(&skill, "fifo", Refusal::NotAFile);
        check(&skill, "socket", Refusal::NotAFile);
        for device in ["null", "zero"] {
            check(&place("/dev"), device, Refusal::NotAFile);
        }
    });
}

// case 17
#[test]
fn a_file_is_read_up_to_the_limit_and_not_a_byte_further() {
    let world = World::new();
    let skill = place(world.folder("root/s"));
    world.write("root/s/exact", vec![b'x'; 1000]);
    world.write("root/s/more", vec![b'x'; 1001]);
    world.write("root/s/empty", "");
    File::create(world.at("root/s/sparse"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!(
        skill.read("exact", LIMIT).map(|content| content.len()),
        Ok(1000)
    );
    assert_eq!(skill.read("empty", 0), Ok(Vec::new()));
    check(&skill, "more", Refusal::TooLarge);
    check(&skill, "sparse", Refusal::TooLarge);
    assert_eq!(
        refusal(&skill.read("exact", 0).unwrap_err()),
        Refusal::TooLarge
    );
}

// case 17
#[test]
fn a_file_that_is_larger_than_declared_is_cut_off() {
    let error = place("/proc/self").read("mountinfo", 10).unwrap_err();
    assert_eq!(refusal(&error), Refusal::TooLarge);
}

// case 17
#[test]
fn a_file_that_grows_meanwhile_is_never_more_than_the_limit() {
    let world = World::new();
    let mut file = File::create(world.write("root/s/log", "")).unwrap();
    let skill = place(world.at("root/s"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if file.write_all(&[b'x'; 100]).is_err() || file.metadata().unwrap().len() > 5000 {
                    file.set_len(0).unwrap();
                    file = File::create(world.at("root/s/log")).unwrap();
                }
            }
        });
        for _ in 0..2000 {
            match skill.read("log", LIMIT) {
                Ok(content) => assert!(content.len() <= 1000),
                Err(error) => assert_eq!(refusal(&error), Refusal::TooLarge),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Swaps two names continuously, while `work` runs.
fn while_swapping(a: &Path, b: &Path, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        struct Done<'d>(&'d AtomicBool);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _done = Done(&done);
        work();
    });
}

/// Reads `path` many times: the content is always that from inside, or there is an error.
fn always_from_inside(skill: &SkillLocation, path: &str) {
    let (mut inside, mut refused) = (0, 0);
    for _ in 0..20_000 {
        match skill.read(path, LIMIT) {
            Ok(content) => {
                assert_eq!(content, b"inside");
                inside += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        inside > 0 && refused > 0,
        "nothing raced: {inside} read, {refused} refused"
    );
}

// case 14
#[test]
fn a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere_else() {
    let world = World::new();
    world.write("root/s/sub/deeper/file.md", "inside");
    world.write("outside/deeper/file.md", "outside");
    let link = world.link(world.at("outside"), "root/s/link");
    let skill = place(world.at("root/s"));
    while_swapping(&world.at("root/s/sub"), &link, || {
        always_from_inside(&skill, "sub/deeper/file.md");
    });
}

// case 14
#[test]
fn a_file_that_becomes_a_link_while_it_is_read_leads_nowhere_else() {
    let world = World::new();
    world.write("root/s/file.md", "inside");
    let secret = world.write("outside/file.md", "outside");
    let link = world.link(secret, "root/s/link");
    let skill = place(world.at("root/s"));
    while_swapping(&world.at("root/s/file.md"), &link, || {
        always_from_inside(&skill, "file.md");
    });
}

// case 14
#[test]
fn a_manifest_link_that_is_bent_while_it_is_followed_shows_nothing_from_outside() {
    let world = World::new();
    world.write(
        "root/s/inner/real.md",
        "---\nname: s\ndescription: inside\n---\n",
    );
    world.write(
        "outside/real.md",
        "---\nname: s\ndescription: outside\n---\n",
    );
    world.link("inner/real.md", "root/s/SKILL.md");
    let link = world.link(world.at("outside"), "root/s/link");
    while_swapping(&world.at("root/s/inner"), &link, || {
        for _ in 0..4000 {
            let catalog = world.look();
            if let Some(card) = &only(&catalog).card {
                assert_eq!(&*card.description, "inside");
            }
        }
    });
}

// case 149
#[test]
fn what_git_keeps_for_itself_is_not_part_of_a_skill() {
    let world = World::new();
    world.write("root/s/.git/config", "token");
    world.write("root/s/sub/.git/config", "judged");
    world.write("root/s/.gitignore", "x");
    let skill = place(world.at("root/s"));
    for path in [".git/config", "./.git/config", ".GIT/config", ".git"] {
        check(&skill, path, Refusal::BadPath);
    }
    assert_eq!(skill.read("sub/.git/config", LIMIT), Ok(b"judged".to_vec()));
    assert_eq!(skill.read(".gitignore", LIMIT), Ok(b"x".to_vec()));
}

// case 5
#[test]
fn a_resource_is_text_only_if_it_is() {
    let world = World::new();
    world.write("root/s/text", "héllo");
    world.write("root/s/zero", "a\0b");
    world.write("root/s/latin", b"h\xe9llo");
    world.write("root/s/overlong", b"\xc0\xae\xc0\xae/");
    let skill = place(world.at("root/s"));
    assert_eq!(
        skill.resource("text", LIMIT),
        Ok(Resource::Text("héllo".into()))
    );
    for name in ["zero", "latin", "overlong"] {
        assert!(
            matches!(skill.resource(name, LIMIT), Ok(Resource::Binary(_))),
            "{name}"
        );
    }
}

#[test]
fn a_built_in_skill_is_read_by_the_same_rules() {
    for skill in BUILTINS {
        let place = SkillLocation::Builtin(skill);
        for (path, content) in skill.files {
            assert_eq!(place.read(path, 1 << 20).as_deref(), Ok(*content));
            assert_eq!(
                refusal(&place.read(path, 1).unwrap_err()),
                Refusal::TooLarge
            );
        }
        check(&place, "nothing.md", Refusal::NotFound);
    }
}

/// There are readable files above and inside; only the inner ones are ever read.
// case 1
#[test]
fn no_path_leaves_its_skill() {
    let world = World::new();
    world.write("f", "outside");
    world.write("root/f", "outside");
    world.write("root/s/f", "inside");
    world.write("root/s/a/f", "inside");
    world.link(world.at("root"), "root/s/link");
    let skill = place(world.at("root/s"));
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    };
    let path = "([a-c./\\\\~:% ]|\\.\\./|a/|f|\u{0}|link/|/){0,12}f?";
    TestRunner::new(config)
        .run(&path, |path| {
            if let Ok(content) = skill.read(&path, LIMIT) {
                prop_assert_eq!(content, b"inside");
            }
            Ok(())
        })
        .unwrap();
}
