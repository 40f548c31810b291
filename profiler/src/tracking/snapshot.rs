//! What `/proc` says of a running process: read at once, believed from the time of reading on.

use microscope_capture::{Builder, ProcessId};

use super::lives::set;
use super::locate::Mapped;
use super::{READ_AGAIN_NS, Tracker};
use crate::files::{Answer, FileProblem, Files, MapsLine, Text, maps_lines};
use crate::records::Evidence;

/// A reading of one process.
pub(super) struct Snapshot {
    /// When it was complete.
    pub(super) time_ns: u64,
    pid: u32,
    /// Whether it is made because records were lost.
    after_loss: bool,
    maps: Result<Vec<u8>, FileProblem>,
    threads: Vec<ThreadFacts>,
    executable: Vec<u8>,
}

struct ThreadFacts {
    tid: u32,
    name: Vec<u8>,
    namespace_tid: Option<u32>,
}

impl Tracker {
    /// A process that already runs belongs to the recording from now on: reads what it has mapped and its
    /// threads. Call it once its side band is recorded and before it is sampled: then no change is missed, and no
    /// sample is older than the reading.
    pub fn attach(&mut self, pid: u32) -> Result<(), FileProblem> {
        let snapshot = read(pid, false, &*self.files);
        snapshot.maps.as_ref().map_err(|problem| *problem)?;
        self.targets.insert(pid);
        self.queue(snapshot);
        Ok(())
    }

    /// Reads a process again now, or soon when it was read a moment ago.
    pub(super) fn read_again(&mut self, row: ProcessId, time_ns: u64) {
        let last_ns = self.images.get(&row).and_then(|image| image.read_ns);
        match last_ns.map(|last| last.saturating_add(READ_AGAIN_NS)).filter(|due| *due > time_ns) {
            None => self.read_now(row),
            Some(due) if self.due.iter().all(|(_, waiting)| *waiting != row) => self.due.push((due, row)),
            Some(_) => {}
        }
    }

    pub(super) fn read_due(&mut self, time_ns: u64) {
        while let Some(index) = self.due.iter().position(|(due, _)| *due <= time_ns) {
            let (_, row) = self.due.swap_remove(index);
            self.read_now(row);
        }
    }

    fn read_now(&mut self, row: ProcessId) {
        let Some(image) = self.images.get_mut(&row).filter(|image| image.is_running()) else { return };
        let snapshot = read(image.pid, !image.uncertain.is_empty(), &*self.files);
        // A reading that failed has no time, and is not to be tried again at once either.
        image.read_ns = Some(snapshot.time_ns.max(self.now_ns));
        self.queue(snapshot);
    }

    /// Readings are made one after another, so the last is the latest; a clock that disagrees changes nothing.
    fn queue(&mut self, snapshot: Snapshot) {
        let after = self.snapshots.partition_point(|other| other.time_ns <= snapshot.time_ns);
        self.snapshots.insert(after, snapshot);
    }

    pub(super) fn apply(&mut self, snapshot: &Snapshot, rows: &mut Builder) {
        let Snapshot { time_ns, pid, .. } = *snapshot;
        let Ok(maps) = &snapshot.maps else {
            self.counts.maps_unreadable += 1;
            let row = self.running(pid);
            if let Some(image) = row.and_then(|row| self.images.get_mut(&row)) {
                image.is_missing = true;
            }
            return;
        };
        self.counts.maps_read_again += u64::from(snapshot.after_loss);
        let process = match self.running(pid) {
            Some(process) => process,
            None if self.is_in_scope(pid) => {
                match self.begin_process(pid, time_ns, super::lives::Beginning::default(), rows) {
                    Some(process) => process,
                    None => return,
                }
            }
            None => return,
        };
        self.apply_threads(process, snapshot, rows);
        self.apply_maps(process, maps, snapshot, rows);
        self.end_doubt(process, time_ns);
    }

    fn apply_threads(&mut self, process: ProcessId, snapshot: &Snapshot, rows: &mut Builder) {
        for facts in &snapshot.threads {
            let name = rows.string(&self.options.limits.text(&facts.name));
            let begun = self.begin_thread(process, snapshot.pid, facts.tid, snapshot.time_ns, name, rows);
            let Some(thread) = begun else { continue };
            set(&mut rows.tables.threads.name, thread.index(), name);
            set(&mut rows.tables.threads.namespace_tid, thread.index(), facts.namespace_tid);
            if facts.tid == snapshot.pid {
                set(&mut rows.tables.processes.namespace_pid, process.index(), facts.namespace_tid);
                let name = self.options.limits.text(&facts.name);
                self.rename_process(process, name.into(), rows);
            }
        }
        if snapshot.after_loss && !snapshot.threads.is_empty() {
            self.end_unlisted(process, snapshot, rows);
        }
        if !snapshot.executable.is_empty() {
            let path = self.options.limits.text(&snapshot.executable);
            let path = rows.string(path.strip_suffix(" (deleted)").unwrap_or(&path));
            set(&mut rows.tables.processes.executable, process.index(), path);
        }
    }

