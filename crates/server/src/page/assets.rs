//! The files of the page: a style sheet, scripts and an icon. They are in the program, and their addresses change with their content.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::OnceLock,
};

use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

const STYLE: &str = "page.css";
const SCRIPT: &str = "page.js";
const ICON: &str = "icon.svg";

const FILES: &[Asset] = &[
    Asset {
        name: STYLE,
        kind: "text/css; charset=utf-8",
        content: include_str!("assets/page.css"),
    },
    Asset {
        name: SCRIPT,
        kind: "text/javascript; charset=utf-8",
        content: include_str!("assets/page.js"),
    },
    Asset {
        name: "live.js",
        kind: "text/javascript; charset=utf-8",
        content: include_str!("assets/live.js"),
    },
    Asset {
        name: "chat.js",
        kind: "text/javascript; charset=utf-8",
        content: include_str!("assets/chat.js"),
    },
    Asset {
        name: ICON,
        kind: "image/svg+xml",
        content: include_str!("assets/icon.svg"),
    },
];

/// Changes when a file does.
fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        FILES.iter().for_each(|file| file.content.hash(&mut hasher));
        format!("{:016x}", hasher.finish())
    })
}

/// The addresses of the style sheet, the script and the icon.
pub(super) fn addresses() -> [String; 3] {
    [STYLE, SCRIPT, ICON].map(|name| format!("{}{name}?v={}", super::ASSETS, version()))
}

pub(super) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return super::refused(404, "not-found", "there is no such file");
    };
    let tag = format!("\"{}\"", version());
    let known = headers.get(header::IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => file.content.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    // A module that another one imports has no version in its address: it is requested again, and is usually not modified.
    let cache = HeaderValue::from_static("private, max-age=0, must-revalidate");
    headers.insert(header::CACHE_CONTROL, cache);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}
