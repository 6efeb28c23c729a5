//! Installed skills in the folders of other agents: a link to the skill's own folder, or a copy of it.
//!
//! Only what metier put there is changed later: a link to the skill's folder, or a copy with a digest from the lock. The lock records the agents of each
//! skill, so an update or a removal changes these places too, in the same transaction.

use std::{
    collections::BTreeSet,
    fmt, fs, io,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use metier_catalog::{KnownAgent, SkillLocation};
use metier_hub::{Change, NewContent};
use metier_model::{Digest, text::shell_word};
use metier_package::{Lock, LockedSkill, PackageTree};
use rustix::io::Errno;

use super::{
    draft::{ChangeDraft, make_folders},
    places::{InstallScope, ScopePlaces},
    plan::InstallPlan,
};
use crate::{Error, NoticeLevel, Workspace, text::one_line};

/// An agent that gets a skill, and how. Its text is what the lock contains: `claude-code`, or `claude-code=copy`.
///
/// ```
/// let target: metier::distribution::AgentTarget = "claude-code=copy".parse()?;
/// assert!(target.copy);
/// assert_eq!(target.to_string(), "claude-code=copy");
/// # Ok::<(), metier::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentTarget {
    /// Which agent.
    pub agent: &'static KnownAgent,
    /// Whether it gets a copy instead of a link.
    pub copy: bool,
}

impl fmt::Display for AgentTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(agent_word(self.agent))?;
        f.write_str(if self.copy { "=copy" } else { "" })
    }
}

/// The name by which an agent is found again: two agents share the name `agents`.
fn agent_word(agent: &'static KnownAgent) -> &'static str {
    match KnownAgent::find(agent.name) == Some(agent) {
        true => agent.name,
        false => agent.aliases.first().unwrap_or(&agent.name),
    }
}

impl FromStr for AgentTarget {
    type Err = Error;

    /// Reads a name, an alias or a folder of an agent, with `=copy` for a copy.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (word, copy) = match text.strip_suffix("=copy") {
            Some(word) => (word, true),
            None => (text, false),
        };
        let agent = KnownAgent::find(word).ok_or_else(|| unknown_agent(word))?;
        Ok(Self { agent, copy })
    }
}

fn unknown_agent(word: &str) -> Error {
    let shown = one_line(word);
    let error = Error::unmet("unknown-agent", format!("there is no agent `{shown}`"));
    let is_near = |name: &&str| {
        let (name, word) = (name.to_ascii_lowercase(), word.to_ascii_lowercase());
        !word.is_empty() && (name.contains(&word) || word.contains(&name))
    };
    let names = KnownAgent::all().flat_map(|agent| agent.aliases.iter().chain([&agent.name]));
    let near: BTreeSet<&str> = names.copied().filter(is_near).collect();
    let near: Vec<String> = near
        .iter()
        .take(3)
        .map(|name| format!("`{name}`"))
        .collect();
    match near.is_empty() {
        true => error.hint("known agents include claude-code, codex, cursor, gemini, opencode and copilot; `metier sync --agents` lists all"),
        false => error.hint(format!("did you mean {}?", near.join(" or "))),
    }
}

/// Which skills go to which agents. An example is at [`Workspace::sync`].
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// The scope whose skills they are.
    pub scope: InstallScope,
    /// The skills; all installed ones if empty.
    pub names: Vec<String>,
    /// The agents; those of the configuration or of the lock if empty.
    pub to: Vec<String>,
    /// Copies instead of links.
    pub copy: bool,
    /// Take the skills out of the folders again.
    pub remove: bool,
    /// Change nothing.
    pub dry_run: bool,
}

/// A skill in the folder of another agent. The example of [`Workspace::sync`] prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedPlace {
    /// The skill.
    pub skill: String,
    /// The agent.
    pub agent: String,
    /// Where the skill is for this agent.
    pub place: PathBuf,
    /// The change at that place, made or planned.
    pub action: SyncAction,
}

/// The change at the place of an agent. An example is at [`SyncAction::as_str`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncAction {
    /// A link was created.
    Link,
    /// A copy was created.
    Copy,
    /// The right link or copy exists already.
    Keep,
    /// The agent reads the folder of the skill itself.
    Shared,
    /// The link or copy was removed.
    Remove,
    /// Something else exists there and was not changed; the text describes it.
    Leave(&'static str),
}

