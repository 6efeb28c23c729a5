//! Skills in a conversation: requested by the user, the model or a plan; loaded once, with their tools and rules.

use metier_catalog::CatalogEntry;
use metier_model::{DiagnosticCode, SkillContext, SkillManifest, SkillType, text::shell_word};
use metier_runtime::{
    NotFound, Status,
    approvals::GrantRefused,
    body_commands::BodyCommandError,
    live::{ActivateError, workflow_input},
    render::{self, Arguments, FramedText, LoadedSkill},
};
use metier_sdk::HookPhase;
use metier_select::{Mention, mentions};

use super::{
    AgentConversation, ConversationRole, SkillSet, effort, subagent::Subagent, triggers::Triggered,
};
use crate::context::model_beside;
use crate::event::{ActivatedBy, AgentEvent};

use crate::pipeline::Pipeline;
use crate::rules::RequestedTool;
use crate::stored::SkillText;
use crate::system::contract;
use crate::{ErrorReport, HistoryRecord};

/// The reason that is reported for an activation.
pub(super) const fn reason(by: ActivatedBy) -> &'static str {
    match by {
        ActivatedBy::User => "you named it",
        ActivatedBy::Model => "the model chose it",
        ActivatedBy::Plan => "the session was opened with it",
        ActivatedBy::Trigger => "a trigger matches",
    }
}

/// A skill that was requested.
#[derive(Debug)]
pub(super) struct Activated {
    /// Name of the skill.
    pub(super) skill: String,
    /// Its text; `None` if the conversation already contains the same text.
    pub(super) text: Option<SkillText>,
}

impl AgentConversation {
    /// Processes a user message: skills that it names are loaded, and one at its start can take over the whole task.
    pub(super) fn hear(&mut self, said: &str) -> Result<String, ErrorReport> {
        // Hooks that may block the message read it before any skill is loaded because of it.
        self.system_prompt()?;
        let (mut skills, mut named) = (Vec::new(), Vec::new());
        let trimmed = said.trim();
        for mention in mentions(trimmed) {
            let Some(entry) = self.meant(&mention) else {
                if mention.text.starts_with('/') && trimmed.starts_with(mention.text) {
                    self.must_be_known(mention.name)?;
                }
                continue;
            };
            let skill = self.read(&place(entry), ActivatedBy::User)?;
            let rest = trimmed.strip_prefix(mention.text);
            if let Some(arguments) = rest
                && let Some(answer) = self.run_instead(&skill, arguments.trim(), trimmed)?
            {
                return Ok(answer);
            }
            let arguments = rest.unwrap_or_default().trim();
            let by = ActivatedBy::User;
            let loaded = self.take_in(&skill, arguments, by, reason(by))?;
            skills.extend(loaded.text);
            named.push(loaded.skill);
        }
        let triggered = self.load_triggered(trimmed, &named);
        skills.extend(triggered.iter().filter_map(|one| one.loaded.text.clone()));
        // So do the hooks of the skills that it names; a blocked message is not part of the conversation.
        if let Err(report) = self.system_prompt() {
            self.forget(&skills)?;
            return Err(report);
        }
        self.record(HistoryRecord::User {
            text: said.to_owned(),
            skills,
        })?;
        for Triggered { loaded, why } in triggered {
            let skill = loaded.skill;
            self.record(HistoryRecord::Triggered { skill, why })?;
        }
        self.respond()
    }

    /// Deactivates skills that a blocked message had loaded.
    fn forget(&mut self, skills: &[SkillText]) -> Result<(), ErrorReport> {
        for SkillText { skill, .. } in skills {
            if self.conversation.active().contains(skill) {
                continue;
            }
            self.deactivate(skill)?;
            self.tell(AgentEvent::SkillUnloaded {
                skill: skill.clone(),
            });
        }
        Ok(())
    }

    /// The skill that a mention refers to, if there is one.
    fn meant(&self, mention: &Mention<'_>) -> Option<&CatalogEntry> {
        let inventory = self.runtime.inventory();
        let found = inventory.find(mention.name).ok();
        if found.is_some() && self.role == ConversationRole::Orchestrator {
            self.note(format!(
                "an orchestrator does not load skills: assign `{}` to a sub-agent",
                mention.name
            ));
            return None;
        }
        found.map(|skill| inventory.entry(skill))
    }

    /// A message that starts with `/name` is for the skill with that name: a misspelt name is not sent to the model.
    fn must_be_known(&self, name: &str) -> Result<(), ErrorReport> {
        let found = self.runtime.inventory().find(name);
        found.map(drop).map_err(|missing| not_found(&missing))
    }

