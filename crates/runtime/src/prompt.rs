//! The catalog of skills for a model: names and descriptions, within a budget.
//!
//! The catalog form is progressive: a model gets names, descriptions and locations, and loads a body only when it needs one. When the
//! budget is tight, descriptions are shortened before any skill is left out, then skills are named without one, and only then left out.
//! Which skills lose their descriptions first is decided by the caller's order: by a task, or by the project. The full form contains whole
//! bodies, which some agents require.

use std::{borrow::Cow, fmt::Write};

use metier_catalog::{CatalogEntry, ReadError, Snapshot};
use metier_model::{
    Card, Strictness,
    model_text::{for_model, is_hidden},
    text,
};

use crate::{
    inventory::{Inventory, InventorySkill, Status},
    prompt_files::PromptFiles,
    tokens,
};

/// How the catalog is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PromptFormat {
    /// `<available_skills>`.
    #[default]
    Xml,
    /// A Markdown list.
    Markdown,
}

/// Content and size of the catalog.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingOptions {
    /// How it is written.
    pub format: PromptFormat,
    /// Maximum number of skills; 0 means no limit.
    pub max_skills: usize,
    /// The maximum number of tokens.
    pub budget: Option<usize>,
    /// Also skills that are not ready.
    pub include_disabled: bool,
    /// Write the frame even when it is empty.
    pub keep_empty: bool,
    /// Omit the instruction.
    pub bare: bool,
    /// Include the location of unscanned skills: the user disabled scanning.
    pub unscanned_locations: bool,
    /// The best skills come first and keep their whole descriptions; without it, all are sorted by name.
    pub by_task: bool,
    /// The command that finds the omitted skills, for a line at the end.
    pub finder: Option<&'static str>,
}

/// One skill as a model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptEntry<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Its description, truncated to fit the budget.
    pub description: Cow<'a, str>,
    /// The path of its SKILL.md; empty if it must not be read as a file, such as that of an unscanned skill.
    pub location: String,
}

/// The catalog that fits.
#[derive(Clone, Debug)]
pub struct PromptListing<'a> {
    /// One line per skill.
    pub lines: Vec<PromptEntry<'a>>,
    /// Skills that are only named.
    pub names: Vec<&'a str>,
    /// How many were left out.
    pub omitted: usize,
    /// How many descriptions were cut.
    pub shortened: usize,
    /// An estimate of the tokens of the written form.
    pub tokens: usize,
}

impl PromptListing<'_> {
    /// Whether any skill is not described in full.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.omitted + self.shortened + self.names.len() > 0
    }
}

const INSTRUCTION: &str = "Skills are folders of instructions for particular tasks. When a task matches the description of a skill, \
read the file at its location before you start, and follow it. Paths in a skill are relative to the folder of that file.";

/// The instruction for skills that are not files.
const BUILTIN: &str =
    " A location that starts with `builtin:` is read with the command `metier show NAME --raw`.";

/// The instruction for skills that were not scanned yet.
const UNSCANNED: &str = " A skill without a location is read with the command `metier show NAME --raw`, which scans it first.";

/// The skills that a catalog names and that were not scanned yet, as positions in the catalog.
#[must_use]
pub fn unscanned(inventory: &Inventory, include_disabled: bool) -> Vec<usize> {
    offered(inventory, include_disabled)
        .filter(|skill| inventory.is_unscanned(skill))
        .map(|skill| skill.entry)
        .collect()
}

/// The skills that a model may choose, as they fit into the budget.
#[must_use]
pub fn listing<'a>(inventory: &'a Inventory, options: &ListingOptions) -> PromptListing<'a> {
    let mut offered: Vec<&InventorySkill> = offered(inventory, options.include_disabled).collect();
    offered.sort_by_cached_key(|skill| inventory.entry(skill).name().into_owned());
    listing_of(inventory, offered, options)
}

/// [`listing`] of some skills, the most important first: these are described even if others are only named.
#[must_use]
pub fn listing_of<'a>(
    inventory: &'a Inventory,
    skills: impl IntoIterator<Item = &'a InventorySkill>,
    options: &ListingOptions,
) -> PromptListing<'a> {
    let mut lines: Vec<PromptEntry<'a>> = skills
        .into_iter()
        .filter_map(|skill| line(inventory, skill, options))
        .collect();
    let found = lines.len();
    if options.max_skills > 0 {
        lines.truncate(options.max_skills);
    }
    let mut listing = PromptListing {
        omitted: found - lines.len(),
        lines,
        names: Vec::new(),
        shortened: 0,
        tokens: 0,
    };
    if let Some(budget) = options.budget {
        fit(&mut listing, options, budget);
    }
    if !options.by_task {
        listing.lines.sort_by(|a, b| a.name.cmp(b.name));
        listing.names.sort_unstable();
    }
    listing.tokens = cost(&listing, options);
    listing
}

