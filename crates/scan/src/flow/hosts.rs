//! Hosts and their classification.
//!
//! Whether a download or a request is dangerous depends on the host. A host is classified by its name alone: IP
//! addresses, services where anyone can upload or receive files, well-known publishers of developer tools, or none of
//! these. Lists name *kinds of service*, never a campaign's host.

use std::{collections::BTreeMap, sync::LazyLock};

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
    /// The port, if there is one.
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
    /// Free hosting, object stores, forms, hosted databases, file lockers, chat CDNs and link shorteners: anyone can register there,
    /// so the name does not identify an owner.
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
    /// All but this machine, known ones, and those that the skill introduces.
    Strangers,
    /// IP addresses, drops and chats; anonymous hosts that the skill does not introduce.
    Receivers,
}

impl HostCondition {
    /// Whether a host is included, independent of the skill's text.
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
            Self::Receivers => matches!(
                kind,
                Some(HostKind::Address | HostKind::Drop | HostKind::Chat | HostKind::Anonymous)
            ),
            Self::Foreign | Self::Strangers => {
                !matches!(kind, Some(HostKind::Local | HostKind::Known))
            }
        }
    }
}

/// Services where anyone can upload or receive data, and that have no other purpose.
#[rustfmt::skip]
const DROPS: &[&str] = &[
    "pastebin.com", "paste.ee", "hastebin.com", "rentry.co", "rentry.org", "ghostbin.com", "dpaste.com", "glot.io",
    "controlc.com", "pastes.io", "ix.io", "sprunge.us", "termbin.com", "0x0.st", "transfer.sh", "file.io", "filebin.net",
    "bashupload.com", "catbox.moe", "anonfiles.com", "gofile.io", "mega.nz", "mediafire.com", "temp.sh", "oshi.at",
    "wetransfer.com", "tmpfiles.org", "webhook.site", "requestbin.com", "requestbin.net", "pipedream.net", "beeceptor.com",
    "requestcatcher.com", "hookbin.com", "postb.in", "interact.sh", "oast.pro", "oast.live", "oast.fun", "oast.site",
    "oast.online", "oast.me", "burpcollaborator.net", "dnslog.cn", "canarytokens.com", "ngrok.io", "ngrok.app", "ngrok-free.app",
    "ngrok.dev", "trycloudflare.com", "loca.lt", "localtunnel.me", "serveo.net", "localhost.run", "bore.pub", "telebit.cloud",
    "gradio.live", "lhr.life", "pinggy.link", "pinggy.io", "tunnelto.dev", "devtunnels.ms", "loclx.io", "zrok.io", "playit.gg",
    "cfargotunnel.com", "expose.dev", "jprq.io", "telegra.ph", "paste.rs", "dpaste.org", "ttm.sh", "uguu.se", "pixeldrain.com",
    "send.vis.ee", "gofile.me", "krakenfiles.com", "1fichier.com", "sendspace.com", "zippyshare.com", "dnsbin.zhack.ca",
    "requestinspector.com", "mockbin.org", "ptsv3.com", "rbndr.us", "ceye.io", "oastify.com", "hookdeck.com", "smee.io",
    "typedwebhook.tools", "put.re", "hastebin.skyra.pw", "privatebin.net", "paste.mozilla.org", "justpaste.it", "cl1p.net",
    "codepad.org",
];

/// Services where a message reaches the creator of the link.
#[rustfmt::skip]
const CHATS: &[&str] = &[
    "discord.com/api/webhooks", "discordapp.com/api/webhooks", "api.telegram.org/bot", "hooks.slack.com",
    "discord.com/api/v10/webhooks", "discord.com/api/v9/webhooks", "ptb.discord.com/api/webhooks",
    "canary.discord.com/api/webhooks", "open.feishu.cn/open-apis/bot", "open.larksuite.com/open-apis/bot",
    "oapi.dingtalk.com/robot", "qyapi.weixin.qq.com/cgi-bin/webhook", "outlook.office.com/webhook", "webhook.office.com",
    "chat.googleapis.com", "ntfy.sh", "api.pushover.net", "sctapi.ftqq.com", "api.day.app",
];

