//! `metier chat` from a pipe: each line is a turn, the conversation is kept, and Ctrl-C stops the current work.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::{Child, Command},
    thread,
    time::Duration,
};

use metier_store::{NewConversation, Store};
use metier_testkit::{
    ProgramOutput,
    model_server::ScriptedTurn,
    patience::{in_time, wait_until},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::test_agent::{TestAgent, events, last_message};

const CHAT: &[&str] = &["chat"];

fn chat(room: &TestAgent, arguments: &[&str], lines: &str) -> ProgramOutput {
    room.stage
        .context
        .run_with_stdin(&[CHAT, arguments].concat(), lines)
}

/// The id after `--resume` in the output.
fn resumable(text: &str) -> &str {
    let (_, id) = text.split_once("metier chat --resume ").unwrap();
    id.split_whitespace().next().unwrap()
}

#[test]
fn every_line_is_a_turn() {
    let room = TestAgent::new([
        ScriptedTurn::text("Hello."),
        ScriptedTurn::text("Good bye."),
    ]);
    let output = chat(&room, &[], "hi\n\nbye\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "Hello.\nGood bye.\n");
    assert_eq!(resumable(&output.stderr).len(), 16);
    let requests = room.finish();
    let said = requests[1].json["messages"].as_array().unwrap();
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(said[2]["content"][0]["text"], "bye");
}

#[test]
fn a_line_that_ends_with_a_backslash_continues() {
    let room = TestAgent::new([ScriptedTurn::text("Two.")]);
    let output = chat(&room, &[], "one\\\ntwo\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(last_message(&room.finish()[0]).contains("one\\ntwo"));
}

#[test]
fn the_exit_code_shows_how_the_last_turn_ended() {
    let room = TestAgent::new([ScriptedTurn::text("Fine."), ScriptedTurn::status(400, None)]);
    let output = chat(&room, &[], "one\ntwo\n");
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(output.stderr.contains("error: "), "{}", output.stderr);
    room.finish().clear();
    let room = TestAgent::new([ScriptedTurn::status(400, None), ScriptedTurn::text("Fine.")]);
    let output = chat(&room, &[], "one\ntwo\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "Fine.\n");
    assert_eq!(room.finish().len(), 2);
}

#[test]
fn a_chat_prints_events_as_lines() {
    let room = TestAgent::new([ScriptedTurn::text("Hello.")]);
    let output = chat(&room, &["--format", "jsonl"], "hi\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = events(&output);
    assert_eq!(told[0]["type"], "session_started");
    assert_eq!(told.last().unwrap()["text"], "Hello.");
    room.finish().clear();
}

#[test]
fn an_unknown_name_reaches_no_model() {
    let room = TestAgent::new([ScriptedTurn::text("It is a folder.")]);
    room.skill("review-pr", "", "Review it.\n");
    let output = chat(&room, &[], "/review-rp 123\n");
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("there is no skill or command `/review-rp`")
            && output.stderr.contains("/review-pr"),
        "{}",
        output.stderr
    );
    assert!(room.server.requests().is_empty());
    let kept = room.run(&["chat", "--list", "--json"]).stdout;
    assert!(kept.contains("\"conversations\":[]"), "{kept}");
    // A path is not a name.
    let output = chat(&room, &[], "/usr/bin is what?\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(last_message(&room.finish()[0]).contains("/usr/bin is what?"));
}

#[test]
fn a_skill_is_loaded_listed_and_unloaded() {
    let room = TestAgent::new([ScriptedTurn::text("Looked."), ScriptedTurn::text("Gone.")]);
    room.skill("review-pr", "", "The text of the skill, for $ARGUMENTS.\n");
    room.skill("help", "", "A skill that helps.\n");
    let output = chat(
        &room,
        &[],
        "/skills\n/review-pr 123\n/skills\n/unload review-pr\n/unload review-pr\n/help\ngo on\n/quit\nnever said\n",
    );
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = &output.stderr;
    for line in [
        "/review-pr  Does review-pr.",
        "skill review-pr (you named it)",
        "active  review-pr",
        "unloaded review-pr",
        "skill `review-pr` is not active",
        "$NAME also loads a skill whose name is a command, such as $help",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let requests = room.finish();
    assert!(last_message(&requests[0]).contains("The text of the skill, for 123."));
    assert!(
        !requests[1].json["messages"]
            .to_string()
            .contains("The text of the skill")
    );
}

#[test]
fn a_skill_with_the_name_of_a_command_is_called_with_a_dollar() {
    let room = TestAgent::new([ScriptedTurn::text("Helped.")]);
    room.skill("help", "", "A skill that helps.\n");
    let output = chat(&room, &[], "$help me\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(last_message(&room.finish()[0]).contains("A skill that helps."));
}

#[test]
fn commands_of_the_chat_say_what_they_lack() {
    let room = TestAgent::new([]);
    for (line, said) in [
        ("/unload\n", "/unload needs the name of a skill"),
        ("/unload x\n", "no skill is active yet"),
        ("/help me\n", "/help takes no arguments"),
    ] {
        let output = chat(&room, &[], line);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    let output = chat(&room, &[], "/compact\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output.stderr.contains("nothing to compact"),
        "{}",
        output.stderr
    );
    assert!(room.finish().is_empty());
}

#[test]
fn a_conversation_continues() {
    let room = TestAgent::new([
        ScriptedTurn::text("I will."),
        ScriptedTurn::text("It was 7."),
    ]);
    let first = chat(&room, &[], "remember the number 7\n");
    let id = resumable(&first.stderr).to_owned();
    let output = chat(&room, &["--resume"], "which number?\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "It was 7.\n");
    for line in ["> remember the number 7\n", "\nI will.\n", &id] {
        assert!(output.stderr.contains(line), "{line}: {}", output.stderr);
    }
    let listed: Value =
        serde_json::from_str(&room.run(&["chat", "--list", "--json"]).stdout).unwrap();
    assert_eq!(listed["conversations"][0]["id"], id.as_str());
    assert_eq!(listed["conversations"][0]["title"], "remember the number 7");
    let shown = room.run(&["chat", "--list"]).stdout;
    assert!(shown.contains(&id) && shown.contains("4 lines"), "{shown}");
    let requests = room.finish();
    assert_eq!(requests[1].json["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn the_beginning_of_an_id_is_enough_if_it_is_the_only_one() {
    let room = TestAgent::new([ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]);
    let id = resumable(&chat(&room, &[], "first\n").stderr).to_owned();
    let output = chat(&room, &["--resume", &id[..6]], "second\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    for wrong in ["0000000", &id[..3]] {
        let output = chat(&room, &["--resume", wrong], "");
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(
            output
                .stderr
                .contains(&format!("there is no conversation `{wrong}`"))
                && output.stderr.contains(&id)
                && output.stderr.contains("metier chat --list"),
            "{}",
            output.stderr
        );
    }
    assert_eq!(room.finish().len(), 2);
}

/// Starts the program with its streams in pipes.
pub(crate) fn start(room: &TestAgent, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metier"));
    command.args(arguments);
    room.stage.context.start(command)
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Its exit, which must come soon.
pub(crate) fn end(child: Child) -> (i32, String) {
    let output = in_time("its end", || child.wait_with_output().unwrap());
    let told = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), told)
}

#[test]
fn an_agent_that_is_interrupted_can_be_asked_again() {
    let room = TestAgent::new([ScriptedTurn::hang(), ScriptedTurn::text("At last.")]);
    let child = start(&room, &["agent", "a long story"]);
    room.server.wait_for(1);
    signal(&child, Signal::INT);
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    assert!(told.contains("error: stopped by Ctrl-C"), "{told}");
    room.server.wait_until_left();
    let output = chat(&room, &["--resume", resumable(&told)], "");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "At last.\n");
    assert!(
        output.stderr.contains("never answered"),
        "{}",
        output.stderr
    );
    let requests = room.finish();
    assert!(last_message(&requests[1]).contains("a long story"));
}

#[test]
fn a_killed_conversation_continues_where_it_was() {
    let room = TestAgent::new([ScriptedTurn::hang(), ScriptedTurn::text("Here I am.")]);
    let mut child = start(&room, &["agent", "are you there?"]);
    room.server.wait_for(1);
    child.kill().unwrap();
    child.wait().unwrap();
    let output = chat(&room, &["--resume"], "");
    assert_eq!(output.stdout, "Here I am.\n", "{}", output.snapshot());
    assert_eq!(room.finish().len(), 2);
}

/// The whole tree shares one flag: a sub-agent that waits for a model ends with its parent.
#[test]
fn cancelling_an_agent_cancels_its_sub_agents() {
    let room = TestAgent::new([
        ScriptedTurn::calls([
            ("sessions_spawn", json!({"task": "count to a million"})),
            ("sessions_spawn", json!({"task": "count to a billion"})),
        ]),
        ScriptedTurn::hang(),
        ScriptedTurn::hang(),
    ]);
    let child = start(&room, &["agent", "let others count"]);
    room.server.wait_for(3);
    signal(&child, Signal::INT);
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    room.server.wait_until_left();
    assert_eq!(room.finish().len(), 3);
}

/// Whether a process with this word on its command line is running on the machine.
fn lives(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        line.split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    })
}

#[test]
fn a_tool_that_runs_ends_with_the_turn() {
    let seconds = format!("7301.{}", std::process::id());
    let sleep = json!({"command": format!("sleep {seconds}")});
    let room = TestAgent::new([ScriptedTurn::calls([("shell", sleep)])]);
    let child = start(&room, &["agent", "--approve-skills", "core-tools", "sleep"]);
    wait_until("the tool", || lives(&seconds));
    signal(&child, Signal::INT);
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    assert!(!lives(&seconds));
    let receipts = room.stage.receipts();
    let ended = |receipt: &&Value| receipt["reason"].to_string().contains("stopped on request");
    assert!(
        receipts.iter().any(|receipt| ended(&receipt)),
        "{receipts:?}"
    );
    assert_eq!(room.finish().len(), 1);
}

/// A second Ctrl-C does not wait for a request that gets no answer.
#[test]
fn the_second_interrupt_ends_the_program() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let room = TestAgent::new([]);
    let front = format!(
        "types: [workflow]\npermissions: [\"net:fetch(127.0.0.1:{port})\"]\nimplementation: {{backend: starlark, entrypoint: skill.star}}\n"
    );
    room.skill("patient", &front, "Text.\n");
    room.stage.context.write(
        "~/.config/metier/skills/patient/skill.star",
        format!("def wait(input):\n    return fetch(\"http://127.0.0.1:{port}/\").body\n\nregister_workflow(\"patient\", wait)\n"),
    );
    let mut child = start(&room, &["--approve-skills", "patient", "run", "patient"]);
    let (mut connection, _) = silent.accept().unwrap();
    assert!(connection.read(&mut [0; 1024]).unwrap() > 0);
    // An answer that starts and never ends.
    let begin = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwait";
    connection.write_all(begin).unwrap();
    thread::sleep(Duration::from_secs(1));
    signal(&child, Signal::INT);
    thread::sleep(Duration::from_millis(500));
    if child.try_wait().unwrap().is_some() {
        panic!("it did not wait: {:?}", end(child));
    }
    signal(&child, Signal::INT);
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    assert!(room.finish().is_empty());
}

/// In a pipe there is no user to continue.
#[test]
fn an_interrupt_ends_a_chat_from_a_pipe() {
    let room = TestAgent::new([ScriptedTurn::hang()]);
    let mut child = start(&room, CHAT);
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(b"one\ntwo\n").unwrap();
    room.server.wait_for(1);
    signal(&child, Signal::INT);
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    assert_eq!(resumable(&told).len(), 16);
    room.server.wait_until_left();
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_beginning_that_fits_several_names_them() {
    let room = TestAgent::new([ScriptedTurn::text("Hello.")]);
    chat(&room, &[], "hi\n");
    let database = room.stage.context.path("~/.local/share/metier/metier.db");
    let store = Store::open(&database).unwrap();
    for id in ["abcd000000000001", "abcd000000000002"] {
        let new = NewConversation {
            id,
            at: "2026-01-02T03:04:05Z",
            folder: "/elsewhere",
            model: "anthropic/test-model",
            title: "about bees",
            parent: None,
        };
        store.begin_conversation(&new).unwrap();
    }
    let output = chat(&room, &["--resume", "abcd"], "");
    assert_eq!(output.code, 1, "{}", output.snapshot());
    for line in [
        "`abcd` is the beginning of 2 ids",
        "abcd000000000001 just now about bees",
        "abcd000000000002",
    ] {
        assert!(output.stderr.contains(line), "{line}: {}", output.stderr);
    }
    assert_eq!(room.finish().len(), 1);
}

/// Events are printed on stderr, those of sub-agents indented; thoughts and long tool results only with `-v`.
#[test]
fn events_are_printed_beside_the_answer() {
    let script = || {
        [
            ScriptedTurn::calls([("sessions_spawn", json!({"task": "read the notes"}))])
                .thinking("Let others do it."),
            ScriptedTurn::calls([("read", json!({"path": "notes.txt"}))]),
            ScriptedTurn::text("They are about bees."),
            ScriptedTurn::text("Bees."),
        ]
    };
    let run = |flags: &[&str]| {
        let room = TestAgent::new(script());
        let notes: String = (1..=20).map(|number| format!("bee {number}\n")).collect();
        room.stage.context.write("notes.txt", notes);
        let rest = [
            "agent",
            "--approve-skills",
            "core-tools",
            "what are the notes about?",
        ];
        let output = room.run(&[flags, &rest].concat());
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert_eq!(output.stdout, "Bees.\n");
        assert_eq!(room.finish().len(), 4);
        output.stderr
    };
    let told = run(&[]);
    for line in [
        "tool sessions_spawn read the notes\n",
        "spawn read the notes\n",
        "\n  tool read notes.txt\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    for hidden in ["bee 1", "Let others do it.", "tokens in"] {
        assert!(!told.contains(hidden), "{hidden}: {told}");
    }
    let told = run(&["-v"]);
    for line in [
        "bee 1\n",
        "… and 12 more\n",
        "Let others do it.",
        "20 tokens in, 10 out; sub-agents 20 in, 10 out\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert_eq!(run(&["-q"]), "");
}

#[test]
fn a_workflow_that_fits_is_offered() {
    let room = TestAgent::new([ScriptedTurn::text("You could.")]);
    let front = "types: [workflow]\ntriggers: {keywords: [poem]}\nimplementation: {backend: starlark, entrypoint: skill.star}\n";
    room.skill("poet", front, "Text.\n");
    room.stage.context.write(
        "~/.config/metier/skills/poet/skill.star",
        "def poem(input):\n    return \"Roses\"\n\nregister_workflow(\"poet\", poem)\n",
    );
    let output = chat(&room, &[], "I want a poem\n/poet now\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("offer /poet would run the workflow `poet`"),
        "{}",
        output.stderr
    );
    assert_eq!(output.stdout, "You could.\nRoses\n");
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_conversation_is_made_shorter_on_request() {
    let mut room = TestAgent::new([
        ScriptedTurn::text("A long answer. ".repeat(200).as_str()),
        ScriptedTurn::text("Another."),
        ScriptedTurn::text("They talked."),
        ScriptedTurn::text("We talked."),
    ]);
    room.stage
        .context
        .env("METIER_AGENT_CONTEXT_TOKENS", "20000");
    let output = chat(&room, &[], "tell me\nmore\n/compact\nwhat was that?\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("shortened the conversation from about"),
        "{}",
        output.stderr
    );
    let requests = room.finish();
    assert!(
        !requests[3].json["messages"]
            .to_string()
            .contains("A long answer.")
    );
}

/// Typed text is stored next to the database and, like the database, is shown to no skill, whatever it was allowed.
#[test]
fn no_skill_reads_what_was_typed() {
    let mut room = TestAgent::new([
        ScriptedTurn::calls([("read", json!({"path": "own/chat-history"}))]),
        ScriptedTurn::text("I can't."),
    ]);
    let own = room.stage.context.dir("own");
    room.stage.context.env("METIER_HOME", &own);
    room.stage
        .context
        .write("own/chat-history", "#V2\nmy secret\n");
    let output = room.run(&[
        "agent",
        "--approve-skills",
        "core-tools",
        "what did I type?",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let answered = last_message(&room.finish()[1]);
    assert!(!answered.contains("my secret"), "{answered}");
    assert!(answered.contains("is_error\":true"), "{answered}");
}

/// Every turn of a conversation, not only the first one, is that of an agent that does nothing itself.
#[test]
fn a_chat_that_only_orchestrates_has_no_tool_that_does_anything() {
    let spawn = |input: Value| ScriptedTurn::calls([("sessions_spawn", input)]);
    let room = TestAgent::new([
        ScriptedTurn::calls([("shell", json!({"command": "touch made"}))]),
        ScriptedTurn::text("I can't do that."),
        spawn(json!({"task": "Look around"})),
        spawn(json!({"task": "Look around", "skills": ["looker"]})),
        ScriptedTurn::text("Three notes."),
        ScriptedTurn::text("There are three notes."),
    ]);
    room.skill("looker", "allowed_tools: [glob]\n", "Look.\n");
    let output = chat(
        &room,
        &["--orchestrate", "--approve-skills", "core-tools"],
        "make a file\nhow many notes are there?\n",
    );
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "I can't do that.\nThere are three notes.\n");
    assert!(!room.stage.has("made"));
    let requests = room.finish();
    let only = ["list_skills", "search_skills", "sessions_spawn"];
    for request in [0, 1, 2, 3, 5] {
        assert_eq!(requests[request].tools(), only, "request {request}");
    }
    assert_eq!(requests[4].tools(), ["glob"]);
    assert!(last_message(&requests[1]).contains("there is no tool `shell`"));
    assert!(last_message(&requests[3]).contains("an orchestrator's sub-agent needs skills"));
}

/// A conversation that only orchestrates loads no skill itself.
#[test]
fn a_chat_that_only_orchestrates_is_not_opened_with_skills() {
    let room = TestAgent::new([]);
    room.skill("looker", "", "Look.\n");
    let mut arguments = vec!["--skills", "looker"];
    arguments.extend(CHAT);
    arguments.push("--orchestrate");
    let output = room.stage.context.run_with_stdin(&arguments, "hello\n");
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let refused = "an orchestrator does not load skills itself: looker";
    assert!(output.stderr.contains(refused), "{}", output.snapshot());
    assert!(room.finish().is_empty());
}
