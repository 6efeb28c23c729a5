//! The summary that the user sees before a skill is installed.

use std::path::PathBuf;

use metier_model::Digest;
use metier_policy::{PermissionAnswer, decide};

use super::{installed_files::ChangedFiles, places::InstallScope};
use crate::{
    permissions::PermissionDecision,
    scans::{FindingSeverity, Verdict},
};

/// A skill that could be installed: what it is, where it comes from, what it asks for, what the scanner found, and what it would replace.
/// The texts in it were written by the author of the skill: an interface escapes them.
///
/// ```
/// # fn f(plan: &metier::distribution::InstallPlan) {
/// for card in plan.skills().iter().map(|skill| &skill.card) {
///     println!("{} from {}: {}", card.name, card.source, card.verdict.verdict.word());
///     for asked in card.open_with(&[]) {
///         println!("  it asks for {}: {}", asked.permission, asked.meaning);
///     }
///     for obstacle in &card.obstacles {
///         println!("  {}, final: {}", obstacle.as_str(), obstacle.is_final());
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InstallCard {
    /// The name in the manifest.
    pub name: String,
    /// The author's description.
    pub description: String,
    /// The version that its manifest states.
    pub version: Option<String>,
    /// Where it comes from, as it can be typed again.
    pub source: String,
    /// The registry, if it comes from one.
    pub registry: Option<String>,
    /// The commit, if it comes from a git repository.
    pub commit: Option<String>,
    /// The public key that signed it, if its signature was verified.
    pub signer: Option<String>,
    /// The digest of its files.
    pub digest: Digest,
    /// How many files it has.
    pub files: usize,
    /// Their size together.
    pub bytes: u64,
    /// The scope that it would be installed in.
    pub scope: InstallScope,
    /// The folder that it would get.
    pub place: PathBuf,
    /// The effect of installing it.
    pub action: InstallAction,
    /// The requested permissions, each with the answer so far.
    pub permissions: Vec<InstallCardPermission>,
    /// The result of the scan.
    pub verdict: InstallCardVerdict,
    /// The existing skill at its place, which it would replace.
    pub before: Option<ExistingSkill>,
    /// Why it is not ready after the installation, such as a missing program.
    pub missing: Vec<String>,
    /// Points that the user should check: diagnostics, and names that are nearly the name of another skill.
    pub warnings: Vec<String>,
    /// Why it can't be installed, or which decision it needs.
    pub obstacles: Vec<InstallObstacle>,
}

impl InstallCard {
    /// Whether no decision can install it: one of its obstacles is final.
    ///
    /// The example of [`InstallCard`] prints the obstacles that refuse it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.obstacles.iter().any(InstallObstacle::is_final)
    }

    /// The permissions without an answer, after these were approved.
    ///
    /// An example is at [`InstallCard`].
    pub fn open_with(&self, approved: &[String]) -> impl Iterator<Item = &InstallCardPermission> {
        let answers = approved.iter().filter_map(|text| {
            let decision = PermissionDecision::Allow;
            Some(PermissionAnswer {
                want: text.parse().ok()?,
                decision,
            })
        });
        let answers: Vec<PermissionAnswer> = answers.collect();
        self.permissions.iter().filter(move |one| {
            let decided = one.permission.parse().map(|want| decide(&want, &answers));
            one.decision == PermissionDecision::Ask && decided != Ok(PermissionDecision::Allow)
        })
    }
}

/// The effect of installing a skill.
///
/// The example of [`InstallAction::as_str`] names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallAction {
    /// Nothing has its name in the scope yet.
    Install,
    /// It replaces another version of itself.
    Replace,
    /// Exactly these bytes are installed.
    Keep,
}

impl InstallAction {
    /// The word in JSON.
    ///
    /// ```
    /// assert_eq!(metier::distribution::InstallAction::Keep.as_str(), "keep");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Replace => "replace",
            Self::Keep => "keep",
        }
    }
}

/// A permission that a skill on a card requests, with the answer so far.
///
/// The example of [`InstallCard`] prints them.
#[derive(Clone, Debug)]
pub struct InstallCardPermission {
    /// The permission with its scope, as in `shell:exec(git *)`.
    pub permission: String,
    /// The permission in plain words.
    pub meaning: String,
    /// Whether it is allowed, denied, or needs an answer.
    pub decision: PermissionDecision,
    /// Whether the skill that it replaces did not have it.
    pub is_new: bool,
}

/// The result of the scan of the bytes that would be installed.
///
/// The example of [`InstallCard`] prints it.
#[derive(Clone, Debug)]
pub struct InstallCardVerdict {
    /// The verdict on exactly these bytes.
    pub verdict: Verdict,
    /// The findings, the worst first.
    pub findings: Vec<InstallCardFinding>,
    /// The unread files, with reasons.
    pub unread: Vec<String>,
    /// Whether the user accepted these bytes despite the findings.
    pub is_accepted: bool,
}

/// A finding of the scanner in a skill on a card.
///
/// The example of [`InstallCard`] prints the verdict that follows from them.
#[derive(Clone, Debug)]
pub struct InstallCardFinding {
    /// Its severity.
    pub severity: FindingSeverity,
    /// The id of the rule.
    pub rule: String,
    /// The message of the rule.
    pub message: String,
    /// The file in the skill.
    pub file: String,
    /// The line, counted from one.
    pub line: Option<u32>,
}

/// The existing skill or folder of the same name.
///
/// An example of a card is at [`InstallCard`].
#[derive(Clone, Debug)]
pub struct ExistingSkill {
    /// Its folder, or `builtin:NAME`.
    pub place: String,
    /// The source that it was installed from; `None` if metier did not install it.
    pub source: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The digest of its files as they are now, if it would be replaced.
    pub digest: Option<Digest>,
    /// Which files are different.
    pub files: ChangedFiles,
    /// Permissions that only the old one had.
    pub gone_permissions: Vec<String>,
}

/// Why a skill can't be installed, or which decision it needs.
///
/// The example of [`InstallCard`] prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallObstacle {
    /// The scanner blocks it. No flag accepts this.
    Blocked(String),
    /// Its files are not a valid skill.
    Invalid(String),
    /// The place holds a skill that metier did not install.
    Foreign,
    /// The skill there was edited after it was installed; these files differ.
    Edited(Vec<String>),
    /// The skill there was installed from elsewhere.
    OtherSource(String),
    /// A skill with that name is elsewhere; one would shadow the other.
    Shadows(String),
    /// A signer is known, and another key signed these files, or none.
    OtherSigner(String),
    /// An installed skill requires another version of it, as a sentence.
    Breaks(String),
    /// Its signature is not valid for its files.
    Signature(String),
}

impl InstallObstacle {
    /// Whether no decision of the user removes it. The others need [`InstallDecision::replace`](super::InstallDecision::replace).
    ///
    /// An example is at [`InstallCard`].
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Blocked(_) | Self::Invalid(_) | Self::Signature(_)
        )
    }

    /// The word in JSON.
    ///
    /// An example is at [`InstallCard`].
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::Invalid(_) => "invalid",
            Self::Foreign => "foreign",
            Self::Edited(_) => "edited",
            Self::OtherSource(_) => "other_source",
            Self::Shadows(_) => "shadows",
            Self::OtherSigner(_) => "other_signer",
            Self::Breaks(_) => "breaks",
            Self::Signature(_) => "signature",
        }
    }
}
