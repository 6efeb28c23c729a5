//! `metier mcp`

use std::{io::IsTerminal, process::ExitCode};

use metier::ShowOptions;
use metier_catalog::{Entry, Resource};
use metier_model::{Source, text::shell_word};
use metier_runtime::{Inventory, Status, prompt, render::Arguments};
use metier_server::{Answer, Refusal, Reply, ServeError, Skills, Wanted, serve};
use metier_wire::List;

use crate::{
    cli::Global,
    commands::{find_usable, list, not_ready, read, scan, show},
    failure::Failure,
    machine::Machine,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Serve the skills to an agent, over MCP on stdin and stdout
///
/// Started by the agent, not by you. Most agents take this in their MCP configuration, such as `.mcp.json` (Claude
/// Code) or `.cursor/mcp.json` (Cursor):
///
/// {"mcpServers": {"metier": {"command": "metier", "args": ["mcp"]}}}
///
/// The model gets four tools: list_skills, activate_skill, read_skill_resource and scan_skill. Nobody can be asked
/// for permission there: what a skill needs is approved before, with `metier permissions NAME --approve`, in the
/// configuration, or with `--approve-skills` behind `mcp`. Other flags work too, such as `--root DIR` for the skills of one folder.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(
    global: &Global,
    machine: &Machine,
    output: &Output,
    _args: &Args,
) -> Result<ExitCode, Failure> {
    if std::io::stdin().is_terminal() {
        output.note(&format!(
            "{} waiting for an MCP client on stdin; `metier mcp --help` says how an agent starts this",
            output.paint_talk("note:", Tone::Note)
        ));
    }
    let served = Served {
        global: global.clone(),
        machine: machine.clone(),
        output: Output::unattended(global),
    };
    serve(served).map_err(failure)?;
    Ok(ExitCode::SUCCESS)
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Os(error) => {
            Failure::broken("server", format!("the server can't be started: {error}"))
        }
        error => Failure::unmet("no-client", error.to_string())
            .hint("this is started by an agent: `metier mcp --help` says how"),
    }
}

/// What the model is told at the start, at most.
const BUDGET: usize = 2_000;
const MAX_SKILLS: usize = 100;

/// With more folders than this there is no catalog.
const TOO_MANY: usize = 1_000;
const CROWDED: &str = "There are more skills than can be named here: call list_skills.\n";

/// How many skills are named in the text of a list; the document has them all.
const MAX_ROWS: usize = 500;

/// The skills as every question finds them: the configuration and the folders are read anew each time.
struct Served {
    global: Global,
    machine: Machine,
    output: Output,
}

impl Served {
    fn session<T>(&self, work: impl FnOnce(&Session) -> Result<T, Failure>) -> Result<T, Refusal> {
        let machine = self.machine.now();
        let session = Session::open(&self.global, &machine, &self.output);
        session
            .and_then(|session| work(&session))
            .map_err(|failure| refusal(&failure))
    }
}

impl Skills for Served {
    fn catalog(&self) -> Option<String> {
        let listed = self.session(|session| {
            // A catalog of so many would name next to none of them, and the client waits for it.
            if session.is_crowded(TOO_MANY)? {
                return Ok(Some(CROWDED.to_owned()));
            }
            Ok(catalog(session, &session.inventory()?))
        });
        listed.ok().flatten()
    }

    fn list(&self, wanted: &Wanted) -> Answer {
        self.session(|session| list(session, wanted))
    }

    fn activate(&self, name: &str, arguments: &str) -> Answer {
        self.session(|session| {
            let inventory = session.inventory()?;
            let entry = for_models(session, &inventory, name)?;
            let arguments = Arguments::from_text(arguments);
            let how = ShowOptions::default();
            let document = show::document(session.show(&inventory, entry, &arguments, how)?);
            Ok(Reply::framed(&document, &document.content))
        })
    }

