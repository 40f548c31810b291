//! Rules of samples.

use super::{Invalid, Rule};
use crate::{TableKind, Tables};

/// Samples ascend by time, then thread.
pub(super) fn samples_ascend(tables: &Tables) -> Result<(), Invalid> {
    let samples = &tables.samples;
    let keys = samples.time_ns.iter().zip(&samples.thread);
    match keys.clone().zip(keys.skip(1)).position(|(before, after)| after < before) {
        None => Ok(()),
        Some(row) => {
            let rule = Rule::Unsorted { by: "time_ns, thread" };
            Err(Invalid::cell(TableKind::Samples, row + 1, "time_ns", rule))
        }
    }
}

/// The weights of all samples together fit 64 bits, so no sum over some of them overflows.
pub(super) fn weights_fit(tables: &Tables) -> Result<(), Invalid> {
    let largest = tables.samples.weight.iter().copied().fold(0, u64::max);
    if largest.checked_mul(tables.samples.len() as u64).is_some() {
        return Ok(());
    }
    let sum: u128 = tables.samples.weight.iter().map(|weight| u128::from(*weight)).sum();
    if u64::try_from(sum).is_ok() {
        return Ok(());
    }
    Err(Invalid { table: TableKind::Samples, row: None, column: "weight", rule: Rule::WeightOverflow })
}
