//! Bodies with commands, which run with permission and are recorded.

use std::sync::Arc;

use metier_catalog::CatalogEntry;
use metier_model::text::shell_word;
use metier_runtime::{
    body_commands::{self, BodyCommandError},
    render::{Arguments, LoadedSkill, RanCommand, Rendered},
};

use super::not_rendered;
use crate::{
    Error, Workspace,
    execution_context::{self, ExecutionContext},
    explain,
};

/// The body of a skill with the output of its commands, and the commands.
pub(super) fn rendered(
    workspace: &Workspace,
    loaded: &LoadedSkill,
    arguments: &Arguments,
) -> Result<(Rendered, Vec<RanCommand>), Error> {
    let project = workspace.machine.project.to_string_lossy();
    let stop = Arc::clone(&workspace.settings.stop);
    let environment = ExecutionContext::open(workspace)?.environment(Some(stop), None);
    let activation = body_commands::activate(loaded, arguments, &project, &environment)
        .map_err(|error| stopped(&loaded.entry, error))?;
    Ok((activation.rendered, activation.commands))
}

/// The error for a skill that can't be activated.
fn stopped(entry: &CatalogEntry, error: BodyCommandError) -> Error {
    let name = entry.name();
    let word = shell_word(&name).into_owned();
    let unmet = |code, message: String| Error::unmet(code, message).skill(name.as_ref());
    match error {
        BodyCommandError::Render(error) => not_rendered(entry, &error),
        BodyCommandError::Refused(error) => execution_context::refused(entry, error),
        BodyCommandError::Failed(error) => explain::act_failed(&name, error),
        error @ BodyCommandError::Arguments { .. } => {
            unmet("arguments-refused", format!("skill `{name}`: {error}")).hint(format!(
                "metier show {word} --no-exec shows its text without running its commands"
            ))
        }
        error @ BodyCommandError::Shell(_) => unmet("shell", format!("skill `{name}`: {error}"))
            .hint(format!(
                "metier show {word} --no-exec shows its text without running its commands"
            )),
        BodyCommandError::Command { ref stderr, .. }
        | BodyCommandError::Pipeline { ref stderr, .. } => {
            let failure = unmet("command-failed", format!("skill `{name}`: {error}"));
            let lines = stderr.lines().take(5).map(str::to_owned);
            lines.fold(failure, Error::detail).hint(format!(
                "commands have no network and only the skill's own files, unless approved: metier permissions {word}"
            ))
        }
    }
}