/// Services where anyone can register a page, a file, a form, a function or a database, and shorteners. The public-suffix list
/// contains more of them.
#[rustfmt::skip]
const ANONYMOUS: &[&str] = &[
    "vercel.app", "netlify.app", "pages.dev", "workers.dev", "herokuapp.com", "onrender.com", "fly.dev", "railway.app",
    "replit.app", "repl.co", "glitch.me", "surge.sh", "web.app", "firebaseapp.com", "pythonanywhere.com", "000webhostapp.com",
    "deno.dev", "base44.app", "lovable.app", "run.app", "tcloudbaseapp.com", "azurewebsites.net", "blogspot.com", "weebly.com",
    "wixsite.com", "duckdns.org", "no-ip.org", "ddns.net", "hopto.org", "nip.io", "sslip.io", "bit.ly", "tinyurl.com", "t.co",
    "is.gd", "goo.gl", "cutt.ly", "rb.gy", "shorturl.at", "s.id", "t.ly", "gist.githubusercontent.com", "gist.github.com",
    "storage.googleapis.com", "firebasestorage.googleapis.com", "googleusercontent.com", "drive.google.com", "docs.google.com",
    "forms.gle", "script.google.com", "sites.google.com", "colab.research.google.com", "firebaseio.com", "firebasedatabase.app",
    "cloudfunctions.net", "appspot.com", "s3.amazonaws.com", "cloudfront.net", "awsapprunner.com", "elasticbeanstalk.com",
    "amplifyapp.com", "on.aws", "blob.core.windows.net", "file.core.windows.net", "web.core.windows.net", "azureedge.net",
    "azurefd.net", "azurestaticapps.net", "cloudapp.azure.com", "cloudapp.net", "azure-api.net", "onedrive.live.com", "1drv.ms",
    "sharepoint.com", "r2.dev", "r2.cloudflarestorage.com", "digitaloceanspaces.com", "ondigitalocean.app", "backblazeb2.com",
    "wasabisys.com", "linodeobjects.com", "vultrobjects.com", "scw.cloud", "aliyuncs.com", "myqcloud.com", "qiniudn.com",
    "bcebos.com", "oraclecloud.com", "dropbox.com", "dropboxusercontent.com", "db.tt", "box.com", "pcloud.com",
    "icloud.com/iclouddrive", "disk.yandex.ru", "yadi.sk", "cdn.discordapp.com", "media.discordapp.net", "files.slack.com",
     "imgur.com", "ibb.co", "imgbb.com", "postimg.cc", "gyazo.com", "formspree.io", "formsubmit.co", "getform.io",
    "typeform.com", "jotform.com", "tally.so", "basin.io", "web3forms.com", "hooks.zapier.com", "hook.make.com",
    "hook.integromat.com", "maker.ifttt.com", "n8n.cloud", "jsonbin.io", "jsonblob.com", "npoint.io", "mockapi.io",
    "extendsclass.com", "kvdb.io", "supabase.co", "upstash.io", "mongodb.net", "neon.tech/sql", "appwrite.global", "hf.space",
    "streamlit.app", "csb.app", "codesandbox.io", "stackblitz.io", "webcontainer.io", "replit.dev", "now.sh", "notion.site",
    "bubbleapps.io", "framer.app", "framer.website", "carrd.co", "tiiny.site", "neocities.org",
    "000webhost.com", "infinityfreeapp.com", "epizy.com", "byethost.com", "x10host.com",
    "zeabur.app", "koyeb.app", "northflank.app", "cyclic.app", "adaptable.app", "back4app.io", "leapcell.dev", "val.run",
    "beget.tech", "kesug.com", "dynv6.net", "dedyn.io", "ddns.us", "zapto.org", "sytes.net", "serveftp.com", "mooo.com",
    "afraid.org", "lnkd.in", "ow.ly", "buff.ly", "shorturl.asia", "v.gd", "soo.gd", "urlz.fr", "clck.ru", "2no.co",
    "iplogger.org", "grabify.link", "u.to", "dub.sh", "short.gy",
];

/// Generic top-level domains that publishers of software use.
const ESTABLISHED: &[&str] = &[
    "com", "org", "net", "edu", "gov", "int", "mil", "dev", "app", "cloud", "tech", "tools",
    "example", "invalid", "test",
];

