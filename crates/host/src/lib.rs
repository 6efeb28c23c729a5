//! # metier-host — where skill code runs
//!
//! **Problem.** A skill's code must be able to do what was approved for it and nothing else, whatever it is written in.
//!
//! **Decision.** Mechanism only, plain data in. [`sandbox`] says what a fence is made of and which places need one;
//! [`child`] starts programs behind it and stays with them until nothing of them is left. What a
//! skill may do is decided elsewhere, and comes in as a [`sandbox::Profile`]. [`world`] does what was permitted, and
//! [`backend`] talks to code that stays: asks it, answers it, and starts it again when it breaks.

pub mod backend;
pub mod child;
mod git_settings;
pub mod net;
pub mod sandbox;
pub mod world;
