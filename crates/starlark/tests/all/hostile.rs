//! Malicious code, if it can be stopped from inside. The rest is in `outside.rs`.

use metier_starlark::StarlarkLimits;
use serde_json::json;

use crate::session::{Session, body, value};

/// The error of a handler with this body.
fn complaint(code: &str) -> String {
    body(code).run().complaint().to_owned()
}

// case 142
#[test]
fn recursion_ends() {
    let deep = "too many nested calls; is there an infinite recursion?";
    let itself =
        Session::new("def f(x):\n    y = f(x)\n    return y\nregister_tool(\"t\", \"\", f)")
            .tool("t", json!(1));
    let said = itself.run().complaint().to_owned();
    assert!(
        said.starts_with(&format!(
            "skill.star:2:9: {deep}\n  in f, called at skill.star:2:9\n"
        )),
        "{said}"
    );
    assert!(said.ends_with(" more calls"), "{said}");
    let mutual = Session::new(
        "def f(x):\n    y = g(x)\n    return y\ndef g(x):\n    y = f(x)\n    return y\nregister_tool(\"t\", \"\", f)",
    )
    .tool("t", json!(1));
    assert!(mutual.run().complaint().contains(deep));
    let by_value = "def f(g):\n    x = g(g)\n    return x\nf(f)";
    assert!(Session::new(by_value).run().complaint().contains(deep));
    let sorting = "def f(x):\n    y = sorted([x], key = f)\n    return y\nf(1)";
    assert!(Session::new(sorting).run().complaint().contains(deep));
}

// case 142
#[test]
fn loops_without_an_end_end() {
    let slow = "this takes too long: more than 20000 steps (calls and iterations of loops)";
    let limits = StarlarkLimits {
        ticks: 20_000,
        ..StarlarkLimits::default()
    };
    for code in [
        "for i in range(1000000000):\n    pass",
        "for i in range(1000000000000):\n    pass",
        "x = [0 for a in range(100000) for b in range(100000)]",
        "x = any([a for a in range(1000) if [b for b in range(1000) if b == a]])",
        "x = sorted(range(30000), key = lambda x: [y for y in range(100)])",
        "x = {}\nfor a in range(1000000):\n    x[a] = a",
        "while_ = [0]\nfor a in while_ * 1000000:\n    log(\"x\")",
    ] {
        let said = body(code).limits(limits).run().complaint().to_owned();
        // The interpreter's ranges end at 32 bits.
        assert!(
            said.contains(slow)
                || said.contains("Integer overflow")
                || said.contains("of type `int"),
            "{code}: {said}"
        );
    }
}

// case 142
#[test]
fn what_grows_step_by_step_ends() {
    let limits = StarlarkLimits {
        heap: 1 << 20,
        ..StarlarkLimits::default()
    };
    let big = "this takes too much memory: more than 1048576 bytes, here or shortly before";
    for code in [
        "x = []\nfor i in range(10000000):\n    x.append(str(i))",
        "x = None\nfor i in range(10000000):\n    x = (x, i)",
        "x = {}\nfor i in range(10000000):\n    x[str(i)] = i",
        "x = [str(i) for i in range(10000000)]",
    ] {
        let said = body(code).limits(limits).run().complaint().to_owned();
        assert!(said.contains(big), "{code}: {said}");
    }
}

