//! All skills of the registry in the form of a site's list, in both versions of the format.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use metier_package::registry_api::RegistryVersion;
use serde_json::{Value, json};

use super::answer::{BytesAnswer, document};
use super::{HttpState, Shared, blocking};

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// The maximum number of skills of an index: as many as clients read.
const MAX_LISTED: u64 = 10_000;

pub(super) fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/.well-known/agent-skills/index.json", get(index))
        .route("/.well-known/skills/index.json", get(index_of_files))
        .route("/.well-known/skills/{name}/{*path}", get(file))
}

/// Both formats require a SKILL.md, so a skill without one is not listed.
fn is_listed(version: &RegistryVersion) -> bool {
    version.files.iter().any(|file| file.path == "SKILL.md")
}

/// Version 0.2.0: one archive for each skill.
async fn index(State(state): Shared, headers: HeaderMap) -> Response {
    let listed = blocking(state, |registry| registry.listed(MAX_LISTED)).await;
    let index = listed.map(|skills| {
        let entry = |skill: &RegistryVersion| {
            json!({
                "name": skill.name,
                "type": "archive",
                "description": skill.description,
                "url": format!("/api/v1/skills/{}/{}/archive.zip", skill.name, skill.version),
                "digest": skill.flat_archive,
            })
        };
        let skills: Vec<Value> = skills
            .iter()
            .filter(|skill| is_listed(skill))
            .map(entry)
            .collect();
        json!({ "$schema": SCHEMA, "skills": skills })
    });
    document(index, &headers)
}

/// Version 0.1.0: the files of each skill.
async fn index_of_files(State(state): Shared, headers: HeaderMap) -> Response {
    let listed = blocking(state, |registry| registry.listed(MAX_LISTED)).await;
    let index = listed.map(|skills| {
        let entry = |skill: &RegistryVersion| {
            let files: Vec<&str> = skill.files.iter().map(|file| file.path.as_str()).collect();
            json!({ "name": skill.name, "description": skill.description, "files": files })
        };
        let skills: Vec<Value> = skills
            .iter()
            .filter(|skill| is_listed(skill))
            .map(entry)
            .collect();
        json!({ "skills": skills })
    });
    document(index, &headers)
}

async fn file(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, path)): Path<(String, String)>,
) -> Response {
    let wanted = path.clone();
    match blocking(state, move |registry| registry.file(&name, &wanted)).await {
        Ok(bytes) => BytesAnswer::file(bytes, &path).answer(&headers),
        Err(response) => response,
    }
}
