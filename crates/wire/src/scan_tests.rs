//! A SARIF log has the shape that version 2.1.0 requires: no unknown properties, and no missing ones.

use metier_scan::{ChainStep, FindingLocation, FoundBy, Unread};

use super::*;

fn finding(rule: FoundBy, line: u32) -> Finding {
    Finding {
        rule,
        severity: FindingSeverity::Critical,
        place: FindingLocation {
            file: "a b/x.sh".to_owned(),
            line,
            column: line,
        },
        message: "it leaves".to_owned(),
        evidence: "cat \u{e9}".to_owned(),
        steps: vec![ChainStep {
            place: FindingLocation {
                file: "SKILL.md".to_owned(),
                line: 2,
                column: 1,
            },
            what: "~/.netrc".to_owned(),
        }],
    }
}

fn log() -> Value {
    log_in("/elsewhere")
}

fn log_in(base: &str) -> Value {
    let rule = builtin_rules().nth(3).expect("rules");
    let own = FoundBy::Pattern {
        id: "own".to_owned(),
        fix: None,
    };
    let report = ScanReport {
        findings: vec![finding(FoundBy::Builtin(rule), 3), finding(own, 0)],
        unread: vec![Unread {
            file: String::new(),
            why: "too large".to_owned(),
        }],
        ..ScanReport::default()
    };
    let row = ScannedRow::of("/t\u{e4}st/s".to_owned(), "s".to_owned(), None, &report);
    sarif(&ScanDocument { skills: vec![row] }, "1.2.3", base)
}

/// The keys of an object are known to the schema and include the required ones.
fn check(value: &Value, needed: &[&str], known: &[&str]) {
    let object = value.as_object().expect("an object");
    for key in needed {
        assert!(object.contains_key(*key), "no `{key}` in {value}");
    }
    for key in object.keys() {
        let known = needed.iter().chain(known).any(|other| other == key);
        assert!(known, "`{key}` is not a key of {value}");
    }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().expect("a list")
}

#[test]
fn a_log_has_the_shape_of_the_standard() {
    let log = log();
    check(&log, &["version", "runs"], &["$schema"]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    check(
        run,
        &["tool", "originalUriBaseIds"],
        &["results", "invocations", "columnKind"],
    );
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    check(driver, &["name"], &["version", "informationUri", "rules"]);
    let rules = list(driver, "rules");
    let mut ids: Vec<&str> = rules
        .iter()
        .filter_map(|rule| rule["id"].as_str())
        .collect();
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        (ids.len(), number),
        (rules.len(), rules.len()),
        "ids are unique"
    );
    for rule in rules {
        let known = [
            "shortDescription",
            "fullDescription",
            "help",
            "defaultConfiguration",
            "properties",
        ];
        check(rule, &["id"], &known);
        check(&rule["shortDescription"], &["text"], &[]);
        check(&rule["help"], &["text", "markdown"], &[]);
        let score = rule["properties"]["security-severity"].as_str();
        let score: f64 = score.expect("a text").parse().expect("a number");
        assert!((0.0..=10.0).contains(&score));
        check(&rule["defaultConfiguration"], &[], &["level"]);
    }
    for result in list(run, "results") {
        let known = [
            "ruleId",
            "ruleIndex",
            "level",
            "locations",
            "partialFingerprints",
            "codeFlows",
        ];
        check(result, &["message"], &known);
        check(&result["message"], &["text"], &[]);
        assert!(matches!(
            result["level"].as_str(),
            Some("error" | "warning" | "note")
        ));
        if let Some(index) = result["ruleIndex"].as_u64() {
            let rule = &rules[usize::try_from(index).expect("small")];
            assert_eq!(rule["id"], result["ruleId"]);
        }
        list(result, "locations").iter().for_each(check_location);
        if result.get("codeFlows").is_some() {
            check_flow(&result["codeFlows"][0]);
        }
    }
    let invocation = &run["invocations"][0];
    check(
        invocation,
        &["executionSuccessful"],
        &["toolExecutionNotifications"],
    );
    for notification in list(invocation, "toolExecutionNotifications") {
        check(notification, &["message"], &["level", "locations"]);
        list(notification, "locations")
            .iter()
            .for_each(check_location);
    }
}

fn check_flow(flow: &Value) {
    check(flow, &["threadFlows"], &[]);
    let thread = &flow["threadFlows"][0];
    check(thread, &["locations"], &[]);
    for step in list(thread, "locations") {
        check(step, &[], &["location"]);
        assert!(step["location"]["message"]["text"].is_string());
        check_location(&step["location"]);
    }
}

fn check_location(location: &Value) {
    check(location, &[], &["physicalLocation", "message"]);
    let physical = &location["physicalLocation"];
    check(physical, &["artifactLocation"], &["region"]);
    check(&physical["artifactLocation"], &[], &["uri", "uriBaseId"]);
    let uri = physical["artifactLocation"]["uri"]
        .as_str()
        .expect("a text");
    assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
    if let Some(region) = physical.get("region") {
        check(region, &[], &["startLine", "startColumn"]);
        assert!(region["startLine"].as_u64() >= Some(1));
        assert!(region["startColumn"].as_u64() >= Some(1));
    }
}

#[test]
fn paths_are_spelled_as_uris_are() {
    let result = &log()["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "file:///t%C3%A4st/s/a%20b/x.sh");
}

#[test]
fn paths_below_the_project_are_relative_to_it() {
    for (base, uri, id) in [
        ("/t\u{e4}st", "s/a%20b/x.sh", json!("%SRCROOT%")),
        ("/t\u{e4}", "file:///t%C3%A4st/s/a%20b/x.sh", Value::Null),
    ] {
        let result = &log_in(base)["runs"][0]["results"][0];
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!((&place["uri"], &place["uriBaseId"]), (&json!(uri), &id));
    }
}

#[test]
fn a_chain_has_its_steps_and_ends_at_the_finding() {
    let log = log();
    let thread = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0];
    let texts: Vec<&str> = list(thread, "locations")
        .iter()
        .filter_map(|step| step["location"]["message"]["text"].as_str())
        .collect();
    assert_eq!(texts, ["~/.netrc", "it leaves"]);
}

#[test]
fn what_was_not_read_is_a_result() {
    let log = log();
    let results = list(&log["runs"][0], "results");
    let last = results.last().expect("results");
    assert_eq!(last["ruleId"], "scan/incomplete");
    assert_eq!(last["level"], "error");
    assert_eq!(last["message"]["text"], "not read: too large");
}
