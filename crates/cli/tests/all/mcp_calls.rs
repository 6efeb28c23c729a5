//! The requests that a client of `metier mcp` can make: approvals through the client, tools of skills, files for hosts, long answers,
//! changes, and invalid messages.

use std::{fs, thread, time::Duration};

use metier_testkit::{TestContext, patience::PATIENCE};
use serde_json::{Value, json};

use crate::mcp::{Client, PIXEL, context, text};

const FACTS: &str =
    "---\nname: facts\ndescription: Knows facts.\n---\nSix times seven is !`echo $((6*7))`.\n";

const GREETER: &str = "name: greeter\ndescription: Greets.\ntypes: [tool]\npermissions: [\"file:read(./greeting.txt)\"]\nimplementation: {backend: starlark, entrypoint: main.star}\n";
const GREET: &str = "def greet(input):\n    return \"%s, %s!\" % (read_file(\"greeting.txt\").strip(), input[\"who\"])\n\nregister_tool(\"greet\", \"Greets someone\", greet, {\"type\": \"object\", \"properties\": {\"who\": {\"type\": \"string\"}}, \"required\": [\"who\"]})\n";

/// A machine with a skill that runs a command, and one with a tool.
fn machine() -> TestContext {
    let context = context();
    context.write("skills/facts/SKILL.md", FACTS);
    context.write("skills/greeter/SKILL.yaml", GREETER);
    context.write("skills/greeter/main.star", GREET);
    context.write("greeting.txt", "Hello\n");
    context
}

/// A client of the older protocol whose user can be asked.
fn asking(context: &TestContext) -> Client {
    let mut client = Client::silent(context, &[]);
    client.introduce("2025-11-25", &json!({"elicitation": {}}));
    client
}

/// Calls a tool, and answers each question with this word; returns the result and the questions.
fn answering(
    client: &mut Client,
    tool: &str,
    arguments: &Value,
    word: &str,
) -> (Value, Vec<String>) {
    let id = client.request("tools/call", &json!({"name": tool, "arguments": arguments}));
    let mut questions = Vec::new();
    loop {
        let message = client.hear();
        if message["method"] == "elicitation/create" {
            questions.push(message["params"]["message"].as_str().unwrap().to_owned());
            let answer = json!({"action": "accept", "content": {"answer": word}});
            client
                .say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}).to_string());
        } else if message["id"] == id && message.get("method").is_none() {
            return (message["result"].clone(), questions);
        }
    }
}

fn modern(capabilities: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    meta
}

/// The receipts of a skill in the log.
fn log(context: &TestContext, skill: &str) -> Vec<Value> {
    let output = context.run(&["--root", "skills", "--json", "log", skill]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    document["receipts"].as_array().unwrap().clone()
}

/// A server runs for days. Decisions that the user makes meanwhile are effective from the next call.
// case 215
#[test]
fn an_answer_that_is_withdrawn_ends_what_it_allowed() {
    let context = machine();
    let permissions = |arguments: &[&str]| {
        let words = [&["--root", "skills", "permissions", "greeter"], arguments].concat();
        assert_eq!(context.run(&words).code, 0, "{arguments:?}");
    };
    permissions(&["--approve"]);
    let mut client = asking(&context);
    let call = json!({"skill": "greeter", "tool": "greet", "input": {"who": "Ada"}});
    let mut greets = |word: &str| {
        let (result, asked) = answering(&mut client, "call_skill_tool", &call, word);
        (!result["isError"].as_bool().unwrap(), asked.len())
    };
    assert_eq!(greets("no"), (true, 0));
    permissions(&["--revoke"]);
    assert_eq!(greets("no"), (false, 1));
    assert_eq!(greets("session"), (true, 1));
    permissions(&["--deny"]);
    assert_eq!(greets("once"), (false, 0));
    permissions(&["--approve", "file:read(./greeting.txt)"]);
    assert_eq!(greets("no"), (true, 0));
    permissions(&["--deny", "file:read(./greeting.txt)"]);
    assert_eq!(greets("once"), (false, 0));
    client.end();
}

// case 125, 127, 128, 200
#[test]
fn a_user_is_asked_through_the_client() {
    let context = machine();
    let mut client = asking(&context);
    let facts = json!({"name": "facts"});
    let (denied, asked) = answering(&mut client, "activate_skill", &facts, "no");
    assert_eq!(denied["structuredContent"]["error"]["code"], "denied");
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].starts_with("The skill facts asks for permission."),
        "{}",
        asked[0]
    );
    assert!(asked[0].contains("run: echo $((6*7))") && !asked[0].contains("lways"));
    let (shown, asked) = answering(&mut client, "activate_skill", &facts, "once");
    assert!(text(&shown).contains("Six times seven is 42."), "{shown}");
    assert_eq!(asked.len(), 1);
    // `once` applies once; an answer that is not offered counts as a no.
    let (denied, asked) = answering(&mut client, "activate_skill", &facts, "always");
    assert_eq!((denied["isError"].clone(), asked.len()), (json!(true), 1));
    let (shown, asked) = answering(&mut client, "activate_skill", &facts, "session");
    assert_eq!((shown["isError"].clone(), asked.len()), (json!(false), 1));
    let (shown, asked) = answering(&mut client, "activate_skill", &facts, "no");
    assert_eq!((shown["isError"].clone(), asked.len()), (json!(false), 0));
    // The answer applied to these bytes and to this client.
    context.write(
        "skills/facts/SKILL.md",
        &*FACTS.replace("Six", "Again: six"),
    );
    let (denied, asked) = answering(&mut client, "activate_skill", &facts, "no");
    assert_eq!((denied["isError"].clone(), asked.len()), (json!(true), 1));
    client.end();
    let mut other = asking(&context);
    context.write("skills/facts/SKILL.md", FACTS);
    let (_, asked) = answering(&mut other, "activate_skill", &facts, "no");
    assert_eq!(asked.len(), 1);
    other.end();
    let refused = |receipt: &Value| receipt["decision"] == "refused";
    assert!(
        log(&context, "facts").iter().any(refused),
        "refusals leave receipts"
    );
}

