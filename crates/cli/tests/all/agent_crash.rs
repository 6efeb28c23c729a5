//! Sessions that are killed: everything acknowledged is kept, nothing is done twice, and the conversation continues.

use std::{
    io::{BufRead, BufReader},
    process::Child,
    thread,
    time::Duration,
};

use metier_agent::{HistoryRecord, MessageHistory, ModelMessage, SkillText, Transcript};
use metier_store::{SharedStore, Store};
use metier_testkit::model_server::{Recorded, ScriptedTurn};
use metier_testkit::patience::wait_until;
use serde_json::{Value, json};

use crate::agent_hostile::{FORMATS, chat, room, types};
use crate::test_agent::{TestAgent, events, last_message};

/// The text of the model's last answer.
fn last_answer(conversation: &MessageHistory) -> Option<String> {
    let messages = conversation.messages().into_iter().rev();
    messages.into_iter().find_map(|message| match message {
        ModelMessage::Assistant { text, .. } if !text.is_empty() => Some(text),
        _ => None,
    })
}

/// A counter, and then a sleep that no test waits for.
const COUNTS: &str = "echo once >> counted; sleep 300";

/// Starts the program with these lines as input, and leaves it running.
fn start(room: &TestAgent, arguments: &[&str], lines: &str) -> Child {
    let mut command = room.stage.context.command();
    command.args(arguments);
    let mut child = room.stage.context.start(command);
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, lines.as_bytes()).unwrap();
    child
}

/// Kills it with a signal that can't be refused; returns the events that it had printed.
fn kill(mut child: Child) -> Vec<Value> {
    child.kill().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let lines = stdout.lines().map_while(Result::ok);
    // The last one can be an incomplete line.
    let told = lines.filter_map(|line| serde_json::from_str(&line).ok());
    let told = told.collect();
    child.wait().unwrap();
    told
}

fn store(room: &TestAgent) -> SharedStore {
    let path = room.stage.context.path("~/.local/share/metier/metier.db");
    Store::open(&path).unwrap().into()
}

/// The records of the newest conversation.
fn records(room: &TestAgent) -> Vec<HistoryRecord> {
    let store = store(room);
    let all = store.lock().conversations(None, 1).unwrap();
    Transcript::resume(&store, &all[0].id).unwrap().1
}

/// The results of a request, by the text of each, in either format.
fn results(request: &Recorded) -> Vec<String> {
    let messages = request.json["messages"].as_array().unwrap().iter();
    let texts = messages.flat_map(|message| {
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let of_blocks = blocks
            .into_iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| block["content"].as_str().unwrap().to_owned());
        let of_tool =
            (message["role"] == "tool").then(|| message["content"].as_str().unwrap().to_owned());
        of_blocks.chain(of_tool).collect::<Vec<_>>()
    });
    texts.collect()
}

