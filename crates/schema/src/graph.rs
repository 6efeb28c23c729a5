//! The subschemas that a schema applies, to the same value and to values inside it.
//!
//! Keywords of all drafts are read, whichever draft the schema declares: an extra keyword costs precision, a missing one would invalidate
//! the bound.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    MAX_BYTES, MAX_COPIES, MAX_DEPTH, MAX_PATTERNS, MAX_STEPS, MAX_SUBSCHEMAS, MAX_WORK,
    SchemaRefused, cost,
    pattern::{self, MAX_WEIGHT},
};

/// Keywords whose subschema applies to the same value: one, a list, or by name.
const SAME: &[&str] = &["not", "if", "then", "else"];
const SAME_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
const SAME_NAMED: &[&str] = &["dependentSchemas", "dependencies"];
/// Keywords whose subschema applies to all members of an object, or to all items of a list.
const MEMBERS: &[&str] = &["additionalProperties", "unevaluatedProperties"];
const ITEMS: &[&str] = &["additionalItems", "unevaluatedItems", "contains"];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// The subschemas that a subschema applies, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subschema {
    /// Subschemas that apply to the same value.
    pub(crate) same: Vec<u32>,
    /// Subschemas that apply to the member with a name.
    pub(crate) named: HashMap<String, u32>,
    /// Subschemas that apply to every member.
    pub(crate) members: Vec<u32>,
    /// Subschemas that apply to the name of every member.
    pub(crate) names: Vec<u32>,
    /// Subschemas that apply to the item at a position.
    pub(crate) places: Vec<u32>,
    /// Subschemas that apply to every item.
    pub(crate) items: Vec<u32>,
    /// Its own work, for any value.
    pub(crate) itself: u64,
    /// Its work for each letter of a string, in 32nds.
    pub(crate) per_letter: u64,
    /// Its work for each letter of each member name, in 32nds.
    pub(crate) per_name_letter: u64,
    /// Whether it compares all items with each other.
    pub(crate) unique: bool,
    /// Whether it depends on which members and items others evaluated.
    pub(crate) unevaluated: bool,
}

/// A schema with all references followed.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    subschemas: Vec<Subschema>,
    patterns: usize,
    steps: usize,
}

impl Graph {
    /// Follows all references of a schema.
    pub(crate) fn of(written: &Value) -> Result<Self, SchemaRefused> {
        let survey = GraphSurvey::of(written)?;
        let mut builder = GraphBuilder {
            survey,
            root: written,
            numbers: HashMap::new(),
            left: Vec::new(),
            patterns: HashMap::new(),
        };
        builder.number(written)?;
        let mut subschemas = Vec::new();
        while subschemas.len() < builder.left.len() {
            let subschema = builder.left[subschemas.len()];
            subschemas.push(builder.read(subschema)?);
        }
        let mut graph = Self {
            subschemas,
            patterns: builder.patterns.len(),
            steps: 0,
        };
        graph.steps = graph.longest()?;
        graph.compilable()?;
        if cost::whatever_the_value(&graph) > MAX_WORK {
            return Err(SchemaRefused::Work);
        }
        Ok(graph)
    }

    /// The subschema with a number; every number in the graph has one.
    pub(crate) fn get(&self, number: u32) -> Option<&Subschema> {
        self.subschemas.get(number as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.subschemas.len()
    }

    /// The number of different patterns.
    pub(crate) fn patterns(&self) -> usize {
        self.patterns
    }

    /// The maximum number of nested subschemas that apply to one value.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// All numbers, each one after those that it applies to the same value.
    ///
    /// # Errors
    /// When there is a cycle.
    pub(crate) fn inside_out(&self) -> Result<Vec<u32>, SchemaRefused> {
        #[derive(Clone, Copy, PartialEq)]
        enum VisitMark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![VisitMark::New; self.len()];
        let mut order = Vec::with_capacity(self.len());
        for first in 0..self.len() {
            let mut path = vec![(first, 0)];
            while let Some((number, next)) = path.pop() {
                if next == 0 {
                    if marks[number] == VisitMark::Done {
                        continue;
                    }
                    if marks[number] == VisitMark::Open {
                        return Err(SchemaRefused::Circle);
                    }
                    marks[number] = VisitMark::Open;
                }
                match self.subschemas[number].same.get(next) {
                    Some(inner) => {
                        path.push((number, next + 1));
                        path.push((*inner as usize, 0));
                    }
                    None => {
                        marks[number] = VisitMark::Done;
                        order.push(u32::try_from(number).unwrap_or(u32::MAX));
                    }
                }
            }
        }
        Ok(order)
    }

    fn longest(&self) -> Result<usize, SchemaRefused> {
        let mut lengths = vec![1_usize; self.len()];
        for number in self.inside_out()? {
            let number = number as usize;
            let inner = self.subschemas[number].same.iter();
            let inner = inner.map(|inner| lengths[*inner as usize]).max();
            lengths[number] = 1 + inner.unwrap_or(0);
        }
        match lengths.into_iter().max().unwrap_or(1) {
            longest if longest > MAX_STEPS => Err(SchemaRefused::Steps),
            longest => Ok(longest),
        }
    }

    /// For `unevaluatedProperties` the compiler copies every subschema that applies to the same value, once for each place.
    fn compilable(&self) -> Result<(), SchemaRefused> {
        let mut copies = vec![1_u64; self.len()];
        let mut sum = 0_u64;
        for number in self.inside_out()? {
            let number = number as usize;
            let subschema = &self.subschemas[number];
            let inner = subschema.same.iter().map(|inner| copies[*inner as usize]);
            copies[number] = inner.fold(1, u64::saturating_add);
            if subschema.unevaluated {
                sum = sum.saturating_add(copies[number]);
            }
        }
        match sum > MAX_COPIES {
            true => Err(SchemaRefused::Copies),
            false => Ok(()),
        }
    }
}

/// The properties of the schema as plain JSON: whether it is small enough, and the targets of references.
struct GraphSurvey<'s> {
    anchors: HashMap<&'s str, Vec<&'s Value>>,
    /// The possible targets of `$recursiveRef`.
    recursive: Vec<&'s Value>,
}

