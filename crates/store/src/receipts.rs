//! Records of acts and refusals.
//!
//! A receipt is written for every act, allowed or not, and never changed or removed: triggers refuse both, and each
//! receipt contains the hash of the one before, so that [`Store::verify`] finds receipts that were changed, removed or moved.
//! The count and the last hash are in a separate row, written in the same transaction; otherwise the last receipts
//! could be removed unnoticed.
//!
//! An act is two entries of the chain, one before it and one after it (`acts.rs`), and [`Store::receipts`] joins
//! them. A refusal is one entry, and so is an event that contains acts, such as a call. The oldest entries are moved
//! into files next to the database (`segments.rs`), and are read from there.
//!
//! **What this can't do.** It contains no secret. A process that can write to the file can drop the triggers and
//! recompute the chain from any receipt on, truncate it and adjust its end, or restore an older copy of the file: all
//! of these verify as whole. The chain detects accidents, and changes by programs that don't know about it. To detect
//! the rest, keep the result of [`Store::head`] where the attacker can't write, and compare: a chain that was whole
//! then still has that hash at that number, see [`Store::receipt`].
//!
//! Strings are stored as given: the writer removes secrets, and the reader escapes them for display. Only their length
//! is limited, with a visible mark.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{self, Hash};
use crate::column_values::{ColumnValue, optional_word, unsigned, word};
use crate::segments;
use crate::{Store, StoreError};

/// The maximum length of a detail or a reason, in bytes.
const LONG: usize = 4096;
/// The maximum length of any other string, in bytes.
const SHORT: usize = 1024;
/// Space for the mark of a cut.
const MARK: usize = 48;
/// The approximate size of a row without its strings.
const ROW: usize = 160;

/// The number of columns of the table, and the positions of some.
pub(crate) const COLUMNS: usize = 17;
pub(crate) const PREVIOUS: usize = 13;
pub(crate) const HASH: usize = 14;
pub(crate) const BEGUN: usize = 15;
const COUNT: usize = 16;

/// One act, as the caller describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReceipt {
    /// When it happened, in RFC 3339.
    pub at: String,
    /// The name of the skill that acted.
    pub skill: String,
    /// Where the skill comes from.
    pub source: String,
    /// The skill's exact bytes, as `sha256:…`.
    pub digest: String,
    /// The kind of act, such as `shell:exec`.
    pub act: String,
    /// The act itself, such as a command line.
    pub detail: String,
    /// Whether it was allowed.
    pub decision: ReceiptDecision,
    /// Why it was refused, or failed.
    pub reason: Option<String>,
    /// How it ended, if it began.
    pub outcome: Option<ReceiptOutcome>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// The sandbox that it ran in.
    pub sandbox: Option<String>,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// How often it happened: more than once only for a flood of refusals.
    pub count: u64,
}

/// Whether an act was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReceiptDecision {
    /// The act was done.
    Allowed,
    /// The act was not done.
    Refused,
}

/// How an act ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReceiptOutcome {
    /// The act succeeded.
    Ok,
    /// The act failed.
    Error,
    /// It was stopped because it took too long.
    Timeout,
}

/// One act, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number: 1, 2, 3 …
    pub id: i64,
    /// The recorded act. Long strings were cut.
    pub entry: NewReceipt,
    /// The hash of the receipt before, as `sha256:…`; zeros in the first.
    pub previous: String,
    /// The hash of this one, which contains all of the above; of an act, the hash of its beginning.
    pub hash: String,
    /// The part of an act that it records.
    pub part: ReceiptPart,
    /// Details that are known only at the end of the act; usually empty.
    pub note: String,
}

/// The part of an act that a receipt records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptPart {
    /// The only entry: a refusal, or an event that contains acts.
    Single,
    /// The beginning of an act that has not ended.
    Begun,
    /// An act from its beginning to its end.
    Completed {
        /// The number of the entry that ended it.
        by: i64,
    },
    /// The end of an act; only [`Store::receipt`] returns it separately.
    End {
        /// The number of the entry that began it.
        of: i64,
    },
}

/// An entry to append.
pub(crate) struct ReceiptEntry {
    receipt: NewReceipt,
    place: EntryPlace,
}

/// The place of an entry in the chain.
enum EntryPlace {
    Single,
    Begins { owner: i64 },
    Completes { begun: i64 },
}

