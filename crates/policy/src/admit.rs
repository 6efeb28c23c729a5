//! Eligibility: may this skill be used here?
//!
//! A skill is admitted when all eight rules hold: enabled · bundled allow-list · operating system · all programs ·
//! one of the alternative programs · all variables · all settings · scan. Trust of the folder and the agent's tools
//! are checked as well. All reasons are collected, not only the first, so that one run shows everything that is
//! missing.

use metier_model::{
    Card, Installer, Need, Os, Requirement, Source, ToolPattern,
    text::{shell_word, visible},
};

/// Facts about the machine. Implemented where the machine can be inspected.
pub trait Facts {
    /// The operating system; `None` for one that skills can't name.
    fn os(&self) -> Option<Os>;
    /// Whether a program with this name is on PATH.
    fn has_program(&self, name: &str) -> bool;
    /// Whether an environment variable is set and not empty.
    fn has_variable(&self, name: &str) -> bool;
    /// Whether a setting is truthy.
    fn has_setting(&self, path: &str) -> bool;
    /// The tools that the agent declares; `None` if unknown.
    fn tools(&self) -> Option<&[String]>;
    /// Whether the list comes from the user's configuration, where the user can change it.
    fn tools_are_configured(&self) -> bool {
        true
    }
}

/// The result of scanning a skill's exact bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScanState<'a> {
    /// The skill was not scanned.
    #[default]
    Unknown,
    /// No blocking finding, or only findings that the user accepted.
    Passed,
    /// A blocking finding.
    Critical(ScanEvidence<'a>),
    /// Not everything could be read; this is one example.
    Incomplete(ScanEvidence<'a>),
}

/// One finding: the rule, the place and a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanEvidence<'a> {
    /// The id of the rule.
    pub rule: &'a str,
    /// The file, relative to the skill's folder; empty for the skill as a whole.
    pub file: &'a str,
    /// The line; 0 if there is none.
    pub line: u32,
    /// The message of the finding.
    pub message: &'a str,
}

impl ScanEvidence<'_> {
    /// `file:line`, without the parts that are unknown.
    fn place(&self) -> String {
        match (self.file, self.line) {
            ("", _) => String::new(),
            (file, 0) => format!("{file}: "),
            (file, line) => format!("{file}:{line}: "),
        }
    }
}

/// The user's settings and the machine's facts about a skill, apart from its content.
#[derive(Clone, Copy, Debug)]
pub struct UserDecisions<'a> {
    /// Where it comes from.
    pub source: Source,
    /// Whether its folder is trusted.
    pub trusted: bool,
    /// If a setting disables it: the hint to enable it.
    pub switched_off: Option<&'a str>,
    /// The profile in use, if it does not contain it.
    pub profile: Option<&'a str>,
    /// Whether the allow-list of bundled skills contains it.
    pub bundled_allowed: bool,
    /// The variables that the configuration sets for it.
    pub configured_env: &'a [&'a str],
    /// Whether the configuration contains an API key for it.
    pub has_api_key: bool,
    /// The scan result of its exact bytes.
    pub scan: ScanState<'a>,
}

impl UserDecisions<'_> {
    /// A skill without any objection.
    #[must_use]
    pub const fn fine(source: Source) -> Self {
        Self {
            source,
            trusted: true,
            switched_off: None,
            profile: None,
            bundled_allowed: true,
            configured_env: &[],
            has_api_key: false,
            scan: ScanState::Unknown,
        }
    }
}

/// Whether a skill may be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may be used.
    Admitted,
    /// It may not be used; there is at least one reason.
    Refused(Vec<Reason>),
}

/// The rule that refused a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasonKind {
    /// A program is missing.
    Bin,
    /// None of several alternative programs is installed.
    AnyBin,
    /// A variable is not set.
    Env,
    /// A setting is not truthy.
    Config,
    /// The operating system is not supported.
    Os,
    /// Another version of metier is required.
    Metier,
    /// Disabled in the configuration.
    Disabled,
    /// Not in the allow-list of bundled skills.
    NotAllowed,
    /// A blocking finding, or an incomplete scan.
    Scan,
    /// The folder is not trusted.
    Untrusted,
    /// Does not conform, and validation is strict.
    Strict,
    /// A required skill is missing.
    Dependency,
    /// A tool that the agent does not have.
    Tool,
    /// The files differ from the lock.
    Lock,
}

impl ReasonKind {
    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bin => "bin",
            Self::AnyBin => "any_bin",
            Self::Env => "env",
            Self::Config => "config",
            Self::Os => "os",
            Self::Metier => "metier",
            Self::Disabled => "disabled",
            Self::NotAllowed => "not_allowed",
            Self::Scan => "scan",
            Self::Untrusted => "untrusted",
            Self::Strict => "strict",
            Self::Dependency => "dependency",
            Self::Tool => "tool",
            Self::Lock => "lock",
        }
    }

    /// Whether it makes the skill blocked, rather than not ready.
    #[must_use]
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Scan | Self::Untrusted | Self::Lock)
    }

    /// Whether it makes the skill disabled.
    #[must_use]
    pub const fn disables(self) -> bool {
        matches!(self, Self::Disabled | Self::NotAllowed)
    }
}

