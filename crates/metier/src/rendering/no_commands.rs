//! Bodies with commands, in a build that runs nothing.

use metier_model::text::shell_word;
use metier_runtime::render::{Arguments, LoadedSkill, RanCommand, Rendered};

use crate::{Error, Workspace};

/// The error of a build that cannot run commands.
pub(super) fn rendered(
    _: &Workspace,
    loaded: &LoadedSkill,
    _: &Arguments,
) -> Result<(Rendered, Vec<RanCommand>), Error> {
    let name = loaded.entry.name();
    let message = format!(
        "skill `{name}` contains commands, and this build of metier cannot run them: the feature `run` is off"
    );
    Err(Error::unmet("left-out", message)
        .skill(name.as_ref())
        .hint(format!(
            "metier show {} --no-exec leaves its commands as they are written",
            shell_word(&name)
        )))
}
