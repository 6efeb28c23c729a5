//! A line → words, as a shell would for the simple cases: spaces separate, quotes and backslashes protect.

/// One word, and whether any part of it was protected (then it has no special meaning).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandWord {
    pub(super) text: String,
    pub(super) quoted: bool,
}

/// Splits a line; single quotes keep everything, double quotes keep all but `\"` and `\\`.
pub(super) fn split(line: &str) -> Result<Vec<CommandWord>, String> {
    let mut words = Vec::new();
    let mut word: Option<CommandWord> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert(CommandWord {
            text: String::new(),
            quoted: false,
        });
        match character {
            '\'' | '"' => {
                word.quoted = true;
                quoted(character, &mut characters, &mut word.text)?;
            }
            '\\' => {
                word.quoted = true;
                word.text
                    .push(characters.next().ok_or("the line ends with a lone `\\`")?);
            }
            plain => word.text.push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(
    quote: char,
    rest: &mut impl Iterator<Item = char>,
    text: &mut String,
) -> Result<(), String> {
    while let Some(character) = rest.next() {
        match character {
            end if end == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next() {
                Some(kept @ ('"' | '\\')) => text.push(kept),
                Some(other) => text.extend(['\\', other]),
                None => break,
            },
            kept => text.push(kept),
        }
    }
    Err(format!("a {quote} is not closed"))
}

/// Whether this can be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(line: &str, expected: &[&str]) {
        let words = split(line).unwrap().into_iter().map(|word| word.text);
        assert_eq!(words.collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn words_are_split_like_in_a_shell() {
        check("  a  b ", &["a", "b"]);
        check(
            r#"select "review my PR" -- 'it''s'"#,
            &["select", "review my PR", "--", "its"],
        );
        check(r#"x="a b" '' c\ d"#, &["x=a b", "", "c d"]);
        check(
            r#"'{"a": "b\n"}' "\"q\" \n""#,
            &[r#"{"a": "b\n"}"#, r#""q" \n"#],
        );
    }

    #[test]
    fn open_quotes_are_errors() {
        assert!(split("a 'b").is_err());
        assert!(split("a \"b\\").is_err());
        assert!(split("a \\").is_err());
    }
}
