//! Queries with the skills that are right for them, against the search: how many find their skill, and which skill they find instead.
//!
//! Whether a skill fires for a query is judged by its margin to the best other skill: the scores of two queries can't be compared, those of two
//! skills for the same query can. So there is no threshold, and "nothing fits" is not a result.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use metier_catalog::{Root, read_named};
use metier_model::Source;
use metier_runtime::{
    Status,
    trigger_queries::{MAX_QUERY_FILE, TriggerQueries},
};

pub use metier_runtime::trigger_queries::{QueryOrigin, QueryProblem, TriggerQuery};
pub use metier_select::search::RankingQuality;

use crate::{Error, Skills, Workspace, searching::TaskRouter, text::one_line};

/// Options of [`Workspace::evaluate`]. By default a query must find its skill first, and with a folder only its skills compete.
///
/// An example is at [`Workspace::evaluate`].
#[derive(Clone, Copy, Debug)]
pub struct EvalOptions {
    /// A query is found if a right skill is among this many.
    pub top: usize,
    /// Whether skills that are installed compete as well.
    pub with_installed: bool,
}

impl Default for EvalOptions {
    fn default() -> Self {
        Self {
            top: 1,
            with_installed: false,
        }
    }
}

/// The result of [`Workspace::evaluate`], which has an example; that of [`QueryResult::margin`] prints the queries that failed.
#[derive(Clone, Debug, Default)]
pub struct EvalReport {
    /// Over the queries that should find a skill.
    pub quality: RankingQuality,
    /// Every query, in the order of the files.
    pub results: Vec<QueryResult>,
    /// Every skill with queries, by name.
    pub skills: Vec<SkillConfusion>,
    /// Files and queries that could not be used.
    pub problems: Vec<QueryProblem>,
    /// How many skills were searched.
    pub searched: usize,
}

/// The result of one query in an [`EvalReport`].
///
/// An example is at [`QueryResult::margin`].
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// The query.
    pub query: TriggerQuery,
    /// The place of the first skill that the query is about, from 0 on.
    pub place: Option<usize>,
    /// Its score, between 0 and 1.
    pub score: f64,
    /// The best other skill, with its score.
    pub other: Option<(String, f64)>,
    /// Whether the result is the expected one.
    pub passed: bool,
}

/// The results of all queries about one skill.
///
/// [`Workspace::evaluate`] returns them and has an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillConfusion {
    /// Its name.
    pub name: String,
    /// How many queries should find it.
    pub wanted: usize,
    /// How many of them find it first.
    pub first: usize,
    /// Which skills they find first instead, most often first.
    pub lost_to: Vec<(String, usize)>,
    /// How many queries must not find it first.
    pub unwanted: usize,
    /// How many of them do.
    pub false_activations: usize,
}

impl QueryResult {
    /// How far the skill is ahead of the best other one, between -1 and 1; negative if the other is ahead.
    ///
    /// ```
    /// # fn f(report: &metier::evaluation::EvalReport) {
    /// for result in report.results.iter().filter(|result| !result.passed) {
    ///     let other = result.other.as_ref().map_or("nothing", |(name, _)| name.as_str());
    ///     println!("{} finds {other}, margin {:.3}", result.query.text, result.margin());
    /// }
    /// let (unwanted, fired) = report.negatives();
    /// println!("{fired} of {unwanted} queries find a skill that they must not find");
    /// # }
    /// ```
    #[must_use]
    pub fn margin(&self) -> f64 {
        let other = self.other.as_ref().map_or(0.0, |(_, score)| *score);
        let larger = self.score.max(other);
        if larger <= 0.0 {
            return 0.0;
        }
        ((self.score - other) / larger * 1_000.0).round() / 1_000.0
    }

    /// Whether the skill is found first, ahead of every other.
    ///
    /// The example of [`QueryResult::margin`] lists the queries that did not pass.
    #[must_use]
    pub fn fires(&self) -> bool {
        self.place == Some(0)
    }
}

impl EvalReport {
    /// The number of queries that must not find a skill, and of those that do.
    ///
    /// The example of [`QueryResult::margin`] prints both numbers.
    #[must_use]
    pub fn negatives(&self) -> (usize, usize) {
        let negatives = self.results.iter().filter(|one| !one.query.should_trigger);
        let fired = negatives.clone().filter(|one| one.fires());
        (negatives.count(), fired.count())
    }

    /// Whether at least this part of the queries, from 0 to 1, finds its skill first. Without queries nothing is known, so nothing is
    /// reached.
    ///
    /// An example is at [`Workspace::evaluate`].
    #[must_use]
    pub fn reaches(&self, hit_at_1: f64) -> bool {
        self.quality.queries() > 0 && self.quality.hit_at_1() >= hit_at_1
    }
}

