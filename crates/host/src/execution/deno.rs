//! Deno as the backend of a skill's JavaScript: the same grant, as flags of `deno run`.
//!
//! **Problem.** Deno restricts files, variables and hosts itself, but only as well as its flags do; and its process could still do
//! anything that its flags don't cover.
//!
//! **Decision.** The flags are a pure function of the opened places ([`flags`]), and the process runs in the same sandbox as every
//! program of a skill. So no permission to run programs is needed: Deno is not a program of the skill, and it is never allowed to
//! start one, to load a library or to query the system.
//!
//! ```text
//! file:read   env:read(CLAUDE_TOOL_OUTPUT)
//!   → deno run --no-prompt … --allow-read=/skill,/project --allow-env=CLAUDE_TOOL_OUTPUT --import-map=… deno.ts
//! ```

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use metier_model::{Permission, Scope};

use super::{ActExecutor, ExecutionError, RecordedAct, RunningScript, child_profile::ProgramKind};
use crate::sandbox::Trails;

/// Flags for all skills: no prompts, no downloads, no configuration files found in the folder.
const ALWAYS: &[&str] = &[
    "--no-prompt",
    "--no-remote",
    "--no-npm",
    "--cached-only",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    "--v8-flags=--max-old-space-size=128",
];

/// Memory that it may write to: its heap gets less, because V8 also uses memory outside the heap and reserves half a gigabyte.
const MEMORY: u64 = 1 << 30;
/// Address space, of which V8 reserves nearly fifty gigabytes when it starts.
const ADDRESS_SPACE: u64 = 128 << 30;

/// Deno, and our own files that it is started with.
#[derive(Clone, Debug)]
pub struct Deno {
    /// Path of the Deno program.
    pub program: PathBuf,
    /// The folder of these files; it can be read.
    pub folder: PathBuf,
    /// The script that runs in it and communicates with us.
    pub runner: PathBuf,
    /// The folder of the modules that handlers import.
    pub import_map: PathBuf,
}

/// The opened places of a grant, for a program that restricts its code itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// Readable places.
    pub read: Vec<PathBuf>,
    /// Writable places.
    pub write: Vec<PathBuf>,
    /// Places within those that can't be read.
    pub deny_read: Vec<PathBuf>,
    /// Places within those that can't be written.
    pub deny_write: Vec<PathBuf>,
    /// Visible variables.
    pub variables: Vec<String>,
    /// Reachable hosts; `*` for all.
    pub hosts: Vec<String>,
    /// Hosts among those that can't be reached.
    pub deny_hosts: Vec<String>,
}

/// The opened places of a grant, as flags of `deno run`.
#[must_use]
pub fn flags(openings: &Openings) -> Vec<OsString> {
    let inside = |denied: &[PathBuf], allowed: &[PathBuf]| -> Vec<OsString> {
        let is_inside = |path: &&PathBuf| allowed.iter().any(|open| path.starts_with(open));
        denied
            .iter()
            .filter(is_inside)
            .map(OsString::from)
            .collect()
    };
    let paths = |paths: &[PathBuf]| paths.iter().map(OsString::from).collect();
    let words = |words: &[String]| words.iter().map(OsString::from).collect();
    let every_host = openings.hosts.iter().any(|host| host == "*");
    let lists: [(&str, Vec<OsString>); 6] = [
        ("--allow-read", paths(&openings.read)),
        ("--deny-read", inside(&openings.deny_read, &openings.read)),
        ("--allow-write", paths(&openings.write)),
        (
            "--deny-write",
            inside(&openings.deny_write, &openings.write),
        ),
        ("--allow-env", words(&openings.variables)),
        (
            "--allow-net",
            words(if every_host { &[] } else { &openings.hosts }),
        ),
    ];
    let mut flags: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    for (name, mut values) in lists {
        values.sort();
        values.dedup();
        // An empty list would be no flag, and a flag without a list allows everything.
        if !values.is_empty() {
            flags.push(list(name, &values));
        }
    }
    if every_host {
        flags.push("--allow-net".into());
    }
    if !openings.hosts.is_empty() && !openings.deny_hosts.is_empty() {
        flags.push(list("--deny-net", &words(&openings.deny_hosts)));
    }
    flags
}

/// `--name=a,b`; a comma in a value is written twice.
fn list(name: &str, values: &[OsString]) -> OsString {
    let mut flag = Vec::from(name.as_bytes());
    for (position, value) in values.iter().enumerate() {
        flag.push(if position == 0 { b'=' } else { b',' });
        for byte in value.as_bytes() {
            flag.push(*byte);
            if *byte == b',' {
                flag.push(b',');
            }
        }
    }
    OsString::from_vec(flag)
}

impl ActExecutor {
    /// The opened places: the skill's own folder, and those that the grant names.
    fn openings(&self) -> Result<Openings, ExecutionError> {
        let mut openings = Openings {
            read: self
                .skill
                .folder
                .as_deref()
                .map(Path::to_owned)
                .into_iter()
                .collect(),
            deny_read: self.hidden(),
            ..Openings::default()
        };
        for want in self.grant.allowed() {
            match (want.permission, want.reach()) {
                (Permission::FileRead, Scope::Paths(pattern)) => {
                    openings.read.extend(self.places(&pattern, false)?);
                }
                (Permission::FileWrite, Scope::Paths(pattern)) => {
                    openings.write.extend(self.places(&pattern, true)?);
                }
                (Permission::NetFetch, Scope::All) => openings.hosts.push("*".to_owned()),
                (Permission::NetFetch, Scope::Host(host)) => openings.hosts.push(host.to_string()),
                (Permission::EnvRead, Scope::Variable(name)) if self.may_see(&name) => {
                    openings.variables.push(name.into());
                }
                _ => {}
            }
        }
        let mut protected = self.protection().around(&openings.write, &[]);
        protected.extend(self.protection().steps(&protected, &mut Trails::default()));
        openings.deny_write = self.denied().into_iter().chain(protected).collect();
        let denied = self.grant.denied().iter();
        openings.deny_hosts = denied
            .filter(|want| want.permission == Permission::NetFetch)
            .map(|want| want.scope.to_string())
            .collect();
        Ok(openings)
    }

