//! Small things about text for people.

/// What a colour stands for; the words beside it always say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Warn,
    Note,
    Strong,
    Faint,
}

/// Visible characters on one line: no text of a skill can move the cursor or hide itself.
#[must_use]
pub fn one_line(text: &str) -> String {
    let visible = metier_model::text::visible(text);
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 skill`, `2 skills`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
