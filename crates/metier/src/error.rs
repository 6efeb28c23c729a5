//! Errors: a code, a sentence, the skill and file concerned, and what to type next.

use std::{fmt, path::Path};

/// The reason why a request failed: a code, a sentence, the skill and file concerned, and what to type next.
///
/// ```
/// let error = metier::Error::unmet("not-found", "there is no such file").hint("metier info pdf");
/// assert_eq!(error.code(), "not-found");
/// assert_eq!(error.advice(), Some("metier info pdf"));
/// ```
///
/// `message`, `details`, `choices`, `advice`, `about_skill` and `place` read the parts; `detail`, `choice`, `hint`, `skill`, `path` and
/// `line` return the error with such a part. [`Error::code`] lists the codes, and `Display` is [`Error::in_full`].
#[derive(Clone)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone)]
struct ErrorInner {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    details: Vec<String>,
    choices: Vec<(String, String)>,
    hint: Option<String>,
    skill: Option<String>,
    path: Option<String>,
    line: Option<u32>,
}

/// The kind of a failure: the request, the machine, or a stop.
///
/// ```
/// use metier::{Error, ErrorKind};
///
/// let exit_code = |error: &Error| match error.kind() {
///     ErrorKind::Unmet => 1,
///     ErrorKind::Broken => 2,
///     ErrorKind::Interrupted => 130,
/// };
/// assert_eq!(exit_code(&Error::unmet("not-found", "there is no such file")), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request could not be met: not found, refused, invalid. Nothing is wrong with the machine.
    Unmet,
    /// Wrong usage, or a broken environment: no home directory, a configuration or a database that can't be read.
    Broken,
    /// The user stopped it.
    Interrupted,
}

