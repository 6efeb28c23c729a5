//! `metier info`

mod rules;

use metier::{
    inspection::Inspection,
    scans::{FindingSeverity, ScanConsequence, ScanReport},
    skill::{
        DiagnosticCode, DiagnosticSeverity, FileEntry, Inventory, InventorySkill, Need, ReasonKind,
        SkillContext, SkillManifest, Status,
    },
};
use metier_wire::{HookRow, InfoDocument, PermissionRow};

use crate::{
    cli_run::CliRun,
    commands::list::mark,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Show everything about a skill
///
/// What it is, what it needs, what is missing and how to get it.
#[derive(clap::Args)]
pub(crate) struct InfoArgs {
    /// Its name, `source:name` for a shadowed one, or its folder
    name: String,
}

pub(crate) fn run(run: &CliRun, args: &InfoArgs) -> Result<Exit, Failure> {
    let about = run.inspect(&args.name)?;
    let output = &run.output;
    if output.is_json() {
        let info = InfoDocument::from(&about);
        output.stream(|out| info.write(out))?;
    } else {
        output.report(&page(&about, output))?;
        output.report(&findings(&about.report, output))?;
        if let Some(failure) = about.last_failure() {
            output.note(&failure);
        }
    }
    Ok(Exit::Ok)
}

fn page(about: &Inspection, output: &Output) -> String {
    let (inventory, skill) = (about.inventory(), about.skill());
    let entry = inventory.entry(skill);
    let mut page = InfoPage {
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
            ScanConsequence::Accepted => " (accepted)",
            ScanConsequence::Warned => " (not blocked: skills.security.block_critical is off)",
            ScanConsequence::Fine | ScanConsequence::Blocked => "",
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
    if let Some(manifest) = &about.manifest {
        describe(&mut page, manifest);
        needs(&mut page, inventory, skill, manifest);
        let rows: Vec<PermissionRow> = about.permissions.iter().map(PermissionRow::from).collect();
        permitted(&mut page, &rows);
        hooked(&mut page, &HookRow::of(&about.hooks));
        rules::show(&mut page, manifest);
    }
    page.files(&about.files);
    page.diagnostics(inventory, skill);
    page.text
}

/// The findings of the scanner, in short: `metier scan` shows the evidence.
fn findings(report: &ScanReport, output: &Output) -> String {
    const SHOWN: usize = 10;
    let mut page = InfoPage {
        output,
        text: String::new(),
    };
    let listed: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.severity > FindingSeverity::Info || output.is_verbose())
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

struct InfoPage<'a> {
    output: &'a Output,
    text: String,
}

impl InfoPage<'_> {
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

    fn diagnostics(&mut self, inventory: &Inventory, skill: &InventorySkill) {
        let entry = inventory.entry(skill);
        let listed: Vec<_> = entry
            .diagnostics
            .iter()
            .filter(|diagnostic| {
                diagnostic.severity > DiagnosticSeverity::Info || self.output.is_verbose()
            })
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

fn describe(page: &mut InfoPage<'_>, manifest: &SkillManifest) {
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
        (false, false) => "neither",
    };
    page.field("called by", called);
    page.field(
        "runs",
        if invocation.context == SkillContext::Fork {
            "in a separate session (fork)"
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

fn needs(
    page: &mut InfoPage<'_>,
    inventory: &Inventory,
    skill: &InventorySkill,
    manifest: &SkillManifest,
) {
    let card = &manifest.card;
    let mut diagnostics = inventory.entry(skill).diagnostics.iter();
    let tools_unchecked = diagnostics.any(|one| one.code == DiagnosticCode::ToolsUnchecked);
    if !card.requirements.is_empty() {
        page.heading("requirements");
    }
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
    if !skill.reasons.is_empty() {
        page.heading("why it can't be used");
    }
    for reason in &skill.reasons {
        page.line(&format!("    {}", one_line(&reason.message)));
        if let Some(hint) = &reason.hint {
            page.line(&format!("      → {}", one_line(hint)));
        }
    }
    if !card.installers.is_empty() {
        page.heading("how to install the programs");
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

/// Whether an optional dependency is missing. The skill is ready without it.
fn lacks(inventory: &Inventory, skill: &InventorySkill, need: &Need) -> bool {
    let Need::Skill(dependency) = need else {
        return false;
    };
    let file = inventory.entry(skill).manifest_path();
    let (file, name) = (file.to_string_lossy(), format!("`{}`", dependency.name));
    inventory.diagnostics.iter().any(|diagnostic| {
        diagnostic.code == DiagnosticCode::DependencyMissing
            && *diagnostic.file == *file
            && diagnostic.message.contains(&name)
    })
}

/// The permissions that it asks for, with the answers.
fn permitted(page: &mut InfoPage<'_>, permissions: &[PermissionRow]) {
    if permissions.is_empty() {
        return;
    }
    page.heading("permissions it requests");
    for row in permissions {
        let sign = match row.state {
            "allowed" => page.output.paint("✓", Tone::Good),
            "denied" => page.output.paint("✗", Tone::Bad),
            _ => "?".to_owned(),
        };
        page.line(&format!("    {sign} {}", one_line(&row.permission)));
    }
}

/// Its hooks, and the phases in which they run.
fn hooked(page: &mut InfoPage<'_>, hooks: &[HookRow]) {
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
