//! CPython's `marshal`, walked for its names and strings.
//!
//! The walk builds no objects: it keeps the strings it passed, so that references back to them can be resolved,
//! and records for each whether it was among the names of a code object or among its constants. Depth is
//! bounded; width is bounded by the bytes, since each object takes at least one.

use std::collections::BTreeSet;

use super::bytes::ByteReader;

/// Code in code in code: deeper than any compiler nests.
const DEEPEST: usize = 120;

/// The results of the walk: indexes into the table of strings, since one long string may be referred to a million times.
#[derive(Default)]
pub(super) struct CollectedStrings {
    pub(super) names: BTreeSet<usize>,
    pub(super) strings: BTreeSet<usize>,
    pub(super) files: BTreeSet<usize>,
    pub(super) codes: usize,
}

/// The position of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringPlace {
    Names,
    Constants,
    File,
    Elsewhere,
}

pub(super) struct MarshalWalk<'a> {
    reader: ByteReader<'a>,
    minor: (u8, u8),
    /// For each object that may be referred to: the string it is, if it is one.
    refs: Vec<Option<usize>>,
    /// Python 2's own list of interned strings.
    interned: Vec<usize>,
    table: Vec<String>,
    pub(super) found: CollectedStrings,
}

impl<'a> MarshalWalk<'a> {
    pub(super) fn new(bytes: &'a [u8], version: (u8, u8)) -> Self {
        let (refs, interned, table) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            reader: ByteReader::new(bytes),
            minor: version,
            refs,
            interned,
            table,
            found: CollectedStrings::default(),
        }
    }

    /// Walks the one object of the file; returns whether it was complete.
    pub(super) fn run(&mut self) -> bool {
        self.object(StringPlace::Elsewhere, 0).is_some()
    }

    /// The strings at these places, sorted, each once.
    pub(super) fn strings(&self, places: &BTreeSet<usize>) -> Vec<String> {
        let sorted: BTreeSet<&String> = places
            .iter()
            .filter_map(|&place| self.table.get(place))
            .collect();
        sorted.into_iter().cloned().collect()
    }

    fn object(&mut self, place: StringPlace, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let tag = self.reader.byte()?;
        let (flag, tag) = (tag & 0x80 != 0, tag & 0x7f);
        let slot = self.refs.len();
        if flag {
            self.refs.push(None);
        }
        let string = match tag {
            b'0' | b'N' | b'F' | b'T' | b'S' | b'.' => None,
            b'i' => self.skip(4)?,
            b'I' | b'g' => self.skip(8)?,
            b'y' => self.skip(16)?,
            b'f' => self.short_skip()?,
            b'x' => {
                self.short_skip()?;
                self.short_skip()?
            }
            b'l' => {
                let digits =
                    i32::from_le_bytes(self.reader.take(4)?.try_into().ok()?).unsigned_abs();
                self.skip(usize::try_from(digits).ok()?.checked_mul(2)?)?
            }
            b's' | b't' | b'u' | b'a' | b'A' => {
                let length = usize::try_from(self.reader.low32()?).ok()?;
                self.string(length, tag)?
            }
            b'z' | b'Z' => {
                let length = usize::from(self.reader.byte()?);
                self.string(length, tag)?
            }
            b'r' => self
                .refs
                .get(usize::try_from(self.reader.low32()?).ok()?)
                .copied()
                .flatten(),
            b'R' => self
                .interned
                .get(usize::try_from(self.reader.low32()?).ok()?)
                .copied(),
            b'(' | b'[' | b'<' | b'>' => {
                let count = self.reader.low32()?;
                self.many(u64::from(count), place, depth)?
            }
            b')' => {
                let count = self.reader.byte()?;
                self.many(u64::from(count), place, depth)?
            }
            b':' => self.many(3, place, depth)?,
            b'{' => self.dict(place, depth)?,
            b'c' => self.code(depth)?,
            _ => return None,
        };
        if let (Some(slot), Some(string)) = (self.refs.get_mut(slot).filter(|_| flag), string) {
            *slot = Some(string);
        }
        if let Some(string) = string {
            match place {
                StringPlace::Names => self.found.names.insert(string),
                StringPlace::Constants => self.found.strings.insert(string),
                StringPlace::File => self.found.files.insert(string),
                StringPlace::Elsewhere => false,
            };
        }
        Some(())
    }

    /// The outer layer ends the walk, the inner one is the string that was read.
    fn skip(&mut self, count: usize) -> Option<Option<usize>> {
        self.reader.take(count).map(|_| None)
    }

    fn short_skip(&mut self) -> Option<Option<usize>> {
        let length = self.reader.byte()?;
        self.skip(usize::from(length))
    }

    fn string(&mut self, length: usize, tag: u8) -> Option<Option<usize>> {
        let bytes = self.reader.take(length)?;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // Text can contain lone surrogates; bytes that are not text are bytecode or data.
            Err(_) if tag == b's' => return Some(None),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        };
        let index = self.table.len();
        self.table.push(text);
        if tag == b't' {
            self.interned.push(index);
        }
        Some(Some(index))
    }

    fn many(&mut self, count: u64, place: StringPlace, depth: usize) -> Option<Option<usize>> {
        for _ in 0..count {
            self.object(place, depth + 1)?;
        }
        Some(None)
    }

    fn dict(&mut self, place: StringPlace, depth: usize) -> Option<Option<usize>> {
        loop {
            let mut ahead = self.reader;
            if ahead.byte()? & 0x7f == b'0' {
                self.reader = ahead;
                return Some(None);
            }
            self.object(place, depth + 1)?;
        }
    }

    fn code(&mut self, depth: usize) -> Option<Option<usize>> {
        use StringPlace::{Constants, Elsewhere, File, Names};
        /// Bytecode, constants, names, variables, free and cell variables, file, name.
        const OLD: &[StringPlace] = &[
            Elsewhere, Constants, Names, Names, Names, Names, File, Names,
        ];
        /// Bytecode, constants, names, all variables, their kinds, file, name, qualified name.
        const NEW: &[StringPlace] = &[
            Elsewhere, Constants, Names, Names, Elsewhere, File, Names, Elsewhere,
        ];
        self.found.codes += 1;
        let (numbers, places, after) = match self.minor {
            (2, _) => (4, OLD, 1),
            (_, ..=7) => (5, OLD, 1),
            (_, ..=10) => (6, OLD, 1),
            _ => (5, NEW, 2),
        };
        self.skip(numbers * 4)?;
        for &place in places {
            self.object(place, depth + 1)?;
        }
        self.skip(4)?;
        self.many(after, Elsewhere, depth)
    }
}
