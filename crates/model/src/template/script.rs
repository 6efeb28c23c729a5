//! A command with its placeholders, prepared to run without a value ever becoming shell text.
//!
//! **Problem.** `gh pr view $ARGUMENTS` with the argument `1; rm -rf ~` must look up a strange pull request, and
//! nothing else; `gh pr view 'no $ARGUMENTS'` can't work, since a shell expands nothing in single quotes.
//!
//! **Decision.** Each placeholder becomes a reference to a variable of metier, `${__metier_0}`, and the text is
//! parsed by [`crate::shell`]. Only a reference that the grammar found as a plain part of an argument is accepted,
//! bare or in double quotes; everything else is [`RefusedPlaceholder`], with the reason and an alternative. So a placeholder in
//! an unforeseen position is refused, not run.
//!
//! ```text
//! gh pr view $ARGUMENTS       →  gh pr view "${__metier_0_0}" "${__metier_0_1}"    each word of the user a word
//! git log --grep "$ARGUMENTS" →  git log --grep "${__metier_0}"                    all of it one word
//! echo "$(gh pr view $0)"     →  echo "$(gh pr view "${__metier_0}")"              the inner context counts
//! ```
//!
//! Arguments can't be a program, the value of a variable, the target of a redirect, or program text for another
//! interpreter (`sh -c "… $ARGUMENTS"`): with an interpreter they can only follow program text whose position is certain. Folders and the session id come from the host: they can be part of a
//! program's path, a value or a target, but are quoted too.

use std::fmt;

use super::{BodyPiece, HostVariable, Spellings, Spelt};
use crate::shell::{
    self, NotUnderstood, REFERENCE as PREFIX, RunArguments, ShellLine, ShellWord, SimpleCommand,
    WordPart, Zone,
};

/// More placeholders in one command are not a mistake but an attack.
const MAX_PLACEHOLDERS: usize = 64;

/// A command of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyCommand<'a> {
    /// The source text in the body.
    pub source: &'a str,
    /// The command as written, including placeholders.
    pub text: &'a str,
    /// The command ready to run, or refused.
    pub script: Script,
}

/// The result of preparing a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Every placeholder has a reference.
    Ready(Recipe),
    /// A placeholder is in a position where no value can be inserted safely.
    Refused(RefusedPlaceholder),
}

/// A command without its values; [`Recipe::instantiate`] adds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    pub(super) parts: Vec<ScriptFragment>,
    pub(super) slots: Vec<Slot>,
    text: String,
    unlisted: Option<UnlistedProgram>,
}

/// A program in a command with a value that is not known to treat values as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedProgram {
    /// The first placeholder, as written.
    pub placeholder: String,
    /// The program as written.
    pub program: String,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptFragment {
    /// Text of the author.
    Text(String),
    /// The slot with this number.
    Slot(usize),
}

/// One placeholder in a script, and what is known about its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The value that is inserted.
    pub carries: Carries,
    /// Whether a value that starts with `-` would be parsed as an option: the word starts with it, and no `--` precedes
    /// it.
    pub option_risk: bool,
    /// The placeholder as written.
    pub placeholder: String,
    /// Whether it is in double quotes.
    pub(super) quoted: bool,
    /// Whether it is the whole word, so that no value means no word.
    pub(super) alone: bool,
}

/// The value of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// All words, each as a separate word.
    All,
    /// The whole argument text as one string.
    Text,
    /// The word with this index, counted from zero. A missing one is refused.
    Word(usize),
    /// The named argument at this position. A missing one is empty.
    Named(usize),
    /// A variable of the host.
    Variable(HostVariable),
}

/// A placeholder that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPlaceholder {
    /// The placeholder as written.
    pub placeholder: String,
    /// Why it is refused.
    pub reason: PlaceholderReason,
}

