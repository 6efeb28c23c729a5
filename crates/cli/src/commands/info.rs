//! `metier info`

mod rules;

use std::{process::ExitCode, sync::Arc};

use metier_catalog::{Entry, FileEntry};
use metier_model::{Code, Manifest, Need, Severity};
use metier_policy::ReasonKind;
use metier_runtime::{
    Inventory, Skill, Status, hooks, live::State, permissions as asked, premises, render::Loaded,
    scanning::Stance,
};
use metier_scan::Report;
use metier_store::{SkillState, Store};
use metier_wire::{HookRow, Info, PermissionRow};

use crate::{
    commands::{find, list::mark},
    failure::Failure,
    output::{Output, Tone, count, one_line},
    screening::{Noticed, unreadable},
    session::Session,
};

/// Show everything about a skill
///
/// What it is, what it needs, what is missing and how to get it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its name, `source:name` for a shadowed one, or its folder
    name: String,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let mut inventory = session.inventory()?;
    let position = find(session, &inventory, &args.name)?.entry;
    inventory.catalog.entries[position]
        .examine(session.mode(), session.config.limits.max_skill_bytes);
    let brought = hooks::in_place(&inventory.catalog.entries[position]);
    let entry = &mut inventory.catalog.entries[position];
    entry
        .diagnostics
        .extend(brought.diagnostics.iter().cloned());
    let entry = &inventory.catalog.entries[position];
    let files = entry.place.files().unwrap_or_default();
    let manifest = entry
        .load(session.mode(), session.config.limits.max_skill_bytes)
        .ok()
        .and_then(|(parsed, _)| parsed.manifest);
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let mut permissions = Vec::new();
    let (report, digest, state) = match screening.snapshot(entry) {
        Ok(held) => {
            let held = Arc::new(held);
            let limit = session.config.limits.max_skill_bytes;
            if let Ok(loaded) = Loaded::new(entry, Arc::clone(&held), limit) {
                let request = asked::everything(&loaded, &session.config);
                permissions =
                    super::permissions::rows(session, &premises::identity(&loaded), &request)?;
            }
            let report = screening.scan_held(entry, &held).0;
            (report, Some(held.digest), held.fingerprint)
        }
        Err(error) => (unreadable(&error), None, None),
    };
    let known = screening.known(&report, digest);
    if let Some(digest) = digest {
        let noticed = Noticed {
            entry,
            digest,
            state,
            known: &known,
            fresh: true,
        };
        screening.remember(&inventory.catalog, std::iter::once(noticed));
    }
    inventory.learn(position, digest, known);
    if inventory.catalog.entries[position].card.is_none() {
        inventory
            .skills
            .iter_mut()
            .filter(|skill| skill.entry == position)
            .for_each(|skill| skill.status = Status::Invalid);
    }
    let Some(skill) = inventory
        .skills
        .iter()
        .find(|skill| skill.entry == position)
    else {
        return Ok(ExitCode::FAILURE);
    };
    if session.output.is_json() {
        let info = Info::new(
            &inventory,
            skill,
            manifest.as_ref(),
            &files,
            &report,
            permissions,
            &brought,
        );
        let info = match last_state(session, inventory.entry(skill)) {
            Some(state) => info.left_in(state.state, state.since, state.detail),
            None => info,
        };
        session.output.stream(|out| info.write(out))?;
    } else {
        let about = page(
            &inventory,
            skill,
            manifest.as_ref(),
            &files,
            &permissions,
            &HookRow::of(&brought),
            &session.output,
        );
        session.output.report(&about)?;
        session.output.report(&findings(&report, &session.output))?;
        if let Some(state) = left_in(session, &inventory.catalog.entries[position]) {
            session.output.note(&state);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How its last activation went, if it failed.
pub(crate) fn left_in(session: &Session, entry: &Entry) -> Option<String> {
    let state = last_state(session, entry)?;
    let happened = match state.state == State::Active.as_str() {
        true => "its hooks did not all work when it was activated",
        false => "it could not be activated",
    };
    Some(format!(
        "{happened} on {}: {}",
        one_line(&state.since),
        one_line(state.detail.as_deref().unwrap_or_default())
    ))
}

fn last_state(session: &Session, entry: &Entry) -> Option<SkillState> {
    let database = session.machine.database.as_ref()?;
    let store = Store::open_existing(database).ok()??;
    store.state(&entry.name(), entry.source.as_str()).ok()?
}

fn page(
    inventory: &Inventory,
    skill: &Skill,
    manifest: Option<&Manifest>,
    files: &[FileEntry],
    permissions: &[PermissionRow],
    hooks: &[HookRow],
    output: &Output,
) -> String {
    let entry = inventory.entry(skill);
    let mut page = Page {
        output,
        text: String::new(),
    };
    let emoji = entry
        .card
        .as_ref()
        .and_then(|card| card.emoji.as_deref())
        .map_or_else(String::new, |emoji| format!("{} ", one_line(emoji)));
    page.line(&format!(
        "{} {emoji}{}",
        mark(inventory, skill, output),
        output.paint(&one_line(&entry.name()), Tone::Strong)
    ));
    if let Some(card) = &entry.card {
        page.line(&format!("  {}", one_line(&card.description)));
    }
    page.line("");
    page.field("status", &skill.status.as_str().replace('_', " "));
    page.field("source", entry.source.as_str());
    page.field("path", &entry.place.path().to_string_lossy());
    page.field(
        "digest",
        &entry
            .digest
            .map_or_else(|| "unknown".to_owned(), |digest| digest.to_string()),
    );
    if let Some(known) = &skill.scan {
        let accepted = match known.stance {
            Stance::Accepted => " (accepted)",
            Stance::Warned => " (not blocked: skills.security.block_critical is off)",
            Stance::Fine | Stance::Blocked => "",
        };
        page.field("scan", &format!("{}{accepted}", known.verdict.word()));
    }
    if let Some(winner) = skill.shadowed_by {
        page.field(
            "shadowed by",
            &inventory.catalog.entries[winner]
                .place
                .path()
                .to_string_lossy(),
        );
    }
    if let Some(manifest) = manifest {
        about(&mut page, manifest);
        needs(&mut page, inventory, skill, manifest);
        permitted(&mut page, permissions);
        hooked(&mut page, hooks);
        rules::show(&mut page, manifest);
    }
    page.files(files);
    page.diagnostics(inventory, skill);
    page.text
}

/// What the scanner found, shortly: `metier scan` shows the evidence.
fn findings(report: &Report, output: &Output) -> String {
    const SHOWN: usize = 10;
    let mut page = Page {
        output,
        text: String::new(),
    };
    let listed: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.severity > metier_scan::Severity::Info || output.is_verbose())
        .collect();
    if listed.is_empty() && report.unread.is_empty() {
        return page.text;
    }
    page.heading("what the scanner found");
    for finding in listed.iter().take(SHOWN) {
        page.line(&format!(
            "    {}{}: {}: {} [{}]",
            one_line(&finding.place.file),
            finding.place.position(),
            finding.severity,
            one_line(&finding.message),
            one_line(finding.rule.id())
        ));
    }
    let more = listed.len().saturating_sub(SHOWN) + report.more;
    if more > 0 {
        page.line(&format!("    … and {more} more"));
    }
    for unread in report.unread.iter().take(SHOWN) {
        let file = if unread.file.is_empty() {
            String::new()
        } else {
            format!(" {}:", one_line(&unread.file))
        };
        page.line(&format!("    not read:{file} {}", one_line(&unread.why)));
    }
    if report.unread.len() > SHOWN {
        let more = report.unread.len() - SHOWN;
        page.line(&format!("    … and {more} more that were not read"));
    }
    page.text
}

struct Page<'a> {
    output: &'a Output,
    text: String,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn field(&mut self, name: &str, value: &str) {
        let label = self.output.paint(&format!("{name:<12}"), Tone::Faint);
        self.line(&format!("  {label}  {}", one_line(value)));
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    fn words(&mut self, name: &str, words: &[impl AsRef<str>]) {
        if !words.is_empty() {
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            self.field(name, &words.join(", "));
        }
    }

    fn heading(&mut self, text: &str) {
        let text = self.output.paint(text, Tone::Strong);
        self.line(&format!("\n  {text}"));
    }

    fn files(&mut self, files: &[FileEntry]) {
        const SHOWN: usize = 20;
        let total = files
            .iter()
            .fold(0_u64, |sum, file| sum.saturating_add(file.size));
        self.heading(&format!("{}, {total} bytes", count(files.len(), "file")));
        for file in files.iter().take(SHOWN) {
            self.line(&format!(
                "    {}{}",
                file.path,
                if file.special {
                    " (a link or special file)"
                } else {
                    ""
                }
            ));
        }
        if files.len() > SHOWN {
            self.line(&format!("    … and {} more", files.len() - SHOWN));
        }
    }

    fn diagnostics(&mut self, inventory: &Inventory, skill: &Skill) {
        let entry = inventory.entry(skill);
        let listed: Vec<_> = entry
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity > Severity::Info || self.output.is_verbose())
            .collect();
        if listed.is_empty() {
            return;
        }
        self.heading("what is wrong with it");
        for diagnostic in listed {
            let place = diagnostic.position.map_or_else(String::new, |position| {
                format!(":{}:{}", position.line, position.column)
            });
            self.line(&format!(
                "    {}{place}: {}: {} [{}]",
                one_line(&diagnostic.file),
                diagnostic.severity,
                one_line(&diagnostic.message),
                diagnostic.code
            ));
            if let Some(hint) = &diagnostic.hint {
                self.line(&format!("      → {}", one_line(hint)));
            }
        }
    }
}

