//! Requests for permission that are answered elsewhere: on a page, by a client, on another thread, later.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use metier_policy::{ApprovalQuestion, ApprovalSubject, Approver, Changes, Reply};

/// Collects requests for permission until they are answered.
///
/// A session that needs an answer waits on its own thread; the queue itself never blocks. A request that is not answered in time is denied: the
/// act is refused, with a receipt.
///
/// ```no_run
/// use metier::{ApprovalQueue, Reply, SessionOptions};
/// # use std::{sync::Arc, time::Duration};
///
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let queue = ApprovalQueue::new(Duration::from_secs(60));
/// let options = SessionOptions { approver: Some(Arc::new(queue.clone())), ..SessionOptions::default() };
/// let mut session = workspace.session(&workspace.skills()?, options)?;
/// let working = std::thread::spawn(move || session.activate("kubernetes"));
/// while !working.is_finished() {
///     if let Some(pending) = queue.wait(Duration::from_millis(20)) {
///         println!("{} asks for {}", pending.skill(), pending.wants().join(", "));
///         queue.answer(pending.id, Reply::Once);
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// `examples/approve_from_elsewhere.rs` is this as a whole program.
#[derive(Clone)]
pub struct ApprovalQueue {
    shared: Arc<QueueShared>,
    patience: Duration,
    listener: Option<Arc<ApprovalListener>>,
}

/// Receives each question when it is asked, and again with the answer.
type ApprovalListener = dyn Fn(&PendingApproval, Option<Reply>) + Send + Sync;

#[derive(Default)]
struct QueueShared {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    last_id: u64,
    is_closed: bool,
    open: Vec<PendingApproval>,
    answered: Vec<(u64, Reply)>,
}

/// A question that waits for an answer.
///
/// Sessions ask such questions; this one is asked by hand:
///
/// ```
/// use metier::{ApprovalIdentity, ApprovalQuestion, ApprovalQueue, Approver, Digest, Reply, Source};
/// # use std::{thread, time::Duration};
///
/// let queue = ApprovalQueue::new(Duration::from_secs(60));
/// let identity = ApprovalIdentity { skill: "pdf".into(), source: Source::User, digest: Digest([0; 32]) };
/// let question = ApprovalQuestion::about_permissions(identity, "/skills/pdf".into(), "s1".into(), Vec::new(), None);
/// let asking = thread::spawn({ let queue = queue.clone(); move || queue.ask(&question) });
/// let pending = queue.wait(Duration::from_secs(60)).expect("a question");
/// assert_eq!(pending.skill(), "pdf");
/// assert!(queue.answer(pending.id, Reply::Once));
/// assert_eq!(asking.join().expect("no panic"), Reply::Once);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    /// Its number, for [`ApprovalQueue::answer`].
    pub id: u64,
    /// The question: which skill, in which bytes, how dangerous, which answers are offered.
    pub question: ApprovalQuestion,
}

impl PendingApproval {
    /// The name of the skill that asks. Its source and its exact bytes are in [`PendingApproval::question`].
    ///
    /// An example is at [`PendingApproval`].
    #[must_use]
    pub fn skill(&self) -> &str {
        &self.question.identity.skill
    }

    /// The requested permissions, such as `shell:exec(git *)`; or one act that is about to happen, as the user would write it.
    ///
    /// The example of [`ApprovalQueue`] prints them.
    #[must_use]
    pub fn wants(&self) -> Vec<String> {
        match &self.question.subject {
            ApprovalSubject::Permissions { asked, .. } => {
                asked.iter().map(|asked| asked.want.to_string()).collect()
            }
            ApprovalSubject::Act(pending) => vec![pending.shown().to_owned()],
        }
    }

    /// The differences from the bytes that the user approved before; none if the user approved none, or if the question is about one act.
    ///
    /// [`PendingApproval`] has an example of a question without them; [`difference`](crate::approval_text::difference) prints them.
    #[must_use]
    pub fn changes(&self) -> Option<&Changes> {
        match &self.question.subject {
            ApprovalSubject::Permissions { changes, .. } => changes.as_ref(),
            ApprovalSubject::Act(_) => None,
        }
    }
}

