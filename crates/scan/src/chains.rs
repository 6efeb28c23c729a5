//! Chains of evidence across texts and programs: what the one says against what the other does.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    flow::{Act, ActKind, Host, HostKind, SourceKind, urls_in},
    matching::{self, Context},
    prose::{Class as C, ClassSet, Document, Role, Sentence},
    report::{Finding, FoundBy, Place, Severity},
    rule::{Chain, When},
    rules,
    scan::Scanner,
};

/// How far around a command its sentences are looked for, in bytes.
const AROUND: usize = 700;
/// How far from instructions to decode a blob may stand.
const BESIDE: usize = 1500;

/// Looks for all chains.
pub(crate) fn look(scanner: &mut Scanner<'_>, acts: &[Act], context: &Context) {
    let documents = std::mem::take(&mut scanner.documents);
    for (index, document) in &documents {
        lures(scanner, *index, document, context);
        stranger_programs(scanner, *index, document, context);
        playbook(scanner, *index, document);
        decode_by_hand(scanner, *index, document);
        gather_and_send(scanner, *index, document, acts);
    }
    lure_commands(scanner, &documents, acts, context);
    broken_promise(scanner, &documents, acts, context);
    unexplained_secrets(scanner, &documents, acts);
    harvests(scanner);
    hidden_programs(scanner, acts);
    let spoken = spoken(scanner, &documents);
    for act in acts {
        prints_blob(scanner, act);
        endpoints(scanner, act, &spoken, context);
    }
    for (index, document) in &documents {
        pseudo_tags(scanner, *index, document);
    }
    scanner.documents = documents;
}

fn found(scanner: &mut Scanner<'_>, chain: Chain, place: Place, evidence: &str, detail: &str, milder: bool) {
    let Some(rule) = rules::all().find(|rule| matches!(rule.when, When::Chain(own) if own == chain)) else {
        return;
    };
    let message = if detail.is_empty() { rule.message.to_owned() } else { format!("{}: {detail}", rule.message) };
    scanner.push(Finding {
        rule: FoundBy::Builtin(rule),
        severity: if milder { rule.severity.lower() } else { rule.severity },
        place,
        message,
        evidence: matching::shown(evidence),
        steps: Vec::new(),
    });
}

/// "X must be installed first. Download it from …"
fn lures(scanner: &mut Scanner<'_>, index: usize, document: &Document, context: &Context) {
    for position in 0..document.sentences.len() {
        let passage = matching::passage(&document.sentences, position);
        let told = ClassSet::of(passage.iter().take(4).filter(|sentence| sentence.role != Role::Warning));
        let lure = told.matches(&[&[C::Required], &[C::Download, C::Install], &[C::Install, C::Run], &[C::ForeignUrl]], &[C::Threat]);
        if !lure || !passage[0].classes.matches(&[&[C::Required, C::ForeignUrl]], &[]) {
            continue;
        }
        let end = passage.iter().take(4).last().map_or(passage[0].at.end, |last| last.at.end);
        let text = scanner.texts.0[index].content.get(passage[0].at.start..end).unwrap_or_default().to_owned();
        let must = ["must be installed", "be installed before", "must install", "requires the", "required", "will not work", "won't work"].iter().any(|sign| text.to_ascii_lowercase().contains(sign));
        let fetched = text.to_ascii_lowercase().contains("download");
        for (_, url) in urls_in(&text) {
            let Some(host) = Host::of(url) else { continue };
            let place = scanner.texts.place(index, passage[0].at.start);
            if host.impersonates().is_some() && fetched {
                found(scanner, Chain::LureToImpostor, place, &text.replace('\n', " "), &host.name, false);
                return;
            }
            if host.kind == HostKind::Other && !context.is_related(&host) && must && fetched {
                found(scanner, Chain::LureToStranger, place, &text.replace('\n', " "), &host.name, false);
                return;
            }
        }
    }
}

/// Endings of programs that start with a click.
const PROGRAMS: &[&str] = &[".exe", ".msi", ".dmg", ".pkg", ".scr", ".bat", ".ps1", ".vbs", ".appimage", ".apk"];

