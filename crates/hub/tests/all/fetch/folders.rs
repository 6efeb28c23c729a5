//! Folders on this machine.

use std::{fs, os::unix::fs::symlink};

use metier_catalog::SkillLocation;
use metier_hub::{
    NewContent, TransactionChanges,
    fetch::{FetchError, OfferKind, SkillProblem, SourceLimits, open},
};
use metier_package::{ArchiveLimits, PackageFile, PackagePath, PackageTree, pack};
use proptest::prelude::*;

use super::{User, listing, manifest, names, opened, parsed, refused, typed};

#[test]
fn a_folder_with_one_skill_is_that_skill() {
    let user = User::new();
    user.write("pdf/SKILL.md", manifest("pdf"));
    user.write("pdf/scripts/run.sh", "echo hi\n");
    user.write("pdf/.git/config", "[core]\n");
    for text in [
        typed(&user.files("pdf")),
        typed(&user.files("pdf/SKILL.md")),
        typed(&user.files("pdf")) + "/",
    ] {
        let skills = user.fetch(&text).unwrap();
        let [skill] = skills.as_slice() else {
            panic!("{skills:?}")
        };
        assert_eq!(skill.name, "pdf");
        assert_eq!(
            listing(skill),
            [
                format!("SKILL.md: {}", manifest("pdf")),
                "scripts/run.sh: echo hi\n".to_owned()
            ]
        );
        assert_eq!(skill.origin.source, typed(&user.files("pdf")));
        assert_eq!(skill.origin.version.as_ref().unwrap().to_string(), "1.2.0");
    }
}

#[test]
fn a_home_is_written_with_a_tilde() {
    let user = User::new();
    let folder = user.path("home").join("skills/pdf");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), manifest("pdf")).unwrap();
    let access = user.access();
    assert_eq!(names(&opened(&access, "~/skills")), ["pdf pdf"]);
}

#[test]
fn skills_are_found_as_the_catalog_finds_them() {
    let user = User::new();
    for (path, name) in [
        ("skills/pdf/SKILL.md", "pdf"),
        ("skills/pdf/nested/SKILL.md", "part-of-pdf"),
        (".claude/skills/docx/SKILL.md", "docx"),
        ("deep/er/est/x/SKILL.md", "x"),
        ("skills/low/skill.md", "low"),
        ("node_modules/no/SKILL.md", "no"),
        (".git/no/SKILL.md", "no"),
    ] {
        user.write(path, manifest(name));
    }
    user.write("skills/yaml/SKILL.yaml", "name: yaml\ndescription: Y.\n");
    user.write("skills/bad/SKILL.md", "no frontmatter");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("SKILL.md"), manifest("outside")).unwrap();
    symlink(outside.path(), user.files("skills/link")).unwrap();
    let access = user.access();
    let opened = opened(&access, &typed(&user.path("files")));
    assert_eq!(
        names(&opened),
        [
            "docx .claude/skills/docx",
            "x deep/er/est/x",
            "bad skills/bad",
            "low skills/low",
            "pdf skills/pdf",
            "yaml skills/yaml",
        ]
    );
    assert_eq!(
        opened.left_out(),
        ["`skills/link` is a link and was not followed"]
    );
}

