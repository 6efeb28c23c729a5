//! JavaScript's expressions.

use oxc_ast::ast::{
    ArrayExpressionElement, BinaryExpression, BinaryOperator, ChainElement, Expression,
    JSXAttributeItem, JSXAttributeValue, JSXChild, JSXElement, JSXExpression, ObjectExpression,
    ObjectPropertyKind, PropertyKey, TemplateLiteral, UnaryExpression, UnaryOperator,
};
use oxc_span::GetSpan;

use super::JavaScript;
use super::module::module_name;
use crate::form::{Arg, Expr, Stmt};
use crate::lower::frame::{MemberChain, call, is_long, is_simple};

impl JavaScript {
    /// Lowers an expression; its side effects are put into the body.
    pub(super) fn expr(&mut self, expr: &Expression<'_>) -> Expr {
        match expr {
            Expression::StringLiteral(text) => {
                Expr::Text(text.value.as_str().to_owned(), text.span.start)
            }
            Expression::NumericLiteral(number) => whole(number.value)
                .map_or(Expr::Nothing, |value| {
                    Expr::Number(value, number.span.start)
                }),
            Expression::Identifier(name) => match name.name.as_str() {
                "undefined" => Expr::Nothing,
                text => Expr::Name(self.frame.resolve(text), name.span.start),
            },
            Expression::ThisExpression(this) => Expr::Name("this".to_owned(), this.span.start),
            Expression::Super(parent) => Expr::Name("super".to_owned(), parent.span.start),
            Expression::ImportMeta(meta) => Expr::Name("import.meta".to_owned(), meta.span.start),
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::NewTarget(_)
            | Expression::V8IntrinsicExpression(_) => Expr::Nothing,
            other => {
                if !self.frame.descend(other.span().start) {
                    return Expr::Nothing;
                }
                let lowered = self.compound(other);
                self.frame.ascend();
                lowered
            }
        }
    }

    fn compound(&mut self, expr: &Expression<'_>) -> Expr {
        match expr {
            Expression::CallExpression(inner) => self.call(inner),
            Expression::NewExpression(inner) => self.construct(inner),
            Expression::StaticMemberExpression(_)
            | Expression::ComputedMemberExpression(_)
            | Expression::PrivateFieldExpression(_) => self.members(expr),
            Expression::ChainExpression(chain) => self.chain(&chain.expression),
            Expression::TemplateLiteral(template) => self.template(template),
            Expression::TaggedTemplateExpression(inner) => {
                let callee = self.expr(&inner.tag);
                let args = vec![Arg::plain(self.template(&inner.quasi))];
                call(callee, args, inner.span.start, inner.span.end)
            }
            Expression::BinaryExpression(inner) => self.binary(inner),
            Expression::LogicalExpression(inner) => {
                let mut parts = vec![&inner.right];
                let mut left = &inner.left;
                while let Expression::LogicalExpression(next) = left {
                    parts.push(&next.right);
                    left = &next.left;
                }
                parts.push(left);
                Expr::Parts(
                    parts
                        .into_iter()
                        .rev()
                        .map(|part| self.expr(part))
                        .collect(),
                )
            }
            Expression::ConditionalExpression(_) => self.conditional(expr),
            Expression::UnaryExpression(inner) => self.unary(inner),
            Expression::UpdateExpression(inner) => self.update(inner),
            Expression::AssignmentExpression(inner) => self.assignment(inner),
            Expression::SequenceExpression(inner) => self.sequence(&inner.expressions),
            Expression::ArrayExpression(inner) => Expr::List(
                inner
                    .elements
                    .iter()
                    .map(|element| self.element(element))
                    .collect(),
            ),
            Expression::ObjectExpression(inner) => self.object(inner),
            Expression::ArrowFunctionExpression(inner) => self.arrow(inner),
            Expression::FunctionExpression(inner) => self.lambda(inner),
            Expression::ClassExpression(inner) => {
                self.class(inner);
                inner.id.as_ref().map_or(Expr::Nothing, |id| {
                    Expr::Name(id.name.as_str().to_owned(), id.span.start)
                })
            }
            Expression::AwaitExpression(inner) => self.expr(&inner.argument),
            Expression::YieldExpression(inner) => {
                let value = inner
                    .argument
                    .as_ref()
                    .map_or(Expr::Nothing, |value| self.expr(value));
                self.frame.out.push(Stmt::Return(value));
                Expr::Nothing
            }
            Expression::ImportExpression(inner) => {
                let source = self.expr(&inner.source);
                match self
                    .frame
                    .constant(&source)
                    .filter(|source| !source.contains(':') || source.starts_with("node:"))
                {
                    Some(source) => Expr::Name(module_name(&source), inner.span.start),
                    None => call(
                        Expr::Name("import".to_owned(), inner.span.start),
                        vec![Arg::plain(source)],
                        inner.span.start,
                        inner.span.end,
                    ),
                }
            }
            Expression::ParenthesizedExpression(inner) => self.expr(&inner.expression),
            Expression::TSAsExpression(inner) => self.expr(&inner.expression),
            Expression::TSSatisfiesExpression(inner) => self.expr(&inner.expression),
            Expression::TSTypeAssertion(inner) => self.expr(&inner.expression),
            Expression::TSNonNullExpression(inner) => self.expr(&inner.expression),
            Expression::TSInstantiationExpression(inner) => self.expr(&inner.expression),
            Expression::PrivateInExpression(inner) => Expr::Parts(vec![self.expr(&inner.right)]),
            Expression::JSXElement(inner) => self.jsx(inner),
            Expression::JSXFragment(inner) => {
                let mut parts = Vec::new();
                self.jsx_children(&inner.children, &mut parts);
                Expr::Parts(parts)
            }
            _ => Expr::Nothing,
        }
    }

