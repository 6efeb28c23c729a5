//! Registries: search, log in, publish, yank, and where a skill that is named without a source comes from.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    thread,
    time::UNIX_EPOCH,
};

use metier_hub::{
    SkillSource,
    fetch::{FetchedSkill, QuarantineRoom},
    registry::{
        HostTransport, MemoryFailure, RegistryChoice, RegistryClient, RegistryTransport,
        choose_versions,
    },
};
use metier_package::{Lock, LockedSkill, PackageTree};
use semver::{Version, VersionReq};

use super::{places::InstallScope, registry_memory::StoredMemory, sources::SourceRequest};
use crate::{
    Error, NoticeLevel, TaskProgress, WorkKind, Workspace,
    execution_context::REGISTRY_TOKENS,
    text::{count, one_line},
};

pub use metier_hub::registry::{RegistryAddress, RegistryClientError, RegistryFreshness};
pub use metier_package::registry_api::{
    PublishAnswer, PublishStatus, RegistryAccount, RegistryFinding, RegistryMatch, RegistryVersion,
};

/// The largest file of tokens.
const MAX_TOKENS: u64 = 1 << 20;
/// The maximum number of skills on one page.
const PAGE: u64 = 200;
/// The maximum number of skills in a list of all skills.
const MAX_LISTED: usize = 10_000;
/// Packages that are downloaded at the same time.
const PARALLEL: usize = 8;

/// The result of a search in registries.
///
/// An example is at [`Workspace::search_registries`].
#[derive(Clone, Debug, Default)]
pub struct RegistrySearch {
    /// The skills, each with the registry that has it; the first registry first.
    pub found: Vec<(String, RegistryMatch)>,
    /// How many there are, with those that are not listed.
    pub total: u64,
    /// The registries whose answer is older than an hour, because they can't be reached.
    pub stale: Vec<String>,
    /// The errors of the others, one sentence each.
    pub failed: Vec<String>,
}

/// Options of a publication: by default unsigned, to the first registry.
///
/// An example is at [`Workspace::publish`].
#[derive(Clone, Debug, Default)]
pub struct PublishOptions {
    /// The registry, if it is not the first one of the configuration.
    pub registry: Option<String>,
    /// Sign the package with the user's key.
    pub sign: bool,
    /// The secret key, if it is not the user's usual one.
    pub key: Option<PathBuf>,
    /// For administrators: accept a name that resembles another one.
    pub allow_similar: bool,
    /// Pack and check, and send nothing.
    pub dry_run: bool,
}

/// The result of a publication.
///
/// [`Workspace::publish`] returns it and has an example.
#[derive(Clone, Debug)]
pub struct PublishReport {
    /// The registry.
    pub registry: String,
    /// The bytes of the package.
    pub size: usize,
    /// The public key that signed it.
    pub signer: Option<String>,
    /// The answer of the registry; `None` for a dry run.
    pub answer: Option<PublishAnswer>,
}

impl Workspace {
    /// The addresses in `skills.registry_url` of the configuration, in their order; empty if there are none.
    ///
    /// The example of [`Workspace::available_skills`] prints them.
    ///
    /// # Errors
    /// When one is not an address of a registry.
    pub fn registries(&self) -> Result<Vec<RegistryAddress>, Error> {
        let text = self.config.registry_url.as_deref().unwrap_or_default();
        let addresses = text.split_whitespace().map(RegistryAddress::parse);
        addresses.map(|address| address.map_err(failed)).collect()
    }

    /// Searches the registries. One that fails does not hide the others.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for (registry, skill) in workspace.search_registries("pdf", 20)?.found {
    ///     println!("{} {} ({registry})", skill.name, skill.version);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the configuration names something that is not a registry, or the database can't be used.
    pub fn search_registries(&self, query: &str, limit: u64) -> Result<RegistrySearch, Error> {
        self.ask_registries(|client| {
            let page = client.search(query, 0, limit)?;
            Ok((page.skills, page.total))
        })
    }

    /// Every skill that the registries have, page by page; of one registry at most about 10,000.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for registry in workspace.registries()? {
    ///     println!("{registry}");
    /// }
    /// let all = workspace.available_skills()?;
    /// println!("{} of {} skills", all.found.len(), all.total);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of [`Workspace::search_registries`].
    pub fn available_skills(&self) -> Result<RegistrySearch, Error> {
        self.ask_registries(|client| {
            let mut skills = Vec::new();
            let mut offset = Some(0);
            let mut total = 0;
            while let Some(next) = offset {
                let page = client.search("", next, PAGE)?;
                total = page.total;
                // A next page that does not advance ends the list.
                offset = page
                    .next
                    .filter(|later| *later > next && skills.len() < MAX_LISTED);
                skills.extend(page.skills);
            }
            Ok((skills, total))
        })
    }

