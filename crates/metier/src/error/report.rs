//! Errors as an agent reports them.

use super::{Error, ErrorKind};

impl Error {
    /// The same as the report of an agent.
    #[must_use]
    pub fn to_report(&self) -> metier_agent::ErrorReport {
        let inside = &self.0;
        let details: String = inside
            .details
            .iter()
            .map(|detail| format!("; {detail}"))
            .collect();
        metier_agent::ErrorReport {
            code: inside.code,
            message: format!("{}{details}", inside.message),
            skill: inside.skill.clone(),
            hint: inside.hint.clone(),
            is_broken: matches!(inside.kind, ErrorKind::Broken),
        }
    }
}
