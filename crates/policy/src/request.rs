//! What a skill asks for: what its manifest declares, or, where it declares nothing, what its text would do.
//!
//! The existing ecosystem declares no permissions. For such a skill each `!` piece asks for exactly that command, and a
//! script that is to run asks for itself. A skill that does declare gets what it declared and nothing else. Nothing runs,
//! nothing is asked.

use metier_model::{Manifest, Permission, Scope, Want, scope::CommandPattern};

/// What somebody is about to do with a skill.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Render its body, which holds these commands, as written.
    Render(&'a [&'a str]),
    /// Run a script that lies in its folder, at this path.
    Script(&'a str),
    /// Run its code.
    Code,
}

/// Why a permission is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The manifest declares it.
    Declared,
    /// The manifest declares nothing, and its text or its script would do it.
    Inferred,
}

/// One permission that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which.
    pub want: Want,
    /// Why.
    pub why: Why,
}

/// Everything that is asked for, each once and in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Request {
    asked: Vec<Asked>,
}

impl Request {
    /// What a skill asks for when this is done with it.
    #[must_use]
    pub fn of(manifest: &Manifest, purpose: Purpose<'_>) -> Self {
        let exec = |pattern| Want {
            permission: Permission::ShellExec,
            scope: Scope::Command(pattern),
        };
        let inferred: Vec<Want> = match purpose {
            Purpose::Render([]) => return Self::default(),
            Purpose::Render(commands) => {
                let lines = commands.iter().map(|line| CommandPattern::line(line));
                lines.map(exec).collect()
            }
            Purpose::Script(path) => vec![exec(CommandPattern::script(path))],
            Purpose::Code => Vec::new(),
        };
        let (why, wants) = if manifest.wants.is_empty() {
            (Why::Inferred, inferred)
        } else {
            (Why::Declared, manifest.wants.clone())
        };
        Self::new(wants.into_iter().map(|want| Asked { want, why }))
    }

    /// A request for these.
    #[must_use]
    pub fn new(asked: impl IntoIterator<Item = Asked>) -> Self {
        let mut asked: Vec<Asked> = asked.into_iter().collect();
        asked.sort_by(|a, b| (&a.want, a.why).cmp(&(&b.want, b.why)));
        asked.dedup_by(|a, b| a.want == b.want);
        Self { asked }
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// What is asked for.
    pub fn iter(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter()
    }
}
