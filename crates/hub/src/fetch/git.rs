//! Git repositories: one commit, fetched without its history, and never checked out.
//!
//! Git runs in the sandbox and can reach only the typed remote. Where the server supports it, only folders are fetched first, then the
//! manifests, then the files of the skills that are read: a skill of a large repository costs little more than its own files. Trees and
//! blobs are read from git itself, so that a submodule or an odd name elsewhere in the repository does not matter, and no filter or hook
//! ever runs.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metier_model::text::visible;
use metier_package::PackageTree;
use url::Url;

use super::{
    FetchProgress, FetchStep, SourceLimits,
    access::{GitRemote, GitRun, ObjectReader, SourceAccess},
    error::{FetchError, SkillProblem},
    files::{EntryKind, FolderName, SourceFiles, TreeBuilder, below},
    git_links::{CommitNames, ResolvedLinks},
    git_messages::{self, GitProblem},
    quarantine::QuarantineRoom,
};
use crate::source::GitSource;

/// The reference to the fetched commit.
const FETCHED: &str = "refs/metier/fetched";
/// The maximum size of git's output about references, in bytes.
const MAX_REFERENCES: usize = 1 << 20;
/// The longest line of a listed name, in bytes: mode, kind, object, path.
const LINE: usize = 400;

/// How many requests prepare to read skills.
const MAX_ATTEMPTS: usize = 64;

/// A commit that was fetched.
pub(super) struct GitFiles<'a> {
    access: &'a dyn SourceAccess,
    progress: &'a dyn FetchProgress,
    source_name: String,
    remote: GitRemote,
    room: QuarantineRoom,
    limits: SourceLimits,
    pub(super) commit: String,
    /// The folder that the paths of the files begin at.
    folder: String,
    folders: BTreeMap<String, Vec<FolderName>>,
    /// The files with their objects; links and submodules included.
    files: BTreeMap<String, ListedObject>,
    /// All names of the commit, once a link was followed.
    whole: Mutex<Option<Arc<CommitNames>>>,
    /// The sizes of the objects that were already fetched.
    sizes: Mutex<HashMap<String, u64>>,
    /// Held while objects are fetched and listed: an older list must not replace a newer one.
    fetching: Mutex<()>,
    reader: Mutex<Option<Box<dyn ObjectReader>>>,
}

/// A file of a commit.
pub(super) struct ListedObject {
    pub(super) kind: EntryKind,
    pub(super) id: String,
}

/// The resolution of a reference.
pub(super) struct ResolvedReference {
    /// The reference or commit to fetch.
    wanted: String,
    /// The rest of the typed folder.
    pub(super) folder: String,
    /// The branch, tag or commit, as it is typed again.
    pub(super) reference: Option<String>,
    /// The name of a skill, if the text after `@` is one.
    pub(super) skill: Option<String>,
}

impl GitRemote {
    /// Parses the text of [`GitSource::url`].
    fn parse(url: &str) -> Result<Self, FetchError> {
        let unknown = || FetchError::Git {
            source_name: url.to_owned(),
            message: "not a repository address".to_owned(),
        };
        let Ok(parsed) = Url::parse(url) else {
            // `user@host:path`
            let (host, path) = url.split_once(':').ok_or_else(unknown)?;
            let (host, path) = (host.to_owned(), path.to_owned());
            return Ok(Self::Ssh {
                host,
                port: None,
                path,
            });
        };
        match parsed.scheme() {
            "http" | "https" => Ok(Self::Web(parsed)),
            "file" => parsed
                .to_file_path()
                .map(Self::Folder)
                .map_err(|()| unknown()),
            "ssh" => {
                let host = parsed.host_str().ok_or_else(unknown)?;
                let host = match parsed.username() {
                    "" => host.to_owned(),
                    user => format!("{user}@{host}"),
                };
                Ok(Self::Ssh {
                    host,
                    port: parsed.port(),
                    path: parsed.path().to_owned(),
                })
            }
            _ => Err(unknown()),
        }
    }
}

