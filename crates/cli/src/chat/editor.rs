//! The line that the user types: history, several lines, and names that complete themselves.

use std::{borrow::Cow, path::PathBuf};

use rustyline::{
    Behavior, CompletionType, Config, Context, Editor, Helper,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::{Hint, Hinter},
    history::FileHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};

use crate::{
    failure::Failure,
    output::{Output, Tone, one_line},
};

const PROMPT: &str = "> ";
/// The number of remembered lines.
const MAX_HISTORY: usize = 1_000;
/// How much of a description is shown in a list of candidates.
const MAX_ABOUT: usize = 60;

/// Input from the keyboard.
pub(super) enum EditorInput {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    End,
}

/// Something that can be typed.
pub(super) struct CompletionWord {
    /// Without its sign.
    pub(super) name: String,
    pub(super) about: String,
    /// A command of the chat, and no skill.
    pub(super) is_command: bool,
}

impl CompletionWord {
    pub(super) fn new(name: &str, about: &str, is_command: bool) -> Self {
        Self {
            name: name.to_owned(),
            about: one_line(about),
            is_command,
        }
    }
}

/// A terminal at which lines are typed.
pub(super) struct LineEditor {
    editor: Editor<Typist, FileHistory>,
    /// The file of earlier lines; `None` if it can't be used.
    history: Option<PathBuf>,
}

impl LineEditor {
    pub(super) fn new(
        output: &Output,
        words: Vec<CompletionWord>,
        history: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .max_history_size(MAX_HISTORY)
            .map_err(|error| broken(&error))?
            .build();
        let mut editor = Editor::with_config(config).map_err(|error| broken(&error))?;
        editor.set_helper(Some(Typist {
            output: output.clone(),
            words,
            active: Vec::new(),
        }));
        if let Some(file) = history.as_ref().filter(|file| file.exists()) {
            // An unreadable history is ignored; typing works without it.
            editor.load_history(file).ok();
        }
        Ok(Self { editor, history })
    }

    /// Waits for a line. Of the active skills one may be unloaded.
    pub(super) fn next(&mut self, active: &[String]) -> Result<EditorInput, Failure> {
        if let Some(typist) = self.editor.helper_mut() {
            active.clone_into(&mut typist.active);
        }
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                self.remember(&line);
                Ok(EditorInput::Line(joined(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(EditorInput::Interrupt),
            Err(ReadlineError::Eof) => Ok(EditorInput::End),
            Err(error) => Err(broken(&error)),
        }
    }

    /// At once, because the program can be killed. A history that can't be written is done without.
    fn remember(&mut self, line: &str) {
        let added = self.editor.add_history_entry(line);
        if !added.unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.history
            && self.editor.append_history(file).is_err()
        {
            self.history = None;
        }
    }
}

/// A line that ends with `\` continues on the next.
pub(super) fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

fn broken(error: &ReadlineError) -> Failure {
    Failure::broken("terminal", format!("the terminal can't be used: {error}"))
        .hint("metier chat also takes its lines from a pipe")
}

/// Completion and hints.
struct Typist {
    output: Output,
    words: Vec<CompletionWord>,
    active: Vec<String>,
}

/// The word in front of the cursor.
struct Begun<'l> {
    start: usize,
    sign: char,
    name: &'l str,
    is_first: bool,
}

fn begun(line: &str, position: usize) -> Option<Begun<'_>> {
    let before = line.get(..position)?;
    let start = before.rfind(char::is_whitespace).map_or(0, |blank| {
        blank + before[blank..].chars().next().map_or(1, char::len_utf8)
    });
    let word = &before[start..];
    let sign = word
        .chars()
        .next()
        .filter(|sign| matches!(sign, '/' | '$'))?;
    Some(Begun {
        start,
        sign,
        name: &word[1..],
        is_first: before[..start].trim().is_empty(),
    })
}

