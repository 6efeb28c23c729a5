//! Markdown → scenarios. Parses headings, code blocks and their attributes; runs nothing.
//!
//! Parsing never stops at the first mistake: an invalid part becomes a [`DocumentProblem`] with its line, and a
//! document with problems fails. A typo in an attribute must not turn a test into an illustration.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use serde_json::Value;

use super::transcript::{self, TranscriptCommand};
use super::{escape, words};

/// A parsed document.
#[derive(Debug, Default)]
pub(super) struct SpecDocument {
    /// Steps that set up each scenario.
    pub(super) shared: Vec<ScenarioStep>,
    pub(super) scenarios: Vec<SpecScenario>,
    pub(super) problems: Vec<DocumentProblem>,
}

/// The content below one `##` heading.
#[derive(Debug)]
pub(super) struct SpecScenario {
    pub(super) title: String,
    pub(super) line: usize,
    pub(super) steps: Vec<ScenarioStep>,
}

/// One code block with an effect.
#[derive(Debug)]
pub(super) struct ScenarioStep {
    pub(super) line: usize,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    File {
        path: String,
        content: Vec<u8>,
        expand: bool,
    },
    Symlink {
        target: String,
        path: String,
    },
    Dir {
        path: String,
    },
    Service {
        name: String,
    },
    Env(Vec<(String, String)>),
    Console(Vec<TranscriptCommand>),
    JsonContains(Value),
    /// Turns that a model plays.
    Model(Vec<Value>),
    /// The requests that it received.
    Asked(Vec<Value>),
}

/// An error in a document.
#[derive(Debug)]
pub(super) struct DocumentProblem {
    pub(super) line: usize,
    pub(super) message: String,
}

/// A fenced block as the parser saw it.
pub(super) struct SpecBlock {
    info: String,
    pub(super) text: String,
    pub(super) line: usize,
    /// The range of `text` in the document; `None` if it is indented there, so that the two differ.
    pub(super) source: Option<Range<usize>>,
}

impl SpecDocument {
    pub(super) fn parse(text: &str) -> Self {
        let mut document = Self::default();
        let mut events = Parser::new(text).into_offset_iter();
        while let Some((event, range)) = events.next() {
            match event {
                Event::Start(Tag::Heading {
                    level: HeadingLevel::H2,
                    ..
                }) => {
                    let line = line_of(text, range.start);
                    let title = heading(&mut events);
                    document.close();
                    document.scenarios.push(SpecScenario {
                        title,
                        line,
                        steps: Vec::new(),
                    });
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let block = block(text, info.to_string(), range, &mut events);
                    document.add(&block);
                }
                _ => {}
            }
        }
        document.close();
        document
    }

    fn add(&mut self, block: &SpecBlock) {
        match action(block) {
            Err(message) => self.problem(block.line, message),
            Ok(None) => {}
            Ok(Some(action)) => {
                let runs = matches!(
                    action,
                    Action::Console(_) | Action::JsonContains(_) | Action::Asked(_)
                );
                let step = ScenarioStep {
                    line: block.line,
                    action,
                };
                match self.scenarios.last_mut() {
                    Some(scenario) => scenario.steps.push(step),
                    None if runs => {
                        self.problem(step.line, "belongs below a `##` heading".to_owned());
                    }
                    None => self.shared.push(step),
                }
            }
        }
    }

    /// Ends the current scenario: prose alone is not a scenario, and preparations alone test nothing.
    fn close(&mut self) {
        let Some(scenario) = self.scenarios.last() else {
            return;
        };
        if scenario.steps.is_empty() {
            self.scenarios.pop();
            return;
        }
        let runs = |step: &ScenarioStep| matches!(step.action, Action::Console(_));
        if !scenario.steps.iter().any(runs) {
            let message = format!("`{}` prepares things but runs nothing", scenario.title);
            self.problem(scenario.line, message);
        }
    }

    fn problem(&mut self, line: usize, message: String) {
        self.problems.push(DocumentProblem { line, message });
    }
}

fn heading<'a>(events: &mut impl Iterator<Item = (Event<'a>, Range<usize>)>) -> String {
    let mut title = String::new();
    for (event, _) in events {
        match event {
            Event::Text(text) | Event::Code(text) => title.push_str(&text),
            Event::End(TagEnd::Heading(_)) => break,
            _ => {}
        }
    }
    title
}

