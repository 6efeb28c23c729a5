//! Verdicts of the scanner, stored by the digest of the skill and the identity of the rules.
//!
//! A list shows ten thousand verdicts without scanning, so this is one file that is read as a whole and searched in
//! place: a sorted table of fixed width, then the strings. It is a cache: replaced atomically, valid only if its
//! checksum matches, and losing it costs a scan. Only the newest verdicts are kept.

use std::{
    io,
    time::{SystemTime, UNIX_EPOCH},
};

use metier_model::Digest;

use crate::{
    codec::{RecordReader, RecordWriter},
    index::{IndexHome, create_private, replace},
    manifest_file::read_bytes,
};

const MAGIC: &[u8; 8] = b"METIERV\x01";
/// Magic, checksum, stamp, count.
const HEAD: usize = 8 + 4 + 8 + 4;
/// Digest, rules, time, offset of the strings.
const WIDTH: usize = 32 + 8 + 8 + 4;
const FILE: &str = "verdicts";

/// The maximum number of verdicts.
const MOST: usize = 200_000;
/// The maximum size of the file, in bytes: all verdicts with strings of maximum length.
const MAX_BYTES: u64 = 128 << 20;

/// The part of a scan result that a list shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedVerdict {
    /// The skill's name at the scan: the scanner uses it.
    pub name: Box<str>,
    /// The verdict, as it is written in JSON.
    pub verdict: Box<str>,
    /// The rule of the worst finding; empty if there is none.
    pub rule: Box<str>,
    /// The file of that finding, relative to the skill's folder.
    pub file: Box<str>,
    /// The line of that finding; 0 if there is none.
    pub line: u32,
    /// The message of that finding.
    pub message: Box<str>,
}

/// The key of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerdictKey {
    /// The digest of the exact bytes.
    pub digest: [u8; 32],
    /// The identity of the rules.
    pub rules: u64,
}

/// The verdicts of earlier scans.
#[derive(Debug, Default)]
pub struct Verdicts {
    bytes: Vec<u8>,
    count: usize,
}

impl Verdicts {
    /// Reads the verdicts of a cache folder; none if there is no valid file. Another version of metier has other
    /// rules, so its verdicts are ignored.
    #[must_use]
    pub fn load(home: &IndexHome) -> Self {
        let bytes = read_bytes(&home.folder.join(FILE), MAX_BYTES).unwrap_or_default();
        Self::decode(bytes, home.stamp).unwrap_or_default()
    }

    fn decode(bytes: Vec<u8>, stamp: u64) -> Option<Self> {
        let (magic, rest) = bytes.split_at_checked(8)?;
        let (checksum, body) = rest.split_at_checked(4)?;
        if magic != MAGIC || crc32fast::hash(body).to_le_bytes() != checksum {
            return None;
        }
        let mut input = RecordReader::at(&bytes, 12);
        if input.u64()? != stamp {
            return None;
        }
        let count = input.u32()? as usize;
        let fits = count.checked_mul(WIDTH)?.checked_add(HEAD)? <= bytes.len();
        fits.then_some(Self { bytes, count })
    }

    /// Whether there are no verdicts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The verdict about these bytes, by these rules, under this name.
    #[must_use]
    pub fn find(&self, digest: Digest, rules: u64, name: &str) -> Option<NotedVerdict> {
        let wanted = VerdictKey {
            digest: digest.0,
            rules,
        };
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            let (found, _, offset) = self.row(middle)?;
            match found.cmp(&wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return self.text(offset).filter(|noted| *noted.name == *name);
                }
            }
        }
        None
    }

    fn row(&self, index: usize) -> Option<(VerdictKey, u64, u32)> {
        let start = HEAD + index * WIDTH;
        let digest = self.bytes.get(start..start + 32)?.try_into().ok()?;
        let mut input = RecordReader::at(&self.bytes, start + 32);
        let (rules, at, offset) = (input.u64()?, input.u64()?, input.u32()?);
        Some((VerdictKey { digest, rules }, at, offset))
    }

    fn text(&self, offset: u32) -> Option<NotedVerdict> {
        let mut input = RecordReader::at(&self.bytes, offset as usize);
        let line = input.u32()?;
        let mut text = || Some(Box::from(std::str::from_utf8(input.bytes()?).ok()?));
        Some(NotedVerdict {
            line,
            name: text()?,
            verdict: text()?,
            rule: text()?,
            file: text()?,
            message: text()?,
        })
    }

    /// Adds verdicts to those of a cache folder and writes them. Verdicts that another process writes at the same
    /// moment can be lost, and are computed again.
    ///
    /// # Errors
    /// If the folder can't be written to.
    pub fn add(
        home: &IndexHome,
        new: Vec<(VerdictKey, NotedVerdict)>,
        now: SystemTime,
    ) -> io::Result<()> {
        let now = now
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let folder = &home.folder;
        let old = Self::load(home);
        let known = (0..old.count).filter_map(|index| {
            let (key, at, offset) = old.row(index)?;
            Some((key, at, old.text(offset)?))
        });
        let mut all: Vec<(VerdictKey, u64, NotedVerdict)> = new
            .into_iter()
            .map(|(key, noted)| (key, now, noted))
            .chain(known)
            .collect();
        // The sort is stable, so that of two with the same key the new one is first.
        all.sort_by_key(|(key, ..)| *key);
        all.dedup_by_key(|(key, ..)| *key);
        if all.len() > MOST {
            all.sort_by_key(|(_, at, _)| std::cmp::Reverse(*at));
            all.truncate(MOST);
            all.sort_by_key(|(key, ..)| *key);
        }
        create_private(folder)?;
        replace(&folder.join(FILE), &encode(&all, home.stamp))
    }
}

