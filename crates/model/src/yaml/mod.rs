//! YAML of manifests: one tree, three readers.
//!
//! [`plain`] is the fast path for the YAML that nearly all skills use; it gives up on anything that it is not sure
//! of. [`full`] reads every YAML document. [`repair`] reads text that is not YAML, entry by entry. The first two
//! agree wherever the first one returns a result: `tests/differential.rs` checks that.

pub(crate) mod full;
pub(crate) mod node;
pub(crate) mod plain;
pub(crate) mod repair;

use crate::{
    Strictness,
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
};
use full::YamlFailure;
use node::{Node, NodeValue, Pair};

/// Reads a mapping, tolerantly. `None` if nothing is usable; the report contains the reason.
pub(crate) fn read_mapping<'a>(
    text: &'a str,
    base: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Vec<Pair<'a>>> {
    if let Some(pairs) = plain::read(text, base) {
        return Some(pairs);
    }
    read_thoroughly(text, base, report)
}

/// Reads a file that is not a manifest: rules, cases. An error has its line; 0 stands for the whole file.
pub(crate) fn read_file(text: &str) -> Result<Node<'_>, (u32, String)> {
    let mut report = DiagnosticCollector::new(Strictness::Lenient, "", text);
    full::read(text, 0, &mut report).map_err(|failure| match failure {
        YamlFailure::Syntax { at, message } => (line(text, at), message),
        YamlFailure::Refused => {
            let last = report.list.last();
            let message = last.map(|last| last.message.to_string());
            (
                0,
                message.unwrap_or_else(|| "the file can't be read".to_owned()),
            )
        }
    })
}

/// The line of a byte, from 1.
pub(crate) fn line(text: &str, at: u32) -> u32 {
    let before = text.as_bytes().get(..at as usize).unwrap_or_default();
    let newlines = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(newlines + 1).unwrap_or(u32::MAX)
}

/// [`read_mapping`] without the fast path.
pub(crate) fn read_thoroughly<'a>(
    text: &'a str,
    base: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Vec<Pair<'a>>> {
    let before = report.list.len();
    let (code, at, message) = match full::read(text, base, report) {
        Ok(Node {
            value: NodeValue::Map(pairs),
            ..
        }) => return Some(pairs),
        Ok(Node {
            value: NodeValue::Null,
            ..
        }) => return Some(Vec::new()),
        Ok(node) => (
            DiagnosticCode::FrontmatterNotMapping,
            node.at,
            format!(
                "the frontmatter is {}, not a list of `key: value` pairs",
                node.kind()
            ),
        ),
        Err(YamlFailure::Refused) => return None,
        Err(YamlFailure::Syntax { at, message }) => (DiagnosticCode::YamlSyntax, at, message),
    };
    report.list.truncate(before);
    match repair::read(text, base, report) {
        Ok(Some(Node {
            value: NodeValue::Map(pairs),
            ..
        })) => return Some(pairs),
        Err(YamlFailure::Refused) => return None,
        _ => {}
    }
    report.list.truncate(before);
    report.add(code, at, || {
        Say::new(message).hint("write one `key: value` on each line between the `---` lines")
    });
    None
}