/// Why a placeholder is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderReason {
    /// It is in single quotes.
    SingleQuotes,
    /// It is in `$'…'` quotes.
    DollarQuotes,
    /// It is in a heredoc, whose reader might treat it as code.
    HereDocument,
    /// It is in a comment.
    Comment,
    /// It is in backticks, which remove backslashes.
    Backticks,
    /// It is inside `${…}`.
    Expansion,
    /// It is in `[[ … ]]`, where it might be a pattern.
    Test,
    /// It is (part of) a program's name.
    Program,
    /// It is the value of a variable.
    Assignment,
    /// It is the target of a redirect.
    Redirect,
    /// It is program text, or might become part of it: `sh -c "… $ARGUMENTS"`, `env $ARGUMENTS`.
    Code,
    /// It is not in an argument.
    Elsewhere,
    /// The command uses the names of references.
    Reserved,
    /// There are too many placeholders.
    TooMany,
    /// The command can't be parsed.
    NotUnderstood(NotUnderstood),
}

impl fmt::Display for RefusedPlaceholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.placeholder;
        match self.reason {
            PlaceholderReason::SingleQuotes | PlaceholderReason::DollarQuotes => {
                write!(
                    f,
                    "`{name}` is in single quotes, where a shell expands nothing: use double quotes"
                )?;
                if name.starts_with('$') && !name.starts_with("${") {
                    write!(f, ", or write `\\{name}` to leave it to the command")?;
                }
                Ok(())
            }
            PlaceholderReason::HereDocument => write!(
                f,
                "`{name}` is in a heredoc, whose reader might run it: pass it as an argument, as in \
                 `python3 - \"{name}\" <<'EOF'`"
            ),
            PlaceholderReason::Comment => write!(f, "`{name}` is in a comment: remove it"),
            PlaceholderReason::Backticks => {
                write!(f, "`{name}` is in backticks: write `$(…)` instead")
            }
            PlaceholderReason::Expansion => write!(
                f,
                "`{name}` is inside `${{…}}`: use it as a separate word, `\"{name}\"`"
            ),
            PlaceholderReason::Test => write!(
                f,
                "`{name}` is in `[[ … ]]`, where it might be a pattern: use `[ … \"{name}\" … ]`"
            ),
            PlaceholderReason::Program => write!(
                f,
                "`{name}` is used as the program: write the program, and pass it `{name}` as an argument"
            ),
            PlaceholderReason::Assignment => write!(
                f,
                "`{name}` is the value of a variable: use `\"{name}\"` directly where the variable is used"
            ),
            PlaceholderReason::Redirect => write!(
                f,
                "`{name}` is the target of a redirect: pass it to a program as an argument, as in `cat -- \"{name}\"`"
            ),
            PlaceholderReason::Code => write!(
                f,
                "`{name}` might be run as a program: pass it as an argument to program text that does not contain it, as \
                 in `sh -c 'echo \"$@\"' sh \"{name}\"`"
            ),
            PlaceholderReason::Elsewhere => write!(
                f,
                "`{name}` is not an argument of a command here: use it as a separate word, `\"{name}\"`"
            ),
            PlaceholderReason::Reserved => write!(
                f,
                "the command contains `{PREFIX}`, which `{name}` is replaced by: use another name"
            ),
            PlaceholderReason::TooMany => write!(
                f,
                "the command contains more than {MAX_PLACEHOLDERS} placeholders, `{name}` among them: write a script"
            ),
            PlaceholderReason::NotUnderstood(error) => write!(
                f,
                "the position of `{name}` is unclear, since {error}: write a script, and pass it `\"{name}\"` as an \
                 argument"
            ),
        }
    }
}

impl std::error::Error for RefusedPlaceholder {}

/// A placeholder that has no slot yet.
struct FoundPlaceholder<'a> {
    source: &'a str,
    carries: Carries,
    /// The position of its reference in the text.
    at: usize,
}

impl Script {
    /// Finds the placeholders of a command, and creates a reference for each.
    pub(super) fn prepare(text: &str, spellings: Spellings<'_>) -> Self {
        match recipe(text, spellings) {
            Ok(recipe) => Self::Ready(recipe),
            Err(refused) => Self::Refused(refused),
        }
    }
}

impl BodyCommand<'_> {
    /// Whether it uses arguments: then they need not be appended to the text.
    #[must_use]
    pub fn takes_arguments(&self) -> bool {
        match &self.script {
            Script::Ready(recipe) => {
                let mut slots = recipe.slots.iter();
                slots.any(|slot| !matches!(slot.carries, Carries::Variable(_)))
            }
            Script::Refused(_) => true,
        }
    }
}

