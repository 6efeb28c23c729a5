//! Deno: the flags that result from a grant, and the checks that apply where the flags would allow too much.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use crate::{
    live_openclaw::{in_deno, prompt, room},
    live_session::{Live, left_running, lines, said},
};
use metier_config::{HookEngine, HookSettings};
use metier_testkit::needed;

const HANDLER: &str = "hooks/openclaw/handler.ts";

/// The error message of a handler that does this, or the value that it throws.
fn says(live: &Live, permissions: &[&str], code: &str) -> String {
    let handler = format!(
        "import fs from 'node:fs';\n\
         export default async (event: any) => {{\n\
           const project = event.context.workspaceDir;\n\
           try {{ event.messages.push(String(await (async () => {{ {code} }})())); }}\n\
           catch (error) {{ event.messages.push('threw ' + (error as Error).name); }}\n\
         }};\n"
    );
    live.hooked("a", permissions, &[(HANDLER, &handler)]);
    // The permissions that its code uses are requested too, and here they are not approved.
    let approved: &[&str] = if permissions.is_empty() { &[] } else { &["a"] };
    live.session(approved, |runtime| {
        runtime.activate("a").unwrap();
        let fragments = runtime.fragments().unwrap();
        assert_eq!(fragments.len(), 1, "{code}: {:?}", runtime.collect());
        fragments[0].text.clone()
    })
}

#[test]
fn a_grant_is_seen_in_the_command_line() {
    let engine = needed!(in_deno());
    let mut live = room(&engine);
    let deno = engine.1.deno.unwrap();
    live.stage
        .context
        .env("METIER_SKILLS_HOOKS_DENO", deno.clone());
    let handler = "export default (event: any) => { event.messages.push('here'); };\n";
    let asks = ["file:read", "env:read(CLAUDE_TOOL_OUTPUT)"];
    live.hooked("a", &asks, &[(HANDLER, handler)]);
    let told = |flag: &str| {
        let all = ["--skills", "a", "--approve-skills", "a", "prompt"];
        let flags: Vec<&str> = [flag].into_iter().filter(|flag| !flag.is_empty()).collect();
        let output = live.run(&[&all[..], &flags].concat());
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(
            output.stdout.trim_end().ends_with("here"),
            "{}",
            output.snapshot()
        );
        output.stderr
    };
    let work = live.stage.context.work().canonicalize().unwrap();
    let work = work.display();
    let said = told("-v");
    for part in [
        format!("a: {} run ", deno.display()),
        " --no-prompt ".to_owned(),
        " --no-remote ".to_owned(),
        " --deny-run ".to_owned(),
        format!("{work},{work}/skills/a "),
        " --allow-env=CLAUDE_TOOL_OUTPUT ".to_owned(),
        " --import-map=".to_owned(),
    ] {
        assert!(said.contains(&part), "{part} in {said}");
    }
    assert!(
        !said.contains("--allow-net") && !said.contains("--allow-write"),
        "{said}"
    );
    // No request, no message.
    assert!(!told("").contains("--allow-read"));
}

