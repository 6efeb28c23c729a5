//! Skills that work in sequence: which one waits for which, and whether each delivered its result.
//!
//! **Problem.** A specification comes before its implementation, and a model forgets instructions about order. **Decision.** The
//! program enforces the order. A tool belongs to the skills that provide it: to the one whose code it is, or to those that allow it
//! by name. It is refused while all of these wait for another skill. A skill is done when its *result* matches its contract;
//! without a contract, when one of its tools succeeded. The result is the output of a tool of the skill's own code, or a JSON
//! object in the model's text. The task is done only when every contract of the set is met.
//!
//! A coding set has additional rules, which no skill has to declare: `coding.rs`.
//!
//! In a conversation skills are loaded and unloaded, and no one asks for their results. There, a skill that requires a previous one has
//! its text but no tools; a sub-agent with both has them.

mod coding;

use metier_model::{ComposabilityRule, Condition, SkillManifest, SkillOrder, ToolPattern};
use metier_policy::{CODING_PIPELINE, Composition, allows};
use metier_schema::{BoundedSchema, SchemaMisfit, SchemaRefused};
use serde_json::Value;

pub(crate) use coding::CodingCall;
use coding::CodingTask;

use crate::rules::RequestedTool;

/// The skills of a sub-agent, in order.
#[derive(Default)]
pub(crate) struct Pipeline {
    stages: Vec<PipelineStage>,
    /// The additional rules of a coding set.
    coding: Option<CodingTask>,
    /// Skills that were loaded in a conversation, and the previous skill that each requires.
    apart: Vec<(String, String)>,
}

struct PipelineStage {
    skill: String,
    /// The skills that must be done.
    after: Vec<String>,
    /// The schemas of its result: its contract, and those among its postconditions.
    promises: Vec<StageContract>,
    /// The schemas of its input, from its preconditions.
    expects: Vec<StageContract>,
    /// Whether it has code, whose tools are its own.
    has_code: bool,
    /// The tools that it allows.
    brings: Vec<ToolPattern>,
    /// A tool that it provides succeeded.
    has_worked: bool,
    output: Option<Value>,
}

struct StageContract {
    schema: Value,
    bounded: Result<BoundedSchema, SchemaRefused>,
}

/// Why a tool is not called now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotYet {
    /// Another skill comes first.
    #[error("`{waits}` runs after `{first}`, which has not delivered its result yet: {what}")]
    Waits {
        /// The skill, or the tool, that has to wait.
        waits: String,
        /// The one that comes before.
        first: String,
        /// The instruction.
        what: String,
    },
    /// No skill delivered the input that this one requires.
    #[error("`{skill}` expects a result that matches {schema}, but none was delivered")]
    Expects {
        /// The skill that expects a result.
        skill: String,
        /// The JSON Schema of that result.
        schema: String,
    },
    /// Never in a coding set.
    #[error("a coding task uses only the skills of its set: `{0}` could add others")]
    Leads(String),
}

impl NotYet {
    /// The skill whose rule it is.
    pub(crate) fn by(&self) -> Option<&str> {
        match self {
            Self::Waits { first, .. } => Some(first),
            Self::Expects { skill, .. } => Some(skill),
            Self::Leads(_) => None,
        }
    }
}