/// Country top-level domains that are free, or sold to anyone for next to nothing.
const GIVEN_AWAY: &[&str] = &[
    "tk", "ml", "ga", "cf", "gq", "su", "pw", "cc", "ws", "bz", "nf", "st", "la", "ru", "pm", "ec",
    "vg", "gs", "gp", "gl", "gd", "ms", "pn", "sb", "tf", "vc", "wf", "yt", "cx", "cm", "gy", "mp",
    "tl", "ag", "mn", "nr", "ki", "lc", "nc", "fo", "ht", "dm", "as", "ax", "gg", "je", "sx", "tc",
    "vu", "to", "su", "cv", "kn", "mu", "mw", "cd", "sr",
];

/// Code hosting sites; the owner is in the path.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "github.com", "raw.githubusercontent.com", "objects.githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org",
    "huggingface.co", "cdn.jsdelivr.net", "unpkg.com", "sourceforge.net", "github.io", "gitlab.io", "readthedocs.io", "gitbook.io",
];

/// Publishers whose downloads and APIs are in common use.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "astral.sh", "bun.sh", "bun.com", "deno.land", "deno.com", "rustup.rs", "rust-lang.org", "crates.io", "nodejs.org",
    "nodesource.com", "npmjs.com", "npmjs.org", "yarnpkg.com", "pnpm.io", "pypi.org", "pythonhosted.org", "python.org",
    "rubygems.org", "golang.org", "go.dev", "brew.sh", "homebrew.sh", "docker.com", "docker.io", "ghcr.io", "quay.io",
    "foundry.paradigm.xyz", "soliditylang.org", "solana.com", "anza.xyz", "sdkman.io", "python-poetry.org", "nixos.org",
    "determinate.systems", "microsoft.com", "visualstudio.com", "apple.com", "icloud.com", "google.com", "googleapis.com",
    "gstatic.com", "youtube.com", "amazonaws.com", "amazon.com", "cloudflare.com", "digitalocean.com", "heroku.com",
    "vercel.com", "netlify.com", "fly.io", "supabase.com", "hashicorp.com", "terraform.io", "kubernetes.io", "k8s.io", "helm.sh",
    "debian.org", "ubuntu.com", "alpinelinux.org", "fedoraproject.org", "openai.com", "anthropic.com", "claude.ai", "claude.com",
    "mistral.ai", "cohere.com", "groq.com", "openrouter.ai", "replicate.com", "elevenlabs.io", "deepseek.com", "x.ai",
    "perplexity.ai", "ollama.com", "ollama.ai", "stability.ai", "fal.ai", "fal.run", "api.github.com", "slack.com",
    "discord.com", "telegram.org", "notion.com", "notion.so", "atlassian.net", "atlassian.com", "linear.app", "stripe.com",
    "twilio.com", "sendgrid.com", "mailgun.net", "twitter.com", "x.com", "reddit.com", "wikipedia.org", "figma.com",
    "airtable.com", "hubapi.com", "salesforce.com", "shopify.com", "spotify.com", "todoist.com", "trello.com", "zoom.us",
    "datadoghq.com", "sentry.io", "posthog.com", "pagerduty.com", "postman.com", "brave.com", "tavily.com", "exa.ai",
    "firecrawl.dev", "serpapi.com", "wttr.in", "open-meteo.com", "openweathermap.org", "arxiv.org", "semgrep.dev",
    "trailofbits.com", "inference.sh", "hf.co", "aka.ms", "nvidia.com", "pytorch.org", "github.blog", "openclaw.ai", "w3.org", "llvm.org", "ffmpeg.org",
    "imagemagick.org", "postgresql.org", "sqlite.org", "mongodb.com", "redis.io", "apache.org", "eclipse.org", "oracle.com",
    "jetbrains.com", "mozilla.org", "chromium.org", "playwright.dev", "pandoc.org", "graphviz.org", "r-project.org",
    "julialang.org", "ziglang.org", "haskell.org", "elixir-lang.org", "php.net", "getcomposer.org", "flutter.dev", "dart.dev",
    "kotlinlang.org", "gradle.org", "conda.io", "anaconda.com", "conda-forge.org", "tailscale.com", "syncthing.net",
    "obsidian.md", "raycast.com", "warp.dev", "starship.rs", "mise.run", "volta.sh", "fnm.vercel.app", "ohmyz.sh", "zsh.org",
    "gnu.org", "kernel.org", "sourceware.org", "opensuse.org", "archlinux.org", "redhat.com", "gitpod.io", "railway.com",
    "render.com", "neon.tech", "planetscale.com", "turso.tech", "upstash.com", "convex.dev", "clerk.com", "auth0.com",
    "okta.com", "twitch.tv", "whatsapp.com", "meta.com", "facebook.com", "instagram.com", "linkedin.com", "tiktok.com",
    "pinterest.com", "medium.com", "substack.com", "etherscan.io", "coingecko.com", "coinmarketcap.com", "infura.io",
    "alchemy.com", "uniswap.org", "jup.ag", "paypal.com", "wise.com", "plaid.com", "yahoo.com", "bing.com", "duckduckgo.com",
    "ecosia.org", "openstreetmap.org", "mapbox.com", "nasa.gov", "nih.gov", "noaa.gov", "weather.gov", "europa.eu", "schema.org",
    "json-schema.org", "schemastore.org", "purl.org", "openxmlformats.org", "clawhub.ai", "clawhub.com", "agentskills.io",
    "skills.sh", "modelcontextprotocol.io", "mise.jdx.dev", "azure.com", "windows.net", "discordapp.com", "githubcopilot.com",
    "cli.github.com", "registry.npmmirror.com", "maven.org", "mvnrepository.com", "nuget.org", "packagist.org", "cpan.org",
    "metacpan.org", "hex.pm", "cocoapods.org", "swift.org", "scala-lang.org", "clojars.org", "modal.com", "together.ai",
    "together.xyz", "fireworks.ai", "huggingface.co/api", "cerebras.ai", "moonshot.cn", "dashscope.aliyuncs.com", "bigmodel.cn",
    "volces.com", "qianfan.baidubce.com", "siliconflow.cn", "minimax.chat", "minimaxi.com", "gitee.com/api", "asana.com",
    "clickup.com", "monday.com", "intercom.io", "zendesk.com", "freshdesk.com", "hubspot.com", "mailchimp.com", "resend.com",
    "postmarkapp.com", "brevo.com", "calendly.com", "cal.com", "webflow.com", "contentful.com", "sanity.io", "algolia.com",
    "pinecone.io", "weaviate.io", "qdrant.tech", "elastic.co", "newrelic.com", "grafana.com", "honeycomb.io", "splunk.com",
    "snyk.io", "virustotal.com", "shodan.io", "abuseipdb.com", "nvd.nist.gov", "cve.org", "mitre.org", "osv.dev", "doi.org",
    "crossref.org", "semanticscholar.org", "worldbank.org", "finnhub.io", "alphavantage.co", "polygon.io", "binance.com",
    "coinbase.com", "kraken.com", "polymarket.com", "hyperliquid.xyz", "ngrok.com", "opensearch.org", "vaultproject.io",
    "pulumi.com", "circleci.com", "travis-ci.com", "jfrog.io", "sonarcloud.io", "codecov.io", "statuspage.io", "chatgpt.com",
    "vimeo.com", "soundcloud.com", "flickr.com", "unsplash.com", "pexels.com", "giphy.com", "tenor.com", "googlevideo.com",
    "bsky.social", "bsky.app", "mastodon.social", "threads.net", "feishu.cn", "larksuite.com", "dingtalk.com", "bilibili.com",
    "fluxcd.io", "containerlab.dev", "ctan.org",
    "tug.org", "k3s.io", "k0s.sh", "istio.io", "linkerd.io", "rancher.com", "rancher.io", "argoproj.io", "chocolatey.org",
    "scoop.sh", "rvm.io", "pyenv.run", "pixi.sh", "prefix.dev", "ocaml.org", "crystal-lang.org", "gleam.run", "vlang.io",
    "dot.net", "dotnetfoundation.org", "localstack.cloud", "min.io", "influxdata.com", "timescale.com", "clickhouse.com",
    "questdb.io", "duckdb.org", "surrealdb.com", "cockroachlabs.com", "temporal.io", "n8n.io", "langchain.com", "wandb.ai",
    "cypress.io", "k6.io", "dagger.io", "encore.dev", "sst.dev", "tilt.dev", "cursor.com", "opencode.ai", "aider.chat",
    "ampcode.com", "windsurf.com", "zed.dev", "sui.io", "aptos.dev", "near.org", "tenderly.co", "quicknode.com", "netdata.cloud",
    "zhihu.com", "weibo.com", "douban.com", "xiaohongshu.com", "baidu.com", "amap.com", "qq.com", "12306.cn",
];

