//! `cargo xtask test`: the one command that passes all tests, including whatever they need to be installed first.

use std::ffi::OsString;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};

use crate::{Result, guests, workspace};

#[path = "../../crates/testkit/src/programs.rs"]
mod programs;

use programs::{PROGRAMS, Program};

/// Names the file that collects what the tests could not run; where it is set, a missing program is a failure (`crates/testkit/src/needs.rs`).
pub(crate) const NOT_RUN: &str = "METIER_TEST_NOT_RUN";

/// What the clients in Python need, with versions; and Deno, which comes from the same place.
const REQUIREMENTS: &str = "crates/cli/tests/python/requirements.txt";

/// Programs that come from npm: the packages, and the lock with their digests.
pub(crate) struct Packages {
    pub(crate) what: &'static str,
    /// Where `package.json` and `package-lock.json` are.
    pub(crate) from: &'static str,
    /// Where they go, next to the build output.
    pub(crate) to: &'static str,
    /// One of these exists afterwards, or there is none for this kind of machine.
    pub(crate) programs: &'static [&'static str],
}

const PACKAGES: &[Packages] = &[
    // For the skills in TypeScript. Node is one of the packages, because the machine's own may be too old to run them.
    Packages {
        what: "Node and its packages",
        from: "sdk/typescript/tests",
        to: "node",
        programs: &["node_modules/.bin/node"],
    },
    // For the coding pipeline.
    Packages {
        what: "OpenCode",
        from: "crates/cli/tests/opencode",
        to: "opencode",
        programs: &[
            "node_modules/opencode-linux-arm64/bin/opencode",
            "node_modules/opencode-linux-x64-baseline/bin/opencode",
        ],
    },
];

/// Installs what is missing, runs every test of the workspace, and returns cargo's exit code. Arguments go to cargo.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    // Downloads and compilers don't wait for each other: the tests are built while their tools are installed.
    let mut building = match arguments {
        [] => Some(tests().arg("--no-run").spawn()?),
        _ => None,
    };
    let prepared = prepare();
    let built = building.as_mut().map(Child::wait).transpose()?;
    prepared?;
    if built.is_some_and(|built| !built.success()) {
        return Ok(ExitCode::FAILURE);
    }
    let list = not_run_list()?;
    let status = tests()
        .args(arguments)
        .env(NOT_RUN, &list)
        .env(THREADS, threads())
        .status()?;
    if let Ok(lines) = fs::read_to_string(&list) {
        eprint!("\nThis machine can't run all tests:\n{lines}");
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// All tests of the workspace.
fn tests() -> Command {
    let mut cargo = workspace::cargo();
    cargo.args(["test", "--workspace", "--locked"]);
    cargo
}

/// The number of tests of a binary that run in parallel.
const THREADS: &str = "RUST_TEST_THREADS";

/// A third of the time of the end-to-end tests is waiting for children, servers and time limits: more of them run in parallel than there
/// are cores.
fn threads() -> OsString {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::env::var_os(THREADS).unwrap_or_else(|| (cores * 2).to_string().into())
}

/// The file for the list of tests that could not run; an old one is removed.
pub(crate) fn not_run_list() -> Result<PathBuf> {
    let list = workspace::target()?.join("not-run.txt");
    match fs::remove_file(&list) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(list),
    }
}

/// Installs what the tests need and this machine lacks.
pub(crate) fn prepare() -> Result<()> {
    for program in missing(PROGRAMS) {
        install(program)?;
    }
    let (root, target) = (workspace::root(), workspace::target()?);
    prepare_python(&root.join(REQUIREMENTS), &target.join("python"))?;
    for packages in PACKAGES {
        prepare_packages(packages, &root, &target)?;
    }
    guests::prepare(&root, &target)?;
    Ok(())
}

/// Installs these of the programs, where they are missing.
pub(crate) fn prepare_programs(names: &[&str]) -> Result<()> {
    let wanted = missing(PROGRAMS).into_iter();
    for program in wanted.filter(|program| names.contains(&program.name)) {
        install(program)?;
    }
    Ok(())
}

