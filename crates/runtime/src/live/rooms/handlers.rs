//! The engine for handlers of OpenClaw hooks: Deno if it is installed and the configuration allows it, else the embedded one.

use metier_config::Engine;
use metier_model::hooks::Handler;
use metier_sdk::wire;

use super::{Opened, Opening, deno, js, sources};
use crate::{hooks::NoDeno, live::ActivateError};

/// Starts the engine that runs these handlers.
pub(super) fn open(opening: &Opening<'_>, handlers: &[Handler]) -> Opened {
    let mut initialize = opening.initialize();
    initialize.handlers = handlers
        .iter()
        .map(|handler| wire::Handler {
            file: handler.file.to_string(),
            export: handler.export.to_string(),
        })
        .collect();
    initialize.sources = sources(&opening.active.loaded.held, js::is_source)?;
    let premises = &opening.runtime.premises;
    let engine = match premises.config.hooks.engine {
        Engine::Embedded => None,
        Engine::Auto => match deno::find(premises) {
            Ok(program) => Some(program),
            Err(NoDeno::NotOnPath) => None,
            // A configured path is expected to work.
            Err(wrong) => {
                let engine = "its handlers run in the embedded engine";
                opening.active.say(format!("{wrong}; {engine}"));
                None
            }
        },
        Engine::Deno => Some(deno::find(premises).map_err(ActivateError::NoDeno)?),
    };
    match engine {
        Some(program) => deno::open(opening, program, &initialize),
        None => js::engine(opening, &initialize),
    }
}
