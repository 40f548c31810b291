//! What is kept of processes and threads while questions about them may come.

use microscope_capture::{ProcessId, ThreadId};
use rustc_hash::FxHashSet;

use super::space::AddressSpace;

/// One program image of a process: from fork or exec to exec or exit.
#[derive(Debug)]
pub(super) struct ProgramImage {
    pub(super) row: ProcessId,
    pub(super) pid: u32,
    pub(super) parent: Option<ProcessId>,
    pub(super) start_ns: u64,
    pub(super) end_ns: Option<u64>,
    pub(super) name: Box<str>,
    /// Whether the executable's path is still to be learned from its first mapping of a file.
    pub(super) awaits_executable: bool,
    pub(super) space: AddressSpace,
    /// Threads that have not ended.
    pub(super) running: FxHashSet<u32>,
    /// From the loss of records to the time that mappings were read again; open while the reading is awaited.
    pub(super) uncertain: Vec<Uncertain>,
    /// Names the answers that the space gives now; see `CodeMap::generation`.
    pub(super) generation: u64,
    /// When it was last read from `/proc`.
    pub(super) read_ns: Option<u64>,
    /// Whether `/proc` had no such process any more.
    pub(super) is_missing: bool,
}

/// A time in which mappings are not known for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uncertain {
    pub(super) from_ns: u64,
    pub(super) until_ns: u64,
}

impl ProgramImage {
    pub(super) const fn is_running(&self) -> bool {
        self.end_ns.is_none()
    }

    pub(super) fn is_uncertain_at(&self, time_ns: u64) -> bool {
        self.uncertain.iter().any(|time| time.from_ns <= time_ns && time_ns < time.until_ns)
    }
}

/// One life of a thread number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    pub(super) thread: ThreadId,
    pub(super) process: ProcessId,
    pub(super) pid: u32,
    pub(super) start_ns: u64,
    pub(super) end_ns: Option<u64>,
}

/// Which thread a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadRef {
    /// The program image it ran in.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
}
