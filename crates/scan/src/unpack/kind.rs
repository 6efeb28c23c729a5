//! The type of a file, by its first bytes and by its name.
//!
//! The two are independent evidence. Bytes determine what a loader does with it, the name what a person expects;
//! so binary formats are recognised by their magic, texts by their extension (a Python file has no magic), and if a text
//! has no known extension, by their `#!` line. When the two contradict each other in a deceptive way,
//! [`mismatch`] describes the difference; [`polyglot`] describes a file of two types at once.

use super::{image, pyc};

/// A dialect of JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileDialect {
    /// `.js`, `.mjs`, `.cjs`.
    Plain,
    /// `.jsx`.
    Jsx,
    /// `.ts`, `.mts`, `.cts`.
    TypeScript,
    /// `.tsx`.
    Tsx,
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileKind {
    /// Markdown.
    Markdown,
    /// Python source.
    Python,
    /// JavaScript or TypeScript.
    JavaScript(FileDialect),
    /// A script for a POSIX shell, by its extension or its `#!` line.
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
    /// An image that is a program: SVG.
    Svg,
    /// A style sheet.
    Css,
    /// A Jupyter notebook.
    Notebook,
    /// Other text.
    Text,
    /// A pixel image.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// A font.
    Font,
    /// PDF.
    Pdf,
    /// A zip archive, including wheels and packed skills.
    Zip,
    /// An Office document since 2007, which is a zip archive.
    Ooxml,
    /// An Office document before 2007.
    Ole,
    /// gzip, including a packed tar.
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

impl FileKind {
    /// Whether a processor or a virtual machine executes it directly.
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

    /// Whether it contains other files.
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

/// The magic numbers at a fixed offset at the beginning.
const MAGIC: &[(&[u8], FileKind)] = &[
    (b"\x89PNG\r\n\x1a\n", FileKind::Image),
    (b"\xff\xd8\xff", FileKind::Image),
    (b"GIF87a", FileKind::Image),
    (b"GIF89a", FileKind::Image),
    (b"II*\0", FileKind::Image),
    (b"MM\0*", FileKind::Image),
    (b"\0\0\x01\0", FileKind::Image),
    (b"8BPS", FileKind::Image),
    (b"%PDF-", FileKind::Pdf),
    (b"PK\x03\x04", FileKind::Zip),
    (b"PK\x05\x06", FileKind::Zip),
    (b"\x1f\x8b", FileKind::Gzip),
    (b"BZh", FileKind::Sealed),
    (b"\xfd7zXZ\0", FileKind::Sealed),
    (b"7z\xbc\xaf\x27\x1c", FileKind::Sealed),
    (b"Rar!\x1a\x07", FileKind::Sealed),
    (b"\x28\xb5\x2f\xfd", FileKind::Sealed),
    (b"\x7fELF", FileKind::Elf),
    (b"\xfe\xed\xfa\xce", FileKind::MachO),
    (b"\xfe\xed\xfa\xcf", FileKind::MachO),
    (b"\xce\xfa\xed\xfe", FileKind::MachO),
    (b"\xcf\xfa\xed\xfe", FileKind::MachO),
    (b"\0asm", FileKind::Wasm),
    (b"SQLite format 3\0", FileKind::Sqlite),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileKind::Ole),
    (b"OTTO", FileKind::Font),
    (b"wOFF", FileKind::Font),
    (b"wOF2", FileKind::Font),
    (b"ttcf", FileKind::Font),
    (b"\0\x01\0\0\0", FileKind::Font),
    (b"ID3", FileKind::Audio),
    (b"\xff\xfb", FileKind::Audio),
    (b"fLaC", FileKind::Audio),
    (b"OggS", FileKind::Audio),
    (b"\x1a\x45\xdf\xa3", FileKind::Video),
];

/// The kinds of file extensions.
const ENDINGS: &[(&[&str], FileKind)] = &[
    (&["md", "markdown", "mdx", "mdc"], FileKind::Markdown),
    (&["py", "pyw", "pyi"], FileKind::Python),
    (
        &["js", "mjs", "cjs"],
        FileKind::JavaScript(FileDialect::Plain),
    ),
    (&["jsx"], FileKind::JavaScript(FileDialect::Jsx)),
    (
        &["ts", "mts", "cts"],
        FileKind::JavaScript(FileDialect::TypeScript),
    ),
    (&["tsx"], FileKind::JavaScript(FileDialect::Tsx)),
    (
        &["sh", "bash", "zsh", "ksh", "dash", "command", "bats"],
        FileKind::Shell,
    ),
    (&["ps1", "psm1", "psd1"], FileKind::PowerShell),
    (&["bat", "cmd"], FileKind::Batch),
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
            "scpt",
            "phtml",
            "php5",
            "cgi",
            "kts",
            "ex",
            "exs",
            "scala",
            "groovy",
            "gradle",
            "dart",
            "nim",
            "cr",
            "jl",
            "m",
            "mm",
            "vb",
            "vbe",
            "wsf",
            "hta",
            "au3",
            "ahk",
            "raku",
            "zig",
            "erl",
            "hs",
            "ml",
            "d",
            "pas",
            "rake",
            "gemspec",
        ],
        FileKind::Code,
    ),
    (
        &["json", "jsonc", "json5", "jsonl", "map", "webmanifest"],
        FileKind::Json,
    ),
    (&["yaml", "yml"], FileKind::Yaml),
    (&["toml"], FileKind::Toml),
    (&["html", "htm", "xhtml"], FileKind::Html),
    (&["svg"], FileKind::Svg),
    (&["css", "scss", "less"], FileKind::Css),
    (&["ipynb"], FileKind::Notebook),
    (
        &[
            "txt", "text", "rst", "adoc", "csv", "tsv", "log", "ini", "cfg", "conf", "xml", "xsd",
            "tex", "license",
        ],
        FileKind::Text,
    ),
    (
        &[
            "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tif", "tiff", "avif", "heic",
        ],
        FileKind::Image,
    ),
    (
        &["mp3", "wav", "flac", "ogg", "m4a", "aac"],
        FileKind::Audio,
    ),
    (&["mp4", "mov", "webm", "mkv", "avi"], FileKind::Video),
    (
        &["ttf", "otf", "woff", "woff2", "ttc", "eot"],
        FileKind::Font,
    ),
    (&["pdf"], FileKind::Pdf),
    (
        &[
            "zip", "whl", "skill", "egg", "xpi", "vsix", "mcpb", "dxt", "crx", "apk",
        ],
        FileKind::Zip,
    ),
    (
        &[
            "docx", "docm", "dotx", "dotm", "xlsx", "xlsm", "xltx", "xlam", "pptx", "pptm", "potx",
            "ppsx",
        ],
        FileKind::Ooxml,
    ),
    (&["doc", "xls", "ppt", "msi"], FileKind::Ole),
    (&["gz", "tgz"], FileKind::Gzip),
    (&["tar"], FileKind::Tar),
    (
        &["bz2", "tbz", "tbz2", "xz", "txz", "7z", "rar", "zst"],
        FileKind::Sealed,
    ),
    (&["pyc", "pyo"], FileKind::Pyc),
    (&["so", "elf", "o"], FileKind::Elf),
    (&["dylib"], FileKind::MachO),
    (&["exe", "dll", "scr", "pyd", "sys", "com"], FileKind::Pe),
    (&["wasm"], FileKind::Wasm),
    (&["class"], FileKind::JavaClass),
    (&["jar", "war"], FileKind::Jar),
    (&["pkl", "pickle", "joblib"], FileKind::Pickle),
    (&["sqlite", "sqlite3", "db"], FileKind::Sqlite),
];

