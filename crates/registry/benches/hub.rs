//! The cost of installing from a registry, for `cargo xtask bench hub`: each line is a name and a number.
//!
//! `hub METIER FOLDER`: a registry in this process with a hundred small skills, which the program installs with scans into a new home; the
//! same skills from a folder, and with the installers `skills` and `openskills` (npm) if they are on PATH; one skill from a folder; the
//! verification of ten thousand files, compared with reading and hashing them; and the resolution of a graph of a thousand skills.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_package::{Available, PackageFile, PackagePath, PackageTree, pack, resolve};
use metier_registry::http::BackgroundServer;
use metier_registry::{
    FolderBlobs, NewToken, PackageUpload, Registry, RegistryDatabase, SqliteDatabase, TokenScope,
};
use semver::{Version, VersionReq};
use sha2::{Digest as _, Sha256};

const SKILLS: usize = 100;
/// For each verified skill.
const FILES: usize = 100;
const FILE_BYTES: usize = 4_096;
const GRAPH: u64 = 1_000;
const ROUNDS: usize = 5;
const NOW: &str = "2026-01-31T09:00:00Z";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(metier), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("hub METIER FOLDER".into());
    };
    let server = registry(&folder.join("registry"))?;
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let home = folder.join(format!("home-{round}"));
        rounds.push(install(&metier, &home, &server.url())?);
    }
    println!("install_ms {}", median(rounds));
    folders(&metier, &folder)?;
    let available = graph();
    let wanted: Vec<(String, VersionReq)> = (0..GRAPH)
        .map(|number| (name(number), VersionReq::STAR))
        .collect();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let chosen = resolve(&wanted, &available)?;
        rounds.push(started.elapsed());
        assert_eq!(chosen.len() as u64, GRAPH);
    }
    println!("resolve_ms {}", median(rounds));
    Ok(())
}

fn median(mut rounds: Vec<Duration>) -> f64 {
    rounds.sort();
    rounds[rounds.len() / 2].as_secs_f64() * 1000.0
}

/// Installs the skills from folders, also with other programs if they are installed.
fn folders(metier: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let small = folder.join("small");
    for number in 0..SKILLS {
        let name = format!("bench-{number}");
        for (path, text) in skill_files(number, &name) {
            write(&small.join(&name).join(path), text.as_bytes())?;
        }
    }
    let all = ["install", "./small", "--all", "--yes", "--json"];
    println!("folder_ms {}", rounds(folder, "all", metier, &all)?);
    let peers: [(&str, &str, &[&str]); 2] = [
        (
            "skills_ms",
            "skills",
            &["add", "./small", "--all", "-y", "-g"],
        ),
        (
            "openskills_ms",
            "openskills",
            &["install", "./small", "-y", "-g"],
        ),
    ];
    for (figure, program, arguments) in peers {
        if Command::new(program).arg("--help").output().is_ok() {
            let took = rounds(folder, program, Path::new(program), arguments)?;
            println!("{figure} {took}");
        }
    }
    let home = folder.join("home-one");
    let mut one = Vec::new();
    for number in 0..=ROUNDS {
        let path = format!("./small/bench-{number}");
        let took = timed(
            metier,
            &["install", &path, "--yes", "--json"],
            &home,
            folder,
        )?;
        one.push(took);
    }
    // The first one creates the database.
    println!("path_ms {}", median(one.split_off(1)));
    verified(metier, folder)
}

/// Verifying many files, and reading and hashing them without anything else.
fn verified(metier: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let many = folder.join("many");
    let mut paths = Vec::new();
    for number in 0..SKILLS {
        let name = format!("many-{number}");
        let text =
            format!("---\nname: {name}\ndescription: Has many files of notes.\n---\nRead them.\n");
        write(&many.join(&name).join("SKILL.md"), text.as_bytes())?;
        for file in 1..FILES {
            let path = format!("{name}/references/{file}.md");
            let line = format!("A note about part {file} of {number}.\n");
            write(
                &many.join(&path),
                line.repeat(FILE_BYTES / line.len()).as_bytes(),
            )?;
        }
        paths.push(name);
    }
    let home = folder.join("home-many");
    timed(
        metier,
        &["install", "./many", "--all", "--yes", "--json"],
        &home,
        folder,
    )?;
    let placed = home.join(".agents/skills");
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(metier, &["verify", "--json"], &home, folder)?);
        let started = Instant::now();
        for name in &paths {
            hash_folder(&placed.join(name))?;
        }
        raw.push(started.elapsed());
    }
    println!("verify_ms {}", median(ours));
    println!("hash_ms {}", median(raw));
    Ok(())
}

