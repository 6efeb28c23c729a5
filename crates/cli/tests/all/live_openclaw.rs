//! Handlers of OpenClaw hooks, in every engine: their input, their results, and the treatment of bad ones.

use std::{fs, path::Path, time::Duration};

use metier_config::{HookEngine, HookSettings};
use metier_runtime::live::Runtime;
use metier_testkit::NotRun;
use serde_json::json;

use crate::live_session::{Live, deno, left_running, lines, said, tool};

/// A name, and its configuration.
pub(crate) type InEngine = (&'static str, HookSettings);

/// Every engine that runs handlers.
pub(crate) fn engines() -> Vec<InEngine> {
    in_deno().into_iter().chain([embedded()]).collect()
}

fn embedded() -> InEngine {
    let hooks = HookSettings {
        engine: HookEngine::Embedded,
        deno: None,
    };
    ("embedded", hooks)
}

/// Deno, unless it is hidden.
pub(crate) fn in_deno() -> Result<InEngine, NotRun> {
    let hooks = HookSettings {
        engine: HookEngine::Deno,
        deno: Some(deno()?),
    };
    Ok(("deno", hooks))
}

/// A fixture with this engine.
pub(crate) fn room((_, hooks): &InEngine) -> Live {
    let mut live = Live::new();
    live.hooks = hooks.clone();
    live
}

/// A HOOK.md that names these events.
pub(crate) fn hook_md(events: &[&str]) -> String {
    let openclaw = json!({ "openclaw": { "events": events } });
    format!("---\nname: h\ndescription: A hook.\nmetadata: {openclaw}\n---\n\n# A hook\n")
}

const HANDLER: &str = "hooks/openclaw/handler.ts";
const HOOK_MD: &str = "hooks/openclaw/HOOK.md";

/// The text that active skills add to a prompt.
pub(crate) fn prompt(runtime: &Runtime) -> Vec<String> {
    let fragments = runtime.fragments().unwrap();
    fragments
        .into_iter()
        .map(|fragment| fragment.text)
        .collect()
}

#[test]
fn a_handler_adds_files_to_the_prompt() {
    let handler = r"
import fs from 'node:fs/promises';
import path from 'node:path';
import type { HookHandler } from 'openclaw/hooks';

enum Kind { Reminder = 'REMINDER.md' }

const handler: HookHandler = async (event) => {
  if (event.type !== 'agent' || event.action !== 'bootstrap') return;
  if (!(event.timestamp instanceof Date) || !Array.isArray(event.messages)) throw new Error('odd');
  const own = await fs.readFile(path.join(import.meta.dirname ?? '', '..', '..', 'own.txt'), 'utf-8')
    .catch(() => 'unreadable');
  event.context.bootstrapFiles.push({ path: Kind.Reminder, content: own.trim(), virtual: true });
  event.context.bootstrapFiles.push({ name: 'AGENTS.md', path: '/x/AGENTS.md', content: 'Be kind.', missing: false });
  event.context.bootstrapFiles.push({ name: 'SOUL.md', path: '/x/SOUL.md', missing: true });
  event.messages.push(`for ${event.sessionKey}`);
};
export default handler;
";
    for engine in engines() {
        let live = room(&engine);
        live.hooked("a", &[], &[(HANDLER, handler), ("own.txt", "Remember.\n")]);
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            let expected = ["Remember.", "Be kind.", "for agent:main:s"];
            assert_eq!(prompt(runtime), expected, "{}", engine.0);
            // The same again: nothing was kept from the previous time.
            assert_eq!(prompt(runtime), expected, "{}", engine.0);
            let receipts = lines(&runtime.collect().0);
            assert_eq!(
                receipts,
                [
                    "a skill:activate: ok",
                    "a hook:before_prompt_build added context: ok",
                    "a hook:before_prompt_build added context: ok"
                ],
                "{}",
                engine.0
            );
        });
        assert_eq!(left_running(&live), Vec::<String>::new(), "{}", engine.0);
    }
}

