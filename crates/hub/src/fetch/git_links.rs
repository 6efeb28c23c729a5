//! Links of a repository, resolved in its commit.
//!
//! A repository uses links to have one file in two places. The target of a link is looked up in the same commit, name by name, and becomes
//! a file of the skill: no file system is involved, so that a link can't reach anything outside the commit. A link that leaves the
//! repository, leads nowhere, in a circle or to a submodule refuses its skill.

use std::collections::BTreeMap;

use metier_model::text::visible;

use super::{
    error::{FetchError, SkillProblem},
    files::{EntryKind, TreeBuilder, below},
    git::{GitFiles, ListedObject},
};

/// The longest target of a link in bytes, and the maximum length of a chain of links.
const MAX_TARGET: u64 = 4096;
const MAX_LINKS: usize = 32;
/// How many folders are linked into each other.
const MAX_NESTED: usize = 8;

/// The names of a whole commit, by their paths.
pub(super) type CommitNames = BTreeMap<String, ListedObject>;

/// The files of a skill by their paths in it, with the objects of their contents.
pub(super) struct ResolvedLinks<'f, 'a> {
    pub(super) files: &'f GitFiles<'a>,
    pub(super) names: &'f CommitNames,
    pub(super) found: Vec<(String, String)>,
}

impl ResolvedLinks<'_, '_> {
    /// Adds one name of a skill: a file, or the target of a link. `at` is its path in the commit, `inner` in the skill.
    pub(super) fn add(
        &mut self,
        tree: &mut TreeBuilder<'_>,
        at: &str,
        inner: &str,
        nested: usize,
    ) -> Result<(), FetchError> {
        tree.entry()?;
        let Some(object) = self.names.get(at) else {
            return Err(tree.refuse(link_problem(inner, "its target does not exist")));
        };
        match object.kind {
            EntryKind::File => {
                self.found.push((inner.to_owned(), object.id.clone()));
                return Ok(());
            }
            EntryKind::Submodule => {
                return Err(tree.refuse(SkillProblem::Submodule(visible(inner).into_owned())));
            }
            EntryKind::Special => return Err(tree.refuse(not_text(inner))),
            _ => {}
        }
        let refuse = |reason: &str| tree.refuse(link_problem(inner, reason));
        let target = self.follow(at).map_err(|stop| match stop {
            LinkStop::Refused(reason) => refuse(reason),
            LinkStop::Failed(error) => *error,
        })?;
        if self.names.contains_key(&target) {
            return self.add(tree, &target, inner, nested);
        }
        let start = match target.as_str() {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        if at.starts_with(&start) {
            return Err(refuse("it points to a folder that contains it"));
        }
        if nested >= MAX_NESTED {
            return Err(refuse("it goes through folders of links"));
        }
        let inside = self.names.range(start.clone()..);
        let inside = inside.map(|(path, _)| path);
        let inside = inside.take_while(|path| path.starts_with(&start));
        let inside: Vec<String> = inside.cloned().collect();
        if inside.is_empty() {
            return Err(refuse("its target does not exist"));
        }
        for path in inside {
            let inner = below(inner, &path[start.len()..]);
            self.add(tree, &path, &inner, nested + 1)?;
        }
        Ok(())
    }

    /// The path in the commit that a link points to, through all further links.
    fn follow(&self, link: &str) -> Result<String, LinkStop> {
        let mut links = 0;
        let mut place: Vec<String> = Vec::new();
        let mut rest: Vec<String> = link.rsplit('/').map(str::to_owned).collect();
        while let Some(name) = rest.pop() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    if place.pop().is_none() {
                        return Err(LinkStop::Refused("it points outside the repository"));
                    }
                    continue;
                }
                _ => place.push(name),
            }
            let Some(object) = self.names.get(&place.join("/")) else {
                continue;
            };
            if object.kind != EntryKind::Link {
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(LinkStop::Refused("it goes through too many links"));
            }
            let target = self.files.link_target(&object.id, MAX_TARGET);
            let target = target.map_err(|error| LinkStop::Failed(Box::new(error)))?;
            let Some(target) = target.filter(|target| !target.is_empty()) else {
                return Err(LinkStop::Refused("its target can't be read"));
            };
            if target.starts_with('/') {
                return Err(LinkStop::Refused("it points outside the repository"));
            }
            place.pop();
            rest.extend(target.rsplit('/').map(str::to_owned));
        }
        Ok(place.join("/"))
    }
}

/// Why a link was not followed to its end.
enum LinkStop {
    Refused(&'static str),
    Failed(Box<FetchError>),
}

fn link_problem(path: &str, reason: &str) -> SkillProblem {
    SkillProblem::BadLink {
        path: visible(path).into_owned(),
        reason: reason.to_owned(),
    }
}

fn not_text(path: &str) -> SkillProblem {
    SkillProblem::Unreadable {
        path: visible(path).into_owned(),
        reason: "its name is not valid UTF-8".to_owned(),
    }
}
