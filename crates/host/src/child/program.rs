//! The last steps before a program runs: the process sandboxes itself, then executes it.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::NotStarted;
use super::job::ChildJob;
use super::supervise::Realm;
use crate::sandbox::filter::{self, FilterFacts};
use crate::sandbox::landlock::{self, KNOWS_SIGNALS, Plan};
use crate::sandbox::place_state::{exactly, exactly_below, identity};
use crate::sandbox::setup_error::SetupError;
use crate::sandbox::{SandboxLimits, SandboxProfile, mounts, shown, sys};

/// How much of a script is read for the name of its interpreter: as much as the kernel reads.
const FIRST_LINE: u64 = 256;

/// The program that the launcher executes in this process.
pub(crate) struct ChildProgram {
    pub(crate) job: ChildJob,
    /// Standard input, if there is one.
    pub(crate) stdin: Option<OwnedFd>,
    /// The folder to start in, as it was opened outside.
    pub(crate) folder: OwnedFd,
    /// The name of that folder when the launcher started.
    pub(crate) path: PathBuf,
    /// The mounted copy of the skill, after it is mounted.
    pub(crate) shown: Option<OwnedFd>,
}

impl ChildProgram {
    /// Executes the program; returns the reason if it can't. Without a program, this process exits with code 0.
    pub(crate) fn become_it(&self, realm: Realm) -> Option<NotStarted> {
        match self.prepare(realm) {
            Err(why) => Some(why),
            Ok(()) if self.job.program.is_empty() => std::process::exit(0),
            Ok(()) => Some(self.replaced().unwrap_or_else(|| self.execute())),
        }
    }

    /// Where the copy of the skill is mounted, and the handle of that mount.
    fn copy(&self) -> Option<(&Path, BorrowedFd<'_>)> {
        let stand_in = self.job.profile.as_ref()?.stand_in.as_ref()?;
        Some((&stand_in.at, self.shown.as_ref()?.as_fd()))
    }

    /// Whether the path of the skill points to a folder other than its copy. Another process may have renamed the folder below the mount:
    /// the child then gets no access at that path, but the user should see the reason.
    fn replaced(&self) -> Option<NotStarted> {
        let (at, copy) = self.copy()?;
        let there = exactly(at).and_then(identity).ok();
        let is_copy = there.is_some() && there == identity(copy).ok();
        (!is_copy).then(|| NotStarted::Replaced(shown(at)))
    }

    fn prepare(&self, realm: Realm) -> Result<(), NotStarted> {
        let fence = |step: &str, error: &dyn std::fmt::Display| {
            NotStarted::Fence(format!("{step}: {error}"))
        };
        let _already_leader = rustix::process::setsid();
        sys::default_signals();
        let stdin = match &self.stdin {
            Some(stdin) => rustix::stdio::dup2_stdin(stdin),
            None => rustix::fs::open(
                "/dev/null",
                rustix::fs::OFlags::RDONLY,
                rustix::fs::Mode::empty(),
            )
            .and_then(rustix::stdio::dup2_stdin),
        };
        stdin.map_err(|error| fence("standard input", &error))?;
        self.enter_folder(realm)?;
        let Some(profile) = &self.job.profile else {
            return Ok(());
        };
        // When memory runs out, the kernel kills this process before the user's editor.
        let _not_allowed = fs::write("/proc/self/oom_score_adj", "500");
        set_no_new_privs(true).map_err(|error| fence("no new privileges", &error))?;
        let facts = FilterFacts {
            network: profile.network,
            shared_world: realm == Realm::Descendants,
            memory_limited: profile.limits.memory.is_some(),
            signals_scoped: sys::landlock_version().is_ok_and(|version| version >= KNOWS_SIGNALS),
            pid: std::process::id(),
        };
        let filters = filter::programs(&facts).map_err(|error| fence("seccomp", &error))?;
        let others = match realm {
            Realm::Namespace => 0,
            Realm::Descendants => tasks_of_the_machine(),
        };
        // The order matters: no step may remove what a later one needs.
        restrict_files(profile, realm, self.copy()).map_err(|trouble| {
            match trouble.replaced_place() {
                Some(place) => NotStarted::Replaced(place),
                None => fence("Landlock", &trouble),
            }
        })?;
        drop_capabilities().map_err(|error| fence("capabilities", &error))?;
        limit(&profile.limits, others).map_err(|error| fence("limits", &error))?;
        for filter in &filters {
            seccompiler::apply_filter(filter).map_err(|error| fence("seccomp", &error))?;
        }
        Ok(())
    }

