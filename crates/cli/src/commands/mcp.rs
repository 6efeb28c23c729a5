//! `metier mcp`

use std::{io::IsTerminal, sync::Arc};

use metier::Machine;
use metier_server::{McpServeError, serve};

use crate::{
    cli::Global,
    cli_run::settings,
    failure::{Exit, Failure},
    output::{Output, Tone},
};

/// Serve the skills to an agent, over MCP on stdin and stdout
///
/// The agent starts this command, not you. Most agents accept this in their MCP configuration, such as `.mcp.json` (Claude
/// Code) or `.cursor/mcp.json` (Cursor):
///
/// {"mcpServers": {"metier": {"command": "metier", "args": ["mcp"]}}}
///
/// The model gets tools to search, list, activate, read, scan and execute skills, and to call the tools that skills provide. Permissions are
/// requested through the agent, if it can ask you; otherwise approve what a skill needs in advance, with `metier permissions NAME --approve`, in the
/// configuration, or with `--approve-skills` after `mcp`. Other flags work too, such as `--root DIR` for the skills of one folder.
#[derive(clap::Args)]
pub(crate) struct McpArgs {}

pub(crate) fn run(
    global: &Global,
    machine: &Machine,
    output: &Output,
    _args: &McpArgs,
) -> Result<Exit, Failure> {
    if std::io::stdin().is_terminal() {
        output.note(&format!(
            "{} waiting for an MCP client on stdin; `metier mcp --help` shows how an agent starts this",
            output.paint_talk("note:", Tone::Note)
        ));
    }
    metier::restore_protected_places(machine, output)?;
    let output = Arc::new(Output::unattended(global));
    let served = serve(settings(global, machine, &output));
    served.map_err(|error| match error {
        McpServeError::Os(error) => {
            Failure::broken("server", format!("the server can't be started: {error}"))
        }
        error => Failure::unmet("no-client", error.to_string())
            .hint("an agent starts this: `metier mcp --help` shows how"),
    })?;
    Ok(Exit::Ok)
}
