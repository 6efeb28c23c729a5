//! The frame of every view: its head, the menu, the questions that wait; and the headers of the answer.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use maud::{DOCTYPE, Markup, html};

use super::{
    VIEWS,
    api::{Api, ApiRefusal},
    assets,
    document::Quoted,
    parts::problem,
};

/// The content security policy of the page. Nothing inline, nothing from other hosts, no frames, and no text that becomes markup in a
/// script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// A view, before it is an answer.
pub(super) struct View {
    status: StatusCode,
    title: String,
    /// The view in the menu that it belongs to.
    place: &'static str,
    /// Which events change it, as words.
    live: &'static str,
    waiting: usize,
    content: Markup,
}

impl View {
    /// A view with what every view shows: how many questions wait.
    pub(super) async fn new(
        api: &Api,
        place: &'static str,
        title: impl Into<String>,
        content: Markup,
    ) -> Self {
        let waiting = match api.get("/approvals").await {
            Ok(waiting) => waiting.root().items("approvals").len(),
            Err(_) => 0,
        };
        Self {
            status: StatusCode::OK,
            title: title.into(),
            place,
            live: "",
            waiting,
            content,
        }
    }

    /// The view of an error.
    pub(super) async fn failed(api: &Api, place: &'static str, refusal: &ApiRefusal) -> Self {
        let content = html! {
            header.head { h1 { "This did not work" } }
            (problem(refusal))
            p { a href=(place) { "Back" } }
        };
        let view = Self::new(api, place, "Error", content).await;
        let status = StatusCode::from_u16(refusal.status);
        Self {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            ..view
        }
    }

    /// The events after which the view is loaded again.
    pub(super) fn live(self, live: &'static str) -> Self {
        Self { live, ..self }
    }
}

impl IntoResponse for View {
    fn into_response(self) -> Response {
        let menu = html! {
            nav.menu aria-label="Views" {
                ul {
                    @for (path, name, key) in VIEWS {
                        li {
                            a href=(path) data-key=(key) aria-current=[(*path == self.place).then_some("page")] {
                                (name)
                                kbd aria-hidden="true" { "g " (key) }
                                @if *path == "/approvals" { (waiting(self.waiting)) }
                            }
                        }
                    }
                }
            }
        };
        let main = html! {
            main #main tabindex="-1" data-live=(self.live) {
                div #pending .pending role="status" data-live-part {
                    @if self.waiting > 0 && self.place != "/approvals" {
                        p.banner {
                            span.mark aria-hidden="true" { "?" }
                            span {
                                @if self.waiting == 1 { "A skill waits for your answer. " }
                                @else { (self.waiting) " questions wait for your answer. " }
                            }
                            a.button href="/approvals" { "Answer" }
                        }
                    }
                }
                (self.content)
            }
        };
        answer(
            self.status,
            &framed(&self.title, true, &html! { (menu) (main) }),
        )
    }
}

fn waiting(count: usize) -> Markup {
    html! {
        span #waiting .count data-live-part hidden[count == 0] {
            (count) span.hidden { " waiting" }
        }
    }
}

/// The document around a body. One that is live shows whether the daemon answers.
fn framed(title: &str, is_live: bool, body: &Markup) -> Markup {
    let [style, script, icon] = assets::addresses();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (Quoted::new(title)) " · metier" }
                link rel="icon" href=(icon) type="image/svg+xml";
                link rel="stylesheet" href=(style);
                script type="module" src=(script) {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "metier" }
                    @if is_live { span #connection .connection role="status" {} }
                }
                div.shell { (body) }
            }
        }
    }
}

/// The code of the refusal of a one-time link that was used before, or is too old. The page shows its message.
pub(crate) const USED_LINK: &str = "used-link";

/// A refusal before there is a view: without a cookie, or of a form that is not ours.
pub(crate) fn refused(status: u16, code: &str, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let is_stranger = status == StatusCode::UNAUTHORIZED;
    let body = html! {
        main #main .alone tabindex="-1" {
            @if is_stranger {
                h1 { "Sign in" }
                @if code == USED_LINK { p { (message) "." } }
                p { "Run this in a terminal. It opens the page with a link that works once:" }
                pre.command { code { "metier ui" } }
                p.faint { "Programs use " code { "/api/v1" } ", " code { "/ws" } " and " code { "/mcp" } " with the token." }
            } @else {
                h1 { @if status == StatusCode::NOT_FOUND { "Not found" } @else { "Refused" } }
                p { (message) }
                p { a href="/" { "To the overview" } }
            }
        }
    };
    answer(
        status,
        &framed(
            if is_stranger { "Sign in" } else { "Refused" },
            false,
            &body,
        ),
    )
}

/// The answer to a link that became a cookie: it continues to the overview.
pub(crate) fn entered() -> Response {
    let [_, _, icon] = assets::addresses();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                link rel="icon" href=(icon) type="image/svg+xml";
                meta http-equiv="refresh" content="0;url=/";
                title { "metier" }
            }
            body { a href="/" { "Continue" } }
        }
    };
    answer(StatusCode::OK, &page)
}

/// The only place where markup becomes an answer.
fn answer(status: StatusCode, page: &Markup) -> Response {
    let mut response = Response::new(Body::from(page.0.clone()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // Not `no-referrer`: a browser then sends a form with `Origin: null`, which is refused like that of another page.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
