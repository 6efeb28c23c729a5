//! The real program, from outside: the specifications, and the rule that every command is refused somewhere in them.

mod refusals;
mod spec;
