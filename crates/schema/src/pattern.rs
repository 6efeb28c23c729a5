//! The size of a pattern when its repetitions are expanded.

/// The largest pattern that is accepted.
pub(crate) const MAX_WEIGHT: u64 = 50_000;

/// Roughly the states of the automaton: letters and classes, each as often as it is repeated. Alternatives add up.
pub(crate) fn weight(pattern: &str) -> u64 {
    let mut groups: Vec<u64> = Vec::new();
    let (mut sum, mut last) = (0_u64, 0_u64);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '(' => {
                groups.push(sum);
                (sum, last) = (0, 0);
            }
            ')' => {
                last = sum.max(1);
                sum = groups.pop().unwrap_or(0).saturating_add(last);
            }
            '{' => {
                let Some(times) = times(&letters.clone().take(40).collect::<String>()) else {
                    // A brace that repeats nothing is a literal.
                    (sum, last) = (sum.saturating_add(1), 1);
                    continue;
                };
                letters.by_ref().find(|letter| *letter == '}');
                // The sum already contains it once.
                sum = sum.saturating_add(last.saturating_mul(times.saturating_sub(1)));
                last = last.saturating_mul(times);
            }
            '*' | '+' | '?' | '|' | '^' | '$' => sum = sum.saturating_add(1),
            '[' => {
                // A class; an escaped character in it doesn't end it.
                last = 1;
                while let Some(letter) = letters.next() {
                    match letter {
                        '\\' => last += u64::from(letters.next() == Some('p')) * 8 + 1,
                        ']' => break,
                        _ => {}
                    }
                }
                sum = sum.saturating_add(last);
            }
            '\\' => {
                last = match letters.next() {
                    // A class of Unicode, with its name in braces.
                    Some('p' | 'P') => {
                        if letters.peek() == Some(&'{') {
                            letters.by_ref().find(|letter| *letter == '}');
                        }
                        8
                    }
                    _ => 1,
                };
                sum = sum.saturating_add(last);
            }
            _ => {
                last = 1;
                sum = sum.saturating_add(1);
            }
        }
    }
    groups
        .iter()
        .fold(sum, |sum, group| sum.saturating_add(*group))
}

/// The largest number in `2,5}`, at least 1, if it is a repetition.
fn times(rest: &str) -> Option<u64> {
    let (inside, _) = rest.split_once('}')?;
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == ',';
    if inside.is_empty() || !inside.chars().all(is_digit) {
        return None;
    }
    let number = |number: &str| match number.is_empty() {
        true => 1,
        false => number.parse().unwrap_or(u64::from(u32::MAX)),
    };
    inside
        .split(',')
        .map(number)
        .max()
        .map(|times| times.max(1))
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn repetitions_multiply() {
        for (pattern, least, most) in [
            ("", 0, 0),
            ("^[a-z]{1,64}$", 64, 70),
            (r"^\d{4}-\d{2}-\d{2}$", 8, 20),
            ("(a{100}){100}", 10_000, 10_100),
            ("((a{1000}){1000}){1000}", 1_000_000_000, u64::MAX),
            ("a{99999999999999999999}", 1_000_000, u64::MAX),
            ("(((((", 0, 10),
            (r"[\]]{3}", 3, 10),
            (r"\p{L}{10}", 80, 90),
            ("a{2,}b{,3}", 4, 6),
            ("{{{{", 0, 10),
            ("x{foo}", 5, 10),
            ("a{(b{1000}){1000}", 1_000_000, 1_100_000),
        ] {
            let found = weight(pattern);
            assert!((least..=most).contains(&found), "{pattern}: {found}");
        }
    }
}
