//! The rules of the first design, unchanged: single patterns in JavaScript that block a skill.
//!
//! They are for users who require this list, and they extend the default rules, which grade each by its evidence;
//! `docs/scanner.md` has the figures of both.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    input::{FileToScan, ScannedContent},
    matching::shown,
    report::{Finding, FindingLocation, FindingSeverity, FoundBy, ScanReport},
};

struct PatternLine {
    id: &'static str,
    severity: FindingSeverity,
    message: &'static str,
    pattern: &'static str,
    /// A second pattern that must occur somewhere in the same file.
    with: Option<&'static str>,
    body: bool,
}

const LINES: &[PatternLine] = &[
    PatternLine {
        id: "dangerous-exec",
        severity: FindingSeverity::Critical,
        message: "shell command execution via child_process",
        pattern: r"\b(exec|execSync|spawn|spawnSync|execFile|execFileSync)\s*\(",
        with: Some(r"child_process"),
        body: false,
    },
    PatternLine {
        id: "dynamic-code-execution",
        severity: FindingSeverity::Critical,
        message: "dynamic code execution",
        pattern: r"\beval\s*\(|new\s+Function\s*\(",
        with: None,
        body: false,
    },
    PatternLine {
        id: "crypto-mining",
        severity: FindingSeverity::Critical,
        message: "crypto-mining reference",
        pattern: r"(?i)stratum\+tcp|stratum\+ssl|coinhive|cryptonight|xmrig",
        with: None,
        body: false,
    },
    PatternLine {
        id: "env-harvesting",
        severity: FindingSeverity::Critical,
        message: "environment variables together with network requests",
        pattern: r"process\.env",
        with: Some(r"\bfetch\b|\bpost\b|http\.request|https\.request|axios"),
        body: false,
    },
    PatternLine {
        id: "potential-exfiltration",
        severity: FindingSeverity::Warning,
        message: "file read together with network send",
        pattern: r"readFileSync|readFile",
        with: Some(r"\bfetch\b|\bpost\b|http\.request|https\.request|axios"),
        body: false,
    },
    PatternLine {
        id: "obfuscated-code",
        severity: FindingSeverity::Warning,
        message: "hex sequences or a large base64 payload",
        pattern: r#"(\\x[0-9a-fA-F]{2}){6,}|(?:atob|Buffer\.from)\s*\(\s*["'][A-Za-z0-9+/=]{200,}["']"#,
        with: None,
        body: false,
    },
    PatternLine {
        id: "suspicious-network",
        severity: FindingSeverity::Warning,
        message: "WebSocket connection to a non-standard port",
        pattern: r#"new\s+WebSocket\s*\(\s*["']wss?://[^"'/]*:(\d+)"#,
        with: None,
        body: false,
    },
    PatternLine {
        id: "prompt-override",
        severity: FindingSeverity::Critical,
        message: "attempt to override the system prompt",
        pattern: r"(?i)(system prompt|system message)\s*(override|:)|override\s+(the\s+)?system\s+prompt|you are now",
        with: None,
        body: true,
    },
    PatternLine {
        id: "ignore-previous",
        severity: FindingSeverity::Critical,
        message: "instruction to ignore previous context",
        pattern: r"(?i)(ignore|disregard|forget)\s+(all\s+|any\s+|the\s+)?(previous|prior|above|earlier)",
        with: None,
        body: true,
    },
    PatternLine {
        id: "outside-path",
        severity: FindingSeverity::Warning,
        message: "access to files outside the skill's folder",
        pattern: r"\.\./\.\./|(?:^|[\s`'\x22(])(/etc/|~/\.(ssh|aws|gnupg|config))",
        with: None,
        body: true,
    },
    PatternLine {
        id: "encoded-instructions",
        severity: FindingSeverity::Warning,
        message: "encoded or obfuscated instructions",
        pattern: r"[A-Za-z0-9+/]{80,}={0,2}|(\\x[0-9a-fA-F]{2}){6,}|(\\u[0-9a-fA-F]{4}){6,}",
        with: None,
        body: true,
    },
];

struct CompiledSeedRule {
    line: &'static PatternLine,
    pattern: Regex,
    with: Option<Regex>,
}

static RULES: LazyLock<Vec<CompiledSeedRule>> = LazyLock::new(|| {
    LINES
        .iter()
        .filter_map(|line| {
            Some(CompiledSeedRule {
                line,
                pattern: Regex::new(line.pattern).ok()?,
                with: match line.with {
                    Some(with) => Some(Regex::new(with).ok()?),
                    None => None,
                },
            })
        })
        .collect()
});

/// The file extensions that it reads as code.
const CODE: &[&str] = &[".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx"];
/// Adds the matches of the patterns. Unread files are reported already.
pub(crate) fn add(files: &[FileToScan<'_>], report: &mut ScanReport) {
    for file in files {
        let body = file.path.eq_ignore_ascii_case("SKILL.md");
        if !body && !CODE.iter().any(|end| file.path.ends_with(end)) {
            continue;
        }
        let ScannedContent::Bytes(bytes) = file.content else {
            continue;
        };
        let text = String::from_utf8_lossy(bytes);
        let text = if body {
            metier_model::body(&text)
        } else {
            &text
        };
        look(file.path, text, body, report);
    }
}

fn look(path: &str, text: &str, body: bool, report: &mut ScanReport) {
    for rule in RULES.iter().filter(|rule| rule.line.body == body) {
        if rule.with.as_ref().is_some_and(|with| !with.is_match(text)) {
            continue;
        }
        for found in rule.pattern.captures_iter(text).take(20) {
            let Some(whole) = found.get(0) else { continue };
            let usual_port = found.get(1).is_some_and(|port| {
                matches!(port.as_str(), "80" | "443" | "8080" | "8443" | "3000")
            });
            if rule.line.id == "suspicious-network" && usual_port {
                continue;
            }
            let line = text[..whole.start()]
                .bytes()
                .filter(|byte| *byte == b'\n')
                .count()
                + 1;
            report.findings.push(Finding {
                rule: FoundBy::Pattern {
                    id: rule.line.id.to_owned(),
                    fix: None,
                },
                severity: rule.line.severity,
                place: FindingLocation {
                    file: path.to_owned(),
                    line: u32::try_from(line).unwrap_or(u32::MAX),
                    column: 1,
                },
                message: rule.line.message.to_owned(),
                evidence: shown(text[whole.start()..].lines().next().unwrap_or_default()),
                steps: Vec::new(),
            });
        }
    }
}
