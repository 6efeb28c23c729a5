//! WebAssembly: whether a module is complete, and the strings in it.
//!
//! The instructions are not judged. Their effects are limited by the sandbox's grant at run time,
//! so only a module that our sandbox runs is read like this. What remains is text: the names of imports and exports,
//! and data that a model may see. A file whose sections do not add up to its size is not a module.
//!
//! `wasmparser` is not used: a file with one wrong byte still has text that a model may see, and the library without features would need
//! another package for reading lengths and names.

use super::bytes::ByteReader;

/// A module, or a component with modules in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wasm {
    /// Everything in it that reads like text.
    pub texts: Vec<String>,
    /// Whether all of it is sections that are known.
    pub complete: bool,
}

/// A shorter run of characters counts as numbers.
const SHORTEST: usize = 8;
/// Components can contain components; no compiler nests them this deep.
const DEEPEST: usize = 8;

const MAGIC: &[u8] = b"\0asm";
const MODULE: &[u8] = &[1, 0, 0, 0];
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];

/// The last section kind of each.
const LAST_OF_MODULE: u8 = 13;
const LAST_OF_COMPONENT: u8 = 12;
/// Sections of a component that contain a whole module or component.
const INNER: [u8; 2] = [1, 4];

/// Reads a module or a component.
#[must_use]
pub(crate) fn wasm(bytes: &[u8]) -> Wasm {
    Wasm {
        texts: texts(bytes),
        complete: sections(bytes, 0).is_some(),
    }
}

/// Walks from section to section; `None` where one is unknown, or longer than the remaining bytes.
fn sections(bytes: &[u8], depth: usize) -> Option<()> {
    let mut reader = ByteReader::new(bytes);
    let is_wasm = reader.take(4)? == MAGIC && depth < DEEPEST;
    let is_component = match reader.take(4)? {
        MODULE => false,
        COMPONENT => true,
        _ => return None,
    };
    let last = if is_component {
        LAST_OF_COMPONENT
    } else {
        LAST_OF_MODULE
    };
    while is_wasm && reader.position() < bytes.len() {
        let id = reader.byte()?;
        let size = usize::try_from(length(&mut reader)?).ok()?;
        let content = reader.take(size)?;
        if id > last {
            return None;
        }
        if is_component && INNER.contains(&id) {
            sections(content, depth + 1)?;
        }
    }
    is_wasm.then_some(())
}

/// A number of seven bits per byte, low ones first, and at most 32 in total.
fn length(reader: &mut ByteReader<'_>) -> Option<u32> {
    let mut number = 0;
    for place in 0..5 {
        let byte = reader.byte()?;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

/// Runs of printable characters, in the code too.
fn texts(bytes: &[u8]) -> Vec<String> {
    let valid = bytes.utf8_chunks().map(|chunk| chunk.valid());
    let runs = valid.flat_map(|text| text.split(|sign: char| sign.is_control() && sign != '\t'));
    runs.filter(|run| run.len() >= SHORTEST)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one section.
    fn module(id: u8, size: u8, content: &[u8]) -> Vec<u8> {
        [MAGIC, MODULE, &[id, size], content].concat()
    }

    fn complete(bytes: &[u8]) -> bool {
        wasm(bytes).complete
    }

    #[test]
    fn what_is_written_in_it_is_read() {
        let data = b"\x01\x00\x41\x00\x0b\x16say hello to \xc3\x9cml\xc3\xa4\xc3\xbct!!";
        let size = u8::try_from(data.len()).unwrap();
        let read = wasm(&module(11, size, data));
        assert!(read.complete);
        assert_eq!(read.texts, ["say hello to Ümläüt!!"]);
    }

    #[test]
    fn an_empty_module_and_a_component_around_it_are_whole() {
        let module = [MAGIC, MODULE].concat();
        assert!(complete(&module));
        let component = [MAGIC, COMPONENT, &[1, 8], &module[..], &[11, 0]].concat();
        assert!(complete(&component));
    }

    #[test]
    fn what_does_not_add_up_is_not_complete() {
        assert!(!complete(b"\0asm"));
        assert!(!complete(b"\0asm\x02\0\0\0"));
        // Longer than the file, and followed by something that is not a section.
        assert!(!complete(&module(11, 9, b"12345678")));
        assert!(!complete(&module(11, 7, b"12345678")));
        assert!(!complete(&module(14, 0, b"")));
        // A length without an end, and one that is larger than the file.
        assert!(!complete(&module(0, 0x80, &[0x80; 9])));
        assert!(!complete(&module(0, 0xff, &[0xff, 0xff, 0xff, 0x7f])));
        // A component part that is not a module.
        let component = [MAGIC, COMPONENT, &[1, 4], b"text"].concat();
        assert!(!complete(&component));
    }

    #[test]
    fn there_is_a_last_component_within_components() {
        let around = |inner: Vec<u8>| {
            let size = u8::try_from(inner.len()).unwrap();
            [MAGIC, COMPONENT, &[4, size], &inner].concat()
        };
        let nested = |depth| (1..depth).fold([MAGIC, MODULE].concat(), |inner, _| around(inner));
        assert!(complete(&nested(DEEPEST)));
        assert!(!complete(&nested(DEEPEST + 1)));
    }
}