    fn ask_registries(
        &self,
        ask: impl Fn(&RegistryClient<'_>) -> Result<(Vec<RegistryMatch>, u64), RegistryClientError>,
    ) -> Result<RegistrySearch, Error> {
        let mut result = RegistrySearch::default();
        self.with_registries(RegistryFreshness::Hourly, |clients| {
            for client in clients {
                let registry = client.address().to_string();
                match ask(client) {
                    Ok((skills, total)) => {
                        result.total += total;
                        let found = skills.into_iter().map(|skill| (registry.clone(), skill));
                        result.found.extend(found);
                        if client.is_stale() {
                            result.stale.push(registry);
                        }
                    }
                    Err(error @ RegistryClientError::Memory(_)) => return Err(failed(error)),
                    Err(error) => result.failed.push(error.to_string()),
                }
            }
            Ok(())
        })?;
        Ok(result)
    }

    /// The skills of requests that name one without a source, with the skills that they require, and the other requests. They are
    /// resolved together, so that their versions fit.
    pub(crate) fn resolve_named<'r>(
        &self,
        requests: &'r [SourceRequest],
        scope: InstallScope,
    ) -> Result<(Vec<FetchedSkill>, Vec<&'r SourceRequest>), Error> {
        let mut wanted = Vec::new();
        let mut others = Vec::new();
        for request in requests {
            match SkillSource::parse(&request.source) {
                Ok(SkillSource::Registry { name, versions }) => wanted.push((name, versions)),
                _ => others.push(request),
            }
        }
        if wanted.is_empty() {
            return Ok((Vec::new(), others));
        }
        let locked = self.lock(scope)?;
        let fetched = self.fetch_from_registries(&wanted, &locked, RegistryFreshness::Hourly)?;
        Ok((fetched, others))
    }

    /// Chooses versions of skills that fit together, with the skills that they require, and downloads them.
    ///
    /// # Errors
    /// When no registry is configured or has a skill, when no versions are compatible, or when a registry fails or contradicts what is
    /// known of it.
    pub(crate) fn fetch_from_registries(
        &self,
        wanted: &[(String, VersionReq)],
        locked: &Lock,
        freshness: RegistryFreshness,
    ) -> Result<Vec<FetchedSkill>, Error> {
        if self.registries()?.is_empty() {
            return Err(no_registry());
        }
        let fetched = self.fetch_as_known(wanted, locked, freshness);
        let is_unknown = |error: &Error| matches!(error.code(), "not-found" | "version-conflict");
        match fetched {
            // It may have been published within the hour.
            Err(error) if freshness == RegistryFreshness::Hourly && is_unknown(&error) => {
                self.fetch_as_known(wanted, locked, RegistryFreshness::Now)
            }
            fetched => fetched,
        }
    }

    fn fetch_as_known(
        &self,
        wanted: &[(String, VersionReq)],
        locked: &Lock,
        freshness: RegistryFreshness,
    ) -> Result<Vec<FetchedSkill>, Error> {
        self.with_registries(freshness, |clients| {
            let choices = choose_versions(clients, wanted, locked).map_err(failed)?;
            for choice in &choices {
                check_lock(locked, clients[choice.registry].address(), &choice.version)?;
                self.note_yanked(&choice.version);
            }
            for client in clients.iter().filter(|client| client.is_stale()) {
                let line = format!(
                    "the registry {} can't be reached: its last known state is used",
                    client.address()
                );
                self.notices.notice(NoticeLevel::Warning, &line);
            }
            let what = format!("Downloading {}…", count(choices.len(), "skill"));
            let work = TaskProgress::new(WorkKind::Fetch, what).of(choices.len());
            let work = Arc::new(work);
            work.expect(choices.iter().map(|choice| choice.version.size).sum());
            let shown = self.notices.progress(&work);
            let mut fetched = download_all(clients, &choices, &work)?;
            drop(shown);
            for skill in &mut fetched {
                // A request for the same skill that also allows newer versions of what was asked for: the lock keeps this text.
                let range = wanted.iter().find(|(name, _)| *name == skill.name);
                if let Some((name, range)) = range.filter(|(_, range)| *range != VersionReq::STAR) {
                    skill.origin.source = format!("{name}@{range}");
                }
            }
            Ok(fetched)
        })
    }

