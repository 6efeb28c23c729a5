//! Acts that the user is asked about when they happen, and not when a skill starts.
//!
//! **Problem.** metier's own tools can write every file of the project and run every command. A question about all of
//! that at the start of a conversation does not show the later acts, and after a yes there are no more questions.
//!
//! **Decision.** For those tools, reading inside the project needs no answer, and each write and each command is a
//! question that shows the whole act ([`PendingAct`]). An answer covers this act, or a pattern that is shown: a file
//! pattern, or `shell:exec(git *)`. A pattern covers only lines that are one plain command; every other line is asked
//! about separately.
//!
//! **Worked example.** The model calls `shell` with `git log`. The user answers "always": `git *` is stored. `git
//! status` runs without a question. `git status; rm -rf src`, `git log > x`, `git log $(id)` and `git -c alias.x=!id
//! x` are asked about.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use metier_model::{Permission, Scope, Source, Want, scope::CommandPattern};

use crate::{
    Act, ActMeter, ApprovalOffer, ChangePreview, CommandLine, Danger, Grant, GrantTerms, Identity,
    PermissionRequest, Permit, PermitRefusal, RequestReason, RequestedPermission,
};

/// The built-in skill with metier's own tools.
const OWN_TOOLS: &str = "core-tools";

/// Programs that delete, overwrite or stop things: no pattern is offered for them, since the next command can be
/// about something else.
const ONE_BY_ONE: &[&str] = &[
    "chmod", "chown", "dd", "kill", "killall", "ln", "mv", "pkill", "rm", "rmdir", "shred", "tee",
    "truncate", "unlink",
];

impl PermissionRequest {
    /// This request as it is asked: permissions that metier's own tools declare are asked about on each use. A skill of that
    /// name from any other source is an ordinary skill.
    #[must_use]
    pub fn as_asked_of(self, identity: &Identity, terms: &GrantTerms) -> Self {
        if identity.source != Source::Builtin || &*identity.skill != OWN_TOOLS {
            return self;
        }
        Self::new(self.iter().cloned().map(|asked| {
            let why = match (asked.why.clone(), asked.want.permission) {
                (RequestReason::Declared, Permission::FileRead) if !is_too_wide(terms) => {
                    RequestReason::InProject
                }
                (
                    RequestReason::Declared,
                    Permission::FileRead | Permission::FileWrite | Permission::ShellExec,
                ) => RequestReason::OnUse,
                (why, _) => why,
            };
            RequestedPermission { why, ..asked }
        }))
    }
}

/// Whether the "project" is the whole home, or more: reading in it is then not limited to a project.
fn is_too_wide(terms: &GrantTerms) -> bool {
    let home = terms.home.as_deref();
    home.is_some_and(|home| home.starts_with(&terms.project)) || terms.project == Path::new("/")
}

/// The user's answers about acts in this session. All of its sub-agents share it.
#[derive(Debug, Default)]
pub struct SessionAnswers {
    given: Mutex<Vec<(Identity, Want)>>,
}

impl SessionAnswers {
    /// Keeps what an answer covers until the session ends. A permanent answer is not kept here: it is stored, and holds only while the
    /// store has it ([`OnUseAnswers::stored`]).
    pub fn keep(&self, identity: &Identity, offer: &ApprovalOffer) {
        match offer {
            ApprovalOffer::Once | ApprovalOffer::Always(_) => {}
            ApprovalOffer::Session(want) => {
                let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
                given.push((identity.clone(), want.clone()));
            }
        }
    }

    fn scopes(&self, identity: &Identity, permission: Permission) -> Vec<Scope> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let own = given
            .iter()
            .filter(|(whose, want)| whose == identity && want.permission == permission);
        own.map(|(_, want)| want.reach()).collect()
    }
}

/// The answers that hold for one act that is asked about.
#[derive(Debug)]
pub struct OnUseAnswers<'a> {
    session: &'a SessionAnswers,
    stored: Vec<Want>,
}

impl<'a> OnUseAnswers<'a> {
    /// The answers of a session, and those that are stored at this moment about the skill that acts.
    #[must_use]
    pub fn stored(session: &'a SessionAnswers, stored: Vec<Want>) -> Self {
        Self { session, stored }
    }

    fn scopes(&self, identity: &Identity, permission: Permission) -> Vec<Scope> {
        let stored = self.stored.iter();
        let stored = stored.filter(|want| want.permission == permission);
        let mut scopes = self.session.scopes(identity, permission);
        scopes.extend(stored.map(Want::reach));
        scopes
    }
}

impl<'a> From<&'a SessionAnswers> for OnUseAnswers<'a> {
    fn from(session: &'a SessionAnswers) -> Self {
        Self::stored(session, Vec::new())
    }
}

/// One act that waits for an answer. It was checked and counted; only the user's yes is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAct {
    act: Act,
    /// The file relative to the project if it is inside, or the whole command.
    shown: String,
    /// A permission for exactly this act.
    exact: Option<Want>,
    /// A pattern that covers this act and similar ones.
    pattern: Option<Want>,
    /// The changes of a write.
    preview: Option<ChangePreview>,
}

/// Why there is no permit.
#[derive(Debug)]
pub enum Unpermitted {
    /// No answer would permit it.
    Refused(PermitRefusal),
    /// The user has to be asked.
    Pending(Box<PendingAct>),
}

