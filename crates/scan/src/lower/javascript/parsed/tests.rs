//! The common form of JavaScript.

use proptest::prelude::*;

use super::{ScriptDialect, javascript};
use crate::form::{Expr, LoweredProgram, Stmt};
use crate::lower::print::{self, is_inside};

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(
        print::program(&javascript(source, ScriptDialect::JavaScript)),
        expected,
        "\nsource: {source}"
    );
}

#[track_caller]
fn check_ts(source: &str, expected: &str) {
    assert_eq!(
        print::program(&javascript(source, ScriptDialect::TypeScript)),
        expected,
        "\nsource: {source}"
    );
}

#[test]
fn imported_names_are_spelt_out() {
    check(
        "const cp = require('child_process'); cp.exec(x)",
        "cp = child_process; do child_process.exec(x);",
    );
    check(
        "require('node:child_process').execSync(x)",
        "do child_process.execSync(x);",
    );
    check(
        "import {exec as e} from 'child_process'; e(x)",
        "do child_process.exec(x);",
    );
    check(
        "import fs, {promises as p} from 'fs'; fs.readFileSync(x); p.readFile(y)",
        "do fs.readFileSync(x); do fs.promises.readFile(y);",
    );
    check(
        "import * as cp from 'node:child_process'; cp.spawn(x)",
        "do child_process.spawn(x);",
    );
    check(
        "import {readFile} from 'fs/promises'; readFile(x)",
        "do fs.promises.readFile(x);",
    );
    check(
        "const {exec: run} = require('child_' + 'process'); run(x)",
        "run = child_process.exec; do child_process.exec(x);",
    );
    check(
        "const {exec, spawn} = require('child_process'); spawn(x)",
        "exec = child_process.exec; spawn = child_process.spawn; do child_process.spawn(x);",
    );
    check(
        "const fs = await import('fs'); fs.rm(x)",
        "fs = fs; do fs.rm(x);",
    );
    check("(await import('fs')).default.rm(x)", "do fs.rm(x);");
    check("import(m).then(f)", "do import(m).then(f);");
    check(
        "function f(x) { e(x) } const e = require('child_process').exec",
        "fn f(x) { do child_process.exec(x); } e = child_process.exec;",
    );
    check(
        "import './setup.js'; require('./b')",
        "do import(\"./setup.js\"); do require(\"./b\");",
    );
    check(
        "this.cp = require('child_process'); this.cp.exec(x)",
        "this.cp = child_process; do child_process.exec(x);",
    );
    check(
        "const m = 'child_process'; require(m).exec(x)",
        "m = \"child_process\"; do child_process.exec(x);",
    );
    check_ts(
        "import cp = require('child_process'); cp.exec(x as string)",
        "do child_process.exec(x);",
    );
}

#[test]
fn detours_to_a_name_are_undone() {
    check("globalThis['ev'+'al'](x)", "do eval(x);");
    check("window.eval(x)", "do eval(x);");
    check(
        "const t = ['child_process', 'exec']; require(t[0])[t[1]](x)",
        "t = [\"child_process\", \"exec\"]; do child_process.exec(x);",
    );
    check("f(process.argv[2])", "do f(process.argv.2);");
    check("const e = eval; e(x)", "e = eval; do eval(x);");
    check(
        "let e = null; e = eval; e(x)",
        "e = _; e = eval; do eval(x);",
    );
    check("new Function(x)()", "do <Function(x)>();");
    check("Function('return 1')()", "do <Function(\"return 1\")>();");
    check("module.require('fs').rm(x)", "do fs.rm(x);");
    check(
        "process.mainModule.require('child_process').exec(x)",
        "do child_process.exec(x);",
    );
    check(
        "const r = require; r('fs').rm(x)",
        "r = require; do fs.rm(x);",
    );
    check(
        "(function (r) { r('fs').rm(x) })(require)",
        "r = require; block() { do fs.rm(x); }",
    );
    check(
        "import {createRequire} from 'module'; const require = createRequire(import.meta.url); require('fs').rm(x)",
        "require = require; do fs.rm(x);",
    );
    check("f(process['env']['HOME'])", "do f(process.env.HOME);");
    check(
        "const {env} = process; f(env.TOKEN)",
        "env = process.env; do f(process.env.TOKEN);",
    );
    check("f(import.meta.env)", "do f(import.meta.env);");
    check("(0, eval)(x)", "do eval(x);");
    check("eval?.(x)", "do eval(x);");
    check("Reflect.apply(eval, null, [x])", "do eval(x);");
    check(
        "eval.call(null, x); eval.apply(null, [x]); eval.bind(null)(x)",
        "do eval(x); do eval(x); do eval(x);",
    );
    check(
        "[].constructor.constructor('a')()",
        "do <Function(\"a\")>();",
    );
    check(
        "[]['filter']['constructor']('a')()",
        "do <Function(\"a\")>();",
    );
    check("(() => {}).constructor('a')()", "do <Function(\"a\")>();");
    check(
        "x.constructor.constructor('a')()",
        "do <Function(\"a\")>();",
    );
    check(
        "Object.getPrototypeOf(async function () {}).constructor('a')()",
        "do <Function(\"a\")>();",
    );
    check("process.getBuiltinModule('fs').rm(x)", "do fs.rm(x);");
}

