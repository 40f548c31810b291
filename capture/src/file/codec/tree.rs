//! What the nodes of a tree hold, foretold by their parents: siblings follow each other closely, and the
//! first child of a node is near the last child of any node that held the same. For the frames of stacks,
//! since a call site mostly calls one function.
//!
//! ```text
//! body := column of the parents (1 byte), differences to what is foretold in zigzag form (a column)
//! ```

use super::super::DecodeError;
use super::super::bytes::Reader;
use super::{Restored, Sink};
use crate::Column;
use crate::cells::Cells;

/// Encodes cells by the parents in another column (0 for none, else the parent's row + 1).
pub(super) fn encode(cells: &[u64], column: usize, parents: &[u64]) -> Option<Vec<u8>> {
    let mut tree = Tree::of(cells.len());
    let mut differences = Vec::with_capacity(cells.len());
    for (cell, parent) in cells.iter().zip(parents) {
        let expected = tree.expected(*parent).ok()?;
        differences.push(cell.wrapping_sub(expected).cast_signed().to_bits());
        tree.push(*parent, *cell).ok()?;
    }
    let mut out = vec![u8::try_from(column).ok()?];
    super::encode_alone(&differences, &mut out);
    Some(out)
}

pub(super) fn decode(
    reader: &mut Reader<'_>,
    rows: usize,
    parents: &dyn Cells,
    sink: &mut impl Sink,
) -> Result<(), DecodeError> {
    let _column = reader.u8()?;
    let mut tree = Tree::of(rows);
    let mut restored = Restored::new(parents, sink, |parent, difference| {
        let cell = tree.expected(parent)?.wrapping_add(i64::from_bits(difference)?.cast_unsigned());
        tree.push(parent, cell)?;
        Ok(cell)
    });
    super::decode_alone(reader, rows, &mut restored)
}

/// The nodes so far.
struct Tree {
    cells: Vec<u64>,
    /// The parent of the node before.
    parent: u64,
    /// The last child of nodes that held a cell.
    last_child: Vec<u64>,
    cells_max: u64,
}

impl Tree {
    /// Cells are ids of about as many rows as there are nodes; larger ones are not foretold, so that the
    /// table of last children is bounded by the nodes.
    const fn of(rows: usize) -> Self {
        let cells_max = (rows as u64).saturating_mul(4).saturating_add(1 << 16);
        Self { cells: Vec::new(), parent: u64::MAX, last_child: Vec::new(), cells_max }
    }

    /// Where the last child of the parent's like is kept; 0 is for nodes without parent.
    fn place(&self, parent: u64) -> Result<usize, DecodeError> {
        let Some(row) = parent.checked_sub(1) else { return Ok(0) };
        let held = usize::try_from(row).ok().and_then(|row| self.cells.get(row));
        let held = held.filter(|held| **held < self.cells_max).ok_or(DecodeError::BadGroup)?;
        usize::try_from(held + 1).map_err(|_| DecodeError::BadGroup)
    }

    fn expected(&self, parent: u64) -> Result<u64, DecodeError> {
        match self.cells.last() {
            Some(sibling) if parent == self.parent => Ok(*sibling),
            _ => Ok(self.last_child.get(self.place(parent)?).copied().unwrap_or(0)),
        }
    }

    fn push(&mut self, parent: u64, cell: u64) -> Result<(), DecodeError> {
        let place = self.place(parent)?;
        if place >= self.last_child.len() {
            self.last_child.resize(place + 1, 0);
        }
        self.last_child[place] = cell;
        self.parent = parent;
        self.cells.push(cell);
        Ok(())
    }
}
