//! Prints which skills were added, changed and removed, until none has for SECONDS:
//!
//! ```text
//! cargo run -p metier --example watch -- 60
//! ```

use std::{env, error::Error, time::Duration};

use metier::{Settings, WatchedSkill, Workspace};

#[allow(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).ok_or("usage: SECONDS")?.parse()?;
    let workspace = Workspace::open(Settings::from_env()?)?;
    let mut watch = workspace.watch()?;
    println!("watching {} skills", workspace.skills()?.all().count());
    while let Some(changes) = watch.next(Duration::from_secs(seconds)) {
        let print = |what: &str, skills: &[WatchedSkill]| {
            for skill in skills {
                println!("{what} {}", skill.name);
            }
        };
        print("added", &changes.added);
        print("changed", &changes.changed);
        print("removed", &changes.removed);
    }
    Ok(())
}
