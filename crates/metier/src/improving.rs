//! Which queries a skill should win and does not, which words would help, and which skills compete for the same queries.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    thread,
};

use metier_runtime::{
    prompt::describe,
    trigger_queries::{QueryOrigin, TriggerQueries, TriggerQuery},
};
use metier_select::search::{MatchPlace, SearchHit, SearchShare};

pub use metier_select::search::TaskWord;

use crate::{
    Error, Skills, Workspace, evaluation::QueryProblem, explain, searching::TaskRouter,
    selection::missing,
};

/// How many queries of one skill are compared with those of others.
const MAX_OWN_QUERIES: usize = 20;

/// The result of [`Workspace::improve`], which has an example.
#[derive(Clone, Debug, Default)]
pub struct Improvement {
    /// The name of the skill.
    pub name: String,
    /// How many skills were searched.
    pub searched: usize,
    /// How many queries should find it.
    pub queries: usize,
    /// Whether its description was the only query: the skill has no other, and a description finds itself.
    pub only_description: bool,
    /// Those that find another skill first.
    pub lost: Vec<LostQuery>,
    /// The words that would help most in its description, over all lost queries.
    pub words: Vec<HelpfulWord>,
    /// Files of queries that could not be used.
    pub problems: Vec<QueryProblem>,
}

/// A query that finds another skill first.
///
/// [`Workspace::improve`] lists them and has an example.
#[derive(Clone, Debug)]
pub struct LostQuery {
    /// The query.
    pub query: TriggerQuery,
    /// The place of the skill, from 0 on; none if it has no word of the query.
    pub place: Option<usize>,
    /// Its score, between 0 and 1.
    pub score: f64,
    /// The skill that is found first, with its score.
    pub winner: (String, f64),
    /// Words of the query that the skill does not have in its name and description, most points first.
    pub missing: Vec<TaskWord>,
    /// Those of them that its body has.
    pub in_body: BTreeSet<String>,
    /// Words and neighbours of the query that the body of the winner has and its own does not, most points first.
    pub body_lacks: Vec<String>,
    /// Whether these words in the description would be enough to be found first.
    pub is_enough: bool,
    /// Whether the winner fits no better by its words: its name or a trigger puts it first.
    pub by_trigger: bool,
}

/// A word that would help a skill.
///
/// The example of [`Workspace::improve`] prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct HelpfulWord {
    /// The word, as it is in a query.
    pub text: String,
    /// The number of lost queries that contain it.
    pub queries: usize,
    /// The points that it would add, over all of them.
    pub gain: f32,
    /// Whether the body of the skill has it.
    pub in_body: bool,
}

/// Two skills whose own queries find the other one first.
///
/// [`Workspace::collisions`] returns them and has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCollision {
    /// The two skills, by name, each with its queries that find the other first.
    pub skills: [CollidingSkill; 2],
}

/// One of two skills that compete.
///
/// The example of [`Workspace::collisions`] prints the names of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollidingSkill {
    /// Its name.
    pub name: String,
    /// How many queries it has.
    pub queries: usize,
    /// How many of them find the other skill first.
    pub lost: usize,
    /// One of those.
    pub example: Option<String>,
}

impl SkillCollision {
    /// Whether each of them loses queries to the other.
    ///
    /// [`Workspace::collisions`] lists such pairs first; its example prints all.
    #[must_use]
    pub fn is_mutual(&self) -> bool {
        self.skills.iter().all(|skill| skill.lost > 0)
    }
}