#[test]
fn every_kind_of_module_and_export_is_a_handler() {
    let push = "event.messages.push('here')";
    for engine in engines() {
        for (file, code, export) in [
            (
                "handler.js",
                format!("module.exports = async (event) => {{ {push}; }};"),
                "default",
            ),
            (
                "handler.js",
                format!("const fs = require('fs');\nexports.run = (event) => {{ {push}; }};"),
                "run",
            ),
            (
                "handler.cjs",
                format!("module.exports = {{ default: (event) => {{ {push}; }} }};"),
                "default",
            ),
            (
                "handler.mjs",
                format!("export default function (event) {{ {push}; }}"),
                "default",
            ),
            (
                "handler.js",
                format!(
                    "import path from 'node:path';\nexport const run = (event) => {{ {push}; }};"
                ),
                "run",
            ),
            (
                "index.ts",
                format!(
                    "import {{ say }} from './lib/say.ts';\nexport default (event: any): void => say(event);\n// {push}"
                ),
                "default",
            ),
        ] {
            let live = room(&engine);
            let openclaw =
                json!({ "openclaw": { "events": ["agent:bootstrap"], "export": export } });
            let hook = format!("---\nname: h\ndescription: d\nmetadata: {openclaw}\n---\n");
            let path = format!("hooks/one/{file}");
            let files = [
                ("hooks/one/HOOK.md", hook.as_str()),
                (&path, &code),
                (
                    "hooks/one/lib/say.ts",
                    "export const say = (event: any): void => { event.messages.push('here'); };\n",
                ),
            ];
            live.hooked("a", &[], &files);
            live.session(&[], |runtime| {
                runtime
                    .activate("a")
                    .unwrap_or_else(|error| panic!("{} {file}: {error}", engine.0));
                assert_eq!(prompt(runtime), ["here"], "{} {code}", engine.0);
            });
        }
    }
}

#[test]
fn a_handler_reads_the_project_only_if_it_may() {
    let handler = "import { readFileSync } from 'node:fs';\n\
        export default (event) => {\n\
          event.messages.push(readFileSync(event.context.workspaceDir + '/notes.txt', 'utf-8').trim());\n\
        };\n";
    for engine in engines() {
        let live = room(&engine);
        live.stage.context.write("notes.txt", "a note\n");
        live.hooked("may", &["file:read(./notes.txt)"], &[(HANDLER, handler)]);
        live.hooked("may-not", &[], &[(HANDLER, handler)]);
        live.session(&["may"], |runtime| {
            runtime.activate("may").unwrap();
            assert_eq!(prompt(runtime), ["a note"], "{}", engine.0);
            runtime.deactivate("may").unwrap();
            runtime.activate("may-not").unwrap();
            runtime.collect();
            assert!(prompt(runtime).is_empty(), "{}", engine.0);
            let receipts = lines(&runtime.collect().0);
            let failed = receipts
                .iter()
                .any(|line| line.contains("hook:before_prompt_build failed: error"));
            assert!(failed, "{} {receipts:?}", engine.0);
        });
    }
}

#[test]
fn a_handler_changes_and_blocks_calls() {
    let handler = "export default (event) => {\n\
        const { context } = event;\n\
        if (event.action === 'after') { context.result += '!'; return; }\n\
        if (context.params.text === 'no') { context.block = true; context.blockReason = 'not that'; }\n\
        context.params.text = context.params.text.toUpperCase();\n\
      };\n";
    for engine in engines() {
        let live = room(&engine);
        live.hooked(
            "a",
            &[],
            &[(HANDLER, handler), (HOOK_MD, &hook_md(&["tool"]))],
        );
        live.skill(
            "echo",
            "types: [tool]\n",
            &[],
            ("main.star", &tool("return input[\"text\"]")),
        );
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            runtime.activate("echo").unwrap();
            runtime.collect();
            let called = runtime.call("echo", "t", &json!({"text": "hi"})).unwrap();
            assert_eq!(called.output, "HI!", "{}", engine.0);
            assert_eq!(
                lines(&called.receipts),
                [
                    "a hook:before_tool_call changed the input of echo__t: ok",
                    "echo tool:call echo__t: ok",
                    "a hook:after_tool_result changed the result of echo__t: ok"
                ],
                "{}",
                engine.0
            );
            let refused = runtime
                .call("echo", "t", &json!({"text": "no"}))
                .unwrap_err();
            let expected = "`echo__t` was cancelled by skill `a`: not that";
            assert_eq!(refused.to_string(), expected, "{}", engine.0);
        });
    }
}