// case 142
#[test]
fn a_source_that_is_too_deep_is_not_parsed() {
    for source in [
        format!("x = {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("x = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("x = 1{}", " + 1".repeat(100_000)),
        format!("x = {}True", "not ".repeat(100_000)),
        format!("x = f{}", "()".repeat(100_000)),
    ] {
        let said = Session::new(&source).run().complaint().to_owned();
        assert_eq!(
            said,
            "skill.star:1: the expression is nested too deep or too long; give its parts names"
        );
    }
}

/// The interpreter can handle everything that the guard accepts.
#[test]
fn a_source_that_is_just_not_too_deep_is() {
    // Frames are ten times as large without optimisation.
    let stack = if cfg!(debug_assertions) {
        32 << 20
    } else {
        4 << 20
    };
    let thread = std::thread::Builder::new().stack_size(stack).spawn(|| {
        for source in [
            format!("x = {}1{}", "(".repeat(240), ")".repeat(240)),
            format!("x = {}1{}", "[".repeat(240), "]".repeat(240)),
            format!("x = 1{}", " + 1".repeat(240)),
            format!("x = {}True", "not ".repeat(490)),
            format!("x = {}1", "-".repeat(490)),
            format!("x = {}1", "lambda: ".repeat(240)),
            format!("x = {}1{}", "(lambda: ".repeat(150), ")".repeat(150)),
            format!(
                "x = 1\nif x == 2:\n    pass\n{}",
                "elif x == 1:\n    pass\n".repeat(240)
            ),
            format!("x = {}1{}", "[x for x in ".repeat(90), "]".repeat(90)),
            format!(
                "def f():\n    return 1{}\nf()",
                " if True else 1".repeat(120)
            ),
        ] {
            let transcript = Session::new(&source).call("shutdown", json!({})).run();
            assert_eq!(*transcript.result(), json!({}), "{}", &source[..40]);
            let said = transcript.answers[0]["error"]["message"]
                .as_str()
                .unwrap_or_default();
            assert!(!said.contains("too deep"), "{said}");
        }
    });
    thread.unwrap().join().unwrap();
}

// case 142
#[test]
fn data_that_is_too_deep_or_contains_itself_is_an_error() {
    let deep = "tool `t`: returned value: the value is nested more than 120 levels deep, or contains itself";
    assert_eq!(complaint("x = []\nx.append(x)\nreturn x"), deep);
    assert_eq!(complaint("x = {}\nx[\"x\"] = [x]\nreturn x"), deep);
    assert_eq!(
        complaint("x = []\nfor i in range(1000):\n    x = [x]\nreturn x"),
        deep
    );
    assert!(
        complaint("x = []\nx.append(x)\ny = json.encode(x)")
            .contains("json.encode: the value is nested")
    );
    assert_eq!(value("[str(x) for x in [[]]]"), json!(["[]"]));
    let printed = body("x = []\nx.append(x)\nreturn str(x)").run();
    assert_eq!(*printed.output(), "[[...]]");
    let fits = body("x = []\nfor i in range(119):\n    x = [x]\nreturn x").run();
    let back = body("return input").tool("t", fits.output().clone()).run();
    assert_eq!(back.output(), fits.output());
    let text = "\"[\" * 100000";
    assert!(complaint(&format!("x = json.decode({text})")).contains("recursion limit exceeded"));
}

#[test]
fn a_million_log_lines_are_cut() {
    let limits = StarlarkLimits {
        output: 10_000,
        ..StarlarkLimits::default()
    };
    // It takes long without optimisation.
    let lines = if cfg!(debug_assertions) {
        50_000
    } else {
        1_000_000
    };
    let code = format!("for i in range({lines}):\n    log(\"x\")\nreturn 1");
    let transcript = body(&code).limits(limits).run();
    assert_eq!(transcript.asked.len(), 5_001);
    assert_eq!(
        transcript.asked[5_000].1,
        json!({"level": "warn", "message": "more than 10000 bytes in one call: the rest of the log is omitted"})
    );
    assert_eq!(*transcript.output(), 1);
}

#[test]
fn an_error_has_a_size() {
    let said = complaint("fail(\"x\" * 1000000)");
    assert!(said.len() < 5_000 && said.contains('…'), "{}", said.len());
}

// case 142
#[test]
fn there_is_no_way_out() {
    for name in [
        "open",
        "eval",
        "compile",
        "__import__",
        "globals",
        "locals",
        "input",
        "breakpoint",
        "debug",
        "pprint",
        "call_stack",
        "os",
        "sys",
        "time",
    ] {
        let said = Session::new(&format!("x = {name}"))
            .run()
            .complaint()
            .to_owned();
        assert!(
            said.starts_with(&format!("skill.star:1:5: Variable `{name}` not found")),
            "{said}"
        );
    }
}
