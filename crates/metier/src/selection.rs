//! Which skills fit a task, and why.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
    time::Duration,
};

use metier_catalog::{ProjectFiles, ProjectLimits, project_files};
use metier_runtime::{
    Status,
    finding::{FoundSkill, FoundSkills},
    selecting::{Candidates, ManifestReading},
};
use metier_select::{
    Situation,
    languages::{ProgrammingLanguage, SituationLanguage, detect},
    rules::{CODING_PIPELINE, NamedBesideTask, coding},
};

pub use metier_runtime::selecting::{Account, Gate, Pick, Selection, UnusableSkill};
pub use metier_select::{
    TriggerMatch, UsageMode as TaskMode,
    languages::DetectedProject,
    rules::{Coding, Incomplete, Risk, TaskFacts},
    search::{MatchPlace, SearchShare, TaskWord},
};

use crate::{
    Error, NoticeLevel, Skills, Workspace, explain,
    searching::{self, SEARCHED, SearchScope},
    text::{count, one_line, unused_ignore_file},
};

/// A task, and what is known about it.
///
/// [`Task::new`] is the usual task. `Task::default()` searches no texts and scans nothing: only triggers in manifests can match it.
///
/// An example is at [`Workspace::select`].
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The task, in the user's words.
    pub text: String,
    /// Files that it is about, in place of all files of the project.
    pub files: Vec<PathBuf>,
    /// Languages that it is about, in place of those of the files.
    pub languages: Vec<String>,
    /// How the agent is used.
    pub mode: TaskMode,
    /// Whether it is coding; without a value its words decide.
    pub coding: Option<bool>,
    /// The risk of the task. With a high one, skills that write or run commands must be named.
    pub risk: Risk,
    /// The field that it is in: a word of a skill's category or tags.
    pub domain: Option<String>,
    /// Whether names, descriptions and bodies are searched for the words of the task.
    pub by_text: bool,
    /// The requested number of skills. Without a number, those whose words match much less than the best are left out.
    pub top: Option<usize>,
    /// How long skills that were never scanned are scanned first; what is left is searched by name and description.
    pub scan_time: Duration,
}

impl Task {
    /// How long skills are scanned for a [`Task::new`], which has an example, unless the caller sets [`Task::scan_time`].
    pub const SCAN_TIME: Duration = Duration::from_secs(10);

    /// A task in words, as a person types it: names, descriptions and bodies of skills are searched for its words.
    ///
    /// ```
    /// use metier::selection::Task;
    ///
    /// let task = Task { top: Some(3), ..Task::new("fill in this PDF form") };
    /// assert!(task.by_text);
    /// assert_eq!(task.scan_time, Task::SCAN_TIME);
    /// ```
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            by_text: true,
            scan_time: Self::SCAN_TIME,
            ..Self::default()
        }
    }

    fn coding(&self) -> Coding {
        let files: Vec<_> = self
            .files
            .iter()
            .map(|file| file.to_string_lossy())
            .collect();
        let files: Vec<&str> = files.iter().map(|file| &**file).collect();
        let languages: Vec<&str> = self.languages.iter().map(String::as_str).collect();
        let (files, languages) = (&files[..], &languages[..]);
        match self.coding {
            Some(is_coding) => Coding::told(is_coding),
            None => coding(&self.text, NamedBesideTask { files, languages }),
        }
    }
}

/// A task compared with the skills of a workspace: the result of [`Workspace::select`] and [`Workspace::why`].
///
/// ```no_run
/// # use metier::selection::Task;
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let skills = workspace.skills()?;
/// let matches = workspace.why(&skills, Task::new("review this change"), None)?;
/// println!("{} of {} skills have a word of it", matches.matching(), skills.all().count());
/// for account in matches.accounts().0 {
///     let missing = matches.missing_words(&account).len();
///     println!("{:.2}, {missing} words missing, used in {:.1} sessions", account.score, matches.sessions_of(&account));
/// }
/// for near in matches.near_misses() {
///     println!("{} nearly fits: {}", near.name, near.why);
/// }
/// # Ok(())
/// # }
/// ```
pub struct TaskMatches {
    task: Task,
    skills: Skills,
    candidates: Candidates,
    coding: Coding,
    /// The files of the project, if a skill asks about them.
    files: Option<ProjectFiles>,
    detected: DetectedProject,
    seen: Vec<SituationLanguage>,
    /// The only skill that is asked about, by its entry.
    only: Option<usize>,
    /// The results of the search, best first.
    found: FoundSkills,
    /// How many skills could not be scanned in time.
    unscanned: usize,
    /// How much skills were used lately, by name.
    used: BTreeMap<String, f64>,
}

/// A skill that has words of a task, and too few of them to be picked.
///
/// The example of [`TaskMatches`] prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct NearMiss {
    /// Its name.
    pub name: String,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// The words of the task, and where they are.
    pub why: String,
}

impl TaskMatches {
    /// How many skills [`Self::near_misses`] returns at most.
    const NEAR: usize = 5;

