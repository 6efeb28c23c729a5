//! The permissions of a command line besides its program: hosts and files.
//!
//! A program accesses the network and the disk with the permissions of the skill, so a proposal of only
//! `shell:exec(gh *)` would not work. Programs of one service have its host; programs that contact hosts from their settings cannot be
//! narrowed, and require a bare `net:fetch`. Files are proposed where the command line names them; files that a program reads by itself
//! (`git`, a test runner) are not.

/// The hosts that a program contacts.
pub(super) struct CommandReach {
    program: &'static [&'static str],
    /// The subcommands that contact a host; empty if all do.
    verbs: &'static [&'static str],
    /// The hosts; empty if its settings name them.
    pub(super) hosts: &'static [&'static str],
}

const fn reach(
    program: &'static [&'static str],
    verbs: &'static [&'static str],
    hosts: &'static [&'static str],
) -> CommandReach {
    CommandReach {
        program,
        verbs,
        hosts,
    }
}

#[rustfmt::skip]
const REACHES: &[CommandReach] = &[
    reach(&["gh"], &[], &["api.github.com"]),
    reach(&["glab"], &[], &["gitlab.com"]),
    reach(&["git"], &["fetch", "pull", "push", "clone", "ls-remote"], &[]),
    reach(&["npm", "pnpm", "yarn", "bun"], &["install", "i", "ci", "add", "publish", "view", "info", "search", "audit", "outdated",
        "update", "login", "whoami", "dlx"], &["registry.npmjs.org"]),
    reach(&["npx", "bunx"], &[], &["registry.npmjs.org"]),
    reach(&["pip", "pip3", "pipx", "uv", "poetry"], &["install", "download", "add", "sync", "lock", "publish", "upgrade"],
        &["pypi.org", "files.pythonhosted.org"]),
    reach(&["uvx"], &[], &["pypi.org", "files.pythonhosted.org"]),
    reach(&["twine"], &["upload"], &["upload.pypi.org"]),
    reach(&["cargo"], &["install", "add", "update", "publish", "search", "fetch"], &["crates.io", "index.crates.io", "static.crates.io"]),
    reach(&["go"], &["get", "install", "download"], &["proxy.golang.org", "sum.golang.org"]),
    reach(&["gem", "bundle"], &["install", "push", "update"], &["rubygems.org"]),
    reach(&["brew"], &["install", "update", "upgrade", "tap"], &["formulae.brew.sh", "ghcr.io"]),
    reach(&["playwright"], &["install"], &["cdn.playwright.dev"]),
    reach(&["vercel"], &[], &["api.vercel.com"]),
    reach(&["netlify"], &[], &["api.netlify.com"]),
    reach(&["wrangler"], &[], &["api.cloudflare.com"]),
    reach(&["fly", "flyctl"], &[], &["api.fly.io"]),
    reach(&["stripe"], &[], &["api.stripe.com"]),
    reach(&["doppler"], &[], &["api.doppler.com"]),
    reach(&["heroku"], &[], &["api.heroku.com"]),
    reach(&["hf", "huggingface-cli"], &[], &["huggingface.co"]),
    reach(&["terraform", "tofu"], &["init", "plan", "apply", "destroy", "import", "refresh"], &[]),
    reach(&["kubectl", "helm", "oc", "k9s", "argocd", "aws", "gcloud", "gsutil", "az", "pulumi", "psql", "mysql", "mysqldump",
        "pg_dump", "mongosh", "redis-cli", "op", "bw", "vault", "ansible", "ansible-playbook", "yt-dlp", "youtube-dl"], &[], &[]),
    reach(&["apt", "apt-get", "dnf", "yum", "pacman", "apk", "conda"], &["install", "update", "upgrade", "add"], &[]),
];

/// The hosts that the program of a command line contacts.
pub(super) fn reached(program: &str, words: &[String]) -> Option<&'static CommandReach> {
    // `python -m pip install`
    let (program, words) = match words {
        [flag, module, rest @ ..] if flag == "-m" && program.starts_with("python") => {
            (module.as_str(), rest)
        }
        _ => (program, words),
    };
    REACHES.iter().find(|reach| {
        reach.program.contains(&program)
            && (reach.verbs.is_empty()
                || words
                    .iter()
                    .take(4)
                    .any(|word| reach.verbs.contains(&word.as_str())))
    })
}

