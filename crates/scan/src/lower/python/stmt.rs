//! Python's statements.

use ruff_python_ast::{
    ExceptHandler, Expr as Py, Operator, Pattern, Stmt as PyStmt, StmtAugAssign, StmtClassDef,
    StmtFor, StmtFunctionDef, StmtIf, StmtMatch, StmtTry, StmtWith,
};

use super::Python;
use crate::form::{At, Expr, Stmt};
use crate::lower::frame::is_simple;

impl Python {
    /// Lowers statements into the current body.
    pub(super) fn body(&mut self, stmts: &[PyStmt]) {
        for stmt in stmts {
            if !self.frame.descend(0) {
                return;
            }
            self.stmt(stmt);
            self.frame.ascend();
        }
    }

    fn stmt(&mut self, stmt: &PyStmt) {
        match stmt {
            PyStmt::Expr(inner) => self.evaluate(&inner.value),
            PyStmt::Assign(inner) => {
                let value = self.value(&inner.value, &inner.targets);
                if let [target] = inner.targets.as_slice() {
                    return self.assign(target, value);
                }
                let value = self.frame.shared(value, inner.range.start().to_u32());
                for target in &inner.targets {
                    self.assign(target, value.clone());
                }
            }
            PyStmt::AnnAssign(inner) => {
                if let Some(value) = &inner.value {
                    let value = self.value(value, std::slice::from_ref(&*inner.target));
                    self.assign(&inner.target, value);
                }
            }
            PyStmt::AugAssign(inner) => self.augment(inner),
            PyStmt::Import(inner) => self.import(inner),
            PyStmt::ImportFrom(inner) => self.import_from(inner),
            PyStmt::FunctionDef(inner) => self.function(inner),
            PyStmt::ClassDef(inner) => self.class(inner),
            PyStmt::Return(inner) => {
                let value = inner
                    .value
                    .as_deref()
                    .map_or(Expr::Nothing, |value| self.expr(value));
                self.frame.out.push(Stmt::Return(value));
            }
            PyStmt::If(inner) => self.branch(inner),
            PyStmt::For(inner) => self.iterate(inner),
            PyStmt::While(inner) => {
                let condition = Some(self.expr(&inner.test));
                self.block(condition, &[&inner.body, &inner.orelse]);
            }
            PyStmt::With(inner) => self.with(inner),
            PyStmt::Try(inner) => self.attempt(inner),
            PyStmt::Match(inner) => self.matching(inner),
            PyStmt::Raise(inner) => {
                for value in [&inner.exc, &inner.cause].into_iter().flatten() {
                    self.evaluate(value);
                }
            }
            PyStmt::Assert(inner) => {
                self.evaluate(&inner.test);
                if let Some(message) = &inner.msg {
                    self.evaluate(message);
                }
            }
            PyStmt::Delete(inner) => inner
                .targets
                .iter()
                .for_each(|target| self.evaluate(target)),
            _ => {}
        }
    }

    fn evaluate(&mut self, expr: &Py) {
        let value = self.expr(expr);
        if value != Expr::Nothing {
            self.frame.out.push(Stmt::Do(value));
        }
    }

