//! Names of environment variables that are not like others.

/// Parts of names that hold secrets.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "PRIVATE",
    "SESSION",
    "COOKIE",
    "AUTH",
    "ACCESS_KEY",
    "DATABASE_URL",
    "DSN",
    "CONNECTION_STRING",
    "WEBHOOK",
];

/// Variables that make programs load or run something; by what they are read by.
const LOADERS: &[&str] = &[
    // the shell
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "ZDOTDIR",
    "IFS",
    // Python
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "PYTHONEXECUTABLE",
    // JavaScript
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "BUN_OPTIONS",
    // Perl, Ruby, Lua, PHP, Java, .NET, R
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "MAVEN_OPTS",
    "DOTNET_STARTUP_HOOKS",
    "CORECLR_PROFILER_PATH",
    "COMPlus_EnableDiagnostics",
    "R_PROFILE",
    "R_ENVIRON",
    // git, ssh, pagers and editors
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "SSH_ASKPASS",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    // compilers and builders
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "MAKEFLAGS",
    "MAKEFILES",
    "GNUMAKEFLAGS",
    "CC",
    "CXX",
    "GOFLAGS",
    "GOTOOLCHAIN",
    // what the C library loads
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_TRACE",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    "GLIBC_TUNABLES",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
];

/// Beginnings of such names: the dynamic loaders, functions that old shells import, settings of tools by name.
const LOADER_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "GIT_CONFIG",
    "PYTHON",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "CARGO_",
];

/// Variables that decide where programs, homes and networks are found. We set them, and nobody else does.
const OURS: &[&str] = &["PATH", "HOME", "TMPDIR", "SHELL", "CDPATH", "FPATH"];

/// Whether a variable looks as if it held a secret. Such a one is read only by a permission that names it.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.ends_with("_KEY")
        || name.ends_with("_PAT")
        || SECRET.iter().any(|part| name.contains(part))
}

/// Whether a variable makes programs run code that its value names. No skill may set one, whatever was approved.
#[must_use]
pub fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS
        .iter()
        .any(|loader| loader.eq_ignore_ascii_case(&name))
        || LOADER_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a variable is ours to set: one that runs code, that says where things are found, or that leads to the network.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_loader(name)
        || OURS.contains(&upper.as_str())
        || upper.starts_with("METIER_")
        || upper.ends_with("_PROXY")
}
