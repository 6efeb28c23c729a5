//! The tools that a model gets, and the owner of each.

use std::sync::Arc;

use metier_model::model_text::for_model;
use metier_runtime::live::{ServedTool, Tool};

use crate::ModelTool;
use crate::builtin_tools::BuiltinTool;
use crate::rules::{RequestedTool, ToolUseRules};
use crate::tool_schema::schema_for_model;

/// The owner of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolTarget {
    /// A tool of the program itself.
    Own(BuiltinTool),
    /// A tool of an active skill.
    Skill {
        skill: String,
        /// Its name in the skill.
        short: String,
    },
    /// A tool of a server that the user configured.
    Server {
        /// The owner's name in rules.
        owner: String,
        /// Its name on the server.
        short: String,
    },
}

impl ToolTarget {
    /// The tool in the form that rules use.
    pub(crate) fn wanted<'a>(&'a self, name: &'a str) -> RequestedTool<'a> {
        match self {
            Self::Own(_) => RequestedTool {
                name,
                short: name,
                skill: None,
            },
            Self::Skill {
                skill: owner,
                short,
            }
            | Self::Server { owner, short } => RequestedTool {
                name,
                short,
                skill: Some(owner),
            },
        }
    }
}

/// All tools of a conversation, including those that rules remove: a call of such a tool is refused, not unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toolbox {
    known: Vec<(String, ToolTarget)>,
    specs: Arc<[ModelTool]>,
    tokens: usize,
}

impl Toolbox {
    /// The tools of skills, of servers and of the program that rules allow.
    pub(crate) fn new(
        contributed: Vec<Tool>,
        served: &[ServedTool],
        own: &[BuiltinTool],
        rules: &ToolUseRules,
        names: Option<&[String]>,
    ) -> Self {
        let names: Option<Vec<&str>> =
            names.map(|names| names.iter().map(String::as_str).collect());
        let taken: Vec<String> = contributed.iter().map(|tool| tool.name.clone()).collect();
        // A skill with a server's name keeps its tools.
        let served = served
            .iter()
            .filter(|tool| !taken.iter().any(|name| name == tool.full_name()));
        let served = served.map(|tool| {
            let target = ToolTarget::Server {
                owner: tool.owner(),
                short: tool.name().to_owned(),
            };
            let description = format!("(MCP server {}) {}", tool.server(), tool.description());
            let spec = ModelTool {
                name: tool.full_name().to_owned(),
                description: for_model(&description).into_owned(),
                input_schema: schema_for_model(tool.input_schema().clone()),
            };
            (spec, target)
        });
        let contributed = contributed.into_iter().map(|tool| {
            let target = ToolTarget::Skill {
                skill: tool.skill,
                short: tool.spec.name,
            };
            let spec = ModelTool {
                name: tool.name,
                description: for_model(&tool.spec.description).into_owned(),
                input_schema: schema_for_model(tool.spec.input_schema),
            };
            (spec, target)
        });
        let own = own
            .iter()
            .map(|own| (own.spec(names.as_deref()), ToolTarget::Own(*own)));
        let all: Vec<(ModelTool, ToolTarget)> = contributed.chain(served).chain(own).collect();
        let known = all
            .iter()
            .map(|(spec, target)| (spec.name.clone(), target.clone()));
        let known = known.collect();
        let offered = all
            .into_iter()
            .filter(|(spec, target)| rules.offers(target.wanted(&spec.name)));
        let specs: Arc<[ModelTool]> = offered.map(|(spec, _)| spec).collect();
        let sizes = specs.iter().map(|spec| {
            spec.name.len() + spec.description.len() + spec.input_schema.to_string().len()
        });
        Self {
            known,
            tokens: sizes.sum::<usize>() / 4,
            specs,
        }
    }

    /// Estimated tokens of their specifications.
    pub(crate) const fn tokens(&self) -> usize {
        self.tokens
    }

    /// The specifications for the model.
    pub(crate) fn specs(&self) -> Arc<[ModelTool]> {
        Arc::clone(&self.specs)
    }

    /// The names of the tools that the model gets.
    pub(crate) fn names(&self) -> Vec<String> {
        self.specs.iter().map(|spec| spec.name.clone()).collect()
    }

    /// The owner of the tool with this name.
    pub(crate) fn target(&self, name: &str) -> Option<&ToolTarget> {
        let mut known = self.known.iter();
        known
            .find(|(known, _)| known == name)
            .map(|(_, target)| target)
    }
}