#[test]
fn where_nothing_can_be_changed_messages_are_printed() {
    let handler =
        "export default (event) => { event.messages.push(event.type + ':' + event.action); };\n";
    for engine in engines() {
        let live = room(&engine);
        let events = [
            "command:new",
            "command:reset",
            "message:sent",
            "session:end",
        ];
        live.hooked(
            "a",
            &[],
            &[(HANDLER, handler), (HOOK_MD, &hook_md(&events))],
        );
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            runtime.conversation_start().unwrap();
            assert_eq!(
                runtime.after_response("hello", false).unwrap().text,
                "hello"
            );
            runtime.deactivate("a").unwrap();
            assert_eq!(
                said(&runtime.collect().1),
                ["a: command:new", "a: message:sent", "a: session:end"],
                "{}",
                engine.0
            );
        });
    }
}

#[test]
fn one_handler_fails_and_the_others_go_on() {
    for engine in engines() {
        let live = room(&engine);
        let hook = hook_md(&["agent:bootstrap"]);
        let general = hook_md(&["agent"]);
        let says = |word: &str| {
            format!("export default (event) => {{ event.messages.push('{word}'); }};\n")
        };
        let files = [
            ("hooks/a/HOOK.md", hook.as_str()),
            ("hooks/a/handler.js", &says("second")),
            ("hooks/b/HOOK.md", &hook),
            (
                "hooks/b/handler.js",
                "export default () => { throw new Error('broken'); };\n",
            ),
            ("hooks/c/HOOK.md", &general),
            ("hooks/c/handler.js", &says("first")),
        ];
        live.hooked("a", &[], &files);
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            runtime.collect();
            assert_eq!(prompt(runtime), ["first", "second"], "{}", engine.0);
            let receipts = lines(&runtime.collect().0);
            assert_eq!(receipts.len(), 2, "{} {receipts:?}", engine.0);
            let failed = &receipts[0];
            assert!(
                failed.starts_with("a hook:before_prompt_build failed: error:"),
                "{failed}"
            );
            assert!(failed.contains("broken"), "{failed}");
        });
    }
}

#[test]
fn a_hook_whose_needs_are_not_met_is_not_asked() {
    let needs = [
        (
            json!({ "bins": ["no-such-program"] }),
            "the program `no-such-program` is not installed",
        ),
        (
            json!({ "anyBins": ["no-such", "nor-such"] }),
            "none of the programs `no-such`, `nor-such` is installed",
        ),
        (
            json!({ "env": ["NO_SUCH_VARIABLE"] }),
            "the variable `NO_SUCH_VARIABLE` is not set",
        ),
        (
            json!({ "config": ["no.such"] }),
            "the setting `no.such` is not set",
        ),
    ];
    for (requires, why) in needs {
        let live = room(&embedded());
        let openclaw = json!({ "openclaw": {
            "events": ["agent:bootstrap"], "requires": requires,
        }});
        let hook = format!("---\nname: picky\ndescription: d\nmetadata: {openclaw}\n---\n");
        let handler = "export default (event) => { event.messages.push('here'); };\n";
        live.hooked("a", &[], &[(HANDLER, handler), (HOOK_MD, &hook)]);
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            assert!(prompt(runtime).is_empty(), "{why}");
            let expected = format!("a: its hook `picky` is not run: {why}");
            assert_eq!(said(&runtime.collect().1), [expected]);
        });
    }
}

