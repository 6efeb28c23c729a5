//! The globals that a handler expects.

use std::time::Instant;

use serde_json::json;

use crate::talk::{Talk, out};

#[test]
fn console_and_streams_are_the_log_with_levels() {
    let body = r#"export default () => {
  console.log("a %s %d", "b", 2, { c: [1, "x"], d: new Map([[1, 2]]) });
  console.info("i"); console.warn("w"); console.error(new TypeError("oops").message); console.debug(null, undefined);
  process.stdout.write("out\n"); process.stderr.write("err");
  console.log('{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":1,"result":{}}');
}"#;
    let said = Talk::handler("h.mjs", body).event(&json!({})).run();
    assert_eq!(
        said.log,
        [
            "info: a b 2 { c: [ 1, 'x' ], d: Map(1) { 1 => 2 } }",
            "info: i",
            "warn: w",
            "error: oops",
            "debug: null undefined",
            "info: out",
            "warn: err",
            "info: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        ]
    );
    assert_eq!(
        said.answers.len(),
        2,
        "and nothing of it is taken for an answer"
    );
}

#[test]
fn timers_really_wait_and_keep_their_order() {
    let began = Instant::now();
    let seen = out(
        "const seen = []; const say = (x) => seen.push(x);
         await new Promise((done) => {
           setTimeout(say, 30, 'late'); setTimeout(() => { say('end'); done(); }, 40); setTimeout(say, 5, 'early'); setImmediate(say, 'now');
           const dead = setTimeout(say, 1, 'never'); clearTimeout(dead);
           let n = 0; const each = setInterval(() => { say(n); if (++n === 2) clearInterval(each); }, 6);
           queueMicrotask(() => say('micro')); process.nextTick(say, 'tick'); say('sync');
         }); out = seen;",
    );
    assert_eq!(
        seen,
        json!(["sync", "micro", "tick", "now", "early", 0, 1, "late", "end"])
    );
    assert!(began.elapsed().as_millis() >= 40);
}

#[test]
fn timers_that_are_left_do_not_fire_in_the_next_call() {
    let body = "let n = 0; export default (e) => { e.context.n = n; setInterval(() => n++, 1); setTimeout(() => n++, 1); };";
    let said = Talk::handler("h.mjs", body)
        .event(&json!({}))
        .event(&json!({}))
        .run();
    assert_eq!(said.context(), json!({"n": 0}));
    assert_eq!(
        said.log[0],
        "warn: 2 timers did not fire before the call returned, and never will"
    );
}

#[test]
fn small_things_of_the_web_are_there() {
    for (code, expected) in [
        (
            "out = Array.from(new TextEncoder().encode('ä€'))",
            json!([195, 164, 226, 130, 172]),
        ),
        (
            "out = new TextDecoder().decode(new Uint8Array([195, 164, 255]))",
            json!("ä\u{fffd}"),
        ),
        (
            "try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { out = e.name }",
            json!("TypeError"),
        ),
        ("out = atob(btoa('hällo'))", json!("hällo")),
        (
            "const a = { d: new Date(0), l: [1, { x: 2 }] }; a.self = a; const b = structuredClone(a); out = [b !== a, b.self === b, b.d.getTime(), b.l[1].x]",
            json!([true, true, 0, 2]),
        ),
        ("out = typeof performance.now()", json!("number")),
        (
            "out = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID()",
            json!(true),
        ),
        (
            "const c = new AbortController(); let heard = 0; c.signal.addEventListener('abort', () => heard++); c.abort(); out = [c.signal.aborted, heard, c.signal.reason.name]",
            json!([true, 1, "AbortError"]),
        ),
        (
            "out = [typeof Deno, typeof window, global === globalThis]",
            json!(["undefined", "undefined", true]),
        ),
        (
            "const u = new URL('../b?x=1&y=a+b#h', 'https://u:p@EXAMPLE.com:8080/a/c'); u.searchParams.append('z', 'ä&'); u.pathname = '/q r'; out = [u.href, u.host, u.searchParams.get('y'), u.hash, u.origin]",
            json!([
                "https://u:p@example.com:8080/q%20r?x=1&y=a+b&z=%C3%A4%26#h",
                "example.com:8080",
                "a b",
                "#h",
                "https://example.com:8080"
            ]),
        ),
        (
            "try { new URL('nope') } catch (e) { out = [e.name, e.code, URL.canParse('nope')] }",
            json!(["TypeError", "ERR_INVALID_URL", false]),
        ),
        (
            "out = new URLSearchParams({ a: 1, b: 'x y' }).toString() + new URLSearchParams('?q=%F0%9F%98%80').get('q')",
            json!("a=1&b=x+y😀"),
        ),
        ("out = eval('1 + 1') + new Function('return 3')()", json!(5)),
    ] {
        assert_eq!(out(code), expected, "{code}");
    }
}

#[test]
fn fetch_asks_the_host() {
    let body = r#"export default async (e) => {
  const answer = await fetch(new URL("https://example.com/x"), { method: "POST", headers: { "X-A": "1" }, body: "b" });
  e.context = { ok: answer.ok, status: answer.status, type: answer.headers.get("Content-Type"), json: await answer.json() };
  await fetch("https://example.com/no").catch((error) => { e.context.no = [error.name, error.message]; });
}"#;
    let said = Talk::handler("h.mjs", body)
        .host(|_, params| match params["url"].as_str() {
            Some("https://example.com/x") => Ok(json!({"status": 201, "headers": {"content-type": "text/x"}, "body": "{\"a\":[1]}"})),
            _ => Err((-32_001, "not-granted")),
        })
        .event(&json!({}))
        .run();
    assert_eq!(
        said.asked[0],
        json!(["host/fetch", {"url": "https://example.com/x", "method": "POST", "headers": {"x-a": "1"}, "body": "b"}])
    );
    assert_eq!(
        said.context(),
        json!({"ok": true, "status": 201, "type": "text/x", "json": {"a": [1]}, "no": ["TypeError", "fetch failed: the host says not-granted"]})
    );
}

#[test]
fn a_variable_that_may_not_be_read_is_not_set() {
    let body = r#"export default (e) => {
  process.env.MINE = 1;
  e.context = { a: process.env.A, b: process.env.B ?? "none", has: "A" in process.env, no: "B" in process.env, mine: process.env.MINE, keys: Object.keys(process.env) };
}"#;
    let said = Talk::handler("h.mjs", body)
        .host(|_, params| match params["name"].as_str() {
            Some("A") => Ok(json!({"value": "yes"})),
            _ => Err((-32_001, "not-granted")),
        })
        .event(&json!({}))
        .run();
    assert_eq!(
        said.context(),
        json!({"a": "yes", "b": "none", "has": true, "no": false, "mine": "1", "keys": ["MINE"]})
    );
    assert_eq!(
        said.asked[1],
        json!(["host/env", {"name": "B"}]),
        "the host is asked, so that it can write it down"
    );
}

#[test]
fn process_has_a_working_directory_and_can_not_exit() {
    let body = "export default () => process.exit(3)";
    let said = Talk::handler("h.mjs", body).event(&json!({})).run();
    assert_eq!(
        said.error(),
        "h.mjs:1:29: Error: process.exit(3) was called; a handler must return instead"
    );
    assert_eq!(
        out("out = [process.cwd(), process.platform, process.argv.length]"),
        json!(["/project", "linux", 1])
    );
    let arch = match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    assert_eq!(out("out = process.arch"), arch);
}
