//! Limits of time and size.

use std::time::Duration;

/// Bounds of one call of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLimits {
    /// For a connection: the lookup, the dial and TLS.
    pub connect: Duration,
    /// From the request to the start of a response. Models that think are silent for long.
    pub first_byte: Duration,
    /// From one piece of an answer to the next.
    pub between: Duration,
    /// For a whole attempt.
    pub whole: Duration,
    /// The maximum number of times that a request is sent.
    pub attempts: u32,
    /// The pause before the second attempt; each further one is twice as long.
    pub first_pause: Duration,
    /// The maximum length of our own pauses.
    pub longest_pause: Duration,
    /// No attempt starts later than this after the first.
    pub retry_within: Duration,
    /// Bytes of an answer, and of any part of it.
    pub answer: usize,
    /// Bytes on the wire: a stream wraps each word of an answer in hundreds of bytes.
    pub wire: usize,
}

impl ProviderLimits {
    /// The usual limits, for an answer that may take this long in total (`agent.timeout`). A year means no limit, and no clock
    /// overflows.
    #[must_use]
    pub fn within(whole: Duration) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        Self {
            whole: whole.min(YEAR),
            ..Self::default()
        }
    }
}

impl Default for ProviderLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(180),
            between: Duration::from_secs(90),
            whole: Duration::from_secs(600),
            attempts: 5,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(20),
            retry_within: Duration::from_secs(120),
            answer: 8 * 1024 * 1024,
            wire: 256 * 1024 * 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_endless_wait_overflows_no_clock() {
        let limits = ProviderLimits::within(Duration::MAX);
        assert!(Instant::now().checked_add(limits.whole).is_some());
        let short = Duration::from_secs(7);
        assert_eq!(ProviderLimits::within(short).whole, short);
    }
}
