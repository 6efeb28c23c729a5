//! The inventory: every skill with its status and the reasons for it.

use std::cmp::Reverse;

use metier_catalog::{Catalog, CatalogEntry, SkillLocation};
use metier_config::{Config, Origin};
use metier_model::{
    Card, Dependency, Diagnostic, DiagnosticCode, DiagnosticSeverity, Need, Source, Strictness,
    text,
};
use metier_policy::{
    Admission, Facts, Reason, ReasonKind, ScanState, UserDecisions, admit, dependencies,
};

use crate::{
    log,
    requests::bind_settings,
    scanning::{KnownVerdict, ScanConsequence},
};

/// Whether a skill can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The skill can be used.
    Ready,
    /// A requirement is missing.
    NotReady,
    /// The scanner or missing trust forbids it.
    Blocked,
    /// The user disabled it.
    Disabled,
    /// Another skill of the same name wins.
    Shadowed,
    /// It could not be read, or does not conform in strict mode.
    Invalid,
}

impl Status {
    /// All of them, in the order of the JSON counts.
    pub const ALL: [Self; 6] = [
        Self::Ready,
        Self::NotReady,
        Self::Invalid,
        Self::Disabled,
        Self::Shadowed,
        Self::Blocked,
    ];

    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NotReady => "not_ready",
            Self::Blocked => "blocked",
            Self::Disabled => "disabled",
            Self::Shadowed => "shadowed",
            Self::Invalid => "invalid",
        }
    }
}

/// A skill of the inventory.
#[derive(Clone, Debug)]
pub struct InventorySkill {
    /// Its position in the catalog.
    pub entry: usize,
    /// Whether it can be used.
    pub status: Status,
    /// Why the skill can't be used.
    pub reasons: Vec<Reason>,
    /// The entry that wins its name.
    pub shadowed_by: Option<usize>,
    /// Whether it was selected by name (`--skills`, AGENT.md).
    pub selected: bool,
    /// The scanner's verdict on its last known bytes.
    pub scan: Option<Box<KnownVerdict>>,
}

impl InventorySkill {
    /// Its status and the reasons for it: "is not ready: it needs the program `gh`, which is not on PATH".
    #[must_use]
    pub fn standing(&self) -> String {
        let status = match self.status {
            Status::Ready => "is ready",
            Status::NotReady => "is not ready",
            Status::Blocked => "is blocked",
            Status::Disabled => "is disabled",
            Status::Shadowed => "is shadowed by another skill with the same name",
            Status::Invalid => "is invalid",
        };
        let reasons: Vec<&str> = self.reasons.iter().map(|one| &*one.message).collect();
        match reasons.as_slice() {
            [] => status.to_owned(),
            reasons => format!("{status}: {}", reasons.join("; ")),
        }
    }

    /// Whether the scanner is a reason why it can't be used: a model then does not get its description.
    #[must_use]
    pub fn is_blocked_by_scan(&self) -> bool {
        self.reasons
            .iter()
            .any(|reason| reason.kind == ReasonKind::Scan)
    }

    /// The hint for the first reason that has one.
    #[must_use]
    pub fn way_out(&self) -> Option<&str> {
        self.reasons.iter().find_map(|one| one.hint.as_deref())
    }
}

/// Replaces a description that must not reach a model.
pub const WITHHELD: &str = "(withheld: the scanner blocks this skill)";

impl Inventory {
    /// Whether the content of a skill is not known. The built-in ones are part of the program.
    #[must_use]
    pub fn is_unscanned(&self, skill: &InventorySkill) -> bool {
        skill.scan.is_none() && !matches!(self.entry(skill).place, SkillLocation::Builtin(_))
    }
}

/// How many skills have each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusCounts {
    /// Skills that can be used.
    pub ready: usize,
    /// Skills with unmet requirements.
    pub not_ready: usize,
    /// Skills that could not be parsed.
    pub invalid: usize,
    /// Skills that the user disabled.
    pub disabled: usize,
    /// Skills that another one of the same name shadows.
    pub shadowed: usize,
    /// Skills blocked by the scanner or missing trust.
    pub blocked: usize,
}

impl StatusCounts {
    /// Counts one more skill.
    pub fn add(&mut self, status: Status) {
        let counter = match status {
            Status::Ready => &mut self.ready,
            Status::NotReady => &mut self.not_ready,
            Status::Invalid => &mut self.invalid,
            Status::Disabled => &mut self.disabled,
            Status::Shadowed => &mut self.shadowed,
            Status::Blocked => &mut self.blocked,
        };
        *counter += 1;
    }
}

