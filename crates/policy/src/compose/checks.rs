//! Checks while a set runs, and their limits: tools that can write, orders without evidence, conditions
//! in prose.

use metier_model::{Condition, Permission, SkillManifest, ToolPattern};

use super::{
    CODING_PIPELINE, CompositionFault, FaultCode, Faults, MemberSet, list,
    tools::{CORE_TOOLS, SESSION_TOOLS, ToolPolicy, allows, brings_own_tools},
};

/// metier's tools that change nothing and start nothing.
const READING: &[&str] = &[
    "read",
    "glob",
    "grep",
    "list_skills",
    "search_skills",
    "read_skill_resource",
];

/// Permissions by which a skill changes something, runs something, or lets another skill do so.
const WRITING: [Permission; 4] = [
    Permission::FileWrite,
    Permission::ShellExec,
    Permission::GitWrite,
    Permission::SkillInvoke,
];

/// Whether a tool of metier only reads, by any spelling of its name.
#[must_use]
pub fn reads_only(tool: &str) -> bool {
    tool.parse().is_ok_and(|tool| is_reading(&tool))
}

fn is_reading(pattern: &ToolPattern) -> bool {
    let mut reading = READING.iter().filter_map(|tool| tool.parse().ok());
    reading.any(|tool: ToolPattern| tool.covers(pattern))
}

/// Whether a skill requests a permission by which its own tools can change or run something.
#[must_use]
pub fn writes(skill: &SkillManifest) -> bool {
    let mut wants = skill.wants.iter();
    wants.any(|want| WRITING.contains(&want.permission))
}

/// Whether the agent of a set could change files or run commands.
pub(super) fn can_write(set: &MemberSet<'_>, tools: &ToolPolicy) -> bool {
    let of_program = CORE_TOOLS.iter().chain(SESSION_TOOLS);
    let mut writing = of_program.filter(|tool| !reads_only(tool));
    let by_code = |skill: &&SkillManifest| skill.card.backend.is_some() && writes(skill);
    writing.any(|tool| tools.offers(tool)) || set.skills.iter().any(by_code)
}

/// A condition of a skill in prose: the model is asked to keep it, and no program checks it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unchecked {
    /// The name of the skill with the condition.
    pub skill: String,
    /// The field that contains it.
    pub field: &'static str,
    /// The condition as written.
    pub text: String,
}

pub(super) fn unchecked(set: &MemberSet<'_>) -> Vec<Unchecked> {
    let of = |skill: &&SkillManifest| {
        let contract = &skill.contract;
        let before = contract.preconditions.iter();
        let after = contract.postconditions.iter();
        let result = contract.output_contract.iter();
        let all = before
            .map(|value| ("preconditions", value))
            .chain(after.map(|value| ("postconditions", value)))
            .chain(result.map(|value| ("output_contract", value)));
        let name = skill.card.name.to_string();
        let prose = all.filter_map(|(field, value)| Some((field, value.as_str()?)));
        prose
            .map(|(field, text)| Unchecked {
                skill: name.clone(),
                field,
                text: text.to_owned(),
            })
            .collect::<Vec<_>>()
    };
    set.skills.iter().flat_map(of).collect()
}

/// Reports an order without evidence: the first skill has no tool that could have been called, and no output that
/// could be checked.
pub(super) fn order(set: &MemberSet<'_>, waits: &[(String, String)], faults: &mut Faults) {
    for (first, second) in waits {
        let mut skills = set.skills.iter();
        let Some(skill) = skills.find(|skill| *skill.card.name == **first) else {
            continue;
        };
        let has_contract = skill
            .contract
            .output_contract
            .as_ref()
            .is_some_and(|contract| !contract.is_string());
        if !has_contract && allows(skill).is_empty() {
            let message = format!(
                "`{second}` runs after `{first}`, but nothing shows when `{first}` is done: it allows no tool and has no `output_contract`"
            );
            faults.warning(
                CompositionFault::new(FaultCode::UncheckedOrder, [&**first, &**second], message)
                    .hint(format!("give `{first}` an `output_contract` or a tool")),
            );
        }
    }
}

/// Reports conditions that look checkable and can't be checked.
pub(super) fn conditions(set: &MemberSet<'_>, faults: &mut Faults) {
    for skill in &set.skills {
        let contract = &skill.contract;
        let both = contract
            .preconditions
            .iter()
            .chain(&contract.postconditions);
        for value in both.filter(|value| Condition::read(value) == Condition::Unknown) {
            let name = skill.card.name.as_str();
            let message = format!("`{name}` has a condition that can't be checked: {value}");
            faults.error(
                CompositionFault::new(FaultCode::UnreadableCondition, [name], message).hint(
                    "write a sentence, or `{file: PATH}`, `{command: LINE}` or `{schema: {…}}`",
                ),
            );
        }
    }
}

/// Reports tools by which a skill outside the coding pipeline could write: they are held back until the implementer
/// has run.
pub(super) fn held(set: &MemberSet<'_>, tools: &ToolPolicy, faults: &mut Faults) {
    let [_, implementer] = CODING_PIPELINE;
    for skill in &set.skills {
        let name = skill.card.name.as_str();
        if CODING_PIPELINE.contains(&name) {
            continue;
        }
        let is_allowed = |tool: &&ToolPattern| tools.allowed.contains(*tool);
        let allowed = allows(skill);
        let held = allowed.iter().filter(is_allowed);
        let held: Vec<&str> = held
            .filter(|tool| !is_reading(tool))
            .map(ToolPattern::as_str)
            .collect();
        let what = if !held.is_empty() {
            list(&held, "and")
        } else if brings_own_tools(skill) && skill.card.backend.is_some() && writes(skill) {
            "its own tools".to_owned()
        } else {
            continue;
        };
        let message = format!(
            "`{name}` can write with {what}: such calls are refused until `{implementer}` has run, and so is a report after a call that changed a file"
        );
        faults.warning(CompositionFault::new(FaultCode::HeldTool, [name], message));
    }
}
