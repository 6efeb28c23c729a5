//! What was done and what was refused.
//!
//! A receipt is written for every act, allowed or not, and never changed or removed: triggers refuse both, and each
//! receipt contains the hash of the one before, so that [`Store::verify`] finds what was changed, removed or moved.
//! How many there are and the last hash are in a row of their own, written in the same transaction; otherwise the
//! last receipts could go missing unnoticed.
//!
//! **What this can't do.** There is no secret in it. Whoever may write to the file can drop the triggers and compute
//! the whole chain anew from any receipt on, cut it off anywhere and set its end to match, or put back an older copy of
//! the file: all of these look whole. What is found are accidents, and hands that don't know about the chain. To find
//! the rest, keep what [`Store::head`] says in a place that the tamperer can't write to, and compare: a chain that was
//! whole then still has that hash at that number, see [`Store::receipt`].
//!
//! Texts are kept as they come, escaped by whoever shows them, and without secrets, by whoever writes them; only their
//! length is bounded, with a visible cut.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::chain::{self, BEGINNING, Hash};
use crate::words::{Word, optional_word, unsigned, word};
use crate::{Store, StoreError};

/// The most bytes of a detail or a reason.
const LONG: usize = 4096;
/// The most bytes of any other text.
const SHORT: usize = 1024;
/// Enough for the mark of a cut.
const MARK: usize = 48;

/// One act, as its doer describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReceipt {
    /// When, in RFC 3339.
    pub at: String,
    /// The skill's name.
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
    pub decision: Decision,
    /// Why it was refused, or failed.
    pub reason: Option<String>,
    /// How it ended, if it was begun.
    pub outcome: Option<Outcome>,
    /// How long it took.
    pub ms: u64,
    /// What it was confined by.
    pub sandbox: Option<String>,
    /// The session that it belongs to.
    pub session: Option<String>,
}

/// Whether an act was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It was done.
    Allowed,
    /// It was not.
    Refused,
}

/// How an act ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Well.
    Ok,
    /// Badly.
    Error,
    /// It was stopped because it took too long.
    Timeout,
}

/// One act, as it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number: 1, 2, 3 …
    pub id: i64,
    /// What happened. Long texts were cut.
    pub entry: NewReceipt,
    /// The hash of the receipt before, as `sha256:…`; zeros in the first.
    pub previous: String,
    /// The hash of this one, which contains all of the above.
    pub hash: String,
}

/// Which receipts to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptFilter<'a> {
    /// Only this skill's.
    pub skill: Option<&'a str>,
    /// Only from this time on, in RFC 3339.
    pub since: Option<&'a str>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
}

/// The end of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How many receipts there are, which is the number of the last one.
    pub count: i64,
    /// The hash of the last one, as `sha256:…`; zeros if there is none.
    pub hash: String,
}

/// What [`Store::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// All receipts are there, unchanged and in order.
    Whole {
        /// How many.
        count: i64,
    },
    /// They aren't. This is the first place; there may be more.
    Broken {
        /// The receipt where it shows.
        id: i64,
        /// What is wrong with it.
        why: Breakage,
    },
}

/// How a chain can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Breakage {
    /// The content and the hash don't belong together.
    #[error("the receipt was changed")]
    Changed,
    /// The number is not there.
    #[error("the receipt is missing")]
    Missing,
    /// It contains the hash of another receipt than the one before it.
    #[error("the receipt does not follow the one before it, which was changed or replaced")]
    Unlinked,
    /// There is more than was counted.
    #[error("the receipt was added from outside")]
    Added,
    /// The row with the count and the last hash is gone or doesn't belong to the last receipt.
    #[error("the end of the chain was changed")]
    Head,
}

impl Store {
    /// Writes receipts down, in this order, all or none. Whoever reads is not held up.
    ///
    /// They outlive this program, whatever ends it. The disk is not waited for: a skill can't cut the power, and after
    /// a power cut the last moments may be missing. What somebody answered is waited for.
    pub fn append(&self, receipts: &[NewReceipt]) -> Result<Vec<Receipt>, StoreError> {
        if receipts.is_empty() {
            return Ok(Vec::new());
        }
        let appended = self.write_without_waiting(|connection| {
            let Some((mut id, mut previous)) = head(connection)? else {
                return Ok(None);
            };
            let mut appended = Vec::with_capacity(receipts.len());
            for receipt in receipts {
                let entry = receipt.bounded();
                let Some(next) = id.checked_add(1) else {
                    return Ok(None);
                };
                id = next;
                let hash = chain::hash(id, &entry, &previous);
                insert(connection, id, &entry, &previous, &hash)?;
                appended.push(Receipt {
                    id,
                    entry,
                    previous: chain::written(&previous),
                    hash: chain::written(&hash),
                });
                previous = hash;
            }
            let sql = "UPDATE receipts_head SET count = ?1, hash = ?2";
            connection
                .prepare_cached(sql)?
                .execute(params![id, previous])?;
            Ok(Some(appended))
        })?;
        appended.ok_or_else(|| self.damaged())
    }

