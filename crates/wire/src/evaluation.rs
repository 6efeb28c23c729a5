//! `eval --json` and its JUnit form, `improve --json` and `why --collisions --json`: which queries find which skills.

use metier::{
    evaluation::{EvalReport, QueryOrigin, QueryProblem, QueryResult, SkillConfusion},
    improving::{CollidingSkill, HelpfulWord, Improvement, LostQuery, SkillCollision},
};
use serde::Serialize;

/// `eval --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvalDocument<'a> {
    /// The measures over all queries.
    pub summary: EvalSummary,
    /// One row for each skill with queries.
    pub skills: Vec<ConfusionRow<'a>>,
    /// One row for each query.
    pub queries: Vec<QueryRow<'a>>,
    /// Files and queries that could not be used.
    pub problems: Vec<QueryProblemRow<'a>>,
}

/// The measures of an evaluation, between 0 and 1.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvalSummary {
    /// How many skills were searched.
    pub searched: usize,
    /// How many queries should find a skill.
    pub queries: u32,
    /// The part of them whose first skill is right.
    pub hit_at_1: f64,
    /// The part with a right skill among the first five.
    pub recall_at_5: f64,
    /// The part with a right skill among the first ten.
    pub recall_at_10: f64,
    /// The discounted gain over the first ten.
    pub ndcg_at_10: f64,
    /// The mean of one over the rank.
    pub mrr: f64,
    /// How many queries must not find their skill first.
    pub negatives: usize,
    /// How many of them do.
    pub false_activations: usize,
}

/// The queries about one skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfusionRow<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// How many queries should find it.
    pub queries: usize,
    /// How many of them find it first.
    pub first: usize,
    /// The skills that the other queries find first, and how often.
    pub lost_to: Vec<CompetingSkillRow<'a>>,
    /// How many queries must not find it first.
    pub negatives: usize,
    /// How many of them do.
    pub false_activations: usize,
}

/// A skill that is found in place of another.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompetingSkillRow<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// How often.
    pub queries: usize,
}

/// The results of a query.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryRow<'a> {
    /// The query.
    pub query: &'a str,
    /// The skills that it is about.
    pub skills: &'a [String],
    /// Whether one of these skills should be found first, or none of them.
    pub should_trigger: bool,
    /// Whether the result is the expected one.
    pub passed: bool,
    /// The rank of the first of them, from 1 on; `null` if it is not found.
    pub rank: Option<usize>,
    /// Its score, between 0 and 1.
    pub score: f64,
    /// The best other skill.
    pub other: Option<&'a str>,
    /// Its score.
    pub other_score: f64,
    /// How far the skill is ahead of it, between -1 and 1.
    pub margin: f64,
    /// The file of the query.
    pub file: Option<&'a str>,
    /// Its number or line there.
    pub number: Option<usize>,
}

/// A file or a query that could not be used.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryProblemRow<'a> {
    /// The file.
    pub file: &'a str,
    /// The number or line of the query there.
    pub number: Option<usize>,
    /// The problem.
    pub message: &'a str,
}

/// `improve --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImproveDocument<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// How many skills were searched.
    pub searched: usize,
    /// How many queries should find it.
    pub queries: usize,
    /// Queries that find another skill first.
    pub lost: Vec<LostQueryRow<'a>>,
    /// Words that would help in its description, those that help most first.
    pub words: Vec<HelpfulWordRow<'a>>,
    /// Files and queries that could not be used.
    pub problems: Vec<QueryProblemRow<'a>>,
}

/// A query that finds another skill first.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostQueryRow<'a> {
    /// The query.
    pub query: &'a str,
    /// Where it comes from: `shipped`, `quoted`, `description` or `given`.
    pub origin: &'static str,
    /// The rank of the skill, from 1 on; `null` if it has no word of the query.
    pub rank: Option<usize>,
    /// The score of the skill, between 0 and 1.
    pub score: f64,
    /// The skill that is found first.
    pub winner: &'a str,
    /// Its score.
    pub winner_score: f64,
    /// Words of the query that are missing from its name and description.
    pub missing: Vec<&'a str>,
    /// Whether these words in the description would be enough.
    pub enough: bool,
    /// Words and pairs of words that the winner's body contains and the skill's own body does not.
    pub body_lacks: Vec<&'a str>,
    /// Whether the winner's words match no better: its name or a trigger puts it first.
    pub by_trigger: bool,
}

