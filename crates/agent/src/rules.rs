//! The tools that a conversation can use, whatever the model outputs.
//!
//! **Problem.** Skills state what their agent can use in four lists, a sub-agent gets exactly what its set allows, and a parent
//! must not gain permissions by starting one. A model can call a tool even if it was not given it.
//!
//! **Decision.** Every rule has an owner and is checked at dispatch, for every call. A *set* (a sub-agent's skills) allows by name
//! and denies the rest. A skill that became active *in* a conversation narrows it: its `allowed_tools` exclude everything else, its
//! `forbidden_tools` and `disallowed-tools` remove tools. Rules of a conversation apply to all conversations that it starts. Rules are only
//! added or, when a skill is unloaded, removed by owner; no rule grants what another one denies.

use metier_model::{SkillManifest, ToolPattern};
use metier_policy::ToolPolicy;

/// A tool as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct RequestedTool<'a> {
    /// Its name for the model.
    pub name: &'a str,
    /// Its name in the skill.
    pub short: &'a str,
    /// Its skill; `None` for the program's own tools.
    pub skill: Option<&'a str>,
}

/// The refusal of a call, with the rule and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` is not allowed: {reason}")]
pub struct ForbiddenTool {
    /// Name of the refused tool.
    pub tool: String,
    /// The skill whose rule it is, if a skill's rule refuses it.
    pub by: Option<String>,
    /// The rule that refuses it, for display.
    pub reason: String,
}

/// All rules of a conversation.
#[derive(Clone, Debug, Default)]
pub struct ToolUseRules {
    /// The sets of the sub-agents above this conversation, outermost first.
    sets: Vec<RuleList>,
    /// Rules of skills in conversations, those of the parent conversations included.
    narrowed: Vec<Narrowed>,
}

/// The tools of a set of skills.
#[derive(Clone, Debug)]
struct RuleList {
    policy: ToolPolicy,
    /// The skills' own tools that each allows, by their short names. Skills in the policy's `own` allow all of them.
    own: Vec<(String, Vec<ToolPattern>)>,
}

/// The rules of one skill in a conversation.
#[derive(Clone, Debug)]
struct Narrowed {
    skill: String,
    only: Option<Vec<ToolPattern>>,
    never: Vec<ToolPattern>,
    /// Whether it is a rule of a parent conversation, which can't be removed here.
    is_inherited: bool,
}

impl ToolUseRules {
    /// For a conversation that this one starts: all rules apply there too.
    #[must_use]
    pub fn for_child(&self) -> Self {
        let mut rules = self.clone();
        for narrowed in &mut rules.narrowed {
            narrowed.is_inherited = true;
        }
        rules
    }

    /// The conversation is a sub-agent with exactly these skills.
    pub fn confine<'m>(
        &mut self,
        policy: ToolPolicy,
        members: impl IntoIterator<Item = &'m SkillManifest>,
    ) {
        let own = members.into_iter().map(|manifest| {
            let only = manifest.tools.only.iter().flatten();
            let allowed = only.chain(&manifest.tools.preapprove);
            let patterns = allowed.filter_map(|entry| entry.parse().ok());
            (manifest.card.name.to_string(), patterns.collect())
        });
        let own = own.collect();
        self.sets.push(RuleList { policy, own });
    }

    /// A skill became active in the conversation.
    pub fn narrow(&mut self, manifest: &SkillManifest) {
        let skill = manifest.card.name.to_string();
        self.widen(&skill);
        let tools = &manifest.tools;
        let only = tools.only.as_ref().map(|only| {
            let patterns = only.iter().filter_map(|entry| entry.parse().ok());
            patterns.collect()
        });
        let never = tools.forbid.iter().chain(&tools.disallow);
        let never: Vec<_> = never.map(|entry| ToolPattern::prohibiting(entry)).collect();
        if only.is_some() || !never.is_empty() {
            self.narrowed.push(Narrowed {
                skill,
                only,
                never,
                is_inherited: false,
            });
        }
    }

    /// Removes the rules of a skill that is no longer active.
    pub fn widen(&mut self, skill: &str) {
        self.narrowed
            .retain(|narrowed| narrowed.is_inherited || narrowed.skill != skill);
    }

    /// Whether this conversation is a sub-agent with a set of skills.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        !self.sets.is_empty()
    }

    /// Whether any call of this tool can be allowed, so that the model gets it.
    #[must_use]
    pub fn offers(&self, tool: RequestedTool<'_>) -> bool {
        self.judge(tool, None).is_ok()
    }

    /// Whether this call is allowed.
    ///
    /// # Errors
    /// The first rule that refuses it.
    pub fn permit(&self, tool: RequestedTool<'_>, argument: &str) -> Result<(), ForbiddenTool> {
        self.judge(tool, Some(argument))
    }

    fn judge(&self, tool: RequestedTool<'_>, argument: Option<&str>) -> Result<(), ForbiddenTool> {
        let use_of = |name: &str| match argument {
            Some(argument) => ToolPattern::call(name, argument).ok(),
            None => name.parse().ok(),
        };
        let refuse = |by: Option<&str>, reason: String| {
            Err(ForbiddenTool {
                tool: tool.name.to_owned(),
                by: by.map(str::to_owned),
                reason,
            })
        };
        let (Some(full), Some(short)) = (use_of(tool.name), use_of(tool.short)) else {
            return refuse(None, "no rule can match its name".to_owned());
        };
        // A whole tool is offered if any of its uses is allowed.
        let hits = |rule: &ToolPattern| match argument {
            Some(_) => rule.overlaps(&full) || rule.overlaps(&short),
            None => rule.covers(&full) || rule.covers(&short),
        };
        let fits = |rule: &ToolPattern, wanted: &ToolPattern| {
            !rule.names_no_tool()
                && match argument {
                    Some(_) => rule.covers(wanted),
                    None => rule.overlaps(wanted),
                }
        };
        for set in &self.sets {
            if let Some(rule) = set.policy.forbidden.iter().find(|rule| hits(rule)) {
                return refuse(None, format!("the set of skills forbids `{rule}`"));
            }
            let mut own = set.own.iter();
            let own = own.find(|(skill, _)| Some(skill.as_str()) == tool.skill);
            let by_name = set.policy.allowed.iter().any(|rule| fits(rule, &full));
            let by_owner =
                own.is_some_and(|(_, patterns)| patterns.iter().any(|rule| fits(rule, &short)));
            let mut all_own = set.policy.own.iter();
            let by_owner = by_owner || all_own.any(|skill| Some(skill.as_str()) == tool.skill);
            if !by_name && !by_owner {
                return refuse(None, "no skill of the set allows it".to_owned());
            }
        }
        for narrowed in &self.narrowed {
            let by = Some(narrowed.skill.as_str());
            if let Some(rule) = narrowed.never.iter().find(|rule| hits(rule)) {
                return refuse(by, format!("skill `{}` forbids `{rule}`", narrowed.skill));
            }
            let is_own = tool.skill == by;
            let allows = |only: &Vec<ToolPattern>| {
                let named = only.iter().any(|rule| fits(rule, &full));
                named || (is_own && only.iter().any(|rule| fits(rule, &short)))
            };
            // A conversation can't continue without the program's own tools.
            if tool.skill.is_some() && narrowed.only.as_ref().is_some_and(|only| !allows(only)) {
                let skill = &narrowed.skill;
                return refuse(by, format!("it is not among the tools of skill `{skill}`"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
