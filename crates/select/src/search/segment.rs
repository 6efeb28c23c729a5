//! The bytes of an index: which skill has which word how often, packed.
//!
//! A segment is never changed. A catalog has one large segment and a small one with what changed since; both together
//! give the same results as one segment made of all skills, because everything that depends on the whole catalog (how rare a
//! word is, the usual length of a text) is computed from the living skills when a task is compared.
//!
//! | part | content |
//! |---|---|
//! | header | magic, then the number of skills, of words, of bits that choose a bucket, and the length of each part below |
//! | keys | 16 bytes a skill, rising |
//! | lengths | a byte a skill for name and description, then a byte a skill for the body, then the marks |
//! | records | where the record of each skill begins, 4 bytes each |
//! | buckets | the first word of each bucket, 4 bytes each |
//! | words | the hash of a word in a field, and where its list begins: 12 bytes each, rising |
//! | lists | for each word the number of skills, then blocks of 128: the bits of a gap, the bits of a count, in long lists how far the block reaches, then gap and count of each skill |
//! | skills | the hashes of the name's words, then neighbours in the body |
//! | names | the words of all names, one a line |

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use super::{
    bits::{BitWriter, HashSetBits, bits_at, put_varint, varint, width_of},
    tokens::{ByHash, Place, TermWeight, Tokenizer, pair, plain},
    tuning::{MAX_COUNT, NAME_TIMES, PAIR_WORDS},
};

const MAGIC: &[u8; 8] = b"METIERT\x01";
const HEADER: usize = 8 + 9 * 8;
const BLOCK: usize = 128;
/// A bucket has about this many words.
const BUCKET: usize = 24;

/// What identifies a skill in an index: the beginning of the digest of its bytes.
pub type SkillKey = [u8; 16];

/// The text of a skill that is searched.
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
    /// What the caller wants to know about it without reading it again.
    pub marks: u8,
}

/// Where the bytes of a segment come from. A part that can't be read makes the index invalid.
pub trait SegmentBytes {
    /// How many bytes there are.
    fn length(&self) -> u64;
    /// The bytes of a range, exactly as they were written; `None` if they are missing or damaged.
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>>;
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
    /// The hash of a word in this field.
    pub(crate) fn of(self, term: u64) -> u64 {
        match self {
            Self::Head => term,
            Self::Body => term.rotate_left(32) ^ 0x5bd1_e995,
        }
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

fn stored_length(table: &[u32; 256], length: u32) -> u8 {
    let above = table.partition_point(|entry| *entry <= length);
    u8::try_from(above.saturating_sub(1)).unwrap_or(u8::MAX)
}

/// One skill, before it is written.
struct DraftSkill {
    key: SkillKey,
    head: u8,
    body: u8,
    marks: u8,
    record: Vec<u8>,
}

/// Makes a segment of the texts of skills.
pub struct SegmentBuilder {
    tokens: Tokenizer,
    lengths: [u32; 256],
    skills: Vec<DraftSkill>,
    lists: ByHash<Vec<(u32, u8)>>,
    counts: ByHash<u32>,
    names: BTreeSet<String>,
}

impl Default for SegmentBuilder {
    fn default() -> Self {
        Self {
            tokens: Tokenizer::default(),
            lengths: lengths(),
            skills: Vec::new(),
            lists: ByHash::default(),
            counts: ByHash::default(),
            names: BTreeSet::new(),
        }
    }
}

impl SegmentBuilder {
    /// Adds a skill.
    pub fn add(&mut self, skill: &SearchableSkill<'_>) {
        let mut record = Vec::new();
        let mut named = Vec::new();
        let names = &mut self.names;
        let head = &mut self.counts;
        let mut length = 0;
        self.tokens.each(skill.name, |term, place, word| {
            *head.entry(term.hash).or_default() += NAME_TIMES;
            length += NAME_TIMES;
            if place == Place::Next && !named.contains(&term.hash) {
                named.push(term.hash);
            }
            let word = plain(word);
            if !names.contains(&word) {
                names.insert(word);
            }
        });
        self.tokens.each(skill.description, |term, _, _| {
            if term.weight != TermWeight::Stop {
                *head.entry(term.hash).or_default() += 1;
                length += 1;
            }
        });
        named.truncate(usize::from(u8::MAX));
        record.push(u8::try_from(named.len()).unwrap_or(u8::MAX));
        for hash in &named {
            record.extend_from_slice(&hash.to_le_bytes());
        }
        let head = stored_length(&self.lengths, length);
        self.flush(TextField::Head);
        let body = self.body(skill.body, &mut record);
        self.skills.push(DraftSkill {
            key: skill.key,
            head,
            body,
            marks: skill.marks,
            record,
        });
    }

    fn body(&mut self, text: &str, record: &mut Vec<u8>) -> u8 {
        let mut pairs = Vec::new();
        let (mut length, mut last) = (0_u32, None);
        let counts = &mut self.counts;
        self.tokens.each(text, |term, place, _| {
            if term.weight == TermWeight::Stop {
                return;
            }
            *counts.entry(term.hash).or_default() += 1;
            length = length.saturating_add(1);
            if pairs.len() < PAIR_WORDS {
                note_pair(&mut pairs, &mut last, term.hash, term.weight, place);
            }
        });
        HashSetBits::write(record, &mut pairs);
        self.flush(TextField::Body);
        stored_length(&self.lengths, length)
    }

    /// Moves the counts of one text to the lists.
    fn flush(&mut self, field: TextField) {
        let skill = u32::try_from(self.skills.len()).unwrap_or(u32::MAX);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each word has a list of its own"
        )]
        for (term, count) in self.counts.drain() {
            let count = u8::try_from(count.min(MAX_COUNT)).unwrap_or(u8::MAX);
            let list = self.lists.entry(field.of(term)).or_default();
            list.push((skill, count));
        }
    }

