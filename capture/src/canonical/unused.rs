//! Drops dictionary rows that nothing refers to, from the top down: stacks, facts, frames, functions,
//! source texts, files, modules, strings.

use crate::cells::Cells;
use crate::model::for_each_table;
use crate::table::Table;
use crate::{Strings, TableKind, Tables};

pub(super) fn drop_unused(tables: &mut Tables) {
    drop_stacks(tables);
    drop_frames(tables);
    drop_rows(tables, |tables| &mut tables.functions);
    drop_files(tables);
    drop_rows(tables, |tables| &mut tables.modules);
    drop_strings(tables);
}

/// A stack is used by rows that name it and by the stacks called from it.
fn drop_stacks(tables: &mut Tables) {
    let mut used = used_rows(tables, TableKind::Stacks, Some(TableKind::Stacks));
    for row in (0..used.len()).rev() {
        if let Some(parent) = tables.stacks.parent[row].filter(|_| used[row]) {
            used[parent.index()] = true;
        }
    }
    keep(tables, |tables| &mut tables.stacks, &used);
}

/// Facts alone do not make a frame used: they go with it.
fn drop_frames(tables: &mut Tables) {
    let used = used_rows(tables, TableKind::Frames, Some(TableKind::Facts));
    let facts: Vec<bool> = tables.facts.frame.iter().map(|frame| used[frame.index()]).collect();
    keep(tables, |tables| &mut tables.facts, &facts);
    keep(tables, |tables| &mut tables.frames, &used);
}

/// A source text alone does not make a file used: it goes with it.
fn drop_files(tables: &mut Tables) {
    let used = used_rows(tables, TableKind::Files, Some(TableKind::SourceTexts));
    let texts: Vec<bool> = tables.source_texts.file.iter().map(|file| used[file.index()]).collect();
    keep(tables, |tables| &mut tables.source_texts, &texts);
    keep(tables, |tables| &mut tables.files, &used);
}

fn drop_strings(tables: &mut Tables) {
    let mut used = used_rows(tables, TableKind::Strings, None);
    for (kind, address) in tables.frames.kind.iter().zip(&tables.frames.address) {
        if let Some(used) = used.get_mut(usize::try_from(*address).unwrap_or(usize::MAX))
            && kind.is_named()
        {
            *used = true;
        }
    }
    used[0] = true;
    if used.iter().all(|used| *used) {
        return;
    }
    let (mut strings, mut numbers) = (Strings::default(), vec![0; used.len()]);
    for (row, text) in tables.strings.iter().enumerate().skip(1).filter(|(row, _)| used[*row]) {
        numbers[row] = strings.push(text).get();
    }
    tables.strings = strings;
    tables.renumber(TableKind::Strings, &numbers);
}

fn drop_rows<T: Table>(tables: &mut Tables, table: fn(&mut Tables) -> &mut T) {
    let used = used_rows(tables, T::KIND, None);
    keep(tables, table, &used);
}

/// Keeps the used rows of a table, in their order.
fn keep<T: Table>(tables: &mut Tables, table: fn(&mut Tables) -> &mut T, used: &[bool]) {
    if used.iter().all(|used| *used) {
        return;
    }
    let (mut kept, mut numbers) = (Vec::new(), vec![0; used.len()]);
    for (row, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        numbers[row] = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        kept.push(u32::try_from(row).unwrap_or(u32::MAX));
    }
    let rows = table(tables);
    *rows = rows.gather(&kept);
    tables.renumber(T::KIND, &numbers);
}

/// Which rows of `kind` any table refers to, but for one table whose references do not count.
fn used_rows(tables: &Tables, kind: TableKind, but: Option<TableKind>) -> Vec<bool> {
    let mut used = vec![false; tables.rows(kind)];
    macro_rules! mark_each {
        ($($field:ident: $type:ty,)*) => {$(
            if but != Some(<$type as Table>::KIND) {
                mark_table(&tables.$field, kind, &mut used);
            }
        )*};
    }
    for_each_table!(mark_each);
    used
}

fn mark_table<T: Table>(table: &T, kind: TableKind, used: &mut [bool]) {
    for (column, info) in table.columns().into_iter().zip(T::COLUMNS) {
        if info.refers_to == Some(kind) {
            mark_cells(column, u64::from(info.optional), used);
        }
    }
}

fn mark_cells(column: &dyn Cells, absent: u64, used: &mut [bool]) {
    let mut block = [0; 1024];
    let mut from = 0;
    while from < column.count() {
        let count = column.copy(from, &mut block);
        for number in block.iter().take(count).filter_map(|cell| cell.checked_sub(absent)) {
            if let Some(used) = used.get_mut(usize::try_from(number).unwrap_or(usize::MAX)) {
                *used = true;
            }
        }
        from += count;
    }
}