fn hash_folder(folder: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => hash_folder(&entry.path())?,
            false => drop(std::hint::black_box(Sha256::digest(fs::read(
                entry.path(),
            )?))),
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, bytes)?)
}

/// The median of several runs, each in a new home.
fn rounds(
    folder: &Path,
    name: &str,
    program: &Path,
    arguments: &[&str],
) -> Result<f64, Box<dyn Error>> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let home = folder.join(format!("home-{name}-{round}"));
        rounds.push(timed(program, arguments, &home, folder)?);
    }
    Ok(median(rounds))
}

fn timed(
    program: &Path,
    arguments: &[&str],
    home: &Path,
    work: &Path,
) -> Result<Duration, Box<dyn Error>> {
    fs::create_dir_all(home)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(work)
        .env("HOME", home)
        .env("METIER_HOME", home.join("metier"))
        .env("DISABLE_TELEMETRY", "1");
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed();
    match output.status.success() {
        true => Ok(took),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// The files of a skill that requests no permission.
fn skill_files(number: usize, name: &str) -> Vec<(String, String)> {
    let manifest = format!(
        "---\nname: {name}\ndescription: Does the work of {name} when a report is due.\nversion: 1.0.0\n---\n{}",
        "Read the notes, then write one paragraph about each of them.\n".repeat(20)
    );
    let mut files = vec![("SKILL.md".to_owned(), manifest)];
    for part in 0..4 {
        let text = format!("A note about part {part} of {number}.\n").repeat(40);
        files.push((format!("references/part-{part}.md"), text));
    }
    files
}

/// Skills of five files each, which request no permission.
fn registry(folder: &Path) -> Result<BackgroundServer, Box<dyn Error>> {
    let database = SqliteDatabase::open(&folder.join("registry.db"))?;
    let token = NewToken::generate("bench", &TokenScope::Admin, NOW)?;
    database.add_token(&token.stored)?;
    let blobs = FolderBlobs::open(&folder.join("packages"))?;
    let registry = Registry::new(Arc::new(database), Arc::new(blobs), || NOW.to_owned());
    for number in 0..SKILLS {
        let name = format!("bench-{number}");
        let files = skill_files(number, &name);
        let files = files.into_iter().map(|(path, text)| {
            Ok(PackageFile {
                path: PackagePath::new(path.as_bytes())?,
                bytes: text.into_bytes(),
            })
        });
        let files: Result<Vec<PackageFile>, metier_package::PathError> = files.collect();
        let upload = PackageUpload {
            bytes: pack(&name, &PackageTree::new(files?)?)?,
            ..PackageUpload::default()
        };
        registry.publish(Some(&token.secret), &upload)?;
    }
    Ok(BackgroundServer::start(registry)?)
}

fn install(metier: &Path, home: &Path, url: &str) -> Result<Duration, Box<dyn Error>> {
    fs::create_dir_all(home)?;
    let names: Vec<String> = (0..SKILLS)
        .map(|number| format!("bench-{number}"))
        .collect();
    let mut command = Command::new(metier);
    command
        .arg("install")
        .args(&names)
        .args(["--yes", "--json"])
        .current_dir(home)
        .env("HOME", home)
        .env("METIER_HOME", home.join("metier"))
        .env("METIER_SKILLS_REGISTRY_URL", url);
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let placed = fs::read_dir(home.join(".agents/skills"))?.count();
    match placed {
        SKILLS => Ok(took),
        _ => Err(format!("{placed} of {SKILLS} skills were installed").into()),
    }
}

fn name(number: u64) -> String {
    format!("skill-{number}")
}

/// Each skill has three versions; each version requires up to three earlier skills in a range.
fn graph() -> Available {
    let mut available = Available::new();
    for number in 0..GRAPH {
        let mut versions = BTreeMap::new();
        for minor in 0..3 {
            let requires = (1..=3_u64).filter_map(|step| {
                let other = number.checked_sub(step * step * 7)?;
                let range = VersionReq::parse(&format!(">=1.{}, <2", minor % 2)).ok()?;
                Some((name(other), range))
            });
            versions.insert(Version::new(1, minor, 0), requires.collect());
        }
        available.insert(name(number), versions);
    }
    available
}