impl Workspace {
    /// Compares queries with the skills that they should find. A path is a folder of skills, a skill, or a `.tsv` file with lines
    /// `query<TAB>skill`. Without a folder all skills of the workspace are searched. Queries come from the skills' `evals/` and from the tables.
    ///
    /// ```no_run
    /// use metier::evaluation::EvalOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let report = workspace.evaluate(&["skills"], EvalOptions::default())?;
    /// assert!(report.reaches(0.9));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a path can't be read, or there are no skills in a folder.
    pub fn evaluate(
        &self,
        what: &[impl AsRef<str>],
        options: EvalOptions,
    ) -> Result<EvalReport, Error> {
        let mut queries = TriggerQueries::default();
        let mut roots = Vec::new();
        for what in what.iter().map(AsRef::as_ref) {
            match is_table(what) {
                true => self.read_table(what, &mut queries)?,
                false => roots.push(Root::explicit(Source::Inline, self.folder(what)?)),
            }
        }
        let skills = match (roots.is_empty(), options.with_installed) {
            (true, _) => self.skills()?,
            (false, true) => self.skills_beside(roots)?,
            (false, false) => Skills {
                inventory: self.examine(roots, self.mode()).into(),
            },
        };
        if skills.inventory.skills.is_empty() {
            let shown: Vec<&str> = what.iter().map(AsRef::as_ref).collect();
            let message = format!("there are no skills in `{}`", one_line(&shown.join(" ")));
            return Err(Error::unmet("no-skills", message)
                .hint("name a skill's folder, or a folder of skills"));
        }
        let own = skills.all().filter(|skill| match options.with_installed {
            true => skill.source() == Source::Inline,
            false => true,
        });
        for skill in own.filter(|skill| skill.status() != Status::Shadowed) {
            queries.add_shipped(skill.entry());
        }
        Ok(self.judge_queries(&skills, queries, options.top))
    }

    fn read_table(&self, file: &str, queries: &mut TriggerQueries) -> Result<(), Error> {
        let text = read_named(&self.machine.work.join(file), MAX_QUERY_FILE).map_err(|error| {
            let message = format!("the queries can't be read: {error}");
            Error::unmet("queries", message)
                .path(file)
                .hint("write a query, a tab and the name of its skill on each line")
        })?;
        queries.add_table(file, None, &text);
        Ok(())
    }

    /// Compares queries with skills. Without queries nothing is scanned or searched.
    pub(crate) fn judge_queries(
        &self,
        skills: &Skills,
        queries: TriggerQueries,
        top: usize,
    ) -> EvalReport {
        let mut report = EvalReport {
            problems: queries.problems,
            ..EvalReport::default()
        };
        if queries.queries.is_empty() {
            return report;
        }
        let router = self.router(skills);
        let names = router.names();
        report.searched = names.values().map(Vec::len).sum();
        let mut confusions: BTreeMap<String, SkillConfusion> = BTreeMap::new();
        for query in queries.queries {
            let unknown = query.skills.iter().find(|name| !names.contains_key(*name));
            if let Some(name) = unknown {
                report.problems.push(unusable(&router, &query, name));
                continue;
            }
            let result = judged(&router, query, top);
            if result.query.should_trigger {
                report.quality.add(result.place);
            }
            for name in &result.query.skills {
                let confusion = confusions.entry(name.clone()).or_default();
                confusion.add(&result);
            }
            report.results.push(result);
        }
        let confusions = confusions.into_iter();
        report.skills = confusions
            .map(|(name, mut confusion)| {
                let lost = &mut confusion.lost_to;
                lost.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                SkillConfusion { name, ..confusion }
            })
            .collect();
        report
    }
}

impl SkillConfusion {
    fn add(&mut self, result: &QueryResult) {
        if !result.query.should_trigger {
            self.unwanted += 1;
            self.false_activations += usize::from(result.fires());
            return;
        }
        self.wanted += 1;
        if result.fires() {
            self.first += 1;
            return;
        }
        let Some((winner, _)) = &result.other else {
            return;
        };
        match self.lost_to.iter_mut().find(|(name, _)| name == winner) {
            Some((_, times)) => *times += 1,
            None => self.lost_to.push((winner.clone(), 1)),
        }
    }
}

impl TaskRouter {
    /// The positions of the skills that can be found, by name.
    pub(crate) fn names(&self) -> BTreeMap<String, Vec<usize>> {
        let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let skills = self.skills.inventory.skills.iter().enumerate();
        for (position, skill) in skills {
            if matches!(skill.status, Status::Ready | Status::NotReady) {
                names.entry(self.name(position)).or_default().push(position);
            }
        }
        names
    }
}

/// Whether a path is a table of queries.
fn is_table(path: &str) -> bool {
    let ending = Path::new(path).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"))
}

fn judged(router: &TaskRouter, query: TriggerQuery, top: usize) -> QueryResult {
    let routed = router.route(&query.text);
    let right: BTreeSet<&str> = query.skills.iter().map(String::as_str).collect();
    let (mut place, mut score, mut other) = (None, 0.0, None);
    for (at, (position, points)) in routed.ranked.iter().enumerate() {
        let name = router.name(*position);
        match right.contains(name.as_str()) {
            true if place.is_none() => (place, score) = (Some(at), *points),
            false if other.is_none() => other = Some((name, *points)),
            _ => {}
        }
        if place.is_some() && other.is_some() {
            break;
        }
    }
    let passed = match query.should_trigger {
        true => place.is_some_and(|place| place < top.max(1)),
        false => place != Some(0),
    };
    QueryResult {
        query,
        place,
        score,
        other,
        passed,
    }
}

/// The problem of a query about a skill that is not searched.
fn unusable(router: &TaskRouter, query: &TriggerQuery, name: &str) -> QueryProblem {
    let mut skills = router.skills.all();
    let message = match skills.find(|skill| *skill.name() == *name) {
        Some(skill) => format!(
            "skill `{name}` is {} and can't be found",
            skill.status().as_str()
        ),
        None => format!("no skill is named `{name}`"),
    };
    let (file, number) = match &query.origin {
        QueryOrigin::File(file, number) => (file.clone(), Some(*number)),
        _ => (String::new(), None),
    };
    QueryProblem {
        file,
        number,
        message,
    }
}
