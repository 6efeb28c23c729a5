//! `metier chat` at a real terminal: the typed text, the shown text, and the effect of Ctrl-C.

use std::{
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use metier_testkit::{
    NotRun, TestContext, model_server::ScriptedTurn, needed, needs, patience::PATIENCE,
};
use serde_json::{Value, json};

use crate::test_agent::{TestAgent, last_message};

/// With approved core tools there is no question.
const CHAT: &[&str] = &["chat", "--approve-skills", "core-tools"];

const PROMPT: &str = "> ";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const TAB: &str = "\t";
const UP: &str = "\u{1b}[A";
pub(crate) const ENTER: &str = "\r";

/// The person at the terminal.
pub(crate) struct Person {
    terminal: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// All output so far.
    pub(crate) shown: String,
    /// How much of it was already matched.
    read: usize,
}

impl Person {
    /// Starts `metier` with these arguments; `script` (util-linux) provides the terminal.
    pub(crate) fn at(room: &TestAgent, arguments: &[&str]) -> Self {
        let command = room.stage.context.command();
        let program = command.get_program().to_str().unwrap();
        let words: Vec<String> = [program]
            .iter()
            .chain(arguments)
            .map(|word| format!("'{word}'"))
            .collect();
        Self::typing(&room.stage.context, &words.join(" "))
    }

    /// Starts a command line in that fixture, at a terminal.
    pub(crate) fn typing(context: &TestContext, line: &str) -> Self {
        let command = context.command();
        let line = format!("stty cols 100 rows 40; exec {line}");
        let mut script = Command::new("script");
        script
            .args(["-q", "-e", "-c", &line, "/dev/null"])
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("TERM", "xterm")
            .current_dir(command.get_current_dir().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut terminal = script.spawn().unwrap();
        let keyboard = terminal.stdin.take().unwrap();
        let mut output = terminal.stdout.take().unwrap();
        let (send, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            terminal,
            keyboard,
            screen,
            shown: String::new(),
            read: 0,
        }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until this is shown after the text that was waited for last.
    pub(crate) fn sees(&mut self, text: &str) {
        let began = Instant::now();
        loop {
            if let Some(found) = self.shown[self.read..].find(text) {
                self.read += found + text.len();
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{text:?} is not shown: {:?}",
                self.shown
            );
            match self.screen.recv_timeout(Duration::from_millis(100)) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended before {text:?}: {:?}", self.shown)
                }
            }
        }
    }

    /// Waits for the prompt, and types a line.
    pub(crate) fn says(&mut self, line: &str) {
        self.sees(PROMPT);
        self.types(&format!("{line}{ENTER}"));
    }

    /// The exit code, and all output.
    pub(crate) fn leaves(mut self) -> (i32, String) {
        let began = Instant::now();
        while !matches!(
            self.screen.recv_timeout(Duration::from_millis(100)),
            Err(RecvTimeoutError::Disconnected)
        ) {
            assert!(
                began.elapsed() < PATIENCE,
                "it does not end: {:?}",
                self.shown
            );
        }
        (
            self.terminal.wait().unwrap().code().unwrap_or(-1),
            self.shown,
        )
    }
}

/// A machine with a terminal and a model, if this machine can have one.
pub(crate) fn room(script: impl IntoIterator<Item = ScriptedTurn>) -> Result<TestAgent, NotRun> {
    needs::program("script")?;
    Ok(TestAgent::new(script))
}

#[test]
fn a_user_talks_and_leaves() {
    let room = needed!(room([ScriptedTurn::text("Hello, Ada.").usage(1234, 56, 0)]));
    let mut person = Person::at(&room, CHAT);
    person.sees("anthropic/test-model; /help lists what you can type");
    person.says("I am Ada");
    person.sees("Hello, Ada.\r\n");
    person.sees("1234 tokens in, 56 out");
    person.sees(PROMPT);
    person.types(CTRL_C);
    person.sees("/quit or Ctrl-D leaves");
    person.sees(PROMPT);
    person.types(CTRL_D);
    person.sees("resume it with: metier chat --resume ");
    let (code, _) = person.leaves();
    assert_eq!(code, 0);
    let history = room
        .stage
        .context
        .path("~/.local/share/metier/chat-history");
    assert_eq!(
        history.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        std::fs::read_to_string(history)
            .unwrap()
            .contains("I am Ada")
    );
    assert_eq!(room.finish().len(), 1);
}

/// A turn in which the model thinks first.
fn slowly(time: Duration, turn: ScriptedTurn) -> ScriptedTurn {
    ScriptedTurn::computed(move |_| {
        thread::sleep(time);
        turn
    })
}

#[test]
fn markdown_is_shown_block_by_block() {
    let answer = "# Plan\n\nRead *this* and run `ls`:\n\n```sh\nls -l\n```\n\n- one\n- **two**\n";
    let room = needed!(room([ScriptedTurn::text(answer).in_pieces_of(7)]));
    let mut person = Person::at(&room, CHAT);
    person.says("what now?");
    person.sees("\u{1b}[1m\u{1b}[4mPlan\u{1b}[0m\r\n\r\n");
    person.sees("Read \u{1b}[3mthis\u{1b}[0m and run \u{1b}[36mls\u{1b}[0m:\r\n\r\n");
    person.sees("\u{1b}[2msh\u{1b}[0m\r\n    ls -l\r\n\r\n• one\r\n• \u{1b}[1mtwo\u{1b}[0m\r\n");
    person.says("/quit");
    assert_eq!(person.leaves().0, 0);
    room.finish();
}

/// Output that is complete is read while the rest is awaited.
#[test]
fn a_paragraph_is_shown_before_the_answer_ends() {
    let answer = format!("The first.\n\nThe second. {}", "x".repeat(4000));
    let room = needed!(room([ScriptedTurn::text(&answer)
        .in_pieces_of(64)
        .hang_after(3000)]));
    let mut person = Person::at(&room, CHAT);
    person.says("tell me");
    person.sees("The first.\r\n");
    person.sees("writing… ");
    person.types(CTRL_C);
    person.sees("The second.\r\n");
    person.sees("stopped; everything done so far is kept");
    person.says("/quit");
    assert_eq!(person.leaves().0, 0);
    room.finish();
}

#[test]
fn without_colours_the_marks_of_markdown_stay() {
    let room = needed!(room([ScriptedTurn::text("## Plan\n\nRead *this*.")]));
    let agent = ["--color", "never", "agent", "plan"];
    let mut person = Person::at(&room, &agent);
    person.sees("## Plan\r\n\r\nRead *this*.\r\n");
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown:?}");
    room.finish();
}

