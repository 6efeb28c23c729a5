//! Which skills of the inventory fit a task: their triggers against what is there now.
//!
//! Triggers are in the manifest, not on the card, so the manifests of the skills that could be picked are read, on several
//! threads; that is nearly all of the time it takes. Whoever asks about many tasks keeps the [`Candidates`].
//!
//! A skill is picked when something speaks for it and nothing stands in its way. What does is a [`Gate`]: a skill that is not
//! ready, blocked, switched off, shadowed or invalid is never picked, however well it fits, and `metier why` says so.

use std::{cmp::Ordering, panic::resume_unwind, thread};

use metier_catalog::Entry;
use metier_model::{Mode, Severity, Triggers, text::shell_word};
use metier_select::{Compiled, Considered, Match, Offer, Signal, Situation, score};

use crate::inventory::{Inventory, Skill, Status};

/// How manifests are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Lenient or strict.
    pub mode: Mode,
    /// The largest manifest.
    pub max_bytes: u64,
    /// How many threads read.
    pub threads: usize,
    /// Whether skills that can't be picked are read too, so that it can be said what would speak for them.
    pub everything: bool,
}

/// The skills of an inventory with their triggers, ready to be asked.
pub struct Candidates<'a> {
    inventory: &'a Inventory,
    /// By the position of the skill in the inventory.
    compiled: Compiled,
    /// Skills whose manifest is not what it was when they were found.
    changed: Vec<bool>,
    /// Skills that were asked for by name, as `source:name`.
    selected: Vec<String>,
}

/// A skill that fits.
#[derive(Clone, Debug)]
pub struct Pick<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// How well, between 0 and 1.
    pub score: f64,
    /// Why.
    pub why: Vec<Match>,
}

/// What a task comes to.
#[derive(Clone, Debug, Default)]
pub struct Selection<'a> {
    /// The skills that fit, best first.
    pub picks: Vec<Pick<'a>>,
    /// Skills that somebody named and that can't be picked, by name. One that is shadowed is not among them: the name
    /// means the other.
    pub refused: Vec<Refused<'a>>,
}

/// A skill that was named in vain.
#[derive(Clone, Debug)]
pub struct Refused<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// What stands in its way.
    pub gates: Vec<Gate>,
}

/// Why a skill was picked, or was not.
#[derive(Clone, Debug)]
pub struct Account<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Whether it was picked.
    pub picked: bool,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// What speaks for it, what doesn't, and what is wrong with its triggers.
    pub considered: Considered,
    /// What stands in its way; of one that doesn't fit, too.
    pub gates: Vec<Gate>,
}

impl Account<'_> {
    /// Whether the skill waits for anything at all.
    #[must_use]
    pub fn has_triggers(&self) -> bool {
        let mut matches = self.considered.matches.iter();
        !self.considered.misses.is_empty() || matches.any(|found| found.signal != Signal::Explicit)
    }
}

/// Something that keeps a skill from being picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// A stable word: the status of the skill, `reserved` or `changed`.
    pub kind: &'static str,
    /// In words.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What a manifest says about when its skill offers itself.
#[derive(Default)]
struct Told {
    triggers: Triggers,
    paths: Vec<Box<str>>,
    changed: bool,
}

/// The skills that fit, best first. For a single question; see [`Candidates`] for several.
#[must_use]
pub fn triggered<'a>(
    inventory: &'a Inventory,
    situation: &Situation<'_>,
    reading: Reading,
) -> Vec<Pick<'a>> {
    Candidates::read(inventory, reading).triggered(situation)
}

