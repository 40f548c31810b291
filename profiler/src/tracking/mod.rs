//! Who ran and what they had mapped, at each time.
//!
//! [`Tracker::on`] takes every record in order and keeps processes, threads and mappings, as rows of the capture
//! and as answers: [`Tracker::resolve`] tells whose a record is, [`Tracker::space`] which module lies at an
//! address of a process. Both take the time asked about, since records may be late and samples may wait.
//!
//! Outside help comes through [`Files`]: a file is opened when its mapping is met, so that its descriptor
//! outlives its path; mappings and threads of processes that already ran are read from `/proc`. Such a reading
//! takes effect when the records reach the time it was made at, never earlier.

mod entry;
mod limits;
mod lives;
mod locate;
mod mappings;
mod module;
mod modules;
mod process;
mod query;
mod rows;
mod snapshot;
mod space;
mod tasks;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use microscope_capture::{Builder, ProcessId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::collector::{RingId, RingKind};
use crate::files::Files;
use crate::records::{Body, Lost, Record};
use modules::Modules;
use process::{Life, ProgramImage, Uncertain};
use rows::{Clock, MappingRows};
use snapshot::Snapshot;

pub use limits::{Counts, Limits};
pub use module::{LoadedModule, NoImage};
pub use process::ThreadRef;
pub use query::{MappingView, Space};

/// How long ended processes, threads and mappings still answer. Longer than records wait for their round and
/// samples for their module.
pub const RETAINED_NS: u64 = 5_000_000_000;
/// A process's mappings are read again at most this often.
const READ_AGAIN_NS: u64 = 100_000_000;

/// Whose records a recording keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every record: the events were opened on the wanted threads only.
    Everything,
    /// Those of the targets and of what they start: the events see the whole machine.
    Targets,
}

/// What a tracker is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackerOptions {
    /// The recording's start, by CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Whose records are kept.
    pub scope: Scope,
    /// Whether processes that the targets start belong to the recording.
    pub children: bool,
    /// Bounds.
    pub limits: Limits,
}

/// Processes, threads, mappings and modules over time.
pub struct Tracker {
    options: TrackerOptions,
    clock: Clock,
    files: Arc<dyn Files>,
    modules: Modules,
    kernel: Option<Arc<LoadedModule>>,
    images: FxHashMap<ProcessId, ProgramImage>,
    /// The program images that a pid had, the newest last.
    of_pid: FxHashMap<u32, Vec<ProcessId>>,
    /// The lives that a thread number had, the newest last.
    of_tid: FxHashMap<u32, Vec<Life>>,
    /// Processes that were launched or attached to.
    targets: FxHashSet<u32>,
    /// Readings of `/proc`, in the order of their times, which records have not reached.
    snapshots: VecDeque<Snapshot>,
    /// When processes are due to be read again.
    due: Vec<(u64, ProcessId)>,
    /// The last record of each side-band ring: what was lost lies after it.
    last_seen_ns: FxHashMap<RingId, u64>,
    now_ns: u64,
    swept_ns: u64,
    generations: u64,
    past_generations: std::cell::Cell<u64>,
    forgotten: Vec<ThreadId>,
    counts: Counts,
}

