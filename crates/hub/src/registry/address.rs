//! The address of a registry, as the user configured it.

use std::fmt;

use url::{Host, Url};

use super::RegistryClientError;

/// The address of a registry: `https`, or `http` on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryAddress {
    url: Url,
    text: String,
}

impl RegistryAddress {
    /// Parses a configured address.
    ///
    /// # Errors
    /// If it is not a URL, not encrypted, or contains a password.
    pub fn parse(text: &str) -> Result<Self, RegistryClientError> {
        let refuse = |problem| {
            Err(RegistryClientError::Address {
                text: metier_model::text::visible(text).into_owned(),
                problem,
            })
        };
        let Ok(mut url) = Url::parse(text.trim()) else {
            return refuse("is not a URL");
        };
        let is_here = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return refuse("names no host"),
        };
        match url.scheme() {
            "https" => {}
            "http" if is_here => {}
            "http" => return refuse("is not encrypted; use https"),
            _ => return refuse("is not an https address"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            // The message names only the host: it can be logged, and the other parts are secret.
            return Err(RegistryClientError::Address {
                text: url.host_str().unwrap_or_default().to_owned(),
                problem: "is configured with a user name or password; use `metier login`",
            });
        }
        url.set_query(None);
        url.set_fragment(None);
        let text = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { url, text })
    }

    /// The address, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL, for its host and port.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// An address below `/api/v1`. Each part is one path segment, whatever it contains.
    pub(super) fn at(&self, parts: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut steps) = url.path_segments_mut() {
            steps.pop_if_empty().extend(["api", "v1"]).extend(parts);
        }
        url
    }
}

impl fmt::Display for RegistryAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_or_on_this_machine() {
        let check = |text: &str| RegistryAddress::parse(text).map(|address| address.to_string());
        assert_eq!(
            check("https://skills.example/").unwrap(),
            "https://skills.example"
        );
        assert_eq!(
            check("https://x.example/team?q#f").unwrap(),
            "https://x.example/team"
        );
        assert_eq!(
            check("http://127.0.0.1:7718").unwrap(),
            "http://127.0.0.1:7718"
        );
        for refused in [
            "http://skills.example",
            "ftp://skills.example",
            "skills.example",
            "https://ada:pw@skills.example",
            "file:///etc",
            "",
        ] {
            assert!(check(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_part_of_an_address_is_one_step() {
        let address = RegistryAddress::parse("https://x.example/team/").unwrap();
        let url = address.at(&["skills", "../../admin", "1.0.0?x#y"]);
        assert_eq!(
            url.as_str(),
            "https://x.example/team/api/v1/skills/..%2F..%2Fadmin/1.0.0%3Fx%23y"
        );
    }
}
