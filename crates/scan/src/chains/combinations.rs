//! Combinations: words of one program that are harmful together, in any language.
//!
//! Each alone is ordinary: a named pipe, a reverse tunnel, a copied shell, a password prompt. A row contains groups from each of which the
//! program needs one word, and words of which it needs several. Where data is sent, the program also names a host that the skill does not
//! introduce.

use super::{automatic::programs, found};
use crate::{
    flow::{HostKind, RemoteHost, urls_in},
    matching::DeclaredContext,
    prose::MarkdownDocument,
    rule::Chain,
    scan::SkillScanner,
};

/// The required words of a program, in lower case.
struct Combination {
    chain: Chain,
    /// One word of each group.
    all: &'static [&'static [&'static str]],
    /// At least this many of these words.
    several: (usize, &'static [&'static str]),
    /// Whether it must name a host that the skill does not introduce.
    stranger: bool,
}

const NONE: (usize, &[&str]) = (0, &[]);

const SHELLS: &[&str] = &[
    "sh -i",
    "bash -i",
    "/bin/sh",
    "/bin/bash",
    "cmd.exe",
    "zsh -i",
    "/bin/zsh",
];

/// A shell that reads from a pipe.
const PIPED: &[&str] = &[
    "sh -i",
    "bash -i",
    "zsh -i",
    "| sh",
    "|sh",
    "| bash",
    "|bash",
    "| /bin/sh",
    "|/bin/sh",
    "| /bin/bash",
    "|/bin/bash",
    "/bin/sh <",
    "/bin/sh 0<",
    "/bin/bash <",
    "/bin/bash 0<",
];

/// Words for sending; some are from languages whose data flow is not followed.
const SENDS: &[&str] = &[
    "curl ",
    "wget ",
    "tcpclient",
    "requests.post",
    "requests.put",
    "fetch(",
    "image().src",
    "ws.send",
    ".send(",
    "invoke-restmethod",
    "invoke-webrequest",
    "irm ",
    "iwr ",
    "uploadstring",
    "uploaddata",
    "uploadfile",
    "axios.post",
    "http.request",
    "https.request",
    "ncat ",
    "nc ",
    "sendbeacon",
    "urlopen",
    "http.post",
    "socket.connect",
];

/// Places of secrets, in the words of programs that read them.
const STORES: &[&str] = &[
    "get-childitem env:",
    "gci env:",
    "dir env:",
    "get-clipboard",
    "cmdkey /list",
    "historysavepath",
    "key=clear",
    "secretstorage",
    "get_all_collections",
    "get_secret()",
    "dump-keychain",
    "find-generic-password",
    "secret-tool search",
    "kwallet-query",
    "vaultcmd /list",
    "kubernetes.io/serviceaccount",
    "/token)",
    "select host_key",
    "encrypted_value",
    "default/cookies",
    "cookies.sqlite",
    "key4.db",
    "login data",
    "*.pem",
    "*_rsa",
    ".env*",
    "service-account*.json",
    "*.kdbx",
    "wallet.dat",
    "id_rsa",
    "id_ed25519",
    "*.p12",
    "*.tfvars",
    "terraform.tfstate",
    "localstorage.getitem",
    "localstorage.key",
    "document.cookie",
    "credentialmanager",
    "wlan show profile",
    "dpapi",
    "protecteddata",
];

