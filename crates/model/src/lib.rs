//! # metier-model — what a skill is
//!
//! **Problem.** Skills are written by thousands of people for a dozen programs, and a sixth of all frontmatters is
//! not valid YAML. A strict reader loses skills; a loose reader loads something other than what the author wrote.
//!
//! **Goals.** One [`SkillManifest`] for SKILL.md and SKILL.yaml in every dialect; every deviation is a [`Diagnostic`] with
//! a position and a hint; a strict mode that is exactly the specification.
//!
//! **Worked example.** `description: Deploys: fast` is not YAML. [`parse`] reads it anyway, with a warning at line 3,
//! column 14 that shows the quotes to add; in strict mode it is an error.
//!
//! **In → out.** [`Files`] (texts) + [`Strictness`] → [`Parsed`] `{ manifest, diagnostics }`; body text →
//! [`template::BodyPiece`]s; a command line → [`shell::ShellLine`] with every command that it would run, or an error that it
//! can't be analysed.
//!
//! **Invariants.** no I/O · never an `Err`, never a panic · a manifest exactly when no diagnostic is an error · text
//! stays text: `no`, `1.10` and `0o17` keep their spelling · a name is never a path.
//!
//! **Start reading at** `read/mod.rs`, then `yaml/mod.rs`, then `diagnostic.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod card;
mod cases;
mod chat_tokens;
mod condition;
pub mod confusables;
mod diagnostic;
mod frontmatter;
mod frontmatter_comparison;
pub mod hooks;
mod ignore_line;
mod ignored;
mod manifest;
pub mod model_text;
pub mod name;
mod pattern_budget;
mod permission;
mod read;
mod report;
mod rules;
pub mod scope;
pub mod shell;
pub mod template;
pub mod text;
pub mod tools;
mod verbatim;
mod words;
mod yaml;

pub use card::{Card, Dependency, Installer, Need, Requirement};
pub use cases::{Case, CaseAction, CaseExpectation, CaseMistake, cases_in_file};
pub use condition::Condition;
pub use diagnostic::{Diagnostic, DiagnosticCode, DiagnosticSeverity, Position, Strictness};
pub use frontmatter::{Extent, MAX_FRONTMATTER, extent};
pub use frontmatter_comparison::frontmatter_difference;
pub use ignored::{IGNORE_FILE_RULE, IgnoreFile, IgnoreReader, IgnoreRules, MAX_IGNORE_FILE};
pub use manifest::{
    Authorship, CodeLimits, CompatibilityRule, ComposabilityRule, Contract, InvocationRules, Json,
    SkillCode, SkillContext, SkillManifest, SkillOrder, ToolDefinition, ToolRules, Triggers,
};
pub use metier_sdk::{HookPhase, Permission};
pub use name::SkillName;
pub use pattern_budget::{PatternBudget, PatternExcess};
pub use permission::{Want, WantError};
pub use read::{
    FileText, Files, KNOWN_FIELDS, Parsed, STANDARD_FIELDS, parse, parse_card, parse_thoroughly,
};
pub use rules::{PatternRule, RuleMistake, rules_in_file, rules_in_manifest};
pub use scope::Scope;
pub use tools::{ToolError, ToolPattern};
pub use verbatim::frontmatter_as_json;
pub use words::{Backend, Digest, NotADigest, Os, SkillType, Source, Types, UnknownWord, Version};

/// The body of a SKILL.md: the text after its frontmatter, or everything if it has none.
#[must_use]
pub fn body(text: &str) -> &str {
    let mut silent = report::DiagnosticCollector::new(Strictness::Lenient, "", text);
    match frontmatter::split(text, &mut silent) {
        Some(split) => &text[split.body..],
        None => text.trim_start_matches('\u{feff}'),
    }
}

/// The `skills:` list in the frontmatter of an AGENT.md or AGENTS.md: names, or paths to folders.
#[must_use]
pub fn agent_skills(text: &str) -> Vec<Box<str>> {
    read::agent_skills(text)
}
