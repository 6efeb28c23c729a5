//! The documentation of the library `metier` reads like a guide: every public item has an example or a sentence that links to one, and
//! every code of an error is explained.
//!
//! A sentence counts if it contains the word "example" and a link to an item of the library whose own comment contains code. There are no
//! exceptions. Re-exported items of other crates are documented there, and are not checked.

use std::collections::BTreeSet;

use super::ProjectText;

const SOURCES: &str = "crates/metier/src/";
const ERRORS: &str = "crates/metier/src/error.rs";

/// With fewer public items or codes than this, the search for them failed.
const MIN_ITEMS: usize = 400;
const MIN_CODES: usize = 80;

/// A public item, and its doc comment.
struct PublicItem<'t> {
    /// Its file and line.
    place: String,
    /// The type that it belongs to, if it is in an `impl` block.
    owner: Option<String>,
    name: &'t str,
    docs: Vec<&'t str>,
}

/// Reports items without an example, and codes without a row.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let sources: Vec<(&str, &str)> = texts
        .iter()
        .filter(|(path, _)| path.starts_with(SOURCES) && path.ends_with(".rs"))
        .filter(|(path, _)| !path.ends_with("tests.rs"))
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let items: Vec<PublicItem<'_>> = sources
        .iter()
        .flat_map(|(path, text)| items(path, text))
        .collect();
    let codes: BTreeSet<&str> = sources.iter().flat_map(|(_, text)| codes(text)).collect();
    let mut problems = without_example(&items);
    problems.extend(without_row(&codes, &sources));
    if items.len() < MIN_ITEMS || codes.len() < MIN_CODES {
        let (items, codes) = (items.len(), codes.len());
        problems.push(format!(
            "{SOURCES}: only {items} public items and {codes} codes of errors: that can't be all"
        ));
    }
    problems
}

/// The public items of a file, in modules and in `impl` blocks of types.
fn items<'t>(path: &str, text: &'t str) -> Vec<PublicItem<'t>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut items = Vec::new();
    let (mut docs, mut owner) = (Vec::new(), None);
    let (mut is_left_out, mut is_attribute) = (false, false);
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if *line == "mod tests {" {
            break;
        }
        if line.starts_with("impl") {
            owner = owner_of(&lines[index..]);
        } else if *line == "}" {
            owner = None;
        }
        if let Some(doc) = trimmed.strip_prefix("///") {
            docs.push(doc.trim());
            continue;
        }
        if is_attribute || trimmed.starts_with("#[") {
            is_left_out |= trimmed.contains("doc(hidden)") || trimmed.contains("cfg(test)");
            is_attribute = !trimmed.ends_with(']');
            continue;
        }
        if let Some(name) = public_name(line, owner.is_some()).filter(|_| !is_left_out) {
            items.push(PublicItem {
                place: format!("{path}:{}", index + 1),
                owner: owner.clone().filter(|_| line.starts_with(' ')),
                name,
                docs: std::mem::take(&mut docs),
            });
        }
        docs.clear();
        is_left_out = false;
    }
    items
}

/// The type of an `impl` block that begins on the first line; none if a trait is implemented.
fn owner_of(lines: &[&str]) -> Option<String> {
    let end = lines.iter().position(|line| line.contains('{'))?;
    let header = lines[..=end].join(" ");
    let header = header.split('{').next()?.strip_prefix("impl")?;
    if header.contains(" for ") {
        return None;
    }
    let mut depth = 0_usize;
    let start = header.find(|c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c != '>' && c != ' '
    })?;
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let name = header[start..].split(|c: char| !part(c)).next()?;
    name.rsplit("::").next().map(str::to_owned)
}

/// The name, if a public item is defined on this line.
fn public_name(line: &str, in_impl: bool) -> Option<&str> {
    let inner = line.strip_prefix("    ").filter(|_| in_impl);
    let mut rest = inner.unwrap_or(line).strip_prefix("pub ")?;
    loop {
        let (word, after) = rest.split_once(' ')?;
        rest = after;
        match word {
            "fn" | "struct" | "enum" | "trait" | "type" | "static" | "union" => break,
            "const" if !rest.starts_with("fn ") && !rest.starts_with("unsafe ") => break,
            "const" | "async" | "unsafe" | "extern" | "\"C\"" => {}
            _ => return None,
        }
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&rest[..end.unwrap_or(rest.len())])
}

