//! `cargo xtask wasi DIR`: the public test suite of WASI, each module as the script of a skill.
//!
//! The suite is not ours and not in this repository: DIR is a checkout of `WebAssembly/wasi-testsuite`, branch `prod/testsuite-all`. Each
//! module becomes `scripts/test.wasm` of a skill with exactly the permissions that its specification names, and is run by `metier exec`
//! with a fresh copy of its folders. Those that need a folder then run again without its permission: they must fail.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Result, workspace};

/// The folder with the modules of one language.
const PREVIEW: &str = "testsuite/wasm32-wasip1";
/// The name of each skill.
const SKILL: &str = "wasi-test";

/// Tests that fail as scripts of a skill, and why; docs/wasm.md has the same list.
const KNOWN: &[(&str, &str)] = &[
    ("assemblyscript/environ_get-multiple-variables", VARIABLES),
    (
        "assemblyscript/environ_sizes_get-multiple-variables",
        VARIABLES,
    ),
    ("assemblyscript/environ_sizes_get-no-variables", VARIABLES),
    (
        "c/sock_shutdown-invalid_fd",
        "expects that no folder is open; every script can open its own and its temporary one",
    ),
    (
        "rust/remove_directory_trailing_slashes",
        "the engine returns `EINVAL`; the suite lists this as a known failure of wasmtime",
    ),
];
const VARIABLES: &str = "counts all variables; every script has some, such as `PATH`";

/// One test.
struct Test {
    name: String,
    module: PathBuf,
    arguments: Vec<String>,
    variables: BTreeMap<String, String>,
    folders: Vec<String>,
    code: i32,
    stdout: Option<String>,
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let [suite] = arguments else {
        return Err("which folder has the suite? cargo xtask wasi DIR".into());
    };
    let mut tests = Vec::new();
    for language in fs::read_dir(Path::new(suite).join("tests"))? {
        collect(&language?.path(), &mut tests)?;
    }
    tests.sort_by(|one, other| one.name.cmp(&other.name));
    if tests.is_empty() {
        return Err(format!("{suite} has no tests/*/{PREVIEW}").into());
    }
    let metier = build()?;
    let (mut passed, mut denied, mut surprises) = (0, 0, 0);
    for test in &tests {
        let known = KNOWN.iter().find(|(name, _)| *name == test.name);
        match (test.why_it_fails(&metier)?, known) {
            (None, None) => passed += 1,
            (None, Some(_)) => {
                surprises += 1;
                println!("PASSES  {}: remove it from the list", test.name);
            }
            (Some(_), Some((_, cause))) => println!("KNOWN   {}: {cause}", test.name),
            (Some(why), None) => {
                surprises += 1;
                println!("FAIL    {}: {why}", test.name);
            }
        }
    }
    let with_folders = tests.iter().filter(|test| !test.folders.is_empty());
    let with_folders: Vec<&Test> = with_folders.collect();
    for test in &with_folders {
        let output = test.exec(&metier, false)?;
        if output.status.code() == Some(test.code) {
            println!("REACHED {}: it passes without its folders", test.name);
        } else {
            denied += 1;
        }
    }
    println!("with their permissions: {passed} of {} pass", tests.len());
    println!(
        "without: {denied} of {} are denied their folders",
        with_folders.len()
    );
    Ok(match denied == with_folders.len() && surprises == 0 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Builds the program.
fn build() -> Result<PathBuf> {
    let built = workspace::cargo()
        .args(["build", "--quiet", "--workspace", "--bins"])
        .status()?;
    if !built.success() {
        return Err("the program can't be built".into());
    }
    Ok(workspace::target()?.join("debug/metier"))
}

/// Finds the tests of one language.
fn collect(language: &Path, tests: &mut Vec<Test>) -> Result<()> {
    let folder = language.join(PREVIEW);
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder)? {
        let module = entry?.path();
        if module.extension().is_some_and(|ending| ending == "wasm") {
            tests.push(Test::read(language, module)?);
        }
    }
    Ok(())
}

impl Test {
    fn read(language: &Path, module: PathBuf) -> Result<Self> {
        let specification = match fs::read(module.with_extension("json")) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Value::Null,
            Err(error) => return Err(error.into()),
        };
        let texts = |key: &str| -> Vec<String> {
            let list = specification[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let variables = specification["env"].as_object().into_iter().flatten();
        let stem = |path: &Path| {
            let stem = path.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        };
        Ok(Self {
            name: format!("{}/{}", stem(language), stem(&module)),
            arguments: texts("args"),
            variables: variables
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            folders: texts("dirs"),
            code: i32::try_from(specification["exit_code"].as_i64().unwrap_or(0))?,
            stdout: specification["stdout"].as_str().map(str::to_owned),
            module,
        })
    }

    /// Runs it with its permissions; returns why it fails, if it does.
    fn why_it_fails(&self, metier: &Path) -> Result<Option<String>> {
        let output = self.exec(metier, true)?;
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        if output.status.code() != Some(self.code) {
            let stderr = stderr.replace('\n', " ");
            let (ended, code) = (output.status, self.code);
            return Ok(Some(format!("{ended} instead of {code}: {stderr}")));
        }
        let expected = self.stdout.as_ref();
        let expected = expected.filter(|expected| **expected != stdout);
        Ok(expected.map(|expected| format!("printed {stdout:?} instead of {expected:?}")))
    }

    fn exec(&self, metier: &Path, with_folders: bool) -> Result<Output> {
        let place = TempDir::new()?;
        let (home, work) = (place.path().join("home"), place.path().join("work"));
        fs::create_dir_all(&home)?;
        let from = self.module.parent().ok_or("a module without a folder")?;
        for folder in &self.folders {
            copy(&from.join(folder), &work.join(folder))?;
        }
        let scripts = work.join("skills").join(SKILL).join("scripts");
        fs::create_dir_all(&scripts)?;
        fs::copy(&self.module, scripts.join("test.wasm"))?;
        let permissions = json!(self.permissions(with_folders));
        let manifest = format!(
            "---\nname: {SKILL}\ndescription: A test of WASI.\npermissions: {permissions}\n---\nRun scripts/test.wasm.\n"
        );
        fs::write(scripts.with_file_name("SKILL.md"), manifest)?;
        let mut command = Command::new(metier);
        command
            .current_dir(&work)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            // The scanner's report on a binary is not measured here.
            .env("METIER_SKILLS_SECURITY_SCAN_ON_LOAD", "false")
            .envs(&self.variables)
            .args(["--root", "skills", "--approve-skills", SKILL])
            .args(["exec", SKILL, "scripts/test.wasm"])
            .args(&self.arguments)
            .stdin(std::process::Stdio::null());
        Ok(command.output()?)
    }

    fn permissions(&self, with_folders: bool) -> Vec<String> {
        let script = ["shell:exec(scripts/*)".to_owned()].into_iter();
        let folders = self.folders.iter().filter(|_| with_folders);
        let folders = folders.map(|folder| format!("file:write({folder}/**)"));
        let variables = self.variables.keys();
        let variables = variables.map(|name| format!("env:read({name})"));
        script.chain(folders).chain(variables).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}
