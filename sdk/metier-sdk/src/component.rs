//! A skill in Rust as a WebAssembly component: a [`Plugin`] that implements the world of `sdk/wit/skill.wit`.
//!
//! **Problem.** A component has no pipes and no main: each call runs in a new instance, which gets everything again.
//! **Decision.** Each call creates the skill, initializes it, and lets it answer as it would over pipes; requests of a handler go to
//! the import `host.ask`. So the same type works as a program, as a library and as a component.
//! A panic can't unwind: it traps, which fails its own call only.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    guest::{HostError, Plugin, Skill, Transport},
    wire::{HostRequest, RpcError, code, method},
};
use bindings::{Problem, metier::skill::host};

/// The code that `wit-bindgen` generates for the world.
#[allow(
    missing_docs,
    unused_qualifications,
    reason = "generated; the world documents them"
)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "skill",
        pub_export_macro: true,
        default_bindings_module: "metier_sdk::component::bindings",
    });
}

/// Exports a [`Plugin`] that is [`Default`] as a component. [`export_skill!`](crate::export_skill) does it where the target is
/// WebAssembly, so this macro is seldom needed.
#[macro_export]
macro_rules! export_component {
    ($plugin:ty) => {
        const _: () = {
            struct Component;

            impl $crate::component::bindings::Guest for Component {
                fn answer(
                    about: String,
                    method: String,
                    params: String,
                ) -> Result<String, $crate::component::bindings::Problem> {
                    let plugin = <$plugin as Default>::default();
                    $crate::component::answer(plugin, &about, &method, &params)
                }
            }

            $crate::component::bindings::export!(
                Component with_types_in $crate::component::bindings
            );
        };
    };
}

/// Answers one call of the host.
///
/// # Errors
///
/// As [`Skill::answer`]; or the arguments are not JSON.
pub fn answer(
    plugin: impl Plugin + 'static,
    about: &str,
    method: &str,
    params: &str,
) -> Result<String, Problem> {
    let answered = in_words(Skill::of(plugin), about, method, params);
    answered.map(|answer| answer.to_string()).map_err(
        |RpcError {
             code,
             message,
             data,
         }| Problem {
            code,
            message,
            data: data.map(|data| data.to_string()),
        },
    )
}

fn in_words(mut skill: Skill, about: &str, method: &str, params: &str) -> Result<Value, RpcError> {
    if method != method::INITIALIZE {
        skill.answer(method::INITIALIZE, read(about)?, &mut Import)?;
    }
    skill.answer(method, read(params)?, &mut Import)
}

/// The imported function.
struct Import;

impl Transport for Import {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        /// The parts of a request.
        #[derive(Deserialize)]
        struct Question {
            method: String,
            params: Value,
        }
        let Question { method, params } = serde_json::to_value(request)
            .and_then(serde_json::from_value)
            .map_err(|error| wrong(&error))?;
        match host::ask(&method, &params.to_string()) {
            Ok(answer) => read(&answer),
            Err(Problem {
                code,
                message,
                data,
            }) => Err(RpcError {
                code,
                message,
                data: data.and_then(|data| serde_json::from_str(&data).ok()),
            }),
        }
    }
}

fn read(text: &str) -> Result<Value, RpcError> {
    serde_json::from_str(text).map_err(|error| wrong(&error))
}

fn wrong(error: &serde_json::Error) -> RpcError {
    RpcError::new(code::PARSE, error.to_string())
}
