//! Third-party programs and ours, installed and built.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::test::{self, Packages};
use crate::{Result, workspace};

/// The folder of the package lists and the scripts.
const HERE: &str = "xtask/src/judge";

const NPM: Packages = Packages {
    what: "the judges that come from npm",
    from: HERE,
    to: "judge",
    programs: &["node_modules/.bin/node"],
};

/// The paths of the installed judges and of our programs.
pub(crate) struct JudgeTools {
    pub(crate) root: PathBuf,
    /// The packages that npm installed.
    packages: PathBuf,
    pub(crate) python: PathBuf,
    /// The folder of the examples.
    examples: PathBuf,
    pub(crate) metier: PathBuf,
}

impl JudgeTools {
    /// Installs what is missing, builds the program, unless there is one, and these examples.
    pub(crate) fn prepare(metier: Option<&Path>, examples: &[&str]) -> Result<Self> {
        let (root, target) = (workspace::root(), workspace::target()?);
        test::prepare_packages(&NPM, &root, &target)?;
        let python = target.join("judge/python");
        test::prepare_python(&root.join(HERE).join("requirements.txt"), &python)?;
        build(metier.is_none(), examples)?;
        let metier = match metier {
            Some(file) => file.canonicalize()?,
            None => target.join("debug/metier"),
        };
        Ok(Self {
            root,
            packages: target.join("judge/node_modules"),
            python: python.join("bin/python"),
            examples: target.join("debug/examples"),
            metier,
        })
    }

    /// A program that npm linked.
    pub(crate) fn npm(&self, name: &str) -> PathBuf {
        self.packages.join(".bin").join(name)
    }

    /// A file of a package.
    pub(crate) fn module(&self, path: &str) -> PathBuf {
        self.packages.join(path)
    }

    /// OpenCode comes as one package for each kind of machine.
    pub(crate) fn opencode(&self) -> Result<PathBuf> {
        let kinds = ["opencode-linux-x64-baseline", "opencode-linux-arm64"];
        let mut files = kinds
            .map(|kind| self.packages.join(kind).join("bin/opencode"))
            .into_iter();
        let found = files.find(|file| file.is_file());
        Ok(found.ok_or("npm installed no OpenCode for this kind of machine")?)
    }

    pub(crate) fn example(&self, name: &str) -> PathBuf {
        self.examples.join(name)
    }

    /// A script of this folder.
    pub(crate) fn script(&self, name: &str) -> PathBuf {
        self.root.join(HERE).join(name)
    }

    /// `PATH` for third-party programs: their Node, and what every system has.
    pub(crate) fn path(&self) -> Result<OsString> {
        let folders = [&self.packages.join(".bin"), Path::new("/usr/local/bin")];
        let folders = folders
            .into_iter()
            .chain(["/usr/bin", "/bin"].map(Path::new));
        Ok(std::env::join_paths(folders)?)
    }
}

/// Builds our programs with the features of the tests, so that nothing is compiled twice.
fn build(is_metier: bool, examples: &[&str]) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked", "--workspace"]);
    if is_metier {
        cargo.arg("--bins");
    }
    for example in examples {
        cargo.args(["--example", example]);
    }
    if !is_metier && examples.is_empty() {
        return Ok(());
    }
    match cargo.status()?.success() {
        true => Ok(()),
        false => Err("the programs can't be built".into()),
    }
}