/// Whether macOS writes the file next to others: the view of a folder, or the attributes of a file. Nothing runs or reads them
/// elsewhere, and their names and first bytes are both fixed.
#[must_use]
pub(crate) fn is_leftover(path: &str, bytes: &[u8]) -> bool {
    const LARGEST: usize = 64 << 10;
    let name = path.rsplit(['/', '!']).next().unwrap_or_default();
    bytes.len() <= LARGEST
        && (name == ".DS_Store" && bytes.starts_with(b"\0\0\0\x01Bud1")
            || name.starts_with("._") && bytes.starts_with(b"\0\x05\x16\x07\0\x02\0\0"))
}

/// The type of a file. `head` is its beginning; a few kilobytes are enough.
#[must_use]
pub(crate) fn kind(path: &str, head: &[u8]) -> FileKind {
    let named = by_ending(path);
    if let Some(found) = by_magic(head) {
        return match (found, named) {
            (FileKind::Zip, Some(FileKind::Ooxml | FileKind::Jar)) => named.unwrap_or(found),
            (FileKind::Zip, _)
                if head
                    .get(30..)
                    .is_some_and(|rest| rest.starts_with(b"[Content_Types].xml")) =>
            {
                FileKind::Ooxml
            }
            (FileKind::Audio, Some(FileKind::Video)) | (FileKind::Video, Some(FileKind::Audio)) => {
                named.unwrap_or(found)
            }
            _ => found,
        };
    }
    let by_line = shebang(head);
    let binary = is_binary(head);
    match named {
        // A file is started by its first line, whatever its name.
        Some(FileKind::Python | FileKind::JavaScript(_)) if by_line == Some(FileKind::Shell) => {
            FileKind::Shell
        }
        Some(named) if named.is_script() && (!binary || head.is_empty()) => named,
        _ if by_line.is_some() => by_line.unwrap_or(FileKind::Text),
        Some(named) if named.is_text() && binary => FileKind::Binary,
        // A file with a binary extension but without its magic has the type of its content, except where the format has no magic.
        Some(named)
            if named.is_text()
                || head.is_empty()
                || matches!(named, FileKind::Pickle | FileKind::Pyc) =>
        {
            named
        }
        _ if binary => FileKind::Binary,
        _ => by_first_words(head),
    }
}