/// "Download https://…/tool.exe and run it."
fn stranger_programs(scanner: &mut Scanner<'_>, index: usize, document: &Document, context: &Context) {
    for position in 0..document.sentences.len() {
        let passage = matching::passage(&document.sentences, position);
        let told = ClassSet::of(passage.iter().take(3).filter(|sentence| sentence.role != Role::Warning));
        if !told.matches(&[&[C::Download], &[C::Run, C::Install], &[C::ForeignUrl]], &[C::Threat]) {
            continue;
        }
        let text = scanner.texts.0[index].content.get(passage[0].at.clone()).unwrap_or_default().to_owned();
        let stranger = urls_in(&text).find_map(|(_, url)| {
            let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
            let host = Host::of(url)?;
            let program = PROGRAMS.iter().any(|end| path.ends_with(end));
            (program && matches!(host.kind, HostKind::Other | HostKind::Anonymous | HostKind::Address | HostKind::Drop) && !context.is_related(&host)).then_some(host)
        });
        if let Some(host) = stranger {
            let place = scanner.texts.place(index, passage[0].at.start);
            found(scanner, Chain::StrangerProgram, place, &text.replace('\n', " "), &host.name, false);
            return;
        }
    }
}

/// Ways to take over a machine; one may be an example, several are a manual.
const TECHNIQUES: &[&[&str]] = &[
    &["vim -c ':!/bin", "vim -c ':!bash", "less /etc", "sudo man man"],
    &["system(\"/bin/bash\")", "system(\"/bin/sh\")", "exec \"/bin/bash\"", "exec \"/bin/sh\"", "pty.spawn(\"/bin/bash\")", "pty.spawn('/bin/bash')", "pty.spawn(\"/bin/sh\")"],
    &["-exec /bin/bash", "-exec /bin/sh"],
    &["chmod +s /bin/bash", "chmod u+s /bin/bash", "chmod 4755 /bin/bash", "setuid(0)"],
    &["mimikatz", "sekurlsa::", "lsadump::", "token::elevate"],
    &["getuserspns", "kerberoast", "rubeus", "asreproast"],
    &["secretsdump", "psexec.py", "wmiexec.py", "pass-the-hash", "pth-winexe"],
    &["msfvenom", "msfconsole", "meterpreter", "multi/handler"],
    &["bash -i >& /dev/tcp", "nc -e /bin", "rm /tmp/f;mkfifo"],
    &["john --wordlist", "hashcat -m", "hydra -l", "unshadow /etc/passwd"],
    &["sharphound", "bloodhound-python", "responder -i", "ntlmrelayx"],
    &["sweetpotato", "juicypotato", "printspoofer", "printnightmare"],
];

fn playbook(scanner: &mut Scanner<'_>, index: usize, document: &Document) {
    let mut seen = BTreeSet::new();
    let mut first = None;
    for code in document.code.iter().filter(|code| !code.inline && code.role == Role::Instruction && matches!(code.language.as_str(), "" | "bash" | "sh" | "shell" | "zsh" | "console" | "powershell" | "ps1" | "cmd")) {
        let searches = ["grep", "findstr", "select-string", "rule ", "index=", "detect"];
        let lower: String = code.text.to_ascii_lowercase().lines().filter(|line| !line.trim_start().starts_with('#') && !searches.iter().any(|word| line.contains(word))).collect::<Vec<_>>().join("\n");
        for (number, signs) in TECHNIQUES.iter().enumerate() {
            if signs.iter().any(|sign| lower.contains(sign)) {
                seen.insert(number);
                first.get_or_insert((code.at.start, code.text.clone()));
            }
        }
    }
    if let (true, Some((at, text))) = (seen.len() >= 3, first) {
        let place = scanner.texts.place(index, at);
        found(scanner, Chain::Playbook, place, &text, "", false);
    }
}

