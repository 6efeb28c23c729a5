//! Hosts and what is known about them.
//!
//! Whether a download or a request is dangerous depends on the host. A host is classified by its name alone: IP
//! addresses, services where anyone can upload or receive files, well-known publishers of developer tools, or none of
//! these. Lists name *kinds of service*, never a campaign's host.

/// A host that a program contacts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteHost {
    /// Its name, lower case, or its address.
    pub name: String,
    /// Its classification.
    pub kind: HostKind,
    /// The first two parts of the path, for hosts that many share (`github.com/owner/repository`).
    pub path: String,
    /// Whether the connection is not encrypted.
    pub plain: bool,
    /// The port, if one is named.
    pub port: Option<u16>,
}

/// The classification of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostKind {
    /// This machine or its network.
    Local,
    /// An IP address on the internet.
    Address,
    /// Paste sites, file drops, request bins, tunnels: anyone can upload or receive data there.
    Drop,
    /// Chat webhooks: messages to a channel.
    Chat,
    /// Free hosting and link shorteners, whose names do not identify an owner.
    Anonymous,
    /// A publisher of developer tools, package registries, clouds and model providers.
    Known,
    /// Code hosting sites; the owner is in the path.
    Code,
    /// Reserved for examples.
    Example,
    /// Any other.
    Other,
}

/// The hosts that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCondition {
    /// Any host, or none.
    Any,
    /// IP addresses, drops and anonymous hosts.
    Shady,
    /// IP addresses and drops.
    Drops,
    /// All but this machine and known ones.
    Foreign,
    /// Other hosts that the skill's name, description and homepage do not mention.
    Unrelated,
}

impl HostCondition {
    /// Whether a host is included.
    #[must_use]
    pub fn covers(self, host: Option<&RemoteHost>) -> bool {
        let kind = host.map(|host| host.kind);
        match self {
            Self::Any => true,
            Self::Shady => matches!(
                kind,
                Some(HostKind::Address | HostKind::Drop | HostKind::Anonymous)
            ),
            Self::Drops => matches!(
                kind,
                Some(HostKind::Address | HostKind::Drop | HostKind::Chat)
            ),
            Self::Unrelated => matches!(kind, Some(HostKind::Other | HostKind::Example)),
            Self::Foreign => !matches!(kind, Some(HostKind::Local | HostKind::Known)),
        }
    }
}

/// Services where anyone can upload or receive data.
const DROPS: &[&str] = &[
    "pastebin.com",
    "paste.ee",
    "hastebin.com",
    "rentry.co",
    "rentry.org",
    "ghostbin.com",
    "dpaste.com",
    "glot.io",
    "controlc.com",
    "pastes.io",
    "ix.io",
    "sprunge.us",
    "termbin.com",
    "0x0.st",
    "transfer.sh",
    "file.io",
    "filebin.net",
    "bashupload.com",
    "catbox.moe",
    "anonfiles.com",
    "gofile.io",
    "mega.nz",
    "mediafire.com",
    "temp.sh",
    "oshi.at",
    "wetransfer.com",
    "tmpfiles.org",
    "webhook.site",
    "requestbin.com",
    "requestbin.net",
    "pipedream.net",
    "beeceptor.com",
    "requestcatcher.com",
    "hookbin.com",
    "postb.in",
    "interact.sh",
    "oast.pro",
    "oast.live",
    "oast.fun",
    "oast.site",
    "oast.online",
    "oast.me",
    "burpcollaborator.net",
    "dnslog.cn",
    "canarytokens.com",
    "ngrok.io",
    "ngrok.app",
    "ngrok-free.app",
    "ngrok.dev",
    "trycloudflare.com",
    "loca.lt",
    "localtunnel.me",
    "serveo.net",
    "localhost.run",
    "bore.pub",
    "telebit.cloud",
];

/// Names that suggest an attack.
const TELLING: &[&str] = &[
    "exfil",
    "evil",
    "attacker",
    "malicious",
    "c2",
    "steal",
    "stealer",
    "phish",
    "keylog",
    "keylogger",
    "hostile",
    "rogue",
    "backdoor",
    "botnet",
    "adversary",
    "malware",
    "phishing",
    "ransomware",
];