impl<'a> GitFiles<'a> {
    /// Fetches the commit that a source names, and lists its files.
    pub(super) fn fetch(
        source: &GitSource,
        access: &'a dyn SourceAccess,
        limits: &SourceLimits,
        progress: &'a dyn FetchProgress,
    ) -> Result<(Self, ResolvedReference), FetchError> {
        let mut fetched = Self {
            access,
            progress,
            source_name: source.to_string(),
            remote: GitRemote::parse(&source.url)?,
            room: access.quarantine()?,
            limits: *limits,
            commit: String::new(),
            folder: String::new(),
            whole: Mutex::default(),
            folders: BTreeMap::new(),
            files: BTreeMap::new(),
            sizes: Mutex::default(),
            fetching: Mutex::default(),
            reader: Mutex::new(None),
        };
        fetched.create_repository("sha1")?;
        let resolved = fetched.resolve(source)?;
        fetched.fetch_commit(&resolved.wanted)?;
        let name = format!("{FETCHED}^{{commit}}");
        let commit = fetched.git(&["rev-parse", "--verify", "--quiet", &name], &[], None, 256)?;
        fetched.commit = String::from_utf8_lossy(&commit).trim().to_owned();
        fetched.list_files(&resolved.folder)?;
        fetched.list_objects()?;
        Ok((fetched, resolved))
    }