impl Workspace {
    /// The queries that a skill should win and does not: those that it ships, or the phrases in quotes of its description; and the given ones.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let improvement = workspace.improve(&skills, "pdf", &["combine two documents"])?;
    /// for word in &improvement.words {
    ///     println!("{} would help with {} queries", word.text, word.queries);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When no skill has that name, or when a search can't find it.
    pub fn improve(
        &self,
        skills: &Skills,
        name: &str,
        given: &[impl AsRef<str>],
    ) -> Result<Improvement, Error> {
        let skill = explain::find_usable(self, &skills.inventory, name)?;
        let entry = skills.inventory.entry(skill);
        let name = entry.name().into_owned();
        let mut queries = TriggerQueries::default();
        queries.add_shipped(entry);
        queries.queries.retain(|query| query.should_trigger);
        if let Some(card) = entry.card.as_ref().filter(|_| queries.queries.is_empty()) {
            queries.add_described(&name, &describe(card));
        }
        let given = given.iter().map(|text| TriggerQuery {
            text: text.as_ref().to_owned(),
            skills: vec![name.clone()],
            should_trigger: true,
            origin: QueryOrigin::Given,
        });
        queries.queries.extend(given);
        let router = self.router(skills);
        let names = router.names();
        if !names.contains_key(&name) {
            return Err(explain::not_ready(skill, &name));
        }
        let mut improvement = Improvement {
            searched: names.values().map(Vec::len).sum(),
            queries: queries.queries.len(),
            only_description: queries
                .queries
                .iter()
                .all(|query| matches!(query.origin, QueryOrigin::Description)),
            problems: queries.problems,
            ..Improvement::default()
        };
        let lost = queries.queries.into_iter();
        improvement.lost = lost
            .filter_map(|query| lost_query(&router, &name, query))
            .collect();
        improvement.words = helpful(&improvement.lost);
        improvement.name = name;
        Ok(improvement)
    }

    /// Pairs of skills that compete: a query of one finds the other first. The queries of a skill are those that it ships and the phrases in quotes
    /// of its description, or the description itself. Pairs in which both lose come first.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// for pair in workspace.collisions(&skills) {
    ///     println!("{} and {}", pair.skills[0].name, pair.skills[1].name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn collisions(&self, skills: &Skills) -> Vec<SkillCollision> {
        let router = self.router(skills);
        let mut own: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, positions) in router.names() {
            let queries = own.entry(name.clone()).or_default();
            for position in positions {
                queries.extend(own_queries(&router, &name, position));
            }
            queries.truncate(MAX_OWN_QUERIES);
        }
        let tasks: Vec<(&str, &str)> = own
            .iter()
            .flat_map(|(name, queries)| queries.iter().map(|query| (name.as_str(), query.as_str())))
            .collect();
        let winners = winners(&router, &tasks, self.search_reading().threads);
        let mut pairs: BTreeMap<[&str; 2], [CollidingSkill; 2]> = BTreeMap::new();
        for ((name, query), winner) in tasks.iter().zip(&winners) {
            let Some(winner) = winner.as_deref().filter(|winner| winner != name) else {
                continue;
            };
            let first = usize::from(winner < *name);
            let key = if first == 0 {
                [*name, winner]
            } else {
                [winner, *name]
            };
            let sides = pairs.entry(key).or_insert_with(|| {
                key.map(|name| CollidingSkill {
                    name: name.to_owned(),
                    queries: own.get(name).map_or(0, Vec::len),
                    ..CollidingSkill::default()
                })
            });
            let [a, b] = sides;
            let side = if first == 0 { a } else { b };
            side.lost += 1;
            side.example.get_or_insert_with(|| (*query).to_owned());
        }
        let mut pairs: Vec<SkillCollision> = pairs
            .into_values()
            .map(|skills| SkillCollision { skills })
            .collect();
        let lost = |pair: &SkillCollision| pair.skills.iter().map(|one| one.lost).sum::<usize>();
        pairs.sort_by(|a, b| {
            let by_mutual = b.is_mutual().cmp(&a.is_mutual());
            by_mutual.then_with(|| lost(b).cmp(&lost(a)))
        });
        pairs
    }
}

/// The texts that a skill's author wrote for being found.
fn own_queries(router: &TaskRouter, name: &str, position: usize) -> Vec<String> {
    let inventory = &router.skills.inventory;
    let Some(skill) = inventory.skills.get(position) else {
        return Vec::new();
    };
    let entry = inventory.entry(skill);
    let mut queries = TriggerQueries::default();
    queries.add_shipped(entry);
    if let Some(card) = &entry.card {
        queries.add_described(name, &describe(card));
    }
    let own = queries
        .queries
        .into_iter()
        .filter(|query| query.should_trigger);
    own.map(|query| query.text).collect()
}

