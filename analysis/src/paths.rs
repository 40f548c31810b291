//! The stack tree in preorder, with what each subtree weighs.
//!
//! In preorder a subtree is a range: position `i` holds `i..end[i]`. So what a subtree weighs is a difference
//! of two running sums, and "does a caller have the same key" is one comparison with the end of that key's
//! last outermost occurrence: recursion is never counted twice.

use microscope_capture::{FrameId, StackId, Tables};

use crate::weights::{Cost, Weights};

/// The shape of the stack tree, whatever its stacks weigh.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// The stack at each position.
    stack: Vec<StackId>,
    /// Its innermost frame.
    frame: Vec<FrameId>,
    /// The position after its subtree's last.
    end: Vec<u32>,
}

impl Shape {
    pub(crate) fn new(tables: &Tables) -> Self {
        let sizes = subtree_sizes(tables);
        let rows = sizes.len();
        let mut shape = Self {
            stack: vec![StackId::new(0); rows],
            frame: vec![FrameId::new(0); rows],
            end: vec![0; rows],
        };
        // By stack: the position of its next child. Siblings are in the order of their ids.
        let mut next = vec![0_u32; rows];
        let mut next_root = 0_u32;
        for (id, row) in tables.stacks.iter() {
            let cursor = row.parent.map_or(&mut next_root, |parent| &mut next[parent.index()]);
            let (at, end) = (*cursor, *cursor + sizes[id.index()]);
            *cursor = end;
            next[id.index()] = at + 1;
            shape.stack[at as usize] = id;
            shape.frame[at as usize] = row.frame;
            shape.end[at as usize] = end;
        }
        shape
    }
}

/// By stack id: the nodes of its subtree. Parents precede children, so one pass backward is enough.
fn subtree_sizes(tables: &Tables) -> Vec<u32> {
    let mut sizes = vec![1_u32; tables.stacks.len()];
    for (index, parent) in tables.stacks.parent.iter().enumerate().rev() {
        if let Some(parent) = parent {
            sizes[parent.index()] += sizes[index];
        }
    }
    sizes
}

/// Stacks by preorder position, weighed.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    shape: Shape,
    /// What all positions before one weigh. One longer than the positions.
    before: Vec<Cost>,
}

impl Paths {
    pub(crate) fn new(shape: Shape, weights: &Weights) -> Self {
        let mut sum = Cost::default();
        let mut before = Vec::with_capacity(shape.stack.len() + 1);
        before.push(sum);
        before.extend(shape.stack.iter().map(|stack| {
            sum += weights.of_stack[stack.index()];
            sum
        }));
        Self { shape, before }
    }

    /// How many positions there are.
    pub(crate) fn len(&self) -> usize {
        self.shape.frame.len()
    }

    /// The stack at a position.
    pub(crate) fn stack(&self, at: usize) -> StackId {
        self.shape.stack[at]
    }

    /// The innermost frame at a position.
    #[inline]
    pub(crate) fn frame(&self, at: usize) -> FrameId {
        self.shape.frame[at]
    }

    /// The position after the subtree of `at`.
    #[inline]
    pub(crate) fn end(&self, at: usize) -> usize {
        self.shape.end[at] as usize
    }

    /// What samples that ended at exactly this stack weigh.
    #[inline]
    pub(crate) fn own(&self, at: usize) -> Cost {
        self.before[at + 1] - self.before[at]
    }

    /// What the whole subtree weighs.
    #[inline]
    pub(crate) fn total(&self, at: usize) -> Cost {
        self.before[self.end(at)] - self.before[at]
    }

    /// The positions directly below `at`, or the outermost ones.
    pub(crate) fn children(&self, at: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let (first, end) = at.map_or((0, self.len()), |at| (at + 1, self.end(at)));
        let within = move |at: &usize| *at < end;
        std::iter::successors(Some(first).filter(within), move |at| Some(self.end(*at)).filter(within))
    }
}
