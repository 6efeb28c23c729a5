//! Bytes for tests: archives, images, bytecode and programs, built here so that no foreign file is needed.
#![allow(dead_code, reason = "each test takes the few that it needs")]
#![allow(clippy::unwrap_used, reason = "only tests see this")]

use std::io::{Cursor, Write};

/// A zip archive.
pub(crate) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A zip archive whose members claim to be encrypted: the flag is set in both headers, which readers check.
pub(crate) fn locked(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = zipped(files);
    let mut at = 0;
    while at + 10 < bytes.len() {
        match &bytes[at..at + 4] {
            b"PK\x03\x04" => bytes[at + 6] |= 1,
            b"PK\x01\x02" => bytes[at + 8] |= 1,
            _ => {}
        }
        at += 1;
    }
    bytes
}

/// A tar archive; names are written unchanged, including `..`.
pub(crate) fn tarred(files: &[(&str, &[u8])], links: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    for (name, target) in links {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, name, target).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A tar archive with one member of a kind that isn't a file.
pub(crate) fn tar_of(kind: tar::EntryType, name: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_path(name).unwrap();
    header.set_size(0);
    header.set_cksum();
    builder.append(&header, &[][..]).unwrap();
    builder.into_inner().unwrap()
}

/// A gzip stream.
pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// An image of these chunks, without checksums.
pub(crate) fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in chunks {
        out.extend((content.len() as u32).to_be_bytes());
        out.extend(*name);
        out.extend(*content);
        out.extend([0; 4]);
    }
    out
}

/// A small image without content.
pub(crate) fn logo() -> Vec<u8> {
    let header = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0];
    png(&[
        (b"IHDR", &header),
        (b"IDAT", b"x\x9cc\0\0\0\x02\0\x01"),
        (b"IEND", b""),
    ])
}

/// The header of a program for Linux.
pub(crate) fn elf() -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    out.resize(512, 0);
    out
}

/// A marshalled string.
pub(crate) fn short(text: &str) -> Vec<u8> {
    [&[b'z', text.len() as u8], text.as_bytes()].concat()
}

/// A marshalled tuple.
pub(crate) fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
    [vec![b')', items.len() as u8], items.concat()].concat()
}

/// A code object of Python 3.12.
pub(crate) fn code(constants: &[Vec<u8>], names: &[&str]) -> Vec<u8> {
    let names: Vec<Vec<u8>> = names.iter().map(|name| short(name)).collect();
    let bytecode = vec![b's', 2, 0, 0, 0, 0x97, 0];
    let empty = vec![b's', 0, 0, 0, 0];
    [
        vec![0xe3],
        vec![0; 20],
        bytecode,
        tuple(constants),
        tuple(&names),
        tuple(&[]),
        empty.clone(),
        short("mod.py"),
        short("<module>"),
        short("<module>"),
        vec![1, 0, 0, 0],
        empty.clone(),
        empty,
    ]
    .concat()
}

/// A `.pyc` file of Python 3.12; the flags are those of PEP 552.
pub(crate) fn pyc_312(flags: u32, code: &[u8]) -> Vec<u8> {
    [
        &3531_u16.to_le_bytes()[..],
        b"\r\n",
        &flags.to_le_bytes(),
        &[0; 8],
        code,
    ]
    .concat()
}
