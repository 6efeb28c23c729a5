//! One process, measured by a small parent process.
//!
//! The peak memory that the kernel reports for children is a maximum over all of them, and a child starts with its parent's: a bench that
//! has just parsed a large document would pass on its own size. So each sample is taken by a fresh `xtask __measure`, which starts one
//! child, waits for it and prints its cost.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

use crate::Result;

/// The command.
#[derive(Debug)]
pub(super) struct MeasuredProgram {
    path: PathBuf,
    arguments: Vec<String>,
    env: Vec<(&'static str, OsString)>,
    accepted: Vec<i64>,
}

impl MeasuredProgram {
    pub(super) fn new(path: &Path, arguments: &[&str]) -> Self {
        Self {
            path: path.to_path_buf(),
            arguments: arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
            env: Vec::new(),
            accepted: vec![0],
        }
    }

    pub(super) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    pub(super) fn may_exit(mut self, code: i64) -> Self {
        self.accepted.push(code);
        self
    }
}

impl fmt::Display for MeasuredProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default();
        write!(
            f,
            "`{} {}`",
            name.to_string_lossy(),
            self.arguments.join(" ")
        )
    }
}

/// The cost of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct BenchSample {
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
    pub(super) peak_kib: u64,
}

/// Runs a program once, with its standard output going to `output`.
pub(super) fn sample(
    xtask: &Path,
    program: &MeasuredProgram,
    output: &Path,
) -> Result<BenchSample> {
    let measured = Command::new(xtask)
        .arg("__measure")
        .arg(output)
        .arg(&program.path)
        .args(&program.arguments)
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .output()?;
    if !measured.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&measured.stderr)).into());
    }
    let cost: Value = serde_json::from_slice(&measured.stdout)?;
    let code = cost["code"].as_i64();
    if !code.is_some_and(|code| program.accepted.contains(&code)) {
        let talk = String::from_utf8_lossy(&fs::read(talk(output))?).into_owned();
        let code = code.map_or("a signal".to_owned(), |code| code.to_string());
        return Err(format!("{program} ended with {code}: {talk}").into());
    }
    let number = |key: &str| cost[key].as_u64().ok_or(format!("no `{key}` in {cost}"));
    Ok(BenchSample {
        cpu: Duration::from_micros(number("cpu_us")?),
        wall: Duration::from_micros(number("wall_us")?),
        peak_kib: number("peak_kib")?,
    })
}

/// `__measure OUTPUT PROGRAM ARGUMENTS…`: runs the program as the only child and prints its cost as JSON.
pub(crate) fn child(arguments: &[String]) -> Result<ExitCode> {
    let [output, program, arguments @ ..] = arguments else {
        return Err("__measure needs OUTPUT and PROGRAM".into());
    };
    let output = Path::new(output);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(File::create(output)?)
        .stderr(File::create(talk(output))?);
    let start = Instant::now();
    let status = command.status()?;
    let wall = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time() + usage.system_time();
    let cost = json!({
        "code": status.code(),
        "cpu_us": cpu.num_microseconds(),
        "wall_us": u64::try_from(wall.as_micros())?,
        "peak_kib": usage.max_rss() / RSS_UNIT,
    });
    println!("{cost}");
    Ok(ExitCode::SUCCESS)
}

/// Linux counts KiB, macOS bytes.
const RSS_UNIT: i64 = if cfg!(target_os = "macos") { 1024 } else { 1 };

/// The file for the program's standard error.
fn talk(output: &Path) -> PathBuf {
    output.with_extension("stderr")
}

/// The median; the noise of a shared machine can only add time, and a mean would follow it.
pub(super) fn median<T: Copy + Ord>(
    samples: &[BenchSample],
    value: impl Fn(&BenchSample) -> T,
) -> T {
    let mut values: Vec<T> = samples.iter().map(value).collect();
    values.sort_unstable();
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::{BenchSample, MeasuredProgram, median};
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn the_median_is_not_moved_by_one_outlier() {
        let sample = |ms| BenchSample {
            cpu: Duration::from_millis(ms),
            wall: Duration::ZERO,
            peak_kib: ms,
        };
        let samples = [sample(3), sample(900), sample(1), sample(2), sample(4)];
        assert_eq!(
            median(&samples, |sample| sample.cpu),
            Duration::from_millis(3)
        );
        assert_eq!(median(&samples, |sample| sample.peak_kib), 3);
    }

    #[test]
    fn programs_are_shown_by_name() {
        let program = MeasuredProgram::new(Path::new("/x/metier"), &["list", "--json"]);
        assert_eq!(program.to_string(), "`metier list --json`");
    }
}
