//! Passes values to a script as separate parameters: the call of a shell.
//!
//! `sh -c SCRIPT metier P1 P2 …`. The first line of the script moves metier's parameters into its own variables and
//! clears them, so that the author's `$1`, `$@`, `$#` and `shift` see none of them. The text depends only on the
//! *number* of words; it contains no byte of a value.
//!
//! ```text
//! __metier_0_0="${1}" __metier_0_1="${2}"; set --
//! gh pr view "${__metier_0_0}" "${__metier_0_1}"
//! ```

use std::fmt;

use super::HostVariable;
use super::script::{Carries, Recipe, ScriptFragment, Slot, variable_name};

/// The maximum length of a parameter: Linux's limit, without the terminating NUL.
pub const MAX_ARGUMENT: usize = 128 * 1024 - 1;

/// The maximum length of all parameters; systems accept one to two megabytes including the environment.
pub const MAX_PARAMETERS: usize = 512 * 1024;

/// The maximum number of argument words that are passed one by one.
const MAX_WORDS: usize = 1000;

/// The values of placeholders.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The arguments as one string.
    pub text: &'a str,
    /// The arguments as words.
    pub words: &'a [String],
    /// The absolute path of the skill's folder.
    pub skill_dir: &'a str,
    /// The absolute path of the project's folder.
    pub project_dir: &'a str,
    /// The session's id; empty if there is none.
    pub session_id: &'a str,
}

/// The call of a shell: `sh -c SCRIPT metier PARAMETERS…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellInvocation {
    /// The script, which contains no values.
    pub script: String,
    /// The values, passed after the script and a name for `$0`.
    pub parameters: Vec<String>,
}

/// Why values can't be passed to a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvocationRefusal {
    /// A value contains a NUL, which can't be passed to a program.
    Nul {
        /// The placeholder as written.
        placeholder: String,
    },
    /// A value, all values, or the script with all its references, is too long.
    TooLong {
        /// The placeholder as written.
        placeholder: String,
    },
    /// There is no word with this index.
    Missing {
        /// The placeholder as written.
        placeholder: String,
        /// The number of words that were given.
        given: usize,
    },
    /// A value would be parsed as an option.
    LooksLikeOption {
        /// The placeholder as written.
        placeholder: String,
        /// The value that starts with `-`.
        value: String,
    },
}

impl fmt::Display for InvocationRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul { placeholder } => write!(
                f,
                "the value of `{placeholder}` contains a NUL, which can't be passed to a program"
            ),
            Self::TooLong { placeholder } => write!(
                f,
                "the value of `{placeholder}` is too long for a command line: at most {MAX_ARGUMENT} bytes and \
                 {MAX_WORDS} words fit"
            ),
            Self::Missing { placeholder, given } => write!(
                f,
                "`{placeholder}` is used in a command, and there {}",
                match given {
                    0 => "are no arguments".to_owned(),
                    1 => "is only 1 argument".to_owned(),
                    more => format!("are only {more} arguments"),
                }
            ),
            Self::LooksLikeOption { placeholder, value } => write!(
                f,
                "the argument `{}` would be read as an option: write `-- {placeholder}` in the command to prevent that",
                short(value)
            ),
        }
    }
}

impl std::error::Error for InvocationRefusal {}

/// A value for display.
fn short(value: &str) -> String {
    let visible = crate::text::visible(value);
    let mut cut: String = visible.chars().take(40).collect();
    if cut.len() < visible.len() {
        cut.push('…');
    }
    cut
}

impl Recipe {
    /// The script and its parameters.
    ///
    /// # Errors
    /// If a value is missing, too long, contains a NUL, or would be parsed as an option.
    pub fn instantiate(&self, values: &Values<'_>) -> Result<ShellInvocation, InvocationRefusal> {
        let mut parameters = Vec::new();
        let mut prologue = String::new();
        let mut counts = Vec::with_capacity(self.slots.len());
        let mut bytes = 0;
        for (number, slot) in self.slots.iter().enumerate() {
            let carried = carried(slot, values)?;
            counts.push(carried.len());
            for (word, value) in carried.iter().enumerate() {
                admit(slot, value)?;
                bytes += value.len();
                let word = (slot.carries == Carries::All).then_some(word);
                let name = variable_name(number, word);
                parameters.push((*value).to_owned());
                prologue.push_str(&format!("{name}=\"${{{}}}\"\n", parameters.len()));
            }
            if bytes > MAX_PARAMETERS {
                return Err(too_long(slot));
            }
        }
        let mut script = prologue;
        if !self.slots.is_empty() {
            script.push_str("set --\n");
        }
        for part in &self.parts {
            match part {
                ScriptFragment::Text(text) => script.push_str(text),
                ScriptFragment::Slot(number) => {
                    let count = counts.get(*number).copied().unwrap_or_default();
                    reference(&self.slots[*number], *number, count, &mut script);
                }
            }
        }
        match self.slots.last() {
            Some(slot) if script.len() > MAX_ARGUMENT => Err(too_long(slot)),
            _ => Ok(ShellInvocation { script, parameters }),
        }
    }
}

fn too_long(slot: &Slot) -> InvocationRefusal {
    InvocationRefusal::TooLong {
        placeholder: slot.placeholder.clone(),
    }
}

/// The values of one slot.
fn carried<'v>(slot: &Slot, values: &Values<'v>) -> Result<Vec<&'v str>, InvocationRefusal> {
    let word = |index: usize| values.words.get(index).map(String::as_str);
    Ok(match slot.carries {
        Carries::All if values.words.len() > MAX_WORDS => return Err(too_long(slot)),
        Carries::All => values.words.iter().map(String::as_str).collect(),
        Carries::Text => vec![values.text],
        Carries::Word(index) => match word(index) {
            Some(value) => vec![value],
            None => {
                return Err(InvocationRefusal::Missing {
                    placeholder: slot.placeholder.clone(),
                    given: values.words.len(),
                });
            }
        },
        Carries::Named(index) => vec![word(index).unwrap_or_default()],
        Carries::Variable(HostVariable::SkillDir) => vec![values.skill_dir],
        Carries::Variable(HostVariable::ProjectDir) => vec![values.project_dir],
        Carries::Variable(HostVariable::SessionId) => vec![values.session_id],
    })
}

fn admit(slot: &Slot, value: &str) -> Result<(), InvocationRefusal> {
    let placeholder = || slot.placeholder.clone();
    if value.contains('\0') {
        return Err(InvocationRefusal::Nul {
            placeholder: placeholder(),
        });
    }
    if value.len() > MAX_ARGUMENT {
        return Err(too_long(slot));
    }
    if slot.option_risk && value.starts_with('-') {
        return Err(InvocationRefusal::LooksLikeOption {
            placeholder: placeholder(),
            value: value.to_owned(),
        });
    }
    Ok(())
}

/// The references to the variables of one slot, in the form that its position requires.
fn reference(slot: &Slot, number: usize, count: usize, script: &mut String) {
    if slot.carries != Carries::All {
        let name = variable_name(number, None);
        let mark = if slot.quoted { "" } else { "\"" };
        script.push_str(&format!("{mark}${{{name}}}{mark}"));
        return;
    }
    if count == 0 && !slot.alone {
        // The text around it must stay one word, and not become a comment or a descriptor.
        script.push_str("\"\"");
    }
    for word in 0..count {
        let gap = if word == 0 { "" } else { " " };
        let name = variable_name(number, Some(word));
        script.push_str(&format!("{gap}\"${{{name}}}\""));
    }
}
