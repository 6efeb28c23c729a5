//! The documentation of the library `metier` has a row for each of its features.

use super::ProjectText;

const MANIFEST: &str = "crates/metier/Cargo.toml";
const DOCUMENTATION: &str = "crates/metier/src/lib.rs";

/// Reports every feature without a row, and finds at least one feature.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let text = |wanted: &str| {
        let found = texts.iter().find(|(path, _)| path == wanted);
        found.map_or("", |(_, text)| text)
    };
    let rows: String = text(DOCUMENTATION)
        .lines()
        .filter(|line| line.starts_with("//! | `"))
        .collect();
    let features = features(text(MANIFEST));
    if features.is_empty() {
        return vec![format!("{MANIFEST}: no features: that can't be all")];
    }
    features
        .into_iter()
        .filter(|feature| !rows.contains(&format!("`{feature}`")))
        .map(|feature| format!("{DOCUMENTATION}: the table of features has no row for `{feature}`"))
        .collect()
}

/// The features that a manifest declares, without `default`.
fn features(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]");
    lines
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with('#') && *name != "default")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(documentation: &str) -> Vec<String> {
        let manifest = "[features]\ndefault = [\"a\"]\n# What b adds.\na = []\nb = [\"a\"]\n\n[dependencies]\nc = \"1\"\n";
        let texts = [(MANIFEST, manifest), (DOCUMENTATION, documentation)];
        check(&texts.map(|(path, text)| (path.to_owned(), text.to_owned())))
    }

    #[test]
    fn each_feature_has_a_row() {
        assert_eq!(problems("//! | `a`, `b` | both |\n"), [""; 0]);
        let missing = problems("//! The feature `b`.\n//! | `a` | one |\n");
        assert_eq!(missing.len(), 1);
        assert!(missing[0].ends_with("no row for `b`"), "{missing:?}");
    }

    #[test]
    fn a_manifest_without_features_is_reported() {
        assert_eq!(check(&[]).len(), 1);
    }
}
