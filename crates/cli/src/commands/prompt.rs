//! `metier prompt`

use std::{
    collections::BTreeSet,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::ValueEnum;
use metier::ShowOptions;
use metier_catalog::read_named;
use metier_model::hooks::may_hook;
use metier_runtime::{
    Inventory,
    prompt::{self, FullOptions, Listing},
    render::Arguments,
};
use metier_wire::{PromptDocument, PromptSkill};

use crate::{
    active,
    commands::find_usable,
    failure::Failure,
    output::{Tone, count, one_line},
    session::Session,
};

/// The largest base text, in bytes.
const MAX_BASE: u64 = 16 << 20;

/// Print what a model would be told about the skills
///
/// By default the catalog: name, description and location of every skill that is ready. Skills named
/// with `--skills` are active: their texts follow the catalog, each with the prompt files of its manifest, then what
/// their `before_prompt_build` hooks add. `--mode full` prints whole bodies.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How the catalog is written
    #[arg(long, value_enum, default_value_t = Format::Xml)]
    format: Format,
    /// The catalog, or whole bodies
    #[arg(long, value_enum, default_value_t = Mode::Catalog)]
    mode: Mode,
    /// At most so many skills; 0 is no limit [default: no limit; 20 in full mode]
    #[arg(long, value_name = "N")]
    max_skills: Option<usize>,
    /// What stands behind each body in full mode
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "\n\n---\n\n",
        hide_default_value = true
    )]
    separator: String,
    /// At most so many tokens (estimated): descriptions get shorter before skills are left out
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Put this file before it; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Also skills that lack something
    #[arg(long)]
    include_disabled: bool,
    /// Print the frame even when there are no skills
    #[arg(long)]
    keep_empty: bool,
    /// Leave the instruction out
    #[arg(long)]
    bare: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Xml,
    Markdown,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    Catalog,
    Full,
}

/// How long skills are scanned before they are named.
const SCAN_TIME: Duration = Duration::from_secs(2);

/// How many bodies the full form holds unless somebody says otherwise.
const FULL_SKILLS: usize = 20;

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    if args.mode == Mode::Full && (args.budget.is_some() || args.bare || args.keep_empty) {
        let message = "--budget, --bare and --keep-empty are for the catalog, not for whole bodies";
        return Err(Failure::broken("usage", message).hint("leave out `--mode full`"));
    }
    let base = args
        .base
        .as_deref()
        .map(|file| read_base(session, file))
        .transpose()?
        .unwrap_or_default();
    let inventory = session.inventory()?;
    match args.mode {
        Mode::Catalog => catalog(session, args, inventory, &base),
        Mode::Full => full(session, args, &inventory, &base),
    }
}

fn read_base(session: &Session, file: &Path) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        let mut stdin = std::io::stdin().lock().take(MAX_BASE);
        stdin.read_to_string(&mut text).map(|_| text)
    } else {
        read_named(&session.machine.work.join(file), MAX_BASE)
    };
    text.map_err(|error| {
        Failure::broken("base", format!("the base text can't be read: {error}"))
            .path(file)
            .hint("check the file behind `--base`")
    })
}

