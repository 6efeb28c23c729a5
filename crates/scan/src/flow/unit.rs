//! The programs that are evaluated.

use std::rc::Rc;

use crate::form::LoweredProgram;

/// The languages that are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EvaluatedLanguage {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// POSIX shells.
    Shell,
    /// PowerShell.
    PowerShell,
    /// cmd.exe.
    Batch,
}

/// A program of the skill.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its language.
    pub language: EvaluatedLanguage,
    /// Its text, lowered.
    pub program: LoweredProgram,
    /// Names are shared by units of the same space: the fences of one document, the text of one file.
    pub space: Rc<str>,
    /// Its name in imports: the file's name without its extension.
    pub module: Rc<str>,
    /// The index that sites refer to.
    pub index: u32,
}
