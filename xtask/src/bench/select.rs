//! `bench select`: the cost of the search index, compared with tantivy and SkillPort (PyPI), over the same real skills in one run.
//!
//! The programs are in `xtask/search-bench`, a package outside the workspace, so that no other build includes tantivy. Each engine is a
//! separate process. Generated skills have too few different words for this, so a folder of real ones is required.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::Figures;
use super::host::ms;
use super::options::BenchOptions;
use super::table::{BenchRow, BenchTable};
use crate::{Result, test, workspace};

/// From this size on, SkillPort takes too long and uses too much memory.
const SKILLPORT_MOST: usize = 10_000;

const BUILD_RATIO: f64 = 4.0;
const OPEN_MS: f64 = 10.0;
const DISK_MB: f64 = 60.0;
const PEAK_MB: f64 = 100.0;
/// By size: the time of a query.
const QUERY_MS: &[(usize, f64)] = &[(10_000, 1.0), (60_000, 8.0)];

/// Builds the programs and measures all sizes.
pub(super) fn run(options: &BenchOptions) -> Result<ExitCode> {
    let skills = options
        .skills
        .as_ref()
        .ok_or("name a folder of real skills: `--skills DIR`")?;
    let package = workspace::root().join("xtask/search-bench");
    let built = workspace::cargo()
        .args([
            "build",
            "--release",
            "--bin",
            "speed",
            "--features",
            "tantivy",
        ])
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .status()?;
    if !built.success() {
        return Err("xtask/search-bench does not build".into());
    }
    let python = workspace::target()?.join("skillport");
    test::prepare_python(&package.join("requirements.txt"), &python)?;
    let folder = tempfile::Builder::new().prefix("metier-bench-").tempdir()?;
    let mut table = BenchTable::default();
    for &size in &options.sizes {
        eprintln!("indexing {size} skills");
        let run = |engine: &str, program: &mut Command| -> Result<Figures> {
            let own = folder.path().join(format!("{engine}-{size}"));
            fs::create_dir_all(&own)?;
            let figures = Figures::of(program.arg(skills).arg(size.to_string()).arg(&own));
            fs::remove_dir_all(own)?;
            figures
        };
        let speed = package.join("target/release/speed");
        let ours = run("metier", Command::new(&speed).arg("metier"))?;
        let peer = run("tantivy", Command::new(&speed).arg("tantivy"))?;
        let found = ours.value("skills")?;
        if found < size as f64 {
            return Err(format!("{} has only {found} skills", skills.display()).into());
        }
        rows(&mut table, size, &ours, &peer)?;
        if size <= SKILLPORT_MOST {
            let driver = package.join("skillport_speed.py");
            let mut program = Command::new(python.join("bin/python"));
            program.arg(driver).env("HOME", folder.path());
            skillport(&mut table, size, &run("skillport", &mut program)?)?;
        }
    }
    print!(
        "{}",
        if options.markdown {
            table.markdown()
        } else {
            table.text()
        }
    );
    Ok(ExitCode::SUCCESS)
}

/// Our index, with tantivy as the floor.
fn rows(table: &mut BenchTable, size: usize, ours: &Figures, peer: &Figures) -> Result<()> {
    let read = ours.value("read_ms")?;
    for (what, figure) in [
        (
            "build, wall on two threads / reading the bodies; tantivy",
            "build_ms",
        ),
        ("build, CPU / reading the bodies; tantivy", "build_cpu_ms"),
    ] {
        let (own, other) = (ours.value(figure)? / read, peer.value(figure)? / read);
        let row = BenchRow::new(what)
            .size(size)
            .ours(format!("{own:.1} × {}", ms(read)))
            .floor(format!("{other:.1} ×"))
            .value(format!("{:.2}", own / other));
        table.push(match figure {
            "build_ms" => row.budget(own, BUILD_RATIO, "×"),
            _ => row,
        });
    }
    for kind in ["short", "long"] {
        let figure = format!("{kind}_p50_ms");
        let (own, other) = (ours.value(&figure)?, peer.value(&figure)?);
        let row = BenchRow::new(&format!("{kind} query, p50; tantivy"))
            .size(size)
            .ours(ms(own))
            .floor(ms(other))
            .value(format!("{:.2}", own / other));
        let limit = QUERY_MS.iter().find(|(at, _)| *at == size);
        table.push(match limit {
            Some((_, limit)) => row.budget(own, *limit, "ms"),
            None => row,
        });
    }
    let (own, other) = (ours.value("open_ms")?, peer.value("open_ms")?);
    table.push(
        BenchRow::new("open; tantivy")
            .size(size)
            .ours(ms(own))
            .floor(ms(other))
            .budget(own, OPEN_MS, "ms"),
    );
    for (what, figure, limit) in [
        ("on disk; tantivy", "disk_bytes", DISK_MB),
        ("peak memory while building; tantivy", "peak_bytes", PEAK_MB),
        (
            "peak memory with searching; tantivy",
            "peak_searching_bytes",
            PEAK_MB,
        ),
    ] {
        let (own, other) = (ours.value(figure)? / 1e6, peer.value(figure)? / 1e6);
        table.push(
            BenchRow::new(what)
                .size(size)
                .ours(format!("{own:.1} MB"))
                .floor(format!("{other:.1} MB"))
                .value(format!("{:.2}", own / other))
                .budget(own, limit, "MB"),
        );
    }
    Ok(())
}

/// The cost of SkillPort for those of the same skills that it can store.
fn skillport(table: &mut BenchTable, size: usize, figures: &Figures) -> Result<()> {
    let stored = figures.value("skills")?;
    let what =
        |what: &str| BenchRow::new(&format!("SkillPort ({stored} of them): {what}")).size(size);
    table.push(what("build, wall").ours(ms(figures.value("build_ms")?)));
    table.push(what("short query, p50").ours(ms(figures.value("short_p50_ms")?)));
    for (part, figure) in [("on disk", "disk_bytes"), ("peak memory", "peak_bytes")] {
        let size = figures.value(figure)? / 1e6;
        table.push(what(part).ours(format!("{size:.1} MB")));
    }
    Ok(())
}

/// Whether a folder can be measured, checked before minutes of building.
pub(super) fn check(skills: Option<&Path>) -> Result<()> {
    match skills {
        Some(folder) if folder.is_dir() => Ok(()),
        Some(folder) => Err(format!("{} is not a folder", folder.display()).into()),
        None => Err("name a folder of real skills: `bench select --skills DIR`".into()),
    }
}