    /// A workflow or a fork that the user requested: its result is the answer.
    fn run_instead(
        &mut self,
        skill: &LoadedSkill,
        arguments: &str,
        said: &str,
    ) -> Result<Option<String>, ErrorReport> {
        let answer = if skill.manifest.card.runs_workflow() {
            self.say_user(said)?;
            self.run_workflow(skill, arguments, ActivatedBy::User)?
        } else if skill.manifest.invocation.context == SkillContext::Fork {
            let child = Subagent::fork(self, skill, arguments)?;
            self.say_user(said)?;
            self.announce(&child);
            let done = child.run();
            if done.is_error {
                return Err(ErrorReport::new("subagent", done.output)
                    .skill(skill.entry.name())
                    .hint("the work so far is kept; say what to do next, or try again"));
            }
            done.output
        } else {
            return Ok(None);
        };
        self.record(HistoryRecord::Assistant {
            text: answer.clone(),
            calls: Vec::new(),
            kept: Vec::new(),
            usage: crate::TokenUsage::default(),
        })?;
        if !self.runtime.handles(HookPhase::AfterResponse) {
            self.tell(AgentEvent::Text {
                text: answer.clone(),
            });
        }
        // No model answered, so there is no answer to continue.
        let words = self.transformed(answer, false)?;
        Ok(Some(words.text))
    }

    fn say_user(&mut self, said: &str) -> Result<(), ErrorReport> {
        self.record(HistoryRecord::User {
            text: said.to_owned(),
            skills: Vec::new(),
        })
    }

    /// Loads a skill: its text for the conversation, its tools, its rules.
    pub(super) fn load(
        &mut self,
        name: &str,
        arguments: &str,
        by: ActivatedBy,
    ) -> Result<Activated, ErrorReport> {
        let skill = self.read(name, by)?;
        self.take_in(&skill, arguments, by, reason(by))
    }

    /// [`Self::load`] for a skill that was read.
    pub(super) fn take_in(
        &mut self,
        skill: &LoadedSkill,
        arguments: &str,
        by: ActivatedBy,
        why: &str,
    ) -> Result<Activated, ErrorReport> {
        let name = skill.entry.name().into_owned();
        let mut diagnostics = skill.entry.diagnostics.iter();
        if let Some(other) = diagnostics.find(|one| one.code == DiagnosticCode::VersionNotFound) {
            self.note(other.message.to_string());
        }
        let text = self.text_of(skill, &Arguments::from_text(arguments))?;
        let already = self.conversation.skill_text(&name) == Some(text.as_str())
            || self.system.holds(text.as_str());
        self.enliven(skill)?;
        self.choose_model(&skill.manifest);
        self.runtime.keep_text(&name, text.clone());
        self.tell(AgentEvent::SkillActivated {
            skill: name.clone(),
            by,
            why: why.to_owned(),
            already,
        });
        Ok(Activated {
            skill: name.clone(),
            text: (!already).then(|| SkillText {
                skill: name,
                text: text.into_string(),
            }),
        })
    }

    /// A skill whose text is in the conversation already gets its tools and rules back.
    pub(super) fn revive(&mut self, name: &str) -> Result<(), ErrorReport> {
        let skill = self.read(name, ActivatedBy::Plan)?;
        self.enliven(&skill)?;
        if let Some(text) = self.conversation.skill_text(name) {
            match FramedText::from_conversation(name, text) {
                Some(text) => self.runtime.keep_text(name, text),
                None => self.note(format!(
                    "the text of skill `{name}` in this conversation is damaged or from another version of metier: it will not be kept when the conversation is shortened"
                )),
            }
            self.runtime.note_instructed(name);
        }
        Ok(())
    }

    /// The skills of a sub-agent, in order: each text is followed by the skill's contract.
    pub(super) fn inject(&mut self, set: &SkillSet) -> Result<(), ErrorReport> {
        let mut members = Vec::new();
        for skill in self.judged_members(set)? {
            let text = self.text_of(&skill, &Arguments::default())?;
            self.system
                .add_skill(text.as_str(), &contract(&skill.manifest));
            self.start(&skill)?;
            self.choose_model(&skill.manifest);
            self.tell(AgentEvent::SkillActivated {
                skill: skill.entry.name().into_owned(),
                by: ActivatedBy::Plan,
                why: reason(ActivatedBy::Plan).to_owned(),
                already: false,
            });
            members.push(skill);
        }
        let manifests: Vec<&SkillManifest> = members.iter().map(|skill| &skill.manifest).collect();
        let composition = set.composition();
        self.rules
            .confine(composition.tools.clone(), manifests.iter().copied());
        self.pipeline = Pipeline::new(composition, manifests, set.is_coding());
        self.keep_conditions(set, members)
    }