    /// How many skills were added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether no skill was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The bytes of the segment. The same skills in another order give the same bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let mut order: Vec<usize> = (0..self.skills.len()).collect();
        order.sort_by_key(|position| self.skills.get(*position).map(|skill| skill.key));
        order.dedup_by_key(|position| self.skills.get(*position).map(|skill| skill.key));
        let mut moved = vec![u32::MAX; self.skills.len()];
        for (to, from) in order.iter().enumerate() {
            if let Some(place) = moved.get_mut(*from) {
                *place = u32::try_from(to).unwrap_or(u32::MAX);
            }
        }
        let skills = order.iter().filter_map(|from| self.skills.get(*from));
        let mut out = SegmentWriter::default();
        for skill in skills {
            out.skill(
                &skill.key,
                [skill.head, skill.body, skill.marks],
                &skill.record,
            );
        }
        let mut lists: Vec<(u64, Vec<(u32, u8)>)> = self.lists.into_iter().collect();
        lists.sort_unstable_by_key(|(hash, _)| *hash);
        for (hash, mut list) in lists {
            for (skill, _) in &mut list {
                *skill = moved.get(*skill as usize).copied().unwrap_or(u32::MAX);
            }
            list.retain(|(skill, _)| *skill != u32::MAX);
            list.sort_unstable();
            out.list(hash, &list);
        }
        out.finish(&self.names)
    }
}

fn note_pair(
    pairs: &mut Vec<u32>,
    last: &mut Option<u64>,
    hash: u64,
    weight: TermWeight,
    place: Place,
) {
    if weight == TermWeight::Stop || place == Place::Beside {
        return;
    }
    if let Some(last) = last {
        pairs.push(pair(*last, hash));
    }
    *last = Some(hash);
}

/// Writes the parts of a segment.
#[derive(Default)]
struct SegmentWriter {
    keys: Vec<u8>,
    heads: Vec<u8>,
    bodies: Vec<u8>,
    marks: Vec<u8>,
    starts: Vec<u8>,
    records: Vec<u8>,
    words: Vec<(u64, u32)>,
    lists: Vec<u8>,
}