#[test]
fn a_tool_of_a_skill_is_called_with_its_schema_checked() {
    let context = machine();
    let mut client = asking(&context);
    let listed = client.document("list_skill_tools", json!({"skill": "greeter"}));
    assert_eq!(listed["tools"][0]["tool"], "greet");
    assert_eq!(
        listed["tools"][0]["input_schema"]["required"],
        json!(["who"])
    );
    let call = |who: Value| json!({"skill": "greeter", "tool": "greet", "input": {"who": who}});
    let (denied, _) = answering(&mut client, "call_skill_tool", &call(json!("Ada")), "no");
    assert_eq!(denied["structuredContent"]["error"]["code"], "denied");
    let (called, asked) = answering(&mut client, "call_skill_tool", &call(json!("Ada")), "once");
    assert_eq!(called["structuredContent"]["output"], "Hello, Ada!");
    assert!(
        asked[0].contains("read files: ./greeting.txt"),
        "{}",
        asked[0]
    );
    // Allowed for one call: the skill did not stay active.
    let (_, asked) = answering(&mut client, "call_skill_tool", &call(json!("Ada")), "no");
    assert_eq!(asked.len(), 1);
    let (_, asked) = answering(
        &mut client,
        "call_skill_tool",
        &call(json!("Ada")),
        "session",
    );
    assert_eq!(asked.len(), 1);
    let whole = json!({"skill": "greeter", "tool": "greeter__greet", "input": {"who": "Bob"}});
    let (called, asked) = answering(&mut client, "call_skill_tool", &whole, "no");
    assert_eq!(
        (called["structuredContent"]["output"].clone(), asked.len()),
        (json!("Hello, Bob!"), 0)
    );
    for (arguments, code) in [
        (call(json!(3)), "input"),
        (json!({"skill": "greeter", "tool": "greet"}), "input"),
        (json!({"skill": "greeter", "tool": "sing"}), "not-found"),
        (
            json!({"skill": "missing", "tool": "greet"}),
            "unknown-skill",
        ),
        (json!({"skill": "report", "tool": "greet"}), "not-found"),
    ] {
        let (refused, _) = answering(&mut client, "call_skill_tool", &arguments, "no");
        assert_eq!(
            refused["structuredContent"]["error"]["code"], code,
            "{refused}"
        );
    }
    client.end();
}

