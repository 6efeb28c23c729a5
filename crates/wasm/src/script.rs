//! `.wasm` files that are run as programs: `metier exec SKILL tool.wasm`.
//!
//! **Problem.** A program of WASI is a script of a skill like any other, and must not reach more or less than a script in Python does.
//! **Decision.** It runs in a child in the same sandbox: our own binary, as `__wasm-run`. The child compiles it, since compiling is
//! part of what its timeout covers. WASI opens the folders that the caller names; the sandbox decides which of them can be read and
//! written, so there is no second set of rules here. There is no fuel and no meter either: the limits are those of the child.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use wasmtime::{Config, Engine, Linker, Module, Store, component};
use wasmtime_wasi::{
    FsPerms, I32Exit, ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView,
    p1::{self, WasiP1Ctx},
    p2::{self, bindings::sync::Command},
};

use crate::{
    carrier::command::START,
    engine::refused,
    error::{WasmCallError, WasmLoadError},
    examine::{WasmKind, examine},
    limits::WasmLimits,
    wasi_roots::PreopenedFolder,
};

/// The argument that makes a process of our binary run a script.
pub const ROLE: &str = "__wasm-run";
/// The arguments before a folder that is readable, and before one that is also writable.
const READ: &str = "--read";
const WRITE: &str = "--write";
/// The exit code of a program that trapped: that of a native program that aborts.
const TRAPPED: u8 = 134;

/// A script with its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptModule {
    /// The file.
    pub file: PathBuf,
    /// The folders that it can open. One that the sandbox does not open is left out.
    pub places: Vec<PreopenedFolder>,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
}

/// Why a script did not finish.
#[derive(Debug, thiserror::Error)]
enum ScriptError {
    #[error("usage: {ROLE} [{READ} FOLDER NAME]… [{WRITE} FOLDER NAME]… FILE [ARGUMENT]…")]
    Usage,
    #[error("{} can't be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} {refused}", path.display())]
    Refused {
        path: PathBuf,
        refused: WasmLoadError,
    },
    #[error("{} {trouble}", path.display())]
    Stopped {
        path: PathBuf,
        trouble: Box<WasmCallError>,
    },
}

/// Runs the script that these arguments name, in this process, which must be in a sandbox already.
#[must_use]
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let ended = ScriptModule::parse(arguments).and_then(|script| script.run());
    match ended {
        // As the system does: only the last byte of an exit code is kept.
        Ok(code) => ExitCode::from(code.to_le_bytes()[0]),
        Err(error) => {
            writeln!(io::stderr(), "error: {error}").ok();
            ExitCode::from(match error {
                ScriptError::Stopped { .. } => TRAPPED,
                _ => 1,
            })
        }
    }
}

impl ScriptModule {
    /// The arguments that start it, for a process of our binary.
    #[must_use]
    pub fn command(self) -> Vec<OsString> {
        let mut command = vec![ROLE.into()];
        for PreopenedFolder {
            folder,
            name,
            write,
            ..
        } in self.places
        {
            let word = if write { WRITE } else { READ };
            command.extend([word.into(), folder.into(), name.into()]);
        }
        command.push(self.file.into());
        command.extend(self.arguments);
        command
    }

    /// Parses the output of [`ScriptModule::command`], without its first word.
    fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Self, ScriptError> {
        let mut arguments = arguments;
        let mut places = Vec::new();
        loop {
            let word = arguments.next().ok_or(ScriptError::Usage)?;
            let write = word == WRITE;
            if word != READ && !write {
                return Ok(Self {
                    file: word.into(),
                    places,
                    arguments: arguments.collect(),
                });
            }
            let (folder, name) = (arguments.next(), arguments.next());
            let name = name.and_then(|name| name.into_string().ok());
            let (Some(folder), Some(name)) = (folder, name) else {
                return Err(ScriptError::Usage);
            };
            let folder = folder.into();
            // The sandbox around this process compares.
            places.push(PreopenedFolder {
                folder,
                name,
                write,
                identity: None,
            });
        }
    }

    /// Runs it to its end: its exit code.
    fn run(&self) -> Result<i32, ScriptError> {
        let bytes = read(&self.file)?;
        let ended = self.compile_and_run(&bytes);
        let ended = ended.map_err(|refused| ScriptError::Refused {
            path: self.file.clone(),
            refused,
        })?;
        let error = match ended {
            Ok(code) => return Ok(code),
            Err(error) => error,
        };
        match error.downcast_ref::<I32Exit>() {
            Some(I32Exit(code)) => Ok(*code),
            None => Err(ScriptError::Stopped {
                path: self.file.clone(),
                trouble: Box::new(WasmCallError::of(&error, &WasmLimits::CEILING, None)),
            }),
        }
    }

