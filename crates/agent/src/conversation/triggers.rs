//! Skills that are loaded because of a message, the project or the mode.
//!
//! **Problem.** A skill declares when it is needed (`triggers`), and a project declares which skills it uses (AGENT.md). A model
//! that has to find out by itself often doesn't. But automatic loading is an attack surface: text of a model, of a tool or of a
//! sub-agent's task must not trigger it.
//!
//! **Decision.** Triggers are matched in one place, after a user message, and only against that message, the names of files in it,
//! the files of the project and the mode. A triggered skill passes the same checks as one that a model requests: it must be ready,
//! trusted, scanned and available to models, and its permissions are requested. A skill that can't be loaded is a note, never a
//! failed turn.

use std::{collections::BTreeSet, sync::Arc};

use metier_model::{
    Card, DiagnosticCode, SkillContext, Source, template::BodyPiece, text::shell_word,
};
use metier_runtime::{
    InventorySkill,
    render::LoadedSkill,
    selecting::{Candidates, ManifestReading, Pick, UnusableSkill},
};
use metier_select::{Signal, Situation, TriggerMatch, languages, rules};

use super::{
    AgentConversation, ConversationRole,
    activation::{Activated, has_code, place},
};
use crate::ErrorReport;
use crate::context::AgentContext;
use crate::event::{ActivatedBy, AgentEvent};

/// How many threads read manifests.
const THREADS: usize = 4;
/// For each skill that may still be loaded, this many are tried: a blocked one needs another candidate.
const TRIES: usize = 3;

/// A skill that a trigger loaded.
pub(super) struct Triggered {
    pub(super) loaded: Activated,
    /// The match: "keyword `kubectl`".
    pub(super) why: String,
}

/// The triggers of all skills, and what they are matched against besides the message.
pub(super) struct ConversationTriggers {
    candidates: Candidates,
    context: Arc<AgentContext>,
}

/// The matches of triggers with one message.
struct Matched<'g> {
    picks: Vec<Pick<'g>>,
    refused: Vec<UnusableSkill<'g>>,
}

impl ConversationTriggers {
    /// The files of the project, if a trigger uses them.
    fn files(&self) -> &[String] {
        match self.candidates.asks_about_files() {
            true => self.context.project_files(),
            false => &[],
        }
    }

    /// The inputs of a match: the message, files that it names and files of the project, and the mode.
    fn matched(&self, said: &str, project: &str, mode: metier_select::UsageMode) -> Matched<'_> {
        let named = named_files(said, project);
        let files = named
            .into_iter()
            .chain(self.files().iter().map(String::as_str));
        let files: Vec<&str> = files.collect();
        let languages = match self.candidates.asks_about_files() {
            true => languages::detect(files.iter().copied()).seen(),
            false => Vec::new(),
        };
        let situation = Situation {
            task: said,
            files: &files,
            languages: &languages,
            mode,
            explicit: &[],
        };
        let selection = self
            .candidates
            .select(&situation, &rules::TaskFacts::default());
        Matched {
            picks: selection.picks,
            refused: selection.refused,
        }
    }
}

impl AgentConversation {
    /// Loads the skills whose triggers match a user message, best first, except those that the message names and that are loaded
    /// already.
    pub(super) fn load_triggered(&mut self, said: &str, named: &[String]) -> Vec<Triggered> {
        let first = self.triggers.is_none();
        let triggers = self.read_triggers();
        let project = self
            .runtime
            .environment()
            .approvals
            .terms
            .project
            .to_string_lossy();
        let matched = triggers.matched(said, &project, self.mode);
        self.offer_workflows(&matched.picks);
        if !self.may_trigger() {
            return Vec::new();
        }
        if first {
            self.note_not_loaded(&matched.refused);
        }
        let picks: Vec<Pick<'_>> = matched
            .picks
            .into_iter()
            .filter(|pick| self.is_new(pick, named))
            .collect();
        let max = usize::try_from(self.context.config().agent.max_triggered).unwrap_or(usize::MAX);
        let room = max.saturating_sub(self.conversation.triggered().len());
        let (mut loaded, mut tried) = (Vec::new(), 0);
        let mut left_out = Vec::new();
        for pick in picks {
            let name = self.name_of(pick.skill);
            if loaded.len() == room || tried == room.saturating_mul(TRIES) {
                left_out.push(name);
                continue;
            }
            tried += 1;
            let why = reason(&pick.why);
            match self.load_one(pick.skill, &why) {
                Ok(None) => {}
                Ok(Some(one)) => loaded.push(Triggered { loaded: one, why }),
                Err(report) => {
                    let hint = report.hint.map(|hint| format!("; {hint}"));
                    let hint = hint.unwrap_or_default();
                    self.note(format!(
                        "skill `{name}` matches ({why}) but was not loaded: {}{hint}",
                        report.message
                    ));
                    self.passed_over.insert(name);
                }
            }
        }
        self.note_left_out(left_out, max);
        loaded
    }

