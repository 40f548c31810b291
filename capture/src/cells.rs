//! One column of a table without its type: cells pass as the unsigned integers that the file keeps.
//!
//! The file, the validator and the renumbering go over all columns of all tables through [`Cells`].

use crate::{BadValue, Column};

/// The cells of one column.
pub trait Cells: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// Bytes of memory they take.
    fn bytes(&self) -> usize;
    /// The largest cell, or `None` without any.
    fn largest(&self) -> Option<u64>;
    /// The first row whose cell the file could not give back.
    fn unstorable(&self) -> Option<usize>;
    /// Copies the cells from row `from` on into `out`, and says how many there were.
    fn copy(&self, from: usize, out: &mut [u64]) -> usize;
    /// Appends cells. On a bad one those before it are kept.
    fn append(&mut self, cells: &[u64]) -> Result<(), BadValue>;
    /// Appends one cell `count` times.
    fn append_run(&mut self, cell: u64, count: usize) -> Result<(), BadValue>;
    /// Renumbers ids: row `i` of the table they refer to became `numbers[i]`. Other cells stay.
    fn renumber(&mut self, numbers: &[u32]);
    /// Makes room for more cells.
    fn reserve(&mut self, cells: usize);
}

impl<T: Column + Send + Sync> Cells for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    fn largest(&self) -> Option<u64> {
        // A fold over plain integers, which the compiler does many at a time.
        (!self.is_empty()).then(|| self.iter().fold(0, |largest, cell| largest.max(cell.to_bits())))
    }

    fn unstorable(&self) -> Option<usize> {
        if !(T::OPTIONAL && T::WIDE) {
            return None;
        }
        self.iter().position(|cell| !cell.is_storable())
    }

    fn copy(&self, from: usize, out: &mut [u64]) -> usize {
        let rows = self.get(from..).unwrap_or_default();
        for (cell, value) in out.iter_mut().zip(rows) {
            *cell = value.to_bits();
        }
        rows.len().min(out.len())
    }

    fn append(&mut self, cells: &[u64]) -> Result<(), BadValue> {
        for cell in cells {
            self.push(T::from_bits(*cell)?);
        }
        Ok(())
    }

    fn append_run(&mut self, cell: u64, count: usize) -> Result<(), BadValue> {
        let value = T::from_bits(cell)?;
        self.extend(std::iter::repeat_n(value, count));
        Ok(())
    }

    fn renumber(&mut self, numbers: &[u32]) {
        for cell in self {
            *cell = cell.renumbered(numbers);
        }
    }

    fn reserve(&mut self, cells: usize) {
        Vec::reserve(self, cells);
    }
}
