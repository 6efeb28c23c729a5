//! The engine for handlers of OpenClaw hooks: Deno if it is installed and the configuration allows it, otherwise the embedded one.

use metier_config::HookEngine;
use metier_model::hooks::OpenClawHandler;
use metier_sdk::wire;

use super::{BackendOpening, OpenedBackend, deno, interpreted::sources, js};
use crate::{hooks::NoDeno, live::ActivateError};

/// Starts the engine that runs these handlers.
pub(super) fn open(opening: &BackendOpening<'_>, handlers: &[OpenClawHandler]) -> OpenedBackend {
    let mut initialize = opening.initialize();
    initialize.handlers = handlers
        .iter()
        .map(|handler| wire::Handler {
            file: handler.file.to_string(),
            export: handler.export.to_string(),
        })
        .collect();
    initialize.sources = sources(&opening.active.loaded.held, js::is_source)?;
    let environment = &opening.runtime.environment;
    let engine = match environment.config.hooks.engine {
        HookEngine::Embedded => None,
        HookEngine::Auto => match deno::find(environment) {
            Ok(program) => Some(program),
            Err(NoDeno::NotOnPath) => None,
            // A configured path is expected to work.
            Err(wrong) => {
                let engine = "its handlers run in the embedded engine";
                opening.active.say(format!("{wrong}; {engine}"));
                None
            }
        },
        HookEngine::Deno => Some(deno::find(environment).map_err(ActivateError::NoDeno)?),
    };
    match engine {
        Some(program) => deno::open(opening, program, &initialize),
        None => js::engine(opening, &initialize),
    }
}
