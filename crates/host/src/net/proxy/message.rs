//! A forwarded request: parsed once, and written again without the headers for the proxy.
//!
//! It is written again so that the server sees the request that was checked: one host, one length, no second request after it.

use std::io::{self, BufRead, Read, Write};

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) target: String,
    minor: u8,
    headers: Vec<(String, Vec<u8>)>,
}

/// The result for the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedHead {
    /// The beginning of a head.
    More,
    /// A head, and its length.
    Head(RequestHead, usize),
    /// The bytes are not an HTTP/1 request.
    Bad,
}

/// Where a request's body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    None,
    Length(u64),
    Chunked,
}

const MAX_HEADERS: usize = 100;

/// Headers for a single hop, which are not forwarded, besides `proxy-…` and those that `Connection` names.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn parse(bytes: &[u8]) -> ParsedHead {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return ParsedHead::More,
        Err(_) => return ParsedHead::Bad,
    };
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version)
    else {
        return ParsedHead::Bad;
    };
    let own =
        |header: &httparse::Header<'_>| (header.name.to_ascii_lowercase(), header.value.to_vec());
    let head = RequestHead {
        method: method.to_owned(),
        target: target.to_owned(),
        minor,
        headers: request.headers.iter().map(own).collect(),
    };
    ParsedHead::Head(head, length)
}

impl RequestHead {
    /// The only header with this name.
    pub(super) fn only(&self, name: &'static str) -> Option<&str> {
        let mut all = self.all(name);
        let first = all.next()?;
        let single = all.next().is_none();
        str::from_utf8(first).ok().filter(|_| single)
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        let named = self.headers.iter().filter(move |(own, _)| own == name);
        named.map(|(_, value)| value.as_slice())
    }

    /// Where the body ends. A head that two servers could read differently is an error.
    pub(super) fn framing(&self) -> Result<Framing, &'static str> {
        let mut lengths = self.all("content-length");
        let length = lengths.next();
        if lengths.any(|other| Some(other) != length) {
            return Err("the request has two lengths");
        }
        let chunked = self.all("transfer-encoding").next().is_some();
        if !chunked {
            let Some(length) = length else {
                return Ok(Framing::None);
            };
            let digits = str::from_utf8(length).ok().filter(|text| is_number(text));
            let length = digits.and_then(|text| text.parse().ok());
            return length
                .map(Framing::Length)
                .ok_or("the length of the request is not a number");
        }
        let plain = self
            .only("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
        match (plain, length, self.minor) {
            (true, None, 1) => Ok(Framing::Chunked),
            _ => Err("the transfer coding of the request is not supported"),
        }
    }

    /// The head as the server gets it.
    pub(super) fn onward(&self, target: &str, host: &str, framing: Framing) -> Vec<u8> {
        let dropped: Vec<String> = self
            .all("connection")
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
            .collect();
        let goes = |name: &str| {
            !HOP_BY_HOP.contains(&name)
                && !name.starts_with("proxy-")
                && !dropped.iter().any(|dropped| dropped == name)
        };
        let mut head =
            format!("{} {target} HTTP/1.1\r\nHost: {host}\r\n", self.method).into_bytes();
        for (name, value) in self.headers.iter().filter(|(name, _)| goes(name)) {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        match framing {
            Framing::None => {}
            Framing::Length(length) => head.extend(format!("Content-Length: {length}\r\n").bytes()),
            Framing::Chunked => head.extend(b"Transfer-Encoding: chunked\r\n"),
        }
        head.extend(b"Connection: close\r\n\r\n");
        head
    }
}

impl Framing {
    /// Copies exactly the body that starts here.
    pub(super) fn copy(self, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Length(length) => copy_exactly(from, to, length),
            Self::Chunked => copy_chunks(from, to),
        }
    }
}

fn copy_exactly(from: &mut impl BufRead, to: &mut impl Write, length: u64) -> io::Result<()> {
    let mut left = length;
    while left > 0 {
        let ready = from.fill_buf()?;
        if ready.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let count = ready.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        to.write_all(&ready[..count])?;
        from.consume(count);
        left -= count as u64;
    }
    Ok(())
}

/// Chunk by chunk, each with its length in the simplest form; extensions and trailers are dropped.
fn copy_chunks(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    const MAX_TRAILERS: usize = 32;
    loop {
        let line = line(from)?;
        let digits = line.split(';').next().unwrap_or_default().trim_end();
        let hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = if hex {
            u64::from_str_radix(digits, 16).ok()
        } else {
            None
        };
        let size = size.ok_or_else(bad_chunk)?;
        if size == 0 {
            break;
        }
        to.write_all(format!("{size:x}\r\n").as_bytes())?;
        copy_exactly(from, to, size)?;
        if !self::line(from)?.is_empty() {
            return Err(bad_chunk());
        }
        to.write_all(b"\r\n")?;
    }
    for _ in 0..MAX_TRAILERS {
        if line(from)?.is_empty() {
            return to.write_all(b"0\r\n\r\n");
        }
    }
    Err(bad_chunk())
}

/// A line that ends with CR LF, without them.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    const MAX: u64 = 1024;
    let mut line = Vec::new();
    from.by_ref().take(MAX).read_until(b'\n', &mut line)?;
    let line = line.strip_suffix(b"\r\n").ok_or_else(bad_chunk)?;
    String::from_utf8(line.to_vec()).map_err(|_| bad_chunk())
}

fn bad_chunk() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the chunks of the request can't be parsed",
    )
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
