//! Logging in at MCP servers that require it.

use std::{fs, sync::Arc, time::Duration};

use metier_mcp::{BrowserLogin, McpConnection, McpEndpoint, ServerEntry};

use crate::{Error, Workspace};

/// How long the user can take in the browser.
const IN_BROWSER: Duration = Duration::from_secs(300);

impl Workspace {
    /// Sends the user to the login of a server of `skills.mcp` or `agent.mcp`, and keeps the tokens in a file that only the user can read. `tell` shows the
    /// address to open in a browser.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// workspace.login_at_server("docs", |address| println!("open {address}"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such server, when it has no login, or when the login fails.
    pub fn login_at_server(
        &self,
        name: &str,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let mut server = self.server_with_login(name)?;
        let prompt = BrowserLogin::new(IN_BROWSER, tell)?;
        if let McpEndpoint::Address {
            login: Some(login), ..
        } = &mut server.endpoint
        {
            login.prompt = Some(Arc::new(prompt));
        }
        let opened = McpConnection::open(&server, &|| self.is_stopped());
        opened.map(drop).map_err(|error| {
            Error::unmet("login", format!("MCP server `{name}`: {error}"))
                .hint(format!("metier login --mcp {name}"))
        })
    }

    /// Removes the tokens of a server; returns whether there were any. An example is at [`Workspace::login_at_server`].
    ///
    /// # Errors
    /// When there is no such server, or when the file can't be removed.
    pub fn logout_at_server(&self, name: &str) -> Result<bool, Error> {
        let server = self.server_with_login(name)?;
        let McpEndpoint::Address {
            login: Some(login), ..
        } = &server.endpoint
        else {
            return Ok(false);
        };
        match fs::remove_file(&login.file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::unwritable(&login.file, &error)),
        }
    }

    fn server_with_login(&self, name: &str) -> Result<ServerEntry, Error> {
        let unmet = |message: String| Error::unmet("mcp-server", message);
        let config = &self.config;
        let settings = config.mcp.get(name).or_else(|| config.agent.mcp.get(name));
        let shown = crate::text::one_line(name);
        let Some(settings) = settings else {
            return Err(unmet(format!("no MCP server `{shown}` is configured"))
                .hint("metier config lists `skills.mcp` and `agent.mcp`"));
        };
        let server = self.server(name, settings);
        let server = server.map_err(|problem| unmet(format!("MCP server `{shown}`: {problem}")))?;
        match &server.endpoint {
            McpEndpoint::Address { login: Some(_), .. } => Ok(server),
            McpEndpoint::Address { login: None, .. } => Err(unmet(format!(
                "MCP server `{shown}` has a header `Authorization` in the configuration, so it needs no login"
            ))
            .hint(format!("remove the header from `{shown}` to log in instead"))),
            McpEndpoint::Program { .. } => Err(unmet(format!(
                "MCP server `{shown}` is a program, which has no login here"
            ))
            .hint("give it what it needs with `env` in the configuration")),
        }
    }
}
