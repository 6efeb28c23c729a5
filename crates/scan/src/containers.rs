//! Files by type: text is scanned, containers are opened one level deep, and files that cannot be opened are reported.

use crate::{
    lower::ScriptDialect,
    rule::FileOddity,
    scan::SkillScanner,
    text::codec,
    unpack::{
        archive::{self, ArchiveProblem},
        image,
        kind::{self, FileDialect, FileKind},
        notebook, office, pdf, pickle, pyc, svg, wasm,
    },
};

/// The limit for a member of an archive: the same as for a file.
const LARGEST_MEMBER: usize = 1024 * 1024;

/// Scans the bytes of a file. `cut` if they are only its start.
pub(crate) fn look(
    scanner: &mut SkillScanner<'_>,
    path: &str,
    bytes: &[u8],
    kind: FileKind,
    cut: bool,
) {
    if let Some(why) = kind::polyglot(kind, bytes) {
        scanner.odd(FileOddity::Polyglot, path, why, true);
    }
    match kind {
        FileKind::Svg | FileKind::Html => vector(scanner, path, bytes, kind),
        FileKind::Notebook => cells(scanner, path, bytes),
        _ if kind.is_text() => text(scanner, path, bytes, kind),
        FileKind::Pdf => portable(scanner, path, bytes),
        FileKind::Pickle => pickled(scanner, path, bytes),
        FileKind::Zip | FileKind::Ooxml | FileKind::Tar | FileKind::Gzip | FileKind::Jar => {
            opened(scanner, path, bytes, kind, cut);
        }
        FileKind::Sealed | FileKind::Ole => scanner.unread(
            path,
            "archives and documents of this type are not opened".to_owned(),
        ),
        FileKind::Pyc => scanner.bytecodes.push((path.to_owned(), bytes.to_vec())),
        FileKind::Wasm if scanner.about.module == Some(path) => module(scanner, path, bytes),
        FileKind::Elf | FileKind::MachO | FileKind::Pe | FileKind::Wasm | FileKind::JavaClass => {
            scanner.odd(FileOddity::NativeProgram, path, "machine code", true);
            scanner.unread(path, "it is machine code".to_owned());
        }
        FileKind::Image => picture(scanner, path, bytes),
        FileKind::Audio | FileKind::Video | FileKind::Font | FileKind::Sqlite => {}
        _ => binary(scanner, path, bytes),
    }
}

fn text(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8], kind: FileKind) {
    let content = match bytes {
        [0xff, 0xfe, rest @ ..] => codec::utf16(rest),
        _ => None,
    };
    let content = content.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned());
    scanner.text(path, content, kind);
}

/// Scans the strings in binary data of an unknown type.
fn binary(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    scanner.unread(path, "it is binary data of an unknown type".to_owned());
    let strings: Vec<String> = bytes
        .split(|byte| !(byte.is_ascii_graphic() || *byte == b' '))
        .filter(|run| run.len() >= 12)
        .take(2000)
        .map(|run| String::from_utf8_lossy(run).into_owned())
        .collect();
    if !strings.is_empty() {
        scanner.text(path, strings.join("\n"), FileKind::Text);
    }
}

fn opened(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8], kind: FileKind, cut: bool) {
    if cut {
        return;
    }
    if scanner.depth > 0 {
        scanner.unread(path, "archives inside archives are not opened".to_owned());
        return;
    }
    let opened = archive::open(kind, bytes, archive::UnpackLimits::default());
    for problem in opened.problems {
        match problem {
            ArchiveProblem::Traversal(member) => {
                scanner.odd(FileOddity::ArchiveEscape, path, &member, true);
            }
            ArchiveProblem::Link(member, target) => scanner.odd(
                FileOddity::ArchiveEscape,
                path,
                &format!("{member} -> {target}"),
                target.starts_with('/') || target.contains(".."),
            ),
            ArchiveProblem::Encrypted(member) => {
                scanner.unread(path, format!("`{member}` needs a password"));
            }
            ArchiveProblem::Bomb(member) | ArchiveProblem::TooLarge(member) => {
                scanner.unread(path, format!("unpacking `{member}` exceeds the size limit"));
            }
            ArchiveProblem::TooMany(count) => {
                scanner.unread(path, format!("it has {count} members"));
            }
            ArchiveProblem::Nested(member) => scanner.unread(
                &format!("{path}!{member}"),
                "archives inside archives are not opened".to_owned(),
            ),
            ArchiveProblem::Ambiguous(why) | ArchiveProblem::Broken(why) => {
                scanner.unread(path, why);
            }
            ArchiveProblem::Unsupported => {
                scanner.unread(path, "archives of this type are not opened".to_owned());
            }
        }
    }
    if kind == FileKind::Ooxml {
        documented(scanner, path, &opened.members);
    }
    scanner.depth += 1;
    for member in opened.members {
        let inner = format!("{path}!{}", member.path);
        let member_kind = kind::kind(&member.path, &member.bytes);
        if member_kind.is_script() || member_kind.is_program() {
            scanner.odd(FileOddity::ArchiveProgram, &inner, &member.path, true);
        }
        if member_kind.is_archive() {
            continue;
        }
        let size = member.bytes.len().min(LARGEST_MEMBER);
        if size < member.bytes.len() {
            let why = format!("it unpacks to {} bytes", member.bytes.len());
            scanner.unread(&inner, why);
        }
        scanner.bytes(&inner, &member.bytes[..size], size < member.bytes.len());
    }
    scanner.depth -= 1;
}

