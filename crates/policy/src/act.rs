//! Acts: everything that a skill can do outside its own process, in the form in which it is checked.

use std::{path::PathBuf, time::Duration};

use metier_model::{Permission, scope::PossibleCommand, shell};

use crate::{ActTarget, variables};

/// A command, word by word; `None` is a word that is known only at run time.
pub type CommandWords = Vec<Option<Box<str>>>;

/// One act that a skill is about to perform. Values are final: a changed act is a new question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Read a file or list a folder. The path is absolute, without links or `..`.
    ReadFile(PathBuf),
    /// Find files by name. Only files that may be read are found.
    FindFiles {
        /// The folder to search: absolute, without links or `..`.
        folder: PathBuf,
        /// A glob relative to the folder, such as `**/*.rs`.
        pattern: Box<str>,
    },
    /// Search for lines in the files that may be read.
    SearchFiles {
        /// A folder or a file: absolute, without links or `..`.
        folder: PathBuf,
        /// A regular expression to match lines.
        pattern: Box<str>,
        /// A glob that selects files, such as `*.rs`; `None` selects all.
        glob: Option<Box<str>>,
    },
    /// Replace the content of a file.
    WriteFile {
        /// Absolute, without links or `..`.
        path: PathBuf,
        /// The complete new content.
        content: Vec<u8>,
    },
    /// Run a shell command line.
    Line(CommandLine),
    /// Run a file of the skill.
    Script {
        /// The path below the skill's folder.
        path: Box<str>,
        /// The arguments, passed unchanged.
        arguments: Vec<String>,
    },
    /// Send a request to a host.
    Fetch(FetchAct),
    /// Read an environment variable.
    ReadVariable(Box<str>),
    /// Set an environment variable for later child processes.
    SetVariable {
        /// The name of the variable.
        name: Box<str>,
        /// The value; never in a receipt.
        value: Box<str>,
    },
    /// Read a git repository.
    ReadRepository(GitAct),
    /// Change a git repository.
    WriteRepository(GitAct),
    /// Call a model.
    CallModel(ActTarget),
    /// Invoke a skill.
    InvokeSkill(ActTarget),
    /// Call a tool of a server that the user configured.
    CallTool {
        /// Its name, with the server's: `docs__search`.
        tool: Box<str>,
        /// The input as JSON.
        input: Box<str>,
    },
}

/// A shell command line that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The line as its author wrote it, with placeholders: this is shown in questions.
    pub text: Box<str>,
    /// Every command in it; `None` if they can't be determined.
    pub commands: Option<Vec<CommandWords>>,
    /// Every command that it could run, in any way: a denial is compared with these. `None` if the line can't be parsed; then each
    /// denial of a command applies.
    pub could_run: Option<Vec<PossibleCommand>>,
    /// Why an approval of its commands does not cover it, but only an approval of this exact line.
    pub exact: Option<ExactOnly>,
    /// The files that its redirects write: an approval of its commands covers only those that `file:write` covers as
    /// well.
    pub writes: Vec<RedirectTarget>,
    /// Whether it is one plain command: no second one, no redirect, no substitution, no variable, and a program that
    /// does not run its arguments. Only such a line is covered by a pattern that the user chose in a question about
    /// another line.
    pub is_plain: bool,
    /// The script for the shell. Values are not part of it: they are passed as parameters.
    pub script: Box<str>,
    /// The values of the placeholders, passed as parameters.
    pub parameters: Vec<String>,
    /// The folder that it runs in.
    pub within: LineContext,
    /// Its standard input; never in a receipt.
    pub stdin: Vec<u8>,
    /// Its time limit, if shorter than the general one.
    pub timeout: Option<Duration>,
}

/// A file that a redirect writes; `None` if it is known only at run time, as for `~/x` and `$HOME/x`.
pub type RedirectTarget = Option<Box<str>>;

