//! The capture file: [`Capture::read`] and [`Capture::to_bytes`]. The format is in `docs/capture-format.md`.
//!
//! A file is a directory of tables; a table is its columns, each in the codec that makes it smallest.
//! Files are read, not mapped: nothing changes under a reader. Every length is a claim until it was
//! compared with the bytes that are there, so opening takes at most about 1,100 times the file's length
//! of memory (compressed text; other tables at most 600 times: a row takes at least one bit).

mod bytes;
pub(crate) mod codec;
mod directory;
mod error;
mod strings;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub use error::{DecodeError, OpenError};

use crate::cells::Cells;
use crate::model::for_each_table;
use crate::table::{ColumnInfo, Table};
use crate::validate::ROWS_MAX;
use crate::{Capture, Strings, TableKind, Tables};
pub(crate) use bytes::Reader;
use codec::{Encoded, Foretells, Relation};
use directory::Entry;

/// The longest file that is read.
pub const FILE_BYTES_MAX: u64 = 8 << 30;

/// The version that every table has today.
const TABLE_VERSION: u16 = 1;

/// Fewer bits than this a row are padded with zeros, so that a row count is bounded by what is there.
const ROWS_PER_BYTE_MAX: usize = 8;

impl Capture {
    /// Reads and validates a capture.
    pub fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        Ok(Self::validate(decode(bytes)?)?)
    }

    /// Reads and validates a capture file.
    pub fn read_file(path: &Path) -> Result<Self, OpenError> {
        Self::read(&read_regular(path)?)
    }

    /// The file's bytes. Equal captures give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Writes the file's bytes. To put a file in its place whole or not at all, see [`crate::publish`].
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.to_bytes())
    }
}

/// Whether bytes begin as a capture does.
#[must_use]
pub fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&directory::MAGIC)
}