impl PublicItem<'_> {
    /// The name as links write it: `Type::method`.
    fn key(&self) -> String {
        let owner = self.owner.iter().map(|owner| format!("{owner}::"));
        owner.chain([self.name.to_owned()]).collect()
    }

    /// Whether its own comment contains code.
    fn has_code(&self) -> bool {
        let fences = self.docs.iter().filter_map(|line| line.strip_prefix("```"));
        // Every second one ends a block.
        fences.step_by(2).any(|language| language != "text")
    }

    /// The links in the sentences that announce an example, as keys: `Type::method` and the last part.
    fn announced(&self) -> Vec<String> {
        let own = self.owner.as_deref().unwrap_or(self.name);
        let mut keys = Vec::new();
        for sentence in sentences(&self.docs) {
            let mut words = sentence.split(|c: char| !c.is_alphanumeric());
            if !words.any(|word| matches!(word, "example" | "examples")) {
                continue;
            }
            for target in targets(&sentence) {
                let parts = target.trim_end_matches("()").split("::");
                let parts = parts.map(|part| if part == "Self" { own } else { part });
                let parts: Vec<&str> = parts.collect();
                keys.push(parts[parts.len().saturating_sub(2)..].join("::"));
                keys.extend(parts.last().map(|last| (*last).to_owned()));
            }
        }
        keys
    }
}

