//! An incomplete answer.
//!
//! Pieces of text, thoughts and calls are mixed, and calls arrive in fragments that name their position by the
//! provider's numbers. Everything that is collected counts towards one limit, so that nothing grows without limit; the numbers are only
//! compared, never used as an index.

use std::collections::BTreeMap;

use serde_json::Value;

use super::name::ProviderKind;
use super::sse::TooLong;
use crate::{
    CallArguments, ModelResponse, ResponseDelta, SignedBlock, StopReason, TokenUsage, ToolCall,
};

/// An error in an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Larger than the limit.
    TooLarge,
    /// Not in the format; the reason.
    Malformed(String),
    /// The provider failed in the middle: the matching status, and its message.
    Failed(u16, String),
}

impl From<TooLong> for Fault {
    fn from(TooLong: TooLong) -> Self {
        Self::TooLarge
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// The part that had arrived when it ended too early.
#[derive(Debug)]
pub(super) struct CutShort {
    pub(super) text: String,
    pub(super) usage: TokenUsage,
}

pub(super) struct ResponseDraft<'a> {
    kind: ProviderKind,
    told: &'a mut dyn FnMut(ResponseDelta<'_>),
    left: usize,
    text: String,
    calls: Vec<OpenPart>,
    /// The last call at each place, as an index into `calls`.
    places: BTreeMap<u64, usize>,
    kept: Vec<Value>,
    stop: Option<StopReason>,
    usage: TokenUsage,
    is_over: bool,
}

/// A call whose arguments can be incomplete.
struct OpenPart {
    id: String,
    name: String,
    arguments: String,
}

/// The size of a call besides its text, so that empty calls are limited too.
const CALL: usize = 128;

impl<'a> ResponseDraft<'a> {
    pub(super) fn new(
        kind: ProviderKind,
        limit: usize,
        told: &'a mut dyn FnMut(ResponseDelta<'_>),
    ) -> Self {
        Self {
            kind,
            told,
            left: limit,
            text: String::new(),
            calls: Vec::new(),
            places: BTreeMap::new(),
            kept: Vec::new(),
            stop: None,
            usage: TokenUsage::default(),
            is_over: false,
        }
    }

    /// Adds a piece of text.
    pub(super) fn text(&mut self, piece: &str) -> Result<(), Fault> {
        if !piece.is_empty() {
            self.take(piece.len())?;
            self.text.push_str(piece);
            (self.told)(ResponseDelta::Text(piece));
        }
        Ok(())
    }

    /// Reports thinking, which is not kept.
    pub(super) fn thinking(&mut self, piece: &str) -> Result<(), Fault> {
        if !piece.is_empty() {
            self.take(piece.len())?;
            (self.told)(ResponseDelta::Thinking(piece));
        }
        Ok(())
    }

    /// Starts a call at a position. Without an `id` it gets one, since its result has to name one.
    pub(super) fn call(&mut self, place: u64, id: String, name: String) -> Result<(), Fault> {
        let id = if id.is_empty() {
            format!("call_{}", self.calls.len())
        } else {
            id
        };
        self.take(CALL + id.len() + name.len())?;
        (self.told)(ResponseDelta::Call {
            id: &id,
            name: &name,
        });
        self.places.insert(place, self.calls.len());
        self.calls.push(OpenPart {
            id,
            name,
            arguments: String::new(),
        });
        Ok(())
    }

    /// The `id` of the last call at a position, if there is one.
    pub(super) fn call_at(&self, place: u64) -> Option<&str> {
        let call = self.places.get(&place).and_then(|at| self.calls.get(*at));
        call.map(|call| call.id.as_str())
    }

    /// Adds to the arguments of the last call at a position.
    pub(super) fn arguments(&mut self, place: u64, piece: &str) -> Result<(), Fault> {
        self.take(piece.len())?;
        let at = self.places.get(&place);
        let call = at.and_then(|at| self.calls.get_mut(*at)).ok_or_else(|| {
            Fault::Malformed(format!("arguments for call {place}, which was not started"))
        })?;
        call.arguments.push_str(piece);
        Ok(())
    }

    /// Keeps a block that its provider requires back.
    pub(super) fn keep(&mut self, block: Value) -> Result<(), Fault> {
        self.take(block.to_string().len())?;
        self.kept.push(block);
        Ok(())
    }

    /// Counts data that is collected elsewhere.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or(Fault::TooLarge)?;
        Ok(())
    }

    pub(super) fn stop(&mut self, stop: StopReason) {
        self.stop = Some(stop);
    }

    pub(super) fn usage(&mut self) -> &mut TokenUsage {
        &mut self.usage
    }

    /// Marks the answer as complete.
    pub(super) fn over(&mut self) {
        self.is_over = true;
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The answer, if it is complete.
    pub(super) fn finish(self) -> Result<ModelResponse, CutShort> {
        // Servers that omit the last line of the stream have still reported why they stopped.
        if !self.is_over && self.stop.is_none() {
            return Err(CutShort {
                text: self.text,
                usage: self.usage,
            });
        }
        let calls: Vec<ToolCall> = self.calls.into_iter().map(OpenPart::close).collect();
        let stop = match self.stop {
            Some(StopReason::End) if !calls.is_empty() => StopReason::ToolUse,
            Some(stop) => stop,
            None => StopReason::Other(String::new()),
        };
        let kind = self.kind;
        let keep = |block| SignedBlock {
            provider: kind,
            block,
        };
        Ok(ModelResponse {
            text: self.text,
            calls,
            kept: self.kept.into_iter().map(keep).collect(),
            stop,
            usage: self.usage,
        })
    }
}

impl OpenPart {
    fn close(self) -> ToolCall {
        ToolCall {
            id: self.id,
            name: self.name,
            input: CallArguments::read(self.arguments),
        }
    }
}
