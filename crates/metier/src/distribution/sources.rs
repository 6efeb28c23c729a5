//! Opening sources: what they offer, and which of it is installed.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use metier_hub::{
    GitSource, SkillSource,
    fetch::{
        self, AccessSettings, FetchError, FetchProgress, FetchStep, FetchedSkill, HostAccess,
        OpenedSource, SourceLimits,
    },
};

pub use metier_hub::fetch::{OfferKind, SkillOffer};
use metier_runtime::near_names;

use super::{
    checking::folder_name,
    places::InstallScope,
    plan::{InstallOptions, InstallPlan},
};
use crate::{
    Error, TaskProgress, WorkKind, Workspace,
    text::{count, one_line, shell_word, shortened},
};

/// How many skills of a source are named in an error.
const MAX_NAMED: usize = 40;

/// How many characters of a description are shown in a list of offers.
const MAX_ABOUT: usize = 70;

/// A source as it was typed, and which of its skills are asked for.
///
/// An example is at [`Workspace::prepare_install`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRequest {
    /// The source: a folder, an archive, `owner/repo`, a URL, or the name of a skill in a registry.
    pub source: String,
    /// The names of skills in it; without any, the only one.
    pub names: Vec<String>,
    /// Every skill in it.
    pub all: bool,
}

/// Asks which skills of a source to install when none was named: the positions of the chosen ones, or `None` if there is no terminal to ask on.
///
/// ```
/// use metier::distribution::OfferChooser;
///
/// let all: OfferChooser<'_> = &|_source, offers| Some((0..offers.len()).collect());
/// assert_eq!(all("owner/repo", &[]), Some(Vec::new()));
/// ```
pub type OfferChooser<'c> = &'c dyn Fn(&str, &[SkillOffer]) -> Option<Vec<usize>>;

/// The skills that were read from all sources.
#[derive(Default)]
pub(crate) struct FetchedSkills {
    pub(crate) skills: Vec<FetchedSkill>,
    /// Items that sources name but don't contain, such as a plugin in another repository.
    pub(crate) notes: Vec<String>,
    /// Skills of a source of which everything was asked for that can't be installed, and why.
    pub(crate) missing: Vec<String>,
}

impl FetchedSkills {
    fn extend(&mut self, other: Self) {
        self.skills.extend(other.skills);
        self.notes.extend(other.notes);
        self.missing.extend(other.missing);
    }

    /// One name has one folder. The same files twice are one skill; of different ones none is chosen, and each is named with what to type.
    fn separate_names(&mut self, typed: &dyn Fn(&str) -> String) {
        let mut by_name: BTreeMap<String, Vec<FetchedSkill>> = BTreeMap::new();
        let mut names = Vec::new();
        for skill in self.skills.drain(..) {
            let name = folder_name(&skill.name).unwrap_or_else(|| skill.name.clone());
            let same = by_name.entry(name.clone()).or_default();
            if same.is_empty() {
                names.push(name);
            }
            if same.iter().all(|one| one.tree != skill.tree) {
                same.push(skill);
            }
        }
        for name in names {
            match by_name.remove(&name).unwrap_or_default() {
                same if same.len() == 1 => self.skills.extend(same),
                several => {
                    let commands = several.iter().map(|one| typed(&one.origin.source));
                    let commands: Vec<String> = commands.collect();
                    self.missing.push(format!(
                        "{} skills have the name `{}`: choose with {}",
                        several.len(),
                        one_line(&name),
                        commands.join(" or ")
                    ));
                }
            }
        }
    }
}

impl Workspace {
    /// Fetches skills, validates and scans them in quarantine, and compares them with what is installed. Nothing is installed yet.
    ///
    /// ```no_run
    /// use metier::distribution::{InstallDecision, InstallOptions, SourceRequest};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let request = SourceRequest { source: "./my-skill".into(), ..SourceRequest::default() };
    /// let plan = workspace.prepare_install(&[request], InstallOptions::default(), &|_, _| None)?;
    /// let card = &plan.skills()[0].card;
    /// println!("{} asks for {} permissions", card.name, card.permissions.len());
    /// let decision = InstallDecision::agree(card);
    /// plan.apply(&[decision])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a source can't be fetched, when it does not contain a skill that was named, when it contains several and none was chosen, or
    /// when a rule of the user's own for the scanner is wrong.
    pub fn prepare_install(
        &self,
        requests: &[SourceRequest],
        options: InstallOptions,
        choose: OfferChooser<'_>,
    ) -> Result<InstallPlan, Error> {
        self.check_scope(options.scope)?;
        let requests: Vec<SourceRequest> = requests.iter().map(|one| self.with_path(one)).collect();
        let requests = requests.as_slice();
        for request in requests {
            self.check_meaning(&request.source, options.scope)?;
        }
        let resolved = self.resolve_named(requests, options.scope);
        let (named, requests) =
            resolved.map_err(|error| self.or_folder(error, requests, options.scope))?;
        let mut all = FetchedSkills {
            skills: named,
            ..FetchedSkills::default()
        };
        for request in &requests {
            all.extend(self.fetch_skills(request, options.scope, choose)?);
        }
        if requests.iter().any(|request| request.all) {
            all.separate_names(&|source| {
                let source = self.typed_source(source);
                format!("`metier {} {source}`", options.scope.verb())
            });
        }
        let mut plan = self.plan_skills(options.scope.verb(), all.skills, options.scope)?;
        plan.is_partial = !all.missing.is_empty();
        plan.left_out = all.notes;
        plan.left_out.extend(all.missing);
        Ok(plan)
    }

