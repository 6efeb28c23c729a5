//! `*` and `?` in one word: linear time, without a regular expression.

/// Whether a word matches a pattern in which `*` matches any characters and `?` one.
pub(super) fn matches(pattern: &str, word: &str) -> bool {
    let (pattern, word): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), word.chars().collect());
    let (mut p, mut w) = (0, 0);
    // The position of the last star, and how much of the word it covers.
    let mut star: Option<(usize, usize)> = None;
    while w < word.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, w));
                p += 1;
            }
            Some(c) if *c == '?' || *c == word[w] => {
                p += 1;
                w += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    w = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Whether a word contains a wildcard.
pub(super) fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?'])
}
