//! Why a registry could not be used.

use metier_package::ResolutionError;

use super::MemoryFailure;

/// Why a registry could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryClientError {
    /// A string is not an address of a registry.
    #[error("the registry `{text}` {problem}")]
    Address {
        /// The configured value.
        text: String,
        /// The problem.
        problem: &'static str,
    },
    /// The registry did not answer.
    #[error("the registry {registry} can't be reached: {reason}")]
    Unreachable {
        /// The registry.
        registry: String,
        /// The error of the network.
        reason: String,
    },
    /// Nothing is cached, and the registry must not be contacted.
    #[error("offline: no cached answer from the registry {registry}")]
    NotCached {
        /// The registry.
        registry: String,
    },
    /// The registry refused the request.
    #[error("the registry {registry} refused: {message}")]
    Refused {
        /// The registry.
        registry: String,
        /// The HTTP status.
        status: u16,
        /// The registry's error code.
        code: Option<String>,
        /// The registry's reason.
        message: String,
    },
    /// A response that is not one of a registry.
    #[error("invalid response from the registry {registry}: {problem}")]
    Wrong {
        /// The registry.
        registry: String,
        /// The problem.
        problem: String,
    },
    /// The digest of a version differs from the one seen before.
    #[error("the registry {registry} changed the bytes of {name} {version}")]
    OtherBytes {
        /// The registry.
        registry: String,
        /// The skill.
        name: String,
        /// The version.
        version: String,
    },
    /// The bytes are not those of the version.
    #[error(
        "the registry {registry} sent different bytes for {name} {version}: {what} and the stated digest differ"
    )]
    WrongDigest {
        /// The registry.
        registry: String,
        /// The skill.
        name: String,
        /// The version.
        version: String,
        /// The difference.
        what: &'static str,
    },
    /// The log does not continue the known one.
    #[error(
        "the registry {registry} rolled back its log: it has {found} entries and does not continue the {known} known ones"
    )]
    BackInTime {
        /// The registry.
        registry: String,
        /// The number of known entries.
        known: u64,
        /// The number of its entries.
        found: u64,
    },
    /// The package can't be used.
    #[error("the package {name} {version} is refused: {problem}")]
    Package {
        /// The skill.
        name: String,
        /// The version.
        version: String,
        /// The problem.
        problem: String,
    },
    /// No registry has the skill.
    #[error("skill `{name}` was not found in any registry (asked: {})", registries.join(", "))]
    NotFound {
        /// The skill.
        name: String,
        /// The registries that were searched.
        registries: Vec<String>,
    },
    /// A lock names a registry that the user does not use.
    #[error("the lock has `{name}` from the registry {registry}, which is not configured")]
    NotConfigured {
        /// The skill.
        name: String,
        /// The registry of the lock.
        registry: String,
    },
    /// No versions are compatible.
    #[error(transparent)]
    Versions(#[from] ResolutionError),
    /// More skills require each other than the limit allows.
    #[error("more than {0} skills require each other")]
    TooMany(usize),
    /// The cache can't be used.
    #[error("the cache of registry answers can't be used: {0}")]
    Memory(#[from] MemoryFailure),
}

impl RegistryClientError {
    /// A code that never changes its meaning.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "registry-address",
            Self::Unreachable { .. } => "registry-unreachable",
            Self::NotCached { .. } => "registry-not-cached",
            Self::Refused { .. } => "registry-refused",
            Self::Wrong { .. } => "registry-answer",
            Self::OtherBytes { .. } => "registry-other-bytes",
            Self::WrongDigest { .. } => "registry-wrong-digest",
            Self::BackInTime { .. } => "registry-back-in-time",
            Self::Package { .. } => "package-refused",
            Self::NotFound { .. } => "not-found",
            Self::NotConfigured { .. } => "registry-not-configured",
            Self::Versions(_) => "version-conflict",
            Self::TooMany(_) => "too-many-skills",
            Self::Memory(_) => "store",
        }
    }

    /// The command to type, or the change to make.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Address { .. } => "metier config skills.registry_url https://…".to_owned(),
            // Hints are typed, so text of the registry never becomes one.
            Self::Refused { registry, code, .. } => match code.as_deref() {
                Some("not-logged-in") => format!("metier login {registry}"),
                Some("version-exists") => "raise the version in its manifest".to_owned(),
                Some("no-version") => "add `version: 1.0.0` to its manifest".to_owned(),
                Some("similar-name") => "choose another name".to_owned(),
                _ => return None,
            },
            Self::OtherBytes { .. } | Self::WrongDigest { .. } | Self::BackInTime { .. } => {
                "don't install from it; ask the registry's operator".to_owned()
            }
            Self::NotFound { name, .. } => format!("metier search {name}"),
            Self::NotConfigured { name, .. } => format!(
                "if you trust it, add it to `skills.registry_url`; or remove the skill and install it again: metier remove {name}"
            ),
            _ => return None,
        })
    }

    /// Whether the registry could not be reached. A wrong response is a different case.
    pub(super) fn is_absence(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 429,
            _ => false,
        }
    }
}
