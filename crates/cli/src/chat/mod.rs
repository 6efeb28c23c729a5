//! A conversation at the command line: lines in, answers out, until the user leaves.
//!
//! A terminal and a pipe differ in where lines come from and in what Ctrl-C means there; what a line means is the same
//! (`input.rs`). The conversation itself begins with the first line for the model, which is also its title: without one,
//! nothing is written.

mod editor;
mod input;
mod lines;

use std::{io::IsTerminal, os::unix::fs::DirBuilderExt, path::Path, sync::Arc};

use metier::{
    ErrorKind,
    agent::{
        Cancel, Conversation, ConversationOptions, LastExchange, StoredConversation,
        StoredConversations, UsageMode,
    },
    skill::{Inventory, Status},
};

use crate::{
    cli_run::CliRun,
    commands::agent::{AgentTerminal, How, role},
    event_printer::EventPrinter,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};
use editor::{CompletionWord, EditorInput, LineEditor};
use input::{COMMANDS, ChatInput};
use lines::PipedLines;

/// How many lines of the last exchange are shown when a conversation is resumed.
const MAX_SHOWN: usize = 6;

/// Where lines come from.
enum InputSource {
    Terminal(Box<LineEditor>),
    Pipe(PipedLines),
}

/// One run of `metier chat`.
struct Chat<'c> {
    run: &'c CliRun,
    inventory: &'c Inventory,
    cancel: &'c Cancel,
    talk: &'c Arc<EventPrinter>,
    input: InputSource,
    /// Whether the last line came to a good end.
    went_well: bool,
}

/// Holds a new conversation, or continues an earlier one.
pub(crate) fn hold(
    run: &CliRun,
    kept: &StoredConversations,
    resumed: Option<StoredConversation>,
    (orchestrate, mode): (bool, UsageMode),
    how: &How,
) -> Result<Exit, Failure> {
    let skills = run.agent_skills()?;
    let inventory = skills.inventory();
    let terminal = AgentTerminal::open(run, how.format)?;
    let own = resumed.as_ref().map(|one| one.model.clone());
    let model = how.model.clone().or(own);
    // A missing model is reported before the user has typed a message.
    let answers = run.model_name(model.as_deref())?;
    let input = InputSource::open(run, inventory)?;
    let mut chat = Chat {
        run,
        inventory,
        cancel: &terminal.cancel,
        talk: &terminal.talk,
        input,
        went_well: true,
    };
    chat.greet(&answers);
    let first = match &resumed {
        Some(one) => {
            chat.recall(one, &kept.last_exchange(&one.id)?);
            None
        }
        None => match chat.next(None)? {
            Some(line) => Some(line),
            None => return Ok(chat.code()),
        },
    };
    let options = ConversationOptions {
        role: role(orchestrate),
        model,
        skills: run.global.skills.clone(),
        mode,
        resume: resumed.map(|one| one.id),
        ..terminal.options(run, first.as_deref().unwrap_or_default())
    };
    let mut conversation = run.conversation(&skills, options)?;
    let talked = chat.talk(&mut conversation, first);
    conversation.end()?;
    talked
}

/// Makes a folder that only its owner can read.
fn private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

impl InputSource {
    fn open(run: &CliRun, inventory: &Inventory) -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe(PipedLines));
        }
        let history = run.machine().history();
        if let Some(folder) = history.as_deref().and_then(|file| file.parent()) {
            private(folder)?;
        }
        let commands = COMMANDS.iter();
        let commands = commands.map(|(name, about)| CompletionWord::new(name, about, true));
        let skills =
            callable(inventory).map(|(name, about)| CompletionWord::new(&name, about, false));
        let words = commands.chain(skills).collect();
        let keyboard = LineEditor::new(&run.output, words, history)?;
        Ok(Self::Terminal(Box::new(keyboard)))
    }
}

