//! Carrying out a plan: what was decided is placed, locked, approved and recorded.

use metier_catalog::SkillLocation;
use metier_hub::Change;
use metier_model::Want;
use metier_policy::{Decision, PermissionAnswer, RequestedPermission, decide};
use metier_runtime::approvals::RequestingSkill;
use metier_store::{
    ApprovalDecision, BegunReceipt, Completion, NewReceipt, PlacedSkill, ReceiptDecision,
    ReceiptOutcome, Store,
};

use super::{
    card::{InstallAction, InstallCard, InstallObstacle},
    draft::checkpoint,
    installed_files::PresentSkill,
    places::InstallScope,
    plan::{InstallDecision, InstallPlan, InstallReport, InstalledSkill, PlannedSkill},
};
use crate::{
    Error, Workspace,
    execution_context::ExecutionContext,
    machine::timestamp,
    text::{one_line, shell_word},
};

/// A skill that will be installed, with the permissions that are approved with it.
struct AgreedSkill<'p> {
    skill: &'p PlannedSkill,
    approved: Vec<RequestedPermission>,
}

impl InstallPlan {
    /// Installs the skills that were decided about: all of them or none. A skill without a decision is left out.
    ///
    /// An example is at [`Workspace::prepare_install`].
    ///
    /// # Errors
    /// When the scanner blocks one of them, when a decision is missing that a card asks for, when something changed since the plan was
    /// made, or when a place can't be written.
    pub fn apply(self, decisions: &[InstallDecision]) -> Result<InstallReport, Error> {
        let workspace = &self.workspace;
        let agreed = self.agreed(decisions)?;
        for skill in &self.skills {
            let is_decided = decisions.iter().any(|one| one.name == skill.card.name);
            if skill.card.is_refused() && !is_decided {
                workspace.record_refusal(&skill.card)?;
            }
        }
        let change = workspace.place(&self, &agreed)?;
        let skills = self.skills.iter().map(|skill| {
            let found = agreed.iter().find(|one| std::ptr::eq(one.skill, skill));
            let approved = found.into_iter().flat_map(|one| &one.approved);
            InstalledSkill {
                card: skill.card.clone(),
                is_installed: found.is_some(),
                approved: approved.map(|asked| asked.want.to_string()).collect(),
            }
        });
        Ok(InstallReport {
            skills: skills.collect(),
            change,
        })
    }
}

impl InstallPlan {
    /// Checks decisions as [`InstallPlan::apply`] does, and installs nothing. A refused skill leaves its receipt.
    ///
    /// ```no_run
    /// use metier::distribution::{InstallDecision, InstallPlan};
    ///
    /// # fn f(plan: &InstallPlan) {
    /// for skill in plan.skills() {
    ///     if let Err(why) = plan.check(&[InstallDecision::agree(&skill.card)]) {
    ///         println!("{}: {why}", skill.card.name);
    ///     }
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the scanner blocks a skill that was decided about, when it is not part of the plan, or when a decision is missing that its card
    /// asks for.
    pub fn check(&self, decisions: &[InstallDecision]) -> Result<(), Error> {
        self.agreed(decisions).map(drop)
    }

    fn agreed(&self, decisions: &[InstallDecision]) -> Result<Vec<AgreedSkill<'_>>, Error> {
        let is_planned = |name: &str| self.skills.iter().any(|skill| skill.card.name == name);
        if let Some(other) = decisions.iter().find(|one| !is_planned(&one.name)) {
            let message = format!("skill `{}` is not part of the plan", one_line(&other.name));
            return Err(Error::unmet("unknown-skill", message).skill(&other.name));
        }
        let decided = self.skills.iter().filter_map(|skill| {
            let mut decisions = decisions.iter();
            let decision = decisions.find(|one| one.name == skill.card.name)?;
            Some(agree(&self.workspace, skill, decision))
        });
        decided.collect()
    }
}

impl InstallDecision {
    /// Installs a skill as its card shows it: nothing is approved, and nothing of another origin is replaced.
    ///
    /// An example is at [`Workspace::prepare_install`].
    #[must_use]
    pub fn agree(card: &InstallCard) -> Self {
        Self {
            name: card.name.clone(),
            approve: Vec::new(),
            replace: false,
        }
    }
}

/// Checks a decision against the card: what the card did not offer is refused.
fn agree<'p>(
    workspace: &Workspace,
    skill: &'p PlannedSkill,
    decision: &InstallDecision,
) -> Result<AgreedSkill<'p>, Error> {
    let card = &skill.card;
    if card.is_refused() {
        workspace.record_refusal(card)?;
        return Err(refusal(card));
    }
    if let Some(obstacle) = card.obstacles.first().filter(|_| !decision.replace) {
        return Err(needs_replace(card, obstacle));
    }
    let answers: Result<Vec<PermissionAnswer>, Error> =
        decision.approve.iter().map(|text| allowed(text)).collect();
    let answers = answers?;
    let is_approved =
        |asked: &&RequestedPermission| decide(&asked.want, &answers) == Decision::Allow;
    Ok(AgreedSkill {
        skill,
        approved: skill.open.iter().filter(is_approved).cloned().collect(),
    })
}