    /// A word that is not a source but the name of a file here, such as `pdf.skill`, is that file.
    fn with_path(&self, request: &SourceRequest) -> SourceRequest {
        let source = &request.source;
        let is_file = || self.machine.work.join(source).is_file();
        let source = match SkillSource::parse(source) {
            Err(_) if is_file() => format!("./{source}"),
            _ => source.clone(),
        };
        SourceRequest {
            source,
            ..request.clone()
        }
    }

    /// A word such as `skills/pdf` is a repository; if it is also a folder here, the user has to choose.
    fn check_meaning(&self, source: &str, scope: InstallScope) -> Result<(), Error> {
        let is_short = source.matches('/').count() > 0 && !source.contains(':');
        let parsed = SkillSource::parse(source);
        let is_repository = matches!(parsed, Ok(SkillSource::Git(_))) && is_short;
        if !is_repository || !self.machine.work.join(source).exists() {
            return Ok(());
        }
        let (shown, word) = (one_line(source), shell_word(source));
        let message = format!("`{shown}` is a folder here, and could also be a repository");
        let verb = scope.verb();
        Err(Error::unmet("ambiguous", message).hint(format!(
            "for the folder: metier {verb} ./{word}; for the repository: metier {verb} github.com/{word}"
        )))
    }

    /// A folder that was typed like the name of a skill in a registry.
    fn or_folder(&self, error: Error, requests: &[SourceRequest], scope: InstallScope) -> Error {
        let is_unknown = matches!(error.code(), "no-registry" | "not-found");
        let mut requests = requests.iter();
        let folder = requests.find(|request| {
            let folder = self.machine.work.join(&request.source);
            let manifests = ["SKILL.md", "SKILL.yaml"];
            manifests.iter().any(|name| folder.join(name).is_file())
        });
        match folder.filter(|_| is_unknown) {
            None => error,
            Some(request) => {
                let word = shell_word(&request.source);
                error.hint(format!("for the folder: metier {} ./{word}", scope.verb()))
            }
        }
    }

    /// A source of a lock or a plan as a word of a command. A path below the working directory begins with `./`: without that it would be a
    /// repository.
    pub(crate) fn typed_source(&self, source: &str) -> String {
        let below = Path::new(source).strip_prefix(&self.machine.work);
        let typed = match below {
            Ok(below) => format!("./{}", below.display()),
            Err(_) => source.to_owned(),
        };
        shell_word(&one_line(&typed)).into_owned()
    }

    /// The home directory is not a project: its folder of skills is the user's.
    pub(crate) fn check_scope(&self, scope: InstallScope) -> Result<(), Error> {
        let is_home = self.machine.home.as_deref() == Some(&*self.machine.project);
        match scope == InstallScope::Project && is_home {
            true => Err(
                Error::unmet("not-a-project", "your home directory is not a project")
                    .hint("cd into a project, or install the skill for yourself: metier install"),
            ),
            false => Ok(()),
        }
    }

    /// Lists the skills and plugins that a source offers. It is fetched for that, and nothing of it is kept.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for offer in workspace.offers("owner/repo")? {
    ///     println!("{}: {}", offer.name, offer.description);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it can't be fetched, or offers nothing.
    pub fn offers(&self, source: &str) -> Result<Vec<SkillOffer>, Error> {
        self.with_source(source, |opened| Ok(opened.offers().to_vec()))
    }

    /// Reads the skills of one source.
    pub(crate) fn fetch_skills(
        &self,
        request: &SourceRequest,
        scope: InstallScope,
        choose: OfferChooser<'_>,
    ) -> Result<FetchedSkills, Error> {
        self.with_source(&request.source, |opened| {
            let offers = opened.offers();
            let chosen = chosen(request, offers, scope, choose)?;
            let chosen: Vec<&SkillOffer> = chosen.into_iter().map(|at| &offers[at]).collect();
            let mut all = FetchedSkills {
                notes: opened.left_out().to_vec(),
                ..FetchedSkills::default()
            };
            for (offer, read) in chosen.iter().zip(opened.read_all(&chosen)) {
                match read {
                    Ok(fetched) => all.skills.push(fetched),
                    Err(error @ FetchError::Stopped) => return Err(not_fetched(&error)),
                    Err(error) if request.all && chosen.len() > 1 => {
                        all.missing
                            .push(format!("`{}` is not installed: {error}", offer.name));
                    }
                    Err(error) => return Err(not_fetched(&error)),
                }
            }
            Ok(all)
        })
    }

