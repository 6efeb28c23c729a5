//! The names that a module's imports bind.
//!
//! Imports of the whole module are recorded before anything is lowered: a function may use later imports. The same applies to
//! a name that the module binds once, to a name (`s = os.system`).

use std::collections::HashMap;

use ruff_python_ast::{
    Alias, ExceptHandler, Expr as Py, Stmt as PyStmt, StmtImport, StmtImportFrom,
};

use super::Python;
use crate::form::Expr;

/// The names imported by `from … import *`, for the relevant modules.
const STARS: &[(&str, &[&str])] = &[
    (
        "base64",
        &[
            "b64decode",
            "b64encode",
            "b32decode",
            "b85decode",
            "a85decode",
            "urlsafe_b64decode",
        ],
    ),
    ("builtins", &["eval", "exec", "compile", "open"]),
    (
        "ctypes",
        &["CDLL", "cdll", "windll", "WinDLL", "memmove", "CFUNCTYPE"],
    ),
    ("importlib", &["import_module", "reload"]),
    ("marshal", &["loads", "load"]),
    (
        "os",
        &[
            "system",
            "popen",
            "environ",
            "getenv",
            "execv",
            "execve",
            "execvp",
            "execl",
            "execlp",
            "spawnl",
            "spawnv",
            "remove",
            "unlink",
            "rmdir",
            "removedirs",
            "rename",
            "chmod",
            "chown",
            "putenv",
            "fork",
            "dup2",
            "kill",
            "listdir",
            "walk",
            "startfile",
            "getlogin",
        ],
    ),
    ("pickle", &["loads", "load"]),
    ("pty", &["spawn"]),
    ("requests", &["get", "post", "put", "request", "Session"]),
    (
        "shutil",
        &[
            "rmtree",
            "copy",
            "copyfile",
            "copytree",
            "move",
            "make_archive",
        ],
    ),
    (
        "socket",
        &[
            "socket",
            "create_connection",
            "gethostbyname",
            "gethostname",
        ],
    ),
    (
        "subprocess",
        &[
            "run",
            "call",
            "Popen",
            "check_call",
            "check_output",
            "getoutput",
            "getstatusoutput",
        ],
    ),
    ("urllib.request", &["urlopen", "urlretrieve", "Request"]),
    ("zlib", &["decompress"]),
];

impl Python {
    /// Records the bindings of a module, before it is lowered.
    pub(super) fn hoist(&mut self, body: &[PyStmt]) {
        let mut bound = HashMap::new();
        self.hoist_into(body, &mut bound, 0);
        let mut once: Vec<(&str, &Py)> = bound
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        once.sort_unstable_by_key(|(name, _)| *name);
        for (name, value) in once {
            let value = self.expr(value);
            if matches!(value, Expr::Name(..)) {
                self.frame.note(name, &value);
            }
        }
    }

    fn hoist_into<'a>(
        &mut self,
        body: &'a [PyStmt],
        bound: &mut HashMap<&'a str, Option<&'a Py>>,
        depth: u32,
    ) {
        if depth > 20 {
            return;
        }
        for stmt in body {
            match stmt {
                PyStmt::Import(import) => self.import(import),
                PyStmt::ImportFrom(import) => self.import_from(import),
                PyStmt::Assign(assign) => {
                    for target in &assign.targets {
                        if let Py::Name(name) = target {
                            let value = matches!(*assign.value, Py::Name(_) | Py::Attribute(_))
                                .then_some(&*assign.value);
                            bound
                                .entry(name.id.as_str())
                                .and_modify(|known| *known = None)
                                .or_insert(value);
                        }
                    }
                }
                PyStmt::If(inner) => {
                    self.hoist_into(&inner.body, bound, depth + 1);
                    for clause in &inner.elif_else_clauses {
                        self.hoist_into(&clause.body, bound, depth + 1);
                    }
                }
                PyStmt::Try(inner) => {
                    self.hoist_into(&inner.body, bound, depth + 1);
                    for handler in &inner.handlers {
                        let ExceptHandler::ExceptHandler(handler) = handler;
                        self.hoist_into(&handler.body, bound, depth + 1);
                    }
                    self.hoist_into(&inner.orelse, bound, depth + 1);
                    self.hoist_into(&inner.finalbody, bound, depth + 1);
                }
                PyStmt::With(inner) => self.hoist_into(&inner.body, bound, depth + 1),
                PyStmt::For(inner) => self.hoist_into(&inner.body, bound, depth + 1),
                PyStmt::While(inner) => self.hoist_into(&inner.body, bound, depth + 1),
                _ => {}
            }
        }
    }

    /// `import a.b`, `import a.b as c`.
    pub(super) fn import(&mut self, import: &StmtImport) {
        for Alias { name, asname, .. } in &import.names {
            match asname {
                Some(asname) => {
                    let target = self.member("", name.as_str());
                    self.frame.import(asname.as_str(), target);
                }
                None => {
                    let root = name.as_str().split('.').next().unwrap_or_default();
                    self.frame.import(root, root.to_owned());
                }
            }
        }
    }

    /// `from a import b as c`; the dots of relative imports are dropped, since a leading dot means a method.
    pub(super) fn import_from(&mut self, import: &StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        for Alias { name, asname, .. } in &import.names {
            if name.as_str() == "*" {
                if !self.stars.iter().any(|star| star == module) {
                    self.stars.push(module.to_owned());
                }
                continue;
            }
            let target = self.member(module, name.as_str());
            let local = asname.as_ref().unwrap_or(name);
            self.frame.import(local.as_str(), target);
        }
    }

    /// The full name of an unbound name, if `import *` imported it.
    pub(super) fn starred(&self, name: &str) -> Option<String> {
        self.stars.iter().rev().find_map(|star| {
            let (module, names) = STARS.iter().find(|(module, _)| module == star)?;
            names.contains(&name).then(|| join(module, name))
        })
    }

    /// A member of a dotted name, without indirect ways to the same name.
    pub(super) fn member(&self, path: &str, key: &str) -> String {
        match (path, key) {
            (_, "__dict__" | "__call__") if !path.is_empty() => path.to_owned(),
            ("" | "builtins" | "__builtins__" | "sys.modules", _) => key.to_owned(),
            ("__main__", "__builtins__") => key.to_owned(),
            _ => self.frame.resolve_dotted(join(path, key)),
        }
    }
}

fn join(path: &str, key: &str) -> String {
    let mut joined = String::with_capacity(path.len() + 1 + key.len());
    joined.push_str(path);
    joined.push('.');
    joined.push_str(key);
    joined
}