impl SyncAction {
    /// The word in JSON.
    ///
    /// ```
    /// assert_eq!(metier::distribution::SyncAction::Link.as_str(), "link");
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Copy => "copy",
            Self::Keep => "keep",
            Self::Shared => "shared",
            Self::Remove => "remove",
            Self::Leave(_) => "leave",
        }
    }

    /// The existing content, if it was left unchanged. The example of [`Workspace::sync`] prints the action.
    #[must_use]
    pub const fn found(&self) -> Option<&'static str> {
        match self {
            Self::Leave(what) => Some(what),
            _ => None,
        }
    }

    /// Whether the content of the place was changed. The example of [`Workspace::sync`] prints the action.
    #[must_use]
    pub const fn is_change(&self) -> bool {
        matches!(self, Self::Link | Self::Copy | Self::Remove)
    }
}

/// The result of [`Workspace::sync`], which has an example.
#[derive(Debug)]
pub struct SyncReport {
    /// Every place, by skill and agent.
    pub places: Vec<SyncedPlace>,
    /// The change, for `undo`; none if nothing was different.
    pub change: Option<Change>,
}

/// The changes at the places of the agents for one skill.
pub(crate) struct AgentPlan {
    pub(crate) places: Vec<SyncedPlace>,
    /// The content of the lock afterwards.
    agents: Vec<String>,
    /// The digest of the files that the skill has afterwards.
    tree: Digest,
}

/// The object at the place of an agent.
enum AtPlace {
    Nothing,
    /// A link to the skill's folder.
    OwnLink,
    /// A folder with this digest.
    Folder(Digest),
    Other(&'static str),
}

impl Workspace {
    /// Puts installed skills where other agents look for them, or removes them again. Anything that metier did not put there is never
    /// changed.
    ///
    /// ```no_run
    /// use metier::distribution::SyncOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let to = vec!["claude-code".to_owned()];
    /// for place in workspace.sync(&SyncOptions { to, ..SyncOptions::default() })?.places {
    ///     println!("{} {}", place.action.as_str(), place.place.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill or agent, when no agent is named anywhere, or when a folder can't be written.
    pub fn sync(&self, options: &SyncOptions) -> Result<SyncReport, Error> {
        let wanted = self.sync_targets(options)?;
        if options.dry_run {
            let plans = self.plan_sync(&self.lock(options.scope)?, options, &wanted)?;
            let places = plans.into_iter().flat_map(|(_, plan)| plan.places);
            return Ok(SyncReport {
                places: places.collect(),
                change: None,
            });
        }
        let title = match options.names.as_slice() {
            [] => "sync".to_owned(),
            names => format!("sync {}", names.join(" ")),
        };
        let (change, places) = self.change_skills(&title, |draft| {
            let lock = draft.lock(options.scope)?.clone();
            let mut places = Vec::new();
            for (name, plan) in self.plan_sync(&lock, options, &wanted)? {
                places.extend(draft.place_for_agents(options.scope, &name, plan, None)?);
            }
            Ok(places)
        })?;
        Ok(SyncReport { places, change })
    }

    /// The agents whose folders are on this machine, or in the project, and are not the folder of installed skills.
    ///
    /// ```no_run
    /// use metier::distribution::{InstallScope, SyncOptions};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let to = workspace.present_agents(InstallScope::User).into_iter().map(str::to_owned).collect();
    /// workspace.sync(&SyncOptions { to, ..SyncOptions::default() })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn present_agents(&self, scope: InstallScope) -> Vec<&'static str> {
        let is_there = |folder: &Path| folder.parent().is_some_and(Path::is_dir);
        let is_present = |agent: &&KnownAgent| {
            let home = self.machine.home.as_ref().zip(agent.user);
            let at_home = home.is_some_and(|(home, folder)| is_there(&home.join(folder)));
            let folder = agent_folder(self, scope, agent);
            let is_shared = agent_folder(self, scope, agent) == shared_folder(self, scope);
            let is_here = folder.as_deref().is_some_and(is_there);
            !is_shared && folder.is_some() && (at_home || is_here)
        };
        KnownAgent::all()
            .filter(is_present)
            .map(|agent| agent.name)
            .collect()
    }

    /// The agents that are named, or those of the configuration; none means those of the lock.
    fn sync_targets(&self, options: &SyncOptions) -> Result<Vec<AgentTarget>, Error> {
        let named = match options.to.as_slice() {
            [] if options.remove => &[],
            [] => self.config.sync_to.as_slice(),
            named => named,
        };
        let parse = |word: &String| -> Result<AgentTarget, Error> {
            let target: AgentTarget = word.parse()?;
            Ok(AgentTarget {
                copy: target.copy || options.copy,
                ..target
            })
        };
        named.iter().map(parse).collect()
    }