fn encode(all: &[(VerdictKey, u64, NotedVerdict)], stamp: u64) -> Vec<u8> {
    let mut texts = RecordWriter::default();
    let mut offsets = Vec::with_capacity(all.len());
    let start = HEAD + all.len() * WIDTH;
    let mut length = 0;
    for (.., noted) in all {
        offsets.push(u32::try_from(start + length).unwrap_or(u32::MAX));
        texts.u32(noted.line);
        length += 4;
        for text in [
            &noted.name,
            &noted.verdict,
            &noted.rule,
            &noted.file,
            &noted.message,
        ] {
            texts.bytes(text.as_bytes());
            length += 4 + text.len();
        }
    }
    let mut body = RecordWriter::default();
    body.u64(stamp);
    body.u32(u32::try_from(all.len()).unwrap_or(u32::MAX));
    for ((key, at, _), offset) in all.iter().zip(offsets) {
        body.raw(&key.digest);
        body.u64(key.rules);
        body.u64(*at);
        body.u32(offset);
    }
    body.raw(&texts.into_bytes());
    let body = body.into_bytes();
    let mut content = Vec::with_capacity(body.len() + 12);
    content.extend_from_slice(MAGIC);
    content.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    content.extend_from_slice(&body);
    content
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn noted(name: &str, verdict: &str) -> NotedVerdict {
        NotedVerdict {
            name: name.into(),
            verdict: verdict.into(),
            rule: "exfiltration/credentials".into(),
            file: "scripts/x.sh".into(),
            line: 3,
            message: "a key leaves".into(),
        }
    }

    fn key(byte: u8, rules: u64) -> VerdictKey {
        VerdictKey {
            digest: [byte; 32],
            rules,
        }
    }

    fn home(folder: &tempfile::TempDir, stamp: u64) -> IndexHome {
        IndexHome {
            folder: folder.path().to_owned(),
            stamp,
        }
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_verdict_is_found_by_bytes_rules_and_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = home(&folder, 7);
        let new = vec![
            (key(9, 1), noted("z", "clean")),
            (key(1, 1), noted("a", "critical")),
            (key(1, 2), noted("a", "warning")),
        ];
        Verdicts::add(&home, new, at(1)).expect("written");
        Verdicts::add(&home, vec![(key(9, 1), noted("z", "info"))], at(2)).expect("again");
        let verdicts = Verdicts::load(&home);
        let find = |byte, rules, name| {
            let found = verdicts.find(Digest([byte; 32]), rules, name);
            found.map(|noted| noted.verdict.to_string())
        };
        assert_eq!(find(1, 1, "a").as_deref(), Some("critical"));
        assert_eq!(find(1, 2, "a").as_deref(), Some("warning"));
        assert_eq!(find(9, 1, "z").as_deref(), Some("info"), "the newer counts");
        assert_eq!(find(1, 3, "a"), None, "other rules");
        assert_eq!(find(1, 1, "b"), None, "another name");
        assert_eq!(find(2, 1, "a"), None, "other bytes");
        let other = IndexHome { stamp: 8, ..home };
        assert!(Verdicts::load(&other).is_empty(), "another program");
        let whole = verdicts.find(Digest([1; 32]), 1, "a").expect("a verdict");
        assert_eq!(whole, noted("a", "critical"));
    }

    #[test]
    fn a_damaged_file_is_an_empty_cache() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = home(&folder, 7);
        assert!(Verdicts::load(&home).is_empty(), "no file");
        Verdicts::add(&home, vec![(key(1, 1), noted("a", "clean"))], at(1)).expect("ok");
        let file = folder.path().join(FILE);
        let whole = std::fs::read(&file).expect("the file");
        for broken in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[broken] ^= 0x10;
            std::fs::write(&file, &bytes).expect("written");
            assert!(Verdicts::load(&home).is_empty(), "byte {broken}");
            std::fs::write(&file, &whole[..broken]).expect("written");
            assert!(Verdicts::load(&home).is_empty(), "cut at {broken}");
        }
        Verdicts::add(&home, vec![(key(2, 1), noted("b", "clean"))], at(1)).expect("ok");
        assert!(!Verdicts::load(&home).is_empty(), "it repairs itself");
    }

    #[test]
    fn only_the_newest_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = home(&folder, 7);
        let many = |from: u64, number: u64| {
            (from..from + number)
                .map(|number| {
                    let mut digest = [0; 32];
                    digest[..8].copy_from_slice(&number.to_be_bytes());
                    (VerdictKey { digest, rules: 1 }, noted("a", "clean"))
                })
                .collect::<Vec<_>>()
        };
        Verdicts::add(&home, many(0, 10), at(1)).expect("written");
        Verdicts::add(&home, many(10, MOST as u64), at(2)).expect("written");
        let verdicts = Verdicts::load(&home);
        assert_eq!(verdicts.count, MOST);
        assert_eq!(verdicts.find(Digest([0; 32]), 1, "a"), None);
    }
}
