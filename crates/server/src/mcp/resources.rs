//! Files of skills as resources: `skill://NAME/PATH`, for clients that show or read resources.
//!
//! A list names the SKILL.md of each skill, from its card alone; the other files have URIs of the same form. Reading one returns bytes of
//! the skill as it was published as a whole: see [`metier::ExposedSkills`]. A URI is compared with those of the files and never taken apart
//! into a path.

use std::string::FromUtf8Error;

use metier::{
    CurrentSkills, ExposedSkills, SkillResourceFile, model_text::for_model, text::one_line,
};
use rmcp::{
    ErrorData,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};

use super::{
    pages::{self, PageLimits, PageRows},
    replies::{MAX_ANSWER, value},
    server::not_there,
    skill_source::SkillSource,
};

/// The only template.
pub(crate) const TEMPLATE: &str = "skill://{name}/{+path}";

/// How long answers about skills may be kept, in milliseconds: changes are noticed late by as much, unless the client listens for them.
pub(crate) const TTL: u64 = 5_000;

/// How many resources one client can subscribe to.
pub(crate) const MAX_SUBSCRIBED: usize = 1_000;

/// How many resources a page has.
pub(crate) const ROWS: usize = 100;

/// The limits of a page whose rows are in the answer once. Answers of tools contain them twice, as a document and as text.
pub(crate) fn limits() -> PageLimits {
    PageLimits {
        rows: ROWS,
        bytes: MAX_ANSWER - (MAX_ANSWER >> 3),
    }
}

/// The row before a page.
pub(crate) fn after(cursor: Option<&str>) -> Result<Option<String>, ErrorData> {
    let unknown = |_| ErrorData::invalid_params("invalid `cursor`", None);
    cursor.map(pages::key_before).transpose().map_err(unknown)
}

/// A page of resources: the SKILL.md of each skill that can be published.
pub(crate) fn list(
    source: &SkillSource,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let after = after(cursor)?;
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = publisher(&now)?;
    let (mut page, mut listed, mut next) = (PageRows::default(), Vec::new(), None);
    let mut last: Option<String> = None;
    for skill in publisher.candidates_after(after.as_deref().unwrap_or_default()) {
        let name = skill.name().into_owned();
        let Some(uri) = skill.uri() else {
            continue;
        };
        let description = for_model(skill.description()).into_owned();
        let resource = Resource::new(uri, &name)
            .with_description(description)
            .with_mime_type("text/markdown");
        if !page.add(value(&resource), limits()) {
            next = last.as_deref().map(pages::cursor_after);
            break;
        }
        listed.push(resource);
        last = Some(name);
    }
    let mut result = ListResourcesResult::with_all_items(listed);
    result.next_cursor = next;
    Ok(result.with_ttl_ms(TTL))
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "skill-file")
        .with_title("A file of a skill")
        .with_description(
            "A file of a skill by the skill's name and the path of the file below its folder.",
        );
    ListResourceTemplatesResult::with_all_items(vec![template]).with_ttl_ms(TTL)
}

/// The bytes of a file.
pub(crate) fn read(source: &SkillSource, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = publisher(&now)?;
    let none = || {
        ErrorData::resource_not_found(
            format!("there is no resource {}", one_line(uri)),
            Some(serde_json::json!({ "uri": uri })),
        )
    };
    let skill = publisher.candidate_of(uri).ok_or_else(none)?;
    let read = publisher.read(skill, uri);
    let (file, bytes) = read.map_err(|error| not_there(&error))?.ok_or_else(none)?;
    Ok(ReadResourceResult::new(vec![contents(file, bytes)]).with_ttl_ms(TTL))
}

fn contents(file: SkillResourceFile, bytes: Vec<u8>) -> ResourceContents {
    let mime_type = Some(mime_type(&file).to_owned());
    // The same bytes have the same digest on the other side: text that is not UTF-8 can't be given as text.
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::TextResourceContents {
            uri: file.uri,
            mime_type,
            text,
            meta: None,
        },
        other => ResourceContents::BlobResourceContents {
            uri: file.uri,
            mime_type,
            blob: base64(&other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes)),
            meta: None,
        },
    }
}

pub(crate) fn publisher(now: &CurrentSkills) -> Result<&ExposedSkills, ErrorData> {
    now.publisher().map_err(|error| not_there(&error))
}

/// The type of a file by its ending.
pub(crate) fn mime_type(file: &SkillResourceFile) -> &'static str {
    let ending = file
        .path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let known = TYPES
        .iter()
        .find(|(known, _)| Some(*known) == ending.as_deref());
    match known {
        Some((_, kind)) => kind,
        None if file.is_text => "text/plain",
        None => "application/octet-stream",
    }
}

const TYPES: &[(&str, &str)] = &[
    ("md", "text/markdown"),
    ("markdown", "text/markdown"),
    ("txt", "text/plain"),
    ("html", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("js", "text/javascript"),
    ("mjs", "text/javascript"),
    ("ts", "text/x-typescript"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("sh", "application/x-sh"),
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("toml", "application/toml"),
    ("xml", "application/xml"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
    ("wasm", "application/wasm"),
    ("zip", "application/zip"),
];

/// Values for the variables of the template.
pub(crate) fn complete(
    source: &SkillSource,
    variable: &str,
    typed: &str,
    skill: Option<&str>,
) -> Result<Vec<String>, ErrorData> {
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = publisher(&now)?;
    match (variable, skill) {
        ("name", _) => {
            let names = publisher.candidates();
            let names = names.map(|skill| skill.name().into_owned());
            Ok(names.filter(|name| name.starts_with(typed)).collect())
        }
        ("path", Some(name)) => {
            let uri = format!("skill://{name}/");
            let Some(skill) = publisher.candidate_of(&uri) else {
                return Ok(Vec::new());
            };
            let published = publisher
                .publish(skill)
                .map_err(|error| not_there(&error))?;
            let paths = published.files.iter().map(|file| file.path.clone());
            Ok(paths.filter(|path| path.starts_with(typed)).collect())
        }
        ("path", None) => Ok(Vec::new()),
        _ => Err(ErrorData::invalid_params(
            format!("the template has no variable `{}`", one_line(variable)),
            None,
        )),
    }
}

/// Bytes in the alphabet of RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
