//! The common form of Python.

use proptest::prelude::*;

use super::python;
use crate::form::{Expr, Stmt};
use crate::lower::print::{self, is_inside};

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(
        print::program(&python(source)),
        expected,
        "\nsource: {source}"
    );
}

#[test]
fn imported_names_are_spelt_out() {
    check("import os as o\no.system(x)", "do os.system(x);");
    check("import os.path as p\np.join(a)", "do os.path.join(a);");
    check(
        "import urllib.request\nurllib.request.urlopen(u)",
        "do urllib.request.urlopen(u);",
    );
    check("from os import system as s\ns(x)", "do os.system(x);");
    check("from .util import run\nrun(x)", "do util.run(x);");
    check(
        "from os import *\nsystem(x); helper(y)",
        "do os.system(x); do helper(y);",
    );
    check("from builtins import exec as e\ne(x)", "do exec(x);");
    check(
        "def f(x):\n  s(x)\nfrom os import system as s",
        "fn f(x) { do os.system(x); }",
    );
    check(
        "def f(x):\n  s(x)\ns = os.system",
        "fn f(x) { do os.system(x); } s = os.system;",
    );
}

#[test]
fn detours_to_a_name_are_undone() {
    check("__import__('os').system(x)", "do os.system(x);");
    check(
        "import importlib\nimportlib.import_module('subprocess').run(x)",
        "do subprocess.run(x);",
    );
    check(
        "from importlib import import_module as m\nm('os.path').join(x)",
        "do os.path.join(x);",
    );
    check("import os\ngetattr(os, 'sys'+'tem')(x)", "do os.system(x);");
    check(
        "k = 'sys' + 'tem'\ngetattr(__import__('os'), k)(x)",
        "k = join(\"sys\", \"tem\"); do os.system(x);",
    );
    check("globals()['ev'+'al'](x)", "do eval(x);");
    check("globals()['__builtins__']['eval'](x)", "do eval(x);");
    check("globals().get('exec')(x)", "do exec(x);");
    check("import builtins\nbuiltins.exec(x)", "do exec(x);");
    check("__builtins__.__dict__['eval'](x)", "do eval(x);");
    check("vars(os)['system'](x)", "do os.system(x);");
    check("os.__dict__['system'](x)", "do os.system(x);");
    check("os.__getattribute__('system')(x)", "do os.system(x);");
    check(
        "import sys\nsys.modules['os'].system(x)",
        "do os.system(x);",
    );
    check("eval.__call__(x)", "do eval(x);");
    check("e = eval\ne(x)", "e = eval; do eval(x);");
    check("a, b = eval, exec\nb(x)", "a = eval; b = exec; do exec(x);");
    check(
        "self.run = os.system\nself.run(x)",
        "self.run = os.system; do os.system(x);",
    );
    check("(lambda f: f(x))(eval)", "f = eval; do eval(x);");
}

#[test]
fn what_is_not_known_stays_visible() {
    check("getattr(os, name)(x)", "do <getattr(os, name)>(x);");
    check("e = eval\ne = print\ne(x)", "e = eval; e = print; do e(x);");
    check(
        "def f(os):\n  os.system(x)",
        "fn f(os) { do os.system(x); }",
    );
    check(
        "import json as j\ndef f(j):\n  j.loads(x)",
        "fn f(j) { do j.loads(x); }",
    );
    check(
        "try:\n  import requests as r\nexcept ImportError:\n  r = None\nr.get(u)",
        "block() { r = _; } do requests.get(u);",
    );
    check("f(a)(b)", "do <f(a)>(b);");
    check("table[key](b)", "do <parts(table, key)>(b);");
}

#[test]
fn entries_with_a_known_key_are_names() {
    check("os.environ['X']", "do os.environ.X;");
    check("os.environ.get('X')", "do os.environ.get(\"X\");");
    check("f(sys.argv[1], g()[0])", "do f(sys.argv.1, parts(g(), 0));");
    check(
        "t = ['os', 'system']\ngetattr(__import__(t[0]), t[1])(x)",
        "t = [\"os\", \"system\"]; do os.system(x);",
    );
    check("os.getenv('X')", "do os.getenv(\"X\");");
    check("os.environ['X'] = 'y'", "os.environ.X = \"y\";");
    check("d[k] = v", "d = parts(d, k, v);");
    check("a.b = c()", "a.b = c();");
    check(
        "c = {'url': u(), 'n': 1}\nget(c['url'])",
        "c.url = u(); c.n = 1; c = parts(\"url\", c.url, \"n\", 1); do get(c.url);",
    );
}