/// Scans the text of an Office document, its macros and its external references.
fn documented(scanner: &mut SkillScanner<'_>, path: &str, members: &[archive::ArchiveMember]) {
    let document = office::office_of(members);
    if let Some(name) = document.macros.first() {
        scanner.odd(FileOddity::Macros, path, name, true);
    }
    for (part, content) in document.texts {
        scanner.text(&format!("{path}!{part}"), content, FileKind::Text);
    }
    let fetched = document.external.iter().find(|relation| {
        relation.kind.contains("attachedTemplate")
            || relation.kind.contains("oleObject")
            || relation.kind.contains("frame")
    });
    if let Some(relation) = fetched {
        scanner.odd(FileOddity::ScriptInDocument, path, &relation.target, true);
    }
}

fn vector(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8], kind: FileKind) {
    let found = svg::svg(bytes);
    if kind == FileKind::Svg {
        let active = found
            .scripts
            .first()
            .or_else(|| found.code_links.first())
            .or_else(|| found.handlers.first().map(|(_, code)| code));
        if let Some(code) = active {
            scanner.odd(FileOddity::ScriptInDocument, path, code, true);
        }
    }
    text(scanner, path, bytes, kind);
    for script in found
        .scripts
        .iter()
        .chain(found.handlers.iter().map(|(_, code)| code))
    {
        scanner.script(path, script.clone());
    }
}

fn cells(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    let Some(book) = notebook::notebook(bytes) else {
        text(scanner, path, bytes, FileKind::Json);
        return;
    };
    let mut code = String::new();
    for cell in &book.cells {
        match cell.sort {
            notebook::Sort::Code => {
                code.push_str(&cell.source);
                code.push('\n');
                // `!command`, and `%%bash` above a whole cell.
                let whole = ["%%bash", "%%sh", "%%script bash"]
                    .iter()
                    .find_map(|magic| cell.source.trim_start().strip_prefix(magic));
                let lines = cell.source.lines().map(str::trim_start);
                let shell: Vec<&str> = lines.filter_map(|line| line.strip_prefix('!')).collect();
                let shell = whole.map_or_else(|| shell.join("\n"), str::to_owned);
                if !shell.is_empty() {
                    scanner.text(path, shell, FileKind::Shell);
                }
            }
            _ => {
                scanner.text(path, cell.source.clone(), FileKind::Markdown);
            }
        }
        for output in &cell.outputs {
            scanner.text(path, output.clone(), FileKind::Text);
        }
    }
    scanner.text(path, code, FileKind::Python);
}

fn portable(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    let found = pdf::pdf(bytes);
    let acts = found.javascript || found.launch;
    if acts {
        let evidence = found.scripts.first().map_or("/JavaScript", String::as_str);
        scanner.odd(FileOddity::ScriptInDocument, path, evidence, true);
    }
    if found.encrypted {
        scanner.unread(path, "it is encrypted".to_owned());
    }
    for script in found.scripts {
        scanner.script(path, script);
    }
    if !found.text.trim().is_empty() {
        scanner.text(path, found.text, FileKind::Text);
    }
}

