//! `metier prompt`

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use metier::{
    prompts::{PromptFormat, PromptOptions, PromptedSkill, SkillPrompt},
    read_named,
};
use metier_wire::{PromptDocument, PromptSkill};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count},
};

/// The largest base text, in bytes.
const MAX_BASE: u64 = 16 << 20;

/// Print the skills as a system prompt
///
/// By default the catalog: name, description and location of every skill that is ready. Skills named
/// with `--skills` are active: their instructions follow the catalog, each with the prompt files of its manifest, then the additions of
/// their `before_prompt_build` hooks. `--mode full` prints whole bodies.
#[derive(clap::Args)]
pub(crate) struct PromptArgs {
    /// The format of the catalog
    #[arg(long, value_enum, default_value_t = PromptFormatArg::Xml)]
    format: PromptFormatArg,
    /// The catalog, or whole bodies
    #[arg(long, value_enum, default_value_t = PromptModeArg::Catalog)]
    mode: PromptModeArg,
    /// At most this many skills; 0 is no limit [default: no limit; 20 in full mode]
    #[arg(long, value_name = "N")]
    max_skills: Option<usize>,
    /// The separator after each body in full mode
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "\n\n---\n\n",
        hide_default_value = true
    )]
    separator: String,
    /// At most this many tokens (estimated): descriptions are shortened before skills are only named, and then left out
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Skills that fit this task come first, and keep their descriptions
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Put the content of this file before it; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Include skills that are not ready
    #[arg(long)]
    include_disabled: bool,
    /// Print the enclosing section even when there are no skills
    #[arg(long)]
    keep_empty: bool,
    /// Omit the instructions for the model
    #[arg(long)]
    bare: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PromptFormatArg {
    Xml,
    Markdown,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PromptModeArg {
    Catalog,
    Full,
}

pub(crate) fn run(run: &CliRun, args: &PromptArgs) -> Result<Exit, Failure> {
    if args.mode == PromptModeArg::Full && has_catalog_option(args) {
        let message =
            "--task, --budget, --bare and --keep-empty are for the catalog, not for whole bodies";
        return Err(Failure::broken("usage", message).hint("leave out `--mode full`"));
    }
    let base = args
        .base
        .as_deref()
        .map(|file| read_base(run, file))
        .transpose()?
        .unwrap_or_default();
    let options = PromptOptions {
        base,
        format: match args.format {
            PromptFormatArg::Markdown => PromptFormat::Markdown,
            PromptFormatArg::Xml | PromptFormatArg::Json => PromptFormat::Xml,
        },
        max_skills: args.max_skills,
        budget: args.budget,
        task: args.task.clone(),
        include_not_ready: args.include_disabled,
        keep_empty: args.keep_empty,
        bare: args.bare,
    };
    let prompt = match args.mode {
        PromptModeArg::Catalog => run.prompt(&options)?,
        PromptModeArg::Full => run.full_prompt(&options, &args.separator)?,
    };
    if args.mode == PromptModeArg::Full {
        remark_bodies(run, args, &prompt);
    }
    if args.format == PromptFormatArg::Json || run.output.is_json() {
        run.output.document(&document(&prompt))?;
        return Ok(Exit::Ok);
    }
    run.output.content(&prompt.text)?;
    if args.mode == PromptModeArg::Catalog {
        remarks(run, &prompt);
    }
    Ok(Exit::Ok)
}

fn has_catalog_option(args: &PromptArgs) -> bool {
    args.budget.is_some() || args.task.is_some() || args.bare || args.keep_empty
}

fn read_base(run: &CliRun, file: &Path) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        let mut stdin = std::io::stdin().lock().take(MAX_BASE);
        stdin.read_to_string(&mut text).map(|_| text)
    } else {
        read_named(&run.machine().work.join(file), MAX_BASE)
    };
    text.map_err(|error| {
        Failure::broken("base", format!("the base text can't be read: {error}"))
            .path(file)
            .hint("check the file behind `--base`")
    })
}

fn document(prompt: &SkillPrompt) -> PromptDocument<'_> {
    fn row(skill: &PromptedSkill) -> PromptSkill<'_> {
        PromptSkill {
            name: &skill.name,
            description: &skill.description,
            location: skill.location.as_deref(),
        }
    }
    PromptDocument {
        skills: prompt.skills.iter().map(row).collect(),
        names: &prompt.names,
        omitted: prompt.omitted,
        shortened: prompt.shortened,
        tokens: prompt.tokens,
        text: prompt.has_more.then_some(prompt.text.as_str()),
    }
}

fn note(run: &CliRun, line: &str) {
    let word = run.output.paint_talk("note:", Tone::Note);
    run.output.note(&format!("{word} {line}"));
}

fn remarks(run: &CliRun, prompt: &SkillPrompt) {
    if prompt.omitted + prompt.shortened + prompt.names.len() > 0 {
        let line = format!(
            "{} left out, {} only named, {} shortened; about {} tokens",
            count(prompt.omitted, "skill"),
            prompt.names.len(),
            count(prompt.shortened, "description"),
            prompt.tokens
        );
        note(run, &line);
    }
    if prompt.unscanned > 0 {
        let line = format!(
            "{} not scanned within {} s, named without a location: metier list --scan",
            count(prompt.unscanned, "skill"),
            SkillPrompt::SCAN_TIME.as_secs(),
        );
        note(run, &line);
    }
}

fn remark_bodies(run: &CliRun, args: &PromptArgs, prompt: &SkillPrompt) {
    if prompt.bodies_left_out > 0 {
        let line = format!(
            "{} left out: --max-skills is {}, and 0 is no limit",
            count(prompt.bodies_left_out, "skill"),
            args.max_skills.unwrap_or(SkillPrompt::FULL_SKILLS)
        );
        note(run, &line);
    }
}
