//! Messages of git on stderr after which metier continues differently.
//!
//! **Problem.** Git ends with 128 for every failure of a fetch, and has no machine-readable form of the reason. **Decision.** The few
//! messages that lead to a decision are in one table. They can be compared: git runs with `LC_ALL=C` (`host_git.rs`), so they are never
//! translated. If git changes one, the fetch fails with git's own message, and nothing else happens: no message permits anything. The tests run the
//! installed git, so a changed message fails them.

/// Why git failed, if metier can continue or knows a better message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitProblem {
    /// The repository names its objects by another hash.
    OtherHash,
    /// A plain file server: it can't leave out the history.
    NoShallowFetch,
    /// The server does not have the reference.
    NoReference,
    /// The server requires credentials, or refused those of the request.
    NoCredentials,
}

/// (words of git's message, the problem).
const MESSAGES: &[(&str, GitProblem)] = &[
    ("mismatched algorithms", GitProblem::OtherHash),
    // The same in other protocols and versions.
    ("object format", GitProblem::OtherHash),
    ("dumb http", GitProblem::NoShallowFetch),
    ("couldn't find remote ref", GitProblem::NoReference),
    ("not our ref", GitProblem::NoReference),
    ("could not read Username", GitProblem::NoCredentials),
    ("Authentication failed", GitProblem::NoCredentials),
    ("terminal prompts disabled", GitProblem::NoCredentials),
];

/// The problem that a message of git is about.
pub(super) fn problem(message: &str) -> Option<GitProblem> {
    let mut all = MESSAGES.iter();
    all.find(|(words, _)| message.contains(words))
        .map(|(_, problem)| *problem)
}
