//! A problem with a file: severity, stable code, message, position, and a hint.
//!
//! The *code* determines the severity, in one flat table, so that "lenient loads it, strict rejects it" is a row and
//! not an `if`. A parser only reports the code; a row that is silent in the current mode emits nothing.

use std::fmt;

/// How strict reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strictness {
    /// Load everything that has a usable name and description, with diagnostics.
    #[default]
    Lenient,
    /// Load exactly what conforms to the specification.
    Strict,
}

/// The severity of a diagnostic. An error makes its skill invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSeverity {
    /// For information, nothing to do.
    Info,
    /// Loaded, but probably not as the author intended.
    Warning,
    /// The skill is not loaded.
    Error,
}

impl DiagnosticSeverity {
    /// The lower-case word used in text and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for DiagnosticSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A row of the table: the stable id, and the severity in lenient and in strict mode.
struct CodeRow {
    id: &'static str,
    lenient: Option<DiagnosticSeverity>,
    strict: Option<DiagnosticSeverity>,
    about: &'static str,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident = $id:literal, $lenient:ident, $strict:ident;)+) => {
        /// A kind of problem, with a stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DiagnosticCode { $($(#[doc = $doc])+ $code,)+ }

        impl DiagnosticCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$code,)+];
        }

        const TABLE: &[CodeRow] = &[$(CodeRow {
            id: $id,
            lenient: level!($lenient),
            strict: level!($strict),
            about: concat!($($doc),+),
        },)+];
    };
}

macro_rules! level {
    (silent) => {
        None
    };
    (info) => {
        Some(DiagnosticSeverity::Info)
    };
    (warning) => {
        Some(DiagnosticSeverity::Warning)
    };
    (error) => {
        Some(DiagnosticSeverity::Error)
    };
}