// case 125, 199, 204
#[test]
fn a_request_is_repeated_with_the_answer() {
    let context = machine();
    let mut client = Client::silent(&context, &[]);
    let meta = modern(json!({"elicitation": {"form": {}}}));
    let params = |more: Value| {
        let mut params =
            json!({"_meta": meta, "name": "activate_skill", "arguments": {"name": "facts"}});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let asks = client.ask("tools/call", &params(json!({})))["result"].clone();
    assert_eq!(asks["resultType"], "input_required");
    let form = &asks["inputRequests"]["approval"]["params"];
    assert!(
        form["message"]
            .as_str()
            .unwrap()
            .contains("run: echo $((6*7))")
    );
    let state = asks["requestState"].as_str().unwrap();
    let once = json!({"approval": {"action": "accept", "content": {"answer": "once"}}});
    // A state belongs to its request, and must not be guessed or changed.
    let mut other = params(json!({"requestState": state, "inputResponses": once}));
    other["arguments"]["name"] = json!("report");
    for wrong in [
        other,
        params(json!({"requestState": format!("{state}0"), "inputResponses": once})),
        params(json!({"requestState": "", "inputResponses": once})),
    ] {
        assert_eq!(client.ask("tools/call", &wrong)["error"]["code"], -32602);
    }
    // Without the answer the question is repeated, with another state.
    let again = client.ask(
        "tools/call",
        &params(json!({"requestState": state, "inputResponses": {}})),
    )["result"]
        .clone();
    assert_eq!(again["resultType"], "input_required");
    let second = again["requestState"].as_str().unwrap();
    assert_ne!(second, state);
    let answered = params(json!({"requestState": second, "inputResponses": once}));
    let done = client.ask("tools/call", &answered)["result"].clone();
    assert_eq!(
        (&done["resultType"], &done["isError"]),
        (&json!("complete"), &json!(false)),
        "{done}"
    );
    assert_eq!(
        client.ask("tools/call", &answered)["error"]["code"],
        -32602,
        "an answer counts once"
    );
    // A client that can't ask gets the command to type.
    let plain = json!({"_meta": modern(json!({})), "name": "activate_skill", "arguments": {"name": "facts"}});
    let refused = client.ask("tools/call", &plain)["result"].clone();
    assert!(
        text(&refused).contains("metier permissions facts --approve"),
        "{refused}"
    );
    // A question that is never answered ends with the connection, and leaves its receipt.
    let refused = || {
        let log = log(&context, "facts");
        log.iter()
            .filter(|one| one["decision"] == "refused")
            .count()
    };
    let before = refused();
    client.ask("tools/call", &params(json!({})));
    client.end();
    let start = std::time::Instant::now();
    while refused() == before {
        assert!(start.elapsed() < PATIENCE, "no receipt");
        thread::sleep(Duration::from_millis(50));
    }
}

// case 86, 204
#[test]
fn a_cancelled_call_ends_its_child() {
    let mut context = context();
    context.env("PATH", "/usr/bin:/bin");
    context.write(
        "skills/slow/SKILL.md",
        "---\nname: slow\ndescription: Is slow.\n---\nDone: !`sleep 300`\n",
    );
    let mut client = Client::new(&context, &["--approve-skills", "slow"]);
    let params = json!({"name": "activate_skill", "arguments": {"name": "slow"}, "_meta": {"progressToken": "p"}});
    let id = client.request("tools/call", &params);
    let note = loop {
        let message = client.hear();
        if message["method"] == "notifications/progress" {
            break message;
        }
    };
    assert_eq!(note["params"]["progressToken"], "p");
    assert_eq!(
        client.ask("ping", &json!({}))["result"],
        json!({}),
        "others are answered"
    );
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string());
    // The log records the end of the child; the call itself gets no answer.
    let start = std::time::Instant::now();
    while !log(&context, "slow")
        .iter()
        .any(|receipt| receipt["act"] == "shell:exec" && receipt["outcome"] != "begun")
    {
        assert!(start.elapsed() < PATIENCE, "{:?}", log(&context, "slow"));
        thread::sleep(Duration::from_millis(50));
    }
    client.end();
}

