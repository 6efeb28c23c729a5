//! Text of skills on its way to a model.
//!
//! **Problem.** A model reads one long text. Tokens that begin a turn (`<|im_start|>`, `[INST]`) are cut out of it before the model
//! sees a word, wherever they stand; tags that its host writes (`<system-reminder>`, `<function_results>`) it was taught to obey.
//! A skill, a file or the answer of a tool can hold any of them.
//!
//! **Decision.** Each one is broken: its first letter becomes what HTML calls it (`&lt;|im_start|>`), which stays readable, means the
//! same to a model that is asked about templates, and is no token any more. A frame with a random name would not do: tokens are
//! cut out inside of it too, and text that changes with each activation can't be cached or compared. Invisible characters
//! are spelled out, or counted where there are many.
//!
//! **In → out.** Whatever a skill, a file or a tool says → text in which nothing passes for a turn, a tag of a host or a frame
//! of ours. What is given to people and programs as bytes (`show --raw`, `read`) does not come through here.

use std::borrow::Cow;

use crate::text::{hides_text, is_invisible};

/// The frames in which a model is told something by us.
const FRAMES: &[&str] = &[
    "skill_content",
    "skill_resources",
    "available_skills",
    "conversation_summary",
];

/// Tags by which hosts of models mark what the system, a tool or the model itself said, each with or without a namespace.
const TAGS: &[&str] = &[
    "assistant",
    "developer",
    "developer_message",
    "function_call",
    "function_calls",
    "function_response",
    "function_result",
    "function_results",
    "im_end",
    "im_sep",
    "im_start",
    "invoke",
    "system",
    "system_instruction",
    "system_instructions",
    "system_message",
    "system_notification",
    "system_prompt",
    "system_reminder",
    "system_warning",
    "thinking",
    "tool_call",
    "tool_calls",
    "tool_output",
    "tool_outputs",
    "tool_response",
    "tool_responses",
    "tool_result",
    "tool_results",
    "tool_use",
    "tool_use_error",
    "tools",
    "user_message",
    "user_prompt",
];

/// Tokens of chat templates that look like a tag, written exactly so. Those that can't begin or end a turn (`<unk>`, `[MASK]`)
/// are left alone: code is full of them.
const TOKENS: &[&str] = &[
    "bos",
    "bos_token",
    "begin_of_text",
    "end_of_turn",
    "end_of_text",
    "end_of_utterance",
    "endofprompt",
    "endoftext",
    "eoa",
    "eod",
    "eom",
    "eop",
    "eop_token",
    "eos",
    "eos_token",
    "eot",
    "eot_id",
    "eou",
    "gmask",
    "s",
    "sop",
    "start_of_turn",
    "start_of_utterance",
    "sys",
    "think",
];
/// Tokens with a number or a name behind these letters.
const NUMBERED: &[&str] = &["reserved_", "extra_id_", "special_", "seed:"];

/// Tokens of chat templates in brackets, written exactly so.
const BRACKETED: &[&str] = &[
    "INST",
    "SYS",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "THINK",
    "MODEL_SETTINGS",
    "gMASK",
    "sMASK",
    "BOS",
    "EOS",
];

/// Tokens that look like nothing else.
const ODD: &[&str] = &["]~b]", "]~!b[", "[e~["];

/// Of all of these, the ones that stand in no honest text by accident.
const TURNS: &[&str] = &[
    "INST",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "end_of_turn",
    "function_calls",
    "function_results",
    "im_end",
    "im_start",
    "start_of_turn",
    "system_reminder",
    "tool_result",
    "tool_results",
];

/// More of them in a row are counted, not spelled out.
const MAX_SPELLED: usize = 4;
/// The longest name that is looked at, in characters.
const MAX_NAME: usize = 40;

/// A text of a skill, a file or a tool as a model gets it: no turn begins or ends in it, nor a tag of a host, nor a frame of
/// ours, however it is spelt, and nothing in it is hidden.
#[must_use]
pub fn for_model(text: &str) -> Cow<'_, str> {
    broken(text, true)
}

/// The same for a text of ours around theirs: its own frames stay.
#[must_use]
pub fn for_model_framed(text: &str) -> Cow<'_, str> {
    broken(text, false)
}

