//! The permissions that skills request, and the user's answers.

use metier_model::{Digest, Scope, Source, Want, WantError};
use metier_policy::{PermissionRequest, RequestReason, RequestedPermission, plain};
use metier_runtime::{
    approvals::{self, RequestingSkill},
    permissions as asked,
    render::LoadedSkill,
    requests,
};

pub use metier_policy::{Decision as PermissionDecision, Identity};
pub use metier_store::{Approval, ApprovalDecision};

use crate::{
    Error, NoticeLevel, Workspace,
    execution_context::ExecutionContext,
    explain,
    grant_terms::{meant_by_name, terms},
    text::{one_line, shell_word},
};

/// The permissions that a skill requests, in its current bytes.
///
/// An example is at [`Workspace::permissions`].
#[derive(Clone, Debug)]
pub struct PermissionReport {
    /// The skill, its source and its digest.
    pub identity: Identity,
    /// The requested permissions, each with the answer so far.
    pub permissions: Vec<PermissionState>,
}

/// One permission that a skill asks for.
///
/// An example is at [`Workspace::permissions`].
#[derive(Clone, Debug)]
pub struct PermissionState {
    /// The permission with its scope, as in `shell:exec(git *)`.
    pub permission: String,
    /// Whether it is allowed, denied, or will be asked for.
    pub decision: PermissionDecision,
    /// The permission in plain words.
    pub meaning: String,
}

impl Workspace {
    /// The permissions that a skill requests, and the answers. Each call lists the skills of the machine, except on
    /// [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for asked in workspace.permissions("review-pr")?.permissions {
    ///     println!("{:?}: {}", asked.decision, asked.permission);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill can't be used or the scanner blocks it.
    pub fn permissions(&self, name: &str) -> Result<PermissionReport, Error> {
        self.answered(name, None)
    }

    /// Answers permanently, for exactly the bytes with this digest, which are those that the user saw: the permissions that are named, as in
    /// `shell:exec(git *)`, or without any, everything that the skill asks for in these bytes. An approval of everything leaves denials as
    /// they are: a denied permission is allowed by its name.
    ///
    /// ```no_run
    /// use metier::permissions::ApprovalDecision;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let shown = workspace.permissions("review-pr")?;
    /// // … the user sees what it asks for, and decides …
    /// let seen = &shown.identity.digest;
    /// workspace.answer_permissions("review-pr", seen, &["shell:exec(gh *)"], ApprovalDecision::Allowed)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the bytes of the skill have changed, when it can't be used or the scanner blocks it, when a permission is not one, or when the
    /// database can't be written.
    pub fn answer_permissions(
        &self,
        name: &str,
        seen: &Digest,
        permissions: &[impl AsRef<str>],
        decision: ApprovalDecision,
    ) -> Result<PermissionReport, Error> {
        let named: Result<Vec<RequestedPermission>, Error> = permissions
            .iter()
            .map(|permission| named(permission.as_ref(), decision))
            .collect();
        let answer = StandingAnswer {
            seen,
            named: named?,
            decision,
        };
        self.answered(name, Some(answer))
    }

    /// Forgets the answers about a skill, or those about the permissions that are named; how many there were. The skill is named as everywhere, or by
    /// the name of one that is not there any more. A source (`project:deploy`) or a folder means the skill from that source; a name alone means
    /// every skill of the name.
    ///
    /// An example is at [`Workspace::answer_permissions`].
    ///
    /// # Errors
    /// When the database can't be written, or when no skill is in the folder that was named.
    pub fn forget_answers(
        &self,
        name: &str,
        permissions: &[impl AsRef<str>],
    ) -> Result<usize, Error> {
        // `source:name`; other names can have a colon, too.
        let typed = name
            .split_once(':')
            .and_then(|(source, name)| Some((source.parse::<Source>().ok()?, name)));
        // Answers are stored by name. A folder is not a name: it would match nothing, and the answers would stay unnoticed.
        let inventory = name.contains('/').then(|| self.inventory()).transpose()?;
        let found = inventory.as_ref().map(|inventory| {
            let entry = inventory.entry(explain::find(self, inventory, name)?);
            Ok::<_, Error>((Some(entry.source), entry.name()))
        });
        let found = found.transpose()?;
        let typed = typed.map_or((None, name), |(source, name)| (Some(source), name));
        let (source, name) = match &found {
            Some((source, name)) => (*source, &**name),
            None => typed,
        };
        let source = source.map(Source::as_str);
        let Some(store) = self.existing_store()? else {
            return Ok(0);
        };
        if permissions.is_empty() {
            return Ok(store.revoke_approvals(name, source, None)?);
        }
        let mut removed = 0;
        for permission in permissions {
            // As it was typed, for an answer that this version can't read; and in the form in which answers are stored.
            let typed = permission.as_ref();
            let stored = typed.parse::<Want>().map(|want| want.to_string());
            let stored = stored.unwrap_or_else(|_| typed.to_owned());
            removed += store.revoke_approvals(name, source, Some(&stored))?;
            if stored != typed {
                removed += store.revoke_approvals(name, source, Some(typed))?;
            }
        }
        Ok(removed)
    }

