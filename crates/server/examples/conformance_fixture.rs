//! The MCP server with the fixtures of the conformance suite: its own tools, prompts and resources are added, everything else is the real server.
//!
//! ```console
//! $ cargo run -p metier-server --example conformance_fixture -- 7718 SKILLS
//! $ npx @modelcontextprotocol/conformance@0.2.0-alpha.12 server --url http://127.0.0.1:7718/mcp --requirements 2026-07-28
//! ```
//!
//! SKILLS is a folder of skills. One of the tools of the suite requests a change of the prompts: then a skill is written there, and the server notices it
//! as it notices any other.
#![expect(
    deprecated,
    reason = "the suite asks for sampling, roots and messages, which the protocol deprecates"
)]
#![expect(clippy::print_stdout, reason = "it is a program for a terminal")]

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use metier::{NamedRoot, Settings, Source, Workspace};
use metier_server::{McpServer, mcp_http_config};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{NotificationContext, RequestContext, SubscriptionContext},
    transport::streamable_http_server::{
        StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{sync::broadcast, time::sleep};

/// A picture of one pixel, and a sound of no samples.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

#[derive(Clone)]
struct Fixture {
    real: McpServer,
    skills: PathBuf,
    tools_changed: broadcast::Sender<()>,
}

type Anything = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<ExitCode, Anything> {
    if let Some(code) = metier::worker::run_if_worker() {
        return Ok(code);
    }
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().as_deref().unwrap_or("7718").parse()?;
    let skills = PathBuf::from(arguments.next().unwrap_or_else(|| "skills".to_owned()));
    write_skill(&skills, "a-fixture")?;
    let settings = Settings {
        roots: vec![NamedRoot {
            source: Source::Project,
            path: skills.clone(),
        }],
        ..Settings::from_env()?
    };
    let fixture = Fixture {
        real: McpServer::watched(Workspace::open(settings)?.live()?),
        skills,
        tools_changed: broadcast::channel(16).0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let hosts = ["localhost", "127.0.0.1"];
        let origins = [
            format!("http://{address}"),
            format!("http://localhost:{port}"),
        ];
        let make = move || {
            Ok(Fixture {
                real: fixture.real.for_client(),
                ..fixture.clone()
            })
        };
        let service = StreamableHttpService::new(
            make,
            Arc::<LocalSessionManager>::default(),
            mcp_http_config(hosts, origins),
        );
        println!("http://{address}/mcp");
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// A skill with a folder below it: the suite looks into the first one that it finds.
fn write_skill(skills: &Path, name: &str) -> std::io::Result<()> {
    let folder = skills.join(name);
    std::fs::create_dir_all(folder.join("references"))?;
    std::fs::write(folder.join("references/note.md"), "A note.\n")?;
    let text =
        "description: Is a fixture of the conformance suite.\n---\nSee references/note.md.\n";
    std::fs::write(
        folder.join("SKILL.md"),
        format!("---\nname: {name}\n{text}"),
    )
}

fn text(words: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A content block, a request or a resource, as the suite writes it.
fn blocks(blocks: Value) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(from(blocks)?).into())
}

/// A result that asks for inputs.
fn asks(requests: Value, state: Option<Value>) -> Result<InputRequiredResult, ErrorData> {
    let state = state.map(|state| sealed(&state));
    Ok(InputRequiredResult::new(Some(from(requests)?), state))
}

/// A state with a checksum over it: who changes one does not know the other.
fn sealed(state: &Value) -> String {
    format!("{:016x}{state}", checksum(&state.to_string()))
}

fn opened(state: &str) -> Result<Value, ErrorData> {
    let broken = || ErrorData::invalid_params("the requestState was changed", None);
    let (sum, body) = state.split_at_checked(16).ok_or_else(broken)?;
    if format!("{:016x}", checksum(body)) != sum {
        return Err(broken());
    }
    serde_json::from_str(body).map_err(|_| broken())
}

fn checksum(text: &str) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    static KEY: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    KEY.hash_one(text)
}

fn form(message: &str, properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "required": required});
    schema["properties"] = properties;
    let mut params = json!({"mode": "form", "message": message});
    params["requestedSchema"] = schema;
    let mut request = json!({"method": "elicitation/create"});
    request["params"] = params;
    request
}

fn sampling(prompt: &str) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user", "content": {"type": "text", "text": prompt}}], "maxTokens": 100}
    })
}

