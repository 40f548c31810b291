//! From rows to the bytes of a file: each column in the codec that makes it smallest.

use super::codec::{self, Foretells, Relation};
use super::directory::{self, Entry};
use super::{ROWS_PER_BYTE_MAX, TABLE_VERSION, strings};
use crate::cells::Cells;
use crate::model::for_each_table;
use crate::table::{ColumnInfo, Table};
use crate::{Strings, TableKind, Tables};

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
