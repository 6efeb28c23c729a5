//! JavaScript's calls, and those among them that are names in disguise: `require("fs")`, `eval.call(null, x)`, `Reflect.apply(f, …)`.

use oxc_ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, CallExpression, ChainElement, Expression,
    FormalParameters, Function, NewExpression,
};

use super::JavaScript;
use super::expr::makes_function;
use crate::form::{Arg, At, CallExpr, Expr, Stmt};
use crate::lower::frame::{call, method};

/// The object and key of a called member.
type MemberAccess<'e, 'a> = (&'e Expression<'a>, Result<&'e str, &'e Expression<'a>>);

impl JavaScript {
    /// Lowers a call.
    pub(super) fn call(&mut self, node: &CallExpression<'_>) -> Expr {
        let (at, end) = (node.span.start, node.span.end);
        let callee = bare(&node.callee);
        if is_function(callee) {
            let args = self.args(&node.arguments);
            return self.called(callee, args, at);
        }
        let Some((object, key)) = member(callee) else {
            let callee = self.expr(callee);
            if let Some(name) = self.returned(&callee) {
                return Expr::Name(name, at);
            }
            let args = self.args(&node.arguments);
            return self.named(callee, args, at, end);
        };
        if is_function(bare(object)) && matches!(key, Ok("call" | "apply")) {
            let args = self.args(&node.arguments).into_iter().skip(1).collect();
            return self.called(bare(object), args, at);
        }
        let base = self.expr(object);
        let key = match key {
            Ok(name) => Ok(name.to_owned()),
            Err(key) => {
                let key = self.expr(key);
                self.frame.entry(&key).ok_or(key)
            }
        };
        let args = self.args(&node.arguments);
        match (base, key) {
            (base, Err(key)) => call(Expr::Parts(vec![base, key]), args, at, end),
            (Expr::Name(path, start), Ok(name)) => match self.detour(&path, &name, args, at, end) {
                Ok(value) => value,
                Err(args) => {
                    self.named(Expr::Name(self.member(&path, &name), start), args, at, end)
                }
            },
            (base, Ok(name)) if name == "constructor" && makes_function(object, &base) => {
                call(Expr::Name("Function".to_owned(), at), args, at, end)
            }
            (base, Ok(name)) => method(base, &name, args, at, end),
        }
    }

    /// `Function("return process")()` is `process`.
    fn returned(&self, callee: &Expr) -> Option<String> {
        let Expr::Call(made) = callee else {
            return None;
        };
        let code = made.args.last().filter(|_| made.callee == "Function")?;
        let code = self.frame.constant(&code.value)?;
        let name = code
            .trim()
            .strip_prefix("return ")?
            .trim_end_matches(';')
            .trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
        let name = match name {
            "this" => "globalThis",
            name => name,
        };
        let is_name =
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain);
        is_name.then(|| name.to_owned())
    }

    /// `new X(…)`.
    pub(super) fn construct(&mut self, node: &NewExpression<'_>) -> Expr {
        let callee = bare(&node.callee);
        if is_function(callee) {
            let args = self.args(&node.arguments);
            return self.called(callee, args, node.span.start);
        }
        let callee = self.expr(callee);
        let args = self.args(&node.arguments);
        call(callee, args, node.span.start, node.span.end)
    }

    /// `f.call(this, x)`, `f.apply(this, [x])` and `f.bind(this)`, for functions that are not defined here.
    fn detour(
        &self,
        path: &str,
        name: &str,
        args: Vec<Arg>,
        at: At,
        end: At,
    ) -> Result<Expr, Vec<Arg>> {
        let is_this = matches!(
            args.first().map(|arg| &arg.value),
            None | Some(Expr::Nothing | Expr::Name(..))
        );
        let is_ours = self.frame.is_bound(path)
            || matches!(path, "this" | "Reflect")
            || path.starts_with("this.");
        if !matches!(name, "call" | "apply" | "bind") || is_ours || !is_this {
            return Err(args);
        }
        if name == "bind" {
            return if args.len() <= 1 {
                Ok(Expr::Name(path.to_owned(), at))
            } else {
                Err(args)
            };
        }
        let mut args = args.into_iter();
        let this = args
            .next()
            .map(|arg| arg.value)
            .filter(|this| *this != Expr::Nothing);
        let args = if name == "apply" {
            spread(args.next())
        } else {
            args.collect()
        };
        let lowered = match self.named(Expr::Name(path.to_owned(), at), args, at, end) {
            Expr::Call(mut inner) if this.is_some() => {
                inner.on = this;
                Expr::Call(inner)
            }
            other => other,
        };
        Ok(lowered)
    }

    /// A call by name; some of them only spell a name.
    fn named(&self, callee: Expr, args: Vec<Arg>, at: At, end: At) -> Expr {
        let Expr::Name(path, start) = callee else {
            return call(callee, args, at, end);
        };
        if let Some(module) = self.loaded(&path, args.first().map(|arg| &arg.value), at) {
            return module;
        }
        match path.as_str() {
            // Its result does the same as the function in its argument.
            "util.promisify" | "promisify"
                if matches!(args.first().map(|arg| &arg.value), Some(Expr::Name(..))) =>
            {
                return args
                    .into_iter()
                    .next()
                    .map_or(Expr::Nothing, |arg| arg.value);
            }
            "module.createRequire" | "createRequire" => {
                return Expr::Name("require".to_owned(), at);
            }
            "Reflect.apply" | "Reflect.construct"
                if matches!(args.first().map(|arg| &arg.value), Some(Expr::Name(..))) =>
            {
                let list = if path == "Reflect.apply" { 2 } else { 1 };
                let mut args = args;
                let given = if args.len() > list {
                    Some(args.swap_remove(list))
                } else {
                    None
                };
                if let Some(Arg {
                    value: callee @ Expr::Name(..),
                    ..
                }) = args.into_iter().next()
                {
                    return self.named(callee, spread(given), at, end);
                }
                return Expr::Nothing;
            }
            "Reflect.get" => {
                if let [
                    Arg {
                        value: Expr::Name(object, _),
                        ..
                    },
                    key,
                    ..,
                ] = args.as_slice()
                    && let Some(key) = self.frame.constant(&key.value)
                {
                    return Expr::Name(self.member(object, &key), at);
                }
            }
            _ => {}
        }
        call(Expr::Name(path, start), args, at, end)
    }

    /// The arguments of a call: objects among them become named arguments, after the others.
    fn args(&mut self, arguments: &[Argument<'_>]) -> Vec<Arg> {
        let mut args = Vec::with_capacity(arguments.len());
        let mut named = Vec::new();
        for argument in arguments {
            match argument {
                Argument::SpreadElement(inner) => {
                    args.push(Arg::plain(Expr::Parts(vec![self.expr(&inner.argument)])));
                }
                Argument::ObjectExpression(object) => {
                    if !self.frame.descend(object.span.start) {
                        continue;
                    }
                    for (key, value) in self.properties(object) {
                        match key {
                            Some(Expr::Text(name, _)) => named.push(Arg {
                                name: Some(name),
                                value,
                            }),
                            Some(key) => named.push(Arg::plain(Expr::Parts(vec![key, value]))),
                            None => named.push(Arg::plain(Expr::Parts(vec![value]))),
                        }
                    }
                    self.frame.ascend();
                }
                other => {
                    if let Some(expr) = other.as_expression() {
                        args.push(Arg::plain(self.expr(expr)));
                    }
                }
            }
        }
        args.append(&mut named);
        args
    }

    /// A function that is called in place: its parameters get the arguments, its body runs here.
    fn called(&mut self, callee: &Expression<'_>, args: Vec<Arg>, at: At) -> Expr {
        let params = match callee {
            Expression::FunctionExpression(inner) => &inner.params,
            Expression::ArrowFunctionExpression(inner) => &inner.params,
            _ => return Expr::Nothing,
        };
        self.frame.push_scope();
        let mut args = args.into_iter().map(|arg| arg.value);
        for param in &params.items {
            let value = match (args.next(), &param.initializer) {
                (Some(value), _) => value,
                (None, Some(default)) => self.expr(default),
                (None, None) => Expr::Nothing,
            };
            self.bind_pattern(&param.pattern, value, param.span.start);
        }
        let rest: Vec<Expr> = args.collect();
        if let Some(pattern) = &params.rest {
            self.bind_pattern(&pattern.rest.argument, Expr::List(rest), pattern.span.start);
        } else {
            self.frame.out.extend(
                rest.into_iter()
                    .filter(|value| *value != Expr::Nothing)
                    .map(Stmt::Do),
            );
        }
        let around = self.frame.open();
        match callee {
            Expression::FunctionExpression(inner) => self.function_body(inner),
            Expression::ArrowFunctionExpression(inner) => self.arrow_body(&inner.body),
            _ => {}
        }
        let body = self.frame.close(around);
        self.frame.pop_scope();
        self.frame.inline(body, at)
    }

    /// `function (…) {…}` as a value.
    pub(super) fn lambda(&mut self, function: &Function<'_>) -> Expr {
        self.frame.push_scope();
        let around = self.frame.open();
        let params = self.params(&function.params);
        self.function_body(function);
        let body = self.frame.close(around);
        self.frame.pop_scope();
        Expr::Lambda { params, body }
    }

    /// `(…) => …` as a value.
    pub(super) fn arrow(&mut self, arrow: &ArrowFunctionExpression<'_>) -> Expr {
        self.frame.push_scope();
        let around = self.frame.open();
        let params = self.params(&arrow.params);
        self.arrow_body(&arrow.body);
        let body = self.frame.close(around);
        self.frame.pop_scope();
        Expr::Lambda { params, body }
    }

    fn function_body(&mut self, function: &Function<'_>) {
        if let Some(body) = &function.body {
            self.directives(&body.directives);
            self.body(&body.statements);
        }
    }

    fn arrow_body(&mut self, body: &ArrowFunctionBody<'_>) {
        match body {
            ArrowFunctionBody::FunctionBody(body) => {
                self.directives(&body.directives);
                self.body(&body.statements);
            }
            other => {
                if let Some(expr) = other.as_expression() {
                    let value = self.expr(expr);
                    self.frame.out.push(Stmt::Return(value));
                }
            }
        }
    }

    /// The names of parameters; a pattern gets a generated name and is destructured in the body, where defaults are bound too.
    pub(super) fn params(&mut self, params: &FormalParameters<'_>) -> Vec<String> {
        let mut names = Vec::with_capacity(params.items.len());
        for param in &params.items {
            let name = match param.pattern.get_binding_identifier() {
                Some(name) => name.name.as_str().to_owned(),
                None => format!("@{}", param.span.start),
            };
            self.frame.shadow(&name);
            if param.pattern.get_binding_identifier().is_none() {
                self.bind_pattern(
                    &param.pattern,
                    Expr::Name(name.clone(), param.span.start),
                    param.span.start,
                );
            }
            if let Some(default) = &param.initializer {
                let value = self.expr(default);
                if value != Expr::Nothing {
                    self.frame.out.push(Stmt::Let {
                        name: name.clone(),
                        value,
                        at: param.span.start,
                    });
                }
            }
            names.push(name);
        }
        if let Some(rest) = &params.rest
            && let Some(name) = rest.rest.argument.get_binding_identifier()
        {
            self.frame.shadow(name.name.as_str());
            names.push(name.name.as_str().to_owned());
        }
        names
    }
}

/// The elements of a list as arguments; anything else stays one.
fn spread(list: Option<Arg>) -> Vec<Arg> {
    match list.map(|arg| arg.value) {
        Some(Expr::List(values)) => values.into_iter().map(Arg::plain).collect(),
        Some(Expr::Nothing) | None => Vec::new(),
        Some(value) => vec![Arg::plain(Expr::Parts(vec![value]))],
    }
}

fn is_function(expr: &Expression<'_>) -> bool {
    matches!(
        expr,
        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_)
    )
}

