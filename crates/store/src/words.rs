//! What a column may hold, as types.
//!
//! The tables check it on the way in; on the way out a word that isn't known, or a number below zero, means that
//! somebody else wrote the row, and it must not be taken for anything of ours.

use rusqlite::Row;
use rusqlite::types::Type;

/// A column's word.
pub(crate) trait Word: Copy + 'static {
    /// All there are.
    const ALL: &'static [Self];

    /// How it is written.
    fn text(self) -> &'static str;
}

/// Reads a word.
pub(crate) fn word<W: Word>(row: &Row<'_>, column: usize) -> rusqlite::Result<W> {
    let text: String = row.get(column)?;
    find(&text, column)
}

/// Reads a word that may be missing.
pub(crate) fn optional_word<W: Word>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<W>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| find(&text, column)).transpose()
}

/// Reads a number that is never below zero.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn find<W: Word>(text: &str, column: usize) -> rusqlite::Result<W> {
    let found = W::ALL.iter().copied().find(|word| word.text() == text);
    found.ok_or_else(|| {
        let problem = format!("the word `{}` is not known", text.escape_debug());
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into())
    })
}
