//! Tests of acts for the rules about programs.

use crate::flow::{HostKind, IN_SHELL, PathKind, ProgramAct, SourceKind as S, path_kind};

/// Well-known packages, whose names are imitated.
const PACKAGES: &[&str] = &[
    "requests",
    "python-dateutil",
    "numpy",
    "pandas",
    "matplotlib",
    "scipy",
    "urllib3",
    "beautifulsoup4",
    "pyyaml",
    "cryptography",
    "pillow",
    "selenium",
    "django",
    "flask",
    "fastapi",
    "sqlalchemy",
    "openai",
    "anthropic",
    "langchain",
    "tensorflow",
    "pytorch",
    "transformers",
    "colorama",
    "setuptools",
    "playwright",
    "lodash",
    "express",
    "react",
    "react-dom",
    "react-devtools",
    "axios",
    "chalk",
    "commander",
    "typescript",
    "webpack",
    "eslint",
    "prettier",
    "discord.js",
    "web3",
    "ethers",
    "dotenv",
    "puppeteer",
    "next",
    "vite",
    "electron",
    "mongoose",
    "socket.io",
    "node-fetch",
    "cross-env",
    "clawhub",
    "openclaw",
    "claude-code",
    "yt-dlp",
    "telethon",
    "paramiko",
    "boto3",
    "httpx",
    "aiohttp",
    "pydantic",
];

/// Whether a package's name differs from a well-known one only by letters that look alike.
pub(super) fn installs_look_alike(act: &ProgramAct) -> bool {
    let plain = |name: &str| {
        name.to_ascii_lowercase()
            .replace('1', "l")
            .replace('0', "o")
            .replace("rn", "m")
            .replace('_', "-")
    };
    act.subject
        .split_whitespace()
        .skip(2)
        .filter(|word| !word.starts_with('-') && word.len() >= 5)
        .any(|word| {
            let name = word
                .split(['=', '<', '>', '@', '['])
                .next()
                .unwrap_or_default();
            let capital_i = name.contains('I').then(|| name.replace('I', "l"));
            PACKAGES.iter().any(|known| {
                *known != name.to_ascii_lowercase()
                    && (plain(name) == plain(known) && name.contains(['0', '1'])
                        || capital_i.as_deref() == Some(*known))
            })
        })
}

pub(super) fn sends_cloud_key(act: &ProgramAct) -> bool {
    const CLOUD: &[&str] = &[
        "AWS_SECRET",
        "AWS_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AZURE_",
        "GOOGLE_APPLICATION",
        "GCP_",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "SSH_",
        "DATABASE_URL",
        "STRIPE_SECRET",
        "PRIVATE_KEY",
        "VAULT_TOKEN",
        "KUBE",
        "DOCKER_PASSWORD",
        "DOCKER_TOKEN",
        "SLACK_TOKEN",
        "SLACK_BOT_TOKEN",
        "SENDGRID_API_KEY",
        "TWILIO_AUTH",
        "JWT_SECRET",
        "PYPI_TOKEN",
        "HEROKU_API_KEY",
        "CLOUDFLARE_API",
        "DB_PASSWORD",
    ];
    let foreign = act
        .host
        .as_ref()
        .is_none_or(|host| !matches!(host.kind, HostKind::Known | HostKind::Local));
    foreign
        && act.host.is_some()
        && act.taints.iter().any(|taint| {
            let variable = taint.source.what.to_ascii_uppercase();
            let own = act.host.as_ref().is_some_and(|host| host.owns(&variable));
            // The URL of a database contains its password.
            let secret = taint.source.kind == S::SecretVariable
                || taint.source.kind == S::Variable && variable.contains("DATABASE_URL");
            secret && CLOUD.iter().any(|prefix| variable.contains(prefix)) && !own
        })
}

pub(super) fn starts_by_itself(act: &ProgramAct) -> bool {
    act.subject.ends_with(":autostart") || path_kind(&act.subject) == PathKind::Autostart
}

