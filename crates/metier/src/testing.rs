//! The tests of skills: `tests/*.yaml` and `tests/*.star`.
//!
//! Each test runs in an empty folder that is its project. Acts inside that folder are permitted without a request.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use metier_catalog::{CatalogEntry, Root};
use metier_model::{
    Case, CaseAction, CaseExpectation, Permission, Scope, Source, Strictness, cases_in_file,
    scope::Anchor,
};
use metier_policy::{ApprovalQuestion, ApprovalSubject, Approver, Reply};
use metier_runtime::{
    Inventory,
    live::{CallError, Runtime},
};
use metier_sdk::wire::ScannedFile;
use metier_select::{Situation, TriggerCandidate, UsageMode, languages::detect};
use serde_json::Value;

use crate::{
    Error, Workspace,
    execution_context::TEST_PROJECTS,
    explain,
    rendering::not_read,
    session_setup::{self, SessionSetup},
};

/// The result of one test of a skill.
///
/// An example is at [`Workspace::test`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// The skill that was tested.
    pub skill: String,
    /// The file of the test, below the skill's folder.
    pub file: String,
    /// The line of a case in a YAML file.
    pub line: Option<u32>,
    /// The name of the case or function.
    pub name: String,
    /// Why the test failed; `None` if it passed.
    pub failure: Option<String>,
}

impl Workspace {
    /// Runs the tests of the skill with that name or folder, or of all skills in a folder, and passes each result to `report`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let mut failed = 0;
    /// workspace.test("skills/greeter", &mut |result| failed += u32::from(result.failure.is_some()))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, or when a file of tests can't be read.
    pub fn test(&self, path: &str, report: &mut dyn FnMut(TestResult)) -> Result<(), Error> {
        let inventory = Arc::new(inventory(self, path)?);
        for skill in &inventory.skills {
            test_skill(self, &inventory, inventory.entry(skill), report)?;
        }
        Ok(())
    }
}

/// The skill with that name or folder, or all skills of a folder, which need not be installed.
fn inventory(workspace: &Workspace, path: &str) -> Result<Inventory, Error> {
    let folder = workspace.machine.work.join(path);
    if folder.exists() {
        let roots = vec![Root::explicit(Source::Inline, folder)];
        let inventory = workspace.examine(roots, Strictness::Lenient);
        if inventory.skills.is_empty() {
            return Err(Error::unmet(
                "skill-file-missing",
                "there is no SKILL.md or SKILL.yaml there",
            )
            .hint("name a skill, its folder, or a folder of skills"));
        }
        return Ok(inventory);
    }
    let mut inventory = workspace.inventory()?;
    let wanted = explain::find_usable(workspace, &inventory, path)?;
    let wanted = inventory.entry(wanted).place.path().into_owned();
    let catalog = &inventory.catalog;
    inventory
        .skills
        .retain(|skill| *catalog.entries[skill.entry].place.path() == *wanted);
    Ok(inventory)
}

/// Runs the tests of one skill of an inventory.
pub(crate) fn test_skill(
    workspace: &Workspace,
    inventory: &Arc<Inventory>,
    entry: &CatalogEntry,
    report: &mut dyn FnMut(TestResult),
) -> Result<(), Error> {
    let limit = workspace.config.limits.max_skill_bytes;
    let files = entry
        .place
        .files()
        .map_err(|error| not_read(&entry.name(), &error))?;
    let is_test = |path: &str, ending: &str| {
        path.strip_prefix("tests/")
            .is_some_and(|name| !name.contains('/') && name.ends_with(ending))
    };
    for path in files.iter().filter_map(|file| file.path.as_str()) {
        let mut suite = Suite {
            workspace,
            inventory,
            entry,
            file: path,
            report: &mut *report,
        };
        if is_test(path, ".yaml") || is_test(path, ".yml") {
            let read = entry.place.read(path, limit);
            let bytes = read.map_err(|error| not_read(&entry.name(), &error))?;
            suite.cases(&String::from_utf8_lossy(&bytes))?;
        } else if is_test(path, ".star") {
            suite.functions()?;
        }
    }
    Ok(())
}

