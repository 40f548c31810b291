//! What the recorder itself uses.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use super::process::CpuTimes;

/// Processor time and memory of this process, or time of one of its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// Processor time so far.
    pub times: CpuTimes,
    /// The process's peak resident memory.
    pub memory_peak_bytes: u64,
}

impl OwnUsage {
    /// Of all threads of this process.
    pub fn of_process() -> Self {
        Self::of(UsageWho::RUSAGE_SELF)
    }

    /// Of the calling thread.
    pub fn of_thread() -> Self {
        Self::of(UsageWho::RUSAGE_THREAD)
    }

    fn of(who: UsageWho) -> Self {
        // Only a wrong argument can fail, and there is none.
        let Ok(usage) = getrusage(who) else { return Self::default() };
        let ns = |time: TimeVal| u64::try_from(time.num_nanoseconds()).unwrap_or(0);
        let times = CpuTimes { user_ns: ns(usage.user_time()), system_ns: ns(usage.system_time()) };
        // The kernel counts KiB.
        Self { times, memory_peak_bytes: usage.max_rss().unsigned_abs().saturating_mul(1024) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_uses_memory_and_at_least_what_its_thread_does() {
        let thread = OwnUsage::of_thread().times;
        let process = OwnUsage::of_process();
        assert!(process.times.total_ns() >= thread.total_ns());
        assert!(process.memory_peak_bytes > 0);
    }
}