fn about(page: &mut Page<'_>, manifest: &Manifest) {
    let (card, about, invocation) = (&manifest.card, &manifest.about, &manifest.invocation);
    page.optional(
        "version",
        card.version.as_ref().map(|version| version.as_str()),
    );
    page.optional("author", about.author.as_deref());
    page.optional("license", about.license.as_deref());
    page.optional("homepage", about.homepage.as_deref());
    page.optional("category", about.category.as_deref());
    page.words("tags", &about.tags);
    page.optional("compatible", about.compatibility.as_deref());
    page.field(
        "types",
        &card
            .types
            .iter()
            .map(|kind| kind.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    );
    page.optional("backend", card.backend.map(|backend| backend.as_str()));
    page.optional("entrypoint", manifest.code.entrypoint.as_deref());
    let called = match (card.user_invocable, card.model_invocable) {
        (true, true) => "you and models",
        (true, false) => "you only",
        (false, true) => "models only",
        (false, false) => "nobody",
    };
    page.field("called by", called);
    page.field(
        "runs",
        if invocation.context == metier_model::Context::Fork {
            "in a session of its own (fork)"
        } else {
            "in the conversation (inline)"
        },
    );
    page.optional("model", invocation.model.as_deref());
    page.optional("effort", invocation.effort.as_deref());
    page.optional("agent", invocation.agent.as_deref());
    page.optional("arguments", invocation.argument_hint.as_deref());
    page.words("named", &invocation.arguments);
    page.words("paths", &invocation.paths);
    page.optional("when", card.when_to_use.as_deref());
}

fn needs(page: &mut Page<'_>, inventory: &Inventory, skill: &Skill, manifest: &Manifest) {
    let card = &manifest.card;
    let mut diagnostics = inventory.entry(skill).diagnostics.iter();
    let tools_unchecked = diagnostics.any(|one| one.code == Code::ToolsUnchecked);
    if card.requirements.is_empty() && skill.reasons.is_empty() {
        return;
    }
    page.heading("what it needs");
    for (position, requirement) in card.requirements.iter().enumerate() {
        let (kind, what) = match &requirement.need {
            Need::Bin(name) => ("program", name.to_string()),
            Need::AnyBin(names) => ("one of the programs", names.join(", ")),
            Need::Env(name) => ("variable", name.to_string()),
            Need::Config(path) => ("setting", path.to_string()),
            Need::Os(systems) => (
                "system",
                systems
                    .iter()
                    .map(|os| os.as_str())
                    .collect::<Vec<_>>()
                    .join(" or "),
            ),
            Need::Tool(name) => ("tool", name.to_string()),
            Need::Metier(range) => ("metier", range.to_string()),
            Need::Skill(dependency) => {
                let version = dependency.version.as_deref().unwrap_or_default();
                (
                    "skill",
                    format!(
                        "{} {version}{}",
                        dependency.name,
                        if dependency.optional {
                            " (optional)"
                        } else {
                            ""
                        }
                    ),
                )
            }
        };
        let missing = skill.reasons.iter().any(|reason| match &requirement.need {
            Need::Skill(dependency) => {
                reason.kind == ReasonKind::Dependency && reason.name == dependency.name
            }
            _ => reason.requirement == Some(position),
        });
        let missing = missing || lacks(inventory, skill, &requirement.need);
        let judged = matches!(skill.status, Status::Ready | Status::NotReady) && !card.always;
        let unchecked = tools_unchecked && matches!(requirement.need, Need::Tool(_));
        let sign = match (missing, judged) {
            (true, _) => page.output.paint("✗", Tone::Bad),
            (false, true) if unchecked => page.output.paint("?", Tone::Warn),
            (false, true) => page.output.paint("✓", Tone::Good),
            (false, false) => page.output.paint("-", Tone::Faint),
        };
        page.line(&format!("    {sign} {kind} {}", one_line(&what)));
    }
    for reason in &skill.reasons {
        if let Some(hint) = &reason.hint {
            page.line(&format!(
                "      → {}: {}",
                one_line(&reason.message),
                one_line(hint)
            ));
        }
    }
    for installer in &card.installers {
        let label = installer.label.as_deref().unwrap_or(&installer.kind);
        page.line(&format!(
            "    {}: {}",
            one_line(label),
            installer
                .command()
                .unwrap_or_else(|| one_line(&installer.package))
        ));
    }
}

/// Whether an optional dependency is not there, which is no reason against the skill.
fn lacks(inventory: &Inventory, skill: &Skill, need: &Need) -> bool {
    let Need::Skill(dependency) = need else {
        return false;
    };
    let file = inventory.entry(skill).manifest_path();
    let (file, name) = (file.to_string_lossy(), format!("`{}`", dependency.name));
    inventory.diagnostics.iter().any(|diagnostic| {
        diagnostic.code == Code::DependencyMissing
            && *diagnostic.file == *file
            && diagnostic.message.contains(&name)
    })
}

/// What it asks to be permitted, and what was answered.
fn permitted(page: &mut Page<'_>, permissions: &[PermissionRow]) {
    if permissions.is_empty() {
        return;
    }
    page.heading("what it asks to be permitted");
    for row in permissions {
        let sign = match row.state {
            "allowed" => page.output.paint("✓", Tone::Good),
            "denied" => page.output.paint("✗", Tone::Bad),
            _ => "?".to_owned(),
        };
        page.line(&format!("    {sign} {}", one_line(&row.permission)));
    }
}

/// The hooks that it brings along, and when they are asked here.
fn hooked(page: &mut Page<'_>, hooks: &[HookRow]) {
    if hooks.is_empty() {
        return;
    }
    page.heading("its hooks");
    for row in hooks {
        let line = row.line.map_or_else(String::new, |line| format!(":{line}"));
        let command = row.command.as_deref();
        let command = command.map_or_else(String::new, |command| format!(": {command}"));
        page.line(&format!(
            "    {}{line}: {} → {}{}",
            one_line(&row.file),
            row.events.join(", "),
            row.phases.join(", "),
            one_line(&command)
        ));
    }
}
