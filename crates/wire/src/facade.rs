//! Documents from the values that the library returns.

use std::borrow::Cow;

use metier::{Error, Resource, Shown, SkillFile, scans::ScannedSkill};

use crate::{
    AcceptanceRow, CommandRow, ErrorBody, ErrorDocument, ReadDocument, ScannedRow, ShowDocument,
};

impl From<Shown> for ShowDocument {
    fn from(shown: Shown) -> Self {
        Self {
            name: shown.name,
            digest: shown.digest,
            content: shown.content,
            directory: shown.directory,
            resources: shown.resources,
            commands: shown.commands.iter().map(CommandRow::from).collect(),
        }
    }
}

impl<'a> ReadDocument<'a> {
    /// The document about a file of a skill.
    #[must_use]
    pub fn of(file: &'a SkillFile, path: &'a str) -> Self {
        let (text, size, binary) = match &file.content {
            Resource::Text(text) => (Some(text.as_str()), text.len(), false),
            Resource::Binary(bytes) => (None, bytes.len(), true),
        };
        Self {
            name: file.skill.clone(),
            path,
            text,
            size,
            binary,
        }
    }
}

impl From<&ScannedSkill> for ScannedRow {
    fn from(scan: &ScannedSkill) -> Self {
        Self {
            suppressed: scan.suppressed,
            baselined: scan.left_out,
            acceptance: scan.acceptance.as_ref().map(|accepted| AcceptanceRow {
                reason: accepted.reason.clone(),
                at: accepted.at.clone(),
            }),
            ..Self::of(
                scan.entry.place.path().to_string_lossy().into_owned(),
                scan.entry.name().into_owned(),
                scan.digest.map(|digest| digest.to_string()),
                &scan.report,
            )
        }
    }
}

impl<'a> From<&'a Error> for ErrorDocument<'a> {
    fn from(error: &'a Error) -> Self {
        let mut message = Cow::Borrowed(error.message());
        for detail in error.details() {
            let message = message.to_mut();
            message.push_str("; ");
            message.push_str(detail);
        }
        let place = error.place();
        Self {
            error: ErrorBody {
                code: error.code(),
                message,
                hint: error.advice(),
                skill: error.about_skill(),
                path: place.map(|(path, _)| path),
                line: place.and_then(|(_, line)| line),
            },
        }
    }
}
