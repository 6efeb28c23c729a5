//! Conversion between JSON and Starlark values, without loss.
//!
//! The interpreter's own conversion turns an integer beyond 64 bits into a float, panics at
//! `1e999`, and has no size limit; a list that contains the same list ten times, twenty levels deep, is a small
//! value, but not a small text. So this one is exact, refuses values without a JSON form, and limits size and
//! depth. A list that contains itself is refused for its depth.

use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value};

/// The maximum nesting. JSON readers stop at 128 levels, and the message around the value needs some.
pub(crate) const MAX_DEPTH: usize = 120;
/// The maximum number of digits of an integer. Conversion takes quadratic time.
const MAX_DIGITS: usize = 4_300;

/// Why a value can't be converted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonError {
    /// A function, a range, a set.
    #[error("a value of type {kind} can't be turned into JSON{place}", place = at(.path))]
    Kind { kind: &'static str, path: String },
    /// A dict with a key that is not a string.
    #[error(
        "a key must be a string to become JSON, got {kind} `{key}`{place}",
        place = at(.path)
    )]
    Key {
        kind: &'static str,
        key: String,
        path: String,
    },
    /// NaN or an infinity.
    #[error("`{value}` can't be turned into JSON{place}", place = at(.path))]
    NotFinite { value: String, path: String },
    /// An integer with too many digits.
    #[error("an integer of more than {MAX_DIGITS} digits can't be turned into JSON or from it")]
    TooBig,
    /// A number out of a float's range.
    #[error("the number `{0}` is out of range")]
    OutOfRange(String),
    /// Too many levels.
    #[error("the value is nested more than {MAX_DEPTH} levels deep, or contains itself")]
    TooDeep,
    /// Too many bytes.
    #[error("the value makes more than {0} bytes of JSON, which is the limit")]
    TooLong(usize),
}

fn at(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(", at `{path}`")
    }
}

/// A value as JSON of at most `limit` bytes.
pub(crate) fn encode(value: Value<'_>, limit: usize) -> Result<String, JsonError> {
    let mut encoder = Encoder {
        text: String::new(),
        limit,
        path: Vec::new(),
    };
    encoder.value(value)?;
    Ok(encoder.text)
}

enum JsonStep<'v> {
    Key(&'v str),
    Index(usize),
}

struct Encoder<'v> {
    text: String,
    limit: usize,
    /// The path to the current value, for messages and for the depth.
    path: Vec<JsonStep<'v>>,
}

impl<'v> Encoder<'v> {
    fn value(&mut self, value: Value<'v>) -> Result<(), JsonError> {
        if value.is_none() {
            self.push("null")
        } else if let Some(flag) = value.unpack_bool() {
            self.push(if flag { "true" } else { "false" })
        } else if let Some(text) = value.unpack_str() {
            self.string(text)
        } else if let Some(number) = value.unpack_i32() {
            self.push(&number.to_string())
        } else if let Some(list) = ListRef::from_value(value) {
            self.list(list.content())
        } else if let Some(tuple) = TupleRef::from_value(value) {
            self.list(tuple.content())
        } else if let Some(dict) = DictRef::from_value(value) {
            self.dict(&dict)
        } else if let Some(fields) = StructRef::from_value(value) {
            let fields = fields.iter().map(|(key, value)| (key.as_str(), value));
            self.object(fields)
        } else {
            self.number(value)
        }
    }

    fn number(&mut self, value: Value<'v>) -> Result<(), JsonError> {
        if let Ok(Some(integer)) = BigInt::unpack_value(value) {
            // A digit is a little more than three bits.
            let digits = usize::try_from(integer.bits() / 4).unwrap_or(usize::MAX);
            return if digits > MAX_DIGITS {
                Err(JsonError::TooBig)
            } else {
                let text = integer.to_string();
                if text.trim_start_matches('-').len() > MAX_DIGITS {
                    return Err(JsonError::TooBig);
                }
                self.push(&text)
            };
        }
        match UnpackFloat::unpack_value(value) {
            Ok(Some(UnpackFloat(float))) if float.is_finite() => {
                self.push(&serde_json::Value::from(float).to_string())
            }
            Ok(Some(UnpackFloat(float))) => Err(JsonError::NotFinite {
                value: float.to_string(),
                path: self.place(),
            }),
            _ => Err(JsonError::Kind {
                kind: value.get_type(),
                path: self.place(),
            }),
        }
    }

