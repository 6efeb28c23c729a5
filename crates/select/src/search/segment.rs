//! The bytes of an index: the words of each skill with their counts, packed.
//!
//! A segment is never changed. A catalog has one large segment and a small one with later changes; both together
//! give the same results as one segment made of all skills, because everything that depends on the whole catalog (how rare a
//! word is, the usual length of a text) is computed from the living skills when a task is compared.
//!
//! | part | content |
//! |---|---|
//! | records | for each skill the hashes of the name's words, then neighbours in the body |
//! | lists | for each word the number of skills, then blocks of 128: the bits of a gap and of a level (one byte), in long lists how far the block reaches, then gap and level of count of each skill |
//! | keys | 16 bytes per skill, rising |
//! | lengths | one byte per skill for name and description, then one byte per skill for the body, then the marks |
//! | starts | where the record of each skill begins, 4 bytes each |
//! | buckets | the first word of each bucket, 4 bytes each |
//! | words | the hash of a word in a field (6 bytes), and where its list begins (4 bytes), rising |
//! | names | the words of all names, one per line |
//! | end | the length of each part above, the number of skills, of bits that choose a bucket, and a magic |
//!
//! The large parts come first and the lengths last, so a segment is written in one pass, and merging needs no memory for
//! written parts.

use std::{borrow::Cow, collections::BTreeSet, io, ops::Range};

use super::bits::{BitWriter, bits_at, put_varint, varint, width_of};

const MAGIC: &[u8; 8] = b"METIERT\x03";
/// The bytes at the end: eight lengths, two numbers of four bytes, and the magic.
const END: usize = 8 * 8 + 2 * 4 + 8;
const BLOCK: usize = 128;
/// The size of a row in the table of words, in bytes.
pub(crate) const WORD: usize = 10;
/// The approximate number of words in a bucket.
const BUCKET: usize = 24;

/// The identity of a skill in an index: the start of its digest.
pub type SkillKey = [u8; 16];

/// The searchable text of a skill.
#[derive(Clone, Copy, Debug)]
pub struct SearchableSkill<'a> {
    /// Its key.
    pub key: SkillKey,
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its body; empty if the body may not be searched.
    pub body: &'a str,
    /// A value of the caller, which is returned with the skill so that it need not be read again.
    pub marks: u8,
}

/// The source of a segment's bytes. A part that can't be read makes the index invalid.
pub trait SegmentBytes {
    /// How many bytes there are.
    fn length(&self) -> u64;
    /// The bytes of a range, exactly as written; `None` if they are missing or damaged.
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>>;
    /// [`Self::read`] for bytes that are not needed again.
    fn read_once(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        self.read(range)
    }
}

impl SegmentBytes for Vec<u8> {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let start = usize::try_from(range.start).ok()?;
        let end = usize::try_from(range.end).ok()?;
        self.get(start..end).map(Cow::Borrowed)
    }
}

/// A field of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextField {
    Head,
    Body,
}

impl TextField {
    /// The hash of a word in this field: 48 bits, then zeros.
    pub(crate) fn of(self, term: u64) -> u64 {
        let hash = match self {
            Self::Head => term,
            Self::Body => term.rotate_left(32) ^ 0x5bd1_e995,
        };
        hash & !0xffff
    }
}

/// Lengths are stored in a byte: exact up to 24, then in steps of about nine percent.
pub(crate) fn lengths() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut length = 0_u32;
    for entry in &mut table {
        *entry = length;
        let longer = u64::from(length) * 12 / 11;
        length = u32::try_from(longer)
            .unwrap_or(u32::MAX)
            .max(length.saturating_add(1));
    }
    table
}

pub(crate) fn stored_length(table: &[u32; 256], length: u32) -> u8 {
    let above = table.partition_point(|entry| *entry <= length);
    u8::try_from(above.saturating_sub(1)).unwrap_or(u8::MAX)
}

