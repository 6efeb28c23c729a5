//! Every way to a server as one type.
//!
//! **Problem.** The library's client is generic over its transport, and a program and two kinds of HTTP made three copies of all of it: most of the machine
//! code of this crate, and of the time to compile it. **Decision.** The library gets one type, which calls the real transport through a table. A message
//! more or less takes microseconds; its way takes longer.

use std::fmt;

use futures::future::BoxFuture;
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{IntoTransport, Transport},
};

/// A transport of any kind.
pub(crate) struct AnyTransport(Box<dyn BoxedTransport>);

impl AnyTransport {
    pub(crate) fn new<E, A>(transport: impl IntoTransport<RoleClient, E, A>) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        Self(Box::new(transport.into_transport()))
    }
}

impl Transport<RoleClient> for AnyTransport {
    type Error = TransportFailure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), TransportFailure>> + Send + 'static {
        self.0.send_boxed(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.0.receive_boxed()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), TransportFailure>> + Send {
        self.0.close_boxed()
    }
}

/// [`Transport`] with futures that have a size.
trait BoxedTransport: Send {
    fn send_boxed(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), TransportFailure>>;

    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>>;

    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), TransportFailure>>;
}

impl<T: Transport<RoleClient>> BoxedTransport for T {
    fn send_boxed(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), TransportFailure>> {
        let sending = self.send(message);
        Box::pin(async { sending.await.map_err(TransportFailure::new) })
    }

    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>> {
        Box::pin(self.receive())
    }

    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), TransportFailure>> {
        Box::pin(async { self.close().await.map_err(TransportFailure::new) })
    }
}

/// Why a transport failed. Its source is the error of the transport itself, which says what the server demands.
#[derive(Debug)]
pub(crate) struct TransportFailure(Box<dyn std::error::Error + Send + Sync>);

impl TransportFailure {
    fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Display for TransportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for TransportFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
