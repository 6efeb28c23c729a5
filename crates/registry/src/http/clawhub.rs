//! The part of ClawHub's interface that its command line needs to search and install.
//!
//! It is below `/clawhub`, because both interfaces have `/api/v1/skills`; `/.well-known/clawhub.json` points to it. Refusals are plain
//! text.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metier_package::registry_api::{RegistrySkill, RegistryVersion};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::answer::{BytesAnswer, ProblemMessage, document};
use super::{HttpState, Shared, blocking};
use crate::registry::{Registry, RegistryError};

pub(super) fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/.well-known/clawhub.json", get(discovery))
        .route("/clawhub/api/v1/search", get(search))
        .route("/clawhub/api/v1/skills", get(list))
        .route("/clawhub/api/v1/skills/{slug}", get(skill))
        .route("/clawhub/api/v1/skills/{slug}/versions", get(versions))
        .route(
            "/clawhub/api/v1/skills/{slug}/versions/{version}",
            get(version),
        )
        .route("/clawhub/api/v1/resolve", get(resolve))
        .route("/clawhub/api/v1/download", get(download))
        .layer(middleware::map_response(with_plain_problem))
}

/// ClawHub's command line prints the body of a refusal unchanged, so it is plain text.
async fn with_plain_problem(response: Response) -> Response {
    match response.extensions().get::<ProblemMessage>() {
        Some(problem) => (response.status(), problem.0.clone()).into_response(),
        None => response,
    }
}

async fn discovery(State(state): Shared, headers: HeaderMap) -> Response {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let base = match (&state.public_url, host) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(host)) => format!("http://{host}"),
        (None, None) => String::new(),
    };
    document(
        Ok(json!({ "apiBase": format!("{base}/clawhub") })),
        &headers,
    )
}

/// Milliseconds since 1970 of a recorded time.
fn milliseconds(at: &str) -> u64 {
    let time = humantime::parse_rfc3339_weak(at).ok();
    let since = time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[derive(Deserialize)]
struct ClawHubQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    slug: String,
    version: Option<String>,
    #[serde(default)]
    hash: String,
    limit: Option<u64>,
    cursor: Option<u64>,
}

async fn search(State(state): Shared, Query(query): Query<ClawHubQuery>) -> Response {
    let limit = query.limit.unwrap_or(25);
    let found = blocking(state, move |registry| registry.search(&query.q, 0, limit)).await;
    let found = found.map(|page| {
        let count = page.skills.len();
        let results = page.skills.iter().enumerate().map(|(position, skill)| {
            json!({
                "slug": skill.name,
                "displayName": skill.name,
                "summary": skill.description,
                "version": skill.version,
                // ClawHub returns a score; this registry only has an order.
                "score": (count - position) as f64 / count as f64,
                "updatedAt": milliseconds(&skill.published_at),
                "ownerHandle": skill.owner,
            })
        });
        json!({ "results": results.collect::<Vec<Value>>() })
    });
    document(found, &HeaderMap::new())
}

async fn list(State(state): Shared, Query(query): Query<ClawHubQuery>) -> Response {
    let (limit, offset) = (query.limit.unwrap_or(25), query.cursor.unwrap_or(0));
    let found = blocking(state, move |registry| registry.search("", offset, limit)).await;
    let found = found.map(|page| {
        let items = page.skills.iter().map(|skill| {
            let at = milliseconds(&skill.published_at);
            json!({
                "slug": skill.name,
                "displayName": skill.name,
                "summary": skill.description,
                "tags": { "latest": skill.version },
                "stats": {},
                "createdAt": at,
                "updatedAt": at,
                "latestVersion": { "version": skill.version, "createdAt": at, "changelog": "" },
            })
        });
        let next = page.next.map(|next| next.to_string());
        json!({ "items": items.collect::<Vec<Value>>(), "nextCursor": next })
    });
    document(found, &HeaderMap::new())
}