/// How often a word occurs, in eight levels, each with its representative count. Further occurrences hardly change a score, so three
/// bits are enough.
pub(crate) const LEVELS: [(u32, f32); 8] = [
    (1, 1.0),
    (2, 2.0),
    (3, 3.0),
    (4, 4.0),
    (5, 5.5),
    (7, 8.0),
    (11, 14.0),
    (21, 30.0),
];
pub(crate) const LEVEL_BITS: u32 = 3;

/// A skill of a list, and the level of the word's count in it: a number of 29 bits and one of three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting(u32);

impl Posting {
    pub(crate) fn new(skill: u32, level: u32) -> Self {
        Self(skill << LEVEL_BITS | level)
    }

    pub(crate) const fn skill(self) -> u32 {
        self.0 >> LEVEL_BITS
    }

    pub(crate) const fn level(self) -> usize {
        self.level_bits() as usize
    }

    pub(crate) const fn level_bits(self) -> u32 {
        self.0 & ((1 << LEVEL_BITS) - 1)
    }
}

pub(crate) fn level_of(count: u32) -> u32 {
    let above = LEVELS.partition_point(|(from, _)| *from <= count);
    u32::try_from(above.saturating_sub(1)).unwrap_or(0)
}

/// Writes a segment from beginning to end: first all skills, then all lists, then the rest.
#[derive(Default)]
pub(crate) struct SegmentWriter {
    /// The bytes that were written but not returned yet.
    out: Vec<u8>,
    /// How many bytes were returned.
    taken: u64,
    keys: Vec<u8>,
    heads: Vec<u8>,
    bodies: Vec<u8>,
    marks: Vec<u8>,
    starts: Vec<u8>,
    /// Where the records end, once there is a list.
    records: Option<u64>,
    /// The lengths in the form in which they are stored.
    words: Vec<u8>,
}

impl SegmentWriter {
    pub(crate) fn skill(&mut self, key: &SkillKey, [head, body, marks]: [u8; 3], record: &[u8]) {
        self.keys.extend_from_slice(key);
        self.heads.push(head);
        self.bodies.push(body);
        self.marks.push(marks);
        let start = u32::try_from(self.written()).unwrap_or(u32::MAX);
        self.starts.extend_from_slice(&start.to_le_bytes());
        self.out.extend_from_slice(record);
    }

    pub(crate) fn list(&mut self, hash: u64, list: &[Posting]) {
        if list.is_empty() {
            return;
        }
        self.word(hash);
        put_varint(&mut self.out, u32::try_from(list.len()).unwrap_or(u32::MAX));
        let mut last = 0;
        for block in list.chunks(BLOCK) {
            let before = last;
            let mut gaps = [0_u32; BLOCK];
            let (mut all_gaps, mut all_levels) = (0, 0);
            for (gap, posting) in gaps.iter_mut().zip(block) {
                *gap = posting.skill() - last;
                last = posting.skill();
                all_gaps |= *gap;
                all_levels |= posting.level_bits();
            }
            let (gap_bits, level_bits) = (width_of(all_gaps), width_of(all_levels));
            // Both fit into one byte.
            self.out
                .push(u8::try_from(gap_bits << 2 | level_bits).unwrap_or(0));
            if list.len() > BLOCK {
                put_varint(&mut self.out, last - before);
            }
            let mut bits = BitWriter::new(&mut self.out);
            for (gap, posting) in gaps.iter().zip(block) {
                let both = u64::from(*gap) | (u64::from(posting.level_bits()) << gap_bits);
                bits.put(both, gap_bits + level_bits);
            }
            bits.finish();
        }
    }

    /// A row of the table of words, for the list that begins here.
    fn word(&mut self, hash: u64) {
        let written = self.written();
        let records = *self.records.get_or_insert(written);
        let start = u32::try_from(written - records).unwrap_or(u32::MAX);
        let [_, _, hash @ ..] = hash.to_le_bytes();
        self.words.extend_from_slice(&hash);
        self.words.extend_from_slice(&start.to_le_bytes());
    }

