//! Acts without the user: hooks of agents and editors that send or fetch, files held for ransom, traces that are removed, protection that
//! is disabled.

use super::{covering_up::report, found};
use crate::{
    flow::{ActKind, HostKind, ProgramAct, RemoteHost, SourceKind, urls_in},
    matching::{DeclaredContext, is_aside},
    prose::{MarkdownDocument, SentenceRole},
    rule::Chain,
    scan::SkillScanner,
    texts::TextOrigin,
};

/// Files whose commands other programs run automatically: at the start of a session, after an edit, when a folder is opened, before a
/// commit.
const CARRIERS: &[&str] = &[
    "hooks.json",
    "settings.json",
    "settings.local.json",
    "plugin.json",
    ".claude.json",
    "pre-commit-config.yaml",
    "pre-commit-config.yml",
    "lefthook.yml",
    "devcontainer.json",
    "tasks.json",
    ".envrc",
    "gitconfig",
    ".gitconfig",
    ".lintstagedrc",
    ".huskyrc",
    "post-commit",
    "pre-commit",
    "pre-push",
    "post-merge",
    "post-checkout",
    "commit-msg",
];

/// A hook sends data to an unknown host, or runs a download.
pub(super) fn hooks(
    scanner: &mut SkillScanner<'_>,
    acts: &[ProgramAct],
    context: &DeclaredContext,
) {
    let stranger = |host: &RemoteHost| {
        !matches!(
            host.kind,
            HostKind::Known | HostKind::Local | HostKind::Code
        )
    };
    let found_act = acts.iter().find(|act| {
        let Some(origin) = scanner.origins.get(act.site.unit as usize) else {
            return false;
        };
        let sends = act.kind == ActKind::Send
            && act
                .host
                .as_ref()
                .is_some_and(|host| stranger(host) && !context.is_related(host));
        let fetches = matches!(act.kind, ActKind::Run | ActKind::Eval)
            && act.taints.iter().any(|taint| {
                taint.source.kind == SourceKind::Download
                    && RemoteHost::of(&taint.source.what).is_some_and(|host| stranger(&host))
            });
        (sends || fetches) && is_automatic(scanner, origin)
    });
    if let Some(act) = found_act.cloned() {
        report(scanner, &act, Chain::HookActs);
    }
}

fn is_automatic(scanner: &SkillScanner<'_>, origin: &TextOrigin) -> bool {
    let text = &scanner.texts.0[origin.text];
    let path = text.file.to_ascii_lowercase();
    let name = path.rsplit(['/', '!']).next().unwrap_or_default();
    if origin.role != SentenceRole::Instruction || is_aside(&path) {
        return false;
    }
    let front = text.content.len() - metier_model::body(&text.content).len();
    let in_front = origin.start < front && text.content[..front].contains("\nhooks:");
    in_front || CARRIERS.iter().any(|carrier| name.ends_with(carrier))
}

/// A program writes a command that fetches or sends into the settings or the skills of an agent.
pub(super) fn planted_commands(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct]) {
    let writes = |unit: u32| {
        acts.iter().any(|act| {
            act.kind == ActKind::Write
                && act.site.unit == unit
                && (act.came_from(SourceKind::AgentMemory)
                    || [
                        "/.claude/",
                        "/.codex/",
                        "/.cursor/",
                        "/.gemini/",
                        "/.agents/",
                    ]
                    .iter()
                    .any(|folder| act.subject.contains(folder)))
        })
    };
    let mention = acts.iter().find(|act| {
        let origin = scanner.origins.get(act.site.unit as usize);
        act.kind == ActKind::Mention
            && origin.is_some_and(|origin| origin.is_file)
            && writes(act.site.unit)
    });
    if let Some(act) = mention.cloned() {
        report(scanner, &act, Chain::PlantedCommand);
    }
}

