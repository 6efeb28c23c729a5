//! Whether all receipts are present, unchanged and in order, in segments and in the database.

use std::collections::BTreeSet;

use rusqlite::Row;

use crate::chain::{self, BEGINNING, Hash};
use crate::receipts::{self, BEGUN, HASH, PREVIOUS};
use crate::segments::{self, ReceiptSegment};
use crate::{Breakage, NewReceipt, Store, StoreError, Verified};

/// The first problem: the receipt and what is wrong with it.
type BrokenChain = (i64, Breakage);

/// The state of following the chain.
struct ChainWalk {
    id: i64,
    previous: Hash,
    /// The expected number of receipts.
    count: i64,
    /// Acts that began and have not ended.
    open: BTreeSet<i64>,
}

impl Store {
    /// Whether all receipts are present, unchanged and in order, judged by the files alone.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let folder = self.receipts_folder();
        let walked = self.read(|connection| {
            let Some(head) = receipts::head(connection)? else {
                return Ok(Err((0, Breakage::Head)));
            };
            let sql = "SELECT min(id) FROM receipts";
            let first: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
            let mut walk = ChainWalk {
                id: 0,
                previous: BEGINNING,
                count: head.count,
                open: BTreeSet::new(),
            };
            for segment in segments::before(&folder, first.unwrap_or(i64::MAX)) {
                if let Err(broken) = walk.segment(&segment, first) {
                    return Ok(Err(broken));
                }
            }
            let mut statement = connection.prepare("SELECT * FROM receipts ORDER BY id")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if let Err(broken) = walk.step(row) {
                    return Ok(Err(broken));
                }
            }
            Ok(walk.end(&head))
        })?;
        Ok(match walked {
            Ok(count) => Verified::Whole { count },
            Err((id, why)) => Verified::Broken { id, why },
        })
    }
}

impl ChainWalk {
    /// Follows the chain through a segment, up to the first row in the database.
    fn segment(&mut self, segment: &ReceiptSegment, first: Option<i64>) -> Result<(), BrokenChain> {
        if segment.last <= self.id {
            return Ok(()); // left over from a run that was stopped
        }
        let next = self.id + 1;
        if segment.first > next {
            return Err((next, Breakage::Missing));
        }
        let mut broken = Ok(());
        let read = segment.each(|row| {
            let id: i64 = row.get(0)?;
            if id >= next && first.is_none_or(|first| id < first) {
                broken = self.step(row);
            }
            Ok(broken.is_ok())
        });
        read.map_err(|_| (self.id + 1, Breakage::Changed))?;
        broken?;
        let expected = first.map_or(segment.last, |first| segment.last.min(first - 1));
        match self.id < expected {
            true => Err((self.id + 1, Breakage::Missing)),
            false => Ok(()),
        }
    }

    fn step(&mut self, row: &Row<'_>) -> Result<(), BrokenChain> {
        let next = self.id + 1;
        let found: i64 = row.get(0).map_err(|_| (next, Breakage::Changed))?;
        if next > self.count {
            return Err((found, Breakage::Added));
        }
        if found != next {
            return Err((next.min(found), out_of_order(next, found)));
        }
        self.id = next;
        let (hash, begun) = link(row, next, &self.previous).map_err(|why| (next, why))?;
        self.previous = hash;
        match begun {
            Some(begun) if begun == next => {
                self.open.insert(next);
            }
            Some(begun) if !self.open.remove(&begun) => return Err((next, Breakage::Added)),
            _ => {}
        }
        Ok(())
    }

    fn end(&self, head: &receipts::HeadRow) -> Result<i64, BrokenChain> {
        if self.id < self.count {
            return Err((self.id + 1, Breakage::Missing));
        }
        let mut listed: Vec<i64> = head.open.iter().map(|(id, _)| *id).collect();
        listed.sort_unstable();
        if self.previous != head.hash || !self.open.iter().eq(listed.iter()) {
            return Err((self.id, Breakage::Head));
        }
        Ok(self.count)
    }
}

/// Numbers start at 1; a lower one was inserted before the first.
fn out_of_order(expected: i64, found: i64) -> Breakage {
    if found < expected {
        Breakage::Added
    } else {
        Breakage::Missing
    }
}

/// The receipt's hash and the act that it belongs to, if its content matches and it follows the one before. A row
/// that can't be read was not written by this program.
fn link(row: &Row<'_>, id: i64, previous: &Hash) -> Result<(Hash, Option<i64>), Breakage> {
    type Read = (NewReceipt, Option<i64>, Hash, Hash);
    let read = || -> rusqlite::Result<Read> {
        let entry = receipts::entry(row)?;
        Ok((entry, row.get(BEGUN)?, row.get(PREVIOUS)?, row.get(HASH)?))
    };
    let (entry, begun, named, stored) = read().map_err(|_| Breakage::Changed)?;
    if chain::hash(id, &entry, begun, &named) != stored {
        return Err(Breakage::Changed);
    }
    if named != *previous {
        return Err(Breakage::Unlinked);
    }
    Ok((stored, begun))
}
