//! The card: what discovery, eligibility and prompts need to know about a skill.
//!
//! Ten thousand of these are kept in memory and in the warm index; everything else about a skill is in its
//! [`SkillManifest`](crate::SkillManifest), which is read again when needed.

use crate::{
    name::SkillName,
    words::{Backend, Os, SkillType, Types, Version},
};

/// The metadata of a skill that lists and prompts need.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The name of the skill.
    pub name: SkillName,
    /// The task it does and when to use it.
    pub description: Box<str>,
    /// More about when to use it (Claude Code).
    pub when_to_use: Option<Box<str>>,
    /// Its version, if it has one.
    pub version: Option<Version>,
    /// An emoji for lists.
    pub emoji: Option<Box<str>>,
    /// The kinds of things that it contributes.
    pub types: Types,
    /// How its code runs, if it has any.
    pub backend: Option<Backend>,
    /// Whether a person can invoke it by name.
    pub user_invocable: bool,
    /// Whether a model may choose it.
    pub model_invocable: bool,
    /// Whether it skips the checks for programs, variables and configuration.
    pub always: bool,
    /// The key of its configuration entry, if that is not the name.
    pub skill_key: Option<Box<str>>,
    /// Whether it gets the settings of that key. Any skill can be disabled by its key, but few may choose whose secrets they get.
    pub chooses_settings: bool,
    /// The environment variable that `api_key` sets.
    pub primary_env: Option<Box<str>>,
    /// Its requirements, each with its line.
    pub requirements: Vec<Requirement>,
    /// Ways to install missing programs.
    pub installers: Vec<Installer>,
}

impl Card {
    /// The key of the entry in the configuration with this skill's settings.
    #[must_use]
    pub fn config_key(&self) -> &str {
        let chosen = self.skill_key.as_deref().filter(|_| self.chooses_settings);
        chosen.unwrap_or(&self.name)
    }

    /// Whether using this skill means running its code instead of following its text.
    #[must_use]
    pub fn runs_workflow(&self) -> bool {
        self.types.contains(SkillType::Workflow) && self.backend.is_some()
    }
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The program, variable, setting or other thing that is required.
    pub need: Need,
    /// The line of the manifest that requires it.
    pub line: u32,
}

/// The kinds of requirements.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// A program on PATH.
    Bin(Box<str>),
    /// One of several programs.
    AnyBin(Vec<Box<str>>),
    /// An environment variable that is set.
    Env(Box<str>),
    /// A configuration path that is truthy.
    Config(Box<str>),
    /// One of these operating systems.
    Os(Vec<Os>),
    /// A version of metier, as a SemVer requirement.
    Metier(Box<str>),
    /// A tool of the agent.
    Tool(Box<str>),
    /// An installed skill.
    Skill(Dependency),
}

/// A skill that another one depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the required skill.
    pub name: Box<str>,
    /// The suitable versions, as a SemVer requirement.
    pub version: Option<Box<str>>,
    /// Whether the skill works without it.
    pub optional: bool,
}

/// A way to install a program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Installer {
    /// Its id within the manifest.
    pub id: Box<str>,
    /// `brew`, `apt`, `npm`, `go`, `uv`, `cargo`, `download`, …
    pub kind: Box<str>,
    /// The formula, package, module or address.
    pub package: Box<str>,
    /// The programs it installs.
    pub bins: Vec<Box<str>>,
    /// The systems it supports; all if empty.
    pub os: Vec<Os>,
    /// A label for display.
    pub label: Option<Box<str>>,
}

impl Installer {
    /// The program that installs, and its display name; `None` for an unknown kind.
    #[must_use]
    pub fn program(&self) -> Option<(&'static str, &'static str)> {
        Some(match &*self.kind {
            "brew" => ("brew", "Homebrew"),
            "apt" => ("apt", "apt"),
            "npm" | "node" => ("npm", "npm"),
            "go" => ("go", "Go"),
            "uv" => ("uv", "uv"),
            "pip" => ("pip", "pip"),
            "cargo" => ("cargo", "Cargo"),
            _ => return None,
        })
    }

    /// The program and its arguments, if the package is a plain word: a manifest never writes a command line itself.
    #[must_use]
    pub fn words(&self) -> Option<Vec<String>> {
        let package = &*self.package;
        let word = |c: char| c.is_ascii_alphanumeric() || "@+._/-[]=<>!~,:".contains(c);
        if package.is_empty()
            || package.starts_with('-')
            || package.contains("..")
            || !package.chars().all(word)
        {
            return None;
        }
        let program: &[&str] = match &*self.kind {
            "brew" => &["brew", "install"],
            "apt" => &["sudo", "apt", "install"],
            "npm" | "node" => &["npm", "install", "-g"],
            "go" => &["go", "install"],
            "uv" => &["uv", "tool", "install"],
            "pip" => &["pip", "install"],
            "cargo" => &["cargo", "install"],
            _ => return None,
        };
        let is_unversioned = &*self.kind == "go" && !package.contains('@');
        let version = if is_unversioned { "@latest" } else { "" };
        let mut words: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
        words.push(format!("{package}{version}"));
        Some(words)
    }

    /// [`Installer::words`] as a person would type them into a shell.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let quoted = |word: String| match word.contains(['<', '>', '!', '[', '~']) {
            true => format!("'{word}'"),
            false => word,
        };
        let words: Vec<String> = self.words()?.into_iter().map(quoted).collect();
        Some(words.join(" "))
    }
}
