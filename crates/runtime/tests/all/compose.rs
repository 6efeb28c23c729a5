//! A set contains usable skills, as they currently are on disk.

use std::fs;

use metier_catalog::{CatalogEntry, SkillLocation};
use metier_config::Config;
use metier_model::Strictness;
use metier_policy::{Composition, Decision};
use metier_runtime::Inventory;

use crate::{PROJECT, UNTRUSTED, USER, config, invalid, skill, stock, stock_with};

/// A skill whose manifest is in its own folder below `home`.
fn on_disk(home: &tempfile::TempDir, root: u16, name: &str, more: &str) -> CatalogEntry {
    let entry = skill(root, name, more);
    let folder = home.path().join(format!("{root}")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let text =
        format!("name: {name}\nversion: 1.0.0\ndescription: Does {name}.\ntypes: [prompt]\n{more}");
    fs::write(folder.join("SKILL.yaml"), text).unwrap();
    CatalogEntry {
        place: SkillLocation::Folder(folder),
        ..entry
    }
}

fn composed(inventory: &Inventory, config: &Config, names: &[&str]) -> Composition {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    inventory.compose(&names, config, Strictness::Lenient, false)
}

fn messages(set: &Composition) -> Vec<&str> {
    set.errors
        .iter()
        .map(|fault| fault.message.as_str())
        .collect()
}

#[test]
fn names_sources_and_paths_mean_skills() {
    let home = tempfile::tempdir().unwrap();
    let inventory = stock(vec![
        on_disk(&home, USER, "a", "allowed_tools: [read]"),
        on_disk(&home, PROJECT, "a", "allowed_tools: [grep]"),
    ]);
    let fine = Config::default();
    let tools = |name: &str| {
        let set = composed(&inventory, &fine, &[name]);
        assert!(set.valid, "{:?}", set.errors);
        (set.tools.decide("read"), set.tools.decide("grep"))
    };
    assert_eq!(tools("a"), (Decision::Deny, Decision::Allow));
    assert_eq!(tools("user:a"), (Decision::Allow, Decision::Deny));
    let path = home.path().join(format!("{USER}/a"));
    assert_eq!(
        tools(path.to_str().unwrap()),
        (Decision::Allow, Decision::Deny)
    );
}

#[test]
fn what_may_not_be_used_is_an_error_with_its_reason() {
    let home = tempfile::tempdir().unwrap();
    let off =
        config("[skills.entries.off]\nenabled = false\n[skills.entries.twice]\nenabled = false\n");
    let entries = vec![
        on_disk(&home, UNTRUSTED, "cloned", ""),
        on_disk(&home, USER, "off", ""),
        on_disk(&home, USER, "twice", ""),
        on_disk(&home, PROJECT, "twice", ""),
        on_disk(&home, USER, "needy", "requires: {bins: [gh]}"),
        on_disk(&home, USER, "fine", ""),
        invalid(USER, "broken"),
    ];
    let inventory = stock_with(entries, &off, &[]);
    let set = composed(
        &inventory,
        &off,
        &[
            "cloned",
            "off",
            "user:twice",
            "needy",
            "broken",
            "fyne",
            "fine",
        ],
    );
    assert_eq!(set.skills, ["fine"]);
    assert_eq!(
        messages(&set),
        [
            "there is no skill `fyne`",
            "`broken` can't be used: it can't be read",
            "`cloned` can't be used: its folder is not trusted",
            "`needy` can't be used: it needs the program `gh`, which is not on PATH",
            "`off` can't be used: it is disabled in the configuration",
            "`user:twice` can't be used: it is disabled in the configuration",
        ]
    );
    assert!(set.errors.iter().all(|fault| fault.hint.is_some()));
}

#[test]
fn a_skill_that_changed_its_name_meanwhile_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let entry = on_disk(&home, USER, "a", "");
    let file = entry.place.path().join("SKILL.yaml");
    let inventory = stock(vec![entry]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("name: a", "name: b")).unwrap();
    let set = composed(&inventory, &Config::default(), &["a"]);
    assert_eq!(
        messages(&set),
        ["`a` can't be used: it has changed since it was found"]
    );
}

#[test]
fn the_user_decides_what_a_conflict_means() {
    let home = tempfile::tempdir().unwrap();
    let inventory = stock(vec![
        on_disk(&home, USER, "a", "allowed_tools: [write]"),
        on_disk(&home, USER, "b", "forbidden_tools: [write]"),
    ]);
    let restrict = Config::default();
    let reject = config("[skills.security]\non_conflict = \"reject\"\n");
    for names in [["a", "b"], ["b", "a"]] {
        assert!(composed(&inventory, &restrict, &names).valid);
        assert!(!composed(&inventory, &reject, &names).valid);
    }
}
