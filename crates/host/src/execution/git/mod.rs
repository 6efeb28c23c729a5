//! Git: listed commands with listed options. A repository can't make it run other programs.
//!
//! **Problem.** A repository decides which programs git runs: its configuration names programs for dozens of purposes, its attributes
//! choose among them, its hooks are programs, and a submodule is another repository. Overriding each such key by name fails with the next
//! version of git.
//!
//! **Decision.** Three layers, each of which is an allow-list:
//! - [`options`]: the commands, and all options that each may get, spelt in full;
//! - [`config`]: git gets a configuration of our own, with those of the repository's settings that are known to be only data.
//!   `GIT_COMMON_DIR` is a new folder with that file in it, and with links to the repository's objects and references; it has no hooks and
//!   no attributes. So a driver that `.gitattributes` names does not exist;
//! - the sandbox: git can start no program but git (see [`only_git`]), whatever it reads in a submodule.

mod config;
mod options;
#[cfg(test)]
mod tests;

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::Read,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use metier_policy::GitAct;
use options::{Needs, Unlisted};

use crate::execution::{ActExecutor, ActResult, ExecutionError, child_profile::ProgramKind, files};

/// The largest file of a repository that is read here.
const MAX_CONFIG: usize = 1 << 20;

/// The parts of a repository that are reached through links in the common folder.
const SHARED: &[&str] = &[
    "HEAD",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "reftable",
    "shallow",
    "worktrees",
];

/// Variables of git that a skill may set: who commits, and when.
const AUTHORS: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
];

/// Whether `git:read` is the permission for these arguments: an unlisted command that is not one of `git:write` either
/// is refused under either name.
#[must_use]
pub fn only_reads(arguments: &[String]) -> bool {
    let is_command = |needs| match options::check(arguments, needs) {
        Err(Unlisted::Command(_)) => false,
        Ok(_) | Err(Unlisted::Option { .. }) => true,
    };
    options::check(arguments, Needs::Read).is_ok()
        || (is_command(Needs::Read) && !is_command(Needs::Write))
}

/// Every git command that is allowed: its name, its permission and its options. `--format=` takes a value, `--stat[=]` may take
/// one; `-n:VALUE` and `-M[VALUE]` likewise.
#[must_use]
pub fn git_commands() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    options::listed()
}

impl ActExecutor {
    pub(super) fn git(
        &self,
        git: &GitAct,
        writes: bool,
        timeout: Duration,
    ) -> Result<ActResult, ExecutionError> {
        let needs = if writes { Needs::Write } else { Needs::Read };
        let permission = needs.permission();
        let command = options::check(&git.arguments, needs).map_err(|unlisted| match unlisted {
            Unlisted::Command(command) => ExecutionError::Git(command, permission),
            Unlisted::Option { command, option } => ExecutionError::GitOption {
                command,
                option,
                permission,
            },
        })?;
        let mut arguments: Vec<OsString> = Vec::new();
        for (name, value) in config::OURS {
            arguments.extend(["-c".into(), format!("{name}={value}").into()]);
        }
        arguments.push(command.name.into());
        if command.diffs {
            arguments.extend(["--no-ext-diff".into(), "--no-textconv".into()]);
        }
        match command.name {
            "blame" => arguments.push("--no-textconv".into()),
            "diff" | "status" => arguments.push("--ignore-submodules=dirty".into()),
            "init" => arguments.push("--template=".into()),
            _ => {}
        }
        arguments.extend(git.arguments.iter().skip(1).map(OsString::from));
        let program = OsStr::new("git");
        let mut prepared = self.prepare(
            ProgramKind::Git(&git.repository),
            program,
            &arguments,
            &git.repository,
        )?;
        prepared.env.retain(|(name, _)| is_passed(name));
        prepared.env.extend(settings(writes));
        let common = match command.name {
            "init" => None,
            _ => Some(self.common_folder(&git.repository)?),
        };
        if let Some(common) = &common {
            prepared.env.extend(common.variables());
        }
        if let Some(profile) = &mut prepared.profile {
            profile.programs = only_git(&self.path_folders());
        }
        self.wait_for(prepared, timeout)
    }

