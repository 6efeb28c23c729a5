//! Skills that can be used, and what a model learns about them.
//!
//! Catalogs are built by hand, so that every test states exactly what exists.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken fixture is a broken test"
)]

mod compose;
mod inventory;
mod prompt;
mod rulebook;

use metier_catalog::{Catalog, CatalogEntry, ManifestFiles, Root, SkillLocation};
use metier_config::{Config, Layer, load};
use metier_model::{Os, Source, Strictness};
use metier_policy::Facts;
use metier_runtime::{Inventory, survey};
use metier_testkit::skill_yaml;

/// A machine that has these programs and nothing else.
pub(crate) struct Machine(pub(crate) &'static [&'static str]);

impl Facts for Machine {
    fn os(&self) -> Option<Os> {
        Some(Os::Linux)
    }

    fn has_program(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn has_variable(&self, _: &str) -> bool {
        false
    }

    fn has_setting(&self, _: &str) -> bool {
        false
    }

    fn tools(&self) -> Option<&[String]> {
        None
    }
}

/// The roots of all tests: one for each source, two of the user's, and an untrusted project.
pub(crate) const EXTRA: u16 = 0;
pub(crate) const USER: u16 = 1;
pub(crate) const USER_LATER: u16 = 2;
pub(crate) const UNTRUSTED: u16 = 3;
pub(crate) const PROJECT: u16 = 4;
pub(crate) const INLINE: u16 = 5;

pub(crate) fn roots() -> Vec<Root> {
    let root = |source, name: &str, trusted| Root {
        trusted,
        ..Root::explicit(source, format!("/{name}").into())
    };
    vec![
        root(Source::Extra, "extra", true),
        root(Source::User, "user", true),
        root(Source::User, "user-later", true),
        root(Source::Project, "untrusted", false),
        root(Source::Project, "project", true),
        root(Source::Inline, "inline", true),
    ]
}

/// A skill in a root, with more lines of its SKILL.yaml.
pub(crate) fn skill(root: u16, name: &str, more: &str) -> CatalogEntry {
    let place = &roots()[usize::from(root)];
    let path = place.path.join(name);
    CatalogEntry {
        source: place.source,
        root: Some(root),
        ..entry(path.to_str().unwrap_or_default(), name, more)
    }
}

/// A skill that counts as built in for precedence.
pub(crate) fn builtin(name: &str, more: &str) -> CatalogEntry {
    CatalogEntry {
        source: Source::Builtin,
        root: None,
        ..entry(&format!("/builtin/{name}"), name, more)
    }
}

/// A skill that could not be read.
pub(crate) fn invalid(root: u16, name: &str) -> CatalogEntry {
    CatalogEntry {
        card: None,
        ..skill(root, name, "")
    }
}

fn entry(path: &str, name: &str, more: &str) -> CatalogEntry {
    let version = if more.contains("version: ") && !more.starts_with("dependencies") {
        ""
    } else {
        "version: 1.0.0\n"
    };
    let text = format!("name: {name}\ndescription: Does {name}.\ntypes: [prompt]\n{version}{more}");
    let (manifest, diagnostics) = skill_yaml(&text);
    CatalogEntry {
        source: Source::User,
        root: None,
        place: SkillLocation::Folder(path.into()),
        files: ManifestFiles {
            skill_yaml: Some("SKILL.yaml".into()),
            ..ManifestFiles::default()
        },
        card: Some(manifest.card),
        diagnostics,
        real: None,
        digest: None,
    }
}

pub(crate) fn config(toml: &str) -> Config {
    let loaded = load([Layer::user("config.toml", toml)]);
    assert!(!loaded.has_errors(), "{:?}", loaded.problems);
    loaded.config
}

pub(crate) fn stock(entries: Vec<CatalogEntry>) -> Inventory {
    stock_with(entries, &Config::default(), &[])
}

pub(crate) fn stock_with(
    entries: Vec<CatalogEntry>,
    config: &Config,
    selection: &[&str],
) -> Inventory {
    let catalog = Catalog {
        roots: roots(),
        entries,
        diagnostics: Vec::new(),
    };
    let selection: Vec<String> = selection.iter().map(|name| (*name).to_owned()).collect();
    survey(
        catalog,
        config,
        &Machine(&["git"]),
        Strictness::Lenient,
        &selection,
        Vec::new(),
    )
}
