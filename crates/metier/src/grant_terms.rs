//! The terms of approvals: rates, time-outs, and what a name in the configuration approves.

use std::{path::Path, time::Duration};

use metier_catalog::CatalogEntry;
use metier_policy::{GrantTerms, Rates};

use crate::Workspace;

/// The terms of every grant of this run.
pub(crate) fn terms(workspace: &Workspace) -> GrantTerms {
    let limits = &workspace.config.limits;
    let prefixes = workspace.config.security.allowed_command_prefixes.as_ref();
    let words = |prefix: &String| prefix.split_whitespace().map(str::to_owned).collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    GrantTerms {
        rates: Rates {
            shell_exec: limits.max_shell_exec_per_turn,
            net_fetch: limits.max_net_fetch_per_turn,
            llm_call: limits.max_llm_calls_per_turn,
        },
        shell_timeout: Duration::from_secs(limits.shell_exec_timeout),
        fetch_timeout: Duration::from_secs(limits.net_fetch_timeout),
        prefixes: prefixes.map(|prefixes| prefixes.iter().map(words).collect()),
        project: real(&workspace.machine.project),
        home: workspace.machine.home.as_deref().map(real),
    }
}

/// Why a bare name in the configuration does not approve this skill, and the name that does.
pub(crate) fn meant_by_name(entry: &CatalogEntry) -> String {
    let (name, source) = (entry.name(), entry.source.as_str());
    format!(
        "`{name}` in skills.approved means your own and built-in skills; this one has the source {source}: \
         use `{source}:{name}`"
    )
}