/// Why only an approval of the exact line covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactOnly {
    /// It sets a variable that can change what a program runs; `None` if the name is not known.
    Variable(Option<Box<str>>),
    /// It contains a value, and one of its programs is not known to treat values as data. All of `shell:exec` does
    /// not cover that either: the value comes from a caller, and the user has not seen it.
    Value {
        /// The placeholder of the value.
        placeholder: Box<str>,
        /// The program that receives it.
        program: Box<str>,
    },
}

impl std::fmt::Display for ExactOnly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(Some(name)) => write!(
                f,
                "it sets `{}`, which can change what a program runs or reads",
                metier_model::text::visible(name)
            ),
            Self::Variable(None) => {
                f.write_str("it sets a variable whose name is known only at run time")
            }
            Self::Value {
                placeholder,
                program,
            } => write!(
                f,
                "it contains `{}`, and `{}` is not known to treat it as data",
                metier_model::text::visible(placeholder),
                metier_model::text::visible(program)
            ),
        }
    }
}

/// The folder that a shell command line runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LineContext {
    /// The skill's folder, as for the commands of a body.
    #[default]
    Skill,
    /// The project, as for tools: paths mean the same there as for files.
    Project,
}

impl CommandLine {
    /// A line as its author wrote it, its parsed form, and the script for the shell.
    #[must_use]
    pub fn new(
        text: &str,
        understood: Option<&shell::ShellLine>,
        script: &str,
        parameters: Vec<String>,
    ) -> Self {
        let exact = understood.and_then(sets_something);
        let could_run = match understood {
            Some(line) => Some(line.could_run()),
            None => shell::could_run(script).ok(),
        };
        let understood = understood.filter(|_| exact.is_none());
        Self {
            text: text.into(),
            commands: understood.map(commands),
            could_run,
            writes: understood.map(writes).unwrap_or_default(),
            exact,
            is_plain: !has_operator(script) && understood.is_some_and(is_plain),
            script: script.into(),
            parameters,
            within: LineContext::Skill,
            stdin: Vec::new(),
            timeout: None,
        }
    }

    /// Whether it is a pipeline, of which a shell reports only the exit status of the last program.
    #[must_use]
    pub fn is_pipeline(&self) -> bool {
        let text = self.text.replace("||", "");
        text.contains('|')
    }

    /// This line with a value that a program might run.
    #[must_use]
    pub fn with_value(self, placeholder: &str, program: &str) -> Self {
        Self {
            commands: None,
            is_plain: false,
            exact: Some(ExactOnly::Value {
                placeholder: placeholder.into(),
                program: program.into(),
            }),
            ..self
        }
    }

    /// This line in the project's folder.
    #[must_use]
    pub fn in_project(self) -> Self {
        Self {
            within: LineContext::Project,
            ..self
        }
    }
}

/// Whether a line is one literal command of a program that does not run its arguments.
fn is_plain(line: &shell::ShellLine) -> bool {
    let [command] = line.commands.as_slice() else {
        return false;
    };
    command.program().is_some()
        && command.assignments.is_empty()
        && command.redirects.is_empty()
        && !command.runs_arguments()
        && command.words.iter().all(is_written_out)
}

