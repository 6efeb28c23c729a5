//! `cargo xtask bench`: the cost of commands, compared with a program that does only the unavoidable work.
//!
//! Absolute times on a shared machine mean little; a ratio of two programs that ran alternately in the same minute means
//! a lot. So every row has a floor, a real program ([`floor`]) that touches the same files and writes a document of
//! the same size. The programs take turns (A B C A B C …), each round is one process each, and a row is the median of the
//! rounds. CPU is user + system time of the process and the children it reaped; all write to a file.
//!
//! A missed budget is a line in the table, not a failure: only a program that fails or lists too few skills is an error.
//!
//! `start` builds `metier` and this program with the profile `dist`, which is what ships, and runs the latter, which does the rest: the floors
//! and the measuring must not be debug builds.

mod agent;
mod backends;
pub(crate) mod corpus;
pub(crate) mod floor;
mod handshake;
mod host;
mod hub;
pub(crate) mod measure;
mod options;
mod random;
mod rows;
mod scripts;
mod select;
mod serve;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use crate::{Result, workspace};
use handshake::Era;
use measure::{BenchSample, MeasuredProgram, sample};
use options::{BenchOptions, BenchPart};
use rows::Costs;
use table::BenchTable;

/// The profile that is measured.
const PROFILE: &str = "dist";

