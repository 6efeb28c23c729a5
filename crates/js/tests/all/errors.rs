//! The error messages for the author of a handler.

use serde_json::json;

use crate::talk::Talk;

#[track_caller]
fn check(file: &str, text: &str, expected: &str) {
    let said = Talk::handler(file, text)
        .event(&json!({}))
        .event(&json!({}))
        .run();
    assert_eq!(said.error(), expected, "{text}");
    assert_eq!(
        said.answers[1]["error"]["message"], expected,
        "the first time as the second"
    );
}

#[test]
fn an_error_has_the_author_s_line() {
    let typed = "// one\ninterface A {\n  b: string;\n}\n\nexport default async (event: { context: A }): Promise<void> => {\n  const a: A = event.context;\n\n  (a as any).b.c;\n};\n";
    check(
        "h.ts",
        typed,
        "h.ts:9:4: TypeError: cannot read property 'c' of undefined",
    );
    check(
        "h.js",
        "module.exports = () => {\n  throw new RangeError('no');\n};",
        "h.js:2:13: RangeError: no",
    );
    check(
        "h.mjs",
        "export default async () => {\n  await 0;\n  null.x;\n};",
        "h.mjs:3:3: TypeError: cannot read property 'x' of null",
    );
    let inner = "import { fail } from './lib';\nexport default () => fail();";
    let said = Talk::handler("h.ts", inner)
        .file("lib.ts", "type A = 1;\n\nenum E { X }\n\nexport function fail(): never {\n  throw new Error(`lib ${E.X}`);\n}")
        .event(&json!({}))
        .run();
    assert_eq!(said.error(), "lib.ts:6:26: Error: lib 0");
}

#[test]
fn every_thrown_value_is_reported() {
    for (thrown, expected) in [
        ("'a text'", "it threw `a text`"),
        ("42", "it threw 42"),
        ("undefined", "it threw undefined"),
        (
            "null",
            "it threw null, or it needs more than 64 MiB of memory",
        ),
        (
            "{ toString() { for (;;) {} } }",
            "it threw an object that is not an Error",
        ),
        ("{ a: 1 }", "it threw an object that is not an Error"),
        ("Symbol('x')", "it threw a symbol"),
        (
            "new Proxy({}, { get() { throw 1 } })",
            "it threw an object that is not an Error",
        ),
        (
            "Object.defineProperties(new Error('x'), { stack: { get() { throw 1 } }, name: { value: 'N' } })",
            "N: x",
        ),
    ] {
        check(
            "h.mjs",
            &format!("export default () => {{ throw {thrown} }}"),
            expected,
        );
        check(
            "h.mjs",
            &format!("export default () => Promise.reject({thrown})"),
            expected,
        );
    }
}

#[test]
fn a_promise_that_nothing_can_settle_is_reported_at_once() {
    let never = "its promise can never resolve: no timer and no request to the host is pending";
    check("h.mjs", "export default () => new Promise(() => {})", never);
    check(
        "h.mjs",
        "export default async () => { setTimeout(() => {}, 1); await new Promise(() => {}); }",
        never,
    );
    check("h.mjs", "export default () => ({ then() {} })", never);
}

#[test]
fn an_unhandled_rejection_is_logged() {
    let body = "export default async (e) => {
  Promise.reject(new Error('lost'));
  await Promise.reject(new Error('caught')).catch(() => {});
  try { await (async () => { throw 1 })(); } catch {}
  const late = Promise.reject(new Error('late')); await 0; await late.catch(() => {});
};";
    let said = Talk::handler("h.mjs", body).event(&json!({})).run();
    assert!(said.event().is_object());
    assert_eq!(said.log, ["error: unhandled rejection of a promise: lost"]);
}
