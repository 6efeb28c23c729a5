//! Skills in a conversation: asked for by a person, a model or a plan; loaded once, with their tools and rules.

use metier_catalog::Entry;
use metier_model::{Card, Context, Manifest, text::shell_word};
use metier_runtime::{
    Status,
    activate::ActivationError,
    desk::Refused,
    live::ActivateError,
    render::{self, Arguments, Loaded},
};
use metier_sdk::HookPhase;
use metier_select::{Mention, Mode, Offer, Signal, Situation, matches, mentions};
use serde_json::json;

use super::{Role, Session, SkillSet, effort, subagent::Child};
use crate::conversation::SkillText;
use crate::event::Event;
use crate::pipeline::Pipeline;
use crate::system::contract;
use crate::{Record, Report};

/// Who asks for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A person, by its name.
    User,
    /// The model.
    Model,
    /// Whoever opened the session.
    Plan,
}

impl By {
    const fn why(self) -> &'static str {
        match self {
            Self::User => "you named it",
            Self::Model => "the model chose it",
            Self::Plan => "the session was opened with it",
        }
    }
}

/// A skill that was asked for.
#[derive(Debug)]
pub(super) struct Activated {
    /// Its text; none if the same text is in the conversation already.
    pub(super) text: Option<SkillText>,
}

/// A workflow that waits for a word.
pub(super) struct Waiting {
    skill: String,
    source: metier_model::Source,
    triggers: metier_model::Triggers,
}