#[test]
fn a_skill_has_code_and_hooks_besides() {
    for engine in engines() {
        let live = room(&engine);
        let code = format!(
            "{}def add(event):\n    event[\"fragments\"].append(\"from starlark\")\n    return event\nregister_hook(\"before_prompt_build\", add)\n",
            tool("return 7")
        );
        live.skill("both", "types: [tool]\n", &[], ("main.star", &code));
        let handler = "export default ({ context, messages }) => { messages.push('and ' + context.bootstrapFiles.length); };\n";
        let path = format!("skills/both/{HANDLER}");
        live.stage.context.write(&path, handler);
        live.session(&[], |runtime| {
            runtime.activate("both").unwrap();
            assert_eq!(prompt(runtime), ["from starlark", "and 1"], "{}", engine.0);
            assert_eq!(runtime.call("both", "t", &json!({})).unwrap().output, 7);
        });
        assert_eq!(left_running(&live), Vec::<String>::new(), "{}", engine.0);
    }
}

/// The acts of a bad handler, and the resulting receipt: one of these words.
const BAD: &[(&str, &str, &[&str])] = &[
    (
        "never resolves",
        "export default () => new Promise(() => {});",
        &["took longer than", "can never resolve"],
    ),
    (
        "never returns",
        "export default () => { for (;;) {} };",
        &["took longer than"],
    ),
    (
        "throws",
        "export default () => { throw new Error('on purpose'); };",
        &["on purpose"],
    ),
    (
        "throws nonsense",
        "export default () => { throw { toString() { throw 1; } }; };",
        &["hook:before_prompt_build failed: error"],
    ),
    (
        "allocates without limit",
        "export default () => { const all = []; for (;;) all.push(new Array(1e6).fill('x' + all.length)); };",
        &["of memory", "took longer than", "ended"],
    ),
    (
        "imports from the network",
        "import x from 'https://example.invalid/x.js';\nexport default () => x;",
        &["example.invalid"],
    ),
    (
        "imports from the network later",
        "export default async () => { await import('https://example.invalid/x.js'); };",
        &["hook:before_prompt_build failed: error"],
    ),
    (
        "reads what it may not",
        "import fs from 'node:fs';\nexport default (event) => { event.messages.push(fs.readFileSync('/etc/passwd', 'utf-8')); };",
        &["hook:before_prompt_build failed: error"],
    ),
    (
        "starts a program",
        "import { execSync } from 'node:child_process';\nexport default (event) => { event.messages.push(String(execSync('id'))); };",
        &[
            "hook:before_prompt_build failed: error",
            "hook:load hooks/openclaw/handler.mjs: error",
        ],
    ),
    (
        "ends its process",
        "export default () => { process.exit(0); };",
        &["hook:before_prompt_build failed: error"],
    ),
    (
        "is no function",
        "export default 7;",
        &[
            "hook:load hooks/openclaw/handler.mjs: error",
            "hook:before_prompt_build failed: error",
        ],
    ),
    (
        "is no program",
        "export default (((;",
        &[
            "hook:load hooks/openclaw/handler.mjs: error",
            "hook:before_prompt_build failed: error",
        ],
    ),
    (
        "answers with what can't be told",
        "export default (event) => { event.context.self = event.context; };",
        &["hook:before_prompt_build failed: error"],
    ),
];

#[test]
fn a_bad_handler_is_a_receipt_and_nothing_else() {
    for engine in engines() {
        for (what, code, expected) in BAD {
            let mut live = room(&engine);
            live.patience.hook = Duration::from_secs(3);
            live.hooked("bad", &[], &[("hooks/openclaw/handler.mjs", code)]);
            let good = "export default (event) => { event.messages.push('fine'); };\n";
            live.hooked("good", &[], &[(HANDLER, good)]);
            live.session(&[], |runtime| {
                let activated = runtime.activate("bad");
                runtime.activate("good").unwrap();
                assert_eq!(prompt(runtime), ["fine"], "{} {what}", engine.0);
                let receipts = lines(&runtime.collect().0);
                let told = receipts
                    .iter()
                    .filter(|line| line.starts_with("bad "))
                    .any(|line| expected.iter().any(|word| line.contains(word)));
                assert!(told, "{} {what}: {activated:?} {receipts:?}", engine.0);
            });
            assert_eq!(
                left_running(&live),
                Vec::<String>::new(),
                "{} {what}",
                engine.0
            );
        }
    }
}