impl<'s> GraphSurvey<'s> {
    fn of(written: &'s Value) -> Result<Self, SchemaRefused> {
        let mut survey = Self {
            anchors: HashMap::new(),
            recursive: vec![written],
        };
        let old = written["$schema"]
            .as_str()
            .is_some_and(|schema| schema.contains("draft-04") || schema.contains("draft-03"));
        let mut bytes = 0;
        let mut left = vec![(written, 1)];
        while let Some((value, depth)) = left.pop() {
            bytes += 2;
            if depth > MAX_DEPTH {
                return Err(SchemaRefused::Deep);
            }
            match value {
                Value::String(text) => bytes += text.len(),
                Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(members) => {
                    bytes += members.keys().map(|key| key.len() + 4).sum::<usize>();
                    survey.look(value, members, depth == 1, old)?;
                    left.extend(members.values().map(|value| (value, depth + 1)));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
            if bytes > MAX_BYTES {
                return Err(SchemaRefused::Large);
            }
        }
        Ok(survey)
    }

    fn look(
        &mut self,
        value: &'s Value,
        members: &'s Map<String, Value>,
        is_root: bool,
        old: bool,
    ) -> Result<(), SchemaRefused> {
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(key) {
                self.anchors.entry(name).or_default().push(value);
            }
        }
        let identifiers: &[&str] = if old { &["$id", "id"] } else { &["$id"] };
        for identifier in identifiers.iter().filter_map(|key| text(key)) {
            match identifier.strip_prefix('#') {
                Some(name) => self.anchors.entry(name).or_default().push(value),
                None if is_root => {}
                None => return Err(SchemaRefused::Identified(cut(identifier))),
            }
        }
        if members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.recursive.push(value);
        }
        Ok(())
    }
}

struct GraphBuilder<'s> {
    survey: GraphSurvey<'s>,
    root: &'s Value,
    /// By address: the schema is not moved while it is read.
    numbers: HashMap<usize, u32>,
    left: Vec<&'s Value>,
    patterns: HashMap<&'s str, u64>,
}

impl<'s> GraphBuilder<'s> {
    fn number(&mut self, subschema: &'s Value) -> Result<u32, SchemaRefused> {
        let address = std::ptr::from_ref(subschema).addr();
        if let Some(number) = self.numbers.get(&address) {
            return Ok(*number);
        }
        if self.left.len() >= MAX_SUBSCHEMAS {
            return Err(SchemaRefused::Many);
        }
        let number = u32::try_from(self.left.len()).map_err(|_| SchemaRefused::Many)?;
        self.numbers.insert(address, number);
        self.left.push(subschema);
        Ok(number)
    }

