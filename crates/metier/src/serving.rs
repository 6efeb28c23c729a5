//! Skills for a model behind a protocol: it gets what the command line prints, except what authors reserve for users.
//!
//! A server that stays open lists the skills once and answers many requests, so everything here takes the [`Skills`] of one moment and lists nothing
//! again. [`model_search`] is what a model learns before it knows a name, [`skill_resources`] the files of a skill for a host that verifies them.

#[cfg(feature = "run")]
mod executing;
mod model_search;
mod skill_resources;

use std::sync::{Arc, atomic::AtomicBool};

use metier_model::{Strictness, text::shell_word};
use metier_policy::Approver;
use metier_runtime::render::Arguments;

use crate::{
    Error, Notices, RenderedSkill, Settings, ShowOptions, Skill, SkillFile, Skills, Workspace,
};

#[cfg(feature = "run")]
pub use executing::{ExecutionMode, ExecutionPlan, PlannedAgentRun, PlannedWorkflow};
pub use model_search::{RankedSkill, SkillFilter};
pub(crate) use skill_resources::SkillResourceCache;
pub use skill_resources::{ExposedSkills, SkillResource, SkillResourceFile};

/// How a user invokes a skill: the fields of its manifest that a list of commands shows.
///
/// An example is at [`Workspace::invocable_skills`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvocationHelp {
    /// The names of its arguments, in their order.
    pub arguments: Vec<String>,
    /// The author's description of them, such as `[issue] [high|low]`.
    pub hint: Option<String>,
}

impl Workspace {
    /// [`Workspace::render`] for a model that asks by itself, with the arguments in one text. Skills that are not ready or reserved for
    /// users are refused.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let skill = workspace.render_for_model(&skills, "review-pr", "123 high")?;
    /// println!("{}", skill.content);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::render`].
    pub fn render_for_model(
        &self,
        skills: &Skills,
        name: &str,
        arguments: &str,
    ) -> Result<RenderedSkill, Error> {
        let skill = self.find_for_model(skills, name)?;
        self.shown(skills, skill, &Arguments::from_text(arguments))
    }

    /// [`Workspace::render`] for a user who invokes a skill by name in a client, with one text for each argument. Skills that are not
    /// ready, and those that only a model invokes, are refused.
    ///
    /// An example is at [`Workspace::invocable_skills`].
    ///
    /// # Errors
    /// As for [`Workspace::render`].
    pub fn render_for_user(
        &self,
        skills: &Skills,
        name: &str,
        arguments: &[String],
    ) -> Result<RenderedSkill, Error> {
        let skill = self.find_ready(skills, name)?;
        if !skill.is_user_invocable() {
            let name = skill.name();
            let message =
                format!("skill `{name}` can't be invoked by users (`user-invocable: false`)");
            return Err(Error::unmet("not-for-users", message).skill(&*name));
        }
        self.shown(skills, skill, &Arguments::from_words(arguments))
    }

    /// [`Workspace::read`] for a model that asks by itself; with the absolute path of the file. Skills that are not ready or reserved for
    /// users are refused.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let (file, path) = workspace.read_for_model(&skills, "pdf", "references/forms.md")?;
    /// println!("{path} of {}", file.skill);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::read`].
    pub fn read_for_model(
        &self,
        skills: &Skills,
        name: &str,
        path: &str,
    ) -> Result<(SkillFile, String), Error> {
        let skill = self.find_for_model(skills, name)?;
        let file = SkillFile {
            skill: skill.name().into_owned(),
            content: self.resource(skills.inventory(), skill.entry(), path)?,
        };
        Ok((file, skill.path().join(path).to_string_lossy().into_owned()))
    }

