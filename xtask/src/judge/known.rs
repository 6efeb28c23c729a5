//! What is expected to fail, and why. One that passes has to leave this list.

use super::verdict::ExpectedFailure;

pub(crate) const FAILURES: &[ExpectedFailure] = &[
    server(
        "2025-11-25: server-sse-polling (not scored)",
        "a stream that broke is not resumed: the newest revision removed that, and the suite's own server can't do it",
    ),
    server(
        "2026-07-28: tasks-*",
        "the extension for tasks is not implemented: a call of a skill's tool ends within its time limit",
    ),
    server(
        "2026-07-28: json-schema-2020-12 (not scored)",
        "the test server describes the tool of the older revision",
    ),
    server(
        "2026-07-28: http-custom-header-server-validation (not scored)",
        "no tool takes an argument from a header",
    ),
    client(
        "2025-11-25: elicitation-sep1034-client-defaults",
        "a form of a server is declined: what the server suggests is not an answer of the user",
    ),
    client(
        "2026-07-28: auth/scope-step-up",
        "a warning: the second authorization requests the missing scope alone and not with those that were granted",
    ),
    client(
        "2025-11-25: auth/client-credentials-jwt (not scored)",
        OAUTH,
    ),
    client(
        "2025-11-25: auth/client-credentials-basic (not scored)",
        OAUTH,
    ),
    client(
        "2025-11-25: auth/enterprise-managed-authorization (not scored)",
        OAUTH,
    ),
    client("2025-11-25: auth/dpop*", OAUTH),
    client("2025-11-25: auth/wif-jwt-bearer (not scored)", OAUTH),
    client(
        "2026-07-28: auth/client-credentials-jwt (not scored)",
        OAUTH,
    ),
    client(
        "2026-07-28: auth/client-credentials-basic (not scored)",
        OAUTH,
    ),
    client(
        "2026-07-28: auth/enterprise-managed-authorization (not scored)",
        OAUTH,
    ),
    client("2026-07-28: auth/dpop*", OAUTH),
    client("2026-07-28: auth/wif-jwt-bearer (not scored)", OAUTH),
    yaml(
        "inspector",
        "legacy: a skill with a SKILL.yaml is published",
    ),
    yaml("inspector", "auto: a skill with a SKILL.yaml is published"),
    yaml(
        "inspector",
        "modern: a skill with a SKILL.yaml is published",
    ),
    yaml(
        "python-mcp",
        "legacy: a skill with a SKILL.yaml is published",
    ),
    yaml("python-mcp", "auto: a skill with a SKILL.yaml is published"),
    yaml(
        "python-fastmcp",
        "legacy: a skill with a SKILL.yaml is published",
    ),
    yaml(
        "python-fastmcp",
        "auto: a skill with a SKILL.yaml is published",
    ),
    ExpectedFailure {
        judge: "codex",
        check: "what is not approved is refused with what to type",
        reason: "`codex exec` declines every question by itself, and the answer to a declined question does not name the command",
    },
];

const OAUTH: &str = "an optional extension of OAuth that the client does not have";

/// The extension publishes skills whose manifest is SKILL.md.
const fn yaml(judge: &'static str, check: &'static str) -> ExpectedFailure {
    ExpectedFailure {
        judge,
        check,
        reason: "a skill with a SKILL.yaml is not published by the extension; the tools give it out",
    }
}

const fn server(check: &'static str, reason: &'static str) -> ExpectedFailure {
    ExpectedFailure {
        judge: "conformance-server",
        check,
        reason,
    }
}

const fn client(check: &'static str, reason: &'static str) -> ExpectedFailure {
    ExpectedFailure {
        judge: "conformance-client",
        check,
        reason,
    }
}
