//! Differences to the cell before, in zigzag form: for cells that ascend or hover.

use super::super::DecodeError;
use super::super::bytes::Reader;
use super::{Sink, classed, packed};
use crate::Column;

/// The difference of each cell to the one before; the first to 0.
pub(super) fn deltas(cells: &[u64]) -> Vec<u64> {
    let before = std::iter::once(0).chain(cells.iter().copied());
    let delta = |(cell, before): (&u64, u64)| cell.wrapping_sub(before).cast_signed().to_bits();
    cells.iter().zip(before).map(delta).collect()
}

/// Differences, packed.
pub(super) fn encode(cells: &[u64]) -> Vec<u8> {
    packed::encode(&deltas(cells))
}

/// Reads packed differences.
pub(super) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let mut sum = Sum(0);
    packed::decode(reader, rows, |cells| sum.add(cells, sink))
}

/// Reads classed differences.
pub(super) fn decode_classed(
    reader: &mut Reader<'_>,
    rows: usize,
    sink: &mut impl Sink,
) -> Result<(), DecodeError> {
    let mut sum = Sum(0);
    classed::decode(reader, rows, |cells| sum.add(cells, sink))
}

/// The cell before.
struct Sum(u64);

impl Sum {
    fn add(&mut self, cells: &mut [u64], sink: &mut impl Sink) -> Result<(), DecodeError> {
        for cell in &mut *cells {
            self.0 = self.0.wrapping_add(i64::from_bits(*cell)?.cast_unsigned());
            *cell = self.0;
        }
        sink.cells(cells)
    }
}