/// One file of tests.
struct Suite<'s> {
    workspace: &'s Workspace,
    inventory: &'s Arc<Inventory>,
    entry: &'s CatalogEntry,
    file: &'s str,
    report: &'s mut dyn FnMut(TestResult),
}

impl Suite<'_> {
    fn cases(&mut self, text: &str) -> Result<(), Error> {
        let cases = cases_in_file(text).map_err(|mistake| {
            Error::unmet("case", mistake.message)
                .skill(self.entry.name())
                .path(self.entry.place.path().join(self.file))
                .line(Some(mistake.line).filter(|line| *line > 0))
                .hint("docs/writing-skills.md shows what a case looks like")
        })?;
        for case in cases {
            let outcome = self.case(&case)?;
            self.note(&case.name, Some(case.line), outcome);
        }
        Ok(())
    }

    /// Runs one case in a separate project.
    fn case(&self, case: &Case) -> Result<Result<(), String>, Error> {
        if let CaseAction::Trigger(task) = &case.what {
            return Ok(self.trigger(case, task));
        }
        let project = Project::new(self.workspace, &case.files)?;
        let place = self.entry.place.path().to_string_lossy().into_owned();
        let name = self.entry.name().into_owned();
        let stage = SessionSetup {
            project: Some(&project.0),
            approver: Some(Arc::new(InTestProject::new(self.workspace))),
            ..SessionSetup::default()
        };
        let done = session_setup::on(
            self.workspace,
            self.inventory,
            &[&place],
            stage,
            |runtime| Ok(act(runtime, &name, case)),
        );
        Ok(done
            .map_err(|failure| failure.in_full())
            .and_then(|done| check(&case.expect, &done)))
    }

    fn trigger(&self, case: &Case, task: &str) -> Result<(), String> {
        let files: Vec<&str> = case.files.iter().map(|(path, _)| path.as_str()).collect();
        let limit = self.workspace.config.limits.max_skill_bytes;
        let loaded = self.entry.load(Strictness::Lenient, limit);
        let (parsed, _) = loaded.map_err(|error| error.to_string())?;
        let manifest = parsed.manifest.ok_or("its manifest can't be read")?;
        let languages = detect(files.iter().copied()).seen();
        let situation = Situation {
            task,
            files: &files,
            languages: &languages,
            mode: UsageMode::Interactive,
            explicit: &[],
        };
        let offer = TriggerCandidate {
            name: &self.entry.name(),
            source: self.entry.source,
            triggers: &manifest.triggers,
            paths: &manifest.invocation.paths,
        };
        let activates = !metier_select::matches(&offer, &situation).is_empty();
        check(&case.expect, &Done::Activates(activates))
    }

    /// Every test function of a Starlark file, each in a separate project.
    fn functions(&mut self) -> Result<(), Error> {
        let project = Project::new(self.workspace, &[])?;
        let place = self.entry.place.path().to_string_lossy().into_owned();
        let name = self.entry.name().into_owned();
        let stage = SessionSetup {
            project: Some(&project.0),
            approver: Some(Arc::new(InTestProject::new(self.workspace))),
            tests: Some(self.file),
            ..SessionSetup::default()
        };
        let outcomes = session_setup::on(
            self.workspace,
            self.inventory,
            &[&place],
            stage,
            |runtime| {
                let all = runtime.contributions(&name);
                let all = all
                    .map_err(|error| session_setup::failed(&error))?
                    .workflows;
                let outcomes = all.into_iter().map(|test| {
                    let done = runtime.run(&name, Some(&test.name), &Value::Null);
                    let outcome = done.map(drop).map_err(|error| error.to_string());
                    (test.name, outcome)
                });
                Ok(outcomes.collect::<Vec<_>>())
            },
        );
        match outcomes {
            Ok(outcomes) => {
                for (name, outcome) in outcomes {
                    self.note(&name, None, outcome);
                }
            }
            Err(failure) => self.note("can't be run", None, Err(failure.in_full())),
        }
        Ok(())
    }

    fn note(&mut self, name: &str, line: Option<u32>, outcome: Result<(), String>) {
        (self.report)(TestResult {
            skill: self.entry.name().into_owned(),
            file: self.file.to_owned(),
            line,
            name: name.to_owned(),
            failure: outcome.err(),
        });
    }
}

