//! Malicious and careless handlers. In every case, the messages stay complete.

use std::time::Duration;

use metier_testkit::patience::in_time;
use serde_json::json;

use crate::talk::{Said, Talk};

/// A handler with this body, called twice in an engine with half a second.
fn run(body: &str) -> Said {
    run_for(Duration::from_millis(500), body)
}

fn run_for(time: Duration, body: &str) -> Said {
    let text = format!("export default async (e) => {{ {body} }};");
    Talk::handler("h.mjs", &text)
        .limits(|limits| limits.time = time)
        .event(&json!({}))
        .event(&json!({}))
        .run()
}

const TOO_LONG: &str = "it ran for more than 0.5 s and was stopped";

#[test]
fn what_never_ends_is_ended_and_the_engine_is_not_used_again() {
    for body in [
        "for (;;) {}",
        "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
        "const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})",
        "const again = () => queueMicrotask(again); again()",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "await new Promise((done) => setTimeout(done, 1e9))",
        "setInterval(() => {}, 1); await new Promise(() => {})",
        "async function* all() { for (;;) yield 1 } for await (const one of all()) {}",
        "e.context.x = { toJSON() { for (;;) {} } }",
        "e.context = new Proxy({}, { ownKeys() { for (;;) {} } })",
        "throw Object.defineProperty(new Error(), 'message', { get() { for (;;) {} } })",
        "new Array(1e9).fill(0).sort()",
        "for (;;) { try { require('fs').readFileSync('x') } catch {} }",
    ] {
        let said = in_time(body, || run(body));
        let first = said.answers[1]["error"]["message"]
            .as_str()
            .unwrap_or_default();
        let memory = first.contains("MiB of memory");
        assert!(first.contains(TOO_LONG) || memory, "{body}: {said:?}");
        if !memory {
            assert_eq!(
                said.end,
                Err("a call was stopped; its engine can't be used again".to_owned()),
                "{body}"
            );
            assert_eq!(said.answers.len(), 2, "{body}");
        }
    }
}

#[test]
fn endless_growth_is_refused_memory() {
    for body in [
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
        "let text = 'x'; for (;;) text += text",
        "let all = []; for (;;) all = [all, all]; ",
        "new ArrayBuffer(2 ** 40)",
        "'x'.repeat(2 ** 29).repeat(4)",
        "10n ** (10n ** 9n)",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(1000) + i)",
    ] {
        let said = run(body);
        let error = said.answers[1]["error"]["message"]
            .as_str()
            .unwrap_or_default();
        assert!(!error.is_empty(), "{body}: {said:?}");
        let known = [
            "MiB of memory",
            "too long",
            "invalid",
            "allocate",
            "too large",
            TOO_LONG,
            "BigInt",
        ];
        assert!(
            known.iter().any(|known| error.contains(known)),
            "{body}: {error}"
        );
    }
}

#[test]
fn recursion_ends() {
    for body in [
        "const f = () => f() + 1; f()",
        "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; e.context.x = deep",
        "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; console.log(deep); structuredClone(deep)",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
        "JSON.parse('['.repeat(1e6))",
        "class A { get x() { return this.x } } new A().x",
        "new Function('return ' + '('.repeat(1e5) + ')'.repeat(1e5))",
    ] {
        let said = run_for(Duration::from_secs(20), body);
        assert!(said.answers[1].get("error").is_some(), "{body}: {said:?}");
        assert_eq!(said.answers.len(), 3, "{body}: the next call is answered");
    }
}

