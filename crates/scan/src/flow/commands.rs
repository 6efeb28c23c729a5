//! What programs do when a shell starts them.

use super::{
    ActKind, Host, PathKind, SourceKind,
    eval::{Evaluator, Language},
    path_kind,
    value::{UNKNOWN, Value},
    vocabulary::{Encoding, rot13, undo},
};
use crate::form::{Arg, At, Call, Expr, READ, WRITE};

/// A command in a shell program.
pub(super) fn command(this: &mut Evaluator<'_>, call: &Call) -> Value {
    if let Some(within) = wrapped(call) {
        return this.value(&Expr::Call(Box::new(within)));
    }
    let input = call.input.as_ref().map(|input| this.value(input));
    let words: Vec<Value> = call.args.iter().map(|arg| this.value(&arg.value)).collect();
    match call.callee.as_str() {
        READ => {
            let path = words.into_iter().next().unwrap_or_default();
            let device = path
                .known()
                .and_then(|path| path.strip_prefix("/dev/tcp/"));
            if let Some(host) = device {
                let url = format!("tcp://{}", host.replace('/', ":"));
                return Value::source(SourceKind::Download, &url, this.site(call.at));
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
            return Value::default();
        }
        _ => {}
    }
    // `${!ref}`: the value of the variable that `ref` names.
    if call.callee == "indirect" {
        let name = words.first().and_then(Value::known).unwrap_or_default();
        return this.value(&Expr::Name(name.to_owned(), call.at));
    }
    let program = match (&call.on, call.callee.as_str()) {
        (Some(on), "") => this.value(on),
        (_, name) => Value::text(name),
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

/// `x | sudo bash`: the command within `sudo` gets what `sudo` is given; `xargs` makes arguments of it.
fn wrapped(call: &Call) -> Option<Call> {
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
            // Where `{}` stands, or at the end.
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
    program: &Value,
    words: Vec<Value>,
    input: Option<Value>,
    at: At,
) -> Value {
    // `c=(curl -s url); "${c[@]}"`
    if let Some([program, rest @ ..]) = program.items.as_deref() {
        let words = rest.iter().cloned().chain(words).collect();
        return invoke(this, program, words, input, at);
    }
    let Some(name) = program.known() else {
        let mut value = Value::default();
        this.act(ActKind::Run, at, "\0", "", None, program.taints.clone());
        words
            .iter()
            .chain(&input)
            .for_each(|word| value.absorb(word));
        return value;
    };
    // A known text as the program's name may hold its arguments: `X="curl -s"; $X url`.
    let mut parts = name.split_whitespace();
    let first = parts.next().unwrap_or_default();
    let mut all: Vec<Value> = parts.map(Value::text).collect();
    all.extend(words);
    let name = first.rsplit(['/', '\\']).next().unwrap_or(first);
    // Names of programs are letters of a case of their own, but for those of Windows.
    let name = if this.language == Language::Shell && !first.ends_with(".exe") {
        name.to_owned()
    } else {
        name.to_ascii_lowercase()
    };
    let name = name.trim_end_matches(".exe").to_owned();
    let mut command = Command {
        name: &name,
        path: first,
        words: all,
        input: input.unwrap_or_default(),
        at,
    };
    if !program.taints.is_empty() {
        this.act(
            ActKind::Run,
            at,
            &command.line(),
            "",
            None,
            program.taints.clone(),
        );
    }
    command.run(this)
}

struct Command<'c> {
    name: &'c str,
    /// As it was written, with its folder.
    path: &'c str,
    words: Vec<Value>,
    input: Value,
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
/// Programs that start another, which stands among their arguments.
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
    "start",
    "call",
    "cmd",
    "open",
    "chroot",
    "su",
    "arch",
    "flock",
    "parallel",
];

impl Command<'_> {
    fn line(&self) -> String {
        let mut line = self.path.to_owned();
        for word in &self.words {
            line.push(' ');
            line.push_str(&word.shown());
        }
        line
    }

    /// Arguments and input, put together.
    fn given(&self) -> Value {
        let mut value = Value::default();
        self.words.iter().for_each(|word| value.absorb(word));
        value.absorb(&self.input);
        value
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(Value::known)
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
    fn operands(&self) -> impl Iterator<Item = &Value> {
        self.words.iter().filter(|word| {
            !word
                .known()
                .is_some_and(|word| word.starts_with('-') && word.len() > 1)
        })
    }

    /// The argument after one of these flags.
    fn after(&self, flags: &[&str]) -> Option<&Value> {
        let index = self.words.iter().position(|word| {
            word.known()
                .is_some_and(|word| flags.iter().any(|flag| word.eq_ignore_ascii_case(flag)))
        })?;
        self.words.get(index + 1)
    }

    fn run(&mut self, this: &mut Evaluator<'_>) -> Value {
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
            let host = self.after(&["-connect"]).map(Value::shown).unwrap_or_default();
            let url = format!("tcp://{host}");
            return Value::source(SourceKind::Download, &url, this.site(self.at));
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

    /// A program that isn't known: it may be one that the skill fetched.
    fn started(&self, this: &mut Evaluator<'_>) -> Value {
        // `$(API_KEY)`: a variable, as in makefiles.
        if self.words.is_empty() && self.path.len() > 3 && self.path.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
            return this.variable(self.path, self.at);
        }
        let given = self.given();
        let taints = this
            .file(self.path)
            .map(|value| value.taints.clone())
            .unwrap_or_default();
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        given
    }

    fn fetch(&self, this: &mut Evaluator<'_>) -> Value {
        const DATA: &[&str] = &[
            "-d",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
            "--json",
            "-f",
            "--form",
            "--form-string",
            "-t",
            "--upload-file",
            "--post-data",
            "--post-file",
            "--body-data",
            "--body-file",
            "-body",
            "-infile",
        ];
        const SAVE: &[&str] = &[
            "-o",
            "--output",
            "--output-document",
            "-outfile",
            "--directory-prefix",
        ];
        let mut sent = this.ambient.clone();
        sent.absorb(&self.input);
        let (mut posts, mut saves, mut urls) = (false, None, Vec::new());
        let mut previous = "";
        for word in &self.words {
            let text = word.known().unwrap_or_default();
            let (flag, inline) = split_flag(text);
            let data = |flag: &str| {
                DATA.contains(&flag.to_ascii_lowercase().as_str())
                    && !(matches!(flag, "-f" | "-O" | "-D")
                        || (self.name == "wget" && flag.len() == 2)
                        || (flag == "-t" && self.name == "curl"))
            };
            if data(previous) || (data(flag) && !inline.is_empty()) {
                posts = true;
                let payload = if data(previous) { text } else { inline };
                sent.absorb(word);
                if let Some(file) = payload
                    .rsplit_once('@')
                    .map(|(_, file)| file)
                    .filter(|_| payload.contains('@'))
                    .or((previous == "-T"
                        || previous == "--upload-file"
                        || previous == "--post-file")
                        .then_some(payload))
                {
                    sent.absorb(&this.read(&Value::text(file), self.at));
                }
            } else if (SAVE.contains(&previous.to_ascii_lowercase().as_str())
                // `curl -sSLo file`
                || (self.name == "curl"
                    && previous.ends_with('o')
                    && previous.len() > 2
                    && !previous.starts_with("--")
                    && previous.starts_with('-')))
                && !(self.name == "curl" && previous == "-O")
            {
                saves = word.known().map(str::to_owned);
            } else if !text.starts_with('-')
                && (text.contains("://")
                    || (Host::of(text).is_some()
                        && !matches!(previous, "-H" | "--header" | "-A" | "-u" | "-X" | "-e")))
            {
                urls.push(text.to_owned());
            }
            for taint in &word.taints {
                let header = matches!(
                    previous,
                    "-H" | "--header" | "-u" | "--user" | "-headers" | "-b"
                );
                if !(matches!(
                    taint.source.kind,
                    SourceKind::SecretVariable | SourceKind::Variable | SourceKind::Download
                ) && (header || !posts))
                {
                    sent.taint(taint.source.kind, &taint.source.what, taint.site);
                }
            }
            previous = text;
        }
        let method = self
            .after(&["-x", "--request", "-method", "--method"])
            .and_then(Value::known)
            .unwrap_or_default()
            .to_ascii_uppercase();
        posts |= matches!(method.as_str(), "POST" | "PUT" | "PATCH");
        let url = urls
            .into_iter()
            .next()
            .unwrap_or_else(|| UNKNOWN.to_string());
        let host = Host::of(&url);
        let telling = sent.taints.iter().any(|taint| {
            !matches!(
                taint.source.kind,
                SourceKind::Download
                    | SourceKind::Decoded
                    | SourceKind::Variable
                    | SourceKind::SecretVariable
                    | SourceKind::Input
            )
        });
        let kind = if posts || telling {
            ActKind::Send
        } else {
            ActKind::Fetch
        };
        this.act(kind, self.at, &url, &self.line(), host, sent.taints);
        let mut value = Value::source(SourceKind::Download, &url, this.site(self.at));
        value.made_by = Some("curl".into());
        let remote_name = self.has_flag("--remote-name", 'O')
            || (self.name == "wget" && saves.is_none())
            || matches!(self.name, "aria2c" | "certutil" | "bitsadmin");
        if let Some(path) = saves
            .filter(|path| path != "-")
            .or_else(|| remote_name.then(|| url.split('?').next().unwrap_or_default().to_owned()))
        {
            this.store_file(&path, value.clone());
        }
        if let Some(last) = self
            .operands()
            .last()
            .and_then(Value::known)
            .filter(|_| matches!(self.name, "certutil" | "bitsadmin"))
        {
            this.store_file(last, value.clone());
        }
        value
    }

    fn shell(&self, this: &mut Evaluator<'_>) -> Value {
        if self.has_flag("-c", 'c') {
            let code = self.operands().next().cloned().unwrap_or_default();
            this.act(
                ActKind::Run,
                self.at,
                &code.shown(),
                self.name,
                None,
                code.taints.clone(),
            );
            return this.with_ambient(&code, |this| this.nested(Language::Shell, &code, self.at));
        }
        if let Some(script) = self
            .operands()
            .find(|word| word.known() != Some("-"))
            .filter(|_| !self.has_flag("-s", 's') || self.input == Value::default())
        {
            let mut taints = script.taints.clone();
            if let Some(path) = script.known() {
                if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
                    this.act(
                        ActKind::RemoteShell,
                        self.at,
                        &self.line(),
                        "",
                        None,
                        Vec::new(),
                    );
                }
                taints.extend(
                    this.file(path)
                        .map(|value| value.taints.clone())
                        .unwrap_or_default(),
                );
            }
            this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
            // A script that the skill wrote itself is known.
            let written = script
                .known()
                .and_then(|path| this.file(path))
                .cloned()
                .unwrap_or_default();
            return this.nested(Language::Shell, &written, self.at);
        }
        let waits = |taint: &super::Taint| taint.source.kind == SourceKind::Download && ["nc ", "ncat ", "netcat ", "socat "].iter().any(|name| taint.source.what.starts_with(name));
        if self.input.taints.iter().any(waits) {
            this.act(ActKind::RemoteShell, self.at, &self.line(), "", None, Vec::new());
        }
        if self.input != Value::default() {
            this.act(
                ActKind::Run,
                self.at,
                &self.input.shown(),
                self.name,
                None,
                self.input.taints.clone(),
            );
            let input = self.input.clone();
            return this.with_ambient(&input, |this| this.nested(Language::Shell, &input, self.at));
        }
        // `bash -i >& /dev/tcp/…`
        if self.texts().any(|word| word.contains("/dev/tcp/")) {
            this.act(
                ActKind::RemoteShell,
                self.at,
                &self.line(),
                "",
                None,
                Vec::new(),
            );
        }
        Value::default()
    }

    /// The command within was evaluated as an argument, if the parser could tell it; else it stands in words.
    fn wrapper(&self, this: &mut Evaluator<'_>) -> Value {
        if self.name == "env" && self.words.is_empty() {
            this.act(ActKind::Environment, self.at, "*", "", None, Vec::new());
            return Value::source(SourceKind::Environment, "env", this.site(self.at));
        }
        let position = self.words.iter().position(|word| {
            word.known().is_some_and(|word| {
                let name = word.rsplit('/').next().unwrap_or_default();
                FETCHERS.contains(&name)
                    || SHELLS.contains(&name)
                    || matches!(
                        name,
                        "python"
                            | "python3"
                            | "node"
                            | "perl"
                            | "ruby"
                            | "rm"
                            | "cat"
                            | "eval"
                            | "nc"
                            | "powershell"
                            | "npx"
                            | "npm"
                            | "pip"
                            | "crontab"
                    )
            })
        });
        if let Some(position) = position {
            let program = self.words[position].clone();
            let words = self.words[position + 1..].to_vec();
            return invoke(this, &program, words, Some(self.input.clone()), self.at);
        }
        if matches!(self.name, "cmd" | "start" | "open" | "su") {
            return self.started(this);
        }
        // xargs gives its input to the command: what is downloaded or secret may be run or sent.
        let mut given = self.given();
        given.texts.clear();
        given
    }

    /// Programs that make one text of another.
    fn text_tool(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let decodes = self.has_flag("--decode", 'd') || self.has_flag("-D", 'D');
        let encoding = match self.name {
            "base64" | "gbase64" if decodes => Encoding::Base64,
            "base32" if decodes => Encoding::Base32,
            "basenc" if decodes => Encoding::Base64,
            "xxd" if self.has_flag("-r", 'r') => Encoding::Hex,
            "openssl" if self.texts().any(|word| word == "base64") && decodes => Encoding::Base64,
            "openssl"
                if self
                    .texts()
                    .any(|word| matches!(word, "enc" | "smime" | "pkeyutl" | "rsautl"))
                    && self.has_flag("-d", 'd') =>
            {
                Encoding::Encrypted
            }
            "gpg" if self.has_flag("--decrypt", 'd') => Encoding::Encrypted,
            "gunzip" | "zcat" | "uncompress" | "bunzip2" | "xzcat" | "unxz" | "zstdcat" => {
                Encoding::Compressed
            }
            "gzip" if decodes => Encoding::Compressed,
            "uudecode" => Encoding::Compressed,
            "convert.frombase64string" | "system.convert.frombase64string" => Encoding::Base64,
            "rev" => {
                let mut value = self.input.clone();
                value
                    .texts
                    .iter_mut()
                    .for_each(|text| *text = text.chars().rev().collect());
                value.taint(SourceKind::Decoded, "reversed", this.site(self.at));
                return Some(value);
            }
            "tr" => {
                let mut value = self.input.clone();
                if self.texts().any(|word| {
                    word.eq_ignore_ascii_case("a-za-z")
                        || word.contains("N-ZA-M")
                        || word.contains("n-za-m")
                }) {
                    value.texts.iter_mut().for_each(|text| *text = rot13(text));
                    value.taint(SourceKind::Decoded, "rot13", this.site(self.at));
                }
                return Some(value);
            }
            "echo" | "printf" | "write-output" | "write-host" => {
                let mut value = Value::concat(
                    self.words
                        .iter()
                        .filter(|word| !matches!(word.known(), Some("-n" | "-e" | "-ne" | "-en"))),
                    " ",
                );
                if let Some(text) = value
                    .known()
                    .filter(|text| text.contains("\\x") || text.contains("\\0"))
                    .and_then(unescape)
                {
                    value = value.with_text(text);
                    value.taint(SourceKind::Decoded, "escapes", this.site(self.at));
                }
                return Some(value);
            }
            "cat" | "type" | "get-content" | "head" | "tail" | "less" | "more" | "tac"
            | "strings" | "grep" | "egrep" | "rg" | "awk" | "sed" | "cut" | "sort" | "uniq"
            | "jq" | "yq" | "tee" | "wc" | "dd" | "gzip" | "zip" | "tar" | "7z" | "base64"
            | "xxd" | "hexdump" | "find" | "ls" | "iconv" | "paste" | "nl" | "column" => {
                return Some(self.filter(this));
            }
            _ => return None,
        };
        let source = if self.input == Value::default() {
            let operand = self.operands().last().cloned().unwrap_or_default();
            match operand.known().and_then(|path| this.file(path)).cloned() {
                Some(stored) => stored,
                None if self.name.contains("convert") => operand,
                None => this.read(&operand, self.at),
            }
        } else {
            self.input.clone()
        };
        let mut value = source.clone();
        value.texts = source
            .texts
            .iter()
            .filter_map(|text| undo(encoding, text))
            .collect();
        value.taint(SourceKind::Decoded, self.name, this.site(self.at));
        Some(value)
    }

    /// Programs whose output is made of files and input.
    fn filter(&self, this: &mut Evaluator<'_>) -> Value {
        let mut value = self.input.clone();
        let mut command = None;
        for word in &self.words {
            let Some(text) = word.known() else {
                value.absorb(word);
                continue;
            };
            if text.starts_with('-') && text != "-" {
                continue;
            }
            value.absorb(word);
            let looks_like_path = text.contains('/')
                || text.starts_with(['~', '.'])
                || this.file(text).is_some()
                || text.contains("id_rsa")
                || matches!(self.name, "cat" | "head" | "tail" | "type" | "get-content");
            if looks_like_path
                && !matches!(self.name, "sed" if text.starts_with("s/"))
                && self.name != "tee"
            {
                let read = this.read(word, self.at);
                value.absorb(&read);
                if value.texts.is_empty() {
                    value.texts = read.texts;
                }
            }
            if self.name == "awk"
                && (text.contains("system(")
                    || text.contains("| getline")
                    || text.contains("|getline"))
            {
                command = Some(text.to_owned());
            }
        }
        if !matches!(self.name, "cat" | "tee" | "head" | "tail")
            || self.input == Value::default() && self.name != "cat"
        {
            value.texts.clear();
        }
        match self.name {
            "tee" => {
                for word in self.operands() {
                    this.write(word, &self.input.clone(), self.at);
                }
            }
            "awk" => {
                if let Some(text) = command {
                    this.act(
                        ActKind::Run,
                        self.at,
                        &text,
                        "awk",
                        None,
                        self.input.taints.clone(),
                    );
                    if let Some(inner) = text
                        .split("system(\"")
                        .nth(1)
                        .and_then(|rest| rest.split("\")").next())
                    {
                        let inner = Value::text(inner);
                        this.nested(Language::Shell, &inner, self.at);
                    }
                }
            }
            "find" => self.find(this),
            "dd" => {
                if let Some(target) = self
                    .texts()
                    .find_map(|word| word.strip_prefix("of="))
                    .filter(|target| path_kind(target) == PathKind::Device)
                {
                    let line = self.line();
                    this.act(
                        ActKind::Delete,
                        self.at,
                        &target.to_owned(),
                        &line,
                        None,
                        Vec::new(),
                    );
                }
            }
            "tar" | "zip" | "7z" => {
                if let Some(archive) = self
                    .operands()
                    .next()
                    .and_then(Value::known)
                    .map(str::to_owned)
                {
                    this.store_file(&archive, value.clone());
                }
            }
            _ => {}
        }
        value
    }

    fn find(&self, this: &mut Evaluator<'_>) {
        let line = self.line();
        if self.texts().any(|word| word == "-delete")
            || line.contains("-exec rm")
            || line.contains("-exec shred")
        {
            let root = self.operands().next().map(Value::shown).unwrap_or_default();
            this.act(ActKind::Delete, self.at, &root, &line, None, Vec::new());
        }
    }

    /// Programs that tell secrets.
    fn source(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let line = self.line().to_ascii_lowercase();
        let site = this.site(self.at);
        let says = |words: &[&str]| words.iter().all(|word| line.contains(word));
        let kind = match self.name {
            "printenv" | "set" | "export" | "declare" | "compgen"
                if self.operands().next().is_none()
                    && (self.name != "set" || self.words.is_empty()) =>
            {
                SourceKind::Environment
            }
            "get-childitem" | "gci" | "dir" if says(&["env:"]) => SourceKind::Environment,
            "printenv" => {
                let name = self.operands().next().map(Value::shown).unwrap_or_default();
                return Some(this.variable(&name, self.at));
            }
            "security"
                if line.contains("find-generic-password")
                    || line.contains("find-internet-password")
                    || line.contains("dump-keychain")
                    || line.contains("export") =>
            {
                SourceKind::Keychain
            }
            "secret-tool" if says(&["lookup"]) => SourceKind::Keychain,
            "op" if says(&["read"]) || says(&["item", "get"]) => SourceKind::Keychain,
            "pass" if says(&["show"]) => SourceKind::Keychain,
            "bw" if says(&["get"]) || says(&["export"]) => SourceKind::Keychain,
            "cmdkey" | "vaultcmd" if says(&["/list"]) => SourceKind::Keychain,
            "gh" if says(&["auth", "token"]) => SourceKind::CredentialFile,
            "gcloud" if says(&["auth", "print-"]) => SourceKind::CredentialFile,
            "aws"
                if says(&["configure", "get"])
                    || says(&["sts", "get-session-token"])
                    || says(&["configure", "export-credentials"]) =>
            {
                SourceKind::CredentialFile
            }
            "kubectl" if says(&["get", "secret"]) || says(&["config", "view", "--raw"]) => {
                SourceKind::CredentialFile
            }
            "npm" if says(&["config", "get", "authtoken"]) || says(&["token", "list"]) => {
                SourceKind::CredentialFile
            }
            "git" if says(&["credential", "fill"]) => SourceKind::CredentialFile,
            "pbpaste" | "get-clipboard" | "wl-paste" => SourceKind::Clipboard,
            "xclip" | "xsel" if self.has_flag("-o", 'o') => SourceKind::Clipboard,
            "screencapture" | "scrot" | "import" | "grim" | "imagesnap" => SourceKind::Spying,
            "history" => SourceKind::History,
            "hostname" | "whoami" | "id" | "ifconfig" | "ipconfig" | "systeminfo"
            | "ps" | "lsof" | "netstat" | "arp" | "last" | "w" => SourceKind::HostFacts,
            "ip" if line.contains("addr") => SourceKind::HostFacts,
            _ => return None,
        };
        if kind == SourceKind::Environment {
            this.act(ActKind::Environment, self.at, "*", "", None, Vec::new());
        } else {
            this.act(
                ActKind::Run,
                self.at,
                &self.line(),
                self.name,
                None,
                Vec::new(),
            );
        }
        let mut value = self.given();
        value.texts.clear();
        value.taint(kind, &self.line(), site);
        Some(value)
    }

    /// Programs that talk to other machines in their own way.
    fn network(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let line = self.line();
        match self.name {
            "nc" | "ncat" | "netcat" | "socat" | "telnet" => {
                let gives_shell = self.after(&["-e", "-c", "--exec", "--sh-exec"]).is_some()
                    || line.contains("exec:") && line.contains("sh")
                    || line.contains("EXEC:");
                if gives_shell {
                    this.act(ActKind::RemoteShell, self.at, &line, "", None, Vec::new());
                }
                let host = self.texts().find_map(Host::of);
                let mut sent = self.input.clone();
                sent.absorb(&this.ambient.clone());
                if self.has_flag("-l", 'l') {
                    this.act(ActKind::Listen, self.at, &line, "", None, Vec::new());
                } else {
                    this.act(ActKind::Send, self.at, &line, self.name, host, sent.taints);
                }
                Some(Value::source(
                    SourceKind::Download,
                    &line,
                    this.site(self.at),
                ))
            }
            "scp" | "rsync" | "sftp" | "ftp" | "rclone" | "s3cmd" | "gsutil" | "azcopy" | "ssh"
            | "croc" | "mail" | "sendmail" | "mutt" | "mailx" | "msmtp" => {
                let remote = |word: &str| word.contains("://") || word.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/') && host.len() > 1);
                if matches!(self.name, "scp" | "rsync") && !self.texts().any(remote) {
                    return None;
                }
                let mut sent = self.input.clone();
                for word in self.operands() {
                    sent.absorb(&this.read(word, self.at));
                }
                let host = self
                    .texts()
                    .find_map(|word| Host::of(word.split(':').next().unwrap_or(word)));
                // A key that is used to log in isn't sent.
                sent.taints.retain(|taint| {
                    !(matches!(self.name, "ssh" | "scp" | "rsync" | "sftp")
                        && line.contains("-i ")
                        && taint.source.kind == SourceKind::CredentialFile)
                });
                this.act(ActKind::Send, self.at, &line, self.name, host, sent.taints);
                Some(Value::default())
            }
            "aws" | "gh" | "gist" => {
                let uploads = (self.name == "aws" && line.contains(" s3 "))
                    || (self.name == "gh" && line.contains("gist create"))
                    || self.name == "gist";
                if !uploads {
                    return None;
                }
                let mut sent = self.input.clone();
                for word in self.operands() {
                    sent.absorb(&this.read(word, self.at));
                }
                this.act(ActKind::Send, self.at, &line, self.name, None, sent.taints);
                Some(Value::default())
            }
            "dig" | "nslookup" | "host" | "ping" => {
                let mut sent = self.given();
                sent.taints.retain(|taint| {
                    !matches!(
                        taint.source.kind,
                        SourceKind::Variable | SourceKind::Input | SourceKind::Download
                    )
                });
                if !sent.taints.is_empty() {
                    this.act(ActKind::Send, self.at, &line, self.name, None, sent.taints);
                }
                Some(Value::default())
            }
            "git" if self.texts().any(|word| word == "clone") => {
                let url = self
                    .texts()
                    .find(|word| word.contains("://") || word.contains('@'))
                    .unwrap_or_default()
                    .to_owned();
                this.act(
                    ActKind::Fetch,
                    self.at,
                    &url,
                    &line,
                    Host::of(&url),
                    Vec::new(),
                );
                Some(Value::source(
                    SourceKind::Download,
                    &url,
                    this.site(self.at),
                ))
            }
            name if name.ends_with("webclient.downloadstring")
                || name.ends_with("webclient.downloadfile")
                || name.ends_with("webclient.downloaddata")
                || name.ends_with("httpclient.getstringasync") =>
            {
                let url = self
                    .texts()
                    .find(|word| word.contains("://"))
                    .unwrap_or("\0")
                    .to_owned();
                this.act(
                    ActKind::Fetch,
                    self.at,
                    &url,
                    &line,
                    Host::of(&url),
                    Vec::new(),
                );
                let value = Value::source(SourceKind::Download, &url, this.site(self.at));
                if let Some(path) = self.words.get(1).and_then(Value::known) {
                    this.store_file(&path.to_owned(), value.clone());
                }
                Some(value)
            }
            name if name.ends_with("webclient.uploadstring")
                || name.ends_with("webclient.uploadfile")
                || name.ends_with("webclient.uploaddata") =>
            {
                let url = self
                    .texts()
                    .find(|word| word.contains("://"))
                    .unwrap_or("\0")
                    .to_owned();
                this.act(
                    ActKind::Send,
                    self.at,
                    &url,
                    &line,
                    Host::of(&url),
                    self.given().taints,
                );
                Some(Value::default())
            }
            _ => None,
        }
    }

    /// Programs that run what they are given.
    fn code(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let inline = |flags: &[&str]| self.after(flags).cloned();
        let (language, code) = match self.name {
            "eval" => (Language::Shell, Some(Value::concat(&self.words, " "))),
            "invoke-expression" => (
                Language::PowerShell,
                Some(if self.words.is_empty() {
                    self.input.clone()
                } else {
                    Value::concat(&self.words, " ")
                }),
            ),
            "powershell" | "pwsh" => return Some(self.powershell(this)),
            name if name == "py" || name.starts_with("python") => {
                (Language::Python, inline(&["-c"]))
            }
            "node" | "bun" | "deno" => (
                Language::JavaScript,
                inline(&["-e", "--eval", "-p", "eval"]),
            ),
            "perl" | "ruby" | "php" | "lua" | "osascript" | "tclsh" => {
                let code = inline(&["-e", "-r", "-ne", "-E"]);
                if let Some(code) = &code {
                    this.act(
                        ActKind::Run,
                        self.at,
                        &code.shown(),
                        self.name,
                        None,
                        code.taints.clone(),
                    );
                    self.foreign(this, code);
                    return Some(Value::default());
                }
                (Language::Shell, None)
            }
            "source" | "." => {
                let path = self.operands().next().cloned().unwrap_or_default();
                let mut taints = path.taints.clone();
                taints.extend(
                    path.known()
                        .and_then(|path| this.file(path))
                        .map(|value| value.taints.clone())
                        .unwrap_or_default(),
                );
                this.act(ActKind::Run, self.at, &self.line(), "source", None, taints);
                return Some(Value::default());
            }
            "at" | "batch" => (Language::Shell, Some(self.input.clone())),
            "trap" | "watch" => (Language::Shell, self.operands().next().cloned()),
            "crontab"
            | "schtasks"
            | "launchctl"
            | "systemctl"
            | "reg"
            | "new-scheduledtask"
            | "register-scheduledtask"
            | "set-itemproperty"
            | "new-itemproperty"
            | "defaults" => return self.autostart(this),
            _ => return None,
        };
        if let Some(code) = code {
            this.act(
                ActKind::Eval,
                self.at,
                &code.shown(),
                self.name,
                None,
                code.taints.clone(),
            );
            return Some(this.with_ambient(&code, |this| this.nested(language, &code, self.at)));
        }
        if self.input != Value::default() && self.operands().all(|word| word.known() == Some("-")) {
            this.act(
                ActKind::Eval,
                self.at,
                &self.input.shown(),
                self.name,
                None,
                self.input.taints.clone(),
            );
            let input = self.input.clone();
            return Some(this.with_ambient(&input, |this| this.nested(language, &input, self.at)));
        }
        let script = self
            .operands()
            .next()
            .and_then(Value::known)
            .unwrap_or_default()
            .to_owned();
        let taints = this
            .file(&script)
            .map(|value| value.taints.clone())
            .unwrap_or_default();
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        Some(self.given())
    }

    /// A language that isn't parsed: what it starts is looked at all the same.
    fn foreign(&self, this: &mut Evaluator<'_>, code: &Value) {
        let Some(text) = code.known() else { return };
        let lower = text.to_ascii_lowercase();
        if lower.contains("socket")
            && (lower.contains("exec") || lower.contains("/bin/sh") || lower.contains("system"))
            && lower.contains("sh")
        {
            this.act(
                ActKind::RemoteShell,
                self.at,
                text,
                self.name,
                None,
                Vec::new(),
            );
        }
        for opener in [
            "system(\"",
            "system('",
            "exec(\"",
            "exec('",
            "do shell script \"",
            "`",
        ] {
            if let Some(rest) = text.split(opener).nth(1) {
                let closer = opener.chars().last().unwrap_or('"');
                let inner = Value::text(rest.split(closer).next().unwrap_or_default());
                this.nested(Language::Shell, &inner, self.at);
            }
        }
    }

    fn powershell(&self, this: &mut Evaluator<'_>) -> Value {
        let encoded = self.words.iter().position(|word| {
            word.known().is_some_and(|word| {
                word.len() > 1
                    && word.starts_with('-')
                    && "-encodedcommand".starts_with(&word.to_ascii_lowercase())
                    && word.to_ascii_lowercase() != "-ex"
            })
        });
        if let Some(word) = encoded.and_then(|index| self.words.get(index + 1)) {
            let text = word
                .known()
                .and_then(crate::text::codec::base64)
                .map(|bytes| utf16(&bytes));
            let mut code = text.map(Value::text).unwrap_or_default();
            code.absorb(word);
            code.taint(SourceKind::Decoded, "-EncodedCommand", this.site(self.at));
            this.act(
                ActKind::Eval,
                self.at,
                &code.shown(),
                "powershell",
                None,
                code.taints.clone(),
            );
            return this.nested(Language::PowerShell, &code, self.at);
        }
        let code = match self.after(&["-command", "-c"]) {
            Some(_) => {
                let start = self
                    .words
                    .iter()
                    .position(|word| {
                        word.known().is_some_and(|word| {
                            matches!(word.to_ascii_lowercase().as_str(), "-command" | "-c")
                        })
                    })
                    .map_or(0, |index| index + 1);
                Value::concat(&self.words[start..], " ")
            }
            None if self.input != Value::default() => self.input.clone(),
            None => return self.started(this),
        };
        this.act(
            ActKind::Eval,
            self.at,
            &code.shown(),
            "powershell",
            None,
            code.taints.clone(),
        );
        this.with_ambient(&code, |this| {
            this.nested(Language::PowerShell, &code, self.at)
        })
    }

    /// What is told to start by itself.
    fn autostart(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        let installs = match self.name {
            "crontab" => {
                !self.has_flag("-l", 'l') && !self.has_flag("-e", 'e') && !self.has_flag("-r", 'r')
            }
            "launchctl" => lower.contains(" load") || lower.contains(" bootstrap"),
            "systemctl" => lower.contains(" enable"),
            "schtasks" => lower.contains("/create"),
            "reg" => lower.contains("add") && lower.contains("currentversion\\run"),
            "set-itemproperty" | "new-itemproperty" => lower.contains("currentversion\\run"),
            "new-scheduledtask" | "register-scheduledtask" => true,
            _ => false,
        };
        if !installs {
            let mut value = self.input.clone();
            value.texts.clear();
            return Some(value);
        }
        let given = self.given();
        let what = if self.input.texts.is_empty() {
            line.clone()
        } else {
            self.input.shown()
        };
        this.act(
            ActKind::Write,
            self.at,
            &format!("{}:autostart", self.name),
            &what,
            None,
            given.taints,
        );
        Some(Value::default())
    }

    /// Programs that change files.
    fn files(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let line = self.line();
        match self.name {
            "rm" | "rmdir" | "del" | "erase" | "remove-item" | "shred" | "srm" | "mkfs"
            | "wipefs" | "diskutil" | "format" => {
                if self.name == "diskutil" && !line.contains("erase") {
                    return None;
                }
                for word in self.operands() {
                    let shown = word.shown();
                    this.act(
                        ActKind::Delete,
                        self.at,
                        &shown,
                        &line,
                        None,
                        word.taints.clone(),
                    );
                }
                Some(Value::default())
            }
            name if name.starts_with("mkfs.") => {
                this.act(ActKind::Delete, self.at, "/dev/", &line, None, Vec::new());
                Some(Value::default())
            }
            "cp" | "mv" | "install" | "ln" | "copy" | "move" | "copy-item" | "move-item" => {
                let operands: Vec<Value> = self.operands().cloned().collect();
                let (target, sources) = operands.split_last()?;
                let mut data = Value::default();
                for source in sources {
                    data.absorb(&this.read(source, self.at));
                }
                this.write(target, &data, self.at);
                Some(Value::default())
            }
            "set-content" | "add-content" | "out-file" => {
                let path = self
                    .after(&["-path", "-filepath"])
                    .or_else(|| self.operands().next())
                    .cloned()
                    .unwrap_or_default();
                let mut data = self.input.clone();
                self.words.iter().for_each(|word| data.absorb(word));
                this.write(&path, &data, self.at);
                Some(Value::default())
            }
            "unzip" | "expand-archive" | "unrar" => {
                if self.after(&["-p"]).is_some()
                    || self
                        .texts()
                        .any(|word| word.starts_with("-P") && word.len() > 2)
                {
                    this.act(ActKind::Run, self.at, &line, "password", None, Vec::new());
                }
                let archive = self
                    .operands()
                    .next()
                    .and_then(Value::known)
                    .and_then(|path| this.file(path))
                    .cloned();
                if let (Some(value), Some(Some(path))) = (
                    archive,
                    self.operands()
                        .next()
                        .map(|word| word.known().map(str::to_owned)),
                ) {
                    let stem = path
                        .rsplit('/')
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches(".zip")
                        .to_owned();
                    this.store_file(&stem, value);
                }
                Some(Value::default())
            }
            "chmod" | "chown" | "setcap" | "icacls" | "xattr" | "spctl" | "attrib" => {
                this.act(ActKind::Permit, self.at, &line, self.name, None, Vec::new());
                Some(Value::default())
            }
            _ => None,
        }
    }

    /// Packages, protection, settings.
    fn system(&self, this: &mut Evaluator<'_>) -> Option<Value> {
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        match self.name {
            "npm" | "pnpm" | "yarn" | "npx" | "bunx" | "pip" | "pip3" | "pipx" | "uv" | "uvx"
            | "brew" | "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "apk" | "gem" | "cargo"
            | "go" | "conda" | "choco" | "winget" | "scoop" => {
                let installs = matches!(self.name, "npx" | "uvx" | "bunx")
                    || [
                        " install", " i ", " add ", " get ", " tap ", " dlx ", " -s ",
                    ]
                    .iter()
                    .any(|verb| lower.contains(verb));
                if installs {
                    let host = self
                        .texts()
                        .filter(|word| word.contains("://"))
                        .find_map(Host::of);
                    this.act(
                        ActKind::Install,
                        self.at,
                        &line,
                        self.name,
                        host,
                        self.given().taints,
                    );
                } else {
                    return None;
                }
                Some(Value::default())
            }
            "setenforce"
            | "ufw"
            | "iptables"
            | "csrutil"
            | "netsh"
            | "set-mppreference"
            | "add-mppreference"
            | "auditctl"
            | "fdesetup"
            | "nvram"
            | "set-executionpolicy" => {
                this.act(
                    ActKind::Unprotect,
                    self.at,
                    &line,
                    self.name,
                    None,
                    Vec::new(),
                );
                Some(Value::default())
            }
            "systemctl" if lower.contains("stop") || lower.contains("disable") => {
                this.act(
                    ActKind::Unprotect,
                    self.at,
                    &line,
                    self.name,
                    None,
                    Vec::new(),
                );
                Some(Value::default())
            }
            "git"
                if lower.contains("config")
                    && (lower.contains("core.hookspath")
                        || lower.contains("credential.helper")
                        || lower.contains("core.sshcommand")
                        || lower.contains("url.")
                        || lower.contains("http.proxy")
                        || lower.contains("sslverify false")) =>
            {
                this.act(
                    ActKind::Unprotect,
                    self.at,
                    &line,
                    self.name,
                    None,
                    Vec::new(),
                );
                Some(Value::default())
            }
            _ => None,
        }
    }
}

fn send_to_device(this: &mut Evaluator<'_>, path: &Value, data: &Value, at: At) {
    let text = path.known().unwrap_or_default();
    let host = text
        .split('/')
        .nth(3)
        .and_then(|name| Host::of(&format!("tcp://{name}")));
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

/// `--flag=value` and `-dvalue`.
fn split_flag(word: &str) -> (&str, &str) {
    if word.starts_with("--") {
        return word.split_once('=').unwrap_or((word, ""));
    }
    if word.starts_with('-') && word.len() > 2 && word.is_char_boundary(2) {
        return word.split_at(2);
    }
    (word, "")
}

/// PowerShell's encoded commands are UTF-16.
fn utf16(bytes: &[u8]) -> String {
    let wide: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u16::from_le_bytes(*pair))
        .collect();
    let looks_wide = bytes
        .iter()
        .skip(1)
        .step_by(2)
        .filter(|byte| **byte == 0)
        .count()
        * 2
        > wide.len();
    if looks_wide {
        String::from_utf16_lossy(&wide)
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// `\x63` and `\143`, as `printf` and `echo -e` read them.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let taken = match (first, tail) {
            (b'\\', [b'x', high, low, ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                digit(*high)
                    .zip(digit(*low))
                    .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
                    .map(|byte| (byte, 4))
            }
            (b'\\', digits) => {
                let digits: Vec<u32> = digits
                    .iter()
                    .take(4)
                    .map_while(|byte| char::from(*byte).to_digit(8))
                    .collect();
                let value = digits.iter().fold(0_u32, |value, digit| value * 8 + digit);
                (digits.len() >= 3)
                    .then(|| {
                        u8::try_from(value & 0xff)
                            .ok()
                            .map(|byte| (byte, 1 + digits.len()))
                    })
                    .flatten()
            }
            _ => None,
        };
        let (byte, length) = taken.unwrap_or((*first, 1));
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8(bytes).ok()
}