    fn plan_sync(
        &self,
        lock: &Lock,
        options: &SyncOptions,
        wanted: &[AgentTarget],
    ) -> Result<Vec<(String, AgentPlan)>, Error> {
        let names: Vec<&String> = match options.names.as_slice() {
            [] => lock.skills.keys().collect(),
            named => named.iter().collect(),
        };
        let has_agents = |locked: &LockedSkill| !locked.agents.is_empty();
        if !options.remove && wanted.is_empty() && !lock.skills.values().any(has_agents) {
            return Err(Error::unmet("no-agents", "no agent is named")
                .hint("metier sync --to claude-code,codex"));
        }
        let mut plans = Vec::new();
        for name in names {
            let locked = lock.skills.get(name);
            let locked = locked.ok_or_else(|| self.not_in_scope(name, options.scope))?;
            let place = self.scope_places(options.scope)?.skill(name);
            if !options.remove && !place.is_dir() {
                let message = format!("the folder of `{}` is missing", one_line(name));
                let error = Error::unmet("missing", message).skill(name).path(&place);
                return Err(error.hint("`metier install` installs it again"));
            }
            let plan = match options.remove {
                true => self.plan_agent_removal(options.scope, name, locked, wanted),
                false => {
                    let all_copied = options.copy && options.to.is_empty();
                    let targets = joined(&locked.agents, wanted, all_copied);
                    self.plan_agents(options.scope, name, Some(locked), locked.tree, &targets)?
                }
            };
            plans.push((name.clone(), plan));
        }
        Ok(plans)
    }

    /// The steps that put a skill into the folders of agents. `before` is its entry in the lock so far, `tree` the digest of the files that
    /// it has afterwards.
    pub(crate) fn plan_agents(
        &self,
        scope: InstallScope,
        name: &str,
        before: Option<&LockedSkill>,
        tree: Digest,
        targets: &[AgentTarget],
    ) -> Result<AgentPlan, Error> {
        let placed = self.scope_places(scope)?.skill(name);
        let mut plan = AgentPlan {
            places: Vec::new(),
            agents: Vec::new(),
            tree,
        };
        let mut seen = BTreeSet::new();
        for target in targets {
            let Some(folder) = agent_folder(self, scope, target.agent) else {
                let word = agent_word(target.agent);
                let message = format!(
                    "the agent `{word}` has no folder of skills for a {}",
                    scope.as_str()
                );
                return Err(Error::unmet("no-folder", message).hint(other_scope(scope)));
            };
            let place = folder.join(name);
            let is_shared = same_folder(&folder, placed.parent());
            if !seen.insert(place.clone()) {
                continue;
            }
            let is_recorded = before.is_some_and(|locked| {
                let own = locked.agents.iter().filter_map(|word| word.parse().ok());
                own.into_iter()
                    .any(|own: AgentTarget| own.agent == target.agent)
            });
            let known = [before.map(|locked| locked.tree), Some(tree)];
            let action = match is_shared {
                true => SyncAction::Shared,
                false => {
                    let found = at_place(&place, &placed);
                    decide(&found, target.copy, is_recorded, &known, tree)
                }
            };
            if !matches!(action, SyncAction::Shared | SyncAction::Leave(_)) {
                plan.agents.push(target.to_string());
            }
            plan.places.push(SyncedPlace {
                skill: name.to_owned(),
                agent: agent_word(target.agent).to_owned(),
                place,
                action,
            });
        }
        Ok(plan)
    }

