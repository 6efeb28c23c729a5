//! Permission is asked on one thread and given on another, as a page or a client of a server would do it:
//!
//! ```text
//! cargo run -p metier --example approve_from_elsewhere -- SKILL TOOL '{}'
//! ```

use std::{env, error::Error, process::ExitCode, sync::Arc, thread, time::Duration};

use metier::{ApprovalQueue, Reply, SessionOptions, Settings, Workspace};

#[allow(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(code) = metier::worker::run_if_worker() {
        return Ok(code);
    }
    let words: Vec<String> = env::args().skip(1).collect();
    let [skill, tool, input] = words.as_slice() else {
        return Err("usage: SKILL TOOL JSON".into());
    };
    let (skill, tool) = (skill.clone(), tool.clone());
    let input = serde_json::from_str(input)?;
    let queue = ApprovalQueue::new(Duration::from_secs(60));
    let options = SessionOptions {
        approver: Some(Arc::new(queue.clone())),
        ..SessionOptions::default()
    };
    let workspace = Workspace::open(Settings::from_env()?)?;
    let mut session = workspace.session(&workspace.skills()?, options)?;
    let working = thread::spawn(move || {
        session.activate(&skill)?;
        let called = session.call(&tool, &input)?;
        session.end()?;
        Ok::<_, metier::Error>(called.output)
    });
    while !working.is_finished() {
        if let Some(pending) = queue.wait(Duration::from_millis(20)) {
            println!(
                "{} asks for {}",
                pending.skill(),
                pending.wants().join(", ")
            );
            assert!(
                queue.answer(pending.id, Reply::Once),
                "it was open just now"
            );
        }
    }
    let output = working.join().map_err(|_| "the session panicked")??;
    println!("{output}");
    Ok(ExitCode::SUCCESS)
}
