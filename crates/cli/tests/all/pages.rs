//! Pages for users are typed as a reader types them: from top to bottom, on one machine, every command and every file.
//!
//! Pages need no special syntax. A file is a fenced block after a paragraph that consists of its path; a transcript is a `console` block
//! with `$ ` before each command and its output below; `…` stands for text that differs from machine to machine.

use std::{fs, path::Path};

use metier_testkit::TestContext;

/// A page with the commands and files of a reader, in order.
struct Page {
    name: String,
    steps: Vec<Step>,
}

enum Step {
    File {
        path: String,
        content: String,
    },
    Command {
        line: usize,
        typed: String,
        expected: Vec<String>,
    },
}

impl Page {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(name);
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut steps = Vec::new();
        let mut number = 0;
        while number < lines.len() {
            let Some(language) = lines[number].strip_prefix("```") else {
                number += 1;
                continue;
            };
            let end = (number + 1..lines.len()).find(|end| lines[*end] == "```");
            let end = end.unwrap_or_else(|| panic!("{name}:{number}: the block has no end"));
            let body = &lines[number + 1..end];
            if language == "console" {
                commands(number + 2, body, &mut steps);
            } else if let Some(path) = caption(&lines[..number]) {
                let content = format!("{}\n", body.join("\n"));
                steps.push(Step::File { path, content });
            }
            number = end + 1;
        }
        Self {
            name: name.to_owned(),
            steps,
        }
    }

    /// Types everything; the page is wrong if the output differs.
    fn typed_on(&self, context: &TestContext) -> usize {
        let mut wrong = Vec::new();
        let mut number = 0;
        for step in &self.steps {
            match step {
                Step::File { path, content } => {
                    context.write(path, content);
                }
                Step::Command {
                    line,
                    typed,
                    expected,
                } => {
                    number += 1;
                    let printed = run(context, typed);
                    if !matches(expected, &printed) {
                        let (expected, printed) = (expected.join("\n"), printed.join("\n"));
                        wrong.push(format!(
                            "{}:{line}: $ {typed}\n--- the page\n{expected}\n--- the program\n{printed}\n",
                            self.name
                        ));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        number
    }
}

/// The path in the paragraph before a block, if it contains nothing else.
fn caption(before: &[&str]) -> Option<String> {
    let [.., blank, paragraph, ""] = before else {
        return None;
    };
    let path = paragraph.strip_prefix('`')?.strip_suffix('`')?;
    (blank.is_empty() && !path.contains('`')).then(|| path.to_owned())
}

fn commands(first: usize, body: &[&str], steps: &mut Vec<Step>) {
    for (number, line) in body.iter().enumerate() {
        if let Some(typed) = line.strip_prefix("$ ") {
            let typed = typed.split("    #").next().unwrap_or_default().trim_end();
            steps.push(Step::Command {
                line: first + number,
                typed: typed.to_owned(),
                expected: Vec::new(),
            });
        } else if let Some(Step::Command { expected, .. }) = steps.last_mut() {
            expected.push((*line).to_owned());
        }
    }
}

/// The output of a command as a terminal would show it, without the blank lines at its end.
fn run(context: &TestContext, typed: &str) -> Vec<String> {
    let words = words(typed);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = match words.as_slice() {
        ["metier", arguments @ ..] => {
            let output = context.run(arguments);
            format!("{}{}", output.stdout, output.stderr)
        }
        ["cat", path] => fs::read_to_string(context.path(path)).unwrap(),
        ["mv", from, to] => {
            let name = Path::new(from).file_name().unwrap();
            fs::create_dir_all(context.path(to)).unwrap();
            fs::rename(context.path(from), context.path(to).join(name)).unwrap();
            String::new()
        }
        ["cd", ..] | ["mkdir", ..] => String::new(),
        other => panic!("{other:?} is not typed here"),
    };
    text.lines().map(str::to_owned).collect()
}

/// The words of a line as a shell parses them, as far as pages need it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whether lines match the page; a line `…` is any number of lines, `…` within one is any text.
fn matches(expected: &[String], printed: &[String]) -> bool {
    let without_end = |lines: &[String]| -> Vec<String> {
        let kept = lines.iter().rposition(|line| !line.trim().is_empty());
        lines[..kept.map_or(0, |last| last + 1)].to_vec()
    };
    fn all(expected: &[String], printed: &[String]) -> bool {
        match (expected, printed) {
            ([], []) => true,
            ([first, rest @ ..], printed) if first == "…" => {
                (0..=printed.len()).any(|skipped| all(rest, &printed[skipped..]))
            }
            ([first, rest @ ..], [line, lines @ ..]) => like(first, line) && all(rest, lines),
            _ => false,
        }
    }
    all(&without_end(expected), &without_end(printed))
}

fn like(pattern: &str, line: &str) -> bool {
    let line = line.trim_end();
    let mut parts = pattern.trim_end().split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// A machine with the system's programs and nothing else.
fn machine() -> TestContext {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    context.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    context
}

#[test]
fn the_tutorial_works_from_top_to_bottom() {
    let number = Page::read("docs/writing-skills.md").typed_on(&machine());
    assert!(number > 20, "only {number} commands were found");
}

/// The first column of the table of commands, on a machine that has never seen metier.
#[test]
fn every_command_of_the_readme_works_on_a_fresh_machine() {
    let context = machine();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(path).unwrap();
    let rows = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `metier"));
    let mut number = 0;
    for row in rows {
        let rest = row.split('`').next().unwrap();
        let typed = format!("metier{rest}");
        // They need another program, or a person and a model that are absent here.
        if [
            "metier mcp",
            "metier chat",
            "metier agent",
            "metier run",
            "metier spawn",
        ]
        .iter()
        .any(|needs| typed.starts_with(needs))
        {
            continue;
        }
        number += 1;
        let words = words(&typed);
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let output = context.run(&arguments);
        assert_eq!(output.code, 0, "{typed}\n{}", output.snapshot());
    }
    assert!(number > 15, "only {number} commands were found");
}

/// The path where each client's own documentation puts a server, and the client's name for the program.
const CLIENTS: [(&str, &str, &str); 4] = [
    ("Claude Code", "/mcpServers/metier", "command"),
    ("Cursor", "/mcpServers/metier", "command"),
    ("OpenClaw", "/mcp/servers/metier", "command"),
    ("Goose", "/extensions/metier", "cmd"),
];

#[test]
fn the_readme_configures_each_client_in_its_documented_form() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(path).unwrap();
    let spans = |client: &str| -> Vec<String> {
        let start = format!("| {client} |");
        let row = readme.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("the README has no row for {client}"));
        let parts = row.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    for (client, place, program) in CLIENTS {
        // JSON is YAML too.
        let files = spans(client)
            .into_iter()
            .filter_map(|span| metier_model::frontmatter_as_json(&format!("---\n{span}\n---\n")));
        let file = files.map(serde_json::Value::Object).next_back().unwrap();
        let server = file
            .pointer(place)
            .unwrap_or_else(|| panic!("{client}: {file}"));
        assert_eq!(
            (&server[program], &server["args"]),
            (&"metier".into(), &serde_json::json!(["mcp"]))
        );
    }
    for (client, program) in [("Claude Code", "claude"), ("Codex", "codex")] {
        let typed = format!("{program} mcp add metier -- metier mcp");
        assert!(spans(client).contains(&typed), "{client}");
    }
    // Goose requires more fields.
    let goose = spans("Goose").join(" ");
    assert!(
        goose.contains("type: stdio") && goose.contains("enabled: true"),
        "{goose}"
    );
}
