//! The data that registry clients keep between runs, stored in the database.

use metier_hub::registry::{CachedAnswer, MemoryFailure, RegistryMemory};
use metier_package::registry_api::RegistryLogHead;
use metier_store::{PooledStore, RegistryAnswer, StoreError};

/// The memory of registry clients, stored in the database.
pub(super) struct StoredMemory(pub(super) PooledStore);

#[expect(clippy::needless_pass_by_value, reason = "the argument of `map_err`")]
fn not_stored(error: StoreError) -> MemoryFailure {
    MemoryFailure(error.to_string())
}

impl RegistryMemory for StoredMemory {
    fn answer(&self, url: &str) -> Result<Option<CachedAnswer>, MemoryFailure> {
        let answer = self.0.registry_answer(url).map_err(not_stored)?;
        Ok(answer.map(|answer| CachedAnswer {
            body: answer.body,
            etag: answer.etag,
            fetched_at: answer.fetched_at,
        }))
    }

    fn set_answer(&self, url: &str, answer: &CachedAnswer) -> Result<(), MemoryFailure> {
        let answer = RegistryAnswer {
            body: answer.body.clone(),
            etag: answer.etag.clone(),
            fetched_at: answer.fetched_at,
        };
        self.0.set_registry_answer(url, &answer).map_err(not_stored)
    }

    fn log_end(&self, registry: &str) -> Result<Option<RegistryLogHead>, MemoryFailure> {
        let end = self.0.registry_log(registry).map_err(not_stored)?;
        Ok(end.map(|(position, hash)| RegistryLogHead { position, hash }))
    }

    fn set_log_end(&self, registry: &str, head: &RegistryLogHead) -> Result<(), MemoryFailure> {
        let stored = self.0.set_registry_log(registry, head.position, &head.hash);
        stored.map_err(not_stored)
    }

    fn pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<String>, MemoryFailure> {
        let digest = self.0.registry_version(registry, name, version);
        digest.map_err(not_stored)
    }

    fn set_pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
        digest: &str,
    ) -> Result<(), MemoryFailure> {
        let stored = self.0.set_registry_version(registry, name, version, digest);
        stored.map_err(not_stored)
    }
}