#[test]
fn methods_of_values_keep_the_value() {
    check("open(p).read()", "do open(p).read();");
    check(
        "base64.b64decode(x).decode()",
        "do base64.b64decode(x).decode();",
    );
    check(
        "requests.Session().post(u, json=d)",
        "do requests.Session().post(u, json: d);",
    );
    check(
        "requests.get(u).text.strip()",
        "do parts(requests.get(u)).strip();",
    );
    check("session.post(u)", "do session.post(u);");
    check("'{}'.format(x)", "do \"{}\".format(x);");
    check("'abc'[::-1]", "do \"abc\".reverse();");
}

#[test]
fn a_method_of_a_path_names_its_owner() {
    let program = python("a.b.c(x)");
    let Some(Stmt::Do(Expr::Call(call))) = program.body.first() else {
        panic!("{program:?}")
    };
    assert_eq!(call.on, Some(Expr::Name("a.b".to_owned(), 0)));
    assert_eq!((call.at, call.end), (0, 8));
}

#[test]
fn positions_are_byte_offsets() {
    let program = python("ä = 1\nx = f('ü', y)");
    let Some(Stmt::Let {
        at: 7,
        value: Expr::Call(call),
        ..
    }) = program.body.get(1)
    else {
        panic!("{program:?}")
    };
    assert_eq!((call.at, call.end), (11, 21));
    assert_eq!(
        call.args.first().map(|arg| &arg.value),
        Some(&Expr::Text("ü".to_owned(), 13))
    );
}

#[test]
fn arguments_keep_their_keywords() {
    check("f(1, *a, k=2, **kw)", "do f(1, parts(a), k: 2, parts(kw));");
    check("f(**{'shell': True, 'x': 1})", "do f(shell: _, x: 1);");
    check(
        "f([1, 2], (a,), {'k': v}, {s})",
        "do f([1, 2], [a], parts(\"k\", v), parts(s));",
    );
}