/// A word that would help a skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelpfulWordRow<'a> {
    /// The word.
    pub word: &'a str,
    /// The number of lost queries that contain it.
    pub queries: usize,
    /// The points that it would add, over all of them.
    pub points: f64,
    /// Whether the body contains it.
    pub in_body: bool,
}

/// `why --collisions --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollisionsDocument<'a> {
    /// Pairs of skills whose own queries find the other skill first; pairs in which both lose come first.
    pub collisions: Vec<CollisionRow<'a>>,
}

/// Two skills that compete.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollisionRow<'a> {
    /// Both skills.
    pub skills: Vec<CollidingRow<'a>>,
    /// Whether both lose queries to the other.
    pub mutual: bool,
}

/// One of two skills that compete.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollidingRow<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// How many queries it has.
    pub queries: usize,
    /// How many of them find the other skill first.
    pub lost: usize,
    /// One of these queries.
    pub example: Option<&'a str>,
}

impl EvalSummary {
    /// The measures of a report.
    #[must_use]
    pub fn of(report: &EvalReport) -> Self {
        let quality = &report.quality;
        let (negatives, false_activations) = report.negatives();
        Self {
            searched: report.searched,
            queries: quality.queries(),
            hit_at_1: quality.hit_at_1(),
            recall_at_5: quality.recall_at_5(),
            recall_at_10: quality.recall_at_10(),
            ndcg_at_10: quality.ndcg_at_10(),
            mrr: quality.mrr(),
            negatives,
            false_activations,
        }
    }
}

impl<'a> EvalDocument<'a> {
    /// The document of a report.
    #[must_use]
    pub fn of(report: &'a EvalReport) -> Self {
        Self {
            summary: EvalSummary::of(report),
            skills: report.skills.iter().map(ConfusionRow::from).collect(),
            queries: report.results.iter().map(QueryRow::from).collect(),
            problems: report.problems.iter().map(QueryProblemRow::from).collect(),
        }
    }

    /// The report for build servers, as JUnit: a case for each query, with the skill as its class.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let failed = self.queries.iter().filter(|query| !query.passed).count();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"metier eval\" tests=\"{}\" failures=\"{failed}\" errors=\"{}\">\n",
            self.queries.len() + self.problems.len(),
            self.problems.len()
        );
        for query in &self.queries {
            let sign = if query.should_trigger { "" } else { "not: " };
            out.push_str(&format!(
                "<testcase classname=\"{}\" name=\"{sign}{}\"",
                attribute(&query.skills.join(",")),
                attribute(query.query)
            ));
            match query.passed {
                true => out.push_str("/>\n"),
                false => out.push_str(&format!(
                    "><failure message=\"{}\"/></testcase>\n",
                    attribute(&query.told())
                )),
            }
        }
        for problem in &self.problems {
            out.push_str(&format!(
                "<testcase classname=\"{}\" name=\"the queries can be used\"><error message=\"{}\"/></testcase>\n",
                attribute(problem.file),
                attribute(problem.message)
            ));
        }
        out.push_str("</testsuite>\n</testsuites>\n");
        out
    }
}

impl QueryRow<'_> {
    /// The result in a sentence.
    #[must_use]
    pub fn told(&self) -> String {
        let names = self.skills.join("`, `");
        let other = self.other.unwrap_or_default();
        match (self.should_trigger, self.rank) {
            (false, Some(1)) => format!("finds `{names}` first, {:+.2} ahead", self.margin),
            (false, _) => format!("does not find `{names}` first"),
            (true, None) if self.other.is_none() => "finds no skill".to_owned(),
            (true, None) => format!("finds `{other}`, and `{names}` not at all"),
            (true, Some(1)) => format!("finds `{names}` first, {:+.2} ahead", self.margin),
            (true, Some(rank)) => format!(
                "finds `{other}` ({:.2}) before `{names}` ({:.2}, rank {rank})",
                self.other_score, self.score
            ),
        }
    }
}

