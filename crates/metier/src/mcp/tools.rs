//! Tools of the servers of `agent.mcp`, for conversations.

use std::{collections::BTreeMap, sync::Arc, thread, time::Duration};

use metier_agent::{Cancel, ToolServers};
use metier_mcp::{McpError, McpTool, ServerEntry};
use metier_model::text::visible;
use metier_runtime::live::ServedTool;
use metier_sdk::wire::ToolOutput;
use serde_json::Value;

use super::servers::ServerPool;
use crate::{NoticeLevel, Workspace, text::one_line};

const KIND: &str = "tools";
/// The maximum number of tools of a server that a model gets.
const MAX_TOOLS: usize = 128;
/// The maximum size of a result, in bytes.
const MAX_RESULT: usize = 1 << 20;

/// The tools of all servers, and the connections to call them.
pub(crate) struct ServerTools {
    tools: Vec<ServedTool>,
    servers: BTreeMap<String, ServerEntry>,
    pool: Arc<ServerPool>,
    limit: Duration,
}

impl Workspace {
    /// The tools of the servers of `agent.mcp`. The servers are started once, when a conversation is prepared; one that fails is a notice.
    pub(crate) fn server_tools(&self) -> Arc<ServerTools> {
        Arc::clone(self.served.get_or_init(|| Arc::new(self.list_tools())))
    }

    fn list_tools(&self) -> ServerTools {
        let warn = |label: &str, problem: &str| {
            let line = format!("MCP server `{label}`: {}", one_line(problem));
            self.notices.notice(NoticeLevel::Warning, &line);
        };
        let mut servers = BTreeMap::new();
        for (label, settings) in &self.config.agent.mcp {
            match self.server(label, settings) {
                Ok(server) => drop(servers.insert(label.clone(), server)),
                Err(problem) => warn(label, &problem),
            }
        }
        let stop = || self.is_stopped();
        let listed: Vec<_> = thread::scope(|scope| {
            let ask = |server: &ServerEntry| {
                let connection = self.mcp.connection(KIND, server, &stop)?;
                connection.tools(&stop)
            };
            let asked: Vec<_> = servers
                .values()
                .map(|server| (server, scope.spawn(move || ask(server))))
                .collect();
            asked
                .into_iter()
                .map(|(server, asked)| (server.label.clone(), asked.join()))
                .collect()
        });
        let mut tools = Vec::new();
        for (label, listed) in listed {
            match listed {
                Ok(Ok((found, cut))) => {
                    cut.into_iter().for_each(|cut| warn(&label, &cut));
                    tools.extend(self.usable(&label, found, &warn));
                }
                Ok(Err(error)) => warn(&label, &error.to_string()),
                Err(_) => warn(&label, "its tools could not be listed"),
            }
        }
        ServerTools {
            tools,
            servers,
            pool: Arc::clone(&self.mcp),
            limit: Duration::from_secs(self.config.limits.tool_timeout),
        }
    }

    /// The tools of a server that a model can get. One whose description instructs the model is left out.
    fn usable(
        &self,
        label: &str,
        found: Vec<McpTool>,
        warn: &dyn Fn(&str, &str),
    ) -> Vec<ServedTool> {
        let allowed = self.config.agent.mcp.get(label);
        let allowed: &[String] = allowed.map_or(&[], |settings| &settings.allow);
        if found.len() > MAX_TOOLS {
            let rest = found.len() - MAX_TOOLS;
            warn(
                label,
                &format!("{rest} of its tools are left out: a server has at most {MAX_TOOLS}"),
            );
        }
        let mut tools: Vec<ServedTool> = Vec::new();
        for tool in found.into_iter().take(MAX_TOOLS) {
            let shown: String = visible(&tool.name).chars().take(80).collect();
            let instructs = metier_scan::judge_words(&tool.name, &tool.description, "");
            let problem = match instructs {
                Some(found) => Some(format!("{} [{}]", found.message, found.rule)),
                None if tools.iter().any(|known| known.name() == tool.name) => {
                    Some("it is listed twice".to_owned())
                }
                None => {
                    let is_allowed = allowed.contains(&tool.name);
                    let (name, text) = (&tool.name, &tool.description);
                    match ServedTool::new(label, name, text, tool.input_schema, is_allowed) {
                        Ok(tool) => {
                            tools.push(tool);
                            None
                        }
                        Err(problem) => Some(problem),
                    }
                }
            };
            if let Some(problem) = problem {
                warn(label, &format!("its tool `{shown}` is left out: {problem}"));
            }
        }
        tools
    }
}

impl ToolServers for ServerTools {
    fn tools(&self) -> &[ServedTool] {
        &self.tools
    }

    fn call(
        &self,
        tool: &ServedTool,
        input: &Value,
        cancel: &Cancel,
    ) -> Result<ToolOutput, String> {
        let label = tool.server();
        let failed = |error: McpError| format!("MCP server `{label}`: {error}");
        let server = self
            .servers
            .get(label)
            .ok_or("its server is not configured")?;
        let input = input.as_object().cloned().unwrap_or_default();
        let stop = || cancel.is_cancelled();
        let connection = self.pool.connection(KIND, server, &stop).map_err(failed)?;
        // A call is not repeated when the connection breaks: the server may have carried it out.
        let done = connection.call(tool.name(), input, self.limit, &stop);
        let done = done.map_err(failed)?;
        Ok(ToolOutput {
            output: cut(done.text).into(),
            is_error: done.is_error,
        })
    }
}

fn cut(text: String) -> String {
    if text.len() <= MAX_RESULT {
        return text;
    }
    let end = text.floor_char_boundary(MAX_RESULT);
    let missing = text.len() - end;
    format!("{}\n[cut: {missing} more bytes]", &text[..end])
}