fn block<'a>(
    document: &str,
    info: String,
    range: Range<usize>,
    events: &mut impl Iterator<Item = (Event<'a>, Range<usize>)>,
) -> SpecBlock {
    let mut text = String::new();
    let mut source: Option<Range<usize>> = None;
    for (event, range) in events {
        match event {
            Event::Text(part) => {
                text.push_str(&part);
                let start = source.map_or(range.start, |source| source.start);
                source = Some(start..range.end);
            }
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    SpecBlock {
        info,
        line: line_of(document, range.start),
        source: source.filter(|source| document[source.clone()] == text),
        text,
    }
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

/// The effect of a block; `None` for an illustration.
fn action(block: &SpecBlock) -> Result<Option<Action>, String> {
    let info = BlockInfo::parse(&block.info)?;
    if let Some(path) = info.value("dir") {
        info.only(&["dir"])?;
        empty(block)?;
        return Ok(Some(Action::Dir { path }));
    }
    if let Some(name) = info.value("service") {
        info.only(&["service"])?;
        empty(block)?;
        return Ok(Some(Action::Service { name }));
    }
    if let Some(target) = info.value("symlink") {
        info.only(&["symlink", "file"])?;
        empty(block)?;
        let path = info.value("file").ok_or("`symlink=` needs `file=` too")?;
        return Ok(Some(Action::Symlink { target, path }));
    }
    if let Some(path) = info.value("file") {
        info.only(&["file", "escape", "no-newline", "expand"])?;
        let content = content(block, &info)?;
        let expand = info.has("expand");
        return Ok(Some(Action::File {
            path,
            content,
            expand,
        }));
    }
    match info.language.as_str() {
        "json" if info.has("contains") => {
            info.only(&["contains"])?;
            let value =
                serde_json::from_str(&block.text).map_err(|error| format!("not JSON: {error}"))?;
            Ok(Some(Action::JsonContains(value)))
        }
        "json" if info.has("model") => {
            info.only(&["model"])?;
            list(&block.text).map(|turns| Some(Action::Model(turns)))
        }
        "json" if info.has("asked") => {
            info.only(&["asked"])?;
            list(&block.text).map(|requests| Some(Action::Asked(requests)))
        }
        "env" => {
            info.only(&[])?;
            variables(&block.text).map(|pairs| Some(Action::Env(pairs)))
        }
        "console" => {
            info.only(&[])?;
            transcript::parse(block).map(|commands| Some(Action::Console(commands)))
        }
        _ => info.only(&[]).map(|()| None),
    }
}

fn list(text: &str) -> Result<Vec<Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON list: {error}"))
}

fn content(block: &SpecBlock, info: &BlockInfo) -> Result<Vec<u8>, String> {
    let mut content = if info.has("escape") {
        escape::unescape(&block.text)?
    } else {
        block.text.clone().into_bytes()
    };
    if info.has("no-newline") && content.last() == Some(&b'\n') {
        content.pop();
    }
    Ok(content)
}

fn empty(block: &SpecBlock) -> Result<(), String> {
    if block.text.trim().is_empty() {
        Ok(())
    } else {
        Err("this block makes no file, so it must be empty".to_owned())
    }
}

fn variables(text: &str) -> Result<Vec<(String, String)>, String> {
    let pair = |line: &str| {
        let (name, value) = line.split_once('=')?;
        words::is_variable(name).then(|| (name.to_owned(), value.to_owned()))
    };
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| pair(line).ok_or_else(|| format!("`{line}` is not NAME=value")))
        .collect()
}

/// The words after a fence: a language, then attributes with or without a value.
struct BlockInfo {
    language: String,
    attributes: Vec<(String, Option<String>)>,
}

impl BlockInfo {
    fn parse(info: &str) -> Result<Self, String> {
        let mut words = words::split(info)?
            .into_iter()
            .map(|word| word.text)
            .peekable();
        let has_language = words.peek().is_some_and(|word| !word.contains('='));
        let language = words.next_if(|_| has_language).unwrap_or_default();
        let attribute = |word: String| match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        Ok(Self {
            language,
            attributes: words.map(attribute).collect(),
        })
    }

    fn value(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().find(|(key, _)| key == name)?;
        found.1.clone()
    }

    fn has(&self, name: &str) -> bool {
        self.attributes
            .iter()
            .any(|(key, value)| key == name && value.is_none())
    }

    fn only(&self, known: &[&str]) -> Result<(), String> {
        match self
            .attributes
            .iter()
            .find(|(key, _)| !known.contains(&key.as_str()))
        {
            None => Ok(()),
            Some((key, _)) => Err(format!(
                "a `{}` block has no attribute `{key}`",
                self.language
            )),
        }
    }
}
