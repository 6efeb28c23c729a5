//! The acts of programs when a shell starts them.

mod code;
mod fetch;
mod files;
mod network;
mod text;

use super::{
    ActKind, EvaluatedLanguage, HostKind, PathKind, RemoteHost, SourceKind, Taint, eval::Evaluator,
    path_kind, value::FlowValue,
};
use crate::form::{Arg, At, CallExpr, Expr, OTHERWISE, READ, WRITE};

/// A command in a shell program.
pub(super) fn command(this: &mut Evaluator<'_>, call: &CallExpr) -> FlowValue {
    if let Some(within) = wrapped(call) {
        this.starts(&call.callee, &[], call.at);
        return this.value(&Expr::Call(Box::new(within)));
    }
    let input = call.input.as_ref().map(|input| this.value(input));
    let words: Vec<FlowValue> = call.args.iter().map(|arg| this.value(&arg.value)).collect();
    match call.callee.as_str() {
        READ => {
            let path = words.into_iter().next().unwrap_or_default();
            let device = path.known().and_then(|path| path.strip_prefix("/dev/tcp/"));
            if let Some(host) = device {
                let url = format!("tcp://{}", host.replace('/', ":"));
                return FlowValue::source(SourceKind::Download, &url, this.site(call.at));
            }
            return this.read(&path, call.at);
        }
        WRITE => {
            let path = words.into_iter().next().unwrap_or_default();
            let data = input.unwrap_or_default();
            if path
                .known()
                .is_some_and(|path| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/"))
            {
                send_to_device(this, &path, &data, call.at);
            } else if !path.known().is_some_and(|path| {
                path.starts_with("/dev/") && path_kind(path) != PathKind::Device
            }) {
                this.write(&path, &data, call.at);
            }
            return FlowValue::default();
        }
        _ => {}
    }
    // `${x:-other}`: an unknown value may be the other one.
    if call.callee == OTHERWISE {
        let mut value = match &call.on {
            Some(on) => this.value(on),
            None => FlowValue::default(),
        };
        let other = words.into_iter().next().unwrap_or_default();
        value.absorb(&other);
        if value.texts.is_empty() {
            value.texts = other.texts;
        }
        return value;
    }
    // `${!ref}`: the value of the variable that `ref` names.
    if call.callee == "indirect" {
        let name = words.first().and_then(FlowValue::known).unwrap_or_default();
        return this.value(&Expr::Name(name.to_owned(), call.at));
    }
    let program = match (&call.on, call.callee.as_str()) {
        (Some(on), "") => this.value(on),
        (_, name) => FlowValue::text(name),
    };
    // `on` of a method in PowerShell: `(New-Object Net.WebClient).DownloadString(…)`.
    let receiver = call
        .on
        .as_ref()
        .filter(|_| !call.callee.is_empty())
        .map(|on| this.value(on));
    let mut result = invoke(this, &program, words, input, call.at);
    if let Some(receiver) = receiver {
        result.absorb(&receiver);
    }
    result
}

/// `x | sudo bash`: the command inside `sudo` gets the input of `sudo`; `xargs` turns it into arguments.
fn wrapped(call: &CallExpr) -> Option<CallExpr> {
    if !WRAPPERS.contains(&call.callee.as_str()) {
        return None;
    }
    let within = call.args.iter().find_map(|arg| match &arg.value {
        Expr::Call(within) => Some(within),
        _ => None,
    })?;
    let mut within = (**within).clone();
    match &call.input {
        Some(input) if matches!(call.callee.as_str(), "xargs" | "parallel") => {
            // In place of `{}`, or at the end.
            for arg in &mut within.args {
                if matches!(&arg.value, Expr::Text(text, _) if text == "{}") {
                    arg.value = input.clone();
                }
            }
            within.args.push(Arg::plain(input.clone()));
        }
        Some(input) => within.input = within.input.or_else(|| Some(input.clone())),
        None => {}
    }
    Some(within)
}

/// A program with its arguments.
pub(super) fn invoke(
    this: &mut Evaluator<'_>,
    program: &FlowValue,
    words: Vec<FlowValue>,
    input: Option<FlowValue>,
    at: At,
) -> FlowValue {
    // `c=(curl -s url); "${c[@]}"`
    if let Some([program, rest @ ..]) = program.items.as_deref() {
        let words = rest.iter().cloned().chain(words).collect();
        return invoke(this, program, words, input, at);
    }
    let Some(name) = program.known() else {
        let mut value = FlowValue::default();
        let mut taints = program.taints.clone();
        taints.extend(fetched(this, program));
        this.act(ActKind::Run, at, "\0", "", None, taints);
        words
            .iter()
            .chain(&input)
            .for_each(|word| value.absorb(word));
        return value;
    };
    // A known text as the program's name can contain its arguments: `X="curl -s"; $X url`.
    let mut parts = name.split_whitespace();
    let first = parts.next().unwrap_or_default();
    let mut all: Vec<FlowValue> = parts.map(FlowValue::text).collect();
    all.extend(words);
    let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
    // Names of programs are case-sensitive, except those of Windows.
    let name = if this.language == EvaluatedLanguage::Shell && !first.ends_with(".exe") {
        name.to_owned()
    } else {
        name.to_ascii_lowercase()
    };
    let name = name.trim_end_matches(".exe").to_owned();
    this.starts(first, &all, at);
    let mut command = RunCommand {
        name: &name,
        path: first,
        words: all,
        input: input.unwrap_or_default(),
        at,
    };
    let mut taints = program.taints.clone();
    if command.path.contains(['/', '\\']) {
        taints.extend(fetched(this, &FlowValue::text(command.path)));
    }
    if !taints.is_empty() {
        this.act(ActKind::Run, at, &command.line(), "", None, taints);
    }
    command.run(this)
}

struct RunCommand<'c> {
    name: &'c str,
    /// As written, with its folder.
    path: &'c str,
    words: Vec<FlowValue>,
    input: FlowValue,
    at: At,
}

