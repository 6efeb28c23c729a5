//! The extension `io.modelcontextprotocol/skills`: whole skills for a host that keeps, verifies and loads them itself.
//!
//! An entry has the frontmatter as its author wrote it and every file with its digest and size. The files are read as resources. Which skills are published is
//! decided by [`metier::ExposedSkills`].

use std::collections::BTreeMap;

use metier::{ExposedSkills, text::one_line};
use metier_wire::skill_entry;
use rmcp::{ErrorData, model::JsonObject};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    pages::{self, PageLimits, PageRows},
    replies::MAX_ANSWER,
    resources,
    server::not_there,
    skill_source::SkillSource,
};

/// The name of the extension.
pub(crate) const ID: &str = "io.modelcontextprotocol/skills";

/// How many skills a page has, and how many are read and scanned for it.
const ROWS: usize = 50;
const LOOKED_AT: usize = 200;

/// The type of a folder.
const FOLDER: &str = "inode/directory";

/// The abilities of the server besides listing skills and returning one.
pub(crate) fn settings() -> JsonObject {
    let mut settings = JsonObject::new();
    settings.insert("directoryRead".to_owned(), true.into());
    settings
}

/// Parameters that name something, or a page of it. Fields of the protocol itself are allowed.
#[derive(Default, Deserialize)]
struct ExtensionParams {
    uri: Option<String>,
    cursor: Option<String>,
}

fn parse(params: &Value) -> Result<ExtensionParams, ErrorData> {
    if params.is_null() {
        return Ok(ExtensionParams::default());
    }
    let parsed = ExtensionParams::deserialize(params);
    parsed.map_err(|error| {
        ErrorData::invalid_params(format!("the parameters are invalid: {error}"), None)
    })
}

fn uri_of(params: ExtensionParams) -> Result<String, ErrorData> {
    params
        .uri
        .ok_or_else(|| ErrorData::invalid_params("the parameter `uri` is missing", None))
}

/// `skills/list`
pub(crate) fn list(source: &SkillSource, params: &Value) -> Result<Value, ErrorData> {
    let after = resources::after(parse(params)?.cursor.as_deref())?;
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = resources::publisher(&now)?;
    let limits = PageLimits {
        rows: ROWS,
        bytes: MAX_ANSWER - (MAX_ANSWER >> 3),
    };
    let (mut page, mut last, mut has_more) = (PageRows::default(), None, false);
    let left = publisher.candidates_after(after.as_deref().unwrap_or_default());
    for (looked_at, skill) in left.enumerate() {
        if looked_at >= LOOKED_AT {
            has_more = true;
            break;
        }
        // A skill that can't be published is not in the list; `skills/get` reports the reason.
        if let Ok(published) = publisher.publish(skill)
            && !page.add(skill_entry(&published), limits)
        {
            has_more = true;
            break;
        }
        last = Some(skill.name().into_owned());
    }
    let mut result = cached(json!({ "skills": page.rows }));
    if let (true, Some(last)) = (has_more, last) {
        result["nextCursor"] = pages::cursor_after(&last).into();
    }
    Ok(result)
}

/// `skills/get`
pub(crate) fn get(source: &SkillSource, params: &Value) -> Result<Value, ErrorData> {
    let uri = uri_of(parse(params)?)?;
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = resources::publisher(&now)?;
    let none =
        || ErrorData::invalid_params(format!("no skill is served at {}", one_line(&uri)), None);
    let not_published = || {
        publisher
            .objection(&uri)
            .as_ref()
            .map_or_else(none, not_there)
    };
    let skill = publisher.candidate_of(&uri).ok_or_else(not_published)?;
    if skill.uri().as_deref() != Some(&uri) {
        return Err(none());
    }
    let published = publisher
        .publish(skill)
        .map_err(|error| not_there(&error))?;
    Ok(cached(json!({ "skill": skill_entry(&published) })))
}

/// `resources/directory/read`
pub(crate) fn read_directory(source: &SkillSource, params: &Value) -> Result<Value, ErrorData> {
    let params = parse(params)?;
    let after = resources::after(params.cursor.as_deref())?;
    let uri = uri_of(params)?;
    let now = source.now().map_err(|error| not_there(&error))?;
    let publisher = resources::publisher(&now)?;
    let children = children(publisher, &uri)?;
    let (mut page, mut last, mut next) = (PageRows::default(), None, None);
    for (name, child) in children {
        if after.as_ref().is_some_and(|after| name <= *after) {
            continue;
        }
        if !page.add(child, resources::limits()) {
            next = last;
            break;
        }
        last = Some(name);
    }
    let mut result = json!({ "resultType": "complete", "resources": page.rows });
    if let Some(last) = next {
        result["nextCursor"] = pages::cursor_after(&last).into();
    }
    Ok(result)
}

/// The direct children of a folder, by name.
fn children(publisher: &ExposedSkills, uri: &str) -> Result<BTreeMap<String, Value>, ErrorData> {
    let none = || {
        ErrorData::invalid_params(
            format!("{} is not a directory resource", one_line(uri)),
            None,
        )
    };
    let skill = publisher.candidate_of(uri).ok_or_else(none)?;
    let published = publisher
        .publish(skill)
        .map_err(|error| not_there(&error))?;
    let mut children = BTreeMap::new();
    for file in &published.files {
        let Some(below) = file
            .uri
            .strip_prefix(uri)
            .and_then(|rest| rest.strip_prefix('/'))
        else {
            continue;
        };
        // Paths and their URIs have the same number of parts.
        let depth = file.uri.split('/').count() - below.split('/').count() - 3;
        let Some(name) = file.path.split('/').nth(depth) else {
            continue;
        };
        let row = match below.split_once('/') {
            Some((folder, _)) => {
                json!({ "uri": format!("{uri}/{folder}"), "name": name, "mimeType": FOLDER })
            }
            None => json!({
                "uri": file.uri, "name": name, "mimeType": resources::mime_type(file), "size": file.size
            }),
        };
        children.insert(name.to_owned(), row);
    }
    match children.is_empty() {
        // A folder without files is not part of a skill.
        true => Err(none()),
        false => Ok(children),
    }
}

/// A complete result that a host may keep for a while.
fn cached(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = resources::TTL.into();
    result["cacheScope"] = "private".into();
    result
}
