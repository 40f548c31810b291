//! Differences to the cell before, in zigzag form, packed: for cells that ascend or hover.

use super::super::DecodeError;
use super::super::bytes::Reader;
use super::{Sink, packed};
use crate::Column;

pub(super) fn encode(cells: &[u64]) -> Vec<u8> {
    let before = std::iter::once(0).chain(cells.iter().copied());
    let deltas: Vec<u64> = cells
        .iter()
        .zip(before)
        .map(|(cell, before)| cell.wrapping_sub(before).cast_signed().to_bits())
        .collect();
    packed::encode(&deltas)
}

pub(super) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let mut before = 0_u64;
    packed::decode(reader, rows, |cells| {
        for cell in &mut *cells {
            before = before.wrapping_add(i64::from_bits(*cell)?.cast_unsigned());
            *cell = before;
        }
        sink.cells(cells)
    })
}