    /// In a mount namespace the handle of the folder refers to the outside, around all mounts: the folder must be entered by its name,
    /// and must then be the same folder.
    fn enter_folder(&self, realm: Realm) -> Result<(), NotStarted> {
        let gone = |error: &dyn std::fmt::Display| {
            NotStarted::Folder(format!("{}: {error}", self.path.display()))
        };
        if realm == Realm::Descendants {
            return rustix::process::fchdir(&self.folder).map_err(|error| gone(&error));
        }
        if let Some((at, copy)) = self.copy()
            && let Ok(inner) = self.path.strip_prefix(at)
        {
            // The copy is deliberately a different folder. Its handle refers to the inside.
            let folder = exactly_below(copy, inner).map_err(|error| gone(&error))?;
            return rustix::process::fchdir(folder).map_err(|error| gone(&error));
        }
        rustix::process::chdir(&self.path).map_err(|error| gone(&error))?;
        let here = fs::metadata(".").map_err(|error| gone(&error))?;
        let meant = rustix::fs::fstat(&self.folder).map_err(|error| gone(&error))?;
        if (here.dev(), here.ino()) == (meant.st_dev, meant.st_ino) {
            Ok(())
        } else {
            Err(gone(&"it was replaced by another"))
        }
    }

    fn execute(&self) -> NotStarted {
        let text = |bytes: &OsStr| CString::new(bytes.as_bytes()).unwrap_or_default();
        let mut args = vec![text(&self.job.program)];
        args.extend(self.job.args.iter().map(|arg| text(arg)));
        let variable = |(name, value): &(OsString, OsString)| {
            let mut both = name.clone();
            both.push("=");
            both.push(value);
            text(&both)
        };
        let env: Vec<CString> = self.job.env.iter().map(variable).collect();
        let mut why = NotStarted::NotFound(self.job.program.to_string_lossy().into_owned());
        for candidate in self.candidates() {
            if let Some(script) = ProgramScript::read(&candidate)
                && script.carriage_return
            {
                return NotStarted::CarriageReturn(candidate.display().to_string());
            }
            let error = sys::execve(&text(candidate.as_os_str()), &args, &env);
            if error.kind() == io::ErrorKind::NotFound && !candidate.exists() {
                continue;
            }
            why = self
                .replaced()
                .unwrap_or_else(|| explain(&candidate, &error));
            if error.kind() != io::ErrorKind::PermissionDenied {
                break;
            }
        }
        why
    }

    /// The possible files of the program: its path, or for a bare name each folder of the child's own `PATH`.
    fn candidates(&self) -> Vec<PathBuf> {
        let program = &self.job.program;
        if program.as_bytes().contains(&b'/') {
            return vec![PathBuf::from(program)];
        }
        let path = self.job.env.iter().find(|(name, _)| name == "PATH");
        let folders = path.map(|(_, value)| value.as_os_str()).unwrap_or_default();
        std::env::split_paths(folders)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .collect()
    }
}

fn explain(program: &Path, error: &io::Error) -> NotStarted {
    let name = program.display().to_string();
    match error.raw_os_error() {
        Some(libc::ENOENT) => match ProgramScript::read(program) {
            Some(script) => NotStarted::NoInterpreter(format!("{name} ({})", script.interpreter)),
            None => NotStarted::NoInterpreter(name),
        },
        Some(libc::EACCES) => NotStarted::NotExecutable(name),
        Some(libc::ENOEXEC) => NotStarted::BadFormat(name),
        _ => NotStarted::Other(format!("{name}: {error}")),
    }
}

