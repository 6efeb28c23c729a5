//! Attacks from their grammar, not from samples.
//!
//! `grammar/*.idioms` has one row per idiom: a secret and a destination, a download and a way to run it, something decoded and run,
//! something persistent, an order in prose. Each row is put into every carrier of its language (a script, a fence, a function, another
//! language, an archive …) and filled with several secrets, hosts and payloads, which makes thousands of skills. Each has a *twin* that
//! differs in the one thing that makes it harmless: the service's own key, a known publisher, text that warns. `grammar/matrix.txt` is the
//! result; with `METIER_BLESS=1` it is rewritten, and its diff is reviewed. A row that is not critical states why, or `missed`.
//!
//! Nothing here is harmful: hosts are reserved names (`.invalid`, `.test`) and documentation addresses (203.0.113.0/24), which have no
//! owner and are unknown to the scanner; where the *kind* of host matters (a paste site, a bucket), the name below it is invented.
//!
//! `METIER_GRAMMAR=DIR cargo test -p metier-scan --test grammar -- --nocapture` judges the idioms of another folder and prints its matrix.

#![allow(clippy::expect_used, reason = "only tests see this")]

#[path = "grammar/carriers.rs"]
mod carriers;
#[path = "grammar/idioms.rs"]
mod idioms;
mod made;
#[path = "grammar/matrix.rs"]
mod matrix;
#[path = "grammar/slots.rs"]
mod slots;

use std::{env, fs, path::Path};

use idioms::IdiomFile;
use matrix::Matrix;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grammar"))
}

fn read(folder: &Path) -> Vec<IdiomFile> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a folder with idioms")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "idioms"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no idioms in {}", folder.display());
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            IdiomFile::parse(&name, &fs::read_to_string(path).expect("text"))
        })
        .collect()
}

/// Whether the matrix equals the recorded one; `METIER_BLESS` records it.
fn check(text: &str) {
    let path = folder().join("matrix.txt");
    if env::var_os("METIER_BLESS").is_some() {
        fs::write(&path, text).expect("the matrix is written");
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    let change = recorded
        .lines()
        .zip(text.lines())
        .find(|(before, now)| before != now);
    assert!(
        recorded == text,
        "the matrix changed, first here: {change:#?}\nMETIER_BLESS=1 rewrites {}: review the diff",
        path.display()
    );
}

#[test]
fn the_matrix_of_idioms_and_carriers_is_as_recorded() {
    let other = env::var_os("METIER_GRAMMAR");
    let files = read(other.as_deref().map_or(folder(), Path::new));
    let text = Matrix::of(&files).text();
    match other {
        Some(_) => println!("{text}"),
        None => check(&text),
    }
}

#[test]
fn every_idiom_has_a_name_of_its_own_and_a_twin() {
    let files = read(folder());
    let mut names: Vec<&str> = Vec::new();
    for idiom in files.iter().flat_map(|file| &file.idioms) {
        assert!(
            idiom.twin.is_some() || idiom.no_twin,
            "`{}` has neither a twin nor the line `~ none`",
            idiom.name
        );
        names.push(&idiom.name);
    }
    let total = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), total, "two idioms have one name");
}
