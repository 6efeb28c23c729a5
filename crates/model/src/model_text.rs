//! Makes foreign text safe for a model.
//!
//! **Problem.** A model reads one long text. Tokens that begin a turn (`<|im_start|>`, `[INST]`) are recognised by
//! its tokenizer wherever they are; models are trained to obey the tags of their host (`<system-reminder>`,
//! `<function_results>`). A skill, a file or the output of a tool can contain any of them.
//!
//! **Decision.** Each one is escaped: its first character becomes an HTML entity (`&lt;|im_start|>`), which stays
//! readable, means the same to a model that is asked about templates, and is no longer a token. Names are compared as
//! a model reads them: with compatible and look-alike letters folded. A frame with a random name would not help:
//! tokens inside it are recognised too, and text that changes with each activation can't be cached or compared.
//! Invisible characters are spelled out, or counted if there are many.
//!
//! **In → out.** Text of a skill, a file or a tool → text without turns, host tags or metier's frames. Output that people
//! and programs get as bytes (`show --raw`, `read`) does not pass through here.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::chat_tokens::{
    BRACKETED, COUNTED, FRAMES, NUMBERED, ODD, TAGS, TOKENS, TURNS, UNDERLINED,
};
use crate::confusables::prototype;
use crate::text::{hides_text, is_invisible};

/// Longer runs of hidden characters are counted, not spelled out.
const MAX_SPELLED: usize = 4;
/// The maximum length of a name that is checked, in characters.
const MAX_NAME: usize = 40;

/// Foreign text as a model gets it: it contains no turn, no host tag and none of metier's frames, in any spelling,
/// and nothing is hidden.
#[must_use]
pub fn for_model(text: &str) -> Cow<'_, str> {
    broken(text, true)
}

/// [`for_model`] for metier's text around foreign text: metier's frames are kept.
#[must_use]
pub fn for_model_framed(text: &str) -> Cow<'_, str> {
    broken(text, false)
}

/// The token or host tag at the start of a string, if it is one that can't be anything else.
#[must_use]
pub fn chat_token_at(text: &str) -> Option<&str> {
    let opening = text
        .chars()
        .next()
        .filter(|c| is_angle(*c) || is_square(*c))?;
    let behind = &text[opening.len_utf8()..];
    let bare = behind.trim_start_matches('/');
    let is_one = match opening {
        _ if bare.starts_with(is_bar) => has_bar_name(opening, bare),
        _ if is_square(opening) => is_bracketed(bare, TURNS),
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
            _ if is_angle(first) && (is_ours || is_token(first, behind)) => out.push_str("&lt;"),
            _ if is_square(first) && is_token(first, behind) => out.push_str("&#91;"),
            _ => out.push(first),
        }
        rest = behind;
    }
    Cow::Owned(out)
}

/// Spells out the hidden characters at the start of a string, and returns the rest.
fn spell<'t>(text: &'t str, out: &mut String) -> &'t str {
    let rest = text.trim_start_matches(is_hidden);
    let hidden = &text[..text.len() - rest.len()];
    match hidden.chars().count() {
        few if few <= MAX_SPELLED => out.extend(hidden.chars().flat_map(char::escape_unicode)),
        many => out.push_str(&format!("[{many} hidden characters]")),
    }
    rest
}

/// Control characters except those that set lines and columns, characters that never occur in honest text, and
/// invisible characters that split a word or a line.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || hides_text(c)
        || matches!(c, '\u{ad}' | '\u{2028}' | '\u{2029}')
}

fn is_opening(c: char) -> bool {
    is_angle(c) || is_square(c) || c == ']'
}

/// Whether a reader treats the character as the start of a tag, or some tokenizers convert it to one.
fn is_angle(c: char) -> bool {
    matches!(
        c,
        '<' | '＜' | '﹤' | '‹' | '〈' | '\u{2329}' | '⟨' | '❮' | '《' | '≪' | '˂' | 'ᐸ'
    )
}

/// Whether a reader treats the character as the end of a tag.
fn is_angle_end(c: char) -> bool {
    matches!(
        c,
        '>' | '＞' | '﹥' | '›' | '〉' | '\u{232a}' | '⟩' | '❯' | '》' | '≫' | '˃' | 'ᐳ'
    )
}

