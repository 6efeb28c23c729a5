//! The target of an act that has several names: a skill, or a model.
//!
//! **Problem.** `deploy`, `user:deploy` and the path of its folder are one skill; `default`, a bare name and `provider/name` are one model. A
//! denial of one name would not stop a call by another. **Decision.** The target is resolved first, and the act holds all of its names. An
//! approval counts if it names exactly this target; a denial counts if it names the target among others.

use std::fmt;

use metier_model::Scope;

/// A skill or a model, by all of its names.
///
/// ```
/// use metier_policy::ActTarget;
///
/// // The default model: an approval has to name it exactly, a denial of `small` covers it too.
/// let model = ActTarget::new("acme/small-2").known_as("default", true).known_as("small", false);
/// assert_eq!(model.to_string(), "acme/small-2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActTarget {
    name: Box<str>,
    /// Other names that mean exactly this target.
    others: Vec<Box<str>>,
    /// Names that can mean it: only denials count.
    ambiguous: Vec<Box<str>>,
}

impl ActTarget {
    /// The target that receipts show by this name, which means exactly this one.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            others: Vec::new(),
            ambiguous: Vec::new(),
        }
    }

    /// This target with another name, which means it or, unless `is_exact`, can mean another one too.
    #[must_use]
    pub fn known_as(mut self, name: &str, is_exact: bool) -> Self {
        match is_exact {
            true => self.others.push(name.into()),
            false => self.ambiguous.push(name.into()),
        }
        self
    }

    /// Whether an approval of this scope is about this target.
    pub(crate) fn is_allowed_by(&self, scope: &Scope) -> bool {
        self.exact().any(|name| scope.names(name))
    }

    /// Whether a denial of this scope is about it. Letters count in both cases: some providers don't distinguish them.
    pub(crate) fn is_denied_by(&self, scope: &Scope) -> bool {
        let folded = match scope {
            Scope::Name(pattern) => Scope::Name(pattern.to_lowercase().into()),
            scope => scope.clone(),
        };
        let ambiguous = self.ambiguous.iter().map(|name| &**name);
        self.exact()
            .chain(ambiguous)
            .any(|name| folded.names(&name.to_lowercase()))
    }

    fn exact(&self) -> impl Iterator<Item = &str> {
        let others = self.others.iter().map(|name| &**name);
        std::iter::once(&*self.name).chain(others)
    }
}

impl From<&str> for ActTarget {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for ActTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 224
    #[test]
    fn an_approval_needs_an_exact_name_and_a_denial_any_name() {
        let target = ActTarget::new("project:deploy")
            .known_as("/src/app/skills/deploy", true)
            .known_as("deploy", false);
        let check = |scope: &str, is_allowed: bool, is_denied: bool| {
            let scope = Scope::Name(scope.into());
            assert_eq!(target.is_allowed_by(&scope), is_allowed, "{scope}");
            assert_eq!(target.is_denied_by(&scope), is_denied, "{scope}");
        };
        check("project:deploy", true, true);
        check("project:*", true, true);
        check("/src/app/*", true, true);
        check("deploy", false, true);
        check("dep*", false, true);
        check("Deploy", false, true);
        check("user:deploy", false, false);
        check("review", false, false);
    }
}
