//! The state of lowering: the statements so far, and the meaning of each name.
//!
//! A name that was imported, or that was bound once to an unbound name (`e = eval`), is an *alias*: it is replaced wherever it
//! is used. A name with several values, or with one that was computed, is kept; its `Let`s record its possible values. The rule is
//! deliberately one-way (an alias that gets another value stops being one), so that the order of branches doesn't matter.

use std::collections::HashMap;

use crate::form::{Arg, At, CallExpr, Expr, Stmt};

/// The maximum depth of the form. Measured: about 6 KiB of stack per level when lowering without optimisation.
pub(super) const MAX_DEPTH: u32 = 160;
/// Names above this many bytes get no more members: they are not known names, and writing them out takes quadratic time.
const LONGEST_PATH: usize = 1000;

/// Whether a name is too long for another member.
pub(super) fn is_long(value: &Expr) -> bool {
    matches!(value, Expr::Name(path, _) if path.len() > LONGEST_PATH)
}
/// How often a chain of operators may change between joining and other operators before all of it is `Parts`.
const MOST_SWITCHES: u32 = 4;
/// Longer lists are data, not tables of words.
const LONGEST_TABLE: usize = 64;
/// Longer strings are not names.
const LONGEST_NAME: usize = 128;

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq)]
enum Binding {
    /// Another name.
    Alias(String),
    /// A string that may become part of a name: `m = "os"`.
    Text(String),
    /// Something else.
    Value,
}

/// The state of lowering.
#[derive(Default)]
pub(super) struct LoweringFrame {
    /// The statements of the body that is being lowered.
    pub(super) out: Vec<Stmt>,
    /// While more than 0, names are bound to parts of a value (elements of a list, iterations of a loop), so none is an alias.
    pub(super) opaque: u32,
    /// The first place that was left out.
    pub(super) broken: Option<At>,
    scopes: Vec<HashMap<String, Binding>>,
    /// Whether any dotted name is bound: otherwise they need not be looked up.
    dotted: bool,
    depth: u32,
}

impl LoweringFrame {
    /// A frame with one scope, the program's.
    pub(super) fn new() -> Self {
        Self {
            scopes: vec![HashMap::new()],
            ..Self::default()
        }
    }

    /// Records that something at `at` was left out.
    pub(super) fn leave_out(&mut self, at: At) {
        self.broken = Some(self.broken.map_or(at, |first| first.min(at)));
    }

    /// One level deeper; `false` (and a note) if that is too deep. Each `true` needs an [`LoweringFrame::ascend`].
    pub(super) fn descend(&mut self, at: At) -> bool {
        if self.depth >= MAX_DEPTH {
            self.leave_out(at);
            return false;
        }
        self.depth += 1;
        true
    }

