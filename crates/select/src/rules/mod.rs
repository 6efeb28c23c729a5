//! The requirements of a task, independent of triggers: coding, risk, domain.
//!
//! **Problem.** Triggers come from the author of a skill. Some decisions are not the author's: code must be
//! specified before it is written, and no skill that writes or runs commands joins a risky task unasked.
//!
//! **Decision.** Three rules, each of which states its name in the reasons.
//! - *Coding:* a coding task requires both skills of [`CODING_PIPELINE`]. If one of them can't be used, the pipeline
//!   is [`Incomplete`]: an error that names the skill and the fix, and the other one is not selected either.
//! - *Risk:* a skill that can write or run commands is marked if the risk is medium; if it is high, it is held back
//!   unless the user names it.
//! - *Domain:* a given domain matches skills whose category, tags or `metadata.domain` contain it.
//!
//! **Worked example.** "Refatorar API e melhorar performance": `refatorar` is a verb of craft, `api` is code, so it
//! is coding, and `specification-engine` and `opencode-implementer` are required.
//!
//! **In → out.** task → [`Coding`]; [`TaskFacts`] + [`RuleSubject`] → [`TriggerMatch`]es; manifest → [`powers`].
//!
//! **Start reading at** `coding.rs`, then `request.rs`, `clause.rs`, and the tables in `words/`.

mod clause;
mod coding;
mod domain;
mod pipeline;
mod request;
mod risk;
mod thing;
mod words;

pub use coding::{Coding, CodingEvidence, NamedBesideTask, Sign, coding};
pub use metier_policy::CODING_PIPELINE;
pub use pipeline::{Incomplete, Lack};
pub use risk::{Consent, Risk, SkillPrograms, powers};

use crate::triggers::{Signal, TriggerMatch};

/// The known facts about a task besides its situation.
#[derive(Clone, Debug, Default)]
pub struct TaskFacts<'a> {
    /// Whether it is coding.
    pub coding: Coding,
    /// The risk.
    pub risk: Risk,
    /// The domain of the task.
    pub domain: Option<&'a str>,
}

/// The properties of a skill that rules use.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSubject<'a> {
    /// The name of the skill.
    pub name: &'a str,
    /// The words for its domain, and their fields: `category`, `tags`, `metadata.domain`.
    pub domains: &'a [(&'static str, String)],
    /// The changes and commands that it can make or run, as phrases; see [`powers`].
    pub powers: &'a [String],
}

impl TaskFacts<'_> {
    /// The position of a skill among those that the task requires, if it is one.
    #[must_use]
    pub fn requires(&self, name: &str) -> Option<usize> {
        let mut pipeline = CODING_PIPELINE.iter();
        pipeline.position(|member| self.coding.is && *member == name)
    }

    /// The matches of a skill by rules.
    #[must_use]
    pub fn matches(&self, subject: &RuleSubject<'_>) -> Vec<TriggerMatch> {
        let required = self.requires(subject.name).map(|_| TriggerMatch {
            signal: Signal::Rule,
            subject: "coding".to_owned(),
            detail: format!("a coding task requires it: {}", self.coding.because()),
            weight: Signal::Rule.weight(),
        });
        let domain = self
            .domain
            .and_then(|domain| domain::matches(domain, subject));
        required.into_iter().chain(domain).collect()
    }

    /// The condition for selecting a skill, if there is one.
    #[must_use]
    pub fn consent(&self, subject: &RuleSubject<'_>, named: bool) -> Option<Consent> {
        risk::consent(self.risk, subject, named)
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
