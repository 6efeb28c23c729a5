//! What a package is, from outside.

mod archives;
mod foreign;
mod locks;
mod resolution;
mod signatures;
mod trees;
