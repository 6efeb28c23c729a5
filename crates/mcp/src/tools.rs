//! The tools of a server: described, and called.

use std::{sync::Arc, time::Duration};

use rmcp::model::{
    CallToolRequestParams, ContentBlock, PaginatedRequestParams, ResourceContents, Tool,
};
use serde_json::{Map, Value};

use crate::{
    connection::{McpConnection, Service},
    error::McpError,
};

/// A tool in its server's description.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// Its name on the server.
    pub name: String,
    /// Its server's description.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToolResult {
    /// Its text; other content is named.
    pub text: String,
    /// Whether the tool reported an error.
    pub is_error: bool,
}

impl McpConnection {
    /// The tools that it offers, and why the rest was not read if there is more.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn tools(
        &self,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Vec<McpTool>, Option<String>), McpError> {
        const WHAT: &str = "tools/list";
        if !self.has_tools() {
            return Ok((Vec::new(), None));
        }
        let limits = self.limits();
        let mut tools: Vec<McpTool> = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let params = PaginatedRequestParams::default().with_cursor(cursors.last().cloned());
            let send = |service: Arc<Service>| {
                let params = params.clone();
                async move { service.list_tools(Some(params)).await }
            };
            let page = self.asked(WHAT, limits.request, stop, send)?;
            tools.extend(page.tools.into_iter().map(described));
            if tools.len() > limits.items {
                tools.truncate(limits.items);
                let cut = format!("it offers more than {} tools", limits.items);
                return Ok((tools, Some(cut)));
            }
            match page.next_cursor.filter(|next| !next.is_empty()) {
                None => return Ok((tools, None)),
                Some(next) if cursors.contains(&next) || cursors.len() + 1 >= limits.pages => {
                    return Ok((tools, Some("its list of tools does not end".to_owned())));
                }
                Some(next) => cursors.push(next),
            }
        }
    }

    /// Calls a tool. When `stop` returns true, or after `limit`, the server gets a cancellation of the call.
    ///
    /// # Errors
    /// If it does not answer, or with an error of the protocol. An error of the tool is a result.
    pub fn call(
        &self,
        tool: &str,
        input: Map<String, Value>,
        limit: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<McpToolResult, McpError> {
        const WHAT: &str = "tools/call";
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        let send = |service: Arc<Service>| {
            let params = params.clone();
            async move { service.call_tool(params).await }
        };
        let result = self.asked(WHAT, limit, stop, send)?;
        let mut texts: Vec<String> = result.content.iter().map(text).collect();
        // A server of the newer protocol can return data alone.
        if texts.is_empty() {
            texts.extend(result.structured_content.map(|value| value.to_string()));
        }
        Ok(McpToolResult {
            text: texts.join("\n"),
            is_error: result.is_error.unwrap_or_default(),
        })
    }
}

fn described(tool: Tool) -> McpTool {
    McpTool {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: Value::Object((*tool.input_schema).clone()),
    }
}

/// A part of a result as text.
fn text(block: &ContentBlock) -> String {
    let binary = |what: &str, mime: &str, base64: &str| {
        format!("[{what} ({mime}), {} bytes]", base64.len() / 4 * 3)
    };
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => binary("an image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => binary("a sound", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, blob, .. } => binary("a file", uri, blob),
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[a link to {}]", link.uri),
        _ => "[content of an unknown kind]".to_owned(),
    }
}
