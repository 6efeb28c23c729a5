//! The paths of a machine that belong to the system, and those that contain keys. Files that other programs obey are in `protected.rs`.
//!
//! Tables, and as little code around them as possible, because reviewers have to read them. A missing path costs nothing, so the
//! tables cover all systems.

use std::path::{Path, PathBuf};

use super::trail::Trails;

/// Files that nearly every program needs to start and to use the user's language. None of them contains private keys.
const SYSTEM: &[&str] = &[
    // programs and libraries
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/java",
    "/etc/perl",
    "/etc/python3",
    // public certificates, never private keys
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    // language, time and names
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/protocols",
    "/etc/services",
    "/etc/mime.types",
    "/etc/magic",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/terminfo",
    "/etc/inputrc",
    // settings without which programs refuse to start, or complain
    "/etc/gitconfig",
    "/etc/wgetrc",
    "/etc/fonts",
    // the number of processors, and our share of them
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// Folders of version managers and toolchains in any place: they contain everything that their `PATH` entries need.
const TOOL_ROOTS: &[&str] = &[
    ".pyenv",
    ".rbenv",
    ".nodenv",
    ".goenv",
    ".plenv",
    ".phpenv",
    ".jenv",
    ".nvm",
    ".fnm",
    ".volta",
    ".asdf",
    ".sdkman",
    ".rustup",
    ".deno",
    ".bun",
    ".dotnet",
    ".ghcup",
    ".opam",
    ".juliaup",
    ".elan",
    ".nix-profile",
    ".linuxbrew",
    "miniconda3",
    "miniforge3",
    "anaconda3",
    "mise",
    "rtx",
];

/// The folders of a program in `…/bin`, next to it.
const BESIDE_BIN: &[&str] = &[
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "include",
    "jre",
    "modules",
    "pkg",
    "src",
    "pyvenv.cfg",
];

/// Programs that find their other files from their real path.
const INTERPRETERS: &[&str] = &[
    "python3", "python", "node", "deno", "bun", "ruby", "perl", "php", "java", "go", "lua",
    "Rscript", "rustc", "cargo",
];

/// Below the home: keys, passwords, sessions, and typed text.
const CREDENTIALS: &[&str] = &[
    // keys and tokens of tools
    ".ssh",
    ".gnupg",
    ".pki",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/tea",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".config/configstore",
    ".pypirc",
    ".config/pip",
    ".pip",
    ".config/pypoetry",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet",
    ".config/hcloud",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".age",
    ".vault-token",
    ".config/op",
    ".op",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    // clouds and clusters
    ".aws",
    ".azure",
    ".config/gcloud",
    ".boto",
    ".s3cfg",
    ".oci",
    ".aliyun",
    ".tencentcloud",
    ".config/doctl",
    ".config/heroku",
    ".config/fly",
    ".fly",
    ".config/netlify",
    ".config/vercel",
    ".local/share/com.vercel.cli",
    ".config/wrangler",
    ".wrangler",
    ".config/scw",
    ".config/linode-cli",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".config/helm",
    ".terraform.d",
    ".terraformrc",
    ".pulumi/credentials.json",
    ".ansible",
    ".vagrant.d",
    ".databrickscfg",
    ".snowflake",
    ".config/snowflake",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".dbshell",
    ".mongorc.js",
    ".config/stripe",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    // agents
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".gemini/google_accounts.json",
    ".config/github-copilot",
    ".copilot",
    ".local/share/opencode/auth.json",
    ".openclaw/credentials",
    ".openclaw/openclaw.json",
    ".config/openai",
    ".config/anthropic",
    ".config/io.datasette.llm/keys.json",
    // password stores, keyrings, wallets
    ".password-store",
    ".local/share/password-store",
    ".local/share/keyrings",
    ".gnome2/keyrings",
    ".local/share/kwalletd",
    ".kde/share/apps/kwallet",
    ".config/keepassxc",
    ".keepass",
    ".local/share/gopass",
    ".config/gopass",
    ".electrum",
    ".bitcoin",
    ".litecoin",
    ".dogecoin",
    ".ethereum",
    ".monero",
    ".bitmonero",
    ".config/solana",
    ".config/Exodus",
    ".config/atomic",
    ".config/Ledger Live",
    ".config/sui",
    ".foundry/keystores",
    // browsers, mail, messengers: sessions are passwords too
    ".mozilla",
    ".librewolf",
    ".config/mozilla",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".config/Arc",
    ".cache/mozilla",
    ".cache/google-chrome",
    ".cache/chromium",
    "snap/firefox",
    "snap/chromium",
    ".var/app",
    ".thunderbird",
    ".local/share/evolution",
    ".config/evolution",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".config/Element",
    ".config/teams",
    ".config/Microsoft",
    ".local/share/TelegramDesktop",
    ".config/Code/User/globalStorage",
    ".config/Cursor/User/globalStorage",
    ".config/filezilla",
    ".config/remmina",
    ".local/share/remmina",
    ".config/hexchat",
    ".config/weechat",
    ".weechat",
    ".irssi",
    ".msmtprc",
    ".muttrc",
    ".config/mutt",
    ".config/neomutt",
    ".fetchmailrc",
    ".mbsyncrc",
    ".davfs2",
    ".smbcredentials",
    ".config/neofetch/secrets",
    ".rhosts",
    ".Xauthority",
    ".ICEauthority",
    ".local/share/atuin",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Messages",
    "Library/Mail",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Slack",
    "Library/Application Support/1Password",
    // typed text, including passwords on command lines
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".histfile",
    ".history",
    ".sh_history",
    ".ksh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".irb_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".wget-hsts",
];

/// The file systems in which the kernel shows processes, their memory and variables, devices and its own settings. No permission opens
/// them; a child has its own processes, a few devices, and the files in `SYSTEM`.
pub const KERNEL: &[&str] = &["/proc", "/sys", "/dev"];

/// Keys of services on this machine: systemd credentials, secrets of containers, passwords of its users.
const MACHINE_KEYS: &[&str] = &[
    "/run/credentials",
    "/run/secrets",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/ssl/private",
];

/// Files that nearly every program reads, and the toolchains behind the entries of `PATH`; never a whole home.
///
/// Harmless devices are not included: every child gets those.
#[must_use]
pub fn system_read(path_dirs: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    let mut trails = Trails::default();
    for folder in path_dirs.iter().filter(|folder| folder.is_absolute()) {
        toolchain(folder, home, &mut found);
        for interpreter in INTERPRETERS {
            // A program of a virtual environment is a link to the real one, whose library is next to it.
            let Some(real) = trails.of(&folder.join(interpreter)).real() else {
                continue;
            };
            if let Some(folder) = real.parent() {
                toolchain(folder, home, &mut found);
            }
        }
    }
    let is_home = |path: &Path| home.is_some_and(|home| home.starts_with(path));
    found.sort_unstable();
    found.dedup();
    found.retain(|path| !is_home(path) && path.exists());
    // Everything below a kept entry is covered by it.
    let mut kept: Vec<PathBuf> = Vec::with_capacity(found.len());
    for path in found {
        if !kept.last().is_some_and(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn toolchain(folder: &Path, home: Option<&Path>, found: &mut Vec<PathBuf>) {
    if folder.parent().is_none() || home == Some(folder) {
        return;
    }
    let named = |path: &&Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| TOOL_ROOTS.contains(&name))
    };
    if let Some(root) = folder.ancestors().find(named) {
        found.push(root.to_owned());
        return;
    }
    found.push(folder.to_owned());
    // `~/.cargo/bin/cargo` is a proxy that needs `~/.rustup`.
    if folder.ends_with(".cargo/bin")
        && let Some(above) = folder.parent().and_then(Path::parent)
    {
        found.push(above.join(".rustup"));
    }
    let is_bin = folder
        .file_name()
        .is_some_and(|name| name == "bin" || name == "sbin");
    let Some(root) = folder
        .parent()
        .filter(|root| is_bin && root.parent().is_some())
    else {
        return;
    };
    // `~/bin` is next to the home's files, not next to a toolchain.
    if home != Some(root) && (root.join("lib").is_dir() || root.join("lib64").is_dir()) {
        found.extend(BESIDE_BIN.iter().map(|name| root.join(name)));
    }
}

/// The places of keys, passwords, sessions and histories, below a home. They need not exist.
#[must_use]
pub fn credential_places(home: &Path) -> Vec<PathBuf> {
    CREDENTIALS.iter().map(|place| home.join(place)).collect()
}

/// The places of the machine's keys. They need not exist.
#[must_use]
pub fn machine_keys() -> Vec<PathBuf> {
    MACHINE_KEYS.iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_home_is_never_readable_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        for place in [
            "bin",
            "lib",
            ".local/bin",
            ".local/lib",
            ".local/share/keyrings",
            ".pyenv/shims",
        ] {
            fs::create_dir_all(home.join(place)).unwrap();
        }
        let dirs = ["", "bin", ".local/bin", ".pyenv/shims"].map(|place| home.join(place));
        let read = system_read(&dirs, Some(home));
        let ours: Vec<_> = read
            .iter()
            .filter_map(|path| path.strip_prefix(home).ok())
            .collect();
        let expected = [".local/bin", ".local/lib", ".pyenv", "bin"].map(Path::new);
        assert_eq!(ours, expected);
        assert!(!read.iter().any(|path| home.starts_with(path)), "{read:?}");
    }

    #[test]
    fn nothing_that_is_readable_everywhere_is_a_credential() {
        let home = Path::new("/home/user");
        for secret in credential_places(home) {
            for system in SYSTEM {
                assert!(!secret.starts_with(system), "{}", secret.display());
            }
        }
    }

    #[test]
    fn tables_have_no_entry_twice() {
        for table in [SYSTEM, CREDENTIALS, TOOL_ROOTS] {
            let mut sorted = table.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), table.len());
        }
    }
}