    /// Opens a source and closes it again.
    pub(crate) fn with_source<T>(
        &self,
        source: &str,
        work: impl FnOnce(&OpenedSource<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let parsed = SkillSource::parse(source).map_err(|error| {
            Error::broken("source", error.to_string()).hint(error.hint().to_owned())
        })?;
        let parsed = match parsed {
            SkillSource::Path(path) if path.is_relative() && !path.starts_with("~") => {
                SkillSource::Path(self.machine.work.join(path))
            }
            parsed => parsed,
        };
        let access = self.source_access()?;
        let what = format!("Fetching {}…", one_line(source));
        let fetching = Arc::new(TaskProgress::new(WorkKind::Fetch, what));
        let _shown = self.notices.progress(&fetching);
        let progress = FetchedSoFar::new(&fetching, &self.settings.stop);
        let limits = SourceLimits::default();
        let opened = fetch::open(&parsed, &access, &limits, &progress);
        work(&opened.map_err(|error| not_fetched(&error))?)
    }

    /// Access to sources: git in the sandbox, and requests with checked addresses.
    pub(crate) fn source_access(&self) -> Result<HostAccess, Error> {
        let launcher = self.worker_program()?;
        Ok(HostAccess::new(AccessSettings {
            launcher,
            quarantine: self.quarantine_folder()?,
            path: self.machine.path.clone().unwrap_or_default(),
            home: self.machine.home.clone(),
            environment: std::env::vars_os().collect(),
            stop: Some(Arc::clone(&self.settings.stop)),
        }))
    }
}

/// Counts the skills that were read, and the bytes of all downloads.
pub(crate) struct FetchedSoFar {
    work: Arc<TaskProgress>,
    /// The bytes that were received from each address, and whether its size was announced.
    addresses: Mutex<BTreeMap<String, (u64, bool)>>,
    stop: Arc<AtomicBool>,
}

impl FetchedSoFar {
    pub(crate) fn new(work: &Arc<TaskProgress>, stop: &Arc<AtomicBool>) -> Self {
        Self {
            stop: Arc::clone(stop),
            work: Arc::clone(work),
            addresses: Mutex::default(),
        }
    }
}

impl FetchProgress for FetchedSoFar {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn report(&self, step: FetchStep<'_>) {
        match step {
            FetchStep::Opening { .. } => {}
            FetchStep::Read { .. } => {
                self.work.done.fetch_add(1, Ordering::Relaxed);
            }
            FetchStep::Bytes {
                source,
                received,
                total,
            } => {
                let addresses = self.addresses.lock();
                let mut addresses = addresses.unwrap_or_else(PoisonError::into_inner);
                let (before, is_announced) = addresses.entry(source.to_owned()).or_default();
                // A restarted download was counted already.
                self.work.receive(received.saturating_sub(*before));
                *before = received.max(*before);
                if let (Some(total), false) = (total, *is_announced) {
                    *is_announced = true;
                    self.work.expect(total);
                }
            }
        }
    }
}

/// The positions of the offers that are asked for.
fn chosen(
    request: &SourceRequest,
    offers: &[SkillOffer],
    scope: InstallScope,
    choose: OfferChooser<'_>,
) -> Result<Vec<usize>, Error> {
    if !request.names.is_empty() {
        let named = |name: &String| named(request, offers, name, scope);
        return request.names.iter().map(named).collect();
    }
    let skills: Vec<usize> = (0..offers.len())
        .filter(|at| offers[*at].kind == OfferKind::Skill)
        .collect();
    match (offers.len(), skills.as_slice()) {
        (1, _) => Ok(vec![0]),
        (_, [only]) => Ok(vec![*only]),
        _ if request.all => Ok(skills),
        _ => {
            let shown: Vec<SkillOffer> = skills.iter().map(|at| offers[*at].clone()).collect();
            match choose(&request.source, &shown) {
                Some(picked) => Ok(picked
                    .into_iter()
                    .filter_map(|at| skills.get(at).copied())
                    .collect()),
                None => Err(several(request, offers, scope)),
            }
        }
    }
}

/// The offer that a skill of a lock was installed from: the only one, or the one with its name.
pub(crate) fn locked_offer<'o>(offers: &'o [SkillOffer], name: &str) -> Option<&'o SkillOffer> {
    match offers {
        [only] => Some(only),
        many => many
            .iter()
            .find(|offer| folder_name(&offer.name).as_deref() == Some(name)),
    }
}

