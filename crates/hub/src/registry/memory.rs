//! The data about registries that is kept between runs.

use metier_package::registry_api::RegistryLogHead;

/// A response of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswer {
    /// The document.
    pub body: Vec<u8>,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// When it was fetched or confirmed, in seconds since 1970.
    pub fetched_at: u64,
}

/// The memory could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MemoryFailure(pub String);

/// A client's memory. Kept responses can be lost; the end of the log and the digests protect the user, so losing them is an error.
pub trait RegistryMemory {
    /// The last response from an address.
    ///
    /// # Errors
    /// If the memory can't be read.
    fn answer(&self, url: &str) -> Result<Option<CachedAnswer>, MemoryFailure>;

    /// Stores a response.
    ///
    /// # Errors
    /// If the memory can't be written.
    fn set_answer(&self, url: &str, answer: &CachedAnswer) -> Result<(), MemoryFailure>;

    /// The last known end of a registry's log.
    ///
    /// # Errors
    /// If the memory can't be read.
    fn log_end(&self, registry: &str) -> Result<Option<RegistryLogHead>, MemoryFailure>;

    /// Stores the end of a log.
    ///
    /// # Errors
    /// If the memory can't be written.
    fn set_log_end(&self, registry: &str, head: &RegistryLogHead) -> Result<(), MemoryFailure>;

    /// The first known digest of a version.
    ///
    /// # Errors
    /// If the memory can't be read.
    fn pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<String>, MemoryFailure>;

    /// Stores the digest of a version.
    ///
    /// # Errors
    /// If the memory can't be written.
    fn set_pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
        digest: &str,
    ) -> Result<(), MemoryFailure>;
}
