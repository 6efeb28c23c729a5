//! The real access: the user's git, sandboxed, and requests whose addresses are checked at every hop.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use metier_host::net::{
    self, AllowedHosts, FetchLimits, FetchRequest, FetchResponse, NetError, Resolve,
    SystemResolver, Trust,
};
use metier_model::text::visible;
use url::Url;

use super::{
    access::{Download, DownloadRequest, GitRun, ObjectReader, SourceAccess},
    error::FetchError,
    host_git,
    quarantine::QuarantineRoom,
};

/// How often an interrupted download is continued.
const MAX_ATTEMPTS: usize = 5;

/// The caller's values, since this crate reads no environment: programs, folders, variables, and the stop flag.
#[derive(Clone, Debug)]
pub struct AccessSettings {
    /// Our own binary, which is started again to set up the sandbox.
    pub launcher: PathBuf,
    /// The folder for untrusted files. No skill can reach it.
    pub quarantine: PathBuf,
    /// The folders of programs, as in `PATH`.
    pub path: OsString,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's environment, for ssh and for a credential helper.
    pub environment: Vec<(OsString, OsString)>,
    /// Set when the user interrupts.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Access through the host.
pub struct HostAccess {
    pub(super) settings: AccessSettings,
    resolver: Arc<dyn Resolve>,
    trust: Trust,
    clawhub: String,
}

/// The base address of ClawHub, unless a test replaces it.
const CLAWHUB: &str = "https://clawhub.ai";

impl HostAccess {
    /// Access with these settings. Nothing happens until a source is opened.
    #[must_use]
    pub fn new(settings: AccessSettings) -> Self {
        Self {
            settings,
            resolver: Arc::new(SystemResolver::default()),
            trust: Trust::system(),
            clawhub: CLAWHUB.to_owned(),
        }
    }

    /// Uses another address for ClawHub.
    #[must_use]
    pub fn with_clawhub(self, address: &str) -> Self {
        let clawhub = address.trim_end_matches('/').to_owned();
        Self { clawhub, ..self }
    }

    /// Uses another resolver of names and other certificates, for tests.
    #[must_use]
    pub fn with_network(
        settings: AccessSettings,
        resolver: Arc<dyn Resolve>,
        trust: Trust,
    ) -> Self {
        Self {
            settings,
            resolver,
            trust,
            clawhub: CLAWHUB.to_owned(),
        }
    }

    pub(super) fn resolver(&self) -> Arc<dyn Resolve> {
        Arc::clone(&self.resolver)
    }

    pub(super) fn is_stopped(&self) -> bool {
        let stop = self.settings.stop.as_deref();
        stop.is_some_and(|stop| stop.load(Ordering::Acquire))
    }

    /// The hosts that a fetch can reach: the typed one, and for downloads every public one.
    pub(super) fn hosts(&self, typed: &Url, any: bool) -> Result<AllowedHosts, FetchError> {
        let refused = |reason: String| FetchError::Answer {
            url: typed.to_string(),
            reason,
        };
        if !typed.has_host() {
            return Err(refused("it has no host".to_owned()));
        }
        let hosts = AllowedHosts::typed([typed], any, self.resolver.as_ref());
        hosts.map_err(|error| refused(error.to_string()))
    }

    /// One request of a download; received bytes are appended to the earlier ones.
    fn attempt(
        &self,
        request: &DownloadRequest<'_>,
        hosts: &AllowedHosts,
        limits: &FetchLimits,
        partial: &mut PartialDownload,
    ) -> Result<FetchResponse, NetError> {
        let mut headers = vec![
            ("accept-encoding".to_owned(), "identity".to_owned()),
            ("accept".to_owned(), "*/*".to_owned()),
        ];
        if let Some(validator) = partial.validator() {
            headers.push((
                "range".to_owned(),
                format!("bytes={}-", partial.bytes.len()),
            ));
            headers.push(("if-range".to_owned(), validator.to_owned()));
        }
        let fetch = FetchRequest {
            url: request.url.to_string(),
            headers,
            ..FetchRequest::default()
        };
        let resolver = self.resolver.as_ref();
        let mut begun = false;
        net::fetch_in_pieces(
            &fetch,
            hosts,
            limits,
            resolver,
            &self.trust,
            &mut |response, piece| {
                if !begun {
                    begun = true;
                    if !partial.begin(response) {
                        return false;
                    }
                }
                partial.bytes.extend_from_slice(piece);
                (request.progress)(partial.bytes.len() as u64, partial.total);
                partial.bytes.len() <= request.max_bytes && !self.is_stopped()
            },
        )
    }
}

/// The bytes of a download so far, and how to recognise their file.
#[derive(Default)]
struct PartialDownload {
    bytes: Vec<u8>,
    tag: Option<String>,
    total: Option<u64>,
    /// A status without content of the file.
    other_status: bool,
}

impl PartialDownload {
    /// The server's identifier of the file, if there is a download to continue.
    fn validator(&self) -> Option<&str> {
        self.tag.as_deref().filter(|_| !self.bytes.is_empty())
    }

