//! Running totals of a recording: segments are folded in as they come, and never looked at again.
//!
//! What is kept per (thread, stop interval, stack, quantity) are integers, so the fold of all segments is the
//! analysis of the whole, however the recording was cut and in whatever order names arrived. A stop interval
//! begins where a debugger stopped the thread's process; which one a sample is in is certain once everything
//! before its time has arrived, and until then it waits.

mod costs;
mod dictionary;

use microscope_capture::segments::Dictionaries;
use microscope_capture::{MarkKind, MeasureId, ProcessId, Segment, StackId, Tables, ThreadId};
use rustc_hash::FxHashMap;

pub use costs::{Costs, Since};

use crate::weights::Cost;
use dictionary::Dictionary;

/// The running totals.
#[derive(Debug, Default)]
pub struct Accumulator {
    /// The dictionaries of the epoch at hand.
    epoch: Dictionaries,
    /// The dictionaries of all epochs, each row once.
    dictionary: Dictionary,
    cells: FxHashMap<Cell, Cost>,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    /// In the order of time.
    stops: Vec<Stop>,
    late_stops: u64,
    settled_to_ns: u64,
}

/// What totals are kept by. Ids are the dictionary's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Cell {
    thread: ThreadId,
    /// When the process last stopped before; 0 is the beginning.
    since_ns: u64,
    stack: Option<StackId>,
    measure: MeasureId,
}

/// A sample whose stop interval may still change.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    time_ns: u64,
    thread: ThreadId,
    stack: Option<StackId>,
    measure: MeasureId,
    weight: u64,
}

/// A debugger stopped a process, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stop {
    time_ns: u64,
    pid: Option<u32>,
}

impl Accumulator {
    /// No totals.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a segment. Everything before `complete_to_ns` has arrived, in this segment or earlier.
    pub fn fold(&mut self, segment: &Segment, complete_to_ns: u64) {
        self.epoch.follow(segment);
        self.dictionary.follow(segment.epoch().number(), self.epoch.tables());
        self.take_stops(segment.rows());
        self.take_samples(segment.rows());
        self.settle(complete_to_ns);
    }

    /// Nothing more arrives: what waits is added.
    pub fn finish(&mut self) {
        self.settle(u64::MAX);
    }

    /// Stops that arrived although everything before them was said to be there. Samples stay where they are.
    #[must_use]
    pub const fn late_stops(&self) -> u64 {
        self.late_stops
    }

    fn take_stops(&mut self, rows: &Tables) {
        for (_, mark) in rows.marks.iter().filter(|(_, mark)| mark.kind == MarkKind::Stopped) {
            self.late_stops += u64::from(mark.time_ns < self.settled_to_ns);
            let pid = mark.process.map(|process| self.pid(self.dictionary.process(process)));
            self.stops.push(Stop { time_ns: mark.time_ns, pid });
        }
        self.stops.sort_unstable();
        self.stops.dedup();
    }

    fn take_samples(&mut self, rows: &Tables) {
        for (_, sample) in rows.samples.iter() {
            self.waiting.push(Waiting {
                time_ns: sample.time_ns,
                thread: self.dictionary.thread(sample.thread),
                stack: sample.stack.map(|stack| self.dictionary.stack(stack)),
                measure: self.dictionary.measure(sample.measure),
                weight: sample.weight,
            });
        }
    }

    /// Adds what is older than `complete_to_ns`.
    fn settle(&mut self, complete_to_ns: u64) {
        self.settled_to_ns = self.settled_to_ns.max(complete_to_ns);
        let settled = self.settled_to_ns;
        for sample in std::mem::take(&mut self.waiting) {
            if sample.time_ns < settled {
                self.add(sample);
            } else {
                self.waiting.push(sample);
            }
        }
    }

    fn add(&mut self, sample: Waiting) {
        let Waiting { time_ns, thread, stack, measure, weight } = sample;
        let cell = Cell { thread, since_ns: self.stopped_before(thread, time_ns), stack, measure };
        *self.cells.entry(cell).or_default() += Cost { weight, samples: 1 };
    }

    /// When the thread's process last stopped, at `time_ns` or before; 0 if never.
    fn stopped_before(&self, thread: ThreadId, time_ns: u64) -> u64 {
        let pid = self.pid(self.dictionary.tables().threads.process[thread.index()]);
        let before = self.stops.partition_point(|stop| stop.time_ns <= time_ns);
        let stops = self.stops[..before].iter().rev();
        stops.filter(|stop| stop.pid.is_none_or(|of| of == pid)).map(|stop| stop.time_ns).next().unwrap_or(0)
    }

    fn pid(&self, process: ProcessId) -> u32 {
        self.dictionary.tables().processes.pid[process.index()]
    }
}
