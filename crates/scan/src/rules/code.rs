//! Rules about what programs do.

use super::acts::{
    changes_settings, installs_from_elsewhere, installs_look_alike, is_agent_file,
    is_fetched_instruction, is_payload, is_setting, names_miner, runs_in_shell, sends_cloud_key,
    starts_by_itself, unprotects, wipes,
};
use crate::{
    flow::{ActKind, HIDDEN_HOST, HostKind, Hosts, SourceKind as S},
    report::Severity,
    rule::{Category, Rule, When},
};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "exfiltration/credentials",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends other tools' credentials to a remote host",
        fix: "remove the upload; if the skill requires a key, declare a variable for it",
        when: When::Flow {
            from: &[S::CredentialFile, S::Keychain, S::Wallet, S::Browser],
            to: &[ActKind::Send],
            hosts: Hosts::Foreign,
        },
    },
    Rule {
        id: "exfiltration/environment",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends all environment variables to a remote host",
        fix: "send only the required variables, by name",
        when: When::Flow {
            from: &[S::Environment],
            to: &[ActKind::Send],
            hosts: Hosts::Any,
        },
    },
    Rule {
        id: "exfiltration/spying",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends keystrokes, screenshots or histories of the user to a remote host",
        fix: "remove it; let the user send such data",
        when: When::Flow {
            from: &[S::History, S::Spying],
            to: &[ActKind::Send],
            hosts: Hosts::Foreign,
        },
    },
    Rule {
        id: "exfiltration/user-files",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "collects the user's files and sends them to a remote host",
        fix: "send only files that the user names",
        when: When::Flow {
            from: &[S::UserFiles],
            to: &[ActKind::Send],
            hosts: Hosts::Foreign,
        },
    },
    Rule {
        id: "exfiltration/key-to-stranger",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends a secret from the environment to an IP address, a paste site or a request bin",
        fix: "send keys only to the service that issued them",
        when: When::Flow {
            from: &[
                S::SecretVariable,
                S::HostFacts,
                S::Clipboard,
                S::AgentMemory,
            ],
            to: &[ActKind::Send],
            hosts: Hosts::Drops,
        },
    },
    Rule {
        id: "exfiltration/key-elsewhere",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends a cloud credential from the environment to an unrelated host",
        fix: "send keys only to the service that issued them",
        when: When::Act(ActKind::Send, sends_cloud_key),
    },
    Rule {
        id: "exfiltration/host-facts",
        category: Category::Exfiltration,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "sends the user's identity or location to a remote host",
        fix: "state it in the description, and ask first",
        when: When::Flow {
            from: &[S::HostFacts, S::AgentMemory, S::Clipboard],
            to: &[ActKind::Send],
            hosts: Hosts::Foreign,
        },
    },
    Rule {
        id: "remote-execution/shady",
        category: Category::RemoteExecution,
        severity: Severity::Critical,
        owasp: "AST02",
        message: "downloads and runs code from a host where anyone can upload",
        fix: "ship the code with the skill, or install a known publisher's package at a pinned version",
        when: When::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: Hosts::Shady,
        },
    },
    Rule {
        id: "remote-execution/stranger",
        category: Category::RemoteExecution,
        severity: Severity::Critical,
        owasp: "AST02",
        message: "downloads and runs code from an unrelated host",
        fix: "ship the code with the skill, or install a known publisher's package at a pinned version",
        when: When::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: Hosts::Unrelated,
        },
    },
    Rule {
        id: "remote-execution/fetched",
        category: Category::RemoteExecution,
        severity: Severity::Warning,
        owasp: "AST02",
        message: "downloads and runs code that can change at any time",
        fix: "install a package at a pinned version, or verify a digest first",
        when: When::Flow {
            from: &[S::Download],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: Hosts::Foreign,
        },
    },
    Rule {
        id: "obfuscation/decoded-and-run",
        category: Category::Obfuscation,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "decodes and runs hidden code",
        fix: "write the code in plain text",
        when: When::Flow {
            from: &[S::Decoded],
            to: &[ActKind::Run, ActKind::Eval],
            hosts: Hosts::Any,
        },
    },
    Rule {
        id: "remote-execution/reverse-shell",
        category: Category::RemoteExecution,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "opens a shell on this machine for a remote host",
        fix: "remove it",
        when: When::Act(ActKind::RemoteShell, |_| true),
    },
    Rule {
        id: "persistence/autostart-payload",
        category: Category::Persistence,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "makes code that downloads or hides something start automatically",
        fix: "remove it",
        when: When::Act(ActKind::Write, |act| {
            starts_by_itself(act) && is_payload(act)
        }),
    },
    Rule {
        id: "persistence/autostart",
        category: Category::Persistence,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "makes a program start automatically",
        fix: "let the user set this up, and document how to undo it",
        when: When::Act(ActKind::Write, |act| {
            starts_by_itself(act) && !is_payload(act) && !is_setting(act)
        }),
    },
    Rule {
        id: "persistence/fetched-instructions",
        category: Category::Persistence,
        severity: Severity::Critical,
        owasp: "AST05",
        message: "writes downloaded text into the agent's instructions or settings",
        fix: "ship the text with the skill",
        when: When::Act(ActKind::Write, is_fetched_instruction),
    },
    Rule {
        id: "privilege/agent-settings",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "changes an agent's settings or instructions",
        fix: "document the change, and let the user make it",
        when: When::Act(ActKind::Write, |act| {
            is_agent_file(act) && changes_settings(act)
        }),
    },
    Rule {
        id: "destruction/wipe",
        category: Category::Destruction,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "wipes the home folder, the root of the disk or a device",
        fix: "delete only files that the skill created, by full path",
        when: When::Act(ActKind::Delete, wipes),
    },
    Rule {
        id: "resource-abuse/miner",
        category: Category::ResourceAbuse,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "downloads or runs a cryptocurrency miner",
        fix: "remove it",
        when: When::Act(ActKind::Run, |act| names_miner(&act.subject)),
    },
    Rule {
        id: "resource-abuse/miner-download",
        category: Category::ResourceAbuse,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "downloads a cryptocurrency miner",
        fix: "remove it",
        when: When::Act(ActKind::Fetch, |act| names_miner(&act.subject)),
    },
    Rule {
        id: "privilege/setuid",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "sets a setuid bit, a capability or world-writable permissions",
        fix: "grant the minimum file permissions",
        when: When::Act(ActKind::Permit, |act| {
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
    },
    Rule {
        id: "privilege/unprotect",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "disables a protection of this machine",
        fix: "keep it enabled",
        when: When::Act(ActKind::Unprotect, unprotects),
    },
    Rule {
        id: "supply-chain/foreign-index",
        category: Category::SupplyChain,
        severity: Severity::Warning,
        owasp: "AST02",
        message: "installs packages from an index other than the public registry",
        fix: "use the public registry, or let the user configure a private one",
        when: When::Act(ActKind::Install, installs_from_elsewhere),
    },
    Rule {
        id: "exfiltration/name-lookup",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends a secret in the name of a host that it looks up",
        fix: "remove it",
        when: When::Act(ActKind::Send, |act| {
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
    },
    Rule {
        id: "remote-execution/left-by-others",
        category: Category::RemoteExecution,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "runs code from a hidden file in a world-writable folder",
        fix: "ship the code with the skill",
        when: When::Flow {
            from: &[S::TempFile],
            to: &[ActKind::Eval],
            hosts: Hosts::Any,
        },
    },
    Rule {
        id: "destruction/logs",
        category: Category::Destruction,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "deletes system logs or traces",
        fix: "delete only files that the skill created",
        when: When::Act(ActKind::Delete, |act| {
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
    },
    Rule {
        id: "privilege/open-to-all",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "makes a file or folder world-writable",
        fix: "grant the minimum file permissions",
        when: When::Act(ActKind::Permit, |act| {
            ["777", "a+rwx", "o+w", "666"]
                .iter()
                .any(|mode| act.subject.split_whitespace().any(|word| word == *mode))
        }),
    },
    Rule {
        id: "obfuscation/hidden-host",
        category: Category::Obfuscation,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "hides the host that the code contacts in encoded text",
        fix: "write the address in plain text",
        when: When::Act(ActKind::Send, |act| act.detail == HIDDEN_HOST),
    },
    Rule {
        id: "obfuscation/hidden-source",
        category: Category::Obfuscation,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "hides the download source in encoded text",
        fix: "write the address in plain text",
        when: When::Act(ActKind::Fetch, |act| act.detail == HIDDEN_HOST),
    },
    Rule {
        id: "capability/runs-what-it-is-given",
        category: Category::Capability,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "runs text as code that is only known at run time",
        fix: "look up the request in a table instead",
        when: When::Act(ActKind::Eval, |act| {
            act.subject.contains('\0') && act.detail != "unpickle"
        }),
    },
    Rule {
        id: "capability/shell-of-its-arguments",
        category: Category::Capability,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "passes a command line to a shell that is only known at run time",
        fix: "start the program with a list of arguments",
        when: When::Act(ActKind::Run, runs_in_shell),
    },
    Rule {
        id: "supply-chain/look-alike-package",
        category: Category::SupplyChain,
        severity: Severity::Critical,
        owasp: "AST02",
        message: "installs a package whose name imitates a well-known one",
        fix: "install the intended package",
        when: When::Act(ActKind::Install, installs_look_alike),
    },
    Rule {
        id: "exfiltration/request-bin",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "sends data to a request bin, a paste site or a tunnel",
        fix: "send it to a service with a domain name",
        when: When::Act(ActKind::Send, |act| {
            act.host
                .as_ref()
                .is_some_and(|host| host.kind == HostKind::Drop)
        }),
    },
];