impl<'p> Session<'_, 'p> {
    /// Takes in what a person said: skills that it names are loaded, and one that stands first may do all of the work.
    pub(super) fn hear(&mut self, said: &str) -> Result<String, Report> {
        // Hooks that may block the message read it before any skill is loaded because of it.
        self.system_prompt()?;
        let mut skills = Vec::new();
        let trimmed = said.trim();
        for mention in mentions(trimmed) {
            let Some(entry) = self.meant(&mention) else {
                continue;
            };
            let skill = self.read(&place(entry), By::User)?;
            let rest = trimmed.strip_prefix(mention.text);
            if let Some(arguments) = rest
                && let Some(answer) = self.run_instead(&skill, arguments.trim(), trimmed)?
            {
                return Ok(answer);
            }
            let arguments = rest.unwrap_or_default().trim();
            skills.extend(self.take_in(&skill, arguments, By::User)?.text);
        }
        // And so do the hooks of the skills that it names; a blocked message is not part of the conversation.
        if let Err(report) = self.system_prompt() {
            self.forget(&skills)?;
            return Err(report);
        }
        self.offer_workflows(trimmed);
        self.record(Record::User {
            text: said.to_owned(),
            skills,
        })?;
        self.respond()
    }

    /// Deactivates skills that a blocked message had loaded.
    fn forget(&mut self, skills: &[SkillText]) -> Result<(), Report> {
        for SkillText { skill, .. } in skills {
            if self.conversation.active().contains(skill) {
                continue;
            }
            self.deactivate(skill)?;
            self.tell(Event::SkillUnloaded {
                skill: skill.clone(),
            });
        }
        Ok(())
    }

    /// The skill that a mention means, if there is one.
    fn meant(&self, mention: &Mention<'_>) -> Option<&'p Entry> {
        let inventory = self.runtime.inventory();
        let found = inventory.find(mention.name).ok();
        if found.is_some() && self.role == Role::Orchestrator {
            self.note(format!(
                "an orchestrator loads no skills: name `{}` as one for a sub-agent",
                mention.name
            ));
            return None;
        }
        found.map(|skill| inventory.entry(skill))
    }

    /// A workflow or a fork that a person asked for: its result is the answer.
    fn run_instead(
        &mut self,
        skill: &Loaded<'p>,
        arguments: &str,
        said: &str,
    ) -> Result<Option<String>, Report> {
        let answer = if runs_workflow(&skill.manifest) {
            self.say_user(said)?;
            self.run_workflow(skill, arguments, By::User)?
        } else if skill.manifest.invocation.context == Context::Fork {
            let child = Child::fork(self, skill, arguments)?;
            self.say_user(said)?;
            self.announce(&child);
            let done = child.run();
            if done.is_error {
                return Err(Report::new("subagent", done.output)
                    .skill(skill.entry.name())
                    .hint("what was done until then is kept; say what to do next, or try again"));
            }
            done.output
        } else {
            return Ok(None);
        };
        self.record(Record::Assistant {
            text: answer.clone(),
            calls: Vec::new(),
            kept: Vec::new(),
            usage: crate::Usage::default(),
        })?;
        if !self.runtime.handles(HookPhase::AfterResponse) {
            self.tell(Event::Text {
                text: answer.clone(),
            });
        }
        self.transformed(answer).map(Some)
    }

    fn say_user(&mut self, said: &str) -> Result<(), Report> {
        self.record(Record::User {
            text: said.to_owned(),
            skills: Vec::new(),
        })
    }

    /// Loads a skill: its text for the conversation, its tools, its rules.
    pub(super) fn load(
        &mut self,
        name: &str,
        arguments: &str,
        by: By,
    ) -> Result<Activated, Report> {
        let skill = self.read(name, by)?;
        self.take_in(&skill, arguments, by)
    }

    /// The same for a skill that was read.
    pub(super) fn take_in(
        &mut self,
        skill: &Loaded<'p>,
        arguments: &str,
        by: By,
    ) -> Result<Activated, Report> {
        let name = skill.entry.name().into_owned();
        let text = self.text_of(skill, &Arguments::from_text(arguments))?;
        let already =
            self.conversation.skill_text(&name) == Some(&text) || self.system.holds(&text);
        self.enliven(skill)?;
        self.choose_model(&skill.manifest);
        self.runtime.ledger().keep(&name, text.clone());
        self.tell(Event::SkillActivated {
            skill: name.clone(),
            why: by.why().to_owned(),
            already,
        });
        Ok(Activated {
            text: (!already).then_some(SkillText { skill: name, text }),
        })
    }

    /// A skill whose text is in the conversation already gets the rest back.
    pub(super) fn revive(&mut self, name: &str) -> Result<(), Report> {
        let skill = self.read(name, By::Plan)?;
        self.enliven(&skill)?;
        if let Some(text) = self.conversation.skill_text(name) {
            self.runtime.ledger().keep(name, text.to_owned());
        }
        Ok(())
    }

    /// The skills of a sub-agent, in their order: what each promises stands behind its text.
    pub(super) fn inject(&mut self, set: &SkillSet) -> Result<(), Report> {
        let mut members = Vec::new();
        for skill in self.judged_members(set)? {
            let text = self.text_of(&skill, &Arguments::default())?;
            self.system.add_skill(&text, &contract(&skill.manifest));
            self.start(&skill)?;
            self.choose_model(&skill.manifest);
            self.tell(Event::SkillActivated {
                skill: skill.entry.name().into_owned(),
                why: By::Plan.why().to_owned(),
                already: false,
            });
            members.push(skill.manifest);
        }
        self.rules
            .confine(set.composition().tools.clone(), &members);
        self.pipeline = Pipeline::new(&members);
        Ok(())
    }

    /// The skills of a set, if they are still those that were judged: between the two somebody may have written to their folders.
    fn judged_members(&self, set: &SkillSet) -> Result<Vec<Loaded<'p>>, Report> {
        let places = set.places().iter();
        let members: Vec<Loaded<'p>> = places
            .map(|place| self.read(place, By::Plan))
            .collect::<Result<_, Report>>()?;
        if set.is_still(&members, self.ground.config()) {
            return Ok(members);
        }
        let names = set.composition().order.join(", ");
        let message = format!("the set of skills ({names}) changed since it was judged");
        Err(Report::new("changed", message).hint("start the sub-agent again"))
    }

    /// Reads a skill that whoever asks may have.
    pub(super) fn read(&self, name: &str, by: By) -> Result<Loaded<'p>, Report> {
        let inventory = self.runtime.inventory();
        let found = inventory.find(name).map_err(|missing| {
            let report = Report::new("not-found", format!("there is no skill `{name}`"));
            match missing.near.as_slice() {
                [] => report.hint("metier list shows the skills that there are"),
                near => report.hint(format!("near to it are: {}", near.join(", "))),
            }
        })?;
        let entry = inventory.entry(found);
        let card = entry.card.as_ref();
        let refused = |code, what: &str| {
            let message = format!("skill `{}` {what}", entry.name());
            Report::new(code, message).skill(entry.name())
        };
        match by {
            By::Model if card.is_some_and(|card| !card.model_invocable) => {
                return Err(refused(
                    "not-for-models",
                    "is started by people only, its author says",
                ));
            }
            By::User if card.is_some_and(|card| !card.user_invocable) => {
                return Err(refused(
                    "not-for-people",
                    "is started by models only, its author says",
                )
                .hint("say what is to be done; the model loads it when it fits"));
            }
            _ => {}
        }
        if by == By::Model && found.status != Status::Ready {
            return Err(refused("unusable", "can't be used now").hint(format!(
                "metier info {} says why",
                shell_word(&entry.name())
            )));
        }
        let loaded = self.runtime.load(&place(entry));
        loaded.map_err(|error| not_active(&entry.name(), &error))
    }

    /// The text of a skill with these arguments, in its frame.
    fn text_of(&self, skill: &Loaded<'p>, arguments: &Arguments) -> Result<String, Report> {
        let name = skill.entry.name();
        let done = self.runtime.instruct(skill, arguments);
        let done = done.map_err(|error| not_rendered(&name, &error))?;
        Ok(render::wrap(&name, &place(skill.entry), &done.rendered))
    }

    /// Starts the code of a skill, if it has any.
    fn start(&self, skill: &Loaded<'_>) -> Result<(), Report> {
        if !has_code(skill) {
            if let Some(problem) = self.runtime.activate_plugin_of(skill.entry) {
                self.note(format!("skill `{}`: {problem}", skill.entry.name()));
            }
            return Ok(());
        }
        let opened = self.runtime.activate(&place(skill.entry));
        opened
            .map(drop)
            .map_err(|error| not_active(&skill.entry.name(), &error))
    }

    /// Starts a skill, and lets its rules hold.
    fn enliven(&mut self, skill: &Loaded<'_>) -> Result<(), Report> {
        self.start(skill)?;
        self.rules.narrow(&skill.manifest);
        self.pipeline.join(&skill.manifest);
        self.prompt = None;
        self.refresh_tools();
        Ok(())
    }

    /// A skill may want another model, or more thought, for the rest of the turn.
    fn choose_model(&mut self, manifest: &Manifest) {
        let named = wanted_model(manifest);
        let effort = effort(manifest.invocation.effort.as_deref());
        if named.is_none() && effort.is_none() {
            return;
        }
        let mut chosen = self.answering().clone();
        if let Some(name) = named {
            // A name that means nothing here is the author's wish for a model that the user does not have.
            match self.ground.model(Some(name)) {
                Ok(other) => chosen = other,
                Err(report) => self.note(format!(
                    "skill `{}` wants the model `{name}`, which can't be had ({report}); `{}` goes on",
                    manifest.card.name, chosen.name
                )),
            }
        }
        if effort.is_some() {
            chosen.effort = effort;
        }
        self.instead = Some(chosen);
    }

    /// Runs the workflow of a skill with what it was given.
    pub(super) fn run_workflow(
        &mut self,
        skill: &Loaded<'_>,
        arguments: &str,
        by: By,
    ) -> Result<String, Report> {
        let name = skill.entry.name().into_owned();
        self.enliven(skill)?;
        // It has no text that would tell: its rules hold when the conversation goes on later, too.
        self.record(Record::Activated {
            skill: name.clone(),
        })?;
        self.tell(Event::SkillActivated {
            skill: name.clone(),
            why: by.why().to_owned(),
            already: false,
        });
        if let Err(not_yet) = self.pipeline.admit(&name) {
            let reason = not_yet.to_string();
            self.runtime.refuse(Some(&name), &name, &reason)?;
            return Err(Report::new("order", reason).skill(name));
        }
        let words = Arguments::from_text(arguments);
        let input = json!({ "arguments": words.words(), "text": arguments });
        let called = self.runtime.run(&name, None, &input);
        let called = called.map_err(|error| {
            Report::new("workflow", error.to_string())
                .skill(name.as_str())
                .hint(format!(
                    "metier log {} shows what it did",
                    shell_word(&name)
                ))
        })?;
        self.tell_said(called.said);
        Ok(super::calls::shown(&called.output))
    }

    /// Workflows whose words are in what was said are offered to whoever said it.
    fn offer_workflows(&mut self, said: &str) {
        let waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None => self.read_waiting(),
        };
        let situation = Situation {
            task: said,
            files: &[],
            languages: &[],
            mode: Mode::default(),
            explicit: &[],
        };
        for one in &waiting {
            let offer = Offer {
                name: &one.skill,
                source: one.source,
                triggers: &one.triggers,
                paths: &[],
            };
            let found = matches(&offer, &situation);
            if let Some(found) = found.iter().find(|found| found.signal == Signal::Keyword) {
                self.tell(Event::WorkflowOffered {
                    skill: one.skill.clone(),
                    why: found.detail.clone(),
                });
            }
        }
        self.waiting = Some(waiting);
    }

    fn read_waiting(&self) -> Vec<Waiting> {
        let inventory = self.ground.inventory();
        let limit = self.ground.config().limits.max_skill_bytes;
        let ready = inventory
            .skills
            .iter()
            .filter(|skill| skill.status == Status::Ready)
            .map(|skill| inventory.entry(skill));
        let flows = ready.filter(|entry| {
            let card = entry.card.as_ref();
            card.is_some_and(Card::runs_workflow)
        });
        flows
            .filter_map(|entry| {
                let (parsed, _) = entry.load(metier_model::Mode::Lenient, limit).ok()?;
                Some(Waiting {
                    skill: entry.name().into_owned(),
                    source: entry.source,
                    triggers: parsed.manifest?.triggers,
                })
            })
            .collect()
    }
}