/// Programs that send and fetch.
const FETCHERS: &[&str] = &[
    "curl",
    "wget",
    "http",
    "https",
    "httpie",
    "xh",
    "aria2c",
    "axel",
    "lynx",
    "fetch",
    "invoke-webrequest",
    "invoke-restmethod",
    "start-bitstransfer",
    "bitsadmin",
    "certutil",
];
const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh",
];
/// Programs that start another one from their arguments.
const WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "nohup",
    "time",
    "command",
    "exec",
    "builtin",
    "busybox",
    "xargs",
    "timeout",
    "stdbuf",
    "setsid",
    "nice",
    "ionice",
    "caffeinate",
    "watch",
    "script",
    "unbuffer",
    "screen",
    "tmux",
    "call",
    "cmd",
    "chroot",
    "su",
    "arch",
    "flock",
    "parallel",
];

impl RunCommand<'_> {
    fn line(&self) -> String {
        let mut line = self.path.to_owned();
        for word in &self.words {
            line.push(' ');
            line.push_str(&word.shown());
        }
        line
    }

    /// The command line is an act of this kind, with any arguments.
    fn does(&self, this: &mut Evaluator<'_>, kind: ActKind) {
        this.act(kind, self.at, &self.line(), self.name, None, Vec::new());
    }

    /// Its piped input is run, as a program of this language.
    fn runs_input(
        &self,
        this: &mut Evaluator<'_>,
        kind: ActKind,
        language: EvaluatedLanguage,
    ) -> FlowValue {
        let input = &self.input;
        this.act(
            kind,
            self.at,
            &input.shown(),
            self.name,
            None,
            input.taints.clone(),
        );
        this.with_ambient(input, |this| this.nested(language, input, self.at))
    }

    /// Arguments and input together.
    fn given(&self) -> FlowValue {
        let mut value = FlowValue::default();
        self.words.iter().for_each(|word| value.absorb(word));
        value.absorb(&self.input);
        value
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(FlowValue::known)
    }

    fn has_flag(&self, long: &str, short: char) -> bool {
        self.texts().any(|word| {
            word == long
                || (word.len() > 1
                    && !word.starts_with("--")
                    && word.strip_prefix('-').is_some_and(|letters| {
                        letters
                            .chars()
                            .take_while(char::is_ascii_alphabetic)
                            .any(|letter| letter == short)
                    }))
        })
    }

    /// Arguments that are not flags.
    fn operands(&self) -> impl Iterator<Item = &FlowValue> {
        self.words.iter().filter(|word| {
            !word
                .known()
                .is_some_and(|word| word.starts_with('-') && word.len() > 1)
        })
    }

    /// The argument after one of these flags.
    fn after(&self, flags: &[&str]) -> Option<&FlowValue> {
        let index = self.words.iter().position(|word| {
            word.known()
                .is_some_and(|word| flags.iter().any(|flag| word.eq_ignore_ascii_case(flag)))
        })?;
        self.words.get(index + 1)
    }

    fn run(&mut self, this: &mut Evaluator<'_>) -> FlowValue {
        self.builds(this);
        if FETCHERS.contains(&self.name) {
            return self.fetch(this);
        }
        if SHELLS.contains(&self.name) {
            return self.shell(this);
        }
        if WRAPPERS.contains(&self.name) {
            return self.wrapper(this);
        }
        if self.name == "openssl" && self.texts().any(|word| word == "s_client") {
            let host = self
                .after(&["-connect"])
                .map(FlowValue::shown)
                .unwrap_or_default();
            let url = format!("tcp://{host}");
            return FlowValue::source(SourceKind::Download, &url, this.site(self.at));
        }
        if let Some(value) = self.text_tool(this) {
            return value;
        }
        if let Some(value) = self.source(this) {
            return value;
        }
        if let Some(value) = self.network(this) {
            return value;
        }
        if let Some(value) = self.code(this) {
            return value;
        }
        if let Some(value) = self.files(this) {
            return value;
        }
        if let Some(value) = self.system(this) {
            return value;
        }
        self.started(this)
    }

    /// `cd folder && make`, `make -C folder`, `pip install ./folder`: downloaded code runs, without being named.
    fn builds(&self, this: &mut Evaluator<'_>) {
        let Some((_, verbs)) = BUILDERS.iter().find(|(name, _)| *name == self.name) else {
            return;
        };
        let named =
            |word: &str| verbs.contains(&word) || (verbs.contains(&".") && word.starts_with("./"));
        if !verbs.is_empty() && !self.texts().any(named) {
            return;
        }
        let mut taints = Vec::new();
        // Names of packages are not names of files.
        for word in self
            .texts()
            .filter(|word| word.contains('/') || word.starts_with('.'))
        {
            let word = FlowValue::text(word);
            taints.extend(fetched(this, &word));
            taints.extend(clone_at(this, &word));
        }
        let folder = self.after(&["-C", "--prefix", "--directory", "--manifest-path", "-f"]);
        taints.extend(folder.into_iter().flat_map(|folder| clone_at(this, folder)));
        let plain = matches!(
            self.name,
            "npm" | "pnpm" | "yarn" | "bun" | "cargo" | "go" | "uv"
        ) && self.operands().count() > 1
            && self
                .texts()
                .any(|word| matches!(word, "install" | "i" | "add"));
        if taints.is_empty() && !plain {
            let around = this.here.as_ref().map(|value| value.taints.clone());
            taints.extend(around.unwrap_or_default());
        }
        // Building a repository is an ordinary way to install it, if its host is for repositories.
        taints.retain(|taint| {
            let host = RemoteHost::of(&taint.source.what);
            host.is_none_or(|host| !matches!(host.kind, HostKind::Code | HostKind::Known))
        });
        if !taints.is_empty() {
            this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        }
    }

    /// An unknown program: it may be one that the skill downloaded.
    fn started(&self, this: &mut Evaluator<'_>) -> FlowValue {
        // `$(API_KEY)`: a variable, as in makefiles.
        if self.words.is_empty()
            && self.path.len() > 3
            && self
                .path
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        {
            return this.variable(self.path, self.at);
        }
        let mut given = self.given();
        this.call_shell_function(self.path, &self.words);
        given.made_by = Some(self.name.into());
        let taints = fetched(this, &FlowValue::text(self.path));
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        if let Some(printed) = this.printed(self.path) {
            given.absorb(printed);
            given.texts.clone_from(&printed.texts);
        }
        given
    }
}