fn is_square(c: char) -> bool {
    matches!(c, '[' | '［' | '【' | '〔')
}

fn is_square_end(c: char) -> bool {
    matches!(c, ']' | '］' | '】' | '〕')
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '｜' | '∣' | '│' | '┃' | '❘' | 'ǀ' | '¦')
}

/// Whether a token or a foreign tag starts with this character, given the text after it.
fn is_token(opening: char, behind: &str) -> bool {
    if is_angle(opening) && is_double(behind) {
        return true;
    }
    let bare = behind.trim_start_matches(|c| is_invisible(c) || c == ' ' || c == '/');
    if bare.starts_with(is_bar) {
        return has_bar_name(opening, bare);
    }
    if is_square(opening) {
        return is_bracketed(behind.strip_prefix('/').unwrap_or(behind), BRACKETED);
    }
    is_named(behind, TAGS) || is_exactly(behind) || is_inside_out(behind)
}

/// Whether one of these names, or a counted one, and a bracket follow.
fn is_bracketed(behind: &str, names: &[&str]) -> bool {
    let shown = behind.chars().take(MAX_NAME).filter(|c| !is_invisible(*c));
    let folded: String = shown.nfkc().collect();
    let Some(end) = folded.find(is_square_end) else {
        return false;
    };
    names.contains(&&folded[..end]) || is_counted(&folded[..end])
}

/// A name such as `unused12`.
fn is_counted(name: &str) -> bool {
    let numbers = COUNTED.iter().filter_map(|start| name.strip_prefix(start));
    let mut numbers = numbers.filter(|number| !number.is_empty());
    numbers.any(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `<<SYS>>`, `<<INST>>` and their ends.
fn is_double(behind: &str) -> bool {
    let Some(second) = behind.chars().next().filter(|c| is_angle(*c)) else {
        return false;
    };
    let inner = &behind[second.len_utf8()..];
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    ["SYS", "INST"].iter().any(|name| {
        inner
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(is_angle_end))
    })
}

/// The form `<]name[>`.
fn is_inside_out(behind: &str) -> bool {
    let Some(inner) = behind.strip_prefix(is_square_end) else {
        return false;
    };
    let name = inner.trim_start_matches(|c: char| c.is_alphanumeric() || "_-".contains(c));
    name.len() < inner.len()
        && name
            .strip_prefix(is_square)
            .is_some_and(|rest| rest.starts_with(is_angle_end))
}

/// `<|name|>`, `<|name>`, `<|"|>` or `[|name|]`. A shell uses `<|` too, and code `[|x|]`: here a name directly
/// follows the bar.
fn has_bar_name(opening: char, bare: &str) -> bool {
    let name = bare.trim_start_matches(|c| is_bar(c) || is_invisible(c));
    if is_angle(opening) && is_quoted(name) {
        return true;
    }
    let is_part = |c: char| {
        c.is_alphanumeric() || is_combining_mark(c) || is_invisible(c) || "_-▁/:. ＿".contains(c)
    };
    let end = name.find(|c: char| !is_part(c));
    let (name, after) = name.split_at(end.unwrap_or(name.len()));
    let closes = match is_square(opening) {
        true => {
            after.starts_with(is_bar) && after.trim_start_matches(is_bar).starts_with(is_square_end)
        }
        false => after.starts_with(|c| is_bar(c) || is_angle_end(c)),
    };
    !name.is_empty() && !name.starts_with(' ') && closes
}

/// One character before another bar.
fn is_quoted(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_punctuation())
        && letters.next().is_some_and(is_bar)
        && letters.next().is_some_and(is_angle_end)
}

/// The name of a tag, as a model reads it, and what follows it.
struct TagName {
    /// In lower case, without invisible characters and marks, with one kind of dash.
    full: String,
    next: Option<char>,
    /// Whether a bar and the end follow: `<name|>`.
    ends_with_bar: bool,
    /// Whether it is written `LikeThis`, as types are in code.
    camel: bool,
}

