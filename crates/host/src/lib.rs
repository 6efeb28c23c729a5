//! # metier-host — where skill code runs
//!
//! **Problem.** A skill's code must be able to do what was approved for it and nothing else, whatever it is written in.

pub mod child;
pub mod net;
pub mod sandbox;
pub mod world;
