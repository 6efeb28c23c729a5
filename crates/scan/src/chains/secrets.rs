//! Secrets that are read, collected and sent, against the text's statements about them.

use std::collections::{BTreeMap, BTreeSet};

use super::{found, spoken};
use crate::{
    flow::{ActKind, HostKind, ProgramAct},
    matching::{self},
    prose::{MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    rule::Chain,
    scan::SkillScanner,
};

/// Services whose secrets are worth stealing; an honest skill mentions the ones that it reads.
const SERVICES: &[&str] = &[
    "AWS",
    "AZURE",
    "GCP",
    "GOOGLE",
    "GITHUB",
    "GITLAB",
    "NPM",
    "PYPI",
    "DOCKER",
    "STRIPE",
    "SENDGRID",
    "TWILIO",
    "SLACK",
    "DISCORD",
    "TELEGRAM",
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "MISTRAL",
    "COHERE",
    "HUGGINGFACE",
    "DATABASE",
    "POSTGRES",
    "MYSQL",
    "MONGO",
    "REDIS",
    "JWT",
    "SSH",
    "VAULT",
    "KUBE",
    "CLOUDFLARE",
    "DIGITALOCEAN",
    "HEROKU",
    "VERCEL",
    "NETLIFY",
    "SENTRY",
    "DATADOG",
    "PAYPAL",
    "SQUARE",
    "SHOPIFY",
    "COINBASE",
    "BINANCE",
    "WALLET",
    "SUPABASE",
    "FIREBASE",
    "MAILGUN",
    "OKTA",
    "AUTH0",
];

pub(super) fn unexplained_secrets(
    scanner: &mut SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
    acts: &[ProgramAct],
) {
    let spoken = spoken(scanner, documents);
    let mut seen: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    let mut first: BTreeMap<u32, &ProgramAct> = BTreeMap::new();
    for act in acts.iter().filter(|act| act.kind == ActKind::Environment) {
        let upper = act.subject.to_ascii_uppercase();
        let Some(service) = SERVICES.iter().find(|service| upper.starts_with(*service)) else {
            continue;
        };
        let secret = [
            "KEY",
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "CREDENTIAL",
            "DATABASE_URL",
        ]
        .iter()
        .any(|word| upper.contains(word));
        let aside = scanner
            .origins
            .get(act.site.unit as usize)
            .is_none_or(|origin| {
                origin.role != SentenceRole::Instruction
                    || matching::is_aside(&scanner.texts.0[origin.text].file)
            });
        if secret && !aside && !spoken.contains(service) {
            seen.entry(act.site.unit).or_default().insert(service);
            first.entry(act.site.unit).or_insert(act);
        }
    }
    // Secrets of one program belong together; a document can contain samples about many services.
    let Some((unit, seen)) = seen.into_iter().max_by_key(|(_, services)| services.len()) else {
        return;
    };
    let first = first.get(&unit).copied();
    let Some(act) = first else { return };
    // Texts about storing secrets show how to read them.
    if spoken.contains("HARDCOD") || spoken.contains("SECRETS MANAGEMENT") {
        return;
    }
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let chain = if seen.len() > 1 {
        Chain::UnexplainedSecrets
    } else {
        Chain::UnexplainedSecret
    };
    let names: Vec<&str> = seen.into_iter().collect();
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    // Sample code in a document names the variables of its readers, unless it sends something.
    let sends =
        |other: &ProgramAct| other.kind == ActKind::Send && other.site.unit == act.site.unit;
    let milder = chain == Chain::UnexplainedSecrets && !origin.is_file && !acts.iter().any(sends);
    found(scanner, chain, place, &evidence, &names.join(", "), milder);
}

/// The paths of tools' credentials: one entry for each tool.
const STORES: &[&[&str]] = &[
    &[".ssh/id_", "\".ssh\"", "'.ssh'", "id_rsa", "id_ed25519"],
    &[".aws/credentials", "\".aws\"", "'.aws'"],
    &["gcloud/", "application_default_credentials"],
    &[".azure/", "\".azure\""],
    &[".kube/config", "\".kube\"", "'.kube'"],
    &[".docker/config.json"],
    &[".netrc"],
    &[".npmrc"],
    &[".pypirc"],
    &[".git-credentials"],
    &[".pgpass", ".my.cnf"],
    &[".gnupg"],
    &["gh/hosts.yml"],
    &["login data", "cookies.sqlite", "key4.db", "logins.json"],
    &["wallet.dat", "keystore", ".electrum", "exodus"],
    &["_history"],
];

/// Scripts that contain too many of these paths, or search for secrets by name.
pub(super) fn harvests(scanner: &mut SkillScanner<'_>) {
    for index in 0..scanner.units.len() {
        let origin = scanner.origins[index];
        let text = &scanner.texts.0[origin.text];
        if !origin.is_file || text.within.is_some() || matching::is_aside(&text.file) {
            continue;
        }
        let lower = text.content.to_ascii_lowercase();
        // Lists of protected files contain the same names.
        let guards = [
            "deny",
            "block",
            "protect",
            "forbid",
            "redact",
            "exclude",
            "ignore",
            "sensitive_patterns",
            "scan for",
        ]
        .iter()
        .filter(|word| lower.contains(**word))
        .count();
        let stores = STORES
            .iter()
            .filter(|signs| signs.iter().any(|sign| lower.contains(sign)))
            .count();
        let place = scanner.texts.place(origin.text, 0);
        if stores >= 3 {
            let at = STORES
                .iter()
                .flat_map(|signs| signs.iter())
                .filter_map(|sign| lower.find(sign))
                .min()
                .unwrap_or(0);
            let evidence = scanner.texts.0[origin.text].line_at(at).to_owned();
            let place = scanner.texts.place(origin.text, at);
            found(
                scanner,
                Chain::Harvest,
                place,
                &evidence,
                "",
                guards >= 2 || stores < 4,
            );
        } else if let Some(at) = variable_sweep(&lower) {
            let evidence = scanner.texts.0[origin.text].line_at(at).to_owned();
            found(
                scanner,
                Chain::VariableSweep,
                place,
                &evidence,
                "",
                guards >= 2,
            );
        }
    }
}

/// The offset where a program iterates over all variables, if it also contains words for secrets.
fn variable_sweep(lower: &str) -> Option<usize> {
    let all = [
        "os.environ.items()",
        "os.environ.keys()",
        "in os.environ",
        "object.keys(process.env)",
        "object.entries(process.env)",
        "in process.env",
        "env | grep",
        "printenv | grep",
        "dict(os.environ)",
    ];
    all.iter().find_map(|sign| {
        let at = lower.find(sign)?;
        let mut start = at.saturating_sub(600);
        let mut end = (at + 600).min(lower.len());
        while !lower.is_char_boundary(start) {
            start -= 1;
        }
        while !lower.is_char_boundary(end) {
            end += 1;
        }
        let near = &lower[start..end];
        let words = ["key", "token", "secret", "pass", "credential"]
            .iter()
            .filter(|word| {
                ["\"", "'", "|", "(", "*"]
                    .iter()
                    .any(|before| near.contains(&format!("{before}{word}")))
            })
            .count();
        (words >= 3).then_some(at)
    })
}

/// Ways to read all of a page's storage.
const WHOLE_STORAGE: &[&str] = &[
    "Object.keys(localStorage)",
    "Object.entries(localStorage)",
    "Object.keys(window.localStorage)",
    "Object.entries(window.localStorage)",
    "JSON.stringify(localStorage)",
    "...localStorage",
];

/// A page's storage contains the session of the logged-in user; a program that searches all of it for tokens takes that session.
pub(super) fn browser_storage(scanner: &mut SkillScanner<'_>) {
    for index in 0..scanner.texts.0.len() {
        let text = &scanner.texts.0[index];
        let content = &text.content;
        if memchr::memmem::find(content.as_bytes(), b"localStorage)").is_none()
            && memchr::memmem::find(content.as_bytes(), b"...localStorage").is_none()
        {
            continue;
        }
        let Some(at) = WHOLE_STORAGE.iter().find_map(|sign| content.find(sign)) else {
            continue;
        };
        let end = (at..content.len().min(at + 300))
            .rev()
            .find(|end| content.is_char_boundary(*end))
            .unwrap_or(at);
        let near = content[at..end].to_ascii_lowercase();
        let takes_tokens = near.contains("token") || near.contains("secret");
        let evidence = text.line_at(at).to_owned();
        let place = scanner.texts.place(index, at);
        found(
            scanner,
            Chain::BrowserStorage,
            place,
            &evidence,
            "",
            !takes_tokens,
        );
    }
}

/// The maximum number of sentences between an order to collect and its object, and between that and the destination.
const LISTED: usize = 5;
const SENT_NEAR: usize = 10;
/// The maximum distance between the order and a command below it, in bytes.
const SENT_BELOW: usize = 2500;

/// "Collect all environment variables … POST the report to …": one passage gathers secrets and sends something. A document that mentions
/// secrets here and a service there does neither.
pub(super) fn gather_and_send(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
    acts: &[ProgramAct],
) {
    let sentences = &document.sentences;
    let told = |sentence: &Sentence| {
        matches!(
            sentence.role,
            SentenceRole::Instruction | SentenceRole::Quotation
        ) && !sentence.classes.contains(C::Threat)
    };
    let content = &scanner.texts.0[index].content;
    // In a list of what to collect, the verb is above the list.
    let gathers = |at: usize| {
        let above = &sentences[at.saturating_sub(LISTED)..=at];
        let foreign = || {
            let text = content.get(sentences[at].at.clone()).unwrap_or_default();
            !text.is_ascii() && sentences[at].classes.contains(C::Collect)
        };
        above
            .iter()
            .any(|near| near.classes.contains(C::Gather) && told(near))
            || foreign()
    };
    let sent_in_prose = |at: usize| {
        let near =
            &sentences[at.saturating_sub(SENT_NEAR)..sentences.len().min(at + SENT_NEAR + 1)];
        near.iter().any(|near| {
            near.role != SentenceRole::Warning
                && near.classes.matches(
                    &[
                        &[C::Send],
                        &[C::External, C::Unnamed, C::ForeignUrl, C::ShadyUrl],
                    ],
                    &[C::Threat],
                )
        })
    };
    let sent_below = |at: usize| {
        let from = sentences[at].at.start;
        acts.iter().any(|act| {
            let origin = scanner.origins.get(act.site.unit as usize);
            let foreign = act
                .host
                .as_ref()
                .is_none_or(|host| !matches!(host.kind, HostKind::Local | HostKind::Known));
            act.kind == ActKind::Send
                && foreign
                && origin.is_some_and(|origin| {
                    origin.text == index
                        && origin.role == SentenceRole::Instruction
                        && (from..from + SENT_BELOW).contains(&origin.start)
                })
        })
    };
    let found_at = (0..sentences.len()).find(|at| {
        sentences[*at].classes.contains(C::Sweep)
            && told(&sentences[*at])
            && gathers(*at)
            && (sent_in_prose(*at) || sent_below(*at))
    });
    let Some(at) = found_at else { return };
    let place = scanner.texts.place(index, sentences[at].at.start);
    let evidence = content
        .get(sentences[at].at.clone())
        .unwrap_or_default()
        .replace('\n', " ");
    found(scanner, Chain::GatherAndSend, place, &evidence, "", false);
}
