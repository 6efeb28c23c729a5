//! Skills by the ten thousand, shaped like real ones: the same lengths, the same ways to write the same keys, the same share of broken
//! files. Seeded, so that two machines measure the same bytes.
//!
//! The shares come from a survey of 98,852 public `SKILL.md` files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::random::Random;
use crate::Result;

/// Changes whenever the bytes change, so that kept corpora are not mixed.
pub(super) const VERSION: &str = "1";

const DESCRIPTION_CHARS: &[(f64, f64)] = &[
    (0.0, 45.0),
    (0.5, 180.0),
    (0.9, 330.0),
    (0.99, 700.0),
    (1.0, 1000.0),
];
const BODY_BYTES: &[(f64, f64)] = &[
    (0.0, 300.0),
    (0.5, 5_200.0),
    (0.95, 20_000.0),
    (0.99, 36_000.0),
    (1.0, 90_000.0),
];

const VERBS: &[&str] = &[
    "review",
    "deploy",
    "draft",
    "summarise",
    "convert",
    "extract",
    "plan",
    "debug",
    "format",
    "translate",
    "audit",
    "render",
    "schedule",
    "search",
    "migrate",
    "publish",
    "monitor",
    "query",
    "refactor",
    "label",
];
const NOUNS: &[&str] = &[
    "pull-request",
    "spreadsheet",
    "invoice",
    "changelog",
    "database",
    "meeting-notes",
    "dashboard",
    "api",
    "slides",
    "container",
    "pdf",
    "calendar",
    "podcast",
    "dataset",
    "terraform",
    "release",
    "email",
    "diagram",
    "test-suite",
    "wiki",
];
const WORDS: &[&str] = &[
    "the",
    "user",
    "asks",
    "for",
    "a",
    "with",
    "and",
    "files",
    "from",
    "project",
    "using",
    "when",
    "code",
    "data",
    "report",
    "tools",
    "into",
    "workflow",
    "generate",
    "existing",
    "structured",
    "output",
    "handles",
    "supports",
    "analysis",
    "quick",
    "documents",
    "issues",
    "branches",
    "review",
    "commands",
    "local",
    "remote",
    "settings",
];
const FOREIGN_WORDS: &[&str] = &[
    "naïve",
    "für",
    "日本語",
    "— und",
    "résumé",
    "данные",
    "✨",
    "größer",
    "テスト",
    "señal",
];
const TOOLS: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "Bash",
    "Grep",
    "Glob",
    "Bash(git:*)",
    "WebFetch",
];

/// Keys with simple values, and how many of a hundred skills have them.
const PLAIN_KEYS: &[(f64, &str)] = &[
    (35.0, "license: MIT\n"),
    (35.0, "version: 1.2.0\n"),
    (30.0, "homepage: https://example.org/skills/collection\n"),
    (30.0, "tags: [automation, productivity, documents]\n"),
    (10.0, "argument-hint: \"[file] [branch]\"\n"),
    (8.0, "user-invocable: true\n"),
    (6.0, "compatibility: Needs a network connection\n"),
];

/// Writes `size` skills below `root`, each in the folder of its name.
pub(super) fn write(root: &Path, size: usize) -> Result<()> {
    fs::create_dir_all(root)?;
    let mut random = Random::new(0x6d65_7469_6572);
    let prose = prose(&mut random);
    for number in 0..size {
        let skill = CorpusSkill::new(&mut random, number, &prose);
        let folder = root.join(&skill.name);
        fs::create_dir(&folder)?;
        fs::write(folder.join("SKILL.md"), skill.text())?;
        resources(&mut random, &folder)?;
    }
    Ok(())
}

struct CorpusSkill<'a> {
    name: String,
    /// The text between the two `---` lines.
    frontmatter: String,
    body: &'a str,
}

impl<'a> CorpusSkill<'a> {
    fn new(random: &mut Random, number: usize, prose: &'a str) -> Self {
        let name = format!("{}-{}-{number}", random.pick(VERBS), random.pick(NOUNS));
        let mut frontmatter = format!("name: {name}\n");
        description(random, &mut frontmatter);
        if random.chance(15.0) {
            allowed_tools(random, &mut frontmatter);
        }
        if random.chance(12.0) {
            flow_metadata(random, &mut frontmatter);
        } else if random.chance(11.4) {
            // 10 % of all, taken from the other 88 %.
            let version = random.below(9);
            let _ = write!(
                frontmatter,
                "metadata:\n  author: someone\n  version: \"1.{version}.0\"\n"
            );
        }
        for (percent, line) in PLAIN_KEYS {
            if random.chance(*percent) {
                frontmatter.push_str(line);
            }
        }
        Self {
            name,
            frontmatter,
            body: body(random, prose),
        }
    }

