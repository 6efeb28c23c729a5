//! Rules against names: which tools are listed, and which can be called.

use metier_model::{FileText, Files, SkillManifest, Strictness, parse};
use metier_policy::{ComposeOptions, Member, compose};

use super::*;

fn skill(name: &str, lists: &str) -> SkillManifest {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n{lists}---\nBody.\n");
    let files = Files {
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: &text,
        }),
        ..Files::default()
    };
    parse(&files, Strictness::Lenient).manifest.unwrap()
}

fn core(name: &str) -> RequestedTool<'_> {
    RequestedTool {
        name,
        short: name,
        skill: Some("core-tools"),
    }
}

fn own(name: &str) -> RequestedTool<'_> {
    RequestedTool {
        name,
        short: name,
        skill: None,
    }
}

fn set(members: &[&SkillManifest]) -> ToolUseRules {
    let named: Vec<Member<'_>> = members
        .iter()
        .map(|manifest| Member::Known {
            manifest,
            place: "here",
        })
        .collect();
    let composed = compose(&named, ComposeOptions::default());
    let mut rules = ToolUseRules::default();
    rules.confine(composed.tools, members.iter().copied());
    rules
}

#[test]
fn without_rules_everything_is_allowed() {
    let rules = ToolUseRules::default();
    assert!(!rules.is_confined());
    assert!(rules.offers(core("shell")) && rules.permit(core("shell"), "rm -rf .").is_ok());
}

#[test]
fn a_set_allows_what_it_names_and_nothing_else() {
    let rules = set(&[&skill("a", "allowed_tools: [read, \"Bash(git log *)\"]\n")]);
    assert!(rules.offers(core("read")) && rules.offers(core("shell")));
    for (tool, argument, allowed) in [
        ("read", "notes.md", true),
        ("shell", "git log -3", true),
        ("shell", "git push", false),
        ("shell", "git log; rm x", false),
        ("write", "notes.md", false),
    ] {
        assert_eq!(
            rules.permit(core(tool), argument).is_ok(),
            allowed,
            "{tool} {argument}"
        );
    }
    assert!(!rules.offers(core("write")) && !rules.offers(own("sessions_spawn")));
    let refused = rules.permit(core("write"), "x").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`write` is not allowed: no skill of the set allows it"
    );
}

#[test]
fn the_programs_own_tools_have_to_be_named_in_a_set() {
    let rules = set(&[&skill("a", "allowed_tools: [sessions_spawn]\n")]);
    assert!(rules.offers(own("sessions_spawn")) && !rules.offers(own("activate_skill")));
}

#[test]
fn a_star_names_nothing() {
    let rules = set(&[&skill("a", "allowed_tools: [\"*\"]\n")]);
    assert!(!rules.offers(core("read")) && rules.permit(core("read"), "x").is_err());
}

#[test]
fn a_short_name_means_only_the_skills_own_tool() {
    let (a, b) = (
        skill("a", "allowed_tools: [apply]\n"),
        skill("b", "allowed_tools: [read]\n"),
    );
    let rules = set(&[&a, &b]);
    let tool = |skill, name| RequestedTool {
        name,
        short: "apply",
        skill: Some(skill),
    };
    assert!(rules.offers(tool("a", "a__apply")));
    assert!(rules.permit(tool("b", "b__apply"), "").is_err());
}

#[test]
fn the_stricter_skill_wins_whatever_the_spelling() {
    let (a, b) = (
        skill("a", "allowed_tools: [Write, read]\n"),
        skill(
            "b",
            "allowed_tools: [read]\nforbidden_tools: [write_file]\n",
        ),
    );
    for members in [[&a, &b], [&b, &a]] {
        let rules = set(&members);
        assert!(rules.offers(core("read")) && !rules.offers(core("write")));
        assert!(rules.permit(core("write"), "x").is_err());
    }
}

#[test]
fn skills_narrow_a_conversation_while_they_are_active() {
    let mut rules = ToolUseRules::default();
    rules.narrow(&skill("careful", "allowed_tools: [read]\n"));
    rules.narrow(&skill("shy", "disallowed-tools: [\"Bash(curl *)\"]\n"));
    assert!(rules.permit(core("read"), "x").is_ok());
    assert!(rules.permit(core("write"), "x").is_err());
    // A skill can't remove the program's own tools, unless it names them.
    assert!(rules.offers(own("activate_skill")));
    rules.widen("careful");
    assert!(rules.permit(core("write"), "x").is_ok());
    assert!(rules.permit(core("shell"), "ls").is_ok());
    let refused = rules.permit(core("shell"), "curl -s x").unwrap_err();
    assert_eq!(refused.by.as_deref(), Some("shy"));
    rules.narrow(&skill("closed", "forbidden_tools: [sessions_spawn]\n"));
    assert!(!rules.offers(own("sessions_spawn")));
}

#[test]
fn what_can_not_be_read_forbids_more_and_allows_less() {
    let mut rules = ToolUseRules::default();
    rules.narrow(&skill(
        "broken",
        "forbidden_tools: [\"Bash(\"]\nallowed_tools: [read, \"¿\"]\n",
    ));
    assert!(rules.permit(core("shell"), "ls").is_err());
    assert!(rules.permit(core("read"), "x").is_ok());
    assert!(rules.permit(core("write"), "x").is_err());
}

#[test]
fn a_sub_agent_gains_no_permission() {
    let mut parent = ToolUseRules::default();
    parent.narrow(&skill("careful", "allowed_tools: [read]\n"));
    let mut child = parent.for_child();
    let typist = skill("typist", "allowed_tools: [read, write]\n");
    let named = [Member::Known {
        manifest: &typist,
        place: "here",
    }];
    child.confine(compose(&named, ComposeOptions::default()).tools, [&typist]);
    assert!(child.permit(core("read"), "x").is_ok());
    assert!(child.permit(core("write"), "x").is_err());
    // Loading and unloading a skill with that name in a child does not lift the parent's rule.
    child.narrow(&skill("careful", ""));
    child.widen("careful");
    assert!(child.permit(core("write"), "x").is_err());
    let grandchild = child.for_child();
    assert!(grandchild.is_confined() && grandchild.permit(core("write"), "x").is_err());
}