    fn written(&self) -> u64 {
        self.taken + self.out.len() as u64
    }

    /// Returns the bytes that were written so far, if there are at least this many.
    pub(crate) fn take(
        &mut self,
        least: usize,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.out.len() >= least {
            sink(&self.out)?;
            self.taken += self.out.len() as u64;
            self.out.clear();
        }
        Ok(())
    }

    /// Writes the rest, and returns the bytes that were not returned yet.
    pub(crate) fn finish(mut self, names: &BTreeSet<String>) -> Vec<u8> {
        let skills = self.heads.len();
        let records = self.records.unwrap_or(self.written());
        let lists = self.written() - records;
        let end = u32::try_from(records).unwrap_or(u32::MAX);
        self.starts.extend_from_slice(&end.to_le_bytes());
        let rows = self.words.len() / WORD;
        let bucket_bits = (rows / BUCKET).max(1).ilog2();
        let (table, _) = self.words.as_chunks::<WORD>();
        let mut buckets = Vec::new();
        for bucket in 0..=(1_u64 << bucket_bits) {
            let first = table.partition_point(|row| bucket_of(word(row).0, bucket_bits) < bucket);
            buckets.extend_from_slice(&u32::try_from(first).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.word(u64::MAX);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = names.join("\n").into_bytes();
        let lengths = [self.heads, self.bodies, self.marks].concat();
        let mut ends = [records, lists].map(u64::to_le_bytes).concat();
        for part in [self.keys, lengths, self.starts, buckets, self.words, names] {
            ends.extend_from_slice(&(part.len() as u64).to_le_bytes());
            self.out.extend_from_slice(&part);
        }
        ends.extend_from_slice(&u32::try_from(skills).unwrap_or(u32::MAX).to_le_bytes());
        ends.extend_from_slice(&bucket_bits.to_le_bytes());
        ends.extend_from_slice(MAGIC);
        self.out.extend_from_slice(&ends);
        self.out
    }
}

fn bucket_of(hash: u64, bits: u32) -> u64 {
    hash.checked_shr(64 - bits).unwrap_or(0)
}

/// An open segment: its small parts are in memory, the others are read when they are needed.
pub struct Segment<B> {
    pub(crate) bytes: B,
    pub(crate) keys: Vec<SkillKey>,
    pub(crate) heads: Vec<u8>,
    pub(crate) bodies: Vec<u8>,
    pub(crate) marks: Vec<u8>,
    starts: Vec<u32>,
    buckets: Vec<u32>,
    bucket_bits: u32,
    pub(crate) words: Range<u64>,
    pub(crate) lists: Range<u64>,
    pub(crate) records: Range<u64>,
    names: Range<u64>,
}

impl<B: SegmentBytes> Segment<B> {
    /// Opens the bytes of a segment; `None` if they are not one.
    #[must_use]
    pub fn open(bytes: B) -> Option<Self> {
        let parts_end = bytes.length().checked_sub(END as u64)?;
        let about = bytes.read(parts_end..bytes.length())?;
        let (lengths, rest) = about.split_at_checked(64)?;
        if rest.get(8..)? != MAGIC {
            return None;
        }
        let small = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?))
        };
        let skills = small(0)? as usize;
        let bucket_bits = small(4)?;
        let mut end = 0_u64;
        let mut parts = Vec::with_capacity(8);
        for length in lengths.as_chunks::<8>().0 {
            let start = end;
            end = start.checked_add(u64::from_le_bytes(*length))?;
            parts.push(start..end);
        }
        drop(about);
        let [records, lists, keys, lengths, starts, buckets, words, names] =
            parts.try_into().ok()?;
        let fits = end == parts_end
            && bucket_bits < 32
            && lengths.end - lengths.start == (skills as u64).checked_mul(3)?;
        if !fits {
            return None;
        }
        let all = bytes.read(keys)?;
        let (chunks, rest) = all.as_chunks::<16>();
        let is_sorted =
            rest.is_empty() && chunks.is_sorted_by(|a, b| a < b) && chunks.len() == skills;
        let keys = is_sorted.then(|| chunks.to_vec())?;
        drop(all);
        let all = bytes.read(lengths)?;
        let (heads, rest) = all.split_at_checked(skills)?;
        let (bodies, marks) = rest.split_at_checked(skills)?;
        let (heads, bodies, marks) = (heads.to_vec(), bodies.to_vec(), marks.to_vec());
        drop(all);
        let numbers = |range: Range<u64>, count: usize| -> Option<Vec<u32>> {
            let all = bytes.read(range)?;
            let (chunks, rest) = all.as_chunks::<4>();
            let numbers: Vec<u32> = chunks
                .iter()
                .map(|chunk| u32::from_le_bytes(*chunk))
                .collect();
            (rest.is_empty() && numbers.len() == count && numbers.is_sorted()).then_some(numbers)
        };
        let starts = numbers(starts, skills + 1)?;
        let buckets = numbers(buckets, (1_usize << bucket_bits) + 1)?;
        Some(Self {
            bytes,
            keys,
            heads,
            bodies,
            marks,
            starts,
            buckets,
            bucket_bits,
            words,
            lists,
            records,
            names,
        })
    }

    /// How many skills are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the segment is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys of its skills, rising.
    #[must_use]
    pub fn keys(&self) -> &[SkillKey] {
        &self.keys
    }

    /// The keys of its skills with their marks, rising.
    pub fn marked(&self) -> impl Iterator<Item = (&SkillKey, u8)> {
        self.keys.iter().zip(self.marks.iter().copied())
    }

    /// How many bytes it has.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.bytes.length()
    }

    /// The skills that contain a word: appended as (skill, count), rising. `None` if the bytes are damaged.
    pub(crate) fn list(&self, field: TextField, term: u64, out: &mut Vec<Posting>) -> Option<()> {
        match self.packed(field, term)? {
            Some(packed) => unpack(&packed, self.len(), out),
            None => Some(()),
        }
    }

    /// The level of a word's count in each of some skills, which rise; `None` if a skill does not contain the word.
    pub(crate) fn levels(
        &self,
        field: TextField,
        term: u64,
        skills: &[u32],
    ) -> Option<Vec<Option<usize>>> {
        let mut levels = vec![None; skills.len()];
        let Some(packed) = self.packed(field, term)? else {
            return Some(levels);
        };
        let mut wanted = skills.iter().zip(&mut levels).peekable();
        let mut blocks = Blocks::new(&packed, self.len())?;
        let mut block = Vec::with_capacity(BLOCK);
        while let Some((first, _)) = wanted.peek()
            && !blocks.is_done()
        {
            block.clear();
            if !blocks.next(**first, &mut block)? {
                continue;
            }
            let end = block.last().map_or(0, |posting: &Posting| posting.skill());
            while let Some((skill, level)) = wanted.next_if(|(skill, _)| **skill <= end) {
                let found = block.binary_search_by_key(skill, |posting| posting.skill());
                *level = found
                    .ok()
                    .and_then(|at| block.get(at))
                    .map(|one| one.level());
            }
        }
        Some(levels)
    }

    /// The packed list of a word.
    fn packed(&self, field: TextField, term: u64) -> Option<Option<Cow<'_, [u8]>>> {
        let hash = field.of(term);
        let bucket = usize::try_from(bucket_of(hash, self.bucket_bits)).ok()?;
        let first = u64::from(*self.buckets.get(bucket)?);
        let last = u64::from(*self.buckets.get(bucket + 1)?);
        let start = self.words.start + first * WORD as u64;
        let end = self.words.start + (last + 1) * WORD as u64;
        if end > self.words.end {
            return None;
        }
        let words = self.bytes.read(start..end)?;
        let (words, _) = words.as_chunks::<WORD>();
        let mut words = words.iter().map(word);
        let Some((_, from)) = words.find(|(found, _)| *found == hash) else {
            return Some(None);
        };
        let (_, to) = words.next()?;
        self.part_of_lists(from, to).map(Some)
    }

    fn part_of_lists(&self, from: u32, to: u32) -> Option<Cow<'_, [u8]>> {
        let place = self.place_of_list(from, to)?;
        self.bytes.read(place)
    }

    pub(crate) fn place_of_list(&self, from: u32, to: u32) -> Option<Range<u64>> {
        let start = self.lists.start + u64::from(from);
        let end = self.lists.start + u64::from(to);
        (start < end && end <= self.lists.end).then_some(start..end)
    }

    /// The record of a skill.
    pub(crate) fn record(&self, skill: usize) -> Option<Cow<'_, [u8]>> {
        self.bytes.read(self.place_of_record(skill)?)
    }

    pub(crate) fn place_of_record(&self, skill: usize) -> Option<Range<u64>> {
        let start = self.records.start + u64::from(*self.starts.get(skill)?);
        let end = self.records.start + u64::from(*self.starts.get(skill + 1)?);
        (end <= self.records.end).then_some(start..end)
    }

    /// The words of all names, one per line.
    pub(crate) fn names(&self) -> Option<Cow<'_, [u8]>> {
        self.bytes.read(self.names.clone())
    }
}

