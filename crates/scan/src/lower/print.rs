//! A compact print of the form, for tests: the checked parts, without positions.
//!
//! `name = value;`, `do value;`, `fn name(params) { … }`, `return value;`, `block(condition) { … }`; values are `"text"`, `12`, `name`,
//! `callee(args)`, `on.method(args)`, `<on>(args)` for a call of a value, `join(…)`, `parts(…)`, `[…]`, `lambda(params) { … }`, `_`.

use crate::form::{At, CallExpr, Expr, LoweredProgram, Stmt};

/// Prints a program on one line.
pub(super) fn program(program: &LoweredProgram) -> String {
    let broken = if program.broken.is_some() {
        "broken! "
    } else {
        ""
    };
    format!("{broken}{}", body(&program.body))
}

/// Whether all positions are within the text, and at the beginning of a character.
pub(super) fn is_inside(program: &LoweredProgram, text: &str) -> bool {
    program.broken.is_none_or(|at| at as usize <= text.len())
        && program.body.iter().all(|stmt| stmt_is_inside(stmt, text))
}

fn stmt_is_inside(stmt: &Stmt, text: &str) -> bool {
    match stmt {
        Stmt::Let { value, at, .. } => is_boundary(*at, text) && expr_is_inside(value, text),
        Stmt::Do(value) | Stmt::Return(value) => expr_is_inside(value, text),
        Stmt::Function { body, .. } => body.iter().all(|stmt| stmt_is_inside(stmt, text)),
        Stmt::Block { condition, body } => {
            condition.iter().all(|value| expr_is_inside(value, text))
                && body.iter().all(|stmt| stmt_is_inside(stmt, text))
        }
    }
}

fn expr_is_inside(value: &Expr, text: &str) -> bool {
    match value {
        Expr::Text(_, at) | Expr::Number(_, at) | Expr::Name(_, at) => is_boundary(*at, text),
        Expr::Call(call) => {
            is_boundary(call.at, text)
                && is_boundary(call.end, text)
                && call.at <= call.end
                && call
                    .on
                    .iter()
                    .chain(call.args.iter().map(|arg| &arg.value))
                    .all(|value| expr_is_inside(value, text))
        }
        Expr::Join(parts) | Expr::Parts(parts) | Expr::List(parts) => {
            parts.iter().all(|value| expr_is_inside(value, text))
        }
        Expr::Lambda { body, .. } => body.iter().all(|stmt| stmt_is_inside(stmt, text)),
        Expr::Nothing => true,
    }
}

fn is_boundary(at: At, text: &str) -> bool {
    text.is_char_boundary(at as usize)
}

fn body(stmts: &[Stmt]) -> String {
    stmts.iter().map(stmt).collect::<Vec<_>>().join(" ")
}

fn stmt(stmt: &Stmt) -> String {
    match stmt {
        Stmt::Let { name, value, .. } => format!("{name} = {};", expr(value)),
        Stmt::Do(value) => format!("do {};", expr(value)),
        Stmt::Return(value) => format!("return {};", expr(value)),
        Stmt::Function {
            name,
            params,
            body: inner,
        } => format!("fn {name}({}) {{ {} }}", params.join(", "), body(inner)),
        Stmt::Block {
            condition,
            body: inner,
        } => {
            format!(
                "block({}) {{ {} }}",
                condition.as_ref().map(expr).unwrap_or_default(),
                body(inner)
            )
        }
    }
}

fn list(values: &[Expr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Text(text, _) => format!("{text:?}"),
        Expr::Number(number, _) => number.to_string(),
        Expr::Name(name, _) => name.clone(),
        Expr::Call(inner) => call(inner),
        Expr::Join(parts) => format!("join({})", list(parts)),
        Expr::Parts(parts) => format!("parts({})", list(parts)),
        Expr::List(parts) => format!("[{}]", list(parts)),
        Expr::Lambda {
            params,
            body: inner,
        } => format!("lambda({}) {{ {} }}", params.join(", "), body(inner)),
        Expr::Nothing => "_".to_owned(),
    }
}

fn call(call: &CallExpr) -> String {
    let args: Vec<String> = call
        .args
        .iter()
        .map(|arg| match &arg.name {
            Some(name) => format!("{name}: {}", expr(&arg.value)),
            None => expr(&arg.value),
        })
        .collect();
    let callee = match (&call.on, call.callee.as_str()) {
        (Some(on), "") => format!("<{}>", expr(on)),
        (Some(on), callee) if callee.starts_with('.') => format!("{}{callee}", expr(on)),
        // the receiver is printed only if it is not the path before the last dot
        (Some(Expr::Name(on, _)), callee)
            if callee
                .rsplit_once('.')
                .is_some_and(|(owner, _)| owner == on) =>
        {
            callee.to_owned()
        }
        (Some(on), callee) => format!("{{{}}}{callee}", expr(on)),
        (None, callee) => callee.to_owned(),
    };
    format!("{callee}({})", args.join(", "))
}
