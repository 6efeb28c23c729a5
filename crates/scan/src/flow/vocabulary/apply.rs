//! The effects of calls to known functions of Python and JavaScript.

use super::given::{applied, is_arithmetic, variable};
use super::{CodecKind, Fold, FunctionRole, HIDDEN_HOST, has_row, is_path, undo};
use crate::flow::{
    ActKind, EvaluatedLanguage, RemoteHost, SourceKind, commands,
    eval::Evaluator,
    hosts::is_metadata_secret,
    value::{FlowValue, UNKNOWN},
};
use crate::form::{At, CallExpr, Expr};

/// Arguments with their keywords.
pub(in crate::flow) type KeywordArguments<'a> = [(Option<&'a str>, FlowValue)];

/// The first argument with one of these keywords, or at this position.
fn arg<'v>(
    args: &'v KeywordArguments<'_>,
    position: usize,
    keywords: &[&str],
) -> Option<&'v FlowValue> {
    args.iter()
        .find(|(keyword, _)| keyword.is_some_and(|keyword| keywords.contains(&keyword)))
        .or_else(|| {
            args.iter()
                .filter(|(keyword, _)| keyword.is_none())
                .nth(position)
        })
        .map(|(_, value)| value)
}

/// A call of a known function.
pub(in crate::flow) struct KnownCall<'c> {
    /// The function's full name.
    pub(in crate::flow) callee: &'c str,
    /// The unchanged call.
    pub(in crate::flow) call: &'c CallExpr,
    /// The value whose method it is.
    pub(in crate::flow) on: Option<&'c FlowValue>,
    /// The values of its arguments.
    pub(in crate::flow) args: &'c KeywordArguments<'c>,
}

impl KnownCall<'_> {
    pub(super) fn at(&self) -> At {
        self.call.at
    }

    pub(super) fn first(&self) -> FlowValue {
        const KEYWORDS: &[&str] = &[
            "path", "file", "filename", "url", "uri", "cmd", "command", "args", "source", "s",
        ];
        arg(self.args, 0, KEYWORDS).cloned().unwrap_or_default()
    }

    /// The path of a file function: its first argument, or the path whose method it is.
    fn path(&self) -> FlowValue {
        match self.on {
            Some(path) if is_path(self.callee) => path.clone(),
            _ => self.first(),
        }
    }
}

/// Evaluates a known function; `given` has the sources of all arguments.
pub(in crate::flow) fn apply(
    this: &mut Evaluator<'_>,
    role: FunctionRole,
    called: &KnownCall<'_>,
    mut given: FlowValue,
) -> FlowValue {
    let at = called.at();
    match role {
        FunctionRole::Source(kind) => {
            if kind == SourceKind::Environment {
                this.act(ActKind::Environment, at, "*", "", None, Vec::new());
            }
            given.taint(kind, called.callee, this.site(at));
            // `Listener(on_press=f)`: `f` gets the keys.
            if kind == SourceKind::Spying {
                let seen = [(None, given.clone())];
                for arg in &called.call.args {
                    if let Expr::Name(name, _) = &arg.value
                        && this.is_own_function(name)
                    {
                        this.call_named(name, called.call, &seen);
                    }
                }
            }
            given
        }
        FunctionRole::Variable => variable(this, called),
        FunctionRole::Apply => applied(this, called, given),
        FunctionRole::Tagged => match called.call.args.as_slice() {
            [only] if matches!(only.value, Expr::Text(..) | Expr::Join(_)) => {
                code(this, FunctionRole::Shell, called, given)
            }
            _ => given,
        },
        FunctionRole::Decode(encoding) => {
            decoded(this, encoding, at, &called.first(), called.args, given)
        }
        FunctionRole::Fold(fold) => {
            let mut value = folded(fold, called, given);
            if fold == Fold::Made {
                value.texts = vec![this.made_path(called.callee, at)];
            }
            if fold == Fold::Path {
                this.name_path(&mut value, at);
            }
            // Text that is encoded as numbers was meant to be unreadable, and so was text with computed character codes.
            let computed = value.texts.is_empty()
                && (value.has(SourceKind::Numbers) || is_arithmetic(called.call));
            if fold == Fold::Chars
                && (computed || value.known().is_some_and(|text| text.len() >= 8))
            {
                value.taint(SourceKind::Decoded, "character codes", this.site(at));
            }
            value
        }
        FunctionRole::Show => {
            let shown = called.first().shown();
            this.act(ActKind::Show, at, &shown, called.callee, None, given.taints);
            FlowValue::default()
        }
        FunctionRole::Open
        | FunctionRole::Read
        | FunctionRole::Write
        | FunctionRole::WriteHandle
        | FunctionRole::Dump
        | FunctionRole::Copy
        | FunctionRole::Delete
        | FunctionRole::Walk
        | FunctionRole::Unpack
        | FunctionRole::Pipe
        | FunctionRole::Permit => files(this, role, called, given),
        FunctionRole::Request
        | FunctionRole::Connect
        | FunctionRole::Send
        | FunctionRole::Listen => network(this, role, called, given),
        FunctionRole::Shell
        | FunctionRole::Spawn
        | FunctionRole::Eval
        | FunctionRole::RunFile
        | FunctionRole::Unpickle
        | FunctionRole::Duplicate => code(this, role, called, given),
    }
}