/// Scans a pickle for functions that run code; only a few do, so these are listed.
fn pickled(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    const RUNNERS: &[&str] = &[
        "os",
        "posix",
        "nt",
        "subprocess",
        "builtins",
        "__builtin__",
        "sys",
        "runpy",
        "socket",
        "pty",
        "shutil",
        "importlib",
        "webbrowser",
        "ctypes",
        "code",
        "asyncio",
    ];
    let found = pickle::pickle(bytes);
    let runner = found.imports.iter().find(|import| {
        RUNNERS.contains(&import.module.split('.').next().unwrap_or_default())
            && !matches!(
                import.name.as_str(),
                "set"
                    | "dict"
                    | "list"
                    | "object"
                    | "frozenset"
                    | "bytearray"
                    | "complex"
                    | "slice"
                    | "range"
            )
    });
    if let Some(import) = runner {
        scanner.odd(
            FileOddity::PickleRuns,
            path,
            &format!("{}.{}", import.module, import.name),
            true,
        );
    }
    if !found.strings.is_empty() {
        scanner.text(path, found.strings.join("\n"), FileKind::Text);
    }
    if !found.complete {
        scanner.unread(
            path,
            "it is a pickle file that cannot be read to the end".to_owned(),
        );
    }
}

/// Scans the module that a skill runs as: the sandbox limits it to its grant.
fn module(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    let found = wasm::wasm(bytes);
    if !found.texts.is_empty() {
        scanner.text(path, found.texts.join("\n"), FileKind::Text);
    }
    if !found.complete {
        scanner.unread(
            path,
            "it is a WebAssembly module that cannot be read to the end".to_owned(),
        );
    }
}

fn picture(scanner: &mut SkillScanner<'_>, path: &str, bytes: &[u8]) {
    let picture = image::picture(bytes);
    let texts: Vec<String> = picture
        .texts
        .into_iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    if !texts.is_empty() {
        scanner.text(path, texts.join("\n\n"), FileKind::Text);
    }
    if let Some(trailing) = picture.trailing.and_then(|range| bytes.get(range)) {
        scanner.text(
            path,
            String::from_utf8_lossy(trailing).into_owned(),
            FileKind::Text,
        );
    }
}

/// Bytecode is compared with its source once all sources are known.
pub(crate) fn bytecode(scanner: &mut SkillScanner<'_>) {
    for (path, bytes) in std::mem::take(&mut scanner.bytecodes) {
        let Some(code) = pyc::pyc(&bytes) else {
            scanner.unread(&path, "it is bytecode that cannot be read".to_owned());
            continue;
        };
        if matches!(
            code.validation,
            pyc::PycValidation::Hash { checked: false, .. }
        ) {
            scanner.odd(FileOddity::BytecodeUnchecked, &path, "unchecked hash", true);
        }
        let source = source_of(&path).and_then(|source| {
            scanner
                .sources
                .iter()
                .find(|(path, _)| *path == source)
                .map(|(_, index)| *index)
        });
        match source {
            Some(index) => {
                let difference = pyc::compare(&code, &scanner.texts.0[index].content);
                if !difference.agrees() {
                    let strange: Vec<String> = difference
                        .names
                        .into_iter()
                        .chain(difference.strings)
                        .take(8)
                        .collect();
                    scanner.odd(
                        FileOddity::BytecodeDiffers,
                        &path,
                        &strange.join(", "),
                        true,
                    );
                }
            }
            None => scanner.odd(
                FileOddity::BytecodeAlone,
                &path,
                &code.names.join(", "),
                true,
            ),
        }
        let words = [code.names.join("\n"), code.strings.join("\n")].join("\n");
        scanner.text(&path, words, FileKind::Text);
        if !code.complete {
            scanner.unread(
                &path,
                "it is bytecode that cannot be read to the end".to_owned(),
            );
        }
    }
}

/// The source of bytecode: `tool.py` next to the folder for `__pycache__/tool.cpython-312.pyc`.
fn source_of(path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next()?;
    let folder = folder
        .strip_suffix("__pycache__")
        .unwrap_or(folder)
        .trim_end_matches('/');
    Some(if folder.is_empty() {
        format!("{stem}.py")
    } else {
        format!("{folder}/{stem}.py")
    })
}

/// The parser's dialect for a file type.
pub(crate) fn dialect(dialect: FileDialect) -> ScriptDialect {
    match dialect {
        FileDialect::Plain | FileDialect::Jsx => ScriptDialect::JavaScript,
        FileDialect::TypeScript => ScriptDialect::TypeScript,
        FileDialect::Tsx => ScriptDialect::Tsx,
    }
}
