//! Layers → one config: the precedence of layers and the rules for projects are applied here.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::datum::Datum;
use crate::key::{ConfigKey, ValueKind};
use crate::read::{KeyAssignment, read};
use crate::tighten::tightened;
use crate::{ConfigProblem, KEYS, KeyPath, Layer, Origin, ProblemSeverity, ProjectAuthority};

/// The result of loading layers.
#[derive(Debug)]
pub struct LoadedConfig {
    /// The values, always complete: where a layer is wrong, the layer below applies.
    pub config: Config,
    /// All problems, in the order of the layers.
    pub problems: Vec<ConfigProblem>,
}

impl LoadedConfig {
    /// Whether a setting could not be read. Then nothing should be run: the missing setting could be the one that
    /// forbids it.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(ConfigProblem::is_error)
    }
}

/// A current value and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) key: &'static ConfigKey,
    pub(crate) datum: Datum,
    pub(crate) origin: Origin,
    pub(crate) line: Option<usize>,
}

pub(crate) type LoadState = BTreeMap<KeyPath, Held>;

/// Merges layers in the order default < user < project < environment < flag, whatever order they are given in; layers
/// of one kind apply in the order given.
pub fn load(layers: impl IntoIterator<Item = Layer>) -> LoadedConfig {
    let mut layers: Vec<Layer> = layers.into_iter().collect();
    layers.sort_by_key(|layer| layer.origin.rank());
    let mut state = defaults();
    let mut problems = Vec::new();
    for layer in &layers {
        let reading = read(layer);
        let mut found = reading.problems;
        if layer.models_only {
            found.clear();
        }
        let counts = |assignment: &KeyAssignment| layer.counts(assignment.key);
        for assignment in reading.assignments.into_iter().filter(counts) {
            found.extend(apply(&mut state, assignment, &layer.origin));
        }
        found.sort_by_key(|problem| (problem.line, problem.column));
        problems.extend(found);
    }
    LoadedConfig {
        config: Config::new(state),
        problems,
    }
}

fn defaults() -> LoadState {
    let held = |key: &'static ConfigKey| {
        let datum = Datum::from_fallback(key.default)?;
        Some((
            KeyPath::parse(key.path),
            Held {
                key,
                datum,
                origin: Origin::Default,
                line: None,
            },
        ))
    };
    KEYS.iter().filter_map(held).collect()
}

fn apply(
    state: &mut LoadState,
    assignment: KeyAssignment,
    origin: &Origin,
) -> Option<ConfigProblem> {
    let current = state.get(&assignment.path).map(|held| &held.datum);
    let datum = if matches!(origin, Origin::Project(_)) {
        match tightened(current, &assignment) {
            Ok(datum) if Some(&datum) == current => return None,
            Ok(datum) => datum,
            Err(message) => return Some(refusal(message, &assignment, origin)),
        }
    } else {
        assignment.datum
    };
    if assignment.key.kind == ValueKind::Free {
        state.retain(|path, _| !path.overlaps(&assignment.path));
    }
    let line = assignment.place.map(|place| place.line);
    state.insert(
        assignment.path,
        Held {
            key: assignment.key,
            datum,
            origin: origin.clone(),
            line,
        },
    );
    None
}

fn refusal(message: String, assignment: &KeyAssignment, origin: &Origin) -> ConfigProblem {
    let hint = match assignment.key.project {
        ProjectAuthority::Never => "remove it here; it belongs in the user's config file",
        ProjectAuthority::Tighten(_) => {
            "remove it here: a project can only tighten the user's settings"
        }
    };
    ConfigProblem {
        severity: ProblemSeverity::Error,
        message,
        origin: origin.clone(),
        line: assignment.place.map(|place| place.line),
        column: assignment.place.map(|place| place.column),
        hint: Some(hint.to_owned()),
    }
}
