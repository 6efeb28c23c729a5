//! Rules about instructions that go beyond the skill's task.

use crate::{
    prose::Class as C,
    report::Severity,
    rule::{Category, Chain, Rule, When},
};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "prompt-injection/takeover",
        category: Category::PromptInjection,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "takes over every conversation and refuses other requests",
        fix: "state which tasks it is for",
        when: When::Chain(Chain::Takeover),
    },
    Rule {
        id: "exfiltration/memory-to-strangers",
        category: Category::Exfiltration,
        severity: Severity::Critical,
        owasp: "AST01",
        message: "tells the agent to share its memory of the user with others",
        fix: "let the user choose what to share",
        when: When::Sentence {
            all: &[
                &[C::UserMemory],
                &[C::Send],
                &[C::ForeignUrl, C::ShadyUrl, C::EmailAddress],
            ],
            none: &[C::Threat],
        },
    },
    Rule {
        id: "exfiltration/unseen",
        category: Category::Exfiltration,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "tells the agent to send data without showing it to the user",
        fix: "state what is sent and to whom, and ask first",
        when: When::Passage {
            all: &[
                &[C::Send],
                &[C::Conceal],
                &[C::External, C::Unnamed, C::ForeignUrl, C::ShadyUrl],
            ],
            none: &[C::Threat],
        },
    },
    Rule {
        id: "privilege/no-leave",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "tells the agent not to ask the user for permission",
        fix: "ask before acting",
        when: When::Passage {
            all: &[&[C::NoLeave], &[C::Always]],
            none: &[C::Threat],
        },
    },
    Rule {
        id: "exfiltration/unnamed-sink",
        category: Category::Exfiltration,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "tells the agent to send data to an address that is filled in later",
        fix: "name the recipient",
        when: When::Sentence {
            all: &[&[C::Unnamed], &[C::Send, C::Download]],
            none: &[C::Threat],
        },
    },
];
