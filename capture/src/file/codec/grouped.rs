//! Times of a timer that ticks for each processor or thread: each is near the one before of its group, plus
//! the timer's period. Only the difference to that is stored.
//!
//! ```text
//! body := column of the groups (1 byte), period (varint), differences in zigzag form (a column)
//! ```

use super::super::DecodeError;
use super::super::bytes::{Reader, put_varint};
use super::{Restored, Sink};
use crate::Column;
use crate::cells::Cells;

/// Groups are few: processors or threads.
const GROUPS_MAX: u64 = 1 << 16;

/// Encodes cells by the groups in another column; `None` when there are too many groups.
pub(super) fn encode(cells: &[u64], column: usize, groups: &[u64]) -> Option<Vec<u8>> {
    let mut last = Last::new(period(cells, groups)?);
    let differences: Vec<u64> = cells
        .iter()
        .zip(groups)
        .map(|(cell, group)| {
            let difference = cell.wrapping_sub(last.expected(*group)).cast_signed().to_bits();
            last.set(*group, *cell);
            difference
        })
        .collect();
    let mut out = vec![u8::try_from(column).ok()?];
    put_varint(&mut out, last.period);
    super::encode_alone(&differences, &mut out);
    Some(out)
}

/// The median distance between cells of one group.
fn period(cells: &[u64], groups: &[u64]) -> Option<u64> {
    let mut last: Vec<Option<u64>> = Vec::new();
    let mut distances = Vec::new();
    for (cell, group) in cells.iter().zip(groups) {
        if *group >= GROUPS_MAX {
            return None;
        }
        let group = *group as usize;
        last.resize(last.len().max(group + 1), None);
        distances.extend(last[group].map(|before| cell.wrapping_sub(before)));
        last[group] = Some(*cell);
    }
    let middle = distances.len() / 2;
    (!distances.is_empty()).then(|| *distances.select_nth_unstable(middle).1)
}

/// The last cell of each group. The first of a group follows the last of any.
struct Last {
    period: u64,
    any: u64,
    of_group: Vec<Option<u64>>,
}

impl Last {
    const fn new(period: u64) -> Self {
        Self { period, any: 0, of_group: Vec::new() }
    }

    fn expected(&self, group: u64) -> u64 {
        match self.of_group.get(group as usize) {
            Some(Some(before)) => before.wrapping_add(self.period),
            _ => self.any,
        }
    }

    /// Groups are below [`GROUPS_MAX`].
    fn set(&mut self, group: u64, cell: u64) {
        let group = group as usize;
        if group >= self.of_group.len() {
            self.of_group.resize(group + 1, None);
        }
        self.of_group[group] = Some(cell);
        self.any = cell;
    }
}

pub(super) fn decode(
    reader: &mut Reader<'_>,
    rows: usize,
    groups: &dyn Cells,
    sink: &mut impl Sink,
) -> Result<(), DecodeError> {
    let _column = reader.u8()?;
    let mut last = Last::new(reader.varint()?);
    let mut restored = Restored::new(groups, sink, |group, difference| {
        if group >= GROUPS_MAX {
            return Err(DecodeError::BadGroup);
        }
        let cell = last.expected(group).wrapping_add(i64::from_bits(difference)?.cast_unsigned());
        last.set(group, cell);
        Ok(cell)
    });
    super::decode_alone(reader, rows, &mut restored)
}
