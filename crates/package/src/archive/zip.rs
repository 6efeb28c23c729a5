//! Zip archives, the format of `.skill` files.
//!
//! A zip archive describes each file twice, and neither description states where the other data of the archive belongs. So both are
//! compared, every byte must belong to exactly one entry, and features that only some tools support are refused: zip64, a second name in an
//! extra field, names in an unknown character set.

use std::ops::Range;

use flate2::{Crc, bufread::DeflateDecoder};
use metier_model::text::visible;

use super::{ArchiveError, Budget, PackageEntries};
use crate::{path::PackagePath, tree::PackageFile};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";

/// The length of the end record without its comment.
const END_LENGTH: usize = 22;

/// Flags: encrypted in one of three ways, sizes after the content, names in UTF-8, and hints about the compression level.
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const SIZES_BEHIND: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;
const LEVEL: u16 = 1 << 1 | 1 << 2;

/// Extra fields: other sizes, another name, encryption.
const ZIP64: u16 = 0x0001;
const UNICODE_NAME: u16 = 0x7075;
const AES: u16 = 0x9901;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The attribute of folders on DOS.
const DOS_FOLDER: u32 = 0x10;

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<PackageEntries, ArchiveError> {
    let end = EndRecord::find(bytes)?;
    let mut central = Fields {
        bytes: &bytes[..end.start],
        at: end.directory,
    };
    let mut entries = PackageEntries::default();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for _ in 0..end.entries {
        budget.entry()?;
        let entry = ZipEntry::read(&mut central)?;
        let (content, range) = entry.content(&bytes[..end.directory])?;
        ranges.push(range);
        entry.unpack(content, budget, &mut entries)?;
    }
    if central.at != end.start {
        return Err(ambiguous("its directory contains more than its entries"));
    }
    ranges.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in ranges {
        if range.start != at {
            return Err(ambiguous(
                "its entries overlap, or other data is between them",
            ));
        }
        at = range.end;
    }
    match at == end.directory {
        true => Ok(entries),
        false => Err(ArchiveError::Trailing),
    }
}

/// Where the directory is, and how many entries it has.
struct EndRecord {
    start: usize,
    directory: usize,
    entries: u16,
}

impl EndRecord {
    /// The end record, which must be the last thing in the archive. Readers search for it from the end, so no comment can contain another.
    fn find(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let last = bytes.windows(END.len()).rposition(|window| window == END);
        let start = last.ok_or_else(|| ArchiveError::Damaged("its end is missing".to_owned()))?;
        let mut fields = Fields {
            bytes,
            at: start + END.len(),
        };
        let (disk, directory_disk) = (fields.u16()?, fields.u16()?);
        let (here, entries) = (fields.u16()?, fields.u16()?);
        let (size, directory) = (fields.size()?, fields.size()?);
        let comment = usize::from(fields.u16()?);
        if start + END_LENGTH + comment != bytes.len() {
            return Err(ArchiveError::Trailing);
        }
        if (disk, directory_disk) != (0, 0) || here != entries {
            return Err(ambiguous("it is a part of several archives"));
        }
        if directory.checked_add(size) != Some(start) {
            return Err(ArchiveError::Trailing);
        }
        Ok(Self {
            start,
            directory,
            entries,
        })
    }
}

/// An entry in the directory's description.
struct ZipEntry<'a> {
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    name: &'a [u8],
    attributes: u32,
    start: usize,
}

impl<'a> ZipEntry<'a> {
    fn read(fields: &mut Fields<'a>) -> Result<Self, ArchiveError> {
        if fields.take(CENTRAL.len())? != CENTRAL {
            return Err(ArchiveError::Damaged("its directory is damaged".to_owned()));
        }
        let _versions = fields.take(4)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let _time = fields.take(4)?;
        let (crc, packed, size) = (fields.u32()?, fields.size()?, fields.size()?);
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let (comment, disk) = (fields.u16()?, fields.u16()?);
        let _internal = fields.take(2)?;
        let (attributes, start) = (fields.u32()?, fields.size()?);
        let name = fields.take(usize::from(name))?;
        check_extra(name, fields.take(usize::from(extra))?)?;
        fields.take(usize::from(comment))?;
        let entry = Self {
            flags,
            method,
            crc,
            packed,
            size,
            name,
            attributes,
            start,
        };
        entry.check(disk)?;
        Ok(entry)
    }

    fn shown(&self) -> String {
        shown(self.name)
    }

    fn check(&self, disk: u16) -> Result<(), ArchiveError> {
        let refuse = |why: &str| Err(ambiguous(&format!("`{}` {why}", self.shown())));
        if self.flags & ENCRYPTED != 0 {
            return Err(ArchiveError::Encrypted(self.shown()));
        }
        if self.flags & !(SIZES_BEHIND | UTF8 | LEVEL) != 0 {
            return refuse("has flags that only some tools understand");
        }
        if !self.name.is_ascii() && self.flags & UTF8 == 0 {
            return refuse("has a name in an unknown character set");
        }
        if !matches!(self.method, STORED | DEFLATED) {
            return refuse("is compressed in a way that only some tools understand");
        }
        if disk != 0 {
            return refuse("is in another archive");
        }
        self.check_kind()
    }

