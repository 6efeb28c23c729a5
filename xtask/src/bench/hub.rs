//! `bench hub`: the cost of installing from a registry, and of resolving versions.

use std::process::Command;

use super::host::ms;
use super::table::{BenchRow, BenchTable};
use super::{Bench, Figures, driver};
use crate::Result;

/// The targets that are built before the measurement: package and bench target.
pub(super) const DRIVERS: &[(&str, &str)] = &[("metier-registry", "hub")];

const INSTALL_MS: f64 = 2_000.0;
const PATH_MS: f64 = 40.0;
const RESOLVE_MS: f64 = 200.0;
/// The maximum factor of verifying compared with reading and hashing: 80 % of its speed.
const VERIFY_RATIO: f64 = 1.25;

pub(super) fn measure(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    let arguments = [bench.metier.as_path(), bench.path()];
    let figures = Figures::of(Command::new(driver("hub")?).args(arguments))?;
    let (install, resolve) = (figures.value("install_ms")?, figures.value("resolve_ms")?);
    table.push(
        BenchRow::new("100 small skills from a registry, with scan")
            .ours(ms(install))
            .budget(install, INSTALL_MS, "ms"),
    );
    folders(&figures, table)?;
    table.push(
        BenchRow::new("resolve a graph of 1,000 skills")
            .ours(ms(resolve))
            .budget(resolve, RESOLVE_MS, "ms"),
    );
    Ok(())
}

/// Installing from folders, and verifying. The rows of other installers are there if they are on PATH.
fn folders(figures: &Figures, table: &mut BenchTable) -> Result<()> {
    let (all, one) = (figures.value("folder_ms")?, figures.value("path_ms")?);
    table.push(BenchRow::new("100 small skills from a folder, with scan").ours(ms(all)));
    for (name, figure) in [("skills", "skills_ms"), ("openskills", "openskills_ms")] {
        if let Ok(peer) = figures.value(figure) {
            let what = format!("the same with {name} (npm), without a scan");
            let ratio = format!("{:.1} of ours", peer / all);
            table.push(BenchRow::new(&what).ours(ms(peer)).value(ratio));
        }
    }
    table.push(
        BenchRow::new("install ./path of one skill")
            .ours(ms(one))
            .budget(one, PATH_MS, "ms"),
    );
    let (verify, hash) = (figures.value("verify_ms")?, figures.value("hash_ms")?);
    let ratio = verify / hash;
    table.push(
        BenchRow::new("verify 10,000 files; floor: read and hash them")
            .ours(ms(verify))
            .floor(ms(hash))
            .value(format!("{ratio:.2}"))
            .budget(ratio, VERIFY_RATIO, "of the floor"),
    );
    Ok(())
}
