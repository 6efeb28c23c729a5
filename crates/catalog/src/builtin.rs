//! Built-in skills: folders of `skills/`, compiled into the binary, so that a new installation has skills.

/// A skill that is compiled into the binary.
#[derive(Debug, PartialEq, Eq)]
pub struct BuiltinSkill {
    /// The name of its folder.
    pub name: &'static str,
    /// Its files: path in the folder, content. Sorted.
    pub files: &'static [(&'static str, &'static [u8])],
}

macro_rules! builtins {
    ($($name:literal: $($path:literal),+;)+) => {
        /// All skills that are compiled in.
        pub static BUILTINS: &[BuiltinSkill] = &[$(BuiltinSkill {
            name: $name,
            files: &[$(($path, include_bytes!(concat!("../../../skills/", $name, "/", $path))),)+],
        },)+];
    };
}

builtins! {
    "core-tools": "SKILL.md", "SKILL.yaml", "lib/text.star", "skill.star", "tests/cases.yaml";
    "git": "SKILL.md", "SKILL.yaml", "skill.star", "tests/cases.yaml";
    "opencode-implementer": "SKILL.md", "SKILL.yaml", "references/setup.md", "skill.star", "tests/cases.yaml";
    "skill-author": "SKILL.md", "references/checklist.md", "references/frontmatter.md";
    "specification-engine": "SKILL.md", "SKILL.yaml", "skill.star", "tests/cases.yaml";
}

impl BuiltinSkill {
    /// The content of one of its files.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&'static [u8]> {
        self.files
            .iter()
            .find(|(name, _)| *name == path)
            .map(|(_, content)| *content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    fn files_below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                files_below(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name);
            }
        }
    }

    #[test]
    fn the_table_is_the_folder() {
        let mut found = BTreeSet::new();
        files_below(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills"),
            "",
            &mut found,
        );
        let listed: BTreeSet<String> = BUILTINS
            .iter()
            .flat_map(|skill| {
                skill
                    .files
                    .iter()
                    .map(|(path, _)| format!("{}/{path}", skill.name))
            })
            .collect();
        assert_eq!(listed, found);
    }
}