/// The offer with a given name or folder: all of its path, or the last part.
fn named(
    request: &SourceRequest,
    offers: &[SkillOffer],
    name: &str,
    scope: InstallScope,
) -> Result<usize, Error> {
    let by = |is: &dyn Fn(&SkillOffer) -> bool| -> Vec<usize> {
        (0..offers.len()).filter(|at| is(&offers[*at])).collect()
    };
    let mut found = by(&|offer| offer.name == name && offer.kind == OfferKind::Skill);
    if found.is_empty() {
        found = by(&|offer| offer.name == name || offer.folder == name);
    }
    if found.is_empty() {
        found = by(&|offer| offer.folder.rsplit('/').next() == Some(name));
    }
    let source = one_line(&request.source);
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let message = format!("`{source}` has no skill `{}`", one_line(name));
            let error = Error::unmet("unknown-skill", message).skill(name);
            let names = offers.iter().map(|offer| offer.name.as_str());
            let near: Vec<String> = near_names(name, names)
                .iter()
                .map(|near| format!("`{}`", one_line(near)))
                .collect();
            Err(match near.is_empty() {
                true => with_offers(error, offers).hint("name one of these"),
                false => error.hint(format!("did you mean {}?", near.join(" or "))),
            })
        }
        many => {
            let message = format!("`{source}` has several skills `{}`", one_line(name));
            let error = Error::unmet("ambiguous", message).skill(name);
            let folders = many.iter().map(|at| offers[*at].folder.as_str());
            let error = folders.fold(error, |error, folder| error.detail(one_line(folder)));
            Err(error.hint(format!(
                "name the folder instead of the skill: metier {} {}",
                scope.verb(),
                in_folder(&request.source, &offers[many[0]].folder)
            )))
        }
    }
}

/// One folder of a source, as it is typed: part of the address, or after an archive or a site the last part of the folder's path.
fn in_folder(source: &str, folder: &str) -> String {
    let word = |text: &str| shell_word(&one_line(text)).into_owned();
    match SkillSource::parse(source) {
        Ok(SkillSource::Git(git)) => {
            let whole = [git.folder.as_str(), folder].join("/");
            let folder = whole.trim_start_matches('/').to_owned();
            word(&SkillSource::Git(GitSource { folder, ..git }).to_string())
        }
        Ok(SkillSource::Path(path)) if path.extension().is_none() => {
            word(&format!("{}/{folder}", source.trim_end_matches('/')))
        }
        _ => {
            let last = folder.rsplit('/').next().unwrap_or(folder);
            format!("{} {}", word(source), word(last))
        }
    }
}

fn several(request: &SourceRequest, offers: &[SkillOffer], scope: InstallScope) -> Error {
    let source = one_line(&request.source);
    let message = format!("`{source}` has {}", count(offers.len(), "skill"));
    let hint = format!(
        "name those that you need, as in `metier {} {} {}`, or all of them with --all",
        scope.verb(),
        shell_word(&request.source),
        offers.first().map_or("NAME", |offer| &offer.name)
    );
    let error = with_offers(Error::unmet("several", message), offers).hint(hint);
    let skills = offers.iter().filter(|offer| offer.kind == OfferKind::Skill);
    skills.fold(error, |error, offer| {
        error.choice(
            &offer.name,
            shortened(&one_line(&offer.description), 2 * MAX_ABOUT),
        )
    })
}

fn with_offers(error: Error, offers: &[SkillOffer]) -> Error {
    let lines = offers.iter().take(MAX_NAMED).map(|offer| {
        format!(
            "{} - {}",
            one_line(&offer.name),
            shortened(&one_line(&offer.description), MAX_ABOUT)
        )
    });
    let error = lines.fold(error, Error::detail);
    match offers.len().saturating_sub(MAX_NAMED) {
        0 => error,
        more => error.detail(format!("… and {more} more")),
    }
}

/// A source that could not be fetched, as an error with what to do.
pub(crate) fn not_fetched(error: &FetchError) -> Error {
    let message = error.to_string();
    if matches!(error, FetchError::Stopped) {
        return Error::interrupted(message);
    }
    let failure = Error::unmet("not-fetched", message);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

impl Workspace {
    /// Set it to stop fetching and waiting; see [`Settings::stop`](crate::Settings::stop).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let stop = std::sync::Arc::clone(workspace.stop());
    /// std::thread::spawn(move || stop.store(true, std::sync::atomic::Ordering::Relaxed));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.settings.stop
    }

    /// An error if the user stopped the work. A change that has begun is completed.
    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        match self.settings.stop.load(Ordering::Relaxed) {
            true => Err(Error::interrupted("stopped; nothing was changed")),
            false => Ok(()),
        }
    }
}
