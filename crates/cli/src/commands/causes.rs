//! Why skills can't be used, each cause once: a folder that is not trusted is one fact, however many skills are in it.

use std::{borrow::Cow, path::Path};

use metier::{
    skill::{Inventory, InventorySkill, Reason, ReasonKind, Status},
    text::shell_word,
};

use super::list::remarks;
use crate::output::{Output, count, one_line};

/// How many skills a cause names.
const NAMED: usize = 3;

/// One thing that keeps skills from being used.
pub(super) struct ReasonCause {
    /// The status that it gives them.
    pub(super) status: Status,
    /// Which skills, in a few words.
    pub(super) who: String,
    /// Which skills, with their names: `skill a`, `skills a, b`, `2 skills in DIR`.
    pub(super) label: String,
    pub(super) message: String,
    /// The command to type.
    pub(super) hint: Option<String>,
}

/// The problems, the worst first. With `all`, every reason of a skill; otherwise its first one.
pub(super) fn causes(inventory: &Inventory, all: bool, output: &Output) -> Vec<ReasonCause> {
    let mut found: Vec<(CauseKey<'_>, Vec<&InventorySkill>)> = Vec::new();
    for status in [Status::Invalid, Status::Blocked, Status::NotReady] {
        let of_status = |skill: &&InventorySkill| skill.status == status;
        for skill in inventory.skills.iter().filter(of_status) {
            if status == Status::Invalid {
                note(&mut found, CauseKey::Unreadable(skill.entry), skill);
                continue;
            }
            let wanted = if all { usize::MAX } else { 1 };
            for reason in skill.reasons.iter().take(wanted) {
                note(&mut found, CauseKey::of(inventory, skill, reason), skill);
            }
        }
    }
    let one =
        |(key, skills): (CauseKey<'_>, Vec<&InventorySkill>)| key.cause(inventory, &skills, output);
    found.into_iter().map(one).collect()
}

fn note<'i>(
    found: &mut Vec<(CauseKey<'i>, Vec<&'i InventorySkill>)>,
    key: CauseKey<'i>,
    skill: &'i InventorySkill,
) {
    match found.iter_mut().find(|(known, _)| *known == key) {
        Some((_, skills)) => skills.push(skill),
        None => found.push((key, vec![skill])),
    }
}

/// The root of a skill, if it is one that the user has not trusted.
pub(super) fn untrusted_root<'i>(
    inventory: &'i Inventory,
    skill: &InventorySkill,
) -> Option<&'i Path> {
    let root = inventory.entry(skill).root?;
    let root = inventory.catalog.roots.get(usize::from(root))?;
    (!root.trusted).then_some(root.path.as_path())
}

/// Two reasons with an equal key are shown as one cause.
#[derive(PartialEq)]
enum CauseKey<'i> {
    Unreadable(usize),
    Untrusted(&'i Path),
    Same(Status, &'i str, Option<&'i str>),
}

impl<'i> CauseKey<'i> {
    fn of(inventory: &'i Inventory, skill: &InventorySkill, reason: &'i Reason) -> Self {
        match untrusted_root(inventory, skill) {
            Some(root) if reason.kind == ReasonKind::Untrusted => Self::Untrusted(root),
            _ => Self::Same(skill.status, &reason.message, reason.hint.as_deref()),
        }
    }

    fn cause(
        self,
        inventory: &Inventory,
        skills: &[&InventorySkill],
        output: &Output,
    ) -> ReasonCause {
        match self {
            Self::Unreadable(_) => {
                let lines = skills.iter().flat_map(|skill| remarks(inventory, skill));
                let path = skills
                    .iter()
                    .map(|skill| inventory.entry(skill).place.path());
                let validate = |path: Cow<'_, Path>| {
                    format!("metier validate {}", shell_word(&path.to_string_lossy()))
                };
                ReasonCause {
                    status: Status::Invalid,
                    who: names(inventory, skills),
                    label: labelled(inventory, skills),
                    message: lines.last().unwrap_or_default(),
                    hint: path.map(validate).next_back(),
                }
            }
            Self::Untrusted(root) => {
                let who = format!("{} in {}", count(skills.len(), "skill"), output.path(root));
                ReasonCause {
                    status: Status::Blocked,
                    label: who.clone(),
                    who,
                    message: "the folder is not trusted".to_owned(),
                    hint: Some("metier trust".to_owned()),
                }
            }
            Self::Same(status, message, hint) => ReasonCause {
                status,
                who: names(inventory, skills),
                label: labelled(inventory, skills),
                message: one_line(message),
                hint: hint.map(one_line),
            },
        }
    }
}

fn labelled(inventory: &Inventory, skills: &[&InventorySkill]) -> String {
    let noun = if skills.len() == 1 { "skill" } else { "skills" };
    format!("{noun} {}", names(inventory, skills))
}

/// `a`, `a, b`, `a, b, c and 4 more`.
fn names(inventory: &Inventory, skills: &[&InventorySkill]) -> String {
    let name = |skill: &&InventorySkill| one_line(&inventory.entry(skill).name());
    let named: Vec<String> = skills.iter().take(NAMED).map(name).collect();
    match skills.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
