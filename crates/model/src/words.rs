//! The enumerated values of a manifest: source, version, digest, types, backends, systems.

use std::{fmt, str::FromStr};

/// Where a skill comes from. Of two skills with one name, the greater source has precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Folders named in the configuration, and other agents' folders.
    Extra,
    /// The skills that are compiled into the binary.
    Builtin,
    /// The user's own skills.
    User,
    /// The skills of the project.
    Project,
    /// Skills named on the command line or in AGENT.md.
    Inline,
}

impl Source {
    /// All sources, lowest precedence first.
    pub const ALL: [Self; 5] = [
        Self::Extra,
        Self::Builtin,
        Self::User,
        Self::Project,
        Self::Inline,
    ];

    /// The name used in text and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Extra => "extra",
            Self::Builtin => "builtin",
            Self::User => "user",
            Self::Project => "project",
            Self::Inline => "inline",
        }
    }
}

/// A value that this field does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The value as written.
    pub found: String,
    /// The values that the field allows.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not one of {}",
            self.found.escape_debug(),
            self.known.join(", ")
        )
    }
}

impl std::error::Error for UnknownWord {}

macro_rules! words {
    ($type:ty, $known:expr, $($($word:literal)|+ => $value:expr),+ $(,)?) => {
        impl FromStr for $type {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($($word)|+ => Ok($value),)+
                    _ => Err(UnknownWord { found: text.to_owned(), known: $known }),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words!(Source, &["extra", "builtin", "user", "project", "inline"],
    "extra" => Self::Extra, "builtin" => Self::Builtin, "user" => Self::User,
    "project" => Self::Project, "inline" => Self::Inline);

/// A kind of contribution of an active skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkillType {
    /// Tools that a model can call.
    Tool,
    /// Text for the model.
    Prompt,
    /// A procedure that runs by name.
    Workflow,
    /// Rules for the scanner.
    SecurityRule,
    /// A change of the final response.
    Transform,
}

impl SkillType {
    /// All types, in a fixed order.
    pub const ALL: [Self; 5] = [
        Self::Tool,
        Self::Prompt,
        Self::Workflow,
        Self::SecurityRule,
        Self::Transform,
    ];

    /// The name used in manifests and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Workflow => "workflow",
            Self::SecurityRule => "security-rule",
            Self::Transform => "transform",
        }
    }
}

words!(SkillType, &["tool", "prompt", "workflow", "security-rule", "transform"],
    "tool" => Self::Tool, "prompt" => Self::Prompt, "workflow" => Self::Workflow,
    "security-rule" => Self::SecurityRule, "transform" => Self::Transform);

/// A set of skill types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Types(u8);

impl Types {
    /// Only `prompt`, the default.
    pub const PROMPT: Self = Self(1 << SkillType::Prompt as u8);

    /// Adds a type to the set.
    pub fn insert(&mut self, kind: SkillType) {
        self.0 |= 1 << kind as u8;
    }

    /// Whether the set contains this type.
    #[must_use]
    pub const fn contains(self, kind: SkillType) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The types in the set, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = SkillType> {
        SkillType::ALL
            .into_iter()
            .filter(move |kind| self.contains(*kind))
    }

    /// The set as bits, for the index.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set from bits; unknown ones are dropped.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0b1_1111)
    }
}

/// A way to run skill code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// A Starlark script in a worker.
    Starlark,
    /// A WebAssembly module or component.
    Wasm,
    /// A child process that uses the wire protocol.
    Process,
    /// A native library in a child process.
    Native,
    /// JavaScript or TypeScript, through Deno or the embedded engine.
    Js,
}

impl Backend {
    /// All backends, in a fixed order.
    pub const ALL: [Self; 5] = [
        Self::Starlark,
        Self::Wasm,
        Self::Process,
        Self::Native,
        Self::Js,
    ];

    /// The name used in manifests and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starlark => "starlark",
            Self::Wasm => "wasm",
            Self::Process => "process",
            Self::Native => "native",
            Self::Js => "js",
        }
    }
}

words!(Backend, &["starlark", "wasm", "process", "native", "js"],
    "starlark" => Self::Starlark, "wasm" => Self::Wasm, "process" => Self::Process,
    "native" | "plugin" => Self::Native, "js" | "deno" => Self::Js);

/// An operating system, as skills name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Os {
    /// macOS; skills write `darwin` or `macos`.
    Macos,
    /// Linux; skills write `linux`.
    Linux,
    /// Windows; skills write `win32` or `windows`.
    Windows,
}

impl Os {
    /// The name used in messages and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Macos => "macos",
            Self::Linux => "linux",
            Self::Windows => "windows",
        }
    }
}

words!(Os, &["darwin", "macos", "linux", "win32", "windows"],
    "darwin" | "macos" => Self::Macos, "linux" => Self::Linux, "win32" | "windows" => Self::Windows);

/// A version, as written, and as SemVer if it is valid. Boxed, because most skills have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(Box<(Box<str>, Option<semver::Version>)>);

impl Version {
    /// Keeps the string and parses it as SemVer; `1.2` is parsed as `1.2.0`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let core = text.trim().trim_start_matches('v');
        let semver = semver::Version::parse(core).ok().or_else(|| {
            let zeros = match core.bytes().filter(|byte| *byte == b'.').count() {
                0 => ".0.0",
                1 => ".0",
                _ => return None,
            };
            semver::Version::parse(&format!("{core}{zeros}")).ok()
        });
        Self(Box::new((text.trim().into(), semver)))
    }

    /// The version as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.0
    }

    /// The version as SemVer, if it is valid.
    #[must_use]
    pub fn semver(&self) -> Option<&semver::Version> {
        self.0.1.as_ref()
    }

    /// Whether it is written exactly in SemVer's form.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.semver()
            .is_some_and(|version| version.to_string() == self.as_str())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The SHA-256 digest of a skill's exact bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list prints ten thousand of them.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str("sha256:")?;
        f.write_str(std::str::from_utf8(&hex).unwrap_or_default())
    }
}

/// The string is not `sha256:` followed by 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADigest;

impl fmt::Display for NotADigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a digest: expected `sha256:` and 64 hexadecimal digits")
    }
}

impl std::error::Error for NotADigest {}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text
            .strip_prefix("sha256:")
            .filter(|hex| hex.len() == 64 && hex.is_ascii())
            .ok_or(NotADigest)?;
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let pair = &hex[index * 2..index * 2 + 2];
            let lower = pair
                .bytes()
                .all(|digit| digit.is_ascii_digit() || matches!(digit, b'a'..=b'f'));
            *byte = u8::from_str_radix(pair, 16)
                .ok()
                .filter(|_| lower)
                .ok_or(NotADigest)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_ordered_by_precedence() {
        assert!(Source::ALL.is_sorted());
        assert!(
            Source::ALL
                .iter()
                .all(|source| source.as_str().parse() == Ok(*source))
        );
    }

    #[test]
    fn versions_keep_their_spelling() {
        assert_eq!(Version::new("1.10").as_str(), "1.10");
        assert_eq!(
            Version::new("1.10").semver(),
            Some(&semver::Version::new(1, 10, 0))
        );
        assert!(Version::new("1.2.3-rc.1").is_exact());
        assert_eq!(Version::new("latest").semver(), None);
    }

    #[test]
    fn digests_read_back() {
        let digest = Digest([0xab; 32]);
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("sha256:AB".parse::<Digest>().is_err());
        assert!(
            format!("sha256:{}", "A".repeat(64))
                .parse::<Digest>()
                .is_err()
        );
    }
}
