//! A frontmatter as its author wrote it, as JSON, for programs that compare it with the file.
//!
//! The reader of manifests repairs what it can. This one repairs nothing: another reader of the same file has to get the same values, so
//! text that is not plain YAML 1.2 has no JSON form. Scalars have the types of the core schema of YAML 1.2.

use serde_json::{Map, Number, Value};

use crate::{
    Strictness, frontmatter,
    report::DiagnosticCollector,
    yaml::{
        full,
        node::{Node, NodeValue, Style},
    },
};

/// All fields of the frontmatter of a SKILL.md, in their order. `None` if it has none, if it is not YAML, if a key occurs twice, or if a
/// value has no JSON form.
///
/// ```
/// let text = "---\nname: pdf\nmetadata:\n  pages: 3\n  version: '1.10'\n---\nBody.\n";
/// let fields = metier_model::frontmatter_as_json(text).unwrap();
/// assert_eq!(fields["metadata"]["pages"], 3);
/// assert_eq!(fields["metadata"]["version"], "1.10");
/// assert!(metier_model::frontmatter_as_json("---\nname: a: b\n---\n").is_none());
/// ```
#[must_use]
pub fn frontmatter_as_json(text: &str) -> Option<Map<String, Value>> {
    let mut report = DiagnosticCollector::new(Strictness::Lenient, "", text);
    let split = frontmatter::split(text, &mut report)?;
    let base = u32::try_from(split.yaml.start).ok()?;
    let node = full::read(text.get(split.yaml)?, base, &mut report).ok()?;
    // A tolerated oddity (a second document, a merge key, a repeated key) is parsed differently by other readers.
    if !report.list.is_empty() {
        return None;
    }
    match json(&node)? {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn json(node: &Node<'_>) -> Option<Value> {
    Some(match &node.value {
        NodeValue::Null => Value::Null,
        NodeValue::Text(text, Style::Quoted) => Value::String(text.to_string()),
        NodeValue::Text(text, Style::Plain) => scalar(text)?,
        NodeValue::List(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        NodeValue::Map(pairs) => {
            let mut fields = Map::new();
            for pair in pairs {
                if fields
                    .insert(pair.key.to_string(), json(&pair.node)?)
                    .is_some()
                {
                    return None;
                }
            }
            Value::Object(fields)
        }
    })
}

/// An unquoted scalar by the core schema of YAML 1.2; `None` for a number that JSON can't represent.
fn scalar(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" => return Some(true.into()),
        "false" | "False" | "FALSE" => return Some(false.into()),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_special =
        matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    if is_special {
        return None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(rest) = text.strip_prefix(prefix)
            && !rest.is_empty()
            && rest.chars().all(|c| c.is_digit(radix))
        {
            return u64::from_str_radix(rest, radix).ok().map(Value::from);
        }
    }
    if digits(unsigned) {
        let plain = text.strip_prefix('+').unwrap_or(text);
        let whole = plain.parse::<i64>().map(Number::from);
        let whole = whole.or_else(|_| plain.parse::<u64>().map(Number::from));
        return whole.ok().map(Value::Number);
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_exponent = exponent
        .is_none_or(|exponent| digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", after)) => digits(after),
        Some((before, after)) => digits(before) && (after.is_empty() || digits(after)),
        None => digits(mantissa),
    };
    if is_exponent && is_mantissa {
        let plain = text.strip_prefix('+').unwrap_or(text);
        return Number::from_f64(plain.parse().ok()?).map(Value::Number);
    }
    Some(Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(yaml: &str) -> Option<Value> {
        frontmatter_as_json(&format!("---\n{yaml}\n---\nBody.\n")).map(Value::Object)
    }

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        let typed = "a: 1\nb: -2\nc: +3\nd: 1.10\ne: .5\nf: 1e3\ng: 0x1f\nh: 0o17\ni: true\nj: null\nk: ~\nl:\nm: yes\nn: 2026-01-02\no: '1'\np: 1_000\nq: 0b1\nr: 1.2.3\ns: 012";
        assert_eq!(
            read(typed).unwrap(),
            json!({
                "a": 1, "b": -2, "c": 3, "d": 1.1, "e": 0.5, "f": 1000.0, "g": 31, "h": 15, "i": true, "j": null, "k": null, "l": null,
                "m": "yes", "n": "2026-01-02", "o": "1", "p": "1_000", "q": "0b1", "r": "1.2.3", "s": 12
            })
        );
    }

    #[test]
    fn collections_and_blocks_are_whole() {
        let yaml = "description: >-\n  One\n  two\nlist: [a, {b: c}]\nmap:\n  k:\n    - 1\n    - x";
        assert_eq!(
            read(yaml).unwrap(),
            json!({"description": "One two", "list": ["a", {"b": "c"}], "map": {"k": [1, "x"]}})
        );
    }

    #[test]
    fn text_that_other_readers_understand_differently_has_no_json_form() {
        for yaml in [
            "a: .inf",
            "a: -.INF",
            "a: .nan",
            "a: 1\na: 2",
            "a: b: c",
            "- a",
            "a: &x 1\nb: *x",
            "<<: {a: 1}",
            "a: !tag b",
            "a: 123456789012345678901234567890",
        ] {
            assert_eq!(read(yaml), None, "{yaml}");
        }
        assert_eq!(frontmatter_as_json("No frontmatter.\n"), None);
        assert_eq!(frontmatter_as_json("---\na: 1\n"), None);
    }
}
