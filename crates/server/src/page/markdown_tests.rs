//! Whatever a skill writes, the page has only the elements of the closed set, and no attribute that a skill chose except a link to the web.

use maud::Render as _;

use super::super::document::Quoted;
use super::framed;

/// The elements that the text of a skill can become.
const ELEMENTS: &[&str] = &[
    "div",
    "p",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "del",
    "hr",
    "br",
    "a",
    "table",
    "tbody",
    "tr",
    "th",
    "td",
];

fn page(text: &str) -> String {
    framed(text, Quoted::new("skill")).render().0
}

/// The opening tags of a page, as they are written.
fn tags(page: &str) -> Vec<&str> {
    let starts = page.match_indices('<').map(|(start, _)| start);
    let tags = starts.map(|start| {
        let rest = &page[start + 1..];
        rest.split_once('>').map_or(rest, |(tag, _)| tag)
    });
    tags.filter(|tag| !tag.starts_with('/')).collect()
}

#[track_caller]
fn is_closed_set(text: &str) {
    let page = page(text);
    for tag in tags(&page) {
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "{name} in {page}");
        let is_ours = match name {
            "div" => attributes.starts_with("class=\"foreign\"") || attributes == "class=\"text\"",
            "p" => attributes.is_empty() || attributes == "class=\"whose\"",
            "a" => {
                attributes.starts_with("href=\"http")
                    && attributes
                        .ends_with("\" rel=\"noreferrer noopener nofollow\" target=\"_blank\"")
            }
            "pre" => attributes == "tabindex=\"0\"",
            "ol" => attributes.starts_with("start=\""),
            _ => attributes.is_empty(),
        };
        assert!(is_ours, "<{tag}> in {page}");
    }
}

#[test]
fn every_construct_is_one_of_the_closed_set() {
    for text in [
        "# A\n\n## B\n\ntext *em* **strong** ~~del~~ `code`\n\n1. one\n2. two\n\n- a\n  - b\n\n> quote\n\n---\n\n```sh\nls <b>\n```\n",
        "| a | b |\n|---|:-:|\n| 1 | <script>alert(1)</script> |\n| 1 | 2 | 3 |\n",
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> text <b onclick='x()'>bold</b>",
        "<div class=\"card approval\"><form method=post action=/do/approvals/requests.1><button name=answer value=always>Allow</button></form></div>",
        "<svg onload=alert(1)><style>*{display:none}</style><link rel=stylesheet href=//evil.example>",
        "<iframe src=https://evil.example></iframe><base href=//evil.example><meta http-equiv=refresh content=0>",
        "[x](javascript:alert(1)) [y](data:text/html,<script>) [z](https://evil.example/\"onmouseover=\"alert(1))",
        "![pixel](https://evil.example/pixel.png \"title\\\" onload=\\\"x\")",
        "[a][b]\n\n[b]: https://evil.example '\"><script>'",
        "<!-- comment --> <![CDATA[ x ]]> <?php ?> &lt;script&gt;",
    ] {
        is_closed_set(text);
    }
}

#[test]
fn a_link_names_its_host_and_a_picture_is_not_loaded() {
    let shown = page("[the bank](https://bank.example@evil.example/login)");
    assert!(shown.contains("the bank (evil.example)"), "{shown}");
    let shown = page("![a cat](https://evil.example/cat.png)");
    assert!(shown.contains("[picture: a cat (evil.example)]"), "{shown}");
    assert!(!shown.contains("<img"), "{shown}");
    let shown = page("[local](references/more.md)");
    assert!(
        shown.contains("local (<code>references/more.md</code>)"),
        "{shown}"
    );
}

#[test]
fn hidden_characters_are_visible() {
    let shown = page("safe\u{202e}txt.exe and \u{200b}nothing\u{7}");
    for escape in ["\\u{202e}", "\\u{200b}", "\\u{7}"] {
        assert!(shown.contains(escape), "{escape} in {shown}");
    }
}

#[test]
fn depth_and_length_have_an_end() {
    is_closed_set(&format!("{}deep", "> ".repeat(5_000)));
    is_closed_set(&format!("{}deep", "- ".repeat(2_000)));
    is_closed_set(&"*".repeat(50_000));
    let long = page(&"word ".repeat(200_000));
    assert!(long.contains("more bytes are not shown"));
    assert!(long.len() < 400_000);
}