impl From<PermitRefusal> for Unpermitted {
    fn from(refusal: PermitRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Grant {
    /// Checks one act and counts it, like [`Grant::permit`]; an act that has to be asked about and has no answer is
    /// pending.
    ///
    /// # Errors
    /// If it is not permitted, or is pending.
    pub fn permit_or_ask<'a>(
        &self,
        act: Act,
        answers: impl Into<OnUseAnswers<'a>>,
        meter: &ActMeter,
    ) -> Result<Permit, Unpermitted> {
        let permission = act.permission();
        let asked = self.scopes_on_use(permission);
        if asked.is_empty() {
            return Ok(self.permit(act, meter)?);
        }
        self.check(&act)?;
        let mut answered = self.scopes_allowed(permission);
        answered.extend(answers.into().scopes(self.identity(), permission));
        let is_answered = self.covers_plainly(&answered, &act);
        if !is_answered && !self.holds(&asked, &act) {
            return Ok(self.permit(act, meter)?);
        }
        self.count(permission, meter)?;
        match is_answered {
            true => Ok(self.made(act)),
            false => Err(Unpermitted::Pending(Box::new(PendingAct::new(
                act,
                &self.terms().project,
            )))),
        }
    }

    /// The permit for a pending act, after the user's yes.
    #[must_use]
    pub fn permit_answered(&self, pending: PendingAct, _yes: &ApprovalOffer) -> Permit {
        self.made(pending.act)
    }

    /// Whether answers cover an act. A pattern of commands covers one plain command; any other line needs an answer
    /// for itself.
    fn covers_plainly(&self, scopes: &[Scope], act: &Act) -> bool {
        match act {
            Act::Line(line) if !line.is_plain => scopes
                .iter()
                .any(|scope| crate::grant::is_line(scope, &line.text)),
            _ => self.holds(scopes, act),
        }
    }
}

impl PendingAct {
    fn new(act: Act, project: &Path) -> Self {
        let below = |path: &Path| match path.strip_prefix(project) {
            Ok(below) if below.as_os_str().is_empty() => "./".to_owned(),
            Ok(below) => format!("./{}", below.display()),
            Err(_) => path.display().to_string(),
        };
        let want = |permission: Permission, scope: &str| -> Option<Want> {
            format!("{permission}({scope})").parse().ok()
        };
        let permission = act.permission();
        let (shown, exact, pattern) = match &act {
            Act::Line(line) => {
                let exact = Want {
                    permission,
                    scope: Scope::Command(CommandPattern::Line(line.text.clone())),
                };
                (line.text.to_string(), Some(exact), pattern_of(line))
            }
            Act::ReadFile(path) | Act::WriteFile { path, .. } => {
                let shown = below(path);
                let pattern = shown.starts_with("./").then(|| want(permission, "./**"));
                (shown.clone(), want(permission, &shown), pattern.flatten())
            }
            Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } => {
                let shown = below(folder);
                let all = format!("{}/**", shown.trim_end_matches('/'));
                (shown, want(permission, &all), None)
            }
            Act::CallTool { tool, .. } => {
                let want = want(permission, tool);
                (act.detail(), want.clone(), want)
            }
            other => (other.detail(), None, None),
        };
        Self {
            act,
            shown,
            exact,
            pattern,
            preview: None,
        }
    }

    /// This act with a preview of what it would change.
    #[must_use]
    pub fn with_preview(self, preview: ChangePreview) -> Self {
        Self {
            preview: Some(preview),
            ..self
        }
    }

    /// The changes of a write.
    #[must_use]
    pub fn preview(&self) -> Option<&ChangePreview> {
        self.preview.as_ref()
    }

    /// The pending act.
    #[must_use]
    pub fn act(&self) -> &Act {
        &self.act
    }

    /// The whole command, or the file, as the user would write it. It is never cut.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The argument for `metier permissions` that allows it.
    #[must_use]
    pub fn needed(&self) -> String {
        let want = self.pattern.as_ref().or(self.exact.as_ref());
        want.map_or_else(|| self.act.permission().to_string(), Want::to_string)
    }

    /// How dangerous it is. A line that is not a plain command can run anything.
    #[must_use]
    pub fn danger(&self) -> Danger {
        match (&self.act, &self.exact) {
            (Act::Line(line), _) if !line.is_plain => Danger::RunAnything,
            (_, Some(want)) => Danger::of(want),
            (_, None) => Danger::RunAnything,
        }
    }

    /// The answers that allow it.
    #[must_use]
    pub fn offers(&self) -> Vec<ApprovalOffer> {
        let mut offers = vec![ApprovalOffer::Once];
        let session = self.pattern.as_ref().or(self.exact.as_ref());
        offers.extend(session.cloned().map(ApprovalOffer::Session));
        let always = self.pattern.clone();
        offers.extend(always.map(|want| ApprovalOffer::Always(vec![want])));
        offers
    }
}

/// The pattern that is offered for a line: its program with any arguments. `None` unless every line that the pattern
/// covers is one plain command of a program that neither runs its arguments nor deletes.
fn pattern_of(line: &CommandLine) -> Option<Want> {
    if !line.is_plain {
        return None;
    }
    let program = line.commands.as_ref()?.first()?.first()?.as_deref()?;
    if program.contains('/') || ONE_BY_ONE.contains(&program) {
        return None;
    }
    let want: Want = format!("{}({program} *)", Permission::ShellExec)
        .parse()
        .ok()?;
    (Danger::of(&want) != Danger::RunAnything).then_some(want)
}
