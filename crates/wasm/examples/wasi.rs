//! Runs the public test suite of WASI (`WebAssembly/wasi-testsuite`, its prebuilt modules of preview 1) in our sandbox.
//!
//! Each test gets exactly what its specification names, and a fresh copy of its folders. Then those that need a folder run once
//! more without any: they must fail. Started by `cargo xtask wasi DIR`.
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use metier_wasm::{Finished, Limits, Place, Program, Room, Trouble, compile};
use serde_json::Value;

/// How long a test may take.
const TIME: Duration = Duration::from_secs(30);
/// The folder with the modules of one language.
const PREVIEW: &str = "testsuite/wasm32-wasip1";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One test.
struct Test {
    name: String,
    module: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    folders: Vec<String>,
    code: i32,
    stdout: Option<String>,
}

fn main() -> Result<ExitCode> {
    let suite = std::env::args()
        .nth(1)
        .ok_or("which folder has the suite?")?;
    let mut tests = Vec::new();
    for language in fs::read_dir(Path::new(&suite).join("tests"))? {
        collect(&language?.path(), &mut tests)?;
    }
    tests.sort_by(|one, other| one.name.cmp(&other.name));
    if tests.is_empty() {
        return Err(format!("{suite} has no tests/*/{PREVIEW}").into());
    }
    let (mut passed, mut denied, mut wrong) = (0, 0, 0);
    for test in &tests {
        match test.check()? {
            None => passed += 1,
            Some(why) => println!("FAIL    {}: {why}", test.name),
        }
    }
    let fenced: Vec<&Test> = tests
        .iter()
        .filter(|test| !test.folders.is_empty())
        .collect();
    for test in &fenced {
        match test.run(Path::new("/nowhere"), false) {
            Ok(finished) if finished.code == test.code => {
                wrong += 1;
                println!("REACHED {}: it passes without its folders", test.name);
            }
            _ => denied += 1,
        }
    }
    let share = 100.0 * f64::from(passed) / tests.len() as f64;
    println!(
        "with what they need: {passed} of {} pass ({share:.1} %)",
        tests.len()
    );
    println!(
        "without their folders: {denied} of {} are denied",
        fenced.len()
    );
    Ok(match wrong == 0 && share >= 95.0 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
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
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let mut arguments = vec![stem(&module)];
        arguments.extend(texts("args"));
        Ok(Self {
            name: format!("{}/{}", stem(language), stem(&module)),
            arguments,
            variables: variables
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            folders: texts("dirs"),
            code: i32::try_from(specification["exit_code"].as_i64().unwrap_or(0))?,
            stdout: specification["stdout"].as_str().map(str::to_owned),
            module,
        })
    }

    /// Runs it with what it needs; why it fails.
    fn check(&self) -> Result<Option<String>> {
        let fresh = tempfile::tempdir()?;
        let from = self.module.parent().ok_or("a module without a folder")?;
        for folder in &self.folders {
            copy(&from.join(folder), &fresh.path().join(folder))?;
        }
        Ok(match self.run(&fresh.path().canonicalize()?, true) {
            Err(trouble) => Some(trouble.to_string()),
            Ok(finished) if finished.code != self.code => Some(format!(
                "ended with {} instead of {}: {}",
                finished.code,
                self.code,
                String::from_utf8_lossy(&finished.stderr).replace('\n', " ")
            )),
            Ok(finished) => {
                let printed = String::from_utf8_lossy(&finished.stdout).into_owned();
                let expected = self
                    .stdout
                    .as_ref()
                    .filter(|expected| **expected != printed);
                expected.map(|expected| format!("printed {printed:?} instead of {expected:?}"))
            }
        })
    }

    fn run(&self, below: &Path, with_folders: bool) -> std::result::Result<Finished, Trouble> {
        let folders = self.folders.iter().filter(|_| with_folders);
        let room = Room {
            places: folders
                .map(|name| Place {
                    folder: below.join(name),
                    name: name.clone(),
                    write: true,
                })
                .collect(),
            variables: self.variables.clone(),
            arguments: self.arguments.clone(),
        };
        let bytes = fs::read(&self.module).map_err(|error| Trouble::Engine(error.to_string()))?;
        Program::load(&bytes, Limits::default(), room, None, &|bytes, _| {
            compile(bytes)
        })
        .map_err(|refused| Trouble::Engine(refused.to_string()))?
        .run(b"", TIME)
    }
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
