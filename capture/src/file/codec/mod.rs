//! How the cells of one column become bytes: the smallest of a few codecs, chosen by trying them.
//!
//! ```text
//! column := codec (1 byte), length of the body (varint), body
//! ```
//! Equal cells give equal bytes: sizes decide, and the lower code where they are equal. Codecs that are read
//! bit by bit must save a sixteenth, which is what reading them is worth.

mod bits;
mod classed;
mod delta;
mod grouped;
mod packed;
mod prefix;
mod ranked;
mod runs;
mod tree;

use super::DecodeError;
use super::bytes::{Reader, put_varint};
use crate::cells::Cells;
use packed::BLOCK;

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

/// Passes on cells that are restored from differences and the cells of another column.
struct Restored<'a, S, F> {
    other: &'a dyn Cells,
    row: usize,
    sink: &'a mut S,
    restore: F,
}

impl<'a, S: Sink, F: FnMut(u64, u64) -> Result<u64, DecodeError>> Restored<'a, S, F> {
    /// `restore` takes the other column's cell and the difference.
    const fn new(other: &'a dyn Cells, sink: &'a mut S, restore: F) -> Self {
        Self { other, row: 0, sink, restore }
    }

    fn block(&mut self, block: &mut [u64]) -> Result<(), DecodeError> {
        let mut others = [0; BLOCK];
        let known = self.other.copy(self.row, &mut others[..block.len()]);
        if known != block.len() {
            return Err(DecodeError::BadGroup);
        }
        self.row += block.len();
        for (cell, other) in block.iter_mut().zip(others) {
            *cell = (self.restore)(other, *cell)?;
        }
        self.sink.cells(block)
    }
}

impl<S: Sink, F: FnMut(u64, u64) -> Result<u64, DecodeError>> Sink for Restored<'_, S, F> {
    fn cells(&mut self, cells: &[u64]) -> Result<(), DecodeError> {
        let mut block = [0; BLOCK];
        for cells in cells.chunks(BLOCK) {
            let block = &mut block[..cells.len()];
            block.copy_from_slice(cells);
            self.block(block)?;
        }
        Ok(())
    }

    fn run(&mut self, cell: u64, count: usize) -> Result<(), DecodeError> {
        let mut left = count;
        while left > 0 {
            let mut block = [cell; BLOCK];
            let block = &mut block[..left.min(BLOCK)];
            left -= block.len();
            self.block(block)?;
        }
        Ok(())
    }
}

const RUNS: u8 = 0;
const PACKED: u8 = 1;
const DELTA: u8 = 2;
const CLASSED: u8 = 3;
const DELTA_CLASSED: u8 = 4;
const RANKED: u8 = 5;
const GROUPED: u8 = 6;
const TREE: u8 = 7;

/// What another column of the table says of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Its cells come in groups, each nearly evenly spaced.
    Groups,
    /// Its cells are held by nodes of a tree, and these are their parents.
    Parents,
}

/// A column that may foretell another: its number, its cells, and how.
pub(crate) type Foretells<'a> = (usize, &'a [u64], Relation);