    /// Creates the folder in which git finds a safe configuration, and links to everything else.
    fn common_folder(&self, folder: &Path) -> Result<CommonFolder, ExecutionError> {
        let failed = |source| ExecutionError::File {
            path: self.scratch.path().to_owned(),
            source,
        };
        let found = self.find_repository(folder);
        let made = tempfile::Builder::new()
            .prefix("git-")
            .tempdir_in(self.scratch.path())
            .map_err(failed)?;
        let at = made.path();
        for name in SHARED {
            let real = found.common.join(name);
            // Git follows a link to a missing file, and creates the file.
            if real.exists() || *name == "packed-refs" {
                symlink(real, at.join(name)).map_err(failed)?;
            }
        }
        fs::create_dir(at.join("info")).map_err(failed)?;
        symlink(found.common.join("info/exclude"), at.join("info/exclude")).map_err(failed)?;
        fs::write(at.join("config"), self.configuration(&found)).map_err(failed)?;
        Ok(CommonFolder { made, found })
    }

    fn configuration(&self, found: &FoundRepository) -> String {
        let read = |path: PathBuf| config::read(&self.small_text(&path).unwrap_or_default());
        let mut settings = read(found.common.join("config"));
        let own = |setting: &config::Setting| setting.is_true("extensions", "worktreeconfig");
        if settings.iter().any(own) {
            settings.extend(read(found.git_dir.join("config.worktree")));
        }
        let ours = |section: &str, key: &str, value: &str| config::Setting {
            section: section.to_owned(),
            subsection: None,
            key: key.to_owned(),
            value: Some(value.to_owned()),
        };
        let mut more = Vec::new();
        if !found.common.join("logs").is_dir() {
            more.push(ours("core", "logallrefupdates", "false"));
        }
        match &found.work_tree {
            None => more.push(ours("core", "bare", "true")),
            Some(work_tree) => {
                let submodules = read(work_tree.join(".gitmodules")).into_iter();
                let submodules = submodules.filter(|setting| setting.section == "submodule");
                let names = submodules.filter_map(|setting| setting.subsection);
                more.extend(names.map(|name| config::ignored_submodule(&name)));
            }
        }
        config::write(&settings, &more)
    }

    /// The repository that a folder belongs to. If there is none, git reports that.
    fn find_repository(&self, folder: &Path) -> FoundRepository {
        for above in folder.ancestors() {
            let inside = above.join(".git");
            if inside.symlink_metadata().is_ok() {
                return self.resolve(&inside, Some(above));
            }
            let has = |name: &str| above.join(name).exists();
            if has("HEAD") && has("objects") && has("refs") {
                return self.resolve(above, None);
            }
        }
        self.resolve(&folder.join(".git"), Some(folder))
    }

    /// Follows `.git` if it is a file, as in a linked worktree and a submodule, and `commondir` in its target.
    fn resolve(&self, at: &Path, work_tree: Option<&Path>) -> FoundRepository {
        let mut git_dir = at.to_owned();
        if at.is_file()
            && let Some(text) = self.small_text(at)
            && let Some(target) = text.strip_prefix("gitdir:")
        {
            let parent = at.parent().unwrap_or(at);
            git_dir = parent.join(target.trim());
        }
        let git_dir = git_dir.canonicalize().unwrap_or(git_dir);
        let common = self
            .small_text(&git_dir.join("commondir"))
            .map(|target| git_dir.join(target.trim()));
        let common = common.and_then(|common| common.canonicalize().ok());
        FoundRepository {
            common: common.unwrap_or_else(|| git_dir.clone()),
            git_dir,
            work_tree: work_tree.map(Path::to_owned),
        }
    }

