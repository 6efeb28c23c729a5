//! The files of a new skill. They are next to this file, one folder for each type; `{{words}}` in them are replaced.
//!
//! A new skill is an example before it is anything else: it must be short enough to be read in a minute, and it must work.

pub(crate) mod sdk;

use metier::skill::SkillType;

/// The skill that is asked for.
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: SkillType,
    /// Nothing for a skill without code.
    pub(crate) language: Option<Language>,
    pub(crate) form: Form,
}

/// How the code is run. Only Rust is built; code in other languages is run unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Program,
    Library,
    Component,
    /// A text that metier interprets.
    Embedded,
}

/// What the code of a skill is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// Inside metier.
    #[value(skip)]
    Starlark,
    /// Python 3.9 or newer
    Python,
    /// Node 22.18 or newer, or Deno; with `--backend js` nothing
    Typescript,
    /// A program that is built first
    Rust,
}

/// One file of a new skill.
pub(crate) struct Made {
    /// Below the skill's folder.
    pub(crate) path: &'static str,
    /// What it is for, in a few words.
    pub(crate) about: &'static str,
    pub(crate) content: String,
}

/// The guest libraries, as they are shipped next to a skill's code.
const PYTHON_GUEST: &str = include_str!("../../../../sdk/python/metier.py");
const TYPESCRIPT_GUEST: &str = include_str!("../../../../sdk/typescript/metier.ts");

/// The schema of the manifest, in the folder of the skill.
const SCHEMA: &str = "SKILL.schema.json";

/// The templates of one type.
struct Set {
    description: &'static str,
    /// What to type to see it work.
    attempt: &'static str,
    manifest: &'static str,
    text: &'static str,
    cases: &'static str,
    starlark: &'static str,
    python: &'static str,
    typescript: &'static str,
    rust: &'static str,
    plugin: &'static str,
}

macro_rules! set {
    ($folder:literal, $description:literal, $attempt:literal) => {
        Set {
            description: $description,
            attempt: $attempt,
            manifest: include_str!(concat!($folder, "/SKILL.yaml")),
            text: include_str!(concat!($folder, "/SKILL.md")),
            cases: include_str!(concat!($folder, "/cases.yaml")),
            starlark: include_str!(concat!($folder, "/skill.star")),
            python: include_str!(concat!($folder, "/main.py")),
            typescript: include_str!(concat!($folder, "/main.ts")),
            rust: include_str!(concat!($folder, "/main.rs")),
            plugin: include_str!(concat!($folder, "/lib.rs")),
        }
    };
}

static TOOL: Set = set!(
    "tool",
    "Counts the lines and words of text files. Use when the user asks how long a text is.",
    "metier --root . --approve-skills {{name}} call {{name}} count '{\"path\": \"{{name}}/README.md\"}'"
);
static PROMPT: Set = set!(
    "prompt",
    "Writes release notes that users understand. Use to write or review a changelog or release notes.",
    "metier --root . show {{name}}"
);
static WORKFLOW: Set = set!(
    "workflow",
    "Writes a checklist into the project. Use when a task has several steps to check off.",
    "metier --root . --approve-skills {{name}} run {{name}} \"First step\" \"Second step\""
);
static SECURITY_RULE: Set = set!(
    "security-rule",
    "Checks shell scripts and file permissions. Use to check skills and tool calls before they run.",
    "metier --root . scan .    # its pattern is applied to every skill in this folder"
);
static TRANSFORM: Set = set!(
    "transform",
    "Removes padding from answers. Use when answers should be short.",
    "metier test {{name}}"
);

impl Language {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Starlark => "starlark",
            Self::Python => "python",
            Self::Typescript => "typescript",
            Self::Rust => "rust",
        }
    }
}