/// Builds, then starts the optimised build of this program.
pub(crate) fn start(arguments: &[String]) -> Result<ExitCode> {
    let options = BenchOptions::parse(arguments)?; // wrong usage is noticed before minutes of building
    if options.part == BenchPart::Select {
        select::check(options.skills.as_deref())?;
        return select::run(&options);
    }
    let drivers: &[(&str, &str)] = match options.part {
        BenchPart::Render => &[("metier-runtime", "activation")],
        BenchPart::Host => backends::DRIVERS,
        BenchPart::Agent => agent::DRIVERS,
        BenchPart::Hub => hub::DRIVERS,
        BenchPart::Serve => serve::DRIVERS,
        BenchPart::Catalog | BenchPart::Scan | BenchPart::Mcp | BenchPart::Select => &[],
    };
    // At once: packages that are built one by one agree on fewer features, and rebuild half of the dependencies.
    let mut build = workspace::cargo();
    build.args([
        "build",
        "--profile",
        PROFILE,
        "--bins",
        "--package",
        "xtask",
    ]);
    if options.metier.is_none() {
        build.args(["--package", "metier-cli"]);
    }
    for (package, driver) in drivers {
        build.args(["--package", package, "--bench", driver]);
    }
    let built = built_folder()?;
    build_drivers(&mut build, &built)?;
    let mut command = Command::new(built.join("xtask"));
    command.arg("__bench").args(arguments);
    if options.metier.is_none() {
        command.arg("--metier").arg(built.join("metier"));
    }
    let status = command.status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn built_folder() -> Result<PathBuf> {
    Ok(workspace::target()?.join(PROFILE))
}

/// Measures everything and prints the table.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = BenchOptions::parse(arguments)?;
    let bench = Bench::new(&options)?;
    let mut table = BenchTable::default();
    match options.part {
        BenchPart::Catalog => catalogs(&bench, &options, &mut table)?,
        BenchPart::Scan => scans(&bench, &options, &mut table)?,
        BenchPart::Render => renders(&bench, &mut table)?,
        BenchPart::Host => {
            host::measure(&bench, &options, &mut table)?;
            backends::measure(&bench, &mut table)?;
        }
        BenchPart::Mcp => handshakes(&bench, &options, &mut table)?,
        BenchPart::Agent => agent::measure(&bench, &options, &mut table)?,
        BenchPart::Hub => hub::measure(&bench, &mut table)?,
        BenchPart::Serve => serve::measure(&bench, &options, &mut table)?,
        BenchPart::Select => return select::run(&options),
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

/// Builds, and links each driver to a name without a hash: `dist/drivers/NAME`.
fn build_drivers(build: &mut Command, release: &Path) -> Result<()> {
    build.arg("--message-format=json-render-diagnostics");
    let built = build.stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        return Err("the programs to measure do not build".into());
    }
    let folder = release.join("drivers");
    fs::create_dir_all(&folder)?;
    for line in built.stdout.split(|byte| *byte == b'\n') {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        let target = &message["target"];
        if let (Some(program), Some(name)) =
            (message["executable"].as_str(), target["name"].as_str())
            && target["kind"][0] == "bench"
        {
            fs::copy(program, folder.join(name))?;
        }
    }
    Ok(())
}

/// The cost of permissions: measured inside one process by a driver of the runtime, which prints one number per line.
fn renders(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    let arguments = [bench.metier.as_path(), bench.path()];
    let figures = Figures::of(Command::new(driver("activation")?).args(arguments))?;
    let value = |name: &str| figures.value(name);
    rows::render(table, value)
}

/// A program that measures something inside one process: a bench target of another package.
fn driver(name: &str) -> Result<PathBuf> {
    Ok(built_folder()?.join("drivers").join(name))
}

/// The output of a program: a name and a number per line.
struct Figures(String);

impl Figures {
    fn of(command: &mut Command) -> Result<Self> {
        let output = command
            .output()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(Self(String::from_utf8(output.stdout)?))
    }

    fn value(&self, name: &str) -> Result<f64> {
        let mut words = self.0.lines().filter_map(|line| line.split_once(' '));
        let found = words.find(|(word, _)| *word == name);
        let (_, number) = found.ok_or(format!("{name} was not measured"))?;
        Ok(number.trim().parse()?)
    }
}

/// The cost of scanning: all skills of a corpus, and one alone.
fn scans(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    for &size in &options.sizes {
        eprintln!("scanning {size} skills");
        let root = bench.corpus_with_programs(size)?;
        let one = bench.one_skill()?;
        let (all, small) = (root.to_string_lossy(), one.to_string_lossy());
        // The scanner can warn about made-up prose, hence the 1.
        let scan = |folder: &str| {
            bench
                .metier(&["--root", folder, "scan", folder, "--json", "--no-index"])
                .may_exit(1)
        };
        bench.warm_up(&scan(&all), size)?;
        bench.warm_up(&scan(&small), 1)?;
        // A list with the verdicts of all skills, next to one that knows none: two homes.
        let list = || bench.metier(&["--root", &all, "list", "--json"]);
        let knows =
            |program: MeasuredProgram| program.env("METIER_HOME", bench.path().join("known"));
        let first = bench.metier(&["--root", &all, "list", "--json", "--scan"]);
        bench.warm_up(&list(), size)?;
        bench.warm_up(&knows(list()), size)?; // writes the index, which then holds the digests
        bench.warm_up(&knows(first), size)?;
        let rounds = if options.quick { 3 } else { 11 };
        let lists = bench.alternate(&[knows(list()), list()], rounds)?;
        let samples = bench.alternate(&[scan(&all), scan(&small)], rounds)?;
        rows::scan(table, size, &samples);
        rows::verdicts(table, size, &lists[0], &lists[1]);
        bench.drop_corpus(&root)?;
    }
    Ok(())
}

/// The time that an agent waits for the tools, with a warm index.
fn handshakes(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    for &size in &options.sizes {
        eprintln!("starting a server of {size} skills");
        let root = bench.corpus(size)?;
        let home = bench.path().join("home");
        let list = bench.metier(&["--root", &root.to_string_lossy(), "list", "--json"]);
        bench.warm_up(&list, size)?; // writes the index
        let (mut first, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds(size) {
            for (era, times) in [(Era::Handshake, &mut first), (Era::Alone, &mut alone)] {
                times.push(handshake::time(
                    &bench.metier,
                    home.as_os_str(),
                    &root,
                    era,
                )?);
            }
        }
        rows::handshake(table, size, first, alone);
        let most = if options.quick { 50 } else { 400 };
        let times = handshake::activations(&bench.metier, home.as_os_str(), &root, most)?;
        rows::activation(table, size, times);
        bench.drop_corpus(&root)?;
    }
    Ok(())
}

fn catalogs(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    rows::program(table, &bench.start_up(options)?, bench.size_of_metier()?);
    let mut costs = Vec::new();
    for &size in &options.sizes {
        eprintln!("measuring {size} skills");
        let root = bench.corpus(size)?;
        if size <= 100 {
            let samples = bench.alternate(&[bench.list_text(&root)], options.rounds(size))?;
            rows::small(table, size, &samples[0]);
        }
        let cost = bench.catalog(&root, size, options.rounds(size))?;
        rows::catalog(table, &cost);
        costs.push(cost);
        bench.drop_corpus(&root)?;
    }
    rows::growth(table, &costs);
    Ok(())
}

/// The programs and the folder in which they are measured.
struct Bench {
    metier: PathBuf,
    xtask: PathBuf,
    /// Removed at the end, unless `--keep` was given.
    folder: BenchFolder,
}

enum BenchFolder {
    Temporary(tempfile::TempDir),
    Kept(PathBuf),
}

impl Bench {
    fn new(options: &BenchOptions) -> Result<Self> {
        let folder = match &options.keep {
            Some(path) => {
                let path = path.join("metier-bench");
                fs::create_dir_all(&path)?;
                BenchFolder::Kept(fs::canonicalize(path)?)
            }
            None => {
                BenchFolder::Temporary(tempfile::Builder::new().prefix("metier-bench-").tempdir()?)
            }
        };
        let metier = options
            .metier
            .as_ref()
            .ok_or("`--metier FILE` is missing")?;
        let metier =
            fs::canonicalize(metier).map_err(|error| format!("{}: {error}", metier.display()))?;
        Ok(Self {
            metier,
            xtask: std::env::current_exe()?,
            folder,
        })
    }

    fn path(&self) -> &Path {
        match &self.folder {
            BenchFolder::Temporary(folder) => folder.path(),
            BenchFolder::Kept(path) => path,
        }
    }

    /// Writes the skills, or reuses those of an earlier run in a kept folder.
    fn corpus(&self, size: usize) -> Result<PathBuf> {
        let root = self.path().join(format!("skills-{size}"));
        let complete = self.path().join(format!("skills-{size}.complete"));
        if !complete.exists() {
            if root.exists() {
                fs::remove_dir_all(&root)?;
            }
            corpus::write(&root, size)?;
            // Writing back hundreds of megabytes next to the first rounds would be measured too.
            let _ = Command::new("sync").status();
            // An index trusts no file that changed in the last two seconds: it is measured in its normal state.
            std::thread::sleep(std::time::Duration::from_millis(2_500));
            fs::write(complete, corpus::VERSION)?;
        } else if fs::read_to_string(&complete)? != corpus::VERSION {
            let message = format!(
                "{} holds skills of another version; remove them",
                self.path().display()
            );
            return Err(message.into());
        }
        Ok(root)
    }

    /// [`Self::corpus`] with programs in some of the skills.
    fn corpus_with_programs(&self, size: usize) -> Result<PathBuf> {
        let root = self.path().join(format!("programs-{size}"));
        let complete = self.path().join(format!("programs-{size}.complete"));
        let version = format!("{}+{}", corpus::VERSION, scripts::VERSION);
        if fs::read_to_string(&complete).ok().as_ref() != Some(&version) {
            if root.exists() {
                fs::remove_dir_all(&root)?;
            }
            corpus::write(&root, size)?;
            scripts::write(&root)?;
            fs::write(complete, version)?;
        }
        Ok(root)
    }

    /// A folder with one small skill.
    fn one_skill(&self) -> Result<PathBuf> {
        let root = self.path().join("one");
        let folder = root.join("greet");
        fs::create_dir_all(&folder)?;
        let text = "---\nname: greet\ndescription: Greets people by name.\n---\n\nSay hello, then ask what to do.\n";
        fs::write(folder.join("SKILL.md"), text)?;
        Ok(root)
    }

    /// Large corpora are not kept longer than needed.
    fn drop_corpus(&self, root: &Path) -> Result<()> {
        match self.folder {
            BenchFolder::Temporary(_) => Ok(fs::remove_dir_all(root)?),
            BenchFolder::Kept(_) => Ok(()),
        }
    }

    /// `metier` with its home in our folder, so that the user's skills and index have no influence.
    fn metier(&self, arguments: &[&str]) -> MeasuredProgram {
        MeasuredProgram::new(&self.metier, arguments).env("METIER_HOME", self.path().join("home"))
    }

    fn list_text(&self, root: &Path) -> MeasuredProgram {
        self.metier(&["--root", &root.to_string_lossy(), "list"])
    }

    fn floor(&self, kind: &str, root: &Path, bytes: u64) -> MeasuredProgram {
        MeasuredProgram::new(
            &self.xtask,
            &[kind, &root.to_string_lossy(), &bytes.to_string()],
        )
    }

    fn size_of_metier(&self) -> Result<u64> {
        Ok(fs::metadata(&self.metier)?.len())
    }

    /// A small program of these lines.
    fn compile(&self, name: &str, lines: &str) -> Result<PathBuf> {
        let (source, program) = (
            self.path().join(format!("{name}.rs")),
            self.path().join(name),
        );
        fs::write(&source, lines)?;
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let status = Command::new(rustc)
            .args(["-O", "-C", "strip=symbols"])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .status()?;
        if !status.success() {
            return Err(format!("the program `{name}` does not compile").into());
        }
        Ok(program)
    }

    /// [`metier --version`, a program that does nothing].
    fn start_up(&self, options: &BenchOptions) -> Result<Vec<Vec<BenchSample>>> {
        let empty = self.compile("empty", "fn main() {}\n")?;
        let rounds = if options.quick { 10 } else { 40 };
        self.alternate(
            &[
                self.metier(&["--version"]),
                MeasuredProgram::new(&empty, &[]),
            ],
            rounds,
        )
    }

    /// The commands that read a whole catalog, and their floors.
    fn catalog(&self, root: &Path, size: usize, rounds: usize) -> Result<Costs> {
        let folder = root.to_string_lossy();
        let cold = self.metier(&["--root", &folder, "list", "--json", "--no-index"]);
        let warm = self.metier(&["--root", &folder, "list", "--json"]);
        // Some of the skills are broken on purpose, hence the 1.
        let validate = self
            .metier(&["validate", "--strict", &folder, "--json"])
            .may_exit(1);
        let cold_bytes = self.warm_up(&cold, size)?;
        self.warm_up(&warm, size)?; // writes the index
        let warm_bytes = self.warm_up(&warm, size)?;
        let validate_bytes = self.warm_up(&validate, size)?;
        let programs = [
            cold,
            self.floor("__floor-read", root, cold_bytes),
            warm,
            self.floor("__floor-stat", root, warm_bytes),
            validate,
            self.floor("__floor-read", root, validate_bytes),
        ];
        let samples = self.alternate(&programs, rounds)?;
        Ok(Costs { size, samples })
    }

    /// Runs once, checks that every skill is in the document, and returns its size.
    fn warm_up(&self, program: &MeasuredProgram, size: usize) -> Result<u64> {
        let output = self.path().join("stdout");
        sample(&self.xtask, program, &output)?;
        let document: Value = serde_json::from_slice(&fs::read(&output)?)
            .map_err(|error| format!("{program} did not print JSON: {error}"))?;
        let listed = document["skills"].as_array().map_or(0, Vec::len);
        if listed != size {
            return Err(format!("{program} lists {listed} of {size} skills").into());
        }
        Ok(fs::metadata(&output)?.len())
    }

    /// A B C A B C …: a disturbance of the machine affects all of them.
    fn alternate(
        &self,
        programs: &[MeasuredProgram],
        rounds: usize,
    ) -> Result<Vec<Vec<BenchSample>>> {
        let output = self.path().join("stdout");
        let mut samples = vec![Vec::with_capacity(rounds); programs.len()];
        for _ in 0..rounds {
            for (program, samples) in programs.iter().zip(&mut samples) {
                samples.push(sample(&self.xtask, program, &output)?);
            }
        }
        Ok(samples)
    }
}