impl Recipe {
    /// The script with one reference for each placeholder, not yet quoted; [`Recipe::line`] parses it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The placeholders, in order; the reference of the first is `${__metier_0}`.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The program in it that might run a value. Then an approval of its commands is not enough: it requires an
    /// approval of this exact line.
    #[must_use]
    pub fn unlisted(&self) -> Option<&UnlistedProgram> {
        self.unlisted.as_ref()
    }

    /// Every command that the script would run, with the host's values inserted and arguments left open: `bash
    /// ${METIER_SKILL_DIR}/x.sh $ARGUMENTS` is `bash /skills/a/x.sh` with a dynamic word.
    ///
    /// # Errors
    /// If the script can't be parsed, which only happens to one without placeholders.
    pub fn line(
        &self,
        variable: impl Fn(HostVariable) -> String,
    ) -> Result<ShellLine, NotUnderstood> {
        let mut line = if self.slots.is_empty() {
            shell::parse(&self.text)?
        } else {
            shell::parse_references(&self.text)?
        };
        fill_variables(&mut line, &self.slots, variable);
        Ok(line)
    }
}

fn fill_variables(line: &mut ShellLine, slots: &[Slot], variable: impl Fn(HostVariable) -> String) {
    if slots.is_empty() {
        return;
    }
    let value = |name: &str| match slots.get(slot_number(name)?)?.carries {
        Carries::Variable(known) => Some(variable(known)),
        _ => None,
    };
    for command in &mut line.commands {
        let words = command.words.iter_mut();
        let values = command.assignments.iter_mut().map(|one| &mut one.value);
        let targets = command.redirects.iter_mut().map(|one| &mut one.target);
        for word in words.chain(values).chain(targets) {
            word.fill(value);
        }
    }
}

/// The number in `__metier_7`.
fn slot_number(name: &str) -> Option<usize> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// The variable of a slot, or of one of its words.
pub(super) fn variable_name(slot: usize, word: Option<usize>) -> String {
    match word {
        None => format!("{PREFIX}{slot}"),
        Some(word) => format!("{PREFIX}{slot}_{word}"),
    }
}

fn recipe(text: &str, spellings: Spellings<'_>) -> Result<Recipe, RefusedPlaceholder> {
    let draft = draft(text, |_| true, spellings);
    let Some(first) = draft.found.first() else {
        return Ok(draft.without_slots());
    };
    let refused = |found: &FoundPlaceholder<'_>, reason| RefusedPlaceholder {
        placeholder: found.source.to_owned(),
        reason,
    };
    if text.contains(PREFIX) {
        return Err(refused(first, PlaceholderReason::Reserved));
    }
    if draft.found.len() > MAX_PLACEHOLDERS {
        return Err(refused(first, PlaceholderReason::TooMany));
    }
    let understand = |text: &str| {
        shell::parse_references(text)
            .map_err(|error| refused(first, PlaceholderReason::NotUnderstood(error)))
    };
    let line = understand(&draft.text)?;
    // `awk '{ print $1 }'`: if arguments are not declared, this is not a placeholder.
    let spares: Vec<bool> = draft
        .found
        .iter()
        .map(|found| {
            !spellings.declared
                && matches!(found.carries, Carries::Word(_))
                && !found.source.starts_with("$ARGUMENTS")
                && zone(&line, found.at) == Some(Zone::SingleQuotes)
        })
        .collect();
    if !spares.contains(&true) {
        return draft.placed(&line);
    }
    let kept = |number: usize| !spares.get(number).copied().unwrap_or_default();
    let second = self::draft(text, kept, spellings);
    if second.found.is_empty() {
        return Ok(second.without_slots());
    }
    let line = understand(&second.text)?;
    second.placed(&line)
}

/// A script with references, not checked yet.
struct SlotDraft<'a> {
    parts: Vec<ScriptFragment>,
    text: String,
    found: Vec<FoundPlaceholder<'a>>,
}