/// Appends a column. `others` are columns of the table that may foretell it.
pub(crate) fn encode(cells: &[u64], others: &[Foretells<'_>], out: &mut Vec<u8>) {
    let mut best = Choice::alone(cells);
    for (column, other, relation) in others {
        if best.is_small(cells) {
            break;
        }
        let foretold = match relation {
            Relation::Groups => grouped::encode(cells, *column, other).map(|body| (GROUPED, body)),
            Relation::Parents => tree::encode(cells, *column, other).map(|body| (TREE, body)),
        };
        if let Some((code, body)) = foretold {
            best.offer_body(code, body);
        }
    }
    best.put(cells, out);
}

/// Appends a column that no other foretells.
fn encode_alone(cells: &[u64], out: &mut Vec<u8>) {
    Choice::alone(cells).put(cells, out);
}

/// The cheapest codec so far.
struct Choice {
    code: u8,
    bytes: usize,
    /// Its body, where the size is known only from that.
    body: Option<Vec<u8>>,
}

impl Choice {
    /// The cheapest codec that looks at the cells alone.
    fn alone(cells: &[u64]) -> Self {
        let mut best = Self { code: PACKED, bytes: packed::size(cells), body: None };
        if let Some(body) = runs::encode(cells) {
            best.offer_body(RUNS, body);
        }
        if !best.is_small(cells) {
            let deltas = delta::deltas(cells);
            best.offer(DELTA, packed::size(&deltas));
            best.offer(CLASSED, classed::size(cells));
            best.offer(DELTA_CLASSED, classed::size(&deltas));
        }
        if !best.is_small(cells)
            && let Some(body) = ranked::encode(cells)
        {
            best.offer_body(RANKED, body);
        }
        best
    }

    /// Nothing is won by trying more: eight cells take no more than a bit.
    const fn is_small(&self, cells: &[u64]) -> bool {
        self.bytes <= cells.len() / 64
    }

    fn offer(&mut self, code: u8, bytes: usize) -> bool {
        let better = (cost(code, bytes), code) < (cost(self.code, self.bytes), self.code);
        if better {
            *self = Self { code, bytes, body: None };
        }
        better
    }

    fn offer_body(&mut self, code: u8, body: Vec<u8>) {
        if self.offer(code, body.len()) {
            self.body = Some(body);
        }
    }

    fn put(self, cells: &[u64], out: &mut Vec<u8>) {
        let body = self.body.unwrap_or_else(|| match self.code {
            DELTA => packed::encode(&delta::deltas(cells)),
            CLASSED => classed::encode(cells),
            DELTA_CLASSED => classed::encode(&delta::deltas(cells)),
            _ => packed::encode(cells),
        });
        out.push(self.code);
        put_varint(out, body.len() as u64);
        out.extend(body);
    }
}

/// Sixteenths of bytes, with what reading is worth added.
const fn cost(code: u8, bytes: usize) -> usize {
    if code >= CLASSED { bytes * 17 } else { bytes * 16 }
}

/// A column as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoded<'a> {
    code: u8,
    body: &'a [u8],
}

impl<'a> Encoded<'a> {
    /// Takes a column's bytes without decoding them.
    pub(crate) fn take(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let code = reader.u8()?;
        let length = reader.length()?;
        Ok(Self { code, body: reader.take(length)? })
    }

    /// The bytes of its body.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.len()
    }

    /// The column that must be decoded first, if one foretells this.
    pub(crate) fn foretold_by(&self) -> Option<usize> {
        let column = self.body.first().map(|column| usize::from(*column));
        column.filter(|_| matches!(self.code, GROUPED | TREE))
    }

    /// Decodes `rows` cells. `other` is the column that [`Self::foretold_by`] names.
    pub(crate) fn decode(
        &self,
        rows: usize,
        other: Option<&dyn Cells>,
        sink: &mut impl Sink,
    ) -> Result<(), DecodeError> {
        let body = &mut Reader::new(self.body);
        match self.code {
            GROUPED => grouped::decode(body, rows, other.ok_or(DecodeError::BadGroup)?, sink),
            TREE => tree::decode(body, rows, other.ok_or(DecodeError::BadGroup)?, sink),
            _ => self.decode_alone(body, rows, sink),
        }?;
        match body.remaining() {
            0 => Ok(()),
            left => Err(DecodeError::LeftOver(left)),
        }
    }

    fn decode_alone(
        &self,
        body: &mut Reader<'_>,
        rows: usize,
        sink: &mut impl Sink,
    ) -> Result<(), DecodeError> {
        match self.code {
            RUNS => runs::decode(body, rows, sink),
            PACKED => packed::decode(body, rows, |cells| sink.cells(cells)),
            DELTA => delta::decode(body, rows, sink),
            CLASSED => classed::decode(body, rows, |cells| sink.cells(cells)),
            DELTA_CLASSED => delta::decode_classed(body, rows, sink),
            RANKED => ranked::decode(body, rows, sink),
            code => Err(DecodeError::UnknownCodec(code)),
        }
    }
}

/// Reads a column inside another's body: one that no other foretells.
fn decode_alone(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    let encoded = Encoded::take(reader)?;
    let body = &mut Reader::new(encoded.body);
    encoded.decode_alone(body, rows, sink)?;
    match body.remaining() {
        0 => Ok(()),
        left => Err(DecodeError::LeftOver(left)),
    }
}

/// Reads a column of `rows` cells that no other foretells.
pub(crate) fn decode(reader: &mut Reader<'_>, rows: usize, sink: &mut impl Sink) -> Result<(), DecodeError> {
    Encoded::take(reader)?.decode(rows, None, sink)
}
