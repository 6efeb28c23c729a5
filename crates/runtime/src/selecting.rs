//! The skills of the inventory that match a task, by their triggers.
//!
//! Triggers are in the manifest, not on the card, so the manifests of all candidates are read, on several threads; that takes nearly
//! all of the time. Callers with many tasks keep the [`Candidates`].
//!
//! A skill is picked when a signal matches and no [`Gate`] blocks it: a skill that is not ready, blocked, disabled, shadowed or
//! invalid is never picked, however well it matches, and `metier why` reports that. Rules ([`metier_select::rules`]) add to both
//! sides: they require skills, and hold back those that are too powerful for the risk.

use std::{cmp::Ordering, collections::BTreeMap, panic::resume_unwind, sync::Arc, thread};

use metier_catalog::{CatalogEntry, FileEntry};
use metier_model::{
    DiagnosticSeverity, SkillManifest, Strictness, Triggers,
    template::{self, BodyPiece, Placeholders},
    text::shell_word,
};
use metier_select::{
    CompiledTriggers, Considered, Signal, Situation, TriggerCandidate, TriggerMatch, mentions,
    rules::{CODING_PIPELINE, Incomplete, Lack, RuleSubject, SkillPrograms, TaskFacts, powers},
    score,
    search::TaskWords,
};

use crate::{
    finding::{FoundSkill, FoundSkills, SkillFinder},
    hooks,
    inventory::{Inventory, InventorySkill, Status},
};

/// How manifests are read.
#[derive(Clone, Copy, Debug)]
pub struct ManifestReading {
    /// Whether manifests are read leniently or strictly.
    pub mode: Strictness,
    /// Maximum size of a manifest, in bytes.
    pub max_bytes: u64,
    /// The number of threads that read.
    pub threads: usize,
    /// Whether skills that can't be picked are read too, so that their matches can be reported.
    pub everything: bool,
    /// Whether bodies and folders are searched for the changes and commands of skills: needed when there is a risk.
    pub powers: bool,
}

/// The skills of an inventory with their triggers, ready for selection.
pub struct Candidates {
    inventory: Arc<Inventory>,
    /// By the position of the skill in the inventory.
    compiled: CompiledTriggers,
    /// The facts for rules, at the same positions.
    traits: Vec<Traits>,
    /// Skills that were requested by name, as `source:name`.
    selected: Vec<String>,
    /// The search results for the task, by the position of the skill.
    texts: BTreeMap<usize, TriggerMatch>,
    /// The ranks of the search, by the entry of the skill.
    ranks: BTreeMap<usize, usize>,
    /// The words of the task.
    words: TaskWords,
    /// How often skills were used recently, by name.
    used: BTreeMap<String, f64>,
}

/// A skill that fits.
#[derive(Clone, Debug)]
pub struct Pick<'a> {
    /// The skill in the inventory.
    pub skill: &'a InventorySkill,
    /// How well, between 0 and 1.
    pub score: f64,
    /// The triggers that matched.
    pub why: Vec<TriggerMatch>,
    /// Whether a rule requires it.
    pub required: bool,
    /// The powers that require consent at the risk of the task.
    pub consent: Option<String>,
}

/// The result of a selection.
#[derive(Clone, Debug, Default)]
pub struct Selection<'a> {
    /// The skills that fit: those that are required in their order, then best first.
    pub picks: Vec<Pick<'a>>,
    /// Skills that match and need to be named because of the risk, best first.
    pub held: Vec<Pick<'a>>,
    /// The missing part of the task's requirements; the request then can't be met.
    pub incomplete: Option<Incomplete>,
    /// Skills that were named and can't be picked, by name. Shadowed ones are not included: the name means the other skill.
    pub refused: Vec<UnusableSkill<'a>>,
}

/// A skill that was named and can't be picked.
#[derive(Clone, Debug)]
pub struct UnusableSkill<'a> {
    /// The skill in the inventory.
    pub skill: &'a InventorySkill,
    /// Why it can't be picked.
    pub gates: Vec<Gate>,
}