    /// The steps that remove a skill from the folders of agents: from these, or of all that the lock names.
    pub(crate) fn plan_agent_removal(
        &self,
        scope: InstallScope,
        name: &str,
        locked: &LockedSkill,
        which: &[AgentTarget],
    ) -> AgentPlan {
        let mut plan = AgentPlan {
            places: Vec::new(),
            agents: Vec::new(),
            tree: locked.tree,
        };
        let Ok(places) = self.scope_places(scope) else {
            return plan;
        };
        for word in &locked.agents {
            let target = word.parse::<AgentTarget>().ok();
            let is_meant = |target: &AgentTarget| {
                which.is_empty() || which.iter().any(|one| one.agent == target.agent)
            };
            let folder = target
                .filter(is_meant)
                .and_then(|target| agent_folder(self, scope, target.agent));
            let Some(folder) = folder else {
                plan.agents.push(word.clone());
                continue;
            };
            let place = folder.join(name);
            let action = match at_place(&place, &places.skill(name)) {
                AtPlace::Nothing => SyncAction::Keep,
                AtPlace::OwnLink => SyncAction::Remove,
                AtPlace::Folder(digest) if digest == locked.tree => SyncAction::Remove,
                AtPlace::Folder(_) => SyncAction::Leave(EDITED),
                AtPlace::Other(what) => SyncAction::Leave(what),
            };
            plan.places.push(SyncedPlace {
                skill: name.to_owned(),
                agent: target.map_or_else(
                    || word.clone(),
                    |target| agent_word(target.agent).to_owned(),
                ),
                place,
                action,
            });
        }
        plan
    }

    /// A skill that is not in the lock of a scope, with the scope in which it is.
    pub(crate) fn not_in_scope(&self, name: &str, scope: InstallScope) -> Error {
        let shown = one_line(name);
        let (whose, other) = match scope {
            InstallScope::User => ("", InstallScope::Project),
            InstallScope::Project => (" in this project", InstallScope::User),
        };
        let message = format!("metier did not install a skill `{shown}`{whose}");
        let error = Error::unmet("not-installed", message).skill(shown);
        let is_elsewhere = self
            .lock(other)
            .is_ok_and(|lock| lock.skills.contains_key(name));
        match (is_elsewhere, other) {
            (true, InstallScope::Project) => {
                error.hint("it is installed in this project: add --project")
            }
            (true, InstallScope::User) => {
                error.hint("it is installed for you: leave out --project")
            }
            (false, _) => error.hint(format!("metier {} {}", scope.verb(), shell_word("SOURCE"))),
        }
    }
}

impl ChangeDraft<'_> {
    /// Makes the links and copies of a plan part of this change, and records the agents in the lock if the skill is in it. `tree` contains the files of
    /// a skill that is not in its place yet. A folder where links are not possible gets a copy.
    pub(crate) fn place_for_agents(
        &mut self,
        scope: InstallScope,
        name: &str,
        mut plan: AgentPlan,
        tree: Option<&PackageTree>,
    ) -> Result<Vec<SyncedPlace>, Error> {
        let places = self.workspace().scope_places(scope)?;
        for place in &mut plan.places {
            let folder = place.place.parent().unwrap_or(&place.place).to_owned();
            if matches!(place.action, SyncAction::Link | SyncAction::Copy) {
                self.make_agent_folder(scope, &folder)?;
            }
            if place.action == SyncAction::Link && !can_link(&folder) {
                place.action = SyncAction::Copy;
                plan.agents.retain(|word| *word != place.agent);
                plan.agents.push(format!("{}=copy", place.agent));
            }
            let content = match place.action {
                SyncAction::Link => NewContent::Link(link_target(&places, &folder, name)),
                SyncAction::Copy => NewContent::Tree(match tree {
                    Some(tree) => tree.clone(),
                    None => self.workspace().placed_tree(&places, name, plan.tree)?,
                }),
                SyncAction::Remove => NewContent::Absent,
                SyncAction::Keep | SyncAction::Shared | SyncAction::Leave(_) => continue,
            };
            self.set(&place.place, content)?;
        }
        if let Some(locked) = self.lock(scope)?.skills.get_mut(name) {
            plan.agents.sort();
            locked.agents = plan.agents;
        }
        Ok(plan.places)
    }

    /// Puts a skill of this change into the folders of the agents that its entry in the lock names. `before` is that entry before the change.
    pub(crate) fn follow_agents(
        &mut self,
        scope: InstallScope,
        name: &str,
        before: Option<&LockedSkill>,
        tree: &PackageTree,
    ) -> Result<(), Error> {
        let locked = self.lock(scope)?.skills.get(name);
        let words = locked.map_or(&[][..], |locked| &locked.agents);
        let targets: Vec<AgentTarget> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if targets.is_empty() {
            return Ok(());
        }
        let plan = self
            .workspace()
            .plan_agents(scope, name, before, tree.digest(), &targets)?;
        let places = self.place_for_agents(scope, name, plan, Some(tree))?;
        self.warn_of_left(&places);
        Ok(())
    }

    /// Takes a skill out of the folders of the agents that its entry in the lock names.
    pub(crate) fn leave_agents(&mut self, scope: InstallScope, name: &str) -> Result<(), Error> {
        let Some(locked) = self.lock(scope)?.skills.get(name).cloned() else {
            return Ok(());
        };
        let plan = self
            .workspace()
            .plan_agent_removal(scope, name, &locked, &[]);
        let places = self.place_for_agents(scope, name, plan, None)?;
        self.warn_of_left(&places);
        Ok(())
    }

    fn warn_of_left(&self, places: &[SyncedPlace]) {
        for place in places {
            if let Some(found) = place.action.found() {
                let shown = one_line(&place.place.to_string_lossy());
                let line = format!("{shown} is {found}; left unchanged");
                self.workspace().notices.notice(NoticeLevel::Warning, &line);
            }
        }
    }

    fn make_agent_folder(&self, scope: InstallScope, folder: &Path) -> Result<(), Error> {
        let project = &self.workspace().machine.project;
        match (scope, folder.strip_prefix(project)) {
            (InstallScope::Project, Ok(below)) => make_folders(project, below),
            _ => fs::create_dir_all(folder).map_err(|error| {
                Error::broken(
                    "not-written",
                    format!("the folder of an agent can't be created: {error}"),
                )
                .path(folder)
                .hint("check its permissions, and those of the folder above it")
            }),
        }
    }
}

