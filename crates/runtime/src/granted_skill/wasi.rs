//! The places that the grant of a skill opens for WebAssembly.

use std::{sync::Arc, time::Instant};

use metier_host::execution::{ExecutionError, Wasi};

use super::{GrantedSkill, RunningAct};

impl GrantedSkill {
    /// The places that its grant opens for WebAssembly. Code that can write to a folder by itself is a long-running program, and is
    /// recorded as one until the activation is over.
    ///
    /// # Errors
    /// When a granted place can't be opened, or that can't be recorded.
    pub fn wasi(&self, entrypoint: &str) -> Result<Wasi, ExecutionError> {
        let mut wasi = self.world.wasi()?;
        // A program is called by its name, as on other backends.
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
