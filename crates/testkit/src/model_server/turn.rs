//! The turns that the server plays.

use serde_json::Value;

use super::http::{HttpAnswer, Recorded};

/// The answer to one request.
#[derive(Debug)]
#[must_use]
pub struct ScriptedTurn {
    pub(super) play: Play,
    pub(super) cut_after: Option<usize>,
    pub(super) hang_after: Option<usize>,
    pub(super) piece: usize,
}

pub(super) enum Play {
    Reply(ModelReply),
    Status { code: u16, after: Option<String> },
    Raw(HttpAnswer),
    Hang,
    Computed(Box<dyn FnOnce(&Recorded) -> ScriptedTurn + Send>),
}

impl std::fmt::Debug for Play {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reply(reply) => write!(f, "{reply:?}"),
            Self::Status { code, .. } => write!(f, "status {code}"),
            Self::Raw(answer) => write!(f, "{answer:?}"),
            Self::Hang => f.write_str("hang"),
            Self::Computed(_) => f.write_str("computed"),
        }
    }
}

/// The answer of a model, before it has a format.
#[derive(Debug, Default)]
pub(super) struct ModelReply {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<ScriptedCall>,
    /// The provider's stop reason; the usual one if it isn't set.
    pub(super) stop: Option<String>,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
}

#[derive(Debug)]
pub(super) struct ScriptedCall {
    pub(super) id: String,
    pub(super) name: String,
    /// A string, since a model can write text that is not JSON.
    pub(super) arguments: String,
}

impl ScriptedTurn {
    fn new(play: Play) -> Self {
        Self {
            play,
            cut_after: None,
            hang_after: None,
            piece: usize::MAX,
        }
    }

    /// An answer with text.
    pub fn text(text: &str) -> Self {
        Self::new(Play::Reply(ModelReply {
            text: text.to_owned(),
            input: 10,
            output: 5,
            ..ModelReply::default()
        }))
    }

    /// An answer with several tool calls. Their ids are `call_1`, `call_2`, ….
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let calls = calls.into_iter();
        calls.fold(Self::text(""), |turn, (name, arguments)| {
            turn.and_call(name, &arguments.to_string())
        })
    }

    /// Adds a call, whose arguments may be invalid JSON.
    pub fn and_call(mut self, name: &str, arguments: &str) -> Self {
        let reply = self.reply();
        reply.calls.push(ScriptedCall {
            id: format!("call_{}", reply.calls.len() + 1),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        self
    }

    /// Adds text before the calls.
    pub fn and_text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.reply().text);
        self
    }

    /// Adds thoughts before the text.
    pub fn thinking(mut self, thinking: &str) -> Self {
        thinking.clone_into(&mut self.reply().thinking);
        self
    }

    /// Another stop reason than the usual one, in the provider's form.
    pub fn stop(mut self, reason: &str) -> Self {
        self.reply().stop = Some(reason.to_owned());
        self
    }

    /// The tokens that it reports: input, output, and cached input.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        let reply = self.reply();
        (reply.input, reply.output, reply.cached) = (input, output, cached);
        self
    }

    /// An error, with the value of `Retry-After`, if any.
    pub fn status(code: u16, retry_after: Option<&str>) -> Self {
        let after = retry_after.map(str::to_owned);
        Self::new(Play::Status { code, after })
    }

    /// Raw bytes.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Play::Raw(HttpAnswer::raw(
            status,
            content_type,
            body.into(),
        )))
    }

    /// No response, until the client disconnects.
    pub fn hang() -> Self {
        Self::new(Play::Hang)
    }

    /// A turn that depends on the request.
    pub fn computed(compute: impl FnOnce(&Recorded) -> Self + Send + 'static) -> Self {
        Self::new(Play::Computed(Box::new(compute)))
    }

    /// Closes the connection after this many bytes of the body, without the end marker.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    /// Stops sending after this many bytes of the body, until the client disconnects.
    pub fn hang_after(mut self, bytes: usize) -> Self {
        self.hang_after = Some(bytes);
        self
    }

    /// Sends the body in pieces of this many bytes, at any boundary.
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.piece = bytes.max(1);
        self
    }

    /// # Panics
    /// When the turn is an error or raw bytes, which contain no text.
    fn reply(&mut self) -> &mut ModelReply {
        match &mut self.play {
            Play::Reply(reply) => reply,
            other => panic!("{other:?} has no words"),
        }
    }
}

impl ModelReply {
    /// Pieces of a text as a model streams them: about one word each, never split inside a character.
    pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
        text.split_inclusive(' ')
    }

    /// Pieces of arguments: two halves, so that every call has to be assembled.
    pub(super) fn halves(text: &str) -> [&str; 2] {
        let mut middle = text.len() / 2;
        while !text.is_char_boundary(middle) {
            middle += 1;
        }
        let (first, second) = text.split_at(middle);
        [first, second]
    }
}
