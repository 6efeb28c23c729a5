//! Words that differ by one edit.

/// Whether a word becomes another one by one insertion, one deletion, one substitution or one swap of neighbours. The first letters
/// must be the same: the first letter is rarely mistyped, and this distinguishes short words.
pub(crate) fn is_one_edit(a: &str, b: &str) -> bool {
    // Nearly all words end here, before anything is copied.
    if a.len().abs_diff(b.len()) > 4 || a.chars().next() != b.chars().next() {
        return false;
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (
        a.get(same..).unwrap_or_default(),
        b.get(same..).unwrap_or_default(),
    );
    match (rest_a, rest_b) {
        ([], []) => false,
        ([_, a @ ..], b) if a == b => true,
        (a, [_, b @ ..]) if a == b => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a, c, rest_a @ ..], [b, d, rest_b @ ..]) => a == d && b == c && rest_a == rest_b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_forgiven() {
        for (a, b, expected) in [
            ("kubernets", "kubernetes", true),
            ("kuberntees", "kubernetes", true),
            ("terrafrom", "terraform", true),
            ("terraforms", "terraform", true),
            ("terraform", "terraform", false),
            ("terrform", "terraform", true),
            ("postgras", "postgres", true),
            ("postgres", "mostgres", false),
            ("plain", "plan", true),
            ("graphql", "grafana", false),
            ("部署管理器", "部署管理员", true),
        ] {
            assert_eq!(is_one_edit(a, b), expected, "{a} {b}");
            assert_eq!(is_one_edit(b, a), expected, "{b} {a}");
        }
    }
}
