//! The content of skills, as a model gets it: trusted, scanned, its commands permitted, run and recorded.

#[cfg(feature = "run")]
mod commands;
#[cfg(not(feature = "run"))]
#[path = "rendering/no_commands.rs"]
mod commands;
// Its error is tested in every build.
#[cfg(all(test, feature = "run"))]
mod no_commands;

use metier_catalog::{CatalogEntry, ReadError, Resource, Snapshot};
use metier_model::{template::BodyPiece, text::shell_word};
use metier_runtime::{
    Inventory,
    render::{
        self, Arguments, LoadedSkill, NoCommands, RanCommand, RenderError, RenderVariables,
        Rendered,
    },
};

use crate::{Error, Workspace, explain, scan_gate::refused};

/// The largest file that is returned.
const MAX_RESOURCE: u64 = 10 * 1024 * 1024;

/// The text of a skill for a model, with its resources and the commands that ran.
///
/// An example is at [`Workspace::render`].
#[derive(Clone, Debug)]
pub struct RenderedSkill {
    /// Its name.
    pub name: String,
    /// The digest of its bytes.
    pub digest: String,
    /// The text for the model.
    pub content: String,
    /// Its folder.
    pub directory: String,
    /// Files next to it.
    pub resources: Vec<String>,
    /// The commands that ran for it.
    pub commands: Vec<RanCommand>,
}

/// A file of a skill: the result of [`Workspace::read`].
///
/// An example is at [`Workspace::render`].
#[derive(Clone, Debug)]
pub struct SkillFile {
    /// The name of the skill.
    pub skill: String,
    /// The content of the file.
    pub content: Resource,
}

/// Options of [`Workspace::render_with`]. By default the text is framed for a model, and commands run.
///
/// An example is at [`Workspace::render_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ShowOptions {
    /// Only the body, without the frame with its name and folder.
    pub raw: bool,
    /// Leave commands as they are written: nothing runs.
    pub no_exec: bool,
}

impl Workspace {
    /// The text of a skill with these arguments in their places, framed for a model. Its commands run if they are permitted.
    ///
    /// Each call lists the skills of the machine, except on [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    /// [`Workspace::render_for_model`] takes a list.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skill = workspace.render("review-pr", ["123"])?;
    /// println!("{}", skill.content);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, when it can't be used, when the scanner blocks it, or when it needs a permission that it does not have.
    pub fn render<A: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<RenderedSkill, Error> {
        self.render_with(name, arguments, ShowOptions::default())
    }