pub(crate) fn word(bytes: &[u8; WORD]) -> (u64, u32) {
    let [a, b, c, d, e, f, start @ ..] = *bytes;
    (
        u64::from_le_bytes([0, 0, a, b, c, d, e, f]),
        u32::from_le_bytes(start),
    )
}

/// The blocks of a packed list.
struct Blocks<'a> {
    bytes: &'a [u8],
    at: usize,
    left: usize,
    has_ends: bool,
    skills: usize,
    last: u32,
}

impl<'a> Blocks<'a> {
    fn new(bytes: &'a [u8], skills: usize) -> Option<Self> {
        let mut at = 0;
        let left = varint(bytes, &mut at)? as usize;
        let has_ends = left > BLOCK;
        (left <= skills).then_some(Self {
            bytes,
            at,
            left,
            has_ends,
            skills,
            last: 0,
        })
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Reads a block, unless all of it is before a skill; returns whether it was read.
    fn next(&mut self, from: u32, out: &mut Vec<Posting>) -> Option<bool> {
        let widths = u32::from(*self.bytes.get(self.at)?);
        let (gap_bits, level_bits) = (widths >> 2, widths & 3);
        let width = gap_bits + level_bits;
        if gap_bits > 32 {
            return None;
        }
        self.at += 1;
        let block = self.left.min(BLOCK);
        let size = (block * width as usize).div_ceil(8);
        let end = match self.has_ends {
            true => Some(self.last.checked_add(varint(self.bytes, &mut self.at)?)?),
            false => None,
        };
        let packed = self.bytes.get(self.at..self.at + size)?;
        self.at += size;
        self.left -= block;
        if let Some(end) = end.filter(|end| *end < from) {
            self.last = end;
            return Some(false);
        }
        let mut skill = self.last;
        let mut position = 0;
        for _ in 0..block {
            let both = bits_at(packed, position, width);
            position += width as usize;
            let gap = both & ((1_u64 << gap_bits) - 1);
            skill = skill.wrapping_add(u32::try_from(gap).unwrap_or(0));
            let level = u32::try_from(both >> gap_bits).unwrap_or(0);
            out.push(Posting::new(skill, level));
        }
        self.last = skill;
        ((skill as usize) < self.skills).then_some(true)
    }
}

pub(crate) fn unpack(bytes: &[u8], skills: usize, out: &mut Vec<Posting>) -> Option<()> {
    let mut blocks = Blocks::new(bytes, skills)?;
    out.reserve(blocks.left);
    while !blocks.is_done() {
        blocks.next(0, out)?;
    }
    Some(())
}
