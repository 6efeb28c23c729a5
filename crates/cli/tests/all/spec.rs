//! `spec/*.md` holds for this build. With `METIER_BLESS=1` failing transcripts are rewritten: read the diff.

use std::path::Path;

use crate::registry;

#[test]
fn the_specifications_hold() {
    let program = Path::new(env!("CARGO_BIN_EXE_metier"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let services = [(
        "registry",
        registry::start as metier_testkit::spec::StartService,
    )];
    let report = metier_testkit::spec::run_dir_with(program, &folder, &services);
    crate::schemas::check(&report.printed);
}

/// `docs/config.md` matches the program's description of its settings.
#[test]
fn the_page_about_settings_is_the_reference() {
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_metier"))
        .args(["config", "--reference"])
        .output()
        .unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    if std::env::var_os("METIER_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&page, &said.stdout).unwrap();
    }
    assert!(
        std::fs::read(page).unwrap() == said.stdout,
        "docs/config.md is not what `metier config --reference` prints; METIER_BLESS=1 rewrites it"
    );
}
