//! The intersection of two grants.

use metier_model::Want;

use crate::Grant;

impl Grant {
    /// The permissions of this skill when it works for its caller: none that the caller does not have itself. Where scopes only overlap,
    /// the common part is dropped: the result is never more than either.
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
        // An act that the user is asked about in one grant must be allowed by the other, or asked about there too.
        let all = |grant: &Self| -> Vec<Want> { grant.fence().cloned().collect() };
        let (own, lent) = (all(self), all(caller));
        let asked = self.on_use().iter().filter(|want| covered(&lent, want));
        let asks = caller.on_use().iter().filter(|want| covered(&own, want));
        let shared = lent.iter().filter(|want| covered(self.on_use(), want));
        let borrowed = own.iter().filter(|want| covered(caller.on_use(), want));
        let on_use = asked.chain(asks).chain(shared).chain(borrowed);
        let mut on_use: Vec<Want> = on_use.cloned().collect();
        on_use.retain(|want| !covered(&allowed, want));
        on_use.sort();
        on_use.dedup();
        let denied = self.denied().iter().chain(caller.denied()).cloned();
        Self::mint(
            self.identity().clone(),
            allowed,
            denied.collect(),
            self.terms().clone(),
        )
        .asking_on_use(on_use)
    }
}