impl ReceiptEntry {
    pub(crate) fn begins(receipt: NewReceipt, owner: i64) -> Self {
        let place = EntryPlace::Begins { owner };
        Self { receipt, place }
    }

    pub(crate) fn completes(receipt: NewReceipt, begun: i64) -> Self {
        let place = EntryPlace::Completes { begun };
        Self { receipt, place }
    }
}

/// The row of the chain's end.
pub(crate) struct HeadRow {
    pub(crate) count: i64,
    pub(crate) hash: Hash,
    /// Acts that have not ended, and the owner of each.
    pub(crate) open: Vec<(i64, i64)>,
    /// The approximate size of the rows in the database.
    pub(crate) bytes: i64,
}

/// The selection of receipts to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptFilter<'a> {
    /// Only receipts of this skill.
    pub skill: Option<&'a str>,
    /// Only receipts from this time on, in RFC 3339.
    pub since: Option<&'a str>,
    /// At most this many, the newest ones.
    pub limit: Option<u32>,
}

/// The end of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// The number of receipts, which is the number of the last one.
    pub count: i64,
    /// The hash of the last one, as `sha256:…`; zeros if there is none.
    pub hash: String,
}

/// The result of [`Store::verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// All receipts are there, unchanged and in order.
    Whole {
        /// The number of receipts.
        count: i64,
    },
    /// Something is wrong. This is the first place; there can be more.
    Broken {
        /// The receipt where it was found.
        id: i64,
        /// The problem.
        why: Breakage,
    },
}

/// How a chain can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Breakage {
    /// The content does not match the hash.
    #[error("the receipt was changed")]
    Changed,
    /// The number does not exist.
    #[error("the receipt is missing")]
    Missing,
    /// It contains a hash other than that of the receipt before it.
    #[error("the receipt does not follow the one before it, which was changed or replaced")]
    Unlinked,
    /// There are more receipts than were counted.
    #[error("the receipt was added from outside")]
    Added,
    /// The row with the count and the last hash is missing or does not match the last receipt.
    #[error("the end of the chain was changed")]
    Head,
}

impl Store {
    /// Records receipts in this order, all or none. Readers are not blocked.
    ///
    /// They survive the end of this program, however it ends. The call does not wait for the disk: a skill can't cut
    /// the power, and after a power failure the last moments can be missing. Decisions of the user do wait for the
    /// disk.
    pub fn append(&self, receipts: &[NewReceipt]) -> Result<Vec<Receipt>, StoreError> {
        let single = |receipt: &NewReceipt| ReceiptEntry {
            receipt: receipt.bounded(),
            place: EntryPlace::Single,
        };
        self.extend(receipts.iter().map(single).collect())
    }