fn missing(programs: &[Program]) -> Vec<&Program> {
    let programs = programs.iter();
    programs.filter(|program| !on_path(program.name)).collect()
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_file(&folder.join(program)))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

fn install(program: &Program) -> Result<()> {
    let Program { name, package } = program;
    eprintln!("the tests need `{name}`: installing {package}");
    if apt(package) && on_path(name) {
        return Ok(());
    }
    Err(format!("`{name}` could not be installed; install it yourself (Debian: {package}) and run this again").into())
}

fn apt(package: &str) -> bool {
    let install = || apt_get(&["install", "--yes", "--no-install-recommends", package]);
    // A machine that never installed anything has no lists of packages, or old ones.
    install() || (apt_get(&["update", "--quiet"]) && install())
}

fn apt_get(arguments: &[&str]) -> bool {
    let program: &[&str] = match on_path("sudo") {
        true => &["sudo", "apt-get"],
        false => &["apt-get"],
    };
    let mut words = program.iter().chain(arguments);
    let Some(first) = words.next() else {
        return false;
    };
    let status = Command::new(first).args(words).status();
    status.is_ok_and(|status| status.success())
}

/// Our own Python next to the build output, where the tests look for it: nothing of the user's is touched.
pub(crate) fn prepare_python(requirements: &Path, folder: &Path) -> Result<()> {
    let wanted = fs::read_to_string(requirements)?;
    let complete = folder.join("complete");
    if fs::read_to_string(&complete).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    eprintln!("installing Python packages into {}", folder.display());
    make_venv(folder)?;
    let installed = Command::new(folder.join("bin/python"))
        .args(PIP_INSTALL)
        .arg(requirements)
        .status()?;
    if !installed.success() {
        let list = requirements.display();
        return Err(format!("pip can't install what {list} names; is there a network?").into());
    }
    Ok(fs::write(complete, wanted)?)
}

/// The arguments of Python to install a list of packages; the list follows.
pub(crate) const PIP_INSTALL: [&str; 6] = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--requirement",
];

/// An empty Python in this folder, replacing any earlier one.
pub(crate) fn make_venv(folder: &Path) -> Result<()> {
    let make = || {
        let made = Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder)
            .status();
        made.is_ok_and(|status| status.success())
    };
    // Debian has Python without venv; the package brings it.
    const PACKAGE: &str = "python3-venv";
    if make() || (apt(PACKAGE) && make()) {
        return Ok(());
    }
    Err(format!("`python3 -m venv` fails; install {PACKAGE} and run this again").into())
}

/// Installs npm packages in the same way. Their install scripts are not run.
pub(crate) fn prepare_packages(packages: &Packages, root: &Path, target: &Path) -> Result<()> {
    let Packages { what, from, .. } = packages;
    let read = |name: &str| fs::read_to_string(root.join(from).join(name));
    let (list, lock) = (read("package.json")?, read("package-lock.json")?);
    let folder = target.join(packages.to);
    let complete = folder.join("complete");
    let wanted = list.clone() + &lock;
    if fs::read_to_string(&complete).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    eprintln!("installing {what} into {}", folder.display());
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), list)?;
    fs::write(folder.join("package-lock.json"), lock)?;
    let installed = Command::new("npm")
        .args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ])
        .current_dir(&folder)
        .status()?;
    if !installed.success() {
        return Err(format!(
            "npm can't install what {from}/package.json names; is there a network?"
        )
        .into());
    }
    let mut programs = packages.programs.iter();
    if !programs.any(|program| folder.join(program).exists()) {
        return Err(format!(
            "{from}/package.json names no {what} for this kind of machine; add one"
        )
        .into());
    }
    Ok(fs::write(complete, wanted)?)
}

#[cfg(test)]
mod tests {
    use super::{Program, missing};

    #[test]
    fn only_what_is_missing_is_installed() {
        let programs = [("sh", "dash"), ("no-such-program-anywhere", "none")];
        let programs = programs.map(|(name, package)| Program { name, package });
        let names: Vec<_> = missing(&programs).iter().map(|one| one.name).collect();
        assert_eq!(names, ["no-such-program-anywhere"]);
    }
}
