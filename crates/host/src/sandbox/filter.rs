//! The system calls that a child may make: seccomp.
//!
//! A list of denied calls, not of allowed ones: skills have programs in any language, and an allow-list that runs them all denies
//! little. The list has everything that opens a way around the other layers. Denied calls return `EPERM`, so that programs report
//! an error instead of dying. Only `clone3` returns "no such call": its flags can't be inspected, and every C library then uses
//! `clone`.
//!
//! Only [`worker`] uses an allow-list: it runs our own code, and we know which calls that needs.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::NetworkAccess;

/// The inputs of a filter.
pub(crate) struct FilterFacts {
    /// The network access.
    pub(crate) network: NetworkAccess,
    /// Without namespaces, the user's other processes and files are within reach.
    pub(crate) shared_world: bool,
    /// Memory that belongs to no process would escape a memory limit.
    pub(crate) memory_limited: bool,
    /// Landlock from version 6 on restricts signals; before, the filter has to.
    pub(crate) signals_scoped: bool,
    /// The process that the filter is for.
    pub(crate) pid: u32,
}

/// Denied whatever the arguments are.
const DENIED: &[libc::c_long] = &[
    // Ways around seccomp itself, and the largest source of holes in recent kernels.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces: the basis of our own layers.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Keys of the session: they are not in any namespace.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Code in the kernel, and the kernel's view of all processes.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_syslog,
    // The machine as a whole.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// Named memory and queues. A namespace hides those of others; without one they are denied.
const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Changing a file's attributes by its name, anywhere. Landlock does not restrict these, only read-only mounts do. By a descriptor
/// it is allowed: opening it is restricted by Landlock.
const ATTRIBUTES: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    463, // setxattrat
    466, // removexattrat
    469, // file_setattr
];

/// Flags of `clone` that create a namespace.
const NEW_NAMESPACE: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Ways to write into the user's terminal, to take over a terminal, and to redirect a console. As numbers, since the C libraries don't
/// agree on their type.
const TERMINAL: &[u64] = &[
    0x5412, // TIOCSTI
    0x540e, // TIOCSCTTY
    0x541c, // TIOCLINUX
    0x541d, // TIOCCONS
];

const SOCKET_TYPE: u64 = 0xf;
#[cfg(target_arch = "x86_64")]
const X32_BIT: u32 = 0x4000_0000;

type FilterRules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters of one child, to be applied in this order.
pub(crate) fn programs(facts: &FilterFacts) -> Result<[BpfProgram; 2], BackendError> {
    let mut rules: FilterRules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    clones(&mut rules)?;
    terminal(&mut rules)?;
    sockets(&mut rules, facts.network)?;
    // Limits of other processes are denied. Glibc passes 0 for its own.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, Dword, Ne, 0)])?]);
    if facts.memory_limited {
        rules.insert(libc::SYS_memfd_create, Vec::new());
        rules.insert(libc::SYS_memfd_secret, Vec::new());
    }
    if facts.memory_limited || facts.shared_world {
        rules.extend(SHARED.iter().map(|call| (*call, Vec::new())));
    }
    if facts.shared_world {
        rules.extend(ATTRIBUTES.iter().map(|call| (*call, Vec::new())));
        // Without a name, the descriptor itself is changed.
        rules.insert(libc::SYS_utimensat, vec![rule(&[(1, Qword, Ne, 0)])?]);
    }
    if facts.shared_world && !facts.signals_scoped {
        signals(&mut rules, facts.pid)?;
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok([filter.try_into()?, absent()])
}

/// The calls of a worker that sandboxed itself: read, write, allocate, read the clock, exit.
const WORKER: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getcpu,
    libc::SYS_getrusage,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Calls that are denied to a worker without killing it: libraries try these on their own, and work without them.
const WORKER_REFUSED: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    libc::SYS_openat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_ioctl,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_sched_getaffinity,
    libc::SYS_prlimit64,
];

/// The filters of a worker, to be applied in this order. The stricter of two results counts.
pub(crate) fn worker(pid: u32) -> Result<[BpfProgram; 2], BackendError> {
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    let refused: FilterRules = WORKER_REFUSED
        .iter()
        .map(|call| (*call, Vec::new()))
        .collect();
    let mut allowed: FilterRules = WORKER.iter().map(|call| (*call, Vec::new())).collect();
    allowed.extend(refused.clone());
    // Memory, but not executable.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let no_code = rule(&[(2, Dword, MaskedEq(number(libc::PROT_EXEC)), 0)])?;
        allowed.insert(call, vec![no_code]);
    }
    // A signal to itself, to abort; and queries of its own descriptors, except those that cause signals.
    let own = rule(&[(0, Dword, Eq, u64::from(pid))])?;
    allowed.insert(libc::SYS_tgkill, vec![own]);
    // An allocator names its memory.
    let name = rule(&[(0, Dword, Eq, number(libc::PR_SET_VMA))])?;
    allowed.insert(libc::SYS_prctl, vec![name]);
    let look = |command| rule(&[(1, Dword, Eq, number(command))]);
    let looks = vec![look(libc::F_GETFD)?, look(libc::F_GETFL)?];
    allowed.insert(libc::SYS_fcntl, looks);
    let architecture: seccompiler::TargetArch = std::env::consts::ARCH.try_into()?;
    let refused = SeccompFilter::new(
        refused,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        architecture,
    )?;
    let allowed = SeccompFilter::new(
        allowed,
        SeccompAction::KillProcess,
        SeccompAction::Allow,
        architecture,
    )?;
    Ok([refused.try_into()?, allowed.try_into()?])
}

