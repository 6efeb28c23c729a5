//! JavaScript's bindings: declarations, assignments, and the patterns of both.

use oxc_ast::ast::{
    AssignmentExpression, AssignmentOperator, AssignmentTarget, AssignmentTargetMaybeDefault,
    AssignmentTargetProperty, BindingPattern, Expression, ForStatementLeft, ObjectExpression,
    UpdateExpression, VariableDeclaration,
};
use oxc_span::GetSpan;

use super::JavaScript;
use crate::form::{At, Expr, Stmt};
use crate::lower::frame::is_simple;

impl JavaScript {
    /// `const a = 1, {b} = c`.
    pub(super) fn declare(&mut self, declaration: &VariableDeclaration<'_>) {
        for declarator in &declaration.declarations {
            let at = declarator.span.start;
            match (&declarator.init, declarator.id.get_binding_identifier()) {
                (Some(Expression::ObjectExpression(object)), Some(name)) => {
                    let value = self.named_object(name.name.as_str(), object);
                    self.frame.bind(name.name.as_str().to_owned(), value, at);
                }
                (Some(init), _) => {
                    let value = self.expr(init);
                    self.bind_pattern(&declarator.id, value, at);
                }
                (None, _) => {}
            }
        }
    }

    /// An object that gets a name: its properties are bound too, so that `c.url` is known after `c = {url: u}`.
    fn named_object(&mut self, owner: &str, object: &ObjectExpression<'_>) -> Expr {
        let mut parts = Vec::with_capacity(object.properties.len() * 2);
        for (key, value) in self.properties(object) {
            match key {
                Some(Expr::Text(text, at)) => {
                    let name = format!("{owner}.{text}");
                    let part = if is_simple(&value) {
                        value.clone()
                    } else {
                        Expr::Name(name.clone(), at)
                    };
                    self.frame.bind(name, value, at);
                    parts.extend([Expr::Text(text, at), part]);
                }
                key => parts.extend(key.into_iter().chain([value])),
            }
        }
        Expr::Parts(parts)
    }

