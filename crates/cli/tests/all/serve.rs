//! `metier serve` as programs use it: the real daemon on a real socket.

use std::{fs, path::Path, process::Command, time::Duration};

use metier_testkit::{
    model_server::{ModelServer, ScriptedTurn},
    patience,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::test_daemon::{Daemon, context, execute, names, skill, workflow};

const GREET: &str = "def greet(input):\n    return \"hello \" + \" \".join(input[\"arguments\"])\n\nregister_workflow(\"greet\", greet, \"Greets.\")\n";

/// The requirements of seed 001 for the WebSocket: list, execute, scan; and errors are messages.
#[test]
fn skills_are_listed_executed_and_scanned_over_the_websocket() {
    let context = context();
    workflow(&context, "greeter", GREET);
    let daemon = Daemon::start(&context);
    let mut socket = daemon.socket();
    let list = socket.ask(&json!({ "id": 1, "type": "list_skills" }));
    assert_eq!(
        (&list["id"], &list["type"]),
        (&json!(1), &json!("skills_list"))
    );
    assert_eq!(names(&list["skills"]), ["greeter", "report"]);
    assert_eq!(list["skills"][1]["description"], "Writes reports.");

    let shown = socket.ask(&execute(2, "report", "123"));
    assert_eq!(
        (&shown["id"], &shown["type"]),
        (&json!(2), &json!("skill_result"))
    );
    assert_eq!(
        (&shown["name"], &shown["mode"]),
        (&json!("report"), &json!("inline"))
    );
    assert!(
        shown["content"].as_str().unwrap().contains("Now 123."),
        "{shown}"
    );
    assert_eq!(shown["receipts"], json!([]));

    let ran = socket.ask(&execute(3, "greeter", "Ada"));
    assert_eq!(ran["mode"], "workflow", "{ran}");
    assert_eq!(ran["content"], "hello Ada", "{ran}");

    let folder = context.path("skills/report");
    let path = folder.to_str().unwrap();
    let scanned = socket.ask(&json!({ "id": 4, "type": "scan_skill", "path": path }));
    assert_eq!(scanned["type"], "scan_result", "{scanned}");
    assert_eq!(scanned["skills"][0]["verdict"], "clean", "{scanned}");
    let named = socket.ask(&json!({ "id": 5, "type": "scan_skill", "name": "report" }));
    assert_eq!(named["skills"][0]["name"], "report", "{named}");

    let missing = socket.ask(&execute(6, "reprot", ""));
    assert_eq!(
        (&missing["id"], &missing["type"]),
        (&json!(6), &json!("error"))
    );
    assert_eq!(missing["code"], "unknown-skill", "{missing}");
    assert!(
        missing["hint"].as_str().unwrap().contains("report"),
        "{missing}"
    );
    let refused = socket.ask(&json!({ "id": 7, "type": "scan_skill", "path": "/" }));
    assert_eq!(refused["code"], "path-refused", "{refused}");
    // The socket is still open.
    let again = socket.ask(&json!({ "id": "text", "type": "list_skills", "limit": 1 }));
    assert_eq!(again["id"], "text");
    assert_eq!(names(&again["skills"]), ["greeter"]);
    assert_eq!(again["next_cursor"], "1");
}

/// One change on the disk after the other, as a client sees them.
#[test]
fn a_subscribed_client_sees_a_skill_added_edited_broken_and_fixed() {
    let context = context();
    let daemon = Daemon::start(&context);
    let mut socket = daemon.socket();
    let subscribed = socket.ask(&json!({ "id": 4, "type": "subscribe" }));
    assert_eq!(subscribed["type"], "subscribed", "{subscribed}");

    skill(&context, "audit", "Audits.", "One.\n");
    let changes = socket.hear();
    assert_eq!(changes["type"], "skills_changed", "{changes}");
    assert_eq!(names(&changes["added"]), ["audit"], "{changes}");
    assert_eq!(
        (&changes["changed"], &changes["removed"]),
        (&json!([]), &json!([]))
    );
    let content = |socket: &mut crate::test_daemon::Socket| socket.ask(&execute(1, "audit", ""));
    assert!(
        content(&mut socket)["content"]
            .as_str()
            .unwrap()
            .contains("One.")
    );

    skill(&context, "audit", "Audits.", "Two.\n");
    assert_eq!(names(&socket.hear()["changed"]), ["audit"]);
    assert!(
        content(&mut socket)["content"]
            .as_str()
            .unwrap()
            .contains("Two.")
    );

    // The broken skill is reported with its position, and its last good version is used.
    context.write("skills/audit/SKILL.md", "---\nname: [\n---\nThree.\n");
    let broken = socket.hear();
    assert_eq!(names(&broken["changed"]), ["audit"], "{broken}");
    assert_eq!(broken["broken"][0]["last_good"], true, "{broken}");
    let problem = broken["broken"][0]["problems"][0].as_str().unwrap();
    assert!(problem.starts_with("SKILL.md:"), "{broken}");
    let used = content(&mut socket);
    assert!(used["content"].as_str().unwrap().contains("Two."), "{used}");
    assert!(
        used["warnings"][0].as_str().unwrap().contains("last good"),
        "{used}"
    );
    let list = socket.ask(&json!({ "id": 2, "type": "list_skills", "status": "invalid" }));
    assert_eq!(
        names(&list["skills"]),
        ["audit"],
        "the list shows what is on the disk"
    );

    skill(&context, "audit", "Audits.", "Four.\n");
    let fixed = socket.hear();
    assert_eq!(names(&fixed["changed"]), ["audit"], "{fixed}");
    assert_eq!(fixed["broken"], json!([]));
    let used = content(&mut socket);
    assert!(
        used["content"].as_str().unwrap().contains("Four."),
        "{used}"
    );
    assert_eq!(used["warnings"], json!([]));

    fs::remove_dir_all(context.path("skills/audit")).unwrap();
    assert_eq!(names(&socket.hear()["removed"]), ["audit"]);
    assert_eq!(content(&mut socket)["code"], "unknown-skill");
}

#[test]
fn a_skill_can_be_used_as_soon_as_it_is_written() {
    let context = context();
    let daemon = Daemon::start(&context);
    daemon.socket().ask(&json!({ "type": "subscribe" }));
    for number in 0..20 {
        let name = format!("new-{number}");
        skill(&context, &name, "Is new.", "Body.\n");
        let path = format!("/api/v1/skills?query={name}");
        let list = daemon.get(&path).ok();
        assert_eq!(names(&list["skills"]), [name.as_str()]);
        fs::remove_dir_all(context.path(&format!("skills/{name}"))).unwrap();
        assert_eq!(daemon.get(&path).ok()["total"], 0);
    }
}

#[test]
fn http_gives_the_documents_of_the_command_line() {
    let context = context();
    skill(
        &context,
        "audit",
        "Audits things.",
        "Read references/list.md.\n",
    );
    context.write("skills/audit/references/list.md", "1. All\n");
    workflow(&context, "greeter", GREET);
    let daemon = Daemon::start(&context);
    let of_command = |arguments: &[&str]| -> Value {
        let all: Vec<&str> = ["--root", "skills", "--json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let output = context.run(&all);
        serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", output.snapshot()))
    };
    // First the requests that leave verdicts behind, so that both sides have them.
    let info = daemon.get("/api/v1/skills/audit").ok();
    assert_eq!(info, of_command(&["info", "audit"]));
    let rendered = daemon.post("/api/v1/skills/report/render", &json!({ "arguments": "7" }));
    assert_eq!(rendered.ok(), of_command(&["show", "report", "7"]));
    let scanned = daemon
        .post("/api/v1/scan", &json!({ "name": "audit" }))
        .ok();
    assert_eq!(scanned, of_command(&["scan", "audit"]));
    let mut list = daemon.get("/api/v1/skills").ok();
    let page = list.as_object_mut().unwrap();
    assert_eq!(page.remove("total"), Some(json!(3)));
    assert_eq!(page.remove("next_cursor"), Some(Value::Null));
    assert_eq!(list, of_command(&["list"]));
    let task = "audit things";
    let selected = daemon.post("/api/v1/select", &json!({ "task": task })).ok();
    assert_eq!(selected, of_command(&["select", task]));
    let set = daemon.post("/api/v1/compose", &json!({ "skills": ["audit", "report"] }));
    assert_eq!(set.ok(), of_command(&["compose", "audit", "report"]));
    let file = daemon
        .get("/api/v1/skills/audit/files/references/list.md")
        .ok();
    assert_eq!(file, of_command(&["read", "audit", "references/list.md"]));
    assert_eq!(
        daemon.get("/api/v1/permissions").ok(),
        of_command(&["permissions"])
    );
    let asked = daemon.get("/api/v1/permissions?skill=audit").ok();
    assert_eq!(asked, of_command(&["permissions", "audit"]));
    let receipts = daemon.get("/api/v1/receipts").ok();
    assert_eq!(receipts, of_command(&["log"]));
    let status = daemon.get("/api/v1/status").ok();
    assert_eq!(status["counts"]["ready"], 3, "{status}");
    assert_eq!(status["sources"][0]["skills"], 3, "{status}");
    let refreshed = daemon.post("/api/v1/refresh", &json!({})).ok();
    assert!(refreshed["generation"].as_u64() > status["generation"].as_u64());
}

/// A skill that is used for the first time is scanned. That causes no new listing; the next list and the next program have the verdict.
#[test]
fn first_uses_are_noted_together() {
    let context = context();
    let names: Vec<String> = (0..30).map(|number| format!("used-{number}")).collect();
    for name in &names {
        skill(&context, name, "Is used.", "Body.\n");
    }
    // Changes are reported once there was none for this long.
    let config = "[skills.load]\nwatch_debounce_ms = 60000\n";
    context.write("~/.config/metier/config.toml", config);
    let daemon = Daemon::start(&context);
    patience::wait_until("the folders are watched", || {
        let status = daemon.get("/api/v1/status").ok();
        status["watch"]["state"] == "watched"
    });
    let listings = || -> u64 {
        let metrics = daemon.get("/metrics").body;
        let mut lines = metrics.lines();
        let number = lines.find_map(|line| line.strip_prefix("metier_generation "));
        number.unwrap().parse().unwrap()
    };
    let before = listings();
    for name in &names {
        let path = format!("/api/v1/skills/{name}/render");
        daemon.post(&path, &json!({})).ok();
    }
    let lists = listings() - before;
    assert!(lists < 15, "{lists} lists for 30 skills");
    let is_known = |list: &Value| {
        let skills = list["skills"].as_array().unwrap().iter();
        skills.filter(|skill| skill["scan"] == "clean").count() == names.len()
    };
    let list = daemon.get("/api/v1/skills").ok();
    assert!(is_known(&list), "{list}");
    daemon.post("/api/v1/skills/report/render", &json!({})).ok();
    assert_eq!(daemon.end(Signal::TERM), Some(0));
    let output = context.run(&["--root", "skills", "--json", "list", "report"]);
    assert!(
        output.stdout.contains("\"scan\":\"clean\""),
        "{}",
        output.snapshot()
    );
}

#[test]
fn lists_come_in_pages() {
    let context = context();
    for number in 0..7 {
        skill(&context, &format!("s{number}"), "Counts things.", "Body.\n");
    }
    let daemon = Daemon::start(&context);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = daemon
            .get(&format!("/api/v1/skills?query=counts&limit=3{cursor}"))
            .ok();
        assert_eq!(page["total"], 7, "{page}");
        seen.extend(names(&page["skills"]));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["s0", "s1", "s2", "s3", "s4", "s5", "s6"]);
    let named = daemon.get("/api/v1/skills?names=s3,s5,none&limit=1").ok();
    assert_eq!(
        (&named["total"], names(&named["skills"])),
        (&json!(2), vec!["s3".to_owned()])
    );
    for wrong in [
        "limit=x",
        "cursor=x",
        "status=fine",
        "source=moon",
        "colour=red",
    ] {
        let refused = daemon.get(&format!("/api/v1/skills?{wrong}")).refused();
        assert_eq!(refused, (400, "usage".to_owned()), "{wrong}");
    }
}

/// A search while typing loses no result between two letters; whole words find what `select` finds, in bodies too.
#[test]
fn a_search_ranks_and_finds_unfinished_words() {
    let context = context();
    skill(
        &context,
        "merge",
        "Joins two tables.",
        "Compare the spreadsheets first.\n",
    );
    skill(&context, "tables", "Draws tables.", "Draw tables.\n");
    context.write("skills/table-broken/SKILL.md", "---\nname: [\n");
    let daemon = Daemon::start(&context);
    let search = |text: &str| {
        let list = daemon.get(&format!("/api/v1/skills?search={text}"));
        names(&list.ok()["skills"])
    };
    // Bodies are searched once they were scanned.
    daemon
        .post("/api/v1/scan", &json!({ "name": "merge" }))
        .ok();
    for (text, expected) in [
        ("repo", &["report"][..]),
        ("joining%20table", &["merge", "tables"]),
        ("spreadsheet", &["merge"]),
        ("tables", &["tables", "merge"]),
        ("broken", &["table-broken"]),
        ("no-such-word", &[]),
    ] {
        assert_eq!(search(text), expected, "{text}");
    }
}

/// Scanning a skill again causes no new listing, whatever its status: with ten thousand skills that takes seconds.
#[test]
fn a_skill_that_is_known_is_shown_without_a_new_list() {
    let context = context();
    context.write("skills/broken/SKILL.md", "---\nname: [\n");
    let daemon = Daemon::start(&context);
    let look = || {
        for path in [
            "skills/report",
            "skills/report/files/SKILL.md",
            "skills/broken",
            "permissions",
            "receipts",
        ] {
            assert_eq!(daemon.get(&format!("/api/v1/{path}")).status, 200, "{path}");
        }
        daemon.get("/api/v1/status").ok()["generation"].clone()
    };
    // The first verdict is new, and changes the list.
    patience::wait_until("a look that lists nothing", || {
        let first = look();
        (0..5).all(|_| look() == first)
    });
}

// case 145
#[test]
fn what_is_not_approved_is_refused_or_asked() {
    let context = context();
    context.write("secret.txt", "the secret\n");
    let code = "def look(input):\n    return read_file(\"secret.txt\")\n\nregister_workflow(\"look\", look, \"Looks.\")\n";
    workflow(&context, "reader", code);
    let manifest = context.read("skills/reader/SKILL.yaml");
    let manifest = format!("{manifest}permissions: [\"file:read(./secret.txt)\"]\n");
    context.write("skills/reader/SKILL.yaml", manifest);
    let daemon = Daemon::start(&context);
    let path = "/api/v1/skills/reader/execute";
    let refused = daemon.post(path, &json!({}));
    assert_eq!(
        refused.refused(),
        (403, "not-approved".to_owned()),
        "{refused:?}"
    );
    let mut socket = daemon.socket();
    assert_eq!(
        socket.ask(&execute(1, "reader", ""))["code"],
        "not-approved"
    );

    // The question is for a waiting client: the answer comes from elsewhere.
    let asking = json!({ "id": 2, "type": "execute_skill", "name": "reader", "approvals": "ask" });
    for (answer, expected) in [("no", "denied"), ("once", "the secret\n")] {
        socket.say(&asking.to_string());
        let approval = patience::wait_for("a question", || {
            let pending = daemon.get("/api/v1/approvals").ok();
            pending["approvals"].as_array().unwrap().first().cloned()
        });
        assert_eq!(approval["skill"], "reader", "{approval}");
        assert_eq!(
            approval["wants"],
            json!(["file:read(./secret.txt)"]),
            "{approval}"
        );
        let id = approval["id"].as_str().unwrap();
        let given = format!("/api/v1/approvals/{id}");
        daemon.post(&given, &json!({ "answer": answer })).ok();
        let late = daemon
            .post(&given, &json!({ "answer": "always" }))
            .refused();
        assert_eq!(late, (404, "unknown-approval".to_owned()));
        let result = socket.hear();
        assert_eq!(result["id"], 2);
        let got = result["content"].as_str().or(result["code"].as_str());
        assert_eq!(got, Some(expected), "{result}");
    }
    // A permission that was allowed permanently needs no question.
    let shown = daemon.get("/api/v1/permissions?skill=reader").ok();
    let allow = json!({ "skill": "reader", "digest": shown["digest"], "decision": "allow" });
    let allowed = daemon.post("/api/v1/permissions", &allow).ok();
    assert_eq!(allowed["permissions"][0]["state"], "allowed", "{allowed}");
    let ran = daemon.post(path, &json!({})).ok();
    assert_eq!(ran["content"], "the secret\n");
    assert_eq!(ran["receipts"][0]["act"], "file:read", "{ran}");
    let headers = format!("{}Content-Type: application/json\r\n", daemon.headers());
    let forget = json!({ "skill": "reader" }).to_string();
    let left = daemon
        .request("DELETE", "/api/v1/permissions", &headers, &forget)
        .ok();
    assert_eq!(left["approvals"], json!([]));
    assert_eq!(daemon.post(path, &json!({})).status, 403);
}

#[test]
fn tools_of_a_skill_are_listed_and_called() {
    let context = context();
    let code = "def add(input):\n    return input[\"a\"] + input[\"b\"]\n\nregister_tool(\"add\", \"Adds two numbers.\", add, {\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"integer\"}, \"b\": {\"type\": \"integer\"}}, \"required\": [\"a\", \"b\"]})\n";
    workflow(&context, "sums", code);
    let manifest = context.read("skills/sums/SKILL.yaml");
    context.write(
        "skills/sums/SKILL.yaml",
        manifest.replace("[workflow]", "[tool]"),
    );
    let daemon = Daemon::start(&context);
    let tools = daemon.get("/api/v1/skills/sums/tools").ok();
    assert_eq!(tools["tools"][0]["tool"], "add", "{tools}");
    let called = daemon.post(
        "/api/v1/skills/sums/tools/add",
        &json!({ "input": { "a": 2, "b": 3 } }),
    );
    assert_eq!(called.ok()["output"], 5, "{called:?}");
    let wrong = daemon.post("/api/v1/skills/sums/tools/sub", &json!({ "input": {} }));
    assert!((400..500).contains(&wrong.status), "{wrong:?}");
}

/// An agent over HTTP: a turn, its events, a second turn, the end.
#[test]
fn an_agent_takes_tasks_over_http() {
    let mut context = context();
    let model = ModelServer::start([
        ScriptedTurn::text("The first answer."),
        ScriptedTurn::text("The second answer."),
    ]);
    context
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "k")
        .env("METIER_MODEL", "anthropic/test");
    let daemon = Daemon::start(&context);
    let started = daemon.post("/api/v1/sessions", &json!({ "task": "say something" }));
    assert_eq!(started.status, 201, "{started:?}");
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/sessions/{id}");
    let idle = |turns: u64| {
        patience::wait_for("an answer", || {
            let session = daemon.get(&path).ok();
            (session["state"] == "idle" && session["turns"] == turns).then_some(session)
        })
    };
    assert_eq!(idle(1)["text"], "The first answer.");
    let sent = daemon.post(&format!("{path}/messages"), &json!({ "text": "and now?" }));
    assert_eq!(sent.status, 202, "{sent:?}");
    assert_eq!(idle(2)["text"], "The second answer.");
    let ended = daemon.request("DELETE", &path, &daemon.headers(), "");
    ended.ok();
    // The stream has everything from the beginning, and ends with the session.
    let events = daemon.get(&format!("{path}/events"));
    assert!(events.head.contains("text/event-stream"), "{events:?}");
    assert!(
        events.body.contains("\"type\":\"turn_ended\""),
        "{events:?}"
    );
    assert!(events.body.contains("The second answer."), "{events:?}");
    let over = daemon.post(&format!("{path}/messages"), &json!({ "text": "hello?" }));
    assert_eq!(over.refused(), (409, "session-ended".to_owned()));
    assert_eq!(model.finish().len(), 2);
}

