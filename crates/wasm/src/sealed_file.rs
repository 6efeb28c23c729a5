//! Immutable bytes: a file in memory that the kernel has sealed.
//!
//! Cached code is checked before it runs, and the checked bytes must be those that run. A file on disk can change in between,
//! and a copy in ordinary memory has to be copied again, to executable memory. This file is checked and run in place.

use std::{
    fs::File,
    io::{self, Read},
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::PathBuf,
};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// How many bytes are checked in one step.
const CHUNK: usize = 64 * 1024;

/// A sealed file in memory.
pub(crate) struct SealedFile(File);

impl SealedFile {
    /// A copy of the rest of a file.
    pub(crate) fn copy(mut from: impl Read) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("metier-wasm", flags)?);
        io::copy(&mut from, &mut file)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Self(file))
    }

    /// Reads all of it, piece by piece.
    pub(crate) fn each(&self, mut look: impl FnMut(&[u8])) -> io::Result<()> {
        let (mut chunk, mut at) = (vec![0; CHUNK], 0);
        loop {
            let length = self.0.read_at(&mut chunk, at)?;
            let piece = chunk.get(..length).unwrap_or_default();
            if piece.is_empty() {
                return Ok(());
            }
            look(piece);
            at += u64::try_from(length).map_err(io::Error::other)?;
        }
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> io::Result<usize> {
        usize::try_from(self.0.metadata()?.len()).map_err(io::Error::other)
    }

    /// A path to it in this process, valid as long as it exists.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn what_is_frozen_stays_as_it_is() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * CHUNK + 7).collect();
        let frozen = SealedFile::copy(&*bytes).unwrap();
        let mut seen: Vec<u8> = Vec::new();
        frozen.each(|piece| seen.extend(piece)).unwrap();
        assert!(seen == bytes);
        let file = OpenOptions::new().write(true).open(frozen.path()).unwrap();
        for file in [&frozen.0, &file] {
            assert!(file.write_at(b"x", 0).is_err());
            assert!(file.set_len(1).is_err() && file.set_len(1 << 20).is_err());
            assert!(fcntl_add_seals(file, SealFlags::FUTURE_WRITE).is_err());
        }
    }
}