/// Why a skill is refused, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The rule that refused it.
    pub kind: ReasonKind,
    /// The name of the missing program, variable, setting or tool.
    pub name: Box<str>,
    /// The reason in one sentence.
    pub message: Box<str>,
    /// A command or an instruction that solves it.
    pub hint: Option<Box<str>>,
    /// The line of the manifest that requires it.
    pub line: Option<u32>,
    /// The position in the card's requirements.
    pub requirement: Option<usize>,
}

/// Checks all rules and collects every reason against the skill.
#[must_use]
pub fn admit(card: &Card, standing: &UserDecisions<'_>, facts: &dyn Facts) -> Admission {
    let mut reasons = Vec::new();
    standing_reasons(card, standing, &mut reasons);
    for (position, requirement) in card.requirements.iter().enumerate() {
        let skippable = matches!(
            requirement.need,
            Need::Bin(_) | Need::AnyBin(_) | Need::Env(_) | Need::Config(_)
        );
        if !(card.always && skippable) {
            reasons.extend(
                unmet(card, requirement, standing, facts).map(|reason| Reason {
                    requirement: Some(position),
                    ..reason
                }),
            );
        }
    }
    if reasons.is_empty() {
        Admission::Admitted
    } else {
        Admission::Refused(reasons)
    }
}

fn standing_reasons(card: &Card, standing: &UserDecisions<'_>, reasons: &mut Vec<Reason>) {
    let mut refuse = |kind, message: &str, hint: String| {
        reasons.push(Reason {
            kind,
            name: card.name.as_str().into(),
            message: message.into(),
            hint: Some(hint.into()),
            line: None,
            requirement: None,
        });
    };
    if !standing.trusted {
        refuse(
            ReasonKind::Untrusted,
            "its folder is not trusted",
            "metier trust".into(),
        );
    }
    if let Some(hint) = standing.switched_off {
        refuse(
            ReasonKind::Disabled,
            "it is disabled in the configuration",
            hint.to_owned(),
        );
    }
    if let Some(profile) = standing.profile {
        refuse(
            ReasonKind::Disabled,
            &outside_profile(profile),
            "metier profile clear".to_owned(),
        );
    }
    if standing.source == Source::Builtin && !standing.bundled_allowed {
        refuse(
            ReasonKind::NotAllowed,
            "it is not in the list of allowed built-in skills",
            "metier config skills.allow_bundled".into(),
        );
    }
    reasons.extend(scan_reason(&card.name, standing.scan));
}

/// Why a skill is disabled that the profile in use does not contain.
#[must_use]
pub fn outside_profile(profile: &str) -> String {
    format!("the profile `{}` does not contain it", visible(profile))
}

/// The reason against a skill that follows from a scan, if any.
#[must_use]
pub fn scan_reason(name: &str, scan: ScanState<'_>) -> Option<Reason> {
    let message = match scan {
        ScanState::Unknown | ScanState::Passed => return None,
        ScanState::Critical(found) => format!(
            "the scanner found a threat: {}{} [{}]",
            found.place(),
            found.message,
            found.rule
        ),
        ScanState::Incomplete(left) => {
            format!("the scan is incomplete: {}{}", left.place(), left.message)
        }
    };
    Some(Reason {
        kind: ReasonKind::Scan,
        name: name.into(),
        message: message.into(),
        hint: Some(format!("metier scan {}", shell_word(name)).into()),
        line: None,
        requirement: None,
    })
}

