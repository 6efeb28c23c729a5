//! A task against an index: scores, and the reasons for them.
//!
//! Every living skill gets the sum of BM25 in name and description and of BM25 in the body. The best of them are
//! compared closely: adjacent words of the task that are adjacent in the skill, and names that the task contains as a whole. All shares are
//! added; ranks are never combined. The rarity of a word is rounded, so that the order is the same on every machine.

use std::collections::HashMap;

use super::{
    bits::HashSetBits,
    segment::{LEVELS, Posting, Segment, SegmentBytes, SkillKey, TextField, lengths},
    task_words::{TaskWord, TaskWords},
    tokens::{Place, TermWeight, Tokenizer, pair, plain},
    tuning::{MAX_MISSPELT, MAX_QUERY_BYTES, MAX_TERMS, MIN_MISSPELT, SearchTuning},
    typos::is_one_edit,
};

/// An index: segments, and which of their skills currently exist.
pub struct SkillIndex<B> {
    segments: Vec<LivingSegment<B>>,
    head: FieldTable,
    body: FieldTable,
    living: u32,
    tuning: SearchTuning,
}

struct LivingSegment<B> {
    segment: Segment<B>,
    living: Vec<bool>,
    /// Whether all of them currently exist.
    is_whole: bool,
    /// Skills that count for the rarity of words but are not returned; empty if there are none.
    hidden: Vec<bool>,
    /// The position of its first skill among the skills of all segments.
    first: usize,
}

/// The share of an ideal text's points that counts as a fit of one half.
const HALF_FIT: f32 = 0.25;

/// The bytes of an index are damaged; it must be built again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the search index is damaged")]
pub struct DamagedIndex;

/// The skills that fit a task best.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchHits {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// How many skills contain any word of the task.
    pub matching: usize,
    /// How many words of the task were not compared because there are too many.
    pub ignored_words: usize,
    /// The words of the task that were compared.
    pub words: TaskWords,
}

/// A skill that contains words of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// Its key.
    pub key: SkillKey,
    /// The sum of all shares.
    pub points: f32,
    /// How well it fits, between 0 and 1. A quarter of the points of an ideal text for the task is one half.
    pub fit: f32,
    /// The part of the task's words that it contains, between 0 and 1; rare words count more.
    pub covered: f32,
    /// Where the points come from, largest first.
    pub shares: Vec<SearchShare>,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchShare {
    /// The place of the match.
    pub place: MatchPlace,
    /// The words of the task, as they were typed.
    pub words: String,
    /// Its points.
    pub points: f32,
}

/// Where words of a task match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchPlace {
    /// A word of the name.
    Name,
    /// A word that resembles a word of the name.
    SimilarName,
    /// The whole name.
    WholeName,
    /// A word of the description.
    Description,
    /// A word of the body.
    Body,
    /// Neighbours in the body.
    Pair,
}

impl MatchPlace {
    /// All places, most telling first.
    pub const ALL: [Self; 6] = [
        Self::WholeName,
        Self::Name,
        Self::SimilarName,
        Self::Description,
        Self::Pair,
        Self::Body,
    ];

    /// The place, for display: it follows the words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "in its name",
            Self::SimilarName => "in its name, nearly as in the task",
            Self::WholeName => "is its whole name",
            Self::Description => "in its description",
            Self::Body => "in its body",
            Self::Pair => "together in its body",
        }
    }
}

impl SearchHit {
    /// How many words are named for each place.
    const NAMED: usize = 4;

    /// The reasons in one sentence: the words that count most, by place.
    #[must_use]
    pub fn told(&self) -> String {
        let places = MatchPlace::ALL.iter().filter_map(|place| {
            let mut words: Vec<String> = Vec::new();
            for share in self.shares.iter().filter(|share| share.place == *place) {
                words.push(format!("`{}`", share.words));
            }
            let more = words.len().saturating_sub(Self::NAMED);
            words.truncate(Self::NAMED);
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let words = words.join(", ");
            (!words.is_empty()).then(|| format!("{words}{more} {}", place.as_str()))
        });
        places.collect::<Vec<_>>().join("; ")
    }
}

