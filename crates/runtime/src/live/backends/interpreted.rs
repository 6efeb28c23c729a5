//! The source text that the interpreters of Starlark and JavaScript get.

use std::collections::BTreeMap;

use metier_catalog::{Snapshot, SnapshotContent};

use super::ActivateError;

/// The maximum size of source text for an interpreter.
const MAX_SOURCES: usize = 1 << 20;

/// The source files of a skill with these extensions, for one of our interpreters.
pub(super) fn sources(
    held: &Snapshot,
    is_source: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, ActivateError> {
    let mut sources = BTreeMap::new();
    let mut size = 0;
    for file in &held.files {
        let path = file.path.as_str().filter(|path| is_source(path));
        let (Some(path), SnapshotContent::Bytes(bytes)) = (path, &file.content) else {
            continue;
        };
        size += bytes.len();
        let text = String::from_utf8(bytes.clone());
        let text = text
            .map_err(|_| ActivateError::Entrypoint(format!("`{}` is not UTF-8 text", file.path)))?;
        sources.insert(path.to_owned(), text);
    }
    if size > MAX_SOURCES {
        let message = format!("its source files exceed {MAX_SOURCES} bytes");
        return Err(ActivateError::Entrypoint(message));
    }
    Ok(sources)
}
