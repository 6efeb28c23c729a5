//! The rules that count: the user's, and those of skills that are trusted and enabled.

use std::{fs, path::Path};

use metier_catalog::{Catalog, CatalogEntry, SkillLocation};
use metier_config::Config;
use metier_runtime::Rulebook;

use crate::{PROJECT, UNTRUSTED, USER, config, roots, skill};

const RULES: &str = "types: [security-rule]\nsecurity_rules:\n  patterns:\n    - {id: latest, severity: warning, pattern: ':latest'}\n    - {id: broken, severity: loud, pattern: x}\n";

/// A skill with rules that is really in a folder.
fn with_rules(folder: &Path, root: u16, name: &str, more: &str) -> CatalogEntry {
    let place = folder.join(name);
    fs::create_dir_all(&place).unwrap();
    let more = more.replace("types: [security-rule]\n", "");
    let text =
        format!("name: {name}\nversion: 1.0.0\ndescription: x\ntypes: [security-rule]\n{more}");
    fs::write(place.join("SKILL.yaml"), text).unwrap();
    let mut entry = skill(root, name, "");
    if let Some(card) = &mut entry.card {
        card.types.insert(metier_model::SkillType::SecurityRule);
    }
    CatalogEntry {
        place: SkillLocation::Folder(place),
        ..entry
    }
}

fn gather(
    folder: Option<&Path>,
    entries: Vec<CatalogEntry>,
    config: &Config,
) -> (Vec<String>, Vec<String>) {
    let catalog = Catalog {
        roots: roots(),
        entries,
        diagnostics: Vec::new(),
    };
    let book = Rulebook::gather(folder, &catalog, config);
    let ids = book.patterns.into_iter().map(|pattern| pattern.id);
    let problems = book.problems.into_iter().map(|problem| {
        let line = problem
            .line
            .map_or_else(String::new, |line| line.to_string());
        let name = problem.file.file_name().unwrap_or_default();
        format!("{}:{line}:{}", name.to_string_lossy(), problem.own)
    });
    (ids.collect(), problems.collect())
}

#[test]
fn skills_bring_rules_under_their_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let entries = || {
        vec![
            with_rules(folder.path(), USER, "zebra", RULES),
            with_rules(folder.path(), PROJECT, "house", RULES),
            with_rules(folder.path(), UNTRUSTED, "stranger", RULES),
            skill(USER, "plain", ""),
        ]
    };
    let (ids, problems) = gather(None, entries(), &Config::default());
    assert_eq!(ids, ["house/latest", "zebra/latest"]);
    assert_eq!(problems, ["SKILL.yaml::false", "SKILL.yaml::false"]);
    let off = config("skills.entries.house.enabled = false");
    assert_eq!(gather(None, entries(), &off).0, ["zebra/latest"]);
    let all_off = config("skills.enabled = false");
    assert!(gather(None, entries(), &all_off).0.is_empty());
}

#[test]
fn the_users_folder_is_read_in_order_and_mistakes_have_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("b.yaml", "id: two\nseverity: info\npattern: x\n");
    write(
        "a.yml",
        "rules:\n  - {id: one, severity: info, pattern: x}\n  - {id: bad, severity: info, pattern: '('}\n",
    );
    write("notes.txt", "not a rule");
    let (ids, problems) = gather(Some(folder.path()), Vec::new(), &Config::default());
    assert_eq!(ids, ["one", "two"]);
    assert_eq!(problems, ["a.yml:3:true"]);
    let missing = folder.path().join("missing");
    let (_, problems) = gather(Some(&missing), Vec::new(), &Config::default());
    assert_eq!(problems, ["missing::true"]);
}
