//! A conversation at the command line: lines in, answers out, until somebody leaves.
//!
//! A terminal and a pipe differ in where lines come from and in what Ctrl-C means there; what a line means is the same
//! (`words.rs`). The conversation itself begins with the first line for the model, which is also its title: whoever only looks
//! around leaves nothing behind.

mod editor;
mod lines;
mod words;

use std::{io::IsTerminal, process::ExitCode, sync::Arc};

use metier_agent::{Ground, Plan, Report, Session as Conversing, open};
use metier_runtime::{Inventory, Status};
use metier_store::Conversation;

use crate::{
    agents::{self, Agents},
    commands::agent::{How, role},
    conversations::{Conversations, Exchange},
    failure::Failure,
    interrupt, office,
    output::{Tone, one_line},
    session::Session,
    talk::Talk,
};
use editor::{Heard, Keyboard, Word};
use lines::Lines;
use words::{COMMANDS, Said};

/// How much of the last exchange is shown when a conversation goes on.
const MAX_SHOWN: usize = 6;

/// Where lines come from.
enum Input {
    Terminal(Box<Keyboard>),
    Pipe(Lines),
}

/// One run of `metier chat`.
struct Chat<'c> {
    session: &'c Session,
    inventory: &'c Inventory,
    agents: &'c Arc<Agents>,
    talk: &'c Arc<Talk>,
    input: Input,
    /// Whether the last line came to a good end.
    went_well: bool,
}

/// Holds a conversation, a new one or one that goes on.
pub(crate) fn hold(
    session: &Session,
    kept: &Conversations,
    resumed: Option<Conversation>,
    (orchestrate, mode): (bool, metier_select::Mode),
    how: &How,
) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.agent_inventory()?);
    let talk = Talk::new(&session.output, how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    let own = resumed.as_ref().map(|one| one.model.clone());
    let model = how.model.clone().or(own);
    // Better now than when somebody has written a page.
    let chosen = agents.model(model.as_deref()).map_err(agents::failure)?;
    let input = Input::open(session, &inventory)?;
    let mut chat = Chat {
        session,
        inventory: &inventory,
        agents: &agents,
        talk: &talk,
        input,
        went_well: true,
    };
    chat.greet(&chosen.name.to_string());
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
    let plan = Plan {
        role: role(session, orchestrate),
        model,
        skills: session.global.skills.clone(),
        mode,
        resume: resumed.map(|one| one.id),
        ..first.as_deref().map(Plan::about).unwrap_or_default()
    };
    let shared = agents.shared(Arc::clone(&talk) as _);
    let opened = open(&agents.ground(), shared, plan);
    let mut conversing = opened.map_err(agents::failure)?;
    let talked = chat.talk(&mut conversing, first);
    conversing.end().map_err(agents::failure)?;
    talked
}

impl Input {
    fn open(session: &Session, inventory: &Inventory) -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe(Lines));
        }
        let history = session.machine.history();
        if let Some(folder) = history.as_deref().and_then(|file| file.parent()) {
            office::private(folder.to_owned())?;
        }
        let commands = COMMANDS.iter();
        let commands = commands.map(|(name, about)| Word::new(name, about, true));
        let skills = callable(inventory).map(|(name, about)| Word::new(&name, about, false));
        let words = commands.chain(skills).collect();
        let keyboard = Keyboard::new(&session.output, words, history)?;
        Ok(Self::Terminal(Box::new(keyboard)))
    }
}

