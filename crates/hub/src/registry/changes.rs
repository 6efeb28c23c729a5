//! Changes that a client makes in a registry.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use metier_package::registry_api::{
    PublishAnswer, RegistryAccount, RegistryVersion, SIGNATURE_HEADER, SIGNER_HEADER, YankRequest,
};

use super::{MAX_DOCUMENT, RegistryClientError, RegistryConnection, RegistryRequest};

/// A package, ready to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageToPublish {
    /// The bytes of the `.skill` file.
    pub bytes: Vec<u8>,
    /// The text of the signature and the public key, if it is signed.
    pub signature: Option<(String, String)>,
    /// Whether an administrator accepts a name that resembles another one.
    pub allow_similar: bool,
}

impl RegistryConnection<'_> {
    /// Publishes a package. A critical one is not an error: the response contains the findings.
    ///
    /// # Errors
    /// If the registry can't be reached, or refuses it.
    pub fn publish(
        &self,
        package: &PackageToPublish,
    ) -> Result<PublishAnswer, RegistryClientError> {
        let mut url = self.address.at(&["packages"]);
        if package.allow_similar {
            url.set_query(Some("allow_similar=true"));
        }
        let mut headers = vec![("content-type".to_owned(), "application/zip".to_owned())];
        if let Some((signature, signer)) = &package.signature {
            headers.push((SIGNATURE_HEADER.to_owned(), STANDARD.encode(signature)));
            headers.push((SIGNER_HEADER.to_owned(), signer.clone()));
        }
        self.change(RegistryRequest {
            method: "POST",
            url,
            headers,
            body: package.bytes.clone(),
            max_body: MAX_DOCUMENT,
        })
    }

    /// Yanks a version for a reason, or makes it available again.
    ///
    /// # Errors
    /// If the registry can't be reached, or refuses it.
    pub fn set_yanked(
        &self,
        name: &str,
        version: &str,
        reason: Option<&str>,
    ) -> Result<RegistryVersion, RegistryClientError> {
        let body = match reason {
            None => Vec::new(),
            Some(reason) => {
                let request = YankRequest {
                    reason: reason.to_owned(),
                };
                serde_json::to_vec(&request).map_err(|error| self.wrong(&error.to_string()))?
            }
        };
        self.change(RegistryRequest {
            method: if reason.is_some() { "PUT" } else { "DELETE" },
            url: self.address.at(&["skills", name, version, "yank"]),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body,
            max_body: MAX_DOCUMENT,
        })
    }

    /// The account of the token.
    ///
    /// # Errors
    /// If the registry can't be reached, or does not know the token.
    pub fn account(&self) -> Result<RegistryAccount, RegistryClientError> {
        self.change(RegistryRequest {
            method: "GET",
            url: self.address.at(&["account"]),
            headers: Vec::new(),
            body: Vec::new(),
            max_body: MAX_DOCUMENT,
        })
    }

    fn change<T: serde::de::DeserializeOwned>(
        &self,
        request: RegistryRequest,
    ) -> Result<T, RegistryClientError> {
        let body = self.expect(self.send(request)?)?;
        self.parsed(&body)
    }
}