/// Replaces the placeholders for which `kept` is true by references.
fn draft<'a>(
    text: &'a str,
    kept: impl Fn(usize) -> bool,
    spellings: Spellings<'_>,
) -> SlotDraft<'a> {
    let mut draft = SlotDraft {
        parts: Vec::new(),
        text: String::new(),
        found: Vec::new(),
    };
    let (mut from, mut at, mut number) = (0, 0, 0);
    while let Some(index) = text[at..].find(['$', '{']).map(|index| at + index) {
        match spellings.at(text, 0, index, text.len()) {
            Spelt::Text => at = index + 1,
            Spelt::Escaped(length) => {
                draft.literal(&text[from..index - 1]);
                from = index;
                at = index + length;
            }
            Spelt::Piece(piece, length) => {
                at = index + length;
                number += 1;
                if let Some(carries) = carries(&piece)
                    && kept(number - 1)
                {
                    draft.literal(&text[from..index]);
                    draft.reference(&text[index..at], carries);
                    from = at;
                }
            }
        }
    }
    draft.literal(&text[from..]);
    draft
}

fn carries(piece: &BodyPiece<'_>) -> Option<Carries> {
    match piece {
        BodyPiece::Arguments => Some(Carries::All),
        BodyPiece::Argument(index, _) => Some(Carries::Word(*index)),
        BodyPiece::Named(index) => Some(Carries::Named(*index)),
        BodyPiece::Variable(variable) => Some(Carries::Variable(*variable)),
        BodyPiece::Prose(_) | BodyPiece::Command(_) | BodyPiece::Read { .. } => None,
    }
}

impl<'a> SlotDraft<'a> {
    fn literal(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n");
        self.text.push_str(&text);
        match self.parts.last_mut() {
            Some(ScriptFragment::Text(before)) => before.push_str(&text),
            _ => self.parts.push(ScriptFragment::Text(text)),
        }
    }

    fn reference(&mut self, source: &'a str, carries: Carries) {
        let number = self.found.len();
        self.found.push(FoundPlaceholder {
            source,
            carries,
            at: self.text.len(),
        });
        self.text
            .push_str(&format!("${{{}}}", variable_name(number, None)));
        self.parts.push(ScriptFragment::Slot(number));
    }

    fn without_slots(self) -> Recipe {
        Recipe {
            parts: self.parts,
            slots: Vec::new(),
            text: self.text,
            unlisted: None,
        }
    }

    /// Assigns a slot to every reference, or refuses.
    fn placed(self, line: &ShellLine) -> Result<Recipe, RefusedPlaceholder> {
        let mut slots: Vec<Slot> = self
            .found
            .iter()
            .map(|found| Slot {
                carries: found.carries,
                option_risk: false,
                placeholder: found.source.to_owned(),
                quoted: false,
                alone: false,
            })
            .collect();
        let mut judged = line.clone();
        // The location of the host's folders does not matter here, only that they are not options.
        fill_variables(&mut judged, &slots, |_| "/".to_owned());
        let places = places(line, slots.len());
        for (number, (found, slot)) in self.found.iter().zip(&mut slots).enumerate() {
            let place = places.get(number).copied().flatten();
            settle(line, &judged, found, place, slot).map_err(|reason| RefusedPlaceholder {
                placeholder: found.source.to_owned(),
                reason,
            })?;
        }
        let value = slots
            .iter()
            .find(|slot| !matches!(slot.carries, Carries::Variable(_)));
        // Commands run in the skill's folder, and relative paths are the author's.
        let mut named = line.clone();
        fill_variables(&mut named, &slots, |variable| match variable {
            HostVariable::SkillDir => ".".to_owned(),
            HostVariable::ProjectDir | HostVariable::SessionId => "/".to_owned(),
        });
        let unlisted = value.and_then(|slot| {
            Some(UnlistedProgram {
                placeholder: slot.placeholder.clone(),
                program: shell::unlisted(&named.commands)?,
            })
        });
        Ok(Recipe {
            parts: self.parts,
            slots,
            text: self.text,
            unlisted,
        })
    }
}

/// The position in which the grammar found a reference.
#[derive(Clone, Copy)]
struct ReferencePlace {
    command: usize,
    role: Role,
    quoted: bool,
    leading: bool,
    alone: bool,
}

#[derive(Clone, Copy)]
enum Role {
    Word(usize),
    Assignment,
    Redirect,
}

