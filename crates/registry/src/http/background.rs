//! A registry on a thread, for programs that embed one and for tests.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::serve;
use crate::registry::Registry;

/// A registry that is served until this value is dropped.
pub struct BackgroundServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundServer {
    /// Serves a registry on a free port of this machine.
    ///
    /// # Errors
    /// If no port can be opened, or no thread started.
    pub fn start(registry: Registry) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("metier-registry".to_owned())
            .spawn(move || {
                let served = runtime.block_on(async {
                    let listener = TcpListener::from_std(listener)?;
                    let shutdown = async {
                        // A dropped sender requests the end too.
                        let _asked = stopped.await;
                    };
                    serve(listener, registry, None, shutdown).await
                });
                if let Err(error) = served {
                    tracing::error!(%error, "the registry ended");
                }
            })?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended already.
            let _ended = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}