impl Chat<'_> {
    /// Line after line, until there are no more.
    fn talk(
        &mut self,
        conversation: &mut Conversation,
        first: Option<String>,
    ) -> Result<Exit, Failure> {
        let id = conversation.id().to_owned();
        if first.is_none() && conversation.is_unanswered() {
            let line = "the last message was never answered: asking the model again";
            self.talk.screen().line(line);
            self.turn(|| conversation.resume().map(drop));
        }
        // The user pressed Ctrl-C while the conversation was opened.
        let mut next = first.filter(|_| !self.was_stopped());
        loop {
            let line = match next.take() {
                Some(line) => line,
                None => match self.next(Some(conversation))? {
                    Some(line) => line,
                    None => break,
                },
            };
            let stopped = self.turn(|| conversation.send(&line).map(drop));
            // At a terminal the user types what to do instead.
            if stopped && matches!(self.input, InputSource::Pipe(_)) {
                return Err(Failure::interrupted("stopped by Ctrl-C")
                    .hint(format!("resume it with: metier chat --resume {id}")));
            }
        }
        let screen = self.talk.screen();
        screen.line(&format!("resume it with: metier chat --resume {id}"));
        Ok(self.code())
    }

    /// The next line for the model. Commands are handled here.
    fn next(
        &mut self,
        mut conversation: Option<&mut Conversation>,
    ) -> Result<Option<String>, Failure> {
        loop {
            let active = conversation.as_ref().map(|one| one.active());
            let heard = match &mut self.input {
                InputSource::Terminal(keyboard) => keyboard.next(active.unwrap_or_default())?,
                InputSource::Pipe(lines) => lines.next()?,
            };
            let line = match heard {
                EditorInput::End => return Ok(None),
                EditorInput::Interrupt => {
                    self.talk.screen().line("/quit or Ctrl-D leaves");
                    continue;
                }
                EditorInput::Line(line) => line,
            };
            match input::read(&line, self.inventory) {
                ChatInput::Nothing => {}
                ChatInput::Quit => return Ok(None),
                ChatInput::Turn(text) => return Ok(Some(text.to_owned())),
                ChatInput::Help => self.help(),
                ChatInput::Skills => self.show_skills(active.unwrap_or_default()),
                ChatInput::Wrong(failure) => self.complain(&failure),
                ChatInput::Unload(name) => self.unload(conversation.as_deref_mut(), name),
                ChatInput::Compact => self.compact(conversation.as_deref_mut()),
            }
        }
    }

    /// Does something that Ctrl-C can stop, and prints an error; returns whether it was stopped.
    fn turn(&mut self, work: impl FnOnce() -> Result<(), Failure>) -> bool {
        self.cancel.clear();
        match work() {
            Ok(()) => self.went_well = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                self.went_well = false;
                self.talk.screen().stopped();
                let line = "stopped; everything done so far is kept";
                self.talk.screen().line(line);
                return true;
            }
            // A program got an event about it.
            Err(_) if !self.talk.is_for_people() => self.went_well = false,
            Err(error) => self.complain(&error),
        }
        false
    }

    /// Whether Ctrl-C was pressed before a message was sent.
    fn was_stopped(&mut self) -> bool {
        let stopped = self.cancel.is_cancelled();
        if stopped {
            self.cancel.clear();
            self.went_well = false;
            self.talk
                .screen()
                .line("stopped; nothing was sent to the model");
        }
        stopped
    }

    fn unload(&mut self, conversation: Option<&mut Conversation>, name: &str) {
        match conversation {
            Some(conversation) => {
                self.turn(|| conversation.unload(name));
            }
            None => self.complain(
                &Failure::unmet("not-active", "no skill is active yet")
                    .hint("/NAME or $NAME loads one; /skills shows them"),
            ),
        }
    }

    fn compact(&mut self, conversation: Option<&mut Conversation>) {
        let mut shortened = false;
        let stopped = conversation.is_some_and(|conversation| {
            self.turn(|| conversation.compact().map(|done| shortened = done))
        });
        if !shortened && !stopped && self.went_well {
            self.talk.screen().say("there is nothing to compact yet");
        }
    }

    fn help(&self) {
        let screen = self.talk.screen();
        for (name, about) in COMMANDS {
            screen.say(&format!("/{name:<8} {about}"));
        }
        for line in [
            "/NAME or $NAME loads a skill; the rest of the line is its arguments",
            "$NAME also loads a skill whose name is a command, such as $help",
            "a line that ends with \\ continues on the next; pasted text may have several lines",
            "Ctrl-C stops the answer, a second Ctrl-C ends the program; Ctrl-D leaves",
        ] {
            screen.say(line);
        }
    }

    fn show_skills(&self, active: &[String]) {
        let (output, screen) = (&self.run.output, self.talk.screen());
        for name in active {
            let mark = output.paint_talk("active", Tone::Good);
            screen.say(&format!("{mark}  {}", one_line(name)));
        }
        let mut is_empty = active.is_empty();
        for (name, about) in callable(self.inventory) {
            if !active.contains(&name) {
                let about = output.fitted(about, name.len() + 3);
                screen.say(&format!("/{}  {about}", one_line(&name)));
                is_empty = false;
            }
        }
        if is_empty {
            screen.say("no skills; `metier list --all` shows why");
        }
    }

    fn complain(&mut self, failure: &Failure) {
        self.went_well = false;
        let output = &self.run.output;
        for line in crate::failure::lines(failure, |word, tone| output.paint_talk(word, tone)) {
            self.talk.screen().say(&line);
        }
    }

    fn greet(&self, model: &str) {
        if matches!(self.input, InputSource::Terminal(_)) {
            let line = format!("{model}; /help lists what you can type");
            self.faint(&line);
        }
    }

    /// The position in the conversation.
    fn recall(&self, one: &StoredConversation, last: &LastExchange) {
        if !self.talk.is_for_people() {
            return;
        }
        self.faint(&format!("{}  {}", one.last_at, one_line(&one.title)));
        for (who, text) in [("> ", &last.message), ("", &last.answer)] {
            let text = text.as_deref().unwrap_or_default();
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            for line in lines.clone().take(MAX_SHOWN) {
                self.faint(&format!("{who}{}", self.run.output.fitted(line, who.len())));
            }
            if lines.count() > MAX_SHOWN {
                self.faint("…");
            }
        }
    }

    fn faint(&self, line: &str) {
        let line = self.run.output.paint_talk(line, Tone::Faint);
        self.talk.screen().line(&line);
    }

    /// Programs need to know how the last turn ended; a user has seen it.
    fn code(&self) -> Exit {
        let failed = !self.went_well && matches!(self.input, InputSource::Pipe(_));
        Exit::unmet_if(failed)
    }
}

/// The skills that a person can call by name now, with what they are about.
fn callable(inventory: &Inventory) -> impl Iterator<Item = (String, &str)> {
    let ready = inventory.skills.iter();
    let ready = ready.filter(|skill| skill.status == Status::Ready);
    ready.filter_map(|skill| {
        let entry = inventory.entry(skill);
        let card = entry.card.as_ref()?;
        card.user_invocable
            .then(|| (entry.name().into_owned(), &*card.description))
    })
}
