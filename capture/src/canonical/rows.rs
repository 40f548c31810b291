//! Sorts the rows that nothing refers to, and the samples.
//!
//! The order is that of the cells from left to right, but for tables whose readers go by thread and time.

use super::sorted;
use crate::table::Table;
use crate::{TableKind, Tables};

pub(super) fn sort(tables: &mut Tables) {
    sort_samples(tables);
    by_cells(&mut tables.mappings);
    by_cells(&mut tables.facts);
    by_cells(&mut tables.waits);
    by_cells(&mut tables.claims);
    by_cells(&mut tables.counters);
    by_cells(&mut tables.marks);
    by_cells(&mut tables.rate_changes);
    by_cells(&mut tables.duty_changes);
    by_cells(&mut tables.losses);
    by_cells(&mut tables.failures);
    by_cells(&mut tables.settings);
    by_cells(&mut tables.source_texts);
    sort_by_thread_and_time(tables);
}

/// By thread, then the first edge seen. Probe records of one thread and time keep their order: it says
/// whether a zone ended and began again, or began and ended.
fn sort_by_thread_and_time(tables: &mut Tables) {
    by_key(&mut tables.intervals, |row| (row.thread, row.start_ns.or(row.end_ns), row));
    by_key(&mut tables.syscalls, |row| (row.thread, row.start_ns.or(row.end_ns), row));
    by_key(&mut tables.label_spans, |row| (row.thread, row.start_ns, row));
    by_key(&mut tables.probe_records, |row| (row.thread, row.time_ns));
}

fn sort_samples(tables: &mut Tables) {
    let samples = &tables.samples;
    if (1..samples.len()).all(|row| samples.row_at(row - 1) <= samples.row_at(row)) {
        return;
    }
    let order = sorted(samples, |samples, row| samples.row_at(row as usize));
    let mut numbers = vec![0; order.len()];
    for (number, row) in (0..).zip(&order) {
        numbers[*row as usize] = number;
    }
    tables.samples = samples.gather(&order);
    tables.renumber(TableKind::Samples, &numbers);
}

fn by_cells<T: Table>(table: &mut T) {
    by_key(table, |row| row);
}

fn by_key<T: Table, K: Ord>(table: &mut T, key: impl Fn(T::Row) -> K) {
    if (1..table.len()).all(|row| key(table.row_at(row - 1)) <= key(table.row_at(row))) {
        return;
    }
    let order = sorted(table, |table, row| key(table.row_at(row as usize)));
    *table = table.gather(&order);
}