    /// A small regular file, unless no skill may read it.
    fn small_text(&self, path: &Path) -> Option<String> {
        let real = path.canonicalize().ok()?;
        let bytes = files::read(&real, &self.never_read()).ok()?;
        (bytes.len() <= MAX_CONFIG).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The folders of a repository.
struct FoundRepository {
    git_dir: PathBuf,
    /// The folder that all of its worktrees share; the same as `git_dir` if there is only one.
    common: PathBuf,
    /// `None` if it is bare.
    work_tree: Option<PathBuf>,
}

/// The folder that replaces the one shared by the worktrees of a repository. It is removed with this value.
struct CommonFolder {
    made: tempfile::TempDir,
    found: FoundRepository,
}

impl CommonFolder {
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("GIT_DIR".into(), self.found.git_dir.clone().into()),
            ("GIT_COMMON_DIR".into(), self.made.path().into()),
        ];
        if let Some(work_tree) = &self.found.work_tree {
            variables.push(("GIT_WORK_TREE".into(), work_tree.into()));
        }
        variables
    }
}

/// Whether a variable of a child is passed on to git.
fn is_passed(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with("GIT_") || AUTHORS.contains(&&*name)
}

/// Variables that keep git from reading other settings.
fn settings(writes: bool) -> Vec<(OsString, OsString)> {
    let mut settings = vec![
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_EDITOR", ":"),
        ("GIT_MERGE_AUTOEDIT", "no"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_PAGER", "cat"),
        ("GIT_SEQUENCE_EDITOR", ":"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ];
    if !writes {
        settings.push(("GIT_OPTIONAL_LOCKS", "0"));
    }
    let settings = settings.into_iter();
    settings
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// The programs that git can start: git, at every path that git uses for itself, and the loader of git. `None` if git is a script here,
/// which needs unknown programs.
fn only_git(folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    git_programs(folders, &[])
}

/// The programs that git can start, and other programs of git, which are named by their names in git's own folder. `None` if git is a script
/// here.
#[must_use]
pub fn git_programs(folders: &[PathBuf], helpers: &[&str]) -> Option<Vec<PathBuf>> {
    let git = folders
        .iter()
        .map(|folder| folder.join("git"))
        .find(|git| git.is_file())?;
    let real = git.canonicalize().ok()?;
    let loader = loader(&real)?;
    let mut programs = vec![git.clone(), real.clone()];
    programs.extend(loader);
    for program in [&git, &real] {
        let prefix = program.parent().and_then(Path::parent);
        for folder in ["lib", "libexec", "lib64"] {
            let core = prefix.map(|prefix| prefix.join(folder).join("git-core"));
            for name in ["git"].iter().chain(helpers) {
                programs.extend(core.as_ref().map(|core| core.join(name)));
            }
        }
    }
    Some(programs)
}

/// The loader that the kernel runs for this program: `Some(None)` if it needs none, `None` if it is not a 64-bit program.
fn loader(program: &Path) -> Option<Option<PathBuf>> {
    const HEAD: u64 = 64 * 1024;
    const INTERPRETER: u32 = 3;
    let mut head = Vec::new();
    let file = File::open(program).ok()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = head.get(at..at.checked_add(length)?)?;
        let number = bytes
            .iter()
            .rev()
            .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        usize::try_from(number).ok()
    };
    let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    for index in 0..count {
        let entry = table.checked_add(index.checked_mul(size)?)?;
        if number(entry, 4)? != INTERPRETER as usize {
            continue;
        }
        let (at, length) = (number(entry + 8, 8)?, number(entry + 0x20, 8)?);
        let name = head.get(at..at.checked_add(length)?)?;
        let name = name.strip_suffix(b"\0").unwrap_or(name);
        return Some(Some(PathBuf::from(String::from_utf8_lossy(name).as_ref())));
    }
    Some(None)
}
