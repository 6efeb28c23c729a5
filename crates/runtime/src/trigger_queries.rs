//! Queries with the skills that they are for, or must not find: from files of skills, from tables, and from descriptions.
//!
//! Skills ship them in `evals/`: `[{query, should_trigger}]`, `{evals: [{prompt, …}]}` and similar lists as JSON, or lines
//! `query<TAB>skill`. A file in another form is not about triggers and is ignored; one that can't be parsed is a [`QueryProblem`].

use metier_catalog::{CatalogEntry, SkillLocation};
use serde_json::Value;

/// A query with the skills that are right for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerQuery {
    /// The query, as a user would type it.
    pub text: String,
    /// The names of the skills that it is about.
    pub skills: Vec<String>,
    /// Whether one of them should be found first, or none.
    pub should_trigger: bool,
    /// Where it comes from.
    pub origin: QueryOrigin,
}

/// Where a query comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueryOrigin {
    /// A file, and the number of the query or the line in it, from 1 on.
    File(String, usize),
    /// A phrase that the description has in quotes.
    Quoted,
    /// The description itself.
    Description,
    /// The caller.
    Given,
}

/// A file of queries that can't be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProblem {
    /// The file, as the user would write it.
    pub file: String,
    /// The line or number of the query in it, if one is wrong.
    pub number: Option<usize>,
    /// The problem, in a sentence.
    pub message: String,
}

/// Queries, and the files that have problems.
#[derive(Clone, Debug, Default)]
pub struct TriggerQueries {
    /// The queries, in the order of the files.
    pub queries: Vec<TriggerQuery>,
    /// The parts that could not be read.
    pub problems: Vec<QueryProblem>,
}

/// The maximum size of a file of queries, in bytes.
pub const MAX_QUERY_FILE: u64 = 16 << 20;
/// The lists of a JSON file that contain queries.
const LISTS: &[&str] = &["evals", "queries", "cases", "prompts"];
/// The fields of a query that contain its text.
const TEXTS: &[&str] = &["query", "prompt", "input"];
/// Where skills have their files of queries.
const FOLDERS: &[&str] = &["evals/", "eval/"];
/// Quotes, opening and closing.
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')];