/// A word of a task.
#[derive(Default)]
struct QueryTerm {
    hash: u64,
    text: String,
    weight: f32,
    head_rarity: f32,
    body_rarity: f32,
    /// Whether a name or description contains it.
    is_known: bool,
    /// Whether it comes from a name and only resembles a word of the task (a misspelling).
    similar: bool,
    /// Whether the task can be about it: not a number, and not a word that occurs in every request.
    is_subject: bool,
}

/// For one task: the points of the skills of all segments, and the words that each contains.
struct Scores {
    points: Vec<f32>,
    /// [`BodyWords`] of each skill.
    bodies: Vec<u64>,
}

/// Which of the first 63 words of a task a body contains, one bit each; the last bit is for all others.
#[derive(Clone, Copy)]
struct BodyWords(u64);

impl BodyWords {
    fn of(position: usize) -> Self {
        Self(1 << position.min(63))
    }

    fn has(self, position: usize) -> bool {
        self.0 & Self::of(position).0 != 0
    }
}

/// The values that depend on the lengths of all texts of a field.
struct FieldTable {
    /// By level of count and stored length.
    gains: [[f32; 256]; LEVELS.len()],
    k1: f32,
}

impl FieldTable {
    fn new(k1: f32, b: f32, stored: impl Iterator<Item = u8>) -> Self {
        let table = lengths();
        let (mut sum, mut count) = (0_u64, 0_u64);
        for length in stored.filter(|length| *length > 0) {
            sum += u64::from(*table.get(usize::from(length)).unwrap_or(&0));
            count += 1;
        }
        #[expect(clippy::cast_precision_loss, reason = "an average needs no more")]
        let usual = (sum.max(1) as f64 / count.max(1) as f64) as f32;
        #[expect(clippy::cast_precision_loss, reason = "a length in words")]
        let norms = table.map(|length| k1 * (1.0 - b + b * length as f32 / usual));
        let gain = |count: f32, norm: f32| count * (k1 + 1.0) / (count + norm);
        let gains = LEVELS.map(|(_, count)| norms.map(|norm| gain(count, norm)));
        Self { gains, k1 }
    }

    fn gain(&self, level: usize, length: u8) -> f32 {
        let gains = self.gains.get(level);
        gains.map_or(0.0, |gains| gains[usize::from(length)])
    }

    fn limit(&self) -> f32 {
        self.k1 + 1.0
    }
}

/// The rarity of a word, 0 if no skill contains it; rounded, because machines compute logarithms differently in the last digit.
pub(super) fn rarity(skills: u32, having: u32) -> f32 {
    if having == 0 {
        return 0.0;
    }
    let (skills, having) = (f64::from(skills), f64::from(having.min(skills)));
    let exact = (1.0 + (skills - having + 0.5) / (having + 0.5)).ln();
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let rounded = ((exact * 1024.0).round() / 1024.0) as f32;
    rounded
}

impl<B: SegmentBytes> SkillIndex<B> {
    /// An index of segments. `lives` states which skills currently exist; a skill in several segments counts once.
    #[must_use]
    pub fn new(segments: Vec<Segment<B>>, lives: impl Fn(&SkillKey) -> bool) -> Self {
        Self::tuned(segments, lives, SearchTuning::CHOSEN)
    }