impl Chat<'_> {
    /// Line after line, until there are no more.
    fn talk(
        &mut self,
        conversing: &mut Conversing,
        first: Option<String>,
    ) -> Result<ExitCode, Failure> {
        let id = conversing.id().to_owned();
        if first.is_none() && conversing.is_unanswered() {
            let line = "the last turn was never answered: the model is asked again";
            self.talk.screen().line(line);
            self.turn(|| conversing.go_on().map(drop));
        }
        // Somebody had enough while the session was opened, and was asked for permission.
        let mut next = first.filter(|_| !self.was_stopped());
        loop {
            let line = match next.take() {
                Some(line) => line,
                None => match self.next(Some(conversing))? {
                    Some(line) => line,
                    None => break,
                },
            };
            let stopped = self.turn(|| conversing.turn(&line).map(drop));
            // At a terminal somebody is there to say what comes instead.
            if stopped && matches!(self.input, Input::Pipe(_)) {
                return Err(Failure::interrupted("stopped by Ctrl-C")
                    .hint(format!("resume it with: metier chat --resume {id}")));
            }
        }
        let screen = self.talk.screen();
        screen.line(&format!("resume it with: metier chat --resume {id}"));
        Ok(self.code())
    }

    /// The next line for the model. Everything else is dealt with on the way.
    fn next(&mut self, mut conversing: Option<&mut Conversing>) -> Result<Option<String>, Failure> {
        loop {
            let active = conversing.as_ref().map(|one| one.conversation().active());
            let heard = match &mut self.input {
                Input::Terminal(keyboard) => keyboard.next(active.unwrap_or_default())?,
                Input::Pipe(lines) => lines.next()?,
            };
            let line = match heard {
                Heard::End => return Ok(None),
                Heard::Interrupt => {
                    self.talk.screen().line("/quit or Ctrl-D leaves");
                    continue;
                }
                Heard::Line(line) => line,
            };
            match words::read(&line, self.inventory) {
                Said::Nothing => {}
                Said::Quit => return Ok(None),
                Said::Turn(text) => return Ok(Some(text.to_owned())),
                Said::Help => self.help(),
                Said::Skills => self.show_skills(active.unwrap_or_default()),
                Said::Wrong(failure) => self.complain(&failure),
                Said::Unload(name) => self.unload(conversing.as_deref_mut(), name),
                Said::Compact => self.compact(conversing.as_deref_mut()),
            }
        }
    }

    /// Does something that Ctrl-C may stop, and says what went wrong; whether it was stopped.
    fn turn(&mut self, work: impl FnOnce() -> Result<(), Report>) -> bool {
        let cancel = self.agents.cancel();
        cancel.clear();
        let done = work();
        let stopped = done.is_err() && cancel.is_cancelled();
        cancel.clear();
        match done {
            Ok(()) => self.went_well = true,
            Err(_) if stopped => {
                self.went_well = false;
                self.talk.screen().stopped();
                let line = "stopped; what was done until then is kept";
                self.talk.screen().line(line);
            }
            // A program was told by an event.
            Err(_) if !self.talk.is_for_people() => self.went_well = false,
            Err(report) => self.complain(&agents::failure(report)),
        }
        stopped
    }

    /// Whether Ctrl-C was pressed before anything was under way.
    fn was_stopped(&mut self) -> bool {
        let stopped = self.agents.cancel().is_cancelled();
        if stopped {
            self.agents.cancel().clear();
            self.went_well = false;
            self.talk
                .screen()
                .line("stopped; nothing was said to the model");
        }
        stopped
    }

    fn unload(&mut self, conversing: Option<&mut Conversing>, name: &str) {
        match conversing {
            Some(conversing) => {
                self.turn(|| conversing.unload(name));
            }
            None => self.complain(
                &Failure::unmet("not-active", "no skill is active yet")
                    .hint("/NAME or $NAME loads one; /skills shows them"),
            ),
        }
    }

    fn compact(&mut self, conversing: Option<&mut Conversing>) {
        let mut shortened = false;
        let stopped = conversing.is_some_and(|conversing| {
            self.turn(|| conversing.compact_now().map(|done| shortened = done))
        });
        if !shortened && !stopped && self.went_well {
            self.talk.screen().say("there is nothing to leave out yet");
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
        let (output, screen) = (&self.session.output, self.talk.screen());
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
        let output = &self.session.output;
        for line in crate::failure::lines(failure, |word, tone| output.paint_talk(word, tone)) {
            self.talk.screen().say(&line);
        }
    }

    fn greet(&self, model: &str) {
        if matches!(self.input, Input::Terminal(_)) {
            let line = format!("{model}; /help lists what you can type");
            self.faint(&line);
        }
    }

    /// Where the conversation stood.
    fn recall(&self, one: &Conversation, last: &Exchange) {
        if !self.talk.is_for_people() {
            return;
        }
        self.faint(&format!("{}  {}", one.last_at, one_line(&one.title)));
        for (who, text) in [("> ", &last.said), ("", &last.answered)] {
            let text = text.as_deref().unwrap_or_default();
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            for line in lines.clone().take(MAX_SHOWN) {
                self.faint(&format!(
                    "{who}{}",
                    self.session.output.fitted(line, who.len())
                ));
            }
            if lines.count() > MAX_SHOWN {
                self.faint("…");
            }
        }
    }

    fn faint(&self, line: &str) {
        let line = self.session.output.paint_talk(line, Tone::Faint);
        self.talk.screen().line(&line);
    }

    /// A program wants to know how the last turn went; a person has seen it.
    fn code(&self) -> ExitCode {
        let failed = !self.went_well && matches!(self.input, Input::Pipe(_));
        ExitCode::from(u8::from(failed))
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
