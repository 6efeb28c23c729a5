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

/// Variables that make other programs load or run something.
const LOADERS: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "SHELL",
    "HOME",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "LESSOPEN",
    "LESSCLOSE",
    "MANPAGER",
    "TERMINFO",
    "GCONV_PATH",
    "HOSTALIASES",
    "RES_OPTIONS",
    "LOCPATH",
    "NLSPATH",
    "SSLKEYLOGFILE",
    "OPENSSL_CONF",
    "CURL_HOME",
    "WGETRC",
    "ZDOTDIR",
    "INPUTRC",
    "FPATH",
];

/// Beginnings of such names.
const LOADER_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "PYTHON",
    "GIT_",
    "SSH_",
    "BASH_FUNC_",
    "MALLOC_",
    "NPM_CONFIG_",
    "PIP_",
    "CARGO_",
    "RUSTC",
    "UV_",
    "DENO_",
    "BUN_",
    "METIER_",
];

/// Whether a variable looks as if it held a secret. Such a one is read only by a permission that names it.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.ends_with("_KEY")
        || name.ends_with("_PAT")
        || SECRET.iter().any(|part| name.contains(part))
}

/// Whether setting a variable would make other programs load or run something. Nobody may set such a one for a child.
#[must_use]
pub fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS.contains(&name.as_str())
        || LOADER_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || name.ends_with("_PROXY")
}
