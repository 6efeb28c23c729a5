//! OpenAI chat completions, and the many servers that speak them.

mod request;
mod stream;

pub(super) use request::body;
pub(super) use stream::Stream;
