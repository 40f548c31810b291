//! Where paths go on: the common part of both directions in which a tree is read.

use crate::keys::KeyId;
use crate::weights::Cost;

/// A level of a frame of the stack tree, and what passes through it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    pub(super) key: KeyId,
    /// The frame's place in the stack tree; the direction says how it counts.
    pub(super) place: u32,
    /// 0 is the innermost level of the frame.
    pub(super) level: u32,
    pub(super) cost: Cost,
}

impl Cursor {
    /// Cursors of one key are neighbors in this order, and those at one place as well.
    pub(super) fn order(&self) -> (KeyId, u32, u32) {
        (self.key, self.place, self.level)
    }
}

/// From which end paths are read.
pub(super) trait Direction {
    /// Finds where paths begin; answers what has no key at all.
    fn begin(&self, found: &mut Vec<Cursor>) -> Cost;
    /// Finds where the paths of a cursor go on; answers what ends there.
    fn go_on(&self, cursor: Cursor, found: &mut Vec<Cursor>) -> Cost;
}
