//! The cost of a turn apart from the model, for `cargo xtask bench agent`: each line is a name and a number.
//!
//! `turns METIER SKILLS FOLDER [TURNS]` needs the program, which interprets Starlark, a folder of skills, and an empty folder on a
//! disk. The model's answer is prepared, but the bytes of every request are still built. Turns are as long as they are in
//! practice, so that the conversation fills its window, is summarised, and fills it again.

mod disk;
#[path = "../../../runtime/benches/environment/mod.rs"]
mod environment;
mod ready;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use metier_agent::{
    AgentConversation, AgentEvent, Budget, BudgetLimits, Cancel, ConversationPlan, ErrorReport,
    EventListener, ReportedEvent, SharedResources, open,
};
use metier_store::NewConversation;

use disk::{Disk, NOW};
use environment::{Error, Outcome, tell};
use ready::{Ready, behind_http, chosen, words};

const QUESTION_BYTES: usize = 500;
const ANSWER_BYTES: usize = 2_000;
const SKILLS: usize = 1_000;
/// Four fifths of the window's 150,000 tokens are used before the conversation is summarised.
const FULL_TOKENS: usize = 110_000;

/// A skill of the usual size.
const GREETER: &str = r#"
GREETINGS = {"en": "Hello", "de": "Hallo", "fr": "Bonjour"}

def greet(input):
    who = input["who"].strip()
    return {"text": GREETINGS[input.get("language", "en")] + ", " + who}

register_tool(
    "greet",
    "Greets someone.",
    greet,
    input_schema = {
        "type": "object",
        "required": ["who"],
        "properties": {"who": {"type": "string"}, "language": {"enum": ["en", "de", "fr"]}},
    },
)
"#;

fn main() -> Outcome {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let places: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    let (metier, skills, folder, turns) = match places.as_slice() {
        [metier, skills, folder] => (*metier, *skills, *folder, 1_000),
        [metier, skills, folder, turns] => {
            let turns = turns.to_str().ok_or("TURNS is no number")?;
            (*metier, *skills, *folder, turns.parse()?)
        }
        _ => return Err("usage: turns METIER SKILLS FOLDER [TURNS]".into()),
    };
    let own = folder.join("skills");
    write_greeter(&own.join("greeter"))?;
    let model = Arc::new(Ready::new(words(ANSWER_BYTES))?);
    let roots = [own.as_path(), skills];
    let approved = ["core-tools", "greeter"];
    let agent_environment = Disk::new(metier, folder, &roots, &approved, chosen(model.clone())?)?;
    let agent_environment = Arc::new(agent_environment);
    let ready = agent_environment.ready();
    if ready < SKILLS {
        return Err(format!("{ready} skills are ready, which is less than {SKILLS}").into());
    }
    tell("skills", number(ready));
    lines(&agent_environment)?;
    conversation(&agent_environment, &model, turns)?;
    calls(&agent_environment, &model, turns / 4)?;
    let provider = behind_http(&words(ANSWER_BYTES))?;
    let agent_environment = Arc::new(agent_environment.with(chosen(Arc::new(provider))?));
    over_http(&agent_environment, turns / 4)
}

fn write_greeter(folder: &Path) -> Outcome {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("skill.star"), GREETER)?;
    let manifest = "name: greeter\nversion: 1.0.0\ndescription: Greets people.\ntypes: [tool]\n\
                    implementation:\n  backend: starlark\n  entrypoint: skill.star\n";
    Ok(fs::write(folder.join("SKILL.yaml"), manifest)?)
}

/// The minimum that every turn needs: a question and an answer in the store.
fn lines(agent_environment: &Disk) -> Outcome {
    let store = agent_environment.store()?;
    let (id, at) = ("00000000000000ff", NOW);
    store.begin_conversation(&NewConversation {
        id,
        at,
        folder: "/",
        model: "openai/ready",
        title: "",
        parent: None,
    })?;
    let (question, answer) = (words(QUESTION_BYTES), words(ANSWER_BYTES));
    let mut after = 0;
    let mut times = Times::default();
    for _ in 0..1_000 {
        times.take(|| {
            after = store.append_lines(id, after, at, &[&question])?;
            after = store.append_lines(id, after, at, &[&answer])?;
            Ok::<(), Error>(())
        })?;
    }
    tell("lines_us", times.part(50));
    Ok(())
}

