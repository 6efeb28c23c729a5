//! The compiler of WebAssembly: our own binary again, in a sandbox without files, that turns a module into machine code.
//!
//! **Problem.** Compilation can't be interrupted. A module of a few megabytes can take hours, or use all memory.
//!
//! **Decision.** Modules are compiled in a worker (`metier __wasm-compile`), which can be killed, and whose memory and time are
//! limited. The machine code runs in this process, so it is as trustworthy as our compiler is with untrusted
//! input; the worker can reach nothing, and its output is used nowhere else. Input: the module, up to end of file. Output: the
//! number of bytes (8 bytes, little-endian), then the bytes.
#![allow(
    unsafe_code,
    reason = "the bytes from the pipe will be executed; only the parent that started the compiler can know that they are its output"
)]

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::{Duration, Instant},
};

use metier_wasm::{CompiledCode, WasmLimits, WasmLoadError};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
};

use super::{ChildStarter, WorkerCommand};

/// The size of one read.
const CHUNK: usize = 64 * 1024;
/// The size of the number before the code.
const HEAD: usize = 8;
/// The maximum size of machine code with the number before it, in bytes.
const MOST: usize = WasmLimits::CODE + HEAD;
/// How much of the compiler's error output is read.
const COMPLAINT: usize = 4 * 1024;

/// How to start the compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Our own binary in that role.
    pub worker: WorkerCommand,
}

/// The state of a conversation with the compiler.
#[derive(Default)]
struct CompilerPipes {
    sent: usize,
    code: Vec<u8>,
    complaint: Vec<u8>,
}

impl Compiler {
    /// Compiles within this time.
    ///
    /// # Errors
    /// The compiler can't be started, takes too long, or can't compile the module.
    pub fn compile(&self, module: &[u8], time: Duration) -> Result<CompiledCode, WasmLoadError> {
        let until = Instant::now() + time;
        let started = self.worker.start();
        let started = started.map_err(|error| WasmLoadError::Compiler(io::Error::other(error)))?;
        let pipes = [started.stdin, started.stdout, started.stderr];
        let mut talk = CompilerPipes::default();
        let talked = talk.talk(module, pipes, until);
        // Dropping it kills it.
        drop(started.child);
        match talked {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(WasmLoadError::CompileTime(time))
            }
            Err(error) => Err(WasmLoadError::Compiler(error)),
            Ok(()) => talk.finish(),
        }
    }
}

impl CompilerPipes {
    /// Sends the module, and reads until the compiler closes its output.
    fn talk(&mut self, module: &[u8], pipes: [OwnedFd; 3], until: Instant) -> io::Result<()> {
        for pipe in &pipes {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        let [stdin, stdout, stderr] = pipes;
        let mut stdin = Some(stdin);
        let mut stderr = Some(stderr);
        loop {
            if let Some(to) = stdin.take_if(|to| self.send(module, to)) {
                drop(to);
            }
            let complaint = stderr
                .as_ref()
                .map(|from| read(from, &mut self.complaint, COMPLAINT));
            if complaint.transpose()? == Some(true) {
                stderr = None;
            }
            if read(&stdout, &mut self.code, MOST)? {
                if let Some(from) = &stderr {
                    read(from, &mut self.complaint, COMPLAINT)?;
                }
                return Ok(());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            wait(stdin.as_ref(), &stdout, stderr.as_ref(), left)?;
        }
    }

    /// Writes as much as the pipe takes; returns whether that was all.
    fn send(&mut self, module: &[u8], to: &OwnedFd) -> bool {
        while let Some(rest) = module.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(to, rest) {
                Ok(length) => self.sent += length,
                Err(Errno::AGAIN | Errno::INTR) => return false,
                // It stopped reading; its error output contains the reason.
                Err(_) => return true,
            }
        }
        true
    }

    /// The code, if it is complete.
    fn finish(self) -> Result<CompiledCode, WasmLoadError> {
        let mut code = self.code;
        let head = code.first_chunk::<HEAD>().copied();
        let length = head.map(u64::from_le_bytes);
        let size = length.and_then(|length| usize::try_from(length).ok());
        if let Some(size) = size.filter(|size| *size > WasmLimits::CODE) {
            let limit = WasmLimits::CODE;
            return Err(WasmLoadError::CodeTooLarge { size, limit });
        }
        if length == u64::try_from(code.len().saturating_sub(HEAD)).ok() {
            code.drain(..HEAD);
            // SAFETY: it came over the pipe of a worker that `compile` started from our own binary, and that got the module and
            // nothing else; its length shows that nothing is missing.
            return Ok(unsafe { CompiledCode::from_own_compiler(code) });
        }
        let complaint = String::from_utf8_lossy(&self.complaint);
        Err(WasmLoadError::Compile(match complaint.trim() {
            "" => "the compiler ended without an answer; it probably ran out of memory".into(),
            complaint => complaint.to_owned(),
        }))
    }
}

/// Reads the available bytes; returns whether that was the end.
fn read(from: &OwnedFd, into: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match rustix::io::read(from, &mut *chunk) {
            Ok(0) => return Ok(true),
            Ok(length) => {
                let room = most.saturating_sub(into.len());
                let taken = chunk.get(..length.min(room)).unwrap_or_default();
                into.extend(taken);
            }
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait(
    stdin: Option<&OwnedFd>,
    stdout: &OwnedFd,
    stderr: Option<&OwnedFd>,
    left: Duration,
) -> io::Result<()> {
    let mut polled = vec![PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
    polled.extend(stdin.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT)));
    polled.extend(stderr.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
    // Rounded up to a second; the caller checks the clock.
    let left = Timespec {
        tv_sec: i64::try_from(left.as_secs() + 1).unwrap_or(i64::MAX),
        tv_nsec: 0,
    };
    match poll(&mut polled, Some(&left)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