    /// [`Workspace::render`] with options.
    ///
    /// ```no_run
    /// use metier::ShowOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let options = ShowOptions { no_exec: true, ..ShowOptions::default() };
    /// let skill = workspace.render_with("git", [""; 0], options)?;
    /// # let _ = skill;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::render`].
    pub fn render_with<A: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = A>,
        how: ShowOptions,
    ) -> Result<RenderedSkill, Error> {
        let skills = self.skills()?;
        let inventory = skills.inventory();
        let entry = inventory.entry(explain::find_usable(self, inventory, name)?);
        let words: Vec<String> = arguments.into_iter().map(Into::into).collect();
        self.show(inventory, entry, &Arguments::from_words(&words), how)
    }

    /// [`Workspace::render_with`] with the arguments in one text, as they are typed behind the name of a skill: quotes keep words together. A skill
    /// that is not ready is refused.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skill = workspace.render_text("commit", "--all 'fix the parser'", metier::ShowOptions::default())?;
    /// # let _ = skill;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::render`].
    pub fn render_text(
        &self,
        name: &str,
        arguments: &str,
        how: ShowOptions,
    ) -> Result<RenderedSkill, Error> {
        let skills = self.skills()?;
        let skill = self.find_ready(&skills, name)?;
        let arguments = Arguments::from_text(arguments);
        self.show(skills.inventory(), skill.entry(), &arguments, how)
    }

    /// A file that came with a skill, by its path below the skill's folder. Each call lists the skills of the machine, except on
    /// [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let checklist = workspace.read("skill-author", "references/checklist.md")?;
    /// # let _ = checklist;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, when it is not in the skill's folder, or when the skill must be withheld.
    pub fn read(&self, name: &str, path: &str) -> Result<SkillFile, Error> {
        let skills = self.skills()?;
        let inventory = skills.inventory();
        let entry = inventory.entry(explain::find_usable(self, inventory, name)?);
        Ok(SkillFile {
            skill: entry.name().into_owned(),
            content: self.resource(inventory, entry, path)?,
        })
    }

    /// The bytes of a skill, scanned, if they may be returned.
    pub(crate) fn admit(
        &self,
        inventory: &Inventory,
        entry: &CatalogEntry,
    ) -> Result<Snapshot, Error> {
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        let admitted = scan_gate.admit(&inventory.catalog, entry);
        let admitted = admitted.map_err(|refusal| refused(entry, &refusal))?;
        Ok(admitted.into_snapshot())
    }

    /// A skill whose bytes were scanned and may be returned.
    pub(crate) fn load(
        &self,
        inventory: &Inventory,
        entry: &CatalogEntry,
    ) -> Result<LoadedSkill, Error> {
        self.loaded(entry, self.admit(inventory, entry)?)
    }

    pub(crate) fn loaded(
        &self,
        entry: &CatalogEntry,
        held: Snapshot,
    ) -> Result<LoadedSkill, Error> {
        let limit = self.config.limits.max_skill_bytes;
        LoadedSkill::new(entry, held, limit).map_err(|error| not_rendered(entry, &error))
    }

    pub(crate) fn show(
        &self,
        inventory: &Inventory,
        entry: &CatalogEntry,
        arguments: &Arguments,
        how: ShowOptions,
    ) -> Result<RenderedSkill, Error> {
        let loaded = self.load(inventory, entry)?;
        let digest = loaded.held.digest.to_string();
        let (rendered, commands) = self.rendered(&loaded, arguments, how.no_exec)?;
        let directory = entry.place.path().to_string_lossy().into_owned();
        let content = if how.raw {
            rendered.body
        } else {
            render::wrap(&entry.name(), &entry.place, &rendered).into_string()
        };
        Ok(RenderedSkill {
            name: entry.name().into_owned(),
            digest,
            content,
            directory,
            resources: rendered.resources,
            commands,
        })
    }

    /// The body of a skill, and the commands that ran for it: they run if they may, or stay as they are written.
    fn rendered(
        &self,
        loaded: &LoadedSkill,
        arguments: &Arguments,
        no_exec: bool,
    ) -> Result<(Rendered, Vec<RanCommand>), Error> {
        let pieces = loaded.pieces();
        let is_command = |piece: &BodyPiece<'_>| matches!(piece, BodyPiece::Command(_));
        if !no_exec && pieces.iter().any(is_command) {
            return commands::rendered(self, loaded, arguments);
        }
        let project = self.machine.project.to_string_lossy();
        let here = RenderVariables {
            project: &project,
            session: "",
            reads: !no_exec,
        };
        let rendered = render::render(loaded, &pieces, arguments, here, &NoCommands);
        let rendered = rendered.map_err(|error| not_rendered(&loaded.entry, &error))?;
        Ok((rendered, Vec::new()))
    }

    pub(crate) fn resource(
        &self,
        inventory: &Inventory,
        entry: &CatalogEntry,
        path: &str,
    ) -> Result<Resource, Error> {
        // A path that is refused anyway is refused before the scan.
        let refuse = |error: &ReadError| not_read(&entry.name(), error);
        let looked = entry.place.resource(path, MAX_RESOURCE);
        looked.map_err(|error| refuse(&error))?;
        let held = self.admit(inventory, entry)?;
        let resource = held.resource(path, MAX_RESOURCE);
        resource.map_err(|error| refuse(&error))
    }
}

/// The error for a body that can't be rendered.
pub(crate) fn not_rendered(entry: &CatalogEntry, error: &RenderError) -> Error {
    let failure = Error::unmet(
        "unreadable",
        format!("skill `{}` can't be shown: {error}", entry.name()),
    )
    .skill(entry.name())
    .path(entry.manifest_path());
    match error {
        RenderError::Argument { .. } => failure.hint(format!(
            "metier info {} lists its files",
            shell_word(&entry.name())
        )),
        _ => failure.hint(format!(
            "metier validate {}",
            shell_word(&entry.place.path().to_string_lossy())
        )),
    }
}

/// The error for a file of a skill that is withheld.
pub(crate) fn not_read(skill: &str, error: &ReadError) -> Error {
    let code = match error {
        ReadError::BadPath { .. } | ReadError::HardLink(_) => "path-refused",
        ReadError::NotFound(_) => "not-found",
        ReadError::NotAFile { .. } => "not-a-file",
        ReadError::TooLarge { .. }
        | ReadError::TooManyFiles { .. }
        | ReadError::TooDeep { .. }
        | ReadError::PathTooLong { .. } => "too-large",
        ReadError::Os { .. } | ReadError::Remote { .. } => "unreadable",
        ReadError::Unverified { .. } => "unverified",
    };
    Error::unmet(code, error.to_string())
        .skill(skill)
        .hint(format!("metier info {} lists its files", shell_word(skill)))
}
