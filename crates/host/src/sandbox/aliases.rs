//! Protected places that have other names: links next to the writable folders, and settings of repositories.
//!
//! **Problem.** With `file:write(./docs/**)` a child writes `docs/b.md`, and `sub/CLAUDE.md` can be a link to it. With
//! `core.hooksPath = tools/hooks`, `tools/hooks` has the role of `.git/hooks`. The names of the written files
//! show neither.
//!
//! **Decision.** Before a child starts, the surrounding project is searched for such links, up to a number of entries, and the
//! settings of each reachable repository are read, by our own parser. The paths they name are protected like `.git`, even if they
//! don't exist.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, VecDeque},
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    names::NameSet,
    protected_files::HOOKS,
    survey::{Guard, Survey},
};
use crate::git_settings::{self, Setting};

/// How many entries next to the writable folders are checked.
const MOST_BESIDE: usize = 4_000;
/// How many repositories are read, and how many files of settings for each.
const MOST_REPOSITORIES: usize = 64;
const MOST_FILES: usize = 16;
/// The largest file of settings that is read.
const MAX_SETTINGS: u64 = 1 << 20;

impl Guard {
    /// Protected places that follow from the result of a survey, and from files next to its folders.
    pub(super) fn elsewhere(&self, survey: &Survey) -> Vec<PathBuf> {
        let written: Vec<PathBuf> = self.roots.iter().chain(&self.files).cloned().collect();
        if written.is_empty() {
            return Vec::new();
        }
        let mut found = self.links_beside();
        let places = survey.all_places().chain(&found).chain(&self.open);
        let repositories = places.filter(|place| place.ends_with(".git") || is_bare(place));
        let mut repositories: BTreeSet<PathBuf> = repositories.cloned().collect();
        let places = written.iter().chain(self.protection.tops());
        let above = places.flat_map(|folder| folder.ancestors());
        let above = above.map(|folder| folder.join(".git"));
        repositories.extend(above.filter(|git| git.symlink_metadata().is_ok()));
        let users = UserSettings::read(self.protection.homes(), &written);
        found.extend(users.files.iter().cloned());
        for git in repositories.iter().take(MOST_REPOSITORIES) {
            users.named_by(git, &mut found);
        }
        let holds_a_root = |place: &PathBuf| self.roots.iter().any(|root| root.starts_with(place));
        found.retain(|place| !holds_a_root(place));
        found
    }

    /// Protected names in the rest of the project that are links, and repositories there.
    fn links_beside(&self) -> Vec<PathBuf> {
        let is_root = |folder: &PathBuf| self.roots.iter().any(|root| folder.starts_with(root));
        let mut folders: VecDeque<PathBuf> = self.protection.tops().iter().cloned().collect();
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut found = Vec::new();
        let mut left = MOST_BESIDE;
        while let Some(folder) = folders.pop_front() {
            if is_root(&folder) || !seen.insert(folder.clone()) {
                continue;
            }
            let names = OnceCell::new();
            let names = || *names.get_or_init(|| NameSet::of(&folder));
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if left == 0 {
                    return found;
                }
                left -= 1;
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                let is_top = |base: &Path| self.protection.is_top(base);
                if self.protection.is_named(&path, names, is_top) {
                    found.extend((kind.is_symlink() || path.ends_with(".git")).then_some(path));
                } else if kind.is_symlink() {
                    found.extend(self.protection.behind(&path, names, is_top));
                } else if kind.is_dir() && !is_generated(&path) {
                    folders.push_back(path);
                }
            }
        }
        found
    }
}

/// Large folders that don't contain a project's own files.
fn is_generated(folder: &Path) -> bool {
    let name = folder.file_name();
    name.is_some_and(|name| name == "node_modules" || name == "target")
}

fn is_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("config").is_file()
}

/// A setting, and the folder of its file.
type FoundSetting = (Setting, PathBuf);

/// The settings that apply to every repository of the user.
struct UserSettings<'a> {
    home: Option<&'a Path>,
    /// The places that a child may write.
    written: &'a [PathBuf],
    settings: Vec<FoundSetting>,
    /// The included files. They need not exist.
    files: Vec<PathBuf>,
}