/// All rows with their kinds. The most specific row counts: `api.github.com` before `github.com`, a path before its host.
const SERVICES: &[(HostKind, &[&str])] = &[
    (HostKind::Drop, DROPS),
    (HostKind::Chat, CHATS),
    (HostKind::Anonymous, ANONYMOUS),
    (HostKind::Code, CODE),
    (HostKind::Known, KNOWN),
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

/// Whether an address is that of the credentials which a cloud provides to its machines.
pub(super) fn is_metadata_secret(url: &str) -> bool {
    const SERVICES: &[&str] = &[
        "169.254.169.254",
        "169.254.170.2",
        "metadata.google.internal",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "169.254.0.23",
    ];
    const SECRETS: &[&str] = &[
        "credentials",
        "service-accounts",
        "identity",
        "user-data",
        "userdata",
        "ram/",
        "managed",
    ];
    SERVICES.iter().any(|service| url.contains(service))
        && SECRETS.iter().any(|secret| url.contains(secret))
}

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
        let kind = match kind(name, path) {
            HostKind::Drop | HostKind::Chat
                if !is_telling(name) && (has_placeholder(path) || name.starts_with("your-")) =>
            {
                HostKind::Example
            }
            kind => kind,
        };
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
            // The web and mail.
            80, 443, 8080, 8443, 21, 22, 25, 465, 587, 993, 995, 8000, 3000, 5000, 8888, 9418,
            // Databases and queues.
            5432, 3306, 6379, 27017, 9200, 9300, 5672, 15672, 8883, 1883, 1433, 1521, 5984, 7474,
            7687, 8086, 8529, 9042, 9092, 4222, 2181, 6333, 19530, 11434,
            // Products with a web interface on their own port: Vault, Consul, Kubernetes, Docker, Prometheus, Grafana, Loki, OpenTelemetry,
            // Kibana, Splunk, Nessus, ISE, Proxmox, Home Assistant, Plex, Jellyfin, MinIO, Nexus, Portainer, LDAP, remote desktops, WinRM,
            // Webmin, cPanel, Ethereum nodes; InsightVM, OpenVAS, Wazuh, Nomad, Puppet, Zipkin, Jaeger, Solr, Logstash, Streamlit, Gradio,
            // Mattermost, Matrix, Squid, nodes of Solana and Cosmos.
            8200, 8500, 6443, 2375, 2376, 9090, 9093, 3100, 4317, 4318, 5601, 8088, 8089, 8834,
            9060, 8006, 8123, 32400, 8096, 9000, 9001, 8081, 9443, 389, 636, 3389, 5985, 5986,
            10000, 2083, 2087, 2096, 8545, 8546, 30303, 3780, 9390, 9392, 55000, 4646, 8140, 9411,
            16686, 8983, 5044, 9600, 8501, 7860, 8065, 8448, 3128, 8899, 26657,
        ];
        !matches!(self.kind, HostKind::Local)
            && self.port.is_some_and(|port| !USUAL.contains(&port))
    }

    /// Whether the name ends like those of most publishers: with an old or well-kept generic top-level domain, or with that of a country.
    #[must_use]
    pub fn has_established_ending(&self) -> bool {
        if matches!(
            self.kind,
            HostKind::Known | HostKind::Code | HostKind::Local
        ) {
            return true;
        }
        let suffix = psl::suffix_str(&self.name).unwrap_or(&self.name);
        let ending = suffix.rsplit('.').next().unwrap_or_default();
        match ending.len() {
            // A suffix of two parts that is not the country's own belongs to a private registry: `cloud.nf`, `works.tk`.
            2 => !GIVEN_AWAY.contains(&ending) && (suffix.len() <= 6 || !suffix.contains('.')),
            _ => ESTABLISHED.contains(&ending),
        }
    }

    /// The owner: the registrable part of the name, or the owner's name on shared hosts.
    #[must_use]
    pub fn owner(&self) -> &str {
        match self.kind {
            HostKind::Code if self.path.is_empty() || is_page(&self.name) => {
                self.name.split('.').next().unwrap_or_default()
            }
            HostKind::Code => self.path.split('/').next().unwrap_or_default(),
            HostKind::Address => &self.name,
            _ => {
                let domain = psl::domain_str(&self.name).unwrap_or(&self.name);
                domain.split('.').next().unwrap_or_default()
            }
        }
    }

    /// Whether a variable belongs to the owner of the host: `OPENAI_API_KEY` to `api.openai.com`. Where anyone can register, the name
    /// does not identify the owner.
    #[must_use]
    pub fn owns(&self, variable: &str) -> bool {
        const GENERIC: &[&str] = &[
            "api",
            "key",
            "token",
            "secret",
            "access",
            "auth",
            "password",
            "bot",
            "client",
            "app",
            "user",
            "private",
            "public",
            "url",
            "service",
            "role",
            "admin",
            "test",
            "prod",
            "dev",
            "webhook",
            "bearer",
            "session",
            "data",
            "cloud",
            "backup",
            "sync",
            "the",
            "main",
            "env",
            "credentials",
            "credential",
        ];
        if self.kind == HostKind::Anonymous || self.kind == HostKind::Drop {
            return false;
        }
        let owner = self.owner().to_ascii_lowercase();
        variable
            .split(['_', '.'])
            .map(str::to_ascii_lowercase)
            .filter(|part| part.len() >= 3 && !GENERIC.contains(&part.as_str()))
            .any(|part| match part.len() {
                // `AWS` is not in `drawstring`.
                ..=3 => owner.split(['-', '_']).any(|word| word == part),
                _ => owner.contains(&part) || (owner.len() >= 4 && part.contains(&owner)),
            })
    }
}