#[test]
fn a_model_that_thinks_is_seen_to_think() {
    let thinks = || slowly(Duration::from_millis(1500), ScriptedTurn::text("Hello."));
    let room = needed!(room([thinks(), thinks(), ScriptedTurn::text("At once.")]));
    let mut person = Person::at(&room, CHAT);
    person.says("hello");
    person.sees(" thinking… 0s");
    person.sees(" thinking… 1s");
    person.sees("\r\u{1b}[2KHello.\r\n");
    person.says("/quit");
    person.leaves();
    let mut person = Person::at(&room, &["agent", "hello"]);
    person.sees(" thinking… 0s");
    person.sees("\r\u{1b}[2KHello.\r\n");
    person.leaves();
    // A quiet run shows no progress indicator.
    let person = Person::at(&room, &["-q", "agent", "hello"]);
    let (_, shown) = person.leaves();
    assert!(!shown.contains("thinking"), "{shown:?}");
    room.finish();
}

#[test]
fn a_retry_reports_its_attempt() {
    let room = needed!(room([
        ScriptedTurn::status(529, Some("1")),
        ScriptedTurn::text("Hello.")
    ]));
    let mut person = Person::at(&room, CHAT);
    person.says("hello");
    person.sees("(attempt 2 of 5)");
    person.sees("Hello.\r\n");
    person.says("/quit");
    person.leaves();
    room.finish();
}