#[test]
fn what_is_not_known_stays_visible() {
    check("obj[key](x)", "do <parts(obj, key)>(x);");
    check("require(m)", "do require(m);");
    check("let e = eval; e = f; e(x)", "e = eval; e = f; do e(x);");
    check(
        "function f(eval2, require) { require('fs').rm(x) }",
        "fn f(eval2, require) { do fs.rm(x); }",
    );
    check(
        "const self = this; self.eval(x)",
        "self = this; do self.eval(x);",
    );
    check("client.call('a', b)", "do client.call(\"a\", b);");
}

#[test]
fn methods_of_values_keep_the_value() {
    check(
        "f(x).then(r => r.text())",
        "do f(x).then(lambda(r) { return r.text(); });",
    );
    check(
        "fetch(u).then(function (r) { return r.json() }).catch(e => {})",
        "do fetch(u).then(lambda(r) { return r.json(); }).catch(lambda(e) {  });",
    );
    check("a?.b()", "do a.b();");
    check("f()?.b?.c(x)", "do parts(f()).c(x);");
    check(
        "Buffer.from(x, 'base64').toString()",
        "do Buffer.from(x, \"base64\").toString();",
    );
    check(
        "'a'.split('').reverse().join('')",
        "do \"a\".split(\"\").reverse().join(\"\");",
    );
    check("new Foo(x).run(y)", "do Foo(x).run(y);");
}

#[test]
fn objects_as_arguments_are_named_arguments() {
    check(
        "fetch(url, {method: 'POST', body: x})",
        "do fetch(url, method: \"POST\", body: x);",
    );
    check(
        "f({a: {b: 1}, ...c, [k]: 2, m() { g() }}, d)",
        "do f(d, a: parts(\"b\", 1), parts(c), parts(k, 2), m: lambda() { do g(); });",
    );
    check(
        "f(...args, [1, ...b], {x})",
        "do f(parts(args), [1, parts(b)], x: x);",
    );
}

#[test]
fn texts_are_joined() {
    check(
        "f(`a${b}c${d()}`, `x`)",
        "do f(join(\"a\", b, \"c\", d()), \"x\");",
    );
    check("f('\\x41' + b + 1)", "do f(join(\"A\", b, 1));");
    check("$`rm ${x}`", "do $(join(\"rm \", x));");
    check("x += y; z ||= w", "x = join(x, y); z = parts(z, w);");
    check(
        "f(a - b, !c, typeof d, a || b || c, a ? b : c)",
        "do f(parts(a, b), parts(c), parts(d), parts(a, b, c), parts(a, b, c));",
    );
}

#[test]
fn bindings_take_values_apart() {
    check(
        "const [a, b] = [1, x], {c} = f(), {d, e: [g]} = h()",
        "a = 1; b = x; c = f(); @34 = h(); d = @34; g = @34;",
    );
    check("[a, b.c] = [1, 2]; ({d} = e)", "a = 1; b.c = 2; d = e.d;");
    check(
        "const c = {url: u(), run(x) { g(x) }}; f(c.url)",
        "c.url = u(); fn run(x) { do g(x); } c = parts(\"url\", c.url, \"run\", c.run); do f(c.url);",
    );
    check(
        "const f = x => g(x); exports.h = function (y) { return y }",
        "fn f(x) { return g(x); } fn h(y) { return y; }",
    );
    check(
        "module.exports = {a: 1}",
        "module.exports.a = 1; module.exports = parts(\"a\", 1);",
    );
    check("f(a = b)", "a = b; do f(b);");
    check("o[k] = v", "o = parts(o, k, v);");
}

#[test]
fn functions_that_are_called_where_they_stand_run_there() {
    check("(function () { f() })()", "block() { do f(); }");
    check(
        "(async () => { await f() })().catch(g)",
        "block() { do f(); } do _.catch(g);",
    );
    check("!function (a) { f(a) }(x)", "a = x; block() { do f(x); }");
    check("(function () { f() }).call(this)", "block() { do f(); }");
    check("const x = (() => g())()", "x = g();");
    check(
        "const x = (() => { if (a) return b; return c })()",
        "block() { block(a) { @10 = b; } @10 = c; } x = @10;",
    );
}

