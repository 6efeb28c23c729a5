//! The source of a skill, as a person types it.
//!
//! The text is parsed only here, before any program or network sees a part of it: text that could become an option, a command
//! or another protocol is refused.

use std::{fmt, path::PathBuf};

use metier_model::text::visible;
pub(crate) use metier_package::registry_api::is_published_name as is_skill_name;
use semver::{Version, VersionReq};
use url::{Host, Url};

/// A source of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillSource {
    /// A skill of a registry, by name.
    Registry {
        /// Its name.
        name: String,
        /// The requested versions.
        versions: VersionReq,
    },
    /// A git repository, or a folder of one.
    Git(GitSource),
    /// A folder or an archive on this machine.
    Path(PathBuf),
    /// An archive or a single `SKILL.md` at a URL.
    Download(Url),
    /// A site that lists its skills below `/.well-known/`.
    Site(Url),
    /// A skill of ClawHub.
    ClawHub {
        /// Its name there.
        slug: String,
        /// The requested version, in ClawHub's spelling.
        version: Option<String>,
    },
}

/// A git repository, a folder in it, and the requested branch, tag or commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The URL for git: an `https`, `ssh` or loopback URL, or the `user@host:path` form.
    pub url: String,
    /// The requested folder; empty for the whole repository.
    pub folder: String,
    /// The branch, tag or commit; the default branch if there is none.
    pub reference: Option<String>,
}

/// The file extensions of archives.
const ARCHIVES: &[&str] = &[".skill", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst"];

impl SkillSource {
    /// Parses typed text.
    ///
    /// # Errors
    /// If it has none of the forms, or requests a protocol that is not allowed.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let refuse = |problem| {
            Err(SourceError {
                text: visible(text).into_owned(),
                problem,
            })
        };
        if text.is_empty() || text.chars().any(char::is_control) || visible(text) != text {
            return refuse(SourceProblem::Unreadable);
        }
        if text.starts_with('-') {
            return refuse(SourceProblem::Option);
        }
        if is_path(text) {
            return Ok(Self::Path(PathBuf::from(text)));
        }
        // `ext::command` and every other helper of git.
        if text.contains("::") {
            return refuse(SourceProblem::Helper);
        }
        let parsed = match text.split_once(':') {
            Some(("github" | "git", rest)) if !rest.starts_with("//") => of_github(rest),
            Some(("clawhub", rest)) => of_clawhub(rest),
            Some((scheme, rest)) if rest.starts_with("//") => of_url(scheme, text),
            Some((host, path)) if host.contains('@') => of_scp(host, path),
            Some(_) => Err(SourceProblem::Scheme),
            None => of_words(text),
        };
        parsed.or_else(refuse)
    }
}