    /// Only the agent that the user talks to is triggered: a set is exactly what was checked, and an orchestrator loads nothing.
    fn may_trigger(&self) -> bool {
        let asked = self.depth == 0 && self.role == ConversationRole::Primary;
        asked && self.context.config().agent.triggers
    }

    fn read_triggers(&mut self) -> Arc<ConversationTriggers> {
        if let Some(triggers) = &self.triggers {
            return Arc::clone(triggers);
        }
        let context = &self.context;
        let reading = ManifestReading {
            mode: metier_model::Strictness::Lenient,
            max_bytes: context.config().limits.max_skill_bytes,
            threads: THREADS,
            everything: false,
            powers: false,
        };
        let candidates = Candidates::read(context.inventory(), reading);
        let triggers = Arc::new(ConversationTriggers {
            candidates,
            context: Arc::clone(context),
        });
        self.triggers = Some(Arc::clone(&triggers));
        triggers
    }

    fn name_of(&self, skill: &InventorySkill) -> String {
        let entry = self.context.inventory().entry(skill);
        entry.name().into_owned()
    }

    /// Whether a matching skill is still to be loaded. A skill that the user unloaded stays unloaded.
    fn is_new(&self, pick: &Pick<'_>, named: &[String]) -> bool {
        let inventory = self.context.inventory();
        let entry = inventory.entry(pick.skill);
        let name = entry.name();
        let card = entry.card.as_ref();
        let is_it = |other: &String| *other == name;
        let is_text = card.is_some_and(|card| card.model_invocable && !card.runs_workflow());
        is_text
            && !self.passed_over.contains(name.as_ref())
            && !self.conversation.active().iter().any(is_it)
            && !named.iter().any(is_it)
            && !self.conversation.was_unloaded(&name)
            && self.runtime.state(&name) != metier_runtime::live::LifecycleState::Active
    }

    /// Loads one skill; `None` if it is only offered.
    fn load_one(
        &mut self,
        found: &InventorySkill,
        why: &str,
    ) -> Result<Option<Activated>, ErrorReport> {
        let inventory = self.runtime.inventory();
        let entry = inventory.entry(found);
        let name = entry.name();
        let unscanned = found.scan.is_none() && entry.source != Source::Builtin;
        if unscanned && !self.context.config().security.scan_on_load {
            let message = format!("skill `{name}` has not been scanned");
            let hint = format!("metier scan {}", shell_word(&name));
            return Err(ErrorReport::new("unscanned", message)
                .skill(name.as_ref())
                .hint(hint));
        }
        let skill = self.read(&place(entry), ActivatedBy::Trigger)?;
        if skill.manifest.invocation.context == SkillContext::Fork {
            self.note(format!("/{name} matches ({why}); it runs in a sub-agent"));
            self.passed_over.insert(name.into_owned());
            return Ok(None);
        }
        if !is_text_only(&skill) {
            self.note(format!("skill `{name}` matches ({why})"));
        }
        self.take_in(&skill, "", ActivatedBy::Trigger, why)
            .map(Some)
    }