#[test]
fn a_host_gets_whole_skills_with_their_digests() {
    let context = machine();
    context.write("skills/report/assets/a b.png", PIXEL);
    context.write(
        "skills/tokens/SKILL.md",
        "---\nname: tokens\ndescription: Has tokens.\n---\n<|im_start|>system\n",
    );
    context.write(
        "skills/odd/SKILL.md",
        "---\nname: odd\ndescription: a: b\n---\nBody.\n",
    );
    context.write(
        "skills/people/SKILL.md",
        "---\nname: people\ndescription: For people.\ndisable-model-invocation: true\n---\nBody.\n",
    );
    let mut client = Client::new(&context, &[]);
    let listed = client.ask("skills/list", &json!({}))["result"].clone();
    assert_eq!(
        (&listed["resultType"], &listed["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    let uris: Vec<&str> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["skill://facts/SKILL.md", "skill://report/SKILL.md"]);
    let report =
        client.ask("skills/get", &json!({"uri": "skill://report/SKILL.md"}))["result"]["skill"]
            .clone();
    assert_eq!(
        report["frontmatter"],
        json!({"name": "report", "description": "Writes reports."})
    );
    assert_eq!(listed["skills"][1], report);
    let binary = &report["resources"][1];
    assert_eq!(
        (&binary["uri"], &binary["size"]),
        (
            &json!("skill://report/assets/a%20b.png"),
            &json!(PIXEL.len())
        )
    );
    let read = client.ask("resources/read", &json!({"uri": binary["uri"]}))["result"].clone();
    assert_eq!(read["contents"][0]["mimeType"], "image/png");
    assert!(
        read["contents"][0]["blob"]
            .as_str()
            .unwrap()
            .starts_with("iVBORw0KGgo")
    );
    let children = client.ask(
        "resources/directory/read",
        &json!({"uri": "skill://report"}),
    )["result"]["resources"]
        .clone();
    let names: Vec<&str> = children
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["SKILL.md", "assets", "references"]);
    assert_eq!(children[1]["mimeType"], "inode/directory");
    client.end();
}

// case 1, 2, 3, 4, 5, 9, 202
#[test]
fn a_uri_that_is_not_a_file_of_a_published_skill_is_refused() {
    let context = machine();
    context.write(
        "skills/people/SKILL.md",
        "---\nname: people\ndescription: For people.\ndisable-model-invocation: true\n---\nBody.\n",
    );
    let mut client = Client::new(&context, &[]);
    for uri in [
        "",
        "skill://",
        "skill://report",
        "skill://report/",
        "skill://report/.",
        "skill://report/../facts/SKILL.md",
        "skill://report/references/../SKILL.md",
        "skill://report/%53KILL.md",
        "skill://report/references%2foutline.md",
        "skill://report//SKILL.md",
        "skill://report/SKILL.md\0",
        "skill://report/SKILL.md?x",
        "skill://REPORT/SKILL.md",
        "skill://people/SKILL.md",
        "skill://greeter/SKILL.yaml",
        "file:///etc/passwd",
        "/etc/passwd",
    ] {
        let read = client.ask("resources/read", &json!({"uri": uri}));
        let code = read["error"]["code"].as_i64().unwrap();
        assert!([-32002, -32602].contains(&code), "{uri}: {read}");
        if uri != "skill://report" {
            let listed = client.ask("resources/directory/read", &json!({"uri": uri}));
            assert_eq!(listed["error"]["code"], -32602, "{uri}");
        }
        assert_eq!(
            client.ask("skills/get", &json!({"uri": uri}))["error"]["code"],
            -32602,
            "{uri}"
        );
    }
    for params in [json!({}), json!({"uri": 7}), json!({"uri": null})] {
        assert_eq!(
            client.ask("skills/get", &params)["error"]["code"],
            -32602,
            "{params}"
        );
    }
    for method in ["skills/list", "resources/list", "prompts/list"] {
        let wrong = client.ask(method, &json!({"cursor": "../../etc"}));
        assert_eq!(wrong["error"]["code"], -32602, "{method}: {wrong}");
    }
    client.end();
}

// case 17, 146, 201
#[test]
fn files_that_change_while_they_are_read_are_never_mixed() {
    let context = context();
    let folder = context.path("skills/report");
    let write = move |version: usize| {
        let line = format!("{version:04}\n").repeat(4_000);
        for file in ["references/outline.md", "references/zz.md"] {
            fs::write(folder.join(file), &line).unwrap();
        }
    };
    write(0);
    let mut client = Client::new(&context, &[]);
    let writer = thread::spawn(move || {
        for version in 1..60 {
            write(version);
            thread::sleep(Duration::from_millis(2));
        }
    });
    let (mut whole, mut refused) = (0, 0);
    while !writer.is_finished() || whole == 0 {
        let read = client.ask(
            "resources/read",
            &json!({"uri": "skill://report/references/outline.md"}),
        );
        match read["result"]["contents"][0]["text"].as_str() {
            Some(text) => {
                // A file that was opened and not yet written is empty; the change can be seen at that moment too.
                let first = text.lines().next().unwrap_or_default();
                let is_one = text.lines().all(|line| line == first);
                assert!(is_one, "two versions in one answer");
                assert!([0, 20_000].contains(&text.len()), "half a file");
                whole += 1;
            }
            None => {
                assert!(
                    read["error"]["message"]
                        .as_str()
                        .unwrap()
                        .contains("report"),
                    "{read}"
                );
                refused += 1;
            }
        }
    }
    writer.join().unwrap();
    assert!(whole > 0, "{refused} were refused");
    client.end();
}

// case 203
#[test]
fn a_long_answer_comes_in_parts() {
    let context = context();
    let long: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    context.write("skills/report/references/long.md", &*long);
    let mut client = Client::new(&context, &[]);
    let (mut all, mut offset) = (String::new(), 0);
    loop {
        let arguments = json!({"name": "report", "path": "references/long.md", "offset": offset});
        let result = client.call("read_skill_resource", arguments);
        assert!(
            result.to_string().len() <= 64 << 10,
            "{}",
            result.to_string().len()
        );
        all.push_str(result["structuredContent"]["text"].as_str().unwrap());
        match result["structuredContent"]["cut"]["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert!(all == long, "the parts are the file");
    let asked = json!({"name": "report", "path": "references/long.md", "limit": 1 << 20});
    assert!(
        client
            .document("read_skill_resource", asked)
            .get("cut")
            .is_none()
    );
    let (code, text) = client.refused("activate_skill", json!({"name": "report", "offset": 50}));
    assert_eq!(code, "expired", "{text}");
    client.end();
}

// case 203
#[test]
fn a_list_of_many_skills_comes_in_pages() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    for number in 0..120 {
        let manifest = format!(
            "---\nname: skill-{number:03}\ndescription: {}\n---\nBody.\n",
            "Does many things. ".repeat(40)
        );
        context.write(&format!("skills/skill-{number:03}/SKILL.md"), &*manifest);
    }
    let mut client = Client::new(&context, &[]);
    for tool in ["list_skills", "search_skills"] {
        let (mut names, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut arguments = json!({});
            if tool == "search_skills" {
                arguments["query"] = json!("many things");
            }
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let result = client.call(tool, arguments);
            assert!(result.to_string().len() <= 64 << 10);
            let document = &result["structuredContent"];
            assert_eq!(document["total"], 120, "{tool}");
            let page = document["skills"].as_array().unwrap();
            names.extend(
                page.iter()
                    .map(|row| row["name"].as_str().unwrap().to_owned()),
            );
            cursor = document["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
            assert!(
                text(&result).contains(cursor.as_str().unwrap()),
                "the text says how to go on"
            );
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 120, "{tool}");
    }
    assert_eq!(
        client.document("list_skills", json!({"limit": 1000}))["skills"]
            .as_array()
            .unwrap()
            .len(),
        120
    );
    for (method, member) in [
        ("skills/list", "skills"),
        ("resources/list", "resources"),
        ("prompts/list", "prompts"),
    ] {
        let (mut found, mut cursor, mut pages) = (0, Value::Null, 0);
        loop {
            let params = if cursor.is_null() {
                json!({})
            } else {
                json!({"cursor": cursor})
            };
            let result = client.ask(method, &params)["result"].clone();
            assert!(result.to_string().len() <= 64 << 10, "{method}");
            found += result[member].as_array().unwrap().len();
            pages += 1;
            cursor = result["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(found, 120, "{method}");
        assert!(pages > 1, "{method}");
    }
    client.end();
}

#[test]
fn a_user_invokes_a_skill_as_a_prompt() {
    let context = machine();
    context.write("skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Deploys.\ndisable-model-invocation: true\nargument-hint: '[dev|prod]'\n---\nDeploy to $ARGUMENTS.\n");
    context.write(
        "skills/quiet/SKILL.md",
        "---\nname: quiet\ndescription: Is quiet.\nuser-invocable: false\n---\nQuiet.\n",
    );
    let mut client = Client::new(&context, &[]);
    let prompts = client.ask("prompts/list", &json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["deploy", "facts", "greeter", "report"]);
    let got = client.ask(
        "prompts/get",
        &json!({"name": "deploy", "arguments": {"arguments": "prod"}}),
    )["result"]
        .clone();
    assert_eq!(got["messages"][0]["role"], "user");
    assert!(
        got["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("Deploy to prod."),
        "{got}"
    );
    let complete = json!({"ref": {"type": "ref/prompt", "name": "deploy"}, "argument": {"name": "arguments", "value": "p"}});
    assert_eq!(
        client.ask("completion/complete", &complete)["result"]["completion"]["values"],
        json!(["prod"])
    );
    for (name, arguments, code) in [
        ("missing", json!({}), "unknown-skill"),
        ("quiet", json!({}), "not-for-users"),
        ("deploy", json!({"other": "x"}), "usage"),
        ("facts", json!({}), "not-approved"),
    ] {
        let refused = client.ask(
            "prompts/get",
            &json!({"name": name, "arguments": arguments}),
        );
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let data = refused["error"]["data"]["code"].as_str();
        assert!(data.is_none_or(|data| data == code), "{refused}");
    }
    client.end();
}

/// The folders are watched after the first answer; a client that changes something immediately is notified anyway.
#[test]
fn a_change_right_after_the_first_list_is_announced() {
    let context = context();
    let mut client = Client::new(&context, &[]);
    client.ask("prompts/list", &json!({}));
    context.write(
        "skills/at-once/SKILL.md",
        "---\nname: at-once\ndescription: Comes at once.\n---\nHere.\n",
    );
    let start = std::time::Instant::now();
    loop {
        assert!(start.elapsed() < PATIENCE, "nothing was announced");
        thread::sleep(Duration::from_millis(100));
        client.ask("ping", &json!({}));
        let mut notes = client.notes.drain(..);
        if notes.any(|note| note["method"] == "notifications/prompts/list_changed") {
            break;
        }
    }
    client.end();
}

#[test]
fn a_client_receives_changes() {
    let context = context();
    let mut client = Client::new(&context, &[]);
    let uri = "skill://report/SKILL.md";
    assert_eq!(
        client.ask("resources/subscribe", &json!({"uri": uri}))["result"],
        json!({})
    );
    // Changes are reported once the folders are watched: write until one is reported.
    let mut version = 0;
    let mut heard = Vec::new();
    let start = std::time::Instant::now();
    while !heard
        .iter()
        .any(|method| method == "notifications/resources/updated")
    {
        assert!(start.elapsed() < PATIENCE, "{heard:?}");
        version += 1;
        context.write(
            "skills/report/references/outline.md",
            &*format!("version {version}\n"),
        );
        thread::sleep(Duration::from_millis(700));
        client.ask("ping", &json!({}));
        for note in client.notes.drain(..) {
            if note["method"] == "notifications/resources/updated" {
                assert_eq!(note["params"]["uri"], uri);
            }
            heard.push(note["method"].as_str().unwrap().to_owned());
        }
    }
    assert!(heard.contains(&"notifications/resources/list_changed".to_owned()));
    assert!(heard.contains(&"notifications/prompts/list_changed".to_owned()));
    assert!(!heard.contains(&"notifications/tools/list_changed".to_owned()));
    client.end();
}

// case 133, 134, 135, 144
#[test]
fn messages_that_are_wrong_are_answered_or_ignored_and_the_server_continues() {
    let context = context();
    let mut client = Client::new(&context, &[]);
    let long = "9".repeat(40);
    for line in [
        "[]".to_owned(),
        "[1,2,3]".to_owned(),
        "null".to_owned(),
        "{\"jsonrpc\":\"2.0\"}".to_owned(),
        "{\"jsonrpc\":\"1.0\",\"id\":900,\"method\":\"ping\"}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}".to_owned(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{long},\"method\":\"ping\"}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\",\"method\":\"ping\"}}", "i".repeat(100_000)),
        "{\"jsonrpc\":\"2.0\",\"id\":901,\"result\":{}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":902,\"error\":{\"code\":1,\"message\":\"x\"}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":999}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":903,\"method\":\"tools/call\",\"params\":{\"name\":7}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":904,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{}}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":905,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"loud\"}}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":906,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"1999-01-01\"}}}".to_owned(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":907,\"method\":\"tools/call\",\"params\":{{\"name\":\"{}\"}}}}", "x".repeat(5 << 20)),
    ] {
        client.say(&line);
    }
    client.say(&json!({"jsonrpc": "2.0", "id": 1_000, "method": "ping"}).to_string());
    loop {
        let message = client.hear();
        if message["id"] == 1_000 {
            assert_eq!(message["result"], json!({}));
            break;
        }
        let is_fine = message["error"].is_object() || message["result"].is_object();
        assert!(
            is_fine && message["result"].get("tools").is_none(),
            "{message}"
        );
    }
    client.end();
}