fn name_of(behind: &str) -> TagName {
    let skipped = |c: char| c == '/' || c.is_whitespace() || is_invisible(c);
    let mut letters = behind
        .trim_start_matches(skipped)
        .chars()
        .filter(|c| !is_invisible(*c));
    let mut full = String::new();
    let mut next = None;
    let (mut small, mut capital) = (false, false);
    for letter in letters.by_ref() {
        let dash = matches!(letter, '-' | '_' | '＿' | '－' | '‐'..='―' | '−');
        let is_part =
            dash || letter == ':' || letter.is_alphanumeric() || is_combining_mark(letter);
        if !is_part || full.len() >= MAX_NAME {
            next = Some(letter);
            break;
        }
        small |= letter.is_lowercase();
        capital |= letter.is_uppercase();
        match dash {
            true => full.push('_'),
            false => full.extend(folded(letter)),
        }
    }
    let ends_with_bar =
        !full.is_empty() && next.is_some_and(is_bar) && letters.next().is_some_and(is_angle_end);
    TagName {
        full,
        next,
        ends_with_bar,
        camel: small && capital,
    }
}

/// A letter as lower-case ASCII if it is compatible with one or looks like one; nothing for a mark.
fn folded(letter: char) -> impl Iterator<Item = char> {
    std::iter::once(letter)
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .map(|c| prototype(c).unwrap_or(c))
        .flat_map(char::to_lowercase)
}

/// Whether two names differ only in dashes.
fn is_same(known: &str, name: &str) -> bool {
    let known = known.chars().filter(|c| *c != '_');
    known.eq(name.chars().filter(|c| *c != '_'))
}

fn is_named(behind: &str, names: &[&str]) -> bool {
    let TagName { full, camel, .. } = name_of(behind);
    let bare = full.rsplit(':').next().unwrap_or(&full);
    let joined = full.replace(':', "_");
    // `Vec<ToolCall>` is code, but `SystemPrompt` is only used for a tag.
    let fits = |known: &&str| match camel && !known.starts_with("system") {
        true => **known == *bare,
        false => is_same(known, bare) || is_same(known, &joined),
    };
    names.iter().any(fits)
        || names
            .iter()
            .any(|frame| frame.len() > 12 && bare.starts_with(frame))
        || (full.contains(':') && bare == "parameter")
}

/// Tags such as `<s>`, which end after the name.
fn is_exactly(behind: &str) -> bool {
    let TagName {
        full,
        next,
        ends_with_bar,
        ..
    } = name_of(behind);
    let bare = full.rsplit(':').next().unwrap_or(&full);
    let is_call = next == Some('=') && ["function", "parameter"].contains(&&*full);
    let is_known = || {
        TOKENS.iter().any(|token| is_same(token, bare))
            || UNDERLINED.contains(&&*full)
            || NUMBERED.iter().any(|start| full.starts_with(start))
            || is_counted(&full)
    };
    ends_with_bar || is_call || (next.is_some_and(is_angle_end) && is_known())
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
            "<turn|>",
            "</tool_response|>",
            "<|\"|>",
            "[unused12]",
            "<unused7>",
            "<ctrl99>",
            "<]minimax[>",
            "<mm:think>",
            "<_user>",
            "<用户>",
            "<TOOLCALL>",
            "<start_function_call>",
            "<user-prompt-submit-hook>",
            "<command-name>",
            "<local-command-stdout>",
            "<environment_context>",
            "<systemPrompt>",
            "<toolresult>",
            "<system:reminder>",
            "<system\u{2011}reminder>",
            "<ｓｙｓｔｅｍ>",
            "<systеm>",
            "<sуstem-reminder>",
            "<s\u{301}ystem>",
            "<𝐬𝐲𝐬𝐭𝐞𝐦>",
            "〈system〉",
            "⟨system⟩",
            "≪SYS≫",
            "<<INST>>",
            "［INST］",
            "【INST】",
            "<|ｉｍ＿ｓｔａｒｔ|>",
            "<|im\u{ad}_start|>",
            "<｜im_start｜＞",
            "<x:parameter name=\"x\">",
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
            "<unused> <unused_name> <ctrl> [unused] <user> <_> <a|b> x <y| z",
            "<parameter> <function> [ARGS] [OPTIONS] 【注意】 《书名》",
            "f <| g |> h, a <|> b",
            "Vec<ToolCall>, Promise<ToolResult>, <UserInfo user={user} />",
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
        assert_eq!(
            for_model("sys\u{ad}tem\u{2028}x\u{2029}"),
            "sys\\u{ad}tem\\u{2028}x\\u{2029}"
        );
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
