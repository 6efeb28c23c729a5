//! Every address of the HTTP interface, in one table: the router and the description for programs are made from it.

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    body::Bytes,
    routing::{MethodRouter, delete, get, post},
};
use metier_wire::{NamedSchema, schemas, served_schemas};
use serde_json::{Map, Value, json};

use super::{
    accounts, answer, conversations, decisions, events, installing, skills, state::DaemonState,
};

/// Where the interface begins.
pub(super) const API: &str = "/api/v1";

/// One address with one method.
pub(super) struct Operation {
    pub(super) method: &'static str,
    /// Below [`API`].
    pub(super) path: &'static str,
    about: &'static str,
    /// Parameters of the query, each with its meaning.
    query: &'static [(&'static str, &'static str)],
    /// The schema of the body.
    body: Option<&'static str>,
    answer: AnswerKind,
    handler: fn() -> MethodRouter<Arc<DaemonState>>,
}

/// The kind of answer of an operation.
#[derive(Clone, Copy)]
enum AnswerKind {
    /// A document with this status and schema.
    Document(u16, &'static str),
    /// `{"done": true}`.
    Done,
    /// The description itself.
    OpenApi,
    /// Server-sent events.
    Events,
}

use AnswerKind::{Document, Done, Events, OpenApi};

const fn operation(
    method: &'static str,
    path: &'static str,
    about: &'static str,
    answer: AnswerKind,
    handler: fn() -> MethodRouter<Arc<DaemonState>>,
) -> Operation {
    Operation {
        method,
        path,
        about,
        query: &[],
        body: None,
        answer,
        handler,
    }
}

impl Operation {
    const fn query(self, query: &'static [(&'static str, &'static str)]) -> Self {
        Self { query, ..self }
    }