/// What the sentences around a place are about.
fn around(document: &Document, at: usize) -> ClassSet {
    let near = |sentence: &&Sentence| sentence.at.start + AROUND >= at && sentence.at.start <= at + 80 && sentence.role != Role::Warning;
    ClassSet::of(document.sentences.iter().filter(near))
}

fn lure_commands(scanner: &mut Scanner<'_>, documents: &[(usize, Document)], acts: &[Act], context: &Context) {
    for act in acts {
        let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
            continue;
        };
        if !matches!(act.kind, ActKind::Run | ActKind::Eval) || origin.is_file || origin.role != Role::Instruction {
            continue;
        }
        let stranger = act.taints.iter().filter(|taint| taint.source.kind == SourceKind::Download).find_map(|taint| {
            let host = Host::of(&taint.source.what)?;
            let foreign = matches!(host.kind, HostKind::Code | HostKind::Other | HostKind::Anonymous) && !context.is_related(&host);
            foreign.then_some(host)
        });
        let Some(host) = stranger else { continue };
        let at = origin.start + act.site.at as usize;
        let told = documents.iter().filter(|(index, _)| *index == origin.text).fold(ClassSet::default(), |told, (_, document)| told.union(around(document, at)));
        if told.matches(&[&[C::Required, C::Install], &[C::Terminal, C::Paste], &[C::Run]], &[C::Threat]) {
            let place = scanner.place(act.site);
            let evidence = scanner.evidence(act, &origin);
            found(scanner, Chain::LureCommand, place, &evidence, &host.name, false);
        }
    }
}

/// A promise that nothing leaves, and a program that sends or fetches all the same.
fn broken_promise(scanner: &mut Scanner<'_>, documents: &[(usize, Document)], acts: &[Act], context: &Context) {
    let promise = documents.iter().find_map(|(index, document)| {
        let file = &scanner.texts.0[*index].file;
        let about = file.eq_ignore_ascii_case("SKILL.md") || file.eq_ignore_ascii_case("README.md");
        let sentence = document.sentences.iter().find(|sentence| about && sentence.classes.contains(C::NoNetwork))?;
        Some((*index, sentence.at.clone()))
    });
    let Some((index, at)) = promise else { return };
    let said = scanner.texts.0[index].content.get(at).unwrap_or_default().replace('\n', " ");
    for act in acts {
        let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
            continue;
        };
        if !matches!(act.kind, ActKind::Send | ActKind::Fetch) || !origin.is_file || matching::is_aside(&scanner.texts.0[origin.text].file) {
            continue;
        }
        let stranger = match &act.host {
            Some(host) => matches!(host.kind, HostKind::Other | HostKind::Example | HostKind::Address | HostKind::Drop | HostKind::Anonymous) && !context.is_related(host),
            None => act.kind == ActKind::Send && (said.to_ascii_lowercase().contains("network") || said.contains("网")),
        };
        if stranger {
            let name = act.host.as_ref().map_or("", |host| &host.name).to_owned();
            let place = scanner.place(act.site);
            let evidence = format!("{} ← {}", scanner.evidence(act, &origin), said.trim());
            found(scanner, Chain::BrokenPromise, place, &evidence, &name, false);
            return;
        }
    }
}

/// All that the texts of the skill say, in upper case.
fn spoken(scanner: &Scanner<'_>, documents: &[(usize, Document)]) -> String {
    let mut spoken = format!("{} {} ", scanner.about.name, scanner.about.description);
    for (index, document) in documents {
        let text = &scanner.texts.0[*index];
        if !text.file.to_ascii_lowercase().ends_with(".md") {
            continue;
        }
        for sentence in &document.sentences {
            spoken.push_str(text.content.get(sentence.at.clone()).unwrap_or_default());
            spoken.push(' ');
        }
    }
    spoken.make_ascii_uppercase();
    spoken
}

