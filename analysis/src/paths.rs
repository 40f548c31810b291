//! The stack tree in preorder, with what each subtree weighs.
//!
//! In preorder a subtree is a range: position `i` holds `i..end[i]`. So "does a caller have the same key" is
//! one comparison with the end of that key's last outermost occurrence, and recursion is never counted twice.

use microscope_capture::{FrameId, StackId, Tables};

use crate::weights::{Cost, Weights};

/// Stacks by preorder position.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// The stack at each position.
    pub(crate) stack: Vec<StackId>,
    /// The position after the subtree's last.
    pub(crate) end: Vec<u32>,
    /// What samples that ended at exactly this stack weigh.
    pub(crate) own: Vec<Cost>,
    /// What the whole subtree weighs.
    pub(crate) total: Vec<Cost>,
}

impl Paths {
    pub(crate) fn new(tables: &Tables, weights: &Weights) -> Self {
        let (sizes, totals) = subtrees(tables, weights);
        let stack = preorder(tables, &sizes);
        let pick = |costs: &[Cost]| stack.iter().map(|id| costs[id.index()]).collect();
        let end = (0_u32..).zip(&stack).map(|(at, id)| at + sizes[id.index()]).collect();
        Self { end, own: pick(&weights.of_stack), total: pick(&totals), stack }
    }

    /// The frame at a position.
    pub(crate) fn frame(&self, tables: &Tables, at: usize) -> FrameId {
        tables.stacks.frame[self.stack[at].index()]
    }
}

/// By stack id: nodes and cost of its subtree. Parents precede children, so one pass backward is enough.
fn subtrees(tables: &Tables, weights: &Weights) -> (Vec<u32>, Vec<Cost>) {
    let mut sizes = vec![1_u32; tables.stacks.len()];
    let mut totals = weights.of_stack.clone();
    for (index, parent) in tables.stacks.parent.iter().enumerate().rev() {
        if let Some(parent) = parent {
            sizes[parent.index()] += sizes[index];
            let total = totals[index];
            totals[parent.index()] += total;
        }
    }
    (sizes, totals)
}

/// Stack ids in preorder; siblings in the order of their ids.
fn preorder(tables: &Tables, sizes: &[u32]) -> Vec<StackId> {
    let mut order = vec![StackId::new(0); sizes.len()];
    // By stack id: the position of its next child.
    let mut next = vec![0_u32; sizes.len()];
    let mut next_root = 0_u32;
    for (id, row) in tables.stacks.iter() {
        let cursor = row.parent.map_or(&mut next_root, |parent| &mut next[parent.index()]);
        let at = *cursor;
        *cursor += sizes[id.index()];
        next[id.index()] = at + 1;
        order[at as usize] = id;
    }
    order
}
