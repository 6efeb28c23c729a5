//! From text to manifest: never an error, never a panic, and as much as can be parsed.
//!
//! Each field belongs to one module of this folder: [`identity`], [`requirements`], [`invocation`], [`contract`],
//! [`code`]. A module that accepts a key returns `true`; a key that no module accepts is reported with the most
//! similar one.

mod code;
mod contract;
mod identity;
mod invocation;
mod limits;
mod requirements;
mod shape;
mod sidecar;

use crate::{
    card::Card,
    diagnostic::{Diagnostic, DiagnosticCode, Strictness},
    frontmatter,
    manifest::{
        Authorship, Contract, InvocationRules, Json, SkillCode, SkillManifest, ToolRules, Triggers,
    },
    name::SkillName,
    permission::Want,
    report::{DiagnosticCollector, Say},
    words::Types,
    yaml::{self, node::Pair},
};

/// The fields of the specification.
pub const STANDARD_FIELDS: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// Fields that have the same meaning below `metadata`, as text.
const READ_BELOW_METADATA: &[&str] = &[
    "version",
    "emoji",
    "author",
    "category",
    "homepage",
    "argument-hint",
];

/// A file of a skill: its name in the folder and its text (at least up to the end of the frontmatter).
#[derive(Clone, Copy, Debug)]
pub struct FileText<'a> {
    /// The name as spelled in the folder.
    pub name: &'a str,
    /// The content, at least up to the end of the frontmatter.
    pub text: &'a str,
}

/// The files that form a manifest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    /// The name of the folder; `None` if there is none to compare with.
    pub folder: Option<&'a str>,
    /// The file SKILL.md, if it exists.
    pub skill_md: Option<FileText<'a>>,
    /// SKILL.yaml; if it exists, it is the manifest and SKILL.md the body.
    pub skill_yaml: Option<FileText<'a>>,
    /// The file `agents/openai.yaml`, if it exists.
    pub sidecar: Option<FileText<'a>>,
}

/// The result of parsing: a manifest if it is valid, and all diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The manifest; `None` exactly when a diagnostic is an error.
    pub manifest: Option<SkillManifest>,
    /// All problems that were found.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses the files of a skill.
#[must_use]
pub fn parse(files: &Files<'_>, mode: Strictness) -> Parsed {
    parse_with(files, mode, YamlReader::Fast)
}

/// The YAML reader to try first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlReader {
    Fast,
    Thorough,
}

/// [`parse`] with the full reader only, for the differential test.
#[doc(hidden)]
#[must_use]
pub fn parse_thoroughly(files: &Files<'_>, mode: Strictness) -> Parsed {
    parse_with(files, mode, YamlReader::Thorough)
}

/// Parses only what a list needs: the card. Diagnostics are the same as those of [`parse`].
#[must_use]
pub fn parse_card(files: &Files<'_>, mode: Strictness) -> (Option<Card>, Vec<Diagnostic>) {
    read_files(files, mode, YamlReader::Fast, false, |draft| {
        draft.take_card()
    })
}

fn parse_with(files: &Files<'_>, mode: Strictness, reader: YamlReader) -> Parsed {
    let (manifest, diagnostics) =
        read_files(files, mode, reader, true, ManifestDraft::take_manifest);
    Parsed {
        manifest,
        diagnostics,
    }
}

/// Parses all files into a draft and, if there is no error, converts it.
fn read_files<T>(
    files: &Files<'_>,
    mode: Strictness,
    reader: YamlReader,
    details: bool,
    finish: impl FnOnce(&mut ManifestDraft) -> Option<T>,
) -> (Option<T>, Vec<Diagnostic>) {
    let (format, file) = match (files.skill_yaml, files.skill_md) {
        (Some(file), _) => (ManifestFormat::SkillYaml, file),
        (None, Some(file)) => (ManifestFormat::SkillMd, file),
        (None, None) => return (None, Vec::new()),
    };
    let mut report = DiagnosticCollector::new(mode, file.name, file.text);
    let mut draft = ManifestDraft::new(format, details);
    if let Some(pairs) = read_pairs(file.text, format, reader, &mut report) {
        draft.read(&pairs, &mut report);
        draft.check(files.folder, &mut report);
    }
    let mut diagnostics = std::mem::take(&mut report.list);
    match (format, files.skill_md, mode) {
        (ManifestFormat::SkillMd, ..) => {}
        (ManifestFormat::SkillYaml, None, Strictness::Lenient) => {}
        (ManifestFormat::SkillYaml, None, Strictness::Strict) => {
            report.add(DiagnosticCode::SkillFileMissing, 0, || {
                Say::new("there is no SKILL.md, which the specification requires")
                    .hint("add a SKILL.md with the same name and a description")
            });
            diagnostics.append(&mut report.list);
        }
        (ManifestFormat::SkillYaml, Some(body), _) => {
            compare_names(draft.name.as_deref(), body, mode, reader, &mut diagnostics);
            if mode == Strictness::Strict {
                let beside = Files {
                    skill_yaml: None,
                    sidecar: None,
                    ..*files
                };
                diagnostics.extend(parse_with(&beside, mode, reader).diagnostics);
            }
        }
    }
    if let Some(file) = files.sidecar {
        sidecar::read(file, mode, &mut draft, &mut diagnostics);
    }
    let invalid = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == crate::DiagnosticSeverity::Error);
    let found = if invalid { None } else { finish(&mut draft) };
    (found, diagnostics)
}

