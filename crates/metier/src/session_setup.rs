//! Sessions with active skills: opened, used, and always closed again.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use metier_catalog::CatalogEntry;
use metier_host::backend::SkillProcessError;
use metier_model::text::shell_word;
use metier_policy::Approver;
use metier_runtime::{
    Inventory,
    live::{ActivateError, CallError, CallTimeouts, Model, PromptError, Runtime, SkillLine},
};

use crate::{
    Error, NoticeLevel,
    execution_context::{self, ExecutionContext},
    explain,
    text::one_line,
    workspace::Workspace,
};

/// How long a skill may take to start.
const START: Duration = Duration::from_secs(10);
/// How long a skill may take to shut down, while the caller waits.
const END: Duration = Duration::from_secs(3);

/// How a session is opened, where that differs from the defaults.
#[derive(Default)]
pub(crate) struct SessionSetup<'a> {
    /// The folder that is the project.
    pub(crate) project: Option<&'a Path>,
    /// Answers requests for permission.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// A file of tests that runs in place of the entrypoint.
    pub(crate) tests: Option<&'a str>,
    /// The id of the session; a new one if there is none.
    pub(crate) id: Option<&'a str>,
    /// The model that skills can ask.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// Whether skills are started only to learn what they contribute, without requests for permission.
    pub(crate) describes: bool,
    /// Set to cancel what skills are doing.
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

/// Activates skills, those of the settings first, and calls `work` with them.
pub(crate) fn with<T>(
    workspace: &Workspace,
    inventory: &Arc<Inventory>,
    names: &[&str],
    work: impl FnOnce(&Runtime) -> Result<T, Error>,
) -> Result<T, Error> {
    let others: Vec<&str> = workspace
        .settings
        .skills
        .iter()
        .map(String::as_str)
        .collect();
    let all: Vec<&str> = others.into_iter().chain(names.iter().copied()).collect();
    on(workspace, inventory, &all, SessionSetup::default(), work)
}

/// Activates these skills only, with options, and calls `work` with them.
pub(crate) fn on<T>(
    workspace: &Workspace,
    inventory: &Arc<Inventory>,
    names: &[&str],
    stage: SessionSetup<'_>,
    work: impl FnOnce(&Runtime) -> Result<T, Error>,
) -> Result<T, Error> {
    // The result of a test is reported, not its log: an error can be expected.
    let is_test = stage.project.is_some();
    let runtime = open(workspace, inventory, stage)?;
    let activated = names
        .iter()
        .try_for_each(|name| activate(workspace, &runtime, name));
    let worked = activated.and_then(|()| work(&runtime));
    let ended = runtime.end();
    if !is_test {
        tell(workspace, runtime.collect().1);
    }
    let done = worked?;
    ended.map_err(|error| failed(&error))?;
    Ok(done)
}

/// A session in which nothing is active yet. Each activation is scanned, permitted and recorded.
pub(crate) fn open(
    workspace: &Workspace,
    inventory: &Arc<Inventory>,
    stage: SessionSetup<'_>,
) -> Result<Runtime, Error> {
    let scan_gate = workspace.screening(&inventory.catalog);
    scan_gate.check_rules()?;
    let mut execution = match stage.approver {
        Some(approver) => ExecutionContext::with(workspace, approver)?,
        None => ExecutionContext::open(workspace)?,
    };
    if let Some(id) = stage.id {
        execution = execution.named(id);
    }
    let known = Arc::clone(inventory);
    let judge = move |entry: &CatalogEntry| {
        let admitted = scan_gate.admit(&known.catalog, entry);
        admitted.map_err(|refusal| refusal.to_string())
    };
    let limits = &workspace.config.limits;
    let patience = CallTimeouts {
        start: START,
        end: END,
        tool: Duration::from_secs(limits.tool_timeout),
        hook: Duration::from_secs(limits.hook_timeout),
    };
    let environment = execution.environment(stage.stop, stage.project);
    let runtime = Runtime::new(
        environment,
        Arc::clone(inventory),
        Arc::new(judge),
        patience,
    );
    let mut runtime = runtime
        .explaining(workspace.notices.explains())
        .describing(stage.describes);
    if let Some(file) = stage.tests {
        runtime = runtime.testing(file);
    }
    if let Some(model) = stage.model {
        runtime = runtime.with_model(model);
    }
    Ok(runtime)
}

