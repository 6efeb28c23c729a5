//! The entrypoint of a skill's code.

use metier_model::Backend;

/// Why there is no file to run.
pub(crate) struct NoEntrypoint {
    pub(crate) message: String,
    /// Whether it is the output of a compiler.
    pub(crate) is_unbuilt: bool,
}

/// The file that a backend runs, or the reason why there is none.
pub(crate) fn entrypoint_among(
    written: Option<&str>,
    backend: Backend,
    has: impl Fn(&str) -> bool,
) -> Result<String, NoEntrypoint> {
    let path = match (written, backend) {
        (Some(path), _) => path.strip_prefix("./").unwrap_or(path),
        (None, Backend::Starlark) => "skill.star",
        (None, Backend::Wasm) => "skill.wasm",
        (None, Backend::Js) => return Err(unnamed("main.ts")),
        (None, Backend::Native) => return Err(unnamed("lib/skill.so")),
        (None, Backend::Process) => return Err(unnamed("main.py")),
    };
    if has(path) {
        return Ok(path.to_owned());
    }
    // A missing compiler output was probably not built.
    let is_unbuilt = match backend {
        Backend::Wasm | Backend::Native => true,
        Backend::Process => path.starts_with("bin/"),
        Backend::Starlark | Backend::Js => false,
    };
    let advice = match is_unbuilt {
        true if has("README.md") => "; build it first (see its README.md)",
        true => "; build it first",
        false => "",
    };
    Err(NoEntrypoint {
        message: format!("its entrypoint `{path}` is not in its folder{advice}"),
        is_unbuilt,
    })
}

fn unnamed(such_as: &str) -> NoEntrypoint {
    NoEntrypoint {
        message: format!(
            "it does not name the file to run: add `implementation: {{entrypoint: {such_as}}}` to SKILL.yaml"
        ),
        is_unbuilt: false,
    }
}