    fn text(&self) -> String {
        let Self {
            name,
            frontmatter,
            body,
        } = self;
        format!("---\n{frontmatter}---\n\n# {name}\n\n{body}\n")
    }
}

/// Mostly plain; quoted 10 %, folded 8 %, broken by an unquoted colon 0.8 %.
fn description(random: &mut Random, out: &mut String) {
    let length = random.quantile(DESCRIPTION_CHARS);
    let text = sentence(random, length);
    let style = random.share() * 100.0;
    let _ = match style {
        ..0.8 => writeln!(out, "description: Use when: {text}"),
        ..10.8 => writeln!(out, "description: \"Note: {text}\""),
        ..18.8 => {
            out.push_str("description: >-\n");
            folded(&text, out)
        }
        _ => writeln!(out, "description: {text}"),
    };
}

fn folded(text: &str, out: &mut String) -> std::fmt::Result {
    let mut line = String::from(" ");
    for word in text.split(' ') {
        if line.len() + word.len() > 78 {
            writeln!(out, "{line}")?;
            line = String::from(" ");
        }
        write!(line, " {word}")?;
    }
    writeln!(out, "{line}")
}

/// Words without a special meaning in YAML; one in fourteen texts is not ASCII.
fn sentence(random: &mut Random, length: usize) -> String {
    let mut text = String::from("Use this skill");
    let mut count = text.len();
    let foreign = random.chance(7.0);
    while count < length {
        let word = if foreign && random.chance(10.0) {
            random.pick(FOREIGN_WORDS)
        } else {
            random.pick(WORDS)
        };
        text.push(' ');
        text.push_str(word);
        count += 1 + word.chars().count();
    }
    text.push('.');
    text
}

/// Comma string 44 %, list 29 %, single 17 %, separated by spaces 10 %.
fn allowed_tools(random: &mut Random, out: &mut String) {
    let count = 2 + random.below(3);
    let tools: Vec<&str> = (0..count).map(|_| random.pick(TOOLS)).collect();
    let style = random.share() * 100.0;
    let _ = match style {
        ..44.0 => writeln!(out, "allowed-tools: {}", tools.join(", ")),
        ..73.0 => writeln!(out, "allowed-tools:\n  - {}", tools.join("\n  - ")),
        ..90.0 => writeln!(out, "allowed-tools: {}", tools[0]),
        _ => writeln!(out, "allowed-tools: {}", tools.join(" ")),
    };
}

fn flow_metadata(random: &mut Random, out: &mut String) {
    let emoji = random.pick(&["🔧", "🐛", "📦", "🔊"]);
    let missing = format!("no-such-tool-{}", random.below(50));
    let bins = random.pick(&["\"sh\"", "\"git\"", "\"sh\", \"git\"", "missing"]);
    let bins = if bins == "missing" {
        format!("\"{missing}\"")
    } else {
        bins.to_owned()
    };
    let _ = writeln!(
        out,
        "metadata: {{\"openclaw\": {{\"emoji\": \"{emoji}\", \"requires\": {{\"bins\": [{bins}]}}}}}}"
    );
}

/// A slice of the common prose that starts and ends between lines.
fn body<'a>(random: &mut Random, prose: &'a str) -> &'a str {
    let length = random.quantile(BODY_BYTES);
    let start = random.below(prose.len() - length);
    let start = prose[..ceil(prose, start)]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let end = ceil(prose, start + length);
    let end = prose[end..].find('\n').map_or(prose.len(), |at| end + at);
    &prose[start..end]
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len())
}

/// Long enough for every body: headings, paragraphs, lists and code, with lines of usual length.
fn prose(random: &mut Random) -> String {
    let mut text = String::new();
    while text.len() < 400_000 {
        let _ = match random.below(10) {
            0 => writeln!(text, "\n## {}\n", sentence(random, 25)),
            1 => writeln!(
                text,
                "\n```bash\ngit log --oneline | head -{}\n```\n",
                random.below(50)
            ),
            2..5 => writeln!(text, "- {}", sentence(random, 70)),
            _ => writeln!(text, "{}", sentence(random, 110)),
        };
    }
    text
}

/// 68 % are a single file.
fn resources(random: &mut Random, folder: &Path) -> Result<()> {
    const KINDS: &[(&str, f64, &str, &str)] = &[
        (
            "scripts",
            19.0,
            "run.sh",
            "#!/bin/sh\nset -eu\necho \"$@\"\n",
        ),
        ("references", 14.0, "guide.md", "# Guide\n\nMore to read.\n"),
        ("assets", 3.0, "template.txt", "Hello {name}\n"),
    ];
    for (name, percent, file, content) in KINDS {
        if random.chance(*percent) {
            fs::create_dir(folder.join(name))?;
            fs::write(folder.join(name).join(file), content)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod tests;