impl<'a> Candidates<'a> {
    /// Reads the triggers of the skills of an inventory.
    #[must_use]
    pub fn read(inventory: &'a Inventory, reading: Reading) -> Self {
        let skills = &inventory.skills;
        let per_thread = skills.len().div_ceil(reading.threads.max(1)).max(64);
        let read = |skills: &[Skill]| -> Vec<Told> {
            let told = |skill| told(inventory, skill, reading);
            skills.iter().map(told).collect()
        };
        let told: Vec<Told> = thread::scope(|scope| {
            let chunks = skills.chunks(per_thread);
            let running: Vec<_> = chunks
                .map(|chunk| scope.spawn(move || read(chunk)))
                .collect();
            let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .flat_map(|told| told.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let offers = skills.iter().zip(&told).map(|(skill, told)| {
            let entry = inventory.entry(skill);
            (entry.name(), entry.source, told)
        });
        let offers: Vec<_> = offers.collect();
        let selected = skills.iter().filter(|skill| skill.selected);
        Self {
            compiled: Compiled::new(offers.iter().map(|(name, source, told)| Offer {
                name,
                source: *source,
                triggers: &told.triggers,
                paths: &told.paths,
            })),
            changed: told.iter().map(|told| told.changed).collect(),
            selected: selected
                .map(|skill| inventory.entry(skill))
                .map(|entry| format!("{}:{}", entry.source, entry.name()))
                .collect(),
            inventory,
        }
    }

    /// Whether any skill asks about the files or languages of the project.
    #[must_use]
    pub fn asks_about_files(&self) -> bool {
        self.compiled.asks_about_files()
    }

    /// How many skills could be picked.
    #[must_use]
    pub fn considered(&self) -> usize {
        let skills = self.inventory.skills.iter();
        skills.filter(|skill| skill.status == Status::Ready).count()
    }

    /// The skills that fit, best first, then by name.
    #[must_use]
    pub fn triggered(&self, situation: &Situation<'_>) -> Vec<Pick<'a>> {
        self.select(situation).picks
    }

    /// The skills that fit, and those that somebody named in vain.
    #[must_use]
    pub fn select(&self, situation: &Situation<'_>) -> Selection<'a> {
        let explicit = self.explicit(situation);
        let situation = Situation {
            explicit: &explicit,
            ..*situation
        };
        let view = self.compiled.look(&situation);
        let mut picks: Vec<Pick<'a>> = Vec::new();
        let mut refused = Vec::new();
        for (position, skill) in self.inventory.skills.iter().enumerate() {
            let why = view.matches(position);
            if why.is_empty() {
                continue;
            }
            let gates = self.gates(position, skill, &why);
            let named = is_named(&why) && skill.status != Status::Shadowed;
            if gates.is_empty() {
                let score = score(&why);
                picks.push(Pick { skill, score, why });
            } else if named {
                refused.push(Refused { skill, gates });
            }
        }
        picks.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then_with(|| self.by_name(a.skill, b.skill))
        });
        refused.sort_by(|a, b| self.by_name(a.skill, b.skill));
        Selection { picks, refused }
    }

    /// Every skill with the reasons for and against it: those that were picked first, best first.
    #[must_use]
    pub fn accounts(&self, situation: &Situation<'_>) -> Vec<Account<'a>> {
        let explicit = self.explicit(situation);
        let situation = Situation {
            explicit: &explicit,
            ..*situation
        };
        let view = self.compiled.look(&situation);
        let skills = self.inventory.skills.iter().enumerate();
        let mut accounts: Vec<Account<'a>> = skills
            .map(|(position, skill)| {
                let considered = view.consider(position);
                let gates = self.gates(position, skill, &considered.matches);
                Account {
                    skill,
                    picked: gates.is_empty() && !considered.matches.is_empty(),
                    score: score(&considered.matches),
                    considered,
                    gates,
                }
            })
            .collect();
        accounts.sort_by(|a, b| {
            let by_pick = b.picked.cmp(&a.picked);
            by_pick
                .then_with(|| b.score.total_cmp(&a.score))
                .then_with(|| self.by_name(a.skill, b.skill))
        });
        accounts
    }

    fn by_name(&self, a: &Skill, b: &Skill) -> Ordering {
        let (a, b) = (self.inventory.entry(a), self.inventory.entry(b));
        (a.name(), b.source).cmp(&(b.name(), a.source))
    }

    fn explicit<'s>(&'s self, situation: &Situation<'s>) -> Vec<&'s str> {
        let named = situation.explicit.iter().copied();
        named
            .chain(self.selected.iter().map(String::as_str))
            .collect()
    }

    fn gates(&self, position: usize, skill: &Skill, matches: &[Match]) -> Vec<Gate> {
        let entry = self.inventory.entry(skill);
        let mut gates = status_gates(self.inventory, skill);
        if self.changed.get(position) == Some(&true) {
            gates.push(Gate {
                kind: "changed",
                message: "it has changed since it was found".to_owned(),
                hint: Some(validate(entry)),
            });
        }
        let reserved = entry
            .card
            .as_ref()
            .is_some_and(|card| !card.model_invocable);
        if reserved && !is_named(matches) {
            gates.push(Gate {
                kind: "reserved",
                message: "only people may choose it (`disable-model-invocation`)".to_owned(),
                hint: Some(format!("name it in the task: /{}", entry.name())),
            });
        }
        gates
    }
}

fn is_named(matches: &[Match]) -> bool {
    let mut matches = matches.iter();
    matches.any(|found| found.signal == Signal::Explicit)
}

/// What stands in the way of a skill, whatever the task.
fn status_gates(inventory: &Inventory, skill: &Skill) -> Vec<Gate> {
    let entry = inventory.entry(skill);
    let kind = skill.status.as_str();
    let gate = |message: &str, hint: Option<String>| Gate {
        kind,
        message: message.to_owned(),
        hint,
    };
    match skill.status {
        Status::Ready => Vec::new(),
        Status::Shadowed => {
            let winner = skill
                .shadowed_by
                .map(|winner| &inventory.catalog.entries[winner]);
            let place = winner.map(|winner| winner.place.path().display().to_string());
            let place = place.unwrap_or_default();
            vec![gate(
                &format!("another skill of its name wins: {place}"),
                None,
            )]
        }
        Status::Invalid => {
            let mut errors = entry.diagnostics.iter();
            let error = errors.find(|diagnostic| diagnostic.severity == Severity::Error);
            let why = error.map_or("it can't be read", |error| &error.message);
            vec![gate(why, Some(validate(entry)))]
        }
        Status::NotReady | Status::Blocked | Status::Disabled => {
            let reasons = skill.reasons.iter();
            let gate = |reason: &metier_policy::Reason| {
                gate(&reason.message, reason.hint.as_deref().map(str::to_owned))
            };
            reasons.map(gate).collect()
        }
    }
}

/// Reads the triggers of one skill, as they are on disk now.
fn told(inventory: &Inventory, skill: &Skill, reading: Reading) -> Told {
    let entry = inventory.entry(skill);
    let wanted = skill.status == Status::Ready || reading.everything;
    if entry.card.is_none() || !wanted {
        return Told::default();
    }
    let loaded = entry.load(reading.mode, reading.max_bytes);
    let manifest = loaded.ok().and_then(|(parsed, _)| parsed.manifest);
    match manifest {
        // A folder that was written to meanwhile may hold another skill.
        Some(manifest) if *manifest.card.name == *entry.name() => Told {
            triggers: manifest.triggers,
            paths: manifest.invocation.paths,
            changed: false,
        },
        _ => Told {
            changed: true,
            ..Told::default()
        },
    }
}

fn validate(entry: &Entry) -> String {
    let path = entry.place.path();
    format!("metier validate {}", shell_word(&path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::SystemTime};

    use metier_catalog::{Host, Limits, Options, Root, discover};
    use metier_config::load;
    use metier_model::Source;
    use proptest::prelude::*;

    use super::*;
    use crate::{scanning::Unscreened, survey};

    const READING: Reading = Reading {
        mode: Mode::Lenient,
        max_bytes: 1 << 20,
        threads: 2,
        everything: false,
    };

    fn skill(root: &Path, name: &str, front: &str) {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        let text = format!("---\nname: {name}\ndescription: Does.\n{front}\n---\n");
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn inventory(root: &Path, selection: &[&str]) -> Inventory {
        let options = Options {
            mode: Mode::Lenient,
            limits: Limits {
                max_skills: 1000,
                max_entries: 1000,
                max_skill_bytes: 1 << 20,
                max_depth: 8,
                max_root_time: std::time::Duration::from_secs(60),
            },
            threads: 1,
            index: None,
            now: SystemTime::UNIX_EPOCH,
            builtins: false,
            progress: None,
        };
        let roots = vec![Root::explicit(Source::User, root.to_owned())];
        let setting = |_: &str| false;
        let host = Host::new(None, Default::default(), &setting, None);
        let selection: Vec<String> = selection.iter().map(|name| (*name).to_owned()).collect();
        let config = load(Vec::new()).config;
        let catalog = discover(roots, &options);
        survey(
            catalog,
            &config,
            &host,
            Mode::Lenient,
            &selection,
            &Unscreened,
        )
    }

    fn situation(task: &str) -> Situation<'_> {
        Situation {
            task,
            files: &[],
            languages: &[],
            mode: metier_select::Mode::Interactive,
            explicit: &[],
        }
    }

    fn names(inventory: &Inventory, task: &str) -> Vec<String> {
        let picks = triggered(inventory, &situation(task), READING);
        let name = |pick: &Pick<'_>| inventory.entry(pick.skill).name().into_owned();
        picks.iter().map(name).collect()
    }

    #[test]
    fn picks_come_by_score_and_then_by_name() {
        let root = tempfile::tempdir().unwrap();
        skill(root.path(), "b", "triggers: {keywords: [one]}");
        skill(root.path(), "a", "triggers: {keywords: [one]}");
        skill(root.path(), "c", "triggers: {keywords: [one, two]}");
        skill(root.path(), "d", "");
        let plain = inventory(root.path(), &[]);
        assert_eq!(names(&plain, "one and two"), ["c", "a", "b"]);
        assert_eq!(names(&plain, "none"), [""; 0]);
        let selected = inventory(root.path(), &["d", "user:b"]);
        assert_eq!(names(&selected, "one"), ["b", "d", "a", "c"]);
    }

    #[test]
    fn a_skill_that_changed_under_our_hands_is_not_picked() {
        let root = tempfile::tempdir().unwrap();
        skill(root.path(), "a", "triggers: {keywords: [one]}");
        let before = inventory(root.path(), &[]);
        let other =
            "---\nname: other\ndescription: Is another.\ntriggers: {keywords: [one]}\n---\n";
        fs::write(root.path().join("a/SKILL.md"), other).unwrap();
        assert_eq!(names(&before, "one /a"), [""; 0]);
        let candidates = Candidates::read(&before, READING);
        let refused = candidates.select(&situation("/a")).refused;
        assert_eq!(refused[0].gates[0].kind, "changed");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// What is picked is what `why` calls picked, in the same order, and only what is ready.
        #[test]
        fn why_tells_the_same_as_select(task in "(one|two|three|/s[0-9]| ){0,5}") {
            let root = tempfile::tempdir().unwrap();
            for (number, word) in ["one", "two", "three"].iter().cycle().take(9).enumerate() {
                let hidden = ["", "disable-model-invocation: true\n"][usize::from(number > 6)];
                let needs = ["", "metadata: {openclaw: {requires: {bins: [absent]}}}\n"][number % 2];
                let front = format!("{hidden}{needs}triggers: {{keywords: [{word}]}}");
                skill(root.path(), &format!("s{number}"), &front);
            }
            let inventory = inventory(root.path(), &[]);
            let picks = triggered(&inventory, &situation(&task), READING);
            let all = Candidates::read(&inventory, Reading { everything: true, ..READING });
            let accounts = all.accounts(&situation(&task));
            prop_assert_eq!(accounts.len(), 9);
            let told: Vec<usize> = accounts.iter().filter(|account| account.picked).map(|account| account.skill.entry).collect();
            let picked: Vec<usize> = picks.iter().map(|pick| pick.skill.entry).collect();
            prop_assert_eq!(told, picked);
            prop_assert!(picks.iter().all(|pick| pick.skill.status == Status::Ready && pick.score > 0.0));
        }
    }
}