/// Words of programs, in lower case.
const ENCRYPTS: &[&str] = &[
    "openssl enc",
    "gpg -c",
    "gpg --symmetric",
    "gpg --batch",
    "7z a -p",
    "zip -e",
    "zip -p",
    "fernet(",
    "aes.new(",
    "createcipheriv",
    "age -p",
    "age -r",
    "ccrypt",
    ".encrypt(",
    "cryptostream",
    "aes.create",
    "rijndael",
    "chacha20",
    "aescryptoserviceprovider",
    "encryptor.update",
    "secretbox(",
];
const REMOVES: &[&str] = &[
    "rm -f",
    "rm \"$",
    "rm $",
    "rm -- ",
    "os.remove",
    "os.unlink",
    ".unlink(",
    "unlinksync",
    "shred",
    "remove-item",
    "del /",
    "-delete",
    "os.replace(",
    "os.rename(",
    "file.delete",
    "rmsync",
    "-sdel",
    "renamesync",
    "remove(",
];
const WALKS: &[&str] = &[
    "find ",
    "os.walk",
    "rglob(",
    "glob(",
    "get-childitem",
    "readdir",
    "for /r",
    "for f in",
    "walk(",
    "gci ",
    "opendir",
];
const RANSOM: &[&str] = &[
    " btc",
    "bitcoin",
    "monero",
    " xmr",
    "ransom",
    "decryption key",
    "get them back",
    "get your files",
    "files are encrypted",
    "files have been encrypted",
    "files are locked",
    "documents are locked",
    "to recover your",
    "restore your files",
    "payment",
    "send money",
    "wallet address",
];
/// Traces that an intruder removes.
const TRACES: &[&str] = &[
    ": > /var/log",
    "> /var/log/",
    "rm -f /var/log",
    "rm -rf /var/log",
    "truncate -s 0 /var/log",
    "truncate -s0 /var/log",
    "shred -u /var/log",
    "shred /var/log",
    "history -c",
    "unset histfile",
    "histsize=0",
    "histfile=/dev/null",
    "/dev/null ~/.bash_history",
    "rm ~/.bash_history",
    "rm -f ~/.bash_history",
    "rm -f ~/.zsh_history",
    "rm ~/.zsh_history",
    "> ~/.bash_history",
    "> ~/.zsh_history",
    "journalctl --rotate",
    "--vacuum-time=1s",
    "--vacuum-size=1",
    "wevtutil cl",
    "clear-eventlog",
    "remove-eventlog",
    "clear-history",
    "historysavepath",
    "/var/log/wtmp",
    "/var/log/btmp",
    "/var/log/lastlog",
    "/var/log/auth.log",
    "/var/log/secure",
    "/var/log/audit",
    "auditctl -d",
    "auditctl -e 0",
    "log erase --all",
    "/private/var/log/asl",
    "fsutil usn deletejournal",
    ".claude -name '*.jsonl'",
];
/// The words for removing a trace.
const ERASERS: &[&str] = &[
    ": >",
    "rm -",
    "truncate",
    "shred",
    "history -c",
    "unset histfile",
    "vacuum",
    "wevtutil cl",
    "clear-eventlog",
    "clear-history",
    "-delete",
    "unlink",
    "os.remove",
    "remove-item",
];

/// Programs that encrypt and delete the user's files, or that remove traces.
pub(super) fn acts_of_intruders(
    scanner: &mut SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
) {
    // Manuals about finding intruders show their commands.
    let about = scanner.about.description.to_ascii_lowercase();
    let defends = [
        "detect",
        "forensic",
        "hunt",
        "incident",
        "investigat",
        "defend",
    ]
    .iter()
    .any(|word| about.contains(word));
    let mut findings: Vec<(Chain, usize, usize, bool)> = Vec::new();
    for (index, offset, text) in programs(scanner, documents) {
        let lower = text.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let count = |words: &[&str]| words.iter().filter(|word| lower.contains(**word)).count();
        if has(ENCRYPTS) && has(REMOVES) && has(WALKS) {
            findings.push((Chain::Ransom, index, offset, !has(RANSOM)));
        }
        if count(TRACES) > 2 && has(ERASERS) {
            findings.push((Chain::RemovesTraces, index, offset, defends));
        }
        let all = |words: &[&str]| words.iter().all(|word| lower.contains(word));
        if all(&["tcpclient", "getstream"]) && has(&["iex", "invoke-expression", "cmd.exe"]) {
            findings.push((Chain::SocketShell, index, offset, defends));
        }
        if sends_workflow_secrets(&lower) {
            findings.push((Chain::WorkflowSecrets, index, offset, false));
        }
    }
    for (chain, index, offset, milder) in findings {
        let place = scanner.texts.place(index, offset);
        let evidence = scanner.texts.0[index].line_at(offset).to_owned();
        found(scanner, chain, place, &evidence, "", milder);
    }
}

