//! The agents whose folders of skills are known, below the home directory and in a project.

/// An agent and its folders of skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// The name in lists.
    pub name: &'static str,
    /// Names that other installers use for it, and agents with the same folders.
    pub aliases: &'static [&'static str],
    /// Its folder below the home directory.
    pub user: Option<&'static str>,
    /// Its folder in a project.
    pub project: Option<&'static str>,
}

/// The folder in a project that many agents share.
const SHARED: &str = ".agents/skills";

const fn agent(name: &'static str, user: &'static str, project: &'static str) -> KnownAgent {
    KnownAgent {
        name,
        aliases: &[],
        user: Some(user),
        project: Some(project),
    }
}

/// An agent with one path for both.
const fn same(name: &'static str, folder: &'static str) -> KnownAgent {
    agent(name, folder, folder)
}

/// An agent that reads the shared folder in a project.
const fn sharing(name: &'static str, user: &'static str) -> KnownAgent {
    agent(name, user, SHARED)
}

impl KnownAgent {
    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn only_user(mut self) -> Self {
        self.project = None;
        self
    }
}

/// The agents whose folders below the home directory are searched last, with rising precedence.
pub(crate) const PREFERRED: &[KnownAgent] = &[
    same("agents", SHARED).alias(&[
        "cline",
        "dexto",
        "kimi-code-cli",
        "loaf",
        "sarvam-code",
        "warp",
        "zed",
    ]),
    same("claude-code", ".claude/skills").alias(&["claude"]),
    agent("openclaw", ".openclaw/skills", "skills"),
    same("wundr", ".wundr/skills").only_user(),
    same("omniagent", ".omniagent/skills").only_user(),
    same("rubichan", ".config/rubichan/skills").only_user(),
];

/// All others, with rising precedence.
pub(crate) const OTHERS: &[KnownAgent] = &[
    sharing("agents", ".config/agents/skills").alias(&["amp", "replit", "universal"]),
    sharing("codex", ".codex/skills"),
    sharing("cursor", ".cursor/skills"),
    sharing("gemini", ".gemini/skills").alias(&["gemini-cli"]),
    sharing("antigravity", ".gemini/antigravity/skills"),
    sharing("antigravity-cli", ".gemini/antigravity-cli/skills"),
    sharing("copilot", ".copilot/skills").alias(&["github-copilot"]),
    sharing("opencode", ".config/opencode/skills"),
    sharing("factory", ".factory/skills").alias(&["droid"]),
    sharing("kilo", ".kilo/skills"),
    sharing("deepagents", ".deepagents/agent/skills"),
    sharing("firebender", ".firebender/skills"),
    agent("goose", ".config/goose/skills", ".goose/skills"),
    agent("crush", ".config/crush/skills", ".crush/skills"),
    agent("devin", ".config/devin/skills", ".devin/skills"),
    agent("cortex", ".snowflake/cortex/skills", ".cortex/skills"),
    agent("windsurf", ".codeium/windsurf/skills", ".windsurf/skills"),
    agent("pi", ".pi/agent/skills", ".pi/skills"),
    same("vibe", ".vibe/skills").alias(&["mistral-vibe"]),
    agent("kimchi", ".config/kimchi/harness/skills", ".kimchi/skills"),
    same("posit", ".posit/assistant/skills").alias(&["posit-assistant"]),
    same("tabnine", ".tabnine/agent/skills").alias(&["tabnine-cli"]),
    agent("astrbot", ".astrbot/data/skills", "data/skills"),
    same("trae", ".trae/skills"),
    agent("trae-cn", ".trae-cn/skills", ".trae/skills"),
    same("qoder", ".qoder/skills"),
    agent("qoder-cn", ".qoder-cn/skills", ".qoder/skills"),
    same("zencoder", ".zencoder/skills").alias(&["zenflow"]),
    same("inferencesh", ".inferencesh/skills").alias(&["inference-sh"]),
    same("codeartsdoer", ".codeartsdoer/skills").alias(&["codearts-agent"]),
    same("commandcode", ".commandcode/skills").alias(&["command-code"]),
    same("minimax", ".minimax/skills").alias(&["minimax-code"]),
    same("forge", ".forge/skills").alias(&["forgecode"]),
    same("iflow", ".iflow/skills").alias(&["iflow-cli"]),
    same("kiro", ".kiro/skills").alias(&["kiro-cli"]),
    same("autohand", ".autohand/skills").alias(&["autohand-code"]),
    same("aider-desk", ".aider-desk/skills"),
    same("augment", ".augment/skills"),
    same("bob", ".bob/skills"),
    same("codebuddy", ".codebuddy/skills"),
    same("codemaker", ".codemaker/skills"),
    same("codestudio", ".codestudio/skills"),
    same("codewhale", ".codewhale/skills"),
    same("continue", ".continue/skills"),
    same("fx", ".fx/skills"),
    same("grok", ".grok/skills"),
    same("hermes", ".hermes/skills"),
    same("jazz", ".jazz/skills"),
    same("junie", ".junie/skills"),
    same("kode", ".kode/skills"),
    same("lingma", ".lingma/skills"),
    same("mcpjam", ".mcpjam/skills"),
    same("moxby", ".moxby/skills"),
    same("mux", ".mux/skills"),
    same("openhands", ".openhands/skills"),
    same("ona", ".ona/skills"),
    same("qwen", ".qwen/skills"),
    same("reasonix", ".reasonix/skills"),
    same("rovodev", ".rovodev/skills"),
    same("roo", ".roo/skills"),
    same("terramind", ".terramind/skills"),
    same("tinycloud", ".tinycloud/skills"),
    same("zcode", ".zcode/skills"),
    same("neovate", ".neovate/skills"),
    same("pochi", ".pochi/skills"),
    same("adal", ".adal/skills"),
];