impl Pipeline {
    /// The order between the skills of a set, as it was checked.
    pub(crate) fn new<'m>(
        set: &Composition,
        members: impl IntoIterator<Item = &'m SkillManifest>,
        is_coding: bool,
    ) -> Self {
        let members: Vec<&SkillManifest> = members.into_iter().collect();
        let mut stages: Vec<PipelineStage> = members
            .iter()
            .map(|member| PipelineStage::new(member, set))
            .collect();
        let coding = CodingTask::new(&members, is_coding);
        // The two skills of a coding task must deliver a specification and a report, whatever they declare.
        for stage in stages.iter_mut().filter(|_| coding.is_some()) {
            if stage.promises.is_empty() {
                stage.promises = coding::owed(&stage.skill)
                    .iter()
                    .map(StageContract::new)
                    .collect();
            }
        }
        Self {
            stages,
            coding,
            apart: Vec::new(),
        }
    }

    /// Contracts that no result can match, because the schema is refused.
    pub(crate) fn refused(&self) -> Vec<String> {
        let all = self.stages.iter().flat_map(|stage| {
            let both = stage.promises.iter().chain(&stage.expects);
            both.map(move |contract| (&stage.skill, contract))
        });
        all.filter_map(|(skill, contract)| {
            let refused = contract.refusal()?;
            Some(format!("a schema of `{skill}` is refused: {refused}"))
        })
        .collect()
    }

    /// Skills that come first and require input that the task does not contain.
    pub(crate) fn expected_of(&self, task: &str) -> Vec<NotYet> {
        let given = objects(task);
        let first = self.stages.iter().filter(|stage| stage.after.is_empty());
        first
            .flat_map(|stage| stage.unmet(&given.iter().collect::<Vec<_>>()))
            .collect()
    }

    /// A skill was loaded in a conversation.
    pub(crate) fn join(&mut self, manifest: &SkillManifest) {
        let skill = manifest.card.name.to_string();
        self.leave(&skill);
        if self.stages.iter().any(|stage| stage.skill == skill) {
            return;
        }
        let rules = manifest.contract.composability_rules.iter();
        let mut first = rules.filter(|rule| rule.required && is_after(rule));
        let first = first.next().map(|rule| rule.with.to_string());
        // An implementer comes after its specification, whatever it declares.
        let [specification, implementer] = CODING_PIPELINE;
        let specified = (skill == implementer).then(|| specification.to_owned());
        if let Some(first) = first.or(specified) {
            self.apart.push((skill, first));
        }
    }

    /// Removes a skill that was unloaded.
    pub(crate) fn leave(&mut self, skill: &str) {
        self.apart.retain(|(apart, _)| apart != skill);
    }

    /// Whether a tool can be called now; a rule with brackets is compared with the values in `arguments`.
    ///
    /// # Errors
    /// When another skill comes first.
    pub(crate) fn admit(&self, tool: RequestedTool<'_>, arguments: &[&str]) -> Result<(), NotYet> {
        if let Some((waits, first)) = self.apart_of(tool) {
            return Err(NotYet::Waits {
                waits: waits.clone(),
                first: first.clone(),
                what: format!(
                    "give the task to a sub-agent with the skills `{first}` and `{waits}`"
                ),
            });
        }
        if let Some(coding) = &self.coding {
            coding.admit(tool)?;
        }
        let mut refused = None;
        for stage in self.bringing(tool, arguments) {
            match self.may_begin(stage) {
                Ok(()) => return Ok(()),
                Err(not_yet) => refused = refused.or(Some(not_yet)),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    fn apart_of(&self, tool: RequestedTool<'_>) -> Option<&(String, String)> {
        let mut apart = self.apart.iter();
        apart.find(|(skill, _)| Some(skill.as_str()) == tool.skill)
    }

    /// The skills of the set that a call belongs to: the one whose code the tool is, otherwise those that allow this call. A call that
    /// several skills allow only together belongs to the one that waits longest.
    fn bringing(&self, tool: RequestedTool<'_>, arguments: &[&str]) -> Vec<&PipelineStage> {
        let is_own = |stage: &&PipelineStage| Some(stage.skill.as_str()) == tool.skill;
        let allows = |stage: &&PipelineStage| stage.allows(tool.name, arguments);
        let concerns = |stage: &&PipelineStage| stage.concerns(tool.name);
        let own: Vec<&PipelineStage> = self.stages.iter().filter(is_own).collect();
        if !own.is_empty() {
            return own;
        }
        let allowing: Vec<&PipelineStage> = self.stages.iter().filter(allows).collect();
        if !allowing.is_empty() {
            return allowing;
        }
        let mut concerned = self.stages.iter().filter(concerns);
        let waiting = concerned.find(|stage| self.may_begin(stage).is_err());
        waiting.into_iter().collect()
    }

    fn may_begin(&self, stage: &PipelineStage) -> Result<(), NotYet> {
        let before: Vec<&PipelineStage> = self
            .stages
            .iter()
            .filter(|first| stage.after.contains(&first.skill))
            .collect();
        if let Some(first) = before.iter().find(|first| !first.is_done()) {
            return Err(NotYet::Waits {
                waits: stage.skill.clone(),
                first: first.skill.clone(),
                what: first.owes().to_owned(),
            });
        }
        if before.is_empty() {
            // The input that it requires from the task was checked before the first request.
            return Ok(());
        }
        let given: Vec<&Value> = before
            .iter()
            .filter_map(|first| first.output.as_ref())
            .collect();
        stage.unmet(&given).into_iter().next().map_or(Ok(()), Err)
    }

    /// Whether the file changes around a call have to be known.
    pub(crate) fn watches(&self, tool: RequestedTool<'_>) -> bool {
        self.coding
            .as_ref()
            .is_some_and(|coding| coding.watches(tool))
    }

    /// Records that a tool succeeded. Output that matches the contract is the skill's result; a later one replaces it.
    pub(crate) fn deliver(&mut self, tool: RequestedTool<'_>, arguments: &[&str], output: &Value) {
        let bringing: Vec<String> = self
            .bringing(tool, arguments)
            .into_iter()
            .filter(|stage| self.may_begin(stage).is_ok())
            .map(|stage| stage.skill.clone())
            .collect();
        for stage in &mut self.stages {
            if !bringing.contains(&stage.skill) {
                continue;
            }
            stage.has_worked = true;
            let is_own = Some(stage.skill.as_str()) == tool.skill;
            if is_own && !stage.promises.is_empty() && stage.misfit(output).is_none() {
                stage.output = Some(output.clone());
                if let Some(coding) = &mut self.coding {
                    coding.delivered(&stage.skill, output);
                }
            }
        }
    }

    /// Records the result of a watched call, including a failed one.
    pub(crate) fn watched(&mut self, tool: RequestedTool<'_>, called: CodingCall) {
        if let Some(coding) = &mut self.coding {
            coding.called(tool, called);
        }
    }

    /// Reads the model's text: skills without tools deliver in it.
    pub(crate) fn hear(&mut self, text: &str) {
        let delivers = |stage: &PipelineStage| !stage.has_code && !stage.promises.is_empty();
        if !self.stages.iter().any(delivers) {
            return;
        }
        let objects = objects(text);
        for stage in self.stages.iter_mut().filter(|stage| delivers(stage)) {
            let fits = objects.iter().find(|value| stage.misfit(value).is_none());
            if let Some(fits) = fits.filter(|fits| stage.output.as_ref() != Some(fits)) {
                stage.output = Some(fits.clone());
                if let Some(coding) = &mut self.coding {
                    coding.delivered(&stage.skill, fits);
                }
            }
        }
    }

    /// Whether the final answer contains the results that the skills of the set promised.
    ///
    /// # Errors
    /// The missing results, in sentences that a model can follow.
    pub(crate) fn conclude(&mut self, answer: &str) -> Result<(), Vec<String>> {
        let objects = objects(answer);
        let mut missing = Vec::new();
        for at in 0..self.stages.len() {
            let stage = &self.stages[at];
            if stage.promises.is_empty() {
                continue;
            }
            let is_last = !self.is_waited_for(&stage.skill);
            // The last skill of an order reports in the answer; any other one has delivered, or does so now.
            let is_due = is_last && (!stage.after.is_empty() || stage.output.is_none());
            if !is_due {
                if stage.output.is_none() {
                    missing.push(format!("`{}` has not delivered its result", stage.skill));
                }
                continue;
            }
            let fitting: Vec<&Value> = objects
                .iter()
                .filter(|value| stage.misfit(value).is_none())
                .collect();
            match fitting.as_slice() {
                [] => missing.push(stage.missing(objects.first())),
                [one, ..] => {
                    if let Some(coding) = &self.coding {
                        missing.extend(coding.disputes(&stage.skill, &fitting));
                    }
                    self.stages[at].output = Some((*one).clone());
                }
            }
        }
        if let Some(coding) = &self.coding {
            missing.extend(coding.breaches());
        }
        if missing.is_empty() {
            Ok(())
        } else {
            Err(missing)
        }
    }

    /// The program's own record of a coding task, independent of the report.
    pub(crate) fn facts(&self) -> Option<String> {
        self.coding.as_ref().map(CodingTask::facts)
    }

    /// Whether another skill comes after this one.
    fn is_waited_for(&self, skill: &str) -> bool {
        let mut after = self.stages.iter().flat_map(|stage| &stage.after);
        after.any(|first| first == skill)
    }
}

impl PipelineStage {
    fn new(manifest: &SkillManifest, set: &Composition) -> Self {
        let skill = manifest.card.name.to_string();
        let waits = set.waits.iter();
        let after = waits.filter(|(_, second)| *second == skill);
        let schemas = |conditions: &[Value]| -> Vec<StageContract> {
            let schemas = conditions
                .iter()
                .filter_map(|one| match Condition::read(one) {
                    Condition::Schema(schema) => Some(StageContract::new(schema)),
                    _ => None,
                });
            schemas.collect()
        };
        let contract = &manifest.contract;
        // Prose is for the model: it can't be compared with a value.
        let output = contract.output_contract.as_ref();
        let output = output.filter(|contract| !contract.is_string());
        let mut promises: Vec<StageContract> = output.map(StageContract::new).into_iter().collect();
        promises.extend(schemas(&contract.postconditions));
        Self {
            after: after.map(|(first, _)| first.clone()).collect(),
            promises,
            expects: schemas(&contract.preconditions),
            has_code: manifest.card.backend.is_some(),
            brings: allows(manifest),
            has_worked: false,
            output: None,
            skill,
        }
    }

    /// Whether it allows a call of this tool with these arguments.
    fn allows(&self, tool: &str, arguments: &[&str]) -> bool {
        let covers = |argument: &&str| {
            let call = ToolPattern::call(tool, argument);
            call.is_ok_and(|call| self.named().any(|rule| rule.covers(&call)))
        };
        arguments.iter().all(covers)
    }

    /// Whether its rules mention this tool.
    fn concerns(&self, tool: &str) -> bool {
        let tool = tool.parse();
        tool.is_ok_and(|tool| self.named().any(|rule| rule.overlaps(&tool)))
    }

    fn named(&self) -> impl Iterator<Item = &ToolPattern> {
        self.brings.iter().filter(|rule| !rule.names_no_tool())
    }

    /// Whether the skills after it can start. A skill with neither a contract nor a tool has no result; a warning reported
    /// that.
    fn is_done(&self) -> bool {
        if self.promises.is_empty() {
            self.has_worked || (self.brings.is_empty() && !self.has_code)
        } else {
            self.output.is_some()
        }
    }

    fn owes(&self) -> &'static str {
        match (self.promises.is_empty(), self.has_code) {
            (true, _) => "call one of its tools",
            (false, true) => "call its tool with a result that matches its contract",
            (false, false) => "write its result as a JSON object that matches its contract",
        }
    }

    /// The expected input that is missing.
    fn unmet(&self, given: &[&Value]) -> Vec<NotYet> {
        let unmet = self.expects.iter().filter(|expected| {
            let mut given = given.iter();
            !given.any(|value| expected.misfit(value).is_none())
        });
        unmet
            .map(|expected| NotYet::Expects {
                skill: self.skill.clone(),
                schema: expected.schema.to_string(),
            })
            .collect()
    }

    /// Why a value does not match its contract.
    fn misfit(&self, value: &Value) -> Option<String> {
        let mut promises = self.promises.iter();
        promises.find_map(|promise| promise.misfit(value))
    }

    /// The message when no object of the answer is its result.
    fn missing(&self, nearest: Option<&Value>) -> String {
        let why = nearest.and_then(|value| self.misfit(value));
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let schemas: Vec<String> = self
            .promises
            .iter()
            .map(|promise| promise.schema.to_string())
            .collect();
        format!(
            "the result of `{}` is missing{why}: end with a JSON object in a ```json block that matches {}",
            self.skill,
            schemas.join(" and ")
        )
    }
}

impl StageContract {
    fn new(schema: &Value) -> Self {
        Self {
            bounded: BoundedSchema::new(schema),
            schema: schema.clone(),
        }
    }

    /// Why no value can match.
    fn refusal(&self) -> Option<String> {
        match &self.bounded {
            Err(refused) => Some(refused.to_string()),
            Ok(schema) => match schema.check(&Value::Null) {
                Err(wrong @ SchemaMisfit::Schema(_)) => Some(wrong.to_string()),
                _ => None,
            },
        }
    }

    /// Why a value does not match. No value matches a refused schema.
    fn misfit(&self, value: &Value) -> Option<String> {
        match &self.bounded {
            Err(refused) => Some(format!("its contract is refused: {refused}")),
            Ok(schema) => schema.check(value).err().map(|misfit| misfit.to_string()),
        }
    }
}

fn is_after(rule: &ComposabilityRule) -> bool {
    rule.order == Some(SkillOrder::After)
}

/// The JSON objects of a text: in fenced blocks, or all of it.
fn objects(text: &str) -> Vec<Value> {
    let whole = serde_json::from_str(text.trim()).ok();
    let mut fences = text.split("```");
    fences.next();
    // Every other piece is inside a fence; its first line can name a language.
    let blocks = fences.step_by(2).filter_map(|block| {
        let body = block.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        serde_json::from_str(body.trim()).ok()
    });
    whole
        .into_iter()
        .chain(blocks)
        .filter(Value::is_object)
        .collect()
}

#[cfg(test)]
mod tests;
