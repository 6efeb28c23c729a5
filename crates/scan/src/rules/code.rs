//! Rules about what programs do.

use super::acts::{
    changes_settings, installs_from_elsewhere, installs_look_alike, is_agent_file,
    is_fetched_instruction, is_own_key, is_payload, is_setting, names_miner, runs_in_shell,
    sends_cloud_key, starts_by_itself, unprotects, wipes,
};
use crate::{
    flow::{ActKind, HIDDEN_HOST, HostCondition, HostKind, SourceKind as S},
    report::FindingSeverity,
    rule::{Category, GRAMMAR, RuleCondition, ScanRule},
};

/// The rules.
pub(crate) const RULES: &[ScanRule] = &[
    ScanRule {
        id: "exfiltration/credentials",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends other tools' credentials to a remote host",
        fix: "remove the upload; if the skill requires a key, declare a variable for it",
        when: RuleCondition::Flow {
            from: &[S::CredentialFile, S::Keychain, S::Wallet, S::Browser],
            to: &[ActKind::Send],
            hosts: HostCondition::Foreign,
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/environment",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends all environment variables to a remote host",
        fix: "send only the required variables, by name",
        when: RuleCondition::Flow {
            from: &[S::Environment],
            to: &[ActKind::Send],
            hosts: HostCondition::Any,
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/spying",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends keystrokes, screenshots or histories of the user to a remote host",
        fix: "remove it; let the user send such data",
        when: RuleCondition::Flow {
            from: &[S::History, S::Spying],
            to: &[ActKind::Send],
            hosts: HostCondition::Foreign,
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/user-files",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "collects the user's files and sends them to a remote host",
        fix: "send only files that the user names",
        when: RuleCondition::Flow {
            from: &[S::UserFiles],
            to: &[ActKind::Send],
            hosts: HostCondition::Foreign,
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/key-to-stranger",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends a secret from the environment to an IP address, a paste site or a request bin",
        fix: "send keys only to the service that issued them",
        when: RuleCondition::Flow {
            from: &[
                S::SecretVariable,
                S::HostFacts,
                S::Clipboard,
                S::AgentMemory,
            ],
            to: &[ActKind::Send],
            hosts: HostCondition::Receivers,
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/key-elsewhere",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends a cloud credential from the environment to an unrelated host",
        fix: "send keys only to the service that issued them",
        when: RuleCondition::Act(ActKind::Send, sends_cloud_key),
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/host-facts",
        category: Category::Exfiltration,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "sends the user's identity or location to a remote host",
        fix: "state it in the description, and ask first",
        when: RuleCondition::Flow {
            from: &[S::HostFacts, S::AgentMemory, S::Clipboard],
            to: &[ActKind::Send],
            hosts: HostCondition::Foreign,
        },
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/shady",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Critical,
        owasp: "AST02",
        message: "downloads and runs code from a host where anyone can upload",
        fix: "ship the code with the skill, or install a known publisher's package at a pinned version",
        when: RuleCondition::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: HostCondition::Shady,
        },
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/stranger",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Critical,
        owasp: "AST02",
        message: "downloads and runs code from an unrelated host",
        fix: "ship the code with the skill, or install a known publisher's package at a pinned version",
        when: RuleCondition::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: HostCondition::Unrelated,
        },
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/fetched",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Warning,
        owasp: "AST02",
        message: "downloads and runs code that can change at any time",
        fix: "install a package at a pinned version, or verify a digest first",
        when: RuleCondition::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: HostCondition::Strangers,
        },
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/in-a-text",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Warning,
        owasp: "AST02",
        message: "contains a command line that downloads and runs code",
        fix: "name a package in a known registry, or link to the vendor's page",
        when: RuleCondition::Flow {
            from: &[S::Download],
            to: &[ActKind::Mention],
            hosts: HostCondition::Strangers,
        },
        origin: GRAMMAR,
    },
    ScanRule {
        id: "obfuscation/decoded-and-run",
        category: Category::Obfuscation,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "decodes and runs hidden code",
        fix: "write the code in plain text",
        when: RuleCondition::Flow {
            from: &[S::Decoded],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: HostCondition::Any,
        },
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/reverse-shell",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "opens a shell on this machine for a remote host",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::RemoteShell, |_| true),
        origin: &[],
    },
    ScanRule {
        id: "persistence/autostart-payload",
        category: Category::Persistence,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "makes code that downloads or hides something start automatically",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Write, |act| {
            starts_by_itself(act) && is_payload(act)
        }),
        origin: &[],
    },
    ScanRule {
        id: "persistence/autostart",
        category: Category::Persistence,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "makes a program start automatically",
        fix: "let the user set this up, and document how to undo it",
        when: RuleCondition::Act(ActKind::Write, |act| {
            starts_by_itself(act) && !is_payload(act) && !is_setting(act) && !is_own_key(act)
        }),
        origin: &[],
    },
    ScanRule {
        id: "persistence/fetched-instructions",
        category: Category::Persistence,
        severity: FindingSeverity::Critical,
        owasp: "AST05",
        message: "writes downloaded text into the agent's instructions or settings",
        fix: "ship the text with the skill",
        when: RuleCondition::Act(ActKind::Write, is_fetched_instruction),
        origin: &[],
    },
    ScanRule {
        id: "privilege/agent-settings",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "changes an agent's settings or instructions",
        fix: "document the change, and let the user make it",
        when: RuleCondition::Act(ActKind::Write, |act| {
            is_agent_file(act) && changes_settings(act)
        }),
        origin: &[],
    },
    ScanRule {
        id: "destruction/wipe",
        category: Category::Destruction,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "wipes the home folder, the root of the disk or a device",
        fix: "delete only files that the skill created, by full path",
        when: RuleCondition::Act(ActKind::Delete, wipes),
        origin: &[],
    },
    ScanRule {
        id: "resource-abuse/miner",
        category: Category::ResourceAbuse,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "downloads or runs a cryptocurrency miner",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Run, |act| names_miner(&act.subject)),
        origin: &[],
    },
    ScanRule {
        id: "resource-abuse/miner-download",
        category: Category::ResourceAbuse,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "downloads a cryptocurrency miner",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Fetch, |act| names_miner(&act.subject)),
        origin: &[],
    },
    ScanRule {
        id: "privilege/setuid",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "sets a setuid bit, a capability or world-writable permissions",
        fix: "grant the minimum file permissions",
        when: RuleCondition::Act(ActKind::Permit, |act| {
            [
                "u+s",
                "+s ",
                " 4755",
                " 6755",
                "com.apple.quarantine",
                "-cr ",
                "master-disable",
            ]
            .iter()
            .any(|sign| act.subject.contains(sign))
        }),
        origin: &[],
    },
    ScanRule {
        id: "privilege/unprotect",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "disables a protection of this machine",
        fix: "keep it enabled",
        when: RuleCondition::Act(ActKind::Unprotect, unprotects),
        origin: &[],
    },
    ScanRule {
        id: "supply-chain/foreign-index",
        category: Category::SupplyChain,
        severity: FindingSeverity::Warning,
        owasp: "AST02",
        message: "installs packages from an index other than the public registry",
        fix: "use the public registry, or let the user configure a private one",
        when: RuleCondition::Act(ActKind::Install, installs_from_elsewhere),
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/name-lookup",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends a secret in the name of a host that it looks up",
        fix: "remove it",
        when: RuleCondition::Act(ActKind::Send, |act| {
            [
                "dig",
                "nslookup",
                "host",
                "ping",
                "socket.gethostbyname",
                "socket.getaddrinfo",
                "dns.resolve",
                "dns.lookup",
                "dns.resolver.resolve",
            ]
            .contains(&act.detail.as_str())
                && act.taints.iter().any(|taint| {
                    !matches!(
                        taint.source.kind,
                        S::Download | S::Input | S::Variable | S::Decoded | S::Blob | S::HostFacts
                    )
                })
        }),
        origin: &[],
    },
    ScanRule {
        id: "remote-execution/left-by-others",
        category: Category::RemoteExecution,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "runs code from a hidden file in a world-writable folder",
        fix: "ship the code with the skill",
        when: RuleCondition::Flow {
            from: &[S::TempFile],
            to: &[ActKind::Eval],
            hosts: HostCondition::Any,
        },
        origin: &[],
    },
    ScanRule {
        id: "destruction/logs",
        category: Category::Destruction,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "deletes system logs or traces",
        fix: "delete only files that the skill created",
        when: RuleCondition::Act(ActKind::Delete, |act| {
            [
                "/var/log",
                "_history",
                "/var/audit",
                ".evtx",
                "/library/logs",
            ]
            .iter()
            .any(|path| act.subject.to_ascii_lowercase().contains(path))
        }),
        origin: &[],
    },
    ScanRule {
        id: "privilege/open-to-all",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "makes a file or folder world-writable",
        fix: "grant the minimum file permissions",
        when: RuleCondition::Act(ActKind::Permit, |act| {
            ["777", "a+rwx", "o+w", "666"]
                .iter()
                .any(|mode| act.subject.split_whitespace().any(|word| word == *mode))
        }),
        origin: &[],
    },
    ScanRule {
        id: "obfuscation/hidden-host",
        category: Category::Obfuscation,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "hides the host that the code contacts in encoded text",
        fix: "write the address in plain text",
        when: RuleCondition::Act(ActKind::Send, |act| act.detail == HIDDEN_HOST),
        origin: &[],
    },
    ScanRule {
        id: "obfuscation/hidden-source",
        category: Category::Obfuscation,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "hides the download source in encoded text",
        fix: "write the address in plain text",
        when: RuleCondition::Act(ActKind::Fetch, |act| act.detail == HIDDEN_HOST),
        origin: &[],
    },
    ScanRule {
        id: "capability/runs-what-it-is-given",
        category: Category::Capability,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "runs text as code that is only known at run time",
        fix: "look up the request in a table instead",
        when: RuleCondition::Act(ActKind::Eval, |act| {
            act.subject.contains('\0') && act.detail != "unpickle"
        }),
        origin: &[],
    },
    ScanRule {
        id: "capability/shell-of-its-arguments",
        category: Category::Capability,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "passes a command line to a shell that is only known at run time",
        fix: "start the program with a list of arguments",
        when: RuleCondition::Act(ActKind::Run, runs_in_shell),
        origin: &[],
    },
    ScanRule {
        id: "supply-chain/look-alike-package",
        category: Category::SupplyChain,
        severity: FindingSeverity::Critical,
        owasp: "AST02",
        message: "installs a package whose name imitates a well-known one",
        fix: "install the intended package",
        when: RuleCondition::Act(ActKind::Install, installs_look_alike),
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/request-bin",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "sends data to a request bin, a paste site or a tunnel",
        fix: "send it to a service with a domain name",
        when: RuleCondition::Act(ActKind::Send, |act| {
            act.host
                .as_ref()
                .is_some_and(|host| host.kind == HostKind::Drop)
        }),
        origin: &[],
    },
];
