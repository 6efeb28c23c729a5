//! The findings of skills of the type `security-rule` in a build that runs no skills: there are none.

use metier_catalog::{Catalog, CatalogEntry, Snapshot};
use metier_scan::{Finding, ScanReport};

use crate::{Error, Workspace};

/// A skill, its bytes and its report.
#[expect(dead_code, reason = "read only by skills that scan")]
pub(crate) struct HeldScan<'a> {
    pub(crate) entry: &'a CatalogEntry,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) report: &'a ScanReport,
}

pub(crate) fn is_any(_: &Catalog) -> bool {
    false
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "with the feature `run` it can fail"
)]
pub(crate) fn of(_: &Workspace, _: &[HeldScan<'_>]) -> Result<Vec<Vec<Finding>>, Error> {
    Ok(Vec::new())
}