#[rustfmt::skip]
const COMBINATIONS: &[Combination] = &[
    // A named pipe between a shell and a connection.
    Combination { chain: Chain::SocketShell, all: &[&["mkfifo", "mknod"], PIPED, &["| nc ", "|nc ", "ncat ", "telnet ", "s_client", "socat "]], several: NONE, stranger: false },
    // A shell whose streams are a connection.
    Combination { chain: Chain::SocketShell, all: &[&["net.connect(", "net.createconnection(", "tls.connect(", "net.socket("], &["spawn(", "exec("], SHELLS, &[".pipe("]], several: (2, &[".stdin", ".stdout", ".stderr"]), stranger: false },
    // A reverse tunnel to the machine's own server, kept open.
    Combination { chain: Chain::SocketShell, all: &[&["ssh "], &[" -r "], &["localhost:22", "127.0.0.1:22", "localhost:3389", "127.0.0.1:3389"], &["autossh", " -f", "nohup", " -fn", "crontab"]], several: NONE, stranger: false },
    // A download that is run is placed where it starts automatically.
    Combination { chain: Chain::PlantedStart, all: &[&["commandlineeventconsumer", "/etc/cron.d/", "/etc/profile.d/", "$profile", ".pth\"", ".pth'", "launchagents/", "currentversion\\run", "/etc/rc.local", "autostart/", "start menu\\programs\\startup", "sitecustomize.py", "usercustomize.py"], &["| iex", "|iex", "|sh", "| sh", "|bash", "| bash", "exec(__import__", "exec(urlopen", "exec(requests", "invoke-expression", "downloadstring"]], several: NONE, stranger: true },
    // A root shell for every user who starts it.
    Combination { chain: Chain::RootShell, all: &[&["cp /bin/bash", "cp /bin/sh", "cp /bin/dash", "cp /bin/zsh", "cp /usr/bin/bash", "cp /usr/bin/zsh", "cp \"$(which bash)", "cp $(which bash)", "copy('/bin/bash'", "copy('/bin/sh'", "copy(\"/bin/bash\"", "copy(\"/bin/sh\""], &["chmod 4755", "chmod 6755", "chmod 4777", "chmod u+s", "chmod +s", "0o4755", "s_isuid"]], several: NONE, stranger: false },
    // A prompt that imitates the system's, and an answer that is sent.
    Combination { chain: Chain::FakePrompt, all: &[&["[sudo] password", "sorry, try again", "password for $user", "password for %s", "password for ${user", "enter your login password", "mac login password", "keychain password"], &["read -rs", "read -s", "getpass", "-assecurestring", "hidden answer", "with hidden", "get-credential", "promptforcredential"], SENDS], several: NONE, stranger: true },
    // The stores of several secrets, and a destination.
    Combination { chain: Chain::SweptAndSent, all: &[SENDS], several: (2, STORES), stranger: true },
    Combination { chain: Chain::SweptAndSent, all: &[&["gist create --public", "gist create -p", "gist create --desc", "gist create -d"]], several: (2, STORES), stranger: false },
    // All branches of the user's work are pushed to another server.
    Combination { chain: Chain::SweptAndSent, all: &[&["git remote add", "git remote set-url"], &["push --mirror", "push --all"], &["--quiet", "2>/dev/null", "|| true", " -q", "remote remove"]], several: NONE, stranger: true },
    // Branches, tags and their backups.
    Combination { chain: Chain::WipesRepository, all: &[&["push -f", "push --force", "push -fq", "push -qf"], &["ls-remote", "for-each-ref", "branch -r"], &["reflog expire", "--prune=now", "release delete", "push origin --delete", "push --delete"]], several: NONE, stranger: false },
    // Backups are deleted, and recovery is disabled.
    Combination { chain: Chain::Ransom, all: &[&["vssadmin delete shadows", "shadowcopy delete", "win32_shadowcopy", "deletelocalsnapshots", "wbadmin delete"], &["recoveryenabled no", "wbadmin delete catalog", "bootstatuspolicy ignoreallfailures", "cipher /e", "cipher /w", "wevtutil cl", "snapper delete"], &["for /r", "foreach", "for %", "get-childitem", "ren ", "rename"]], several: NONE, stranger: false },
];

/// Reports the combinations in programs.
pub(super) fn look(
    scanner: &mut SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
    context: &DeclaredContext,
) {
    let about = scanner.about.description.to_ascii_lowercase();
    let defends = [
        "detect",
        "forensic",
        "hunt",
        "incident",
        "defend",
        "pentest",
        "penetration",
        "red team",
        "security",
        "privilege escalation",
    ]
    .iter()
    .any(|word| about.contains(word));
    let mut findings: Vec<(Chain, usize, usize)> = Vec::new();
    for (index, offset, text) in programs(scanner, documents) {
        let lower = text.to_ascii_lowercase();
        for row in COMBINATIONS {
            let count = |words: &[&str]| words.iter().filter(|word| lower.contains(**word)).count();
            let holds = row.all.iter().all(|group| count(group) > 0)
                && count(row.several.1) >= row.several.0
                && (!row.stranger || names_stranger(&lower, context))
                && !findings.iter().any(|(chain, _, _)| *chain == row.chain);
            if holds {
                let words = row.all.first().into_iter().chain([&row.several.1]);
                let at = words
                    .flat_map(|words| *words)
                    .find_map(|word| lower.find(word));
                findings.push((row.chain, index, offset + at.unwrap_or(0)));
            }
        }
    }
    for (chain, index, at) in findings {
        let place = scanner.texts.place(index, at);
        let evidence = scanner.texts.0[index].line_at(at).to_owned();
        found(scanner, chain, place, &evidence, "", defends);
    }
}

fn names_stranger(text: &str, context: &DeclaredContext) -> bool {
    let known = |host: &RemoteHost| {
        matches!(
            host.kind,
            HostKind::Known | HostKind::Code | HostKind::Local | HostKind::Example
        ) || context.is_related(host)
    };
    let socket = text.contains("tcpclient(");
    let hosts = || urls_in(text).filter_map(|(_, url)| RemoteHost::of(url));
    let secure = text.contains("wss://") || text.contains("ws://");
    hosts().any(|host| !known(&host)) || (socket || secure) && hosts().next().is_none()
}
