//! Skills that work one after the other: who waits for whom, and whether what they made is what they promised.
//!
//! **Problem.** A specification comes before its implementation, and a model that is told so forgets it. **Decision.** The order is kept by
//! the program. A skill that comes after another one has its tools refused until the other's *output* exists and fits its contract.
//! The output of a skill is what one of its tools answered; of a skill without tools, a JSON object in the model's words. The
//! last skills of the order are asked for theirs at the end: the final answer holds it, or the task is not done.
//!
//! In a conversation skills come and go, and nobody asks for their outputs. There a skill that can't be without the one before it has
//! its text and no tools; a sub-agent with both has them.

use metier_model::{ComposabilityRule, Manifest};
use metier_policy::CODING_PIPELINE;
use metier_runtime::schema::{BoundedSchema, SchemaRefused};
use serde_json::Value;

/// The skills of a sub-agent, in order.
#[derive(Default)]
pub(crate) struct Pipeline {
    stages: Vec<Stage>,
    /// Skills that were loaded in a conversation, and the one that each can't be without.
    apart: Vec<(String, String)>,
}

struct Stage {
    skill: String,
    /// The skills that must have finished.
    after: Vec<String>,
    contract: Option<Contract>,
    has_tools: bool,
    output: Option<Value>,
}

struct Contract {
    schema: Value,
    bounded: Result<BoundedSchema, SchemaRefused>,
}

/// Why a tool has to wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{waits}` comes after `{first}`, which has not delivered yet: {what}")]
pub(crate) struct NotYet {
    /// The skill that has to wait.
    pub(crate) waits: String,
    /// The one that comes before.
    pub(crate) first: String,
    /// What to do first.
    pub(crate) what: String,
}

