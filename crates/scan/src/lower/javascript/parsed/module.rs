//! Names of modules, and indirect ways to the same name.

use oxc_ast::ast::{Expression, ImportDeclaration, ImportDeclarationSpecifier, Statement};

use super::JavaScript;
use crate::form::{At, Expr};

/// The name of a module: without `node:`, and `fs/promises` as the member that it is.
pub(super) fn module_name(source: &str) -> String {
    let name = source.strip_prefix("node:").unwrap_or(source);
    if name.starts_with(['.', '/', '@']) || name.contains(':') || name.contains('.') {
        name.to_owned()
    } else {
        name.replace('/', ".")
    }
}

/// Whether calling this with a string loads a module.
pub(super) fn is_require(path: &str) -> bool {
    matches!(
        path,
        "require"
            | "import"
            | "module.require"
            | "process.getBuiltinModule"
            | "process.mainModule.require"
    )
}

impl JavaScript {
    /// Notes imports, and constants that are only other names, before a body is lowered: functions can precede them.
    pub(super) fn hoist(&mut self, body: &[Statement<'_>]) {
        for stmt in body {
            match stmt {
                Statement::ImportDeclaration(import) => self.import(import),
                Statement::VariableDeclaration(declaration) if declaration.kind.is_const() => {
                    for declarator in &declaration.declarations {
                        if let (Some(name), Some(init)) =
                            (declarator.id.get_binding_identifier(), &declarator.init)
                            && is_short(init)
                            && let value @ Expr::Name(..) = self.expr(init)
                        {
                            self.frame.note(&name.name, &value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `import a, {b as c} from "m"`, `import * as a from "m"`.
    pub(super) fn import(&mut self, import: &ImportDeclaration<'_>) {
        let module = module_name(import.source.value.as_str());
        for specifier in import.specifiers.iter().flatten() {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(inner) => {
                    let name = inner.imported.name();
                    let target = self.member(&module, name.as_str());
                    self.frame.import(inner.local.name.as_str(), target);
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(inner) => {
                    self.frame.import(inner.local.name.as_str(), module.clone());
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(inner) => {
                    self.frame.import(inner.local.name.as_str(), module.clone());
                }
            }
        }
    }

    /// A member of a dotted name.
    pub(super) fn member(&self, path: &str, key: &str) -> String {
        match (path, key) {
            ("globalThis" | "window" | "global" | "self" | "frames", _)
                if !self.frame.is_bound(path) =>
            {
                self.frame.resolve(key)
            }
            (_, "default") if !path.ends_with("exports") => path.to_owned(),
            ("process.mainModule" | "module" | "require.main", "require") => "require".to_owned(),
            (
                "module"
                | "module.constructor"
                | "process.mainModule.constructor"
                | "require.main.constructor",
                "_load",
            ) => "require".to_owned(),
            ("process", "getBuiltinModule") => "require".to_owned(),
            (_, "constructor")
                if path.ends_with(".constructor")
                    || path == "Function.prototype"
                    || path == "Function" =>
            {
                "Function".to_owned()
            }
            _ => {
                let mut joined = String::with_capacity(path.len() + 1 + key.len());
                joined.push_str(path);
                joined.push('.');
                joined.push_str(key);
                self.frame.resolve_dotted(joined)
            }
        }
    }

    /// The module that a call loads, if its name is known.
    pub(super) fn loaded(&self, path: &str, first: Option<&Expr>, at: At) -> Option<Expr> {
        let source = self.frame.constant(first.filter(|_| is_require(path))?)?;
        Some(Expr::Name(module_name(&source), at))
    }
}

/// A name, a member, or a call with nothing but short arguments.
fn is_short(expr: &Expression<'_>) -> bool {
    let mut expr = expr;
    for _ in 0..8 {
        expr = match expr {
            Expression::Identifier(_) => return true,
            Expression::StaticMemberExpression(member) => &member.object,
            Expression::AwaitExpression(inner) => &inner.argument,
            Expression::ImportExpression(inner) => {
                return matches!(inner.source, Expression::StringLiteral(_));
            }
            Expression::CallExpression(call) => {
                let [argument] = call.arguments.as_slice() else {
                    return false;
                };
                return matches!(call.callee, Expression::Identifier(_))
                    && matches!(argument.as_expression(), Some(Expression::StringLiteral(_)));
            }
            _ => return false,
        };
    }
    false
}
