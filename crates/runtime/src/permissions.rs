//! Everything that a skill could request, so that it can be reviewed and answered in advance.

use metier_config::Config;
use metier_model::template::Piece;
use metier_policy::{Asked, Purpose, Request};

use crate::{hooks, render::Loaded, requests};

/// What rendering the skill would ask for, and what running any of its scripts, its code and its hooks would.
#[must_use]
pub fn everything(skill: &Loaded, config: &Config) -> Request {
    let pieces = skill.pieces();
    let conditions = skill.condition_commands();
    let commands = pieces.iter().filter_map(command).chain(conditions);
    let commands: Vec<&str> = commands.collect();
    let request = |purpose| requests::requested(skill, purpose, config);
    let has_scripts = skill
        .held
        .files
        .iter()
        .any(|file| file.path.as_path().starts_with("scripts"));
    let hooks = hooks::of(&skill.held);
    let lines: Vec<&str> = hooks.commands.iter().map(|hook| &*hook.command).collect();
    let mut running = request(Purpose::Code(&lines));
    if has_scripts {
        let scripts = request(Purpose::Scripts);
        let hooked = running.iter().filter(|_| !lines.is_empty());
        running = Request::new(scripts.iter().chain(hooked).cloned());
    }
    let rendering = request(Purpose::Render(&commands));
    let asked: Vec<Asked> = rendering.iter().chain(running.iter()).cloned().collect();
    Request::new(asked).with_hooks(hooks::wants(&skill.manifest, &skill.held, &hooks))
}

fn command<'a>(piece: &Piece<'a>) -> Option<&'a str> {
    match piece {
        Piece::Command(command) => Some(command.text),
        _ => None,
    }
}
