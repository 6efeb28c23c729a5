//! The evaluation of programs in the common form.

mod files_and_texts;
mod own_functions;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    rc::Rc,
};

use super::{
    ActKind, EvaluatedLanguage, ProgramAct, RemoteHost, Site, SourceKind, Unit, Used, commands,
    path_kind,
    places::{file_name, is_dot_env, is_temporary},
    value::{FlowValue, UNKNOWN, as_program, is_blob, without_symbols},
    vocabulary,
};
use crate::{
    form::{Arg, At, CallExpr, Expr, READ, Stmt, WRITE},
    lower::{Lowering, ScriptDialect},
};

/// The maximum nesting of programs in programs (`sh -c "python -c '…'"`) and of function calls.
const DEEPEST: u32 = 12;
/// The maximum number of expressions per skill: a limit for hostile programs, not for real ones.
const MOST_STEPS: u32 = 2_000_000;
const MOST_ACTS: usize = 20_000;
/// The maximum number of members that are removed from a name to find a known one.
const MOST_MEMBERS: usize = 16;

/// Lists of at least this many numbers may be the character codes of a string.
const FEWEST_CODES: usize = 16;

struct LoweredFunction<'u> {
    params: &'u [String],
    space: Rc<str>,
}

/// A name and its scope.
type NameKey = (Rc<str>, String);

/// Evaluates the programs of one skill, all together.
pub(crate) struct Evaluator<'u> {
    functions: HashMap<String, LoweredFunction<'u>>,
    names: HashMap<NameKey, FlowValue>,
    /// The previous values of names, for each branch that is being evaluated.
    branches: Vec<HashMap<NameKey, Option<FlowValue>>>,
    files: HashMap<String, FlowValue>,
    acts: Vec<ProgramAct>,
    steps: u32,
    depth: u32,
    pub(super) language: EvaluatedLanguage,
    space: Rc<str>,
    function: Option<Rc<str>>,
    unit: u32,
    /// The position of the outer program, inside a program in a program.
    within: Option<Site>,
    /// The sources that contributed to the text of the current program.
    pub(super) ambient: FlowValue,
    pub(super) recording: bool,
    pub(super) used: Vec<Used>,
    lowering: Lowering,
    unparsed: BTreeSet<EvaluatedLanguage>,
    /// The names of the skill's own files.
    own: HashSet<&'u str>,
    /// The source of the folder that a shell program changed to.
    pub(super) here: Option<FlowValue>,
    /// The sources of archives that were unpacked under unknown names.
    pub(super) unpacked: Option<FlowValue>,
    /// The secrets that the program has copied to other places.
    pub(super) staged: FlowValue,
}

/// The acts and uses of programs.
pub(crate) struct ObservedUse {
    /// The acts, in the order of their positions.
    pub(crate) acts: Vec<ProgramAct>,
    /// The uses.
    pub(crate) used: Vec<Used>,
    /// Whether everything was evaluated.
    pub(crate) complete: bool,
    /// Languages of programs inside programs that this build cannot parse.
    pub(crate) unparsed: BTreeSet<EvaluatedLanguage>,
}

use files_and_texts::is_pipeline;

impl<'u> Evaluator<'u> {
    /// Evaluates all programs.
    #[must_use]
    pub(crate) fn run(
        units: &'u [Unit],
        names: &'u BTreeSet<String>,
        lowering: Lowering,
    ) -> ObservedUse {
        let mut this = Self {
            functions: HashMap::new(),
            names: HashMap::new(),
            branches: Vec::new(),
            files: HashMap::new(),
            acts: Vec::new(),
            steps: 0,
            depth: 0,
            language: EvaluatedLanguage::Shell,
            space: "".into(),
            function: None,
            unit: 0,
            within: None,
            ambient: FlowValue::default(),
            recording: false,
            used: Vec::new(),
            lowering,
            unparsed: BTreeSet::new(),
            own: names
                .iter()
                .filter_map(|path| path.rsplit('/').next())
                .collect(),
            here: None,
            unpacked: None,
            staged: FlowValue::default(),
        };
        for unit in units {
            this.enter(unit);
            this.declare(&unit.program.body, unit);
        }
        // Twice: first to learn the values of names, then to see how they are used.
        for recording in [false, true] {
            this.recording = recording;
            for unit in units {
                this.enter(unit);
                this.statements(&unit.program.body);
            }
        }
        let complete = this.steps < MOST_STEPS && this.acts.len() < MOST_ACTS;
        let mut acts = this.acts;
        acts.sort_by_key(|act| (act.site, act.kind));
        acts.dedup();
        ObservedUse {
            acts,
            used: this.used,
            complete,
            unparsed: this.unparsed,
        }
    }

