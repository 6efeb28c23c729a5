//! What the fence costs. Not a test: run it with `cargo test --release -p metier-host --test all cost -- --ignored --nocapture`.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Instant;

use metier_host::child::{self, Exit, Fence, Spec};
use metier_host::sandbox::{Mechanism, credential_places, protected_places};

use crate::room::{Room, shim};

const RUNS: usize = 200;

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let started = Instant::now();
        run();
        times.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "  best {:.2} ms, median {:.2} ms, 90 % {:.2} ms",
        times[0],
        times[RUNS / 2],
        times[RUNS * 9 / 10]
    );
    times[RUNS / 2]
}

#[test]
#[ignore = "a measurement"]
fn cost() {
    println!("plain `true`:");
    let plain = median(|| {
        let mut command = Command::new("/bin/true");
        command.env_clear().stdin(Stdio::null());
        assert!(command.output().unwrap().status.success());
    });
    let mut room = Room::new(Mechanism::Namespaces);
    room.file("work/.git/config", "");
    room.file("work/.git/hooks/x", "");
    room.file("work/AGENTS.md", "");
    room.profile.protect = protected_places(Some(&room.home()), &room.work());
    room.profile.deny = credential_places(&room.home());
    let folder = File::open(room.work()).unwrap();
    for (name, fence, mechanism) in [
        ("unsandboxed, supervised", Fence::Unsandboxed, None),
        (
            "namespaces",
            Fence::Profile(&room.profile),
            Some(Mechanism::Namespaces),
        ),
        (
            "landlock",
            Fence::Profile(&room.profile),
            Some(Mechanism::Landlock),
        ),
    ] {
        let mut spec = Spec::new(shim(), "/bin/true", folder.as_fd(), fence);
        spec.mechanism = mechanism;
        println!("{name}:");
        let fenced = median(|| assert_eq!(child::run(&spec).unwrap().exit, Exit::Code(0)));
        println!("  {:.2} ms over plain", fenced - plain);
    }
}