/// Whether a path has a placeholder: `webhook.site/your-uuid`. Such a URL receives nothing.
fn has_placeholder(path: &str) -> bool {
    path.split('/').any(|part| {
        part.starts_with("your")
            || part.starts_with(['<', '{', '['])
            || part.contains("xxx")
            || part == "..."
            || part == "…"
            || part == "uuid"
    })
}

/// Pages of code hosting sites, with the owner in the name.
fn is_page(name: &str) -> bool {
    ["github.io", "gitlab.io", "readthedocs.io", "gitbook.io"]
        .iter()
        .any(|pages| within(name, pages))
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
    let paste = ["paste.", "pastes.", "pastebin."]
        .iter()
        .any(|label| name.starts_with(label));
    let listed = listed(name, path);
    let anyone = || {
        let suffix = psl::suffix(name.as_bytes())?;
        (suffix.typ() == Some(psl::Type::Private)).then(|| suffix.as_bytes().len())
    };
    match listed {
        _ if is_telling(name) => HostKind::Drop,
        // The public-suffix list contains the domains under which anyone can register a name.
        Some((kind, length)) if anyone().is_none_or(|other| other <= length) => kind,
        None if anyone().is_none() => match paste {
            true => HostKind::Drop,
            false => HostKind::Other,
        },
        _ => HostKind::Anonymous,
    }
}

