//! Bits in bytes: numbers of a fixed width, and sets of numbers as gaps.
//!
//! For damaged bytes, a reader returns zeros or nothing; it never panics and never reads outside.

/// Appends numbers of some bits each to bytes.
pub(crate) struct BitWriter<'b> {
    bytes: &'b mut Vec<u8>,
    pending: u64,
    filled: u32,
}

impl<'b> BitWriter<'b> {
    pub(crate) fn new(bytes: &'b mut Vec<u8>) -> Self {
        Self {
            bytes,
            pending: 0,
            filled: 0,
        }
    }

    /// Appends the lowest `width` bits, of at most 56.
    pub(crate) fn put(&mut self, value: u64, width: u32) {
        self.pending |= (value & mask(width)) << self.filled;
        self.filled += width;
        let whole = self.filled / 8;
        let bytes = self.pending.to_le_bytes();
        self.bytes.extend(bytes.iter().take(whole as usize));
        self.pending = self.pending.checked_shr(whole * 8).unwrap_or(0);
        self.filled %= 8;
    }

    /// Writes the last byte, filled with zeros.
    pub(crate) fn finish(self) {
        if self.filled > 0 {
            self.bytes.push(low_byte(self.pending));
        }
    }
}

/// The maximum number of bits in one read.
const WINDOW: u32 = 56;

/// The number in the `width` bits at a position; beyond the end there are zeros.
#[inline]
pub(crate) fn bits_at(bytes: &[u8], position: usize, width: u32) -> u64 {
    let shift = u32::try_from(position % 8).unwrap_or(0);
    (eight_at(bytes, position / 8) >> shift) & mask(width)
}

/// The eight bytes at a position as a number; beyond the end there are zeros.
#[inline]
pub(crate) fn eight_at(bytes: &[u8], start: usize) -> u64 {
    match bytes.get(start..start + 8) {
        Some(eight) => eight.try_into().map_or(0, u64::from_le_bytes),
        None => {
            let rest = bytes.get(start..).unwrap_or_default();
            let mut eight = [0; 8];
            eight
                .iter_mut()
                .zip(rest)
                .for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(eight)
        }
    }
}

/// How many bits a number needs.
pub(crate) fn width_of(value: u32) -> u32 {
    32 - value.leading_zeros()
}

#[inline]
pub(crate) fn mask(width: u32) -> u64 {
    1_u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1)
}

fn low_byte(value: u64) -> u8 {
    value.to_le_bytes()[0]
}

/// Appends a number in as many bytes as it needs.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(low_byte(u64::from(value)) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(u64::from(value)));
}

/// Reads a number and advances the position.
pub(crate) fn varint(bytes: &[u8], position: &mut usize) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.get(*position)?;
        *position += 1;
        value |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Sorts hashes, which are spread evenly: after their first bytes are in order, each is a few steps from its place.