impl Error {
    /// The request could not be met: invalid, refused, not found. Nothing is wrong with the machine, and another request can succeed.
    ///
    /// An example is at [`Error`].
    #[must_use]
    pub fn unmet(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unmet, code, message.into())
    }

    /// Wrong usage, or a broken environment: the same request fails again until that is fixed.
    ///
    /// ```
    /// let error = metier::Error::broken("config", "the configuration can't be read");
    /// assert_eq!(error.kind(), metier::ErrorKind::Broken);
    /// ```
    #[must_use]
    pub fn broken(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Broken, code, message.into())
    }

    /// The user stopped it. The code is `interrupted`.
    ///
    /// ```
    /// let error = metier::Error::interrupted("the turn was cancelled");
    /// assert_eq!((error.code(), error.kind()), ("interrupted", metier::ErrorKind::Interrupted));
    /// ```
    #[must_use]
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted", message.into())
    }

    /// A folder or file of metier's own can't be written: the disk is full or read-only, or it belongs to another user. The code is
    /// `not-written`.
    ///
    /// ```
    /// use std::{io, path::Path};
    ///
    /// let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    /// let error = metier::Error::unwritable(Path::new("/var/lib/metier"), &denied);
    /// assert_eq!(error.code(), "not-written");
    /// assert_eq!(error.place(), Some(("/var/lib/metier", None)));
    /// ```
    #[must_use]
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("a folder of metier can't be written: {error}");
        Self::broken("not-written", message)
            .path(path)
            .hint("free space there or check its permissions, or set METIER_HOME to a folder that can be written")
    }

    fn new(kind: ErrorKind, code: &'static str, message: String) -> Self {
        Self(Box::new(ErrorInner {
            kind,
            code,
            message,
            details: Vec::new(),
            choices: Vec::new(),
            hint: None,
            skill: None,
            path: None,
            line: None,
        }))
    }

    /// The message with the details, a line each, and the hint. The code, the skill and the file are not in it.
    ///
    /// ```
    /// let error = metier::Error::unmet("not-ready", "skill `pdf` is not ready")
    ///     .detail("it needs the program `qpdf`")
    ///     .hint("metier info pdf");
    /// assert_eq!(error.in_full(), "skill `pdf` is not ready\n  it needs the program `qpdf`\nhint: metier info pdf");
    /// ```
    #[must_use]
    pub fn in_full(&self) -> String {
        let inside = &self.0;
        let hint = inside.hint.iter().map(|hint| format!("hint: {hint}"));
        let lines = inside.details.iter().map(|detail| format!("  {detail}"));
        let all = std::iter::once(inside.message.clone())
            .chain(lines)
            .chain(hint);
        all.collect::<Vec<_>>().join("\n")
    }

    /// Whether a permission is missing: the code is `denied`, `not-approved` or `not-permitted`.
    ///
    /// ```
    /// assert!(metier::Error::unmet("denied", "permission was denied").is_about_permission());
    /// assert!(!metier::Error::unmet("not-found", "there is no such file").is_about_permission());
    /// ```
    #[must_use]
    pub fn is_about_permission(&self) -> bool {
        matches!(self.0.code, "denied" | "not-approved" | "not-permitted")
    }

    /// The message, one sentence without details and hint.
    ///
    /// The example of [`Error::choices`] prints it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The kind of the failure, from which an exit code or an HTTP status follows.
    ///
    /// An example is at [`ErrorKind`].
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// A stable word for programs, in lower case with hyphens.
    ///
    /// An example is at [`Error`]. A code never changes its meaning:
    ///
    /// | a skill | |
    /// |---|---|
    /// | `unknown-skill` | no skill has this name; the hint has the nearest names |
    /// | `skill-file-missing` | the folder contains no SKILL.md and no SKILL.yaml |
    /// | `no-skills` | the folder contains no skills |
    /// | `several-skills` | one skill was to be packed, and the folder contains several |
    /// | `invalid` | its manifest or its files are not valid |
    /// | `disabled` | the configuration, the project or a profile disables it |
    /// | `disabled-elsewhere` | it can't be enabled here, because something else disables it |
    /// | `blocked` | it is not trusted, or the scanner blocks it; of a prompt: a hook blocked the message |
    /// | `not-ready` | a requirement is missing; the details name it |
    /// | `changed` | its bytes are not those that were installed, checked or approved |
    /// | `changing` | its files change while they are read |
    /// | `unreadable` | it, or one of its files, can't be read or shown |
    /// | `unverified` | the digest of a file from an MCP server differs from the announced one |
    /// | `unscanned` | it was never scanned, and the configuration disables scans on load |
    /// | `not-for-models` | only the user may invoke it |
    /// | `not-for-users` | only a model may invoke it |
    /// | `not-callable` | its name can't be typed behind `/` |
    /// | `not-published` | its files can't be given to a host that verifies them |
    /// | `builtin-skill`, `remote-skill` | it has no folder: it is part of metier, or on an MCP server |
    /// | `case` | a file of its tests can't be read |
    ///
    /// | a file, a key, an argument | |
    /// |---|---|
    /// | `not-found` | there is no such file, folder, tool or version |
    /// | `not-a-file`, `not-a-folder` | the path is something else |
    /// | `path-refused` | the path leaves the folder of the skill, or is a hard link |
    /// | `too-large` | the file or the folder is over a limit |
    /// | `exists` | something is there already, and nothing was replaced |
    /// | `not-written` | a file or folder can't be written |
    /// | `unknown-key` | the configuration has no such key |
    /// | `queries` | a table of queries can't be read |
    /// | `since` | git does not know the revision |
    /// | `usage` | an argument is wrong, such as a text that is not a permission |
    ///
    /// | a permission, an act | |
    /// |---|---|
    /// | `not-approved` | a permission is not approved, and no user could be asked |
    /// | `denied` | the user denied a permission |
    /// | `not-permitted` | an act needs a permission that the skill was not granted |
    /// | `revoked` | a permission was withdrawn after the skill was started |
    /// | `rate-limit` | the limit of such acts in one turn is reached |
    /// | `prefix` | the command begins with none of `skills.security.allowed_command_prefixes` |
    /// | `path`, `forbidden-variable` | no permission allows this path or this variable |
    /// | `not-done` | an act was permitted and failed |
    /// | `other-bytes` | a decision, or a lock, is about bytes that differ from the present ones |
    /// | `too-wide` | the folder that was to be trusted contains the home directory |
    ///
    /// | its code | |
    /// |---|---|
    /// | `unusable`, `entrypoint`, `contribution` | its files, its entrypoint or its contributions can't be used |
    /// | `deno` | its hooks require Deno, which is not there |
    /// | `left-out` | this build of metier lacks the feature that runs it; or a package would not contain a file that it needs |
    /// | `not-started`, `crashed`, `given-up` | its process did not start, ended during a call, or crashed too often |
    /// | `not-active` | the skill is not active in the session |
    /// | `which-workflow` | several workflows are meant |
    /// | `input` | the input does not match the schema of the tool |
    /// | `skill-error` | the code returned an error of the protocol |
    /// | `timeout`, `cancelled` | it took too long; a hook, the user or the caller stopped it |
    /// | `not-allowed` | a hook changed the input to one that the caller may not use |
    /// | `busy` | the skill handles a call that waits for this one; of installed skills: another process changes them |
    /// | `protocol` | the answer does not follow the protocol |
    /// | `arguments-refused`, `shell`, `command-failed` | a command in the body can't get these arguments, needs another shell, or failed |
    ///
    /// | a conversation | |
    /// |---|---|
    /// | `no-model`, `no-key`, `price` | no model is configured, its key is missing or wrong, or its price is not valid |
    /// | `model` | the model did not answer |
    /// | `budget` | the turn reached a limit of `agent` in the configuration |
    /// | `context`, `no-summary` | the messages do not fit the context of the model, or it returned no summary of them |
    /// | `rejected`, `no-such-tool` | the skills of an agent can't work together, or name a tool that does not exist |
    /// | `incomplete-pipeline`, `no-skill` | the coding pipeline is incomplete, or no skill fits the task |
    /// | `contract`, `precondition`, `not-validated`, `order` | a condition that a skill states for its agent is wrong or not met |
    /// | `orchestrator`, `spawn`, `depth`, `subagent`, `workflow` | a sub-agent or a workflow could not be started, or failed |
    /// | `no-conversation`, `ambiguous-conversation`, `sub-agent` | no conversation, or several, have this id, or it can't be continued |
    /// | `transcript`, `went-on` | the stored conversation can't be read, or was continued by another process |
    /// | `not-ended` | the end of a skill was not written to the database |
    /// | `rerank` | the answer of the model is not a list of numbers |
    ///
    /// | installing | |
    /// |---|---|
    /// | `source`, `ambiguous`, `several` | the source is not valid, has two meanings, or contains several skills |
    /// | `not-fetched` | the source can't be fetched |
    /// | `twice` | two skills, or two parts of a change, have the same place |
    /// | `needs-decision`, `needs-approval` | the user must decide first: about a replacement, a permission |
    /// | `other-signer`, `breaks` | the update has another signer, or breaks another skill |
    /// | `not-agreed` | nothing was decided about the skill |
    /// | `changed-since` | the files changed after the decision, or after the change that is to be undone |
    /// | `not-installed` | metier did not install a skill with this name |
    /// | `missing`, `edited`, `renamed` | the folder of an installed skill is missing, was edited, or has another name now |
    /// | `requires` | the new version requires another version of a skill |
    /// | `lock` | a lock can't be read or used |
    /// | `not-a-project`, `linked-folder` | skills can't be installed into this folder |
    /// | `nothing-to-undo`, `not-kept` | there is no such change, or its content is no longer kept |
    /// | `unknown-agent`, `no-agents`, `no-folder` | a sync names no agent, an unknown one, or one without a folder in the scope |
    /// | `unknown-profile`, `empty-profile` | there is no such profile, or it would contain no skills |
    /// | `installer`, `no-installer`, `several-installers` | an installer of a required program failed; there is none, or several |
    ///
    /// | packages and registries | |
    /// |---|---|
    /// | `name`, `plugin`, `not-packed`, `not-a-package` | these files can't be a package |
    /// | `sbom` | the bill of materials can't be written |
    /// | `key`, `no-key`, `signature`, `unsigned` | a key or a signature is not valid, or is missing |
    /// | `unknown-signer`, `signer-changed`, `signer` | no signer is known, another key signed, or the known signer can't be read |
    /// | `no-registry`, `registry-address`, `registry-not-configured` | no registry is configured, or not this one |
    /// | `registry-unreachable`, `registry-not-cached` | the registry does not answer |
    /// | `registry-answer`, `registry-refused` | its answer is not valid, or it refuses the request |
    /// | `registry-other-bytes`, `registry-wrong-digest`, `registry-back-in-time` | the registry contradicts its earlier answers |
    /// | `package-refused`, `version-conflict`, `too-many-skills` | a package, or a set of versions, can't be used |
    /// | `token` | the token of a registry is not valid, or can't be read |
    /// | `login`, `mcp-server` | an MCP server is not configured, or its login failed |
    ///
    /// | the machine | |
    /// |---|---|
    /// | `config`, `rule` | the configuration, or a rule of the user's own for the scanner, is wrong |
    /// | `store` | the database can't be opened, read or written |
    /// | `working-directory`, `program` | the working directory, or the path of this program, can't be determined |
    /// | `no-worker` | this program can't run code of skills: it does not call `run_if_worker` |
    /// | `io` | the system returned another error |
    /// | `interrupted` | the user stopped it; of kind `Broken`: a change of installed skills was started and can't be completed yet |
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Further lines of the message, such as the files or permissions concerned.
    ///
    /// The example of [`Error::in_full`] has one.
    #[must_use]
    pub fn details(&self) -> &[String] {
        &self.0.details
    }

    /// Alternatives: names, each with a description. An interface can offer them; most errors have none.
    ///
    /// ```
    /// let error = metier::Error::unmet("several", "`owner/repo` has 2 skills")
    ///     .choice("pdf", "reads and fills in forms")
    ///     .choice("tables", "turns tables into CSV");
    /// println!("{}", error.message());
    /// for (name, about) in error.choices() {
    ///     println!("{name}: {about}");
    /// }
    /// ```
    #[must_use]
    pub fn choices(&self) -> &[(String, String)] {
        &self.0.choices
    }

    /// The hint: what to type next, a command of `metier` or a place to look. Set by [`Error::hint`].
    ///
    /// An example is at [`Error`].
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The name of the skill that it is about. Set by [`Error::skill`].
    ///
    /// The example of [`Error::place`] reads it.
    #[must_use]
    pub fn about_skill(&self) -> Option<&str> {
        self.0.skill.as_deref()
    }

    /// The file that it is about, and the line in it, counted from one. Set by [`Error::path`] and [`Error::line`].
    ///
    /// ```
    /// let error = metier::Error::unmet("invalid", "`types` is missing")
    ///     .skill("pdf")
    ///     .path("skills/pdf/SKILL.yaml")
    ///     .line(Some(3));
    /// assert_eq!(error.about_skill(), Some("pdf"));
    /// assert_eq!(error.place(), Some(("skills/pdf/SKILL.yaml", Some(3))));
    /// ```
    #[must_use]
    pub fn place(&self) -> Option<(&str, Option<u32>)> {
        self.0.path.as_deref().map(|path| (path, self.0.line))
    }

    /// The error with a hint: what to type next. It replaces an earlier one.
    ///
    /// An example is at [`Error`].
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The error about this skill.
    ///
    /// The example of [`Error::place`] sets it.
    #[must_use]
    pub fn skill(mut self, skill: impl Into<String>) -> Self {
        self.0.skill = Some(skill.into());
        self
    }

    /// The error about this file or folder.
    ///
    /// The example of [`Error::place`] sets it.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.0.path = Some(path.as_ref().to_string_lossy().into_owned());
        self
    }

    /// The error about this line of the file, if it is known.
    ///
    /// The example of [`Error::place`] sets it.
    #[must_use]
    pub fn line(mut self, line: Option<u32>) -> Self {
        self.0.line = line;
        self
    }

    /// The error with one more alternative.
    ///
    /// The example of [`Error::choices`] adds two.
    #[must_use]
    pub fn choice(mut self, name: impl Into<String>, about: impl Into<String>) -> Self {
        self.0.choices.push((name.into(), about.into()));
        self
    }

    /// The error with a further line between the message and the hint.
    ///
    /// The example of [`Error::in_full`] adds one.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.details.push(detail.into());
        self
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::broken("io", error.to_string())
    }
}

impl From<metier_store::StoreError> for Error {
    fn from(error: metier_store::StoreError) -> Self {
        let hint = error.hint();
        Self::broken("store", error.to_string()).hint(hint)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_full())
    }
}

/// The same as `Display`: a `main` that returns an error prints it this way.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
