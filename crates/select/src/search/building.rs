//! Builds a segment from the texts of skills.
//!
//! The words of all skills are kept one skill after the other and distributed to the lists at the end, so no list grows while skills are
//! added.

use std::collections::BTreeSet;

use super::{
    bits::HashSetBits,
    segment::{
        Posting, SearchableSkill, SegmentWriter, SkillKey, TextField, lengths, level_of,
        stored_length,
    },
    tokens::{Place, TermWeight, Tokenizer, pair, plain},
    tuning::{NAME_TIMES, PAIR_WORDS},
};

/// One skill, before it is written.
struct DraftSkill {
    key: SkillKey,
    head: u8,
    body: u8,
    marks: u8,
    /// Where its record and its words end among those of all skills.
    record_end: usize,
    words_end: usize,
}

/// How often each term of a text occurs.
#[derive(Default)]
struct TermCounts {
    by_number: Vec<u32>,
    /// The terms that occur.
    terms: Vec<u32>,
}

impl TermCounts {
    fn add(&mut self, term: u32, times: u32) {
        let position = term as usize;
        if position >= self.by_number.len() {
            self.by_number.resize(position + 1, 0);
        }
        if let Some(count) = self.by_number.get_mut(position) {
            if *count == 0 {
                self.terms.push(term);
            }
            *count = count.saturating_add(times);
        }
    }

    /// All terms with their counts, which are removed.
    fn drain(&mut self, mut found: impl FnMut(u32, u32)) {
        for term in self.terms.drain(..) {
            if let Some(count) = self.by_number.get_mut(term as usize) {
                found(term, std::mem::take(count));
            }
        }
    }
}

/// Builds a segment from the texts of skills.
pub struct SegmentBuilder {
    tokens: Tokenizer,
    lengths: [u32; 256],
    skills: Vec<DraftSkill>,
    /// The words of all skills, one skill after the other. A posting here has a word in place of a skill: twice the number of its term,
    /// plus one in the body.
    words: Vec<Posting>,
    /// The records of all skills, one after the other.
    records: Vec<u8>,
    counts: TermCounts,
    /// The neighbours of the current body.
    pairs: Vec<u32>,
    names: BTreeSet<String>,
}

impl Default for SegmentBuilder {
    fn default() -> Self {
        Self {
            tokens: Tokenizer::default(),
            lengths: lengths(),
            skills: Vec::new(),
            words: Vec::new(),
            records: Vec::new(),
            counts: TermCounts::default(),
            pairs: Vec::new(),
            names: BTreeSet::new(),
        }
    }
}

impl SegmentBuilder {
    /// Adds a skill.
    pub fn add(&mut self, skill: &SearchableSkill<'_>) {
        let mut named = Vec::new();
        let names = &mut self.names;
        let head = &mut self.counts;
        let mut length = 0;
        self.tokens.each(skill.name, |term, place, word| {
            head.add(term.number, NAME_TIMES);
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
                head.add(term.number, 1);
                length += 1;
            }
        });
        named.truncate(usize::from(u8::MAX));
        self.records
            .push(u8::try_from(named.len()).unwrap_or(u8::MAX));
        for hash in &named {
            self.records.extend_from_slice(&hash.to_le_bytes());
        }
        let head = stored_length(&self.lengths, length);
        self.flush(TextField::Head);
        let body = self.body(skill.body);
        self.skills.push(DraftSkill {
            key: skill.key,
            head,
            body,
            marks: skill.marks,
            record_end: self.records.len(),
            words_end: self.words.len(),
        });
    }

    fn body(&mut self, text: &str) -> u8 {
        let pairs = &mut self.pairs;
        pairs.clear();
        let (mut length, mut last) = (0_u32, None);
        let counts = &mut self.counts;
        self.tokens.each(text, |term, place, _| {
            if term.weight == TermWeight::Stop {
                return;
            }
            counts.add(term.number, 1);
            length = length.saturating_add(1);
            if pairs.len() < PAIR_WORDS {
                note_pair(pairs, &mut last, term.hash, term.weight, place);
            }
        });
        HashSetBits::write(&mut self.records, pairs);
        self.flush(TextField::Body);
        stored_length(&self.lengths, length)
    }

    /// Moves the counts of one text to the words.
    fn flush(&mut self, field: TextField) {
        let words = &mut self.words;
        self.counts.drain(|term, count| {
            let word = term * 2 + u32::from(field == TextField::Body);
            words.push(Posting::new(word, level_of(count)));
        });
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
        let mut out = SegmentWriter::default();
        for (skill, from) in order.iter().filter_map(|from| self.drafted(*from)) {
            let record = self.records.get(from.record_end..skill.record_end);
            out.skill(
                &skill.key,
                [skill.head, skill.body, skill.marks],
                record.unwrap_or_default(),
            );
        }
        let (starts, lists) = self.lists(&order);
        let mut words: Vec<(u64, u32)> = Vec::with_capacity(starts.len());
        #[expect(clippy::iter_over_hash_type, reason = "they are sorted below")]
        for (hash, number) in self.tokens.numbers() {
            for (field, word) in [
                (TextField::Head, number * 2),
                (TextField::Body, number * 2 + 1),
            ] {
                words.push((field.of(*hash), word));
            }
        }
        words.sort_unstable();
        for (hash, word) in words {
            let list = starts.get(word as usize..word as usize + 2);
            let list =
                list.and_then(|ends| lists.get(*ends.first()? as usize..*ends.last()? as usize));
            if let Some(list) = list.filter(|list| !list.is_empty()) {
                out.list(hash, list);
            }
        }
        out.finish(&self.names)
    }

    /// A skill, and the one that was added before it.
    fn drafted(&self, skill: usize) -> Option<(&DraftSkill, &DraftSkill)> {
        const NONE: DraftSkill = DraftSkill {
            key: [0; 16],
            head: 0,
            body: 0,
            marks: 0,
            record_end: 0,
            words_end: 0,
        };
        let before = skill.checked_sub(1);
        let before = before.and_then(|before| self.skills.get(before));
        Some((self.skills.get(skill)?, before.unwrap_or(&NONE)))
    }

    /// For each word, the skills that contain it, in the new order: where each list begins, and all lists. The skills are walked in their
    /// new order, so nothing needs to be sorted.
    fn lists(&self, order: &[usize]) -> (Vec<u32>, Vec<Posting>) {
        let words_of = |skill: usize| {
            let drafted = self.drafted(skill);
            let words = drafted
                .and_then(|(skill, before)| self.words.get(before.words_end..skill.words_end));
            words.unwrap_or_default()
        };
        let mut starts = vec![0_u32; self.tokens.numbers().len() * 2 + 1];
        for skill in order {
            for word in words_of(*skill) {
                if let Some(count) = starts.get_mut(word.skill() as usize) {
                    *count += 1;
                }
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        let mut lists = vec![Posting::default(); sum as usize];
        let mut next = starts.clone();
        for (to, skill) in order.iter().enumerate() {
            let to = u32::try_from(to).unwrap_or(u32::MAX);
            for word in words_of(*skill) {
                let Some(place) = next.get_mut(word.skill() as usize) else {
                    continue;
                };
                if let Some(entry) = lists.get_mut(*place as usize) {
                    *entry = Posting::new(to, word.level_bits());
                }
                *place += 1;
            }
        }
        (starts, lists)
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
