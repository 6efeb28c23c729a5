//! `metier agent`: a task, a model, tools, and an answer.

use metier_testkit::model_server::ScriptedTurn;
use serde_json::{Value, json};

use crate::skill_project::field;
use crate::test_agent::{TestAgent, events, last_message};

#[test]
fn an_agent_answers() {
    let room = TestAgent::new([ScriptedTurn::text("It is done.")]);
    let output = room.run(&["agent", "say", "something"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "It is done.\n");
    let requests = room.finish();
    assert_eq!(
        requests[0].json["messages"][0]["content"][0]["text"],
        "say something"
    );
}

#[test]
fn an_agent_reads_a_file_when_it_may() {
    let room = TestAgent::new([
        ScriptedTurn::calls([("read", json!({"path": "notes.txt"}))]),
        ScriptedTurn::text("It says hello."),
    ]);
    room.stage.context.write("notes.txt", "hello from a file\n");
    let output = room.run(&[
        "agent",
        "--approve-skills",
        "core-tools",
        "--format",
        "jsonl",
        "read notes.txt",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = events(&output);
    assert_eq!(told.last().unwrap()["type"], "turn_ended");
    assert_eq!(told.last().unwrap()["requests"], 2);
    let requests = room.finish();
    assert!(last_message(&requests[1]).contains("hello from a file"));
}

#[test]
fn without_an_approval_an_agent_reads_the_project_and_no_more() {
    let room = TestAgent::new([
        ScriptedTurn::calls([
            ("read", json!({"path": "notes.txt"})),
            ("write", json!({"path": "new.txt", "content": "x"})),
            ("shell", json!({"command": "git status; touch made"})),
        ]),
        ScriptedTurn::text("I can't."),
    ]);
    room.stage.context.write("notes.txt", "hello from a file\n");
    let output = room.run(&["agent", "go"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    for hint in [
        "metier permissions core-tools --approve 'file:write(./**)'",
        "metier permissions core-tools --approve 'shell:exec(git status; touch made)'",
        "--approve-skills core-tools",
    ] {
        assert!(output.stderr.contains(hint), "{hint}: {}", output.stderr);
    }
    assert!(!room.stage.has("new.txt") && !room.stage.has("made"));
    let refused: Vec<String> = room
        .stage
        .receipts()
        .iter()
        .filter(|receipt| field(receipt, "decision") == "refused")
        .map(|receipt| field(receipt, "act").to_owned())
        .collect();
    assert_eq!(refused, ["shell:exec", "file:write"]);
    // The command in the hint works.
    for permission in ["file:write(./**)", "shell:exec(git status; touch made)"] {
        let approve = ["permissions", "core-tools", "--approve", permission];
        let output = room.run(&approve);
        assert_eq!(output.code, 0, "{}", output.snapshot());
    }
    let requests = room.finish();
    let answers = last_message(&requests[1]);
    assert!(answers.contains("hello from a file"), "{answers}");
    assert!(answers.contains("needs the user's approval"), "{answers}");
}

#[test]
fn without_skills_a_request_is_the_one_with_skills_disabled() {
    let body = |settings: &[(&str, &str)]| {
        let mut room = TestAgent::new([ScriptedTurn::text("Hello.")]);
        for (name, value) in settings {
            room.stage.context.env(name, value);
        }
        let output = room.run(&["agent", "say hello"]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        room.finish().remove(0).body
    };
    let none = body(&[("METIER_SKILLS_ALLOW_BUNDLED", "nothing-of-this-name")]);
    let off = body(&[("METIER_SKILLS_ENABLED", "false")]);
    assert_eq!(
        String::from_utf8_lossy(&none),
        String::from_utf8_lossy(&off)
    );
    assert!(!String::from_utf8_lossy(&none).contains("skill"));
}

#[test]
fn sub_agents_of_one_answer_work_at_the_same_time() {
    // Each one waits until the other has asked too: run one after the other, they would never end.
    let room = TestAgent::new([]);
    let both = std::sync::Arc::new(std::sync::Barrier::new(2));
    let waits = |answer: &'static str| {
        let both = std::sync::Arc::clone(&both);
        ScriptedTurn::computed(move |_| {
            both.wait();
            ScriptedTurn::text(answer)
        })
    };
    room.server.play([
        ScriptedTurn::calls([
            ("sessions_spawn", json!({"task": "count the cats"})),
            ("sessions_spawn", json!({"task": "count the dogs"})),
        ]),
        waits("seven"),
        waits("seven"),
        ScriptedTurn::text("Fourteen."),
    ]);
    let output = room.run(&["agent", "count the animals"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "Fourteen.\n");
    let requests = room.finish();
    let results = requests[3].json["messages"][2]["content"]
        .as_array()
        .unwrap();
    assert_eq!(results.len(), 2);
}

#[test]
fn tools_of_different_skills_work_at_the_same_time() {
    let room = TestAgent::new([
        ScriptedTurn::calls([("left__meet", json!({})), ("right__meet", json!({}))]),
        ScriptedTurn::text("They met."),
    ]);
    // Each creates a file and waits for the other's.
    let meet = |own: &str, other: &str| {
        format!(
            "#!/usr/bin/env python3\nimport json, os, sys, time\n\
             for line in sys.stdin:\n    m = json.loads(line)\n    r = {{}}\n\
             \x20   if m['method'] == 'initialize':\n\
             \x20       r = {{'protocol': 1, 'tools': [{{'name': 'meet', 'description': 'Meets', 'input_schema': {{'type': 'object'}}}}]}}\n\
             \x20   elif m['method'] == 'tool/execute':\n\
             \x20       open('{own}', 'w').close()\n        end = time.time() + 20\n\
             \x20       while not os.path.exists('{other}') and time.time() < end:\n            time.sleep(0.01)\n\
             \x20       r = {{'output': 'met' if os.path.exists('{other}') else 'alone'}}\n\
             \x20   print(json.dumps({{'jsonrpc': '2.0', 'id': m['id'], 'result': r}}), flush=True)\n"
        )
    };
    for (own, other) in [("left", "right"), ("right", "left")] {
        let folder = format!("~/.config/metier/skills/{own}");
        room.stage.context.write(
            &format!("{folder}/SKILL.yaml"),
            format!(
                "name: {own}\nversion: 1.0.0\ndescription: Meets.\ntypes: [tool]\n\
                 permissions: [\"file:read(./**)\", \"file:write(./**)\"]\n\
                 implementation: {{backend: process, entrypoint: main.py}}\n"
            ),
        );
        room.stage.context.write(
            &format!("{folder}/main.py"),
            meet(&format!("{own}.here"), &format!("{other}.here")),
        );
    }
    let output = room.run(&[
        "--skills",
        "left,right",
        "agent",
        "meet",
        "--approve-skills",
        "left,right,core-tools",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    let results = last_message(&requests[1]);
    assert_eq!(results.matches("met").count(), 2, "{results}");
}

#[test]
fn sub_agents_are_bounded_in_depth_and_share_one_purse() {
    let spawn = || ScriptedTurn::calls([("sessions_spawn", json!({"task": "go on"}))]);
    let mut room = TestAgent::new([
        spawn(),
        spawn(),
        ScriptedTurn::text("deep"),
        ScriptedTurn::text("up"),
        ScriptedTurn::text("top"),
    ]);
    room.stage.context.env("METIER_AGENT_MAX_DEPTH", "2");
    let output = room.run(&["agent", "go down"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    let spawns: Vec<bool> = requests
        .iter()
        .map(|request| request.tools().contains(&"sessions_spawn"))
        .collect();
    assert_eq!(spawns, [true, true, false, true, true]);

    let mut room = TestAgent::new([spawn(), ScriptedTurn::calls([("list_skills", json!({}))])]);
    room.stage.context.env("METIER_AGENT_MAX_REQUESTS", "2");
    let output = room.run(&["agent", "go down"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("agent.max_requests"),
        "{}",
        output.stderr
    );
    assert_eq!(room.finish().len(), 2);

    // An answer takes 15 tokens: the second one, of the sub-agent, is the last.
    let mut room = TestAgent::new([spawn(), ScriptedTurn::text("deep")]);
    let context = &mut room.stage.context;
    context.env("METIER_AGENT_MAX_TOTAL_TOKENS", "30");
    let output = room.run(&["agent", "go down"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let hint = "agent.max_total_tokens";
    assert!(output.stderr.contains(hint), "{}", output.stderr);
    assert_eq!(room.finish().len(), 2);
}

#[test]
fn a_skill_may_want_another_model_for_its_turn() {
    let room = TestAgent::new([ScriptedTurn::text("Deep."), ScriptedTurn::text("As usual.")]);
    room.skill(
        "thinker",
        "model: anthropic/deep-thought\neffort: high\n",
        "Think.\n",
    );
    let output = room.run(&["agent", "/thinker what is it?"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let output = room.run(&["agent", "what is it?"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    assert_eq!(requests[0].json["model"], "deep-thought");
    assert_eq!(requests[0].json["output_config"]["effort"], "high");
    assert_eq!(requests[1].json["model"], "test-model");
    assert_eq!(requests[1].json.get("output_config"), None);
}

#[test]
fn a_skill_of_the_opening_gets_the_model_that_it_requires() {
    let room = TestAgent::new([ScriptedTurn::text("Deep."), ScriptedTurn::text("Deeper.")]);
    room.skill(
        "thinker",
        "model: anthropic/deep-thought\nallowed_tools: [read]\n",
        "Think.\n",
    );
    let output = room.run(&["--skills", "thinker", "agent", "what is it?"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let output = room.run(&["spawn", "--skills", "thinker", "--task", "what is it?"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    for request in room.finish() {
        assert_eq!(request.json["model"], "deep-thought");
    }
}

/// The end of a turn in which one model loads a skill of another model. Each answer takes 10 tokens in and 5 out.
fn turn_of_two_models(prices: &str) -> Value {
    let room = TestAgent::new([
        ScriptedTurn::calls([("activate_skill", json!({"name": "thinker"}))]),
        ScriptedTurn::text("Deep."),
    ]);
    room.skill("thinker", "model: anthropic/deep-thought\n", "Think.\n");
    room.stage
        .context
        .write("~/.config/metier/config.toml", prices);
    let output = room.run(&["agent", "what is it?", "--format", "jsonl"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let ended = events(&output).pop().unwrap();
    assert_eq!(ended["type"], "turn_ended", "{ended}");
    assert_eq!(ended["requests"], 2, "{ended}");
    room.finish();
    ended
}

#[test]
fn every_answer_of_a_turn_counts_at_its_own_price() {
    let ended = turn_of_two_models(
        "[agent.prices.test-model]\ninput = \"1\"\noutput = \"0\"\n[agent.prices.deep-thought]\ninput = \"0\"\noutput = \"1000\"\n",
    );
    assert_eq!(ended["cost"], "0.00501", "{ended}");
}

#[test]
fn without_the_price_of_every_answer_there_is_no_cost() {
    let ended = turn_of_two_models("[agent.prices.test-model]\ninput = \"1\"\noutput = \"1\"\n");
    assert_eq!(ended.get("cost"), None, "{ended}");
}

#[test]
fn an_unavailable_model_does_not_stop_the_conversation() {
    let room = TestAgent::new([ScriptedTurn::text("Anyway.")]);
    room.skill("thinker", "model: openai/sonnet\n", "Think.\n");
    let output = room.run(&["agent", "/thinker what is it?"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output.stderr.contains("requires the model `openai/sonnet`"),
        "{}",
        output.stderr
    );
    assert_eq!(room.finish()[0].json["model"], "test-model");
}

#[test]
fn a_turn_has_its_own_rates() {
    let run = || ScriptedTurn::calls([("shell", json!({"command": "echo hello"}))]);
    let reload = ScriptedTurn::calls([
        ("activate_skill", json!({"name": "core-tools"})),
        ("shell", json!({"command": "echo hello"})),
    ]);
    let mut room = TestAgent::new([
        run(),
        reload,
        ScriptedTurn::text("Once is enough."),
        run(),
        ScriptedTurn::text("Once more."),
    ]);
    let context = &mut room.stage.context;
    context.env("METIER_SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN", "1");
    let arguments = ["chat", "--approve-skills", "core-tools"];
    let output = context.run_with_stdin(&arguments, "say hello\nand again\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    assert!(last_message(&requests[1]).contains("hello"));
    // Loading the skill again does not begin a new turn; the user's next message does.
    let refused = last_message(&requests[2]);
    let limit = "the limit of 1 in one turn is reached";
    assert!(refused.contains(limit), "{refused}");
    assert!(last_message(&requests[4]).contains("hello"));
}

#[test]
fn a_model_chooses_among_names_that_there_are() {
    let room = TestAgent::new([ScriptedTurn::text("Hello.")]);
    room.skill(
        "hidden",
        "disable-model-invocation: true\n",
        "For people.\n",
    );
    room.skill("open", "", "For all.\n");
    let output = room.run(&["agent", "say hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let request = room.finish().remove(0);
    let tools = request.json["tools"].as_array().unwrap();
    let activate = tools.iter().find(|tool| tool["name"] == "activate_skill");
    let names = &activate.unwrap()["input_schema"]["properties"]["name"]["enum"];
    let names: Vec<&str> = names
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|name| name.as_str())
        .collect();
    assert!(
        names.contains(&"open") && !names.contains(&"hidden"),
        "{names:?}"
    );
}

#[test]
fn a_sub_agent_that_goes_astray_leaves_something_to_the_others() {
    let again = || ScriptedTurn::calls([("list_skills", json!({}))]);
    let mut room = TestAgent::new([
        ScriptedTurn::calls([("sessions_spawn", json!({"task": "go on and on"}))]),
        again(),
        again(),
        ScriptedTurn::text("It came to no end."),
    ]);
    let context = &mut room.stage.context;
    context.env("METIER_AGENT_MAX_SUBAGENT_REQUESTS", "2");
    let output = room.run(&["agent", "start one"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    let report = last_message(&requests[3]);
    assert!(report.contains("agent.max_subagent_requests"), "{report}");
}

#[test]
fn one_document_is_not_many_lines() {
    let room = TestAgent::new([]);
    let output = room.run(&["agent", "say hello", "--json", "--format", "jsonl"]);
    assert_eq!(output.code, 2, "{}", output.snapshot());
    assert_eq!(room.finish().len(), 0);
}
