//! The quality of a ranking compared with labelled results: the usual measures over many queries.

/// Sums over queries, each with at least one right skill.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankingQuality {
    queries: u32,
    first: u32,
    in_five: u32,
    in_ten: u32,
    reciprocal: f64,
    gain: f64,
}

impl RankingQuality {
    /// Adds a query: the place of the first right skill, from 0 on. Places from 10 on count as not found.
    pub fn add(&mut self, place: Option<usize>) {
        self.queries += 1;
        let Some(place) = place.filter(|place| *place < 10) else {
            return;
        };
        let rank = f64::from(u8::try_from(place + 1).unwrap_or(u8::MAX));
        self.first += u32::from(place == 0);
        self.in_five += u32::from(place < 5);
        self.in_ten += 1;
        self.reciprocal += 1.0 / rank;
        self.gain += 1.0 / (rank + 1.0).log2();
    }

    /// How many queries were added.
    #[must_use]
    pub fn queries(&self) -> u32 {
        self.queries
    }

    /// The part of the queries whose first skill is right, between 0 and 1.
    #[must_use]
    pub fn hit_at_1(&self) -> f64 {
        self.share(f64::from(self.first))
    }

    /// The part with a right skill among the first five.
    #[must_use]
    pub fn recall_at_5(&self) -> f64 {
        self.share(f64::from(self.in_five))
    }

    /// The part with a right skill among the first ten.
    #[must_use]
    pub fn recall_at_10(&self) -> f64 {
        self.share(f64::from(self.in_ten))
    }

    /// The mean reciprocal rank.
    #[must_use]
    pub fn mrr(&self) -> f64 {
        self.share(self.reciprocal)
    }

    /// The normalised discounted gain over the first ten, where one skill is right.
    #[must_use]
    pub fn ndcg_at_10(&self) -> f64 {
        self.share(self.gain)
    }

    fn share(&self, sum: f64) -> f64 {
        let share = sum / f64::from(self.queries.max(1));
        (share * 10_000.0).round() / 10_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_textbook() {
        let mut quality = RankingQuality::default();
        for place in [Some(0), Some(2), Some(9), Some(10), None] {
            quality.add(place);
        }
        assert_eq!(quality.queries(), 5);
        assert_eq!(quality.hit_at_1(), 0.2);
        assert_eq!(quality.recall_at_5(), 0.4);
        assert_eq!(quality.recall_at_10(), 0.6);
        assert_eq!(quality.mrr(), 0.2867);
        assert_eq!(quality.ndcg_at_10(), 0.3578);
        assert_eq!(RankingQuality::default().mrr(), 0.0);
    }
}