/// Whether a word is a known program; for words in prose, which can be anything.
pub(super) fn is_known(program: &str) -> bool {
    const OTHERS: &[&str] = &[
        "docker",
        "make",
        "jq",
        "rg",
        "fd",
        "ffmpeg",
        "ffprobe",
        "pandoc",
        "pytest",
        "ruff",
        "mypy",
        "eslint",
        "prettier",
        "tsc",
        "node",
        "deno",
        "python",
        "python3",
        "bash",
        "sh",
        "curl",
        "wget",
        "ssh",
        "scp",
        "rsync",
        "sqlite3",
        "magick",
        "pdftotext",
        "mvn",
        "gradle",
        "dotnet",
        "swift",
        "xcodebuild",
    ];
    OTHERS.contains(&program) || REACHES.iter().any(|reach| reach.program.contains(&program))
}

/// Programs that run the script that is their first argument.
pub(super) fn is_interpreter(program: &str) -> bool {
    program.starts_with("python")
        || matches!(
            program,
            "node"
                | "bash"
                | "sh"
                | "zsh"
                | "dash"
                | "ruby"
                | "perl"
                | "php"
                | "lua"
                | "pwsh"
                | "tsx"
                | "ts-node"
                | "source"
                | "."
                | "Rscript"
                | "osascript"
                | "fish"
                | "ksh"
        )
}

/// Shell built-ins, and commands of Windows.
pub(super) fn is_builtin(program: &str) -> bool {
    const WORDS: &[&str] = &[
        ".",
        ":",
        "[",
        "[[",
        "]",
        "alias",
        "bg",
        "break",
        "builtin",
        "case",
        "cd",
        "command",
        "complete",
        "continue",
        "declare",
        "dirs",
        "do",
        "done",
        "echo",
        "elif",
        "else",
        "esac",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "fi",
        "for",
        "function",
        "getopts",
        "hash",
        "if",
        "jobs",
        "let",
        "local",
        "logout",
        "popd",
        "printf",
        "pushd",
        "pwd",
        "read",
        "readonly",
        "rem",
        "return",
        "select",
        "set",
        "setlocal",
        "endlocal",
        "shift",
        "shopt",
        "source",
        "test",
        "then",
        "time",
        "times",
        "trap",
        "true",
        "type",
        "typeset",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "until",
        "wait",
        "while",
        "indirect",
        "call",
        "goto",
        "pause",
        "exit/b",
        "mapfile",
        "readarray",
        "disown",
        "suspend",
        "in",
    ];
    WORDS.contains(&program)
}

/// A file that a command line names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NamedProgram<'w> {
    /// A file that is read; a folder with its content if the flag is set.
    Read(&'w str, bool),
    /// A file that is written.
    Write(&'w str),
}

/// The command that a program starts with secrets in its environment: `op run -- npm start`.
pub(super) fn within<'w>(program: &str, words: &'w [String]) -> Option<&'w [String]> {
    let starts = matches!(
        program,
        "op" | "doppler" | "infisical" | "aws-vault" | "chamber" | "dotenv" | "vault"
    );
    let position = words.iter().position(|word| word == "--")?;
    starts.then(|| &words[position + 1..])
}

/// The meaning of a program's arguments, apart from flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandUse {
    /// Files that are read.
    Files,
    /// A pattern or program text, then files.
    AfterFirst,
    /// Folders that are listed, up to the first flag.
    Folders,
    /// Files that are read; the last one is written, which is an act.
    ToLast,
    /// Files that are read; the last one is created.
    Make,
    /// Not files.
    Aside,
    /// Files if they clearly look like files.
    Marked,
}