    /// Appends entries, all or none. The end of an act that has already ended is skipped.
    pub(crate) fn extend(&self, entries: Vec<ReceiptEntry>) -> Result<Vec<Receipt>, StoreError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let appended = self.write_without_waiting(|connection| {
            let Some(mut head) = head(connection)? else {
                return Ok(None);
            };
            let before = head.count;
            let mut appended = Vec::with_capacity(entries.len());
            for entry in entries {
                let Some(next) = head.count.checked_add(1) else {
                    return Ok(None);
                };
                if let Some((begun, part)) = entry.place.part(next, &mut head.open) {
                    appended.push(head.append(connection, entry.receipt, begun, part)?);
                }
            }
            if head.count != before {
                head.write(connection)?;
            }
            Ok(Some((appended, before, head.count)))
        })?;
        let (appended, before, after) = appended.ok_or_else(|| self.damaged())?;
        self.rotate_if_due(before, after);
        Ok(appended)
    }

    /// The receipts, newest first; an act is sorted by its beginning. A receipt with an unreadable time is included
    /// for every `since`.
    pub fn receipts(&self, filter: ReceiptFilter<'_>) -> Result<Vec<Receipt>, StoreError> {
        if let Some(since) = filter.since {
            self.check_time(since)?;
        }
        let skill = filter.skill.map(|skill| bounded(skill, SHORT));
        let mut join = Join::of(filter.limit);
        let mut first = i64::MAX;
        let read = read_rows(&self.connection, skill.as_deref(), filter.since, |row| {
            join.take(row)
        });
        read.map_err(|source| self.fail(source))?;
        if !join.is_full() {
            let sql = "SELECT min(id) FROM receipts";
            let lowest = self.connection.query_row(sql, [], |row| row.get(0));
            let lowest: Option<i64> = lowest.map_err(|source| self.fail(source))?;
            first = lowest.unwrap_or(first);
        }
        for segment in segments::before(&self.receipts_folder(), first)
            .iter()
            .rev()
        {
            if join.is_full() {
                break;
            }
            let read = segment.open().and_then(|connection| {
                read_rows(&connection, skill.as_deref(), filter.since, |row| {
                    match row.get::<_, i64>(0)? < first {
                        true => join.take(row),
                        false => Ok(true),
                    }
                })
            });
            read.map_err(|source| StoreError::from_sqlite(segment.path(), source))?;
            first = first.min(segment.first);
        }
        // These began before that time and ended after it.
        for (begun, (by, end)) in join.left() {
            if let Some(receipt) = self.receipt(begun)? {
                join.acts.push(receipt.joined(by, &end));
            }
        }
        join.acts
            .sort_by_key(|receipt| std::cmp::Reverse(receipt.id));
        Ok(join.acts)
    }

    /// One entry of the chain by its number: of an act, its beginning or its end.
    pub fn receipt(&self, id: i64) -> Result<Option<Receipt>, StoreError> {
        let sql = "SELECT * FROM receipts WHERE id = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([id], receipt).optional()
        };
        let here = read().map_err(|source| self.fail(source))?;
        if here.is_some() {
            return Ok(here);
        }
        for segment in segments::before(&self.receipts_folder(), id.saturating_add(1)) {
            if segment.last >= id {
                let found = segment.one(id, receipt);
                return found.map_err(|source| StoreError::from_sqlite(segment.path(), source));
            }
        }
        Ok(None)
    }

    /// The acts that have not ended, each with its owner.
    pub(crate) fn open_acts(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let head = head(&self.connection).map_err(|source| self.fail(source))?;
        Ok(head.ok_or_else(|| self.damaged())?.open)
    }

    /// The folder of segments and live files.
    pub(crate) fn receipts_folder(&self) -> PathBuf {
        receipts_folder(&self.path)
    }

    /// The end of the chain, to be stored elsewhere.
    pub fn head(&self) -> Result<ChainHead, StoreError> {
        let head = head(&self.connection).map_err(|source| self.fail(source))?;
        let head = head.ok_or_else(|| self.damaged())?;
        Ok(ChainHead {
            count: head.count,
            hash: chain::written(&head.hash),
        })
    }

    /// An error if SQLite can't parse the time.
    fn check_time(&self, text: &str) -> Result<(), StoreError> {
        let sql = "SELECT unixepoch(?1, 'subsec') IS NOT NULL";
        let is_time = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([text], |row| row.get(0)));
        match is_time.map_err(|source| self.fail(source))? {
            true => Ok(()),
            false => Err(StoreError::NotATime {
                text: text.to_owned(),
            }),
        }
    }
}

impl Receipt {
    /// The number and the start of the hash: short, and different in another database.
    pub fn text_id(&self) -> String {
        let hash = self.hash.strip_prefix("sha256:").unwrap_or(&self.hash);
        format!("r{}-{}", self.id, hash.get(..8).unwrap_or(hash))
    }
}

impl NewReceipt {
    pub(crate) fn bounded(&self) -> Self {
        let short = |text: &String| bounded(text, SHORT);
        NewReceipt {
            at: short(&self.at),
            skill: short(&self.skill),
            source: short(&self.source),
            digest: short(&self.digest),
            act: short(&self.act),
            detail: bounded(&self.detail, LONG),
            decision: self.decision,
            reason: self.reason.as_ref().map(|text| bounded(text, LONG)),
            outcome: self.outcome,
            ms: self.ms.min(i64::MAX.unsigned_abs()),
            sandbox: self.sandbox.as_ref().map(short),
            session: self.session.as_ref().map(short),
            count: self.count.clamp(1, i64::MAX.unsigned_abs()),
        }
    }