/// Services where a message reaches the creator of the link.
const CHATS: &[&str] = &[
    "discord.com/api/webhooks",
    "discordapp.com/api/webhooks",
    "api.telegram.org/bot",
    "hooks.slack.com",
];

/// Free hosting and shorteners.
const ANONYMOUS: &[&str] = &[
    "vercel.app",
    "netlify.app",
    "pages.dev",
    "workers.dev",
    "herokuapp.com",
    "onrender.com",
    "fly.dev",
    "railway.app",
    "up.railway.app",
    "replit.app",
    "repl.co",
    "glitch.me",
    "surge.sh",
    "web.app",
    "firebaseapp.com",
    "pythonanywhere.com",
    "000webhostapp.com",
    "deno.dev",
    "base44.app",
    "lovable.app",
    "run.app",
    "tcloudbaseapp.com",
    "azurewebsites.net",
    "blogspot.com",
    "weebly.com",
    "wixsite.com",
    "duckdns.org",
    "no-ip.org",
    "ddns.net",
    "hopto.org",
    "nip.io",
    "sslip.io",
    "bit.ly",
    "tinyurl.com",
    "t.co",
    "is.gd",
    "goo.gl",
    "cutt.ly",
    "rb.gy",
    "shorturl.at",
    "s.id",
    "t.ly",
];

/// Code hosting sites; the owner is in the path.
const CODE: &[&str] = &[
    "github.com",
    "raw.githubusercontent.com",
    "gist.githubusercontent.com",
    "gist.github.com",
    "objects.githubusercontent.com",
    "codeload.github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "huggingface.co",
    "cdn.jsdelivr.net",
    "unpkg.com",
    "sourceforge.net",
    "github.io",
    "gitlab.io",
];