/// All skills, and which of them can be used.
#[derive(Clone)]
pub struct Inventory {
    /// The catalog that the inventory is made from.
    pub catalog: Catalog,
    /// The skills: the strongest source first, then by name.
    pub skills: Vec<InventorySkill>,
    /// Problems between skills, and with roots.
    pub diagnostics: Vec<Diagnostic>,
}

/// No skill has that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The requested name.
    pub name: String,
    /// The nearest names that exist.
    pub near: Vec<String>,
}

/// Builds the inventory: which skill wins each name, which are eligible, and why others are not. `verdicts` are those of earlier scans, with
/// the user's decisions, one for each entry of the catalog; none at all if nothing was ever scanned.
#[must_use]
pub fn survey(
    mut catalog: Catalog,
    config: &Config,
    facts: &dyn Facts,
    mode: Strictness,
    selection: &[String],
    verdicts: Vec<Option<Box<KnownVerdict>>>,
) -> Inventory {
    let mut diagnostics = std::mem::take(&mut catalog.diagnostics);
    bind_settings(&mut catalog.entries);
    if facts.tools().is_none() {
        catalog.entries.iter_mut().for_each(note_unchecked_tools);
    }
    let shadows = shadows(&catalog, config);
    let mut verdicts = verdicts.into_iter();
    let mut skills: Vec<InventorySkill> = (0..catalog.entries.len())
        .map(|entry| {
            let known = verdicts.next().flatten();
            let known = known.or_else(|| of_words(&catalog.entries[entry], config));
            let scan = known
                .as_deref()
                .map_or(ScanState::Unknown, KnownVerdict::scan);
            let winner = shadows.get(entry).copied().flatten();
            let skill = judge(&catalog, entry, winner, config, facts, mode, scan);
            InventorySkill {
                scan: known,
                ..skill
            }
        })
        .collect();
    check_dependencies(&catalog, &mut skills, &mut diagnostics);
    mark_selected(&catalog, &mut skills, selection, &mut diagnostics);
    note_pins(&mut catalog, config, &shadows);
    note_shadows(&catalog, &skills, &mut diagnostics);
    sort(&catalog, &mut skills);
    log_unavailable(&catalog, &skills);
    Inventory {
        catalog,
        skills,
        diagnostics,
    }
}

/// The verdict on a skill before its first scan, by its name and description alone; the user has to scan the skill to accept those.
fn of_words(entry: &CatalogEntry, config: &Config) -> Option<Box<KnownVerdict>> {
    let known = KnownVerdict::of_words(entry)?.judged(config, || false);
    // With warnings only, the skill has a warning and is still unscanned.
    (known.stance == ScanConsequence::Blocked).then(|| Box::new(known))
}

/// A skill that can't be used is a line in the log, with every reason.
fn log_unavailable(catalog: &Catalog, skills: &[InventorySkill]) {
    if !log::is_enabled() {
        return;
    }
    for skill in skills {
        let entry = &catalog.entries[skill.entry];
        let reasons = skill.reasons.iter().map(|reason| &*reason.message);
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        let source = entry.source.as_str();
        log::skill_listed(&entry.name(), source, skill.status, &reasons);
    }
}

/// Required tools, when no list of the agent's tools is configured: a warning, not a refusal.
fn note_unchecked_tools(entry: &mut CatalogEntry) {
    let requirements = entry.card.iter().flat_map(|card| &card.requirements);
    let tools: Vec<(&str, u32)> = requirements
        .filter_map(|requirement| match &requirement.need {
            Need::Tool(name) => Some((&**name, requirement.line)),
            _ => None,
        })
        .collect();
    let Some(&(_, line)) = tools.first() else {
        return;
    };
    // A second survey does not repeat the warning.
    let mut said = entry.diagnostics.iter();
    if said.any(|said| said.code == DiagnosticCode::ToolsUnchecked) {
        return;
    }
    let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    let names = names.join("`, `");
    let diagnostic = Diagnostic {
        severity: DiagnosticSeverity::Warning,
        code: DiagnosticCode::ToolsUnchecked,
        message: format!("it needs the tools `{names}`, but `agent.tools` is not configured")
            .into(),
        hint: Some("list the tools of your agent: metier config agent.tools NAME,NAME".into()),
        file: entry.files.main().into(),
        position: Some(metier_model::Position { line, column: 1 }),
    };
    entry.diagnostics.push(diagnostic);
}

