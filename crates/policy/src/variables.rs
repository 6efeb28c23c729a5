//! Environment variables that need special treatment.

/// Parts of the names of variables with secrets.
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

/// Variables that make programs load or run something, grouped by the programs that read them.
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

/// Prefixes of such names: dynamic loaders, functions that old shells import, settings of tools by name.
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

/// Variables that point programs to a configuration, a plugin or options, any of which can name code; grouped by the
/// programs that read them. The user can have them, and a child process can see the user's. No skill sets one, and no
/// configuration sets one for a skill.
const LEADERS: &[(&str, &str)] = &[
    (
        "the shell and its terminal",
        "EXECIGNORE FCEDIT GLOBIGNORE INPUTRC PS0 PS1 PS2 SCREENRC TERMCAP TERMINFO TERMINFO_DIRS",
    ),
    (
        "configurations of many programs at once",
        "XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME",
    ),
    (
        "archives, copies and transfers",
        "\
            BZIP2 CURL_HOME CVS_RSH GZIP RSYNC_CONNECT_PROG RSYNC_RSH SVN_SSH SYSTEM_WGETRC \
            TAR_OPTIONS UNZIP WGETRC XZ_DEFAULTS XZ_OPT ZIP ZIPOPT",
    ),
    (
        "pagers, editors, finders",
        "\
            ACKRC ACK_PAGER ALTERNATE_EDITOR BAT_CONFIG_PATH BAT_PAGER DELTA_PAGER EMACSLOADPATH \
            EXINIT GVIMINIT LESS LESSKEY LESSKEYIN LESSKEY_CONTENT MORE MYVIMRC RIPGREP_CONFIG_PATH \
            SUDO_ASKPASS SUDO_EDITOR SVN_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER VIM VIMINIT VIMRUNTIME",
    ),
    (
        "version control and its servers",
        "\
            GH_BROWSER GH_CONFIG_DIR GH_EDITOR GH_PAGER GH_PATH GLAB_CONFIG_DIR HGEDITOR HGMERGE \
            HGRCPATH JJ_CONFIG JJ_EDITOR",
    ),
    (
        "clouds, clusters, databases, keys",
        "\
            ANSIBLE_CONFIG AWS_CONFIG_FILE AWS_PAGER AWS_SHARED_CREDENTIALS_FILE BOTO_CONFIG \
            CLOUDSDK_CONFIG CLOUDSDK_PYTHON DOCKER_CONFIG GNUPGHOME KRB5_CONFIG KUBECONFIG KUBE_EDITOR \
            MYSQL_HOME PGSERVICEFILE PGSYSCONFDIR PSQLRC PSQL_EDITOR PSQL_PAGER TF_CLI_CONFIG_FILE",
    ),
    (
        "languages and their tools",
        "\
            ANT_ARGS ANT_OPTS BUNDLE_GEMFILE ELECTRON_RUN_AS_NODE GEM_HOME GEM_PATH GOENV GOROOT \
            GRADLE_OPTS GRADLE_USER_HOME GUILE_LOAD_PATH IPYTHONDIR JAVA_OPTS MAVEN_ARGS MPLBACKEND \
            MPLCONFIGDIR PSMODULEPATH RUBYSHELL RUSTDOC RUSTFLAGS SBT_OPTS TCLLIBPATH TEXINPUTS \
            TEXMFCNF",
    ),
    (
        "compilers",
        "AR AS CFLAGS COMPILER_PATH CPP CPPFLAGS CXXFLAGS GCC_EXEC_PREFIX LD LDFLAGS",
    ),
    (
        "plugins of libraries",
        "\
            GDK_PIXBUF_MODULE_FILE GIO_EXTRA_MODULES GS_LIB GS_OPTIONS GTK_MODULES GTK_PATH \
            QT_PLUGIN_PATH SASL_PATH",
    ),
];

