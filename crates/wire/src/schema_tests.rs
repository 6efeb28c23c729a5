//! Schemas are consistent with the readers and with each other.

use std::collections::BTreeSet;

use super::*;

#[test]
fn names_are_unique_and_schemas_are_objects() {
    let mut names = BTreeSet::new();
    for named in schemas() {
        assert!(names.insert(named.name), "{} is there twice", named.name);
        let schema = named.schema();
        assert_eq!(schema["$schema"], DIALECT, "{}", named.name);
        assert!(
            ["type", "$ref", "anyOf"]
                .iter()
                .any(|key| schema.get(key).is_some()),
            "{} describes nothing",
            named.name
        );
    }
    assert!(names.len() > 30, "{names:?}");
}

/// The schema proposes the fields that the reader knows, and no others.
#[test]
fn every_known_field_is_in_the_schema() {
    let proposed: BTreeSet<&str> = manifest::names().collect();
    let known: BTreeSet<&str> = metier_model::KNOWN_FIELDS.iter().copied().collect();
    assert_eq!(proposed, known);
}
