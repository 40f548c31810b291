//! Rules of intervals, tasks, claims and system calls.

use super::processes::forward;
use super::{Invalid, Rule};
use crate::{TableKind, Tables};

/// An interval has an edge, and does not run backwards.
pub(super) fn intervals_run_forward(tables: &Tables) -> Result<(), Invalid> {
    let intervals = &tables.intervals;
    has_edge(TableKind::Intervals, &intervals.start_ns, &intervals.end_ns)?;
    forward(TableKind::Intervals, "end_ns", intervals.start_ns.iter().copied(), &intervals.end_ns)
}

/// A system call has an edge, and does not run backwards.
pub(super) fn syscalls_run_forward(tables: &Tables) -> Result<(), Invalid> {
    let syscalls = &tables.syscalls;
    has_edge(TableKind::Syscalls, &syscalls.start_ns, &syscalls.end_ns)?;
    forward(TableKind::Syscalls, "end_ns", syscalls.start_ns.iter().copied(), &syscalls.end_ns)
}

fn has_edge(table: TableKind, starts: &[Option<u64>], ends: &[Option<u64>]) -> Result<(), Invalid> {
    match starts.iter().zip(ends).position(|(start, end)| start.is_none() && end.is_none()) {
        None => Ok(()),
        Some(row) => Err(Invalid::cell(table, row, "start_ns", Rule::NoEdge)),
    }
}

/// A task is last seen after it is first seen.
pub(super) fn tasks_run_forward(tables: &Tables) -> Result<(), Invalid> {
    for (id, task) in tables.tasks.iter() {
        if task.last_seen_ns < task.first_seen_ns {
            let rule = Rule::Backwards { from: task.first_seen_ns, until: task.last_seen_ns };
            return Err(Invalid::cell(TableKind::Tasks, id.index(), "last_seen_ns", rule));
        }
    }
    Ok(())
}

/// Claims ascend by sample and task, so none is made twice.
pub(super) fn claims_ascend(tables: &Tables) -> Result<(), Invalid> {
    let claims = &tables.claims;
    let keys = claims.sample.iter().zip(&claims.task);
    match keys.clone().zip(keys.skip(1)).position(|(before, after)| after <= before) {
        None => Ok(()),
        Some(row) => {
            let rule = Rule::Unsorted { by: "sample, task" };
            Err(Invalid::cell(TableKind::Claims, row + 1, "sample", rule))
        }
    }
}
