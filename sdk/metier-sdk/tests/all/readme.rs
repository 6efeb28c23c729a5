//! The ten-line skills of `sdk/README.md` work: they start and greet. (The one in Rust is compiled as a documentation test.)

use std::{fs, path::PathBuf};

use crate::talk::{Talk, python, sdk, tsc, typescript};

const SCRIPT: &str = r#"
→ {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1,"skill":"greeter","directory":"."}}
← {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"greet","description":"Greets someone","input_schema":{"type":"object","properties":{"who":{"type":"string","description":"Whom to greet"}},"required":["who"]}}],"hooks":["before_tool_call"],"workflows":[],"scanners":[]}}
→ {"jsonrpc":"2.0","id":2,"method":"tool/execute","params":{"name":"greet","input":{"who":"Ada"}}}
← {"jsonrpc":"2.0","id":1,"method":"host/read_file","params":{"path":"greeting.txt"}}
→ {"jsonrpc":"2.0","id":1,"result":{"content":"Hello"}}
← {"jsonrpc":"2.0","id":2,"result":{"output":"Hello, Ada"}}
→ {"jsonrpc":"2.0","id":3,"method":"hook/handle","params":{"phase":"before_tool_call","event":{"tool":"greet","input":{"who":"Mallory"}}}}
← {"jsonrpc":"2.0","id":3,"result":{"cancel":{"reason":"we don't greet Mallory"}}}
→ {"jsonrpc":"2.0","id":4,"method":"hook/handle","params":{"phase":"before_tool_call","event":{"tool":"greet","input":{"who":"Ada"}}}}
← {"jsonrpc":"2.0","id":4,"result":{}}
"#;

/// The example of a language, next to the file that it needs, in a separate folder.
fn example(language: &str, file: &str, needs: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("readme-{language}"));
    fs::create_dir_all(&folder).unwrap();
    let needs = sdk().join(needs);
    fs::copy(&needs, folder.join(needs.file_name().unwrap())).unwrap();
    let readme = fs::read_to_string(sdk().join("README.md")).unwrap();
    let fence = format!("```{language}\n");
    let (_, rest) = readme.split_once(&fence).unwrap();
    let (code, _) = rest.split_once("```").unwrap();
    fs::write(folder.join(file), code).unwrap();
    folder.join(file)
}

#[test]
fn the_example_in_python_greets() {
    let skill = example("python", "skill.py", "python/metier.py");
    let mut talk = Talk::new("python", python(&skill));
    talk.play(SCRIPT);
    talk.end();
}

#[test]
fn the_example_in_typescript_greets() {
    let skill = example("ts", "skill.ts", "typescript/metier.ts");
    let checked = tsc(&skill).output().unwrap();
    let complaints = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{complaints}");
    let mut talk = Talk::new("typescript", typescript(&skill));
    talk.play(SCRIPT);
    talk.end();
}
