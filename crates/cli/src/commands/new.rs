//! `metier new`

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use metier::{
    Machine,
    skill::{MAX_NAME, SkillName, SkillType, Source, conforming, departures},
    text::shell_word,
};
use metier_wire::NewDocument;

use crate::{
    failure::{Exit, Failure},
    output::{Output, one_line},
    templates::{self, Form, Language, Made, Wish},
};

/// Create a new, working skill
///
/// Writes a folder with a manifest, instructions for the model, code, a README and tests, all of them small and meant to be changed. The
/// skill is valid, scans clean, and its tests pass.
#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// The skill's name: lower-case letters, digits and hyphens
    name: String,
    /// What it contributes
    #[arg(long = "type", value_name = "TYPE", default_value = "tool", value_parser = kinds())]
    kind: SkillType,
    /// What runs its code [default: starlark, or none for a prompt]
    #[arg(long, value_name = "BACKEND", value_parser = backends())]
    backend: Option<String>,
    /// What the program is written in
    #[arg(long, value_enum)]
    language: Option<Language>,
    /// Create its folder in this one instead of here
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

fn kinds() -> impl TypedValueParser<Value = SkillType> {
    let words = [
        ("tool", "functions that a model calls"),
        ("prompt", "a text for the model, without code"),
        (
            "workflow",
            "a sequence of steps that runs with `metier run`",
        ),
        ("security-rule", "findings for the scanner"),
        ("transform", "changes the final answer"),
    ];
    let values = words.map(|(word, about)| PossibleValue::new(word).help(about));
    PossibleValuesParser::new(values).try_map(|word| word.parse::<SkillType>())
}

fn backends() -> PossibleValuesParser {
    let words = [
        ("starlark", "Starlark, a small Python; needs nothing else"),
        ("js", "TypeScript or JavaScript; needs nothing else"),
        (
            "process",
            "a program: --language python, typescript or rust",
        ),
        ("native", "a library in Rust"),
        ("wasm", "a WebAssembly component in Rust"),
    ];
    let value = |(word, about): (&'static str, &'static str)| {
        let value = PossibleValue::new(word).help(about);
        if word == "native" {
            value.alias("plugin")
        } else {
            value
        }
    };
    PossibleValuesParser::new(words.map(value))
}

pub(crate) fn run(args: &NewArgs, machine: &Machine, output: &Output) -> Result<Exit, Failure> {
    let name = valid_name(&args.name)?;
    let (language, form) = language(args)?;
    let wish = Wish {
        name,
        kind: args.kind,
        language,
        form,
    };
    let below = match &args.path {
        Some(path) => machine.work.join(path),
        None => machine.work.clone(),
    };
    let folder = below.join(name);
    let files = templates::files(&wish);
    let unwritten = |error: io::Error| {
        Failure::unmet(
            "not-written",
            format!("the skill can't be written: {error}"),
        )
        .path(&folder)
        .hint("name another folder with --path")
    };
    fs::create_dir_all(&below).map_err(unwritten)?;
    match fs::create_dir(&folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(&folder)),
        Err(error) => return Err(unwritten(error)),
    }
    if let Err(error) = write(&folder, &files) {
        // The folder did not exist before.
        let _half_made = fs::remove_dir_all(&folder);
        return Err(unwritten(error));
    }
    if wish.language == Some(Language::Rust) {
        templates::sdk::write(&below.join(templates::sdk::FOLDER)).map_err(unwritten)?;
    }
    report(&wish, &folder, &files, machine, output)?;
    Ok(Exit::Ok)
}

/// A name that conforms, or the rule and the nearest name that does.
fn valid_name(name: &str) -> Result<&str, Failure> {
    let usable = SkillName::new(name);
    let shown = one_line(name);
    if usable.is_ok() && departures(name).next().is_none() {
        return Ok(name);
    }
    let failure = Failure::unmet("name", format!("`{shown}` can't be the name of a skill"));
    let failure = match usable {
        Err(error) => failure.detail(error.to_string()),
        Ok(_) => failure.detail(format!(
            "a name consists of lower-case letters and digits, separated by single hyphens, at most {MAX_NAME} characters"
        )),
    };
    let near = conforming(name);
    let fits = SkillName::new(&near).is_ok();
    Err(match fits && near != name {
        true => failure.hint(format!("metier new {near}")),
        false => failure.hint("choose a name such as `word-counter`"),
    })
}

