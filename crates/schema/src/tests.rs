//! Schemas that would crash or hang an unprotected validator, and realistic schemas.

use std::time::Duration;

use metier_testkit::patience::within_processor_time;

use proptest::prelude::{
    BoxedStrategy, Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest,
};
use serde_json::{Map, Value, json};

use super::{BoundedSchema, SchemaMisfit, SchemaRefused};

/// Validates some inputs; there must be no crash and no hang.
fn judge(schema: &Value, inputs: &[Value]) -> Result<Vec<Result<(), SchemaMisfit>>, SchemaRefused> {
    within_processor_time("the schema", Duration::from_secs(8), || {
        BoundedSchema::new(schema)
            .map(|schema| inputs.iter().map(|input| schema.check(input)).collect())
    })
}

fn hostile_inputs() -> Vec<Value> {
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"a": deep.clone(), "x": [deep]});
        if deep.to_string().len() > 20_000 {
            break;
        }
    }
    let mut chain = json!(1);
    for _ in 0..100 {
        chain = json!({ "a": chain });
    }
    let mut list = json!([]);
    for _ in 0..100 {
        list = json!([list]);
    }
    vec![
        json!({}),
        json!(1),
        json!({"a": 1, "x": 2, "b": {"a": "y"}}),
        deep,
        chain,
        list,
        json!(vec![json!({"a": 1}); 2_000]),
    ]
}

/// `depth` definitions, each of which is built from a reference to the next.
fn chained(depth: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut defs = Map::new();
    for at in 0..depth {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        defs.insert(format!("d{at}"), link(next));
    }
    defs.insert(format!("d{depth}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

// case 158
#[test]
fn ten_thousand_chained_definitions_are_refused() {
    let schema = chained(
        10_000,
        |next| json!({"oneOf": [next], "unevaluatedProperties": false}),
    );
    assert!(matches!(
        judge(&schema, &[json!({})]),
        Err(SchemaRefused::Large | SchemaRefused::Many | SchemaRefused::Steps)
    ));
    for depth in [30, 60, 100, 1_000, 3_000] {
        let schema = chained(
            depth,
            |next| json!({"oneOf": [next], "unevaluatedProperties": false}),
        );
        assert!(judge(&schema, &hostile_inputs()).is_err(), "{depth}");
    }
}

// case 158
#[test]
fn what_doubles_is_refused_or_judged_in_time() {
    let doubled: Vec<fn(Value) -> Value> = vec![
        |next| json!({"allOf": [next, next]}),
        |next| json!({"anyOf": [next, next]}),
        |next| json!({"oneOf": [next, next]}),
        |next| json!({"if": next, "then": next, "else": next}),
        |next| json!({"not": {"anyOf": [next, next]}}),
        |next| json!({"dependentSchemas": {"a": next, "x": next}}),
        |next| json!({"dependencies": {"a": next, "x": next}}),
        |next| json!({"allOf": [next], "unevaluatedProperties": false}),
        |next| json!({"anyOf": [next], "unevaluatedItems": false}),
        |next| json!({"if": next, "unevaluatedProperties": false}),
        |next| json!({"$dynamicRef": next["$ref"], "allOf": [next]}),
        |next| json!({"$ref": next["$ref"], "anyOf": [{"$ref": next["$ref"]}]}),
    ];
    for (at, link) in doubled.iter().enumerate() {
        let schema = chained(40, link);
        assert!(judge(&schema, &hostile_inputs()).is_err(), "{at}");
        assert!(judge(&chained(4, link), &hostile_inputs()).is_ok(), "{at}");
    }
}

// case 158
#[test]
fn what_doubles_with_each_step_into_the_value_is_judged_in_time() {
    let doubled: Vec<fn(Value) -> Value> = vec![
        |next| json!({"properties": {"a": next}, "patternProperties": {"a": next}}),
        |next| json!({"additionalProperties": next, "unevaluatedProperties": next}),
        |next| json!({"properties": {"a": next}, "anyOf": [{"properties": {"a": next}}]}),
        |next| json!({"items": next, "contains": next}),
        |next| json!({"items": next, "unevaluatedItems": next, "contains": next}),
        |next| json!({"prefixItems": [next], "items": next, "contains": next}),
        |next| json!({"propertyNames": next, "additionalProperties": next}),
    ];
    for link in &doubled {
        for depth in [4, 40, 400, 4_000] {
            judge(&chained(depth, link), &hostile_inputs()).ok();
        }
        // The same as an infinite chain.
        let itself = link(json!({"$ref": "#"}));
        let answers = judge(&itself, &hostile_inputs()).unwrap();
        assert!(
            answers.contains(&Err(SchemaMisfit::Work)) || answers.iter().all(Result::is_ok),
            "{itself}"
        );
        let dynamic = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$dynamicAnchor": "here", "allOf": [link(json!({"$dynamicRef": "#here"}))],
        });
        judge(&dynamic, &hostile_inputs()).unwrap();
    }
}

// case 158
#[test]
fn references_that_lead_nowhere_or_back_are_refused() {
    let refused = |schema: Value| judge(&schema, &[]).unwrap_err();
    assert_eq!(refused(json!({"$ref": "#"})), SchemaRefused::Circle);
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}});
    assert_eq!(refused(circle), SchemaRefused::Circle);
    let remote = refused(json!({"properties": {"a": {"$ref": "https://example.com/x.json"}}}));
    assert_eq!(
        remote,
        SchemaRefused::Remote("https://example.com/x.json".into())
    );
    let nowhere = refused(json!({"$ref": "#/$defs/a"}));
    assert_eq!(nowhere, SchemaRefused::Nowhere("#/$defs/a".into()));
    let identified = refused(json!({"$defs": {"a": {"$id": "x:y", "$ref": "#/b", "b": {}}}}));
    assert_eq!(identified, SchemaRefused::Identified("x:y".into()));
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({ "not": deep });
    }
    assert_eq!(refused(deep), SchemaRefused::Deep);
    assert_eq!(
        refused(json!({"enum": ["x".repeat(600_000)]})),
        SchemaRefused::Large
    );
}

