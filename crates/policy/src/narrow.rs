//! What two grants have in common.

use metier_model::Want;

use crate::Grant;

impl Grant {
    /// What this skill may do for another one: nothing that the other may not do itself. Where scopes only overlap, the
    /// common part is left out: it is less than both, never more than either.
    #[must_use]
    pub fn narrowed(&self, caller: &Self) -> Self {
        let covered = |by: &[Want], want: &Want| by.iter().any(|other| other.covers(want));
        let own = self.allowed().iter();
        let own = own.filter(|want| covered(caller.allowed(), want));
        let lent = caller.allowed().iter();
        let lent = lent.filter(|want| covered(self.allowed(), want));
        let mut allowed: Vec<Want> = own.chain(lent).cloned().collect();
        allowed.sort();
        allowed.dedup();
        let denied = self.denied().iter().chain(caller.denied()).cloned();
        Self::mint(
            self.identity().clone(),
            allowed,
            denied.collect(),
            self.terms().clone(),
        )
    }
}