    /// Writes an empty repository, without a template, hooks or attributes.
    fn create_repository(&self, hash: &str) -> Result<(), FetchError> {
        let path = self.room.path();
        let create = || {
            for folder in ["objects", "refs"] {
                fs::create_dir_all(path.join(folder))?;
            }
            fs::write(path.join("HEAD"), "ref: refs/heads/none\n")?;
            let config = format!(
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n\
                 \tobjectFormat = {hash}\n[remote \"origin\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n"
            );
            fs::write(path.join("config"), config)
        };
        create().map_err(|error| FetchError::disk(path, error))
    }

    fn git(
        &self,
        arguments: &[&str],
        input: &[u8],
        remote: Option<&GitRemote>,
        max_output: usize,
    ) -> Result<Vec<u8>, FetchError> {
        let report = |received| {
            self.progress.report(FetchStep::Bytes {
                source: &self.source_name,
                received,
                total: None,
            });
        };
        self.access.git(&GitRun {
            source_name: &self.source_name,
            repository: self.room.path(),
            arguments,
            input,
            remote,
            max_output,
            progress: &report,
            limits: &self.limits,
        })
    }

    /// Determines the type of the typed reference: a commit, a branch, a tag, or the name of a skill.
    fn resolve(&self, source: &GitSource) -> Result<ResolvedReference, FetchError> {
        let folder = source.folder.clone();
        let reference = source.reference.clone();
        let Some(typed) = &reference else {
            return Ok(ResolvedReference {
                wanted: "HEAD".to_owned(),
                folder,
                reference,
                skill: None,
            });
        };
        if let Some(hash) = hash_of_commit(typed) {
            self.create_repository(hash)?;
            return Ok(ResolvedReference {
                wanted: typed.clone(),
                folder,
                reference,
                skill: None,
            });
        }
        // A branch can have slashes; in an address like `/tree/a/b/c` nothing shows where it ends.
        let mut candidates = vec![(typed.clone(), folder.clone())];
        let mut rest = folder.as_str();
        while !rest.is_empty() {
            let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
            let (longer, _) = &candidates[candidates.len() - 1];
            candidates.push((format!("{longer}/{first}"), after.to_owned()));
            rest = after;
        }
        let mut names = vec!["ls-remote".to_owned(), "origin".to_owned()];
        for (name, _) in &candidates {
            names.push(format!("refs/heads/{name}"));
            names.push(format!("refs/tags/{name}"));
        }
        let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
        let listed = self.git(&arguments, &[], Some(&self.remote), MAX_REFERENCES)?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let has = |wanted: &str| {
            let mut names = listed.lines().filter_map(|line| line.split_once('\t'));
            names.any(|(_, name)| name == wanted)
        };
        for (name, folder) in candidates {
            for kind in ["heads", "tags"] {
                let wanted = format!("refs/{kind}/{name}");
                if has(&wanted) {
                    let reference = Some(name);
                    return Ok(ResolvedReference {
                        wanted,
                        folder,
                        reference,
                        skill: None,
                    });
                }
            }
        }
        // To other installers, `owner/repo@name` means a skill.
        Ok(ResolvedReference {
            wanted: "HEAD".to_owned(),
            folder,
            reference: None,
            skill: Some(typed.clone()),
        })
    }

    fn fetch_commit(&self, wanted: &str) -> Result<(), FetchError> {
        let target = format!("+{wanted}:{FETCHED}");
        let mut arguments = vec![
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--filter=blob:none",
            "origin",
            &target,
        ];
        let first = self.git(&arguments, &[], Some(&self.remote), MAX_REFERENCES);
        let Err(FetchError::Git { message, .. }) = &first else {
            return first.map(|_| ());
        };
        match git_messages::problem(message) {
            Some(GitProblem::OtherHash) => self.create_repository("sha256")?,
            Some(GitProblem::NoShallowFetch) => {
                arguments.retain(|argument| {
                    *argument != "--depth=1" && *argument != "--filter=blob:none"
                });
            }
            Some(GitProblem::NoReference) => {
                return Err(FetchError::NoReference {
                    source_name: self.source_name.clone(),
                    reference: wanted.to_owned(),
                });
            }
            Some(GitProblem::NoCredentials) | None => return first.map(|_| ()),
        }
        self.git(&arguments, &[], Some(&self.remote), MAX_REFERENCES)?;
        Ok(())
    }

    fn list_files(&mut self, folder: &str) -> Result<(), FetchError> {
        folder.clone_into(&mut self.folder);
        let mut listed = Vec::new();
        self.names_below(folder, &mut |path, object| {
            listed.push((path.to_owned(), object));
        })?;
        self.folders.entry(String::new()).or_default();
        for (path, object) in listed {
            self.add(&path, object);
        }
        for names in self.folders.values_mut() {
            names.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(())
    }

    /// The names below a folder of the commit.
    fn names_below(
        &self,
        folder: &str,
        each: &mut dyn FnMut(&str, ListedObject),
    ) -> Result<(), FetchError> {
        // The tree of a folder has a name of its own, so that no path is parsed as a pattern.
        let tree = format!("{FETCHED}:{folder}");
        let max_output = self.limits.names.saturating_mul(LINE).min(1 << 29);
        let listed = self.git(&["ls-tree", "-r", "-z", &tree], &[], None, max_output);
        let listed = listed.map_err(|error| match error {
            FetchError::Git { .. } if !folder.is_empty() => FetchError::NoFolder {
                source_name: self.source_name.clone(),
                folder: folder.to_owned(),
            },
            error => error,
        })?;
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            // A skill with a name that is not UTF-8 is refused when it is read.
            let is_text = std::str::from_utf8(line).is_ok();
            let line = String::from_utf8_lossy(line);
            let Some((head, path)) = line.split_once('\t') else {
                continue;
            };
            let mut words = head.split(' ');
            let (Some(mode), _, Some(id)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let kind = match mode {
                _ if !is_text => EntryKind::Special,
                "120000" => EntryKind::Link,
                "160000" => EntryKind::Submodule,
                _ => EntryKind::File,
            };
            let id = id.to_owned();
            each(path, ListedObject { kind, id });
        }
        Ok(())
    }

    fn add(&mut self, path: &str, object: ListedObject) {
        let (mut path, mut kind) = (path, object.kind);
        self.files.insert(path.to_owned(), object);
        loop {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_known = self.folders.contains_key(above);
            self.folders
                .entry(above.to_owned())
                .or_default()
                .push(FolderName {
                    name: name.to_owned(),
                    kind,
                });
            if is_known {
                return;
            }
            (path, kind) = (above, EntryKind::Folder);
        }
    }

    /// The files below a folder.
    fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &ListedObject)> {
        let start = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let length = start.len();
        self.files
            .range(start.clone()..)
            .take_while(move |(path, _)| path.starts_with(&start))
            .map(move |(path, object)| (&path[length..], object))
    }

    fn reader(&self) -> MutexGuard<'_, Option<Box<dyn ObjectReader>>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files of a folder with links in it, each with the object of its content.
    fn resolved(
        &self,
        folder: &str,
        tree: &mut TreeBuilder<'_>,
    ) -> Result<Vec<(String, String)>, FetchError> {
        let links = self.below(folder);
        let links = links.filter(|(_, object)| object.kind == EntryKind::Link);
        self.ensure(&links.map(|(_, object)| object.id.as_str()).collect())?;
        let names = self.commit_names()?;
        let mut resolved = ResolvedLinks {
            files: self,
            names: &names,
            found: Vec::new(),
        };
        let top = below(&self.folder, folder);
        for (path, _) in self.below(folder) {
            resolved.add(tree, &below(&top, path), path, 0)?;
        }
        Ok(resolved.found)
    }

    /// The names of the whole commit: a link can point outside the typed folder, but not outside the repository.
    fn commit_names(&self) -> Result<Arc<CommitNames>, FetchError> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = &*whole {
            return Ok(Arc::clone(names));
        }
        let mut names = CommitNames::new();
        self.names_below("", &mut |path, object| {
            names.insert(path.to_owned(), object);
        })?;
        let names = Arc::new(names);
        *whole = Some(Arc::clone(&names));
        Ok(names)
    }