impl SegmentWriter {
    fn skill(&mut self, key: &SkillKey, [head, body, marks]: [u8; 3], record: &[u8]) {
        self.keys.extend_from_slice(key);
        self.heads.push(head);
        self.bodies.push(body);
        self.marks.push(marks);
        let start = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        self.starts.extend_from_slice(&start.to_le_bytes());
        self.records.extend_from_slice(record);
    }

    fn list(&mut self, hash: u64, list: &[(u32, u8)]) {
        if list.is_empty() {
            return;
        }
        let start = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        self.words.push((hash, start));
        put_varint(
            &mut self.lists,
            u32::try_from(list.len()).unwrap_or(u32::MAX),
        );
        let mut last = 0;
        for block in list.chunks(BLOCK) {
            let before = last;
            let mut gaps = [0_u32; BLOCK];
            for (gap, (skill, _)) in gaps.iter_mut().zip(block) {
                *gap = skill - last;
                last = *skill;
            }
            let counts = block.iter().map(|(_, count)| u32::from(*count) - 1);
            let gap_bits = width_of(gaps.iter().copied().max().unwrap_or(0));
            let count_bits = width_of(counts.max().unwrap_or(0));
            let widths = [gap_bits, count_bits].map(|bits| u8::try_from(bits).unwrap_or(0));
            self.lists.extend(widths);
            if list.len() > BLOCK {
                put_varint(&mut self.lists, last - before);
            }
            let mut bits = BitWriter::default();
            for (gap, (_, count)) in gaps.iter().zip(block) {
                let both = u64::from(*gap) | ((u64::from(*count) - 1) << gap_bits);
                bits.put(both, gap_bits + count_bits);
            }
            self.lists.extend(bits.finish());
        }
    }

    fn finish(mut self, names: &BTreeSet<String>) -> Vec<u8> {
        let skills = self.heads.len();
        let end = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        self.starts.extend_from_slice(&end.to_le_bytes());
        let wanted = (self.words.len() / BUCKET).max(1);
        let bucket_bits = wanted.ilog2();
        let mut buckets = Vec::new();
        for bucket in 0..=(1_u64 << bucket_bits) {
            let first = self
                .words
                .partition_point(|(hash, _)| bucket_of(*hash, bucket_bits) < bucket);
            buckets.extend_from_slice(&u32::try_from(first).unwrap_or(u32::MAX).to_le_bytes());
        }
        let mut words = Vec::with_capacity(self.words.len() * 12 + 12);
        let end = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        for (hash, start) in self.words.iter().chain([&(u64::MAX, end)]) {
            words.extend_from_slice(&hash.to_le_bytes());
            words.extend_from_slice(&start.to_le_bytes());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = names.join("\n").into_bytes();
        let parts = [
            self.keys,
            [self.heads, self.bodies, self.marks].concat(),
            self.starts,
            buckets,
            words,
            self.lists,
            self.records,
            names,
        ];
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&u32::try_from(skills).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&bucket_bits.to_le_bytes());
        for part in &parts {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
        }
        out.extend(parts.into_iter().flatten());
        out
    }
}

fn bucket_of(hash: u64, bits: u32) -> u64 {
    hash.checked_shr(64 - bits).unwrap_or(0)
}

/// A segment that was opened: its small parts are in memory, the others are read when they are needed.
pub struct Segment<B> {
    bytes: B,
    pub(crate) keys: Vec<SkillKey>,
    pub(crate) heads: Vec<u8>,
    pub(crate) bodies: Vec<u8>,
    marks: Vec<u8>,
    starts: Vec<u32>,
    buckets: Vec<u32>,
    bucket_bits: u32,
    words: Range<u64>,
    lists: Range<u64>,
    records: Range<u64>,
    names: Range<u64>,
}

