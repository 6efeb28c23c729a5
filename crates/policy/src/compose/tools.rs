//! The tools that the agent of a set may use.

use std::collections::BTreeSet;

use metier_model::{SkillManifest, ToolPattern, text::visible};

use super::{ComposeOptions, CompositionFault, FaultCode, Faults, MemberSet, OnConflict, list};
use crate::decision::Decision;

/// The tools of the skill `core-tools`.
pub const CORE_TOOLS: &[&str] = &["read", "write", "edit", "glob", "grep", "shell"];

/// The tools that a session uses for skills: no skill can give one of its own tools such a name.
pub const SESSION_TOOLS: &[&str] = &[
    "list_skills",
    "search_skills",
    "activate_skill",
    "read_skill_resource",
    "sessions_spawn",
];

/// The tools that a skill without any list allows, in addition to its own.
const IMPLIED: [&str; 3] = ["glob", "grep", "read"];

/// The tools that only the implementer of a coding task may use.
const DIRECT: [&str; 2] = ["edit", "write"];

/// The tools that keep their short name outside their skill, and that skill.
const RESERVED: [(&str, &str); 2] = [
    (super::CODING_PIPELINE[0], "specKit"),
    (super::CODING_PIPELINE[1], "opencode"),
];

/// Whether a skill, from any source, provides a tool under this name for others: the two of the coding pipeline,
/// which a user's skill of the same name can replace.
#[must_use]
pub fn gives_tools(skill: &str, tool: &str) -> bool {
    RESERVED.contains(&(skill, tool))
}

/// The tools that may be used: those that are allowed and not forbidden, and no others.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolPolicy {
    /// The tools that at least one skill allows and none forbids, sorted.
    pub allowed: Vec<ToolPattern>,
    /// The tools that at least one skill forbids, sorted.
    pub forbidden: Vec<ToolPattern>,
    /// The skills whose own tools are all allowed because they have no list, by name.
    pub own: Vec<String>,
}

impl ToolPolicy {
    /// Whether everything that a pattern covers may be used: a tool (`Bash`), or some of its uses (`Bash(git log)`).
    /// An invalid pattern is denied. If only a `*` allows it, the user is asked: a permission names what it permits.
    #[must_use]
    pub fn decide(&self, tool: &str) -> Decision {
        let Ok(pattern) = tool.parse::<ToolPattern>() else {
            return Decision::Deny;
        };
        let named = |rule: &&ToolPattern| !rule.names_no_tool();
        let covers = |rule: &ToolPattern| rule.covers(&pattern);
        if self.forbidden.iter().any(|rule| rule.overlaps(&pattern)) {
            Decision::Deny
        } else if self.allowed.iter().filter(named).any(covers) {
            Decision::Allow
        } else if self.allowed.iter().any(covers) {
            Decision::Ask
        } else {
            Decision::Deny
        }
    }

    /// Whether any call of this tool may be allowed, so that the agent needs to know the tool.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        tool.parse().is_ok_and(|pattern: ToolPattern| {
            let forbidden = self.forbidden.iter().any(|rule| rule.covers(&pattern));
            !forbidden && self.allowed.iter().any(|rule| rule.overlaps(&pattern))
        })
    }
}

/// The tools that a skill allows, in either list; without a list, the implied tools.
#[must_use]
pub fn allows(skill: &SkillManifest) -> Vec<ToolPattern> {
    if brings_own_tools(skill) {
        return IMPLIED
            .iter()
            .filter_map(|tool| tool.parse().ok())
            .collect();
    }
    let entries = allowing(skill).map(|(_, entry)| entry);
    entries.filter_map(|entry| entry.parse().ok()).collect()
}

/// Whether a skill has no list of tools, neither allowed nor forbidden: all of its own tools are then allowed, too.
#[must_use]
pub fn brings_own_tools(skill: &SkillManifest) -> bool {
    let has_any = allowing(skill).next().is_some() || forbidding(skill).next().is_some();
    skill.tools.only.is_none() && !has_any
}

/// The tools that a skill forbids, in either list.
pub(super) fn forbidden(skill: &SkillManifest) -> Vec<ToolPattern> {
    let entries = forbidding(skill).map(|(_, entry)| entry);
    entries.map(ToolPattern::prohibiting).collect()
}

