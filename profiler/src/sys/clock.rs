//! The one clock of recordings.

use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC, which the kernel also stamps records with.
pub fn monotonic_ns() -> u64 {
    // The clock always exists; a failure would be a kernel without time.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec()).unwrap_or(0))
    })
}
