//! The connection to a server: TCP, and TLS if the URL requires it.
//!
//! Each call has its own client, so that ending one ends no other. They share TLS: the system's certificates are read once, when
//! the first `https:` URL needs them, and sessions with known servers are resumed.
//!
//! Redirects are not followed: they could take the key elsewhere. Proxies of the environment are not used.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, RustlsConnector, TcpConnector, Transport,
};

use super::limits::ProviderLimits;

/// How much longer than its caller a client may take to notice the end.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(super) struct ProviderConnection {
    tls: TlsConfig,
    secured: Secured,
}

impl ProviderConnection {
    /// Trusts the certificates that the system trusts.
    pub(super) fn system() -> Self {
        Self::new(RootCerts::PlatformVerifier)
    }

    fn new(roots: RootCerts) -> Self {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
            .root_certs(roots)
            .build();
        Self {
            tls,
            secured: Secured::default(),
        }
    }

    /// A client for one call.
    pub(super) fn client(&self, limits: &ProviderLimits) -> Agent {
        let config = Agent::config_builder()
            .tls_config(self.tls.clone())
            .proxy(None) // the default would read the environment
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_response_header_size(64 * 1024)
            .max_idle_connections(0)
            .user_agent(concat!("metier/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_send_body(Some(limits.first_byte))
            .timeout_recv_response(Some(limits.first_byte))
            // The waiting thread checks the time; this only ends a thread without one.
            .timeout_global(Some(limits.whole.saturating_add(GRACE)))
            .build();
        let connector = ().chain(TcpConnector::default()).chain(self.secured.clone());
        Agent::with_parts(config, connector, DefaultResolver::default())
    }
}

/// TLS, shared by many clients.
#[derive(Debug, Clone, Default)]
struct Secured(Arc<RustlsConnector>);

impl<In: Transport> Connector<In> for Secured {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        self.0.connect(details, chained)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};
    use ureq::tls::Certificate;

    use super::*;

    /// The system's verifier can't be made to trust a test certificate; this test shows that TLS works at all.
    #[test]
    fn a_server_with_a_trusted_certificate_is_contacted() {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let provider = aws_lc_rs::default_provider();
        let config = ServerConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = Arc::new(config);
        let serving = thread::spawn(move || {
            for _ in 0..2 {
                let (stream, _) = listener.accept().unwrap();
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let mut head = [0; 1024];
                assert!(stream.read(&mut head).unwrap() > 0);
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
                    .unwrap();
                stream.conn.send_close_notify();
                stream.flush().unwrap();
            }
        });
        let root = Certificate::from_der(own.cert.der()).to_owned();
        let line = ProviderConnection::new(RootCerts::new_with_certs(&[root]));
        let url = format!("https://localhost:{port}/");
        for _ in 0..2 {
            let client = line.client(&ProviderLimits::default());
            let mut answer = client.get(&url).call().unwrap();
            assert_eq!(answer.body_mut().read_to_string().unwrap(), "hi");
            client.shutdown(); // the next call does not notice
        }
        serving.join().unwrap();
    }
}