    fn list(&mut self, items: &[Value<'v>]) -> Result<(), JsonError> {
        self.push("[")?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.inside(JsonStep::Index(index), *item)?;
        }
        self.push("]")
    }

    fn dict(&mut self, dict: &DictRef<'v>) -> Result<(), JsonError> {
        if let Some(key) = dict.keys().find(|key| key.unpack_str().is_none()) {
            return Err(JsonError::Key {
                kind: key.get_type(),
                key: cut(&key.to_repr(), 60),
                path: self.place(),
            });
        }
        self.object(
            dict.iter()
                .filter_map(|(key, value)| Some((key.unpack_str()?, value))),
        )
    }

    fn object(
        &mut self,
        fields: impl Iterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<(), JsonError> {
        self.push("{")?;
        for (index, (key, value)) in fields.enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.string(key)?;
            self.push(":")?;
            self.inside(JsonStep::Key(key), value)?;
        }
        self.push("}")
    }

    fn inside(&mut self, step: JsonStep<'v>, value: Value<'v>) -> Result<(), JsonError> {
        self.path.push(step);
        if self.path.len() > MAX_DEPTH {
            return Err(JsonError::TooDeep);
        }
        self.value(value)?;
        self.path.pop();
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), JsonError> {
        self.room(text.len())?;
        self.push(&serde_json::Value::from(text).to_string())
    }

    fn push(&mut self, text: &str) -> Result<(), JsonError> {
        self.room(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn room(&self, bytes: usize) -> Result<(), JsonError> {
        if bytes > self.limit.saturating_sub(self.text.len()) {
            return Err(JsonError::TooLong(self.limit));
        }
        Ok(())
    }

    /// `items[3].name`
    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                JsonStep::Key(key) if place.is_empty() => place.push_str(&cut(key, 60)),
                JsonStep::Key(key) => place.extend([".", &cut(key, 60)]),
                JsonStep::Index(index) => place.push_str(&format!("[{index}]")),
            }
        }
        cut(&place, 200)
    }
}

/// The start of a string, with `…` if it is longer.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// JSON as a value. The JSON reader has limited its depth.
pub(crate) fn decode<'v>(json: &serde_json::Value, heap: Heap<'v>) -> Result<Value<'v>, JsonError> {
    Ok(match json {
        serde_json::Value::Null => Value::new_none(),
        serde_json::Value::Bool(flag) => Value::new_bool(*flag),
        serde_json::Value::Number(number) => decode_number(number, heap)?,
        serde_json::Value::String(text) => heap.alloc(text.as_str()),
        serde_json::Value::Array(items) => {
            let items: Vec<Value<'v>> = items
                .iter()
                .map(|item| decode(item, heap))
                .collect::<Result<_, _>>()?;
            heap.alloc(AllocList(items))
        }
        serde_json::Value::Object(fields) => {
            let fields: Vec<(&str, Value<'v>)> = fields
                .iter()
                .map(|(key, value)| Ok((key.as_str(), decode(value, heap)?)))
                .collect::<Result<_, _>>()?;
            heap.alloc(AllocDict(fields))
        }
    })
}

fn decode_number<'v>(number: &serde_json::Number, heap: Heap<'v>) -> Result<Value<'v>, JsonError> {
    let text = number.to_string();
    if text.contains(['.', 'e', 'E']) {
        return match text.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(heap.alloc(float)),
            _ => Err(JsonError::OutOfRange(cut(&text, 40))),
        };
    }
    if let Ok(small) = text.parse::<i64>() {
        return Ok(heap.alloc(small));
    }
    if text.trim_start_matches('-').len() > MAX_DIGITS {
        return Err(JsonError::TooBig);
    }
    match text.parse::<BigInt>() {
        Ok(big) => Ok(heap.alloc(big)),
        Err(_) => Err(JsonError::OutOfRange(cut(&text, 40))),
    }
}
