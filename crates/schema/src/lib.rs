//! # metier-schema — JSON schemas of skills, and checking values against them
//!
//! **Problem.** A schema is a program: a chain of references overflows the stack of the validator, forty references that double
//! take longer than a session, and a pattern becomes megabytes. Skills write schemas without any permission, and the host
//! compiles and evaluates them in its own process.
//!
//! **Decision.** A [`BoundedSchema`] is made from a schema only after the references in it were followed: its size, its depth and
//! the work that it can cause are limited. For each input the evaluations are counted before the first one is made (`cost`); the
//! count is an upper bound of what the validator does, so an input that would take too long is refused instead of validated.
//! Compilation, and evaluation that may be large, run on a separate stack with a deadline, in case the count is wrong.
//!
//! **Worked example.** `{"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}`, forty times, is 3 KB of text and 2⁴⁰
//! evaluations: refused when the skill is activated, in microseconds.
//!
//! It is a separate crate because the validator is generic code: it is compiled once, here, and not in every crate that checks a value.
//!
//! **Invariants.** no I/O · no schema is fetched · a value is validated only if the work is bounded.
//!
//! **Start reading at** `graph.rs`, then `cost.rs`.

mod cost;
mod graph;
mod pattern;

use std::{
    fmt::{self, Write as _},
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::Duration,
};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use cost::Cost;
use graph::Graph;

/// The largest schema, in bytes, counted roughly as JSON.
const MAX_BYTES: usize = 512 << 10;
/// The maximum depth of a schema as JSON.
const MAX_DEPTH: usize = 128;
/// The maximum depth of an input. JSON readers stop at 128 levels, and some of those are the message around it.
const MAX_INPUT_DEPTH: usize = 120;
/// The maximum number of reachable subschemas.
const MAX_SUBSCHEMAS: usize = 10_000;
/// Consecutive references, and other subschemas for the same value between them.
const MAX_STEPS: usize = 64;
/// The maximum work of the validator for one input, in evaluations of a subschema.
const MAX_WORK: u64 = 4_000_000;
/// The work for describing errors; each evaluation can leave an error in memory.
const MAX_EXPLAINED: u64 = 100_000;
/// Copies of subschemas that the compiler makes for `unevaluatedProperties` and `unevaluatedItems`.
const MAX_COPIES: u64 = 20_000;
/// Nested evaluations.
const MAX_NESTED: usize = 1_500;
/// Patterns, and the total size of their compiled programs, in bytes.
const MAX_PATTERNS: usize = 1_000;
const MAX_PROGRAMS: usize = 16 << 20;
const MAX_PROGRAM: usize = 1 << 20;
/// The largest input: the number of values in it, and bytes of text.
const MAX_VALUES: usize = 300_000;
const MAX_TEXT: usize = 8 << 20;

/// The maximum work on the caller's stack.
const SMALL_WORK: u64 = 20_000;
const SMALL_NESTED: usize = 64;
/// The stack of all other work, and its time limit.
const STACK: usize = 64 << 20;
const DEADLINE: Duration = Duration::from_secs(10);

/// How many errors are reported together, and how long the message of each can be.
const MAX_MISTAKES: usize = 5;
const MAX_MISTAKE: usize = 500;

/// Why a schema is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaRefused {
    /// The schema is too large.
    #[error("it is larger than {MAX_BYTES} bytes")]
    Large,
    /// The schema is nested too deeply.
    #[error("it is nested deeper than {MAX_DEPTH} levels")]
    Deep,
    /// The schema has too many subschemas.
    #[error("it has more than {MAX_SUBSCHEMAS} subschemas")]
    Many,
    /// A reference to another document.
    #[error("`{0}` refers to another document; only references that begin with `#` are followed")]
    Remote(String),
    /// A reference without a target.
    #[error("`{0}` refers to nothing in the schema")]
    Nowhere(String),
    /// A subschema with an identifier, which changes the meaning of references below it.
    #[error("a subschema has the identifier `{0}`; only the schema as a whole may have an `$id`")]
    Identified(String),
    /// References that form a cycle without a step into the value.
    #[error("references lead from a subschema back to itself without a step into the value")]
    Circle,
    /// Too many consecutive references.
    #[error("more than {MAX_STEPS} references and subschemas apply to the same value in a row")]
    Steps,
    /// Nested compositions multiply the work.
    #[error("its subschemas multiply: one value takes more than {MAX_WORK} evaluations")]
    Work,
    /// Composition that multiplies when it is compiled.
    #[error(
        "its subschemas multiply below `unevaluatedProperties` or `unevaluatedItems`: more than {MAX_COPIES}"
    )]
    Copies,
    /// The schema has too many patterns.
    #[error("it has more than {MAX_PATTERNS} patterns")]
    Patterns,
    /// A pattern that repeats too much.
    #[error("the pattern `{0}` repeats too much")]
    Pattern(String),
}

/// Why an input was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaMisfit {
    /// The schema can't be compiled.
    #[error("its schema is invalid: {0}")]
    Schema(String),
    /// The input does not match the schema.
    #[error("{0}")]
    Input(String),
    /// The input is larger than any tool needs.
    #[error("the input is too large to be checked: {0}")]
    Large(&'static str),
    /// The input would take too long.
    #[error("the input can't be checked: its schema requires more than {MAX_WORK} evaluations")]
    Work,
    /// The validator did not finish.
    #[error("the input was not checked within {} seconds", DEADLINE.as_secs())]
    Deadline,
}

/// A schema whose size and worst case are known.
pub struct BoundedSchema {
    written: Arc<Value>,
    graph: Graph,
    compiled: OnceLock<Result<Arc<Validator>, SchemaMisfit>>,
}