/// The tools of the suite: name and schema.
fn tools() -> Vec<Tool> {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_tool_with_progress",
        "test_error_handling",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_request_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
        "test_input_required_result_tampered_state",
        "test_input_required_result_capabilities",
        "test_streaming_elicitation",
        "test_logging_tool",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
    ];
    let one = |name: &'static str, schema: Value| {
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, "A fixture of the conformance suite", Arc::new(schema))
    };
    let mut tools: Vec<Tool> = plain
        .into_iter()
        .map(|name| one(name, json!({"type": "object", "properties": {}})))
        .collect();
    let word = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    tools.push(one("test_sampling", word("prompt")));
    tools.push(one("test_elicitation", word("message")));
    tools.push(one(
        "json_schema_2020_12_tool",
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": false
        }),
    ));
    tools
}

impl Fixture {
    async fn plain(
        &self,
        name: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        Ok(Some(match name {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => {
                blocks(json!([{"type": "image", "data": PIXEL, "mimeType": "image/png"}]))?
            }
            "test_audio_content" => {
                blocks(json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]))?
            }
            "test_embedded_resource" => blocks(json!([{"type": "resource", "resource": {
                "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."
            }}]))?,
            "test_multiple_content_types" => blocks(json!([
                {"type": "text", "text": "Multiple content types test:"},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                {"type": "resource", "resource": {
                    "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}"
                }}
            ]))?,
            "test_error_handling" => {
                let words = "This tool intentionally returns an error for testing";
                CallToolResult::error(vec![ContentBlock::text(words)]).into()
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                let is_wanted =
                    name == "test_tool_with_logging" || context.meta.log_level().is_some();
                for words in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    if is_wanted {
                        let param =
                            LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
                        context.peer.notify_logging_message(param).await.ok();
                    }
                    sleep(Duration::from_millis(50)).await;
                }
                text("Tool with logging executed successfully")
            }
            "test_tool_with_progress" | "test_streaming_elicitation" => {
                let token = context.meta.get_progress_token();
                for step in [0.0, 50.0, 100.0] {
                    if let Some(token) = token.clone() {
                        let param = ProgressNotificationParam::new(token, step).with_total(100.0);
                        context.peer.notify_progress(param).await.ok();
                    }
                    sleep(Duration::from_millis(50)).await;
                }
                text(format!("{}", json!(token)))
            }
            "test_trigger_tool_change" => {
                self.tools_changed.send(()).ok();
                text("The list of tools changed")
            }
            "test_trigger_prompt_change" => {
                let name = format!("changed-{:016x}", checksum(&format!("{:?}", context.id)));
                let written = write_skill(&self.skills, &name);
                written.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                text("A skill was written")
            }
            "test_missing_capability" => {
                let has_sampling = context
                    .client_capabilities()
                    .is_some_and(|all| all.sampling.is_some());
                if !has_sampling {
                    let required = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(required));
                }
                text("Success")
            }
            "json_schema_2020_12_tool" => text(json!(request.arguments).to_string()),
            _ => return Ok(None),
        }))
    }

    /// Tools that ask the client in the older protocol.
    async fn asking(
        &self,
        name: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let argument = |name: &str| {
            let arguments = request.arguments.as_ref();
            let found = arguments
                .and_then(|all| all.get(name))
                .and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let asked = match name {
            "test_sampling" => {
                let params = from(sampling(&argument("prompt"))["params"].clone())?;
                return Ok(Some(match context.peer.create_message(params).await {
                    Ok(result) => {
                        let answer = serde_json::to_value(&result).unwrap_or_default();
                        let words = answer["content"]["text"].as_str().unwrap_or("no text");
                        text(format!("LLM response: {words}"))
                    }
                    Err(error) => {
                        CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into()
                    }
                }));
            }
            "test_elicitation" => form(
                &argument("message"),
                json!({"response": {"type": "string", "description": "The answer"}}),
                &["response"],
            ),
            "test_elicitation_sep1034_defaults" => form(
                "Review the fields",
                json!({
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true}
                }),
                &[],
            ),
            "test_elicitation_sep1330_enums" => form("Select options", enums(), &[]),
            _ => return Ok(None),
        };
        let params = from(asked["params"].clone())?;
        Ok(Some(match context.peer.create_elicitation(params).await {
            Ok(result) => {
                let answer = serde_json::to_value(&result).unwrap_or_default();
                let action = answer["action"].as_str().unwrap_or_default();
                text(format!(
                    "User response: action={action}, content={}",
                    answer["content"]
                ))
            }
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
        }))
    }

    /// Tools that need more input in the newer protocol.
    fn in_rounds(
        name: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorData> {
        let responses = request.input_responses.clone().unwrap_or_default();
        let given = |key: &str| responses.get(key).cloned();
        let state = request
            .request_state
            .as_deref()
            .map(opened)
            .transpose()?
            .unwrap_or_default();
        let confirm = || form("Confirm it", json!({"ok": {"type": "boolean"}}), &["ok"]);
        let answer: CallToolResponse = match name {
            "test_input_required_result_elicitation" => {
                match given("user_name").and_then(|one| accepted(&one, "name")) {
                    Some(name) => text(format!("Hello, {name}!")),
                    None => asks(json!({"user_name": name_form()}), None)?.into(),
                }
            }
            "test_input_required_result_sampling" => match given("sample_request") {
                Some(one) => text(format!(
                    "Sampling result: {}",
                    one["content"]["text"].as_str().unwrap_or_default()
                )),
                None => asks(
                    json!({"sample_request": sampling("What is the capital of France?")}),
                    None,
                )?
                .into(),
            },
            "test_input_required_result_list_roots" => match given("roots_request") {
                Some(one) => text(format!(
                    "Found {} roots",
                    one["roots"].as_array().map_or(0, Vec::len)
                )),
                None => asks(json!({"roots_request": {"method": "roots/list"}}), None)?.into(),
            },
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                match (state["kind"] == name, given("confirm")) {
                    (true, Some(_)) => {
                        text("state-ok integrity-ok: the requestState was validated")
                    }
                    _ => asks(json!({"confirm": confirm()}), Some(json!({"kind": name})))?.into(),
                }
            }
            "test_input_required_result_multiple_inputs" => {
                match (given("user_name"), given("greeting"), given("client_roots")) {
                    (Some(user), Some(greeting), Some(roots)) => {
                        text(format!("{user} {greeting} {roots}"))
                    }
                    _ => asks(
                        json!({
                            "user_name": name_form(),
                            "greeting": sampling("Generate a greeting"),
                            "client_roots": {"method": "roots/list"}
                        }),
                        Some(json!({"kind": name})),
                    )?
                    .into(),
                }
            }
            "test_input_required_result_multi_round" => two_rounds(&state, &responses)?,
            "test_input_required_result_capabilities" => {
                by_capabilities(name, &responses, context)?
            }
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }
}

