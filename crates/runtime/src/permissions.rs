//! Everything that a skill could request, so that it can be reviewed and answered in advance.

use metier_config::Config;
use metier_model::template::BodyPiece;
use metier_policy::{PermissionRequest, Purpose, RequestedPermission};

use crate::{hooks, render::LoadedSkill, requests};

/// The permissions that rendering the skill would request, and those of running any of its scripts, its code and its hooks.
#[must_use]
pub fn everything(skill: &LoadedSkill, config: &Config) -> PermissionRequest {
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
        running = PermissionRequest::new(scripts.iter().chain(hooked).cloned());
    }
    let rendering = request(Purpose::Render(&commands));
    let asked: Vec<RequestedPermission> = rendering.iter().chain(running.iter()).cloned().collect();
    PermissionRequest::new(asked).with_hooks(hooks::wants(&skill.manifest, &skill.held, &hooks))
}

fn command<'a>(piece: &BodyPiece<'a>) -> Option<&'a str> {
    match piece {
        BodyPiece::Command(command) => Some(command.text),
        _ => None,
    }
}
