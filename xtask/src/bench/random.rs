//! Numbers that look random and are the same in every run: SplitMix64, ten lines instead of a dependency.

/// A seeded generator.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// In `0.0..1.0`.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: f64) -> bool {
        self.share() * 100.0 < percent
    }

    /// In `0..limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// A length from a table of quantiles, rising geometrically between two of them.
    pub(super) fn quantile(&mut self, table: &[(f64, f64)]) -> usize {
        let share = self.share();
        let upper = table
            .iter()
            .position(|(at, _)| *at > share)
            .unwrap_or(table.len() - 1);
        let ((a, low), (b, high)) = (table[upper - 1], table[upper]);
        let part = (share - a) / (b - a);
        (low * (high / low).powf(part)).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..5).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn quantiles_are_met() {
        let mut random = Random::new(7);
        let table = [(0.0, 10.0), (0.5, 100.0), (1.0, 1000.0)];
        let mut values: Vec<usize> = (0..10_001).map(|_| random.quantile(&table)).collect();
        values.sort_unstable();
        assert!((95..=105).contains(&values[5_000]), "{}", values[5_000]);
        assert!(values[0] >= 10 && values[10_000] <= 1000);
    }
}
