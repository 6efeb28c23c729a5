//! Every act has a receipt before it happens: when the skill is killed, when the disk is full, when it hides in a connection that stays
//! open, and when it floods the log.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use metier_store::{Store, Verified};
use metier_testkit::{needed, needs, patience::wait_until};
use serde_json::{Value, json};

use crate::{
    conditions::{behind_namespaces, under_every_condition},
    live_session::{Live, lines, python},
    skill_project::{SkillProject, field},
};

/// The requests to a server, by connection.
type Asked = Arc<Mutex<Vec<String>>>;

/// A server on this machine that answers every request, and keeps connections open that the client does not close.
fn serve() -> (u16, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Asked::default();
    let heard = Arc::clone(&asked);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let heard = Arc::clone(&heard);
            thread::spawn(move || {
                let mut request = [0; 4096];
                let mut at = None;
                while let Ok(count @ 1..) = stream.read(&mut request) {
                    let text = String::from_utf8_lossy(&request[..count]);
                    // A request may arrive in several pieces.
                    let mut heard = heard.lock().unwrap();
                    let at = *at.get_or_insert_with(|| {
                        heard.push(String::new());
                        heard.len() - 1
                    });
                    if let Some(asked) = heard.get_mut(at) {
                        asked.push_str(&text);
                    }
                    drop(heard);
                    let page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na page";
                    stream.write_all(page.as_bytes()).ok();
                }
            });
        }
    });
    (port, asked)
}

fn of_act<'a>(receipts: &'a [Value], act: &str) -> Vec<&'a Value> {
    let receipts = receipts.iter();
    receipts
        .filter(|receipt| field(receipt, "act") == act)
        .collect()
}

