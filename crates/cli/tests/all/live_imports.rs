//! How handlers of OpenClaw import and export: every form in use, with the same result in both engines.

use metier_runtime::live::ActivateError;

use crate::{
    live_openclaw::{engines, prompt, room},
    live_session::lines,
};

/// An import of a handler as an ES module, and the text that it produces.
const IMPORTS: &[(&str, &str)] = &[
    ("", "'plain'"),
    ("import os from 'os';", "os.homedir()"),
    ("import os from 'node:os';", "os.homedir()"),
    ("import * as os from 'os';", "os.homedir()"),
    ("import { homedir } from 'os';", "homedir()"),
    (
        "import { homedir, platform, tmpdir } from 'node:os';",
        "[homedir(), platform(), typeof tmpdir()].join()",
    ),
    (
        "import os from 'os';",
        "[os.hostname(), os.release(), os.cpus().length, os.totalmem(), os.userInfo().homedir].join()",
    ),
    ("import path from 'path';", "path.join('a', 'b')"),
    ("import { join } from 'node:path';", "join('a', 'b')"),
    ("import * as fs from 'fs';", "typeof fs.readFileSync"),
    (
        "import { existsSync } from 'fs';",
        "existsSync('/no/such/file')",
    ),
    ("import { readFile } from 'fs/promises';", "typeof readFile"),
    (
        "import { createReadStream, watch } from 'node:fs';",
        "typeof createReadStream + typeof watch",
    ),
    (
        "import { execSync } from 'child_process';",
        "typeof execSync",
    ),
    (
        "import { exec } from 'node:child_process';\nimport { promisify } from 'util';\nconst run = promisify(exec);",
        "typeof run",
    ),
    ("import https from 'https';", "typeof https.request"),
    (
        "import { performance } from 'perf_hooks';",
        "typeof performance.now()",
    ),
    ("", "process.cwd() === event.context.workspaceDir"),
    ("", "process.env.HOME + process.env.NOT_GRANTED"),
    (
        "import { HookHandler } from 'openclaw/hooks';",
        "'without type'",
    ),
    (
        "import { HookHandler, HookEvent } from 'clawdbot/hooks';",
        "'its older name'",
    ),
    (
        "import * as claw from 'openclaw/hooks';",
        "typeof claw.runHook",
    ),
    ("import claw from 'openclaw/hooks';", "typeof claw.runHook"),
    (
        "import { InternalHookEvent } from 'openclaw/plugin-sdk';",
        "'a deep path'",
    ),
    (
        "import { isAgentBootstrapEvent } from 'openclaw/plugin-sdk/hook-runtime';",
        "isAgentBootstrapEvent(event)",
    ),
];

/// Imports that only a handler in TypeScript can have.
const TYPED: &[(&str, &str)] = &[
    (
        "import type { HookHandler } from 'openclaw/hooks';\nconst typed: HookHandler | undefined = undefined;",
        "String(typed)",
    ),
    (
        "import { type HookHandler } from 'openclaw/hooks';\nconst typed: HookHandler | undefined = undefined;",
        "String(typed)",
    ),
    (
        "import type { Stats } from 'fs';\nconst typed: Stats | undefined = undefined;",
        "String(typed)",
    ),
];

/// The modules that a handler requires as CommonJS.
const REQUIRES: &[(&str, &str)] = &[
    ("", "'plain'"),
    ("const os = require('os');", "os.homedir()"),
    ("const { homedir } = require('node:os');", "homedir()"),
    ("const path = require('path');", "path.join('a', 'b')"),
    (
        "const { execSync } = require('child_process');",
        "typeof execSync",
    ),
    ("const https = require('https');", "typeof https.request"),
];

/// Every way to export a handler of an ES module.
const EXPORTS: &[&str] = &[
    "export default async (event) => { BODY };",
    "export default async function handler(event) { BODY }",
    "const handler = async (event) => { BODY };\nexport default handler;",
    "export const handler = async (event) => { BODY };",
    "export async function handler(event) { BODY }",
    "const run = async (event) => { BODY };\nexport { run as default };",
    "import { runHook } from 'openclaw/hooks';\nrunHook(async (event) => { BODY });",
];

/// And every way for CommonJS.
const ASSIGNED: &[&str] = &[
    "module.exports = async (event) => { BODY };",
    "module.exports = { handler: async (event) => { BODY } };",
    "module.exports.default = async (event) => { BODY };",
    "exports.handler = async (event) => { BODY };",
];

/// A file for each pair, the imports with the first export and the exports with the first import.
fn pairs(imports: &[(&str, &str)], exports: &[&str]) -> Vec<String> {
    let file = |(import, say): &(&str, &str), export: &str| {
        let body = format!("event.messages.push(String({say}));");
        format!("{import}\n{}\n", export.replace("BODY", &body))
    };
    let mut all: Vec<String> = imports.iter().map(|one| file(one, exports[0])).collect();
    for export in &exports[1..] {
        for import in &imports[..2] {
            all.push(file(import, export));
        }
    }
    all
}

/// Every file with every extension that it may have.
fn files() -> Vec<(&'static str, String)> {
    let modules = pairs(IMPORTS, EXPORTS);
    let common = pairs(REQUIRES, ASSIGNED);
    let typed: Vec<(&str, &str)> = TYPED.to_vec();
    let mut all = Vec::new();
    for ending in ["mjs", "js", "ts", "mts"] {
        all.extend(modules.iter().map(|text| (ending, text.clone())));
    }
    for ending in ["cjs", "js"] {
        all.extend(common.iter().map(|text| (ending, text.clone())));
    }
    for ending in ["ts", "mts"] {
        all.extend(
            pairs(&typed, EXPORTS)
                .into_iter()
                .map(|text| (ending, text)),
        );
    }
    // In TypeScript a parameter has a type.
    for (ending, text) in &mut all {
        if ending.ends_with("ts") {
            *text = text.replace("(event) ", "(event: any) ");
        }
    }
    all
}

