//! Statements: lists, pipes, redirections, assignments.
//!
//! Where tree-sitter hangs a redirection or the rest of a line after `<<EOF` depends on what else is on the line. So a statement is first
//! laid out as a flat row of *links* in source order, each with its redirections, and the shell's own precedence is applied
//! to the row: `a && b | c > f` is `a`, then `b` piped into `c`, whose output is written to `f`.

use tree_sitter::Node;

use super::calls;
use super::expansions::{element, file};
use super::flow::{feed, printed};
use super::words::{WordPiece, is_word, join};
use super::{Lower, children};
use crate::form::{Arg, At, CallExpr, Expr, Stmt, WRITE};

/// After this many pipes the value gets a name: expressions must not nest as deep as a pipeline is long.
const PIPES: usize = 8;
/// More redirections than this don't nest, either.
const REDIRECTS: usize = 4;

/// A command in a row of them.
struct CommandLink<'t> {
    node: Option<Node<'t>>,
    piped: bool,
    redirects: Vec<Node<'t>>,
    /// Words after a redirection: `> f x` gives `x` to the command.
    extra: Vec<Node<'t>>,
}

impl<'t> Lower<'t> {
    /// All statements among a node's children.
    pub(super) fn statements(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        for child in children(node).into_iter().filter(Node::is_named) {
            self.statement(child, out);
        }
    }

    /// One statement.
    pub(super) fn statement(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        if node.kind() == "comment" || !self.enter(node) {
            return;
        }
        let links = self.links(node);
        self.row(&links, out);
        out.append(&mut self.before);
        self.leave();
    }

