//! The corpus has the shape it claims, and the same bytes in every run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{CorpusSkill, prose, write};
use crate::bench::random::Random;

const COUNT: usize = 5_000;

/// Frontmatter (with its fences) and body of many skills.
fn skills() -> Vec<(String, usize)> {
    let mut random = Random::new(1);
    let prose = prose(&mut random);
    let skill = |number| {
        let skill = CorpusSkill::new(&mut random, number, &prose);
        (format!("---\n{}---\n", skill.frontmatter), skill.body.len())
    };
    (0..COUNT).map(skill).collect()
}

#[track_caller]
fn quantile(mut values: Vec<usize>, at: f64, expected: std::ops::Range<usize>) {
    values.sort_unstable();
    let value = values[(values.len() as f64 * at) as usize];
    assert!(
        expected.contains(&value),
        "{value} is not in {expected:?} at {at}"
    );
}

#[test]
fn lengths_are_those_of_real_skills() {
    let skills = skills();
    let fronts: Vec<usize> = skills.iter().map(|(front, _)| front.len()).collect();
    quantile(fronts.clone(), 0.5, 270..330);
    quantile(fronts, 0.99, 800..1_200);
    let bodies: Vec<usize> = skills.iter().map(|(_, body)| *body).collect();
    quantile(bodies.clone(), 0.5, 4_800..5_800);
    quantile(bodies.clone(), 0.95, 18_000..23_000);
    quantile(bodies, 0.99, 32_000..42_000);
}

#[track_caller]
fn share(skills: &[(String, usize)], text: &str, percent: f64) {
    let count = skills
        .iter()
        .filter(|(front, _)| front.contains(text))
        .count();
    let found = 100.0 * count as f64 / skills.len() as f64;
    assert!(
        (found - percent).abs() < 1.0 + percent * 0.15,
        "`{text}`: {found} %, not {percent} %"
    );
}

#[test]
fn styles_are_those_of_real_skills() {
    let skills = skills();
    share(&skills, "description: \"", 10.0);
    share(&skills, "description: >-", 8.0);
    share(&skills, "description: Use when: ", 0.8);
    share(&skills, "metadata: {\"openclaw\"", 12.0);
    share(&skills, "metadata:\n  author", 10.0);
    share(&skills, "allowed-tools:", 15.0);
    share(&skills, "no-such-tool", 3.0);
    let foreign = skills
        .iter()
        .filter(|(front, _)| !front.replace(['🔧', '🐛', '📦', '🔊'], "").is_ascii());
    assert!((100..500).contains(&foreign.count()));
}

#[test]
fn the_same_bytes_every_time() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(one.path(), 60).unwrap();
    write(two.path(), 60).unwrap();
    let first = files(one.path());
    assert_eq!(first, files(two.path()));
    let manifests = first
        .keys()
        .filter(|path| path.ends_with("SKILL.md"))
        .count();
    assert_eq!(manifests, 60);
    assert!(first.len() > 60, "some skills have more than one file");
}

fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
