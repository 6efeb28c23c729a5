//! The parts of a session that is made inside of a test: a desk, the machine around skills, and a skill without files.

use std::{
    ffi::OsString,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use metier_catalog::Snapshot;
use metier_host::world::{HostEnvironment, SkillInWorld};
use metier_model::Digest;
use metier_policy::{Headless, Meter, Rates, Terms};
use metier_runtime::{
    desk::{Asking, Desk},
    worker::SkillAtWork,
};
use metier_store::SharedStore;

/// Nobody is asked, these skills are approved for this run, and the clock stands still.
pub(crate) fn desk(store: impl Into<SharedStore>, approved: &[&str], terms: Terms) -> Desk {
    Desk {
        store: store.into(),
        approver: Arc::new(Headless),
        approved_now: approved.iter().map(|name| (*name).to_owned()).collect(),
        approved: Vec::new(),
        terms,
        clock: Arc::new(|| SystemTime::UNIX_EPOCH),
        warn: Arc::new(|_| {}),
        meter: Meter::default(),
        session: "s".into(),
        asking: Asking::default(),
    }
}

/// Each act may happen so many times in a turn.
pub(crate) fn terms(rate: u64, project: &Path, home: Option<&Path>) -> Terms {
    Terms {
        rates: Rates {
            shell_exec: rate,
            net_fetch: rate,
            llm_call: rate,
        },
        shell_timeout: Duration::from_secs(20),
        fetch_timeout: Duration::from_secs(20),
        prefixes: None,
        project: project.to_owned(),
        home: home.map(Path::to_owned),
    }
}

/// Nothing but a project, and a place for temporary files.
pub(crate) fn host_environment(shim: &Path, project: &Path, temporary: &Path) -> HostEnvironment {
    HostEnvironment {
        shim: shim.to_owned(),
        work: project.to_owned(),
        home: None,
        path: None,
        common: Vec::new(),
        own: Vec::new(),
        obeyed: Vec::new(),
        temporary: temporary.to_owned(),
        unsandboxed: false,
        stop: None,
    }
}

/// A skill without a folder, for which these variables are set.
pub(crate) fn without_folder(named: &[(&str, &str)]) -> SkillInWorld {
    let named = named.iter();
    SkillInWorld {
        folder: None,
        write_files: Arc::new(|_| Ok(())),
        named: named
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect(),
    }
}

/// A skill without files.
pub(crate) fn without_files() -> SkillAtWork {
    SkillAtWork {
        place: "/skill".to_owned(),
        held: Arc::new(Snapshot {
            files: Vec::new(),
            digest: Digest([0; 32]),
            fingerprint: None,
        }),
    }
}