    /// Warns about a withdrawn version, which is used only because it is installed already.
    fn note_yanked(&self, version: &RegistryVersion) {
        let Some(why) = &version.yanked else {
            return;
        };
        let (name, number) = (one_line(&version.name), one_line(&version.version));
        let line = format!(
            "`{name}` {number} was withdrawn from its registry: {}",
            one_line(why)
        );
        self.notices.notice(NoticeLevel::Warning, &line);
    }

    /// The files of a locked version, even of a yanked one.
    ///
    /// # Errors
    /// When no registry has the version, or its digest differs from the lock.
    pub(crate) fn locked_from_registry(
        &self,
        name: &str,
        locked: &LockedSkill,
    ) -> Result<PackageTree, Error> {
        let number = locked.version.as_ref().map(Version::to_string);
        let addresses = self.registries()?;
        if addresses.is_empty() {
            return Err(no_registry());
        }
        let lock = Lock {
            skills: BTreeMap::from([(name.to_owned(), locked.clone())]),
        };
        self.with_registries(RegistryFreshness::Hourly, |clients| {
            let of_lock = locked.registry.as_deref();
            let is_meant = |client: &&RegistryClient<'_>| {
                of_lock.is_none_or(|address| client.address().as_str() == address)
            };
            if let Some(registry) = of_lock.filter(|_| !clients.iter().any(|one| is_meant(&one))) {
                return Err(failed(RegistryClientError::NotConfigured {
                    name: name.to_owned(),
                    registry: registry.to_owned(),
                }));
            }
            for client in clients.iter().filter(is_meant) {
                let skill = client.skill(name).map_err(failed)?;
                let versions = skill.into_iter().flat_map(|skill| skill.versions);
                let mut same = versions.filter(|version| Some(&version.version) == number.as_ref());
                if let Some(version) = same.next() {
                    check_lock(&lock, client.address(), &version)?;
                    let fetched = client.connection().download(&version);
                    return Ok(fetched.map_err(failed)?.tree);
                }
            }
            let registries = addresses.iter().map(ToString::to_string).collect();
            Err(failed(RegistryClientError::NotFound {
                name: format!("{name}@{}", number.clone().unwrap_or_default()),
                registries,
            }))
        })
    }

    /// Checks a token and keeps it for a registry; with `dry_run` it is only checked.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let account = workspace.login("https://skills.example", "TOKEN", false)?;
    /// println!("{} with {}", account.owner, account.scope);
    /// workspace.logout("https://skills.example", false)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the registry can't be reached or does not know the token, or the token can't be kept.
    pub fn login(
        &self,
        registry: &str,
        token: &str,
        dry_run: bool,
    ) -> Result<RegistryAccount, Error> {
        let address = RegistryAddress::parse(registry).map_err(failed)?;
        let token = token.trim();
        if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
            return Err(Error::unmet("token", "not a valid token"));
        }
        let account = self.with_registry(&address, Some(token.to_owned()), |client| {
            client.connection().account().map_err(failed)
        })?;
        let mut tokens = self.registry_tokens()?;
        tokens.insert(address.to_string(), token.to_owned());
        if !dry_run {
            self.write_tokens(&tokens)?;
        }
        Ok(account)
    }

    /// Forgets the token of a registry; returns whether there was one. With `dry_run` it is kept.
    ///
    /// An example is at [`Workspace::login`].
    ///
    /// # Errors
    /// When the tokens can't be read or written.
    pub fn logout(&self, registry: &str, dry_run: bool) -> Result<bool, Error> {
        let address = RegistryAddress::parse(registry).map_err(failed)?;
        let mut tokens = self.registry_tokens()?;
        let was_there = tokens.remove(address.as_str()).is_some();
        if was_there && !dry_run {
            self.write_tokens(&tokens)?;
        }
        Ok(was_there)
    }

    /// Packs a skill, or takes a `.skill` file, and publishes it. `password` is called if the key that signs is encrypted.
    ///
    /// ```no_run
    /// use metier::distribution::registry::PublishOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let options = PublishOptions { sign: true, ..PublishOptions::default() };
    /// let report = workspace.publish("skills/pdf", &options, &mut || Ok("the password of the key".to_owned()))?;
    /// if let Some(answer) = report.answer {
    ///     println!("{} {} is {:?} at {}", answer.name, answer.version, answer.status, report.registry);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill can't be packed, or the registry can't be reached or refuses it. A quarantined package is not an error.
    pub fn publish(
        &self,
        what: &str,
        options: &PublishOptions,
        password: &mut dyn FnMut() -> Result<String, Error>,
    ) -> Result<PublishReport, Error> {
        let address = self.one_registry(options.registry.as_deref())?;
        let room = QuarantineRoom::new(&self.quarantine_folder()?)
            .map_err(|error| Error::broken("not-written", error.to_string()))?;
        let (package, signer) = self.package_to_publish(what, options, room.path(), password)?;
        let size = package.bytes.len();
        let answer = match options.dry_run {
            true => None,
            false => Some(self.with_registry(&address, None, |client| {
                client.connection().publish(&package).map_err(failed)
            })?),
        };
        Ok(PublishReport {
            registry: address.to_string(),
            size,
            signer,
            answer,
        })
    }

    /// Yanks a version for a reason; without a reason it is available again. Returns the address of the registry and the version.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let (registry, version) = workspace.check_yanked("pdf", "1.2.0", None)?;
    /// println!("{} {} of {registry}", version.name, version.version);
    /// workspace.set_yanked("pdf", "1.2.0", Some("it writes outside the project"), None)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the registry can't be reached or refuses it.
    pub fn set_yanked(
        &self,
        name: &str,
        version: &str,
        reason: Option<&str>,
        registry: Option<&str>,
    ) -> Result<(String, RegistryVersion), Error> {
        let address = self.one_registry(registry)?;
        let version = self.with_registry(&address, None, |client| {
            let connection = client.connection();
            let changed = connection.set_yanked(name, version, reason);
            // The kept answer about the skill is from before this change, so it is fetched again. If that fails, the old one is used for an hour.
            client.skill(name).ok();
            changed.map_err(failed)
        })?;
        Ok((address.to_string(), version))
    }

    /// Checks that [`Workspace::set_yanked`] can change a version, which is returned as it is now. Only reads from the registry.
    ///
    /// An example is at [`Workspace::set_yanked`].
    ///
    /// # Errors
    /// When the registry can't be reached, does not have the version, or does not know the token.
    pub fn check_yanked(
        &self,
        name: &str,
        version: &str,
        registry: Option<&str>,
    ) -> Result<(String, RegistryVersion), Error> {
        let address = self.one_registry(registry)?;
        let found = self.with_registry(&address, None, |client| {
            client.connection().account().map_err(failed)?;
            client.skill(name).map_err(failed)
        })?;
        let versions = found.into_iter().flat_map(|skill| skill.versions);
        let mut same = versions.filter(|one| one.version == version);
        let found = same.next().ok_or_else(|| {
            failed(RegistryClientError::NotFound {
                name: format!("{name}@{version}"),
                registries: vec![address.to_string()],
            })
        })?;
        Ok((address.to_string(), found))
    }

    /// The registry that was named, or the first one of the configuration.
    fn one_registry(&self, named: Option<&str>) -> Result<RegistryAddress, Error> {
        match named {
            Some(text) => RegistryAddress::parse(text).map_err(failed),
            None => self
                .registries()?
                .into_iter()
                .next()
                .ok_or_else(no_registry),
        }
    }

    /// Works with the registries of the configuration.
    fn with_registries<T>(
        &self,
        freshness: RegistryFreshness,
        work: impl FnOnce(&[RegistryClient<'_>]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let addresses = self.registries()?;
        let mut tokens = self.registry_tokens()?;
        let store = StoredMemory(self.store()?);
        let transport = transport(&addresses)?;
        let clients: Vec<RegistryClient<'_>> = addresses
            .into_iter()
            .map(|address| {
                let token = tokens.remove(address.as_str());
                let now = self.seconds();
                RegistryClient::new(address, token, &transport, &store, now, freshness)
            })
            .collect();
        work(&clients)
    }

    /// Works with one registry, and with the token that is kept for it unless another one is given.
    fn with_registry<T>(
        &self,
        address: &RegistryAddress,
        token: Option<String>,
        work: impl FnOnce(&RegistryClient<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let token = match token {
            Some(token) => Some(token),
            None => self.registry_tokens()?.remove(address.as_str()),
        };
        let store = StoredMemory(self.store()?);
        let transport = transport(std::slice::from_ref(address))?;
        let (address, now) = (address.clone(), self.seconds());
        let freshness = RegistryFreshness::Now;
        work(&RegistryClient::new(
            address, token, &transport, &store, now, freshness,
        ))
    }

    fn seconds(&self) -> u64 {
        let since = self.machine.now.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }

    /// The tokens, by the address of the registry.
    fn registry_tokens(&self) -> Result<BTreeMap<String, String>, Error> {
        let file = self.data_folder()?.join(REGISTRY_TOKENS);
        let text = match metier_catalog::read_named(&file, MAX_TOKENS) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(BTreeMap::new());
            }
            Err(error) => {
                let message = format!("the tokens of registries can't be read: {error}");
                return Err(Error::broken("token", message).path(&file));
            }
        };
        serde_json::from_str(&text).map_err(|error| {
            let message = format!("the tokens of registries can't be read: {error}");
            Error::broken("token", message)
                .path(&file)
                .hint("remove the file, then: metier login URL")
        })
    }

    /// Replaces the file of the tokens as a whole. Only its owner can read it, from its first byte on.
    fn write_tokens(&self, tokens: &BTreeMap<String, String>) -> Result<(), Error> {
        let folder = self.data_folder()?;
        let file = folder.join(REGISTRY_TOKENS);
        let temporary = folder.join(format!("{REGISTRY_TOKENS}.{}.part", std::process::id()));
        let write = || {
            fs::create_dir_all(folder)?;
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            let mut out = options.open(&temporary)?;
            out.write_all(serde_json::to_string_pretty(tokens)?.as_bytes())?;
            out.sync_all()?;
            fs::rename(&temporary, &file)
        };
        write().map_err(|error: std::io::Error| {
            // It may not exist; the first error is the one to report.
            let _absent = fs::remove_file(&temporary);
            Error::unwritable(&file, &error)
        })
    }
}