impl Wish<'_> {
    /// What runs the code, if there is any.
    pub(crate) const fn backend(&self) -> Option<&'static str> {
        match (self.language, self.form) {
            (None, _) => None,
            (Some(Language::Starlark), _) => Some("starlark"),
            (Some(_), Form::Embedded) => Some("js"),
            (Some(_), Form::Program) => Some("process"),
            (Some(_), Form::Library) => Some("native"),
            (Some(_), Form::Component) => Some("wasm"),
        }
    }

    fn set(&self) -> &'static Set {
        match self.kind {
            SkillType::Tool => &TOOL,
            SkillType::Prompt => &PROMPT,
            SkillType::Workflow => &WORKFLOW,
            SkillType::SecurityRule => &SECURITY_RULE,
            SkillType::Transform => &TRANSFORM,
        }
    }

    /// The lines of SKILL.yaml about the code that is run, and what it requires.
    fn implementation(&self) -> String {
        let (entrypoint, program) = match (self.language, self.form) {
            (None, _) => return String::new(),
            (Some(Language::Starlark), _) => ("skill.star", None),
            (Some(Language::Python), _) => ("main.py", Some("python3")),
            (Some(Language::Typescript), Form::Embedded) => ("main.ts", None),
            (Some(Language::Typescript), _) => ("main.ts", Some("node")),
            (Some(Language::Rust), Form::Program | Form::Embedded) => ("bin/program", None),
            (Some(Language::Rust), Form::Library) => ("lib/skill.so", None),
            (Some(Language::Rust), Form::Component) => ("lib/skill.wasm", None),
        };
        let backend = self.backend().unwrap_or_default();
        let lines = format!("implementation: {{backend: {backend}, entrypoint: {entrypoint}}}");
        match program {
            None => lines,
            Some(program) => format!("{lines}\nrequires: {{bins: [{program}]}}"),
        }
    }

    /// The part of Cargo.toml about a library.
    const fn library(&self) -> &'static str {
        match self.form {
            Form::Program | Form::Embedded => "",
            Form::Library | Form::Component => "[lib]\ncrate-type = [\"cdylib\"]\n\n",
        }
    }

    /// `word-counter` → `Word counter`
    fn title(&self) -> String {
        let words = self.name.replace('-', " ");
        let mut letters = words.chars();
        match letters.next() {
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => words,
        }
    }

    fn filled(&self, template: &str) -> String {
        template
            .replace("{{implementation}}", &self.implementation())
            .replace("{{library}}", self.library())
            .replace("{{crate}}", &self.name.replace('-', "_"))
            .replace("{{description}}", self.set().description)
            .replace("{{title}}", &self.title())
            .replace("{{name}}", self.name)
    }
}

/// Everything that a new skill consists of.
pub(crate) fn files(wish: &Wish<'_>) -> Vec<Made> {
    let set = wish.set();
    let made = |path, about, template: &str| Made {
        path,
        about,
        content: format!("{}\n", wish.filled(template).trim_end()),
    };
    let manifest = format!("# yaml-language-server: $schema={SCHEMA}\n{}", set.manifest);
    let mut files = vec![
        made("SKILL.yaml", "the manifest, for metier", &manifest),
        made("SKILL.md", "the text, for the model", set.text),
    ];
    files.extend(schema());
    if wish.kind == SkillType::Prompt {
        let about = "what a model gets while it is active";
        files.push(made("prompt.md", about, include_str!("prompt/prompt.md")));
    }
    let guest = |path, library: &str| Made {
        path,
        about: "the library that connects it to metier",
        content: library.to_owned(),
    };
    let code = "the code";
    match wish.language {
        None => {}
        Some(Language::Starlark) => files.push(made("skill.star", code, set.starlark)),
        Some(Language::Python) => {
            files.push(made("main.py", code, set.python));
            files.push(guest("metier.py", PYTHON_GUEST));
        }
        Some(Language::Typescript) if wish.form == Form::Embedded => {
            files.push(made("main.ts", code, &embedded(set.typescript)));
        }
        Some(Language::Typescript) => {
            files.push(made("main.ts", code, set.typescript));
            files.push(guest("metier.ts", TYPESCRIPT_GUEST));
            let package = include_str!("package.json");
            files.push(made("package.json", "declares it as a module", package));
        }
        Some(Language::Rust) => {
            files.push(match wish.form {
                Form::Program | Form::Embedded => made("src/main.rs", code, set.rust),
                Form::Library | Form::Component => made("src/lib.rs", code, set.plugin),
            });
            files.push(made(
                "Cargo.toml",
                "the build configuration",
                include_str!("Cargo.toml"),
            ));
        }
    }
    let mut cases = set.cases.to_owned();
    if wish.kind == SkillType::Prompt && wish.language.is_some() {
        cases.push_str(include_str!("prompt/cases-code.yaml"));
    }
    files.push(made("tests/cases.yaml", "the test cases", &cases));
    files.push(readme(wish, &files));
    files
}