/// Checks that each text is a permission, such as `shell:exec(git *)`.
///
/// ```
/// use metier::distribution::check_permissions;
///
/// assert!(check_permissions(&["shell:exec(git *)".to_owned()]).is_ok());
/// assert!(check_permissions(&["git".to_owned()]).is_err());
/// ```
///
/// # Errors
/// If one of them is not.
pub fn check_permissions(permissions: &[String]) -> Result<(), Error> {
    permissions
        .iter()
        .try_for_each(|one| allowed(one).map(drop))
}

fn allowed(permission: &str) -> Result<PermissionAnswer, Error> {
    let want: Want = permission
        .parse()
        .map_err(|error: metier_model::WantError| {
            Error::broken("usage", error.to_string())
                .hint("write it as in `shell:exec(git *)` or `net:fetch(api.github.com)`")
        })?;
    let decision = Decision::Allow;
    Ok(PermissionAnswer { want, decision })
}

/// The error about a skill that no decision can install.
#[must_use]
pub(crate) fn refusal(card: &InstallCard) -> Error {
    let name = one_line(&card.name);
    let of_skill = |code, message: String| Error::unmet(code, message).skill(&card.name);
    match card.obstacles.iter().find(|one| one.is_final()) {
        Some(InstallObstacle::Blocked(why)) => {
            let error = of_skill(
                "blocked",
                format!("skill `{name}` is blocked, so it is not installed"),
            );
            error
                .detail(one_line(why))
                .detail(format!("from {}", one_line(&card.source)))
                .hint("no flag accepts this; review the skill with `metier scan FOLDER`")
        }
        Some(InstallObstacle::Invalid(why)) => {
            let message = format!("skill `{name}` can't be installed: {}", one_line(why));
            of_skill("invalid", message).hint("fix the skill, then check it with `metier validate`")
        }
        Some(InstallObstacle::Signature(why)) => {
            let message = format!(
                "the signature of skill `{name}` is not valid: {}",
                one_line(why)
            );
            of_skill("signature", message)
                .hint("get the package and its signature again from the publisher")
        }
        _ => of_skill("not-agreed", format!("skill `{name}` is not installed")),
    }
}

fn needs_replace(card: &InstallCard, obstacle: &InstallObstacle) -> Error {
    let name = one_line(&card.name);
    let message = match obstacle {
        InstallObstacle::Foreign => {
            format!("the folder of `{name}` contains a skill that metier did not install")
        }
        InstallObstacle::Edited(_) => format!("skill `{name}` was edited after it was installed"),
        InstallObstacle::OtherSource(_) => {
            format!("skill `{name}` was installed from another source")
        }
        InstallObstacle::Shadows(_) => format!("there is another skill `{name}`"),
        InstallObstacle::OtherSigner(_) => {
            format!("skill `{name}` is not signed by its known signer")
        }
        InstallObstacle::Breaks(_) => {
            format!("another skill requires a different version of `{name}`")
        }
        InstallObstacle::Blocked(_)
        | InstallObstacle::Invalid(_)
        | InstallObstacle::Signature(_) => return refusal(card),
    };
    let error = Error::unmet("needs-decision", message).skill(&card.name);
    let error = match obstacle {
        InstallObstacle::Edited(files) => files
            .iter()
            .take(5)
            .fold(error, |error, file| error.detail(one_line(file))),
        InstallObstacle::OtherSource(source) => error.detail(format!("from {}", one_line(source))),
        InstallObstacle::Shadows(place) => error.detail(format!("in {}", one_line(place))),
        InstallObstacle::Breaks(why) => error.detail(one_line(why)),
        _ => error.detail(format!("in {}", card.place.display())),
    };
    error.hint("add --replace if the new one is the right one; `metier undo` restores the old one")
}