impl Pipeline {
    /// The order between these skills, as they declare it.
    pub(crate) fn new<'m>(members: impl IntoIterator<Item = &'m Manifest>) -> Self {
        let members: Vec<&Manifest> = members.into_iter().collect();
        let name = |manifest: &Manifest| manifest.card.name.to_string();
        let stage = |manifest: &&Manifest| {
            let is_before = |other: &&&Manifest| {
                says(other, &name(manifest), "before") || says(manifest, &name(other), "after")
            };
            let after = members.iter().filter(is_before);
            let schema = manifest.contract.output_contract.clone();
            Stage {
                skill: name(manifest),
                after: after.map(|other| name(other)).collect(),
                contract: schema.map(|schema| Contract {
                    bounded: BoundedSchema::new(&schema),
                    schema,
                }),
                has_tools: manifest.card.backend.is_some(),
                output: None,
            }
        };
        Self {
            stages: members.iter().map(stage).collect(),
            apart: Vec::new(),
        }
    }

    /// A skill was loaded in a conversation.
    pub(crate) fn join(&mut self, manifest: &Manifest) {
        let skill = manifest.card.name.to_string();
        self.leave(&skill);
        if self.stages.iter().any(|stage| stage.skill == skill) {
            return;
        }
        let rules = manifest.contract.composability_rules.iter();
        let mut first = rules.filter(|rule| rule.required && is_after(rule));
        if let Some(first) = first.next() {
            self.apart.push((skill, first.with.to_string()));
        }
    }

    /// It was unloaded.
    pub(crate) fn leave(&mut self, skill: &str) {
        self.apart.retain(|(apart, _)| apart != skill);
    }

    /// Whether a tool of this skill may be called now.
    ///
    /// # Errors
    /// When another skill comes first.
    pub(crate) fn admit(&self, skill: &str) -> Result<(), NotYet> {
        if let Some((waits, first)) = self.apart.iter().find(|(apart, _)| apart == skill) {
            return Err(NotYet {
                waits: waits.clone(),
                first: first.clone(),
                what: format!(
                    "give the task to a sub-agent with the skills `{first}` and `{waits}`"
                ),
            });
        }
        let Some(stage) = self.stages.iter().find(|stage| stage.skill == skill) else {
            return Ok(());
        };
        let waits_for = |first: &&Stage| {
            stage.after.contains(&first.skill) && first.contract.is_some() && first.output.is_none()
        };
        match self.stages.iter().find(waits_for) {
            None => Ok(()),
            Some(first) => Err(NotYet {
                waits: skill.to_owned(),
                first: first.skill.clone(),
                what: if first.has_tools {
                    "call its tool with a result that fits its contract".to_owned()
                } else {
                    "write its result as a JSON object that fits its contract".to_owned()
                },
            }),
        }
    }

    /// A tool of a skill answered. What fits the contract is the skill's output; a later one takes its place.
    pub(crate) fn deliver(&mut self, skill: &str, output: &Value) {
        let stage = self.stages.iter_mut().find(|stage| stage.skill == skill);
        if let Some(stage) = stage
            && stage.misfit(output).is_none()
            && stage.contract.is_some()
        {
            stage.output = Some(output.clone());
        }
    }

    /// The model said something: skills without tools deliver in its words.
    pub(crate) fn hear(&mut self, text: &str) {
        let silent = |stage: &Stage| !stage.has_tools && stage.contract.is_some();
        if !self.stages.iter().any(silent) {
            return;
        }
        let objects = objects(text);
        for stage in self.stages.iter_mut().filter(|stage| silent(stage)) {
            if let Some(fits) = objects.iter().find(|value| stage.misfit(value).is_none()) {
                stage.output = Some(fits.clone());
            }
        }
    }

    /// Whether the final answer delivers what the last skills promised.
    ///
    /// # Errors
    /// What is missing, in sentences that a model can follow.
    pub(crate) fn conclude(&mut self, answer: &str) -> Result<(), Vec<String>> {
        let objects = objects(answer);
        let mut missing = Vec::new();
        for at in 0..self.stages.len() {
            let stage = &self.stages[at];
            let Some(contract) = &stage.contract else {
                continue;
            };
            if self.is_waited_for(&stage.skill) {
                if stage.output.is_none() && stage.has_tools {
                    missing.push(format!("`{}` has not delivered", stage.skill));
                }
                continue;
            }
            // A skill that neither waits nor is waited for owes nothing at the end.
            if stage.after.is_empty() {
                continue;
            }
            match objects.iter().find(|value| stage.misfit(value).is_none()) {
                Some(output) => {
                    missing.extend(self.unanswered(at, output));
                    self.stages[at].output = Some(output.clone());
                }
                None => {
                    let why = objects.first().and_then(|value| stage.misfit(value));
                    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                    missing.push(format!(
                        "the result of `{}` is missing{why}: end with a JSON object in a ```json block that fits {}",
                        stage.skill, contract.schema
                    ));
                }
            }
        }
        if missing.is_empty() {
            Ok(())
        } else {
            Err(missing)
        }
    }

    /// Whether another skill comes after this one.
    fn is_waited_for(&self, skill: &str) -> bool {
        let mut after = self.stages.iter().flat_map(|stage| &stage.after);
        after.any(|first| first == skill)
    }

    /// The acceptance criteria that a report leaves out, or calls met without evidence.
    fn unanswered(&self, at: usize, report: &Value) -> Vec<String> {
        let [specification, implementer] = CODING_PIPELINE;
        if self.stages[at].skill != implementer {
            return Vec::new();
        }
        let specified = self
            .stages
            .iter()
            .find(|stage| stage.skill == specification)
            .and_then(|stage| stage.output.as_ref());
        let ids = |value: &Value, list: &str| -> Vec<String> {
            let items = value[list].as_array().into_iter().flatten();
            items
                .filter_map(|item| item["id"].as_str().map(str::to_owned))
                .collect()
        };
        let reported = ids(report, "criteria");
        let promised = specified.map_or_else(Vec::new, |value| ids(value, "acceptance"));
        let mut wrong: Vec<String> = promised
            .iter()
            .filter(|id| !reported.contains(id))
            .map(|id| format!("nothing is said about acceptance criterion `{id}`"))
            .collect();
        for item in report["criteria"].as_array().into_iter().flatten() {
            let empty = item["evidence"]
                .as_str()
                .is_none_or(|evidence| evidence.trim().is_empty());
            if item["met"] == Value::Bool(true) && empty {
                wrong.push(format!("criterion {} is met without evidence", item["id"]));
            }
        }
        wrong
    }
}

impl Stage {
    /// Why a value is not what the contract promises. A contract that is no schema promises nothing that could be kept.
    fn misfit(&self, value: &Value) -> Option<String> {
        let contract = self.contract.as_ref()?;
        match &contract.bounded {
            Err(refused) => Some(format!("its contract is refused: {refused}")),
            Ok(schema) => schema.check(value).err().map(|misfit| misfit.to_string()),
        }
    }
}

fn is_after(rule: &ComposabilityRule) -> bool {
    rule.order.as_deref() == Some("after")
}

/// Whether a skill says that it works before or after another one.
fn says(manifest: &Manifest, other: &str, order: &str) -> bool {
    let rules = manifest.contract.composability_rules.iter();
    let says =
        |rule: &ComposabilityRule| *rule.with == *other && rule.order.as_deref() == Some(order);
    rules.into_iter().any(says)
}

/// The JSON objects of a text: in fenced blocks, or all of it.
fn objects(text: &str) -> Vec<Value> {
    let whole = serde_json::from_str(text.trim()).ok();
    let mut fences = text.split("```");
    fences.next();
    // Every other piece is inside of a fence; its first line may name a language.
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
#[path = "pipeline_tests.rs"]
mod tests;
