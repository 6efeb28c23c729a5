//! The card: what discovery, eligibility and prompts need to know of a skill, and no more.
//!
//! Ten thousand of these are held in memory and in the warm index; everything else about a skill
//! is in its [`Manifest`](crate::Manifest), read again when somebody asks for it.

use crate::{
    name::SkillName,
    words::{Backend, Os, SkillType, Types, Version},
};

/// What a skill is, on one card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its name.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: Box<str>,
    /// Further words on when to use it (Claude Code).
    pub when_to_use: Option<Box<str>>,
    /// Its version, if it has one.
    pub version: Option<Version>,
    /// A picture for lists.
    pub emoji: Option<Box<str>>,
    /// What it contributes.
    pub types: Types,
    /// How its code runs, if it has any.
    pub backend: Option<Backend>,
    /// Whether a person can call it by name.
    pub user_invocable: bool,
    /// Whether a model may choose it.
    pub model_invocable: bool,
    /// Whether it skips the checks for programs, variables and configuration.
    pub always: bool,
    /// The key of its configuration entry, where that is not the name.
    pub skill_key: Option<Box<str>>,
    /// The variable that `api_key` stands for.
    pub primary_env: Option<Box<str>>,
    /// What must be there, and which line asks for it.
    pub requirements: Vec<Requirement>,
    /// How to get what is missing.
    pub installers: Vec<Installer>,
}

impl Card {
    /// The key of this skill's entry in the configuration.
    #[must_use]
    pub fn config_key(&self) -> &str {
        self.skill_key.as_deref().unwrap_or(&self.name)
    }

    /// Whether to use this skill means to run its code, and not to follow its text.
    #[must_use]
    pub fn runs_workflow(&self) -> bool {
        self.types.contains(SkillType::Workflow) && self.backend.is_some()
    }
}

/// One thing that must be there.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// What it is.
    pub need: Need,
    /// The line of the manifest that asks for it.
    pub line: u32,
}

/// The kinds of things a skill can need.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// A program on PATH.
    Bin(Box<str>),
    /// One of several programs.
    AnyBin(Vec<Box<str>>),
    /// An environment variable.
    Env(Box<str>),
    /// A configuration path that is truthy.
    Config(Box<str>),
    /// One of these operating systems.
    Os(Vec<Os>),
    /// A version of this program, as SemVer requirement.
    Metier(Box<str>),
    /// A tool of the agent.
    Tool(Box<str>),
    /// Another skill.
    Skill(Dependency),
}

/// A skill that another one builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Its name.
    pub name: Box<str>,
    /// The versions that will do, as SemVer requirement.
    pub version: Option<Box<str>>,
    /// Whether it can be missing.
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
    /// The programs it brings.
    pub bins: Vec<Box<str>>,
    /// The systems it is for; all when empty.
    pub os: Vec<Os>,
    /// What to call it.
    pub label: Option<Box<str>>,
}

impl Installer {
    /// The program that installs, and what people call it; none for a kind that is not known.
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
