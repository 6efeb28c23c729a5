//! The languages and build systems of a project, by the names of its files.
//!
//! A language is detected by a build file or at least one source file, outside folders with third-party code. No file
//! is opened: a name is enough for a hint, and a trigger is only a hint.

use std::{collections::BTreeMap, fmt};

use crate::fold::fold;

/// A programming language or a related name, under its usual name in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgrammingLanguage(Box<str>);

impl ProgrammingLanguage {
    /// By any of its names: `Golang` is `go`, `JS` is `javascript`. An unknown name is kept.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let folded = fold(name);
        let known = ALIASES.iter().find(|(alias, _)| *alias == folded);
        Self(known.map_or(folded.as_str(), |(_, name)| name).into())
    }

    /// The usual name in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its other names: `golang`, `c++`.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let own = ALIASES.iter().filter(|(_, name)| *name == self.as_str());
        own.map(|(alias, _)| *alias)
    }
}

impl fmt::Display for ProgrammingLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A language of the situation, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SituationLanguage {
    /// The detected language.
    pub language: ProgrammingLanguage,
    /// The evidence: `go.mod and 12 files`.
    pub because: String,
}

/// The result of inspecting file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetectedProject {
    /// The languages: most files first, then by name.
    pub languages: Vec<DetectedLanguage>,
    /// The build systems, by name.
    pub build_systems: Vec<&'static str>,
}

/// A language that was detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedLanguage {
    /// The language under its usual name.
    pub language: ProgrammingLanguage,
    /// The number of source files.
    pub files: usize,
    /// The first file in this language.
    pub first: String,
    /// The first build file of this language.
    pub build_file: Option<String>,
}

impl DetectedProject {
    /// The languages in the form of a situation.
    #[must_use]
    pub fn seen(&self) -> Vec<SituationLanguage> {
        let languages = self.languages.iter();
        languages
            .map(|found| SituationLanguage {
                language: found.language.clone(),
                because: found.because(),
            })
            .collect()
    }
}

impl DetectedLanguage {
    fn because(&self) -> String {
        match (&self.build_file, self.files) {
            (Some(build), 0) => build.clone(),
            (Some(build), 1) => format!("{build} and {}", self.first),
            (Some(build), files) => format!("{build} and {files} files"),
            (None, 1) => self.first.clone(),
            (None, files) => format!("{} (and {} more)", self.first, files.saturating_sub(1)),
        }
    }
}

/// Inspects the names of a project's files.
#[must_use]
pub fn detect<'a>(files: impl IntoIterator<Item = &'a str>) -> DetectedProject {
    let mut found: BTreeMap<&'static str, DetectedLanguage> = BTreeMap::new();
    let mut build_systems: Vec<&'static str> = Vec::new();
    for path in files {
        if is_vendored(path) {
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some(build) = build_file(name) {
            if !build.system.is_empty() && !build_systems.contains(&build.system) {
                build_systems.push(build.system);
            }
            if !build.language.is_empty() {
                let found = entry(&mut found, build.language, path);
                found.build_file.get_or_insert_with(|| path.to_owned());
            }
        }
        if let Some(language) = of_file(name) {
            let found = entry(&mut found, language, path);
            if found.files == 0 {
                path.clone_into(&mut found.first);
            }
            found.files += 1;
        }
    }
    let mut languages: Vec<DetectedLanguage> = found.into_values().collect();
    languages.sort_by(|a, b| (b.files, &a.language).cmp(&(a.files, &b.language)));
    build_systems.sort_unstable();
    DetectedProject {
        languages,
        build_systems,
    }
}

fn entry<'m>(
    found: &'m mut BTreeMap<&'static str, DetectedLanguage>,
    language: &'static str,
    path: &str,
) -> &'m mut DetectedLanguage {
    found.entry(language).or_insert_with(|| DetectedLanguage {
        language: ProgrammingLanguage(language.into()),
        files: 0,
        first: path.to_owned(),
        build_file: None,
    })
}

