//! How many requests one address can make.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The burst of requests, and the requests per second after that.
#[derive(Clone, Copy)]
struct Rate {
    burst: f64,
    per_second: f64,
}

const READS: Rate = Rate {
    burst: 3_000.0,
    per_second: 50.0,
};
const WRITES: Rate = Rate {
    burst: 300.0,
    per_second: 5.0,
};

/// The maximum number of stored addresses. Beyond it those with their full allowance are removed.
const MAX_ADDRESSES: usize = 50_000;

/// The requests that each address has left.
#[derive(Default)]
pub(super) struct RateLimiter {
    left: Mutex<HashMap<(IpAddr, bool), (f64, Instant)>>,
}

impl RateLimiter {
    /// Counts a request; returns the time to wait if there were too many.
    pub(super) fn admit(&self, peer: IpAddr, is_read: bool, now: Instant) -> Result<(), Duration> {
        let rate = if is_read { READS } else { WRITES };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= MAX_ADDRESSES {
            left.retain(|(_, is_read), (tokens, at)| {
                let rate = if *is_read { READS } else { WRITES };
                refilled(rate, *tokens, *at, now) < rate.burst
            });
            // All of them are in use. A flood of addresses must not fill the memory, so all are removed.
            if left.len() >= MAX_ADDRESSES {
                left.clear();
            }
        }
        let entry = left
            .entry((network(peer), is_read))
            .or_insert((rate.burst, now));
        let tokens = refilled(rate, entry.0, entry.1, now);
        if tokens < 1.0 {
            *entry = (tokens, now);
            return Err(Duration::from_secs_f64((1.0 - tokens) / rate.per_second));
        }
        *entry = (tokens - 1.0, now);
        Ok(())
    }
}

fn refilled(rate: Rate, tokens: f64, at: Instant, now: Instant) -> f64 {
    let elapsed = now.saturating_duration_since(at).as_secs_f64();
    (tokens + elapsed * rate.per_second).min(rate.burst)
}

/// A household has 2^64 IPv6 addresses: a whole /64 counts as one.
fn network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        },
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_asks_too_often_waits_and_others_do_not() {
        let (limiter, now) = (RateLimiter::default(), Instant::now());
        let one: IpAddr = "192.0.2.1".parse().unwrap();
        let other: IpAddr = "192.0.2.2".parse().unwrap();
        let admitted = (0..400).filter(|_| limiter.admit(one, false, now).is_ok());
        assert_eq!(admitted.count(), 300);
        assert!(limiter.admit(one, true, now).is_ok());
        assert!(limiter.admit(other, false, now).is_ok());
        assert!(
            limiter
                .admit(one, false, now + Duration::from_secs(1))
                .is_ok()
        );
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let address = |text: &str| network(text.parse().unwrap());
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    }
}
