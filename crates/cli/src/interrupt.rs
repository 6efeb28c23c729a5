//! Ctrl-C: stops the current work, not the program.
//!
//! **Problem.** A signal can arrive at any moment, so its handler can do next to nothing. **Decision.** It sets the flag that every wait of a
//! conversation checks. If that flag is still set at the next Ctrl-C, the work has not ended and the program exits immediately: nothing
//! that was acknowledged is lost, and everything that was started ends with it.
//!
//! The terminal sends the signal to the program alone: children of skills have their own groups or sessions.

use std::sync::{Arc, atomic::AtomicBool};

use metier::agent::Cancel;
use signal_hook::{consts::SIGINT, flag};

use crate::failure::{Exit, Failure};

/// From here on Ctrl-C cancels.
pub(crate) fn listen() -> Result<Cancel, Failure> {
    listen_with(&Arc::default())
}

/// [`listen`] with a flag that other code can read.
pub(crate) fn listen_with(pressed: &Arc<AtomicBool>) -> Result<Cancel, Failure> {
    let pressed = Arc::clone(pressed);
    // They are called in this order: the first press finds the flag down, and raises it.
    let code = i32::from(Exit::Interrupted.code());
    let again = flag::register_conditional_shutdown(SIGINT, code, Arc::clone(&pressed));
    again
        .and_then(|_| flag::register(SIGINT, Arc::clone(&pressed)))
        .map_err(|error| {
            let message = format!("the program can't listen for Ctrl-C: {error}");
            Failure::broken("signals", message)
        })?;
    Ok(Cancel::from(pressed))
}
