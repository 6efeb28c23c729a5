//! The names in a folder, in one string for all of them, because ten thousand small strings cost more.

use rustix::fs::FileType;

use crate::codec::{RecordReader, RecordWriter};

/// The number of names in one record.
const PART: usize = 1024;

/// The relevant entries of a listing.
#[derive(Default)]
pub(crate) struct FolderNames {
    text: Vec<u8>,
    list: Vec<Name>,
    /// The number of names in the folder, including irrelevant ones.
    pub(crate) seen: usize,
}

/// The position of a name in the string, and its type according to the folder.
struct Name {
    /// Its first bytes as a number, which orders most names without accessing the text.
    prefix: u128,
    start: u32,
    end: u32,
    kind: FileType,
}

impl FolderNames {
    pub(crate) fn push(&mut self, name: &[u8], kind: FileType) {
        let start = offset(&self.text);
        self.text.extend_from_slice(name);
        self.list.push(Name {
            prefix: prefix(name),
            start,
            end: offset(&self.text),
            kind,
        });
    }

    /// Sorts the names, so that results don't depend on the file system; lists that are mostly sorted are cheap.
    pub(crate) fn sort(&mut self) {
        let text = |name: &Name| &self.text[name.start as usize..name.end as usize];
        let order = |a: &Name, b: &Name| a.prefix.cmp(&b.prefix).then_with(|| text(a).cmp(text(b)));
        self.list.sort_unstable_by(order);
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], FileType)> {
        self.list.iter().map(|name| self.shown(name))
    }

    fn shown(&self, name: &Name) -> (&[u8], FileType) {
        let text = &self.text[name.start as usize..name.end as usize];
        (text, name.kind)
    }

    /// The names as records of an index.
    pub(crate) fn parts(&self) -> impl ExactSizeIterator<Item = Vec<u8>> {
        self.list.chunks(PART).map(|part| {
            let mut out = RecordWriter::default();
            for (name, kind) in part.iter().map(|name| self.shown(name)) {
                out.u32(kind.as_raw_mode());
                out.bytes(name);
            }
            out.into_bytes()
        })
    }

    /// Adds the names of a record.
    pub(crate) fn read_part(&mut self, part: &[u8]) -> Option<()> {
        let mut input = RecordReader::at(part, 0);
        while !input.is_empty() {
            let kind = FileType::from_raw_mode(input.u32()?);
            self.push(input.bytes()?, kind);
        }
        Some(())
    }
}

/// No folder has four gigabytes of names; a larger one would be listed up to there.
fn offset(text: &[u8]) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn prefix(name: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = name.len().min(16);
    bytes[..length].copy_from_slice(&name[..length]);
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> FolderNames {
        let mut names = FolderNames::default();
        for word in words {
            names.push(word.as_bytes(), FileType::Directory);
        }
        names
    }

    fn words(names: &FolderNames) -> Vec<&[u8]> {
        names.iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_are_in_the_order_of_their_bytes() {
        let long = "a-name-of-more-than-sixteen-bytes";
        let longer = format!("{long}-");
        let mut expected = [
            long,
            &longer,
            "a",
            "",
            "b\u{0}",
            "b",
            "é",
            "B",
            "aaaaaaaaaaaaaaaa",
        ];
        let mut names = names(&expected);
        names.sort();
        expected.sort_unstable();
        let expected: Vec<&[u8]> = expected.iter().map(|word| word.as_bytes()).collect();
        assert_eq!(words(&names), expected);
    }

    #[test]
    fn what_was_written_is_read() {
        let many: Vec<String> = (0..3000).map(|number| format!("s{number}")).collect();
        let many = names(&many.iter().map(String::as_str).collect::<Vec<_>>());
        let mut read = FolderNames::default();
        let parts: Vec<Vec<u8>> = many.parts().collect();
        assert_eq!(parts.len(), 3);
        parts.iter().for_each(|part| read.read_part(part).unwrap());
        assert!(many.iter().eq(read.iter()));
        assert_eq!(read.read_part(b"\xff"), None);
    }
}
