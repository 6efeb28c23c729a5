//! The file format of an index: records in blocks, each block with a checksum.
//!
//! Ten thousand skills are four megabytes of index, and listing them needs every record once, from front to back.
//! Reading block by block into one buffer costs a copy; reading the whole file would touch a thousand pages of
//! memory, and a page fault costs more than processing the page.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::codec::{RecordReader, RecordWriter};

const MAGIC: &[u8; 8] = b"METIER\x00\x02";

/// A block is closed once it has this many bytes.
const BLOCK: usize = 64 * 1024;

/// The checksum and the length before a block.
const PREFIX: usize = 8;

/// Encodes records as the content of a file.
pub(crate) fn encode<'r>(records: impl Iterator<Item = &'r [u8]>) -> Vec<u8> {
    let mut content = MAGIC.to_vec();
    let mut block = RecordWriter::default();
    for record in records {
        block.bytes(record);
        if block.len() >= BLOCK {
            close(&mut content, std::mem::take(&mut block));
        }
    }
    close(&mut content, block);
    content
}

fn close(content: &mut Vec<u8>, block: RecordWriter) {
    let mut checked = RecordWriter::default();
    checked.bytes(&block.into_bytes());
    let checked = checked.into_bytes();
    content.extend_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    content.extend_from_slice(&checked);
}

/// Reads records in order; stops at the first block whose checksum does not match.
pub(crate) struct Cursor {
    file: File,
    /// The bytes of the file that are not read yet, and where they start.
    left: u64,
    offset: u64,
    /// The current block, with its length in front, and how much of it is consumed.
    block: Vec<u8>,
    position: usize,
}

impl Cursor {
    /// A cursor at the first record; `None` if the file is not an index.
    pub(crate) fn new(file: File) -> io::Result<Option<Self>> {
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0)?;
        let start = MAGIC.len() as u64;
        let left = file.metadata()?.len().saturating_sub(start);
        Ok((magic == *MAGIC).then_some(Self {
            file,
            left,
            offset: start,
            block: Vec::new(),
            position: 0,
        }))
    }

    /// Another cursor at the same position of the same file, even if the file was renamed or removed.
    pub(crate) fn fork(&self) -> io::Result<Self> {
        Ok(Self {
            file: self.file.try_clone()?,
            block: self.block.clone(),
            ..*self
        })
    }

    /// The record under the cursor.
    pub(crate) fn record(&mut self) -> Option<&[u8]> {
        while self.position >= self.block.len() {
            self.next_block()?;
        }
        RecordReader::at(&self.block, self.position).bytes()
    }

    /// Advances past the record under the cursor, and returns it.
    pub(crate) fn take(&mut self) -> Option<&[u8]> {
        let length = self.record()?.len();
        let start = self.position + 4;
        self.position = start + length;
        self.block.get(start..start + length)
    }

    fn next_block(&mut self) -> Option<()> {
        let mut prefix = [0; PREFIX];
        self.file.read_exact_at(&mut prefix, self.offset).ok()?;
        let (checksum, length) = prefix.split_at(4);
        let size = PREFIX as u64 + u64::from(u32::from_le_bytes(length.try_into().ok()?));
        self.left = self.left.checked_sub(size)?;
        self.position = 4;
        self.block.resize(usize::try_from(size).ok()? - 4, 0);
        let read = self.file.read_exact_at(&mut self.block, self.offset + 4);
        self.offset += size;
        if read.is_err() || crc32fast::hash(&self.block).to_le_bytes() != checksum {
            self.block.clear();
            self.left = 0;
            return None;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn records() -> Vec<Vec<u8>> {
        (0..300u32).map(|number| vec![number as u8; 1000]).collect()
    }

    fn cursor(content: &[u8]) -> Option<Cursor> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        Cursor::new(file).ok().flatten()
    }

    fn rest(mut cursor: Cursor) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| cursor.take().map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let records = records();
        let content = encode(records.iter().map(Vec::as_slice));
        let mut whole = cursor(&content).unwrap();
        assert_eq!(whole.record(), Some(&records[0][..]));
        whole.take();
        assert_eq!(rest(whole.fork().unwrap()), records[1..]);
        assert_eq!(rest(whole), records[1..]);
    }

    #[test]
    fn nothing_behind_a_damaged_block_is_believed() {
        let records = records();
        let content = encode(records.iter().map(Vec::as_slice));
        for at in [100_000, 70_000] {
            let mut damaged = content.clone();
            damaged[at] ^= 1;
            assert_eq!(rest(cursor(&damaged).unwrap()), records[..66], "{at}");
            assert_eq!(rest(cursor(&content[..at]).unwrap()), records[..66], "{at}");
        }
        assert!(cursor(b"METIER").is_none() && cursor(b"something else").is_none());
    }
}
