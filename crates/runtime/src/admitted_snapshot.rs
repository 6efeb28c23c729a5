//! The bytes of a skill that a session may use, as a value that only a check creates.
//!
//! **Problem.** A session gets bytes from its caller, and a caller can forget the scanner. **Decision.** It accepts an
//! [`AdmittedSnapshot`]: made from a verdict that does not block the skill, or from a configuration in which the user disabled scans.

use metier_catalog::Snapshot;
use metier_config::Config;

use crate::scanning::{KnownVerdict, ScanConsequence};

/// All files of a skill, after the check by the scanner.
#[derive(Debug)]
pub struct AdmittedSnapshot(Snapshot);

impl AdmittedSnapshot {
    /// Bytes with a verdict; `None` if it blocks the skill.
    #[must_use]
    pub fn with_verdict(snapshot: Snapshot, known: &KnownVerdict) -> Option<Self> {
        (known.stance != ScanConsequence::Blocked).then_some(Self(snapshot))
    }

    /// Bytes without a verdict, if the user disabled scans on load.
    ///
    /// # Errors
    /// The bytes themselves, if they have to be scanned.
    pub fn without_scan(snapshot: Snapshot, config: &Config) -> Result<Self, Box<Snapshot>> {
        if config.security.scan_on_load {
            Err(Box::new(snapshot))
        } else {
            Ok(Self(snapshot))
        }
    }

    /// The files.
    #[must_use]
    pub fn into_snapshot(self) -> Snapshot {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use metier_model::Digest;
    use metier_scan::{ScanReport, Unread};

    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            files: Vec::new(),
            digest: Digest([0; 32]),
            fingerprint: None,
        }
    }

    #[test]
    fn a_verdict_that_blocks_admits_nothing() {
        let clean = KnownVerdict::of(&ScanReport::default());
        assert!(AdmittedSnapshot::with_verdict(snapshot(), &clean).is_some());
        let mut report = ScanReport::default();
        report.unread.push(Unread {
            file: "x".into(),
            why: "it is a device".into(),
        });
        let blocked = KnownVerdict::of(&report);
        assert!(AdmittedSnapshot::with_verdict(snapshot(), &blocked).is_none());
    }

    #[test]
    fn bytes_without_a_verdict_are_admitted_only_if_scans_are_disabled() {
        let mut config = metier_config::load([]).config;
        assert!(AdmittedSnapshot::without_scan(snapshot(), &config).is_err());
        config.security.scan_on_load = false;
        assert!(AdmittedSnapshot::without_scan(snapshot(), &config).is_ok());
    }
}
