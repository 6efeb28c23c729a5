//! Models behind HTTP: two formats with shared waiting and error handling.
//!
//! **Decision.** The formats are implemented here, over the HTTP client of the workspace. The client crate that was tried
//! first (`genai` 0.7.2) sends more than it is given and accepts more than it should: a tool named `web_search` becomes Anthropic's
//! own search, which runs at the provider and bypasses our permits; a model's name that ends in `-low` or `-high` loses that
//! suffix; a tool call with the index four thousand million in an OpenAI stream allocates as many; an event or an error page
//! without an end is read to the end; a block of text with citations ends the stream. Two formats are a few hundred lines, and each
//! of these is a line in them.
//!
//! | file | content |
//! |---|---|
//! | `name`, `endpoint` | the provider of a model, its address and its key |
//! | `line` | TCP and TLS to the server |
//! | `exchange` | one request on its own thread, so that waiting for it can be ended |
//! | `sse` | bytes → events |
//! | `anthropic`, `openai` | request → body, event → draft |
//! | `plain` | ids and names in an accepted form |
//! | `draft` | an incomplete answer, and its limits |
//! | `estimate` | tokens that a server did not count |
//! | `retry` | whether and when to retry |

mod anthropic;
mod connection;
mod draft;
mod endpoint;
mod estimate;
mod exchange;
mod failure;
mod limits;
mod name;
mod openai;
mod plain;
mod retry;
mod sse;

use std::sync::Arc;

pub use endpoint::{Endpoint, ProviderSettings};
pub use limits::ProviderLimits;
pub use name::{ModelName, ProviderKind};
pub(crate) use plain::plain;

use crate::{Cancel, LanguageModel, ModelError, ModelRequest, ModelResponse, ResponseDelta};
use connection::ProviderConnection;
use draft::{Fault, ResponseDraft};
use exchange::{Exchange, ResponseHead, ResponsePart, Stopped};
use failure::ProviderFailure;
use retry::Retries;
use sse::SseEvents;

/// A model at an endpoint.
#[derive(Debug, Clone)]
pub struct Provider {
    endpoint: Endpoint,
    limits: ProviderLimits,
    line: ProviderConnection,
}

/// How a format assembles the pieces of an answer.
trait StreamReading {
    /// Processes one event of a stream.
    fn event(&mut self, data: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault>;

    /// Processes an answer in one piece, from a server that does not stream.
    fn whole(&mut self, body: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault>;
}

impl Provider {
    /// A client for `endpoint`, within `limits`.
    #[must_use]
    pub fn new(endpoint: Endpoint, limits: ProviderLimits) -> Self {
        Self {
            endpoint,
            limits,
            line: ProviderConnection::system(),
        }
    }

    /// The bytes that are sent for `request`; equal requests give equal bytes.
    ///
    /// # Errors
    /// When a tool's schema can't be written as JSON.
    pub fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
        let written = match self.endpoint.kind() {
            ProviderKind::Anthropic => anthropic::body(request),
            ProviderKind::OpenAi | ProviderKind::Ollama => {
                openai::body(request, self.endpoint.is_original())
            }
        };
        written.map_err(|error| ModelError::Malformed {
            provider: self.endpoint.kind(),
            reason: format!("the request can't be serialized: {error}"),
        })
    }

    fn reading(&self) -> Box<dyn StreamReading> {
        match self.endpoint.kind() {
            ProviderKind::Anthropic => Box::new(anthropic::AnthropicStream::default()),
            ProviderKind::OpenAi | ProviderKind::Ollama => {
                Box::new(openai::OpenAiStream::default())
            }
        }
    }

    fn failure(&self) -> ProviderFailure<'_> {
        ProviderFailure {
            endpoint: &self.endpoint,
            limits: &self.limits,
        }
    }

