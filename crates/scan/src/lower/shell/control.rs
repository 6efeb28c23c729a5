//! Control flow: loops, conditions and functions. The condition comes first, every branch is part of the body.

use tree_sitter::Node;

use super::flow::output;
use super::words::is_word;
use super::{Lower, children};
use crate::form::{Arg, CallExpr, Expr, Stmt};

impl<'t> Lower<'t> {
    /// `[ … ]` and `[[ … ]]` are calls of `test`, operators and all.
    pub(super) fn test(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let mut args = Vec::new();
        let mut todo = vec![node];
        while let Some(next) = todo.pop() {
            let kind = next.kind();
            if is_word(kind) || kind == "test_operator" {
                args.push(Arg::plain(self.word(next)));
            } else if next.child_count() > 0 {
                todo.extend(children(next).into_iter().rev());
            } else if !matches!(kind, "[" | "]" | "[[" | "]]" | "(" | ")") {
                args.push(Arg::plain(Expr::Text(
                    self.source(next).to_owned(),
                    self.at(next.start_byte()),
                )));
            }
        }
        out.append(&mut self.before);
        let (at, end) = (self.at(node.start_byte()), self.at(node.end_byte()));
        out.push(Stmt::Do(Expr::Call(Box::new(CallExpr {
            callee: "test".to_owned(),
            on: None,
            args,
            input: None,
            at,
            end,
        }))));
    }

    pub(super) fn for_loop(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (mut name, mut words, mut body) = (String::new(), Vec::new(), Vec::new());
        let nodes = children(node);
        for child in &nodes {
            match child.kind() {
                "variable_name" => name = self.source(*child).to_owned(),
                kind if is_word(kind) => words.push(*child),
                _ => {}
            }
        }
        let at = self.at(node.start_byte());
        let mut values = self.words(&words);
        let value = match values.len() {
            0 => Expr::Name("@".to_owned(), at),
            1 => values.swap_remove(0),
            _ => Expr::Parts(values),
        };
        body.append(&mut self.before);
        body.push(Stmt::Let { name, value, at });
        for child in nodes
            .into_iter()
            .filter(|child| matches!(child.kind(), "do_group" | "ERROR"))
        {
            self.statement(child, &mut body);
        }
        out.push(Stmt::Block {
            condition: None,
            body,
        });
    }

    /// `if`, `elif`, `while` and `until`: the part before `then` or `do` is the condition.
    pub(super) fn conditional(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (mut asked, mut body) = (Vec::new(), Vec::new());
        let mut inside = false;
        for child in children(node) {
            let kind = child.kind();
            inside |= matches!(kind, "then" | "do_group" | "else_clause" | "elif_clause");
            if child.is_named() {
                self.statement(child, if inside { &mut body } else { &mut asked });
            }
        }
        let condition = Some(output(asked, out)).filter(|value| *value != Expr::Nothing);
        out.push(Stmt::Block { condition, body });
    }

    pub(super) fn case(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (mut condition, mut body) = (None, Vec::new());
        for child in children(node).into_iter().filter(Node::is_named) {
            if child.kind() == "case_item" {
                let items = children(child);
                let label = items
                    .iter()
                    .position(|item| item.kind() == ")")
                    .map_or(0, |close| close + 1);
                for item in items.into_iter().skip(label).filter(Node::is_named) {
                    self.statement(item, &mut body);
                }
            } else if condition.is_none() && is_word(child.kind()) {
                condition = Some(self.word(child));
            } else {
                self.statement(child, &mut body);
            }
        }
        out.append(&mut self.before);
        out.push(Stmt::Block { condition, body });
    }

    /// A function's parameters are the positions that it uses: `$1` is `Name("1")`.
    pub(super) fn function(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (mut name, mut body) = (String::new(), Vec::new());
        for child in children(node).into_iter().filter(Node::is_named) {
            match child.kind() {
                "word" if name.is_empty() => name = self.source(child).to_owned(),
                "file_redirect" | "herestring_redirect" => self.redirect(child, &mut body),
                _ => self.statement(child, &mut body),
            }
        }
        // Only the beginning is read: nested functions would be read repeatedly.
        let text: Vec<u8> = self
            .source(node)
            .bytes()
            .take(4096)
            .filter(|byte| *byte != b'{')
            .collect();
        let used = text
            .windows(2)
            .filter(|pair| pair[0] == b'$' && pair[1].is_ascii_digit())
            .map(|pair| pair[1] - b'0')
            .max();
        let params = (1..=used.unwrap_or(0))
            .map(|number| number.to_string())
            .collect();
        out.push(Stmt::Function { name, params, body });
    }
}
