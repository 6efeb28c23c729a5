//! What installing from a registry costs, for `cargo xtask bench hub`: each line is a name and a number.
//!
//! `hub METIER FOLDER`: a registry in this process with a hundred small skills, which the program installs with scans into a new home; and the
//! resolution of a graph of a thousand skills.
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

const SKILLS: usize = 100;
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

/// Skills of five files each, which ask for no permission.
fn registry(folder: &Path) -> Result<BackgroundServer, Box<dyn Error>> {
    let database = SqliteDatabase::open(&folder.join("registry.db"))?;
    let token = NewToken::generate("bench", &TokenScope::Admin, NOW)?;
    database.add_token(&token.stored)?;
    let blobs = FolderBlobs::open(&folder.join("packages"))?;
    let registry = Registry::new(Arc::new(database), Arc::new(blobs), || NOW.to_owned());
    for number in 0..SKILLS {
        let name = format!("bench-{number}");
        let manifest = format!(
            "---\nname: {name}\ndescription: Does the work of {name} when a report is due.\nversion: 1.0.0\n---\n{}",
            "Read the notes, then write one paragraph about each of them.\n".repeat(20)
        );
        let mut files = vec![("SKILL.md".to_owned(), manifest)];
        for part in 0..4 {
            let text = format!("A note about part {part} of {number}.\n").repeat(40);
            files.push((format!("references/part-{part}.md"), text));
        }
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
