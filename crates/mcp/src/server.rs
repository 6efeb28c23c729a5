//! The user's configuration of a server.

use std::{path::PathBuf, time::Duration};

use url::Url;

use crate::login::McpLogin;

/// A server that the user configured.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    /// The user's name for it. The server's own name is never used.
    pub label: String,
    /// How it is reached.
    pub endpoint: McpEndpoint,
    /// The limits of time and size.
    pub limits: McpLimits,
}

/// How a server is reached.
#[derive(Clone)]
pub enum McpEndpoint {
    /// A program that is started, with MCP on its standard input and output.
    Program {
        /// The program: a path, or a name that is looked up in `PATH` of `env`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its whole environment.
        env: Vec<(String, String)>,
        /// The folder that it runs in.
        folder: PathBuf,
    },
    /// An address with streamable HTTP.
    Address {
        /// The address.
        url: Url,
        /// Headers that are sent with every request.
        headers: Vec<(String, String)>,
        /// How the user is authorized there, if the headers are not enough.
        login: Option<McpLogin>,
    },
}

// Values of the environment and of headers are often secrets.
impl std::fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program { command, args, .. } => f
                .debug_struct("Program")
                .field("command", command)
                .field("args", args)
                .finish_non_exhaustive(),
            Self::Address { url, .. } => f
                .debug_struct("Address")
                .field("url", &url.as_str())
                .finish_non_exhaustive(),
        }
    }
}

/// The limits of one connection.
#[derive(Clone, Copy, Debug)]
pub struct McpLimits {
    /// To start the program or reach the address, and to agree on a version.
    pub connect: Duration,
    /// For one request, such as a page of a list or a file.
    pub request: Duration,
    /// Bytes of one message.
    pub message: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Skills or tools of a server.
    pub items: usize,
    /// Bytes of all pages of one list.
    pub list_bytes: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            request: Duration::from_secs(30),
            // A file of 16 MiB is 22 MiB of base64.
            message: 32 << 20,
            pages: 200,
            items: 2_000,
            list_bytes: 32 << 20,
        }
    }
}

impl ServerEntry {
    /// A string that changes when the user configures another program or address: data about one server is not used for another.
    #[must_use]
    pub fn identity(&self) -> String {
        match &self.endpoint {
            McpEndpoint::Program {
                command,
                args,
                folder,
                ..
            } => format!(
                "program\0{command}\0{}\0{}",
                args.join("\0"),
                folder.display()
            ),
            McpEndpoint::Address { url, .. } => format!("address\0{url}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_in_debug_output() {
        let address = McpEndpoint::Address {
            url: "https://x.example/mcp".parse().unwrap(),
            headers: vec![("authorization".into(), "Bearer hunter2".into())],
            login: None,
        };
        let program = McpEndpoint::Program {
            command: "server".into(),
            args: vec![],
            env: vec![("TOKEN".into(), "hunter2".into())],
            folder: "/".into(),
        };
        for endpoint in [address, program] {
            assert!(!format!("{endpoint:?}").contains("hunter2"));
        }
    }
}