fn name_form() -> Value {
    form(
        "What is your name?",
        json!({"name": {"type": "string"}}),
        &["name"],
    )
}

/// The text of a field, if the form was accepted.
fn accepted(response: &Value, field: &str) -> Option<String> {
    let value = response["content"][field].as_str();
    value
        .filter(|_| response["action"] == "accept")
        .map(str::to_owned)
}

/// Asks for a name, then for a color.
fn two_rounds(state: &Value, responses: &InputResponses) -> Result<CallToolResponse, ErrorData> {
    Ok(
        match (
            state["round"].as_u64(),
            responses.get("step1"),
            responses.get("step2"),
        ) {
            (Some(1), Some(one), _) => {
                let color = form(
                    "Which color?",
                    json!({"color": {"type": "string"}}),
                    &["color"],
                );
                let state = json!({"round": 2, "name": accepted(one, "name")});
                asks(json!({"step2": color}), Some(state))?.into()
            }
            (Some(2), _, Some(two)) => text(format!(
                "{} likes {:?}",
                state["name"],
                accepted(two, "color")
            )),
            _ => asks(json!({"step1": name_form()}), Some(json!({"round": 1})))?.into(),
        },
    )
}

/// Asks only for what the client declares.
fn by_capabilities(
    name: &str,
    responses: &InputResponses,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let capabilities = context.client_capabilities().unwrap_or_default();
    let mut requests = json!({});
    if capabilities.elicitation.is_some() {
        requests["elicit_input"] = form(
            "Some text",
            json!({"value": {"type": "string"}}),
            &["value"],
        );
    }
    if capabilities.sampling.is_some() {
        requests["sample_input"] = sampling("Anything");
    }
    let is_complete =
        !responses.is_empty() || requests.as_object().is_none_or(serde_json::Map::is_empty);
    Ok(match is_complete {
        true => text("nothing more is needed"),
        false => asks(requests, Some(json!({"kind": name})))?.into(),
    })
}

