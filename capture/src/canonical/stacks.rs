//! Orders the tree of stacks by depth, then parent, then frame.
//!
//! So parents precede children, parents' numbers ascend (which packs well), and equal stacks meet.

use crate::{Stack, StackId, TableKind, Tables};

pub(super) fn sort(tables: &mut Tables) {
    let levels = levels(tables);
    let mut numbers = vec![0; tables.stacks.len()];
    let mut sorted = crate::Stacks::default();
    for level in levels {
        sort_level(tables, level, &mut numbers, &mut sorted);
    }
    tables.stacks = sorted;
    tables.renumber_outside_stacks(&numbers);
}

/// The rows of each depth, outermost first.
fn levels(tables: &Tables) -> Vec<Vec<u32>> {
    let mut depths: Vec<u32> = Vec::with_capacity(tables.stacks.len());
    let mut levels: Vec<Vec<u32>> = Vec::new();
    for (row, parent) in (0..).zip(&tables.stacks.parent) {
        let depth = parent.map_or(0, |parent| depths[parent.index()] + 1);
        depths.push(depth);
        if levels.len() <= depth as usize {
            levels.push(Vec::new());
        }
        levels[depth as usize].push(row);
    }
    levels
}

fn sort_level(tables: &Tables, mut level: Vec<u32>, numbers: &mut [u32], sorted: &mut crate::Stacks) {
    let renumbered = |row: u32, numbers: &[u32]| {
        let stack = tables.stacks.row(StackId::new(row));
        Stack { parent: stack.parent.map(|parent| StackId::new(numbers[parent.index()])), ..stack }
    };
    level.sort_by_cached_key(|row| renumbered(*row, numbers));
    let mut last = None;
    for row in level {
        let stack = renumbered(row, numbers);
        if last.is_none_or(|(before, _)| before != stack) {
            last = Some((stack, sorted.push(stack)));
        }
        if let Some((_, id)) = last {
            numbers[row as usize] = id.get();
        }
    }
}

impl Tables {
    /// Renumbers stack ids everywhere but in the stacks themselves, which are renumbered as they are sorted.
    fn renumber_outside_stacks(&mut self, numbers: &[u32]) {
        let stacks = std::mem::take(&mut self.stacks);
        self.renumber(TableKind::Stacks, numbers);
        self.stacks = stacks;
    }
}