#[test]
fn a_session_without_a_model_says_what_to_do() {
    let context = context();
    let daemon = Daemon::start(&context);
    let refused = daemon.post("/api/v1/sessions", &json!({ "task": "anything" }));
    let error = refused.json()["error"].clone();
    assert!((400..=500).contains(&refused.status), "{refused:?}");
    assert!(error["hint"].as_str().is_some(), "{error}");
    assert_eq!(
        daemon
            .post("/api/v1/sessions", &json!({ "task": " " }))
            .status,
        400
    );
    assert_eq!(daemon.get("/api/v1/sessions/s9").status, 404);
}

/// Every described address answers, and each answer matches its schema.
#[test]
fn the_description_of_the_interface_is_true() {
    let context = context();
    workflow(&context, "greeter", GREET);
    let daemon = Daemon::start(&context);
    let description = daemon.get("/api/v1/openapi.json").ok();
    assert_eq!(description["openapi"], "3.1.0");
    let check = |method: &str, path: &str, answer: &crate::test_daemon::HttpAnswer| {
        let responses = &description["paths"][path][method]["responses"];
        let described = match &responses[answer.status.to_string()] {
            Value::Null => &responses["default"],
            described => described,
        };
        let schema = &described["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {path} {}", answer.status);
        let whole = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "components": description["components"],
            "allOf": [schema],
        });
        let validator = jsonschema::validator_for(&whole).unwrap();
        let document = answer.json();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{method} {path}: {errors:?}\n{document}");
    };
    let body = |path: &str| match path {
        "/api/v1/scan" => json!({ "name": "report" }),
        "/api/v1/select" => json!({ "task": "write a report" }),
        "/api/v1/compose" => json!({ "skills": ["report"] }),
        "/api/v1/permissions" => {
            json!({ "skill": "report", "digest": "sha256:0", "decision": "allow" })
        }
        "/api/v1/sessions" => json!({ "task": "x" }),
        "/api/v1/approvals/{id}" => json!({ "answer": "no" }),
        "/api/v1/sessions/{id}/messages" => json!({ "text": "x" }),
        "/api/v1/offers" | "/api/v1/installs" => json!({ "source": "skills/report" }),
        "/api/v1/remove" => json!({ "names": ["none"] }),
        "/api/v1/restore" => json!({ "name": "none" }),
        "/api/v1/undo" => json!({ "change": "1" }),
        "/api/v1/installs/{plan}" | "/api/v1/updates/{plan}" => json!({ "skills": [] }),
        _ => json!({}),
    };
    let mut tried = 0;
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            if path.ends_with("/events") {
                continue; // A stream; other tests read it.
            }
            let real = path
                .replace("{name}", "report")
                .replace("{path}", "SKILL.md")
                .replace("{tool}", "none")
                .replace("{plan}", "none")
                .replace("{id}", "s1");
            let body = match (method.as_str(), path.as_str()) {
                ("delete", "/api/v1/permissions") => json!({ "skill": "report" }),
                _ => body(path),
            };
            let headers = format!("{}Content-Type: application/json\r\n", daemon.headers());
            let body = if method == "get" {
                String::new()
            } else {
                body.to_string()
            };
            let answer = daemon.request(&method.to_uppercase(), &real, &headers, &body);
            assert_ne!(answer.status, 405, "{method} {path}");
            assert!(
                answer.status < 500 || path.contains("sessions"),
                "{method} {path}: {answer:?}"
            );
            check(method, path, &answer);
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} operations");
}