/// A long conversation: how long its turns take, and how much of it is kept.
fn conversation(agent_environment: &Arc<Disk>, model: &Ready, turns: usize) -> Outcome {
    let heard = Arc::new(Heard::default());
    let start = Instant::now();
    with_conversation(agent_environment, &heard, |conversation| {
        tell("open_ms", start.elapsed().as_secs_f64() * 1e3);
        let question = words(QUESTION_BYTES);
        for _ in 0..10 {
            conversation.turn(&question)?;
        }
        tell(
            "request_kb",
            number(model.sent.load(Ordering::Relaxed)) / 1e3,
        );
        tell("prompt_us", prompt(conversation)?);
        Held::now()?.tell("before");
        let (mut times, mut was_full) = (Times::default(), false);
        for _ in 0..turns {
            times.take(|| conversation.turn(&question))?;
            // Once while it grows, when it is nearly at its maximum.
            if !was_full && conversation.conversation().tokens() > FULL_TOKENS {
                was_full = true;
                tell(
                    "full_request_kb",
                    number(model.sent.load(Ordering::Relaxed)) / 1e3,
                );
                tell("full_prompt_us", prompt(conversation)?);
            }
        }
        Held::now()?.tell("after");
        times.tell("turn");
        tell("compacted", number(heard.compacted.load(Ordering::Relaxed)));
        Ok(())
    })
}

/// How long building a request takes, as at the start of a turn.
fn prompt(conversation: &mut AgentConversation) -> Result<f64, Error> {
    let mut times = Times::default();
    for _ in 0..500 {
        times.take(|| conversation.preview())?;
    }
    Ok(times.part(50))
}

/// Turns in which the model calls a tool of a skill before it answers.
fn calls(agent_environment: &Arc<Disk>, model: &Ready, turns: usize) -> Outcome {
    model.calls.store(true, Ordering::Relaxed);
    let heard = Arc::new(Heard::default());
    with_conversation(agent_environment, &heard, |conversation| {
        let mut times = Times::default();
        for _ in 0..turns {
            times.take(|| conversation.turn("Greet Ada."))?;
        }
        times.tell("call_turn");
        Ok(())
    })?;
    match heard.answered.load(Ordering::Relaxed) {
        answered if answered == turns => Ok(()),
        answered => Err(format!("{answered} of {turns} calls were answered well").into()),
    }
}

/// Turns whose requests go to a server on this machine.
fn over_http(agent_environment: &Arc<Disk>, turns: usize) -> Outcome {
    with_conversation(agent_environment, &Arc::default(), |conversation| {
        let mut times = Times::default();
        for _ in 0..turns {
            times.take(|| conversation.turn("What is new?"))?;
        }
        times.tell("http_turn");
        Ok(())
    })
}

fn with_conversation(
    agent_environment: &Arc<Disk>,
    heard: &Arc<Heard>,
    work: impl FnOnce(&mut AgentConversation) -> Outcome,
) -> Outcome {
    let limits = BudgetLimits {
        requests: 100,
        calls: 100,
        tokens: 0,
    };
    let shared = SharedResources {
        budget: Arc::new(Budget::new(limits)),
        cancel: Cancel::new(),
        listener: Arc::clone(heard) as _,
    };
    let plan = ConversationPlan {
        skills: vec!["greeter".to_owned()],
        ..ConversationPlan::default()
    };
    let in_words = |report: ErrorReport| Error::from(report.to_string());
    let mut conversation = open(
        &Arc::new(agent_environment.context()),
        agent_environment.runtime().map_err(in_words)?,
        shared,
        plan,
    )
    .map_err(in_words)?;
    work(&mut conversation)?;
    conversation.end().map_err(in_words)
}

/// A listener that only counts.
#[derive(Default)]
struct Heard {
    compacted: AtomicUsize,
    answered: AtomicUsize,
}

impl EventListener for Heard {
    fn hear(&self, told: &ReportedEvent) {
        let count = match &told.event {
            AgentEvent::Compacted { .. } => &self.compacted,
            AgentEvent::ToolResult {
                is_error: false, ..
            } => &self.answered,
            _ => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long each piece of work took, in microseconds.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn take<T, E: ToString>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
        let start = Instant::now();
        let done = work();
        self.0.push(start.elapsed().as_secs_f64() * 1e6);
        done.map_err(|error| error.to_string().into())
    }

    /// The percentile of the times.
    fn part(&self, percent: usize) -> f64 {
        let mut times = self.0.clone();
        times.sort_by(f64::total_cmp);
        let place = times.len() * percent / 100;
        times
            .get(place.min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    }

    fn tell(&self, name: &str) {
        tell(&format!("{name}_us"), self.part(50));
        tell(&format!("{name}_p95_us"), self.part(95));
        tell(&format!("{name}_max_us"), self.part(100));
    }
}

/// The memory of this process.
struct Held {
    memory_mb: f64,
    threads: usize,
    descriptors: usize,
}

impl Held {
    fn now() -> Result<Self, Error> {
        let status = fs::read_to_string("/proc/self/status")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: f64 = kib.ok_or("its memory is not told")?.parse()?;
        Ok(Self {
            memory_mb: kib / 1024.0,
            threads: fs::read_dir("/proc/self/task")?.count(),
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
        })
    }

    fn tell(&self, when: &str) {
        tell(&format!("memory_{when}_mb"), self.memory_mb);
        tell(&format!("threads_{when}"), number(self.threads));
        tell(&format!("descriptors_{when}"), number(self.descriptors));
    }
}

#[allow(clippy::cast_precision_loss, reason = "they are small")]
fn number(count: usize) -> f64 {
    count as f64
}