/// The sentences of a comment, without its code.
fn sentences(docs: &[&str]) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut in_code = false;
    for line in docs {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        if is_fence || in_code || line.is_empty() || line.starts_with('#') {
            paragraphs.push(String::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    let sentences = paragraphs
        .iter()
        .flat_map(|paragraph| paragraph.split(". "));
    sentences.map(str::to_owned).collect()
}

/// The targets of links to items: the label, or the path in brackets behind it.
fn targets(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split("[`").skip(1).filter_map(|link| {
        let (label, after) = link.split_once("`]")?;
        let explicit = after
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        Some(explicit.map_or(label, |(target, _)| target))
    })
}

/// The items without code of their own, and without a link to an item that has some.
fn without_example(items: &[PublicItem<'_>]) -> Vec<String> {
    let examples: BTreeSet<String> = items
        .iter()
        .filter(|item| item.has_code())
        .map(PublicItem::key)
        .collect();
    let mut problems = Vec::new();
    for item in items.iter().filter(|item| !item.has_code()) {
        let (place, key, announced) = (&item.place, item.key(), item.announced());
        if announced.iter().any(|target| examples.contains(target)) {
            continue;
        }
        problems.push(match announced.first() {
            None => format!("{place}: `{key}` has no example, and no link to one"),
            Some(target) => {
                format!("{place}: `{key}` announces an example at `{target}`, which has none")
            }
        });
    }
    problems
}

/// The codes of errors that a file creates: the first argument of `unmet` and `broken`.
fn codes(text: &str) -> Vec<&str> {
    let text = text.split("\nmod tests {").next().unwrap_or_default();
    let mut codes = Vec::new();
    for call in ["unmet(", "broken("] {
        for (at, _) in text.match_indices(call) {
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            let is_comment = line.trim_start().starts_with("//");
            let argument = text[at + call.len()..].trim_start();
            let literal = argument.strip_prefix('"');
            let code = literal.and_then(|rest| rest.split('"').next());
            let is_code = |code: &&str| {
                let mut letters = code.chars();
                letters.all(|c| c.is_ascii_lowercase() || c == '-') && !code.is_empty()
            };
            codes.extend(code.filter(is_code).filter(|_| !is_comment));
        }
    }
    codes
}

/// The codes that the table in the comment of `Error::code` does not explain.
fn without_row(codes: &BTreeSet<&str>, sources: &[(&str, &str)]) -> Vec<String> {
    let text = sources.iter().find(|(path, _)| *path == ERRORS);
    let rows: String = text
        .map_or("", |(_, text)| text)
        .lines()
        .filter(|line| line.trim_start().starts_with("/// | `"))
        .collect();
    let codes = codes
        .iter()
        .filter(|code| !rows.contains(&format!("`{code}`")));
    codes
        .map(|code| format!("{ERRORS}: the tables of codes have no row for `{code}`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let found = items("a.rs", text);
        found.iter().map(PublicItem::key).collect()
    }

    #[track_caller]
    fn check_docs(docs: &str, expected: &[&str]) {
        let good = "/// ```\n/// good();\n/// ```\npub fn good() {}\n";
        let text =
            format!("{good}pub struct Bare;\nimpl Owner {{\n{docs}    pub fn item() {{}}\n}}\n");
        let found = items("a.rs", &text);
        let found = found.into_iter().filter(|item| item.name != "Bare");
        let problems = without_example(&found.collect::<Vec<_>>());
        assert_eq!(problems, expected, "{docs}");
    }

    #[test]
    fn public_items_are_found_in_modules_and_in_impl_blocks_of_types() {
        let text = "pub struct A;\n\nimpl<'a> b::A<'a> {\n    pub const fn f() {}\n    pub const N: u8 = 0;\n    fn g() {}\n}\n\
             impl<T: Into<u8>> A<T>\nwhere\n    T: Copy,\n{\n    pub(crate) fn h() {}\n    pub async fn i() {}\n}\n\
             impl From<u8> for A {\n    fn from() {}\n}\npub(crate) struct C;\npub use d::D;\npub mod e;\npub type F = u8;\n\
             #[cfg(test)]\nmod tests {\n    pub fn t() {}\n}\n";
        assert_eq!(keys(text), ["A", "A::f", "A::N", "A::i", "F"]);
    }

    #[test]
    fn fields_and_hidden_items_do_not_count() {
        let text = "#[derive(\n    Clone,\n)]\npub struct A {\n    pub field: u8,\n}\n#[doc(hidden)]\npub fn f() {}\n#[cfg(test)]\npub fn g() {}\npub fn h() {}\n";
        assert_eq!(keys(text), ["A", "h"]);
    }

    #[test]
    fn an_item_has_code_or_announces_an_example() {
        check_docs("    /// ```no_run\n    /// f();\n    /// ```\n", &[]);
        check_docs("    /// Does it. An example is at [`good`].\n", &[]);
        check_docs(
            "    /// Does it.\n    ///\n    /// See\n    /// [`it`](crate::a::good), with examples.\n",
            &[],
        );
    }

    #[test]
    fn an_item_without_an_example_is_reported() {
        let missing = ["a.rs:8: `Owner::item` has no example, and no link to one"];
        check_docs("    /// Does it.\n", &missing);
        check_docs("    /// As [`good`]. An example is missing.\n", &missing);
        check_docs("    /// An example:\n    /// [`good`] or not\n", &[]);
        check_docs("    /// As [`good`].\n", &missing);
    }

    #[test]
    fn a_link_to_an_item_without_code_is_reported() {
        let nowhere = ["a.rs:8: `Owner::item` announces an example at `Bare`, which has none"];
        check_docs("    /// An example is at [`Bare`].\n", &nowhere);
        let own = ["a.rs:8: `Owner::item` announces an example at `Owner::item`, which has none"];
        check_docs("    /// An example is at [`Self::item`].\n", &own);
    }

    #[test]
    fn text_between_fences_is_not_an_example() {
        let picture = "    /// ```text\n    /// a → b\n    /// ```\n";
        let text = format!("impl A {{\n{picture}    pub fn f() {{}}\n}}\n");
        assert_eq!(without_example(&items("a.rs", &text)).len(), 1);
    }

    #[test]
    fn a_code_without_a_row_is_reported() {
        let errors = "/// | `gone`, `denied` | it is not there |\n";
        let other = "Error::unmet(\"denied\", \"no\");\nError::broken(\n    \"lost\",\n    \"no\",\n);\n// unmet(\"no\", x)\nunmet(\"two words\");\n";
        let sources = [(ERRORS, errors), ("crates/metier/src/a.rs", other)];
        let found: BTreeSet<&str> = sources.iter().flat_map(|(_, text)| codes(text)).collect();
        let problem = format!("{ERRORS}: the tables of codes have no row for `lost`");
        assert_eq!(without_row(&found, &sources), [problem]);
    }

    #[test]
    fn a_library_without_items_is_reported() {
        assert_eq!(check(&[]).len(), 1);
    }
}