impl ApprovalQueue {
    /// A queue whose questions stay open for this long; after that they are denied.
    ///
    /// An example is at [`ApprovalQueue`].
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self {
            shared: Arc::default(),
            patience,
            listener: None,
        }
    }

    /// This queue with a listener, which receives each question when it is asked, and again with the answer. It is called on the threads that
    /// ask and answer, and must not wait.
    ///
    /// ```
    /// use metier::ApprovalQueue;
    /// use std::time::Duration;
    ///
    /// let queue = ApprovalQueue::new(Duration::from_secs(60)).with_listener(|pending, reply| match reply {
    ///     None => println!("{} asks", pending.skill()),
    ///     Some(reply) => println!("question {} was answered: {reply:?}", pending.id),
    /// });
    /// # assert!(queue.pending().is_empty());
    /// ```
    #[must_use]
    pub fn with_listener(
        self,
        listener: impl Fn(&PendingApproval, Option<Reply>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
            ..self
        }
    }

    /// Answers all open questions with a no, and those that follow: for a program that is about to end.
    ///
    /// ```
    /// use metier::ApprovalQueue;
    /// use std::time::Duration;
    ///
    /// let queue = ApprovalQueue::new(Duration::from_secs(60));
    /// queue.close();
    /// assert!(queue.pending().is_empty());
    /// ```
    pub fn close(&self) {
        self.state().is_closed = true;
        for pending in self.pending() {
            // It may have been answered meanwhile.
            let _was_open = self.answer(pending.id, Reply::Deny);
        }
    }

    fn tell(&self, pending: &PendingApproval, reply: Option<Reply>) {
        if let Some(listener) = &self.listener {
            listener(pending, reply);
        }
    }

    /// The questions that wait now, the oldest first.
    ///
    /// The example of [`ApprovalQueue::close`] calls it; [`ApprovalQueue::wait`] waits for the first of them.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingApproval> {
        self.state().open.clone()
    }

    /// Waits for a question, at most this long, and returns the oldest. It stays in the queue until it is answered.
    ///
    /// An example is at [`ApprovalQueue`].
    #[must_use]
    pub fn wait(&self, most: Duration) -> Option<PendingApproval> {
        let is_empty = |state: &mut QueueState| state.open.is_empty();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.state(), most, is_empty);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.open.first().cloned()
    }

    /// Answers a question; returns whether it was still open. An answer that the question does not offer is a no.
    ///
    /// ```
    /// use metier::{ApprovalQueue, Reply};
    /// use std::time::Duration;
    ///
    /// let queue = ApprovalQueue::new(Duration::from_secs(60));
    /// assert!(!queue.answer(1, Reply::Once), "there is no such question");
    /// ```
    #[must_use]
    pub fn answer(&self, id: u64, reply: Reply) -> bool {
        let mut state = self.state();
        let Some(position) = state.open.iter().position(|one| one.id == id) else {
            return false;
        };
        let pending = state.open.remove(position);
        state.answered.push((id, reply));
        self.shared.changed.notify_all();
        drop(state);
        self.tell(&pending, Some(reply));
        true
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for ApprovalQueue {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        let mut state = self.state();
        if state.is_closed {
            return Reply::Deny;
        }
        state.last_id += 1;
        let id = state.last_id;
        let pending = PendingApproval {
            id,
            question: question.clone(),
        };
        state.open.push(pending.clone());
        self.shared.changed.notify_all();
        drop(state);
        self.tell(&pending, None);
        state = self.state();
        let end = Instant::now() + self.patience;
        loop {
            if let Some(position) = state.answered.iter().position(|(one, _)| *one == id) {
                return state.answered.remove(position).1;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.open.retain(|one| one.id != id);
                drop(state);
                self.tell(&pending, Some(Reply::Unavailable));
                return Reply::Unavailable;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use metier_model::{Digest, Source};
    use metier_policy::Identity;

    use super::*;

    fn question(skill: &str) -> ApprovalQuestion {
        let identity = Identity {
            skill: skill.into(),
            source: Source::User,
            digest: Digest([1; 32]),
        };
        let (place, session) = ("/skills".to_owned(), "s".to_owned());
        ApprovalQuestion::about_permissions(identity, place, session, Vec::new(), None)
    }

    #[test]
    fn a_question_without_an_answer_is_a_no_and_is_gone() {
        let queue = ApprovalQueue::new(Duration::from_millis(1));
        assert_eq!(queue.ask(&question("a")), Reply::Unavailable);
        assert!(queue.pending().is_empty());
        assert!(!queue.answer(1, Reply::Always), "it came too late");
        assert_eq!(queue.ask(&question("a")), Reply::Unavailable);
    }

    #[test]
    fn each_question_gets_its_own_answer() {
        let queue = ApprovalQueue::new(Duration::from_secs(120));
        let ask = |skill: &'static str| {
            let queue = queue.clone();
            thread::spawn(move || queue.ask(&question(skill)))
        };
        let (one, other) = (ask("one"), ask("other"));
        let mut left = 2;
        while left > 0 {
            let pending = queue.wait(Duration::from_secs(120)).expect("a question");
            let reply = match pending.skill() {
                "one" => Reply::Once,
                _ => Reply::Deny,
            };
            assert!(queue.answer(pending.id, reply));
            assert!(!queue.answer(pending.id, Reply::Always), "answered once");
            left -= 1;
        }
        assert_eq!(one.join().expect("no panic"), Reply::Once);
        assert_eq!(other.join().expect("no panic"), Reply::Deny);
    }
}
