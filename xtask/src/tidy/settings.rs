//! Every value of the configuration is read by another crate: a key that has no effect is not in the table.
//!
//! A test of `crates/config` compares the table with the fields of `Config`; here the fields are compared with the program.

use super::ProjectText;

const VALUES: &str = "crates/config/src/config.rs";

/// A line of `metier config`, which is made from the table and not from a key.
const NOT_A_VALUE: &str = "pub struct ConfigLine {";

/// Fewer values than this means that the search for them failed.
const MIN_VALUES: usize = 40;

/// Reports every value that no code outside `crates/config` reads.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let values = texts.iter().find(|(path, _)| path == VALUES);
    let values = values.map_or_else(Vec::new, |(_, text)| fields(text));
    let mut problems = unread(&values, texts);
    if values.len() < MIN_VALUES {
        let count = values.len();
        problems.push(format!("{VALUES}: only {count} values: that can't be all"));
    }
    problems
}

/// The public fields of the types that contain values of keys.
fn fields(text: &str) -> Vec<&str> {
    let mut is_value = true;
    let mut fields = Vec::new();
    for line in text.lines() {
        if line.starts_with("pub struct ") {
            is_value = line != NOT_A_VALUE;
        }
        let field = line.strip_prefix("    pub ");
        if let Some((name, _)) = field.and_then(|field| field.split_once(':'))
            && is_value
            && !name.contains(' ')
        {
            fields.push(name);
        }
    }
    fields
}

fn unread(values: &[&str], texts: &[ProjectText]) -> Vec<String> {
    let code: Vec<&str> = texts
        .iter()
        .filter(|(path, _)| is_reader(path))
        .map(|(_, text)| text.as_str())
        .collect();
    let is_read = |value: &str| code.iter().any(|text| reads(text, value));
    values
        .iter()
        .filter(|value| !is_read(value))
        .map(|value| {
            format!(
                "{VALUES}: no other crate reads `{value}`: remove its key, or give it an effect"
            )
        })
        .collect()
}

fn is_reader(path: &str) -> bool {
    path.starts_with("crates/")
        && path.contains("/src/")
        && path.ends_with(".rs")
        && !path.ends_with("tests.rs")
        && !["crates/config/", "crates/testkit/"]
            .iter()
            .any(|other| path.starts_with(other))
}

/// Whether a line of code reads a field with this name.
fn reads(text: &str, field: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//")).any(|line| {
        line.match_indices(field).any(|(at, _)| {
            let after = line[at + field.len()..].chars().next();
            line[..at].ends_with('.')
                && after.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '(')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "pub struct Config {\n    /// `a`\n    pub a_value: bool,\n    state: State,\n}\npub struct ConfigLine {\n    pub shown: bool,\n}\n\
        impl Config {\n    pub fn entry(&self) -> X {\n    }\n}\n";

    #[test]
    fn values_are_the_public_fields() {
        assert_eq!(fields(CONFIG), ["a_value"]);
    }

    #[test]
    fn sabotage_a_value_that_is_never_read_is_caught() {
        let problems = |code: &str| {
            let files = [("crates/a/src/b.rs", code), (VALUES, "x = self.a_value;\n")];
            unread(
                &["a_value"],
                &files.map(|(path, text)| (path.to_owned(), text.to_owned())),
            )
        };
        assert_eq!(problems("if config.a_value {\n"), [""; 0]);
        for unread in [
            "// config.a_value\n",
            "config.a_value()\n",
            "config.a_values\n",
            "a_value\n",
        ] {
            assert_eq!(problems(unread).len(), 1, "{unread}");
        }
    }

    #[test]
    fn sabotage_a_table_that_is_not_found_is_caught() {
        assert!(check(&[])[0].contains("that can't be all"));
    }
}