/// Publishers whose downloads and APIs are in common use.
const KNOWN: &[&str] = &[
    "astral.sh",
    "bun.sh",
    "bun.com",
    "deno.land",
    "deno.com",
    "rustup.rs",
    "rust-lang.org",
    "crates.io",
    "nodejs.org",
    "nodesource.com",
    "npmjs.com",
    "npmjs.org",
    "yarnpkg.com",
    "pnpm.io",
    "pypi.org",
    "pythonhosted.org",
    "python.org",
    "rubygems.org",
    "golang.org",
    "go.dev",
    "brew.sh",
    "homebrew.sh",
    "docker.com",
    "docker.io",
    "ghcr.io",
    "quay.io",
    "foundry.paradigm.xyz",
    "soliditylang.org",
    "solana.com",
    "anza.xyz",
    "sdkman.io",
    "get.pnpm.io",
    "install.python-poetry.org",
    "python-poetry.org",
    "nixos.org",
    "determinate.systems",
    "microsoft.com",
    "azure.com",
    "windows.net",
    "visualstudio.com",
    "apple.com",
    "icloud.com",
    "google.com",
    "googleapis.com",
    "googleusercontent.com",
    "gstatic.com",
    "youtube.com",
    "amazonaws.com",
    "amazon.com",
    "aws.amazon.com",
    "cloudflare.com",
    "digitalocean.com",
    "heroku.com",
    "vercel.com",
    "netlify.com",
    "fly.io",
    "supabase.com",
    "supabase.co",
    "hashicorp.com",
    "terraform.io",
    "kubernetes.io",
    "k8s.io",
    "helm.sh",
    "debian.org",
    "ubuntu.com",
    "alpinelinux.org",
    "fedoraproject.org",
    "openai.com",
    "anthropic.com",
    "claude.ai",
    "claude.com",
    "mistral.ai",
    "cohere.com",
    "groq.com",
    "openrouter.ai",
    "replicate.com",
    "elevenlabs.io",
    "deepseek.com",
    "x.ai",
    "perplexity.ai",
    "ollama.com",
    "ollama.ai",
    "stability.ai",
    "fal.ai",
    "fal.run",
    "api.github.com",
    "slack.com",
    "discord.com",
    "telegram.org",
    "notion.com",
    "notion.so",
    "atlassian.net",
    "atlassian.com",
    "linear.app",
    "stripe.com",
    "twilio.com",
    "sendgrid.com",
    "mailgun.net",
    "twitter.com",
    "x.com",
    "reddit.com",
    "wikipedia.org",
    "figma.com",
    "airtable.com",
    "hubapi.com",
    "salesforce.com",
    "shopify.com",
    "spotify.com",
    "todoist.com",
    "trello.com",
    "zoom.us",
    "datadoghq.com",
    "sentry.io",
    "posthog.com",
    "pagerduty.com",
    "postman.com",
    "brave.com",
    "tavily.com",
    "exa.ai",
    "firecrawl.dev",
    "serpapi.com",
    "wttr.in",
    "open-meteo.com",
    "openweathermap.org",
    "arxiv.org",
    "semgrep.dev",
    "trailofbits.com",
    "inference.sh",
    "hf.co",
    "aka.ms",
    "nvidia.com",
    "openclaw.ai",
    "w3.org",
    "llvm.org",
    "ffmpeg.org",
    "imagemagick.org",
    "postgresql.org",
    "sqlite.org",
    "mongodb.com",
    "redis.io",
    "apache.org",
    "eclipse.org",
    "oracle.com",
    "jetbrains.com",
    "mozilla.org",
    "chromium.org",
    "playwright.dev",
    "pandoc.org",
    "graphviz.org",
    "r-project.org",
    "julialang.org",
    "ziglang.org",
    "haskell.org",
    "elixir-lang.org",
    "php.net",
    "getcomposer.org",
    "flutter.dev",
    "dart.dev",
    "kotlinlang.org",
    "gradle.org",
    "conda.io",
    "anaconda.com",
    "conda-forge.org",
    "tailscale.com",
    "syncthing.net",
    "obsidian.md",
    "raycast.com",
    "warp.dev",
    "starship.rs",
    "mise.run",
    "mise.jdx.dev",
    "volta.sh",
    "fnm.vercel.app",
    "get.sdkman.io",
    "ohmyz.sh",
    "zsh.org",
    "gnu.org",
    "kernel.org",
    "sourceware.org",
    "opensuse.org",
    "archlinux.org",
    "redhat.com",
    "gitpod.io",
    "codesandbox.io",
    "railway.com",
    "render.com",
    "neon.tech",
    "planetscale.com",
    "turso.tech",
    "upstash.com",
    "convex.dev",
    "clerk.com",
    "auth0.com",
    "okta.com",
    "twitch.tv",
    "discordapp.com",
    "whatsapp.com",
    "meta.com",
    "facebook.com",
    "instagram.com",
    "linkedin.com",
    "tiktok.com",
    "pinterest.com",
    "medium.com",
    "substack.com",
    "dropbox.com",
    "box.com",
    "etherscan.io",
    "coingecko.com",
    "coinmarketcap.com",
    "infura.io",
    "alchemy.com",
    "uniswap.org",
    "jup.ag",
    "paypal.com",
    "wise.com",
    "plaid.com",
    "yahoo.com",
    "bing.com",
    "duckduckgo.com",
    "ecosia.org",
    "openstreetmap.org",
    "mapbox.com",
    "nasa.gov",
    "nih.gov",
    "noaa.gov",
    "weather.gov",
    "europa.eu",
    "schema.org",
    "json-schema.org",
    "schemastore.org",
    "purl.org",
    "openxmlformats.org",
    "clawhub.ai",
    "clawhub.com",
    "agentskills.io",
    "skills.sh",
    "modelcontextprotocol.io",
];

/// Trusted names and the domains that belong to them.
const BRANDS: &[(&str, &[&str])] = &[
    ("openclaw", &["openclaw.ai", "openclaw.com"]),
    ("clawhub", &["clawhub.ai", "clawhub.com", "clawhub.org"]),
    ("clawdbot", &["clawd.bot", "clawdbot.com"]),
    ("anthropic", &["anthropic.com"]),
    ("claude-code", &["anthropic.com"]),
    ("claudecode", &["anthropic.com"]),
    ("openai", &["openai.com"]),
    ("chatgpt", &["chatgpt.com", "openai.com"]),
    (
        "github",
        &[
            "github.com",
            "github.io",
            "githubusercontent.com",
            "githubcopilot.com",
        ],
    ),
    ("gitlab", &["gitlab.com", "gitlab.io"]),
    ("microsoft", &["microsoft.com", "microsoftonline.com"]),
    ("windowsupdate", &["microsoft.com", "windowsupdate.com"]),
    ("appledev", &["apple.com"]),
    ("google-", &["google.com"]),
    ("npmjs", &["npmjs.com", "npmjs.org"]),
    ("pypi-", &["pypi.org"]),
    ("metamask", &["metamask.io"]),
    ("phantom-wallet", &["phantom.app", "phantom.com"]),
    ("polymarket", &["polymarket.com"]),
    (
        "binance",
        &["binance.com", "binance.us", "binance.org", "bnbchain.org"],
    ),
    ("coinbase", &["coinbase.com"]),
    ("react-dev", &["react.dev", "reactjs.org"]),
    ("cloudflare-", &["cloudflare.com"]),
];