// case 158
#[test]
fn patterns_and_lists_do_not_multiply() {
    let refused = judge(&json!({"pattern": "((a{1000}){1000}){1000}"}), &[]).unwrap_err();
    assert!(matches!(refused, SchemaRefused::Pattern(_)));
    let bombs = [
        "(a*)*b",
        "(a|aa)+$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(x+x+)+y",
        r"\p{L}{400}",
    ];
    let long = json!("a".repeat(100_000));
    for bomb in bombs {
        judge(&json!({"pattern": bomb}), std::slice::from_ref(&long)).unwrap();
    }
    let many: Map<String, Value> = (0..900)
        .map(|at| (format!("(a{at}[^x]{{0,40}}){{20}}"), json!({})))
        .collect();
    judge(&json!({"patternProperties": many}), &hostile_inputs()).unwrap();

    let numbers: Vec<Value> = (0..100_000).map(Value::from).collect();
    let unique = json!({"uniqueItems": true, "items": {"uniqueItems": true}});
    assert_eq!(judge(&unique, &[json!(numbers)]).unwrap(), [Ok(())]);
    let rows = json!(vec![json!((0..100).collect::<Vec<u32>>()); 1_000]);
    assert!(judge(&unique, &[rows]).unwrap()[0].is_err());

    let words: Vec<String> = (0..20_000).map(|at| format!("word-{at}")).collect();
    let schema = json!({"items": {"enum": words}});
    assert_eq!(judge(&schema, &[json!(["word-7"])]).unwrap(), [Ok(())]);
    let objects: Vec<Value> = (0..10_000).map(|at| json!({ "a": [at] })).collect();
    let schema = json!({"items": {"enum": objects}});
    let much = json!(vec![json!({"a": [-1]}); 50_000]);
    assert_eq!(judge(&schema, &[much]).unwrap(), [Err(SchemaMisfit::Work)]);
    let properties: Map<String, Value> =
        (0..9_000).map(|at| (format!("p{at}"), json!({}))).collect();
    let schema = json!({"items": {"properties": properties}});
    judge(&schema, &[json!(vec![json!({}); 200_000])]).unwrap();
}

#[test]
fn errors_are_short() {
    let schema = json!({"items": {"type": "string"}, "maxItems": 3});
    let answer = judge(
        &schema,
        &[json!(vec![json!({"a": "b".repeat(100_000)}); 50])],
    )
    .unwrap();
    let Err(SchemaMisfit::Input(text)) = &answer[0] else {
        panic!("{answer:?}");
    };
    assert!(text.len() < 4_000, "{}", text.len());
    let many = json!(vec![json!(1); 200_000]);
    let answer = judge(&schema, &[many]).unwrap();
    assert_eq!(
        answer[0].as_ref().unwrap_err().to_string(),
        "it does not match the schema, and is too large to report where"
    );
    let answer = judge(&json!({"type": "nonsense"}), &[json!(1)]).unwrap();
    assert!(matches!(answer[0], Err(SchemaMisfit::Schema(_))));
    let mut deep = json!(1);
    for _ in 0..500 {
        deep = json!([deep]);
    }
    assert!(matches!(
        judge(&json!({}), &[deep]).unwrap()[0],
        Err(SchemaMisfit::Large(_))
    ));
}