/// The source of the file at a path: it was downloaded, alone, with its folder, or in an archive.
pub(super) fn fetched(this: &Evaluator<'_>, path: &FlowValue) -> Vec<Taint> {
    let places = path.texts.iter().cloned();
    let unnamed = path.place().filter(|_| path.texts.is_empty());
    let mut all: Vec<Taint> = Vec::new();
    for place in places.chain(unnamed) {
        all.extend(fetched_from(this, &place));
    }
    all
}

fn fetched_from(this: &Evaluator<'_>, path: &str) -> Vec<Taint> {
    let cloned = |value: &&FlowValue| value.made_by.as_deref() == Some(CLONED);
    // Windows finds programs without their extension.
    let windows = matches!(
        this.language,
        EvaluatedLanguage::PowerShell | EvaluatedLanguage::Batch
    );
    let ended = || windows.then(|| this.file(&format!("{path}.exe"))).flatten();
    // A program may have the name of the folder that it was built in.
    let own = this
        .file(path)
        .or_else(ended)
        .filter(|value| !cloned(value));
    let folder = || {
        path.rsplit('/')
            .skip(1)
            .filter_map(|folder| this.file(folder))
            .find(cloned)
    };
    // `cd folder && ./install.sh`; a bare name is a program of the machine.
    let relative = !path.starts_with(['/', '~', '-']) && path.contains(['/', '\\', '.']);
    let around = || {
        let around = this.here.as_ref().or(this.unpacked.as_ref());
        around.filter(|_| relative && !this.is_own_file(path))
    };
    own.or_else(folder)
        .or_else(around)
        .map(|value| value.taints.clone())
        .unwrap_or_default()
}

