//! The language model of a session, which skills may use with a permission.

use metier_policy::ActTarget;

use crate::granted_skill::DelegateError;

/// A language model, for skills that may use one.
pub trait Model: Send + Sync {
    /// The model that [`Model::answer`] uses for this name, or without one, by all of its names: permissions are compared with these.
    fn target(&self, model: Option<&str>) -> ActTarget;

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
