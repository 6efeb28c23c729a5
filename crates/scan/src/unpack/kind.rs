//! What a file is, by its first bytes and by its name.
//!
//! The two are independent evidence. Bytes determine what a loader does with it, the name what a person expects;
//! so binary formats are recognized by their magic, texts by their extension (a Python file has no magic), and if a text
//! has no known extension, by their `#!` line. When the two contradict each other in a deceptive way,
//! [`mismatch`] describes the difference; [`polyglot`] describes a file of two types at once.

use super::{image, pyc};

/// A dialect of JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// `.js`, `.mjs`, `.cjs`.
    Plain,
    /// `.jsx`.
    Jsx,
    /// `.ts`, `.mts`, `.cts`.
    TypeScript,
    /// `.tsx`.
    Tsx,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Markdown.
    Markdown,
    /// Python source.
    Python,
    /// JavaScript or TypeScript.
    JavaScript(Dialect),
    /// A script for a POSIX shell, by its ending or its `#!` line.
    Shell,
    /// PowerShell.
    PowerShell,
    /// `.bat`, `.cmd`.
    Batch,
    /// Source in a language that is not analysed further: Ruby, Perl, PHP, Go, C …
    Code,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// HTML.
    Html,
    /// A picture that is a program: SVG.
    Svg,
    /// A style sheet.
    Css,
    /// A Jupyter notebook.
    Notebook,
    /// Other text.
    Text,
    /// A picture of pixels.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// A font.
    Font,
    /// PDF.
    Pdf,
    /// A zip archive, wheels and packed skills included.
    Zip,
    /// A document of Office since 2007, a zip archive within.
    Ooxml,
    /// A document of Office before 2007.
    Ole,
    /// gzip, a packed tar included.
    Gzip,
    /// tar.
    Tar,
    /// bzip2, xz, zstd, 7z or rar, which are not opened.
    Sealed,
    /// Python bytecode.
    Pyc,
    /// A program for Linux.
    Elf,
    /// A program for macOS.
    MachO,
    /// A program for Windows.
    Pe,
    /// WebAssembly.
    Wasm,
    /// Java bytecode.
    JavaClass,
    /// A zip archive of Java bytecode.
    Jar,
    /// A pickle: Python objects, and the calls that make them.
    Pickle,
    /// An SQLite database.
    Sqlite,
    /// Bytes of an unknown kind.
    Binary,
}

impl Kind {
    /// Whether a processor or a virtual machine executes it as it is.
    #[must_use]
    pub(crate) fn is_program(self) -> bool {
        matches!(
            self,
            Self::Elf
                | Self::MachO
                | Self::Pe
                | Self::Wasm
                | Self::JavaClass
                | Self::Jar
                | Self::Pyc
        )
    }

    /// Whether it is source that something executes.
    #[must_use]
    pub(crate) fn is_script(self) -> bool {
        matches!(
            self,
            Self::Python
                | Self::JavaScript(_)
                | Self::Shell
                | Self::PowerShell
                | Self::Batch
                | Self::Code
        )
    }

    /// Whether other files are inside.
    #[must_use]
    pub(crate) fn is_archive(self) -> bool {
        matches!(
            self,
            Self::Zip | Self::Ooxml | Self::Gzip | Self::Tar | Self::Sealed | Self::Jar
        )
    }

    /// Whether it is read as text.
    #[must_use]
    pub(crate) fn is_text(self) -> bool {
        self.is_script()
            || matches!(
                self,
                Self::Markdown
                    | Self::Json
                    | Self::Yaml
                    | Self::Toml
                    | Self::Html
                    | Self::Svg
                    | Self::Css
                    | Self::Notebook
                    | Self::Text
            )
    }

    fn is_media(self) -> bool {
        matches!(
            self,
            Self::Image | Self::Audio | Self::Video | Self::Font | Self::Pdf
        )
    }
}