#[test]
fn what_was_typed_earlier_comes_back() {
    let room = needed!(room([
        ScriptedTurn::text("Once."),
        ScriptedTurn::text("Twice.")
    ]));
    let mut person = Person::at(&room, CHAT);
    person.says("tell me");
    person.sees("Once.");
    person.says("/quit");
    person.leaves();
    let mut person = Person::at(&room, CHAT);
    person.sees(PROMPT);
    person.types(UP);
    person.types(UP);
    person.sees("tell me");
    person.types(ENTER);
    person.sees("Twice.");
    person.says("/quit");
    person.leaves();
    assert!(last_message(&room.finish()[1]).contains("tell me"));
}

#[test]
fn names_complete_themselves() {
    let room = needed!(room([ScriptedTurn::text("Reviewed.")]));
    room.skill("review-pr", "", "The text of the skill, for $ARGUMENTS.\n");
    room.skill("review-inner", "user-invocable: false\n", "For models.\n");
    let mut person = Person::at(&room, CHAT);
    person.sees(PROMPT);
    person.types("/rev");
    person.sees("iew-pr  Does review-pr.");
    person.types(&format!("{TAB}123{ENTER}"));
    person.sees(" review-pr (you named it)");
    person.sees("Reviewed.");
    person.sees(PROMPT);
    person.types(&format!("/unl{TAB}"));
    person.sees("/unload ");
    person.types(&format!("rev{TAB}{ENTER}"));
    person.sees("unloaded");
    person.sees(" review-pr\r\n");
    person.says("/quit");
    assert_eq!(person.leaves().0, 0);
    assert!(last_message(&room.finish()[0]).contains("The text of the skill, for 123."));
}

#[test]
fn a_turn_may_have_several_lines() {
    let room = needed!(room([
        ScriptedTurn::text("Two."),
        ScriptedTurn::text("Three.")
    ]));
    let mut person = Person::at(&room, CHAT);
    person.says("first\\");
    person.types(&format!("second{ENTER}"));
    person.sees("Two.");
    person.sees(PROMPT);
    // As a terminal sends pasted text.
    person.types(&format!("\u{1b}[200~one\ntwo\rthree\u{1b}[201~{ENTER}"));
    person.sees("Three.");
    person.says("/quit");
    person.leaves();
    let requests = room.finish();
    assert!(last_message(&requests[0]).contains("first\\nsecond"));
    assert!(last_message(&requests[1]).contains("one\\ntwo\\nthree"));
}

#[test]
fn ctrl_c_stops_the_answer_and_not_the_chat() {
    let room = needed!(room([
        ScriptedTurn::text("A very long story that never ends").hang_after(600),
        ScriptedTurn::text("Something else."),
    ]));
    let mut person = Person::at(&room, CHAT);
    person.says("tell me a story");
    room.server.wait_for(1);
    person.types(CTRL_C);
    person.sees("stopped; everything done so far is kept");
    person.says("then something else");
    person.sees("Something else.");
    person.says("/quit");
    let (code, _) = person.leaves();
    assert_eq!(code, 0);
    let requests = room.finish();
    assert!(
        requests[1].json["messages"]
            .to_string()
            .contains("tell me a story")
    );
}

/// The tool is stopped, the model learns this in the next turn, and the conversation is one that a provider accepts.
#[test]
fn ctrl_c_stops_a_tool_and_not_the_chat() {
    let sleep = json!({"command": "echo asleep; sleep 7303"});
    let room = needed!(room([
        ScriptedTurn::calls([("shell", sleep), ("read", json!({"path": "a.txt"}))]),
        ScriptedTurn::text("Good morning."),
    ]));
    let mut person = Person::at(&room, CHAT);
    person.says("sleep");
    person.sees(" shell ");
    thread::sleep(Duration::from_millis(300));
    person.types(CTRL_C);
    person.sees("stopped; everything done so far is kept");
    person.says("wake up");
    person.sees("Good morning.");
    person.says("/quit");
    assert_eq!(person.leaves().0, 0);
    let requests = room.finish();
    let told = requests[1].json["messages"].to_string();
    assert!(told.contains("skill `core-tools` was stopped"), "{told}");
    assert!(
        told.contains("not run: the user stopped the turn"),
        "{told}"
    );
}

