//! The effects of an installation, and the decisions that it needs.

use std::{path::PathBuf, sync::Arc};

use metier_catalog::Snapshot;
use metier_hub::{Change, NewContent};
use metier_package::{LockedSkill, PackageTree};
use metier_policy::{Identity, RequestedPermission};

use super::{card::InstallCard, places::InstallScope};
use crate::Workspace;

/// Options of an installation: by default for the user.
///
/// An example is at [`Workspace::prepare_install`].
#[derive(Clone, Copy, Debug, Default)]
pub struct InstallOptions {
    /// The scope.
    pub scope: InstallScope,
}

/// Skills that were fetched, scanned and compared with what is installed. Nothing is placed yet.
///
/// [`Workspace::prepare_install`] creates one and has an example.
pub struct InstallPlan {
    pub(crate) workspace: Workspace,
    /// The name of the change in `metier undo --list`, such as `install pdf`.
    pub(crate) title: String,
    pub(crate) skills: Vec<PlannedSkill>,
    /// Other places of the same change, such as links for other agents.
    pub(crate) others: Vec<(PathBuf, NewContent)>,
    /// The parts of a source that were left out, with reasons.
    pub(crate) left_out: Vec<String>,
    /// Whether a skill that was asked for is among them.
    pub(crate) is_partial: bool,
}

impl InstallPlan {
    /// This plan with the time, the configuration and the stop flag of this workspace, for a plan that is carried out later.
    ///
    /// ```no_run
    /// # fn f(plan: metier::distribution::InstallPlan, workspace: metier::Workspace) -> Result<(), metier::Error> {
    /// // … the user took an hour to decide …
    /// let plan = plan.at(&workspace.reopen()?);
    /// plan.apply(&[])?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn at(self, workspace: &Workspace) -> Self {
        Self {
            workspace: workspace.clone(),
            ..self
        }
    }

    /// The size of all its skills together, in bytes.
    ///
    /// The example of [`InstallPlan::left_out`] prints it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.skills.iter().map(|skill| skill.card.bytes).sum()
    }

    /// The skills in the order in which they were asked for.
    ///
    /// The examples of [`Workspace::prepare_install`] and [`InstallCard`] read them.
    #[must_use]
    pub fn skills(&self) -> &[PlannedSkill] {
        &self.skills
    }

    /// The parts that were left out although the whole source was requested, one sentence each.
    ///
    /// ```
    /// # fn f(plan: &metier::distribution::InstallPlan) {
    /// println!("{} skills, {} bytes", plan.skills().len(), plan.bytes());
    /// for sentence in plan.left_out() {
    ///     println!("left out: {sentence}");
    /// }
    /// println!("everything that was asked for: {}", !plan.is_partial());
    /// # }
    /// ```
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Whether a skill that was asked for is among what was left out.
    ///
    /// The example of [`InstallPlan::left_out`] prints it.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        self.is_partial
    }
}

/// One skill of an [`InstallPlan`]; its card is for the user.
///
/// An example is at [`Workspace::prepare_install`].
pub struct PlannedSkill {
    /// Its card for the user.
    pub card: InstallCard,
    /// Its name in the lock, which is the name of its folder.
    pub(crate) key: String,
    /// The bytes that were scanned: exactly these are placed.
    pub(crate) tree: PackageTree,
    /// Its future entry in the lock.
    pub(crate) locked: LockedSkill,
    /// The identity that approvals are stored under.
    pub(crate) identity: Identity,
    /// The permissions without an answer.
    pub(crate) open: Vec<RequestedPermission>,
    /// Whether the lock stays as it is: the skill is installed because the lock states it.
    pub(crate) keeps_lock: bool,
    /// The scanned files, which an approval lists.
    pub(crate) held: Arc<Snapshot>,
}

/// The decision about one skill of a plan. A skill without one is not installed.
///
/// An example is at [`Workspace::prepare_install`]; [`InstallDecision::agree`] creates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallDecision {
    /// The name of the skill.
    pub name: String,
    /// The permissions that are approved for exactly these bytes, as in `shell:exec(git *)`; the others are asked for at first use.
    pub approve: Vec<String>,
    /// Whether a skill with this name is replaced or shadowed, whatever its origin.
    pub replace: bool,
}

/// The result of an installation: each skill, and the change that [`Workspace::undo`] undoes.
///
/// [`InstallPlan::apply`] returns it; an example is at [`Workspace::prepare_install`].
#[derive(Debug)]
pub struct InstallReport {
    /// The change, for `undo`; none if nothing was different.
    pub change: Option<Change>,
    /// Every skill of the plan.
    pub skills: Vec<InstalledSkill>,
}

/// One skill of an [`InstallReport`], installed or left out.
///
/// An example of an installation is at [`Workspace::prepare_install`].
#[derive(Clone, Debug)]
pub struct InstalledSkill {
    /// The card that was decided about.
    pub card: InstallCard,
    /// Whether it is in its place now.
    pub is_installed: bool,
    /// The permissions that were approved.
    pub approved: Vec<String>,
}
