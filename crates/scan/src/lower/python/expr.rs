//! Python's expressions.

use ruff_python_ast::{
    Comprehension, Expr as Py, ExprBinOp, ExprDict, ExprFString, ExprLambda, ExprSubscript,
    FStringPart, InterpolatedStringElement, InterpolatedStringElements, Number, Operator,
    Parameters, UnaryOp,
};

use super::Python;
use crate::form::{Arg, At, Expr, Stmt};
use crate::lower::frame::{MemberChain, call, is_long, method};

impl Python {
    /// Lowers an expression; its side effects (loops of comprehensions, `:=`) are put into the body.
    pub(super) fn expr(&mut self, expr: &Py) -> Expr {
        match expr {
            Py::Name(name) => self.name(name.id.as_str(), name.range.start().to_u32()),
            Py::StringLiteral(text) => {
                Expr::Text(text.value.to_str().to_owned(), text.range.start().to_u32())
            }
            Py::BytesLiteral(bytes) => {
                let raw: Vec<u8> = bytes.value.bytes().collect();
                Expr::Text(
                    String::from_utf8_lossy(&raw).into_owned(),
                    bytes.range.start().to_u32(),
                )
            }
            Py::NumberLiteral(number) => match &number.value {
                Number::Int(int) => int.as_i64().map_or(Expr::Nothing, |int| {
                    Expr::Number(int, number.range.start().to_u32())
                }),
                Number::Float(_) | Number::Complex { .. } => Expr::Nothing,
            },
            Py::BooleanLiteral(_)
            | Py::NoneLiteral(_)
            | Py::EllipsisLiteral(_)
            | Py::IpyEscapeCommand(_) => Expr::Nothing,
            other => {
                if !self.frame.descend(position(other)) {
                    return Expr::Nothing;
                }
                let lowered = self.compound(other);
                self.frame.ascend();
                lowered
            }
        }
    }

    fn compound(&mut self, expr: &Py) -> Expr {
        match expr {
            Py::Call(call) => self.call(call),
            Py::Attribute(_) => self.attribute(expr),
            Py::Subscript(subscript) => self.subscript(subscript),
            Py::BinOp(binary) => self.binary(binary),
            Py::FString(text) => self.f_string(text),
            Py::TString(text) => {
                let mut parts = Vec::new();
                for element in text.value.elements() {
                    self.element(element, text.range.start().to_u32(), &mut parts);
                }
                Expr::Join(parts)
            }
            Py::List(list) => Expr::List(self.exprs(&list.elts)),
            Py::Tuple(tuple) => Expr::List(self.exprs(&tuple.elts)),
            Py::Set(set) => Expr::Parts(self.exprs(&set.elts)),
            Py::Dict(dict) => self.dict(dict),
            Py::BoolOp(operation) => Expr::Parts(self.exprs(&operation.values)),
            Py::Compare(compare) => {
                let mut parts = vec![self.expr(&compare.left)];
                parts.extend(self.exprs(&compare.comparators));
                Expr::Parts(parts)
            }
            Py::UnaryOp(unary) => match (unary.op, self.expr(&unary.operand)) {
                (UnaryOp::USub, Expr::Number(number, at)) => {
                    Expr::Number(number.saturating_neg(), at)
                }
                (UnaryOp::Invert, Expr::Number(number, at)) => Expr::Number(!number, at),
                (_, operand) => Expr::Parts(vec![operand]),
            },
            Py::If(choice) => {
                let test = self.expr(&choice.test);
                let body = self.expr(&choice.body);
                Expr::Parts(vec![body, test, self.expr(&choice.orelse)])
            }
            Py::Named(named) => {
                let value = self.expr(&named.value);
                self.assign(&named.target, value);
                self.expr(&named.target)
            }
            Py::Lambda(lambda) => self.lambda(lambda),
            Py::ListComp(list) => self.comprehension(&[&list.elt], &list.generators),
            Py::SetComp(set) => self.comprehension(&[&set.elt], &set.generators),
            Py::Generator(generator) => {
                self.comprehension(&[&generator.elt], &generator.generators)
            }
            Py::DictComp(dict) => match &dict.key {
                Some(key) => self.comprehension(&[key, &dict.value], &dict.generators),
                None => self.comprehension(&[&dict.value], &dict.generators),
            },
            Py::Await(inner) => self.expr(&inner.value),
            Py::Yield(inner) => {
                let value = inner
                    .value
                    .as_deref()
                    .map_or(Expr::Nothing, |value| self.expr(value));
                self.frame.out.push(Stmt::Return(value));
                Expr::Nothing
            }
            Py::YieldFrom(inner) => {
                let value = self.expr(&inner.value);
                self.frame.out.push(Stmt::Return(value));
                Expr::Nothing
            }
            Py::Starred(starred) => Expr::Parts(vec![self.expr(&starred.value)]),
            Py::Slice(slice) => {
                let bounds = [&slice.lower, &slice.upper, &slice.step];
                Expr::Parts(
                    bounds
                        .into_iter()
                        .flatten()
                        .map(|bound| self.expr(bound))
                        .collect(),
                )
            }
            _ => Expr::Nothing,
        }
    }

