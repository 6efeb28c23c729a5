//! The full reader: every YAML document, through the event parser, within limits.
//!
//! The parser's events are turned into a tree with an explicit stack, so that neither depth nor aliases can exceed
//! the limits below. Valid YAML that is not allowed in a manifest (tags, merge keys, a second document) is reported
//! here and nowhere else.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle, Span};

use super::node::{Node, NodeValue, Pair, Style};
use crate::{
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
};

const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 5_000;
const MAX_ALIASES: usize = 64;
const MAX_ALIAS_NODES: usize = 2_000;

/// Why a string is not a document. `Syntax` can be repaired line by line; an exceeded limit can't.
pub(crate) enum YamlFailure {
    Syntax { at: u32, message: String },
    Refused,
}

/// Reads one YAML document. `base` is the offset of `text` in its file.
pub(crate) fn read<'a>(
    text: &'a str,
    base: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Result<Node<'a>, YamlFailure> {
    if let Some(mark) = inner_mark(text) {
        let message = "there is a byte order mark inside the text".to_owned();
        let at = base.saturating_add(mark);
        return Err(YamlFailure::Syntax { at, message });
    }
    let options =
        granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    let mut builder = NodeBuilder {
        text,
        base,
        stack: Vec::new(),
        root: None,
        anchors: Vec::new(),
        nodes: 0,
        aliases: 0,
        alias_nodes: 0,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| scan_failure(&error, base, report))?;
        if builder.root.is_some() && matches!(event, Event::DocumentStart(..)) {
            let at = builder.at(&span);
            report.add(DiagnosticCode::SecondDocument, at, || {
                Say::new("a second YAML document starts here and is not read")
                    .hint("keep one document between the `---` lines")
            });
            break;
        }
        builder.event(event, &span, report)?;
    }
    Ok(builder.root.unwrap_or(Node {
        value: NodeValue::Null,
        at: base,
    }))
}

/// The offset of a byte order mark at the start of a line: the event parser treats it as the start of a stream.
fn inner_mark(text: &str) -> Option<u32> {
    let breaks = |byte: u8| matches!(byte, b'\n' | b'\r' | 0xbf);
    let starts_line = |at: &usize| *at == 0 || breaks(text.as_bytes()[at - 1]);
    let mut marks = text.match_indices('\u{feff}').map(|(at, _)| at);
    u32::try_from(marks.find(starts_line)?).ok()
}

fn scan_failure(
    error: &granit_parser::ScanError,
    base: u32,
    report: &mut DiagnosticCollector<'_>,
) -> YamlFailure {
    let at = base + offset(error.marker());
    if matches!(
        error.kind(),
        granit_parser::ErrorKind::RecursionLimitExceeded
    ) {
        report.add(DiagnosticCode::TooDeep, at, || {
            Say::new(format!("values are nested deeper than {MAX_DEPTH} levels"))
                .hint("flatten the frontmatter")
        });
        return YamlFailure::Refused;
    }
    YamlFailure::Syntax {
        at,
        message: error.info(),
    }
}

fn offset(marker: &granit_parser::Marker) -> u32 {
    u32::try_from(marker.byte_offset().unwrap_or_else(|| marker.index())).unwrap_or(u32::MAX)
}

/// A collection that is still open.
enum OpenCollection<'a> {
    List {
        at: u32,
        items: Vec<Node<'a>>,
        anchor: usize,
    },
    Map {
        at: u32,
        pairs: Vec<Pair<'a>>,
        key: Option<(Cow<'a, str>, u32)>,
        anchor: usize,
    },
}

struct NodeBuilder<'a> {
    text: &'a str,
    base: u32,
    stack: Vec<OpenCollection<'a>>,
    root: Option<Node<'a>>,
    anchors: Vec<(usize, Node<'a>)>,
    nodes: usize,
    aliases: usize,
    alias_nodes: usize,
}

impl<'a> NodeBuilder<'a> {
    fn at(&self, span: &Span) -> u32 {
        self.base + offset(&span.start)
    }

    fn event(
        &mut self,
        event: Event<'a>,
        span: &Span,
        report: &mut DiagnosticCollector<'_>,
    ) -> Result<(), YamlFailure> {
        let at = self.at(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.tag(tag.is_some(), at, report)?;
                let value = scalar(text, style);
                self.close(Node { value, at }, anchor, report)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.tag(tag.is_some(), at, report)?;
                self.open(
                    OpenCollection::List {
                        at,
                        items: Vec::new(),
                        anchor,
                    },
                    report,
                )
            }
            Event::MappingStart(_, anchor, tag) => {
                self.tag(tag.is_some(), at, report)?;
                self.open(
                    OpenCollection::Map {
                        at,
                        pairs: Vec::new(),
                        key: None,
                        anchor,
                    },
                    report,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(OpenCollection::List { at, items, anchor }) => self.close(
                    Node {
                        value: NodeValue::List(items),
                        at,
                    },
                    anchor,
                    report,
                ),
                Some(OpenCollection::Map {
                    at, pairs, anchor, ..
                }) => self.close(
                    Node {
                        value: NodeValue::Map(pairs),
                        at,
                    },
                    anchor,
                    report,
                ),
                None => Ok(()),
            },
            Event::Alias(id) => self.alias(id, at, report),
            _ => Ok(()),
        }
    }

    fn tag(
        &self,
        tagged: bool,
        at: u32,
        report: &mut DiagnosticCollector<'_>,
    ) -> Result<(), YamlFailure> {
        if !tagged {
            return Ok(());
        }
        report.add(DiagnosticCode::TagUsed, at, || {
            Say::new("YAML tags (`!…`) are not allowed in a manifest")
                .hint("write the value as plain text, in quotes if it starts with `!`")
        });
        Err(YamlFailure::Refused)
    }