    /// The approximate size in the database.
    fn bytes(&self) -> i64 {
        let texts = [
            &self.at,
            &self.skill,
            &self.source,
            &self.digest,
            &self.act,
            &self.detail,
        ];
        let maybe = [&self.reason, &self.sandbox, &self.session];
        let texts = texts.into_iter().chain(maybe.into_iter().flatten());
        let bytes = texts.map(String::len).sum::<usize>() + ROW;
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

impl ReceiptDecision {
    /// The name used in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ReceiptDecision::Allowed => "allowed",
            ReceiptDecision::Refused => "refused",
        }
    }
}

impl ReceiptOutcome {
    /// The name used in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ReceiptOutcome::Ok => "ok",
            ReceiptOutcome::Error => "error",
            ReceiptOutcome::Timeout => "timeout",
        }
    }
}

impl ColumnValue for ReceiptDecision {
    const ALL: &'static [Self] = &[ReceiptDecision::Allowed, ReceiptDecision::Refused];

    fn text(self) -> &'static str {
        self.as_str()
    }
}

impl ColumnValue for ReceiptOutcome {
    const ALL: &'static [Self] = &[
        ReceiptOutcome::Ok,
        ReceiptOutcome::Error,
        ReceiptOutcome::Timeout,
    ];

    fn text(self) -> &'static str {
        self.as_str()
    }
}

/// The string, truncated with a mark that states how many bytes are missing.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(most - MARK)];
    format!("{kept}… ({} bytes cut)", text.len() - kept.len())
}

/// The folder next to a database that contains its receipts.
pub(crate) fn receipts_folder(database: &std::path::Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-receipts");
    name.into()
}

impl EntryPlace {
    /// The value of the column `begun`, and the part; `None` if the act has already ended.
    fn part(&self, id: i64, open: &mut Vec<(i64, i64)>) -> Option<(Option<i64>, ReceiptPart)> {
        match *self {
            EntryPlace::Single => Some((None, ReceiptPart::Single)),
            EntryPlace::Begins { owner } => {
                open.push((id, owner));
                Some((Some(id), ReceiptPart::Begun))
            }
            EntryPlace::Completes { begun } => {
                let position = open.iter().position(|(id, _)| *id == begun)?;
                open.remove(position);
                Some((Some(begun), ReceiptPart::End { of: begun }))
            }
        }
    }
}

impl HeadRow {
    fn append(
        &mut self,
        connection: &Connection,
        entry: NewReceipt,
        begun: Option<i64>,
        part: ReceiptPart,
    ) -> rusqlite::Result<Receipt> {
        self.count += 1;
        let (id, previous) = (self.count, self.hash);
        self.hash = chain::hash(id, &entry, begun, &previous);
        self.bytes = self.bytes.saturating_add(entry.bytes());
        insert(connection, id, &entry, begun, (&previous, &self.hash))?;
        Ok(Receipt {
            id,
            entry,
            previous: chain::written(&previous),
            hash: chain::written(&self.hash),
            part,
            note: String::new(),
        })
    }

    fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "UPDATE receipts_head SET count = ?1, hash = ?2, open = ?3, bytes = ?4";
        let pairs = self.open.iter().flat_map(|(id, owner)| [*id, *owner]);
        let open: Vec<u8> = pairs.flat_map(i64::to_be_bytes).collect();
        connection
            .prepare_cached(sql)?
            .execute(params![self.count, self.hash, open, self.bytes])
            .map(drop)
    }
}

/// Recomputes the size of the rows, after some were moved out.
pub(crate) fn count_bytes(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "UPDATE receipts_head SET bytes = (
                   SELECT coalesce(sum(?1 + length(at) + length(skill) + length(source) + length(digest)
                       + length(act) + length(detail) + length(coalesce(reason, ''))
                       + length(coalesce(sandbox, '')) + length(coalesce(session, ''))), 0)
                   FROM receipts)";
    let row = i64::try_from(ROW).unwrap_or(i64::MAX);
    connection.execute(sql, [row]).map(drop)
}

pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Option<HeadRow>> {
    let sql = "SELECT count, hash, open, bytes FROM receipts_head";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let open: Vec<u8> = row.get(2)?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_be_bytes);
        Ok(HeadRow {
            count: row.get(0)?,
            hash: row.get(1)?,
            open: open
                .chunks_exact(16)
                .map(|pair| (number(&pair[..8]), number(&pair[8..])))
                .collect(),
            bytes: row.get(3)?,
        })
    };
    statement.query_row([], read).optional()
}

