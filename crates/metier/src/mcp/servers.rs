//! From the configuration to a connection.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use metier_config::ServerSettings;
use metier_mcp::{McpConnection, McpEndpoint, McpError, McpLimits, McpLogin, ServerEntry};

use crate::{Workspace, machine};

/// Variables of metier's own environment that every server's program gets. Keys of models and other secrets are not among them: a program that needs one gets it
/// by `env` in the configuration.
const PASSED: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The open connections of a workspace, by what they are for and the server's label.
#[derive(Default)]
pub(crate) struct ServerPool {
    open: Mutex<BTreeMap<(&'static str, String), Arc<McpConnection>>>,
}

impl ServerPool {
    /// The connection to a server, opened if there is none.
    pub(crate) fn connection(
        &self,
        kind: &'static str,
        server: &ServerEntry,
        stop: &dyn Fn() -> bool,
    ) -> Result<Arc<McpConnection>, McpError> {
        let key = (kind, server.label.clone());
        let found = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.get(&key).cloned()
        };
        if let Some(found) = found.filter(|found| !found.is_closed()) {
            return Ok(found);
        }
        // Opened without holding the lock, so that a slow server delays no other.
        let opened = Arc::new(McpConnection::open(server, stop)?);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let replaced = open.insert(key, Arc::clone(&opened));
        drop(open);
        drop(replaced);
        Ok(opened)
    }
}

impl ServerPool {
    /// Ends all connections.
    pub(crate) fn close(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut *open);
        drop(open);
        drop(all);
    }
}

impl Workspace {
    /// A server as it is configured, or what is wrong with it.
    pub(crate) fn server(
        &self,
        label: &str,
        settings: &ServerSettings,
    ) -> Result<ServerEntry, String> {
        let mut limits = McpLimits::default();
        if let Some(seconds) = settings.timeout {
            limits.connect = Duration::from_secs(seconds);
            limits.request = limits.connect;
        }
        let endpoint = match (&settings.command, &settings.url) {
            (Some(command), None) => McpEndpoint::Program {
                command: self.program(command),
                args: settings.args.clone(),
                env: environment(settings)?,
                folder: self.server_folder(),
            },
            (None, Some(url)) => {
                let parsed = url.parse();
                let url: url::Url = parsed.map_err(|error| format!("its `url`: {error}"))?;
                if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
                    return Err("its `url` has to start with `https://` or `http://`".to_owned());
                }
                let header = |(name, value): (&String, &metier_config::Secret)| {
                    let value = expanded(value.expose())?;
                    Ok((name.to_ascii_lowercase(), value))
                };
                let headers = settings.headers.iter().map(header);
                McpEndpoint::Address {
                    url,
                    headers: headers.collect::<Result<_, String>>()?,
                    login: self.server_login(label, settings),
                }
            }
            (Some(_), Some(_)) => return Err("it has both `command` and `url`".to_owned()),
            (None, None) => return Err("it has neither `command` nor `url`".to_owned()),
        };
        Ok(ServerEntry {
            label: label.to_owned(),
            endpoint,
            limits,
        })
    }

    /// The tokens of a server, unless the configuration has its own header for that.
    fn server_login(&self, label: &str, settings: &ServerSettings) -> Option<McpLogin> {
        let mut names = settings.headers.keys();
        if names.any(|name| name.eq_ignore_ascii_case("authorization")) {
            return None;
        }
        Some(McpLogin {
            file: self.machine.server_tokens()?.join(format!("{label}.json")),
            prompt: None,
            client_id: None,
            client_secret: None,
            client_metadata_url: None,
        })
    }

    /// Whether the user asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.settings.stop.load(Ordering::Acquire)
    }

    fn program(&self, command: &str) -> String {
        match (command.strip_prefix("~/"), &self.machine.home) {
            (Some(below), Some(home)) => home.join(below).to_string_lossy().into_owned(),
            _ => command.to_owned(),
        }
    }

    /// The home folder and never the project: tools such as `npx` prefer programs of the folder that they run in, and a project arrives with a clone.
    fn server_folder(&self) -> PathBuf {
        let home = self.machine.home.clone();
        home.unwrap_or_else(|| PathBuf::from("/"))
    }
}

/// The whole environment of a server's program.
fn environment(settings: &ServerSettings) -> Result<Vec<(String, String)>, String> {
    let passed = PASSED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), machine::variable(name)?)));
    let mut all: BTreeMap<String, String> = passed.collect();
    for (name, value) in &settings.env {
        all.insert(name.clone(), expanded(value.expose())?);
    }
    Ok(all.into_iter().collect())
}

fn expanded(text: &str) -> Result<String, String> {
    expand(text, machine::variable)
}

/// A text with the values of `${NAME}` in their places.
fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        let found = value(name).filter(|value| !value.is_empty());
        out.push_str(&found.ok_or_else(|| {
            format!(
                "the variable `{}` is not set",
                metier_model::text::visible(name)
            )
        })?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_replaced_once() {
        let value = |name: &str| match name {
            "KEY" => Some("${OTHER}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = expand(text, value);
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found, expected, "{text}");
        };
        check("plain $KEY", Ok("plain $KEY"));
        check("Bearer ${KEY}!", Ok("Bearer ${OTHER}!"));
        check("${KEY", Ok("${KEY"));
        check("${MISSING}", Err("the variable `MISSING` is not set"));
        check("a ${EMPTY}", Err("the variable `EMPTY` is not set"));
    }
}
