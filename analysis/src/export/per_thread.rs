//! Splits samples by thread, for formats that keep a profile per thread.

use microscope_capture::{SampleId, StackId, Tables, ThreadId};

use crate::select::Selection;

/// A thread and its samples in the order of time.
pub(super) struct ThreadSamples {
    pub(super) thread: ThreadId,
    pub(super) samples: Vec<SampleId>,
}

/// Threads that were sampled, in the order of process and thread ids.
pub(super) fn split(tables: &Tables, selection: &Selection) -> Vec<ThreadSamples> {
    let of_thread = |thread| ThreadSamples { thread, samples: Vec::new() };
    let mut threads: Vec<_> = tables.threads.ids().map(of_thread).collect();
    for at in selection.range(tables) {
        let thread = tables.samples.thread[at];
        if selection.takes(thread, tables.samples.measure[at]) {
            threads[thread.index()].samples.push(SampleId::new(u32::try_from(at).unwrap_or(u32::MAX)));
        }
    }
    threads.retain(|thread| !thread.samples.is_empty());
    threads.sort_by_key(|thread| {
        let row = tables.threads.row(thread.thread);
        (row.process, row.tid, thread.thread)
    });
    threads
}

/// The stacks that samples of one thread need, callers included.
#[derive(Default)]
pub(super) struct UsedStacks {
    /// By stack: the turn in which it was last used.
    turn: Vec<u32>,
    now: u32,
}

impl UsedStacks {
    pub(super) fn new(tables: &Tables) -> Self {
        Self { turn: vec![0; tables.stacks.len()], now: 0 }
    }

    /// The stacks of `samples` and all their callers, in the order of their ids: callers first.
    pub(super) fn of(&mut self, tables: &Tables, samples: &[SampleId]) -> Vec<StackId> {
        self.now += 1;
        let mut used = Vec::new();
        for sample in samples {
            let mut next = tables.samples.stack[sample.index()];
            while let Some(stack) = next.filter(|stack| self.turn[stack.index()] != self.now) {
                self.turn[stack.index()] = self.now;
                used.push(stack);
                next = tables.stacks.parent[stack.index()];
            }
        }
        used.sort_unstable();
        used
    }
}