/// The outcome of a case.
enum Done {
    Output(Value),
    Error(String),
    Cancelled(String),
    Activates(bool),
}

/// Runs what a case describes.
fn act(runtime: &Runtime, skill: &str, case: &Case) -> Done {
    let called = match &case.what {
        CaseAction::Tool(tool, input) => runtime.call(skill, tool, input),
        CaseAction::Workflow(name, input) => {
            let name = Some(name.as_str()).filter(|name| !name.is_empty());
            runtime.run(skill, name, input)
        }
        CaseAction::Hook(phase, event) => {
            return match runtime.dispatch(*phase, event.clone()) {
                Err(error) => Done::Error(error.to_string()),
                Ok(done) => match done.cancelled {
                    Some((_, reason)) => Done::Cancelled(reason),
                    None => Done::Output(done.event),
                },
            };
        }
        CaseAction::Scanner(_) => return scan(runtime, case),
        CaseAction::Prompt => {
            return match runtime.build_prompt("") {
                Ok(prompt) => Done::Output(Value::String(prompt)),
                Err(error) => Done::Error(error.to_string()),
            };
        }
        CaseAction::Trigger(_) => return Done::Error("a trigger needs no activation".to_owned()),
    };
    match called {
        Ok(called) if called.is_error => Done::Error(text(&called.output)),
        Ok(called) => Done::Output(called.output),
        Err(CallError::Cancelled { reason, .. }) => Done::Cancelled(reason),
        Err(error) => Done::Error(error.to_string()),
    }
}

/// The findings of the skill's scanners in the files of the case.
fn scan(runtime: &Runtime, case: &Case) -> Done {
    let files: Vec<ScannedFile> = case
        .files
        .iter()
        .map(|(path, content)| ScannedFile {
            path: path.clone(),
            content: content.clone(),
        })
        .collect();
    let CaseAction::Scanner(wanted) = &case.what else {
        return Done::Error("there is no scanner in this case".to_owned());
    };
    let scanned = match runtime.scan(&files) {
        Ok(scanned) => scanned,
        Err(error) => return Done::Error(error.to_string()),
    };
    let mut found = Vec::new();
    let mut any = false;
    for one in scanned {
        if !wanted.is_empty() && one.scanner != *wanted {
            continue;
        }
        any = true;
        match one.found {
            Ok(findings) => found.extend(findings),
            Err(error) => return Done::Error(error),
        }
    }
    if !any {
        return Done::Error(format!("there is no scanner `{wanted}`"));
    }
    match serde_json::to_value(found) {
        Ok(found) => Done::Output(found),
        Err(error) => Done::Error(error.to_string()),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Compares an outcome with everything that is expected of it.
fn check(expect: &[CaseExpectation], done: &Done) -> Result<(), String> {
    let wants_trouble = expect.iter().any(|expect| {
        matches!(
            expect,
            CaseExpectation::Error(_) | CaseExpectation::Cancelled(_)
        )
    });
    match done {
        Done::Error(error) if !wants_trouble => return Err(error.clone()),
        Done::Cancelled(reason) if !wants_trouble => return Err(format!("cancelled: {reason}")),
        _ => {}
    }
    expect.iter().try_for_each(|expect| one(expect, done))
}

fn one(expect: &CaseExpectation, done: &Done) -> Result<(), String> {
    let shown = match done {
        Done::Output(value) => text(value),
        Done::Error(text) | Done::Cancelled(text) => text.clone(),
        Done::Activates(true) => "it activates the skill".to_owned(),
        Done::Activates(false) => "it does not activate the skill".to_owned(),
    };
    let is_so = match (expect, done) {
        (CaseExpectation::Is(wanted), Done::Output(value)) => same(wanted, value),
        (CaseExpectation::Contains(part), Done::Output(_)) => shown.contains(part),
        (CaseExpectation::Error(part), Done::Error(_))
        | (CaseExpectation::Cancelled(part), Done::Cancelled(_)) => shown.contains(part),
        (CaseExpectation::Activates(wanted), Done::Activates(is)) => wanted == is,
        _ => false,
    };
    let wanted = match expect {
        CaseExpectation::Is(value) => text(value),
        CaseExpectation::Contains(part) => format!("something with `{part}` in it"),
        CaseExpectation::Error(part) => format!("an error with `{part}` in it"),
        CaseExpectation::Cancelled(part) => format!("a cancelled call with `{part}` in the reason"),
        CaseExpectation::Activates(true) => "that it activates the skill".to_owned(),
        CaseExpectation::Activates(false) => "that it does not activate the skill".to_owned(),
    };
    if is_so {
        Ok(())
    } else {
        Err(format!("expected: {wanted}\n     got: {shown}"))
    }
}

/// Values in YAML are text here: without quotes, they also match a number or a boolean.
fn same(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::String(text), Value::Number(number)) => *text == number.to_string(),
        (Value::String(text), Value::Bool(is)) => text.parse() == Ok(*is),
        (Value::Object(wanted), Value::Object(value)) => {
            wanted.len() == value.len()
                && wanted
                    .iter()
                    .all(|(key, wanted)| value.get(key).is_some_and(|value| same(wanted, value)))
        }
        (Value::Array(wanted), Value::Array(value)) => {
            wanted.len() == value.len()
                && wanted
                    .iter()
                    .zip(value)
                    .all(|(wanted, value)| same(wanted, value))
        }
        _ => wanted == value,
    }
}

