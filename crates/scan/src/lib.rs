//! The scanner.
#![warn(clippy::disallowed_methods)]
pub mod form;
