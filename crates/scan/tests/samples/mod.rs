//! Texts that match a rule, and texts that do not, by the id of the rule. The tests of `src/rules` require both of each rule.

mod chains;
mod code;
mod files;
mod orders;
mod power;
mod prose;

/// The samples of one rule.
pub(crate) struct RuleSamples {
    /// The id of the rule.
    pub(crate) rule: &'static str,
    /// Files that match the rule: each alone in a skill.
    pub(crate) hits: &'static [Sample],
    /// Files that do not.
    pub(crate) misses: &'static [Sample],
}

/// A file of a sample skill: its path and its text. `{NAMES}` in capitals are placeholders for content that is not text.
pub(crate) type Sample = (&'static str, &'static str);

/// The samples of all rules.
pub(crate) fn all() -> impl Iterator<Item = &'static RuleSamples> {
    [
        chains::SAMPLES,
        code::SAMPLES,
        files::SAMPLES,
        orders::SAMPLES,
        power::SAMPLES,
        prose::SAMPLES,
    ]
    .into_iter()
    .flatten()
}
