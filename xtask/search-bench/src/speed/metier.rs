//! Our index, built and opened as the program does: parts on several threads, merged into a file.

use std::path::{Path, PathBuf};

use metier_catalog::{IndexBytes, IndexHome, TextIndex};
use metier_model::Strictness;
use metier_select::search::{SearchableSkill, Segment, SegmentBuilder, SkillIndex, SkillKey};

use crate::{Result, SkillText};

const THREADS: usize = 2;
const CHUNK: usize = 2_048;

fn files(folder: &Path) -> TextIndex {
    let home = IndexHome {
        folder: folder.to_owned(),
        stamp: 1,
    };
    TextIndex::new(&home, &[], Strictness::Lenient)
}

pub(crate) fn build(paths: &[PathBuf], folder: &Path) -> Result<()> {
    let files = files(folder);
    let mut keyed: Vec<(SkillKey, &PathBuf)> = paths.iter().map(|path| (key(path), path)).collect();
    keyed.sort_unstable();
    let chunks: Vec<&[(SkillKey, &PathBuf)]> = keyed.chunks(CHUNK).collect();
    let mut parts = Vec::new();
    for together in chunks.chunks(THREADS) {
        let made: Vec<Result<Vec<u8>>> = std::thread::scope(|scope| {
            let running: Vec<_> = together
                .iter()
                .map(|chunk| scope.spawn(|| part(chunk)))
                .collect();
            let joined = running.into_iter().map(|thread| thread.join());
            joined
                .map(|made| made.unwrap_or_else(|_| Err("a thread failed".into())))
                .collect()
        });
        for part in made {
            parts.push(Segment::open(files.wait(part?)).ok_or("not a segment")?);
        }
    }
    Ok(files.add(&parts, |_| true)?)
}

fn part(skills: &[(SkillKey, &PathBuf)]) -> Result<Vec<u8>> {
    let mut builder = SegmentBuilder::default();
    for (key, path) in skills {
        let skill = SkillText::read(path)?;
        builder.add(&SearchableSkill {
            key: *key,
            name: &skill.name,
            description: &skill.description,
            body: skill.body(),
            marks: 0,
        });
    }
    Ok(builder.finish())
}

pub(crate) fn open(folder: &Path) -> Result<SkillIndex<IndexBytes>> {
    Ok(SkillIndex::new(files(folder).open(), |_| true))
}

pub(crate) fn search(index: &SkillIndex<IndexBytes>, query: &str) -> Result<usize> {
    Ok(index.search(query, 10)?.hits.len())
}

/// A key that is spread like a digest.
fn key(path: &Path) -> SkillKey {
    let mut key = SkillKey::default();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in path.as_os_str().as_encoded_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let spread = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    key[..8].copy_from_slice(&spread.to_be_bytes());
    key[8..].copy_from_slice(&hash.to_be_bytes());
    key
}
