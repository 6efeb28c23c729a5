//! A server that is a program: started, used through its standard input and output, and ended with all its descendants.

use std::{
    future::ready,
    path::Path,
    pin::Pin,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{Sink, SinkExt, Stream, StreamExt, stream::BoxStream};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, Command},
    time::timeout,
};
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};

use crate::{
    error::{McpError, shown},
    message::decode,
};

/// How much of a program's messages is kept, for the error if it ends.
const MAX_STDERR: usize = 4096;
/// How long a program can take to end after its input was closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// The output to a server.
pub(crate) type Outgoing = Pin<Box<dyn Sink<ClientJsonRpcMessage, Error = LinesCodecError> + Send>>;
/// The input from a server.
pub(crate) type Incoming = BoxStream<'static, ServerJsonRpcMessage>;

/// A running program.
pub(crate) struct Program {
    child: Child,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Program {
    /// Starts it, in its own process group. Has to be called on the thread of the runtime.
    pub(crate) fn start(
        command: &str,
        args: &[String],
        env: &[(String, String)],
        folder: &Path,
        max_line: usize,
    ) -> Result<(Self, Outgoing, Incoming), McpError> {
        let failed = |source| McpError::Start {
            command: shown(command),
            source,
        };
        let pipe = |name: &'static str| failed(std::io::Error::other(name));
        let mut child = Command::new(command)
            .args(args)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let stdin = child.stdin.take().ok_or_else(|| pipe("no input"))?;
        let stdout = child.stdout.take().ok_or_else(|| pipe("no output"))?;
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(from) = child.stderr.take() {
            tokio::spawn(keep_last(from, Arc::clone(&stderr)));
        }
        let writer = FramedWrite::new(stdin, LinesCodec::new());
        let outgoing = SinkExt::<String>::with(writer, |message: ClientJsonRpcMessage| {
            let line = serde_json::to_string(&message);
            ready(line.map_err(|error| LinesCodecError::Io(error.into())))
        });
        let lines = FramedRead::new(stdout, LinesCodec::new_with_max_length(max_line));
        Ok((Self { child, stderr }, Box::pin(outgoing), messages(lines)))
    }

    /// The last line that it printed as a message, if there is one.
    pub(crate) fn last_words(&self) -> Option<String> {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&stderr);
        let last = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(shown(last.trim()))
    }

    /// Waits a moment for its end, after its input was closed, and then ends it and all its descendants.
    pub(crate) async fn end(mut self) {
        let group = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        timeout(PATIENCE, self.child.wait()).await.ok();
        // Its descendants can still run after it has ended.
        if let Some(group) = group {
            kill_process_group(group, Signal::KILL).ok();
        }
        timeout(PATIENCE, self.child.wait()).await.ok();
    }
}

/// The messages among the lines. A line that is too long ends the connection, one that is not a message is skipped: programs print
/// greetings.
fn messages(
    lines: impl Stream<Item = Result<String, LinesCodecError>> + Send + 'static,
) -> Incoming {
    let readable = lines.take_while(|line| ready(line.is_ok()));
    let message = |line: Result<String, LinesCodecError>| {
        let line = line.unwrap_or_default();
        let message = decode(line.as_bytes());
        if let Err(error) = &message {
            tracing::debug!(%error, "a line of a server is not a message");
        }
        ready(message.ok())
    };
    readable.filter_map(message).boxed()
}

/// Reads everything, and keeps the last part.
async fn keep_last(mut from: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = [0; 1024];
    while let Ok(count) = from.read(&mut piece).await {
        if count == 0 {
            return;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(MAX_STDERR);
        kept.drain(..surplus);
    }
}