impl RemoteHost {
    /// The host of a URL, or of `host:port`, `user@host`.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let url = url
            .trim()
            .trim_matches(['"', '\'', '`', '<', '>', '(', ')', '[', ']', ',', ';']);
        let lower = url.to_ascii_lowercase();
        let (scheme, rest) = lower.split_once("://").unwrap_or(("", &lower));
        if rest.is_empty()
            || (scheme.is_empty() && !rest.contains('.') && !rest.starts_with("localhost"))
        {
            return None;
        }
        let end = rest
            .find(['/', '?', '#', '\\', '\0', ' '])
            .unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let port = authority
            .rsplit(':')
            .next()
            .filter(|_| authority.contains(':'))
            .and_then(|port| port.parse().ok());
        let name = match authority.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or(address),
            None => authority.split(':').next().unwrap_or(authority),
        };
        let name = name.trim_end_matches('.');
        let plausible = !name.is_empty()
            && name.len() <= 253
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'))
            && (name.contains('.') || name.contains(':') || name == "localhost");
        if !plausible || (scheme.is_empty() && !has_known_end(name)) {
            return None;
        }
        let path = path.split(['?', '#', '\0', ' ']).next().unwrap_or_default();
        let kind = kind(name, path);
        Some(Self {
            name: name.to_owned(),
            kind,
            path: path
                .trim_matches('/')
                .split('/')
                .take(2)
                .collect::<Vec<_>>()
                .join("/"),
            plain: scheme == "http" || scheme == "ftp" || scheme == "ws",
            port,
        })
    }

    /// The brand whose name the host contains without belonging to it: `claude-cli.example`.
    #[must_use]
    pub fn impersonates(&self) -> Option<&'static str> {
        if matches!(
            self.kind,
            HostKind::Local | HostKind::Known | HostKind::Code | HostKind::Drop | HostKind::Address
        ) {
            return None;
        }
        let name = match self.kind {
            HostKind::Anonymous => self.owner(),
            _ => &self.name,
        };
        let (brand, _) = BRANDS.iter().find(|(brand, own)| {
            name.contains(brand) && !own.iter().any(|domain| within(&self.name, domain))
        })?;
        Some(brand)
    }

    /// Whether its name suggests an attack; examples in manuals have such names too.
    #[must_use]
    pub fn is_named_for_harm(&self) -> bool {
        is_telling(&self.name)
    }

    /// Whether public services do not use the port.
    #[must_use]
    pub fn has_odd_port(&self) -> bool {
        const USUAL: &[u16] = &[
            80, 443, 8080, 8443, 21, 22, 25, 465, 587, 993, 5432, 3306, 6379, 27017, 9200, 5672,
            8883, 1883, 9418, 8545, 8000, 3000, 5000, 8888,
        ];
        !matches!(self.kind, HostKind::Local)
            && self.port.is_some_and(|port| !USUAL.contains(&port))
    }

    /// The owner: the registrable part of the name, or the owner's name on shared hosts.
    #[must_use]
    pub fn owner(&self) -> &str {
        match self.kind {
            HostKind::Code
                if self.name.ends_with(".github.io") || self.name.ends_with(".gitlab.io") =>
            {
                self.name.split('.').next().unwrap_or_default()
            }
            HostKind::Code => self.path.split('/').next().unwrap_or_default(),
            HostKind::Anonymous => self.name.split('.').next().unwrap_or_default(),
            _ => {
                let parts: Vec<&str> = self.name.rsplitn(3, '.').collect();
                match parts.as_slice() {
                    [_, second, rest] if second.len() <= 3 && second != rest => {
                        rest.rsplit('.').next().unwrap_or_default()
                    }
                    [_, second, ..] => second,
                    _ => &self.name,
                }
            }
        }
    }
}