#[test]
fn ctrl_c_at_a_question_is_a_no() {
    let room = needed!(room([ScriptedTurn::calls([(
        "shell",
        json!({"command": "touch made"})
    )])]));
    room.skill("greet", "", "!touch made\n");
    let mut person = Person::at(&room, &["chat"]);
    person.says("/greet");
    person.sees("Your answer? (no) ");
    person.types(CTRL_C);
    person.sees("stopped; everything done so far is kept");
    person.says("look around");
    person.sees("Your answer? (no) ");
    person.types(CTRL_C);
    person.sees("stopped; everything done so far is kept");
    person.sees(PROMPT);
    person.types(CTRL_D);
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown:?}");
    let receipts = room.stage.receipts();
    let commands: Vec<&Value> = receipts
        .iter()
        .filter(|receipt| receipt["act"] == "shell:exec")
        .collect();
    assert_eq!(commands.len(), 2, "{receipts:?}");
    assert!(
        commands
            .iter()
            .all(|receipt| receipt["decision"] == "refused"),
        "{receipts:?}"
    );
    assert!(!room.stage.has("made"));
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn text_of_a_model_does_not_act_on_the_terminal() {
    let evil = "See \u{1b}[2J\u{1b}]0; title\u{7} and \u{9b}31m that.";
    let answer = ScriptedTurn::text(evil).in_pieces_of(3);
    let room = needed!(room([answer.thinking("\u{1b}[8m hidden")]));
    let mut person = Person::at(
        &room,
        &["-v", "agent", "--approve-skills", "core-tools", "show me"],
    );
    person.sees("See \\u{1b}[2J");
    person.sees("that.");
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown:?}");
    let ours = [
        "\u{1b}[2K",
        "\u{1b}[2m",
        "\u{1b}[36m",
        "\u{1b}[0m",
        "\u{1b}[33m",
    ];
    let rest = ours.iter().fold(shown, |text, code| text.replace(code, ""));
    assert!(!rest.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{rest:?}");
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_quiet_agent_shows_the_answer_and_nothing_else() {
    let room = needed!(room([
        ScriptedTurn::calls([("read", json!({"path": "absent.txt"}))]).and_text("Let me see. "),
        ScriptedTurn::text("Nothing there."),
    ]));
    let mut person = Person::at(
        &room,
        &["-q", "agent", "--approve-skills", "core-tools", "look"],
    );
    person.sees("Nothing there.\r\n");
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown:?}");
    assert!(!shown.contains("tool") && !shown.contains("…"), "{shown:?}");
    assert_eq!(room.finish().len(), 2);
}

#[test]
fn a_trigger_asks_for_what_the_skill_needs_and_a_no_is_a_no() {
    let answers = ["One.", "Two.", "Three."].map(ScriptedTurn::text);
    let room = needed!(room(answers));
    room.skill(
        "cluster",
        "types: [tool]\npermissions: [\"file:read(./clusters/**)\"]\ntriggers: {keywords: [cluster]}\n\
         implementation: {backend: starlark, entrypoint: skill.star}\n",
        "Look first.\n",
    );
    room.stage.context.write(
        "~/.config/metier/skills/cluster/skill.star",
        "register_tool(\"nodes\", \"Lists nodes.\", lambda input: \"three\")\n",
    );
    assert_eq!(room.run(&["scan", "cluster"]).code, 0);
    let mut person = Person::at(&room, CHAT);
    person.says("is the cluster up?");
    person.sees("skill `cluster` matches (keyword `cluster`)");
    person.sees("The skill cluster asks for permission.");
    person.types("d\r");
    person.sees("but was not loaded");
    person.sees("One.");
    // An answered question is not repeated.
    person.says("is the cluster up now?");
    person.sees("Two.");
    person.says("/quit");
    let (_, shown) = person.leaves();
    assert_eq!(shown.matches("asks for permission").count(), 1, "{shown}");
    let mut person = Person::at(&room, CHAT);
    person.says("is the cluster up?");
    person.sees("The skill cluster asks for permission.");
    person.types("o\r");
    person.sees(" cluster: keyword `cluster`");
    person.sees("Three.");
    person.says("/quit");
    person.leaves();
    let requests = room.finish();
    assert!(!requests[1].json.to_string().contains("Look first."));
    assert!(last_message(&requests[2]).contains("Look first."));
    assert!(
        requests[2].json["tools"]
            .to_string()
            .contains("cluster__nodes")
    );
}
