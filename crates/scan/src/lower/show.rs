//! A compact print of the common form, for tests: one line per statement, strings in quotes, names with `$`.

use crate::form::{Arg, CallExpr, Expr, LoweredProgram, Stmt};

/// The whole program; `!` and an offset at the end if it is broken.
pub(super) fn show(program: &LoweredProgram) -> String {
    let mut lines: Vec<String> = program.body.iter().map(stmt).collect();
    if program.broken.is_some() {
        lines.push("!".to_owned());
    }
    lines.join("; ")
}

fn stmt(stmt_: &Stmt) -> String {
    match stmt_ {
        Stmt::Let { name, value, .. } => format!("{name} = {}", expr(value)),
        Stmt::Do(value) => expr(value),
        Stmt::Function { name, params, body } => {
            format!("fn {name}({}) {{{}}}", params.join(","), stmts(body))
        }
        Stmt::Return(value) => format!("return {}", expr(value)),
        Stmt::Block { condition, body } => {
            format!(
                "block {}{{{}}}",
                condition.as_ref().map_or(String::new(), |c| expr(c) + " "),
                stmts(body)
            )
        }
    }
}

fn stmts(body: &[Stmt]) -> String {
    body.iter().map(stmt).collect::<Vec<_>>().join("; ")
}

fn exprs(values: &[Expr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn expr(value: &Expr) -> String {
    match value {
        Expr::Text(text, _) => format!("{text:?}"),
        Expr::Number(number, _) => number.to_string(),
        Expr::Name(name, _) => format!("${name}"),
        Expr::Call(inner) => call(inner),
        Expr::Join(parts) => format!("join({})", exprs(parts)),
        Expr::Parts(parts) => format!("parts({})", exprs(parts)),
        Expr::List(parts) => format!("list({})", exprs(parts)),
        Expr::Lambda { params, body } => format!("|{}| {{{}}}", params.join(","), stmts(body)),
        Expr::Nothing => "_".to_owned(),
    }
}

fn call(inner: &CallExpr) -> String {
    let on = inner
        .on
        .as_ref()
        .map_or(String::new(), |on| format!("<{}>", expr(on)));
    let args: Vec<String> = inner.args.iter().map(arg).collect();
    let input = inner
        .input
        .as_ref()
        .map_or(String::new(), |input| format!(" <- {}", expr(input)));
    format!("{}{on}[{}]{input}", inner.callee, args.join(", "))
}

fn arg(arg: &Arg) -> String {
    let name = arg
        .name
        .as_ref()
        .map_or(String::new(), |name| format!("{name}: "));
    name + &expr(&arg.value)
}
