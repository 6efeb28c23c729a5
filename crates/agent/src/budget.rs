//! How much a conversation and all conversations below it may use, together.
//!
//! One budget for a whole tree of conversations: sub-agents of sub-agents use their parent's. Nothing is returned to it. Each
//! sub-agent also has its own limit of model requests, so that one sub-agent can't use up those of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::TokenUsage;

/// The remaining budget of this conversation and every one below it.
#[derive(Debug)]
pub struct Budget {
    requests: AtomicU64,
    calls: AtomicU64,
    tokens: AtomicU64,
    limits: BudgetLimits,
    /// The budget that this allowance is taken from.
    whole: Option<Arc<Budget>>,
}

/// The initial limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The number of model requests.
    pub requests: u64,
    /// The number of tool calls.
    pub calls: u64,
    /// Limit of input and output tokens; 0 means no limit.
    pub tokens: u64,
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExhaustedBudget {
    /// The limit of model requests is reached.
    #[error("reached the limit of {0} model requests")]
    Requests(u64),
    /// The limit of requests of one sub-agent is reached.
    #[error("the sub-agent reached its limit of {0} model requests")]
    OwnRequests(u64),
    /// The limit of tool calls is reached.
    #[error("reached the limit of {0} tool calls")]
    Calls(u64),
    /// The limit of tokens is reached.
    #[error("reached the limit of {0} tokens")]
    Tokens(u64),
}

impl ExhaustedBudget {
    /// The setting that raises the limit.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Requests(_) => "agent.max_requests",
            Self::OwnRequests(_) => "agent.max_subagent_requests",
            Self::Calls(_) => "agent.max_tool_calls",
            Self::Tokens(_) => "agent.max_total_tokens",
        }
    }
}

impl Budget {
    /// An unused budget.
    #[must_use]
    pub fn new(limits: BudgetLimits) -> Self {
        Self {
            requests: AtomicU64::new(limits.requests),
            calls: AtomicU64::new(limits.calls),
            tokens: AtomicU64::new(match limits.tokens {
                0 => u64::MAX,
                tokens => tokens,
            }),
            limits,
            whole: None,
        }
    }

    /// The allowance of a sub-agent: its own number of requests, and the shared rest.
    #[must_use]
    pub fn allowance(whole: &Arc<Self>, requests: u64) -> Self {
        let limits = BudgetLimits {
            requests,
            calls: u64::MAX,
            tokens: 0,
        };
        Self {
            whole: Some(Arc::clone(whole)),
            ..Self::new(limits)
        }
    }

    /// A new task for the conversation that a person talks to: it gets the full budget again.
    pub fn refill(&self) {
        self.requests.store(self.limits.requests, Ordering::Relaxed);
        self.calls.store(self.limits.calls, Ordering::Relaxed);
    }

    /// Counts a model request.
    ///
    /// # Errors
    /// When no request is left.
    pub fn take_request(&self) -> Result<(), ExhaustedBudget> {
        if self.tokens.load(Ordering::Relaxed) == 0 {
            return Err(ExhaustedBudget::Tokens(self.limits.tokens));
        }
        let limit = self.limits.requests;
        let Some(whole) = &self.whole else {
            return take(&self.requests, 1).ok_or(ExhaustedBudget::Requests(limit));
        };
        take(&self.requests, 1).ok_or(ExhaustedBudget::OwnRequests(limit))?;
        whole.take_request()
    }

    /// Counts a tool call.
    ///
    /// # Errors
    /// When no tool call is left.
    pub fn take_call(&self) -> Result<(), ExhaustedBudget> {
        match &self.whole {
            Some(whole) => whole.take_call(),
            None => take(&self.calls, 1).ok_or(ExhaustedBudget::Calls(self.limits.calls)),
        }
    }

    /// Counts the tokens of an answer.
    pub fn use_tokens(&self, usage: TokenUsage) {
        if let Some(whole) = &self.whole {
            return whole.use_tokens(usage);
        }
        let used = usage.input.saturating_add(usage.output);
        let left = |left: u64| (left != u64::MAX).then(|| left.saturating_sub(used));
        // Without a limit there is nothing to count.
        self.tokens
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .ok();
    }
}

fn take(from: &AtomicU64, count: u64) -> Option<()> {
    from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(count)
    })
    .ok()
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: BudgetLimits = BudgetLimits {
        requests: 2,
        calls: 1,
        tokens: 10,
    };

    #[test]
    fn a_budget_is_shared_by_all() {
        let budget = Budget::new(FEW);
        std::thread::scope(|scope| {
            let took: Vec<bool> = (0..8)
                .map(|_| scope.spawn(|| budget.take_request().is_ok()))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            assert_eq!(took.iter().filter(|took| **took).count(), 2);
        });
        assert_eq!(budget.take_request(), Err(ExhaustedBudget::Requests(2)));
        assert_eq!(budget.take_call(), Ok(()));
        assert_eq!(budget.take_call(), Err(ExhaustedBudget::Calls(1)));
    }

    #[test]
    fn an_allowance_ends_before_the_purse_and_never_after_it() {
        let whole = Arc::new(Budget::new(BudgetLimits { requests: 3, ..FEW }));
        let (first, second) = (Budget::allowance(&whole, 2), Budget::allowance(&whole, 2));
        let nested = Budget::allowance(&Arc::new(first), 9);
        assert_eq!(nested.take_request(), Ok(()));
        assert_eq!(nested.take_request(), Ok(()));
        assert_eq!(nested.take_request(), Err(ExhaustedBudget::OwnRequests(2)));
        assert_eq!(second.take_request(), Ok(()));
        assert_eq!(second.take_request(), Err(ExhaustedBudget::Requests(3)));
        assert_eq!(second.take_call(), Ok(()));
        assert_eq!(whole.take_call(), Err(ExhaustedBudget::Calls(1)));
        second.use_tokens(TokenUsage {
            input: 10,
            ..TokenUsage::default()
        });
        assert_eq!(whole.take_request(), Err(ExhaustedBudget::Tokens(10)));
    }

    #[test]
    fn tokens_are_counted_when_there_is_a_limit() {
        let budget = Budget::new(FEW);
        let usage = TokenUsage {
            input: 9,
            output: 9,
            ..TokenUsage::default()
        };
        budget.use_tokens(usage);
        assert_eq!(budget.take_request(), Err(ExhaustedBudget::Tokens(10)));
        budget.refill();
        assert_eq!(budget.take_request(), Err(ExhaustedBudget::Tokens(10)));

        let endless = Budget::new(BudgetLimits { tokens: 0, ..FEW });
        endless.use_tokens(usage);
        assert_eq!(endless.take_request(), Ok(()));
    }
}
