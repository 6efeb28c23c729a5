//! The risk of a task, and which skills are held back because of it.
//!
//! A skill that is only text is harmless to select. A skill that can write files or run commands is not, however well
//! it fits: if the risk is medium, its powers are shown with it; if it is high, it is held back until the user names
//! it.

use std::{fmt, str::FromStr};

use metier_model::{Permission, SkillManifest, ToolPattern, UnknownWord};
use metier_policy::{PermissionRequest, Purpose};

use super::RuleSubject;
use crate::skill_triggers::shown;

/// The level of risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Risk {
    /// Mistakes are cheap.
    #[default]
    Low,
    /// Mistakes matter: the abilities of skills are shown.
    Medium,
    /// Mistakes are costly: skills that can write or run commands have to be named.
    High,
}

impl Risk {
    /// All levels, lowest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Risk {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let risk = Self::ALL.into_iter().find(|risk| risk.as_str() == text);
        risk.ok_or_else(|| UnknownWord {
            found: text.to_owned(),
            known: &["low", "medium", "high"],
        })
    }
}

/// The consequence of the risk for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// The reason in one sentence.
    pub reason: String,
    /// Whether it is held back until the user names it.
    pub held: bool,
}

/// The consequence of the risk for a skill, if there is one.
pub(super) fn consent(risk: Risk, subject: &RuleSubject<'_>, named: bool) -> Option<Consent> {
    if risk == Risk::Low || subject.powers.is_empty() {
        return None;
    }
    Some(Consent {
        reason: format!(
            "the risk is {risk}, and it requests {}",
            list(subject.powers)
        ),
        held: risk == Risk::High && !named,
    })
}

fn list(powers: &[String]) -> String {
    const MAX: usize = 3;
    let first = powers.iter().take(MAX).map(String::as_str);
    let mut text = first.collect::<Vec<_>>().join(", ");
    if powers.len() > MAX {
        text.push_str(&format!(" and {} more", powers.len() - MAX));
    }
    text
}

/// Tools that write or run commands, in canonical spelling.
const TOOLS: [&str; 3] = ["bash", "write", "edit"];

/// Commands that a skill would run besides the code of its manifest.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkillPrograms<'a> {
    /// The commands in its body.
    pub commands: &'a [&'a str],
    /// The commands of its hooks.
    pub hooks: &'a [&'a str],
    /// Whether it has files in `scripts/`.
    pub scripts: bool,
}

/// The permissions and tools of a skill that change something or run commands, without duplicates: permissions, and tools that it requests
/// or provides.
#[must_use]
pub fn powers(manifest: &SkillManifest, runs: SkillPrograms<'_>) -> Vec<String> {
    let mut purposes = vec![Purpose::Code(runs.hooks), Purpose::Render(runs.commands)];
    if runs.scripts {
        purposes.push(Purpose::Scripts);
    }
    let requests = purposes
        .into_iter()
        .map(|purpose| PermissionRequest::of(manifest, purpose, ("", &[]), &[]));
    let asked = requests.flat_map(|request| request.iter().cloned().collect::<Vec<_>>());
    let mut powers: Vec<String> = PermissionRequest::new(asked)
        .iter()
        .filter(|asked| is_power(asked.want.permission))
        .map(|asked| format!("`{}`", shown(&asked.want.to_string())))
        .collect();
    let rules = &manifest.tools;
    let tools = rules.preapprove.iter().chain(rules.only.iter().flatten());
    for tool in tools.filter(|tool| is_tool(tool)) {
        let tool = format!("the tool `{}`", shown(tool));
        if !powers.contains(&tool) {
            powers.push(tool);
        }
    }
    powers
}

fn is_power(permission: Permission) -> bool {
    match permission {
        Permission::FileWrite
        | Permission::ShellExec
        | Permission::GitWrite
        | Permission::EnvWrite => true,
        Permission::FileRead
        | Permission::NetFetch
        | Permission::LlmCall
        | Permission::GitRead
        | Permission::EnvRead
        | Permission::SkillInvoke => false,
    }
}

/// Whether an entry of a list of tools can mean a tool that writes or runs commands. An invalid entry allows nothing.
fn is_tool(entry: &str) -> bool {
    let Ok(pattern) = entry.parse::<ToolPattern>() else {
        return false;
    };
    let mut tools = TOOLS
        .iter()
        .filter_map(|tool| tool.parse::<ToolPattern>().ok());
    tools.any(|tool| pattern.overlaps(&tool))
}