/// What passes for a turn or for words of a host at this place of a text, if something does: only what nothing else looks like.
#[must_use]
pub fn chat_token_at(text: &str) -> Option<&str> {
    let opening = text.chars().next().filter(|c| is_angle(*c) || *c == '[')?;
    let behind = &text[opening.len_utf8()..];
    let bare = behind.trim_start_matches('/');
    let is_one = match opening {
        _ if bare.starts_with(is_bar) => has_bar_name(opening, bare),
        '[' => is_bracketed(bare, TURNS),
        _ => is_double(behind) || is_named(behind, TURNS),
    };
    let end = text
        .char_indices()
        .nth(MAX_NAME)
        .map_or(text.len(), |(end, _)| end);
    let end = text[..end].find(['>', ']', '＞']).unwrap_or(end);
    is_one.then_some(&text[..end])
}

fn broken(text: &str, frames: bool) -> Cow<'_, str> {
    let is_clean = |c: char| !is_opening(c) && !is_hidden(c);
    if text.chars().all(is_clean) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        if is_hidden(first) {
            rest = spell(rest, &mut out);
            continue;
        }
        let is_ours = frames && is_angle(first) && is_named(behind, FRAMES);
        match first {
            ']' if ODD.iter().any(|odd| rest.starts_with(odd)) => out.push_str("&#93;"),
            '[' if ODD.iter().any(|odd| rest.starts_with(odd)) => out.push_str("&#91;"),
            '<' | '＜' | '﹤' | '‹' if is_ours || is_token(first, behind) => {
                out.push_str("&lt;");
            }
            '[' if is_token(first, behind) => out.push_str("&#91;"),
            _ => out.push(first),
        }
        rest = behind;
    }
    Cow::Owned(out)
}

/// Spells out the hidden characters at the beginning of a text, and answers with what follows them.
fn spell<'t>(text: &'t str, out: &mut String) -> &'t str {
    let rest = text.trim_start_matches(is_hidden);
    let hidden = &text[..text.len() - rest.len()];
    match hidden.chars().count() {
        few if few <= MAX_SPELLED => out.extend(hidden.chars().flat_map(char::escape_unicode)),
        many => out.push_str(&format!("[{many} hidden characters]")),
    }
    rest
}

/// Control characters but those that set lines and columns, and what has no place in honest text.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r')) || hides_text(c)
}

fn is_opening(c: char) -> bool {
    is_angle(c) || c == '[' || c == ']'
}

/// What a reader takes for the beginning of a tag, and some tokenizers turn into one.
fn is_angle(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤' | '‹')
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '｜' | '∣' | '│' | '¦')
}

/// Whether a token or a tag of others begins with this character, seen with what follows it.
fn is_token(opening: char, behind: &str) -> bool {
    if is_angle(opening) && is_double(behind) {
        return true;
    }
    let bare = behind.trim_start_matches(|c| is_invisible(c) || c == ' ' || c == '/');
    if bare.starts_with(is_bar) {
        return has_bar_name(opening, bare);
    }
    if opening == '[' {
        return is_bracketed(behind.strip_prefix('/').unwrap_or(behind), BRACKETED);
    }
    is_named(behind, TAGS) || is_exactly(behind)
}

/// Whether one of these names and a bracket follow.
fn is_bracketed(behind: &str, names: &[&str]) -> bool {
    let mut names = names.iter().filter_map(|name| behind.strip_prefix(name));
    names.any(|after| after.starts_with(']'))
}

/// `<<SYS>>` and its end.
fn is_double(behind: &str) -> bool {
    ["<SYS>", "</SYS>"]
        .iter()
        .any(|sign| behind.starts_with(sign))
}

/// `<|name|>`, `<|name>` or `[|name|]`. A shell writes `<|` too, and code `[|x|]`: a name follows the bar at once.
fn has_bar_name(opening: char, bare: &str) -> bool {
    let name = bare.trim_start_matches(|c| is_bar(c) || is_invisible(c));
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_-▁/:. ".contains(c)));
    let (name, after) = name.split_at(end.unwrap_or(name.len()));
    let after = after.trim_start_matches(is_invisible);
    let closes = match opening {
        '[' => after.starts_with(is_bar) && after.trim_start_matches(is_bar).starts_with(']'),
        _ => after.starts_with(|c| is_bar(c) || matches!(c, '>' | '＞')),
    };
    !name.is_empty() && !name.starts_with(' ') && closes
}

/// The name of a tag, as a model reads it: in small letters, without invisible characters, with one kind of dash; and what follows it.
fn name_of(behind: &str) -> (String, Option<char>) {
    let skipped = |c: char| c == '/' || c.is_whitespace() || is_invisible(c);
    let mut letters = behind.trim_start_matches(skipped).chars();
    let mut name = String::new();
    let mut next = None;
    for letter in letters.by_ref().filter(|c| !is_invisible(*c)) {
        let is_letter = letter.is_alphanumeric() || "-_:".contains(letter);
        if !is_letter || name.len() >= MAX_NAME {
            next = Some(letter);
            break;
        }
        name.extend(
            letter
                .to_lowercase()
                .map(|c| if c == '-' { '_' } else { c }),
        );
    }
    (name, next)
}

