//! YAML as manifests use it: one tree, three readers.
//!
//! [`plain`] is the fast path for what nearly all skills write; it gives up on the first thing it
//! is not sure of. [`full`] reads every YAML document. [`repair`] reads what is not YAML, entry by
//! entry. The first two agree wherever the first one answers: `tests/differential.rs` shows it.

pub(crate) mod full;
pub(crate) mod node;
pub(crate) mod plain;
pub(crate) mod repair;

use crate::{
    diagnostic::Code,
    report::{Report, Say},
};
use full::Failure;
use node::{Node, Pair, Value};

/// Reads a mapping, tolerantly. `None` when nothing usable is there; the report says why.
pub(crate) fn read_mapping<'a>(
    text: &'a str,
    base: u32,
    report: &mut Report<'_>,
) -> Option<Vec<Pair<'a>>> {
    if let Some(pairs) = plain::read(text, base) {
        return Some(pairs);
    }
    read_thoroughly(text, base, report)
}

/// The same without the fast path.
pub(crate) fn read_thoroughly<'a>(
    text: &'a str,
    base: u32,
    report: &mut Report<'_>,
) -> Option<Vec<Pair<'a>>> {
    let before = report.list.len();
    let (at, message) = match full::read(text, base, report) {
        Ok(Node {
            value: Value::Map(pairs),
            ..
        }) => return Some(pairs),
        Ok(Node {
            value: Value::Null, ..
        }) => return Some(Vec::new()),
        Ok(node) => (
            node.at,
            format!(
                "the frontmatter is {}, not a list of `key: value` pairs",
                node.kind()
            ),
        ),
        Err(Failure::Refused) => return None,
        Err(Failure::Syntax { at, message }) => (at, message),
    };
    report.list.truncate(before);
    match repair::read(text, base, report) {
        Ok(Some(Node {
            value: Value::Map(pairs),
            ..
        })) => return Some(pairs),
        Err(Failure::Refused) => return None,
        _ => {}
    }
    report.list.truncate(before);
    let code = if message.starts_with("the frontmatter is") {
        Code::FrontmatterNotMapping
    } else {
        Code::YamlSyntax
    };
    report.add(code, at, || {
        Say::new(message).hint("write one `key: value` on each line between the `---` lines")
    });
    None
}
