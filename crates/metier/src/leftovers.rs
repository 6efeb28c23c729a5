//! Puts back what killed runs left in protected places, with receipts, before this run starts.

use std::path::{Path, PathBuf};

use metier_host::{
    child::{failures, undone},
    execution::{self, Leftovers},
};
use metier_store::{NewReceipt, ReceiptDecision, ReceiptOutcome, Store};

use crate::{
    Error, NoticeLevel, Notices,
    machine::{self, Machine},
    text::one_line,
};

/// The parent of folders for temporary files.
pub(crate) fn temporary(cache: &Path) -> PathBuf {
    cache.join("runs")
}

/// Restores protected places that skills of killed runs changed, with a receipt each, and removes their temporary files.
/// [`Workspace::open`](crate::Workspace::open) does so first.
///
/// For a program that waits before it opens its first workspace, or opens it with
/// [`Settings::keep_leftovers`](crate::Settings::keep_leftovers):
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// let settings = metier::Settings { keep_leftovers: true, ..metier::Settings::from_env()? };
/// metier::restore_protected_places(&settings.machine, &*settings.notices)?;
/// let workspace = metier::Workspace::open(settings)?;
/// # let _ = workspace;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the receipt of a restored place can't be written.
pub fn restore_protected_places(machine: &Machine, notices: &dyn Notices) -> Result<(), Error> {
    let Some(cache) = &machine.cache else {
        return Ok(());
    };
    let found = execution::restore_protected_places(&temporary(cache));
    if found.is_empty() {
        return Ok(());
    }
    let database = machine.database.as_ref();
    let database = database
        .ok_or_else(|| Error::broken("store", "there is no home directory for receipts"))?;
    let store = Store::open(database)?;
    for leftovers in found {
        let receipt = receipt(&leftovers);
        let line = format!(
            "skill `{}`: {}",
            one_line(&receipt.skill),
            one_line(receipt.reason.as_deref().unwrap_or_default())
        );
        store.append(&[receipt])?;
        notices.notice(NoticeLevel::Warning, &line);
        leftovers.forget();
    }
    Ok(())
}

fn receipt(leftovers: &Leftovers) -> NewReceipt {
    let identity = leftovers.identity.as_ref();
    let text = |of: &dyn Fn(&metier_policy::Identity) -> String| {
        identity.map_or_else(|| "unknown".to_owned(), of)
    };
    let mut reasons = Vec::new();
    if let places @ [_, ..] = leftovers.undone() {
        reasons.push(format!(
            "before its run was killed, it created protected files, which were renamed: {}",
            undone(places)
        ));
    }
    if let failed @ [_, ..] = leftovers.failed() {
        reasons.push(format!(
            "its run was killed, and protected files can't be checked or restored: {}; check them before you continue",
            failures(failed)
        ));
    }
    NewReceipt {
        at: humantime::format_rfc3339_millis(machine::now()).to_string(),
        skill: text(&|identity| identity.skill.to_string()),
        source: text(&|identity| identity.source.to_string()),
        digest: text(&|identity| identity.digest.to_string()),
        act: "skill:run".to_owned(),
        detail: "made protected files".to_owned(),
        decision: ReceiptDecision::Allowed,
        reason: Some(reasons.join("; ")),
        outcome: Some(ReceiptOutcome::Error),
        ms: 0,
        sandbox: None,
        session: None,
        count: 1,
    }
}
