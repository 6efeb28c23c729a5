//! The table of protected places in every folder: files and folders whose content makes other programs run something, or instructs
//! an agent.
//!
//! Each block names the programs whose documentation states that they read these files by themselves. A file is not in the table
//! only because it is important: `package.json`, `Makefile`, `flake.nix`, `.env`, `CONVENTIONS.md` and other sources are what
//! people ask skills to edit, and they take effect when a person builds the project or names them.

/// Where the names of a row apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// The name is protected in every folder.
    AnyFolder,
    /// At the top of a repository, in the folders from the working directory up to there, and in the home.
    Top,
    /// The path is below the home folder.
    Home,
    /// In a folder `.git`. Only `git:write` opens one; `AnyFolder` has `.git` as a whole.
    GitFolder,
}

/// The names of a repository's folder. A folder that contains one of these is the top of a repository.
pub(super) const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".sl"];

/// The entries that make git treat a folder as a repository, under any name (gitrepository-layout(5)).
pub(super) const BARE_REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

/// Beside a `HEAD`, the files that make git treat a folder as a repository whose settings, hooks and objects are elsewhere
/// (gitrepository-layout(5)).
pub(super) const BESIDE_HEAD: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// Names that are protected in every folder.
pub(super) const IN_ANY_FOLDER: &[&str] = &[
    // version control: hooks, settings that name programs, and pointers to where those are found
    ".git",           // gitrepository-layout(5), githooks(5), git-config(1)
    ".gitmodules",    // gitmodules(5)
    ".gitconfig",     // git-config(1)
    ".lfsconfig",     // git-lfs-config(5)
    ".githooks",      // the usual value of core.hooksPath
    ".hg",            // hgrc(5): .hg/hgrc has hooks, aliases and extensions
    ".hgsub",         // hg help subrepos
    ".sl",            // Sapling: .sl/config, as hgrc
    ".jj",            // jj config: .jj/repo/config.toml names editors, diff and signing programs
    ".jjconfig.toml", // jj config
    ".svn",
    ".bzr",             // brz help configuration: branch.conf
    "_darcs",           // darcs: _darcs/prefs/defaults has prehook and posthook
    ".pijul",           // pijul: .pijul/config has hooks
    ".fossil-settings", // fossil settings
    // metier, and the format AGENT.md that it shares with others
    ".metier",
    "metier.lock", // what `metier install` and `sync` fetch, and which bytes are used
    "AGENT.md",
    "AGENTS.md",
    "AGENTS.local.md",
    "AGENTS.override.md", // Codex
    // Claude Code: settings, memory, sub-agents, plugins (code.claude.com/docs)
    ".mcp.json",
    "mcp.json",
    ".claude.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/CLAUDE.md",
    ".claude/agent-memory",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/output-styles",
    ".claude/plugins",
    ".claude/rules",
    ".claude/skills",
    ".claude/workflows",
    ".claude-plugin",
    "CLAUDE.md",
    "CLAUDE.local.md",
    // other agents: instructions, settings and servers that each one's documentation names
    ".agent",
    ".agents",
    ".aider.conf.yml",
    ".aider.model.settings.yml",
    ".amazonq",
    ".amp",
    ".augment",
    ".augment-guidelines",
    ".cline",
    ".clinerules",
    ".codebuddy",
    "CODEBUDDY.md",
    ".codeium",
    ".codex",
    ".continue",
    ".continuerules",
    ".crush",
    ".crush.json",
    "crush.json",
    "CRUSH.md",
    "CRUSH.local.md",
    ".cursor",
    ".cursorrules",
    ".deepagents",
    ".devin",
    ".factory",
    ".firebender",
    ".gemini",
    "GEMINI.md",
    ".goose",
    ".goosehints",
    ".gptme",
    "gptme.toml",
    ".idx",
    ".iflow",
    "IFLOW.md",
    ".junie",
    ".kilo",
    ".kilocode",
    ".kilocoderules",
    ".kiro",
    ".omniagent",
    ".openclaw",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".openhands",
    ".openhands_instructions",
    ".pi",
    ".qoder",
    ".qoder-cn",
    ".qodo",
    ".qwen",
    "QWEN.md",
    "replit.md",
    ".roo",
    ".roomodes",
    ".roorules",
    ".ruler",
    ".rules", // Zed
    ".tabnine",
    ".trae",
    ".trae-cn",
    ".vibe",
    ".warp",
    "WARP.md",
    ".windsurf",
    ".windsurfrules",
    ".wundr",
    // agents of which only the folder of skills is known (the table of `npx skills`)
    ".adal/skills",
    ".aider-desk/skills",
    ".astrbot/data/skills",
    ".autohand/skills",
    ".bob/skills",
    ".codeartsdoer/skills",
    ".codemaker/skills",
    ".codestudio/skills",
    ".codewhale/skills",
    ".commandcode/skills",
    ".copilot/skills",
    ".cortex/skills",
    ".forge/skills",
    ".fx/skills",
    ".grok/skills",
    ".hermes/skills",
    ".inferencesh/skills",
    ".jazz/skills",
    ".kimchi/skills",
    ".kode/skills",
    ".lingma/skills",
    ".mcpjam/skills",
    ".minimax/skills",
    ".moxby/skills",
    ".mux/skills",
    ".neovate/skills",
    ".ona/skills",
    ".pochi/skills",
    ".posit/assistant/skills",
    ".reasonix/skills",
    ".rovodev/skills",
    ".terramind/skills",
    ".tinycloud/skills",
    ".zcode/skills",
    ".zencoder/skills",
    // files that a forge runs after a push, and that its agents read (each one's documentation of pipelines)
    ".github/actions",
    ".github/agents",
    ".github/chatmodes",
    ".github/copilot-instructions.md",
    ".github/hooks",
    ".github/instructions",
    ".github/prompts",
    ".github/skills",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".gitlab/duo",
    ".gitea/workflows",
    ".forgejo/workflows",
    ".circleci",
    ".travis.yml",
    ".buildkite",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    ".cirrus.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    // editors and debuggers: tasks, local settings that are code
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".devcontainer.json",
    ".gitpod.yml",
    ".replit",
    ".exrc",
    ".vimrc",
    "_vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lvimrc",
    ".ycm_extra_conf.py",
    ".emacs",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    // shells, and files that run when a folder is entered (direnv, autoenv, mise, asdf, rustup)
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xonshrc",
    ".inputrc",
    ".tmux.conf",
    ".screenrc",
    ".envrc",
    ".autoenv",
    ".autoenv.zsh",
    ".mise",
    ".mise.toml",
    ".mise.local.toml",
    "mise.toml",
    "mise.local.toml",
    "mise/config.toml",
    ".config/mise",
    ".config/mise.toml",
    ".rtx.toml",
    ".tool-versions", // asdf: `path:` names a folder of programs
    "rust-toolchain", // rustup: `path` names a folder of programs
    "rust-toolchain.toml",
    // hooks of git by other names (husky, lefthook, pre-commit, overcommit, captainhook)
    ".husky",
    ".huskyrc",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    "lefthook-local.toml",
    "lefthook-local.json",
    ".lefthook",
    ".lefthook-local",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    ".lefthook-local.yml",
    ".lefthook-local.yaml",
    ".lefthook-local.toml",
    ".lefthook-local.json",
    ".config/lefthook.yml",
    ".config/lefthook.yaml",
    ".config/lefthook.toml",
    ".pre-commit-config.yaml",
    ".overcommit.yml",
    "captainhook.json",
    // builders and interpreters: settings that name programs, besides the sources of the project
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".yarn/plugins",
    ".yarn/releases",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".bazelrc",
    ".bazeliskrc",
    ".buckconfig",
    ".mvn",
    ".bundle/config",
    ".pythonrc",
    ".pythonrc.py",
    ".pystartup",
    ".Rprofile",
    ".Renviron",
    ".irbrc",
    ".pryrc",
    ".sqliterc",
    ".psqlrc",
];

