//! A library of the skill's own, in a process of its own: our binary again, behind the fence that a program of the skill would have.

use super::{Opened, Opening};
use crate::worker::Worker;

pub(super) fn open<'p>(opening: &Opening<'_, 'p>, entrypoint: &str) -> Opened<'p> {
    opening.child(entrypoint, Worker::start_library)
}
