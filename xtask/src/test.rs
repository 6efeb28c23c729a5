//! `cargo xtask test`: the one command that passes all tests, including whatever they need to be installed first.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::{Result, guests, workspace};

/// A program that some test runs.
struct Need {
    program: &'static str,
    /// The Debian package that has it.
    package: &'static str,
}

/// Mostly the tests bring their own fake programs. A test that needs a real one adds a line here.
const NEEDS: &[Need] = &[
    Need {
        program: "python3",
        package: "python3-venv",
    },
    // Libraries that mean harm are written in C.
    Need {
        program: "cc",
        package: "gcc",
    },
    Need {
        program: "npm",
        package: "npm",
    },
    Need {
        program: "kubectl",
        package: "kubernetes-client",
    },
    // The Tab key is pressed in the shells that it is for.
    Need {
        program: "zsh",
        package: "zsh",
    },
    Need {
        program: "fish",
        package: "fish",
    },
];

/// What the clients in Python need, with versions; and Deno, which comes from the same place.
const REQUIREMENTS: &str = "crates/metier/tests/python/requirements.txt";

/// Programs that come from npm: the packages, and the lock that says which bytes.
struct Packages {
    what: &'static str,
    /// Where `package.json` and `package-lock.json` are.
    from: &'static str,
    /// Where they go, beside the build output.
    to: &'static str,
    /// One of these is there afterwards, or there is none for this kind of machine.
    programs: &'static [&'static str],
}

const PACKAGES: &[Packages] = &[
    // For the skills in TypeScript. Node is one of the packages, for the machine's own may be too old to run them.
    Packages {
        what: "Node and its packages",
        from: "sdk/typescript/tests",
        to: "node",
        programs: &["node_modules/.bin/node"],
    },
    // For the coding pipeline.
    Packages {
        what: "OpenCode",
        from: "crates/metier/tests/opencode",
        to: "opencode",
        programs: &[
            "node_modules/opencode-linux-arm64/bin/opencode",
            "node_modules/opencode-linux-x64-baseline/bin/opencode",
        ],
    },
];

/// Installs what is missing, runs every test of the workspace, and passes cargo's code on. Arguments go to cargo.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    prepare()?;
    let status = workspace::cargo()
        .args(["test", "--workspace", "--locked"])
        .args(arguments)
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Installs what the tests need and this machine lacks.
pub(crate) fn prepare() -> Result<()> {
    for need in missing(NEEDS) {
        install(need)?;
    }
    let (root, target) = (workspace::root(), workspace::target()?);
    prepare_python(&root, &target)?;
    for packages in PACKAGES {
        prepare_packages(packages, &root, &target)?;
    }
    guests::prepare(&root, &target)?;
    Ok(())
}

fn missing(needs: &[Need]) -> Vec<&Need> {
    needs.iter().filter(|need| !on_path(need.program)).collect()
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_file(&folder.join(program)))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

fn install(need: &Need) -> Result<()> {
    let Need { program, package } = need;
    eprintln!("the tests need `{program}`: installing {package}");
    if apt(package) && on_path(program) {
        return Ok(());
    }
    Err(format!("`{program}` could not be installed; install it yourself (Debian: {package}) and run this again").into())
}

fn apt(package: &str) -> bool {
    let install = [
        "apt-get",
        "install",
        "--yes",
        "--no-install-recommends",
        package,
    ];
    let (first, rest) = if on_path("sudo") {
        ("sudo", &install[..])
    } else {
        (install[0], &install[1..])
    };
    let status = Command::new(first).args(rest).status();
    status.is_ok_and(|status| status.success())
}

/// A Python of our own beside the build output, where the tests look for it: nothing of the user's is touched.
fn prepare_python(root: &Path, target: &Path) -> Result<()> {
    let wanted = fs::read_to_string(root.join(REQUIREMENTS))?;
    let (folder, complete) = (target.join("python"), target.join("python/complete"));
    if fs::read_to_string(&complete).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    eprintln!(
        "the tests need Python packages: installing them into {}",
        folder.display()
    );
    make_venv(&folder)?;
    let installed = Command::new(folder.join("bin/python"))
        .args(PIP_INSTALL)
        .arg(root.join(REQUIREMENTS))
        .status()?;
    if !installed.success() {
        return Err(
            format!("pip can't install what {REQUIREMENTS} names; is there a network?").into(),
        );
    }
    Ok(fs::write(complete, wanted)?)
}

/// What Python is told to install a list of packages with; the list follows.
pub(crate) const PIP_INSTALL: [&str; 6] = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--requirement",
];

/// An empty Python in this folder, whatever was there before.
pub(crate) fn make_venv(folder: &Path) -> Result<()> {
    let make = || {
        let made = Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder)
            .status();
        made.is_ok_and(|status| status.success())
    };
    // Debian has Python without venv; the package brings it.
    let venv = &NEEDS[0];
    if make() || (apt(venv.package) && make()) {
        return Ok(());
    }
    Err(format!(
        "`python3 -m venv` fails; install {} and run this again",
        venv.package
    )
    .into())
}

/// Packages of our own in the same way. What they would run while they are installed isn't run.
fn prepare_packages(packages: &Packages, root: &Path, target: &Path) -> Result<()> {
    let Packages { what, from, .. } = packages;
    let read = |name: &str| fs::read_to_string(root.join(from).join(name));
    let (list, lock) = (read("package.json")?, read("package-lock.json")?);
    let folder = target.join(packages.to);
    let complete = folder.join("complete");
    let wanted = list.clone() + &lock;
    if fs::read_to_string(&complete).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    eprintln!(
        "the tests need {what}: installing it into {}",
        folder.display()
    );
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
    use super::{Need, missing};

    #[test]
    fn only_what_is_missing_is_installed() {
        let needs = [
            Need {
                program: "sh",
                package: "dash",
            },
            Need {
                program: "no-such-program-anywhere",
                package: "none",
            },
        ];
        let names: Vec<_> = missing(&needs).iter().map(|need| need.program).collect();
        assert_eq!(names, ["no-such-program-anywhere"]);
    }
}
