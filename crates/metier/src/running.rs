//! The meaning of a name for `metier run`: a skill, or a workflow of one.

use metier_catalog::CatalogEntry;
use metier_model::{Card, SkillContext, Strictness, text::shell_word};

use crate::{Error, Skill, Skills, Workspace, explain};

/// A skill that is run by name.
///
/// An example is at [`Workspace::find_runnable`].
pub struct Runnable<'s> {
    /// The skill.
    pub skill: Skill<'s>,
    /// The workflow that the name means, if it is not the skill's own name.
    pub workflow: Option<String>,
    /// Whether the code of the skill runs, and no agent is needed to follow its text.
    pub is_workflow: bool,
    /// Whether a sub-agent should follow its text (`context: fork`).
    pub is_fork: bool,
}

impl Workspace {
    /// The skill with a given name, or else the one that has a workflow with that name.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let found = workspace.find_runnable(&skills, "release")?;
    /// println!("{}: {}", found.skill.name(), found.is_workflow);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, or when several skills have a workflow with that name.
    pub fn find_runnable<'s>(&self, skills: &'s Skills, name: &str) -> Result<Runnable<'s>, Error> {
        let inventory = &*skills.inventory;
        let runnable = |skill, workflow: Option<&str>| {
            let skill = Skill { inventory, skill };
            Runnable {
                skill,
                workflow: workflow.map(str::to_owned),
                is_workflow: skill.entry().card.as_ref().is_some_and(Card::runs_workflow),
                is_fork: self.is_fork(skill.entry()),
            }
        };
        let unknown = match explain::usable(self, inventory, name) {
            Err(error) if inventory.find(name).is_err() => error,
            found => return Ok(runnable(found?, None)),
        };
        let owners = inventory.workflow(name, self.config.limits.max_skill_bytes);
        match owners.as_slice() {
            [] => Err(unknown),
            [skill] => Ok(runnable(skill, Some(name))),
            several => {
                let names = several.iter().map(|skill| inventory.entry(skill).name());
                let names: Vec<_> = names.collect();
                let (word, all) = (shell_word(name), names.join(", "));
                let message = format!("several skills have a workflow `{name}`: {all}");
                let hint = format!("metier run {} --workflow {word}", shell_word(&names[0]));
                Err(Error::unmet("which-workflow", message).hint(hint))
            }
        }
    }

    fn is_fork(&self, entry: &CatalogEntry) -> bool {
        let limit = self.config.limits.max_skill_bytes;
        let loaded = entry.load(Strictness::Lenient, limit).ok();
        let manifest = loaded.and_then(|(parsed, _)| parsed.manifest);
        manifest.is_some_and(|manifest| manifest.invocation.context == SkillContext::Fork)
    }
}