/// The name of the skill that each query finds first, on several threads.
fn winners(router: &TaskRouter, tasks: &[(&str, &str)], threads: usize) -> Vec<Option<String>> {
    let winner = |(_, query): &(&str, &str)| {
        let routed = router.route(query);
        let first = routed.ranked.first();
        first.map(|(position, _)| router.name(*position))
    };
    let per_thread = tasks.len().div_ceil(threads.max(1)).max(1);
    let winner = &winner;
    thread::scope(|scope| {
        let running: Vec<_> = tasks
            .chunks(per_thread)
            .map(|chunk| scope.spawn(move || chunk.iter().map(winner).collect::<Vec<_>>()))
            .collect();
        let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .flat_map(|found| found.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// A query that another skill wins; `None` if the skill itself does.
fn lost_query(router: &TaskRouter, name: &str, query: TriggerQuery) -> Option<LostQuery> {
    let (first, first_score) = *router.route(&query.text).ranked.first()?;
    let winner = router.name(first);
    if winner == name {
        return None;
    }
    let routed = router.route_all(&query.text);
    let place = routed
        .ranked
        .iter()
        .position(|(position, _)| router.name(*position) == name);
    let own = place.and_then(|place| routed.ranked.get(place));
    let hit = |position: usize| -> Option<&SearchHit> {
        let mut found = routed.found.skills.iter();
        found
            .find(|found| found.position == position)
            .map(|found| &found.hit)
    };
    let own_hit = own.and_then(|(position, _)| hit(*position));
    let shares = own_hit.map_or(&[][..], |hit| &hit.shares);
    let in_head: Vec<SearchShare> = shares
        .iter()
        .filter(|share| !matches!(share.place, MatchPlace::Body | MatchPlace::Pair))
        .cloned()
        .collect();
    let in_body = shares
        .iter()
        .filter(|share| share.place == MatchPlace::Body);
    let in_body = in_body.map(|share| share.words.clone()).collect();
    let own_body: BTreeSet<&str> = body_shares(shares)
        .map(|share| share.words.as_str())
        .collect();
    let missing = missing(&routed.found.words.list, &in_head);
    let winner_hit = hit(first);
    let gap = winner_hit.map_or(0.0, |hit| hit.points) - own_hit.map_or(0.0, |hit| hit.points);
    let possible: f32 = missing.iter().map(|word| word.gain).sum();
    Some(LostQuery {
        place,
        score: own.map_or(0.0, |(_, score)| *score),
        winner: (winner, first_score),
        is_enough: possible > gap,
        by_trigger: own_hit.is_some() && gap <= 0.0,
        missing,
        in_body,
        body_lacks: body_shares(winner_hit.map_or(&[][..], |hit| &hit.shares))
            .map(|share| share.words.clone())
            .filter(|words| !own_body.contains(words.as_str()))
            .collect(),
        query,
    })
}

/// The parts of a query in a body: words, and neighbours.
fn body_shares(shares: &[SearchShare]) -> impl Iterator<Item = &SearchShare> {
    let is_body = |share: &&SearchShare| matches!(share.place, MatchPlace::Body | MatchPlace::Pair);
    shares.iter().filter(is_body)
}

/// The missing words of all lost queries, those that help most first.
fn helpful(lost: &[LostQuery]) -> Vec<HelpfulWord> {
    let mut words: BTreeMap<&str, HelpfulWord> = BTreeMap::new();
    for query in lost {
        for word in &query.missing {
            let known = words.entry(&word.text).or_insert_with(|| HelpfulWord {
                text: word.text.clone(),
                queries: 0,
                gain: 0.0,
                in_body: false,
            });
            known.queries += 1;
            known.gain += word.gain;
            known.in_body |= query.in_body.contains(&word.text);
        }
    }
    let mut words: Vec<HelpfulWord> = words.into_values().collect();
    words.sort_by(|a, b| b.gain.total_cmp(&a.gain).then_with(|| a.text.cmp(&b.text)));
    words
}
