//! Errors about acts of skills.

use metier_host::{child::ChildError, execution::ExecutionError, sandbox::SurveyError};
use metier_model::text::shell_word;
use metier_runtime::granted_skill::ActError;

use crate::Error;

/// The error for an act that was not done.
pub(crate) fn act_failed(skill: &str, error: ActError) -> Error {
    let word = shell_word(skill).into_owned();
    match error {
        ActError::Store(error) => error.into(),
        ActError::Refused(refusal) => {
            let failure =
                Error::unmet(refusal.code, format!("skill `{skill}`: {refusal}")).skill(skill);
            match &refusal.needed {
                Some(needed) => failure.hint(format!(
                    "metier permissions {word} --approve {}",
                    shell_word(needed)
                )),
                None => failure.hint(match refusal.code {
                    "prefix" => "metier config skills.security.allowed_command_prefixes".into(),
                    "denied" => format!("metier permissions {word} lists its denials"),
                    "rate-limit" => "metier config shows skills.limits.max_…_per_turn".into(),
                    _ => format!("metier log {word} shows what was refused"),
                }),
            }
        }
        error @ ActError::Changed => {
            let failure = Error::unmet("changed", format!("skill `{skill}`: {error}"));
            failure.skill(skill).hint(format!(
                "metier permissions {word} shows what it asks for now"
            ))
        }
        ActError::Elsewhere(reason) => {
            Error::unmet("not-done", format!("skill `{skill}`: {reason}"))
                .skill(skill)
                .hint(format!("metier log {word} shows what was tried"))
        }
        ActError::Execution(error) => {
            let failure =
                Error::unmet("not-done", format!("skill `{skill}`: {error}")).skill(skill);
            match error {
                ExecutionError::Child(ChildError::NoSandbox { .. }) => {
                    failure.hint("metier doctor shows what is missing; --unsandboxed runs it without a sandbox, and the receipt records that")
                }
                ExecutionError::Child(ChildError::Survey(SurveyError::TooMany { .. })) => failure.hint(format!(
                    "revoke `file:write` for this folder with: metier permissions {word} --revoke; then approve a smaller one, \
                     as in: metier permissions {word} --approve 'file:write(./src/**)'"
                )),
                ExecutionError::NoCopy(_) => failure.hint(format!(
                    "metier info {word} lists its files; rename or remove the one that is named here"
                )),
                ExecutionError::Unjudged(place) => failure.hint(format!(
                    "run it without --unsandboxed, or remove {}",
                    place.display()
                )),
                _ => failure.hint(format!("metier log {word} shows what was tried")),
            }
        }
    }
}
