//! Expansions: `$x`, `${x…}`, `$(…)`, `<(…)`, `$((…))` as values.

use tree_sitter::Node;

use super::flow::output;
use super::{Lower, children};
use crate::form::{Arg, At, CallExpr, Expr, OTHERWISE, READ, Stmt};

impl<'t> Lower<'t> {
    /// The value of a node that isn't plain text.
    pub(super) fn value(&mut self, node: Node<'t>) -> Expr {
        let at = self.at(node.start_byte());
        match node.kind() {
            "simple_expansion" => Expr::Name(
                self.source(node)
                    .trim_start_matches('$')
                    .replace(['\\', '\r', '\n'], ""),
                at,
            ),
            "expansion" => {
                if !self.enter(node) {
                    return Expr::Nothing;
                }
                let value = self.expansion(node, at);
                self.leave();
                value
            }
            "command_substitution" | "process_substitution" => self.substitution(node),
            "array" => {
                let nodes: Vec<_> = children(node)
                    .into_iter()
                    .filter(|child| child.is_named())
                    .collect();
                Expr::List(self.words(&nodes))
            }
            "subscript" => self.subscript(node, at),
            _ => self.inside(node),
        }
    }

    /// The output of a command.
    fn substitution(&mut self, node: Node<'t>) -> Expr {
        if !self.enter(node) {
            return Expr::Nothing;
        }
        let mut body = Vec::new();
        for child in children(node).into_iter().filter(Node::is_named) {
            if child.kind() == "file_redirect" {
                self.redirect(child, &mut body);
            } else {
                self.statement(child, &mut body);
            }
        }
        self.leave();
        output(body, &mut self.before)
    }

    /// Arithmetic and similar expansions: only the commands in them matter.
    pub(super) fn inside(&mut self, node: Node<'t>) -> Expr {
        let mut found = Vec::new();
        let mut todo = vec![node];
        while let Some(next) = todo.pop() {
            if matches!(next.kind(), "command_substitution" | "process_substitution") {
                found.push(self.substitution(next));
            } else {
                todo.extend(children(next).into_iter().rev());
            }
        }
        match found.len() {
            0 => Expr::Nothing,
            1 => found.swap_remove(0),
            _ => Expr::Parts(found),
        }
    }

    /// `a[1]` is `a.1`; `a[@]` and `a[$i]` are all of `a`.
    fn subscript(&mut self, node: Node<'t>, at: At) -> Expr {
        let source = self.source(node);
        let (name, index) = source.split_once('[').unwrap_or((source, ""));
        Expr::Name(element(name, index.trim_end_matches(']')), at)
    }

    fn expansion(&mut self, node: Node<'t>, at: At) -> Expr {
        let (mut prefix, mut operator, mut base) = ("", "", None);
        let mut operands = Vec::new();
        for child in children(node) {
            let kind = child.kind();
            match kind {
                "${" | "}" => {}
                _ if base.is_none() && !child.is_named() => prefix = kind,
                _ if base.is_none() => {
                    base = Some(match kind {
                        "variable_name" | "special_variable_name" => {
                            Expr::Name(self.source(child).to_owned(), at)
                        }
                        _ => self.value(child),
                    });
                }
                _ if child.is_named() => operands.push(child),
                _ if operator.is_empty() => operator = kind,
                _ => {}
            }
        }
        // `${@}` and `${!}` come as operators without a name.
        let Some(base) = base else {
            return Expr::Name(prefix.to_owned(), at);
        };
        let (start, end) = (at, self.at(node.end_byte()));
        let call = |callee: &str, on: Option<Expr>, args: Vec<Expr>| {
            let args = args.into_iter().map(Arg::plain).collect();
            Expr::Call(Box::new(CallExpr {
                callee: callee.to_owned(),
                on,
                args,
                input: None,
                at: start,
                end,
            }))
        };
        match (prefix, operator) {
            ("!", _) => call("indirect", None, vec![base]),
            ("#", "") => Expr::Nothing,
            (_, "") if operands.is_empty() => base,
            (_, "/" | "//") => {
                let mut args: Vec<Expr> =
                    operands.iter().map(|&operand| self.word(operand)).collect();
                if args.len() == 1 {
                    args.push(Expr::Text(String::new(), at));
                }
                if operator == "/" {
                    args.push(Expr::Number(1, at));
                }
                call(".replace", Some(base), args)
            }
            (_, ":") => match self.range(&operands, at) {
                Some(args) => call(".slice", Some(base), args),
                None => self.mixture(base, &operands),
            },
            (_, ":-" | "-" | ":=" | "=") => {
                let args = operands.iter().map(|&operand| self.word(operand)).collect();
                match (&base, operator) {
                    // `${x:=other}` gives `x` the other value.
                    (Expr::Name(name, _), ":=" | "=") => {
                        let (name, value) = (name.clone(), call(OTHERWISE, Some(base), args));
                        self.before.push(Stmt::Let {
                            name: name.clone(),
                            value,
                            at,
                        });
                        Expr::Name(name, at)
                    }
                    _ => call(OTHERWISE, Some(base), args),
                }
            }
            (_, "^^") if operands.is_empty() => call(".upper", Some(base), vec![]),
            (_, ",,") if operands.is_empty() => call(".lower", Some(base), vec![]),
            (_, "#" | "##" | "%" | "%%") => match operands.as_slice() {
                [only] if !self.source(*only).contains(['*', '?', '[', '$']) => {
                    let callee = if operator.starts_with('#') {
                        ".removeprefix"
                    } else {
                        ".removesuffix"
                    };
                    let arg = self.word(*only);
                    call(callee, Some(base), vec![arg])
                }
                _ => self.mixture(base, &operands),
            },
            _ => self.mixture(base, &operands),
        }
    }

    fn mixture(&mut self, base: Expr, operands: &[Node<'t>]) -> Expr {
        let mut parts = vec![base];
        parts.extend(operands.iter().map(|&operand| self.word(operand)));
        Expr::Parts(parts)
    }

    /// `:offset:length` as the two ends of a slice.
    fn range(&self, operands: &[Node<'t>], at: At) -> Option<Vec<Expr>> {
        let mut numbers = Vec::new();
        for operand in operands {
            numbers.push(
                self.source(*operand)
                    .trim_matches(['(', ')', ' '])
                    .parse::<i64>()
                    .ok()?,
            );
        }
        match *numbers.as_slice() {
            [start] => Some(vec![Expr::Number(start, at)]),
            [start, length] => {
                let end = if length < 0 {
                    length
                } else {
                    start.checked_add(length)?
                };
                let open = start < 0 && end >= 0;
                Some(if open {
                    vec![Expr::Number(start, at)]
                } else {
                    vec![Expr::Number(start, at), Expr::Number(end, at)]
                })
            }
            _ => None,
        }
    }
}

/// The name of an element of an array, if the index is known.
pub(super) fn element(name: &str, index: &str) -> String {
    let known = !index.is_empty()
        && index.len() < 64
        && index
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_');
    if known {
        format!("{name}.{index}")
    } else {
        name.to_owned()
    }
}

/// The pseudo-call of a file that is read.
pub(super) fn file(path: Expr, at: At, end: At) -> Expr {
    Expr::Call(Box::new(CallExpr {
        callee: READ.to_owned(),
        on: None,
        args: vec![Arg::plain(path)],
        input: None,
        at,
        end,
    }))
}
