//! Reads paths from the outermost frame inward. Places are preorder positions.

use super::cursor::{Cursor, Direction};
use crate::ask::Question;
use crate::keys::KeyId;
use crate::weights::Cost;

pub(super) struct TopDown<'q, 'c>(pub(super) &'q Question<'c>);

impl Direction for TopDown<'_, '_> {
    fn begin(&self, found: &mut Vec<Cursor>) -> Cost {
        self.below(None, None, found)
    }

    fn go_on(&self, cursor: Cursor, found: &mut Vec<Cursor>) -> Cost {
        let at = cursor.place as usize;
        match cursor.level.checked_sub(1) {
            Some(level) => {
                let key = self.0.keys.of(self.0.paths.frame(at))[level as usize];
                found.push(Cursor { key, level, ..cursor });
                Cost::default()
            }
            None => self.below(Some(at), Some(cursor.key), found),
        }
    }
}

impl TopDown<'_, '_> {
    /// Finds what `at` called; answers what ended there. Frames without a key, and neighbors that the
    /// granularity joins with `key`, are seen through.
    fn below(&self, at: Option<usize>, key: Option<KeyId>, found: &mut Vec<Cursor>) -> Cost {
        let Question { keys, paths, .. } = self.0;
        let mut own = at.map_or(Cost::default(), |at| paths.own(at));
        let mut pending: Vec<usize> = Vec::new();
        let mut through = at;
        loop {
            for child in paths.children(through).filter(|child| !paths.total(*child).is_zero()) {
                let of_frame = keys.of(paths.frame(child));
                match of_frame.last() {
                    Some(outermost) if !(keys.joins_neighbors() && key == Some(*outermost)) => {
                        let place = u32::try_from(child).unwrap_or(u32::MAX);
                        let level = u32::try_from(of_frame.len() - 1).unwrap_or(u32::MAX);
                        found.push(Cursor { key: *outermost, place, level, cost: paths.total(child) });
                    }
                    _ => {
                        own += paths.own(child);
                        pending.push(child);
                    }
                }
            }
            through = pending.pop();
            if through.is_none() {
                return own;
            }
        }
    }
}
