//! Sessions on 32 threads of one workspace: each activates a skill, calls each of its tools and ends, again and again for SECONDS.
//!
//! ```text
//! cargo run -p metier --example many_sessions -- 3 greeter
//! ```

use std::{
    env,
    error::Error,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

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
    let done: Vec<Result<usize, metier::Error>> = thread::scope(|scope| {
        let work = |thread: usize| {
            let (workspace, skills) = (workspace.clone(), skills.clone());
            scope.spawn(move || {
                let mut sessions = 0;
                for name in names.iter().cycle().skip(thread) {
                    if Instant::now() >= end && sessions > 0 {
                        break;
                    }
                    use_once(&workspace, &skills, name)?;
                    sessions += 1;
                }
                Ok(sessions)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(work).collect();
        let joined = threads.into_iter().filter_map(|thread| thread.join().ok());
        joined.collect()
    });
    let sessions: usize = done.into_iter().sum::<Result<usize, _>>()?;
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