/// Paths are recognised by their prefix, so that an existing folder never changes the meaning of a word.
fn is_path(text: &str) -> bool {
    matches!(text, "." | ".." | "~")
        || ["./", "../", "/", "~/"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// A version with all of its numbers is exactly that one; anything else is a range, and `1.2` the same as `^1.2`.
fn version_range(text: &str) -> Result<VersionReq, SourceProblem> {
    let range = match text.parse::<Version>() {
        Ok(_) => format!("={text}"),
        Err(_) => text.to_owned(),
    };
    VersionReq::parse(&range).map_err(|_| SourceProblem::Range)
}

/// `owner/repo…`, `github.com/owner/repo…`, `name`, `name@version` or `name@range`.
fn of_words(text: &str) -> Result<SkillSource, SourceProblem> {
    match text.strip_prefix("github.com/") {
        Some(rest) => of_github(rest),
        None if text.contains('/') => of_github(text),
        None => {
            let (name, versions) = match text.split_once('@') {
                None => (text, VersionReq::STAR),
                Some((name, range)) => (name, version_range(range)?),
            };
            match is_skill_name(name) {
                true => Ok(SkillSource::Registry {
                    name: name.to_owned(),
                    versions,
                }),
                false => Err(SourceProblem::Unknown),
            }
        }
    }
}

/// `owner/repo[/folder…][@reference]`, or with `/tree/reference/folder` as the address bar shows it.
fn of_github(text: &str) -> Result<SkillSource, SourceProblem> {
    let (path, reference) = match text.split_once('@') {
        Some((path, reference)) => (path, Some(checked_reference(reference)?)),
        None => (text, None),
    };
    let mut names = path.trim_end_matches('/').split('/');
    let (Some(owner), Some(repository)) = (names.next(), names.next()) else {
        return Err(SourceProblem::Unknown);
    };
    let repository = repository.strip_suffix(".git").unwrap_or(repository);
    if !is_name(owner) || !is_name(repository) {
        return Err(SourceProblem::Unknown);
    }
    let mut rest: Vec<&str> = names.collect();
    let mut reference = reference;
    if let [word @ ("tree" | "blob"), named, ..] = rest.as_slice() {
        if reference.is_some() {
            return Err(SourceProblem::TwoReferences);
        }
        reference = Some(checked_reference(named)?);
        let is_file = *word == "blob";
        rest.drain(..2);
        if is_file && rest.last().is_some_and(|last| *last == "SKILL.md") {
            rest.pop();
        }
    }
    Ok(SkillSource::Git(GitSource {
        url: format!("https://github.com/{owner}/{repository}.git"),
        folder: checked_folder(&rest.join("/"))?,
        reference,
    }))
}

fn of_clawhub(text: &str) -> Result<SkillSource, SourceProblem> {
    let (slug, version) = match text.rsplit_once('@') {
        Some((slug, version)) if !slug.is_empty() => (slug, Some(version.to_owned())),
        _ => (text, None),
    };
    let is_slug =
        slug.split('/').count() <= 2 && slug.trim_start_matches('@').split('/').all(is_name);
    let is_version = version.as_deref().is_none_or(is_name);
    match is_slug && is_version {
        true => Ok(SkillSource::ClawHub {
            slug: slug.to_owned(),
            version,
        }),
        false => Err(SourceProblem::Unknown),
    }
}

fn of_url(scheme: &str, text: &str) -> Result<SkillSource, SourceProblem> {
    let (scheme, text, is_git) = match scheme.strip_prefix("git+") {
        Some(scheme) => (scheme, &text["git+".len()..], true),
        None => (scheme, text, false),
    };
    // `#reference` as in package managers; GitHub's `@` is part of many URLs.
    let (address, reference) = match text.split_once('#') {
        Some((address, reference)) => (address, Some(checked_reference(reference)?)),
        None => (text, None),
    };
    // `git+https://host/repository.git//folder`.
    let after_host = address.find("://").map_or(0, |at| at + 3);
    let (address, folder) = match address[after_host..].find("//") {
        Some(at) if is_git => address.split_at(after_host + at),
        _ => (address, ""),
    };
    let folder = folder.trim_start_matches("//");
    let url = Url::parse(address).map_err(|_| SourceProblem::Unknown)?;
    if url.password().is_some() {
        return Err(SourceProblem::Credentials);
    }
    let git = || {
        Ok(SkillSource::Git(GitSource {
            url: url.to_string(),
            folder: checked_folder(folder)?,
            reference: reference.clone(),
        }))
    };
    match scheme {
        "ssh" => match url.host_str().is_some_and(|host| !host.starts_with('-'))
            && !url.username().starts_with('-')
        {
            true => git(),
            false => Err(SourceProblem::Option),
        },
        "file" => match url.to_file_path() {
            Ok(path) if is_git => Ok(SkillSource::Git(GitSource {
                url: format!("file://{}", path.display()),
                folder: checked_folder(folder)?,
                reference,
            })),
            Ok(path) => Ok(SkillSource::Path(path)),
            Err(()) => Err(SourceProblem::Unknown),
        },
        "http" if !is_loopback(&url) => Err(SourceProblem::Insecure),
        "http" | "https" if !url.username().is_empty() => Err(SourceProblem::Credentials),
        "http" | "https" => {
            let path = url.path().to_owned();
            if is_git || path.ends_with(".git") || path.ends_with(".git/") {
                return git();
            }
            if url.host_str() == Some("github.com") && reference.is_none() {
                return of_github(path.trim_start_matches('/'));
            }
            if path.ends_with("/SKILL.md") || ARCHIVES.iter().any(|end| path.ends_with(end)) {
                return Ok(SkillSource::Download(url));
            }
            Ok(SkillSource::Site(url))
        }
        _ => Err(SourceProblem::Scheme),
    }
}

/// `user@host:path`, which is ssh, with a folder after `//`.
fn of_scp(host: &str, path: &str) -> Result<SkillSource, SourceProblem> {
    let (path, reference) = match path.split_once('#') {
        Some((path, reference)) => (path, Some(checked_reference(reference)?)),
        None => (path, None),
    };
    let (path, folder) = path.split_once("//").unwrap_or((path, ""));
    let is_plain = |word: &str| {
        !word.is_empty()
            && !word.starts_with('-')
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let Some((user, machine)) = host.split_once('@') else {
        return Err(SourceProblem::Unknown);
    };
    let is_path = !path.is_empty() && !path.starts_with('-') && !path.contains(char::is_whitespace);
    match is_plain(user) && is_plain(machine) && is_path {
        true => Ok(SkillSource::Git(GitSource {
            url: format!("{host}:{path}"),
            folder: checked_folder(folder)?,
            reference,
        })),
        false => Err(SourceProblem::Unknown),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A name of an owner, a repository or a version: no path, no option.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['-', '.'])
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
}

/// A branch, tag or commit that git can parse only as one.
fn checked_reference(text: &str) -> Result<String, SourceProblem> {
    let is_odd = |c: char| c.is_whitespace() || "~^:?*[\\@{}".contains(c);
    let is_fine = !text.is_empty()
        && !text.starts_with(['-', '/', '.'])
        && !text.ends_with(['/', '.'])
        && !text.ends_with(".lock")
        && !text.contains("..")
        && !text.contains("//")
        && !text.contains(is_odd);
    match is_fine {
        true => Ok(text.to_owned()),
        false => Err(SourceProblem::Reference),
    }
}

/// A folder in a repository: relative, without steps upwards.
fn checked_folder(text: &str) -> Result<String, SourceProblem> {
    if text.is_empty() {
        return Ok(String::new());
    }
    match metier_package::PackagePath::new(text.as_bytes()) {
        Ok(_) if !text.starts_with('-') => Ok(text.to_owned()),
        _ => Err(SourceProblem::Folder),
    }
}

impl fmt::Display for SkillSource {
    /// In a form that can be typed again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry { name, versions } if *versions == VersionReq::STAR => f.write_str(name),
            Self::Registry { name, versions } => write!(f, "{name}@{versions}"),
            Self::Git(git) => git.fmt(f),
            Self::Path(path) => path.display().fmt(f),
            Self::Download(url) | Self::Site(url) => url.fmt(f),
            Self::ClawHub { slug, version } => match version {
                Some(version) => write!(f, "clawhub:{slug}@{version}"),
                None => write!(f, "clawhub:{slug}"),
            },
        }
    }
}

impl fmt::Display for GitSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = self
            .url
            .strip_prefix("https://github.com/")
            .and_then(|path| path.strip_suffix(".git"));
        if let Some(path) = short {
            f.write_str(path)?;
            if !self.folder.is_empty() {
                write!(f, "/{}", self.folder)?;
            }
            return match &self.reference {
                Some(reference) => write!(f, "@{reference}"),
                None => Ok(()),
            };
        }
        let is_address = self.url.contains("://");
        write!(f, "{}{}", if is_address { "git+" } else { "" }, self.url)?;
        if !self.folder.is_empty() {
            write!(f, "//{}", self.folder)?;
        }
        match &self.reference {
            Some(reference) => write!(f, "#{reference}"),
            None => Ok(()),
        }
    }
}