#[test]
fn every_way_to_import_and_export_works_alike_in_both_engines() {
    let files = files();
    assert!(files.len() > 150, "{}", files.len());
    let mut results: Vec<(&str, Vec<String>)> = Vec::new();
    for engine in engines() {
        let mut live = room(&engine);
        live.variables.insert("HOME".to_owned(), "/home/ada".into());
        // Thirty-two handlers in one skill: starting an engine for each would take too long.
        let mut said = Vec::new();
        for (number, chunk) in files.chunks(32).enumerate() {
            let name = format!("chunk-{number}");
            let described = "---\nname: h\ndescription: A hook.\nmetadata: {openclaw: {events: [agent:bootstrap]}}\n---\n";
            let mut all: Vec<(String, &str)> = Vec::new();
            for (position, (ending, text)) in chunk.iter().enumerate() {
                all.push((format!("hooks/h{position:02}/HOOK.md"), described));
                all.push((format!("hooks/h{position:02}/handler.{ending}"), text));
            }
            let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (&**path, *text)).collect();
            live.hooked(&name, &["env:read(HOME)"], &all);
            live.session(&[&name], |runtime| {
                runtime.activate(&name).unwrap();
                let told = prompt(runtime);
                let problems = runtime.collect().1;
                assert_eq!(problems, [], "{}", engine.0);
                assert_eq!(told.len(), chunk.len(), "{}: {told:?}", engine.0);
                said.extend(told);
            });
        }
        results.push((engine.0, said));
    }
    let (_, first) = &results[0];
    for (engine, said) in &results[1..] {
        for (position, (ending, text)) in files.iter().enumerate() {
            assert_eq!(
                said[position], first[position],
                "{engine}: .{ending}: {text}"
            );
        }
    }
    assert!(first.iter().any(|said| said == "/home/ada"), "{first:?}");
}

// case 159
#[test]
fn a_function_that_is_missing_throws_when_it_is_called() {
    for engine in engines() {
        let live = room(&engine);
        let code = "import { execSync } from 'child_process';\n\
            export default (event) => { try { execSync('id'); event.messages.push('ran'); } catch (error) { event.messages.push('threw'); } };\n";
        live.hooked(
            "a",
            &["env:read(HOME)"],
            &[("hooks/openclaw/handler.js", code)],
        );
        live.session(&["a"], |runtime| {
            runtime.activate("a").unwrap();
            assert_eq!(prompt(runtime), ["threw"], "{}", engine.0);
        });
    }
}

// case 159
#[test]
fn without_its_grant_a_home_is_not_known() {
    for engine in engines() {
        let mut live = room(&engine);
        live.variables.insert("HOME".to_owned(), "/home/ada".into());
        let code = "import os from 'os';\nexport default (event) => { event.messages.push([os.homedir(), process.env.HOME].join()); };\n";
        live.hooked("a", &[], &[("hooks/openclaw/handler.js", code)]);
        live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            assert_eq!(prompt(runtime), ["/,"], "{}", engine.0);
        });
    }
}

/// Files that can't be loaded, and the details in the report about them.
const BROKEN: &[(&str, &str)] = &[
    (
        "import x from 'left-pad';\nexport default () => x;\n",
        "left-pad",
    ),
    (
        "import x from './missing.js';\nexport default () => x;\n",
        "missing",
    ),
    ("export default (((;\n", "handler.js"),
    (
        "export default 7;\n",
        "it does not export a function `default`",
    ),
    ("throw new Error('not today');\n", "not today"),
    (
        "import x from 'https://example.invalid/x.js';\nexport default () => x;\n",
        "example.invalid",
    ),
];

// case 159
#[test]
fn a_handler_that_can_not_be_loaded_is_reported_and_the_skill_is_active() {
    for engine in engines() {
        for (code, named) in BROKEN {
            let live = room(&engine);
            live.hooked("a", &[], &[("hooks/openclaw/handler.js", code)]);
            live.session(&[], |runtime| {
                runtime.activate("a").unwrap();
                let (receipts, said) = runtime.collect();
                let receipts = lines(&receipts);
                let failed = "a hook:load hooks/openclaw/handler.js: error: ";
                assert!(
                    receipts
                        .iter()
                        .any(|line| line.starts_with(failed) && line.contains(named)),
                    "{} {code}: {receipts:?}",
                    engine.0
                );
                let warning = "a: warning: its hook hooks/openclaw/handler.js can't be loaded: ";
                assert!(
                    said.iter()
                        .any(|line| line.to_string().starts_with(warning)),
                    "{} {code}: {said:?}",
                    engine.0
                );
                assert!(prompt(runtime).is_empty());
            });
        }
    }
}

// case 159
#[test]
fn a_security_rule_is_not_active_without_its_hooks() {
    for engine in engines() {
        let live = room(&engine);
        let front = "types: [security-rule]\n";
        live.stage.skill_in("skills", "a", front, "Text.\n");
        live.stage.context.write(
            "skills/a/hooks/openclaw/handler.js",
            "export default (((;\n",
        );
        live.session(&[], |runtime| {
            let refused = runtime.activate("a");
            assert!(
                matches!(
                    refused,
                    Err(ActivateError::Session(_) | ActivateError::Contribution(_))
                ),
                "{refused:?}"
            );
        });
    }
}
