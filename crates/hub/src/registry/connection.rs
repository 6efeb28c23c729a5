//! Requests to one registry, without a cache. Shared by the threads that download.

use metier_model::{Digest, FileText, Files, Strictness, parse_card, text::visible};
use metier_package::{
    ArchiveLimits, PackageTree, read_archive,
    registry_api::{RegistryProblem, RegistryVersion},
};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{
    MAX_SIGNATURE, RegistryAddress, RegistryClientError, RegistryRequest, RegistryResponse,
    RegistryTransport,
};
use crate::fetch::{FetchedSkill, SkillOrigin};

/// A connection to one registry.
pub struct RegistryConnection<'a> {
    pub(super) address: RegistryAddress,
    pub(super) token: Option<String>,
    pub(super) transport: &'a dyn RegistryTransport,
    pub(super) is_offline: bool,
}

impl RegistryConnection<'_> {
    /// Downloads a version. Its bytes, and the files in them, have the announced digests.
    ///
    /// # Errors
    /// If the download fails, or the digests differ.
    pub fn download(&self, version: &RegistryVersion) -> Result<FetchedSkill, RegistryClientError> {
        let (name, number) = (version.name.as_str(), version.version.as_str());
        let limits = ArchiveLimits::default();
        let url = self.address.at(&["skills", name, number, "package"]);
        let bytes = self.expect(self.get(&url, None, limits.packed)?)?;
        let lied = |what| RegistryClientError::WrongDigest {
            registry: self.address.to_string(),
            name: name.to_owned(),
            version: number.to_owned(),
            what,
        };
        let digest = Digest(Sha256::digest(&bytes).into());
        if digest.to_string() != version.archive {
            return Err(lied("the archive"));
        }
        let refused = |error: &dyn std::fmt::Display| RegistryClientError::Package {
            name: name.to_owned(),
            version: number.to_owned(),
            problem: error.to_string(),
        };
        let tree = read_archive(&bytes, limits).map_err(|error| refused(&error))?;
        let tree = tree.only_skill().map_err(|error| refused(&error))?;
        if tree.digest().to_string() != version.tree {
            return Err(lied("the files"));
        }
        match stated_name(&tree) {
            Some(stated) if stated == name => {}
            _ => return Err(refused(&"its manifest states a different name")),
        }
        let signature = match &version.signer {
            None => None,
            Some(_) => {
                let url = self.address.at(&["skills", name, number, "signature"]);
                let text = self.expect(self.get(&url, None, MAX_SIGNATURE)?)?;
                Some(String::from_utf8_lossy(&text).into_owned())
            }
        };
        Ok(FetchedSkill {
            name: name.to_owned(),
            tree,
            archive: signature.is_some().then(|| bytes.into()),
            origin: SkillOrigin {
                source: name.to_owned(),
                registry: Some(self.address.to_string()),
                archive: Some(digest),
                signature,
                version: number.parse().ok(),
                ..SkillOrigin::default()
            },
        })
    }

    pub(super) fn parsed<T: DeserializeOwned>(
        &self,
        body: &[u8],
    ) -> Result<T, RegistryClientError> {
        serde_json::from_slice(body).map_err(|error| self.wrong(&error.to_string()))
    }

    pub(super) fn get(
        &self,
        url: &Url,
        etag: Option<&str>,
        max_body: usize,
    ) -> Result<RegistryResponse, RegistryClientError> {
        let mut headers = Vec::new();
        if let Some(etag) = etag {
            headers.push(("if-none-match".to_owned(), etag.to_owned()));
        }
        self.send(RegistryRequest {
            method: "GET",
            url: url.clone(),
            headers,
            body: Vec::new(),
            max_body,
        })
    }

    pub(super) fn send(
        &self,
        mut request: RegistryRequest,
    ) -> Result<RegistryResponse, RegistryClientError> {
        if self.is_offline {
            return Err(RegistryClientError::NotCached {
                registry: self.address.to_string(),
            });
        }
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}");
            request.headers.push(("authorization".to_owned(), value));
        }
        self.transport
            .send(&request)
            .map_err(|reason| RegistryClientError::Unreachable {
                registry: self.address.to_string(),
                reason,
            })
    }

    /// The body of a successful response.
    pub(super) fn expect(
        &self,
        response: RegistryResponse,
    ) -> Result<Vec<u8>, RegistryClientError> {
        if (200..300).contains(&response.status) {
            return Ok(response.body);
        }
        let problem: Option<RegistryProblem> = serde_json::from_slice(&response.body).ok();
        let shown = |text: &str| visible(text).chars().take(300).collect::<String>();
        Err(RegistryClientError::Refused {
            registry: self.address.to_string(),
            status: response.status,
            code: problem.as_ref().map(|problem| shown(&problem.code)),
            message: problem.as_ref().map_or_else(
                || format!("it answered with status {}", response.status),
                |problem| shown(&problem.message),
            ),
        })
    }

    pub(super) fn wrong(&self, problem: &str) -> RegistryClientError {
        RegistryClientError::Wrong {
            registry: self.address.to_string(),
            problem: visible(problem).into_owned(),
        }
    }
}

/// The name in the manifest of a tree.
fn stated_name(tree: &PackageTree) -> Option<String> {
    let text = |path: &str| tree.get(path).map(String::from_utf8_lossy);
    let (markdown, yaml) = (text("SKILL.md"), text("SKILL.yaml"));
    let files = Files {
        skill_md: markdown.as_deref().map(|text| FileText {
            name: "SKILL.md",
            text,
        }),
        skill_yaml: yaml.as_deref().map(|text| FileText {
            name: "SKILL.yaml",
            text,
        }),
        ..Files::default()
    };
    let (card, _) = parse_card(&files, Strictness::Lenient);
    card.map(|card| card.name.to_string())
}