/// Rows by their host: the path after it, and the kind.
type ServiceTable = BTreeMap<&'static str, Vec<(&'static str, HostKind)>>;

/// The kind of the most specific row that covers a host, and the length of its name.
fn listed(name: &str, path: &str) -> Option<(HostKind, usize)> {
    static TABLE: LazyLock<ServiceTable> = LazyLock::new(|| {
        let mut table = ServiceTable::new();
        for (kind, rows) in SERVICES {
            for row in *rows {
                let end = row.find('/').unwrap_or(row.len());
                let (host, path) = row.split_at(end);
                table.entry(host).or_default().push((path, *kind));
            }
        }
        // The longest path first.
        for rows in table.values_mut() {
            rows.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        }
        table
    });
    let mut rest = name;
    loop {
        let found = TABLE.get(rest).into_iter().flatten();
        if let Some((_, kind)) = found.into_iter().find(|(start, _)| path.starts_with(start)) {
            return Some((*kind, rest.len()));
        }
        rest = rest.split_once('.')?.1;
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

/// `203.0.113.7`, including its forms as one number, in hex or octal; IPv6.
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

/// The URLs of a string, with their offsets.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_can_match_and_stands_once() {
        let mut seen = BTreeSet::new();
        for (own, rows) in SERVICES {
            for row in *rows {
                assert!(seen.insert(*row), "{row} is there twice");
                let host = RemoteHost::of(&format!("https://{row}")).expect(row);
                assert_eq!(host.kind, *own, "{row}");
            }
        }
        // A row below another one of the same kind is redundant.
        for (own, rows) in SERVICES {
            for row in rows.iter().filter(|row| !row.contains('/')) {
                let above = row.split_once('.').and_then(|(_, above)| listed(above, ""));
                assert!(above.is_none_or(|(kind, _)| kind != *own), "{row}");
            }
        }
    }

    #[test]
    fn hosts_have_kinds_and_owners() {
        use HostKind::{Address, Anonymous, Chat, Code, Drop, Known, Other};
        let table: &[(&str, HostKind, &str)] = &[
            ("https://api.github.com/repos/a/b", Known, "github"),
            ("https://github.com/acme/tool", Code, "acme"),
            ("https://acme.github.io/tool", Code, "acme"),
            ("https://gist.githubusercontent.com/a/b", Anonymous, "gist"),
            (
                "https://bucket.s3.eu-west-1.amazonaws.com/x",
                Anonymous,
                "bucket",
            ),
            ("https://s3.amazonaws.com/bucket/x", Anonymous, "s3"),
            ("https://sts.amazonaws.com/", Known, "amazonaws"),
            ("https://storage.googleapis.com/b/x", Anonymous, "storage"),
            ("https://sheets.googleapis.com/v4", Known, "sheets"),
            (
                "https://docs.google.com/forms/d/e/1/formResponse",
                Anonymous,
                "google",
            ),
            ("https://maps.google.com/", Known, "google"),
            (
                "https://cdn.discordapp.com/attachments/1/2/x.exe",
                Anonymous,
                "discordapp",
            ),
            ("https://discord.com/api/webhooks/1/x", Chat, "discord"),
            ("https://discord.com/api/v10/users", Known, "discord"),
            ("https://x.blob.core.windows.net/c/f", Anonymous, "x"),
            ("https://something.pages.dev", Anonymous, "something"),
            ("https://news.bbc.co.uk/x", Other, "bbc"),
            ("https://api.company.com.au/x", Other, "company"),
            ("https://www.ab.io/x", Other, "ab"),
            ("https://pastebin.com/raw/x", Drop, "pastebin"),
            ("http://203.0.113.7/x", Address, "203.0.113.7"),
        ];
        for (url, kind, owner) in table {
            let host = RemoteHost::of(url).expect(url);
            assert_eq!((host.kind, host.owner()), (*kind, *owner), "{url}");
        }
    }

    #[test]
    fn a_key_belongs_to_the_service_that_issued_it() {
        let table: &[(&str, &str, bool)] = &[
            ("OPENAI_API_KEY", "https://api.openai.com/v1", true),
            (
                "TELEGRAM_BOT_TOKEN",
                "https://api.telegram.org/bot1/x",
                true,
            ),
            ("TAVILY_KEY", "https://api.tavily.com", true),
            ("OPENAI_API_KEY", "https://collect.invalid", false),
            ("API_KEY", "https://api.collect.invalid", false),
            ("GITHUB_TOKEN", "https://github-sync.vercel.app", false),
            ("AWS_SECRET_ACCESS_KEY", "https://drawstring.invalid", false),
        ];
        for (variable, url, own) in table {
            let host = RemoteHost::of(url).expect(url);
            assert_eq!(host.owns(variable), *own, "{variable} {url}");
        }
    }
}