/// Whether the written text downloads, decodes or listens, or adds an SSH key.
pub(super) fn is_payload(act: &ProgramAct) -> bool {
    const SIGNS: &[&str] = &[
        "| sh",
        "| bash",
        "|sh",
        "|bash",
        "/dev/tcp/",
        "base64 ",
        "nc -",
        "ncat ",
        "python -c",
        "python3 -c",
        "eval $(",
        "eval \"$(curl",
        "bash -i",
        "openssl ",
        "powershell",
        "iex ",
        "$(curl",
        "$(wget",
        "mshta http",
        "regsvr32 ",
        "rundll32 http",
        "irm http",
        "iwr http",
        "bitsadmin ",
        "certutil -",
    ];
    const SENDS: &[&str] = &[
        "--data",
        " -d ",
        " -T ",
        " -F ",
        "--upload-file",
        "--post-file",
        " @-",
    ];
    let key = act.subject.contains("authorized_keys") && is_public_key(&act.detail);
    let sends = act.detail.contains("curl ") && SENDS.iter().any(|flag| act.detail.contains(flag));
    key || sends
        || act.came_from(S::Download)
        || act.came_from(S::Decoded)
        || SIGNS.iter().any(|sign| act.detail.contains(sign))
}

/// Whether the added key is already on this machine, as opposed to one from the skill.
pub(super) fn is_own_key(act: &ProgramAct) -> bool {
    act.subject.contains("authorized_keys") && !is_public_key(&act.detail) && act.taints.is_empty()
}

/// Whether a text contains a public key. Manuals write `AAAA...` as a placeholder; a real key is longer.
fn is_public_key(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        word.len() >= 60
            || word
                .strip_prefix("AAAA")
                .is_some_and(|rest| rest.trim_end_matches('.').len() >= 24)
    })
}

/// Whether only ordinary lines are added to a shell profile: paths, aliases, variables, completions.
pub(super) fn is_setting(act: &ProgramAct) -> bool {
    let lines = act
        .detail
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut any = false;
    for line in lines {
        any = true;
        const REDIRECTS: &[&str] = &[
            "_BASE_URL=http",
            "_PROXY=http",
            "INDEX_URL=http",
            "REGISTRY=http",
            "LD_PRELOAD=",
            "DYLD_INSERT_LIBRARIES=",
            "PROMPT_COMMAND=",
            "PYTHONSTARTUP=",
        ];
        let local = line.contains("localhost") || line.contains("127.0.0.1");
        if !local && REDIRECTS.iter().any(|name| line.contains(name)) {
            return false;
        }
        let harmless = line.starts_with("export ")
            || line.starts_with("alias ")
            || line.starts_with("eval \"$(")
            || line.starts_with("source ")
            || line.starts_with(". ")
            || line.starts_with("[ ")
            || line.starts_with("autoload")
            || line.contains("=") && !line.contains(' ');
        if !harmless {
            return false;
        }
    }
    any
}

/// Whether downloaded text is written to a file that agents read in every session, in any folder but a skill's.
pub(super) fn is_fetched_instruction(act: &ProgramAct) -> bool {
    let path = act.subject.to_ascii_lowercase();
    let read_always = [
        "claude.md",
        "agents.md",
        "gemini.md",
        "soul.md",
        "memory.md",
        "heartbeat.md",
        "rules",
        "copilot-instructions.md",
        "settings.json",
        ".mcp.json",
    ]
    .iter()
    .any(|end| path.ends_with(end));
    is_agent_file(act) && act.came_from(S::Download) && read_always && !path.contains("/skills/")
}

/// Whether a file contains instructions that agents read in every session, in any folder but a skill's.
pub(super) fn is_standing_order(act: &ProgramAct) -> bool {
    let path = act.subject.to_ascii_lowercase();
    let name = path.rsplit(['/', '\\', '\0']).next().unwrap_or_default();
    matches!(
        name,
        "claude.md"
            | "agents.md"
            | "gemini.md"
            | "soul.md"
            | ".cursorrules"
            | "copilot-instructions.md"
    ) && !path.contains("/skills/")
}

pub(super) fn is_agent_file(act: &ProgramAct) -> bool {
    path_kind(&act.subject) == PathKind::Agent
        || (act.subject.ends_with("/mcp.json") && act.subject.contains("/."))
}

pub(super) fn changes_settings(act: &ProgramAct) -> bool {
    let path = act.subject.to_ascii_lowercase();
    let text = act.detail.to_ascii_lowercase();
    path.ends_with("settings.json")
        || path.ends_with("mcp.json")
        || path.ends_with(".claude.json")
        || [
            "ignore previous",
            "always run",
            "do not ask",
            "permissions",
            "bypass",
        ]
        .iter()
        .any(|sign| text.contains(sign))
}

