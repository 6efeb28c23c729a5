//! The program's own allocator in a worker that sandboxed itself: what it requests from the kernel is allowed, and without memory
//! the worker exits in order.
//!
//! It has no harness, because a worker has one thread: it starts itself again, with an argument that names the test.
#![allow(clippy::print_stdout, reason = "that is how it answers")]

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some("__confined") {
        return confined::work(&words.next().unwrap_or_default());
    }
    for (word, reserve) in [
        ("some", None),
        ("pieces", None),
        ("pieces", Some("16384")),
        ("whole", None),
    ] {
        let mut worker = Command::new(std::env::current_exe()?);
        worker.args(["__confined", word]).env_clear();
        worker.envs(reserve.map(|reserve| ("MIMALLOC_ARENA_RESERVE", reserve)));
        let output = worker.output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        let ended = (output.status.code(), output.status.signal());
        let expected = match word {
            "some" => (Some(0), None),
            _ => (None, Some(6)),
        };
        assert_eq!(ended, expected, "{word}, {reserve:?}: {printed}{complaint}");
        assert_eq!(printed, "confined\n", "{word}, {reserve:?}");
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod confined {
    use metier_host::sandbox::{WorkerLimits, confine};

    /// Much more memory than there is.
    const TOO_MUCH: usize = 8 << 30;

    pub(super) fn work(word: &str) -> Result<(), Box<dyn std::error::Error>> {
        let limits = WorkerLimits {
            memory: 64 << 20,
            ..WorkerLimits::default()
        };
        confine(&limits)?;
        println!("confined");
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        match word {
            // Of all sizes, and freed in between.
            "some" => {
                for round in 0..200 {
                    pieces.extend((0..100).map(|step| vec![1; 1 << (step % 18)]));
                    if round % 3 == 0 {
                        pieces.clear();
                    }
                    pieces.truncate(500);
                }
            }
            "whole" => {
                let mut whole = vec![1u8; 1 << 20];
                while whole.len() < TOO_MUCH {
                    whole.extend_from_within(..);
                }
            }
            _ => {
                for _ in 0..TOO_MUCH / 100_000 {
                    pieces.push(vec![1; 100_000]);
                }
            }
        }
        Ok(())
    }
}