impl<'a> UserSettings<'a> {
    fn read(homes: &'a [PathBuf], written: &'a [PathBuf]) -> Self {
        let mut users = Self {
            home: homes.first().map(PathBuf::as_path),
            written,
            settings: Vec::new(),
            files: Vec::new(),
        };
        let own = homes.iter().flat_map(|home| {
            let names = [".gitconfig", ".config/git/config"];
            names.map(|name| home.join(name))
        });
        let files = [PathBuf::from("/etc/gitconfig")].into_iter().chain(own);
        let files = files.collect();
        (users.settings, users.files) = users.with_included(files);
        users
    }

    /// The settings of files and of all files that they include, and the names of the latter.
    fn with_included(&self, files: Vec<PathBuf>) -> (Vec<FoundSetting>, Vec<PathBuf>) {
        let (mut settings, mut included) = (Vec::new(), Vec::new());
        let mut open = VecDeque::from(files);
        for _ in 0..MOST_FILES {
            let Some(file) = open.pop_front() else {
                break;
            };
            let Some(text) = small_text(&file) else {
                continue;
            };
            let folder = file.parent().unwrap_or(&file).to_owned();
            for setting in git_settings::read(&text) {
                let is_include =
                    ["include", "includeif"].contains(&&*setting.section) && setting.key == "path";
                if let Some(value) = setting.value.as_deref().filter(|_| is_include) {
                    let path = self.expanded(value, &folder);
                    open.push_back(path.clone());
                    included.push(path);
                } else {
                    settings.push((setting, folder.clone()));
                }
            }
        }
        (settings, included)
    }

    /// The places that the settings of one repository name, and those that the user's settings name in it.
    fn named_by(&self, git: &Path, found: &mut Vec<PathBuf>) {
        let top = git.parent().unwrap_or(git);
        let folder = git_folder(git);
        let common = small_text(&folder.join("commondir"));
        let common = common.map_or_else(|| folder.clone(), |text| folder.join(text.trim_end()));
        let files = vec![common.join("config"), folder.join("config.worktree")];
        let (settings, included) = self.with_included(files);
        found.extend(included);
        for (setting, _) in settings.iter().chain(&self.settings) {
            let Some(value) = setting.value.as_deref() else {
                continue;
            };
            match (&*setting.section, &*setting.key) {
                ("core", "hookspath") => {
                    let hooks = self.expanded(value, top);
                    match self.written.iter().any(|place| place.starts_with(&hooks)) {
                        true => found.extend(HOOKS.iter().map(|hook| hooks.join(hook))),
                        false => found.push(hooks),
                    }
                }
                ("init", "templatedir") => found.push(self.expanded(value, top)),
                _ => {
                    // Dozens of keys have commands as values, and each version of git adds some.
                    let words = value.split([' ', '\t', '\n', '\'', '"', ';', '|', '&', '!', '=']);
                    let words = words.filter(|word| word.contains('/'));
                    let files = words.map(|word| self.expanded(word, top));
                    found.extend(files.filter(|file| file.is_file()));
                }
            }
        }
    }

    /// A path as git reads it.
    fn expanded(&self, value: &str, folder: &Path) -> PathBuf {
        match (value.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => folder.join(value),
        }
    }
}

/// The folder that `.git` is or, as in a linked worktree and a submodule, names.
fn git_folder(git: &Path) -> PathBuf {
    let text = small_text(git);
    let target = text
        .as_deref()
        .and_then(|text| text.strip_prefix("gitdir:"));
    match (target, git.parent()) {
        (Some(target), Some(top)) => top.join(target.trim()),
        _ => git.to_owned(),
    }
}

/// The content of a small regular file.
fn small_text(path: &Path) -> Option<String> {
    let file = crate::execution::open_regular(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_SETTINGS + 1).read_to_end(&mut bytes).ok()?;
    let is_small = bytes.len() as u64 <= MAX_SETTINGS;
    is_small.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
