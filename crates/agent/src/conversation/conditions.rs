//! Conditions before and after the skills of a set run: files, commands, and existing tools.
//!
//! A condition of a skill that comes first, or that has no code, is checked before the first request; one of a skill that waits, when its
//! first tool is called. Postconditions are checked with the answer. A command runs in the project with the permissions of its skill, like
//! the commands in its text, and has a receipt. Schemas are checked where results are: `pipeline.rs`.

use metier_catalog::{has_file, read_small};
use metier_model::{Condition, SkillManifest};
use metier_policy::{CORE_TOOLS, SESSION_TOOLS, allows};
use metier_runtime::render::LoadedSkill;
use metier_schema::BoundedSchema;
use serde_json::Value;

use super::{AgentConversation, SkillSet, activation::not_rendered};
use crate::ErrorReport;

/// The largest file whose content is compared with a schema.
const MAX_FILE: u64 = 1 << 20;

/// A skill of a set with conditions.
pub(super) struct Conditioned {
    skill: LoadedSkill,
    /// The preconditions held.
    is_ready: bool,
}

impl AgentConversation {
    /// Keeps the skills whose conditions are checked, and checks those that can be checked before the model is asked.
    pub(super) fn keep_conditions(
        &mut self,
        set: &SkillSet,
        members: Vec<LoadedSkill>,
    ) -> Result<(), ErrorReport> {
        let refused = self.pipeline.refused();
        if !refused.is_empty() {
            let report = ErrorReport::new("contract", refused.join("; "));
            return Err(report.hint("`metier compose` names the skills of a set; fix the schema"));
        }
        let waits = |skill: &str| set.composition().waits.iter().any(|(_, one)| one == skill);
        for skill in members {
            let name = skill.entry.name().into_owned();
            let begins = !waits(&name) || skill.manifest.card.backend.is_none();
            self.conditioned.push(Conditioned {
                skill,
                is_ready: false,
            });
            if begins {
                self.check_preconditions(&name)?;
            }
        }
        Ok(())
    }

    /// Checks the preconditions of a skill.
    ///
    /// # Errors
    /// When a precondition does not hold; the next call checks again.
    pub(super) fn check_preconditions(&mut self, name: &str) -> Result<(), ErrorReport> {
        let is_it = |one: &&mut Conditioned| *one.skill.entry.name() == *name;
        let mut conditioned = std::mem::take(&mut self.conditioned);
        let found = conditioned.iter_mut().find(is_it);
        let checked = match found.filter(|one| !one.is_ready) {
            None => Ok(Vec::new()),
            Some(one) => {
                let conditions = &one.skill.manifest.contract.preconditions;
                let unkept = self.unkept(&one.skill, conditions);
                one.is_ready = unkept.as_ref().is_ok_and(Vec::is_empty);
                unkept
            }
        };
        self.conditioned = conditioned;
        let unkept = checked?;
        if unkept.is_empty() {
            return Ok(());
        }
        let message = format!("skill `{name}` can't start: {}", unkept.join("; "));
        self.runtime.refuse(Some(name), name, &message)?;
        Err(ErrorReport::new("precondition", message)
            .skill(name)
            .hint("meet its preconditions, then start the task again"))
    }

    /// The postconditions of the set's skills that do not hold.
    pub(super) fn unkept_postconditions(&self) -> Result<Vec<String>, ErrorReport> {
        let mut all = Vec::new();
        for one in &self.conditioned {
            let conditions = &one.skill.manifest.contract.postconditions;
            let unkept = self.unkept(&one.skill, conditions)?;
            let name = one.skill.entry.name();
            all.extend(unkept.iter().map(|what| format!("`{name}`: {what}")));
        }
        Ok(all)
    }

    fn unkept(
        &self,
        skill: &LoadedSkill,
        conditions: &[Value],
    ) -> Result<Vec<String>, ErrorReport> {
        let mut unkept = Vec::new();
        for condition in conditions {
            let kept = match Condition::read(condition) {
                Condition::File { path, schema } => self.check_file(path, schema),
                Condition::Command(line) => {
                    let ran = self.runtime.check_command(skill, line);
                    ran.map_err(|error| not_rendered(&skill.entry.name(), &error))?
                }
                Condition::Prose(_) | Condition::Schema(_) | Condition::Unknown => Ok(()),
            };
            unkept.extend(kept.err());
        }
        Ok(unkept)
    }

    fn check_file(&self, path: &str, schema: Option<&Value>) -> Result<(), String> {
        let project = &self.runtime.environment().approvals.terms.project;
        let Some(schema) = schema else {
            let is_there = has_file(project, path).then_some(());
            return is_there.ok_or_else(|| format!("there is no file `{path}`"));
        };
        let text = read_small(project, path, MAX_FILE);
        let text = text.map_err(|error| format!("`{path}` can't be read: {error}"))?;
        let text = text.ok_or_else(|| format!("there is no file `{path}`"))?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| format!("`{path}` is not valid JSON: {error}"))?;
        let schema = BoundedSchema::new(schema)
            .map_err(|refused| format!("the schema for `{path}` is refused: {refused}"))?;
        schema
            .check(&value)
            .map_err(|misfit| format!("`{path}` does not match its schema: {misfit}"))
    }

    /// Whether every skill that lists tools has one of them, now that the code of all of them runs.
    pub(super) fn check_tools(&self, set: &SkillSet) -> Result<(), ErrorReport> {
        let registered = self.runtime.tools();
        let of_program = CORE_TOOLS.iter().chain(SESSION_TOOLS).copied();
        let lacks = |manifest: &&SkillManifest| {
            let allowed = allows(manifest);
            let is_allowed = |tool: &str| {
                let named = allowed.iter().filter(|rule| !rule.names_no_tool());
                let tool = tool.parse();
                tool.is_ok_and(|tool| named.into_iter().any(|rule| rule.overlaps(&tool)))
            };
            let own = manifest.card.name.as_str();
            let by_skill = registered.iter().any(|tool| {
                is_allowed(&tool.name) || (tool.skill == own && is_allowed(&tool.spec.name))
            });
            !allowed.is_empty() && !by_skill && !of_program.clone().any(is_allowed)
        };
        let mut members = self.conditioned.iter().map(|one| &one.skill.manifest);
        let Some(without) = members.find(lacks) else {
            return Ok(());
        };
        let name = without.card.name.as_str();
        let tools: Vec<String> = allows(without)
            .iter()
            .map(|tool| format!("`{tool}`"))
            .collect();
        let message = format!(
            "the sub-agent was not started: `{name}` allows {}, which names no tool of the program or of the set ({})",
            tools.join(", "),
            set.composition().order.join(", ")
        );
        Err(ErrorReport::new("no-such-tool", message)
            .skill(name)
            .hint(format!(
                "name existing tools in `allowed_tools` of `{name}`"
            )))
    }
}
