//! Markdown as it arrives: every word is shown, and where the stream is cut changes nothing.

use metier::text::is_hidden;
use proptest::prelude::*;

use super::*;

fn shown_in(source: &str, pieces: &[usize], style: MarkdownStyle) -> String {
    let mut stream = MarkdownStream::new(style);
    let mut out = String::new();
    let mut begin = 0;
    for end in pieces.iter().copied().chain([source.len()]) {
        out.push_str(&stream.push(&source[begin..end]));
        begin = end;
    }
    out.push_str(&stream.finish());
    out
}

/// Without colours, in 40 columns.
#[track_caller]
fn check(source: &str, expected: &str) {
    let style = MarkdownStyle {
        width: 40,
        colors: false,
    };
    assert_eq!(shown_in(source, &[], style), expected);
}

/// With colours.
#[track_caller]
fn check_painted(source: &str, expected: &str) {
    let style = MarkdownStyle {
        width: 40,
        colors: true,
    };
    let shown = shown_in(source, &[], style);
    assert_eq!(shown.replace('\u{1b}', "^"), expected);
}

#[test]
fn paragraphs_are_folded_and_keep_their_line_breaks() {
    check("Hello, Ada.", "Hello, Ada.\n");
    check(
        "A paragraph that is longer than the terminal is wide.\n\nAnother.\n",
        "A paragraph that is longer than the\nterminal is wide.\n\nAnother.\n",
    );
    check(
        "Roses are red\nViolets are blue",
        "Roses are red\nViolets are blue\n",
    );
    check(
        "See https://example.invalid/a/path/that/is/longer/than/that now",
        "See\nhttps://example.invalid/a/path/that/is/longer/than/that\nnow\n",
    );
}

#[test]
fn without_colours_the_marks_stay() {
    check(
        "## The *plan*\n\n**Bold**, _thin_, ~~gone~~ and `code`.",
        "## The *plan*\n\n**Bold**, _thin_, ~~gone~~ and `code`.\n",
    );
    check(
        "```sh\nls  -l\n```\nDone.",
        "```sh\n    ls  -l\n```\nDone.\n",
    );
}

#[test]
fn with_colours_the_style_shows_it() {
    check_painted("# Plan", "^[1m^[4mPlan^[0m\n");
    check_painted("## Plan", "^[1mPlan^[0m\n");
    check_painted("a **b** *c* `d`", "a ^[1mb^[0m ^[3mc^[0m ^[36md^[0m\n");
    check_painted("```sh\nls\n```", "^[2msh^[0m\n    ls\n");
    check_painted("> said", "^[2m│^[0m said\n");
}

#[test]
fn code_is_not_folded() {
    let line = "let x = \"a line that is much longer than forty columns\";";
    check_painted(
        &format!("```\n{line}\n\n  y\n```"),
        &format!("    {line}\n\n      y\n"),
    );
    check_painted("    one\n      two", "    one\n      two\n");
    check_painted(
        "```\n# no heading\n- no item\n",
        "    # no heading\n    - no item\n",
    );
}

#[test]
fn lists_keep_their_numbers_and_their_depth() {
    check("- one\n- two\n", "• one\n• two\n");
    check(
        "3. three\n3. again\n10. ten",
        "3. three\n3. again\n10. ten\n",
    );
    check(
        "1. First:\n   - inner\n     more\n\n   A paragraph of it.\n2. Second\n\nAfter.",
        "1. First:\n   • inner\n     more\n\n   A paragraph of it.\n2. Second\n\nAfter.\n",
    );
    check(
        "- an item that is longer than the terminal is wide",
        "• an item that is longer than the\n  terminal is wide\n",
    );
    check(
        "It was in\n2019. Then\n\n* * *\n",
        &format!("It was in\n2019. Then\n\n{}\n", "─".repeat(40)),
    );
    check("- a\n---\nb", &format!("• a\n{}\nb\n", "─".repeat(40)));
    check("- a\n# b", "• a\n# b\n");
    check("-\n  a\n- - b", "• a\n• • b\n");
}

#[test]
fn code_in_a_list_stands_below_its_item() {
    check_painted(
        "1. Run:\n   ```sh\n   ls\n     -l\n   ```\n2. Done",
        "1. Run:\n   ^[2msh^[0m\n       ls\n         -l\n2. Done\n",
    );
}

#[test]
fn quotes_hold_blocks() {
    check(
        "> one\n> - two\n>\n> three\nafter",
        "│ one\n│ • two\n│\n│ three\nafter\n",
    );
    check("- > said\n  > so", "• │ said\n  │ so\n");
}

#[test]
fn links_show_their_address() {
    check(
        "[the docs](https://a.invalid)",
        "the docs (https://a.invalid)\n",
    );
    check("<https://a.invalid>", "https://a.invalid\n");
    check(
        "[https://a.invalid](https://a.invalid)",
        "https://a.invalid\n",
    );
    check("![a cat](cat.png \"Tom\")", "a cat (cat.png \"Tom\")\n");
    check(
        "[docs][1]\n\n[1]: https://a.invalid",
        "[docs][1]\n\n[1]: https://a.invalid\n",
    );
    check(
        "[1]: https://a.invalid\n[docs][1]",
        "[1]: https://a.invalid\n[docs][1]\n",
    );
}

