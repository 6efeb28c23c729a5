//! The tools of active skills, their owners and their names.
//!
//! Within its skill a tool has a short name. Outside, core tools keep it (`read`, `shell`), which only come with the program, and
//! every other tool is prefixed with its skill's name (`kubernetes__apply`), so no skill can replace another's tool. The names of
//! core tools are reserved even while their skill is not active, and those of the tools for managing skills (`activate_skill`)
//! belong to no skill. A user's own `specification-engine` or `opencode-implementer` replaces the built-in one, and so do its tools
//! `specKit` and `opencode`.

use metier_model::Source;
use metier_policy::{SESSION_TOOLS, gives_tools};
use metier_schema::SchemaRefused;
use metier_sdk::wire::ToolSpec;

/// Tools of the built-in skills, whose names are reserved.
pub const CORE: &[&str] = &[
    "read", "write", "edit", "glob", "grep", "shell", "bash", "exec", "fetch", "task", "ls",
    // the two halves of the coding pipeline
    "specKit", "opencode",
];

/// The longest name that models accept.
const MAX_NAME: usize = 64;
/// Maximum number of tools of a skill. All tools of a request cost tokens.
const MAX_TOOLS: usize = 128;

/// A tool that an active skill contributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name under which it is called.
    pub name: String,
    /// Name of the skill.
    pub skill: String,
    /// The skill's description of it.
    pub spec: ToolSpec,
}

/// Why a skill can't contribute a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTool {
    /// The name is not valid.
    #[error(
        "`{0}` is not a valid tool name: use letters, digits, `_` and `-`, at most {MAX_NAME} with the skill's name"
    )]
    Name(String),
    /// Two tools of a skill have the same name.
    #[error("the tool `{0}` is registered twice")]
    Twice(String),
    /// It would replace a core tool.
    #[error("`{0}` is a core tool, which no skill can replace; choose another name")]
    Core(String),
    /// Too many tools.
    #[error("it registers {0} tools; a skill has at most {MAX_TOOLS}")]
    Many(usize),
    /// The schema is invalid.
    #[error("the input schema of `{0}` is not an object")]
    Schema(String),
    /// The schema exceeds a limit.
    #[error("the input schema of `{0}` is refused: {1}")]
    Refused(String, SchemaRefused),
}

fn is_core(tool: &str) -> bool {
    is_in(CORE, tool)
}

fn is_in(names: &[&str], tool: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(tool))
}

/// The name of a tool outside its skill.
#[must_use]
pub fn full_name(skill: &str, source: Source, tool: &str) -> String {
    match source {
        Source::Builtin if is_core(tool) => tool.to_owned(),
        _ if gives_tools(skill, tool) => tool.to_owned(),
        _ => format!("{skill}__{tool}"),
    }
}

/// The tools of one skill under their outer names, or their problem.
pub(super) fn named(skill: &str, source: Source, specs: &[ToolSpec]) -> Result<Vec<Tool>, BadTool> {
    if specs.len() > MAX_TOOLS {
        return Err(BadTool::Many(specs.len()));
    }
    let mut tools: Vec<Tool> = Vec::new();
    for spec in specs {
        // The two skills of the coding pipeline can be a user's own, under the same name.
        let is_replaced = gives_tools(skill, &spec.name);
        let is_taken = is_core(&spec.name) && source != Source::Builtin && !is_replaced;
        if is_taken || is_in(SESSION_TOOLS, &spec.name) {
            return Err(BadTool::Core(spec.name.clone()));
        }
        let name = full_name(skill, source, &spec.name);
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if spec.name.is_empty() || name.len() > MAX_NAME || !spec.name.bytes().all(is_letter) {
            return Err(BadTool::Name(spec.name.clone()));
        }
        if !spec.input_schema.is_object() {
            return Err(BadTool::Schema(spec.name.clone()));
        }
        if tools.iter().any(|tool| tool.spec.name == spec.name) {
            return Err(BadTool::Twice(spec.name.clone()));
        }
        tools.push(Tool {
            name,
            skill: skill.to_owned(),
            spec: spec.clone(),
        });
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            input_schema: json!({}),
        }
    }

    #[test]
    fn a_tool_has_its_owner_in_its_name() {
        let tools = named("k8s", Source::User, &[spec("apply")]).unwrap();
        assert_eq!(tools[0].name, "k8s__apply");
        let tools = named("core-tools", Source::Builtin, &[spec("read"), spec("x")]).unwrap();
        assert_eq!(
            (&*tools[0].name, &*tools[1].name),
            ("read", "core-tools__x")
        );
        for (skill, tool) in [
            ("specification-engine", "specKit"),
            ("opencode-implementer", "opencode"),
        ] {
            let tools = named(skill, Source::Builtin, &[spec(tool)]).unwrap();
            assert_eq!(tools[0].name, tool);
        }
    }

    // case 137
    #[test]
    fn no_skill_replaces_a_core_tool() {
        for name in ["read", "Shell", "GREP", "speckit", "OpenCode"] {
            assert_eq!(
                named("a", Source::Inline, &[spec(name)]),
                Err(BadTool::Core(name.into()))
            );
        }
    }

    #[test]
    fn the_tools_of_the_coding_pipeline_come_with_whichever_skill_has_its_name() {
        let tools = named(
            "opencode-implementer",
            Source::User,
            &[spec("opencode"), spec("x")],
        );
        let tools = tools.unwrap();
        assert_eq!(
            (&*tools[0].name, &*tools[1].name),
            ("opencode", "opencode-implementer__x")
        );
        for (skill, tool) in [
            ("opencode-implementer", "specKit"),
            ("opencode-implementer", "OpenCode"),
            ("specification-engine", "opencode"),
            ("opencode-implementer", "shell"),
        ] {
            let taken = named(skill, Source::User, &[spec(tool)]);
            assert_eq!(taken, Err(BadTool::Core(tool.into())));
        }
    }

    // case 65, 137
    #[test]
    fn no_skill_at_all_stands_in_the_place_of_a_tool_of_the_session() {
        for name in SESSION_TOOLS.iter().copied().chain(["Sessions_Spawn"]) {
            for source in [Source::Builtin, Source::User] {
                assert_eq!(
                    named("a", source, &[spec(name)]),
                    Err(BadTool::Core(name.into()))
                );
            }
        }
    }

    #[test]
    fn a_name_is_a_name() {
        for name in ["", "a b", "ü", "a/b", "a\n", &"x".repeat(80)] {
            let refused = named("a", Source::User, &[spec(name)]);
            assert_eq!(refused, Err(BadTool::Name(name.into())));
        }
        let twice = named("a", Source::User, &[spec("x"), spec("x")]);
        assert_eq!(twice, Err(BadTool::Twice("x".into())));
    }
}