/// Whether a line has an unquoted character that joins, groups, negates or redirects commands. The parsed line does
/// not show a lone `&`.
fn has_operator(text: &str) -> bool {
    let (mut quote, mut escaped) = (None, false);
    for letter in text.chars() {
        match (letter, quote) {
            _ if escaped => escaped = false,
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            (_, None) if ";&|<>(){}!#\n".contains(letter) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a word is literal, or a pattern of file names that can't become an option.
fn is_written_out(word: &shell::ShellWord) -> bool {
    if word.literal().is_some() {
        return true;
    }
    let known = |part: &shell::WordPart| {
        matches!(
            part,
            shell::WordPart::Literal { .. } | shell::WordPart::Glob(_) | shell::WordPart::Tilde
        )
    };
    let begins = match word.parts().first() {
        Some(shell::WordPart::Literal { text, .. }) => !text.is_empty() && !text.starts_with('-'),
        Some(shell::WordPart::Tilde) => true,
        _ => false,
    };
    begins && word.parts().iter().all(known)
}

/// The first variable that a line sets and that is not known to be harmless.
fn sets_something(line: &shell::ShellLine) -> Option<ExactOnly> {
    let mut sets = line.commands.iter().flat_map(shell::SimpleCommand::sets);
    let harmful = sets.find(|set| match set.name {
        None => true,
        Some(name) => {
            let own = !set.exported && variables::is_local(name);
            !own && !variables::is_harmless(name, set.value)
        }
    });
    harmful.map(|set| ExactOnly::Variable(set.name.map(Box::from)))
}

/// Every command of a line, word by word.
fn commands(line: &shell::ShellLine) -> Vec<CommandWords> {
    let words = line.commands.iter().map(|simple| &simple.words);
    words
        .filter(|words| !words.is_empty())
        .map(|words| {
            let literal = |word: &shell::ShellWord| word.literal().map(Box::from);
            words.iter().map(literal).collect()
        })
        .collect()
}

/// Every file that a redirect of a line writes.
fn writes(line: &shell::ShellLine) -> Vec<RedirectTarget> {
    let redirects = line.commands.iter().flat_map(|simple| &simple.redirects);
    let written = redirects.filter(|redirect| !redirect.is_harmless());
    written
        .map(|redirect| redirect.target.literal().map(Box::from))
        .collect()
}

/// A request that is about to be sent. Host and port are those of the URL, as a URL parser gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchAct {
    /// The method: `GET`, `POST`, …
    pub method: Box<str>,
    /// The URL as it is sent.
    pub url: Box<str>,
    /// The host of the URL.
    pub host: Box<str>,
    /// The port of the URL, or the default of its scheme.
    pub port: u16,
    /// Header names and values.
    pub headers: Vec<(String, String)>,
    /// The request body.
    pub body: Vec<u8>,
}

/// A git command that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitAct {
    /// The repository: absolute, without links or `..`.
    pub repository: PathBuf,
    /// The arguments after `git`.
    pub arguments: Vec<String>,
}

impl Act {
    /// The permission that it requires.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        match self {
            Self::ReadFile(_) | Self::FindFiles { .. } | Self::SearchFiles { .. } => {
                Permission::FileRead
            }
            Self::WriteFile { .. } => Permission::FileWrite,
            Self::Line(_) | Self::Script { .. } => Permission::ShellExec,
            Self::Fetch(_) => Permission::NetFetch,
            Self::ReadVariable(_) => Permission::EnvRead,
            Self::SetVariable { .. } => Permission::EnvWrite,
            Self::ReadRepository(_) => Permission::GitRead,
            Self::WriteRepository(_) => Permission::GitWrite,
            Self::CallModel(_) => Permission::LlmCall,
            Self::InvokeSkill(_) | Self::CallTool { .. } => Permission::SkillInvoke,
        }
    }

    /// A description for a receipt.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::ReadFile(path) | Self::WriteFile { path, .. } => path.display().to_string(),
            Self::FindFiles { folder, pattern } => folder.join(&**pattern).display().to_string(),
            Self::SearchFiles {
                folder, pattern, ..
            } => format!("`{pattern}` in {}", folder.display()),
            Self::ReadRepository(git) | Self::WriteRepository(git) => {
                format!("git {}", git.arguments.join(" "))
            }
            Self::Fetch(fetch) => format!("{} {}", fetch.method, fetch.url),
            Self::Line(line) => line.text.to_string(),
            Self::Script { path, arguments } => {
                let words = [path.to_string()]
                    .into_iter()
                    .chain(arguments.iter().cloned());
                words.collect::<Vec<_>>().join(" ")
            }
            Self::ReadVariable(text) | Self::SetVariable { name: text, .. } => text.to_string(),
            Self::CallModel(target) | Self::InvokeSkill(target) => target.to_string(),
            Self::CallTool { tool, input } => format!("{tool} {input}"),
        }
    }
}