fn sort_hashes(hashes: &mut Vec<u32>) {
    let first = |hash: u32| (hash >> 24) as usize;
    let mut places = [0_u32; 256];
    for hash in hashes.iter() {
        places[first(*hash)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    let mut sorted = vec![0; hashes.len()];
    for hash in hashes.iter() {
        let place = &mut places[first(*hash)];
        if let Some(to) = sorted.get_mut(*place as usize) {
            *to = *hash;
        }
        *place += 1;
    }
    let mut start = 0;
    for end in places {
        let end = end as usize;
        sorted
            .get_mut(start..end)
            .unwrap_or_default()
            .sort_unstable();
        start = end;
    }
    *hashes = sorted;
}

/// A set of hashes in about eight bits each. One of 64 hashes that are not in it is reported as contained.
pub(crate) struct HashSetBits;

impl HashSetBits {
    /// The low bits of a gap, which are written as they are.
    const LOW: u32 = 6;

    fn place(hash: u32, count: u32) -> u32 {
        let range = u64::from(count) << Self::LOW;
        u32::try_from((u64::from(hash) * range) >> 32).unwrap_or(u32::MAX)
    }

    /// Appends a set, with its size.
    pub(crate) fn write(out: &mut Vec<u8>, hashes: &mut Vec<u32>) {
        sort_hashes(hashes);
        hashes.dedup();
        let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        put_varint(out, count);
        let mut bytes = Vec::with_capacity(hashes.len() * 9 / 8 + 1);
        let mut bits = BitWriter::new(&mut bytes);
        let mut last = 0;
        for hash in hashes {
            let place = Self::place(*hash, count);
            let gap = place - last;
            last = place;
            let mut ones = gap >> Self::LOW;
            while ones > 32 {
                bits.put(mask(32), 32);
                ones -= 32;
            }
            let low = u64::from(gap) & mask(Self::LOW);
            bits.put(mask(ones) | low << (ones + 1), ones + 1 + Self::LOW);
        }
        bits.finish();
        put_varint(out, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        out.extend_from_slice(&bytes);
    }

    /// Reads the set at a position and returns which of the sorted hashes are in it; advances the position.
    pub(crate) fn contained(
        bytes: &[u8],
        position: &mut usize,
        asked: &[u32],
    ) -> Option<Vec<bool>> {
        let count = varint(bytes, position)?;
        let length = varint(bytes, position)? as usize;
        let end = position.checked_add(length)?;
        let set = bytes.get(*position..end)?;
        *position = end;
        let least = count as usize * (Self::LOW as usize + 1);
        if least > set.len() * 8 {
            return None;
        }
        let mut found = vec![false; asked.len()];
        let mut asked = asked
            .iter()
            .map(|hash| Self::place(*hash, count))
            .enumerate()
            .peekable();
        let (mut at, mut place) = (0_usize, 0_u32);
        for _ in 0..count {
            let mut high = 0_u32;
            let mut window = bits_at(set, at, WINDOW);
            while window == mask(WINDOW) {
                high += WINDOW;
                at += WINDOW as usize;
                window = bits_at(set, at, WINDOW);
            }
            let ones = window.trailing_ones();
            high += ones;
            at += ones as usize + 1;
            let low = match ones + 1 + Self::LOW <= WINDOW {
                true => (window >> (ones + 1)) & mask(Self::LOW),
                false => bits_at(set, at, Self::LOW),
            };
            at += Self::LOW as usize;
            if at > set.len() * 8 {
                return None;
            }
            let gap = (high << Self::LOW) | u32::try_from(low).unwrap_or(0);
            place = place.checked_add(gap)?;
            while let Some((_, wanted)) = asked.peek()
                && *wanted < place
            {
                asked.next();
            }
            while let Some((which, wanted)) = asked.peek()
                && *wanted == place
            {
                if let Some(found) = found.get_mut(*which) {
                    *found = true;
                }
                asked.next();
            }
            if asked.peek().is_none() {
                break;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in proptest::collection::vec((0_u64..1 << 56, 1_u32..=56), 0..200)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            values.iter().for_each(|(value, width)| writer.put(*value, *width));
            writer.finish();
            let mut at = 0;
            for (value, width) in values {
                prop_assert_eq!(bits_at(&bytes, at, width), value & mask(width));
                at += width as usize;
            }
        }

        #[test]
        fn hashes_are_sorted(hashes in proptest::collection::vec(any::<u32>(), 0..300)) {
            let (mut ours, mut theirs) = (hashes.clone(), hashes);
            sort_hashes(&mut ours);
            theirs.sort_unstable();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn a_set_contains_its_hashes(hashes in proptest::collection::vec(any::<u32>(), 0..300)) {
            let mut out = Vec::new();
            let mut sorted = hashes;
            HashSetBits::write(&mut out, &mut sorted);
            let mut at = 0;
            let found = HashSetBits::contained(&out, &mut at, &sorted).unwrap();
            prop_assert!(found.iter().all(|found| *found));
            prop_assert_eq!(at, out.len());
        }

        #[test]
        fn damaged_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = HashSetBits::contained(&bytes, &mut 0, &[1, 7, u32::MAX]);
            let _ = varint(&bytes, &mut 0);
        }
    }

    #[test]
    fn few_other_hashes_seem_to_be_in_a_set() {
        let mut hashes: Vec<u32> = (0..1_000_u32)
            .map(|number| number.wrapping_mul(2_654_435_761))
            .collect();
        let mut out = Vec::new();
        HashSetBits::write(&mut out, &mut hashes);
        let mut others: Vec<u32> = (0..10_000_u32)
            .map(|number| number.wrapping_mul(2_246_822_519) ^ 1)
            .collect();
        others.sort_unstable();
        let found = HashSetBits::contained(&out, &mut 0, &others).unwrap();
        let wrong = found.iter().filter(|found| **found).count();
        assert!(wrong < 300, "{wrong}");
        assert!(out.len() < 1_000 * 9 / 8, "{}", out.len());
    }
}
