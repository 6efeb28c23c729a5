//! Calls without skills: what happens when the work is slow, asks, is cancelled or panics.

use std::{
    sync::atomic::AtomicUsize,
    thread,
    time::{Duration, Instant},
};

use metier::Logged;
use tokio::{runtime, time};

use super::*;
use crate::mcp::test_questions::question;

/// Longer than any test.
const LONG: Duration = Duration::from_secs(120);

fn on_runtime<F: Future>(work: F) -> F::Output {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work)
}

fn setup(permits: &Arc<Semaphore>, can_ask: bool, patience: Duration) -> CallSetup {
    CallSetup {
        permits: Arc::clone(permits),
        answers: Arc::default(),
        stop: Arc::default(),
        can_ask,
        patience,
        notices: Arc::new(Logged),
    }
}

fn said(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Tool(reply) => reply.text,
        CallOutcome::Prompt(_) => panic!("no prompt was requested"),
    }
}

fn words(text: &str) -> CallOutcome {
    CallOutcome::Tool(ToolReply::new(&serde_json::json!({}), text))
}

async fn begin(
    setup: CallSetup,
    work: impl FnOnce(&Arc<CallRelay>) -> CallOutcome + Send + 'static,
) -> RunningCall {
    start(setup, "working".to_owned(), "key".to_owned(), work).await
}

/// Asks for a permission, and says what the answer was.
fn ask(call: &Arc<CallRelay>) -> CallOutcome {
    words(&format!(
        "{:?}",
        call.ask(&question("notes", &["shell:exec(git *)"]))
    ))
}

async fn asked(call: &mut RunningCall) -> OpenQuestion {
    match time::timeout(LONG, call.events.recv()).await.unwrap() {
        Some(CallEvent::Question(open)) => *open,
        _ => panic!("no question"),
    }
}

#[test]
fn a_question_is_answered_while_others_work() {
    on_runtime(async {
        let permits = Arc::new(Semaphore::new(1));
        let mut first = begin(setup(&permits, true, LONG), ask).await;
        let open = asked(&mut first).await;
        // The only place is free while the first one waits.
        let second = begin(setup(&permits, true, LONG), |_| words("second")).await;
        assert_eq!(said(second.done.await.unwrap()), "second");
        open.answer(Reply::Once);
        assert_eq!(said(first.done.await.unwrap()), "Once");
        let free = time::timeout(LONG, permits.acquire()).await;
        assert!(free.unwrap().is_ok());
    });
}

#[test]
fn a_question_without_an_answer_is_a_refusal() {
    on_runtime(async {
        let permits = Arc::new(Semaphore::new(4));
        // The client can't be asked.
        let call = begin(setup(&permits, false, LONG), ask).await;
        assert_eq!(said(call.done.await.unwrap()), "Unavailable");
        // The question is dropped.
        let mut call = begin(setup(&permits, true, LONG), ask).await;
        drop(asked(&mut call).await);
        assert_eq!(said(call.done.await.unwrap()), "Unavailable");
        // The patience ends.
        let mut call = begin(setup(&permits, true, Duration::from_millis(20)), ask).await;
        let late = asked(&mut call).await;
        assert_eq!(said((&mut call.done).await.unwrap()), "Unavailable");
        late.answer(Reply::Once);
        // The client left.
        let RunningCall { events, done, .. } = begin(setup(&permits, true, LONG), |call| {
            while !call.is_stopped() {
                thread::sleep(Duration::from_millis(1));
            }
            ask(call)
        })
        .await
        .stopped();
        drop(events);
        assert_eq!(said(done.await.unwrap()), "Unavailable");
    });
}

impl RunningCall {
    fn stopped(self) -> Self {
        self.cancel();
        self
    }
}

#[test]
fn no_more_than_a_few_work_at_a_time_and_all_get_their_turn() {
    on_runtime(async {
        let permits = Arc::new(Semaphore::new(2));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut calls = Vec::new();
        for _ in 0..12 {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            let work = move |_: &Arc<CallRelay>| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(5));
                now.fetch_sub(1, Ordering::SeqCst);
                words("done")
            };
            calls.push(begin(setup(&permits, false, LONG), work).await);
        }
        for call in calls {
            assert_eq!(said(call.done.await.unwrap()), "done");
        }
        assert!(most.load(Ordering::SeqCst) <= 2);
    });
}

#[test]
fn a_panic_ends_its_call_and_nothing_else() {
    on_runtime(async {
        let permits = Arc::new(Semaphore::new(1));
        let call = begin(setup(&permits, false, LONG), |_| panic!("as it was told")).await;
        assert!(call.done.await.is_err());
        let next = begin(setup(&permits, false, LONG), |_| words("next")).await;
        assert_eq!(said(next.done.await.unwrap()), "next");
    });
}

#[test]
fn messages_reach_the_client_and_need_no_client() {
    on_runtime(async {
        let permits = Arc::new(Semaphore::new(1));
        let mut call = begin(setup(&permits, false, LONG), |call| {
            call.notice(NoticeLevel::Note, "hello");
            words("done")
        })
        .await;
        match time::timeout(LONG, call.events.recv()).await.unwrap() {
            Some(CallEvent::Notice(NoticeLevel::Note, line)) => assert_eq!(line, "hello"),
            _ => panic!("no message"),
        }
        let RunningCall { events, done, .. } = begin(setup(&permits, false, LONG), |call| {
            thread::sleep(Duration::from_millis(20));
            call.notice(NoticeLevel::Note, "not sent to a client");
            words("done")
        })
        .await;
        drop(events);
        let start = Instant::now();
        assert_eq!(said(done.await.unwrap()), "done");
        assert!(start.elapsed() < LONG);
    });
}
