//! The standard streams of a command: requests on its input, answers on its output.

use std::{future::poll_fn, task::Poll};

use bytes::Bytes;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdinStream, StdoutStream},
    p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult},
};

use super::line::CarrierPipes;

/// How much is accepted at once.
const CHUNK: usize = 64 * 1024;

/// Standard input.
pub(crate) struct GuestStdin(pub(crate) CarrierPipes);

/// Standard output.
pub(crate) struct GuestStdout(pub(crate) CarrierPipes);

/// Pending until the skill's request is answered. No waker is needed: the driver polls again after an answer.
async fn answered(talk: &CarrierPipes) {
    poll_fn(|_| match talk.waits() {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

impl IsTerminal for GuestStdin {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for GuestStdin {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncRead + Send + Sync> {
        // Only used by a version of WASI that is not available.
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(Self(self.0.clone()))
    }
}

#[async_trait]
impl Pollable for GuestStdin {
    async fn ready(&mut self) {
        answered(&self.0).await;
    }
}

#[async_trait]
impl InputStream for GuestStdin {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 || self.0.waits() {
            return Ok(Bytes::new());
        }
        self.0.read(size).ok_or(StreamError::Closed)
    }
}

impl IsTerminal for GuestStdout {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestStdout {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Self(self.0.clone()))
    }
}

#[async_trait]
impl Pollable for GuestStdout {
    async fn ready(&mut self) {
        answered(&self.0).await;
    }
}

#[async_trait]
impl OutputStream for GuestStdout {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0
            .write(&bytes)
            .map_err(|broke| StreamError::Trap(broke.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(if self.0.waits() { 0 } else { CHUNK })
    }
}
