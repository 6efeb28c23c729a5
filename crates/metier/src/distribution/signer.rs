//! The signer of a fetched skill.
//!
//! The first valid signature is trusted: its key is remembered once the skill is installed. From then on a version that another key signed,
//! or none, needs a decision.

use metier_hub::{SkillSource, fetch::FetchedSkill};
use metier_package::{
    LockedSkill, PublicKey, SignatureError, SignedPackage, claimed_key, is_signature, verify,
    verify_tree,
};

use super::{card::InstallObstacle, signing::described};
use crate::{Error, NoticeLevel, Workspace};

/// The signer of a fetched skill, compared with the one that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JudgedSigner {
    /// The key of a valid signature.
    pub(super) key: Option<PublicKey>,
    /// Why the signature needs a decision, or prevents the installation.
    pub(super) obstacle: Option<InstallObstacle>,
}

impl JudgedSigner {
    /// The key, if no decision is needed.
    pub(super) fn trusted(self) -> Option<String> {
        let key = self.key.filter(|_| self.obstacle.is_none());
        key.map(|key| key.to_string())
    }
}

impl Workspace {
    /// Judges the signature of a fetched skill, or its absence, against the key in the lock, or else the signer that is known for the name.
    /// A folder of this machine that is not signed is compared with the lock only: it can be the user's own.
    pub(super) fn judge_signer(
        &self,
        fetched: &FetchedSkill,
        locked: Option<&LockedSkill>,
    ) -> Result<JudgedSigner, Error> {
        let signature = fetched.origin.signature.as_deref();
        let in_lock = locked.and_then(|locked| locked.signer.as_deref());
        let in_lock = in_lock.and_then(|key| PublicKey::parse(key).ok());
        let package = described(&fetched.tree);
        let name = package.as_ref().map_or(&fetched.name, |one| &one.name);
        let known = match in_lock {
            Some(key) => Some(key),
            None if signature.is_none() && is_local(fetched) => None,
            None => self.known_signer(name)?,
        };
        Ok(match (signature, package) {
            (Some(signature), Some(package)) => judged(fetched, signature, &package, known),
            _ => JudgedSigner {
                key: None,
                obstacle: known.map(|key| InstallObstacle::OtherSigner(key.to_string())),
            },
        })
    }

    /// Remembers the key of an installed skill. A key that can't be written is reported: the next version is then judged as the first one.
    pub(super) fn remember_installed_signer(&self, name: &str, signer: Option<&str>) {
        let Some(key) = signer.and_then(|key| PublicKey::parse(key).ok()) else {
            return;
        };
        if self.known_signer(name).ok().flatten().as_ref() == Some(&key) {
            return;
        }
        if let Err(error) = self.remember_signer(name, &key) {
            let line = format!("the signer of `{name}` can't be stored: {error}");
            self.notices.notice(NoticeLevel::Alert, &line);
        }
    }
}

fn is_local(fetched: &FetchedSkill) -> bool {
    matches!(
        SkillSource::parse(&fetched.origin.source),
        Ok(SkillSource::Path(_))
    )
}

fn judged(
    fetched: &FetchedSkill,
    signature: &str,
    package: &SignedPackage,
    known: Option<PublicKey>,
) -> JudgedSigner {
    let check = |key: &PublicKey| match &fetched.archive {
        Some(archive) => verify(key, signature, archive, package),
        None => verify_tree(key, signature, package),
    };
    let invalid = |error: SignatureError| JudgedSigner {
        key: None,
        obstacle: Some(InstallObstacle::Signature(error.to_string())),
    };
    let Some(expected) = known.clone().or_else(|| claimed_key(signature)) else {
        // Signatures of the program minisign don't contain the key, so nothing can be verified without it.
        return match is_signature(signature) {
            true => JudgedSigner::default(),
            false => invalid(SignatureError::NotASignature),
        };
    };
    match (check(&expected), known) {
        (Ok(()), _) => JudgedSigner {
            key: Some(expected),
            obstacle: None,
        },
        (Err(SignatureError::OtherKey), Some(known)) => {
            let claimed = claimed_key(signature);
            match claimed.as_ref().map(check) {
                Some(Err(error)) => invalid(error),
                _ => JudgedSigner {
                    key: claimed,
                    obstacle: Some(InstallObstacle::OtherSigner(known.to_string())),
                },
            }
        }
        (Err(error), _) => invalid(error),
    }
}
