//! `openapi.json` describes every route, and the responses conform to it.

use serde_json::{Value, json};

use crate::test_registry::{Answer, TestRegistry, get, package, send};

fn described() -> Value {
    let stage = TestRegistry::new();
    let server = stage.serve();
    get(&format!("{}/api/v1/openapi.json", server.url())).json()
}

/// Checks a response against a schema of the document.
fn check(document: &Value, schema: &str, answer: &Answer) {
    let whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/components/schemas/{schema}"),
        "components": document["components"],
    });
    let validator = jsonschema::validator_for(&whole).unwrap();
    let body = answer.json();
    let problems: Vec<String> = validator
        .iter_errors(&body)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(problems, [""; 0], "{schema}: {body}");
    // A field that the document does not name is not described.
    let known = document["components"]["schemas"][schema]["properties"]
        .as_object()
        .unwrap();
    for field in body.as_object().unwrap().keys() {
        assert!(
            known.contains_key(field),
            "{schema} does not describe `{field}`"
        );
    }
}

#[test]
fn every_route_is_described_and_exists() {
    let source = [
        include_str!("../../src/http/mod.rs"),
        include_str!("../../src/http/well_known.rs"),
    ]
    .concat();
    let document = described();
    let paths = document["paths"].as_object().unwrap();
    let routes: Vec<String> = source
        .split(".route(")
        .skip(1)
        .filter_map(|route| {
            let route = route.trim_start();
            if route.starts_with("version,") {
                return Some("/api/v1/skills/{name}/{version}".to_owned());
            }
            if route.starts_with("PACKAGES,") {
                return Some("/api/v1/packages".to_owned());
            }
            let text = route.split('"').nth(1)?;
            Some(text.replace("{version}/", "/api/v1/skills/{name}/{version}/"))
        })
        .map(|path| path.replace("{*path}", "{path}"))
        .collect();
    assert!(routes.len() > 12, "{routes:?}");
    for route in &routes {
        assert!(paths.contains_key(route), "{route} is not described");
    }
    for path in paths.keys() {
        assert!(routes.contains(path), "{path} does not exist");
    }
}

#[test]
fn the_answers_are_what_is_described() {
    let document = described();
    let stage = TestRegistry::new();
    let token = stage.token("ada", "publish:*");
    let server = stage.serve();
    let url = |path: &str| format!("{}{path}", server.url());
    let bearer = format!("Bearer {token}");
    let authorization = [("authorization", bearer.as_str())];
    let more = "license: MIT\ndependencies:\n  - name: other\npermissions: [\"file:read\"]\n";
    let published = send(
        "POST",
        &url("/api/v1/packages"),
        &authorization,
        Some(&package("pdf", "1.0.0", more)),
    );
    assert_eq!(published.status, 201);
    check(&document, "PublishAnswer", &published);
    check(
        &document,
        "RegistryPage",
        &get(&url("/api/v1/search?q=pdf")),
    );
    check(&document, "RegistrySkill", &get(&url("/api/v1/skills/pdf")));
    check(
        &document,
        "RegistryVersion",
        &get(&url("/api/v1/skills/pdf/1.0.0")),
    );
    check(&document, "RegistryLogPage", &get(&url("/api/v1/log")));
    check(
        &document,
        "RegistryAccount",
        &send("GET", &url("/api/v1/account"), &authorization, None),
    );
    check(
        &document,
        "RegistryProblem",
        &get(&url("/api/v1/skills/none")),
    );
    let body = br#"{"reason": "broken"}"#;
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let yanked = send(
        "PUT",
        &url("/api/v1/skills/pdf/1.0.0/yank"),
        &headers,
        Some(body),
    );
    assert_eq!(yanked.status, 200);
    check(&document, "RegistryVersion", &yanked);
}
