//! Every value of the configuration is read by another crate: a key that has no effect is not in the table.
//!
//! A test of `crates/config` compares the table with the fields of `Config`; here the fields are compared with the program. Many things
//! have a `timeout`, so a read names what it reads from: `config`, the type of the value, or the field or function that contains it.

use super::ProjectText;

const VALUES: &str = "crates/config/src/config.rs";

/// A line of `metier config`, which is made from the table and not from a key.
const NOT_A_VALUE: &str = "pub struct ConfigLine {";

/// Fewer values than this means that the search for them failed.
const MIN_VALUES: usize = 40;

/// Reports every value that no code outside `crates/config` reads.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let values = texts.iter().find(|(path, _)| path == VALUES);
    let values = values.map_or_else(Vec::new, |(_, text)| values_in(text));
    let mut problems = unread(&values, texts);
    if values.len() < MIN_VALUES {
        let count = values.len();
        problems.push(format!("{VALUES}: only {count} values: that can't be all"));
    }
    problems
}

/// A public field, and the names of what it is read from.
#[derive(Debug, PartialEq, Eq)]
struct ConfigValue<'t> {
    name: &'t str,
    owners: Vec<String>,
}

/// The public fields of the types that contain values of keys.
fn values_in(text: &str) -> Vec<ConfigValue<'_>> {
    let mut type_name = None;
    let mut values = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("pub struct ") {
            type_name = (line != NOT_A_VALUE).then(|| rest.trim_end_matches(" {"));
        }
        let field = line.strip_prefix("    pub ");
        if let Some((name, _)) = field.and_then(|field| field.split_once(':'))
            && let Some(type_name) = type_name
            && !name.contains(' ')
        {
            let owners = owners(type_name, text);
            values.push(ConfigValue { name, owners });
        }
    }
    values
}

/// The words of a type's name, and the fields and functions that contain such values.
fn owners(type_name: &str, text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut owners: Vec<String> = Vec::new();
    for letter in type_name.chars() {
        match owners.last_mut().filter(|_| letter.is_lowercase()) {
            Some(word) => word.push(letter),
            None => owners.push(letter.to_lowercase().collect()),
        }
    }
    for line in text.lines().map(str::trim_start) {
        if line.split(|c| !is_word(c)).any(|word| word == type_name) {
            let name = line.strip_prefix("pub ").unwrap_or(line);
            let name = name.strip_prefix("fn ").unwrap_or(name);
            owners.extend(name.split(|c| !is_word(c)).next().map(str::to_owned));
        }
    }
    owners
}

fn unread(values: &[ConfigValue<'_>], texts: &[ProjectText]) -> Vec<String> {
    let code: Vec<String> = texts
        .iter()
        .filter(|(path, _)| is_reader(path))
        .map(|(_, text)| joined(text))
        .collect();
    let is_read = |value: &ConfigValue<'_>| code.iter().any(|text| reads(text, value));
    values
        .iter()
        .filter(|value| !is_read(value))
        .map(|ConfigValue { name, owners }| {
            format!(
                "{VALUES}: no other crate reads `{name}` of {owners:?}: remove its key, or give it an effect"
            )
        })
        .collect()
}

/// Code without comments, and with each chain of calls on one line.
fn joined(text: &str) -> String {
    let mut code = String::new();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with("//")) {
        if !line.starts_with('.') {
            code.push('\n');
        }
        code.push_str(line);
    }
    code
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

/// Whether code reads this field from one of its owners.
fn reads(code: &str, value: &ConfigValue<'_>) -> bool {
    code.match_indices(value.name).any(|(at, _)| {
        let after = code[at + value.name.len()..].chars().next();
        let is_whole = after.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '(');
        let Some(before) = code[..at].strip_suffix('.').filter(|_| is_whole) else {
            return false;
        };
        // The name of a function is before its arguments.
        let before = match before.strip_suffix(')') {
            Some(call) => call.rfind('(').map_or(before, |open| &call[..open]),
            None => before,
        };
        let is_owner = |owner: &String| {
            let rest = before.strip_suffix(owner.as_str());
            rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        value.owners.iter().any(is_owner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "pub struct Config {\n    /// `a`\n    pub a_value: bool,\n    pub load: LoadSettings,\n    state: State,\n}\npub struct ConfigLine {\n\
        \x20   pub shown: bool,\n}\npub struct LoadSettings {\n    pub timeout: u64,\n}\nimpl Config {\n    pub fn entry(&self) -> &LoadSettings {\n    }\n}\n";

    #[test]
    fn values_are_the_public_fields() {
        let values = values_in(CONFIG);
        let names: Vec<&str> = values.iter().map(|value| value.name).collect();
        assert_eq!(names, ["a_value", "load", "timeout"]);
        for owner in ["load", "settings", "entry"] {
            assert!(values[2].owners.contains(&owner.to_owned()), "{values:?}");
        }
    }

    #[test]
    fn sabotage_a_value_that_is_never_read_is_caught() {
        let problems = |code: &str| {
            let files = [
                ("crates/a/src/b.rs", code),
                (VALUES, "x = self.load.timeout;\n"),
            ];
            let values = values_in(CONFIG).into_iter();
            let values: Vec<ConfigValue<'_>> =
                values.filter(|value| value.name == "timeout").collect();
            unread(
                &values,
                &files.map(|(path, text)| (path.to_owned(), text.to_owned())),
            )
        };
        for read in [
            "if config.load.timeout > 1 {\n",
            "let x = config\n    .load\n    .timeout;\n",
            "config.entry(name).timeout\n",
        ] {
            assert_eq!(problems(read), [""; 0], "{read}");
        }
        for unread in [
            "// load.timeout\n",
            "load.timeout()\n",
            "load.timeouts\n",
            "timeout\n",
            "request.timeout\n",
            "payload.timeout\n",
            "other(load).timeout\n",
        ] {
            assert_eq!(problems(unread).len(), 1, "{unread}");
        }
    }

    #[test]
    fn sabotage_a_table_that_is_not_found_is_caught() {
        assert!(check(&[])[0].contains("that can't be all"));
    }
}
