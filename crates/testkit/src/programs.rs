//! The programs that tests start and that a machine may lack. `xtask` reads this file too: `cargo xtask test` installs missing ones.

/// A program that some test starts.
pub(crate) struct Program {
    /// A name on `PATH`, or the file that the test starts.
    pub(crate) name: &'static str,
    /// The Debian package that contains it.
    pub(crate) package: &'static str,
}

/// Tests use fake programs where they can. A test that needs a real one adds a line here and calls `needs::program` for it.
pub(crate) const PROGRAMS: &[Program] = &[
    program("python3", "python3-venv"),
    // Only the system's own Python is visible in the sandbox.
    program("/usr/bin/python3", "python3"),
    // Malicious libraries are written in C.
    program("cc", "gcc"),
    program("npm", "npm"),
    program("kubectl", "kubernetes-client"),
    // Makes a terminal.
    program("script", "bsdutils"),
    program("bash", "bash"),
    program("git", "git"),
    program("tar", "tar"),
    program("curl", "curl"),
    // Signs packages, and verifies the signatures of metier.
    program("minisign", "minisign"),
    program("mount", "mount"),
    program("setpriv", "util-linux"),
    program("unshare", "util-linux"),
    // The Tab key is tested in these shells.
    program("zsh", "zsh"),
    program("fish", "fish"),
    // The web page in a browser.
    program("chromium", "chromium"),
    program("chromedriver", "chromium-driver"),
];

const fn program(name: &'static str, package: &'static str) -> Program {
    Program { name, package }
}
