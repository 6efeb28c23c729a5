//! The skill that has the workflow with a given name.
//!
//! A workflow is registered by code, and unapproved code is not run to find out. So the entrypoint is searched for the call that
//! registers the name, in any of the languages: `register_workflow("rfc", …)`, `@skill.workflow("rfc")`. A name that is computed at
//! run time is not found; such a workflow is run by the name of its skill.

use metier_model::{Card, Strictness};

use crate::inventory::{Inventory, InventorySkill, Status};

/// The largest entrypoint that is searched.
const MAX_BYTES: u64 = 1 << 20;

impl Inventory {
    /// The ready skills whose entrypoint registers a workflow with this name.
    #[must_use]
    pub fn workflow(&self, name: &str, max_manifest: u64) -> Vec<&InventorySkill> {
        let ready = self.skills.iter().filter(|skill| {
            let card = self.entry(skill).card.as_ref();
            skill.status == Status::Ready && card.is_some_and(Card::runs_workflow)
        });
        ready
            .filter(|skill| {
                let entry = self.entry(skill);
                let loaded = entry.load(Strictness::Lenient, max_manifest).ok();
                let entrypoint = loaded
                    .and_then(|(parsed, _)| parsed.manifest)
                    .and_then(|manifest| manifest.code.entrypoint);
                let code = entrypoint.and_then(|file| {
                    let file = file.strip_prefix("./").unwrap_or(&file);
                    entry.place.read(file, MAX_BYTES).ok()
                });
                code.is_some_and(|code| registers(&String::from_utf8_lossy(&code), name))
            })
            .collect()
    }
}

/// Whether a program registers a workflow with this name.
fn registers(code: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    ['"', '\''].iter().any(|quote| {
        let word = format!("{quote}{name}{quote}");
        let mut places = code.match_indices(&word);
        places.any(|(at, _)| {
            let before = code[..at].trim_end();
            let keyword = before.strip_suffix(['=', ':']).map(str::trim_end);
            let before = keyword.and_then(|before| before.strip_suffix("name"));
            let before = before.unwrap_or(&code[..at]);
            let before = before.trim_end().trim_end_matches('{').trim_end();
            let called = before.strip_suffix('(').unwrap_or_default();
            called.trim_end().to_lowercase().ends_with("workflow")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_registers_a_workflow_is_known_in_every_language() {
        for code in [
            "register_workflow(\"rfc\", rfc)",
            "register_workflow(\n    name = \"rfc\",\n    fn = rfc)",
            "@skill.workflow('rfc')\ndef rfc(host, input): pass",
            "skill.workflow(\"rfc\", |host, input| Ok(()))",
            "skill.registerWorkflow({ name: 'rfc', run })",
        ] {
            assert!(registers(code, "rfc"), "{code}");
        }
        for code in [
            "register_tool(\"rfc\", rfc)",
            "print(\"rfc\")",
            "register_workflow(\"rfcs\", rfc)",
            "workflow = \"rfc\"",
        ] {
            assert!(!registers(code, "rfc"), "{code}");
        }
    }
}