    /// The task, in the user's words.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task.text
    }

    /// The skills, as they were judged, with the verdicts of scans that were made for the task.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// The skills that fit: those that the task requires in their order, then the best first; with what was held back or refused.
    ///
    /// An example is at [`Workspace::select`].
    #[must_use]
    pub fn selection(&self) -> Selection<'_> {
        self.in_situation(|situation, rules| self.candidates.select(situation, rules))
    }

    /// Every skill, or the one that was asked about, with the reasons for and against it; and what the task requires and can't have.
    ///
    /// The examples of [`TaskMatches`] and [`Workspace::why`] print them.
    #[must_use]
    pub fn accounts(&self) -> (Vec<Account<'_>>, Option<Incomplete>) {
        let (mut accounts, incomplete) =
            self.in_situation(|situation, rules| self.candidates.accounts(situation, rules));
        if let Some(only) = self.only {
            accounts.retain(|account| account.skill.entry == only);
        }
        (accounts, incomplete)
    }

    /// The number of skills that could be picked, because they are ready.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn considered(&self) -> usize {
        self.candidates.considered()
    }

    /// The rank of a skill in the search, from 1 on, and the positions of the task's words in it; none if it has no word of the task.
    ///
    /// The example of [`TaskMatches`] prints the words that are in none of them.
    #[must_use]
    pub fn search_shares(&self, account: &Account<'_>) -> Option<(usize, &[SearchShare])> {
        let mut found = self.found.skills.iter().enumerate();
        let (rank, found) = found.find(|(_, found)| {
            let skill = self.skills.inventory.skills.get(found.position);
            skill.is_some_and(|skill| skill.entry == account.skill.entry)
        })?;
        Some((rank + 1, &found.hit.shares))
    }

    /// The words of the task that no field of a skill has, and what each would be worth in its description, most first.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn missing_words(&self, account: &Account<'_>) -> Vec<TaskWord> {
        let shares = self
            .search_shares(account)
            .map_or(&[][..], |(_, shares)| shares);
        missing(&self.found.words.list, shares)
    }

    /// The best skills that have words of the task and were not picked, at most five.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn near_misses(&self) -> Vec<NearMiss> {
        let inventory = &self.skills.inventory;
        let (accounts, _) = self.accounts();
        let told = accounts.iter().filter(|account| account.score > 0.0);
        let told: BTreeSet<usize> = told.map(|account| account.skill.entry).collect();
        let rest = self.found.skills.iter().filter_map(|found| {
            let skill = inventory.skills.get(found.position)?;
            let is_pipeline = CODING_PIPELINE.contains(&&*inventory.entry(skill).name());
            (!told.contains(&skill.entry) && !is_pipeline).then_some((skill, found))
        });
        let misses = rest.take(Self::NEAR).map(|(skill, found)| {
            let signal = found.signal();
            NearMiss {
                name: inventory.entry(skill).name().into_owned(),
                score: signal.weight,
                why: signal.detail,
            }
        });
        misses.collect()
    }

    /// In how many sessions a skill did something lately; older ones count less, as in [`Workspace::skill_use`].
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn sessions_of(&self, account: &Account<'_>) -> f64 {
        let name = self.skills.inventory.entry(account.skill).name();
        self.used.get(&*name).copied().unwrap_or(0.0)
    }

    /// How many skills have a word of the task, of those that were returned.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn matching(&self) -> usize {
        self.found.skills.len()
    }

    /// How many skills were not scanned in time, and so are searched by name and description only.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn unscanned(&self) -> usize {
        self.unscanned
    }

    /// Whether the task is coding, with the evidence.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn coding(&self) -> &Coding {
        &self.coding
    }

    /// The project, if a skill asks about its files: their number, whether there are more, and the languages.
    ///
    /// An example is at [`TaskMatches`].
    #[must_use]
    pub fn project(&self) -> Option<(usize, bool, &DetectedProject)> {
        let listed = self.files.as_ref()?;
        Some((listed.files.len(), listed.truncated, &self.detected))
    }

    fn in_situation<T>(&self, ask: impl FnOnce(&Situation<'_>, &TaskFacts<'_>) -> T) -> T {
        let listed = self.files.iter().flat_map(|listed| &listed.files);
        let files: Vec<&str> = listed.map(String::as_str).collect();
        let situation = Situation {
            task: &self.task.text,
            files: &files,
            languages: &self.seen,
            mode: self.task.mode,
            explicit: &[],
        };
        let rules = TaskFacts {
            coding: self.coding.clone(),
            risk: self.task.risk,
            domain: self.task.domain.as_deref(),
        };
        ask(&situation, &rules)
    }
}

/// The words that are in no share, most points first.
pub(crate) fn missing(words: &[TaskWord], shares: &[SearchShare]) -> Vec<TaskWord> {
    let has = |word: &TaskWord| {
        let single = shares
            .iter()
            .filter(|share| share.place != MatchPlace::Pair);
        single.into_iter().any(|share| share.words == word.text)
    };
    let mut missing: Vec<TaskWord> = words.iter().filter(|word| !has(word)).cloned().collect();
    missing.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    missing
}

