//! What records say of tasks: they are forked, get names, run other programs, and end.

use microscope_capture::{Builder, ProcessId, StringId};

use super::lives::{Beginning, no_name, set};
use super::{Scope, Tracker};
use crate::records::{NewName, Stamp, Task};

impl Tracker {
    pub(super) fn on_fork(&mut self, task: &Task, time_ns: u64, rows: &mut Builder) {
        if task.pid == task.parent_pid {
            let Some(process) = self.adopt(task.pid, time_ns, rows) else { return };
            let name = self.thread_name(task.parent_tid, process, rows);
            self.begin_thread(process, task.pid, task.tid, time_ns, name, rows);
        } else {
            self.on_new_process(task, time_ns, rows);
        }
    }

    fn on_new_process(&mut self, task: &Task, time_ns: u64, rows: &mut Builder) {
        let parent = self.running(task.parent_pid);
        if !self.options.children || (parent.is_none() && !self.is_in_scope(task.pid)) {
            return;
        }
        if self.running(task.pid).is_some_and(|row| self.starts_at(row) >= time_ns) {
            return;
        }
        self.end_process(task.pid, time_ns, rows);
        let beginning = parent.and_then(|row| self.inherit(row, time_ns, rows)).unwrap_or_default();
        let thread_name = parent.map(|row| self.thread_name(task.parent_tid, row, rows));
        let is_known = parent.is_some() && beginning.uncertain.is_empty();
        let Some(process) = self.begin_process(task.pid, time_ns, beginning, rows) else { return };
        self.begin_thread(process, task.pid, task.tid, time_ns, thread_name.unwrap_or_else(no_name), rows);
        if !is_known {
            self.read_again(process, time_ns);
        }
    }

    fn inherit(&self, parent: ProcessId, time_ns: u64, rows: &Builder) -> Option<Beginning> {
        let image = self.images.get(&parent)?;
        Some(Beginning {
            parent: Some(parent),
            exec_of: None,
            name: image.name.clone(),
            executable: rows.tables.processes.executable.get(parent.index()).copied(),
            space: image.space.fork(time_ns),
            generation: Some(image.generation),
            uncertain: image.uncertain.iter().copied().filter(|time| time.until_ns == u64::MAX).collect(),
        })
    }

    pub(super) fn on_exit(&mut self, task: &Task, time_ns: u64, rows: &mut Builder) {
        let lives = self.of_tid.get(&task.tid).map(Vec::as_slice).unwrap_or_default();
        let running = lives.iter().rev().find(|life| life.pid == task.pid && life.end_ns.is_none());
        match running.filter(|life| life.start_ns <= time_ns).copied() {
            Some(life) => self.end_thread(task.tid, life, time_ns, rows),
            None => self.on_unmatched_exit(task, time_ns, rows),
        }
    }

    /// An exit of a thread that was not known. It ends a process none of whose threads was.
    fn on_unmatched_exit(&mut self, task: &Task, time_ns: u64, rows: &mut Builder) {
        let Some(process) = self.running(task.pid) else { return };
        self.counts.exits_unmatched += 1;
        let knows_no_thread = self.images.get(&process).is_some_and(|image| image.running.is_empty());
        if knows_no_thread && task.tid == task.pid {
            self.end_image(process, time_ns, rows);
        }
    }

    pub(super) fn on_name(&mut self, name: &NewName<'_>, time_ns: u64, rows: &mut Builder) {
        let text = self.options.limits.text(name.name);
        if name.is_exec {
            self.on_exec(name.pid, &text, time_ns, rows);
            return;
        }
        let Some(process) = self.adopt(name.pid, time_ns, rows) else { return };
        let id = rows.string(&text);
        let found = self.resolve(name.pid, name.tid, time_ns, rows);
        if let Some(thread) = found {
            set(&mut rows.tables.threads.name, thread.thread.index(), id);
        }
        if name.pid == name.tid {
            self.rename_process(process, text.into(), rows);
        }
    }

    /// Another program began. All other threads are gone; the one that asked for it now has the process's
    /// number, whatever its own was.
    fn on_exec(&mut self, pid: u32, name: &str, time_ns: u64, rows: &mut Builder) {
        let old = self.running(pid);
        if old.is_some_and(|row| self.starts_at(row) > time_ns) || (old.is_none() && !self.is_in_scope(pid)) {
            return;
        }
        let parent = old.and_then(|row| self.images.get(&row)?.parent);
        self.end_process(pid, time_ns, rows);
        let beginning = Beginning { parent, exec_of: old, name: name.into(), ..Beginning::default() };
        let Some(process) = self.begin_process(pid, time_ns, beginning, rows) else { return };
        if let Some(image) = self.images.get_mut(&process) {
            image.awaits_executable = true;
        }
        let name = rows.string(name);
        self.begin_thread(process, pid, pid, time_ns, name, rows);
    }

    /// The running image of a process that belongs to the recording; a process not met before begins now, and
    /// what it had before is read.
    pub(super) fn adopt(&mut self, pid: u32, time_ns: u64, rows: &mut Builder) -> Option<ProcessId> {
        if let Some(row) = self.running(pid) {
            return Some(row);
        }
        if !self.is_in_scope(pid) || time_ns.saturating_add(super::RETAINED_NS) < self.now_ns {
            return None;
        }
        let process = self.begin_process(pid, time_ns, Beginning::default(), rows)?;
        self.read_again(process, time_ns);
        Some(process)
    }

    pub(super) fn is_in_scope(&self, pid: u32) -> bool {
        let is_task = pid != 0 && pid != Stamp::GONE;
        is_task && (self.options.scope == Scope::Everything || self.targets.contains(&pid))
    }

    pub(super) fn running(&self, pid: u32) -> Option<ProcessId> {
        let row = *self.of_pid.get(&pid)?.last()?;
        self.images.get(&row)?.is_running().then_some(row)
    }

    fn starts_at(&self, row: ProcessId) -> u64 {
        self.images.get(&row).map_or(0, |image| image.start_ns)
    }

    /// A new thread is called what the one that began it was called then.
    fn thread_name(&self, tid: u32, process: ProcessId, rows: &Builder) -> StringId {
        let life = self.of_tid.get(&tid).and_then(|lives| lives.iter().rev().find(|l| l.process == process));
        let name = life.and_then(|life| rows.tables.threads.name.get(life.thread.index()));
        name.or_else(|| rows.tables.processes.name.get(process.index())).copied().unwrap_or_else(no_name)
    }
}