fn allowing(skill: &SkillManifest) -> impl Iterator<Item = (&'static str, &str)> {
    let only = skill.tools.only.iter().flatten();
    let only = only.map(|entry| ("allowed_tools", &**entry));
    let asked = skill.tools.preapprove.iter();
    only.chain(asked.map(|entry| ("allowed-tools", &**entry)))
}

fn forbidding(skill: &SkillManifest) -> impl Iterator<Item = (&'static str, &str)> {
    let forbid = skill.tools.forbid.iter();
    let disallow = skill.tools.disallow.iter();
    forbid
        .map(|entry| ("forbidden_tools", &**entry))
        .chain(disallow.map(|entry| ("disallowed-tools", &**entry)))
}

/// A rule and the skill that has it; `None` if it comes with the task.
type ToolRule<'a> = (ToolPattern, Option<&'a str>);

/// Unions first, then the difference: the result does not depend on the order.
pub(super) fn gather(
    set: &MemberSet<'_>,
    options: ComposeOptions,
    faults: &mut Faults,
) -> ToolPolicy {
    let (mut allowing, mut forbids): (Vec<ToolRule<'_>>, Vec<ToolRule<'_>>) =
        (Vec::new(), Vec::new());
    for skill in &set.skills {
        let name = skill.card.name.as_str();
        allowing.extend(allows(skill).into_iter().map(|tool| (tool, Some(name))));
        forbids.extend(forbidden(skill).into_iter().map(|tool| (tool, Some(name))));
        unreadable(skill, faults);
        unprovided(skill, set, faults);
    }
    if options.coding {
        forbids.extend(DIRECT.map(|tool| (ToolPattern::prohibiting(tool), None)));
    }
    let forbidden = distinct(&forbids);
    for rule in &forbidden {
        conflict(rule, &allowing, &forbids, options, faults);
    }
    let mut allowed = distinct(&allowing);
    allowed.retain(|tool| !forbidden.iter().any(|rule| rule.covers(tool)));
    let own = set.skills.iter().filter(|skill| brings_own_tools(skill));
    let own = own.filter(|skill| skill.card.backend.is_some());
    let own: BTreeSet<&str> = own.map(|skill| skill.card.name.as_str()).collect();
    ToolPolicy {
        allowed,
        forbidden,
        own: own.into_iter().map(str::to_owned).collect(),
    }
}

/// Entries that name a tool that neither metier nor a skill of the set provides. A list without any other entry
/// leaves its skill without tools. Tools of code are known only when it runs, so entries of a skill with code are
/// accepted.
fn unprovided(skill: &SkillManifest, set: &MemberSet<'_>, faults: &mut Faults) {
    let name = skill.card.name.as_str();
    let entries = allowing(skill).map(|(_, entry)| entry);
    let patterns: Vec<ToolPattern> = entries
        .filter_map(|entry| entry.parse().ok())
        .filter(|pattern: &ToolPattern| !pattern.names_no_tool())
        .collect();
    let is_provided = |pattern: &ToolPattern| {
        let is = |tool: &&&str| tool.parse().is_ok_and(|tool| pattern.overlaps(&tool));
        let mut of_program = CORE_TOOLS.iter().chain(SESSION_TOOLS);
        let of_others = set.skills.iter().any(|other| gives(other, pattern));
        of_program.any(|tool| is(&tool)) || skill.card.backend.is_some() || of_others
    };
    let missing: Vec<&str> = patterns
        .iter()
        .filter(|pattern| !is_provided(pattern))
        .map(ToolPattern::as_str)
        .collect();
    if missing.is_empty() {
        return;
    }
    let has_none = missing.len() == patterns.len();
    let end = if has_none {
        ": it would have no tools"
    } else {
        ""
    };
    let shown = list(&missing, "and");
    let message = format!("`{name}` allows {shown}, which nothing provides{end}");
    let fault = CompositionFault::new(FaultCode::NoSuchTool, [name], message).hint(format!(
        "metier's own tools are {}; other tools come from skills with code in the set",
        list(CORE_TOOLS, "and")
    ));
    if has_none {
        faults.error(fault);
    } else {
        faults.warning(fault);
    }
}

/// Whether a tool with this name can come from a skill's code.
fn gives(skill: &SkillManifest, pattern: &ToolPattern) -> bool {
    let name = skill.card.name.as_str();
    let written = pattern.as_str();
    let tool = written.split('(').next().unwrap_or_default();
    let own = tool
        .strip_prefix(name)
        .is_some_and(|rest| rest.starts_with("__"));
    skill.card.backend.is_some() && (own || gives_tools(name, tool))
}