/// Why a skill was picked, or was not.
#[derive(Clone, Debug)]
pub struct Account<'a> {
    /// The skill in the inventory.
    pub skill: &'a InventorySkill,
    /// Whether it was picked.
    pub picked: bool,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// Its matches, its misses, and problems of its triggers.
    pub considered: Considered,
    /// Why it can't be picked; also for a skill that does not match.
    pub gates: Vec<Gate>,
    /// The powers that require consent at the risk of the task.
    pub consent: Option<String>,
}

impl Weighed {
    /// Half of a pipeline is never picked.
    fn refuse_half(&mut self, incomplete: &Incomplete) {
        self.held = false;
        if self.gates.is_empty() {
            self.gates.push(Gate {
                kind: Incomplete::CODE,
                message: incomplete.without(),
                hint: None,
            });
        }
    }
}

impl Account<'_> {
    /// Whether the skill has any trigger.
    #[must_use]
    pub fn has_triggers(&self) -> bool {
        let mut matches = self.considered.matches.iter();
        let by_trigger = |signal| {
            !matches!(
                signal,
                Signal::Explicit | Signal::Rule | Signal::Domain | Signal::Text | Signal::Used
            )
        };
        !self.considered.misses.is_empty() || matches.any(|found| by_trigger(found.signal))
    }
}

/// Reduces the weight of keywords that many skills write about.
fn weigh_keywords(matches: &mut [TriggerMatch], words: &TaskWords) {
    let keywords = matches.iter_mut();
    for found in keywords.filter(|found| found.signal == Signal::Keyword) {
        let part = words.part_of(&found.subject);
        if part < 1.0 {
            found.weight = (found.weight * part * 10_000.0).round() / 10_000.0;
            found.detail.push_str(", and common among skills");
        }
    }
}

/// Something that keeps a skill from being picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// A stable code: the status of the skill, `reserved`, `changed`, [`NEEDS_CONSENT`] or `incomplete-pipeline`.
    pub kind: &'static str,
    /// The reason, for display.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

/// The gate of a skill that is held back because of the risk.
pub const NEEDS_CONSENT: &str = "needs_consent";

/// The triggers of a manifest.
#[derive(Default)]
struct ExplainedPick {
    triggers: Triggers,
    paths: Vec<Box<str>>,
    traits: Traits,
}

/// The facts about a skill that rules use.
#[derive(Default)]
struct Traits {
    /// The manifest changed since the skill was found.
    changed: bool,
    domains: Vec<(&'static str, String)>,
    powers: Vec<String>,
}

/// A skill with its score for a task.
struct Weighed {
    considered: Considered,
    gates: Vec<Gate>,
    /// Only consent is missing.
    held: bool,
    consent: Option<String>,
}

impl Candidates {
    /// Reads the triggers of the skills of an inventory.
    #[must_use]
    pub fn read(inventory: &Arc<Inventory>, reading: ManifestReading) -> Self {
        Self::read_beside(inventory, reading, None)
    }