impl Workspace {
    /// The skills that fit a task. Only skills that can be used are picked.
    ///
    /// ```no_run
    /// use metier::selection::Task;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let matches = workspace.select(&skills, Task::new("fill in this PDF form"));
    /// for pick in matches.selection().picks {
    ///     println!("{:.2} {}", pick.score, skills.inventory().entry(pick.skill).name());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn select(&self, skills: &Skills, task: Task) -> TaskMatches {
        self.matches(skills, task, false, None)
    }

    /// Why skills were picked for a task and others were not; with a name, only about that skill.
    ///
    /// ```no_run
    /// use metier::selection::Task;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let matches = workspace.why(&skills, Task::new("review this change"), Some("review-pr"))?;
    /// for account in matches.accounts().0 {
    ///     println!("picked: {}, {} gates", account.picked, account.gates.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When no skill has that name.
    pub fn why(
        &self,
        skills: &Skills,
        task: Task,
        name: Option<&str>,
    ) -> Result<TaskMatches, Error> {
        let only = name.map(|name| explain::find(self, &skills.inventory, name));
        let only = only.transpose()?.map(|skill| skill.entry);
        Ok(self.matches(skills, task, true, only))
    }

    fn matches(
        &self,
        skills: &Skills,
        task: Task,
        everything: bool,
        only: Option<usize>,
    ) -> TaskMatches {
        let reading = ManifestReading {
            mode: self.mode(),
            max_bytes: self.config.limits.max_skill_bytes,
            threads: std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(8),
            everything,
            powers: task.risk != Risk::Low,
        };
        let (skills, unscanned) = match task.by_text {
            true => &self.scanned(skills, Some(task.scan_time)),
            false => &(skills.clone(), 0),
        };
        let finder = task.by_text.then(|| self.finder(skills, reading));
        let mut candidates = Candidates::read_beside(&skills.inventory, reading, finder.as_ref());
        let mut found = FoundSkills::default();
        if let Some(finder) = finder {
            let limit = match only {
                // The words of the one skill are shown, whatever its rank.
                Some(_) => skills.inventory.skills.len(),
                None => task.top.unwrap_or(0).max(SEARCHED),
            };
            let scope = match everything {
                true => SearchScope::Any(limit),
                false => SearchScope::Ready(limit),
            };
            (found, _) = self.hits(skills, finder, reading, &task.text, scope);
            let is_ready = |found: &FoundSkill| {
                let skill = skills.inventory.skills.get(found.position);
                skill.is_some_and(|skill| skill.status == Status::Ready)
            };
            let enough =
                searching::enough(found.skills.iter().filter(|one| is_ready(one)), task.top);
            // A skill that is not ready and matches equally well is shown with its obstacle.
            let picked = found.skills.iter().filter(|one| one.hit.points >= enough);
            candidates = candidates.with_found(picked.cloned(), found.words.clone());
        }
        let used = match everything {
            true => self.skill_use(),
            false => self.recent_use(),
        };
        if self.config.usage {
            candidates = candidates.with_use(used.clone());
        }
        let files = candidates.asks_about_files().then(|| self.files_for(&task));
        let names = files.iter().flat_map(|listed| &listed.files);
        let detected = detect(names.map(String::as_str));
        let named = task.languages.iter().map(|name| SituationLanguage {
            language: ProgrammingLanguage::new(name),
            because: "it was named".to_owned(),
        });
        let seen = match task.languages.as_slice() {
            [] => detected.seen(),
            _ => named.collect(),
        };
        TaskMatches {
            coding: task.coding(),
            task,
            skills: skills.clone(),
            unscanned: *unscanned,
            candidates,
            files,
            detected,
            seen,
            only,
            found,
            used,
        }
    }

    /// The files that a task is about. A file that was named needn't exist.
    fn files_for(&self, task: &Task) -> ProjectFiles {
        if !task.files.is_empty() {
            let given = task.files.iter();
            return ProjectFiles {
                files: given.map(|file| self.within_project(file)).collect(),
                ..ProjectFiles::default()
            };
        }
        let listed = project_files(&self.machine.project, ProjectLimits::default());
        let warn = |line: &str| self.notices.notice(NoticeLevel::Warning, &one_line(line));
        if listed.truncated {
            let files = count(listed.files.len(), "file");
            warn(&format!(
                "the project has more than the {files} that were inspected; name those that matter with `--file`"
            ));
        }
        if listed.unreadable > 0 {
            let folders = count(listed.unreadable, "folder");
            warn(&format!("{folders} of the project can't be read"));
        }
        for file in &listed.unused {
            warn(&unused_ignore_file(file));
        }
        listed
    }

    fn within_project(&self, file: &Path) -> String {
        let mut path = PathBuf::new();
        for component in self.machine.work.join(file).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    path.pop();
                }
                other => path.push(other),
            }
        }
        let relative = path
            .strip_prefix(&self.machine.project)
            .or_else(|_| path.strip_prefix("/"))
            .unwrap_or(&path);
        relative.to_string_lossy().into_owned()
    }
}
