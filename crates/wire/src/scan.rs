//! `scan --json`, and the same as SARIF 2.1.0.

use metier_model::text::visible;
use metier_scan::{Capabilities, Finding, FindingSeverity, ScanReport, Unread, builtin_rules};
use serde::Serialize;
use serde_json::{Value, json};

/// `scan --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScanDocument {
    /// One row for each skill.
    pub skills: Vec<ScannedRow>,
}

/// A skill that was scanned.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScannedRow {
    /// Path of the skill's folder.
    pub path: String,
    /// Name of the skill.
    pub name: String,
    /// The exact bytes that were scanned; `null` when they could not all be read.
    pub digest: Option<String>,
    /// `clean`, `info`, `warning`, `critical` or `incomplete`.
    pub verdict: &'static str,
    /// How many files were read.
    pub files_scanned: usize,
    /// The permissions that its code and instructions require.
    pub capabilities: Vec<&'static str>,
    /// The capabilities that were observed.
    pub observed: Observed,
    /// The findings of the scanner.
    pub findings: Vec<FindingRow>,
    /// How many more findings there are.
    pub more: usize,
    /// Content that was not read.
    pub unread: Vec<UnreadRow>,
    /// How many findings `skills.scan.suppress` leaves out.
    pub suppressed: usize,
    /// How many findings the baseline leaves out.
    pub baselined: usize,
    /// Whether the user accepts these bytes as they are.
    pub acceptance: Option<AcceptanceRow>,
    /// Permissions that would cover its capabilities, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_permissions: Option<Vec<String>>,
}

/// The capabilities that a skill uses.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observed {
    hosts: Vec<String>,
    programs: Vec<String>,
    reads: Vec<String>,
    writes: Vec<String>,
    variables: Vec<String>,
}

impl Observed {
    /// The row of a set of capabilities.
    #[must_use]
    pub fn of(seen: &Capabilities) -> Self {
        let list = |set: &std::collections::BTreeSet<String>| {
            set.iter().map(|item| visible(item).into_owned()).collect()
        };
        Self {
            hosts: list(&seen.hosts),
            programs: list(&seen.programs),
            reads: list(&seen.reads),
            writes: list(&seen.writes),
            variables: list(&seen.variables),
        }
    }
}

/// A finding of the scanner.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow {
    rule: String,
    category: &'static str,
    severity: &'static str,
    owasp: Option<&'static str>,
    file: String,
    line: u32,
    column: u32,
    message: String,
    evidence: String,
    steps: Vec<StepRow>,
    fix: Option<String>,
    fingerprint: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StepRow {
    file: String,
    line: u32,
    what: String,
}

impl FindingRow {
    /// The id of the rule.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The row of a finding.
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        Self {
            rule: finding.rule.id().to_owned(),
            category: finding.rule.category().word(),
            severity: finding.severity.word(),
            owasp: finding.rule.owasp(),
            file: visible(&finding.place.file).into_owned(),
            line: finding.place.line,
            column: finding.place.column,
            message: finding.message.clone(),
            evidence: finding.evidence.clone(),
            steps: finding
                .steps
                .iter()
                .map(|step| StepRow {
                    file: visible(&step.place.file).into_owned(),
                    line: step.place.line,
                    what: visible(&step.what).into_owned(),
                })
                .collect(),
            fix: finding.rule.fix().map(str::to_owned),
            fingerprint: finding.fingerprint(),
        }
    }
}

/// A file that was not read.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadRow {
    file: String,
    why: String,
}

impl UnreadRow {
    /// The row of something that was not read.
    #[must_use]
    pub fn of(unread: &Unread) -> Self {
        Self {
            file: visible(&unread.file).into_owned(),
            why: visible(&unread.why).into_owned(),
        }
    }
}

/// Whether the user accepts the skill as it is.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptanceRow {
    /// The reason that the user gave.
    pub reason: Option<String>,
    /// Time of the decision.
    pub at: String,
}

impl ScannedRow {
    /// The row of a scanned skill.
    #[must_use]
    pub fn of(path: String, name: String, digest: Option<String>, report: &ScanReport) -> Self {
        Self {
            path,
            name,
            digest,
            verdict: report.verdict().word(),
            files_scanned: report.files,
            capabilities: report
                .capabilities
                .permissions
                .iter()
                .map(|permission| permission.as_str())
                .collect(),
            observed: Observed::of(&report.capabilities),
            findings: report.findings.iter().map(FindingRow::of).collect(),
            more: report.more,
            unread: report.unread.iter().map(UnreadRow::of).collect(),
            suppressed: 0,
            baselined: 0,
            acceptance: None,
            suggested_permissions: None,
        }
    }
}

