//! Jupyter notebooks: cells, and their output.
//!
//! A cell is in the notebook's language unless its first line names another (`%%bash`). Outputs are text that
//! was not written by hand, and that a model still reads.

use serde_json::Value;

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Code.
    Code,
    /// Markdown.
    Markdown,
    /// Neither.
    Raw,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The kind of the cell.
    pub sort: Sort,
    /// The language of its code: `python`, `bash`, `javascript` …; `markdown` and `text` for the others.
    pub language: String,
    /// Its source, including a line that names the language.
    pub source: String,
    /// Its output, as text, HTML or JavaScript.
    pub outputs: Vec<String>,
}

/// The content of a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notebook {
    /// The language of its kernel.
    pub language: String,
    /// Its cells in order.
    pub cells: Vec<Cell>,
}

/// Reads a notebook of format 3 or 4; `None` if it is not JSON.
#[must_use]
pub(crate) fn notebook(bytes: &[u8]) -> Option<Notebook> {
    let root: Value = serde_json::from_slice(bytes).ok()?;
    let metadata = root.get("metadata");
    let named = |path: &str| {
        metadata
            .and_then(|metadata| metadata.pointer(path))
            .and_then(Value::as_str)
    };
    let language = named("/language_info/name")
        .or_else(|| named("/kernelspec/language"))
        .unwrap_or("python")
        .to_ascii_lowercase();
    let sheets = root
        .get("worksheets")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let lists = std::iter::once(&root)
        .chain(sheets)
        .filter_map(|holder| holder.get("cells").and_then(Value::as_array));
    let cells = lists.flatten().map(|cell| read(cell, &language)).collect();
    Some(Notebook { language, cells })
}

fn read(cell: &Value, kernel: &str) -> Cell {
    let source = cell
        .get("source")
        .or_else(|| cell.get("input"))
        .map(joined)
        .unwrap_or_default();
    let sort = match cell.get("cell_type").and_then(Value::as_str) {
        Some("code") => Sort::Code,
        Some("markdown" | "heading") => Sort::Markdown,
        _ => Sort::Raw,
    };
    let language = match sort {
        Sort::Code => magic(&source)
            .or_else(|| cell.get("language").and_then(Value::as_str))
            .unwrap_or(kernel)
            .to_owned(),
        Sort::Markdown => "markdown".to_owned(),
        Sort::Raw => "text".to_owned(),
    };
    let outputs = cell
        .get("outputs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .flat_map(output)
        .collect();
    Cell {
        sort,
        language,
        source,
        outputs,
    }
}

/// The language that a cell's first line chooses.
fn magic(source: &str) -> Option<&'static str> {
    let line = source.trim_start().lines().next()?.strip_prefix("%%")?;
    match line.split_whitespace().next()? {
        "bash" | "sh" | "!" | "system" | "sx" => Some("bash"),
        "script" if line.contains("sh") => Some("bash"),
        "javascript" | "js" => Some("javascript"),
        "html" | "HTML" | "svg" | "SVG" => Some("html"),
        "perl" => Some("perl"),
        "ruby" => Some("ruby"),
        "cmd" => Some("batch"),
        "powershell" | "pwsh" => Some("powershell"),
        "writefile" | "file" | "latex" | "markdown" => Some("text"),
        _ => None,
    }
}

fn output(output: &Value) -> Vec<String> {
    let mut texts: Vec<String> = ["text", "traceback", "evalue"]
        .iter()
        .filter_map(|key| output.get(key))
        .map(joined)
        .collect();
    if let Some(data) = output.get("data").and_then(Value::as_object) {
        let readable = |name: &str| {
            name.starts_with("text/")
                || name.contains("javascript")
                || name.contains("json")
                || name.contains("svg")
        };
        texts.extend(
            data.iter()
                .filter(|(name, _)| readable(name))
                .map(|(_, value)| joined(value)),
        );
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// A string, or lines of one.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