/// The fields of a HOOK.md that a SKILL.md has too, and all of its fields.
pub(crate) struct HookFields<'a> {
    pub(crate) name: Option<Box<str>>,
    pub(crate) requirements: Vec<crate::Requirement>,
    pub(crate) always: bool,
    pub(crate) pairs: Vec<Pair<'a>>,
}

/// Reads the frontmatter of a HOOK.md, in every dialect that a SKILL.md can have.
pub(crate) fn hook<'a>(
    text: &'a str,
    report: &mut DiagnosticCollector<'_>,
) -> Option<HookFields<'a>> {
    let pairs = read_pairs(text, ManifestFormat::SkillMd, YamlReader::Fast, report)?;
    let mut draft = ManifestDraft::new(ManifestFormat::SkillMd, false);
    let known: Vec<Pair<'_>> = pairs
        .iter()
        .filter(|pair| !["events", "export"].contains(&pair.key.as_ref()))
        .cloned()
        .collect();
    draft.read(&known, report);
    Some(HookFields {
        name: draft.name,
        requirements: draft.card.requirements,
        always: draft.card.always,
        pairs,
    })
}

/// The fields of a manifest without diagnostics: the full reading reports those.
pub(crate) fn fields<'a>(name: &str, text: &'a str) -> Option<Vec<Pair<'a>>> {
    let mut silent = DiagnosticCollector::new(Strictness::Lenient, name, text);
    let format = match name.to_ascii_lowercase().ends_with(".yaml") {
        true => ManifestFormat::SkillYaml,
        false => ManifestFormat::SkillMd,
    };
    read_pairs(text, format, YamlReader::Fast, &mut silent)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ManifestFormat {
    SkillMd,
    SkillYaml,
}

fn read_pairs<'a>(
    text: &'a str,
    format: ManifestFormat,
    reader: YamlReader,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Vec<Pair<'a>>> {
    let range = match format {
        ManifestFormat::SkillMd => frontmatter::split(text, report)?.yaml,
        ManifestFormat::SkillYaml => {
            let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
            bom..text.len()
        }
    };
    let base = u32::try_from(range.start).unwrap_or(u32::MAX);
    if range.len() > frontmatter::MAX_FRONTMATTER {
        report.add(DiagnosticCode::FrontmatterTooLarge, base, || {
            Say::new(format!(
                "the manifest is larger than {} KiB",
                frontmatter::MAX_FRONTMATTER / 1024
            ))
        });
        return None;
    }
    match reader {
        YamlReader::Fast => yaml::read_mapping(&text[range], base, report),
        YamlReader::Thorough => yaml::read_thoroughly(&text[range], base, report),
    }
}

/// A SKILL.md next to a SKILL.yaml is the body; if it has a name, it must be the same.
fn compare_names(
    name: Option<&str>,
    body: FileText<'_>,
    mode: Strictness,
    reader: YamlReader,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let head = body.text.trim_start_matches('\u{feff}').trim_start();
    if !head.starts_with("---") {
        return;
    }
    let mut report = DiagnosticCollector::new(mode, body.name, body.text);
    let pairs =
        read_pairs(body.text, ManifestFormat::SkillMd, reader, &mut report).unwrap_or_default();
    let is_unreadable = report.has(DiagnosticCode::NameUnusable);
    // Other problems of its fields don't matter, since they are not read. Different names do.
    report
        .list
        .retain(|diagnostic| diagnostic.code == DiagnosticCode::DuplicateIdentity);
    if let (Some(name), Some(other)) = (name, pairs.iter().find(|pair| pair.key == "name"))
        && (is_unreadable
            || other
                .node
                .as_text()
                .is_some_and(|other| other.trim() != name))
    {
        report.add(DiagnosticCode::NamesDisagree, other.key_at, || {
            Say::new(format!(
                "the name in SKILL.yaml is `{name}`, but this file has another one"
            ))
            .hint(format!("write `name: {name}` here, or remove the name"))
        });
    }
    diagnostics.append(&mut report.list);
}