/// Programs that build, install or start the content of the current folder, with the words that make them do so; none for all.
const BUILDERS: &[(&str, &[&str])] = &[
    ("make", &[]),
    ("gmake", &[]),
    ("ninja", &[]),
    (
        "npm",
        &["install", "i", "ci", "run", "start", "test", "exec"],
    ),
    ("pnpm", &["install", "i", "run", "start", "dev"]),
    ("yarn", &["install", "run", "start", "dev"]),
    ("bun", &["install", "run", "start"]),
    ("pip", &["."]),
    ("pip3", &["."]),
    ("uv", &["sync", "run", "."]),
    ("poetry", &["install", "run"]),
    ("cargo", &["run", "build", "install", "test"]),
    ("go", &["run", "build", "install", "generate", "test"]),
    ("docker", &["build", "compose"]),
    ("docker-compose", &[]),
    ("just", &[]),
    ("task", &[]),
    ("rake", &[]),
    ("bundle", &["install", "exec"]),
    ("gradle", &[]),
    ("mvn", &[]),
];

/// The source of a folder that was fetched as a whole.
fn clone_at(this: &Evaluator<'_>, folder: &FlowValue) -> Vec<Taint> {
    let parts = folder.known().unwrap_or_default().split('/');
    parts
        .filter_map(|part| this.file(part))
        .find(|value| value.made_by.as_deref() == Some(CLONED))
        .map(|value| value.taints.clone())
        .unwrap_or_default()
}

/// The maker of a folder that was fetched as a whole.
pub(super) const CLONED: &str = "git clone";

fn send_to_device(this: &mut Evaluator<'_>, path: &FlowValue, data: &FlowValue, at: At) {
    let text = path.known().unwrap_or_default();
    let host = text
        .split('/')
        .nth(3)
        .and_then(|name| RemoteHost::of(&format!("tcp://{name}")));
    let is_shell = data
        .made_by
        .as_deref()
        .is_some_and(|maker| SHELLS.contains(&maker));
    let kind = if is_shell {
        ActKind::RemoteShell
    } else {
        ActKind::Send
    };
    this.act(kind, at, text, "", host, data.taints.clone());
}
