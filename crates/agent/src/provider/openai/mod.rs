//! OpenAI chat completions, and the many compatible servers.

mod request;
mod stream;

pub(super) use request::body;
pub(super) use stream::OpenAiStream;