    const fn body(self, schema: &'static str) -> Self {
        Self {
            body: Some(schema),
            ..self
        }
    }
}

const LIST: &[(&str, &str)] = &[
    (
        "query",
        "Only skills whose name and description contain these words.",
    ),
    (
        "search",
        "Search text. Skills that contain all words come first, then those that `select` would find, including by body.",
    ),
    ("status", "Only skills with this status."),
    ("source", "Only skills of this source."),
    ("agent", "Only skills in the folders of this agent."),
    ("type", "Only skills of this type."),
    ("scan", "Only skills with this verdict of the scanner."),
    (
        "names",
        "Only skills with one of these names, separated by commas.",
    ),
    ("limit", "Maximum number of skills."),
    ("cursor", "The `next_cursor` of the previous page."),
];

const RECEIPTS: &[(&str, &str)] = &[
    ("skill", "Only the receipts of this skill."),
    (
        "query",
        "Text to find in the skill's name, the action or its target.",
    ),
    ("status", "`allowed`, `refused`, or an outcome."),
    (
        "since",
        "Only since this time, such as 2026-01-31T09:00:00Z.",
    ),
    (
        "limit",
        "Maximum number of receipts, newest first; 100 by default.",
    ),
    ("cursor", "How many to leave out."),
    (
        "verify",
        "`true` checks the chain of all receipts; `whole` has the result.",
    ),
];

const SCOPE: &[(&str, &str)] = &[("scope", "`user` or `project`.")];

/// All of them.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("get", "/openapi.json", "This description", OpenApi, || get(openapi)),
    operation("get", "/status", "The state of the daemon", Document(200, "status"), || {
        get(decisions::status)
    }),
    operation("get", "/skills", "The skills", Document(200, "skills_page"), || get(skills::list))
        .query(LIST),
    operation("get", "/skills/{name}", "Everything about one skill", Document(200, "info"), || {
        get(skills::info)
    }),
    operation(
        "post",
        "/skills/{name}/render",
        "The text of a skill, as a model gets it",
        Document(200, "show"),
        || post(skills::render),
    )
    .body("render_request"),
    operation(
        "post",
        "/skills/{name}/execute",
        "Execute a skill: its text, its workflow, or an agent that follows it",
        Document(200, "executed"),
        || post(skills::execute_skill),
    )
    .body("execute_request"),
    operation("get", "/skills/{name}/files/{*path}", "A file of a skill", Document(200, "read"), || {
        get(skills::file)
    }),
    operation("get", "/skills/{name}/tools", "The tools of a skill", Document(200, "tools"), || {
        get(skills::tools)
    }),
    operation(
        "post",
        "/skills/{name}/tools/{tool}",
        "Call a tool of a skill",
        Document(200, "call"),
        || post(skills::call),
    )
    .body("call_request"),
    operation("get", "/tools", "The tools of all skills", Document(200, "tools"), || {
        get(skills::all_tools)
    }),
    operation("post", "/scan", "Scan a skill", Document(200, "scan"), || post(skills::scan))
        .body("scan_request"),
    operation("post", "/select", "Select skills for a task", Document(200, "select"), || {
        post(skills::select)
    })
    .body("select_request"),
    operation("post", "/why", "Why skills fit a task, or don't", Document(200, "why"), || {
        post(accounts::why)
    })
    .body("why_request"),
    operation("post", "/compose", "Several skills as one set", Document(200, "compose"), || {
        post(skills::compose)
    })
    .body("compose_request"),
    operation(
        "get",
        "/permissions",
        "All answers about permissions, or the permissions of one skill",
        Document(200, "permissions"),
        || get(decisions::permissions),
    )
    .query(&[("skill", "The permissions of this skill.")]),
    operation(
        "post",
        "/permissions",
        "Allow or deny permissions of a skill, from now on",
        Document(200, "permissions"),
        || post(decisions::permit),
    )
    .body("permit_request"),
    operation("delete", "/permissions", "Forget answers", Document(200, "permissions"), || {
        delete(decisions::forget)
    })
    .body("forget_request"),
    operation("get", "/receipts", "What skills did", Document(200, "log"), || {
        get(decisions::receipts)
    })
    .query(RECEIPTS),
    operation("post", "/refresh", "List the skills again", Document(200, "refresh"), || {
        post(decisions::refresh)
    }),
    operation("get", "/approvals", "Unanswered questions", Document(200, "approvals"), || {
        get(decisions::approvals)
    }),
    operation("post", "/approvals/{id}", "Answer a question", Done, || post(decisions::answer))
        .body("answer_request"),
    operation("post", "/links", "A link for a browser, which works once", Document(200, "link"), || {
        post(accounts::link)
    }),
    operation(
        "get",
        "/conversations",
        "Conversations that can be continued",
        Document(200, "chat"),
        || get(accounts::conversations),
    ),
    operation("post", "/offers", "The skills of a source", Document(200, "offers"), || {
        post(installing::offers)
    })
    .body("offers_request"),
    operation(
        "post",
        "/installs",
        "Fetch and scan skills: a plan, which waits for a decision",
        Document(201, "install_plan"),
        || post(installing::plan_install),
    )
    .body("plan_install_request"),
    operation("post", "/installs/{plan}", "Install skills of a plan", Document(200, "install"), || {
        post(installing::apply_install)
    })
    .body("apply_install_request"),
    operation("delete", "/installs/{plan}", "Forget a plan", Done, || delete(installing::forget)),
    operation("get", "/installed", "Installed skills, compared with their lock", Document(200, "verify"), || {
        get(installing::installed)
    })
    .query(SCOPE),
    operation("get", "/outdated", "Installed skills, compared with their sources", Document(200, "outdated"), || {
        get(installing::outdated)
    })
    .query(SCOPE),
    operation(
        "post",
        "/updates",
        "Compare and scan new versions: a plan, which waits for a decision",
        Document(201, "update_plan"),
        || post(installing::plan_update),
    )
    .body("plan_update_request"),
    operation("post", "/updates/{plan}", "Update skills of a plan", Document(200, "update"), || {
        post(installing::apply_update)
    })
    .body("apply_update_request"),
    operation("delete", "/updates/{plan}", "Forget a plan", Done, || delete(installing::forget)),
    operation("post", "/remove", "Remove installed skills", Document(200, "remove"), || {
        post(installing::remove)
    })
    .body("remove_request"),
    operation("post", "/restore", "Restore a removed skill", Document(200, "remove"), || {
        post(installing::restore)
    })
    .body("restore_request"),
    operation("get", "/changes", "Changes that can be undone", Document(200, "undo"), || {
        get(installing::changes)
    }),
    operation("post", "/undo", "Undo the last change", Document(200, "undo"), || post(installing::undo))
        .body("undo_request"),
    operation("get", "/sessions", "Sessions of agents", Document(200, "sessions"), || {
        get(conversations::list)
    }),
    operation("post", "/sessions", "Give a task to an agent", Document(201, "session"), || {
        post(conversations::start)
    })
    .body("start_request"),
    operation("get", "/sessions/{id}", "One session", Document(200, "session"), || {
        get(conversations::one)
    }),
    operation("delete", "/sessions/{id}", "End a session", Done, || delete(conversations::end)),
    operation(
        "post",
        "/sessions/{id}/messages",
        "Send a message to the agent of a session",
        Document(202, "session"),
        || post(conversations::message),
    )
    .body("message_request"),
    operation("post", "/sessions/{id}/stop", "Stop the turn of a session", Done, || {
        post(conversations::stop)
    }),
    operation("get", "/sessions/{id}/events", "The events of a session", Events, || {
        get(conversations::conversation_events)
    }),
    operation(
        "get",
        "/events",
        "Events: skills_changed, progress, approval_requested, approval_answered, receipt, session_started, session_ended",
        Events,
        || get(events::all),
    )
    .query(&[("kinds", "Only events of these kinds, separated by commas.")]),
];

