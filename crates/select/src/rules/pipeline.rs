//! The missing skills of a coding task.

use std::fmt;

use super::CODING_PIPELINE;

/// A coding task for which not all required skills can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// The unusable skills, in the order of the pipeline; at least one.
    pub lacks: Vec<Lack>,
}

/// A required skill that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The name of the skill.
    pub name: &'static str,
    /// Why it can't be used.
    pub why: String,
    /// How the user can fix it.
    pub hint: Option<String>,
}

impl Incomplete {
    /// The stable name used in JSON.
    pub const CODE: &'static str = "incomplete-pipeline";

    /// Checks each skill of the pipeline.
    #[must_use]
    pub fn check(mut wrong: impl FnMut(&'static str) -> Option<Lack>) -> Option<Self> {
        let lacks: Vec<Lack> = CODING_PIPELINE
            .iter()
            .filter_map(|name| wrong(name))
            .collect();
        (!lacks.is_empty()).then_some(Self { lacks })
    }

    /// The reason against the other skill: the missing one.
    #[must_use]
    pub fn without(&self) -> String {
        let names = self.lacks.iter().map(|lack| format!("`{}`", lack.name));
        let names: Vec<String> = names.collect();
        format!(
            "the coding pipeline is not complete without {}",
            names.join(" and ")
        )
    }

    /// The first hint of the missing skills.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.lacks.iter().find_map(|lack| lack.hint.as_deref())
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = CODING_PIPELINE;
        write!(f, "a coding task requires `{first}` and `{second}`")?;
        for (position, lack) in self.lacks.iter().enumerate() {
            let before = if position == 0 { ", and" } else { ";" };
            write!(f, "{before} `{}` can't be used: {}", lack.name, lack.why)?;
        }
        Ok(())
    }
}

impl std::error::Error for Incomplete {}