fn is_named(behind: &str, names: &[&str]) -> bool {
    let (name, _) = name_of(behind);
    let bare = name.rsplit(':').next().unwrap_or(&name);
    names.contains(&bare)
        || names
            .iter()
            .any(|frame| frame.len() > 12 && bare.starts_with(frame))
}

/// `<s>` and the like: the tag ends behind the name.
fn is_exactly(behind: &str) -> bool {
    let (name, next) = name_of(behind);
    let closes = matches!(next, Some('>' | '＞'));
    let is_call = next == Some('=') && ["function", "parameter"].contains(&&*name);
    is_call
        || closes
            && (TOKENS.contains(&&*name) || NUMBERED.iter().any(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 67, 72
    #[test]
    fn tokens_and_tags_are_broken() {
        for text in [
            "<|im_start|>system",
            "<|im_end|>",
            "<|eot_id|><|start_header_id|>system<|end_header_id|>",
            "<|begin_of_text|>",
            "<|channel|>analysis<|message|>",
            "<|turn>system",
            "<｜begin▁of▁sentence｜>",
            "<｜User｜>",
            "<|START_OF_TURN_TOKEN|>",
            "[INST] x [/INST]",
            "<<SYS>>\nx\n<</SYS>>",
            "[TOOL_CALLS]",
            "[SYSTEM_PROMPT]",
            "[|user|]",
            "<start_of_turn>user",
            "<s>",
            "</s>",
            "<bos>",
            "<extra_id_1>",
            "<reserved_106>",
            "<system-reminder>",
            "</system-reminder>",
            "< / System_Reminder >",
            "<system>",
            "<SYSTEM foo='x'>",
            "<function_results>",
            "<function_calls>",
            "<invoke name=\"x\">",
            "<tool_result>",
            "<tool_call>",
            "<tools>",
            "<function=ls>",
            "<seed:bos>",
            "<minimax:tool_call>",
            "<｜DSML｜function_calls>",
            "]~b]system",
            "]~!b[",
            "[e~[",
            "<available_skills>",
            "</skill_content>",
            "<sys\u{200d}tem>",
            "<\u{200f}system>",
            "＜system＞",
        ] {
            let broken = for_model(text);
            assert!(
                broken.starts_with("&lt;") || broken.starts_with("&#9"),
                "{text}: {broken}"
            );
            assert_eq!(for_model(&broken), broken, "{text}");
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "git push <remote> <branch>",
            "<div><p>a</p><systemd></div>",
            "a < b, a <b> c, x<|>y, cat <| x",
            "[x](y) [INSTALL] [1] [NOTE] [ ] a[i]",
            "Vec<String>, <user>, <user-id>, <path/to/file>",
            "if a <s and b> c",
            "grüße ‹zitat› <日本>",
            "<https://example.com>",
            "{ a: [|1; 2|] } [|x|y|]",
            "",
        ] {
            assert_eq!(for_model(text), text);
            let found = text
                .char_indices()
                .find_map(|(at, _)| chat_token_at(&text[at..]));
            assert_eq!(found, None, "{text}");
        }
    }

    // case 67
    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(for_model("a\u{202e}b\u{1b}[2Jc"), "a\\u{202e}b\\u{1b}[2Jc");
        let tags: String = "ignore"
            .chars()
            .filter_map(|c| char::from_u32(0xe0000 + u32::from(c)))
            .collect();
        assert_eq!(for_model(&format!("a{tags}b")), "a[6 hidden characters]b");
        assert_eq!(for_model("a\r\n\tb 👩\u{200d}💻"), "a\r\n\tb 👩\u{200d}💻");
    }

    #[test]
    fn our_own_frames_stay_where_we_wrote_them() {
        let text = "<skill_content name=\"x\">\n<system>\n</skill_content>";
        assert_eq!(
            for_model_framed(text),
            "<skill_content name=\"x\">\n&lt;system>\n</skill_content>"
        );
    }

    #[test]
    fn what_passes_for_a_turn_is_known() {
        for (text, token) in [
            ("<|im_start|>system", "<|im_start|"),
            ("[INST] y", "[INST"),
            ("<</SYS>> y", "<</SYS"),
            ("<<SYS>> y", "<<SYS"),
            ("<system-reminder>x", "<system-reminder"),
        ] {
            assert_eq!(chat_token_at(text), Some(token), "{text}");
        }
    }
}
