//! Reads paths from where samples ended outward. Places are stack ids.
//!
//! Paths that meet at one place are one cursor from there on.

use microscope_capture::StackId;

use super::cursor::{Cursor, Direction};
use crate::ask::Question;
use crate::weights::Cost;

pub(super) struct Inverted<'q, 'c>(pub(super) &'q Question<'c>);

impl Direction for Inverted<'_, '_> {
    fn begin(&self, found: &mut Vec<Cursor>) -> Cost {
        let mut keyless = Cost::default();
        let stacks = self.0.tables.stacks.ids().zip(&self.0.weights.of_stack);
        for (stack, cost) in stacks.filter(|(_, cost)| !cost.is_zero()) {
            match self.at_or_outward(Some(stack), 0) {
                Some(cursor) => found.push(Cursor { cost: *cost, ..cursor }),
                None => keyless += *cost,
            }
        }
        keyless
    }

    fn go_on(&self, cursor: Cursor, found: &mut Vec<Cursor>) -> Cost {
        match self.outward(cursor) {
            Some(next) => {
                found.push(Cursor { cost: cursor.cost, ..next });
                Cost::default()
            }
            None => cursor.cost,
        }
    }
}

impl Inverted<'_, '_> {
    /// The next key outward from `cursor`; neighbors that the granularity joins are one.
    fn outward(&self, cursor: Cursor) -> Option<Cursor> {
        let after = |cursor: Cursor| self.at_or_outward(Some(StackId::new(cursor.place)), cursor.level + 1);
        let mut next = after(cursor)?;
        while self.0.keys.joins_neighbors() && next.key == cursor.key {
            next = after(next)?;
        }
        Some(next)
    }

    /// The key at `level` of `stack`'s frame, or the innermost one of the nearest caller that has any.
    fn at_or_outward(&self, mut stack: Option<StackId>, mut level: u32) -> Option<Cursor> {
        let stacks = &self.0.tables.stacks;
        while let Some(id) = stack {
            let keys = self.0.keys.of(stacks.frame[id.index()]);
            if let Some(key) = keys.get(level as usize) {
                return Some(Cursor { key: *key, place: id.get(), level, cost: Cost::default() });
            }
            (stack, level) = (stacks.parent[id.index()], 0);
        }
        None
    }
}
