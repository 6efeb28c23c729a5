//! Sessions on 32 threads of one workspace: each activates a skill, calls each of its tools and ends, again and again for SECONDS:
//! `cargo run -p metier --example many_sessions -- 3 greeter`

use std::time::{Duration, Instant};
use std::{env, error::Error, process::ExitCode, thread};

use metier::{SessionOptions, Settings, Skills, Workspace};
use serde_json::json;

const THREADS: usize = 32;

#[allow(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = metier::worker::run_if_worker() {
        return Ok(code);
    }
    let words: Vec<String> = env::args().skip(1).collect();
    let [seconds, names @ ..] = words.as_slice() else {
        return Err("usage: SECONDS SKILL…".into());
    };
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let workspace = Workspace::open(Settings::from_env()?)?;
    let skills = workspace.skills()?;
    let work = |thread: usize| {
        let mut sessions = 0;
        for name in names.iter().cycle().skip(thread) {
            if Instant::now() >= end && sessions > 0 {
                break;
            }
            use_once(&workspace, &skills, name)?;
            sessions += 1;
        }
        Ok::<usize, metier::Error>(sessions)
    };
    let mut sessions = 0;
    thread::scope(|scope| {
        let start = |thread| {
            scope.spawn({
                let work = &work;
                move || work(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        for thread in threads {
            sessions += thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    println!("{sessions}");
    Ok(ExitCode::SUCCESS)
}

fn use_once(workspace: &Workspace, skills: &Skills, name: &str) -> Result<(), metier::Error> {
    let mut session = workspace.session(skills, SessionOptions::default())?;
    session.activate(name)?;
    for tool in session.tools() {
        session.call(&tool.name, &json!({}))?;
    }
    session.end()
}