/// A manifest under construction.
struct ManifestDraft {
    format: ManifestFormat,
    /// Whether more than the card is needed.
    details: bool,
    name: Option<Box<str>>,
    name_at: u32,
    description: Option<Box<str>>,
    seen_name: bool,
    seen_description: bool,
    seen_types: bool,
    card: CardDraft,
    about: Authorship,
    invocation: InvocationRules,
    tools: ToolRules,
    contract: Contract,
    triggers: Triggers,
    wants: Vec<Want>,
    code: SkillCode,
    metadata: Json,
    unknown: Vec<(Box<str>, Json)>,
}

/// The parts of a card that fields fill in.
#[derive(Default)]
struct CardDraft {
    when_to_use: Option<Box<str>>,
    version: Option<crate::Version>,
    emoji: Option<Box<str>>,
    types: Types,
    backend: Option<crate::Backend>,
    user_invocable: Option<bool>,
    model_invocable: Option<bool>,
    always: bool,
    skill_key: Option<Box<str>>,
    primary_env: Option<Box<str>>,
    requirements: Vec<crate::Requirement>,
    installers: Vec<crate::Installer>,
}

impl ManifestDraft {
    fn new(format: ManifestFormat, details: bool) -> Self {
        Self {
            format,
            details,
            name: None,
            name_at: 0,
            description: None,
            seen_name: false,
            seen_description: false,
            seen_types: false,
            card: CardDraft::default(),
            about: Authorship::default(),
            invocation: InvocationRules::default(),
            tools: ToolRules::default(),
            contract: Contract::default(),
            triggers: Triggers::default(),
            wants: Vec::new(),
            code: SkillCode::default(),
            metadata: Json::Null,
            unknown: Vec::new(),
        }
    }

    fn read(&mut self, pairs: &[Pair<'_>], report: &mut DiagnosticCollector<'_>) {
        let mut unknown: Vec<&Pair<'_>> = Vec::new();
        for pair in pairs {
            let known = self.identity(pair, report)
                || self.invocation(pair, report)
                || self.requirement(pair, report)
                || self.contract(pair, report)
                || self.code(pair, report);
            if !known {
                if self.details {
                    let value = pair.node.to_json();
                    self.unknown.push((pair.key.as_ref().into(), value));
                }
                unknown.push(pair);
            } else if self.format == ManifestFormat::SkillMd
                && !STANDARD_FIELDS.contains(&pair.key.as_ref())
            {
                let key = pair.key.as_ref();
                let moves = READ_BELOW_METADATA.contains(&key) && pair.node.as_text().is_some();
                report.add(DiagnosticCode::NonStandardField, pair.key_at, || {
                    Say::new(format!("`{key}` is not a field of the specification")).hint(
                        if moves {
                            "move it below `metadata:`"
                        } else {
                            "remove it, or keep it for the agents that read it and validate without `--strict`"
                        },
                    )
                });
            }
        }
        report_unknown(&unknown, report);
    }

    fn check(&mut self, folder: Option<&str>, report: &mut DiagnosticCollector<'_>) {
        self.check_identity(folder, report);
        if self.format == ManifestFormat::SkillYaml {
            for (field, missing) in [
                ("version", self.card.version.is_none()),
                ("types", !self.seen_types),
            ] {
                if missing {
                    report.add(DiagnosticCode::FieldMissing, 0, || {
                        Say::new(format!("a SKILL.yaml must have `{field}`")).hint(example(field))
                    });
                }
            }
        }
    }

    fn take_manifest(&mut self) -> Option<SkillManifest> {
        use std::mem::take;
        Some(SkillManifest {
            card: self.take_card()?,
            about: take(&mut self.about),
            invocation: take(&mut self.invocation),
            tools: take(&mut self.tools),
            contract: take(&mut self.contract),
            triggers: take(&mut self.triggers),
            wants: take(&mut self.wants),
            code: take(&mut self.code),
            metadata: take(&mut self.metadata),
            unknown: take(&mut self.unknown),
        })
    }

    /// The card, moved out of the draft, which is too large to be moved itself.
    fn take_card(&mut self) -> Option<Card> {
        let card = std::mem::take(&mut self.card);
        Some(Card {
            name: SkillName::new(self.name.as_deref()?).ok()?,
            description: self.description.take()?,
            when_to_use: card.when_to_use,
            version: card.version,
            emoji: card.emoji,
            types: if card.types.is_empty() {
                Types::PROMPT
            } else {
                card.types
            },
            backend: card.backend,
            user_invocable: card.user_invocable.unwrap_or(true),
            model_invocable: card.model_invocable.unwrap_or(true),
            always: card.always,
            skill_key: card.skill_key,
            chooses_settings: true,
            primary_env: card.primary_env,
            requirements: card.requirements,
            installers: card.installers,
        })
    }
}

fn example(field: &str) -> &'static str {
    if field == "version" {
        "add `version: 0.1.0`"
    } else {
        "add `types: [prompt]`, or tool, workflow, security-rule, transform"
    }
}

