//! A library of the skill's own, in a process of its own: our binary again, behind the fence that a program of the skill would have.

use super::{Opened, Opening};
use crate::worker::Worker;

pub(super) fn open(opening: &Opening<'_>, entrypoint: &str) -> Opened {
    opening.child(entrypoint, Worker::start_library)
}
