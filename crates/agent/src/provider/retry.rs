//! Whether and when to retry.
//!
//! Each pause is twice as long as the previous one, half of it random, so that clients that were refused at the same time don't return
//! at the same time. A provider's own delay is used, unless it is too long for us.

use std::time::{Duration, Instant};

use super::limits::ProviderLimits;
use crate::ModelError;

pub(super) struct Retries<'a> {
    limits: &'a ProviderLimits,
    begin: Instant,
    attempts: u32,
}

impl<'a> Retries<'a> {
    pub(super) fn new(limits: &'a ProviderLimits) -> Self {
        Self {
            limits,
            begin: Instant::now(),
            attempts: 0,
        }
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The maximum number of attempts.
    pub(super) fn most(&self) -> u32 {
        self.limits.attempts
    }

    /// How long to wait after an attempt with this result; `None` means to give up.
    pub(super) fn pause(&mut self, error: &ModelError) -> Option<Duration> {
        self.attempts += 1;
        if !error.is_passing() || self.attempts >= self.limits.attempts {
            return None;
        }
        let own = backoff(self.limits, self.attempts, chance());
        let pause = match error {
            ModelError::RateLimited {
                after: Some(after), ..
            }
            | ModelError::Overloaded {
                after: Some(after), ..
            } => own.max(*after),
            _ => own,
        };
        let fits = self.begin.elapsed().saturating_add(pause) <= self.limits.retry_within;
        fits.then_some(pause)
    }
}

/// The pause after this many attempts; `chance` is between 0 and 1.
fn backoff(limits: &ProviderLimits, attempts: u32, chance: f64) -> Duration {
    let factor = 1u32
        .checked_shl(attempts.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let pause = limits.first_pause.saturating_mul(factor);
    let half = pause.min(limits.longest_pause) / 2;
    half + half.mul_f64(chance)
}

/// A number from 0 to 1. Without a random source the pauses have their maximum length.
fn chance() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ProviderKind;

    fn limits() -> ProviderLimits {
        ProviderLimits {
            attempts: 4,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_millis(300),
            retry_within: Duration::from_secs(10),
            ..ProviderLimits::default()
        }
    }

    fn limited(after: Option<u64>) -> ModelError {
        ModelError::RateLimited {
            provider: ProviderKind::OpenAi,
            after: after.map(Duration::from_secs),
            attempts: 1,
            message: String::new(),
        }
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_half_is_chance() {
        let check = |attempts, chance, expected| {
            let pause = backoff(&limits(), attempts, chance);
            assert_eq!(pause.as_millis(), expected, "{attempts} attempts");
        };
        check(1, 0.0, 50);
        check(1, 1.0, 100);
        check(2, 1.0, 200);
        check(3, 1.0, 300);
        check(3, 0.5, 225);
        check(u32::MAX, 1.0, 300);
    }

    #[test]
    fn the_wait_that_a_provider_requests_is_respected() {
        let limits = limits();
        let mut retries = Retries::new(&limits);
        assert_eq!(
            retries.pause(&limited(Some(3))),
            Some(Duration::from_secs(3))
        );
    }

    #[test]
    fn long_frequent_and_permanent_failures_end_the_retries() {
        let limits = limits();
        assert_eq!(Retries::new(&limits).pause(&limited(Some(11))), None);
        assert_eq!(Retries::new(&limits).pause(&limited(Some(u64::MAX))), None);
        assert_eq!(Retries::new(&limits).pause(&ModelError::Cancelled), None);
        let mut retries = Retries::new(&limits);
        for _ in 1..4 {
            assert!(retries.pause(&limited(None)).is_some());
        }
        assert_eq!(retries.pause(&limited(None)), None);
        assert_eq!(retries.attempts(), 4);
    }
}
