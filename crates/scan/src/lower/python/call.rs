//! Python's calls, and those among them that are names in disguise: `__import__("os")`, `getattr(os, "system")`.

use ruff_python_ast::{Expr as Py, ExprCall, ExprLambda};

use super::Python;
use crate::form::{Arg, At, Expr};
use crate::lower::frame::{call, method};

impl Python {
    /// Lowers a call.
    pub(super) fn call(&mut self, node: &ExprCall) -> Expr {
        let (at, end) = (
            node.range_start.to_u32(),
            node.arguments.range.end().to_u32(),
        );
        match &*node.func {
            Py::Lambda(lambda) => self.called_lambda(lambda, node, at),
            Py::Attribute(attribute) => {
                let base = self.expr(&attribute.value);
                let name = attribute.attr.as_str();
                let args = self.args(node);
                if let Some(named) = self.looked_up(&base, name, &args) {
                    return named;
                }
                match base {
                    base @ Expr::Name(..) => {
                        let callee = self.of(base, name);
                        self.named(callee, args, at, end)
                    }
                    base if name == "__call__" => self.named(base, args, at, end),
                    base => method(base, name, args, at, end),
                }
            }
            func => {
                let callee = self.expr(func);
                let args = self.args(node);
                self.named(callee, args, at, end)
            }
        }
    }

    /// A call by name; some of them only spell a name.
    fn named(&self, callee: Expr, args: Vec<Arg>, at: At, end: At) -> Expr {
        let Expr::Name(path, start) = callee else {
            return call(callee, args, at, end);
        };
        let first = |this: &Self| args.first().and_then(|arg| this.frame.spelled(&arg.value));
        match path.as_str() {
            "__import__" | "importlib.__import__" => {
                if let Some(module) = first(self) {
                    let whole = args
                        .iter()
                        .any(|arg| arg.name.as_deref() == Some("fromlist"))
                        || args.len() > 3;
                    let name = if whole {
                        &module
                    } else {
                        module.split('.').next().unwrap_or(&module)
                    };
                    return Expr::Name(self.member("", name), at);
                }
            }
            "importlib.import_module" | "sys.modules.get" => {
                if let Some(module) = first(self) {
                    return Expr::Name(self.member("", module.trim_start_matches('.')), at);
                }
            }
            "getattr" | "object.__getattribute__" => {
                if let [
                    Arg {
                        value: Expr::Name(object, _),
                        ..
                    },
                    key,
                    ..,
                ] = args.as_slice()
                    && let Some(key) = self.frame.spelled(&key.value)
                {
                    return Expr::Name(self.member(object, &key), at);
                }
            }
            _ => {}
        }
        call(Expr::Name(path, start), args, at, end)
    }

    /// `globals().get("eval")`, `os.__getattribute__("system")`, `os.__dict__.get("system")`.
    fn looked_up(&self, base: &Expr, name: &str, args: &[Arg]) -> Option<Expr> {
        let is_scope = matches!(base, Expr::Call(call) if matches!(call.callee.as_str(), "globals" | "locals" | "vars"));
        let looks_up = match name {
            "get" => is_scope || matches!(base, Expr::Name(path, _) if path == "__builtins__"),
            "__getitem__" => is_scope || matches!(base, Expr::Name(..)),
            "__getattribute__" => matches!(base, Expr::Name(path, _) if path != "object"),
            _ => false,
        };
        let key = looks_up.then(|| args.first()).flatten()?;
        let key = self.frame.constant(&key.value)?;
        Some(self.of(base.clone(), &key))
    }

    /// The arguments of a call.
    fn args(&mut self, node: &ExprCall) -> Vec<Arg> {
        let mut args =
            Vec::with_capacity(node.arguments.args.len() + node.arguments.keywords.len());
        for arg in &node.arguments.args {
            args.push(Arg::plain(self.expr(arg)));
        }
        for keyword in &node.arguments.keywords {
            match (&keyword.arg, &keyword.value) {
                (Some(name), value) => args.push(Arg {
                    name: Some(name.as_str().to_owned()),
                    value: self.expr(value),
                }),
                (None, Py::Dict(dict)) => {
                    for item in &dict.items {
                        let key = item.key.as_ref().map(|key| self.expr(key));
                        let name = key.and_then(|key| self.frame.constant(&key));
                        args.push(Arg {
                            name,
                            value: self.expr(&item.value),
                        });
                    }
                }
                (None, value) => args.push(Arg::plain(Expr::Parts(vec![self.expr(value)]))),
            }
        }
        args
    }

    /// `(lambda x: …)(y)`: its parameters get the arguments, and its value is the call's.
    fn called_lambda(&mut self, lambda: &ExprLambda, node: &ExprCall, at: At) -> Expr {
        let args = self.args(node);
        self.frame.push_scope();
        let names: Vec<String> = lambda
            .parameters
            .as_deref()
            .map(|parameters| {
                parameters
                    .iter_non_variadic_params()
                    .map(|parameter| parameter.parameter.name.as_str().to_owned())
                    .collect()
            })
            .unwrap_or_default();
        let mut rest = Vec::new();
        for (index, arg) in args.into_iter().enumerate() {
            match arg
                .name
                .as_ref()
                .filter(|name| names.contains(name))
                .or_else(|| names.get(index))
            {
                Some(name) => self.frame.bind(name.clone(), arg.value, at),
                None => rest.push(arg.value),
            }
        }
        let value = self.expr(&lambda.body);
        self.frame.pop_scope();
        if rest.is_empty() {
            value
        } else {
            Expr::Parts(std::iter::once(value).chain(rest).collect())
        }
    }
}
