//! Everything about one skill, read and scanned now.

use std::sync::Arc;

use metier_catalog::{CatalogEntry, FileEntry};
use metier_model::SkillManifest;
use metier_runtime::{
    Inventory, InventorySkill, Status, hooks, live::LifecycleState, render::LoadedSkill,
};
use metier_scan::ScanReport;

pub use metier_model::hooks::SkillHooks;
pub use metier_store::SkillState;

use crate::{
    Error, Workspace, explain,
    permissions::PermissionState,
    scan_gate::{VerdictNote, unreadable},
    text::one_line,
};

/// Everything about one skill: the result of [`Workspace::inspect`], which has an example.
pub struct Inspection {
    inventory: Inventory,
    position: usize,
    /// Its manifest, if it can be read.
    pub manifest: Option<SkillManifest>,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// The findings of a scan of its current bytes.
    pub report: ScanReport,
    /// The permissions that it requests, and the answers.
    pub permissions: Vec<PermissionState>,
    /// Its hooks.
    pub hooks: SkillHooks,
    /// The problems of its last activation, if there were any.
    pub last_state: Option<SkillState>,
}

impl Inspection {
    /// All skills, this one judged by the scan.
    ///
    /// An example is at [`Workspace::inspect`].
    #[must_use]
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// The skill itself, with its status and the reasons for it.
    ///
    /// An example is at [`Workspace::inspect`].
    #[must_use]
    pub fn skill(&self) -> &InventorySkill {
        &self.inventory.skills[self.position]
    }

    /// The problem of its last activation, in a sentence; none if there was no problem.
    ///
    /// The example of [`Workspace::last_failure`] prints those of all skills.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.last_state.as_ref().map(failure)
    }
}

/// The failure of a skill's last activation, in a sentence.
fn failure(state: &SkillState) -> String {
    let happened = match state.state == LifecycleState::Active.as_str() {
        true => "not all of its hooks worked when it was activated",
        false => "it could not be activated",
    };
    format!(
        "{happened} on {}: {}",
        one_line(&state.since),
        one_line(state.detail.as_deref().unwrap_or_default())
    )
}

impl Workspace {
    /// Everything about a skill, by name, `source:name` or folder: its manifest and files are read and it is scanned, whatever its status.
    /// Each call lists the skills of the machine, except on [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let about = workspace.inspect("review-pr")?;
    /// println!("{} files, {} findings", about.files.len(), about.report.findings.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, or when a rule of the user's own for the scanner is wrong.
    pub fn inspect(&self, name: &str) -> Result<Inspection, Error> {
        let mut inventory = self.inventory()?;
        let found = explain::find(self, &inventory, name)?.entry;
        let limit = self.config.limits.max_skill_bytes;
        let entry = &mut inventory.catalog.entries[found];
        entry.examine(self.mode(), limit);
        let hooks = hooks::in_place(entry);
        entry.diagnostics.extend(hooks.diagnostics.iter().cloned());
        let entry = &inventory.catalog.entries[found];
        let files = entry.place.files().unwrap_or_default();
        let loaded = entry.load(self.mode(), limit).ok();
        let manifest = loaded.and_then(|(parsed, _)| parsed.manifest);
        let last_state = self.last_state(entry);
        let (report, permissions) = self.scan_inspected(&mut inventory, found)?;
        let is_unreadable = inventory.catalog.entries[found].card.is_none();
        for skill in &mut inventory.skills {
            if skill.entry == found && is_unreadable {
                skill.status = Status::Invalid;
            }
        }
        let mut skills = inventory.skills.iter();
        let position = skills.position(|skill| skill.entry == found);
        let position = position.ok_or_else(|| {
            Error::unmet("unknown-skill", format!("there is no skill `{name}`"))
                .hint("metier list --all shows every skill")
        })?;
        Ok(Inspection {
            inventory,
            position,
            manifest,
            files,
            report,
            permissions,
            hooks,
            last_state,
        })
    }

    /// Scans one skill of an inventory and lets it know; with what the skill asks for.
    fn scan_inspected(
        &self,
        inventory: &mut Inventory,
        found: usize,
    ) -> Result<(ScanReport, Vec<PermissionState>), Error> {
        let entry = &inventory.catalog.entries[found];
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        let mut permissions = Vec::new();
        let (report, digest, state) = match scan_gate.snapshot(entry) {
            Ok(held) => {
                let held = Arc::new(held);
                let limit = self.config.limits.max_skill_bytes;
                if let Ok(loaded) = LoadedSkill::new(entry, Arc::clone(&held), limit) {
                    permissions = self.permissions_of(&loaded)?;
                }
                let report = scan_gate.scan_held(entry, &held).0;
                (report, Some(held.digest), held.fingerprint)
            }
            Err(error) => (unreadable(&error), None, None),
        };
        let known = scan_gate.known(&report, digest);
        if let Some(digest) = digest {
            let noticed = VerdictNote {
                entry,
                digest,
                state,
                known: &known,
                fresh: true,
            };
            scan_gate.remember(&inventory.catalog, std::iter::once(noticed));
        }
        inventory.learn(found, digest, known);
        Ok((report, permissions))
    }

    /// The problems of a skill's last activation, if there were any. An unreadable database reports none.
    fn last_state(&self, entry: &CatalogEntry) -> Option<SkillState> {
        let store = self.existing_store().ok()??;
        store.state(&entry.name(), entry.source.as_str()).ok()?
    }

    /// The problem of a skill's last activation, in a sentence; none if there was no problem.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for skill in workspace.skills()?.all() {
    ///     if let Some(failure) = workspace.last_failure(skill.entry()) {
    ///         println!("{}: {failure}", skill.name());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn last_failure(&self, entry: &CatalogEntry) -> Option<String> {
        self.last_state(entry).as_ref().map(failure)
    }
}
