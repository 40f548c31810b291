//! The canonical order: equal rows give equal bytes, in whatever order they arrived and were interned.
//!
//! 1. [`unused`] drops dictionary rows that nothing refers to.
//! 2. Dictionaries are sorted by content from the bottom up (strings, then what names them, …), equal rows
//!    become one, and whoever refers to them is renumbered.
//! 3. The other rows are sorted by their own order ([`rows`]). Rows equal in every cell are
//!    interchangeable, so their order does not show.
//!
//! Arrival order is kept only where it means something: among probe records of one thread and time.

mod dictionaries;
mod processes;
mod rows;
mod stacks;
mod unused;

use crate::model::for_each_table;
use crate::table::Table;
use crate::validate::check_structure;
use crate::{Invalid, TableKind, Tables};

impl Tables {
    /// Brings the rows into canonical order. Ids held outside lose their meaning.
    ///
    /// Fails only when ids cannot be followed; then nothing was changed.
    pub fn canonicalize(&mut self) -> Result<(), Invalid> {
        check_structure(self)?;
        unused::drop_unused(self);
        dictionaries::sort(self);
        rows::sort(self);
        Ok(())
    }

    /// After the rows of `kind` were renumbered (row `i` became `numbers[i]`): renumbers every id of them.
    pub(crate) fn renumber(&mut self, kind: TableKind, numbers: &[u32]) {
        macro_rules! renumber_each {
            ($($field:ident: $type:ty,)*) => {$( renumber_table(&mut self.$field, kind, numbers); )*};
        }
        for_each_table!(renumber_each);
        if kind == TableKind::Strings {
            self.renumber_named_frames(numbers);
        }
    }

    fn renumber_named_frames(&mut self, numbers: &[u32]) {
        for (kind, address) in self.frames.kind.iter().zip(&mut self.frames.address) {
            let number = usize::try_from(*address).ok().and_then(|address| numbers.get(address));
            if let Some(number) = number.filter(|_| kind.is_named()) {
                *address = u64::from(*number);
            }
        }
    }
}

fn renumber_table<T: Table>(table: &mut T, kind: TableKind, numbers: &[u32]) {
    for (column, info) in table.columns_mut().into_iter().zip(T::COLUMNS) {
        if info.refers_to == Some(kind) {
            column.renumber(numbers);
        }
    }
}

/// Sorts a dictionary by content and makes equal rows one; answers the new number of each row.
fn sort_unique<T: Table>(table: &mut T) -> Vec<u32> {
    let order = sorted(table, |table, row| table.row_at(row as usize));
    let (kept, numbers) = merged(&order, |a, b| table.row_at(a as usize) == table.row_at(b as usize));
    *table = table.gather(&kept);
    numbers
}

/// The row numbers of `table` in the order of a key; rows with equal keys keep their order.
fn sorted<T: Table, K: Ord>(table: &T, key: impl Fn(&T, u32) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(table.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by_cached_key(|row| key(table, *row));
    order
}

/// Of rows in order, the first of each run of equal ones, and for every row the number of its run.
fn merged(order: &[u32], equal: impl Fn(u32, u32) -> bool) -> (Vec<u32>, Vec<u32>) {
    let mut kept: Vec<u32> = Vec::with_capacity(order.len());
    let mut numbers = vec![0; order.len()];
    for row in order {
        if kept.last().is_none_or(|before| !equal(*before, *row)) {
            kept.push(*row);
        }
        numbers[*row as usize] = u32::try_from(kept.len() - 1).unwrap_or(u32::MAX);
    }
    (kept, numbers)
}

#[cfg(test)]
mod tests;