#[rustfmt::skip]
fn operands(program: &str) -> OperandUse {
    match program {
        "cat" | "head" | "tail" | "less" | "more" | "tac" | "nl" | "wc" | "sort" | "uniq" | "cut" | "strings" | "xxd" | "hexdump"
        | "file" | "stat" | "diff" | "cmp" | "comm" | "paste" | "column" | "base64" | "md5sum" | "sha256sum" | "shasum" | "ffprobe"
        | "exiftool" | "identify" | "sqlite3" | "pandoc" | "source" | "." | "gunzip" | "zcat" | "unzip" => OperandUse::Files,
        "grep" | "egrep" | "rg" | "sed" | "awk" | "gawk" | "jq" | "yq" | "ag" => OperandUse::AfterFirst,
        "find" | "ls" | "tree" | "du" | "fd" => OperandUse::Folders,
        "cp" | "mv" | "install" | "ln" => OperandUse::ToLast,
        "ffmpeg" | "convert" | "magick" | "pdftotext" => OperandUse::Make,
        "rm" | "mkdir" | "chmod" | "chown" | "touch" | "git" | "curl" | "wget" | "ssh" | "tee" | "which" | "kill" | "docker"
        | "echo" | "printf" | "cd" | "test" | "[" | "[[" | "export" | "basename" | "dirname" | "realpath" => OperandUse::Aside,
        _ => OperandUse::Marked,
    }
}

/// The files that a command line names.
pub(super) fn named<'w>(program: &str, words: &'w [String]) -> Vec<NamedProgram<'w>> {
    let mut found = Vec::new();
    let mut plain = Vec::new();
    let mut patterned = false;
    let kind = operands(program);
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if !word.starts_with('-') || word.len() == 1 {
            plain.push(word);
            continue;
        }
        if kind == OperandUse::Folders && !plain.is_empty() {
            break;
        }
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        patterned |= matches!(flag, "-e" | "-f" | "--regexp" | "--file");
        let purpose = purpose(program, flag);
        let takes = purpose.is_some() || has_value(program, flag);
        let value = inline.or_else(|| takes.then(|| rest.next()).flatten());
        let (Some(purpose), Some(value)) = (purpose, value) else {
            continue;
        };
        let is_file = looks_like_file(value) || (inline.is_some() && flag == "-out");
        match purpose {
            CommandPurpose::Write if is_file => found.push(NamedProgram::Write(value)),
            CommandPurpose::Read if is_file => found.push(NamedProgram::Read(value, false)),
            CommandPurpose::Walk => found.push(NamedProgram::Read(value, true)),
            CommandPurpose::Read | CommandPurpose::Write => {}
        }
    }
    match kind {
        OperandUse::Make => found.extend(plain.pop().map(NamedProgram::Write)),
        OperandUse::ToLast => drop(plain.pop()),
        OperandUse::AfterFirst if !patterned && !plain.is_empty() => drop(plain.remove(0)),
        OperandUse::Aside => plain.clear(),
        _ => {}
    }
    let marked = |word: &str| {
        ["./", "~/", "../"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    let recursive = words.iter().any(|word| is_recursive(word));
    for word in plain {
        let reads = kind != OperandUse::Marked || marked(word);
        let folder = match kind {
            OperandUse::Folders => !has_ending(word),
            OperandUse::Marked => !has_ending(word),
            _ => recursive && !has_ending(word),
        };
        if reads {
            found.push(NamedProgram::Read(word, folder));
        }
    }
    found
}

/// `-r`, `-rn`, `-R`, `-a`: the argument is a folder.
fn is_recursive(word: &str) -> bool {
    word == "--recursive"
        || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R', 'a']))
}

/// The meaning of a flag's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandPurpose {
    Read,
    Walk,
    Write,
}

fn purpose(program: &str, flag: &str) -> Option<CommandPurpose> {
    match flag {
        "-o" if matches!(
            program,
            "grep" | "rg" | "egrep" | "ssh" | "ps" | "ls" | "find"
        ) =>
        {
            None
        }
        "-o" | "--output" | "--out" | "-out" | "--outfile" | "--output-file" => {
            Some(CommandPurpose::Write)
        }
        "--env-file" | "--config-file" => Some(CommandPurpose::Read),
        "--directory" => Some(CommandPurpose::Walk),
        "-i" | "--input"
            if !matches!(
                program,
                "sed" | "ssh" | "scp" | "rsync" | "grep" | "rg" | "egrep" | "docker" | "jq" | "yq"
            ) =>
        {
            Some(CommandPurpose::Read)
        }
        _ => None,
    }
}

