//! The user's rules for the scanner: an id, a severity, a message and a pattern.
//!
//! A file contains one rule, or a list of them under `rules:`; a skill of type `security-rule` contains the same list
//! under `security_rules: {patterns: […]}`. The scanner compiles the pattern.

use crate::{
    Json,
    yaml::{
        self,
        node::{Node, NodeValue},
    },
};

/// A rule written by a user or a skill author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternRule {
    /// The unique id of the rule.
    pub id: Box<str>,
    /// `info`, `warning` or `critical`.
    pub severity: Box<str>,
    /// The message when it matches.
    pub message: Box<str>,
    /// Advice for fixing a finding.
    pub fix: Option<Box<str>>,
    /// Only files with these extensions; all if empty.
    pub files: Vec<Box<str>>,
    /// Only files in these languages; all if empty.
    pub languages: Vec<Box<str>>,
    /// The regular expression to search for.
    pub pattern: Box<str>,
    /// Examples that it must match.
    pub must_match: Vec<Box<str>>,
    /// Examples that it must not match.
    pub must_not_match: Vec<Box<str>>,
    /// The line where it starts; 0 if unknown.
    pub line: u32,
}

/// A rule that can't be read, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMistake {
    /// The line; 0 if unknown.
    pub line: u32,
    /// A description of the mistake.
    pub message: String,
}

/// The rules of a YAML file.
#[must_use]
pub fn rules_in_file(text: &str) -> (Vec<PatternRule>, Vec<RuleMistake>) {
    let line = |at: u32| yaml::line(text, at);
    let node = match yaml::read_file(text) {
        Ok(node) => node,
        Err((line, message)) => return (Vec::new(), vec![RuleMistake { line, message }]),
    };
    collect(node.get("rules").unwrap_or(&node), &line)
}

/// The rules in the `security_rules` of a manifest.
#[must_use]
pub fn rules_in_manifest(rules: &Json) -> (Vec<PatternRule>, Vec<RuleMistake>) {
    let node = Node::from_json(rules.clone(), 0);
    let list = node.get("patterns").or_else(|| node.get("rules"));
    collect(list.unwrap_or(&node), &|_| 0)
}

