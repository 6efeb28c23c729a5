//! JavaScript and TypeScript, parsed with `oxc` and lowered to the common form.
//!
//! `oxc` returns an empty tree after an error from which it cannot recover, and one such line must not hide a file: the text is parsed as a
//! module, as a script and as TypeScript, then without the lines that cannot be parsed, and finally its calls are taken from the
//! bare tokens (see [`salvage`]). It parses by recursion, so it gets a stack for as many levels as the text has signs that could nest.
//!
//! ```text
//! const {exec: run} = require("child_" + "process"); run(x)   →   …; do child_process.exec(x);
//! ```

#[cfg(feature = "scan-code")]
mod parsed;
mod salvage;

use crate::form::LoweredProgram;
#[cfg(feature = "scan-code")]
pub(super) use parsed::javascript;

/// The language variant of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ScriptDialect {
    /// `.js`, `.mjs`, `.cjs`, `.jsx`.
    #[default]
    JavaScript,
    /// `.ts`, `.mts`, `.cts`.
    TypeScript,
    /// `.tsx`.
    Tsx,
}

/// The calls of JavaScript or TypeScript code, from its tokens alone: for builds without a parser.
#[must_use]
pub(super) fn unparsed(text: &str) -> LoweredProgram {
    LoweredProgram {
        unparsed: !text.trim().is_empty(),
        ..salvage::salvage(text, 0)
    }
}
