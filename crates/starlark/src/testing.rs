//! A skill's own tests in Starlark: `tests/*.star`.
//!
//! A file below `tests/` is an entrypoint. It loads what it tests (`load("//skill.star", "greet")`), and every function in it
//! whose name starts with `test_` is a test, which the host runs as a workflow, one by one. Registrations of the tested files
//! are ignored.
//!
//! ```text
//! load("//skill.star", "greet")
//!
//! def test_greets_by_name():
//!     assert_eq(greet({"who": "Ada"}), "Hello, Ada!")
//! ```

use metier_sdk::wire::{Contributions, WorkflowSpec};
use starlark::environment::{FrozenModule, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};

use crate::builtins::{globals, handler_name};

/// The assertions, in Starlark.
const ASSERTIONS: &str = r#"
def assert_eq(actual, expected, message = ""):
    if actual != expected:
        fail("%sexpected %r, got %r" % (message + ": " if message else "", expected, actual))

def assert_true(condition, message = "this is not so"):
    if not condition:
        fail(message)

def assert_contains(whole, part, message = ""):
    if part not in whole:
        fail("%s%r is not in %r" % (message + ": " if message else "", part, whole))
"#;

/// Whether an entrypoint is a file of tests.
pub(crate) fn is_test(entrypoint: &str) -> bool {
    entrypoint.starts_with("tests/")
}

/// The assertions that a file of tests can use.
pub(crate) fn assertions() -> starlark::Result<FrozenModule> {
    Module::with_temp_heap(|module| {
        let ast = AstModule::parse("assertions", ASSERTIONS.to_owned(), &Dialect::Standard)?;
        Evaluator::new(&module).eval_module(ast, globals())?;
        module.freeze().map_err(starlark::Error::new_other)
    })
}

/// Finds the tests of a file, and registers each as a workflow.
pub(crate) fn collect(module: &Module<'_>, contributions: &mut Contributions) {
    let names: Vec<String> = module
        .names()
        .map(|name| name.as_str().to_owned())
        .filter(|name| name.starts_with("test_"))
        .collect();
    for name in names {
        let Some(function) = module
            .get(&name)
            .filter(|value| value.get_type() == "function")
        else {
            continue;
        };
        module.set(&handler_name("workflow", &name), function);
        contributions.workflows.push(WorkflowSpec {
            name,
            description: String::new(),
        });
    }
}
