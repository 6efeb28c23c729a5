//! The server without skills: what it does when the work is slow, fails or panics.

use std::{
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;

/// Skills that do as they are told by their name: `slow` waits to be let go, `panic` panics.
struct Fake {
    slow: Mutex<Receiver<()>>,
}

impl Answers for Fake {
    fn catalog(&self) -> Option<String> {
        Some("THE CATALOG".to_owned())
    }

    fn answer(&self, call: &ToolRequest) -> ToolReply {
        let ToolRequest::Activate(wanted) = call else {
            return match call {
                ToolRequest::Read(_) => {
                    ToolReply::refused("not-found", "there is no such file".to_owned(), None)
                }
                _ => ToolReply::new(&json!({"skills": []}), "no skills\n"),
            };
        };
        let name = wanted.name.as_str();
        match name {
            "slow" => drop(self.slow.lock().unwrap().recv()),
            "panic" => panic!("as it was told"),
            _ => {}
        }
        let text = format!("{name} with {}", wanted.arguments);
        ToolReply::new(&json!({"name": name}), &text)
    }
}

/// A client at the other end.
struct Client {
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = time::timeout(Duration::from_secs(20), self.read.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
    }
}

/// Runs a conversation with a door that has been opened; the sender lets slow skills go.
fn talk<F: Future<Output = ()>>(conversation: impl FnOnce(Client, Value, Sender<()>) -> F) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (go, slow) = channel();
        let slow = Mutex::new(slow);
        let serving = task::spawn(McpServer::new(Fake { slow }).serve(theirs));
        let (read, write) = tokio::io::split(ours);
        let read = BufReader::new(read).lines();
        let mut client = Client { write, read };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}});
        client
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .await;
        let introduction = client.next().await;
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        let _running = serving.await.unwrap().unwrap();
        conversation(client, introduction, go).await;
    });
}

#[test]
fn the_catalog_is_in_the_instructions() {
    talk(async |_, introduction, _| {
        let text = introduction["result"]["instructions"].as_str().unwrap();
        assert!(text.starts_with(INSTRUCTIONS) && text.ends_with("\n\nTHE CATALOG"));
    });
}

#[test]
fn answers_hold_the_document_and_text() {
    talk(async |mut client, _, _| {
        let arguments = json!({"name": "fix", "arguments": "123 high"});
        client.call(1, "activate_skill", arguments).await;
        let result = &client.next().await["result"];
        assert_eq!(result["structuredContent"], json!({"name": "fix"}));
        assert_eq!(result["content"][0]["text"], "fix with 123 high");
        assert_eq!(result["isError"], false);
        client
            .call(2, "read_skill_resource", json!({"name": "a", "path": "b"}))
            .await;
        let result = &client.next().await["result"];
        assert_eq!(result["structuredContent"]["error"]["code"], "not-found");
        assert_eq!(
            result["content"][0]["text"],
            "error: there is no such file\n"
        );
        assert_eq!(result["isError"], true);
    });
}

#[test]
fn a_ping_is_answered_while_a_skill_works() {
    talk(async |mut client, _, go| {
        client
            .call(1, "activate_skill", json!({"name": "slow"}))
            .await;
        client
            .send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
            .await;
        assert_eq!(client.next().await["id"], 2);
        go.send(()).unwrap();
        assert_eq!(client.next().await["id"], 1);
    });
}

#[test]
fn what_was_cancelled_gets_no_answer_and_hinders_no_other_request() {
    talk(async |mut client, _, go| {
        client
            .call(1, "activate_skill", json!({"name": "slow"}))
            .await;
        let params = json!({"requestId": 1, "reason": "no longer wanted"});
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        client.call(2, "list_skills", json!({})).await;
        assert_eq!(client.next().await["id"], 2);
        go.send(()).unwrap();
        client.call(3, "list_skills", json!({})).await;
        assert_eq!(client.next().await["id"], 3);
    });
}

#[test]
fn a_panic_is_an_answer_and_the_server_continues() {
    talk(async |mut client, _, _| {
        client
            .call(1, "activate_skill", json!({"name": "panic"}))
            .await;
        let result = &client.next().await["result"];
        assert_eq!(result["structuredContent"]["error"]["code"], "bug");
        client.call(2, "scan_skill", json!({"name": "a"})).await;
        let result = &client.next().await["result"];
        assert_eq!(result["structuredContent"], json!({"skills": []}));
    });
}

#[test]
fn no_more_than_a_few_work_at_a_time_and_all_get_their_turn() {
    talk(async |mut client, _, go| {
        let all = u32::try_from(AT_ONCE).unwrap() * 3;
        for id in 1..=all {
            client
                .call(id, "activate_skill", json!({"name": "slow"}))
                .await;
        }
        let mut answered = Vec::new();
        for _ in 0..all {
            go.send(()).unwrap();
            answered.push(client.next().await["id"].as_u64().unwrap());
        }
        answered.sort_unstable();
        assert_eq!(answered, (1..=u64::from(all)).collect::<Vec<_>>());
    });
}
