//! Our modules in place of those of Node, and the globals from them.
//!
//! Each is a file in `compat/`, compiled at its first use: unused ones cost nothing.

/// A module of `compat/`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModuleShim {
    /// The name in stack traces.
    pub(crate) name: &'static str,
    /// Its other specifiers.
    words: &'static [&'static str],
    /// Its source.
    pub(crate) text: &'static str,
}

impl ModuleShim {
    /// Whether it is TypeScript.
    pub(crate) fn is_typescript(&self) -> bool {
        self.name == "metier" || self.name == "openclaw/hooks"
    }
}

macro_rules! shim {
    ($name:literal, $words:expr, $file:literal) => {
        ModuleShim {
            name: $name,
            words: { &$words },
            text: include_str!(concat!("../compat/", $file)),
        }
    };
}

/// Specifiers for the types of OpenClaw's hooks, with earlier names.
pub const OPENCLAW_WORDS: [&str; 12] = [
    "openclaw",
    "openclaw/hooks",
    "openclaw/hooks/types",
    "openclaw/types",
    "openclaw/plugin-sdk",
    "openclaw/plugin-sdk/core",
    "openclaw/plugin-sdk/hooks",
    "openclaw/plugin-sdk/hook-runtime",
    "clawdbot",
    "clawdbot/hooks",
    "moltbot",
    "moltbot/hooks",
];

const SHIMS: &[ModuleShim] = &[
    shim!("node:fs", ["fs"], "fs.js"),
    shim!("node:fs/promises", ["fs/promises"], "fs-promises.js"),
    shim!("node:path", ["path", "path/posix"], "path.js"),
    shim!("node:os", ["os"], "os.js"),
    shim!("node:url", ["url"], "url.js"),
    shim!("node:util", ["util"], "util.js"),
    shim!("node:events", ["events"], "events.js"),
    shim!("node:process", ["process"], "process.js"),
    shim!("node:buffer", ["buffer"], "buffer.js"),
    shim!("node:assert", ["assert", "assert/strict"], "assert.js"),
    shim!("node:crypto", ["crypto"], "crypto.js"),
    shim!("node:timers", ["timers"], "timers.js"),
    shim!("node:perf_hooks", ["perf_hooks"], "perf-hooks.js"),
    shim!(
        "node:timers/promises",
        ["timers/promises"],
        "timers-promises.js"
    ),
    shim!("metier:console", ["console"], "console.js"),
    shim!("metier:web", [], "web.js"),
    shim!("metier:fetch", [], "fetch.js"),
    shim!("metier:engine", [], "engine.js"),
    // The SDK: the same file that a program has next to it.
    shim!("metier", [], "../../../sdk/typescript/metier.ts"),
    shim!("openclaw/hooks", OPENCLAW_WORDS, "openclaw-hooks.ts"),
];

/// Globals, and the modules that they are loaded from at their first use.
pub(crate) const GLOBALS: &[(&str, &str)] = &[
    ("console", "metier:console"),
    ("process", "node:process"),
    ("Buffer", "node:buffer"),
    ("URL", "node:url"),
    ("URLSearchParams", "node:url"),
    ("TextEncoder", "metier:web"),
    ("TextDecoder", "metier:web"),
    ("structuredClone", "metier:web"),
    ("AbortController", "metier:web"),
    ("AbortSignal", "metier:web"),
    ("crypto", "metier:web"),
    ("fetch", "metier:fetch"),
    ("Response", "metier:fetch"),
    ("Headers", "metier:fetch"),
    ("performance", "node:perf_hooks"),
    ("setTimeout", "node:timers"),
    ("clearTimeout", "node:timers"),
    ("setInterval", "node:timers"),
    ("clearInterval", "node:timers"),
    ("setImmediate", "node:timers"),
    ("clearImmediate", "node:timers"),
];

/// Modules of Node that can be imported without `node:`: ours, and those whose functions throw.
pub fn node_words() -> impl Iterator<Item = &'static str> {
    let ours = SHIMS.iter().filter_map(|shim| {
        let plain = shim.name.strip_prefix("node:")?;
        Some(std::iter::once(plain).chain(shim.words.iter().copied()))
    });
    ours.flatten().chain(crate::absent::modules())
}

/// The module for a specifier without `node:`, or for a name.
pub(crate) fn find(word: &str) -> Option<&'static ModuleShim> {
    SHIMS
        .iter()
        .find(|shim| shim.name == word || shim.words.contains(&word))
}