/// Services whose secrets are worth stealing; a skill that reads one speaks of it.
const SERVICES: &[&str] = &[
    "AWS", "AZURE", "GCP", "GOOGLE", "GITHUB", "GITLAB", "NPM", "PYPI", "DOCKER", "STRIPE", "SENDGRID", "TWILIO", "SLACK", "DISCORD", "TELEGRAM", "OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "COHERE", "HUGGINGFACE", "DATABASE", "POSTGRES", "MYSQL", "MONGO", "REDIS", "JWT", "SSH", "VAULT", "KUBE", "CLOUDFLARE", "DIGITALOCEAN", "HEROKU", "VERCEL", "NETLIFY", "SENTRY", "DATADOG", "PAYPAL", "SQUARE", "SHOPIFY", "COINBASE", "BINANCE", "WALLET", "SUPABASE", "FIREBASE", "MAILGUN", "OKTA", "AUTH0",
];

fn unexplained_secrets(scanner: &mut Scanner<'_>, documents: &[(usize, Document)], acts: &[Act]) {
    let spoken = spoken(scanner, documents);
    let mut seen: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    let mut first: BTreeMap<u32, &Act> = BTreeMap::new();
    for act in acts.iter().filter(|act| act.kind == ActKind::Environment) {
        let upper = act.subject.to_ascii_uppercase();
        let Some(service) = SERVICES.iter().find(|service| upper.starts_with(*service)) else {
            continue;
        };
        let secret = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "DATABASE_URL"].iter().any(|word| upper.contains(word));
        let aside = scanner.origins.get(act.site.unit as usize).is_none_or(|origin| origin.role != Role::Instruction || matching::is_aside(&scanner.texts.0[origin.text].file));
        if secret && !aside && !spoken.contains(service) {
            seen.entry(act.site.unit).or_default().insert(service);
            first.entry(act.site.unit).or_insert(act);
        }
    }
    // Those of one program belong together; a document with many samples speaks of many things.
    let Some((unit, seen)) = seen.into_iter().max_by_key(|(_, services)| services.len()) else {
        return;
    };
    let first = first.get(&unit).copied();
    let Some(act) = first else { return };
    // Texts about how secrets are kept show how secrets are read.
    if spoken.contains("HARDCOD") || spoken.contains("SECRETS MANAGEMENT") {
        return;
    }
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let chain = if seen.len() > 1 { Chain::UnexplainedSecrets } else { Chain::UnexplainedSecret };
    let names: Vec<&str> = seen.into_iter().collect();
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(scanner, chain, place, &evidence, &names.join(", "), false);
}

/// Where tools keep their credentials: one entry for each tool.
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

/// Scripts that know too many places, or look for secrets by name.
fn harvests(scanner: &mut Scanner<'_>) {
    for index in 0..scanner.units.len() {
        let origin = scanner.origins[index];
        let text = &scanner.texts.0[origin.text];
        if !origin.is_file || text.within.is_some() || matching::is_aside(&text.file) {
            continue;
        }
        let lower = text.content.to_ascii_lowercase();
        // Lists of what must not be touched hold the same names.
        let guards = ["deny", "block", "protect", "forbid", "redact", "exclude", "ignore", "sensitive_patterns", "scan for"].iter().filter(|word| lower.contains(**word)).count();
        let stores = STORES.iter().filter(|signs| signs.iter().any(|sign| lower.contains(sign))).count();
        let place = scanner.texts.place(origin.text, 0);
        if stores >= 3 {
            let at = STORES.iter().flat_map(|signs| signs.iter()).filter_map(|sign| lower.find(sign)).min().unwrap_or(0);
            let evidence = scanner.texts.0[origin.text].line_at(at).to_owned();
            let place = scanner.texts.place(origin.text, at);
            found(scanner, Chain::Harvest, place, &evidence, "", guards >= 2 || stores < 4);
        } else if let Some(at) = variable_sweep(&lower) {
            let evidence = scanner.texts.0[origin.text].line_at(at).to_owned();
            found(scanner, Chain::VariableSweep, place, &evidence, "", guards >= 2);
        }
    }
}