/// Skills that a model may choose: usable, and not reserved for users.
pub fn offered(
    inventory: &Inventory,
    include_disabled: bool,
) -> impl Iterator<Item = &InventorySkill> {
    inventory.skills.iter().filter(move |skill| {
        let usable =
            skill.status == Status::Ready || (include_disabled && skill.status == Status::NotReady);
        usable
            && inventory
                .entry(skill)
                .card
                .as_ref()
                .is_some_and(|card| card.model_invocable)
    })
}

fn line<'a>(
    inventory: &'a Inventory,
    skill: &'a InventorySkill,
    options: &ListingOptions,
) -> Option<PromptEntry<'a>> {
    let entry = inventory.entry(skill);
    let card = entry.card.as_ref()?;
    let is_withheld = inventory.is_unscanned(skill) && !options.unscanned_locations;
    let location = if is_withheld {
        String::new()
    } else {
        text::visible(&entry.body_path().to_string_lossy()).into_owned()
    };
    Some(PromptEntry {
        name: card.name.as_str(),
        description: describe(card),
        location,
    })
}

/// The description for a model: with `when_to_use`, without hidden characters.
#[must_use]
pub fn describe(card: &Card) -> Cow<'_, str> {
    match &card.when_to_use {
        None => without_controls(&card.description),
        Some(when) => {
            Cow::Owned(without_controls(&format!("{} {when}", card.description)).into_owned())
        }
    }
}

/// Text without invisible and control characters; line breaks stay.
fn without_controls(value: &str) -> Cow<'_, str> {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match text::without_hidden(value) {
        visible if !visible.contains(control) => visible,
        visible => Cow::Owned(visible.chars().filter(|c| !control(*c)).collect()),
    }
}

fn cost(listing: &PromptListing<'_>, options: &ListingOptions) -> usize {
    tokens::count(&write(listing, options))
}

