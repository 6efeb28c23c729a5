//! Loading a skill: its contributions, the files that `load` finds, and the errors.

use serde_json::json;

use crate::session::Session;

/// The error of loading this.
fn complaint(session: Session) -> String {
    session.run().complaint().to_owned()
}

#[test]
fn a_skill_declares_what_it_contributes() {
    let transcript = Session::new(
        r#"
def handler(input):
    return None

register_tool("greet", "Greets someone.", handler, input_schema = {"type": "object", "required": ["who"]})
register_tool("bare", "", lambda input: 1)
register_hook("activate", handler)
register_hook("before_tool_call", handler, fail_closed = True)
register_workflow("release", handler, description = "Makes a release.")
register_scanner("secrets", handler)
"#,
    )
    .run();
    assert_eq!(
        *transcript.result(),
        json!({
            "tools": [
                {"name": "greet", "description": "Greets someone.", "input_schema": {"type": "object", "required": ["who"]}},
                {"name": "bare", "description": "", "input_schema": {"type": "object"}},
            ],
            "hooks": ["activate", {"phase": "before_tool_call", "fail_closed": true}],
            "workflows": [{"name": "release", "description": "Makes a release."}],
            "scanners": [{"name": "secrets"}],
        })
    );
}

#[test]
fn an_empty_skill_contributes_nothing() {
    let nothing = json!({"tools": [], "hooks": [], "workflows": [], "scanners": []});
    assert_eq!(*Session::new("").run().result(), nothing);
}

#[test]
fn mistakes_say_where_and_what_to_write() {
    let cases = [
        (
            "x = (",
            "skill.star:1:6: Parse error: unexpected new line, expected expression",
        ),
        ("x = y", "skill.star:1:5: Variable `y` not found"),
        ("\nfail(\"no\", 1)", "skill.star:2:1: no 1"),
        (
            "register_tool(\"t\", \"d\", \"f\")",
            "skill.star:1:1: register_tool: handler must be a function, got string",
        ),
        (
            "register_tool(\"a b\", \"d\", print)",
            "skill.star:1:1: register_tool: name must be 1 to 64 letters, digits, `_` or `-`, got `a b`",
        ),
        (
            "register_tool(7, \"d\", print)",
            "skill.star:1:1: register_tool: name must be a string, got int",
        ),
        (
            "register_tool(\"t\", \"d\", print, [])",
            "skill.star:1:1: register_tool: input_schema must be a dict or None, got list",
        ),
        (
            "register_tool(\"t\", \"d\", print, {1: 2})",
            "skill.star:1:1: register_tool: a key must be a string to become JSON, got int `1`",
        ),
        (
            "register_hook(\"later\", print)",
            "skill.star:1:1: register_hook: `later` is not a phase; the phases are activate, deactivate,",
        ),
        (
            "register_hook(\"activate\", print, 1)",
            "skill.star:1:1: register_hook: fail_closed must be True or False, got int",
        ),
        (
            "register_scanner(\"s\")",
            "skill.star:1:1: Missing parameter `handler` for call to `register_scanner`",
        ),
        (
            "cancel(\"x\")",
            "skill.star:1:1: cancel: only the handler of a hook can cancel; use fail() to end with an error",
        ),
        (
            "register_tool(\"t\", \"\", print)\nregister_tool(\"t\", \"\", print)",
            "skill.star:2:1: register_tool: tool t is already registered",
        ),
    ];
    for (source, expected) in cases {
        let said = complaint(Session::new(source));
        assert!(
            said.starts_with(expected) && !said.contains('\n'),
            "{source}\n  {said}\n  {expected}"
        );
    }
}

#[test]
fn an_error_names_the_calls_that_led_to_it() {
    let session = Session::new(
        r#"
load("lib/x.star", "inner")

def outer(input):
    return inner(input)

register_tool("t", "", outer)
"#,
    )
    .file(
        "lib/x.star",
        "def inner(input):\n    who = input[\"who\"]\n    return who\n",
    )
    .tool("t", json!({}));
    assert_eq!(
        session.run().complaint(),
        "lib/x.star:2:11: Key `\"who\"` was not found\n  in inner, called at skill.star:5:12\n  in outer"
    );
}

#[test]
fn load_finds_the_skills_own_files() {
    let session = Session::new(
        r#"
load("lib/x.star", "f", g = "f")
load("//lib/y.star", "z")
register_tool("t", "", lambda input: [f(1), g(2), z, skill.name])
"#,
    )
    .file(
        "lib/x.star",
        "load(\"lib/y.star\", \"z\")\ndef f(x):\n    return [x, z, skill.name]\n",
    )
    .file("lib/y.star", "z = 7\n")
    .tool("t", json!({}));
    assert_eq!(
        *session.run().output(),
        json!([[1, 7, "greeter"], [2, 7, "greeter"], 7, "greeter"])
    );
}

