//! The hooks that are found among the files of a skill, and the diagnostics about invalid ones.

use super::*;

const SKILL: (&str, &str) = ("SKILL.md", "---\nname: x\ndescription: y\n---\nbody\n");

fn found(files: &[(&str, &str)]) -> SkillHooks {
    let files: Vec<HookFile<'_>> = files
        .iter()
        .map(|(path, text)| HookFile {
            path,
            text: wants_text(path).then_some(text),
        })
        .collect();
    discover(&files)
}

/// Handlers as `file#export events`, one per line.
fn handlers(files: &[(&str, &str)]) -> Vec<String> {
    let hooks = found(files);
    let line = |handler: &OpenClawHandler| {
        format!(
            "{}#{} {}",
            handler.file,
            handler.export,
            handler.events.join(",")
        )
    };
    hooks.handlers.iter().map(line).collect()
}

/// The diagnostics, as `file:line code`.
fn wrong(files: &[(&str, &str)]) -> Vec<String> {
    let hooks = found(files);
    let line = |diagnostic: &Diagnostic| {
        let line = diagnostic.position.map_or(0, |position| position.line);
        format!("{}:{line} {}", diagnostic.file, diagnostic.code)
    };
    hooks.diagnostics.iter().map(line).collect()
}

fn commands(text: &str) -> Vec<CommandHook> {
    found(&[SKILL, ("hooks/hooks.json", text)]).commands
}

#[test]
fn a_handler_of_openclaw_needs_no_description() {
    let files = [SKILL, ("hooks/openclaw/handler.ts", "")];
    assert_eq!(
        handlers(&files),
        ["hooks/openclaw/handler.ts#default agent:bootstrap"]
    );
    assert_eq!(found(&files).phases(), [HookPhase::BeforePromptBuild]);
}

#[test]
fn typescript_wins_over_javascript() {
    let files = [
        ("hooks/openclaw/handler.js", ""),
        ("hooks/openclaw/handler.ts", ""),
        ("hooks/openclaw/handler.test.js", ""),
    ];
    assert_eq!(
        handlers(&files),
        ["hooks/openclaw/handler.ts#default agent:bootstrap"]
    );
}

#[test]
fn other_folders_need_a_description_and_lie_right_below_hooks() {
    let hook = "---\nname: h\ndescription: d\nmetadata: {\"openclaw\":{\"events\":[\"command:new\"],\"export\":\"run\"}}\n---\n";
    let files = [
        ("hooks/a/handler.ts", ""),
        ("hooks/b/HOOK.md", hook),
        ("hooks/b/index.js", ""),
        ("hooks/b/deeper/HOOK.md", hook),
        ("hooks/b/deeper/handler.ts", ""),
        ("HOOK.md", hook),
        ("handler.mjs", ""),
    ];
    assert_eq!(
        handlers(&files),
        [
            "handler.mjs#run command:new",
            "hooks/b/index.js#run command:new"
        ]
    );
}

#[test]
fn requirements_of_a_hook_are_read_like_those_of_a_skill() {
    let hook = "---\nname: h\ndescription: d\nmetadata:\n  openclaw:\n    events: [agent]\n    os: [linux]\n    always: true\n    requires: {bins: [gh], env: [KEY]}\n---\n";
    let hooks = found(&[("hooks/a/HOOK.md", hook), ("hooks/a/handler.ts", "")]);
    assert_eq!(hooks.handlers[0].requirements.len(), 3);
    assert!(hooks.handlers[0].always);
    assert!(hooks.diagnostics.is_empty(), "{:?}", hooks.diagnostics);
}

#[test]
fn what_is_wrong_with_a_hook_has_a_place_and_is_never_an_error() {
    let events = |events: &str| {
        format!("---\nname: h\ndescription: d\nmetadata:\n  openclaw:\n    events: {events}\n---\n")
    };
    let cases: &[(&str, &str)] = &[
        (
            "---\nname: h\ndescription: d\n---\n",
            "hooks/a/HOOK.md:1 hook-form",
        ),
        ("no frontmatter\n", "hooks/a/HOOK.md:1 hook-form"),
        (
            &events("[agent:boot]"),
            "hooks/a/HOOK.md:6 hook-unsupported",
        ),
        (
            &events("[session:patch]"),
            "hooks/a/HOOK.md:6 hook-unsupported",
        ),
        (&events("[[a]]"), "hooks/a/HOOK.md:6 hook-form"),
    ];
    for (text, expected) in cases {
        let files = [("hooks/a/HOOK.md", *text), ("hooks/a/handler.ts", "")];
        assert_eq!(wrong(&files), [*expected], "{text}");
        assert!(handlers(&files).is_empty(), "{text}");
        let hooks = found(&files);
        assert!(
            hooks
                .diagnostics
                .iter()
                .all(|one| one.severity == DiagnosticSeverity::Warning)
        );
    }
    let alone = [("hooks/a/HOOK.md", &*events("[agent]"))];
    assert_eq!(wrong(&alone), ["hooks/a/HOOK.md:1 hook-handler-missing"]);
}

