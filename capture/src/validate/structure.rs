//! What must hold before any id is followed: lengths, counts, ids in range, earlier rows first.

use super::{Invalid, Rule};
use crate::model::for_each_table;
use crate::table::{ColumnInfo, Table};
use crate::{Column, Tables};

/// The most rows of one table. Leaves room above, so that a row number plus one never overflows 32 bits.
pub const ROWS_MAX: usize = 1 << 30;

/// Checks lengths, counts, ids and trees of all tables.
pub(crate) fn check(tables: &Tables) -> Result<(), Invalid> {
    macro_rules! check_each {
        ($($field:ident: $type:ty,)*) => {$( check_table(tables, &tables.$field)?; )*};
    }
    check_rows(tables.strings.len(), crate::TableKind::Strings)?;
    for_each_table!(check_each);
    named_frames_have_strings(tables)?;
    parents_precede(tables)
}

fn check_table<T: Table>(tables: &Tables, table: &T) -> Result<(), Invalid> {
    let columns = table.columns();
    let rows = columns.first().map_or(0, |column| column.count());
    check_rows(rows, T::KIND)?;
    for (column, info) in columns.iter().zip(T::COLUMNS) {
        if column.count() != rows {
            let rule = Rule::ColumnLength { expected: rows, found: column.count() };
            return Err(Invalid { table: T::KIND, row: None, column: info.name, rule });
        }
        if let Some(row) = column.unstorable() {
            return Err(Invalid::cell(T::KIND, row, info.name, Rule::Unstorable));
        }
        check_ids::<T>(tables, *column, info)?;
    }
    Ok(())
}

fn check_rows(rows: usize, table: crate::TableKind) -> Result<(), Invalid> {
    if rows <= ROWS_MAX {
        return Ok(());
    }
    Err(Invalid { table, row: None, column: "", rule: Rule::TooManyRows { rows, max: ROWS_MAX } })
}

/// Checks that every id of a column names a row of the table it refers to.
fn check_ids<T: Table>(
    tables: &Tables,
    column: &dyn crate::cells::Cells,
    info: &ColumnInfo,
) -> Result<(), Invalid> {
    let Some(target) = info.refers_to else { return Ok(()) };
    let rows = tables.rows(target);
    let absent = u64::from(info.optional);
    let limit = rows as u64 + absent;
    if column.largest().is_none_or(|largest| largest < limit) {
        return Ok(());
    }
    let (row, cell) = first_beyond(column, limit);
    Err(Invalid::cell(T::KIND, row, info.name, Rule::NoSuchRow { target, number: cell - absent, rows }))
}

/// The first cell that is not below `limit`, when one is known to be.
fn first_beyond(column: &dyn crate::cells::Cells, limit: u64) -> (usize, u64) {
    let mut cell = [0];
    (0..column.count())
        .find_map(|row| (column.copy(row, &mut cell) == 1 && cell[0] >= limit).then_some((row, cell[0])))
        .unwrap_or((0, limit))
}

/// A named frame's address is the id of a string.
fn named_frames_have_strings(tables: &Tables) -> Result<(), Invalid> {
    let rows = tables.strings.len();
    for (row, (kind, address)) in tables.frames.kind.iter().zip(&tables.frames.address).enumerate() {
        if kind.is_named() && *address >= rows as u64 {
            let rule = Rule::NoSuchRow { target: crate::TableKind::Strings, number: *address, rows };
            return Err(Invalid::cell(crate::TableKind::Frames, row, "address", rule));
        }
    }
    Ok(())
}

/// Rows that form trees refer to earlier rows only, so no walk along them can go round.
fn parents_precede(tables: &Tables) -> Result<(), Invalid> {
    earlier(&tables.stacks, "parent", &tables.stacks.parent)?;
    earlier(&tables.processes, "parent", &tables.processes.parent)?;
    earlier(&tables.processes, "exec_of", &tables.processes.exec_of)
}

fn earlier<T: Table, Id: Column>(_: &T, column: &'static str, ids: &[Option<Id>]) -> Result<(), Invalid> {
    match ids.iter().enumerate().find(|(row, id)| id.to_bits() > *row as u64) {
        None => Ok(()),
        Some((row, id)) => {
            let number = usize::try_from(id.to_bits()).unwrap_or(usize::MAX) - 1;
            Err(Invalid::cell(T::KIND, row, column, Rule::NotEarlier { number }))
        }
    }
}