/// The strongest source first, then by name, then by path. Usually they are in order already.
fn sort(catalog: &Catalog, skills: &mut [InventorySkill]) {
    let entry = |skill: &InventorySkill| &catalog.entries[skill.entry];
    skills.sort_unstable_by(|a, b| {
        let (a, b) = (entry(a), entry(b));
        (Reverse(a.source), a.name())
            .cmp(&(Reverse(b.source), b.name()))
            .then_with(|| a.place.path().cmp(&b.place.path()))
    });
}

fn is_trusted(catalog: &Catalog, entry: &CatalogEntry) -> bool {
    entry
        .root
        .and_then(|root| catalog.roots.get(usize::from(root)))
        .is_none_or(|root| root.trusted)
}

/// For each entry, the other entry that wins its name, if any: a version that the user pinned, then the greater source, then the
/// later root, then the first path. Untrusted and invalid ones don't compete. Sorted rather than hashed, because a catalog is
/// nearly sorted by name. Usually empty, because no name occurs twice.
fn shadows(catalog: &Catalog, config: &Config) -> Vec<Option<usize>> {
    let name = |index: usize| {
        let card = catalog.entries[index].card.as_ref();
        card.map_or("", |card| card.name.as_str())
    };
    // Only by its name: a skill chooses its configuration key itself.
    let pinned = |card: &Card| {
        let wanted = config.entry(&card.name).version.as_deref();
        wanted.is_some() && wanted == card.version.as_ref().map(|version| version.as_str())
    };
    let rank = |index: &usize| {
        let entry = &catalog.entries[*index];
        let pinned = entry.card.as_ref().is_some_and(pinned);
        let path = Reverse(entry.place.path());
        (pinned, entry.source, entry.root, path)
    };
    let competes = |index: &usize| {
        let entry = &catalog.entries[*index];
        entry.card.is_some() && is_trusted(catalog, entry)
    };
    let competing = (0..catalog.entries.len()).filter(competes);
    if competing.clone().is_sorted_by(|a, b| name(*a) < name(*b)) {
        return Vec::new(); // a single root: in order, and no name twice
    }
    let mut shadows = vec![None; catalog.entries.len()];
    let mut order: Vec<usize> = competing.collect();
    order.sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
    for same in order.chunk_by(|a, b| name(*a) == name(*b)) {
        if let (true, Some(&winner)) = (same.len() > 1, same.iter().max_by_key(|index| rank(index)))
        {
            let losers = same.iter().filter(|index| **index != winner);
            losers.for_each(|loser| shadows[*loser] = Some(winner));
        }
    }
    shadows
}

fn judge(
    catalog: &Catalog,
    index: usize,
    shadowed_by: Option<usize>,
    config: &Config,
    facts: &dyn Facts,
    mode: Strictness,
    scan: ScanState<'_>,
) -> InventorySkill {
    let entry = &catalog.entries[index];
    let skill = |status, reasons, shadowed_by| InventorySkill {
        entry: index,
        status,
        reasons,
        shadowed_by,
        selected: false,
        scan: None,
    };
    let Some(card) = &entry.card else {
        let strict = (mode == Strictness::Strict).then(|| Reason {
            kind: ReasonKind::Strict,
            name: entry.name().into(),
            message: "it does not conform to the specification, and validation is strict".into(),
            hint: Some(
                format!(
                    "metier validate --strict {}",
                    text::shell_word(&entry.place.path().to_string_lossy())
                )
                .into(),
            ),
            line: None,
            requirement: None,
        });
        return skill(Status::Invalid, strict.into_iter().collect(), None);
    };
    let trusted = is_trusted(catalog, entry);
    if shadowed_by.is_some() {
        return skill(Status::Shadowed, Vec::new(), shadowed_by);
    }
    let reasons = match admit_entry(entry, card, trusted, config, facts, scan) {
        Admission::Admitted => Vec::new(),
        Admission::Refused(reasons) => reasons,
    };
    skill(status_of(&reasons), reasons, None)
}

