//! Deno: its path, its arguments, and our files that it needs.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use metier_host::{
    backend::ChildProcess,
    execution::{ActExecutor, ActResult, Deno, ExecutionError, ScratchFolder},
};
use metier_js::{DENO_FS, DENO_OS, DENO_RUNNER, OPENCLAW_HOOKS, OPENCLAW_WORDS, node_words};
use metier_model::{Permission, Scope, text::shell_word};
use metier_policy::{Act, variables::is_reserved};
use metier_sdk::wire::Initialize;
use serde_json::json;

use super::{BackendOpening, OpenedBackend};
use crate::{
    granted_skill::ActError,
    hooks::{self, NoDeno},
    live::ActivateError,
    skill_environment::SkillEnvironment,
};

/// The import map: modules of Node also without `node:`, as in Node, and the types of OpenClaw.
fn import_map() -> String {
    let node = node_words().map(|word| (word, format!("node:{word}")));
    let openclaw = OPENCLAW_WORDS.map(|word| (word, "./hooks.ts".to_owned()));
    let own = [
        ("fs", "./fs.js"),
        ("node:fs", "./fs.js"),
        ("os", "./os.js"),
        ("node:os", "./os.js"),
    ];
    let own = own.map(|(word, file)| (word, file.to_owned()));
    let imports: BTreeMap<&str, String> = node.chain(openclaw).chain(own).collect();
    // Our own files import them unchanged.
    let ours = json!({ "node:fs": "node:fs", "node:os": "node:os" });
    json!({ "imports": imports, "scopes": { "./": ours } }).to_string()
}

/// Path of the Deno program.
pub(super) fn find(environment: &SkillEnvironment) -> Result<PathBuf, NoDeno> {
    let configured = environment.config.hooks.deno.as_deref();
    hooks::deno(
        configured,
        environment.host.home.as_deref(),
        environment.host.path.as_deref(),
    )
}

/// Handlers in Deno, with the granted permissions only.
pub(super) fn open(
    opening: &BackendOpening<'_>,
    program: PathBuf,
    initialize: &Initialize,
) -> OpenedBackend {
    let (files, deno) = written(opening, program).map_err(ActError::from)?;
    let initialize = Initialize {
        variables: variables(opening)?,
        ..initialize.clone()
    };
    let worker = Arc::clone(&opening.active.worker);
    if opening.runtime.explains {
        let arguments = worker
            .world()
            .deno_arguments(&deno)
            .map_err(ActError::from)?;
        let words = std::iter::once(deno.program.as_os_str())
            .chain(arguments.iter().map(|word| word.as_os_str()))
            .map(|word| shown(&word.to_string_lossy()));
        opening.active.say(words.collect::<Vec<_>>().join(" "));
    }
    let starter = move || {
        // Its files are kept as long as it can be restarted.
        let _files = &files;
        worker.start("deno", &deno, ActExecutor::start_deno)
    };
    let patience = opening.runtime.patience.start;
    ChildProcess::open(starter, &initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}

/// The granted variables that its process can't have, since programs have their own: each is read by an act, like in the
/// embedded engine.
fn variables(opening: &BackendOpening<'_>) -> Result<BTreeMap<String, String>, ActError> {
    let worker = &opening.active.worker;
    let mut found = BTreeMap::new();
    for want in worker.grant().allowed() {
        let Scope::Variable(name) = &want.scope else {
            continue;
        };
        if want.permission != Permission::EnvRead || !is_reserved(name) {
            continue;
        }
        match worker.act(&Act::ReadVariable(name.clone())) {
            Ok(ActResult::Value(Some(value))) => {
                let value = value.to_string_lossy().into_owned();
                found.insert(name.to_string(), value);
            }
            Err(ActError::Store(error)) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(found)
}

/// The files that Deno is started with, in a folder that no skill can write to.
fn written(
    opening: &BackendOpening<'_>,
    program: PathBuf,
) -> Result<(ScratchFolder, Deno), ExecutionError> {
    let scratch = ScratchFolder::kept(&opening.runtime.environment.host.temporary)?;
    let folder = scratch.path().to_owned();
    let files = [
        ("deno.ts", DENO_RUNNER),
        ("hooks.ts", OPENCLAW_HOOKS),
        ("fs.js", DENO_FS),
        ("os.js", DENO_OS),
        ("imports.json", &import_map()),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| ExecutionError::File { path, source })?;
    }
    let deno = Deno {
        program,
        runner: folder.join("deno.ts"),
        import_map: folder.join("imports.json"),
        folder,
    };
    Ok((scratch, deno))
}

/// A word of a command, quoted as it would be typed.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,./:@%+*".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => shell_word(word).into_owned(),
    }
}