/// Functions that read, write and delete.
fn files(
    this: &mut Evaluator<'_>,
    role: FunctionRole,
    called: &KnownCall<'_>,
    given: FlowValue,
) -> FlowValue {
    let (at, callee) = (called.at(), called.callee);
    let path = called.path();
    match role {
        FunctionRole::Open => {
            let position = usize::from(!is_path(callee));
            let mode = arg(called.args, position, &["mode"]).and_then(FlowValue::known);
            let writes = mode.is_some_and(|mode| mode.contains(['w', 'a', 'x']));
            let mut value = if writes { given } else { this.read(&path, at) };
            // A file without its own name is identified by the expression that computed its path.
            value.texts = match path.texts.is_empty() {
                true => vec![path.place().unwrap_or_else(|| this.made_path(callee, at))],
                false => path.texts,
            };
            value.made_by = Some("open".into());
            value
        }
        FunctionRole::Unpack => {
            let on = called.on.cloned().unwrap_or_default();
            let mut data = this.read(&on, at);
            data.absorb(&this.read(&called.first(), at));
            data.absorb(&given);
            if data.has(SourceKind::Download) {
                data.texts.clear();
                data.made_by = Some(commands::CLONED.into());
                for folder in called.args.iter().filter_map(|(_, value)| value.place()) {
                    this.store_file(&folder, data.clone());
                }
                this.unpacked.get_or_insert_default().join(data);
            }
            FlowValue::default()
        }
        FunctionRole::Pipe => {
            let mut data = called.on.cloned().unwrap_or_default();
            let (last, before) = match called.args.split_last() {
                Some(((_, last), before)) => (last.clone(), before),
                None => return given,
            };
            before.iter().for_each(|(_, value)| data.absorb(value));
            if last.made_by.as_deref() == Some("open") {
                data.texts.clear();
                this.write(&last, &data, at);
            }
            given
        }
        FunctionRole::Read => this.read(&path, at),
        FunctionRole::Walk => {
            let mut value = this.read(&path, at);
            value.texts.clear();
            value
        }
        FunctionRole::Write => {
            let data = arg(called.args, 1, &["data"]).cloned().unwrap_or_default();
            this.write(&path, &data, at);
            // A stream is written to later.
            FlowValue {
                texts: path.place().into_iter().collect(),
                made_by: Some(match callee.ends_with("createWriteStream") {
                    true => "open".into(),
                    false => callee.into(),
                }),
                ..FlowValue::default()
            }
        }
        FunctionRole::WriteHandle => {
            let handle = called.on.cloned().unwrap_or_default();
            this.write(&handle, &called.first(), at);
            FlowValue::default()
        }
        FunctionRole::Dump => {
            let handle = arg(called.args, 1, &["fp", "file", "stream"]).cloned();
            if let Some(handle) = handle {
                this.write(&handle, &called.first(), at);
            }
            FlowValue::default()
        }
        FunctionRole::Copy => {
            let data = this.read(&path, at);
            let to = arg(called.args, 1, &["dst", "target"]).cloned();
            this.write(&to.unwrap_or_default(), &data, at);
            data
        }
        _ => {
            let kind = if role == FunctionRole::Delete {
                ActKind::Delete
            } else {
                ActKind::Permit
            };
            this.act(kind, at, &path.shown(), callee, None, path.taints);
            FlowValue::default()
        }
    }
}