impl InstallPlan {
    /// Puts the skills of the plan into the folders of these agents too, as [`Workspace::sync`] does.
    ///
    /// ```no_run
    /// # fn f(mut plan: metier::distribution::InstallPlan) -> Result<(), metier::Error> {
    /// plan.for_agents(&["claude-code".to_owned()])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such agent, or when it has no folder in the scope.
    pub fn for_agents(&mut self, to: &[String]) -> Result<(), Error> {
        let targets: Result<Vec<AgentTarget>, Error> = to.iter().map(|word| word.parse()).collect();
        let targets = targets?;
        for skill in &mut self.skills {
            let all = joined(&skill.locked.agents, &targets, false);
            skill.locked.agents = all.iter().map(ToString::to_string).collect();
            skill.locked.agents.sort();
            let scope = skill.card.scope;
            let digest = skill.tree.digest();
            self.workspace
                .plan_agents(scope, &skill.key, None, digest, &targets)?;
        }
        Ok(())
    }
}

/// The agents of the lock and the requested ones, each once; a requested one decides how.
fn joined(recorded: &[String], wanted: &[AgentTarget], copy: bool) -> Vec<AgentTarget> {
    let own = recorded.iter().filter_map(|word| word.parse().ok());
    let own = own.map(|target: AgentTarget| AgentTarget {
        copy: target.copy || copy,
        ..target
    });
    let is_other = |own: &AgentTarget| wanted.iter().all(|one| one.agent != own.agent);
    let mut all: Vec<AgentTarget> = own.filter(is_other).collect();
    all.extend(wanted);
    all
}

const EDITED: &str = "a copy that was edited";

/// Decides what happens at a place, so that nothing is lost that metier did not put there.
fn decide(
    found: &AtPlace,
    copy: bool,
    is_recorded: bool,
    known: &[Option<Digest>],
    tree: Digest,
) -> SyncAction {
    let wanted = match copy {
        true => SyncAction::Copy,
        false => SyncAction::Link,
    };
    match found {
        AtPlace::Nothing => wanted,
        AtPlace::OwnLink if copy => wanted,
        AtPlace::OwnLink => SyncAction::Keep,
        AtPlace::Folder(_) if !is_recorded => {
            SyncAction::Leave("a folder that metier did not put there")
        }
        AtPlace::Folder(digest) if !known.contains(&Some(*digest)) => SyncAction::Leave(EDITED),
        AtPlace::Folder(digest) if copy && *digest == tree => SyncAction::Keep,
        AtPlace::Folder(_) => wanted,
        AtPlace::Other(what) => SyncAction::Leave(what),
    }
}

