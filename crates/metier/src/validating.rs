//! Checking skills against the specification.

use std::path::PathBuf;

use metier_catalog::{Root, SkillLocation};
use metier_model::{
    Diagnostic, DiagnosticCode, DiagnosticSeverity, Source, Strictness, text::shell_word,
};
use metier_runtime::{Inventory, InventorySkill, Status, hooks, manifest_checks};

use crate::{Error, Workspace, explain};

/// The result of [`Workspace::validate`], which has an example: every skill that was found, with its diagnostics.
pub struct ValidationReport {
    inventory: Inventory,
    /// Skills of a large folder whose bodies were not read. Name a skill to have its body read.
    pub bodies_not_read: usize,
}

impl ValidationReport {
    /// The skills, in the order in which they were found.
    ///
    /// An example is at [`Workspace::validate`].
    #[must_use]
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Whether every skill and every folder is free of errors.
    ///
    /// An example is at [`Workspace::validate`].
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let mut folders = self.inventory.diagnostics.iter();
        let mut skills = self.inventory.skills.iter();
        !folders.any(is_error) && skills.all(|skill| self.is_skill_valid(skill))
    }

    /// Whether one of these skills is free of errors.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let checked = workspace.validate(&["./skills"], false)?;
    /// for skill in checked.inventory().skills.iter().filter(|skill| !checked.is_skill_valid(skill)) {
    ///     println!("{} is not valid", checked.inventory().entry(skill).name());
    /// }
    /// for problem in checked.folder_problems() {
    ///     println!("{}: {}", problem.file, problem.message);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_skill_valid(&self, skill: &InventorySkill) -> bool {
        let mut diagnostics = self.inventory.entry(skill).diagnostics.iter();
        skill.status != Status::Invalid && !diagnostics.any(is_error)
    }

    /// Problems with folders, such as one that can't be read. Other skills of the same name, and missing dependencies, are not mistakes in
    /// a file.
    ///
    /// The example of [`ValidationReport::is_skill_valid`] prints them.
    pub fn folder_problems(&self) -> impl Iterator<Item = &Diagnostic> {
        let all = self.inventory.diagnostics.iter();
        all.filter(|one| {
            !matches!(
                one.code,
                DiagnosticCode::Shadowed | DiagnosticCode::DependencyMissing
            )
        })
    }
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == DiagnosticSeverity::Error
}

impl Workspace {
    /// Checks skills by folder, path of a SKILL.md, folder of skills, or name. With `strict` they must conform to the Agent Skills
    /// specification exactly; otherwise a skill is valid when it can be loaded.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let checked = workspace.validate(&["./skills"], true)?;
    /// for entry in &checked.inventory().catalog.entries {
    ///     println!("{}: {} diagnostics", entry.name(), entry.diagnostics.len());
    /// }
    /// assert!(checked.is_valid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no skill there, when no skill has the name, or when a built-in skill is named.
    pub fn validate(
        &self,
        what: &[impl AsRef<str>],
        strict: bool,
    ) -> Result<ValidationReport, Error> {
        let mode = match strict {
            true => Strictness::Strict,
            false => self.mode(),
        };
        let roots: Result<Vec<Root>, Error> = what
            .iter()
            .map(|what| Ok(Root::explicit(Source::Inline, self.folder(what.as_ref())?)))
            .collect();
        let (mut inventory, bodies_not_read) = self.examine_counting(roots?, mode);
        let limit = self.config.limits.max_skill_bytes;
        for entry in &mut inventory.catalog.entries {
            let broken = manifest_checks::broken(entry, mode, limit);
            entry.diagnostics.extend(broken);
            let hooks = hooks::in_place(entry);
            entry.diagnostics.extend(hooks.diagnostics);
        }
        if inventory.skills.is_empty() {
            let problem = inventory.diagnostics.iter().find(|one| is_error(one));
            return Err(no_skills(what, problem));
        }
        Ok(ValidationReport {
            inventory,
            bodies_not_read,
        })
    }

    /// The folder to validate: a path, or the folder of the skill with that name.
    pub(crate) fn folder(&self, what: &str) -> Result<PathBuf, Error> {
        let path = self.machine.work.join(what);
        if what.contains('/') || path.exists() {
            return Ok(path);
        }
        let inventory = self.inventory()?;
        let entry = inventory.entry(explain::find(self, &inventory, what)?);
        match &entry.place {
            SkillLocation::Folder(folder) => Ok(folder.clone()),
            SkillLocation::Remote(_) => Err(Error::unmet(
                "remote-skill",
                format!("skill `{what}` is on an MCP server and has no folder"),
            )
            .hint(format!("metier info {}", shell_word(what)))),
            SkillLocation::Builtin(_) => Err(Error::unmet(
                "builtin-skill",
                format!("skill `{what}` is part of metier and has no folder"),
            )
            .hint(format!("metier info {}", shell_word(what)))),
        }
    }
}

fn no_skills(what: &[impl AsRef<str>], problem: Option<&Diagnostic>) -> Error {
    if let Some(problem) = problem {
        return Error::unmet("not-found", problem.message.to_string())
            .path(&*problem.file)
            .hint("name a skill's folder, its SKILL.md, or a folder of skills");
    }
    let folders: Vec<&str> = what.iter().map(AsRef::as_ref).collect();
    let message = format!(
        "there is no SKILL.md or SKILL.yaml in `{}`",
        folders.join("`, `")
    );
    Error::unmet("skill-file-missing", message).hint("name a skill's folder, or a folder of skills")
}