/// The first line of a script.
struct ProgramScript {
    interpreter: String,
    carriage_return: bool,
}

impl ProgramScript {
    fn read(path: &Path) -> Option<Self> {
        let mut start = Vec::new();
        let file = crate::execution::open_regular(path).ok()?;
        file.take(FIRST_LINE).read_to_end(&mut start).ok()?;
        let line = start.strip_prefix(b"#!")?;
        let end = line.iter().position(|byte| *byte == b'\n');
        let line = line.get(..end.unwrap_or(line.len()))?;
        Some(Self {
            interpreter: String::from_utf8_lossy(line).trim().to_owned(),
            carriage_return: end.is_some() && line.ends_with(b"\r"),
        })
    }
}

fn restrict_files(
    profile: &SandboxProfile,
    realm: Realm,
    shown: Option<(&Path, BorrowedFd<'_>)>,
) -> Result<(), SetupError> {
    let own;
    let shared_memory = match realm {
        Realm::Namespace => mounts::shared_memory(profile),
        Realm::Descendants => None,
    };
    // In a PID namespace `/proc` shows only processes of the child; outside, it may see only itself there.
    let processes = match realm {
        Realm::Namespace => Path::new("/proc"),
        Realm::Descendants => {
            own = format!("/proc/{}", std::process::id());
            Path::new(&own)
        }
    };
    let plan = Plan {
        profile,
        holes_mounted: realm == Realm::Namespace,
        extra_read: processes,
        extra_write: shared_memory,
        shown,
    };
    landlock::restrict(&plan)?;
    match &profile.programs {
        Some(programs) => landlock::restrict_programs(programs),
        None => Ok(()),
    }
}

fn limit(limits: &SandboxLimits, others: u64) -> io::Result<()> {
    let set = |resource, value: Option<u64>| -> io::Result<()> {
        let Some(value) = value else {
            return Ok(());
        };
        // A limit that the user already has is never raised.
        let most = rustix::process::getrlimit(resource)
            .maximum
            .unwrap_or(u64::MAX);
        let value = Some(value.min(most));
        let both = Rlimit {
            current: value,
            maximum: value,
        };
        setrlimit(resource, both).map_err(Into::into)
    };
    set(Resource::Core, Some(0))?;
    set(Resource::Fsize, limits.file_size)?;
    set(Resource::Nofile, limits.open_files)?;
    set(Resource::Cpu, limits.cpu_seconds)?;
    set(
        Resource::Nproc,
        limits.processes.map(|limit| limit.saturating_add(others)),
    )?;
    // Last: from here on this process gets no more memory either. Memory that is written to counts; the limit on address space is
    // much larger, because V8 and others reserve gigabytes that they never touch.
    let multiple = limits.memory.map(|limit| limit.saturating_mul(RESERVED));
    let reserved = limits.address_space.or(multiple);
    set(Resource::As, reserved)?;
    set(Resource::Data, limits.memory)
}

/// How much more address space than memory a process can have.
const RESERVED: u64 = 16;

/// Limit of processes and threads: the kernel counts all of a user's, and no file reports their number.
fn tasks_of_the_machine() -> u64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_ascii_whitespace().nth(3);
    let all = tasks.and_then(|tasks| tasks.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// Drops all capabilities: also for a program that runs as root, or as root of a user namespace.
fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    // These two need a capability themselves. Without it there is nothing to drop either: no new privileges are possible.
    for capability in CapabilitySet::all().iter() {
        let _not_ours = remove_capability_from_bounding_set(capability);
    }
    let _not_ours = set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED,
    );
    set_capabilities(None, none).map_err(Into::into)
}
