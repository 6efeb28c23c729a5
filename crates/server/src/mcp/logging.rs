//! Messages about skills, for clients that want them.
//!
//! The newer protocol deprecates them, and the SDK with it. Clients of the older one have no other way to see messages.
#![expect(
    deprecated,
    reason = "clients of the older protocol have no other way to see messages"
)]

use std::sync::atomic::Ordering;

use metier::NoticeLevel;
use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam},
    service::RequestContext,
};
use serde_json::json;

use super::{connections::Connection, server::is_modern};

/// From the least important level, 1, upwards.
pub(crate) fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}

/// Passes a message on to a client that wants such messages.
pub(crate) async fn log(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    level: NoticeLevel,
    line: &str,
) {
    let level = match level {
        NoticeLevel::Alert | NoticeLevel::Warning => LoggingLevel::Warning,
        NoticeLevel::Note => LoggingLevel::Info,
    };
    let is_wanted = match context.meta.log_level() {
        Some(least) => rank(level) >= rank(least),
        None => {
            !is_modern(context) && {
                let least = connection.log_level().load(Ordering::Relaxed);
                least > 0 && rank(level) >= least
            }
        }
    };
    if is_wanted {
        let param = LoggingMessageNotificationParam::new(level, json!(line)).with_logger("metier");
        context.peer.notify_logging_message(param).await.ok();
    }
}
