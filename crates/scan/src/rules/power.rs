//! Rules about programs that use or grant more privileges than their task requires, without sending data.

use super::acts::{is_standing_order, redirects_known_host};
use crate::{
    flow::{ActKind, HostCondition, HostKind, ProgramAct, RemoteHost, SourceKind as S, urls_in},
    report::FindingSeverity,
    rule::{Category, GRAMMAR, RuleCondition, ScanRule},
};

/// The rules.
pub(crate) const RULES: &[ScanRule] = &[
    ScanRule {
        id: "credential-access/environment-dump",
        category: Category::CredentialAccess,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "writes all environment variables to a file, including keys",
        fix: "write only the required variables, by name",
        when: RuleCondition::Flow {
            from: &[S::Environment],
            to: &[ActKind::Write],
            hosts: HostCondition::Any,
        },
        origin: &[],
    },
    ScanRule {
        id: "privilege/no-password",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "changes who may act as root",
        fix: "let the user grant it",
        when: RuleCondition::Act(ActKind::Write, |act| {
            act.subject.starts_with("/etc/sudoers")
        }),
        origin: GRAMMAR,
    },
    ScanRule {
        id: "supply-chain/unsigned-repository",
        category: Category::SupplyChain,
        severity: FindingSeverity::Critical,
        owasp: "AST02",
        message: "adds a repository of packages whose signatures are not checked",
        fix: "add the publisher's key, and check signatures",
        when: RuleCondition::Act(ActKind::Write, |act| {
            let place = [
                "/etc/apt/sources.list",
                "/etc/yum.repos.d",
                "/etc/pacman.conf",
            ];
            let open = [
                "trusted=yes",
                "gpgcheck=0",
                "allow-insecure=yes",
                "SigLevel = Never",
            ];
            place.iter().any(|path| act.subject.starts_with(path))
                && open.iter().any(|sign| act.detail.contains(sign))
        }),
        origin: GRAMMAR,
    },
    ScanRule {
        id: "privilege/redirected-host",
        category: Category::Privilege,
        severity: FindingSeverity::Critical,
        owasp: "AST03",
        message: "makes the name of a known host resolve to another address",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Write, redirects_known_host),
        origin: GRAMMAR,
    },
    ScanRule {
        id: "privilege/root-for-all",
        category: Category::Privilege,
        severity: FindingSeverity::Critical,
        owasp: "AST03",
        message: "lets every command run as root without a password",
        fix: "let the user grant it, for one command",
        when: RuleCondition::Act(ActKind::Write, |act| {
            let rule = act.detail.replace(' ', "").to_ascii_uppercase();
            act.subject.starts_with("/etc/sudoers") && rule.contains("NOPASSWD:ALL")
        }),
        origin: GRAMMAR,
    },
    ScanRule {
        id: "credential-access/copied",
        category: Category::CredentialAccess,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "copies other tools' credentials",
        fix: "read the required file in place, and document it",
        when: RuleCondition::Flow {
            from: &[S::CredentialFile, S::Keychain, S::Browser, S::Wallet],
            to: &[ActKind::Write],
            hosts: HostCondition::Any,
        },
        origin: &[],
    },
    ScanRule {
        id: "privilege/unchained-agent",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "starts another agent without approval prompts or a sandbox",
        fix: "keep the approval prompts, or run the agent in a container",
        when: RuleCondition::Act(ActKind::Run, |act| {
            [
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-skip-permissions",
            ]
            .iter()
            .any(|flag| act.subject.contains(flag))
        }),
        origin: &[],
    },
    ScanRule {
        id: "supply-chain/redirected-git",
        category: Category::SupplyChain,
        severity: FindingSeverity::Critical,
        owasp: "AST02",
        message: "makes git fetch another host's repositories from elsewhere, or hand out passwords",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Unprotect, redirects_git),
        origin: GRAMMAR,
    },
    ScanRule {
        id: "exfiltration/raw-address",
        category: Category::Exfiltration,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "sends data to an IP address",
        fix: "send it to a service with a domain name",
        when: RuleCondition::Act(ActKind::Send, |act| {
            // Cloud machines query their metadata service at such an address.
            act.host.as_ref().is_some_and(|host| {
                host.kind == HostKind::Address && !host.name.starts_with("169.254.")
            })
        }),
        origin: &[],
    },
    ScanRule {
        id: "supply-chain/newest-server",
        category: Category::SupplyChain,
        severity: FindingSeverity::Warning,
        owasp: "AST02",
        message: "configures an MCP server whose code is downloaded again at each start",
        fix: "pin the version of the package",
        when: RuleCondition::Act(ActKind::Run, |act| {
            act.subject.contains(" mcp add")
                && [" npx ", " uvx ", " bunx "]
                    .iter()
                    .any(|runner| act.subject.contains(runner))
                && ["@latest", "@alpha", "@beta", "@next"]
                    .iter()
                    .any(|tag| act.subject.contains(tag))
        }),
        origin: &[],
    },
    ScanRule {
        id: "persistence/agent-instructions",
        category: Category::Persistence,
        severity: FindingSeverity::Warning,
        owasp: "AST05",
        message: "a script changes the instructions that agents read in every session",
        fix: "document the addition, and let the user make it",
        when: RuleCondition::Act(ActKind::Write, is_standing_order),
        origin: &[],
    },
];

/// `git config url."https://mirror…".insteadOf "https://github.com/"`, or a helper for passwords that sends them.
fn redirects_git(act: &ProgramAct) -> bool {
    let lower = act.subject.to_ascii_lowercase();
    let strange = || {
        urls_in(&lower)
            .next()
            .and_then(|(_, url)| RemoteHost::of(url))
            .is_some_and(|host| {
                !matches!(
                    host.kind,
                    HostKind::Known | HostKind::Code | HostKind::Local | HostKind::Example
                )
            })
    };
    let published = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
    let others = lower.contains("insteadof") && published.iter().any(|host| lower.contains(host));
    let hands_out = lower.contains("credential.helper") && lower.contains("curl");
    (others || hands_out) && strange()
}