/// Checks that a version of a registry has the digest that the lock states.
fn check_lock(
    locked: &Lock,
    registry: &RegistryAddress,
    version: &RegistryVersion,
) -> Result<(), Error> {
    let Some(known) = locked.skills.get(&version.name) else {
        return Ok(());
    };
    let is_same = known.version.as_ref().map(Version::to_string).as_ref() == Some(&version.version);
    let is_named = matches!(
        SkillSource::parse(&known.source),
        Ok(SkillSource::Registry { .. })
    );
    match known.archive {
        Some(archive) if is_same && is_named && archive.to_string() != version.archive => {
            Err(failed(RegistryClientError::OtherBytes {
                registry: registry.to_string(),
                name: version.name.clone(),
                version: version.version.clone(),
            })
            .skill(&version.name))
        }
        _ => Ok(()),
    }
}

/// Downloads several packages at the same time. The first problem ends it.
fn download_all(
    clients: &[RegistryClient<'_>],
    choices: &[RegistryChoice],
    work: &TaskProgress,
) -> Result<Vec<FetchedSkill>, Error> {
    let jobs: Vec<_> = choices
        .iter()
        .filter_map(|choice| Some((clients.get(choice.registry)?.connection(), &choice.version)))
        .collect();
    let share = jobs.len().div_ceil(PARALLEL).max(1);
    let parts: Vec<Result<Vec<FetchedSkill>, RegistryClientError>> = thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .chunks(share)
            .map(|jobs| {
                scope.spawn(|| {
                    let skills = jobs.iter().map(|(way, version)| {
                        let skill = way.download(version)?;
                        work.receive(version.size);
                        work.done.fetch_add(1, Ordering::Relaxed);
                        Ok(skill)
                    });
                    skills.collect::<Result<Vec<_>, _>>()
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                Err(RegistryClientError::Memory(MemoryFailure(
                    "a download failed".to_owned(),
                )))
            })
        });
        ended.collect()
    });
    let mut skills = Vec::new();
    for part in parts {
        skills.extend(part.map_err(failed)?);
    }
    Ok(skills)
}

fn transport(registries: &[RegistryAddress]) -> Result<impl RegistryTransport + use<>, Error> {
    HostTransport::new(registries).map_err(|error| Error::broken("registry-address", error))
}

fn no_registry() -> Error {
    Error::unmet("no-registry", "no registry is configured")
        .hint("metier config skills.registry_url https://…")
}

/// The error of a registry, with its facts as lines.
#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
fn failed(error: RegistryClientError) -> Error {
    let hint = error.hint();
    let result = match &error {
        RegistryClientError::Versions(conflict) => {
            let result = Error::unmet(error.code(), "no versions of these skills are compatible");
            let facts = conflict.facts.iter();
            facts.fold(result, |result, fact| result.detail(fact.clone()))
        }
        RegistryClientError::Memory(_) => Error::broken(error.code(), error.to_string()),
        _ => Error::unmet(error.code(), error.to_string()),
    };
    match hint {
        Some(hint) => result.hint(hint),
        None => result,
    }
}