/// Functions that contact other hosts.
fn network(
    this: &mut Evaluator<'_>,
    role: FunctionRole,
    called: &KnownCall<'_>,
    mut given: FlowValue,
) -> FlowValue {
    let (at, callee) = (called.at(), called.callee);
    match role {
        FunctionRole::Request => request(this, callee, at, called.args, given),
        FunctionRole::Connect => {
            let host = called.args.iter().find_map(|(_, value)| host_in(value));
            // A function that returns the connection, or a method of its receiver, which is connected from then on.
            let returns = ["write", "send", "request"].iter().any(|verb| {
                super::role(this.language, &format!("{callee}.{verb}")) == Some(FunctionRole::Send)
                    && has_row(this.language, &format!("{callee}.{verb}"))
            });
            let made_by = match returns {
                true => callee,
                false => callee
                    .trim_end_matches(".connect")
                    .trim_end_matches(".connect_ex")
                    .trim_end_matches(".open"),
            };
            given.made_by = Some(made_by.into());
            if let Some(host) = &host {
                given.texts = vec![format!("tcp://{}", host.name)];
            }
            let subject = host
                .as_ref()
                .map_or_else(String::new, |host| host.name.clone());
            this.act(ActKind::Fetch, at, &subject, callee, host, Vec::new());
            let from = match subject.contains("://") || subject.is_empty() {
                true => subject,
                false => format!("tcp://{subject}"),
            };
            given.taint(SourceKind::Download, &from, this.site(at));
            // `s.connect(…)` returns nothing; it is `s` that is connected from then on.
            if let Some(Expr::Name(name, _)) = &called.call.on {
                this.bind(name, &given, at);
            }
            given
        }
        FunctionRole::Send => {
            let named = |value: &FlowValue| {
                value
                    .known()
                    .filter(|text| text.contains("://"))
                    .and_then(RemoteHost::of)
            };
            let connected = called
                .on
                .and_then(FlowValue::known)
                .and_then(RemoteHost::of);
            let host = connected.or_else(|| called.args.iter().find_map(|(_, value)| named(value)));
            let mut sent = FlowValue::default();
            called.args.iter().for_each(|(_, value)| sent.absorb(value));
            let subject = host
                .as_ref()
                .map_or_else(|| called.first().shown(), |host| host.name.clone());
            this.act(ActKind::Send, at, &subject, callee, host, sent.taints);
            given
        }
        _ => {
            this.act(
                ActKind::Listen,
                at,
                &called.first().shown(),
                callee,
                None,
                Vec::new(),
            );
            given
        }
    }
}

/// The host in an address: a string, or the first of a pair.
fn host_in(value: &FlowValue) -> Option<RemoteHost> {
    let items = value.items.iter().flatten().flat_map(|item| &item.texts);
    value
        .texts
        .iter()
        .chain(items)
        .find_map(|text| RemoteHost::of(text).or_else(|| RemoteHost::of(&format!("tcp://{text}"))))
}

/// Functions that run programs and strings.
fn code(
    this: &mut Evaluator<'_>,
    role: FunctionRole,
    called: &KnownCall<'_>,
    given: FlowValue,
) -> FlowValue {
    let (at, callee) = (called.at(), called.callee);
    let first = called.first();
    match role {
        FunctionRole::Shell => {
            this.act(
                ActKind::Run,
                at,
                &first.shown(),
                callee,
                None,
                first.taints.clone(),
            );
            this.with_ambient(&first, |this| {
                this.nested(EvaluatedLanguage::Shell, &first, at)
            })
        }
        FunctionRole::Spawn => spawn(this, callee, at, called.args),
        FunctionRole::RunFile => {
            let mut taints = Vec::new();
            for (_, value) in called.args {
                taints.extend(commands::fetched(this, value));
                let own = value.taints.iter().filter(|taint| {
                    matches!(
                        taint.source.kind,
                        SourceKind::Download | SourceKind::Decoded
                    )
                });
                taints.extend(own.cloned());
            }
            this.act(ActKind::Run, at, &first.shown(), callee, None, taints);
            FlowValue::default()
        }
        FunctionRole::Eval => eval(this, callee, at, &first, called.args),
        FunctionRole::Unpickle => {
            this.act(
                ActKind::Eval,
                at,
                callee,
                "unpickle",
                None,
                given.taints.clone(),
            );
            given
        }
        _ => {
            if given.has(SourceKind::Download) {
                this.act(ActKind::RemoteShell, at, callee, "", None, given.taints);
            }
            FlowValue::default()
        }
    }
}