#[test]
fn a_plugin_with_hooks_is_offered_as_a_whole() {
    let user = User::new();
    user.write(
        "tool/.claude-plugin/plugin.json",
        r#"{"name": "tool", "description": "T."}"#,
    );
    user.write("tool/hooks/hooks.json", "{}");
    user.write("tool/hooks/run.sh", "echo\n");
    user.write("tool/skills/a/SKILL.md", manifest("a"));
    user.write("plain/.claude-plugin/plugin.json", r#"{"name": "plain"}"#);
    user.write("plain/skills/b/SKILL.md", manifest("b"));
    user.write(
        ".claude-plugin/marketplace.json",
        r#"{"name": "m", "plugins": [
            {"name": "tool", "source": "./tool"},
            {"name": "inner", "source": "./", "skills": ["./plain/skills/b/more"]},
            {"name": "far", "description": "F.", "source": {"source": "github", "repo": "a/b"}}
        ]}"#,
    );
    user.write("plain/skills/b/more/SKILL.md", manifest("more"));
    let access = user.access();
    let opened = opened(&access, &typed(&user.path("files")));
    let shown: Vec<String> = opened
        .offers()
        .iter()
        .map(|offer| format!("{} {} {:?}", offer.name, offer.folder, offer.plugin))
        .collect();
    assert_eq!(
        shown,
        [
            "b plain/skills/b None",
            r#"more plain/skills/b/more Some("inner")"#,
            r#"a tool/skills/a Some("tool")"#,
            r#"tool-plugin tool Some("tool")"#,
        ]
    );
    let plugin = opened.offers().last().unwrap();
    assert_eq!(plugin.kind, OfferKind::Plugin);
    let files = listing(&opened.read(plugin).unwrap());
    assert_eq!(files.len(), 4, "{files:?}");
    let [far] = opened.elsewhere() else { panic!() };
    assert_eq!(
        (far.name.as_str(), far.source.to_string().as_str()),
        ("far", "a/b")
    );
}

