//! The skills and plugins that a source offers, found as the catalog finds them on this machine.
//!
//! A folder with a manifest is a skill, including everything below it. `.git` and `node_modules` are not searched. A plugin with hooks is
//! offered as a whole, besides its skills: the hooks can run any file of it. A marketplace adds the skills that it names inside other
//! skills, and groups.

use metier_model::{FileText, Files, Strictness, hooks::plugin, parse_card, text::visible};
use semver::Version;

use super::{
    SourceLimits,
    error::FetchError,
    files::{EntryKind, FolderName, SourceFiles, below},
};
use crate::{
    marketplace::{MARKETPLACE_PATH, Marketplace, MarketplacePlugin, PluginPlace},
    source::SkillSource,
};

/// The largest manifest that is read for a list.
const MAX_MANIFEST: usize = 1 << 20;
/// How many skills are read at the same time.
const AT_ONCE: usize = 500;
/// The deepest folder that is searched: a package can't have deeper ones.
const MAX_DEPTH: usize = 32;
/// The folder with the manifests of a plugin.
const PLUGIN_FOLDER: &str = ".claude-plugin";
/// Where the hooks of a plugin are.
const HOOKS: &str = "hooks.json";

/// A skill or plugin of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillOffer {
    /// Its name, as its manifest states it.
    pub name: String,
    /// Its folder in the source; empty for the root.
    pub folder: String,
    /// Its author's description.
    pub description: String,
    /// Its version, if it has one that can be compared.
    pub version: Option<Version>,
    /// The Claude plugin that it belongs to.
    pub plugin: Option<String>,
    /// Whether it is a skill or a whole plugin.
    pub kind: OfferKind,
    /// Why it can't be used as it is.
    pub problem: Option<String>,
}

/// The type of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    /// A folder with a manifest.
    Skill,
    /// A Claude plugin with hooks: all of its files, with the skills among them.
    Plugin,
}

/// A plugin of a marketplace that is in another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalPlugin {
    /// Its name.
    pub name: String,
    /// Its author's description.
    pub description: String,
    /// Where it is, as it can be typed.
    pub source: SkillSource,
}

/// Everything that was found in a source.
#[derive(Debug, Default)]
pub(super) struct FoundOffers {
    pub(super) offers: Vec<SkillOffer>,
    pub(super) elsewhere: Vec<ExternalPlugin>,
    /// Parts that were not searched or could not be parsed, one sentence each.
    pub(super) left_out: Vec<String>,
}

/// A folder with manifests.
struct FoundSkill {
    folder: String,
    manifests: Vec<String>,
}

/// Finds the content of a source. `name` is the name of a skill at the top without one.
pub(super) fn find(
    files: &dyn SourceFiles,
    name: &str,
    source_name: &str,
    limits: &SourceLimits,
) -> Result<FoundOffers, FetchError> {
    let mut found = FoundOffers::default();
    let mut search = OfferSearch {
        files,
        source_name,
        limits,
        skills: Vec::new(),
        plugins: Vec::new(),
        seen: 0,
        left_out: &mut found.left_out,
    };
    search.folder("")?;
    let marketplace = search.marketplace()?;
    let (mut skills, plugins) = (search.skills, search.plugins);
    let mut groups = Vec::new();
    if let Some(marketplace) = marketplace {
        found.left_out.extend(marketplace.left_out);
        for plugin in marketplace.plugins {
            match &plugin.place {
                PluginPlace::Elsewhere(source) => found.elsewhere.push(ExternalPlugin {
                    name: plugin.name,
                    description: plugin.description,
                    source: source.clone(),
                }),
                PluginPlace::Here(_) => {
                    add_named(files, &plugin, &mut skills)?;
                    groups.push(plugin);
                }
            }
        }
    }
    skills.sort_by(|a, b| a.folder.cmp(&b.folder));
    found.offers = cards(files, &skills, name)?;
    for offer in &mut found.offers {
        let group = groups.iter().find(|plugin| plugin.includes(&offer.folder));
        offer.plugin = group.map(|plugin| plugin.name.clone());
    }
    add_plugins(files, &plugins, name, &mut found.offers)?;
    Ok(found)
}