impl Typist {
    /// The completions of a word. Commands are at the start of a line, and hide skills with their name there.
    fn candidates<'w>(&'w self, begun: &Begun<'_>) -> impl Iterator<Item = &'w CompletionWord> {
        let with_commands = begun.sign == '/' && begun.is_first;
        let is_offered = move |word: &CompletionWord| {
            let hides = |other: &CompletionWord| other.is_command && other.name == word.name;
            if word.is_command {
                with_commands
            } else {
                !with_commands || !self.words.iter().any(hides)
            }
        };
        let name = begun.name.to_owned();
        self.words
            .iter()
            .filter(move |word| word.name.starts_with(&name) && is_offered(word))
    }

    fn unloadable<'t>(&'t self, line: &str) -> Option<(usize, impl Iterator<Item = &'t String>)> {
        let name = line.strip_prefix("/unload ")?;
        let start = line.len() - name.len();
        let name = name.to_owned();
        let names = self
            .active
            .iter()
            .filter(move |active| active.starts_with(&name));
        Some((start, names))
    }
}

impl Completer for Typist {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or_default();
        if let Some((start, names)) = self.unloadable(before) {
            let pairs = names.map(|name| Pair {
                display: name.clone(),
                replacement: name.clone(),
            });
            return Ok((start, pairs.collect()));
        }
        let Some(begun) = begun(line, position) else {
            return Ok((position, Vec::new()));
        };
        let pairs = self.candidates(&begun).map(|word| {
            let name = format!("{}{}", begun.sign, word.name);
            let about: String = word.about.chars().take(MAX_ABOUT).collect();
            Pair {
                display: format!("{name}  {about}"),
                replacement: format!("{name} "),
            }
        });
        Ok((begun.start, pairs.collect()))
    }
}

/// The rest of a name, and a description.
struct HintRest {
    shown: String,
    name: String,
}

impl Hint for HintRest {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        (!self.name.is_empty()).then_some(&self.name)
    }
}

impl Hinter for Typist {
    type Hint = HintRest;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<HintRest> {
        if position < line.len() {
            return None;
        }
        let begun = begun(line, position)?;
        let exact = self.candidates(&begun).find(|word| word.name == begun.name);
        let word = match exact {
            Some(word) => word,
            None => {
                let mut all = self.candidates(&begun).take(2);
                all.next()
                    .filter(|_| all.next().is_none() && !begun.name.is_empty())?
            }
        };
        let name = word.name[begun.name.len()..].to_owned();
        let used = PROMPT.len() + line.chars().count() + name.len() + 4;
        Some(HintRest {
            shown: format!("{name}  {}", self.output.fitted(&word.about, used)),
            name,
        })
    }
}

impl Validator for Typist {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if typed.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Highlighter for Typist {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(self.output.paint_talk(prompt, Tone::Strong))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.output.paint_talk(hint, Tone::Faint))
    }
}

impl Helper for Typist {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_a_sign_is_completed_where_a_skill_could_be_named() {
        let check = |line: &str, expected: Option<(usize, char, &str, bool)>| {
            let found = begun(line, line.len());
            let found = found.map(|word| (word.start, word.sign, word.name, word.is_first));
            assert_eq!(found, expected, "{line:?}");
        };
        check("/rev", Some((0, '/', "rev", true)));
        check("  $rev", Some((2, '$', "rev", true)));
        check("use $", Some((4, '$', "", false)));
        check("é\u{2003}/x", Some((5, '/', "x", false)));
        check("one\n/x", Some((4, '/', "x", false)));
        check("/rev ", None);
        check("a/b", None);
        check("", None);
    }

    #[test]
    fn commands_stand_first_and_hide_skills_of_their_name() {
        let typist = Typist {
            output: Output::json(),
            words: vec![
                CompletionWord::new("help", "The command.", true),
                CompletionWord::new("help", "The skill.", false),
                CompletionWord::new("helper", "Another.", false),
            ],
            active: Vec::new(),
        };
        let check = |line: &str, expected: &[&str]| {
            let begun = begun(line, line.len()).unwrap();
            let found: Vec<&str> = typist.candidates(&begun).map(|word| &*word.about).collect();
            assert_eq!(found, expected, "{line:?}");
        };
        check("/he", &["The command.", "Another."]);
        check("$he", &["The skill.", "Another."]);
        check("use /help", &["The skill.", "Another."]);
        check("/x", &[]);
    }
}