    /// The skills of a set, if they are still the checked ones: their folders can change in between.
    fn judged_members(&self, set: &SkillSet) -> Result<Vec<LoadedSkill>, ErrorReport> {
        let places = set.places().iter();
        let members: Vec<LoadedSkill> = places
            .map(|place| self.read(place, ActivatedBy::Plan))
            .collect::<Result<_, ErrorReport>>()?;
        if set.is_still(&members, self.context.config()) {
            return Ok(members);
        }
        let names = set.composition().order.join(", ");
        let message = format!("the set of skills ({names}) changed since it was checked");
        Err(ErrorReport::new("changed", message).hint("start the sub-agent again"))
    }

    /// Reads a skill, if the requester can use it.
    pub(super) fn read(&self, name: &str, by: ActivatedBy) -> Result<LoadedSkill, ErrorReport> {
        let inventory = self.runtime.inventory();
        let found = inventory.find(name);
        let found = found.map_err(|missing| not_found(&missing))?;
        let entry = inventory.entry(found);
        let card = entry.card.as_ref();
        let refused = |code, what: &str| {
            let message = format!("skill `{}` {what}", entry.name());
            ErrorReport::new(code, message).skill(entry.name())
        };
        match by {
            ActivatedBy::Model | ActivatedBy::Trigger
                if card.is_some_and(|card| !card.model_invocable) =>
            {
                return Err(refused(
                    "not-for-models",
                    "can only be invoked by the user (`disable-model-invocation`)",
                ));
            }
            ActivatedBy::User if card.is_some_and(|card| !card.user_invocable) => {
                return Err(refused(
                    "not-for-people",
                    "can only be invoked by the model (`user-invocable: false`)",
                )
                .hint("describe the task; the model loads the skill when it fits"));
            }
            _ => {}
        }
        if matches!(by, ActivatedBy::Model | ActivatedBy::Trigger) && found.status != Status::Ready
        {
            let info = format!("metier info {}", shell_word(&entry.name()));
            let hint = found.way_out().map_or(info, str::to_owned);
            return Err(refused("unusable", &found.standing()).hint(hint));
        }
        let loaded = self.runtime.load(&place(entry));
        loaded.map_err(|error| not_active(&entry.name(), &error))
    }

    /// The text of a skill with these arguments, in its frame.
    fn text_of(
        &self,
        skill: &LoadedSkill,
        arguments: &Arguments,
    ) -> Result<FramedText, ErrorReport> {
        let name = skill.entry.name();
        let done = self.runtime.instruct(skill, arguments);
        let done = done.map_err(|error| not_rendered(&name, &error))?;
        Ok(render::wrap(&name, &skill.entry.place, &done.rendered))
    }

    /// Starts the code of a skill, if it has any.
    fn start(&self, skill: &LoadedSkill) -> Result<(), ErrorReport> {
        if !has_code(skill) {
            if let Some(problem) = self.runtime.activate_plugin_of(&skill.entry) {
                self.note(format!("skill `{}`: {problem}", skill.entry.name()));
            }
            return Ok(());
        }
        let opened = self.runtime.activate(&place(&skill.entry));
        opened
            .map(drop)
            .map_err(|error| not_active(&skill.entry.name(), &error))
    }

    /// Starts a skill, and applies its rules.
    fn enliven(&mut self, skill: &LoadedSkill) -> Result<(), ErrorReport> {
        self.start(skill)?;
        self.rules.narrow(&skill.manifest);
        self.pipeline.join(&skill.manifest);
        self.prompt = None;
        self.refresh_tools();
        Ok(())
    }

    /// A skill can require another model, or more thinking, for the rest of the turn.
    fn choose_model(&mut self, manifest: &SkillManifest) {
        let named = wanted_model(manifest);
        let effort = effort(manifest.invocation.effort.as_deref());
        if named.is_none() && effort.is_none() {
            return;
        }
        let mut chosen = self.answering().clone();
        if let Some(name) = named {
            // An unknown name is a model that the author has and the user does not.
            match model_beside(&self.context, name, &self.chosen.name) {
                Ok(other) => chosen = other,
                Err(report) => self.note(format!(
                    "skill `{}` requires the model `{name}`, which is not available ({report}); using `{}`",
                    manifest.card.name, chosen.name
                )),
            }
        }
        if effort.is_some() {
            chosen.effort = effort;
        }
        self.instead = Some(chosen);
    }