#[test]
fn without_deno_a_skill_that_requires_it_is_reported() {
    let mut live = Live::new();
    live.hooked("a", &[], &[(HANDLER, "export default () => {};\n")]);
    for (configured, why) in [
        (None, "`deno` is not on PATH"),
        (
            Some("deno"),
            "skills.hooks.deno is `deno`, which is not an absolute path",
        ),
        (
            Some("/no/such/deno"),
            "skills.hooks.deno is `/no/such/deno`, which is not a file",
        ),
    ] {
        live.hooks = HookSettings {
            engine: HookEngine::Deno,
            deno: configured.map(Into::into),
        };
        let said = live.session(&[], |runtime| {
            runtime.activate("a").unwrap();
            runtime.collect().1
        });
        let expected = format!("its hook {HANDLER} can't be loaded: it requires Deno, but {why}");
        assert!(said[0].text.contains(&expected), "{said:?}");
    }
    live.stage.context.env("METIER_SKILLS_HOOKS_ENGINE", "deno");
    let output = live.run(&["--skills", "a", "prompt"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("metier config skills.hooks.engine auto"),
        "{}",
        output.snapshot()
    );
}

#[test]
fn a_missing_deno_is_reported() {
    let mut live = Live::new();
    let handler = "export default (event) => { event.messages.push('here'); };\n";
    live.hooked("a", &[], &[(HANDLER, handler)]);
    live.hooks = HookSettings {
        engine: HookEngine::Auto,
        deno: Some("/no/such/deno".into()),
    };
    live.session(&[], |runtime| {
        runtime.activate("a").unwrap();
        assert_eq!(prompt(runtime), ["here"]);
        let expected = "a: skills.hooks.deno is `/no/such/deno`, which is not a file; its handlers run in the embedded engine";
        assert_eq!(said(&runtime.collect().1), [expected]);
    });
}

#[test]
fn variables_are_seen_that_were_granted_and_no_others() {
    let engine = needed!(in_deno());
    let mut live = room(&engine);
    for name in ["WANTED", "OTHER"] {
        live.variables.insert(name.to_owned(), "value".into());
    }
    let code = "return `${process.env.WANTED} ${process.env.OTHER} ${Deno.env.get('WANTED')}`;";
    assert_eq!(
        says(&live, &["env:read(WANTED)"], code),
        "value undefined value"
    );
    let code = "return Deno.env.get('OTHER');";
    assert_eq!(says(&live, &["env:read(WANTED)"], code), "threw NotCapable");
    assert_eq!(says(&live, &[], "return process.env.WANTED;"), "undefined");
}

#[test]
fn files_are_written_where_that_was_granted() {
    let engine = needed!(in_deno());
    let live = room(&engine);
    let write = |path: &str| format!("fs.writeFileSync(project + '/{path}', 'x'); return 'done';");
    let asks = ["file:write(./out/**)"];
    assert_eq!(says(&live, &asks, &write("out/a.txt")), "done");
    assert!(live.stage.has("out/a.txt"));
    for elsewhere in ["b.txt", "skills/a/SKILL.md", "out/../c.txt"] {
        let said = says(&live, &asks, &write(elsewhere));
        assert!(said.starts_with("threw"), "{elsewhere}: {said}");
    }
    assert!(!live.stage.has("b.txt") && !live.stage.has("c.txt"));
}

#[test]
fn a_link_does_not_lead_out_of_what_was_granted() {
    let engine = needed!(in_deno());
    let live = room(&engine);
    let context = &live.stage.context;
    context.write("~/.ssh/id_rsa", "a key\n");
    context.write("~/other.txt", "of the user\n");
    let work = context.work();
    let home = context.home().canonicalize().unwrap();
    std::os::unix::fs::symlink(home.join(".ssh/id_rsa"), work.join("key")).unwrap();
    std::os::unix::fs::symlink(home.join("other.txt"), work.join("other")).unwrap();
    for name in ["key", "other"] {
        let code = format!("return fs.readFileSync(project + '/{name}', 'utf-8');");
        let said = says(&live, &["file:read"], &code);
        assert!(said.starts_with("threw"), "{name}: {said}");
    }
}

#[test]
fn programs_libraries_and_the_system_stay_out_of_reach() {
    let engine = needed!(in_deno());
    let live = room(&engine);
    let asks = ["file:read", "file:write", "net:fetch", "shell:exec"];
    for code in [
        "return new Deno.Command('/bin/true').outputSync().code;",
        "return Deno.dlopen('/lib/x86_64-linux-gnu/libc.so.6', {});",
        "return Deno.osRelease();",
        "return Deno.kill(1, 'SIGTERM');",
        "return await import('npm:left-pad');",
        "return await import('jsr:@std/fs');",
        "return Deno.readTextFileSync('/proc/1/environ');",
    ] {
        let said = says(&live, &asks, code);
        assert!(said.starts_with("threw"), "{code}: {said}");
    }
}

#[test]
fn a_host_is_reached_if_it_was_granted_and_is_written_down() {
    let engine = needed!(in_deno());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _read = stream.read(&mut request).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let fetch = format!("return await (await fetch('http://127.0.0.1:{port}/')).text();");
    let live = room(&engine);
    assert!(says(&live, &[], &fetch).starts_with("threw"));
    assert!(says(&live, &["net:fetch(example.invalid)"], &fetch).starts_with("threw"));
    let grant = format!("net:fetch(127.0.0.1:{port})");
    assert_eq!(says(&live, &[&grant], &fetch), "hello");
    server.join().unwrap();
    let seen = live.stage.receipts().into_iter();
    let reached = format!("CONNECT 127.0.0.1:{port}");
    assert!(seen.filter(|one| one["detail"] == reached.as_str()).count() > 0);
}

#[test]
fn one_that_crashed_is_started_again() {
    let engine = needed!(in_deno());
    let live = room(&engine);
    let handler = "import fs from 'node:fs';\n\
        export default (event: any) => {\n\
          const mark = event.context.workspaceDir + '/out/mark';\n\
          if (!fs.existsSync(mark)) { fs.writeFileSync(mark, ''); Deno.exit(3); }\n\
          event.messages.push('back');\n\
        };\n";
    let asks = ["file:read(./out/**)", "file:write(./out/**)"];
    live.hooked("a", &asks, &[(HANDLER, handler)]);
    live.session(&["a"], |runtime| {
        runtime.activate("a").unwrap();
        assert!(runtime.fragments().unwrap().is_empty());
        assert_eq!(runtime.fragments().unwrap()[0].text, "back");
        let receipts = lines(&runtime.collect().0);
        let crashed = receipts
            .iter()
            .filter(|line| line.contains("skill:run crashed"));
        assert_eq!(crashed.count(), 1, "{receipts:?}");
    });
    assert_eq!(left_running(&live), Vec::<String>::new());
}