#[test]
fn statements_become_blocks_and_functions() {
    check(
        "if (a) b(); else if (c) d(); else e()",
        "block(a) { do b(); block(c) { do d(); } do e(); }",
    );
    check(
        "for (let i = 0; i < n; i++) f(i)",
        "i = 0; block(parts(i, n)) { do f(i); }",
    );
    check(
        "for (const [k, v] of Object.entries(process.env)) f(k)",
        "block(Object.entries(process.env)) { @11 = Object.entries(process.env); k = @11; v = @11; do f(k); }",
    );
    check(
        "for (x in y) f(x); while (a) b(); do c(); while (d)",
        "block(y) { x = y; do f(x); } block(a) { do b(); } block(d) { do c(); }",
    );
    check(
        "try { a() } catch (e) { b(e) } finally { c() }",
        "block() { do a(); do b(e); do c(); }",
    );
    check(
        "switch (f()) { case g(): a(); break; default: b() }",
        "block(f()) { do g(); do a(); do b(); }",
    );
    check(
        "function f(a, {b, c}, d = 1, ...e) { return a }",
        "fn f(a, @14, d, e) { b = @14; c = @14; d = 1; return a; }",
    );
    check("function* g() { yield x }", "fn g() { return x; }");
    check(
        "class A extends B { p = f(); #q = 1; constructor(x) { super(x) } get y() { return this.p } static { g() } }",
        "this.p = f(); this.q = 1; fn constructor(x) { do super(x); } fn y() { return this.p; } block() { do g(); }",
    );
    check(
        "export default function () { f() } export const a = 1; export {a as b}",
        "fn default() { do f(); } a = 1;",
    );
    check(
        "export default {a: f()}",
        "exports.default = parts(\"a\", f());",
    );
    check(
        "throw new E(x); 'bare'; a(), b()",
        "do E(x); do \"bare\"; do a(); do b();",
    );
    check("'doc'; 'use strict'", "do \"doc\";");
    check("return f(x)", "return f(x);");
    check(
        "x = <a href={u} {...p}>hi {f(y)}<b/></a>",
        "x = parts(\"href\", u, p, \"hi \", f(y), parts());",
    );
    check_ts(
        "enum E { A = 'x' } namespace N { f<string>(E.A!) } abstract class C { constructor(private x: number) { } }",
        "E.A = \"x\"; do f(E.A); fn constructor(x) {  }",
    );
}

#[test]
fn positions_are_byte_offsets() {
    let program = javascript("'ä'; x = f('ü', y)", ScriptDialect::JavaScript);
    let Some(Stmt::Let {
        at: 6,
        value: Expr::Call(call),
        ..
    }) = program.body.get(1)
    else {
        panic!("{program:?}")
    };
    assert_eq!((call.at, call.end), (10, 20));
    assert_eq!(
        call.args.first().map(|arg| &arg.value),
        Some(&Expr::Text("ü".to_owned(), 12))
    );
}

#[test]
fn the_readable_part_of_a_broken_file_is_lowered() {
    check(
        "const a = ;\nconst e = eval; e(x)",
        "broken! e = eval; do eval(x);",
    );
    check("f(1)\n%%%\ng(2)", "broken! do f(1); do g(2);");
    check("eval('a'\n", "broken! do eval(\"a\");");
    check("let x: string = f(y)", "x = f(y);");
    check("with (a) { b(c) }", "block(a) { do b(c); }");
}

fn deep(before: &str, after: &str, count: usize) -> LoweredProgram {
    let text = format!("{}x{}", before.repeat(count), after.repeat(count));
    drop(javascript(&text, ScriptDialect::TypeScript));
    javascript(&text, ScriptDialect::JavaScript)
}

#[test]
fn implausibly_deep_nesting_is_not_parsed() {
    for (before, after) in [
        ("(", ")"),
        ("[", "]"),
        ("!", ""),
        ("a=", ""),
        ("if(a)", ""),
        ("if(a);else ", ""),
    ] {
        assert!(deep(before, after, 10_000).cut, "{before}");
    }
    // Templates take the most stack. Where the count is wrong (`a++ /` begins no regular expression), there is enough of it.
    drop(deep("`${", "}`", 7_900));
    drop(deep("a++ /`${", "}`", 7_900));
    let hidden = format!("a++ /{}x{}", "`${".repeat(100_000), "}`".repeat(100_000));
    drop(javascript(&hidden, ScriptDialect::JavaScript));
    // Adjacent brackets are not nested.
    for text in [
        "function f(){}",
        "if(a){b=c}",
        "const a = b\n",
        "let a=!b;",
        "f(a,b)\n",
        "x.y={a:1,b:{c:[]}};",
        "a?b:c;",
        "if(a){}else if(b){}else{}\n",
        "<p/>;",
        "export default class A{}\n",
    ] {
        assert!(
            !javascript(&text.repeat(10_000), ScriptDialect::JavaScript).cut,
            "{text}"
        );
    }
}

