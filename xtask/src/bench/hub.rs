//! `bench hub`: what installing from a registry costs, and resolving versions.

use std::process::Command;

use super::host::ms;
use super::table::{BenchRow, BenchTable};
use super::{Bench, Figures, driver};
use crate::Result;

/// What is built before anything is measured: package and bench target.
pub(super) const DRIVERS: &[(&str, &str)] = &[("metier-registry", "hub")];

const INSTALL_MS: f64 = 2_000.0;
const RESOLVE_MS: f64 = 200.0;

pub(super) fn measure(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    let arguments = [bench.metier.as_path(), bench.path()];
    let figures = Figures::of(Command::new(driver("hub")?).args(arguments))?;
    let (install, resolve) = (figures.value("install_ms")?, figures.value("resolve_ms")?);
    table.push(
        BenchRow::new("100 small skills from a registry, with scan")
            .ours(ms(install))
            .budget(install, INSTALL_MS, "ms"),
    );
    table.push(
        BenchRow::new("resolve a graph of 1,000 skills")
            .ours(ms(resolve))
            .budget(resolve, RESOLVE_MS, "ms"),
    );
    Ok(())
}