/// Every field that a parser of this folder takes, in its usual spelling.
pub const KNOWN_FIELDS: &[&str] = &[
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "version",
    "homepage",
    "author",
    "emoji",
    "category",
    "tags",
    "requires",
    "os",
    "always",
    "primaryEnv",
    "skillKey",
    "install",
    "tools",
    "user-invocable",
    "disable-model-invocation",
    "context",
    "agent",
    "background",
    "model",
    "effort",
    "argument-hint",
    "arguments",
    "when_to_use",
    "paths",
    "shell",
    "hooks",
    "disallowed-tools",
    "allowed_tools",
    "forbidden_tools",
    "execution_protocol",
    "preconditions",
    "postconditions",
    "output_contract",
    "compatibility_rules",
    "composability_rules",
    "conflicts_with",
    "types",
    "triggers",
    "permissions",
    "dependencies",
    "implementation",
    "prompt",
    "security_rules",
    "wiki",
    "command-dispatch",
    "command-tool",
    "command-arg-mode",
];

/// One diagnostic for all unknown fields of a file: most of them are private fields of the author.
fn report_unknown(unknown: &[&Pair<'_>], report: &mut DiagnosticCollector<'_>) {
    let Some(first) = unknown.first() else { return };
    report.add(DiagnosticCode::UnknownField, first.key_at, || {
        const SHOWN: usize = 12;
        let mut names: Vec<String> = unknown
            .iter()
            .take(SHOWN)
            .map(|pair| {
                format!(
                    "`{}`",
                    pair.key.chars().take(80).collect::<String>().escape_debug()
                )
            })
            .collect();
        if unknown.len() > SHOWN {
            names.push(format!("and {} more", unknown.len() - SHOWN));
        }
        let say = Say::new(format!(
            "unknown field{} {}",
            if names.len() == 1 { "" } else { "s" },
            names.join(", ")
        ));
        match unknown
            .iter()
            .take(SHOWN)
            .find_map(|pair| Some((&pair.key, nearest(&pair.key)?)))
        {
            Some((key, known)) => say.hint(format!(
                "did you mean `{known}` instead of `{}`?",
                key.escape_debug()
            )),
            None => say.hint("move your own fields below `metadata:`, where every key is allowed"),
        }
    });
}

/// The known field that was probably intended. Only words of similar length are compared: most unknown fields are not
/// misspellings, and ten thousand skills have thousands of them.
fn nearest(key: &str) -> Option<&'static str> {
    let most = 1 + key.len() / 5;
    let close = KNOWN_FIELDS
        .iter()
        .filter(|known| known.len().abs_diff(key.len()) <= most && shares_letters(key, known));
    close
        .map(|known| (strsim::osa_distance(key, known), *known))
        .min()
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, known)| known)
}

/// A misspelling almost always keeps the first letter.
fn shares_letters(a: &str, b: &str) -> bool {
    a.bytes().next() == b.bytes().next()
}

/// The `skills:` list of an AGENT.md. Such a file needs no frontmatter.
pub(crate) fn agent_skills(text: &str) -> Vec<Box<str>> {
    let mut report = DiagnosticCollector::new(Strictness::Lenient, "AGENT.md", text);
    let pairs = read_pairs(text, ManifestFormat::SkillMd, YamlReader::Fast, &mut report)
        .unwrap_or_default();
    yaml::node::get(&pairs, "skills")
        .map(|node| shape::texts("skills", node, &mut report))
        .unwrap_or_default()
}
