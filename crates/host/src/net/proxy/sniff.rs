//! The first bytes of a tunnel: a TLS greeting with its host, or another protocol.
//!
//! TLS is parsed only up to the name; anything unclear is [`Hello::Broken`].

/// The result for the bytes so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hello {
    /// Not the beginning of a TLS greeting.
    Other,
    /// An incomplete greeting.
    More,
    /// A complete greeting, with the host that it names, if any.
    To(Option<String>),
    /// A greeting that must be refused.
    Broken,
}

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;

/// Parses a ClientHello, which can be split into several records.
pub(super) fn hello(bytes: &[u8]) -> Hello {
    match bytes.first() {
        None => return Hello::More,
        Some(&HANDSHAKE) => {}
        Some(_) => return Hello::Other,
    }
    let mut records = HelloBytes(bytes);
    let mut message = Vec::new();
    loop {
        if let Some(message) = whole(&message) {
            return greeting(message).map_or(Hello::Broken, Hello::To);
        }
        let record = match records.record() {
            Ok(Some(record)) => record,
            Ok(None) => return Hello::More,
            Err(Unclear) => return Hello::Broken,
        };
        message.extend_from_slice(record);
        if message.first() != Some(&CLIENT_HELLO) {
            return Hello::Broken;
        }
    }
}

/// The body of the message, once it is complete.
fn whole(message: &[u8]) -> Option<&[u8]> {
    let &[_, a, b, c, ..] = message else {
        return None;
    };
    let length = u32::from_be_bytes([0, a, b, c]);
    message[4..].get(..usize::try_from(length).ok()?)
}

/// The name in a greeting. `None` is a greeting that can't be parsed, `Some(None)` a greeting without a name.
fn greeting(body: &[u8]) -> Option<Option<String>> {
    let mut body = HelloBytes(body);
    body.take(2 + 32)?; // version, random
    body.short()?; // session
    body.long()?; // cipher suites
    body.short()?; // compression
    if body.0.is_empty() {
        return Some(None);
    }
    let mut extensions = HelloBytes(body.long()?);
    if !body.0.is_empty() {
        return None;
    }
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let value = extensions.long()?;
        if kind == SERVER_NAME && name.replace(server_name(value)?).is_some() {
            return None; // two names: two readers would use different ones
        }
    }
    Some(name)
}

fn server_name(value: &[u8]) -> Option<String> {
    let mut value = HelloBytes(value);
    let mut list = HelloBytes(value.long()?);
    let kind = list.take(1)?;
    let name = list.long()?;
    let whole = kind == [HOST_NAME] && list.0.is_empty() && value.0.is_empty();
    let name = str::from_utf8(name).ok().filter(|_| whole)?;
    name.is_ascii().then(|| name.to_ascii_lowercase())
}

struct Unclear;

/// The unread bytes.
struct HelloBytes<'a>(&'a [u8]);

impl<'a> HelloBytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A field with a length of one byte.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    /// A field with a length of two bytes.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length.into())
    }

    /// The next record, if it is complete.
    fn record(&mut self) -> Result<Option<&'a [u8]>, Unclear> {
        const MAX: usize = 16 * 1024 + 256;
        let &[kind, major, _, a, b, ..] = self.0 else {
            return match self.0.first() {
                None | Some(&HANDSHAKE) => Ok(None),
                Some(_) => Err(Unclear),
            };
        };
        let length = usize::from(u16::from_be_bytes([a, b]));
        if kind != HANDSHAKE || major != 3 || length == 0 || length > MAX {
            return Err(Unclear);
        }
        let Some(record) = self.0.get(5..5 + length) else {
            return Ok(None);
        };
        self.0 = &self.0[5 + length..];
        Ok(Some(record))
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