    /// Back from [`LoweringFrame::descend`].
    pub(super) fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Begins a body; hands back the statements around it.
    pub(super) fn open(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.out)
    }

    /// Ends a body that was begun with [`LoweringFrame::open`].
    pub(super) fn close(&mut self, around: Vec<Stmt>) -> Vec<Stmt> {
        std::mem::replace(&mut self.out, around)
    }

    /// Begins a scope.
    pub(super) fn push_scope(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Ends a scope; the program's stays.
    pub(super) fn pop_scope(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    fn binding(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Whether a name was bound or imported here.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.binding(name).is_some()
    }

    /// A name, spelt out.
    pub(super) fn resolve(&self, name: &str) -> String {
        match self.binding(name) {
            Some(Binding::Alias(target)) => target.clone(),
            _ => name.to_owned(),
        }
    }

    /// A dotted name, spelt out, if something was bound to just this one (`this.cp = require("fs")`).
    pub(super) fn resolve_dotted(&self, path: String) -> String {
        if self.dotted {
            self.resolve(&path)
        } else {
            path
        }
    }

    /// The string that a value certainly is; for names only, so `chr(101)` and similar calls are left to the evaluator.
    pub(super) fn constant(&self, value: &Expr) -> Option<String> {
        match value {
            Expr::Text(text, _) => Some(text.clone()),
            Expr::Join(parts) => parts.iter().map(|part| self.constant(part)).collect(),
            Expr::Name(name, _) => match self.binding(name) {
                Some(Binding::Text(text)) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The string that a value is, or the one that a call builds from its pieces: `join(("su", "bprocess"))`. Where a name is
    /// expected, only the pieces of a name make sense.
    pub(super) fn spelled(&self, value: &Expr) -> Option<String> {
        let Expr::Call(call) = value else {
            return self.constant(value);
        };
        let pieces = |args: &[Expr]| -> Option<String> {
            args.iter().map(|piece| self.constant(piece)).collect()
        };
        match call.args.as_slice() {
            [
                Arg {
                    value: Expr::List(items),
                    ..
                },
            ] => pieces(items),
            [] | [_] => None,
            args => pieces(&args.iter().map(|arg| arg.value.clone()).collect::<Vec<_>>()),
        }
    }

    /// The name of the entry for a key: a string, or the number of an element (`argv[1]` is `argv.1`).
    pub(super) fn entry(&self, key: &Expr) -> Option<String> {
        match key {
            Expr::Number(index, _) if *index >= 0 => Some(index.to_string()),
            key => self.constant(key),
        }
    }

    /// A parameter, or a name with an unknown value.
    pub(super) fn shadow(&mut self, name: &str) {
        self.put(name, Binding::Value);
    }

    /// An import: `name` is `target` from here on.
    pub(super) fn import(&mut self, name: &str, target: String) {
        self.put(name, Binding::Alias(target));
    }

    fn put(&mut self, name: &str, binding: Binding) {
        self.dotted |= name.contains('.');
        let at = if is_shared(name) {
            0
        } else {
            self.scopes.len().saturating_sub(1)
        };
        if let Some(scope) = self.scopes.get_mut(at) {
            scope.insert(name.to_owned(), binding);
        }
    }

    /// Records the meaning of a value for the name that gets it.
    pub(super) fn note(&mut self, name: &str, value: &Expr) {
        let at = if is_shared(name) {
            0
        } else {
            self.scopes.len().saturating_sub(1)
        };
        let known = self.scopes.get(at).and_then(|scope| scope.get(name));
        let binding = match value {
            Expr::Name(target, _) if target == name && known.is_some() => return,
            Expr::Name(..) | Expr::Text(..) if self.opaque > 0 => Binding::Value,
            Expr::Name(target, _) if self.is_free(target) => Binding::Alias(target.clone()),
            Expr::Text(text, _) if text.len() <= LONGEST_NAME => Binding::Text(text.clone()),
            // `requests = None` after a failed import, `let e = null` before the value
            Expr::Nothing => return,
            Expr::Join(_) => self.constant(value).map_or(Binding::Value, Binding::Text),
            _ => Binding::Value,
        };
        let binding = match known {
            Some(known) if *known != binding => Binding::Value,
            _ => binding,
        };
        self.put(name, binding);
    }

    /// Whether the name has no value here.
    fn is_free(&self, path: &str) -> bool {
        let root = path.split('.').next().unwrap_or(path);
        !matches!(root, "this" | "self" | "cls" | "super" | "arguments")
            && !path.starts_with('@')
            && !matches!(self.binding(root), Some(Binding::Value | Binding::Text(_)))
    }

    /// Binds a name to a value; a function becomes a [`Stmt::LoweredFunction`].
    pub(super) fn bind(&mut self, name: String, value: Expr, at: At) {
        self.note(&name, &value);
        if let Expr::List(elements) = &value {
            self.note_elements(&name, elements);
        }
        match value {
            Expr::Lambda { params, body } => {
                let name = name.rsplit('.').next().unwrap_or(&name).to_owned();
                self.out.push(Stmt::Function { name, params, body });
            }
            value => self.out.push(Stmt::Let { name, value, at }),
        }
    }

    /// Records the strings and names of a short list: tables of words are a common way to hide them.
    fn note_elements(&mut self, name: &str, elements: &[Expr]) {
        if elements.len() > LONGEST_TABLE {
            return;
        }
        for (index, element) in elements.iter().enumerate() {
            if matches!(element, Expr::Text(..) | Expr::Name(..)) {
                self.note(&format!("{name}.{index}"), element);
            }
        }
    }

    /// Makes a value repeatable: itself, or a generated name for it.
    pub(super) fn shared(&mut self, value: Expr, at: At) -> Expr {
        if is_simple(&value) {
            return value;
        }
        let name = format!("@{at}");
        self.out.push(Stmt::Let {
            name: name.clone(),
            value,
            at,
        });
        Expr::Name(name, at)
    }

    /// The result of a function that is called in place: its `return`s become bindings of a generated name.
    pub(super) fn inline(&mut self, mut body: Vec<Stmt>, at: At) -> Expr {
        let early = body.len().saturating_sub(1);
        let ends_plainly = !matches!(body.last(), Some(Stmt::Block { body, .. }) if returns(body));
        if ends_plainly && !returns(body.get(..early).unwrap_or_default()) {
            let value = match body.pop() {
                Some(Stmt::Return(value)) => value,
                last => {
                    body.extend(last);
                    Expr::Nothing
                }
            };
            if !body.is_empty() {
                self.out.push(Stmt::Block {
                    condition: None,
                    body,
                });
            }
            return value;
        }
        let name = format!("@{at}");
        rename_returns(&mut body, &name, at);
        self.out.push(Stmt::Block {
            condition: None,
            body,
        });
        Expr::Name(name, at)
    }
}

/// Members of the object itself: bound in one method, used in another.
fn is_shared(name: &str) -> bool {
    name.starts_with("this.") || name.starts_with("self.")
}

/// Whether a value can be repeated without repeating an effect.
pub(super) fn is_simple(value: &Expr) -> bool {
    matches!(
        value,
        Expr::Name(..) | Expr::Text(..) | Expr::Number(..) | Expr::Nothing
    )
}

/// Whether a `return` is among these, or in a block of these.
fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Return(_) => true,
        Stmt::Block { body, .. } => returns(body),
        _ => false,
    })
}

fn rename_returns(body: &mut [Stmt], name: &str, at: At) {
    for stmt in body {
        match stmt {
            Stmt::Return(value) => {
                let value = std::mem::replace(value, Expr::Nothing);
                *stmt = Stmt::Let {
                    name: name.to_owned(),
                    value,
                    at,
                };
            }
            Stmt::Block { body, .. } => rename_returns(body, name, at),
            _ => {}
        }
    }
}

/// A call of a value: by its name if it has one.
pub(super) fn call(callee: Expr, args: Vec<Arg>, at: At, end: At) -> Expr {
    let (callee, on) = match callee {
        Expr::Name(path, start) => {
            let on = owner(&path).map(|owner| Expr::Name(owner.to_owned(), start));
            (path, on)
        }
        Expr::Nothing => (String::new(), None),
        value => (String::new(), Some(value)),
    };
    Expr::Call(Box::new(CallExpr {
        callee,
        on,
        args,
        input: None,
        at,
        end,
    }))
}

/// A call of a value's method.
pub(super) fn method(on: Expr, name: &str, args: Vec<Arg>, at: At, end: At) -> Expr {
    Expr::Call(Box::new(CallExpr {
        callee: format!(".{name}"),
        on: Some(on),
        args,
        input: None,
        at,
        end,
    }))
}

/// The path before the last dot; the dot of a file extension does not count.
fn owner(path: &str) -> Option<&str> {
    let (owner, last) = path.rsplit_once('.')?;
    let is_file =
        path.contains('/') && matches!(last, "js" | "mjs" | "cjs" | "ts" | "json" | "node");
    (!is_file && !owner.is_empty() && !owner.ends_with('.')).then_some(owner)
}

/// A chain of operators, from the left: runs of the same kind become one list, so that 100,000 operands are no deeper than two.
#[derive(Default)]
pub(super) struct MemberChain {
    switches: u32,
}

impl MemberChain {
    /// Adds an operand to its left side; `joins` if the operator concatenates texts.
    pub(super) fn add(&mut self, left: Expr, right: Expr, joins: bool) -> Expr {
        match (left, joins) {
            (Expr::Join(mut parts), true) if self.switches > 0 => {
                parts.push(right);
                Expr::Join(parts)
            }
            (Expr::Parts(mut parts), _) if self.switches > MOST_SWITCHES => {
                parts.push(right);
                Expr::Parts(parts)
            }
            (Expr::Parts(mut parts), false) if self.switches > 0 => {
                parts.push(right);
                Expr::Parts(parts)
            }
            (left, joins) => {
                self.switches += 1;
                if joins && self.switches <= MOST_SWITCHES {
                    Expr::Join(vec![left, right])
                } else {
                    Expr::Parts(vec![left, right])
                }
            }
        }
    }
}