/// Why the name of a file is deceptive, if it is.
#[must_use]
pub(crate) fn mismatch(path: &str, kind: FileKind) -> Option<&'static str> {
    let named = by_ending(path)?;
    let quiet = named.is_media() || named.is_text() && !named.is_script();
    match kind {
        _ if named == kind => None,
        kind if kind.is_program() && (quiet || named.is_script()) => {
            Some("a program, named like text or media")
        }
        FileKind::Pickle if quiet => Some("a pickle, named like text or media"),
        kind if kind.is_archive() && !named.is_archive() && !matches!(named, FileKind::Ole) => {
            Some("an archive, named like something else")
        }
        kind if kind.is_script()
            && (named.is_media()
                || matches!(
                    named,
                    FileKind::Text
                        | FileKind::Markdown
                        | FileKind::Json
                        | FileKind::Yaml
                        | FileKind::Toml
                        | FileKind::Css
                )) =>
        {
            Some("a script, named like text or media")
        }
        FileKind::Html | FileKind::Svg if named.is_media() => {
            Some("a page that runs scripts, named like a picture")
        }
        kind if kind.is_text() && named.is_media() => {
            Some("text, named like a picture or a document")
        }
        FileKind::Binary if named.is_text() => Some("binary data, named like text"),
        kind if kind.is_program() && named.is_archive() && kind != FileKind::Jar => {
            Some("a program, named like an archive")
        }
        _ => None,
    }
}

/// The second type of a file with two types.
#[must_use]
pub(crate) fn polyglot(kind: FileKind, bytes: &[u8]) -> Option<&'static str> {
    if !kind.is_archive() && !kind.is_text() && has_zip_end(bytes) {
        return Some("a zip archive is appended");
    }
    if let Some(tail) = (kind == FileKind::Image)
        .then(|| image::picture(bytes).trailing)
        .flatten()
    {
        let rest = bytes.get(tail).unwrap_or_default();
        return Some(match by_magic(rest).or_else(|| shebang(rest)) {
            Some(found) if found.is_archive() => "an archive follows the picture",
            Some(found) if found.is_program() => "a program follows the picture",
            Some(found) if found.is_script() => "a script follows the picture",
            Some(FileKind::Image | FileKind::Video) => return None,
            _ if !is_binary(rest) => "text follows the picture",
            _ => "data follow the picture",
        });
    }
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    let is_inner_pdf =
        !kind.is_text() && kind != FileKind::Pdf && memchr::memmem::find(head, b"%PDF-").is_some();
    is_inner_pdf.then_some("a PDF begins inside")
}

fn by_ending(path: &str) -> Option<FileKind> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    ENDINGS
        .iter()
        .find(|(endings, _)| endings.contains(&ending.as_str()))
        .map(|&(_, kind)| kind)
}

fn by_magic(head: &[u8]) -> Option<FileKind> {
    if let Some(&(_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    match head {
        // A class has its version where a fat Mach-O has the number of its programs.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0..=30, ..] => Some(FileKind::MachO),
        [0xca, 0xfe, 0xba, 0xbe, ..] => Some(FileKind::JavaClass),
        [b'M', b'Z', ..] if is_binary(head) => Some(FileKind::Pe),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(FileKind::Image),
        [b'R', b'I', b'F', b'F', _, _, _, _, form @ ..] => match form {
            [b'W', b'E', b'B', b'P', ..] => Some(FileKind::Image),
            [b'W', b'A', b'V', b'E', ..] => Some(FileKind::Audio),
            [b'A', b'V', b'I', b' ', ..] => Some(FileKind::Video),
            _ => None,
        },
        [0, 0, _, _, b'f', b't', b'y', b'p', brand @ ..] => {
            let picture = [&b"heic"[..], b"avif", b"mif1", b"heix"]
                .iter()
                .any(|name| brand.starts_with(name));
            Some(if picture {
                FileKind::Image
            } else {
                FileKind::Video
            })
        }
        [
            0x80,
            2..=5,
            0x95 | b'c' | b'}' | b']' | b'(' | b'X' | 0x8c | b')' | b'K',
            ..,
        ] => Some(FileKind::Pickle),
        _ if pyc::has_magic(head) => Some(FileKind::Pyc),
        _ if head.get(257..262) == Some(b"ustar") => Some(FileKind::Tar),
        _ => None,
    }
}

/// The language that a `#!` line names.
fn shebang(head: &[u8]) -> Option<FileKind> {
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
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "bats" => FileKind::Shell,
        "python" | "pypy" | "uv" | "pipx" => FileKind::Python,
        "node" | "nodejs" | "bun" | "deno" | "zx" => FileKind::JavaScript(FileDialect::Plain),
        "ts-node" | "tsx" => FileKind::JavaScript(FileDialect::TypeScript),
        "pwsh" | "powershell" => FileKind::PowerShell,
        _ => FileKind::Code,
    })
}

fn by_first_words(head: &[u8]) -> FileKind {
    let head = head.get(..head.len().min(1024)).unwrap_or_default();
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg") {
        FileKind::Svg
    } else if text.starts_with("<!doctype html") || text.starts_with("<html") {
        FileKind::Html
    } else if text.starts_with("<?php") {
        FileKind::Code
    } else {
        FileKind::Text
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