/// Without a scheme, a word is a host only if it ends with a known top-level domain.
fn has_known_end(name: &str) -> bool {
    const ENDS: &[&str] = &[
        "com", "net", "org", "io", "dev", "app", "ai", "co", "sh", "me", "xyz", "site", "ru", "cn",
        "tk", "top", "info", "us", "eu", "de", "uk", "fr", "moe", "st", "cloud", "online", "pro",
        "live", "to", "cc", "ws",
    ];
    let end = name.rsplit('.').next().unwrap_or_default();
    name == "localhost" || is_address(name) || ENDS.contains(&end)
}

fn kind(name: &str, path: &str) -> HostKind {
    if is_local(name) {
        return HostKind::Local;
    }
    if is_address(name) {
        return HostKind::Address;
    }
    if ["example", "test", "invalid", "localhost"]
        .contains(&name.rsplit('.').next().unwrap_or_default())
        || ["example.com", "example.org", "example.net"]
            .iter()
            .any(|end| within(name, end))
    {
        return HostKind::Example;
    }
    let whole = format!("{name}{path}");
    let listed = |list: &[&str]| {
        list.iter().any(|entry| match entry.split_once('/') {
            Some(_) => whole.starts_with(entry),
            None => within(name, entry),
        })
    };
    let telling = is_telling(name)
        || ["paste.", "pastes.", "pastebin."]
            .iter()
            .any(|label| name.starts_with(label));
    if listed(DROPS) || telling {
        HostKind::Drop
    } else if name == "api.github.com" {
        HostKind::Known
    } else if listed(CHATS) {
        HostKind::Chat
    } else if name == "gist.githubusercontent.com" || name == "gist.github.com" {
        HostKind::Anonymous
    } else if listed(CODE) {
        HostKind::Code
    } else if listed(ANONYMOUS) {
        HostKind::Anonymous
    } else if listed(KNOWN) {
        HostKind::Known
    } else {
        HostKind::Other
    }
}

/// `sub.domain` is inside `domain`; `notdomain` is not.
fn within(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain)
        .is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn is_local(name: &str) -> bool {
    name == "localhost"
        || within(name, "local")
        || within(name, "internal")
        || name == "0.0.0.0"
        || name == "::1"
        || name.starts_with("127.")
        || name.starts_with("10.")
        || name.starts_with("192.168.")
        || name
            .strip_prefix("172.")
            .and_then(|rest| rest.split('.').next()?.parse::<u8>().ok())
            .is_some_and(|second| (16..32).contains(&second))
}

fn is_telling(name: &str) -> bool {
    name.split(['.', '-']).any(|part| TELLING.contains(&part))
}

/// `203.0.113.7`, also written as one number, in hex or octal; IPv6.
fn is_address(name: &str) -> bool {
    let number = |part: &str| {
        let hex = part.strip_prefix("0x").unwrap_or(part);
        !part.is_empty()
            && part.len() <= 10
            && hex
                .chars()
                .all(|c| c.is_ascii_digit() || (hex.len() < part.len() && c.is_ascii_hexdigit()))
    };
    let parts: Vec<&str> = name.split('.').collect();
    (parts.len() == 4 && parts.iter().all(|part| number(part)))
        || (parts.len() == 1 && name.len() >= 8 && number(name))
        || (name.contains(':') && name.chars().all(|c| c.is_ascii_hexdigit() || c == ':'))
}

/// The URLs of a text, with their offsets.
pub(crate) fn urls_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    memchr::memmem::find_iter(text.as_bytes(), b"://").filter_map(move |middle| {
        let start = text[..middle]
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '+')
            .map_or(0, |index| {
                index + text[index..].chars().next().map_or(1, char::len_utf8)
            });
        let end = text[middle..]
            .find(|c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '}' | '|' | '\\' | '*' | ','
                    )
                    || c == '\0'
            })
            .map_or(text.len(), |length| middle + length);
        let url = text[start..end].trim_end_matches(['.', ';', ':', '!', '?']);
        (start < middle && url.len() > middle + 3 - start).then_some((start, url))
    })
}