    /// `a?.b`, `a?.()`.
    fn chain(&mut self, element: &ChainElement<'_>) -> Expr {
        match element {
            ChainElement::CallExpression(inner) => self.call(inner),
            ChainElement::TSNonNullExpression(inner) => self.expr(&inner.expression),
            ChainElement::StaticMemberExpression(inner) => {
                let base = self.expr(&inner.object);
                self.access(&inner.object, base, inner.property.name.as_str())
            }
            ChainElement::ComputedMemberExpression(inner) => {
                self.entry(&inner.object, &inner.expression)
            }
            ChainElement::PrivateFieldExpression(inner) => {
                let base = self.expr(&inner.object);
                self.access(&inner.object, base, inner.field.name.as_str())
            }
        }
    }

    /// `a.b.c`, without a level for each dot.
    fn members(&mut self, expr: &Expression<'_>) -> Expr {
        let mut steps = Vec::new();
        let mut root = expr;
        loop {
            root = match root {
                Expression::StaticMemberExpression(inner) => {
                    steps.push((&inner.object, Ok(inner.property.name.as_str())));
                    &inner.object
                }
                Expression::ComputedMemberExpression(inner) => {
                    steps.push((&inner.object, Err(&inner.expression)));
                    &inner.object
                }
                Expression::PrivateFieldExpression(inner) => {
                    steps.push((&inner.object, Ok(inner.field.name.as_str())));
                    &inner.object
                }
                _ => break,
            };
        }
        let mut base = self.expr(root);
        for (object, step) in steps.into_iter().rev() {
            base = match step {
                Ok(name) => self.access(object, base, name),
                Err(key) => self.keyed(object, base, key),
            };
        }
        base
    }

    /// `object[key]`.
    fn entry(&mut self, object: &Expression<'_>, key: &Expression<'_>) -> Expr {
        let base = self.expr(object);
        self.keyed(object, base, key)
    }

    /// A member whose key is computed.
    pub(super) fn keyed(
        &mut self,
        object: &Expression<'_>,
        base: Expr,
        key: &Expression<'_>,
    ) -> Expr {
        let key = self.expr(key);
        let name = match &base {
            Expr::Name(..) => self.frame.entry(&key),
            _ => self.frame.constant(&key),
        };
        match name {
            Some(name) => self.access(object, base, &name),
            None => match base {
                // One variable, whatever its name.
                Expr::Name(path, at)
                    if matches!(path.as_str(), "process.env" | "Bun.env" | "import.meta.env") =>
                {
                    let name = Expr::Name("Deno.env.get".to_owned(), at);
                    call(name, vec![Arg::plain(key)], at, object.span().end)
                }
                // `a[b][c][d]…` stays flat
                Expr::Parts(mut parts) => {
                    parts.push(key);
                    Expr::Parts(parts)
                }
                base => Expr::Parts(vec![base, key]),
            },
        }
    }

