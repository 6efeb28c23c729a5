//! `metier schema` describes what the program prints, and the files that it reads.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use jsonschema::Validator;
use metier_testkit::{TestContext, spec::PrintedJson};
use serde_json::{Value, json};

use crate::mcp::python;

const PROGRAM: &str = env!("CARGO_BIN_EXE_metier");

fn context() -> TestContext {
    TestContext::new(PROGRAM)
}

/// The names of all schemas.
fn names(context: &TestContext) -> BTreeSet<String> {
    let output = context.run(&["schema", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = document["schemas"].as_array().unwrap();
    rows.iter()
        .map(|row| row["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A schema that accepts only the fields that it describes, to find fields that it is missing.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
            fields.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

fn validator(context: &TestContext, name: &str) -> Validator {
    let output = context.run(&["schema", name]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let mut schema: Value = serde_json::from_str(&output.stdout).unwrap();
    closed(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

/// The schema of a document: that of errors, of the command, or of the overview.
fn schema_of<'n>(run: &PrintedJson, document: &Value, names: &'n BTreeSet<String>) -> &'n str {
    let name = match document.get("error").is_some_and(Value::is_object) {
        true => "error",
        false => {
            let mut words = run.arguments.iter();
            words
                .find(|word| names.contains(*word))
                .map_or("overview", |word| word.as_str())
        }
    };
    names.get(name).map_or("error", String::as_str)
}

/// Every document that the specifications print matches its schema.
pub(crate) fn check(printed: &[PrintedJson]) {
    let context = context();
    let names = names(&context);
    let mut validators: BTreeMap<&str, Validator> = BTreeMap::new();
    let mut problems = Vec::new();
    for run in printed {
        let line = run.arguments.join(" ");
        let Ok(document) = serde_json::from_str::<Value>(&run.stdout) else {
            problems.push(format!("metier {line}: not one JSON document"));
            continue;
        };
        // It prints the schema itself.
        if run.arguments.first().is_some_and(|word| word == "schema")
            && document.get("$schema").is_some()
        {
            continue;
        }
        let name = schema_of(run, &document, &names);
        let validator = validators
            .entry(name)
            .or_insert_with(|| validator(&context, name));
        for error in validator.iter_errors(&document).take(3) {
            let at = error.instance_path().to_string();
            problems.push(format!("metier {line}: {name}: {at}: {error}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    if std::env::var_os("METIER_SPEC").is_none() {
        assert!(
            printed.len() > 100 && validators.len() > 20,
            "{} documents, {} schemas",
            printed.len(),
            validators.len()
        );
    }
}

#[test]
fn a_field_that_is_not_described_or_missing_is_found() {
    let context = context();
    let document = context.run(&["list", "--json"]).stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    let validator = validator(&context, "list");
    assert!(validator.is_valid(&document));
    let mut more = document.clone();
    more["skills"][0]["mood"] = json!("good");
    assert!(!validator.is_valid(&more));
    let mut less = document;
    less["skills"][0].as_object_mut().unwrap().remove("status");
    assert!(!validator.is_valid(&less));
}

/// Checks files against the schema of that name, with third-party validators and parsers.
fn files(context: &TestContext, name: &str, files: &[PathBuf]) -> Output {
    let schema = context.run(&["schema", name]).stdout;
    let schema = context.write("schema.json", schema);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check_files.py");
    Command::new(python())
        .arg(script)
        .arg(schema)
        .args(files)
        .output()
        .unwrap()
}

/// The manifests of this name in the folders of skills of this repository.
fn manifests(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["skills", "examples"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let folders = folders
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    folders
        .map(|folder| folder.join(name))
        .filter(|file| file.is_file())
        .collect()
}

#[test]
fn the_skills_of_this_repository_conform_to_the_schemas() {
    let context = context();
    for name in ["SKILL.md", "SKILL.yaml"] {
        let all = manifests(name);
        assert!(all.len() > 3, "{all:?}");
        let output = files(&context, name, &all);
        assert!(output.status.success(), "{name}: {output:?}");
    }
    let wrong = context.write("SKILL.yaml", "name: Loud\nversion: 1.0.0\ntypes: [tol]\n");
    let output = files(&context, "SKILL.yaml", &[wrong]);
    let problems = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success());
    for expected in ["$.name", "$.types", "description"] {
        assert!(problems.contains(expected), "{problems}");
    }
}

#[test]
fn what_new_writes_conforms_to_the_schemas() {
    let context = context();
    for kind in ["tool", "prompt", "workflow", "security-rule", "transform"] {
        let made = context.run(&["new", &format!("my-{kind}"), "--type", kind]);
        assert_eq!(made.code, 0, "{}", made.snapshot());
        for name in ["SKILL.md", "SKILL.yaml"] {
            let file = context.path(&format!("my-{kind}/{name}"));
            if file.is_file() {
                let output = files(&context, name, &[file]);
                assert!(output.status.success(), "{kind}: {output:?}");
            }
        }
    }
}

#[test]
fn configurations_and_locks_conform_to_the_schemas() {
    let context = context();
    let config = "[skills]\nvalidation = \"strict\"\n[skills.entries.weather]\nenabled = false\n[skills.load]\nextra_dirs = [\"~/more\"]\n";
    let config = context.write("config.toml", config);
    let output = files(&context, "config.toml", &[config]);
    assert!(output.status.success(), "{output:?}");
    let wrong = context.write("wrong.toml", "[skills]\nvalidaton = \"strict\"\n");
    assert!(!files(&context, "config.toml", &[wrong]).status.success());
    let digest = "0".repeat(64);
    let lock = format!(
        "version = 1\n[skills.pdf]\nversion = \"1.0.0\"\nsource = \"./pdf\"\ntree = \"sha256:{digest}\"\nverdict = \"clean\"\nrules = \"7\"\n"
    );
    let lock = context.write("metier.lock", lock);
    let output = files(&context, "metier.lock", &[lock]);
    assert!(output.status.success(), "{output:?}");
    let wrong = context.write(
        "wrong.lock",
        "version = 1\n[skills.pdf]\nsource = \"./pdf\"\ntree = \"sha256:1\"\n",
    );
    assert!(!files(&context, "metier.lock", &[wrong]).status.success());
}