fn cost_of_lines(lines: &[PromptEntry<'_>], options: &ListingOptions) -> usize {
    tokens::count(&write_parts(lines, &[], 0, options))
}

/// A shorter description would be useless: the skill is only named.
const SHORTEST: usize = 60;
/// The length of a description when those of better skills are complete.
const SHORT: usize = 90;

/// Makes the catalog fit into a budget.
fn fit(listing: &mut PromptListing<'_>, options: &ListingOptions, budget: usize) {
    if fits(&listing.lines, options, budget) {
        return;
    }
    let is_even = !options.by_task && shorten_evenly(listing, options, budget);
    if !is_even {
        divide(listing, options, budget);
    }
}

/// Whether all descriptions fit unchanged; a long catalog is not counted to its end.
fn fits(lines: &[PromptEntry<'_>], options: &ListingOptions, budget: usize) -> bool {
    let mut used = 0;
    let mut chunks = lines.chunks(64);
    chunks.all(|chunk| {
        used += tokens::count(&lines_in(chunk, options.format));
        used <= budget
    }) && cost_of_lines(lines, options) <= budget
}

/// Shortens descriptions evenly until they fit the budget; returns whether they do, and are all still useful.
fn shorten_evenly(
    listing: &mut PromptListing<'_>,
    options: &ListingOptions,
    budget: usize,
) -> bool {
    let full: Vec<Cow<'_, str>> = listing
        .lines
        .iter()
        .map(|line| line.description.clone())
        .collect();
    let longest = full
        .iter()
        .map(|description| description.chars().count())
        .max()
        .unwrap_or(0);
    let (mut fits, mut too_long) = (0, longest);
    while fits < too_long {
        let middle = (fits + too_long).div_ceil(2);
        if estimate(&listing.lines, &full, middle, options) <= budget {
            fits = middle;
        } else {
            too_long = middle - 1;
        }
    }
    while fits >= SHORTEST {
        apply(listing, &full, fits);
        if cost_of_lines(&listing.lines, options) <= budget {
            return true;
        }
        fits -= (fits / 16).max(1);
    }
    for (line, description) in listing.lines.iter_mut().zip(full) {
        line.description = description;
    }
    listing.shortened = 0;
    false
}

/// Describes the first skills, names the next, and leaves out the rest. At most half of the budget is for names. With a task, half of the
/// rest is for whole descriptions, the other half for shortened ones.
fn divide(listing: &mut PromptListing<'_>, options: &ListingOptions, budget: usize) {
    let lines = std::mem::take(&mut listing.lines);
    listing.shortened = 0;
    let frame = tokens::count(&write_parts(&lines[..1.min(lines.len())], &[], 1, options));
    let one = |line: &PromptEntry<'_>| {
        tokens::count(&lines_in(std::slice::from_ref(line), options.format))
    };
    let frame = frame.saturating_sub(lines.first().map_or(0, one));
    let room = budget.saturating_sub(frame);
    let name_cost = |line: &PromptEntry<'_>| tokens::count(line.name) + 1;
    let mut all_names = 0;
    for line in &lines {
        all_names += name_cost(line);
        if all_names > room / 2 {
            break;
        }
    }
    let for_names = all_names.min(room / 2);
    let for_lines = room - for_names;
    let for_full = if options.by_task { for_lines / 2 } else { 0 };
    let (mut used, mut used_by_names) = (0, 0);
    let mut tier = CatalogTier::Whole;
    for line in lines {
        if tier == CatalogTier::Whole {
            let cost = one(&line);
            if used + cost <= for_full {
                used += cost;
                listing.lines.push(line);
                continue;
            }
            tier = CatalogTier::Shortened;
        }
        if tier == CatalogTier::Shortened {
            let (short, is_cut) = shorten(&line.description, SHORT);
            let line = PromptEntry {
                description: Cow::Owned(short),
                ..line.clone()
            };
            let cost = one(&line);
            if used + cost <= for_lines {
                used += cost;
                listing.shortened += usize::from(is_cut);
                listing.lines.push(line);
                continue;
            }
            tier = CatalogTier::Named;
        }
        used_by_names += name_cost(&line);
        match used_by_names <= for_names {
            true => listing.names.push(line.name),
            false => listing.omitted += 1,
        }
    }
    shrink(listing, options, budget);
}

/// The form of a skill in a divided catalog.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CatalogTier {
    Whole,
    Shortened,
    Named,
}

/// Leaves out names, then lines, until the exact cost is within the budget.
fn shrink(listing: &mut PromptListing<'_>, options: &ListingOptions, budget: usize) {
    loop {
        let over = cost(listing, options).saturating_sub(budget);
        if over == 0 {
            return;
        }
        if !listing.names.is_empty() {
            let drop = over.div_ceil(4).min(listing.names.len());
            listing.names.truncate(listing.names.len() - drop);
            listing.omitted += drop;
        } else if let Some(line) = listing.lines.pop() {
            listing.omitted += 1;
            let is_cut = line.description.ends_with('…');
            listing.shortened = listing.shortened.saturating_sub(usize::from(is_cut));
        } else {
            // Even the frame does not fit.
            return;
        }
    }
}

