//! What a collector tells when it ends: what was lost, what it cost, and what the targets used.

use std::process::ExitStatus;

use super::RingId;
use crate::sys::process::CpuTimes;

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// It was told to.
    Stopped,
    /// Every target is gone.
    TargetsGone,
    /// Nobody receives deliveries any more.
    ReceiverGone,
}

/// One ring's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingReport {
    /// Which ring.
    pub ring: RingId,
    /// Bytes handed over.
    pub bytes: u64,
    /// Records the kernel could not write, counted by the events themselves: at least what the lost records say,
    /// and also what came after the last of them. Absent when this kernel does not count.
    pub lost_records: Option<u64>,
}

/// What one target used while it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetReport {
    /// Its process.
    pub pid: u32,
    /// Processor time it had used before sampling began: what the recording missed.
    pub before: CpuTimes,
    /// Processor time it used while sampled. Its own threads only.
    pub used: CpuTimes,
    /// The same of its children, as far as it has waited for them.
    pub children_used: CpuTimes,
    /// Whether it had ended.
    pub exited: bool,
}

/// The end of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorReport {
    /// Why it ended.
    pub cause: EndCause,
    /// When sampling began, on CLOCK_MONOTONIC.
    pub started_ns: u64,
    /// When sampling ended.
    pub ended_ns: u64,
    /// Every ring, in order.
    pub rings: Vec<RingReport>,
    /// Every target, in the order given.
    pub targets: Vec<TargetReport>,
    /// How the launched program ended, when one was launched and has ended.
    pub exit: Option<ExitStatus>,
    /// Processor time of the collector itself.
    pub own: CpuTimes,
    /// How often it woke.
    pub wakeups: u64,
    /// Bytes it had to copy, because a ring ran full while batches were out.
    pub copied_bytes: u64,
}
