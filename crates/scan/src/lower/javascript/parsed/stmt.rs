//! JavaScript's statements.

use oxc_ast::ast::{
    Class, ClassElement, Declaration, Directive, ExportDefaultDeclarationKind, Expression,
    ForStatement, ForStatementInit, Function, IfStatement, Program, Statement, SwitchStatement,
    TSEnumDeclaration, TSModuleReference, TSNamespaceDeclarationBody, TryStatement,
};
use oxc_span::GetSpan;

use super::JavaScript;
use super::call::load;
use super::module::module_name;
use crate::form::{Expr, Stmt};
use crate::lower::frame::is_simple;

impl JavaScript {
    /// Lowers a program.
    pub(super) fn program(&mut self, program: &Program<'_>) {
        self.directives(&program.directives);
        self.body(&program.body);
    }

    /// String statements at the beginning of a body.
    pub(super) fn directives(&mut self, directives: &[Directive<'_>]) {
        for directive in directives {
            let text = directive.expression.value.as_str();
            if text != "use strict" {
                self.frame
                    .out
                    .push(Stmt::Do(Expr::Text(text.to_owned(), directive.span.start)));
            }
        }
    }

    /// Lowers statements into the current body.
    pub(super) fn body(&mut self, stmts: &[Statement<'_>]) {
        self.hoist(stmts);
        for stmt in stmts {
            self.nested(stmt);
        }
    }

    fn nested(&mut self, stmt: &Statement<'_>) {
        if self.frame.descend(stmt.span().start) {
            self.stmt(stmt);
            self.frame.ascend();
        }
    }

    fn stmt(&mut self, stmt: &Statement<'_>) {
        match stmt {
            Statement::ExpressionStatement(inner) => self.evaluate(&inner.expression),
            Statement::BlockStatement(inner) => self.body(&inner.body),
            Statement::IfStatement(inner) => self.branch(inner),
            Statement::ReturnStatement(inner) => {
                let value = inner
                    .argument
                    .as_ref()
                    .map_or(Expr::Nothing, |value| self.expr(value));
                self.frame.out.push(Stmt::Return(value));
            }
            Statement::ThrowStatement(inner) => self.evaluate(&inner.argument),
            Statement::TryStatement(inner) => self.attempt(inner),
            Statement::SwitchStatement(inner) => self.switch(inner),
            Statement::ForStatement(inner) => self.count(inner),
            Statement::ForInStatement(inner) => {
                let source = self.expr(&inner.right);
                let around = self.frame.open();
                self.bind_each(&inner.left, source.clone(), inner.span.start);
                self.nested(&inner.body);
                self.close_block(Some(source), around);
            }
            Statement::ForOfStatement(inner) => {
                let source = self.expr(&inner.right);
                let around = self.frame.open();
                self.bind_each(&inner.left, source.clone(), inner.span.start);
                self.nested(&inner.body);
                self.close_block(Some(source), around);
            }
            Statement::WhileStatement(inner) => {
                let condition = self.expr(&inner.test);
                self.block(condition, &inner.body);
            }
            Statement::DoWhileStatement(inner) => {
                let condition = self.expr(&inner.test);
                self.block(condition, &inner.body);
            }
            Statement::WithStatement(inner) => {
                let condition = self.expr(&inner.object);
                self.block(condition, &inner.body);
            }
            Statement::LabeledStatement(inner) => self.nested(&inner.body),
            Statement::ImportDeclaration(inner) => {
                self.import(inner);
                if inner.specifiers.is_none() {
                    self.frame.out.push(load(
                        "import",
                        module_name(inner.source.value.as_str()),
                        inner.span.start,
                        inner.span.end,
                    ));
                }
            }
            Statement::ExportDefaultDeclaration(inner) => self.export_default(&inner.declaration),
            Statement::ExportDeclaration(inner) => self.declaration(&inner.declaration),
            Statement::TSExportAssignment(inner) => {
                let value = self.expr(&inner.expression);
                self.frame
                    .bind("module.exports".to_owned(), value, inner.span.start);
            }
            other => {
                if let Some(declaration) = other.as_declaration() {
                    self.declaration(declaration);
                }
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'_>) {
        match declaration {
            Declaration::VariableDeclaration(inner) => self.declare(inner),
            Declaration::FunctionDeclaration(inner) => self.function(inner, "default"),
            Declaration::ClassDeclaration(inner) => self.class(inner),
            Declaration::TSEnumDeclaration(inner) => self.enumeration(inner),
            Declaration::TSNamespaceDeclaration(inner) => {
                let mut body = &inner.body;
                while let TSNamespaceDeclarationBody::TSNamespaceDeclaration(next) = body {
                    body = &next.body;
                }
                if let TSNamespaceDeclarationBody::TSModuleBlock(block) = body {
                    self.body(&block.body);
                }
            }
            Declaration::TSGlobalDeclaration(inner) => self.body(&inner.body.body),
            Declaration::TSImportEqualsDeclaration(inner) => {
                let target = match &inner.module_reference {
                    TSModuleReference::ExternalModuleReference(module) => {
                        module_name(module.expression.value.as_str())
                    }
                    TSModuleReference::IdentifierReference(name) => {
                        self.frame.resolve(name.name.as_str())
                    }
                    TSModuleReference::QualifiedName(_) => return,
                };
                self.frame.import(inner.id.name.as_str(), target);
            }
            _ => {}
        }
    }

    /// An expression as a statement.
    pub(super) fn evaluate(&mut self, expr: &Expression<'_>) {
        match expr {
            Expression::AssignmentExpression(inner) => self.assign_to(inner),
            Expression::UpdateExpression(_) => drop(self.expr(expr)),
            Expression::SequenceExpression(inner) => inner
                .expressions
                .iter()
                .for_each(|expr| self.evaluate_nested(expr)),
            other => match self.expr(other) {
                Expr::Nothing => {}
                Expr::Name(module, at) if loads(other) => {
                    self.frame
                        .out
                        .push(load("require", module, at, other.span().end));
                }
                value => self.frame.out.push(Stmt::Do(value)),
            },
        }
    }

    fn evaluate_nested(&mut self, expr: &Expression<'_>) {
        if self.frame.descend(expr.span().start) {
            self.evaluate(expr);
            self.frame.ascend();
        }
    }

    fn close_block(&mut self, condition: Option<Expr>, around: Vec<Stmt>) {
        let body = self.frame.close(around);
        self.frame.out.push(Stmt::Block { condition, body });
    }

    fn block(&mut self, condition: Expr, body: &Statement<'_>) {
        let around = self.frame.open();
        self.nested(body);
        self.close_block(Some(condition), around);
    }

    /// `if`, and its `else if`s as blocks inside, one after the other.
    fn branch(&mut self, inner: &IfStatement<'_>) {
        let condition = self.expr(&inner.test);
        let around = self.frame.open();
        self.nested(&inner.consequent);
        let mut rest = inner.alternate.as_ref();
        while let Some(stmt) = rest {
            if let Statement::IfStatement(next) = stmt {
                let condition = self.expr(&next.test);
                self.block(condition, &next.consequent);
                rest = next.alternate.as_ref();
            } else {
                self.nested(stmt);
                rest = None;
            }
        }
        self.close_block(Some(condition), around);
    }

    fn count(&mut self, inner: &ForStatement<'_>) {
        match &inner.init {
            Some(ForStatementInit::VariableDeclaration(declaration)) => self.declare(declaration),
            Some(other) => {
                if let Some(expr) = other.as_expression() {
                    self.evaluate(expr);
                }
            }
            None => {}
        }
        let condition = inner.test.as_ref().map(|test| self.expr(test));
        let around = self.frame.open();
        self.nested(&inner.body);
        if let Some(update) = &inner.update {
            self.evaluate(update);
        }
        self.close_block(condition, around);
    }

    fn switch(&mut self, inner: &SwitchStatement<'_>) {
        let condition = self.expr(&inner.discriminant);
        let around = self.frame.open();
        for case in &inner.cases {
            if let Some(test) = &case.test {
                let value = self.expr(test);
                if !is_simple(&value) {
                    self.frame.out.push(Stmt::Do(value));
                }
            }
            self.body(&case.consequent);
        }
        self.close_block(Some(condition), around);
    }

    fn attempt(&mut self, inner: &TryStatement<'_>) {
        let around = self.frame.open();
        self.body(&inner.block.body);
        if let Some(handler) = &inner.handler {
            if let Some(name) = handler
                .param
                .as_ref()
                .and_then(|param| param.pattern.get_binding_identifier())
            {
                self.frame.shadow(name.name.as_str());
            }
            self.body(&handler.body.body);
        }
        if let Some(last) = &inner.finalizer {
            self.body(&last.body);
        }
        self.close_block(None, around);
    }

    fn function(&mut self, function: &Function<'_>, unnamed: &str) {
        let name = function
            .id
            .as_ref()
            .map_or(unnamed, |id| id.name.as_str())
            .to_owned();
        if let Expr::Lambda { params, body } = self.lambda(function)
            && function.body.is_some()
        {
            self.frame.out.push(Stmt::Function { name, params, body });
        }
    }

    /// A class: its methods are functions, its properties are bound to `this`.
    pub(super) fn class(&mut self, class: &Class<'_>) {
        for decorator in &class.decorators {
            self.evaluate(&decorator.expression);
        }
        if let Some(heritage) = &class.heritage {
            let parent = self.expr(&heritage.expression);
            if !is_simple(&parent) {
                self.frame.out.push(Stmt::Do(parent));
            }
        }
        for element in &class.body.body {
            match element {
                ClassElement::StaticBlock(inner) => {
                    let around = self.frame.open();
                    self.body(&inner.body);
                    self.close_block(None, around);
                }
                ClassElement::MethodDefinition(inner) => {
                    for decorator in &inner.decorators {
                        self.evaluate(&decorator.expression);
                    }
                    match self.key(&inner.key) {
                        Some(Expr::Text(name, _)) => self.function(&inner.value, &name),
                        key => {
                            self.frame.out.extend(key.map(Stmt::Do));
                            self.function(&inner.value, "");
                        }
                    }
                }
                ClassElement::PropertyDefinition(inner) => {
                    let key = self.key(&inner.key);
                    self.property(key, inner.value.as_ref());
                }
                ClassElement::AccessorProperty(inner) => {
                    let key = self.key(&inner.key);
                    self.property(key, inner.value.as_ref());
                }
                ClassElement::TSIndexSignature(_) => {}
            }
        }
    }

    fn property(&mut self, key: Option<Expr>, value: Option<&Expression<'_>>) {
        let Some(value) = value else { return };
        let value = self.expr(value);
        match key {
            Some(Expr::Text(name, at)) => self.frame.bind(format!("this.{name}"), value, at),
            key => self.frame.out.push(Stmt::Do(Expr::Parts(
                key.into_iter().chain([value]).collect(),
            ))),
        }
    }

    fn enumeration(&mut self, inner: &TSEnumDeclaration<'_>) {
        for member in &inner.body.members {
            if let Some(value) = &member.initializer {
                let value = self.expr(value);
                let name = format!(
                    "{}.{}",
                    inner.id.name.as_str(),
                    member.id.static_name().as_str()
                );
                self.frame.bind(name, value, member.span.start);
            }
        }
    }

    fn export_default(&mut self, declaration: &ExportDefaultDeclarationKind<'_>) {
        match declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(inner) => {
                self.function(inner, "default");
            }
            ExportDefaultDeclarationKind::ClassDeclaration(inner) => self.class(inner),
            other => {
                if let Some(expr) = other.as_expression() {
                    let value = self.expr(expr);
                    self.frame
                        .bind("exports.default".to_owned(), value, expr.span().start);
                }
            }
        }
    }
}

/// Whether a statement only loads a module.
fn loads(expr: &Expression<'_>) -> bool {
    match expr {
        Expression::CallExpression(_) | Expression::ImportExpression(_) => true,
        Expression::AwaitExpression(inner) => matches!(
            inner.argument,
            Expression::CallExpression(_) | Expression::ImportExpression(_)
        ),
        _ => false,
    }
}