/// The magic numbers that have a fixed place at the beginning.
const MAGIC: &[(&[u8], Kind)] = &[
    (b"\x89PNG\r\n\x1a\n", Kind::Image),
    (b"\xff\xd8\xff", Kind::Image),
    (b"GIF87a", Kind::Image),
    (b"GIF89a", Kind::Image),
    (b"II*\0", Kind::Image),
    (b"MM\0*", Kind::Image),
    (b"\0\0\x01\0", Kind::Image),
    (b"8BPS", Kind::Image),
    (b"%PDF-", Kind::Pdf),
    (b"PK\x03\x04", Kind::Zip),
    (b"PK\x05\x06", Kind::Zip),
    (b"\x1f\x8b", Kind::Gzip),
    (b"BZh", Kind::Sealed),
    (b"\xfd7zXZ\0", Kind::Sealed),
    (b"7z\xbc\xaf\x27\x1c", Kind::Sealed),
    (b"Rar!\x1a\x07", Kind::Sealed),
    (b"\x28\xb5\x2f\xfd", Kind::Sealed),
    (b"\x7fELF", Kind::Elf),
    (b"\xfe\xed\xfa\xce", Kind::MachO),
    (b"\xfe\xed\xfa\xcf", Kind::MachO),
    (b"\xce\xfa\xed\xfe", Kind::MachO),
    (b"\xcf\xfa\xed\xfe", Kind::MachO),
    (b"\0asm", Kind::Wasm),
    (b"SQLite format 3\0", Kind::Sqlite),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::Ole),
    (b"OTTO", Kind::Font),
    (b"wOFF", Kind::Font),
    (b"wOF2", Kind::Font),
    (b"ttcf", Kind::Font),
    (b"\0\x01\0\0\0", Kind::Font),
    (b"ID3", Kind::Audio),
    (b"\xff\xfb", Kind::Audio),
    (b"fLaC", Kind::Audio),
    (b"OggS", Kind::Audio),
    (b"\x1a\x45\xdf\xa3", Kind::Video),
];

/// The kinds of file extensions.
const ENDINGS: &[(&[&str], Kind)] = &[
    (&["md", "markdown", "mdx", "mdc"], Kind::Markdown),
    (&["py", "pyw", "pyi"], Kind::Python),
    (&["js", "mjs", "cjs"], Kind::JavaScript(Dialect::Plain)),
    (&["jsx"], Kind::JavaScript(Dialect::Jsx)),
    (&["ts", "mts", "cts"], Kind::JavaScript(Dialect::TypeScript)),
    (&["tsx"], Kind::JavaScript(Dialect::Tsx)),
    (
        &["sh", "bash", "zsh", "ksh", "dash", "command", "bats"],
        Kind::Shell,
    ),
    (&["ps1", "psm1", "psd1"], Kind::PowerShell),
    (&["bat", "cmd"], Kind::Batch),
    (
        &[
            "rb",
            "pl",
            "pm",
            "php",
            "lua",
            "go",
            "rs",
            "c",
            "h",
            "cc",
            "cpp",
            "java",
            "kt",
            "swift",
            "cs",
            "r",
            "vbs",
            "fish",
            "applescript",
            "awk",
            "tcl",
        ],
        Kind::Code,
    ),
    (
        &["json", "jsonc", "json5", "jsonl", "map", "webmanifest"],
        Kind::Json,
    ),
    (&["yaml", "yml"], Kind::Yaml),
    (&["toml"], Kind::Toml),
    (&["html", "htm", "xhtml"], Kind::Html),
    (&["svg"], Kind::Svg),
    (&["css", "scss", "less"], Kind::Css),
    (&["ipynb"], Kind::Notebook),
    (
        &[
            "txt", "text", "rst", "adoc", "csv", "tsv", "log", "ini", "cfg", "conf", "xml", "xsd",
            "tex", "license",
        ],
        Kind::Text,
    ),
    (
        &[
            "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tif", "tiff", "avif", "heic",
        ],
        Kind::Image,
    ),
    (&["mp3", "wav", "flac", "ogg", "m4a", "aac"], Kind::Audio),
    (&["mp4", "mov", "webm", "mkv", "avi"], Kind::Video),
    (&["ttf", "otf", "woff", "woff2", "ttc", "eot"], Kind::Font),
    (&["pdf"], Kind::Pdf),
    (
        &[
            "zip", "whl", "skill", "egg", "xpi", "vsix", "mcpb", "dxt", "crx", "apk",
        ],
        Kind::Zip,
    ),
    (
        &[
            "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "xlam", "pptx", "pptm", "potx",
            "ppsx",
        ],
        Kind::Ooxml,
    ),
    (&["doc", "xls", "ppt", "msi"], Kind::Ole),
    (&["gz", "tgz"], Kind::Gzip),
    (&["tar"], Kind::Tar),
    (
        &["bz2", "tbz", "tbz2", "xz", "txz", "7z", "rar", "zst"],
        Kind::Sealed,
    ),
    (&["pyc", "pyo"], Kind::Pyc),
    (&["so", "elf", "o"], Kind::Elf),
    (&["dylib"], Kind::MachO),
    (&["exe", "dll", "scr", "pyd", "sys", "com"], Kind::Pe),
    (&["wasm"], Kind::Wasm),
    (&["class"], Kind::JavaClass),
    (&["jar", "war"], Kind::Jar),
    (&["pkl", "pickle", "joblib"], Kind::Pickle),
    (&["sqlite", "sqlite3", "db"], Kind::Sqlite),
];

