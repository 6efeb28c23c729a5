//! `cargo xtask guests`: the tools to build skills as WebAssembly components, and the components that the tests run.
//!
//! **Problem.** A component needs a standard library for WebAssembly, and where rustup can't add the target there is none. **Decision.** If
//! the toolchain has the target, it is used. Otherwise Debian's compiler for web browsers is unpacked next to the build output, with the
//! sources of its library, which cargo then builds; nothing is installed, and root is not required. In both cases the configuration is in
//! one file for `cargo build --config`, so tests and users build a guest with the same command. The linker of the toolchain produces the
//! component: there is no step after the build.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use crate::{Result, workspace};

/// The target that skills are built for. It has no operating system, so a skill requests everything from metier.
const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's newest compiler, made for building web browsers, and the sources of its library.
const COMPILER: &str = "rustc-web";
const SOURCES: &str = "rust-web-src";

/// Packages without which the compiler can't start; its other dependencies are on every machine that builds anything.
const PARTS: [&str; 2] = ["libstd-rust-web", "libllvm"];

/// A script that starts the compiler from its own folder.
const WRAPPER: &str = "#!/bin/sh
here=$(dirname \"$0\")
LD_LIBRARY_PATH=$(echo \"$here\"/usr/lib/*-linux-gnu) exec \"$here/usr/bin/rustc\" \"$@\"
";

/// The skills that the tests run as components: the folder of the crate, and the name of its library.
const GUESTS: &[(&str, &str)] = &[("examples/word-count", "word_count")];

/// Prepares everything and prints the command to build another one.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    if let Some(argument) = arguments.first() {
        return Err(format!("`cargo xtask guests` takes no argument such as `{argument}`").into());
    }
    let config = prepare(&workspace::root(), &workspace::target()?)?;
    println!(
        "any other: RUSTC_BOOTSTRAP=1 cargo build --release --config {}",
        config.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing and builds what changed; returns the configuration for cargo.
pub(crate) fn prepare(root: &Path, target: &Path) -> Result<PathBuf> {
    let folder = target.join("guests");
    fs::create_dir_all(&folder)?;
    let compiler = match has_target()? {
        true => None,
        false => Some(unpacked(&target.join("rust-web"))?),
    };
    let config = folder.join("config.toml");
    let text = configuration(root, &folder, &tools()?, compiler.as_deref());
    if fs::read_to_string(&config).ok().as_deref() != Some(&text) {
        fs::write(&config, text)?;
    }
    for (crate_folder, library) in GUESTS {
        build(&root.join(crate_folder), library, &folder, &config)?;
    }
    Ok(config)
}

fn build(crate_folder: &Path, library: &str, folder: &Path, config: &Path) -> Result<()> {
    let built = workspace::cargo()
        .args(["build", "--release", "--quiet", "--lib", "--locked"])
        .arg("--config")
        .arg(config)
        .env("RUSTC_BOOTSTRAP", "1")
        // It would override the folder that the configuration names.
        .env_remove("CARGO_TARGET_DIR")
        // Lints are for this repository, not for packages that are built from it.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .current_dir(crate_folder)
        .status()?;
    if !built.success() {
        return Err(format!("{} is not built", crate_folder.display()).into());
    }
    let name = format!("{library}.wasm");
    let file = output(folder).join(&name);
    fs::copy(&file, folder.join(&name)).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(())
}

/// The folder of cargo's build output.
fn output(folder: &Path) -> PathBuf {
    folder.join("build").join(TARGET).join("release")
}

/// The arguments for cargo. The library of the target is built once, and shared by all guests.
fn configuration(root: &Path, folder: &Path, tools: &Path, compiler: Option<&Path>) -> String {
    let build = folder.join("build");
    let (linker, wasm_ld) = (
        tools.join("wasm-component-ld"),
        tools.join("gcc-ld/wasm-ld"),
    );
    let flag = format!("-Clink-arg=--wasm-ld-path={}", wasm_ld.display());
    let (own_compiler, own_library) = match compiler {
        None => (String::new(), String::new()),
        Some(compiler) => (
            format!("rustc = {compiler:?}\n"),
            "\n[unstable]\nbuild-std = [\"std\", \"panic_abort\"]\n".to_owned(),
        ),
    };
    format!(
        "[build]\ntarget = {TARGET:?}\ntarget-dir = {build:?}\n{own_compiler}{own_library}\n\
         [target.{TARGET}]\nlinker = {linker:?}\nrustflags = [{flag:?}]\n\n\
         [patch.crates-io]\nmetier-sdk = {{ path = {:?} }}\n",
        root.join("sdk/metier-sdk"),
    )
}

fn has_target() -> Result<bool> {
    let folder = rustc(&["--print", "target-libdir", "--target", TARGET])?;
    Ok(Path::new(&folder).is_dir())
}

/// The folder of the toolchain's linkers.
fn tools() -> Result<PathBuf> {
    let about = rustc(&["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not say for which machine it is")?;
    let sysroot = PathBuf::from(rustc(&["--print", "sysroot"])?);
    let tools = sysroot.join("lib/rustlib").join(host).join("bin");
    match tools.join("wasm-component-ld").is_file() {
        true => Ok(tools),
        false => Err(format!(
            "the toolchain has no `wasm-component-ld` in {}; use one of rustup",
            tools.display()
        )
        .into()),
    }
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    text_of(
        Command::new(program)
            .args(arguments)
            .current_dir(workspace::root()),
    )
}

/// Debian's compiler in a folder of ours, from which it starts.
fn unpacked(folder: &Path) -> Result<PathBuf> {
    let (wrapper, complete) = (folder.join("rustc"), folder.join("complete"));
    if complete.is_file() {
        return Ok(wrapper);
    }
    eprintln!(
        "there is no compiler for WebAssembly: unpacking {COMPILER} of Debian into {}",
        folder.display()
    );
    download(folder).map_err(|error| {
        format!(
            "{error}\n`rustup target add {TARGET}` is the other way to a compiler for WebAssembly"
        )
    })?;
    fs::write(&wrapper, WRAPPER)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let version = text_of(Command::new(&wrapper).arg("--version"))?;
    fs::write(complete, version)?;
    Ok(wrapper)
}

/// Nothing is installed: the package lists are our own too, since the machine's may be years old.
fn download(folder: &Path) -> Result<()> {
    let packages = folder.join("packages");
    for lists in ["lists/partial", "cache/archives/partial", "packages"] {
        fs::create_dir_all(folder.join(lists))?;
    }
    let apt = |program: &str| {
        let mut command = Command::new(program);
        for (setting, place) in [("Dir::State::Lists", "lists"), ("Dir::Cache", "cache")] {
            let value = format!("{setting}={}", folder.join(place).display());
            command.args(["-o", &value]);
        }
        command.args(["-o", "APT::Sandbox::User=root"]);
        command.current_dir(&packages);
        command
    };
    // An unreachable source is not a reason to stop; a missing package is, below.
    text_of(apt("apt-get").args(["update", "-qq"])).ok();
    let needs = text_of(apt("apt-cache").args(["depends", "--recurse", COMPILER]))?;
    let parts = parts(&needs);
    text_of(
        apt("apt-get")
            .args(["download", "-qq", COMPILER, SOURCES])
            .args(parts),
    )?;
    for package in fs::read_dir(&packages)? {
        text_of(
            Command::new("dpkg")
                .arg("-x")
                .args([&package?.path(), folder]),
        )?;
    }
    for done in ["lists", "cache", "packages"] {
        fs::remove_dir_all(folder.join(done))?;
    }
    Ok(())
}

/// The packages that belong to the compiler, out of everything that it depends on.
fn parts(depends: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = depends
        .lines()
        .filter(|line| PARTS.iter().any(|part| line.starts_with(part)))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn text_of(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("`{program}` does not start: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
        false => Err(format!(
            "`{program}` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{configuration, parts};

    #[test]
    fn of_the_dependencies_only_the_compilers_own_are_taken() {
        let depends = "rustc-web\n  Depends: libstd-rust-web-dev\nlibstd-rust-web-dev\nlibc6\nlibllvm22\nlibstd-rust-web-1.96\nlibllvm22";
        assert_eq!(
            parts(depends),
            ["libllvm22", "libstd-rust-web-1.96", "libstd-rust-web-dev"]
        );
    }

    #[test]
    fn the_library_is_built_only_where_the_toolchain_has_none() {
        let [root, folder, tools, compiler] = ["/r", "/f", "/t", "/c/rustc"].map(Path::new);
        let own = configuration(root, folder, tools, None);
        assert!(
            !own.contains("build-std") && !own.contains("rustc ="),
            "{own}"
        );
        assert!(own.contains("linker = \"/t/wasm-component-ld\""), "{own}");
        let other = configuration(root, folder, tools, Some(compiler));
        assert!(
            other.contains("rustc = \"/c/rustc\"\n\n[unstable]\nbuild-std"),
            "{other}"
        );
    }
}
