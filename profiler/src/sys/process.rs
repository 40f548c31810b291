//! What `/proc` tells of processes: threads, times, names, mappings. Text is bounded and nothing is believed
//! beyond its syntax.

use std::ops::Sub;

/// Processor time of a process or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In its own code.
    pub user_ns: u64,
    /// In the kernel, on its behalf.
    pub system_ns: u64,
}

impl CpuTimes {
    /// Both together.
    pub fn total_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

impl Sub for CpuTimes {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}
