//! `metier login`

use std::io::{self, BufRead, IsTerminal};

use metier_wire::LoginDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
    password,
};

/// Log in to a registry, to publish there
///
/// The token is read from the terminal, or from standard input in scripts, and checked. It is stored in a file that only you can read. The registry's
/// administrator creates tokens with `metier-registry token new`.
#[derive(clap::Args)]
pub(crate) struct LoginArgs {
    /// The registry [default: the first one of `skills.registry_url`]
    #[arg(value_name = "URL")]
    registry: Option<String>,
    /// Log in to an MCP server of `skills.mcp` or `agent.mcp` instead, with a browser on this machine
    #[arg(long, value_name = "NAME", conflicts_with = "registry")]
    mcp: Option<String>,
    /// Forget the token
    #[arg(long)]
    logout: bool,
    /// Check the token, but store or remove nothing
    #[arg(long, conflicts_with = "mcp")]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &LoginArgs) -> Result<Exit, Failure> {
    if let Some(server) = &args.mcp {
        return at_server(run, server, args.logout);
    }
    let registry = match &args.registry {
        Some(registry) => registry.clone(),
        None => match run.registries()?.first() {
            Some(first) => first.to_string(),
            None => {
                return Err(Failure::unmet("no-registry", "no registry is configured")
                    .hint("metier login https://…"));
            }
        },
    };
    let output = &run.output;
    let shown = one_line(&registry);
    if args.logout {
        let was_there = run.logout(&registry, args.dry_run)?;
        if output.is_json() {
            output.document(&LoginDocument {
                registry: &registry,
                account: None,
                scope: None,
            })?;
            return Ok(Exit::Ok);
        }
        output.report(&match (was_there, args.dry_run) {
            (true, false) => format!("removed the token for {shown}\n"),
            (true, true) => format!("would remove the token for {shown}\n"),
            (false, _) => format!("no token for {shown} was stored\n"),
        })?;
        return Ok(Exit::Ok);
    }
    let account = run.login(&registry, &token(run)?, args.dry_run)?;
    if output.is_json() {
        output.document(&LoginDocument {
            registry: &registry,
            account: Some(&account.owner),
            scope: Some(&account.scope),
        })?;
        return Ok(Exit::Ok);
    }
    let sign = output.paint("✓", Tone::Good);
    let (owner, scope) = (one_line(&account.owner), one_line(&account.scope));
    output.report(&match args.dry_run {
        true => format!("the token for {shown} is valid for {owner} ({scope}); not stored\n"),
        false => format!("{sign} logged in to {shown} as {owner} ({scope})\n"),
    })?;
    Ok(Exit::Ok)
}

/// Logs in to an MCP server, which sends the user to a browser, or forgets its token.
fn at_server(run: &CliRun, server: &str, logout: bool) -> Result<Exit, Failure> {
    let output = &run.output;
    let shown = one_line(server);
    let done = if logout {
        match run.logout_at_server(server)? {
            true => format!("removed the token for {shown}\n"),
            false => format!("no token for {shown} was stored\n"),
        }
    } else {
        if !io::stderr().is_terminal() {
            let message =
                format!("the login at MCP server `{shown}` needs a terminal and a browser");
            return Err(Failure::unmet("no-terminal", message)
                .hint("run it at a terminal, or put a token into `headers` of the server"));
        }
        let talk = output.clone();
        run.login_at_server(server, move |address| {
            talk.note(&format!(
                "open this address in a browser on this machine:\n{}",
                one_line(address)
            ));
        })?;
        format!("logged in at {shown}\n")
    };
    if output.is_json() {
        output.document(&LoginDocument {
            registry: server,
            account: None,
            scope: None,
        })?;
    } else {
        output.report(&done)?;
    }
    Ok(Exit::Ok)
}

/// The token, as it was typed or piped.
fn token(run: &CliRun) -> Result<String, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return password::typed(run, "Token: ");
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    match line.trim() {
        "" => Err(Failure::unmet("token", "standard input contains no token")
            .hint("metier login URL < FILE, or type it on a terminal")),
        token => Ok(token.to_owned()),
    }
}
