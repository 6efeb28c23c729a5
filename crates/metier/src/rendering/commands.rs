//! Bodies with commands, which run with permission and are written down.

use metier_catalog::Entry;
use metier_model::text::shell_word;
use metier_runtime::{
    activate::{self, ActivationError},
    render::{Arguments, Loaded, Ran, Rendered},
};

use super::not_rendered;
use crate::{
    Error, Workspace, explain,
    office::{self, Office},
};

/// The body of a skill with the output of its commands, and the commands.
pub(super) fn rendered(
    workspace: &Workspace,
    loaded: &Loaded,
    arguments: &Arguments,
) -> Result<(Rendered, Vec<Ran>), Error> {
    let project = workspace.machine.project.to_string_lossy();
    let premises = Office::open(workspace)?.premises(None, None);
    let activation = activate::activate(loaded, arguments, &project, &premises)
        .map_err(|error| stopped(&loaded.entry, error))?;
    Ok((activation.rendered, activation.commands))
}

/// What to say when a skill can't be activated.
fn stopped(entry: &Entry, error: ActivationError) -> Error {
    let name = entry.name();
    let word = shell_word(&name).into_owned();
    let unmet = |code, message: String| Error::unmet(code, message).skill(name.as_ref());
    match error {
        ActivationError::Render(error) => not_rendered(entry, &error),
        ActivationError::Refused(error) => office::refused(entry, error),
        ActivationError::Failed(error) => explain::act_failed(&name, error),
        error @ ActivationError::Arguments { .. } => {
            unmet("arguments-refused", format!("skill `{name}`: {error}")).hint(format!(
                "metier show {word} --no-exec leaves its commands as they are written"
            ))
        }
        error @ ActivationError::Shell(_) => unmet("shell", format!("skill `{name}`: {error}"))
            .hint(format!(
                "metier show {word} --no-exec leaves its commands as they are written"
            )),
        ActivationError::Command { ref stderr, .. }
        | ActivationError::Pipeline { ref stderr, .. } => {
            let failure = unmet("command-failed", format!("skill `{name}`: {error}"));
            let lines = stderr.lines().take(5).map(str::to_owned);
            lines.fold(failure, Error::detail).hint(format!(
                "commands see no network and no files but the skill's own, unless approved: metier permissions {word}"
            ))
        }
    }
}
