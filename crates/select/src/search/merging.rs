//! Merges several segments: their lists are read and written in one pass, so neither the parts nor the result need to be in memory.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    io,
    ops::Range,
};

use super::{
    query::DamagedIndex,
    segment::{Posting, Segment, SegmentBytes, SegmentWriter, SkillKey, WORD, unpack, word},
};

/// The size of one read of a part, and of one write, in bytes.
const AT_ONCE: usize = 64 << 10;

/// Writes one segment of the living skills of several, from beginning to end.
///
/// # Errors
/// When the bytes can't be written, or when a segment is damaged: then the kind is [`io::ErrorKind::InvalidData`].
pub fn merge<B: SegmentBytes>(
    segments: &[(&Segment<B>, &[bool])],
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, DamagedIndex);
    let mut out = SegmentWriter::default();
    let mut parts: Vec<MergedPart<'_, B>> = Vec::with_capacity(segments.len());
    for (segment, _) in segments {
        parts.push(MergedPart::new(segment));
    }
    for (to, (key, which, skill)) in living_skills(segments).into_iter().enumerate() {
        let part = parts.get_mut(which).ok_or_else(damaged)?;
        part.skill(&key, skill, to, &mut out).ok_or_else(damaged)?;
        out.take(AT_ONCE, sink)?;
    }
    let mut names = BTreeSet::new();
    for part in &parts {
        part.names(&mut names).ok_or_else(damaged)?;
    }
    let mut next = BinaryHeap::new();
    for (which, part) in parts.iter_mut().enumerate() {
        next.extend(part.next_word().map(|hash| Reverse((hash, which))));
    }
    let (mut read, mut list) = (Vec::new(), Vec::new());
    while let Some(Reverse((hash, _))) = next.peek().copied() {
        list.clear();
        while let Some(Reverse((same, which))) = next.peek().copied()
            && same == hash
        {
            next.pop();
            let part = parts.get_mut(which).ok_or_else(damaged)?;
            part.list(&mut read, &mut list).ok_or_else(damaged)?;
            next.extend(part.next_word().map(|hash| Reverse((hash, which))));
        }
        list.sort_unstable();
        out.list(hash, &list);
        out.take(AT_ONCE, sink)?;
    }
    if parts.iter().any(|part| !part.is_done()) {
        return Err(damaged());
    }
    sink(&out.finish(&names))
}

/// The skills of the result in their order, each with its segment and its position there.
fn living_skills<B: SegmentBytes>(
    segments: &[(&Segment<B>, &[bool])],
) -> Vec<(SkillKey, usize, usize)> {
    let mut skills: Vec<(SkillKey, usize, usize)> = Vec::new();
    for (which, (segment, living)) in segments.iter().enumerate() {
        let keys = segment.keys.iter().zip(*living).enumerate();
        let living = keys.filter(|(_, (_, lives))| **lives);
        skills.extend(living.map(|(skill, (key, _))| (*key, which, skill)));
    }
    skills.sort_unstable();
    skills.dedup_by_key(|(key, _, _)| *key);
    skills
}

/// A segment that is read from beginning to end.
struct MergedPart<'s, B> {
    segment: &'s Segment<B>,
    /// The new position of each skill.
    moved: Vec<u32>,
    records: ReadWindow<'s, B>,
    words: ReadWindow<'s, B>,
    lists: ReadWindow<'s, B>,
    /// How many words were read.
    read: u64,
    /// Where the list of the current word is.
    list: Range<u32>,
}

impl<'s, B: SegmentBytes> MergedPart<'s, B> {
    fn new(segment: &'s Segment<B>) -> Self {
        let window = |part: &Range<u64>| ReadWindow {
            bytes: &segment.bytes,
            end: part.end,
            start: part.start,
            read: Cow::Borrowed(&[]),
        };
        Self {
            moved: vec![u32::MAX; segment.len()],
            records: window(&segment.records),
            words: window(&segment.words),
            lists: window(&segment.lists),
            read: 0,
            list: 0..0,
            segment,
        }
    }

    /// Writes a skill, which gets a new position.
    fn skill(
        &mut self,
        key: &SkillKey,
        skill: usize,
        to: usize,
        out: &mut SegmentWriter,
    ) -> Option<()> {
        let segment = self.segment;
        let bytes = [&segment.heads, &segment.bodies, &segment.marks];
        let [head, body, marks] = bytes.map(|bytes| bytes.get(skill).copied());
        let record = self.records.get(segment.place_of_record(skill)?)?;
        out.skill(key, [head?, body?, marks?], record);
        *self.moved.get_mut(skill)? = u32::try_from(to).ok()?;
        Some(())
    }

    fn names(&self, names: &mut BTreeSet<String>) -> Option<()> {
        let all = self.segment.names()?;
        let all = std::str::from_utf8(&all).ok()?;
        names.extend(all.lines().map(str::to_owned));
        Some(())
    }

    /// The hash of the next word; `None` at the end, and where the table is damaged.
    fn next_word(&mut self) -> Option<u64> {
        let start = self.segment.words.start + self.read * WORD as u64;
        // The list ends where that of the next row begins.
        let rows = self.words.get(start..start + 2 * WORD as u64)?;
        let [this, next] = rows.as_chunks::<WORD>().0 else {
            return None;
        };
        let ((hash, from), (_, to)) = (word(this), word(next));
        self.list = from..to;
        self.read += 1;
        Some(hash)
    }

    fn is_done(&self) -> bool {
        let words = self.segment.words.end - self.segment.words.start;
        (self.read + 1) * WORD as u64 == words
    }

    /// The living skills that contain the current word, at their new positions.
    fn list(&mut self, read: &mut Vec<Posting>, list: &mut Vec<Posting>) -> Option<()> {
        read.clear();
        let place = self.segment.place_of_list(self.list.start, self.list.end)?;
        unpack(self.lists.get(place)?, self.segment.len(), read)?;
        list.extend(read.iter().filter_map(|posting| {
            let to = self.moved.get(posting.skill() as usize);
            let to = to.filter(|to| **to != u32::MAX)?;
            Some(Posting::new(*to, posting.level_bits()))
        }));
        Some(())
    }
}

/// Bytes that are read one after the other, many at a time.
struct ReadWindow<'s, B> {
    bytes: &'s B,
    end: u64,
    start: u64,
    read: Cow<'s, [u8]>,
}

impl<B: SegmentBytes> ReadWindow<'_, B> {
    fn get(&mut self, wanted: Range<u64>) -> Option<&[u8]> {
        let is_read =
            self.start <= wanted.start && wanted.end <= self.start + self.read.len() as u64;
        if !is_read {
            let end = wanted.end.max(wanted.start + AT_ONCE as u64).min(self.end);
            if wanted.end > end {
                return None;
            }
            self.read = self.bytes.read_once(wanted.start..end)?;
            self.start = wanted.start;
        }
        let from = usize::try_from(wanted.start - self.start).ok()?;
        let to = usize::try_from(wanted.end - self.start).ok()?;
        self.read.get(from..to)
    }
}