    fn compile_and_run(&self, bytes: &[u8]) -> Result<wasmtime::Result<i32>, WasmLoadError> {
        let kind = examine(bytes, &WasmLimits::CEILING)?;
        let mut config = Config::new();
        config.max_wasm_stack(WasmLimits::STACK);
        // Wasmtime keeps images of memory in unnamed files, which the sandbox forbids.
        config.memory_init_cow(false);
        let engine =
            Engine::new(&config).map_err(|error| WasmLoadError::Engine(error.to_string()))?;
        match kind {
            WasmKind::Module => {
                let module = Module::new(&engine, bytes).map_err(refused)?;
                let mut linker: Linker<WasiP1Ctx> = Linker::new(&engine);
                p1::add_to_linker_sync(&mut linker, |wasi| wasi).map_err(refused)?;
                if module.get_export(START).is_none() {
                    let why = "is not a program: it does not export `_start`";
                    return Err(WasmLoadError::Carrier(why.into()));
                }
                let ready = linker.instantiate_pre(&module).map_err(refused)?;
                let mut store = Store::new(&engine, self.context().build_p1());
                Ok(start(&ready, &mut store))
            }
            WasmKind::Component => {
                let component = component::Component::new(&engine, bytes).map_err(refused)?;
                let mut linker = component::Linker::new(&engine);
                p2::add_to_linker_sync(&mut linker).map_err(refused)?;
                let wasi = Wasi {
                    context: self.context().build(),
                    table: ResourceTable::new(),
                };
                let mut store = Store::new(&engine, wasi);
                let command = Command::instantiate(&mut store, &component, &linker);
                let command = command.map_err(refused)?;
                let ended = command.wasi_cli_run().call_run(&mut store);
                Ok(ended.map(|ended| i32::from(ended.is_err())))
            }
        }
    }

    /// The WASI context: this process's streams, variables and working folder, and the folders.
    fn context(&self) -> WasiCtxBuilder {
        let mut builder = WasiCtxBuilder::new();
        builder
            .inherit_stdio()
            .allow_blocking_current_thread(true)
            .allow_tcp(false)
            .allow_udp(false);
        builder.arg(self.file.to_string_lossy());
        for argument in &self.arguments {
            builder.arg(argument.to_string_lossy());
        }
        for (name, value) in env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                builder.env(name, value);
            }
        }
        for place in &self.places {
            let perms = match place.write {
                true => FsPerms::ReadWrite,
                false => FsPerms::ReadOnly,
            };
            // A folder that the sandbox does not open is missing for scripts in other languages too.
            let _closed = builder.preopened_dir(&place.folder, &place.name, perms);
        }
        builder
    }
}

/// WASI for a component.
struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Wasi {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.context,
            table: &mut self.table,
        }
    }
}

fn start(
    ready: &wasmtime::InstancePre<WasiP1Ctx>,
    store: &mut Store<WasiP1Ctx>,
) -> wasmtime::Result<i32> {
    let instance = ready.instantiate(&mut *store)?;
    let start = instance.get_typed_func::<(), ()>(&mut *store, START)?;
    start.call(store, ()).map(|()| 0)
}

/// The bytes of the file, within the size limit.
fn read(path: &Path) -> Result<Vec<u8>, ScriptError> {
    let limit = WasmLimits::CEILING.module_bytes as u64;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(source) => Err(ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_it_was_written() {
        let script = ScriptModule {
            file: "/skill/tool.wasm".into(),
            places: vec![
                PreopenedFolder {
                    folder: "/project".into(),
                    name: ".".into(),
                    write: true,
                    identity: None,
                },
                PreopenedFolder {
                    folder: "/data".into(),
                    name: "/data".into(),
                    write: false,
                    identity: None,
                },
            ],
            arguments: vec!["--read".into(), "x".into()],
        };
        let command = script.clone().command();
        assert_eq!(command[0], ROLE);
        assert_eq!(
            ScriptModule::parse(command.into_iter().skip(1)).unwrap(),
            script
        );
        for wrong in [
            &[][..],
            &["--read"],
            &["--write", "/a"],
            &["--read", "/a", "a"],
        ] {
            let parsed = ScriptModule::parse(wrong.iter().map(OsString::from));
            assert!(matches!(parsed, Err(ScriptError::Usage)), "{parsed:?}");
        }
    }
}
