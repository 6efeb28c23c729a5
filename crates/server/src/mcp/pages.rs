//! Lists that are returned page by page.
//!
//! A cursor is the place after a returned row, so a page continues where the last one ended even if rows were added or removed since. To a
//! client it is opaque.

use serde_json::Value;

/// A cursor that no list returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownCursor;

/// How each cursor begins: the form of what follows.
const FORM: &str = "m1-";

/// The cursor after a row with this key.
pub(crate) fn cursor_after(key: &str) -> String {
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("{FORM}{hex}")
}

/// The key of the last row before a cursor.
///
/// # Errors
/// When the text is not a cursor.
pub(crate) fn key_before(cursor: &str) -> Result<String, UnknownCursor> {
    let hex = cursor.strip_prefix(FORM).ok_or(UnknownCursor)?;
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(UnknownCursor);
    }
    let digits = hex.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    String::from_utf8(bytes.ok_or(UnknownCursor)?).map_err(|_| UnknownCursor)
}

/// The key of a row at a position, for a list whose order is not that of its keys: the position itself.
pub(crate) fn cursor_at(position: usize) -> String {
    cursor_after(&position.to_string())
}

/// The position of [`cursor_at`].
///
/// # Errors
/// When the text is not such a cursor.
pub(crate) fn position_of(cursor: Option<&str>) -> Result<usize, UnknownCursor> {
    match cursor {
        None => Ok(0),
        Some(cursor) => key_before(cursor)?.parse().map_err(|_| UnknownCursor),
    }
}

/// How large a page can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLimits {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

/// The rows of a page so far. A row is whole or on the next page; the first one is always taken.
#[derive(Default)]
pub(crate) struct PageRows {
    pub(crate) rows: Vec<Value>,
    bytes: usize,
}

impl PageRows {
    /// Adds a row; whether the page has room for it.
    pub(crate) fn add(&mut self, row: Value, limits: PageLimits) -> bool {
        let bytes = row.to_string().len() + 1;
        let is_full = self.rows.len() >= limits.rows || self.bytes + bytes > limits.bytes;
        if is_full && !self.rows.is_empty() {
            return false;
        }
        self.bytes += bytes;
        self.rows.push(row);
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_key() {
        for key in ["", "pdf", "ü \0/"] {
            assert_eq!(key_before(&cursor_after(key)).as_deref(), Ok(key));
        }
        assert_eq!(position_of(Some(&cursor_at(7))), Ok(7));
        assert_eq!(position_of(None), Ok(0));
    }

    #[test]
    fn other_texts_are_no_cursors() {
        for text in ["", "7", "m1", "m1-0", "m1-zz", "m1-ff", "M1-37", "m1-€€"] {
            assert_eq!(key_before(text), Err(UnknownCursor), "{text}");
        }
        assert_eq!(position_of(Some("m1-7a")), Err(UnknownCursor));
    }

    #[test]
    fn a_page_has_at_least_one_row() {
        let (mut page, limits) = (PageRows::default(), PageLimits { rows: 2, bytes: 10 });
        assert!(page.add(json!("a row of more than ten bytes"), limits));
        assert!(!page.add(json!(1), limits));
    }
}
