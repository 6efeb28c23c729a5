//! The encoding of a skill in the index: lengths and bytes, nothing to parse.

use std::borrow::Cow;

use metier_model::{
    Backend, Card, Dependency, Diagnostic, DiagnosticCode, DiagnosticSeverity, Digest, Installer,
    Need, Os, Position, Requirement, SkillName, Types, Version,
};

use crate::entry::ManifestFiles;

#[derive(Default)]
pub(crate) struct RecordWriter(Vec<u8>);

impl RecordWriter {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.raw(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn option(&mut self, text: Option<&str>) {
        self.u8(u8::from(text.is_some()));
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.u32(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.iter().for_each(|item| write(self, item));
    }
}

/// Decodes the output of [`RecordWriter`]; `None` at the first mismatch.
pub(crate) struct RecordReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> RecordReader<'a> {
    pub(crate) fn at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.position >= self.bytes.len()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.position.checked_add(length)?;
        let taken = self.bytes.get(self.position..end)?;
        self.position = end;
        Some(taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn boxed(&mut self) -> Option<Box<str>> {
        self.text().map(Into::into)
    }

    fn option(&mut self) -> Option<Option<Box<str>>> {
        match self.u8()? {
            0 => Some(None),
            _ => self.boxed().map(Some),
        }
    }

    /// The usual names are static and need no copy.
    fn file_name(&mut self) -> Option<Option<Cow<'static, str>>> {
        if self.u8()? == 0 {
            return Some(None);
        }
        Some(Some(match self.text()? {
            "SKILL.md" => Cow::Borrowed("SKILL.md"),
            "SKILL.yaml" => Cow::Borrowed("SKILL.yaml"),
            other => Cow::Owned(other.to_owned()),
        }))
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.u8().map(|byte| byte != 0)
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        if count == 0 {
            return Some(Vec::new()); // as nearly always
        }
        if count > self.bytes.len() {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }
}

/// The data about a skill in the index.
pub(crate) struct Remembered {
    pub(crate) files: ManifestFiles,
    pub(crate) card: Option<Card>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) digest: Option<DatedDigest>,
}

/// A digest, and the state of the files that it was computed from.
#[derive(Clone, Copy)]
pub(crate) struct DatedDigest {
    pub(crate) digest: Digest,
    /// The hash of the fingerprint.
    pub(crate) state: [u8; 16],
    /// Whether the keys of the record fully determine that state.
    pub(crate) plain: bool,
}

impl Remembered {
    pub(crate) fn encode(
        files: &ManifestFiles,
        card: Option<&Card>,
        diagnostics: &[Diagnostic],
        digest: Option<DatedDigest>,
    ) -> Vec<u8> {
        let mut out = RecordWriter(Vec::with_capacity(512));
        out.option(files.skill_md.as_deref());
        out.option(files.skill_yaml.as_deref());
        out.u8(u8::from(files.sidecar));
        out.u8(u8::from(files.no_hooks));
        out.u8(u8::from(digest.is_some()));
        if let Some(dated) = digest {
            out.raw(&dated.digest.0);
            out.raw(&dated.state);
            out.u8(u8::from(dated.plain));
        }
        out.u8(u8::from(card.is_some()));
        if let Some(card) = card {
            write_card(&mut out, card);
        }
        out.list(diagnostics, write_diagnostic);
        out.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = RecordReader::at(bytes, 0);
        let files = ManifestFiles {
            skill_md: input.file_name()?,
            skill_yaml: input.file_name()?,
            sidecar: input.flag()?,
            no_hooks: input.flag()?,
        };
        let digest = if input.flag()? {
            Some(DatedDigest {
                digest: Digest(input.take(32)?.try_into().ok()?),
                state: input.take(16)?.try_into().ok()?,
                plain: input.flag()?,
            })
        } else {
            None
        };
        let card = if input.flag()? {
            Some(read_card(&mut input)?)
        } else {
            None
        };
        let diagnostics = input.list(read_diagnostic)?;
        (input.position == bytes.len()).then_some(Self {
            files,
            card,
            diagnostics,
            digest,
        })
    }
}

fn write_card(out: &mut RecordWriter, card: &Card) {
    out.text(&card.name);
    out.text(&card.description);
    out.option(card.when_to_use.as_deref());
    out.option(card.version.as_ref().map(Version::as_str));
    out.option(card.emoji.as_deref());
    out.u8(card.types.bits());
    out.u8(card
        .backend
        .and_then(|backend| Backend::ALL.iter().position(|other| *other == backend))
        .map_or(u8::MAX, |index| index as u8));
    out.u8(u8::from(card.user_invocable)
        | u8::from(card.model_invocable) << 1
        | u8::from(card.always) << 2);
    out.option(card.skill_key.as_deref());
    out.option(card.primary_env.as_deref());
    out.list(&card.requirements, write_requirement);
    out.list(&card.installers, write_installer);
}

fn read_card(input: &mut RecordReader<'_>) -> Option<Card> {
    let name = SkillName::new(input.text()?).ok()?;
    let description = input.boxed()?;
    let when_to_use = input.option()?;
    let version = input.option()?.map(|text| Version::new(&text));
    let emoji = input.option()?;
    let types = Types::from_bits(input.u8()?);
    let backend = match input.u8()? {
        u8::MAX => None,
        index => Some(*Backend::ALL.get(usize::from(index))?),
    };
    let flags = input.u8()?;
    Some(Card {
        name,
        description,
        when_to_use,
        version,
        emoji,
        types,
        backend,
        user_invocable: flags & 1 != 0,
        model_invocable: flags & 2 != 0,
        always: flags & 4 != 0,
        skill_key: input.option()?,
        chooses_settings: true,
        primary_env: input.option()?,
        requirements: input.list(read_requirement)?,
        installers: input.list(read_installer)?,
    })
}

fn write_requirement(out: &mut RecordWriter, requirement: &Requirement) {
    out.u32(requirement.line);
    match &requirement.need {
        Need::Bin(name) => one(out, 0, name),
        Need::AnyBin(names) => {
            out.u8(1);
            out.list(names, |out, name| out.text(name));
        }
        Need::Env(name) => one(out, 2, name),
        Need::Config(path) => one(out, 3, path),
        Need::Os(systems) => {
            out.u8(4);
            out.list(systems, |out, os| out.text(os.as_str()));
        }
        Need::Tool(name) => one(out, 5, name),
        Need::Metier(range) => one(out, 7, range),
        Need::Skill(dependency) => {
            one(out, 6, &dependency.name);
            out.option(dependency.version.as_deref());
            out.u8(u8::from(dependency.optional));
        }
    }
}

fn one(out: &mut RecordWriter, tag: u8, text: &str) {
    out.u8(tag);
    out.text(text);
}

fn read_requirement(input: &mut RecordReader<'_>) -> Option<Requirement> {
    let line = input.u32()?;
    let need = match input.u8()? {
        0 => Need::Bin(input.boxed()?),
        1 => Need::AnyBin(input.list(RecordReader::boxed)?),
        2 => Need::Env(input.boxed()?),
        3 => Need::Config(input.boxed()?),
        4 => Need::Os(input.list(read_os)?),
        5 => Need::Tool(input.boxed()?),
        6 => Need::Skill(Dependency {
            name: input.boxed()?,
            version: input.option()?,
            optional: input.flag()?,
        }),
        7 => Need::Metier(input.boxed()?),
        _ => return None,
    };
    Some(Requirement { need, line })
}

fn read_os(input: &mut RecordReader<'_>) -> Option<Os> {
    input.text()?.parse().ok()
}

fn write_installer(out: &mut RecordWriter, installer: &Installer) {
    [&installer.id, &installer.kind, &installer.package]
        .into_iter()
        .for_each(|text| out.text(text));
    out.list(&installer.bins, |out, bin| out.text(bin));
    out.list(&installer.os, |out, os| out.text(os.as_str()));
    out.option(installer.label.as_deref());
}

fn read_installer(input: &mut RecordReader<'_>) -> Option<Installer> {
    Some(Installer {
        id: input.boxed()?,
        kind: input.boxed()?,
        package: input.boxed()?,
        bins: input.list(RecordReader::boxed)?,
        os: input.list(read_os)?,
        label: input.option()?,
    })
}

fn write_diagnostic(out: &mut RecordWriter, diagnostic: &Diagnostic) {
    out.u8(diagnostic.severity as u8);
    out.u8(diagnostic.code as u8);
    out.text(&diagnostic.message);
    out.option(diagnostic.hint.as_deref());
    out.text(&diagnostic.file);
    let position = diagnostic
        .position
        .unwrap_or(Position { line: 0, column: 0 });
    out.u32(position.line);
    out.u32(position.column);
}

fn read_diagnostic(input: &mut RecordReader<'_>) -> Option<Diagnostic> {
    let severity = match input.u8()? {
        0 => DiagnosticSeverity::Info,
        1 => DiagnosticSeverity::Warning,
        2 => DiagnosticSeverity::Error,
        _ => return None,
    };
    let code = DiagnosticCode::from_index(input.u8()?)?;
    let (message, hint, file) = (input.boxed()?, input.option()?, input.boxed()?);
    let (line, column) = (input.u32()?, input.u32()?);
    Some(Diagnostic {
        severity,
        code,
        message,
        hint,
        file,
        position: (line > 0).then_some(Position { line, column }),
    })
}