    /// One request, to the end of its answer.
    fn attempt(
        &self,
        body: Arc<[u8]>,
        told: &mut dyn FnMut(ResponseDelta<'_>),
        cancel: &Cancel,
    ) -> Result<ModelResponse, ModelError> {
        let mut exchange = Exchange::start(&self.line, &self.endpoint, body, &self.limits)
            .map_err(|error| self.failure().unsent(&error))?;
        let head = loop {
            match exchange
                .next(cancel)
                .map_err(|stop| self.failure().stopped(stop))?
            {
                ResponsePart::Head(head) => break head,
                ResponsePart::Body(_) | ResponsePart::End => {} // a head comes first
            }
        };
        let provider = self.endpoint.kind();
        tracing::debug!(
            ?provider,
            status = head.status,
            stream = head.is_stream,
            "model answers"
        );
        if !(200..300).contains(&head.status) {
            return Err(self.refused(&mut exchange, &head, cancel));
        }
        let mut draft = ResponseDraft::new(self.endpoint.kind(), self.limits.answer, told);
        let read = if head.is_stream {
            self.stream(&mut exchange, &mut draft, cancel)
        } else {
            self.whole(&mut exchange, &mut draft, cancel)
        };
        read?;
        draft.finish().map_err(|cut| ModelError::Cut {
            provider: self.endpoint.kind(),
            text: cut.text,
            usage: cut.usage,
        })
    }

    fn stream(
        &self,
        exchange: &mut Exchange,
        draft: &mut ResponseDraft<'_>,
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let mut reading = self.reading();
        let mut events = SseEvents::new(self.limits.answer);
        while !draft.is_over() {
            match exchange.next(cancel) {
                Ok(ResponsePart::Body(bytes)) => events
                    .feed(&bytes, |data| reading.event(data, draft))
                    .map_err(|fault| self.failure().fault(fault))?,
                Ok(ResponsePart::Head(_)) => {}
                Ok(ResponsePart::End) | Err(Stopped::Broken) => break,
                Err(stop) => return Err(self.failure().stopped(stop)),
            }
        }
        Ok(())
    }

    fn whole(
        &self,
        exchange: &mut Exchange,
        draft: &mut ResponseDraft<'_>,
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let body = self.collect(exchange, self.limits.answer, cancel)?;
        let Some(body) = body else {
            return Err(self.failure().fault(Fault::TooLarge));
        };
        let read = self.reading().whole(&body, draft);
        read.map_err(|fault| self.failure().fault(fault))
    }

    /// The error, if the answer is one.
    fn refused(&self, exchange: &mut Exchange, head: &ResponseHead, cancel: &Cancel) -> ModelError {
        const PAGE: usize = 64 * 1024;
        match self.collect(exchange, PAGE, cancel) {
            Ok(page) => {
                let page = page.unwrap_or_default();
                self.failure().status(head.status, head.after, &page)
            }
            Err(ModelError::Cancelled) => ModelError::Cancelled,
            Err(_) => self.failure().status(head.status, head.after, &[]),
        }
    }

    /// The whole body, unless it exceeds this many bytes.
    fn collect(
        &self,
        exchange: &mut Exchange,
        limit: usize,
        cancel: &Cancel,
    ) -> Result<Option<Vec<u8>>, ModelError> {
        let mut body = Vec::new();
        loop {
            match exchange
                .next(cancel)
                .map_err(|stop| self.failure().stopped(stop))?
            {
                ResponsePart::Body(bytes) if body.len() + bytes.len() > limit => return Ok(None),
                ResponsePart::Body(bytes) => body.extend_from_slice(&bytes),
                ResponsePart::Head(_) => {}
                ResponsePart::End => return Ok(Some(body)),
            }
        }
    }
}

impl LanguageModel for Provider {
    fn answer(
        &self,
        request: &ModelRequest,
        told: &mut dyn FnMut(ResponseDelta<'_>),
        cancel: &Cancel,
    ) -> Result<ModelResponse, ModelError> {
        let body: Arc<[u8]> = self.body(request)?.into();
        let mut retries = Retries::new(&self.limits);
        loop {
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            let mut is_shown = false;
            let mut tell = |delta: ResponseDelta<'_>| {
                is_shown = true;
                told(delta);
            };
            let error = match self.attempt(Arc::clone(&body), &mut tell, cancel) {
                Ok(answer) => return Ok(estimate::counted(request, answer)),
                Err(error) => error,
            };
            let pause = if is_shown {
                None
            } else {
                retries.pause(&error)
            };
            let Some(pause) = pause else {
                return Err(error.after_attempts(retries.attempts()));
            };
            told(ResponseDelta::Again {
                pause,
                attempt: retries.attempts() + 1,
                of: retries.most(),
                because: &error,
            });
            if !cancel.sleep(pause) {
                return Err(ModelError::Cancelled);
            }
        }
    }
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
