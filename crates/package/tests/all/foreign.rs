//! Archives by other tools.

use std::{fs, path::Path, process::Command};

use metier_package::{ArchiveLimits, PackageTree, read_archive};
use metier_testkit::{needed, needs};

/// A folder with a skill in it, and its tree.
fn skill(folder: &Path) {
    let skill = folder.join("pdf");
    fs::create_dir_all(skill.join("scripts")).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: pdf\n---\n").unwrap();
    fs::write(skill.join("scripts/run.sh"), "echo hi\n").unwrap();
    let deep = skill.join("references").join("x".repeat(90));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("y".repeat(90)), vec![7; 100_000]).unwrap();
}

fn check(folder: &Path, program: &Path, arguments: &[&str], archive: &str) {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let bytes = fs::read(folder.join(archive)).unwrap();
    let read = read_archive(&bytes, ArchiveLimits::default());
    let tree: PackageTree = read.unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    let skill = tree.only_skill().unwrap();
    assert_eq!(skill.files().len(), 3, "{arguments:?}");
    assert_eq!(skill.get("scripts/run.sh"), Some(b"echo hi\n".as_slice()));
}

#[test]
fn archives_of_python_are_read() {
    let folder = tempfile::tempdir().unwrap();
    skill(folder.path());
    let python = needed!(needs::program("python3"));
    let zip = "import shutil; shutil.make_archive('made', 'zip', '.', 'pdf')";
    check(folder.path(), &python, &["-c", zip], "made.zip");
    let tar = "import tarfile\nwith tarfile.open('made.tgz', 'w:gz') as t: t.add('pdf')";
    check(folder.path(), &python, &["-c", tar], "made.tgz");
    let streamed = "import sys, zipfile\nclass Out:\n  def __init__(s): s.f = open('streamed.zip', 'wb')\n  def write(s, b): return s.f.write(b)\n  def flush(s): s.f.flush()\n\
        with zipfile.ZipFile(Out(), 'w', zipfile.ZIP_DEFLATED) as z:\n  import os\n  for d, _, fs in os.walk('pdf'):\n    for f in fs: z.write(os.path.join(d, f))\n";
    check(folder.path(), &python, &["-c", streamed], "streamed.zip");
}

#[test]
fn archives_of_tar_and_git_are_read() {
    let folder = tempfile::tempdir().unwrap();
    skill(folder.path());
    let tar = needed!(needs::program("tar"));
    for arguments in [
        ["--format=pax", "-cf", "made.tar", "pdf"],
        ["--format=pax", "-czf", "made.tar", "pdf"],
        ["--format=posix", "-czf", "made.tar", "./pdf"],
    ] {
        check(folder.path(), &tar, &arguments, "made.tar");
    }
    let git = needed!(needs::program("git"));
    for arguments in [
        &["init", "-q"][..],
        &["add", "pdf"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "x",
        ],
    ] {
        let done = Command::new(&git)
            .args(arguments)
            .current_dir(folder.path())
            .status();
        assert!(done.unwrap().success());
    }
    for format in ["tar", "tar.gz", "zip"] {
        let name = format!("git.{format}");
        let arguments = ["archive", "--format", format, "-o", &name, "HEAD"];
        check(folder.path(), &git, &arguments, &name);
    }
}