#[test]
fn nesting_has_an_end() {
    for (before, after) in [
        ("(", ")"),
        ("[", "]"),
        ("a(", ")"),
        ("({a:", "})"),
        ("!", ""),
        ("a=>", ""),
        ("a?b:", ""),
        ("", "()"),
        ("", "[0]"),
        ("", ".a()"),
        ("a**", ""),
        ("await ", ""),
        ("new ", ""),
        ("if(a)", ""),
        ("if(a);else ", ""),
        ("{", "}"),
        ("`${", "}`"),
        ("a=", ""),
        ("<a>", "</a>"),
        ("(()=>{", "})()"),
        ("class A{static{", "}}"),
        ("a:", ""),
        ("(a=", ")=>a"),
        ("function f(){", "}"),
        ("a<", ""),
        ("a,", ""),
        ("...", ""),
        ("let x:A<", ">"),
        ("x as ", ""),
        ("f(function(){", "})"),
        ("@a(", ")"),
        ("do ", ""),
        ("typeof ", ""),
    ] {
        drop(deep(before, after, 2_000));
    }
    assert_eq!(deep("(", ")", 5_000).broken, None);
    assert!(deep("[", "]", 10_000).broken.is_some());
    let chain = javascript(
        &format!("x = {}a", "a+".repeat(100_000)),
        ScriptDialect::JavaScript,
    );
    let Some(Stmt::Let {
        value: Expr::Join(parts),
        ..
    }) = chain.body.first()
    else {
        panic!("no join")
    };
    assert_eq!(parts.len(), 100_001);
    assert_eq!(
        javascript(
            &format!("x = {}a", "a+a-".repeat(50_000)),
            ScriptDialect::JavaScript
        )
        .broken,
        None
    );
    assert_eq!(
        javascript(
            &format!("x{}", ".a".repeat(50_000)),
            ScriptDialect::JavaScript
        )
        .broken,
        None
    );
}

proptest! {
    #[test]
    fn any_text_is_lowered(text in any::<String>()) {
        for dialect in [ScriptDialect::JavaScript, ScriptDialect::TypeScript, ScriptDialect::Tsx] {
            prop_assert!(is_inside(&javascript(&text, dialect), &text));
        }
    }

    #[test]
    fn any_tokens_are_lowered(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        for (text, dialect) in [(tokens.concat(), ScriptDialect::JavaScript), (tokens.join(" "), ScriptDialect::TypeScript)] {
            prop_assert!(is_inside(&javascript(&text, dialect), &text));
        }
    }
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    "eval",
    "require",
    "process",
    "window",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "?.",
    "=",
    "+",
    "-",
    "=>",
    "...",
    ";",
    "\n",
    "function ",
    "class A ",
    "async ",
    "await ",
    "import ",
    "from ",
    "export ",
    "default ",
    "as ",
    "if",
    "else ",
    "for",
    "of ",
    "in ",
    "while",
    "try",
    "catch",
    "switch",
    "case ",
    "return ",
    "yield ",
    "new ",
    "typeof ",
    "'s'",
    "`",
    "${",
    "'",
    "/",
    "/*",
    "*/",
    "//",
    "<a>",
    "</a>",
    "<",
    ">",
    "1",
    "#x",
    "@",
    "!",
    "?",
    "const ",
    "let ",
    "static",
    "call",
    "apply",
    "constructor",
    "é",
    "\u{0}",
    "\\u{41}",
    "delete ",
    "'fs'",
    "|",
    "&",
];

#[test]
fn what_would_be_read_again_and_again_is_not_parsed() {
    for unit in [
        "a=(",
        "(a,b=(",
        "({a:(",
        "(a=/[)]/,",
        "async(a=(",
        "f(`${(a=(",
    ] {
        let program = javascript(&unit.repeat(7_000), ScriptDialect::JavaScript);
        assert!(program.cut, "{unit}");
    }
    // Code by people and bundlers is far below the limit.
    for unit in [
        "(function(){var a=(b,c);if((a=d)&&(b=f(c)))return g({h:(i,j)})})();",
        "const f=async({a,b=(c||1)})=>{await (d=(e));return (x=>(y=>(z=>({x,y,z}))))};\n",
        "x=(a)/2+(b)/3;s=s.replace(/[)(\"`]/g,'(');t=`(${a(`)${b}`)}`;\n",
    ] {
        let program = javascript(&unit.repeat(1_000), ScriptDialect::JavaScript);
        assert!(!program.cut, "{unit}");
    }
}