/// The document as a SARIF log, for code hosts and editors. Paths below `base`, the folder of the project, are relative to it; a code host
/// knows no other paths.
#[must_use]
pub fn sarif(document: &ScanDocument, version: &str, base: &str) -> Value {
    let mut rules: Vec<Value> = builtin_rules()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.message },
                "fullDescription": { "text": format!("The skill {}.", rule.message) },
                "help": {
                    "text": format!("{}. For the author: {}.", rule.message, rule.fix),
                    "markdown": format!("**{}**\n\nFor the author: {}.", rule.message, rule.fix),
                },
                "defaultConfiguration": { "level": level(rule.severity) },
                "properties": {
                    "tags": ["security", rule.category.word(), rule.owasp],
                    "security-severity": security_severity(rule.severity),
                },
            })
        })
        .collect();
    let unread_index = rules.len();
    rules.push(unread_rule());
    let index = |id: &str| builtin_rules().position(|rule| rule.id == id);
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for skill in &document.skills {
        for finding in &skill.findings {
            let place = location(
                base,
                &skill.path,
                &finding.file,
                finding.line,
                finding.column,
            );
            let mut result = json!({
                "ruleId": finding.rule,
                "level": word_level(finding.severity),
                "message": { "text": format!("{}: {}", finding.message, finding.evidence) },
                "locations": [place],
                "partialFingerprints": { "metier/v1": finding.fingerprint },
            });
            if let Value::Object(fields) = &mut result {
                if let Some(index) = index(&finding.rule) {
                    fields.insert("ruleIndex".to_owned(), json!(index));
                }
                if !finding.steps.is_empty() {
                    fields.insert(
                        "codeFlows".to_owned(),
                        code_flow(base, &skill.path, finding),
                    );
                }
            }
            results.push(result);
        }
        for unread in &skill.unread {
            let what = match unread.file.as_str() {
                "" => format!("not read: {}", unread.why),
                file => format!("not read: {file} ({})", unread.why),
            };
            let place = location(base, &skill.path, &unread.file, 0, 0);
            // Skills with unread content are blocked: a log without a result would look clean.
            results.push(json!({
                "ruleId": UNREAD,
                "ruleIndex": unread_index,
                "level": "error",
                "message": { "text": &what },
                "locations": [place],
            }));
            notifications.push(json!({
                "level": "warning",
                "message": { "text": what },
                "locations": [place],
            }));
        }
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "metier", "version": version, "rules": rules } },
            "originalUriBaseIds": { BASE: { "uri": format!("file://{}/", uri(base)) } },
            "results": results,
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notifications }],
            "columnKind": "unicodeCodePoints",
        }],
    })
}

/// The rule id of results about unread content.
const UNREAD: &str = "scan/incomplete";

/// The base that relative paths refer to, by the name that code hosts know.
const BASE: &str = "%SRCROOT%";

fn unread_rule() -> Value {
    let text = "the skill could not be read completely, so there is no verdict about it";
    json!({
        "id": UNREAD,
        "shortDescription": { "text": text },
        "fullDescription": { "text": "The skill could not be read completely, so there is no verdict about it." },
        "help": {
            "text": format!("{text}. It is blocked until the user accepts it."),
            "markdown": format!("**{text}**\n\nIt is blocked until the user accepts it."),
        },
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": ["security", "incomplete"], "security-severity": security_severity(FindingSeverity::Warning) },
    })
}

/// The severity as the score that code hosts sort by.
const fn security_severity(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Critical => "9.0",
        FindingSeverity::Warning => "5.0",
        FindingSeverity::Info => "2.0",
    }
}

/// The steps of a chain and the finding at its end.
fn code_flow(base: &str, folder: &str, finding: &FindingRow) -> Value {
    let at = |file: &str, line: u32, column: u32, what: &str| {
        let mut place = location(base, folder, file, line, column);
        place["message"] = json!({ "text": what });
        json!({ "location": place })
    };
    let steps = finding.steps.iter();
    let mut locations: Vec<Value> = steps
        .map(|step| at(&step.file, step.line, 1, &step.what))
        .collect();
    locations.push(at(
        &finding.file,
        finding.line,
        finding.column,
        &finding.message,
    ));
    json!([{ "threadFlows": [{ "locations": locations }] }])
}

/// A place in a file; without a line, the file.
pub(crate) fn location(base: &str, folder: &str, file: &str, line: u32, column: u32) -> Value {
    let whole = if file.is_empty() {
        folder.to_owned()
    } else {
        format!("{folder}/{file}")
    };
    let below = whole
        .strip_prefix(base)
        .and_then(|rest| rest.strip_prefix('/'));
    let artifact = match below {
        Some(relative) => json!({ "uri": uri(relative), "uriBaseId": BASE }),
        None => json!({ "uri": format!("file://{}", uri(&whole)) }),
    };
    let mut physical = json!({ "artifactLocation": artifact });
    if line > 0 {
        physical["region"] = json!({ "startLine": line, "startColumn": column.max(1) });
    }
    json!({ "physicalLocation": physical })
}

/// A path as a part of a URI.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

const fn level(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Critical => "error",
        FindingSeverity::Warning => "warning",
        FindingSeverity::Info => "note",
    }
}

/// The level of a severity in SARIF.
pub(crate) fn word_level(word: &str) -> &'static str {
    word.parse().map_or("none", level)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
