//! The files of the search index: written content is found, damaged content is not used.

use std::collections::BTreeSet;

use metier_select::search::{SearchableSkill, SegmentBuilder, SkillIndex};

use super::*;

fn home(folder: &Path) -> IndexHome {
    IndexHome {
        folder: folder.to_owned(),
        stamp: 7,
    }
}

fn key(number: u16) -> SkillKey {
    let mut key = SkillKey::default();
    key[..2].copy_from_slice(&number.to_be_bytes());
    key
}

fn segment(numbers: impl IntoIterator<Item = u16>) -> Segment<IndexBytes> {
    Segment::open(IndexBytes::Memory(part(numbers))).unwrap()
}

fn part(numbers: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut builder = SegmentBuilder::default();
    for number in numbers {
        builder.add(&SearchableSkill {
            key: key(number),
            name: &format!("skill-{number}"),
            description: &format!("Handles topic{number}"),
            body: &format!("common words and subject{number} ").repeat(40),
            marks: 0,
        });
    }
    builder.finish()
}

fn numbers(index: &TextIndex) -> Vec<usize> {
    index.open().iter().map(Segment::len).collect()
}

fn finds(index: &TextIndex, number: u16) -> bool {
    let index = SkillIndex::new(index.open(), |_| true);
    let found = index.search(&format!("subject{number}"), 1).unwrap();
    found.hits.first().is_some_and(|hit| hit.key == key(number))
}

#[test]
fn changed_skills_are_added_to_a_small_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::new(&home(folder.path()), &[], Strictness::Lenient);
    assert!(index.open().is_empty());
    index.add(&[segment(0..1_000)], |_| true).unwrap();
    assert_eq!(numbers(&index), [1_000]);
    index.add(&[segment(1_000..1_010)], |_| true).unwrap();
    index.add(&[segment(1_010..1_020)], |_| true).unwrap();
    assert_eq!(numbers(&index), [1_000, 20]);
    assert!(finds(&index, 3) && finds(&index, 1_005) && finds(&index, 1_015));
    // Removed skills disappear with the next merge.
    let gone: BTreeSet<SkillKey> = (0..600).map(key).collect();
    index
        .add(&[segment(2_000..2_600)], |key| !gone.contains(key))
        .unwrap();
    assert_eq!(numbers(&index), [400 + 20 + 600]);
    assert!(finds(&index, 1_015) && finds(&index, 2_500) && !finds(&index, 3));
}

#[test]
fn a_damaged_or_foreign_file_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::new(&home(folder.path()), &[], Strictness::Lenient);
    index.add(&[segment(0..1_500)], |_| true).unwrap();
    let good = fs::read(&index.base).unwrap();
    assert!(
        good.len() > 2 * 32 * 1024,
        "more than a page: {}",
        good.len()
    );
    let other = IndexHome {
        stamp: 8,
        ..home(folder.path())
    };
    assert!(
        TextIndex::new(&other, &[], Strictness::Lenient)
            .open()
            .is_empty()
    );
    for length in [0, 7, 28, 60, good.len() / 2, good.len() - 1] {
        fs::write(&index.base, &good[..length]).unwrap();
        assert!(index.open().is_empty(), "{length}");
    }
    for position in (0..good.len()).step_by(701) {
        let mut bad = good.clone();
        bad[position] ^= 1;
        fs::write(&index.base, &bad).unwrap();
        let index = SkillIndex::new(index.open(), |_| true);
        // Either the damage is detected, or it is in a page that this search doesn't need.
        if let Ok(found) = index.search("subject7 common", 3) {
            assert!(
                found.hits.is_empty() || found.hits[0].key == key(7),
                "{position}"
            );
        }
    }
    // After damage, a search fails as a whole, and everything is built again.
    let mut bad = good;
    let some = 20_000; // records, which a search reads and opening does not
    bad[..some].iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&index.base, &bad).unwrap();
    let damaged = SkillIndex::new(index.open(), |_| true);
    assert_eq!(damaged.len(), 1_500);
    assert!(damaged.search("subject7 common", 3).is_err());
    index.clear().unwrap();
    assert!(index.open().is_empty());
    index.add(&[segment(0..1_510)], |_| true).unwrap();
    assert!(finds(&index, 1_505));
}

#[test]
fn parts_that_wait_in_files_give_the_same_index() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::new(&home(folder.path()), &[], Strictness::Lenient);
    index
        .add(&[segment(0..500), segment(500..900)], |_| true)
        .unwrap();
    let expected = fs::read(&index.base).unwrap();
    index.clear().unwrap();
    let wait = |numbers| Segment::open(index.wait(part(numbers))).unwrap();
    let parts = [wait(0..500), wait(500..900)];
    index.add(&parts, |_| true).unwrap();
    assert_eq!(fs::read(&index.base).unwrap(), expected);
    // The files have no names, so nothing is left of them.
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 1);
}

#[test]
fn a_damaged_file_is_removed_instead_of_being_merged() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::new(&home(folder.path()), &[], Strictness::Lenient);
    index.add(&[segment(0..1_500)], |_| true).unwrap();
    let mut bad = fs::read(&index.base).unwrap();
    bad[10_000] ^= 1;
    fs::write(&index.base, &bad).unwrap();
    assert!(index.add(&[segment(2_000..4_000)], |_| true).is_err());
    assert!(index.open().is_empty());
}