/// The callee, without the wrappers that don't change it.
fn bare<'e, 'a>(expr: &'e Expression<'a>) -> &'e Expression<'a> {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expression::ParenthesizedExpression(inner) => &inner.expression,
            Expression::TSAsExpression(inner) => &inner.expression,
            Expression::TSNonNullExpression(inner) => &inner.expression,
            Expression::TSSatisfiesExpression(inner) => &inner.expression,
            Expression::TSTypeAssertion(inner) => &inner.expression,
            Expression::TSInstantiationExpression(inner) => &inner.expression,
            _ => return expr,
        };
    }
}

/// The parts of a member expression.
fn member<'e, 'a>(expr: &'e Expression<'a>) -> Option<MemberAccess<'e, 'a>> {
    match expr {
        Expression::StaticMemberExpression(inner) => {
            Some((&inner.object, Ok(inner.property.name.as_str())))
        }
        Expression::ComputedMemberExpression(inner) => {
            Some((&inner.object, Err(&inner.expression)))
        }
        Expression::PrivateFieldExpression(inner) => {
            Some((&inner.object, Ok(inner.field.name.as_str())))
        }
        Expression::ChainExpression(chain) => match &chain.expression {
            ChainElement::StaticMemberExpression(inner) => {
                Some((&inner.object, Ok(inner.property.name.as_str())))
            }
            ChainElement::ComputedMemberExpression(inner) => {
                Some((&inner.object, Err(&inner.expression)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A bare `require("x")` or `import "x"`: it runs the module.
pub(super) fn load(how: &str, module: String, at: At, end: At) -> Stmt {
    let args = vec![Arg::plain(Expr::Text(module, at))];
    Stmt::Do(Expr::Call(Box::new(CallExpr {
        callee: how.to_owned(),
        on: None,
        args,
        input: None,
        at,
        end,
    })))
}
