//! SKILL.yaml next to SKILL.md.

use metier_model::{DiagnosticSeverity, FileText, Files, Parsed, Strictness};

use crate::{checked, codes, parsed};

fn both(yaml: &str, md: &str, mode: Strictness) -> Parsed {
    let files = Files {
        folder: Some("x"),
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: md,
        }),
        skill_yaml: Some(FileText {
            name: "SKILL.yaml",
            text: yaml,
        }),
        sidecar: None,
    };
    checked(&files, mode)
}

const MANIFEST: &str = "name: x\nversion: 1.0.0\ndescription: d\ntypes: [prompt]\n";

// case 52
#[test]
fn two_files_agree_on_the_name() {
    for md in [
        "Just a body.\n",
        "---\nname: x\ndescription: e\n---\nbody\n",
        "---\ndescription: e\n---\nbody\n",
        "",
    ] {
        assert!(
            both(MANIFEST, md, Strictness::Lenient).manifest.is_some(),
            "{md}"
        );
        let alone = parsed(md, Strictness::Strict).manifest.is_some();
        let beside = both(MANIFEST, md, Strictness::Strict).manifest.is_some();
        assert_eq!(
            beside, alone,
            "strictly, the SKILL.md must conform by itself: {md}"
        );
    }
    for md in [
        "---\nname: y\ndescription: e\n---\nbody\n",
        "---\nname: \"y\"\n---\nbody\n",
        "\u{feff}---\nname: y\n---\nbody\n",
        "---\nname: y: z\ndescription: a: b\n---\nbody\n",
    ] {
        let found = both(MANIFEST, md, Strictness::Lenient);
        assert_eq!(
            codes(&found, DiagnosticSeverity::Error),
            ["names-disagree"],
            "{md}"
        );
    }
}

#[test]
fn names_disagree_also_behind_blank_lines() {
    let found = both(MANIFEST, "\n---\nname: y\n---\nbody\n", Strictness::Lenient);
    assert_eq!(codes(&found, DiagnosticSeverity::Error), ["names-disagree"]);
}

// case 45, 52
#[test]
fn a_second_name_in_the_body_file_is_reported() {
    let md = "---\nname: x\nname: y\ndescription: e\n---\nbody\n";
    assert!(both(MANIFEST, md, Strictness::Lenient).manifest.is_none());
}

#[test]
fn a_skill_yaml_has_its_own_required_fields() {
    let yaml = |text: &str, mode| {
        let files = Files {
            folder: Some("x"),
            skill_yaml: Some(FileText {
                name: "SKILL.yaml",
                text,
            }),
            ..Files::default()
        };
        checked(&files, mode)
    };
    assert!(yaml(MANIFEST, Strictness::Lenient).diagnostics.is_empty());
    for field in ["version", "types"] {
        let less: String = MANIFEST
            .lines()
            .filter(|line| !line.starts_with(field))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(
            codes(
                &yaml(&less, Strictness::Lenient),
                DiagnosticSeverity::Warning
            ),
            ["field-missing"]
        );
        assert!(
            codes(&yaml(&less, Strictness::Strict), DiagnosticSeverity::Error)
                .contains(&"field-missing")
        );
    }
}