fn catalog(
    session: &Session,
    args: &Args,
    mut inventory: Inventory,
    base: &str,
) -> Result<ExitCode, Failure> {
    let configured = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
    let options = prompt::Options {
        format: if args.format == Format::Markdown {
            prompt::Format::Markdown
        } else {
            prompt::Format::Xml
        },
        max_skills: args
            .max_skills
            .or(configured(session.config.prompt.max_skills))
            .unwrap_or(0),
        budget: args.budget.or(configured(session.config.prompt.budget)),
        include_disabled: args.include_disabled,
        keep_empty: args.keep_empty,
        bare: args.bare,
        unscanned_locations: !session.config.security.scan_on_load,
    };
    let left = scan_offered(session, args, &mut inventory)?;
    let inventory = Arc::new(inventory);
    let listing = prompt::listing(&inventory, &options);
    let active = active_bodies(session, &inventory)?;
    let mut text = base.to_owned();
    if !base.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&prompt::write(&listing.lines, &options));
    for body in &active {
        text.push('\n');
        text.push_str(body);
    }
    if args.format == Format::Json || session.output.is_json() {
        let more = !base.is_empty() || !active.is_empty();
        let text = more.then_some(text.as_str());
        let document = PromptDocument {
            text,
            ..document(&listing)
        };
        session.output.document(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    session.output.content(&text)?;
    remarks(session, &listing);
    if left > 0 {
        let seconds = SCAN_TIME.as_secs();
        session.output.note(&format!(
            "{} {} not scanned within {seconds} s, named without a location: metier list --scan",
            session.output.paint_talk("note:", Tone::Note),
            count(left, "skill"),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Scans what the catalog would name and was never scanned, for a moment; how many are left. Nothing is named by its path before.
fn scan_offered(
    session: &Session,
    args: &Args,
    inventory: &mut Inventory,
) -> Result<usize, Failure> {
    let wanted = prompt::unscanned(inventory, args.include_disabled);
    if wanted.is_empty() || !session.config.security.scan_on_load {
        return Ok(0);
    }
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    Ok(screening.look_at(inventory, wanted, Some(SCAN_TIME)))
}

/// The bodies of the skills that were named with `--skills`.
fn active_bodies(session: &Session, inventory: &Arc<Inventory>) -> Result<Vec<String>, Failure> {
    if session.global.skills.is_empty() {
        return Ok(Vec::new());
    }
    let names = session.global.skills.iter();
    let bodies: Result<Vec<String>, Failure> = names
        .map(|name| {
            let entry = inventory.entry(find_usable(session, inventory, name)?);
            let how = ShowOptions::default();
            let shown = session.show(inventory, entry, &Arguments::default(), how)?;
            Ok(shown.content)
        })
        .collect();
    let mut all = bodies?;
    all.extend(injected(session, inventory)?);
    Ok(all)
}

/// What the hooks of the active skills inject besides their texts.
fn injected(session: &Session, inventory: &Arc<Inventory>) -> Result<Option<String>, Failure> {
    let limit = session.config.limits.max_skill_bytes;
    let mut adds = false;
    for name in &session.global.skills {
        let entry = inventory.entry(find_usable(session, inventory, name)?);
        let files = entry.place.files().unwrap_or_default();
        adds |= files
            .iter()
            .any(|file| file.path.as_str().is_some_and(may_hook));
        adds |= inventory.plugin_of(entry).is_some();
        let loaded = entry.load(metier_model::Mode::Lenient, limit).ok();
        adds |= loaded
            .and_then(|(parsed, _)| parsed.manifest)
            .is_some_and(|manifest| {
                manifest.card.backend.is_some() || manifest.invocation.hooks.is_some()
            });
    }
    if !adds {
        return Ok(None);
    }
    let text = active::with(session, inventory, &[], |runtime| {
        let names = runtime.names();
        names.iter().for_each(|name| runtime.note_instructed(name));
        runtime.build_prompt("").map_err(active::no_prompt)
    })?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn document<'a>(listing: &'a Listing<'a>) -> PromptDocument<'a> {
    let skill = |line: &'a prompt::Line<'a>| PromptSkill {
        name: line.name,
        description: &line.description,
        location: Some(line.location.as_str()).filter(|location| !location.is_empty()),
    };
    PromptDocument {
        skills: listing.lines.iter().map(skill).collect(),
        omitted: listing.omitted,
        shortened: listing.shortened,
        tokens: listing.tokens,
        text: None,
    }
}

fn remarks(session: &Session, listing: &Listing<'_>) {
    if listing.omitted + listing.shortened > 0 {
        let line = format!(
            "{} left out, {} shortened; about {} tokens",
            count(listing.omitted, "skill"),
            count(listing.shortened, "description"),
            listing.tokens
        );
        session.output.note(&format!(
            "{} {line}",
            session.output.paint_talk("note:", Tone::Note)
        ));
    }
}

fn full(
    session: &Session,
    args: &Args,
    inventory: &Inventory,
    base: &str,
) -> Result<ExitCode, Failure> {
    let options = FullOptions {
        base,
        max_skills: args.max_skills.unwrap_or(FULL_SKILLS),
        separator: &args.separator,
        include_disabled: args.include_disabled,
        mode: session.mode(),
        max_skill_bytes: session.config.limits.max_skill_bytes,
    };
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let (text, failed, omitted) = prompt::full(inventory, &options, |entry| {
        screening.admit(&inventory.catalog, entry)
    });
    if omitted > 0 {
        session.output.note(&format!(
            "{} {} left out: --max-skills is {}, and 0 is no limit",
            session.output.paint_talk("note:", Tone::Note),
            count(omitted, "skill"),
            options.max_skills
        ));
    }
    let left_out: BTreeSet<String> = failed.iter().map(|(name, _)| name.clone()).collect();
    for (name, error) in failed {
        session.output.note(&format!(
            "{} skill `{}` was left out: {}",
            session.output.paint_talk("warning:", Tone::Warn),
            one_line(&name),
            one_line(&error.to_string())
        ));
    }
    if args.format == Format::Json || session.output.is_json() {
        let mut listing = prompt::listing(
            inventory,
            &prompt::Options {
                max_skills: options.max_skills,
                include_disabled: args.include_disabled,
                ..prompt::Options::default()
            },
        );
        listing.lines.retain(|line| !left_out.contains(line.name));
        let tokens = metier_runtime::count_tokens(&text);
        session.output.document(&PromptDocument {
            tokens,
            text: Some(&text),
            ..document(&listing)
        })?;
    } else {
        session.output.content(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
