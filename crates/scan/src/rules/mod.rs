//! The rules, by their subject.

mod acts;
mod chains;
mod code;
mod files;
mod orders;
mod power;
mod prose;
#[cfg(test)]
mod tests;

use crate::rule::ScanRule;

/// All built-in rules.
pub(crate) fn all() -> impl Iterator<Item = &'static ScanRule> {
    code::RULES
        .iter()
        .chain(power::RULES)
        .chain(prose::RULES)
        .chain(orders::RULES)
        .chain(chains::RULES)
        .chain(files::RULES)
}
