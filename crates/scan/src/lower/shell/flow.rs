//! Output and input of statements: their output as one value, and which of them reads the input.

use super::calls::NO_READERS;
use crate::form::{CallExpr, Expr, Stmt, WRITE};

/// The output of statements, as one value. Bindings and functions among them go to `out`.
pub(in crate::lower) fn output(body: Vec<Stmt>, out: &mut Vec<Stmt>) -> Expr {
    let mut values = Vec::new();
    drain(body, out, &mut values);
    match values.len() {
        0 => Expr::Nothing,
        1 => values.swap_remove(0),
        _ => Expr::Parts(values),
    }
}

/// The output of statements to a pipe or file, in order: `(crontab -l; echo '* * * * * x') | crontab -` has a text.
pub(super) fn printed(body: Vec<Stmt>, out: &mut Vec<Stmt>) -> Expr {
    match output(body, out) {
        Expr::Parts(values) => {
            let mut lines = Vec::with_capacity(2 * values.len());
            for value in values {
                if !lines.is_empty() {
                    lines.push(Expr::Text("\n".to_owned(), 0));
                }
                lines.push(value);
            }
            Expr::Join(lines)
        }
        other => other,
    }
}

fn drain(body: Vec<Stmt>, out: &mut Vec<Stmt>, values: &mut Vec<Expr>) {
    for stmt in body {
        match stmt {
            Stmt::Do(value) | Stmt::Return(value) => values.push(value),
            Stmt::Block { condition, body } => {
                values.extend(condition);
                drain(body, out, values);
            }
            other => out.push(other),
        }
    }
}

/// Gives statements their input: to the first `read`, otherwise to the first command that could read it, otherwise to the last command.
pub(in crate::lower) fn feed(body: &mut Vec<Stmt>, input: Expr) {
    let mut input = Some(input);
    for wanted in [
        &(|call: &CallExpr| call.callee == "read" || call.callee == "mapfile")
            as &dyn Fn(&CallExpr) -> bool,
        &reads,
        &|_| true,
    ] {
        offer(body, wanted, &mut input);
    }
    if let Some(value) = input {
        body.insert(0, Stmt::Do(value));
    }
}

fn reads(call: &CallExpr) -> bool {
    !NO_READERS.contains(&call.callee.as_str())
}

fn offer(body: &mut [Stmt], wanted: &dyn Fn(&CallExpr) -> bool, input: &mut Option<Expr>) {
    for stmt in body {
        match stmt {
            Stmt::Do(value) => give(value, wanted, input),
            Stmt::Let {
                value: Expr::Call(call),
                ..
            } if call.callee == "read" || call.callee == "mapfile" => take(call, input),
            Stmt::Block { condition, body } => {
                if let Some(condition) = condition {
                    give(condition, wanted, input);
                }
                offer(body, wanted, input);
            }
            _ => {}
        }
        if input.is_none() {
            return;
        }
    }
}

fn give(value: &mut Expr, wanted: &dyn Fn(&CallExpr) -> bool, input: &mut Option<Expr>) {
    match value {
        Expr::Call(call) if call.callee == WRITE => {
            if let Some(inner) = &mut call.input {
                give(inner, wanted, input);
            }
        }
        Expr::Call(call) if wanted(call) => take(call, input),
        Expr::Parts(parts) => parts.iter_mut().for_each(|part| give(part, wanted, input)),
        _ => {}
    }
}

fn take(call: &mut CallExpr, input: &mut Option<Expr>) {
    let Some(value) = input.take() else { return };
    call.input = Some(match call.input.take() {
        Some(Expr::Parts(mut parts)) => {
            parts.push(value);
            Expr::Parts(parts)
        }
        Some(before) => Expr::Parts(vec![before, value]),
        None => value,
    });
}
