//! Roots: the directories that are searched, and the source and precedence of their skills.

use std::path::{Path, PathBuf};

use metier_model::Source;

use crate::agents::{KnownAgent, OTHERS, PREFERRED};

/// A directory that is searched for skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The source of its skills.
    pub source: Source,
    /// The directory; it can itself be a skill.
    pub path: PathBuf,
    /// Whether its skills may be used; false for a project that is not trusted.
    pub trusted: bool,
    /// How a missing directory is treated.
    pub presence: RootPresence,
    /// The agent that uses this folder, if it is a usual one.
    pub agent: Option<&'static str>,
}

/// How a missing root is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootPresence {
    /// Nothing: it is one of the usual folders.
    Optional,
    /// A warning: the configuration names it.
    Expected,
    /// An error: this request names it.
    Required,
}

impl Root {
    /// One of the usual folders, which need not exist.
    #[must_use]
    pub fn usual(source: Source, path: PathBuf) -> Self {
        Self {
            source,
            path,
            trusted: true,
            presence: RootPresence::Optional,
            agent: None,
        }
    }

    /// A directory of the configuration.
    #[must_use]
    pub fn configured(source: Source, path: PathBuf) -> Self {
        Self {
            presence: RootPresence::Expected,
            ..Self::usual(source, path)
        }
    }

    /// A directory that this request names.
    #[must_use]
    pub fn explicit(source: Source, path: PathBuf) -> Self {
        Self {
            source,
            path,
            trusted: true,
            presence: RootPresence::Required,
            agent: None,
        }
    }
}

/// The folders of a project's skills, with rising precedence.
const PROJECT: &[&str] = &[
    "skills",
    ".skills",
    ".claude/skills",
    ".agent/skills",
    ".agents/skills",
    ".metier/skills",
];

/// The paths that roots are relative to.
#[derive(Clone, Copy, Debug)]
pub struct RootBases<'a> {
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// `skills/` in metier's configuration folder.
    pub own: Option<&'a Path>,
    /// The current working directory.
    pub work: &'a Path,
    /// The top of the project: the repository's root, or the working directory.
    pub project: &'a Path,
}

/// The usual roots, in rising precedence.
#[must_use]
pub fn usual(
    places: &RootBases<'_>,
    extra: &[PathBuf],
    agents: bool,
    project_trusted: bool,
) -> Vec<Root> {
    let mut roots: Vec<Root> = extra
        .iter()
        .map(|path| Root::configured(Source::Extra, path.clone()))
        .collect();
    let below_home = |list: &[KnownAgent]| -> Vec<Root> {
        let home = places.home.into_iter();
        home.flat_map(|home| {
            list.iter().filter_map(|agent| {
                Some(Root {
                    agent: Some(agent.name),
                    ..Root::usual(Source::User, home.join(agent.user?))
                })
            })
        })
        .collect()
    };
    if agents {
        roots.extend(below_home(OTHERS));
    }
    roots.extend(below_home(PREFERRED));
    roots.extend(places.own.map(|own| Root {
        agent: Some("metier"),
        ..Root::usual(Source::User, own.to_owned())
    }));
    roots.extend(project_roots(places, project_trusted));
    drop_repeated(roots)
}

/// The usual folders of a project's skills, relative to a folder.
#[must_use]
pub const fn usual_in_project() -> &'static [&'static str] {
    PROJECT
}