fn request(
    this: &mut Evaluator<'_>,
    callee: &str,
    at: At,
    args: &KeywordArguments<'_>,
    mut given: FlowValue,
) -> FlowValue {
    let url = args
        .iter()
        .flat_map(|(_, value)| &value.texts)
        .find(|text| text.contains("://") || text.starts_with("//"))
        .cloned()
        .or_else(|| {
            arg(args, 0, &["url", "uri", "hostname", "host"])
                .and_then(FlowValue::known)
                .map(str::to_owned)
        })
        .unwrap_or_else(|| "\0".to_owned());
    let host = RemoteHost::of(&url).or_else(|| {
        arg(args, 9, &["hostname", "host"])
            .and_then(FlowValue::known)
            .and_then(|name| RemoteHost::of(&format!("https://{name}")))
    });
    let method = arg(args, 9, &["method", "type"])
        .and_then(FlowValue::known)
        .unwrap_or_default()
        .to_ascii_uppercase();
    let posts = ["post", "put", "patch", "sendBeacon"]
        .iter()
        .any(|verb| callee.ends_with(verb))
        || matches!(method.as_str(), "POST" | "PUT" | "PATCH")
        || args.iter().any(|(keyword, _)| {
            matches!(
                *keyword,
                Some("data" | "json" | "body" | "files" | "content")
            )
        })
        || args
            .first()
            .is_some_and(|(_, value)| matches!(value.known(), Some("POST" | "PUT" | "PATCH")));
    let hidden = args
        .iter()
        // A request that was built before has the sources of its body, too.
        .filter(|(_, value)| {
            !value
                .made_by
                .as_deref()
                .is_some_and(|by| by.ends_with("Request"))
        })
        .any(|(_, value)| value.texts.contains(&url) && value.has(SourceKind::Decoded));
    let callee_shown = if hidden { HIDDEN_HOST } else { callee };
    let mut sent = sent_in(args);
    in_memory(this, args, &mut sent);
    if posts {
        this.act(ActKind::Send, at, &url, callee_shown, host, sent.taints);
    } else {
        this.act(
            ActKind::Fetch,
            at,
            &url,
            callee_shown,
            host.clone(),
            Vec::new(),
        );
        let telling: Vec<_> = sent
            .taints
            .into_iter()
            .filter(|taint| {
                !matches!(
                    taint.source.kind,
                    SourceKind::Download
                        | SourceKind::Decoded
                        | SourceKind::Input
                        | SourceKind::Variable
                        | SourceKind::SecretVariable
                )
            })
            .collect();
        if !telling.is_empty() {
            this.act(ActKind::Send, at, &url, callee, host, telling);
        }
    }
    if (callee.ends_with("retrieve") || callee == "wget.download")
        && let Some(path) = arg(args, 1, &["filename", "out"]).and_then(FlowValue::place)
    {
        let value = FlowValue::source(SourceKind::Download, &url, this.site(at));
        this.store_file(&path, value);
    }
    // The response is no longer the sent data.
    let keeps = callee.ends_with(".Request") || callee.ends_with(".request");
    if !keeps {
        given.taints.clear();
    }
    given.taint(SourceKind::Download, &url, this.site(at));
    if is_metadata_secret(&url) {
        given.taint(SourceKind::CredentialFile, &url, this.site(at));
    }
    given.texts = if keeps { vec![url] } else { Vec::new() };
    given
}

/// Data that was written to a buffer is sent with it.
fn in_memory(this: &Evaluator<'_>, args: &KeywordArguments<'_>, sent: &mut FlowValue) {
    for text in args.iter().flat_map(|(_, value)| &value.texts) {
        if let Some(stored) = this.file(text).filter(|_| text.starts_with(UNKNOWN)) {
            sent.absorb(stored);
        }
    }
}

/// The data that is sent with a request. Credentials in headers are the usual way to use an API; whole environments there are not.
fn sent_in(args: &KeywordArguments<'_>) -> FlowValue {
    let mut sent = FlowValue::default();
    for (keyword, value) in args {
        let header = matches!(*keyword, Some("headers" | "auth" | "cookies"));
        let usual = [SourceKind::SecretVariable, SourceKind::Variable];
        for taint in &value.taints {
            if !(header && usual.contains(&taint.source.kind)) {
                sent.taint(taint.source.kind, &taint.source.what, taint.site);
            }
        }
    }
    sent
}