/// Folders with third-party code.
const VENDORED: &[&str] = &[
    "node_modules",
    "bower_components",
    "jspm_packages",
    "vendor",
    "third_party",
    "third-party",
    "Pods",
    "Carthage",
    "site-packages",
    ".venv",
    "venv",
    "virtualenv",
    "target",
    "deps", // mix
    "_build",
    ".build",
    ".git",
];

fn is_vendored(path: &str) -> bool {
    let Some((folders, _)) = path.rsplit_once('/') else {
        return false;
    };
    folders.split('/').any(|folder| VENDORED.contains(&folder))
}

/// A file of a build system; the language is empty if it serves any.
struct BuildFile {
    name: &'static str,
    language: &'static str,
    system: &'static str,
}

fn build_file(name: &str) -> Option<&'static BuildFile> {
    BUILD_FILES
        .iter()
        .find(|build| match build.name.strip_prefix('*') {
            Some(end) => name.len() > end.len() && name.ends_with(end),
            None => name == build.name,
        })
}

/// The language of a source file, by its whole name or its extension.
pub(crate) fn of_file(name: &str) -> Option<&'static str> {
    let by_name = NAMES
        .iter()
        .find(|(known, _)| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *known,
        });
    if let Some((_, language)) = by_name {
        return Some(language);
    }
    let (_, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
    let extension = extension.to_ascii_lowercase();
    let position = EXTENSIONS.binary_search_by(|(known, _)| (*known).cmp(extension.as_str()));
    position
        .ok()
        .and_then(|position| EXTENSIONS.get(position))
        .map(|(_, language)| *language)
}

/// The extensions of a language's source files, such as `.py`; none for an unknown language.
pub fn endings(language: &str) -> impl Iterator<Item = String> {
    let language = ProgrammingLanguage::new(language);
    let of_language = move |(_, known): &&(&str, &str)| *known == language.as_str();
    let extensions = EXTENSIONS.iter().filter(of_language);
    extensions.map(|(extension, _)| format!(".{extension}"))
}

macro_rules! build_files {
    ($($name:literal $language:literal $system:literal),+ $(,)?) => {
        &[$(BuildFile { name: $name, language: $language, system: $system }),+]
    };
}

/// Name, language, build system.
const BUILD_FILES: &[BuildFile] = build_files![
    "Cargo.toml" "rust" "cargo",
    "package.json" "javascript" "npm",
    "pnpm-lock.yaml" "javascript" "pnpm",
    "yarn.lock" "javascript" "yarn",
    "bun.lock" "javascript" "bun",
    "bun.lockb" "javascript" "bun",
    "tsconfig.json" "typescript" "",
    "deno.json" "typescript" "deno",
    "deno.jsonc" "typescript" "deno",
    "go.mod" "go" "go",
    "go.work" "go" "go",
    "pyproject.toml" "python" "",
    "setup.py" "python" "setuptools",
    "setup.cfg" "python" "setuptools",
    "requirements.txt" "python" "pip",
    "Pipfile" "python" "pipenv",
    "poetry.lock" "python" "poetry",
    "uv.lock" "python" "uv",
    "pom.xml" "java" "maven",
    "build.gradle" "" "gradle",
    "build.gradle.kts" "" "gradle",
    "settings.gradle" "" "gradle",
    "settings.gradle.kts" "" "gradle",
    "build.sbt" "scala" "sbt",
    "build.sc" "scala" "mill",
    "project.clj" "clojure" "leiningen",
    "deps.edn" "clojure" "clojure",
    "Gemfile" "ruby" "bundler",
    "Rakefile" "ruby" "rake",
    "*.gemspec" "ruby" "",
    "composer.json" "php" "composer",
    "*.csproj" "csharp" "dotnet",
    "*.fsproj" "fsharp" "dotnet",
    "*.vbproj" "visual-basic" "dotnet",
    "*.sln" "" "dotnet",
    "mix.exs" "elixir" "mix",
    "rebar.config" "erlang" "rebar3",
    "Package.swift" "swift" "swiftpm",
    "Podfile" "" "cocoapods",
    "*.xcodeproj" "" "xcode",
    "pubspec.yaml" "dart" "pub",
    "CMakeLists.txt" "" "cmake",
    "meson.build" "" "meson",
    "Makefile" "" "make",
    "makefile" "" "make",
    "GNUmakefile" "" "make",
    "configure.ac" "" "autotools",
    "BUILD.bazel" "" "bazel",
    "MODULE.bazel" "" "bazel",
    "WORKSPACE" "" "bazel",
    "justfile" "" "just",
    "Justfile" "" "just",
    "stack.yaml" "haskell" "stack",
    "cabal.project" "haskell" "cabal",
    "*.cabal" "haskell" "cabal",
    "dune-project" "ocaml" "dune",
    "build.zig" "zig" "zig",
    "Project.toml" "julia" "",
    "DESCRIPTION" "r" "",
    "*.rockspec" "lua" "luarocks",
    "*.nimble" "nim" "nimble",
    "shard.yml" "crystal" "shards",
    "dub.json" "d" "dub",
    "elm.json" "elm" "elm",
    "gleam.toml" "gleam" "gleam",
    "foundry.toml" "solidity" "foundry",
    "flake.nix" "nix" "nix",
    "dbt_project.yml" "sql" "dbt",
];

