//! The states of a skill in a session, and the steps between them.
//!
//! ```text
//! Inactive ──▶ Activating ──▶ Active ──▶ Inactive
//!                  │             │
//!                  └──▶ Error ◀──┘        an error is left by trying again, or by giving up
//! ```

use std::collections::BTreeMap;

use crate::log;

/// The state of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LifecycleState {
    /// The skill is not active.
    #[default]
    Inactive,
    /// Permission is requested and its code is started.
    Activating,
    /// Its contributions are available.
    Active,
    /// It could not be activated, or broke.
    Error,
}

impl LifecycleState {
    /// The stable name of the state.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inactive => "inactive",
            Self::Activating => "activating",
            Self::Active => "active",
            Self::Error => "error",
        }
    }

    const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Inactive | Self::Error, Self::Activating)
                | (Self::Activating, Self::Active | Self::Error)
                | (Self::Active, Self::Inactive | Self::Error)
                | (Self::Error, Self::Inactive)
        )
    }
}

/// One step in the life of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Name of the skill.
    pub skill: String,
    /// The state before.
    pub from: LifecycleState,
    /// The state after.
    pub to: LifecycleState,
    /// Why, if an error occurred.
    pub reason: Option<String>,
}

/// The states of all skills of a session, and every step.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    states: BTreeMap<String, LifecycleState>,
    transitions: Vec<Transition>,
}

impl Lifecycle {
    pub(super) fn state(&self, skill: &str) -> LifecycleState {
        self.states.get(skill).copied().unwrap_or_default()
    }

    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Takes a step, if it exists.
    pub(super) fn step(&mut self, skill: &str, to: LifecycleState, reason: Option<String>) -> bool {
        let from = self.state(skill);
        let may = from.may_become(to);
        if may {
            match to {
                LifecycleState::Active => log::skill_loaded(skill),
                LifecycleState::Error => log::skill_failed(skill, reason.as_deref()),
                LifecycleState::Activating | LifecycleState::Inactive => {
                    log::skill_changes(skill, to.as_str());
                }
            }
            self.states.insert(skill.to_owned(), to);
            self.transitions.push(Transition {
                skill: skill.to_owned(),
                from,
                to,
                reason,
            });
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_steps_that_are_drawn_are_taken() {
        use LifecycleState::{Activating, Active, Error, Inactive};
        let all = [Inactive, Activating, Active, Error];
        let steps: Vec<(LifecycleState, LifecycleState)> = all
            .into_iter()
            .flat_map(|from| all.map(|to| (from, to)))
            .filter(|(from, to)| from.may_become(*to))
            .collect();
        assert_eq!(
            steps,
            [
                (Inactive, Activating),
                (Activating, Active),
                (Activating, Error),
                (Active, Inactive),
                (Active, Error),
                (Error, Inactive),
                (Error, Activating),
            ]
        );
    }

    #[test]
    fn every_step_is_written_down_and_no_other() {
        let mut life = Lifecycle::default();
        assert!(!life.step("a", LifecycleState::Active, None));
        assert!(life.step("a", LifecycleState::Activating, None));
        assert!(life.step("a", LifecycleState::Error, Some("no".into())));
        assert!(life.step("a", LifecycleState::Activating, None));
        assert_eq!(life.state("a"), LifecycleState::Activating);
        assert_eq!(life.state("b"), LifecycleState::Inactive);
        assert_eq!(life.transitions().len(), 3);
        assert_eq!(life.transitions()[1].reason.as_deref(), Some("no"));
    }
}
