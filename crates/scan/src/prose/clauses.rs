//! Patterns over the words of a sentence: sets of words in an order, with a few other words between them.
//!
//! A pattern has one step for each part of its meaning ("disregard", "earlier", "instructions"), and each step is a set of words from a
//! table (see [`super::word_sets`]). A sentence is read once: each of its words is looked up, and all patterns are matched on these
//! positions. The time is linear in the number of words.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    orders::PATTERNS,
    word_sets::{WORDS, WordSet},
};

/// Several sets of words, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordSets([u128; 3]);

impl WordSets {
    pub(super) const fn of(sets: &[WordSet]) -> Self {
        let (mut bits, mut at) = ([0; 3], 0);
        while at < sets.len() {
            let set = sets[at] as usize;
            bits[set / 128] |= 1 << (set % 128);
            at += 1;
        }
        Self(bits)
    }

    const fn meets(self, other: Self) -> bool {
        self.0[0] & other.0[0] != 0 || self.0[1] & other.0[1] != 0 || self.0[2] & other.0[2] != 0
    }

    const fn with(self, other: Self) -> Self {
        Self([
            self.0[0] | other.0[0],
            self.0[1] | other.0[1],
            self.0[2] | other.0[2],
        ])
    }
}

/// A part of a pattern: any of these words, after at most this many others.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternStep {
    pub(super) sets: WordSets,
    pub(super) gap: u16,
}

/// The text that may precede a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternStart {
    /// The first word is an order: it begins a clause, or follows "must", "please", "then".
    Order,
    /// Nothing: it begins the sentence.
    First,
    /// Anything.
    Anywhere,
    /// Anything, and the steps in any order, each at most this many words from the first one.
    Around(u16),
}

/// A word of a sentence.
struct SentenceWord<'t> {
    text: &'t str,
    start: usize,
    /// Whether a punctuation mark is before it.
    begins: bool,
}

/// A place in a sentence where a set has a phrase: its first word and the one after it.
#[derive(Clone, Copy)]
struct PhrasePlace {
    first: usize,
    after: usize,
    sets: WordSets,
}

/// The phrases of all sets by their first words; a phrase that ends with `*` is open.
static PHRASES: LazyLock<HashMap<&'static str, Vec<(WordSets, &'static str)>>> =
    LazyLock::new(|| {
        let mut table: HashMap<&str, Vec<(WordSets, &str)>> = HashMap::new();
        for (set, phrases) in WORDS {
            for phrase in *phrases {
                let first = phrase.split(' ').next().unwrap_or_default();
                let key = match first.strip_suffix('*') {
                    Some(stem) => stem.get(..STEM).unwrap_or(stem),
                    None => first,
                };
                let sets = WordSets::of(&[*set]);
                table.entry(key).or_default().push((sets, phrase));
            }
        }
        table
    });

/// Open words are looked up by their first bytes; none is shorter.
const STEM: usize = 4;

/// The number of positions that are tried as the beginning of a pattern, when the position matters.
const MOST_STARTS: usize = 16;

/// A sentence in lower case, as its words and what is known about them.
pub(super) struct Clauses<'t> {
    words: Vec<SentenceWord<'t>>,
    places: Vec<PhrasePlace>,
    all: WordSets,
}

