//! Deno: where it is, what it is started with, and the two files of ours that it needs.

use std::{fs, path::PathBuf, rc::Rc};

use metier_host::{
    backend::Process,
    world::{Deno, Scratch, WorldError},
};
use metier_js::{DENO_RUNNER, OPENCLAW_HOOKS};
use metier_model::text::shell_word;
use metier_sdk::wire::Initialize;

use super::{Opened, Opening};
use crate::{
    hooks::{self, NoDeno},
    live::ActivateError,
    premises::Premises,
    worker::Failed,
};

const IMPORT_MAP: &str = r#"{"imports": {"openclaw/hooks": "./hooks.ts"}}"#;

/// Where Deno is.
pub(super) fn find(premises: &Premises<'_>) -> Result<PathBuf, NoDeno> {
    let configured = premises.config.hooks.deno.as_deref();
    hooks::deno(configured, premises.home, premises.path)
}

/// Handlers in Deno, with what was granted and nothing else.
pub(super) fn open<'p>(
    opening: &Opening<'_, 'p>,
    program: PathBuf,
    initialize: &Initialize,
) -> Opened<'p> {
    let (files, deno) = written(opening, program).map_err(Failed::from)?;
    let worker = Rc::clone(&opening.active.worker);
    if opening.runtime.explains {
        let arguments = worker.deno_arguments(&deno).map_err(Failed::from)?;
        let words = std::iter::once(deno.program.as_os_str())
            .chain(arguments.iter().map(|word| word.as_os_str()))
            .map(|word| shown(&word.to_string_lossy()));
        opening.active.say(words.collect::<Vec<_>>().join(" "));
    }
    let starter = move || {
        // As long as it may be started again, its files are there.
        let _files = &files;
        worker.start_deno(&deno)
    };
    let patience = opening.runtime.patience.start;
    Process::open(starter, initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}

/// The files that Deno is started with, in a folder that no skill can write to.
fn written(opening: &Opening<'_, '_>, program: PathBuf) -> Result<(Scratch, Deno), WorldError> {
    let scratch = Scratch::kept(opening.runtime.premises.temporary)?;
    let folder = scratch.path().to_owned();
    let files = [
        ("deno.ts", DENO_RUNNER),
        ("hooks.ts", OPENCLAW_HOOKS),
        ("imports.json", IMPORT_MAP),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| WorldError::File { path, source })?;
    }
    let deno = Deno {
        program,
        runner: folder.join("deno.ts"),
        import_map: folder.join("imports.json"),
        folder,
    };
    Ok((scratch, deno))
}

/// A word of a command as somebody would type it.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,./:@%+*".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => shell_word(word).into_owned(),
    }
}