impl TriggerQueries {
    /// Reads the queries that a skill ships.
    pub fn add_shipped(&mut self, entry: &CatalogEntry) {
        if !matches!(entry.place, SkillLocation::Folder(_)) {
            return;
        }
        let Ok(files) = entry.place.files() else {
            return;
        };
        let paths = files.iter().filter(|file| !file.special);
        for path in paths.filter_map(|file| file.path.as_str()) {
            let name = FOLDERS.iter().find_map(|folder| path.strip_prefix(folder));
            let Some(name) = name.filter(|name| !name.contains('/')) else {
                continue;
            };
            let is_json = name.ends_with(".json");
            if !is_json && !name.ends_with(".tsv") {
                continue;
            }
            let shown = entry.place.path().join(path).to_string_lossy().into_owned();
            match entry.place.read(path, MAX_QUERY_FILE) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    match is_json {
                        true => self.add_json(&shown, &entry.name(), &text),
                        false => self.add_table(&shown, Some(&entry.name()), &text),
                    }
                }
                Err(error) => self.problem(&shown, None, &error.to_string()),
            }
        }
    }

    /// Reads lines `query<TAB>skill`. Several skills are separated by commas; with `!` before the name, the skill must not be found first.
    pub fn add_table(&mut self, file: &str, owner: Option<&str>, text: &str) {
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (query, names) = line.split_once('\t').unwrap_or((line, ""));
            if number == 1 && query.trim() == "query" {
                continue;
            }
            // Further columns are comments.
            let names = names.split('\t').next().unwrap_or_default();
            let named = names.split(',').map(str::trim);
            let named: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
            let names: Vec<&str> = match named.is_empty() {
                true => owner.into_iter().collect(),
                false => named,
            };
            if names.is_empty() || query.trim().is_empty() {
                let message = "write a query, a tab and the name of its skill";
                self.problem(file, Some(number), message);
                continue;
            }
            for should_trigger in [true, false] {
                let of_kind = names
                    .iter()
                    .filter(|name| name.starts_with('!') != should_trigger);
                let skills = of_kind.map(|name| name.trim_start_matches('!').to_owned());
                let skills: Vec<String> = skills.collect();
                if !skills.is_empty() {
                    self.queries.push(TriggerQuery {
                        text: query.trim().to_owned(),
                        skills,
                        should_trigger,
                        origin: QueryOrigin::File(file.to_owned(), number),
                    });
                }
            }
        }
    }

    /// Reads a JSON file of a skill.
    pub fn add_json(&mut self, file: &str, owner: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document: Value = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(error) => return self.problem(file, None, &error.to_string()),
        };
        let mut add = |number: usize, text: &str, should_trigger: bool| {
            self.queries.push(TriggerQuery {
                text: text.trim().to_owned(),
                skills: vec![owner.to_owned()],
                should_trigger,
                origin: QueryOrigin::File(file.to_owned(), number),
            });
        };
        for (list, should_trigger) in [("should_trigger", true), ("should_not_trigger", false)] {
            let texts = document.get(list).and_then(Value::as_array);
            for (number, text) in texts.into_iter().flatten().enumerate() {
                if let Some(text) = text.as_str() {
                    add(number + 1, text, should_trigger);
                }
            }
        }
        let listed = LISTS.iter().find_map(|list| document.get(list)?.as_array());
        let rows = document.as_array().or(listed).into_iter().flatten();
        let text_of = |row: &Value| {
            let text = TEXTS.iter().find_map(|field| row.get(field)?.as_str());
            text.filter(|text| !text.trim().is_empty())
                .map(str::to_owned)
        };
        let rows: Vec<(Option<String>, bool)> = rows
            .map(|row| {
                let fires = row.get("should_trigger").and_then(Value::as_bool);
                (text_of(row), fires.unwrap_or(true))
            })
            .collect();
        // A list without a single query has another purpose.
        let is_about_triggers = rows.iter().any(|(text, _)| text.is_some());
        for (number, (text, should_trigger)) in rows.into_iter().enumerate() {
            match text {
                Some(text) => self.queries.push(TriggerQuery {
                    text: text.trim().to_owned(),
                    skills: vec![owner.to_owned()],
                    should_trigger,
                    origin: QueryOrigin::File(file.to_owned(), number + 1),
                }),
                None if is_about_triggers => {
                    let message = "it has no text in `query` or `prompt`";
                    self.problem(file, Some(number + 1), message);
                }
                None => {}
            }
        }
    }

    /// Phrases that a description has in quotes, or the description itself if there are none.
    pub fn add_described(&mut self, name: &str, description: &str) {
        let mut query = |text: &str, origin| {
            self.queries.push(TriggerQuery {
                text: text.to_owned(),
                skills: vec![name.to_owned()],
                should_trigger: true,
                origin,
            });
        };
        let phrases = quoted(description);
        for phrase in &phrases {
            query(phrase, QueryOrigin::Quoted);
        }
        if phrases.is_empty() && !description.trim().is_empty() {
            query(description.trim(), QueryOrigin::Description);
        }
    }

    fn problem(&mut self, file: &str, number: Option<usize>, message: &str) {
        self.problems.push(QueryProblem {
            file: file.to_owned(),
            number,
            message: message.to_owned(),
        });
    }
}

