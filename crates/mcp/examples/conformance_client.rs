//! The client role of the MCP conformance suite: metier's client does what each scenario expects of a host.
//!
//! ```console
//! $ npx @modelcontextprotocol/conformance client --command target/debug/examples/conformance_client --suite all
//! ```
//!
//! The suite appends the URL of its server and names the scenario in `MCP_CONFORMANCE_SCENARIO`.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::{
    error::Error,
    io::{Read, Write},
    net::TcpStream,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use metier_catalog::{MemoryBudget, RemoteFile, RemoteReader, RemoteSkill, SkillLocation};
use metier_mcp::{
    LoginPrompt, McpConnection, McpEndpoint, McpLimits, McpLogin, McpSkill, ServerEntry,
};
use serde_json::{Map, Value, json};

type Done = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let url = std::env::args().next_back().unwrap_or_default();
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    match run(&url, &scenario) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{scenario}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str, scenario: &str) -> Done {
    let server = ServerEntry {
        label: "suite".to_owned(),
        endpoint: McpEndpoint::Address {
            url: url.parse()?,
            headers: Vec::new(),
            login: Some(login()),
        },
        limits: McpLimits::default(),
    };
    let connection = McpConnection::open(&server, &|| false)?;
    println!("{scenario}: version {}", connection.protocol());
    match scenario {
        "sep-2640-client-no-prefetch" => {
            connection.skills(&|| false)?;
            Ok(())
        }
        name if name.starts_with("sep-2640-") => load_all(connection),
        "json-schema-2020-12-preservation" => echo_schema(&connection),
        _ => match planned_calls() {
            Some(calls) => call_planned(&connection, &calls),
            None => call_all(&connection),
        },
    }
}

/// A login whose browser follows the redirect of the suite's authorization server.
fn login() -> McpLogin {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    McpLogin {
        file: std::env::temp_dir().join(format!("metier-conformance-{}.json", std::process::id())),
        prompt: Some(Arc::new(Redirected)),
        client_id: text("client_id"),
        client_secret: text("client_secret"),
        client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
    }
}

/// Requests the URL itself, and treats the redirect as the browser's way back.
struct Redirected;

impl LoginPrompt for Redirected {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn visit(&self, url: &str) -> Result<String, String> {
        let wrong = |error: &dyn std::fmt::Display| error.to_string();
        let url: url::Url = url.parse().map_err(|error| wrong(&error))?;
        let address = format!(
            "{}:{}",
            url.host_str().unwrap_or_default(),
            url.port_or_known_default().unwrap_or(80)
        );
        let mut stream = TcpStream::connect(&address).map_err(|error| wrong(&error))?;
        let path = &url[url::Position::BeforePath..];
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream
            .write_all(request.as_bytes())
            .map_err(|error| wrong(&error))?;
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .map_err(|error| wrong(&error))?;
        let location = answer.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location")
                .then(|| value.trim().to_owned())
        });
        location.ok_or_else(|| "the authorization server sent no redirect".to_owned())
    }
}

/// Lists the tools and calls each once, with an input that matches its schema.
fn call_all(connection: &McpConnection) -> Done {
    let (tools, _) = connection.tools(&|| false)?;
    for tool in tools {
        let input = sample(&tool.input_schema);
        let input = input.as_object().cloned().unwrap_or_else(Map::new);
        match connection.call(&tool.name, input, Duration::from_secs(20), &|| false) {
            Ok(result) => println!("{}: {}", tool.name, result.text),
            Err(error) => println!("{}: {error}", tool.name),
        }
    }
    Ok(())
}

/// The calls that the suite requests, if any.
fn planned_calls() -> Option<Vec<Value>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?;
    let context: Value = serde_json::from_str(&context).ok()?;
    context["toolCalls"].as_array().cloned()
}

fn call_planned(connection: &McpConnection, calls: &[Value]) -> Done {
    // The list of tools states the headers of each call.
    connection.tools(&|| false)?;
    for call in calls {
        let name = call["name"].as_str().unwrap_or_default();
        let input = call["arguments"].as_object().cloned().unwrap_or_default();
        connection.call(name, input, Duration::from_secs(20), &|| false)?;
    }
    Ok(())
}

/// Sends the schema of one tool back as the input of another.
fn echo_schema(connection: &McpConnection) -> Done {
    let (tools, _) = connection.tools(&|| false)?;
    let focal = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let focal = focal.ok_or("the tool is not listed")?;
    let input = Map::from_iter([("schema".to_owned(), focal.input_schema.clone())]);
    connection.call("json_schema_echo", input, Duration::from_secs(20), &|| {
        false
    })?;
    Ok(())
}

/// A value that matches a simple schema.
fn sample(schema: &Value) -> Value {
    let first = |key: &str| schema[key].as_array().and_then(|all| all.first()).cloned();
    if let Some(value) = first("examples").or_else(|| first("enum")) {
        return value;
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!("text"),
        Some("integer") => json!(3),
        Some("number") => json!(2.5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        _ => {
            let properties = schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let sampled = properties
                .iter()
                .map(|(name, inner)| (name.clone(), sample(inner)));
            Value::Object(sampled.collect())
        }
    }
}

/// Loads every listed skill as the catalog does: SKILL.md first, everything verified.
fn load_all(connection: McpConnection) -> Done {
    let listing = connection.skills(&|| false)?;
    let connection = Arc::new(connection);
    for entry in &listing.entries {
        let skill = McpSkill::read(entry)?;
        let reader = Arc::new(Served {
            connection: Arc::clone(&connection),
            root: skill.root()?.to_owned(),
        });
        let remote = RemoteSkill::new(&skill.uri, skill.manifest()?, reader);
        let room = MemoryBudget {
            file: 16 << 20,
            total: 16 << 20,
        };
        let snapshot = SkillLocation::Remote(remote).snapshot(room)?;
        println!("loaded {} files", snapshot.files.len());
    }
    Ok(())
}

struct Served {
    connection: Arc<McpConnection>,
    root: String,
}

impl RemoteReader for Served {
    fn read(&self, file: &RemoteFile) -> Result<Vec<u8>, String> {
        let uri = format!("{}/{}", self.root, file.path);
        let read = self.connection.read(&uri, &|| false);
        read.map_err(|error| error.to_string())
    }

    fn verified(&self, _: &RemoteFile, _: &[u8]) {}

    fn differs(&self) {}
}