/// The reason for a requirement that is not met.
fn unmet(
    card: &Card,
    requirement: &Requirement,
    standing: &UserDecisions<'_>,
    facts: &dyn Facts,
) -> Option<Reason> {
    let (kind, name, message, hint) = match &requirement.need {
        Need::Bin(bin) if !facts.has_program(bin) => (
            ReasonKind::Bin,
            bin.clone(),
            format!("it needs the program `{bin}`, which is not on PATH"),
            install_hint(card, &[bin], facts),
        ),
        Need::AnyBin(bins) if !bins.iter().any(|bin| facts.has_program(bin)) => {
            let names: Vec<&str> = bins.iter().map(|bin| &**bin).collect();
            let message = format!(
                "it needs one of the programs {}, and none is on PATH",
                list(&names)
            );
            (
                ReasonKind::AnyBin,
                names.join(", ").into(),
                message,
                install_hint(card, &names, facts),
            )
        }
        Need::Env(name) if !variable_is_set(card, name, standing, facts) => {
            let hint = if card.primary_env.as_deref() == Some(name) {
                let key = format!("skills.entries.{}.api_key", card.config_key());
                format!("metier config {} YOUR_KEY", shell_word(&key))
            } else {
                let key = format!("skills.entries.{}.env.{name}", card.config_key());
                let export = if is_variable(name) {
                    format!("export {name}=…, or: ")
                } else {
                    String::new()
                };
                format!("{export}metier config {} VALUE", shell_word(&key))
            };
            (
                ReasonKind::Env,
                name.clone(),
                format!("it needs the environment variable `{name}`, which is not set"),
                hint,
            )
        }
        Need::Config(path) if !facts.has_setting(path) => (
            ReasonKind::Config,
            path.clone(),
            format!("it needs the setting `{path}`, which is not set"),
            format!(
                "metier config {} true",
                shell_word(&format!("settings.{path}"))
            ),
        ),
        Need::Os(systems) if !facts.os().is_some_and(|os| systems.contains(&os)) => {
            let names: Vec<&str> = systems.iter().map(|os| os.as_str()).collect();
            let here = facts.os().map_or("another system", Os::as_str);
            (
                ReasonKind::Os,
                names.join(", ").into(),
                format!("it runs only on {}; this is {here}", list(&names)),
                String::new(),
            )
        }
        Need::Metier(range) if !is_version_of_ours(range) => (
            ReasonKind::Metier,
            range.clone(),
            format!("it needs metier {range}; this is {VERSION}"),
            String::new(),
        ),
        Need::Tool(name) if facts.tools().is_some_and(|tools| !has_tool(tools, name)) => (
            ReasonKind::Tool,
            name.clone(),
            format!("it needs the tool `{name}`, which the agent does not have"),
            match facts.tools_are_configured() {
                true => "metier config agent.tools".into(),
                false => String::new(),
            },
        ),
        _ => return None,
    };
    Some(Reason {
        kind,
        name,
        message: message.into(),
        hint: (!hint.is_empty()).then(|| hint.into()),
        line: Some(requirement.line),
        requirement: None,
    })
}

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether a version range includes this version of metier. An invalid range includes nothing.
fn is_version_of_ours(range: &str) -> bool {
    let range = semver::VersionReq::parse(range);
    let version = semver::Version::parse(VERSION);
    matches!((range, version), (Ok(range), Ok(version)) if range.matches(&version))
}

/// Whether a shell accepts the name for a variable.
fn is_variable(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn variable_is_set(
    card: &Card,
    name: &str,
    standing: &UserDecisions<'_>,
    facts: &dyn Facts,
) -> bool {
    facts.has_variable(name)
        || standing.configured_env.contains(&name)
        || (standing.has_api_key && card.primary_env.as_deref() == Some(name))
}

/// The command that installs one of `bins`, if the manifest has one. A command that this machine can run is
/// preferred; if there is none, the hint states which package manager it is for.
fn install_hint(card: &Card, bins: &[&str], facts: &dyn Facts) -> String {
    let os = facts.os();
    let is_absent = |installer: &&Installer| {
        let program = installer.program();
        !program.is_some_and(|(program, _)| facts.has_program(program))
    };
    let brings = |installer: &&Installer| {
        installer.bins.is_empty() || installer.bins.iter().any(|bin| bins.contains(&&**bin))
    };
    let fits = |installer: &&Installer| {
        installer.os.is_empty() || os.is_some_and(|os| installer.os.contains(&os))
    };
    let preferred: &[&str] = if os == Some(Os::Linux) {
        &["apt", "brew"]
    } else {
        &["brew"]
    };
    let rank = |installer: &&Installer| {
        preferred
            .iter()
            .position(|kind| *kind == &*installer.kind)
            .unwrap_or(preferred.len())
    };
    let best = card
        .installers
        .iter()
        .filter(brings)
        .filter(fits)
        .filter(|installer| installer.command().is_some())
        .min_by_key(|installer| (is_absent(installer), rank(installer)));
    let command = best.and_then(|best| {
        let (_, name) = best.program()?;
        let command = best.command()?;
        Some(match is_absent(&best) {
            true => format!("with {name}: {command}"),
            false => command,
        })
    });
    match (command, bins) {
        (Some(command), _) => command,
        (None, [bin]) => format!("install `{bin}` and put it on PATH"),
        (None, _) => "install one of them and put it on PATH".into(),
    }
}

/// `a`, `a or b`, `a, b or c`, in backticks.
fn list(names: &[&str]) -> String {
    match names {
        [] => "no known system".into(),
        [one] => format!("`{one}`"),
        [head @ .., last] => {
            let head: Vec<_> = head.iter().map(|name| format!("`{name}`")).collect();
            format!("{} or `{last}`", head.join(", "))
        }
    }
}

/// Whether a required tool is in the list, in any spelling: `Bash` and `shell` are one tool.
fn has_tool(tools: &[String], needed: &str) -> bool {
    let pattern = |text: &str| text.parse::<ToolPattern>().ok();
    let needed_tool = pattern(needed);
    tools.iter().any(|tool| {
        let covers = pattern(tool).zip(needed_tool.as_ref());
        tool == needed || covers.is_some_and(|(tool, needed)| tool.covers(needed))
    })
}

#[cfg(test)]
#[path = "admit_tests.rs"]
mod tests;