async fn skill(State(state): Shared, Path(slug): Path<String>) -> Response {
    let found = blocking(state, move |registry| registry.skill(&slug)).await;
    let found = found.map(|skill| {
        let latest = latest_of(&skill);
        let at = latest.map_or(0, |latest| milliseconds(&latest.published_at));
        let first = skill.versions.last();
        json!({
            "skill": {
                "slug": skill.name,
                "displayName": skill.name,
                "summary": skill.description,
                "tags": { "latest": skill.latest },
                "stats": {},
                "createdAt": first.map_or(0, |first| milliseconds(&first.published_at)),
                "updatedAt": at,
            },
            "latestVersion": latest.map(version_item),
            "owner": { "handle": skill.owner },
            "moderation": {
                "isSuspicious": latest.is_some_and(|latest| latest.verdict == "warning"),
                "isMalwareBlocked": false,
                "verdict": match latest.map(|latest| latest.verdict.as_str()) {
                    Some("clean" | "info") => "clean",
                    _ => "suspicious",
                },
            },
        })
    });
    document(found, &HeaderMap::new())
}

fn latest_of(skill: &RegistrySkill) -> Option<&RegistryVersion> {
    let latest = skill.latest.as_ref()?;
    skill
        .versions
        .iter()
        .find(|version| version.version == *latest)
}

fn version_item(version: &RegistryVersion) -> Value {
    json!({
        "version": version.version,
        "createdAt": milliseconds(&version.published_at),
        "changelog": "",
    })
}

async fn versions(State(state): Shared, Path(slug): Path<String>) -> Response {
    let found = blocking(state, move |registry| registry.skill(&slug)).await;
    let found = found.map(|skill| {
        let items: Vec<Value> = skill.versions.iter().map(version_item).collect();
        json!({ "items": items, "nextCursor": null })
    });
    document(found, &HeaderMap::new())
}

async fn version(State(state): Shared, Path((slug, number)): Path<(String, String)>) -> Response {
    let found = blocking(state, move |registry| registry.version(&slug, &number)).await;
    let found = found.map(|version| {
        let mut item = version_item(&version);
        let files = version.files.iter().map(|file| {
            let digest = file.digest.trim_start_matches("sha256:");
            json!({ "path": file.path, "size": file.size, "sha256": digest })
        });
        item["files"] = files.collect();
        json!({ "version": item, "skill": { "slug": version.name, "displayName": version.name } })
    });
    document(found, &HeaderMap::new())
}

/// The version that has these files, by ClawHub's fingerprint.
async fn resolve(State(state): Shared, Query(query): Query<ClawHubQuery>) -> Response {
    let found = blocking(state, move |registry| {
        let skill = registry.skill(&query.slug)?;
        let found = skill
            .versions
            .iter()
            .find(|version| fingerprint(version) == query.hash);
        let found = found.map(|version| json!({ "version": version.version }));
        let latest = skill.latest.map(|latest| json!({ "version": latest }));
        Ok(json!({ "match": found, "latestVersion": latest }))
    });
    document(found.await, &HeaderMap::new())
}

/// The hash of lines `path:sha256`, sorted by path.
fn fingerprint(version: &RegistryVersion) -> String {
    let mut lines: Vec<String> = version
        .files
        .iter()
        .map(|file| {
            format!(
                "{}:{}",
                file.path,
                file.digest.trim_start_matches("sha256:")
            )
        })
        .collect();
    lines.sort();
    let hash = Sha256::digest(lines.join("\n"));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn download(
    State(state): Shared,
    headers: HeaderMap,
    Query(query): Query<ClawHubQuery>,
) -> Response {
    let found = blocking(state, move |registry| {
        let version = match query.version {
            Some(version) => version,
            None => latest_version(registry, &query.slug)?,
        };
        registry.flat_archive(&query.slug, &version)
    });
    match found.await {
        Ok((version, bytes)) => {
            let name = format!("{}-{}.zip", version.name, version.version);
            BytesAnswer::archive(bytes, &version.flat_archive, name).answer(&headers)
        }
        Err(response) => response,
    }
}

fn latest_version(registry: &Registry, slug: &str) -> Result<String, RegistryError> {
    let skill = registry.skill(slug)?;
    skill.latest.ok_or_else(|| {
        RegistryError::refused(
            "not-found",
            format!("skill `{slug}` has no available version"),
        )
    })
}