    /// The target of a link, as written.
    pub(super) fn link_target(&self, id: &str, limit: u64) -> Result<Option<String>, FetchError> {
        self.ensure(&BTreeSet::from([id]))?;
        if self.sizes().get(id).is_none_or(|size| *size > limit) {
            return Ok(None);
        }
        let target = self.with_reader(|reader| reader.read(id))?;
        Ok(String::from_utf8(target).ok())
    }

    /// Uses the process that reads objects, and starts it if none is running.
    fn with_reader<T>(
        &self,
        work: impl FnOnce(&mut dyn ObjectReader) -> Result<T, FetchError>,
    ) -> Result<T, FetchError> {
        let mut reader = self.reader();
        let started = match reader.take() {
            Some(started) => started,
            None => self.access.objects(&GitRun {
                source_name: &self.source_name,
                repository: self.room.path(),
                arguments: &["cat-file", "--batch"],
                input: &[],
                remote: None,
                max_output: 0,
                progress: &|_| {},
                limits: &self.limits,
            })?,
        };
        let mut started = started;
        let result = work(started.as_mut());
        // After an error, its answers could belong to another request.
        if result.is_ok() {
            *reader = Some(started);
        }
        result
    }

    fn sizes(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the local blobs. Git can't be asked for a blob that may be missing: it would try to fetch it.
    fn list_objects(&self) -> Result<(), FetchError> {
        let arguments = [
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
            "--buffer",
            "--unordered",
        ];
        let most = self.limits.names.saturating_mul(LINE).min(1 << 29);
        let listed = self.git(&arguments, &[], None, most)?;
        let listed = String::from_utf8_lossy(&listed);
        let sizes = listed.lines().filter_map(|line| {
            let (id, rest) = line.split_once(' ')?;
            let size = rest.strip_prefix("blob ")?.parse().ok()?;
            Some((id.to_owned(), size))
        });
        *self.sizes() = sizes.collect();
        Ok(())
    }

    /// Fetches those of these objects that are missing, in one request.
    fn ensure(&self, ids: &BTreeSet<&str>) -> Result<(), FetchError> {
        let missing = || -> Vec<&str> {
            let sizes = self.sizes();
            let missing = ids.iter().filter(|id| !sizes.contains_key(**id));
            missing.copied().collect()
        };
        if missing().is_empty() {
            return Ok(());
        }
        let _alone = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have fetched them meanwhile.
        let missing = missing();
        if missing.is_empty() {
            return Ok(());
        }
        *self.reader() = None;
        let mut input = missing.join("\n");
        input.push('\n');
        let arguments = [
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--filter=blob:none",
            "--stdin",
            "origin",
        ];
        let (remote, most) = (Some(&self.remote), MAX_REFERENCES);
        self.git(&arguments, input.as_bytes(), remote, most)?;
        self.list_objects()
    }

    /// Fetches the files of these folders in one request; if that fails, in two halves. One file that a server does not have would
    /// otherwise cost a request for each of the others.
    fn prepare_some(&self, folders: &[&str], attempts: &mut usize) {
        let objects = folders.iter().flat_map(|folder| self.below(folder));
        let files = objects.filter(|(_, object)| object.kind == EntryKind::File);
        let done = self.ensure(&files.map(|(_, object)| object.id.as_str()).collect());
        *attempts = attempts.saturating_sub(1);
        if done.is_err() && folders.len() > 1 && *attempts > 0 {
            let (first, second) = folders.split_at(folders.len() / 2);
            self.prepare_some(first, attempts);
            self.prepare_some(second, attempts);
        }
    }

    fn size(&self, object: &ListedObject) -> Option<u64> {
        self.sizes().get(&object.id).copied()
    }
}

/// The hash of a commit in full; an abbreviated one can't be fetched.
fn hash_of_commit(text: &str) -> Option<&'static str> {
    let is_hex = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match text.len() {
        40 if is_hex => Some("sha1"),
        64 if is_hex => Some("sha256"),
        _ => None,
    }
}