    /// The receipts, the newest first. One whose time can't be read is always among those since any time.
    pub fn receipts(&self, filter: ReceiptFilter<'_>) -> Result<Vec<Receipt>, StoreError> {
        // Times are compared as times: as texts, `09:00:00.5Z` comes before `09:00:00Z`.
        let all = "SELECT * FROM receipts WHERE ?1 IS NULL
                   AND coalesce(unixepoch(at, 'subsec') >= unixepoch(?2, 'subsec'), TRUE)
                   ORDER BY id DESC LIMIT ?3";
        let of_skill = "SELECT * FROM receipts WHERE skill = ?1
                        AND coalesce(unixepoch(at, 'subsec') >= unixepoch(?2, 'subsec'), TRUE)
                        ORDER BY id DESC LIMIT ?3";
        if let Some(since) = filter.since {
            self.check_time(since)?;
        }
        let skill = filter.skill.map(|skill| bounded(skill, SHORT));
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = if skill.is_some() { of_skill } else { all };
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement
                .query_map(params![skill, filter.since, limit], receipt)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }

    /// One receipt by its number.
    pub fn receipt(&self, id: i64) -> Result<Option<Receipt>, StoreError> {
        let sql = "SELECT * FROM receipts WHERE id = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([id], receipt).optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// The end of the chain, to be kept elsewhere.
    pub fn head(&self) -> Result<Head, StoreError> {
        let head = head(&self.connection).map_err(|source| self.fail(source))?;
        let (count, hash) = head.ok_or_else(|| self.damaged())?;
        Ok(Head {
            count,
            hash: chain::written(&hash),
        })
    }

    /// Whether all receipts are there, unchanged and in order, as far as the file itself can tell.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        self.read(|connection| {
            let Some((count, last)) = head(connection)? else {
                return broken(0, Breakage::Head);
            };
            let mut statement = connection.prepare("SELECT * FROM receipts ORDER BY id")?;
            let mut rows = statement.query([])?;
            let (mut id, mut previous) = (0, BEGINNING);
            while let Some(row) = rows.next()? {
                let found: i64 = row.get(0)?;
                id += 1;
                if id > count {
                    return broken(found, Breakage::Added);
                }
                if found != id {
                    return broken(id.min(found), out_of_order(id, found));
                }
                match link(row, id, &previous) {
                    Ok(hash) => previous = hash,
                    Err(why) => return broken(id, why),
                }
            }
            if id < count {
                return broken(id + 1, Breakage::Missing);
            }
            if previous != last {
                return broken(id, Breakage::Head);
            }
            Ok(Verified::Whole { count })
        })
    }

    /// An error if SQLite can't read the time.
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
    /// The number and the beginning of the hash: short, and not the same in another database.
    pub fn text_id(&self) -> String {
        let hash = self.hash.strip_prefix("sha256:").unwrap_or(&self.hash);
        format!("r{}-{}", self.id, hash.get(..8).unwrap_or(hash))
    }
}

impl NewReceipt {
    fn bounded(&self) -> Self {
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
        }
    }
}

impl Decision {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allowed => "allowed",
            Decision::Refused => "refused",
        }
    }
}

impl Outcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Timeout => "timeout",
        }
    }
}

impl Word for Decision {
    const ALL: &'static [Self] = &[Decision::Allowed, Decision::Refused];

    fn text(self) -> &'static str {
        self.as_str()
    }
}

impl Word for Outcome {
    const ALL: &'static [Self] = &[Outcome::Ok, Outcome::Error, Outcome::Timeout];

    fn text(self) -> &'static str {
        self.as_str()
    }
}

/// The text, or as much of it as fits with a mark that says how much is missing.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(most - MARK)];
    format!("{kept}… ({} bytes cut)", text.len() - kept.len())
}

fn broken(id: i64, why: Breakage) -> rusqlite::Result<Verified> {
    Ok(Verified::Broken { id, why })
}

/// Numbers begin with 1; a lower one was slipped in before the first.
fn out_of_order(expected: i64, found: i64) -> Breakage {
    if found < expected {
        Breakage::Added
    } else {
        Breakage::Missing
    }
}

/// The receipt's hash, if it is what it says and follows the one before. What can't even be read was not written here.
fn link(row: &Row<'_>, id: i64, previous: &Hash) -> Result<Hash, Breakage> {
    let read = || Ok::<_, rusqlite::Error>((entry(row)?, row.get(13)?, row.get(14)?));
    let (entry, named, stored): (NewReceipt, Hash, Hash) = read().map_err(|_| Breakage::Changed)?;
    if chain::hash(id, &entry, &named) != stored {
        return Err(Breakage::Changed);
    }
    if named != *previous {
        return Err(Breakage::Unlinked);
    }
    Ok(stored)
}

fn head(connection: &Connection) -> rusqlite::Result<Option<(i64, Hash)>> {
    let sql = "SELECT count, hash FROM receipts_head";
    let mut statement = connection.prepare_cached(sql)?;
    statement
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn insert(
    connection: &Connection,
    id: i64,
    entry: &NewReceipt,
    previous: &Hash,
    hash: &Hash,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO receipts (id, at, skill, source, digest, act, detail, decision, reason, outcome, ms,
                   sandbox, session, previous, hash)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
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
        entry.outcome.map(Outcome::as_str),
        i64::try_from(entry.ms).unwrap_or(i64::MAX),
        entry.sandbox,
        entry.session,
        previous,
        hash
    ];
    connection.prepare_cached(sql)?.execute(row).map(drop)
}

fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        id: row.get(0)?,
        entry: entry(row)?,
        previous: chain::written(&row.get(13)?),
        hash: chain::written(&row.get(14)?),
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<NewReceipt> {
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
    })
}
