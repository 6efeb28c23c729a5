//! Images: their texts, and data after their end.
//!
//! People do not see the comment of a JPEG, but a model that is asked about the file can get it. And since
//! every viewer stops at the end of the image, data after it stays unnoticed.

use std::ops::Range;

use super::bytes::ByteReader;
use crate::text::codec;

/// The content of an image besides pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Its texts: keyword (or the name of the segment) and content.
    pub texts: Vec<(String, String)>,
    /// Bytes after the end of the image, if any of them isn't zero.
    pub trailing: Option<Range<usize>>,
    /// Whether its end was found.
    pub complete: bool,
}

/// The maximum length of a text; longer ones are cut.
const LONGEST: usize = 64 * 1024;
/// The maximum number of texts in one image.
const MOST: usize = 256;
/// Shorter readable runs in EXIF are ignored.
const SHORTEST_RUN: usize = 8;

/// Reads a PNG, JPEG or GIF; the result for others is empty.
#[must_use]
pub(crate) fn picture(bytes: &[u8]) -> Picture {
    let mut picture = Picture::default();
    let end = match bytes {
        [0x89, b'P', b'N', b'G', ..] => png(bytes, &mut picture),
        [0xff, 0xd8, ..] => jpeg(bytes, &mut picture),
        [b'G', b'I', b'F', b'8', ..] => gif(bytes, &mut picture),
        _ => return picture,
    };
    if let Some(end) = end {
        picture.complete = true;
        let tail = bytes.get(end..).unwrap_or_default();
        picture.trailing = tail.iter().any(|&b| b != 0).then_some(end..bytes.len());
    }
    picture
}

impl Picture {
    fn text(&mut self, key: &str, text: &[u8]) {
        let text = text.get(..text.len().min(LONGEST)).unwrap_or_default();
        if !text.is_empty() && self.texts.len() < MOST {
            self.texts
                .push((key.to_owned(), String::from_utf8_lossy(text).into_owned()));
        }
    }
}

fn png(bytes: &[u8], picture: &mut Picture) -> Option<usize> {
    let mut reader = ByteReader::new(bytes);
    reader.take(8)?;
    loop {
        let length = usize::try_from(reader.high32()?).ok()?;
        let name = reader.take(4)?;
        let content = reader.take(length)?;
        reader.take(4)?;
        match name {
            b"IEND" => return Some(reader.position()),
            b"tEXt" => {
                let (key, text) = split(content);
                picture.text(&String::from_utf8_lossy(key), text);
            }
            b"zTXt" => {
                let (key, rest) = split(content);
                let text = rest
                    .get(1..)
                    .and_then(|packed| codec::inflate(packed, LONGEST))
                    .unwrap_or_default();
                picture.text(&String::from_utf8_lossy(key), &text);
            }
            b"iTXt" => international(content, picture),
            b"eXIf" => readable_runs("EXIF", content, picture),
            _ => {}
        }
    }
}

/// Keyword, zero, compressed?, method, language, zero, translated keyword, zero, text.
fn international(content: &[u8], picture: &mut Picture) {
    let (key, rest) = split(content);
    let Some((&packed, rest)) = rest.split_first() else {
        return;
    };
    let (_, rest) = split(rest.get(1..).unwrap_or_default());
    let (_, text) = split(rest);
    let key = String::from_utf8_lossy(key).into_owned();
    if packed == 1 {
        picture.text(&key, &codec::inflate(text, LONGEST).unwrap_or_default());
    } else {
        picture.text(&key, text);
    }
}

fn split(content: &[u8]) -> (&[u8], &[u8]) {
    let at = memchr::memchr(0, content).unwrap_or(content.len());
    (
        content.get(..at).unwrap_or_default(),
        content.get(at + 1..).unwrap_or_default(),
    )
}

fn jpeg(bytes: &[u8], picture: &mut Picture) -> Option<usize> {
    let mut reader = ByteReader::new(bytes);
    reader.take(2)?;
    loop {
        // Entropy-coded data can precede a marker; in it, 0xff is followed by 0 or a restart marker.
        reader.until(0xff)?;
        let mut marker = reader.byte()?;
        while marker == 0xff {
            marker = reader.byte()?;
        }
        match marker {
            0xd9 => return Some(reader.position()),
            0 | 1 | 0xd0..=0xd8 => continue,
            _ => {}
        }
        let length = usize::from(reader.high16()?).checked_sub(2)?;
        let content = reader.take(length)?;
        match marker {
            0xfe => picture.text("comment", content),
            0xe1 if content.starts_with(b"http://ns.adobe.com/xap/") => {
                picture.text("XMP", split(content).1);
            }
            0xe1 => readable_runs("EXIF", content, picture),
            0xed => readable_runs("IPTC", content, picture),
            _ => {}
        }
    }
}

/// Strings in an unparsed structure: runs of printable ASCII.
fn readable_runs(key: &str, content: &[u8], picture: &mut Picture) {
    for run in content.split(|b| !matches!(b, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
        if run.len() >= SHORTEST_RUN {
            picture.text(key, run);
        }
    }
}

fn gif(bytes: &[u8], picture: &mut Picture) -> Option<usize> {
    let mut reader = ByteReader::new(bytes);
    reader.take(10)?;
    let flags = reader.byte()?;
    reader.take(2)?;
    colours(&mut reader, flags)?;
    loop {
        match reader.byte()? {
            0x3b => return Some(reader.position()),
            0x21 => {
                let label = reader.byte()?;
                let content = blocks(&mut reader)?;
                if label == 0xfe {
                    picture.text("comment", &content);
                }
            }
            0x2c => {
                reader.take(8)?;
                let flags = reader.byte()?;
                colours(&mut reader, flags)?;
                reader.take(1)?;
                blocks(&mut reader)?;
            }
            _ => return None,
        }
    }
}

fn colours(reader: &mut ByteReader<'_>, flags: u8) -> Option<()> {
    if flags & 0x80 != 0 {
        reader.take(3 << ((flags & 7) + 1))?;
    }
    Some(())
}

fn blocks(reader: &mut ByteReader<'_>) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let length = usize::from(reader.byte()?);
        if length == 0 {
            return Some(content);
        }
        let block = reader.take(length)?;
        if content.len() < LONGEST {
            content.extend(block);
        }
    }
}