// code = id, lenient, strict
codes! {
    // The file
    /// There is no SKILL.md in the folder.
    SkillFileMissing = "skill-file-missing", error, error;
    /// The file could not be read.
    FileUnreadable = "file-unreadable", error, error;
    /// The manifest is a FIFO, socket, device or folder.
    FileNotRegular = "file-not-regular", error, error;
    /// The file is larger than the limit.
    FileTooLarge = "file-too-large", error, error;
    /// The text is not UTF-8.
    FileNotUtf8 = "file-not-utf8", warning, error;
    /// The file name differs from SKILL.md in upper and lower case.
    FileNameCase = "file-name-case", warning, error;
    /// A folder contains two spellings of SKILL.md.
    FileAmbiguous = "file-ambiguous", error, error;
    /// A link points outside the skill folder.
    SymlinkEscape = "symlink-escape", error, error;
    /// A line of the body looks like a command and is not run.
    CommandAsText = "command-as-text", warning, warning;
    // Frontmatter
    /// The file does not start with a `---` line.
    FrontmatterMissing = "frontmatter-missing", error, error;
    /// The frontmatter has no closing `---` line.
    FrontmatterUnclosed = "frontmatter-unclosed", error, error;
    /// The frontmatter is not a list of `key: value` pairs.
    FrontmatterNotMapping = "frontmatter-not-mapping", error, error;
    /// The frontmatter is larger than the limit.
    FrontmatterTooLarge = "frontmatter-too-large", error, error;
    /// There are blank lines before the first `---`.
    LeadingBlankLines = "leading-blank-lines", warning, error;
    /// The file starts with a byte order mark.
    ByteOrderMark = "byte-order-mark", info, info;
    /// A `---` line has trailing spaces.
    DelimiterSpace = "delimiter-space", warning, warning;
    /// The closing `---` line has more text on it, or is indented.
    DelimiterText = "delimiter-text", warning, error;
    /// A second document follows inside the frontmatter.
    SecondDocument = "second-document", warning, error;
    // YAML
    /// The YAML can't be parsed.
    YamlSyntax = "yaml-syntax", error, error;
    /// One value was not valid YAML and was read as plain text.
    YamlRepaired = "yaml-repaired", warning, error;
    /// A line that belongs to no field was ignored.
    StrayLine = "stray-line", warning, error;
    /// A value was read as JSON5, because it is not YAML.
    ReadAsJson5 = "read-as-json5", warning, error;
    /// An unquoted ` #` cut the text off.
    CommentCutsText = "comment-cuts-text", warning, warning;
    /// The same key is given twice.
    DuplicateKey = "duplicate-key", warning, error;
    /// The name or the description is given twice, with different values.
    DuplicateIdentity = "duplicate-identity", error, error;
    /// An alias (`*x`) is used.
    AliasUsed = "alias-used", warning, error;
    /// Aliases expand to more than the budget.
    AliasBudget = "alias-budget", error, error;
    /// A merge key (`<<`) is used; it is not applied.
    MergeKey = "merge-key", warning, error;
    /// A YAML tag (`!…`) is used.
    TagUsed = "tag-used", error, error;
    /// The nesting is deeper than the limit.
    TooDeep = "too-deep", error, error;
    /// There are more values than the limit.
    TooManyValues = "too-many-values", error, error;
    // Name and description
    /// There is no name; the folder's name is used.
    NameMissing = "name-missing", warning, error;
    /// The name is not text; the folder's name is used.
    NameType = "name-type", warning, error;
    /// The name can't be read, or contains path separators, control or invisible characters; the folder's name is
    /// used.
    NameUnusable = "name-unusable", warning, error;
    /// Neither the file nor the folder has a usable name.
    NameNone = "name-none", error, error;
    /// The name is that of one of metier's tools.
    NameReserved = "name-reserved", error, error;
    /// The name is longer than 64 characters.
    NameTooLong = "name-too-long", warning, error;
    /// The name contains characters other than a–z, 0–9 and hyphens.
    NameCharacters = "name-characters", warning, error;
    /// The name starts or ends with a hyphen, or has two in a row.
    NameHyphens = "name-hyphens", warning, error;
    /// The name differs from the folder's name.
    NameFolder = "name-folder", warning, error;
    /// There is no description.
    DescriptionMissing = "description-missing", error, error;
    /// The description is not text.
    DescriptionType = "description-type", error, error;
    /// The description is longer than 1024 characters.
    DescriptionTooLong = "description-too-long", warning, error;
    /// The text contains invisible characters; they are not shown to a model.
    HiddenText = "hidden-text", warning, warning;
    /// The text contains control characters; they are shown escaped.
    ControlCharacters = "control-characters", warning, warning;
    // Other fields of the standard
    /// The compatibility text is not 1–500 characters of text.
    CompatibilityForm = "compatibility-form", warning, error;
    /// The licence is not text.
    LicenseForm = "license-form", warning, error;
    /// The metadata is not a map.
    MetadataForm = "metadata-form", warning, error;
    /// A metadata value is not text.
    MetadataValue = "metadata-value", silent, error;
    /// The allowed tools are not one space-separated string.
    AllowedToolsForm = "allowed-tools-form", silent, error;
    /// A known field that is not part of the specification.
    NonStandardField = "non-standard-field", silent, error;
    /// An unknown field.
    UnknownField = "unknown-field", warning, error;
    // Fields of metier and of other tools
    /// A field has the wrong form and was ignored.
    FieldForm = "field-form", warning, warning;
    /// The version is not SemVer.
    VersionForm = "version-form", warning, warning;
    /// The version of a SKILL.yaml is not SemVer.
    VersionNotSemver = "version-not-semver", warning, error;
    /// A required field of a SKILL.yaml is missing.
    FieldMissing = "field-missing", warning, error;
    /// An unknown skill type; it has no effect.
    TypeUnknown = "type-unknown", warning, error;
    /// An unknown backend; the skill's code can't run.
    BackendUnknown = "backend-unknown", warning, error;
    /// The file that a backend would run is not given, or is not in the skill's folder.
    EntrypointMissing = "entrypoint-missing", warning, error;
    /// The file that a backend would run has to be built first.
    EntrypointUnbuilt = "entrypoint-unbuilt", warning, warning;
    /// A prompt or context file is not in the skill's folder.
    PromptFileMissing = "prompt-file-missing", warning, error;
    /// A security rule is invalid; it finds nothing.
    SecurityRuleForm = "security-rule-form", warning, error;
    /// A trigger that can never match.
    TriggerForm = "trigger-form", warning, error;
    /// An unknown value of this field.
    UnknownWord = "unknown-word", warning, warning;
    /// An unknown permission; it grants nothing.
    PermissionUnknown = "permission-unknown", warning, error;
    /// An entry of a list of tools is not a tool pattern; it allows nothing.
    ToolForm = "tool-form", warning, warning;
    /// SKILL.yaml and SKILL.md disagree on the name.
    NamesDisagree = "names-disagree", error, error;
    /// The sidecar file could not be read.
    SidecarUnread = "sidecar-unread", warning, warning;
    // Discovery
    /// A root could not be read.
    RootUnreadable = "root-unreadable", error, error;
    /// A configured folder does not exist.
    RootMissing = "root-missing", warning, warning;
    /// A folder could not be read.
    FolderUnreadable = "folder-unreadable", warning, warning;
    /// A limit was reached; the rest was not searched.
    LimitReached = "limit-reached", warning, warning;
    /// A link that is broken or circular.
    LinkBroken = "link-broken", warning, warning;
    /// Another skill of the same name has precedence.
    Shadowed = "shadowed", warning, warning;
    /// An optional dependency is not installed.
    DependencyMissing = "dependency-missing", warning, warning;
    /// Skills depend on each other in a cycle.
    DependencyCycle = "dependency-cycle", warning, warning;
    /// The skill requires tools, and the agent's tools are not known.
    ToolsUnchecked = "tools-unchecked", warning, warning;
    /// The configured version is not installed.
    VersionNotFound = "version-not-found", warning, warning;
    /// The name or the description contains instructions for a model: the skill is blocked.
    WordsInstruct = "words-instruct", warning, warning;
    /// A configured MCP server did not list its skills, or not all of them.
    McpServer = "mcp-server", warning, warning;
    /// An MCP server's description of a skill breaks the rules of the Skills extension; the skill is not loaded.
    RemoteSkill = "remote-skill", error, error;
    /// A selected skill does not exist.
    SelectionUnknown = "selection-unknown", warning, warning;
    // Hooks
    /// A hook has the wrong form and is not called.
    HookForm = "hook-form", warning, warning;
    /// An event or a kind of hook that has no counterpart here.
    HookUnsupported = "hook-unsupported", warning, warning;
    /// A HOOK.md has no handler next to it.
    HookHandlerMissing = "hook-handler-missing", warning, warning;
}