impl Tracker {
    /// Nothing yet.
    #[must_use]
    pub fn new(options: TrackerOptions, files: Arc<dyn Files>) -> Self {
        Self {
            options,
            clock: Clock { start_ns: options.start_ns },
            files,
            modules: Modules::default(),
            kernel: None,
            images: FxHashMap::default(),
            of_pid: FxHashMap::default(),
            of_tid: FxHashMap::default(),
            targets: FxHashSet::default(),
            snapshots: VecDeque::new(),
            due: Vec::new(),
            last_seen_ns: FxHashMap::default(),
            now_ns: 0,
            swept_ns: 0,
            generations: 0,
            past_generations: std::cell::Cell::new(0),
            forgotten: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// A process that waits at the gate belongs to the recording. All it will be comes as records.
    pub fn launch(&mut self, pid: u32) {
        self.targets.insert(pid);
    }

    /// Takes the next record.
    pub fn on(&mut self, ring: RingId, record: &Record<'_>, rows: &mut Builder) {
        let time_ns = record.stamp.time_ns;
        self.advance(time_ns, rows);
        match &record.body {
            Body::Fork(task) => self.on_fork(task, time_ns, rows),
            Body::Exit(task) => self.on_exit(task, time_ns, rows),
            Body::Name(name) => self.on_name(name, time_ns, rows),
            Body::Mapping(mapping) => self.on_mapping(mapping, time_ns, rows),
            Body::Lost(lost) if ring.kind == RingKind::SideBand => self.on_lost(ring, *lost, time_ns, rows),
            _ => {}
        }
        if ring.kind == RingKind::SideBand {
            self.last_seen_ns.insert(ring, time_ns);
        }
    }

    /// Lets what was read outside take effect up to a time, and forgets what nobody can ask about any more.
    pub fn advance(&mut self, time_ns: u64, rows: &mut Builder) {
        if time_ns <= self.now_ns {
            return;
        }
        self.now_ns = time_ns;
        while self.snapshots.front().is_some_and(|snapshot| snapshot.time_ns <= time_ns) {
            if let Some(snapshot) = self.snapshots.pop_front() {
                self.apply(&snapshot, rows);
            }
        }
        self.read_due(time_ns);
        if time_ns.saturating_sub(self.swept_ns) > RETAINED_NS / 8 {
            self.swept_ns = time_ns;
            self.forget_before(time_ns.saturating_sub(RETAINED_NS));
        }
    }

    /// Everything was recorded. What still runs stays open; what was found gone without a record of its end
    /// ends with the last record.
    pub fn finish(&mut self, rows: &mut Builder) {
        let last_ns = self.now_ns;
        self.due.clear();
        while let Some(snapshot) = self.snapshots.pop_front() {
            self.apply(&snapshot, rows);
        }
        let gone = self.images.values().filter(|image| image.is_missing && image.is_running());
        let mut gone: Vec<ProcessId> = gone.map(|image| image.row).collect();
        gone.sort_unstable();
        for row in gone {
            self.end_image(row, last_ns, rows);
        }
    }

    /// Threads that no question can be about any more, since the last call.
    pub fn take_forgotten(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.forgotten)
    }

    /// The row of the kernel.
    pub fn kernel(&mut self, rows: &mut Builder) -> Arc<LoadedModule> {
        let files = &*self.files;
        Arc::clone(self.kernel.get_or_insert_with(|| modules::kernel(files, rows)))
    }

    /// Every module met, in the order met.
    #[must_use]
    pub fn modules(&self) -> &[Arc<LoadedModule>] {
        self.modules.all()
    }

    /// What could not be kept or told.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Records about mappings and tasks were lost: everything known may be out of date until it is read again.
    fn on_lost(&mut self, ring: RingId, lost: Lost, time_ns: u64, rows: &mut Builder) {
        self.counts.side_band_lost = self.counts.side_band_lost.saturating_add(lost.count);
        let from_ns = self.last_seen_ns.get(&ring).copied().unwrap_or(self.options.start_ns);
        let mut running: Vec<ProcessId> =
            self.images.values().filter(|image| image.is_running()).map(|image| image.row).collect();
        running.sort_unstable();
        for row in running {
            self.doubt(row, from_ns.min(time_ns), rows);
            self.read_again(row, time_ns);
        }
    }

    /// A process's mappings are uncertain until they are read.
    fn doubt(&mut self, row: ProcessId, from_ns: u64, rows: &mut Builder) {
        self.generations += 1;
        let generation = self.generations;
        let now_ns = self.now_ns;
        self.with_space(row, rows, |image, rows| {
            if image.uncertain.iter().all(|time| time.until_ns != u64::MAX) {
                image.uncertain.push(Uncertain { from_ns, until_ns: u64::MAX });
            }
            image.generation = generation;
            image.space.touch(now_ns);
            image.space.mark_uncertain(rows);
        });
    }

    fn forget_before(&mut self, time_ns: u64) {
        let is_old = |end_ns: Option<u64>| end_ns.is_some_and(|end_ns| end_ns < time_ns);
        self.images.retain(|_, image| !is_old(image.end_ns));
        for image in self.images.values_mut() {
            image.space.forget_before(time_ns);
            image.uncertain.retain(|time| time.until_ns >= time_ns);
        }
        let (images, forgotten) = (&self.images, &mut self.forgotten);
        self.of_pid.retain(|_, rows| {
            rows.retain(|row| images.contains_key(row));
            !rows.is_empty()
        });
        self.of_tid.retain(|_, lives| {
            forgotten.extend(lives.iter().filter(|life| is_old(life.end_ns)).map(|life| life.thread));
            lives.retain(|life| !is_old(life.end_ns));
            !lives.is_empty()
        });
        self.forgotten.sort_unstable();
    }

    /// Changes a process with its mapping rows at hand.
    fn with_space<R>(
        &mut self,
        row: ProcessId,
        builder: &mut Builder,
        change: impl FnOnce(&mut ProgramImage, &mut MappingRows<'_>) -> R,
    ) -> Option<R> {
        let image = self.images.get_mut(&row)?;
        let mut rows = MappingRows {
            builder,
            process: row,
            clock: self.clock,
            limit: self.options.limits.mappings,
            refused: &mut self.counts.mappings_refused,
        };
        Some(change(image, &mut rows))
    }
}
