//! One event counts for a thread on a processor.
//!
//! A thread that inherited an event and had another opened on it is sampled by both. Whichever is seen first
//! stays; inherited events keep the identifier of the one they came from.

use microscope_capture::ThreadId;
use rustc_hash::FxHashMap;

/// Which event counts.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    of_thread: FxHashMap<ThreadId, Vec<Counting>>,
}

#[derive(Debug, Clone, Copy)]
struct Counting {
    cpu: u32,
    event: u64,
}

impl Duplicates {
    /// Whether another event than `event` counts for the thread on the processor.
    pub(super) fn is_second(&mut self, thread: ThreadId, cpu: u32, event: u64) -> bool {
        let counting = self.of_thread.entry(thread).or_default();
        match counting.iter().find(|counting| counting.cpu == cpu) {
            Some(first) => first.event != event,
            None => {
                counting.push(Counting { cpu, event });
                false
            }
        }
    }

    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.of_thread.remove(&thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_of_a_thread_on_a_processor_counts() {
        let (a, b) = (ThreadId::new(0), ThreadId::new(1));
        let mut duplicates = Duplicates::default();
        let seen = [(a, 0, 10), (a, 0, 20), (a, 1, 20), (b, 0, 20), (a, 0, 10), (a, 1, 10)];
        let second = seen.map(|(thread, cpu, event)| duplicates.is_second(thread, cpu, event));
        assert_eq!(second, [false, true, false, false, false, true]);
    }

    #[test]
    fn a_forgotten_thread_begins_anew() {
        let mut duplicates = Duplicates::default();
        assert!(!duplicates.is_second(ThreadId::new(0), 0, 1));
        duplicates.forget(ThreadId::new(0));
        assert!(!duplicates.is_second(ThreadId::new(0), 0, 2));
    }
}
