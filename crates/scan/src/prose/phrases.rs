//! A search for many phrases at once with a table that is built at compile time.
//!
//! An automaton for all phrases of the lexicon takes milliseconds to build, in every process that judges a single sentence. Here the
//! phrases are chained by their first three bytes, which takes no time at the start of a program and finds the same.

/// How many bytes of a phrase choose its chain; no phrase is shorter.
const KEY: usize = 3;
/// How many bytes of a phrase are compared before the phrase itself is.
const HEAD: usize = 8;
const BUCKETS: usize = 1 << 12;

/// Lists of phrases. A `*` at the end is not part of the phrase.
pub(crate) type PhraseLists = &'static [&'static [&'static str]];

/// Lists of phrases, by the first bytes of each phrase.
pub(crate) struct PhraseTable<const N: usize> {
    lists: PhraseLists,
    /// For each bucket one more than the index of its first entry; 0 for none.
    first: [u16; BUCKETS],
    entries: [PhraseEntry; N],
}

/// A phrase: where it is listed, its [`head`], which most places without it do not have, and one more than the index of the next entry.
#[derive(Clone, Copy)]
struct PhraseEntry {
    head: u64,
    list: u16,
    place: u16,
    length: u8,
    next: u16,
}

impl PhraseEntry {
    /// Whether the first bytes of a text can be those of the phrase.
    fn may_begin(self, head: u64) -> bool {
        let beyond = HEAD.saturating_sub(self.length.into());
        // The bytes of the text after the phrase are in the highest places, and are shifted out.
        (head ^ self.head) << (beyond * 8) == 0
    }
}

/// A phrase that was found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PhraseMatch {
    /// The index of its list.
    pub(crate) list: usize,
    /// Its index in the list.
    pub(crate) place: usize,
    /// Where it begins.
    pub(crate) start: usize,
    /// Its end offset.
    pub(crate) end: usize,
    /// Whether it is listed with a `*`.
    pub(crate) open: bool,
}

/// How many phrases there are.
pub(crate) const fn phrase_count(lists: PhraseLists) -> usize {
    let (mut list, mut count) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

/// Whether any of the phrases begins with this byte.
pub(crate) const fn has_phrase_with(lists: PhraseLists, first: u8) -> bool {
    let mut list = 0;
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            if lists[list][place].as_bytes()[0] == first {
                return true;
            }
            place += 1;
        }
        list += 1;
    }
    false
}

/// The bucket of three bytes, the first of them in the highest place, ignoring the case of letters. A fourth byte above them is
/// shifted out.
const fn bucket(key: u32) -> usize {
    /// The bit in which capital letters differ from small ones.
    const CASE: u32 = 0x20_20_20;
    (((key | CASE) << 8).wrapping_mul(0x9e37_79b1) >> (u32::BITS - BUCKETS.ilog2())) as usize
}

/// The first bytes of a text, the first of them in the lowest place, ignoring the case of letters.
const fn head(text: &[u8]) -> u64 {
    const CASE: u64 = 0x2020_2020_2020_2020;
    if let Some(head) = text.first_chunk::<HEAD>() {
        return u64::from_le_bytes(*head) | CASE;
    }
    let (mut head, mut index) = ([0; HEAD], 0);
    while index < text.len() {
        head[index] = text[index];
        index += 1;
    }
    u64::from_le_bytes(head) | CASE
}