/// The language of the code, if there is any, and the form in which it is built.
fn language(args: &NewArgs) -> Result<(Option<Language>, Form), Failure> {
    const BACKENDS: &str = "metier new NAME --backend starlark, js, process, native or wasm";
    let wrong = |message: &str, hint: &str| {
        let hint = hint.replace("NAME", &shell_word(&args.name));
        Err(Failure::broken("backend", message).hint(hint))
    };
    match (args.backend.as_deref(), args.language) {
        (Some("process"), language) => {
            Ok((Some(language.unwrap_or(Language::Python)), Form::Program))
        }
        (Some("native" | "plugin"), None | Some(Language::Rust)) => {
            Ok((Some(Language::Rust), Form::Library))
        }
        (Some("native" | "plugin"), Some(language)) => wrong(
            &format!("a library can't be written in {}", language.as_str()),
            &format!(
                "metier new NAME --backend native --language rust, or --backend process --language {}",
                language.as_str()
            ),
        ),
        (Some("wasm"), None | Some(Language::Rust)) => Ok((Some(Language::Rust), Form::Component)),
        (Some("wasm"), Some(language)) => wrong(
            &format!(
                "`metier new` can't create a component in {}; see docs/wasm-guests.md",
                language.as_str()
            ),
            "metier new NAME --backend wasm --language rust",
        ),
        (Some("js"), None | Some(Language::Typescript)) => {
            Ok((Some(Language::Typescript), Form::Embedded))
        }
        (Some("js"), Some(language)) => wrong(
            &format!(
                "the engine for JavaScript does not run {}",
                language.as_str()
            ),
            &format!(
                "metier new NAME --backend process --language {}",
                language.as_str()
            ),
        ),
        (_, Some(language)) => wrong(
            "a language can be chosen only for `--backend process`",
            &format!(
                "metier new NAME --backend process --language {}",
                language.as_str()
            ),
        ),
        (None, None) if args.kind == SkillType::Prompt => Ok((None, Form::Program)),
        (Some("starlark") | None, None) => Ok((Some(Language::Starlark), Form::Embedded)),
        (Some(other), None) => wrong(
            &format!("there is no backend `{}`", one_line(other)),
            BACKENDS,
        ),
    }
}

fn taken(folder: &Path) -> Failure {
    Failure::unmet(
        "exists",
        format!(
            "`{}` already exists; nothing was changed",
            one_line(&folder.file_name().unwrap_or_default().to_string_lossy())
        ),
    )
    .path(folder)
    .hint("choose another name, or another folder with --path")
}

fn write(folder: &Path, files: &[Made]) -> io::Result<()> {
    for file in files {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &file.content)?;
    }
    Ok(())
}

fn report(
    wish: &Wish<'_>,
    folder: &Path,
    files: &[Made],
    machine: &Machine,
    output: &Output,
) -> Result<(), Failure> {
    if output.is_json() {
        let paths: Vec<&str> = files.iter().map(|file| file.path).collect();
        return output.document(&NewDocument {
            name: wish.name,
            path: folder.to_string_lossy().into_owned(),
            kind: wish.kind.as_str(),
            backend: wish.backend(),
            language: wish.language.map(Language::as_str),
            files: paths,
        });
    }
    let shown = folder.strip_prefix(&machine.work).unwrap_or(folder);
    let shown = shown.to_string_lossy();
    output.text(&format!("made {}\n", one_line(&shown)))?;
    for file in files {
        output.note(&format!("  {:<17} {}", file.path, file.about));
    }
    let word = shell_word(&shown);
    output.note(&match wish.language {
        Some(Language::Rust) => {
            format!("next: build it as in {word}/README.md, then metier test {word}")
        }
        _ => format!("next: metier test {word}"),
    });
    output.note(&reach(&shown, folder, machine));
    Ok(())
}

/// How the skill reaches an agent from where it is.
fn reach(shown: &str, folder: &Path, machine: &Machine) -> String {
    let word = shell_word(shown);
    let roots = machine.skill_roots();
    let root = roots
        .iter()
        .find(|root| folder.parent() == Some(&root.path));
    match root {
        Some(root) if root.source == Source::Project && root.agent.is_none() => format!(
            "to use it: metier trust; for other agents: mv {word} .claude/skills/ or ~/.agents/skills/"
        ),
        Some(root) if root.source == Source::Project => {
            "it is where agents look for the skills of this project; metier uses it after: metier trust".to_owned()
        }
        Some(_) => "it is where agents look for your skills".to_owned(),
        None => {
            let path = match folder.strip_prefix(&machine.work) {
                Ok(_) => shell_word(&format!("./{shown}")).into_owned(),
                Err(_) => word.into_owned(),
            };
            format!("to use it: metier install {path}, or for a project: metier add {path}")
        }
    }
}