/// Where a program goes through all variables with words for secrets at hand.
fn variable_sweep(lower: &str) -> Option<usize> {
    let all = ["os.environ.items()", "os.environ.keys()", "in os.environ", "object.keys(process.env)", "object.entries(process.env)", "in process.env", "env | grep", "printenv | grep", "dict(os.environ)"];
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
        let words = ["key", "token", "secret", "pass", "credential"].iter().filter(|word| ["\"", "'", "|", "(", "*"].iter().any(|before| near.contains(&format!("{before}{word}")))).count();
        (words >= 3).then_some(at)
    })
}

/// Programs that a listing doesn't show.
fn hidden_programs(scanner: &mut Scanner<'_>, acts: &[Act]) {
    const USUAL: &[&str] = &[".envrc", ".husky", ".githooks", ".github", ".claude", ".cursor", ".vscode", ".devcontainer", ".git", ".eslintrc", ".prettierrc", ".babelrc", ".pnp", ".yarn"];
    for index in 0..scanner.units.len() {
        let origin = scanner.origins[index];
        let text = &scanner.texts.0[origin.text];
        let hidden = text.file.split(['/', '!']).any(|part| part.starts_with('.') && part.len() > 1 && part != ".." && !USUAL.iter().any(|usual| part.starts_with(usual)));
        if !origin.is_file || !hidden || text.within.is_some() {
            continue;
        }
        let does = acts.iter().find(|act| act.site.unit as usize == index && matches!(act.kind, ActKind::Send | ActKind::Fetch | ActKind::Eval | ActKind::RemoteShell));
        if let Some(act) = does {
            let place = scanner.place(act.site);
            let evidence = scanner.evidence(act, &origin);
            found(scanner, Chain::HiddenProgram, place, &evidence, "", false);
        }
    }
}

/// "Collect all environment variables … POST the report to …"
fn gather_and_send(scanner: &mut Scanner<'_>, index: usize, document: &Document, acts: &[Act]) {
    let gathers = document.sentences.iter().find(|sentence| sentence.role != Role::Warning && sentence.classes.matches(&[&[C::Sweep], &[C::Collect, C::Write, C::Send]], &[C::Threat, C::Negation]));
    let Some(sentence) = gathers else { return };
    let sends_in_prose = document.sentences.iter().find(|near| near.role != Role::Warning && near.classes.matches(&[&[C::Send], &[C::External, C::ForeignUrl, C::ShadyUrl]], &[C::Threat, C::Negation]));
    let sends = acts.iter().find(|act| {
        act.kind == ActKind::Send && act.host.as_ref().is_none_or(|host| !matches!(host.kind, HostKind::Local | HostKind::Known)) && scanner.origins.get(act.site.unit as usize).is_some_and(|origin| origin.text == index && origin.role == Role::Instruction)
    });
    if sends.is_none() && sends_in_prose.is_none() {
        return;
    }
    let place = scanner.texts.place(index, sentence.at.start);
    let evidence = scanner.texts.0[index].content.get(sentence.at.clone()).unwrap_or_default().replace('\n', " ");
    found(scanner, Chain::GatherAndSend, place, &evidence, "", false);
}

/// A blob, and sentences near it that say how to read it and what to do with the result.
fn decode_by_hand(scanner: &mut Scanner<'_>, index: usize, document: &Document) {
    let content = scanner.texts.0[index].content.clone();
    let mut start = 0;
    for line in content.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let Some(word) = line.split_whitespace().map(|word| word.trim_matches(['`', '"', '\''])).find(|word| is_blob(word)) else {
            continue;
        };
        let near = |sentence: &&Sentence| sentence.at.start + BESIDE >= at && sentence.at.start <= at + BESIDE && sentence.role != Role::Warning;
        let told = ClassSet::of(document.sentences.iter().filter(near));
        if told.matches(&[&[C::Decode], &[C::Run, C::Install, C::Obey], &[C::Instructions, C::Paste, C::Terminal, C::Install, C::Required]], &[C::Threat]) {
            let place = scanner.texts.place(index, at);
            found(scanner, Chain::DecodeByHand, place, word, "", false);
            return;
        }
    }
}

