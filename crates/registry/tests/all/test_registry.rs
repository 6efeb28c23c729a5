//! A registry with its parts, packages to publish, and requests.

use std::sync::Arc;

use metier_package::{PackageFile, PackagePath, PackageTree, pack};
use metier_registry::http::BackgroundServer;
use metier_registry::{
    FolderBlobs, NewToken, PackageUpload, Registry, RegistryDatabase, SqliteDatabase, TokenScope,
};
use serde_json::Value;

pub(crate) const NOW: &str = "2026-01-31T09:00:00Z";

/// A registry in a folder.
pub(crate) struct TestRegistry {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) database: Arc<SqliteDatabase>,
    pub(crate) registry: Registry,
}

impl TestRegistry {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Arc::new(SqliteDatabase::open(&folder.path().join("registry.db")).unwrap());
        let blobs = Arc::new(FolderBlobs::open(&folder.path().join("packages")).unwrap());
        let registry = Registry::new(Arc::clone(&database) as _, blobs, || NOW.to_owned());
        Self {
            folder,
            database,
            registry,
        }
    }

    /// A token of an account.
    pub(crate) fn token(&self, owner: &str, scope: &str) -> String {
        let scope: TokenScope = scope.parse().unwrap();
        let token = NewToken::generate(owner, &scope, NOW).unwrap();
        self.database.add_token(&token.stored).unwrap();
        token.secret
    }

    pub(crate) fn serve(&self) -> BackgroundServer {
        BackgroundServer::start(self.registry.clone()).unwrap()
    }

    /// Publishes a small skill as its owner.
    pub(crate) fn publish(&self, token: &str, name: &str, version: &str) {
        let upload = upload(name, version, "");
        self.registry.publish(Some(token), &upload).unwrap();
    }
}

/// A package of a skill with further lines in its frontmatter.
pub(crate) fn package(name: &str, version: &str, more: &str) -> Vec<u8> {
    let manifest = format!(
        "---\nname: {name}\ndescription: Does {name}.\nversion: {version}\n{more}---\nDo it.\n"
    );
    packed(name, &[("SKILL.md", &manifest), ("notes/a.txt", "a")])
}

pub(crate) fn packed(name: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let files = files.iter().map(|(path, text)| PackageFile {
        path: PackagePath::new(path.as_bytes()).unwrap(),
        bytes: text.as_bytes().to_vec(),
    });
    pack(name, &PackageTree::new(files.collect()).unwrap()).unwrap()
}

pub(crate) fn upload(name: &str, version: &str, more: &str) -> PackageUpload {
    PackageUpload {
        bytes: package(name, version, more),
        ..PackageUpload::default()
    }
}

/// A response: the status, the headers and the body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: ureq::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// Sends a request with headers; a response with any status is returned.
pub(crate) fn send(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Answer {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = match body {
        Some(body) => agent.run(request.body(body.to_vec()).unwrap()),
        None => agent.run(request.body(()).unwrap()),
    };
    let mut response = response.unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.body_mut().read_to_vec().unwrap(),
    }
}

pub(crate) fn get(url: &str) -> Answer {
    send("GET", url, &[], None)
}