/// The router of the interface.
pub(super) fn router() -> Router<Arc<DaemonState>> {
    let mut router = Router::new();
    for operation in OPERATIONS {
        let path = format!("{API}{}", operation.path);
        router = router.route(&path, (operation.handler)());
    }
    router
}

async fn openapi() -> axum::response::Response {
    static WRITTEN: OnceLock<Bytes> = OnceLock::new();
    let written = WRITTEN.get_or_init(|| description().to_string().into());
    answer::json(written.clone())
}

/// The description of the interface: OpenAPI 3.1.
pub(super) fn description() -> Value {
    let mut shapes = Map::new();
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let path = format!("{API}{}", operation.path.replace("{*", "{"));
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        methods[operation.method] = describe(operation, &mut shapes);
    }
    schema("error", &mut shapes);
    schema("progress", &mut shapes);
    schema("skills_changed", &mut shapes);
    schema("socket_request", &mut shapes);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "metier",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The skills of this machine. Documents are those of `metier … --json`. /ws takes the messages of `socket_request`.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": shapes,
        },
    })
}

fn describe(operation: &Operation, shapes: &mut Map<String, Value>) -> Value {
    let in_path = operation.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        let name = name.trim_start_matches('*');
        Some(
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        )
    });
    let in_query = operation.query.iter().map(|(name, about)| {
        json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } })
    });
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    let (status, content) = match operation.answer {
        Document(status, name) => {
            let schema = schema(name, shapes);
            (status, json!({ "application/json": { "schema": schema } }))
        }
        Done => {
            let schema = json!({ "type": "object", "properties": { "done": { "const": true } }, "required": ["done"] });
            (200, json!({ "application/json": { "schema": schema } }))
        }
        OpenApi => (
            200,
            json!({ "application/json": { "schema": { "type": "object" } } }),
        ),
        Events => (
            200,
            json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        ),
    };
    let problem = json!({
        "description": "An error",
        "content": { "application/json": { "schema": schema("error", shapes) } },
    });
    let mut described = json!({
        "summary": operation.about,
        "parameters": parameters,
        "responses": {
            status.to_string(): { "description": operation.about, "content": content },
            "default": problem,
        },
    });
    if let Some(body) = operation.body {
        let schema = schema(body, shapes);
        described["requestBody"] =
            json!({ "content": { "application/json": { "schema": schema } } });
    }
    described
}

/// A reference to a schema, which is added with everything that it refers to.
fn schema(name: &str, shapes: &mut Map<String, Value>) -> Value {
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    if shapes.contains_key(name) {
        return reference;
    }
    let mut all = served_schemas().chain(schemas());
    let found = all.find(|one| one.name == name).map(NamedSchema::schema);
    let mut found = found.unwrap_or_else(|| json!({}));
    refer_to_components(&mut found);
    if let Value::Object(fields) = &mut found {
        fields.remove("$schema");
        if let Some(Value::Object(inner)) = fields.remove("$defs") {
            shapes.extend(inner);
        }
    }
    shapes.insert(name.to_owned(), found);
    reference
}

/// Definitions are next to the schemas here, not in them.
fn refer_to_components(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields.iter_mut() {
                match inner {
                    Value::String(to) if name == "$ref" => {
                        *to = to.replace("#/$defs/", "#/components/schemas/");
                    }
                    inner => refer_to_components(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}