    /// The skill with a given name that a model may use by itself: ready, and not reserved for users.
    ///
    /// An example is at [`Workspace::render_for_model`].
    ///
    /// # Errors
    /// When there is none, with the nearest names; when it can't be used, with the reasons.
    pub fn find_for_model<'s>(&self, skills: &'s Skills, name: &str) -> Result<Skill<'s>, Error> {
        let skill = self.find_ready(skills, name)?;
        if skill.is_model_invocable() {
            return Ok(skill);
        }
        let name = skill.name();
        let message =
            format!("skill `{name}` can only be invoked by the user (`disable-model-invocation`)");
        Err(Error::unmet("not-for-models", message)
            .skill(&*name)
            .hint(format!(
                "the user sees it with: metier show {}",
                shell_word(&name)
            )))
    }

    /// The skills that a user can invoke by name, sorted.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// for skill in workspace.invocable_skills(&skills) {
    ///     let help = workspace.invocation_help(skill);
    ///     println!("/{} {}", skill.name(), help.hint.unwrap_or_default());
    /// }
    /// let shown = workspace.render_for_user(&skills, "review-pr", &["123".into()])?;
    /// println!("{}", shown.content);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn invocable_skills<'s>(&self, skills: &'s Skills) -> Vec<Skill<'s>> {
        let mut found: Vec<Skill<'s>> = skills.ready().filter(Skill::is_user_invocable).collect();
        found.sort_by_key(Skill::name);
        found
    }

    /// The arguments that a skill takes, from its manifest; none if that can't be read.
    ///
    /// An example is at [`Workspace::invocable_skills`].
    #[must_use]
    pub fn invocation_help(&self, skill: Skill<'_>) -> InvocationHelp {
        let limit = self.config.limits.max_skill_bytes;
        let loaded = skill.entry().load(Strictness::Lenient, limit).ok();
        let manifest = loaded.and_then(|(parsed, _)| parsed.manifest);
        manifest.map_or_else(InvocationHelp::default, |manifest| InvocationHelp {
            arguments: manifest
                .invocation
                .arguments
                .iter()
                .map(ToString::to_string)
                .collect(),
            hint: manifest.invocation.argument_hint.map(Into::into),
        })
    }

    /// This workspace for one request of a client: its own source of answers, its own way to stop, and its own notices.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let stop = Arc::default();
    /// let one = workspace.for_request(Arc::new(metier::Headless), Arc::clone(&stop), Arc::new(metier::Logged));
    /// # let _ = one;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn for_request(
        &self,
        approver: Arc<dyn Approver>,
        stop: Arc<AtomicBool>,
        notices: Arc<dyn Notices>,
    ) -> Self {
        let settings = Settings {
            approver,
            stop,
            notices: Arc::clone(&notices),
            ..(*self.settings).clone()
        };
        Self {
            settings: Arc::new(settings),
            notices,
            ..self.clone()
        }
    }

    /// The receiver of messages about this workspace: a program can add its own.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// workspace.notices().notice(metier::NoticeLevel::Note, "the server is ready");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn notices(&self) -> Arc<dyn Notices> {
        Arc::clone(&self.notices)
    }

    /// This workspace now: the configuration and the time are read again.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let workspace = workspace.reopen()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::open`].
    pub fn reopen(&self) -> Result<Self, Error> {
        Self::open(self.settings.renewed())
    }

    fn shown(
        &self,
        skills: &Skills,
        skill: Skill<'_>,
        arguments: &Arguments,
    ) -> Result<RenderedSkill, Error> {
        let how = ShowOptions::default();
        self.show(skills.inventory(), skill.entry(), arguments, how)
    }
}

/// The words of arguments in one text: spaces separate them, quotes keep them together.
///
/// ```
/// assert_eq!(metier::split_arguments("12 'two words'"), ["12", "two words"]);
/// ```
#[must_use]
pub fn split_arguments(text: &str) -> Vec<String> {
    metier_model::template::split_arguments(text)
}

impl Skill<'_> {
    /// Whether a model may choose it: its manifest does not set `disable-model-invocation`.
    ///
    /// The example of [`Skill::is_user_invocable`] prints it.
    #[must_use]
    pub fn is_model_invocable(&self) -> bool {
        let card = self.entry().card.as_ref();
        card.is_some_and(|card| card.model_invocable)
    }

    /// Whether a user can invoke it by name: its manifest does not set `user-invocable: false`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for skill in workspace.skills()?.ready() {
    ///     println!("{}: model {}, user {}", skill.name(), skill.is_model_invocable(), skill.is_user_invocable());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_user_invocable(&self) -> bool {
        let card = self.entry().card.as_ref();
        card.is_some_and(|card| card.user_invocable)
    }
}

impl Settings {
    /// These settings at this moment, for a program that opens its workspace again. Leftovers of killed runs were restored when it was
    /// opened first, and are not restored again.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// let settings = metier::Settings::from_env()?;
    /// let workspace = metier::Workspace::open(settings.clone())?;
    /// // … later …
    /// let now = metier::Workspace::open(settings.renewed())?;
    /// # let _ = (workspace, now);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Workspace::reopen`] does the same in one call.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self {
            machine: Arc::new(self.machine.now()),
            // Leftovers of killed runs were restored when the workspace was opened first. By now, runs of this program can be under way.
            keep_leftovers: true,
            ..self.clone()
        }
    }
}
