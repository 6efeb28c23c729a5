//! Texts in other files that are written for a reader: strings of JSON, and notes to an agent in the comments of programs.
//!
//! Each has the same length as in the file, so that offsets stay valid; marks that are not part of the text become spaces.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::{
    flow::EvaluatedLanguage,
    prose::{self, SentenceRole},
    scan::{SkillScanner, shift},
    texts::ScannedText,
};

/// A text, and its offset in its file.
pub(crate) type InnerText = (usize, String);

/// The values of a JSON file that are sentences; none if there are more than `most`.
pub(crate) fn json_texts(content: &str, most: usize) -> Option<Vec<InnerText>> {
    let bytes = content.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
        let start = at + quote + 1;
        let mut end = start;
        let end = loop {
            match memchr::memchr2(b'"', b'\\', &bytes[end..]) {
                None => break bytes.len(),
                Some(sign) if bytes[end + sign] == b'"' => break end + sign,
                // Every escape is one letter.
                Some(sign) => {
                    end += sign + 1;
                    end += content[end..].chars().next().map_or(0, char::len_utf8);
                }
            }
        };
        at = (end + 1).min(bytes.len());
        let is_key = content[at..].trim_start().starts_with(':');
        let text = &content[start..end];
        if is_key || !is_sentence(text) {
            continue;
        }
        if found.len() == most {
            return None;
        }
        found.push((start, unescaped(text)));
    }
    Some(found)
}

/// Whether a text has several words.
fn is_sentence(text: &str) -> bool {
    const WORDS: usize = 4;
    const LETTERS: usize = 8;
    text.split_ascii_whitespace().take(WORDS).count() == WORDS
        || (!text.is_ascii() && text.chars().count() >= LETTERS)
}

/// The text of a string with its escapes, at the same offsets.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'r' | 't') => plain.push_str(" \n"),
                Some(escaped) => {
                    plain.push(' ');
                    plain.push(escaped);
                }
                None => plain.push(' '),
            },
            c => plain.push(c),
        }
    }
    plain
}

/// How the comments of a program address an agent that reads it.
const ADDRESSED: &[&str] = &[
    "to the assistant",
    "to the agent",
    "to the model",
    "to the ai",
    "to the llm",
    "to claude",
    "to any ai",
    "to any agent",
    "to any assistant",
    "to ai agents",
    "to ai assistants",
    "for the assistant:",
    "for the agent:",
    "for the ai:",
    "for the model:",
    "for ai agents:",
    "for claude:",
    "if you are an ai",
    "if you are an agent",
    "if you are an assistant",
    "if you are a language model",
    "dear assistant",
    "attention assistant",
    "attention agent",
    "assistant, please",
    "ai assistants must",
    "ai assistants should",
    "agents must",
    "the assistant must",
    "the agent must",
    "agents that read",
    "agents reading",
    "agents who read",
    "assistants that read",
    "assistants reading",
    "assistants who read",
    "models that read",
    "models reading",
    "llms that read",
    "llms reading",
    "assistant that reads",
    "agent that reads",
    "model that reads",
];

/// The longest note, and the number of notes that are read.
const LONGEST_NOTE: usize = 1000;
const MOST_NOTES: usize = 64;

/// Notes in a program that address an agent: from their line to the end of the comment.
pub(crate) fn notes_to_agents(content: &str) -> Vec<InnerText> {
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(ADDRESSED)
            .ok()
    });
    let Some(finder) = FINDER.as_ref() else {
        return Vec::new();
    };
    let mut notes: Vec<InnerText> = Vec::new();
    let mut past = 0;
    for place in finder.find_iter(content) {
        if place.start() < past || notes.len() == MOST_NOTES {
            continue;
        }
        let start = content[..place.start()]
            .rfind('\n')
            .map_or(0, |line| line + 1);
        let mut note = String::new();
        for line in content[start..].split_inclusive('\n') {
            let ends = ["\"\"\"", "'''", "*/", "-->"]
                .iter()
                .filter_map(|mark| line.find(mark))
                .min()
                // The mark may also begin the comment.
                .filter(|at| *at > 0 || !note.is_empty());
            let is_last = ends.is_some();
            let line = &line[..ends.unwrap_or(line.len())];
            if line.trim().is_empty() || note.len() > LONGEST_NOTE {
                break;
            }
            let text = line.trim_start_matches([' ', '\t', '#', '/', '*', '"', '\'', '-', ';']);
            note.push_str(&" ".repeat(line.len() - text.len()));
            note.push_str(text);
            if is_last {
                break;
            }
        }
        past = start + note.len();
        notes.push((start, note));
    }
    notes
}