impl<'t> Clauses<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let words = words(text);
        let mut places: Vec<PhrasePlace> = Vec::new();
        let mut all = WordSets::default();
        for first in 0..words.len() {
            let word = words[first].text;
            let stem = word.get(..STEM).filter(|stem| stem.len() < word.len());
            for key in [Some(word), stem].into_iter().flatten() {
                for (sets, phrase) in PHRASES.get(key).into_iter().flatten() {
                    let Some(length) = length_at(&words[first..], phrase) else {
                        continue;
                    };
                    all = all.with(*sets);
                    let after = first + length;
                    match places.last_mut() {
                        Some(last) if last.first == first && last.after == after => {
                            last.sets = last.sets.with(*sets);
                        }
                        _ => places.push(PhrasePlace {
                            first,
                            after,
                            sets: *sets,
                        }),
                    }
                }
            }
        }
        Self { words, places, all }
    }

    /// Calls `found` with the number of each pattern that the sentence has. `counts` returns whether an offset is included.
    pub(super) fn find(&self, counts: &impl Fn(usize) -> bool, mut found: impl FnMut(usize)) {
        for (number, pattern) in PATTERNS.iter().enumerate() {
            if self.has(pattern.start, pattern.steps, counts) {
                found(number);
            }
        }
    }

    /// Whether the words have these steps one after another.
    pub(super) fn has(
        &self,
        start: PatternStart,
        steps: &[PatternStep],
        counts: &impl Fn(usize) -> bool,
    ) -> bool {
        if let PatternStart::Around(window) = start {
            return self.surrounds(steps, usize::from(window), counts);
        }
        let begins = |place: &PhrasePlace| {
            let may_begin = match start {
                PatternStart::Order => self.orders(place.first),
                PatternStart::First => place.first == 0,
                PatternStart::Anywhere | PatternStart::Around(_) => true,
            };
            may_begin && counts(self.words[place.first].start)
        };
        self.reaches(steps, begins, counts)
    }

    /// Whether all steps are within this many words of a position of the first one, in any order.
    fn surrounds(
        &self,
        steps: &[PatternStep],
        window: usize,
        counts: &impl Fn(usize) -> bool,
    ) -> bool {
        if !steps.iter().all(|step| step.sets.meets(self.all)) {
            return false;
        }
        let places_of = |step: &PatternStep| -> Vec<usize> {
            let places = self
                .places
                .iter()
                .filter(|place| place.sets.meets(step.sets));
            let counted = places.filter(|place| counts(self.words[place.first].start));
            counted.map(|place| place.first).collect()
        };
        // Places are in the order of their words.
        let places: Vec<Vec<usize>> = steps.iter().map(places_of).collect();
        let Some((first, rest)) = places.split_first() else {
            return false;
        };
        first.iter().any(|at| {
            rest.iter().all(|others| {
                let from = others.partition_point(|other| other + window < *at);
                others.get(from).is_some_and(|other| *other <= at + window)
            })
        })
    }

    /// Where these steps begin; the first few places.
    pub(super) fn starts_of(&self, steps: &[PatternStep]) -> Vec<usize> {
        let Some(first) = steps.first() else {
            return Vec::new();
        };
        let possible = self.places.iter().filter(|at| at.sets.meets(first.sets));
        possible
            .take(MOST_STARTS)
            .filter(|at| self.reaches(steps, |place| place.first == at.first, &|_| true))
            .map(|at| self.words[at.first].start)
            .collect()
    }

    /// Where the last of two steps stands; the first few places.
    pub(super) fn ends_of(&self, steps: &[PatternStep; 2]) -> Vec<usize> {
        let gap = usize::from(steps[1].gap);
        let begins = |after: usize| {
            self.places.iter().any(|first| {
                first.sets.meets(steps[0].sets)
                    && first.after <= after
                    && after - first.after <= gap
            })
        };
        let ends = self.places.iter().filter(|at| at.sets.meets(steps[1].sets));
        ends.take(MOST_STARTS)
            .filter(|at| begins(at.first))
            .map(|at| self.words[at.first].start)
            .collect()
    }

    /// Whether the last step can be reached from a place that begins. Of several places before a word only the last one matters: it is the
    /// nearest.
    fn reaches(
        &self,
        steps: &[PatternStep],
        begins: impl Fn(&PhrasePlace) -> bool,
        counts: &impl Fn(usize) -> bool,
    ) -> bool {
        let Some((first, rest)) = steps.split_first() else {
            return false;
        };
        if !steps.iter().all(|step| step.sets.meets(self.all)) {
            return false;
        }
        let first = |place: &&PhrasePlace| place.sets.meets(first.sets) && begins(place);
        let mut reached: Vec<usize> = self.places.iter().filter(first).map(|p| p.after).collect();
        for step in rest {
            reached.sort_unstable();
            let near = |place: &&PhrasePlace| {
                let before = reached.partition_point(|after| *after <= place.first);
                place.sets.meets(step.sets)
                    && before
                        .checked_sub(1)
                        .is_some_and(|at| place.first - reached[at] <= usize::from(step.gap))
            };
            reached = self.places.iter().filter(near).map(|p| p.after).collect();
        }
        reached
            .iter()
            .any(|after| counts(self.words[after - 1].start))
    }

    /// Whether a verb at this word is an order: "ignore …", "you must ignore …", "then ignore …"; not "you can override …".
    fn orders(&self, word: usize) -> bool {
        word == 0
            || self.words[word].begins
            || self.places.iter().any(|place| {
                place.after == word && place.sets.meets(WordSets::of(&[WordSet::Lead]))
            })
    }
}

/// How many words a phrase takes here, if it is here.
fn length_at(words: &[SentenceWord<'_>], phrase: &str) -> Option<usize> {
    let mut length = 0;
    for part in phrase.split(' ') {
        let word = words.get(length)?.text;
        let same = match part.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => word == part,
        };
        if !same {
            return None;
        }
        length += 1;
    }
    Some(length)
}

/// The words of a text; a URL is one word.
fn words(text: &str) -> Vec<SentenceWord<'_>> {
    let mut words = Vec::new();
    let mut begins = true;
    let mut rest = 0;
    while let Some(c) = text[rest..].chars().next() {
        if !is_word(c) {
            begins |= !c.is_whitespace() && !matches!(c, '`' | '\'' | '’' | '/' | '&');
            rest += c.len_utf8();
            continue;
        }
        let ends = match ["https://", "http://"]
            .iter()
            .any(|scheme| text[rest..].starts_with(scheme))
        {
            true => text[rest..].find(|c: char| {
                c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '<' | '>' | ')' | '(' | ',')
            }),
            false => text[rest..].find(|c: char| !is_word(c) && !matches!(c, '\'' | '’' | '-')),
        };
        let end = ends.map_or(text.len(), |length| rest + length);
        let word = &text[rest..end];
        words.push(SentenceWord {
            text: match word.contains("://") {
                true => "https",
                false => word.trim_end_matches(['\'', '’', '-']),
            },
            start: rest,
            begins,
        });
        begins = false;
        rest = end;
    }
    words
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