fn decoded(
    this: &mut Evaluator<'_>,
    encoding: CodecKind,
    at: At,
    first: &FlowValue,
    args: &KeywordArguments<'_>,
    mut given: FlowValue,
) -> FlowValue {
    let named = args
        .get(1)
        .and_then(|(_, value)| value.known())
        .unwrap_or_default();
    let encoding = match (encoding, named) {
        (CodecKind::Named, "base64" | "base64url") => CodecKind::Base64,
        (CodecKind::Named, "hex") => CodecKind::Hex,
        (CodecKind::Named, "rot13" | "rot_13") => CodecKind::Rot13,
        (CodecKind::Named, _) => {
            given.texts = first.texts.clone();
            return given;
        }
        (encoding, _) => encoding,
    };
    let texts: Vec<String> = first
        .texts
        .iter()
        .filter_map(|text| undo(encoding, text))
        .collect();
    // `%20` in a URL hides nothing.
    if encoding != CodecKind::Url {
        given.taint(
            SourceKind::Decoded,
            &format!("{encoding:?}").to_lowercase(),
            this.site(at),
        );
    }
    given.texts = texts;
    given
}

fn folded(fold: Fold, called: &KnownCall<'_>, given: FlowValue) -> FlowValue {
    let (callee, on) = (called.callee, called.on);
    let values: Vec<&FlowValue> = called.args.iter().map(|(_, value)| value).collect();
    let first = values.first().copied();
    match fold {
        Fold::Path => {
            let before = on.filter(|_| callee.ends_with("joinpath"));
            let mut value = FlowValue::concat(before.into_iter().chain(values), "/");
            if is_path(callee) {
                value.made_by = Some("pathlib.Path".into());
            }
            value
        }
        Fold::Home => FlowValue {
            made_by: is_path(callee).then(|| "pathlib.Path".into()),
            ..FlowValue::text("~")
        },
        Fold::Join => joined(on, first, given),
        Fold::Chars => characters(&values, given),
        Fold::Reverse => reversed(on.or(first), given),
        Fold::Replace => match (on.and_then(FlowValue::known), values.as_slice()) {
            (Some(text), [from, to, ..]) => match (from.known(), to.known()) {
                (Some(from), Some(to)) if !from.is_empty() => {
                    given.with_text(text.replace(from, to))
                }
                _ => given,
            },
            _ => given,
        },
        Fold::Same => unchanged(callee, on, first, given),
        Fold::Made => given,
        Fold::Format => FlowValue::concat(on.into_iter().chain(values), ""),
    }
}

/// `" ".join(list)` in Python, `list.join(" ")` in JavaScript.
fn joined(on: Option<&FlowValue>, first: Option<&FlowValue>, given: FlowValue) -> FlowValue {
    let list_first = first.is_some_and(|value| value.items.is_some());
    let (separator, list) = if list_first { (on, first) } else { (first, on) };
    match list.and_then(|list| list.items.as_ref()) {
        Some(items) => {
            let between = separator.and_then(FlowValue::known).unwrap_or("");
            let mut whole = FlowValue::concat(items, between);
            // A list that was appended to is known only by its sources.
            whole.absorb(&given);
            whole
        }
        None => given,
    }
}

/// Character codes, one by one or as a list.
fn characters(values: &[&FlowValue], given: FlowValue) -> FlowValue {
    let codes: Option<Vec<char>> = values
        .iter()
        .flat_map(|value| {
            value
                .items
                .as_deref()
                .unwrap_or(std::slice::from_ref(*value))
        })
        .map(|value| u32::try_from(value.number?).ok().and_then(char::from_u32))
        .collect();
    match codes {
        Some(codes) if !codes.is_empty() => given.with_text(codes.into_iter().collect()),
        _ => FlowValue {
            texts: values
                .first()
                .map(|value| value.texts.clone())
                .unwrap_or_default(),
            ..given
        },
    }
}

fn reversed(source: Option<&FlowValue>, given: FlowValue) -> FlowValue {
    let Some(value) = source else { return given };
    let turned = |text: &String| text.chars().rev().collect();
    FlowValue {
        texts: value.texts.iter().map(turned).collect(),
        items: value
            .items
            .as_ref()
            .map(|items| items.iter().rev().cloned().collect()),
        ..given
    }
}

fn unchanged(
    callee: &str,
    on: Option<&FlowValue>,
    first: Option<&FlowValue>,
    given: FlowValue,
) -> FlowValue {
    const MODULES: &[&str] = &[
        "os", "os.path", "shlex", "textwrap", "Object", "JSON", "util",
    ];
    // `os.path.expanduser(x)`: the receiver is a module, and only the argument matters.
    let module = callee
        .rsplit_once('.')
        .is_some_and(|(before, _)| MODULES.contains(&before));
    let method = callee.contains('.') && !module;
    let source = on.filter(|_| first.is_none() || method).or(first).or(on);
    let made_by = source
        .and_then(|value| value.made_by.clone())
        .filter(|maker| is_path(maker));
    FlowValue {
        texts: source.map(|value| value.texts.clone()).unwrap_or_default(),
        items: source.and_then(|value| value.items.clone()),
        made_by: made_by.or(given.made_by.clone()),
        ..given
    }
}