    /// [`Self::read`], except that manifests that are known to have no triggers are not read, unless powers are requested.
    #[must_use]
    pub fn read_beside(
        inventory: &Arc<Inventory>,
        reading: ManifestReading,
        finder: Option<&SkillFinder>,
    ) -> Self {
        let skills = &inventory.skills;
        let finder = finder.filter(|_| !reading.powers);
        let is_plain = |position: usize| finder.is_some_and(|finder| finder.is_plain(position));
        let per_thread = skills.len().div_ceil(reading.threads.max(1)).max(64);
        let read = |number: usize, skills: &[InventorySkill]| -> Vec<ExplainedPick> {
            let numbered = skills.iter().enumerate();
            let told = numbered.map(|(at, skill)| match is_plain(number * per_thread + at) {
                true => ExplainedPick::default(),
                false => told(inventory, skill, reading),
            });
            told.collect()
        };
        let read = &read;
        let told: Vec<ExplainedPick> = thread::scope(|scope| {
            let chunks = skills.chunks(per_thread).enumerate();
            let running: Vec<_> = chunks
                .map(|(number, chunk)| scope.spawn(move || read(number, chunk)))
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
        let compiled =
            CompiledTriggers::new(offers.iter().map(|(name, source, told)| TriggerCandidate {
                name,
                source: *source,
                triggers: &told.triggers,
                paths: &told.paths,
            }));
        drop(offers);
        let selected = skills.iter().filter(|skill| skill.selected);
        Self {
            compiled,
            traits: told.into_iter().map(|told| told.traits).collect(),
            selected: selected
                .map(|skill| inventory.entry(skill))
                .map(|entry| format!("{}:{}", entry.source, entry.name()))
                .collect(),
            inventory: Arc::clone(inventory),
            texts: BTreeMap::new(),
            ranks: BTreeMap::new(),
            words: TaskWords::default(),
            used: BTreeMap::new(),
        }
    }

    /// These candidates with the search results for the task. A text alone never activates a skill, and the coding pipeline is chosen only
    /// by its rule.
    #[must_use]
    pub fn with_found(
        mut self,
        found: impl IntoIterator<Item = FoundSkill>,
        words: TaskWords,
    ) -> Self {
        self.words = words;
        for (rank, found) in found.into_iter().enumerate() {
            let Some(skill) = self.inventory.skills.get(found.position) else {
                continue;
            };
            if !self.is_of_pair(skill) {
                self.ranks.insert(skill.entry, rank);
                self.texts.insert(found.position, found.signal());
            }
        }
        self
    }

    /// These candidates with how often skills were used lately, by name. A skill without a match is not picked because of it.
    #[must_use]
    pub fn with_use(mut self, used: BTreeMap<String, f64>) -> Self {
        self.used = used;
        self
    }

    fn use_of(&self, name: &str) -> Option<TriggerMatch> {
        let used = *self.used.get(name)?;
        let weight = Signal::Used.weight() * (used / (used + 1.0));
        Some(TriggerMatch {
            signal: Signal::Used,
            subject: name.to_owned(),
            detail: format!("it was used recently ({used:.1} sessions, older ones count less)"),
            weight: (weight * 10_000.0).round() / 10_000.0,
        })
    }

    /// All skills that match a task by their triggers or by the search, best first: the position in the inventory, and the score. Rules
    /// and gates are not applied.
    #[must_use]
    pub fn ranked(&self, situation: &Situation<'_>, found: &FoundSkills) -> Vec<(usize, f64)> {
        let view = self.compiled.look(situation);
        let is_named = !mentions(situation.task).is_empty() || !situation.explicit.is_empty();
        let texts: BTreeMap<usize, (usize, &FoundSkill)> = found
            .skills
            .iter()
            .enumerate()
            .map(|(rank, found)| (found.position, (rank, found)))
            .collect();
        let skills = self.inventory.skills.iter().enumerate();
        let ranked = skills.filter_map(|(position, skill)| {
            let text = texts.get(&position);
            let can_match = is_named || text.is_some() || self.compiled.has_triggers(position);
            if !can_match || !matches!(skill.status, Status::Ready | Status::NotReady) {
                return None;
            }
            let mut matches = view.matches(position);
            weigh_keywords(&mut matches, &found.words);
            matches.extend(text.map(|(_, found)| found.signal()));
            let rank = text.map_or(usize::MAX, |(rank, _)| *rank);
            (!matches.is_empty()).then(|| (score(&matches), rank, position, skill))
        });
        let mut ranked: Vec<(f64, usize, usize, &InventorySkill)> = ranked.collect();
        ranked.sort_by(|a, b| {
            let by_score = b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            by_score.then_with(|| self.by_name(a.3, b.3))
        });
        let ranked = ranked.into_iter();
        ranked
            .map(|(score, _, position, _)| (position, score))
            .collect()
    }

    /// The rank of a skill in the search, for skills of the same score.
    fn text_rank(&self, skill: &InventorySkill) -> usize {
        self.ranks.get(&skill.entry).copied().unwrap_or(usize::MAX)
    }

    /// Whether any skill has triggers for files or languages of the project.
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

    /// The skills that match and that the rules require, those that are held back, and those that were named and can't be picked.
    #[must_use]
    pub fn select(&self, situation: &Situation<'_>, rules: &TaskFacts<'_>) -> Selection<'_> {
        let (all, incomplete) = self.weigh(situation, rules, false);
        let mut selection = Selection {
            incomplete,
            ..Selection::default()
        };
        for (skill, weighed) in all {
            let why = weighed.considered.matches;
            if why.is_empty() {
                continue;
            }
            let named = is_named(&why) && skill.status != Status::Shadowed;
            if weighed.gates.is_empty() || weighed.held {
                let pick = Pick {
                    skill,
                    score: score(&why),
                    required: why.iter().any(|found| found.signal == Signal::Rule),
                    why,
                    consent: weighed.consent,
                };
                match weighed.held {
                    true => selection.held.push(pick),
                    false => selection.picks.push(pick),
                }
            } else if named {
                let gates = weighed.gates;
                selection.refused.push(UnusableSkill { skill, gates });
            }
        }
        let order = |a: &Pick<'_>, b: &Pick<'_>| {
            let by_rule = self.rank(rules, a.skill).cmp(&self.rank(rules, b.skill));
            by_rule
                .then_with(|| b.score.total_cmp(&a.score))
                .then_with(|| self.text_rank(a.skill).cmp(&self.text_rank(b.skill)))
                .then_with(|| self.by_name(a.skill, b.skill))
        };
        selection.picks.sort_by(order);
        selection.held.sort_by(order);
        let refused = &mut selection.refused;
        refused.sort_by(|a, b| self.by_name(a.skill, b.skill));
        selection
    }

    /// Every skill with the reasons for and against it: picked ones first, best first; and the task's missing
    /// requirements.
    #[must_use]
    pub fn accounts(
        &self,
        situation: &Situation<'_>,
        rules: &TaskFacts<'_>,
    ) -> (Vec<Account<'_>>, Option<Incomplete>) {
        let (all, incomplete) = self.weigh(situation, rules, true);
        let all = all.into_iter().map(|(skill, weighed)| Account {
            skill,
            picked: weighed.gates.is_empty() && !weighed.considered.matches.is_empty(),
            score: score(&weighed.considered.matches),
            considered: weighed.considered,
            gates: weighed.gates,
            consent: weighed.consent,
        });
        let mut accounts: Vec<Account<'_>> = all.collect();
        accounts.sort_by(|a, b| {
            let by_pick = b.picked.cmp(&a.picked);
            by_pick
                .then_with(|| self.rank(rules, a.skill).cmp(&self.rank(rules, b.skill)))
                .then_with(|| b.score.total_cmp(&a.score))
                .then_with(|| self.text_rank(a.skill).cmp(&self.text_rank(b.skill)))
                .then_with(|| self.by_name(a.skill, b.skill))
        });
        (accounts, incomplete)
    }

    /// Scores every skill; also returns the missing requirements of the task.
    fn weigh<'a>(
        &'a self,
        situation: &Situation<'_>,
        rules: &TaskFacts<'_>,
        with_misses: bool,
    ) -> (Vec<(&'a InventorySkill, Weighed)>, Option<Incomplete>) {
        let explicit = self.explicit(situation);
        let situation = Situation {
            explicit: &explicit,
            ..*situation
        };
        let view = self.compiled.look(&situation);
        let consider = |(position, skill): (usize, &'a InventorySkill)| {
            let mut considered = match with_misses {
                true => view.consider(position),
                false => Considered {
                    matches: view.matches(position),
                    ..Considered::default()
                },
            };
            weigh_keywords(&mut considered.matches, &self.words);
            considered
                .matches
                .extend(self.texts.get(&position).cloned());
            let name = self.inventory.entry(skill).name();
            let subject = self.subject(position, &name);
            considered.matches.extend(rules.matches(&subject));
            let used = self
                .use_of(&name)
                .filter(|_| !considered.matches.is_empty());
            considered.matches.extend(used);
            (skill, considered)
        };
        let skills = self.inventory.skills.iter().enumerate();
        let mut all: Vec<(&'a InventorySkill, Considered)> = skills.map(consider).collect();
        let is_wanted = self.complete_pair(&mut all) || rules.coding.is;
        let judged = all.into_iter().enumerate();
        let judged = judged.map(|(position, (skill, considered))| {
            (skill, self.judge(position, skill, considered, rules))
        });
        let mut all: Vec<(&'a InventorySkill, Weighed)> = judged.collect();
        let lacks = is_wanted.then(|| Incomplete::check(|name| self.lack(name, &all)));
        let incomplete = lacks.flatten();
        if let Some(incomplete) = &incomplete {
            for (skill, weighed) in &mut all {
                if self.is_of_pair(skill) {
                    weighed.refuse_half(incomplete);
                }
            }
        }
        // Only a coding task requires it.
        (all, incomplete.filter(|_| rules.coding.is))
    }

    fn is_of_pair(&self, skill: &InventorySkill) -> bool {
        CODING_PIPELINE.contains(&&*self.inventory.entry(skill).name())
    }

    /// When one half of the coding pipeline matches, the other half is required too; returns whether any of it is.
    fn complete_pair(&self, all: &mut [(&InventorySkill, Considered)]) -> bool {
        let is_visible = |skill: &InventorySkill| skill.status != Status::Shadowed;
        let is_half = |skill: &InventorySkill| is_visible(skill) && self.is_of_pair(skill);
        let mut halves = all.iter().filter(|(skill, _)| is_half(skill));
        if !halves.any(|(_, considered)| !considered.matches.is_empty()) {
            return false;
        }
        for (skill, considered) in all {
            if is_half(skill) && considered.matches.is_empty() {
                considered.matches.push(TriggerMatch {
                    signal: Signal::Rule,
                    subject: "coding".to_owned(),
                    detail: "the coding pipeline is selected as a whole".to_owned(),
                    weight: Signal::Rule.weight(),
                });
            }
        }
        true
    }

    /// The facts about a skill that rules use.
    fn subject<'s>(&'s self, position: usize, name: &'s str) -> RuleSubject<'s> {
        let traits = self.traits.get(position);
        RuleSubject {
            name,
            domains: traits.map_or(&[], |traits| &traits.domains),
            powers: traits.map_or(&[], |traits| &traits.powers),
        }
    }

    fn judge(
        &self,
        position: usize,
        skill: &InventorySkill,
        considered: Considered,
        rules: &TaskFacts<'_>,
    ) -> Weighed {
        let name = self.inventory.entry(skill).name();
        let named = is_named(&considered.matches);
        let mut gates = self.gates(position, skill, &considered.matches);
        let consent = rules.consent(&self.subject(position, &name), named);
        let held = consent.as_ref().filter(|consent| consent.held);
        let held = held.filter(|_| !considered.matches.is_empty());
        let only_held = held.is_some() && gates.is_empty();
        gates.extend(held.map(|consent| Gate {
            kind: NEEDS_CONSENT,
            message: consent.reason.clone(),
            hint: Some(format!("name it in the task: /{name}")),
        }));
        Weighed {
            considered,
            gates,
            held: only_held,
            consent: consent.map(|consent| consent.reason),
        }
    }

    /// The problem with a skill that the task requires.
    fn lack(&self, name: &'static str, all: &[(&InventorySkill, Weighed)]) -> Option<Lack> {
        let mut visible = all
            .iter()
            .filter(|(skill, _)| skill.status != Status::Shadowed);
        let own = visible.find(|(skill, _)| *self.inventory.entry(skill).name() == *name);
        let Some((_, weighed)) = own else {
            return Some(Lack {
                name,
                why: "there is no such skill here".to_owned(),
                hint: Some(format!(
                    "`{name}` is built in: leave `--root` out, or name the folder that has it with `--skill-dir`; `--no-coding` if the task is not to write code"
                )),
            });
        };
        weighed.gates.first().map(|gate| Lack {
            name,
            why: gate.message.clone(),
            hint: gate.hint.clone(),
        })
    }

    /// The position of a skill among the picks: required ones first, in their order.
    fn rank(&self, rules: &TaskFacts<'_>, skill: &InventorySkill) -> usize {
        let name = self.inventory.entry(skill).name();
        rules.requires(&name).unwrap_or(CODING_PIPELINE.len())
    }

    fn by_name(&self, a: &InventorySkill, b: &InventorySkill) -> Ordering {
        let (a, b) = (self.inventory.entry(a), self.inventory.entry(b));
        (a.name(), b.source).cmp(&(b.name(), a.source))
    }

    fn explicit<'s>(&'s self, situation: &Situation<'s>) -> Vec<&'s str> {
        let named = situation.explicit.iter().copied();
        named
            .chain(self.selected.iter().map(String::as_str))
            .collect()
    }

    fn gates(
        &self,
        position: usize,
        skill: &InventorySkill,
        matches: &[TriggerMatch],
    ) -> Vec<Gate> {
        let entry = self.inventory.entry(skill);
        let mut gates = status_gates(&self.inventory, skill);
        let changed = self
            .traits
            .get(position)
            .is_some_and(|traits| traits.changed);
        if changed {
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
                message: "only the user can choose it (`disable-model-invocation`)".to_owned(),
                hint: Some(format!("name it in the task: /{}", entry.name())),
            });
        }
        gates
    }
}

fn is_named(matches: &[TriggerMatch]) -> bool {
    let mut matches = matches.iter();
    matches.any(|found| found.signal == Signal::Explicit)
}

/// Why a skill can't be picked for any task.
fn status_gates(inventory: &Inventory, skill: &InventorySkill) -> Vec<Gate> {
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
            vec![gate(&format!("it is shadowed by {place}"), None)]
        }
        Status::Invalid => {
            let mut errors = entry.diagnostics.iter();
            let error = errors.find(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
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
fn told(inventory: &Inventory, skill: &InventorySkill, reading: ManifestReading) -> ExplainedPick {
    let entry = inventory.entry(skill);
    let wanted = skill.status == Status::Ready || reading.everything;
    if entry.card.is_none() || !wanted {
        return ExplainedPick::default();
    }
    let loaded = entry.load(reading.mode, reading.max_bytes);
    let manifest = loaded
        .ok()
        .and_then(|(parsed, body)| Some((parsed.manifest?, body)));
    match manifest {
        // A folder that was changed meanwhile may contain another skill.
        Some((manifest, body)) if *manifest.card.name == *entry.name() => {
            let traits = Traits {
                changed: false,
                domains: domains(&manifest),
                powers: match reading.powers {
                    true => all_powers(entry, &manifest, &body),
                    false => Vec::new(),
                },
            };
            ExplainedPick {
                triggers: manifest.triggers,
                paths: manifest.invocation.paths,
                traits,
            }
        }
        _ => ExplainedPick {
            traits: Traits {
                changed: true,
                ..Traits::default()
            },
            ..ExplainedPick::default()
        },
    }
}

/// The terms of a skill's domain.
fn domains(manifest: &SkillManifest) -> Vec<(&'static str, String)> {
    let category = manifest.about.category.iter();
    let category = category.map(|word| ("category", word.to_string()));
    let tags = manifest.about.tags.iter();
    let tags = tags.map(|word| ("tags", word.to_string()));
    let domain = manifest.metadata.get("domain");
    let several = domain.and_then(|domain| domain.as_array());
    let one = several.is_none().then_some(domain).flatten();
    let words = several.into_iter().flatten().chain(one);
    let words = words.filter_map(|word| word.as_str());
    let words = words.map(|word| ("metadata.domain", word.to_owned()));
    category.chain(tags).chain(words).collect()
}

/// The changes and commands of a skill: from its manifest, from the commands in its body and of its hooks, and from its scripts. A folder
/// that can't be listed counts as one with scripts.
fn all_powers(entry: &CatalogEntry, manifest: &SkillManifest, body: &str) -> Vec<String> {
    let invocation = &manifest.invocation;
    let declared = invocation.argument_hint.is_some() || !invocation.arguments.is_empty();
    let names = &invocation.arguments;
    let pieces = template::parse(body, Placeholders { names, declared });
    let commands = pieces.iter().filter_map(|piece| match piece {
        BodyPiece::Command(command) => Some(command.text),
        _ => None,
    });
    let commands: Vec<&str> = commands.collect();
    let is_script = |file: &FileEntry| file.path.as_path().starts_with("scripts");
    let scripts = match entry.place.files() {
        Ok(files) => files.iter().any(is_script),
        Err(_) => true,
    };
    let hooks = hooks::in_place(entry);
    let hooks: Vec<&str> = hooks.commands.iter().map(|hook| &*hook.command).collect();
    let runs = SkillPrograms {
        commands: &commands,
        hooks: &hooks,
        scripts,
    };
    powers(manifest, runs)
}

fn validate(entry: &CatalogEntry) -> String {
    let path = entry.place.path();
    format!("metier validate {}", shell_word(&path.to_string_lossy()))
}

#[cfg(test)]
#[path = "selecting_tests.rs"]
mod tests;
