//! Packages of skills and their signatures.

mod package_files;
pub mod packages;
pub mod signing;