#[test]
fn a_link_in_a_skill_is_refused_with_its_name() {
    let user = User::new();
    user.write("pdf/SKILL.md", manifest("pdf"));
    user.write("pdf/a.md", "a");
    symlink("../a.md", user.files("pdf/inner")).unwrap();
    symlink("/etc/passwd", user.files("pdf/zz")).unwrap();
    let access = user.access();
    let opened = opened(&access, &typed(&user.files("pdf")));
    let error = opened.read(&opened.offers()[0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the skill in `.` can't be installed: `inner` is a link; a package contains only files and folders"
    );
    assert!(error.hint().is_some());
}

#[test]
fn a_manifest_that_is_a_link_is_no_way_to_another_file() {
    let user = User::new();
    user.write("secret", manifest("secret"));
    fs::create_dir_all(user.files("pdf")).unwrap();
    symlink("../secret", user.files("pdf/SKILL.md")).unwrap();
    let access = user.access();
    let opened = opened(&access, &typed(&user.files("pdf")));
    let offer = &opened.offers()[0];
    assert_eq!(
        (offer.name.as_str(), offer.description.as_str()),
        ("pdf", "")
    );
    assert!(offer.problem.is_some());
    assert!(opened.read(offer).is_err());
}

#[test]
fn special_files_and_odd_names_refuse_the_skill_and_no_other() {
    let user = User::new();
    user.write("good/SKILL.md", manifest("good"));
    user.write("pipe/SKILL.md", manifest("pipe"));
    let pipe = user.files("pipe/fifo");
    let made = rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR);
    made.unwrap();
    user.write("name/SKILL.md", manifest("name"));
    user.write("name/a:b", "x");
    user.write("case/SKILL.md", manifest("case"));
    user.write("case/README", "x");
    user.write("case/readme", "x");
    let access = user.access();
    let opened = opened(&access, &typed(&user.path("files")));
    let read: Vec<(String, Result<usize, String>)> = opened
        .offers()
        .iter()
        .map(|offer| {
            let read = opened.read(offer);
            let read = read.map(|skill| skill.tree.files().len());
            (offer.name.clone(), read.map_err(|error| error.to_string()))
        })
        .collect();
    for (name, result) in read {
        match (name.as_str(), result) {
            ("good", Ok(1)) => {}
            ("pipe", Err(error)) => assert!(error.contains("`fifo` is neither"), "{error}"),
            ("name", Err(error)) => assert!(error.contains("a:b"), "{error}"),
            ("case", Err(error)) => assert!(error.contains("the same file"), "{error}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_skill_over_a_limit_is_refused() {
    let user = User::new();
    user.write("pdf/SKILL.md", manifest("pdf"));
    user.write("pdf/large", vec![b'x'; 5_000]);
    user.write("pdf/other", vec![b'x'; 3_000]);
    let access = user.access();
    let read = |archive| {
        let limits = SourceLimits {
            archive,
            ..SourceLimits::default()
        };
        let source = parsed(&typed(&user.files("pdf")));
        let opened = open(&source, &access, &limits, &()).unwrap();
        match opened.read(&opened.offers()[0]) {
            Err(FetchError::Skill { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    };
    let usual = ArchiveLimits::default();
    let path = "large".to_owned();
    assert_eq!(
        read(ArchiveLimits {
            file: 4_999,
            ..usual
        }),
        SkillProblem::FileTooLarge { path, limit: 4_999 }
    );
    assert_eq!(
        read(ArchiveLimits {
            unpacked: 8_000,
            ..usual
        }),
        SkillProblem::TooLarge(8_000)
    );
    assert_eq!(
        read(ArchiveLimits {
            entries: 2,
            ..usual
        }),
        SkillProblem::TooMany(2)
    );
}

#[test]
fn what_is_not_there_or_has_no_skill_is_an_error() {
    let user = User::new();
    fs::create_dir(user.files("empty")).unwrap();
    let missing = refused(user.fetch(&typed(&user.files("none"))));
    assert!(missing.ends_with("does not exist"), "{missing}");
    let empty = refused(user.fetch(&typed(&user.files("empty"))));
    assert!(
        empty.ends_with("contains no SKILL.md or SKILL.yaml"),
        "{empty}"
    );
    for folder in ["bare.git/objects", "bare.git/refs"] {
        fs::create_dir_all(user.files(folder)).unwrap();
    }
    fs::write(user.files("bare.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let bare = refused(user.fetch(&typed(&user.files("bare.git"))));
    assert!(bare.ends_with("is a bare git repository"), "{bare}");
}

fn tree_strategy() -> impl Strategy<Value = PackageTree> {
    let name = "[a-z]{1,3}(/[a-z]{1,3}){0,2}";
    let content = proptest::collection::vec(any::<u8>(), 0..200);
    let files = proptest::collection::btree_map(name, content, 0..8);
    files.prop_filter_map("files that are folders", |files| {
        let mut files: Vec<PackageFile> = files
            .into_iter()
            .map(|(path, bytes)| PackageFile {
                path: PackagePath::new(path.as_bytes()).unwrap(),
                bytes,
            })
            .collect();
        files.push(PackageFile {
            path: PackagePath::new(b"SKILL.md").unwrap(),
            bytes: manifest("pdf").into_bytes(),
        });
        PackageTree::new(files).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For any skill, the bytes that are read are placed, and are those whose digest the catalog computes.
    #[test]
    fn the_digest_of_what_is_read_is_the_catalog_s(tree in tree_strategy()) {
        let user = User::new();
        let changes = TransactionChanges::open(&user.path("changes")).unwrap();
        let place = user.files("pdf");
        let put = |place: &std::path::Path, tree: &PackageTree| {
            let mut change = changes.begin("install", "now").unwrap();
            change.set(place, NewContent::Tree(tree.clone())).unwrap();
            change.commit().unwrap();
            SkillLocation::Folder(place.to_owned()).digest().unwrap()
        };
        prop_assert_eq!(put(&place, &tree), tree.digest());
        user.write("pdf.skill", pack("pdf", &tree).unwrap());
        for (number, source) in ["pdf", "pdf.skill"].into_iter().enumerate() {
            let read = user.fetch(&typed(&user.files(source))).unwrap().remove(0);
            prop_assert_eq!(&read.tree, &tree);
            let again = user.path("home").join(format!("again-{number}"));
            prop_assert_eq!(put(&again, &read.tree), tree.digest());
        }
    }
}
