//! Everything that a maintainer of skills checks before a change is published: validation, the scan, and the skills' own tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use metier_catalog::{CatalogEntry, Root};
use metier_model::{Diagnostic, Source, Strictness};
use metier_runtime::{Inventory, trigger_queries::TriggerQueries};
use metier_scan::Verdict;

use crate::{
    Error, Skills, TestResult, Workspace,
    evaluation::EvalReport,
    scans::{ScanOptions, ScannedSkill},
    testing,
    text::one_line,
};

/// The files that make a folder a skill.
const MANIFESTS: &[&str] = &["SKILL.md", "SKILL.yaml"];

/// Options of [`Workspace::check`]. By default every skill is checked, leniently.
///
/// An example is at [`Workspace::check`].
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Whether skills must conform to the Agent Skills specification exactly.
    pub strict: bool,
    /// Only skills with files that differ from this git revision.
    pub since: Option<String>,
    /// The part of the trigger queries that must find their skill first; without a number they are only reported.
    pub min_hit_at_1: Option<f64>,
}

/// The result of [`Workspace::check`], which has an example; that of [`SkillCheck::is_passed`] lists the failures.
pub struct CheckReport {
    /// Every skill that was checked.
    pub skills: Vec<SkillCheck>,
    /// Problems with folders.
    pub folder_problems: Vec<Diagnostic>,
    /// Skills that did not change, and were not checked.
    pub unchanged: usize,
    /// The results of the trigger queries of the skills, among all skills of the folders.
    pub queries: EvalReport,
    /// The part of them that must find its skill first.
    pub min_hit_at_1: Option<f64>,
}

/// The results for one skill of a [`CheckReport`].
///
/// The example of [`SkillCheck::is_passed`] lists those that failed.
pub struct SkillCheck {
    /// The skill, with its diagnostics.
    pub entry: CatalogEntry,
    /// Whether it is valid.
    pub is_valid: bool,
    /// The findings of the scanner.
    pub scan: ScannedSkill,
    /// Its own tests. They are not run if the skill is invalid or blocked.
    pub tests: Vec<TestResult>,
}

impl SkillCheck {
    /// Whether the scanner found something critical or could not read everything, and the user did not accept that.
    ///
    /// The example of [`SkillCheck::is_passed`] prints it.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        let verdict = self.scan.verdict();
        let is_bad = matches!(verdict, Verdict::Critical | Verdict::Incomplete);
        is_bad && self.scan.acceptance.is_none()
    }

    /// Whether the skill is valid and not blocked, and all of its tests passed.
    ///
    /// ```
    /// # fn f(report: &metier::checking::CheckReport) {
    /// for skill in report.skills.iter().filter(|skill| !skill.is_passed()) {
    ///     println!("{}: valid {}, blocked {}", skill.entry.name(), skill.is_valid, skill.is_blocked());
    ///     for test in skill.tests.iter().filter(|test| test.failure.is_some()) {
    ///         println!("  {} failed", test.name);
    ///     }
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn is_passed(&self) -> bool {
        let mut tests = self.tests.iter();
        self.is_valid && !self.is_blocked() && tests.all(|test| test.failure.is_none())
    }
}

impl CheckReport {
    /// Whether every skill passed, no folder has an error, every trigger query can be used, and enough of them find their skill.
    ///
    /// An example is at [`Workspace::check`].
    #[must_use]
    pub fn is_passed(&self) -> bool {
        let error = metier_model::DiagnosticSeverity::Error;
        let mut folders = self.folder_problems.iter();
        self.skills.iter().all(SkillCheck::is_passed)
            && !folders.any(|problem| problem.severity == error)
            && self.queries.problems.is_empty()
            && self.is_reached()
    }

    /// Whether enough trigger queries find their skill first, by [`CheckOptions::min_hit_at_1`]. Without such a number, or without queries,
    /// it is reached.
    ///
    /// The example of [`Workspace::check`] asks for this and everything else.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        let part = self
            .min_hit_at_1
            .filter(|_| self.queries.quality.queries() > 0);
        part.is_none_or(|part| self.queries.reaches(part))
    }
}