    /// [`Self::new`] with other constants, for measurements.
    #[must_use]
    pub fn tuned(
        segments: Vec<Segment<B>>,
        lives: impl Fn(&SkillKey) -> bool,
        tuning: SearchTuning,
    ) -> Self {
        let mut all: Vec<LivingSegment<B>> = Vec::with_capacity(segments.len());
        let (mut first, mut living) = (0, 0);
        for segment in segments {
            let is_new = |key: &SkillKey| {
                let mut earlier = all.iter().map(|earlier| &earlier.segment.keys);
                !earlier.any(|keys| keys.binary_search(key).is_ok())
            };
            let flags: Vec<bool> = segment
                .keys
                .iter()
                .map(|key| lives(key) && is_new(key))
                .collect();
            living += flags.iter().filter(|lives| **lives).count();
            let count = segment.len();
            all.push(LivingSegment {
                segment,
                is_whole: flags.iter().all(|lives| *lives),
                living: flags,
                hidden: Vec::new(),
                first,
            });
            first += count;
        }
        let stored = |field: TextField| {
            all.iter().flat_map(move |one| {
                let stored = match field {
                    TextField::Head => &one.segment.heads,
                    TextField::Body => &one.segment.bodies,
                };
                stored
                    .iter()
                    .zip(&one.living)
                    .filter_map(|(length, lives)| lives.then_some(*length))
            })
        };
        Self {
            head: FieldTable::new(tuning.head_k1, tuning.head_b, stored(TextField::Head)),
            body: FieldTable::new(tuning.body_k1, tuning.body_b, stored(TextField::Body)),
            living: u32::try_from(living).unwrap_or(u32::MAX),
            segments: all,
            tuning,
        }
    }

    /// This index, in which some skills count for the rarity of words and are found only by [`Self::search_all`].
    #[must_use]
    pub fn hiding(mut self, is_hidden: impl Fn(&SkillKey) -> bool) -> Self {
        for one in &mut self.segments {
            one.hidden = one.segment.keys.iter().map(&is_hidden).collect();
        }
        self
    }