fn collect(node: &Node<'_>, line: &dyn Fn(u32) -> u32) -> (Vec<PatternRule>, Vec<RuleMistake>) {
    let mut rules: Vec<PatternRule> = Vec::new();
    let mut mistakes = Vec::new();
    let items: &[Node<'_>] = match &node.value {
        NodeValue::List(items) => items,
        NodeValue::Null => &[],
        _ => std::slice::from_ref(node),
    };
    for item in items {
        match rule(item, line) {
            Ok(rule) if rules.iter().any(|other| other.id == rule.id) => {
                mistakes.push(RuleMistake {
                    line: rule.line,
                    message: format!("there are two rules with the id `{}`", rule.id),
                });
            }
            Ok(rule) => rules.push(rule),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    (rules, mistakes)
}

const FIELDS: &[&str] = &[
    "id",
    "severity",
    "message",
    "fix",
    "files",
    "languages",
    "pattern",
    "must_match",
    "must_not_match",
];

fn rule(node: &Node<'_>, line: &dyn Fn(u32) -> u32) -> Result<PatternRule, RuleMistake> {
    let wrong = |at: u32, message: String| RuleMistake {
        line: line(at),
        message,
    };
    let Some(pairs) = node.as_map() else {
        let message = format!(
            "a rule must be a map with `id`, `pattern` …, not {}",
            node.kind()
        );
        return Err(wrong(node.at, message));
    };
    if let Some(pair) = pairs
        .iter()
        .find(|pair| !FIELDS.contains(&pair.key.as_ref()))
    {
        let message = format!(
            "unknown field `{}` in a rule; its fields are {}",
            crate::text::visible(&pair.key),
            FIELDS.join(", ")
        );
        return Err(wrong(pair.key_at, message));
    }
    let text = |key: &str| match node.get(key) {
        None => Ok(None),
        Some(value) => match value.as_text().filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(Some(Box::from(text))),
            None => Err(wrong(
                value.at,
                format!("`{key}` must be a string that is not empty"),
            )),
        },
    };
    let needed =
        |key: &str| text(key)?.ok_or_else(|| wrong(node.at, format!("the rule has no `{key}`")));
    let list = |key: &str, such_as: &str| match node.get(key).map(|list| &list.value) {
        None | Some(NodeValue::Null) => Ok(Vec::new()),
        Some(NodeValue::Text(one, _)) => Ok(vec![Box::from(&**one)]),
        Some(NodeValue::List(items)) if items.iter().all(|item| item.as_text().is_some()) => {
            Ok(items
                .iter()
                .filter_map(|item| item.as_text().map(Box::from))
                .collect())
        }
        Some(_) => Err(wrong(
            node.at,
            format!("`{key}` must be a list of {such_as}"),
        )),
    };
    let id: Box<str> = needed("id")?;
    if id.chars().any(|c| c.is_whitespace() || c.is_control()) {
        let message = format!("the id `{}` contains spaces", crate::text::visible(&id));
        return Err(wrong(node.at, message));
    }
    Ok(PatternRule {
        severity: needed("severity")?,
        message: text("message")?.unwrap_or_else(|| format!("`{id}` matches").into()),
        fix: text("fix")?,
        files: list("files", "endings, such as `[\"*.py\"]`")?,
        languages: list("languages", "languages, such as `[python]`")?,
        pattern: needed("pattern")?,
        must_match: list("must_match", "texts that the pattern has to match")?,
        must_not_match: list("must_not_match", "texts that the pattern must not match")?,
        line: line(node.at),
        id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(text: &str) -> Vec<String> {
        let (_, mistakes) = rules_in_file(text);
        mistakes
            .into_iter()
            .map(|mistake| format!("{}: {}", mistake.line, mistake.message))
            .collect()
    }

    #[test]
    fn a_file_holds_one_rule_or_a_list() {
        let one = "id: no-telnet\nseverity: warning\nmessage: telnet\npattern: '\\btelnet\\b'\n";
        let (rules, wrong) = rules_in_file(one);
        assert_eq!(wrong, []);
        assert_eq!(&*rules[0].pattern, r"\btelnet\b");
        let list = "rules:\n  - {id: a, severity: info, pattern: x, files: [\"*.py\"], fix: y}\n  - id: b\n    severity: critical\n    pattern: z\n";
        let (rules, wrong) = rules_in_file(list);
        assert_eq!(wrong, []);
        assert_eq!((rules.len(), rules[1].line), (2, 3));
        assert_eq!(rules[0].files, ["*.py".into()]);
        assert_eq!(rules_in_file("").0, []);
    }

    #[test]
    fn mistakes_have_a_line() {
        assert_eq!(
            mistakes("rules:\n  - id: a\n    severity: info\n"),
            ["2: the rule has no `pattern`"]
        );
        assert_eq!(
            mistakes("id: a\nseverty: info\npattern: x\n"),
            [
                "2: unknown field `severty` in a rule; its fields are id, severity, message, fix, files, languages, pattern, must_match, must_not_match"
            ]
        );
        assert_eq!(
            mistakes(
                "rules: [{id: a, severity: info, pattern: x}, {id: a, severity: info, pattern: y}]"
            ),
            ["1: there are two rules with the id `a`"]
        );
        assert_eq!(mistakes("rules: [").len(), 1);
        assert_eq!(mistakes("rules:\n  - 7\n").len(), 1);
    }

    #[test]
    fn a_manifest_holds_the_same() {
        let json = serde_json::json!({"patterns": [{"id": "latest", "severity": "warning", "pattern": ":latest"}]});
        let (rules, wrong) = rules_in_manifest(&json);
        assert_eq!((rules.len(), wrong.len()), (1, 0));
        assert_eq!(&*rules[0].message, "`latest` matches");
    }
}