/// The suffix of a function that asks a shell to start a program.
pub(crate) const IN_SHELL: &str = " in a shell";

fn spawn(this: &mut Evaluator<'_>, callee: &str, at: At, args: &KeywordArguments<'_>) -> FlowValue {
    let nothing = FlowValue::default();
    // The words after the program: `Deno.Command("sh", {args: […]})`.
    let plain = args
        .iter()
        .find(|(keyword, _)| keyword.is_none())
        .map(|(_, value)| value);
    let first = plain
        .or_else(|| arg(args, 0, &["args", "cmd", "command", "file"]))
        .unwrap_or(&nothing);
    // `os.execvp("sh", ["sh", "-c", …])`: the program's own name is among the words.
    let named = ["os.exec", "os.spawn", "os.posix_spawn"]
        .iter()
        .any(|start| callee.starts_with(start));
    let is_mode = |value: &FlowValue| {
        callee.starts_with("os.spawn") && (value.number.is_some() || value.texts.is_empty())
    };
    let (first, args) = match args {
        [(None, mode), rest @ ..] if is_mode(mode) && !rest.is_empty() => (&rest[0].1, rest),
        _ => (first, args),
    };
    let in_shell = args.iter().any(|(keyword, value)| {
        *keyword == Some("shell") && !matches!(value.known(), Some("False" | "false"))
    });
    let mut words: Vec<FlowValue> = match &first.items {
        Some(items) => items.clone(),
        None => {
            let mut words = vec![first.clone()];
            // child_process.spawn("curl", ["-d", …]), os.execlp("sh", "sh", "-c", …)
            for (keyword, value) in args.iter().skip(1) {
                if keyword.is_none() || *keyword == Some("args") {
                    match &value.items {
                        Some(items) => words.extend(items.iter().cloned()),
                        None if callee.contains("exec") || named => words.push(value.clone()),
                        None => {}
                    }
                }
            }
            if named && words.len() > 1 {
                words.remove(1);
            }
            words
        }
    };
    let input = arg(args, 9, &["input", "stdin"]);
    let line = FlowValue::concat(&words, " ");
    let how = if in_shell {
        format!("{callee}{IN_SHELL}")
    } else {
        callee.to_owned()
    };
    this.act(ActKind::Run, at, &line.shown(), &how, None, line.taints);
    if words.len() == 1 && (in_shell || first.known().is_some_and(|text| text.contains(' '))) {
        return this.with_ambient(first, |this| {
            this.nested(EvaluatedLanguage::Shell, first, at)
        });
    }
    if words.is_empty() {
        return FlowValue::default();
    }
    let program = words.remove(0);
    commands::invoke(this, &program, words, input.cloned(), at)
}

fn eval(
    this: &mut Evaluator<'_>,
    callee: &str,
    at: At,
    first: &FlowValue,
    args: &KeywordArguments<'_>,
) -> FlowValue {
    // A module that is only known at run time: relevant if its name was computed, or came from elsewhere.
    if matches!(callee, "require" | "import") {
        let mut first = first.clone();
        // A module that is imported by URL.
        if first.known().is_some_and(|text| text.starts_with("data:")) {
            first.taint(SourceKind::Decoded, "data:", this.site(at));
        }
        let address = first
            .known()
            .filter(|text| text.starts_with("http"))
            .map(str::to_owned);
        if let Some(url) = address {
            first.taint(SourceKind::Download, &url, this.site(at));
        }
        // A module that the program wrote before.
        if let Some(stored) = first.known().and_then(|path| this.file(path)).cloned() {
            first.absorb(&stored);
        }
        if first.has(SourceKind::Download) || first.has(SourceKind::Decoded) {
            this.act(
                ActKind::Eval,
                at,
                &first.shown(),
                callee,
                None,
                first.taints.clone(),
            );
        }
        return FlowValue {
            made_by: first
                .known()
                .map(|name| name.trim_start_matches("node:").into()),
            ..FlowValue::default()
        };
    }
    let language = this.language;
    let code = if callee == "Function" {
        args.last().map_or(first, |(_, value)| value)
    } else {
        first
    };
    this.with_ambient(code, |this| this.eval(language, code, at))
}
