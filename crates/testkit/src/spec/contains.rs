//! Whether one JSON value contains another, and if not, at which place it differs.

use serde_json::{Map, Value};

use super::compare::wildcard;

/// Checks that `expected` is contained in `actual`; the error names the place, as `$.skills[0].name`.
pub(super) fn contains(expected: &Value, actual: &Value) -> Result<(), String> {
    at("$", expected, actual)
}

fn at(place: &str, expected: &Value, actual: &Value) -> Result<(), String> {
    match (expected, actual) {
        (Value::String(pattern), _) if pattern == "[..]" => Ok(()),
        (Value::String(pattern), Value::String(text)) if wildcard(pattern, text) => Ok(()),
        (Value::Object(expected), Value::Object(actual)) => object(place, expected, actual),
        (Value::Array(expected), Value::Array(actual)) => array(place, expected, actual),
        _ if expected == actual => Ok(()),
        _ => Err(format!(
            "{place}: expected {expected}, found {}",
            brief(actual)
        )),
    }
}

fn object(
    place: &str,
    expected: &Map<String, Value>,
    actual: &Map<String, Value>,
) -> Result<(), String> {
    for (key, expected) in expected {
        let place = format!("{place}.{key}");
        match actual.get(key) {
            Some(actual) => at(&place, expected, actual)?,
            None => {
                return Err(format!(
                    "{place}: expected {expected}, but there is no such key"
                ));
            }
        }
    }
    Ok(())
}

/// Each listed element, in order; for a subsequence, the earliest match is always right.
fn array(place: &str, expected: &[Value], actual: &[Value]) -> Result<(), String> {
    if expected.is_empty() && !actual.is_empty() {
        let actual = brief(&Value::Array(actual.to_vec()));
        return Err(format!("{place}: expected an empty list, found {actual}"));
    }
    let mut candidates = actual.iter().enumerate();
    for (index, expected) in expected.iter().enumerate() {
        let mut reasons = Vec::new();
        let fits = |(n, actual)| match at(&format!("{place}[{n}]"), expected, actual) {
            Ok(()) => true,
            Err(reason) => {
                reasons.push(reason);
                false
            }
        };
        if !candidates.any(fits) {
            reasons.truncate(5);
            let reasons: String = reasons
                .iter()
                .map(|reason| format!("\n  {reason}"))
                .collect();
            return Err(format!(
                "{place}: listed element {index} is not among the remaining ones: {expected}{reasons}"
            ));
        }
    }
    Ok(())
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::contains;
    use serde_json::{Value, json};

    #[track_caller]
    fn yes(expected: &Value, actual: &Value) {
        assert_eq!(contains(expected, actual), Ok(()));
    }

    #[track_caller]
    fn no(expected: &Value, actual: &Value, place: &str) {
        let message = contains(expected, actual).unwrap_err();
        assert!(message.contains(place), "{message}");
    }

    #[test]
    fn objects_contain_the_listed_keys() {
        let actual = json!({"a": {"b": 1, "c": null}, "d": "x-9"});
        yes(&json!({"a": {"c": null}}), &actual);
        yes(&json!({"a": "[..]", "d": "x-[..]"}), &actual);
        no(
            &json!({"a": {"b": 2}}),
            &actual,
            "$.a.b: expected 2, found 1",
        );
        no(&json!({"a": {"z": "[..]"}}), &actual, "$.a.z");
        no(&json!({"d": "y[..]"}), &actual, "$.d");
    }

    #[test]
    fn lists_contain_the_listed_elements_in_order() {
        let actual = json!([{"n": 1}, {"n": 2}, {"n": 3}]);
        yes(&json!([{"n": 1}, {"n": 3}]), &actual);
        no(&json!([{"n": 3}, {"n": 1}]), &actual, "listed element 1");
        no(
            &json!([{"n": 1}, {"n": 1}]),
            &actual,
            "$[1].n: expected 1, found 2",
        );
    }

    #[test]
    fn an_empty_list_means_empty() {
        yes(&json!([]), &json!([]));
        no(
            &json!({"x": []}),
            &json!({"x": [1]}),
            "$.x: expected an empty list",
        );
    }
}