    fn block(&mut self, condition: Option<Expr>, bodies: &[&[PyStmt]]) {
        let around = self.frame.open();
        for body in bodies {
            self.body(body);
        }
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block { condition, body });
    }

    /// The value of an assignment. The entries of a dictionary that gets a name are bound too: `c = {"url": u}` binds `c.url`.
    fn value(&mut self, value: &Py, targets: &[Py]) -> Expr {
        let (Py::Dict(dict), [target]) = (value, targets) else {
            return self.expr(value);
        };
        let Expr::Name(owner, _) = self.target(target) else {
            return self.expr(value);
        };
        let mut parts = Vec::with_capacity(dict.items.len() * 2);
        for item in &dict.items {
            let key = item.key.as_ref().map(|key| self.expr(key));
            let entry = self.expr(&item.value);
            match key {
                Some(Expr::Text(text, start)) => {
                    let name = format!("{owner}.{text}");
                    let part = if is_simple(&entry) {
                        entry.clone()
                    } else {
                        Expr::Name(name.clone(), start)
                    };
                    self.frame.bind(name, entry, start);
                    parts.extend([Expr::Text(text, start), part]);
                }
                key => parts.extend(key.into_iter().chain([entry])),
            }
        }
        Expr::Parts(parts)
    }

    /// The dotted name that a target binds, if it binds one.
    fn target(&mut self, target: &Py) -> Expr {
        match target {
            // a plain name is bound as written, whatever its alias
            Py::Name(name) => Expr::Name(name.id.as_str().to_owned(), name.range.start().to_u32()),
            Py::Attribute(attribute) => match self.expr(&attribute.value) {
                Expr::Name(path, at) => {
                    Expr::Name(format!("{path}.{}", attribute.attr.as_str()), at)
                }
                other => other,
            },
            Py::Subscript(subscript) => {
                match (self.expr(&subscript.value), self.expr(&subscript.slice)) {
                    (Expr::Name(path, at), key) => match self.frame.constant(&key) {
                        Some(key) => Expr::Name(format!("{path}.{key}"), at),
                        None => Expr::Name(path, at),
                    },
                    (other, _) => other,
                }
            }
            other => self.expr(other),
        }
    }

    /// Binds a target to a value: each name of a tuple to its element, or to the whole.
    pub(super) fn assign(&mut self, target: &Py, value: Expr) {
        let elements = match target {
            Py::Tuple(tuple) => &tuple.elts,
            Py::List(list) => &list.elts,
            Py::Starred(starred) => return self.assign(&starred.value, value),
            Py::Subscript(subscript) => {
                return self.assign_entry(target, subscript.range.start().to_u32(), value);
            }
            other => {
                match self.target(other) {
                    Expr::Name(name, at) => self.frame.bind(name, value, at),
                    other => self
                        .frame
                        .out
                        .push(Stmt::Do(Expr::Parts(vec![other, value]))),
                }
                return;
            }
        };
        if !self.frame.descend(0) {
            return;
        }
        match value {
            Expr::List(values)
                if values.len() == elements.len() && !elements.iter().any(Py::is_starred_expr) =>
            {
                for (target, value) in elements.iter().zip(values) {
                    self.assign(target, value);
                }
            }
            value => {
                let at = self.first_at(elements);
                let value = if elements.len() > 1 {
                    self.frame.shared(value, at)
                } else {
                    value
                };
                self.frame.opaque += 1;
                for target in elements {
                    self.assign(target, value.clone());
                }
                self.frame.opaque -= 1;
            }
        }
        self.frame.ascend();
    }

    /// Binds a loop's target: to the source, of which it is a part.
    pub(super) fn assign_each(&mut self, target: &Py, source: Expr) {
        self.frame.opaque += 1;
        self.assign(target, source);
        self.frame.opaque -= 1;
    }

    /// `a[k] = x` with an unknown key adds to the value of `a`.
    fn assign_entry(&mut self, target: &Py, at: At, value: Expr) {
        let Py::Subscript(subscript) = target else {
            return;
        };
        let base = self.expr(&subscript.value);
        let key = self.expr(&subscript.slice);
        match (base, self.frame.constant(&key)) {
            (Expr::Name(path, _), Some(key)) => self.frame.bind(format!("{path}.{key}"), value, at),
            (Expr::Name(path, start), None) => {
                let value = Expr::Parts(vec![Expr::Name(path.clone(), start), key, value]);
                self.frame.bind(path, value, at);
            }
            (base, _) => self
                .frame
                .out
                .push(Stmt::Do(Expr::Parts(vec![base, key, value]))),
        }
    }

    fn first_at(&self, elements: &[Py]) -> At {
        elements
            .iter()
            .find_map(|element| match element {
                Py::Name(name) => Some(name.range.start().to_u32()),
                _ => None,
            })
            .unwrap_or_default()
    }

    fn augment(&mut self, inner: &StmtAugAssign) {
        let target = self.target(&inner.target);
        let value = self.expr(&inner.value);
        let Expr::Name(name, at) = target else {
            self.frame
                .out
                .push(Stmt::Do(Expr::Parts(vec![target, value])));
            return;
        };
        let parts = vec![Expr::Name(name.clone(), at), value];
        let value = if inner.op == Operator::Add {
            Expr::Join(parts)
        } else {
            Expr::Parts(parts)
        };
        self.frame.bind(name, value, inner.range.start().to_u32());
    }

    fn function(&mut self, inner: &StmtFunctionDef) {
        for decorator in &inner.decorator_list {
            self.evaluate(&decorator.expression);
        }
        self.frame.push_scope();
        let around = self.frame.open();
        let params = self.params(&inner.parameters);
        self.body(&inner.body);
        let body = self.frame.close(around);
        self.frame.pop_scope();
        let name = inner.name.as_str().to_owned();
        self.frame.out.push(Stmt::Function { name, params, body });
    }

    fn class(&mut self, inner: &StmtClassDef) {
        for decorator in &inner.decorator_list {
            self.evaluate(&decorator.expression);
        }
        for base in inner.bases() {
            if !matches!(base, Py::Name(_) | Py::Attribute(_)) {
                self.evaluate(base);
            }
        }
        self.frame.push_scope();
        self.body(&inner.body);
        self.frame.pop_scope();
    }

    fn branch(&mut self, inner: &StmtIf) {
        let condition = Some(self.expr(&inner.test));
        let around = self.frame.open();
        self.body(&inner.body);
        for clause in &inner.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    let condition = Some(self.expr(test));
                    self.block(condition, &[&clause.body]);
                }
                None => self.body(&clause.body),
            }
        }
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block { condition, body });
    }

    fn iterate(&mut self, inner: &StmtFor) {
        let source = self.expr(&inner.iter);
        let around = self.frame.open();
        self.assign_each(&inner.target, source.clone());
        self.body(&inner.body);
        self.body(&inner.orelse);
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block {
            condition: Some(source),
            body,
        });
    }

    fn with(&mut self, inner: &StmtWith) {
        let around = self.frame.open();
        for item in &inner.items {
            match &item.optional_vars {
                Some(target) => {
                    let value = self.expr(&item.context_expr);
                    self.assign(target, value);
                }
                None => self.evaluate(&item.context_expr),
            }
        }
        self.body(&inner.body);
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block {
            condition: None,
            body,
        });
    }

    fn attempt(&mut self, inner: &StmtTry) {
        let around = self.frame.open();
        self.body(&inner.body);
        for handler in &inner.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            if let Some(name) = &handler.name {
                self.frame.shadow(name.as_str());
            }
            self.body(&handler.body);
        }
        self.body(&inner.orelse);
        self.body(&inner.finalbody);
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block {
            condition: None,
            body,
        });
    }

    fn matching(&mut self, inner: &StmtMatch) {
        let subject = self.expr(&inner.subject);
        let around = self.frame.open();
        for case in &inner.cases {
            self.pattern(&case.pattern, &subject);
            match &case.guard {
                Some(guard) => {
                    let condition = Some(self.expr(guard));
                    self.block(condition, &[&case.body]);
                }
                None => self.body(&case.body),
            }
        }
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block {
            condition: Some(subject),
            body,
        });
    }

    /// Every name in a pattern is bound to the whole subject.
    fn pattern(&mut self, pattern: &Pattern, subject: &Expr) {
        let mut patterns = vec![pattern];
        while let Some(pattern) = patterns.pop() {
            let name = match pattern {
                Pattern::MatchSequence(inner) => {
                    patterns.extend(&inner.patterns);
                    None
                }
                Pattern::MatchOr(inner) => {
                    patterns.extend(&inner.patterns);
                    None
                }
                Pattern::MatchMapping(inner) => {
                    patterns.extend(&inner.patterns);
                    inner.rest.as_ref()
                }
                Pattern::MatchClass(inner) => {
                    patterns.extend(&inner.arguments.patterns);
                    patterns.extend(
                        inner
                            .arguments
                            .keywords
                            .iter()
                            .map(|keyword| &keyword.pattern),
                    );
                    None
                }
                Pattern::MatchStar(inner) => inner.name.as_ref(),
                Pattern::MatchAs(inner) => {
                    patterns.extend(inner.pattern.as_deref());
                    inner.name.as_ref()
                }
                Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => None,
            };
            if let Some(name) = name {
                self.frame.opaque += 1;
                self.frame.bind(
                    name.as_str().to_owned(),
                    subject.clone(),
                    name.range.start().to_u32(),
                );
                self.frame.opaque -= 1;
            }
        }
    }
}