    /// How many skills are searched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.living as usize
    }

    /// Whether there are no skills.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.living == 0
    }

    /// The skills that fit a task best, at most `limit`.
    ///
    /// # Errors
    /// When the bytes of a segment are damaged.
    pub fn search(&self, task: &str, limit: usize) -> Result<SearchHits, DamagedIndex> {
        self.look(task, limit, false).ok_or(DamagedIndex)
    }

    /// [`Self::search`] among all skills, including hidden ones.
    ///
    /// # Errors
    /// When the bytes of a segment are damaged.
    pub fn search_all(&self, task: &str, limit: usize) -> Result<SearchHits, DamagedIndex> {
        self.look(task, limit, true).ok_or(DamagedIndex)
    }

    fn look(&self, task: &str, limit: usize, everything: bool) -> Option<SearchHits> {
        let mut query = Query::read(task, &self.tuning);
        let skills = self.segments.iter().map(|one| one.living.len()).sum();
        let mut scores = Scores {
            points: vec![0.0; skills],
            bodies: vec![0; skills],
        };
        self.score(&mut query.terms, &mut scores)?;
        let mut similar = self.similar(&query)?;
        self.score(&mut similar, &mut scores)?;
        query.terms.append(&mut similar);
        let wanted = self.tuning.compared.max(limit);
        let (mut best, matching) = self.best(&scores.points, wanted, everything);
        best.sort_by(|a, b| self.compare(a, b));
        let mut close = HashMap::new();
        for (points, position) in best.iter_mut().take(self.tuning.compared) {
            let body = BodyWords(scores.bodies.get(*position).copied()?);
            let shares = self.closely(*position, body, &query)?;
            *points += shares.iter().map(|share| share.points).sum::<f32>();
            close.insert(*position, shares);
        }
        best.sort_by(|a, b| self.compare(a, b));
        best.truncate(limit);
        let ideal = query.ideal(self);
        let task_words = query.words(self.living);
        let words = self.explained(&best, &query)?;
        let hits = best.into_iter().zip(words);
        let hits = hits.filter(|(_, shares)| query.is_about(shares));
        let hits = hits.map(|((points, position), mut shares)| {
            shares.extend(close.remove(&position).unwrap_or_default());
            // Words with equal points keep the order of the task.
            shares.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.place.cmp(&b.place)));
            Some(SearchHit {
                key: *self.key(position)?,
                points,
                fit: points / (points + ideal * HALF_FIT),
                covered: covered(&task_words, &shares),
                shares,
            })
        });
        Some(SearchHits {
            hits: hits.collect::<Option<_>>()?,
            matching,
            ignored_words: query.ignored,
            words: TaskWords::new(task_words, self.living),
        })
    }

    /// Adds the points of words to those of all skills.
    fn score(&self, terms: &mut [QueryTerm], scores: &mut Scores) -> Option<()> {
        let (mut list, mut starts) = (Vec::new(), Vec::new());
        for (position, term) in terms.iter_mut().enumerate() {
            let having = self.lists(TextField::Head, term.hash, &mut list, &mut starts)?;
            term.is_known = having > 0;
            term.head_rarity = rarity(self.living, having);
            let weight = term.head_rarity * term.weight;
            self.add(TextField::Head, weight, &list, &starts, &mut scores.points);
            if term.similar {
                continue;
            }
            let having = self.lists(TextField::Body, term.hash, &mut list, &mut starts)?;
            term.body_rarity = rarity(self.living, having);
            let weight = term.body_rarity * term.weight * self.tuning.body;
            self.add(TextField::Body, weight, &list, &starts, &mut scores.points);
            let word = BodyWords::of(position).0;
            let ranges = starts.iter().zip(starts.iter().skip(1));
            for (one, (start, end)) in self.segments.iter().zip(ranges) {
                let bodies = scores.bodies.get_mut(one.first..).unwrap_or_default();
                for posting in list.get(*start..*end).unwrap_or_default() {
                    if let Some(words) = bodies.get_mut(posting.skill() as usize) {
                        *words |= word;
                    }
                }
            }
        }
        Some(())
    }

    /// The living skills that contain a word in a field, segment by segment; returns how many.
    fn lists(
        &self,
        field: TextField,
        term: u64,
        list: &mut Vec<Posting>,
        starts: &mut Vec<usize>,
    ) -> Option<u32> {
        list.clear();
        starts.clear();
        let mut having = 0_u32;
        for one in &self.segments {
            let start = list.len();
            starts.push(start);
            one.segment.list(field, term, list)?;
            let new = list.get(start..)?;
            let living = match one.is_whole {
                true => new.len(),
                false => {
                    let lives = |skill: u32| one.living.get(skill as usize) == Some(&true);
                    new.iter().filter(|one| lives(one.skill())).count()
                }
            };
            having += u32::try_from(living).unwrap_or(0);
        }
        starts.push(list.len());
        Some(having)
    }

    fn add(
        &self,
        field: TextField,
        weight: f32,
        list: &[Posting],
        starts: &[usize],
        points: &mut [f32],
    ) {
        let ranges = starts.iter().zip(starts.iter().skip(1));
        for (one, (start, end)) in self.segments.iter().zip(ranges) {
            let (table, lengths) = match field {
                TextField::Head => (&self.head, &one.segment.heads),
                TextField::Body => (&self.body, &one.segment.bodies),
            };
            let points = points.get_mut(one.first..).unwrap_or_default();
            for posting in list.get(*start..*end).unwrap_or_default() {
                let skill = posting.skill() as usize;
                if let (Some(points), Some(length)) = (points.get_mut(skill), lengths.get(skill)) {
                    *points += weight * table.gain(posting.level(), *length);
                }
            }
        }
    }

    /// The positions with the most points, and how many have any.
    fn best(&self, points: &[f32], count: usize, everything: bool) -> (Vec<(f32, usize)>, usize) {
        let mut found: Vec<(f32, usize)> = Vec::new();
        for one in &self.segments {
            let own = points.get(one.first..).unwrap_or_default();
            let living = own.iter().zip(&one.living).enumerate();
            let living = living.filter(|(_, (points, lives))| **lives && **points > 0.0);
            let is_hidden = |skill: usize| !everything && one.hidden.get(skill) == Some(&true);
            let living = living.filter(|(skill, _)| !is_hidden(*skill));
            found.extend(living.map(|(skill, (points, _))| (*points, one.first + skill)));
        }
        let matching = found.len();
        if matching > count && count > 0 {
            found.select_nth_unstable_by(count - 1, |a, b| self.compare(a, b));
            found.truncate(count);
        }
        (found, matching)
    }

    /// Most points first; at equal points by the key, which does not depend on the order of changes.
    fn compare(&self, a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
        let by_points = b.0.total_cmp(&a.0);
        by_points.then_with(|| self.key(a.1).cmp(&self.key(b.1)))
    }

    fn at(&self, position: usize) -> Option<(&LivingSegment<B>, usize)> {
        let which = self.segments.partition_point(|one| one.first <= position);
        let one = self.segments.get(which.checked_sub(1)?)?;
        Some((one, position - one.first))
    }

    fn key(&self, position: usize) -> Option<&SkillKey> {
        let (one, skill) = self.at(position)?;
        one.segment.keys.get(skill)
    }

    /// The shares of neighbours and of whole names.
    fn closely(
        &self,
        position: usize,
        words: BodyWords,
        query: &Query,
    ) -> Option<Vec<SearchShare>> {
        let (one, skill) = self.at(position)?;
        let record = one.segment.record(skill)?;
        let (name, mut at) = name_words(&record)?;
        let body = HashSetBits::contained(&record, &mut at, &query.pair_hashes)?;
        let mut shares = Vec::new();
        let pairs = query.pairs.iter().zip(body);
        let pairs = pairs.filter(|(_, found)| *found && self.tuning.pairs > 0.0);
        // The set of neighbours is sometimes wrong, which is detected if a body does not contain both words.
        let pairs = pairs.map(|(pair, _)| pair);
        let mut pairs: Vec<&QueryPair> = pairs
            .filter(|pair| words.has(pair.left) && words.has(pair.right))
            .collect();
        pairs.sort_by_key(|pair| (pair.left, pair.right));
        for pair in pairs {
            let (left, right) = (query.terms.get(pair.left)?, query.terms.get(pair.right)?);
            let rare = f32::midpoint(left.body_rarity, right.body_rarity);
            shares.push(SearchShare {
                place: MatchPlace::Pair,
                words: format!("{} {}", left.text, right.text),
                points: self.tuning.pairs * rare * left.weight.min(1.0) * right.weight.min(1.0),
            });
        }
        let whole = query
            .whole_name(&name)
            .filter(|_| self.tuning.whole_name > 0.0);
        shares.extend(whole.map(|(words, rare)| SearchShare {
            place: MatchPlace::WholeName,
            words,
            points: self.tuning.whole_name * rare,
        }));
        Some(shares)
    }

    /// The shares of single words, for each skill.
    fn explained(&self, best: &[(f32, usize)], query: &Query) -> Option<Vec<Vec<SearchShare>>> {
        let mut all = vec![Vec::new(); best.len()];
        let ends = self.segments.iter().skip(1).map(|next| next.first);
        for (one, end) in self.segments.iter().zip(ends.chain([usize::MAX])) {
            let own = best
                .iter()
                .enumerate()
                .filter(|(_, (_, position))| (one.first..end).contains(position));
            let mut own: Vec<(usize, usize)> = own
                .map(|(hit, (_, position))| (hit, position - one.first))
                .collect();
            own.sort_unstable_by_key(|(_, skill)| *skill);
            let skills: Vec<u32> = own
                .iter()
                .filter_map(|(_, skill)| u32::try_from(*skill).ok())
                .collect();
            let names = own
                .iter()
                .map(|(_, skill)| Some(name_words(&one.segment.record(*skill)?)?.0));
            let names: Vec<Vec<u64>> = names.collect::<Option<_>>()?;
            for term in &query.terms {
                let heads = one.segment.levels(TextField::Head, term.hash, &skills)?;
                let bodies = match term.similar {
                    true => vec![None; skills.len()],
                    false => one.segment.levels(TextField::Body, term.hash, &skills)?,
                };
                let counts = heads.into_iter().zip(bodies);
                for (((hit, skill), name), counts) in own.iter().zip(&names).zip(counts) {
                    let is_name = name.contains(&term.hash);
                    let shares = self.word_shares(one, *skill, term, is_name, counts)?;
                    all.get_mut(*hit)?.extend(shares);
                }
            }
        }
        Some(all)
    }

    /// The shares of one word in one skill.
    fn word_shares(
        &self,
        one: &LivingSegment<B>,
        skill: usize,
        term: &QueryTerm,
        is_name: bool,
        (head, body): (Option<usize>, Option<usize>),
    ) -> Option<impl Iterator<Item = SearchShare>> {
        let place = match (is_name, term.similar) {
            (true, true) => MatchPlace::SimilarName,
            (true, false) => MatchPlace::Name,
            (false, _) => MatchPlace::Description,
        };
        let lengths = [&one.segment.heads, &one.segment.bodies].map(|all| all.get(skill).copied());
        let [head_length, body_length] = lengths;
        let (head_length, body_length) = (head_length?, body_length?);
        let in_head = head.map(|level| {
            let gain = self.head.gain(level, head_length);
            (place, term.head_rarity * gain)
        });
        let in_body = body.map(|level| {
            let gain = self.body.gain(level, body_length) * self.tuning.body;
            (MatchPlace::Body, term.body_rarity * gain)
        });
        let shares = in_head.into_iter().chain(in_body);
        Some(shares.map(|(place, points)| SearchShare {
            place,
            words: term.text.clone(),
            points: points * term.weight,
        }))
    }

    /// Words of names that unknown words of a task may mean.
    fn similar(&self, query: &Query) -> Option<Vec<QueryTerm>> {
        let is_unknown = |term: &&QueryTerm| {
            let mut letters = term.text.chars();
            !term.is_known
                && term.text.chars().count() >= MIN_MISSPELT
                && letters.all(char::is_alphabetic)
        };
        let unknown: Vec<&QueryTerm> = query
            .terms
            .iter()
            .filter(is_unknown)
            .take(MAX_MISSPELT)
            .collect();
        let mut similar: Vec<QueryTerm> = Vec::new();
        if unknown.is_empty() || self.tuning.misspelt <= 0.0 {
            return Some(similar);
        }
        let mut tokens = Tokenizer::default();
        for one in &self.segments {
            let names = one.segment.names()?;
            for name in std::str::from_utf8(&names).ok()?.lines() {
                if !unknown.iter().any(|term| is_one_edit(&term.text, name)) {
                    continue;
                }
                let hash = tokens.term(name).hash;
                if query
                    .terms
                    .iter()
                    .chain(&similar)
                    .all(|term| term.hash != hash)
                {
                    similar.push(QueryTerm {
                        hash,
                        text: name.to_owned(),
                        weight: self.tuning.misspelt,
                        similar: true,
                        is_subject: true,
                        ..QueryTerm::default()
                    });
                }
            }
        }
        similar.sort_by_key(|term| term.hash);
        Some(similar)
    }
}

