//! The usage of a turn: requests, tokens, and the cost if prices are known.
//!
//! One turn can use several models, each at its own price: a skill can require another one, and so can a question of a skill. So
//! every answer is counted at the price of its model, and there is a cost only if all of them have a price.

use crate::{Price, TokenUsage};

/// The requests and responses so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnUsage {
    pub(crate) requests: u64,
    pub(crate) usage: TokenUsage,
    /// In millionths, for the answers that have a price.
    cost: u64,
    priced: u64,
    unpriced: u64,
}

impl TurnUsage {
    /// Adds the usage of one answer.
    pub(crate) fn answered(&mut self, usage: TokenUsage, price: Option<Price>) {
        self.usage += usage;
        match price {
            Some(price) => {
                self.cost = self.cost.saturating_add(price.cost(usage));
                self.priced += 1;
            }
            None => self.unpriced += 1,
        }
    }

    /// Adds tokens that were used elsewhere.
    pub(crate) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.usage += other.usage;
        self.cost = self.cost.saturating_add(other.cost);
        self.priced += other.priced;
        self.unpriced += other.unpriced;
    }

    /// The total cost, in millionths; `None` if a price is missing, or if nothing was used.
    pub(crate) fn cost(&self) -> Option<u64> {
        (self.priced > 0 && self.unpriced == 0).then_some(self.cost)
    }
}