// case 142
#[test]
fn load_finds_nothing_else() {
    let outside = "skill.star:1:1: load: `PATH` must be a path below the skill's folder, such as `lib/x.star`: without `..`, `.`, `\\` and `:`";
    for path in [
        "../x.star",
        "/etc/passwd",
        "lib/../../x.star",
        "./x.star",
        "lib//x.star",
        "///x.star",
        "c:x.star",
        "lib:x.star",
        "",
        "//",
    ] {
        let source = format!("load(\"{path}\", \"f\")");
        let said = complaint(Session::new(&source).file("lib/x.star", "f = 1"));
        assert!(said.starts_with(&outside.replace("PATH", path)), "{said}");
    }
    assert!(
        complaint(Session::new("load(\"lib/y.star\", \"f\")").file("lib/x.star", "f = 1"))
            .starts_with("skill.star:1:1: load: there is no `lib/y.star` in this skill; it has lib/x.star, skill.star")
    );
    let private = complaint(Session::new("load(\"x.star\", \"_f\")").file("x.star", "_f = 1"));
    assert!(private.starts_with("skill.star:1:16: "), "{private}");
    // A name that a file loaded is not one that it exports.
    let again = complaint(
        Session::new("load(\"x.star\", \"name\")")
            .file("x.star", "load(\"y.star\", \"name\")")
            .file("y.star", "name = 1"),
    );
    assert!(again.starts_with("skill.star:1:16: "), "{again}");
    assert!(again.contains("`name`"), "{again}");
}

#[test]
fn files_that_load_each_other_in_a_circle_are_reported() {
    let session = Session::new("load(\"a.star\", \"x\")")
        .file("a.star", "load(\"b.star\", \"x\")")
        .file("b.star", "\nload(\"//a.star\", \"x\")");
    assert!(
        complaint(session)
            .starts_with("b.star:2:1: load: `a.star` loads itself: a.star → b.star → a.star")
    );
    let itself = Session::new("load(\"skill.star\", \"x\")");
    assert!(
        complaint(itself).starts_with(
            "skill.star:1:1: load: `skill.star` loads itself: skill.star → skill.star"
        )
    );
    let mut long = Session::new("load(\"f0.star\", \"x\")");
    for n in 0..100 {
        long = long.file(
            &format!("f{n}.star"),
            &format!("load(\"f{}.star\", \"x\")", n + 1),
        );
    }
    assert!(complaint(long).contains("a chain of more than 32 files"));
}

#[test]
fn only_the_entrypoint_registers_and_only_while_it_is_loaded() {
    let library = Session::new("load(\"x.star\", \"f\")").file(
        "x.star",
        "f = 1\nregister_tool(\"t\", \"\", lambda input: 1)",
    );
    assert!(complaint(library).starts_with(
        "x.star:2:1: register_tool: only the entrypoint can register; put this into a function and call that from there"
    ));
    let function = Session::new("load(\"x.star\", \"f\")\nf()").file(
        "x.star",
        "def f():\n    register_tool(\"t\", \"\", lambda input: 1)",
    );
    assert_eq!(function.run().result()["tools"][0]["name"], "t");
    for register in [
        "register_tool(\"u\", \"\", t)",
        "register_hook(\"activate\", t)",
        "register_workflow(\"u\", t)",
        "register_scanner(\"u\", t)",
    ] {
        let said = crate::session::body(register).run().complaint().to_owned();
        let name = register.split('(').next().unwrap();
        assert!(
            said.starts_with(&format!(
                "skill.star:2:5: {name}: a skill registers while it is loaded, not in a handler"
            )),
            "{said}"
        );
    }
}

#[test]
fn the_module_is_frozen_and_calls_leave_nothing_behind() {
    let session = Session::new(
        r#"
seen = []
def t(input):
    seen.append(1)
register_tool("t", "", t)
"#,
    )
    .tool("t", json!({}));
    let said = session.run().complaint().to_owned();
    assert!(said.starts_with("skill.star:4:5: Immutable"), "{said}");
}

#[test]
fn a_second_initialize_starts_again() {
    let first = json!({"protocol": 1, "skill": "a", "directory": "", "entrypoint": "a.star",
        "sources": {"a.star": "x = 1\nregister_tool(\"t\", \"\", lambda input: x)"}});
    let second = json!({"protocol": 1, "skill": "b", "directory": "", "entrypoint": "b.star",
        "sources": {"b.star": "register_tool(\"t\", \"\", lambda input: x)"}});
    let transcript = Session::new("")
        .call("initialize", first)
        .call("initialize", second)
        .tool("t", json!({}))
        .run_as_is();
    assert!(
        transcript.answers[1]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Variable `x` not found")
    );
    assert_eq!(transcript.answers[2]["result"]["output"], 1);
}

#[test]
fn missing_parts_of_initialize_are_reported() {
    let with = |params: serde_json::Value| Session::new("").call("initialize", params).run_as_is();
    let none = with(json!({"protocol": 1, "skill": "a", "directory": ""}));
    assert_eq!(
        (none.code(), none.complaint()),
        (-32602, "`entrypoint` is missing")
    );
    let absent =
        with(json!({"protocol": 1, "skill": "a", "directory": "", "entrypoint": "x.star"}));
    assert_eq!(
        absent.complaint(),
        "the entrypoint `x.star` is not among `sources`"
    );
    let newer = with(json!({"protocol": 2, "skill": "a", "directory": "", "entrypoint": "x.star"}));
    assert_eq!(
        newer.complaint(),
        "this is version 1 of the protocol, not 2"
    );
    assert_eq!(with(json!({})).code(), -32602);
}