    /// Reads the head of a response; `false` if its body is not used.
    fn begin(&mut self, response: &FetchResponse) -> bool {
        let header = |name: &str| {
            let mut headers = response.headers.iter();
            let found = headers.find(|(other, _)| other == name);
            found.map(|(_, value)| value.as_str())
        };
        // A weak tag does not promise the same bytes.
        let tag = header("etag").filter(|tag| tag.starts_with('"'));
        let announced = header("content-length").and_then(|text| text.parse::<u64>().ok());
        self.other_status = !matches!(response.status, 200 | 206);
        let continues = response.status == 206
            && tag.is_some()
            && tag == self.tag.as_deref()
            && header("content-range").and_then(first_of_range) == Some(self.bytes.len() as u64);
        if !continues {
            // The whole file again, or a part of another file.
            self.bytes.clear();
            self.total = announced;
        }
        self.tag = tag.map(str::to_owned);
        response.status != 206 || continues
    }
}

/// `bytes 100-199/200` begins at 100.
fn first_of_range(text: &str) -> Option<u64> {
    let range = text.strip_prefix("bytes ")?;
    range.split_once('-')?.0.parse().ok()
}

impl SourceAccess for HostAccess {
    fn home(&self) -> Option<&Path> {
        self.settings.home.as_deref()
    }

    fn clawhub(&self) -> &str {
        &self.clawhub
    }

    fn quarantine(&self) -> Result<QuarantineRoom, FetchError> {
        QuarantineRoom::new(&self.settings.quarantine)
    }

    fn git(&self, run: &GitRun<'_>) -> Result<Vec<u8>, FetchError> {
        host_git::run(self, run)
    }

    fn objects(&self, run: &GitRun<'_>) -> Result<Box<dyn ObjectReader>, FetchError> {
        host_git::objects(self, run)
    }

    fn download(&self, request: &DownloadRequest<'_>) -> Result<Download, FetchError> {
        let hosts = self.hosts(request.typed, true)?;
        let mut limits = FetchLimits {
            timeout: request.limits.timeout,
            max_body: request.max_bytes as u64,
            ..FetchLimits::default()
        };
        let until = Instant::now() + request.limits.timeout;
        let mut partial = PartialDownload::default();
        let failed = |error| FetchError::Net {
            url: visible(request.url.as_str()).into_owned(),
            error: Box::new(error),
        };
        for attempt in 1.. {
            limits.timeout = until.saturating_duration_since(Instant::now());
            let result = self.attempt(request, &hosts, &limits, &mut partial);
            if self.is_stopped() {
                return Err(FetchError::Stopped);
            }
            match result {
                Ok(response) if response.status == 206 && partial.validator().is_none() => {
                    // A part of a different file: it is downloaded again.
                    partial = PartialDownload::default();
                }
                Ok(response) => return finished(request, &response, partial),
                // An interrupted download can be continued, or restarted.
                Err(NetError::Broken { .. }) if attempt < MAX_ATTEMPTS => {
                    if partial.tag.is_none() || partial.other_status {
                        partial = PartialDownload::default();
                    }
                }
                Err(error) => return Err(failed(error)),
            }
            if attempt >= MAX_ATTEMPTS {
                break;
            }
        }
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let reason = "the server sent parts of different files".to_owned();
        Err(failed(NetError::Broken { host, reason }))
    }
}

/// Checks a complete response.
fn finished(
    request: &DownloadRequest<'_>,
    response: &FetchResponse,
    partial: PartialDownload,
) -> Result<Download, FetchError> {
    let url = visible(request.url.as_str()).into_owned();
    if !matches!(response.status, 200 | 206) {
        let text = String::from_utf8_lossy(&partial.bytes);
        let first = text.lines().next().unwrap_or_default();
        let is_text = !first.trim_start().starts_with(['<', '{']);
        let message: String = visible(first).chars().take(200).collect();
        return Err(FetchError::Status {
            url,
            status: response.status,
            message: if is_text { message } else { String::new() },
        });
    }
    let answer = |reason: String| FetchError::Answer { url, reason };
    if partial.bytes.len() > request.max_bytes {
        let limit = request.max_bytes;
        return Err(answer(format!("it is larger than {limit} bytes")));
    }
    let Ok(found_at) = Url::parse(&response.url) else {
        return Err(answer("its address can't be read".to_owned()));
    };
    let is_typed = found_at.host() == request.typed.host();
    if found_at.scheme() != "https" && !is_typed {
        return Err(answer(
            "a redirect goes to an address without encryption".to_owned(),
        ));
    }
    let media = response
        .headers
        .iter()
        .find(|(name, _)| name == "content-type");
    let media = media.map_or("", |(_, value)| value.as_str());
    Ok(Download {
        url: found_at,
        media_type: media
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
        bytes: partial.bytes,
    })
}
