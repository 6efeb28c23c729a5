//! Skills that a task mentions: `/name` and `$name`.

/// A word that can be the name of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'a> {
    /// The text in the task, with its sign.
    pub text: &'a str,
    /// The name, or `source:name`.
    pub name: &'a str,
}

/// The mentions of a task, each once. A path is not a mention: `/usr/bin` does not mention `usr`, `$HOME/x` does not
/// mention `HOME`.
#[must_use]
pub fn mentions(task: &str) -> Vec<Mention<'_>> {
    let mut found: Vec<Mention<'_>> = Vec::new();
    let mut before = None;
    for (start, c) in task.char_indices() {
        if matches!(c, '/' | '$') && before.is_none_or(opens) {
            let mention = mention(task, start).filter(|mention| !found.contains(mention));
            found.extend(mention);
        }
        before = Some(c);
    }
    found
}

/// Whether a mention can follow this character.
fn opens(c: char) -> bool {
    c.is_whitespace() || "([{<\"'`,;|“‘«„（「、。".contains(c)
}

fn mention(task: &str, start: usize) -> Option<Mention<'_>> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let rest = task.get(start + 1..)?; // both signs are one byte
    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(length)?;
    let mut behind = behind.chars();
    let continues = match behind.next() {
        Some('/' | '\\' | '$' | '*' | '=') => true,
        Some('.') => behind.next().is_some_and(char::is_alphanumeric),
        _ => false,
    };
    let name = name.trim_end_matches(['-', '_', ':']);
    let text = task.get(start..=start + name.len())?;
    (!continues && !name.is_empty()).then_some(Mention { text, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mentioned_and_paths_are_not() {
        let table: &[(&str, &[&str])] = &[
            ("/review-pr 123", &["review-pr"]),
            ("please use $deploy.", &["deploy"]),
            ("please use $deploy, then /test", &["deploy", "test"]),
            ("($deploy) and `/deploy`", &["deploy", "deploy"]),
            ("$deploy $deploy", &["deploy"]),
            ("use $user:deploy: now", &["user:deploy"]),
            ("ls /usr/bin $HOME/x /etc/hosts", &[]),
            ("a/b and 3/4 and US$5", &["5"][..0]),
            ("https://x.invalid/deploy", &[]),
            ("/notes.txt", &[]),
            ("x=$y $z=1 $a$b", &[]),
            ("rm /tmp/*", &[]),
            ("/ $ // $$", &[]),
            ("\\$deploy", &[]),
            ("请用 /部署", &["部署"]),
            ("$deploy-", &["deploy"]),
        ];
        for (task, expected) in table {
            let names: Vec<&str> = mentions(task).iter().map(|found| found.name).collect();
            assert_eq!(names, *expected, "{task}");
        }
    }
}
