//! Files that killed runs have left: protected places that their children created, and folders of temporary files.

use std::{
    io,
    path::{Path, PathBuf},
};

use metier_policy::Identity;

use super::child_profile::{WATCHED, remove_abandoned};
use crate::{
    child::{self, Leftover},
    sandbox::UndonePlace,
};

/// The protected places that the child of a killed run had created.
#[derive(Debug)]
pub struct Leftovers {
    /// The skill, if its name can still be read.
    pub identity: Option<Identity>,
    inner: Leftover,
}

impl Leftovers {
    /// Places that were restored. Nothing is deleted: the user may have created it while the child ran.
    #[must_use]
    pub fn undone(&self) -> &[UndonePlace] {
        &self.inner.undone
    }

    /// Places that could not be checked or restored.
    #[must_use]
    pub fn failed(&self) -> &[(PathBuf, io::Error)] {
        &self.inner.failed
    }

    /// Deletes the record, once there is a receipt.
    pub fn forget(self) {
        self.inner.forget();
    }
}

/// Restores protected places that children of killed runs have changed, and removes their temporary files. It runs at the start of the
/// program: it costs two listings of a folder if there is nothing to do.
#[must_use]
pub fn restore_protected_places(temporary: &Path) -> Vec<Leftovers> {
    let leftovers = child::work_off(&temporary.join(WATCHED)).into_iter();
    let leftovers = leftovers.map(|inner| Leftovers {
        identity: identity(&inner.owner),
        inner,
    });
    let leftovers = leftovers.collect();
    remove_abandoned(temporary);
    leftovers
}

/// A skill as one string, for [`identity`].
pub(super) fn owner(identity: &Identity) -> String {
    let Identity {
        skill,
        source,
        digest,
    } = identity;
    format!("{source} {digest} {skill}")
}

fn identity(owner: &str) -> Option<Identity> {
    let mut parts = owner.splitn(3, ' ');
    Some(Identity {
        source: parts.next()?.parse().ok()?,
        digest: parts.next()?.parse().ok()?,
        skill: parts.next()?.into(),
    })
}