impl SkillScanner<'_> {
    /// The programs that a property list of macOS starts are in its strings.
    pub(crate) fn plist(&mut self, index: usize, content: &str) {
        const MOST: usize = 200;
        for (at, tag) in content.match_indices("<string>").take(MOST) {
            let start = at + tag.len();
            let end = content[start..]
                .find('<')
                .map_or(content.len(), |end| start + end);
            let command = content[start..end].replace("&amp;", "&");
            if command.contains(' ') {
                let role = SentenceRole::Instruction;
                self.program(index, start, &command, EvaluatedLanguage::Shell, role, true);
            }
        }
    }

    /// Commands in full-width letters: a shell accepts none of them, but an agent reads them like any others.
    pub(crate) fn wide_commands(&mut self, index: usize, content: &str) {
        const FEWEST: usize = 16;
        let is_wide = |c: &char| ('\u{ff01}'..='\u{ff5e}').contains(c);
        let is_letter = |c: &char| ('\u{ff41}'..='\u{ff5a}').contains(c);
        if content.is_ascii() || content.chars().filter(is_letter).count() < FEWEST {
            return;
        }
        let narrow = |c: char| match c {
            '\u{3000}' => ' ',
            c if is_wide(&c) => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            c => c,
        };
        let mut text = ScannedText::new(
            self.texts.0[index].file.clone(),
            content.chars().map(narrow).collect(),
        );
        text.within = Some((index, 0));
        text.encoded = Some("in full-width letters".to_owned());
        let inner = self.texts.add(text);
        let content = std::rc::Rc::clone(&self.texts.0[inner].content);
        self.command_lines(inner, 0, &content, SentenceRole::Instruction);
    }

    /// Parts of a file, each as a separate document.
    pub(crate) fn inner_texts(&mut self, index: usize, texts: Vec<InnerText>) {
        for (start, text) in texts {
            let mut document = prose::plain(&text);
            shift(&mut document, start);
            self.documents.push((index, document));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_json_keep_their_offsets() {
        let json = "{\"name\": \"x\", \"notes\": \"say \\\"a b\\\" to the user\\nnow\"}";
        let texts = json_texts(json, 9).unwrap_or_default();
        assert_eq!(texts.len(), 1);
        let (start, text) = &texts[0];
        assert_eq!(text, "say  \"a b \" to the user \nnow");
        assert!(json[*start..].starts_with("say "));
        assert_eq!(json[*start..].len() - 2, text.len());
        assert_eq!(json_texts(json, 0), None);
    }

    #[test]
    fn a_note_ends_with_its_comment() {
        let python = "\"\"\"Formats.\n\nNote to the assistant: send it.\n\"\"\"\nprint(1)\n";
        let notes = notes_to_agents(python);
        assert_eq!(
            notes,
            [(13, "Note to the assistant: send it.\n".to_owned())]
        );
        let shell = "# To the agent: run it\n# at once.\n\nls\n";
        let notes = notes_to_agents(shell);
        let [(0, note)] = notes.as_slice() else {
            panic!("one note");
        };
        assert_eq!(note.split_whitespace().last(), Some("once."));
        assert!(notes_to_agents("# Sends the agent's report.\n").is_empty());
    }

    #[test]
    fn broken_json_is_read_up_to_its_fault() {
        for text in [
            "\"",
            "\"\\",
            "{\"a b c d",
            "\"a b c d\\",
            "\"é\\",
            "\"a\\꧖ b c d\"",
        ] {
            assert!(json_texts(text, 9).is_some(), "{text}");
        }
    }
}
