//! What threads and tasks did between samples: intervals, waits, tasks, snapshots, system calls.

use crate::column::coded_enum;
use crate::table::table;
use crate::{
    ClaimId, IntervalId, SampleId, SnapshotId, StackId, StringId, SyscallId, TaskId, ThreadId, WaitId,
};

coded_enum! {
    /// Why a thread was not on a processor.
    pub enum IntervalKind {
        /// Switched out; no cause is known.
        OffCpu = 0 => "off-cpu",
        /// Taken off while it could have run.
        Preempted = 1 => "preempted",
        /// Went to sleep by itself.
        Blocked = 2 => "blocked",
        /// In an uninterruptible sleep.
        Uninterruptible = 3 => "uninterruptible",
        /// Stopped by a signal or a debugger.
        Stopped = 4 => "stopped",
    }
}

table! {
    /// Times when a thread did not run. An edge that was not seen is absent, never invented.
    pub table Intervals("intervals") of
    /// One interval.
    Interval by IntervalId {
        /// Which thread.
        thread: ThreadId,
        /// Why, as far as there is evidence.
        kind: IntervalKind,
        /// When it began, if that was seen.
        start_ns: Option<u64>,
        /// When it ended, if that was seen. Invariant: not before the start.
        end_ns: Option<u64>,
        /// Where it began.
        stack: Option<StackId>,
    }
}

table! {
    /// Readings of a runtime's state.
    pub table Snapshots("snapshots") of
    /// One reading.
    Snapshot by SnapshotId {
        /// When it began.
        time_ns: u64,
        /// How long the target was stopped for it; 0 for a live reading.
        pause_ns: u64,
        /// Which runtime.
        runtime: StringId,
        /// Tasks that were left out, because they changed or a bound was met.
        omitted: u32,
    }
}

table! {
    /// Goroutines, tokio tasks, and threads of interpreters.
    pub table Tasks("tasks") of
    /// One task.
    Task by TaskId {
        /// The runtime's own number for it.
        number: u64,
        /// Its name or the place that made it.
        name: StringId,
        /// When it was first seen.
        first_seen_ns: u64,
        /// When it was last seen. Invariant: not before the first.
        last_seen_ns: u64,
    }
}

table! {
    /// Where tasks and threads waited, as a snapshot saw them.
    pub table Waits("waits") of
    /// One wait.
    Wait by WaitId {
        /// Which task.
        task: TaskId,
        /// The reading that saw it.
        snapshot: SnapshotId,
        /// The thread it was on, if on one.
        thread: Option<ThreadId>,
        /// Where it waited.
        stack: Option<StackId>,
        /// What for, in the runtime's words.
        reason: StringId,
    }
}

table! {
    /// Samples that ran a task, by proof.
    pub table Claims("claims") of
    /// One claim.
    Claim by ClaimId {
        /// The sample.
        sample: SampleId,
        /// The task.
        task: TaskId,
    }
}

table! {
    /// System calls.
    pub table Syscalls("syscalls") of
    /// One system call.
    Syscall by SyscallId {
        /// Which thread.
        thread: ThreadId,
        /// Its number on this architecture.
        number: u32,
        /// When it was entered, if that was seen.
        start_ns: Option<u64>,
        /// When it returned, if that was seen. Invariant: not before the start.
        end_ns: Option<u64>,
        /// What it returned, if that was seen.
        result: Option<i64>,
        /// Where it was called.
        stack: Option<StackId>,
    }
}
