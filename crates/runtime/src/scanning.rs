//! Scanning a skill as it lies there: its files, read once, go to the scanner together with what its manifest says.

use std::collections::BTreeSet;

use metier_catalog::{Content, Entry, ReadError, Room, Snapshot};
use metier_model::{Digest, Manifest};
use metier_scan::{About, File, Limits, Report, Rules};

/// A skill that was scanned, and exactly which bytes those were.
#[derive(Debug)]
pub struct Scanned {
    /// What was found.
    pub report: Report,
    /// The digest of what was looked at.
    pub digest: Digest,
}

/// What of a skill is kept in memory at once; more is hashed and reported as not read.
const MOST_BYTES: usize = 48 * 1024 * 1024;

/// Scans a skill.
///
/// # Errors
/// When its folder or a file in it can't be read.
pub fn scan(
    entry: &Entry,
    manifest: Option<&Manifest>,
    rules: &Rules,
    limits: &Limits,
) -> Result<Scanned, ReadError> {
    let room = Room {
        file: limits.file_bytes,
        total: MOST_BYTES,
    };
    let snapshot = entry.place.snapshot(room)?;
    Ok(Scanned {
        report: scan_snapshot(entry, manifest, &snapshot, rules, limits),
        digest: snapshot.digest,
    })
}

/// Scans bytes that were read before.
#[must_use]
pub fn scan_snapshot(
    entry: &Entry,
    manifest: Option<&Manifest>,
    snapshot: &Snapshot,
    rules: &Rules,
    limits: &Limits,
) -> Report {
    let files: Vec<File<'_>> = snapshot
        .files
        .iter()
        .map(|held| File {
            path: &held.path,
            content: match &held.content {
                Content::Bytes(bytes) => metier_scan::Content::Bytes(bytes),
                Content::Link(target) => metier_scan::Content::Link(target),
                Content::Special => {
                    metier_scan::Content::Unread("it is a FIFO, a socket or a device")
                }
                Content::Left => {
                    metier_scan::Content::Unread("the skill is larger than what is kept in memory")
                }
            },
        })
        .collect();
    let card = entry.card.as_ref();
    let name = entry.name();
    let declared = manifest.and_then(declared);
    let homepage = manifest
        .and_then(|manifest| manifest.about.homepage.as_deref())
        .unwrap_or_default();
    let about = About {
        name: &name,
        description: card.map_or("", |card| &card.description),
        homepage,
        declared,
    };
    metier_scan::scan(&files, &about, rules, limits)
}

/// The permissions that a manifest declares; `None` when it says nothing about them.
fn declared(manifest: &Manifest) -> Option<BTreeSet<metier_sdk::Permission>> {
    let declared: BTreeSet<_> = manifest.wants.iter().map(|want| want.permission).collect();
    (!declared.is_empty()).then_some(declared)
}