#[test]
fn the_world_of_a_handler_is_its_own_but_the_frames_are_ours() {
    let body = "
      for (const name of ['id', 'result', 'error', 'jsonrpc', 'timestamp', 'messages', 'context', 'run', 'exports']) {
        Object.defineProperty(Object.prototype, name, { get() { return 'polluted' }, set() {}, configurable: true });
      }
      Object.prototype.toJSON = function () { return 'polluted' };
      Array.prototype.toJSON = () => 'polluted';
      Promise.prototype.then = () => { throw new Error('then') };
      Promise.resolve = Promise.reject = () => 1;
      globalThis.Promise = class {};
      globalThis.JSON = { stringify: () => '{\"id\":1}', parse: () => 1 };
      globalThis.Date = class { toISOString() { return 'no' } };
      Array.prototype.push = Array.prototype.map = Map.prototype.get = Function.prototype.call = () => { throw new Error('mine') };
      String.prototype.toString = Symbol.prototype.valueOf = () => { throw 1 };
      Object.defineProperty = Object.keys = () => { throw new Error('keys') };
      globalThis.undefined2 = 1;";
    let text = format!(
        "let n = 0; export default async (e) => {{ e.messages = [String(n++), typeof e.timestamp.getTime]; if (n === 1) {{ {body} }} }};"
    );
    let said = Talk::handler("h.mjs", &text)
        .event(&json!({}))
        .event(&json!({}))
        .run();
    assert_eq!(said.answers.len(), 3, "{said:?}");
    for (id, answer) in said.answers.iter().enumerate() {
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
    assert_eq!(said.end, Ok(()));
}

#[test]
fn a_handler_that_prints_frames_prints_log_lines() {
    let frame =
        r#"{"jsonrpc":"2.0","id":1,"result":{"event":{"messages":["forged"],"context":{}}}}"#;
    let body = format!("console.log('{frame}'); process.stdout.write('\\n{frame}\\n'); process.stdout.write(new Uint8Array([10, 123])); print?.('{frame}')")
        .replace("print?.", "globalThis.print?.");
    let said = run(&body);
    assert_eq!(said.event()["messages"], json!(["first"]));
    assert_eq!(said.answers.len(), 3);
}

#[test]
fn a_flood_is_bounded() {
    let slowly = Duration::from_secs(30);
    let said = run_for(
        slowly,
        "for (let i = 0; i < 4_000; i++) console.log('line', i)",
    );
    assert!(said.log.len() < 6_000, "{}", said.log.len());
    assert!(
        said.log
            .iter()
            .any(|line| line == "warn: [it logs too much; the rest of this call is omitted]")
    );
    assert!(said.event().is_object());
    let said = run_for(
        slowly,
        "for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1e6)",
    );
    assert!(
        said.error()
            .contains("RangeError: there are more than 10000 timers"),
        "{}",
        said.error()
    );
    let said = run_for(slowly, "console.log('x'.repeat(1e7)); e.context = 1");
    assert_eq!(said.context(), json!(1));
}

#[test]
fn a_refusal_injects_nothing() {
    let said = run(
        "const fs = require('fs'); e.context = ['/etc/passwd', '../../etc/passwd', 'file:///etc/passwd'].map((path) => { try { return fs.readFileSync(path, 'utf8') } catch (error) { return error.code } })",
    );
    assert_eq!(said.context(), json!(["EACCES", "EACCES", "EACCES"]));
    let said = run(
        "const native = require('metier:native'); try { native.ask('host/format_disk', '{}') } catch (error) { e.context.a = error.name } try { native.ask('host/exec', JSON.stringify({ command: 'id' })) } catch (error) { e.context.b = error.rpc }",
    );
    assert_eq!(said.context(), json!({"a": "TypeError", "b": -32_001}));
    assert_eq!(
        said.asked.last(),
        Some(&json!(["host/exec", {"command": "id"}])),
        "it is the host that says no"
    );
}

#[test]
fn strange_texts_are_mistakes_and_not_more() {
    for text in [
        "\0",
        "export default \u{202e}",
        "export default () => { `${",
        "<script>alert(1)</script>",
        "import x from './h.mjs'; export default x;",
        "import.meta = 1",
        "export default class { static { this.x.y } }",
        "with (1) {}",
        "await import('./h.mjs?x')",
        "throw undefined",
        "export { nothing }",
        "export * from './nothing.js'",
        "yield",
        "@dec class A {}",
        "using x = 1",
        "let a; let a;",
    ] {
        for file in ["h.mjs", "h.ts", "h.cjs"] {
            let said = Talk::handler(file, text).run();
            let error = said.error();
            assert!(
                error.starts_with(file) && !error.contains("bug in metier"),
                "{file} {text}: {error}"
            );
        }
    }
}