/// Each pattern once, in its first spelling.
fn distinct(rules: &[ToolRule<'_>]) -> Vec<ToolPattern> {
    let mut sorted: Vec<&ToolPattern> = rules.iter().map(|(tool, _)| tool).collect();
    sorted.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    let mut found: Vec<ToolPattern> = Vec::new();
    for tool in sorted {
        if !found.iter().any(|other| is_same(other, tool)) {
            found.push(tool.clone());
        }
    }
    found
}

fn is_same(one: &ToolPattern, other: &ToolPattern) -> bool {
    one.covers(other) && other.covers(one)
}

/// Entries that are not tool patterns. They were reported when the skill was read; here they explain missing
/// permissions.
fn unreadable(skill: &SkillManifest, faults: &mut Faults) {
    let name = skill.card.name.as_str();
    let unread = |entry: &str| entry.parse::<ToolPattern>().is_err();
    let mut say = |key: &str, entry: &str, effect: String| {
        let message = format!(
            "`{}` in `{key}` of `{name}` is not a tool pattern; it {effect}",
            visible(entry)
        );
        faults.warning(
            CompositionFault::new(FaultCode::UnreadableTool, [name], message)
                .hint("write `Read`, `Bash(git:*)` or `mcp__server__tool`"),
        );
    };
    for (key, entry) in allowing(skill).filter(|(_, entry)| unread(entry)) {
        say(key, entry, "allows nothing".to_owned());
    }
    for (key, entry) in forbidding(skill).filter(|(_, entry)| unread(entry)) {
        let pattern = ToolPattern::prohibiting(entry);
        let effect = if pattern.names_no_tool() {
            "forbids every tool".to_owned()
        } else {
            format!("forbids all of `{pattern}`")
        };
        say(key, entry, effect);
    }
}

/// Reports that one skill allows what another one, or the task, forbids.
fn conflict(
    rule: &ToolPattern,
    allows: &[ToolRule<'_>],
    forbids: &[ToolRule<'_>],
    options: ComposeOptions,
    faults: &mut Faults,
) {
    let forbidders: BTreeSet<Option<&str>> = forbids
        .iter()
        .filter(|(other, _)| is_same(other, rule))
        .map(|(_, who)| *who)
        .collect();
    // A skill that excludes a part of what it allows does not contradict itself.
    let own_cut =
        |tool: &ToolPattern, who: &Option<&str>| forbidders.contains(who) && !rule.covers(tool);
    let overlapping: Vec<&ToolRule<'_>> = allows
        .iter()
        .filter(|(tool, who)| rule.overlaps(tool) && !own_cut(tool, who))
        .collect();
    if overlapping.is_empty() {
        return;
    }
    let allowers: BTreeSet<&str> = overlapping.iter().filter_map(|(_, who)| *who).collect();
    let tools: BTreeSet<&str> = overlapping.iter().map(|(tool, _)| tool.as_str()).collect();
    let (allowers, tools): (Vec<&str>, Vec<&str>) =
        (allowers.into_iter().collect(), tools.into_iter().collect());
    let names: Vec<&str> = forbidders.iter().filter_map(|who| *who).collect();
    let verb = |count: usize| if count == 1 { "s" } else { "" };
    let by = match (names.as_slice(), forbidders.contains(&None)) {
        ([], _) => "a coding task forbids".to_owned(),
        (names, false) => format!("{} forbid{}", list(names, "and"), verb(names.len())),
        (names, true) => format!("a coding task, like {}, forbids", list(names, "and")),
    };
    let end = match options.on_conflict {
        OnConflict::Restrict => ": it is forbidden",
        OnConflict::Reject => "",
    };
    let message = format!(
        "{} allow{} {}, and {by} {}{end}",
        list(&allowers, "and"),
        verb(allowers.len()),
        list(&tools, "and"),
        list(&[rule.as_str()], "and"),
    );
    let skills = allowers.iter().chain(&names).copied();
    let fault = CompositionFault::new(FaultCode::ToolConflict, skills, message);
    match options.on_conflict {
        OnConflict::Restrict => faults.warning(fault),
        OnConflict::Reject => faults.error(fault.hint(format!(
            "remove {}, or let the stricter rule apply: metier config skills.security.on_conflict restrict",
            list(&allowers, "or")
        ))),
    }
}
