//! The tools that a model gets, and who answers each.

use std::sync::Arc;

use metier_model::model_text::for_model;
use metier_runtime::live::Tool;

use crate::ToolSpec;
use crate::own::Own;
use crate::rules::{Rules, Wanted};
use crate::tool_schema::schema_for_model;

/// Who answers a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A tool of the program itself.
    Own(Own),
    /// A tool of an active skill.
    Skill {
        skill: String,
        /// What the skill calls it.
        short: String,
    },
}

impl Target {
    /// As rules see it.
    pub(crate) fn wanted<'a>(&'a self, name: &'a str) -> Wanted<'a> {
        match self {
            Self::Own(_) => Wanted {
                name,
                short: name,
                skill: None,
            },
            Self::Skill { skill, short } => Wanted {
                name,
                short,
                skill: Some(skill),
            },
        }
    }
}

/// All tools of a session, those that rules take away included: a call of one of them is refused, not unknown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toolbox {
    known: Vec<(String, Target)>,
    specs: Arc<[ToolSpec]>,
    tokens: usize,
}

impl Toolbox {
    /// The tools of skills and of the program that rules allow.
    pub(crate) fn new(
        contributed: Vec<Tool>,
        own: &[Own],
        rules: &Rules,
        names: Option<&[String]>,
    ) -> Self {
        let names: Option<Vec<&str>> =
            names.map(|names| names.iter().map(String::as_str).collect());
        let contributed = contributed.into_iter().map(|tool| {
            let target = Target::Skill {
                skill: tool.skill,
                short: tool.spec.name,
            };
            let spec = ToolSpec {
                name: tool.name,
                description: for_model(&tool.spec.description).into_owned(),
                input_schema: schema_for_model(tool.spec.input_schema),
            };
            (spec, target)
        });
        let own = own
            .iter()
            .map(|own| (own.spec(names.as_deref()), Target::Own(*own)));
        let all: Vec<(ToolSpec, Target)> = contributed.chain(own).collect();
        let known = all
            .iter()
            .map(|(spec, target)| (spec.name.clone(), target.clone()));
        let known = known.collect();
        let offered = all
            .into_iter()
            .filter(|(spec, target)| rules.offers(target.wanted(&spec.name)));
        let specs: Arc<[ToolSpec]> = offered.map(|(spec, _)| spec).collect();
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
    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    /// The names of the tools that the model gets.
    pub(crate) fn names(&self) -> Vec<String> {
        self.specs.iter().map(|spec| spec.name.clone()).collect()
    }

    /// Who answers a call of this name.
    pub(crate) fn target(&self, name: &str) -> Option<&Target> {
        let mut known = self.known.iter();
        known
            .find(|(known, _)| known == name)
            .map(|(_, target)| target)
    }
}
