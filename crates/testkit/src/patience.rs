//! How long tests wait, and how they measure.
//!
//! **Problem.** A limit of some seconds holds on an idle machine and fails on a machine that is building at the same time. **Decision.** A
//! test waits for a condition, up to [`PATIENCE`]; an act that must end early is compared with one that would last longer than that
//! ([`FOREVER`]). Whether work grows linearly with its input is determined by the processor time for two sizes.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Longer than any successful work takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Longer than [`PATIENCE`]: for work that a test has to stop.
pub const FOREVER: Duration = Duration::from_secs(600);

/// Waits until there is a value. Panics after [`PATIENCE`]; `what` is the condition.
#[track_caller]
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(
            start.elapsed() < PATIENCE,
            "{what}: not within {PATIENCE:?}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a condition holds. Panics after [`PATIENCE`]; `what` is the condition.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Does the work and panics if it took longer than [`PATIENCE`].
#[track_caller]
pub fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    assert!(took < PATIENCE, "{what}: took {took:?}");
    done
}

/// Does the work in another thread and panics if it takes longer than [`PATIENCE`]: for work that may hang.
#[track_caller]
pub fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(work()).ok());
    match receive.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(error) => panic!("{what}: no result within {PATIENCE:?}: {error}"),
    }
}

/// Does the work in this thread and panics if it used more processor time than this. Other work on the machine does not count.
#[track_caller]
pub fn within_processor_time<T>(what: &str, limit: Duration, work: impl FnOnce() -> T) -> T {
    let (done, took) = measured(work);
    assert!(took < limit, "{what}: took {took:?} of processor time");
    done
}

/// Does the work on two inputs, the second of which is `times` as large, and panics if the second takes more than twice its share of
/// processor time.
///
/// Other work on the machine does not count, and the best of three tries counts. The smaller input has to be large enough to be measured: a
/// millisecond.
#[track_caller]
pub fn grows_linearly<T>(what: &str, times: u8, input: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let (small, large) = (input(1), input(times.into()));
    work(&small);
    let tries: Vec<[Duration; 2]> = (0..3)
        .map(|_| [&small, &large].map(|input| processor_time(|| work(input))))
        .collect();
    let grows = |[small, large]: &[Duration; 2]| {
        *large > (*small).max(Duration::from_millis(1)) * u32::from(times) * 2
    };
    assert!(
        !tries.iter().all(grows),
        "{what}: {times} times the input, and the processor time is {tries:?}"
    );
}

/// The processor time of this thread for some work.
pub fn processor_time<R>(work: impl FnOnce() -> R) -> Duration {
    measured(work).1
}

fn measured<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(
            time.tv_sec.unsigned_abs(),
            u32::try_from(time.tv_nsec).unwrap_or_default(),
        )
    };
    let start = now();
    let done = std::hint::black_box(work());
    (done, now().saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::{grows_linearly, in_time, processor_time, wait_until};
    use std::time::Duration;

    /// Adds up as many numbers as the input requests.
    fn count(steps: &usize) {
        (0..*steps).for_each(|step| {
            std::hint::black_box(step);
        });
    }

    #[test]
    fn work_that_grows_with_its_input_passes() {
        grows_linearly("a sum", 8, |times| times * 400_000, count);
    }

    #[test]
    #[should_panic(expected = "squares: 8 times the input")]
    fn work_that_grows_faster_does_not() {
        grows_linearly("squares", 8, |times| times * times * 400_000, count);
    }

    #[test]
    fn waiting_is_not_processor_time() {
        let pause = Duration::from_millis(200);
        assert!(processor_time(|| std::thread::sleep(pause)) < pause);
    }

    #[test]
    fn a_condition_is_checked_until_it_holds() {
        let mut looks = 0;
        wait_until("the third look", || {
            looks += 1;
            looks == 3
        });
        assert_eq!(in_time("nothing", || looks), 3);
    }
}
