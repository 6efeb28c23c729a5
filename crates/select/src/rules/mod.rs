//! What a task needs whatever skills say about themselves: coding, risk, domain.
//!
//! **Problem.** Triggers are what the author of a skill thought of. Some things are not for authors to decide: that code is specified before it is
//! written, and that nothing which writes or runs commands joins a risky task unasked.
//!
//! **Decision.** Three rules, each a sentence that names itself in the reasons.
//! - *Coding:* a coding task goes through [`CODING_PIPELINE`], both of it. When one of the two can't be used the pipeline is [`Incomplete`]: an
//!   error that says which and what to do, and the other one is not picked either.
//! - *Risk:* a skill that may write or run commands is marked when the risk is medium; when it is high, it is held back unless somebody names it.
//! - *Domain:* a word that somebody gives for the domain speaks for skills whose category, tags or `metadata.domain` say it.
//!
//! **Worked example.** "Refatorar API e melhorar performance": `refatorar` is a verb of the craft, `api` is code, so it is coding, and
//! `specification-engine` and `opencode-implementer` are required.
//!
//! **In → out.** task → [`Coding`]; [`Rules`] + [`Subject`] → [`Match`]es; manifest → [`powers`].
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

pub use coding::{Coding, Evidence, Named, Sign, coding};
pub use metier_policy::CODING_PIPELINE;
pub use pipeline::{Incomplete, Lack};
pub use risk::{Consent, Risk, Runs, powers};

use crate::triggers::{Match, Signal};

/// What is known of a task beside its situation.
#[derive(Clone, Debug, Default)]
pub struct Rules<'a> {
    /// Whether it is coding.
    pub coding: Coding,
    /// How much can go wrong.
    pub risk: Risk,
    /// What field it is in, in a word.
    pub domain: Option<&'a str>,
}

/// A skill, as far as rules are concerned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// Words for its field, and where they stand: `category`, `tags`, `metadata.domain`.
    pub domains: &'a [(&'static str, String)],
    /// What it may change or run, in words; see [`powers`].
    pub powers: &'a [String],
}

impl Rules<'_> {
    /// Where a skill stands in what the task requires, if it does.
    #[must_use]
    pub fn requires(&self, name: &str) -> Option<usize> {
        let mut pipeline = CODING_PIPELINE.iter();
        pipeline.position(|member| self.coding.is && *member == name)
    }

    /// What the rules say for a skill.
    #[must_use]
    pub fn matches(&self, subject: &Subject<'_>) -> Vec<Match> {
        let required = self.requires(subject.name).map(|_| Match {
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

    /// What must be said before a skill is taken.
    #[must_use]
    pub fn consent(&self, subject: &Subject<'_>, named: bool) -> Option<Consent> {
        risk::consent(self.risk, subject, named)
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
