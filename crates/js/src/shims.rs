//! Modules of ours that stand for those of Node, and the globals that come from them.
//!
//! Each is a file in `compat/`, compiled when something first asks for it: what a handler doesn't use costs nothing.

/// A module of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shim {
    /// As it is called in stack traces.
    pub(crate) name: &'static str,
    /// The other words for it.
    words: &'static [&'static str],
    /// Its text.
    pub(crate) text: &'static str,
}

impl Shim {
    /// Whether it has types in it.
    pub(crate) fn is_typescript(&self) -> bool {
        self.name == "metier" || self.name == "openclaw/hooks"
    }
}

macro_rules! shim {
    ($name:literal, $words:expr, $file:literal) => {
        Shim {
            name: $name,
            words: { &$words },
            text: include_str!(concat!("../compat/", $file)),
        }
    };
}

/// What handlers write to import the types of OpenClaw's hooks, which had other names before.
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

const SHIMS: &[Shim] = &[
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
    // What a skill is written with: the file that a program has beside it.
    shim!("metier", [], "../../../sdk/typescript/metier.ts"),
    shim!("openclaw/hooks", OPENCLAW_WORDS, "openclaw-hooks.ts"),
];

/// Globals, and the module that each is taken from when it is first looked at.
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

/// What handlers import by a plain word from Node: the modules that we have, and those whose functions throw.
pub fn node_words() -> impl Iterator<Item = &'static str> {
    let ours = SHIMS.iter().filter_map(|shim| {
        let plain = shim.name.strip_prefix("node:")?;
        Some(std::iter::once(plain).chain(shim.words.iter().copied()))
    });
    ours.flatten().chain(crate::absent::modules())
}

/// The module that a word means, without `node:` before it; or one by its name.
pub(crate) fn find(word: &str) -> Option<&'static Shim> {
    SHIMS
        .iter()
        .find(|shim| shim.name == word || shim.words.contains(&word))
}