/// Runs the script of a skill that was approved for this run, without waiting for it.
fn start(stage: &SkillProject, name: &str) -> Child {
    let mut command = stage.context.command();
    command
        .args(["--root", "skills", "--approve-skills", name])
        .args(["exec", name, "scripts/do.sh"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

// case 156
#[test]
fn an_act_that_the_program_did_not_survive_has_its_receipt() {
    let asks = ["shell:exec(scripts/*)", "file:write(./out/**)"];
    under_every_condition(|stage| {
        stage.scripted("slow", &asks, "echo made > out/made.txt; sleep 60\n");
        let mut child = start(stage, "slow");
        wait_until("the script writes its file", || {
            stage.has("out/made.txt") && !stage.context.read("out/made.txt").is_empty()
        });
        // While it runs, another process sees that it is running.
        let receipts = stage.receipts();
        assert_eq!(field(&receipts[0], "outcome"), "begun", "{receipts:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let receipts = stage.receipts();
        assert_eq!(receipts.len(), 1, "{receipts:?}");
        assert_eq!(field(&receipts[0], "act"), "shell:exec");
        assert_eq!(field(&receipts[0], "outcome"), "error");
        let reason = field(&receipts[0], "reason");
        assert!(
            reason.starts_with("metier ended before the act was complete"),
            "{reason}"
        );
        let text = stage.context.run(&["log"]).stdout;
        assert!(text.contains("metier ended before"), "{text}");
    });
}

/// A skill that sends a request to a server through its proxy, and keeps the connection open.
const CLINGS: &str = r#"
import os, socket, urllib.parse
kept = []
@skill.tool('Posts')
def post(host, port: int):
    proxy = urllib.parse.urlsplit(os.environ['http_proxy'])
    import base64
    secret = base64.b64encode(f'{proxy.username}:{proxy.password}'.encode()).decode()
    line = socket.create_connection((proxy.hostname, proxy.port))
    kept.append(line)
    line.sendall(f'CONNECT 127.0.0.1:{port} HTTP/1.1\r\nProxy-Authorization: Basic {secret}\r\n\r\n'.encode())
    line.recv(4096)
    line.sendall(f'POST /secrets HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 4\r\n\r\ndata'.encode())
    return line.recv(4096).decode().split('\r\n')[0]
"#;

// case 154
#[test]
fn an_open_connection_has_its_receipt() {
    let (port, asked) = serve();
    let live = Live::new();
    let net = format!("net:fetch(127.0.0.1:{port})");
    let asks = ["shell:exec(main.py)", net.as_str()];
    let front = "types: [tool]\n";
    live.skill("clings", front, &asks, ("main.py", &python(CLINGS)));
    let called = live.session(&["clings"], |runtime| {
        runtime.activate("clings").unwrap();
        let called = runtime.call("clings", "post", &json!({ "port": port }));
        let called = called.unwrap();
        assert_eq!(called.output, "HTTP/1.1 200 OK");
        // The connection is open, and so is its receipt.
        let store = Store::open(&live.database()).unwrap();
        let all = store.receipts(metier_store::ReceiptFilter::default());
        (lines(&called.receipts), lines(&all.unwrap()))
    });
    assert!(asked.lock().unwrap()[0].contains("POST /secrets"));
    let expected = format!("clings net:fetch CONNECT 127.0.0.1:{port}: begun");
    assert!(called.0.contains(&expected), "{:?}", called.0);
    assert!(called.1.contains(&expected), "{:?}", called.1);
    // The connection ends with the skill.
    let receipts = live.stage.receipts();
    let net = of_act(&receipts, "net:fetch");
    assert_eq!(net.len(), 1, "{receipts:?}");
    assert_eq!(field(net[0], "outcome"), "ok");
    assert!(field(net[0], "note").contains("bytes sent"), "{net:?}");
}

// case 154
#[test]
fn a_connection_of_a_script_is_written_down_before_it_is_made() {
    let (port, asked) = serve();
    let net = format!("net:fetch(127.0.0.1:{port})");
    let asks = ["shell:exec(scripts/*)", net.as_str()];
    let script = format!(
        "python3 -c '{}\npost(None, {port})\nimport time\ntime.sleep(60)'\n",
        CLINGS
            .replace("@skill.tool('Posts')\n", "")
            .replace('\'', "\"")
    );
    behind_namespaces(|stage| {
        asked.lock().unwrap().clear();
        stage.scripted("posts", &asks, &script);
        let mut child = start(stage, "posts");
        wait_until("the server is asked", || !asked.lock().unwrap().is_empty());
        let receipts = stage.receipts();
        let net = of_act(&receipts, "net:fetch");
        assert_eq!(net.len(), 1, "{receipts:?}");
        assert_eq!(field(net[0], "outcome"), "begun");
        child.kill().unwrap();
        child.wait().unwrap();
        let receipts = stage.receipts();
        let net = of_act(&receipts, "net:fetch");
        assert!(field(net[0], "reason").starts_with("metier ended before"));
    });
}

/// A long-running program is recorded before it starts, also when it is killed together with the host.
// case 156
#[test]
fn a_program_that_stays_has_its_receipt_when_the_host_is_killed() {
    let live = Live::new();
    let body = "open('made.txt', 'w').write('made')\ntime.sleep(60)";
    let asks = ["shell:exec(main.py)", "file:write(./**)"];
    live.skill(
        "stays",
        "types: [tool]\n",
        &asks,
        ("main.py", &python(body)),
    );
    let mut command = live.stage.context.command();
    command
        .args(["--root", "skills", "--approve-skills", "stays"])
        .args(["call", "stays", "x"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_until("the program writes its file", || live.stage.has("made.txt"));
    child.kill().unwrap();
    child.wait().unwrap();
    let receipts = live.stage.receipts();
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    assert_eq!(field(&receipts[0], "act"), "skill:run");
    assert_eq!(field(&receipts[0], "detail"), "main.py");
    assert!(field(&receipts[0], "reason").starts_with("metier ended before"));
}

// case 157
#[test]
fn a_flood_of_refusals_is_counted() {
    let live = Live::new();
    let body = "from metier import HostError\n@skill.tool('Floods')\ndef flood(host):\n    tried, end = 0, time.time() + 2\n    \
                while time.time() < end:\n        tried += 1\n        try:\n            host.ask('host/env', name='x' * 2600 + str(tried))\n        \
                except HostError:\n            pass\n    return tried";
    let asks = ["shell:exec(main.py)"];
    live.skill("pest", "types: [tool]\n", &asks, ("main.py", &python(body)));
    let done = live.json(&["--approve-skills", "pest", "call", "pest", "flood"]);
    let tried = done["output"].as_u64().unwrap();
    assert!(tried > 100, "{tried}");
    let receipts = live.stage.receipts();
    let refused = of_act(&receipts, "env:read");
    let count = |receipt: &&Value| receipt["count"].as_u64().unwrap_or(1);
    assert_eq!(refused.iter().map(count).sum::<u64>(), tried);
    assert!(refused.len() < 30, "{}", refused.len());
    let size = live.database().metadata().unwrap().len();
    assert!(size < 1 << 20, "{size} bytes");
    let text = live.stage.context.run(&["log", "--limit", "3"]).stdout;
    assert!(text.contains(" times pest env:read xxx"), "{text}");
}

/// Refusals that happen only when an act is tried are limited too: each was recorded as begun.
// case 157
#[test]
fn refused_attempts_are_limited() {
    let live = Live::new();
    let body = "from metier import HostError\n@skill.tool('Floods')\ndef flood(host):\n    tried, end = 0, time.time() + 3\n    \
                while time.time() < end:\n        tried += 1\n        try:\n            host.write_file('.git/config', 'x')\n        \
                except HostError:\n            pass\n    return tried";
    let asks = ["shell:exec(main.py)", "file:write(./**)"];
    live.stage.context.write(".git/config", "");
    live.skill("pest", "types: [tool]\n", &asks, ("main.py", &python(body)));
    let done = live.json(&["--approve-skills", "pest", "call", "pest", "flood"]);
    let tried = done["output"].as_u64().unwrap();
    assert!(tried < 16 + 3_000 / 50, "{tried}");
    let receipts = live.stage.receipts();
    let refused = of_act(&receipts, "file:write");
    assert_eq!(u64::try_from(refused.len()).unwrap(), tried);
    assert!(
        refused
            .iter()
            .all(|one| field(one, "decision") == "refused")
    );
}

/// The random acts of a skill, each with its own name.
const BUSY: &str = r#"
def go(input):
    seed, port = input["seed"], input["port"]
    for number in range(1000):
        name = "%d-%d" % (seed, number)
        kind = (seed * 7 + number * 3 + number // 5) % 5
        if kind == 0:
            write_file("made/w" + name, "x")
        elif kind == 1:
            exec("touch made/e" + name)
        elif kind == 2:
            fetch("http://127.0.0.1:%d/f%s" % (port, name))
        elif kind == 3:
            env("SHAPE")
        else:
            read_file("given.txt")
    return "done"
register_tool("go", "Is busy.", go)
"#;

/// Acts ⊆ receipts, whenever the program is killed.
// case 156
#[test]
fn every_effect_that_is_seen_outside_has_a_receipt_whenever_the_program_is_killed() {
    let (port, asked) = serve();
    let live = Live::new();
    let net = format!("net:fetch(127.0.0.1:{port})");
    let asks = [
        "file:write(./made/**)",
        "file:read(./given.txt)",
        "shell:exec(touch *)",
        "env:read(SHAPE)",
        net.as_str(),
    ];
    live.skill("busy", "types: [tool]\n", &asks, ("skill.star", BUSY));
    live.stage.context.dir("made");
    live.stage.context.write("given.txt", "x");
    let made = live.stage.context.path("made");
    let seen = || fs::read_dir(&made).unwrap().count() + asked.lock().unwrap().len();
    let rounds = 24_u64;
    for round in 1..=rounds {
        let input = json!({ "seed": round, "port": port }).to_string();
        let mut command = live.stage.context.command();
        command
            .args(["--root", "skills", "--approve-skills", "busy"])
            .args(["call", "busy", "go", &input])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Most reach their first effect, the others die somewhere on the way to it. Any odd number spreads the moments; the machine adds
        // real randomness.
        let before = seen();
        if !round.is_multiple_of(4) {
            wait_until("an effect", || {
                seen() > before || child.try_wait().unwrap().is_some()
            });
        }
        thread::sleep(Duration::from_micros(round * 7919 % 120_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let receipts = live.stage.receipts();
    let details: Vec<&str> = receipts.iter().map(|one| field(one, "detail")).collect();
    let is_written = |name: &str| details.iter().any(|detail| detail.ends_with(name));
    let mut effects = 0;
    for entry in fs::read_dir(&made).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // An incomplete file, which would have been renamed once it was complete: `.NAME.NUMBER`.
        let half = name.strip_prefix('.').and_then(|name| name.split_once('.'));
        let name = half.map_or(name.as_str(), |(name, _)| name);
        assert!(is_written(&format!("made/{name}")), "{name}");
        effects += 1;
    }
    for request in asked.lock().unwrap().iter() {
        let path = request.split(' ').nth(1).unwrap();
        assert!(is_written(path), "{path}");
        effects += 1;
    }
    assert!(effects > 20, "{effects} effects in {rounds} rounds");
    let open = |one: &&Value| field(one, "outcome") == "begun";
    assert_eq!(receipts.iter().filter(open).count(), 0, "all are gone");
}

/// A separate disk for a fixture: the content below it, in a mount namespace that ends with the shell.
const SMALL_DISK: &str = r#"
set -e
mount -t tmpfs -o size=24m none "$DISK"
cp -a "$HOME" "$DISK/home"; cp -a "$PWD" "$DISK/work"
cd "$DISK/work"; export HOME="$DISK/home"
set +e
"$METIER" --root skills --approve-skills fills exec fills scripts/do.sh 2>"$DISK/../told"
echo "exec: $?"
cat /dev/zero > more 2>/dev/null
"$METIER" --root skills --approve-skills fills exec fills scripts/do.sh 2>"$DISK/../told-again"
echo "again: $?"
rm -f fill more
"$METIER" log --json --verify
"#;

// case 155
#[test]
fn a_full_disk_stops_the_act_and_not_the_receipt() {
    let stage = SkillProject::new();
    let unshare = needed!(needs::program("unshare"));
    let can_mount = Command::new(unshare)
        .args(["-m", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    needed!(needs::condition(
        can_mount,
        "case 155: this user can make no namespace of mounts for a small disk"
    ));
    let (port, asked) = serve();
    let net = format!("net:fetch(127.0.0.1:{port})");
    let asks = ["shell:exec(scripts/*)", "file:write(./**)", net.as_str()];
    let post = CLINGS
        .replace("@skill.tool('Posts')\n", "")
        .replace('\'', "\"");
    let script = format!(
        "python3 -c '{post}\npost(None, {port})'\ncat /dev/zero > fill 2>/dev/null\nexit 0\n"
    );
    stage.scripted("fills", &asks, &script);
    let other = SkillProject::new();
    other.context.dir("disk");
    let folder = other.context.work();
    let output = small_disk(&stage, &folder);
    let (said, log) = output.split_once('{').unwrap();
    let told = fs::read_to_string(folder.join("told")).unwrap();
    assert!(said.starts_with("exec: 0\n"), "{output} {told}");
    // The second time there is no space to record its start, so it does not start.
    let told = fs::read_to_string(folder.join("told-again")).unwrap();
    assert!(
        said.contains("again: ") && !said.contains("again: 0"),
        "{said}"
    );
    assert!(told.contains("the disk is full"), "{told}");
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1, "{asked:?} {output}");
    let log: Value = serde_json::from_str(&format!("{{{log}")).unwrap();
    assert_eq!(log["whole"], true, "{log}");
    let receipts = log["receipts"].as_array().unwrap();
    let exec = of_act(receipts, "shell:exec");
    assert_eq!(exec.len(), 1, "{log}");
    assert_eq!(field(exec[0], "outcome"), "ok", "{log}");
    assert_eq!(of_act(receipts, "net:fetch").len(), 1, "{log}");
}

fn small_disk(stage: &SkillProject, folder: &Path) -> String {
    let mut command = Command::new("unshare");
    let program = stage.context.command();
    command
        .args(["-m", "/bin/sh", "-c", SMALL_DISK])
        .env_clear()
        .envs(
            program
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("METIER", program.get_program())
        .env("DISK", folder.join("disk"))
        .current_dir(stage.context.work())
        .stderr(Stdio::inherit());
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// In the chain it has two entries.
#[test]
fn the_log_of_an_act_is_one_row() {
    let stage = SkillProject::new();
    stage.scripted("one", &["shell:exec(scripts/*)"], "exit 3\n");
    assert_eq!(stage.exec("one", &[]).code, 3);
    let receipts = stage.receipts();
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    assert_eq!(field(&receipts[0], "outcome"), "error");
    let path = stage.context.path("~/.local/share/metier/metier.db");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 2 });
}
