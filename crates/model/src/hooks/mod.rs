//! Hooks of other agents in a skill: OpenClaw handlers and Claude commands.
//!
//! **Problem.** Thousands of skills have a `hooks/` folder or a `hooks:` field that was written for another program
//! with other events.
//!
//! **Decision.** They are parsed into one list, and each of their events is mapped to one of the nine phases or
//! reported as unsupported: [`openclaw::EVENTS`] and [`claude::EVENTS`] are the whole mapping. A hook that can't be
//! parsed is a diagnostic; the skill itself stays usable.
//!
//! ```text
//! HOOK.md        events: [agent:bootstrap]        handler.ts   → before_prompt_build
//! SKILL.md       hooks: {PreToolUse: […]}         a command    → before_tool_call
//! ```

pub mod claude;
pub mod openclaw;
pub mod plugin;

use metier_sdk::HookPhase;

use crate::{
    DiagnosticSeverity, Strictness,
    diagnostic::{Diagnostic, DiagnosticCode},
    read,
    report::{DiagnosticCollector, Say},
};

pub use claude::{CommandHook, Matcher};
pub use openclaw::OpenClawHandler;

/// The folder that contains hooks.
const FOLDER: &str = "hooks/";
/// Claude commands in the format of a plugin.
const CLAUDE_FILE: &str = "hooks/hooks.json";
/// The file that describes an OpenClaw handler.
const HOOK_MD: &str = "HOOK.md";

/// A file of a skill.
#[derive(Clone, Copy, Debug)]
pub struct HookFile<'a> {
    /// The path below the skill's folder.
    pub path: &'a str,
    /// Its content, if [`wants_text`] requires it and it can be read.
    pub text: Option<&'a str>,
}

/// All hooks of a skill.
#[derive(Clone, Debug, Default)]
pub struct SkillHooks {
    /// OpenClaw handlers, in the order in which they are called.
    pub handlers: Vec<OpenClawHandler>,
    /// Claude commands, in the order in which they are written.
    pub commands: Vec<CommandHook>,
    /// Problems of the hooks; never errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl SkillHooks {
    /// Whether there are no hooks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handlers.is_empty() && self.commands.is_empty()
    }

    /// The phases at which one of them is called, each once.
    #[must_use]
    pub fn phases(&self) -> Vec<HookPhase> {
        let asked = |phase: &HookPhase| {
            let mut handlers = self.handlers.iter();
            handlers.any(|handler| handler.phases().contains(phase))
                || self.commands.iter().any(|hook| hook.phase == *phase)
        };
        HookPhase::ALL.into_iter().filter(asked).collect()
    }
}

/// Whether the content of a file is needed to determine the hooks.
#[must_use]
pub fn wants_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_manifest = !path.contains('/')
        && (path.eq_ignore_ascii_case("SKILL.md") || path.eq_ignore_ascii_case("SKILL.yaml"));
    is_manifest || name == HOOK_MD || path == CLAUDE_FILE || path == plugin::MANIFEST
}

/// The names below a skill's folder that can contain hooks, besides its manifest.
pub const PLACES: [&str; 3] = ["hooks", HOOK_MD, plugin::MANIFEST];

/// Whether the text of a manifest can have a field `hooks`: spelt literally, or with an escape.
#[must_use]
pub fn may_be_named(manifest: &[u8]) -> bool {
    memchr::memchr(b'\\', manifest).is_some() || memchr::memmem::find(manifest, b"hooks").is_some()
}

/// Whether a file with this name can contain hooks.
#[must_use]
pub fn may_hook(path: &str) -> bool {
    path.starts_with(FOLDER) || path == HOOK_MD || path == plugin::MANIFEST
}

/// Finds the hooks among the files of a skill.
#[must_use]
pub fn discover(files: &[HookFile<'_>]) -> SkillHooks {
    let mut hooks = SkillHooks::default();
    openclaw::read(files, &mut hooks);
    let named = |name: &str| {
        let mut files = files.iter();
        files.find(|file| file.path.eq_ignore_ascii_case(name))
    };
    // If there is a SKILL.yaml, it is the manifest and SKILL.md the body.
    let manifest = named("SKILL.yaml").or_else(|| named("SKILL.md"));
    if let Some((file, text)) = manifest.and_then(|file| Some((file, file.text?))) {
        let mut report = DiagnosticCollector::new(Strictness::Lenient, file.path, text);
        if let Some(pairs) = read::fields(file.path, text) {
            claude::read_field(&pairs, &mut report, &mut hooks.commands);
        }
        hooks.diagnostics.append(&mut report.list);
    }
    hooks.read_commands(files);
    hooks
        .diagnostics
        .iter_mut()
        .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error)
        .for_each(soften);
    hooks
}

impl SkillHooks {
    /// Reads the files with Claude commands: the default one, and those that the manifest of a plugin names.
    fn read_commands(&mut self, files: &[HookFile<'_>]) {
        let at = |path: &str| files.iter().find(|file| file.path == path);
        let manifest = at(plugin::MANIFEST).and_then(|file| file.text);
        let mut paths = vec![CLAUDE_FILE.to_owned()];
        if let Some(text) = manifest {
            let mut report = DiagnosticCollector::new(Strictness::Lenient, plugin::MANIFEST, text);
            plugin::read_inline(text, &mut report, &mut self.commands);
            for path in plugin::named_files(text) {
                if at(&path).is_none() {
                    report.add(DiagnosticCode::HookForm, 0, || {
                        Say::new(format!(
                            "the file `{}` does not exist",
                            crate::text::visible(&path)
                        ))
                    });
                } else if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            self.diagnostics.append(&mut report.list);
        }
        for file in paths.iter().filter_map(|path| at(path)) {
            let mut report = DiagnosticCollector::new(
                Strictness::Lenient,
                file.path,
                file.text.unwrap_or_default(),
            );
            match file.text {
                Some(text) => claude::read_file(text, &mut report, &mut self.commands),
                None => report.add(DiagnosticCode::HookForm, 0, || {
                    Say::new("the file can't be read or is too large; its hooks are not run")
                }),
            }
            self.diagnostics.append(&mut report.list);
        }
    }
}

/// An invalid hook does not make the skill invalid.
fn soften(diagnostic: &mut Diagnostic) {
    diagnostic.severity = DiagnosticSeverity::Warning;
    diagnostic.code = DiagnosticCode::HookForm;
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
