//! The rows of processes and threads: begun, named and ended here, and nowhere else.

use microscope_capture::{Builder, Process, ProcessId, StringId, Thread, ThreadId};
use rustc_hash::FxHashSet;

use super::Tracker;
use super::process::{Life, ProgramImage, Uncertain};
use super::space::AddressSpace;

/// What a program image begins with.
#[derive(Default)]
pub(super) struct Beginning {
    pub(super) parent: Option<ProcessId>,
    pub(super) exec_of: Option<ProcessId>,
    pub(super) name: Box<str>,
    pub(super) executable: Option<StringId>,
    pub(super) space: AddressSpace,
    /// The number of the space's answers, where they are another's.
    pub(super) generation: Option<u64>,
    pub(super) uncertain: Vec<Uncertain>,
}

impl Tracker {
    pub(super) fn begin_process(
        &mut self,
        pid: u32,
        time_ns: u64,
        beginning: Beginning,
        rows: &mut Builder,
    ) -> Option<ProcessId> {
        if rows.tables.processes.len() >= self.options.limits.processes {
            self.counts.processes_refused += 1;
            return None;
        }
        let Beginning { parent, exec_of, name, executable, space, generation, uncertain } = beginning;
        let row = Process {
            pid,
            namespace_pid: None,
            parent,
            exec_of,
            name: rows.string(&name),
            executable: executable.unwrap_or_else(no_name),
            start_ns: self.clock.relative(time_ns),
            end_ns: None,
        };
        let row = rows.tables.processes.push(row);
        self.generations += 1;
        let image = ProgramImage {
            row,
            pid,
            parent,
            start_ns: time_ns,
            end_ns: None,
            name,
            awaits_executable: false,
            space,
            running: FxHashSet::default(),
            uncertain,
            generation: generation.unwrap_or(self.generations),
            read_ns: None,
            is_missing: false,
        };
        self.images.insert(row, image);
        self.of_pid.entry(pid).or_default().push(row);
        Some(row)
    }

    pub(super) fn begin_thread(
        &mut self,
        process: ProcessId,
        pid: u32,
        tid: u32,
        time_ns: u64,
        name: StringId,
        rows: &mut Builder,
    ) -> Option<ThreadId> {
        let last = self.of_tid.get(&tid).and_then(|lives| lives.last()).filter(|life| life.end_ns.is_none());
        match last.copied() {
            Some(life) if life.process == process => return Some(life.thread),
            // Its end was lost: a number has one life at a time.
            Some(life) => self.end_thread(tid, life, time_ns, rows),
            None => {}
        }
        if rows.tables.threads.len() >= self.options.limits.threads {
            self.counts.threads_refused += 1;
            return None;
        }
        let image = self.images.get_mut(&process)?;
        image.running.insert(tid);
        let thread = rows.tables.threads.push(Thread {
            process,
            tid,
            namespace_tid: None,
            name,
            start_ns: self.clock.relative(time_ns),
            end_ns: None,
            user_time_ns: None,
            system_time_ns: None,
        });
        let life = Life { thread, process, pid, start_ns: time_ns, end_ns: None };
        self.of_tid.entry(tid).or_default().push(life);
        Some(thread)
    }

    /// Ends the running image of a pid, if there is one.
    pub(super) fn end_process(&mut self, pid: u32, time_ns: u64, rows: &mut Builder) {
        if let Some(row) = self.running(pid) {
            self.end_image(row, time_ns, rows);
        }
    }

    pub(super) fn end_image(&mut self, row: ProcessId, time_ns: u64, rows: &mut Builder) {
        let Some(image) = self.images.get_mut(&row) else { return };
        let end_ns = time_ns.max(image.start_ns);
        image.end_ns = Some(end_ns);
        let end = Some(self.clock.relative(end_ns));
        set(&mut rows.tables.processes.end_ns, row.index(), end);
        for tid in std::mem::take(&mut image.running) {
            self.end_life(tid, row, end_ns, rows);
        }
        self.with_space(row, rows, |image, rows| image.space.end_all(end_ns, rows));
    }

    /// Ends a thread, and with the last one its process.
    pub(super) fn end_thread(&mut self, tid: u32, life: Life, time_ns: u64, rows: &mut Builder) {
        self.end_life(tid, life.process, time_ns, rows);
        let Some(image) = self.images.get_mut(&life.process) else { return };
        image.running.remove(&tid);
        if image.running.is_empty() {
            self.end_image(life.process, time_ns, rows);
        }
    }

    pub(super) fn end_life(&mut self, tid: u32, process: ProcessId, time_ns: u64, rows: &mut Builder) {
        let lives = self.of_tid.get_mut(&tid).map(Vec::as_mut_slice).unwrap_or_default();
        let life = lives.iter_mut().rev().find(|life| life.process == process && life.end_ns.is_none());
        let Some(life) = life else { return };
        let end_ns = time_ns.max(life.start_ns);
        life.end_ns = Some(end_ns);
        let end = Some(self.clock.relative(end_ns));
        set(&mut rows.tables.threads.end_ns, life.thread.index(), end);
    }

    pub(super) fn rename_process(&mut self, process: ProcessId, name: Box<str>, rows: &mut Builder) {
        let id = rows.string(&name);
        set(&mut rows.tables.processes.name, process.index(), id);
        if let Some(image) = self.images.get_mut(&process) {
            image.name = name;
        }
    }
}

pub(super) fn no_name() -> StringId {
    StringId::new(0)
}

/// Changes one cell of a column.
pub(super) fn set<T>(column: &mut [T], index: usize, value: T) {
    if let Some(cell) = column.get_mut(index) {
        *cell = value;
    }
}
