//! Parallel work on many skills.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Instant,
};

/// Third-party parsers may recurse deeply.
const STACK: usize = 64 * 1024 * 1024;

/// Calls a function for each item on several threads; the results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    done: &AtomicUsize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results[index] = Some(result);
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let started = (0..threads.clamp(1, items.len().max(1)))
            .filter(|_| {
                let thread = std::thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, worker).is_ok()
            })
            .count();
        if started == 0 {
            worker();
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

/// [`in_parallel`] until `end`. An item that takes longer has no result and is not waited for: its thread ends after its current item, or with
/// the process.
pub fn in_parallel_until<T, R>(
    items: Vec<T>,
    threads: usize,
    end: Instant,
    done: &AtomicUsize,
    work: impl Fn(&T) -> R + Send + Sync + 'static,
) -> Vec<Option<R>>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let shared = Arc::new((items, work, AtomicUsize::new(0)));
    let (sender, receiver) = mpsc::channel();
    for _ in 0..threads.clamp(1, results.len().max(1)) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        let worker = move || {
            let (items, work, next) = &*shared;
            while Instant::now() < end {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { break };
                if sender.send((index, work(item))).is_err() {
                    break;
                }
            }
        };
        // If no thread can be started, the results report that nothing was done.
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn(worker).ok();
    }
    drop(sender);
    let left = || end.saturating_duration_since(Instant::now());
    while let Ok((index, result)) = receiver.recv_timeout(left()) {
        results[index] = Some(result);
        done.fetch_add(1, Ordering::Relaxed);
    }
    results
}

#[cfg(test)]
mod tests {
    use std::{thread::sleep, time::Duration};

    use super::*;

    #[test]
    fn results_stay_in_order() {
        let items: Vec<usize> = (0..100).collect();
        let done = AtomicUsize::new(0);
        let doubled = in_parallel(&items, 4, &done, |item| item * 2);
        assert_eq!(
            doubled,
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert_eq!(done.into_inner(), 100);
        assert!(in_parallel(&[] as &[u8], 4, &AtomicUsize::new(0), |_| 0).is_empty());
    }

    #[test]
    fn an_item_that_takes_longer_than_the_end_has_no_result() {
        let end = Instant::now() + Duration::from_secs(3);
        let done = AtomicUsize::new(0);
        let results = in_parallel_until(vec![0, 600], 2, end, &done, |seconds| {
            sleep(Duration::from_secs(*seconds));
            *seconds
        });
        assert_eq!(results, [Some(0), None]);
        assert_eq!(done.into_inner(), 1);
    }
}
