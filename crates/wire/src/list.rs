//! `list --json`, written skill by skill.

use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use metier_catalog::CatalogEntry;
use metier_model::Diagnostic;
use metier_policy::Reason;
use metier_runtime::{Inventory, InventorySkill};
use serde::Serialize;

use crate::json::{self, JsonObject, key};

/// How much is collected before it is written; little enough to stay in the processor's cache.
const CHUNK: usize = 64 * 1024;

/// The document: all skills, all diagnostics, and how many of each.
pub struct ListDocument<'a>(pub &'a Inventory);

impl ListDocument<'_> {
    /// Writes the document as one line.
    ///
    /// # Errors
    /// When `to` can't be written to.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.write_with(self.0.counts(), to)
    }

    /// Writes a document about some of the skills; the counts are those of all skills.
    ///
    /// # Errors
    /// When `to` can't be written to.
    pub fn write_with(
        &self,
        counts: metier_runtime::StatusCounts,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let inventory = self.0;
        let mut out = ListStream {
            buffer: Vec::with_capacity(CHUNK + CHUNK / 4),
            to,
        };
        out.buffer.extend_from_slice(b"{\"skills\":[");
        out.items(inventory.skills.iter(), |out, skill| {
            SkillRow::new(inventory, skill).write(out);
        })?;
        out.buffer.extend_from_slice(b"],\"diagnostics\":[");
        let of_skills = inventory.skills.iter().flat_map(|skill| {
            let entry = inventory.entry(skill);
            entry
                .diagnostics
                .iter()
                .map(move |diagnostic| DiagnosticRow::of(entry, diagnostic))
        });
        out.items(
            of_skills.chain(inventory.diagnostics.iter().map(DiagnosticRow::new)),
            |out, row| json::value(out, &row),
        )?;
        out.buffer.extend_from_slice(b"],\"counts\":");
        json::value(&mut out.buffer, &ListCounts::from(counts));
        out.buffer.extend_from_slice(b"}\n");
        out.to.write_all(&out.buffer)?;
        out.to.flush()
    }
}

struct ListStream<'w, W> {
    buffer: Vec<u8>,
    to: &'w mut W,
}

impl<W: Write> ListStream<'_, W> {
    fn items<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) -> io::Result<()> {
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.buffer.push(b',');
            }
            write(&mut self.buffer, item);
            if self.buffer.len() >= CHUNK {
                self.to.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }
}

/// A skill in the list.
pub(crate) struct SkillRow<'a> {
    inventory: &'a Inventory,
    skill: &'a InventorySkill,
}

impl<'a> SkillRow<'a> {
    pub(crate) fn new(inventory: &'a Inventory, skill: &'a InventorySkill) -> Self {
        Self { inventory, skill }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut object = JsonObject::begin(out);
        self.fields(&mut object);
        object.end();
    }

    /// The fields that a skill has in a list, and first of all in `info`.
    pub(crate) fn fields(&self, object: &mut JsonObject<'_>) {
        let (skill, entry) = (self.skill, self.inventory.entry(self.skill));
        let card = entry.card.as_ref();
        object.text(key!("name"), &entry.name());
        object.text(
            key!("description"),
            card.map_or("", |card| &card.description),
        );
        object.word(key!("source"), entry.source.as_str());
        let root = entry.root.map(usize::from);
        let root = root.and_then(|root| self.inventory.catalog.roots.get(root));
        object.optional(key!("agent"), root.and_then(|root| root.agent));
        object.text(key!("path"), &shown(&entry.place.path()));
        object.optional(
            key!("digest"),
            entry.digest.map(|digest| digest.to_string()).as_deref(),
        );
        object.word(key!("status"), skill.status.as_str());
        object.list(key!("reasons"), &skill.reasons, |out, reason| {
            json::value(out, &ReasonRow::new(entry, reason));
        });
        object.optional(
            key!("version"),
            card.and_then(|card| card.version.as_ref())
                .map(|version| version.as_str()),
        );
        object.optional(key!("emoji"), card.and_then(|card| card.emoji.as_deref()));
        object.list(
            key!("types"),
            card.into_iter().flat_map(|card| card.types.iter()),
            |out, kind| json::string(out, kind.as_str()),
        );
        object.optional(
            key!("backend"),
            card.and_then(|card| card.backend)
                .map(|backend| backend.as_str()),
        );
        object.flag(
            key!("user_invocable"),
            card.is_some_and(|card| card.user_invocable),
        );
        object.flag(
            key!("model_invocable"),
            card.is_some_and(|card| card.model_invocable),
        );
        let winner = skill
            .shadowed_by
            .map(|winner| self.inventory.catalog.entries[winner].place.path());
        object.optional(key!("shadowed_by"), winner.as_deref().map(shown).as_deref());
        let scan = skill.scan.as_deref();
        let scan = scan.map_or("unknown", |known| known.verdict.word());
        object.word(key!("scan"), scan);
        object.number(key!("warnings"), entry.warnings());
        object.flag(key!("selected"), skill.selected);
    }
}

