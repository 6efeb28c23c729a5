//! Loads the entrypoint and the files that it loads, and collects the contributions.
//!
//! `initialize` contains the sources; no file is opened. `load("lib/x.star", "f")` and `load("//lib/x.star", "f")` both
//! mean the file below the skill's folder, in whatever file they are; nothing outside it can be named.
//! Each file is evaluated once, in its own module, and frozen: afterwards it can't change, and no call leaves
//! anything behind for the next one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use metier_sdk::wire::{Contributions, Initialize};
use metier_sdk::worker::WorkerHost;
use starlark::environment::{FrozenModule, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::syntax::{AstModule, Dialect, DialectTypes};
use starlark::values::list::AllocList;
use starlark::values::structs::AllocStruct;

use crate::StarlarkLimits;
use crate::builtins::globals;
use crate::call::{EvaluationContext, EvaluationStage};
use crate::json::decode;
use crate::nesting;
use crate::testing::{self, assertions, is_test};

/// The dialect: the standard with common extensions.
const DIALECT: Dialect = Dialect {
    enable_keyword_only_arguments: true,
    enable_positional_only_arguments: true,
    enable_types: DialectTypes::Enable,
    enable_load_reexport: false,
    enable_top_level_stmt: true,
    enable_f_strings: true,
    ..Dialect::Standard
};

/// The longest chain of files that load each other.
const MAX_CHAIN: usize = 32;

/// Why a file can't be loaded.
#[derive(Debug, thiserror::Error)]
enum StarlarkLoadError {
    #[error(
        "load: `{0}` must be a path below the skill's folder, such as `lib/x.star`: without `..`, `.`, `\\` and `:`"
    )]
    Outside(String),
    #[error("load: there is no `{path}` in this skill{}", list(.known))]
    Missing { path: String, known: Vec<String> },
    #[error("load: `{}` loads itself: {}", .0.last().map_or("", String::as_str), .0.join(" → "))]
    Cycle(Vec<String>),
    #[error("load: a chain of more than {MAX_CHAIN} files")]
    Chain,
}

fn list(files: &[String]) -> String {
    match files {
        [] => String::new(),
        files if files.len() > 8 => format!(
            "; it has {} and {} more",
            files[..8].join(", "),
            files.len() - 8
        ),
        files => format!("; it has {}", files.join(", ")),
    }
}

/// A loaded entrypoint.
pub(crate) struct LoadedEntrypoint {
    /// The module with the handlers.
    pub(crate) module: FrozenModule,
    pub(crate) contributions: Contributions,
}

/// Evaluates the entrypoint of a skill.
pub(crate) fn load(
    initialize: &Initialize,
    entrypoint: &str,
    host: &Rc<dyn WorkerHost>,
    limits: &StarlarkLimits,
) -> starlark::Result<LoadedEntrypoint> {
    let contributions = Rc::new(RefCell::new(Contributions::default()));
    let loader = Loader {
        sources: &initialize.sources,
        prelude: prelude(initialize)?,
        host,
        limits,
        assertions: is_test(entrypoint).then(assertions).transpose()?,
        done: RefCell::new(BTreeMap::new()),
        chain: RefCell::new(Vec::new()),
    };
    let module = loader.file(
        entrypoint,
        EvaluationStage::Entrypoint(Rc::clone(&contributions)),
    )?;
    Ok(LoadedEntrypoint {
        module,
        contributions: contributions.take(),
    })
}

/// The value `skill`, which every file of the skill has.
fn prelude(initialize: &Initialize) -> starlark::Result<FrozenModule> {
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let config = decode(&initialize.config, heap).map_err(starlark::Error::new_native)?;
        let skill = heap.alloc(AllocStruct([
            ("name", heap.alloc(initialize.skill.as_str())),
            ("directory", heap.alloc(initialize.directory.as_str())),
            ("config", config),
            (
                "permissions",
                heap.alloc(AllocList(initialize.permissions.iter().map(String::as_str))),
            ),
        ]));
        module.set("skill", skill);
        module.freeze().map_err(starlark::Error::new_other)
    })
}

struct Loader<'c> {
    sources: &'c BTreeMap<String, String>,
    prelude: FrozenModule,
    host: &'c Rc<dyn WorkerHost>,
    limits: &'c StarlarkLimits,
    /// The assertions; only if the entrypoint is a file of tests.
    assertions: Option<FrozenModule>,
    done: RefCell<BTreeMap<String, FrozenModule>>,
    /// The files that are being evaluated, each loaded by the previous one.
    chain: RefCell<Vec<String>>,
}

impl Loader<'_> {
    fn file(&self, path: &str, stage: EvaluationStage) -> starlark::Result<FrozenModule> {
        let Some(source) = self.sources.get(path) else {
            return Err(starlark::Error::new_native(StarlarkLoadError::Missing {
                path: path.to_owned(),
                known: self.sources.keys().cloned().collect(),
            }));
        };
        nesting::check(path, source).map_err(starlark::Error::new_native)?;
        let ast = AstModule::parse(path, source.clone(), &DIALECT)?;
        self.chain.borrow_mut().push(path.to_owned());
        let module = Module::with_temp_heap(|module| {
            module.import_public_symbols(&self.prelude);
            let tests = match &stage {
                EvaluationStage::Entrypoint(contributions) => self
                    .assertions
                    .as_ref()
                    .map(|said| (said, Rc::clone(contributions))),
                _ => None,
            };
            if let Some((assertions, _)) = &tests {
                module.import_public_symbols(assertions);
            }
            {
                let mut eval = Evaluator::new(&module);
                let call = EvaluationContext::new(self.host, self.limits, stage);
                let _under_way = call.enter(&mut eval)?;
                eval.set_loader(self);
                eval.eval_module(ast, globals())?;
            }
            if let Some((_, contributions)) = tests {
                testing::collect(&module, &mut contributions.borrow_mut());
            }
            module.freeze().map_err(starlark::Error::new_other)
        });
        self.chain.borrow_mut().pop();
        module
    }
}

impl FileLoader for Loader<'_> {
    fn load(&self, path: &str) -> starlark::Result<FrozenModule> {
        let path = below(path).map_err(starlark::Error::new_native)?;
        if let Some(module) = self.done.borrow().get(path) {
            return Ok(module.clone());
        }
        let mut chain = self.chain.borrow().clone();
        if let Some(start) = chain.iter().position(|outer| outer == path) {
            chain.drain(..start);
            chain.push(path.to_owned());
            return Err(starlark::Error::new_native(StarlarkLoadError::Cycle(chain)));
        }
        if chain.len() >= MAX_CHAIN {
            return Err(starlark::Error::new_native(StarlarkLoadError::Chain));
        }
        let stage = match self.assertions {
            Some(_) => EvaluationStage::Tested,
            None => EvaluationStage::Library,
        };
        let module = self.file(path, stage)?;
        let mut done = self.done.borrow_mut();
        done.insert(path.to_owned(), module.clone());
        Ok(module)
    }
}

/// The path below the skill's folder for a `load`.
fn below(path: &str) -> Result<&str, StarlarkLoadError> {
    let inner = path.strip_prefix("//").unwrap_or(path);
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    if inner.split('/').all(is_plain) {
        Ok(inner)
    } else {
        Err(StarlarkLoadError::Outside(crate::json::cut(path, 80)))
    }
}