impl Workspace {
    /// One transaction with all folders and locks, between the two halves of a receipt for each skill.
    fn place(
        &self,
        plan: &InstallPlan,
        agreed: &[AgreedSkill<'_>],
    ) -> Result<Option<Change>, Error> {
        if agreed.is_empty() && plan.others.is_empty() {
            return Ok(None);
        }
        checkpoint("keep the bytes");
        let objects = self.objects()?;
        for one in agreed {
            objects.keep(&one.skill.tree)?;
        }
        checkpoint("record");
        let store = self.store()?;
        let begun: Result<Vec<BegunReceipt>, Error> = agreed
            .iter()
            .map(|one| Ok(store.begin(&self.install_receipt(&one.skill.card))?))
            .collect();
        let begun = begun?;
        let done = self.exchange(plan, agreed);
        let failure = done.as_ref().err().map(|error| error.message().to_owned());
        for receipt in begun {
            store.complete(receipt, &self.completion(failure.clone()))?;
        }
        let change = done?;
        checkpoint("approve");
        for one in agreed {
            self.after_placing(&store, one)?;
        }
        Ok(change)
    }

    fn exchange(
        &self,
        plan: &InstallPlan,
        agreed: &[AgreedSkill<'_>],
    ) -> Result<Option<Change>, Error> {
        let (change, ()) = self.change_skills(&plan.title, |draft| {
            for AgreedSkill { skill, approved } in agreed {
                let scope = skill.card.scope;
                self.unchanged_since(skill)?;
                let before = draft.lock(scope)?.skills.get(&skill.key).cloned();
                if !skill.keeps_lock {
                    let mut locked = skill.locked.clone();
                    locked.permissions = locked_permissions(skill, approved);
                    draft.lock(scope)?.skills.insert(skill.key.clone(), locked);
                }
                if skill.card.action != InstallAction::Keep {
                    draft.place_skill(scope, &skill.key, skill.tree.clone())?;
                }
                draft.follow_agents(scope, &skill.key, before.as_ref(), &skill.tree)?;
            }
            for (target, content) in &plan.others {
                draft.set(target, content.clone())?;
            }
            Ok(())
        })?;
        Ok(change)
    }

    /// The decision is about the state that the card showed. If that changed, the decision does not apply.
    fn unchanged_since(&self, skill: &PlannedSkill) -> Result<(), Error> {
        let card = &skill.card;
        let now = PresentSkill::look(self, card.scope, &skill.key)?;
        let before = card.before.as_ref();
        if now.exists() == before.is_some()
            && now.digest() == before.and_then(|before| before.digest)
        {
            return Ok(());
        }
        let message = format!(
            "skill `{}` changed before the decision was applied",
            one_line(&card.name)
        );
        Err(Error::unmet("changed-since", message)
            .skill(&card.name)
            .path(&card.place)
            .hint("run the command again"))
    }

    /// After the bytes are placed: compares them with the plan, stores the approvals, and in a project trusts them.
    fn after_placing(&self, store: &Store, agreed: &AgreedSkill<'_>) -> Result<(), Error> {
        let AgreedSkill { skill, approved } = agreed;
        let card = &skill.card;
        let placed = SkillLocation::Folder(card.place.clone()).digest();
        if placed.ok() != Some(card.digest) {
            let message = format!(
                "the installed files of skill `{}` differ from the scanned ones",
                one_line(&card.name)
            );
            return Err(Error::broken("changed", message)
                .skill(&card.name)
                .path(&card.place)
                .hint(format!("metier verify {}", shell_word(&skill.key))));
        }
        self.remember_installed_signer(&card.name, skill.locked.signer.as_deref());
        if !approved.is_empty() {
            let place = card.place.to_string_lossy();
            let subject = RequestingSkill {
                identity: &skill.identity,
                place: &place,
                held: &skill.held,
            };
            let approvals = ExecutionContext::open(self)?.approvals();
            approvals.remember(
                &subject,
                approved,
                ApprovalDecision::Allowed,
                card.scope.verb(),
            )?;
        }
        if card.scope == InstallScope::Project && !skill.keeps_lock {
            let folder = card.place.canonicalize();
            store.place_skill(&PlacedSkill {
                folder: folder.unwrap_or_else(|_| card.place.clone()),
                digest: card.digest.to_string(),
                at: timestamp(self.machine.now),
            })?;
        }
        Ok(())
    }

    fn install_receipt(&self, card: &InstallCard) -> NewReceipt {
        NewReceipt {
            skill: card.name.clone(),
            source: card.scope.source().as_str().to_owned(),
            digest: card.digest.to_string(),
            ..self.change_receipt("skill:install", &format!("from {}", card.source))
        }
    }

    pub(crate) fn completion(&self, failure: Option<String>) -> Completion {
        Completion {
            at: timestamp(self.machine.now),
            decision: ReceiptDecision::Allowed,
            outcome: Some(match failure {
                Some(_) => ReceiptOutcome::Error,
                None => ReceiptOutcome::Ok,
            }),
            reason: failure,
            ms: 0,
            sandbox: None,
            note: String::new(),
        }
    }

    /// A skill that was not installed leaves a receipt too.
    fn record_refusal(&self, card: &InstallCard) -> Result<(), Error> {
        let why = card.obstacles.iter().find_map(|one| match one {
            InstallObstacle::Blocked(why) | InstallObstacle::Invalid(why) => Some(why.clone()),
            _ => None,
        });
        let receipt = NewReceipt {
            decision: ReceiptDecision::Refused,
            reason: why,
            ..self.install_receipt(card)
        };
        self.store()?.append(&[receipt])?;
        Ok(())
    }
}

/// The permissions of the lock: those approved now, and those that these bytes had before.
fn locked_permissions(skill: &PlannedSkill, approved: &[RequestedPermission]) -> Vec<String> {
    let is_allowed = |one: &&super::card::InstallCardPermission| {
        one.decision == crate::permissions::PermissionDecision::Allow
    };
    let before = skill.card.permissions.iter().filter(is_allowed);
    let before = before.map(|one| one.permission.clone());
    let now = approved.iter().map(|asked| asked.want.to_string());
    let mut all: Vec<String> = before.chain(now).collect();
    all.sort();
    all.dedup();
    all
}