/// The bytes of a regular file that is not too long.
fn read_regular(path: &Path) -> Result<Vec<u8>, OpenError> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(OpenError::NotRegular);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > FILE_BYTES_MAX {
        return Err(OpenError::TooLarge { bytes: length, max: FILE_BYTES_MAX });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Encodes rows, valid or not. Empty tables are left out.
pub(crate) fn encode(tables: &Tables) -> Vec<u8> {
    let mut encoded = vec![(TableKind::Strings, 1, tables.strings.len(), encode_strings(&tables.strings))];
    macro_rules! encode_each {
        ($($field:ident: $type:ty,)*) => {$(
            if !Table::is_empty(&tables.$field) {
                let table = &tables.$field;
                encoded.push((<$type>::KIND, <$type>::COLUMNS.len(), Table::len(table), encode_table(table)));
            }
        )*};
    }
    for_each_table!(encode_each);
    let entries: Vec<Entry<'_>> = encoded
        .iter()
        .map(|(kind, columns, rows, bytes)| Entry {
            kind: *kind as u16,
            flags: if is_optional(*kind) { 0 } else { directory::REQUIRED },
            version: TABLE_VERSION,
            columns: *columns as u16,
            rows: *rows as u64,
            bytes,
        })
        .collect();
    directory::write(&entries)
}

/// Whether a reader that does not know the table may go on without it.
const fn is_optional(kind: TableKind) -> bool {
    matches!(kind, TableKind::SourceTexts | TableKind::Failures)
}

fn encode_strings(strings: &Strings) -> Vec<u8> {
    let mut out = strings::encode(strings);
    pad(&mut out, strings.len());
    out
}

fn encode_table<T: Table>(table: &T) -> Vec<u8> {
    let mut out = Vec::new();
    let columns: Vec<Vec<u64>> = table.columns().into_iter().map(cells_of).collect();
    for (cells, info) in columns.iter().zip(T::COLUMNS) {
        let others = columns.iter().zip(T::COLUMNS).enumerate();
        let foretelling: Vec<Foretells<'_>> = others
            .filter_map(|(at, (cells, other))| Some((at, cells.as_slice(), relation(info, other)?)))
            .collect();
        codec::encode(cells, &foretelling, &mut out);
    }
    pad(&mut out, table.len());
    out
}

/// What one column of a table may say of another. A matter of size only: the file names the columns.
fn relation(of: &ColumnInfo, other: &ColumnInfo) -> Option<Relation> {
    match (of.name, other.name) {
        ("time_ns", "cpu" | "thread") | ("thread", "cpu") | ("file", "function") => Some(Relation::Groups),
        ("frame", "parent") => Some(Relation::Parents),
        _ => None,
    }
}

fn cells_of(column: &dyn Cells) -> Vec<u64> {
    let mut cells = vec![0; column.count()];
    column.copy(0, &mut cells);
    cells
}

/// Appends zeros until the rows are no more than the bytes allow.
fn pad(out: &mut Vec<u8>, rows: usize) {
    out.resize(out.len().max(rows.div_ceil(ROWS_PER_BYTE_MAX)), 0);
}

/// Decodes rows that are not validated yet.
pub(crate) fn decode(bytes: &[u8]) -> Result<Tables, OpenError> {
    let mut tables = Tables::default();
    for entry in directory::read(bytes)? {
        decode_entry(&entry, &mut tables)?;
    }
    Ok(tables)
}

fn decode_entry(entry: &Entry<'_>, tables: &mut Tables) -> Result<(), OpenError> {
    macro_rules! decode_each {
        ($($field:ident: $type:ty,)*) => {
            match entry.kind {
                kind if kind == TableKind::Strings as u16 => decode_strings(entry, tables),
                $(kind if kind == <$type>::KIND as u16 => decode_table(entry, &mut tables.$field),)*
                code if entry.flags & directory::REQUIRED != 0 => Err(OpenError::UnknownRequired { code }),
                _ => Ok(()),
            }
        };
    }
    for_each_table!(decode_each)
}

fn decode_strings(entry: &Entry<'_>, tables: &mut Tables) -> Result<(), OpenError> {
    let rows = checked_rows(entry, TableKind::Strings, 1)?;
    let mut reader = Reader::new(entry.bytes);
    let bad = |source| OpenError::BadColumn { table: TableKind::Strings, column: "text", source };
    tables.strings = strings::decode(&mut reader, rows).map_err(bad)?;
    check_padding(&reader).map_err(bad)
}

fn decode_table<T: Table>(entry: &Entry<'_>, table: &mut T) -> Result<(), OpenError> {
    let rows = checked_rows(entry, T::KIND, T::COLUMNS.len())?;
    let mut reader = Reader::new(entry.bytes);
    let bad = |at: usize| {
        let column = T::COLUMNS.get(at).map_or("padding", |info| info.name);
        move |source| OpenError::BadColumn { table: T::KIND, column, source }
    };
    let encoded = (0..T::COLUMNS.len()).map(|at| Encoded::take(&mut reader).map_err(bad(at)));
    let encoded: Vec<Encoded<'_>> = encoded.collect::<Result<_, _>>()?;
    check_padding(&reader).map_err(bad(usize::MAX))?;
    let mut columns = table.columns_mut();
    for at in decoding_order(&encoded) {
        decode_column(&encoded, at, rows, &mut columns).map_err(bad(at))?;
    }
    Ok(())
}

/// Columns in an order in which those that foretell others come before them. Columns that foretell each
/// other come last, where decoding refuses them.
fn decoding_order(encoded: &[Encoded<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(encoded.len());
    loop {
        let ready = |at: &usize| {
            !order.contains(at) && encoded[*at].foretold_by().is_none_or(|other| order.contains(&other))
        };
        match (0..encoded.len()).find(ready) {
            Some(at) => order.push(at),
            None => break,
        }
    }
    let left: Vec<usize> = (0..encoded.len()).filter(|at| !order.contains(at)).collect();
    order.into_iter().chain(left).collect()
}

fn decode_column(
    encoded: &[Encoded<'_>],
    at: usize,
    rows: usize,
    columns: &mut [&mut dyn Cells],
) -> Result<(), DecodeError> {
    let Some(other) = encoded[at].foretold_by() else {
        columns[at].reserve(rows);
        return encoded[at].decode(rows, None, &mut columns[at]);
    };
    let [column, other] = columns.get_disjoint_mut([at, other]).map_err(|_| DecodeError::BadGroup)?;
    column.reserve(rows);
    encoded[at].decode(rows, Some(&**other), column)
}

/// The rows of an entry, once its version, columns and bytes allow them.
fn checked_rows(entry: &Entry<'_>, table: TableKind, expected: usize) -> Result<usize, OpenError> {
    if entry.version != TABLE_VERSION {
        return Err(OpenError::UnknownTableVersion { table, found: entry.version, known: TABLE_VERSION });
    }
    if usize::from(entry.columns) != expected {
        return Err(OpenError::WrongColumns { table, expected, found: usize::from(entry.columns) });
    }
    let bytes = entry.bytes.len();
    let rows = usize::try_from(entry.rows).ok();
    rows.filter(|rows| *rows <= bytes.saturating_mul(ROWS_PER_BYTE_MAX).min(ROWS_MAX))
        .ok_or(OpenError::TooManyRows { table, rows: entry.rows, bytes })
}

/// What is left of a table is padding: zeros.
fn check_padding(rest: &Reader<'_>) -> Result<(), DecodeError> {
    let left = rest.clone().take(rest.remaining())?;
    if left.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(DecodeError::LeftOver(left.len())) }
}

/// The name of a kind code in messages.
fn table_name(code: u16) -> &'static str {
    TableKind::from_code(code).map_or("a table that is not known", TableKind::name)
}

#[cfg(test)]
mod tests;
