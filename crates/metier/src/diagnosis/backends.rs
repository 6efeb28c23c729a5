//! Which backends run the code of skills on this machine.

use std::{ffi::OsString, fs::File, os::fd::AsFd, path::Path, time::Duration};

use metier_config::HookEngine;
use metier_host::{
    child::{ChildSpec, Confinement, Exit, run},
    sandbox::{Mechanism, SandboxProfile, Support, system_read},
};
use metier_model::Backend;
use metier_runtime::hooks;

use super::{CheckStatus, HealthCheck};
use crate::Workspace;

/// Every backend, and how it runs. Each needs a process that can be sandboxed; for WebAssembly that is the compiler.
const BACKENDS: &[(Backend, &str)] = &[
    (
        Backend::Starlark,
        "runs in a worker without file, network or process access",
    ),
    (Backend::Process, "programs in any language, in the sandbox"),
    (
        Backend::Native,
        "libraries in a child process, in the sandbox",
    ),
    (
        Backend::Wasm,
        "inside this program, with access only to what it is given",
    ),
    (
        Backend::Js,
        "the embedded engine, in a worker without file, network or process access",
    ),
];

/// The hint for machines that can't sandbox programs.
const NO_SANDBOX: &str = "use Linux 5.13 or newer with Landlock, or add --unsandboxed";
/// How long Deno may take to print its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// One check for each backend.
pub(super) fn checks(workspace: &Workspace, support: Option<&Support>) -> Vec<HealthCheck> {
    let confined = support.is_some_and(|support| support.mechanism != Mechanism::None);
    let mut checks: Vec<HealthCheck> = BACKENDS
        .iter()
        .map(|(backend, how)| one(*backend, how, confined))
        .collect();
    checks.push(deno(workspace, confined));
    checks
}

fn one(backend: Backend, how: &str, confined: bool) -> HealthCheck {
    let name = format!("backend {}", backend.as_str());
    if !confined {
        let message = "unavailable: this machine has no sandbox".to_owned();
        return HealthCheck::new(
            &name,
            CheckStatus::Warn,
            message,
            Some(NO_SANDBOX.to_owned()),
        );
    }
    HealthCheck::new(&name, CheckStatus::Ok, how.to_owned(), None)
}

/// Deno is optional: its absence fails only if the configuration asks for it.
fn deno(workspace: &Workspace, confined: bool) -> HealthCheck {
    const NAME: &str = "backend deno";
    let (config, machine) = (&workspace.config.hooks, &workspace.machine);
    let found = hooks::deno(
        config.deno.as_deref(),
        machine.home.as_deref(),
        machine.path.as_deref(),
    );
    let program = match found {
        Ok(program) => program,
        Err(missing) if config.engine == HookEngine::Deno || config.deno.is_some() => {
            let fix = "install Deno, or: metier config skills.hooks.engine embedded";
            return HealthCheck::new(
                NAME,
                CheckStatus::Fail,
                missing.to_string(),
                Some(fix.to_owned()),
            );
        }
        Err(missing) => {
            let message = format!("{missing}; hooks run in the embedded engine");
            return HealthCheck::new(NAME, CheckStatus::Ok, message, None);
        }
    };
    let shown = program.display();
    if config.engine == HookEngine::Embedded {
        let message = format!("{shown}, but hooks run in the embedded engine");
        let fix = Some("metier config skills.hooks.engine auto".to_owned());
        return HealthCheck::new(NAME, CheckStatus::Ok, message, fix);
    }
    if !confined {
        let message = format!("{shown} is refused: this machine has no sandbox");
        return HealthCheck::new(
            NAME,
            CheckStatus::Warn,
            message,
            Some(NO_SANDBOX.to_owned()),
        );
    }
    let worker = workspace.worker_program();
    match worker.ok().and_then(|worker| version(&worker, &program)) {
        Some(version) => HealthCheck::new(
            NAME,
            CheckStatus::Ok,
            format!("{shown}, {version}, in the sandbox"),
            None,
        ),
        None => HealthCheck::new(
            NAME,
            CheckStatus::Fail,
            format!("could not determine the version of {shown}"),
            Some(format!("{shown} --version")),
        ),
    }
}

/// The version that it prints, in a sandbox that allows nothing else.
fn version(worker: &Path, program: &Path) -> Option<String> {
    let folder = File::open("/").ok()?;
    let mut read = system_read(&[], None);
    read.extend([program.to_owned(), program.canonicalize().ok()?]);
    let profile = SandboxProfile {
        read,
        ..SandboxProfile::default()
    };
    let arguments = [OsString::from("--version")];
    let environment = [("NO_COLOR".into(), "1".into())];
    let fence = Confinement::Profile(&profile);
    let mut spec = ChildSpec::new(worker, program, folder.as_fd(), fence);
    spec.args = &arguments;
    spec.env = &environment;
    spec.timeout = PATIENCE;
    let outcome = run(&spec).ok()?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let words: Vec<&str> = text.lines().next()?.split_whitespace().take(2).collect();
    let is_deno = outcome.exit == Exit::Code(0) && words.first() == Some(&"deno");
    is_deno.then(|| words.join(" "))
}
