//! Names of folders that a walk has seen but not entered yet.
//!
//! **Problem.** A child can create millions of folders with long names in one place. A walk that keeps them all uses as much memory as the
//! child chooses, and a walk that gives up does not see the folders behind them. **Decision.** One stack for the whole walk: its upper part
//! is in memory, the rest in an unnamed file in the folder that is walked. If no such file can be created, the rest stays in memory: a
//! complete walk is more important than a small one.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::FileExt,
    },
    path::PathBuf,
};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// How many bytes of names are kept in memory; when there are more, half of them are moved to the file.
const WINDOW: usize = 4 << 20;
/// The size of a name's length, which follows the name.
const LENGTH: usize = size_of::<u16>();

/// A stack of names that uses little memory.
pub(super) struct NameStack {
    /// The upper part: each name, then its length.
    bytes: Vec<u8>,
    /// How many bytes are in the file.
    below: u64,
    file: Option<File>,
    folder: PathBuf,
    /// Whether creating or writing a file failed.
    stays: bool,
    window: usize,
}

impl NameStack {
    /// An empty stack, for a walk through this folder.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            bytes: Vec::new(),
            below: 0,
            file: None,
            folder,
            stays: false,
            window: WINDOW,
        }
    }

    /// The current height, for [`NameStack::cut`] and [`NameStack::pop_above`].
    pub(super) fn height(&self) -> u64 {
        self.below + self.bytes.len() as u64
    }

    pub(super) fn push(&mut self, name: &OsStr) {
        // The kernel has no longer names.
        let Ok(length) = u16::try_from(name.len()) else {
            return;
        };
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        if self.bytes.len() > self.window && !self.stays {
            self.stays = self.move_down().is_err();
        }
    }

    /// The last name, unless it is below this height.
    pub(super) fn pop_above(&mut self, height: u64) -> io::Result<Option<OsString>> {
        if self.height() <= height {
            return Ok(None);
        }
        self.have(LENGTH)?;
        let end = self.bytes.len() - LENGTH;
        let length = u16::from_le_bytes([self.bytes[end], self.bytes[end + 1]]);
        let length = usize::from(length);
        self.have(LENGTH + length)?;
        let end = self.bytes.len() - LENGTH;
        self.bytes.truncate(end);
        let name = self.bytes.split_off(end - length);
        Ok(Some(OsString::from_vec(name)))
    }

    /// Drops the names above this height.
    pub(super) fn cut(&mut self, height: u64) {
        match usize::try_from(height.saturating_sub(self.below)) {
            Ok(kept) if height >= self.below => self.bytes.truncate(kept),
            _ => {
                self.bytes.clear();
                self.below = height;
            }
        }
    }

    /// Moves the lower half of the names in memory to the file.
    fn move_down(&mut self) -> io::Result<()> {
        let half = self.bytes.len() / 2;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(unnamed(&self.folder)?),
        };
        file.write_all_at(&self.bytes[..half], self.below)?;
        self.bytes.drain(..half);
        self.below += half as u64;
        Ok(())
    }

    /// Reads names back, so that this many bytes are in memory.
    fn have(&mut self, wanted: usize) -> io::Result<()> {
        let missing = || io::Error::other("the list of folders is cut short");
        while self.bytes.len() < wanted {
            let file = self.file.as_ref().ok_or_else(missing)?;
            let below = usize::try_from(self.below).unwrap_or(usize::MAX);
            let back = below.min(self.window / 2);
            if back == 0 {
                return Err(missing());
            }
            let mut bytes = vec![0; back];
            self.below -= back as u64;
            file.read_exact_at(&mut bytes, self.below)?;
            bytes.append(&mut self.bytes);
            self.bytes = bytes;
        }
        Ok(())
    }
}

/// A file that no other program sees, and that is deleted when it is closed.
#[cfg(target_os = "linux")]
fn unnamed(folder: &std::path::Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(openat(CWD, folder, flags, Mode::RUSR | Mode::WUSR)?.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &std::path::Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(Vec<u8>),
        Pop,
        Cut(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => prop::collection::vec(1..=255u8, 1..40).prop_map(Step::Push),
            4 => Just(Step::Pop),
            1 => (0..20usize).prop_map(Step::Cut),
        ]
    }

    proptest! {
        /// The oracle is a stack that keeps all names in memory.
        #[test]
        fn it_is_a_stack(steps in prop::collection::vec(step(), 1..400), is_spilled: bool) {
            let folder = tempfile::tempdir().unwrap();
            let place = if is_spilled { folder.path().to_owned() } else { "/nowhere".into() };
            let mut stack = NameStack { window: 64, ..NameStack::new(place) };
            let (mut all, mut heights) = (Vec::new(), vec![0]);
            for step in steps {
                match step {
                    Step::Push(name) => {
                        stack.push(OsStr::from_bytes(&name));
                        all.push(OsString::from_vec(name));
                        heights.push(stack.height());
                    }
                    Step::Pop => {
                        prop_assert_eq!(stack.pop_above(0).unwrap(), all.pop());
                        heights.truncate(all.len() + 1);
                    }
                    Step::Cut(kept) => {
                        let kept = kept.min(all.len());
                        all.truncate(kept);
                        heights.truncate(kept + 1);
                        stack.cut(heights[kept]);
                    }
                }
                prop_assert_eq!(stack.height(), *heights.last().unwrap());
                let last = *heights.last().unwrap();
                prop_assert_eq!(stack.pop_above(last).unwrap(), None);
                prop_assert!(!is_spilled || stack.bytes.len() <= 64 + 2 * (40 + LENGTH));
            }
            while let Some(name) = all.pop() {
                prop_assert_eq!(stack.pop_above(0).unwrap(), Some(name));
            }
            prop_assert_eq!(stack.pop_above(0).unwrap(), None);
        }
    }
}