/// The walk through a source.
struct OfferSearch<'a> {
    files: &'a dyn SourceFiles,
    source_name: &'a str,
    limits: &'a SourceLimits,
    skills: Vec<FoundSkill>,
    plugins: Vec<String>,
    seen: usize,
    left_out: &'a mut Vec<String>,
}

impl OfferSearch<'_> {
    fn folder(&mut self, folder: &str) -> Result<(), FetchError> {
        let names = self.files.list(folder)?;
        self.seen += names.len();
        self.within(self.seen, self.limits.names, "files and folders")?;
        let manifests = manifests_in(&names);
        if !manifests.is_empty() {
            self.skills.push(FoundSkill {
                folder: folder.to_owned(),
                manifests,
            });
            return self.within(self.skills.len(), self.limits.offers, "skills");
        }
        for FolderName { name, kind } in names {
            let inner = below(folder, &name);
            match kind {
                EntryKind::Folder if matches!(name.as_str(), ".git" | "node_modules") => {}
                EntryKind::Folder if inner.split('/').count() > MAX_DEPTH => {
                    let shown = visible(&inner);
                    let text = format!("`{shown}` is deeper than {MAX_DEPTH} folders");
                    self.left_out.push(text);
                }
                EntryKind::Folder => {
                    if name == PLUGIN_FOLDER {
                        self.plugins.push(folder.to_owned());
                    }
                    self.folder(&inner)?;
                }
                EntryKind::LinkToFolder => {
                    let text = format!("`{}` is a link and was not followed", visible(&inner));
                    self.left_out.push(text);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The marketplace of the source. If it can't be read, the skills are found anyway.
    fn marketplace(&mut self) -> Result<Option<Marketplace>, FetchError> {
        let place = MARKETPLACE_PATH.to_owned();
        let read = self
            .files
            .read(std::slice::from_ref(&place), MAX_MANIFEST)?;
        let Some(Some(bytes)) = read.into_iter().next() else {
            return Ok(None);
        };
        match Marketplace::parse(&bytes) {
            Ok(marketplace) => Ok(Some(marketplace)),
            Err(error) => {
                self.left_out.push(format!("`{place}`: {error}"));
                Ok(None)
            }
        }
    }

    fn within(&self, count: usize, limit: usize, what: &'static str) -> Result<(), FetchError> {
        match count > limit {
            true => Err(FetchError::TooMany {
                source_name: self.source_name.to_owned(),
                limit,
                what,
            }),
            false => Ok(()),
        }
    }
}

/// The manifests among the names of a folder: in their exact spelling, otherwise in any other.
fn manifests_in(names: &[FolderName]) -> Vec<String> {
    let is = |spellings: &[&str], exact: bool, entry: &FolderName| {
        let same = |spelling: &&str| match exact {
            true => entry.name == **spelling,
            false => entry.name.eq_ignore_ascii_case(spelling),
        };
        entry.kind != EntryKind::Folder && spellings.iter().any(same)
    };
    let found = |spellings: &[&str], exact| -> Vec<String> {
        let found = names.iter().filter(|entry| is(spellings, exact, entry));
        found.map(|entry| entry.name.clone()).collect()
    };
    let exact = found(&["SKILL.md", "SKILL.yaml"], true);
    match exact.is_empty() {
        true => found(&["SKILL.md", "SKILL.yaml", "SKILL.yml"], false),
        false => exact,
    }
}

/// Adds the skills that a plugin names and that belong to another skill otherwise.
fn add_named(
    files: &dyn SourceFiles,
    plugin: &MarketplacePlugin,
    skills: &mut Vec<FoundSkill>,
) -> Result<(), FetchError> {
    for folder in plugin.named_folders() {
        if skills.iter().any(|skill| skill.folder == folder) {
            continue;
        }
        let manifests = manifests_in(&files.list(&folder)?);
        if !manifests.is_empty() {
            skills.push(FoundSkill { folder, manifests });
        }
    }
    Ok(())
}

/// Reads the manifests of all skills, in batches: together they can be large.
fn cards(
    files: &dyn SourceFiles,
    skills: &[FoundSkill],
    name: &str,
) -> Result<Vec<SkillOffer>, FetchError> {
    let paths = |skills: &[FoundSkill]| -> Vec<String> {
        let paths = skills.iter().flat_map(|skill| {
            let manifests = skill.manifests.iter();
            manifests.map(|name| below(&skill.folder, name))
        });
        paths.collect()
    };
    files.prepare_files(&paths(skills))?;
    let mut offers = Vec::with_capacity(skills.len());
    for some in skills.chunks(AT_ONCE) {
        let mut contents = files.read(&paths(some), MAX_MANIFEST)?.into_iter();
        for skill in some {
            let texts: Vec<(&str, Option<String>)> = skill
                .manifests
                .iter()
                .map(|name| {
                    let bytes = contents.next().flatten();
                    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                    (name.as_str(), text)
                })
                .collect();
            offers.push(card(&skill.folder, &texts, name));
        }
    }
    Ok(offers)
}

/// The offer of one skill from the texts of its manifests.
fn card(folder: &str, texts: &[(&str, Option<String>)], top_name: &str) -> SkillOffer {
    let last = folder.rsplit('/').next().filter(|last| !last.is_empty());
    let folder_name = last.unwrap_or(top_name).to_owned();
    let mut offer = SkillOffer {
        name: visible(&folder_name).into_owned(),
        folder: folder.to_owned(),
        description: String::new(),
        version: None,
        plugin: None,
        kind: OfferKind::Skill,
        problem: None,
    };
    if let Some((name, _)) = texts.iter().find(|(_, text)| text.is_none()) {
        offer.problem = Some(format!("`{name}` is not a regular file of at most 1 MiB"));
        return offer;
    }
    let is_md = |name: &str| name.to_ascii_lowercase().ends_with(".md");
    let text = |md: bool| {
        let found = texts.iter().find(|(name, _)| is_md(name) == md);
        found.and_then(|(name, text)| {
            let text = text.as_deref()?;
            Some(FileText { name, text })
        })
    };
    let files = Files {
        folder: Some(&folder_name),
        skill_md: text(true),
        skill_yaml: text(false),
        sidecar: None,
    };
    fill(&mut offer, &files);
    offer
}

fn fill(offer: &mut SkillOffer, files: &Files<'_>) {
    let (card, diagnostics) = parse_card(files, Strictness::Lenient);
    match card {
        Some(card) => {
            offer.name = card.name.to_string();
            offer.description = visible(&card.description).into_owned();
            offer.version = card.version.and_then(|version| version.semver().cloned());
        }
        None => {
            let error = diagnostics
                .into_iter()
                .find(|diagnostic| diagnostic.severity == metier_model::DiagnosticSeverity::Error);
            offer.problem = Some(match error {
                Some(error) => error.message.into(),
                None => "its manifest can't be read".to_owned(),
            });
        }
    }
}

/// Adds the plugins that have hooks.
fn add_plugins(
    files: &dyn SourceFiles,
    plugins: &[String],
    top_name: &str,
    offers: &mut Vec<SkillOffer>,
) -> Result<(), FetchError> {
    let paths: Vec<String> = plugins
        .iter()
        .map(|folder| below(folder, plugin::MANIFEST))
        .collect();
    let manifests = files.read(&paths, MAX_MANIFEST)?;
    for (folder, manifest) in plugins.iter().zip(manifests) {
        let Some(manifest) = manifest else { continue };
        let manifest = String::from_utf8_lossy(&manifest);
        let hooks = files.list(&below(folder, "hooks"))?;
        let has_file = hooks.iter().any(|entry| entry.name == HOOKS);
        if !has_file && !plugin::has_hooks(&manifest) {
            continue;
        }
        let last = folder.rsplit('/').next().filter(|last| !last.is_empty());
        let text = plugin::as_skill(&manifest, last.unwrap_or(top_name)).unwrap_or_default();
        let mut offer = SkillOffer {
            name: visible(last.unwrap_or(top_name)).into_owned(),
            folder: folder.clone(),
            description: String::new(),
            version: None,
            plugin: None,
            kind: OfferKind::Plugin,
            problem: None,
        };
        let skill_md = Some(FileText {
            name: plugin::MANIFEST,
            text: &text,
        });
        let files = Files {
            skill_md,
            ..Files::default()
        };
        fill(&mut offer, &files);
        offer.plugin = Some(offer.name.trim_end_matches("-plugin").to_owned());
        offers.push(offer);
    }
    Ok(())
}
