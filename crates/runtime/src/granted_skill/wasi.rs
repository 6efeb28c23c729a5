//! What the grant of a skill opens for WebAssembly.

use std::{sync::Arc, time::Instant};

use metier_host::execution::{ExecutionError, Wasi};

use super::{GrantedSkill, RunningAct};

impl GrantedSkill {
    /// What its grant opens for WebAssembly. Code that can write to a folder by itself is a program that stays, and is written
    /// down as one until the activation is over.
    ///
    /// # Errors
    /// When a granted place can't be opened, or that can't be written down.
    pub fn wasi(&self, entrypoint: &str) -> Result<Wasi, ExecutionError> {
        let mut wasi = self.world.wasi()?;
        // A program is called by its name, as anywhere else.
        let name = entrypoint.rsplit('/').next().unwrap_or(entrypoint);
        wasi.room.arguments = vec![name.to_owned()];
        if !wasi.room.places.is_empty() {
            let begun = self.begin_run(entrypoint)?;
            self.runs.lock().push(RunningAct {
                begun,
                start: Instant::now(),
                sandbox: None,
                ended: Arc::default(),
            });
        }
        Ok(wasi)
    }
}