/// The estimated cost of the catalog with descriptions of at most `length` characters: counting every variant exactly would take
/// too long, so characters are used instead of tokens.
fn estimate(
    lines: &[PromptEntry<'_>],
    full: &[Cow<'_, str>],
    length: usize,
    options: &ListingOptions,
) -> usize {
    let kept: usize = full
        .iter()
        .map(|description| description.chars().count().min(length))
        .sum();
    let all: usize = full
        .iter()
        .map(|description| description.chars().count())
        .sum::<usize>()
        .max(1);
    let bare: Vec<PromptEntry<'_>> = lines
        .iter()
        .take(64)
        .map(|line| PromptEntry {
            description: Cow::Borrowed(""),
            ..line.clone()
        })
        .collect();
    let frame = cost_of_lines(&bare, options) * lines.len() / bare.len().max(1);
    let sample: String = full.iter().take(64).map(|text| text.as_ref()).collect();
    let sampled = sample.chars().count().max(1);
    frame + tokens::count(&sample) * all / sampled * kept / all
}

fn apply(listing: &mut PromptListing<'_>, full: &[Cow<'_, str>], length: usize) {
    listing.shortened = 0;
    for (line, description) in listing.lines.iter_mut().zip(full) {
        let (short, cut) = shorten(description, length);
        listing.shortened += usize::from(cut);
        line.description = Cow::Owned(short);
    }
}

/// At most `length` characters, cut at a space if one is near, with an ellipsis; and whether anything was cut.
fn shorten(description: &str, length: usize) -> (String, bool) {
    let flat: Vec<&str> = description.split_whitespace().collect();
    let flat = flat.join(" ");
    if flat.chars().count() <= length {
        return (flat, false);
    }
    if length < 4 {
        return (String::new(), true);
    }
    let cut: String = flat.chars().take(length - 1).collect();
    let end = cut
        .rfind(' ')
        .filter(|end| *end > cut.len() / 2)
        .unwrap_or(cut.len());
    let kept = cut[..end].trim_end_matches([',', '.', ';', ':', ' ']);
    (format!("{kept}…"), true)
}

/// Writes the catalog in the format of the options.
#[must_use]
pub fn write(listing: &PromptListing<'_>, options: &ListingOptions) -> String {
    write_parts(&listing.lines, &listing.names, listing.omitted, options)
}

fn write_parts(
    lines: &[PromptEntry<'_>],
    names: &[&str],
    omitted: usize,
    options: &ListingOptions,
) -> String {
    let is_empty = lines.is_empty() && names.is_empty();
    let mut out = String::new();
    if !options.bare && !is_empty {
        out.push_str(INSTRUCTION);
        let mut locations = lines.iter().map(|line| &line.location);
        if locations.any(|location| location.starts_with("builtin:")) {
            out.push_str(BUILTIN);
        }
        if !names.is_empty() || lines.iter().any(|line| line.location.is_empty()) {
            out.push_str(UNSCANNED);
        }
        out.push_str("\n\n");
    }
    if !is_empty || options.keep_empty {
        match options.format {
            PromptFormat::Xml => {
                out.push_str("<available_skills>\n");
                out.push_str(&lines_in(lines, options.format));
                out.push_str("</available_skills>\n");
            }
            PromptFormat::Markdown => {
                out.push_str("## Available skills\n\n");
                out.push_str(&lines_in(lines, options.format));
            }
        }
    }
    if !names.is_empty() {
        let mut escaped = String::new();
        match options.format {
            PromptFormat::Xml => escape(&names.join(", "), &mut escaped),
            PromptFormat::Markdown => escaped = names.join(", "),
        }
        out.push_str(&format!(
            "\nMore skills, by name: {}\n",
            for_model(&escaped)
        ));
    }
    if let Some(finder) = options.finder.filter(|_| omitted > 0) {
        let noun = if omitted == 1 { "skill" } else { "skills" };
        out.push_str(&format!("{finder} finds {omitted} more {noun}.\n"));
    }
    out
}

/// The lines alone, without a frame.
fn lines_in(lines: &[PromptEntry<'_>], format: PromptFormat) -> String {
    let mut out = String::new();
    match format {
        PromptFormat::Xml => write_xml(lines, &mut out),
        PromptFormat::Markdown => write_markdown(lines, &mut out),
    }
    out
}

fn write_xml(lines: &[PromptEntry<'_>], out: &mut String) {
    for line in lines {
        out.push_str("<skill>\n");
        for (tag, value) in [
            ("name", line.name),
            ("description", &line.description),
            ("location", &line.location),
        ] {
            if tag == "location" && value.is_empty() {
                continue;
            }
            out.push('<');
            out.push_str(tag);
            out.push_str(">\n");
            let mut escaped = String::with_capacity(value.len());
            escape(value, &mut escaped);
            // XML can represent hidden characters so that they are parsed back unchanged.
            if escaped.contains(is_hidden) {
                let spelled = |c: char| match is_hidden(c) {
                    true => format!("&#x{:x};", u32::from(c)),
                    false => c.to_string(),
                };
                escaped = escaped.chars().map(spelled).collect();
            }
            out.push_str(&for_model(&escaped));
            out.push_str("\n</");
            out.push_str(tag);
            out.push_str(">\n");
        }
        out.push_str("</skill>\n");
    }
}

/// All five special characters of XML.
pub(crate) fn escape(value: &str, out: &mut String) {
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            c => out.push(c),
        }
    }
}

fn write_markdown(lines: &[PromptEntry<'_>], out: &mut String) {
    for line in lines {
        let flat: Vec<&str> = line.description.split_whitespace().collect();
        let separator = if flat.is_empty() { "" } else { ": " };
        // Writing to a String can't fail.
        let flat = flat.join(" ");
        write!(out, "- **{}**{separator}{}", line.name, for_model(&flat)).ok();
        if !line.location.is_empty() {
            write!(out, " (`{}`)", line.location).ok();
        }
        out.push('\n');
    }
}

/// How the full form is written.
#[derive(Clone, Copy, Debug)]
pub struct FullOptions<'a> {
    /// The text before it.
    pub base: &'a str,
    /// Maximum number of skills; 0 means no limit.
    pub max_skills: usize,
    /// Text after each body.
    pub separator: &'a str,
    /// Also skills that are not ready.
    pub include_disabled: bool,
    /// How to read the bodies.
    pub mode: Strictness,
    /// Maximum size of a SKILL.md, in bytes.
    pub max_skill_bytes: u64,
}

/// Whole bodies, one after the other, after the base text; with the skills whose body could not be read, and how many more there
/// are than the limit allows. `admit` returns the bytes of a skill that can be loaded, or the reason why not.
pub fn full<E: From<ReadError>>(
    inventory: &Inventory,
    options: &FullOptions<'_>,
    admit: impl Fn(&CatalogEntry) -> Result<Snapshot, E>,
) -> (String, Vec<(String, E)>, usize) {
    let mut out = options.base.to_owned();
    let (mut failed, mut omitted) = (Vec::new(), 0);
    let mut skills: Vec<&InventorySkill> = inventory
        .skills
        .iter()
        .filter(|skill| matches!(skill.status, Status::Ready | Status::NotReady))
        .filter(|skill| {
            let card = inventory.entry(skill).card.as_ref();
            card.is_some_and(|card| card.model_invocable)
        })
        .collect();
    if skills.is_empty() {
        return (out, failed, omitted);
    }
    skills.sort_by_key(|skill| inventory.entry(skill).name().into_owned());
    out.push_str("\n\n# Available Skills\n\n");
    let mut count = 0;
    for skill in skills {
        if skill.status == Status::NotReady && !options.include_disabled {
            continue;
        }
        if options.max_skills > 0 && count >= options.max_skills {
            omitted += 1;
            continue;
        }
        let entry = inventory.entry(skill);
        let loaded = admit(entry).and_then(|held| {
            let (parsed, mut body) =
                entry.load_held(&held, options.mode, options.max_skill_bytes)?;
            if let Some(manifest) = &parsed.manifest {
                PromptFiles::read(manifest, &held).append(&mut body);
            }
            Ok(body)
        });
        match loaded {
            Ok(body) => {
                let emoji = entry.card.as_ref().and_then(|card| card.emoji.as_deref());
                let emoji = emoji.map_or_else(String::new, |emoji| format!("{emoji} "));
                out.push_str(&format!(
                    "## {emoji}{}\n\n{}{}",
                    entry.name(),
                    for_model(body.trim()),
                    options.separator
                ));
                count += 1;
            }
            Err(error) => failed.push((entry.name().into_owned(), error)),
        }
    }
    (out, failed, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_left_alone() {
        assert_eq!(shorten("a b", 10).0, "a b");
        assert_eq!(
            shorten("Deploys the app, fast and safe", 20).0,
            "Deploys the app…"
        );
        assert_eq!(
            shorten("Donaudampfschifffahrtsgesellschaft", 10).0,
            "Donaudamp…"
        );
        assert_eq!(shorten("abc", 2).0, "");
    }

    #[test]
    fn a_description_can_not_leave_its_element() {
        let line = PromptEntry {
            name: "x",
            description: "</description></skill>\"'&amp;".into(),
            location: "/a<b>/SKILL.md".into(),
        };
        let text = lines_in(&[line], PromptFormat::Xml);
        assert_eq!(text.matches("</skill>").count(), 1);
        assert!(text.contains("&lt;/description&gt;&lt;/skill&gt;&quot;&#x27;&amp;amp;"));
    }

    #[test]
    fn a_skill_without_a_location_has_no_element_for_it() {
        let check = |format| {
            let line = PromptEntry {
                name: "x",
                description: "Does x.".into(),
                location: String::new(),
            };
            lines_in(&[line], format)
        };
        assert!(!check(PromptFormat::Xml).contains("location"));
        assert!(check(PromptFormat::Markdown).ends_with("- **x**: Does x.\n"));
    }
}
