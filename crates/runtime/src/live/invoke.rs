//! Skills that invoke skills.
//!
//! Neither skill lends permissions to the other: the invoked skill gets its own session for this call, with the permissions that
//! *both* have. So a skill with few permissions can't use one with many, and approvals for the user's requests
//! don't apply to another skill's.

use metier_policy::ActTarget;
use metier_sdk::wire::ToolOutput;
use serde_json::Value;

use super::{Active, CallError, Runtime, activation::MAX_DEPTH};
use crate::{InventorySkill, granted_skill::DelegateError};

/// A call from one skill to another.
pub(super) struct SkillCall<'r> {
    pub(super) caller: &'r Active,
    pub(super) tool: Option<&'r str>,
    pub(super) input: Value,
}

impl Runtime {
    /// The skill that a name, `source:name` or a path means, by all of these names. Of several skills with one name, the name means only
    /// the one that is used; a denial of the name is about all of them.
    pub(super) fn invoked(
        &self,
        wanted: &str,
    ) -> Result<(&InventorySkill, ActTarget), DelegateError> {
        let skill = self.inventory.find(wanted).map_err(|missing| {
            DelegateError::new("not-found", format!("there is no skill `{}`", missing.name))
        })?;
        let entry = self.inventory.entry(skill);
        let name = entry.name().into_owned();
        let means_it = |name: &str| {
            let found = self.inventory.find(name);
            found.is_ok_and(|found| std::ptr::eq(found, skill))
        };
        let of_source = format!("{}:{name}", entry.source);
        let path = entry.place.path().to_string_lossy().into_owned();
        let names = [name, of_source, path];
        let shown = names.iter().find(|name| means_it(name));
        let target = ActTarget::new(shown.map_or(wanted, String::as_str));
        let target = names
            .iter()
            .fold(target, |target, name| target.known_as(name, means_it(name)));
        Ok((skill, target))
    }

    /// Lets another skill work for the caller.
    pub(super) fn invoke(
        &self,
        skill: &InventorySkill,
        call: &SkillCall<'_>,
    ) -> Result<ToolOutput, DelegateError> {
        let entry = self.inventory.entry(skill);
        let name = entry.name();
        let chain = call.caller.chain();
        if chain.iter().any(|link| *link == *name) {
            let chain = chain.join(" → ");
            return Err(DelegateError::new(
                "cycle",
                format!("{chain} → {name} is a cycle"),
            ));
        }
        if chain.len() >= MAX_DEPTH {
            return Err(DelegateError::new(
                "depth",
                format!("skills can invoke each other at most {MAX_DEPTH} levels deep"),
            ));
        }
        let active = self.open(entry, Some(call.caller)).map_err(|error| {
            DelegateError::new("not-active", format!("skill `{name}`: {error}"))
        })?;
        let done = match call.tool {
            Some(tool) => {
                let done = self.call_tool(&active, tool, &call.input, &|_| Ok(()));
                done.map(|done| done.left)
            }
            None => self.run_workflow(&active, None, &call.input),
        };
        let closed = self.close(&active);
        let not_done = |error: CallError| DelegateError::new("not-done", error.to_string());
        let done = done.map_err(not_done)?;
        closed.map_err(|error| DelegateError::new("not-done", error.to_string()))?;
        Ok(done)
    }
}
