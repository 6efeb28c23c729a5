//! The programs that tests start and that a machine may lack. `xtask` reads this file too: `cargo xtask test` installs what is missing.

/// A program that some test starts.
pub(crate) struct Program {
    /// A name on `PATH`, or the one file that the test starts.
    pub(crate) name: &'static str,
    /// The Debian package that has it.
    pub(crate) package: &'static str,
}

/// Tests bring fake programs where they can. A test that needs a real one adds a line here and asks `needs::program` for it.
pub(crate) const PROGRAMS: &[Program] = &[
    program("python3", "python3-venv"),
    // Behind the sandbox only the system's own Python is seen.
    program("/usr/bin/python3", "python3"),
    // Libraries that mean harm are written in C.
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
    // The Tab key is pressed in the shells that it is for.
    program("zsh", "zsh"),
    program("fish", "fish"),
    // The page in a browser.
    program("chromium", "chromium"),
    program("chromedriver", "chromium-driver"),
];

const fn program(name: &'static str, package: &'static str) -> Program {
    Program { name, package }
}
