//! Opens the events of targets. A target that runs is never stopped: its threads are listed until no thread is
//! left that neither has an event of its own nor was born with one.

use std::collections::BTreeMap;
use std::io;

use nix::errno::Errno;

use super::events::Events;
use super::forks::pending_births;
use super::rings::Rings;
use super::templates::Templates;
use super::{EventRole, StartError};
use crate::sys::perf::{Kernel, Subject};

/// A fork record is written after the new thread got its events. A thread born so shortly after its parent was
/// armed may lack some: it is armed again, and what it then reports twice is told apart by the event's identifier.
const BIRTH_SLACK_NS: u64 = 1_000_000;
/// A process that starts threads faster than they can be listed is left after so many passes: by then every
/// thread there was has events, and hands them on.
const PASSES_MAX: usize = 64;

/// What events are opened with.
pub(super) struct Arming<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) templates: &'a Templates,
    pub(super) rings: &'a Rings,
    pub(super) events: &'a mut Events,
}

impl Arming<'_> {
    /// Opens events that watch every process.
    pub(super) fn everyone(&mut self) -> Result<(), StartError> {
        self.open(Subject::Everyone).map_err(|errno| self.failure(errno, 0))
    }

    /// Opens events on the only thread of a process that waits at its gate.
    pub(super) fn gated(&mut self, pid: u32) -> Result<(), StartError> {
        self.open(Subject::Thread(pid)).map_err(|errno| self.failure(errno, pid))
    }

    /// Opens events on every thread of a process that runs, but those in `covered`. Returns how many threads that
    /// were.
    pub(super) fn process(&mut self, pid: u32, covered: &[u32]) -> Result<usize, StartError> {
        let mut armed_ns: BTreeMap<u32, u64> = covered.iter().map(|tid| (*tid, 0)).collect();
        let mut opened = 0;
        for _ in 0..PASSES_MAX {
            let listed = self.kernel.threads(pid).map_err(|error| listing_failure(&error, pid))?;
            self.mark_inherited(&mut armed_ns);
            let missing: Vec<_> = listed.into_iter().filter(|tid| !armed_ns.contains_key(tid)).collect();
            if missing.is_empty() {
                break;
            }
            for tid in missing {
                opened += usize::from(self.thread(pid, tid)?);
                armed_ns.insert(tid, self.kernel.now_ns());
            }
        }
        // Every thread was gone before its events were open.
        if opened == 0 && covered.is_empty() { Err(StartError::TargetGone { pid }) } else { Ok(opened) }
    }

    /// Whether the thread was still there.
    fn thread(&mut self, pid: u32, tid: u32) -> Result<bool, StartError> {
        match self.open(Subject::Thread(tid)) {
            Ok(()) => Ok(true),
            Err(Errno::ESRCH) => Ok(false),
            Err(errno) => Err(self.failure(errno, pid)),
        }
    }

    /// The side band first: no sample may come before the mappings and births that explain it.
    fn open(&mut self, subject: Subject) -> Result<(), Errno> {
        for role in [EventRole::SideBand, EventRole::Sampler] {
            self.events.open(self.kernel, self.templates, self.rings, subject, role)?;
        }
        Ok(())
    }

    fn mark_inherited(&self, armed_ns: &mut BTreeMap<u32, u64>) {
        for birth in pending_births(self.rings) {
            let parent_ns = armed_ns.get(&birth.parent_tid).copied();
            if parent_ns.is_some_and(|armed| birth.time_ns >= armed.saturating_add(BIRTH_SLACK_NS)) {
                armed_ns.entry(birth.tid).or_insert(birth.time_ns);
            }
        }
    }

    fn failure(&self, errno: Errno, pid: u32) -> StartError {
        match errno {
            Errno::ESRCH => StartError::TargetGone { pid },
            Errno::EACCES | Errno::EPERM => StartError::TargetNotPermitted { pid },
            Errno::EMFILE => self.out_of_descriptors(),
            errno => StartError::System { doing: "open an event on the target", errno },
        }
    }

    fn out_of_descriptors(&self) -> StartError {
        let machine = self.kernel.machine();
        let per_thread = 2 * machine.cpus.len().max(1) as u64;
        let threads = self.events.len() as u64 / per_thread + 1;
        let left = machine.descriptors.left();
        StartError::Descriptors { threads, needed: machine.descriptors.open + per_thread, left }
    }
}

fn listing_failure(error: &io::Error, pid: u32) -> StartError {
    match error.kind() {
        io::ErrorKind::NotFound => StartError::TargetGone { pid },
        io::ErrorKind::PermissionDenied => StartError::TargetNotPermitted { pid },
        _ => {
            let errno = Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
            StartError::System { doing: "list the threads of the target", errno }
        }
    }
}