/// Prefixes of such names.
const LEADER_PREFIXES: &str = "\
    ANSIBLE_ BUNDLE_ BUN_ CCACHE_ CMAKE_ CONDA_ COR_ CORECLR_ DENO_ DIRENV_ DOTNET_ ELIXIR_ \
    ERL_ FZF_ GIT_ GST_PLUGIN HELM_ HOMEBREW_ JULIA_ JUPYTER_ KREW_ LEIN_ LUA_ MAGICK_ MISE_ \
    MIX_ MSBUILD NIX_ NODE_OPTIONS NPM_ NVIM PACKER_ PARALLEL PDM_ PERL PHP_ PIPENV_ PNPM_ \
    POETRY_ PKG_CONFIG RUSTC RUSTUP_ R_ SCCACHE_ TF_CLI_ARGS TS_NODE_ VAGRANT_ YARN_";

/// Names with such a prefix that are data.
const DATA: &str = "\
    GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_DATE GIT_COMMITTER_EMAIL \
    GIT_COMMITTER_NAME GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT";

/// Variables that a command line may set for a program: they change its output, and nothing that it runs or reads.
/// Their values are plain words.
const HARMLESS: &str = "\
    CI CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS DEBIAN_FRONTEND FORCE_COLOR GH_FORCE_TTY \
    GH_NO_UPDATE_NOTIFIER GH_PROMPT_DISABLED GIT_MERGE_AUTOEDIT GIT_OPTIONAL_LOCKS \
    GIT_TERMINAL_PROMPT LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY \
    LC_NUMERIC LC_TIME LINES NO_COLOR OPENCODE_DISABLE_AUTOUPDATE \
    OPENCODE_DISABLE_DEFAULT_PLUGINS OPENCODE_DISABLE_LSP_DOWNLOAD \
    OPENCODE_DISABLE_MODELS_FETCH OPENCODE_DISABLE_SHARE POSIXLY_CORRECT \
    PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED RUST_BACKTRACE SOURCE_DATE_EPOCH TERM TZ";

/// Variables that name a pager, which is harmless if it is this one, or none.
const PAGERS: &str = "\
    AWS_PAGER BAT_PAGER GH_PAGER GIT_PAGER MANPAGER PAGER SYSTEMD_PAGER";

/// Variables that determine where programs, homes and networks are found. Only metier sets them.
const OURS: &[&str] = &["PATH", "HOME", "TMPDIR", "SHELL", "CDPATH", "FPATH"];

/// Whether a table of names contains this one.
fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|other| other == name)
}

/// Whether a variable's name suggests a secret. Reading it requires a permission that names it.
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

/// Whether metier sets the variable for child processes, or it makes programs run code: such a variable is not passed
/// on.
#[must_use]
pub fn is_withheld(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_loader(name)
        || OURS.contains(&upper.as_str())
        || upper.starts_with("METIER_")
        || upper.ends_with("_PROXY")
}

/// Whether no skill, and no configuration for a skill, may set a variable: one that is withheld, or that points
/// programs to code through a configuration.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let leads = || {
        LEADERS.iter().any(|(_, names)| has(names, &upper))
            || LEADER_PREFIXES
                .split_ascii_whitespace()
                .any(|prefix| upper.starts_with(prefix))
    };
    is_withheld(name) || (leads() && !has(DATA, &upper))
}

/// Whether a command line may set this variable to this value for its programs. `None` is a value that is known only
/// at run time.
#[must_use]
pub fn is_harmless(name: &str, value: Option<&str>) -> bool {
    let Some(value) = value else {
        return false;
    };
    if has(PAGERS, name) {
        return matches!(value, "" | "cat");
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,+@-".contains(&byte);
    // `Europe/Berlin` is a time zone, and `:/tmp/file` is read from a file.
    let zone = name == "TZ" && !value.starts_with(['/', ':']) && !value.contains("..");
    has(HARMLESS, name)
        && value
            .bytes()
            .all(|byte| plain(byte) || (zone && byte == b'/'))
}

/// Whether a command line may use this name for a shell variable, which programs don't see. An upper-case name might
/// be one that was exported before.
#[must_use]
pub fn is_local(name: &str) -> bool {
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(lower) && !is_reserved(name)
}
