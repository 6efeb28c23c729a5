//! Places that the user's variables name. The values are arguments; nothing is read here.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{
    places::credential_places,
    protected_files::IN_ANY_FOLDER,
    protected_home::{AT_HOME, MOVED_BY, NAMED_BY},
};

/// Paths that environment variables name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedByVariables {
    /// Files that other programs run or apply as settings: never written.
    pub obeyed: Vec<PathBuf>,
    /// Places of keys: never read or written.
    pub secret: Vec<PathBuf>,
}

impl NamedByVariables {
    /// Reads the relevant variables through `variable`. Relative paths are ignored: they mean a different place in every folder.
    #[must_use]
    pub fn read(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let mut named = Self::default();
        for (name, part) in MOVED_BY {
            let value = variable(name).unwrap_or_default();
            for folder in env::split_paths(&value).filter(|path| path.is_absolute()) {
                if home.is_none_or(|home| folder != home.join(part)) {
                    named.add_moved(part, &folder);
                }
            }
        }
        for name in NAMED_BY {
            let Some(value) = variable(name) else {
                continue;
            };
            let words = value.to_string_lossy().into_owned();
            let words = words.split([' ', '|']).map(PathBuf::from);
            let paths = env::split_paths(&value).chain(words);
            named.obeyed.extend(paths.filter(|path| path.is_absolute()));
        }
        named
    }

    /// The rows of a part of the home, in the folder that replaces it.
    fn add_moved(&mut self, part: &str, folder: &Path) {
        let below = |place: &Path| {
            let below = place.strip_prefix(part).ok()?;
            Some(match below.as_os_str().is_empty() {
                true => folder.to_owned(),
                false => folder.join(below),
            })
        };
        let rows = AT_HOME.iter().chain(IN_ANY_FOLDER);
        self.obeyed
            .extend(rows.filter_map(|row| below(Path::new(row))));
        let keys = credential_places(Path::new(""));
        self.secret.extend(keys.iter().filter_map(|key| below(key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_home_are_protected_where_variables_move_them() {
        let variable = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some("/x/config".into()),
            "XDG_DATA_HOME" => Some("/home/u/.local/share".into()),
            "GNUPGHOME" => Some("/x/keys".into()),
            "BASH_ENV" => Some("relative".into()),
            "EDITOR" => Some("/x/tools/edit --wait".into()),
            "PYTHONPATH" => Some("/x/one:/x/two".into()),
            _ => None,
        };
        let named = NamedByVariables::read(Some(Path::new("/home/u")), &variable);
        for place in [
            "/x/config/autostart",
            "/x/config/mise",
            "/x/tools/edit",
            "/x/one",
            "/x/two",
        ] {
            assert!(named.obeyed.contains(&PathBuf::from(place)), "{place}");
        }
        for place in ["/x/config/gh", "/x/keys"] {
            assert!(named.secret.contains(&PathBuf::from(place)), "{place}");
        }
        let is_usual = |place: &&PathBuf| place.starts_with("/home/u");
        assert_eq!(
            named.obeyed.iter().chain(&named.secret).find(is_usual),
            None
        );
    }
}