#[test]
fn events_are_streamed() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let context = context();
    let daemon = Daemon::start(&context);
    let mut stream = std::net::TcpStream::connect(&daemon.address).unwrap();
    stream.set_read_timeout(Some(patience::PATIENCE)).unwrap();
    let request = format!(
        "GET /api/v1/events?kinds=skills_changed HTTP/1.1\r\n{}\r\n",
        daemon.headers()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains(": connected")));
    skill(&context, "audit", "Audits.", "One.\n");
    let data = lines.find(|line| line.starts_with("data: ")).unwrap();
    let event: Value = serde_json::from_str(data.trim_start_matches("data: ")).unwrap();
    assert_eq!(names(&event["added"]), ["audit"]);
}

#[test]
fn health_and_metrics() {
    let context = context();
    let daemon = Daemon::start(&context);
    let host = format!("Host: {}\r\n", daemon.address);
    let health = daemon.request("GET", "/healthz", &host, "");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    daemon.get("/api/v1/skills").ok();
    assert_eq!(daemon.request("GET", "/metrics", &host, "").status, 401);
    let page = daemon.get("/metrics").body;
    for line in [
        "metier_skills 1",
        "metier_skills_ready 1",
        "metier_websockets 0",
        "# TYPE metier_http_request_seconds histogram",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}

#[test]
fn there_is_one_daemon_for_each_data_folder() {
    let context = context();
    let first = Daemon::start(&context);
    let second = context.run(&["--root", "skills", "serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, 1, "{}", second.snapshot());
    let pid = first.child.id().to_string();
    assert!(second.stderr.contains(&pid), "{}", second.snapshot());
    assert!(
        second.stderr.contains(&first.address),
        "{}",
        second.snapshot()
    );
    // A killed daemon leaves nothing that prevents the next one from starting.
    let token = first.token.clone();
    assert_eq!(first.end(Signal::KILL), None);
    let third = Daemon::start(&context);
    assert_eq!(third.token, token, "clients keep their token");
    third.get("/api/v1/skills").ok();
    assert_eq!(third.end(Signal::TERM), Some(0));
    let fourth = Daemon::start(&context);
    fourth.get("/api/v1/skills").ok();
    assert_eq!(fourth.end(Signal::INT), Some(0));
}

#[test]
fn the_end_closes_sockets_and_ends_sessions() {
    let mut context = context();
    let model = ModelServer::start([ScriptedTurn::hang()]);
    context
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "k")
        .env("METIER_MODEL", "anthropic/test");
    let daemon = Daemon::start(&context);
    let mut socket = daemon.socket();
    socket.ask(&json!({ "type": "subscribe" }));
    let started = daemon.post("/api/v1/sessions", &json!({ "task": "wait" }));
    assert_eq!(started.status, 201, "{started:?}");
    daemon.signal(Signal::TERM);
    assert_eq!(socket.closed(), "the daemon is stopping");
    assert_eq!(daemon.wait(), Some(0));
    model.forget();
}

#[test]
fn a_new_token_counts_at_once_and_the_old_one_no_more() {
    let context = context();
    let mut daemon = Daemon::start(&context);
    let rotated = context.run(&["serve", "--rotate-token", "--json"]);
    assert_eq!(rotated.code, 0, "{}", rotated.snapshot());
    let file: Value = serde_json::from_str(&rotated.stdout).unwrap();
    patience::wait_until("the old token is refused", || {
        daemon.get("/api/v1/status").status == 401
    });
    let token = fs::read_to_string(file["token_file"].as_str().unwrap()).unwrap();
    token.trim().clone_into(&mut daemon.token);
    daemon.get("/api/v1/status").ok();
}

/// A third-party client, in another language.
#[test]
fn a_third_party_client_of_the_websocket() {
    let context = context();
    let daemon = Daemon::start(&context);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/websocket_client.py");
    let mut command = Command::new(crate::mcp::python());
    let url = format!("ws://{}/ws", daemon.address);
    let folder = context.path("skills");
    command.arg(script).args([&url, &daemon.token]).arg(&folder);
    let output = context.start(command).wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{talk}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["list"], json!(["report"]));
    assert!(
        seen["content"].as_str().unwrap().contains("Now 42."),
        "{seen}"
    );
    assert_eq!(seen["error"], "unknown-skill");
    assert_eq!(seen["added"], json!(["from-python"]));
}

#[test]
fn a_thousand_changed_files_are_one_update() {
    let context = context();
    for number in 0..100 {
        skill(&context, &format!("bulk-{number}"), "Bulk.", "Body.\n");
    }
    let daemon = Daemon::start(&context);
    let mut socket = daemon.socket();
    socket.ask(&json!({ "type": "subscribe" }));
    for number in 0..100 {
        for file in 0..10 {
            context.write(
                &format!("skills/bulk-{number}/references/{file}.md"),
                "Text.\n",
            );
        }
    }
    let changes = socket.hear();
    assert_eq!(
        changes["changed"].as_array().unwrap().len(),
        100,
        "{changes}"
    );
    std::thread::sleep(Duration::from_secs(1));
    let next = socket.ask(&json!({ "id": 9, "type": "list_skills", "limit": 0 }));
    assert_eq!(next["id"], 9, "there is no second update: {next}");
}

/// MCP over HTTP passes the same checks, and has the same skills.
#[test]
fn mcp_is_served_over_http() {
    let context = context();
    let daemon = Daemon::start(&context);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let typed = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let headers = format!("{}{typed}", daemon.headers());
    let answer = daemon.request("POST", "/mcp", &headers, &hello.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("\"serverInfo\""), "{answer:?}");
    assert!(
        answer.body.contains("report"),
        "the skills are in the instructions: {answer:?}"
    );
    let host = format!("Host: {}\r\n{typed}", daemon.address);
    let refused = daemon.request("POST", "/mcp", &host, &hello.to_string());
    assert_eq!(refused.refused(), (401, "unauthorized".to_owned()));
    let foreign = format!("{headers}Origin: http://evil.example\r\n");
    let refused = daemon.request("POST", "/mcp", &foreign, &hello.to_string());
    assert_eq!(refused.refused(), (403, "foreign-origin".to_owned()));
}
