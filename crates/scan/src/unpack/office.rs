//! Documents of Office since 2007: a zip archive of XML.
//!
//! Four parts matter: the document's text (including hidden text and field instructions), whether it has
//! macros, its embedded objects, and its external references. The last are in the relationships, of which a template
//! or an image with an external target is fetched when the document is opened.

use super::archive::{ArchiveMember, ArchiveProblem};
use super::xml::{XmlEvent, XmlEvents, attributes, entities};

/// An external reference of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    /// The part of the archive that contains it.
    pub part: String,
    /// Its type: `hyperlink`, `image`, `attachedTemplate`, `oleObject` …
    pub kind: String,
    /// The URL or path of its target.
    pub target: String,
}

/// The content of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Office {
    /// Parts with text, and their text.
    pub texts: Vec<(String, String)>,
    /// Field instructions and formulas, which may call out (`DDEAUTO`, `WEBSERVICE`).
    pub instructions: Vec<String>,
    /// Parts that are macros.
    pub macros: Vec<String>,
    /// Parts that are embedded objects or controls.
    pub objects: Vec<String>,
    /// References to the outside.
    pub external: Vec<Relation>,
    /// Whether some text is formatted as hidden.
    pub hidden_text: bool,
    /// The problems of the archive.
    pub problems: Vec<ArchiveProblem>,
}

/// Parses a document.
#[cfg(test)]
#[must_use]
pub(crate) fn office(bytes: &[u8], limits: super::archive::UnpackLimits) -> Office {
    let opened = super::archive::open(super::kind::FileKind::Ooxml, bytes, limits);
    Office {
        problems: opened.problems,
        ..office_of(&opened.members)
    }
}

/// Parses a document that was opened before.
#[must_use]
pub(crate) fn office_of(members: &[ArchiveMember]) -> Office {
    let mut office = Office::default();
    for member in members {
        let path = member.path.to_ascii_lowercase();
        if path.ends_with("vbaproject.bin") || path.contains("/macrosheets/") {
            office.macros.push(member.path.clone());
        } else if path.contains("/embeddings/") || path.contains("/activex/") {
            office.objects.push(member.path.clone());
        } else if path.ends_with(".rels") {
            office.relations(member);
        } else if path.ends_with(".xml") {
            office.part(&path, member);
        }
    }
    office
}

impl Office {
    fn relations(&mut self, member: &ArchiveMember) {
        let text = String::from_utf8_lossy(&member.bytes);
        for event in XmlEvents::new(&text) {
            let XmlEvent::Open {
                name: "Relationship",
                rest,
            } = event
            else {
                continue;
            };
            let list = attributes(rest);
            let value = |key: &str| {
                list.iter()
                    .find(|(name, _)| name == key)
                    .map(|(_, value)| value.as_str())
                    .unwrap_or_default()
            };
            if value("TargetMode").eq_ignore_ascii_case("External") {
                let kind = value("Type")
                    .rsplit('/')
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                self.external.push(Relation {
                    part: member.path.clone(),
                    kind,
                    target: value("Target").to_owned(),
                });
            }
        }
    }

    fn part(&mut self, path: &str, member: &ArchiveMember) {
        let all = path.starts_with("docprops/") || path.starts_with("customxml/");
        let body = path.starts_with("word/") || path.starts_with("ppt/") || path.starts_with("xl/");
        if !all && !body {
            return;
        }
        let source = String::from_utf8_lossy(&member.bytes);
        let (mut text, mut inside) = (String::new(), "");
        for event in XmlEvents::new(&source) {
            match event {
                XmlEvent::Open { name, rest } => {
                    inside = if rest.trim_end().ends_with('/') {
                        ""
                    } else {
                        name
                    };
                    self.hidden_text |= name == "vanish" || name == "webHidden";
                }
                XmlEvent::Close(name) => {
                    inside = "";
                    if all || matches!(name, "p" | "si" | "row" | "comment") {
                        end_line(&mut text);
                    }
                }
                XmlEvent::Text(words)
                    if matches!(inside, "instrText" | "f") && !words.trim().is_empty() =>
                {
                    self.instructions.push(entities(words));
                }
                XmlEvent::Text(words) if all || matches!(inside, "t" | "delText" | "text") => {
                    text.push_str(&entities(words));
                }
                _ => {}
            }
        }
        if !text.trim().is_empty() {
            self.texts.push((member.path.clone(), text));
        }
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
