//! Tries acts that a skill should not be able to do, and prints the kernel's answer. A program for the tests only.
//!
//! `metier-probe CALL` makes one system call and prints `allowed` or the name of the error; a few others have separate arguments,
//! below. Everything it starts or allocates is bounded here too, in case there is no sandbox.
#![allow(unsafe_code, reason = "raw system calls are the point")]
#![allow(clippy::print_stdout, reason = "that is how it answers")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    reason = "a test program"
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    linux::act(&args);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CString;
    use std::io::{Read, Write};

    use metier_host::sandbox::{WorkerLimits, confine};

    const NULL: *const libc::c_void = std::ptr::null();

    pub(super) fn act(args: &[&str]) {
        match args[..] {
            ["confined", ref rest @ ..] => {
                let limits = WorkerLimits {
                    memory: 200 << 20,
                    cpu_seconds: if rest == ["spin"] { 1 } else { 60 },
                    ..WorkerLimits::default()
                };
                match confine(&limits) {
                    Ok(_) => act(rest),
                    Err(error) => println!("{error}"),
                }
            }
            ["nest"] => nest(),
            ["stay"] => std::thread::sleep(std::time::Duration::from_secs(60)),
            ["spin"] => loop {
                std::hint::spin_loop();
            },
            ["hog"] => hog(),
            ["panic"] => panic!("as told"),
            ["open", path] => println!("{:?}", std::fs::read(path).map_err(|error| error.kind())),
            ["thread"] => println!("{:?}", std::thread::spawn(|| 7).join().ok()),
            ["execute"] => answer(
                unsafe { libc::execve(c"/bin/true".as_ptr(), std::ptr::null(), std::ptr::null()) }
                    .into(),
            ),
            ["code"] => code(),
            ["descriptors"] => descriptors(),
            ["memory", megabytes] => memory(megabytes.parse().unwrap_or(0)),
            ["forks", most] => forks(most.parse().unwrap_or(0)),
            ["connect", address] => println!(
                "{:?}",
                std::net::TcpStream::connect(address).map_err(|e| e.kind())
            ),
            ["ask", address] => ask(address),
            ["signal", pid] => answer(unsafe { libc::kill(pid.parse().unwrap_or(1), 0) }.into()),
            ["limit", pid] => limit(pid.parse().unwrap_or(0)),
            ["deep", levels] => deep(levels.parse().unwrap_or(0)),
            ["steal", path] => steal(path),
            ["speak"] => speak(),
            [name] => call(name),
            _ => println!("what?"),
        }
    }

    /// Starts a sandboxed copy that never ends, and waits to be killed.
    fn nest() {
        let own = std::env::current_exe().unwrap_or_default();
        let started = std::process::Command::new(own)
            .args(["confined", "stay"])
            .spawn();
        println!("{:?}", started.map(|child| child.id()).unwrap_or_default());
        unsafe { libc::sleep(60) };
    }

    /// Doubles a string until there is no memory left, or the limit is reached.
    fn hog() {
        let mut all = vec![b'x'; 1 << 20];
        while all.len() < 1 << 31 {
            all.extend_from_within(..);
        }
        println!("{}", all.len());
    }

    /// Requests executable memory.
    fn code() {
        let wanted = libc::PROT_READ | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let got = unsafe { libc::mmap(std::ptr::null_mut(), 4096, wanted, flags, -1, 0) };
        answer(if got == libc::MAP_FAILED { -1 } else { 0 });
    }

    fn answer(result: libc::c_long) {
        if result >= 0 {
            println!("allowed");
            return;
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EPERM) => println!("EPERM"),
            Some(libc::EACCES) => println!("EACCES"),
            Some(libc::ENOSYS) => println!("ENOSYS"),
            other => println!("{other:?} {error}"),
        }
    }

    /// Uses the wire protocol, and returns an empty result to every request.
    fn speak() {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            println!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}",
                message["id"]
            );
        }
    }

    fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> libc::c_long {
        unsafe { libc::socket(family, kind, protocol) }.into()
    }

    fn pair(kind: libc::c_int) -> libc::c_long {
        let mut both = [0; 2];
        unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, both.as_mut_ptr()) }.into()
    }

    fn syscall(number: libc::c_long, argument: libc::c_long) -> libc::c_long {
        unsafe { libc::syscall(number, argument, NULL, NULL, NULL, NULL, NULL) }
    }

    fn call(name: &str) {
        let root = c"/".as_ptr() as libc::c_long;
        answer(match name {
            "unix" => socket(libc::AF_UNIX, libc::SOCK_STREAM, 0),
            "inet" => socket(libc::AF_INET, libc::SOCK_STREAM, 0),
            "inet6" => socket(libc::AF_INET6, libc::SOCK_STREAM, 0),
            "udp" => socket(libc::AF_INET, libc::SOCK_DGRAM, 0),
            "sctp" => socket(libc::AF_INET, libc::SOCK_STREAM, 132),
            "netlink" => socket(libc::AF_NETLINK, libc::SOCK_RAW, 0),
            "packet" => socket(libc::AF_PACKET, libc::SOCK_RAW, 0),
            "vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0),
            "alg" => socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
            "pair" => pair(libc::SOCK_STREAM),
            "datagram-pair" => pair(libc::SOCK_DGRAM | libc::SOCK_CLOEXEC),
            "io_uring" => syscall(libc::SYS_io_uring_setup, 1),
            "ptrace" => unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) },
            "process_vm_readv" => syscall(libc::SYS_process_vm_readv, 1),
            "userns" => unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into(),
            "clone-userns" => syscall(
                libc::SYS_clone,
                (libc::CLONE_NEWUSER | libc::SIGCHLD).into(),
            ),
            "clone3" => syscall(libc::SYS_clone3, 0),
            "setns" => unsafe { libc::setns(0, 0) }.into(),
            "mount" => syscall(libc::SYS_mount, root),
            "umount" => syscall(libc::SYS_umount2, root),
            "open_tree" => unsafe {
                libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), 1)
            },
            "fsopen" => unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0) },
            "pivot_root" => syscall(libc::SYS_pivot_root, root),
            "chroot" => syscall(libc::SYS_chroot, root),
            "keyctl" => syscall(libc::SYS_keyctl, 0),
            "add_key" => syscall(libc::SYS_add_key, 0),
            "request_key" => syscall(libc::SYS_request_key, 0),
            "bpf" => syscall(libc::SYS_bpf, 0),
            "perf" => syscall(libc::SYS_perf_event_open, 0),
            "userfaultfd" => syscall(libc::SYS_userfaultfd, 1),
            "kexec" => syscall(libc::SYS_kexec_load, 0),
            "module" => syscall(libc::SYS_init_module, 0),
            "handle" => syscall(libc::SYS_open_by_handle_at, 0),
            "pidfd_getfd" => syscall(libc::SYS_pidfd_getfd, 0),
            "tiocsti" => unsafe { libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()) }.into(),
            // The kernel ignores the upper half of the request; a filter that compares all of it can be bypassed.
            "tiocsti-high" => unsafe {
                libc::syscall(libc::SYS_ioctl, 0, 0x1_0000_5412_u64, c"x".as_ptr())
            },
            #[cfg(target_arch = "x86_64")]
            "x32" => syscall(0x4000_0000 | libc::SYS_getpid, 0),
            "memfd" => unsafe { libc::memfd_create(c"x".as_ptr(), 0) }.into(),
            "grow-input" => unsafe { libc::ftruncate(0, 1 << 30) }.into(),
            "shm" => unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, 0o600) }.into(),
            _ => panic!("no such call"),
        });
    }

    /// The numbers of all open descriptors.
    fn descriptors() {
        let open = |fd: &i32| unsafe { libc::fcntl(*fd, libc::F_GETFD) } >= 0;
        println!("{:?}", (0..4096).filter(open).collect::<Vec<_>>());
    }

    /// Allocates memory and writes to it, up to a bound.
    fn memory(megabytes: usize) {
        let mut all: Vec<Vec<u8>> = Vec::new();
        for taken in 0..megabytes {
            let mut piece = Vec::new();
            if piece.try_reserve_exact(1 << 20).is_err() {
                drop(all);
                println!("refused after {taken}");
                return;
            }
            piece.resize(1 << 20, 1);
            all.push(piece);
        }
        println!("got all {}", all.len());
    }

    /// Starts processes that wait, up to a bound, and prints how many there are.
    fn forks(most: usize) {
        for started in 0..most {
            match unsafe { libc::fork() } {
                -1 => {
                    println!("refused after {started}");
                    return;
                }
                0 => {
                    unsafe { libc::sleep(30) };
                    std::process::exit(0);
                }
                _ => {}
            }
        }
        println!("got all {most}");
        let _ = std::io::stdout().flush();
        unsafe { libc::sleep(30) };
    }

    /// Sends data to a server and prints the reply.
    fn ask(address: &str) {
        let address = address.trim_start_matches("http://");
        let mut answer = String::new();
        let asked = std::net::TcpStream::connect(address).and_then(|mut stream| {
            stream.write_all(b"hello\n")?;
            stream.read_to_string(&mut answer)
        });
        println!(
            "{answer}{}",
            asked.map_or_else(|error| error.to_string(), |_| String::new())
        );
    }

    /// Gives another process a limit that would end it.
    fn limit(pid: libc::pid_t) {
        let limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        let none = std::ptr::null_mut();
        answer(unsafe { libc::prlimit(pid, libc::RLIMIT_CORE, &raw const limit, none) }.into());
    }

    /// Creates nested folders, deeper than the maximum length of a path.
    fn deep(levels: usize) {
        for _ in 0..levels {
            let made = std::fs::create_dir("d").and_then(|()| std::env::set_current_dir("d"));
            if let Err(error) = made {
                println!("{error}");
                return;
            }
        }
        println!("made");
    }

    /// Truncates a file without opening it.
    fn steal(path: &str) {
        let path = CString::new(path).unwrap_or_default();
        answer(unsafe { libc::truncate(path.as_ptr(), 0) }.into());
    }
}