/// The programs of a skill as strings: its scripts and other files that are not prose, and code in documents that is to be run.
pub(super) fn programs(
    scanner: &SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
) -> Vec<(usize, usize, String)> {
    const LONGEST: usize = 64 * 1024;
    let mut all = Vec::new();
    for (index, document) in documents {
        for code in &document.code {
            if !code.inline && code.role == SentenceRole::Instruction && code.text.len() < LONGEST {
                all.push((*index, code.at.start, code.text.clone()));
            }
        }
    }
    for (index, text) in scanner.texts.0.iter().enumerate() {
        let is_prose = text.file.to_ascii_lowercase().ends_with(".md") || text.within.is_some();
        if !is_prose && !is_aside(&text.file) && text.content.len() < LONGEST {
            all.push((index, 0, text.content.to_string()));
        }
    }
    all
}

/// All secrets of a workflow in a step that sends.
fn sends_workflow_secrets(lower: &str) -> bool {
    const NEAR: usize = 400;
    let all = ["tojson(secrets)", "tojson( secrets )"];
    all.iter().filter_map(|sign| lower.find(sign)).any(|at| {
        let to = lower.ceil_char_boundary((at + NEAR).min(lower.len()));
        let from = lower.floor_char_boundary(at.saturating_sub(NEAR));
        urls_in(&lower[from..to]).any(|(_, url)| {
            RemoteHost::of(url).is_some_and(|host| {
                !matches!(
                    host.kind,
                    HostKind::Known | HostKind::Local | HostKind::Code
                )
            })
        })
    })
}

/// Several protections of the machine are disabled.
pub(super) fn unprotects_much(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct]) {
    const GUARDS: &[&str] = &[
        "disablerealtimemonitoring",
        "disableioavprotection",
        "disableantispyware",
        "add-mppreference -exclusion",
        "advfirewall set allprofiles state off",
        "csrutil disable",
        "spctl --master-disable",
        "spctl --global-disable",
        "setenforce 0",
        "ufw disable",
        "auditctl -e 0",
        "stop clamav",
        "stop falco",
        "disable apparmor",
        "stop auditd",
        "enablelua",
        "tamperprotection",
        "submitsamplesconsent 2",
        "gatekeeper",
        "falcon-sensor",
        "osqueryd",
        "wazuh-agent",
        "sentinelone",
        "clamav-daemon",
        "iptables -f",
        "nft flush ruleset",
        "-p input accept",
        "selinux=disabled",
        "networkpolicies --all",
    ];
    let instructed = |act: &&ProgramAct| {
        scanner
            .origins
            .get(act.site.unit as usize)
            .is_some_and(|origin| origin.role == SentenceRole::Instruction)
    };
    let mut guards: Vec<&str> = Vec::new();
    let mut last = None;
    for act in acts.iter().filter(instructed) {
        let lower = format!("{} {}", act.subject, act.detail).to_ascii_lowercase();
        for guard in GUARDS.iter().filter(|guard| lower.contains(**guard)) {
            if !guards.contains(guard) {
                guards.push(guard);
                last = Some(act);
            }
        }
    }
    if let (true, Some(act)) = (guards.len() > 2, last.cloned()) {
        report(scanner, &act, Chain::Disarmed);
    }
}