/// Joins ends and beginnings while entries arrive from the newest to the oldest.
struct Join {
    acts: Vec<Receipt>,
    /// Ends whose beginnings have not arrived yet.
    ends: BTreeMap<i64, (i64, NewReceipt)>,
    most: usize,
}

impl Join {
    fn of(limit: Option<u32>) -> Self {
        let most = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        Self {
            acts: Vec::new(),
            ends: BTreeMap::new(),
            most,
        }
    }

    fn is_full(&self) -> bool {
        self.acts.len() >= self.most
    }

    /// Adds an entry; returns whether more are needed.
    fn take(&mut self, row: &Row<'_>) -> rusqlite::Result<bool> {
        if self.is_full() {
            return Ok(false);
        }
        let receipt = receipt(row)?;
        match receipt.part {
            ReceiptPart::End { of } => {
                self.ends.insert(of, (receipt.id, receipt.entry));
            }
            _ => self.acts.push(match self.ends.remove(&receipt.id) {
                Some((by, end)) => receipt.joined(by, &end),
                None => receipt,
            }),
        }
        Ok(!self.is_full())
    }

    /// Ends whose beginnings are outside the range. If the limit is reached, they came before.
    fn left(&mut self) -> BTreeMap<i64, (i64, NewReceipt)> {
        let left = std::mem::take(&mut self.ends);
        if self.is_full() {
            return BTreeMap::new();
        }
        left
    }
}

/// Passes the rows of a skill, or of all, newest first, until the callback returns `false`.
fn read_rows(
    connection: &Connection,
    skill: Option<&str>,
    since: Option<&str>,
    mut show: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    // Times are compared as times: as strings, `09:00:00.5Z` sorts before `09:00:00Z`.
    let all = "SELECT * FROM receipts WHERE ?1 IS NULL
               AND coalesce(unixepoch(at, 'subsec') >= unixepoch(?2, 'subsec'), TRUE)
               ORDER BY id DESC";
    let of_skill = "SELECT * FROM receipts WHERE skill = ?1
                    AND coalesce(unixepoch(at, 'subsec') >= unixepoch(?2, 'subsec'), TRUE)
                    ORDER BY id DESC";
    let sql = if skill.is_some() { of_skill } else { all };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![skill, since])?;
    while let Some(row) = rows.next()? {
        if !show(row)? {
            break;
        }
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    id: i64,
    entry: &NewReceipt,
    begun: Option<i64>,
    (previous, hash): (&Hash, &Hash),
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO receipts (id, at, skill, source, digest, act, detail, decision, reason, outcome, ms,
                   sandbox, session, previous, hash, begun, count)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
    let count = i64::try_from(entry.count).unwrap_or(i64::MAX);
    let row = params![
        id,
        entry.at,
        entry.skill,
        entry.source,
        entry.digest,
        entry.act,
        entry.detail,
        entry.decision.as_str(),
        entry.reason,
        entry.outcome.map(ReceiptOutcome::as_str),
        i64::try_from(entry.ms).unwrap_or(i64::MAX),
        entry.sandbox,
        entry.session,
        previous,
        hash,
        begun,
        (count != 1).then_some(count)
    ];
    connection.prepare_cached(sql)?.execute(row).map(drop)
}

fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    let id = row.get(0)?;
    Ok(Receipt {
        id,
        entry: entry(row)?,
        previous: chain::written(&row.get(PREVIOUS)?),
        hash: chain::written(&row.get(HASH)?),
        part: match row.get(BEGUN)? {
            None => ReceiptPart::Single,
            Some(begun) if begun == id => ReceiptPart::Begun,
            Some(of) => ReceiptPart::End { of },
        },
        note: String::new(),
    })
}

pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<NewReceipt> {
    Ok(NewReceipt {
        at: row.get(1)?,
        skill: row.get(2)?,
        source: row.get(3)?,
        digest: row.get(4)?,
        act: row.get(5)?,
        detail: row.get(6)?,
        decision: word(row, 7)?,
        reason: row.get(8)?,
        outcome: optional_word(row, 9)?,
        ms: unsigned(row, 10)?,
        sandbox: row.get(11)?,
        session: row.get(12)?,
        count: match row.get_ref(COUNT)? {
            ValueRef::Null => 1,
            _ => unsigned(row, COUNT)?,
        },
    })
}