impl Workspace {
    /// Validates and scans skills and runs their tests. A path is a skill's folder, a folder of skills, or any file of a skill; files that belong
    /// to no skill are ignored, so that a list of changed files can be passed.
    ///
    /// ```no_run
    /// use metier::checking::CheckOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let report = workspace.check(&["skills"], &CheckOptions::default())?;
    /// assert!(report.is_passed());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there are no skills in a folder, when a rule of the user's own for the scanner is wrong, or when git does not know the revision.
    pub fn check(
        &self,
        what: &[impl AsRef<str>],
        options: &CheckOptions,
    ) -> Result<CheckReport, Error> {
        let what: Vec<&str> = what.iter().map(AsRef::as_ref).collect();
        let paths = self.folders_to_check(&what);
        let mut report = CheckReport {
            skills: Vec::new(),
            folder_problems: Vec::new(),
            unchanged: 0,
            queries: EvalReport::default(),
            min_hit_at_1: options.min_hit_at_1,
        };
        if paths.is_empty() {
            return Ok(report);
        }
        let validated = self.validate(&texts(&paths), options.strict)?;
        report.folder_problems = validated.folder_problems().cloned().collect();
        let since = options.since.as_deref();
        let changed = since.map(|since| self.changed_since(since)).transpose()?;
        let inventory = validated.inventory();
        let mut wanted = Vec::new();
        for skill in &inventory.skills {
            let entry = inventory.entry(skill);
            match &changed {
                Some(changed) if !is_changed(&entry.place.path(), changed) => report.unchanged += 1,
                _ => wanted.push((entry.clone(), validated.is_skill_valid(skill))),
            }
        }
        if wanted.is_empty() {
            return Ok(report);
        }
        let mut queries = TriggerQueries::default();
        wanted
            .iter()
            .for_each(|(entry, _)| queries.add_shipped(entry));
        let folders = wanted
            .iter()
            .map(|(entry, _)| entry.place.path().into_owned());
        let folders: BTreeSet<PathBuf> = folders.collect();
        let scans = self.scan(&texts(&folders), ScanOptions::default())?;
        let place = |scan: ScannedSkill| (scan.entry.place.path().into_owned(), scan);
        let mut scans: BTreeMap<PathBuf, ScannedSkill> = scans.into_iter().map(place).collect();
        let roots = paths.into_iter();
        let roots = roots.map(|path| Root::explicit(Source::Inline, path));
        let tested = Arc::new(self.examine(roots.collect(), Strictness::Lenient));
        for (entry, is_valid) in wanted {
            let Some(scan) = scans.remove(&*entry.place.path()) else {
                continue;
            };
            let mut skill = SkillCheck {
                entry,
                is_valid,
                scan,
                tests: Vec::new(),
            };
            if skill.is_valid && !skill.is_blocked() {
                skill.tests = self.tests_of(&tested, &skill.entry);
            }
            report.skills.push(skill);
        }
        let pool = Skills { inventory: tested };
        report.queries = self.judge_queries(&pool, queries, 1);
        Ok(report)
    }

    /// The folders to check. A file selects the skill that it belongs to.
    fn folders_to_check(&self, what: &[&str]) -> BTreeSet<PathBuf> {
        let folder = |what: &&str| {
            let path = self.machine.work.join(what);
            match path.is_file() {
                true => skill_around(&path),
                false => Some(path),
            }
        };
        what.iter().filter_map(folder).collect()
    }

    /// The results of a skill's own tests. A file of tests that can't be read is a failed test.
    fn tests_of(&self, inventory: &Arc<Inventory>, entry: &CatalogEntry) -> Vec<TestResult> {
        let mut results = Vec::new();
        let done = testing::test_skill(self, inventory, entry, &mut |result| results.push(result));
        if let Err(error) = done {
            results.push(TestResult {
                skill: entry.name().into_owned(),
                file: "tests".to_owned(),
                line: None,
                name: "the tests can be read".to_owned(),
                failure: Some(error.in_full()),
            });
        }
        results
    }

    /// The files of the project that differ from a git revision, including new ones.
    fn changed_since(&self, revision: &str) -> Result<BTreeSet<PathBuf>, Error> {
        let fail = |why: &str| {
            let message = format!(
                "git can't list the changes since `{}`: {}",
                one_line(revision),
                one_line(why)
            );
            Error::unmet("since", message)
                .hint("name a commit, a branch or a tag of this repository")
        };
        if revision.is_empty() || revision.starts_with('-') {
            return Err(fail("it is not a revision"));
        }
        let project = &self.machine.project;
        // No hook, file system monitor, external diff or text conversion of the repository is started. A `filter.*.clean` in its settings
        // is: git needs it to compare a file that changed.
        let git = |arguments: &[&str]| {
            Command::new("git")
                .args([
                    "-c",
                    "core.fsmonitor=false",
                    "-c",
                    "core.hooksPath=/dev/null",
                ])
                .args(arguments)
                .current_dir(project)
                .output()
        };
        let differ = [
            "diff",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--relative",
            "-z",
            revision,
            "--",
        ];
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        let mut changed = BTreeSet::new();
        for arguments in [&differ[..], &untracked] {
            let output = git(arguments).map_err(|error| fail(&error.to_string()))?;
            if !output.status.success() {
                return Err(fail(&String::from_utf8_lossy(&output.stderr)));
            }
            let paths = output.stdout.split(|byte| *byte == 0);
            let paths = paths.filter(|path| !path.is_empty());
            changed.extend(paths.map(|path| project.join(OsStr::from_bytes(path))));
        }
        Ok(changed)
    }
}

fn texts<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
    let paths = paths.into_iter();
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// The nearest folder above a file that is a skill.
fn skill_around(file: &Path) -> Option<PathBuf> {
    let mut folders = file.ancestors().skip(1);
    let is_skill = |folder: &&Path| MANIFESTS.iter().any(|name| folder.join(name).is_file());
    folders.find(is_skill).map(Path::to_owned)
}

/// Whether one of the changed files is in this folder.
fn is_changed(folder: &Path, changed: &BTreeSet<PathBuf>) -> bool {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_below = |file: &PathBuf| file.starts_with(folder) || file.starts_with(&real);
    changed.iter().any(is_below)
}
