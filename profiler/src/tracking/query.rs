//! Questions about a time: whose a record is, which module lies at an address.

use std::sync::Arc;

use microscope_capture::{Builder, MappingId, ProcessId};

use super::lives::no_name;
use super::process::{ProgramImage, ThreadRef};
use super::{LoadedModule, Scope, Tracker};
use crate::records::Stamp;

/// One process's mappings at one time.
#[derive(Clone, Copy)]
pub struct Space<'t> {
    tracker: &'t Tracker,
    image: &'t ProgramImage,
    time_ns: u64,
    generation: u64,
    is_uncertain: bool,
}

/// What lies at an address.
#[derive(Clone, Copy)]
pub struct MappingView<'t> {
    /// The module.
    pub module: &'t Arc<LoadedModule>,
    /// The mapping's first address.
    pub start_address: u64,
    /// One past its last.
    pub end_address: u64,
    /// The relative address that the first one is.
    pub relative_start: u64,
    /// Its row, unless a bound kept it from having one.
    pub row: Option<MappingId>,
}

impl MappingView<'_> {
    /// The relative address of an address in the mapping.
    #[must_use]
    pub const fn relative_address(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start_address).wrapping_add(self.relative_start)
    }
}

impl<'t> Space<'t> {
    /// Names the answers of [`Self::find`]: equal numbers promise equal answers, in any process. Processes that
    /// share their mappings after a fork share the number.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether records were lost, so that what [`Self::find`] says may be out of date.
    #[must_use]
    pub const fn is_uncertain(&self) -> bool {
        self.is_uncertain
    }

    /// The executable mapping at an address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<MappingView<'t>> {
        let entry = self.image.space.find(address, self.time_ns)?;
        Some(MappingView {
            module: self.tracker.modules.get(entry.module)?,
            start_address: entry.start_address,
            end_address: entry.end_address,
            relative_start: entry.relative_start,
            row: entry.row,
        })
    }
}

impl Tracker {
    /// Whose a record of `pid` and `tid` at a time is.
    ///
    /// A thread of a recorded process that was not met before begins then. `None` for idle, for tasks past their
    /// exit, for processes outside the recording, and past a bound; it is counted unless the processor was idle.
    pub fn resolve(&mut self, pid: u32, tid: u32, time_ns: u64, rows: &mut Builder) -> Option<ThreadRef> {
        let found = self.life_at(pid, tid, time_ns).or_else(|| self.first_seen(pid, tid, time_ns, rows));
        let Some(found) = found else {
            let is_idle = pid == 0 && tid == 0;
            self.counts.unknown_threads += u64::from(!is_idle && self.is_counted(pid));
            return None;
        };
        self.own_rows(found.process, rows);
        Some(found)
    }

    fn is_counted(&self, pid: u32) -> bool {
        self.options.scope == Scope::Everything || self.targets.contains(&pid)
    }

    /// The newest life that had begun by then. It counts past its end too: a task may still be sampled on its
    /// way out.
    fn life_at(&self, pid: u32, tid: u32, time_ns: u64) -> Option<ThreadRef> {
        let lives = self.of_tid.get(&tid)?;
        let life = lives.iter().rev().find(|life| life.pid == pid && life.start_ns <= time_ns)?;
        Some(ThreadRef { process: life.process, thread: life.thread })
    }

    fn first_seen(&mut self, pid: u32, tid: u32, time_ns: u64, rows: &mut Builder) -> Option<ThreadRef> {
        if tid == 0 || tid == Stamp::GONE {
            return None;
        }
        let process = self.adopt(pid, time_ns, rows)?;
        let image = self.images.get(&process)?;
        if image.start_ns > time_ns {
            return None;
        }
        let name = rows.tables.processes.name.get(process.index()).copied().unwrap_or_else(no_name);
        let thread = self.begin_thread(process, pid, tid, time_ns, name, rows)?;
        self.counts.threads_first_seen += 1;
        Some(ThreadRef { process, thread })
    }

    /// A process that was asked about has mapping rows of its own, inherited ones too.
    fn own_rows(&mut self, process: ProcessId, rows: &mut Builder) {
        if self.images.get(&process).is_some_and(|image| image.space.is_inherited()) {
            self.with_space(process, rows, |image, rows| image.space.own(rows));
        }
    }

    /// A process's mappings at a time.
    #[must_use]
    pub fn space(&self, process: ProcessId, time_ns: u64) -> Option<Space<'_>> {
        let image = self.images.get(&process)?;
        let is_past = time_ns < image.space.changed_ns();
        let generation = if is_past { self.past_generation() } else { image.generation };
        let is_uncertain = image.is_uncertain_at(time_ns);
        Some(Space { tracker: self, image, time_ns, generation, is_uncertain })
    }

    /// The executable mapping at an address of a process at a time.
    #[must_use]
    pub fn find(&self, process: ProcessId, address: u64, time_ns: u64) -> Option<MappingView<'_>> {
        self.space(process, time_ns)?.find(address)
    }

    /// Answers about the past are of use once: their number is never given again.
    fn past_generation(&self) -> u64 {
        const PAST: u64 = 1 << 63;
        self.past_generations.set(self.past_generations.get() + 1);
        PAST | self.past_generations.get()
    }
}