    fn enter(&mut self, unit: &Unit) {
        self.language = unit.language;
        self.space = Rc::clone(&unit.space);
        self.function = None;
        self.unit = unit.index;
        self.within = None;
        self.here = None;
        self.unpacked = None;
        self.staged = FlowValue::default();
    }

    fn declare(&mut self, body: &'u [Stmt], unit: &'u Unit) {
        for stmt in body {
            match stmt {
                Stmt::Function { name, params, body } => {
                    let function = || LoweredFunction {
                        params,
                        space: Rc::clone(&unit.space),
                    };
                    self.functions
                        .insert(format!("{}\n{name}", unit.space), function());
                    self.functions
                        .insert(format!("{}.{name}", unit.module), function());
                    self.declare(body, unit);
                }
                Stmt::Block { body, .. } => self.declare(body, unit),
                Stmt::Let { .. } | Stmt::Do(_) | Stmt::Return(_) => {}
            }
        }
    }

    fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let { name, value, at } => {
                    let mut value = self.value(value);
                    // A path that is not known is identified by its variable.
                    if value.texts.is_empty() && value.made_by.is_none() {
                        value.made_by = Some(name.as_str().into());
                    }
                    self.bind(name, &value, *at);
                }
                Stmt::Do(expr) => {
                    let value = self.value(expr);
                    self.prints(value);
                }
                Stmt::Function { name, body, .. } => {
                    let outside = self.function.replace(name.as_str().into());
                    self.statements(body);
                    self.function = outside;
                }
                Stmt::Return(expr) => {
                    let value = self.value(expr);
                    let name = format!("{}()", self.function.as_deref().unwrap_or_default());
                    self.names
                        .entry((Rc::clone(&self.space), name))
                        .or_default()
                        .join(value);
                }
                Stmt::Block { condition, body } => {
                    let over = condition.as_ref().map(|condition| self.value(condition));
                    self.branches.push(HashMap::new());
                    // `for x in y`: the first statement binds `x` to `y`; the loop assigns each of its items.
                    if let (Some(condition), Some(Stmt::Let { name, value, at })) =
                        (condition, body.first())
                        && value == condition
                        && let Some(over) = over.filter(|over| over.items.is_some())
                    {
                        let mut each = FlowValue::default();
                        each.absorb(&over);
                        for item in over.items.iter().flatten() {
                            each.join(item.clone());
                        }
                        let named = self.language == EvaluatedLanguage::Python;
                        each.items = over.items.filter(|_| named);
                        self.bind(name, &each, *at);
                        self.statements(&body[1..]);
                    } else {
                        self.statements(body);
                    }
                    self.leave_branch();
                }
            }
        }
    }

    /// The output of a shell function's commands is its value.
    fn prints(&mut self, value: FlowValue) {
        if let (EvaluatedLanguage::Shell, Some(name)) = (self.language, &self.function) {
            let key = (Rc::clone(&self.space), format!("{name}()"));
            self.names.entry(key).or_default().join(value);
        }
    }

    /// The output of a function of this shell program.
    pub(super) fn printed(&self, name: &str) -> Option<&FlowValue> {
        let key = (Rc::clone(&self.space), format!("{name}()"));
        self.names.get(&key)
    }

    fn leave_branch(&mut self) {
        let Some(branch) = self.branches.pop() else {
            return;
        };
        let mut branch: Vec<(NameKey, Option<FlowValue>)> = branch.into_iter().collect();
        branch.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, before) in branch {
            let Some(before) = before else { continue };
            if let Some(outer) = self.branches.last_mut() {
                outer
                    .entry(key.clone())
                    .or_insert_with(|| Some(before.clone()));
            }
            self.names.entry(key).or_default().join(before);
        }
    }

    pub(super) fn bind(&mut self, name: &str, value: &FlowValue, at: At) {
        // `process.env.X = …`, `os.environ["X"] = …`: a value for a later child, not a source.
        if self.is_spying(name) {
            self.act(ActKind::Read, at, name, "", None, value.taints.clone());
        }
        let key = (Rc::clone(&self.space), self.local(name));
        let before = self.names.insert(key.clone(), value.clone());
        // A branch is optional: after it, the previous value is possible again.
        if let Some(branch) = self.branches.last_mut() {
            branch.entry(key).or_insert(before);
        }
        // `a.b = x` contributes to `a`.
        if let Some((base, _)) = name.split_once('.') {
            let key = (Rc::clone(&self.space), self.local(base));
            self.names.entry(key).or_default().absorb(value);
        }
    }

    fn is_spying(&self, name: &str) -> bool {
        self.language == EvaluatedLanguage::JavaScript
            && matches!(
                name,
                "document.onkeypress" | "document.onkeydown" | "window.onkeypress"
            )
    }

    fn local(&self, name: &str) -> String {
        match &self.function {
            Some(function) if self.language != EvaluatedLanguage::Shell => {
                format!("{function}#{name}")
            }
            _ => name.to_owned(),
        }
    }

    fn lookup(&self, name: &str) -> Option<&FlowValue> {
        if self.language == EvaluatedLanguage::Shell
            && let Some(function) = &self.function
            && name.len() == 1
            && name.bytes().all(|byte| byte.is_ascii_digit())
        {
            let key = (Rc::clone(&self.space), format!("{function}@{name}"));
            return self.names.get(&key);
        }
        if self.function.is_some()
            && let Some(value) = self.names.get(&(Rc::clone(&self.space), self.local(name)))
        {
            return Some(value);
        }
        self.names.get(&(Rc::clone(&self.space), name.to_owned()))
    }

    pub(super) fn site(&self, at: At) -> Site {
        self.within.unwrap_or(Site {
            unit: self.unit,
            at,
        })
    }

    pub(super) fn act(
        &mut self,
        kind: ActKind,
        at: At,
        subject: &str,
        detail: &str,
        host: Option<RemoteHost>,
        taints: Vec<super::Taint>,
    ) {
        if !self.recording || self.acts.len() >= MOST_ACTS {
            return;
        }
        let cut = |text: &str| without_symbols(text).chars().take(4096).collect();
        self.acts.push(ProgramAct {
            kind,
            site: self.site(at),
            subject: cut(subject),
            detail: cut(detail),
            host,
            taints,
        });
    }

    /// The content of a file that the skill wrote or downloaded.
    pub(super) fn file(&self, path: &str) -> Option<&FlowValue> {
        self.files.get(&file_name(path)?)
    }

    pub(super) fn store_file(&mut self, path: &str, value: FlowValue) {
        if let Some(name) = file_name(path) {
            self.files.entry(name).or_default().join(value);
        }
    }

    /// Whether a path may refer to a file of the skill itself.
    pub(super) fn is_own_file(&self, path: &str) -> bool {
        file_name(path).is_some_and(|name| self.own.contains(name.as_str()))
    }

    /// Evaluates a string as a program that runs here.
    pub(super) fn program(&mut self, language: EvaluatedLanguage, text: &str, at: At) -> FlowValue {
        if self.depth >= DEEPEST || text.len() > 64 * 1024 || text.trim().is_empty() {
            return FlowValue::default();
        }
        let program = self
            .lowering
            .program(text, language, ScriptDialect::JavaScript);
        if program.unparsed {
            self.unparsed.insert(language);
        }
        let before = (self.within, self.language);
        self.within = Some(self.site(at));
        self.language = language;
        self.depth += 1;
        let mut last = FlowValue::default();
        for stmt in &program.body {
            match stmt {
                Stmt::Do(expr) => last = self.value(expr),
                other => self.statements(std::slice::from_ref(other)),
            }
        }
        self.depth -= 1;
        (self.within, self.language) = before;
        last
    }

    pub(super) fn value(&mut self, expr: &Expr) -> FlowValue {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.depth > 4 * DEEPEST {
            return FlowValue::default();
        }
        match expr {
            Expr::Text(text, at) => {
                let mut value = FlowValue::text(text.clone());
                if is_blob(text) {
                    value.taint(SourceKind::Blob, "", self.site(*at));
                }
                self.name_path(&mut value, *at);
                if self.recording && is_pipeline(text) {
                    self.mention(text, *at);
                }
                value
            }
            Expr::Number(number, _) => FlowValue {
                number: Some(*number),
                ..FlowValue::default()
            },
            Expr::Name(name, at) => self.name(name, *at),
            Expr::Call(call) => {
                self.depth += 1;
                let value = self.call(call);
                self.depth -= 1;
                value
            }
            Expr::Join(parts) => {
                let values: Vec<FlowValue> = parts.iter().map(|part| self.value(part)).collect();
                FlowValue::concat(&values, "")
            }
            Expr::Parts(parts) => {
                let values: Vec<FlowValue> = parts.iter().map(|part| self.value(part)).collect();
                let mut whole = FlowValue::default();
                values.iter().for_each(|value| whole.absorb(value));
                // `for f in a b`: one of several words.
                if self.language == EvaluatedLanguage::Shell
                    && values.iter().all(|value| value.known().is_some())
                {
                    for value in &values {
                        whole.join(FlowValue {
                            texts: value.texts.clone(),
                            ..FlowValue::default()
                        });
                    }
                }
                // `f(...list)`
                if let [only] = values.as_slice() {
                    whole.items.clone_from(&only.items);
                }
                // `Path.home() / ".ssh" / "id_rsa"`
                if values
                    .iter()
                    .any(|value| value.made_by.as_deref().is_some_and(vocabulary::is_path))
                {
                    whole.texts = FlowValue::concat(&values, "/").texts;
                    whole.made_by = Some("pathlib.Path".into());
                }
                whole
            }
            Expr::List(items) => {
                let items: Vec<FlowValue> = items.iter().map(|item| self.value(item)).collect();
                let mut whole = FlowValue::default();
                items.iter().for_each(|item| whole.absorb(item));
                let numbers = items.iter().filter(|item| item.number.is_some()).count();
                if numbers >= FEWEST_CODES && numbers == items.len() {
                    whole.taint(SourceKind::Numbers, "", Site::default());
                }
                whole.set_items(items);
                whole
            }
            Expr::Lambda { body, .. } => {
                self.statements(body);
                let mut value = FlowValue::default();
                // `@{ key = $value }`: a table is parsed as a block that binds its keys.
                if self.language == EvaluatedLanguage::PowerShell {
                    for stmt in body {
                        if let Stmt::Let { name, .. } = stmt
                            && let Some(bound) = self.lookup(name).cloned()
                        {
                            value.absorb(&bound);
                        }
                    }
                }
                value
            }
            Expr::Nothing => FlowValue::default(),
        }
    }

    fn name(&mut self, name: &str, at: At) -> FlowValue {
        if let Some(value) = self.lookup(name) {
            return value.clone();
        }
        if let Some(value) = self.source_of_name(name, at) {
            return value;
        }
        if name == "sys.executable" && self.language == EvaluatedLanguage::Python {
            return FlowValue::text("python3");
        }
        // `response.text` where `response` is known.
        let mut base = name;
        // A chain of a million members has a million prefixes; real code has a few.
        for _ in 0..MOST_MEMBERS {
            let Some((shorter, _)) = base.rsplit_once('.') else {
                break;
            };
            base = shorter;
            if let Some(known) = self
                .lookup(base)
                .cloned()
                .or_else(|| self.source_of_name(base, at))
            {
                let mut value = known;
                // `handle.name` is the path that was opened.
                let is_path = value.made_by.as_deref() == Some("open")
                    && matches!(&name[base.len()..], ".name" | ".path");
                if !is_path {
                    value.texts.clear();
                }
                value.items = None;
                return value;
            }
        }
        FlowValue {
            made_by: Some(name.into()),
            ..FlowValue::default()
        }
    }

    fn source_of_name(&mut self, name: &str, at: At) -> Option<FlowValue> {
        let site = self.site(at);
        let variable = match self.language {
            EvaluatedLanguage::Python => name
                .strip_prefix("os.environ.")
                .or_else(|| name.strip_prefix("os.environb.")),
            EvaluatedLanguage::JavaScript => name
                .strip_prefix("process.env.")
                .or_else(|| name.strip_prefix("Deno.env."))
                .or_else(|| name.strip_prefix("Bun.env."))
                .or_else(|| name.strip_prefix("import.meta.env.")),
            EvaluatedLanguage::Shell if is_shell_variable(name) => Some(name),
            EvaluatedLanguage::PowerShell | EvaluatedLanguage::Batch => name.strip_prefix("env:"),
            EvaluatedLanguage::Shell => None,
        };
        if let Some(variable) = variable.filter(|name| !name.contains('.')) {
            return Some(self.variable(variable, at));
        }
        let kind = vocabulary::source_of_name(self.language, name)?;
        if kind == SourceKind::Environment {
            self.act(ActKind::Environment, at, "*", "", None, Vec::new());
        }
        Some(FlowValue::source(kind, name, site))
    }

    /// An environment variable is read.
    pub(super) fn variable(&mut self, name: &str, at: At) -> FlowValue {
        match name {
            "HOME" | "USERPROFILE" => return FlowValue::text("~"),
            "PWD" | "TMPDIR" | "PATH" | "IFS" | "0" | "PYTHONPATH" | "LANG" | "TERM" | "SHELL" => {
                return FlowValue::default();
            }
            _ => {}
        }
        self.act(ActKind::Environment, at, name, "", None, Vec::new());
        let kind = if vocabulary::is_secret_name(name) {
            SourceKind::SecretVariable
        } else {
            SourceKind::Variable
        };
        FlowValue {
            made_by: Some(name.into()),
            ..FlowValue::source(kind, name, self.site(at))
        }
    }

    fn call(&mut self, call: &CallExpr) -> FlowValue {
        if matches!(
            self.language,
            EvaluatedLanguage::Shell | EvaluatedLanguage::PowerShell | EvaluatedLanguage::Batch
        ) || matches!(call.callee.as_str(), READ | WRITE)
        {
            return commands::command(self, call);
        }
        // `os.environ.get(name)` reads one variable of the environment, not all of it.
        let one = vocabulary::role(self.language, &call.callee)
            == Some(vocabulary::FunctionRole::Variable);
        let on = call.on.as_ref().filter(|_| !one);
        let on = on.map(|on| self.value(on));
        let callee = self.callee(call, on.as_ref());
        let mut args: Vec<(Option<&str>, FlowValue)> = Vec::with_capacity(call.args.len());
        for Arg { name, value } in &call.args {
            let value = match value {
                Expr::Lambda { params, body } => {
                    // `https.get(url, answer => …)`
                    let requests = vocabulary::role(self.language, &callee)
                        == Some(vocabulary::FunctionRole::Request);
                    let url = args
                        .iter()
                        .find_map(|(_, value): &(_, FlowValue)| value.known());
                    let answer = url.filter(|_| requests).map(|url| {
                        FlowValue::source(SourceKind::Download, url, self.site(call.at))
                    });
                    self.lambda(params, body, answer.as_ref().or(on.as_ref()), &callee)
                }
                other => self.value(other),
            };
            args.push((name.as_deref(), value));
        }
        if let Some(value) = self.call_own(&callee, &args) {
            return value;
        }
        let mut passed_on = FlowValue::default();
        if let Some(on) = &on {
            passed_on.absorb(on);
        }
        args.iter().for_each(|(_, value)| passed_on.absorb(value));
        passed_on.made_by = Some(callee.as_str().into());
        let role = vocabulary::role(self.language, &callee);
        self.library(&callee, role, on.as_ref(), &args, call.at);
        // `new URL("https://…")` is still that address.
        if let ("URL", Some((None, first))) = (callee.as_str(), args.first()) {
            passed_on.texts = first.texts.clone();
        }
        self.keep(call, &args);
        match role {
            Some(role) => {
                let called = vocabulary::KnownCall {
                    callee: &callee,
                    call,
                    on: on.as_ref(),
                    args: &args,
                };
                vocabulary::apply(self, role, &called, passed_on)
            }
            None => passed_on,
        }
    }

    /// The full name of a callee: a method of a known function's result is named after the function.
    fn callee(&self, call: &CallExpr, on: Option<&FlowValue>) -> String {
        let Some(on) = on else {
            return call.callee.clone();
        };
        let method = call.callee.rsplit('.').next().unwrap_or_default();
        if vocabulary::role(self.language, &call.callee).is_some() && !call.callee.starts_with('.')
        {
            return call.callee.clone();
        }
        match &on.made_by {
            Some(maker) if !call.callee.starts_with(maker.as_ref()) => format!("{maker}.{method}"),
            _ => call.callee.clone(),
        }
    }

    /// A function passed to `.then`, `.map`, `forEach`…: its first parameter is the receiver.
    fn lambda(
        &mut self,
        params: &[String],
        body: &[Stmt],
        on: Option<&FlowValue>,
        callee: &str,
    ) -> FlowValue {
        let outside = self.function.take();
        let name: Rc<str> = format!(
            "{}λ{}",
            outside.as_deref().unwrap_or_default(),
            params.join(",")
        )
        .into();
        // Other names are those of the outer scope: bind the receiver and keep that scope.
        self.function = outside;
        if let (Some(on), Some(first)) = (on, params.first()) {
            let mut given = on.clone();
            for item in given.items.take().into_iter().flatten() {
                given.join(item);
            }
            if !matches!(
                callee.rsplit('.').next(),
                Some("then" | "map" | "forEach" | "filter" | "on" | "pipe" | "catch")
            ) {
                given.texts.clear();
            }
            self.bind(first.trim_start_matches('*'), &given, 0);
        }
        let before = self
            .names
            .remove(&(Rc::clone(&self.space), format!("{name}()")));
        for stmt in body {
            match stmt {
                Stmt::Return(expr) => {
                    let value = self.value(expr);
                    self.names
                        .entry((Rc::clone(&self.space), format!("{name}()")))
                        .or_default()
                        .join(value);
                }
                other => self.statements(std::slice::from_ref(other)),
            }
        }
        let result = self
            .names
            .remove(&(Rc::clone(&self.space), format!("{name}()")));
        if let Some(before) = before {
            self.names
                .insert((Rc::clone(&self.space), format!("{name}()")), before);
        }
        result.unwrap_or_default()
    }

    /// Records that a string is run as code.
    pub(super) fn eval(
        &mut self,
        language: EvaluatedLanguage,
        code: &FlowValue,
        at: At,
    ) -> FlowValue {
        let shown = code.shown();
        self.act(ActKind::Eval, at, &shown, "", None, code.taints.clone());
        self.nested(language, code, at)
    }

    /// The string as a program, where it is known.
    pub(super) fn nested(
        &mut self,
        language: EvaluatedLanguage,
        code: &FlowValue,
        at: At,
    ) -> FlowValue {
        let texts: Vec<String> = code
            .texts
            .iter()
            .filter(|text| text.chars().any(|c| c != UNKNOWN))
            .cloned()
            .collect();
        let mut result = FlowValue::default();
        for text in texts {
            result.join(self.program(language, &as_program(&text), at));
        }
        result
    }

    /// Inside a program in a program, the sources of its text contribute to its acts.
    pub(super) fn with_ambient<T>(
        &mut self,
        code: &FlowValue,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let partly_unknown =
            code.texts.is_empty() || code.texts.iter().any(|text| text.contains(UNKNOWN));
        if !partly_unknown || code.taints.is_empty() {
            return run(self);
        }
        let before = self.ambient.clone();
        self.ambient.absorb(code);
        let result = run(self);
        self.ambient = before;
        result
    }
}

/// `$GITHUB_TOKEN`, not `$1`, `$?` or `$file`.
fn is_shell_variable(name: &str) -> bool {
    name.len() > 1
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}
