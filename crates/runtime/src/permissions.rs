//! Everything that a skill could ask for, so that it can be looked at and answered in advance.

use metier_catalog::Snapshot;
use metier_model::{
    Manifest,
    template::{self, Piece, Placeholders},
};
use metier_policy::{Asked, Purpose, Request};

/// What rendering the skill would ask for, and what running any of its scripts would.
#[must_use]
pub fn everything(manifest: &Manifest, body: &str, held: &Snapshot, variables: &[&str]) -> Request {
    let invocation = &manifest.invocation;
    let pieces = template::parse(
        body,
        Placeholders {
            names: &invocation.arguments,
            declared: invocation.argument_hint.is_some() || !invocation.arguments.is_empty(),
        },
    );
    let commands: Vec<&str> = pieces.iter().filter_map(command).collect();
    let rendering = Request::of(manifest, Purpose::Render(&commands), variables);
    let has_scripts = held
        .files
        .iter()
        .any(|file| file.path.starts_with("scripts/"));
    let running = if has_scripts {
        Request::of(manifest, Purpose::Scripts, variables)
    } else {
        Request::of(manifest, Purpose::Code, &[])
    };
    let asked: Vec<Asked> = rendering.iter().chain(running.iter()).cloned().collect();
    Request::new(asked)
}

fn command<'a>(piece: &Piece<'a>) -> Option<&'a str> {
    match piece {
        Piece::Command { command, .. } => Some(command),
        _ => None,
    }
}