fn condition(
    (argument, width, operator, value): (u8, seccompiler::SeccompCmpArgLen, SeccompCmpOp, u64),
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, width, operator, value)
}

type ArgumentCondition = (u8, seccompiler::SeccompCmpArgLen, SeccompCmpOp, u64);

/// Denied if all conditions hold.
fn rule(conditions: &[ArgumentCondition]) -> Result<SeccompRule, BackendError> {
    let conditions: Result<_, _> = conditions.iter().cloned().map(condition).collect();
    SeccompRule::new(conditions?)
}

fn clones(rules: &mut FilterRules) -> Result<(), BackendError> {
    let flag = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        rule(&[(0, Qword, MaskedEq(flag), flag)])
    };
    let denied: Result<_, _> = NEW_NAMESPACE.iter().map(flag).collect();
    rules.insert(libc::SYS_clone, denied?);
    Ok(())
}

fn terminal(rules: &mut FilterRules) -> Result<(), BackendError> {
    // The kernel uses only the low half of the request, so the filter does too.
    let request = |request: &u64| rule(&[(1, Dword, Eq, *request)]);
    let denied: Result<_, _> = TERMINAL.iter().map(request).collect();
    rules.insert(libc::SYS_ioctl, denied?);
    Ok(())
}

fn sockets(rules: &mut FilterRules, network: NetworkAccess) -> Result<(), BackendError> {
    let number = |value: libc::c_int| u64::from(value.unsigned_abs());
    // A datagram pair can send to any address, named sockets of the user's desktop included.
    let datagram = |kind| rule(&[(1, Dword, MaskedEq(SOCKET_TYPE), number(kind))]);
    let denied = vec![datagram(libc::SOCK_DGRAM)?, datagram(libc::SOCK_RAW)?];
    rules.insert(libc::SYS_socketpair, denied);
    match network {
        NetworkAccess::None => {
            for call in [
                libc::SYS_socket,
                libc::SYS_connect,
                libc::SYS_bind,
                libc::SYS_listen,
            ] {
                rules.insert(call, Vec::new());
            }
        }
        NetworkAccess::Proxy => {
            let family = rule(&[
                (0, Dword, Ne, number(libc::AF_INET)),
                (0, Dword, Ne, number(libc::AF_INET6)),
            ])?;
            let mut denied = vec![family];
            for kind in 0..=SOCKET_TYPE {
                if kind != number(libc::SOCK_STREAM) {
                    denied.push(rule(&[(1, Dword, MaskedEq(SOCKET_TYPE), kind)])?);
                }
            }
            // Of the stream protocols only TCP: the others are rarely used and little reviewed.
            denied.push(rule(&[
                (2, Dword, Ne, 0),
                (2, Dword, Ne, number(libc::IPPROTO_TCP)),
            ])?);
            rules.insert(libc::SYS_socket, denied);
        }
    }
    Ok(())
}

/// Without Landlock's scope, a child can signal only itself and its process group.
fn signals(rules: &mut FilterRules, pid: u32) -> Result<(), BackendError> {
    let own = u64::from(pid);
    let group = u64::from(pid.wrapping_neg());
    let others = || {
        rule(&[
            (0, Dword, Ne, 0),
            (0, Dword, Ne, own),
            (0, Dword, Ne, group),
        ])
    };
    rules.insert(libc::SYS_kill, vec![others()?]);
    for call in [
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_pidfd_send_signal,
        libc::SYS_pidfd_open,
    ] {
        rules.insert(call, Vec::new());
    }
    Ok(())
}

/// "No such call": `clone3`, and on x86-64 the second, rarely used set of numbers that would pass every list.
fn absent() -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    let missing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let mut program = vec![step(LOAD, 0, 0, 0)];
    #[cfg(target_arch = "x86_64")]
    {
        const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
        program.push(step(AT_LEAST, 2, 0, X32_BIT));
    }
    program.push(step(EQUAL, 1, 0, clone3));
    program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    program.push(step(RETURN, 0, 0, missing));
    program
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;
    use rustix::process::{Pid, getpid, getppid, test_kill_process};

    use super::*;

    /// A filter applies to one thread, so a thread can test it.
    #[test]
    fn where_landlock_does_not_keep_signals_in_the_filter_does() {
        let facts = FilterFacts {
            network: NetworkAccess::None,
            shared_world: true,
            memory_limited: false,
            signals_scoped: false,
            pid: std::process::id(),
        };
        let tried = std::thread::spawn(move || {
            for program in programs(&facts).unwrap() {
                seccompiler::apply_filter(&program).unwrap();
            }
            let parent = getppid().or(Pid::from_raw(1)).unwrap();
            (test_kill_process(getpid()), test_kill_process(parent))
        });
        assert_eq!(tried.join().unwrap(), (Ok(()), Err(Errno::PERM)));
    }
}
