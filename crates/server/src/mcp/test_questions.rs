//! Questions for tests.

use metier::{ApprovalIdentity, ApprovalQuestion, RequestReason, RequestedPermission, Source};

/// A question about permissions of a skill.
pub(crate) fn question(skill: &str, wants: &[&str]) -> ApprovalQuestion {
    let identity = ApprovalIdentity {
        skill: skill.into(),
        source: Source::User,
        digest: metier::Digest([7; 32]),
    };
    let asked = wants.iter().map(|want| RequestedPermission {
        want: want.parse().unwrap(),
        why: RequestReason::Declared,
    });
    let (place, session) = ("/skills/notes".to_owned(), "s".to_owned());
    ApprovalQuestion::about_permissions(identity, place, session, asked.collect(), None)
}