fn places(line: &ShellLine, count: usize) -> Vec<Option<ReferencePlace>> {
    let mut places = vec![None; count];
    for (number, command) in line.commands.iter().enumerate() {
        let words = command.words.iter().enumerate();
        let words = words.map(|(at, word)| (Role::Word(at), word));
        let values = command
            .assignments
            .iter()
            .map(|one| (Role::Assignment, &one.value));
        let targets = command
            .redirects
            .iter()
            .map(|one| (Role::Redirect, &one.target));
        for (role, word) in words.chain(values).chain(targets) {
            let mut leading = true;
            for part in word.parts() {
                if let WordPart::Parameter {
                    name,
                    quoted,
                    plain: true,
                } = part
                    && let Some(slot) = slot_number(name)
                    && let Some(place) = places.get_mut(slot)
                {
                    *place = Some(ReferencePlace {
                        command: number,
                        role,
                        quoted: *quoted,
                        leading,
                        alone: word.parts().len() == 1,
                    });
                }
                leading &= !matches!(part, WordPart::Literal { text, .. } if !text.is_empty());
            }
        }
    }
    places
}

/// The innermost zone around a position.
fn zone(line: &ShellLine, at: usize) -> Option<Zone> {
    line.zones
        .iter()
        .filter(|(range, _)| range.contains(&at))
        .min_by_key(|(range, _)| range.len())
        .map(|(_, zone)| *zone)
}

/// Decides on one placeholder.
fn settle(
    line: &ShellLine,
    judged: &ShellLine,
    found: &FoundPlaceholder<'_>,
    place: Option<ReferencePlace>,
    slot: &mut Slot,
) -> Result<(), PlaceholderReason> {
    if let Some(zone) = zone(line, found.at) {
        return Err(match zone {
            Zone::SingleQuotes => PlaceholderReason::SingleQuotes,
            Zone::DollarQuotes => PlaceholderReason::DollarQuotes,
            Zone::HereDocument => PlaceholderReason::HereDocument,
            Zone::Comment => PlaceholderReason::Comment,
            Zone::Backticks => PlaceholderReason::Backticks,
            Zone::Expansion => PlaceholderReason::Expansion,
            Zone::Test => PlaceholderReason::Test,
        });
    }
    let place = place.ok_or(PlaceholderReason::Elsewhere)?;
    let command = judged
        .commands
        .get(place.command)
        .ok_or(PlaceholderReason::Elsewhere)?;
    slot.quoted = place.quoted;
    slot.alone = place.alone;
    if slot.quoted && slot.carries == Carries::All {
        slot.carries = Carries::Text;
    }
    let trusted = matches!(slot.carries, Carries::Variable(_));
    let index = match place.role {
        Role::Word(index) => index,
        Role::Assignment | Role::Redirect if trusted => return Ok(()),
        Role::Assignment => return Err(PlaceholderReason::Assignment),
        Role::Redirect => return Err(PlaceholderReason::Redirect),
    };
    let program = arguments_start(command, index, trusted)?;
    let many = slot.carries == Carries::All;
    let guarded = command
        .words
        .get(program + 1..index)
        .is_some_and(|words| words.iter().any(|word| word.literal() == Some("--")));
    slot.option_risk = !trusted && !guarded && (place.leading || many);
    Ok(())
}

/// The position after which all words are data for a program, given that the word at `index` can be anything.
fn arguments_start(
    command: &SimpleCommand,
    index: usize,
    trusted: bool,
) -> Result<usize, PlaceholderReason> {
    let words: &[ShellWord] = &command.words;
    let mut from = 0;
    loop {
        if index <= from {
            return if trusted {
                Ok(from)
            } else {
                Err(PlaceholderReason::Program)
            };
        }
        let last = match shell::runs(&words[from..]) {
            RunArguments::Nothing => return Ok(from),
            RunArguments::Command { at }
                if !trusted && shell::moves_command(&words[from..from + at]) =>
            {
                return Err(PlaceholderReason::Code);
            }
            RunArguments::Command { at } if index >= from + at || trusted => {
                from += at;
                continue;
            }
            RunArguments::File { .. } | RunArguments::Unclear if trusted => return Ok(from),
            RunArguments::File { at } => from + at,
            RunArguments::Code { until } => from + until,
            RunArguments::Command { .. } | RunArguments::Unclear => {
                return Err(PlaceholderReason::Code);
            }
        };
        return if index > last {
            Ok(last)
        } else {
            Err(PlaceholderReason::Code)
        };
    }
}