#[test]
fn what_was_acknowledged_outlives_a_kill_in_the_middle_of_an_answer() {
    for format in FORMATS {
        let room = room(
            format,
            [
                ScriptedTurn::text("The first answer."),
                ScriptedTurn::text("An answer that is cut before its end").hang_after(700),
            ],
        );
        let child = start(&room, &["chat", "--format", "jsonl"], "one\ntwo\n");
        room.server.wait_for(2);
        thread::sleep(Duration::from_millis(200));
        let told = kill(child);
        let ended: Vec<&Value> = told
            .iter()
            .filter(|event| event["type"] == "turn_ended")
            .collect();
        assert_eq!(ended.len(), 1, "{told:?}");
        assert_eq!(ended[0]["text"], "The first answer.");

        let conversation = MessageHistory::replay(records(&room));
        assert_eq!(last_answer(&conversation), Some("The first answer.".into()));
        assert!(conversation.waits_for_model());
        let Some(ModelMessage::User(last)) = conversation.messages().pop() else {
            panic!("{conversation:?}");
        };
        assert_eq!(last, "two");

        room.server.play([
            ScriptedTurn::text("The second."),
            ScriptedTurn::text("The third."),
        ]);
        let output = chat(&room, &["--resume"], "three\n");
        assert_eq!(output.code, 0, "{}", output.snapshot());
        let answers: Vec<String> = events(&output)
            .iter()
            .filter(|event| event["type"] == "turn_ended")
            .map(|event| event["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(answers, ["The second.", "The third."]);
        let requests = room.finish();
        assert_eq!(requests.len(), 4);
        assert!(last_message(&requests[2]).contains("two"));
        assert!(!requests[2].json.to_string().contains("is cut before"));
    }
}

#[test]
fn a_tool_that_was_killed_is_not_run_again() {
    for format in FORMATS {
        let room = room(
            format,
            [ScriptedTurn::calls([
                ("shell", json!({ "command": "echo first >> counted" })),
                ("shell", json!({ "command": COUNTS })),
                ("shell", json!({ "command": "echo never >> counted" })),
            ])],
        );
        let arguments = [
            "--approve-skills",
            "core-tools",
            "chat",
            "--format",
            "jsonl",
        ];
        let child = start(&room, &arguments, "count\n");
        wait_until("the count", || {
            counted(&room).is_ok_and(|text| text.contains("once"))
        });
        let told = kill(child);
        let results_told = types(&told)
            .iter()
            .filter(|kind| *kind == "tool_result")
            .count();
        assert_eq!(results_told, 1, "{told:?}");

        let open = MessageHistory::replay(records(&room)).open_calls();
        let open: Vec<(&str, bool)> = open
            .iter()
            .map(|call| (call.id.as_str(), call.began))
            .collect();
        assert_eq!(open, [("call_2", true), ("call_3", false)]);

        room.server
            .play([ScriptedTurn::text("I looked, and it was counted.")]);
        let output = chat(&room, &["--resume", "--approve-skills", "core-tools"], "");
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert_eq!(counted(&room).unwrap(), "first\nonce\n");
        let requests = room.finish();
        let told = results(&requests[1]);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[1].contains("interrupted: ") && told[1].contains("may have taken effect"));
        assert!(
            told[2].contains("not run: the session ended before the call started"),
            "{told:?}"
        );
    }
}

/// What [`COUNTS`] has written.
fn counted(room: &TestAgent) -> std::io::Result<String> {
    std::fs::read_to_string(room.stage.context.path("counted"))
}

/// Starts a chat whose model calls [`COUNTS`], and kills it during that call.
fn kill_while_it_counts(room: &TestAgent) {
    let approved = ["--approve-skills", "core-tools"];
    let chat = ["chat", "--format", "jsonl"];
    let child = start(room, &[&approved[..], &chat].concat(), "count\n");
    wait_until("the count", || {
        counted(room).is_ok_and(|text| !text.is_empty())
    });
    kill(child);
}

#[test]
fn a_session_may_be_killed_again_and_again() {
    let room = TestAgent::new([ScriptedTurn::calls([(
        "shell",
        json!({ "command": COUNTS }),
    )])]);
    kill_while_it_counts(&room);
    for _ in 0..3 {
        room.server.play([ScriptedTurn::hang()]);
        let before = room.server.requests().len();
        let child = start(&room, &["chat", "--resume", "--format", "jsonl"], "");
        room.server.wait_for(before + 1);
        kill(child);
    }
    room.server.play([ScriptedTurn::text("At last.")]);
    let output = chat(&room, &["--resume"], "");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(counted(&room).unwrap(), "once\n");
    let interrupted = |record: &&HistoryRecord| matches!(record, HistoryRecord::Result { output, .. } if output.starts_with("interrupted"));
    assert_eq!(records(&room).iter().filter(interrupted).count(), 1);
    assert_eq!(room.finish().len(), 5);
}

#[test]
fn a_sub_agent_goes_with_its_parent_and_does_not_come_back() {
    let room = TestAgent::new([
        ScriptedTurn::calls([("sessions_spawn", json!({ "task": "count for me" }))]),
        ScriptedTurn::calls([("shell", json!({ "command": COUNTS }))]),
    ]);
    room.skill("open", "", "Nothing.\n");
    kill_while_it_counts(&room);
    room.server
        .play([ScriptedTurn::text("I know that it may be counted.")]);
    let output = chat(&room, &["--resume"], "");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(counted(&room).unwrap(), "once\n");
    let requests = room.finish();
    assert_eq!(requests.len(), 3);
    let told = results(&requests[2]);
    assert!(told[0].starts_with("interrupted: "), "{told:?}");
}

#[test]
fn a_damaged_text_of_a_skill_is_reported() {
    let room = TestAgent::new(["Hello.", "Fine."].map(ScriptedTurn::text));
    room.skill("kept", "", "The rule of KEPT.\n");
    chat(&room, &[], "/kept\n");
    let store = store(&room);
    let id = store.lock().conversations(None, 1).unwrap()[0].id.clone();
    let (mut other, _) = Transcript::resume(&store, &id).unwrap();
    let half = SkillText {
        skill: "kept".to_owned(),
        text: "<skill_content name=\"kept\">\nThe rule".to_owned(),
    };
    let said = HistoryRecord::User {
        text: "more".into(),
        skills: vec![half],
    };
    other.write("2026-01-02T03:04:05Z", &[&said]).unwrap();
    let output = chat(&room, &["--resume"], "");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let is_told = events(&output).iter().any(|event| {
        let text = event["text"].as_str().unwrap_or_default();
        event["type"] == "note"
            && text.starts_with("the text of skill `kept` in this conversation is damaged")
    });
    assert!(is_told, "{}", output.stdout);
}

#[test]
fn the_second_writer_of_a_conversation_is_refused() {
    let room = TestAgent::new([ScriptedTurn::text("Hello.")]);
    chat(&room, &[], "hi\n");
    // The first one has started the turn, and waits for its model.
    room.server
        .play([ScriptedTurn::text("From the first.").hang_after(600)]);
    let mut first = start(&room, &["chat", "--resume", "--format", "jsonl"], "one\n");
    room.server.wait_for(2);
    let before = records(&room).len();
    // Another one, which has seen fewer lines.
    let store = store(&room);
    let id = store.lock().conversations(None, 1).unwrap()[0].id.clone();
    let lines = store.lock().conversation_lines(&id).unwrap().len() as u64;
    let (mut second, _) = Transcript::resume(&store, &id).unwrap();
    let said = HistoryRecord::User {
        text: "from elsewhere".into(),
        skills: vec![],
    };
    second.write("2026-01-02T03:04:05Z", &[&said]).unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    let late = store
        .lock()
        .append_lines(&id, lines, "2026-01-02T03:04:05Z", &["{}"]);
    let report = metier_agent::ErrorReport::from(late.unwrap_err());
    assert_eq!((report.code, report.is_broken), ("went-on", false));
    assert!(
        report
            .message
            .contains("another process continued conversation"),
        "{report}"
    );
    assert!(report.hint.unwrap().contains("metier chat --resume"));
    assert_eq!(records(&room).len(), before + 1);
    room.server.forget();
}

#[test]
fn an_overtaken_program_reports_it_and_writes_nothing() {
    let room = TestAgent::new([ScriptedTurn::text("Hello.")]);
    chat(&room, &[], "hi\n");
    let path = room.stage.context.path("~/.local/share/metier/metier.db");
    // While the model of the program answers, another process continues.
    room.server.play([ScriptedTurn::computed(move |_| {
        let store = SharedStore::from(Store::open(&path).unwrap());
        let id = store.lock().conversations(None, 1).unwrap()[0].id.clone();
        let (mut other, _) = Transcript::resume(&store, &id).unwrap();
        let said = HistoryRecord::User {
            text: "from elsewhere".into(),
            skills: vec![],
        };
        other.write("2026-01-02T03:04:05Z", &[&said]).unwrap();
        ScriptedTurn::text("An unread answer.")
    })]);
    let output = chat(&room, &["--resume"], "one\n");
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let told = events(&output);
    let failed = told
        .iter()
        .find(|event| event["type"] == "turn_failed")
        .unwrap();
    assert_eq!(failed["code"], "went-on");
    assert!(
        failed["hint"].as_str().unwrap().contains("--resume"),
        "{failed}"
    );
    let conversation = MessageHistory::replay(records(&room));
    assert_eq!(last_answer(&conversation), Some("Hello.".into()));
    let Some(ModelMessage::User(last)) = conversation.messages().pop() else {
        panic!("{conversation:?}");
    };
    assert_eq!(last, "one\n\nfrom elsewhere");
    room.finish().clear();
}

#[test]
fn a_skill_that_is_blocked_since_then_does_not_come_back() {
    let room = TestAgent::new([
        ScriptedTurn::text("I will."),
        ScriptedTurn::text("I went on."),
    ]);
    room.skill(
        "narrow",
        "forbidden_tools: [shell]\n",
        "Mind the SECRET-OF-NARROW.\n",
    );
    let output = chat(&room, &[], "/narrow\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    room.stage
        .context
        .run(&["config", "skills.entries.narrow.enabled", "false"]);
    let output = chat(&room, &["--resume"], "go on\n");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        types(&events(&output)).contains(&"skill_unloaded".to_owned()),
        "{}",
        output.stdout
    );
    let requests = room.finish();
    assert!(requests[0].json.to_string().contains("SECRET-OF-NARROW"));
    assert!(!requests[1].json.to_string().contains("SECRET-OF-NARROW"));
}
