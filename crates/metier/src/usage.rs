//! How much skills were used lately, by their receipts: a skill that was only loaded was not used.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use metier_store::{Receipt, ReceiptDecision, ReceiptFilter};

use crate::{
    Workspace,
    machine::{parse_time, timestamp},
};

/// After this time a use counts half.
const HALF_LIFE: Duration = Duration::from_hours(14 * 24);
/// Older receipts are not read.
const OLDEST: Duration = Duration::from_hours(16 * 7 * 24);
/// How many receipts are read at most, the newest.
const MAX_RECEIPTS: u32 = 20_000;
/// Acts with a skill (it is installed, loaded, removed) begin so; only one of them is an act of a skill.
const WITH_A_SKILL: &str = "skill:";
const INVOKES_ANOTHER: &str = "skill:invoke";

impl Workspace {
    /// The sessions in which each skill did something, by name: one of today counts 1, one of two weeks ago one half. A database that can't be
    /// read has no uses.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("{:.1}", workspace.skill_use().get("git").unwrap_or(&0.0));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn skill_use(&self) -> BTreeMap<String, f64> {
        let now = self.machine.now;
        let since = now.checked_sub(OLDEST).map(timestamp);
        let Ok(Some(store)) = self.existing_store() else {
            return BTreeMap::new();
        };
        let filter = ReceiptFilter {
            skill: None,
            since: since.as_deref(),
            limit: Some(MAX_RECEIPTS),
        };
        let receipts = store.receipts(filter).unwrap_or_default();
        let age = |at: &str| {
            let at = parse_time(at)?;
            Some(now.duration_since(at).unwrap_or_default())
        };
        decayed(&receipts, &age)
    }

    /// [`Workspace::skill_use`], if the configuration lets it change the order of skills.
    pub(crate) fn recent_use(&self) -> BTreeMap<String, f64> {
        match self.config.usage {
            true => self.skill_use(),
            false => BTreeMap::new(),
        }
    }
}

fn decayed(receipts: &[Receipt], age: &dyn Fn(&str) -> Option<Duration>) -> BTreeMap<String, f64> {
    let mut sessions = BTreeSet::new();
    let mut used = BTreeMap::new();
    let own = receipts.iter().map(|receipt| (receipt.id, &receipt.entry));
    let acts = own.filter(|(_, entry)| {
        let act = entry.act.as_str();
        let is_own = !act.starts_with(WITH_A_SKILL) || act == INVOKES_ANOTHER;
        entry.decision == ReceiptDecision::Allowed && is_own
    });
    // The newest come first, so a session counts with its last act.
    for (id, entry) in acts {
        let session = entry.session.clone().unwrap_or_else(|| id.to_string());
        if !sessions.insert((entry.skill.clone(), session)) {
            continue;
        }
        if let Some(age) = age(&entry.at) {
            let halves = age.as_secs_f64() / HALF_LIFE.as_secs_f64();
            *used.entry(entry.skill.clone()).or_default() += 0.5_f64.powf(halves);
        }
    }
    used
}
