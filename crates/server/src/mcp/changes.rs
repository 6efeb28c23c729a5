//! Notifications about changed skills, for clients that subscribed.
//!
//! One thread waits for changes and passes them on; every client is notified in its own way. The list of tools never changes.

use std::{
    sync::{Arc, OnceLock, Weak},
    thread,
    time::Duration,
};

use metier::SkillChanges;
use rmcp::{
    RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{Peer, SubscriptionContext},
};
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use super::{connections::Connection, skill_source::SkillSource};

/// How many changes a slow client may miss before it gets one notification for everything.
const QUEUE: usize = 16;

/// How long the thread waits at a time, before it checks that the server still runs.
const TURN: Duration = Duration::from_secs(60);

/// How long after the first client the watching of folders starts: the first request of a client comes first.
const START: Duration = Duration::from_millis(200);

/// Passes changes of skills on to every client.
#[derive(Default)]
pub(crate) struct ChangeRelay {
    sender: OnceLock<Sender<Arc<SkillChanges>>>,
}

impl ChangeRelay {
    /// Changes from now on.
    pub(crate) fn subscribe(&self, source: &Arc<SkillSource>) -> Receiver<Arc<SkillChanges>> {
        let sender = self.sender.get_or_init(|| {
            let (sender, _) = broadcast::channel(QUEUE);
            let (out, source) = (sender.clone(), Arc::downgrade(source));
            // Without a thread there are no notifications; requests are answered anyway.
            thread::Builder::new()
                .name("metier-changes".to_owned())
                .spawn(move || pass_on(&source, &out))
                .ok();
            sender
        });
        sender.subscribe()
    }
}

fn pass_on(source: &Weak<SkillSource>, out: &Sender<Arc<SkillChanges>>) {
    thread::sleep(START);
    loop {
        // Only a weak reference is kept, so this thread ends with the server.
        let watch = source
            .upgrade()
            .and_then(|source| source.live().ok()?.watch_from_first_list().ok());
        let Some(mut watch) = watch else {
            if source.strong_count() == 0 {
                return;
            }
            thread::sleep(TURN / 10);
            continue;
        };
        while source.strong_count() > 0 {
            if let Some(changes) = watch.next(TURN) {
                // There may be no listener at the moment.
                out.send(Arc::new(changes)).ok();
            }
        }
        return;
    }
}

/// The changes for one client: which lists, and which of the resources that it subscribed to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangeNews {
    pub(crate) lists: bool,
    pub(crate) resources: Vec<String>,
}

impl ChangeNews {
    /// The changes that concern a client with subscriptions to these resources. Without changes, everything may have changed.
    pub(crate) fn of<'u>(
        changes: Option<&SkillChanges>,
        wanted: impl IntoIterator<Item = &'u String>,
    ) -> Self {
        let Some(changes) = changes else {
            return Self {
                lists: true,
                resources: wanted.into_iter().cloned().collect(),
            };
        };
        let all = [&changes.added, &changes.changed, &changes.removed];
        let is_about = |uri: &str| {
            let name = uri
                .strip_prefix("skill://")
                .and_then(|rest| rest.split('/').next());
            let mut changed = all.iter().flat_map(|skills| skills.iter());
            changed.any(|skill| Some(skill.name.as_str()) == name)
        };
        Self {
            lists: !changes.is_empty(),
            resources: wanted
                .into_iter()
                .filter(|uri| is_about(uri))
                .cloned()
                .collect(),
        }
    }
}

/// The next changes; `None` inside if some were missed. The outer `None` is the end.
pub(crate) async fn next(
    changes: &mut Receiver<Arc<SkillChanges>>,
) -> Option<Option<Arc<SkillChanges>>> {
    match changes.recv().await {
        Ok(changes) => Some(Some(changes)),
        Err(RecvError::Lagged(_)) => Some(None),
        Err(RecvError::Closed) => None,
    }
}

/// Notifies a client of the older protocol until it leaves.
pub(crate) async fn notify(
    peer: Peer<RoleServer>,
    connection: Weak<Connection>,
    mut changes: Receiver<Arc<SkillChanges>>,
) {
    while let Some(changes) = next(&mut changes).await {
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let news = ChangeNews::of(changes.as_deref(), connection.subscribed().iter());
        drop(connection);
        if news.lists {
            let told = peer.notify_prompt_list_changed().await;
            if told.is_err() || peer.notify_resource_list_changed().await.is_err() {
                return;
            }
        }
        for uri in news.resources {
            let param = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(param).await.is_err() {
                return;
            }
        }
    }
}

/// Notifies a client that listens, until it stops.
pub(crate) async fn listen(
    context: &SubscriptionContext,
    mut changes: Receiver<Arc<SkillChanges>>,
) {
    let (sink, accepted) = (context.sink(), context.accepted());
    let wanted = accepted.resource_subscriptions.clone().unwrap_or_default();
    loop {
        let changes = tokio::select! {
            () = context.cancelled() => return,
            changes = next(&mut changes) => changes,
        };
        let Some(changes) = changes else {
            return;
        };
        let news = ChangeNews::of(changes.as_deref(), &wanted);
        let mut told = Ok(());
        if news.lists && accepted.prompts_list_changed == Some(true) {
            told = sink.notify_prompt_list_changed().await;
        }
        if told.is_ok() && news.lists && accepted.resources_list_changed == Some(true) {
            told = sink.notify_resource_list_changed().await;
        }
        for uri in news.resources {
            if told.is_ok() {
                told = sink.notify_resource_updated(uri).await;
            }
        }
        if told.is_err() {
            return;
        }
    }
}
