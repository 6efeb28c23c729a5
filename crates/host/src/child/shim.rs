//! `metier __exec`: the launcher, a process between the parent and a program that sets up the sandbox.
//!
//! It is the same binary, started again, because its steps can't be undone and can't be done by a program with more than one
//! thread. It becomes up to three processes:
//!
//! ```text
//! launcher    takes the job, creates the namespaces and the mounts, then only waits
//! └ first     number 1 of the PID namespace: supervises; when it ends, the kernel ends everything inside
//!   └ program applies Landlock and seccomp to itself, then becomes the program
//! ```
//!
//! Without namespaces the first two are one process, which searches for the processes that the program leaves running.
//!
//! The launcher itself does not use "die with your parent": that signal follows the *thread* that started it, and threads of a pool
//! come and go. The socket to the parent does the same job: when it closes, everything ends.
//!
//! A program that supports it calls [`main`] before anything else, when its first argument is `__exec`:
//!
//! ```no_run
//! if std::env::args_os().nth(1).is_some_and(|word| word == "__exec") {
//!     metier_host::child::shim::main();
//! }
//! ```

#[cfg(target_os = "linux")]
pub use linux::main;

/// Reports that this system is not supported.
#[cfg(not(target_os = "linux"))]
pub fn main() -> ! {
    std::process::exit(2)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Read, Seek, Write};
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};
    use std::path::PathBuf;

    use rustix::process::{
        DumpableBehavior, Signal, WaitOptions, set_dumpable_behavior,
        set_parent_process_death_signal, waitpid,
    };

    use crate::child::PROXY_PORT;
    use crate::child::control::{self, News};
    use crate::child::job::ChildJob;
    use crate::child::journal;
    use crate::child::program::ChildProgram;
    use crate::child::supervise::{self, Realm};
    use crate::sandbox::landlock::KNOWS_TRUNCATE;
    use crate::sandbox::setup_error::{SetupError, SetupErrorKind};
    use crate::sandbox::sys::{self, Forked};
    use crate::sandbox::{Mechanism, NetworkAccess, mounts, namespaces};

    /// Variables in which programs look for a proxy.
    const PROXY_VARIABLES: &[&str] = &[
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ];

    /// Runs the launcher. It takes its job from standard input, and never returns.
    pub fn main() -> ! {
        let code = match begin() {
            Ok(()) => 0,
            Err(error) => {
                let _unheard = writeln!(
                    io::stderr(),
                    "error: `__exec` is for metier itself, which gives it a job on standard input: {error}"
                );
                2
            }
        };
        std::process::exit(code)
    }

    fn begin() -> io::Result<()> {
        // Closed before anything is opened: a descriptor that is open now was inherited by mistake.
        sys::close_from(3)?;
        let line = io::stdin().as_fd().try_clone_to_owned()?;
        let (shape, along) = control::receive(&line, true)?;
        let mut along = along.into_iter();
        let (Some(job), Some(folder)) = (along.next(), along.next()) else {
            return Err(io::Error::other("there is no job"));
        };
        let mut bytes = Vec::new();
        let mut job = File::from(job);
        job.rewind()?;
        job.read_to_end(&mut bytes)?;
        let job =
            ChildJob::decode(&bytes).ok_or_else(|| io::Error::other("the job is malformed"))?;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        let _already_leader = rustix::process::setsid();
        let null: OwnedFd = File::options()
            .read(true)
            .write(true)
            .open("/dev/null")?
            .into();
        let [stdin, lock] = [shape.get(1), shape.get(2)].map(|is_sent| {
            is_sent
                .filter(|is_sent| **is_sent == 1)
                .and_then(|_| along.next())
        });
        let shim = Launcher {
            line,
            null,
            lock,
            program: ChildProgram {
                stdin,
                folder,
                path: path.unwrap_or_else(|_| PathBuf::from("/")),
                shown: None,
                job,
            },
        };
        shim.run();
        Ok(())
    }

    struct Launcher {
        line: OwnedFd,
        null: OwnedFd,
        /// The list of the child's watched places. No other run checks them before this is closed.
        lock: Option<OwnedFd>,
        program: ChildProgram,
    }

    impl Launcher {
        fn run(mut self) {
            if let Err(trouble) = self.enclose() {
                let text = trouble.to_string();
                let place = trouble.replaced_place();
                let news = match trouble.kind {
                    SetupErrorKind::Machine => News::Unavailable(text),
                    SetupErrorKind::Profile => News::Unfit(text),
                    SetupErrorKind::Replaced => News::Replaced(place.unwrap_or(text)),
                };
                control::tell(&self.line, &news);
            }
        }

        fn enclose(&mut self) -> Result<(), SetupError> {
            match self.program.job.mechanism {
                Mechanism::Namespaces => self.with_namespaces(),
                Mechanism::Landlock => self.with_landlock(),
                Mechanism::None => self.supervise(Realm::Descendants),
            }
        }

        fn with_namespaces(&mut self) -> Result<(), SetupError> {
            landlock_from(1)?;
            let Some(profile) = self.program.job.profile.clone() else {
                return Ok(());
            };
            namespaces::enter()?;
            self.program.shown = mounts::arrange(&profile)?;
            if profile.network == NetworkAccess::Proxy {
                let (listener, port) = namespaces::listen()?;
                self.tell_port(port);
                control::hand_over(&self.line, &News::Listener, &listener)
                    .map_err(|error| SetupError::machine("hand over the listener", error))?;
            }
            let forked = sys::fork().map_err(|error| SetupError::machine("fork", error))?;
            match forked {
                Forked::Child => {
                    let _unsupported = set_parent_process_death_signal(Some(Signal::KILL));
                    mounts::processes()?;
                    self.supervise(Realm::Namespace)
                }
                Forked::Parent(first) => {
                    self.let_go();
                    // The socket must close when the first process ends, not when this one does.
                    self.line = clone(&self.null);
                    while let Err(rustix::io::Errno::INTR) =
                        waitpid(Some(first), WaitOptions::empty())
                    {}
                    // With the first process of a namespace, the kernel has ended all others.
                    self.note_end();
                    std::process::exit(0)
                }
            }
        }

        fn note_end(&self) {
            if let Some(list) = &self.lock {
                journal::note_end(list.as_fd());
            }
        }

        fn with_landlock(&mut self) -> Result<(), SetupError> {
            landlock_from(KNOWS_TRUNCATE)?;
            let network = self
                .program
                .job
                .profile
                .as_ref()
                .map(|profile| profile.network);
            if network == Some(NetworkAccess::Proxy) {
                let error = io::Error::other("a separate network requires namespaces");
                return Err(SetupError::machine("give network by proxy", error));
            }
            self.supervise(Realm::Descendants)
        }

        /// Starts the program and supervises it. Returns only in this process, when all processes have ended.
        fn supervise(&mut self, realm: Realm) -> Result<(), SetupError> {
            if realm == Realm::Descendants {
                let own = rustix::process::getpid();
                rustix::process::set_child_subreaper(Some(own))
                    .map_err(|error| SetupError::machine("adopt orphans", error))?;
            }
            let limit = self
                .program
                .job
                .profile
                .as_ref()
                .and_then(|profile| profile.limits.processes);
            // The kernel does not count processes of root, and without namespaces it counts all of a user.
            let uncounted = realm == Realm::Descendants || rustix::process::getuid().is_root();
            let limit = limit.filter(|_| uncounted);
            if let (Some(limit), Realm::Namespace) = (limit, realm) {
                // Since Linux 6.14 a PID namespace can have a highest number. The first 300 numbers are assigned only once.
                let highest = limit.saturating_add(300);
                let _older = std::fs::write("/proc/sys/kernel/pid_max", highest.to_string());
            }
            let signals = sys::child_signals()
                .map_err(|error| SetupError::machine("listen for signals", error))?;
            control::tell(&self.line, &News::Ready);
            match sys::fork().map_err(|error| SetupError::machine("fork", error))? {
                Forked::Child => {
                    let why = self.program.become_it(realm);
                    if let Some(why) = why {
                        control::tell(&self.line, &News::NotStarted(why));
                    }
                    std::process::exit(127)
                }
                Forked::Parent(main) => {
                    self.let_go();
                    let is_over = supervise::supervise(&self.line, &signals, main, realm, limit);
                    if is_over && realm == Realm::Descendants {
                        self.note_end();
                    }
                    std::process::exit(0)
                }
            }
        }

        /// Closes the program's standard streams, and hides the environment that is still in memory.
        fn let_go(&mut self) {
            let _ = rustix::stdio::dup2_stdin(&self.null);
            let _ = rustix::stdio::dup2_stdout(&self.null);
            let _ = rustix::stdio::dup2_stderr(&self.null);
            self.program.stdin = None;
            self.program.shown = None;
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        }

        fn tell_port(&mut self, port: u16) {
            let job = &mut self.program.job;
            let template = job.proxy_url.to_string_lossy();
            if template.is_empty() {
                return;
            }
            let port = port.to_string();
            let url = template.replace("{port}", &port);
            // A program that reads no such variable gets the address as an argument.
            for argument in &mut job.args {
                if let Some(text) = argument.to_str().filter(|text| text.contains(PROXY_PORT)) {
                    *argument = text.replace(PROXY_PORT, &port).into();
                }
            }
            for name in PROXY_VARIABLES {
                job.env.retain(|(other, _)| other != name);
                job.env.push(((*name).into(), url.clone().into()));
            }
        }
    }

    fn clone(descriptor: &OwnedFd) -> OwnedFd {
        match descriptor.try_clone() {
            Ok(clone) => clone,
            Err(_) => std::process::exit(2),
        }
    }

    fn landlock_from(version: u32) -> Result<(), SetupError> {
        let found =
            sys::landlock_version().map_err(|error| SetupError::machine("use Landlock", error))?;
        if found >= version {
            return Ok(());
        }
        let error = io::Error::other(format!("version {version} is needed, this is {found}"));
        Err(SetupError::machine("use Landlock", error))
    }
}
