//! Well-known paths and what they contain.

use crate::prose::PhraseTable;

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PathKind {
    /// Credentials of other tools.
    Credential,
    /// A browser's profile.
    Browser,
    /// A wallet.
    Wallet,
    /// A keychain's file.
    Keychain,
    /// Shell, browser and chat histories.
    History,
    /// Files that start programs automatically: shell profiles, cron, services, login items, git hooks.
    Autostart,
    /// Instructions, memory and settings of agents.
    Agent,
    /// System files.
    System,
    /// The user's home, or all of it.
    Home,
    /// The root of the disk.
    Root,
    /// A device.
    Device,
    /// Anything else.
    Other,
}

impl PathKind {
    /// Whether the path is one of secrets or private data.
    pub(crate) const fn is_secret(self) -> bool {
        matches!(
            self,
            Self::Credential | Self::Wallet | Self::Keychain | Self::Browser | Self::History
        )
    }
}

/// Parts of paths and their kinds; the first match counts. A `/` at either end must be present.
const PARTS: &[(&str, PathKind)] = &[
    ("/.openclaw/openclaw.json", PathKind::Credential),
    ("/.clawdbot/clawdbot.json", PathKind::Credential),
    ("auth-profiles.json", PathKind::Credential),
    ("/.claude/.credentials", PathKind::Credential),
    ("/.claude/projects", PathKind::History),
    ("/.claude/history", PathKind::History),
    ("/.claude/transcripts", PathKind::History),
    ("/.codex/sessions", PathKind::History),
    ("/.codex/history", PathKind::History),
    ("/.cursor/chats", PathKind::History),
    (".aider.chat.history", PathKind::History),
    ("/.gemini/tmp", PathKind::History),
    ("/.codex/auth.json", PathKind::Credential),
    ("/.gemini/oauth_creds", PathKind::Credential),
    ("/.ssh/authorized_keys", PathKind::Autostart),
    ("/.ssh/config", PathKind::Other),
    ("/.ssh/known_hosts", PathKind::Other),
    ("/.ssh", PathKind::Credential),
    ("id_rsa", PathKind::Credential),
    ("id_ed25519", PathKind::Credential),
    ("id_ecdsa", PathKind::Credential),
    ("/.aws", PathKind::Credential),
    ("/.azure", PathKind::Credential),
    ("/gcloud/", PathKind::Credential),
    ("application_default_credentials", PathKind::Credential),
    ("/.kube/config", PathKind::Credential),
    ("/.docker/config.json", PathKind::Credential),
    ("/.netrc", PathKind::Credential),
    ("/.npmrc", PathKind::Credential),
    ("/.pypirc", PathKind::Credential),
    ("/.git-credentials", PathKind::Credential),
    ("/gh/hosts.yml", PathKind::Credential),
    ("/.gnupg", PathKind::Credential),
    ("/.pgpass", PathKind::Credential),
    ("/.my.cnf", PathKind::Credential),
    ("/.vault-token", PathKind::Credential),
    ("/.terraform.d/credentials", PathKind::Credential),
    ("/.config/op/", PathKind::Keychain),
    ("/.config/gh", PathKind::Credential),
    ("/.config/gcloud", PathKind::Credential),
    ("/.kube", PathKind::Credential),
    ("/.s3cfg", PathKind::Credential),
    ("/.boto", PathKind::Credential),
    ("/.cargo/credentials", PathKind::Credential),
    ("/.gem/credentials", PathKind::Credential),
    ("/.composer/auth.json", PathKind::Credential),
    ("/rclone.conf", PathKind::Credential),
    ("/.kaggle/kaggle.json", PathKind::Credential),
    ("/huggingface/token", PathKind::Credential),
    ("/.databrickscfg", PathKind::Credential),
    ("/.oci/", PathKind::Credential),
    ("/.config/doctl", PathKind::Credential),
    ("/.fly/config.yml", PathKind::Credential),
    ("/.terraformrc", PathKind::Credential),
    ("/.cloudflared", PathKind::Credential),
    ("/.config/github-copilot", PathKind::Credential),
    ("/.config/glab-cli", PathKind::Credential),
    ("/.config/hub", PathKind::Credential),
    ("/.config/stripe", PathKind::Credential),
    ("/.snowsql", PathKind::Credential),
    ("sitemanager.xml", PathKind::Credential),
    ("winscp.ini", PathKind::Credential),
    ("/serviceaccount/token", PathKind::Credential),
    ("/telegram desktop/tdata", PathKind::Credential),
    ("/discord/local storage", PathKind::Credential),
    ("/slack/cookies", PathKind::Credential),
    ("/etc/shadow", PathKind::Credential),
    ("/etc/sudoers", PathKind::System),
    ("/run/secrets", PathKind::Credential),
    ("/var/run/secrets", PathKind::Credential),
    (".kdbx", PathKind::Keychain),
    ("library/keychains", PathKind::Keychain),
    ("/keyrings/", PathKind::Keychain),
    ("login.keychain", PathKind::Keychain),
    ("/.password-store", PathKind::Keychain),
    ("1password", PathKind::Keychain),
    ("bitwarden", PathKind::Keychain),
    ("/login data", PathKind::Browser),
    ("cookies.sqlite", PathKind::Browser),
    ("logins.json", PathKind::Browser),
    ("key4.db", PathKind::Browser),
    ("google/chrome", PathKind::Browser),
    ("google-chrome", PathKind::Browser),
    ("bravesoftware", PathKind::Browser),
    ("/firefox/profiles", PathKind::Browser),
    ("/.mozilla/firefox", PathKind::Browser),
    ("local extension settings", PathKind::Wallet),
    ("/chromium/", PathKind::Browser),
    ("/vivaldi/", PathKind::Browser),
    ("opera software", PathKind::Browser),
    ("/user data/default", PathKind::Browser),
    ("user data/local state", PathKind::Browser),
    ("/library/safari", PathKind::Browser),
    ("/library/cookies", PathKind::Browser),
    ("microsoft/edge", PathKind::Browser),
    ("/.bitcoin", PathKind::Wallet),
    ("wallet.dat", PathKind::Wallet),
    ("/.ethereum/keystore", PathKind::Wallet),
    ("/.electrum", PathKind::Wallet),
    ("exodus.wallet", PathKind::Wallet),
    ("/.config/solana/id.json", PathKind::Wallet),
    ("nkbihfbeogaeaoehlefnkodbefgpgknn", PathKind::Wallet),
    ("metamask", PathKind::Wallet),
    ("bfnaelmomeimhlpmgjnjophhpkkoljpa", PathKind::Wallet),
    ("hnfanknocfeofbddgcijnmhnfnkdnaad", PathKind::Wallet),
    ("ledger live", PathKind::Wallet),
    ("/.monero", PathKind::Wallet),
    ("/.zcash", PathKind::Wallet),
    ("/.sui/", PathKind::Wallet),
    ("/.aptos/", PathKind::Wallet),
    ("/.foundry/keystores", PathKind::Wallet),
    ("/atomic/local storage", PathKind::Wallet),
    ("_history", PathKind::History),
    ("/history.db", PathKind::History),
    ("/.local/share/fish/fish_history", PathKind::History),
    ("chat.db", PathKind::History),
    ("/.bashrc", PathKind::Autostart),
    ("/.bash_profile", PathKind::Autostart),
    ("/.bash_login", PathKind::Autostart),
    ("/.zshrc", PathKind::Autostart),
    ("/.zprofile", PathKind::Autostart),
    ("/.zshenv", PathKind::Autostart),
    ("/.profile", PathKind::Autostart),
    ("/config.fish", PathKind::Autostart),
    ("/etc/cron", PathKind::Autostart),
    ("/var/spool/cron", PathKind::Autostart),
    ("/launchagents", PathKind::Autostart),
    ("/launchdaemons", PathKind::Autostart),
    ("/systemd/system", PathKind::Autostart),
    ("/systemd/user", PathKind::Autostart),
    ("/etc/rc.local", PathKind::Autostart),
    ("/etc/init.d", PathKind::Autostart),
    ("/etc/profile", PathKind::Autostart),
    ("/etc/ld.so.preload", PathKind::Autostart),
    ("/.config/autostart", PathKind::Autostart),
    ("programs/startup", PathKind::Autostart),
    ("currentversion/run", PathKind::Autostart),
    (".git/hooks/", PathKind::Autostart),
    (".git-hooks/", PathKind::Autostart),
    (".githooks/", PathKind::Autostart),
    ("/hooks/post-commit", PathKind::Autostart),
    ("/hooks/pre-commit", PathKind::Autostart),
    ("/hooks/pre-push", PathKind::Autostart),
    ("/hooks/post-merge", PathKind::Autostart),
    ("/hooks/post-checkout", PathKind::Autostart),
    ("/.xprofile", PathKind::Autostart),
    ("/.xinitrc", PathKind::Autostart),
    ("/fish/conf.d", PathKind::Autostart),
    ("powershell_profile.ps1", PathKind::Autostart),
    ("/.bash_logout", PathKind::Autostart),
    ("/.zlogin", PathKind::Autostart),
    ("/.ssh/rc", PathKind::Autostart),
    ("/init.d/", PathKind::Autostart),
    ("/etc/xdg/autostart", PathKind::Autostart),
    ("sitecustomize.py", PathKind::Autostart),
    ("usercustomize.py", PathKind::Autostart),
    ("claude.md", PathKind::Agent),
    ("agents.md", PathKind::Agent),
    ("gemini.md", PathKind::Agent),
    ("soul.md", PathKind::Agent),
    ("memory.md", PathKind::Agent),
    ("heartbeat.md", PathKind::Agent),
    (".cursorrules", PathKind::Agent),
    (".windsurfrules", PathKind::Agent),
    ("copilot-instructions.md", PathKind::Agent),
    ("/.claude/", PathKind::Agent),
    ("/.claude.json", PathKind::Agent),
    ("/.cursor/", PathKind::Agent),
    ("/.codex/", PathKind::Agent),
    ("/.openclaw/", PathKind::Agent),
    ("/.clawdbot/", PathKind::Agent),
    (".mcp.json", PathKind::Agent),
    ("/etc/hosts", PathKind::System),
    ("/etc/resolv.conf", PathKind::System),
    ("/etc/pam.d", PathKind::System),
    ("/etc/passwd", PathKind::System),
];