impl<B: SegmentBytes> Segment<B> {
    /// Opens the bytes of a segment; `None` if they are not one.
    #[must_use]
    pub fn open(bytes: B) -> Option<Self> {
        let header = bytes.read(0..HEADER as u64)?;
        if header.get(..8)? != MAGIC {
            return None;
        }
        let small = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?))
        };
        let skills = small(8)? as usize;
        let bucket_bits = small(12)?;
        let mut parts = Vec::with_capacity(8);
        let mut end = HEADER as u64;
        for part in 0..8 {
            let at = 16 + part * 8;
            let length = u64::from_le_bytes(header.get(at..at + 8)?.try_into().ok()?);
            let start = end;
            end = start.checked_add(length)?;
            parts.push(start..end);
        }
        drop(header);
        let [keys, lengths, starts, buckets, words, lists, records, names] =
            parts.try_into().ok()?;
        let fits = end == bytes.length()
            && bucket_bits < 32
            && lengths.end - lengths.start == 3 * skills as u64;
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

    /// The skills that have a word: appended as (skill, count), rising. `None` if the bytes are damaged.
    pub(crate) fn list(&self, field: TextField, term: u64, out: &mut Vec<(u32, u8)>) -> Option<()> {
        match self.packed(field, term)? {
            Some(packed) => unpack(&packed, self.len(), out),
            None => Some(()),
        }
    }

    /// How often each of some skills has a word.
    pub(crate) fn counts(&self, field: TextField, term: u64, skills: &[u32]) -> Option<Vec<u8>> {
        let Some(packed) = self.packed(field, term)? else {
            return Some(vec![0; skills.len()]);
        };
        let mut block = Vec::with_capacity(BLOCK);
        let one = |skill: &u32| {
            let mut blocks = Blocks::new(&packed, self.len())?;
            while !blocks.is_done() {
                block.clear();
                if blocks.next(*skill, &mut block)? {
                    let found = block.binary_search_by_key(skill, |(skill, _)| *skill);
                    return Some(
                        found
                            .ok()
                            .and_then(|at| block.get(at))
                            .map_or(0, |(_, count)| *count),
                    );
                }
            }
            Some(0)
        };
        skills.iter().map(one).collect()
    }

    /// The packed list of a word.
    fn packed(&self, field: TextField, term: u64) -> Option<Option<Cow<'_, [u8]>>> {
        let hash = field.of(term);
        let bucket = usize::try_from(bucket_of(hash, self.bucket_bits)).ok()?;
        let first = u64::from(*self.buckets.get(bucket)?);
        let last = u64::from(*self.buckets.get(bucket + 1)?);
        let start = self.words.start + first * 12;
        let end = self.words.start + (last + 1) * 12;
        if end > self.words.end {
            return None;
        }
        let words = self.bytes.read(start..end)?;
        let (words, _) = words.as_chunks::<12>();
        let mut words = words.iter().map(word);
        let Some((_, from)) = words.find(|(found, _)| *found == hash) else {
            return Some(None);
        };
        let (_, to) = words.next()?;
        self.part_of_lists(from, to).map(Some)
    }

    fn part_of_lists(&self, from: u32, to: u32) -> Option<Cow<'_, [u8]>> {
        let start = self.lists.start + u64::from(from);
        let end = self.lists.start + u64::from(to);
        let is_inside = start < end && end <= self.lists.end;
        is_inside.then(|| self.bytes.read(start..end))?
    }

    /// The record of a skill.
    pub(crate) fn record(&self, skill: usize) -> Option<Cow<'_, [u8]>> {
        let start = self.records.start + u64::from(*self.starts.get(skill)?);
        let end = self.records.start + u64::from(*self.starts.get(skill + 1)?);
        (end <= self.records.end).then(|| self.bytes.read(start..end))?
    }

    /// The words of all names, one a line.
    pub(crate) fn names(&self) -> Option<Cow<'_, [u8]>> {
        self.bytes.read(self.names.clone())
    }

    /// All words with their lists, rising by hash.
    fn all_words(&self) -> Option<Vec<(u64, u32)>> {
        let words = self.bytes.read(self.words.clone())?;
        let (words, rest) = words.as_chunks::<12>();
        rest.is_empty().then(|| words.iter().map(word).collect())
    }
}