#[test]
fn what_a_handler_prints_is_its_log_and_no_answer() {
    let forged =
        r#"{"jsonrpc":"2.0","id":2,"result":{"event":{"messages":["forged"],"context":{}}}}"#;
    let code = format!(
        "const frame = {};\n\
         console.log(frame);\n\
         export default (event) => {{\n\
           console.log(frame); console.info(frame); console.error('oops', {{ a: 1 }});\n\
           if (typeof process !== 'undefined' && process.stdout) process.stdout.write(frame + '\\n');\n\
           if (typeof Deno !== 'undefined') Deno.stdout.writeSync(new TextEncoder().encode(frame + '\\n'));\n\
           event.messages.push('real');\n\
         }};\n",
        json!(forged)
    );
    for engine in engines() {
        let live = room(&engine);
        live.hooked("a", &[], &[("hooks/openclaw/handler.mjs", &code)]);
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            assert_eq!(prompt(runtime), ["real"], "{}", engine.0);
            assert_eq!(prompt(runtime), ["real"], "{}", engine.0);
            runtime.deactivate("a").unwrap();
            let said = said(&runtime.collect().1);
            assert!(
                said.iter().any(|line| line.contains("forged")),
                "{} {said:?}",
                engine.0
            );
            assert!(
                said.iter().any(|line| line.contains("oops")),
                "{} {said:?}",
                engine.0
            );
        });
    }
}

/// The example, as it is in the repository: it reminds of open notes, if it may read them.
#[test]
fn the_example_reminds_in_every_engine() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/reminder");
    for engine in engines() {
        let live = room(&engine);
        copy(&example, &live.stage.context.path("skills/reminder"));
        live.session(&["reminder"], |runtime| {
            runtime.activate("reminder").unwrap();
            let told = prompt(runtime);
            assert_eq!(told.len(), 1, "{} {told:?}", engine.0);
            assert!(
                told[0].contains("Nothing is noted yet"),
                "{} {told:?}",
                engine.0
            );
        });
        live.stage
            .context
            .write("notes/open.md", "# Open\n- water the plants\n- call Ada\n");
        live.session(&["reminder"], |runtime| {
            runtime.activate("reminder").unwrap();
            let told = prompt(runtime);
            assert!(
                told[0].contains("2 notes are open"),
                "{} {told:?}",
                engine.0
            );
            assert!(told[0].contains("- call Ada"), "{} {told:?}", engine.0);
        });
    }
}

/// The text that a third-party skill adds to a prompt, by its handlers in TypeScript and in JavaScript: the same in every engine. Run it
/// with `METIER_HOOKED_SKILL=DIR cargo test -p metier-cli --test all -- --ignored --nocapture a_third_party_skill`.
#[test]
#[ignore = "needs a skill with handlers, in METIER_HOOKED_SKILL"]
fn a_third_party_skill_behaves_the_same_in_every_engine() {
    let skill = std::env::var_os("METIER_HOOKED_SKILL").expect("METIER_HOOKED_SKILL is a folder");
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for engine in engines() {
        for ending in ["ts", "js"] {
            let live = room(&engine);
            let copied = live.stage.context.path("skills/theirs");
            copy(Path::new(&skill), &copied);
            let other = if ending == "ts" { "js" } else { "ts" };
            let handler = copied.join(format!("hooks/openclaw/handler.{ending}"));
            assert!(handler.exists(), "there is no {}", handler.display());
            let _not_there =
                fs::remove_file(copied.join(format!("hooks/openclaw/handler.{other}")));
            live.session(&["theirs"], |runtime| {
                runtime.activate(copied.to_str().unwrap()).unwrap();
                runtime.conversation_start().unwrap();
                let told = prompt(runtime);
                let receipts = lines(&runtime.collect().0);
                println!("{} handler.{ending}: {receipts:#?}", engine.0);
                all.push((format!("{} handler.{ending}", engine.0), told));
            });
            assert_eq!(left_running(&live), Vec::<String>::new());
        }
    }
    println!("{}", all[0].1.join("\n"));
    assert!(!all[0].1.is_empty());
    for (which, told) in &all[1..] {
        assert_eq!(*told, all[0].1, "{which}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}
