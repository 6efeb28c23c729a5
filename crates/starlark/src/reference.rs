//! The built-ins, as a table: the source of documentation, and of tests that each one can be refused.

use metier_sdk::Permission;

/// A built-in of the SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarlarkBuiltin {
    /// The name.
    pub name: &'static str,
    /// The signature.
    pub signature: &'static str,
    /// The required permission; `None` for functions without a request.
    pub permission: Option<Permission>,
    /// The request to the host, if there is one.
    pub request: Option<&'static str>,
    /// The description for authors of skills, in Markdown.
    pub doc: &'static str,
}

/// All built-ins, in the order of the documentation, without those of the language.
#[must_use]
pub const fn reference() -> &'static [StarlarkBuiltin] {
    BUILTINS
}

/// A function without a request.
const fn inside(name: &'static str, signature: &'static str, doc: &'static str) -> StarlarkBuiltin {
    StarlarkBuiltin {
        name,
        signature,
        permission: None,
        request: None,
        doc,
    }
}

/// A function that sends a request.
const fn host(
    name: &'static str,
    signature: &'static str,
    permission: Permission,
    request: &'static str,
    doc: &'static str,
) -> StarlarkBuiltin {
    StarlarkBuiltin {
        name,
        signature,
        permission: Some(permission),
        request: Some(request),
        doc,
    }
}

const BUILTINS: &[StarlarkBuiltin] = &[
    inside(
        "register_tool",
        "register_tool(name, description, handler, input_schema=None)",
        "Registers a tool for the model. `handler(input)` gets a dict and returns any value that can be JSON; `input_schema` is a JSON \
         Schema as a dict. Call it while the entrypoint is loaded.",
    ),
    inside(
        "register_hook",
        "register_hook(phase, handler, fail_closed=False)",
        "Registers a hook for a phase such as `\"before_tool_call\"`. `handler(event)` returns `None` (no change) or a dict (the new \
         event), or calls `cancel(reason)`. With `fail_closed`, an error of the handler cancels too, in a skill of the type \
         `security-rule`. Call it while the entrypoint is loaded, once for each phase.",
    ),
    inside(
        "register_workflow",
        "register_workflow(name, handler, description=\"\")",
        "Registers a workflow that can be run by its name. `handler(input)` gets a dict: from the command line `{\"arguments\": [...], \
         \"text\": \"...\"}`, and the fields of the text if it is a JSON object. Call it while the entrypoint is loaded.",
    ),
    inside(
        "register_scanner",
        "register_scanner(name, handler)",
        "Registers a scanner for the files of other skills. `handler(files)` gets a list of `struct(path, content)` and returns a list of \
         dicts with `rule`, `severity` (`info`, `warning`, `critical`), `file`, `line` and `message`. Call it while the entrypoint is \
         loaded.",
    ),
    inside(
        "cancel",
        "cancel(reason)",
        "Cancels the event of a hook and ends the handler: no code after it runs, with or without `return`.",
    ),
    inside(
        "skill",
        "skill.name, skill.directory, skill.config, skill.permissions",
        "The skill itself: its name, its folder, the user's settings for it, and the list of granted permissions, such as \
         `\"file:read\"`.",
    ),
    host(
        "read_file",
        "read_file(path, or_none=False) -> string",
        Permission::FileRead,
        "host/read_file",
        "Returns the text of a file; the path is absolute or relative to the project. Files of the skill itself need no permission.",
    ),
    host(
        "write_file",
        "write_file(path, content)",
        Permission::FileWrite,
        "host/write_file",
        "Replaces the content of a file.",
    ),
    host(
        "glob",
        "glob(pattern, or_none=False) -> list of strings",
        Permission::FileRead,
        "host/glob",
        "Returns the files that match a pattern such as `src/**/*.rs`, sorted.",
    ),
    host(
        "grep",
        "grep(pattern, path=None, glob=None, or_none=False) -> list of struct(path, line, text)",
        Permission::FileRead,
        "host/grep",
        "Returns the lines that match a regular expression, in a file or folder or in the whole project; `glob` limits the files.",
    ),
    host(
        "exec",
        "exec(command, *arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::ShellExec,
        "host/exec",
        "Runs a shell command line; with more than one argument, a program with its arguments, each passed unchanged, and the result is a \
         dict with the same names. A program that fails is not an error: check `exit`, which is `None` if the program was killed.",
    ),
    host(
        "fetch",
        "fetch(url, method=\"GET\", headers={}, body=None, or_none=False) -> struct(status, headers, body)",
        Permission::NetFetch,
        "host/fetch",
        "Sends a request. A status such as 404 is not an error. Header names in the result are lower-case.",
    ),
    host(
        "env",
        "env(name, default=None) -> string",
        Permission::EnvRead,
        "host/env",
        "Returns the value of an environment variable, or the default if it is not set.",
    ),
    host(
        "set_env",
        "set_env(name, value)",
        Permission::EnvWrite,
        "host/set_env",
        "Sets an environment variable for programs that this skill runs later.",
    ),
    host(
        "git",
        "git(*arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitRead,
        "host/git",
        "Runs git with these arguments. Commands that change the repository need `git:write`.",
    ),
    host(
        "git_status",
        "git_status(*arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitRead,
        "host/git",
        "`git status --porcelain`.",
    ),
    host(
        "git_diff",
        "git_diff(*arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitRead,
        "host/git",
        "`git diff`.",
    ),
    host(
        "git_log",
        "git_log(*arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitRead,
        "host/git",
        "`git log`.",
    ),
    host(
        "git_show",
        "git_show(*arguments, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitRead,
        "host/git",
        "`git show`.",
    ),
    host(
        "git_add",
        "git_add(*paths, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitWrite,
        "host/git",
        "`git add --` with these paths.",
    ),
    host(
        "git_commit",
        "git_commit(message, or_none=False) -> struct(exit, stdout, stderr, truncated)",
        Permission::GitWrite,
        "host/git",
        "`git commit -m` with this message.",
    ),
    host(
        "llm",
        "llm(prompt, system=None, model=None, or_none=False) -> string",
        Permission::LlmCall,
        "host/llm",
        "Returns the response of a model to a prompt; without a name, the model of the session is used.",
    ),
    host(
        "llm_complete",
        "llm_complete(prompt, or_none=False) -> string",
        Permission::LlmCall,
        "host/llm",
        "The same as `llm(prompt)`, under the name that Rubichan skills use.",
    ),
    host(
        "invoke_skill",
        "invoke_skill(name, tool=None, input={}, or_none=False) -> any value",
        Permission::SkillInvoke,
        "host/invoke_skill",
        "Calls a tool of another skill, or without `tool` its workflow. An error of the other skill is an error here.",
    ),
    StarlarkBuiltin {
        name: "log",
        signature: "log(message, level=\"info\")",
        permission: None,
        request: Some("host/log"),
        doc: "Writes a line to the log; the level is `debug`, `info`, `warn` or `error`. The call does not wait for it.",
    },
    StarlarkBuiltin {
        name: "print",
        signature: "print(*values)",
        permission: None,
        request: Some("host/log"),
        doc: "Writes its values to the log, separated by spaces.",
    },
    inside(
        "json",
        "json.encode(value) -> string, json.decode(text, or_none=False) -> any value",
        "Encodes and decodes JSON exactly: integers of any size stay integers.",
    ),
    inside(
        "regex",
        "regex.matches(pattern, text) -> bool, regex.find(pattern, text) -> list of strings, regex.replace(pattern, text, replacement) -> string",
        "Regular expressions that run in linear time. `find` returns the first group of each match if there is one; `$1` in a replacement \
         is a group.",
    ),
];
