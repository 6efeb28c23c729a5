//! Functions of the skill itself, sources that values keep, and files that programs write.

use std::rc::Rc;

use super::{Evaluator, FlowValue, SourceKind, path_kind};
use crate::{
    flow::{ActKind, HostKind, PathKind, RemoteHost, Taint},
    form::{At, CallExpr, Expr},
};

/// Methods that add their arguments to their receiver.
const KEEPERS: &[&str] = &[
    "append",
    "extend",
    "add",
    "insert",
    "update",
    "appendleft",
    "push",
    "unshift",
    "set",
    "put",
    "attach",
    "add_attachment",
    "add_related",
    "set_content",
    "set_payload",
    "add_field",
    "add_file",
    "addFile",
    "addLocalFile",
    "addBuffer",
    "write",
    "writestr",
    "writelines",
    "writeStr",
    "file",
];

impl Evaluator<'_> {
    /// A function of a shell program is called: its parameters are `$1`, `$2`.
    pub(in crate::flow) fn call_shell_function(&mut self, name: &str, words: &[FlowValue]) {
        if !self.is_own_function(name) {
            return;
        }
        for (position, word) in words.iter().enumerate().take(9) {
            let key = (Rc::clone(&self.space), format!("{name}@{}", position + 1));
            self.names.entry(key).or_default().join(word.clone());
        }
    }

    /// `list.append(x)`, `message.attach(x)`: the list has the sources of `x` from then on.
    pub(super) fn keep(&mut self, call: &CallExpr, args: &[(Option<&str>, FlowValue)]) {
        let method = call.callee.rsplit('.').next().unwrap_or_default();
        let mut on = call.on.as_ref();
        while let Some(Expr::Call(inner)) = on {
            on = inner.on.as_ref();
        }
        let Some(Expr::Name(name, _)) = on.filter(|_| KEEPERS.contains(&method)) else {
            return;
        };
        let name = self.local(name);
        let outer = name.rsplit('#').next().unwrap_or_default().to_owned();
        let mut key = (Rc::clone(&self.space), name);
        if !self.names.contains_key(&key) {
            key.1 = outer;
        }
        if let Some(value) = self.names.get_mut(&key) {
            args.iter().for_each(|(_, given)| value.absorb(given));
        }
    }

    /// A call of one of the skill's own functions: its parameters get the arguments.
    pub(super) fn call_own(
        &mut self,
        callee: &str,
        args: &[(Option<&str>, FlowValue)],
    ) -> Option<FlowValue> {
        if self.functions.is_empty() {
            return None;
        }
        let short = callee
            .strip_prefix("self.")
            .or_else(|| callee.strip_prefix("this."))
            .unwrap_or(callee);
        let own = format!("{}\n{short}", self.space);
        let key = if self.functions.contains_key(&own) {
            own
        } else {
            let mut parts = callee.rsplitn(3, '.');
            let (name, module) = (parts.next()?, parts.next()?);
            let key = format!("{module}.{name}");
            self.functions.contains_key(&key).then_some(key)?
        };
        let function = self.functions.get(&key)?;
        let name = key.rsplit(['\n', '.']).next().unwrap_or_default();
        let space = Rc::clone(&function.space);
        let params: Vec<&String> = function
            .params
            .iter()
            .filter(|param| !matches!(param.as_str(), "self" | "cls"))
            .collect();
        let mut given = Vec::new();
        let plain = args.iter().filter(|(keyword, _)| keyword.is_none()).count();
        for (position, (keyword, value)) in args.iter().enumerate() {
            let param = match keyword {
                // `f({a: x})`: an object is given as its properties.
                Some(keyword) => params
                    .iter()
                    .find(|param| param.as_str() == *keyword)
                    .or_else(|| params.get(plain.min(params.len().saturating_sub(1)))),
                None => params.get(position),
            };
            // `*rest` gets all remaining arguments.
            if let Some(rest) = param.and_then(|param| param.strip_prefix('*')) {
                let mut list = FlowValue::default();
                let left: Vec<FlowValue> =
                    args.iter().skip(position).map(|(_, v)| v.clone()).collect();
                left.iter().for_each(|item| list.absorb(item));
                list.set_items(left);
                given.push((format!("{name}#{rest}"), list));
                break;
            }
            if let Some(param) = param {
                given.push((format!("{name}#{param}"), value.clone()));
            }
        }
        for (param, value) in given {
            self.names
                .entry((Rc::clone(&space), param))
                .or_default()
                .join(value);
        }
        Some(
            self.names
                .get(&(space, format!("{name}()")))
                .cloned()
                .unwrap_or_default(),
        )
    }

    /// Whether the name is one of the functions of this program.
    pub(in crate::flow) fn is_own_function(&self, name: &str) -> bool {
        !self.functions.is_empty()
            && self
                .functions
                .contains_key(&format!("{}\n{name}", self.space))
    }

    /// Records that a value is written to a file.
    pub(in crate::flow) fn write(&mut self, path: &FlowValue, data: &FlowValue, at: At) {
        let starts = |path: &String| path_kind(path) == PathKind::Autostart;
        let shown = path.texts.iter().find(|path| starts(path));
        let shown = shown.cloned().unwrap_or_else(|| path.shown());
        let mut taints = data.taints.clone();
        // A program that starts a downloaded program downloads, too.
        if let Some(text) = data.known().filter(|_| starts(&shown)) {
            let words = text.split(|c: char| c.is_whitespace() || "<>\"'=;".contains(c));
            for path in words.filter(|word| word.contains('/')) {
                let fetched = self.file(path).into_iter().flat_map(|value| &value.taints);
                taints.extend(fetched.filter(|taint| is_foreign(taint)).cloned());
            }
        }
        self.act(ActKind::Write, at, &shown, &data.shown(), None, taints);
        for taint in data
            .taints
            .iter()
            .filter(|taint| taint.source.kind.is_private())
        {
            let source = &taint.source;
            self.staged.taint(source.kind, &source.what, taint.site);
        }
        if let Some(path) = path.place() {
            self.store_file(&path, data.clone());
        }
    }
}

/// Whether something was downloaded from a host that is not a known publisher.
fn is_foreign(taint: &Taint) -> bool {
    let host = RemoteHost::of(&taint.source.what);
    taint.source.kind == SourceKind::Download
        && host.is_none_or(|host| {
            !matches!(
                host.kind,
                HostKind::Known | HostKind::Code | HostKind::Local | HostKind::Example
            )
        })
}