/// The phrases in quotes that have at least two words, or two characters of a script without spaces.
fn quoted(text: &str) -> Vec<&str> {
    let mut phrases = Vec::new();
    let mut rest = text;
    while let Some((start, open)) = rest
        .char_indices()
        .find(|(_, c)| QUOTES.iter().any(|(open, _)| open == c))
    {
        let after = rest.get(start + open.len_utf8()..).unwrap_or_default();
        let close = QUOTES.iter().find(|(quote, _)| *quote == open);
        let end = close.and_then(|(_, close)| after.find(*close));
        let Some(end) = end else { break };
        let phrase = after.get(..end).unwrap_or_default().trim();
        let is_phrase = phrase.contains(' ') || !phrase.is_ascii();
        if is_phrase && phrase.len() <= 200 && !phrase.contains('\n') {
            phrases.push(phrase);
        }
        let close = after.get(end..).and_then(|rest| rest.chars().next());
        let skip = end + close.map_or(0, char::len_utf8);
        rest = after.get(skip..).unwrap_or_default();
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(read: &TriggerQueries) -> String {
        let row = |query: &TriggerQuery| {
            let sign = if query.should_trigger { "+" } else { "-" };
            format!("{sign}{} {}", query.skills.join("/"), query.text)
        };
        let problem = |problem: &QueryProblem| {
            let number = problem
                .number
                .map_or(String::new(), |number| number.to_string());
            format!("?{number} {}", problem.message)
        };
        let queries = read.queries.iter().map(row);
        let problems = read.problems.iter().map(problem);
        queries.chain(problems).collect::<Vec<_>>().join("; ")
    }

    fn check_json(text: &str, expected: &str) {
        let mut read = TriggerQueries::default();
        read.add_json("evals/x.json", "pdf", text);
        assert_eq!(shown(&read), expected, "{text}");
    }

    #[test]
    fn every_shape_of_a_file_is_read() {
        check_json(
            r#"[{"query": "merge two PDFs", "should_trigger": true}, {"query": "write a poem", "should_trigger": false, "rationale": "no PDF"}]"#,
            "+pdf merge two PDFs; -pdf write a poem",
        );
        check_json(
            r#"{"skill_name": "pdf", "evals": [{"id": 1, "prompt": "fill in the form", "expected_output": "a form", "assertions": ["x"]}]}"#,
            "+pdf fill in the form",
        );
        check_json(
            r#"{"should_trigger": ["split it"], "should_not_trigger": ["sing"]}"#,
            "+pdf split it; -pdf sing",
        );
        check_json(
            "\u{feff}[{\"query\": \" merge \", \"expected_behavior\": \"x\"}]",
            "+pdf merge",
        );
    }

    #[test]
    fn other_files_are_left_alone_and_broken_ones_reported() {
        check_json(r#"{"run_summary": {"with_skill": 1}}"#, "");
        check_json(r#"[{"id": 3, "text": "x"}]"#, "");
        check_json("3", "");
        check_json("null", "");
        check_json(
            r#"[{"query": "merge"}, {"query": 3}, "x", {"query": " "}]"#,
            "+pdf merge; ?2 it has no text in `query` or `prompt`; ?3 it has no text in `query` or `prompt`; ?4 it has no text in `query` or `prompt`",
        );
        check_json("[{", "? EOF while parsing an object at line 1 column 2");
    }

    #[test]
    fn tables_have_negatives() {
        let mut read = TriggerQueries::default();
        let text = "query\tskill\n# from the help desk\nmerge PDFs\tpdf\r\nwrite\tdocx,notes\nsing\t!pdf\nboth\tpdf,!notes\n\nno skill\n\tpdf\n";
        read.add_table("q.tsv", None, text);
        assert_eq!(
            shown(&read),
            "+pdf merge PDFs; +docx/notes write; -pdf sing; +pdf both; -notes both; \
             ?8 write a query, a tab and the name of its skill; ?9 write a query, a tab and the name of its skill"
        );
        let mut own = TriggerQueries::default();
        own.add_table("evals/q.tsv", Some("pdf"), "merge\nsing\t!pdf");
        assert_eq!(shown(&own), "+pdf merge; -pdf sing");
    }

    #[test]
    fn quotes_in_descriptions_are_queries() {
        assert_eq!(
            quoted(
                "Use for \"merge two files\", “split a PDF” or \"pdf\". 用于「合并文件」。 An \"open end"
            ),
            ["merge two files", "split a PDF", "合并文件"]
        );
        let mut read = TriggerQueries::default();
        read.add_described("pdf", "Merges files.");
        assert_eq!(shown(&read), "+pdf Merges files.");
        assert_eq!(read.queries[0].origin, QueryOrigin::Description);
    }
}