impl SourceFiles for GitFiles<'_> {
    fn list(&self, folder: &str) -> Result<Vec<FolderName>, FetchError> {
        Ok(self.folders.get(folder).cloned().unwrap_or_default())
    }

    fn read(&self, paths: &[String], limit: usize) -> Result<Vec<Option<Vec<u8>>>, FetchError> {
        let object = |path: &String| {
            let object = self.files.get(path);
            object.filter(|object| object.kind == EntryKind::File)
        };
        let wanted: Vec<Option<&ListedObject>> = paths.iter().map(object).collect();
        let ids = wanted.iter().flatten().map(|object| object.id.as_str());
        self.ensure(&ids.collect())?;
        self.with_reader(|reader| {
            let mut contents = Vec::with_capacity(wanted.len());
            for object in wanted {
                let Some(object) = object else {
                    contents.push(None);
                    continue;
                };
                let size = self.size(object).unwrap_or(u64::MAX);
                let fits = usize::try_from(size).is_ok_and(|size| size <= limit);
                contents.push(match fits {
                    true => Some(reader.read(&object.id)?),
                    false => None,
                });
            }
            Ok(contents)
        })
    }

    fn tree(&self, folder: &str) -> Result<PackageTree, FetchError> {
        let mut tree = TreeBuilder::new(folder, self.limits.archive);
        let mut kinds = self.below(folder).map(|(_, object)| object.kind);
        let files = match kinds.all(|kind| kind == EntryKind::File) {
            true => {
                let files = self.below(folder);
                let files = files.map(|(path, object)| (path.to_owned(), object.id.clone()));
                files.collect()
            }
            false => self.resolved(folder, &mut tree)?,
        };
        self.ensure(&files.iter().map(|(_, id)| id.as_str()).collect())?;
        self.with_reader(|reader| {
            for (path, id) in &files {
                let Some(size) = self.sizes().get(id).copied() else {
                    return Err(tree.refuse(SkillProblem::Unreadable {
                        path: visible(path).into_owned(),
                        reason: "the repository does not contain it".to_owned(),
                    }));
                };
                tree.fits(&visible(path), size)?;
                tree.add(path.as_bytes(), reader.read(id)?)?;
            }
            Ok(())
        })?;
        tree.finish()
    }

    fn prepare_files(&self, paths: &[String]) -> Result<(), FetchError> {
        let objects = paths.iter().filter_map(|path| self.files.get(path));
        let files = objects.filter(|object| object.kind == EntryKind::File);
        self.ensure(&files.map(|object| object.id.as_str()).collect())
    }

    fn prepare_folders(&self, folders: &[&str]) {
        let mut attempts = MAX_ATTEMPTS;
        self.prepare_some(folders, &mut attempts);
    }
}

/// The name of a repository, for a skill at its top.
pub(super) fn repository_name(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next();
    let last = last.unwrap_or_default();
    below("", last.strip_suffix(".git").unwrap_or(last))
}
