//! *A skill*: what it is, what it needs and may do, what the scanner found, its text, its tools and what it did.

use axum::{
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    api::{Answered, Api, ApiRefusal, encoded, query},
    document::Part,
    forms::{Visit, form},
    layout::View,
    markdown, parts,
    parts::{badge, empty, hint},
    skill_parts,
};

/// How many receipts the view has.
const RECEIPTS: &str = "20";

pub(super) async fn show(
    State(api): State<Api>,
    visit: Visit,
    Path(name): Path<String>,
) -> Response {
    match content(&api, &visit, &name).await {
        Ok((title, content)) => {
            let view = View::new(&api, "/skills", title, content).await;
            view.live("skills_changed receipt approval_answered")
                .into_response()
        }
        Err(refusal) => View::failed(&api, "/skills", &refusal)
            .await
            .into_response(),
    }
}

async fn content(api: &Api, visit: &Visit, name: &str) -> Result<(String, Markup), ApiRefusal> {
    let key = encoded(name);
    let info = api.get(&format!("/skills/{key}")).await?;
    let root = info.root();
    let back = format!("/skills/{key}");
    let body = match has_text(root) {
        true => Some(api.get(&format!("/skills/{key}/files/SKILL.md")).await),
        false => None,
    };
    let answers = api.get("/permissions").await?;
    let asked = query(&[("skill", root.text("name").raw()), ("limit", RECEIPTS)]);
    let receipts = api.get(&format!("/receipts{asked}")).await?;
    let receipts = receipts.root().items("receipts");
    let own = Own {
        root,
        visit,
        back: &back,
    };
    let page = html! {
        (own.head())
        div.skill {
            div.main {
                (own.needs())
                (skill_parts::findings(root))
                (skill_parts::permissions(root, answers.root(), visit, &back))
                (skill_parts::tools(root, visit, &back))
                (own.text(body.as_ref()))
                section aria-labelledby="receipts" {
                    h2 #receipts { "What it did" }
                    div #timeline data-live-part {
                        @if receipts.is_empty() { (empty("No receipts.", &html! { "This skill has no receipts yet." })) }
                        @else { (parts::receipts(&receipts, false)) }
                    }
                }
            }
            div.aside {
                (own.facts())
                (skill_parts::files(root, &back))
                (own.manifest())
            }
        }
    };
    Ok((root.text("name").raw().to_owned(), page))
}

/// Whether it has its own text: a skill with a `SKILL.yaml` may have code only.
fn has_text(root: Part<'_>) -> bool {
    let files = root.items("files");
    files
        .iter()
        .any(|file| file.text("path").raw() == "SKILL.md")
}

/// One skill, and where its forms return to.
struct Own<'a> {
    root: Part<'a>,
    visit: &'a Visit,
    back: &'a str,
}

impl Own<'_> {
    fn head(&self) -> Markup {
        let root = self.root;
        let scan = html! {
            input type="hidden" name="skill" value=(root.text("path").raw());
            button type="submit" { "Scan now" }
        };
        html! {
            header.head {
                div {
                    p.crumb { a href="/skills" { "Skills" } " /" }
                    h1 { (root.text("name")) }
                    p.badges #status data-live-part {
                        (badge(root.text("status")))
                        (badge(root.text("scan")))
                        @for kind in root.texts("types") { span.badge.faint { (kind) } }
                    }
                }
                (form(self.visit, "scan", self.back, &scan))
            }
            p.lead { (root.text("description")) }
        }
    }

    /// Why it can't be used, and what is wrong with its files, each with its fix.
    fn needs(&self) -> Markup {
        let (reasons, diagnostics) = (self.root.items("reasons"), self.root.items("diagnostics"));
        let title = match self.root.text("status").raw() {
            "ready" => "What could be better",
            "not_ready" => "What it needs",
            _ => "Why it can't be used",
        };
        html! {
            @if !reasons.is_empty() || !diagnostics.is_empty() {
                section aria-labelledby="needs" {
                    h2 #needs { (title) }
                    ul.rows {
                        @for row in reasons.iter().chain(&diagnostics) {
                            li.row {
                                div.row-head {
                                    @if let Some(severity) = row.some_text("severity") { (badge(severity)) }
                                    @else { (badge(self.root.text("status"))) }
                                    @if let Some(code) = row.some_text("code").or(row.some_text("kind")) { code.small { (code) } }
                                }
                                p { (hint(row.text("message"))) }
                                @if let Some(text) = row.some_text("hint") { p.fix { span.arrow aria-hidden="true" { "→ " } (hint(text)) } }
                                @if let Some(path) = row.some_text("path") {
                                    p.small.faint { (path) @if row.number("line") > 0 { ":" (row.number("line")) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Its text, if it may be shown.
    fn text(&self, body: Option<&Answered>) -> Markup {
        html! {
            section aria-labelledby="text" {
                h2 #text { "Text" }
                @match body {
                    Some(Ok(file)) => {
                        @let text = file.root().text("text");
                        (markdown::framed(without_frontmatter(text.raw()), self.root.text("name")))
                    }
                    Some(Err(refusal)) => { (parts::problem(refusal)) }
                    None => { (empty("No text.", &html! { "The skill is code. Its files are listed on this page." })) }
                }
            }
        }
    }

    fn facts(&self) -> Markup {
        let root = self.root;
        let manifest = root.at("manifest");
        html! {
            section aria-labelledby="facts" {
                h2 #facts { "Facts" }
                dl.facts {
                    dt { "Source" } dd { (root.text("source")) }
                    @for (label, part, key) in [
                        ("Agent", root, "agent"), ("Version", root, "version"), ("Runs in", root, "backend"),
                        ("Licence", manifest, "license"), ("Author", manifest, "author"), ("Shadowed by", root, "shadowed_by"),
                    ] {
                        @if let Some(text) = part.some_text(key) { dt { (label) } dd { (text) } }
                    }
                    dt { "Folder" } dd { code { (root.text("path")) } }
                    @if let Some(digest) = root.some_text("digest") { dt { "Digest" } dd { code { (digest) } } }
                    dt { "Used by" } dd {
                        @match (root.flag("user_invocable"), root.flag("model_invocable")) {
                            (true, true) => "you and a model", (true, false) => "you only", (false, true) => "a model only", (false, false) => "no one directly",
                        }
                    }
                }
            }
        }
    }

    fn manifest(&self) -> Markup {
        let (manifest, ignored) = (self.root.at("manifest"), self.root.texts("without_effect"));
        html! {
            @if !manifest.is_empty() {
                details {
                    summary { "Manifest" }
                    @if !ignored.is_empty() {
                        p.small.faint { "Not used in this version: " @for field in &ignored { code { (field) } " " } }
                    }
                    dl.facts {
                        @for (key, value) in manifest.fields() {
                            dt { (key) }
                            dd { @if let Some(text) = value.as_text() { (text) } @else { pre.small tabindex="0" { (value.block()) } } }
                        }
                    }
                }
            }
        }
    }
}

/// The text below the frontmatter, which the manifest shows.
fn without_frontmatter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---") else {
        return text;
    };
    rest.split_once("\n---").map_or(text, |(_, body)| {
        body.split_once('\n').map_or("", |(_, body)| body)
    })
}