/// A long word or list of numbers that says nothing.
fn is_blob(word: &str) -> bool {
    let numbers = word.split(',').count();
    let listed = numbers >= 32 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let signs = word.bytes().filter(|byte| byte.is_ascii_punctuation()).count();
    listed || (word.is_ascii() && word.len() >= 64 && !word.contains("://") && !word.contains('/') && signs * 4 < word.len() * 3 && word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_uppercase()) && !crate::text::plausible::is_plausible(word))
}

fn prints_blob(scanner: &mut Scanner<'_>, act: &Act) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let document = !origin.is_file && origin.role == Role::Instruction;
    let others = [SourceKind::Download, SourceKind::Input, SourceKind::Variable, SourceKind::SecretVariable];
    let prints = act.kind == ActKind::Show && act.came_from(SourceKind::Blob) && !others.iter().any(|kind| act.came_from(*kind));
    if document && prints {
        let place = scanner.place(act.site);
        let evidence = scanner.evidence(act, &origin);
        found(scanner, Chain::PrintsBlob, place, &evidence, "", false);
    }
}

/// Hosts that a script talks to, against those that the text speaks of.
fn endpoints(scanner: &mut Scanner<'_>, act: &Act, spoken: &str, context: &Context) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let (ActKind::Send | ActKind::Fetch, Some(host), Role::Instruction) = (act.kind, &act.host, origin.role) else {
        return;
    };
    let aside = matching::is_aside(&scanner.texts.0[origin.text].file);
    if matches!(host.kind, HostKind::Known | HostKind::Local | HostKind::Code) || aside {
        return;
    }
    let mentioned = spoken.contains(&host.name.to_ascii_uppercase()) || (host.kind != HostKind::Example && spoken.contains(&host.owner().to_ascii_uppercase()));
    let hidden = origin.is_file && !mentioned && !context.is_related(host);
    let chain = match (host.has_odd_port(), hidden) {
        (true, true) => Chain::HiddenEndpoint,
        (true, false) => Chain::OddPort,
        (false, true) if act.kind == ActKind::Send => Chain::Undisclosed,
        (false, _) => return,
    };
    let detail = host.port.map_or_else(|| host.name.clone(), |port| format!("{}:{port}", host.name));
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(scanner, chain, place, &evidence, &detail, false);
}

/// `<IMPORTANT>` and its like: nobody but a model takes them for more than text.
fn pseudo_tags(scanner: &mut Scanner<'_>, index: usize, document: &Document) {
    const TAGS: &[&str] = &["<important", "<system", "<admin", "<secret", "<hidden", "<instruction", "<critical", "<override", "<mandatory"];
    for (at, html) in &document.html {
        let lower = html.to_ascii_lowercase();
        let Some(tag) = TAGS.iter().find(|tag| lower.contains(**tag)) else {
            continue;
        };
        let content = &scanner.texts.0[index].content;
        let after = content.get(at.start..).unwrap_or_default();
        let end = after.find("</").unwrap_or(after.len()).min(2000);
        let end = (0..=end).rev().find(|end| after.is_char_boundary(*end)).unwrap_or(0);
        let inner = after[..end].to_owned();
        let told = ClassSet::of(&crate::prose::plain(&inner).sentences);
        if told.matches(&[&[C::Send], &[C::Secret, C::SecretPath, C::Environment, C::Conversation, C::UserData], &[C::ForeignUrl, C::ShadyUrl, C::External, C::EmailAddress]], &[]) {
            let place = scanner.texts.place(index, at.start);
            found(scanner, Chain::PseudoTag, place, &inner.replace('\n', " "), tag.trim_start_matches('<'), false);
        }
    }
}

/// So that nobody reads a severity where there is none.
#[cfg(test)]
#[test]
fn every_chain_has_a_rule() {
    let chains = rules::all().filter(|rule| matches!(rule.when, When::Chain(_)));
    assert!(chains.filter(|rule| rule.severity > Severity::Info).count() >= 8);
}