    /// A member of a value; `object` is what `base` was lowered from. The constructor of any function is `Function`.
    pub(super) fn access(&self, object: &Expression<'_>, base: Expr, name: &str) -> Expr {
        let at = object.span().start;
        match base {
            long @ Expr::Name(..) if is_long(&long) => long,
            Expr::Name(path, at) => Expr::Name(self.member(&path, name), at),
            base if name == "constructor" && makes_function(object, &base) => {
                Expr::Name("Function".to_owned(), at)
            }
            value @ Expr::Parts(_) => value,
            value => Expr::Parts(vec![value]),
        }
    }

    fn template(&mut self, template: &TemplateLiteral<'_>) -> Expr {
        let text = |index: usize| {
            let element = template.quasis.get(index)?;
            let text = element
                .value
                .cooked
                .as_ref()
                .unwrap_or(&element.value.raw)
                .as_str();
            (!text.is_empty()).then(|| Expr::Text(text.to_owned(), element.span.start))
        };
        if template.expressions.is_empty() {
            return text(0).unwrap_or(Expr::Text(String::new(), template.span.start));
        }
        let mut parts: Vec<Expr> = text(0).into_iter().collect();
        for (index, inner) in template.expressions.iter().enumerate() {
            parts.push(self.expr(inner));
            parts.extend(text(index + 1));
        }
        Expr::Join(parts)
    }

    /// Operators, along the left side without recursion.
    fn binary(&mut self, binary: &BinaryExpression<'_>) -> Expr {
        let mut steps = vec![(binary.operator, &binary.right)];
        let mut left = &binary.left;
        while let Expression::BinaryExpression(inner) = left {
            steps.push((inner.operator, &inner.right));
            left = &inner.left;
        }
        let mut chain = MemberChain::default();
        let mut value = self.expr(left);
        for (operator, right) in steps.into_iter().rev() {
            let right = self.expr(right);
            value = chain.add(value, right, operator == BinaryOperator::Addition);
        }
        value
    }

    /// `a ? b : c ? d : e`, without a level for each question.
    fn conditional(&mut self, expr: &Expression<'_>) -> Expr {
        let mut parts = Vec::new();
        let mut rest = expr;
        while let Expression::ConditionalExpression(inner) = rest {
            parts.push(self.expr(&inner.test));
            parts.push(self.expr(&inner.consequent));
            rest = &inner.alternate;
        }
        parts.push(self.expr(rest));
        Expr::Parts(parts)
    }

    fn unary(&mut self, unary: &UnaryExpression<'_>) -> Expr {
        match (unary.operator, self.expr(&unary.argument)) {
            (UnaryOperator::UnaryNegation, Expr::Number(number, at)) => {
                Expr::Number(number.saturating_neg(), at)
            }
            (UnaryOperator::UnaryPlus, number @ Expr::Number(..)) => number,
            (_, Expr::Nothing) => Expr::Nothing,
            (_, operand) => Expr::Parts(vec![operand]),
        }
    }

    /// `(a, b, c)` is `c`, after the others.
    pub(super) fn sequence(&mut self, expressions: &[Expression<'_>]) -> Expr {
        let Some((last, before)) = expressions.split_last() else {
            return Expr::Nothing;
        };
        for expr in before {
            let value = self.expr(expr);
            if !is_simple(&value) {
                self.frame.out.push(Stmt::Do(value));
            }
        }
        self.expr(last)
    }

    fn element(&mut self, element: &ArrayExpressionElement<'_>) -> Expr {
        match element {
            ArrayExpressionElement::SpreadElement(inner) => {
                Expr::Parts(vec![self.expr(&inner.argument)])
            }
            other => other
                .as_expression()
                .map_or(Expr::Nothing, |inner| self.expr(inner)),
        }
    }

    fn object(&mut self, object: &ObjectExpression<'_>) -> Expr {
        let mut parts = Vec::with_capacity(object.properties.len() * 2);
        for (key, value) in self.properties(object) {
            parts.extend(key);
            parts.push(value);
        }
        Expr::Parts(parts)
    }

    /// Keys and values of an object; spread values have no key.
    pub(super) fn properties(
        &mut self,
        object: &ObjectExpression<'_>,
    ) -> Vec<(Option<Expr>, Expr)> {
        let mut pairs = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            match property {
                ObjectPropertyKind::ObjectProperty(inner) => {
                    let key = self.key(&inner.key);
                    pairs.push((key, self.expr(&inner.value)));
                }
                ObjectPropertyKind::SpreadProperty(inner) => {
                    pairs.push((None, self.expr(&inner.argument)));
                }
            }
        }
        pairs
    }