    /// If a skill has several workflows, the first word selects one.
    fn which_workflow<'a>(&self, skill: &str, arguments: &'a str) -> (Option<&'a str>, &'a str) {
        let arguments = arguments.trim();
        let (first, rest) = arguments
            .split_once(char::is_whitespace)
            .unwrap_or((arguments, ""));
        let all = self.runtime.contributions(skill);
        let all = all.map(|all| all.workflows).unwrap_or_default();
        if all.len() > 1 && all.iter().any(|known| known.name == first) {
            return (Some(first), rest.trim());
        }
        (None, arguments)
    }

    /// Runs the workflow of a skill with its arguments.
    pub(super) fn run_workflow(
        &mut self,
        skill: &LoadedSkill,
        arguments: &str,
        by: ActivatedBy,
    ) -> Result<String, ErrorReport> {
        let name = skill.entry.name().into_owned();
        self.enliven(skill)?;
        // It has no text in the conversation: its rules must apply after a resume, too.
        self.record(HistoryRecord::Activated {
            skill: name.clone(),
        })?;
        self.tell(AgentEvent::SkillActivated {
            skill: name.clone(),
            by,
            why: reason(by).to_owned(),
            already: false,
        });
        let workflow = RequestedTool {
            name: &name,
            short: &name,
            skill: Some(&name),
        };
        if let Err(not_yet) = self.pipeline.admit(workflow, &[arguments]) {
            let reason = not_yet.to_string();
            self.runtime.refuse(Some(&name), &name, &reason)?;
            return Err(ErrorReport::new("order", reason).skill(name));
        }
        let (workflow, arguments) = self.which_workflow(&name, arguments);
        let words = Arguments::from_text(arguments);
        let input = workflow_input(words.words(), arguments);
        let called = self.runtime.run(&name, workflow, &input);
        let called = called.map_err(|error| {
            ErrorReport::new("workflow", error.to_string())
                .skill(name.as_str())
                .hint(format!(
                    "metier log {} shows what it did",
                    shell_word(&name)
                ))
        })?;
        self.tell_said(called.said);
        Ok(super::calls::shown(&called.output))
    }
}

/// Whether a model that activates a skill starts its workflow: for a skill that also has tools, only if the model passes arguments.
pub(super) fn model_runs_workflow(manifest: &SkillManifest, arguments: &str) -> bool {
    let has_tools = manifest.card.types.contains(SkillType::Tool);
    manifest.card.runs_workflow() && !(has_tools && arguments.trim().is_empty())
}

/// A name that refers to exactly this skill: several can have the same name.
pub(super) fn place(entry: &CatalogEntry) -> String {
    entry.place.path().to_string_lossy().into_owned()
}

/// The model that a skill requires; `None` for the two values that mean any model.
pub(super) fn wanted_model(manifest: &SkillManifest) -> Option<&str> {
    let named = manifest.invocation.model.as_deref();
    named.filter(|name| !matches!(*name, "inherit" | "default"))
}

pub(super) fn has_code(skill: &LoadedSkill) -> bool {
    skill.manifest.card.backend.is_some() || !metier_runtime::hooks::of(&skill.held).is_empty()
}

fn not_found(missing: &NotFound) -> ErrorReport {
    let name = metier_model::text::visible(&missing.name);
    let report = ErrorReport::new("not-found", format!("there is no skill `{name}`"));
    match missing.near.as_slice() {
        [] => report.hint("metier list shows the available skills"),
        near => report.hint(did_you_mean(near)),
    }
}

fn did_you_mean(near: &[String]) -> String {
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", near.join(" or "))
}

/// The report about a skill that can't be used.
fn not_active(skill: &str, error: &ActivateError) -> ErrorReport {
    let report = ErrorReport::new("not-active", format!("skill `{skill}`: {error}")).skill(skill);
    match error {
        ActivateError::Refused(refused) => with_way_out(report, skill, refused),
        ActivateError::Changed => report.hint("start a new session to use the changed skill"),
        _ => report.hint(format!("metier info {}", shell_word(skill))),
    }
}

pub(super) fn not_rendered(skill: &str, error: &BodyCommandError) -> ErrorReport {
    let stderr = error.stderr().unwrap_or_default();
    let lines: Vec<&str> = stderr.lines().map(str::trim).take(3).collect();
    let lines = match lines.join("; ") {
        lines if lines.is_empty() => lines,
        lines => format!(": {lines}"),
    };
    let message = format!("skill `{skill}`: {error}{lines}");
    let report = ErrorReport::new("not-active", message).skill(skill);
    match error {
        BodyCommandError::Refused(refused) => with_way_out(report, skill, refused),
        _ => report.hint(format!(
            "metier show {} shows what is wrong",
            shell_word(skill)
        )),
    }
}

fn with_way_out(report: ErrorReport, skill: &str, refused: &GrantRefused) -> ErrorReport {
    let skill = shell_word(skill);
    match refused {
        GrantRefused::NotApproved { .. } => ErrorReport {
            code: "not-approved",
            ..report
        }
        .hint(format!("allow it with --approve-skills {skill}, or permanently: metier permissions {skill} --approve")),
        GrantRefused::DeniedNow(_) | GrantRefused::RevokedMeanwhile(_) => report.hint("no decision was recorded; you will be asked again next time"),
        _ => report.hint(format!("metier permissions {skill} shows what was denied; --revoke removes it")),
    }
}
