//! A search for many phrases at once whose table is made by the compiler.
//!
//! An automaton for all phrases of the lexicon takes milliseconds to build, in every process that judges a single sentence. Here the
//! phrases are chained by their first three bytes, which takes no time at the start of a program and finds the same.

use std::iter;

/// How many bytes of a phrase choose its chain; no phrase is shorter.
const KEY: usize = 3;
const BUCKETS: usize = 1 << 12;

/// Lists of phrases. A `*` at the end of a phrase is no part of it.
pub(crate) type PhraseLists = &'static [&'static [&'static str]];

/// Lists of phrases, by the first bytes of each phrase.
pub(crate) struct PhraseTable<const N: usize> {
    lists: PhraseLists,
    /// For each bucket one more than the index of its first entry; 0 for none.
    first: [u16; BUCKETS],
    entries: [PhraseEntry; N],
}

/// Where a phrase is listed, and one more than the index of the next entry of its bucket.
#[derive(Clone, Copy)]
struct PhraseEntry {
    list: u16,
    place: u16,
    next: u16,
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
    /// Where it ends.
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

const fn bucket(key: [u8; KEY]) -> usize {
    (key[0] as usize ^ ((key[1] as usize) << 3) ^ ((key[2] as usize) << 6)) % BUCKETS
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
            list: 0,
            place: 0,
            next: 0,
        };
        let (mut first, mut entries) = ([0; BUCKETS], [nothing; N]);
        let (mut list, mut entry) = (0, 0);
        while list < lists.len() {
            let mut place = 0;
            while place < lists[list].len() {
                let phrase = lists[list][place].as_bytes();
                assert!(phrase.len() > KEY || phrase[KEY - 1] != b'*');
                let bucket = bucket([phrase[0], phrase[1], phrase[2]]);
                entries[entry] = PhraseEntry {
                    list: list as u16,
                    place: place as u16,
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

    /// All phrases that begin at one of these places, in the order of the places.
    pub(crate) fn found<'t>(
        &'t self,
        text: &'t str,
        may_begin: impl Fn(usize) -> bool + 't,
    ) -> impl Iterator<Item = PhraseMatch> + 't {
        let keys = text.as_bytes().windows(KEY).enumerate();
        let hits = keys.filter_map(move |(start, key)| {
            let first = self.first[bucket([key[0], key[1], key[2]])];
            (first != 0 && may_begin(start)).then_some((start, first))
        });
        hits.flat_map(move |(start, first)| self.chain(text, start, first))
    }

    fn chain<'t>(
        &'t self,
        text: &'t str,
        start: usize,
        first: u16,
    ) -> impl Iterator<Item = PhraseMatch> + 't {
        let entry = |index: u16| self.entries.get(usize::from(index).checked_sub(1)?);
        let entries = iter::successors(entry(first), move |last| entry(last.next));
        entries.filter_map(move |entry| {
            let (list, place) = (usize::from(entry.list), usize::from(entry.place));
            let listed = self.lists[list][place];
            let phrase = listed.strip_suffix('*');
            let length = phrase.unwrap_or(listed).len();
            let is_here = text.as_bytes()[start..].starts_with(&listed.as_bytes()[..length]);
            is_here.then_some(PhraseMatch {
                list,
                place,
                start,
                end: start + length,
                open: phrase.is_some(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::prose::LISTS;

    static TABLE: PhraseTable<{ phrase_count(LISTS) }> = PhraseTable::new(LISTS);

    /// Each phrase looked for by itself.
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
                (0..*cut).for_each(|_| drop(word.pop()));
                word + glue
            };
            let text: String = words.iter().map(cut).collect();
            let mut found: Vec<PhraseMatch> = TABLE.found(&text, |_| true).collect();
            found.sort_unstable();
            prop_assert_eq!(found, one_by_one(&text));
        }
    }
}