/// Passes on what skills logged.
pub(crate) fn tell(workspace: &Workspace, said: Vec<SkillLine>) {
    for line in said {
        let (skill, text) = (one_line(&line.skill), one_line(&line.text));
        if line.is_warning {
            workspace
                .notices
                .notice(NoticeLevel::Alert, &format!("skill `{skill}`: {text}"));
        } else {
            workspace
                .notices
                .notice(NoticeLevel::Note, &format!("{skill}: {text}"));
        }
    }
}

/// Activates one skill.
pub(crate) fn activate(workspace: &Workspace, runtime: &Runtime, name: &str) -> Result<(), Error> {
    let inventory = runtime.inventory();
    let skill = explain::find_usable(workspace, inventory, name)?;
    let entry = inventory.entry(skill);
    let place = entry.place.path().to_string_lossy().into_owned();
    let name = entry.name();
    let word = shell_word(&name).into_owned();
    runtime.activate(&place).map_err(|error| {
        let unmet = |code, error: &ActivateError| {
            Error::unmet(code, format!("skill `{name}`: {error}")).skill(name.as_ref())
        };
        match error {
            ActivateError::Refused(refused) => execution_context::refused(entry, refused),
            ActivateError::Failed(error) => explain::act_failed(&name, error),
            ActivateError::Unusable(_) => {
                unmet("unusable", &error).hint(format!("metier info {word}"))
            }
            ActivateError::NoDeno(_) => unmet("deno", &error).hint(
                "install Deno, or use the embedded engine: metier config skills.hooks.engine auto",
            ),
            ActivateError::Entrypoint(_) => {
                unmet("entrypoint", &error).hint(format!("metier info {word} lists its files"))
            }
            ActivateError::LeftOut { .. } => left_out(&name, &error),
            // The message names what to change in the code or in the manifest.
            ActivateError::Contribution(_) => unmet("contribution", &error),
            ActivateError::Session(ref inner) => {
                let failure = unmet("not-started", &error);
                let failure = last_words(inner).into_iter().fold(failure, Error::detail);
                failure.hint(format!("metier log {word} shows what it did"))
            }
            _ => unmet("not-active", &error).hint(format!("metier log {word} shows what happened")),
        }
    })
}

/// The error for a skill whose backend is not part of this build.
fn left_out(name: &str, error: &ActivateError) -> Error {
    Error::unmet("left-out", format!("skill `{name}`: {error}"))
        .skill(name)
        .hint("use a build of metier with its default features")
}

/// How many of the last lines of a program are shown.
const LAST_WORDS: usize = 8;
const OLD_NODE: &str =
    "Node is too old to run TypeScript: it needs Node 22.18 or newer (see node --version)";

/// The last lines that the code of a skill wrote before it ended.
fn last_words(error: &SkillProcessError) -> Vec<String> {
    match error {
        SkillProcessError::Ended { stderr, .. } => {
            if stderr.contains("ERR_UNKNOWN_FILE_EXTENSION") {
                return vec![OLD_NODE.to_owned()];
            }
            let lines: Vec<&str> = stderr.lines().collect();
            let first = lines.len().saturating_sub(LAST_WORDS);
            // The line with the error matters more than any line of the stack.
            let cause = lines
                .iter()
                .take(first)
                .rfind(|line| line.contains("Error"));
            let last = cause.into_iter().chain(lines.iter().skip(first));
            last.map(|line| one_line(line)).collect()
        }
        _ => Vec::new(),
    }
}

