//! Who answers: a person at a terminal, the user's own configuration, or nobody.

use crate::{request::Asked, rule::Identity};

/// What somebody is asked.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Which skill, in which bytes.
    pub identity: &'a Identity,
    /// Where it lies.
    pub place: &'a str,
    /// What it asks for and nobody has answered yet.
    pub asked: &'a [Asked],
    /// If an earlier version of it was approved: what is different now.
    pub changes: Option<&'a Changes>,
}

/// What is different between the bytes that were approved and these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// When the earlier ones were approved.
    pub since: String,
    /// Permissions that were not asked for before.
    pub new_permissions: Vec<String>,
    /// Permissions that are not asked for any more.
    pub gone_permissions: Vec<String>,
    /// Files that are new.
    pub added: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Files with other content.
    pub changed: Vec<String>,
}

/// What somebody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// This time.
    Once,
    /// For these bytes, from now on.
    Always,
    /// No.
    Deny,
    /// There is nobody to ask.
    Nobody,
}

/// Somebody who may decide. A skill, a model or a project never is.
pub trait Approver {
    /// Asks about all of it at once.
    fn ask(&self, question: &Question<'_>) -> Reply;
}

/// Nobody is there: whatever was not approved before stays refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl Approver for Headless {
    fn ask(&self, _question: &Question<'_>) -> Reply {
        Reply::Nobody
    }
}
