//! Ctrl-C: ends what is under way, and not the program.
//!
//! **Problem.** A signal may come at any moment, so its handler may do next to nothing. **Decision.** It sets the flag that every wait of a
//! session looks at. If that flag is still set when the next Ctrl-C comes, then what was under way has not ended, somebody has lost
//! patience, and the program ends at once: nothing that was acknowledged is lost by that, and what was started ends with it.
//!
//! The terminal sends the signal to the program alone: children of skills have groups or sessions of their own.

use std::sync::{Arc, atomic::AtomicBool};

use metier::agent::Cancel;
use signal_hook::{consts::SIGINT, flag};

use crate::failure::{Failure, INTERRUPTED};

/// From here on Ctrl-C cancels.
pub(crate) fn listen() -> Result<Cancel, Failure> {
    let pressed = Arc::new(AtomicBool::new(false));
    // They are called in this order: the first press finds the flag down, and raises it.
    let again =
        flag::register_conditional_shutdown(SIGINT, i32::from(INTERRUPTED), Arc::clone(&pressed));
    again
        .and_then(|_| flag::register(SIGINT, Arc::clone(&pressed)))
        .map_err(|error| {
            let message = format!("the program can't listen for Ctrl-C: {error}");
            Failure::broken("signals", message)
        })?;
    Ok(Cancel::from(pressed))
}
