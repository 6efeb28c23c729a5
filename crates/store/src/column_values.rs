//! The values that columns can contain, as types.
//!
//! The tables check them on writing; on reading, an unknown word or a negative number means that another program
//! wrote the row, and it must not be accepted.

use rusqlite::Row;
use rusqlite::types::Type;

/// A type that a column stores as a word.
pub(crate) trait ColumnValue: Copy + 'static {
    /// All values of the type.
    const ALL: &'static [Self];

    /// The word in the database.
    fn text(self) -> &'static str;
}

/// Reads a column as a word of this type.
pub(crate) fn word<W: ColumnValue>(row: &Row<'_>, column: usize) -> rusqlite::Result<W> {
    let text: String = row.get(column)?;
    find(&text, column)
}

/// Reads a column that contains a word or NULL.
pub(crate) fn optional_word<W: ColumnValue>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<W>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| find(&text, column)).transpose()
}

/// Reads a number that must not be negative.
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn find<W: ColumnValue>(text: &str, column: usize) -> rusqlite::Result<W> {
    let found = W::ALL.iter().copied().find(|word| word.text() == text);
    found.ok_or_else(|| {
        let problem = format!("unknown word `{}`", text.escape_debug());
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into())
    })
}