impl DiagnosticCode {
    /// The stable id, as in the output of `metier validate`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        TABLE[self as usize].id
    }

    /// One sentence about it, for the reference page.
    #[must_use]
    pub fn about(self) -> &'static str {
        TABLE[self as usize].about.trim_ascii_start()
    }

    /// The severity in `mode`; `None` if that mode does not report it.
    #[must_use]
    pub fn severity(self, mode: Strictness) -> Option<DiagnosticSeverity> {
        let row = &TABLE[self as usize];
        match mode {
            Strictness::Lenient => row.lenient,
            Strictness::Strict => row.strict,
        }
    }

    /// The code at a position of [`DiagnosticCode::ALL`], which the index stores.
    #[must_use]
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A position in a file, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity in the mode that was used.
    pub severity: DiagnosticSeverity,
    /// The kind of problem.
    pub code: DiagnosticCode,
    /// The problem in one sentence.
    pub message: Box<str>,
    /// How to fix it.
    pub hint: Option<Box<str>>,
    /// The file, relative to the skill's folder; an absolute path if there is no skill.
    pub file: Box<str>,
    /// The position in the file.
    pub position: Option<Position>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_kebab_case() {
        let ids: BTreeSet<_> = DiagnosticCode::ALL
            .iter()
            .map(|code| code.as_str())
            .collect();
        assert_eq!(ids.len(), DiagnosticCode::ALL.len());
        assert!(ids.iter().all(|id| {
            id.chars()
                .all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit())
        }));
    }

    #[test]
    fn strict_is_never_more_forgiving_than_lenient() {
        for code in DiagnosticCode::ALL {
            assert!(
                code.severity(Strictness::Strict) >= code.severity(Strictness::Lenient),
                "{code}"
            );
        }
    }

    #[test]
    fn the_page_lists_every_code() {
        let page = include_str!("../../../docs/validation.md");
        let word = |code: DiagnosticCode, mode| {
            code.severity(mode)
                .map_or("silent", DiagnosticSeverity::as_str)
        };
        for code in DiagnosticCode::ALL {
            let (lenient, strict) = (
                word(*code, Strictness::Lenient),
                word(*code, Strictness::Strict),
            );
            let about = code.about();
            let row = format!("| `{code}` | {lenient} | {strict} | {about} |\n");
            assert!(page.contains(&row), "docs/validation.md lacks: {row}");
        }
    }

    #[test]
    fn codes_survive_the_index() {
        for (index, code) in DiagnosticCode::ALL.iter().enumerate() {
            assert_eq!(
                DiagnosticCode::from_index(u8::try_from(index).unwrap()),
                Some(*code)
            );
        }
    }
}
