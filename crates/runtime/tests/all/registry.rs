//! The verbs of the registry, on real folders.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use metier_catalog::{Limits, Options, Root, discover};
use metier_config::{Config, load};
use metier_model::{FileText, Files, Mode, Source, parse};
use metier_runtime::{
    Status,
    registry::{Registry, RegistryError},
    scanning::Unscreened,
};

use crate::Machine;

fn options() -> Options<'static> {
    Options {
        mode: Mode::Lenient,
        limits: Limits {
            max_skills: 100,
            max_entries: 1_000,
            max_skill_bytes: 1 << 20,
            max_depth: 4,
            max_root_time: Duration::from_secs(10),
        },
        threads: 1,
        index: None,
        now: SystemTime::UNIX_EPOCH,
        builtins: false,
        progress: None,
    }
}

fn config() -> Config {
    load(Vec::new()).config
}

/// A skill with a version, and lists of tools if there are any.
fn skill(root: &Path, folder: &str, name: &str, version: &str, more: &str) {
    let place = root.join(folder);
    fs::create_dir_all(&place).unwrap();
    let text = format!(
        "---\nname: {name}\ndescription: Does {name}.\nversion: {version}\n{more}---\nBody.\n"
    );
    fs::write(place.join("SKILL.md"), text).unwrap();
}

fn registry<'a>(machine: &'a Machine, roots: &[(Source, &Path)]) -> Registry<'a> {
    let roots = roots
        .iter()
        .map(|(source, path)| Root::explicit(*source, path.to_path_buf()));
    let catalog = discover(roots.collect(), &options());
    Registry::new(catalog, config(), machine, &Unscreened, options())
}

fn version(registry: &Registry<'_>, name: &str) -> String {
    let skill = registry.get_skill(name).unwrap();
    let card = registry.inventory().entry(skill).card.as_ref().unwrap();
    card.version.as_ref().unwrap().as_str().to_owned()
}

#[test]
fn a_registered_skill_takes_its_name_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (user, other) = (folder.path().join("user"), folder.path().join("other"));
    skill(&user, "greet", "greet", "1.0.0", "");
    skill(&user, "build", "build", "1.0.0", "");
    skill(&other, "greet", "greet", "2.0.0", "");
    let machine = Machine(&[]);
    let mut registry = registry(&machine, &[(Source::User, &user)]);
    assert_eq!(registry.list_available_skills().count(), 2);
    let added = registry.register_skill(&other.join("greet")).unwrap();
    assert_eq!(added.status, Status::Ready);
    assert_eq!(version(&registry, "greet"), "2.0.0");
    assert_eq!(registry.list_available_skills().count(), 2);
    assert_eq!(
        registry.get_skill("user:greet").unwrap().status,
        Status::Shadowed
    );
    assert_eq!(registry.get_skill("gret").unwrap_err().near, ["greet"]);
    let nothing = registry.register_skill(&folder.path().join("nowhere"));
    assert!(matches!(nothing, Err(RegistryError::NoSkill(_))));
    assert_eq!(registry.list_available_skills().count(), 2);
}

#[test]
fn a_version_wins_because_somebody_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let (user, project) = (folder.path().join("user"), folder.path().join("project"));
    skill(&user, "greet", "greet", "1.0.0", "");
    skill(&project, "greet", "greet", "2.0.0", "");
    let machine = Machine(&[]);
    let roots = [
        (Source::User, user.as_path()),
        (Source::Project, project.as_path()),
    ];
    let mut registry = registry(&machine, &roots);
    assert_eq!(version(&registry, "greet"), "2.0.0");
    registry.override_skill_version("greet", "1.0.0").unwrap();
    assert_eq!(version(&registry, "greet"), "1.0.0");
    assert_eq!(
        registry
            .override_skill_version("greet", "3.0.0")
            .unwrap_err()
            .to_string(),
        "there is no version 3.0.0 of skill `greet`; there are 2.0.0, 1.0.0"
    );
    assert_eq!(version(&registry, "greet"), "1.0.0");
    assert!(registry.override_skill_version("gret", "1.0.0").is_err());
}

#[test]
fn sets_are_judged_alike_by_name_and_by_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let user = folder.path().join("user");
    let tools = "allowed_tools: [Read, Edit]\nforbidden_tools: [Bash]\n";
    skill(&user, "plan", "plan", "1.0.0", tools);
    skill(&user, "check", "check", "1.0.0", "allowed_tools: [Read]\n");
    skill(&user, "rival", "rival", "1.0.0", "conflicts_with: [plan]\n");
    let machine = Machine(&[]);
    let registry = registry(&machine, &[(Source::User, &user)]);
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    let set = registry
        .compose_skills(&names(&["plan", "check"]), false)
        .unwrap();
    assert_eq!(set.skills, ["check", "plan"]);
    let conflict = registry
        .compose_skills(&names(&["plan", "rival"]), false)
        .unwrap_err();
    assert!(!conflict.valid && !conflict.errors.is_empty());
    assert!(
        !registry
            .validate_skill_set(&names(&["plan", "absent"]), false)
            .valid
    );
    let manifest = |name: &str| {
        let text = fs::read_to_string(user.join(name).join("SKILL.md")).unwrap();
        let files = Files {
            skill_md: Some(FileText {
                name: "SKILL.md",
                text: &text,
            }),
            ..Files::default()
        };
        parse(&files, Mode::Lenient).manifest.unwrap()
    };
    let by_hand = registry.compose_ad_hoc(&[manifest("plan"), manifest("check")], false);
    assert_eq!(by_hand.tools, set.tools);
    let by_hand = registry.compose_ad_hoc(&[manifest("plan"), manifest("rival")], false);
    assert_eq!(by_hand.errors.len(), conflict.errors.len());
}