    /// Threads whose end was among the lost records.
    fn end_unlisted(&mut self, process: ProcessId, snapshot: &Snapshot, rows: &mut Builder) {
        let Some(image) = self.images.get(&process) else { return };
        let is_listed = |tid: &u32| snapshot.threads.binary_search_by_key(tid, |facts| facts.tid).is_ok();
        let mut gone: Vec<u32> = image.running.iter().copied().filter(|tid| !is_listed(tid)).collect();
        gone.sort_unstable();
        for tid in gone {
            let task = crate::records::Task { pid: snapshot.pid, parent_pid: 0, tid, parent_tid: 0 };
            self.on_exit(&task, snapshot.time_ns, rows);
        }
    }

    fn apply_maps(&mut self, process: ProcessId, maps: &[u8], snapshot: &Snapshot, rows: &mut Builder) {
        let lines: Vec<MapsLine<'_>> = maps_lines(maps).filter(|line| line.is_executable).collect();
        self.end_unmapped(process, &lines, snapshot.time_ns, rows);
        for line in &lines {
            if self.is_known(process, line) {
                continue;
            }
            let mapped = Mapped {
                pid: snapshot.pid,
                start_address: line.start_address,
                end_address: line.end_address,
                path: if line.path.is_empty() { b"//anon" } else { &line.path },
                evidence: if line.key.inode == 0 { Evidence::None } else { Evidence::Inode(line.key) },
            };
            let is_uncertain = snapshot.after_loss;
            self.map(process, &mapped, line.file_offset, snapshot.time_ns, is_uncertain, rows);
        }
    }

    /// Whether a record already told of a line: the same file at the same place.
    fn is_known(&self, process: ProcessId, line: &MapsLine<'_>) -> bool {
        let image = self.images.get(&process);
        let Some(entry) = image.and_then(|image| image.space.at(line.start_address)) else { return false };
        let is_same_place = line.end_address <= entry.end_address
            && line.start_address.wrapping_sub(line.file_offset)
                == entry.start_address.wrapping_sub(entry.file_offset);
        let file_key = self.modules.get(entry.module).and_then(|module| module.file_key);
        is_same_place && file_key.is_some_and(|key| key.inode == line.key.inode)
    }

    /// What lies outside every line is gone.
    fn end_unmapped(&mut self, process: ProcessId, lines: &[MapsLine<'_>], time_ns: u64, rows: &mut Builder) {
        self.change_space(process, rows, |image, rows| {
            let mut free_from = 0;
            for line in lines {
                if free_from < line.start_address {
                    image.space.cut(free_from, line.start_address, time_ns, rows);
                }
                free_from = free_from.max(line.end_address);
            }
            image.space.cut(free_from, u64::MAX, time_ns, rows);
        });
    }

    fn end_doubt(&mut self, process: ProcessId, time_ns: u64) {
        self.generations += 1;
        let generation = self.generations;
        let Some(image) = self.images.get_mut(&process) else { return };
        image.space.touch(time_ns);
        image.generation = generation;
        for time in &mut image.uncertain {
            if time.from_ns <= time_ns && time.until_ns == u64::MAX {
                time.until_ns = time_ns;
            }
        }
    }
}

fn read(pid: u32, after_loss: bool, files: &dyn Files) -> Snapshot {
    let executable = files.text(&Text::Executable { pid }).map(|answer| answer.value).unwrap_or_default();
    let tids = files.threads(pid).map(|answer| answer.value).unwrap_or_default();
    let threads: Vec<ThreadFacts> = tids.into_iter().map(|tid| read_thread(pid, tid, files)).collect();
    let maps = files.text(&Text::Maps { pid });
    let time_ns = maps.as_ref().map_or(0, |answer| answer.time_ns);
    let maps = maps.map(|Answer { value, .. }| value);
    Snapshot { time_ns, pid, after_loss, maps, threads, executable }
}

fn read_thread(pid: u32, tid: u32, files: &dyn Files) -> ThreadFacts {
    let mut name = files.text(&Text::Comm { pid, tid }).map(|answer| answer.value).unwrap_or_default();
    if name.last() == Some(&b'\n') {
        name.pop();
    }
    let status = files.text(&Text::Status { pid, tid }).map(|answer| answer.value).unwrap_or_default();
    ThreadFacts { tid, name, namespace_tid: innermost_id(&status) }
}

/// The last number of the line `NSpid:`: the thread's number in its own namespace.
fn innermost_id(status: &[u8]) -> Option<u32> {
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"NSpid:"))?;
    std::str::from_utf8(line).ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_namespace_number_is_the_last() {
        assert_eq!(innermost_id(b"Name:\tx\nNSpid:\t1234\t7\nNSsid:\t1\t2\n"), Some(7));
        assert_eq!(innermost_id(b"Name:\tx\n"), None);
        assert_eq!(innermost_id(b"NSpid:\t\n"), None);
    }
}
