//! Output of a skill on its standard streams, apart from its answers: a bounded part is kept for receipts.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

/// How much of a call is kept, in bytes.
const KEPT: usize = 64 * 1024;
/// How much is accepted in one write.
const CHUNK: usize = 64 * 1024;

/// The output of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Its start.
    pub bytes: Vec<u8>,
    /// The number of bytes that were dropped.
    pub more: u64,
}

/// The stream that output is written to.
#[derive(Clone, Default)]
pub(crate) struct OutputSink(Arc<Mutex<CapturedOutput>>);

impl OutputSink {
    pub(crate) fn say(&self, bytes: &[u8]) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT.saturating_sub(said.bytes.len()).min(bytes.len());
        let (kept, more) = bytes.split_at(room);
        said.bytes.extend(kept);
        said.more += more.len() as u64;
    }

    /// The output so far.
    pub(crate) fn take(&self) -> CapturedOutput {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl IsTerminal for OutputSink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for OutputSink {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only used by a version of WASI that is not available.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for OutputSink {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for OutputSink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.say(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mouth = OutputSink::default();
        for _ in 0..1_000 {
            mouth.say(&[b'x'; 1_000]);
        }
        let said = mouth.take();
        assert_eq!(
            (said.bytes.len(), said.more),
            (KEPT, 1_000_000 - KEPT as u64)
        );
    }
}