fn word(bytes: &[u8; 12]) -> (u64, u32) {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
    (
        u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        u32::from_le_bytes(rest),
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
    fn next(&mut self, from: u32, out: &mut Vec<(u32, u8)>) -> Option<bool> {
        let [gap_bits, count_bits] = *self.bytes.get(self.at..self.at + 2)?.as_array()?;
        let (gap_bits, count_bits) = (u32::from(gap_bits), u32::from(count_bits));
        let width = gap_bits + count_bits;
        if gap_bits > 32 || count_bits > 8 {
            return None;
        }
        self.at += 2;
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
            out.push((
                skill,
                u8::try_from((both >> gap_bits) + 1).unwrap_or(u8::MAX),
            ));
        }
        self.last = skill;
        ((skill as usize) < self.skills).then_some(true)
    }
}

fn unpack(bytes: &[u8], skills: usize, out: &mut Vec<(u32, u8)>) -> Option<()> {
    let mut blocks = Blocks::new(bytes, skills)?;
    out.reserve(blocks.left);
    while !blocks.is_done() {
        blocks.next(0, out)?;
    }
    Some(())
}

/// One segment of the living skills of several; `None` if one of them is damaged.
#[must_use]
pub fn merged<B: SegmentBytes>(segments: &[(&Segment<B>, &[bool])]) -> Option<Vec<u8>> {
    let mut skills: Vec<(SkillKey, usize, usize)> = Vec::new();
    for (which, (segment, living)) in segments.iter().enumerate() {
        let keys = segment.keys.iter().zip(*living).enumerate();
        let living = keys.filter(|(_, (_, lives))| **lives);
        skills.extend(living.map(|(skill, (key, _))| (*key, which, skill)));
    }
    skills.sort_unstable();
    skills.dedup_by_key(|(key, _, _)| *key);
    let mut moved: Vec<Vec<u32>> = segments
        .iter()
        .map(|(segment, _)| vec![u32::MAX; segment.len()])
        .collect();
    let mut out = SegmentWriter::default();
    for (to, (key, which, skill)) in skills.iter().enumerate() {
        let (segment, _) = segments.get(*which)?;
        let bytes = [&segment.heads, &segment.bodies, &segment.marks];
        let [head, body, marks] = bytes.map(|bytes| bytes.get(*skill).copied());
        out.skill(key, [head?, body?, marks?], &segment.record(*skill)?);
        *moved.get_mut(*which)?.get_mut(*skill)? = u32::try_from(to).ok()?;
    }
    let mut words: Vec<(u64, usize, u32, u32)> = Vec::new();
    for (which, (segment, _)) in segments.iter().enumerate() {
        let all = segment.all_words()?;
        let starts = all.iter().zip(all.iter().skip(1));
        words.extend(starts.map(|((hash, from), (_, to))| (*hash, which, *from, *to)));
    }
    words.sort_unstable();
    let mut names = BTreeSet::new();
    for (segment, _) in segments {
        let all = segment.names()?;
        let all = std::str::from_utf8(&all).ok()?;
        names.extend(all.lines().map(str::to_owned));
    }
    let (mut read, mut list) = (Vec::new(), Vec::new());
    for same in words.chunk_by(|a, b| a.0 == b.0) {
        list.clear();
        for (_, which, from, to) in same {
            let (segment, _) = segments.get(*which)?;
            read.clear();
            unpack(
                &segment.part_of_lists(*from, *to)?,
                segment.len(),
                &mut read,
            )?;
            let moved = moved.get(*which)?;
            list.extend(read.iter().filter_map(|(skill, count)| {
                let to = moved.get(*skill as usize).filter(|to| **to != u32::MAX)?;
                Some((*to, *count))
            }));
        }
        list.sort_unstable();
        out.list(same.first()?.0, &list);
    }
    Some(out.finish(&names))
}
