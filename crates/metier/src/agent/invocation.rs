//! A skill and its arguments as one message: `/review-pr 123`.

use std::borrow::Cow;

use metier_catalog::CatalogEntry;
use metier_model::text::shell_word;
use metier_runtime::Inventory;
use metier_select::mentions;

use crate::{Error, Skill};

impl Skill<'_> {
    /// The message that loads this skill with these arguments: what a person would type in a chat. [`Conversation::send`](super::Conversation::send)
    /// takes it.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.agent_skills()?;
    /// let skill = workspace.find(&skills, "review-pr")?;
    /// let message = skill.invocation(&["123".to_owned(), "high risk".to_owned()])?;
    /// assert_eq!(message, "/review-pr 123 'high risk'");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill has a name that can't be typed behind `/`.
    pub fn invocation(&self, arguments: &[String]) -> Result<String, Error> {
        invocation(self.inventory, self.entry(), arguments)
    }
}

fn invocation(
    inventory: &Inventory,
    entry: &CatalogEntry,
    arguments: &[String],
) -> Result<String, Error> {
    let name = entry.name();
    let is_meant = |word: &str| {
        let found = inventory.find(word).ok();
        found.is_some_and(|skill| std::ptr::eq(inventory.entry(skill), entry))
    };
    let words = [
        name.to_string(),
        format!("{}:{name}", entry.source.as_str()),
    ];
    let typed = words.iter().find(|word| is_meant(word)).map(|word| {
        let arguments = arguments.iter().map(|argument| quoted(argument));
        let words = [format!("/{word}").into()].into_iter().chain(arguments);
        (word, words.collect::<Vec<Cow<'_, str>>>().join(" "))
    });
    match typed {
        Some((word, typed))
            if mentions(&typed)
                .first()
                .is_some_and(|first| first.name == word) =>
        {
            Ok(typed)
        }
        _ => Err(Error::unmet(
            "not-callable",
            format!("skill `{name}` has a name that can't be used with `/`"),
        )
        .skill(name.as_ref())
        .hint(format!(
            "metier run {} --dry-run prints the text that a model would get",
            shell_word(&name)
        ))),
    }
}

/// An argument as one word of a message: spaces and quotes in it are kept.
fn quoted(argument: &str) -> Cow<'_, str> {
    let separates = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    if !argument.is_empty() && !argument.contains(separates) {
        Cow::Borrowed(argument)
    } else if argument.contains('\'') {
        let argument = argument.replace('\\', "\\\\").replace('"', "\\\"");
        Cow::Owned(format!("\"{argument}\""))
    } else {
        Cow::Owned(format!("'{argument}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_stays_one_word() {
        for argument in [
            "123",
            "build a game",
            "it's",
            "say \"hi\"",
            "it's \"so\"",
            "a\\b",
            "",
            "x\ty",
        ] {
            let words = metier_model::template::split_arguments(&quoted(argument));
            assert_eq!(words, [argument], "{}", quoted(argument));
        }
    }
}
