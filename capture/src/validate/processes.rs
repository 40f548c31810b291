//! Rules of processes, threads and mappings.

use super::{Invalid, Rule};
use crate::{TableKind, Tables};

/// A process row that replaced another by exec has the same pid.
pub(super) fn exec_keeps_the_pid(tables: &Tables) -> Result<(), Invalid> {
    for (id, process) in tables.processes.iter() {
        let before = process.exec_of.map(|before| tables.processes.pid[before.index()]);
        if let Some(expected) = before.filter(|pid| *pid != process.pid) {
            let rule = Rule::OtherPid { expected, found: process.pid };
            return Err(Invalid::cell(TableKind::Processes, id.index(), "exec_of", rule));
        }
    }
    Ok(())
}

/// Processes end after they start.
pub(super) fn processes_end_after_they_start(tables: &Tables) -> Result<(), Invalid> {
    let starts = tables.processes.start_ns.iter().copied().map(Some);
    forward(TableKind::Processes, "end_ns", starts, &tables.processes.end_ns)
}

/// Threads end after they start.
pub(super) fn threads_end_after_they_start(tables: &Tables) -> Result<(), Invalid> {
    let starts = tables.threads.start_ns.iter().copied().map(Some);
    forward(TableKind::Threads, "end_ns", starts, &tables.threads.end_ns)
}

/// A mapping's end address is above its start.
pub(super) fn mappings_hold_addresses(tables: &Tables) -> Result<(), Invalid> {
    for (id, mapping) in tables.mappings.iter() {
        if mapping.end_address <= mapping.start_address {
            let rule = Rule::EmptyRange { start: mapping.start_address, end: mapping.end_address };
            return Err(Invalid::cell(TableKind::Mappings, id.index(), "end_address", rule));
        }
    }
    Ok(())
}

/// Mappings end after they become valid.
pub(super) fn mappings_end_after_they_begin(tables: &Tables) -> Result<(), Invalid> {
    let starts = tables.mappings.valid_from_ns.iter().copied().map(Some);
    forward(TableKind::Mappings, "valid_until_ns", starts, &tables.mappings.valid_until_ns)
}

/// Where both a start and an end are known, the end is not before the start.
pub(super) fn forward(
    table: TableKind,
    column: &'static str,
    starts: impl IntoIterator<Item = Option<u64>>,
    ends: &[Option<u64>],
) -> Result<(), Invalid> {
    for (row, range) in starts.into_iter().zip(ends).enumerate() {
        if let (Some(from), Some(until)) = range
            && *until < from
        {
            return Err(Invalid::cell(table, row, column, Rule::Backwards { from, until: *until }));
        }
    }
    Ok(())
}