/// Agents that have a folder in projects only.
const IN_PROJECTS: &[KnownAgent] = &[
    KnownAgent {
        name: "agent",
        aliases: &[],
        user: None,
        project: Some(".agent/skills"),
    },
    KnownAgent {
        name: "eve",
        aliases: &[],
        user: None,
        project: Some("agent/skills"),
    },
];

impl KnownAgent {
    /// Every agent, in the order of the tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        PREFERRED.iter().chain(OTHERS).chain(IN_PROJECTS)
    }

    /// The agent with a given name or alias, or the agent of a folder as written in the tables.
    #[must_use]
    pub fn find(word: &str) -> Option<&'static Self> {
        let folder = word.trim_end_matches('/');
        Self::all()
            .find(|agent| agent.name == word)
            .or_else(|| Self::all().find(|agent| agent.aliases.contains(&word)))
            .or_else(|| {
                Self::all()
                    .find(|agent| agent.project == Some(folder) || agent.user == Some(folder))
            })
    }
}

/// Every agent whose folders are known, by name, sorted.
#[must_use]
pub fn known_agents() -> Vec<&'static str> {
    let tables = PREFERRED.iter().chain(OTHERS).map(|agent| agent.name);
    let mut agents: Vec<&str> = tables.chain(["metier"]).collect();
    agents.sort_unstable();
    agents.dedup();
    agents
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_agent_is_found_by_every_name_it_has() {
        let found = |word: &str| KnownAgent::find(word).map(|agent| (agent.user, agent.project));
        for (word, user, project) in [
            (
                "claude-code",
                Some(".claude/skills"),
                Some(".claude/skills"),
            ),
            ("codex", Some(".codex/skills"), Some(".agents/skills")),
            ("gemini-cli", Some(".gemini/skills"), Some(".agents/skills")),
            ("zed", Some(".agents/skills"), Some(".agents/skills")),
            ("amp", Some(".config/agents/skills"), Some(".agents/skills")),
            (".agent/skills", None, Some(".agent/skills")),
            (
                ".cursor/skills/",
                Some(".cursor/skills"),
                Some(".agents/skills"),
            ),
        ] {
            assert_eq!(found(word), Some((user, project)), "{word}");
        }
        assert_eq!(found("claude-cod"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn no_two_agents_share_a_name() {
        let mut names = BTreeSet::new();
        let shared = KnownAgent::all().filter(|agent| agent.name != "agents");
        for name in shared.flat_map(|agent| agent.aliases.iter().chain([&agent.name])) {
            assert!(names.insert(*name), "{name}");
        }
    }

    #[test]
    fn folders_are_relative_and_end_in_skills() {
        let folders = KnownAgent::all().flat_map(|agent| [agent.user, agent.project]);
        for folder in folders.flatten() {
            let is_plain = !folder.starts_with('/') && !folder.contains("..");
            let ends = folder == "skills" || folder.ends_with("/skills");
            assert!(is_plain && ends, "{folder}");
        }
    }
}
