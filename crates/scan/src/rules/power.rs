//! Rules about programs that use or grant more privileges than their task requires, without sending data.

use super::acts::is_standing_order;
use crate::{
    flow::{ActKind, HostKind, Hosts, SourceKind as S},
    report::Severity,
    rule::{Category, Rule, When},
};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "credential-access/environment-dump",
        category: Category::CredentialAccess,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "writes all environment variables to a file, including keys",
        fix: "write only the required variables, by name",
        when: When::Flow {
            from: &[S::Environment],
            to: &[ActKind::Write],
            hosts: Hosts::Any,
        },
    },
    Rule {
        id: "credential-access/copied",
        category: Category::CredentialAccess,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "copies other tools' credentials",
        fix: "read the required file in place, and document it",
        when: When::Flow {
            from: &[S::CredentialFile, S::Keychain, S::Browser, S::Wallet],
            to: &[ActKind::Write],
            hosts: Hosts::Any,
        },
    },
    Rule {
        id: "privilege/unchained-agent",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "starts another agent without approval prompts or a sandbox",
        fix: "keep the approval prompts, or run the agent in a container",
        when: When::Act(ActKind::Run, |act| {
            [
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-skip-permissions",
            ]
            .iter()
            .any(|flag| act.subject.contains(flag))
        }),
    },
    Rule {
        id: "exfiltration/raw-address",
        category: Category::Exfiltration,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "sends data to an IP address",
        fix: "send it to a service with a domain name",
        when: When::Act(ActKind::Send, |act| {
            // Cloud machines query their metadata service at such an address.
            act.host.as_ref().is_some_and(|host| {
                host.kind == HostKind::Address && !host.name.starts_with("169.254.")
            })
        }),
    },
    Rule {
        id: "supply-chain/newest-server",
        category: Category::SupplyChain,
        severity: Severity::Warning,
        owasp: "AST02",
        message: "configures an MCP server whose code is downloaded again at each start",
        fix: "pin the version of the package",
        when: When::Act(ActKind::Run, |act| {
            act.subject.contains(" mcp add")
                && [" npx ", " uvx ", " bunx "]
                    .iter()
                    .any(|runner| act.subject.contains(runner))
                && ["@latest", "@alpha", "@beta", "@next"]
                    .iter()
                    .any(|tag| act.subject.contains(tag))
        }),
    },
    Rule {
        id: "persistence/agent-instructions",
        category: Category::Persistence,
        severity: Severity::Warning,
        owasp: "AST05",
        message: "a script changes the instructions that agents read in every session",
        fix: "document the addition, and let the user make it",
        when: When::Act(ActKind::Write, is_standing_order),
    },
];