fn admit_entry(
    entry: &CatalogEntry,
    card: &Card,
    trusted: bool,
    config: &Config,
    facts: &dyn Facts,
    scan: ScanState<'_>,
) -> Admission {
    let settings = config.entry(card.config_key());
    let env: Vec<&str> = settings.env.keys().map(String::as_str).collect();
    let switched_off =
        switch(config, card).map(|key| switch_hint(config, &key, card.name.as_str()));
    let standing = UserDecisions {
        source: entry.source,
        trusted,
        switched_off: switched_off.as_deref(),
        profile: missing_profile(config, entry),
        bundled_allowed: config
            .allow_bundled
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| *name == *card.name)),
        configured_env: &env,
        has_api_key: settings.api_key.is_some(),
        scan,
    };
    admit(card, &standing, facts)
}

/// The setting that disables a skill, if one does. Its name counts as well as the key that it chose for its settings: a skill
/// must not be able to choose that it can't be disabled.
pub(crate) fn switch(config: &Config, card: &Card) -> Option<String> {
    if !config.enabled {
        return Some("skills.enabled".to_owned());
    }
    let chosen = card.skill_key.as_deref().unwrap_or(&card.name);
    let keys = [card.name.as_str(), chosen];
    let off = keys.into_iter().find(|key| !config.entry(key).enabled)?;
    Some(format!("skills.entries.{off}.enabled"))
}

/// The profile in use, if it disables a skill. Built-in skills have a separate list.
pub(crate) fn missing_profile<'c>(config: &'c Config, entry: &CatalogEntry) -> Option<&'c str> {
    match entry.source {
        Source::Builtin => None,
        _ => config.profile_without(&entry.name()),
    }
}

/// How to enable the skill again, which depends on the setting that disabled it.
pub(crate) fn switch_hint(config: &Config, key: &str, name: &str) -> String {
    match config.get(key).map(|value| value.origin) {
        Ok(Origin::Project(file)) => format!("remove `{key}` from {}", file.display()),
        Ok(Origin::Env(name)) => format!("unset {name}"),
        _ if key.starts_with("skills.entries.") => {
            format!("metier enable {}", text::shell_word(name))
        }
        _ => format!("metier config {} true", text::shell_word(key)),
    }
}

/// Disabled beats blocked beats not ready.
pub(crate) fn status_of(reasons: &[Reason]) -> Status {
    if reasons.is_empty() {
        Status::Ready
    } else if reasons.iter().any(|reason| reason.kind.disables()) {
        Status::Disabled
    } else if reasons.iter().any(|reason| reason.kind.blocks()) {
        Status::Blocked
    } else {
        Status::NotReady
    }
}

/// A missing dependency is a reason if it is required; an optional one, and a cycle, are warnings.
fn check_dependencies(
    catalog: &Catalog,
    skills: &mut [InventorySkill],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let has_dependencies = |skill: &InventorySkill| {
        let card = catalog.entries[skill.entry].card.as_ref();
        card.is_some_and(|card| {
            card.requirements
                .iter()
                .any(|requirement| matches!(requirement.need, Need::Skill(_)))
        })
    };
    if !skills.iter().any(has_dependencies) {
        return;
    }
    let is_usable =
        |skill: &InventorySkill| matches!(skill.status, Status::Ready | Status::NotReady);
    let mut usable: Vec<(&mut InventorySkill, &Card)> = skills
        .iter_mut()
        .filter(|skill| is_usable(skill))
        .filter_map(|skill| {
            let card = catalog.entries[skill.entry].card.as_ref()?;
            Some((skill, card))
        })
        .collect();
    // By name, so that a cycle is reported the same way wherever the catalog starts.
    usable.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    let cards: Vec<&Card> = usable.iter().map(|(_, card)| *card).collect();
    for problem in dependencies::check(&cards) {
        match problem {
            dependencies::DependencyProblem::Missing {
                skill,
                dependency,
                found,
                line,
            } => {
                let skill = &mut *usable[skill].0;
                let message = missing(&dependency, found.as_deref());
                if dependency.optional {
                    diagnostics.push(about(
                        &catalog.entries[skill.entry],
                        DiagnosticCode::DependencyMissing,
                        message,
                        Some(line),
                    ));
                } else {
                    skill.status = Status::NotReady;
                    skill.reasons.push(Reason {
                        kind: ReasonKind::Dependency,
                        name: dependency.name,
                        message: message.into(),
                        hint: Some("metier list --all shows the skills that are installed".into()),
                        line: Some(line),
                        requirement: None,
                    });
                }
            }
            dependencies::DependencyProblem::Cycle(cycle) => {
                let names = cycle
                    .iter()
                    .map(|skill| format!("`{}`", cards[*skill].name));
                diagnostics.push(about(
                    &catalog.entries[usable[cycle[0]].0.entry],
                    DiagnosticCode::DependencyCycle,
                    format!("these skills depend on each other: {}", joined(names)),
                    None,
                ));
            }
        }
    }
}