/// A string as the value of an attribute in XML 1.0, which has no control characters.
fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

impl<'a> From<&'a SkillConfusion> for ConfusionRow<'a> {
    fn from(skill: &'a SkillConfusion) -> Self {
        let lost_to = skill.lost_to.iter();
        Self {
            name: &skill.name,
            queries: skill.wanted,
            first: skill.first,
            lost_to: lost_to
                .map(|(name, queries)| CompetingSkillRow {
                    name,
                    queries: *queries,
                })
                .collect(),
            negatives: skill.unwanted,
            false_activations: skill.false_activations,
        }
    }
}

impl<'a> From<&'a QueryResult> for QueryRow<'a> {
    fn from(result: &'a QueryResult) -> Self {
        let (file, number) = match &result.query.origin {
            QueryOrigin::File(file, number) => (Some(file.as_str()), Some(*number)),
            _ => (None, None),
        };
        Self {
            query: &result.query.text,
            skills: &result.query.skills,
            should_trigger: result.query.should_trigger,
            passed: result.passed,
            rank: result.place.map(|place| place + 1),
            score: result.score,
            other: result.other.as_ref().map(|(name, _)| name.as_str()),
            other_score: result.other.as_ref().map_or(0.0, |(_, score)| *score),
            margin: result.margin(),
            file,
            number,
        }
    }
}

impl<'a> From<&'a QueryProblem> for QueryProblemRow<'a> {
    fn from(problem: &'a QueryProblem) -> Self {
        Self {
            file: &problem.file,
            number: problem.number,
            message: &problem.message,
        }
    }
}

impl<'a> ImproveDocument<'a> {
    /// The document of a result.
    #[must_use]
    pub fn of(improvement: &'a Improvement) -> Self {
        Self {
            name: &improvement.name,
            searched: improvement.searched,
            queries: improvement.queries,
            lost: improvement.lost.iter().map(LostQueryRow::from).collect(),
            words: improvement.words.iter().map(HelpfulWordRow::from).collect(),
            problems: improvement
                .problems
                .iter()
                .map(QueryProblemRow::from)
                .collect(),
        }
    }
}

impl<'a> From<&'a LostQuery> for LostQueryRow<'a> {
    fn from(lost: &'a LostQuery) -> Self {
        Self {
            query: &lost.query.text,
            origin: match lost.query.origin {
                QueryOrigin::File(..) => "shipped",
                QueryOrigin::Quoted => "quoted",
                QueryOrigin::Description => "description",
                QueryOrigin::Given => "given",
            },
            rank: lost.place.map(|place| place + 1),
            score: lost.score,
            winner: &lost.winner.0,
            winner_score: lost.winner.1,
            missing: lost.missing.iter().map(|word| word.text.as_str()).collect(),
            enough: lost.is_enough,
            body_lacks: lost.body_lacks.iter().map(String::as_str).collect(),
            by_trigger: lost.by_trigger,
        }
    }
}

impl<'a> From<&'a HelpfulWord> for HelpfulWordRow<'a> {
    fn from(word: &'a HelpfulWord) -> Self {
        Self {
            word: &word.text,
            queries: word.queries,
            points: (f64::from(word.gain) * 100.0).round() / 100.0,
            in_body: word.in_body,
        }
    }
}

impl<'a> CollisionsDocument<'a> {
    /// The document of some pairs.
    #[must_use]
    pub fn of(pairs: &'a [SkillCollision]) -> Self {
        let side = |skill: &'a CollidingSkill| CollidingRow {
            name: &skill.name,
            queries: skill.queries,
            lost: skill.lost,
            example: skill.example.as_deref(),
        };
        let row = |pair: &'a SkillCollision| CollisionRow {
            skills: pair.skills.iter().map(side).collect(),
            mutual: pair.is_mutual(),
        };
        Self {
            collisions: pairs.iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_can_not_leave_its_attribute() {
        assert_eq!(
            attribute("\"><failure/>\n&\u{0}'"),
            "&quot;&gt;&lt;failure/&gt; &amp; '"
        );
    }
}