impl fmt::Debug for BoundedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundedSchema").field(&self.written).finish()
    }
}

impl BoundedSchema {
    /// Follows all references of a schema. It is compiled when the first input is checked.
    ///
    /// # Errors
    /// When it exceeds a limit.
    pub fn new(written: &Value) -> Result<Self, SchemaRefused> {
        let graph = Graph::of(written)?;
        Ok(Self {
            written: Arc::new(written.clone()),
            graph,
            compiled: OnceLock::new(),
        })
    }

    /// Whether an input can be passed to any hook and any skill, with any schema.
    ///
    /// # Errors
    /// When it is too deep or too large.
    pub fn check_size(input: &Value) -> Result<(), SchemaMisfit> {
        sized(input).map(|_| ())
    }

    /// Whether an input matches the schema, and if not, the first errors.
    ///
    /// # Errors
    /// When it doesn't, or when that can't be determined within the limits.
    pub fn check(&self, input: &Value) -> Result<(), SchemaMisfit> {
        let nested = sized(input)?;
        let validator = self
            .compiled
            .get_or_init(|| compile(&self.written, self.graph.patterns()));
        let validator = validator.as_ref().map_err(Clone::clone)?;
        // Counting needs as much stack as there are nested evaluations.
        if self.graph.steps().saturating_mul(nested) <= SMALL_NESTED {
            let cost = cost::of(&self.graph, input, MAX_NESTED).ok_or(SchemaMisfit::Work)?;
            if cost.verdict <= SMALL_WORK {
                return judge(validator, input, cost);
            }
        }
        self.check_apart(validator, input)
    }

    /// [`Self::check`] on a separate stack, with a deadline.
    fn check_apart(&self, validator: &Arc<Validator>, input: &Value) -> Result<(), SchemaMisfit> {
        let validator = Arc::clone(validator);
        let graph = self.graph.clone();
        let input = input.clone();
        apart(move || {
            let cost = cost::of(&graph, &input, MAX_NESTED).ok_or(SchemaMisfit::Work)?;
            judge(&validator, &input, cost)
        })?
    }
}

/// Runs a function on a separate stack. It is not awaited past the deadline.
fn apart<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T, SchemaMisfit> {
    let (answer, answered) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("schema".to_owned())
        .stack_size(STACK)
        .spawn(move || answer.send(run()))
        .map_err(|_| SchemaMisfit::Deadline)?;
    answered
        .recv_timeout(DEADLINE)
        .map_err(|_| SchemaMisfit::Deadline)
}

/// Patterns are matched in linear time, and nothing is fetched.
fn compile(written: &Arc<Value>, patterns: usize) -> Result<Arc<Validator>, SchemaMisfit> {
    let program = (MAX_PROGRAMS / patterns.max(1)).min(MAX_PROGRAM);
    let written = Arc::clone(written);
    apart(move || {
        let patterns = PatternOptions::regex()
            .size_limit(program)
            .dfa_size_limit(program);
        let options = jsonschema::options().with_pattern_options(patterns);
        options
            .build(&written)
            .map(Arc::new)
            .map_err(|error| SchemaMisfit::Schema(short(&error)))
    })?
}

fn judge(validator: &Validator, input: &Value, cost: Cost) -> Result<(), SchemaMisfit> {
    if validator.is_valid(input) {
        return Ok(());
    }
    if cost.explanation > MAX_EXPLAINED {
        return Err(SchemaMisfit::Input(
            "it does not match the schema, and is too large to report where".to_owned(),
        ));
    }
    // In one step, so that one more attempt is enough.
    let wrong = validator
        .iter_errors(input)
        .take(MAX_MISTAKES)
        .map(|error| {
            let place = error.instance_path().to_string();
            match place.is_empty() {
                true => short(&error),
                false => format!("{}: {}", short(&place), short(&error)),
            }
        });
    let wrong: Vec<String> = wrong.collect();
    Err(SchemaMisfit::Input(wrong.join("; ")))
}

/// The depth of an input, if it is not too large.
fn sized(input: &Value) -> Result<usize, SchemaMisfit> {
    let (mut values, mut text, mut deepest) = (0, 0, 0);
    let mut left = vec![(input, 1)];
    while let Some((value, depth)) = left.pop() {
        values += 1;
        deepest = deepest.max(depth);
        if depth > MAX_INPUT_DEPTH {
            return Err(SchemaMisfit::Large("it is nested deeper than 120 levels"));
        }
        match value {
            Value::String(string) => text += string.len(),
            Value::Array(items) => {
                values += items.len();
                left.extend(items.iter().map(|item| (item, depth + 1)));
            }
            Value::Object(members) => {
                values += members.len();
                text += members.keys().map(String::len).sum::<usize>();
                left.extend(members.values().map(|value| (value, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if values > 2 * MAX_VALUES {
            return Err(SchemaMisfit::Large("it has more than 300,000 values"));
        }
        if text > MAX_TEXT {
            return Err(SchemaMisfit::Large("it has more than 8 MB of text"));
        }
    }
    Ok(deepest)
}

/// The start of a text, which is never built as a whole: an error contains the value that it is about.
fn short(text: &impl fmt::Display) -> String {
    let mut cut = CutText(String::new());
    if write!(cut, "{text}").is_err() {
        cut.0.push('…');
    }
    cut.0
}

struct CutText(String);

impl fmt::Write for CutText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let left = MAX_MISTAKE.saturating_sub(self.0.len());
        if more.len() <= left {
            self.0.push_str(more);
            return Ok(());
        }
        let end = (0..=left).rev().find(|end| more.is_char_boundary(*end));
        self.0.push_str(&more[..end.unwrap_or(0)]);
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests;
