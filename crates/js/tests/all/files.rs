//! `fs`, as a handler sees it, over a host that keeps files in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::talk::{Answer, Said, Talk};

const REFUSED: (i32, &str) = (-32_001, "not-granted");

type Disk = Rc<RefCell<BTreeMap<String, String>>>;

/// A disk on which nothing below `/etc` may be touched, and nothing below `/read-only` be written.
fn disk(files: &[(&str, &str)]) -> Disk {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    Rc::new(RefCell::new(files.iter().map(owned).collect()))
}

fn answer(disk: &Disk, method: &str, params: &Value) -> Answer {
    let path = params["path"].as_str().unwrap_or_default();
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/project/{path}")
    };
    let mut disk = disk.borrow_mut();
    match method {
        _ if path.starts_with("/etc") => Err(REFUSED),
        "host/read_file" => match disk.get(&path) {
            Some(content) => Ok(json!({ "content": content })),
            None if disk
                .keys()
                .any(|each| each.starts_with(&format!("{path}/"))) =>
            {
                Err((-32_002, "is-folder"))
            }
            None => Err((-32_002, "not-found")),
        },
        "host/write_file" if path.starts_with("/read-only") => Err(REFUSED),
        "host/write_file" => {
            disk.insert(path, params["content"].as_str().unwrap().to_owned());
            Ok(json!({}))
        }
        "host/glob" => {
            let folder = params["pattern"]
                .as_str()
                .unwrap()
                .strip_suffix("/**/{*,.*}")
                .unwrap();
            let folder = if folder.starts_with('/') {
                folder.to_owned()
            } else {
                format!("/project/{folder}")
            };
            let below = disk
                .keys()
                .filter(|path| path.starts_with(&format!("{folder}/")));
            // As the host does: from the project where it can.
            let shown = below.map(|path| path.strip_prefix("/project/").unwrap_or(path));
            Ok(json!({"paths": shown.collect::<Vec<_>>(), "truncated": false}))
        }
        _ => Err(REFUSED),
    }
}

fn run(disk: &Disk, body: &str) -> Said {
    let text = format!(
        "import fs from 'node:fs'; import {{ promises as p }} from 'fs'; export default async (e) => {{ const c = e.context; {body} }};"
    );
    let own = Rc::clone(disk);
    Talk::handler("h.mjs", &text)
        .host(move |method, params| answer(&own, method, params))
        .event(&json!({}))
        .run()
}

#[track_caller]
fn check(body: &str, expected: &Value) {
    let disk = disk(&[
        ("/project/a.txt", "ä"),
        ("/project/d/x.md", "x"),
        ("/project/d/.h", ""),
        ("/project/d/sub/y.md", "y"),
        ("/read-only/f", "r"),
    ]);
    let said = run(&disk, body);
    assert_eq!(&said.context(), expected, "{body}");
}

#[test]
fn files_are_read() {
    check(
        "c.t = await p.readFile('a.txt', 'utf-8'); c.s = fs.readFileSync('/project/a.txt').length",
        &json!({"t": "ä", "s": 2}),
    );
    check(
        "c.t = fs.readFileSync(new URL('file:///project/a.txt'), { encoding: 'base64' })",
        &json!({"t": "w6Q="}),
    );
    check(
        "c.t = await new Promise((done) => fs.readFile('a.txt', 'utf8', (error, text) => done([error, text])))",
        &json!({"t": [null, "ä"]}),
    );
}

#[test]
fn errors_are_those_of_node() {
    let code = |call: &str| {
        format!(
            "await ({call}).catch((error) => {{ c.code = [error.code, error instanceof Error, error.message]; }})"
        )
    };
    check(
        &code("p.readFile('missing')"),
        &json!({"code": ["ENOENT", true, "ENOENT: no such file or directory, open 'missing': the host says not-found"]}),
    );
    for (call, expected) in [
        ("p.readFile('/etc/passwd')", "EACCES"),
        ("p.readFile('d')", "EISDIR"),
        ("p.writeFile('/read-only/f', '')", "EACCES"),
        ("p.writeFile('a.txt', '', { flag: 'wx' })", "EEXIST"),
        ("p.writeFile('a.txt', '', { flag: 'r+' })", "ENOTSUP"),
        ("p.stat('missing')", "ENOENT"),
        ("p.access('/etc/shadow')", "EACCES"),
        ("p.readdir('a.txt')", "ENOTDIR"),
        ("p.mkdir('d')", "EEXIST"),
        ("p.unlink('a.txt')", "ENOTSUP"),
        ("p.rename('a.txt', 'b.txt')", "ENOTSUP"),
        ("p.rm('d', { recursive: true, force: true })", "ENOTSUP"),
    ] {
        let body = format!("await ({call}).catch((error) => {{ c.code = error.code; }})");
        check(&body, &json!({"code": expected}));
    }
    check(
        "try { fs.readFileSync('a\\0b') } catch (error) { c.code = error.code }",
        &json!({"code": "ERR_INVALID_ARG_TYPE"}),
    );
}

#[test]
fn files_and_folders_are_distinguished() {
    check(
        "const f = await p.stat('a.txt'), d = fs.statSync('/project/d'); c.s = [f.isFile(), f.isDirectory(), f.size, d.isFile(), d.isDirectory()]",
        &json!({"s": [true, false, 2, false, true]}),
    );
    check(
        "c.e = [fs.existsSync('a.txt'), fs.existsSync('d'), fs.existsSync('no'), fs.existsSync('/etc/passwd')]",
        &json!({"e": [true, true, false, false]}),
    );
    check(
        "try { fs.statSync('a.txt').mtime } catch (error) { c.code = error.code }",
        &json!({"code": "ENOTSUP"}),
    );
    check(
        "c.none = fs.statSync('no', { throwIfNoEntry: false }) === undefined",
        &json!({"none": true}),
    );
}

#[test]
fn folders_are_listed() {
    check(
        "c.d = await p.readdir('d')",
        &json!({"d": [".h", "sub", "x.md"]}),
    );
    check(
        "c.d = fs.readdirSync('/project/d/', { withFileTypes: true }).map((x) => [x.name, x.isDirectory()])",
        &json!({"d": [[".h", false], ["sub", true], ["x.md", false]]}),
    );
    check(
        "c.d = fs.readdirSync('d', { recursive: true })",
        &json!({"d": [".h", "sub/y.md", "x.md"]}),
    );
    check(
        "await p.mkdir('new/deep', { recursive: true }); await p.mkdir('d', { recursive: true }); c.ok = 1",
        &json!({"ok": 1}),
    );
}

#[test]
fn files_are_written_appended_and_copied() {
    let disk = disk(&[("/project/log", "1\n")]);
    let said = run(
        &disk,
        "await p.writeFile('new', 'n', { flag: 'wx' }); fs.appendFileSync('log', '2\\n'); await p.appendFile('fresh', Buffer.from('€')); await p.copyFile('log', 'copy'); fs.writeFileSync('bytes', new Uint8Array([104, 105]))",
    );
    assert_eq!(said.event()["context"], json!({}));
    let expected = [
        ("bytes", "hi"),
        ("copy", "1\n2\n"),
        ("fresh", "€"),
        ("log", "1\n2\n"),
        ("new", "n"),
    ];
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(name, text)| (format!("/project/{name}"), (*text).to_owned()))
        .collect();
    assert_eq!(*disk.borrow(), expected);
}