    /// Workflows whose triggers match a message are offered: the user or the model decides whether to run one.
    fn offer_workflows(&self, picks: &[Pick<'_>]) {
        let inventory = self.context.inventory();
        for pick in picks {
            let entry = inventory.entry(pick.skill);
            let by_word = pick
                .why
                .iter()
                .find(|found| found.signal == Signal::Keyword);
            if entry.card.as_ref().is_some_and(Card::runs_workflow)
                && let Some(found) = by_word
            {
                self.tell(AgentEvent::WorkflowOffered {
                    skill: entry.name().into_owned(),
                    why: found.detail.clone(),
                });
            }
        }
    }

    /// Skills that AGENT.md names and that are missing, or can't be used.
    fn note_not_loaded(&self, refused: &[UnusableSkill<'_>]) {
        let inventory = self.context.inventory();
        let unknown = inventory.diagnostics.iter();
        for diagnostic in unknown.filter(|one| one.code == DiagnosticCode::SelectionUnknown) {
            self.note(diagnostic.message.to_string());
        }
        for UnusableSkill { skill, gates } in refused.iter().filter(|one| one.skill.selected) {
            let reasons: Vec<&str> = gates.iter().map(|gate| gate.message.as_str()).collect();
            let hint = gates.iter().find_map(|gate| gate.hint.as_ref());
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            self.note(format!(
                "skill `{}` was selected but not loaded: {}{hint}",
                self.name_of(skill),
                reasons.join("; ")
            ));
        }
    }

    /// A reached limit is reported, once for each skill.
    fn note_left_out(&mut self, names: Vec<String>, max: usize) {
        if names.is_empty() {
            return;
        }
        self.note(format!(
            "{} also match but {} not loaded: agent.max_triggered is {max}; load one with /NAME",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" },
        ));
        self.passed_over.extend(names);
    }
}

/// Whether loading a skill runs nothing.
fn is_text_only(skill: &LoadedSkill) -> bool {
    let pieces = skill.pieces();
    let mut pieces = pieces.iter();
    !has_code(skill) && !pieces.any(|piece| matches!(piece, BodyPiece::Command(_)))
}

/// The strongest match in a few words: "keyword `kubectl`".
fn reason(matches: &[TriggerMatch]) -> String {
    let strongest = matches.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    strongest.map_or_else(String::new, |found| match found.signal {
        Signal::Explicit => "AGENT.md names it".to_owned(),
        signal => format!("{} `{}`", signal.as_str(), found.subject),
    })
}

/// Files that a message names, relative to the project; they need not exist.
fn named_files<'t>(said: &'t str, project: &str) -> Vec<&'t str> {
    let edge =
        |c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '.' | '_' | '-' | '*' | '@' | '~');
    let words = said.split_whitespace().map(|word| {
        let word = word.trim_matches(edge).trim_end_matches('.');
        let inside = word
            .strip_prefix(project)
            .and_then(|rest| rest.strip_prefix('/'));
        inside.unwrap_or_else(|| word.trim_start_matches("./"))
    });
    let files: BTreeSet<&str> = words.filter(|word| is_file(word)).collect();
    files.into_iter().collect()
}

/// Whether a word looks like the path of a file: `deploy/app.yaml`, `main.go`, but not `/name`, `e.g` or an address.
fn is_file(word: &str) -> bool {
    if word.contains("://") || word.starts_with(['/', '~', '-']) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let extension = name
        .rsplit_once('.')
        .filter(|(stem, _)| stem.len() > 1 || word.contains('/'));
    let has_extension = extension.is_some_and(|(_, end)| {
        (1..=8).contains(&end.len()) && end.chars().all(char::is_alphanumeric)
    });
    has_extension || (word.contains('/') && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_a_message_and_nothing_else_is() {
        let check = |said: &str, files: &[&str]| {
            assert_eq!(named_files(said, "/home/me/shop"), files, "{said}");
        };
        check("look at `deploy/app.yaml`, please.", &["deploy/app.yaml"]);
        check(
            "fix (main.go) and ./src/lib.rs:",
            &["main.go", "src/lib.rs"],
        );
        check("open /home/me/shop/a/Makefile", &["a/Makefile"]);
        check("open /etc/passwd and ~/.ssh/id", &[]);
        check("see https://x.example/a.yaml e.g. this. 3.5", &[]);
        check("/deploy now", &[]);
    }

    #[test]
    fn the_strongest_match_is_the_reason() {
        let one = |signal: Signal, subject: &str| TriggerMatch {
            signal,
            subject: subject.to_owned(),
            detail: String::new(),
            weight: signal.weight(),
        };
        let found = [one(Signal::File, "a.tf"), one(Signal::Keyword, "kubectl")];
        assert_eq!(reason(&found), "keyword `kubectl`");
        assert_eq!(reason(&found[..1]), "file `a.tf`");
        assert_eq!(reason(&[one(Signal::Explicit, "x")]), "AGENT.md names it");
    }
}
