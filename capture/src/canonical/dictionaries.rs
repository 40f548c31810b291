//! Sorts what other rows refer to, each table after those it refers to itself.

use super::{merged, processes, sort_unique, stacks};
use crate::table::Table;
use crate::{Strings, TableKind, Tables};

pub(super) fn sort(tables: &mut Tables) {
    sort_strings(tables);
    sort_table(tables, |tables| &mut tables.files);
    sort_table(tables, |tables| &mut tables.modules);
    sort_table(tables, |tables| &mut tables.functions);
    sort_table(tables, |tables| &mut tables.frames);
    stacks::sort(tables);
    processes::sort(tables);
    sort_table(tables, |tables| &mut tables.threads);
    sort_table(tables, |tables| &mut tables.measures);
    sort_table(tables, |tables| &mut tables.snapshots);
    sort_table(tables, |tables| &mut tables.tasks);
    sort_table(tables, |tables| &mut tables.probe_sites);
}

fn sort_table<T: Table>(tables: &mut Tables, table: fn(&mut Tables) -> &mut T) {
    let numbers = sort_unique(table(tables));
    tables.renumber(T::KIND, &numbers);
}

fn sort_strings(tables: &mut Tables) {
    let texts: Vec<&str> = tables.strings.iter().collect();
    let mut order: Vec<u32> = (0..u32::try_from(texts.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by_key(|row| texts[*row as usize]);
    let (kept, numbers) = merged(&order, |a, b| texts[a as usize] == texts[b as usize]);
    let mut strings = Strings::default();
    for row in kept.iter().filter(|row| !texts[**row as usize].is_empty()) {
        strings.push(texts[*row as usize]);
    }
    tables.strings = strings;
    tables.renumber(TableKind::Strings, &numbers);
}
