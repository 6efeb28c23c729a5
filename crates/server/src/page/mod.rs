//! The page: what a browser shows of this daemon. See, decide and try.
//!
//! **Problem.** A page shows texts of strangers next to buttons that decide about them, in a program that other pages run in too. One text
//! that is not escaped, or one form that another page can send, is enough to lose. **Decision.** Types do what attention can't:
//!
//! | who could forget it | what makes that impossible |
//! |---|---|
//! | a view that shows its own data | [`api::Api`] is the only source: the documents of `/api/v1`, which are those of `--json` |
//! | a text that is not escaped | texts of documents are [`document::Quoted`]: shown with their hidden characters visible; `maud` escapes what is left, and no file here writes HTML as text |
//! | a form without a token | [`forms::form`] is the only one that writes a form, and [`api::Api::act`] takes the [`forms::CheckedForm`] that proves it |
//! | a page without its headers | views return [`layout::View`]; only [`layout`] makes an answer of it |
//! | a body that looks like our card | [`markdown`] makes a closed set of elements, without classes, in a frame that names the author |
//!
//! Everything is HTML that a browser shows without script: lists are pages, acts are forms. `assets/` has one style sheet and small modules, which load
//! the same pages again when something happens. The looks are described in `docs/page.md`.
//!
//! **Start reading at** `overview.rs`; the table of all views is below.

mod api;
mod approvals;
mod assets;
mod chat;
mod compose;
mod document;
mod forms;
mod install;
mod layout;
mod markdown;
mod overview;
mod parts;
mod receipts;
mod schema_form;
mod skill;
mod skill_parts;
mod skills;
mod usage;
mod why;

use axum::{Router, routing::get};

use crate::daemon::access::FORMS;

use api::Api;
pub(crate) use layout::{USED_LINK, entered, refused};

/// Where the files of the page are. They need no cookie: they are the same for everyone.
pub(crate) const ASSETS: &str = "/assets/";

/// The views: where each is, its name in the menu, and the key that follows `g`.
const VIEWS: &[(&str, &str, char)] = &[
    ("/", "Overview", 'o'),
    ("/skills", "Skills", 's'),
    ("/approvals", "Approvals", 'a'),
    ("/why", "Why", 'w'),
    ("/compose", "Compose", 'c'),
    ("/install", "Install", 'i'),
    ("/chat", "Chat", 't'),
    ("/receipts", "Receipts", 'r'),
    ("/usage", "Usage", 'u'),
];

/// Whether an address is one of the page: a view, or where its forms are sent. The cookie of a browser is needed for it.
pub(crate) fn is_page(path: &str) -> bool {
    let below = |view: &str| {
        let rest = path.strip_prefix(view);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut views = VIEWS
        .iter()
        .map(|(view, ..)| *view)
        .filter(|view| *view != "/");
    path == "/" || path.starts_with(FORMS) || views.any(below)
}

/// The addresses of the page, on top of the interface for programs.
pub(crate) fn router(programs: Router) -> Router {
    let views = Router::new()
        .route("/", get(overview::show))
        .route("/skills", get(skills::show))
        .route("/skills/{name}", get(skill::show))
        .route("/skills/{name}/files/{*path}", get(skill_parts::file))
        .route("/approvals", get(approvals::show))
        .route("/why", get(why::show))
        .route("/compose", get(compose::show))
        .route("/install", get(install::show))
        .route("/chat", get(chat::show))
        .route("/chat/{id}", get(chat::conversation))
        .route("/receipts", get(receipts::show))
        .route("/usage", get(usage::show))
        .route("/assets/{name}", get(assets::file));
    forms::routes(views).with_state(Api::new(programs))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