/// The fields that [`ListDocument`] writes.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it describes what is written field by field")]
pub(crate) struct ListShape {
    /// One row for each skill.
    skills: Vec<SkillShape>,
    /// Problems with skills and folders.
    diagnostics: Vec<DiagnosticRow<'static>>,
    /// How many skills have each status.
    counts: ListCounts,
}

/// The fields that [`SkillRow`] writes.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it describes what is written field by field")]
pub(crate) struct SkillShape {
    /// Name of the skill.
    name: String,
    /// Description of the skill; empty if it can't be read.
    description: String,
    /// Where it comes from: `user`, `project` and so on.
    source: String,
    /// The agent whose folder it is in.
    agent: Option<String>,
    /// Path of the skill's folder.
    path: String,
    /// Digest of its files, if it is known.
    digest: Option<String>,
    /// Whether it can be used.
    status: String,
    /// Why it can't be used.
    reasons: Vec<ReasonRow<'static>>,
    /// Version of the skill.
    version: Option<String>,
    /// An emoji for lists.
    emoji: Option<String>,
    /// Its contributions.
    types: Vec<String>,
    /// The backend that runs its code.
    backend: Option<String>,
    /// Whether users can invoke it by name.
    user_invocable: bool,
    /// Whether a model can choose it.
    model_invocable: bool,
    /// Path of the skill that shadows it.
    shadowed_by: Option<String>,
    /// The verdict of the scanner; `unknown` if these bytes were not scanned.
    scan: String,
    /// Number of warnings about it.
    warnings: usize,
    /// Whether it was selected by name.
    selected: bool,
}

/// Checking that a path is UTF-8 is much faster than converting it, and nearly every path is.
fn shown(path: &Path) -> Cow<'_, str> {
    path.to_str()
        .map_or_else(|| path.to_string_lossy(), Cow::Borrowed)
}

/// Why a skill can't be used.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReasonRow<'a> {
    kind: &'static str,
    name: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    path: Option<String>,
    line: Option<u32>,
}

impl<'a> ReasonRow<'a> {
    /// The row of a reason.
    #[must_use]
    pub fn new(entry: &CatalogEntry, reason: &'a Reason) -> Self {
        let path = reason
            .line
            .map(|_| entry.manifest_path().to_string_lossy().into_owned());
        Self {
            kind: reason.kind.as_str(),
            name: &reason.name,
            message: &reason.message,
            hint: reason.hint.as_deref(),
            path,
            line: reason.line,
        }
    }
}

/// A problem with a file.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnosticRow<'a> {
    pub(crate) severity: &'static str,
    pub(crate) code: &'static str,
    pub(crate) message: &'a str,
    pub(crate) path: Cow<'a, str>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) hint: Option<&'a str>,
}

impl<'a> DiagnosticRow<'a> {
    /// A diagnostic that names a whole path itself.
    #[must_use]
    pub fn new(diagnostic: &'a Diagnostic) -> Self {
        Self::at(Cow::Borrowed(&diagnostic.file), diagnostic)
    }

    /// A diagnostic of a skill, whose file is relative to its folder.
    #[must_use]
    pub fn of(entry: &CatalogEntry, diagnostic: &'a Diagnostic) -> Self {
        Self::at(
            Cow::Owned(
                entry
                    .place
                    .path()
                    .join(&*diagnostic.file)
                    .to_string_lossy()
                    .into_owned(),
            ),
            diagnostic,
        )
    }

    fn at(path: Cow<'a, str>, diagnostic: &'a Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.as_str(),
            code: diagnostic.code.as_str(),
            message: &diagnostic.message,
            path,
            line: diagnostic.position.map(|position| position.line),
            column: diagnostic.position.map(|position| position.column),
            hint: diagnostic.hint.as_deref(),
        }
    }
}

/// How many skills have each status.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListCounts {
    ready: usize,
    not_ready: usize,
    invalid: usize,
    disabled: usize,
    shadowed: usize,
    blocked: usize,
}

impl From<metier_runtime::StatusCounts> for ListCounts {
    fn from(counts: metier_runtime::StatusCounts) -> Self {
        let metier_runtime::StatusCounts {
            ready,
            not_ready,
            invalid,
            disabled,
            shadowed,
            blocked,
        } = counts;
        Self {
            ready,
            not_ready,
            invalid,
            disabled,
            shadowed,
            blocked,
        }
    }
}