    fn read(&self, name: &str, path: &str) -> Answer {
        self.session(|session| {
            let inventory = session.inventory()?;
            let entry = for_models(session, &inventory, name)?;
            let resource = session.resource(&inventory, entry, path)?;
            let document = read::document(entry.name().into_owned(), path, &resource);
            let text = match &resource {
                Resource::Text(text) => text.clone(),
                Resource::Binary(bytes) => format!(
                    "`{}` is not text ({}); it lies at {}\n",
                    one_line(path),
                    count(bytes.len(), "byte"),
                    one_line(&entry.place.path().join(path).to_string_lossy())
                ),
            };
            Ok(Reply::new(&document, &text))
        })
    }

    fn scan(&self, name: &str) -> Answer {
        self.session(|session| {
            let (document, text) = scan::named(session, name)?;
            Ok(Reply::new(&document, &text))
        })
    }
}

fn refusal(failure: &Failure) -> Refusal {
    let lines = crate::failure::lines(failure, |word, _| word.to_owned());
    Refusal::new(
        &crate::failure::document(failure),
        &(lines.join("\n") + "\n"),
    )
}

/// The skills that a model may choose, within a budget that leaves room for the conversation.
fn catalog(session: &Session, inventory: &Inventory) -> Option<String> {
    let configured = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
    let wanted = &session.config.prompt;
    let options = prompt::Options {
        max_skills: configured(wanted.max_skills).unwrap_or(MAX_SKILLS),
        budget: Some(configured(wanted.budget).unwrap_or(BUDGET)),
        bare: true,
        unscanned_locations: false,
        ..prompt::Options::default()
    };
    let listing = prompt::listing(inventory, &options);
    let mut text = prompt::write(&listing.lines, &options);
    if listing.omitted > 0 {
        let more = count(listing.omitted, "more skill");
        text.push_str(&format!("There are {more}: call list_skills.\n"));
    }
    (!text.is_empty()).then_some(text)
}

fn list(session: &Session, wanted: &Wanted) -> Result<Reply, Failure> {
    let mut inventory = session.inventory()?;
    inventory.withhold_blocked_words();
    if let Some(word) = &wanted.source {
        let source: Source = word.parse().map_err(|error: metier_model::UnknownWord| {
            Failure::broken("usage", error.to_string())
        })?;
        list::keep(&mut inventory, source);
    }
    let counts = inventory.counts();
    if !wanted.all {
        let Inventory {
            catalog, skills, ..
        } = &mut inventory;
        let for_models =
            |entry: &Entry| entry.card.as_ref().is_some_and(|card| card.model_invocable);
        skills.retain(|skill| list::is_shown(skill) && for_models(&catalog.entries[skill.entry]));
    }
    let mut document = Vec::new();
    List(&inventory).write_with(counts, &mut document)?;
    let all = inventory.skills.len();
    inventory.skills.truncate(MAX_ROWS);
    let mut text = list::table(&inventory, true, &session.output);
    match all {
        0 => text.push_str("no skills\n"),
        all if all > MAX_ROWS => text.push_str(&format!(
            "\n… and {} more: the structured content has them all, `source` asks for fewer\n",
            all - MAX_ROWS
        )),
        _ => {}
    }
    Ok(Reply::written(&document, &text))
}

/// A skill that a model may use: what its author keeps for people is refused, whatever way it is asked for.
fn for_models<'i>(
    session: &Session,
    inventory: &'i Inventory,
    name: &str,
) -> Result<&'i Entry, Failure> {
    let skill = find_usable(session, inventory, name)?;
    let entry = inventory.entry(skill);
    if skill.status == Status::NotReady {
        return Err(not_ready(skill, &entry.name()));
    }
    if entry.card.as_ref().is_some_and(|card| card.model_invocable) {
        return Ok(entry);
    }
    let name = entry.name();
    let message = format!("skill `{name}` is started by people only, its author says");
    let word = shell_word(&name);
    Err(Failure::unmet("not-for-models", message)
        .skill(&*name)
        .hint(format!("a person can see it with: metier show {word}")))
}
