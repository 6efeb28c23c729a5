//! Variables that are code.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Variables that make programs load or run something; by what they are read by.
const HAZARDOUS: &[&str] = &[
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

/// Families of such variables: the dynamic loaders, functions that old shells import, settings of git by number.
const HAZARDOUS_BEGINNINGS: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
];

/// Whether a variable makes programs run code that its value names. No skill may set one, whatever was approved.
#[must_use]
pub fn is_hazardous(name: &OsStr) -> bool {
    let name = name.as_bytes();
    HAZARDOUS.iter().any(|other| other.as_bytes() == name)
        || HAZARDOUS_BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning.as_bytes()))
}

/// Whether it is the name of one variable: letters, digits, underscores and a few others, and no pattern.
#[cfg(target_os = "linux")]
pub(crate) fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b"=*?[]".contains(byte);
    !name.is_empty() && name.iter().all(fits)
}