/// Source files that are known by their whole name.
const NAMES: &[(&str, &str)] = &[
    ("Dockerfile", "dockerfile"),
    ("Dockerfile.*", "dockerfile"),
    ("Containerfile", "dockerfile"),
    ("Makefile", "makefile"),
    ("makefile", "makefile"),
    ("GNUmakefile", "makefile"),
    ("CMakeLists.txt", "cmake"),
    ("BUILD", "starlark"),
    ("WORKSPACE", "starlark"),
    ("Jenkinsfile", "groovy"),
    ("Gemfile", "ruby"),
    ("Rakefile", "ruby"),
    ("Podfile", "ruby"),
    ("Vagrantfile", "ruby"),
    ("build.gradle.kts", "kotlin"),
    ("build.gradle", "groovy"),
    ("meson.build", "meson"),
];

/// Extensions, sorted.
const EXTENSIONS: &[(&str, &str)] = &[
    ("adb", "ada"),
    ("ads", "ada"),
    ("asm", "assembly"),
    ("astro", "astro"),
    ("awk", "awk"),
    ("bash", "shell"),
    ("bat", "batch"),
    ("bzl", "starlark"),
    ("c", "c"),
    ("cbl", "cobol"),
    ("cc", "cpp"),
    ("cjs", "javascript"),
    ("clj", "clojure"),
    ("cljc", "clojure"),
    ("cljs", "clojure"),
    ("cmake", "cmake"),
    ("cob", "cobol"),
    ("coffee", "coffeescript"),
    ("cpp", "cpp"),
    ("cr", "crystal"),
    ("cs", "csharp"),
    ("css", "css"),
    ("cu", "cuda"),
    ("cuh", "cuda"),
    ("cxx", "cpp"),
    ("d", "d"),
    ("dart", "dart"),
    ("dockerfile", "dockerfile"),
    ("el", "emacs-lisp"),
    ("elm", "elm"),
    ("erl", "erlang"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("f", "fortran"),
    ("f90", "fortran"),
    ("f95", "fortran"),
    ("fish", "fish"),
    ("fs", "fsharp"),
    ("fsi", "fsharp"),
    ("fsx", "fsharp"),
    ("gd", "gdscript"),
    ("gleam", "gleam"),
    ("glsl", "glsl"),
    ("go", "go"),
    ("gql", "graphql"),
    ("gradle", "groovy"),
    ("graphql", "graphql"),
    ("groovy", "groovy"),
    ("h", "c"),
    ("hcl", "hcl"),
    ("hh", "cpp"),
    ("hpp", "cpp"),
    ("hrl", "erlang"),
    ("hs", "haskell"),
    ("htm", "html"),
    ("html", "html"),
    ("hxx", "cpp"),
    ("ipynb", "jupyter"),
    ("java", "java"),
    ("jl", "julia"),
    ("js", "javascript"),
    ("json", "json"),
    ("jsonnet", "jsonnet"),
    ("jsx", "javascript"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("less", "less"),
    ("lhs", "haskell"),
    ("lisp", "lisp"),
    ("lua", "lua"),
    ("m", "objective-c"),
    ("markdown", "markdown"),
    ("md", "markdown"),
    ("mdx", "mdx"),
    ("mjs", "javascript"),
    ("mk", "makefile"),
    ("ml", "ocaml"),
    ("mli", "ocaml"),
    ("mm", "objective-cpp"),
    ("mts", "typescript"),
    ("nim", "nim"),
    ("nix", "nix"),
    ("pas", "pascal"),
    ("php", "php"),
    ("pl", "perl"),
    ("pm", "perl"),
    ("proto", "protobuf"),
    ("ps1", "powershell"),
    ("psm1", "powershell"),
    ("py", "python"),
    ("pyi", "python"),
    ("pyx", "cython"),
    ("r", "r"),
    ("rb", "ruby"),
    ("rego", "rego"),
    ("rkt", "racket"),
    ("rmd", "r"),
    ("rs", "rust"),
    ("rst", "restructuredtext"),
    ("s", "assembly"),
    ("sass", "sass"),
    ("scala", "scala"),
    ("scm", "scheme"),
    ("scss", "scss"),
    ("sh", "shell"),
    ("sol", "solidity"),
    ("sql", "sql"),
    ("star", "starlark"),
    ("sv", "systemverilog"),
    ("svelte", "svelte"),
    ("swift", "swift"),
    ("tcl", "tcl"),
    ("tex", "latex"),
    ("tf", "hcl"),
    ("tfvars", "hcl"),
    ("toml", "toml"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("typ", "typst"),
    ("v", "verilog"),
    ("vb", "visual-basic"),
    ("vhd", "vhdl"),
    ("vhdl", "vhdl"),
    ("vim", "vim-script"),
    ("vue", "vue"),
    ("wat", "webassembly"),
    ("wgsl", "wgsl"),
    ("xml", "xml"),
    ("xsl", "xslt"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("zig", "zig"),
    ("zsh", "shell"),
];

/// Other names of languages, folded.
const ALIASES: &[(&str, &str)] = &[
    ("golang", "go"),
    ("js", "javascript"),
    ("jsx", "javascript"),
    ("ecmascript", "javascript"),
    ("node", "javascript"),
    ("nodejs", "javascript"),
    ("node.js", "javascript"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("py", "python"),
    ("python3", "python"),
    ("python2", "python"),
    ("rs", "rust"),
    ("rb", "ruby"),
    ("c#", "csharp"),
    ("cs", "csharp"),
    ("c-sharp", "csharp"),
    ("f#", "fsharp"),
    ("c++", "cpp"),
    ("cplusplus", "cpp"),
    ("cxx", "cpp"),
    ("cc", "cpp"),
    ("objc", "objective-c"),
    ("obj-c", "objective-c"),
    ("objectivec", "objective-c"),
    ("objective c", "objective-c"),
    ("objective-c++", "objective-cpp"),
    ("kt", "kotlin"),
    ("sh", "shell"),
    ("bash", "shell"),
    ("zsh", "shell"),
    ("shellscript", "shell"),
    ("shell script", "shell"),
    ("ps1", "powershell"),
    ("pwsh", "powershell"),
    ("hs", "haskell"),
    ("ex", "elixir"),
    ("erl", "erlang"),
    ("jl", "julia"),
    ("pl", "perl"),
    ("vb", "visual-basic"),
    ("vb.net", "visual-basic"),
    ("visual basic", "visual-basic"),
    ("tf", "hcl"),
    ("terraform", "hcl"),
    ("docker", "dockerfile"),
    ("containerfile", "dockerfile"),
    ("make", "makefile"),
    ("md", "markdown"),
    ("yml", "yaml"),
    ("htm", "html"),
    ("tex", "latex"),
    ("proto", "protobuf"),
    ("protocol buffers", "protobuf"),
    ("gql", "graphql"),
    ("asm", "assembly"),
    ("assembler", "assembly"),
    ("viml", "vim-script"),
    ("vimscript", "vim-script"),
    ("elisp", "emacs-lisp"),
    ("clj", "clojure"),
    ("cljs", "clojure"),
    ("clojurescript", "clojure"),
    ("bzl", "starlark"),
    ("bazel", "starlark"),
    ("ipynb", "jupyter"),
    ("jupyter notebook", "jupyter"),
    ("wasm", "webassembly"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        let detected = detect(files.iter().copied());
        let languages = detected.languages.iter();
        languages
            .map(|found| format!("{} {}", found.language, found.files))
            .collect()
    }

    #[test]
    fn tables_are_sound() {
        assert!(
            EXTENSIONS.is_sorted_by(|a, b| a.0 < b.0),
            "sorted, each once"
        );
        for (alias, name) in ALIASES {
            assert_eq!(fold(alias), *alias, "aliases are compared folded");
            assert_eq!(
                ProgrammingLanguage::new(name).as_str(),
                *name,
                "{alias} → {name}"
            );
        }
        let extensions = EXTENSIONS.iter().map(|(_, language)| *language);
        let known = extensions
            .chain(NAMES.iter().map(|(_, language)| *language))
            .chain(BUILD_FILES.iter().map(|build| build.language));
        for language in known {
            assert_eq!(
                ProgrammingLanguage::new(language).as_str(),
                language,
                "one name each"
            );
        }
    }

    #[test]
    fn a_language_has_many_names() {
        for (written, usual) in [
            ("Golang", "go"),
            ("GO", "go"),
            ("JS", "javascript"),
            ("Node.js", "javascript"),
            ("ts", "typescript"),
            (" Py ", "python"),
            ("C#", "csharp"),
            ("C++", "cpp"),
            ("Objective-C", "objective-c"),
            ("Bash", "shell"),
            ("Brainfuck", "brainfuck"),
        ] {
            assert_eq!(ProgrammingLanguage::new(written).as_str(), usual);
        }
    }

    #[test]
    fn names_of_files_tell() {
        let table: &[(&[&str], &[&str])] = &[
            (&[], &[]),
            (&["main.go", "a/b.go", "x.py"], &["go 2", "python 1"]),
            (&["go.mod"], &["go 0"]),
            (&["Main.JAVA"], &["java 1"]),
            (&["a.b.rs"], &["rust 1"]),
            (&[".rs", "rs", "a.", "README"], &[]),
            (
                &["Dockerfile", "x/Dockerfile.dev", "y.dockerfile"],
                &["dockerfile 3"],
            ),
            (&["node_modules/a.js", "vendor/x/y.go", "Pods/a.m"], &[]),
            (&["vendor/go.mod", "node_modules/x/package.json"], &[]),
            (&["x.csproj"], &["csharp 0"]),
            (&["CMakeLists.txt", "a.cc", "a.hpp"], &["cpp 2", "cmake 1"]),
            (&["deps/app/mix.exs", "lib/a.ex"], &["elixir 1"]),
        ];
        for (files, expected) in table {
            assert_eq!(names(files), *expected, "{files:?}");
        }
    }

    #[test]
    fn what_builds_a_project_is_found() {
        let detected = detect([
            "Cargo.toml",
            "web/package.json",
            "web/tsconfig.json",
            "Makefile",
            "build.gradle.kts",
            "x.csproj",
            "a/go.mod",
            "vendor/pom.xml",
        ]);
        assert_eq!(
            detected.build_systems,
            ["cargo", "dotnet", "go", "gradle", "make", "npm"]
        );
        let languages = detected
            .languages
            .iter()
            .map(|found| found.language.as_str());
        let languages: Vec<&str> = languages.collect();
        for language in ["rust", "javascript", "typescript", "go", "csharp", "kotlin"] {
            assert!(languages.contains(&language), "{language} in {languages:?}");
        }
    }

    #[test]
    fn a_language_states_how_it_was_detected() {
        let seen = |files: &[&str]| detect(files.iter().copied()).seen()[0].because.clone();
        assert_eq!(seen(&["go.mod"]), "go.mod");
        assert_eq!(seen(&["go.mod", "a.go"]), "go.mod and a.go");
        assert_eq!(seen(&["a.go", "b.go", "go.mod"]), "go.mod and 2 files");
        assert_eq!(seen(&["a.go"]), "a.go");
        assert_eq!(seen(&["a.go", "b.go", "c.go"]), "a.go (and 2 more)");
    }
}
