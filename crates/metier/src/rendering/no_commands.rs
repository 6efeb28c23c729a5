//! Bodies with commands, in a build that runs nothing.

use metier_model::text::shell_word;
#[cfg(not(feature = "run"))]
use metier_runtime::render::{Arguments, LoadedSkill, RanCommand, Rendered};

use crate::Error;

/// The error of a build that can't run commands.
#[cfg(not(feature = "run"))]
pub(super) fn rendered(
    _: &crate::Workspace,
    loaded: &LoadedSkill,
    _: &Arguments,
) -> Result<(Rendered, Vec<RanCommand>), Error> {
    Err(left_out(&loaded.entry.name()))
}

fn left_out(name: &str) -> Error {
    let message = format!(
        "skill `{name}` contains commands, and this build of metier cannot run them: the feature `run` is off"
    );
    let word = shell_word(name);
    Error::unmet("left-out", message).skill(name).hint(format!(
        "metier show {word} --no-exec shows its text without running its commands"
    ))
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn a_build_without_the_feature_names_it_and_the_way_to_show_the_skill() {
        let error = left_out("review pr");
        assert_eq!(error.code(), "left-out");
        assert_eq!(error.about_skill(), Some("review pr"));
        assert!(error.message().contains("the feature `run` is off"));
        assert_eq!(
            error.advice(),
            Some("metier show 'review pr' --no-exec shows its text without running its commands")
        );
    }
}
