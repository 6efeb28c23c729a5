//! Name, description, author and metadata.

use super::{ManifestDraft, ManifestFormat, shape};
use crate::{
    diagnostic::DiagnosticCode,
    name::{self, Departure, NameError},
    report::{DiagnosticCollector, Say},
    text,
    words::Version,
    yaml::{
        node::{Node, NodeValue, Pair, Style, get},
        repair,
    },
};

const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;

impl ManifestDraft {
    pub(super) fn identity(
        &mut self,
        pair: &Pair<'_>,
        report: &mut DiagnosticCollector<'_>,
    ) -> bool {
        let node = &pair.node;
        match pair.key.as_ref() {
            "name" => self.read_name(pair, report),
            "description" => self.read_description(pair, report),
            "version" => self.card.version = read_version(node, self.format, report),
            "license" => {
                if !matches!(node.value, NodeValue::Text(..)) {
                    report.add(DiagnosticCode::LicenseForm, node.at, || {
                        Say::new(format!("`license` must be a string, not {}", node.kind()))
                    });
                }
                self.about.license = node.as_text().map(Into::into);
            }
            "compatibility" => self.read_compatibility(node, report),
            "homepage" => self.about.homepage = shape::text("homepage", node, report),
            "author" => self.about.author = read_author(node),
            "emoji" => self.card.emoji = shape::text("emoji", node, report),
            "tags" => self.about.tags = shape::texts("tags", node, report),
            "category" => self.about.category = shape::text("category", node, report),
            "metadata" => self.read_metadata(node, report),
            _ => return false,
        }
        true
    }

    fn read_name(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        self.seen_name = true;
        self.name_at = pair.node.at;
        match &pair.node.value {
            NodeValue::Text(text, _) => self.name = Some(text.trim().into()),
            NodeValue::Null => self.seen_name = false,
            _ => report.add(DiagnosticCode::NameType, pair.node.at, || {
                let kind = pair.node.kind();
                Say::new(format!(
                    "`name` must be a string, not {kind}{FOLDER_INSTEAD}"
                ))
                .hint("write one word without brackets, such as `name: my-skill`")
            }),
        }
    }

    fn read_description(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        let node = &pair.node;
        self.seen_description = true;
        match &node.value {
            NodeValue::Text(text, style) => {
                let trimmed = text.trim();
                self.seen_description = !trimmed.is_empty();
                let length = if text.len() > MAX_DESCRIPTION {
                    text.chars().count()
                } else {
                    0
                };
                if length > MAX_DESCRIPTION {
                    report.add(DiagnosticCode::DescriptionTooLong, node.at, || {
                        Say::new(format!("the description has {length} characters; the limit of the specification is {MAX_DESCRIPTION}"))
                            .hint("describe what the skill does and when to use it, and move the rest into the body")
                    });
                }
                check_text("description", trimmed, node.at, report);
                if *style == Style::Plain {
                    check_comment(pair, trimmed, report);
                }
                self.description = (!trimmed.is_empty()).then(|| trimmed.into());
            }
            NodeValue::Null => self.seen_description = false,
            _ => report.add(DiagnosticCode::DescriptionType, node.at, || {
                Say::new(format!(
                    "`description` must be a string, not {}",
                    node.kind()
                ))
                .hint("put the whole description in quotes")
            }),
        }
    }

    fn read_compatibility(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        match &node.value {
            NodeValue::Text(text, _) if (1..=MAX_COMPATIBILITY).contains(&text.chars().count()) => {
                self.about.compatibility = Some(text.trim().into());
            }
            NodeValue::Map(pairs) if self.format == ManifestFormat::SkillYaml => {
                self.about.platforms = Some(node.to_json());
                self.read_platforms(pairs, report);
            }
            value => {
                if let NodeValue::Map(pairs) = value {
                    self.about.platforms = Some(node.to_json());
                    self.read_platforms(pairs, report);
                }
                self.about.compatibility = node.as_text().map(Into::into);
                report.add(DiagnosticCode::CompatibilityForm, node.at, || {
                    Say::new(format!(
                        "`compatibility` must be a string of 1 to {MAX_COMPATIBILITY} characters"
                    ))
                });
            }
        }
    }

    fn read_metadata(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        let parsed;
        let node = match as_json5(node, report) {
            Some(found) => {
                parsed = found;
                &parsed
            }
            None => node,
        };
        if self.details {
            self.metadata = node.to_json();
        }
        let NodeValue::Map(pairs) = &node.value else {
            // A field without a value is only unusual, but the specification requires a map.
            let code = if node.value == NodeValue::Null {
                DiagnosticCode::MetadataValue
            } else {
                DiagnosticCode::MetadataForm
            };
            report.add(code, node.at, || {
                Say::new(format!("`metadata` must be a map, not {}", node.kind()))
                    .hint("write `key: value` lines below it, indented")
            });
            return;
        };
        for pair in pairs {
            if !matches!(pair.node.value, NodeValue::Text(..)) {
                report.add(DiagnosticCode::MetadataValue, pair.key_at, || {
                    Say::new(format!(
                        "`metadata.{}` is {}; the specification allows only strings",
                        pair.key.escape_debug(),
                        pair.node.kind()
                    ))
                });
            }
        }
        self.read_metadata_words(pairs, report);
        self.vendor_blocks(pairs, report);
    }

