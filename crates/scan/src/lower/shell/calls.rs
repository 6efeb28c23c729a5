//! Words into calls: the program's name, and the programs that run other programs.

use crate::form::{Arg, At, CallExpr, Expr, Stmt};

/// Commands that don't read their input, so a group's input isn't theirs.
pub(super) const NO_READERS: &[&str] = &[
    ":", "[", "cd", "echo", "exit", "export", "false", "mkdir", "printf", "return", "rm", "set",
    "sleep", "test", "trap", "true",
];

/// How many programs may run each other in one command.
const NESTED: usize = 6;

/// A program that runs the one named in its arguments.
struct WrappingCommand {
    name: &'static str,
    /// Flags that take a value.
    valued: &'static [&'static str],
    /// The number of its own arguments before the command.
    own: usize,
}

const fn wrapper(
    name: &'static str,
    valued: &'static [&'static str],
    own: usize,
) -> WrappingCommand {
    WrappingCommand { name, valued, own }
}

const WRAPPERS: &[WrappingCommand] = &[
    wrapper("builtin", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("chroot", &["--userspec", "--groups"], 1),
    wrapper("command", &[], 0),
    wrapper("coproc", &[], 0),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper(
        "env",
        &["-u", "--unset", "-C", "--chdir", "-S", "--split-string"],
        0,
    ),
    wrapper("exec", &["-a"], 0),
    wrapper("flock", &["-w", "--timeout", "-E"], 1),
    wrapper("ionice", &["-c", "-n", "-p"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("nocorrect", &[], 0),
    wrapper("noglob", &[], 0),
    wrapper("nohup", &[], 0),
    wrapper("proxychains", &["-f"], 0),
    wrapper("proxychains4", &["-f"], 0),
    wrapper("setsid", &[], 0),
    wrapper(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
        0,
    ),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u"], 0),
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group",
            "--prompt", "--host", "--chdir",
        ],
        0,
    ),
    wrapper("taskset", &["-p"], 1),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("torsocks", &["-a", "-P"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("unshare", &["-S", "-G", "-R", "-w"], 0),
    wrapper(
        "xargs",
        &[
            "-I",
            "-J",
            "-n",
            "-P",
            "-L",
            "-d",
            "-s",
            "-E",
            "-a",
            "-R",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
        ],
        0,
    ),
];

/// The effect of a command: usually a call, but `read` and similar ones bind names.
pub(super) fn statements(words: Vec<Expr>, at: At, end: At) -> Vec<Stmt> {
    if words.is_empty() {
        return Vec::new();
    }
    let call = build(words, at, end, 0);
    let names = bound(&call);
    let mut out = Vec::new();
    if call.callee == "alias" {
        out.extend(call.args.iter().filter_map(alias));
    }
    let Some((first, others)) = names.split_first() else {
        out.push(Stmt::Do(Expr::Call(Box::new(call))));
        return out;
    };
    out.push(Stmt::Let {
        name: first.clone(),
        value: Expr::Call(Box::new(call)),
        at,
    });
    for name in others {
        out.push(Stmt::Let {
            name: name.clone(),
            value: Expr::Name(first.clone(), at),
            at,
        });
    }
    out
}

/// The names that a command binds.
fn bound(call: &CallExpr) -> Vec<String> {
    let texts: Vec<&str> = call
        .args
        .iter()
        .map(|arg| {
            if let Expr::Text(text, _) = &arg.value {
                text
            } else {
                ""
            }
        })
        .collect();
    let valued: &[&str] = match call.callee.as_str() {
        "read" => &["-p", "-d", "-n", "-N", "-t", "-u", "-i"],
        "mapfile" | "readarray" => &["-d", "-n", "-O", "-s", "-u", "-C", "-c"],
        "printf" => {
            let name = texts
                .iter()
                .position(|text| *text == "-v")
                .and_then(|flag| texts.get(flag + 1));
            return name
                .map(|name| vec![(*name).to_owned()])
                .unwrap_or_default();
        }
        _ => return Vec::new(),
    };
    let mut names = Vec::new();
    let mut rest = texts.into_iter();
    while let Some(text) = rest.next() {
        if valued.contains(&text)
            || (text.len() > 2
                && !text.starts_with("--")
                && valued.contains(&format!("-{}", &last(text)).as_str()))
        {
            rest.next();
        } else if !text.is_empty() && !text.starts_with('-') {
            names.push(text.to_owned());
        }
    }
    if names.is_empty() {
        names.push(
            if call.callee == "read" {
                "REPLY"
            } else {
                "MAPFILE"
            }
            .to_owned(),
        );
    }
    names
}

/// The last letter of bundled flags: `-rp` is `-r -p`. Words that aren't flags have none.
fn last(text: &str) -> String {
    text.strip_prefix('-')
        .and_then(|flags| flags.chars().last())
        .map(String::from)
        .unwrap_or_default()
}

/// `alias ll='ls -l'` is a function that evaluates its text.
fn alias(arg: &Arg) -> Option<Stmt> {
    let Expr::Text(text, at) = &arg.value else {
        return None;
    };
    let (name, body) = text.split_once('=')?;
    let args = vec![Arg::plain(Expr::Text(body.to_owned(), *at))];
    let call = CallExpr {
        callee: "eval".to_owned(),
        on: None,
        args,
        input: None,
        at: *at,
        end: *at,
    };
    Some(Stmt::Function {
        name: name.to_owned(),
        params: Vec::new(),
        body: vec![Stmt::Do(Expr::Call(Box::new(call)))],
    })
}

/// The call for a list of words. Programs that run another keep it as a nested call: `sudo -n curl x` is `sudo ["-n", curl ["x"]]`.
fn build(mut words: Vec<Expr>, at: At, end: At, nested: usize) -> CallExpr {
    let rest = words.split_off(1);
    let (callee, on) = match words.pop() {
        Some(Expr::Text(text, at)) if text.is_empty() => {
            (String::new(), Some(Expr::Text(text, at)))
        }
        Some(Expr::Text(text, _)) => (program(&text), None),
        other => (String::new(), other),
    };
    let args = if nested >= NESTED {
        plain(rest)
    } else if callee == "find" || callee == "fd" {
        executed(rest, end, nested)
    } else {
        wrapped(&callee, rest, end, nested)
    };
    CallExpr {
        callee,
        on,
        args,
        input: None,
        at,
        end,
    }
}

/// A program's name, without its folder if that is one for programs: a file elsewhere may have been put there.
fn program(text: &str) -> String {
    const FOLDERS: &[&str] = &[
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/opt/homebrew/bin",
    ];
    if let Some((folder, name)) = text.rsplit_once('/')
        && !FOLDERS.contains(&folder)
        && !name.is_empty()
    {
        return text.to_owned();
    }
    match text.trim_end_matches('/').rsplit('/').next() {
        _ if text == "." => "source".to_owned(),
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => text.to_owned(),
    }
}

fn plain(words: Vec<Expr>) -> Vec<Arg> {
    words.into_iter().map(Arg::plain).collect()
}

fn wrapped(callee: &str, mut words: Vec<Expr>, end: At, nested: usize) -> Vec<Arg> {
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == callee) else {
        return plain(words);
    };
    let mut own = wrapper.own;
    let mut start = 0;
    while let Some(Expr::Text(text, _)) = words.get(start) {
        if callee == "command" && matches!(text.as_str(), "-v" | "-V") {
            return plain(words);
        }
        if text == "--" {
            start += 1;
            break;
        }
        if wrapper.valued.contains(&text.as_str()) {
            start += 2;
        } else if text.starts_with('-')
            || (matches!(callee, "env" | "sudo" | "doas") && binds(text))
        {
            start += 1;
        } else if own > 0 {
            own -= 1;
            start += 1;
        } else {
            break;
        }
    }
    // `env A="$b" cmd`: the assignment isn't plain text.
    while matches!(words.get(start), Some(Expr::Join(parts)) if matches!(parts.first(), Some(Expr::Text(text, _)) if binds(text)))
    {
        start += 1;
    }
    if start >= words.len() {
        return plain(words);
    }
    let inner = words.split_off(start);
    let at = begins(inner.first());
    let mut args = plain(words);
    args.push(Arg::plain(Expr::Call(Box::new(build(
        inner,
        at,
        end,
        nested + 1,
    )))));
    args
}

/// `find … -exec cmd … \;`
fn executed(words: Vec<Expr>, end: At, nested: usize) -> Vec<Arg> {
    let mut args = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let runs = matches!(&word, Expr::Text(text, _) if matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X"));
        args.push(Arg::plain(word));
        if runs {
            let ends =
                |word: &Expr| matches!(word, Expr::Text(text, _) if text == ";" || text == "+");
            let inner: Vec<Expr> = words.by_ref().take_while(|word| !ends(word)).collect();
            if !inner.is_empty() {
                let at = begins(inner.first());
                args.push(Arg::plain(Expr::Call(Box::new(build(
                    inner,
                    at,
                    end,
                    nested + 1,
                )))));
            }
        }
    }
    args
}

/// Whether a word is `NAME=…`.
fn binds(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
            && !name.starts_with(|char: char| char.is_ascii_digit())
    })
}

/// Where a value begins.
fn begins(value: Option<&Expr>) -> At {
    match value {
        Some(Expr::Text(_, at) | Expr::Name(_, at) | Expr::Number(_, at)) => *at,
        Some(Expr::Call(call)) => call.at,
        Some(Expr::Join(parts) | Expr::Parts(parts) | Expr::List(parts)) => begins(parts.first()),
        _ => 0,
    }
}