/// The usual roots of a project and of the folders in it, relative to it; and whether all folders were visited. Links
/// are not followed on the way, but a root can be one.
#[must_use]
pub fn roots_below(project: &Path) -> (Vec<PathBuf>, bool) {
    const DEEPEST: usize = 8;
    const MOST_FOLDERS: usize = 5_000;
    let mut found = Vec::new();
    let mut waiting = vec![(PathBuf::new(), 0)];
    let mut seen = 0;
    let mut all = true;
    while let Some((folder, depth)) = waiting.pop() {
        let here = project.join(&folder);
        let roots = PROJECT.iter().map(|name| folder.join(name));
        found.extend(roots.filter(|root| project.join(root).is_dir()));
        for entry in std::fs::read_dir(&here).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_passed_over = name.as_encoded_bytes().starts_with(b".")
                || PROJECT.iter().any(|root| name == *root)
                || name == "node_modules"
                || name == "target";
            if is_passed_over || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            seen += 1;
            if depth == DEEPEST || seen > MOST_FOLDERS {
                all = false;
                continue;
            }
            waiting.push((folder.join(name), depth + 1));
        }
    }
    found.sort();
    (found, all)
}

/// The roots from the top of the project down to the working directory: the nearest one has precedence.
fn project_roots(places: &RootBases<'_>, trusted: bool) -> Vec<Root> {
    let mut folders: Vec<&Path> = places
        .work
        .ancestors()
        .take_while(|folder| folder.starts_with(places.project))
        .collect();
    folders.reverse();
    let root = |folder: &&Path, name: &&str| Root {
        trusted,
        agent: in_project(name),
        ..Root::usual(Source::Project, folder.join(name))
    };
    folders
        .iter()
        .flat_map(|folder| PROJECT.iter().map(move |name| root(folder, name)))
        .collect()
}

/// The agent that reads a usual folder of a project, if any.
fn in_project(name: &str) -> Option<&'static str> {
    match name {
        ".claude/skills" => Some("claude-code"),
        ".agent/skills" | ".agents/skills" => Some("agents"),
        ".metier/skills" => Some("metier"),
        _ => None,
    }
}

/// In the home directory, `~/.claude/skills` has two roles: the first one is kept.
fn drop_repeated(roots: Vec<Root>) -> Vec<Root> {
    let mut kept: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        if !kept.iter().any(|other| other.path == root.path) {
            kept.push(root);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_rises() {
        let places = RootBases {
            home: Some(Path::new("/h")),
            own: Some(Path::new("/h/.config/metier/skills")),
            work: Path::new("/p/a"),
            project: Path::new("/p"),
        };
        let roots = usual(&places, &["/x".into()], true, false);
        assert!(roots.is_sorted_by_key(|root| root.source));
        assert_eq!(roots[0].path, Path::new("/x"));
        let project: Vec<_> = roots
            .iter()
            .filter(|root| root.source == Source::Project)
            .collect();
        assert_eq!(project.len(), 12);
        assert_eq!(
            project[11].path,
            Path::new("/p/a/.metier/skills"),
            "the nearest and our own wins"
        );
        assert!(project.iter().all(|root| !root.trusted));
        let user = roots
            .iter()
            .rfind(|root| root.source == Source::User)
            .unwrap();
        assert_eq!(user.path, Path::new("/h/.config/metier/skills"));
    }

    #[test]
    fn the_folder_of_an_agent_counts_for_the_user() {
        let places = RootBases {
            home: Some(Path::new("/h")),
            own: None,
            work: Path::new("/p"),
            project: Path::new("/p"),
        };
        let roots = usual(&places, &[], true, false);
        let codex = roots.iter().find(|root| root.agent == Some("codex"));
        let codex = codex.unwrap();
        assert_eq!(codex.path, Path::new("/h/.codex/skills"));
        assert_eq!(codex.source, Source::User);
        for agent in ["claude-code", "codex", "openclaw", "cursor"] {
            assert!(crate::known_agents().contains(&agent), "{agent}");
        }
    }

    #[test]
    fn home_as_working_directory_counts_once() {
        let places = RootBases {
            home: Some(Path::new("/h")),
            own: None,
            work: Path::new("/h"),
            project: Path::new("/h"),
        };
        let roots = usual(&places, &[], false, false);
        let claude: Vec<_> = roots
            .iter()
            .filter(|root| root.path == Path::new("/h/.claude/skills"))
            .collect();
        assert_eq!(claude.len(), 1);
        assert_eq!(claude[0].source, Source::User);
    }
}