#[test]
fn tables_fit() {
    check(
        "| name | size |\n|---|--:|\n| a | 1 |\n| long | 100 |\n",
        "name │ size\n─────┼─────\na    │    1\nlong │  100\n",
    );
    check(
        "|a|b|\n|-|-|\n|some words that need room|other words that need room|\n",
        "a                   │ b\n────────────────────┼───────────────────\nsome words that     │ other words that\nneed room           │ need room\n",
    );
    check("|a|\n|-|\n|b|c|d|\n", "a\n───────\nb | c|d\n");
    let long = "x".repeat(30);
    check(
        &format!("|a|b|\n|-|-|\n|{long}|{long}|\n"),
        &format!("a │ b\n{long} │\n{long}\n"),
    );
}

#[test]
fn what_a_terminal_would_obey_is_spelled_out() {
    for source in [
        "a \u{1b}[2J b",
        "a &#27;[2J b",
        "`a \u{9b}31m`",
        "```\u{7}\n\u{1b}]0;t\u{7}\n```",
        "[a\u{1b}](b\u{1b})",
        "- \u{8}x",
        "> \u{1b}[1m",
        "|\u{1b}|\n|-|\n|\r|",
        "<b\u{1b}>",
        "    \u{1b}[2J",
        "a \u{202e}b &#8238; &#x2066;",
        "# \u{202e}",
        "`\u{202e}`",
        "```\u{2066}\n\u{202e}\n```",
        "[a\u{202d}](b\u{2067})",
        "![a\u{200b}](b \"\u{202b}\")",
        "> - \u{202e}",
        "|\u{202e}|\n|-|\n|\u{2068}|",
        "<b\u{202e}>",
        "    \u{202e}",
    ] {
        let style = MarkdownStyle {
            width: 40,
            colors: false,
        };
        let shown = shown_in(source, &[], style);
        let acts = |c: char| c != '\n' && is_hidden(c);
        assert!(!shown.contains(acts), "{source:?} is shown as {shown:?}");
    }
}

#[test]
fn blocks_are_shown_as_soon_as_they_end() {
    let mut stream = MarkdownStream::new(MarkdownStyle {
        width: 40,
        colors: false,
    });
    assert_eq!(stream.push("One.\n"), "");
    assert!(stream.holds_text());
    assert_eq!(stream.push("\nTwo"), "One.\n\n");
    assert_eq!(stream.push(":\n```\nco"), "Two:\n```\n");
    assert_eq!(stream.push("de\n"), "    code\n");
    assert_eq!(stream.push("```\n1. a\n"), "```\n");
    assert_eq!(stream.push("2. b\n"), "1. a\n");
    assert_eq!(stream.finish(), "2. b\n");
    assert!(!stream.holds_text());
}

fn without_styles(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        if c == '\u{1b}' {
            letters.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            out.push(c);
        }
    }
    out
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect()
}

/// Words, marks and the begins of lines, in any order. References to characters are left out: `&amp;` is shown as `&`.
fn source() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "word",
        "zwei ",
        "três",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "*",
        "**",
        "_",
        "`",
        "```",
        "~~~",
        "~~",
        "# ",
        "## ",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "12) ",
        "> ",
        ">",
        "|",
        "|-|\n",
        "| a | b |\n|---|---|\n| c | d |\n",
        "---",
        "===",
        "[",
        "]",
        "(",
        ")",
        "[x](y)",
        "[x]: y\n",
        "![i](j \"t\")",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<u@v.w>",
        "\\",
        "\u{1b}[2J",
        "\u{7}",
        "漢字",
        "🦀",
        "html\n<div>\n",
        "[x]",
        "[z][x]",
        "!",
        "<http://h.i>",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_word_is_lost(source in source(), colors: bool) {
        let style = MarkdownStyle { width: 60, colors };
        let shown = shown_in(&source, &[], style);
        if !colors {
            let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            prop_assert!(!shown.contains(acts), "{shown:?}");
        }
        let shown = without_styles(&shown);
        let letters: String = shown.chars().filter(|c| c.is_alphanumeric()).collect();
        let mut rest = letters.as_str();
        // Two cells of a table that wrap are printed side by side: their words are all there, in another order.
        let may_wrap = source.contains('|');
        for word in words(&source) {
            let text = if may_wrap { letters.as_str() } else { rest };
            let found = text.find(word);
            prop_assert!(found.is_some(), "{word:?} of {source:?} is not in {shown:?}");
            rest = &text[found.map_or(0, |at| at + word.len())..];
        }
    }

    #[test]
    fn the_pieces_of_a_stream_do_not_matter(source in source(), at in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let style = MarkdownStyle { width: 40, colors: true };
        let mut at: Vec<usize> = at
            .iter()
            .map(|index| source.floor_char_boundary(index.index(source.len() + 1)))
            .collect();
        at.sort_unstable();
        prop_assert_eq!(shown_in(&source, &at, style), shown_in(&source, &[], style));
    }
}
