//! One walk's frames → one row of the stack tree.
//!
//! Samples of a thread share most of their outer frames with the sample before, so the rows of the shared
//! part are taken from there: interning costs only the frames that differ.

use microscope_capture::{Builder, Frame, StackId, ThreadId};
use rustc_hash::FxHashMap;

use crate::unwind::RawFrame;

/// A frame of a thread's last stack, and the row it became.
#[derive(Debug, Clone, Copy)]
struct Node {
    frame: RawFrame,
    stack: StackId,
}

/// A thread's last stack. Invariant: outermost first, each node's parent is the one before it.
#[derive(Debug, Default)]
struct Last {
    /// What addresses meant then; another number means that they may mean something else now.
    generation: u64,
    nodes: Vec<Node>,
}

/// Rows of the stack tree at most: a program that makes a new stack with every sample must not fill memory.
pub const ROWS_MAX: usize = 1 << 24;

/// Interns stacks, remembering the last one of each thread.
#[derive(Debug)]
pub struct Stacks {
    last: FxHashMap<ThreadId, Last>,
    rows_max: usize,
}

impl Stacks {
    /// No stack yet; of at most `rows_max` rows.
    #[must_use]
    pub fn new(rows_max: usize) -> Self {
        Self { last: FxHashMap::default(), rows_max }
    }

    /// The row of the stack `frames` (innermost first) of `thread`; `None` when there is no frame, or when the
    /// tree is full and has no such stack.
    ///
    /// `row_of` is asked only for frames that the thread's last stack does not share. `generation` must
    /// change whenever its answers may.
    pub fn intern(
        &mut self,
        builder: &mut Builder,
        thread: ThreadId,
        generation: u64,
        frames: &[RawFrame],
        mut row_of: impl FnMut(RawFrame) -> Frame,
    ) -> Option<StackId> {
        let last = self.last.entry(thread).or_default();
        last.keep_shared(generation, frames);
        for frame in frames.iter().rev().skip(last.nodes.len()) {
            let parent = last.nodes.last().map(|node| node.stack);
            let row = row_of(*frame);
            let is_full = builder.tables.stacks.len() >= self.rows_max;
            let stack = if is_full { builder.known_stack(parent, row)? } else { add(builder, parent, row) };
            last.nodes.push(Node { frame: *frame, stack });
        }
        last.nodes.last().map(|node| node.stack)
    }

    /// Forgets a thread that ended.
    pub fn forget(&mut self, thread: ThreadId) {
        self.last.remove(&thread);
    }
}

fn add(builder: &mut Builder, parent: Option<StackId>, row: Frame) -> StackId {
    let frame = builder.frame(row);
    builder.stack(parent, frame)
}

impl Last {
    fn keep_shared(&mut self, generation: u64, frames: &[RawFrame]) {
        if self.generation != generation {
            self.nodes.clear();
            self.generation = generation;
        }
        let same =
            self.nodes.iter().zip(frames.iter().rev()).take_while(|(node, frame)| node.frame == **frame);
        let shared = same.count();
        self.nodes.truncate(shared);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use microscope_capture::{CodeRole, FrameKind};

    use super::*;

    /// Interns `stacks` (outermost first) on one thread; gives the ids and how many frames were looked up.
    fn intern(stacks: &[(u64, &[u64])]) -> (Vec<Option<u32>>, usize) {
        intern_at_most(ROWS_MAX, stacks)
    }

    fn intern_at_most(rows_max: usize, stacks: &[(u64, &[u64])]) -> (Vec<Option<u32>>, usize) {
        let (mut interner, mut builder, mut asked) = (Stacks::new(rows_max), Builder::new(), 0);
        let mut ids = Vec::new();
        for (generation, outermost_first) in stacks {
            let frames: Vec<_> = outermost_first.iter().rev().map(|at| RawFrame::exact(*at)).collect();
            let id = interner.intern(&mut builder, ThreadId::new(0), *generation, &frames, |frame| {
                asked += 1;
                // The generation is part of the answer, as a remapped module's address would be.
                let address = frame.address + generation * 1000;
                Frame { kind: FrameKind::Native, role: CodeRole::Plain, module: None, address }
            });
            ids.push(id.map(StackId::get));
        }
        (ids, asked)
    }

    #[test]
    fn shared_outer_frames_are_not_looked_up_again() {
        let (ids, asked) = intern(&[(0, &[1, 2, 3]), (0, &[1, 2, 4, 5]), (0, &[1, 2, 3])]);
        assert_eq!(ids, [Some(2), Some(4), Some(2)]);
        assert_eq!(asked, 3 + 2 + 1);
    }

    #[test]
    fn a_shorter_stack_is_the_row_of_its_own_innermost_frame() {
        assert_eq!(intern(&[(0, &[1, 2, 3]), (0, &[1, 2])]), (vec![Some(2), Some(1)], 3));
    }

    #[test]
    fn a_new_generation_asks_for_every_frame() {
        assert_eq!(intern(&[(0, &[1, 2]), (1, &[1, 2])]), (vec![Some(1), Some(3)], 4));
    }

    #[test]
    fn a_full_tree_still_knows_the_stacks_it_has() {
        let stacks: [(u64, &[u64]); 4] = [(0, &[1, 2]), (0, &[1, 3]), (0, &[1, 2]), (0, &[1])];
        assert_eq!(intern_at_most(2, &stacks).0, [Some(1), None, Some(1), Some(0)]);
    }

    #[test]
    fn no_frame_is_no_stack() {
        assert_eq!(intern(&[(0, &[])]), (vec![None], 0));
    }
}