#[test]
fn texts_are_joined() {
    check(r#"f("a" "b\x41")"#, "do f(\"abA\");");
    check(
        "f(f'x{y.z}w{g(1)!r:>{n}}')",
        "do f(join(\"x\", y.z, \"w\", g(1), \">\", n));",
    );
    check(
        "f('a' + b + 'c' + d())",
        "do f(join(\"a\", b, \"c\", d()));",
    );
    check("f('%s-%s' % (a, b))", "do f(join(\"%s-%s\", a, b));");
    check("f('%s' % a)", "do f(join(\"%s\", a));");
    check(
        "f(i % 2, a - b * c)",
        "do f(parts(i, 2), parts(a, parts(b, c)));",
    );
    check("f(b'\\xffA', -3)", "do f(\"\u{fffd}A\", -3);");
    check("x += y", "x = join(x, y);");
    check("x -= y", "x = parts(x, y);");
    check(
        "f(a if b else c, not d, e and g, h < i)",
        "do f(parts(a, b, c), parts(d), parts(e, g), parts(h, i));",
    );
}

#[test]
fn bindings_take_values_apart() {
    check("a = b = f()", "@0 = f(); a = @0; b = @0;");
    check("(a, b) = c", "a = c; b = c;");
    check("a, *b = f()", "@0 = f(); a = @0; b = @0;");
    check(
        "if (n := f()) > 1: g(n)",
        "n = f(); block(parts(n, 1)) { do g(n); }",
    );
    check("x: int = 3\ny: str", "x = 3;");
    check("f = lambda x: x + 1", "fn f(x) { return join(x, 1); }");
    check(
        "map(lambda x: g(x), y)",
        "do map(lambda(x) { return g(x); }, y);",
    );
    check("[g(x) for x in y if x]", "x = y; do parts(g(x), x);");
    check(
        "z = {k: v for k, v in os.environ.items()}",
        "@14 = os.environ.items(); k = @14; v = @14; z = parts(k, v);",
    );
}

#[test]
fn statements_become_blocks_and_functions() {
    check(
        "with open(p) as f:\n  f.read()",
        "block() { f = open(p); do f.read(); }",
    );
    check(
        "for x in y():\n  g(x)\nelse:\n  h()",
        "block(y()) { x = y(); do g(x); do h(); }",
    );
    check("while a:\n  b()", "block(a) { do b(); }");
    check(
        "if a:\n  b()\nelif c:\n  d()\nelse:\n  e()",
        "block(a) { do b(); block(c) { do d(); } do e(); }",
    );
    check(
        "if __name__ == '__main__':\n  main()",
        "block(parts(__name__, \"__main__\")) { do main(); }",
    );
    check(
        "try:\n  a()\nexcept E as e:\n  b(e)\nelse:\n  c()\nfinally:\n  d()",
        "block() { do a(); do b(e); do c(); do d(); }",
    );
    check(
        "match f():\n  case [x, *r] if x:\n    g(x)\n  case _:\n    h()",
        "block(f()) { r = f(); x = f(); block(x) { do g(x); } do h(); }",
    );
    check(
        "@app.route('/x')\ndef f(a, b=os.sep, *c, d=1, **e):\n  return a",
        "do app.route(\"/x\"); fn f(a, b, *c, d, e) { b = os.sep; d = 1; return a; }",
    );
    check(
        "class A(B):\n  x = f()\n  def m(self):\n    yield self.x",
        "x = f(); fn m(self) { return self.x; }",
    );
    check(
        "async def f():\n  r = await g()\n  async with h() as s: pass",
        "fn f() { r = g(); block() { s = h(); } }",
    );
    check(
        "del a\nraise E(x)\nassert b, 'c'",
        "do a; do E(x); do b; do \"c\";",
    );
    check("'''doc'''\n'bare'", "do \"doc\"; do \"bare\";");
}

#[test]
fn the_readable_part_of_a_broken_file_is_lowered() {
    check("x = (\nos.system('id')\n", "broken! x = os.system(\"id\");");
    check(
        "def f(:\n  pass\nos.system('id')",
        "broken! fn f() {  } do os.system(\"id\");",
    );
    check(
        "print 'a'\nexec 'b'",
        "broken! do print; do \"a\"; do exec; do \"b\";",
    );
}

#[test]
fn nesting_has_an_end() {
    let deep = |before: &str, after: &str, count: usize| {
        python(&format!("{}x{}", before.repeat(count), after.repeat(count)))
    };
    for (before, after) in [
        ("(", ")"),
        ("[", "]"),
        ("a(", ")"),
        ("{1:", "}"),
        ("not ", ""),
        ("-", ""),
        ("lambda: ", ""),
        ("a if b else ", ""),
        ("", "()"),
        ("", "[0]"),
        ("", ".a()"),
        ("a**", ""),
        ("await ", ""),
        ("(yield ", ")"),
        ("[a for b in ", "]"),
        ("f(lambda: ", ")"),
        ("*", ""),
        ("a[", "]"),
    ] {
        drop(deep(before, after, 10_000));
    }
    assert_eq!(deep("(", ")", 5_000).broken, None);
    assert!(deep("(", ")", 10_000).cut && deep("[", "]", 10_000).cut);
    assert!(deep("[", "]", 10_000).broken.is_some());
    assert!(deep("f'{", "}'", 2_000).broken.is_some());
    let blocks: String = (0..500)
        .map(|depth| format!("{}if a:\n", " ".repeat(depth)))
        .collect();
    assert!(python(&blocks).broken.is_some());
    let chain = python(&"a+".repeat(100_000));
    let Some(Stmt::Do(Expr::Join(parts))) = chain.body.first() else {
        panic!("no join")
    };
    assert!(parts.len() >= 100_000);
    assert_eq!(
        python(&format!("x = {}a", "a+a-".repeat(50_000))).broken,
        None
    );
    assert_eq!(python(&format!("x{}", ".a".repeat(50_000))).broken, None);
}

proptest! {
    #[test]
    fn any_text_is_lowered(text in any::<String>()) {
        prop_assert!(is_inside(&python(&text), &text));
    }

    #[test]
    fn any_tokens_are_lowered(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        for text in [tokens.concat(), tokens.join(" ")] {
            prop_assert!(is_inside(&python(&text), &text));
        }
    }
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    "os",
    "eval",
    "getattr",
    "globals",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "=",
    "+",
    "-",
    "%",
    "*",
    "**",
    ":=",
    "\n",
    "\n  ",
    "\n    ",
    "def f",
    "class A",
    "lambda",
    "import",
    "from",
    "as",
    "if",
    "else",
    "elif",
    "for",
    "in",
    "with",
    "try",
    "except",
    "finally",
    "match",
    "case",
    "return",
    "yield",
    "await",
    "async",
    "not",
    "and",
    "'s'",
    "f'{",
    "}'",
    "'",
    "\"\"\"",
    "b'\\xff'",
    "1",
    "-1",
    "::",
    "@",
    "~",
    "__import__",
    "'os'",
    "del",
    "raise",
    "global",
    "\\",
    "#",
    ";",
    "é",
    "\u{0}",
    "\t",
];

#[test]
fn what_nests_to_the_right_has_an_end() {
    for piece in [
        "not ",
        "- ",
        "lambda: ",
        "lambda a: ",
        "a if b else ",
        "a ** ",
        "await ",
        "not\n",
    ] {
        let text = format!("x = ({}y)", piece.repeat(30_000));
        assert!(python(&text).cut, "{piece}");
    }
    for piece in [
        "x = not y\n",
        "x = -a if b else +c\n",
        "f(**k)\n",
        "# ----\n",
        "x = {'a': lambda: 1}\n",
        "\"\"\"not not\"\"\"\n",
    ] {
        assert!(!python(&piece.repeat(8_000)).cut, "{piece}");
    }
}
