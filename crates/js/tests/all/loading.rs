//! How files become handlers, and why some don't.

use serde_json::json;

use crate::talk::Talk;

/// The error of `initialize`.
#[track_caller]
fn refused(file: &str, text: &str) -> String {
    let said = Talk::handler(file, text).run();
    assert_eq!(said.answers.len(), 1);
    said.error()
}

#[track_caller]
fn works(talk: Talk) {
    let said = talk.event(&json!({})).run();
    assert_eq!(said.context(), json!({"ok": true}), "{said:?}");
}

const SET: &str = "e => { e.context.ok = true }";

#[test]
fn a_handler_is_exported_in_one_of_many_ways() {
    for (file, text) in [
        ("h.ts", format!("const h = {SET}; export default h;")),
        ("h.mts", format!("export default {SET}")),
        ("h.mjs", format!("export default {SET}")),
        (
            "h.js",
            format!("export {{ h as default }}; const h = {SET};"),
        ),
        ("h.js", format!("module.exports = {SET}")),
        (
            "h.js",
            format!("module.exports = {SET}; module.exports.default = module.exports;"),
        ),
        ("h.js", format!("exports.default = {SET}")),
        ("h.cjs", format!("module.exports = {{ default: {SET} }}")),
        ("h.cts", format!("const h = {SET}; export = h;")),
        ("h.ts", format!("const h = {SET}; export = h;")),
        (
            "h.ts",
            format!("import type {{ X }} from 'openclaw/hooks'; const h = {SET}; export = h;"),
        ),
        (
            "h.js",
            format!(
                "Object.defineProperty(exports, '__esModule', {{ value: true }}); exports.default = {SET}"
            ),
        ),
        (
            "h.ts",
            format!("import {{ runHook }} from 'openclaw/hooks'; runHook({SET});"),
        ),
        (
            "h.mjs",
            format!(
                "await 0; await new Promise((done) => setTimeout(done, 1)); export default {SET}"
            ),
        ),
        ("h.js", format!("\u{feff}export default {SET}")),
        (
            "h.ts",
            format!("\u{feff}// a\r\nconst h = {SET};\r\nexport default h;\r\n"),
        ),
        (
            "h.js",
            format!("#!/usr/bin/env node\nmodule.exports = {SET}"),
        ),
        (
            "ünï/hä.ts",
            format!("const grüße = {SET}; export default grüße;"),
        ),
    ] {
        works(Talk::handler(file, &text));
    }
    works(
        Talk::files(&[("h.ts", &format!("export const handler = {SET}"))])
            .handle("h.ts", "handler"),
    );
    works(Talk::files(&[("h.js", &format!("exports.go = {SET}"))]).handle("h.js", "go"));
}