#[test]
fn schemas_that_people_write_are_judged_as_before() {
    let tree = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"filter": {"$ref": "#/definitions/filter"}},
        "required": ["filter"],
        "definitions": {"filter": {"anyOf": [
            {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/definitions/filter"}}}, "required": ["and"], "additionalProperties": false},
            {"type": "object", "properties": {"or": {"type": "array", "items": {"$ref": "#/definitions/filter"}}}, "required": ["or"], "additionalProperties": false},
            {"type": "object", "properties": {"not": {"$ref": "#/definitions/filter"}}, "required": ["not"], "additionalProperties": false},
            {"type": "object", "properties": {"field": {"type": "string", "pattern": "^[a-z_]{1,64}$"}, "value": {}}, "required": ["field"], "additionalProperties": false}
        ]}}
    });
    let mut filter = json!({"field": "state", "value": 1});
    for _ in 0..12 {
        filter = json!({"and": [filter, {"not": {"field": "x"}}]});
    }
    let wrong = json!({"filter": {"and": [{"field": "NO"}]}});
    let answers = judge(&tree, &[json!({ "filter": filter }), wrong]).unwrap();
    assert_eq!(answers[0], Ok(()));
    assert!(matches!(answers[1], Err(SchemaMisfit::Input(_))));

    let blocks: Vec<Value> = ["paragraph", "quote", "list", "toggle", "callout", "column"]
        .iter()
        .map(|kind| {
            json!({"type": "object", "required": [kind], "additionalProperties": false, "properties": {
                "type": {"const": kind},
                *kind: {"type": "object", "properties": {
                    "text": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/block"}}}}}})
        })
        .collect();
    let schema = json!({"type": "array", "items": {"$ref": "#/$defs/block"}, "$defs": {"block": {"oneOf": blocks}}});
    let mut block = json!({"type": "quote", "quote": {"text": "x"}});
    for _ in 0..8 {
        block = json!({"type": "list", "list": {"text": "y", "children": [block, block]}});
    }
    assert_eq!(judge(&schema, &[json!([block])]).unwrap(), [Ok(())]);

    let anchored = json!({"$id": "https://example.com/a.json", "$ref": "#node", "$defs": {"node": {
        "$anchor": "node", "type": "object", "properties": {"next": {"$ref": "#node"}}, "unevaluatedProperties": false}}});
    let answers = judge(
        &anchored,
        &[json!({"next": {"next": {}}}), json!({"nest": 1})],
    )
    .unwrap();
    assert_eq!(answers[0], Ok(()));
    assert!(answers[1].is_err());
    let escaped = json!({"$ref": "#/$defs/a%20~1b", "$defs": {"a /b": {"type": "integer"}}});
    assert_eq!(judge(&escaped, &[json!(1)]).unwrap(), [Ok(())]);
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"id": {"type": "string"}}});
    assert_eq!(judge(&old, &[json!({"id": "x"})]).unwrap(), [Ok(())]);
}

/// Schemas of all keywords, with references between a few definitions.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..6_u8).prop_map(|at| json!({ "$ref": format!("#/$defs/d{at}") })),
        (0..6_u8).prop_map(|at| json!({ "$dynamicRef": format!("#/$defs/d{at}") })),
        Just(json!({"type": "string", "pattern": "^(a|b)*$"})),
        Just(json!({"type": ["object", "array"]})),
        Just(json!({"enum": [1, "a", {"a": 1}]})),
        Just(json!(true)),
        Just(json!({"$ref": "#"})),
        Just(json!({"uniqueItems": true, "minProperties": 1})),
    ];
    let subschema = leaf.prop_recursive(4, 24, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..3);
        let pairs: BoxedStrategy<(&'static str, Value)> = prop_oneof![
            (
                prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]),
                several().prop_map(Value::from)
            ),
            (
                prop::sample::select(vec![
                    "not",
                    "if",
                    "then",
                    "else",
                    "items",
                    "contains",
                    "additionalProperties",
                    "propertyNames",
                    "unevaluatedProperties",
                    "unevaluatedItems",
                ]),
                inner.clone()
            ),
            (
                prop::sample::select(vec!["properties", "patternProperties", "dependentSchemas"]),
                (inner.clone(), inner.clone()).prop_map(|(a, x)| json!({"a": a, "x": x}))
            ),
        ]
        .boxed();
        prop::collection::vec(pairs, 1..4).prop_map(|pairs| {
            Value::from(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<Map<_, _>>(),
            )
        })
    });
    prop::collection::vec(subschema, 7).prop_map(|mut all| {
        let root = all.pop().unwrap_or_default();
        let defs: Map<String, Value> = all
            .into_iter()
            .enumerate()
            .map(|(at, one)| (format!("d{at}"), one))
            .collect();
        json!({"allOf": [root], "$defs": defs})
    })
}

fn any_input() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[abx]{0,12}".prop_map(Value::from),
        Just(Value::Null)
    ];
    leaf.prop_recursive(12, 60, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[abx]", inner, 0..3)
                .prop_map(|map| Value::from(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    // case 158
    #[test]
    fn no_schema_kills_or_hangs(schema in any_schema(), inputs in prop::collection::vec(any_input(), 1..4)) {
        // Half of the usual stack of threads.
        let judged = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
            judge(&schema, &inputs).ok();
            judge(&schema, &hostile_inputs()).ok();
        });
        judged.unwrap().join().unwrap();
    }
}
