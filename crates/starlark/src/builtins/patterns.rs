//! Regular expressions for skills, in an engine with linear time for every pattern and text.

use std::cell::RefCell;

use regex::{Regex, RegexBuilder};
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;
use starlark::values::list::AllocList;

use super::{Complaint, text};

/// The maximum size of a compiled pattern.
const MAX_SIZE: usize = 1 << 20;
/// How many patterns are cached; a loop uses the same few.
const KEPT: usize = 32;

thread_local! {
    static PATTERNS: RefCell<Vec<(String, Regex)>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn functions(builder: &mut GlobalsBuilder) {
    builder.namespace("regex", members);
}

#[starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    fn matches<'v>(pattern: Value<'v>, text: Value<'v>) -> starlark::Result<bool> {
        let (pattern, text) = both("regex.matches", pattern, text)?;
        Ok(pattern.is_match(text))
    }

    fn find<'v>(
        pattern: Value<'v>,
        text: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let (pattern, text) = both("regex.find", pattern, text)?;
        let heap = eval.heap();
        // With groups, the content of the first one, as authors expect.
        let found = pattern.captures_iter(text).filter_map(|found| {
            let group = found.get(1).or_else(|| found.get(0));
            group.map(|group| heap.alloc(group.as_str()))
        });
        Ok(heap.alloc(AllocList(found.collect::<Vec<_>>())))
    }

    fn replace<'v>(
        pattern: Value<'v>,
        text: Value<'v>,
        replacement: Value<'v>,
    ) -> starlark::Result<String> {
        const ME: &str = "regex.replace";
        let replacement = super::text(ME, "replacement", replacement)?;
        let (pattern, text) = both(ME, pattern, text)?;
        Ok(pattern.replace_all(text, replacement).into_owned())
    }
}

fn both<'v>(
    function: &'static str,
    pattern: Value<'v>,
    subject: Value<'v>,
) -> Result<(Regex, &'v str), Complaint> {
    let pattern = compiled(function, text(function, "pattern", pattern)?)?;
    Ok((pattern, text(function, "text", subject)?))
}

fn compiled(function: &'static str, pattern: &str) -> Result<Regex, Complaint> {
    let known = PATTERNS.with_borrow(|all| {
        let mut all = all.iter();
        all.find(|(text, _)| text == pattern)
            .map(|(_, known)| known.clone())
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let built = RegexBuilder::new(pattern).size_limit(MAX_SIZE).build();
    let built = built.map_err(|error| {
        let words = error.to_string();
        let words: Vec<&str> = words.split_whitespace().collect();
        Complaint::failed(function, words.join(" "))
    })?;
    PATTERNS.with_borrow_mut(|all| {
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push((pattern.to_owned(), built.clone()));
    });
    Ok(built)
}