    fn read(&mut self, written: &'s Value) -> Result<Subschema, SchemaRefused> {
        let mut subschema = Subschema {
            itself: 1,
            ..Subschema::default()
        };
        let Value::Object(members) = written else {
            return Ok(subschema);
        };
        self.same(members, &mut subschema)?;
        self.inside(members, &mut subschema)?;
        for keyword in ["enum", "const", "required", "dependentRequired"] {
            if let Some(values) = members.get(keyword) {
                subschema.itself += values_in(values);
            }
        }
        subschema.itself += members.len() as u64 / 4;
        if let Some(Value::String(pattern)) = members.get("pattern") {
            subschema.per_letter += self.pattern(pattern)?;
        }
        if let Some(Value::String(format)) = members.get("format") {
            // A string that is parsed as a pattern costs more than one that is only compared.
            subschema.per_letter += if format == "regex" { 64 } else { 4 };
            subschema.itself += if format == "regex" { 1_000 } else { 1 };
        }
        let texts = [
            "minLength",
            "maxLength",
            "contentEncoding",
            "contentMediaType",
        ];
        subschema.per_letter += texts
            .iter()
            .filter(|key| members.contains_key(**key))
            .count() as u64;
        subschema.unique = members.get("uniqueItems") == Some(&Value::Bool(true));
        let asks = ["unevaluatedProperties", "unevaluatedItems"];
        subschema.unevaluated = asks.iter().any(|key| members.contains_key(*key));
        Ok(subschema)
    }

    /// The subschemas that apply to the same value.
    fn same(
        &mut self,
        members: &'s Map<String, Value>,
        subschema: &mut Subschema,
    ) -> Result<(), SchemaRefused> {
        let mut found: Vec<&'s Value> = Vec::new();
        found.extend(SAME.iter().filter_map(|key| members.get(*key)));
        for list in SAME_LISTS.iter().filter_map(|key| members.get(*key)) {
            found.extend(list.as_array().into_iter().flatten());
        }
        for named in SAME_NAMED.iter().filter_map(|key| members.get(*key)) {
            let named = named.as_object().into_iter().flatten();
            found.extend(
                named
                    .map(|(_, value)| value)
                    .filter(|value| is_schema(value)),
            );
        }
        for keyword in REFERENCES {
            if let Some(Value::String(reference)) = members.get(*keyword) {
                found.extend(self.targets(keyword, reference)?);
            }
        }
        for value in found.into_iter().filter(|value| is_schema(value)) {
            subschema.same.push(self.number(value)?);
        }
        Ok(())
    }

    /// Subschemas that apply to values inside the value.
    fn inside(
        &mut self,
        members: &'s Map<String, Value>,
        subschema: &mut Subschema,
    ) -> Result<(), SchemaRefused> {
        let named = |key: &str| {
            members
                .get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        for (name, value) in named("properties") {
            subschema.named.insert(name.clone(), self.number(value)?);
        }
        for (pattern, value) in named("patternProperties") {
            subschema.per_name_letter += self.pattern(pattern)?;
            subschema.members.push(self.number(value)?);
        }
        for value in MEMBERS.iter().filter_map(|key| members.get(*key)) {
            subschema.members.push(self.number(value)?);
        }
        for value in ITEMS.iter().filter_map(|key| members.get(*key)) {
            subschema.items.push(self.number(value)?);
        }
        if let Some(value) = members.get("propertyNames") {
            subschema.names.push(self.number(value)?);
        }
        let items = members.get("items");
        if let Some(value) = items.filter(|items| is_schema(items)) {
            subschema.items.push(self.number(value)?);
        }
        let places = [items, members.get("prefixItems")];
        let places = places.into_iter().flatten().filter_map(Value::as_array);
        for value in places.flatten() {
            subschema.places.push(self.number(value)?);
        }
        Ok(())
    }

    /// The targets of a reference: one subschema, or all that a dynamic one can resolve to.
    fn targets(&self, keyword: &str, reference: &str) -> Result<Vec<&'s Value>, SchemaRefused> {
        if keyword == "$recursiveRef" {
            return Ok(self.survey.recursive.clone());
        }
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(SchemaRefused::Remote(cut(reference)));
        };
        let nowhere = || SchemaRefused::Nowhere(cut(reference));
        let fragment = decoded(fragment).ok_or_else(nowhere)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return Ok(vec![self.root.pointer(&fragment).ok_or_else(nowhere)?]);
        }
        let anchors = self.survey.anchors.get(fragment.as_str());
        anchors.cloned().ok_or_else(nowhere)
    }

    fn pattern(&mut self, pattern: &'s str) -> Result<u64, SchemaRefused> {
        if let Some(weight) = self.patterns.get(pattern) {
            return Ok(*weight);
        }
        if self.patterns.len() >= MAX_PATTERNS {
            return Err(SchemaRefused::Patterns);
        }
        let weight = pattern::weight(pattern);
        if weight > MAX_WEIGHT {
            return Err(SchemaRefused::Pattern(cut(pattern)));
        }
        self.patterns.insert(pattern, weight);
        Ok(weight)
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// A fragment with its percent signs decoded.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

/// The number of values in a value, including itself.
fn values_in(value: &Value) -> u64 {
    let mut count = 0;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        count += 1;
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            _ => {}
        }
    }
    count
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(80) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