/// A folder that is the project during a test.
struct Project(PathBuf);

impl Project {
    fn new(workspace: &Workspace, files: &[(String, String)]) -> Result<Self, Error> {
        let cache = workspace.machine.cache.as_ref().ok_or_else(|| {
            Error::broken("store", "there is no folder for temporary files")
                .hint("set METIER_HOME to a folder")
        })?;
        fs::create_dir_all(cache)?;
        let tests = cache.canonicalize()?.join(TEST_PROJECTS);
        if tests.is_symlink() {
            let text = format!(
                "{} is a link, and tests would run where it leads",
                tests.display()
            );
            return Err(Error::broken("store", text).hint("remove it"));
        }
        fs::create_dir_all(&tests)?;
        let folder = tests.join(format!("{:x}", std::process::id()));
        remove(&folder)?;
        fs::create_dir(&folder)?;
        let project = Self(folder);
        for (path, content) in files {
            let inside = Path::new(path);
            let plain = inside
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !plain {
                return Err(Error::unmet(
                    "case",
                    format!("`{path}` is not a path inside a project"),
                )
                .hint("write it without `..` and without `/` in front"));
            }
            let path = project.0.join(inside);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, content)?;
        }
        Ok(project)
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Files that can't be removed now are removed before the next test.
        remove(&self.0).ok();
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Permits what stays inside the test's project, and passes other questions on.
struct InTestProject(Arc<dyn Approver>);

impl InTestProject {
    fn new(workspace: &Workspace) -> Self {
        Self(Arc::clone(&workspace.settings.approver))
    }
}

impl Approver for InTestProject {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        let asked = match &question.subject {
            ApprovalSubject::Permissions { asked, .. } => asked,
            // Only an act in the project is ever asked about individually.
            ApprovalSubject::Act(_) => return Reply::Once,
        };
        let stays = asked.iter().all(|asked| {
            let inside = match &asked.want.scope {
                Scope::Paths(pattern) => pattern.anchor() == Anchor::Project,
                _ => true,
            };
            match asked.want.permission {
                Permission::FileRead
                | Permission::FileWrite
                | Permission::GitRead
                | Permission::GitWrite
                | Permission::ShellExec => inside,
                // Tests have no model.
                Permission::LlmCall => true,
                _ => false,
            }
        });
        if stays {
            Reply::Once
        } else {
            self.0.ask(question)
        }
    }
}
