//! Lowering: source texts of several languages, brought into the common form (see [`crate::form`]).
//!
//! Each language has a parser that others maintain; what is written here is only the way from its tree to the form. Three decisions hold for all:
//!
//! - **Names are spelt out while lowering**, not afterwards: only here is it known what was imported, and under which name. The
//!   rules then compare texts.
//! - **What can't be read is said, not hidden**: `Program::broken` holds the first place that was left out, be it a syntax error or
//!   a nesting that no person wrote.
//! - **Nothing recurses without a limit.** The trees of the parsers are as deep as an attacker likes; the form is at most
//!   [`frame::MAX_DEPTH`] deep, so that everything after it may recurse.

mod batch;
mod frame;
mod javascript;
mod powershell;
mod python;
mod shell;
mod stack;

#[cfg(test)]
mod print;
#[cfg(test)]
mod show;

pub(crate) use batch::batch;
pub(crate) use javascript::{Dialect, javascript};
pub(crate) use powershell::powershell;
pub(crate) use python::python;
pub(crate) use shell::{Patience, shell};