/// A dependency that is not installed, or in another version.
fn missing(dependency: &Dependency, found: Option<&str>) -> String {
    let verb = if dependency.optional {
        "it can use"
    } else {
        "it needs"
    };
    let name = &dependency.name;
    match found {
        Some(version) => format!(
            "{verb} the skill `{name}` {}, but version {version} is installed",
            dependency.version.as_deref().unwrap_or_default()
        ),
        None => format!("{verb} the skill `{name}`, which is not installed"),
    }
}

/// The names of a cycle, at most eight of them.
fn joined(names: impl ExactSizeIterator<Item = String>) -> String {
    const MAX: usize = 8;
    let more = names.len().saturating_sub(MAX);
    let mut shown: Vec<String> = names.take(MAX).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(" → ")
}

fn mark_selected(
    catalog: &Catalog,
    skills: &mut [InventorySkill],
    selection: &[String],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for name in selection {
        let mut found = false;
        for skill in skills.iter_mut().filter(|skill| {
            (name.contains(':') || skill.status != Status::Shadowed)
                && names(&catalog.entries[skill.entry], name)
        }) {
            skill.selected = true;
            found = true;
        }
        if !found {
            diagnostics.push(Diagnostic {
                severity: DiagnosticSeverity::Warning,
                code: DiagnosticCode::SelectionUnknown,
                message: format!(
                    "the selected skill `{}` is not installed",
                    text::visible(name)
                )
                .into(),
                hint: Some("metier list --all".into()),
                file: "".into(),
                position: None,
            });
        }
    }
}

/// Whether `wanted`, a name or `source:name`, matches this entry.
fn names(entry: &CatalogEntry, wanted: &str) -> bool {
    match wanted
        .split_once(':')
        .and_then(|(source, name)| Some((source.parse::<Source>().ok()?, name)))
    {
        Some((source, name)) => entry.source == source && entry.name() == name,
        None => entry.name() == wanted,
    }
}

/// A version that the configuration requires, and that no skill of the name has, is a warning about the skill that is used instead.
fn note_pins(catalog: &mut Catalog, config: &Config, shadows: &[Option<usize>]) {
    for (name, wanted) in config.entries() {
        let Some(wanted) = wanted.version.as_deref() else {
            continue;
        };
        let all = catalog.entries.iter().enumerate();
        let of_name: Vec<(usize, &CatalogEntry)> = all
            .filter(|(_, entry)| entry.card.is_some() && entry.name() == name)
            .collect();
        let version =
            |entry: &CatalogEntry| Some(entry.card.as_ref()?.version.as_ref()?.to_string());
        let versions: Vec<String> = of_name.iter().filter_map(|(_, one)| version(one)).collect();
        let is_used = |position: usize| shadows.get(position).is_none_or(Option::is_none);
        let used = of_name
            .iter()
            .map(|(position, _)| *position)
            .find(|position| is_used(*position));
        let Some(used) = used.filter(|_| !versions.iter().any(|has| has == wanted)) else {
            continue;
        };
        let there = match versions.as_slice() {
            [] => "it has no version".to_owned(),
            [only] => format!("the installed version is {only}"),
            versions => format!("the installed versions are {}", versions.join(", ")),
        };
        let (name, wanted) = (text::visible(name), text::visible(wanted));
        let key = format!("skills.entries.{name}.version");
        let entry = &mut catalog.entries[used];
        let diagnostic = Diagnostic {
            severity: DiagnosticSeverity::Warning,
            code: DiagnosticCode::VersionNotFound,
            message: format!(
                "`{key}` requires version {wanted} of the skill `{name}`, but {there}"
            )
            .into(),
            hint: Some(format!("metier config --unset {}", text::shell_word(&key)).into()),
            file: entry.files.main().into(),
            position: None,
        };
        // A second inventory does not repeat the warning.
        if !entry.diagnostics.contains(&diagnostic) {
            entry.diagnostics.push(diagnostic);
        }
    }
}