/// The parts alone, in the same order.
const NAMES: &[&str] = &{
    let mut names = [""; PARTS.len()];
    let mut index = 0;
    while index < PARTS.len() {
        names[index] = PARTS[index].0;
        index += 1;
    }
    names
};

/// All parts in one pass: a text has many words, and each would be searched for each part. A part may begin with the slash before a bare
/// name.
static TABLE: PhraseTable<{ PARTS.len() + 2 }> = PhraseTable::new(&[NAMES, &[".ssh", ".aws"]]);

/// Whether a string, in lower case, can contain a path of a known kind.
pub(crate) fn may_name_path(text: &str) -> bool {
    TABLE.is_in(text)
}

/// The parts of paths to secrets, without the slash at the beginning.
pub(crate) const SECRET_PARTS: &[&str] = &{
    let mut names = [""; SECRET_COUNT];
    let (mut index, mut count) = (0, 0);
    while index < PARTS.len() {
        if PARTS[index].1.is_secret() {
            names[count] = match PARTS[index].0.as_bytes() {
                [b'/', ..] => PARTS[index].0.split_at(1).1,
                _ => PARTS[index].0,
            };
            count += 1;
        }
        index += 1;
    }
    names
};

const SECRET_COUNT: usize = {
    let (mut index, mut count) = (0, 0);
    while index < PARTS.len() {
        count += PARTS[index].1.is_secret() as usize;
        index += 1;
    }
    count
};