/// The part of a task's words that a skill contains.
fn covered(words: &[TaskWord], shares: &[SearchShare]) -> f32 {
    let has = |word: &&TaskWord| shares.iter().any(|share| share.words == word.text);
    let all: f32 = words.iter().map(|word| word.gain).sum();
    let own: f32 = words.iter().filter(has).map(|word| word.gain).sum();
    own / all.max(f32::MIN_POSITIVE)
}

/// The hashes of the words of a name, and where the record continues.
fn name_words(record: &[u8]) -> Option<(Vec<u64>, usize)> {
    let count = usize::from(*record.first()?);
    let end = 1 + count * 8;
    let (words, _) = record.get(1..end)?.as_chunks::<8>();
    Some((
        words.iter().map(|word| u64::from_le_bytes(*word)).collect(),
        end,
    ))
}

/// A task in the form for comparison.
struct Query {
    terms: Vec<QueryTerm>,
    pairs: Vec<QueryPair>,
    /// The hashes of the pairs, rising.
    pair_hashes: Vec<u32>,
    ignored: usize,
}

struct QueryPair {
    hash: u32,
    left: usize,
    right: usize,
}

impl Query {
    fn read(task: &str, tuning: &SearchTuning) -> Self {
        let end = task.floor_char_boundary(MAX_QUERY_BYTES);
        let (compared, rest) = task.split_at(end);
        let mut query = Self {
            terms: Vec::new(),
            pairs: Vec::new(),
            pair_hashes: Vec::new(),
            ignored: rest.split_whitespace().count(),
        };
        let mut last: Option<usize> = None;
        Tokenizer::default().each(compared, |term, place, word| {
            if term.weight == TermWeight::Stop {
                return;
            }
            let known = query.terms.iter().position(|known| known.hash == term.hash);
            let position = match known {
                Some(position) => position,
                None if query.terms.len() >= MAX_TERMS => {
                    query.ignored += 1;
                    return;
                }
                None => {
                    query.terms.push(QueryTerm {
                        hash: term.hash,
                        text: plain(word),
                        is_subject: term.weight == TermWeight::Full,
                        ..QueryTerm::default()
                    });
                    query.terms.len() - 1
                }
            };
            let weight = match term.weight {
                TermWeight::Filler => tuning.filler,
                TermWeight::Number => tuning.number,
                _ => 1.0,
            };
            if let Some(term) = query.terms.get_mut(position) {
                term.weight = (term.weight + weight).min(tuning.repeated * weight);
            }
            if place == Place::Next {
                if let Some(left) = last {
                    query.pair(left, position);
                }
                last = Some(position);
            }
        });
        query.pairs.sort_by_key(|pair| pair.hash);
        query.pair_hashes = query.pairs.iter().map(|pair| pair.hash).collect();
        query
    }