#[test]
fn files_of_the_skill_import_each_other() {
    let main = r#"
import { a } from "./lib/a";
import b, { two } from "./lib/b.cjs";
import data from "./data.json" with { type: "json" };
import * as path from "path";
export default (e) => { e.context = { a, two, b: b.two, n: data.n, p: path.join("x", "..", "y") }; };
"#;
    let said = Talk::handler("h.mjs", main)
        .file(
            "lib/a.ts",
            "import { c } from './c.js'; export const a: number = c + 1;",
        )
        .file("lib/c.ts", "export const c = 1 as const;")
        .file(
            "lib/b.cjs",
            "const { n } = require('../data'); exports.two = n; exports['not-a-name'] = 1;",
        )
        .file("data.json", r#"{"n": 2}"#)
        .event(&json!({}))
        .run();
    assert_eq!(
        said.context(),
        json!({"a": 2, "two": 2, "b": 2, "n": 2, "p": "y"})
    );
}

#[test]
fn a_common_file_requires_others_once_and_modules_too() {
    let main = "const a = require('./a'), m = require('./m.mjs'); module.exports = (e) => { e.context = { a: a.name, same: require('./a') === a, m: m.default, json: require('./d.json')[0], n: require('./loop').b }; };";
    let said = Talk::handler("h.js", main)
        .file(
            "a/index.js",
            "exports.name = __filename + ' ' + __dirname + ' ' + require.resolve('../h.js');",
        )
        .file("m.mjs", "export default 'module';")
        .file("d.json", "[1]")
        .file("loop.js", "exports.a = 1; exports.b = require('./back').a;")
        .file("back.js", "exports.a = require('./loop').a;")
        .event(&json!({}))
        .run();
    let name = "/skills/s/a/index.js /skills/s/a /skills/s/h.js";
    assert_eq!(
        said.context(),
        json!({"a": name, "same": true, "m": "module", "json": 1, "n": 1})
    );
}

#[test]
fn a_module_knows_where_it_is() {
    let main = "import { fileURLToPath } from 'node:url'; import path from 'node:path'; import own from './own.mjs';
export default (e) => { e.context = { url: import.meta.url, dir: path.dirname(fileURLToPath(import.meta.url)), d: __dirname, f: __filename, own, r: require('./d.json') }; };";
    let said = Talk::handler("hooks/h.mjs", main)
        .file(
            "hooks/own.mjs",
            "const __dirname = 'mine'; export default __dirname;",
        )
        .file("hooks/d.json", "7")
        .event(&json!({}))
        .run();
    assert_eq!(
        said.context(),
        json!({"url": "file:///skills/s/hooks/h.mjs", "dir": "/skills/s/hooks", "d": "/skills/s/hooks", "f": "/skills/s/hooks/h.mjs", "own": "mine", "r": 7})
    );
}

#[test]
fn a_mistake_is_reported_with_its_place() {
    assert_eq!(
        refused("hooks/h.ts", "const a: = 1;"),
        "hooks/h.ts:1:10: Unexpected token"
    );
    assert!(
        refused("h.js", "let a = 1;\n\n  let = =;").starts_with("h.js:3:"),
        "{}",
        refused("h.js", "let a = 1;\n\n  let = =;")
    );
    assert_eq!(
        refused("h.ts", "import fs from 'fs';\nexport = fs;"),
        "h.ts:2:1: `export =` and `import … = require()` can't be combined with `import` and `export`: write `export default`"
    );
    assert!(refused("h.mjs", "export default (").starts_with("h.mjs:1:17: "));
    let inner = Talk::handler("h.mjs", "import './lib.ts';")
        .file("lib.ts", "\nconst x: = 1")
        .run();
    assert!(inner.error().contains("lib.ts:2:10: "), "{}", inner.error());
    let json = Talk::handler("h.mjs", "import './x.json';")
        .file("x.json", "{")
        .run();
    assert!(
        json.error().contains("x.json is not valid JSON"),
        "{}",
        json.error()
    );
    assert_eq!(
        refused("h.mjs", "const a = 1;\nnothing();\nexport default a;"),
        "h.mjs:2:1: ReferenceError: nothing is not defined"
    );
}

#[test]
fn a_missing_handler_is_reported_with_the_exports() {
    assert_eq!(
        refused("h.ts", "export const onEvent = () => {};"),
        "h.ts: it does not export a function `default` (exports: `onEvent`); name one with `export` in HOOK.md"
    );
    assert_eq!(
        refused("h.js", "1"),
        "h.js: it does not export a function `default` (exports: none); name one with `export` in HOOK.md"
    );
    assert_eq!(
        refused("h.mjs", "export default 5").split(" (").next(),
        Some("h.mjs: it does not export a function `default`")
    );
    let missing = Talk::files(&[]).handle("h.ts", "default").run();
    assert_eq!(
        missing.error(),
        "h.ts: it is not among the skill's source files"
    );
    assert_eq!(
        Talk::files(&[]).run().error(),
        "`entrypoint` or `handlers` is missing"
    );
    assert!(
        refused("h.mjs", "await new Promise(() => {}); export default 1")
            .contains("can never resolve")
    );
}

#[test]
fn nothing_is_imported_from_elsewhere() {
    for (word, expected) in [
        ("https://example.com/x.ts", "is a remote module"),
        ("npm:chalk", "is a remote module"),
        ("data:text/javascript,1", "is a remote module"),
        ("chalk", "there is no package `chalk`"),
        ("../x.js", "is outside the skill's folder"),
        ("/etc/passwd", "is outside the skill's folder"),
        ("./lib/../../x", "is outside the skill's folder"),
        ("./missing", "`missing` is not in the skill's folder"),
        (
            "node:nonsense",
            "the Node module `nonsense` is not available",
        ),
    ] {
        for text in [
            format!("import x from '{word}'; export default x;"),
            format!("const x = require('{word}'); module.exports = x;"),
            format!("const x = await import('{word}'); export default x;"),
        ] {
            let error = refused("h.js", &text);
            assert!(
                error.starts_with("h.js") && error.contains(expected),
                "{text}: {error}"
            );
        }
    }
}

// case 159
#[test]
fn what_nothing_stands_for_is_there_and_throws_when_it_is_called() {
    for (module, call, expected) in [
        (
            "node:child_process",
            "execSync('id')",
            "skills can't start programs",
        ),
        (
            "child_process",
            "spawn('id')",
            "skills can't start programs",
        ),
        ("https", "request('https://a.io')", "can't open sockets"),
        ("net", "connect(1)", "can't open sockets"),
        ("worker_threads", "Worker", "one thread"),
        ("vm", "runInThisContext('1')", "create other contexts"),
        ("fs", "createReadStream('x')", "whole files only"),
    ] {
        let call = match call.contains('(') {
            true => format!("x.{call}"),
            false => format!("new x.{call}()"),
        };
        let name = call.trim_start_matches("new ").trim_start_matches("x.");
        let name = name.split('(').next().unwrap_or_default();
        for text in [
            format!(
                "import x, {{ {name} }} from '{module}'; export default () => {{ if (typeof {name} === 'function') {call}; }};"
            ),
            format!("const x = require('{module}'); module.exports = () => {call};"),
        ] {
            let error = Talk::handler("h.js", &text).event(&json!({})).run().error();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}

#[test]
fn a_malformed_request_is_reported() {
    let both = Talk::handler("h.js", "module.exports = () => {}")
        .entrypoint("h.js")
        .run();
    assert_eq!(
        both.error(),
        "`entrypoint` and `handlers` can't be combined"
    );
    let said = Talk::handler("h.js", "module.exports = () => {}")
        .call("tool/execute", json!({"name": "x"}))
        .call("nonsense", json!({}))
        .call("openclaw/handle", json!({"handler": "x"}))
        .call(
            "initialize",
            json!({"protocol": 2, "skill": "s", "directory": "/"}),
        )
        .call("openclaw/handle", json!({}))
        .call("shutdown", json!({}))
        .run();
    let errors: Vec<_> = said
        .answers
        .iter()
        .map(|answer| answer["error"]["message"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(errors[1], "this skill handles OpenClaw hooks only");
    assert_eq!(errors[2], "there is no method `nonsense`");
    assert!(errors[3].contains("expected usize"), "{}", errors[3]);
    assert_eq!(errors[4], "this is version 1 of the protocol, not 2");
    assert_eq!(
        errors[5],
        "no skill is loaded; `initialize` must be called first"
    );
    assert_eq!(said.answers[6]["result"], json!({}));
}
