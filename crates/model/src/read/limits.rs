//! `implementation.limits`: the resource limits of code.
//!
//! Many spellings are accepted (`memory_mb: 64`, `MemoryLimitMB: 64`, `memory: 64MB`, `timeout: 5s`). A value that is
//! not a number is ignored, and one above the maximum becomes the maximum; both are reported.

use std::time::Duration;

use super::shape;
use crate::{
    diagnostic::DiagnosticCode,
    manifest::CodeLimits,
    report::{DiagnosticCollector, Say},
    yaml::node::{Node, Pair},
};

pub(super) fn read(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> CodeLimits {
    let mut limits = CodeLimits::default();
    for pair in shape::map("limits", node, report) {
        one(&mut limits, pair, report);
    }
    limits
}

fn one(limits: &mut CodeLimits, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
    let word: String = pair
        .key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    match word.to_ascii_lowercase().as_str() {
        "memorymb" | "memory" | "memorylimitmb" | "memorylimit" | "maxmemorymb" => {
            let wanted = "a number of MiB, such as 64";
            let read = value(pair, wanted, report, megabytes);
            let most = CodeLimits::MAX_MEMORY_MB;
            limits.memory_mb = clamped(pair, read, most, &format!("{most} MiB"), report);
        }
        "fuel" | "fuellimit" | "maxfuel" => {
            let wanted = "a number of instructions, such as 1000000000";
            let read = value(pair, wanted, report, number);
            let most = CodeLimits::MAX_FUEL;
            limits.fuel = clamped(pair, read, most, &most.to_string(), report);
        }
        "timeout" | "timelimit" | "time" | "timeoutseconds" | "timeoutms" => {
            let wanted = "a time, such as 5s, 500ms or 5 (seconds)";
            let is_ms = word.to_ascii_lowercase().ends_with("ms");
            let read = value(pair, wanted, report, |text| time(text, is_ms));
            let most = CodeLimits::MAX_TIMEOUT;
            let shown = format!("{} s", most.as_secs());
            limits.timeout = clamped(pair, read, most, &shown, report);
        }
        _ => super::code::unknown(
            "implementation.limits",
            pair,
            "memory_mb, fuel and timeout",
            report,
        ),
    }
}

/// A valid value that is greater than zero.
fn value<T: PartialOrd + Default>(
    pair: &Pair<'_>,
    wanted: &str,
    report: &mut DiagnosticCollector<'_>,
    understand: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let text = pair.node.as_text();
    let read = text.map(str::trim).and_then(understand);
    let read = read.filter(|value| *value > T::default());
    if read.is_none() {
        report.add(DiagnosticCode::FieldForm, pair.node.at, || {
            let key = pair.key.escape_debug();
            Say::new(format!(
                "`implementation.limits.{key}` must be {wanted}; it was ignored"
            ))
        });
    }
    read
}

fn clamped<T: PartialOrd>(
    pair: &Pair<'_>,
    read: Option<T>,
    most: T,
    shown: &str,
    report: &mut DiagnosticCollector<'_>,
) -> Option<T> {
    let read = read?;
    if read <= most {
        return Some(read);
    }
    report.add(DiagnosticCode::FieldForm, pair.node.at, || {
        let key = pair.key.escape_debug();
        Say::new(format!(
            "`implementation.limits.{key}` exceeds the maximum; {shown} is used"
        ))
    });
    Some(most)
}

/// An integer such as `1000000` or `1_000_000`.
fn number(text: &str) -> Option<u64> {
    text.replace('_', "").parse().ok()
}

/// `64`, `64MB`, `64 MiB`, `1GB`.
fn megabytes(text: &str) -> Option<u64> {
    let (digits, unit) = split(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "m" | "mb" | "mib" => 1,
        "g" | "gb" | "gib" => 1024,
        _ => return None,
    };
    number(digits)?.checked_mul(factor)
}

/// `5`, `5s`, `500ms`, `2m`.
fn time(text: &str, is_ms: bool) -> Option<Duration> {
    let (digits, unit) = split(text);
    let value = number(digits)?;
    match (unit.to_ascii_lowercase().as_str(), is_ms) {
        ("", true) | ("ms" | "millis" | "milliseconds", _) => Some(Duration::from_millis(value)),
        ("", false) | ("s" | "sec" | "secs" | "second" | "seconds", _) => {
            Some(Duration::from_secs(value))
        }
        ("m" | "min" | "mins" | "minute" | "minutes", _) => {
            value.checked_mul(60).map(Duration::from_secs)
        }
        _ => None,
    }
}

/// A number and its unit.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_');
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    (digits, unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        let cases = [
            ("64", 64),
            ("64MB", 64),
            ("64 MiB", 64),
            ("1GB", 1024),
            ("1_000", 1000),
        ];
        for (text, expected) in cases {
            assert_eq!(megabytes(text), Some(expected), "{text}");
        }
        for wrong in ["", "MB", "64KB", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(megabytes(wrong), None, "{wrong}");
        }
        assert_eq!(time("5", false), Some(Duration::from_secs(5)));
        assert_eq!(time("5", true), Some(Duration::from_millis(5)));
        assert_eq!(time("500ms", false), Some(Duration::from_millis(500)));
        assert_eq!(time("2m", false), Some(Duration::from_secs(120)));
        for wrong in ["", "soon", "5h", "-1s", "1.5s"] {
            assert_eq!(time(wrong, false), None, "{wrong}");
        }
    }
}
