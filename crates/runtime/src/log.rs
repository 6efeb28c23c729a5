//! The log entries of the runtime: events of `tracing`.
//!
//! Without the feature `log`, `tracing` is not built and these functions do nothing.
#![cfg_attr(
    not(feature = "log"),
    expect(unused_variables, reason = "without a log the arguments are not used")
)]

use crate::inventory::Status;

/// The target of these events, for filters such as `METIER_LOG=metier::skills=debug`.
#[cfg(feature = "log")]
const TARGET: &str = "metier::skills";

/// Whether skills that are unavailable are logged.
pub(crate) fn is_enabled() -> bool {
    #[cfg(feature = "log")]
    let enabled = tracing::enabled!(target: TARGET, tracing::Level::WARN);
    #[cfg(not(feature = "log"))]
    let enabled = false;
    enabled
}

/// A skill was listed; one that can't be used is logged with every reason.
pub(crate) fn skill_listed(skill: &str, source: &str, status: Status, reasons: &str) {
    #[cfg(feature = "log")]
    match status {
        Status::Ready => tracing::debug!(target: TARGET, skill, source, "skill found"),
        Status::Disabled | Status::Shadowed => {
            let status = status.as_str();
            tracing::info!(target: TARGET, skill, source, status, reasons, "skill unavailable");
        }
        Status::NotReady | Status::Blocked | Status::Invalid => {
            let status = status.as_str();
            tracing::warn!(target: TARGET, skill, source, status, reasons, "skill unavailable");
        }
    }
}

/// The bytes of a skill were scanned.
pub(crate) fn skill_scanned(skill: &str, digest: &str, findings: usize) {
    #[cfg(feature = "log")]
    tracing::debug!(target: TARGET, skill, digest, findings, "skill scanned");
}

/// The text or the code of a skill was loaded.
pub(crate) fn skill_loaded(skill: &str) {
    #[cfg(feature = "log")]
    tracing::info!(target: TARGET, skill, "skill loaded");
}

/// A skill could not be activated, or broke.
#[cfg(feature = "run")]
pub(crate) fn skill_failed(skill: &str, reason: Option<&str>) {
    tracing::warn!(target: TARGET, skill, reason, "skill unavailable");
}

/// A skill is about to be activated, or was deactivated.
#[cfg(feature = "run")]
pub(crate) fn skill_changes(skill: &str, state: &str) {
    tracing::debug!(target: TARGET, skill, state, "skill changes state");
}
