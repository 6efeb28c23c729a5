//! Every skill is found or reported, once, in time, whatever else is in the folder.

mod files;
mod folders;
mod limits;
mod links;
mod manifests;
pub(crate) mod roots;

use metier_model::Strictness;

use crate::{World, codes, errors, found, named, only};

/// A folder next to a valid skill: the valid one is still found, and the other one is listed as invalid for this
/// reason.
#[track_caller]
fn invalid(world: &World, code: &str) {
    world.skill("root/good");
    for mode in [Strictness::Lenient, Strictness::Strict] {
        let catalog = world.look_in(mode);
        assert!(named(&catalog, "good").card.is_some());
        let entry = named(&catalog, "bad");
        assert!(
            errors(entry).contains(&code),
            "{mode:?}: {:?}",
            entry.diagnostics
        );
        assert!(entry.card.is_none());
        assert_eq!(entry.name(), "bad");
        assert_eq!(found(&catalog, &world.root()), ["bad", "good"]);
    }
}

/// The skill `s` loads with a warning in lenient mode and is rejected in strict mode.
#[track_caller]
fn odd(world: &World, code: &str) {
    let entry = only(&world.look()).clone();
    assert!(entry.card.is_some(), "{:?}", entry.diagnostics);
    assert!(
        codes(&entry.diagnostics).contains(&code),
        "{:?}",
        entry.diagnostics
    );
    let catalog = world.look_in(Strictness::Strict);
    assert!(
        errors(only(&catalog)).contains(&code),
        "{:?}",
        only(&catalog).diagnostics
    );
    assert!(only(&catalog).card.is_none());
}