/// What a file is. `head` is its beginning; a few kilobytes are enough.
#[must_use]
pub(crate) fn kind(path: &str, head: &[u8]) -> Kind {
    let named = by_ending(path);
    if let Some(found) = by_magic(head) {
        return match (found, named) {
            (Kind::Zip, Some(Kind::Ooxml | Kind::Jar)) => named.unwrap_or(found),
            (Kind::Zip, _)
                if head
                    .get(30..)
                    .is_some_and(|rest| rest.starts_with(b"[Content_Types].xml")) =>
            {
                Kind::Ooxml
            }
            (Kind::Audio, Some(Kind::Video)) | (Kind::Video, Some(Kind::Audio)) => {
                named.unwrap_or(found)
            }
            _ => found,
        };
    }
    let by_line = shebang(head);
    let binary = is_binary(head);
    match named {
        // A file is started by its first line, whatever its name.
        Some(Kind::Python | Kind::JavaScript(_)) if by_line == Some(Kind::Shell) => Kind::Shell,
        Some(named) if named.is_script() && (!binary || head.is_empty()) => named,
        _ if by_line.is_some() => by_line.unwrap_or(Kind::Text),
        Some(named) if named.is_text() && binary => Kind::Binary,
        // What promises to be binary and has no magic is what it looks like, except where there is no magic to have.
        Some(named)
            if named.is_text() || head.is_empty() || matches!(named, Kind::Pickle | Kind::Pyc) =>
        {
            named
        }
        _ if binary => Kind::Binary,
        _ => by_first_words(head),
    }
}

/// Why the name of a file is deceptive, if it is.
#[must_use]
pub(crate) fn mismatch(path: &str, kind: Kind) -> Option<&'static str> {
    let named = by_ending(path)?;
    let quiet = named.is_media() || named.is_text() && !named.is_script();
    match kind {
        _ if named == kind => None,
        kind if kind.is_program() && (quiet || named.is_script()) => {
            Some("a program, named like something to read")
        }
        Kind::Pickle if quiet => Some("a pickle, named like something to read"),
        kind if kind.is_archive() && !named.is_archive() && !matches!(named, Kind::Ole) => {
            Some("an archive, named like something else")
        }
        kind if kind.is_script()
            && (named.is_media()
                || matches!(
                    named,
                    Kind::Text | Kind::Markdown | Kind::Json | Kind::Yaml | Kind::Toml | Kind::Css
                )) =>
        {
            Some("a script, named like something to read")
        }
        Kind::Html | Kind::Svg if named.is_media() => {
            Some("a page that runs scripts, named like a picture")
        }
        kind if kind.is_text() && named.is_media() => {
            Some("text, named like a picture or a document")
        }
        Kind::Binary if named.is_text() => Some("binary data, named like text"),
        kind if kind.is_program() && named.is_archive() && kind != Kind::Jar => {
            Some("a program, named like an archive")
        }
        _ => None,
    }
}

/// The second type of a file with two types.
#[must_use]
pub(crate) fn polyglot(kind: Kind, bytes: &[u8]) -> Option<&'static str> {
    if !kind.is_archive() && !kind.is_text() && has_zip_end(bytes) {
        return Some("a zip archive is appended");
    }
    if let Some(tail) = (kind == Kind::Image)
        .then(|| image::picture(bytes).trailing)
        .flatten()
    {
        let rest = bytes.get(tail).unwrap_or_default();
        return Some(match by_magic(rest).or_else(|| shebang(rest)) {
            Some(found) if found.is_archive() => "an archive follows the picture",
            Some(found) if found.is_program() => "a program follows the picture",
            Some(found) if found.is_script() => "a script follows the picture",
            Some(Kind::Image | Kind::Video) => return None,
            _ if !is_binary(rest) => "text follows the picture",
            _ => "data follow the picture",
        });
    }
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    let is_inner_pdf =
        !kind.is_text() && kind != Kind::Pdf && memchr::memmem::find(head, b"%PDF-").is_some();
    is_inner_pdf.then_some("a PDF begins inside")
}

