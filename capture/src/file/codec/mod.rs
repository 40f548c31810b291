//! How the cells of one column become bytes: the smallest of a few codecs, chosen by trying them.
//!
//! ```text
//! column := codec (1 byte), length of the body (varint), body
//! ```
//! Equal cells give equal bytes: codecs are tried in the order of their codes and the first smallest wins.

mod delta;
mod packed;
mod runs;

use super::DecodeError;
use super::bytes::{Reader, put_varint};
use crate::cells::Cells;

/// Receives decoded cells, a block at a time.
pub(crate) trait Sink {
    fn cells(&mut self, cells: &[u64]) -> Result<(), DecodeError>;
    fn run(&mut self, cell: u64, count: usize) -> Result<(), DecodeError>;
}

impl Sink for &mut dyn Cells {
    fn cells(&mut self, cells: &[u64]) -> Result<(), DecodeError> {
        Ok(self.append(cells)?)
    }
    fn run(&mut self, cell: u64, count: usize) -> Result<(), DecodeError> {
        Ok(self.append_run(cell, count)?)
    }
}

impl Sink for Vec<u64> {
    fn cells(&mut self, cells: &[u64]) -> Result<(), DecodeError> {
        self.extend_from_slice(cells);
        Ok(())
    }
    fn run(&mut self, cell: u64, count: usize) -> Result<(), DecodeError> {
        self.extend(std::iter::repeat_n(cell, count));
        Ok(())
    }
}

const RUNS: u8 = 0;
const PACKED: u8 = 1;
const DELTA: u8 = 2;

/// Appends a column.
pub(crate) fn encode(cells: &[u64], out: &mut Vec<u8>) {
    let candidates =
        [(RUNS, runs::encode(cells)), (PACKED, packed::encode(cells)), (DELTA, delta::encode(cells))];
    let smallest = candidates.into_iter().min_by_key(|(code, body)| (body.len(), *code));
    let Some((code, body)) = smallest else { return };
    out.push(code);
    put_varint(out, body.len() as u64);
    out.extend_from_slice(&body);
}

/// Reads a column of `rows` cells.
pub(crate) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let code = reader.u8()?;
    let length = reader.length()?;
    let mut body = Reader::new(reader.take(length)?);
    match code {
        RUNS => runs::decode(&mut body, rows, sink),
        PACKED => packed::decode(&mut body, rows, |cells| sink.cells(cells)),
        DELTA => delta::decode(&mut body, rows, sink),
        code => Err(DecodeError::UnknownCodec(code)),
    }?;
    match body.remaining() {
        0 => Ok(()),
        left => Err(DecodeError::LeftOver(left)),
    }
}