/// At the top of a repository, in the folders from the working directory up to there, and in the home.
pub(super) const AT_TOP: &[&str] = &[
    // metier, OpenClaw and Claude plugins
    "skills",
    ".skills",
    // other agents (the table of `npx skills`)
    "agent/skills",
    "data/skills",
    // the workspace of OpenClaw (docs.openclaw.ai, agent workspace)
    "BOOTSTRAP.md",
    "HEARTBEAT.md",
    "IDENTITY.md",
    "MEMORY.md",
    "SOUL.md",
    "TOOLS.md",
    "USER.md",
];

/// In a folder `.git`, for a child that may change the repository (`git:write`). The other files are objects, refs, their logs, the index
/// and messages: data, which git only reads. The list comes from gitrepository-layout(5), githooks(5), gitattributes(5), git-worktree(1)
/// and, for the files of unfinished operations, from the files that git's own sequencer reads when it continues.
pub(super) const IN_GIT_FOLDER: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    // the sources of configuration and hooks
    "commondir",
    "gitdir",
    "modules",
    "worktrees",
    // settings of Sapling and git-branchless, which name programs
    "sl/config",
    "branchless/config",
    // attributes choose filters; alternates and remotes choose the source of objects
    "info",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "branches",
    "remotes",
    // unfinished operations: lists of commands, and the options with which they continue
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_RUN",
];

/// The names of hooks (githooks(5)), for folders of hooks that contain other files too.
pub(super) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];

#[cfg(test)]
mod tests {
    use super::super::protected_home::{AT_HOME, ON_MACHINE};
    use super::*;

    #[test]
    fn no_row_is_there_twice() {
        for table in [IN_ANY_FOLDER, AT_TOP, AT_HOME, ON_MACHINE, IN_GIT_FOLDER] {
            let mut sorted = table.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), table.len());
        }
    }

    #[test]
    fn no_row_is_inside_another_one() {
        for table in [IN_ANY_FOLDER, AT_HOME] {
            for row in table {
                for other in table {
                    assert!(
                        !row.starts_with(&format!("{other}/")),
                        "{row} is in {other}"
                    );
                }
            }
        }
    }
}