/// Whether a word, in ASCII of either case, can contain a path of a kind that [`PathKind::is_secret`].
pub(crate) fn may_name_secret(word: &[u8]) -> bool {
    static TABLE: PhraseTable<SECRET_COUNT> = PhraseTable::new(&[SECRET_PARTS]);
    word.contains(&b'\\') || (0..word.len()).any(|start| TABLE.begins(&word[start..]))
}

/// The kind of a path, by its name.
#[must_use]
pub(crate) fn path_kind(path: &str) -> PathKind {
    let path = path.trim().trim_matches(['"', '\'']);
    let lower = path.to_ascii_lowercase().replace('\\', "/");
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return PathKind::Other;
    }
    // A public key is public.
    if lower.ends_with(".pub") && !lower.contains("/../") {
        return PathKind::Other;
    }
    let bare = lower.trim_end_matches(['*', '/', '.']);
    match bare {
        "" if lower.starts_with('/') => return PathKind::Root,
        _ if matches!(bare.strip_prefix('/'), Some("home" | "users" | "root")) => {
            return PathKind::Home;
        }
        "~" | "$home" | "${home}" | "%userprofile%" => {
            return PathKind::Home;
        }
        _ if bare.starts_with("/dev/")
            && ![
                "/dev/null",
                "/dev/stdin",
                "/dev/stdout",
                "/dev/stderr",
                "/dev/tty",
                "/dev/zero",
                "/dev/urandom",
                "/dev/random",
            ]
            .contains(&bare)
            && !bare.starts_with("/dev/fd")
            && !bare.starts_with("/dev/shm") =>
        {
            return PathKind::Device;
        }
        _ => {}
    }
    let slashed = format!("/{lower}");
    let mut first: Option<usize> = None;
    TABLE.find(&slashed, |part| {
        let is_earlier = first.is_none_or(|first| part.place < first);
        if part.list == 0 && is_earlier {
            first = Some(part.place);
        }
        false
    });
    first.map_or(PathKind::Other, |index| PARTS[index].1)
}

/// Whether a path is in a world-writable folder.
pub(super) fn is_temporary(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/dev/shm/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Whether a file contains environment variables, including secrets.
pub(super) fn is_dot_env(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name == ".env" || name.starts_with(".env.")
}

/// The known letters of a name that is partly computed at run time: `.cache-$$`.
const FEWEST_KNOWN: usize = 3;

/// The last part of a path, for files that the skill writes and reads again.
pub(super) fn file_name(path: &str) -> Option<String> {
    let path = path.trim().trim_end_matches(['/', '\\']);
    let name = super::value::as_program(path.rsplit(['/', '\\']).next()?);
    let usable =
        !matches!(name.as_str(), "" | "-" | "." | ".." | "__" | "__s__") && !name.contains('*');
    // Besides a name, only known parts distinguish files.
    let known = !name.trim_start_matches("__s_").contains("__")
        || name.replace("__", "").trim_matches('_').len() >= FEWEST_KNOWN;
    (usable && known).then_some(name)
}