fn by_ending(path: &str) -> Option<Kind> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    ENDINGS
        .iter()
        .find(|(endings, _)| endings.contains(&ending.as_str()))
        .map(|&(_, kind)| kind)
}

fn by_magic(head: &[u8]) -> Option<Kind> {
    if let Some(&(_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    match head {
        // A class has its version where a fat Mach-O has the number of its programs.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0..=30, ..] => Some(Kind::MachO),
        [0xca, 0xfe, 0xba, 0xbe, ..] => Some(Kind::JavaClass),
        [b'M', b'Z', ..] if is_binary(head) => Some(Kind::Pe),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Kind::Image),
        [b'R', b'I', b'F', b'F', _, _, _, _, form @ ..] => match form {
            [b'W', b'E', b'B', b'P', ..] => Some(Kind::Image),
            [b'W', b'A', b'V', b'E', ..] => Some(Kind::Audio),
            [b'A', b'V', b'I', b' ', ..] => Some(Kind::Video),
            _ => None,
        },
        [0, 0, _, _, b'f', b't', b'y', b'p', brand @ ..] => {
            let picture = [&b"heic"[..], b"avif", b"mif1", b"heix"]
                .iter()
                .any(|name| brand.starts_with(name));
            Some(if picture { Kind::Image } else { Kind::Video })
        }
        [
            0x80,
            2..=5,
            0x95 | b'c' | b'}' | b']' | b'(' | b'X' | 0x8c | b')' | b'K',
            ..,
        ] => Some(Kind::Pickle),
        _ if pyc::has_magic(head) => Some(Kind::Pyc),
        _ if head.get(257..262) == Some(b"ustar") => Some(Kind::Tar),
        _ => None,
    }
}

/// The language that a `#!` line names.
fn shebang(head: &[u8]) -> Option<Kind> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.strip_prefix(b"#!")?;
    let line = line.split(|&b| b == b'\n').next()?;
    let line = std::str::from_utf8(line.get(..line.len().min(200))?).ok()?;
    let mut words = line
        .split_whitespace()
        .filter_map(|word| word.rsplit('/').next());
    let first = words.next()?;
    // `env -S FOO=1 python3 -u`: the program is the first word that is neither an option nor an assignment.
    let name = if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('='))?
    } else {
        first
    };
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "bats" => Kind::Shell,
        "python" | "pypy" | "uv" | "pipx" => Kind::Python,
        "node" | "nodejs" | "bun" | "deno" | "zx" => Kind::JavaScript(Dialect::Plain),
        "ts-node" | "tsx" => Kind::JavaScript(Dialect::TypeScript),
        "pwsh" | "powershell" => Kind::PowerShell,
        _ => Kind::Code,
    })
}

fn by_first_words(head: &[u8]) -> Kind {
    let head = head.get(..head.len().min(1024)).unwrap_or_default();
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg") {
        Kind::Svg
    } else if text.starts_with("<!doctype html") || text.starts_with("<html") {
        Kind::Html
    } else if text.starts_with("<?php") {
        Kind::Code
    } else {
        Kind::Text
    }
}

/// Bytes that no text has. UTF-16 with its mark is text.
fn is_binary(head: &[u8]) -> bool {
    let head = head.get(..head.len().min(8192)).unwrap_or_default();
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return false;
    }
    let odd = head
        .iter()
        .filter(|&&b| b < 9 || (14..27).contains(&b))
        .count();
    head.contains(&0) || odd * 20 > head.len()
}

/// The end record of a zip archive, where a reader expects it, with a directory before it.
fn has_zip_end(bytes: &[u8]) -> bool {
    let tail = bytes
        .get(bytes.len().saturating_sub(66_000)..)
        .unwrap_or_default();
    memchr::memmem::rfind(tail, b"PK\x05\x06").is_some()
        && memchr::memmem::find(bytes, b"PK\x01\x02").is_some()
}