fn note_shadows(catalog: &Catalog, skills: &[InventorySkill], diagnostics: &mut Vec<Diagnostic>) {
    for skill in skills {
        if let Some(winner) = skill.shadowed_by.map(|winner| &catalog.entries[winner]) {
            let message = format!(
                "`{}` is shadowed by the one in {}",
                winner.name(),
                winner.place.path().display()
            );
            let mut diagnostic = about(
                &catalog.entries[skill.entry],
                DiagnosticCode::Shadowed,
                message,
                None,
            );
            diagnostic.hint = Some(
                format!(
                    "it is still available as `{}:{}`",
                    catalog.entries[skill.entry].source,
                    winner.name()
                )
                .into(),
            );
            diagnostics.push(diagnostic);
        }
    }
}

fn about(
    entry: &CatalogEntry,
    code: DiagnosticCode,
    message: String,
    line: Option<u32>,
) -> Diagnostic {
    Diagnostic {
        severity: DiagnosticSeverity::Warning,
        code,
        message: message.into(),
        hint: None,
        file: entry.manifest_path().to_string_lossy().into(),
        position: line.map(|line| metier_model::Position { line, column: 1 }),
    }
}

impl Inventory {
    /// The entry behind a skill.
    #[must_use]
    pub fn entry(&self, skill: &InventorySkill) -> &CatalogEntry {
        &self.catalog.entries[skill.entry]
    }

    /// How many skills have each status.
    #[must_use]
    pub fn counts(&self) -> StatusCounts {
        let mut counts = StatusCounts::default();
        for skill in &self.skills {
            counts.add(skill.status);
        }
        counts
    }

    /// The skill that a name, `source:name` or path means; a shadowed one only with its source.
    ///
    /// # Errors
    /// When there is no such skill; the error contains the nearest names.
    pub fn find(&self, wanted: &str) -> Result<&InventorySkill, NotFound> {
        let matching = |skill: &&InventorySkill| names(self.entry(skill), wanted);
        let by_rank = |skill: &&InventorySkill| {
            (
                skill.status != Status::Shadowed,
                skill.status != Status::Invalid,
                skill.status != Status::Blocked,
            )
        };
        let by_path = |skill: &&InventorySkill| match &self.entry(skill).place {
            SkillLocation::Folder(path) => path.as_os_str() == wanted,
            SkillLocation::Remote(skill) => skill.address() == wanted,
            SkillLocation::Builtin(_) => false,
        };
        self.skills
            .iter()
            .filter(matching)
            .max_by_key(by_rank)
            .or_else(|| self.skills.iter().find(by_path))
            .ok_or_else(|| self.not_found(wanted))
    }

    /// The plugin that a skill belongs to, if it has hooks: the nearest folder around it that is one.
    #[must_use]
    pub fn plugin_of(&self, entry: &CatalogEntry) -> Option<&InventorySkill> {
        let SkillLocation::Folder(folder) = &entry.place else {
            return None;
        };
        let around = |skill: &&InventorySkill| {
            let plugin = self.entry(skill);
            let is_around = matches!(&plugin.place, SkillLocation::Folder(path) if folder.starts_with(path) && path != folder);
            plugin.is_plugin() && plugin.source == entry.source && is_around
        };
        let depth = |skill: &&InventorySkill| self.entry(skill).place.path().as_os_str().len();
        self.skills.iter().filter(around).max_by_key(depth)
    }

    fn not_found(&self, wanted: &str) -> NotFound {
        let names = self.skills.iter().map(|skill| self.entry(skill).name());
        NotFound {
            name: wanted.to_owned(),
            near: near_names(wanted, names),
        }
    }
}

/// The names that a mistyped one resembles, the nearest first; at most three.
pub fn near_names<N: AsRef<str>>(wanted: &str, names: impl Iterator<Item = N>) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let mut near: Vec<(f64, String)> = Vec::new();
    for name in names {
        let name = name.as_ref();
        let known = name.to_lowercase();
        // In a short name, two swapped letters are most of it.
        let likeness = match strsim::osa_distance(&lower, &known) {
            0 | 1 => 1.0,
            _ => strsim::jaro_winkler(&lower, &known),
        };
        if likeness > 0.82 && !near.iter().any(|(_, other)| other == name) {
            near.push((likeness, name.to_owned()));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}
