//! The input of a scan, and its rules.

use std::collections::BTreeSet;

use crate::pattern::Pattern;

/// A file of a skill.
#[derive(Clone, Debug)]
pub struct FileToScan<'a> {
    /// The path relative to the skill's folder.
    pub path: &'a str,
    /// The content.
    pub content: ScannedContent<'a>,
}

/// The content of a file.
#[derive(Clone, Debug)]
pub enum ScannedContent<'a> {
    /// The bytes of a regular file.
    Bytes(&'a [u8]),
    /// A symbolic link to this path.
    Link(&'a str),
    /// The file could not be read, for this reason.
    Unread(&'a str),
}

/// The fields of the manifest that the scanner uses.
#[derive(Clone, Debug, Default)]
pub struct DeclaredFacts<'a> {
    /// The skill's name.
    pub name: &'a str,
    /// The skill's description.
    pub description: &'a str,
    /// The skill's homepage; empty if there is none.
    pub homepage: &'a str,
    /// The permissions that the manifest declares; `None` if it has no such field.
    pub declared: Option<BTreeSet<metier_sdk::Permission>>,
    /// The WebAssembly module that the skill runs as, in our sandbox. Any other module is a program that cannot be read.
    pub module: Option<&'a str>,
}

/// Limits of a scan; content that exceeds them is reported as unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// The files per skill.
    pub files: usize,
    /// The bytes per file.
    pub file_bytes: usize,
    /// The bytes of the WebAssembly module that the skill runs as.
    pub module_bytes: usize,
    /// The findings in a report.
    pub findings: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            files: 500,
            file_bytes: 1024 * 1024,
            module_bytes: 32 * 1024 * 1024,
            findings: 200,
        }
    }
}

/// The rules of a scan.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// The set of built-in rules.
    pub preset: Preset,
    /// Patterns of the user, and of skills of type `security-rule`.
    pub patterns: Vec<Pattern>,
}

/// A set of built-in rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Chains of evidence block a skill; capabilities are only described.
    #[default]
    Evidence,
    /// In addition, the rules and severities of the first design: single patterns in JavaScript block a skill.
    Seed,
}