    /// Every answer that was given, about every skill.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for answer in workspace.answers()? {
    ///     println!("{answer:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn answers(&self) -> Result<Vec<Approval>, Error> {
        let store = self.existing_store()?;
        Ok(store.map_or(Ok(Vec::new()), |store| store.all_approvals())?)
    }

    fn answered(
        &self,
        name: &str,
        answer: Option<StandingAnswer<'_>>,
    ) -> Result<PermissionReport, Error> {
        let inventory = self.inventory()?;
        let entry = inventory.entry(explain::find_usable(self, &inventory, name)?);
        let loaded = self.load(&inventory, entry)?;
        let request = asked::everything(&loaded, &self.config);
        let identity = requests::identity(&loaded);
        if let Some(answer) = answer {
            if *answer.seen != identity.digest {
                return Err(other_bytes(&identity, answer.seen));
            }
            let asked = match (answer.named.is_empty(), answer.decision) {
                (false, _) => answer.named,
                (true, ApprovalDecision::Denied) => request.iter().cloned().collect(),
                (true, ApprovalDecision::Allowed) => self.undenied(&identity, &request)?,
            };
            let place = entry.place.path();
            let subject = RequestingSkill {
                identity: &identity,
                place: &place.to_string_lossy(),
                held: &loaded.held,
            };
            let approvals = ExecutionContext::open(self)?.approvals();
            approvals.remember(&subject, &asked, answer.decision, "command")?;
        }
        if approvals::is_approved_elsewhere(&identity, &self.config.approved) {
            let line = meant_by_name(entry);
            self.notices.notice(NoticeLevel::Note, &line);
        }
        let permissions = self.permission_states(&identity, &request)?;
        Ok(PermissionReport {
            identity,
            permissions,
        })
    }

    /// The requested permissions that are not denied. An answer to everything ends no denial: the user names a denial that ends.
    fn undenied(
        &self,
        identity: &Identity,
        request: &PermissionRequest,
    ) -> Result<Vec<RequestedPermission>, Error> {
        let store = self.existing_store()?;
        let standing =
            approvals::standing(store.as_deref(), identity, request, &terms(self), &[], &[])?;
        let is_denied = |asked: &RequestedPermission| {
            let mut standing = standing.iter();
            standing.any(|(want, decision)| {
                *want == asked.want && *decision == PermissionDecision::Deny
            })
        };
        let (denied, open): (Vec<_>, Vec<_>) = request.iter().cloned().partition(is_denied);
        let skill = shell_word(&identity.skill);
        for asked in denied {
            let permission = asked.want.to_string();
            self.notices.notice(
                NoticeLevel::Note,
                &format!(
                    "`{}` stays denied; allow it with: metier permissions {skill} --approve {}",
                    one_line(&permission),
                    shell_word(&permission)
                ),
            );
        }
        Ok(open)
    }

    /// The permissions that a skill requests in these bytes, used or not.
    pub(crate) fn permissions_of(
        &self,
        loaded: &LoadedSkill,
    ) -> Result<Vec<PermissionState>, Error> {
        let request = asked::everything(loaded, &self.config);
        self.permission_states(&requests::identity(loaded), &request)
    }

    fn permission_states(
        &self,
        identity: &Identity,
        request: &PermissionRequest,
    ) -> Result<Vec<PermissionState>, Error> {
        let store = self.existing_store()?;
        let (now, approved) = (&self.settings.approve_skills, &self.config.approved);
        let terms = terms(self);
        let standing =
            approvals::standing(store.as_deref(), identity, request, &terms, now, approved)?;
        let state = |(want, decision): (Want, PermissionDecision)| PermissionState {
            permission: want.to_string(),
            decision,
            meaning: plain(&want),
        };
        Ok(standing.into_iter().map(state).collect())
    }
}

/// An answer that stays. It is about the bytes that the user saw, whatever the skill is by the time it arrives.
struct StandingAnswer<'a> {
    seen: &'a Digest,
    /// The permissions; all that are requested if there are none.
    named: Vec<RequestedPermission>,
    decision: ApprovalDecision,
}

fn other_bytes(identity: &Identity, seen: &Digest) -> Error {
    let message = format!(
        "skill `{}` changed since its permissions were shown; nothing was decided",
        one_line(&identity.skill)
    );
    Error::unmet("other-bytes", message)
        .skill(&*identity.skill)
        .detail(format!("the answer is for {seen}"))
        .detail(format!("the skill is now   {}", identity.digest))
        .hint(format!(
            "metier permissions {} shows what it asks for now",
            shell_word(&identity.skill)
        ))
}

fn named(permission: &str, decision: ApprovalDecision) -> Result<RequestedPermission, Error> {
    let want: Want = permission.parse().map_err(|error: WantError| {
        Error::broken("usage", error.to_string())
            .hint("write it as in `shell:exec(git *)` or `net:fetch(api.github.com)`")
    })?;
    if decision == ApprovalDecision::Denied {
        deniable(&want)?;
    }
    let why = RequestReason::Declared;
    Ok(RequestedPermission { want, why })
}

/// A denial is compared with commands: of a line whose commands are not known it would cover only that text.
fn deniable(want: &Want) -> Result<(), Error> {
    let Scope::Command(pattern) = &want.scope else {
        return Ok(());
    };
    pattern.denied_commands().map(drop).map_err(|problem| {
        let shown = one_line(&want.to_string());
        Error::broken("usage", format!("`{shown}` can't be denied: {problem}"))
            .hint("deny each command by its words, as in `shell:exec(git push *)`")
    })
}