    fn links(&self, node: Node<'t>) -> Vec<CommandLink<'t>> {
        let mut links: Vec<CommandLink<'t>> = Vec::new();
        let mut piped = false;
        let mut todo = vec![node];
        while let Some(next) = todo.pop() {
            match next.kind() {
                "comment" | "&&" | "||" | "!" => {}
                "|" | "|&" => piped = true,
                "list" | "pipeline" | "redirected_statement" | "negated_command" => {
                    todo.extend(children(next).into_iter().rev());
                }
                kind @ ("file_redirect" | "herestring_redirect" | "heredoc_redirect") => {
                    if links.is_empty() || piped {
                        links.push(CommandLink {
                            node: None,
                            piped: std::mem::take(&mut piped),
                            redirects: vec![],
                            extra: vec![],
                        });
                    }
                    if kind == "heredoc_redirect" {
                        let inner = children(next).into_iter().rev();
                        todo.extend(inner.filter(|c| {
                            !matches!(
                                c.kind(),
                                "heredoc_body"
                                    | "heredoc_start"
                                    | "heredoc_end"
                                    | "file_descriptor"
                            )
                        }));
                    }
                    if let Some(last) = links.last_mut() {
                        last.redirects.push(next);
                        if kind == "file_redirect" {
                            last.extra
                                .extend(self.destinations(next).into_iter().skip(1));
                        }
                    }
                }
                kind if is_word(kind) && !links.is_empty() && !piped => {
                    if let Some(last) = links.last_mut() {
                        last.extra.push(next);
                    }
                }
                _ if !next.is_named() => {}
                "ERROR" if next.named_child_count() == 0 && !links.is_empty() => {}
                _ => links.push(CommandLink {
                    node: Some(next),
                    piped: std::mem::take(&mut piped),
                    redirects: vec![],
                    extra: vec![],
                }),
            }
        }
        links
    }

    fn row(&mut self, links: &[CommandLink<'t>], out: &mut Vec<Stmt>) {
        let mut input = None;
        let mut length = 0;
        for (index, link) in links.iter().enumerate() {
            let mut here = Vec::new();
            match link.node {
                Some(node) if node.kind() == "command" => {
                    self.command(node, &link.extra, &mut here);
                }
                Some(node) => self.simple(node, &mut here),
                None => {}
            }
            if let Some(value) = input.take() {
                feed(&mut here, value);
            }
            for (count, &redirect) in link.redirects.iter().enumerate() {
                if count < REDIRECTS {
                    self.redirect(redirect, &mut here);
                } else {
                    let mut alone = Vec::new();
                    self.redirect(redirect, &mut alone);
                    out.append(&mut alone);
                }
            }
            out.append(&mut self.before);
            if !links.get(index + 1).is_some_and(|next| next.piped) {
                out.append(&mut here);
                length = 0;
                continue;
            }
            let value = printed(here, out);
            length += 1;
            input = Some(if length % PIPES == 0 {
                let at = self.at(link.node.map_or(0, |node| node.start_byte()));
                let name = format!("|{at}");
                out.push(Stmt::Let {
                    name: name.clone(),
                    value,
                    at,
                });
                Expr::Name(name, at)
            } else {
                value
            });
        }
    }

    /// A statement that isn't a row.
    fn simple(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "command" => self.command(node, &[], out),
            "variable_assignment" => self.assignment(node, out),
            "declaration_command" | "unset_command" => self.declaration(node, out),
            "test_command" => self.test(node, out),
            "for_statement" => self.for_loop(node, out),
            "while_statement" | "if_statement" | "elif_clause" => self.conditional(node, out),
            "case_statement" => self.case(node, out),
            "function_definition" => self.function(node, out),
            "compound_statement" if self.source(node).starts_with("((") => {
                self.push_value(node, out);
            }
            "c_style_for_statement" => {
                let mut body = Vec::new();
                for child in children(node).into_iter().filter(Node::is_named) {
                    if matches!(child.kind(), "do_group" | "compound_statement") {
                        self.statements(child, &mut body);
                    } else {
                        self.push_value(child, &mut body);
                    }
                }
                out.push(Stmt::Block {
                    condition: None,
                    body,
                });
            }
            "ERROR" => self.wreck(node, out),
            kind if is_word(kind) => {
                let mut values = self.words(&[node]);
                out.append(&mut self.before);
                out.extend(
                    if values.len() > 1 {
                        Some(Expr::Parts(values))
                    } else {
                        values.pop()
                    }
                    .map(Stmt::Do),
                );
            }
            _ => self.statements(node, out),
        }
    }

    fn push_value(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let value = self.inside(node);
        out.append(&mut self.before);
        if value != Expr::Nothing {
            out.push(Stmt::Do(value));
        }
    }

    fn command(&mut self, node: Node<'t>, extra: &[Node<'t>], out: &mut Vec<Stmt>) {
        let (mut words, mut redirects, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, out),
                "file_redirect" => {
                    words.extend(self.destinations(child).into_iter().skip(1));
                    redirects.push(child);
                }
                "herestring_redirect" | "heredoc_redirect" => redirects.push(child),
                "subshell" | "ERROR" if child.named_child_count() > 0 => groups.push(child),
                "comment" | "ERROR" => {}
                _ => words.push(child),
            }
        }
        let mut values = self.words(&words);
        values.extend(self.dash(node));
        values.extend(self.words(extra));
        self.make(
            values,
            &redirects,
            self.at(node.start_byte()),
            self.at(node.end_byte()),
            out,
        );
        for group in groups {
            self.statement(group, out);
        }
    }

    /// The grammar drops a lone `-` before a here-document: `python3 - <<EOF`.
    fn dash(&self, node: Node<'t>) -> Option<Expr> {
        let blanks = [' ', '\t'];
        let rest = self.text.get(node.end_byte()..)?.trim_start_matches(blanks);
        let after = rest.strip_prefix('-')?.trim_start_matches(blanks);
        let at = self.at(self.text.len() - rest.len());
        after
            .starts_with("<<")
            .then(|| Expr::Text("-".to_owned(), at))
    }

    fn make(
        &mut self,
        values: Vec<Expr>,
        redirects: &[Node<'t>],
        at: At,
        end: At,
        out: &mut Vec<Stmt>,
    ) {
        out.append(&mut self.before);
        let mut here = calls::statements(values, at, end);
        for &redirect in redirects.iter().take(REDIRECTS) {
            self.redirect(redirect, &mut here);
        }
        out.append(&mut self.before);
        out.append(&mut here);
    }

    fn assignment(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let (mut name, mut value, mut adds) = (String::new(), None, false);
        let at = self.at(node.start_byte());
        for child in children(node) {
            match child.kind() {
                "variable_name" if name.is_empty() => name = self.source(child).to_owned(),
                "subscript" if name.is_empty() => {
                    let (base, index) = self.source(child).split_once('[').unwrap_or_default();
                    name = element(base, index.trim_end_matches(']').trim_matches(['"', '\'']));
                }
                "=" => {}
                "+=" => adds = true,
                _ => value = Some(self.word(child)),
            }
        }
        let mut value = value.unwrap_or_else(|| Expr::Text(String::new(), at));
        out.append(&mut self.before);
        if let Expr::List(items) = &value {
            for (index, item) in items.iter().enumerate().take(64) {
                if let Expr::Text(text, at) = item {
                    out.push(Stmt::Let {
                        name: format!("{name}.{index}"),
                        value: Expr::Text(text.clone(), *at),
                        at: *at,
                    });
                }
            }
        }
        if adds {
            value = Expr::Join(vec![Expr::Name(name.clone(), at), value]);
        }
        out.push(Stmt::Let { name, value, at });
    }

    /// `export X=1` binds; `export -p` is a call.
    fn declaration(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let nodes = children(node);
        if nodes
            .iter()
            .any(|child| child.kind() == "variable_assignment")
        {
            for child in nodes
                .into_iter()
                .filter(|child| child.kind() == "variable_assignment")
            {
                self.assignment(child, out);
            }
        } else {
            let words: Vec<_> = nodes
                .into_iter()
                .filter(|child| !matches!(child.kind(), "comment" | "ERROR"))
                .collect();
            let values = self.words(&words);
            self.make(
                values,
                &[],
                self.at(node.start_byte()),
                self.at(node.end_byte()),
                out,
            );
        }
    }

    /// A part that the parser gave up on: runs of words are commands, `|` pipes the previous ones.
    fn wreck(&mut self, node: Node<'t>, out: &mut Vec<Stmt>) {
        let mut run: Vec<Node<'t>> = Vec::new();
        let mut redirects = Vec::new();
        let mut input = None;
        let nodes = children(node);
        for child in nodes.iter().copied().map(Some).chain([None]) {
            let kind = child.map_or("", |child| child.kind());
            if let Some(child) = child {
                if matches!(
                    kind,
                    "file_redirect" | "herestring_redirect" | "heredoc_redirect"
                ) {
                    redirects.push(child);
                    continue;
                }
                if (is_word(kind) && kind != "command_name")
                    || kind == "string_content"
                    || (kind == "command_name" && run.is_empty())
                {
                    run.push(child);
                    continue;
                }
            }
            let mut here = Vec::new();
            if !run.is_empty() || !redirects.is_empty() {
                self.remains(
                    &std::mem::take(&mut run),
                    &std::mem::take(&mut redirects),
                    &mut here,
                );
            }
            match child {
                Some(child) if kind == "command_name" => run.push(child),
                Some(child) if child.is_named() && child.child_count() > 0 => {
                    out.append(&mut here);
                    self.statement(child, &mut here);
                }
                Some(child) if child.is_error() => {
                    let text = self.source(child).to_owned();
                    here.push(Stmt::Do(Expr::Text(text, self.at(child.start_byte()))));
                }
                _ => {}
            }
            if let Some(value) = input.take() {
                if here.is_empty() {
                    out.push(Stmt::Do(value));
                } else {
                    feed(&mut here, value);
                }
            }
            out.append(&mut here);
            if matches!(kind, "|" | "|&") && matches!(out.last(), Some(Stmt::Do(_))) {
                input = out.pop().and_then(|last| {
                    if let Stmt::Do(value) = last {
                        Some(value)
                    } else {
                        None
                    }
                });
            }
        }
    }

    fn remains(&mut self, run: &[Node<'t>], redirects: &[Node<'t>], out: &mut Vec<Stmt>) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            for &redirect in redirects.iter().take(REDIRECTS) {
                self.redirect(redirect, out);
            }
            return;
        };
        let values = self.words(run);
        if first.kind() == "string_content" {
            out.push(Stmt::Do(Expr::Parts(values)));
        } else {
            self.make(
                values,
                redirects,
                self.at(first.start_byte()),
                self.at(last.end_byte()),
                out,
            );
        }
    }

    /// The words after a redirection's operator. A number that touches the next operator is its descriptor.
    fn destinations(&self, node: Node<'t>) -> Vec<Node<'t>> {
        let touches = |word: &Node<'t>| self.text[word.end_byte()..].starts_with(['<', '>']);
        let words = children(node)
            .into_iter()
            .filter(|child| is_word(child.kind()));
        words
            .filter(|word| !(word.kind() == "number" && touches(word)))
            .collect()
    }

    /// Applies a redirection to what a command was lowered to.
    pub(super) fn redirect(&mut self, node: Node<'t>, here: &mut Vec<Stmt>) {
        let (at, end) = (self.at(node.start_byte()), self.at(node.end_byte()));
        let nodes = children(node);
        match node.kind() {
            "herestring_redirect" => {
                if let Some(word) = nodes.into_iter().rfind(|child| is_word(child.kind())) {
                    let value = self.word(word);
                    feed(here, value);
                }
            }
            "heredoc_redirect" => {
                let value = self.document(&nodes);
                feed(here, value);
            }
            _ => {
                let Some(&word) = self.destinations(node).first() else {
                    return;
                };
                let operator = nodes
                    .iter()
                    .find(|child| !child.is_named())
                    .map_or("", |child| child.kind());
                let number = self.source(word).trim_end_matches('-');
                if operator.contains('&')
                    && !operator.starts_with('&')
                    && number.bytes().all(|byte| byte.is_ascii_digit())
                    && !self.descriptors.iter().any(|(own, _)| *own == number)
                {
                    return;
                }
                let kept = self.descriptors.iter().find(|(own, _)| *own == number);
                let path = match kept.filter(|_| operator.contains('&')) {
                    Some((_, path)) => path.clone(),
                    None => self.word(word),
                };
                if let Some(own) = nodes.first().filter(|own| own.kind() == "file_descriptor")
                    && self.source(word).starts_with("/dev/")
                    && self.descriptors.len() < REDIRECTS
                {
                    self.descriptors.push((self.source(*own), path.clone()));
                }
                let both = nodes.iter().any(Node::is_error);
                let errors = nodes.first().is_some_and(|child| {
                    child.kind() == "file_descriptor" && self.source(*child) == "2"
                });
                if operator.contains('<') {
                    feed(here, file(path.clone(), at, end));
                }
                let mut write = CallExpr {
                    callee: WRITE.to_owned(),
                    on: None,
                    args: vec![Arg::plain(path)],
                    input: None,
                    at,
                    end,
                };
                if errors && operator.contains('>') {
                    // Errors are not passed on: the path is recorded, the pipe is unchanged.
                    if !matches!(&write.args[0].value, Expr::Text(path, _) if path == "/dev/null") {
                        self.before.push(Stmt::Do(Expr::Call(Box::new(write))));
                    }
                } else if operator.contains('>') || both {
                    let mut kept = Vec::new();
                    write.input = Some(printed(std::mem::take(here), &mut kept))
                        .filter(|value| *value != Expr::Nothing);
                    kept.push(Stmt::Do(Expr::Call(Box::new(write))));
                    *here = kept;
                }
            }
        }
    }

    /// The text of a here-document; one with a quoted delimiter is literal.
    fn document(&mut self, nodes: &[Node<'t>]) -> Expr {
        let find = |kind: &str| nodes.iter().copied().find(|child| child.kind() == kind);
        let Some(body) = find("heredoc_body") else {
            return Expr::Nothing;
        };
        let raw = find("heredoc_start")
            .is_some_and(|start| self.source(start).contains(['\'', '"', '\\']));
        let mut pieces = Vec::new();
        if raw {
            pieces.push(WordPiece::Text(
                self.source(body).to_owned(),
                self.at(body.start_byte()),
            ));
        } else {
            self.mixed(body, "\\$`", &mut pieces);
        }
        if find("<<-").is_some() {
            for piece in &mut pieces {
                if let WordPiece::Text(text, _) = piece {
                    *text = text
                        .replace("\n\t", "\n")
                        .trim_start_matches('\t')
                        .to_owned();
                }
            }
        }
        join(pieces)
    }
}
