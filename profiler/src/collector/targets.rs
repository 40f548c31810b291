//! The processes a recording is about: when they end, and what they used.

use std::process::ExitStatus;
use std::sync::Arc;

use nix::errno::Errno;

use super::{StartError, TargetReport};
use crate::sys::handle::{Ended, ProcessHandle};
use crate::sys::perf::Kernel;
use crate::sys::process::{self, ProcessTimes};

/// One process. Invariant: `latest` is not before `baseline`.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) handle: Arc<ProcessHandle>,
    /// Whether this process is its parent, and so has to wait for it.
    is_child: bool,
    baseline: ProcessTimes,
    latest: ProcessTimes,
    ended: bool,
    exit: Option<ExitStatus>,
}

impl Target {
    /// Holds a running process.
    pub(super) fn attach(pid: u32) -> Result<Self, StartError> {
        match ProcessHandle::open(pid) {
            Ok(handle) if handle.has_ended() => Err(StartError::TargetGone { pid }),
            Ok(handle) => Ok(Self::new(Arc::new(handle), false)),
            Err(Errno::ESRCH) => Err(StartError::TargetGone { pid }),
            Err(errno) => Err(thread_or_failure(pid, errno)),
        }
    }

    /// Takes over the process behind a gate.
    pub(super) fn launched(handle: Arc<ProcessHandle>) -> Self {
        Self::new(handle, true)
    }

    fn new(handle: Arc<ProcessHandle>, is_child: bool) -> Self {
        let times = ProcessTimes::default();
        Self { handle, is_child, baseline: times, latest: times, ended: false, exit: None }
    }

    /// Counts from now on.
    pub(super) fn begin(&mut self, kernel: &dyn Kernel) {
        self.baseline = kernel.process_times(self.handle.pid()).unwrap_or_default();
        self.latest = self.baseline;
    }

    /// Reads what it used so far. A process that is gone altogether keeps the last answer.
    pub(super) fn refresh(&mut self, kernel: &dyn Kernel) {
        if let Ok(times) = kernel.process_times(self.handle.pid()) {
            self.latest = times;
        }
    }

    /// What it used up to the end of the recording, and whether it ended with it.
    pub(super) fn conclude(&mut self, kernel: &dyn Kernel) {
        if self.handle.has_ended() { self.end(kernel) } else { self.refresh(kernel) }
    }

    /// Notices an end. The times are read before the wait, which takes the process away.
    pub(super) fn end(&mut self, kernel: &dyn Kernel) {
        self.refresh(kernel);
        self.ended = true;
        if !self.is_child {
            return;
        }
        if let Ok(Some(Ended { status, used })) = self.handle.reap() {
            self.exit = Some(status);
            self.take_exact_times(used);
        }
    }

    /// The kernel's `stat` counts in hundredths of a second; the wait tells the sum in microseconds. The children's
    /// part is kept and the rest is the process's own.
    fn take_exact_times(&mut self, used: process::CpuTimes) {
        let own = used - self.latest.children;
        if own.total_ns() > self.baseline.own.total_ns() {
            self.latest.own = own;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(super) fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }

    pub(super) fn report(&self) -> TargetReport {
        TargetReport {
            pid: self.handle.pid(),
            before: self.baseline.own,
            used: self.latest.own - self.baseline.own,
            children_used: self.latest.children - self.baseline.children,
            exited: self.ended,
        }
    }
}

/// Kernels differ in what they answer for a thread: its process is looked up instead.
fn thread_or_failure(tid: u32, errno: Errno) -> StartError {
    match process::process_of(tid) {
        Ok(pid) if pid != tid => StartError::TargetIsThread { tid, pid },
        Ok(_) => StartError::System { doing: "hold the process", errno },
        Err(_) => StartError::TargetGone { pid: tid },
    }
}
