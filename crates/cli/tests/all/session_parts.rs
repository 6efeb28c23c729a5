//! The parts of a session that is created inside a test: approvals, the machine around skills, and a skill without files.

use std::{
    ffi::OsString,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use metier_catalog::Snapshot;
use metier_host::execution::{ExecutingSkill, HostEnvironment};
use metier_model::Digest;
use metier_policy::{ActMeter, GrantTerms, Headless, Rates};
use metier_runtime::{
    approvals::{Approvals, AskedQuestions},
    granted_skill::ActiveSkill,
};
use metier_store::SharedStore;

/// There is no user to ask, these skills are approved for this run, and the clock is fixed.
pub(crate) fn approvals(
    store: impl Into<SharedStore>,
    approved: &[&str],
    terms: GrantTerms,
) -> Approvals {
    Approvals {
        store: store.into(),
        approver: Arc::new(Headless),
        approved_now: approved.iter().map(|name| (*name).to_owned()).collect(),
        approved: Vec::new(),
        terms,
        clock: Arc::new(|| SystemTime::UNIX_EPOCH),
        warn: Arc::new(|_| {}),
        meter: ActMeter::default(),
        session: "s".into(),
        asking: AskedQuestions::default(),
    }
}

/// Each act is allowed this many times in a turn.
pub(crate) fn terms(rate: u64, project: &Path, home: Option<&Path>) -> GrantTerms {
    GrantTerms {
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

/// Only a project, and a folder for temporary files.
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
pub(crate) fn without_folder(named: &[(&str, &str)]) -> ExecutingSkill {
    let named = named.iter();
    ExecutingSkill {
        folder: None,
        write_files: Arc::new(|_| Ok(())),
        named: named
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect(),
    }
}

/// A skill without files.
pub(crate) fn without_files() -> ActiveSkill {
    ActiveSkill {
        place: "/skill".to_owned(),
        held: Arc::new(Snapshot {
            files: Vec::new(),
            digest: Digest([0; 32]),
            fingerprint: None,
        }),
    }
}