    /// Lowers several expressions.
    pub(super) fn exprs(&mut self, exprs: &[Py]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn name(&self, name: &str, at: At) -> Expr {
        if !self.stars.is_empty()
            && !self.frame.is_bound(name)
            && let Some(full) = self.starred(name)
        {
            return Expr::Name(full, at);
        }
        Expr::Name(self.frame.resolve(name), at)
    }

    /// `a.b.c`, without a level for each dot.
    fn attribute(&mut self, expr: &Py) -> Expr {
        let mut names = Vec::new();
        let mut root = expr;
        while let Py::Attribute(attribute) = root {
            names.push(attribute.attr.as_str());
            root = &attribute.value;
        }
        let base = self.expr(root);
        names
            .into_iter()
            .rev()
            .fold(base, |base, name| self.of(base, name))
    }

    /// A member of a value.
    pub(super) fn of(&self, base: Expr, name: &str) -> Expr {
        match base {
            long @ Expr::Name(..) if is_long(&long) => long,
            Expr::Name(path, at) => Expr::Name(self.member(&path, name), at),
            Expr::Call(call)
                if matches!(call.callee.as_str(), "globals" | "locals" | "vars")
                    && call.args.len() <= 1 =>
            {
                match call.args.into_iter().next() {
                    Some(arg) => self.of(arg.value, name),
                    None => Expr::Name(self.frame.resolve(name), call.at),
                }
            }
            value @ Expr::Parts(_) => value,
            value => Expr::Parts(vec![value]),
        }
    }

    fn subscript(&mut self, subscript: &ExprSubscript) -> Expr {
        let base = self.expr(&subscript.value);
        if let Py::Slice(slice) = &*subscript.slice {
            let (at, end) = (
                subscript.range.start().to_u32(),
                subscript.range.end().to_u32(),
            );
            let step = slice.step.as_ref().map(|step| self.expr(step));
            if slice.lower.is_none()
                && slice.upper.is_none()
                && matches!(step, Some(Expr::Number(-1, _)))
            {
                return method(base, "reverse", Vec::new(), at, end);
            }
            let bounds = [&slice.lower, &slice.upper];
            let mut parts = vec![base];
            parts.extend(bounds.into_iter().flatten().map(|bound| self.expr(bound)));
            parts.extend(step);
            return Expr::Parts(parts);
        }
        let key = self.expr(&subscript.slice);
        match (base, self.frame.entry(&key)) {
            (base @ (Expr::Name(..) | Expr::Call(_)), Some(name)) => {
                let is_scope = matches!(&base, Expr::Call(call) if matches!(call.callee.as_str(), "globals" | "locals" | "vars"));
                if is_scope || matches!(base, Expr::Name(..)) {
                    self.of(base, &name)
                } else {
                    Expr::Parts(vec![base, key])
                }
            }
            // One variable, whatever its name.
            (Expr::Name(path, at), None) if path == "os.environ" => {
                let end = subscript.range.end().to_u32();
                let name = Expr::Name("os.getenv".to_owned(), at);
                call(name, vec![Arg::plain(key)], at, end)
            }
            (base, _) => Expr::Parts(vec![base, key]),
        }
    }

    /// Operators, along the left side without recursion.
    fn binary(&mut self, binary: &ExprBinOp) -> Expr {
        let mut steps = vec![(binary.op, &*binary.right)];
        let mut left = &*binary.left;
        while let Py::BinOp(inner) = left {
            steps.push((inner.op, &*inner.right));
            left = &inner.left;
        }
        let mut chain = MemberChain::default();
        let mut value = self.expr(left);
        for (operator, right) in steps.into_iter().rev() {
            let right = self.expr(right);
            value = match (operator, value, right) {
                (Operator::Add, value, right) => chain.add(value, right, true),
                (Operator::Mod, value @ (Expr::Text(..) | Expr::Join(_)), Expr::List(args)) => {
                    Expr::Join(std::iter::once(value).chain(args).collect())
                }
                (Operator::Mod, value @ (Expr::Text(..) | Expr::Join(_)), right) => {
                    Expr::Join(vec![value, right])
                }
                (_, value, right) => chain.add(value, right, false),
            };
        }
        value
    }

    fn f_string(&mut self, text: &ExprFString) -> Expr {
        let mut parts = Vec::new();
        for part in text.value.iter() {
            match part {
                FStringPart::Literal(literal) => {
                    parts.push(Expr::Text(
                        literal.as_str().to_owned(),
                        literal.range.start().to_u32(),
                    ));
                }
                FStringPart::FString(inner) => {
                    self.elements(&inner.elements, text.range.start().to_u32(), &mut parts);
                }
            }
        }
        Expr::Join(parts)
    }

    fn elements(&mut self, elements: &InterpolatedStringElements, at: At, parts: &mut Vec<Expr>) {
        for element in elements {
            self.element(element, at, parts);
        }
    }

    fn element(&mut self, element: &InterpolatedStringElement, at: At, parts: &mut Vec<Expr>) {
        match element {
            InterpolatedStringElement::Literal(literal) => {
                parts.push(Expr::Text(
                    literal.value.to_string(),
                    literal.range.start().to_u32(),
                ));
            }
            InterpolatedStringElement::Interpolation(inner) => {
                parts.push(self.expr(&inner.expression));
                if let Some(spec) = &inner.format_spec
                    && spec.elements.interpolations().next().is_some()
                    && self.frame.descend(at)
                {
                    self.elements(&spec.elements, at, parts);
                    self.frame.ascend();
                }
            }
        }
    }

    fn dict(&mut self, dict: &ExprDict) -> Expr {
        let mut parts = Vec::with_capacity(dict.items.len() * 2);
        for item in &dict.items {
            if let Some(key) = &item.key {
                parts.push(self.expr(key));
            }
            parts.push(self.expr(&item.value));
        }
        Expr::Parts(parts)
    }

    /// The loop variables are bound first; the elements and the conditions remain.
    fn comprehension(&mut self, elements: &[&Py], generators: &[Comprehension]) -> Expr {
        let mut conditions = Vec::new();
        for generator in generators {
            let source = self.expr(&generator.iter);
            self.assign_each(&generator.target, source);
            conditions.extend(self.exprs(&generator.ifs));
        }
        let mut parts: Vec<Expr> = elements.iter().map(|element| self.expr(element)).collect();
        parts.append(&mut conditions);
        Expr::Parts(parts)
    }

    fn lambda(&mut self, lambda: &ExprLambda) -> Expr {
        self.frame.push_scope();
        let around = self.frame.open();
        let params = lambda
            .parameters
            .as_deref()
            .map(|parameters| self.params(parameters))
            .unwrap_or_default();
        let value = self.expr(&lambda.body);
        self.frame.out.push(Stmt::Return(value));
        let body = self.frame.close(around);
        self.frame.pop_scope();
        Expr::Lambda { params, body }
    }

    /// The names of parameters; defaults are bound at the beginning of the body.
    pub(super) fn params(&mut self, parameters: &Parameters) -> Vec<String> {
        let mut names = Vec::new();
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            names.push(parameter.parameter.name.as_str().to_owned());
        }
        names.extend(
            parameters
                .vararg
                .iter()
                .map(|parameter| format!("*{}", parameter.name)),
        );
        names.extend(
            parameters
                .kwonlyargs
                .iter()
                .map(|parameter| parameter.parameter.name.as_str().to_owned()),
        );
        names.extend(
            parameters
                .kwarg
                .iter()
                .map(|parameter| parameter.name.as_str().to_owned()),
        );
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                let value = self.expr(default);
                if value != Expr::Nothing {
                    let (name, at) = (&parameter.parameter.name, parameter.range.start().to_u32());
                    self.frame.out.push(Stmt::Let {
                        name: name.as_str().to_owned(),
                        value,
                        at,
                    });
                }
            }
        }
        for name in &names {
            self.frame.shadow(name);
        }
        names
    }
}

/// Where an expression that may be too deep begins.
fn position(expr: &Py) -> At {
    match expr {
        Py::Call(inner) => inner.range_start.to_u32(),
        Py::BinOp(inner) => inner.range.start().to_u32(),
        Py::List(inner) => inner.range.start().to_u32(),
        Py::Tuple(inner) => inner.range.start().to_u32(),
        Py::Dict(inner) => inner.range.start().to_u32(),
        Py::Subscript(inner) => inner.range.start().to_u32(),
        Py::Attribute(inner) => inner.range.start().to_u32(),
        Py::UnaryOp(inner) => inner.range.start().to_u32(),
        Py::Lambda(inner) => inner.range.start().to_u32(),
        Py::If(inner) => inner.range.start().to_u32(),
        _ => 0,
    }
}
