//! Errors about skills, in the same words for every interface.

#[cfg(feature = "run")]
mod acts;

use metier_catalog::CatalogEntry;
use metier_model::{Diagnostic, DiagnosticCode, text::shell_word};
use metier_policy::ReasonKind::Untrusted;
use metier_runtime::{Inventory, InventorySkill, Status};

use crate::{Error, Workspace, text::one_line};

#[cfg(feature = "run")]
pub(crate) use acts::act_failed;

/// The skill with a given name, or an error with the nearest names.
pub(crate) fn find<'a>(
    workspace: &Workspace,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a InventorySkill, Error> {
    if name.contains('/')
        && let Ok(folder) = workspace.machine.work.join(name).canonicalize()
        && let Ok(skill) = inventory.find(&folder.to_string_lossy())
    {
        return Ok(skill);
    }
    inventory.find(name).map_err(|missing| {
        let shown = one_line(&missing.name);
        let failure =
            Error::unmet("unknown-skill", format!("there is no skill `{shown}`")).skill(shown);
        match missing.near.as_slice() {
            [] => failure.hint("metier list --all shows every skill"),
            near => failure.hint(format!(
                "did you mean {}?",
                near.iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )),
        }
    })
}

/// The error for a skill that is not ready.
pub(crate) fn not_ready(skill: &InventorySkill, name: &str) -> Error {
    let failure = Error::unmet("not-ready", format!("skill `{name}` is not ready"));
    let reasons = skill.reasons.iter().map(|one| one.message.to_string());
    let failure = reasons.fold(failure.skill(name), Error::detail);
    match skill.way_out() {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("metier info {}", shell_word(name))),
    }
}

/// The diagnostic about a skill whose version differs from the configured one.
pub(crate) fn pin_problem(entry: &CatalogEntry) -> Option<&Diagnostic> {
    let mut diagnostics = entry.diagnostics.iter();
    diagnostics.find(|diagnostic| diagnostic.code == DiagnosticCode::VersionNotFound)
}

/// Warns that a skill has a version that differs from the configured one.
pub(crate) fn warn_of_version(workspace: &Workspace, entry: &CatalogEntry) {
    if let Some(problem) = pin_problem(entry) {
        workspace.warn_once(&one_line(&problem.message));
    }
}

/// A skill whose content may be shown once it was screened: an invalid, untrusted or disabled one is refused with its reasons. One
/// whose version differs from the configured one is used with a warning.
pub(crate) fn find_usable<'a>(
    workspace: &Workspace,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a InventorySkill, Error> {
    let skill = usable(workspace, inventory, name)?;
    warn_of_version(workspace, inventory.entry(skill));
    Ok(skill)
}

/// [`find_usable`] without the warning, for a conversation that has its own.
pub(crate) fn usable<'a>(
    workspace: &Workspace,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a InventorySkill, Error> {
    let skill = find(workspace, inventory, name)?;
    let entry = inventory.entry(skill);
    let refuse = |code, what: &str| {
        Error::unmet(code, format!("skill `{}` {what}", entry.name())).skill(entry.name())
    };
    match skill.status {
        Status::Ready | Status::NotReady | Status::Shadowed => Ok(skill),
        // The list knows the last verdict only; the content is scanned again before it is returned.
        Status::Blocked if skill.reasons.iter().all(|reason| reason.kind != Untrusted) => Ok(skill),
        Status::Invalid => {
            let failure = refuse("invalid", "can't be read").path(entry.manifest_path());
            let error = entry
                .diagnostics
                .iter()
                .find(|diagnostic| diagnostic.severity == metier_model::DiagnosticSeverity::Error);
            let failure = error
                .map(|error| error.message.to_string())
                .into_iter()
                .fold(failure, Error::detail);
            Err(failure
                .line(
                    error
                        .and_then(|error| error.position)
                        .map(|position| position.line),
                )
                .hint(format!(
                    "metier validate {}",
                    shell_word(&entry.place.path().to_string_lossy())
                )))
        }
        Status::Blocked | Status::Disabled => {
            let what = if skill.status == Status::Blocked {
                "is blocked"
            } else {
                "is disabled"
            };
            let code = if skill.status == Status::Blocked {
                "blocked"
            } else {
                "disabled"
            };
            let failure = skill
                .reasons
                .iter()
                .fold(refuse(code, what), |failure, reason| {
                    failure.detail(reason.message.to_string())
                });
            let hint = skill
                .reasons
                .iter()
                .find_map(|reason| reason.hint.as_deref());
            Err(failure.hint(hint.unwrap_or("metier info shows why")))
        }
    }
}
