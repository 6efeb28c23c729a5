//! One activation at work: every act is permitted, done and written down, in this order and nowhere else.

use std::{ffi::OsString, path::PathBuf, rc::Rc, time::Instant};

use metier_host::{
    backend::Started,
    child::{Exit, Outcome as Ended},
    net::{Decision, Seen},
    world::{Deno, Done, Surroundings, Wasi, World, WorldError},
};
use metier_model::Permission;
use metier_policy::{Act, Fetch, Grant, Permit, Refusal};
use metier_store::{NewReceipt, Outcome, Receipt, StoreError};

use crate::{
    desk::{Desk, Went},
    redact::Redactor,
};

/// A skill with a grant, and the world that it may change.
pub struct Worker<'a> {
    desk: &'a Desk<'a>,
    grant: Rc<Grant>,
    world: World<'a>,
    redactor: Redactor,
    /// Whether the skill still has the bytes that were approved.
    unchanged: Box<dyn Fn() -> bool + 'a>,
    receipts: std::cell::RefCell<Vec<Receipt>>,
}

/// Why an act was not done.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The grant does not hold it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// Its files are not the ones that were approved any more.
    #[error("its files changed after they were looked at; try again")]
    Changed,
    /// The world would not.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A model or another skill would not.
    #[error("{0}")]
    Elsewhere(String),
    /// It can't be written down; what can't be written down is not done.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'a> Worker<'a> {
    /// Ready to work.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub fn new(
        desk: &'a Desk<'a>,
        grant: Rc<Grant>,
        around: Surroundings<'a>,
        redactor: Redactor,
        unchanged: Box<dyn Fn() -> bool + 'a>,
    ) -> Result<Self, WorldError> {
        Ok(Self {
            desk,
            world: World::new(Rc::clone(&grant), around)?,
            grant,
            redactor,
            unchanged,
            receipts: std::cell::RefCell::default(),
        })
    }

    /// Does one thing, if it may.
    ///
    /// # Errors
    /// When it may not, when it can't be done, or when it can't be written down.
    pub fn act(&self, act: &Act) -> Result<Done, Failed> {
        let permit = self.permit(act)?;
        // A question may stay open for minutes: what runs must be what was asked about.
        if act.permission() == Permission::ShellExec && !(self.unchanged)() {
            self.note(act, &Went::refused(Failed::Changed.to_string()))?;
            return Err(Failed::Changed);
        }
        let start = Instant::now();
        let done = self.world.act(&permit);
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(Done::Child(ended, _)) => child(ended),
            Ok(_) => Went::well(ms),
            Err(error) if error.is_refusal() => Went::refused(error.to_string()),
            Err(error) => Went::badly(Outcome::Error, error.to_string(), ms),
        };
        self.note(act, &went)?;
        if let Ok(Done::Child(_, seen)) = &done {
            seen.iter().try_for_each(|seen| self.note_host(seen))?;
        }
        Ok(done?)
    }

    /// Lets something be done elsewhere (a model asked, another skill invoked), if it may.
    ///
    /// # Errors
    /// When it may not, when it did not work, or when it can't be written down.
    pub fn elsewhere<T>(
        &self,
        act: &Act,
        deed: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, Failed> {
        self.permit(act)?;
        let start = Instant::now();
        let done = deed();
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(_) => Went::well(ms),
            Err(reason) => Went::badly(Outcome::Error, reason.clone(), ms),
        };
        self.note(act, &went)?;
        done.map_err(Failed::Elsewhere)
    }

    /// The permit for an act; without one that is written down.
    ///
    /// # Errors
    /// When there is none.
    pub fn permit(&self, act: &Act) -> Result<Permit, Failed> {
        match self.grant.permit(act.clone(), &self.desk.meter) {
            Ok(permit) => Ok(permit),
            Err(refusal) => {
                self.note(act, &Went::refused(refusal.message.clone()))?;
                Err(refusal.into())
            }
        }
    }

    /// Starts a program that stays. That it runs is written down by whoever talks to it.
    ///
    /// # Errors
    /// When it can't be started, or not be confined.
    pub fn start(&self, permit: &Permit) -> Result<Started, WorldError> {
        if !(self.unchanged)() {
            return Err(WorldError::Changed);
        }
        self.world.start(permit).map(Started::from)
    }

    /// Starts a room for a library of the skill, to be talked to.
    ///
    /// # Errors
    /// When it can't be started, or not be confined.
    pub fn start_library(&self, permit: &Permit) -> Result<Started, WorldError> {
        if !(self.unchanged)() {
            return Err(WorldError::Changed);
        }
        self.world.start_library(permit).map(Started::from)
    }

    /// What its grant opens for WebAssembly.
    ///
    /// # Errors
    /// When a granted place can't be opened.
    pub fn wasi(&self) -> Result<Wasi, WorldError> {
        self.world.wasi()
    }

    /// Starts Deno, which stays, with what was granted and nothing else.
    ///
    /// # Errors
    /// When it can't be started, or not be confined.
    pub fn start_deno(&self, deno: &Deno) -> Result<Started, WorldError> {
        if !(self.unchanged)() {
            return Err(WorldError::Changed);
        }
        self.world.start_deno(deno).map(Started::from)
    }

    /// What Deno is started with.
    ///
    /// # Errors
    /// When the grant names a place that can't be opened.
    pub fn deno_arguments(&self, deno: &Deno) -> Result<Vec<OsString>, WorldError> {
        self.world.deno_arguments(deno)
    }

    /// Writes down which hosts a program that stays has reached for since this was asked last.
    ///
    /// # Errors
    /// When it can't be.
    pub fn note_hosts(&self) -> Result<(), StoreError> {
        let seen = self.world.seen();
        seen.iter().try_for_each(|seen| self.note_host(seen))
    }

    /// Writes down something that is no act: a call, a hook, a start.
    ///
    /// # Errors
    /// When it can't be.
    pub fn record(&self, act: &str, detail: &str, went: &Went) -> Result<(), StoreError> {
        let identity = self.grant.identity();
        let receipt = self
            .desk
            .record(identity, act, detail, went, &self.redactor)?;
        self.receipts.borrow_mut().extend(receipt);
        Ok(())
    }

    /// The same for later: [`Worker::keep`] what becomes of it.
    pub(crate) fn draft(&self, act: &str, detail: &str, went: &Went) -> NewReceipt {
        let identity = self.grant.identity();
        self.desk.draft(identity, act, detail, went, &self.redactor)
    }

    /// Takes a receipt that somebody else wrote down for it.
    pub(crate) fn keep(&self, receipt: Receipt) {
        self.receipts.borrow_mut().push(receipt);
    }

    /// What it may do.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// What was written down since this was asked last.
    #[must_use]
    pub fn take_receipts(&self) -> Vec<Receipt> {
        self.receipts.take()
    }

    /// A text without the secrets that the skill was given.
    #[must_use]
    pub fn clean(&self, bytes: &[u8]) -> String {
        self.redactor.clean(&String::from_utf8_lossy(bytes))
    }

    /// What was written down so far.
    #[must_use]
    pub fn receipts(&self) -> Vec<Receipt> {
        self.receipts.borrow().clone()
    }

    /// A host that a child reached for, through its proxy: an act of its own.
    fn note_host(&self, seen: &Seen) -> Result<(), StoreError> {
        let act = Act::Fetch(Fetch {
            method: "CONNECT".into(),
            url: format!("{}:{}", seen.host, seen.port).into(),
            host: seen.host.as_str().into(),
            port: seen.port,
            headers: Vec::new(),
            body: Vec::new(),
        });
        let (outcome, reason) = match &seen.decision {
            Decision::Allowed => (Some(Outcome::Ok), None),
            Decision::Cut(reason) => (Some(Outcome::Error), Some(reason.clone())),
            Decision::Refused(reason) => (None, Some(reason.clone())),
        };
        let went = Went {
            outcome,
            reason,
            ms: seen.ms,
            sandbox: None,
        };
        self.note(&act, &went)
    }

    fn note(&self, act: &Act, went: &Went) -> Result<(), StoreError> {
        let receipt = self
            .desk
            .note(self.grant.identity(), act, went, &self.redactor)?;
        self.receipts.borrow_mut().extend(receipt);
        Ok(())
    }
}

/// Protected places that a child made, in words.
pub(crate) fn undone(places: &[PathBuf]) -> String {
    let places = places.iter().map(|place| place.display().to_string());
    let places = places.collect::<Vec<_>>().join(", ");
    format!("it made protected files, which were removed or renamed to NAME.undone-N: {places}")
}

fn child(ended: &Ended) -> Went {
    let mut reasons = Vec::new();
    if ended.exit != Exit::Code(0) {
        reasons.push(ended.exit.to_string());
    }
    if ended.survivors_killed {
        reasons.push("it left processes running, which were ended".to_owned());
    }
    if !ended.undone.is_empty() {
        reasons.push(undone(&ended.undone));
    }
    Went {
        outcome: Some(match ended.exit {
            Exit::Code(0) if ended.undone.is_empty() => Outcome::Ok,
            Exit::TimedOut => Outcome::Timeout,
            _ => Outcome::Error,
        }),
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        ms: ended.ms,
        sandbox: Some(World::confinement(ended).to_owned()),
    }
}
