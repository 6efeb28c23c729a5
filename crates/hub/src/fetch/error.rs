//! Why a source was not opened, or a skill of it was not read.

use std::{io, path::PathBuf};

use metier_host::net::NetError;
use metier_model::{Digest, text::shell_word};
use metier_package::{ArchiveError, PathError, TreeError};

use crate::{index::IndexError, marketplace::MarketplaceError};

/// An error of a source or one of its skills.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no file or folder at a path.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// A file or folder on this machine can't be read or written.
    #[error("`{}` can't be used: {error}", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A source without a skill.
    #[error("`{0}` contains no SKILL.md or SKILL.yaml")]
    NoSkills(String),
    /// A git repository on this machine that has no files outside its objects.
    #[error("`{0}` is a bare git repository")]
    BareRepository(String),
    /// A folder that the source does not have.
    #[error("`{source_name}` has no folder `{folder}`")]
    NoFolder {
        /// The source.
        source_name: String,
        /// The folder.
        folder: String,
    },
    /// A skill that can't be a package.
    #[error("the skill in `{folder}` can't be installed: {problem}")]
    Skill {
        /// Its folder in the source.
        folder: String,
        /// The problem.
        problem: SkillProblem,
    },
    /// A source with more names or skills than the limit.
    #[error("`{source_name}` has more than {limit} {what}")]
    TooMany {
        /// The source.
        source_name: String,
        /// The limit.
        limit: usize,
        /// The kind of the counted entries.
        what: &'static str,
    },
    /// An archive that is refused.
    #[error("`{source_name}` is refused: {error}")]
    Archive {
        /// The archive.
        source_name: String,
        /// The problem of the archive.
        error: ArchiveError,
    },
    /// An archive that must contain exactly one skill.
    #[error("`{source_name}` is refused: {error}")]
    Package {
        /// The archive.
        source_name: String,
        /// The problem of its files.
        error: TreeError,
    },
    /// A list of skills that can't be read.
    #[error("`{url}`: {error}")]
    Index {
        /// Where it is.
        url: String,
        /// The problem of its content.
        error: IndexError,
    },
    /// A marketplace that can't be read.
    #[error("`{place}`: {error}")]
    Marketplace {
        /// Where it is.
        place: String,
        /// The problem of its content.
        error: MarketplaceError,
    },
    /// A request that was refused or failed.
    #[error("`{url}` can't be downloaded: {error}{}", cause(error))]
    Net {
        /// The address.
        url: String,
        /// The error of the network.
        error: Box<NetError>,
    },
    /// A server that returned an error.
    #[error(
        "`{url}` can't be downloaded: the server answered with status {status}{}",
        said(message)
    )]
    Status {
        /// The address.
        url: String,
        /// The status code.
        status: u16,
        /// The first line of the response, if it is text.
        message: String,
    },
    /// A download whose bytes differ from the announced ones.
    #[error("`{url}` has the digest {found}, but {expected} was announced")]
    Digest {
        /// The address.
        url: String,
        /// The digest that was announced.
        expected: Digest,
        /// The digest of the downloaded bytes.
        found: Digest,
    },
    /// A site without a list of skills.
    #[error("`{0}` has no list of skills below /.well-known/")]
    NoIndex(String),
    /// A response that does not match its API.
    #[error("`{url}` returned an unexpected response: {reason}")]
    Answer {
        /// The address.
        url: String,
        /// The problem.
        reason: String,
    },
    /// Git reported an error.
    #[error("git can't fetch `{source_name}`: {message}")]
    Git {
        /// The repository.
        source_name: String,
        /// Git's message, and the network's refusals.
        message: String,
    },
    /// Git can't be started.
    #[error("git can't be started: {0}")]
    NoGit(String),
    /// A branch, tag or commit that the repository does not have.
    #[error("`{source_name}` has no branch, tag or skill `{reference}`")]
    NoReference {
        /// The repository.
        source_name: String,
        /// The requested branch, tag or commit.
        reference: String,
    },
    /// A skill of a registry, which only the client of the registry can fetch.
    #[error("the skill `{0}` is in a registry")]
    Registry(String),
    /// The user interrupted it.
    #[error("fetching was interrupted")]
    Stopped,
}

/// Why a folder can't be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillProblem {
    /// A link.
    #[error("`{0}` is a link; a package contains only files and folders")]
    Link(String),
    /// A link of a repository that can't become a file of the skill.
    #[error("`{path}` is a link that can't be followed: {reason}")]
    BadLink {
        /// The link.
        path: String,
        /// Why its target can't be used.
        reason: String,
    },
    /// A submodule.
    #[error("`{0}` is a submodule; a package contains only files and folders")]
    Submodule(String),
    /// Git's own folder, which no digest covers.
    #[error("it contains a `{0}`, which git would obey")]
    Git(String),
    /// A device, a pipe or a socket.
    #[error("`{0}` is neither a file nor a folder")]
    Special(String),
    /// A name that not every system accepts.
    #[error("{0}")]
    Path(#[from] PathError),
    /// Names that contradict each other.
    #[error("{0}")]
    Tree(#[from] TreeError),
    /// One file is too large.
    #[error("`{path}` is larger than {limit} bytes")]
    FileTooLarge {
        /// The file.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// All files together are too large.
    #[error("its files are larger than {0} bytes")]
    TooLarge(usize),
    /// There are too many files.
    #[error("it has more than {0} files and folders")]
    TooMany(usize),
    /// A file was replaced while it was read.
    #[error("`{0}` changed while it was read")]
    Changed(String),
    /// A file can't be read.
    #[error("`{path}` can't be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The error of the system.
        reason: String,
    },
}

impl FetchError {
    /// The hint for the user: what to type, or where to look.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "check the path".to_owned(),
            Self::BareRepository(path) => {
                format!(
                    "git reads it: metier install {}",
                    shell_word(&format!("git+file://{path}"))
                )
            }
            Self::NoSkills(_) => {
                "a skill is a folder with a file SKILL.md; name the folder that has it".to_owned()
            }
            Self::Skill {
                problem: SkillProblem::Link(_) | SkillProblem::BadLink { .. },
                ..
            } => "replace the link with the file it points to".to_owned(),
            Self::Package {
                error: TreeError::ManySkills(_),
                ..
            } => "unpack it and install the folder".to_owned(),
            Self::NoIndex(_) => "if it is a git repository, write git+https://…".to_owned(),
            Self::NoReference { .. } => {
                "check the name after `@` or `#`; a commit is written with all of its digits"
                    .to_owned()
            }
            Self::NoGit(_) => "install git, then try again".to_owned(),
            Self::Digest { .. } => {
                "the list and the file do not match; try again later or report it to the site"
                    .to_owned()
            }
            Self::Registry(_) => "set one with `metier config skills.registry_url URL`".to_owned(),
            _ => return None,
        })
    }

    pub(crate) fn disk(path: impl Into<PathBuf>, error: io::Error) -> Self {
        let path = path.into();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            _ => Self::Disk { path, error },
        }
    }

    pub(crate) fn skill(folder: &str, problem: impl Into<SkillProblem>) -> Self {
        let folder = match folder {
            "" => ".".to_owned(),
            folder => folder.to_owned(),
        };
        let problem = problem.into();
        Self::Skill { folder, problem }
    }
}

/// The system's reason for a failed connection. Skills must not learn it, but the user typed this address.
fn cause(error: &NetError) -> String {
    match error {
        NetError::Unreachable { cause, .. } => format!(" ({cause})"),
        _ => String::new(),
    }
}

fn said(message: &str) -> String {
    match message {
        "" => String::new(),
        message => format!(": {message}"),
    }
}
