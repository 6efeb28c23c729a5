//! The language model of a session, which skills may use with a permission.

use crate::granted_skill::DelegateError;

/// A language model, for skills that may use one.
pub trait Model: Send + Sync {
    /// The answer to a prompt.
    ///
    /// # Errors
    /// When there is no such model, the budget is spent, or the request failed.
    fn answer(
        &self,
        prompt: &str,
        system: Option<&str>,
        model: Option<&str>,
    ) -> Result<String, DelegateError>;
}
