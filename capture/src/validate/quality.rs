//! Rules of duty, losses and failures.

use super::labels::threads_of_their_process;
use super::{Invalid, Rule};
use crate::{TableKind, Tables};

const WHOLE_PPM: u32 = 1_000_000;

/// Duty is a share of time: at most the whole.
pub(super) fn duty_is_a_share(tables: &Tables) -> Result<(), Invalid> {
    match tables.duty_changes.duty_ppm.iter().enumerate().find(|(_, ppm)| **ppm > WHOLE_PPM) {
        None => Ok(()),
        Some((row, ppm)) => {
            Err(Invalid::cell(TableKind::DutyChanges, row, "duty_ppm", Rule::AboveWhole { ppm: *ppm }))
        }
    }
}

/// Losses do not run backwards in time.
pub(super) fn losses_run_forward(tables: &Tables) -> Result<(), Invalid> {
    let ranges = tables.losses.from_ns.iter().zip(&tables.losses.until_ns);
    runs_forward(TableKind::Losses, "until_ns", ranges)
}

/// A loss that names a process and a thread names a thread of that process.
pub(super) fn losses_name_threads_of_their_process(tables: &Tables) -> Result<(), Invalid> {
    let rows = tables.losses.process.iter().zip(&tables.losses.thread);
    threads_of_their_process(tables, TableKind::Losses, rows)
}

/// Failures' address ranges do not run backwards.
pub(super) fn failures_run_forward(tables: &Tables) -> Result<(), Invalid> {
    let ranges = tables.failures.from_address.iter().zip(&tables.failures.to_address);
    runs_forward(TableKind::Failures, "to_address", ranges)
}

fn runs_forward<'a>(
    table: TableKind,
    column: &'static str,
    ranges: impl Iterator<Item = (&'a u64, &'a u64)>,
) -> Result<(), Invalid> {
    for (row, (from, until)) in ranges.enumerate() {
        if until < from {
            let rule = Rule::Backwards { from: *from, until: *until };
            return Err(Invalid::cell(table, row, column, rule));
        }
    }
    Ok(())
}