    fn open(
        &mut self,
        open: OpenCollection<'a>,
        report: &mut DiagnosticCollector<'_>,
    ) -> Result<(), YamlFailure> {
        if self.stack.len() >= MAX_DEPTH {
            let (OpenCollection::List { at, .. } | OpenCollection::Map { at, .. }) = &open;
            report.add(DiagnosticCode::TooDeep, *at, || {
                Say::new(format!("values are nested deeper than {MAX_DEPTH} levels"))
            });
            return Err(YamlFailure::Refused);
        }
        if let Some(OpenCollection::Map { key: None, .. }) = self.stack.last() {
            let (OpenCollection::List { at, .. } | OpenCollection::Map { at, .. }) = open;
            return Err(YamlFailure::Syntax {
                at,
                message: "a key must be a string, not a list or a map".into(),
            });
        }
        self.stack.push(open);
        Ok(())
    }

    /// Adds a finished node to its parent, as an item, a key or a value.
    fn close(
        &mut self,
        node: Node<'a>,
        anchor: usize,
        report: &mut DiagnosticCollector<'_>,
    ) -> Result<(), YamlFailure> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            report.add(DiagnosticCode::TooManyValues, node.at, || {
                Say::new(format!("there are more than {MAX_NODES} values"))
            });
            return Err(YamlFailure::Refused);
        }
        if anchor > 0 && self.anchors.len() < MAX_ALIASES {
            self.anchors.push((anchor, node.clone()));
        }
        let top = self.stack.len() == 1;
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(OpenCollection::List { items, .. }) => items.push(node),
            Some(OpenCollection::Map {
                key: slot @ None, ..
            }) => *slot = Some((key_text(node.value), node.at)),
            Some(OpenCollection::Map { pairs, key, .. }) => {
                if let Some((key, key_at)) = key.take() {
                    push_pair(pairs, Pair { key, key_at, node }, top, report);
                }
            }
        }
        Ok(())
    }

    fn alias(
        &mut self,
        id: usize,
        at: u32,
        report: &mut DiagnosticCollector<'_>,
    ) -> Result<(), YamlFailure> {
        let target = self
            .anchors
            .iter()
            .find(|(anchor, _)| *anchor == id)
            .map(|(_, node)| node.clone());
        let size = target.as_ref().map_or(0, count);
        self.aliases += 1;
        self.alias_nodes += size;
        if self.aliases > MAX_ALIASES || self.alias_nodes > MAX_ALIAS_NODES || target.is_none() {
            report.add(DiagnosticCode::AliasBudget, at, || {
                Say::new("aliases (`*x`) expand to more values than a manifest can have")
                    .hint("write the values out")
            });
            return Err(YamlFailure::Refused);
        }
        report.add(DiagnosticCode::AliasUsed, at, || {
            Say::new(format!("`{}` is a YAML alias", self.alias_source(at)))
                .hint("write the value out, or put it in quotes if it is a string")
        });
        match target {
            Some(node) => self.close(Node { at, ..node }, 0, report),
            None => Ok(()),
        }
    }

    fn alias_source(&self, at: u32) -> &'a str {
        let rest = &self.text[((at - self.base) as usize).min(self.text.len())..];
        rest.split(|c: char| c.is_whitespace() || ",]}".contains(c))
            .next()
            .unwrap_or("*")
    }
}

pub(crate) fn push_pair<'a>(
    pairs: &mut Vec<Pair<'a>>,
    pair: Pair<'a>,
    top: bool,
    report: &mut DiagnosticCollector<'_>,
) {
    if pair.key == "<<" {
        report.add(DiagnosticCode::MergeKey, pair.key_at, || {
            Say::new("the merge key `<<` is not applied").hint("write the fields out")
        });
        return;
    }
    let Some(first) = pairs
        .iter()
        .find(|other| other.key.eq_ignore_ascii_case(&pair.key))
    else {
        pairs.push(pair);
        return;
    };
    let identity = top
        && ["name", "description"]
            .iter()
            .any(|key| pair.key.eq_ignore_ascii_case(key));
    let same = match (first.node.as_text(), pair.node.as_text()) {
        (Some(first), Some(second)) => first == second,
        _ => first.node.value == pair.node.value,
    };
    if identity && !same {
        report.add(DiagnosticCode::DuplicateIdentity, pair.key_at, || {
            Say::new(format!(
                "`{}` is given twice, with different values",
                pair.key
            ))
            .hint("keep one of them")
        });
    } else if first.key == pair.key {
        report.add(DiagnosticCode::DuplicateKey, pair.key_at, || {
            Say::new(format!(
                "`{}` is given twice; the first one counts",
                pair.key.escape_debug()
            ))
            .hint("remove this one")
        });
    } else {
        pairs.push(pair);
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> NodeValue<'_> {
    let plain = style == ScalarStyle::Plain;
    if plain && matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL") {
        NodeValue::Null
    } else {
        NodeValue::Text(text, if plain { Style::Plain } else { Style::Quoted })
    }
}

fn key_text(value: NodeValue<'_>) -> Cow<'_, str> {
    match value {
        NodeValue::Text(text, _) => text,
        _ => Cow::Borrowed(""),
    }
}

fn count(node: &Node<'_>) -> usize {
    1 + match &node.value {
        NodeValue::List(items) => items.iter().map(count).sum(),
        NodeValue::Map(pairs) => pairs.iter().map(|pair| count(&pair.node)).sum(),
        _ => 0,
    }
}