impl<const N: usize> PhraseTable<N> {
    /// For tables that the compiler makes: a phrase that is too short does not compile.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there is no other conversion in a constant, and the lists are short"
    )]
    pub(crate) const fn new(lists: PhraseLists) -> Self {
        assert!(N < u16::MAX as usize && N == phrase_count(lists));
        let nothing = PhraseEntry {
            head: 0,
            list: 0,
            place: 0,
            length: 0,
            next: 0,
        };
        let (mut first, mut entries) = ([0; BUCKETS], [nothing; N]);
        let (mut list, mut entry) = (0, 0);
        while list < lists.len() {
            let mut place = 0;
            while place < lists[list].len() {
                let phrase = lists[list][place].as_bytes();
                let open = phrase[phrase.len() - 1] == b'*';
                let length = phrase.len() - open as usize;
                assert!(length >= KEY && length <= u8::MAX as usize);
                let bucket = bucket(u32::from_be_bytes([0, phrase[0], phrase[1], phrase[2]]));
                entries[entry] = PhraseEntry {
                    head: head(phrase.split_at(length).0),
                    list: list as u16,
                    place: place as u16,
                    length: length as u8,
                    next: first[bucket],
                };
                entry += 1;
                first[bucket] = entry as u16;
                place += 1;
            }
            list += 1;
        }
        Self {
            lists,
            first,
            entries,
        }
    }

    /// Calls `stop` with each phrase in a text, in the order of their offsets, until it returns true; returns whether it did.
    pub(crate) fn find(&self, text: &str, mut stop: impl FnMut(PhraseMatch) -> bool) -> bool {
        let bytes = text.as_bytes();
        let (before, rest) = bytes.split_at(bytes.len().min(KEY - 1));
        let after = |key: u32, byte: &u8| key << 8 | u32::from(*byte);
        let mut key = before.iter().fold(0, after);
        for (start, byte) in rest.iter().enumerate() {
            key = after(key, byte);
            let mut next = self.first[bucket(key)];
            if next == 0 {
                continue;
            }
            let (rest, head) = (&bytes[start..], head(&bytes[start..]));
            while next != 0 {
                let entry = self.entries[usize::from(next) - 1];
                if entry.may_begin(head)
                    && rest.starts_with(self.phrase(entry))
                    && stop(self.found(entry, start))
                {
                    return true;
                }
                next = entry.next;
            }
        }
        false
    }

    /// Whether a text begins with any of the phrases, in ASCII of either case.
    pub(crate) fn begins(&self, text: &[u8]) -> bool {
        let Some([first, second, third]) = text.first_chunk::<KEY>() else {
            return false;
        };
        let key = u32::from_be_bytes([0, *first, *second, *third]);
        let mut next = self.first[bucket(key)];
        if next == 0 {
            return false;
        }
        let head = head(text);
        while next != 0 {
            let entry = self.entries[usize::from(next) - 1];
            if entry.may_begin(head) {
                let start = text.get(..entry.length.into());
                if start.is_some_and(|start| start.eq_ignore_ascii_case(self.phrase(entry))) {
                    return true;
                }
            }
            next = entry.next;
        }
        false
    }

    /// Whether a text has any of the phrases.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.find(text, |_| true)
    }

    fn phrase(&self, entry: PhraseEntry) -> &'static [u8] {
        &self.listed(entry)[..entry.length.into()]
    }

    fn listed(&self, entry: PhraseEntry) -> &'static [u8] {
        self.lists[usize::from(entry.list)][usize::from(entry.place)].as_bytes()
    }

    fn found(&self, entry: PhraseEntry, start: usize) -> PhraseMatch {
        let length = usize::from(entry.length);
        PhraseMatch {
            list: entry.list.into(),
            place: entry.place.into(),
            start,
            end: start + length,
            open: self.listed(entry).len() > length,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::prose::LISTS;

    static TABLE: PhraseTable<{ phrase_count(LISTS) }> = PhraseTable::new(LISTS);

    /// Each phrase is searched separately.
    fn one_by_one(text: &str) -> Vec<PhraseMatch> {
        let mut found = Vec::new();
        for (list, phrases) in LISTS.iter().enumerate() {
            for (place, listed) in phrases.iter().enumerate() {
                let phrase = listed.strip_suffix('*');
                let open = phrase.is_some();
                let phrase = phrase.unwrap_or(listed);
                for (start, _) in text.char_indices() {
                    let end = start + phrase.len();
                    if text[start..].starts_with(phrase) {
                        found.push(PhraseMatch {
                            list,
                            place,
                            start,
                            end,
                            open,
                        });
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn all_phrases_are_found_as_if_each_was_looked_for_by_itself(
            words in vec((select(LISTS.concat()), "[ a-d.]{0,3}", 0_usize..3), 0..8)
        ) {
            let cut = |(word, glue, cut): &(&str, String, usize)| {
                let mut word: String = word.trim_end_matches('*').to_owned();
                for _ in 0..*cut {
                    word.pop();
                }
                word + glue
            };
            let text: String = words.iter().map(cut).collect();
            let mut found = Vec::new();
            TABLE.find(&text, |phrase| {
                found.push(phrase);
                false
            });
            found.sort_unstable();
            prop_assert_eq!(found, one_by_one(&text));
        }
    }
}