    /// Fields in the specification's metadata map, as plain text.
    fn read_metadata_words(&mut self, pairs: &[Pair<'_>], report: &mut DiagnosticCollector<'_>) {
        let word = |key: &str| {
            get(pairs, key)
                .and_then(Node::as_text)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        if let (None, Some(node)) = (&self.card.version, get(pairs, "version")) {
            self.card.version = read_version(node, ManifestFormat::SkillMd, report);
        }
        if self.card.emoji.is_none() {
            self.card.emoji = word("emoji").map(Into::into);
        }
        if self.about.author.is_none() {
            self.about.author = word("author").map(Into::into);
        }
        if self.invocation.argument_hint.is_none() {
            self.invocation.argument_hint = word("argument-hint").map(Into::into);
        }
        if self.about.category.is_none() {
            self.about.category = word("category").map(Into::into);
        }
        if self.about.homepage.is_none() {
            self.about.homepage = word("homepage").map(Into::into);
        }
    }

    pub(super) fn check_identity(
        &mut self,
        folder: Option<&str>,
        report: &mut DiagnosticCollector<'_>,
    ) {
        self.check_name(folder, report);
        if !self.seen_description {
            report.add(DiagnosticCode::DescriptionMissing, 0, || {
                Say::new("there is no description").hint("add `description: what it does, and when to use it` (text after an unquoted `#` is a comment)")
            });
        }
    }

    fn check_name(&mut self, folder: Option<&str>, report: &mut DiagnosticCollector<'_>) {
        match self.name.as_deref().map(|name| (name, name::usable(name))) {
            Some((name, Ok(_))) => return self.check_form(name, folder, report),
            Some((name, Err(error))) => {
                let code = match error {
                    NameError::Empty => DiagnosticCode::NameMissing,
                    NameError::Reserved => DiagnosticCode::NameReserved,
                    _ => DiagnosticCode::NameUnusable,
                };
                let is_reserved = error == NameError::Reserved;
                let instead = if is_reserved { "" } else { FOLDER_INSTEAD };
                report.add(code, self.name_at, || {
                    let name = short(name);
                    Say::new(format!("the name `{name}` can't be used: {error}{instead}"))
                        .hint(name_hint([folder]))
                });
                if is_reserved {
                    return;
                }
            }
            None if self.seen_name || report.has(DiagnosticCode::NameUnusable) => {}
            None => report.add(DiagnosticCode::NameMissing, 0, || {
                Say::new(format!("there is no name{FOLDER_INSTEAD}")).hint(name_hint([folder]))
            }),
        }
        self.name = folder
            .filter(|folder| name::usable(folder).is_ok())
            .map(Into::into);
        if self.name.is_none() {
            report.add(DiagnosticCode::NameNone, 0, || {
                Say::new("neither the file nor its folder has a usable name").hint(name_hint([]))
            });
        }
    }

    /// Reports how a usable name deviates from the specification.
    fn check_form(&self, name: &str, folder: Option<&str>, report: &mut DiagnosticCollector<'_>) {
        for departure in name::departures(name) {
            let (code, what) = match departure {
                Departure::TooLong => (DiagnosticCode::NameTooLong, "is longer than 64 characters"),
                Departure::Characters => (
                    DiagnosticCode::NameCharacters,
                    "contains characters other than a–z, 0–9 and hyphens",
                ),
                Departure::Hyphens => (
                    DiagnosticCode::NameHyphens,
                    "starts or ends with a hyphen, or has two in a row",
                ),
            };
            report.add(code, self.name_at, || {
                Say::new(format!("the name `{}` {what}", short(name)))
                    .hint(name_hint([Some(name), folder]))
            });
        }
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            report.add(DiagnosticCode::NameFolder, self.name_at, || {
                Say::new(format!(
                    "the name `{}` differs from its folder, `{}`",
                    short(name),
                    short(folder)
                ))
                .hint(rename_hint(name))
            });
        }
    }
}

/// The folder's new name, if the skill's name has letters for one.
fn rename_hint(name: &str) -> String {
    match name::conforming(name) {
        empty if empty.is_empty() => "rename the skill to match its folder".to_owned(),
        folder => format!("rename the folder to `{folder}`, or the skill to match its folder"),
    }
}

/// Appended to the message about a name that can't be used.
const FOLDER_INSTEAD: &str = "; the folder's name is used";

/// A conforming name, derived from the first of these strings that contains letters.
fn name_hint<const N: usize>(names: [Option<&str>; N]) -> String {
    let conforming = |name: &str| Some(name::conforming(name)).filter(|name| !name.is_empty());
    let found = names.into_iter().flatten().find_map(conforming);
    format!("write `name: {}`", found.as_deref().unwrap_or("my-skill"))
}

fn short(text: &str) -> String {
    let visible = text::visible(text);
    let mut cut: String = visible.chars().take(80).collect();
    if cut.len() < visible.len() {
        cut.push('…');
    }
    cut
}

/// A SKILL.yaml requires a SemVer version; elsewhere `1.0` is accepted, since the specification itself shows it.
fn read_version(
    node: &Node<'_>,
    format: ManifestFormat,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Version> {
    let version = Version::new(&shape::text("version", node, report)?);
    let (is_fine, code) = match format {
        ManifestFormat::SkillYaml => (version.is_exact(), DiagnosticCode::VersionNotSemver),
        ManifestFormat::SkillMd => (version.semver().is_some(), DiagnosticCode::VersionForm),
    };
    if !is_fine {
        report.add(code, node.at, || {
            Say::new(format!(
                "`{}` is not a SemVer version",
                short(version.as_str())
            ))
            .hint(version_hint(&version))
        });
    }
    Some(version)
}

/// The hint with the same version in SemVer's form, if there is one.
fn version_hint(version: &Version) -> String {
    match version.semver() {
        Some(semver) => format!("write `version: {semver}`"),
        None => "write it as `1.2.3`".to_owned(),
    }
}

/// An author: a string, or a map with a name.
fn read_author(node: &Node<'_>) -> Option<Box<str>> {
    node.as_text()
        .or_else(|| node.get("name")?.as_text())
        .map(Into::into)
}

/// Metadata in JSON5: in a string, or a flow map whose comments YAML read as keys.
fn as_json5(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Option<Node<'static>> {
    if has_comment_key(node) {
        let json = repair::json5_value(report.brackets_at(node.at)?)?;
        report.add(DiagnosticCode::ReadAsJson5, node.at, || {
            Say::new("`metadata` contains `//` comments and was read as JSON5")
                .hint("YAML comments start with `#`")
        });
        return Some(Node::from_json(json, node.at));
    }
    let text = node
        .as_text()
        .map(str::trim)
        .filter(|text| text.starts_with('{'))?;
    let json = repair::json5_value(text)?;
    report.add(DiagnosticCode::ReadAsJson5, node.at, || {
        Say::new("`metadata` is a JSON string and was parsed as JSON")
            .hint("write `key: value` lines below it, indented")
    });
    Some(Node::from_json(json, node.at))
}

/// YAML reads a JSON5 comment as part of the next key.
fn has_comment_key(node: &Node<'_>) -> bool {
    match &node.value {
        NodeValue::Map(pairs) => pairs.iter().any(|pair| {
            pair.key.starts_with("//") || pair.key.starts_with("/*") || has_comment_key(&pair.node)
        }),
        NodeValue::List(items) => items.iter().any(has_comment_key),
        _ => false,
    }
}

/// Reports hidden and control characters in text that becomes part of prompts.
fn check_text(key: &str, value: &str, at: u32, report: &mut DiagnosticCollector<'_>) {
    // Without an early exit the compiler processes sixteen bytes at a time.
    if value
        .bytes()
        .fold(true, |all, byte| all & matches!(byte, b' '..=b'~' | b'\n'))
    {
        return;
    }
    if value.contains(text::hides_text) {
        let smuggled = text::smuggled_ascii(value);
        report.add(DiagnosticCode::HiddenText, at, || {
            if smuggled.is_empty() {
                Say::new(format!(
                    "the {key} contains invisible characters; they are not shown to models"
                ))
                .hint("remove them")
            } else {
                Say::new(format!(
                    "the {key} hides the text `{}` in invisible characters",
                    short(&smuggled)
                ))
                .hint("remove it: people can't see it")
            }
        });
    }
    if text::holds_control(value) {
        report.add(DiagnosticCode::ControlCharacters, at, || {
            Say::new(format!(
                "the {key} contains control characters; they are shown escaped"
            ))
            .hint("remove them")
        });
    }
}

/// Reports ` #` in unquoted text, which starts a comment: the rest is lost silently.
fn check_comment(pair: &Pair<'_>, value: &str, report: &mut DiagnosticCollector<'_>) {
    let Some(cut) = report.comment_after(pair.key_at, value) else {
        return;
    };
    report.add(DiagnosticCode::CommentCutsText, pair.node.at, || {
        Say::new(format!(
            "the {} ends before ` #`: YAML reads `{}` as a comment",
            pair.key,
            short(&cut)
        ))
        .hint("put the whole text in quotes")
    });
}