/// The five forms of an enumeration.
fn enums() -> Value {
    let titled = |word: &str| {
        let title =
            |at: u32| json!({"const": format!("value{at}"), "title": format!("{word} {at}")});
        json!([title(1), title(2), title(3)])
    };
    json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": titled("Choice")}}
    })
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.real.get_info();
        let mut changes = ToolsCapability::default();
        changes.list_changed = Some(true);
        info.capabilities.tools = Some(changes);
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.real.initialize(request, context).await
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut found = self.real.discover(context).await?;
        found.capabilities = self.get_info().capabilities;
        Ok(found)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.real.on_initialized(context).await;
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.real.list_tools(request, context).await?;
        listed.tools.extend(tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let own = tools().into_iter().find(|tool| tool.name == name);
        own.or_else(|| self.real.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if let Some(answer) = self.plain(&name, &request, &context).await? {
            return Ok(answer);
        }
        if let Some(answer) = self.asking(&name, &request, &context).await? {
            return Ok(answer);
        }
        match Self::in_rounds(&name, &request, &context)? {
            Some(answer) => Ok(answer),
            None => self.real.call_tool(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.real.list_prompts(request, context).await?;
        let argument = |name: &str| PromptArgument::new(name).with_required(true);
        for (name, arguments) in [
            ("test_simple_prompt", vec![]),
            (
                "test_prompt_with_arguments",
                vec![argument("arg1"), argument("arg2")],
            ),
            (
                "test_prompt_with_embedded_resource",
                vec![argument("resourceUri")],
            ),
            ("test_prompt_with_image", vec![]),
            ("test_input_required_result_prompt", vec![]),
        ] {
            let about = "A fixture of the conformance suite";
            listed
                .prompts
                .push(Prompt::new(name, Some(about), Some(arguments)));
        }
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let word = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let user = |content: Value| json!({"role": "user", "content": content});
        let say = |words: &str| user(json!({"type": "text", "text": words}));
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([say("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => {
                let words = format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    word("arg1"),
                    word("arg2")
                );
                json!([say(&words)])
            }
            "test_prompt_with_embedded_resource" => json!([
                user(json!({"type": "resource", "resource": {
                    "uri": word("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing."
                }})),
                say("Process the resource above.")
            ]),
            "test_prompt_with_image" => json!([
                user(json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})),
                say("Analyze the image above.")
            ]),
            "test_input_required_result_prompt" => {
                let given = request
                    .input_responses
                    .as_ref()
                    .and_then(|all| all.get("user_context"));
                let Some(given) = given else {
                    let question = form(
                        "Which context?",
                        json!({"context": {"type": "string"}}),
                        &["context"],
                    );
                    return Ok(asks(json!({"user_context": question}), None)?.into());
                };
                json!([say(&format!(
                    "Prompt with context: {}",
                    given["content"]["context"]
                ))])
            }
            _ => return self.real.get_prompt(request, context).await,
        };
        Ok(GetPromptResult::new(from(messages)?).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Prompt(prompt) if prompt.name.starts_with("test_") => {
                let found =
                    CompletionInfo::with_all_values(vec!["paris".to_owned(), "park".to_owned()]);
                found
                    .map(CompleteResult::new)
                    .map_err(|error| ErrorData::internal_error(error, None))
            }
            _ => self.real.complete(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.real.list_resources(request, context).await?;
        for (uri, kind) in [
            ("test://static-text", "text/plain"),
            ("test://static-binary", "image/png"),
            ("test://watched-resource", "text/plain"),
        ] {
            listed
                .resources
                .push(Resource::new(uri, uri).with_mime_type(kind));
        }
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.real.list_resource_templates(request, context).await?;
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        listed
            .resource_templates
            .push(template.with_mime_type("application/json"));
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri.as_str(), id) {
            ("test://static-text", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            ("test://watched-resource", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "watched"})
            }
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL})
            }
            (_, Some(id)) => {
                let body =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": body.to_string()})
            }
            _ => return self.real.read_resource(request, context).await,
        };
        Ok(ReadResourceResult::new(vec![from(contents)?]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.real.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.real.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.real.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (sink, mut changes) = (context.sink().clone(), self.tools_changed.subscribe());
        let own = async {
            while changes.recv().await.is_ok() {
                sink.notify_tool_list_changed().await.ok();
            }
        };
        tokio::select! {
            done = self.real.listen(context) => done,
            () = own => Ok(()),
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.real.set_level(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.real.on_custom_request(request, context).await
    }
}