    fn pair(&mut self, left: usize, right: usize) {
        let (Some(a), Some(b)) = (self.terms.get(left), self.terms.get(right)) else {
            return;
        };
        let hash = pair(a.hash, b.hash);
        if self.pairs.iter().all(|pair| pair.hash != hash) {
            self.pairs.push(QueryPair { hash, left, right });
        }
    }

    /// Whether a skill contains a word that the task can be about: "make" and "about" find no skill for "make a poster about penguins". A
    /// task with only such words finds skills that contain them.
    fn is_about(&self, shares: &[SearchShare]) -> bool {
        let mut subjects = self.terms.iter().filter(|term| term.is_subject).peekable();
        let has = |term: &QueryTerm| shares.iter().any(|share| share.words == term.text);
        subjects.peek().is_none() || subjects.any(has)
    }

    /// The words of a name, if all of them are in the task, and how rare they are.
    fn whole_name(&self, name: &[u64]) -> Option<(String, f32)> {
        let mut words = Vec::with_capacity(name.len());
        let mut rare = 0.0;
        for hash in name {
            let term = self.terms.iter().find(|term| term.hash == *hash)?;
            words.push(term.text.as_str());
            rare += term.head_rarity * term.weight.min(1.0);
        }
        (words.len() > 1).then(|| (words.join(" "), rare))
    }

    /// The words, each with its points in a description of the usual length.
    fn words(&self, skills: u32) -> Vec<TaskWord> {
        let own = self.terms.iter().filter(|term| !term.similar);
        let words = own.map(|term| TaskWord {
            text: term.text.clone(),
            hash: term.hash,
            gain: match term.head_rarity > 0.0 {
                true => term.head_rarity * term.weight,
                false => rarity(skills, 1) * term.weight,
            },
        });
        words.collect()
    }

    /// The points of an ideal text: it contains every word of the task, and has the usual length.
    fn ideal<B>(&self, index: &SkillIndex<B>) -> f32 {
        let tuning = &index.tuning;
        let unknown = rarity(index.living, 1);
        let words = self.terms.iter().filter(|term| !term.similar).map(|term| {
            let is_known = term.head_rarity > 0.0 || term.body_rarity > 0.0;
            let head_rarity = if is_known { term.head_rarity } else { unknown };
            let head = head_rarity * index.head.limit();
            let body = term.body_rarity * index.body.limit() * tuning.body;
            term.weight * (head + body)
        });
        words.sum::<f32>().max(f32::MIN_POSITIVE)
    }
}