/// Whether a flag is followed by a value that is not a file. All flags of `ffmpeg` are.
fn has_value(program: &str, flag: &str) -> bool {
    match program {
        "ffmpeg" | "ffprobe" => !matches!(
            flag,
            "-y" | "-n" | "-hide_banner" | "-nostdin" | "-vn" | "-an"
        ),
        "head" | "tail" | "sed" | "grep" | "rg" | "egrep" | "sort" | "cut" | "awk" | "column"
        | "tree" | "du" => {
            matches!(
                flag,
                "-n" | "-c"
                    | "-e"
                    | "-m"
                    | "-A"
                    | "-B"
                    | "-C"
                    | "-k"
                    | "-t"
                    | "-d"
                    | "-F"
                    | "-v"
                    | "-s"
                    | "-g"
                    | "--include"
                    | "--exclude"
                    | "--exclude-dir"
                    | "-L"
                    | "-I"
            ) && !(flag == "-n" && matches!(program, "sed" | "grep" | "rg" | "egrep" | "sort"))
                && !(matches!(flag, "-v" | "-c" | "-L" | "-I" | "-s" | "-F" | "-d")
                    && matches!(program, "grep" | "rg" | "egrep"))
                && !(matches!(flag, "-c" | "-d" | "-s") && matches!(program, "sort" | "du"))
        }
        "jq" => matches!(flag, "--arg" | "--argjson" | "--indent"),
        _ => false,
    }
}

/// Whether a word can only be a file: it has a folder or an extension, or is not a known word.
fn looks_like_file(word: &str) -> bool {
    word.contains('\0') || word.contains('/') || has_ending(word) || word.starts_with('.')
}

fn has_ending(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && stem
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_distinguished_from_other_words() {
        let check = |line: &str, expected: &[NamedProgram<'_>]| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(named(&words[0], &words[1..]), expected, "{line}");
        };
        check(
            "cat a.txt b",
            &[
                NamedProgram::Read("a.txt", false),
                NamedProgram::Read("b", false),
            ],
        );
        check(
            "tail -n 50 app.log",
            &[NamedProgram::Read("app.log", false)],
        );
        check(
            "jq -r .version package.json",
            &[NamedProgram::Read("package.json", false)],
        );
        check("grep -rn needle src", &[NamedProgram::Read("src", true)]);
        check(
            "grep -e a -e b x.txt",
            &[NamedProgram::Read("x.txt", false)],
        );
        check("find . -name x.py", &[NamedProgram::Read(".", true)]);
        check("cp a.txt b.txt", &[NamedProgram::Read("a.txt", false)]);
        check("git add ./src", &[]);
        check("kubectl get pods -o wide", &[]);
        check(
            "pandoc a.md -o a.pdf",
            &[
                NamedProgram::Write("a.pdf"),
                NamedProgram::Read("a.md", false),
            ],
        );
        check(
            "ffmpeg -i a.mp4 -c copy b.mp4",
            &[
                NamedProgram::Read("a.mp4", false),
                NamedProgram::Write("b.mp4"),
            ],
        );
        check(
            "terraform plan -out=tfplan",
            &[NamedProgram::Write("tfplan")],
        );
        check("tool run ./data x", &[NamedProgram::Read("./data", true)]);
    }

    #[test]
    fn programs_talk_to_their_homes() {
        let check = |line: &str, expected: Option<&[&str]>| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = reached(&words[0], &words[1..]).map(|reach| reach.hosts);
            assert_eq!(found, expected, "{line}");
        };
        check("gh pr view", Some(&["api.github.com"]));
        check("git log", None);
        check("git push", Some(&[]));
        check("npm test", None);
        check(
            "python3 -m pip install x",
            Some(&["pypi.org", "files.pythonhosted.org"]),
        );
        check("kubectl get pods", Some(&[]));
        check("docker ps", None);
    }
}