pub(super) fn wipes(act: &ProgramAct) -> bool {
    let forced = act.detail.contains("-r")
        || act.detail.contains("rmtree")
        || act.detail.contains("-delete")
        || act.detail.contains("/s")
        || act.detail.contains("of=")
        || act.detail.contains("mkfs")
        || act.detail.contains("-exec")
        || act.detail.contains("-Recurse")
        || act.detail.contains("erase");
    let image = act.detail.contains(".iso") || act.detail.contains(".img");
    forced
        && !image
        && matches!(
            path_kind(&act.subject),
            PathKind::Root | PathKind::Home | PathKind::Device
        )
}

/// Whether an unknown command line, or one with an unknown program, is passed to a shell.
pub(super) fn runs_in_shell(act: &ProgramAct) -> bool {
    let starts = |names: &[&str]| names.iter().any(|name| act.detail.starts_with(name));
    let for_shell = act.detail.ends_with(IN_SHELL)
        || starts(&["os.system", "os.popen", "child_process.exec"]) && act.subject.contains(' ');
    starts(&["subprocess", "os.system", "os.popen", "child_process"])
        && (act.subject == "\0" || act.subject.starts_with('\0') && for_shell)
}

pub(super) fn names_miner(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [
        "xmrig",
        "stratum+tcp",
        "--donate-level",
        "--algo rx/",
        "--coin monero",
        "stratum+ssl",
        "coinhive",
        "cryptonight",
        "minerd ",
        "cpuminer",
        "ethminer",
        "nbminer",
        "t-rex -a",
        "randomx",
        "--start-mining",
        "--mining-threads",
    ]
    .iter()
    .any(|name| lower.contains(name))
}

pub(super) fn unprotects(act: &ProgramAct) -> bool {
    let lower = act.subject.to_ascii_lowercase();
    [
        "setenforce 0",
        "ufw disable",
        "iptables -f",
        "csrutil disable",
        "disablerealtimemonitoring",
        "exclusionpath",
        "advfirewall set allprofiles state off",
        "sslverify false",
        "core.hookspath",
        "credential.helper",
        "core.sshcommand",
        "auditctl -e 0",
        "add-trusted-cert",
        "update-ca-",
        "import-certificate",
        "usermod ",
        "useradd ",
        "localgroup administrators",
        "http.proxy http",
        "config set proxy http",
        "config set https-proxy http",
        "fdesetup disable",
        "vssadmin delete",
        "shadowcopy delete",
        "wbadmin delete",
        "recoveryenabled no",
        "wevtutil cl",
    ]
    .iter()
    .any(|sign| lower.contains(sign))
        || (lower.contains("systemctl")
            && [
                "auditd",
                "firewalld",
                "apparmor",
                "falco",
                "crowdstrike",
                "osquery",
                "clamav",
                "rsyslog",
                "ufw",
            ]
            .iter()
            .any(|name| lower.contains(name)))
}

pub(super) fn installs_from_elsewhere(act: &ProgramAct) -> bool {
    let lower = act.subject.to_ascii_lowercase();
    let redirect = [
        "--index-url",
        "--extra-index-url",
        "--registry",
        " -i http",
        "--find-links",
        "--trusted-host",
    ]
    .iter()
    .any(|flag| lower.contains(flag));
    match &act.host {
        Some(host) => match host.kind {
            HostKind::Address | HostKind::Drop | HostKind::Anonymous => true,
            HostKind::Other | HostKind::Example => redirect || host.plain,
            HostKind::Known | HostKind::Code | HostKind::Chat | HostKind::Local => false,
        },
        None => false,
    }
}

/// Whether a line for `/etc/hosts` gives the name of a known publisher an address that is not this machine's.
pub(super) fn redirects_known_host(act: &ProgramAct) -> bool {
    let is_own = |word: &str| word.starts_with("127.") || word.starts_with("0.") || word == "::1";
    let is_hosts = act.subject == "/etc/hosts"
        || act
            .subject
            .to_ascii_lowercase()
            .ends_with("drivers\\etc\\hosts");
    is_hosts
        && act.detail.lines().any(|line| {
            let mut words = line
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'']));
            let address = words.next().unwrap_or_default();
            address.parse::<std::net::IpAddr>().is_ok()
                && !is_own(address)
                && words.any(|name| {
                    crate::flow::RemoteHost::of(&format!("https://{name}"))
                        .is_some_and(|host| matches!(host.kind, HostKind::Known | HostKind::Code))
                })
        })
}