    /// A property's key: a string where it is known.
    pub(super) fn key(&mut self, key: &PropertyKey<'_>) -> Option<Expr> {
        match key {
            PropertyKey::StaticIdentifier(name) => {
                Some(Expr::Text(name.name.as_str().to_owned(), name.span.start))
            }
            PropertyKey::PrivateIdentifier(name) => {
                Some(Expr::Text(name.name.as_str().to_owned(), name.span.start))
            }
            other => {
                let at = other.span().start;
                let key = self.expr(other.as_expression()?);
                Some(
                    self.frame
                        .constant(&key)
                        .map_or(key, |text| Expr::Text(text, at)),
                )
            }
        }
    }

    fn jsx(&mut self, element: &JSXElement<'_>) -> Expr {
        let mut parts = Vec::new();
        for attribute in &element.opening_element.attributes {
            match attribute {
                JSXAttributeItem::Attribute(inner) => {
                    let Some(value) = &inner.value else { continue };
                    if let Some(name) = inner.name.as_identifier() {
                        parts.push(Expr::Text(name.name.as_str().to_owned(), name.span.start));
                    }
                    match value {
                        JSXAttributeValue::StringLiteral(text) => {
                            parts.push(Expr::Text(text.value.as_str().to_owned(), text.span.start));
                        }
                        JSXAttributeValue::ExpressionContainer(inner) => {
                            self.jsx_expr(&inner.expression, &mut parts);
                        }
                        JSXAttributeValue::Element(inner) => self.jsx_nested(inner, &mut parts),
                        JSXAttributeValue::Fragment(inner) => {
                            self.jsx_children(&inner.children, &mut parts);
                        }
                    }
                }
                JSXAttributeItem::SpreadAttribute(inner) => parts.push(self.expr(&inner.argument)),
            }
        }
        self.jsx_children(&element.children, &mut parts);
        Expr::Parts(parts)
    }

    fn jsx_nested(&mut self, element: &JSXElement<'_>, parts: &mut Vec<Expr>) {
        if self.frame.descend(element.span.start) {
            parts.push(self.jsx(element));
            self.frame.ascend();
        }
    }

    fn jsx_expr(&mut self, expression: &JSXExpression<'_>, parts: &mut Vec<Expr>) {
        if let Some(inner) = expression.as_expression() {
            parts.push(self.expr(inner));
        }
    }

    fn jsx_children(&mut self, children: &[JSXChild<'_>], parts: &mut Vec<Expr>) {
        for child in children {
            match child {
                JSXChild::Text(text) if text.value.trim().is_empty() => {}
                JSXChild::Text(text) => {
                    parts.push(Expr::Text(text.value.as_str().to_owned(), text.span.start));
                }
                JSXChild::Element(inner) => self.jsx_nested(inner, parts),
                JSXChild::Fragment(inner) => {
                    if self.frame.descend(inner.span.start) {
                        self.jsx_children(&inner.children, parts);
                        self.frame.ascend();
                    }
                }
                JSXChild::ExpressionContainer(inner) => self.jsx_expr(&inner.expression, parts),
                JSXChild::Spread(inner) => parts.push(self.expr(&inner.expression)),
            }
        }
    }
}

/// A number that could be a char code or an index.
fn whole(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and within what f64 holds exactly"
    )]
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

/// Whether a value is certainly a function: a literal, a method of a literal, or a constructor.
pub(super) fn makes_function(object: &Expression<'_>, base: &Expr) -> bool {
    match object {
        Expression::FunctionExpression(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::ClassExpression(_) => true,
        Expression::StaticMemberExpression(inner) => {
            is_literal(&inner.object) || inner.property.name == "constructor"
        }
        Expression::ComputedMemberExpression(inner) => is_literal(&inner.object),
        _ => matches!(base, Expr::Call(call)
            if call.callee.ends_with("getPrototypeOf") && matches!(call.args.first().map(|arg| &arg.value), Some(Expr::Lambda { .. }))),
    }
}

fn is_literal(expr: &Expression<'_>) -> bool {
    matches!(
        expr,
        Expression::ArrayExpression(_)
            | Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::ObjectExpression(_)
            | Expression::TemplateLiteral(_)
    )
}