/// The schema of the manifest, for editors: they complete and check it. It is not packed.
fn schema() -> Option<Made> {
    let named = metier_wire::schemas().find(|named| named.name == "SKILL.yaml")?;
    let text = serde_json::to_string_pretty(&named.schema()).ok()?;
    Some(Made {
        path: SCHEMA,
        about: "the schema of the manifest, for editors",
        content: format!("{text}\n"),
    })
}

/// A program in TypeScript as the engine inside metier runs it: it has no entry point, and the guest library is built in.
fn embedded(program: &str) -> String {
    let code = program.trim_start_matches("#!/usr/bin/env node\n");
    code.replace(r#"from "./metier.ts""#, r#"from "metier""#)
}

fn readme(wish: &Wish<'_>, files: &[Made]) -> Made {
    let build = match (wish.language, wish.form) {
        (Some(Language::Rust), Form::Program) => include_str!("build.md"),
        (Some(Language::Rust), Form::Library) => include_str!("build-library.md"),
        (Some(Language::Rust), Form::Component) => include_str!("build-component.md"),
        _ => "",
    };
    let attempt = format!(
        "{build}## Try it\n\nIn the folder above this one:\n\n```text\n{}\n```",
        wish.set().attempt
    );
    let table: Vec<String> = files
        .iter()
        .map(|file| format!("- `{}`: {}", file.path, file.about))
        .collect();
    let template = include_str!("README.md")
        .replace("{{try}}", &attempt)
        .replace("{{files}}", &table.join("\n"));
    Made {
        path: "README.md",
        about: "for people",
        content: wish.filled(&template),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [SkillType; 5] = [
        SkillType::Tool,
        SkillType::Prompt,
        SkillType::Workflow,
        SkillType::SecurityRule,
        SkillType::Transform,
    ];

    #[test]
    fn every_word_is_replaced_and_every_case_can_be_read() {
        let languages = [
            (None, Form::Program),
            (Some(Language::Starlark), Form::Embedded),
            (Some(Language::Typescript), Form::Embedded),
            (Some(Language::Python), Form::Program),
            (Some(Language::Typescript), Form::Program),
            (Some(Language::Rust), Form::Program),
            (Some(Language::Rust), Form::Library),
            (Some(Language::Rust), Form::Component),
        ];
        for (kind, (language, form)) in KINDS
            .iter()
            .flat_map(|kind| languages.map(|one| (*kind, one)))
        {
            let name = "a-name";
            let made = files(&Wish {
                name,
                kind,
                language,
                form,
            });
            for file in made.iter().filter(|file| !file.path.starts_with("metier.")) {
                assert!(!file.content.contains("{{"), "{kind:?} {}", file.path);
                assert!(file.content.ends_with('\n'), "{kind:?} {}", file.path);
            }
            let cases = made.iter().find(|file| file.path == "tests/cases.yaml");
            let cases = metier_model::cases_in_file(&cases.unwrap().content).unwrap();
            assert!(cases.len() > 1, "{kind:?}");
        }
    }

    #[test]
    fn the_tutorial_knows_every_built_in() {
        let page = include_str!("../../../../docs/writing-skills.md");
        for builtin in metier_starlark::reference() {
            let permission = builtin.permission.map_or("", |one| one.as_str());
            let row = match permission {
                "" => format!("| `{}` |  | {} |", builtin.signature, builtin.doc),
                one => format!("| `{}` | `{one}` | {} |", builtin.signature, builtin.doc),
            };
            assert!(
                page.contains(&row),
                "docs/writing-skills.md has no line\n{row}"
            );
        }
    }
}
