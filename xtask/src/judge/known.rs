//! What is expected to fail, and why. One that passes has to leave this list.

use super::verdict::ExpectedFailure;

pub(crate) const FAILURES: &[ExpectedFailure] = &[];