    /// Binds each name of a pattern to its part of the value, or to the whole.
    pub(super) fn bind_pattern(&mut self, pattern: &BindingPattern<'_>, value: Expr, at: At) {
        if !self.frame.descend(at) {
            return;
        }
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                self.frame.bind(name.name.as_str().to_owned(), value, at);
            }
            BindingPattern::AssignmentPattern(inner) => {
                let default = self.expr(&inner.right);
                self.bind_pattern(&inner.left, with_default(value, default), at);
            }
            BindingPattern::ObjectPattern(inner) => {
                let value = if inner.properties.len() > 1 {
                    self.frame.shared(value, at)
                } else {
                    value
                };
                for property in &inner.properties {
                    let part = match self.key(&property.key) {
                        Some(Expr::Text(name, _)) => self.part(&value, &name),
                        _ => value.clone(),
                    };
                    self.bind_pattern(&property.value, part, property.span.start);
                }
                if let Some(rest) = &inner.rest {
                    self.bind_pattern(&rest.argument, value, rest.span.start);
                }
            }
            BindingPattern::ArrayPattern(inner) => {
                let mut values = Elements::of(self, value, inner.elements.len(), at);
                let opaque = values.opaque();
                self.frame.opaque += opaque;
                for element in &inner.elements {
                    let value = values.next();
                    if let Some(element) = element {
                        self.bind_pattern(element, value, at);
                    }
                }
                if let Some(rest) = &inner.rest {
                    self.bind_pattern(&rest.argument, values.rest(), rest.span.start);
                }
                self.frame.opaque -= opaque;
            }
        }
        self.frame.ascend();
    }

    /// A member of a destructured value.
    fn part(&self, value: &Expr, name: &str) -> Expr {
        match value {
            Expr::Name(path, at) if !path.starts_with('@') => {
                Expr::Name(self.member(path, name), *at)
            }
            other => other.clone(),
        }
    }

    /// `a = b` as an expression: the value is what was bound.
    pub(super) fn assignment(&mut self, node: &AssignmentExpression<'_>) -> Expr {
        self.assign_to(node);
        match &node.left {
            AssignmentTarget::AssignmentTargetIdentifier(name) => {
                Expr::Name(self.frame.resolve(name.name.as_str()), name.span.start)
            }
            other => self.target(other).map_or(Expr::Nothing, |(name, _)| {
                Expr::Name(name, other.span().start)
            }),
        }
    }

    /// `a = b` as a statement.
    pub(super) fn assign_to(&mut self, node: &AssignmentExpression<'_>) {
        let at = node.span.start;
        if let (AssignmentOperator::Assign, Expression::ObjectExpression(object)) =
            (node.operator, &node.right)
            && let Some((name, None)) = self.target(&node.left)
        {
            let value = self.named_object(&name, object);
            return self.frame.bind(name, value, at);
        }
        let value = self.expr(&node.right);
        match node.operator {
            AssignmentOperator::Assign => self.assign(&node.left, value, at),
            operator => match self.target(&node.left) {
                Some((name, _)) => {
                    let parts = vec![Expr::Name(name.clone(), at), value];
                    let value = if operator == AssignmentOperator::Addition {
                        Expr::Join(parts)
                    } else {
                        Expr::Parts(parts)
                    };
                    self.frame.bind(name, value, at);
                }
                None => self.frame.out.push(Stmt::Do(value)),
            },
        }
    }

    /// The dotted name that a target binds, and the key if it isn't known.
    fn target(&mut self, target: &AssignmentTarget<'_>) -> Option<(String, Option<Expr>)> {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = target {
            return Some((name.name.as_str().to_owned(), None));
        }
        let (object, key) = match target {
            AssignmentTarget::StaticMemberExpression(inner) => {
                (&inner.object, Ok(inner.property.name.as_str().to_owned()))
            }
            AssignmentTarget::PrivateFieldExpression(inner) => {
                (&inner.object, Ok(inner.field.name.as_str().to_owned()))
            }
            AssignmentTarget::ComputedMemberExpression(inner) => {
                let key = self.expr(&inner.expression);
                (&inner.object, self.frame.constant(&key).ok_or(key))
            }
            _ => return None,
        };
        let Expr::Name(path, _) = self.expr(object) else {
            return None;
        };
        Some(match key {
            // `window.x = …` binds `x`, as reading it does
            Ok(_)
                if matches!(path.as_str(), "window" | "globalThis" | "global")
                    && !self.frame.is_bound(&path) =>
            {
                (key.ok()?, None)
            }
            Ok(key) => (format!("{path}.{key}"), None),
            Err(key) => (path, Some(key)),
        })
    }

    /// Binds the left side of `=`.
    pub(super) fn assign(&mut self, target: &AssignmentTarget<'_>, value: Expr, at: At) {
        if !self.frame.descend(at) {
            return;
        }
        match target {
            AssignmentTarget::ArrayAssignmentTarget(inner) => {
                let mut values = Elements::of(self, value, inner.elements.len(), at);
                let opaque = values.opaque();
                self.frame.opaque += opaque;
                for element in &inner.elements {
                    let value = values.next();
                    if let Some(element) = element {
                        self.assign_maybe(element, value, at);
                    }
                }
                if let Some(rest) = &inner.rest {
                    self.assign(&rest.target, values.rest(), at);
                }
                self.frame.opaque -= opaque;
            }
            AssignmentTarget::ObjectAssignmentTarget(inner) => {
                let value = if inner.properties.len() > 1 {
                    self.frame.shared(value, at)
                } else {
                    value
                };
                for property in &inner.properties {
                    match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(inner) => {
                            let name = inner.binding.name.as_str();
                            let part = self.part(&value, name);
                            self.frame.bind(name.to_owned(), part, at);
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(inner) => {
                            let part = match self.key(&inner.name) {
                                Some(Expr::Text(name, _)) => self.part(&value, &name),
                                _ => value.clone(),
                            };
                            self.assign_maybe(&inner.binding, part, at);
                        }
                    }
                }
                if let Some(rest) = &inner.rest {
                    self.assign(&rest.target, value, at);
                }
            }
            simple => match self.target(simple) {
                Some((name, None)) => self.frame.bind(name, value, at),
                Some((name, Some(key))) => {
                    let value = Expr::Parts(vec![Expr::Name(name.clone(), at), key, value]);
                    self.frame.bind(name, value, at);
                }
                None => self.frame.out.push(Stmt::Do(value)),
            },
        }
        self.frame.ascend();
    }

    fn assign_maybe(&mut self, target: &AssignmentTargetMaybeDefault<'_>, value: Expr, at: At) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(inner) => {
                let default = self.expr(&inner.init);
                self.assign(&inner.binding, with_default(value, default), at);
            }
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.assign(target, value, at);
                }
            }
        }
    }

    /// The values that each round of a loop binds.
    pub(super) fn bind_each(&mut self, left: &ForStatementLeft<'_>, source: Expr, at: At) {
        self.frame.opaque += 1;
        match left {
            ForStatementLeft::VariableDeclaration(declaration) => {
                for declarator in &declaration.declarations {
                    self.bind_pattern(&declarator.id, source.clone(), declarator.span.start);
                }
            }
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.assign(target, source, at);
                }
            }
        }
        self.frame.opaque -= 1;
    }

    /// `i++` gives a number; which one doesn't matter.
    pub(super) fn update(&mut self, node: &UpdateExpression<'_>) -> Expr {
        match node.argument.get_identifier_name() {
            Some(name) => {
                self.frame.shadow(name);
                Expr::Parts(vec![Expr::Name(name.to_owned(), node.span.start)])
            }
            None => Expr::Nothing,
        }
    }
}

fn with_default(value: Expr, default: Expr) -> Expr {
    match (value, default) {
        (value, Expr::Nothing) => value,
        (Expr::Nothing, default) => default,
        (value, default) => Expr::Parts(vec![value, default]),
    }
}

/// The elements of a destructured list, or the whole for each.
enum Elements {
    Each(std::vec::IntoIter<Expr>),
    Whole(Expr),
}

impl Elements {
    fn of(js: &mut JavaScript, value: Expr, wanted: usize, at: At) -> Self {
        match value {
            Expr::List(values) if !values.iter().any(|value| matches!(value, Expr::Parts(_))) => {
                Self::Each(values.into_iter())
            }
            value if wanted > 1 => Self::Whole(js.frame.shared(value, at)),
            value => Self::Whole(value),
        }
    }

    /// The increment of `Frame::opaque`: the whole is not the element.
    fn opaque(&self) -> u32 {
        u32::from(matches!(self, Self::Whole(_)))
    }

    fn next(&mut self) -> Expr {
        match self {
            Self::Each(values) => values.next().unwrap_or(Expr::Nothing),
            Self::Whole(value) => value.clone(),
        }
    }

    fn rest(self) -> Expr {
        match self {
            Self::Each(values) => Expr::List(values.collect()),
            Self::Whole(value) => value,
        }
    }
}
