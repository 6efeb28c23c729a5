//! The number of evaluations that a schema requires, counted before the first one is made.
//!
//! The validator evaluates every subschema for every value that it applies to, and again for each path that leads there.
//! The count follows the same paths. It stores the result for each subschema and value, so it takes as long as there are
//! pairs of them, however many paths lead there; that is the difference between counting 2⁴⁰ and evaluating it.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    MAX_WORK,
    graph::{Graph, Subschema},
};

/// Pairs of a subschema and a value that are evaluated.
const MAX_PAIRS: usize = 1_000_000;

/// The maximum work of the validator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// To determine whether a value matches.
    pub(crate) verdict: u64,
    /// To determine which members and items were evaluated, for `unevaluatedProperties` and `unevaluatedItems`.
    marks: u64,
    /// To describe errors. Whether a branch matches is evaluated first, again at each level.
    pub(crate) explanation: u64,
}

impl Cost {
    /// Another subschema for the same value.
    fn and_same(&mut self, inner: Self) {
        self.verdict = self.verdict.saturating_add(inner.verdict);
        let both = inner.verdict.saturating_add(inner.marks);
        self.marks = self.marks.saturating_add(both);
        let both = inner.verdict.saturating_add(inner.explanation);
        self.explanation = self.explanation.saturating_add(both);
    }

    /// A subschema for a value inside.
    fn and_inside(&mut self, inner: Self) {
        self.verdict = self.verdict.saturating_add(inner.verdict);
        self.marks = self.marks.saturating_add(inner.verdict);
        let both = inner.verdict.saturating_add(inner.explanation);
        self.explanation = self.explanation.saturating_add(both);
    }

    fn and(&mut self, more: u64) {
        self.verdict = self.verdict.saturating_add(more);
        self.marks = self.marks.saturating_add(more);
        self.explanation = self.explanation.saturating_add(more);
    }

    /// The total work of a subschema.
    fn closed(mut self, subschema: &Subschema) -> Self {
        if subschema.unevaluated {
            self.verdict = self.verdict.saturating_add(self.marks);
            self.explanation = self.explanation.saturating_add(self.marks);
        }
        self
    }
}

/// The work of the most expensive subschema for an empty value.
pub(crate) fn whatever_the_value(graph: &Graph) -> u64 {
    let mut costs = vec![Cost::default(); graph.len()];
    let mut most = 0;
    for number in graph.inside_out().unwrap_or_default() {
        let Some(subschema) = graph.get(number) else {
            continue;
        };
        let mut cost = Cost::default();
        cost.and(subschema.itself);
        for inner in &subschema.same {
            cost.and_same(costs[*inner as usize]);
        }
        let cost = cost.closed(subschema);
        costs[number as usize] = cost;
        most = most.max(cost.verdict);
    }
    most
}

/// The cost of a schema with this input, or `None` if it exceeds the limit.
pub(crate) fn of(graph: &Graph, input: &Value, nested: usize) -> Option<Cost> {
    let mut count = Count {
        graph,
        known: HashMap::new(),
        pairs: 0,
        nested,
    };
    let cost = count.visit(0, SchemaPart::Value(input), 0)?;
    (cost.verdict <= MAX_WORK).then_some(cost)
}

/// The values that a subschema is applied to.
#[derive(Clone, Copy)]
enum SchemaPart<'i> {
    Value(&'i Value),
    Name(&'i str),
}

struct Count<'g> {
    graph: &'g Graph,
    known: HashMap<(u32, usize), Cost>,
    pairs: usize,
    nested: usize,
}

impl<'g> Count<'g> {
    fn visit(&mut self, number: u32, part: SchemaPart<'_>, depth: usize) -> Option<Cost> {
        self.pairs += 1;
        if depth > self.nested || self.pairs > MAX_PAIRS {
            return None;
        }
        let graph: &'g Graph = self.graph;
        let subschema = graph.get(number)?;
        let mut cost = Cost::default();
        cost.and(subschema.itself);
        let (address, letters) = match part {
            SchemaPart::Value(Value::String(text)) => (text.as_ptr().addr(), text.len()),
            SchemaPart::Value(value) => (std::ptr::from_ref(value).addr(), 0),
            SchemaPart::Name(name) => (name.as_ptr().addr(), name.len()),
        };
        cost.and(letters as u64 * subschema.per_letter / 32);
        let is_leaf = subschema.same.is_empty()
            && !matches!(part, SchemaPart::Value(Value::Array(_) | Value::Object(_)));
        if is_leaf {
            return Some(cost.closed(subschema));
        }
        if let Some(known) = self.known.get(&(number, address)) {
            return Some(*known);
        }
        for inner in &subschema.same {
            cost.and_same(self.visit(*inner, part, depth + 1)?);
        }
        match part {
            SchemaPart::Value(Value::Array(items)) => {
                self.items(subschema, items, depth, &mut cost)?;
            }
            SchemaPart::Value(Value::Object(members)) => {
                cost.and(subschema.named.len() as u64 / 2);
                for (name, value) in members {
                    self.member(subschema, (name, value), depth, &mut cost)?;
                }
            }
            _ => {}
        }
        let cost = cost.closed(subschema);
        if cost.verdict > MAX_WORK {
            return None;
        }
        self.known.insert((number, address), cost);
        Some(cost)
    }

    fn items(
        &mut self,
        subschema: &Subschema,
        items: &[Value],
        depth: usize,
        cost: &mut Cost,
    ) -> Option<()> {
        cost.and(items.len() as u64 / 4);
        if subschema.unique {
            let mut values = 0;
            for item in items {
                values += self.values_in(item)?;
            }
            // Few items are compared with each other.
            cost.and(
                values
                    * if items.len() < 32 {
                        items.len() as u64
                    } else {
                        2
                    },
            );
        }
        for (place, item) in items.iter().enumerate() {
            let here = subschema.places.get(place);
            for inner in here.into_iter().chain(&subschema.items) {
                cost.and_inside(self.visit(*inner, SchemaPart::Value(item), depth + 1)?);
            }
        }
        Some(())
    }

    fn member(
        &mut self,
        subschema: &Subschema,
        (name, value): (&str, &Value),
        depth: usize,
        cost: &mut Cost,
    ) -> Option<()> {
        cost.and(1 + name.len() as u64 * subschema.per_name_letter / 32);
        for inner in &subschema.names {
            cost.and_inside(self.visit(*inner, SchemaPart::Name(name), depth + 1)?);
        }
        let here = subschema.named.get(name);
        for inner in here.into_iter().chain(&subschema.members) {
            cost.and_inside(self.visit(*inner, SchemaPart::Value(value), depth + 1)?);
        }
        Some(())
    }

    /// The number of values in a value; visiting each of them counts too.
    fn values_in(&mut self, value: &Value) -> Option<u64> {
        let mut count = 0;
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            count += 1;
            self.pairs += 1;
            if self.pairs > MAX_PAIRS {
                return None;
            }
            match value {
                Value::Array(items) => left.extend(items),
                Value::Object(members) => left.extend(members.values()),
                Value::String(text) => count += text.len() as u64 / 64,
                _ => {}
            }
        }
        Some(count)
    }
}