    /// The whole command, without the program itself.
    ///
    /// # Errors
    /// When the grant names a place that can't be opened.
    pub fn deno_arguments(&self, deno: &Deno) -> Result<Vec<OsString>, ExecutionError> {
        let mut arguments = vec![OsString::from("run")];
        let mut openings = self.openings()?;
        // The module that handlers import from us.
        openings.read.push(deno.folder.clone());
        arguments.extend(flags(&openings));
        let mut map = OsString::from("--import-map=");
        map.push(&deno.import_map);
        arguments.extend([map, deno.runner.clone().into_os_string()]);
        Ok(arguments)
    }

    /// Starts it in the user's working directory, with pipes for messages.
    ///
    /// # Errors
    /// When it can't be started or sandboxed.
    pub fn start_deno<R>(
        &self,
        begun: &RecordedAct<'_, Deno, R>,
    ) -> Result<RunningScript, ExecutionError> {
        let deno = begun.act();
        let arguments = self.deno_arguments(deno)?;
        let program = deno.program.as_os_str();
        let mut prepared =
            self.prepare(ProgramKind::Program, program, &arguments, &self.host.work)?;
        if let Some(profile) = &mut prepared.profile {
            profile.limits.memory = Some(MEMORY);
            profile.limits.address_space = Some(ADDRESS_SPACE);
            profile.read.push(deno.program.clone());
            profile.read.extend(deno.program.canonicalize());
            profile.read.push(deno.folder.clone());
        }
        let own: [(&str, &OsStr); 3] = [
            ("DENO_DIR", self.scratch.path().as_os_str()),
            ("DENO_NO_UPDATE_CHECK", OsStr::new("1")),
            ("NO_COLOR", OsStr::new("1")),
        ];
        let own = own.map(|(name, value)| (name.into(), value.into()));
        prepared.env.extend(own);
        self.talk(prepared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags after the fixed ones, in one line.
    fn shown(openings: &Openings) -> String {
        let all: Vec<String> = flags(openings)
            .iter()
            .map(|flag| flag.to_string_lossy().into_owned())
            .collect();
        assert_eq!(all[..ALWAYS.len()], *ALWAYS);
        all[ALWAYS.len()..].join(" ")
    }

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn nothing_granted_is_nothing_allowed() {
        assert_eq!(shown(&Openings::default()), "");
        let flags = flags(&Openings::default());
        assert!(
            !flags
                .iter()
                .any(|flag| flag.to_string_lossy().contains("allow"))
        );
    }

    #[test]
    fn a_grant_becomes_exactly_its_flags() {
        let openings = Openings {
            read: paths(&["/workspace", "/skill", "/workspace"]),
            variables: vec!["CLAUDE_TOOL_OUTPUT".into()],
            ..Openings::default()
        };
        assert_eq!(
            shown(&openings),
            "--allow-read=/skill,/workspace --allow-env=CLAUDE_TOOL_OUTPUT"
        );
        let openings = Openings {
            write: paths(&["/workspace/out"]),
            hosts: vec!["api.github.com".into(), "*.a.io:8443".into()],
            ..Openings::default()
        };
        assert_eq!(
            shown(&openings),
            "--allow-write=/workspace/out --allow-net=*.a.io:8443,api.github.com"
        );
    }

    #[test]
    fn a_denied_place_inside_an_allowed_one_is_denied() {
        let openings = Openings {
            read: paths(&["/workspace"]),
            deny_read: paths(&["/workspace/.env", "/home/user/.ssh"]),
            write: paths(&["/workspace"]),
            deny_write: paths(&["/workspace/.git/hooks"]),
            hosts: vec!["*".into()],
            deny_hosts: vec!["a.io".into()],
            ..Openings::default()
        };
        assert_eq!(
            shown(&openings),
            "--allow-read=/workspace --deny-read=/workspace/.env --allow-write=/workspace \
             --deny-write=/workspace/.git/hooks --allow-net --deny-net=a.io"
        );
    }

    #[test]
    fn a_name_can_not_become_a_second_place() {
        let openings = Openings {
            read: paths(&["/a,/etc"]),
            ..Openings::default()
        };
        assert_eq!(shown(&openings), "--allow-read=/a,,/etc");
    }

    #[test]
    fn programs_libraries_and_the_system_are_never_allowed() {
        let everything = Openings {
            read: paths(&["/"]),
            write: paths(&["/"]),
            variables: vec!["A".into()],
            hosts: vec!["*".into()],
            ..Openings::default()
        };
        let flags = flags(&everything);
        for never in [
            "--allow-run",
            "--allow-ffi",
            "--allow-sys",
            "--allow-all",
            "-A",
        ] {
            assert!(
                !flags
                    .iter()
                    .any(|flag| flag.to_string_lossy().starts_with(never))
            );
        }
        for denied in ["--deny-run", "--deny-ffi", "--deny-sys", "--no-prompt"] {
            assert!(flags.iter().any(|flag| flag == denied));
        }
    }
}