/// Text that is not a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` {problem}")]
pub struct SourceError {
    /// The typed text, with invisible characters spelled out.
    pub text: String,
    problem: SourceProblem,
}

impl SourceError {
    /// A hint: the form to write instead.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self.problem {
            SourceProblem::Insecure => "use https",
            SourceProblem::Credentials => "let git's credential helper or ssh provide them",
            SourceProblem::Range => "write a range such as name@^1.2",
            _ => {
                "write owner/repo, owner/repo/folder@branch, https://…, ./folder, an archive, or the name of a skill in a registry"
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum SourceProblem {
    #[error("is empty or contains characters that can't be seen")]
    Unreadable,
    #[error("starts like an option")]
    Option,
    #[error("asks git for a helper program, which is never started")]
    Helper,
    #[error("uses a protocol that is not supported")]
    Scheme,
    #[error("is not a source of skills")]
    Unknown,
    #[error("is not encrypted; plain http is only allowed for this machine")]
    Insecure,
    #[error("contains a user name or password")]
    Credentials,
    #[error("contains an invalid range of versions")]
    Range,
    #[error("contains an invalid branch, tag or commit")]
    Reference,
    #[error("names a branch, tag or commit twice")]
    TwoReferences,
    #[error("contains an invalid folder")]
    Folder,
}