#[test]
fn an_empty_description_does_not_disable_a_handler_of_openclaw() {
    for text in ["# A hook\n", "---\nname: h\ndescription: d\n---\n", ""] {
        let files = [
            ("hooks/openclaw/HOOK.md", text),
            ("hooks/openclaw/handler.ts", ""),
        ];
        assert_eq!(
            handlers(&files),
            ["hooks/openclaw/handler.ts#default agent:bootstrap"],
            "{text}"
        );
    }
    let files = [
        ("hooks/openclaw/HOOK.md", "# A hook\n"),
        ("hooks/openclaw/handler.ts", ""),
    ];
    assert_eq!(wrong(&files), ["hooks/openclaw/HOOK.md:1 hook-form"]);
}

#[test]
fn a_plugin_names_its_hooks_in_its_manifest_too() {
    let hook = |command: &str| {
        format!(r#"{{"Stop": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}"#)
    };
    let manifest = ".claude-plugin/plugin.json";
    let inline = format!(r#"{{"name": "p", "hooks": {}}}"#, hook("inline"));
    let lines = |files: &[(&str, &str)]| -> Vec<String> {
        let hooks = found(files);
        let commands = hooks.commands.iter();
        commands.map(|hook| hook.command.to_string()).collect()
    };
    assert_eq!(lines(&[(manifest, &inline)]), ["inline"]);
    let named = r#"{"name": "p", "hooks": "./config/more.json"}"#;
    let usual = format!(r#"{{"hooks": {}}}"#, hook("usual"));
    assert_eq!(
        wrong(&[(manifest, named)]),
        [".claude-plugin/plugin.json:1 hook-form"]
    );
    assert_eq!(
        lines(&[(manifest, r#"{"name": "p"}"#), ("hooks/hooks.json", &usual)]),
        ["usual"]
    );
    assert_eq!(
        wrong(&[(manifest, "{")]),
        [".claude-plugin/plugin.json:1 hook-form"]
    );
}

#[test]
fn one_wrong_event_does_not_take_the_others_along() {
    let hook = "---\nname: h\ndescription: d\nmetadata: {openclaw: {events: [nonsense, 'agent:bootstrap']}}\n---\n";
    let files = [("hooks/a/HOOK.md", hook), ("hooks/a/handler.ts", "")];
    assert_eq!(
        handlers(&files),
        ["hooks/a/handler.ts#default agent:bootstrap"]
    );
    assert_eq!(wrong(&files), ["hooks/a/HOOK.md:4 hook-unsupported"]);
}

#[test]
fn every_event_has_its_phase_and_a_kind_has_all_of_its() {
    use HookPhase::{
        AfterResponse, AfterToolResult, BeforePromptBuild, BeforeToolCall, ConversationStart,
        Deactivate,
    };
    for (name, expected) in [
        ("agent:bootstrap", &[BeforePromptBuild][..]),
        ("agent", &[BeforePromptBuild]),
        ("command:new", &[ConversationStart]),
        ("command:reset", &[ConversationStart]),
        ("command:stop", &[Deactivate]),
        ("command", &[Deactivate, ConversationStart]),
        ("session:start", &[ConversationStart]),
        ("session:end", &[Deactivate]),
        ("gateway:startup", &[ConversationStart]),
        ("message:received", &[BeforePromptBuild]),
        ("message:sent", &[AfterResponse]),
        ("message", &[BeforePromptBuild, AfterResponse]),
        ("tool:before", &[BeforeToolCall]),
        ("tool:after", &[AfterToolResult]),
        ("tool:", &[]),
        ("agent:bootstrap:x", &[]),
        ("", &[]),
    ] {
        assert_eq!(openclaw::phases(name), expected, "{name}");
    }
}

#[test]
fn of_one_kind_a_handler_is_asked_once_in_a_phase() {
    let handler = |events: &[&str]| OpenClawHandler {
        name: "h".into(),
        file: "handler.ts".into(),
        export: "default".into(),
        events: events.iter().map(|event| (*event).into()).collect(),
        requirements: Vec::new(),
        always: false,
    };
    let raised = |events: &[&str], phase| -> Vec<String> {
        let handler = handler(events);
        let raised = handler.raised(phase);
        raised
            .iter()
            .map(|event| format!("{}:{}", event.kind, event.action))
            .collect()
    };
    let phase = HookPhase::ConversationStart;
    assert_eq!(
        raised(&["command:reset", "command:new"], phase),
        ["command:new"]
    );
    assert_eq!(raised(&["command"], phase), ["command:new"]);
    let phase = HookPhase::BeforePromptBuild;
    assert_eq!(
        raised(&["agent", "message"], phase),
        ["message:received", "agent:bootstrap"]
    );
    assert!(raised(&["agent"], HookPhase::AfterResponse).is_empty());
}

#[test]
fn commands_come_from_the_manifest_and_from_a_file() {
    let skill = "---\nname: x\ndescription: y\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./scripts/check.sh\n          timeout: 5\n          once: true\n---\n";
    let json = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let hooks = found(&[("SKILL.md", skill), ("hooks/hooks.json", json)]);
    let lines: Vec<String> = hooks
        .commands
        .iter()
        .map(|hook| {
            format!(
                "{}:{} {} {} {:?} {}",
                hook.file, hook.line, hook.event, hook.command, hook.timeout, hook.once
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "SKILL.md:8 PreToolUse ./scripts/check.sh Some(5) true",
            "hooks/hooks.json:1 Stop true None false"
        ]
    );
    assert_eq!(
        hooks.phases(),
        [HookPhase::BeforeToolCall, HookPhase::AfterResponse]
    );
    assert!(hooks.diagnostics.is_empty(), "{:?}", hooks.diagnostics);
}

#[test]
fn every_command_that_is_not_run_is_reported() {
    for (text, expected) in [
        ("[]", "hook-form"),
        ("{}", "hook-form"),
        ("not json: [", "hook-form"),
        (r#"{"hooks": []}"#, "hook-form"),
        (r#"{"hooks": {"PreToolUse": {}}}"#, "hook-form"),
        (r#"{"hooks": {"PreToolUse": ["x"]}}"#, "hook-form"),
        (r#"{"hooks": {"PreToolUse": [{}]}}"#, "hook-form"),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": [], "hooks": []}]}}"#,
            "hook-form",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": "(?=a)", "hooks": []}]}}"#,
            "hook-form",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}"#,
            "hook-form",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "x"}]}]}}"#,
            "hook-unsupported",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt"}]}]}}"#,
            "hook-unsupported",
        ),
        (r#"{"hooks": {"Notification": []}}"#, "hook-unsupported"),
        (r#"{"hooks": {"pretooluse": []}}"#, "hook-unsupported"),
    ] {
        let files = [SKILL, ("hooks/hooks.json", text)];
        assert_eq!(
            wrong(&files),
            [format!("hooks/hooks.json:1 {expected}")],
            "{text}"
        );
        assert!(commands(text).is_empty(), "{text}");
    }
    let odd = r#"{"hooks": {"Stop": [{"hooks": [{"command": "true", "timeout": "soon"}]}]}}"#;
    assert_eq!(
        wrong(&[("hooks/hooks.json", odd)]),
        ["hooks/hooks.json:1 hook-form"]
    );
    assert_eq!(commands(odd)[0].timeout, None);
}

#[test]
fn a_matcher_is_nothing_a_list_or_a_pattern() {
    let matches = |matcher: &str, tool: &str| {
        let text = format!(
            r#"{{"hooks": {{"PreToolUse": [{{"matcher": {}, "hooks": [{{"command": "true"}}]}}]}}}}"#,
            serde_json::Value::from(matcher)
        );
        commands(&text)[0].matcher.matches(tool)
    };
    for (matcher, yes, no) in [
        ("", &["shell", "k8s__apply"][..], &[][..]),
        ("*", &["shell", "k8s__apply"], &[]),
        (
            "Bash",
            &["shell", "bash", "exec", "Bash"],
            &["read", "k8s__Bash", "Bashful"],
        ),
        ("Edit|Write", &["edit", "write"], &["read", "edits"]),
        ("Edit, Write", &["edit", "write"], &["read"]),
        ("MultiEdit", &["edit"], &["write"]),
        ("k8s__apply", &["k8s__apply"], &["k8s__apply2", "apply"]),
        ("^(Read|Grep)$", &["read", "grep"], &["glob"]),
        ("k8s__.*", &["k8s__apply", "my-k8s__x"], &["shell"]),
        ("Web.*", &["fetch"], &["read"]),
    ] {
        for tool in yes {
            assert!(matches(matcher, tool), "{matcher} {tool}");
        }
        for tool in no {
            assert!(!matches(matcher, tool), "{matcher} {tool}");
        }
    }
}

#[test]
fn nothing_makes_it_panic() {
    for text in [
        "",
        "---",
        "---\n---\n",
        "\u{feff}---\nx: [\n---",
        "{\"hooks\": null}",
        "---\nhooks: 7\n---\n",
    ] {
        let _hooks = found(&[
            ("SKILL.md", text),
            ("HOOK.md", text),
            ("handler.ts", ""),
            ("hooks/hooks.json", text),
        ]);
    }
}

#[test]
fn a_limit_that_is_reached_is_reported() {
    let one = r#"{"command": "true"}"#;
    let many = vec![one; 150].join(", ");
    let text = format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{many}]}}]}}}}"#);
    let hooks = found(&[("hooks/hooks.json", &text)]);
    assert_eq!(hooks.commands.len(), 100);
    assert_eq!(hooks.diagnostics[0].code, DiagnosticCode::LimitReached);
    let hook = "---\nname: h\ndescription: d\nmetadata: {openclaw: {events: [agent]}}\n---\n";
    let paths: Vec<(String, String)> = (0..40)
        .map(|n| {
            (
                format!("hooks/h{n:02}/HOOK.md"),
                format!("hooks/h{n:02}/handler.ts"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = paths
        .iter()
        .flat_map(|(hook_md, file)| [(hook_md.as_str(), hook), (file.as_str(), "")])
        .collect();
    let hooks = found(&files);
    assert_eq!(hooks.handlers.len(), 32);
    assert_eq!(hooks.diagnostics[0].code, DiagnosticCode::LimitReached);
}
