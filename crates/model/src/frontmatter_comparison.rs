//! Whether the frontmatter of a SKILL.md matches a server's listing.
//!
//! A server that lists skills sends their frontmatter as JSON, made by its own YAML reader. Readers parse an unquoted `1.10`, `yes` or
//! `2026-01-01` differently: as a number or a string, true or a string, a date or a string. So a JSON value is compared with the written
//! text, and matches if any YAML reader could have produced it from that text.

use serde_json::{Map, Value as Json};

use crate::{
    Strictness, frontmatter,
    report::DiagnosticCollector,
    yaml::{
        self,
        node::{Node, NodeValue, Pair, Style, get},
    },
};

/// The first field in which the frontmatter of a SKILL.md differs from `expected`; `None` if it is the same.
#[must_use]
pub fn frontmatter_difference(text: &str, expected: &Map<String, Json>) -> Option<String> {
    const ALL: &str = "frontmatter";
    let mut silent = DiagnosticCollector::new(Strictness::Lenient, "", text);
    let Some(split) = frontmatter::split(text, &mut silent) else {
        return Some(ALL.to_owned());
    };
    let base = u32::try_from(split.yaml.start).unwrap_or(u32::MAX);
    let Some(pairs) = yaml::read_mapping(&text[split.yaml], base, &mut silent) else {
        return Some(ALL.to_owned());
    };
    difference(&pairs, expected)
}

fn difference(pairs: &[Pair<'_>], expected: &Map<String, Json>) -> Option<String> {
    let differs =
        |(key, json): &(&String, &Json)| !get(pairs, key).is_some_and(|node| is_same(node, json));
    let other = expected.iter().find(differs).map(|(key, _)| key.clone());
    other.or_else(|| {
        let mut unknown = pairs
            .iter()
            .filter(|pair| !expected.contains_key(&*pair.key));
        unknown.next().map(|pair| pair.key.to_string())
    })
}

fn is_same(node: &Node<'_>, json: &Json) -> bool {
    match (&node.value, json) {
        (NodeValue::Null, Json::Null) => true,
        (NodeValue::Text(text, _), Json::String(expected)) => **text == **expected,
        (NodeValue::Text(text, Style::Plain), Json::Null) => {
            matches!(&**text, "~" | "null" | "Null" | "NULL")
        }
        (NodeValue::Text(text, Style::Plain), Json::Bool(expected)) => {
            let word = text.to_ascii_lowercase();
            match expected {
                true => matches!(&*word, "true" | "yes" | "on"),
                false => matches!(&*word, "false" | "no" | "off"),
            }
        }
        (NodeValue::Text(text, Style::Plain), Json::Number(expected)) => {
            number(text).is_some_and(|number| Some(number) == expected.to_string().parse().ok())
        }
        (NodeValue::List(items), Json::Array(expected)) => {
            let mut pairs = items.iter().zip(expected);
            items.len() == expected.len() && pairs.all(|(item, json)| is_same(item, json))
        }
        (NodeValue::Map(pairs), Json::Object(expected)) => difference(pairs, expected).is_none(),
        _ => false,
    }
}

/// The number that an unquoted scalar represents, in the notations of YAML.
fn number(text: &str) -> Option<f64> {
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let with_radix = |prefix: &str, radix| {
        let digits = digits.strip_prefix(prefix)?;
        u32::from_str_radix(digits, radix).ok().map(f64::from)
    };
    let found = with_radix("0x", 16).or_else(|| with_radix("0o", 8));
    let decimal = || {
        let starts = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        starts.then(|| digits.parse::<f64>().ok()).flatten()
    };
    Some(sign * found.or_else(decimal)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: &Json, difference: Option<&str>) {
        let text = format!("---\n{yaml}\n---\nBody\n");
        let expected = expected.as_object().unwrap();
        let found = frontmatter_difference(&text, expected);
        assert_eq!(found.as_deref(), difference, "{yaml}");
    }

    #[test]
    fn what_some_reader_could_have_made_is_the_same() {
        for (yaml, json) in [
            ("a: 1.10", json!(1.1)),
            ("a: 1.10", json!("1.10")),
            ("a: 0x1F", json!(31)),
            ("a: -3", json!(-3)),
            ("a: yes", json!(true)),
            ("a: yes", json!("yes")),
            ("a: off", json!(false)),
            ("a:", json!(null)),
            ("a: ~", json!(null)),
            ("a: 2026-01-01", json!("2026-01-01")),
            ("a: \"1\"", json!("1")),
            ("a: [x, 'y', 3]", json!(["x", "y", 3])),
            ("a: {b: {c: d}}", json!({ "b": { "c": "d" } })),
            ("a: |\n  x\n  y", json!("x\ny\n")),
            ("a: Deploys: fast", json!("Deploys: fast")),
        ] {
            check(yaml, &json!({ "a": json }), None);
        }
    }

    #[test]
    fn every_other_value_is_a_difference() {
        for (yaml, json) in [
            ("a: 1.10", json!(1.2)),
            ("a: x", json!("y")),
            ("a: \"1\"", json!(1)),
            ("a: \"yes\"", json!(true)),
            ("a: no", json!(true)),
            ("a: [x]", json!(["x", "y"])),
            ("a: [x, y]", json!(["y", "x"])),
            ("a: {b: 1}", json!({ "b": 1, "c": 2 })),
            ("a: {b: 1, c: 2}", json!({ "b": 1 })),
            ("a: x", json!(["x"])),
            ("a: inf", json!(1)),
        ] {
            check(yaml, &json!({ "a": json }), Some("a"));
        }
    }

    #[test]
    fn a_field_more_or_less_is_a_difference() {
        check("a: x\nb: y", &json!({ "a": "x" }), Some("b"));
        check("a: x", &json!({ "a": "x", "b": "y" }), Some("b"));
        check("", &json!({ "a": "x" }), Some("a"));
        assert_eq!(
            frontmatter_difference("no frontmatter", &Map::new()).as_deref(),
            Some("frontmatter")
        );
    }
}