    /// The upper half of the attributes is the mode on Unix, and its upper bits are the kind of the file. Some tools read them whatever
    /// system the archive names.
    fn check_kind(&self) -> Result<(), ArchiveError> {
        let is_folder = self.name.ends_with(b"/");
        let special = |kind| {
            Err(ArchiveError::Special {
                path: self.shown(),
                kind,
            })
        };
        match self.attributes >> 16 & 0o170_000 {
            0o040_000 if !is_folder => special("a folder with the name of a file"),
            0 | 0o040_000 if self.attributes & DOS_FOLDER != 0 && !is_folder => {
                special("a folder with the name of a file")
            }
            0o100_000 if is_folder => special("a file with the name of a folder"),
            0 | 0o040_000 | 0o100_000 => Ok(()),
            0o120_000 => Err(ArchiveError::Link(self.shown())),
            _ => special("a special file"),
        }
    }

    /// The packed content, and everything that belongs to the entry: the header before the content must match the directory.
    fn content(&self, bytes: &'a [u8]) -> Result<(&'a [u8], Range<usize>), ArchiveError> {
        let differs = |what: &str| {
            let name = self.shown();
            ambiguous(&format!(
                "its directory and the header of `{name}` differ in the {what}"
            ))
        };
        let mut fields = Fields {
            bytes,
            at: self.start,
        };
        if fields.take(LOCAL.len())? != LOCAL {
            return Err(differs("place"));
        }
        let _version = fields.take(2)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let _time = fields.take(4)?;
        let announced = (fields.u32()?, fields.size()?, fields.size()?);
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let name = fields.take(usize::from(name))?;
        if name != self.name {
            return Err(differs("name"));
        }
        check_extra(name, fields.take(usize::from(extra))?)?;
        if (flags, method) != (self.flags, self.method) {
            return Err(differs("flags"));
        }
        let real = (self.crc, self.packed, self.size);
        let is_behind = flags & SIZES_BEHIND != 0;
        if announced != real && !(is_behind && announced == (0, 0, 0)) {
            return Err(differs("size"));
        }
        let content = fields.take(self.packed)?;
        if is_behind {
            let rest = &bytes[fields.at..];
            fields.at += DESCRIPTOR.len() * usize::from(rest.starts_with(DESCRIPTOR));
            if (fields.u32()?, fields.size()?, fields.size()?) != real {
                return Err(differs("size"));
            }
        }
        Ok((content, self.start..fields.at))
    }

    fn unpack(
        &self,
        content: &[u8],
        budget: &mut Budget,
        entries: &mut PackageEntries,
    ) -> Result<(), ArchiveError> {
        if let Some(folder) = self.name.strip_suffix(b"/") {
            entries.folders.push(PackagePath::new(folder)?);
            return match (self.packed, self.size) {
                (0, 0) => Ok(()),
                // Some tools deflate the empty content of folders.
                (_, 0) if self.method == DEFLATED && content == b"\x03\x00" => Ok(()),
                _ => {
                    let name = self.shown();
                    Err(ambiguous(&format!("the folder `{name}` has content")))
                }
            };
        }
        let path = PackagePath::new(self.name)?;
        let (bytes, rest) = match self.method {
            STORED => {
                let mut content = content;
                let bytes = budget.read(path.as_str(), self.size as u64, &mut content)?;
                (bytes, content)
            }
            _ => {
                let mut decoder = DeflateDecoder::new(content);
                let bytes = budget.read(path.as_str(), self.size as u64, &mut decoder)?;
                (bytes, decoder.into_inner())
            }
        };
        if !rest.is_empty() {
            let message = format!("other data follows the content of `{path}`");
            return Err(ArchiveError::Ambiguous(message));
        }
        let mut crc = Crc::new();
        crc.update(&bytes);
        if crc.sum() != self.crc {
            return Err(ArchiveError::Damaged(format!(
                "{path}: its checksum is wrong"
            )));
        }
        entries.files.push(PackageFile { path, bytes });
        Ok(())
    }
}

/// Refuses extra fields that give an entry other sizes, another name or encryption. All others concern times and owners.
fn check_extra(name: &[u8], mut extra: &[u8]) -> Result<(), ArchiveError> {
    let refuse = |why: &str| Err(ambiguous(&format!("`{}` {why}", shown(name))));
    while !extra.is_empty() {
        let mut fields = Fields {
            bytes: extra,
            at: 0,
        };
        let (id, length) = (fields.u16()?, fields.u16()?);
        let value = fields.take(usize::from(length))?;
        match id {
            ZIP64 => return refuse("has sizes in the zip64 form, which no package needs"),
            AES => return Err(ArchiveError::Encrypted(shown(name))),
            // A version and a checksum are before the name.
            UNICODE_NAME if value.get(5..) != Some(name) => {
                return refuse("has a second name");
            }
            _ => {}
        }
        extra = &extra[fields.at..];
    }
    Ok(())
}

/// Numbers and strings, one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], ArchiveError> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| ArchiveError::Damaged("a header is cut off".to_owned()))?;
        self.at += length;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, ArchiveError> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, ArchiveError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn size(&mut self) -> Result<usize, ArchiveError> {
        let size = self.u32()?;
        usize::try_from(size).map_err(|_| ambiguous("a size is too large"))
    }
}

fn shown(name: &[u8]) -> String {
    visible(&String::from_utf8_lossy(name)).into_owned()
}

fn ambiguous(message: &str) -> ArchiveError {
    ArchiveError::Ambiguous(message.to_owned())
}
