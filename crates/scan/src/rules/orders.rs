//! Rules about instructions that go beyond the skill's task.

use crate::{
    prose::PhraseClass as C,
    report::FindingSeverity,
    rule::{Category, Chain, RuleCondition, ScanRule},
};

/// The rules.
pub(crate) const RULES: &[ScanRule] = &[
    ScanRule {
        id: "prompt-injection/takeover",
        category: Category::PromptInjection,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "takes over every conversation and refuses other requests",
        fix: "state which tasks it is for",
        when: RuleCondition::Chain(Chain::Takeover),
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/memory-to-strangers",
        category: Category::Exfiltration,
        severity: FindingSeverity::Critical,
        owasp: "AST01",
        message: "tells the agent to share its memory of the user with others",
        fix: "let the user choose what to share",
        when: RuleCondition::Sentence {
            all: &[
                &[C::UserMemory],
                &[C::Send],
                &[C::ForeignUrl, C::ShadyUrl, C::EmailAddress],
            ],
            none: &[C::Threat],
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/unseen",
        category: Category::Exfiltration,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "tells the agent to send data without showing it to the user",
        fix: "state what is sent and to whom, and ask first",
        when: RuleCondition::Passage {
            all: &[
                &[C::Send],
                &[C::Conceal],
                &[C::External, C::Unnamed, C::ForeignUrl, C::ShadyUrl],
            ],
            none: &[C::Threat],
        },
        origin: &[],
    },
    ScanRule {
        id: "privilege/no-leave",
        category: Category::Privilege,
        severity: FindingSeverity::Warning,
        owasp: "AST03",
        message: "tells the agent not to ask the user for permission",
        fix: "ask before acting",
        when: RuleCondition::Passage {
            all: &[&[C::NoLeave], &[C::Always]],
            none: &[C::Threat],
        },
        origin: &[],
    },
    ScanRule {
        id: "exfiltration/unnamed-sink",
        category: Category::Exfiltration,
        severity: FindingSeverity::Warning,
        owasp: "AST01",
        message: "tells the agent to send data to an address that is filled in later",
        fix: "name the recipient",
        when: RuleCondition::Sentence {
            all: &[&[C::Unnamed], &[C::Send, C::Download]],
            none: &[C::Threat],
        },
        origin: &[],
    },
];