fn at_place(place: &Path, placed: &Path) -> AtPlace {
    let found = match fs::symlink_metadata(place) {
        Ok(found) => found.file_type(),
        Err(error) if is_missing(&error) => return AtPlace::Nothing,
        Err(_) => return AtPlace::Other("something that can't be read"),
    };
    if found.is_symlink() {
        let target = fs::read_link(place).unwrap_or_default();
        let folder = place.parent().unwrap_or(place);
        let is_own =
            resolved(&folder.join(target)) == resolved(placed) || same_folder(place, Some(placed));
        return match is_own {
            true => AtPlace::OwnLink,
            false => AtPlace::Other("a link to another place"),
        };
    }
    if !found.is_dir() {
        return AtPlace::Other("a file");
    }
    match SkillLocation::Folder(place.to_owned()).digest() {
        Ok(digest) => AtPlace::Folder(digest),
        Err(_) => AtPlace::Other("a folder that can't be read"),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// A path without `.` and `..`, by its text alone.
fn resolved(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

/// Whether both are the same folder, which exists.
fn same_folder(one: &Path, other: Option<&Path>) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let other = other.map(Path::to_owned);
    other.as_deref() == Some(one)
        || (real(one).is_some() && real(one) == other.and_then(|other| real(&other)))
}

/// The folder of an agent in a scope, if it has one.
fn agent_folder(workspace: &Workspace, scope: InstallScope, agent: &KnownAgent) -> Option<PathBuf> {
    match scope {
        InstallScope::User => Some(workspace.machine.home.as_ref()?.join(agent.user?)),
        InstallScope::Project => Some(workspace.machine.project.join(agent.project?)),
    }
}

fn shared_folder(workspace: &Workspace, scope: InstallScope) -> Option<PathBuf> {
    Some(workspace.scope_places(scope).ok()?.skills)
}

/// Where a link in the folder of an agent points. In a project it is relative, because a clone has another path.
fn link_target(places: &ScopePlaces, folder: &Path, name: &str) -> PathBuf {
    let placed = places.skill(name);
    let project = places.lock.parent().unwrap_or(&places.lock);
    let below = (folder.strip_prefix(project), placed.strip_prefix(project));
    let (InstallScope::Project, (Ok(folder), Ok(below))) = (places.scope, below) else {
        return placed;
    };
    let up: PathBuf = folder.components().map(|_| "..").collect();
    up.join(below)
}

/// Whether links can be created in a folder. A file system without links refuses one; other errors have other causes.
fn can_link(folder: &Path) -> bool {
    let probe = folder.join(format!(".metier-probe-{}", std::process::id()));
    let made = symlink("nowhere", &probe);
    fs::remove_file(&probe).ok();
    let refusals = [Errno::PERM, Errno::NOTSUP, Errno::NOSYS];
    made.err().is_none_or(|error| {
        let code = error.raw_os_error();
        !refusals
            .iter()
            .any(|refusal| code == Some(refusal.raw_os_error()))
    })
}

fn other_scope(scope: InstallScope) -> &'static str {
    match scope {
        InstallScope::User => "add --project to use its folder in the project",
        InstallScope::Project => "leave out --project to use its folder in your home directory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_metier_put_there_is_changed() {
        let [old, new, other] = [1, 2, 3].map(|byte| Digest([byte; 32]));
        let known = [Some(old), Some(new)];
        for copy in [false, true] {
            for is_recorded in [false, true] {
                let decided = |found: AtPlace| decide(&found, copy, is_recorded, &known, new);
                assert!(decided(AtPlace::Nothing).is_change());
                assert_eq!(decided(AtPlace::OwnLink).is_change(), copy);
                assert!(!decided(AtPlace::Other("a file")).is_change());
                assert!(!decided(AtPlace::Folder(other)).is_change());
                assert_eq!(decided(AtPlace::Folder(old)).is_change(), is_recorded);
                let is_right = copy || !is_recorded;
                assert_eq!(decided(AtPlace::Folder(new)).is_change(), !is_right);
            }
        }
    }

    #[test]
    fn the_lock_names_every_agent_so_that_it_is_found_again() {
        for agent in KnownAgent::all() {
            for copy in [false, true] {
                let target = AgentTarget { agent, copy };
                let found: AgentTarget = target.to_string().parse().unwrap();
                assert_eq!(found, target, "{target}");
            }
        }
    }

    #[test]
    fn a_link_of_a_project_leads_to_the_skill() {
        let places = ScopePlaces {
            scope: InstallScope::Project,
            skills: "/p/.agents/skills".into(),
            lock: "/p/metier.lock".into(),
        };
        for agent in KnownAgent::all().filter_map(|agent| agent.project) {
            let folder = Path::new("/p").join(agent);
            let target = link_target(&places, &folder, "pdf");
            assert!(target.is_relative(), "{agent}");
            let end = resolved(&folder.join(target));
            assert_eq!(end, Path::new("/p/.agents/skills/pdf"), "{agent}");
        }
    }
}