/// A name that means this skill and no other: several may have the same one.
pub(super) fn place(entry: &Entry) -> String {
    entry.place.path().to_string_lossy().into_owned()
}

/// Whether activating a skill means to run it.
pub(super) fn runs_workflow(manifest: &Manifest) -> bool {
    manifest.card.runs_workflow()
}

/// The model that a skill wants; the two words for "any" are no wish.
pub(super) fn wanted_model(manifest: &Manifest) -> Option<&str> {
    let named = manifest.invocation.model.as_deref();
    named.filter(|name| !matches!(*name, "inherit" | "default"))
}

fn has_code(skill: &Loaded<'_>) -> bool {
    skill.manifest.card.backend.is_some() || !metier_runtime::hooks::of(&skill.held).is_empty()
}

/// What to say when a skill can't be used.
fn not_active(skill: &str, error: &ActivateError) -> Report {
    let report = Report::new("not-active", format!("skill `{skill}`: {error}")).skill(skill);
    match error {
        ActivateError::Refused(refused) => with_way_out(report, skill, refused),
        ActivateError::Changed => report.hint("begin a new session to use it as it is now"),
        _ => report.hint(format!("metier info {}", shell_word(skill))),
    }
}

fn not_rendered(skill: &str, error: &ActivationError) -> Report {
    let report = Report::new("not-active", format!("skill `{skill}`: {error}")).skill(skill);
    match error {
        ActivationError::Refused(refused) => with_way_out(report, skill, refused),
        _ => report.hint(format!(
            "metier show {} shows what is wrong",
            shell_word(skill)
        )),
    }
}

fn with_way_out(report: Report, skill: &str, refused: &Refused) -> Report {
    let skill = shell_word(skill);
    match refused {
        Refused::NotApproved { .. } => Report {
            code: "not-approved",
            ..report
        }
        .hint(format!("allow it with --approve-skills {skill}, or for good: metier permissions {skill} --approve")),
        Refused::DeniedNow(_) => report.hint("nothing was recorded; it is asked again the next time"),
        _ => report.hint(format!("metier permissions {skill} shows what was denied; --revoke removes it")),
    }
}