/// The error when there is no prompt.
pub(crate) fn no_prompt(error: PromptError) -> Error {
    match error {
        PromptError::Store(error) => error.into(),
        PromptError::Blocked { ref by, .. } => Error::unmet("blocked", error.to_string())
            .skill(by.as_str())
            .hint(format!(
                "metier log {} shows what it blocked",
                shell_word(by)
            )),
    }
}

/// The error when a call has no answer.
pub(crate) fn failed(error: &CallError) -> Error {
    let message = error.to_string();
    match error {
        CallError::NotActive(skill) => Error::unmet("not-active", message)
            .skill(skill.as_str())
            .hint(format!("name it with --skills {}", shell_word(skill))),
        CallError::Withdrawn(skill) | CallError::NotStartedAgain { skill, .. } => {
            Error::unmet("not-approved", message)
                .skill(skill.as_str())
                .hint(format!(
                    "metier permissions {} shows what it may do",
                    shell_word(skill)
                ))
        }
        CallError::Unknown {
            skill, kind, there, ..
        } => {
            let failure = Error::unmet("not-found", message).skill(skill.as_str());
            match there.as_slice() {
                [] => failure.hint(format!(
                    "it contributes no {kind}; metier info {}",
                    shell_word(skill)
                )),
                there => failure.hint(format!("it has: {}", there.join(", "))),
            }
        }
        CallError::WhichWorkflow { skill, there } => {
            let first = there.first().map(String::as_str).unwrap_or_default();
            let hint = format!("metier run {} --workflow {first}", shell_word(skill));
            Error::unmet("which-workflow", message)
                .skill(skill.as_str())
                .hint(hint)
        }
        CallError::Input { skill, .. } => Error::unmet("input", message)
            .skill(skill.as_str())
            .hint(format!(
                "metier tools {} --json shows the schema of its input",
                shell_word(skill)
            )),
        CallError::Cancelled { by, .. } => Error::unmet("cancelled", message)
            .skill(by.as_str())
            .hint(format!(
                "metier log {} shows what it cancelled",
                shell_word(by)
            )),
        CallError::Refused { .. } => Error::unmet("not-approved", message),
        CallError::NotAllowed { .. } => Error::unmet("not-allowed", message)
            .hint("metier log shows which hook changed its input"),
        CallError::Busy(skill) => {
            Error::unmet("busy", message)
                .skill(skill.as_str())
                .hint(format!(
                    "metier log {} shows what it waits for",
                    shell_word(skill)
                ))
        }
        CallError::Session { skill, error } => {
            let failure = Error::unmet(code(error), message).skill(skill.as_str());
            let failure = last_words(error).into_iter().fold(failure, Error::detail);
            failure.hint(format!(
                "metier log {} shows what it did",
                shell_word(skill)
            ))
        }
        CallError::Answer { skill, .. } => Error::unmet("protocol", message)
            .skill(skill.as_str())
            .hint("docs/writing-skills.md describes the protocol"),
        CallError::Store(_) => Error::broken("store", message),
    }
}

const fn code(error: &SkillProcessError) -> &'static str {
    match error {
        SkillProcessError::Answered(_) => "skill-error",
        SkillProcessError::TimedOut(_) => "timeout",
        SkillProcessError::Stopped => "cancelled",
        SkillProcessError::Ended { .. } => "crashed",
        SkillProcessError::Protocol(_) => "protocol",
        SkillProcessError::GaveUp { .. } => "given-up",
        SkillProcessError::Unfit(_) | SkillProcessError::NotStarted(_) => "not-started",
    }
}

#[cfg(test)]
mod tests {
    use super::{ActivateError, left_out};

    #[test]
    fn a_backend_that_is_not_part_of_the_build_is_named() {
        let error = ActivateError::LeftOut {
            language: "Starlark",
            feature: "starlark",
        };
        let error = left_out("greeter", &error);
        assert_eq!(error.code(), "left-out");
        assert_eq!(error.about_skill(), Some("greeter"));
        assert_eq!(
            error.message(),
            "skill `greeter`: this build of metier cannot run Starlark skills: the feature `starlark` is off"
        );
        assert!(error.advice().is_some());
    }
}
