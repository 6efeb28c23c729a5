//! Plans to install and to update skills, until they are decided about.
//!
//! A plan holds the bytes that were scanned: exactly these are installed, whatever the source contains by then. It has an id that can't be guessed, is used
//! once, and is forgotten after a while. Plans together are limited in number and size; the oldest is forgotten first.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use metier::distribution::{InstallPlan, UpdatePlan};

use super::answer::Refusal;

/// How long a plan waits for a decision.
pub(super) const PLAN_TIME: Duration = Duration::from_secs(600);

/// Plans at a time, and the bytes of all their skills.
const MAX_PLANS: usize = 16;
const MAX_BYTES: u64 = 256 << 20;

/// How many removed plans are remembered, with the reasons.
const MAX_GONE: usize = 64;

/// A plan of either kind.
pub(super) enum SkillPlan {
    Install(Box<InstallPlan>),
    Update(Box<UpdatePlan>),
}

impl SkillPlan {
    fn bytes(&self) -> u64 {
        match self {
            Self::Install(plan) => plan.bytes(),
            Self::Update(plan) => plan.bytes(),
        }
    }
}

/// Why a plan was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GonePlan {
    Used,
    Forgotten,
}

/// All plans of the daemon.
#[derive(Default)]
pub(super) struct KeptPlans(Mutex<PlanShelf>);

#[derive(Default)]
struct PlanShelf {
    /// The oldest first.
    plans: VecDeque<KeptPlan>,
    gone: VecDeque<(String, GonePlan)>,
}

struct KeptPlan {
    id: String,
    until: Instant,
    plan: SkillPlan,
}

/// A plan that one request decides about. It is used up unless it is put back.
pub(super) struct TakenPlan {
    id: String,
    until: Instant,
}

impl KeptPlans {
    /// Keeps a plan under an id.
    pub(super) fn keep(&self, id: String, plan: SkillPlan) {
        let mut shelf = self.shelf();
        shelf.plans.push_back(KeptPlan {
            id,
            until: Instant::now() + PLAN_TIME,
            plan,
        });
        let is_full = |shelf: &PlanShelf| {
            let bytes: u64 = shelf.plans.iter().map(|kept| kept.plan.bytes()).sum();
            shelf.plans.len() > MAX_PLANS || bytes > MAX_BYTES && shelf.plans.len() > 1
        };
        while is_full(&shelf) {
            shelf.forget_oldest();
        }
    }

    /// Takes a plan out: no other request can use it.
    pub(super) fn take(&self, id: &str) -> Result<(TakenPlan, SkillPlan), Refusal> {
        let mut shelf = self.shelf();
        shelf.forget_expired();
        let Some(position) = shelf.plans.iter().position(|kept| kept.id == id) else {
            return Err(shelf.missing(id));
        };
        match shelf.plans.remove(position) {
            Some(KeptPlan { id, until, plan }) => {
                shelf.note(id.clone(), GonePlan::Used);
                Ok((TakenPlan { id, until }, plan))
            }
            None => Err(shelf.missing(id)),
        }
    }

    /// Puts a plan back that nothing was done with.
    pub(super) fn put_back(&self, taken: TakenPlan, plan: SkillPlan) {
        let mut shelf = self.shelf();
        shelf.gone.retain(|(id, _)| *id != taken.id);
        let TakenPlan { id, until } = taken;
        let position = shelf.plans.partition_point(|kept| kept.until < until);
        shelf.plans.insert(position, KeptPlan { id, until, plan });
    }

    /// Forgets a plan.
    pub(super) fn forget(&self, id: &str) -> Result<(), Refusal> {
        self.take(id)?;
        let mut shelf = self.shelf();
        shelf.gone.retain(|(gone, _)| gone != id);
        shelf.note(id.to_owned(), GonePlan::Forgotten);
        Ok(())
    }

    /// Forgets expired plans.
    pub(super) fn forget_expired(&self) {
        self.shelf().forget_expired();
    }

    fn shelf(&self) -> MutexGuard<'_, PlanShelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlanShelf {
    fn note(&mut self, id: String, why: GonePlan) {
        self.gone.push_back((id, why));
        while self.gone.len() > MAX_GONE {
            self.gone.pop_front();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.plans.pop_front() {
            self.note(oldest.id, GonePlan::Forgotten);
        }
    }

    fn forget_expired(&mut self) {
        let now = Instant::now();
        while self.plans.front().is_some_and(|kept| kept.until <= now) {
            self.forget_oldest();
        }
    }

    /// Why there is no plan of this id.
    fn missing(&self, id: &str) -> Refusal {
        let mut gone = self.gone.iter();
        let why = gone.find(|(gone, _)| gone == id).map(|(_, why)| *why);
        let (status, code, message) = match why {
            Some(GonePlan::Used) => (409, "plan-used", "this plan was used already"),
            Some(GonePlan::Forgotten) => (410, "plan-gone", "this plan is no longer kept"),
            None => (404, "unknown-plan", "there is no such plan"),
        };
        Refusal::new(status, code, message)
            .hint("create another one with POST /api/v1/installs or /api/v1/updates")
    }
}
