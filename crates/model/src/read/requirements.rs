//! Requirements of a skill: the vendor blocks and the equivalent top-level fields.

use super::{ManifestDraft, ManifestFormat, shape};
use crate::{
    card::{Dependency, Installer, Need, Requirement},
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
    text::visible,
    words::Os,
    yaml::node::{Node, NodeValue, Pair, get},
};

/// Vendor blocks below `metadata`, metier's first: the first existing one is read.
const VENDORS: [&str; 5] = ["metier", "wundr", "clawdis", "clawdbot", "openclaw"];

const INSTALLERS: &[&str] = &[
    "brew", "apt", "npm", "node", "go", "uv", "pip", "cargo", "download",
];

impl ManifestDraft {
    pub(super) fn requirement(
        &mut self,
        pair: &Pair<'_>,
        report: &mut DiagnosticCollector<'_>,
    ) -> bool {
        match pair.key.as_ref() {
            "tools" if names_tools(&pair.node) => {
                for (name, at) in shape::located("tools", &pair.node, report) {
                    self.need(Need::Tool(name), at, report);
                }
                true
            }
            "dependencies" => {
                self.read_dependencies(&pair.node, report);
                true
            }
            _ => self.vendor_field(pair, report),
        }
    }

    /// Reads the first vendor block below `metadata`.
    pub(super) fn vendor_blocks(
        &mut self,
        metadata: &[Pair<'_>],
        report: &mut DiagnosticCollector<'_>,
    ) {
        let Some(node) = VENDORS.iter().find_map(|vendor| get(metadata, vendor)) else {
            return;
        };
        for pair in shape::map("metadata", node, report) {
            self.vendor_field(pair, report);
        }
    }

    fn vendor_field(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) -> bool {
        let node = &pair.node;
        match pair.key.as_ref() {
            "requires" => shape::map("requires", node, report)
                .iter()
                .for_each(|pair| self.read_requires(pair, report)),
            "os" => self.read_os(node, report),
            "always" => self.card.always = shape::flag("always", node, report).unwrap_or(false),
            "emoji" => self.card.emoji = shape::text("emoji", node, report),
            "category" => self.about.category = shape::text("category", node, report),
            "homepage" => self.about.homepage = shape::text("homepage", node, report),
            "primaryEnv" | "primary_env" => {
                self.card.primary_env = shape::text("primaryEnv", node, report);
            }
            "skillKey" | "skill_key" => self.card.skill_key = shape::text("skillKey", node, report),
            "install" => shape::maps("install", node, report)
                .into_iter()
                .for_each(|item| self.read_installer(item, report)),
            _ => return false,
        }
        true
    }

    fn need(&mut self, need: Need, at: u32, report: &DiagnosticCollector<'_>) {
        self.card.requirements.push(Requirement {
            need,
            line: report.line(at),
        });
    }

    fn read_requires(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        let key = pair.key.as_ref();
        let make: fn(Box<str>) -> Need = match key {
            "bins" => Need::Bin,
            "env" => Need::Env,
            "config" => Need::Config,
            "anyBins" | "any_bins" => {
                let bins = shape::texts(key, &pair.node, report);
                if !bins.is_empty() {
                    self.need(Need::AnyBin(bins), pair.key_at, report);
                }
                return;
            }
            _ => {
                report.add(DiagnosticCode::UnknownWord, pair.key_at, || {
                    Say::new(format!("unknown field `requires.{}`", key.escape_debug()))
                        .hint("use bins, anyBins, env or config")
                });
                return;
            }
        };
        for (name, at) in shape::located(key, &pair.node, report) {
            self.need(make(name), at, report);
        }
    }

    /// `compatibility: {metier: ">=1.2", platforms: [linux]}`. In a SKILL.md, values that are not systems mean
    /// something else.
    pub(super) fn read_platforms(
        &mut self,
        pairs: &[Pair<'_>],
        report: &mut DiagnosticCollector<'_>,
    ) {
        if let Some(node) = get(pairs, "metier")
            && let Some(range) = shape::text("metier", node, report)
        {
            match semver::VersionReq::parse(&range) {
                Ok(_) => self.need(Need::Metier(range), node.at, report),
                Err(_) => report.add(DiagnosticCode::VersionForm, node.at, || {
                    Say::new(format!(
                        "`{}` is not a valid version range",
                        visible(&range)
                    ))
                    .hint("write it as `>=1.2`")
                }),
            }
        }
        let names_system = |node: &&Node<'_>| {
            self.format == ManifestFormat::SkillYaml || {
                let words = shape::texts("platforms", node, &mut report.silent());
                words
                    .iter()
                    .any(|word| word.to_ascii_lowercase().parse::<Os>().is_ok())
            }
        };
        if let Some(node) = get(pairs, "platforms").filter(names_system) {
            self.read_os(node, report);
        }
    }

    fn read_os(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        let mut systems = Vec::new();
        let words = shape::located("os", node, report);
        for (word, at) in &words {
            match word.to_ascii_lowercase().parse::<Os>() {
                Ok(os) => systems.push(os),
                Err(error) => report.add(DiagnosticCode::UnknownWord, *at, || {
                    Say::new(format!("`os`: {error}"))
                }),
            }
        }
        if !words.is_empty() {
            self.need(Need::Os(systems), node.at, report);
        }
    }

    fn read_installer(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        let field =
            |key: &str, report: &mut DiagnosticCollector<'_>| shape::entry(node, key, report);
        let kind = field("kind", report)
            .or_else(|| field("type", report))
            .unwrap_or_default();
        if !INSTALLERS.contains(&&*kind) {
            report.add(DiagnosticCode::UnknownWord, node.at, || {
                Say::new(format!("unknown installer kind `{}`", kind.escape_debug()))
                    .hint(format!("use one of {}", INSTALLERS.join(", ")))
            });
        }
        let package = ["formula", "cask", "package", "module", "url"]
            .iter()
            .find_map(|key| field(key, report))
            .unwrap_or_default();
        let bins = node
            .get("bins")
            .map(|bins| shape::texts("bins", bins, report))
            .unwrap_or_default();
        let os = node
            .get("os")
            .map(|os| shape::texts("os", os, report))
            .unwrap_or_default();
        self.card.installers.push(Installer {
            id: field("id", report).unwrap_or_else(|| kind.clone()),
            label: field("label", report),
            kind,
            package,
            bins,
            os: self.systems(&os, node.at, report),
        });
    }

    /// The systems of an installer; an unknown one matches no system.
    fn systems(
        &self,
        words: &[Box<str>],
        at: u32,
        report: &mut DiagnosticCollector<'_>,
    ) -> Vec<Os> {
        let mut systems = Vec::new();
        for word in words {
            match word.to_ascii_lowercase().parse::<Os>() {
                Ok(os) => systems.push(os),
                Err(error) => report.add(DiagnosticCode::UnknownWord, at, || {
                    Say::new(format!("`install.os`: {error}"))
                }),
            }
        }
        systems
    }

    fn read_dependencies(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        let NodeValue::List(items) = &node.value else {
            if node.value != NodeValue::Null {
                shape::wrong(
                    "dependencies",
                    node,
                    "a list of `{name, version, optional}`",
                    report,
                );
            }
            return;
        };
        for item in items {
            match (&item.value, self.format) {
                (NodeValue::Map(_), _) => self.read_dependency(item, report),
                (NodeValue::Text(name, _), ManifestFormat::SkillYaml) => {
                    let (name, version) = name
                        .split_once('@')
                        .map_or((name.as_ref(), None), |(name, version)| {
                            (name, Some(version.into()))
                        });
                    self.need(
                        Need::Skill(Dependency {
                            name: name.into(),
                            version,
                            optional: false,
                        }),
                        item.at,
                        report,
                    );
                }
                _ => {
                    report.add(DiagnosticCode::FieldForm, item.at, || {
                        Say::new("`dependencies` lists other skills, as `{name: …, version: …}`; this entry was ignored")
                            .hint("mention packages in the body or in `requires`")
                    });
                    return;
                }
            }
        }
    }

    fn read_dependency(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        let Some(name) = shape::entry(node, "name", report) else {
            return shape::wrong("dependencies", node, "a map with a `name`", report);
        };
        let version = shape::entry(node, "version", report);
        if let Some(range) = version
            .as_deref()
            .filter(|range| semver::VersionReq::parse(range).is_err())
        {
            report.add(DiagnosticCode::VersionForm, node.at, || {
                Say::new(format!(
                    "`{}` is not a valid version range",
                    range.escape_debug()
                ))
                .hint("write it as `^1.2`")
            });
        }
        let optional = node
            .get("optional")
            .and_then(|flag| shape::flag("optional", flag, report))
            .unwrap_or(false);
        self.need(
            Need::Skill(Dependency {
                name,
                version,
                optional,
            }),
            node.at,
            report,
        );
    }
}

/// `tools` lists required tools (a list of strings), or defines tools (a list of maps).
pub(super) fn names_tools(node: &Node<'_>) -> bool {
    match &node.value {
        NodeValue::List(items) => !items.iter().any(|item| item.as_map().is_some()),
        NodeValue::Text(..) | NodeValue::Null => true,
        NodeValue::Map(_) => false,
    }
}
